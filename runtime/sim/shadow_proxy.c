// Global memory between the generic proxy (ordinary accesses), the asynchronous proxy (bulk copies) and the
// tensor-map proxy.
//
// A mark for each 16 bytes of device memory records the last writer in this launch: the CTA of a thread, or the
// serial number of a bulk store. Each proxy fence increments Sim.proxy_clock: a fence covers writes of earlier
// stamps. A launch orders everything before it: marks older than its beginning are ignored.
//   ordinary write → bulk copy:       a fence.proxy.async of the writing or of the copying CTA in between
//   bulk store → any other access:    a cp.async.bulk.wait_group (not .read) of the storing thread in between
//   ordinary write → tensor map used: a release (tensormap.cp_fenceproxy, or a generic.release fence of
//                                     the writing CTA), then an acquire of that address that the map's user knows of
// Races between threads in global memory: shadow_blocks.c.
#include <stdlib.h>
#include <string.h>

#include "runtime/sim/shadow.h"

enum { GRANULE = 16, SIZE_LIMIT = 1 << 28, STORE_DONE = -1, FENCE_SLOTS = 1 << 16 };
#define WHO_RELEASED (1u << 30)
#define WHO_STORE (1u << 31)
#define WHO_NUMBER (WHO_RELEASED - 1)

typedef struct GlobalMark { uint32_t stamp, who; } GlobalMark;        // who: number of a CTA or of a store, and WHO_*
typedef struct MapAcquire { uint64_t addr; const Warp *warp; uint32_t stamp, clock, pc; bool is_release; } MapAcquire;
typedef struct { uint64_t thread; uint32_t serial, group; } OpenStore;
typedef struct GridProxy {
  uint32_t begin;                      // proxy_clock when the grid began
  struct {
    uint32_t async, release;
  } fences[FENCE_SLOTS];   // stamps of each CTA's latest; CTAs that far apart share a slot
  int32_t *store_pc;                   // by serial; STORE_DONE once waited for
  uint32_t num_stores, cap_stores;
  OpenStore *open;
  uint32_t num_open, cap_open;
} GridProxy;

static GridProxy *grid_proxy(const Grid *g) { return g->shadow ? ((const GridShadow *)g->shadow)->proxy : NULL; }
static uint32_t cta_number(const Cta *c) { return (uint32_t)c->linear & WHO_NUMBER; }
static uint32_t slot_of(uint32_t who) { return (who & WHO_NUMBER) % FENCE_SLOTS; }
static uint64_t thread_key(const Warp *w, int lane) {
  return w->cta->linear << 11 | (uint64_t)w->id << 5 | (uint32_t)lane;
}

void proxy_grid_begin(Grid *g) {
  GridProxy *p = calloc(1, sizeof *p);
  p->begin = ++g->sim->proxy_clock;
  ((GridShadow *)g->shadow)->proxy = p;
}

void proxy_grid_end(Grid *g) {
  GridProxy *p = grid_proxy(g);
  if (!p) return;
  free(p->store_pc), free(p->open), free(p);
  ((GridShadow *)g->shadow)->proxy = NULL;
}

static void close_stores(GridProxy *p, uint64_t first_thread, uint64_t last_thread, uint64_t below_group, bool done) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < p->num_open; i++) {
    OpenStore *s = &p->open[i];
    if (s->thread < first_thread || s->thread > last_thread || s->group >= below_group) p->open[kept++] = *s;
    else if (done) p->store_pc[s->serial] = STORE_DONE;
  }
  p->num_open = kept;
}

void proxy_cta_end(Cta *c) {
  if (grid_proxy(c->grid))
    close_stores(grid_proxy(c->grid), c->linear << 11, (c->linear << 11) + 2047, UINT64_MAX, false);
}

void proxy_bulk_waited(Warp *w, int lane, uint32_t keep) {
  GridProxy *p = grid_proxy(w->grid);
  uint32_t committed = w->bulk_group[lane];
  if (p) close_stores(p, thread_key(w, lane), thread_key(w, lane), committed > keep ? committed - keep : 0, true);
}

uint32_t proxy_store_begin(AsyncOp *op) {
  GridProxy *p = grid_proxy(op->cluster->grid);
  if (!p) return 0;
  if (p->num_stores == p->cap_stores) {
    p->cap_stores = p->cap_stores ? 2 * p->cap_stores : 64;
    p->store_pc = realloc(p->store_pc, p->cap_stores * sizeof *p->store_pc);
  }
  if (p->num_open == p->cap_open) {
    p->cap_open = p->cap_open ? 2 * p->cap_open : 64;
    p->open = realloc(p->open, p->cap_open * sizeof *p->open);
  }
  p->store_pc[p->num_stores] = (int32_t)(op->in - op->cluster->grid->module->code);
  p->open[p->num_open++] = (OpenStore){thread_key(op->warp, op->lane), p->num_stores, op->bulk.group};
  return p->num_stores++;
}

