// Lifetimes of shared memory: see liveness.h.
#include "passes/liveness.h"

#include "ir/scratch.h"
#include "passes/layout_rules.h"
#include "passes/buffer.h"
#include "passes/ties.h"

// ---- lifetimes ----

typedef struct {
  Context *ctx;
  const Module *module;
  uint32_t next;
  VEC(Lifetime) items;
} Numbering;

static void number_block(Numbering *n, Block *b) {
  for (Op *op = b->first; op; op = op->next) {
    op->mark = n->next++;
    for (uint32_t i = 0; i < op->num_blocks; i++) number_block(n, op->blocks[i]);
    if (op->num_blocks) n->next++;
  }
}

uint32_t op_end(const Op *op) {
  if (!op->num_blocks) return op->mark;
  const Block *last = op->blocks[op->num_blocks - 1];
  return last->last ? op_end(last->last) + 1 : op->mark + 1;
}

// The number at which a use by `op` of what was made in block `home` is over.
static uint32_t use_end(const Op *op, const Block *home) {
  uint32_t end = op_end(op);
  for (const Op *p = op->parent->parent; p && op->parent != home; op = p, p = p->parent->parent)
    if (op_is(p, TRAIT_LOOP)) end = op_end(p);
  return end;
}

typedef struct { Context *ctx; const Block *home; uint32_t end; VEC(Value *) seen; } UseSearch;

static void search_uses(Value *v, void *user);

// The end of bulk stores that read a buffer: the first full wait after them in their block, else the end of the home block.
static uint32_t bulk_store_end(const Op *op, const Block *home) {
  for (const Op *o = op->next; o; o = o->next)
    if (o->opcode == OP_TMA_WAIT && op_int(o, ATTR_COUNT, 0) == 0) return use_end(o, home);
  return op_end(home->last);
}

static void search_uses(Value *v, void *user) {
  UseSearch *s = user;
  // A constant that loops start from is in no buffer; other loops may start from it, too.
  if (!v || layout_rule_is_free(v)) return;
  for (uint32_t i = 0; i < s->seen.count; i++)
    if (s->seen.data[i] == v) return;
  vec_push(&s->ctx->arena, &s->seen, v);
  // What has been waited for in full holds no buffer any more.
  if (v->def && v->def->opcode == OP_WGMMA_WAIT && op_int(v->def, ATTR_COUNT, 0) == 0) return;
  if (value_block(v) != s->home && v->block && v->block->parent) {
    uint32_t end = use_end(v->block->parent, s->home);
    if (end > s->end) s->end = end;
  }
  for (Use *u = v->uses; u; u = u->next) {
    Op *op = u->user;
    uint32_t end = op->opcode == OP_TMA_STORE || op->opcode == OP_TMA_REDUCE ? bulk_store_end(op, s->home) : use_end(op, s->home);
    if (end > s->end) s->end = end;
    bool is_async = op->opcode == OP_ASYNC_COPY || op->opcode == OP_ASYNC_COMMIT || (op->opcode == OP_WGMMA && op_attr(op, ATTR_ASYNC));
    if (buffer_is_view(op) || is_async)
      for (uint32_t i = 0; i < op->num_results; i++) search_uses(&op->results[i], s);
  }
  ties_visit(v, search_uses, s);
}

static void collect(Op *op, void *user) {
  Numbering *n = user;
  if (op->opcode == OP_ALLOC) {
    UseSearch s = {.ctx = n->ctx, .home = op->parent, .end = op->mark};
    search_uses(&op->results[0], &s);
    const Type *t = op->results[0].type;
    uint32_t asked = (uint32_t)op_int(op, ATTR_ALIGN, 0);
    vec_push(&n->ctx->arena, &n->items, ((Lifetime){op, op->mark, s.end, buffer_bytes(t), asked ? asked : buffer_align(t)}));
    return;
  }
  uint32_t align = 1, bytes = op_scratch_bytes(n->ctx, op, n->module->num_warps, &align);
  if (bytes) vec_push(&n->ctx->arena, &n->items, ((Lifetime){op, op->mark, op_end(op), bytes, align}));
}

Liveness liveness_compute(Context *ctx, const Module *m, Func *f) {
  Numbering n = {.ctx = ctx, .module = m};
  number_block(&n, f->body);
  block_walk(f->body, collect, &n);
  return (Liveness){n.items.data, n.items.count};
}
