// Reports: what went wrong, and where in the grid, in the PTX and in the source.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/buf.h"
#include "ir/context.h"
#include "ir/outside_terms.h"
#include "runtime/sim/exec.h"

const char report_zero_step[] = "range needs a step that is not 0: tl.maximum(step, 1), or an `if` around the loop";
const char report_promised[] =
    "the access takes several elements at once because the kernel promises that their addresses are aligned: by "
    "tl.multiple_of or tl.max_contiguous, by `:16` in the signature, or by a cast of a pointer";

static const struct { const char *name; CUresult code; } kinds[] = {
  [REPORT_OUT_OF_BOUNDS] = {"out-of-bounds access", CUDA_ERROR_ILLEGAL_ADDRESS},
  [REPORT_MISALIGNED] = {"misaligned access", CUDA_ERROR_MISALIGNED_ADDRESS},
  [REPORT_DEADLOCK] = {"deadlock", CUDA_ERROR_LAUNCH_TIMEOUT},
  [REPORT_DIVERGENT] = {"divergent barrier", CUDA_ERROR_LAUNCH_FAILED},
  [REPORT_RACE] = {"race", CUDA_ERROR_LAUNCH_FAILED},
  [REPORT_UNDEFINED] = {"use of an undefined value", CUDA_ERROR_LAUNCH_FAILED},
  [REPORT_ASYNC] = {"asynchronous operation misused", CUDA_ERROR_LAUNCH_FAILED},
  [REPORT_PROXY] = {"missing proxy fence", CUDA_ERROR_LAUNCH_FAILED},
  [REPORT_MBARRIER] = {"mbarrier misused", CUDA_ERROR_LAUNCH_FAILED},
  [REPORT_ASSERT] = {"assertion failed", CUDA_ERROR_ASSERT},
  [REPORT_TRAP] = {"trap", CUDA_ERROR_LAUNCH_FAILED},
  [REPORT_LIMIT] = {"limit exceeded", CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES},
  [REPORT_INVALID] = {"invalid operation", CUDA_ERROR_ILLEGAL_INSTRUCTION},
  [REPORT_FILE] = {"trace", CUDA_ERROR_OPERATING_SYSTEM},
};

static const char never_set[] =
    "memory has no value until the host or the kernel stores one: shared memory has none at first";

_Static_assert(countof(kinds) == REPORT_COUNT, "a kind of report without its name");

static const char *file_of(const PtxModule *m, const SrcLoc *l) {
  return l->file < m->files.count ? m->files.data[l->file] : NULL;
}

static void print_loc(FILE *f, const PtxModule *m, const SrcLoc *l, int indent) {
  for (const char *word = "source"; l; l = l->inlined_at, word = "  inlined at") {
    const char *file = file_of(m, l);
    if (l->line) fprintf(f, "%*s%s %s:%u:%u\n", indent, "", word, file ? file : "?", l->line, l->col);
  }
}

// Whether an access of memory in the code is from that place.
static bool is_place_of_access(const PtxModule *m, const SrcLoc *place) {
  for (uint32_t i = 0; i < m->num_code; i++) {
    const uint32_t op = m->code[i].op;
    if (op != OP_ld && op != OP_st && op != OP_atom && op != OP_red && op != OP_cp) continue;
    for (const SrcLoc *l = m->code[i].loc; l; l = l->inlined_at)
      if (l->file == place->file && l->line == place->line && l->col == place->col) return true;
  }
  return false;
}

// LLVM drops the line of an instruction that it moves. Such a load or store belongs to the one place in the source from
// which no other access in the code comes. NULL if several places qualify.
static const SrcLoc *lost_place(const PtxModule *m, const Instr *in) {
  if (in->space != SPACE_GLOBAL || (in->op != OP_ld && in->op != OP_st)) return NULL;
  const uint32_t kind = in->op == OP_ld ? OUTSIDE_LOAD : OUTSIDE_STORE;
  const SrcLoc *found = NULL;
  for (uint32_t i = 0; i < m->notes.count; i++) {
    const PlaceNote *n = &m->notes.data[i];
    const SrcLoc *place = &m->note_locs.data[i];
    if (!n->way_out || n->kind != kind || is_place_of_access(m, place)) continue;
    if (found && (found->file != place->file || found->line != place->line || found->col != place->col)) return NULL;
    found = place;
  }
  return found;
}

