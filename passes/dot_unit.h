// Which hardware computes a dot on the module's target.
#ifndef TILE_PASSES_DOT_UNIT_H
#define TILE_PASSES_DOT_UNIT_H

#include "ir/ir.h"

typedef enum { DOT_FMA, DOT_MMA, DOT_WGMMA } DotUnit;

// Sets *bits to those of an operand element as the tensor core reads it; 0 of DOT_FMA.
DotUnit dot_unit(const Module *m, const Op *dot, uint32_t *bits);
// Why it is not the next better unit, in words; NULL: there is none on the target.
const char *dot_unit_why(const Module *m, const Op *dot);

// The tile of which the operand v is stored: v, or what it is the transpose of, in any layout.
Value *dot_stored_tile(Value *v);
// The tile that v repeats: what is broadcast, and maybe reshaped, or NULL. Programs repeat rows to fill an mma.
Value *dot_repeated_tile(Value *v);
// The bytes of shared memory of a block that leave an SM as many blocks as registers do, if threads need all that they
// can have.
int64_t dot_room(const Module *m);
// Whether the operands of all dots by mma of the block have room beside each other. Each is stored once.
bool dot_operands_fit(const Module *m, const Block *b);

// Elements of an operand that are consecutive along K in a thread.
static inline uint32_t dot_k_width(uint32_t bits) { return bits < 32 ? 32 / bits : 1; }

#endif
