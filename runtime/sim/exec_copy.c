// cp.async: the copies of each thread, their groups, and their arrival on an mbarrier. The handlers check and queue;
// async.c performs.
#include <string.h>

#include "runtime/sim/shadow.h"

// How many bytes a lane reads: the others of its copy are zero.
static uint64_t source_bytes(const Warp *w, const Instr *in, uint32_t l) {
  const PtxOperand *extra = in->num_ops > 3 && !(in->num_ops == 4 && has_mod(in, M_L2_cache_hint)) ? &in->ops[3] : NULL;
  if (extra && extra->kind == OPND_PRED) return src_pred(w, extra) >> l & 1 ? 0 : in->sel;
  return extra ? (uint32_t)src_row(w, extra)[l] : in->sel;
}

static ExecResult exec_copy(Warp *w, const Instr *in, uint32_t mask) {
  uint32_t bytes = in->sel;
  MemAccess dst, src;
  TRY(mem_resolve(w, in, &in->ops[0], SPACE_SHARED, bytes, bytes, ACCESS_WRITE, mask, &dst));
  uint32_t reads = mask;
  uint8_t size[WARP_SIZE], *from[WARP_SIZE];
  FOR_LANES(l, mask) {
    uint64_t n = source_bytes(w, in, l);
    if (n > bytes)
      return warp_report(w, in, l, REPORT_INVALID, "src-size %llu is larger than cp-size %u", (unsigned long long)n,
                         bytes);
    size[l] = (uint8_t)n;
    if (n == 0) reads &= ~(1u << l);
  }
  // A lane reads src-size bytes from an address aligned to cp-size. Lanes of equal src-size are resolved together.
  for (uint32_t left = reads, same; left; left &= ~same) {
    uint8_t n = size[__builtin_ctz(left)];
    same = 0;
    FOR_LANES(l, left) same |= (uint32_t)(size[l] == n) << l;
    TRY(mem_resolve(w, in, &in->ops[1], SPACE_GLOBAL, n, bytes, ACCESS_READ, same, &src));
    FOR_LANES(l, same) from[l] = src.host[l];
  }
  AsyncOp *op = async_new(w, in, -1, ASYNC_COPY);
  op->copy.mask = mask;
  op->copy.bytes = (uint8_t)bytes;
  FOR_LANES(l, mask) {
    op->copy.group[l] = w->cp_group[l];
    op->copy.dst[l] = shared_place(&dst, l);
    op->copy.src[l] = reads >> l & 1 ? from[l] : NULL;
    op->copy.src_bytes[l] = size[l];
  }
  TRY(agent_copy_issue(op));
  return async_issue(op);
}

uint32_t copy_lanes_that_read(const Warp *w, const Instr *in, uint32_t mask) {
  if (in->exec != exec_copy) return mask;
  return LANES_WHERE(l, mask, source_bytes(w, in, l) != 0);
}

static ExecResult exec_copy_commit(Warp *w, const Instr *in, uint32_t mask) {
  (void)in;
  FOR_LANES(l, mask) w->cp_group[l]++;
  return EXEC_NEXT;
}

// Completes each lane's copies in groups below committed - n; wait_all also completes copies that are not committed.
static ExecResult exec_copy_wait(Warp *w, const Instr *in, uint32_t mask) {
  bool all = has_mod(in, M_wait_all);
  uint64_t n = all ? 0 : in->ops[0].lanes[0];
  ClusterAsync *q = async_of_cluster(w->cta->cluster);
  for (AsyncOp *o = q->first, *next; o; o = next) {
    next = o->next;
    if (o->kind != ASYNC_COPY || o->warp != w) continue;
    uint32_t lanes = LANES_WHERE(l, mask & o->copy.mask, all || (uint64_t)o->copy.group[l] + n < w->cp_group[l]);
    if (!lanes) continue;
    TRY(async_perform_copy(o, lanes));
  }
  agent_copy_waited(w, mask, all ? UINT32_MAX : (uint32_t)n);
  return EXEC_NEXT;
}

static ExecResult exec_copy_arrive(Warp *w, const Instr *in, uint32_t mask) {
  MemAccess a;
  TRY(exec_mbarrier_resolve(w, in, &in->ops[0], mask, &a));
  AsyncOp *op = async_new(w, in, -1, ASYNC_ARRIVE);
  op->arrive.mask = mask;
  FOR_LANES(l, mask) {
    op->arrive.bar[l] = shared_place(&a, l);
    if (has_mod(in, M_noinc)) continue;
    // Without .noinc the pending count is incremented first, and the arrival leaves it unchanged.
    SharedPlace bar = op->arrive.bar[l];
    MbarrierState s = mbarrier_unpack(shared_word(bar));
    if (!s.valid || s.pending >= MBARRIER_MAX_COUNT)
      return async_mbarrier_fail(w, in, l, bar, s.valid ? MBAR_TOO_MANY : MBAR_NOT_INIT);
    s.pending++;
    set_shared_word(bar, mbarrier_pack(s));
  }
  agent_arrive_issue(op);
  return async_issue(op);
}

bool decode_cp(PtxParser *p, Instr *in) {
  if (!has_mod(in, M_async)) return decode_error(p, "unknown instruction: cp without .async");
  if (has_mod(in, M_bulk)) return decode_bulk(p, in);
  if (has_mod(in, M_commit_group)) return decode_as(p, in, exec_copy_commit, "");
  if (has_mod(in, M_wait_all)) return decode_as(p, in, exec_copy_wait, "");
  if (has_mod(in, M_wait_group)) return decode_wait_group(p, in, exec_copy_wait);
  if (has_mod(in, M_mbarrier)) return decode_as(p, in, exec_copy_arrive, "m");
  if (!decode_operands(p, in, "mmi?..")) return false;
  for (uint32_t i = 3; i < in->num_ops && in->ops[3].kind != OPND_PRED; i++)
    if (!decode_operand(p, in, i, 's')) return false;
  uint64_t bytes = in->ops[2].lanes[0];
  if (has_mod(in, M_cg) ? bytes != 16 : bytes != 4 && bytes != 8 && bytes != 16)
    return decode_error(p, "cp.async.%s cannot copy %llu bytes", has_mod(in, M_cg) ? "cg" : "ca",
                        (unsigned long long)bytes);
  in->sel = (uint8_t)bytes;
  in->exec = exec_copy;
  return true;
}
