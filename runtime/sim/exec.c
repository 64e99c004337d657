// The executor: warps with a program counter per thread, CTAs, clusters, the grid.
//
// Lanes at the same instruction, call depth and frame run together as the active group; the others are parked. The group
// with the deepest call and then the lowest pc goes first, so that groups meet where paths join; a group that loops for long
// gives way, so that a lane spinning on what another lane of its warp must do ends. A warp-synchronous instruction stalls
// its lanes until all lanes it names have come.
#include <stdlib.h>
#include <string.h>

#include "runtime/sim/sim.h"

enum { MAX_BURST = 128, POLLS_TO_WIDEN = 256, POLLS_TO_GIVE_UP = 1 << 18, STEPS_TO_WIDEN = 1 << 18 };
#define FIRST_LOCAL 128u

// ------------------------------------------------------------------------------------------------------------ warp

void warp_save_group(Warp *w) {
  FOR_LANES(l, w->active) {
    w->lane_pc[l] = w->pc;
    w->lane_depth[l] = w->depth;
    w->lane_base[l] = w->base;
    w->lane_pbase[l] = w->pbase;
  }
}

// Picks the next group to run. avoid: lanes that have run long enough and go last.
static void regroup(Warp *w, uint32_t avoid) {
  warp_save_group(w);
  w->burst = 0;
  uint32_t live = live_lanes(w) & ~w->in_barrier;
  uint32_t ready = live & ~w->stalled & ~w->waiting;
  if (!ready && (w->retry & 1)) {
    w->retry = 0;
    w->stalled = 0;
    ready = live & ~w->waiting;
  }
  if (!ready) {
    w->active = 0;
    w->state = !live_lanes(w) ? WARP_DONE : (w->waiting & live) ? WARP_WAIT : (w->stalled & live) ? WARP_STUCK : WARP_BARRIER;
    return;
  }
  if (ready & ~avoid) ready &= ~avoid;
  int best = -1;
  FOR_LANES(l, ready) {
    if (best < 0 || w->lane_depth[l] > w->lane_depth[best] || (w->lane_depth[l] == w->lane_depth[best] && w->lane_pc[l] < w->lane_pc[best])) best = (int)l;
  }
  uint32_t group = 0, meet = UINT32_MAX;
  FOR_LANES(l, live) {
    if (w->lane_depth[l] != w->lane_depth[best] || w->lane_base[l] != w->lane_base[best]) continue;
    if (w->lane_pc[l] == w->lane_pc[best]) group |= 1u << l;
    else if (w->lane_pc[l] > w->lane_pc[best] && w->lane_pc[l] < meet) meet = w->lane_pc[l];
  }
  w->active = group;
  w->stalled &= ~group;
  w->waiting &= ~group;
  w->pc = w->lane_pc[best];
  w->depth = w->lane_depth[best];
  w->base = w->lane_base[best];
  w->pbase = w->lane_pbase[best];
  w->r = w->regs + (size_t)w->base * WARP_SIZE;
  w->p = w->preds + w->pbase;
  w->meet = meet;
  w->state = WARP_RUN;
}

void warp_ensure_frame(Warp *w, uint32_t base, uint32_t slots, uint32_t pbase, uint32_t preds) {
  uint32_t need = base + slots + 1, pneed = pbase + preds + 1;
  if (need > w->cap_slots) {
    uint32_t cap = need + need / 2;
    w->regs = realloc(w->regs, (size_t)cap * WARP_SIZE * 8);
    memset(w->regs + (size_t)w->cap_slots * WARP_SIZE, 0, (size_t)(cap - w->cap_slots) * WARP_SIZE * 8);
    if (w->grid->checks & CHECK_UNDEF) {
      w->undef = realloc(w->undef, (size_t)cap * WARP_SIZE * 8);
      memset(w->undef + (size_t)w->cap_slots * WARP_SIZE, 0xff, (size_t)(cap - w->cap_slots) * WARP_SIZE * 8);
      w->undef_lanes = realloc(w->undef_lanes, cap * 4);
      memset(w->undef_lanes + w->cap_slots, 0xff, (cap - w->cap_slots) * 4);
    }
    w->cap_slots = cap;
  }
  if (pneed > w->cap_preds) {
    uint32_t cap = pneed + pneed / 2;
    w->preds = realloc(w->preds, cap * 4);
    memset(w->preds + w->cap_preds, 0, (cap - w->cap_preds) * 4);
    if (w->grid->checks & CHECK_UNDEF) {
      w->pred_undef = realloc(w->pred_undef, cap * 4);
      memset(w->pred_undef + w->cap_preds, 0xff, (cap - w->cap_preds) * 4);
    }
    w->cap_preds = cap;
  }
  w->r = w->regs + (size_t)w->base * WARP_SIZE;
  w->p = w->preds + w->pbase;
}

