// Control: branches, calls, exit, barriers of CTA and cluster, register reallocation.
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
  if (!decode_want_ops(p, in, 1, 1) || !decode_want_kind(p, in, 0, OPND_LABEL)) return false;
  if (in->ops[0].sym->kind != SYM_LABEL) return ptx_error(p, in->line, "%s is not a label", in->ops[0].sym->name);
  if (in->ops[0].sym->addr == UINT64_MAX) ptx_use_label(p, &in->ops[0]);
  else in->target = (uint32_t)in->ops[0].sym->addr;
  in->exec = exec_bra;
  return true;
}

static ExecResult exec_brx(Warp *w, const Instr *in, uint32_t mask) {
  const uint64_t *index = src_row(w, &in->ops[0]);
  const Symbol *t = in->ops[1].sym;
  warp_save_group(w);
  FOR_LANES(l, w->active & ~mask) w->lane_pc[l] = w->pc + 1;
  FOR_LANES(l, mask) {
    uint32_t i = (uint32_t)index[l];
    if (i >= t->targets.count) return sim_report(w->grid, w, in, (int)l, REPORT_INVALID, "index %u beyond the %u targets of %s", i, t->targets.count, t->name);
    w->lane_pc[l] = t->targets.pcs[i];
  }
  w->active = 0;
  return EXEC_JUMP;
}

bool decode_brx(PtxParser *p, Instr *in) {
  if (!has_mod(in, M_idx) || !decode_want_ops(p, in, 2, 2) || !decode_srcs(p, in, 0, 1) || !decode_want_kind(p, in, 1, OPND_LABEL)) return false;
  if (in->ops[1].sym->kind != SYM_TARGETS) return ptx_error(p, in->line, "%s is not a table of targets", in->ops[1].sym->name);
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

static bool copy_argument(Warp *w, const Instr *in, int lane, const PtxOperand *actual, const Symbol *formal, const PtxFunction *f,
                          uint32_t base, uint32_t local, bool back) {
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
    uint64_t theirs = local + formal->addr, ours = caller_local + actual->sym->addr, to = back ? ours : theirs, from = back ? theirs : ours;
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

// A new activation knows nothing of what an earlier one left in the same place.
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
      if (!f) return sim_report(g, w, in, first, REPORT_INVALID, "call of %#llx, which is no function", (unsigned long long)row[first]);
      FOR_LANES(l, left) if (row[l] != row[first]) group &= ~(1u << l);
    }
    left &= ~group;
    if (!f->is_defined) {
      ExecResult r = builtin_call(w, in, group, f->name);
      if (r == EXEC_FAULT) return r;
      FOR_LANES(l, group) w->lane_pc[l] = w->pc + 1;
      continue;
    }
    if (f->is_entry || f->num_params != in->ops[2].count || f->num_rets != in->ops[0].count)
      return sim_report(g, w, in, first, REPORT_INVALID, "call of %s does not fit its parameters", f->name);
    uint32_t base = w->base + in->func->num_slots, pbase = w->pbase + in->func->num_preds;
    if (w->depth >= MAX_DEPTH) return sim_report(g, w, in, first, REPORT_LIMIT, "more than %d nested calls", MAX_DEPTH);
    warp_ensure_frame(w, base, f->num_slots, pbase, f->num_preds);
    FOR_LANES(l, group) {
      uint32_t local = (w->lane_local[l] + in->func->frame_bytes + 127) & ~127u;
      forget_frame(w, f, base, pbase, (int)l, local);
      for (uint32_t i = 0; i < f->num_params; i++)
        if (!copy_argument(w, in, (int)l, &in->ops[2].sub[i], f->params[i], f, base, local, false))
          return sim_report(g, w, in, (int)l, REPORT_INVALID, "argument %u of %s does not fit", i + 1, f->name);
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
  if (i >= in->num_ops || (in->ops[i].kind != OPND_LABEL && in->ops[i].kind != OPND_REG)) return ptx_error(p, in->line, "call needs a function");
  ops[1] = in->ops[i++];
  ops[2] = in->num_ops > i && in->ops[i].kind == OPND_VEC ? in->ops[i++] : empty;
  if (ops[1].kind == OPND_LABEL && ops[1].sym->kind != SYM_FUNC) return ptx_error(p, in->line, "%s is not a function", ops[1].sym->name);
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
  w->retry = 1;   // who waits for these lanes need not wait longer
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
      if (!copy_argument(w, top->call, (int)l, &top->call->ops[0].sub[i], f->rets[i], f, w->base, local, true))
        return sim_report(w->grid, w, in, (int)l, REPORT_INVALID, "result of %s does not fit", f->name);
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
  in->exec = exec_ret;
  return decode_want_ops(p, in, 0, 0);
}

static ExecResult exec_exit(Warp *w, const Instr *in, uint32_t mask) {
  return exit_lanes(w, in, mask) == EXEC_FAULT ? EXEC_FAULT : EXEC_JUMP;
}
bool decode_exit(PtxParser *p, Instr *in) {
  in->exec = exec_exit;
  return decode_want_ops(p, in, 0, 0);
}

static ExecResult exec_trap(Warp *w, const Instr *in, uint32_t mask) {
  return sim_report(w->grid, w, in, __builtin_ctz(mask), REPORT_TRAP, "the kernel executed trap");
}
bool decode_trap(PtxParser *p, Instr *in) {
  in->exec = exec_trap;
  return decode_want_ops(p, in, 0, 0);
}

static ExecResult exec_nanosleep(Warp *w, const Instr *in, uint32_t mask) {
  (void)in; (void)mask;
  w->yield = true;
  w->burst = 1u << 30;   // other lanes of the warp first, too
  return EXEC_NEXT;
}
bool decode_nanosleep(PtxParser *p, Instr *in) {
  in->exec = exec_nanosleep;
  return decode_want_ops(p, in, 1, 1) && decode_srcs(p, in, 0, 1);
}

// --------------------------------------------------------------------------------------------------------- barriers

void warp_wake(Warp *w) {
  if (w->state == WARP_RUN) {
    w->meet = 0;   // regroup before the next instruction
  } else if (w->state != WARP_DONE) {
    w->state = WARP_RUN;
    w->active = 0;
  }
}

static uint32_t cta_live_threads(const Cta *c) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < c->num_warps; i++) n += (uint32_t)__builtin_popcount(live_lanes(&c->warps[i]));
  return n;
}

