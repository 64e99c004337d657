// cp.async in all its forms: per-thread copies and their groups, bulk copies, tensor copies and reductions. Handlers check and
// queue; async.c performs.
#include "runtime/sim/async.h"
#include "runtime/sim/shadow.h"

#include <string.h>

static uint64_t lane_value(const Warp *w, const PtxOperand *op, int lane) { return src_row(w, op)[lane]; }

// ---- cp.async

// aux: index of the src-size or ignore-src operand, 0 when there is none
static ExecResult exec_copy(Warp *w, const Instr *in, uint32_t mask) {
  uint32_t bytes = in->sel;
  MemAccess dst, src;
  ExecResult r = mem_resolve(w, in, &in->ops[0], SPACE_SHARED, bytes, bytes, ACCESS_WRITE, mask, &dst);
  if (r != EXEC_NEXT) return r;
  uint32_t reads = mask;
  uint8_t size[WARP_SIZE], *from[WARP_SIZE];
  const PtxOperand *extra = in->num_ops > 3 && !(in->num_ops == 4 && has_mod(in, M_L2_cache_hint)) ? &in->ops[3] : NULL;
  FOR_LANES(l, mask) {
    uint64_t n = bytes;
    if (extra && extra->kind == OPND_PRED) n = src_pred(w, extra) >> l & 1 ? 0 : bytes;
    else if (extra) n = (uint32_t)lane_value(w, extra, (int)l);
    if (n > bytes) return sim_report(w->grid, w, in, (int)l, REPORT_INVALID, "src-size %llu is larger than cp-size %u", (unsigned long long)n, bytes);
    size[l] = (uint8_t)n;
    if (n == 0) reads &= ~(1u << l);
  }
  // A lane reads no more than its src-size, from a place that is aligned for the whole: lanes of one size together.
  for (uint32_t left = reads, same; left; left &= ~same) {
    uint8_t n = size[__builtin_ctz(left)];
    same = 0;
    FOR_LANES(l, left) same |= (uint32_t)(size[l] == n) << l;
    r = mem_resolve(w, in, &in->ops[1], SPACE_GLOBAL, n, bytes, ACCESS_READ, same, &src);
    if (r != EXEC_NEXT) return r;
    FOR_LANES(l, same) from[l] = src.host[l];
  }
  AsyncOp *op = async_new(w, in, -1, ASYNC_COPY);
  op->copy.mask = mask;
  op->copy.bytes = (uint8_t)bytes;
  FOR_LANES(l, mask) {
    op->copy.group[l] = w->cp_group[l];
    op->copy.dst[l] = shared_place(&dst, (int)l);
    op->copy.src[l] = reads >> l & 1 ? from[l] : NULL;
    op->copy.src_bytes[l] = size[l];
  }
  r = agent_copy_issue(op);
  return r == EXEC_NEXT ? async_issue(op) : r;
}

static ExecResult exec_copy_commit(Warp *w, const Instr *in, uint32_t mask) {
  (void)in;
  FOR_LANES(l, mask) w->cp_group[l]++;
  return EXEC_NEXT;
}

// Completes each lane's copies in groups below committed - n; wait_all also what is not committed.
static ExecResult exec_copy_wait(Warp *w, const Instr *in, uint32_t mask) {
  bool all = has_mod(in, M_wait_all);
  uint64_t n = all ? 0 : in->ops[0].lanes[0];
  ClusterAsync *q = async_of_cluster(w->cta->cluster);
  for (AsyncOp *o = q->first, *next; o; o = next) {
    next = o->next;
    if (o->kind != ASYNC_COPY || o->warp != w) continue;
    uint32_t lanes = 0;
    FOR_LANES(l, mask & o->copy.mask)
      if (all || (uint64_t)o->copy.group[l] + n < w->cp_group[l]) lanes |= 1u << l;
    if (!lanes) continue;
    ExecResult r = async_perform_copy(o, lanes);
    if (r != EXEC_NEXT) return r;
  }
  agent_copy_waited(w, mask, all ? UINT32_MAX : (uint32_t)n);
  return EXEC_NEXT;
}

