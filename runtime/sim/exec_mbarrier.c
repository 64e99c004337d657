// The mbarrier instructions. A handler works lane by lane, because lanes may name different mbarriers.
#include "runtime/sim/async.h"
#include "runtime/sim/shadow.h"

#include <string.h>

// An mbarrier lies in shared memory, also if its address is generic.
ExecResult exec_mbarrier_resolve(Warp *w, const Instr *in, const PtxOperand *op, uint32_t mask, MemAccess *a) {
  TRY(mem_resolve(w, in, op, in->space, 8, 8, ACCESS_ATOMIC, mask, a));
  FOR_LANES(l, mask)
    if (a->space[l] != SPACE_SHARED)
      return warp_report(w, in, l, REPORT_MBARRIER, "an mbarrier lies in shared memory; this address does not");
  return EXEC_NEXT;
}

// Runs the instruction for one lane.
typedef ExecResult (*LaneFn)(Warp *w, const Instr *in, int lane, SharedPlace bar);
static ExecResult each_lane(Warp *w, const Instr *in, uint32_t mask, uint32_t address, LaneFn fn) {
  MemAccess a;
  TRY(exec_mbarrier_resolve(w, in, &in->ops[address], mask, &a));
  FOR_LANES(l, mask) TRY(fn(w, in, l, shared_place(&a, l)));
  return EXEC_NEXT;
}

static uint32_t *wait_of(Warp *w, SharedPlace bar) { return &w->waited[bar.offset / 8 % countof(w->waited)]; }

static ExecResult init(Warp *w, const Instr *in, int lane, SharedPlace bar) {
  uint64_t word;
  MbarrierError e = mbarrier_init(&word, (uint32_t)src_at(w, in, 1)[lane]);
  if (e) return async_mbarrier_fail(w, in, lane, bar, e);
  TRY(agent_mbarrier_init(w, in, lane, bar));
  for (uint32_t i = 0; i < bar.cta->num_warps; i++) *wait_of(&bar.cta->warps[i], bar) = 0;
  async_mbarrier_store(bar, word);
  return EXEC_NEXT;
}
static ExecResult exec_init(Warp *w, const Instr *in, uint32_t mask) { return each_lane(w, in, mask, 0, init); }

static ExecResult inval(Warp *w, const Instr *in, int lane, SharedPlace bar) {
  if (!mbarrier_unpack(shared_word(bar)).valid) return async_mbarrier_fail(w, in, lane, bar, MBAR_NOT_INIT);
  TRY(agent_mbarrier_inval(w, in, lane, bar));
  async_mbarrier_store(bar, 0);
  w->grid->invalidated = in;
  w->grid->invalidated_cta = bar.cta, w->grid->invalidated_at = bar.offset;
  return EXEC_NEXT;
}
static ExecResult exec_inval(Warp *w, const Instr *in, uint32_t mask) { return each_lane(w, in, mask, 0, inval); }

// ops: state, [address] (, count or transaction bytes)
static ExecResult arrive(Warp *w, const Instr *in, int lane, SharedPlace bar) {
  bool wants_state = in->ops[0].kind != OPND_SINK, expects = has_mod(in, M_expect_tx);
  if (wants_state && bar.cta != w->cta)
    return warp_report(w, in, lane, REPORT_MBARRIER, "an arrival on another CTA's mbarrier returns no state");
  uint64_t before = shared_word(bar);
  uint32_t arg = in->num_ops > 2 ? (uint32_t)src_at(w, in, 2)[lane] : !expects;
  TRY(async_mbarrier_arrive(w, in, lane, bar, expects ? 1 : arg, expects ? arg : 0, has_mod(in, M_arrive_drop),
                           has_mod(in, M_noComplete)));
  if (wants_state) dst_at(w, in)[lane] = before;
  return EXEC_NEXT;
}
static ExecResult exec_arrive(Warp *w, const Instr *in, uint32_t mask) { return each_lane(w, in, mask, 1, arrive); }