static void barrier_complete(Cta *c, uint32_t id) {
  Grid *g = c->grid;
  ThreadBarrier *b = &c->bars[id];
  if (g->hooks.barrier) g->hooks.barrier(c, id, true, NULL, 0);
  for (uint32_t i = 0; i < c->num_warps; i++) {
    Warp *w = &c->warps[i];
    uint32_t here = 0;
    FOR_LANES(l, w->in_barrier) if (w->lane_barrier[l] == id) here |= 1u << l;
    if (!here) continue;
    FOR_LANES(l, here) {
      const Instr *at = w->lane_barrier_instr[l];
      if (!at->sel) continue;   // barrier.red: the result, now that all have spoken
      uint32_t base = w->lane_base[l], pbase = w->lane_pbase[l];
      if (at->sel == M_popc) w->regs[((size_t)base + at->ops[0].slot) * WARP_SIZE + l] = b->pred_count;
      else {
        uint32_t *p = &w->preds[pbase + at->ops[0].slot];
        bool v = at->sel == M_and ? b->pred_and : b->pred_or;
        *p = (*p & ~(1u << l)) | (uint32_t)v << l;
      }
      if (w->undef_lanes && at->sel == M_popc) w->undef_lanes[base + at->ops[0].slot] &= ~(1u << l), w->undef[((size_t)base + at->ops[0].slot) * WARP_SIZE + l] = 0;
      if (w->pred_undef && at->sel != M_popc) w->pred_undef[pbase + at->ops[0].slot] &= ~(1u << l);
    }
    w->in_barrier &= ~here;
    warp_wake(w);
  }
  b->arrived = b->expected = 0;
  b->pred_and = 1;
  b->pred_or = b->pred_count = 0;
  b->epoch++;
  g->progress++;
}

