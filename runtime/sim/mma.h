// Tensor-core arithmetic and data placement, without machine state: which element of A, B, C and D a lane's register
// holds (mma.sync, wgmma, ldmatrix, stmatrix), where a shared-memory descriptor puts an element (wgmma), and the
// result bit for bit by the model of mma.c.
#ifndef TILE_SIM_MMA_H
#define TILE_SIM_MMA_H

#include "ir/num.h"

typedef enum {
  MMA_F16, MMA_BF16, MMA_TF32, MMA_E4M3, MMA_E5M2, MMA_F64, MMA_F32,
  MMA_S8, MMA_U8, MMA_S4, MMA_U4, MMA_S32,
  MMA_TYPE_COUNT
} MmaType;
typedef struct {
  const char *name;       // as PTX writes it
  uint8_t bits;           // width of one element in registers and memory
  bool is_float, is_signed;
  NumFormat format;       // floats
} MmaTypeInfo;
const MmaTypeInfo *mma_type_info(MmaType t);

// One matrix instruction. wgmma is m = 64 over four warps; each warp owns 16 rows, so its part is computed with m = 16.
typedef struct {
  uint16_t m, n, k;
  MmaType a, b, d;        // C has D's type
  bool wgmma;
  bool negate_a, negate_b;  // wgmma imm-scale-a/b of -1
  bool saturate;          // .satfinite on s32
} MmaSpec;
// NULL when sm_90a has the instruction, else what is wrong with it.
const char *mma_spec_error(const MmaSpec *s);

typedef struct { uint16_t row, col; } MmaCoord;
unsigned mma_a_registers(const MmaSpec *s);      // 32-bit registers per lane (64-bit ones for f64)
unsigned mma_b_registers(const MmaSpec *s);
unsigned mma_d_registers(const MmaSpec *s);
unsigned mma_per_register(MmaType t);            // elements packed in one register
// Element `e` of register `reg` of `lane`. A: (row, k); B: (k, col); D: (row, col). Rows are within the warp's part.
MmaCoord mma_a_coord(const MmaSpec *s, unsigned lane, unsigned reg, unsigned e);
MmaCoord mma_b_coord(const MmaSpec *s, unsigned lane, unsigned reg, unsigned e);
MmaCoord mma_d_coord(const MmaSpec *s, unsigned lane, unsigned reg, unsigned e);
// ldmatrix/stmatrix: which (row, 16-bit column) of its 8x8 matrix a lane's half register `e` holds.
MmaCoord mma_matrix_coord(unsigned lane, unsigned e, bool transposed);

// d = a * b + d (use_c) or a * b, for `rows` rows. Elements are raw bits: a[row * k + kk], b[col * k + kk], d[row * n
// + col].
void mma_compute(const MmaSpec *s, unsigned rows, const uint64_t *a, const uint64_t *b, uint64_t *d, bool use_c);

// ---- wgmma shared-memory descriptors ----
typedef struct {
  uint32_t start, leading, stride;  // bytes, within the low 256 KB of the shared window
  uint8_t base_offset;              // 0..7
  uint16_t swizzle;                 // bytes of the pattern's row: 0, 32, 64, 128
} MmaDescriptor;
// NULL, or what is wrong with the bits.
const char *mma_descriptor_decode(uint64_t bits, MmaDescriptor *out);
// Byte address (within the low 256 KB) of element (row of M or N, k) of elem_bytes; mn_major: M or N is contiguous.
uint32_t mma_descriptor_address(const MmaDescriptor *d, bool mn_major, unsigned elem_bytes, unsigned row, unsigned k);
// The swizzle that TMA and wgmma share: XORs 16-byte chunk bits with row bits of a byte address.
static inline uint32_t mma_swizzle(uint32_t address, unsigned swizzle_bytes) {
  uint32_t chunks = swizzle_bytes / 16;
  return chunks < 2 ? address : address ^ ((address >> 7 & (chunks - 1)) << 4);
}

#endif