static ExecResult exec_copy_arrive(Warp *w, const Instr *in, uint32_t mask) {
  MemAccess a;
  ExecResult r = mem_resolve(w, in, &in->ops[0], (Space)in->space, 8, 8, ACCESS_ATOMIC, mask, &a);
  if (r != EXEC_NEXT) return r;
  FOR_LANES(l, mask)
    if (a.space[l] != SPACE_SHARED) return sim_report(w->grid, w, in, (int)l, REPORT_MBARRIER, "an mbarrier lies in shared memory; this address does not");
  AsyncOp *op = async_new(w, in, -1, ASYNC_ARRIVE);
  op->arrive.mask = mask;
  FOR_LANES(l, mask) {
    op->arrive.bar[l] = shared_place(&a, (int)l);
    if (has_mod(in, M_noinc)) continue;
    // Without .noinc the arrival is counted in beforehand and so changes nothing in sum.
    uint64_t word;
    memcpy(&word, shared_host(op->arrive.bar[l]), 8);
    MbarrierState s = mbarrier_unpack(word);
    if (!s.valid || s.pending >= MBARRIER_MAX_COUNT)
      return sim_report(w->grid, w, in, (int)l, REPORT_MBARRIER, "mbarrier at shared+0x%x: %s", op->arrive.bar[l].offset + SHARED_BASE, mbarrier_error_text(s.valid ? MBAR_TOO_MANY : MBAR_NOT_INIT));
    s.pending++;
    word = mbarrier_pack(s);
    memcpy(shared_host(op->arrive.bar[l]), &word, 8);
  }
  agent_arrive_issue(op);
  return async_issue(op);
}

// ---- bulk

static bool reduce_of(const Instr *in, TensorMapReduceOp *out) {
  static const struct { PtxMod mod; TensorMapReduceOp op; } table[] = {
    {M_add, TMAP_ADD}, {M_min, TMAP_MIN}, {M_max, TMAP_MAX}, {M_inc, TMAP_INC}, {M_dec, TMAP_DEC}, {M_and, TMAP_AND}, {M_or, TMAP_OR}, {M_xor, TMAP_XOR}};
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
    if (has_mod(in, table[i].mod)) {
      *out = table[i].op;
      return true;
    }
  return false;
}

static bool reduce_type(PtxType t, TensorMapDtype *out) {
  switch (t) {
  case T_U32: case T_B32: *out = TMAP_UINT32; return true;
  case T_S32: *out = TMAP_INT32; return true;
  case T_U64: case T_B64: *out = TMAP_UINT64; return true;
  case T_S64: *out = TMAP_INT64; return true;
  case T_F16: *out = TMAP_FLOAT16; return true;
  case T_BF16: *out = TMAP_BFLOAT16; return true;
  case T_F32: *out = TMAP_FLOAT32; return true;
  case T_F64: *out = TMAP_FLOAT64; return true;
  default: return false;
  }
}

// How the operands of a bulk instruction lie; filled at decode time.
typedef struct {
  bool tensor, to_shared, from_shared, prefetch, reduce, in_group, multicast;
  uint8_t rank;
  int8_t dst, src, size, bar, mask;   // operand numbers, -1 when absent
  TensorMapReduceOp op;
  TensorMapDtype dtype;
} BulkForm;

// A box's in-bounds global bytes must lie in real allocations.
typedef struct { Warp *w; const Instr *in; int lane; AccessKind kind; bool check; uint32_t serial; ExecResult result; } BoundsWalk;
static ExecResult check_global(BoundsWalk *b, const MemAccess *a, uint32_t bytes) {
  Alloc *alloc = a->alloc[b->lane];
  if (!b->check) return EXEC_NEXT;
  return b->kind == ACCESS_READ ? proxy_async_read(b->w, b->in, b->lane, alloc, a->addr[b->lane], bytes)
                                : proxy_async_write(b->w, b->in, b->lane, alloc, a->addr[b->lane], bytes, b->serial);
}
static bool bounds_run(void *user, const TensorMapRun *run) {
  BoundsWalk *b = user;
  if (!run->in_bounds) return true;
  MemAccess a;
  b->result = mem_resolve_one(b->w, b->in, b->lane, SPACE_GLOBAL, run->global, run->bytes, 1, b->kind, &a);
  if (b->result == EXEC_NEXT) b->result = check_global(b, &a, run->bytes);
  return b->result == EXEC_NEXT;
}

