// Special registers.
#include <string.h>

#include "runtime/sim/exec.h"

// name, text, whether it is a vector
#define SREGS(SREG) \
  SREG(TID, "%tid", true) SREG(NTID, "%ntid", true) SREG(CTAID, "%ctaid", true) SREG(NCTAID, "%nctaid", true) \
  SREG(CLUSTERID, "%clusterid", true) SREG(NCLUSTERID, "%nclusterid", true) \
  SREG(CLUSTER_CTAID, "%cluster_ctaid", true) SREG(CLUSTER_NCTAID, "%cluster_nctaid", true) \
  SREG(LANEID, "%laneid", false) SREG(WARPID, "%warpid", false) SREG(NWARPID, "%nwarpid", false) \
  SREG(SMID, "%smid", false) SREG(NSMID, "%nsmid", false) SREG(GRIDID, "%gridid", false) \
  SREG(CLUSTER_CTARANK, "%cluster_ctarank", false) SREG(CLUSTER_NCTARANK, "%cluster_nctarank", false) \
  SREG(EXPLICIT_CLUSTER, "%is_explicit_cluster", false) SREG(LANEMASK_EQ, "%lanemask_eq", false) \
  SREG(LANEMASK_LE, "%lanemask_le", false) SREG(LANEMASK_LT, "%lanemask_lt", false) \
  SREG(LANEMASK_GE, "%lanemask_ge", false) SREG(LANEMASK_GT, "%lanemask_gt", false) SREG(CLOCK, "%clock", false) \
  SREG(CLOCK_HI, "%clock_hi", false) SREG(CLOCK64, "%clock64", false) SREG(GLOBALTIMER, "%globaltimer", false) \
  SREG(GLOBALTIMER_LO, "%globaltimer_lo", false) SREG(GLOBALTIMER_HI, "%globaltimer_hi", false) \
  SREG(DYNAMIC_SMEM, "%dynamic_smem_size", false) SREG(TOTAL_SMEM, "%total_smem_size", false) \
  SREG(AGGR_SMEM, "%aggr_smem_size", false) SREG(RESERVED_BEGIN, "%reserved_smem_offset_begin", false) \
  SREG(RESERVED_END, "%reserved_smem_offset_end", false) SREG(RESERVED_CAP, "%reserved_smem_offset_cap", false) \
  SREG(WORKSPACE_HI, "%envreg1", false) SREG(WORKSPACE_LO, "%envreg2", false)
#define NUMBER(name, text, vector) SR_##name,
#define ROW(name, text, vector) {text, vector},
typedef enum { SREGS(NUMBER) SR_ZERO } SpecialReg;
static const struct { const char *name; bool vector; } names[SR_ZERO] = {SREGS(ROW)};

// The register's number carries the vector component in its low two bits.
int sreg_find(const char *name) {
  const char *dot = strchr(name, '.');
  size_t n = dot ? (size_t)(dot - name) : strlen(name);
  for (size_t i = 0; i < countof(names); i++) {
    if (strlen(names[i].name) != n || memcmp(names[i].name, name, n)) continue;
    if (names[i].vector != (dot != NULL)) return -1;
    if (!dot) return (int)(i << 2);
    const char *at = strchr("xyzw", dot[1]);
    return dot[1] && at && !dot[2] ? (int)(i << 2) | (int)(at - "xyzw") : -1;
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
  // One nanosecond per step. It advances with every read: a loop that waits for the timer ends.
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