// ---- marks

static void set_marks(Grid *g, Alloc *a, uint64_t addr, uint32_t bytes, uint32_t who) {
  if (!bytes) return;
  if (!a->marks) {
    if (a->size > SIZE_LIMIT) return;
    a->marks = calloc(a->size / GRANULE + 1, sizeof *a->marks);
  }
  GlobalMark m = {g->sim->proxy_clock, who};
  for (uint64_t i = (addr - a->base) / GRANULE, last = (addr + bytes - 1 - a->base) / GRANULE; i <= last; i++)
    a->marks[i] = m;
}

static const GlobalMark *marks_of(const Alloc *a, uint64_t addr) { return a->marks + (addr - a->base) / GRANULE; }

static ExecResult check_store(Warp *w, const Instr *in, int lane, const GlobalMark *m, uint64_t addr,
                              const char *does) {
  const GridProxy *p = grid_proxy(w->grid);
  uint32_t serial = m->who & WHO_NUMBER;
  if (m->stamp < p->begin || !(m->who & WHO_STORE) || serial >= p->num_stores || p->store_pc[serial] == STORE_DONE)
    return EXEC_NEXT;
  return warp_report(
      w, in, lane, REPORT_ASYNC,
      "%s global memory at 0x%llx, which the bulk store of ptx:%u may still be writing: no cp.async.bulk.wait_group "
      "(without .read) of the storing thread came in between",
      does, (unsigned long long)addr, w->grid->module->code[p->store_pc[serial]].line);
}

ExecResult proxy_access(Warp *w, const Instr *in, const MemAccess *a) {
  GridProxy *p = grid_proxy(w->grid);
  if (!p) return EXEC_NEXT;
  FOR_LANES(l, a->mask) {
    if (a->space[l] != SPACE_GLOBAL) continue;
    Alloc *alloc = a->alloc[l];
    if (alloc->marks && a->kind != ACCESS_ATOMIC) {
      TRY(check_store(w, in, l, marks_of(alloc, a->addr[l]), a->addr[l],
                      a->kind == ACCESS_READ ? "reads" : "overwrites"));
    }
    if (a->kind != ACCESS_READ) set_marks(w->grid, alloc, a->addr[l], a->size, cta_number(w->cta));
  }
  return EXEC_NEXT;
}

// Is this an ordinary write in this launch that no fence.proxy.async covers?
static bool unfenced(const Warp *w, const GlobalMark *m) {
  const GridProxy *p = grid_proxy(w->grid);
  if (m->stamp < p->begin || (m->who & WHO_STORE)) return false;
  return p->fences[slot_of(m->who)].async <= m->stamp && p->fences[slot_of(cta_number(w->cta))].async <= m->stamp;
}

static ExecResult check_async(Warp *w, const Instr *in, int lane, const Alloc *a, uint64_t addr, uint32_t bytes,
                              bool write) {
  if (!grid_proxy(w->grid) || !a->marks || !bytes) return EXEC_NEXT;
  const GlobalMark *m = marks_of(a, addr), *last = marks_of(a, addr + bytes - 1);
  for (uint64_t at = addr; m <= last; m++, at = (at & ~UINT64_C(15)) + GRANULE) {
    if (unfenced(w, m))
      return warp_report(
          w, in, lane, REPORT_PROXY,
          "the asynchronous proxy %s global memory at 0x%llx, which a thread of CTA %u wrote in this launch; neither "
          "CTA executed a fence.proxy.async in between",
          write ? "overwrites" : "reads", (unsigned long long)at, m->who & WHO_NUMBER);
    if (write) continue;
    TRY(check_store(w, in, lane, m, at, "the asynchronous operation reads"));
  }
  return EXEC_NEXT;
}

ExecResult proxy_async_read(Warp *w, const Instr *in, int lane, const Alloc *a, uint64_t addr, uint32_t bytes) {
  return check_async(w, in, lane, a, addr, bytes, false);
}

ExecResult proxy_async_write(Warp *w, const Instr *in, int lane, Alloc *a, uint64_t addr, uint32_t bytes,
                             uint32_t serial) {
  ExecResult r = check_async(w, in, lane, a, addr, bytes, true);
  if (r == EXEC_NEXT && grid_proxy(w->grid)) set_marks(w->grid, a, addr, bytes, (serial & WHO_NUMBER) | WHO_STORE);
  return r;
}

// ---- fences and tensor maps