static const SrcLoc *user_loc(const PtxModule *m, const Instr *in) {
  if (in->loc && !in->loc->line) return lost_place(m, in);
  const SrcLoc *found = NULL;
  for (const SrcLoc *l = in->loc; l; l = l->inlined_at) {
    const char *file = l->line ? file_of(m, l) : NULL;
    if (!file) continue;
    found = l;
    if (*file != '<') break;
  }
  return found;
}

const char *report_user_line(const PtxModule *m, const Instr *in, uint32_t *line) {
  const SrcLoc *l = user_loc(m, in);
  *line = l ? l->line : 0;
  return l ? file_of(m, l) : NULL;
}

// Appends the source line and below it a mark of that many bytes, if its text is known.
static void put_line(Buf *b, const PtxModule *m, const char *file, uint32_t line, uint32_t col, uint32_t marked,
                     uint32_t indent) {
  for (uint32_t i = 0; col && i < m->sources.count; i++) {
    const SourceText *s = &m->sources.data[i];
    if (strcmp(s->file, file) || line < s->first_line) continue;
    const char *text = s->text, *end = s->text + s->size;
    for (uint32_t n = s->first_line; text && n < line; n++)
      if ((text = memchr(text, '\n', (size_t)(end - text)))) text++;
    if (!text || text == end) continue;
    const char *newline = memchr(text, '\n', (size_t)(end - text));
    diag_put_line(b, indent, text, (size_t)((newline ? newline : end) - text), col, marked);
    return;
  }
}

static void print_line(FILE *f, const PtxModule *m, const Instr *in, int indent) {
  const SrcLoc *l = user_loc(m, in);
  Arena scratch;
  arena_init(&scratch);
  Buf b = buf_make(&scratch);
  if (l) put_line(&b, m, file_of(m, l), l->line, l->col, 1, (uint32_t)indent + 2);
  fputs(buf_str(&b), f);
  arena_free(&scratch);
}

static void print_code(FILE *f, const PtxModule *m, const Instr *in, int indent) {
  if (!in->line || in->line > m->num_lines) return;
  const char *s = m->text + m->line_starts[in->line - 1];
  size_t n = strcspn(s, "\r\n");
  while (n && (*s == ' ' || *s == '\t')) s++, n--;
  fprintf(f, "%*sptx:%u: %.*s\n", indent, "", in->line, n > 160 ? 160 : (int)n, s);
  print_loc(f, m, in->loc, indent);
}

void report_place(FILE *f, const PtxModule *m, const Instr *in, int indent) {
  print_code(f, m, in, indent);
  print_line(f, m, in, indent);
}

// ---- the error that leads a report ----