static bool barrier_full(const Cta *c, const ThreadBarrier *b) {
  return b->arrived && b->arrived >= (b->expected ? b->expected : cta_live_threads(c));
}

static void cluster_barrier_check(Cluster *cl) {
  uint32_t live = 0;
  for (uint32_t i = 0; i < cl->num_ctas; i++) live += cta_live_threads(cl->ctas[i]);
  if (!cl->bar.arrived || cl->bar.arrived < live) return;
  if (cl->grid->hooks.cluster_barrier) cl->grid->hooks.cluster_barrier(cl, true, NULL, 0);
  cl->bar.arrived = 0;
  cl->bar.epoch++;
  cl->grid->progress++;
}

ExecResult exec_threads_exited(Warp *w, const Instr *in) {
  (void)in;
  Cta *c = w->cta;
  // Exited threads no longer count for a barrier of all threads.
  for (uint32_t i = 0; i < NUM_BARRIERS; i++)
    if (!c->bars[i].expected && barrier_full(c, &c->bars[i])) barrier_complete(c, i);
  cluster_barrier_check(c->cluster);
  return EXEC_NEXT;
}

// sel: 0, or M_popc, M_and, M_or for barrier.red. ops after decoding: [0] result, [1] barrier, [2] count, [3] predicate.
static ExecResult barrier_arrive(Warp *w, const Instr *in, uint32_t mask, bool wait) {
  Grid *g = w->grid;
  Cta *c = w->cta;
  bool aligned = in->k;
  int first = __builtin_ctz(mask);
  if (aligned && mask != live_lanes(w)) return EXEC_STALL;   // all threads of the warp execute it together
  const uint64_t *ids = src_row(w, &in->ops[1]);
  uint32_t id = (uint32_t)ids[first];
  FOR_LANES(l, mask) if ((uint32_t)ids[l] != id) return sim_report(g, w, in, (int)l, REPORT_DIVERGENT, "the threads of a warp name different barriers (%u, %u)", id, (uint32_t)ids[l]);
  if (id >= NUM_BARRIERS) return sim_report(g, w, in, first, REPORT_INVALID, "barrier %u: there are %d", id, NUM_BARRIERS);
  ThreadBarrier *b = &c->bars[id];
  if (!b->arrived) b->pred_and = 1, b->pred_or = b->pred_count = 0;
  uint32_t expected = 0;
  if (in->ops[2].kind != OPND_NONE) {
    expected = (uint32_t)src_row(w, &in->ops[2])[first];
    if (!expected || expected % WARP_SIZE) return sim_report(g, w, in, first, REPORT_INVALID, "thread count %u of barrier %u is not a multiple of %d", expected, id, WARP_SIZE);
    if (expected > c->num_warps * WARP_SIZE) return sim_report(g, w, in, first, REPORT_INVALID, "barrier %u expects %u threads, the block has %u", id, expected, c->num_threads);
  }
  if (b->arrived && b->expected != expected)
    return sim_report(g, w, in, first, REPORT_DIVERGENT, "barrier %u is used with %u and with %u threads at a time (0: all)", id, b->expected, expected);
  b->expected = expected;
  // A warp counts whole in a barrier with a count.
  b->arrived += expected && aligned ? WARP_SIZE : (uint32_t)__builtin_popcount(mask);
  if (expected && b->arrived > expected)
    return sim_report(g, w, in, first, REPORT_DIVERGENT, "%u threads arrive at barrier %u, which expects %u", b->arrived, id, expected);
  if (in->sel) {
    uint32_t v = src_pred(w, &in->ops[3]) & mask;
    b->pred_and = b->pred_and && v == mask;
    b->pred_or = b->pred_or || v;
    b->pred_count += (uint32_t)__builtin_popcount(v);
  }
  if (g->hooks.barrier) g->hooks.barrier(c, id, false, w, mask);
  warp_save_group(w);
  FOR_LANES(l, w->active) w->lane_pc[l] = w->pc + 1;
  if (wait) {
    w->in_barrier |= mask;
    FOR_LANES(l, mask) {
      w->lane_barrier[l] = (uint8_t)id;
      w->lane_barrier_instr[l] = in;
    }
  }
  if (barrier_full(c, b)) barrier_complete(c, id);
  w->active = 0;
  return EXEC_JUMP;
}
static ExecResult exec_bar_sync(Warp *w, const Instr *in, uint32_t mask) { return barrier_arrive(w, in, mask, true); }
static ExecResult exec_bar_arrive(Warp *w, const Instr *in, uint32_t mask) { return barrier_arrive(w, in, mask, false); }

