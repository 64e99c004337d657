// Reports: what went wrong, and where in the grid, in the PTX and in the source.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/buf.h"
#include "ir/context.h"
#include "runtime/sim/exec.h"

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

_Static_assert(countof(kinds) == REPORT_COUNT, "a kind of report without its name");

static const char *file_of(const PtxModule *m, const SrcLoc *l) {
  return l->file < m->files.count ? m->files.data[l->file] : NULL;
}

static void print_loc(FILE *f, const PtxModule *m, const SrcLoc *l, int indent) {
  for (const char *word = "source"; l; l = l->inlined_at, word = "  inlined at") {
    const char *file = file_of(m, l);
    fprintf(f, "%*s%s %s:%u:%u\n", indent, "", word, file ? file : "?", l->line, l->col);
  }
}

static const SrcLoc *user_loc(const PtxModule *m, const Instr *in) {
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

bool report_note(const Warp *w, const Instr *in, PlaceNote *out) {
  const PtxModule *m = w->grid->module;
  const SrcLoc *l = in->func->names_pointers ? user_loc(m, in) : NULL;
  if (!l || !l->col) return false;
  *out = (PlaceNote){.file = file_of(m, l), .line = l->line, .col = l->col};
  bool found = false;
  for (uint32_t i = 0; i < m->notes.count; i++) {
    const PlaceNote *n = &m->notes.data[i];
    if (n->line != l->line || n->col != l->col || strcmp(n->file, out->file)) continue;
    const bool same_way = found && out->way_out && n->way_out && !strcmp(out->way_out, n->way_out);
    if (!found || n->size > out->size) out->size = n->size;
    out->elem_bytes = !found || n->elem_bytes == out->elem_bytes ? n->elem_bytes : 0;
    out->way_out = !found || same_way ? n->way_out : NULL;
    found = true;
  }
  return true;
}

void report_program(const Warp *w, uint32_t program[3]) {
  memcpy(program, w->cta->ctaid, 3 * sizeof *program);
  program[0] /= w->cta->cluster->num_ctas;   // libtile's clusters lie along x
}

void report_lead(Warp *w, const PlaceNote *place, const char *text, const char *way_out) {
  Grid *g = w->grid;
  if (g->failed) return;
  KernelFault *f = &g->sim->fault;
  Arena scratch;
  arena_init(&scratch);
  Buf b = buf_make(&scratch);
  put_line(&b, g->module, place->file, place->line, place->col, place->size, 2);
  *f = (KernelFault){.line = place->line, .col = place->col, .size = place->size};
  snprintf(f->file, sizeof f->file, "%s", place->file);
  snprintf(f->text, sizeof f->text, "%s", text);
  snprintf(f->way_out, sizeof f->way_out, "%s", way_out ? way_out : "");
  snprintf(f->shown, sizeof f->shown, "%s", buf_str(&b));
  arena_free(&scratch);
  g->has_lead = true;
}

ExecResult sim_report(Grid *g, Warp *w, const Instr *in, int lane, ReportKind kind, const char *fmt, ...) {
  if (g->failed) return EXEC_FAULT;   // only the first report counts
  g->failed = kinds[kind].code;
  g->sim->report_kind = kind;
  if (!g->has_lead) g->sim->fault.file[0] = 0;
  char *text = NULL;
  size_t size = 0;
  FILE *f = open_memstream(&text, &size);
  if (!f) return EXEC_FAULT;
  fprintf(f, "%s: ", kinds[kind].name);
  va_list ap;
  va_start(ap, fmt);
  vfprintf(f, fmt, ap);
  va_end(ap);
  fprintf(f, "\n  kernel %s", g->func->name);
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
    report_place(f, g->module, g->other, 2);
  }
  if (kind == REPORT_MISALIGNED && in && in->vec > 1)
    fputs("  the access takes several elements at once because the kernel promises that their addresses are aligned: by "
          "tl.multiple_of or tl.max_contiguous, by `:16` in the signature, or by a cast of a pointer\n", f);
  if (kind == REPORT_UNDEFINED && g->by_zero) {
    fputs("  before that, a division by zero, or by a value that has never been set; its result is undefined:\n", f);
    report_place(f, g->module, g->by_zero, 2);
  }
  fclose(f);
  free(g->sim->report);
  g->sim->report = text;
  return EXEC_FAULT;
}
