// An estimate of the registers that a kernel needs per thread, from what its tensors hold where threads wait for each
// other. There values must stay; between waits the assembler streams. It also tells how many blocks then share an SM.
#ifndef TILE_PASSES_PRESSURE_H
#define TILE_PASSES_PRESSURE_H

#include "ir/build.h"

enum { PRESSURE_VECTOR = 4 };       // words of a load after the last wait that are held at once

typedef struct {
  uint32_t words;            // 32-bit registers per thread; 0: nothing waits, or `complex`
  uint32_t most;             // registers if the assembler streams nothing: each tensor is computed as a whole, in order
  uint32_t blocks;           // that an SM's registers hold
  uint32_t spare;            // more words that leave as many blocks, or enough of them
  uint32_t stream;           // registers with all loads of an iteration of a loop in flight; 0: no loop has several
  uint32_t loaded, carried;  // words of that loop's loads of tensors, and of what it carries
  bool complex;              // dots, for example: only `most` is estimated
  bool waits;                // in that loop threads wait for each other, or something is written
} Pressure;

uint32_t pressure_type_words(const Type *t);    // registers per thread of a tensor, or of a scalar
// Registers per thread that the value takes; 0 if each use recomputes it.
uint32_t pressure_words(const Value *v);
uint32_t pressure_carried(const Op *loop);      // of all values that a `for` carries
// Registers per thread if so many words are held: addresses and the like are included.
uint32_t pressure_registers(uint32_t words);
Pressure pressure_of(const Module *m, Func *f);

#endif
