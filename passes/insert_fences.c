// insert_fences: the proxy fences that a module as written lacks.
//
// Threads access shared memory through the generic proxy, TMA and wgmma through the asynchronous one. TMA and wgmma see
// a thread's write only if that thread executes a proxy fence after the write and before the threads meet. Nor does a
// barrier alone keep TMA from overwriting what a thread reads: on Hopper, an ldmatrix that was issued before a barrier
// and whose result is used after it may read what TMA copies to the same bytes after the barrier.
//
// The pass follows each read and write to the first fence after it, and from there to the next op at which the block's
// threads meet. If TMA or wgmma can use the bytes of a write before that op, or TMA can write the bytes of a read, the
// pass inserts a fence after the access, as late as possible: before the next op at which threads meet or that publishes
// what they did. A fence that the author wrote there is therefore never repeated. One fence before the barrier of the
// use takes the place of several, and that of one in an inner loop.
//
//   for …                      for …
//     barrier                    fence
//     tma_load a, tma_load b     barrier
//     wait, read a               tma_load a, tma_load b
//     fence                →     wait, read a
//     wait, read b               wait, read b
//     fence
//
// The writes of a cp.async count as the thread's own once it has waited for them. If an mbarrier_arrive announces them,
// the fence goes after a wait for an mbarrier, and a block barrier follows it.
//
// All warps execute a fence where a `roles` begins and where it ends. Accesses in one of its blocks reach the others by
// arrivals at mbarriers.
//
// In: ALLOCATED, with barriers. Out: the same.
#include "ir/loop.h"
#include "ir/scratch.h"
#include "passes/pass.h"
#include "passes/shared_memory.h"

typedef enum { READ, WRITTEN, COPYING, ANNOUNCED } State;   // ANNOUNCED: a copy for which an mbarrier_arrive waits
typedef struct {
  Op *by;
  State state;
  bool fenced;             // by the threads that did it, which have not met since
  uint32_t lo, hi;
} Access;
typedef VEC(Access) Accesses;
// published: accesses without a fence; used: bytes that TMA and wgmma use
typedef struct { Accesses published; SharedAccesses used; } Role;

// An access that needs a fence after it, and the barrier at which it may have it: the last before its use.
typedef struct { Op *by, *barrier; } Lack;

typedef struct {
  Context *ctx;
  Module *module;
  Accesses now;            // not followed yet by a fence and a meeting of the threads after it
  Role *role;              // whose block is walked; NULL: the kernel's own
  VEC(Lack) lacking;
} Fences;

static bool add(Fences *s, Accesses *to, Access w) {
  VEC_EACH(x, *to)
    if (x->by == w.by && x->state == w.state && x->fenced == w.fenced && x->lo == w.lo && x->hi == w.hi) return false;
  vec_push(&s->ctx->arena, to, w);
  return true;
}

static bool merge(Fences *s, Accesses *to, const Accesses *from) {
  bool grew = false;
  VEC_EACH(x, *from) grew |= add(s, to, *x);
  return grew;
}

static Accesses copy(Fences *s, const Accesses *from) {
  Accesses to = {0};
  merge(s, &to, from);
  return to;
}

static void drop(Accesses *w, State state) {
  uint32_t n = 0;
  VEC_EACH(x, *w)
    if (x->state != state) w->data[n++] = *x;
  w->count = n;
}

// A proxy fence orders what the thread has done itself.
static void fence(Accesses *a) {
  VEC_EACH(x, *a) x->fenced |= x->state == READ || x->state == WRITTEN;
}

static void meet(Accesses *a) {
  uint32_t n = 0;
  VEC_EACH(x, *a)
    if (!x->fenced) a->data[n++] = *x;
  a->count = n;
}

// ---- the walk ----

static bool holds(const Op *outer, const Op *op) {
  for (uint32_t i = 0; i < outer->num_blocks; i++)
    if (block_encloses(outer->blocks[i], op->parent)) return true;
  return outer == op;
}

// The barrier before the use, in its block, if the access comes before it and in the same loop or an inner one.
static Op *barrier_of(Op *user, const Op *by) {
  const Op *loop = loop_around(user);
  if (by->opcode == OP_MBAR_WAIT || (loop && !holds(loop, by))) return NULL;
  for (Op *op = user->prev; op && !holds(op, by); op = op->prev)
    if (op->opcode == OP_BARRIER) return op;
  return NULL;
}

