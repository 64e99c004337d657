// A launch: starts and ends clusters and CTAs, and schedules their warps by the seed.
#include <stdlib.h>
#include <string.h>

#include "runtime/sim/counts.h"

enum { POLLS_TO_WIDEN = 256, POLLS_TO_GIVE_UP = 1 << 18, STEPS_TO_WIDEN = 1 << 18 };

// -------------------------------------------------------------------------------------------------- CTAs, clusters

static void start_cta(Cta *c, Cluster *cl, uint32_t rank, const uint32_t id[3]) {
  Grid *g = cl->grid;
  uint8_t *shared = c->shared;
  Warp *warps = c->warps;
  *c = (Cta){.grid = g, .cluster = cl, .rank = rank, .shared = shared, .shared_size = g->shared_size, .warps = warps};
  memcpy(c->ctaid, id, sizeof c->ctaid);
  const LaunchParams *lp = &g->launch;
  c->linear = ((uint64_t)id[2] * lp->grid[1] + id[1]) * lp->grid[0] + id[0];
  c->num_threads = lp->block[0] * lp->block[1] * lp->block[2];
  c->num_warps = (c->num_threads + WARP_SIZE - 1) / WARP_SIZE;
  c->sm = (uint32_t)(c->linear % (uint32_t)g->device->num_sms);
  if (!c->shared) c->shared = malloc(g->shared_size ? g->shared_size : 1);
  if (!c->warps) c->warps = calloc(c->num_warps, sizeof *c->warps);
  memset(c->shared, 0xff, g->shared_size);
  for (uint32_t i = 0; i < c->num_warps; i++) warp_start(&c->warps[i], i, c);
  trace_cta(c);
  if (g->hooks.cta_begin) g->hooks.cta_begin(c);
}

// The cluster that starts as the nth. The hardware promises no order, but a program may wait for others that are
// resident with it. Clusters therefore change places only within a window of the size that fits at once.
static uint64_t nth_cluster(const Grid *g, uint64_t n, uint64_t total) {
  uint64_t window = 64;
  while (window > g->max_resident || n / window * window + window > total) window /= 2;
  return g->policy == 1 ? n ^ (window - 1) : g->policy == 3 ? n ^ (g->seed * 0x9e3779b9u >> 8) % window : n;
}

// The next cluster of the grid: its CTAs are neighbours in each dimension.
static void add_cluster(Grid *g) {
  Cluster *cl = g->pool;
  if (cl) g->pool = cl->next;
  else cl = calloc(1, sizeof *cl), cl->ctas = NULL;
  const LaunchParams *lp = &g->launch;
  Cta **ctas = cl->ctas;
  *cl = (Cluster){.grid = g, .ctas = ctas};
  memcpy(cl->dim, lp->cluster, sizeof cl->dim);
  cl->num_ctas = cl->dim[0] * cl->dim[1] * cl->dim[2];
  if (!cl->ctas) {
    cl->ctas = calloc(cl->num_ctas, sizeof *cl->ctas);
    for (uint32_t i = 0; i < cl->num_ctas; i++) cl->ctas[i] = calloc(1, sizeof **cl->ctas);
  }
  uint64_t n = nth_cluster(g, g->next_cta / cl->num_ctas, g->num_ctas / cl->num_ctas);
  uint32_t across = lp->grid[0] / cl->dim[0], down = lp->grid[1] / cl->dim[1];
  cl->id[0] = (uint32_t)(n % across);
  cl->id[1] = (uint32_t)(n / across % down);
  cl->id[2] = (uint32_t)(n / across / down);
  g->next_cta += cl->num_ctas;
  for (uint32_t r = 0; r < cl->num_ctas; r++) {
    uint32_t in[3] = {r % cl->dim[0], r / cl->dim[0] % cl->dim[1], r / (cl->dim[0] * cl->dim[1])};
    uint32_t id[3] = {cl->id[0] * cl->dim[0] + in[0], cl->id[1] * cl->dim[1] + in[1], cl->id[2] * cl->dim[2] + in[2]};
    start_cta(cl->ctas[r], cl, r, id);
  }
  Cluster **tail = &g->resident;
  while (*tail) tail = &(*tail)->next;
  *tail = cl;
  g->num_resident++;
}

