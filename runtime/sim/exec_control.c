// Control: branches, calls, exit.
#include <stdlib.h>
#include <string.h>

#include "runtime/sim/parse.h"

enum { MAX_DEPTH = 1024 };

// --------------------------------------------------------------------------------------------------------- branches

static ExecResult exec_bra(Warp *w, const Instr *in, uint32_t mask) {
  uint32_t rest = w->active & ~mask;
  if (in->target <= w->pc) w->burst++;
  if (!rest) {
    w->pc = in->target;
    return EXEC_JUMP;
  }
  uint32_t burst = w->burst;
  warp_save_group(w);
  FOR_LANES(l, mask) w->lane_pc[l] = in->target;
  FOR_LANES(l, rest) w->lane_pc[l] = w->pc + 1;
  w->active = 0;
  w->burst = burst;
  return EXEC_JUMP;
}

bool decode_bra(PtxParser *p, Instr *in) {
  if (!decode_operands(p, in, "l")) return false;
  if (in->ops[0].sym->kind != SYM_LABEL) return decode_error(p, "%s is not a label", in->ops[0].sym->name);
  if (in->ops[0].sym->addr == UINT64_MAX) ptx_use_label(p, &in->ops[0]);
  else in->target = (uint32_t)in->ops[0].sym->addr;
  in->exec = exec_bra;
  return true;
}

static ExecResult exec_brx(Warp *w, const Instr *in, uint32_t mask) {
  const uint64_t *index = src_at(w, in, 0);
  const Symbol *t = in->ops[1].sym;
  warp_save_group(w);
  FOR_LANES(l, w->active & ~mask) w->lane_pc[l] = w->pc + 1;
  FOR_LANES(l, mask) {
    uint32_t i = (uint32_t)index[l];
    if (i >= t->targets.count)
      return warp_report(w, in, l, REPORT_INVALID, "index %u beyond the %u targets of %s", i, t->targets.count,
                         t->name);
    w->lane_pc[l] = t->targets.pcs[i];
  }
  w->active = 0;
  return EXEC_JUMP;
}

bool decode_brx(PtxParser *p, Instr *in) {
  if (!has_mod(in, M_idx) || !decode_operands(p, in, "sl")) return false;
  if (in->ops[1].sym->kind != SYM_TARGETS) return decode_error(p, "%s is not a table of targets", in->ops[1].sym->name);
  in->exec = exec_brx;
  return true;
}

// ------------------------------------------------------------------------------------------------------------ calls

// ops after decoding: [0] results (VEC), [1] function or register, [2] arguments (VEC).
static void copy_undef(Warp *w, uint32_t to_slot, uint32_t from_slot, bool from_register, int lane) {
  if (!w->undef) return;
  uint64_t bits = from_register ? w->undef[(size_t)from_slot * WARP_SIZE + lane] : 0;
  w->undef[(size_t)to_slot * WARP_SIZE + lane] = bits;
  w->undef_lanes[to_slot] = (w->undef_lanes[to_slot] & ~(1u << lane)) | (uint32_t)(bits != 0) << lane;
}

static bool copy_argument(Warp *w, const Instr *in, int lane, const PtxOperand *actual, const Symbol *formal,
                          const PtxFunction *f, uint32_t base, uint32_t local, bool back) {
  if (formal->kind == SYM_VAR) {
    if (actual->kind != OPND_SYM || actual->sym->space != SPACE_FRAME) return false;
    uint64_t size = formal->size < actual->sym->size ? formal->size : actual->sym->size;
    if (!size) return true;
    Instr callee = *in;   // limits of the callee's frame
    callee.func = (PtxFunction *)f;
    uint32_t caller_local = w->lane_local[lane];
    w->lane_local[lane] = local;
    bool ok = warp_local(w, &callee, lane, local + formal->addr, (uint32_t)size) != NULL;
    w->lane_local[lane] = caller_local;
    if (!ok || !warp_local(w, in, lane, caller_local + actual->sym->addr, (uint32_t)size)) return false;
    uint64_t theirs = local + formal->addr, ours = caller_local + actual->sym->addr, to = back ? ours : theirs,
             from = back ? theirs : ours;
    memmove(w->local[lane] + to, w->local[lane] + from, size);
    if (w->undef) memmove(w->local_undef[lane] + to, w->local_undef[lane] + from, size);
    return true;
  }
  uint64_t *theirs = w->regs + ((size_t)base + formal->slot) * WARP_SIZE + lane;
  if (formal->kind == SYM_PRED) return false;
  uint32_t ours = (uint32_t)((w->r - w->regs) / WARP_SIZE) + actual->slot;
  if (back) {
    if (actual->kind != OPND_REG) return true;
    w->r[(size_t)actual->slot * WARP_SIZE + lane] = *theirs;
    copy_undef(w, ours, base + formal->slot, true, lane);
  } else if (actual->kind == OPND_REG || actual->kind == OPND_IMM) {
    *theirs = src_row(w, actual)[lane];
    copy_undef(w, base + formal->slot, ours, actual->kind == OPND_REG, lane);
  } else {
    return false;
  }
  return true;
}