uint8_t *warp_local(Warp *w, const Instr *in, int lane, uint64_t addr, uint32_t size) {
  uint64_t limit = w->lane_local[lane] + in->func->frame_bytes;
  if (addr < FIRST_LOCAL || addr + size > limit || addr + size < addr) return NULL;
  if (limit > w->cap_local[lane]) {
    uint32_t cap = (uint32_t)(limit + limit / 2 + 256);
    w->local[lane] = realloc(w->local[lane], cap);
    memset(w->local[lane] + w->cap_local[lane], 0xff, cap - w->cap_local[lane]);
    if (w->undef) {
      w->local_undef[lane] = realloc(w->local_undef[lane], cap);
      memset(w->local_undef[lane] + w->cap_local[lane], 0xff, cap - w->cap_local[lane]);
    }
    w->cap_local[lane] = cap;
  }
  return w->local[lane] + addr;
}

void warp_poll(Warp *w) {
  if (w->polls_at != w->grid->progress) w->polls = 0, w->polls_at = w->grid->progress;
  w->polls++;
  w->yield = true;
}

ExecResult exec_nop(Warp *w, const Instr *in, uint32_t mask) {
  (void)w; (void)in; (void)mask;
  return EXEC_NEXT;
}

static void park(Warp *w, uint32_t mask, uint32_t *set) {
  warp_save_group(w);
  FOR_LANES(l, w->active & ~mask) w->lane_pc[l] = w->pc + 1;
  // Lanes that stalled here earlier, while this group ran at higher addresses: all try again together.
  uint32_t here = 0;
  FOR_LANES(l, w->stalled & ~w->active) if (w->lane_pc[l] == w->pc && w->lane_depth[l] == w->depth && w->lane_base[l] == w->base) here |= 1u << l;
  if (here) w->stalled &= ~here;
  else *set |= mask;
  w->active = 0;
}

static uint32_t warp_run(Warp *w, uint32_t budget) {
  Grid *g = w->grid;
  const Instr *code = g->module->code;
  uint32_t done = 0, last = 0;
  uint64_t lanes = 0;
  if (w->state != WARP_RUN || !w->active) {
    w->waiting = 0;
    regroup(w, 0);
  }
  w->yield = false;
  while (w->state == WARP_RUN && done < budget) {
    const Instr *in = &code[w->pc];
    last = w->pc;
    uint32_t mask = w->active;
    if (in->guard >= 0) {
      uint32_t pv = w->p[in->guard];
      mask &= in->guard_negated ? ~pv : pv;
    }
    done++;
    if (g->hooks.step && g->hooks.step(w, in, mask) == EXEC_FAULT) break;
    lanes += (uint32_t)__builtin_popcount(mask);
    switch (mask ? in->exec(w, in, mask) : EXEC_NEXT) {
    case EXEC_NEXT:
      w->pc++;
      break;
    case EXEC_JUMP: break;
    case EXEC_STALL: park(w, mask, &w->stalled); break;
    case EXEC_WAIT:
      park(w, mask, &w->waiting);
      warp_poll(w);
      break;
    case EXEC_FAULT: goto out;
    }
    if (!w->active) regroup(w, 0);
    else if (w->pc >= w->meet) regroup(w, 0);
    else if (w->burst > MAX_BURST) {
      if (w->active != (live_lanes(w) & ~w->in_barrier & ~w->stalled & ~w->waiting)) regroup(w, w->active);
      else w->burst = 0;
    }
    if (w->yield) break;
  }
out:
  if (g->trace && done) {
    static const char *const then[] = {"run", "run, then diverged", "run, then wait", "run, then barrier", "run, then exit"};
    trace_span(w->cta, w->id, then[w->state], &code[last], g->steps, g->steps + done);
  }
  w->steps += done;
  g->steps += done;
  g->lane_steps += lanes;
  return done;
}