static ExecResult change_tx(Warp *w, const Instr *in, int lane, SharedPlace bar) {
  uint64_t word = shared_word(bar);
  bool flipped = false;
  uint32_t bytes = (uint32_t)src_at(w, in, 1)[lane];
  MbarrierError e = has_mod(in, M_expect_tx) ? mbarrier_expect_tx(&word, bytes, &flipped)
                                             : mbarrier_complete_tx(&word, bytes, &flipped);
  if (e) return async_mbarrier_fail(w, in, lane, bar, e);
  async_mbarrier_store(bar, word);
  return agent_mbarrier_touch(w, in, lane, bar, flipped);
}
static ExecResult exec_tx(Warp *w, const Instr *in, uint32_t mask) { return each_lane(w, in, mask, 0, change_tx); }

// Phases alternate: a warp that waits for the same one of an mbarrier again has not waited for the next one.
static void note_waited(Warp *w, const Instr *in, SharedPlace bar, bool parity) {
  const uint32_t now = bar.offset << 1 | parity;
  uint32_t *before = wait_of(w, bar);
  if (*before == now) w->cta->repeated_wait = in;
  *before = now;
}

// test_wait answers at once. try_wait suspends the thread until the phase completes, but may give up at any time;
// here it often does on its first attempts.
enum { MAX_IMPATIENCE = 8 };
static ExecResult exec_wait(Warp *w, const Instr *in, uint32_t mask) {
  MemAccess a;
  TRY(exec_mbarrier_resolve(w, in, &in->ops[1], mask, &a));
  const uint64_t *want = src_at(w, in, 2);
  bool parity = has_mod(in, M_parity);
  uint32_t done = 0;
  FOR_LANES(l, mask) {
    SharedPlace bar = shared_place(&a, l);
    if (bar.cta != w->cta)
      return warp_report(w, in, l, REPORT_MBARRIER, "a wait on another CTA's mbarrier does not exist");
    uint64_t word = shared_word(bar);
    if (!mbarrier_unpack(word).valid) return async_mbarrier_fail(w, in, l, bar, MBAR_NOT_INIT);
    if (parity ? mbarrier_test_parity(word, want[l] & 1) : mbarrier_test_token(word, want[l])) done |= 1u << l;
  }
  bool tests = has_mod(in, M_test_wait), patient = w->polls_at == w->grid->progress && w->polls > MAX_IMPATIENCE;
  if (!done && !tests && (patient || rng_next(&w->grid->rng) % 2)) return EXEC_WAIT;
  if (!done) warp_poll(w);
  SharedPlace last = {NULL, 0};
  FOR_LANES(l, done) {
    SharedPlace bar = shared_place(&a, l);
    if (last.cta == bar.cta && last.offset == bar.offset) continue;  // lanes usually wait for the same mbarrier
    TRY(agent_mbarrier_waited(w, in, l, last = bar));
    if (parity) note_waited(w, in, bar, want[l] & 1);
  }
  set_pred(w, &in->ops[0], mask, done);
  return EXEC_NEXT;
}

static ExecResult exec_pending(Warp *w, const Instr *in, uint32_t mask) {
  uint64_t *dst = dst_at(w, in);
  const uint64_t *token = src_at(w, in, 1);
  FOR_LANES(l, mask) dst[l] = mbarrier_pending_count(token[l]);
  return EXEC_NEXT;
}

bool decode_mbarrier(PtxParser *p, Instr *in) {
  if (in->space == SPACE_GLOBAL || in->space == SPACE_LOCAL || in->space == SPACE_CONST)
    return decode_error(p, "an mbarrier lies in shared memory");
  switch (one_of(in, M_init, M_inval, M_pending_count, M_test_wait, M_try_wait, M_arrive, M_arrive_drop, M_expect_tx,
                 M_complete_tx)) {
  case M_init: return decode_as(p, in, exec_init, "ms");
  case M_inval: return decode_as(p, in, exec_inval, "m");
  case M_pending_count: return decode_as(p, in, exec_pending, "ds");
  case M_test_wait: case M_try_wait: return decode_as(p, in, exec_wait, "Pms?s");
  case M_arrive:
  case M_arrive_drop: return decode_as(p, in, exec_arrive, has_any(in, M_expect_tx, M_noComplete) ? "dms" : "dm?s");
  case M_expect_tx: case M_complete_tx: return decode_as(p, in, exec_tx, "ms");
  default: return decode_error(p, "unknown instruction: this form of mbarrier");
  }
}
