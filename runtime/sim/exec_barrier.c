// Barriers of CTAs and clusters; setmaxnreg, by which warps of a CTA give registers to each other.
#include "runtime/sim/parse.h"

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
    uint32_t here = LANES_WHERE(l, w->in_barrier, w->lane_barrier[l] == id);
    if (!here) continue;
    FOR_LANES(l, here) {
      const Instr *at = w->lane_barrier_instr[l];
      if (!at->sel) continue;   // barrier.red: the result, now that all threads have arrived
      uint32_t base = w->lane_base[l], pbase = w->lane_pbase[l];
      if (at->sel == M_popc) w->regs[((size_t)base + at->ops[0].slot) * WARP_SIZE + l] = b->pred_count;
      else {
        uint32_t *p = &w->preds[pbase + at->ops[0].slot];
        bool v = at->sel == M_and ? b->pred_and : b->pred_or;
        *p = (*p & ~(1u << l)) | (uint32_t)v << l;
      }
      if (w->undef_lanes && at->sel == M_popc)
        w->undef_lanes[base + at->ops[0].slot] &= ~(1u << l),
            w->undef[((size_t)base + at->ops[0].slot) * WARP_SIZE + l] = 0;
      if (w->pred_undef && at->sel != M_popc) w->pred_undef[pbase + at->ops[0].slot] &= ~(1u << l);
    }
    w->in_barrier &= ~here;
    warp_wake(w);
  }
  b->arrived = b->expected = 0;
  b->pred_and = 1;
  b->pred_or = b->pred_count = 0;
  b->epoch++;
  g->progress++, g->meetings++;
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
  cl->grid->progress++, cl->grid->meetings++;
}

ExecResult exec_threads_exited(Warp *w, const Instr *in) {
  (void)in;
  Cta *c = w->cta;
  // A barrier of all threads does not count threads that have exited.
  for (uint32_t i = 0; i < NUM_BARRIERS; i++)
    if (!c->bars[i].expected && barrier_full(c, &c->bars[i])) barrier_complete(c, i);
  cluster_barrier_check(c->cluster);
  return EXEC_NEXT;
}

