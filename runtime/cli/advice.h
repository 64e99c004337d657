// What to try next after --check or --expect has failed: a note or two, the most likely reason first.
#ifndef TILE_RUNTIME_ADVICE_H
#define TILE_RUNTIME_ADVICE_H

#include <string.h>

#include "runtime/cli/rerun.h"

typedef struct {
  Buf *out;
  Arena *arena;
  uint32_t notes;
  bool has_overflow;           // integers overflowed in the interpreter's run
} Advice;

// A note at a place in a source of ctx; {0, 0}: without one. The same note is given once.
void advice_note(Advice *to, Context *ctx, Span at, const char *fmt, ...) PRINTF_LIKE(4, 5);
// The source at `at` in one line, or "this expression".
const char *advice_source(Arena *a, const Context *ctx, Span at);

static inline uint64_t advice_bits(const void *data, uint32_t bytes, size_t i) {
  uint64_t bits = 0;
  memcpy(&bits, (const char *)data + i * bytes, bytes);
  return bits;
}

// advice_combining.c: functions of scans and reductions that are not associative.
void advise_combining(Advice *to, Module *m);
// Whether the reduction finds a value with its index, and which index it takes of equal values depends on the order.
bool combining_has_ties(const Op *reduce);
// advice_ties.c: whether such choices alone make the result differ from the interpreter's; a note says so.
bool advise_ties(Advice *to, const Comparison *c, const CheckLimits *limits);
void advise_tied_element(Advice *to, Rerun *rerun);   // whether one decides the wrong element
// advice_kernel.c
void advise_tf32(Advice *to, const Comparison *c);
void advise_axes(Advice *to, Module *m);
// advice_padding.c
void advise_padding(Advice *to, Rerun *rerun);
// advice_order.c: the expected elements stand in another order.
void advise_order(Advice *to, const Comparison *c);
// advice_stores.c: every element is what is expected plus its initial value, to which the kernel adds; and the wrong
// elements are in a rectangle to which no program stored. The rerun has found the first.
void advise_initial(Advice *to, const Comparison *c);
void advise_unstored(Advice *to, Rerun *rerun, const Comparison *c, uint64_t first_bad);
// advice_causes.c: what operations made of their operands.
void advise_causes(Advice *to, Rerun *rerun, const Comparison *c, uint64_t first_bad);

#endif
