// Happens-before for shared memory: the threads' own accesses, barriers and fences, and the record that each word
// keeps of its readers and its writer. shadow_race.h explains clocks and epochs.
#include <stdlib.h>
#include <string.h>

#include "runtime/sim/lead.h"
#include "runtime/sim/shadow_race.h"

void race_join(const Cluster *c, uint32_t *into, const uint32_t *from) {
  uint32_t n = cluster_race(c)->comps;
  for (uint32_t i = 0; i < n; i++) into[i] = into[i] > from[i] ? into[i] : from[i];
}

void race_cta_begin(Cta *c) {
  Cluster *cl = c->cluster;
  if (!(c->grid->checks & CHECK_RACES)) return;
  if (!cl->shadow) {
    ClusterRace *r = calloc(1, sizeof *r);
    arena_init(&r->arena);
    r->warps_per_cta = c->num_warps;
    r->comps = cl->num_ctas * (c->num_warps * WARP_COMPS + MBARS_PER_CTA);
    cl->shadow = r;
    r->barrier_arrive = race_new_clock(cl);
    r->barrier_done = race_new_clock(cl);
    r->released = race_new_clock(cl);
  }
  CtaRace *r = arena_new(&cluster_race(cl)->arena, CtaRace);
  ((CtaShadow *)c->shadow)->race = r;
  r->cells = calloc((c->shared_size + 3) / 4 + 1, sizeof *r->cells);
  r->warps = arena_array(&cluster_race(cl)->arena, WarpRace, c->num_warps);
  for (uint32_t i = 0; i < c->num_warps; i++) {
    r->warps[i].vc = race_new_clock(cl);
    r->warps[i].vc[comp_of(&c->warps[i], C_SELF)] = r->warps[i].sync_clock = 1;
  }
}

void race_cluster_end(Cluster *c) {
  ClusterRace *r = c->shadow;
  if (!r) return;
  for (uint32_t i = 0; i < c->num_ctas; i++) {
    CtaRace *cta = cta_race(c->ctas[i]);
    if (!cta) continue;
    free(cta->cells);
    ((CtaShadow *)c->ctas[i]->shadow)->race = NULL;
  }
  arena_free(&r->arena);
  free(r);
  c->shadow = NULL;
}

// A release: whoever receives the clock now knows what came before, not what comes later.
void race_advance(Warp *w) { warp_race(w)->vc[comp_of(w, C_SELF)]++; }
static void lanes_synced(Warp *w) {
  race_advance(w);
  warp_race(w)->sync_clock = warp_race(w)->vc[comp_of(w, C_SELF)];
}

static void warps_met(Warp *w) {
  lanes_synced(w);
  warp_race(w)->met = warp_race(w)->sync_clock;
}

uint32_t race_clock(const Warp *w) { return warp_race(w) ? warp_race(w)->vc[comp_of(w, C_SELF)] : 0; }
bool race_knows(const Warp *w, const Warp *x, uint32_t clock) {
  return w == x || !warp_race(w) || warp_race(w)->vc[comp_of(x, C_SELF)] >= clock;
}

// ---- order

Warp *race_warp_of(const Cluster *c, uint32_t comp, uint32_t *kind) {
  uint32_t n = cluster_race(c)->warps_per_cta, i = comp / WARP_COMPS;
  if (i >= n * c->num_ctas) return NULL;
  *kind = comp % WARP_COMPS;
  return &c->ctas[i / n]->warps[i % n];
}

static uint32_t known_in_warp(const Warp *w, const WarpRace *r, uint8_t lane) {
  if (lane != ANY_LANE) return r->lane_known[lane];
  uint32_t least = UINT32_MAX;
  FOR_LANES(l, w->exist) least = r->lane_known[l] < least ? r->lane_known[l] : least;
  return least;
}
bool race_ordered(const Who *who, const Epoch *e) {
  if (e->comp == NO_COMP || !e->clock) return true;
  WarpRace *r = warp_race(who->warp);
  if (e->comp == comp_of(who->warp, C_SELF))
    return who->lane < 0 || e->lane == who->lane || e->clock < r->sync_clock ||
           e->clock <= known_in_warp(who->warp, r, e->lane);
  return r->vc[e->comp] >= e->clock;
}

