// cp.async.bulk: bulk copies, tensor copies and reductions; st.async and red.async. The handlers check and queue;
// async.c performs.
#include <string.h>

#include "runtime/sim/counts.h"
#include "runtime/sim/shadow.h"

static bool reduce_of(const Instr *in, TensorMapReduceOp *out) {
  switch (one_of(in, M_add, M_min, M_max, M_inc, M_dec, M_and, M_or, M_xor)) {
  case M_add: *out = TMAP_ADD; return true;
  case M_min: *out = TMAP_MIN; return true;
  case M_max: *out = TMAP_MAX; return true;
  case M_inc: *out = TMAP_INC; return true;
  case M_dec: *out = TMAP_DEC; return true;
  case M_and: *out = TMAP_AND; return true;
  case M_or: *out = TMAP_OR; return true;
  case M_xor: *out = TMAP_XOR; return true;
  default: return false;
  }
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

// The form of a bulk instruction and the positions of its operands, set at decode time.
typedef struct {
  bool tensor, to_shared, from_shared, prefetch, reduce, in_group, multicast;
  uint8_t rank;
  int8_t dst, src, size, bar, mask;   // operand numbers, -1 when absent
  TensorMapReduceOp op;
  TensorMapDtype dtype;
} BulkForm;

// The tensor map, or the bytes of global memory.
static const PtxOperand *global_operand(const Instr *in) {
  const BulkForm *f = in->aux;
  return &in->ops[f->to_shared || f->prefetch ? f->src : f->dst];
}

// Checks that the in-bounds global bytes of a box lie in allocations.
// sector: where the last part that was counted ended.
typedef struct { AsyncOp *op; AccessKind kind; bool check; ExecResult result; uint64_t sector; } BoundsWalk;
static ExecResult check_global(BoundsWalk *b, uint64_t addr, uint32_t bytes, uint32_t align, MemAccess *a) {
  Warp *w = b->op->warp;
  const Instr *in = b->op->in;
  int lane = b->op->lane;
  TRY(mem_resolve_one(w, in, lane, SPACE_GLOBAL, addr, bytes, align, b->kind, a));
  if (!b->check) return EXEC_NEXT;
  if (w->grid->counts) counts_bulk(w->grid, in, &(BulkPart){a->alloc[lane], addr, bytes, b->kind}, &b->sector);
  const BulkForm *f = in->aux;
  TRY(blocks_bulk(w, in, lane, a->alloc[lane], addr, bytes, b->kind != ACCESS_READ, f->reduce));
  if (b->kind == ACCESS_READ) return proxy_async_read(w, in, lane, a->alloc[lane], addr, bytes);
  return proxy_async_write(w, in, lane, a->alloc[lane], addr, bytes, b->op->bulk.serial);
}
static bool bounds_run(void *user, const TensorMapRun *run) {
  BoundsWalk *b = user;
  MemAccess a;
  if (run->in_bounds) b->result = check_global(b, run->global, run->bytes, 1, &a);
  return b->result == EXEC_NEXT;
}

static ExecResult read_map(Warp *w, const Instr *in, int lane, const PtxOperand *mem, AsyncBulk *b, unsigned rank) {
  MemAccess a;
  uint64_t address = mem_operand_address(w, mem, lane);
  TRY(mem_resolve_one(w, in, lane, SPACE_GENERIC, address, TENSORMAP_BYTES, 64, ACCESS_READ, &a));
  if (a.space[lane] != SPACE_GLOBAL)
    return warp_report(w, in, lane, REPORT_ASYNC,
                       "a tensor map must be a kernel parameter or lie in constant or global memory");
  TRY(undef_map_use(w, in, lane, a.alloc[lane], address));
  TRY(proxy_map_use(w, in, lane, a.alloc[lane], address));
  b->map_address = address;
  if (!tensormap_unpack(a.host[lane], &b->map))
    return warp_report(w, in, lane, REPORT_ASYNC, "there is no valid tensor map at 0x%llx",
                       (unsigned long long)address);
  if (b->map.rank != rank)
    return warp_report(w, in, lane, REPORT_ASYNC, "the instruction is %ud and the tensor map has %u dimensions", rank,
                       b->map.rank);
  const char *wrong = tensormap_check(&b->map);
  if (wrong) {
    if (b->map.address % 16)
      w->grid->way_out = "the base of a descriptor is a multiple of 16 bytes: begin at such an address and add what comes "
                         "before the first element to the offsets of loads and stores, or use plain pointers";
    return warp_report(w, in, lane, REPORT_ASYNC, "the tensor map is not valid: %s", wrong);
  }
  if (b->map.interleave != TMAP_INTERLEAVE_NONE)
    return warp_report(w, in, lane, REPORT_ASYNC, "interleaved tensor maps are not simulated");
  for (unsigned i = 0; i < rank; i++) b->coords[i] = (int32_t)src_row(w, &mem->sub[0].sub[i])[lane];
  return EXEC_NEXT;
}

// An H200 stops the kernel with an illegal instruction if the innermost coordinate is not a multiple of 16 bytes, or
// if a store begins below 0 on any axis. Loads may begin below 0.
static ExecResult check_coordinates(Warp *w, const Instr *in, int lane, const AsyncBulk *b, bool is_store) {
  if (b->coords[0] * (int64_t)tensormap_element_bytes(b->map.dtype) % 16)
    return warp_report(
        w, in, lane, REPORT_MISALIGNED,
        "the tensor copy begins at element %d of the innermost axis, "
                       "which is not a multiple of 16 bytes",
        b->coords[0]);
  for (unsigned i = 0; is_store && i < b->map.rank; i++)
    if (b->coords[i] < 0)
      return warp_report(w, in, lane, REPORT_ASYNC, "a tensor store cannot begin below 0: coordinate %u is %d", i,
                         b->coords[i]);
  return EXEC_NEXT;
}

// space: SHARED or SHARED_CLUSTER
static ExecResult shared_operand(Warp *w, const Instr *in, int lane, const PtxOperand *op, Space space, uint32_t bytes,
                                 uint32_t align, AccessKind kind, SharedPlace *out) {
  MemAccess a;
  TRY(mem_resolve_one(w, in, lane, space, mem_operand_address(w, op, lane), bytes, align, kind, &a));
  *out = shared_place(&a, lane);
  return EXEC_NEXT;
}

static bool same_cta(SharedPlace a, SharedPlace b) { return a.cta == b.cta; }

static ExecResult prepare_tensor(AsyncOp *op, BoundsWalk *walk) {
  Warp *w = op->warp;
  const Instr *in = op->in;
  const BulkForm *f = in->aux;
  AsyncBulk *b = &op->bulk;
  bool stores = !f->to_shared && !f->prefetch;
  TRY(read_map(w, in, op->lane, global_operand(in), b, f->rank));
  TRY(check_coordinates(w, in, op->lane, b, stores));
  b->bytes = tensormap_box_bytes(&b->map);
  b->extent = tensormap_box_extent(&b->map);
  b->dtype = b->map.dtype;
  if (f->reduce && !tensormap_reduce_allowed(b->dtype, b->reduce))
    return warp_report(w, in, op->lane, REPORT_ASYNC, "this reduction does not exist for the tensor map's data type");
  tensormap_walk(&b->map, b->coords, SHARED_BASE, stores && !f->reduce, bounds_run, walk);
  return walk->result;
}

static ExecResult prepare_line(AsyncOp *op, BoundsWalk *walk) {
  Warp *w = op->warp;
  const Instr *in = op->in;
  const BulkForm *f = in->aux;
  AsyncBulk *b = &op->bulk;
  b->bytes = b->extent = (uint32_t)src_at(w, in, f->size)[op->lane];
  if (b->bytes % 16)
    return warp_report(w, in, op->lane, REPORT_MISALIGNED, "a bulk copy of %u bytes: the size must be a multiple of 16",
                       b->bytes);
  if (f->from_shared && f->to_shared) return EXEC_NEXT;
  MemAccess a;
  TRY(check_global(walk, mem_operand_address(w, global_operand(in), op->lane), b->bytes, 16, &a));
  b->global = a.host[op->lane];
  return EXEC_NEXT;
}

// Sets the destinations and their mbarriers: one pair, or one in each CTA of a multicast.
static ExecResult prepare_destinations(AsyncOp *op, uint32_t align) {
  Warp *w = op->warp;
  const Instr *in = op->in;
  const BulkForm *f = in->aux;
  AsyncBulk *b = &op->bulk;
  const int lane = op->lane;
  TRY(shared_operand(w, in, lane, &in->ops[f->dst], SPACE_SHARED_CLUSTER, b->extent, align, ACCESS_WRITE, &b->dst[0]));
  TRY(shared_operand(w, in, lane, &in->ops[f->bar], SPACE_SHARED_CLUSTER, 8, 8, ACCESS_ATOMIC, &b->bar[0]));
  b->num_dst = 1;
  if (f->multicast) {
    uint32_t ctas = (uint32_t)src_at(w, in, f->mask)[lane] & 0xffff, offset = b->dst[0].offset, bar = b->bar[0].offset;
    Cluster *c = w->cta->cluster;
    if (!ctas || ctas >> c->num_ctas)
      return warp_report(w, in, lane, REPORT_ASYNC, "multicast mask 0x%x in a cluster of %u CTAs", ctas, c->num_ctas);
    b->num_dst = 0;
    FOR_LANES(rank, ctas) {
      b->dst[b->num_dst] = (SharedPlace){c->ctas[rank], offset};
      b->bar[b->num_dst++] = (SharedPlace){c->ctas[rank], bar};
    }
  } else if (!same_cta(b->bar[0], b->dst[0])) {
    return warp_report(w, in, lane, REPORT_ASYNC, "the mbarrier is in another CTA than the destination");
  }
  // The transaction counts in the phase that is current at issue.
  for (uint32_t i = 0; i < b->num_dst; i++)
    if (!mbarrier_unpack(shared_word(b->bar[i])).valid)
      return async_mbarrier_fail(w, in, lane, b->bar[i], MBAR_NOT_INIT);
  return EXEC_NEXT;
}

static ExecResult issue_bulk(Warp *w, const Instr *in, int lane) {
  const BulkForm *f = in->aux;
  AsyncOp *op = async_new(w, in, lane, ASYNC_BULK);
  AsyncBulk *b = &op->bulk;
  b->is_tensor = f->tensor, b->to_shared = f->to_shared, b->is_reduce = f->reduce, b->in_group = f->in_group;
  b->reduce = f->op, b->dtype = f->dtype;
  b->group = w->bulk_group[lane];
  if (f->in_group) b->serial = proxy_store_begin(op);
  BoundsWalk walk = {op, f->to_shared || f->prefetch ? ACCESS_READ : ACCESS_WRITE, !f->prefetch, EXEC_NEXT, 0};
  TRY(f->tensor ? prepare_tensor(op, &walk) : prepare_line(op, &walk));
  if (f->prefetch) return EXEC_NEXT;
  uint32_t align = f->tensor ? tensormap_shared_align(&b->map) : 16;
  if (f->from_shared)
    TRY(shared_operand(w, in, lane, &in->ops[f->src], SPACE_SHARED, b->extent, align, ACCESS_READ, &b->src));
  if (f->to_shared) TRY(prepare_destinations(op, align));
  TRY(agent_bulk_issue(op));
  return async_issue(op);
}

static ExecResult exec_bulk(Warp *w, const Instr *in, uint32_t mask) {
  FOR_LANES(l, mask) {
    TRY(issue_bulk(w, in, l));
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
      // .read waits only until the source has been read.
      TRY(has_mod(in, M_read) ? async_read_bulk(o) : async_finish(o));
    }
    agent_bulk_waited(w, l, (uint32_t)n);
    if (!has_mod(in, M_read)) proxy_bulk_waited(w, l, (uint32_t)n);
  }
  return EXEC_NEXT;
}

