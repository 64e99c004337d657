// What the lowering of wgmma is made of: descriptors of operands in shared memory (wgmma_descriptor.c), accumulators
// (wgmma_acc.c) and waits (wgmma_wait.c).
#ifndef TILE_CODEGEN_WGMMA_H
#define TILE_CODEGEN_WGMMA_H

#include "codegen/cg.h"
#include "ir/wgmma_tile.h"

// ---- descriptors ----

// An operand in shared memory.
typedef struct {
  LLVMValueRef base;       // i64: the descriptor of the tile's start
  LLVMValueRef warpgroup;  // i64: what the warpgroup adds to it
  uint32_t k_axis;         // of the buffer
  WgmmaTile tile;
} WgmmaDescriptor;

// outer: the elements along M or N that one instruction reads.
WgmmaDescriptor wgmma_descriptor_make(Cg *c, const Op *op, Value *buf, uint32_t k_axis, uint32_t outer);
static inline bool wgmma_is_k_major(const WgmmaDescriptor *d) { return d->tile.fast == d->k_axis; }
// Finds the part of the operand that the warpgroup reads: along the rows of the accumulator's layout, or its columns.
void wgmma_descriptor_split(Cg *c, WgmmaDescriptor *d, const Layout *acc, bool rows, LLVMValueRef warp);
// i64: the descriptor that begins at element (outer, k); outer along M or N.
LLVMValueRef wgmma_descriptor_at(Cg *c, const WgmmaDescriptor *d, uint32_t outer, uint32_t k);

// ---- accumulators ----
// An instruction takes accumulators as words: an f32 or i32 each, or an i32 of two f16.

LLVMTypeRef wgmma_word_type(Cg *c, const Type *acc);
uint32_t wgmma_num_words(const Type *acc, uint32_t regs);   // that hold so many registers
LLVMValueRef *wgmma_acc_to_words(Cg *c, const Type *t, const CgValue *v);
CgValue *wgmma_acc_from_words(Cg *c, const Type *t, const LLVMValueRef *words);
// Gives each word a register of its own, by way of an empty assembly. The copies that LLVM needs, because a word is a
// constant, occurs twice or is used again, come before it.
void wgmma_tie(Cg *c, LLVMValueRef *words, uint32_t n);
// Waits until at most `pending` groups are in flight. The words become valid.
void wgmma_wait(Cg *c, uint32_t pending, LLVMValueRef *words, uint32_t n);

// Whether the code before the wait, back to the dots in flight, takes longer than these.
bool wgmma_wait_follows_work(const Op *wait);

// Pins carried value i of a loop: what stands for it in the loop, or NULL if it stays a value. The builder is before
// the loop.
CgValue *wgmma_pin(Cg *c, const Op *loop, uint32_t i);
// What stands for the result of a pinned value. The builder is after the loop.
CgValue *wgmma_pinned_result(Cg *c, const Op *loop, uint32_t i, CgValue *pinned);

#endif