bool race_fenced(const Warp *w, const Warp *x, const Epoch *e, uint32_t kind, uint32_t fences) {
  const WarpRace *xr = warp_race(x);
  uint32_t known = x == w ? xr->num_fences : warp_race(w)->vc[comp_of(x, C_FENCE)];
  for (uint32_t i = known; i > 0 && i + FENCES > xr->num_fences; i--) {
    const FenceEvent *f = &xr->fence[(i - 1) % FENCES];
    if (!(f->kind & fences) || (e->lane < WARP_SIZE && !(f->mask >> e->lane & 1))) continue;
    if ((kind == C_COPY ? f->copy_clock : f->clock) >= e->clock) return true;
  }
  // The fences remembered may be too few to cover an old write: it counts as fenced.
  return xr->num_fences > FENCES && xr->fence[xr->num_fences % FENCES].clock >= e->clock;
}

// Says who did it, and keeps the instruction for the report.
static void describe_epoch(const Who *who, const Epoch *e, char *text, size_t size) {
  const Cluster *c = who->warp->cta->cluster;
  const Instr *in = &who->warp->grid->module->code[e->pc];
  uint32_t kind = 0;
  Warp *x = race_warp_of(c, e->comp, &kind);
  who->warp->grid->other = in;
  static const char *const agents[] = {"thread", "wgmma", "cp.async", "bulk copy", "fence"};
  if (!x) snprintf(text, size, "the bulk copy of ptx:%u", in->line);
  else if (kind != C_SELF)
    snprintf(text, size, "the %s of ptx:%u of CTA %u warp %u", agents[kind], in->line, x->cta->rank, x->id);
  else
    snprintf(text, size, "thread %u of CTA %u at ptx:%u", x->id * WARP_SIZE + (e->lane < WARP_SIZE ? e->lane : 0),
             x->cta->rank, in->line);
}

static WaitKind wait_of(const Cluster *c, uint32_t comp) {
  static const WaitKind kinds[WARP_COMPS] = {[C_WGMMA] = WAIT_MMA, [C_COPY] = WAIT_COPY, [C_BULK] = WAIT_TMA_STORE};
  uint32_t kind = 0;
  return race_warp_of(c, comp, &kind) ? kinds[kind] : WAIT_TMA_LOAD;
}

// After describe_epoch.
static void lead_asynchronous(const Who *who, const Epoch *e, bool other_writes) {
  Warp *w = who->warp;
  const Cluster *c = w->cta->cluster;
  if (who->is_async)
    lead_overtakes(w, who->in, wait_of(c, who->epoch.comp), who->is_write, w->grid->other, other_writes);
  else lead_early(w, who->in, who->is_write, w->grid->other, wait_of(c, e->comp), other_writes);
}

static ExecResult conflict(const Who *who, const Epoch *e, bool other_writes) {
  char other[128];
  describe_epoch(who, e, other, sizeof other);
  uint32_t kind = 0;
  bool other_async = !race_warp_of(who->warp->cta->cluster, e->comp, &kind) || kind != C_SELF;
  Grid *g = who->warp->grid;
  uint32_t address = who->at.offset + SHARED_BASE, rank = who->at.cta->rank;
  const char *mine = who->is_write ? "overwrites" : "reads", *theirs = other_writes ? "writes" : "reads";
  if (other_async || who->is_async) {
    lead_asynchronous(who, e, other_writes);
    return sim_report(g, who->warp, who->in, who->lane, REPORT_ASYNC,
                      "%s%s shared+0x%x of CTA %u, which %s %s; no thread has waited for that",
                      who->is_async ? "the asynchronous operation " : "", mine, address, rank, other, theirs);
  }
  RaceSide found = {.in = who->in, .kind = who->is_write ? OUTSIDE_STORE : OUTSIDE_LOAD};
  report_program(who->warp->cta, found.program);
  RaceSide its = {.in = g->other, .kind = other_writes ? OUTSIDE_STORE : OUTSIDE_LOAD};
  memcpy(its.program, found.program, sizeof its.program);
  lead_race(who->warp, who->lane, RACE_SHARED, &found, &its, 0, &(WeakAtomics){0});
  return sim_report(g, who->warp, who->in, who->lane, REPORT_RACE,
                    "%s shared+0x%x of CTA %u, which %s %s without a barrier in between", mine, address, rank, other,
                    theirs);
}

