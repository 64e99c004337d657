// Races in global memory, by happens-before. The agents are the clusters of a launch, and within a cluster its warps.
// A releasing access orders clusters with those that acquire at its address later, if its scope is the GPU or the
// system; one of a smaller scope orders the warps of a cluster. Volatile accesses do both, as far as they read and
// write. Relaxed atomics order nothing by themselves: a fence before one that writes releases, a fence after one that
// reads acquires. The fence of a warp counts for its cluster. A plain store orders nothing, also to an address that
// atomics use: there it races with the atomics of other clusters, while the warps of one cluster are trusted with what
// they store to such a place.
// Storing what is there already is no write: blocks and threads may all store the same value, and each may read it.
//
// A BlockCell keeps who wrote the bytes last and two clusters that read them. A Clock is a cluster's number and how
// many times it had released; a Knowledge is the latest clock of each other cluster of which one has heard.
//
// Of the last writer and the last reader a cell also keeps the warp, by its number in the cluster, and the warp's
// clock (shadow_race.h), by which the warps of a cluster are ordered. The clock is 0 after a bulk copy: what its own
// cluster does then is not judged. The threads of a warp are one agent, because compiled code relies on the order of
// a warp's instructions.
//
// When several warps hold copies of the same elements, all of them load, only one stores, and what the others load after
// that store is not used. Therefore, unless the warps have met at a barrier in between, two cases are no races: a load
// by an instruction that the storing warp had also executed on these bytes, and a store to bytes that several warps have
// loaded by one instruction.
#include <stdlib.h>
#include <string.h>

#include "runtime/sim/lead.h"
#include "runtime/sim/shadow_race.h"

enum { PAGE = 4096, NUM_LISTS = 1 << 16, MAX_SPACE_MB = 512, MAX_JOINS = 1 << 28 };
// Flags of a mark's pc: the access is atomic; other agents have stored the same value; the access is a plain store to
// an address that atomics had used.
#define IS_ATOMIC 0x80000000u
#define IS_SHARED 0x40000000u
#define IS_PLAIN_AMONG_ATOMICS 0x20000000u
#define PC_OF(mark) ((mark)->pc & ~(IS_ATOMIC | IS_SHARED | IS_PLAIN_AMONG_ATOMICS))
typedef struct { uint32_t who, when, pc; } BlockMark;        // who 0: nobody
enum { NUM_LOADS = 11 };
typedef struct {
  BlockMark write, read[2];
  uint32_t write_clock, read_clock;                          // of write and of read[0]
  uint32_t writer : 9, reader : 9;
  uint32_t is_repeated : 1;                                  // another warp has stored what the writer did
  // A bit for each instruction that has read since the readers last met, by its pc; whether two warps have read by one
  // of them; whether the last write came after these reads.
  uint32_t loads : NUM_LOADS;
  uint32_t is_duplicated : 1, is_overwritten : 1;
} BlockCell;
_Static_assert(MAX_CLUSTER * 1024 / WARP_SIZE <= 1 << 9, "a warp of a cluster whose number does not fit");
typedef struct { uint32_t bytes; BlockCell cells[]; } Page;       // bytes of memory for a cell: 4, 2 or 1
typedef struct { uint32_t who, when; } Clock;
typedef struct { Clock *data; uint32_t count, capacity; } Knowledge;   // by number
typedef struct {
  uint32_t releases;
  Knowledge knows;
  Knowledge fenced;            // what it knew and had released at its last fence
  Knowledge read;              // what it will know by a fence, from what relaxed atomics have read
  bool has_fenced, has_read_own;    // has_read_own: also what its own cluster had released
  Knowledge weak;              // what it would know if all atomics released and acquired
  uint32_t weak_read, weak_write;   // the pc of its last atomic that does not acquire, release; plus 1; 0: none
} Agent;
typedef struct Meeting Meeting;                              // an address by which clusters are ordered
struct Meeting {
  Meeting *next;
  uint64_t address;
  Knowledge released;
  Knowledge within;            // of the clusters that have released in the scope of a cluster or block only
  Knowledge weak;              // of those that have written without releasing to all
};

struct GridBlocks {
  Agent *agents;               // 0 is nobody
  uint32_t num_agents;
  Meeting **meetings;          // NUM_LISTS lists by address, or NULL: there is none
  uint64_t space, joins;       // bytes for pages and meetings; entries that were joined
  bool gave_up;                // one of them is too large
};

