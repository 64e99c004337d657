// Happens-before for shared memory, with asynchronous operations as agents of their own.
//
// Clocks. Component C_SELF of a warp counts its release points: an access at clock c is known to whoever holds at least c.
// The others count operations (wgmma, cp.async, bulk stores) or proxy fences; an mbarrier's counts its completed phases, so
// that waiting for phase n makes known the copies that were issued in phases up to n. Lanes of one warp are told apart by the
// clock of the warp's last synchronisation.
//
// Proxies. Bytes written by ordinary stores may be touched by TMA or wgmma only after a proxy fence of the writing thread
// that the issuer knows of.
#include <stdlib.h>
#include <string.h>

#include "runtime/sim/shadow.h"

enum { C_SELF, C_WGMMA, C_COPY, C_BULK, C_FENCE, WARP_COMPS };
enum { MBARS_PER_CTA = 64, NO_COMP = 0xffff, MBAR_COMP = 0xfffe, ANY_LANE = 0xff, FENCES = 64, GROUPS = 256 };
enum { FENCE_ASYNC = 1, FENCE_MBARRIER_INIT = 2 };
enum { EPOCH_ATOMIC = 1 };

typedef struct { uint32_t clock, pc; uint16_t comp; uint8_t lane, flags; } Epoch;
typedef struct Cell Cell;
struct Cell {
  Epoch write, read;
  Epoch *more;             // further readers of agents not ordered with the first
  Cell *split;             // four cells, one per byte, once bytes were accessed apart
  uint16_t num_more, cap_more;
  bool seen;
};

typedef struct { uint32_t clock, copy_clock, mask, kind; } FenceEvent;
typedef struct { uint32_t group, clock; int32_t lane; } GroupMark;
typedef struct { GroupMark at[GROUPS]; uint32_t count; } GroupMarks;

typedef struct {
  uint32_t *vc;
  uint32_t sync_clock;     // of the last synchronisation of its lanes
  uint32_t copy_clock, bulk_clock, wgmma_clock, arrive_clock, num_fences;
  uint32_t copy_pc, bulk_pc, wgmma_pc;  // of the latest
  FenceEvent fence[FENCES];
  GroupMarks copies, bulks, wgmmas;
} WarpRace;

typedef struct {
  bool live;
  uint32_t offset, phase;
  uint32_t issued, issued_pc;   // clock of the latest copy that completes here
  Epoch init;
  uint32_t *pending, *done;
} MbarRace;
typedef struct { uint32_t *vc; uint64_t waits; } BarRace;
typedef struct LockRace LockRace;
struct LockRace { LockRace *next; uint32_t offset; uint32_t *vc; };
typedef struct CtaRace {
  Cell *cells;
  MbarRace mbars[MBARS_PER_CTA];
  uint32_t num_mbars;
  BarRace bars[NUM_BARRIERS];
  LockRace *locks[64];
  WarpRace *warps;
} CtaRace;
typedef struct {
  Arena arena;
  uint32_t comps, warps_per_cta;
  uint32_t *barrier_arrive, *barrier_done;
} ClusterRace;

static ClusterRace *cluster_race(const Cluster *c) { return c->shadow; }
static CtaRace *cta_race(const Cta *c) { return c->shadow ? ((CtaShadow *)c->shadow)->race : NULL; }
static WarpRace *warp_race(const Warp *w) { return cta_race(w->cta) ? &cta_race(w->cta)->warps[w->id] : NULL; }
static uint32_t comp_of(const Warp *w, uint32_t kind) { return (w->cta->rank * w->cta->num_warps + w->id) * WARP_COMPS + kind; }
static uint32_t *new_clock(const Cluster *c) { return arena_array(&cluster_race(c)->arena, uint32_t, cluster_race(c)->comps); }
static uint32_t pc_of(const Warp *w, const Instr *in) { return (uint32_t)(in - w->grid->module->code); }

static uint32_t mbar_comp(const Cluster *c, SharedPlace bar, const MbarRace *m) {
  return c->num_ctas * cluster_race(c)->warps_per_cta * WARP_COMPS + bar.cta->rank * MBARS_PER_CTA + (uint32_t)(m - cta_race(bar.cta)->mbars);
}

