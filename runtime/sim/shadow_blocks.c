// Races between blocks in global memory, by happens-before. The agents are the clusters of a launch: what the threads
// of a cluster do to one another in global memory is not judged. Every atomic, volatile, relaxed, acquiring or
// releasing access orders clusters by its address, in both directions as far as it reads and writes; so does a plain
// store to an address that atomics use, which is how locks are given back. Storing what is there already is no write:
// blocks may all store the same value, and each may read it.
//
// A BlockCell keeps who wrote the bytes last and two clusters that read them. A Clock is a cluster's number and how
// many times it had released; a Knowledge is the latest clock of each other cluster of which one has heard.
#include <stdlib.h>
#include <string.h>

#include "runtime/sim/shadow_race.h"

enum { PAGE = 4096, NUM_LISTS = 1 << 16, MAX_SPACE_MB = 512, MAX_JOINS = 1 << 28 };
// Flags of a mark's pc: the access is atomic; other agents have stored the same value.
#define IS_ATOMIC 0x80000000u
#define IS_SHARED 0x40000000u
#define PC_OF(mark) ((mark)->pc & ~(IS_ATOMIC | IS_SHARED))
typedef struct { uint32_t who, when, pc; } BlockMark;        // who 0: nobody
typedef struct { BlockMark write, read[2]; } BlockCell;
typedef struct { uint32_t bytes; BlockCell cells[]; } Page;       // bytes of memory for a cell: 4, 2 or 1
typedef struct { uint32_t who, when; } Clock;
typedef struct { Clock *data; uint32_t count, capacity; } Knowledge;   // by number
typedef struct { uint32_t releases; Knowledge knows; } Agent;
typedef struct Meeting Meeting;                              // an address by which clusters are ordered
struct Meeting { Meeting *next; uint64_t address; Knowledge released; };

struct GridBlocks {
  Agent *agents;               // 0 is nobody
  uint32_t num_agents;
  Meeting *meetings[NUM_LISTS];
  uint64_t space, joins;       // bytes for pages and meetings; entries that were joined
  bool gave_up;                // one of them is too large
};

// One lane's access.
typedef struct {
  Warp *w;
  const Instr *in;
  int lane;
  bool reads, writes, is_atomic;
  uint32_t me;
  const uint8_t *value;        // what will be stored, or NULL
} Access;

static GridBlocks *blocks_of(const Grid *g) { return g->shadow ? ((GridShadow *)g->shadow)->blocks : NULL; }
static uint32_t agent_of(const Cta *c) {
  const LaunchParams *lp = &c->grid->launch;
  const uint32_t *id = c->cluster->id;
  return (id[2] * (lp->grid[1] / lp->cluster[1]) + id[1]) * (lp->grid[0] / lp->cluster[0]) + id[0] + 1;
}

