// Reports: what went wrong, and where in the grid, in the PTX and in the source.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void print_loc(FILE *f, const PtxModule *m, const SrcLoc *l) {
  for (const char *word = "source"; l; l = l->inlined_at, word = "  inlined at") {
    const char *file = l->file < m->files.count && m->files.data[l->file] ? m->files.data[l->file] : "?";
    fprintf(f, "  %s %s:%u:%u\n", word, file, l->line, l->col);
  }
}

const char *report_user_line(const PtxModule *m, const Instr *in, uint32_t *line) {
  const char *path = NULL;
  *line = 0;
  for (const SrcLoc *l = in->loc; l; l = l->inlined_at) {
    const char *file = l->line && l->file < m->files.count ? m->files.data[l->file] : NULL;
    if (!file) continue;
    path = file;
    *line = l->line;
    if (*file != '<') break;
  }
  return path;
}

void report_place(FILE *f, const PtxModule *m, const Instr *in) {
  if (!in->line || in->line > m->num_lines) return;
  const char *s = m->text + m->line_starts[in->line - 1];
  size_t n = strcspn(s, "\r\n");
  while (n && (*s == ' ' || *s == '\t')) s++, n--;
  fprintf(f, "  ptx:%u: %.*s\n", in->line, n > 160 ? 160 : (int)n, s);
  print_loc(f, m, in->loc);
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
  if (in) report_place(f, g->module, in);
  if (g->other) {
    fputs("  the other access:\n", f);
    report_place(f, g->module, g->other);
  }
  if (kind == REPORT_UNDEFINED && g->by_zero) {
    fputs("  before that, a division by zero, or by a value that has never been set; its result is undefined:\n", f);
    report_place(f, g->module, g->by_zero);
  }
  fclose(f);
  free(g->sim->report);
  g->sim->report = text;
  return EXEC_FAULT;
}
