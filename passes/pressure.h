// A guess of the registers that a kernel needs per thread, from what its tensors hold where threads wait for each other
// (there values must stay; between waits the assembler streams). And what follows for how many blocks share an SM.
#ifndef TILE_PASSES_PRESSURE_H
#define TILE_PASSES_PRESSURE_H

#include "ir/build.h"

enum { PRESSURE_VECTOR = 4 };       // words of a load behind the last wait that are held at once

typedef struct {
  uint32_t words;            // 32-bit registers per thread; 0: nothing waits, or too complex to guess (dots)
  uint32_t blocks;           // that an SM's registers hold with so many
  uint32_t spare;            // more words that would still leave as many blocks, or enough of them
  uint32_t stream;           // with all loads of an iteration of a loop in flight, where nothing waits in it; 0: no loop with several
} Pressure;

// The most that each thread can have when so many blocks of so many threads share an SM.
static inline uint32_t pressure_limit(uint32_t blocks, uint32_t threads) {
  return (uint32_t)min_i64(SM_REGISTERS / (blocks * threads) / 8 * 8, THREAD_REGISTERS);
}

// Registers per thread that the value takes; 0 where it is made anew for each use.
uint32_t pressure_words(const Value *v);
// With so many words held, addresses and the like included.
uint32_t pressure_registers(uint32_t words);
Pressure pressure_of(const Module *m, Func *f);

#endif
