// Addresses of global-memory ops and the vectors that their registers form: for loads, stores, atomics and asynchronous
// copies.
#ifndef TILE_CODEGEN_ADDRESS_H
#define TILE_CODEGEN_ADDRESS_H

#include "codegen/cg.h"

// A pointer or a tensor of pointers, or a scalar base and a tensor of element offsets.
typedef struct {
  const CgValue *ptr, *offset;
  const CgValue *common;   // the part of the offset that several registers share, if it is added first; or NULL
  const Attr *deltas;      // annotate_offsets; or NULL
  const Attr *strides;     // likewise
  LLVMValueRef stride;     // what these multiply
  LLVMValueRef *rows;      // by register, if there are strides: the addresses made so far
  LLVMTypeRef unit;        // an integer as wide as the pointee's storage
  uint32_t elem_bytes;
} Address;

Address address_of(Cg *c, const Op *op);
LLVMValueRef address_reg(Cg *c, Address *a, uint32_t r);

// One machine access: `count` consecutive registers as num_words integers of word_bits, per_word elements each.
typedef struct { uint32_t count, num_words, word_bits, per_word; } AccessShape;
AccessShape access_shape(uint32_t vector, uint32_t elem_bytes);

// Makes the address an operand of an access under construction and returns its text, `[$1]` or `[$1+16]`: a constant
// distance stays in the text. As a part of the operand it would make an address of its own, which LLVM computes before
// a loop and keeps in two machine registers.
const char *access_address(CgAsm *a, LLVMValueRef at);
// Write `.v2.b32 `, and `{$first, …}` or `$first`, to the text of an access under construction.
void access_put_width(CgAsm *a, const AccessShape *s);
void access_put_words(CgAsm *a, uint32_t first, const AccessShape *s);
// Emits `st<modifiers>` of the elements (storage integers), in threads where pred holds (NULL: in all).
void access_store(Cg *c, InsnId id, const char *modifiers, LLVMValueRef at, LLVMValueRef pred,
                  const LLVMValueRef *elems, const AccessShape *s);

#endif