static void require(Fences *s, Op *by, Op *barrier) {
  VEC_EACH(x, s->lacking)
    if (x->by == by && x->barrier == barrier) return;
  vec_push(&s->ctx->arena, &s->lacking, ((Lack){by, barrier}));
}

// user: NULL if it runs on other warps.
static void use(Fences *s, Op *user, const SharedAccess *a, const Accesses *of_threads) {
  VEC_EACH(x, *of_threads)
    if ((x->state == WRITTEN || (x->state == READ && a->is_write)) && x->lo < a->hi && a->lo < x->hi)
      require(s, x->by, user ? barrier_of(user, x->by) : NULL);
}

// The copies in that state may be complete: from here on what they wrote counts as written by `by`.
static void complete(Fences *s, Op *by, State state) {
  for (uint32_t i = 0, n = s->now.count; i < n; i++) {
    const Access w = s->now.data[i];
    if (w.state == state) add(s, &s->now, (Access){by, WRITTEN, false, w.lo, w.hi});
  }
}

static void walk_block(Fences *s, Block *b);

static void walk_loop(Fences *s, Op *op) {
  Accesses entry = copy(s, &s->now);
  for (;;) {
    s->now = copy(s, &entry);
    walk_block(s, op->blocks[0]);
    Accesses leave = copy(s, &s->now);
    if (op->opcode == OP_WHILE) walk_block(s, op->blocks[1]);
    if (merge(s, &entry, &s->now)) continue;
    s->now = op->opcode == OP_WHILE ? leave : entry;
    return;
  }
}

static void walk_if(Fences *s, Op *op) {
  Accesses before = copy(s, &s->now);
  walk_block(s, op->blocks[0]);
  Accesses then = s->now;
  s->now = before;
  walk_block(s, op->blocks[1]);
  merge(s, &s->now, &then);
}

static void walk_roles(Fences *s, Op *op) {
  Role *roles = arena_array(&s->ctx->arena, Role, op->num_blocks);
  fence(&s->now);
  meet(&s->now);
  Accesses outside = s->now;
  for (uint32_t i = 0; i < op->num_blocks; i++) {
    roles[i] = (Role){0};
    s->role = &roles[i];
    s->now = i ? (Accesses){0} : copy(s, &outside);
    walk_block(s, op->blocks[i]);
  }
  for (uint32_t i = 0; i < op->num_blocks; i++)
    for (uint32_t k = 0; k < op->num_blocks; k++)
      VEC_EACH(a, roles[k].used)
        if (i != k) use(s, NULL, a, &roles[i].published);
  s->role = NULL;
  s->now = outside;
}

static void walk_accesses(Fences *s, Op *op) {
  SharedAccesses accesses = {0};
  shared_accesses(s->ctx, op, &accesses);
  VEC_EACH(a, accesses) {
    if (a->by == SHARED_BY_TMA || a->by == SHARED_BY_WGMMA) {
      use(s, op, a, &s->now);
      if (s->role) vec_push(&s->ctx->arena, &s->role->used, *a);
    } else if (op->opcode == OP_LOCAL_LOAD || op->opcode == OP_DOT_SHARED) {
      add(s, &s->now, (Access){op, READ, false, a->lo, a->hi});
    } else if (a->is_write && op->opcode != OP_MBAR_INIT) {   // which brings a fence
      add(s, &s->now, (Access){op, a->by == SHARED_BY_COPY ? COPYING : WRITTEN, false, a->lo, a->hi});
    }
  }
  uint32_t align, bytes = scratch_op_bytes(s->ctx, op, &align);
  const uint32_t lo = (uint32_t)op_int(op, ATTR_OFFSET, 0);
  if (!bytes || op->opcode == OP_ALLOC) return;
  if (scratch_meets_block(op)) meet(&s->now);
  add(s, &s->now, (Access){op, WRITTEN, false, lo, lo + bytes});
}

