// One simulated machine: its devices and options.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/sim/counts.h"

// A variable of the environment, which must be a whole number from lo to hi.
typedef struct { const char *name; uint64_t lo, hi, value; } Variable;
enum { SEED, SEEDS, SEED_STEP, CHECKS, MAX_STEPS, APPROX, DEVICES, SMS, SHARED, MEMORY, NUM_VARIABLES };

static bool read_variable(Variable *v) {
  const char *s = getenv(v->name);
  char *end;
  if (!s || !*s) return true;
  errno = 0;
  const uint64_t value = strtoull(s, &end, 0);
  if (*end || errno || strchr(s, '-') || value < v->lo || value > v->hi) return false;
  v->value = value;
  return true;
}

void sim_init(Sim *sim) {
  Variable all[NUM_VARIABLES] = {
      [SEED] = {"TILE_SIM_SEED", 0, UINT64_MAX, 0},
      [SEEDS] = {"TILE_SIM_SEEDS", 1, 1000000, 1},
      [SEED_STEP] = {"TILE_SIM_SEED_STEP", 0, UINT64_MAX, 0},
      [CHECKS] = {"TILE_SIM_CHECKS", 0, CHECK_ALL, CHECK_ALL},
      [MAX_STEPS] = {"TILE_SIM_MAX_STEPS", 0, UINT64_MAX, 0},
      [APPROX] = {"TILE_SIM_APPROX", 0, UINT64_MAX, 0},
      [DEVICES] = {"TILE_SIM_DEVICES", 1, 64, 1},
      [SMS] = {"TILE_SIM_SMS", 1, 4096, 132},
      [SHARED] = {"TILE_SIM_SHARED", 48 * 1024, 227 * 1024, 227 * 1024},
      [MEMORY] = {"TILE_SIM_MEMORY", 1 << 20, UINT64_C(141) << 30, UINT64_C(141) << 30}};
  *sim = (Sim){0};
  for (uint32_t i = 0; i < NUM_VARIABLES; i++)
    if (!read_variable(&all[i]))
      snprintf(sim->refused, sizeof sim->refused, "%s=%.100s: a whole number from %llu to %llu is needed", all[i].name,
               getenv(all[i].name), (unsigned long long)all[i].lo, (unsigned long long)all[i].hi);
  arena_init(&sim->arena);
  sim->seed = all[SEED].value;
  sim->num_seeds = (uint32_t)all[SEEDS].value;
  sim->seed_step = all[SEED_STEP].value;
  sim->checks = (uint32_t)all[CHECKS].value;
  sim->max_steps = all[MAX_STEPS].value;
  sim->approx = all[APPROX].value;
  sim->trace_path = getenv("TILE_SIM_TRACE");
  sim->num_devices = (int)all[DEVICES].value;
  const int sms = (int)all[SMS].value, shared = (int)all[SHARED].value;
  const uint64_t memory = all[MEMORY].value;
  sim->devices = arena_array(&sim->arena, Device, sim->num_devices);
  for (int i = 0; i < sim->num_devices; i++)
    sim->devices[i] = (Device){.sim = sim,
                               .ordinal = i,
                               .name = "Simulated H200",
                               .cc_major = 9,
                               .cc_minor = 0,
                               .num_sms = sms,
                               .total_mem = memory,
                               .shared_optin = shared,
                               .shared_per_sm = shared + SHARED_BASE};
}

void sim_free(Sim *sim) {
  for (int i = 0; i < sim->num_devices; i++) device_release(&sim->devices[i]);
  free(sim->report);
  free(sim->warnings);
  counts_free(sim);
  arena_free(&sim->arena);
  *sim = (Sim){0};
}

int sim_occupancy(const Device *d, const PtxFunction *f, uint32_t threads, uint64_t dynamic_shared) {
  uint32_t warps = (threads + WARP_SIZE - 1) / WARP_SIZE;
  uint64_t shared = f->static_shared + dynamic_shared + SHARED_BASE;
  if (!warps || shared > (uint64_t)d->shared_per_sm) return 0;
  uint64_t n = 32;
  if (64 / warps < n) n = 64 / warps;
  if ((uint64_t)d->shared_per_sm / shared < n) n = (uint64_t)d->shared_per_sm / shared;
  uint64_t registers = (uint64_t)f->maxnreg * warps * WARP_SIZE;
  if (registers && 65536 / registers < n) n = 65536 / registers;
  return (int)n;
}