// A new activation's registers and local memory are undefined, whatever an earlier one left there.
static void forget_frame(Warp *w, const PtxFunction *f, uint32_t base, uint32_t pbase, int lane, uint32_t local) {
  if (!w->undef) return;
  for (uint32_t i = base; i < base + f->num_slots; i++) {
    w->undef[(size_t)i * WARP_SIZE + lane] = ~UINT64_C(0);
    w->undef_lanes[i] |= 1u << lane;
  }
  for (uint32_t i = pbase; i < pbase + f->num_preds; i++) w->pred_undef[i] |= 1u << lane;
  if (w->cap_local[lane] > local) memset(w->local_undef[lane] + local, 0xff, w->cap_local[lane] - local);
}

static ExecResult exec_call(Warp *w, const Instr *in, uint32_t mask) {
  Grid *g = w->grid;
  const PtxOperand *callee = &in->ops[1];
  warp_save_group(w);
  FOR_LANES(l, w->active & ~mask) w->lane_pc[l] = w->pc + 1;
  for (uint32_t left = mask; left;) {
    int first = __builtin_ctz(left);
    PtxFunction *f = NULL;
    uint32_t group = left;
    if (callee->kind == OPND_LABEL) {
      f = callee->sym->func;
    } else {   // through a register: lanes may call different functions
      const uint64_t *row = src_row(w, callee);
      for (uint32_t i = 0; i < g->module->funcs.count; i++)
        if ((uintptr_t)g->module->funcs.data[i] == row[first]) f = g->module->funcs.data[i];
      if (!f)
        return warp_report(w, in, first, REPORT_INVALID, "call of %#llx, which is not a function",
                           (unsigned long long)row[first]);
      FOR_LANES(l, left) if (row[l] != row[first]) group &= ~(1u << l);
    }
    left &= ~group;
    if (!f->is_defined) {
      ExecResult r = exec_system_call(w, in, group, f->name);
      if (r == EXEC_FAULT) return r;
      FOR_LANES(l, group) w->lane_pc[l] = w->pc + 1;
      continue;
    }
    if (f->is_entry || f->num_params != in->ops[2].count || f->num_rets != in->ops[0].count)
      return warp_report(w, in, first, REPORT_INVALID, "call of %s does not fit its parameters", f->name);
    uint32_t base = w->base + in->func->num_slots, pbase = w->pbase + in->func->num_preds;
    if (w->depth >= MAX_DEPTH) return warp_report(w, in, first, REPORT_LIMIT, "more than %d nested calls", MAX_DEPTH);
    warp_ensure_frame(w, base, f->num_slots, pbase, f->num_preds);
    FOR_LANES(l, group) {
      uint32_t local = (w->lane_local[l] + in->func->frame_bytes + 127) & ~127u;
      forget_frame(w, f, base, pbase, l, local);
      for (uint32_t i = 0; i < f->num_params; i++)
        if (!copy_argument(w, in, l, &in->ops[2].sub[i], f->params[i], f, base, local, false))
          return warp_report(w, in, l, REPORT_INVALID, "argument %u of %s does not fit", i + 1, f->name);
      if (w->depth >= w->cap_stack[l]) {
        w->cap_stack[l] = w->depth * 2 + 4;
        w->stack[l] = realloc(w->stack[l], w->cap_stack[l] * sizeof *w->stack[l]);
      }
      w->stack[l][w->depth] = (CallFrame){w->pc + 1, w->base, w->pbase, w->lane_local[l], in};
      w->lane_pc[l] = f->first;
      w->lane_depth[l] = w->depth + 1;
      w->lane_base[l] = base;
      w->lane_pbase[l] = pbase;
      w->lane_local[l] = local;
    }
  }
  w->active = 0;
  return EXEC_JUMP;
}

