// Layouts: which register of which thread, or which place in shared memory, holds which element of a tensor.
//
// The idea. Number the places that hold a tensor: register r of lane l of warp w has the bits of r, l and w; a place in
// a shared-memory tile has the bits of its offset. Number the elements by their flat row-major index. All sizes are
// powers of two, and every layout in use (blocked, tensor-core fragments, swizzled tiles) is *linear* in those bits:
//   element(a ^ b) = element(a) ^ element(b).
// The images of the single bits therefore define a layout: one 32-bit column for each bit of the place. The image of a
// place is the xor of the columns at its set bits.
//
// Example: a 4×4 tensor, two registers, four lanes, two warps. Columns: reg = [1], lane = [2, 4], warp = [8].
//   flat index      held by (warp, lane, register)
//    0  1  2  3      w0 l0 r0   w0 l0 r1   w0 l1 r0   w0 l1 r1      a row of 4 is 2 lanes of 2 registers
//    4  5  6  7      w0 l2 r0   w0 l2 r1   w0 l3 r0   w0 l3 r1      lane bit 1 steps down one row  (4)
//    8  9 10 11      w1 l0 r0   …                                   the warp bit steps down two    (8)
//   12 13 14 15      w1 l2 r0   …
// Register 1 of lane 3 (binary 11) of warp 1 holds element 1 ^ (2 ^ 4) ^ 8 = 15. The bits of a flat index split into
// axes: here the two low bits are the column (the last axis) and the two high bits the row.
//
// The map goes from places to elements because several places may hold one element, but a place holds one element only.
// A column that is zero, or the xor of others, is such a duplicate: the bit makes no difference.
//
// What the columns show:
//   reshape      nothing changes: flat indices stay as they are
//   transpose    permutes the bits of each column
//   reduce/slice strikes the bits of an axis from each column; a column that becomes zero is a duplicate
//   vectors      registers whose columns are 1, 2, 4… hold consecutive elements
//   conversion   maps a place of dst to its element and that to a place of src (the right inverse of src after dst).
//                The place bits that this map touches say whether data stays in the thread, stays in the warp, or
//                goes through shared memory
//   broadcast    has zero columns; only places with those bits clear need to store
//
//       place bits                               flat index bits
//   ┌─────┬──────┬──────┬───────┐   columns    ┌─────────┬─────────┐
//   │ reg │ lane │ warp │ block │  ─────────►  │ axis 0  │ axis 1  │   low bits: last axis
//   └─────┴──────┴──────┴───────┘              └─────────┴─────────┘
//   Shared memory has {offset, block} in place of {reg, lane, warp, block}; offsets count elements.
//
// Layouts are interned: equal layouts are equal pointers. "Blocked", "mma" … are constructors (layout_make_*), not
// kinds: a pass that looks for an mma layout makes the canonical one and compares pointers.
//
// Two features of a shared layout are not linear.
// Padding: for each pad, every whole interval below offset o adds `by` elements to the address of o.
// Slices: a slice that cuts through a swizzle keeps the layout of the whole tile, which is larger than the slice. The
// buffer's value then has the offset of the slice's start, which is xored with the offset of each element. `moved` has
// the bits that this start may have.
#ifndef TILE_IR_LAYOUT_H
#define TILE_IR_LAYOUT_H

#include "ir/buf.h"
#include "ir/context.h"

enum { LAYOUT_MAX_RANK = 16, LAYOUT_MAX_BITS = 32, LAYOUT_MAX_PADS = 4 };
typedef enum { LAYOUT_DISTRIBUTED, LAYOUT_SHARED } LayoutKind;
// Groups of place bits. A shared layout has its offset in slot 0.
typedef enum { LAYOUT_REG, LAYOUT_LANE, LAYOUT_WARP, LAYOUT_BLOCK, LAYOUT_DIMS, LAYOUT_OFFSET = 0 } LayoutDim;

typedef struct Layout {
  uint8_t kind;                        // LayoutKind
  uint8_t rank;
  uint8_t log2_size[LAYOUT_MAX_RANK];  // of each axis, slowest first
  uint8_t num_bits[LAYOUT_DIMS];       // reg, lane, warp, block
  uint32_t basis[LAYOUT_MAX_BITS];     // the columns, reg bits first; unused ones are zero
  uint8_t num_pads;                    // of a shared layout
  struct { uint8_t interval, by; } pad[LAYOUT_MAX_PADS];   // log2 of elements
  uint32_t moved;                      // bits of the offset
} Layout;

// The one copy of *l, whose columns must fit the tensor. All other functions take and give interned layouts.
const Layout *layout_intern(Context *ctx, const Layout *l);