static void join(const Cluster *c, uint32_t *into, const uint32_t *from) {
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
    r->barrier_arrive = new_clock(cl);
    r->barrier_done = new_clock(cl);
  }
  CtaRace *r = arena_new(&cluster_race(cl)->arena, CtaRace);
  ((CtaShadow *)c->shadow)->race = r;
  r->cells = calloc((c->shared_size + 3) / 4 + 1, sizeof *r->cells);
  r->warps = arena_array(&cluster_race(cl)->arena, WarpRace, c->num_warps);
  for (uint32_t i = 0; i < c->num_warps; i++) {
    r->warps[i].vc = new_clock(cl);
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

// Shared memory goes away with its CTA: whatever works on it must have been waited for by then.
void race_cta_end(Cta *c) {
  CtaRace *r = cta_race(c);
  Grid *g = c->grid;
  if (!r || g->failed) return;
  for (uint32_t i = 0; i < c->num_warps; i++) {
    Warp *w = &c->warps[i];
    WarpRace *wr = &r->warps[i];
    if (wr->vc[comp_of(w, C_BULK)] < wr->bulk_clock)
      sim_report(g, w, &g->module->code[wr->bulk_pc], -1, REPORT_ASYNC, "the CTA exits while this bulk copy may still be reading its shared memory: no cp.async.bulk.wait_group covers it");
    uint32_t copied = 0;   // somebody's wait, by group or on an mbarrier
    for (uint32_t k = 0; k < c->num_warps; k++) copied = r->warps[k].vc[comp_of(w, C_COPY)] > copied ? r->warps[k].vc[comp_of(w, C_COPY)] : copied;
    if (copied < wr->copy_clock)
      sim_report(g, w, &g->module->code[wr->copy_pc], -1, REPORT_ASYNC, "the CTA exits while this cp.async may still be writing its shared memory: nothing has waited for it");
    if (wr->vc[comp_of(&c->warps[i & ~3u], C_WGMMA)] < wr->wgmma_clock)
      sim_report(g, w, &g->module->code[wr->wgmma_pc], -1, REPORT_ASYNC, "the CTA exits while this wgmma may still be in flight: no wgmma.wait_group covers it");
  }
  for (uint32_t k = 0; k < r->num_mbars; k++) {
    MbarRace *m = &r->mbars[k];
    uint32_t known = 0, comp = mbar_comp(c->cluster, (SharedPlace){c, m->offset}, m);
    for (uint32_t i = 0; i < c->num_warps; i++) known = r->warps[i].vc[comp] > known ? r->warps[i].vc[comp] : known;
    if (known < m->issued)
      sim_report(g, &c->warps[0], &g->module->code[m->issued_pc], -1, REPORT_ASYNC, "CTA %llu exits while this copy into its shared memory may be in flight: no thread has waited for phase %u of the mbarrier at shared+0x%x", (unsigned long long)c->linear, m->issued - 1, m->offset + SHARED_BASE);
  }
}

// A release: what came before is known to whoever receives the clock now; what comes later is not.
static void advance(Warp *w) { warp_race(w)->vc[comp_of(w, C_SELF)]++; }
static void lanes_synced(Warp *w) {
  advance(w);
  warp_race(w)->sync_clock = warp_race(w)->vc[comp_of(w, C_SELF)];
}

uint32_t race_clock(const Warp *w) { return warp_race(w) ? warp_race(w)->vc[comp_of(w, C_SELF)] : 0; }
bool race_knows(const Warp *w, const Warp *x, uint32_t clock) {
  return w == x || !warp_race(w) || warp_race(w)->vc[comp_of(x, C_SELF)] >= clock;
}

// ---- order

typedef struct {
  Warp *warp;
  const Instr *in;
  int lane;                // of the access; -1 when the whole warp acts as one
  Epoch epoch;             // what will be recorded
  bool is_async, is_write;
  bool generic;            // through the generic proxy, though asynchronous: cp.async
  SharedPlace at;
} Who;

static Warp *warp_of_comp(const Cluster *c, uint32_t comp, uint32_t *kind) {
  uint32_t n = cluster_race(c)->warps_per_cta, i = comp / WARP_COMPS;
  if (i >= n * c->num_ctas) return NULL;
  *kind = comp % WARP_COMPS;
  return &c->ctas[i / n]->warps[i % n];
}

static bool ordered(const Who *who, const Epoch *e) {
  if (e->comp == NO_COMP || !e->clock) return true;
  WarpRace *r = warp_race(who->warp);
  if (e->comp == comp_of(who->warp, C_SELF))
    return who->lane < 0 || e->lane == who->lane || e->clock < r->sync_clock;
  return r->vc[e->comp] >= e->clock;
}

// Has thread `lane` of warp x fenced its write of clock c, and does `w` know?
static bool fenced(const Warp *w, const Warp *x, const Epoch *e, uint32_t kind, uint32_t fences) {
  const WarpRace *xr = warp_race(x);
  uint32_t known = x == w ? xr->num_fences : warp_race(w)->vc[comp_of(x, C_FENCE)];
  for (uint32_t i = known; i > 0 && i + FENCES > xr->num_fences; i--) {
    const FenceEvent *f = &xr->fence[(i - 1) % FENCES];
    if (!(f->kind & fences) || (e->lane < WARP_SIZE && !(f->mask >> e->lane & 1))) continue;
    if ((kind == C_COPY ? f->copy_clock : f->clock) >= e->clock) return true;
  }
  // A write older than what is remembered may have been fenced.
  return xr->num_fences > FENCES && xr->fence[xr->num_fences % FENCES].clock >= e->clock;
}

static void describe_epoch(const Who *who, const Epoch *e, char *text, size_t size) {
  const Cluster *c = who->warp->cta->cluster;
  const Instr *in = &who->warp->grid->module->code[e->pc];
  uint32_t kind = 0;
  Warp *x = warp_of_comp(c, e->comp, &kind);
  static const char *const agents[] = {"thread", "wgmma", "cp.async", "bulk copy", "fence"};
  if (!x) snprintf(text, size, "the bulk copy of line %u", in->line);
  else if (kind != C_SELF) snprintf(text, size, "the %s of line %u of CTA %u warp %u", agents[kind], in->line, x->cta->rank, x->id);
  else snprintf(text, size, "thread %u of CTA %u at line %u", x->id * WARP_SIZE + (e->lane < WARP_SIZE ? e->lane : 0), x->cta->rank, in->line);
}

static ExecResult conflict(const Who *who, const Epoch *e, bool other_writes) {
  char other[128];
  describe_epoch(who, e, other, sizeof other);
  uint32_t kind = 0;
  bool other_async = !warp_of_comp(who->warp->cta->cluster, e->comp, &kind) || kind != C_SELF;
  Grid *g = who->warp->grid;
  uint32_t address = who->at.offset + SHARED_BASE, rank = who->at.cta->rank;
  const char *mine = who->is_write ? "overwrites" : "reads", *theirs = other_writes ? "writes" : "reads";
  if (other_async || who->is_async)
    return sim_report(g, who->warp, who->in, who->lane, REPORT_ASYNC, "%s%s shared+0x%x of CTA %u, which %s %s; nothing has waited for that", who->is_async ? "the asynchronous operation " : "", mine, address, rank, other, theirs);
  return sim_report(g, who->warp, who->in, who->lane, REPORT_RACE, "%s shared+0x%x of CTA %u, which %s %s without a barrier in between", mine, address, rank, other, theirs);
}

static ExecResult check_epoch(const Who *who, const Epoch *e, bool other_writes) {
  if (!e->clock) return EXEC_NEXT;
  if (!ordered(who, e)) {
    if ((who->epoch.flags & EPOCH_ATOMIC) && (e->flags & EPOCH_ATOMIC)) return EXEC_NEXT;
    if (e->pc == who->epoch.pc && e->comp == who->epoch.comp && !who->is_async) return EXEC_NEXT;  // one instruction's lanes
    return conflict(who, e, other_writes);
  }
  if (!who->is_async || !other_writes) return EXEC_NEXT;
  uint32_t kind = 0;
  Warp *x = warp_of_comp(who->warp->cta->cluster, e->comp, &kind);
  if (!x || (kind != C_SELF && kind != C_COPY) || who->generic) return EXEC_NEXT;
  if (fenced(who->warp, x, e, kind, FENCE_ASYNC)) return EXEC_NEXT;
  char other[128];
  describe_epoch(who, e, other, sizeof other);
  return sim_report(who->warp->grid, who->warp, who->in, who->lane, REPORT_PROXY,
                    "the asynchronous proxy %s shared+0x%x of CTA %u, which %s wrote; that thread executed no fence.proxy.async between its write and the synchronisation with this one",
                    who->is_write ? "overwrites" : "reads", who->at.offset + SHARED_BASE, who->at.cta->rank, other);
}

static void add_reader(ClusterRace *cr, const Who *who, Cell *c) {
  if (!c->read.clock || c->read.comp == who->epoch.comp) {
    // The same agent: the later read stands for both, except that two lanes become any lane.
    uint8_t lane = c->read.clock && c->read.lane != who->epoch.lane ? ANY_LANE : who->epoch.lane;
    if (c->read.clock && lane == ANY_LANE && c->read.comp == comp_of(who->warp, C_SELF) && c->read.clock < warp_race(who->warp)->sync_clock) lane = who->epoch.lane;
    c->read = who->epoch;
    c->read.lane = lane;
    return;
  }
  if (ordered(who, &c->read) && !c->num_more) {
    c->read = who->epoch;
    return;
  }
  for (uint32_t i = 0; i < c->num_more; i++)
    if (c->more[i].comp == who->epoch.comp) {
      uint8_t lane = c->more[i].lane != who->epoch.lane && c->more[i].clock >= warp_race(who->warp)->sync_clock ? ANY_LANE : who->epoch.lane;
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
    return sim_report(who->warp->grid, who->warp, who->in, who->lane, REPORT_MBARRIER, "%s %s shared+0x%x of CTA %u, which is a live mbarrier", who->is_async ? "an asynchronous operation" : "an ordinary access", who->is_write ? "overwrites" : "reads", who->at.offset + SHARED_BASE, who->at.cta->rank);
  ExecResult r = same_value ? EXEC_NEXT : check_epoch(who, &c->write, true);
  if (r != EXEC_NEXT) return r;
  if (!who->is_write) {
    add_reader(cr, who, c);
    return EXEC_NEXT;
  }
  r = check_epoch(who, &c->read, false);
  for (uint32_t i = 0; i < c->num_more && r == EXEC_NEXT; i++) r = check_epoch(who, &c->more[i], false);
  if (r != EXEC_NEXT) return r;
  c->write = who->epoch;
  c->read.clock = 0;
  c->num_more = 0;
  return EXEC_NEXT;
}

// Bytes [offset, offset + bytes) of one CTA's shared memory. new_value: what a store will put there (it may rewrite what is
// there already without a race), or NULL.
static ExecResult touch(Who *who, uint32_t bytes, const uint8_t *new_value) {
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
        if (c->num_more) four[i].more = memcpy(arena_array(&cr->arena, Epoch, c->cap_more), c->more, c->num_more * sizeof(Epoch));
      }
      c->split = four;
    }
    for (uint32_t b = at; b < stop; b += c->split ? 1 : 4) {
      who->at.offset = b;
      Cell *cell = c->split ? &c->split[b % 4] : c;
      bool same = new_value && !memcmp(old + b, new_value + (b - begin), c->split ? 1 : 4);
      ExecResult r = touch_cell(cr, who, cell, same);
      if (r != EXEC_NEXT) return r;
    }
    at = stop;
  }
  who->at.offset = begin;
  return EXEC_NEXT;
}

