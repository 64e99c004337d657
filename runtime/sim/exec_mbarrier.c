// The mbarrier instructions. A handler works lane by lane, for lanes may name different barriers.
#include "runtime/sim/async.h"
#include "runtime/sim/shadow.h"

#include <string.h>

static ExecResult fail(Warp *w, const Instr *in, int lane, SharedPlace bar, MbarrierError e) {
  return sim_report(w->grid, w, in, lane, REPORT_MBARRIER, "mbarrier at shared+0x%x of CTA %u: %s", bar.offset + SHARED_BASE, bar.cta->rank, mbarrier_error_text(e));
}

static uint64_t load_word(SharedPlace bar) {
  uint64_t word;
  memcpy(&word, shared_host(bar), 8);
  return word;
}
static void store_word(Grid *g, SharedPlace bar, uint64_t word) {
  memcpy(shared_host(bar), &word, 8);
  g->progress++;
}

// Addresses of the operand; the object is shared memory wherever the address came from.
static ExecResult resolve(Warp *w, const Instr *in, const PtxOperand *op, uint32_t mask, MemAccess *a) {
  ExecResult r = mem_resolve(w, in, op, (Space)in->space, 8, 8, ACCESS_ATOMIC, mask, a);
  if (r != EXEC_NEXT) return r;
  FOR_LANES(l, mask)
    if (a->space[l] != SPACE_SHARED) return sim_report(w->grid, w, in, (int)l, REPORT_MBARRIER, "an mbarrier lies in shared memory; this address does not");
  return EXEC_NEXT;
}

static ExecResult exec_init(Warp *w, const Instr *in, uint32_t mask) {
  MemAccess a;
  ExecResult r = resolve(w, in, &in->ops[0], mask, &a);
  if (r != EXEC_NEXT) return r;
  const uint64_t *count = src_row(w, &in->ops[1]);
  FOR_LANES(l, mask) {
    SharedPlace bar = shared_place(&a, (int)l);
    uint64_t word;
    MbarrierError e = mbarrier_init(&word, (uint32_t)count[l]);
    if (e) return fail(w, in, (int)l, bar, e);
    r = agent_mbarrier_init(w, in, (int)l, bar);
    if (r != EXEC_NEXT) return r;
    store_word(w->grid, bar, word);
  }
  return EXEC_NEXT;
}

static ExecResult exec_inval(Warp *w, const Instr *in, uint32_t mask) {
  MemAccess a;
  ExecResult r = resolve(w, in, &in->ops[0], mask, &a);
  if (r != EXEC_NEXT) return r;
  FOR_LANES(l, mask) {
    SharedPlace bar = shared_place(&a, (int)l);
    if (!mbarrier_unpack(load_word(bar)).valid) return fail(w, in, (int)l, bar, MBAR_NOT_INIT);
    r = agent_mbarrier_inval(w, in, (int)l, bar);
    if (r != EXEC_NEXT) return r;
    store_word(w->grid, bar, 0);
  }
  return EXEC_NEXT;
}

ExecResult exec_mbarrier_arrive(Warp *w, const Instr *in, int lane, SharedPlace bar, uint32_t count, int64_t tx, bool drop, bool no_complete) {
  uint64_t word = load_word(bar);
  bool flipped;
  MbarrierError e = mbarrier_arrive(&word, count, tx, drop, no_complete, &flipped);
  if (e) return fail(w, in, lane, bar, e);
  store_word(w->grid, bar, word);
  return agent_mbarrier_arrive(w, in, lane, bar, flipped);
}

// ops: state, [address] (, count or transaction bytes)
static ExecResult exec_arrive(Warp *w, const Instr *in, uint32_t mask) {
  MemAccess a;
  ExecResult r = resolve(w, in, &in->ops[1], mask, &a);
  if (r != EXEC_NEXT) return r;
  bool expects = has_mod(in, M_expect_tx), drop = has_mod(in, M_arrive_drop);
  const uint64_t *arg = in->num_ops > 2 ? src_row(w, &in->ops[2]) : NULL;
  uint64_t *state = dst_row(w, &in->ops[0]);
  FOR_LANES(l, mask) {
    SharedPlace bar = shared_place(&a, (int)l);
    if (in->ops[0].kind != OPND_SINK && bar.cta != w->cta)
      return sim_report(w->grid, w, in, (int)l, REPORT_MBARRIER, "an arrival on another CTA's mbarrier returns no state");
    uint64_t before = load_word(bar);
    uint32_t count = arg && !expects ? (uint32_t)arg[l] : 1;
    r = exec_mbarrier_arrive(w, in, (int)l, bar, count, arg && expects ? (int64_t)(uint32_t)arg[l] : 0, drop, has_mod(in, M_noComplete));
    if (r != EXEC_NEXT) return r;
    if (in->ops[0].kind != OPND_SINK) state[l] = before;
  }
  return EXEC_NEXT;
}

