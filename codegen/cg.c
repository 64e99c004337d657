// Values, constants and the small instructions that every lowering is written with.
#include "codegen/cg.h"

#include <string.h>

// ---- values ----

CgValue *cg_value_new(Cg *c, uint32_t count) {
  CgValue *v = arena_alloc(c->arena, sizeof(CgValue) + count * sizeof(LLVMValueRef));
  v->count = count;
  return v;
}

CgValue *cg_splat(Cg *c, uint32_t count, LLVMValueRef x) {
  CgValue *v = arena_alloc(c->arena, sizeof(CgValue) + sizeof(LLVMValueRef));
  v->count = count;
  v->splat = true;
  v->v[0] = x;
  return v;
}

void cg_set_scalar(Cg *c, Value *v, LLVMValueRef x) { cg_set(v, cg_splat(c, 1, x)); }

uint32_t cg_num_regs(const Type *t) {
  switch (t->kind) {
  case TYPE_TENSOR: return layout_regs_per_thread(t->layout);
  case TYPE_TOKEN: return 0;
  case TYPE_DESC: return 1 + 2 * t->rank;
  default: return type_is_moved(t) ? 2 : 1;
  }
}

LLVMTypeRef cg_elem_type(Cg *c, const Type *t) {
  const Type *e = type_elem(t);
  return e->kind == TYPE_PTR ? c->t_gptr : t->kind == TYPE_BUFFER ? c->t_i32 : c->elem[e->scalar];
}

ScalarKind cg_elem_kind(const Type *t) {
  const Type *e = type_elem(t);
  return e->kind == TYPE_PTR ? SC_I64 : e->scalar;
}

void cg_unsupported(Cg *c, const Op *op, const char *why) {
  c->ctx->current_op = op;
  ice(c->ctx, "codegen: %s: %s", op_info[op->opcode].name, why);
}

// ---- constants, small instructions ----

LLVMValueRef cg_i32(Cg *c, uint32_t v) { return LLVMConstInt(c->t_i32, v, false); }
LLVMValueRef cg_i64(Cg *c, uint64_t v) { return LLVMConstInt(c->t_i64, v, false); }
LLVMValueRef cg_int(LLVMTypeRef t, uint64_t v) { return LLVMConstInt(t, v, false); }

bool cg_const_int(LLVMValueRef v, uint64_t *x) {
  if (!LLVMIsAConstantInt(v)) return false;
  *x = LLVMConstIntGetZExtValue(v);
  return true;
}

static bool is_zero(LLVMValueRef v) {
  uint64_t x;
  return cg_const_int(v, &x) && x == 0;
}

LLVMValueRef cg_add(Cg *c, LLVMValueRef a, LLVMValueRef b) {
  return is_zero(a) ? b : is_zero(b) ? a : LLVMBuildAdd(c->b, a, b, "");
}

LLVMValueRef cg_xor(Cg *c, LLVMValueRef a, LLVMValueRef b) {
  return is_zero(a) ? b : is_zero(b) ? a : LLVMBuildXor(c->b, a, b, "");
}

LLVMValueRef cg_and(Cg *c, LLVMValueRef a, LLVMValueRef b) {
  if (!a || !b) return a ? a : b;
  return LLVMBuildAnd(c->b, a, b, "");
}

LLVMValueRef cg_op(Cg *c, LLVMOpcode o, LLVMValueRef a, uint64_t b) {
  return LLVMBuildBinOp(c->b, o, a, cg_int(LLVMTypeOf(a), b), "");
}

LLVMValueRef cg_cmp(Cg *c, LLVMIntPredicate p, LLVMValueRef a, uint64_t b) {
  return LLVMBuildICmp(c->b, p, a, cg_int(LLVMTypeOf(a), b), "");
}

LLVMValueRef cg_select(Cg *c, LLVMValueRef p, LLVMValueRef a, LLVMValueRef b) {
  return LLVMBuildSelect(c->b, p, a, b, "");
}

