// What the two files of the race checker share: shadow_race.c orders accesses; shadow_agents.c handles mbarriers and
// asynchronous operations.
//
// Clocks. Component C_SELF of a warp counts its release points: an access at clock c is known to whoever holds at
// least c. The others count operations (wgmma, cp.async, bulk stores) or proxy fences; an mbarrier's counts its
// completed phases, so that waiting for phase n makes known the copies that were issued in phases up to n. Lanes of
// one warp are told apart by the clock of the warp's last synchronisation. C_ACQUIRED has clocks of C_SELF: what a warp
// knows by atomics in global memory (shadow_blocks.c) and by arrivals of cp.async. They order accesses of global memory
// only.
//
// Proxies. Bytes written by ordinary stores may be touched by TMA or wgmma, and bytes read by ordinary loads written by
// TMA, only after a proxy fence of the storing or loading thread that the issuer knows of.
#ifndef TILE_SIM_SHADOW_RACE_H
#define TILE_SIM_SHADOW_RACE_H

#include "runtime/sim/shadow.h"

enum { C_SELF, C_WGMMA, C_COPY, C_BULK, C_FENCE, C_ACQUIRED, WARP_COMPS };
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
};

typedef struct { uint32_t clock, copy_clock, mask, kind; } FenceEvent;
typedef struct { uint32_t group, clock; int32_t lane; } GroupMark;
typedef struct { GroupMark at[GROUPS]; uint32_t count; } GroupMarks;

typedef struct {
  uint32_t *vc;
  uint32_t sync_clock;     // of the last synchronisation of its lanes
  uint32_t met;            // of the last barrier that it waited at
  uint32_t lane_known[WARP_SIZE];       // up to this clock its other lanes know what this one did, by mbarriers
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
  uint32_t *arrived,
      *passed;   // of its CTA's threads: their warp's clock at their latest arrival; in a phase that is over
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
  uint32_t *released;      // what its warps have released by atomics in global memory
} ClusterRace;

// An access, as it is checked against what others did and then recorded.
typedef struct {
  Warp *warp;
  const Instr *in;
  int lane;                // of the access; -1 when the whole warp acts as one
  Epoch epoch;             // what will be recorded
  bool is_async, is_write;
  bool generic;            // through the generic proxy, though asynchronous: cp.async
  SharedPlace at;
} Who;

static inline ClusterRace *cluster_race(const Cluster *c) { return c->shadow; }
static inline CtaRace *cta_race(const Cta *c) { return c->shadow ? ((CtaShadow *)c->shadow)->race : NULL; }
static inline WarpRace *warp_race(const Warp *w) { return cta_race(w->cta) ? &cta_race(w->cta)->warps[w->id] : NULL; }
// The warp's number in its cluster.
static inline uint32_t race_number(const Warp *w) { return w->cta->rank * w->cta->num_warps + w->id; }
static inline uint32_t comp_of(const Warp *w, uint32_t kind) { return race_number(w) * WARP_COMPS + kind; }
static inline uint32_t *race_new_clock(const Cluster *c) {
  return arena_array(&cluster_race(c)->arena, uint32_t, cluster_race(c)->comps);
}
static inline uint32_t pc_of(const Warp *w, const Instr *in) { return (uint32_t)(in - w->grid->module->code); }

static inline uint32_t mbar_comp(const Cluster *c, SharedPlace bar, const MbarRace *m) {
  return c->num_ctas * cluster_race(c)->warps_per_cta * WARP_COMPS + bar.cta->rank * MBARS_PER_CTA +
         (uint32_t)(m - cta_race(bar.cta)->mbars);
}
void race_join(const Cluster *c, uint32_t *into, const uint32_t *from);
void race_advance(Warp *w);   // a release: whoever receives the clock now knows what came before
// Does w know what warp number `other` of its cluster did with global memory up to that warp's clock? If races are not
// checked, it does.
static inline bool race_has_acquired(const Warp *w, uint32_t other, uint32_t clock) {
  const WarpRace *r = warp_race(w);
  const uint32_t at = other * WARP_COMPS;
  return !r || at == comp_of(w, C_SELF) || r->vc[at + C_SELF] >= clock || r->vc[at + C_ACQUIRED] >= clock;
}
static inline uint32_t race_met(const Warp *w) { return warp_race(w) ? warp_race(w)->met : 0; }
void race_release(Warp *w);      // w releases by an atomic in global memory
void race_acquire(Warp *w);      // w acquires by one what its cluster has released
bool race_ordered(const Who *who, const Epoch *e);       // whether who knows of e
// Did thread e->lane of warp x execute one of the fences after its access of clock e->clock, and does w know?
bool race_fenced(const Warp *w, const Warp *x, const Epoch *e, uint32_t kind, uint32_t fences);
Warp *race_warp_of(const Cluster *c, uint32_t comp, uint32_t *kind);   // NULL: the component is no warp's
// Checks and records an access to `bytes` bytes at who->at. new_value: the bytes that a store will write, or NULL.
// Storing the value that is already there is not a race.
ExecResult race_touch(Who *who, uint32_t bytes, const uint8_t *new_value);

#endif
