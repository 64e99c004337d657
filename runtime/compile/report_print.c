// Prints a report: as text for people, as JSON (docs/reports.md) for other tools.
#include "runtime/compile/report.h"

#include <string.h>

#include "runtime/compile/compile.h"

enum { REPORT_FORMAT = 1, LABEL_WIDTH = 16 };

// What allows the fewest blocks.
enum { BY_REGISTERS, BY_SHARED, BY_THREADS, NUM_LIMITS };
static const char *const limit_names[NUM_LIMITS] = {"registers", "shared memory", "threads"};
static void limits_of(const tile_resources *r, uint32_t blocks[NUM_LIMITS]) {
  blocks[BY_REGISTERS] = r->blocks_by_registers;
  blocks[BY_SHARED] = r->blocks_by_shared;
  blocks[BY_THREADS] = r->blocks_by_threads;
}

static uint32_t warps_of(const tile_resources *r) { return (r->threads + WARP_SIZE - 1) / WARP_SIZE; }

// ---- text ----

static const char not_known[] = "not known: no assembler (ptxas or nvJitLink) was found\n";

static void put_label(Buf *b, const char *label) {
  buf_printf(b, "  %s", label);
  buf_fill(b, ' ', LABEL_WIDTH - 2 - strlen(label));
}

// The label goes before the first line only.
static void put_margin(Buf *b, const char **label) {
  put_label(b, *label);
  *label = "";
}

// "x (64×64 fp16)"
static void put_thing(Buf *b, const ReportItem *x) {
  if (x->name) buf_printf(b, "%s ", x->name);
  buf_printf(b, "(%s)", x->type);
}

static void put_place(Buf *b, LineCol at) {
  if (at.file) buf_printf(b, "  %s:%u", at.file->path, at.line);
  buf_putc(b, '\n');
}

static void put_registers(Buf *b, const KernelReport *k) {
  const tile_resources *r = &k->resources;
  put_label(b, "registers");
  if (!r->is_assembled) {
    buf_puts(b, not_known);
    return;
  }
  buf_printf(b, "%u for each of %u threads (%s); ", r->registers, r->threads, k->made_by);
  if (r->spill_bytes) buf_printf(b, "%u bytes of a thread's values are spilled to local memory", r->spill_bytes);
  else buf_puts(b, "no spills");
  if (r->local_bytes > r->spill_bytes) buf_printf(b, "; %u bytes of local arrays", r->local_bytes - r->spill_bytes);
  buf_putc(b, '\n');
}

static void put_occupancy(Buf *b, const tile_resources *r) {
  put_label(b, "occupancy");
  if (!r->is_assembled) {
    buf_puts(b, not_known);
    return;
  }
  const uint32_t warps = warps_of(r);
  uint32_t blocks[NUM_LIMITS];
  limits_of(r, blocks);
  if (r->blocks_per_sm)
    buf_printf(b, "%u block%s of %u warp%s on an SM, %u%% of its %u warps; limited by", r->blocks_per_sm,
               r->blocks_per_sm == 1 ? "" : "s", warps, warps == 1 ? "" : "s",
               100 * r->blocks_per_sm * warps / r->warps_per_sm, r->warps_per_sm);
  else buf_puts(b, "no block fits on an SM; limited by");
  uint32_t n = 0;
  for (uint32_t i = 0; i < NUM_LIMITS; i++)
    if (blocks[i] == r->blocks_per_sm) buf_printf(b, "%s %s", n++ ? " and" : "", limit_names[i]);
  n = 0;
  for (uint32_t i = 0; i < NUM_LIMITS; i++)
    if (blocks[i] != r->blocks_per_sm && blocks[i] != UINT32_MAX)
      buf_printf(b, "%s%u by %s", n++ ? ", " : " (", blocks[i], limit_names[i]);
  buf_puts(b, n ? ")\n" : "\n");
}

static void put_shared(Buf *b, const KernelReport *k) {
  put_label(b, "shared memory");
  buf_printf(b, "%u bytes for a block\n", k->resources.shared_bytes);
  VEC_EACH(x, k->shared) {
    put_label(b, "");
    buf_printf(b, "%6u bytes at %-6u  %s ", x->bytes, x->offset, x->what);
    put_thing(b, x);
    put_place(b, x->at);
  }
}

