// The deadlock report: what the warps of the resident blocks wait for.
#include <stdlib.h>
#include <string.h>

#include "runtime/sim/exec.h"

enum { MAX_BLOCKS = 4, MAX_WARPS = 16 };

static void describe_lanes(FILE *f, const Warp *w, uint32_t lanes, const char *what) {
  const PtxModule *m = w->grid->module;
  while (lanes) {   // lanes at one instruction together
    uint32_t pc = w->lane_pc[__builtin_ctz(lanes)], group = 0;
    FOR_LANES(l, lanes) if (w->lane_pc[l] == pc) group |= 1u << l;
    lanes &= ~group;
    fprintf(f, "    warp %u lanes %#010x %s\n", w->id, group, what);
    if (pc < m->num_code) {
      fputs("    ", f);
      report_place(f, m, &m->code[pc]);
    }
  }
}

static void describe_warp(FILE *f, Warp *w) {
  warp_save_group(w);
  uint32_t live = live_lanes(w);
  if (!live) return;
  for (uint32_t id = 0; id < NUM_BARRIERS; id++) {
    uint32_t here = LANES_WHERE(l, w->in_barrier & live, w->lane_barrier[l] == id);
    if (!here) continue;
    const Instr *at = w->lane_barrier_instr[__builtin_ctz(here)];
    fprintf(f, "    warp %u lanes %#010x wait at barrier %u\n    ", w->id, here, id);
    report_place(f, w->grid->module, at);
  }
  live &= ~w->in_barrier;
  describe_lanes(f, w, live & w->stalled, "wait for other lanes of their warp");
  describe_lanes(f, w, live & w->waiting & ~w->stalled, "wait");
  describe_lanes(f, w, live & ~w->stalled & ~w->waiting, "poll without end");
}

static void describe_block(FILE *f, const Cta *c) {
  fprintf(f, "  block (%u,%u,%u): %u of %u warps have exited\n", c->ctaid[0], c->ctaid[1], c->ctaid[2], c->warps_done,
          c->num_warps);
  for (uint32_t b = 0; b < NUM_BARRIERS; b++) {
    const ThreadBarrier *bar = &c->bars[b];
    if (!bar->arrived) continue;
    if (bar->expected) fprintf(f, "    barrier %u: %u of %u threads have arrived\n", b, bar->arrived, bar->expected);
    else fprintf(f, "    barrier %u: %u threads have arrived; it waits for all that have not exited\n", b, bar->arrived);
  }
  for (uint32_t k = 0; k < c->num_warps && k < MAX_WARPS; k++) describe_warp(f, &c->warps[k]);
  if (c->num_warps > MAX_WARPS) fprintf(f, "    … and %u more warps\n", c->num_warps - MAX_WARPS);
}

static bool is_divergent(const Cta *c) {
  for (uint32_t k = 0; k < c->num_warps; k++)
    if (c->warps[k].state == WARP_STUCK && c->warps[k].stalled) return true;
  return false;
}

void deadlock_report(Grid *g) {
  char *text = NULL;
  size_t size = 0;
  FILE *f = open_memstream(&text, &size);
  if (!f) return;
  bool divergent = false;
  uint32_t blocks = 0;
  for (Cluster *cl = g->resident; cl; cl = cl->next) {
    for (uint32_t i = 0; i < cl->num_ctas; i++) {
      const Cta *c = cl->ctas[i];
      divergent |= is_divergent(c);
      if (c->warps_done < c->num_warps && blocks++ < MAX_BLOCKS) describe_block(f, c);
    }
    if (cl->bar.arrived) fprintf(f, "  cluster barrier: %u threads have arrived\n", cl->bar.arrived);
    if (g->hooks.describe) {
      Arena a;
      arena_init(&a);
      const char *more = g->hooks.describe(cl, &a);
      if (more) fputs(more, f);
      arena_free(&a);
    }
  }
  if (blocks > MAX_BLOCKS) fprintf(f, "  … and %u more blocks\n", blocks - MAX_BLOCKS);
  fclose(f);
  if (size && text[size - 1] == '\n') text[size - 1] = 0;
  sim_report(g, NULL, NULL, -1, divergent ? REPORT_DIVERGENT : REPORT_DEADLOCK, "%s\n%s",
             divergent ? "threads of a warp wait for others that never reach the same instruction"
                       : "no thread can go on",
             text);
  free(text);
}