// Are all elements of the vector, or the single operand, registers or immediates?
static bool are_values(const PtxOperand *o) {
  const PtxOperand *elems = o->kind == OPND_VEC ? o->sub : o;
  for (uint32_t i = 0; i < (o->kind == OPND_VEC ? o->count : 1); i++)
    if (elems[i].kind != OPND_REG && elems[i].kind != OPND_IMM) return false;
  return true;
}

// The first space written is the destination's, the second the source's.
static int find_spaces(const Instr *in, BulkForm *f, int spaces[2]) {
  int count = 0;
  for (int i = 0; i < in->num_mods; i++) {
    int m = in->mods[i];
    if ((m == M_shared || m == M_shared_cta || m == M_shared_cluster || m == M_global) && count < 2)
      spaces[count++] = m;
    if (m >= M_d1 && m <= M_d5) f->rank = (uint8_t)(m - M_d1 + 1);
  }
  return count;
}

bool decode_bulk(PtxParser *p, Instr *in) {
  if (has_mod(in, M_commit_group)) return decode_as(p, in, exec_bulk_commit, "");
  if (has_mod(in, M_wait_group)) return decode_wait_group(p, in, exec_bulk_wait);
  BulkForm *f = arena_new(ptx_arena(p), BulkForm);
  *f = (BulkForm){.tensor = has_mod(in, M_tensor),
                  .prefetch = has_mod(in, M_prefetch),
                  .multicast = has_mod(in, M_multicast_cluster),
                  .dst = -1,
                  .src = -1,
                  .size = -1,
                  .bar = -1,
                  .mask = -1};
  if (has_any(in, M_im2col, M_im2col_no_offs))
    return decode_error(p, "unknown instruction: the im2col mode is not simulated");
  if (has_mod(in, M_cp_mask)) return decode_error(p, "unknown instruction: .cp_mask is not in sm_90");
  f->reduce = in->op == OP_cp && has_mod(in, M_reduce);
  int spaces[2], count = find_spaces(in, f, spaces);
  char pattern[8] = "";
  int next = 0;
#define NEXT_OPERAND(letter) (pattern[next] = (letter), (int8_t)next++)
  if (!f->prefetch) {
    if (count != 2) return decode_error(p, "a bulk copy names two state spaces");
    f->to_shared = spaces[0] != M_global;
    f->from_shared = spaces[1] != M_global;
    if (!f->to_shared && !f->from_shared) return decode_error(p, "a bulk copy cannot go from global to global memory");
    f->in_group = !f->to_shared;
    f->dst = NEXT_OPERAND('m');
    if (f->to_shared != has_mod(in, M_mbarrier_complete_tx_bytes) || f->in_group != has_mod(in, M_bulk_group))
      return decode_error(p, "the completion mechanism does not fit this bulk copy");
  }
  f->src = NEXT_OPERAND('m');
  if (!f->tensor) f->size = NEXT_OPERAND('s');
  if (f->to_shared) f->bar = NEXT_OPERAND('m');
  if (!f->prefetch && f->multicast) f->mask = NEXT_OPERAND('s');
  if (has_mod(in, M_L2_cache_hint)) NEXT_OPERAND('.');
#undef NEXT_OPERAND
  if (!decode_operands(p, in, pattern)) return false;
  in->aux = f;
  in->exec = exec_bulk;
  if (f->tensor) {
    const PtxOperand *map = global_operand(in);
    if (!f->rank || map->count != 1 || map->sub[0].kind != OPND_VEC || map->sub[0].count != f->rank)
      return decode_error(p, "a tensor copy needs as many coordinates as its .Nd says");
    if (!are_values(&map->sub[0]))
      return decode_error(p, "the coordinates of a tensor copy must be registers or immediates");
  }
  if (f->reduce) {
    if (!reduce_of(in, &f->op)) return decode_error(p, "cp.reduce needs an operation");
    if (!f->tensor &&
        (!in->num_types || !reduce_type((PtxType)in->type[0], &f->dtype) || !tensormap_reduce_allowed(f->dtype, f->op)))
      return decode_error(p, "unknown instruction: cp.reduce.async.bulk has no such operation on this type");
  }
  return true;
}

