// Who wrote the elements of a buffer, as the interpreter's run shows it.
#ifndef TILE_RUNTIME_WRITES_H
#define TILE_RUNTIME_WRITES_H

#include "runtime/cli/session.h"

typedef struct {
  const RunBuffer *buffer;
  uint64_t element;            // the one that is asked about
  uint32_t *writers;           // of each element: 1 + the number in the grid of the last program that wrote it, or 0
  const Op *op;                // the last one that wrote the element; NULL: none did
  uint32_t program[3];         // of it
  const Op *barred;            // a store or an atomic whose mask left the element out, and its program; NULL: none
  uint32_t barred_program[3];
  uint64_t held;               // by the element
  bool has_others;             // stores whose elements are not known: through descriptors
} Writes;

void writes_begin(Writes *w, Arena *a, const RunBuffer *b, uint64_t element);
void writes_note(Writes *w, const Run *run, const InterpStep *step);
void writes_program(const Run *run, uint32_t writer, uint32_t program[3]);   // of Writes.writers
uint64_t writes_bits(const Writes *w);       // those of the element now

#endif