static ExecResult read_map(Warp *w, const Instr *in, int lane, const PtxOperand *mem, AsyncBulk *b, unsigned rank) {
  MemAccess a;
  uint64_t address = mem_operand_address(w, mem, lane);
  ExecResult r = mem_resolve_one(w, in, lane, SPACE_GENERIC, address, TENSORMAP_BYTES, 64, ACCESS_READ, &a);
  if (r != EXEC_NEXT) return r;
  if (a.space[lane] != SPACE_GLOBAL) return sim_report(w->grid, w, in, lane, REPORT_ASYNC, "a tensor map must be a kernel parameter or lie in constant or global memory");
  r = undef_map_use(w, in, lane, a.alloc[lane], address);
  if (r == EXEC_NEXT) r = proxy_map_use(w, in, lane, a.alloc[lane], address);
  if (r != EXEC_NEXT) return r;
  b->map_address = address;
  if (!tensormap_unpack(a.host[lane], &b->map)) return sim_report(w->grid, w, in, lane, REPORT_ASYNC, "there is no valid tensor map at 0x%llx", (unsigned long long)address);
  if (b->map.rank != rank) return sim_report(w->grid, w, in, lane, REPORT_ASYNC, "the instruction is %ud and the tensor map has %u dimensions", rank, b->map.rank);
  const char *wrong = tensormap_check(&b->map);
  if (wrong) return sim_report(w->grid, w, in, lane, REPORT_ASYNC, "the tensor map is not valid: %s", wrong);
  if (b->map.interleave != TMAP_INTERLEAVE_NONE) return sim_report(w->grid, w, in, lane, REPORT_ASYNC, "interleaved tensor maps are not simulated");
  const PtxOperand *coords = &mem->sub[0];
  for (unsigned i = 0; i < rank; i++) b->coords[i] = (int32_t)lane_value(w, &coords->sub[i], lane);
  return EXEC_NEXT;
}

// Seen on an H200 (both stop the kernel with an illegal instruction): an innermost coordinate that is no multiple of 16 bytes, and
// a store that begins below 0 on any axis. Loads may begin below 0.
static ExecResult check_coordinates(Warp *w, const Instr *in, int lane, const AsyncBulk *b, bool is_store) {
  if (b->coords[0] * (int64_t)tensormap_element_bytes(b->map.dtype) % 16)
    return sim_report(w->grid, w, in, lane, REPORT_MISALIGNED, "the tensor copy begins at element %d of the innermost axis, which is no multiple of 16 bytes", b->coords[0]);
  for (unsigned i = 0; is_store && i < b->map.rank; i++)
    if (b->coords[i] < 0) return sim_report(w->grid, w, in, lane, REPORT_ASYNC, "a tensor store cannot begin below 0: coordinate %u is %d", i, b->coords[i]);
  return EXEC_NEXT;
}

// space: SHARED or SHARED_CLUSTER
static ExecResult shared_operand(Warp *w, const Instr *in, int lane, const PtxOperand *op, Space space, uint32_t bytes, uint32_t align, AccessKind kind, SharedPlace *out) {
  MemAccess a;
  ExecResult r = mem_resolve_one(w, in, lane, space, mem_operand_address(w, op, lane), bytes, align, kind, &a);
  if (r != EXEC_NEXT) return r;
  *out = shared_place(&a, lane);
  return EXEC_NEXT;
}

