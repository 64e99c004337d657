// The registers of an inline_asm op and the constraints that name them, as LLVM writes them: results first, then
// arguments, separated by commas, then what is clobbered. The front end refuses constraints and texts that do not fit
// with the messages below; codegen relies on that.
#ifndef TILE_IR_INLINE_ASM_H
#define TILE_IR_INLINE_ASM_H

#include "ir/ir.h"

// How many elements of type t one machine register holds: narrow ones are packed to 32 bits, at most `pack` of them.
uint32_t inline_asm_per_register(const Type *t, uint32_t pack);
// The registers of one piece of assembly, in the order of the constraints. letters[i]: h 16 bits, r 32, l 64, f f32, d
// f64, b predicate; n and i: no register, but a constant integer in the text.
typedef struct { uint32_t num_results, num_args; char *letters; } AsmRegisters;
static inline bool inline_asm_is_number(char letter) { return letter == 'n' || letter == 'i'; }
// NULL if the constraints fit the op, or what is wrong with them.
const char *inline_asm_registers(Context *ctx, const Op *op, AsmRegisters *out);
// Constraints that fit the op, as "=r,r,r".
const char *inline_asm_fitting(Context *ctx, const Op *op);
// NULL if every `$` of the op's text has a meaning, or what is wrong with the first that has none.
const char *inline_asm_check_text(Context *ctx, const Op *op, const AsmRegisters *r);

#endif