static void walk_op(Fences *s, Op *op) {
  switch (op->opcode) {
    case OP_FOR: case OP_WHILE: walk_loop(s, op); return;
    case OP_IF: walk_if(s, op); return;
    case OP_ROLES: walk_roles(s, op); return;
    case OP_FENCE_ASYNC: fence(&s->now); return;
    case OP_BARRIER: case OP_PINGPONG_WAIT: meet(&s->now); return;
    case OP_ASYNC_WAIT:
      complete(s, op, COPYING);
      complete(s, op, ANNOUNCED);
      if (op_int(op, ATTR_COUNT, 0)) return;
      drop(&s->now, COPYING);
      drop(&s->now, ANNOUNCED);
      return;
    case OP_ASYNC_ARRIVE:
      VEC_EACH(w, s->now)
        if (w->state == COPYING) w->state = ANNOUNCED;
      return;
    case OP_MBAR_WAIT: complete(s, op, ANNOUNCED); return;
    case OP_MBAR_ARRIVE:
      VEC_EACH(a, s->now)
        if (s->role && !a->fenced) add(s, &s->role->published, *a);
      return;
    default: walk_accesses(s, op);
  }
}

static void walk_block(Fences *s, Block *b) {
  EACH_OP(op, b) walk_op(s, op);
}

// ---- fences ----

// Whether threads may meet at op, or others learn at it what they did.
static bool is_meeting(const Fences *s, const Op *op) {
  uint32_t align;
  switch (op->opcode) {
    case OP_LOCAL_LOAD: case OP_LOCAL_STORE: case OP_ASYNC_COPY: case OP_DOT_SHARED: return false;
    default:
      return op_is(op, TRAIT_SYNC | TRAIT_TERMINATOR) || op->num_blocks || op_unit(op) == UNIT_SMEM ||
             op->opcode == OP_WGMMA || scratch_op_bytes(s->ctx, op, &align);
  }
}

static Op *next_meeting(const Fences *s, const Op *by) {
  Op *at = by->next;
  while (!is_meeting(s, at)) at = at->next;
  return at;
}

// Whether the barrier's fence saves any: several accesses would have one each, or one would have it in an inner loop.
static bool saves_fences(const Fences *s, const Op *barrier) {
  const Op *place = NULL;
  VEC_EACH(x, s->lacking) {
    if (x->barrier != barrier) continue;
    const Op *at = next_meeting(s, x->by);
    if (loop_around(x->by) != loop_around(barrier) || (place && at != place)) return true;
    place = at;
  }
  return false;
}

static void insert_before(Fences *s, Op *at) {
  const Op *before = at->prev;
  if (at->opcode == OP_FENCE_ASYNC || (before && before->opcode == OP_FENCE_ASYNC)) return;   // for another access
  Builder b = builder_before(s->ctx, at);
  build_op(&b, OP_FENCE_ASYNC, NULL, 0);
}

static void insert(Fences *s, const Lack *lack) {
  Op *by = lack->by;
  remark_applied(by, by->opcode == OP_LOCAL_LOAD ? "TMA overwrites what is read here: a proxy fence is added"
                                                 : "TMA or wgmma uses what is written here: a proxy fence is added");
  if (lack->barrier) {
    insert_before(s, lack->barrier);
  } else if (by->opcode != OP_MBAR_WAIT) {
    insert_before(s, next_meeting(s, by));
  } else {
    Builder b = builder_after(s->ctx, by);
    build_op(&b, OP_FENCE_ASYNC, NULL, 0);
    build_op(&b, OP_BARRIER, NULL, 0);
  }
}

static bool has_own_fence(const Fences *s, const Op *by) {
  VEC_EACH(x, s->lacking)
    if (x->by == by && !x->barrier) return true;
  return false;
}

// An access that has a fence of its own needs no other. What remains at a barrier shares one there, if that saves any.
static void place(Fences *s) {
  for (bool changed = true; changed;) {
    changed = false;
    VEC_EACH(x, s->lacking) {
      if (!x->barrier || (!has_own_fence(s, x->by) && saves_fences(s, x->barrier))) continue;
      x->barrier = NULL;
      changed = true;
    }
  }
}

static void find_async_proxy(Op *op, void *user) { *(bool *)user |= op_is(op, TRAIT_ASYNC_PROXY) != 0; }

void pass_insert_fences(PassCtx *p) {
  Fences s = {.ctx = p->ctx, .module = p->module};
  bool any = false;
  module_walk(p->module, find_async_proxy, &any);
  if (!any) return;
  EACH_FUNC(f, p->module) {
    s.now = (Accesses){0};
    walk_block(&s, f->body);
  }
  place(&s);
  VEC_EACH(x, s.lacking) insert(&s, x);
}