// One lane's access.
typedef struct {
  Warp *w;
  const Instr *in;
  int lane;
  bool reads, writes, is_atomic, is_plain_among_atomics;
  bool acquires, releases, is_wide;    // is_wide: its scope covers all clusters
  uint32_t me, pc, load;       // load: the bit of the instruction in BlockCell.loads
  bool is_ordered;             // as an access of its warp; otherwise only as one of its cluster
  uint32_t warp, clock, met;   // in its cluster; its clock now and after its last barrier, 0 if it is not ordered
  bool has_acquired, has_released;    // its warp has acquired, released, by one of the instruction's lanes
  const uint8_t *value;        // what will be stored, or NULL
} Access;

static GridBlocks *blocks_of(const Grid *g) { return g->shadow ? ((GridShadow *)g->shadow)->blocks : NULL; }
static uint32_t agent_of(const Cta *c) {
  const LaunchParams *lp = &c->grid->launch;
  const uint32_t *id = c->cluster->id;
  return (id[2] * (lp->grid[1] / lp->cluster[1]) + id[1]) * (lp->grid[0] / lp->cluster[0]) + id[0] + 1;
}

// Without races among warps, only those among clusters are found.
static bool is_one_agent(const Grid *g, uint64_t num_clusters) {
  const uint32_t *n = g->launch.block;
  const bool has_warps = g->num_ctas > num_clusters || n[0] * n[1] * n[2] > WARP_SIZE;
  return num_clusters < 2 && !(has_warps && g->checks & CHECK_RACES);
}

void blocks_grid_begin(Grid *g) {
  const uint32_t *c = g->launch.cluster;
  const uint64_t num = g->num_ctas / ((uint64_t)c[0] * c[1] * c[2]);
  if (!(g->checks & CHECK_BLOCKS) || is_one_agent(g, num) || num >= UINT32_MAX) return;
  GridBlocks *b = calloc(1, sizeof *b);
  b->num_agents = (uint32_t)num + 1;
  b->agents = calloc(b->num_agents, sizeof *b->agents);
  b->gave_up = !b->agents;
  ((GridShadow *)g->shadow)->blocks = b;
}

void blocks_forget(Alloc *a) {
  for (uint64_t k = 0; a->pages && k <= a->size / PAGE; k++) free(a->pages[k]);
  free(a->pages);
  a->pages = NULL;
}

static void free_meeting(Meeting *m) {
  free(m->released.data);
  free(m->within.data);
  free(m->weak.data);
  free(m);
}

static void forget_agent(Agent *a) {
  Knowledge *all[] = {&a->knows, &a->fenced, &a->read, &a->weak};
  for (size_t i = 0; i < countof(all); i++) {
    free(all[i]->data);
    *all[i] = (Knowledge){0};
  }
}

void blocks_grid_end(Grid *g) {
  GridBlocks *b = blocks_of(g);
  if (!b) return;
  for (int i = 0; i < g->sim->num_devices; i++)
    for (uint32_t k = 0; k < g->sim->devices[i].num_allocs; k++) blocks_forget(g->sim->devices[i].allocs[k]);
  for (uint32_t i = 0; b->agents && i < b->num_agents; i++) forget_agent(&b->agents[i]);
  for (uint32_t i = 0; b->meetings && i < NUM_LISTS; i++)
    for (Meeting *m = b->meetings[i], *next; m; m = next) next = m->next, free_meeting(m);
  free(b->meetings);
  free(b->agents);
  free(b);
  ((GridShadow *)g->shadow)->blocks = NULL;
}

void blocks_cluster_end(Cluster *c) {
  GridBlocks *b = blocks_of(c->grid);
  if (!b || !b->agents) return;
  forget_agent(&b->agents[agent_of(c->ctas[0])]);
}

// ---- order

static uint32_t when_of(const Knowledge *k, uint32_t who) {
  uint32_t low = 0, high = k->count;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (k->data[middle].who < who) low = middle + 1;
    else high = middle;
  }
  return low < k->count && k->data[low].who == who ? k->data[low].when : 0;
}

