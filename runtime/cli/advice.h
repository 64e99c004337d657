// What to try next after --check or --expect has failed: a note or two, the most likely reason first.
#ifndef TILE_RUNTIME_ADVICE_H
#define TILE_RUNTIME_ADVICE_H

#include <string.h>

#include "runtime/cli/rerun.h"

typedef struct {
  Buf *out;
  Arena *arena;
  uint32_t notes;
  const Comparison *c;
  uint64_t first_bad;          // the wrong element, among those that are compared
  double error;                // the largest
  Rerun *rerun;                // has run as the run did; NULL: it cannot
} Advice;

// A note at a place in a source of ctx; {0, 0}: without one. The same note is given once.
void advice_note(Advice *to, Context *ctx, Span at, const char *fmt, ...) PRINTF_LIKE(4, 5);
// The source at `at` in backticks, or "this expression" if it is long or has several lines.
const char *advice_source(Arena *a, const Context *ctx, Span at);

double advice_number(const Value *v, uint64_t bits);   // an element of v
double advice_rounding_of(const Comparison *c);   // what sums of the buffer's type may differ by
// Whether the last run of the rerun made all elements right, but for rounding, that the program of the wrong element
// writes, and that one another.
bool advice_is_right(const Advice *to);

static inline uint64_t advice_bits(const void *data, uint32_t bytes, size_t i) {
  uint64_t bits = 0;
  memcpy(&bits, (const char *)data + i * bytes, bytes);
  return bits;
}

// Each of these looks for one reason, and says nothing if it is another.

// advice_combining.c: functions of scans and reductions that are not associative.
void advise_combining(Advice *to);
// Whether the reduction finds a value with its index, and which index it takes of equal values depends on the order.
bool combining_has_ties(const Op *reduce);
// advice_ties.c: whether such choices alone make the result differ from the interpreter's; a note says so.
bool advise_ties(Advice *to, const CheckLimits *limits);
void advise_tied_element(Advice *to);   // whether one decides the wrong element
// advice_kernel.c
void advise_tf32(Advice *to);
void advise_axes(Advice *to);
void advise_swap(Advice *to);           // a row that should be a column, or a column that should be a row
void advise_bins(Advice *to);           // values that a histogram has no bin for
// advice_padding.c: elements that a mask left out of a load reach a sum; or they are the largest or the smallest.
void advise_padding(Advice *to);
void advise_extremes(Advice *to);
// After a cause that is not finite, in an element of its result: a mask leaves out that element of a load.
void advise_masked_pole(Advice *to, const Op *cause, uint64_t lane);
// advice_order.c: the expected elements stand in another order.
void advise_order(Advice *to);
// advice_stores.c: every element is what is expected plus its initial value, to which the kernel adds; the wrong
// element kept its initial value in an atomic maximum or minimum; it is in a part that has its initial values, or that
// no program stores to.
void advise_initial(Advice *to);
void advise_kept(Advice *to);
void advise_untouched(Advice *to);
void advise_unreached(Advice *to);
// advice_causes.c: what operations made of their operands.
void advise_causes(Advice *to);
void advise_overflow(Advice *to);
// advice_rounding.c: rounding alone moves the wrong element as far; an argument was rounded to fp32, and the result is
// fp64.
void advise_rounding(Advice *to);
void advise_argument(Advice *to);
// advice_programs.c: which programs are wrong and how; and, if nothing else is known, what wrote the wrong element.
void advise_programs(Advice *to);
void advise_writer(Advice *to);

#endif
