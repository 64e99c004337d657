// The scratch that the lowering of an op needs, computed from layouts alone: allocate_shared (passes) and the emitters
// (codegen) therefore agree. An op with scratch first writes it; all threads meet at a block barrier that the emitter
// makes (or several, where it says so); the last access is a read. Only a CONVERT_WARP has no barrier. insert_barriers
// orders it against other ops and against itself in a loop.
#ifndef TILE_IR_SCRATCH_H
#define TILE_IR_SCRATCH_H

#include "ir/ir.h"

// CONVERT_WARP goes through shared memory, too, but each warp reads what it wrote itself: warps need not meet.
typedef enum { CONVERT_NONE, CONVERT_REGISTERS, CONVERT_SHUFFLE, CONVERT_WARP, CONVERT_SHARED } ConvertKind;
ConvertKind scratch_convert_kind(const Type *from, const Type *to);
// The swizzled scratch layout of a CONVERT_WARP or CONVERT_SHARED conversion and its vector width (elements).
const Layout *scratch_convert_layout(Context *ctx, const Type *from, const Type *to, uint32_t *vec);
bool scratch_meets_block(const Op *op);   // whether the op with scratch has a block barrier
enum { TENSOR_MAP_BYTES = 128 };
// The bytes of scratch that the op needs (0: none) and their alignment: make_tensor_map, convert_layout, reduce, scan,
// histogram, gather, dot, atomics whose result several threads hold, and roles (roles.h).
uint32_t scratch_op_bytes(Context *ctx, const Op *op, uint32_t *align);

// A conversion within warps by one shuffle for each register. Registers and lanes are bit vectors; j counts rounds:
//   before: lane s permutes its registers, tmp[x] = src[x ^ before(s)]
//   round:  lane l receives tmp[take(j)] of lane from_lane(l) ^ from_round(j)
//   after:  dst[r] = got[r ^ after(l)]
// Each of these maps is linear, and its columns are here. Registers of src and dst have the numbers of their layouts.
typedef struct {
  uint32_t dst_reg_bits, src_reg_bits;
  uint32_t before[5], after[5], from_lane[5];   // by lane bit
  uint32_t take[16], from_round[16];            // by round bit
} ShufflePlan;
bool scratch_shuffle_plan(const Layout *from, const Layout *to, ShufflePlan *plan);
bool scratch_shuffle_stays(const ShufflePlan *p, uint32_t j);   // whether each lane has what it receives in round j
// Narrow elements travel together: register bit dst of the result comes from bit src of the source alone, in the same
// lane, and the permutations leave it as it is. Therefore registers along it fill one 32-bit word.
typedef struct { uint32_t num, dst[2], src[2], dst_mask, src_mask; } ShufflePacking;
ShufflePacking scratch_shuffle_packing(const ShufflePlan *p, uint32_t elem_bits);

// Whether a gather that mirrors (`mirror`) stays within warps: register r of a lane then gets register r ^ *reg of lane
// l ^ *lane.
bool scratch_mirror_place(const Op *op, uint32_t *reg, uint32_t *lane);

// Where the two operands of a dot by multiply-adds lie in its scratch, in bytes and row-major. Those of large dots go
// there in parts of 1 << log2_k along K.
typedef struct { uint32_t a, b, bytes, log2_k; } DotScratch;
DotScratch scratch_dot(const Op *op);

// How a reduction goes: whether the warps exchange partial results through scratch, how many there are for each
// element, and where those of each operand lie (bytes from the start of the scratch).
// Lanes that reduce several rows together may each keep some: where lanes differ in bit b of their number, they
// exchange halves of the rows, which differ in a bit of the operand's registers. keeps[b] is that register bit as a
// mask; 0: both lanes get all rows.
// If andi, ori or xori alone combines predicates, lanes vote (`vote`: that op; otherwise NUM_OPS). If the result is a
// scalar and the op is not xori, the warps vote, too: at a block barrier, without scratch.
typedef struct {
  bool through_shared, lanes_keep, at_barrier;
  Opcode vote;
  uint32_t keeps[5];
  uint32_t num_partials;           // warps along the axis
  const Layout *partial;           // layout of the result after registers and lanes have been folded
  uint32_t offsets[MAX_COMBINED], bytes;   // of each operand
} ReducePlan;
ReducePlan scratch_reduce_plan(Context *ctx, const Op *op);

// Where the warps of a scan exchange the totals of their blocks: by group of warp bits (each of 5 may be one), then
// operand. Returns the bytes; 0 if the axis lies inside warps.
enum { MAX_SCAN_OFFSETS = 5 * MAX_COMBINED };
uint32_t scratch_scan_offsets(const Op *op, uint32_t offsets[MAX_SCAN_OFFSETS]);

// The bytes from one tile of a multi-buffer to the next. TMA reads and writes at multiples of 128: a tile that is
// larger than an mbarrier begins at one.
enum { BARRIER_BYTES = 8, TMA_TILE_ALIGN = 128, SWIZZLE_ALIGN = 1024 };
uint32_t scratch_tile_stride(const Type *t);
uint32_t scratch_tile_bytes(const Type *t);   // of one tile, not rounded up
uint32_t scratch_tile_align(const Type *t);   // of the first byte, unless the alloc asks for more

#endif
