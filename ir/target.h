// Facts about the machines, one row of target.def for each architecture.
#ifndef TILE_IR_TARGET_H
#define TILE_IR_TARGET_H

#include "ir/base.h"

typedef struct {
  const char *name;        // "sm_90a"
  uint32_t sm;             // 90
  bool arch_specific;      // the `a` suffix: wgmma, setmaxnreg
  uint32_t min_ptx;        // lowest PTX version that knows it, ×10 (78 = 7.8)
  uint32_t shared_bytes;   // opt-in shared memory per block
  uint32_t sm_threads, sm_blocks;   // that an SM holds at most
  bool has_cp_async, has_tma, has_wgmma, has_fp8_mma, has_fp8_convert, has_stmatrix, has_cluster;
  bool has_bf16;              // arithmetic on bf16, and conversions of integers to it
  bool has_bf16_vector_red;   // atomic additions of bf16; red of several elements, up to 16 bytes
} Target;

const Target *target_find(const char *name);             // NULL if there is none
bool target_is_ptx_version(uint32_t version);            // ×10; one that LLVM 22 can print
const Target *target_at(uint32_t i);                     // NULL past the end
// Whether code for t runs on a machine of that number. One that is specific to its architecture has no successor.
static inline bool target_runs_on(const Target *t, int sm) {
  return t->arch_specific ? (int)t->sm == sm : (int)t->sm <= sm;
}
// Whether a machine that runs code for both rather takes t's. than: NULL if there is none.
static inline bool target_is_richer(const Target *t, const Target *than) {
  return !than || t->sm > than->sm || (t->sm == than->sm && t->arch_specific && !than->arch_specific);
}
enum { WARP_SIZE = 32, WARPGROUP_WARPS = 4 };
// The same for all: the most threads of a block, the 32-bit registers of an SM, the most that a thread can have, and
// the shared memory that the system takes in each block. (The SM has that much more than its largest block.)
enum { MAX_BLOCK_THREADS = 1024, SM_REGISTERS = 65536, THREAD_REGISTERS = 255, SYSTEM_SHARED_BYTES = 1024 };

// Occupancy: the most blocks that an SM holds, by their threads, by the registers that each thread has, and by the
// shared memory of each.
static inline uint32_t target_blocks_by_threads(const Target *t, uint32_t threads) {
  const uint32_t blocks = t->sm_threads / threads;
  return blocks < t->sm_blocks ? blocks : t->sm_blocks;
}
static inline uint32_t target_blocks_by_registers(uint32_t registers, uint32_t threads) {
  return SM_REGISTERS / (registers * threads);
}
static inline uint32_t target_blocks_by_shared(const Target *t, uint32_t bytes) {
  return (t->shared_bytes + SYSTEM_SHARED_BYTES) / (bytes + SYSTEM_SHARED_BYTES);
}
// The most shared memory of each if so many blocks share an SM.
static inline uint32_t target_shared_of(const Target *t, uint32_t blocks) {
  return (t->shared_bytes + SYSTEM_SHARED_BYTES) / blocks - SYSTEM_SHARED_BYTES;
}
// The most registers of each thread if so many blocks of so many threads share an SM. They come by 8.
static inline uint32_t target_registers_of(uint32_t blocks, uint32_t threads) {
  const uint32_t registers = SM_REGISTERS / (blocks * threads) / 8 * 8;
  return registers < THREAD_REGISTERS ? registers : THREAD_REGISTERS;
}

#endif