// ---- queries ----
uint32_t layout_total_bits(const Layout *l);                       // of a place
uint32_t layout_tensor_bits(const Layout *l);                      // of a flat index
uint32_t layout_dim_start(const Layout *l, LayoutDim dim);         // number of the group's first column
uint32_t layout_basis(const Layout *l, LayoutDim dim, uint32_t bit);   // the column of one place bit
uint32_t layout_axis_shift(const Layout *l, uint32_t axis);        // lowest flat-index bit of the axis
uint32_t layout_axis_mask(const Layout *l, uint32_t axis);         // all flat-index bits of the axis
uint32_t layout_apply(const Layout *l, uint32_t reg, uint32_t lane, uint32_t warp, uint32_t block);
uint32_t layout_apply_bits(const Layout *l, uint32_t place);       // of a packed place: all groups, reg lowest
uint32_t layout_pack(const Layout *l, uint32_t reg, uint32_t lane, uint32_t warp, uint32_t block);
uint32_t layout_part(const Layout *l, uint32_t place, LayoutDim dim);   // one group of a packed place
uint32_t layout_rank(const Layout *l);                             // of the map, in bits
bool layout_is_surjective(const Layout *l);                        // some place holds each element
uint32_t layout_regs_per_thread(const Layout *l);
uint32_t layout_size_bytes(const Layout *l, uint32_t elem_bits);   // of a shared tile in one block; i1 takes a byte
uint32_t layout_address(const Layout *l, uint32_t offset);         // in a shared tile with its paddings, in elements
// The number n of lowest offset bits that neither paddings nor the start of a slice touch: an aligned vector of at most
// 2^n elements is contiguous.
uint32_t layout_whole_bits(const Layout *l);

// The bits of dim (bit i = place bit i of that group) whose columns are zero or depend on earlier columns, in the order
// reg, lane, warp, block. If such a bit of a place is set, the place with that bit clear (and others set accordingly)
// holds the same data: of all places of an element, exactly one has all free lane, warp and block bits clear. It owns
// the element.
uint32_t layout_free_bits(const Layout *l, LayoutDim dim);
// How many consecutive registers, from 0, hold consecutive indices along `axis` in every thread, aligned.
uint32_t layout_contiguity(const Layout *l, uint32_t axis);
// As layout_contiguity, with any register bits: bits[i] is the register bit that steps the axis by 2^i. Returns how
// many such bits there are.
uint32_t layout_vector_bits(const Layout *l, uint32_t axis, uint8_t bits[LAYOUT_MAX_BITS]);

// ---- conversion maps ----
// A linear map from places of one layout to places of another. col[i] is a packed place.
typedef struct { uint8_t in_bits[LAYOUT_DIMS], out_bits[LAYOUT_DIMS]; uint32_t col[LAYOUT_MAX_BITS]; } LayoutMap;
uint32_t layoutmap_apply(const LayoutMap *m, uint32_t place);
uint32_t layoutmap_out(const LayoutMap *m, uint32_t packed, LayoutDim dim);   // one group of a packed output
// Maps each place of dst to a place of src that holds the same element. It is the same place where that holds the
// element, and duplicated data then does not move. False if src does not hold all elements of dst.
bool layout_invert_and_compose(const Layout *dst, const Layout *src, LayoutMap *out);
// The map from the places of a tensor to those of a shared tile. The tile may be a slice that has a larger layout.
bool layout_to_shared(const Layout *l, const Layout *shared, LayoutMap *out);
// A place for each flat index bit: the right inverse with the fewest and earliest columns. False if not surjective.
bool layout_right_inverse(const Layout *l, uint32_t places[LAYOUT_MAX_BITS]);
// What of a place a map may change: nothing, the register, also the lane, also the warp, also the block.
typedef enum { MOVE_NOTHING, MOVE_REGISTERS, MOVE_LANES, MOVE_WARPS, MOVE_BLOCKS } LayoutMove;
LayoutMove layoutmap_move(const LayoutMap *m);

// ---- shape operations: the layout of the result, from that of the operand ----
const Layout *layout_reshape(Context *ctx, const Layout *l, uint32_t rank, const int64_t *shape);
const Layout *layout_transpose(Context *ctx, const Layout *l, const int64_t *order);   // axis i was axis order[i]
// Without the axis; keeps zero columns.
const Layout *layout_slice(Context *ctx, const Layout *l, uint32_t axis);
const Layout *layout_expand_dims(Context *ctx, const Layout *l, uint32_t axis);   // with a new axis of size 1
// Of a broadcast's operand: axis of size 1.
const Layout *layout_project(Context *ctx, const Layout *l, uint32_t axis);
// With the axis, of size 1, stretched to `size`: new registers, above the others, step along it.
const Layout *layout_stretch(Context *ctx, const Layout *l, uint32_t axis, int64_t size);
const Layout *layout_join(Context *ctx, const Layout *l);    // a new last axis of 2 in the lowest register bit
const Layout *layout_split(Context *ctx, const Layout *l);   // inverse of join; NULL if it is not one register bit
const Layout *layout_drop_zero_regs(Context *ctx, const Layout *l);   // without zero register columns