bool report_note(const Grid *g, const Instr *in, PlaceNote *out) {
  const PtxModule *m = g->module;
  const bool is_ours = g->func->names_pointers || m->notes.count;
  const SrcLoc *l = is_ours ? user_loc(m, in) : NULL;
  if (!l || !l->col) return false;
  *out = (PlaceNote){.file = file_of(m, l), .line = l->line, .col = l->col};
  out->is_gluon = m->notes.count && m->notes.data[0].is_gluon;
  bool found = false;
  for (uint32_t i = 0; i < m->notes.count; i++) {
    const PlaceNote *n = &m->notes.data[i];
    if (n->line != l->line || n->col != l->col || strcmp(n->file, out->file)) continue;
    if (n->size > out->size) out->size = n->size;
    if (n->buffer) out->buffer = n->buffer;
    out->asserts_all |= n->asserts_all;
    out->is_unmasked |= n->is_unmasked;
    out->has_rows |= n->has_rows;
    out->has_step |= n->has_step;
    out->may_not_wrap |= n->may_not_wrap;
    if (!n->way_out) continue;   // no access
    const bool same_way = found && out->way_out && !strcmp(out->way_out, n->way_out);
    out->elem_bytes = !found || n->elem_bytes == out->elem_bytes ? n->elem_bytes : 0;
    out->way_out = !found || same_way ? n->way_out : NULL;
    // Of copies of one access that loops made, one with an offset that can be negative says more.
    const bool says_more = same_way && out->way_out_before && !strcmp(out->way_out_before, outside_wraps);
    if (!same_way || says_more) out->way_out_before = !found || same_way ? n->way_out_before : NULL;
    out->bytes_from = !found ? n->bytes_from : out->bytes_from && n->bytes_from ? out->bytes_from : 0;
    // Another access at this place, or another copy of this one, may have other terms.
    const bool same_terms = out->terms && n->terms && outside_same_terms(out->terms, n->terms);
    out->terms = !found || same_terms ? n->terms : NULL;
    if (!found) {
      memcpy(out->by_program, n->by_program, sizeof out->by_program);
      out->is_one = n->is_one;
      out->is_masked = n->is_masked;
    }
    if (n->moved) out->moved = n->moved;
    out->has_free |= n->has_free;
    out->elems = !found || n->elems == out->elems ? n->elems : 0;
    out->format = !found || n->format == out->format ? n->format : 0;
    out->quiet |= n->quiet;
    if (n->promise.line) out->promise = n->promise;
    if (n->exchange) out->exchange = n->exchange;
    if (n->update.line) out->update = n->update;
    found = true;
  }
  return true;
}

void report_program(const Cta *c, uint32_t program[3]) {
  memcpy(program, c->ctaid, 3 * sizeof *program);
  program[0] /= c->cluster->num_ctas;   // libtile's clusters lie along x
}

const char *report_program_name(Arena *a, const uint32_t p[3]) {
  return arena_printf(a, "program (%u, %u, %u)", p[0], p[1], p[2]);
}

const char *report_program_of(Arena *a, const Cta *c) {
  uint32_t program[3];
  report_program(c, program);
  return report_program_name(a, program);
}

static FaultPlace make_place(const Grid *g, const PlaceNote *place, const char *text) {
  FaultPlace p = {.line = place->line, .col = place->col, .size = place->size ? place->size : 1};
  Arena scratch;
  arena_init(&scratch);
  Buf b = buf_make(&scratch);
  put_line(&b, g->module, place->file, place->line, place->col, place->size, 2);
  snprintf(p.file, sizeof p.file, "%s", place->file);
  snprintf(p.text, sizeof p.text, "%s", text);
  snprintf(p.shown, sizeof p.shown, "%s", buf_str(&b));
  arena_free(&scratch);
  return p;
}

void report_lead(Grid *g, const PlaceNote *place, const char *text, const char *way_out) {
  if (g->failed) return;
  KernelFault *f = &g->sim->fault;
  *f = (KernelFault){.error = make_place(g, place, text)};
  snprintf(f->way_out, sizeof f->way_out, "%s", way_out ? way_out : "");
  g->has_lead = true;
}

void report_lead_sum(Grid *g, const char *sum) {
  KernelFault *f = &g->sim->fault;
  if (!g->failed) snprintf(f->sum, sizeof f->sum, "%s", sum);
}

void report_warning(Grid *g, const PlaceNote *place, const char *text, const PlaceNote *other, const char *other_text,
                    const char *way_out) {
  Sim *sim = g->sim;
  KernelFault *all = realloc(sim->warnings, (sim->num_warnings + 1) * sizeof *all);
  if (!all) return;
  sim->warnings = all;
  KernelFault *f = &all[sim->num_warnings++];
  *f = (KernelFault){.error = make_place(g, place, text)};
  if (other && !report_same_place(place, other)) f->note = make_place(g, other, other_text);
  if (way_out) snprintf(f->way_out, sizeof f->way_out, "%s", way_out);
}

const char *report_kind_name(ReportKind kind) { return kinds[kind].name; }

bool report_same_place(const PlaceNote *a, const PlaceNote *b) {
  return a->line == b->line && a->col == b->col && !strcmp(a->file, b->file);
}

