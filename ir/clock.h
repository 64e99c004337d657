// The monotonic clock.
#ifndef TILE_IR_CLOCK_H
#define TILE_IR_CLOCK_H

#include <time.h>

#include "ir/buf.h"

static inline double clock_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
static inline double clock_ms(void) { return clock_seconds() * 1e3; }

// A row of the table of --time-passes: the milliseconds since *start, which is then now. times may be NULL: no table.
static inline void clock_row(Buf *times, double *start, const char *name) {
  if (!times) return;
  double now = clock_ms();
  buf_printf(times, "%9.3f ms  %s\n", now - *start, name);
  *start = now;
}

#endif
