// Special registers.
#include <string.h>

#include "runtime/sim/exec.h"

typedef enum {
  SR_TID, SR_NTID, SR_CTAID, SR_NCTAID, SR_CLUSTERID, SR_NCLUSTERID, SR_CLUSTER_CTAID, SR_CLUSTER_NCTAID,
  SR_LANEID, SR_WARPID, SR_NWARPID, SR_SMID, SR_NSMID, SR_GRIDID, SR_CLUSTER_CTARANK, SR_CLUSTER_NCTARANK, SR_EXPLICIT_CLUSTER,
  SR_LANEMASK_EQ, SR_LANEMASK_LE, SR_LANEMASK_LT, SR_LANEMASK_GE, SR_LANEMASK_GT, SR_CLOCK, SR_CLOCK_HI, SR_CLOCK64,
  SR_GLOBALTIMER, SR_GLOBALTIMER_LO, SR_GLOBALTIMER_HI, SR_DYNAMIC_SMEM, SR_TOTAL_SMEM, SR_AGGR_SMEM, SR_RESERVED_BEGIN,
  SR_RESERVED_END, SR_RESERVED_CAP, SR_RESERVED_OFFSET, SR_WORKSPACE_LO, SR_WORKSPACE_HI, SR_ZERO,
} SpecialReg;
static const struct { const char *name; uint8_t reg; bool vector; } names[] = {
  {"%tid", SR_TID, true}, {"%ntid", SR_NTID, true}, {"%ctaid", SR_CTAID, true}, {"%nctaid", SR_NCTAID, true},
  {"%clusterid", SR_CLUSTERID, true}, {"%nclusterid", SR_NCLUSTERID, true}, {"%cluster_ctaid", SR_CLUSTER_CTAID, true},
  {"%cluster_nctaid", SR_CLUSTER_NCTAID, true}, {"%laneid", SR_LANEID, false}, {"%warpid", SR_WARPID, false},
  {"%nwarpid", SR_NWARPID, false}, {"%smid", SR_SMID, false}, {"%nsmid", SR_NSMID, false}, {"%gridid", SR_GRIDID, false},
  {"%cluster_ctarank", SR_CLUSTER_CTARANK, false}, {"%cluster_nctarank", SR_CLUSTER_NCTARANK, false},
  {"%is_explicit_cluster", SR_EXPLICIT_CLUSTER, false}, {"%lanemask_eq", SR_LANEMASK_EQ, false},
  {"%lanemask_le", SR_LANEMASK_LE, false}, {"%lanemask_lt", SR_LANEMASK_LT, false}, {"%lanemask_ge", SR_LANEMASK_GE, false},
  {"%lanemask_gt", SR_LANEMASK_GT, false}, {"%clock", SR_CLOCK, false}, {"%clock_hi", SR_CLOCK_HI, false},
  {"%clock64", SR_CLOCK64, false}, {"%globaltimer", SR_GLOBALTIMER, false}, {"%globaltimer_lo", SR_GLOBALTIMER_LO, false},
  {"%globaltimer_hi", SR_GLOBALTIMER_HI, false}, {"%dynamic_smem_size", SR_DYNAMIC_SMEM, false},
  {"%total_smem_size", SR_TOTAL_SMEM, false}, {"%aggr_smem_size", SR_AGGR_SMEM, false},
  {"%reserved_smem_offset_begin", SR_RESERVED_BEGIN, false}, {"%reserved_smem_offset_end", SR_RESERVED_END, false},
  {"%reserved_smem_offset_cap", SR_RESERVED_CAP, false}, {"%envreg1", SR_WORKSPACE_HI, false}, {"%envreg2", SR_WORKSPACE_LO, false},
};

// The register's number carries the vector component in its low two bits.
int sreg_find(const char *name) {
  const char *dot = strchr(name, '.');
  size_t n = dot ? (size_t)(dot - name) : strlen(name);
  for (size_t i = 0; i < countof(names); i++) {
    if (strlen(names[i].name) != n || memcmp(names[i].name, name, n)) continue;
    if (names[i].vector != (dot != NULL)) return -1;
    if (!dot) return names[i].reg << 2;
    const char *at = strchr("xyzw", dot[1]);
    return dot[1] && at && !dot[2] ? names[i].reg << 2 | (int)(at - "xyzw") : -1;
  }
  if (!strncmp(name, "%envreg", 7) || !strncmp(name, "%pm", 3)) return SR_ZERO << 2;
  return -1;
}

uint64_t sreg_value(Warp *w, uint32_t sreg, int lane) {
  const Cta *c = w->cta;
  const Cluster *cl = c->cluster;
  const LaunchParams *lp = &w->grid->launch;
  uint32_t i = sreg & 3, tid[3];
  uint64_t clock = w->grid->steps * 4 + w->steps + 1;
  switch ((SpecialReg)(sreg >> 2)) {
  case SR_TID:
    if (i == 3) return 0;
    warp_thread_index(w, lane, tid);
    return tid[i];
  case SR_NTID: return i == 3 ? 1 : lp->block[i];
  case SR_CTAID: return i == 3 ? 0 : c->ctaid[i];
  case SR_NCTAID: return i == 3 ? 1 : lp->grid[i];
  case SR_CLUSTERID: return i == 3 ? 0 : cl->id[i];
  case SR_NCLUSTERID: return i == 3 ? 1 : lp->grid[i] / cl->dim[i];
  case SR_CLUSTER_CTAID: return i == 3 ? 0 : c->ctaid[i] % cl->dim[i];
  case SR_CLUSTER_NCTAID: return i == 3 ? 1 : cl->dim[i];
  case SR_LANEID: return (uint32_t)lane;
  case SR_WARPID: return w->id;
  case SR_NWARPID: return 64;
  case SR_SMID: return c->sm;
  case SR_NSMID: return (uint32_t)w->grid->device->num_sms;
  case SR_CLUSTER_CTARANK: return c->rank;
  case SR_CLUSTER_NCTARANK: return cl->num_ctas;
  case SR_EXPLICIT_CLUSTER: return cl->num_ctas > 1 || w->grid->func->explicit_cluster;
  case SR_LANEMASK_EQ: return 1u << lane;
  case SR_LANEMASK_LE: return (2u << lane) - 1;
  case SR_LANEMASK_LT: return (1u << lane) - 1;
  case SR_LANEMASK_GE: return (uint32_t)~((1u << lane) - 1);
  case SR_LANEMASK_GT: return (uint32_t)~((2u << lane) - 1);
  case SR_CLOCK: return (uint32_t)clock;
  case SR_CLOCK_HI: return clock >> 32;
  case SR_CLOCK64: return clock;
  // One nanosecond per step; moves in every read, so that a wait on the timer ends.
  case SR_GLOBALTIMER: return UINT64_C(1700000000000000000) + clock;
  case SR_GLOBALTIMER_LO: return (uint32_t)(UINT64_C(1700000000000000000) + clock);
  case SR_GLOBALTIMER_HI: return (UINT64_C(1700000000000000000) + clock) >> 32;
  case SR_DYNAMIC_SMEM: return lp->dynamic_shared;
  case SR_TOTAL_SMEM: case SR_AGGR_SMEM: return w->grid->shared_size;
  case SR_RESERVED_END: case SR_RESERVED_CAP: return SHARED_BASE;
  case SR_WORKSPACE_LO: return (uint32_t)w->grid->workspace;
  case SR_WORKSPACE_HI: return w->grid->workspace >> 32;
  default: return 0;
  }
}
