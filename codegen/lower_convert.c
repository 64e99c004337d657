// convert_layout renames registers, exchanges them within warps by shuffles, or sends them through swizzled shared
// memory, within each warp or between them. ir/scratch.c decides by the maps between the layouts, so that the op has
// scratch if it needs it.
#include "codegen/cg.h"

// Moves n registers by xor with a linear function of the lane: out[r] = in[r ^ columns(lane)]. One select per register
// and bit of the function's image; the bits are independent. Registers with bits in `skip` are left out.
static void permute_by_lane(Cg *c, LLVMValueRef *regs, uint32_t n, uint32_t skip, const uint32_t columns[5]) {
  uint32_t image = 0;
  for (uint32_t i = 0; i < 5; i++) image |= columns[i];
  LLVMValueRef *next = arena_array(c->arena, LLVMValueRef, n);
  for (uint32_t b = 0; image >> b; b++) {
    if (!(image >> b & 1)) continue;
    uint32_t lanes = 0;
    for (uint32_t i = 0; i < 5; i++) lanes |= (columns[i] >> b & 1) << i;
    // Parity of the lane bits that feed this register bit.
    LLVMValueRef bits = cg_op(c, LLVMAnd, c->lane, lanes);
    if (lanes & (lanes - 1)) bits = cg_op(c, LLVMAnd, cg_unary_intrinsic(c, "llvm.ctpop", bits), 1);
    LLVMValueRef flip = cg_cmp(c, LLVMIntNE, bits, 0);
    for (uint32_t r = 0; r < n; r++)
      if (!(r & skip))
        next[r] = regs[r] == regs[r ^ 1u << b] ? regs[r] : cg_select(c, flip, regs[r ^ 1u << b], regs[r]);
    for (uint32_t r = 0; r < n; r++) regs[r] = next[r];
  }
}

static uint32_t apply(const uint32_t *columns, uint32_t x) {
  uint32_t y = 0;
  for (; x; x &= x - 1) y ^= columns[__builtin_ctz(x)];
  return y;
}

static uint32_t spread(uint32_t first, const uint32_t *bits, uint32_t num, uint32_t i) {
  for (uint32_t k = 0; k < num; k++)
    if (i >> k & 1) first |= 1u << bits[k];
  return first;
}

static CgValue *convert_by_shuffle(Cg *c, const CgValue *x, const Type *from, const Type *to, const ShufflePlan *plan) {
  uint32_t src = 1u << plan->src_reg_bits, dst = 1u << plan->dst_reg_bits;
  ScalarKind k = cg_elem_kind(from);
  LLVMTypeRef elem = cg_elem_type(c, from);
  uint32_t bits = type_is_ptr(from) ? 64 : type_elem_bytes(type_elem(from)) * 8;
  const ShufflePacking pack = scratch_shuffle_packing(plan, bits);
  uint32_t each = 1u << pack.num;
  // A word stands in the place of its first register; nobody reads the others.
  LLVMValueRef *tmp = arena_array(c->arena, LLVMValueRef, src), *got = arena_array(c->arena, LLVMValueRef, dst);
  LLVMValueRef parts[4];
  for (uint32_t r = 0; r < src; r++) {
    if (r & pack.src_mask) continue;
    for (uint32_t i = 0; i < each; i++) parts[i] = cg_to_storage(c, cg_reg(x, spread(r, pack.src, pack.num, i)), k);
    tmp[r] = cg_pack(c, parts, each, bits);
  }
  permute_by_lane(c, tmp, src, pack.src_mask, plan->before);
  LLVMValueRef base = cg_thread_bits(c, plan->from_lane, 5);
  const uint32_t *reps = cg_reps(c, to);
  for (uint32_t j = 0; j < dst; j++) {
    if (j & pack.dst_mask) continue;
    uint32_t lane = apply(plan->from_round, j), reg = apply(plan->take, j);
    // A round that would fetch the same again (a register of dst that is a duplicate) takes the first one's result.
    uint32_t same = j;
    for (uint32_t b = 0; b < plan->dst_reg_bits; b++)
      if ((j >> b & 1) && plan->from_round[b] == 0 && plan->take[b] == 0) same = j & ~(1u << b);
    if (same != j) got[j] = got[same];
    else if (scratch_shuffle_stays(plan, j)) got[j] = tmp[reg];
    else got[j] = cg_shuffle_idx(c, tmp[reg], cg_xor(c, base, cg_i32(c, lane)));
  }
  permute_by_lane(c, got, dst, pack.dst_mask, plan->after);
  CgValue *out = cg_value_new(c, dst);
  for (uint32_t r = 0; r < dst; r++) {
    if (r & pack.dst_mask) continue;
    cg_unpack(c, got[r], each, bits, parts);
    for (uint32_t i = 0; i < each; i++) out->v[spread(r, pack.dst, pack.num, i)] = cg_from_storage(c, parts[i], elem);
  }
  for (uint32_t r = 0; r < dst; r++) out->v[r] = out->v[reps[r]];
  return out;
}