static ExecResult exec_tx(Warp *w, const Instr *in, uint32_t mask) {
  MemAccess a;
  ExecResult r = resolve(w, in, &in->ops[0], mask, &a);
  if (r != EXEC_NEXT) return r;
  const uint64_t *bytes = src_row(w, &in->ops[1]);
  FOR_LANES(l, mask) {
    SharedPlace bar = shared_place(&a, (int)l);
    uint64_t word = load_word(bar);
    bool flipped = false;
    MbarrierError e = (has_mod(in, M_expect_tx) ? mbarrier_expect_tx : mbarrier_complete_tx)(&word, (uint32_t)bytes[l], &flipped);
    if (e) return fail(w, in, (int)l, bar, e);
    store_word(w->grid, bar, word);
    r = agent_mbarrier_touch(w, in, (int)l, bar, flipped);
    if (r != EXEC_NEXT) return r;
  }
  return EXEC_NEXT;
}

// test_wait answers at once. try_wait suspends the thread until the phase completes, but may also give up at any time, so
// the first few times it often does.
enum { MAX_IMPATIENCE = 8 };
static ExecResult exec_wait(Warp *w, const Instr *in, uint32_t mask) {
  MemAccess a;
  ExecResult r = resolve(w, in, &in->ops[1], mask, &a);
  if (r != EXEC_NEXT) return r;
  const uint64_t *want = src_row(w, &in->ops[2]);
  bool parity = has_mod(in, M_parity);
  uint32_t done = 0;
  FOR_LANES(l, mask) {
    SharedPlace bar = shared_place(&a, (int)l);
    if (bar.cta != w->cta) return sim_report(w->grid, w, in, (int)l, REPORT_MBARRIER, "a wait on another CTA's mbarrier does not exist");
    uint64_t word = load_word(bar);
    if (!mbarrier_unpack(word).valid) return fail(w, in, (int)l, bar, MBAR_NOT_INIT);
    if (parity ? mbarrier_test_parity(word, want[l] & 1) : mbarrier_test_token(word, want[l])) done |= 1u << l;
  }
  bool tests = has_mod(in, M_test_wait), patient = w->polls_at == w->grid->progress && w->polls > MAX_IMPATIENCE;
  if (!done && !tests && (patient || rng_next(&w->grid->rng) % 2)) return EXEC_WAIT;
  if (!done) warp_poll(w);
  SharedPlace last = {NULL, 0};
  FOR_LANES(l, done) {
    SharedPlace bar = shared_place(&a, (int)l);
    if (last.cta == bar.cta && last.offset == bar.offset) continue;  // lanes mostly wait for one barrier
    r = agent_mbarrier_waited(w, in, (int)l, last = bar);
    if (r != EXEC_NEXT) return r;
  }
  set_pred(w, &in->ops[0], mask, done);
  return EXEC_NEXT;
}

static ExecResult exec_pending(Warp *w, const Instr *in, uint32_t mask) {
  uint64_t *dst = dst_row(w, &in->ops[0]);
  const uint64_t *token = src_row(w, &in->ops[1]);
  FOR_LANES(l, mask) dst[l] = mbarrier_pending_count(token[l]);
  return EXEC_NEXT;
}

bool decode_mbarrier(PtxParser *p, Instr *in) {
  if (in->space == SPACE_GLOBAL || in->space == SPACE_LOCAL || in->space == SPACE_CONST) return ptx_error(p, in->line, "an mbarrier lies in shared memory");
  if (has_mod(in, M_init)) in->exec = exec_init;
  else if (has_mod(in, M_inval)) in->exec = exec_inval;
  else if (has_mod(in, M_pending_count)) in->exec = exec_pending;
  else if (has_mod(in, M_test_wait) || has_mod(in, M_try_wait)) in->exec = exec_wait;
  else if (has_mod(in, M_arrive) || has_mod(in, M_arrive_drop)) in->exec = exec_arrive;
  else if (has_mod(in, M_expect_tx) || has_mod(in, M_complete_tx)) in->exec = exec_tx;
  else return ptx_error(p, in->line, "unknown instruction: this form of mbarrier");
  if (in->exec == exec_pending) return decode_want_ops(p, in, 2, 2) && (in->ops[0].kind == OPND_REG || decode_want_kind(p, in, 0, OPND_SINK)) && decode_srcs(p, in, 1, 2);
  if (in->exec == exec_inval) return decode_want_ops(p, in, 1, 1) && decode_want_kind(p, in, 0, OPND_MEM);
  if (in->exec == exec_init || in->exec == exec_tx) return decode_want_ops(p, in, 2, 2) && decode_want_kind(p, in, 0, OPND_MEM) && decode_srcs(p, in, 1, 2);
  bool waits = in->exec == exec_wait;
  if (!decode_want_ops(p, in, waits ? 3 : 2, waits ? 4 : 3) || !decode_want_kind(p, in, 1, OPND_MEM) || !decode_srcs(p, in, 2, in->num_ops)) return false;
  if (waits) return decode_want_kind(p, in, 0, OPND_PRED);
  bool needs_arg = has_mod(in, M_expect_tx) || has_mod(in, M_noComplete);
  if (needs_arg && in->num_ops != 3) return decode_want_ops(p, in, 3, 3);
  return in->ops[0].kind == OPND_REG || decode_want_kind(p, in, 0, OPND_SINK);
}
