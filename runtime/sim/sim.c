// One simulated machine: its devices and options.
#include <stdlib.h>
#include <string.h>

#include "runtime/sim/sim.h"

static uint64_t env_number(const char *name, uint64_t otherwise) {
  const char *s = getenv(name);
  return s && *s ? strtoull(s, NULL, 0) : otherwise;
}

// As env_number; a value outside [lo, hi] counts as not given.
static uint64_t env_within(const char *name, uint64_t lo, uint64_t hi, uint64_t otherwise) {
  uint64_t v = env_number(name, otherwise);
  return v < lo || v > hi ? otherwise : v;
}

void sim_init(Sim *sim) {
  *sim = (Sim){0};
  arena_init(&sim->arena);
  sim->seed = env_number("TILE_SIM_SEED", 0);
  sim->num_seeds = (uint32_t)env_number("TILE_SIM_SEEDS", 1);
  sim->seed_step = env_number("TILE_SIM_SEED_STEP", 0);
  sim->checks = (uint32_t)env_number("TILE_SIM_CHECKS", CHECK_RACES | CHECK_UNDEF | CHECK_ASYNC);
  sim->max_steps = env_number("TILE_SIM_MAX_STEPS", 0);
  sim->trace_path = getenv("TILE_SIM_TRACE");
  sim->num_devices = (int)env_within("TILE_SIM_DEVICES", 1, 64, 1);
  const int sms = (int)env_within("TILE_SIM_SMS", 1, 4096, 132),
            shared = (int)env_within("TILE_SIM_SHARED", 48 * 1024, 227 * 1024, 227 * 1024);
  const uint64_t memory = env_within("TILE_SIM_MEMORY", 1 << 20, UINT64_C(141) << 30, UINT64_C(141) << 30);
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