uint32_t cg_bits(Cg *c, LLVMTypeRef t) {
  switch (LLVMGetTypeKind(t)) {
  case LLVMIntegerTypeKind: return LLVMGetIntTypeWidth(t);
  case LLVMHalfTypeKind:
  case LLVMBFloatTypeKind: return 16;
  case LLVMFloatTypeKind: return 32;
  case LLVMDoubleTypeKind:
  case LLVMPointerTypeKind: return 64;
  case LLVMVectorTypeKind: return LLVMGetVectorSize(t) * cg_bits(c, LLVMGetElementType(t));
  default: ice(c->ctx, "codegen: width of an aggregate");
  }
}

LLVMValueRef cg_bitcast(Cg *c, LLVMValueRef v, LLVMTypeRef t) {
  LLVMTypeRef from = LLVMTypeOf(v);
  if (from == t) return v;
  bool from_ptr = LLVMGetTypeKind(from) == LLVMPointerTypeKind, to_ptr = LLVMGetTypeKind(t) == LLVMPointerTypeKind;
  if (from_ptr && to_ptr) return LLVMBuildAddrSpaceCast(c->b, v, t, "");
  if (from_ptr) return LLVMBuildPtrToInt(c->b, v, t, "");
  if (to_ptr) return LLVMBuildIntToPtr(c->b, v, t, "");
  return LLVMBuildBitCast(c->b, v, t, "");
}

LLVMTypeRef cg_storage_type(Cg *c, const Type *t) {
  const Type *e = type_elem(t);
  return e->kind == TYPE_PTR ? c->t_i64 : LLVMIntTypeInContext(c->ll, type_elem_bytes(e) * 8);
}

LLVMValueRef cg_to_storage(Cg *c, LLVMValueRef v, ScalarKind k) {
  if (k == SC_I1) return LLVMBuildZExt(c->b, v, c->t_i8, "");
  return cg_bitcast(c, v, LLVMIntTypeInContext(c->ll, cg_bits(c, LLVMTypeOf(v))));
}

LLVMValueRef cg_from_storage(Cg *c, LLVMValueRef v, LLVMTypeRef elem) {
  if (elem == c->t_i1) return cg_cmp(c, LLVMIntNE, v, 0);
  return cg_bitcast(c, v, elem);
}

LLVMValueRef cg_vector(Cg *c, const LLVMValueRef *v, uint32_t n) {
  if (n == 1) return v[0];
  LLVMValueRef vec = LLVMGetPoison(LLVMVectorType(LLVMTypeOf(v[0]), n));
  for (uint32_t i = 0; i < n; i++) vec = LLVMBuildInsertElement(c->b, vec, v[i], cg_i32(c, i), "");
  return vec;
}

LLVMValueRef cg_element(Cg *c, LLVMValueRef v, uint32_t i) {
  bool is_vector = LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMVectorTypeKind;
  return is_vector ? LLVMBuildExtractElement(c->b, v, cg_i32(c, i), "") : v;
}

// NVPTX turns the bitcast of a vector into one mov of a register tuple.
LLVMValueRef cg_pack(Cg *c, const LLVMValueRef *v, uint32_t n, uint32_t bits) {
  if (n == 1) return v[0];
  return LLVMBuildBitCast(c->b, cg_vector(c, v, n), LLVMIntTypeInContext(c->ll, n * bits), "");
}

void cg_unpack(Cg *c, LLVMValueRef word, uint32_t n, uint32_t bits, LLVMValueRef *out) {
  if (n == 1) {
    out[0] = word;
    return;
  }
  LLVMValueRef vec = LLVMBuildBitCast(c->b, word, LLVMVectorType(LLVMIntTypeInContext(c->ll, bits), n), "");
  for (uint32_t i = 0; i < n; i++) out[i] = cg_element(c, vec, i);
}

LLVMValueRef cg_call_intrinsic(Cg *c, const char *name, LLVMTypeRef *overloads, unsigned num_overloads,
                               LLVMValueRef *args, unsigned n) {
  unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  // The lookup accepts a longer name than the intrinsic's; building such a declaration would crash.
  size_t len = 0;
  if (!id || (LLVMIntrinsicGetName(id, &len), len != strlen(name)))
    ice(c->ctx, "codegen: no intrinsic %s in this LLVM", name);
  LLVMValueRef fn = LLVMGetIntrinsicDeclaration(c->mod, id, overloads, num_overloads);
  return LLVMBuildCall2(c->b, LLVMGlobalGetValueType(fn), fn, args, n, "");
}

