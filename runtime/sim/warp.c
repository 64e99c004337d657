// A warp: threads with a program counter each, run in groups.
//
// Lanes at the same instruction, call depth and frame run together as the active group; the others are parked. The
// group with the deepest call, then the lowest pc, runs first: groups meet where their paths join. A group that loops
// for long yields to the others, because it may spin on what another lane of the warp must do. A warp-synchronous
// instruction stalls its lanes until all lanes that it names have arrived.
#include <stdlib.h>
#include <string.h>

#include "runtime/sim/counts.h"
#include "runtime/sim/numbers.h"

enum { MAX_BURST = 128 };
#define FIRST_LOCAL 128u

void warp_save_group(Warp *w) {
  FOR_LANES(l, w->active) {
    w->lane_pc[l] = w->pc;
    w->lane_depth[l] = w->depth;
    w->lane_base[l] = w->base;
    w->lane_pbase[l] = w->pbase;
  }
}

// Picks the next group to run. avoid: lanes that have run for long and go last.
static void regroup(Warp *w, uint32_t avoid) {
  warp_save_group(w);
  w->burst = 0;
  uint32_t live = live_lanes(w) & ~w->in_barrier;
  uint32_t ready = live & ~w->stalled & ~w->waiting;
  if (!ready && (w->retry & 1)) {
    w->retry = 0;
    w->stalled = 0;
    ready = live & ~w->waiting;
  }
  if (!ready) {
    w->active = 0;
    w->state = !live_lanes(w)        ? WARP_DONE
               : (w->waiting & live) ? WARP_WAIT
               : (w->stalled & live) ? WARP_STUCK
                                     : WARP_BARRIER;
    return;
  }
  if (ready & ~avoid) ready &= ~avoid;
  int best = -1;
  FOR_LANES(l, ready) {
    if (best < 0 || w->lane_depth[l] > w->lane_depth[best] ||
        (w->lane_depth[l] == w->lane_depth[best] && w->lane_pc[l] < w->lane_pc[best]))
      best = l;
  }
  uint32_t group = 0, meet = UINT32_MAX;
  FOR_LANES(l, live) {
    if (w->lane_depth[l] != w->lane_depth[best] || w->lane_base[l] != w->lane_base[best]) continue;
    if (w->lane_pc[l] == w->lane_pc[best]) group |= 1u << l;
    else if (w->lane_pc[l] > w->lane_pc[best] && w->lane_pc[l] < meet) meet = w->lane_pc[l];
  }
  w->active = group;
  w->stalled &= ~group;
  w->waiting &= ~group;
  w->pc = w->lane_pc[best];
  w->depth = w->lane_depth[best];
  w->base = w->lane_base[best];
  w->pbase = w->lane_pbase[best];
  w->r = w->regs + (size_t)w->base * WARP_SIZE;
  w->p = w->preds + w->pbase;
  w->meet = meet;
  w->state = WARP_RUN;
}

void warp_ensure_frame(Warp *w, uint32_t base, uint32_t slots, uint32_t pbase, uint32_t preds) {
  uint32_t need = base + slots + 1, pneed = pbase + preds + 1;
  if (need > w->cap_slots) {
    uint32_t cap = need + need / 2;
    w->regs = realloc(w->regs, (size_t)cap * WARP_SIZE * 8);
    memset(w->regs + (size_t)w->cap_slots * WARP_SIZE, 0, (size_t)(cap - w->cap_slots) * WARP_SIZE * 8);
    if (w->grid->checks & CHECK_UNDEF) {
      w->undef = realloc(w->undef, (size_t)cap * WARP_SIZE * 8);
      memset(w->undef + (size_t)w->cap_slots * WARP_SIZE, 0xff, (size_t)(cap - w->cap_slots) * WARP_SIZE * 8);
      w->undef_lanes = realloc(w->undef_lanes, cap * 4);
      memset(w->undef_lanes + w->cap_slots, 0xff, (cap - w->cap_slots) * 4);
    }
    w->cap_slots = cap;
  }
  if (pneed > w->cap_preds) {
    uint32_t cap = pneed + pneed / 2;
    w->preds = realloc(w->preds, cap * 4);
    memset(w->preds + w->cap_preds, 0, (cap - w->cap_preds) * 4);
    if (w->grid->checks & CHECK_UNDEF) {
      w->pred_undef = realloc(w->pred_undef, cap * 4);
      memset(w->pred_undef + w->cap_preds, 0xff, (cap - w->cap_preds) * 4);
    }
    w->cap_preds = cap;
  }
  w->r = w->regs + (size_t)w->base * WARP_SIZE;
  w->p = w->preds + w->pbase;
}