// The layout of one block's part: without the block bits and the tensor bits that they choose. NULL unless each block
// bit chooses exactly one tensor bit, or none.
const Layout *layout_block_part(Context *ctx, const Layout *l);

// ---- text ----
// layout<128x64, reg = [1, 2], lane = [4, 8, 16, 32, 64], warp = [128]> or shared<128x64, offset = […]>; the latter
// also with `pad = [interval, by, …]` and `moved = [bit, …]`
void layout_print(Buf *out, const Layout *l);

// ---- layout_make.c ----
// Shapes are rounded up to powers of two. Sizes per thread, warp and block are powers of two. order[0] is the fastest
// axis.

// A tile of size_per_thread × threads_per_warp × warps_per_block, fastest axis first. A larger tensor repeats the
// tile in registers. Where the tensor is smaller, threads hold duplicates, but no thread holds an element twice.
const Layout *layout_make_blocked(Context *ctx, uint32_t rank, const int64_t *shape, const uint32_t *size_per_thread,
                                  const uint32_t *threads_per_warp, const uint32_t *warps_per_block,
                                  const uint32_t *order);
// The parent without the axis and without duplicates in registers: what a reduction leaves and expand_dims undoes.
const Layout *layout_make_slice(Context *ctx, const Layout *parent, uint32_t axis);

// Tensor cores. The last two axes are M and N; an axis before them is the batch.
typedef struct {
  uint32_t rank;
  uint32_t warps[LAYOUT_MAX_RANK];   // along each axis
  bool warps_m_first;      // wgmma: warp bit 0 steps along M, which needs at least 4 warps; mma.sync: along N
  uint32_t instr_n;        // columns of one instruction: 8 for mma.sync, 8…256 for wgmma
  bool k_pairs;            // operands of 32-bit elements: a thread has pairs of K, as it has pairs of accumulators
} MmaShape;
// The accumulator, in fragments of m16n8.
const Layout *layout_make_mma_acc(Context *ctx, const int64_t *shape, const MmaShape *mma);
const Layout *layout_make_wgmma_acc(Context *ctx, const int64_t *shape, uint32_t warps_m, uint32_t warps_n,
                                    uint32_t instr_n);
// Register operand 0 (M×K) or 1 (K×N) of a dot whose accumulator is layout_make_mma_acc(mma). k_width is the number
// of consecutive k-elements in one 32-bit register: 32 / element bits, unless operands are converted after loading.
const Layout *layout_make_mma_operand(Context *ctx, uint32_t op_index, const int64_t *shape, const MmaShape *mma,
                                      uint32_t k_width);

// Shared memory. Plain: row after row.
const Layout *layout_make_shared_plain(Context *ctx, uint32_t rank, const int64_t *shape, const uint32_t *order);
// Plain tiles of `chunk` elements along order[0], one after another.
const Layout *layout_make_shared_chunked(Context *ctx, uint32_t rank, const int64_t *shape, uint32_t chunk,
                                         const uint32_t *order);
// Tiles as TMA writes and wgmma reads them: chunks of `swizzle_bytes` (0: 16 bytes, unswizzled core matrices) along
// order[0], chunk after chunk; in a chunk one row after another (order[1], …). The 16-byte units are xored by the
// row: on byte addresses 128: bits[6:4] ^= bits[9:7], 64: bits[5:4] ^= bits[8:7], 32: bit 4 ^= bit 7. NULL if order[0]
// is narrower than a chunk.
const Layout *layout_make_shared_swizzled(Context *ctx, uint32_t rank, const int64_t *shape, uint32_t elem_bits,
                                          uint32_t swizzle_bytes, const uint32_t *order);
// The scratch tile through which src becomes dst. What both keep in registers together is stored and loaded as vectors
// (*log2_vec elements, at most 16 bytes); one side may have longer ones, if all accesses together take less time. The
// rest is swizzled so that neither side has bank conflicts, if that is possible.
const Layout *layout_make_shared_for_conversion(Context *ctx, const Layout *src, const Layout *dst, uint32_t elem_bits,
                                                uint32_t *log2_vec);
// The same for 16-bit elements that one side, with `fragments`, moves by ldmatrix or stmatrix (transposed: with
// .trans), and the other by vectors of 16 bytes. Each vector is a row of a matrix. NULL if the layouts are not of that
// form.
const Layout *layout_make_shared_for_matrices(Context *ctx, const Layout *fragments, const Layout *vectors,
                                              bool transposed);
// Wavefronts that one warp needs to access `shared` from `distributed` with vectors of `vec` elements; an access
// without conflicts takes max(1, vec · elem_bits / 32).
uint32_t layout_bank_conflicts(const Layout *distributed, const Layout *shared, uint32_t elem_bits, uint32_t vec);

#endif