// -------------------------------------------------------------------------------------------------- CTAs, clusters

static void start_warp(Warp *w, uint32_t id, Cta *c) {
  Grid *g = c->grid;
  uint64_t *regs = w->regs, *undef = w->undef;
  uint32_t *preds = w->preds, *undef_lanes = w->undef_lanes, *pred_undef = w->pred_undef;
  uint32_t cap_slots = w->cap_slots, cap_preds = w->cap_preds;
  CallFrame *stack[WARP_SIZE];
  uint8_t *local[WARP_SIZE], *local_undef[WARP_SIZE];
  uint32_t cap_stack[WARP_SIZE], cap_local[WARP_SIZE];
  memcpy(stack, w->stack, sizeof stack);
  memcpy(local, w->local, sizeof local);
  memcpy(local_undef, w->local_undef, sizeof local_undef);
  memcpy(cap_stack, w->cap_stack, sizeof cap_stack);
  memcpy(cap_local, w->cap_local, sizeof cap_local);
  *w = (Warp){.cta = c, .grid = g, .id = id, .regs = regs, .preds = preds, .undef = undef, .undef_lanes = undef_lanes,
              .pred_undef = pred_undef, .cap_slots = cap_slots, .cap_preds = cap_preds};
  memcpy(w->stack, stack, sizeof stack);
  memcpy(w->local, local, sizeof local);
  memcpy(w->local_undef, local_undef, sizeof local_undef);
  memcpy(w->cap_stack, cap_stack, sizeof cap_stack);
  memcpy(w->cap_local, cap_local, sizeof cap_local);
  if (undef) {  // a reused warp: its registers and local memory are undefined again
    for (int l = 0; l < WARP_SIZE; l++)
      if (local_undef[l]) memset(local_undef[l], 0xff, cap_local[l]);
    memset(undef, 0xff, (size_t)cap_slots * WARP_SIZE * 8);
    memset(undef_lanes, 0xff, cap_slots * 4);
    memset(pred_undef, 0xff, cap_preds * 4);
  }
  uint32_t first = id * WARP_SIZE, n = c->num_threads - first;
  w->exist = n >= WARP_SIZE ? FULL_MASK : (1u << n) - 1;
  w->maxnreg = g->func->maxnreg;
  warp_ensure_frame(w, 0, g->func->num_slots, 0, g->func->num_preds);
  for (int l = 0; l < WARP_SIZE; l++) {
    w->lane_pc[l] = g->func->first;
    w->lane_local[l] = FIRST_LOCAL;
  }
  regroup(w, 0);
}

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
  for (uint32_t i = 0; i < c->num_warps; i++) start_warp(&c->warps[i], i, c);
  trace_cta(c);
  if (g->hooks.cta_begin) g->hooks.cta_begin(c);
}

// The cluster that starts as the nth. The hardware promises no order; programs may wait for others among those that fit at once,
// so clusters change places only within a window of that size.
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
      free(w->regs), free(w->preds), free(w->undef), free(w->undef_lanes), free(w->pred_undef);
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
  case 1: return 1 + rng_next(&g->rng) % 4;          // change warps at almost every instruction
  case 2: return 100000;                             // one warp runs as far as it can: the greatest skew
  case 3: return 1 + rng_next(&g->rng) % 512;
  default: return 32 + rng_next(&g->rng) % 96;
  }
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

// True when nothing that runs can make headway by itself: all warps are blocked or have polled in vain for `polls` times.
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

