// A timeline of one launch in Chrome's trace format (chrome://tracing, Perfetto): a process per block, a track per
// warp, and tracks for copies and the tensor core. One microsecond stands for one warp instruction of the grid.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/sim/sim.h"

typedef struct Trace { FILE *file; bool any; } Trace;

bool trace_open(Grid *g) {
  if (!g->sim->trace_path || !*g->sim->trace_path) return true;
  FILE *f = fopen(g->sim->trace_path, "w");
  if (!f) {
    sim_report(g, NULL, NULL, -1, REPORT_FILE, "cannot write the trace to %s: %s", g->sim->trace_path, strerror(errno));
    return false;
  }
  Trace *t = calloc(1, sizeof *t);
  t->file = f;
  g->trace = t;
  fprintf(f, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"kernel\":\"%s\",\"seed\":%llu},\"traceEvents\":[",
          g->func->name, (unsigned long long)g->seed);
  return true;
}

static FILE *begin_event(Grid *g) {
  Trace *t = g->trace;
  fputs(t->any ? ",\n" : "\n", t->file);
  t->any = true;
  return t->file;
}

void trace_cta(Cta *c) {
  if (!c->grid->trace) return;
  fprintf(begin_event(c->grid),
          "{\"ph\":\"M\",\"pid\":%llu,\"name\":\"process_name\",\"args\":{\"name\":\"block (%u,%u,%u)\"}}",
          (unsigned long long)c->linear, c->ctaid[0], c->ctaid[1], c->ctaid[2]);
  for (uint32_t i = 0; i < c->num_warps; i++)
    fprintf(begin_event(c->grid),
            "{\"ph\":\"M\",\"pid\":%llu,\"tid\":%u,\"name\":\"thread_name\",\"args\":{\"name\":\"warp %u\"}}",
            (unsigned long long)c->linear, i, i);
  static const char *const engines[TRACE_NUM_ENGINES] = {"cp.async", "mbarrier arrivals", "TMA", "st.async",
                                                         "tensor core"};
  for (uint32_t i = 0; i < countof(engines); i++)
    fprintf(begin_event(c->grid),
            "{\"ph\":\"M\",\"pid\":%llu,\"tid\":%u,\"name\":\"thread_name\",\"args\":{\"name\":\"%s\"}}",
            (unsigned long long)c->linear, TRACE_ENGINES + i, engines[i]);
}

static void put_name(FILE *f, const PtxModule *m, const char *what, const Instr *in) {
  uint32_t line;
  const char *file = report_user_line(m, in, &line), *slash = file ? strrchr(file, '/') : NULL;
  fprintf(f, "\"%s%s", what ? what : "", what ? " " : "");
  for (const char *s = slash ? slash + 1 : file; s && *s; s++)
    if (*s == '"' || *s == '\\') fprintf(f, "\\%c", *s);
    else if ((unsigned char)*s >= ' ') fputc(*s, f);
  if (file) fprintf(f, ":%u\"", line);
  else fprintf(f, "ptx:%u\"", in->line);
}

void trace_span(Cta *c, uint32_t track, const char *what, const Instr *in, uint64_t from, uint64_t to) {
  if (!c->grid->trace) return;
  const PtxModule *m = c->grid->module;
  uint32_t line;
  report_user_line(m, in, &line);
  FILE *f = begin_event(c->grid);
  fprintf(f, "{\"ph\":\"X\",\"pid\":%llu,\"tid\":%u,\"ts\":%llu,\"dur\":%llu,\"name\":", (unsigned long long)c->linear,
          track, (unsigned long long)from, (unsigned long long)(to > from ? to - from : 1));
  put_name(f, m, what, in);
  fprintf(f, ",\"args\":{\"ptx\":%u,\"line\":%u}}", in->line, line);
}

void trace_step(Warp *w, const Instr *in, uint64_t at, TraceLine *open) {
  uint32_t line;
  const char *file = report_user_line(w->grid->module, in, &line);
  if (open->in && (!file || (open->file == file && open->line == line))) return;
  if (open->in && !open->file) {   // what has no line belongs to the nearest one before, or else after
    *open = (TraceLine){file, line, in, open->from};
    return;
  }
  if (open->in) trace_span(w->cta, w->id, NULL, open->in, open->from, at);
  *open = (TraceLine){file, line, in, at};
}

void trace_step_end(Warp *w, uint64_t at, TraceLine *open) {
  static const char *const then[WARP_STATES] = {NULL, "diverged at", "waits at", "barrier at", "exits at"};
  if (open->in) trace_span(w->cta, w->id, then[w->state], open->in, open->from, at);
}

void trace_close(Grid *g) {
  Trace *t = g->trace;
  if (!t) return;
  fprintf(t->file, "\n],\"warpInstructions\":%llu,\"threadInstructions\":%llu}\n", (unsigned long long)g->steps,
          (unsigned long long)g->lane_steps);
  const bool full = ferror(t->file);
  if ((fclose(t->file) != 0 || full) && !g->failed)
    sim_report(g, NULL, NULL, -1, REPORT_FILE, "cannot write the trace to %s: %s", g->sim->trace_path, strerror(errno));
  free(t);
  g->trace = NULL;
}
