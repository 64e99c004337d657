// Tensor maps that the kernel writes. Each block has its own, in the global scratch memory that the launcher
// provides. The first warp fills the 128 bytes in shared memory and copies them out with the fence that makes them
// visible to TMA. It also issues the copies: no other warp needs a fence.
#include "codegen/cg.h"
#include "ir/scratch.h"

typedef struct { Cg *c; LLVMValueRef address, pred; } MapWriter;

// Writes one field, or entry `index` of it (−1: it has one). The value is a register, or the number if that is NULL.
static void put(MapWriter *w, const char *field, int index, LLVMValueRef value, uint32_t number) {
  Cg *c = w->c;
  CgAsm a = cg_asm_new(c);
  cg_asm_arg(&a, w->pred);
  cg_asm_arg(&a, w->address);
  const char *width = value && LLVMTypeOf(value) == c->t_i64 ? "b64" : "b32";
  buf_printf(&a.text, "@$0 tensormap.replace.tile.%s.shared::cta.b1024.%s [$1], ", field, width);
  if (index >= 0) buf_printf(&a.text, "%d, ", index);
  buf_printf(&a.text, value ? "$%u;" : "%u;", value ? cg_asm_arg(&a, value) : number);
  cg_asm_call(&a, INSN_TENSORMAP_REPLACE);
}

// The number of the type in tensormap.replace. Only reductions depend on the sign.
static uint32_t element_code(Cg *c, const Op *op, const Type *elem) {
  bool is_signed = op_int(op, ATTR_SIGNED, 0);
  switch (cg_elem_kind(elem)) {
    case SC_I16: return 1;
    case SC_I32: return is_signed ? 3 : 2;
    case SC_I64: return is_signed ? 5 : 4;
    case SC_F16: return 6;
    case SC_F32: return 7;
    case SC_F64: return 9;
    case SC_BF16: return 10;
    default: break;
  }
  if (type_elem_bits(elem) != 8) cg_unsupported(c, op, "TMA does not move elements of this type");
  return 0;
}

static void put_fields(MapWriter *w, const Op *op) {
  Cg *c = w->c;
  const Type *t = op->results[0].type;
  uint32_t rank = t->rank, swizzle = type_desc_swizzle_bytes(t);
  LLVMValueRef bytes = cg_i64(c, type_elem_bytes(t));
  put(w, "global_address", -1, LLVMBuildPtrToInt(c->b, cg_scalar(op_operand(op, 1)), c->t_i64, ""), 0);
  put(w, "rank", -1, NULL, rank - 1);
  for (uint32_t i = 0; i < rank; i++) {   // TMA counts axes from the fastest
    uint32_t axis = rank - 1 - i;
    LLVMValueRef extent = cg_binary_intrinsic(c, "llvm.smax", cg_scalar(op_operand(op, 2 + axis)), cg_i32(c, 1));
    put(w, "box_dim", (int)i, cg_i32(c, type_desc_box(t, axis)), 0);
    put(w, "global_dim", (int)i, extent, 0);
    put(w, "element_stride", (int)i, cg_i32(c, 1), 0);
    if (i)
      put(w, "global_stride", (int)i - 1, LLVMBuildMul(c->b, cg_scalar(op_operand(op, 2 + rank + axis)), bytes, ""), 0);
  }
  put(w, "elemtype", -1, NULL, element_code(c, op, type_elem(t)));
  put(w, "interleave_layout", -1, NULL, 0);
  put(w, "swizzle_mode", -1, NULL, swizzle == 128 ? 3 : swizzle == 64 ? 2 : swizzle == 32 ? 1 : 0);
  put(w, "fill_mode", -1, NULL, op_int(op, ATTR_PADDING, PAD_ZERO) == PAD_NAN);
}

// The address of this block's map.
static LLVMValueRef map_address(Cg *c, const Op *op) {
  LLVMValueRef block = cg_i64(c, 0);
  for (uint32_t axis = 3; axis-- > 0;) {
    LLVMValueRef count = LLVMBuildZExt(c->b, cg_special_register(c, "nctaid", axis), c->t_i64, "");
    LLVMValueRef id = LLVMBuildZExt(c->b, cg_special_register(c, "ctaid", axis), c->t_i64, "");
    block = LLVMBuildAdd(c->b, LLVMBuildMul(c->b, block, count, ""), id, "");
  }
  LLVMValueRef offset = cg_op(c, LLVMMul, block, c->module->scratch_bytes);
  offset = cg_op(c, LLVMAdd, offset, (uint64_t)op_int(op, ATTR_START, 0));
  return LLVMBuildGEP2(c->b, c->t_i8, cg_scalar(op_operand(op, 0)), &offset, 1, "tensormap");
}

void emit_make_tensor_map(Cg *c, Op *op) {
  const Type *t = op_result(op, 0)->type;
  LLVMValueRef scratch = cg_scratch(c, op), map = map_address(c, op);
  LLVMValueRef first_warp = cg_cmp(c, LLVMIntEQ, cg_uniform_warp(c), 0);
  CgIf fill = cg_begin_if(c, first_warp);
  LLVMValueRef own = cg_add(c, scratch, cg_op(c, LLVMShl, c->lane, 2));
  LLVMSetAlignment(LLVMBuildStore(c->b, cg_i32(c, 0), cg_smem_ptr(c, own)), 4);
  cg_insn(c, INSN_WARP_SYNC, c->t_void, NULL, 0);
  MapWriter w = {c, cg_smem_addr(c, scratch), cg_cmp(c, LLVMIntEQ, c->lane, 0)};
  put_fields(&w, op);
  cg_end_if(c, fill);
  cg_barrier(c);
  CgIf publish = cg_begin_if(c, first_warp);
  cg_insn(c, INSN_TENSORMAP_PUBLISH, c->t_void, (LLVMValueRef[]){map, w.address}, 2);
  cg_insn(c, INSN_TENSORMAP_ACQUIRE, c->t_void, &map, 1);
  cg_end_if(c, publish);
  CgValue *d = cg_value_new(c, 1 + 2 * t->rank);
  d->v[0] = map;
  for (uint32_t i = 0; i < 2u * t->rank; i++) d->v[1 + i] = cg_scalar(op_operand(op, 2 + i));
  cg_set(op_result(op, 0), d);
}