static void run_grid(Grid *g) {
  uint64_t cluster_size = (uint64_t)g->launch.cluster[0] * g->launch.cluster[1] * g->launch.cluster[2];
  uint64_t want = g->launch.cooperative ? g->num_ctas / cluster_size : g->policy == 3 ? 2 : g->policy == 1 ? 3 : 1;
  uint64_t widened_at = g->steps;
  while (!g->failed) {
    while (g->num_resident < want && g->next_cta < g->num_ctas) add_cluster(g);
    if (!g->resident) break;
    uint32_t steps = 0;
    for (Cluster **at = &g->resident; *at && !g->failed;) {
      Cluster *cl = *at;
      for (uint32_t i = 0; i < cl->num_ctas && !g->failed; i++) steps += run_cta(cl->ctas[i]);
      if (g->hooks.async_advance && !g->failed && g->hooks.async_advance(cl, false)) g->progress++, steps++;
      if (!g->failed && cluster_done(cl)) {
        if (g->hooks.cluster_end) g->hooks.cluster_end(cl);
        *at = cl->next;
        cl->next = g->pool;
        g->pool = cl;
        g->num_resident--;
        g->progress++;
        steps++;
        widened_at = g->steps;
      } else {
        at = &cl->next;
      }
    }
    if (g->failed || !g->resident) continue;
    if (g->max_steps && g->steps > g->max_steps) {
      sim_report(g, NULL, NULL, -1, REPORT_DEADLOCK, "no end after %llu warp instructions", (unsigned long long)g->steps);
      break;
    }
    // A block that polls between its own barriers and stores to shared memory never looks idle: after this long others get in as well.
    if (g->steps - widened_at > STEPS_TO_WIDEN && g->next_cta < g->num_ctas && g->num_resident < g->max_resident) {
      widened_at = g->steps;
      want = g->num_resident + 1;
      continue;
    }
    if ((steps || g->policy == 3) && !all_idle(g, POLLS_TO_WIDEN)) continue;
    bool moved = false;
    for (Cluster *cl = g->resident; cl && !moved && !g->failed; cl = cl->next)
      if (g->hooks.async_advance) moved = g->hooks.async_advance(cl, true);
    if (moved) {
      g->progress++;
    } else if (g->next_cta < g->num_ctas && g->num_resident < g->max_resident) {
      want = g->num_resident + 1;   // they wait for blocks that are not resident yet
    } else if (all_idle(g, POLLS_TO_GIVE_UP)) {
      deadlock_report(g);
    }
  }
}

static CUresult run_once(Sim *sim, Device *d, const LaunchParams *lp, uint64_t seed) {
  PtxFunction *f = lp->func;
  Grid *g = calloc(1, sizeof *g);
  if (!g) return CUDA_ERROR_OUT_OF_MEMORY;
  *g = (Grid){.sim = sim, .device = d, .module = f->module, .func = f, .launch = *lp, .seed = seed, .rng = seed * 0x9e37 + 1,
              .policy = (uint32_t)(seed % 4), .checks = sim->checks, .max_steps = sim->max_steps};
  g->num_ctas = (uint64_t)lp->grid[0] * lp->grid[1] * lp->grid[2];
  g->dynamic_offset = (f->static_shared + f->dynamic_align - 1) / f->dynamic_align * f->dynamic_align;
  g->shared_size = lp->dynamic_shared ? g->dynamic_offset + lp->dynamic_shared : f->static_shared;
  uint64_t cluster_size = (uint64_t)lp->cluster[0] * lp->cluster[1] * lp->cluster[2];
  g->max_resident = (uint32_t)(g->device->num_sms * sim_occupancy(d, f, lp->block[0] * lp->block[1] * lp->block[2], lp->dynamic_shared) / (int)cluster_size);
  if (!g->max_resident) g->max_resident = 1;
  g->param_addr = device_alloc(d, f->param_bytes ? f->param_bytes : 1, 512, ALLOC_PARAM);
  if (!g->param_addr) {
    free(g);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  if (f->param_bytes) memcpy((void *)(uintptr_t)g->param_addr, lp->params, f->param_bytes);
  if (lp->cooperative && (g->workspace = device_alloc(d, 8, 16, ALLOC_MODULE))) memcpy((void *)(uintptr_t)g->workspace, &(uint64_t){8}, 8);
  hooks_install(g, &g->hooks);
  bool traced = trace_open(g);
  if (g->hooks.grid_begin) g->hooks.grid_begin(g);
  if (traced) run_grid(g);
  if (g->hooks.grid_end) g->hooks.grid_end(g);
  trace_close(g);
  CUresult rc = g->failed;
  sim->total_steps += g->steps;
  sim->total_lane_steps += g->lane_steps;
  for (Cluster *cl = g->resident, *next; cl; cl = next) next = cl->next, free_cluster(cl);
  for (Cluster *cl = g->pool, *next; cl; cl = next) next = cl->next, free_cluster(cl);
  device_free(d, g->param_addr);
  if (g->workspace) device_free(d, g->workspace);
  free(g);
  return rc;
}

// All device memory and its definedness, copied to or from `saved`; the bytes that takes.
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

// With several seeds, every run starts from the same memory; the last run's results stay.
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