// ---- st.async, red.async: a store into any CTA of the cluster that completes bytes on an mbarrier there

typedef struct { uint8_t elem_bytes, count; bool reduce; TensorMapReduceOp op; TensorMapDtype dtype; } StoreForm;

static ExecResult exec_store_async(Warp *w, const Instr *in, uint32_t mask) {
  const StoreForm *f = in->aux;
  uint32_t bytes = (uint32_t)f->elem_bytes * f->count;
  FOR_LANES(l, mask) {
    AsyncOp *op = async_new(w, in, l, ASYNC_STORE);
    AsyncStore *s = &op->store;
    TRY(shared_operand(w, in, l, &in->ops[0], SPACE_SHARED_CLUSTER, bytes, bytes, ACCESS_WRITE, &s->dst));
    TRY(shared_operand(w, in, l, &in->ops[2], SPACE_SHARED_CLUSTER, 8, 8, ACCESS_ATOMIC, &s->bar));
    if (!same_cta(s->bar, s->dst))
      return warp_report(w, in, l, REPORT_ASYNC, "the mbarrier is in another CTA than the destination");
    s->bytes = bytes;
    s->is_reduce = f->reduce, s->reduce = f->op, s->dtype = f->dtype;
    const PtxOperand *values = in->ops[1].kind == OPND_VEC ? in->ops[1].sub : &in->ops[1];
    for (uint32_t e = 0; e < f->count; e++) {
      uint64_t v = src_row(w, &values[e])[l];
      memcpy(s->value + e * f->elem_bytes, &v, f->elem_bytes);
    }
    TRY(agent_store_issue(op));
    TRY(async_issue(op));
  }
  return EXEC_NEXT;
}