static void join(GridBlocks *b, Knowledge *into, const Knowledge *from) {
  uint32_t news = 0;
  b->joins += from->count + 1;
  b->gave_up |= b->joins > MAX_JOINS;
  for (uint32_t i = 0; i < from->count; i++) news += when_of(into, from->data[i].who) < from->data[i].when;
  if (!news) return;
  const uint32_t room = into->count + news;
  if (room > into->capacity) into->data = realloc(into->data, (into->capacity = 2 * room) * sizeof *into->data);
  // From the end, in place: no entry moves before it is read.
  uint32_t added = 0;
  for (uint32_t i = 0, k = 0; i < from->count; i++) {
    while (k < into->count && into->data[k].who < from->data[i].who) k++;
    added += k == into->count || into->data[k].who != from->data[i].who;
  }
  uint32_t to = into->count + added, i = into->count, k = from->count;
  into->count = to;
  while (k) {
    const Clock theirs = from->data[k - 1];
    if (i && into->data[i - 1].who > theirs.who) {
      into->data[--to] = into->data[--i];
    } else {
      Clock c = theirs;
      if (i && into->data[i - 1].who == theirs.who) {
        i--;
        if (into->data[i].when > c.when) c.when = into->data[i].when;
      }
      into->data[--to] = c;
      k--;
    }
  }
}

static Meeting *find_meeting(GridBlocks *b, uint64_t address, bool make) {
  if (!b->meetings && !make) return NULL;
  if (!b->meetings) b->meetings = calloc(NUM_LISTS, sizeof(Meeting *));
  address &= ~UINT64_C(3);
  Meeting **list = &b->meetings[(address / 4 * UINT64_C(0x9e3779b97f4a7c15)) >> 48];
  Meeting *m = *list;
  while (m && m->address != address) m = m->next;
  if (m || !make) return m;
  b->space += sizeof *m;
  m = calloc(1, sizeof *m);
  *m = (Meeting){.next = *list, .address = address};
  return *list = m;
}

static void learn(GridBlocks *b, Knowledge *k, uint32_t who, uint32_t when) {
  const Clock c = {who, when};
  join(b, k, &(Knowledge){(Clock *)&c, 1, 1});
}

// Whoever acquires what its cluster has released, here or by way of other clusters, knows of all that the cluster has
// released so far.
static void acquire(GridBlocks *b, Access *x, const Meeting *m) {
  Agent *a = &b->agents[x->me];
  const bool is_own = when_of(&m->released, x->me) || when_of(&m->within, x->me);
  if (x->acquires && x->is_wide) join(b, &a->knows, &m->released);
  if (!x->acquires || !x->is_wide || m->weak.count) join(b, &a->weak, &m->weak), join(b, &a->weak, &m->released);
  if (!x->acquires) {
    join(b, &a->read, &m->released);
    a->has_read_own |= is_own;
  }
  if (x->has_acquired || !x->acquires || !is_own) return;
  race_acquire(x->w);
  x->has_acquired = true;
}

static void release(GridBlocks *b, Access *x, Meeting *m) {
  Agent *a = &b->agents[x->me];
  const uint32_t now = ++a->releases;
  x->has_released |= x->releases;
  if (x->releases && x->is_wide) {
    join(b, &m->released, &a->knows);
    learn(b, &m->released, x->me, now);
    if (a->weak.count) join(b, &m->weak, &a->weak);
    return;
  }
  join(b, &m->weak, &a->weak);
  join(b, &m->weak, &a->knows);
  learn(b, &m->weak, x->me, now);
  if (x->releases) learn(b, &m->within, x->me, now);
  else if (a->has_fenced) learn(b, &m->within, x->me, now), join(b, &m->released, &a->fenced);
}

void blocks_fence(Warp *w, const Instr *in) {
  GridBlocks *b = blocks_of(w->grid);
  if (!b || b->gave_up || has_mod(in, M_proxy)) return;
  const uint32_t me = agent_of(w->cta);
  Agent *a = &b->agents[me];
  if (a->has_read_own) race_acquire(w);
  race_release(w);
  a->has_fenced = true;
  if (has_any(in, M_cta, M_cluster)) return;
  join(b, &a->knows, &a->read);
  join(b, &a->fenced, &a->knows);
  learn(b, &a->fenced, me, ++a->releases);
}

// ---- accesses

static RaceSide side_of(const Instr *in, bool is_atomic, bool writes) {
  const OutsideKind plain = writes ? OUTSIDE_STORE : OUTSIDE_LOAD;
  return (RaceSide){.in = in, .kind = is_atomic && in->op != OP_ld ? OUTSIDE_UPDATE : plain, .is_atomic = is_atomic};
}

