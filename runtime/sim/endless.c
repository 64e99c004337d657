// Loops that never end. Once a warp has run for long, its backward branches are watched: its registers are saved and
// compared at the branches that follow, over a span that doubles each time. If the registers match and no memory has
// changed since, the warp has only polled in between, even if it met others at a barrier or ran inner loops. When every
// warp polls, the launch is a deadlock (grid.c). A loop that keeps changing something is stopped by the limit on its
// warp's instructions, unless its condition depends on registers that no longer change (stuck.c).
#include <stdlib.h>
#include <string.h>

#include "runtime/sim/exec.h"

enum { FIRST_SPAN = 64, LAST_SPAN = 1 << 20 };
static const uint64_t WATCH_FROM = UINT64_C(1) << 18, WATCH_FROM_AT_LEAST = 1 << 10, MOST_STEPS = UINT64_C(1) << 30;

typedef struct Endless Endless;
struct Endless {
  uint64_t changes;
  uint32_t jumps, span;   // since the registers were remembered; how many they are compared for
  size_t differed;        // a register that differed, which is looked at first
  uint64_t repeated;   // 1 + the changes when an iteration last repeated; 0: none has
  uint32_t pc, active;
  uint32_t lowest, repeated_pc;   // where the outermost of the loops begins, as they lie in the code
  uint64_t *regs;
  uint32_t *preds;
  uint32_t cap_slots, cap_preds;
  Stuck *stuck;
};

// Of a warp's steps: in a grid of many blocks, all of which may poll, it is sooner.
static uint64_t watch_from(const Grid *g) {
  const uint64_t shared = WATCH_FROM / (g->num_resident ? g->num_resident : 1);
  return shared > WATCH_FROM_AT_LEAST ? shared : WATCH_FROM_AT_LEAST;
}

static uint64_t changes(const Grid *g) { return g->progress - g->meetings; }
static size_t reg_bytes(const Warp *w) { return (size_t)w->cap_slots * WARP_SIZE * sizeof *w->regs; }
static size_t pred_bytes(const Warp *w) { return (size_t)w->cap_preds * sizeof *w->preds; }

static void remember(Endless *e, const Warp *w) {
  if (e->cap_slots != w->cap_slots || e->cap_preds != w->cap_preds) {
    e->regs = realloc(e->regs, reg_bytes(w) + 1);
    e->preds = realloc(e->preds, pred_bytes(w) + 1);
    e->cap_slots = w->cap_slots;
    e->cap_preds = w->cap_preds;
  }
  memcpy(e->regs, w->regs, reg_bytes(w));
  memcpy(e->preds, w->preds, pred_bytes(w));
  e->pc = w->pc;
  e->active = w->active;
  e->changes = changes(w->grid);
  e->jumps = 0;
  e->lowest = w->pc;
}

static bool is_as_before(Endless *e, const Warp *w) {
  const size_t n = (size_t)w->cap_slots * WARP_SIZE;
  if (e->pc != w->pc || e->active != w->active || e->cap_slots != w->cap_slots || e->cap_preds != w->cap_preds)
    return false;
  if (e->differed < n && e->regs[e->differed] != w->regs[e->differed]) return false;
  for (size_t i = 0; i < n; i++)
    if (e->regs[i] != w->regs[i]) return e->differed = i, false;
  return !memcmp(e->preds, w->preds, pred_bytes(w));
}

ExecResult endless_jump(Warp *w, const Instr *in, uint64_t steps) {
  if (steps < watch_from(w->grid)) return EXEC_JUMP;
  if (!w->endless) w->endless = calloc(1, sizeof *w->endless);
  Endless *e = w->endless;
  if (!w->grid->max_steps && steps > MOST_STEPS)
    return warp_report(w, in, __builtin_ctz(w->active), REPORT_DEADLOCK,
                       "the warp has executed %llu instructions: does this loop end? TILE_SIM_MAX_STEPS sets another "
                       "limit",
                       (unsigned long long)steps);
  if (stuck_jump(&e->stuck, w, in) == EXEC_FAULT) return EXEC_FAULT;
  const bool quiet = e->changes == changes(w->grid);
  e->jumps++;
  if (w->pc < e->lowest) e->lowest = w->pc;
  if (!e->regs || e->jumps >= (quiet ? e->span : FIRST_SPAN)) {
    e->span = !quiet || !e->span ? FIRST_SPAN : e->span < LAST_SPAN ? 2 * e->span : LAST_SPAN;
    remember(e, w);
  } else if (quiet && is_as_before(e, w)) {
    e->repeated = 1 + changes(w->grid);
    e->repeated_pc = e->lowest;
    warp_poll(w);
  }
  return EXEC_JUMP;
}

bool endless_repeats(const Warp *w, uint32_t *pc) {
  if (!w->endless || w->endless->repeated != 1 + changes(w->grid)) return false;
  if (pc) *pc = w->endless->repeated_pc;
  return true;
}

void endless_free(Warp *w) {
  if (!w->endless) return;
  free(w->endless->regs);
  free(w->endless->preds);
  free(w->endless->stuck);
  free(w->endless);
  w->endless = NULL;
}