static ExecResult check_epoch(const Who *who, const Epoch *e, bool other_writes) {
  if (!e->clock) return EXEC_NEXT;
  if (!race_ordered(who, e)) {
    if ((who->epoch.flags & EPOCH_ATOMIC) && (e->flags & EPOCH_ATOMIC)) return EXEC_NEXT;
    if (e->pc == who->epoch.pc && e->comp == who->epoch.comp && !who->is_async)
      return EXEC_NEXT;   // one instruction's lanes
    return conflict(who, e, other_writes);
  }
  if (!who->is_async || !(who->is_write || other_writes)) return EXEC_NEXT;
  uint32_t kind = 0;
  Warp *x = race_warp_of(who->warp->cta->cluster, e->comp, &kind);
  if (!x || (kind != C_SELF && kind != C_COPY) || who->generic) return EXEC_NEXT;
  if (race_fenced(who->warp, x, e, kind, FENCE_ASYNC)) return EXEC_NEXT;
  char other[128];
  describe_epoch(who, e, other, sizeof other);
  return sim_report(
      who->warp->grid, who->warp, who->in, who->lane, REPORT_PROXY,
      "the asynchronous proxy %s shared+0x%x of CTA %u, which %s %s; that thread executed no fence.proxy.async "
      "between its %s and the synchronisation with this one",
      who->is_write ? "overwrites" : "reads", who->at.offset + SHARED_BASE, who->at.cta->rank, other,
      other_writes ? "wrote" : "read", other_writes ? "write" : "read");
}

static void add_reader(ClusterRace *cr, const Who *who, Cell *c) {
  if (!c->read.clock || c->read.comp == who->epoch.comp) {
    // The same agent: the later read stands for both; two different lanes become ANY_LANE.
    uint8_t lane = c->read.clock && c->read.lane != who->epoch.lane ? ANY_LANE : who->epoch.lane;
    if (c->read.clock && lane == ANY_LANE && c->read.comp == comp_of(who->warp, C_SELF) &&
        c->read.clock < warp_race(who->warp)->sync_clock)
      lane = who->epoch.lane;
    c->read = who->epoch;
    c->read.lane = lane;
    return;
  }
  if (race_ordered(who, &c->read) && !c->num_more) {
    c->read = who->epoch;
    return;
  }
  for (uint32_t i = 0; i < c->num_more; i++)
    if (c->more[i].comp == who->epoch.comp) {
      uint8_t lane = c->more[i].lane != who->epoch.lane && c->more[i].clock >= warp_race(who->warp)->sync_clock
                         ? ANY_LANE
                         : who->epoch.lane;
      c->more[i] = who->epoch;
      c->more[i].lane = lane;
      return;
    }
  if (c->num_more == c->cap_more) {
    uint16_t cap = c->cap_more ? (uint16_t)(2 * c->cap_more) : 4;
    Epoch *more = arena_array(&cr->arena, Epoch, cap);
    if (c->num_more) memcpy(more, c->more, c->num_more * sizeof *more);
    c->more = more;
    c->cap_more = cap;
  }
  c->more[c->num_more++] = who->epoch;
}

static ExecResult touch_cell(ClusterRace *cr, const Who *who, Cell *c, bool same_value) {
  if (c->write.comp == MBAR_COMP && c->write.clock)
    return sim_report(who->warp->grid, who->warp, who->in, who->lane, REPORT_MBARRIER,
                      "%s %s shared+0x%x of CTA %u, which is a live mbarrier",
                      who->is_async ? "an asynchronous operation" : "an ordinary access",
                      who->is_write ? "overwrites" : "reads", who->at.offset + SHARED_BASE, who->at.cta->rank);
  TRY(same_value ? EXEC_NEXT : check_epoch(who, &c->write, true));
  if (!who->is_write) {
    add_reader(cr, who, c);
    return EXEC_NEXT;
  }
  ExecResult r = check_epoch(who, &c->read, false);
  for (uint32_t i = 0; i < c->num_more && r == EXEC_NEXT; i++) r = check_epoch(who, &c->more[i], false);
  if (r != EXEC_NEXT) return r;
  c->write = who->epoch;
  c->read.clock = 0;
  c->num_more = 0;
  return EXEC_NEXT;
}

