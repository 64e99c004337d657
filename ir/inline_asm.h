// The registers of an inline_asm op and the constraints that name them, as LLVM writes them: results first, then
// arguments, separated by commas, then what is clobbered. The frontend refuses what does not fit with its message;
// codegen counts on it.
#ifndef TILE_IR_INLINE_ASM_H
#define TILE_IR_INLINE_ASM_H

#include "ir/ir.h"

// Elements of type t in one machine register: narrow ones are packed to 32 bits, as far as `pack` gives elements.
uint32_t inline_asm_per_register(const Type *t, uint32_t pack);
// The registers of one piece of assembly, in the order of the constraints. letters[i]: h 16 bits, r 32, l 64, f f32, d
// f64, b predicate.
typedef struct { uint32_t num_results, num_args; char *letters; } AsmRegisters;
// NULL when the constraints fit the op; else why not.
const char *inline_asm_registers(Context *ctx, const Op *op, AsmRegisters *out);

#endif
