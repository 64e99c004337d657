// Shows what a run did on the simulator, by source line, the line that costs most first. These are counts, not times.
#include "runtime/compile/report_lines.h"

#include <stdlib.h>
#include <string.h>

enum { MARGIN = 16, MOST_LINES = 20 };

// ---- cost ----

// A line's cost is the number of clock cycles for which it keeps the busiest unit of one SM busy. Costs rank lines and do
// not predict time: units overlap, and stalls are not counted. Rates per SM and clock of a Hopper GPU: four schedulers
// issue an instruction each; shared memory serves one wavefront of 128 bytes; the L2 cache sends 64 bytes; the tensor
// cores do 4096 operations on 16-bit operands. (NVIDIA H100 Tensor Core GPU Architecture; CUDA C++ Programming Guide,
// "Arithmetic Instructions"; the L2's rate: 5120 bytes per clock for all SMs of an A100.)
typedef enum { BUSY_ISSUE, BUSY_GLOBAL, BUSY_SHARED, BUSY_TENSOR, NUM_BUSY } BusyUnit;
static const char *const unit_names[NUM_BUSY] = {"issue", "global", "shared", "tensor"};

static void clocks_of(const LineCounts *c, double clocks[NUM_BUSY]) {
  clocks[BUSY_ISSUE] = (double)c->instructions / 4;
  clocks[BUSY_GLOBAL] = (double)c->global_sectors * SECTOR_BYTES / 64;
  clocks[BUSY_SHARED] = (double)c->shared_wavefronts;
  clocks[BUSY_TENSOR] = (double)c->tensor_work / 4096;
}

static double cost_of(const LineCounts *c, BusyUnit *unit) {
  double clocks[NUM_BUSY];
  clocks_of(c, clocks);
  BusyUnit worst = BUSY_ISSUE;
  for (BusyUnit u = 0; u < NUM_BUSY; u++)
    if (clocks[u] > clocks[worst]) worst = u;
  if (unit) *unit = worst;
  return clocks[worst];
}

static int by_cost(const void *a, const void *b) {
  const LineCounts *x = *(const LineCounts *const *)a, *y = *(const LineCounts *const *)b;
  double cx = cost_of(x, NULL), cy = cost_of(y, NULL);
  if (cx != cy) return cx < cy ? 1 : -1;
  return (x > y) - (x < y);   // the order of the source
}

// The lines, the most expensive first, and the sum of their costs.
static const LineCounts **sorted(Arena *a, const LaunchCounts *e, double *sum) {
  const LineCounts **lines = arena_array(a, const LineCounts *, e->num_lines + 1);
  *sum = 0;
  for (uint32_t i = 0; i < e->num_lines; i++) {
    lines[i] = &e->lines[i];
    *sum += cost_of(&e->lines[i], NULL);
  }
  qsort(lines, e->num_lines, sizeof *lines, by_cost);
  return lines;
}

const LaunchCounts *launch_counts_copy(Arena *a, const LaunchCounts *from) {
  if (!from) return NULL;
  LaunchCounts *to = arena_new(a, LaunchCounts);
  LineCounts *lines = arena_array(a, LineCounts, from->num_lines + 1);
  *to = *from;
  to->kernel = arena_strndup(a, from->kernel, strlen(from->kernel));
  for (uint32_t i = 0; i < from->num_lines; i++) {
    lines[i] = from->lines[i];
    if (lines[i].file) lines[i].file = arena_strndup(a, lines[i].file, strlen(lines[i].file));
  }
  to->lines = lines;
  return to;
}

// ---- text ----

static const char *count_text(Arena *a, uint64_t n) {
  static const char units[] = "kMGTPE";
  if (n < 1000000) return arena_printf(a, "%llu", (unsigned long long)n);
  double v = (double)n / 1000;
  uint32_t u = 0;
  for (; v >= 9999.5 && u + 2 < sizeof units; u++) v /= 1000;
  return arena_printf(a, "%.0f%c", v, units[u]);
}

static const char *percent_text(Arena *a, double part, double whole) {
  return whole > 0 ? arena_printf(a, "%.0f%%", 100 * part / whole) : "";
}

typedef enum {
  COL_INSTRUCTIONS, COL_DIVERGENT, COL_MOVED, COL_USED, COL_TMA, COL_WAVEFRONTS, COL_CONFLICTS, COL_TENSOR, COL_ATOMICS,
  NUM_COLUMNS
} Column;
static const char *const titles[NUM_COLUMNS] = {"instr.", "divergent", "bytes moved", "used", "by TMA", "wavefronts",
                                                "conflicts", "tensor", "atomics"};

static uint64_t number(Column column, const LineCounts *c) {
  switch (column) {
  case COL_INSTRUCTIONS: return c->instructions;
  case COL_DIVERGENT: return c->divergent;
  case COL_MOVED: case COL_USED: return c->global_sectors * SECTOR_BYTES;
  case COL_TMA: return c->tma_bytes;
  case COL_WAVEFRONTS: return c->shared_wavefronts;
  case COL_CONFLICTS: return c->shared_conflicts;
  case COL_TENSOR: return c->tensor_instructions;
  default: return c->atomics;
  }
}

static const char *cell(Arena *a, Column column, const LineCounts *c) {
  uint64_t n = number(column, c);
  if (!n) return "";
  return column == COL_USED ? percent_text(a, (double)c->global_asked, (double)n) : count_text(a, n);
}

static void put_right(Buf *b, const char *text, size_t width) {
  size_t n = strlen(text);
  buf_fill(b, ' ', n < width ? width - n : 0);
  buf_puts(b, text);
}