// Checks and records an access to `bytes` bytes at who->at. new_value: the bytes that a store will write, or NULL.
// Storing the value that is already there is not a race.
ExecResult race_touch(Who *who, uint32_t bytes, const uint8_t *new_value) {
  CtaRace *cta = cta_race(who->at.cta);
  ClusterRace *cr = cluster_race(who->at.cta->cluster);
  uint32_t begin = who->at.offset, end = begin + bytes;
  const uint8_t *old = who->at.cta->shared;
  for (uint32_t at = begin; at < end;) {
    Cell *c = &cta->cells[at / 4];
    uint32_t stop = (at & ~3u) + 4 < end ? (at & ~3u) + 4 : end;
    bool whole = at % 4 == 0 && stop - at == 4;
    if (!whole && !c->split) {
      Cell *four = arena_array(&cr->arena, Cell, 4);
      for (int i = 0; i < 4; i++) {
        four[i] = *c;
        if (c->num_more)
          four[i].more = memcpy(arena_array(&cr->arena, Epoch, c->cap_more), c->more, c->num_more * sizeof(Epoch));
      }
      c->split = four;
    }
    for (uint32_t b = at; b < stop; b += c->split ? 1 : 4) {
      who->at.offset = b;
      Cell *cell = c->split ? &c->split[b % 4] : c;
      bool same = new_value && !memcmp(old + b, new_value + (b - begin), c->split ? 1 : 4);
      TRY(touch_cell(cr, who, cell, same));
    }
    at = stop;
  }
  who->at.offset = begin;
  return EXEC_NEXT;
}

// ---- ordinary accesses

bool access_is_strong(const Instr *in) {
  return has_any(in, M_volatile, M_relaxed, M_acquire, M_release, M_acq_rel, M_mmio);
}

// Atomic and volatile accesses order their threads. This misses races that relaxed accesses hide, and reports no
// false ones.
static void lock_order(Warp *w, SharedPlace p) {
  CtaRace *cta = cta_race(p.cta);
  uint32_t key = p.offset & ~3u;
  LockRace **slot = &cta->locks[key / 4 % countof(cta->locks)];
  LockRace *l = *slot;
  while (l && l->offset != key) l = l->next;
  if (!l) {
    l = arena_new(&cluster_race(p.cta->cluster)->arena, LockRace);
    *l = (LockRace){*slot, key, race_new_clock(p.cta->cluster)};
    *slot = l;
  }
  race_join(p.cta->cluster, l->vc, warp_race(w)->vc);
  race_join(p.cta->cluster, warp_race(w)->vc, l->vc);
}

void race_release(Warp *w) {
  if (!warp_race(w)) return;
  race_join(w->cta->cluster, cluster_race(w->cta->cluster)->released, warp_race(w)->vc);
  race_advance(w);
}

void race_acquire(Warp *w) {
  if (!warp_race(w)) return;
  const ClusterRace *r = cluster_race(w->cta->cluster);
  uint32_t *mine = warp_race(w)->vc;
  for (uint32_t at = 0; at < r->warps_per_cta * w->cta->cluster->num_ctas * WARP_COMPS; at += WARP_COMPS) {
    const uint32_t own = r->released[at + C_SELF], acquired = r->released[at + C_ACQUIRED];
    const uint32_t latest = own > acquired ? own : acquired;
    if (mine[at + C_ACQUIRED] < latest) mine[at + C_ACQUIRED] = latest;
  }
}