// Between the stores and the loads of a conversion through shared memory.
static void meet(Cg *c, ConvertKind kind) {
  if (kind == CONVERT_WARP) cg_insn(c, INSN_WARP_SYNC, c->t_void, NULL, 0);
  else cg_barrier(c);
}

// Converts 16-bit elements if one side has the fragments of stmatrix or ldmatrix, like tensor cores and transposes,
// and the other side has a row of them in registers of one thread. Returns NULL for other layouts.
static CgValue *convert_by_matrices(Cg *c, const CgValue *x, const Type *from, const Type *to, const Op *op,
                                    ConvertKind kind) {
  const Type *elem = type_elem(to);
  if (type_elem_bytes(elem) != 2) return NULL;
  for (uint32_t i = 0; i < 4; i++) {
    bool storing = i < 2;
    const Layout *fragments = storing ? from->layout : to->layout, *vectors = storing ? to->layout : from->layout;
    const Layout *tile = layout_make_shared_for_matrices(c->ctx, fragments, vectors, i & 1);
    PlaceMap store, load;
    if (!tile || !placemap_to_shared(from->layout, tile, &store) || !placemap_to_shared(to->layout, tile, &load))
      continue;
    if (!storing && !cg_can_load_matrices(&load, elem)) continue;
    LLVMValueRef scratch = cg_scratch(c, op);
    if (!storing) cg_shared_store(c, scratch, &store, elem, x, NULL);
    else if (!cg_shared_store_matrices(c, scratch, &store, elem, x)) continue;
    meet(c, kind);
    return storing ? cg_shared_load(c, scratch, &load, elem) : cg_shared_load_fastest(c, scratch, &load, elem);
  }
  return NULL;
}

static CgValue *convert_by_shared(Cg *c, const CgValue *x, const Type *from, const Type *to, const Op *op,
                                  ConvertKind kind) {
  enum { WIDEST = 16 };
  uint32_t vec;
  const Layout *tile = scratch_convert_layout(c->ctx, from, to, &vec);
  CgValue *by_matrices = vec * type_elem_bytes(type_elem(from)) < WIDEST
                             ? convert_by_matrices(c, x, from, to, op, kind) : NULL;
  if (by_matrices) return by_matrices;
  PlaceMap store, load;
  if (!tile || !placemap_to_shared(from->layout, tile, &store) || !placemap_to_shared(to->layout, tile, &load))
    cg_unsupported(c, op, "no scratch layout for the conversion");
  LLVMValueRef scratch = cg_scratch(c, op);
  cg_shared_store(c, scratch, &store, type_elem(from), x, NULL);
  meet(c, kind);
  return cg_shared_load(c, scratch, &load, type_elem(to));
}

static CgValue *converted(Cg *c, const CgValue *x, const Type *from, const Type *to, const Op *op) {
  uint32_t n = cg_num_regs(to);
  ConvertKind kind = scratch_convert_kind(from, to);
  if (x->splat) {
    if (kind == CONVERT_SHARED) cg_barrier(c);   // insert_barriers counts on the barrier of this op
    return cg_splat(c, n, x->v[0]);
  }
  ShufflePlan plan;
  switch (kind) {
  case CONVERT_NONE: return (CgValue *)x;
  case CONVERT_REGISTERS: {
    CgValue *v = cg_rename(c, x, to->layout, from->layout);
    if (!v) cg_unsupported(c, op, "not a conversion within threads");
    return v;
  }
  case CONVERT_SHUFFLE:
    if (!scratch_shuffle_plan(from->layout, to->layout, &plan)) cg_unsupported(c, op, "not a conversion within warps");
    return convert_by_shuffle(c, x, from, to, &plan);
  default: return convert_by_shared(c, x, from, to, op, kind);
  }
}

void emit_convert_layout(Cg *c, Op *op) {
  Value *x = op_operand(op, 0);
  cg_set(op_result(op, 0), converted(c, cg_get(x), x->type, op_result(op, 0)->type, op));
}