bool decode_call(PtxParser *p, Instr *in) {
  static const PtxOperand empty = {.kind = OPND_VEC};
  PtxOperand *ops = arena_array(ptx_arena(p), PtxOperand, 3);
  uint32_t i = 0;
  ops[0] = in->num_ops > i && in->ops[i].kind == OPND_VEC ? in->ops[i++] : empty;
  if (i >= in->num_ops || (in->ops[i].kind != OPND_LABEL && in->ops[i].kind != OPND_REG))
    return decode_error(p, "call needs a function");
  ops[1] = in->ops[i++];
  ops[2] = in->num_ops > i && in->ops[i].kind == OPND_VEC ? in->ops[i++] : empty;
  if (ops[1].kind == OPND_LABEL && ops[1].sym->kind != SYM_FUNC)
    return decode_error(p, "%s is not a function", ops[1].sym->name);
  in->ops = ops;
  in->num_ops = 3;
  in->exec = exec_call;
  return true;
}

static ExecResult exit_lanes(Warp *w, const Instr *in, uint32_t mask) {
  warp_save_group(w);
  FOR_LANES(l, w->active & ~mask) w->lane_pc[l] = w->pc + 1;
  if (w->grid->hooks.lanes_exit && w->grid->hooks.lanes_exit(w, in, mask) == EXEC_FAULT) return EXEC_FAULT;
  w->exited |= mask;
  w->retry = 1;   // lanes that wait for these need not wait any longer
  w->active = 0;
  return exec_threads_exited(w, in);
}

static ExecResult exec_ret(Warp *w, const Instr *in, uint32_t mask) {
  if (!w->depth) {
    ExecResult r = exit_lanes(w, in, mask);
    return r == EXEC_FAULT ? r : EXEC_JUMP;
  }
  warp_save_group(w);
  FOR_LANES(l, w->active & ~mask) w->lane_pc[l] = w->pc + 1;
  const PtxFunction *f = in->func;
  uint64_t *r = w->r;
  FOR_LANES(l, mask) {
    const CallFrame *top = &w->stack[l][w->depth - 1];
    uint32_t local = w->lane_local[l];
    w->lane_local[l] = top->local;
    w->r = w->regs + (size_t)top->base * WARP_SIZE;
    for (uint32_t i = 0; i < f->num_rets; i++)
      if (!copy_argument(w, top->call, l, &top->call->ops[0].sub[i], f->rets[i], f, w->base, local, true))
        return warp_report(w, in, l, REPORT_INVALID, "result of %s does not fit", f->name);
    w->lane_pc[l] = top->pc;
    w->lane_depth[l] = w->depth - 1;
    w->lane_base[l] = top->base;
    w->lane_pbase[l] = top->pbase;
  }
  w->r = r;
  w->active = 0;
  return EXEC_JUMP;
}
bool decode_ret(PtxParser *p, Instr *in) {
  return decode_as(p, in, exec_ret, "");
}

static ExecResult exec_exit(Warp *w, const Instr *in, uint32_t mask) {
  return exit_lanes(w, in, mask) == EXEC_FAULT ? EXEC_FAULT : EXEC_JUMP;
}
bool decode_exit(PtxParser *p, Instr *in) {
  return decode_as(p, in, exec_exit, "");
}

static ExecResult exec_trap(Warp *w, const Instr *in, uint32_t mask) {
  return warp_report(w, in, __builtin_ctz(mask), REPORT_TRAP, "the kernel executed trap");
}
bool decode_trap(PtxParser *p, Instr *in) {
  return decode_as(p, in, exec_trap, "");
}

static ExecResult exec_nanosleep(Warp *w, const Instr *in, uint32_t mask) {
  (void)in; (void)mask;
  w->yield = true;
  w->burst = 1u << 30;   // other lanes of the warp run first, too
  return EXEC_NEXT;
}
bool decode_nanosleep(PtxParser *p, Instr *in) {
  return decode_as(p, in, exec_nanosleep, "s");
}