static void put_instructions(Buf *b, const KernelReport *k) {
  enum { WIDTH = 100 };
  put_label(b, "instructions");
  size_t line = b->size - LABEL_WIDTH;
  buf_printf(b, "in the %s:", k->counted);
  for (uint32_t i = 0, n = 0; i < NUM_INSN_CLASSES; i++) {
    if (!k->counts[i]) continue;
    const size_t size = strlen(insn_class_names[i]) + 8;
    if (n++) buf_putc(b, ',');
    if (b->size - line + size > WIDTH) {
      buf_putc(b, '\n');
      line = b->size;
      put_label(b, "");
    } else {
      buf_putc(b, ' ');
    }
    buf_printf(b, "%u %s", k->counts[i], insn_class_names[i]);
  }
  buf_putc(b, '\n');
}

static void put_times(Buf *b, const ReportItem *x) {
  if (x->count > 1) buf_printf(b, ", %u places", x->count);
}

static void put_accesses(Buf *b, const KernelReport *k) {
  const char *label = "global memory";
  VEC_EACH(x, k->accesses) {
    put_margin(b, &label);
    buf_printf(b, "%s ", x->what);
    put_thing(b, x);
    if (x->bytes) buf_printf(b, ", %u byte%s at a time", x->bytes, x->bytes == 1 ? "" : "s");
    put_times(b, x);
    put_place(b, x->at);
  }
}

static void put_conversions(Buf *b, const KernelReport *k) {
  const char *label = "conversions";
  VEC_EACH(x, k->conversions) {
    put_margin(b, &label);
    put_thing(b, x);
    buf_printf(b, " through %u bytes of shared memory", x->bytes);
    put_times(b, x);
    put_place(b, x->at);
  }
  if (!k->conversions.count) put_label(b, label), buf_puts(b, "none of layouts through shared memory\n");
}

static bool is_from(const Remark *r, const char *pass) { return r->pass && !strcmp(r->pass, pass); }

static void put_remark(Buf *b, const Context *ctx, const Remark *r, const char **label) {
  put_margin(b, label);
  buf_puts(b, r->text);
  put_place(b, source_locate(ctx, r->span.begin));
}

static void put_remarks(Buf *b, const Context *ctx, const KernelReport *k) {
  const char *label = "loops";
  for (uint32_t i = 0; i < k->num_remarks; i++)
    if (is_from(k->remarks[i], "pipeline_loops")) put_remark(b, ctx, k->remarks[i], &label);
  label = "missed";
  for (uint32_t i = 0; i < k->num_remarks; i++)
    if (k->remarks[i]->kind == REMARK_MISSED && !is_from(k->remarks[i], "pipeline_loops") &&
        !is_from(k->remarks[i], "allocate_shared"))   // is among the conversions
      put_remark(b, ctx, k->remarks[i], &label);
}

void report_put_text(Buf *out, const Context *ctx, const CostReport *r) {
  for (uint32_t i = 0; i < r->num_kernels; i++) {
    const KernelReport *k = &r->kernels[i];
    buf_printf(out, "report: %s for %s, num_warps=%u, num_stages=%u", k->name, r->arch, r->num_warps, r->num_stages);
    if (r->num_ctas > 1) buf_printf(out, ", num_ctas=%u", r->num_ctas);
    buf_putc(out, '\n');
    put_registers(out, k);
    put_occupancy(out, &k->resources);
    put_shared(out, k);
    put_instructions(out, k);
    put_accesses(out, k);
    put_conversions(out, k);
    put_remarks(out, ctx, k);
    if (k->executed) report_put_executed(out, ctx, k->executed);
  }
}

// ---- JSON ----

static void json_place(JsonWriter *w, const char *file, uint32_t line, uint32_t column) {
  json_put_string(w, "file", file);
  json_put_int(w, "line", line);
  json_put_int(w, "column", column);
}

static void json_resources(JsonWriter *w, const KernelReport *k) {
  const tile_resources *r = &k->resources;
  json_put_object(w, "resources", false);
  json_put_int(w, "threads", r->threads);
  json_put_int(w, "shared_bytes", r->shared_bytes);
  json_put_bool(w, "known", r->is_assembled);
  if (r->is_assembled) {
    uint32_t blocks[NUM_LIMITS];
    limits_of(r, blocks);
    json_put_string(w, "made_by", k->made_by);
    json_put_int(w, "registers", r->registers);
    json_put_int(w, "local_bytes", r->local_bytes);
    json_put_int(w, "spill_bytes", r->spill_bytes);
    json_put_int(w, "blocks_per_sm", r->blocks_per_sm);
    json_put_double(w, "occupancy", (double)(r->blocks_per_sm * warps_of(r)) / r->warps_per_sm);
    json_put_array(w, "limited_by", true);
    for (uint32_t i = 0; i < NUM_LIMITS; i++)
      if (blocks[i] == r->blocks_per_sm) json_string(w, limit_names[i]);
    json_end_array(w);
    json_put_object(w, "blocks_by", true);
    for (uint32_t i = 0; i < NUM_LIMITS; i++)
      if (blocks[i] != UINT32_MAX) json_put_int(w, limit_names[i], blocks[i]);
    json_end_object(w);
  }
  json_end_object(w);
}