static ExecResult issue_bulk(Warp *w, const Instr *in, int lane) {
  const BulkForm *f = in->aux;
  AsyncOp *op = async_new(w, in, lane, ASYNC_BULK);
  AsyncBulk *b = &op->bulk;
  ExecResult r = EXEC_NEXT;
  b->is_tensor = f->tensor, b->to_shared = f->to_shared, b->is_reduce = f->reduce, b->in_group = f->in_group;
  b->reduce = f->op, b->dtype = f->dtype;
  b->group = w->bulk_group[lane];
  if (f->in_group) b->serial = proxy_store_begin(op);
  uint32_t align = 16;
  BoundsWalk walk = {w, in, lane, f->to_shared || f->prefetch ? ACCESS_READ : ACCESS_WRITE, !f->prefetch, b->serial, EXEC_NEXT};
  if (f->tensor) {
    r = read_map(w, in, lane, &in->ops[f->to_shared || f->prefetch ? f->src : f->dst], b, f->rank);
    if (r == EXEC_NEXT) r = check_coordinates(w, in, lane, b, !f->to_shared && !f->prefetch);
    if (r != EXEC_NEXT) return r;
    b->bytes = tensormap_box_bytes(&b->map);
    b->extent = tensormap_box_extent(&b->map);
    align = tensormap_shared_align(&b->map);
    b->dtype = b->map.dtype;
    if (f->reduce && !tensormap_reduce_allowed(b->dtype, b->reduce)) return sim_report(w->grid, w, in, lane, REPORT_ASYNC, "this reduction does not exist for the tensor map's data type");
    tensormap_walk(&b->map, b->coords, SHARED_BASE, !f->to_shared && !f->prefetch && !f->reduce, bounds_run, &walk);
    if (walk.result != EXEC_NEXT || f->prefetch) return walk.result;
  } else {
    b->bytes = b->extent = (uint32_t)lane_value(w, &in->ops[f->size], lane);
    if (b->bytes % 16) return sim_report(w->grid, w, in, lane, REPORT_MISALIGNED, "a bulk copy of %u bytes: the size must be a multiple of 16", b->bytes);
    if (!f->from_shared || !f->to_shared || f->prefetch) {
      MemAccess a;
      bool reads = f->to_shared || f->prefetch;
      r = mem_resolve_one(w, in, lane, SPACE_GLOBAL, mem_operand_address(w, &in->ops[reads ? f->src : f->dst], lane), b->bytes, 16, reads ? ACCESS_READ : ACCESS_WRITE, &a);
      if (r == EXEC_NEXT) r = check_global(&walk, &a, b->bytes);
      if (r != EXEC_NEXT || f->prefetch) return r;
      b->global = a.host[lane];
    }
  }
  if (f->from_shared) {
    r = shared_operand(w, in, lane, &in->ops[f->src], SPACE_SHARED, b->extent, align, ACCESS_READ, &b->src);
    if (r != EXEC_NEXT) return r;
  }
  if (f->to_shared) {
    r = shared_operand(w, in, lane, &in->ops[f->dst], SPACE_SHARED_CLUSTER, b->extent, align, ACCESS_WRITE, &b->dst[0]);
    if (r == EXEC_NEXT) r = shared_operand(w, in, lane, &in->ops[f->bar], SPACE_SHARED_CLUSTER, 8, 8, ACCESS_ATOMIC, &b->bar[0]);
    if (r != EXEC_NEXT) return r;
    b->num_dst = 1;
    if (!f->multicast && b->bar[0].cta != b->dst[0].cta) return sim_report(w->grid, w, in, lane, REPORT_ASYNC, "the mbarrier is in another CTA than the destination");
    if (f->multicast) {
      uint32_t ctas = (uint32_t)lane_value(w, &in->ops[f->mask], lane) & 0xffff, offset = b->dst[0].offset, bar = b->bar[0].offset;
      Cluster *c = w->cta->cluster;
      if (!ctas || ctas >> c->num_ctas) return sim_report(w->grid, w, in, lane, REPORT_ASYNC, "multicast mask 0x%x in a cluster of %u CTAs", ctas, c->num_ctas);
      b->num_dst = 0;
      FOR_LANES(rank, ctas) {
        b->dst[b->num_dst] = (SharedPlace){c->ctas[rank], offset};
        b->bar[b->num_dst++] = (SharedPlace){c->ctas[rank], bar};
      }
    }
    // The transaction belongs to the phase that is current now.
    for (uint32_t i = 0; i < b->num_dst; i++) {
      uint64_t word;
      memcpy(&word, shared_host(b->bar[i]), 8);
      if (!mbarrier_unpack(word).valid) return sim_report(w->grid, w, in, lane, REPORT_MBARRIER, "mbarrier at shared+0x%x of CTA %u: %s", b->bar[i].offset + SHARED_BASE, b->bar[i].cta->rank, mbarrier_error_text(MBAR_NOT_INIT));
    }
  }
  r = agent_bulk_issue(op);
  return r == EXEC_NEXT ? async_issue(op) : r;
}

