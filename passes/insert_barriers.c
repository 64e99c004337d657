// insert_barriers: the fewest block barriers that order accesses of shared memory by different threads.
//
// A forward walk records what was read and written since the last barrier, as byte ranges (the slate). A barrier goes
// before an op that writes what was read or written, or reads what was written, and empties the slate. Loop bodies are
// walked until the back edge adds nothing. An op with scratch writes it, meets all threads at a barrier of its own, and
// reads it; a conversion within warps has no such barrier, since each warp reads what it wrote. A ring counts as one
// buffer if its slot is not a constant; therefore the result holds for any number of slots.
//
// Asynchronous accesses end at a wait by the thread that issued them, not at a barrier. They stay on the slate as
// *pending* until their wait makes them ordinary accesses; the first use after the wait then gets its barrier. TMA
// loads complete on an mbarrier that each reader waits for. They leave one obligation: earlier readers of the buffer
// must have finished.
//
// After its pingpong_wait the last warpgroup knows that all others have done what came before theirs, and its own warps
// have met: what it issues then (`issuer`) needs no barrier against accesses before the pingpong_wait. This does not
// hold for the other warpgroups.
//
// One thread arrives at an mbarrier for all, after a barrier if any of them used shared memory since the last. A block
// of one warpgroup needs none for what its wgmma read, or for the mbarriers that it waited for before: a wgmma
// completes for the whole warpgroup, after all of its warps have issued it.
//
// The copy into a ring's slot waits for a barrier after what wgmma read there, also in a block of one warpgroup that
// has waited for the wgmma: the slot's mbarrier is armed for the next phase with the copy, and a warp that still waits
// for the last one would miss it.
//
// The blocks of a `roles` run at once, each with a slate of its own: a barrier in one orders its own warps, and
// mbarriers alone order the blocks. Where the op begins and where it ends all warps meet.
//
// Global memory: of threads that hold duplicates all read, but only one writes. A store to what was loaded with
// duplicates or in another layout, through the same pointer parameter, waits for the readers. A load after such a store
// waits, too. A pointer whose parameter is not known may be any.
//
// Turns at the tensor cores (ping_pong) begin after all warps have ended the last ones: a loop without iterations lets a
// warpgroup through before the other has come, and the next loop's first turn would be taken for the last one's.
//
// A loop that one thread runs for all (`by_owner`) counts as one access to all that it reads and writes.
//
// In: ALLOCATED. Out: ALLOCATED, safe.
#include <string.h>

#include "ir/roles.h"
#include "ir/scratch.h"
#include "passes/global_memory.h"
#include "passes/pass.h"
#include "passes/access.h"
#include "passes/shared_memory.h"

typedef enum { PENDING_NO, PENDING_COPY, PENDING_WGMMA, PENDING_BULK } Pending;

// How a block of one warpgroup knows that all of its warps have done an access: by a wgmma after it that was waited
// for.
typedef enum { GROUP_UNKNOWN, GROUP_BEFORE_WGMMA, GROUP_IN_WGMMA, GROUP_DONE } Group;

static const Value unknown_array, pingpong_turns;

typedef struct {
  bool is_write;
  Group group;
  bool before_pingpong;          // done before the last pingpong_wait
  Pending pending;
  const Value *root;         // global: the pointer parameter, or &unknown_array; NULL = shared memory
                             // &pingpong_turns: written where turns end, read where they begin
  const Layout *layout;      // global: of the access (NULL: scalar)
  uint32_t lo, hi;           // shared: bytes
} Access;

typedef VEC(Access) Slate;

typedef struct {
  Context *ctx;
  Module *module;
  Slate slate;
  Op *pingpong;                 // the pingpong_wait whose pass the walk has not met; NULL: none
  VEC(Op *) added;           // barriers
} Barriers;

static bool same_access(const Access *a, const Access *b) {
  return a->is_write == b->is_write && a->group == b->group && a->before_pingpong == b->before_pingpong &&
         a->pending == b->pending && a->root == b->root && a->layout == b->layout && a->lo == b->lo && a->hi == b->hi;
}

