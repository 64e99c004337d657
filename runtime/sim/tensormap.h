// Tensor maps: the simulator's encoding in the driver's opaque 128 bytes, the driver's validity rules, and the walk
// over one box between shared and global memory. Enumerators have the driver's values.
#ifndef TILE_SIM_TENSORMAP_H
#define TILE_SIM_TENSORMAP_H

#include "ir/num.h"

enum { TENSORMAP_MAX_RANK = 5, TENSORMAP_BYTES = 128 };
typedef enum {
  TMAP_UINT8, TMAP_UINT16, TMAP_UINT32, TMAP_INT32, TMAP_UINT64, TMAP_INT64, TMAP_FLOAT16, TMAP_FLOAT32, TMAP_FLOAT64,
  TMAP_BFLOAT16, TMAP_FLOAT32_FTZ, TMAP_TFLOAT32, TMAP_TFLOAT32_FTZ, TMAP_DTYPE_COUNT
} TensorMapDtype;
typedef enum { TMAP_INTERLEAVE_NONE, TMAP_INTERLEAVE_16B, TMAP_INTERLEAVE_32B } TensorMapInterleave;
typedef enum { TMAP_SWIZZLE_NONE, TMAP_SWIZZLE_32B, TMAP_SWIZZLE_64B, TMAP_SWIZZLE_128B } TensorMapSwizzle;
typedef enum { TMAP_FILL_ZERO, TMAP_FILL_NAN } TensorMapFill;

typedef struct {
  TensorMapDtype dtype;
  uint32_t rank;
  uint64_t address;
  uint64_t dim[TENSORMAP_MAX_RANK];        // elements, innermost first
  uint64_t stride[TENSORMAP_MAX_RANK];     // bytes; [0] is the element size
  uint32_t box[TENSORMAP_MAX_RANK];
  uint32_t element_stride[TENSORMAP_MAX_RANK];
  TensorMapInterleave interleave;
  TensorMapSwizzle swizzle;
  uint32_t l2_promotion;
  TensorMapFill fill;
} TensorMap;

// NULL, or what is wrong.
const char *tensormap_check(const TensorMap *m);
void tensormap_pack(const TensorMap *m, void *opaque128);
bool tensormap_unpack(const void *opaque128, TensorMap *m);   // false: these bytes are no tensor map
bool tensormap_is_blank(const void *opaque128);                // all zeros: a kernel may build a map from zeros
unsigned tensormap_element_bytes(TensorMapDtype t);
uint32_t tensormap_box_bytes(const TensorMap *m);              // that a load's transaction counts
uint32_t tensormap_box_extent(const TensorMap *m);             // in shared memory, rows padded to the swizzle
// Alignment that the shared-memory side of a copy must have.
uint32_t tensormap_shared_align(const TensorMap *m);

// A run of bytes of one box: contiguous on both sides. In bounds or not as a whole.
typedef struct { uint32_t shared; uint64_t global; uint32_t bytes; bool in_bounds; } TensorMapRun;
typedef bool (*TensorMapRunFn)(void *user, const TensorMapRun *run);   // false stops the walk
// Visits the box at `coords` (one per dimension, innermost first) laid out from shared address `shared`. Each byte of
// the box in shared memory is visited once. For out-of-bounds runs `global` is 0. A store (not a reduction) writes
// 16-byte chunks whole, as an H200 does: if the tensor ends inside a chunk, the rest of that chunk is also written.
bool tensormap_walk(const TensorMap *m, const int32_t *coords, uint32_t shared, bool is_store, TensorMapRunFn fn,
                    void *user);
// Copies elements as a load does: rounds tf32 to nearest even, as an H200 does (the .ftz types change nothing else).
void tensormap_load(const TensorMap *m, uint8_t *dst, const uint8_t *src, uint32_t bytes);
// Fills bytes with what out-of-bounds elements read as.
void tensormap_fill(const TensorMap *m, uint8_t *bytes, uint32_t count);

typedef enum { TMAP_ADD, TMAP_MIN, TMAP_MAX, TMAP_INC, TMAP_DEC, TMAP_AND, TMAP_OR, TMAP_XOR } TensorMapReduceOp;
bool tensormap_reduce_allowed(TensorMapDtype t, TensorMapReduceOp op);
// dst = op(dst, src), element by element.
void tensormap_reduce(TensorMapDtype t, TensorMapReduceOp op, uint8_t *dst, const uint8_t *src, uint32_t bytes);

#endif