static void free_cluster(Cluster *cl) {
  for (uint32_t i = 0; i < cl->num_ctas; i++) {
    Cta *c = cl->ctas[i];
    for (uint32_t k = 0; k < c->num_warps; k++) {
      Warp *w = &c->warps[k];
      endless_free(w);
      free(w->regs), free(w->preds), free(w->undef), free(w->undef_lanes), free(w->pred_undef);
      free(w->accesses);
      for (int l = 0; l < WARP_SIZE; l++) free(w->stack[l]), free(w->local[l]), free(w->local_undef[l]);
    }
    free(c->warps);
    free(c->shared);
    free(c);
  }
  free(cl->ctas);
  free(cl);
}

static bool cluster_done(const Cluster *cl) {
  for (uint32_t i = 0; i < cl->num_ctas; i++)
    if (cl->ctas[i]->warps_done < cl->ctas[i]->num_warps) return false;
  return true;
}

// ----------------------------------------------------------------------------------------------------- scheduling

static uint32_t quantum(Grid *g) {
  switch (g->policy) {
  case 1: return 1 + rng_next(&g->rng) % 4;          // switch warps at almost every instruction
  case 2: return 100000;                             // one warp runs as far as it can: the greatest skew
  case 3: return 1 + rng_next(&g->rng) % 512;
  default: return 32 + rng_next(&g->rng) % 96;
  }
}

// Ends the launch if the host wants that. It is asked often, and looks at the clock itself.
static void poll_host(Grid *g) {
  enum { STEPS_BETWEEN = 1 << 12 };
  if (!g->sim->should_stop || g->failed || g->steps - g->asked_at < STEPS_BETWEEN) return;
  g->asked_at = g->steps;
  if (g->sim->should_stop(g->sim->stop_user)) g->failed = GRID_STOPPED;
}

static uint32_t run_cta(Cta *c) {
  Grid *g = c->grid;
  uint32_t n = c->num_warps, steps = 0;
  uint32_t start = g->policy == 0 ? 0 : rng_next(&g->rng) % n;
  for (uint32_t i = 0; i < n && !g->failed; i++) {
    uint32_t k = (start + i) % n;
    if (g->policy == 3 && (g->seed & 4)) k = n - 1 - k;
    Warp *w = &c->warps[k];
    if (w->state == WARP_DONE || w->state == WARP_BARRIER || (w->state == WARP_STUCK && !w->retry)) continue;
    if (g->policy == 3 && rng_next(&g->rng) % 4 == 0) continue;
    steps += warp_run(w, quantum(g));
    w->ran_at = g->steps;
    poll_host(g);
    if (w->state == WARP_DONE && !w->counted) {
      w->counted = true;
      c->warps_done++;
      g->progress++;
      if (c->warps_done < c->num_warps) continue;
      exec_setmaxnreg_cta_end(c);
      if (g->hooks.cta_end) g->hooks.cta_end(c);
    }
  }
  return steps;
}

// Is every warp blocked, or has it polled `polls` times in vain?
static bool all_idle(const Grid *g, uint64_t polls) {
  for (const Cluster *cl = g->resident; cl; cl = cl->next)
    for (uint32_t i = 0; i < cl->num_ctas; i++) {
      const Cta *c = cl->ctas[i];
      for (uint32_t k = 0; k < c->num_warps; k++) {
        const Warp *w = &c->warps[k];
        if (w->state == WARP_DONE || w->state == WARP_BARRIER || (w->state == WARP_STUCK && !w->retry)) continue;
        if (w->polls_at != g->progress || w->polls < polls) return false;
      }
    }
  return true;
}