static bool add_access(Barriers *s, Slate *to, Access a) {
  VEC_EACH(x, *to)
    if (same_access(x, &a)) return false;
  vec_push(&s->ctx->arena, to, a);
  return true;
}

static Slate copy_slate(Barriers *s, const Slate *from) {
  Slate to = {0};
  VEC_EACH(x, *from) vec_push(&s->ctx->arena, &to, *x);
  return to;
}

static bool merge_slate(Barriers *s, Slate *to, const Slate *from) {
  bool grew = false;
  VEC_EACH(x, *from) grew |= add_access(s, to, *x);
  return grew;
}

// ---- what an op touches ----

static void add_global(Barriers *s, Slate *out, const Op *op, bool is_write) {
  const Value *root = global_root(op_operand(op, 0));
  const Type *t = access_type(op);
  Access a = {.is_write = is_write, .root = root ? root : &unknown_array};
  a.layout = t->kind == TYPE_TENSOR ? t->layout : NULL;
  add_access(s, out, a);
}

static bool runs_on_one_warpgroup(const Op *op) { return op_num_warps(op) == WARPGROUP_WARPS; }

// What one thread does at an mbarrier publishes nothing of its own.
static Group group_of(const Op *op) {
  switch (op->opcode) {
    case OP_MBAR_ARRIVE: case OP_MBAR_EXPECT: case OP_TMA_LOAD: return GROUP_DONE;
    case OP_MBAR_WAIT: return runs_on_one_warpgroup(op) ? GROUP_BEFORE_WGMMA : GROUP_UNKNOWN;
    case OP_WGMMA:
      if (!runs_on_one_warpgroup(op)) return GROUP_UNKNOWN;
      return op_int(op, ATTR_ASYNC, 0) ? GROUP_IN_WGMMA : GROUP_DONE;
    default: return GROUP_UNKNOWN;
  }
}

static Pending pending_of(const Op *op, SharedBy by) {
  switch (by) {
    case SHARED_BY_COPY: return PENDING_COPY;
    case SHARED_BY_TMA: return PENDING_BULK;
    case SHARED_BY_WGMMA: return op_int(op, ATTR_ASYNC, 0) ? PENDING_WGMMA : PENDING_NO;
    default: return PENDING_NO;
  }
}

static void op_accesses(Barriers *s, const Op *op, Slate *out) {
  SharedAccesses shared = {0};
  shared_accesses(s->ctx, op, &shared);
  VEC_EACH(x, shared)
    add_access(s, out, (Access){.is_write = x->is_write, .pending = pending_of(op, x->by), .lo = x->lo, .hi = x->hi});
  if (op_unit(op) == UNIT_GMEM) add_global(s, out, op, op_is(op, TRAIT_WRITES));
  const bool ends = op->opcode == OP_PINGPONG_WAIT;
  if ((ends || op->opcode == OP_PINGPONG_PASS) && op_int(op, ATTR_EDGE, 0))
    add_access(s, out, (Access){.is_write = ends, .root = &pingpong_turns});
  const Group group = group_of(op);
  VEC_EACH(x, *out) x->group = group;
}

static bool holds_duplicates(const Layout *l) { return !l || layout_free_bits(l, LAYOUT_WARP); }

static bool conflict(const Access *before, const Access *now) {
  if (!before->is_write && !now->is_write) return false;
  if ((before->root != NULL) != (now->root != NULL)) return false;
  if (now->root) {
    const bool same = now->root == before->root;
    if (now->root == &pingpong_turns || before->root == &pingpong_turns) return same && before->is_write;
    if (!same && now->root != &unknown_array && before->root != &unknown_array) return false;
    if (now->is_write && before->is_write) return false;      // left to the program, as between two programs
    return now->layout != before->layout || holds_duplicates(now->is_write ? before->layout : now->layout);
  }
  return before->pending == PENDING_NO && before->lo < now->hi && now->lo < before->hi;
}

