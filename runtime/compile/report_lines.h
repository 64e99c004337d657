// The part of a report that says what a run did, by source line.
#ifndef TILE_RUNTIME_REPORT_LINES_H
#define TILE_RUNTIME_REPORT_LINES_H

#include "ir/context.h"
#include "runtime/compile/json_writer.h"
#include "runtime/rt/device.h"

const LaunchCounts *launch_counts_copy(Arena *a, const LaunchCounts *from);
void report_put_executed(Buf *out, const Context *ctx, const LaunchCounts *e);
void report_json_executed(JsonWriter *w, const LaunchCounts *e);   // the field "executed"

#endif
