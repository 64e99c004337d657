// Lifetimes of shared memory: see liveness.h.
#include "passes/liveness.h"

#include "ir/roles.h"
#include "ir/scratch.h"
#include "passes/layout_rules.h"
#include "passes/buffer.h"
#include "passes/ties.h"

// ---- lifetimes ----

typedef struct {
  Context *ctx;
  const Module *module;
  OpOrder order;
  VEC(Lifetime) items;
} Lifetimes;

// The number at which `op` no longer uses what was made in block `home`.
static uint32_t use_end(const OpOrder *o, const Op *op, const Block *home) {
  uint32_t end = op_order_end(o, op);
  for (const Op *p = op->parent->parent; p && op->parent != home; op = p, p = p->parent->parent)
    if (op_is(p, TRAIT_LOOP) || p->opcode == OP_ROLES) end = op_order_end(o, p);
  return end;
}

// align: of the views; one that is reinterpreted may need more than the buffer.
typedef struct {
  Context *ctx;
  const OpOrder *order;
  const Block *home;
  uint32_t begin, end, align;
  VEC(Value *) seen;
} UseSearch;

// The end of bulk stores that read a buffer: the first full wait after them in their block or in one around it, be it
// beyond the buffer's home; otherwise the end of the function or of the role.
static uint32_t bulk_store_end(const OpOrder *order, const Op *op, const Block *home) {
  for (;; op = op->parent->parent) {
    for (const Op *o = op->next; o; o = o->next)
      if (o->opcode == OP_TMA_WAIT && op_int(o, ATTR_COUNT, 0) == 0)
        return block_encloses(home, o->parent) ? use_end(order, o, home) : op_order_end(order, o);
    const Op *around = op->parent->parent;
    if (!around || around->opcode == OP_ROLES) return op_order_end(order, op->parent->last);
  }
}

static void search_uses(Value *v, void *user) {
  UseSearch *s = user;
  // A constant that loops start from is in no buffer, and other loops may start from it, too.
  if (!v || layout_rule_is_free(v)) return;
  // Nor is what was there before the buffer: two loops, of which one runs, may both start from it.
  if (v->def && op_order_end(s->order, v->def) < s->begin) return;
  VEC_EACH(x, s->seen)
    if (*x == v) return;
  vec_push(&s->ctx->arena, &s->seen, v);
  if (v->type->kind == TYPE_BUFFER && scratch_tile_align(v->type) > s->align) s->align = scratch_tile_align(v->type);
  // After a full wait the value holds no buffer.
  if (value_op(v, OP_WGMMA_WAIT) && op_int(v->def, ATTR_COUNT, 0) == 0) return;
  if (value_block(v) != s->home && v->block && v->block->parent) {
    uint32_t end = use_end(s->order, v->block->parent, s->home);
    if (end > s->end) s->end = end;
  }
  EACH_USE(u, v) {
    Op *op = u->user;
    uint32_t end = op_is_tma_write(op) ? bulk_store_end(s->order, op, s->home) : use_end(s->order, op, s->home);
    if (end > s->end) s->end = end;
    bool is_async = op->opcode == OP_ASYNC_COPY || op->opcode == OP_ASYNC_COMMIT ||
                    (op->opcode == OP_WGMMA && op_attr(op, ATTR_ASYNC));
    if (buffer_is_view(op) || is_async)
      for (uint32_t i = 0; i < op->num_results; i++) search_uses(&op->results[i], s);
  }
  ties_visit(v, search_uses, s);
}

static void collect(Op *op, void *user) {
  Lifetimes *n = user;
  uint32_t begin = op_order_begin(&n->order, op);
  if (op->opcode == OP_ALLOC) {
    UseSearch s = {.ctx = n->ctx, .order = &n->order, .home = op->parent, .begin = begin, .end = begin};
    search_uses(&op->results[0], &s);
    const uint32_t asked = (uint32_t)op_int(op, ATTR_ALIGN, 0), bytes = buffer_bytes(op->results[0].type);
    vec_push(&n->ctx->arena, &n->items,
             ((Lifetime){op, begin, s.end, bytes, asked > s.align ? asked : s.align, block_role(op->parent)}));
    return;
  }
  uint32_t align = 1, bytes = scratch_op_bytes(n->ctx, op, &align);
  if (!bytes) return;
  Lifetime life = {op, begin, op_order_end(&n->order, op), bytes, align, block_role(op->parent)};
  if (op->opcode == OP_ROLES && roles_that_says_which(op->parent->func) == op) {
    life.begin = 0;
    life.end = n->order.count;
  }
  vec_push(&n->ctx->arena, &n->items, life);
}

bool liveness_overlap(const Lifetime *a, const Lifetime *b) {
  if (a->role && b->role && a->role != b->role && a->role->parent == b->role->parent) return true;
  return a->begin <= b->end && b->begin <= a->end;
}

Liveness liveness_compute(Context *ctx, const Module *m, Func *f) {
  Lifetimes n = {.ctx = ctx, .module = m, .order = op_order_of(ctx, f)};
  block_walk(f->body, collect, &n);
  return (Liveness){n.items.data, n.items.count, n.order};
}