// ---- the walk ----

static void clear_at_barrier(Slate *s) {
  uint32_t n = 0;
  VEC_EACH(x, *s)
    if (x->pending != PENDING_NO) s->data[n++] = *x;
  s->count = n;
}

// A wait turns the pending accesses of its kind into ordinary ones. If groups are still in flight, they also stay
// pending.
static void complete(Barriers *s, Pending kind, bool all) {
  uint32_t n = s->slate.count;
  for (uint32_t i = 0; i < n; i++) {
    if (s->slate.data[i].pending != kind) continue;
    Access done = s->slate.data[i];
    done.pending = PENDING_NO;
    if (all) s->slate.data[i] = done;
    else add_access(s, &s->slate, done);
  }
}

static void add_barrier(Barriers *s, Op *before) {
  Builder b = builder_before(s->ctx, before);
  vec_push(&s->ctx->arena, &s->added, build_op(&b, OP_BARRIER, NULL, 0));
}

static void meet(Barriers *s, Op *op, const Slate *now) {
  bool by_last = op_int(op, ATTR_ISSUER, 0) != 0;
  VEC_EACH(x, *now)
    for (uint32_t k = 0; k < s->slate.count; k++) {
      if (by_last && s->slate.data[k].before_pingpong) continue;
      if (!conflict(&s->slate.data[k], x)) continue;
      // Between pingpong_wait and pingpong_pass a warpgroup is alone: all meet before it.
      add_barrier(s, s->pingpong ? s->pingpong : op);
      clear_at_barrier(&s->slate);
      return;
    }
}

static void advance_group(Slate *s, Group from, Group to) {
  VEC_EACH(x, *s)
    if (x->group == from && x->pending == PENDING_NO) x->group = to;
}

static void meet_before_arrival(Barriers *s, Op *op) {
  VEC_EACH(x, s->slate)
    if (!x->root && x->pending == PENDING_NO && x->group != GROUP_DONE) {
      add_barrier(s, op);
      clear_at_barrier(&s->slate);
      return;
    }
}

static void walk_block(Barriers *s, Block *b);

static void take_back(Barriers *s, uint32_t count) {
  while (s->added.count > count) op_erase(s->added.data[--s->added.count]);
}

// A round that knows more of the back edge may put a barrier earlier, where it also serves what the previous round put
// another one for. Therefore each round removes the barriers of the last.
static void walk_loop_from(Barriers *s, Op *op, Slate entry) {
  for (uint32_t before = s->added.count;;) {
    s->slate = copy_slate(s, &entry);
    walk_block(s, op->blocks[0]);
    Slate leave = copy_slate(s, &s->slate);
    if (op->opcode == OP_WHILE) walk_block(s, op->blocks[1]);
    if (merge_slate(s, &entry, &s->slate)) {
      take_back(s, before);
      continue;
    }
    // A for may run zero times. A while leaves after its first block.
    s->slate = op->opcode == OP_WHILE ? leave : copy_slate(s, &entry);
    return;
  }
}

// Puts a barrier before the loop if that saves one in it.
static void walk_loop(Barriers *s, Op *op) {
  Slate entry = copy_slate(s, &s->slate), clean = copy_slate(s, &s->slate);
  uint32_t before = s->added.count;
  walk_loop_from(s, op, copy_slate(s, &entry));
  uint32_t inside = s->added.count - before;
  clear_at_barrier(&clean);
  if (!inside || clean.count == entry.count) return;
  take_back(s, before);
  walk_loop_from(s, op, clean);
  if (s->added.count - before < inside) {
    add_barrier(s, op);
    return;
  }
  take_back(s, before);
  walk_loop_from(s, op, entry);
}

// What the op around block 0 has in flight stays in flight in it, and beyond.
static void walk_roles(Barriers *s, Op *op) {
  Slate outside = s->slate;
  clear_at_barrier(&outside);
  for (uint32_t i = 1; i < op->num_blocks; i++) {
    s->slate = (Slate){0};
    walk_block(s, op->blocks[i]);
  }
  s->slate = outside;
  walk_block(s, op->blocks[0]);
  clear_at_barrier(&s->slate);
}