static void json_items(JsonWriter *w, const char *key, const ReportItems *items, bool has_offset) {
  json_put_array(w, key, false);
  VEC_EACH(x, *items) {
    json_begin_object(w, true);
    json_put_string(w, "what", x->what);
    json_put_string(w, "name", x->name);
    json_put_string(w, "type", x->type);
    json_put_int(w, "bytes", x->bytes);
    if (has_offset) json_put_int(w, "offset", x->offset);
    json_put_int(w, "count", x->count);
    json_place(w, x->at.file ? x->at.file->path : NULL, x->at.line, x->at.col);
    json_end_object(w);
  }
  json_end_array(w);
}

static void json_remarks(JsonWriter *w, const Context *ctx, const KernelReport *k) {
  json_put_array(w, "remarks", false);
  for (uint32_t i = 0; i < k->num_remarks; i++) {
    const Remark *r = k->remarks[i];
    const LineCol at = source_locate(ctx, r->span.begin);
    json_begin_object(w, true);
    json_put_string(w, "kind", r->kind == REMARK_APPLIED ? "applied" : "missed");
    json_put_string(w, "pass", r->pass);
    json_place(w, at.file ? at.file->path : NULL, at.line, at.col);
    json_put_string(w, "text", r->text);
    json_end_object(w);
  }
  json_end_array(w);
}

static void json_kernel(JsonWriter *w, const Context *ctx, const KernelReport *k) {
  json_begin_object(w, false);
  json_put_string(w, "name", k->name);
  json_resources(w, k);
  json_items(w, "shared", &k->shared, true);
  json_put_string(w, "counted", k->counted);
  json_put_object(w, "instructions", false);
  for (uint32_t i = 0; i < NUM_INSN_CLASSES; i++) json_put_int(w, insn_class_names[i], k->counts[i]);
  json_end_object(w);
  json_items(w, "accesses", &k->accesses, false);
  json_items(w, "conversions", &k->conversions, false);
  json_remarks(w, ctx, k);
  if (k->executed) report_json_executed(w, k->executed);
  json_end_object(w);
}

// Every message with its notes inside, and the notes once more after it, for readers of the format's first version.
static void json_diagnostics(JsonWriter *w, const tile_program *p, const tile_error *error) {
  Messages *m = messages_new(w->out->arena, MESSAGES_JSON);
  messages_add_program(m, p);
  messages_add_error(m, error);
  json_put_array(w, "diagnostics", false);
  for (uint32_t i = 0; i < m->items.count; i++) {
    uint32_t notes = 0;
    while (i + notes + 1 < m->items.count && m->items.data[i + notes + 1].diagnostic.note_of >= 0) notes++;
    message_json(w, &m->items.data[i], m->items.data[i].diagnostic.note_of >= 0 ? 0 : notes);
  }
  json_end_array(w);
}

void report_put_json(Buf *out, const tile_program *p, const tile_error *error, const CostReport *r) {
  JsonWriter w = json_writer(out);
  json_begin_object(&w, false);
  json_put_int(&w, "tile_report", REPORT_FORMAT);
  json_put_string(&w, "compiler", arena_printf(out->arena, "tilec %s", tile_version()));
  if (r) {
    json_put_string(&w, "arch", r->arch);
    json_put_int(&w, "num_warps", r->num_warps);
    json_put_int(&w, "num_stages", r->num_stages);
    json_put_int(&w, "num_ctas", r->num_ctas);
    json_put_string(&w, "config", r->config);
  }
  json_put_array(&w, "kernels", false);
  for (uint32_t i = 0; r && i < r->num_kernels; i++) json_kernel(&w, &p->ctx, &r->kernels[i]);
  json_end_array(&w);
  json_diagnostics(&w, p, error);
  json_end_object(&w);
  buf_putc(out, '\n');
}