static ExecResult exec_bulk(Warp *w, const Instr *in, uint32_t mask) {
  FOR_LANES(l, mask) {
    ExecResult r = issue_bulk(w, in, (int)l);
    if (r != EXEC_NEXT) return r;
  }
  return EXEC_NEXT;
}

static ExecResult exec_bulk_commit(Warp *w, const Instr *in, uint32_t mask) {
  (void)in;
  FOR_LANES(l, mask) w->bulk_group[l]++;
  return EXEC_NEXT;
}

static ExecResult exec_bulk_wait(Warp *w, const Instr *in, uint32_t mask) {
  uint64_t n = in->ops[0].lanes[0];
  ClusterAsync *q = async_of_cluster(w->cta->cluster);
  FOR_LANES(l, mask) {
    for (AsyncOp *o = q->first, *next; o; o = next) {
      next = o->next;
      if (o->kind != ASYNC_BULK || !o->bulk.in_group || o->warp != w || o->lane != (int)l) continue;
      if ((uint64_t)o->bulk.group + n >= w->bulk_group[l]) continue;
      // .read leaves the writing for later.
      ExecResult r = has_mod(in, M_read) ? async_read_bulk(o) : async_finish(o);
      if (r != EXEC_NEXT) return r;
    }
    agent_bulk_waited(w, (int)l, (uint32_t)n, has_mod(in, M_read));
    if (!has_mod(in, M_read)) proxy_bulk_waited(w, (int)l, (uint32_t)n);
  }
  return EXEC_NEXT;
}

static bool wait_count(PtxParser *p, Instr *in) {
  if (in->num_ops != 1 || in->ops[0].kind != OPND_IMM) return ptx_error(p, in->line, "wait_group takes one constant");
  return true;
}

// Whether all elements of a vector, or the one operand, are registers or immediates.
static bool are_values(const PtxOperand *o) {
  const PtxOperand *elems = o->kind == OPND_VEC ? o->sub : o;
  for (uint32_t i = 0; i < (o->kind == OPND_VEC ? o->count : 1); i++)
    if (elems[i].kind != OPND_REG && elems[i].kind != OPND_IMM) return false;
  return true;
}