void report_lead_note(Grid *g, const PlaceNote *place, const char *text) {
  KernelFault *f = &g->sim->fault;
  const PlaceNote error = {.file = f->error.file, .line = f->error.line, .col = f->error.col};
  if (!g->failed && !*f->note.file && !report_same_place(&error, place)) f->note = make_place(g, place, text);
}

// The report's own first line as the error, for kinds of reports that have no other.
static void lead_as_reported(Warp *w, const Instr *in, ReportKind kind, const char *said) {
  static const char around_zero[] = "mask or select it away, or divide by another number where the divisor is 0";
  Grid *g = w->grid;
  PlaceNote place;
  Arena scratch;
  arena_init(&scratch);
  const Instr *by_zero = kind == REPORT_UNDEFINED ? g->by_zero : NULL;
  if (report_note(g, in, &place))
    report_lead(g, &place,
                arena_printf(&scratch, "%s in %s: %s", kinds[kind].name, report_program_of(&scratch, w->cta), said),
                by_zero ? around_zero : kind == REPORT_UNDEFINED ? never_set : g->way_out);
  if (g->has_lead && by_zero && report_note(g, by_zero, &place))
    report_lead_note(g, &place, "this divides by zero, or by a value that has never been set");
  if (g->has_lead && kind == REPORT_UNDEFINED && g->unwritten && report_note(g, g->unwritten, &place) && place.is_gluon)
    report_lead_note(g, &place, "this loads shared memory that nothing has written: if another partition of warps "
                                "writes it, wait for its mbarrier first");
  if (g->has_lead && g->ended && report_note(g, g->ended, &place))
    report_lead_note(g, &place, "this ends an mbarrier");
  if (g->has_lead && g->other && report_note(g, g->other, &place)) report_lead_note(g, &place, "the other access");
  arena_free(&scratch);
}

ExecResult sim_report(Grid *g, Warp *w, const Instr *in, int lane, ReportKind kind, const char *fmt, ...) {
  if (g->failed) return EXEC_FAULT;   // only the first report counts
  Arena scratch;
  arena_init(&scratch);
  va_list ap;
  va_start(ap, fmt);
  const char *said = arena_vprintf(&scratch, fmt, ap);
  va_end(ap);
  if (!g->has_lead) g->sim->fault = (KernelFault){0};
  if (!g->has_lead && w && in) lead_as_reported(w, in, kind, said);
  g->failed = kinds[kind].code;
  g->sim->report_kind = kind;
  char *text = NULL;
  size_t size = 0;
  FILE *f = open_memstream(&text, &size);
  if (f) fprintf(f, "%s: %s\n  kernel %s", kinds[kind].name, said, g->func->name);
  arena_free(&scratch);
  if (!f) return EXEC_FAULT;
  if (w) {
    const uint32_t *c = w->cta->ctaid;
    fprintf(f, ", block (%u,%u,%u)", c[0], c[1], c[2]);
    if (lane >= 0) {
      uint32_t t[3];
      warp_thread_index(w, lane, t);
      fprintf(f, ", thread (%u,%u,%u)", t[0], t[1], t[2]);
    }
    fprintf(f, ", warp %u", w->id);
  }
  fprintf(f, ", seed %llu\n", (unsigned long long)g->seed);
  if (in) print_code(f, g->module, in, 2);
  if (in && !g->has_lead) print_line(f, g->module, in, 2);
  if (g->other) {
    fputs("  the other access:\n", f);
    print_code(f, g->module, g->other, 2);
    if (!g->has_lead) print_line(f, g->module, g->other, 2);
  }
  if (!g->has_lead && kind == REPORT_MISALIGNED && in && in->vec > 1)
    fprintf(f, "  %s\n", report_promised);
  if (kind == REPORT_UNDEFINED && g->by_zero) {
    fputs("  before that, a division by zero, or by a value that has never been set; its result is undefined:\n", f);
    print_code(f, g->module, g->by_zero, 2);
    if (!g->has_lead) print_line(f, g->module, g->by_zero, 2);
  }
  fclose(f);
  free(g->sim->report);
  g->sim->report = text;
  return EXEC_FAULT;
}
