// histogram, gather and map.
#include "codegen/cg.h"

// The counts are in scratch: the block clears them, the owner of each element adds to one, and all threads read them.
void emit_histogram(Cg *c, Op *op) {
  Value *x = op_operand(op, 0), *mask = op_operand(op, 1);
  const Type *result = op_result(op, 0)->type;
  const Type *counter = type_scalar(c->ctx, SC_I32);
  LLVMValueRef scratch = cg_scratch(c, op);
  PlaceMap bins = placemap_of_layout(result->layout);
  cg_shared_store(c, scratch, &bins, counter, cg_splat(c, cg_num_regs(result), cg_i32(c, 0)), NULL);
  cg_barrier(c);

  uint32_t n = cg_num_regs(x->type), num_bins = (uint32_t)type_numel(result);
  const uint32_t *reps = cg_reps(c, x->type);
  LLVMValueRef owner = cg_layout_owner(c, x->type), base = cg_smem_addr(c, scratch);
  for (uint32_t r = 0; r < n; r++) {
    if (reps[r] != r) continue;
    LLVMValueRef v = LLVMBuildIntCast2(c->b, cg_reg(cg_get(x), r), c->t_i64, true, "");
    LLVMValueRef inside = cg_cmp(c, LLVMIntULT, v, num_bins);
    LLVMValueRef pred = cg_and(c, cg_and(c, inside, owner), mask ? cg_reg(cg_get(mask), r) : NULL);
    LLVMValueRef offset = cg_op(c, LLVMShl, LLVMBuildTrunc(c->b, v, c->t_i32, ""), 2);
    cg_insn(c, INSN_RED_SHARED_ADD_IF, c->t_void,
            (LLVMValueRef[]){LLVMBuildAdd(c->b, base, offset, ""), cg_i32(c, 1), pred}, 3);
  }
  cg_barrier(c);
  CgValue *counts = cg_shared_load(c, scratch, &bins, counter);
  LLVMTypeRef want = cg_elem_type(c, result);
  for (uint32_t r = 0; r < counts->count; r++) counts->v[r] = LLVMBuildIntCast2(c->b, counts->v[r], want, false, "");
  cg_set(op_result(op, 0), counts);
}

// x lies row-major in scratch; every thread reads the elements that its indices name.
// What a gather that mirrors gives if warps do not share the axis (scratch_mirror_place). Narrow elements travel
// together, as many of consecutive registers as fill a word.
static CgValue *mirror_in_warps(Cg *c, const CgValue *x, const Type *t, uint32_t reg, uint32_t lane) {
  const uint32_t n = cg_num_regs(t), bits = type_is_ptr(t) ? 64 : type_elem_bytes(type_elem(t)) * 8;
  const bool packs = lane && bits < 32 && n >= 32 / bits && !layout_free_bits(t->layout, LAYOUT_REG);
  const uint32_t each = packs ? 32 / bits : 1;
  CgValue *out = cg_value_new(c, n);
  LLVMValueRef parts[4];
  for (uint32_t r = 0; r < n; r += each) {
    for (uint32_t i = 0; i < each; i++) parts[i] = cg_reg(x, (r + i) ^ reg);
    if (each > 1) {
      for (uint32_t i = 0; i < each; i++) parts[i] = cg_to_storage(c, parts[i], cg_elem_kind(t));
      LLVMValueRef word = cg_shuffle_xor(c, cg_pack(c, parts, each, bits), lane);
      cg_unpack(c, word, each, bits, parts);
      for (uint32_t i = 0; i < each; i++) parts[i] = cg_from_storage(c, parts[i], cg_elem_type(c, t));
    } else if (lane) {
      parts[0] = cg_shuffle_xor(c, parts[0], lane);
    }
    for (uint32_t i = 0; i < each; i++) out->v[r + i] = parts[i];
  }
  return out;
}