LLVMValueRef cg_unary_intrinsic(Cg *c, const char *name, LLVMValueRef x) {
  LLVMTypeRef t = LLVMTypeOf(x);
  return cg_call_intrinsic(c, name, &t, 1, &x, 1);
}

LLVMValueRef cg_binary_intrinsic(Cg *c, const char *name, LLVMValueRef x, LLVMValueRef y) {
  LLVMTypeRef t = LLVMTypeOf(x);
  return cg_call_intrinsic(c, name, &t, 1, (LLVMValueRef[]){x, y}, 2);
}

LLVMValueRef cg_intrinsic_false(Cg *c, const char *name, LLVMValueRef x) {
  LLVMTypeRef t = LLVMTypeOf(x);
  return cg_call_intrinsic(c, name, &t, 1, (LLVMValueRef[]){x, LLVMConstNull(c->t_i1)}, 2);
}

void cg_set_range(Cg *c, LLVMValueRef call, uint64_t first, uint64_t end) {
  const unsigned range = LLVMGetEnumAttributeKindForName("range", strlen("range"));
  const unsigned bits = LLVMGetIntTypeWidth(LLVMTypeOf(call));
  LLVMAddCallSiteAttribute(call, LLVMAttributeReturnIndex,
                           LLVMCreateConstantRangeAttribute(c->ll, range, bits, &first, &end));
}

LLVMValueRef cg_special_register(Cg *c, const char *name, uint32_t axis) {
  const char *id = arena_printf(c->arena, "llvm.nvvm.read.ptx.sreg.%s.%c", name, 'x' + (int)axis);
  return cg_call_intrinsic(c, id, NULL, 0, NULL, 0);
}

LLVMBasicBlockRef cg_block(Cg *c, const char *name) { return LLVMAppendBasicBlockInContext(c->ll, c->fn, name); }

void cg_require_ptx(Cg *c, uint32_t version) {
  if (c->ptx < version) c->ptx = version;
}

// ---- control in one thread or a few ----

CgIf cg_begin_if(Cg *c, LLVMValueRef pred) {
  if (!pred) return (CgIf){NULL};
  LLVMBasicBlockRef then = cg_block(c, "then"), join = cg_block(c, "join");
  LLVMBuildCondBr(c->b, pred, then, join);
  LLVMPositionBuilderAtEnd(c->b, then);
  return (CgIf){join};
}

void cg_end_if(Cg *c, CgIf g) {
  if (!g.join) return;
  LLVMBuildBr(c->b, g.join);
  LLVMPositionBuilderAtEnd(c->b, g.join);
}

// ---- shared memory addresses ----

static LLVMValueRef smem_global(Cg *c) {
  if (!c->smem) {
    c->smem = LLVMAddGlobalInAddressSpace(c->mod, LLVMArrayType2(c->t_i8, 0), "tile_shared", 3);
    LLVMSetLinkage(c->smem, LLVMExternalLinkage);
    LLVMSetAlignment(c->smem, 1024);   // the 128-byte swizzle pattern repeats every 1024 bytes
  }
  return c->smem;
}

static LLVMValueRef smem_base(Cg *c) { return LLVMBuildPtrToInt(c->b, smem_global(c), c->t_i32, ""); }
LLVMValueRef cg_smem_addr(Cg *c, LLVMValueRef offset) { return cg_add(c, smem_base(c), offset); }

LLVMValueRef cg_smem_ptr(Cg *c, LLVMValueRef offset) {
  return is_zero(offset) ? smem_global(c) : LLVMBuildInBoundsGEP2(c->b, c->t_i8, smem_global(c), &offset, 1, "");
}

LLVMValueRef cg_scratch(Cg *c, const Op *op) {
  const Attr *a = op_attr(op, ATTR_OFFSET);
  if (!a) cg_unsupported(c, op, "needs shared scratch but has no offset (run allocate_shared)");
  return cg_i32(c, (uint32_t)a->i);
}