static ExecResult conflict(const Access *x, const BlockMark *m, uint32_t warp, uint64_t address, bool other_writes) {
  static const char *const mine[] = {"load from", "store to", "atomic access to"};
  static const char *const theirs[] = {"loads from", "stores to", "accesses atomically"};
  Grid *g = x->w->grid;
  const LaunchParams *lp = &g->launch;
  const uint32_t *size = lp->grid, *c = lp->cluster;
  const uint32_t per_row = size[0] / c[0], per_plane = per_row * (size[1] / c[1]), n = m->who - 1;
  const uint32_t block[3] = {n % per_row * c[0], n % per_plane / per_row * c[1], n / per_plane * c[2]};
  g->other = &g->module->code[PC_OF(m)];
  RaceSide found = side_of(x->in, x->is_atomic, x->writes);
  RaceSide other = side_of(g->other, m->pc & IS_ATOMIC, other_writes);
  report_program(x->w->cta, found.program);
  memcpy(other.program, block, sizeof block);
  other.program[0] /= x->w->cta->cluster->num_ctas;
  const Cta *const cta = x->w->cta, *const its = cta->cluster->ctas[m->who == x->me ? warp / cta->num_warps : 0];
  const RaceScope scope = m->who != x->me ? RACE_PROGRAMS : its == cta ? RACE_WARPS : RACE_BLOCKS;
  const GridBlocks *b = blocks_of(g);
  const Agent *me = &b->agents[x->me], *it = &b->agents[m->who];
  // A relaxed atomic waits for no other warp of its block: what stands before it in the code may come later.
  const uint32_t weak = scope == RACE_PROGRAMS ? when_of(&me->weak, m->who) : 0;
  const bool is_weak = weak > m->when || (weak && PC_OF(m) < it->weak_write);
  const uint32_t weak_pc = !is_weak ? 0 : me->weak_read ? me->weak_read : it->weak_write;
  const WeakAtomics between = {weak_pc ? &g->module->code[weak_pc - 1] : NULL,
                               weak_pc && it->weak_write ? &g->module->code[it->weak_write - 1] : NULL};
  lead_race(x->w, x->lane, scope, &found, &other, address, &between);
  if (scope == RACE_PROGRAMS)
    return sim_report(g, x->w, x->in, x->lane, REPORT_RACE,
                      "%s global memory at 0x%llx, which block (%u,%u,%u) %s; no atomic operation orders the two",
                      mine[found.kind], (unsigned long long)address, block[0], block[1], block[2], theirs[other.kind]);
  return sim_report(g, x->w, x->in, x->lane, REPORT_RACE,
                    "%s global memory at 0x%llx, which warp %u of block (%u,%u,%u) %s, without a barrier in between: "
                    "%s orders the two",
                    mine[found.kind], (unsigned long long)address, warp % cta->num_warps, its->ctaid[0], its->ctaid[1],
                    its->ctaid[2], theirs[other.kind],
                    scope == RACE_WARPS ? "tl.debug_barrier()" : "a barrier of the cluster");
}

// warp, clock: of the mark, in its cluster.
static bool is_ordered(const GridBlocks *b, const Access *x, const BlockMark *m, uint32_t warp, uint32_t clock) {
  if (!m->who || (x->is_atomic && m->pc & IS_ATOMIC)) return true;
  if (m->who != x->me) return when_of(&b->agents[x->me].knows, m->who) > m->when;
  if ((x->is_atomic || x->is_plain_among_atomics) && m->pc & (IS_ATOMIC | IS_PLAIN_AMONG_ATOMICS)) return true;
  return !x->is_ordered || race_has_acquired(x->w, warp, clock);
}

// Has the access not met the last reader of its cluster since that read?
static bool is_apart(const Access *x, const BlockCell *c) {
  return c->read[0].who == x->me && x->is_ordered && !race_has_acquired(x->w, c->reader, c->read_clock);
}

// Had the writer read the bytes by this instruction?
static bool reads_duplicate(const Access *x, const BlockCell *c) {
  return c->is_overwritten && c->loads & x->load && is_apart(x, c);
}

// A store of the value that is there, which somebody else may have stored.
static void repeat(const Access *x, BlockCell *c) {
  if (!c->write.who) return;
  if (c->write.who != x->me) c->write.pc |= IS_SHARED;
  else if (c->writer != x->warp) c->is_repeated = true;
}