void emit_gather(Cg *c, Op *op) {
  Value *x = op_operand(op, 0), *index = op_operand(op, 1);
  const Type *result = op_result(op, 0)->type, *elem = type_elem(result), *from = x->type;
  uint32_t axis = (uint32_t)op_int(op, ATTR_AXIS, 0), n = cg_num_regs(result), bytes = type_elem_bytes(elem);
  uint32_t reg, lane;
  if (scratch_mirror_place(op, &reg, &lane)) {
    cg_set(op_result(op, 0), mirror_in_warps(c, cg_get(x), result, reg, lane));
    return;
  }
  LLVMValueRef scratch = cg_scratch(c, op);
  PlaceMap store = placemap_of_layout(from->layout);
  cg_shared_store(c, scratch, &store, elem, cg_get(x), NULL);
  cg_barrier(c);

  const uint32_t *reps = cg_reps(c, result);
  LLVMValueRef threads[LAYOUT_MAX_RANK] = {0};
  CgValue *out = cg_value_new(c, n);
  for (uint32_t r = 0; r < n; r++) {
    if (reps[r] != r) {
      out->v[r] = out->v[reps[r]];
      continue;
    }
    LLVMValueRef at = cg_i32(c, 0);
    for (uint32_t a = 0; a < result->rank; a++) {
      LLVMValueRef i = a == axis ? LLVMBuildIntCast2(c->b, cg_reg(cg_get(index), r), c->t_i32, true, "")
                                 : cg_axis_index(c, result->layout, a, r, &threads[a]);
      uint32_t stride = (1u << layout_axis_shift(from->layout, a)) * bytes;
      // An index outside the axis reads some element of x, and never beyond scratch.
      if (a == axis) i = cg_op(c, LLVMAnd, i, (1u << from->layout->log2_size[a]) - 1);
      at = cg_add(c, at, cg_op(c, LLVMMul, i, stride));
    }
    out->v[r] = cg_shared_load_one(c, cg_add(c, scratch, at), elem);
  }
  cg_set(op_result(op, 0), out);
}

// Emits the region, with its branches, once per `pack` registers. Arguments and results are in order of operands, and
// of elements within an operand.
void emit_map(Cg *c, Op *op) {
  uint32_t pack = (uint32_t)op_int(op, ATTR_PACK, 1), num_in = op->num_operands, num_out = op->num_results;
  const Type *t = num_out ? op_result(op, 0)->type : op_operand(op, 0)->type;
  uint32_t n = cg_num_regs(t);
  const uint32_t *reps = cg_reps(c, t);
  CgValue **out = arena_array(c->arena, CgValue *, num_out + 1);
  for (uint32_t i = 0; i < num_out; i++) out[i] = cg_value_new(c, n);
  LLVMValueRef *args = arena_array(c->arena, LLVMValueRef, num_in * pack + 1);
  LLVMValueRef *results = arena_array(c->arena, LLVMValueRef, num_out * pack + 1);
  uint32_t *group = arena_array(c->arena, uint32_t, pack), held = 0;
  for (uint32_t r = 0; r < n; r++) {
    if (reps[r] != r) continue;
    group[held++] = r;
    if (held < pack) continue;
    for (uint32_t i = 0; i < num_in; i++)
      for (uint32_t k = 0; k < pack; k++) args[i * pack + k] = cg_reg(cg_get(op_operand(op, i)), group[k]);
    cg_inline_region(c, op->blocks[0], args, results);
    for (uint32_t i = 0; i < num_out; i++)
      for (uint32_t k = 0; k < pack; k++) out[i]->v[group[k]] = results[i * pack + k];
    held = 0;
  }
  if (held) cg_unsupported(c, op, "pack does not divide the elements of a thread");
  for (uint32_t i = 0; i < num_out; i++) {
    for (uint32_t r = 0; r < n; r++) out[i]->v[r] = out[i]->v[reps[r]];
    cg_set(op_result(op, i), out[i]);
  }
}