static ExecResult exec_cluster_arrive(Warp *w, const Instr *in, uint32_t mask) {
  Cluster *cl = w->cta->cluster;
  if (in->k && mask != live_lanes(w)) return EXEC_STALL;
  FOR_LANES(l, mask) {
    if (w->cluster_arrived >> l & 1 && w->cluster_epoch[l] == cl->bar.epoch)
      return sim_report(w->grid, w, in, (int)l, REPORT_DIVERGENT, "second barrier.cluster.arrive without a wait in between");
    w->cluster_epoch[l] = cl->bar.epoch;
  }
  w->cluster_arrived |= mask;
  cl->bar.arrived += (uint32_t)__builtin_popcount(mask);
  if (w->grid->hooks.cluster_barrier) w->grid->hooks.cluster_barrier(cl, false, w, mask);
  cluster_barrier_check(cl);
  return EXEC_NEXT;
}
static ExecResult exec_cluster_wait(Warp *w, const Instr *in, uint32_t mask) {
  Cluster *cl = w->cta->cluster;
  if (in->k && mask != live_lanes(w)) return EXEC_STALL;
  FOR_LANES(l, mask)
    if (!(w->cluster_arrived >> l & 1)) return sim_report(w->grid, w, in, (int)l, REPORT_DIVERGENT, "barrier.cluster.wait without an arrive before it");
  FOR_LANES(l, mask) if (w->cluster_epoch[l] == cl->bar.epoch) return EXEC_WAIT;
  w->cluster_arrived &= ~mask;
  if (w->grid->hooks.cluster_barrier) w->grid->hooks.cluster_barrier(cl, true, w, mask);
  return EXEC_NEXT;
}

bool decode_bar(PtxParser *p, Instr *in) {
  bool bar = in->op == OP_bar;
  in->k = bar || has_mod(in, M_aligned);
  if (has_mod(in, M_cluster)) {
    in->exec = has_mod(in, M_arrive) ? exec_cluster_arrive : exec_cluster_wait;
    return (has_mod(in, M_arrive) || has_mod(in, M_wait)) && decode_want_ops(p, in, 0, 0);
  }
  if (has_mod(in, M_warp)) {
    in->exec = exec_bar_warp;
    return decode_want_ops(p, in, 1, 1) && decode_srcs(p, in, 0, 1);
  }
  PtxOperand *ops = arena_array(ptx_arena(p), PtxOperand, 4);
  if (has_mod(in, M_red)) {
    if (!decode_want_ops(p, in, 3, 4)) return false;
    in->sel = has_mod(in, M_popc) ? M_popc : has_mod(in, M_and) ? M_and : has_mod(in, M_or) ? M_or : 0;
    if (!in->sel || in->ops[0].kind != (in->sel == M_popc ? OPND_REG : OPND_PRED)) return false;
    ops[0] = in->ops[0];
    ops[1] = in->ops[1];
    ops[3] = in->ops[in->num_ops - 1];
    if (in->num_ops == 4) ops[2] = in->ops[2];
    if (ops[3].kind != OPND_PRED && ops[3].kind != OPND_IMM) return false;
  } else {
    if (!has_mod(in, M_sync) && !has_mod(in, M_arrive)) return false;
    if (!decode_want_ops(p, in, has_mod(in, M_arrive) ? 2 : 1, 2) || !decode_srcs(p, in, 0, in->num_ops)) return false;
    ops[1] = in->ops[0];
    if (in->num_ops == 2) ops[2] = in->ops[1];
  }
  if (ops[1].kind != OPND_REG && ops[1].kind != OPND_IMM) return false;
  if (ops[2].kind != OPND_NONE && ops[2].kind != OPND_REG && ops[2].kind != OPND_IMM) return false;
  in->ops = ops;
  in->num_ops = 4;
  in->exec = has_mod(in, M_arrive) ? exec_bar_arrive : exec_bar_sync;
  return true;
}