static void note_write(const Access *x, BlockCell *c, BlockMark now) {
  const bool is_reader = c->read[0].who == x->me && c->reader == x->warp;
  if (!is_reader && c->is_duplicated && is_apart(x, c)) c->reader = x->warp, c->read_clock = x->clock;
  else if (!is_reader) c->loads = 0, c->is_duplicated = false;
  c->write = now;
  c->writer = x->warp;
  c->write_clock = x->clock;
  c->is_repeated = false;
  c->is_overwritten = true;
}

static void note_read(const Access *x, BlockCell *c, BlockMark now) {
  const bool is_reader = c->read[0].who == x->me && c->reader == x->warp;
  const bool has_met = is_reader ? c->read_clock < x->met : !is_apart(x, c);
  if (has_met || c->is_overwritten) c->loads = 0, c->is_duplicated = false;
  else if (!is_reader && c->loads & x->load) c->is_duplicated = true;
  if (c->read[0].who != x->me) c->read[1] = c->read[0];
  c->loads |= x->load;
  c->is_overwritten = false;
  c->read[0] = now;
  c->reader = x->warp;
  c->read_clock = x->clock;
}

static ExecResult touch_cell(const GridBlocks *b, const Access *x, BlockCell *c, uint64_t address, bool changes) {
  const uint32_t how = x->is_atomic ? IS_ATOMIC : x->is_plain_among_atomics ? IS_PLAIN_AMONG_ATOMICS : 0;
  const BlockMark now = {x->me, b->agents[x->me].releases, x->pc | how};
  const bool is_mine = c->write.who == x->me, may_read = is_mine ? c->is_repeated : c->write.pc & IS_SHARED;
  if ((changes || (x->reads && !may_read)) && !is_ordered(b, x, &c->write, c->writer, c->write_clock)) {
    if (!changes && is_mine && reads_duplicate(x, c)) return EXEC_NEXT;
    return conflict(x, &c->write, c->writer, address, true);
  }
  if (x->writes && !changes) repeat(x, c);
  if (changes) {
    if (!is_ordered(b, x, &c->read[0], c->reader, c->read_clock) && !(c->is_duplicated && is_apart(x, c)))
      return conflict(x, &c->read[0], c->reader, address, false);
    if (!is_ordered(b, x, &c->read[1], 0, 0)) return conflict(x, &c->read[1], 0, address, false);
    note_write(x, c, now);
  }
  if (x->reads && !x->writes) note_read(x, c, now);
  return EXEC_NEXT;
}

static Page *new_page(GridBlocks *b, uint32_t bytes) {
  const size_t size = sizeof(Page) + PAGE / bytes * sizeof(BlockCell);
  Page *p = b->space + size <= (uint64_t)MAX_SPACE_MB << 20 ? calloc(1, size) : NULL;
  b->space += size;
  if (p) p->bytes = bytes;
  else b->gave_up = true;
  return p;
}

// The page of an access whose address and size are multiples of `bytes`; NULL: there is no more space.
static Page *find_page(GridBlocks *b, Alloc *a, uint64_t at, uint32_t bytes) {
  if (!a->pages) a->pages = calloc(a->size / PAGE + 1, sizeof *a->pages);
  Page **slot = (Page **)&a->pages[at / PAGE], *old = *slot;
  if (old && old->bytes <= bytes) return old;
  Page *p = new_page(b, bytes);
  if (!p || !old) return *slot = p ? p : old, p;
  for (uint32_t i = 0; i < PAGE / bytes; i++) p->cells[i] = old->cells[i * bytes / old->bytes];
  free(old);
  return *slot = p;
}

static ExecResult touch(GridBlocks *b, const Access *x, Alloc *a, uint64_t address, uint32_t size) {
  const uint64_t begin = address - a->base, end = begin + size;
  const uint32_t bytes = (begin | size) % 2 ? 1 : (begin | size) % 4 ? 2 : 4;
  for (uint64_t at = begin; at < end;) {
    Page *p = find_page(b, a, at, bytes);
    if (!p) return EXEC_NEXT;
    const uint64_t stop = (at / PAGE + 1) * PAGE < end ? (at / PAGE + 1) * PAGE : end;
    for (; at < stop; at += p->bytes) {
      const bool changes = x->writes && (!x->value || memcmp((const void *)(uintptr_t)(a->base + at),
                                                             x->value + (at - begin), p->bytes) != 0);
      TRY(touch_cell(b, x, &p->cells[at % PAGE / p->bytes], a->base + at, changes));
    }
  }
  return EXEC_NEXT;
}

