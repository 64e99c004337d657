// Small kernels for the simulator's checkers: each runs with several seeds, and either gives its result or the report it must give.
#ifndef TILE_TESTS_SIM_CASE_H
#define TILE_TESTS_SIM_CASE_H

#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "ir/base.h"
#include "runtime/sim/sim.h"

enum { SEEDS = 12, BUFFER = 4096 };
// Registers and a shared array for all kernels: %d1 is the buffer, %t the thread, %s the address of 1 KB aligned shared bytes.
static const char *const case_prologue =
  ".version 8.6\n.target sm_90a\n.address_size 64\n"
  ".visible .entry k(.param .u64 buf) {\n"
  ".shared .align 1024 .b8 sm[8192];\n.shared .align 8 .b8 bar[64];\n"
  ".reg .b32 %r<40>; .reg .b64 %d<20>; .reg .pred %p<8>; .reg .f32 %f<40>; .reg .b16 %h<4>;\n"
  ".reg .b32 %t, %s, %b;\n"
  "ld.param.u64 %d1, [buf]; mov.u32 %t, %tid.x; mov.u32 %s, sm; mov.u32 %b, bar;\n";

// result: NULL: what the kernel leaves in the buffer is checked by `want`; else the words that the report starts with.
typedef struct { const char *what, *body; uint32_t threads, cluster; const char *report; uint32_t at, want; } Case;

static inline void run_case(const Case *c) {
  Sim sim;
  sim_init(&sim);
  sim.max_steps = 1000000;
  Device *dev = &sim.devices[0];
  uint32_t *buffer = (uint32_t *)(uintptr_t)device_alloc(dev, BUFFER, 512, ALLOC_DEVICE);
  char *text = malloc(strlen(case_prologue) + strlen(c->body) + 64);
  sprintf(text, "%s%s\nret;\n}\n", case_prologue, c->body);
  Module *m = module_load(dev, text, strlen(text));
  if (m->error) fail_msg("%s: %s", c->what, m->error);
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    for (uint32_t i = 0; i < BUFFER / 4; i++) buffer[i] = i;
    sim.seed = seed;
    uint64_t param = (uintptr_t)buffer;
    uint32_t n = c->cluster ? c->cluster : 1;
    LaunchParams lp = {.func = module_find(m, "k"), .grid = {n, 1, 1}, .block = {c->threads, 1, 1}, .cluster = {n, 1, 1}, .params = (const uint8_t *)&param};
    CUresult rc = grid_run(&sim, dev, &lp);
    if (!c->report && rc) fail_msg("%s, seed %d: %s", c->what, (int)seed, sim.report);
    if (!c->report && buffer[c->at] != c->want) fail_msg("%s, seed %d: buffer[%u] is %u, not %u", c->what, (int)seed, c->at, buffer[c->at], c->want);
    if (c->report && !rc) fail_msg("%s, seed %d: no report", c->what, (int)seed);
    if (c->report && strncmp(sim.report, c->report, strlen(c->report))) fail_msg("%s, seed %d: another report: %s", c->what, (int)seed, sim.report);
  }
  free(text);
  module_free(m);
  sim_free(&sim);
}

#define STORE5 "mad.wide.u32 %d3, %t, 4, %d1; st.global.u32 [%d3+2048], %r5;\n"
#define INIT(count) "setp.ne.u32 %p1, %t, 0; @%p1 bra L1; mbarrier.init.shared.b64 [%b], " #count "; fence.mbarrier_init.release.cluster; L1: bar.sync 0;\n"
#define WAIT(parity) "W" #parity ": mbarrier.try_wait.parity.shared.b64 %p2, [%b], " #parity "; @!%p2 bra W" #parity ";\n"

#endif
