// Constant folding and the scalar meaning of ops, shared by canonicalize, the builder and the interpreter.
#ifndef TILE_IR_FOLD_H
#define TILE_IR_FOLD_H

#include "ir/build.h"
#include "ir/num.h"

// The number format of a floating-point scalar type.
NumFormat scalar_num_format(ScalarKind k);

bool eval_is_scalar_op(Opcode oc);   // marked SCALAR in ops.def
// The meaning of a SCALAR op on one element: bits in, bits out. in_types are element types. Never traps.
uint64_t eval_scalar(const Op *op, const Type *const *in_types, const Type *out_type, const uint64_t *in);
// The value op would give, when it can be had without op: a constant (made before op), or an operand. NULL otherwise.
Value *fold_op(Builder *b, Op *op);

#endif
