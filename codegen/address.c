// Addresses and shapes of global-memory accesses.
#include "codegen/address.h"

#include <stdio.h>

Address address_of(Cg *c, Value *ptr, Value *offset) {
  Address a = {.ptr = cg_get(ptr), .offset = offset ? cg_get(offset) : NULL};
  a.elem_bytes = type_elem_bytes(type_elem(ptr->type)->elem);
  a.unit = LLVMIntTypeInContext(c->ll, a.elem_bytes * 8);
  return a;
}

LLVMValueRef address_reg(Cg *c, const Address *a, uint32_t r) {
  LLVMValueRef base = cg_reg(a->ptr, r);
  if (!a->offset) return base;
  LLVMValueRef offset = LLVMBuildIntCast2(c->b, cg_reg(a->offset, r), c->t_i64, true, "");
  return LLVMBuildGEP2(c->b, a->unit, base, &offset, 1, "");
}

AccessShape memory_access_shape(uint32_t vector, uint32_t elem_bytes) {
  uint32_t count = vector ? vector : 1;
  while (count * elem_bytes > 16) count /= 2;
  uint32_t bytes = count * elem_bytes, word = elem_bytes == 8 ? 8 : bytes < 4 ? bytes : 4;
  return (AccessShape){count, bytes / word, word * 8, word / elem_bytes};
}

const char *asm_reg_class(uint32_t bits) { return bits == 64 ? "l" : bits == 32 ? "r" : "h"; }

void asm_operand_list(char *out, size_t size, uint32_t first, uint32_t n) {
  if (n == 1) {
    snprintf(out, size, "$%u", first);
    return;
  }
  size_t at = (size_t)snprintf(out, size, "{");
  for (uint32_t i = 0; i < n; i++) at += (size_t)snprintf(out + at, size - at, "%s$%u", i ? ", " : "", first + i);
  snprintf(out + at, size - at, "}");
}
