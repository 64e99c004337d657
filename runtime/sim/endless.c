// Loops that never end. Once a warp has run long, its backward branches are watched: now and then its registers are
// remembered, and compared at the next few branches. If none has changed, nor any memory, the iteration was a poll in
// vain. When every warp polls, the launch is a deadlock (grid.c). A loop that changes something for ever is stopped by
// the count of its warp's instructions.
#include <stdlib.h>
#include <string.h>

#include "runtime/sim/exec.h"

enum { WATCH_EVERY = 64, WATCHED = 4 };
static const uint64_t WATCH_FROM = UINT64_C(1) << 22, MOST_STEPS = UINT64_C(1) << 30;

typedef struct Endless Endless;
struct Endless {
  uint64_t jumps, progress;
  uint32_t pc, active;
  uint64_t *regs;
  uint32_t *preds;
  uint32_t cap_slots, cap_preds;
};

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
  e->progress = w->grid->progress;
}

static bool is_as_before(const Endless *e, const Warp *w) {
  return e->pc == w->pc && e->active == w->active && e->progress == w->grid->progress && e->cap_slots == w->cap_slots &&
         e->cap_preds == w->cap_preds && !memcmp(e->regs, w->regs, reg_bytes(w)) &&
         !memcmp(e->preds, w->preds, pred_bytes(w));
}

ExecResult endless_jump(Warp *w, const Instr *in, uint64_t steps) {
  if (steps < WATCH_FROM) return EXEC_JUMP;
  if (!w->endless) w->endless = calloc(1, sizeof *w->endless);
  Endless *e = w->endless;
  if (!w->grid->max_steps && steps > MOST_STEPS)
    return warp_report(w, in, __builtin_ctz(w->active), REPORT_DEADLOCK,
                       "the warp has executed %llu instructions: does this loop end? TILE_SIM_MAX_STEPS sets another "
                       "limit",
                       (unsigned long long)steps);
  const uint64_t turn = e->jumps++ % WATCH_EVERY;
  if (turn == 0) remember(e, w);
  else if (turn <= WATCHED && is_as_before(e, w)) warp_poll(w);
  return EXEC_JUMP;
}

void endless_free(Warp *w) {
  if (!w->endless) return;
  free(w->endless->regs);
  free(w->endless->preds);
  free(w->endless);
  w->endless = NULL;
}