// ---- ordinary accesses

static bool is_strong(const Instr *in) {
  return has_mod(in, M_volatile) || has_mod(in, M_relaxed) || has_mod(in, M_acquire) || has_mod(in, M_release) || has_mod(in, M_acq_rel) || has_mod(in, M_mmio);
}

// Atomic and volatile accesses order their threads: this misses races behind relaxed ones and invents none.
static void lock_order(Warp *w, SharedPlace p) {
  CtaRace *cta = cta_race(p.cta);
  uint32_t key = p.offset & ~3u;
  LockRace **slot = &cta->locks[key / 4 % countof(cta->locks)];
  LockRace *l = *slot;
  while (l && l->offset != key) l = l->next;
  if (!l) {
    l = arena_new(&cluster_race(p.cta->cluster)->arena, LockRace);
    *l = (LockRace){*slot, key, new_clock(p.cta->cluster)};
    *slot = l;
  }
  join(p.cta->cluster, l->vc, warp_race(w)->vc);
  join(p.cta->cluster, warp_race(w)->vc, l->vc);
}

// The bytes that lane's plain store will write; false when they cannot be told.
static bool store_bytes(Warp *w, const Instr *in, int lane, uint32_t size, uint8_t *out) {
  if (in->op != OP_st || in->n > 8) return false;
  const Operand *elems = in->ops[1].kind == OPND_VEC ? in->ops[1].sub : &in->ops[1];
  for (uint32_t e = 0; e * in->n < size; e++) memcpy(out + e * in->n, &src_row(w, &elems[e])[lane], in->n);
  return true;
}

