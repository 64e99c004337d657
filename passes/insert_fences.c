// insert_fences: the proxy fences that a module as written lacks.
//
// Threads access shared memory through the generic proxy, TMA and wgmma through the asynchronous one. TMA and wgmma see
// a thread's write only if that thread executes a proxy fence after the write and before the threads meet. Nor does a
// barrier alone keep TMA from overwriting what a thread reads: on Hopper, an ldmatrix that was issued before a barrier
// and whose result is used after it may read what TMA copies to the same bytes after the barrier.
//
// The pass follows each read and write to the next fence. If TMA or wgmma can use the bytes of a write before that
// fence, or TMA can write the bytes of a read, the pass inserts a fence after the access, as late as possible: before
// the next op at which threads meet or that publishes what they did. A fence that the author wrote is therefore never
// repeated.
//
// The writes of a cp.async count as the thread's own once it has waited for them. If an mbarrier_arrive announces them,
// the fence goes after a wait for an mbarrier, and a block barrier follows it.
//
// All warps execute a fence where a `roles` begins and where it ends. Accesses in one of its blocks reach the others by
// arrivals at mbarriers.
//
// In: ALLOCATED, with barriers. Out: the same.
#include "ir/scratch.h"
#include "passes/pass.h"
#include "passes/shared_memory.h"

typedef enum { READ, WRITTEN, COPYING, ANNOUNCED } State;   // ANNOUNCED: a copy for which an mbarrier_arrive waits
typedef struct { Op *by; State state; uint32_t lo, hi; } Access;
typedef VEC(Access) Accesses;
// published: accesses without a fence; used: bytes that TMA and wgmma use
typedef struct { Accesses published; SharedAccesses used; } Role;

typedef struct {
  Context *ctx;
  Module *module;
  Accesses now;            // not followed by a fence yet
  Role *role;              // whose block is walked; NULL: the kernel's own
  OpList lacking;          // ops that need a fence after them
} Fences;

static bool add(Fences *s, Accesses *to, Access w) {
  VEC_EACH(x, *to)
    if (x->by == w.by && x->state == w.state && x->lo == w.lo && x->hi == w.hi) return false;
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
static void drop_fenced(Accesses *a) {
  drop(a, READ);
  drop(a, WRITTEN);
}

// ---- the walk ----

static void require(Fences *s, Op *by) {
  VEC_EACH(x, s->lacking)
    if (*x == by) return;
  vec_push(&s->ctx->arena, &s->lacking, by);
}

static void use(Fences *s, const SharedAccess *a, const Accesses *of_threads) {
  VEC_EACH(x, *of_threads)
    if ((x->state == WRITTEN || (x->state == READ && a->is_write)) && x->lo < a->hi && a->lo < x->hi) require(s, x->by);
}

// The copies in that state may be complete: from here on what they wrote counts as written by `by`.
static void complete(Fences *s, Op *by, State state) {
  for (uint32_t i = 0, n = s->now.count; i < n; i++) {
    const Access w = s->now.data[i];
    if (w.state == state) add(s, &s->now, (Access){by, WRITTEN, w.lo, w.hi});
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
  drop_fenced(&s->now);
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
        if (i != k) use(s, a, &roles[i].published);
  s->role = NULL;
  s->now = outside;
}

static void walk_accesses(Fences *s, Op *op) {
  SharedAccesses accesses = {0};
  shared_accesses(s->ctx, op, &accesses);
  VEC_EACH(a, accesses) {
    if (a->by == SHARED_BY_TMA || a->by == SHARED_BY_WGMMA) {
      use(s, a, &s->now);
      if (s->role) vec_push(&s->ctx->arena, &s->role->used, *a);
    } else if (op->opcode == OP_LOCAL_LOAD) {
      add(s, &s->now, (Access){op, READ, a->lo, a->hi});
    } else if (a->is_write && op->opcode != OP_MBAR_INIT) {   // which brings a fence
      add(s, &s->now, (Access){op, a->by == SHARED_BY_COPY ? COPYING : WRITTEN, a->lo, a->hi});
    }
  }
  uint32_t align, bytes = scratch_op_bytes(s->ctx, op, s->module->num_warps, &align);
  const uint32_t lo = (uint32_t)op_int(op, ATTR_OFFSET, 0);
  if (bytes && op->opcode != OP_ALLOC) add(s, &s->now, (Access){op, WRITTEN, lo, lo + bytes});
}

static void walk_op(Fences *s, Op *op) {
  switch (op->opcode) {
    case OP_FOR: case OP_WHILE: walk_loop(s, op); return;
    case OP_IF: walk_if(s, op); return;
    case OP_ROLES: walk_roles(s, op); return;
    case OP_FENCE_ASYNC: drop_fenced(&s->now); return;
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
      if (s->role) merge(s, &s->role->published, &s->now);
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
    case OP_LOCAL_LOAD: case OP_LOCAL_STORE: case OP_ASYNC_COPY: return false;
    default:
      return op_is(op, TRAIT_SYNC | TRAIT_TERMINATOR) || op->num_blocks || op_unit(op) == UNIT_SMEM ||
             op->opcode == OP_WGMMA || scratch_op_bytes(s->ctx, op, s->module->num_warps, &align);
  }
}

static void insert_after(Fences *s, Op *by) {
  const bool is_wait = by->opcode == OP_MBAR_WAIT;
  Op *at = by->next;
  while (!is_wait && !is_meeting(s, at)) at = at->next;
  if (!is_wait && at->opcode == OP_FENCE_ASYNC) return;   // for another access
  Builder b = builder_before(s->ctx, at);
  build_op(&b, OP_FENCE_ASYNC, NULL, 0);
  if (is_wait) build_op(&b, OP_BARRIER, NULL, 0);
  remark_applied(by, by->opcode == OP_LOCAL_LOAD ? "TMA overwrites what is read here: a proxy fence is added"
                                                 : "TMA or wgmma uses what is written here: a proxy fence is added");
}

static void find_async_proxy(Op *op, void *user) {
  switch (op->opcode) {
    case OP_TMA_LOAD: case OP_TMA_STORE: case OP_TMA_REDUCE: case OP_WGMMA: *(bool *)user = true; return;
    default: return;
  }
}

void pass_insert_fences(PassCtx *p) {
  Fences s = {.ctx = p->ctx, .module = p->module};
  bool any = false;
  module_walk(p->module, find_async_proxy, &any);
  if (!any) return;
  EACH_FUNC(f, p->module) {
    s.now = (Accesses){0};
    walk_block(&s, f->body);
  }
  VEC_EACH(by, s.lacking) insert_after(&s, *by);
}