static bool decode_bulk(PtxParser *p, Instr *in) {
  if (has_mod(in, M_commit_group)) {
    in->exec = exec_bulk_commit;
    return decode_want_ops(p, in, 0, 0);
  }
  if (has_mod(in, M_wait_group)) {
    in->exec = exec_bulk_wait;
    return wait_count(p, in);
  }
  BulkForm *f = arena_new(ptx_arena(p), BulkForm);
  *f = (BulkForm){.tensor = has_mod(in, M_tensor), .prefetch = has_mod(in, M_prefetch), .multicast = has_mod(in, M_multicast_cluster),
                  .dst = -1, .src = -1, .size = -1, .bar = -1, .mask = -1};
  if (has_mod(in, M_im2col) || has_mod(in, M_im2col_no_offs)) return ptx_error(p, in->line, "unknown instruction: the im2col mode is not simulated");
  if (has_mod(in, M_cp_mask)) return ptx_error(p, in->line, "unknown instruction: .cp_mask is not in sm_90");
  f->reduce = in->op == OP_cp && has_mod(in, M_reduce);
  // The first space written is the destination's, the second the source's.
  int spaces[2] = {-1, -1}, count = 0;
  for (int i = 0; i < in->num_mods; i++) {
    int m = in->mods[i];
    if ((m == M_shared || m == M_shared_cta || m == M_shared_cluster || m == M_global) && count < 2) spaces[count++] = m;
    if (m >= M_d1 && m <= M_d5) f->rank = (uint8_t)(m - M_d1 + 1);
  }
  int next = 0;
  if (f->prefetch) {
    f->src = 0, next = 1;
    if (!f->tensor) f->size = 1, next = 2;
  } else {
    if (count != 2) return ptx_error(p, in->line, "a bulk copy names two state spaces");
    f->to_shared = spaces[0] != M_global;
    f->from_shared = spaces[1] != M_global;
    if (!f->to_shared && !f->from_shared) return ptx_error(p, in->line, "a bulk copy cannot go from global to global memory");
    f->in_group = !f->to_shared;
    f->dst = 0, f->src = 1, next = 2;
    if (!f->tensor) f->size = 2, next = 3;
    if (f->to_shared) f->bar = (int8_t)next++;
    if (f->multicast) f->mask = (int8_t)next++;
    if (f->to_shared != has_mod(in, M_mbarrier_complete_tx_bytes) || f->in_group != has_mod(in, M_bulk_group)) return ptx_error(p, in->line, "the completion mechanism does not fit this bulk copy");
  }
  if (has_mod(in, M_L2_cache_hint)) next++;
  if (!decode_want_ops(p, in, (uint32_t)next, (uint32_t)next)) return false;
  const int8_t memory[] = {f->dst, f->src, f->bar};
  for (int i = 0; i < 3; i++)
    if (memory[i] >= 0 && !decode_want_kind(p, in, (uint32_t)memory[i], OPND_MEM)) return false;
  if (f->size >= 0 && !decode_srcs(p, in, (uint32_t)f->size, (uint32_t)f->size + 1)) return false;
  if (f->mask >= 0 && !decode_srcs(p, in, (uint32_t)f->mask, (uint32_t)f->mask + 1)) return false;
  if (f->tensor) {
    const PtxOperand *map = &in->ops[f->to_shared || f->prefetch ? f->src : f->dst];
    if (!f->rank || map->count != 1 || map->sub[0].kind != OPND_VEC || map->sub[0].count != f->rank)
      return ptx_error(p, in->line, "a tensor copy needs as many coordinates as its .Nd says");
    if (!are_values(&map->sub[0])) return ptx_error(p, in->line, "the coordinates of a tensor copy must be registers or immediates");
  }
  if (f->reduce) {
    if (!reduce_of(in, &f->op)) return ptx_error(p, in->line, "cp.reduce needs an operation");
    if (!f->tensor && (!in->num_types || !reduce_type((PtxType)in->type[0], &f->dtype) || !tensormap_reduce_allowed(f->dtype, f->op)))
      return ptx_error(p, in->line, "unknown instruction: cp.reduce.async.bulk has no such operation on this type");
  }
  in->aux = f;
  in->exec = exec_bulk;
  return true;
}

bool decode_cp(PtxParser *p, Instr *in) {
  if (!has_mod(in, M_async)) return ptx_error(p, in->line, "unknown instruction: cp without .async");
  if (has_mod(in, M_bulk)) return decode_bulk(p, in);
  if (has_mod(in, M_commit_group)) {
    in->exec = exec_copy_commit;
    return decode_want_ops(p, in, 0, 0);
  }
  if (has_mod(in, M_wait_all) || has_mod(in, M_wait_group)) {
    in->exec = exec_copy_wait;
    return has_mod(in, M_wait_all) ? decode_want_ops(p, in, 0, 0) : wait_count(p, in);
  }
  if (has_mod(in, M_mbarrier)) {
    in->exec = exec_copy_arrive;
    return decode_want_ops(p, in, 1, 1) && decode_want_kind(p, in, 0, OPND_MEM);
  }
  if (!decode_want_ops(p, in, 3, 5) || !decode_want_kind(p, in, 0, OPND_MEM) || !decode_want_kind(p, in, 1, OPND_MEM) || !decode_want_kind(p, in, 2, OPND_IMM)) return false;
  if (in->num_ops > 3 && in->ops[3].kind != OPND_PRED && !decode_srcs(p, in, 3, in->num_ops)) return false;
  uint64_t bytes = in->ops[2].lanes[0];
  if (has_mod(in, M_cg) ? bytes != 16 : bytes != 4 && bytes != 8 && bytes != 16) return ptx_error(p, in->line, "cp.async.%s cannot copy %llu bytes", has_mod(in, M_cg) ? "cg" : "ca", (unsigned long long)bytes);
  in->sel = (uint8_t)bytes;
  in->exec = exec_copy;
  return true;
}

