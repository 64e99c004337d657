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

// The user's source line with a caret, if its text is known.
static void print_line(FILE *f, const PtxModule *m, const Instr *in, int indent) {
  const SrcLoc *l = user_loc(m, in);
  if (!l || !l->col) return;
  for (uint32_t i = 0; i < m->sources.count; i++) {
    const SourceText *s = &m->sources.data[i];
    if (strcmp(s->file, file_of(m, l)) || l->line < s->first_line) continue;
    const char *line = s->text, *end = s->text + s->size;
    for (uint32_t n = s->first_line; line && n < l->line; n++)
      if ((line = memchr(line, '\n', (size_t)(end - line)))) line++;
    if (!line || line == end) continue;
    const char *newline = memchr(line, '\n', (size_t)(end - line));
    Arena scratch;
    arena_init(&scratch);
    Buf b = buf_make(&scratch);
    diag_put_line(&b, (uint32_t)indent + 2, line, (size_t)((newline ? newline : end) - line), l->col);
    fputs(buf_str(&b), f);
    arena_free(&scratch);
    return;
  }
}

void report_place(FILE *f, const PtxModule *m, const Instr *in, int indent) {
  if (in->line && in->line <= m->num_lines) {
    const char *s = m->text + m->line_starts[in->line - 1];
    size_t n = strcspn(s, "\r\n");
    while (n && (*s == ' ' || *s == '\t')) s++, n--;
    fprintf(f, "%*sptx:%u: %.*s\n", indent, "", in->line, n > 160 ? 160 : (int)n, s);
    print_loc(f, m, in->loc, indent);
  }
  print_line(f, m, in, indent);
}

ExecResult sim_report(Grid *g, Warp *w, const Instr *in, int lane, ReportKind kind, const char *fmt, ...) {
  if (g->failed) return EXEC_FAULT;   // only the first report counts
  g->failed = kinds[kind].code;
  g->sim->report_kind = kind;
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
  if (in) report_place(f, g->module, in, 2);
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