uint8_t *warp_local(Warp *w, const Instr *in, int lane, uint64_t addr, uint32_t size) {
  uint64_t limit = w->lane_local[lane] + in->func->frame_bytes;
  if (addr < FIRST_LOCAL || addr + size > limit || addr + size < addr) return NULL;
  if (limit > w->cap_local[lane]) {
    uint32_t cap = (uint32_t)(limit + limit / 2 + 256);
    w->local[lane] = realloc(w->local[lane], cap);
    memset(w->local[lane] + w->cap_local[lane], 0xff, cap - w->cap_local[lane]);
    if (w->undef) {
      w->local_undef[lane] = realloc(w->local_undef[lane], cap);
      memset(w->local_undef[lane] + w->cap_local[lane], 0xff, cap - w->cap_local[lane]);
    }
    w->cap_local[lane] = cap;
  }
  return w->local[lane] + addr;
}

void warp_poll(Warp *w) {
  if (w->polls_at != w->grid->progress) w->polls = 0, w->polls_at = w->grid->progress;
  w->polls++;
  w->yield = true;
}

static void park(Warp *w, uint32_t mask, uint32_t *set) {
  warp_save_group(w);
  FOR_LANES(l, w->active & ~mask) w->lane_pc[l] = w->pc + 1;
  // Other lanes may have stalled at this instruction before: all of them try again together.
  uint32_t here = LANES_WHERE(l, w->stalled & ~w->active,
                              w->lane_pc[l] == w->pc && w->lane_depth[l] == w->depth && w->lane_base[l] == w->base);
  if (here) w->stalled &= ~here;
  else *set |= mask;
  w->active = 0;
}

uint32_t warp_run(Warp *w, uint32_t budget) {
  Grid *g = w->grid;
  const Instr *code = g->module->code;
  uint32_t done = 0;
  TraceLine open = {0};
  uint64_t lanes = 0;
  if (w->state != WARP_RUN || !w->active) {
    w->waiting = 0;
    regroup(w, 0);
  }
  w->yield = false;
  while (w->state == WARP_RUN && done < budget) {
    const uint32_t last = w->pc;
    const Instr *in = &code[last];
    const uint32_t active = w->active;
    uint32_t mask = active;
    if (in->guard >= 0) {
      uint32_t pv = w->p[in->guard];
      mask &= in->guard_negated ? ~pv : pv;
    }
    if (g->trace) trace_step(w, in, g->steps + done, &open);
    done++;
    if (g->hooks.step && g->hooks.step(w, in, mask) == EXEC_FAULT) break;
    lanes += (uint32_t)__builtin_popcount(mask);
    const ExecResult result = mask ? in->exec(w, in, mask) : EXEC_NEXT;
    if (in->numbers && g->numbers && mask) numbers_step(w, in, mask);
    if (g->counts && (result == EXEC_NEXT || result == EXEC_JUMP)) counts_instruction(w, in, active, mask);
    switch (result) {
    case EXEC_NEXT:
      w->pc++;
      break;
    case EXEC_JUMP:
      if (w->pc <= (uint32_t)(in - code) && endless_jump(w, in, w->steps + done) == EXEC_FAULT) goto out;
      break;
    case EXEC_STALL: park(w, mask, &w->stalled); break;
    case EXEC_WAIT:
      park(w, mask, &w->waiting);
      warp_poll(w);
      break;
    case EXEC_FAULT: goto out;
    }
    if (!w->active) regroup(w, 0);
    else if (w->pc >= w->meet) regroup(w, 0);
    else if (w->burst > MAX_BURST) {
      if (w->active != (live_lanes(w) & ~w->in_barrier & ~w->stalled & ~w->waiting)) regroup(w, w->active);
      else w->burst = 0;
    }
    if (w->yield) break;
  }
out:
  if (g->trace) trace_step_end(w, g->steps + done, &open);
  w->steps += done;
  g->steps += done;
  g->lane_steps += lanes;
  return done;
}