// ---- st.async, red.async: a store into any CTA of the cluster that completes bytes on an mbarrier there

typedef struct { uint8_t elem_bytes, count; bool reduce; TensorMapReduceOp op; TensorMapDtype dtype; } StoreForm;

static ExecResult exec_store_async(Warp *w, const Instr *in, uint32_t mask) {
  const StoreForm *f = in->aux;
  uint32_t bytes = (uint32_t)f->elem_bytes * f->count;
  FOR_LANES(l, mask) {
    AsyncOp *op = async_new(w, in, (int)l, ASYNC_STORE);
    AsyncStore *s = &op->store;
    ExecResult r = shared_operand(w, in, (int)l, &in->ops[0], SPACE_SHARED_CLUSTER, bytes, bytes, ACCESS_WRITE, &s->dst);
    if (r == EXEC_NEXT) r = shared_operand(w, in, (int)l, &in->ops[2], SPACE_SHARED_CLUSTER, 8, 8, ACCESS_ATOMIC, &s->bar);
    if (r != EXEC_NEXT) return r;
    if (s->bar.cta != s->dst.cta) return sim_report(w->grid, w, in, (int)l, REPORT_ASYNC, "the mbarrier is in another CTA than the destination");
    s->bytes = bytes;
    s->is_reduce = f->reduce, s->reduce = f->op, s->dtype = f->dtype;
    const PtxOperand *values = in->ops[1].kind == OPND_VEC ? in->ops[1].sub : &in->ops[1];
    for (uint32_t e = 0; e < f->count; e++) {
      uint64_t v = lane_value(w, &values[e], (int)l);
      memcpy(s->value + e * f->elem_bytes, &v, f->elem_bytes);
    }
    r = agent_store_issue(op);
    if (r == EXEC_NEXT) r = async_issue(op);
    if (r != EXEC_NEXT) return r;
  }
  return EXEC_NEXT;
}

bool decode_store_async(PtxParser *p, Instr *in) {
  StoreForm *f = arena_new(ptx_arena(p), StoreForm);
  f->reduce = in->op == OP_red;
  if (!has_mod(in, M_mbarrier_complete_tx_bytes) || in->num_types != 1) return ptx_error(p, in->line, "unknown instruction: this form of %s.async", f->reduce ? "red" : "st");
  f->elem_bytes = (uint8_t)(ptx_types[in->type[0]].bits / 8);
  f->count = f->reduce ? 1 : in->vec;
  if ((f->elem_bytes != 4 && f->elem_bytes != 8) || f->elem_bytes * f->count > 16) return ptx_error(p, in->line, "unknown instruction: st.async of this type");
  if (f->reduce && (!reduce_of(in, &f->op) || !reduce_type((PtxType)in->type[0], &f->dtype) || !tensormap_reduce_allowed(f->dtype, f->op)))
    return ptx_error(p, in->line, "unknown instruction: red.async has no such operation on this type");
  if (!decode_want_ops(p, in, 3, 3) || !decode_want_kind(p, in, 0, OPND_MEM) || !decode_want_kind(p, in, 2, OPND_MEM)) return false;
  if (in->ops[1].kind == OPND_VEC ? in->ops[1].count != f->count : f->count != 1) return ptx_error(p, in->line, "the vector has %u elements, not %u", in->ops[1].count, f->count);
  if (!are_values(&in->ops[1])) return ptx_error(p, in->line, "operand 2 of %s must be registers or immediates", ptx_op_name(in->op));
  in->aux = f;
  in->exec = exec_store_async;
  return true;
}
