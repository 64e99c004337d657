// Addresses and shapes of global-memory accesses.
#include "codegen/address.h"

#include "ir/loop.h"

// The bits of a register's number, among `bits`, by which the value differs.
static uint32_t varying_bits(const CgValue *v, uint32_t bits) {
  uint32_t varying = 0;
  for (uint32_t r = 0; !v->splat && r < v->count; r++)
    for (uint32_t rest = r & bits; rest; rest &= rest - 1)
      if (v->v[r] != v->v[r & ~(rest & -rest)]) varying |= rest & -rest;
  return varying;
}

// The bits of a register's number for which the attribute has an entry.
static uint32_t known_bits(const Attr *entries) {
  uint32_t bits = 0;
  for (uint32_t b = 0; entries && b < entries->num_ints; b++)
    if (entries->ints[b]) bits |= 1u << b;
  return bits;
}

// A summand of an offset of 64 bits, as narrow as it was computed.
static const CgValue *summand(const Op *sum, uint32_t i) {
  const Value *v = op_operand(sum, i), *narrow = value_op(v, OP_EXTSI) ? op_operand(v->def, 0) : v;
  return cg_get(narrow);
}

// Whether the offset and its summands are computed in the innermost loop of the access. What is computed before a loop,
// LLVM adds to the base there.
static bool in_same_loop(const Op *op, const Value *offset) {
  const Op *loop = loop_around(op);
  return !loop || !(value_defined_outside(offset, loop) || value_defined_outside(op_operand(offset->def, 0), loop) ||
                    value_defined_outside(op_operand(offset->def, 1), loop));
}

// Takes the two summands of an offset of 64 bits apart if one of them serves several addresses. That one is added to
// the base once. What is left is an instruction and, mostly, one machine register for each address: the sums would be
// four instructions and two registers each, often held from the loads to the stores.
static void split_sum(Address *a, const Op *op, Value *offset) {
  if (!value_op(offset, OP_ADDI) || type_elem_bits(offset->type) < 64 || !a->ptr->splat) return;
  const CgValue *x = summand(offset->def, 0), *y = summand(offset->def, 1);
  // Bits of a register's number that change the address: those above a vector's, unless the distance is a constant.
  uint32_t computed = a->offset->count - (uint32_t)op_int(op, ATTR_COPY, op_int(op, ATTR_VECTOR, 1));
  computed &= ~(known_bits(a->deltas) | known_bits(a->strides));
  const uint32_t by_x = varying_bits(x, computed), by_y = varying_bits(y, computed);
  const bool swap = __builtin_popcount(by_x) > __builtin_popcount(by_y);
  const Value *own = op_operand(offset->def, !swap);
  if (!((swap ? by_x : by_y) & ~(swap ? by_y : by_x)) || !value_op(own, OP_EXTSI) || !in_same_loop(op, offset)) return;
  a->common = swap ? y : x;
  a->offset = swap ? x : y;
}

Address address_of(Cg *c, const Op *op) {
  Value *ptr = op_named(op, OPERAND_PTR), *offset = op_named(op, OPERAND_OFFSET);
  Address a = {.ptr = cg_get(ptr), .offset = offset ? cg_get(offset) : NULL, .deltas = op_attr(op, ATTR_DELTAS)};
  const Op *strided = value_op(offset, OP_STRIDED);
  if (strided) {
    a.strides = op_attr(strided, ATTR_STRIDES);
    a.stride = cg_scalar(op_operand(strided, 1));
    a.rows = arena_array(c->arena, LLVMValueRef, a.offset->count);
    offset = op_operand(strided, 0);
  }
  a.elem_bytes = type_elem_bytes(type_elem(ptr->type)->elem);
  a.unit = LLVMIntTypeInContext(c->ll, a.elem_bytes * 8);
  if (offset) split_sum(&a, op, offset);
  return a;
}

static LLVMValueRef add_offset(Cg *c, const Address *a, LLVMValueRef base, const CgValue *offset, uint32_t r) {
  LLVMValueRef distance = LLVMBuildIntCast2(c->b, cg_reg(offset, r), c->t_i64, true, "");
  return LLVMBuildGEP2(c->b, a->unit, base, &distance, 1, "");
}