void warp_wake(Warp *w) {
  if (w->state == WARP_RUN) {
    w->meet = 0;   // regroup before the next instruction
  } else if (w->state != WARP_DONE) {
    w->state = WARP_RUN;
    w->active = 0;
  }
}

ExecResult warp_meet(Warp *w, const Instr *in, uint32_t mask, const uint64_t *members) {
  uint32_t need = 0;
  FOR_LANES(l, mask) {
    uint32_t m = (uint32_t)members[l];
    if (!(m >> l & 1))
      return warp_report(w, in, l, REPORT_DIVERGENT,
                         "lane %u executes it, but its member mask %#x does not name that lane", l, m);
    need |= m;
  }
  need &= live_lanes(w);
  if (need & ~mask) return EXEC_STALL;
  if (w->grid->hooks.warp_sync) w->grid->hooks.warp_sync(w, mask);
  return EXEC_NEXT;
}

void warp_start(Warp *w, uint32_t id, Cta *c) {
  Grid *g = c->grid;
  uint64_t *regs = w->regs, *undef = w->undef;
  uint32_t *preds = w->preds, *undef_lanes = w->undef_lanes, *pred_undef = w->pred_undef;
  uint32_t cap_slots = w->cap_slots, cap_preds = w->cap_preds;
  uint32_t *accesses = w->accesses ? w->accesses : malloc((g->module->num_accesses + 1) * sizeof *accesses);
  memset(accesses, 0, (g->module->num_accesses + 1) * sizeof *accesses);
  CallFrame *stack[WARP_SIZE];
  uint8_t *local[WARP_SIZE], *local_undef[WARP_SIZE];
  uint32_t cap_stack[WARP_SIZE], cap_local[WARP_SIZE];
  memcpy(stack, w->stack, sizeof stack);
  memcpy(local, w->local, sizeof local);
  memcpy(local_undef, w->local_undef, sizeof local_undef);
  memcpy(cap_stack, w->cap_stack, sizeof cap_stack);
  memcpy(cap_local, w->cap_local, sizeof cap_local);
  endless_free(w);
  *w = (Warp){.cta = c, .grid = g, .id = id, .regs = regs, .preds = preds, .undef = undef, .undef_lanes = undef_lanes,
              .pred_undef = pred_undef, .cap_slots = cap_slots, .cap_preds = cap_preds, .accesses = accesses};
  memcpy(w->stack, stack, sizeof stack);
  memcpy(w->local, local, sizeof local);
  memcpy(w->local_undef, local_undef, sizeof local_undef);
  memcpy(w->cap_stack, cap_stack, sizeof cap_stack);
  memcpy(w->cap_local, cap_local, sizeof cap_local);
  if (undef) {  // a reused warp: its registers and local memory become undefined
    for (int l = 0; l < WARP_SIZE; l++)
      if (local_undef[l]) memset(local_undef[l], 0xff, cap_local[l]);
    memset(undef, 0xff, (size_t)cap_slots * WARP_SIZE * 8);
    memset(undef_lanes, 0xff, cap_slots * 4);
    memset(pred_undef, 0xff, cap_preds * 4);
  }
  uint32_t first = id * WARP_SIZE, n = c->num_threads - first;
  w->exist = n >= WARP_SIZE ? FULL_MASK : (1u << n) - 1;
  w->maxnreg = g->func->maxnreg;
  warp_ensure_frame(w, 0, g->func->num_slots, 0, g->func->num_preds);
  for (int l = 0; l < WARP_SIZE; l++) {
    w->lane_pc[l] = g->func->first;
    w->lane_local[l] = FIRST_LOCAL;
  }
  regroup(w, 0);
}
