// Shared-memory scratch that an op's lowering needs, computed from layouts alone, so that allocate_shared (passes) and
// the emitters (codegen) agree. An op with scratch first writes it, then all threads meet at a barrier that the emitter
// makes (several times where it says so), and its last access is a read; ordering against other ops, and against itself
// in a loop, is insert_barriers' work.
#ifndef TILE_IR_SCRATCH_H
#define TILE_IR_SCRATCH_H

#include "ir/ir.h"

typedef enum { CONVERT_NONE, CONVERT_REGISTERS, CONVERT_SHUFFLE, CONVERT_SHARED } ConvertKind;
ConvertKind convert_kind(Context *ctx, const Type *from, const Type *to);
// The swizzled scratch layout of a CONVERT_SHARED conversion and its vector widths (elements) for store and load.
const Layout *convert_scratch_layout(Context *ctx, const Type *from, const Type *to, uint32_t *store_vec,
                                     uint32_t *load_vec);
enum { TENSOR_MAP_BYTES = 128 };
// Bytes of scratch the op needs (0: none) and its alignment: make_tensor_map, convert_layout, reduce, scan, histogram,
// gather, dot, atomics whose result several threads hold.
uint32_t op_scratch_bytes(Context *ctx, const Op *op, uint32_t num_warps, uint32_t *align);

// A conversion within warps by one shuffle per register. Registers and lanes as bit vectors, rounds j:
//   before: registers of lane s are permuted, tmp[x] = src[x ^ before(s)]
//   round:  lane l receives tmp[take(j)] of lane from_lane(l) ^ from_round(j)
//   after:  dst[r] = got[r ^ after(l)]
// Each of the maps is linear, given by its columns. Registers of src and dst are numbered as in their layouts.
typedef struct {
  uint32_t dst_reg_bits, src_reg_bits;
  uint32_t before[5], after[5], from_lane[5];   // by lane bit
  uint32_t take[16], from_round[16];            // by round bit
} ShufflePlan;
bool convert_shuffle_plan(const Layout *from, const Layout *to, ShufflePlan *plan);

// Where the two operands of a multiply-add dot lie in its scratch (bytes), row-major.
typedef struct { uint32_t a, b, bytes; } DotScratch;
DotScratch dot_scratch(const Op *op);

// How a reduction goes: whether the warps exchange partial results through scratch, how many partial results there are
// per element, and the partial results of each operand (bytes from the scratch's start).
typedef struct {
  bool through_shared;
  uint32_t num_partials;           // warps along the axis
  const Layout *partial;           // layout of the result after registers and lanes are folded
  uint32_t offsets[MAX_COMBINED], bytes;   // of each operand
} ReducePlan;
ReducePlan reduce_plan(Context *ctx, const Op *op);

// Where a scan's warps exchange the totals of their blocks: by group of warp bits (each of 5 may be one), then operand.
// Returns bytes; 0: the axis is inside warps.
enum { MAX_SCAN_OFFSETS = 5 * MAX_COMBINED };
uint32_t scan_scratch_offsets(const Op *op, uint32_t offsets[MAX_SCAN_OFFSETS]);

// Bytes from one tile of a multi-buffer to the next. TMA reads and writes at multiples of 128, so a tile that is more
// than a barrier begins at one.
enum { BARRIER_BYTES = 8, TMA_TILE_ALIGN = 128 };
uint32_t buffer_tile_stride(const Type *t);
uint32_t buffer_tile_bytes(const Type *t);   // of one tile, without what it is rounded up to

#endif