typedef struct { Barriers *barriers; Slate *accesses; } Owned;

static void add_owned(Op *op, void *user) {
  const Owned *o = user;
  op_accesses(o->barriers, op, o->accesses);
}

static void walk_owned(Barriers *s, Op *loop) {
  Slate now = {0};
  block_walk(loop->blocks[0], add_owned, &(Owned){s, &now});
  meet(s, loop, &now);
  merge_slate(s, &s->slate, &now);
}

static void walk_op(Barriers *s, Op *op) {
  switch (op->opcode) {
    case OP_FOR: case OP_WHILE:
      if (op_int(op, ATTR_BY_OWNER, 0)) walk_owned(s, op);
      else walk_loop(s, op);
      return;
    case OP_IF: {
      Slate before = copy_slate(s, &s->slate);
      walk_block(s, op->blocks[0]);
      Slate then = s->slate;
      s->slate = before;
      walk_block(s, op->blocks[1]);
      merge_slate(s, &s->slate, &then);
      return;
    }
    case OP_BARRIER: clear_at_barrier(&s->slate); return;
    case OP_MBAR_ARRIVE: meet_before_arrival(s, op); break;
    case OP_PINGPONG_PASS: s->pingpong = NULL; break;
    case OP_PINGPONG_WAIT:
      if (!op_int(op, ATTR_EDGE, 0)) s->pingpong = op;
      VEC_EACH(x, s->slate)
        x->before_pingpong |= x->pending == PENDING_NO;
      break;
    case OP_ASYNC_WAIT: complete(s, PENDING_COPY, op_int(op, ATTR_COUNT, 0) == 0); return;
    case OP_WGMMA: advance_group(&s->slate, GROUP_BEFORE_WGMMA, GROUP_IN_WGMMA); break;
    case OP_WGMMA_WAIT:
      complete(s, PENDING_WGMMA, op_int(op, ATTR_COUNT, 0) == 0);
      advance_group(&s->slate, GROUP_IN_WGMMA, GROUP_DONE);
      return;
    case OP_TMA_WAIT: complete(s, PENDING_BULK, op_int(op, ATTR_COUNT, 0) == 0); return;
    default: break;
  }
  if (op->opcode == OP_REDUCE && scratch_reduce_plan(s->ctx, op).at_barrier) clear_at_barrier(&s->slate);
  Slate now = {0};
  op_accesses(s, op, &now);
  uint32_t align, bytes = scratch_op_bytes(s->ctx, op, &align);
  if (bytes && op->opcode != OP_ALLOC) {
    uint32_t lo = (uint32_t)op_int(op, ATTR_OFFSET, 0);
    Access scratch = {.is_write = true, .lo = lo, .hi = lo + bytes};
    add_access(s, &now, scratch);
    if (op->opcode != OP_ROLES && scratch_meets_block(op)) {
      meet(s, op, &now);
      clear_at_barrier(&s->slate);     // its own barrier, between writing and reading
      scratch.is_write = false;
      add_access(s, &s->slate, scratch);
      return;
    }
  }
  if (!now.count && op->opcode != OP_ROLES) return;
  meet(s, op, &now);
  if (op->opcode == OP_ROLES) {
    walk_roles(s, op);
    return;
  }
  VEC_EACH(it, now)
    if (op->opcode != OP_TMA_LOAD || !it->is_write) add_access(s, &s->slate, *it);
}

static void walk_block(Barriers *s, Block *b) {
  EACH_OP(op, b) walk_op(s, op);
}

void pass_insert_barriers(PassCtx *p) {
  Barriers s = {.ctx = p->ctx, .module = p->module};
  EACH_FUNC(f, p->module) {
    s.slate = (Slate){0};
    s.pingpong = NULL;
    walk_block(&s, f->body);
  }
}