// sel: 0, or M_popc, M_and, M_or for barrier.red. ops after decoding: [0] result, [1] barrier, [2] count, [3]
// predicate.
static ExecResult barrier_arrive(Warp *w, const Instr *in, uint32_t mask, bool wait) {
  Grid *g = w->grid;
  Cta *c = w->cta;
  bool aligned = in->k;
  int first = __builtin_ctz(mask);
  if (aligned && mask != live_lanes(w)) return EXEC_STALL;   // all threads of the warp execute it together
  const uint64_t *ids = src_at(w, in, 1);
  uint32_t id = (uint32_t)ids[first];
  FOR_LANES (l, mask)
    if ((uint32_t)ids[l] != id)
      return warp_report(w, in, l, REPORT_DIVERGENT, "the threads of a warp name different barriers (%u, %u)", id,
                         (uint32_t)ids[l]);
  if (id >= NUM_BARRIERS)
    return warp_report(w, in, first, REPORT_INVALID, "barrier %u: there are %d", id, NUM_BARRIERS);
  ThreadBarrier *b = &c->bars[id];
  if (!b->arrived) b->pred_and = 1, b->pred_or = b->pred_count = 0;
  uint32_t expected = 0;
  if (in->ops[2].kind != OPND_NONE) {
    expected = (uint32_t)src_at(w, in, 2)[first];
    if (!expected || expected % WARP_SIZE)
      return warp_report(w, in, first, REPORT_INVALID, "thread count %u of barrier %u is not a multiple of %d",
                         expected, id, WARP_SIZE);
    if (expected > c->num_warps * WARP_SIZE)
      return warp_report(w, in, first, REPORT_INVALID, "barrier %u expects %u threads, the block has %u", id, expected,
                         c->num_threads);
  }
  if (b->arrived && b->expected != expected)
    return warp_report(w, in, first, REPORT_DIVERGENT,
                       "barrier %u is used with %u and with %u threads at a time (0: all)", id, b->expected, expected);
  b->expected = expected;
  // In a barrier with a thread count, an arriving warp counts as 32 threads.
  b->arrived += expected && aligned ? WARP_SIZE : (uint32_t)__builtin_popcount(mask);
  if (expected && b->arrived > expected)
    return warp_report(w, in, first, REPORT_DIVERGENT, "%u threads arrive at barrier %u, which expects %u", b->arrived,
                       id, expected);
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
static ExecResult exec_bar_arrive(Warp *w, const Instr *in, uint32_t mask) {
  return barrier_arrive(w, in, mask, false);
}

static ExecResult exec_cluster_arrive(Warp *w, const Instr *in, uint32_t mask) {
  Cluster *cl = w->cta->cluster;
  if (in->k && mask != live_lanes(w)) return EXEC_STALL;
  FOR_LANES(l, mask) {
    if (w->cluster_arrived >> l & 1 && w->cluster_epoch[l] == cl->bar.epoch)
      return warp_report(w, in, l, REPORT_DIVERGENT, "second barrier.cluster.arrive without a wait in between");
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
    if (!(w->cluster_arrived >> l & 1))
      return warp_report(w, in, l, REPORT_DIVERGENT, "barrier.cluster.wait without an arrive before it");
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
    return (has_any(in, M_arrive, M_wait)) && decode_operands(p, in, "");
  }
  if (has_mod(in, M_warp)) return decode_as(p, in, exec_bar_warp, "s");
  PtxOperand *ops = arena_array(ptx_arena(p), PtxOperand, 4);
  if (has_mod(in, M_red)) {
    if (!decode_operands(p, in, "...?.")) return false;
    in->sel = one_of(in, M_popc, M_and, M_or);
    if (!in->sel || in->ops[0].kind != (in->sel == M_popc ? OPND_REG : OPND_PRED)) return false;
    ops[0] = in->ops[0];
    ops[1] = in->ops[1];
    ops[3] = in->ops[in->num_ops - 1];
    if (in->num_ops == 4) ops[2] = in->ops[2];
    if (ops[3].kind != OPND_PRED && ops[3].kind != OPND_IMM) return false;
  } else {
    if (!has_mod(in, M_sync) && !has_mod(in, M_arrive)) return false;
    if (!decode_operands(p, in, has_mod(in, M_arrive) ? "ss" : "s?s")) return false;
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

// setmaxnreg: all warps of a warpgroup must execute the same one, and must meet before the next. An increase waits
// until decreases have freed the registers.
enum { WARPGROUP = 4 };
static ExecResult check_warpgroup(Warp *w, const Instr *in) {
  Cta *c = w->cta;
  uint32_t first = w->id / WARPGROUP * WARPGROUP, mine = w->setmaxnreg_count + 1;
  for (uint32_t i = first; i < first + WARPGROUP && i < c->num_warps; i++) {
    const Warp *o = &c->warps[i];
    if (o->setmaxnreg_count == mine && o->setmaxnreg_last != in)
      return warp_report(w, in, -1, REPORT_INVALID,
                         "warp %u of the same warpgroup executed another setmaxnreg (ptx:%u)", i,
                         o->setmaxnreg_last->line);
    if (o->setmaxnreg_count + 1 < mine || o->setmaxnreg_count > mine)
      return warp_report(
          w, in, -1, REPORT_INVALID,
          "warp %u of the same warpgroup has executed %u setmaxnreg, this one %u: they must meet in between", i,
          o->setmaxnreg_count, w->setmaxnreg_count);
  }
  return EXEC_NEXT;
}
void exec_setmaxnreg_cta_end(Cta *c) {
  for (uint32_t i = 0; i < c->num_warps; i++) {
    Warp *w = &c->warps[i], *first = &c->warps[i / WARPGROUP * WARPGROUP];
    if (w->setmaxnreg_count == first->setmaxnreg_count) continue;
    Warp *more = w->setmaxnreg_count > first->setmaxnreg_count ? w : first, *fewer = more == w ? first : w;
    sim_report(c->grid, more, more->setmaxnreg_last, -1, REPORT_INVALID,
               "warp %u of the same warpgroup has exited without this setmaxnreg", fewer->id);
  }
}

static ExecResult exec_setmaxnreg(Warp *w, const Instr *in, uint32_t mask) {
  Grid *g = w->grid;
  Cta *c = w->cta;
  if (mask != live_lanes(w)) return EXEC_STALL;
  TRY(check_warpgroup(w, in));
  int32_t want = (int32_t)in->ops[0].offset, have = (int32_t)w->maxnreg;
  if (!have) have = (int32_t)w->grid->func->maxnreg;
  if (!have) {  // the most that ptxas could have assigned
    have = 65536 / (int32_t)(c->num_warps * WARP_SIZE) & ~7;
    if (have > 255) have = 255;
  }
  bool inc = in->sel;
  if (inc ? want < have : want > have)
    return warp_report(w, in, -1, REPORT_INVALID, "setmaxnreg.%s to %d from %d registers", inc ? "inc" : "dec", want,
                       have);
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
  if (!decode_operands(p, in, "i") || has_mod(in, M_inc) == has_mod(in, M_dec)) return false;
  int64_t n = in->ops[0].offset;
  if (n < 24 || n > 256 || n % 8) return decode_error(p, "setmaxnreg takes 24 to 256 in steps of 8");
  in->sel = has_mod(in, M_inc);
  in->exec = exec_setmaxnreg;
  return true;
}
