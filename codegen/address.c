// Addresses and shapes of global-memory accesses.
#include "codegen/address.h"

Address address_of(Cg *c, const Op *op, Value *ptr, Value *offset) {
  Address a = {.ptr = cg_get(ptr), .offset = offset ? cg_get(offset) : NULL, .deltas = op_attr(op, ATTR_DELTAS)};
  a.elem_bytes = type_elem_bytes(type_elem(ptr->type)->elem);
  a.unit = LLVMIntTypeInContext(c->ll, a.elem_bytes * 8);
  return a;
}

static LLVMValueRef computed_address(Cg *c, const Address *a, uint32_t r) {
  LLVMValueRef base = cg_reg(a->ptr, r);
  if (!a->offset) return base;
  LLVMValueRef offset = LLVMBuildIntCast2(c->b, cg_reg(a->offset, r), c->t_i64, true, "");
  return LLVMBuildGEP2(c->b, a->unit, base, &offset, 1, "");
}

LLVMValueRef address_reg(Cg *c, const Address *a, uint32_t r) {
  int64_t bytes = 0;
  uint32_t rest = r;
  for (uint32_t b = 0; a->deltas && b < a->deltas->num_ints; b++)
    if ((r >> b & 1) && a->deltas->ints[b]) rest &= ~(1u << b), bytes += a->deltas->ints[b];
  LLVMValueRef at = computed_address(c, a, rest), distance = cg_int(c->t_i64, (uint64_t)bytes);
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