void blocks_grid_begin(Grid *g) {
  const uint32_t *c = g->launch.cluster;
  const uint64_t num = g->num_ctas / ((uint64_t)c[0] * c[1] * c[2]);
  if (!(g->checks & CHECK_BLOCKS) || num < 2 || num >= UINT32_MAX) return;
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

void blocks_grid_end(Grid *g) {
  GridBlocks *b = blocks_of(g);
  if (!b) return;
  for (int i = 0; i < g->sim->num_devices; i++)
    for (uint32_t k = 0; k < g->sim->devices[i].num_allocs; k++) blocks_forget(g->sim->devices[i].allocs[k]);
  for (uint32_t i = 0; b->agents && i < b->num_agents; i++) free(b->agents[i].knows.data);
  for (uint32_t i = 0; i < NUM_LISTS; i++)
    for (Meeting *m = b->meetings[i], *next; m; m = next) next = m->next, free(m->released.data), free(m);
  free(b->agents);
  free(b);
  ((GridShadow *)g->shadow)->blocks = NULL;
}

void blocks_cluster_end(Cluster *c) {
  GridBlocks *b = blocks_of(c->grid);
  if (!b || !b->agents) return;
  Knowledge *k = &b->agents[agent_of(c->ctas[0])].knows;
  free(k->data);
  *k = (Knowledge){0};
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

static void acquire(GridBlocks *b, const Access *x, const Meeting *m) {
  join(b, &b->agents[x->me].knows, &m->released);
}
static void release(GridBlocks *b, const Access *x, Meeting *m) {
  Agent *a = &b->agents[x->me];
  Clock self = {x->me, ++a->releases};
  join(b, &m->released, &a->knows);
  join(b, &m->released, &(Knowledge){&self, 1, 1});
}

// ---- accesses

static ExecResult conflict(const Access *x, const BlockMark *m, uint64_t address, bool other_writes) {
  Grid *g = x->w->grid;
  const LaunchParams *lp = &g->launch;
  const uint32_t *size = lp->grid, *c = lp->cluster;
  const uint32_t per_row = size[0] / c[0], per_plane = per_row * (size[1] / c[1]), n = m->who - 1;
  const Instr *other = &g->module->code[PC_OF(m)];
  const char *const mine = x->is_atomic ? "atomic access to" : x->writes ? "store to" : "load from";
  const char *const theirs = m->pc & IS_ATOMIC ? "accesses atomically" : other_writes ? "stores to" : "loads from";
  g->other = other;
  return sim_report(g, x->w, x->in, x->lane, REPORT_RACE,
                    "%s global memory at 0x%llx, which block (%u,%u,%u) %s; no atomic operation orders the two", mine,
                    (unsigned long long)address, n % per_row * c[0], n % per_plane / per_row * c[1],
                    n / per_plane * c[2], theirs);
}

static bool is_ordered(const GridBlocks *b, const Access *x, const BlockMark *m) {
  return !m->who || m->who == x->me || (x->is_atomic && m->pc & IS_ATOMIC) ||
         when_of(&b->agents[x->me].knows, m->who) > m->when;
}

static ExecResult touch_cell(const GridBlocks *b, const Access *x, BlockCell *c, uint64_t address, bool changes) {
  const BlockMark now = {x->me, b->agents[x->me].releases, pc_of(x->w, x->in) | (x->is_atomic ? IS_ATOMIC : 0)};
  const bool may_read = c->write.pc & IS_SHARED;
  if ((changes || (x->reads && !may_read)) && !is_ordered(b, x, &c->write))
    return conflict(x, &c->write, address, true);
  if (x->writes && !changes && c->write.who && c->write.who != x->me) c->write.pc |= IS_SHARED;
  for (int i = 0; changes && i < 2; i++)
    if (!is_ordered(b, x, &c->read[i])) return conflict(x, &c->read[i], address, false);
  if (changes) c->write = now;
  if (!x->reads || x->writes) return EXEC_NEXT;
  if (c->read[0].who != x->me) c->read[1] = c->read[0];
  c->read[0] = now;
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
  x->is_atomic |= m != NULL;
  if (m && x->reads) acquire(b, x, m);
  TRY(touch(b, x, alloc, address, size));
  if (m && x->writes) release(b, x, m);
  return EXEC_NEXT;
}

ExecResult blocks_access(Warp *w, const Instr *in, const MemAccess *a) {
  GridBlocks *b = blocks_of(w->grid);
  if (!b || b->gave_up || in->op == OP_tensormap) return EXEC_NEXT;
  const bool strong = a->kind == ACCESS_ATOMIC || access_is_strong(in);
  Access x = {.w = w, .in = in, .me = agent_of(w->cta)};
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
  return EXEC_NEXT;
}

ExecResult blocks_bulk(Warp *w, const Instr *in, int lane, Alloc *a, uint64_t address, uint32_t bytes, bool writes,
                       bool is_atomic) {
  GridBlocks *b = blocks_of(w->grid);
  if (!b || b->gave_up || !bytes) return EXEC_NEXT;
  const Access x = {.w = w, .in = in, .lane = lane, .me = agent_of(w->cta), .reads = !writes, .writes = writes,
                    .is_atomic = is_atomic};
  return touch(b, &x, a, address, bytes);
}