static LLVMValueRef computed_address(Cg *c, const Address *a, uint32_t r) {
  LLVMValueRef base = cg_reg(a->ptr, r);
  if (a->common) base = add_offset(c, a, base, a->common, r);
  return a->offset ? add_offset(c, a, base, a->offset, r) : base;
}

// The address of a register, given those of rows before it. Each row is added to the one that lacks the lowest bit of
// its number: two instructions, and no register that the loop around them holds.
static LLVMValueRef row_address(Cg *c, Address *a, uint32_t r) {
  if (!a->rows) return computed_address(c, a, r);
  const uint32_t bits = r & known_bits(a->strides), low = bits & -bits;
  if (a->rows[r]) return a->rows[r];
  if (!bits) return a->rows[r] = computed_address(c, a, r);
  const LLVMValueRef before = row_address(c, a, r & ~low);
  const uint64_t factor = (uint64_t)(a->strides->ints[__builtin_ctz(low)] * a->elem_bytes);
  return a->rows[r] = cg_insn(c, INSN_ADD_PRODUCT, LLVMTypeOf(before),
                              (LLVMValueRef[]){a->stride, cg_int(c->t_i32, factor), before}, 3);
}

LLVMValueRef address_reg(Cg *c, Address *a, uint32_t r) {
  const uint32_t constant = r & known_bits(a->deltas);
  int64_t bytes = 0;
  for (uint32_t bits = constant; bits; bits &= bits - 1) bytes += a->deltas->ints[__builtin_ctz(bits)];
  LLVMValueRef at = row_address(c, a, r & ~constant), distance = cg_int(c->t_i64, (uint64_t)bytes);
  return bytes ? LLVMBuildGEP2(c->b, c->t_i8, at, &distance, 1, "") : at;
}

const char *access_address(CgAsm *a, LLVMValueRef at) {
  Cg *c = a->c;
  const bool is_near = LLVMIsAGetElementPtrInst(at) && LLVMGetGEPSourceElementType(at) == c->t_i8 &&
                       LLVMGetNumOperands(at) == 2 && LLVMIsAConstantInt(LLVMGetOperand(at, 1));
  const int64_t bytes = is_near ? LLVMConstIntGetSExtValue(LLVMGetOperand(at, 1)) : 0;
  const uint32_t base = cg_asm_arg(a, is_near ? LLVMGetOperand(at, 0) : at);
  return bytes ? arena_printf(c->arena, "[$%u+%lld]", base, (long long)bytes) : arena_printf(c->arena, "[$%u]", base);
}

AccessShape access_shape(uint32_t vector, uint32_t elem_bytes) {
  uint32_t count = vector ? vector : 1;
  while (count * elem_bytes > 16) count /= 2;
  uint32_t bytes = count * elem_bytes, word = elem_bytes == 8 ? 8 : bytes < 4 ? bytes : 4;
  return (AccessShape){count, bytes / word, word * 8, word / elem_bytes};
}

void access_put_words(CgAsm *a, uint32_t first, const AccessShape *s) {
  bool is_vector = s->num_words > 1;
  cg_asm_list(a, is_vector ? "{" : "", first, s->num_words, is_vector ? "}" : "");
}

void access_put_width(CgAsm *a, const AccessShape *s) {
  if (s->num_words > 1) buf_printf(&a->text, ".v%u", s->num_words);
  buf_printf(&a->text, ".b%u ", s->word_bits);
}

void access_store(Cg *c, InsnId id, const char *modifiers, LLVMValueRef at, LLVMValueRef pred,
                  const LLVMValueRef *elems, const AccessShape *s) {
  CgAsm a = cg_asm_new(c);
  const char *place = access_address(&a, at);
  for (uint32_t i = 0; i < s->num_words; i++)
    cg_asm_arg(&a, cg_pack(c, elems + i * s->per_word, s->per_word, s->word_bits / s->per_word));
  if (pred) buf_printf(&a.text, "@$%u ", cg_asm_arg(&a, pred));
  buf_printf(&a.text, "st%s", modifiers);
  access_put_width(&a, s);
  buf_printf(&a.text, "%s, ", place);
  access_put_words(&a, 1, s);
  buf_puts(&a.text, ";");
  cg_asm_call(&a, id);
}