bool decode_store_async(PtxParser *p, Instr *in) {
  StoreForm *f = arena_new(ptx_arena(p), StoreForm);
  f->reduce = in->op == OP_red;
  if (!has_mod(in, M_mbarrier_complete_tx_bytes) || in->num_types != 1)
    return decode_error(p, "unknown instruction: this form of %s.async", f->reduce ? "red" : "st");
  f->elem_bytes = (uint8_t)(ptx_types[in->type[0]].bits / 8);
  f->count = f->reduce ? 1 : in->vec;
  if ((f->elem_bytes != 4 && f->elem_bytes != 8) || f->elem_bytes * f->count > 16)
    return decode_error(p, "unknown instruction: st.async of this type");
  if (f->reduce && (!reduce_of(in, &f->op) || !reduce_type((PtxType)in->type[0], &f->dtype) ||
                    !tensormap_reduce_allowed(f->dtype, f->op)))
    return decode_error(p, "unknown instruction: red.async has no such operation on this type");
  if (!decode_operands(p, in, "m.m")) return false;
  if (in->ops[1].kind == OPND_VEC ? in->ops[1].count != f->count : f->count != 1)
    return decode_error(p, "the vector has %u elements, not %u", in->ops[1].count, f->count);
  if (!are_values(&in->ops[1]))
    return decode_error(p, "operand 2 of %s must be registers or immediates", ptx_op_name(in->op));
  in->aux = f;
  in->exec = exec_store_async;
  return true;
}