// Are there warps in loops that change nothing, and does every other one wait while no memory changes?
static bool all_repeat(Grid *g) {
  enum { STEPS_ASLEEP = 1 << 22 };
  bool any = false;
  if (g->quiet_changes != g->progress - g->meetings) {
    g->quiet_changes = g->progress - g->meetings;
    g->quiet_from = g->steps;
    return false;
  }
  for (const Cluster *cl = g->resident; cl; cl = cl->next)
    for (uint32_t i = 0; i < cl->num_ctas; i++) {
      const Cta *c = cl->ctas[i];
      for (uint32_t k = 0; k < c->num_warps; k++) {
        const Warp *w = &c->warps[k];
        if (w->state == WARP_DONE) continue;
        if (endless_repeats(w, NULL)) {
          any = true;
          continue;
        }
        if (w->state == WARP_RUN) return false;
        if (w->state == WARP_WAIT ? w->ran_at <= g->quiet_from : g->steps - w->ran_at < STEPS_ASLEEP) return false;
      }
    }
  return any;
}

// Ends the cluster at *at, whose warps have all exited, and keeps its memory for the next one.
static void end_cluster(Grid *g, Cluster **at) {
  Cluster *cl = *at;
  if (g->hooks.cluster_end) g->hooks.cluster_end(cl);
  *at = cl->next;
  cl->next = g->pool;
  g->pool = cl;
  g->num_resident--;
  g->progress++;
}

// Gives each resident cluster a turn. Returns how much was done: 0 if nothing could move. *ended: whether one ended.
static uint32_t run_clusters(Grid *g, bool *ended) {
  uint32_t steps = 0;
  *ended = false;
  for (Cluster **at = &g->resident; *at && !g->failed;) {
    Cluster *cl = *at;
    for (uint32_t i = 0; i < cl->num_ctas && !g->failed; i++) steps += run_cta(cl->ctas[i]);
    if (g->hooks.async_advance && !g->failed && g->hooks.async_advance(cl, false)) g->progress++, steps++;
    if (!g->failed && cluster_done(cl)) {
      end_cluster(g, at);
      *ended = true;
      steps++;
    } else {
      at = &cl->next;
    }
  }
  return steps;
}

// Makes one asynchronous operation happen that may wait. False if there is none.
static bool force_async(Grid *g) {
  for (Cluster *cl = g->resident; cl && !g->failed && g->hooks.async_advance; cl = cl->next)
    if (g->hooks.async_advance(cl, true)) {
      g->progress++;
      return true;
    }
  return false;
}

// Twice as many clusters as are resident, if so many fit.
static uint64_t wider(const Grid *g) {
  return 2 * g->num_resident < g->max_resident ? 2 * g->num_resident : g->max_resident;
}

static void run_grid(Grid *g) {
  uint64_t cluster_size = (uint64_t)g->launch.cluster[0] * g->launch.cluster[1] * g->launch.cluster[2];
  // How many clusters are resident at once.
  uint64_t want = g->launch.cooperative ? g->num_ctas / cluster_size : g->policy == 3 ? 2 : g->policy == 1 ? 3 : 1;
  uint64_t widened_at = g->steps;
  while (!g->failed) {
    while (g->num_resident < want && g->next_cta < g->num_ctas) add_cluster(g);
    if (!g->resident) break;
    bool ended;
    uint32_t steps = run_clusters(g, &ended);
    if (ended) widened_at = g->steps;
    if (g->failed || !g->resident) continue;
    if (g->max_steps && g->steps > g->max_steps) {
      char what[80];
      snprintf(what, sizeof what, "the launch has not ended after %llu warp instructions",
               (unsigned long long)g->steps);
      deadlock_report(g, what);
      break;
    }
    const bool can_widen = g->next_cta < g->num_ctas && g->num_resident < g->max_resident;
    // A block that polls between its own barriers and stores to shared memory never looks idle. After this many steps
    // others start, too.
    if (g->steps - widened_at > STEPS_TO_WIDEN && can_widen) {
      widened_at = g->steps;
      want = wider(g);
      continue;
    }
    const bool repeats = all_repeat(g);
    if (!repeats && (steps || g->policy == 3) && !all_idle(g, POLLS_TO_WIDEN)) continue;
    if (force_async(g)) continue;
    if (can_widen) want = wider(g);   // the warps may wait for blocks that are not resident yet
    else if (repeats || all_idle(g, POLLS_TO_GIVE_UP)) deadlock_report(g, "no thread can go on");
  }
}

