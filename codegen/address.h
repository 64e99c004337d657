// Addresses of global-memory ops and the vectors that their registers form. Shared by loads, stores, atomics and
// asynchronous copies.
#ifndef TILE_CODEGEN_ADDRESS_H
#define TILE_CODEGEN_ADDRESS_H

#include "codegen/cg.h"

// `ptr` alone (scalar or tensor of pointers), or a scalar base and a tensor of element offsets.
typedef struct {
  const CgValue *ptr, *offset;
  LLVMTypeRef unit;        // an integer as wide as the pointee's storage
  uint32_t elem_bytes;
} Address;

Address address_of(Cg *c, Value *ptr, Value *offset);
LLVMValueRef address_reg(Cg *c, const Address *a, uint32_t r);

// One machine access: `count` elements from register `first` on, as num_words integers of word_bits.
typedef struct { uint32_t count, num_words, word_bits, per_word; } AccessShape;
AccessShape memory_access_shape(uint32_t vector, uint32_t elem_bytes);

// Operand list of an inline-assembly access under construction.
typedef struct { char text[512], constraints[256]; LLVMValueRef args[32]; unsigned num_args; } AsmAccess;
const char *asm_reg_class(uint32_t bits);
// `{$k, $k+1, …}` or `$k`.
void asm_operand_list(char *out, size_t size, uint32_t first, uint32_t n);

#endif
