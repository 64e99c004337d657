// Connects the executor with the asynchronous operations (always) and the checkers (each when its check is on).
#include <stdlib.h>
#include <string.h>

#include "runtime/sim/numbers.h"
#include "runtime/sim/shadow.h"

static bool uses_wgmma(const Grid *g) {
  for (uint32_t i = 0; i < g->module->num_code; i++)
    if (g->module->code[i].op == OP_wgmma && has_mod(&g->module->code[i], M_mma_async)) return true;
  return false;
}

// Only kernels that copy in bulk or edit tensor maps access global memory through more than one proxy.
static bool crosses_proxies(const Grid *g) {
  for (uint32_t i = 0; i < g->module->num_code; i++) {
    const Instr *in = &g->module->code[i];
    if (in->op == OP_tensormap || (in->op == OP_cp && has_mod(in, M_bulk))) return true;
  }
  return false;
}

static void grid_begin(Grid *g) {
  GridShadow *s = calloc(1, sizeof *s);
  s->has_wgmma = uses_wgmma(g);
  undef_grid_begin(g);
  g->shadow = s;
  if ((g->checks & CHECK_ASYNC) && crosses_proxies(g)) proxy_grid_begin(g);
  blocks_grid_begin(g);
  if (g->checks & CHECK_NUMBERS && g->module->notes.count) numbers_begin(g);
}

static void free_cta(Cta *c) {
  CtaShadow *s = c->shadow;
  if (!s) return;
  free(s->undef);
  free(s->acquires);
  free(s);
  c->shadow = NULL;
}

static void cta_begin(Cta *c) {
  CtaShadow *s = calloc(1, sizeof *s);
  c->shadow = s;
  if (c->grid->checks & CHECK_UNDEF) {
    s->undef = malloc(c->shared_size + 1u);
    memset(s->undef, 0xff, c->shared_size + 1u);
  }
  race_cta_begin(c);
  if (((GridShadow *)c->grid->shadow)->has_wgmma)
    for (uint32_t i = 0; i < c->num_warps; i++) async_reserve_slots(&c->warps[i], c->grid->func->num_slots);
}

static void cta_end(Cta *c) {
  agent_cta_end(c);
  async_cta_end(c);
  proxy_cta_end(c);
}

static void cluster_end(Cluster *c) {
  for (uint32_t i = 0; i < c->num_ctas; i++) async_free_warps(c->ctas[i]);
  async_cluster_end(c);
  race_cluster_end(c);
  blocks_cluster_end(c);
  for (uint32_t i = 0; i < c->num_ctas; i++) free_cta(c->ctas[i]);
}

// After a failure there are still resident clusters.
static void grid_end(Grid *g) {
  for (Cluster *c = g->resident; c; c = c->next) cluster_end(c);
  proxy_grid_end(g);
  blocks_grid_end(g);
  numbers_end(g);
  free(g->shadow);
  g->shadow = NULL;
}

static ExecResult access(Warp *w, const Instr *in, const MemAccess *a) {
  if (w->grid->numbers && a->mask) numbers_access(w, in, a);
  ExecResult r = race_access(w, in, a);
  if (r == EXEC_NEXT) r = proxy_access(w, in, a);
  if (r == EXEC_NEXT) r = blocks_access(w, in, a);
  return r == EXEC_NEXT && w->undef ? undef_access(w, in, a) : r;
}

static ExecResult fence(Warp *w, const Instr *in, uint32_t mask) {
  ExecResult r = proxy_fence(w, in, mask);
  if (r == EXEC_NEXT) blocks_fence(w, in);
  return r == EXEC_NEXT ? race_fence(w, in, mask) : r;
}

static ExecResult step(Warp *w, const Instr *in, uint32_t mask) {
  if (w->async) {
    TRY(regs_step(w, in, mask));
  }
  return w->undef ? undef_step(w, in, mask) : EXEC_NEXT;
}

static const char *describe(Cluster *c, Arena *a) {
  return arena_printf(a, "%s%s", agent_describe(c, a), async_describe(c, a));
}

void hooks_install(Grid *g, SimHooks *h) {
  *h = (SimHooks){.grid_begin = grid_begin, .grid_end = grid_end, .cta_begin = cta_begin, .cta_end = cta_end,
                  .cluster_end = cluster_end, .async_advance = async_advance, .describe = describe};
  if (g->checks) h->access = access;
  if (g->checks & (CHECK_RACES | CHECK_ASYNC)) h->fence = fence;
  if ((g->checks & CHECK_UNDEF) || uses_wgmma(g)) h->step = step;
  if (!(g->checks & CHECK_RACES)) return;
  h->barrier = race_barrier;
  h->cluster_barrier = race_cluster_barrier;
  h->warp_sync = race_warp_sync;
}
