// Shared-memory scratch that an op's lowering needs, computed from layouts alone, so that allocate_shared (passes) and
// the emitters (codegen) agree. Also the order of a reduction, which codegen and the interpreter must share.
#ifndef TILE_IR_SCRATCH_H
#define TILE_IR_SCRATCH_H

#include "ir/ir.h"

typedef enum { CONVERT_NONE, CONVERT_REGISTERS, CONVERT_SHUFFLE, CONVERT_SHARED } ConvertKind;
ConvertKind convert_kind(Context *ctx, const Type *from, const Type *to);
// The swizzled scratch layout of a CONVERT_SHARED conversion and its vector widths (elements) for store and load.
const Layout *convert_scratch_layout(Context *ctx, const Type *from, const Type *to, uint32_t *store_vec, uint32_t *load_vec);
// Bytes of scratch the op needs (0: none) and its alignment: convert_layout, reduce, scan, histogram, gather, atomics
// with a scalar result, map…
uint32_t op_scratch_bytes(Context *ctx, const Op *op, uint32_t num_warps, uint32_t *align);

#endif
