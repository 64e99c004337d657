// insert_fences: the proxy fences that a module as written lacks.
//
// Threads access shared memory through the generic proxy, TMA and wgmma through the asynchronous one. TMA and wgmma see
// a thread's write only if that thread executes a proxy fence after the write and before the threads meet. The pass
// follows each write to the next fence. If TMA or wgmma can use the bytes before that fence, the pass inserts one after
// the write, as late as possible: before the next op at which threads meet or that publishes what they did. A fence that
// the author wrote is therefore never repeated.
//
// The writes of a cp.async count as the thread's own once it has waited for them. If an mbarrier_arrive announces them,
// the fence goes after a wait for an mbarrier, and a block barrier follows it.
//
// All warps execute a fence where a `roles` begins and where it ends. Writes in one of its blocks reach the others by
// arrivals at mbarriers.
//
// In: ALLOCATED, with barriers. Out: the same.
#include "ir/scratch.h"
#include "passes/pass.h"
#include "passes/shared_memory.h"

typedef enum { WRITTEN, COPYING, ANNOUNCED } WriteState;   // ANNOUNCED: a copy for which an mbarrier_arrive waits
typedef struct { Op *by; WriteState state; uint32_t lo, hi; } Write;
typedef VEC(Write) Writes;
typedef struct { Writes published; SharedAccesses used; } Role;   // writes without a fence; bytes that TMA and wgmma use

typedef struct {
  Context *ctx;
  Module *module;
  Writes now;              // not followed by a fence yet
  Role *role;              // whose block is walked; NULL: the kernel's own
  OpList lacking;          // ops that need a fence after them
} Fences;

static bool add_write(Fences *s, Writes *to, Write w) {
  VEC_EACH(x, *to)
    if (x->by == w.by && x->state == w.state && x->lo == w.lo && x->hi == w.hi) return false;
  vec_push(&s->ctx->arena, to, w);
  return true;
}

static bool merge(Fences *s, Writes *to, const Writes *from) {
  bool grew = false;
  VEC_EACH(x, *from) grew |= add_write(s, to, *x);
  return grew;
}

static Writes copy(Fences *s, const Writes *from) {
  Writes to = {0};
  merge(s, &to, from);
  return to;
}

static void drop(Writes *w, WriteState state) {
  uint32_t n = 0;
  VEC_EACH(x, *w)
    if (x->state != state) w->data[n++] = *x;
  w->count = n;
}

// ---- the walk ----

static void require(Fences *s, Op *by) {
  VEC_EACH(x, s->lacking)
    if (*x == by) return;
  vec_push(&s->ctx->arena, &s->lacking, by);
}

static void use(Fences *s, const SharedAccess *a, const Writes *writes) {
  VEC_EACH(w, *writes)
    if (w->state == WRITTEN && w->lo < a->hi && a->lo < w->hi) require(s, w->by);
}

// The copies in that state may be complete: from here on what they wrote counts as written by `by`.
static void complete(Fences *s, Op *by, WriteState state) {
  for (uint32_t i = 0, n = s->now.count; i < n; i++) {
    const Write w = s->now.data[i];
    if (w.state == state) add_write(s, &s->now, (Write){by, WRITTEN, w.lo, w.hi});
  }
}

static void walk_block(Fences *s, Block *b);

static void walk_loop(Fences *s, Op *op) {
  Writes entry = copy(s, &s->now);
  for (;;) {
    s->now = copy(s, &entry);
    walk_block(s, op->blocks[0]);
    Writes leave = copy(s, &s->now);
    if (op->opcode == OP_WHILE) walk_block(s, op->blocks[1]);
    if (merge(s, &entry, &s->now)) continue;
    s->now = op->opcode == OP_WHILE ? leave : entry;
    return;
  }
}

static void walk_if(Fences *s, Op *op) {
  Writes before = copy(s, &s->now);
  walk_block(s, op->blocks[0]);
  Writes then = s->now;
  s->now = before;
  walk_block(s, op->blocks[1]);
  merge(s, &s->now, &then);
}

static void walk_roles(Fences *s, Op *op) {
  Role *roles = arena_array(&s->ctx->arena, Role, op->num_blocks);
  drop(&s->now, WRITTEN);
  Writes outside = s->now;
  for (uint32_t i = 0; i < op->num_blocks; i++) {
    roles[i] = (Role){0};
    s->role = &roles[i];
    s->now = i ? (Writes){0} : copy(s, &outside);
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
    } else if (a->is_write && op->opcode != OP_MBAR_INIT) {   // which brings a fence
      add_write(s, &s->now, (Write){op, a->by == SHARED_BY_COPY ? COPYING : WRITTEN, a->lo, a->hi});
    }
  }
  uint32_t align, bytes = scratch_op_bytes(s->ctx, op, s->module->num_warps, &align);
  const uint32_t lo = (uint32_t)op_int(op, ATTR_OFFSET, 0);
  if (bytes && op->opcode != OP_ALLOC) add_write(s, &s->now, (Write){op, WRITTEN, lo, lo + bytes});
}

static void walk_op(Fences *s, Op *op) {
  switch (op->opcode) {
    case OP_FOR: case OP_WHILE: walk_loop(s, op); return;
    case OP_IF: walk_if(s, op); return;
    case OP_ROLES: walk_roles(s, op); return;
    case OP_FENCE_ASYNC: drop(&s->now, WRITTEN); return;
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
  if (!is_wait && at->opcode == OP_FENCE_ASYNC) return;   // for another write
  Builder b = builder_before(s->ctx, at);
  build_op(&b, OP_FENCE_ASYNC, NULL, 0);
  if (is_wait) build_op(&b, OP_BARRIER, NULL, 0);
  remark_applied(by, "TMA or wgmma uses what is written here: a proxy fence is added");
}

void pass_insert_fences(PassCtx *p) {
  Fences s = {.ctx = p->ctx, .module = p->module};
  EACH_FUNC(f, p->module) {
    s.now = (Writes){0};
    walk_block(&s, f->body);
  }
  VEC_EACH(by, s.lacking) insert_after(&s, *by);
}
