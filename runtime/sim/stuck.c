// Loops whose condition never changes again, though they change something else: a `for` whose step is 0, a `while` that
// forgets its counter. The instructions that compute the conditions of a loop's exits are collected. If they are
// arithmetic on registers alone, and in each iteration, and the registers are as they were an iteration before, then
// every further iteration decides in the same way.
#include <stdlib.h>
#include <string.h>

#include "runtime/sim/exec.h"

enum { MAX_LOOPS = 8, MAX_REGS = 16, ENOUGH = 64 };   // ENOUGH: iterations without a change

typedef struct { bool is_pred; uint32_t slot; } Reg;
typedef struct {
  const Instr *branch, *exit;  // the branch back; the first branch that may leave, which may be the same
  bool is_known;               // regs are all that decides
  Reg regs[MAX_REGS];
  uint32_t num_regs, active, base, same;
  uint64_t values[MAX_REGS][WARP_SIZE];
} Loop;
struct Stuck { Loop loops[MAX_LOOPS]; uint32_t count; };

static bool add_reg(Loop *l, bool is_pred, uint32_t slot) {
  for (uint32_t i = 0; i < l->num_regs; i++)
    if (l->regs[i].is_pred == is_pred && l->regs[i].slot == slot) return true;
  if (l->num_regs == MAX_REGS) return false;
  l->regs[l->num_regs++] = (Reg){is_pred, slot};
  return true;
}

static bool add_guard(Loop *l, const Instr *in) { return in->guard < 0 || add_reg(l, true, (uint32_t)in->guard); }

static bool add_sources(Loop *l, const Instr *in) {
  for (uint32_t i = 1; i < in->num_ops; i++) {
    const PtxOperand *o = &in->ops[i];
    if (o->kind == OPND_REG || o->kind == OPND_PRED) {
      if (!add_reg(l, o->kind == OPND_PRED, o->slot)) return false;
    } else if (o->kind != OPND_IMM) {
      return false;
    }
  }
  return add_guard(l, in);
}

static bool is_reg(const PtxOperand *o, Reg r) {
  return o && o->kind == (r.is_pred ? OPND_PRED : OPND_REG) && o->slot == r.slot;
}

static bool writes(const Instr *in, Reg r) {
  if (!instr_has_dst(in)) return false;
  const PtxOperand *o = &in->ops[0];
  for (uint32_t i = 0; i < o->count; i++)
    if (is_reg(&o->sub[i], r)) return true;
  return is_reg(o, r) || is_reg(o->pair, r);
}

// Whether the result depends on the registers that are written as its operands, and on nothing else.
static bool is_arithmetic(const Instr *in) {
  const bool carries = in->op == OP_addc || in->op == OP_subc || in->op == OP_madc;
  return (in->op <= OP_cvt || in->op == OP_mov) && !carries;
}

// Whether another branch within the loop skips or repeats the instruction; one to its begin skips what follows.
static bool is_conditional(const Instr *code, uint32_t first, uint32_t last, uint32_t pc) {
  for (uint32_t i = first; i < last; i++) {
    const Instr *in = &code[i];
    if (in->op != OP_bra || in->target < first || in->target > last) continue;
    if (in->target == first ? pc > i : in->target > i ? pc > i && pc < in->target : pc >= in->target && pc <= i)
      return true;
  }
  return false;
}

static bool add_exits(Loop *l, const Instr *code, uint32_t first, uint32_t last) {
  for (uint32_t i = first; i <= last; i++) {
    const Instr *in = &code[i];
    if (in->op == OP_ret || in->op == OP_exit || in->op == OP_brx) return false;
    const bool leaves = in->op == OP_bra && (i == last ? in->guard >= 0 : in->target < first || in->target > last);
    if (!leaves) continue;
    // Of `@p bra inside; bra outside;` the first decides.
    const Instr *decides = in->guard < 0 && i > first && in[-1].op == OP_bra ? in - 1 : in;
    if (!l->exit) l->exit = decides;
    if (decides->guard < 0 || is_conditional(code, first, last, (uint32_t)(decides - code)) || !add_guard(l, decides))
      return false;
  }
  return l->exit != NULL;
}