static ExecResult lane_access(GridBlocks *b, Access *x, Alloc *alloc, uint64_t address, uint32_t size) {
  Meeting *m = x->is_atomic || x->writes ? find_meeting(b, address, x->is_atomic) : NULL;
  x->is_plain_among_atomics = m && !x->is_atomic;
  Agent *me = &b->agents[x->me];
  if (x->is_atomic && x->reads && !(x->acquires && x->is_wide)) me->weak_read = x->pc + 1;
  if (x->is_atomic && x->writes && !(x->releases && x->is_wide)) me->weak_write = x->pc + 1;
  if (x->is_atomic && x->reads) acquire(b, x, m);
  TRY(touch(b, x, alloc, address, size));
  if (x->is_atomic && x->writes) release(b, x, m);
  return EXEC_NEXT;
}

static Access begin_access(Warp *w, const Instr *in) {
  const uint32_t pc = pc_of(w, in);
  return (Access){.w = w, .in = in, .me = agent_of(w->cta), .pc = pc, .load = 1u << pc % NUM_LOADS,
                  .warp = race_number(w)};
}

// Lanes of a store that write different values to one element: which of them stays is not defined.
static ExecResult check_lanes(Warp *w, const Instr *in, const MemAccess *a) {
  uint64_t highest = 0;
  FOR_LANES(l, a->mask) {
    uint8_t value[32], other[32];
    const uint64_t at = a->addr[l];
    if (a->space[l] != SPACE_GLOBAL || !access_store_bytes(w, in, (int)l, a->size, value)) return EXEC_NEXT;
    if (at <= highest)
      FOR_LANES(k, a->mask & ((1u << l) - 1)) {
        if (a->addr[k] != at || !access_store_bytes(w, in, (int)k, a->size, other) || !memcmp(value, other, a->size))
          continue;
        RaceSide side = side_of(in, false, true);
        report_program(w->cta, side.program);
        w->grid->other = in;
        lead_race(w, (int)l, RACE_THREADS, &side, &side, at, &(WeakAtomics){0});
        return sim_report(w->grid, w, in, (int)l, REPORT_RACE,
                          "store to global memory at 0x%llx, where thread %u of the warp stores another value",
                          (unsigned long long)at, k);
      }
    if (at > highest) highest = at;
  }
  return EXEC_NEXT;
}

ExecResult blocks_access(Warp *w, const Instr *in, const MemAccess *a) {
  if (w->grid->checks & CHECK_RACES && a->kind == ACCESS_WRITE && !access_is_strong(in)) TRY(check_lanes(w, in, a));
  GridBlocks *b = blocks_of(w->grid);
  if (!b || b->gave_up || in->op == OP_tensormap) return EXEC_NEXT;
  const bool strong = a->kind == ACCESS_ATOMIC || access_is_strong(in);
  Access x = begin_access(w, in);
  const bool is_volatile = has_any(in, M_volatile, M_mmio);
  x.acquires = is_volatile || has_any(in, M_acquire, M_acq_rel);
  x.releases = is_volatile || has_any(in, M_release, M_acq_rel);
  x.is_wide = !has_any(in, M_cta, M_cluster);
  x.is_ordered = true;
  x.clock = race_clock(w);
  x.met = race_met(w);
  FOR_LANES(l, a->mask) {
    if (a->space[l] != SPACE_GLOBAL || a->alloc[l]->kind == ALLOC_CONST || a->alloc[l]->kind == ALLOC_PARAM) continue;
    uint8_t value[32];
    x.lane = l;
    x.is_atomic = strong;
    x.writes = a->kind != ACCESS_READ;
    x.reads = a->kind == ACCESS_READ || in->op == OP_atom;
    x.value = x.writes && !strong && access_store_bytes(w, in, l, a->size, value) ? value : NULL;
    TRY(lane_access(b, &x, a->alloc[l], a->addr[l], a->size));
  }
  if (x.has_released) race_release(w);
  return EXEC_NEXT;
}

ExecResult blocks_bulk(Warp *w, const Instr *in, int lane, Alloc *a, uint64_t address, uint32_t bytes, bool writes,
                       bool is_atomic) {
  GridBlocks *b = blocks_of(w->grid);
  if (!b || b->gave_up || !bytes) return EXEC_NEXT;
  Access x = begin_access(w, in);
  x.lane = lane;
  x.reads = !writes;
  x.writes = writes;
  x.is_atomic = is_atomic;
  return touch(b, &x, a, address, bytes);
}