static void put_start(Buf *b, const char *label) {
  buf_printf(b, "  %s", label);
  buf_fill(b, ' ', MARGIN - 2 - strlen(label));
}

// The text of a line without its indentation; "" if the program has no such file.
static void put_source(Buf *b, const Context *ctx, const LineCounts *c) {
  if (!c->file) {
    buf_puts(b, "(no source line)\n");
    return;
  }
  buf_printf(b, "%s:%u", c->file, c->line);
  for (uint32_t i = 0; i < ctx->num_files; i++) {
    const SourceFile *f = ctx->files[i];
    if (strcmp(f->path, c->file) || !c->line || c->line > f->num_lines) continue;
    const char *s = f->text + f->line_starts[c->line - 1];
    s += strspn(s, " \t");
    buf_printf(b, "  %.*s", (int)strcspn(s, "\r\n"), s);
    break;
  }
  buf_putc(b, '\n');
}

static void put_lines(Buf *b, const Context *ctx, const LaunchCounts *e) {
  Arena *a = b->arena;
  double sum, rest;
  const LineCounts **lines = sorted(a, e, &sum);
  uint32_t shown = e->num_lines < MOST_LINES ? e->num_lines : MOST_LINES;
  put_start(b, "by line");
  buf_puts(b, "cost  unit  ");
  for (Column k = 0; k < NUM_COLUMNS; k++)
    if (number(k, &e->total)) buf_printf(b, "  %s", titles[k]);
  buf_putc(b, '\n');
  rest = sum;
  for (uint32_t i = 0; i < shown; i++) {
    BusyUnit unit;
    double cost = cost_of(lines[i], &unit);
    rest -= cost;
    put_start(b, "");
    put_right(b, percent_text(a, cost, sum), 4);
    buf_printf(b, "  %-6s", unit_names[unit]);
    for (Column k = 0; k < NUM_COLUMNS; k++)
      if (number(k, &e->total)) put_right(b, cell(a, k, lines[i]), 2 + strlen(titles[k]));
    buf_puts(b, "  ");
    put_source(b, ctx, lines[i]);
  }
  if (shown == e->num_lines) return;
  put_start(b, "");
  put_right(b, percent_text(a, rest, sum), 4);
  buf_printf(b, "  in %u more lines\n", e->num_lines - shown);
}

void report_put_executed(Buf *b, const Context *ctx, const LaunchCounts *e) {
  Arena *a = b->arena;
  const LineCounts *t = &e->total;
  put_start(b, "executed");
  buf_printf(b, "%llu block%s of %u warp%s on the simulator, seed %llu: counts of what the run did, not times\n",
             (unsigned long long)e->blocks, e->blocks == 1 ? "" : "s", e->warps, e->warps == 1 ? "" : "s",
             (unsigned long long)e->seed);
  put_start(b, "");
  buf_printf(b, "%s instructions of warps, each for %.1f of 32 threads; %s of them while their warp was divergent\n",
             count_text(a, t->instructions),
             t->instructions ? (double)t->thread_instructions / (double)t->instructions : 0,
             percent_text(a, (double)t->divergent, t->instructions ? (double)t->instructions : 1));
  if (t->global_sectors) {
    put_start(b, "");
    buf_printf(b, "global memory: %s bytes moved, %s of them asked for; moving each byte once takes %s\n",
               count_text(a, t->global_sectors * SECTOR_BYTES),
               percent_text(a, (double)t->global_asked, (double)t->global_sectors * SECTOR_BYTES),
               count_text(a, e->read_once + e->written_once));
  }
  if (t->shared_requests) {
    put_start(b, "");
    buf_printf(b, "shared memory: %s wavefronts, %s of them for bank conflicts\n", count_text(a, t->shared_wavefronts),
               count_text(a, t->shared_conflicts));
  }
  if (t->tensor_instructions) {
    put_start(b, "");
    buf_printf(b, "tensor cores: %s instructions, %s operations\n", count_text(a, t->tensor_instructions),
               count_text(a, t->tensor_flops));
  }
  put_lines(b, ctx, e);
}

// ---- JSON ----

static void json_counters(JsonWriter *w, const LineCounts *c) {
#define X(name) json_put_int(w, #name, (int64_t)c->name);
  LINE_COUNTERS(X)
#undef X
  json_put_int(w, "global_bytes", (int64_t)c->global_sectors * SECTOR_BYTES);
}

void report_json_executed(JsonWriter *w, const LaunchCounts *e) {
  double sum;
  const LineCounts **lines = sorted(w->out->arena, e, &sum);
  json_put_object(w, "executed", false);
  json_put_string(w, "device", "sim");
  json_put_int(w, "seed", (int64_t)e->seed);
  json_put_int(w, "blocks", (int64_t)e->blocks);
  json_put_int(w, "warps", e->warps);
  json_put_int(w, "read_once", (int64_t)e->read_once);
  json_put_int(w, "written_once", (int64_t)e->written_once);
  json_put_object(w, "total", true);
  json_counters(w, &e->total);
  json_end_object(w);
  json_put_array(w, "lines", false);
  for (uint32_t i = 0; i < e->num_lines; i++) {
    BusyUnit unit;
    double cost = cost_of(lines[i], &unit);
    json_begin_object(w, true);
    json_put_string(w, "file", lines[i]->file);
    json_put_int(w, "line", lines[i]->line);
    json_put_double(w, "cost", sum > 0 ? cost / sum : 0);
    json_put_string(w, "unit", unit_names[unit]);
    json_counters(w, lines[i]);
    json_end_object(w);
  }
  json_end_array(w);
  json_end_object(w);
}