static bool find_regs(Loop *l, const Instr *code) {
  const uint32_t last = (uint32_t)(l->branch - code), first = l->branch->target;
  if (!add_exits(l, code, first, last)) return false;
  for (uint32_t k = 0; k < l->num_regs; k++)
    for (uint32_t i = first; i <= last; i++) {
      if (!writes(&code[i], l->regs[k])) continue;
      if (!is_arithmetic(&code[i]) || is_conditional(code, first, last, i) || !add_sources(l, &code[i])) return false;
    }
  return true;
}

static Loop *loop_of(Stuck *s, const Instr *branch, const Instr *code) {
  for (uint32_t i = 0; i < s->count; i++)
    if (s->loops[i].branch == branch) return &s->loops[i];
  if (s->count == MAX_LOOPS) return NULL;
  Loop *l = &s->loops[s->count++];
  l->branch = branch;
  l->is_known = find_regs(l, code);
  return l;
}

static uint64_t value_of(const Warp *w, Reg r, uint32_t lane) {
  return r.is_pred ? w->p[r.slot] >> lane & 1 : w->r[(size_t)r.slot * WARP_SIZE + lane];
}

// Whether the registers are as they were when the warp was last here. Remembers them.
static bool is_as_before(Loop *l, const Warp *w) {
  bool same = l->active == w->active && l->base == w->base;
  for (uint32_t k = 0; k < l->num_regs; k++)
    FOR_LANES(lane, w->active) {
      const uint64_t v = value_of(w, l->regs[k], (uint32_t)lane);
      same &= l->values[k][lane] == v;
      l->values[k][lane] = v;
    }
  l->active = w->active;
  l->base = w->base;
  return same;
}

static ExecResult report(Warp *w, const Loop *l) {
  Grid *g = w->grid;
  PlaceNote place;
  Arena scratch;
  arena_init(&scratch);
  const char *program = report_program_of(&scratch, w->cta);
  if (report_note(g, l->exit, &place))
    report_lead(g, &place,
                arena_printf(&scratch, place.has_step ? "deadlock: the step of this loop is 0 in %s: it never ends"
                                       : "deadlock: this loop of %s never ends: no iteration changes its condition",
                             program),
                place.has_step ? report_zero_step
                : "give what it compares a new value in the loop: count on, or load again what it waits for");
  arena_free(&scratch);
  return warp_report(w, l->branch, __builtin_ctz(w->active), REPORT_DEADLOCK,
                     "no iteration of this loop changes what decides whether it ends");
}

// Starts the count of unchanged iterations again for every loop that this branch leaves.
static void leave_others(Stuck *s, const Instr *branch, const Instr *code) {
  for (uint32_t i = 0; i < s->count; i++) {
    Loop *l = &s->loops[i];
    const Instr *first = &code[l->branch->target];
    const bool stays = branch->op == OP_bra && branch >= first && branch <= l->branch && &code[branch->target] >= first;
    if (!stays) l->same = 0;
  }
}

ExecResult stuck_jump(Stuck **s, Warp *w, const Instr *in) {
  const Instr *code = w->grid->module->code;
  if (!*s && !(*s = calloc(1, sizeof **s))) return EXEC_JUMP;
  if (in->op == OP_bra || in->op == OP_brx || in->op == OP_call || in->op == OP_ret) leave_others(*s, in, code);
  // A function that is called comes back to its loops without a branch.
  if (!w->active || in->op != OP_bra || !in->func->is_entry) return EXEC_JUMP;
  Loop *l = loop_of(*s, in, code);
  if (!l || !l->is_known) return EXEC_JUMP;
  l->same = is_as_before(l, w) ? l->same + 1 : 0;
  return l->same < ENOUGH ? EXEC_JUMP : report(w, l);
}