bool access_store_bytes(Warp *w, const Instr *in, int lane, uint32_t size, uint8_t *out) {
  if (in->op != OP_st || in->n > 8) return false;
  const PtxOperand *elems = in->ops[1].kind == OPND_VEC ? in->ops[1].sub : &in->ops[1];
  for (uint32_t e = 0; e * in->n < size; e++) memcpy(out + e * in->n, &src_row(w, &elems[e])[lane], in->n);
  return true;
}

ExecResult race_access(Warp *w, const Instr *in, const MemAccess *a) {
  if (!warp_race(w) || in->op == OP_cp || in->op == OP_mbarrier) return EXEC_NEXT;
  bool atomic = a->kind == ACCESS_ATOMIC || access_is_strong(in), synced = false;
  FOR_LANES(l, a->mask) {
    if (a->space[l] != SPACE_SHARED) continue;
    Who who = {.warp = w, .in = in, .lane = l, .is_write = a->kind != ACCESS_READ, .at = shared_place(a, l)};
    who.epoch = (Epoch){warp_race(w)->vc[comp_of(w, C_SELF)], pc_of(w, in), (uint16_t)comp_of(w, C_SELF), (uint8_t)l,
                        atomic ? EPOCH_ATOMIC : 0};
    uint8_t value[32];
    bool known = a->kind == ACCESS_WRITE && !atomic && access_store_bytes(w, in, l, a->size, value);
    if (atomic) lock_order(w, who.at), synced = true;
    TRY(race_touch(&who, a->size, known ? value : NULL));
  }
  if (synced) race_advance(w);
  return EXEC_NEXT;
}

// ---- barriers and fences

void race_barrier(Cta *c, uint32_t id, bool complete, Warp *w, uint32_t mask) {
  if (!cta_race(c)) return;
  BarRace *b = &cta_race(c)->bars[id];
  if (!b->vc) b->vc = race_new_clock(c->cluster);
  if (!complete) {
    (void)mask;
    race_join(c->cluster, b->vc, warp_race(w)->vc);
    race_advance(w);
    const Instr *in = &c->grid->module->code[w->pc];
    if (!has_mod(in, M_arrive)) b->waits |= UINT64_C(1) << w->id;
    return;
  }
  for (uint32_t i = 0; i < c->num_warps; i++)
    if (b->waits >> i & 1) {
      race_join(c->cluster, warp_race(&c->warps[i])->vc, b->vc);
      warps_met(&c->warps[i]);
    }
  b->waits = 0;
  memset(b->vc, 0, cluster_race(c->cluster)->comps * sizeof *b->vc);
}

void race_cluster_barrier(Cluster *c, bool complete, Warp *w, uint32_t mask) {
  (void)mask;
  ClusterRace *r = c->shadow;
  if (!r) return;
  size_t bytes = r->comps * sizeof *r->barrier_done;
  if (!complete) {
    race_join(c, r->barrier_arrive, warp_race(w)->vc);
    race_advance(w);
  } else if (!w) {
    memcpy(r->barrier_done, r->barrier_arrive, bytes);
    memset(r->barrier_arrive, 0, bytes);
  } else {
    race_join(c, warp_race(w)->vc, r->barrier_done);
    warps_met(w);
  }
}

void race_warp_sync(Warp *w, uint32_t mask) {
  (void)mask;
  if (warp_race(w)) lanes_synced(w);
}

ExecResult race_fence(Warp *w, const Instr *in, uint32_t mask) {
  WarpRace *r = warp_race(w);
  if (!r) return EXEC_NEXT;
  bool async = has_mod(in, M_proxy) && has_mod(in, M_async) && !has_mod(in, M_global);
  bool init = has_mod(in, M_mbarrier_init);
  if (!async && !init) return EXEC_NEXT;
  uint32_t self = comp_of(w, C_SELF);
  r->fence[r->num_fences++ % FENCES] = (FenceEvent){r->vc[self], r->vc[comp_of(w, C_COPY)], mask,
                                                    (async ? FENCE_ASYNC : 0) | (init ? FENCE_MBARRIER_INIT : 0)};
  r->vc[comp_of(w, C_FENCE)] = r->num_fences;
  race_advance(w);
  return EXEC_NEXT;
}
