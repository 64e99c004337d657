// The data files of tests/sim/recorded: what the generator (vectors.cu) writes on a real sm_90 and the unit test
// compares the simulator with. A file is a sequence of records: a 64-byte name, a count, then that many arrays, each its
// length in bytes and its bytes; all little-endian.
#ifndef TILE_TESTS_GPU_VECTORS_H
#define TILE_TESTS_GPU_VECTORS_H

#include <stdint.h>

enum { VECTOR_NAME = 64, VECTOR_ARRAYS = 8, WGMMA_IMAGE = 32768 };
typedef struct { char name[VECTOR_NAME]; uint32_t count; } VectorHeader;

// Element i of the shared-memory image of the wgmma addressing cases: a small integer, so that every sum is exact.
static inline int vector_small(uint32_t i) {
  uint32_t h = i * 2654435761u;
  h ^= h >> 15;
  h *= 2246822519u;
  h ^= h >> 13;
  return (int)(h % 5) - 2;
}

// The descriptors of the addressing cases. Offsets count from the image's start, which is 1024-byte aligned.
typedef struct {
  uint8_t trans_a, trans_b;
  uint16_t swizzle;                      // 0, 32, 64, 128
  uint8_t base_offset;
  uint32_t a, a_leading, a_stride, b, b_leading, b_stride;
} WgmmaCase;
static const WgmmaCase wgmma_cases[] = {
  // K-major: plain, then each swizzle, then a step along K, then unusual strides
  {0, 0, 0, 0, 0, 128, 256, 8192, 128, 256},
  {0, 0, 0, 0, 0, 1024, 128, 8192, 2048, 128},
  {0, 0, 32, 0, 0, 16, 256, 8192, 16, 256},
  {0, 0, 64, 0, 0, 16, 512, 8192, 16, 512},
  {0, 0, 128, 0, 0, 16, 1024, 8192, 16, 1024},
  {0, 0, 64, 0, 32, 16, 512, 8192 + 32, 16, 512},
  {0, 0, 128, 0, 32, 16, 1024, 8192 + 64, 16, 1024},
  {0, 0, 128, 0, 96, 16, 1024, 8192 + 96, 16, 1024},
  {0, 0, 128, 0, 0, 1024, 2048, 16384, 4096, 1024},
  // patterns that start off their alignment
  {0, 0, 128, 1, 128, 16, 1024, 16384 + 128, 16, 1024},
  {0, 0, 128, 5, 640, 16, 1024, 16384 + 640, 16, 1024},
  {0, 0, 64, 1, 128, 16, 512, 8192 + 128, 16, 512},
  {0, 0, 128, 0, 128, 16, 1024, 16384 + 128, 16, 1024},
  // A, B or both with M or N contiguous
  {1, 0, 0, 0, 0, 1024, 128, 8192, 128, 256},
  {1, 1, 0, 0, 0, 1024, 128, 8192, 1024, 128},
  {1, 1, 0, 0, 0, 128, 256, 8192, 128, 256},
  {0, 1, 128, 0, 0, 16, 1024, 8192, 2048, 1024},
  {1, 0, 128, 0, 0, 2048, 1024, 8192, 16, 1024},
  {1, 1, 128, 0, 0, 2048, 1024, 8192, 4096, 1024},
  {1, 1, 64, 0, 0, 1024, 512, 8192, 2048, 512},
  {1, 1, 32, 0, 0, 512, 256, 8192, 1024, 256},
  {1, 1, 32, 0, 0, 1024, 2048, 8192, 512, 4096},
};

// TMA loads of f16 elements 1, 2, 3, … (row-major, 96 columns, 40 rows) into a 16 KB image of 0xee bytes.
typedef struct { uint8_t swizzle, nan_fill; uint32_t box0, box1, stride1; int32_t x, y; } TmaCase;   // swizzle: the driver's enumerator
static const TmaCase tma_cases[] = {
  {0, 0, 64, 8, 1, 0, 0},  {1, 0, 16, 16, 1, 8, 3}, {2, 0, 32, 16, 1, 16, 0}, {3, 0, 64, 16, 1, 32, 8},
  {3, 0, 32, 16, 1, 0, 0}, {2, 0, 16, 16, 1, 0, 0}, {3, 0, 8, 16, 1, 0, 0},   {0, 0, 64, 8, 1, 64, 36},
  {3, 1, 64, 8, 1, 64, 36}, {0, 1, 64, 8, 1, -8, -2}, {0, 0, 64, 16, 2, 0, 0}, {0, 0, 64, 15, 4, 0, 1},
};

#endif