ExecResult race_access(Warp *w, const Instr *in, const MemAccess *a) {
  if (!warp_race(w) || in->op == OP_cp || in->op == OP_mbarrier) return EXEC_NEXT;
  bool atomic = a->kind == ACCESS_ATOMIC || is_strong(in), synced = false;
  FOR_LANES(l, a->mask) {
    if (a->space[l] != SPACE_SHARED) continue;
    Who who = {.warp = w, .in = in, .lane = (int)l, .is_write = a->kind != ACCESS_READ, .at = shared_place(a, (int)l)};
    who.epoch = (Epoch){warp_race(w)->vc[comp_of(w, C_SELF)], pc_of(w, in), (uint16_t)comp_of(w, C_SELF), (uint8_t)l, atomic ? EPOCH_ATOMIC : 0};
    uint8_t value[32];
    bool known = a->kind == ACCESS_WRITE && !atomic && store_bytes(w, in, (int)l, a->size, value);
    if (atomic) lock_order(w, who.at), synced = true;
    ExecResult r = touch(&who, a->size, known ? value : NULL);
    if (r != EXEC_NEXT) return r;
  }
  if (synced) advance(w);
  return EXEC_NEXT;
}

// ---- barriers and fences

void race_barrier(Cta *c, uint32_t id, bool complete, Warp *w, uint32_t mask) {
  if (!cta_race(c)) return;
  BarRace *b = &cta_race(c)->bars[id];
  if (!b->vc) b->vc = new_clock(c->cluster);
  if (!complete) {
    (void)mask;
    join(c->cluster, b->vc, warp_race(w)->vc);
    advance(w);
    const Instr *in = &c->grid->module->code[w->pc];
    if (!has_mod(in, M_arrive)) b->waits |= UINT64_C(1) << w->id;
    return;
  }
  for (uint32_t i = 0; i < c->num_warps; i++)
    if (b->waits >> i & 1) {
      join(c->cluster, warp_race(&c->warps[i])->vc, b->vc);
      lanes_synced(&c->warps[i]);
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
    join(c, r->barrier_arrive, warp_race(w)->vc);
    advance(w);
  } else if (!w) {
    memcpy(r->barrier_done, r->barrier_arrive, bytes);
    memset(r->barrier_arrive, 0, bytes);
  } else {
    join(c, warp_race(w)->vc, r->barrier_done);
    lanes_synced(w);
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
  r->fence[r->num_fences++ % FENCES] = (FenceEvent){r->vc[self], r->vc[comp_of(w, C_COPY)], mask, (async ? FENCE_ASYNC : 0) | (init ? FENCE_MBARRIER_INIT : 0)};
  r->vc[comp_of(w, C_FENCE)] = r->num_fences;
  advance(w);
  return EXEC_NEXT;
}

// ---- mbarriers

static MbarRace *find_mbar(SharedPlace bar) {
  CtaRace *cta = cta_race(bar.cta);
  for (uint32_t i = 0; cta && i < cta->num_mbars; i++)
    if (cta->mbars[i].offset == bar.offset) return &cta->mbars[i];
  return NULL;
}
// The initialisation must be known to whoever uses the object; by_async: also to the proxy that will complete bytes on it.
static ExecResult check_init(Warp *w, const Instr *in, int lane, SharedPlace bar, const MbarRace *m, bool by_async) {
  Who who = {.warp = w, .in = in, .lane = lane, .at = bar, .epoch = {.comp = NO_COMP}};
  uint32_t kind = 0;
  Warp *x = warp_of_comp(w->cta->cluster, m->init.comp, &kind);
  if (!ordered(&who, &m->init))
    return sim_report(w->grid, w, in, lane, REPORT_RACE, "uses the mbarrier at shared+0x%x of CTA %u, which line %u initialises, without a barrier in between", bar.offset + SHARED_BASE, bar.cta->rank, w->grid->module->code[m->init.pc].line);
  if (by_async && x && !fenced(w, x, &m->init, C_SELF, FENCE_ASYNC | FENCE_MBARRIER_INIT))
    return sim_report(w->grid, w, in, lane, REPORT_PROXY, "the asynchronous proxy will use the mbarrier at shared+0x%x of CTA %u, but no fence.mbarrier_init or fence.proxy.async followed its initialisation (line %u)", bar.offset + SHARED_BASE, bar.cta->rank, w->grid->module->code[m->init.pc].line);
  return EXEC_NEXT;
}

ExecResult shadow_mbarrier_init(Warp *w, const Instr *in, int lane, SharedPlace bar) {
  CtaRace *cta = cta_race(bar.cta);
  if (!cta) return EXEC_NEXT;
  MbarRace *m = find_mbar(bar);
  if (m && m->live) return sim_report(w->grid, w, in, lane, REPORT_MBARRIER, "mbarrier.init of the live mbarrier at shared+0x%x", bar.offset + SHARED_BASE);
  if (!m) {
    if (cta->num_mbars == MBARS_PER_CTA) return EXEC_NEXT;
    m = &cta->mbars[cta->num_mbars++];
    *m = (MbarRace){.offset = bar.offset, .pending = new_clock(bar.cta->cluster), .done = new_clock(bar.cta->cluster)};
  }
  Who who = {.warp = w, .in = in, .lane = lane, .is_write = true, .at = bar};
  who.epoch = (Epoch){warp_race(w)->vc[comp_of(w, C_SELF)], pc_of(w, in), (uint16_t)comp_of(w, C_SELF), (uint8_t)lane, 0};
  ExecResult r = touch(&who, 8, NULL);
  if (r != EXEC_NEXT) return r;
  m->live = true;
  m->init = who.epoch;
  for (int i = 0; i < 2; i++) {
    Cell *c = &cta->cells[bar.offset / 4 + (uint32_t)i];
    c->split = NULL;
    c->write = who.epoch;
    c->write.comp = MBAR_COMP;
  }
  return EXEC_NEXT;
}

ExecResult shadow_mbarrier_inval(Warp *w, const Instr *in, int lane, SharedPlace bar) {
  CtaRace *cta = cta_race(bar.cta);
  MbarRace *m = find_mbar(bar);
  if (!m) return EXEC_NEXT;
  ExecResult r = check_init(w, in, lane, bar, m, false);
  if (r != EXEC_NEXT) return r;
  m->live = false;
  for (int i = 0; i < 2; i++)
    cta->cells[bar.offset / 4 + (uint32_t)i].write = (Epoch){warp_race(w)->vc[comp_of(w, C_SELF)], pc_of(w, in), (uint16_t)comp_of(w, C_SELF), (uint8_t)lane, 0};
  return EXEC_NEXT;
}

static void flip(SharedPlace bar, MbarRace *m) {
  const Cluster *c = bar.cta->cluster;
  m->phase++;
  m->pending[mbar_comp(c, bar, m)] = m->phase;
  join(c, m->done, m->pending);
  memset(m->pending, 0, cluster_race(c)->comps * sizeof *m->pending);
}

ExecResult shadow_mbarrier_touch(Warp *w, const Instr *in, int lane, SharedPlace bar, bool flipped) {
  MbarRace *m = find_mbar(bar);
  if (!m || !m->live) return EXEC_NEXT;
  ExecResult r = check_init(w, in, lane, bar, m, false);
  if (r == EXEC_NEXT && flipped) flip(bar, m);
  return r;
}

ExecResult shadow_mbarrier_arrive(Warp *w, const Instr *in, int lane, SharedPlace bar, bool flipped) {
  MbarRace *m = find_mbar(bar);
  if (!m || !m->live) return EXEC_NEXT;
  ExecResult r = check_init(w, in, lane, bar, m, false);
  if (r != EXEC_NEXT) return r;
  if (in->op == OP_cp) {  // an arrival by the copies themselves
    uint32_t *known = &m->pending[comp_of(w, C_COPY)];
    if (*known < warp_race(w)->arrive_clock) *known = warp_race(w)->arrive_clock;
  } else if (!has_mod(in, M_relaxed)) {
    join(bar.cta->cluster, m->pending, warp_race(w)->vc);
    advance(w);
  }
  if (flipped) flip(bar, m);
  return EXEC_NEXT;
}

ExecResult shadow_mbarrier_waited(Warp *w, const Instr *in, int lane, SharedPlace bar) {
  MbarRace *m = find_mbar(bar);
  if (!m || !m->live) return EXEC_NEXT;
  ExecResult r = check_init(w, in, lane, bar, m, false);
  if (r == EXEC_NEXT && !has_mod(in, M_relaxed)) join(bar.cta->cluster, warp_race(w)->vc, m->done);
  return r;
}

ExecResult shadow_async_complete(AsyncOp *op, SharedPlace bar, bool flipped) {
  MbarRace *m = find_mbar(bar);
  if (!m || !m->live) return EXEC_NEXT;
  uint32_t issued = op->clock;
  for (uint32_t i = 0; op->kind == ASYNC_BULK && i < op->bulk.num_dst; i++)
    if (op->bulk.bar[i].cta == bar.cta) issued = op->bulk.clock[i];
  if (issued && issued != m->phase + 1)
    return async_report(op, REPORT_MBARRIER, "the copy was issued in phase %u of the mbarrier at shared+0x%x of CTA %u and its bytes land in phase %u: that phase did not expect them", issued - 1, bar.offset + SHARED_BASE, bar.cta->rank, m->phase);
  if (flipped) flip(bar, m);
  return EXEC_NEXT;
}

// ---- asynchronous operations

static void mark(GroupMarks *g, uint32_t group, uint32_t clock, int lane) { g->at[g->count++ % GROUPS] = (GroupMark){group, clock, lane}; }

// Latest clock among marks of groups below `below` (of one lane, or any when lane < 0).
static uint32_t latest(const GroupMarks *g, uint64_t below, int lane) {
  uint32_t best = 0, first = g->count > GROUPS ? g->count - GROUPS : 0;
  for (uint32_t i = first; i < g->count; i++) {
    const GroupMark *m = &g->at[i % GROUPS];
    if ((lane < 0 || m->lane == lane) && m->group < below && m->clock > best) best = m->clock;
  }
  return best;
}

ExecResult shadow_copy_issue(AsyncOp *op) {
  Warp *w = op->warp;
  WarpRace *r = warp_race(w);
  if (!r) return EXEC_NEXT;
  op->clock = ++r->copy_clock;
  op->comp = comp_of(w, C_COPY);
  r->copy_pc = pc_of(w, op->in);
  int first = __builtin_ctz(op->copy.mask);
  mark(&r->copies, op->copy.group[first], op->clock, first);
  FOR_LANES(l, op->copy.mask) {
    Who who = {.warp = w, .in = op->in, .lane = (int)l, .is_async = true, .is_write = true, .generic = true, .at = op->copy.dst[l]};
    who.epoch = (Epoch){op->clock, pc_of(w, op->in), (uint16_t)op->comp, (uint8_t)l, 0};
    ExecResult res = touch(&who, op->copy.bytes, NULL);
    if (res != EXEC_NEXT) return res;
  }
  return EXEC_NEXT;
}

void shadow_copy_waited(Warp *w, uint32_t mask, uint32_t keep) {
  WarpRace *r = warp_race(w);
  if (!r || !mask) return;
  uint32_t committed = w->cp_group[__builtin_ctz(mask)], *known = &r->vc[comp_of(w, C_COPY)];
  uint64_t below = keep == UINT32_MAX ? UINT64_MAX : committed > keep ? committed - keep : 0;
  uint32_t clock = latest(&r->copies, below, -1);
  if (*known < clock) *known = clock;
}

void shadow_arrive_issue(AsyncOp *op) {
  if (warp_race(op->warp)) op->clock = warp_race(op->warp)->copy_clock;
}
void shadow_async_acquire(AsyncOp *op) {
  if (warp_race(op->warp)) warp_race(op->warp)->arrive_clock = op->clock;
}

static ExecResult touch_async(AsyncOp *op, SharedPlace at, uint32_t bytes, bool write, uint32_t comp, uint32_t clock) {
  Who who = {.warp = op->warp, .in = op->in, .lane = op->lane, .is_async = true, .is_write = write, .at = at};
  who.epoch = (Epoch){clock, pc_of(op->warp, op->in), (uint16_t)comp, ANY_LANE, 0};
  return touch(&who, bytes, NULL);
}

// The agent of what completes on an mbarrier: that barrier, in the phase that is current at issue.
static ExecResult bar_agent(AsyncOp *op, SharedPlace bar, uint32_t *comp, uint32_t *clock) {
  MbarRace *m = find_mbar(bar);
  *comp = NO_COMP, *clock = 0;
  if (!m || !m->live) return EXEC_NEXT;
  *comp = mbar_comp(bar.cta->cluster, bar, m);
  *clock = m->issued = m->phase + 1;
  m->issued_pc = pc_of(op->warp, op->in);
  return check_init(op->warp, op->in, op->lane, bar, m, true);
}

ExecResult shadow_bulk_issue(AsyncOp *op) {
  Warp *w = op->warp;
  WarpRace *r = warp_race(w);
  AsyncBulk *b = &op->bulk;
  if (!r) return EXEC_NEXT;
  uint32_t comp, clock;
  ExecResult res = EXEC_NEXT;
  if (b->in_group) {
    comp = comp_of(w, C_BULK), clock = ++r->bulk_clock;
    r->bulk_pc = pc_of(w, op->in);
    mark(&r->bulks, b->group, clock, op->lane);
    return touch_async(op, b->src, b->extent, false, comp, clock);
  }
  for (uint32_t i = 0; i < b->num_dst && res == EXEC_NEXT; i++) {
    res = bar_agent(op, b->bar[i], &comp, &clock);
    b->clock[i] = clock;
    if (res == EXEC_NEXT && i == 0 && b->src.cta) res = touch_async(op, b->src, b->extent, false, comp, clock);
    if (res == EXEC_NEXT) res = touch_async(op, b->dst[i], b->extent, true, comp, clock);
  }
  return res;
}

ExecResult shadow_store_issue(AsyncOp *op) {
  if (!warp_race(op->warp)) return EXEC_NEXT;
  ExecResult r = bar_agent(op, op->store.bar, &op->comp, &op->clock);
  return r == EXEC_NEXT ? touch_async(op, op->store.dst, op->store.bytes, true, op->comp, op->clock) : r;
}

void shadow_bulk_waited(Warp *w, int lane, uint32_t keep, bool read_only) {
  (void)read_only;  // for shared memory, having been read is the end of it
  WarpRace *r = warp_race(w);
  if (!r) return;
  uint32_t committed = w->bulk_group[lane], *known = &r->vc[comp_of(w, C_BULK)];
  uint32_t clock = latest(&r->bulks, committed > keep ? committed - keep : 0, lane);
  if (*known < clock) *known = clock;
}

void shadow_wgmma_issue(Warp *w, AsyncOp *op) {
  WarpRace *r = warp_race(w);
  if (!r) return;
  op->comp = comp_of(op->warp, C_WGMMA);  // the leader's stands for the warpgroup
  op->clock = (uint32_t)warp_async(w)->wgmma_issued + 1;
  r->wgmma_clock = op->clock;
  r->wgmma_pc = pc_of(w, op->in);
  mark(&r->wgmmas, warp_async(w)->wgmma_committed, op->clock, -1);
}

ExecResult shadow_wgmma_reads(Warp *w, AsyncOp *op, uint32_t offset, uint32_t bytes) {
  if (!warp_race(w)) return EXEC_NEXT;
  Who who = {.warp = w, .in = op->in, .lane = -1, .is_async = true, .at = {w->cta, offset}};
  who.epoch = (Epoch){op->clock, pc_of(w, op->in), (uint16_t)op->comp, ANY_LANE, 0};
  return touch(&who, bytes, NULL);
}

void shadow_wgmma_waited(Warp *w, uint32_t below_group) {
  WarpRace *r = warp_race(w);
  if (!r) return;
  uint32_t *known = &r->vc[comp_of(&w->cta->warps[w->id & ~3u], C_WGMMA)], clock = latest(&r->wgmmas, below_group, -1);
  if (*known < clock) *known = clock;
}

// ---- reports

const char *race_describe(Cluster *c, Arena *a) {
  const char *text = "";
  for (uint32_t i = 0; i < c->num_ctas; i++) {
    CtaRace *r = cta_race(c->ctas[i]);
    for (uint32_t k = 0; r && k < r->num_mbars; k++) {
      if (!r->mbars[k].live) continue;
      uint64_t word;
      memcpy(&word, c->ctas[i]->shared + r->mbars[k].offset, 8);
      MbarrierState s = mbarrier_unpack(word);
      text = arena_printf(a, "%s  mbarrier shared+0x%x of CTA %u: phase %u, %u of %u arrivals pending, %d bytes outstanding\n", text, r->mbars[k].offset + SHARED_BASE, i, r->mbars[k].phase, s.pending, s.expected, s.tx);
    }
  }
  return text;
}
