// What a launch did, counted by source line. The simulator counts (runtime/sim/counts.c), reports show it.
#ifndef TILE_RUNTIME_RT_LINE_COUNTS_H
#define TILE_RUNTIME_RT_LINE_COUNTS_H

#include <stdint.h>

// The counters of a line: X(name). A "request" is one instruction of one warp.
//   instructions         executed by warps; a wait that is tried again counts once
//   thread_instructions  the same for threads: active, and the guard holds
//   divergent            instructions while some of the warp's threads were elsewhere or had exited
//   guarded              instructions whose guard was false for some of the active threads
//   global_requests      loads, stores, atomics and cp.async of global memory
//   global_sectors       32-byte sectors that these and bulk copies moved
//   global_asked         bytes that they asked for; a byte counts once for each request
//   tma_bytes            bytes of these that bulk and tensor copies asked for
//   shared_requests      accesses of the block's shared memory
//   shared_wavefronts    passes over the banks that they took
//   shared_conflicts     wavefronts beyond those that accesses without bank conflicts take
//   tensor_instructions  mma.sync of a warp, wgmma of a warpgroup
//   tensor_flops         operations in them: two for each product
//   tensor_work          tensor_flops, each weighted by the bits of its operands / 16
//   atomics              atomic operations of threads
#define LINE_COUNTERS(X)                                                                                      \
  X(instructions) X(thread_instructions) X(divergent) X(guarded) X(global_requests) X(global_sectors)         \
  X(global_asked) X(tma_bytes) X(shared_requests) X(shared_wavefronts) X(shared_conflicts)                    \
  X(tensor_instructions) X(tensor_flops) X(tensor_work) X(atomics)

typedef struct LineCounts {
  const char *file;            // NULL: code without a source line
  uint32_t line;
#define X(name) uint64_t name;
  LINE_COUNTERS(X)
#undef X
} LineCounts;

static inline void line_counts_add(LineCounts *to, const LineCounts *from) {
#define X(name) to->name += from->name;
  LINE_COUNTERS(X)
#undef X
}

// One launch, under one schedule.
typedef struct LaunchCounts {
  const char *kernel;
  uint64_t seed, blocks;
  uint32_t warps;              // of a block
  uint64_t read_once, written_once;   // bytes of global memory that were read, written: each byte counts once
  LineCounts total;
  const LineCounts *lines;     // by file, then line
  uint32_t num_lines;
} LaunchCounts;

enum { SECTOR_BYTES = 32 };

#endif