// setmaxnreg: all warps of a warpgroup execute the same one, and meet before the next; increases wait until decreases have
// freed the registers.
enum { WARPGROUP = 4 };
static ExecResult check_warpgroup(Warp *w, const Instr *in) {
  Cta *c = w->cta;
  uint32_t first = w->id / WARPGROUP * WARPGROUP, mine = w->setmaxnreg_count + 1;
  for (uint32_t i = first; i < first + WARPGROUP && i < c->num_warps; i++) {
    const Warp *o = &c->warps[i];
    if (o->setmaxnreg_count == mine && o->setmaxnreg_last != in)
      return sim_report(w->grid, w, in, -1, REPORT_INVALID, "warp %u of the same warpgroup executed another setmaxnreg (ptx:%u)", i, o->setmaxnreg_last->line);
    if (o->setmaxnreg_count + 1 < mine || o->setmaxnreg_count > mine)
      return sim_report(w->grid, w, in, -1, REPORT_INVALID, "warp %u of the same warpgroup has executed %u setmaxnreg, this one %u: they must meet in between", i,
                        o->setmaxnreg_count, w->setmaxnreg_count);
  }
  return EXEC_NEXT;
}
void exec_setmaxnreg_cta_end(Cta *c) {
  for (uint32_t i = 0; i < c->num_warps; i++) {
    Warp *w = &c->warps[i], *first = &c->warps[i / WARPGROUP * WARPGROUP];
    if (w->setmaxnreg_count == first->setmaxnreg_count) continue;
    Warp *more = w->setmaxnreg_count > first->setmaxnreg_count ? w : first, *fewer = more == w ? first : w;
    sim_report(c->grid, more, more->setmaxnreg_last, -1, REPORT_INVALID, "warp %u of the same warpgroup has exited without this setmaxnreg", fewer->id);
  }
}

static ExecResult exec_setmaxnreg(Warp *w, const Instr *in, uint32_t mask) {
  Grid *g = w->grid;
  Cta *c = w->cta;
  if (mask != live_lanes(w)) return EXEC_STALL;
  ExecResult agreed = check_warpgroup(w, in);
  if (agreed != EXEC_NEXT) return agreed;
  int32_t want = (int32_t)in->ops[0].offset, have = (int32_t)w->maxnreg;
  if (!have) have = (int32_t)w->grid->func->maxnreg;
  if (!have) {  // what ptxas would have had to fit
    have = 65536 / (int32_t)(c->num_warps * WARP_SIZE) & ~7;
    if (have > 255) have = 255;
  }
  bool inc = in->sel;
  if (inc ? want < have : want > have)
    return sim_report(g, w, in, -1, REPORT_INVALID, "setmaxnreg.%s to %d from %d registers", inc ? "inc" : "dec", want, have);
  int32_t need = (want - have) * WARP_SIZE;
  if (need > 0 && c->reg_pool < need) return EXEC_WAIT;
  c->reg_pool -= need;
  w->maxnreg = (uint32_t)want;
  w->setmaxnreg_count++;
  w->setmaxnreg_last = in;
  g->progress++;
  return EXEC_NEXT;
}
bool decode_setmaxnreg(PtxParser *p, Instr *in) {
  if (!decode_want_ops(p, in, 1, 1) || !decode_want_kind(p, in, 0, OPND_IMM) || has_mod(in, M_inc) == has_mod(in, M_dec)) return false;
  int64_t n = in->ops[0].offset;
  if (n < 24 || n > 256 || n % 8) return ptx_error(p, in->line, "setmaxnreg takes 24 to 256 in steps of 8");
  in->sel = has_mod(in, M_inc);
  in->exec = exec_setmaxnreg;
  return true;
}