static CUresult run_once(Sim *sim, Device *d, const LaunchParams *lp, uint64_t seed) {
  PtxFunction *f = lp->func;
  Grid *g = calloc(1, sizeof *g);
  if (!g) return CUDA_ERROR_OUT_OF_MEMORY;
  *g = (Grid){.sim = sim,
              .device = d,
              .module = f->module,
              .func = f,
              .launch = *lp,
              .seed = seed,
              .rng = seed * 0x9e37 + 1,
              .policy = (uint32_t)(seed % 4),
              .checks = sim->checks,
              .max_steps = sim->max_steps};
  g->num_ctas = (uint64_t)lp->grid[0] * lp->grid[1] * lp->grid[2];
  g->dynamic_offset = (f->static_shared + f->dynamic_align - 1) / f->dynamic_align * f->dynamic_align;
  g->shared_size = lp->dynamic_shared ? g->dynamic_offset + lp->dynamic_shared : f->static_shared;
  uint64_t cluster_size = (uint64_t)lp->cluster[0] * lp->cluster[1] * lp->cluster[2];
  g->max_resident = (uint32_t)(g->device->num_sms *
                               sim_occupancy(d, f, lp->block[0] * lp->block[1] * lp->block[2], lp->dynamic_shared) /
                               (int)cluster_size);
  if (!g->max_resident) g->max_resident = 1;
  g->param_addr = device_alloc(d, f->param_bytes ? f->param_bytes : 1, 512, ALLOC_PARAM);
  if (!g->param_addr) {
    free(g);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  if (f->param_bytes) memcpy((void *)(uintptr_t)g->param_addr, lp->params, f->param_bytes);
  if (lp->cooperative && (g->workspace = device_alloc(d, 8, 16, ALLOC_MODULE)))
    memcpy((void *)(uintptr_t)g->workspace, &(uint64_t){8}, 8);
  hooks_install(g, &g->hooks);
  bool traced = trace_open(g);
  counts_begin(g);
  if (g->hooks.grid_begin) g->hooks.grid_begin(g);
  if (traced) run_grid(g);
  if (g->hooks.grid_end) g->hooks.grid_end(g);
  trace_close(g);
  counts_end(g);
  CUresult rc = g->failed;
  for (Cluster *cl = g->resident, *next; cl; cl = next) next = cl->next, free_cluster(cl);
  for (Cluster *cl = g->pool, *next; cl; cl = next) next = cl->next, free_cluster(cl);
  device_free(d, g->param_addr);
  if (g->workspace) device_free(d, g->workspace);
  free(g->last_changes);
  free(g->fresh);
  free(g);
  return rc;
}

// Copies all device memory and its definedness to or from `saved`; returns the number of bytes.
static size_t exchange_memory(const Device *d, uint8_t *saved, bool restore) {
  size_t at = 0;
  for (uint32_t i = 0; i < d->num_allocs; i++) {
    const Alloc *a = d->allocs[i];
    uint8_t *const parts[] = {(uint8_t *)(uintptr_t)a->base, a->shadow};
    for (uint32_t k = 0; k < countof(parts) && parts[k]; at += a->size, k++)
      if (saved) memcpy(restore ? parts[k] : saved + at, restore ? saved + at : parts[k], a->size);
  }
  return at;
}

// With several seeds, every run starts from the same memory. The results of the last run remain.
CUresult grid_run(Sim *sim, Device *d, const LaunchParams *lp) {
  uint32_t n = sim->num_seeds ? sim->num_seeds : 1;
  uint8_t *saved = NULL;
  if (n > 1) {
    saved = malloc(exchange_memory(d, NULL, false) + 1);
    if (!saved) return CUDA_ERROR_OUT_OF_MEMORY;
    exchange_memory(d, saved, false);
  }
  CUresult rc = CUDA_SUCCESS;
  for (uint32_t k = 0; k < n && !rc; k++) {
    if (k) exchange_memory(d, saved, true);
    rc = run_once(sim, d, lp, sim->seed + k);
  }
  free(saved);
  sim->seed += sim->seed_step;
  return rc;
}