// Records the warp's latest acquire of the map, or its latest release by tensormap.cp_fenceproxy.
static void note_map(Warp *w, const Instr *in, uint64_t addr, bool is_release) {
  CtaShadow *s = w->cta->shadow;
  MapAcquire *found = NULL;
  for (uint32_t i = 0; i < s->num_acquires && !found; i++)
    if (s->acquires[i].addr == addr && s->acquires[i].warp == w && s->acquires[i].is_release == is_release)
      found = &s->acquires[i];
  if (!found) {
    if (s->num_acquires == s->cap_acquires) {
      s->cap_acquires = s->cap_acquires ? 2 * s->cap_acquires : 8;
      s->acquires = realloc(s->acquires, s->cap_acquires * sizeof *s->acquires);
    }
    found = &s->acquires[s->num_acquires++];
  }
  *found = (MapAcquire){addr,
                        w,
                        ++w->grid->sim->proxy_clock,
                        race_clock(w),
                        (uint32_t)(in - w->grid->module->code),
                        is_release};
}

// Within a cluster a release and an acquire of one map must be ordered. Across clusters the order is unknown here.
static ExecResult order_map(Warp *w, const Instr *in, int lane, uint64_t addr, bool is_release) {
  const Cluster *c = w->cta->cluster;
  for (uint32_t i = 0; i < c->num_ctas; i++) {
    const CtaShadow *s = c->ctas[i]->shadow;
    for (uint32_t k = 0; s && k < s->num_acquires; k++) {
      const MapAcquire *q = &s->acquires[k];
      if (q->is_release != is_release && q->addr == addr && !race_knows(w, q->warp, q->clock))
        return warp_report(
            w, in, lane, REPORT_RACE,
            "%s the tensor map at 0x%llx, which warp %u of CTA %u %s at ptx:%u, without a barrier in between",
            is_release ? "publishes" : "acquires", (unsigned long long)addr, q->warp->id, c->ctas[i]->rank,
            is_release ? "acquires" : "publishes", w->grid->module->code[q->pc].line);
    }
  }
  note_map(w, in, addr, is_release);
  return EXEC_NEXT;
}

ExecResult proxy_fence(Warp *w, const Instr *in, uint32_t mask) {
  GridProxy *p = grid_proxy(w->grid);
  if (!p || !has_mod(in, M_proxy)) return EXEC_NEXT;
  if (has_mod(in, M_tensormap_generic) && has_mod(in, M_acquire)) {
    uint64_t last = 0;
    FOR_LANES(l, mask) {
      uint64_t addr = mem_operand_address(w, &in->ops[0], l);
      if (addr == last) continue;
      TRY(order_map(w, in, l, last = addr, false));
    }
  } else if (has_mod(in, M_tensormap_generic)) {
    p->fences[slot_of(cta_number(w->cta))].release = ++w->grid->sim->proxy_clock;
  } else if (has_mod(in, M_async) && !has_mod(in, M_shared_cta) && !has_mod(in, M_shared_cluster)) {
    p->fences[slot_of(cta_number(w->cta))].async = ++w->grid->sim->proxy_clock;
  }
  return EXEC_NEXT;
}

ExecResult proxy_map_released(Warp *w, const Instr *in, int lane, Alloc *a, uint64_t addr) {
  if (!grid_proxy(w->grid)) return EXEC_NEXT;
  set_marks(w->grid, a, addr, TENSORMAP_BYTES, cta_number(w->cta) | WHO_RELEASED);
  return order_map(w, in, lane, addr, true);
}

ExecResult proxy_map_use(Warp *w, const Instr *in, int lane, const Alloc *a, uint64_t addr) {
  const GridProxy *p = grid_proxy(w->grid);
  if (!p || !a->marks) return EXEC_NEXT;
  const GlobalMark *newest = NULL;
  for (const GlobalMark *m = marks_of(a, addr), *last = marks_of(a, addr + TENSORMAP_BYTES - 1); m <= last; m++) {
    if (m->stamp < p->begin) continue;
    if (!(m->who & (WHO_RELEASED | WHO_STORE)) && p->fences[slot_of(m->who)].release <= m->stamp)
      return warp_report(
          w, in, lane, REPORT_PROXY,
          "the tensor map at 0x%llx was written by CTA %u in this launch, which executed neither "
          "tensormap.cp_fenceproxy nor fence.proxy.tensormap::generic.release since",
          (unsigned long long)addr, m->who & WHO_NUMBER);
    if (!newest || m->stamp > newest->stamp) newest = m;
  }
  if (!newest) return EXEC_NEXT;
  const Cluster *c = w->cta->cluster;
  for (uint32_t i = 0; i < c->num_ctas; i++) {
    const CtaShadow *s = c->ctas[i]->shadow;
    for (uint32_t k = 0; s && k < s->num_acquires; k++) {
      const MapAcquire *q = &s->acquires[k];
      if (!q->is_release && q->addr == addr && q->stamp > newest->stamp && race_knows(w, q->warp, q->clock))
        return EXEC_NEXT;
    }
  }
  return warp_report(
      w, in, lane, REPORT_PROXY,
      "the tensor map at 0x%llx was written in this launch, and no fence.proxy.tensormap::generic.acquire of it that "
      "this thread knows of came since",
      (unsigned long long)addr);
}
