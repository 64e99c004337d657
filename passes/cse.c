// cse: keeps one copy of equal pure operations: equal opcode, operands (in any order if they commute), attributes and
// types. A copy serves everything that it is visible to: the rest of its block and the blocks nested there. (A tensor
// does not serve workers, blocks of a `roles`, from outside.) An op with blocks is pure if all that the blocks compute
// is: of a sine and a cosine, the map that reduces their angle is one.
// In, out: TILE or LAID_OUT.

#include "ir/roles.h"
#include "passes/pass.h"

typedef struct Entry { Op *op; uint32_t hash; const Block *worker; struct Entry *next, *below; } Entry;
typedef struct {
  Context *ctx;
  const Block *worker;       // around the ops that are being visited (roles.h), or NULL
  Entry **buckets;
  uint32_t mask;             // number of buckets, a power of two, minus 1
  Entry *scope;              // the newest entry; `below` is the one before
} Cse;

static uint32_t mix(uint32_t h, uint64_t x) {
  uint64_t y = (h ^ x) * 0x9E3779B97F4A7C15ull;
  return (uint32_t)(y >> 29);
}

static bool commutes(const Op *op) { return op->num_operands >= 2 && op_is(op, TRAIT_COMMUTES); }

static uint32_t hash_op(const Op *op) {
  uint32_t h = mix(op->opcode, op->num_operands);
  uint64_t both = 0;
  for (uint32_t i = 0; i < op->num_operands; i++) {
    uint64_t v = (uint64_t)(uintptr_t)op_operand(op, i);
    if (commutes(op) && i < 2) both += v * 31;
    else h = mix(h, v);
  }
  h = mix(h, both);
  for (uint32_t i = 0; i < op->num_attrs; i++) {
    const Attr *a = &op->attrs[i];
    h = mix(h, a->key);
    if (a->num_ints) for (uint32_t k = 0; k < a->num_ints; k++) h = mix(h, (uint64_t)a->ints[k]);
    else h = mix(h, a->bits);
  }
  for (uint32_t i = 0; i < op->num_results; i++) h = mix(h, (uint64_t)(uintptr_t)op->results[i].type);
  return h;
}

static bool same_operands(const Op *a, const Op *b) {
  uint32_t first = 0;
  if (commutes(a)) {
    Value *x = op_operand(a, 0), *y = op_operand(a, 1), *u = op_operand(b, 0), *v = op_operand(b, 1);
    if (!((x == u && y == v) || (x == v && y == u))) return false;
    first = 2;
  }
  for (uint32_t i = first; i < a->num_operands; i++)
    if (op_operand(a, i) != op_operand(b, i)) return false;
  return true;
}

// ---- blocks ----

static bool same_blocks(Context *ctx, const Op *a, const Op *b, ValueMap *map);

// Whether the op inside one block is that inside the other; `map` has what the first one's operands are in the second.
static bool same_inside(Context *ctx, const Op *a, const Op *b, ValueMap *map) {
  if (!op_is_alike(a, b) || a->num_blocks != b->num_blocks) return false;
  for (uint32_t i = 0; i < a->num_operands; i++) {
    Value *v = op_operand(a, i);
    if ((v ? value_map_get(map, v) : NULL) != op_operand(b, i)) return false;
  }
  for (uint32_t i = 0; i < a->num_results; i++) value_map_set(ctx, map, &a->results[i], &b->results[i]);
  return same_blocks(ctx, a, b, map);
}

static bool same_blocks(Context *ctx, const Op *a, const Op *b, ValueMap *map) {
  for (uint32_t i = 0; i < a->num_blocks; i++) {
    const Block *x = a->blocks[i], *y = b->blocks[i];
    if (x->num_args != y->num_args) return false;
    for (uint32_t k = 0; k < x->num_args; k++) {
      if (x->args[k]->type != y->args[k]->type) return false;
      value_map_set(ctx, map, x->args[k], y->args[k]);
    }
    const Op *p = x->first, *q = y->first;
    for (; p && q; p = p->next, q = q->next)
      if (!same_inside(ctx, p, q, map)) return false;
    if (p || q) return false;
  }
  return true;
}

static bool same_op(Context *ctx, const Op *a, const Op *b) {
  if (!op_is_alike(a, b) || a->num_blocks != b->num_blocks || !same_operands(a, b)) return false;
  return !a->num_blocks || same_blocks(ctx, a, b, value_map_new(ctx));
}

// A worker may not use tensors from outside of it.
static bool is_usable(const Cse *c, const Entry *e) {
  return e->worker == c->worker || e->op->results[0].type->kind != TYPE_TENSOR;
}

static void cse_block(Cse *c, Block *b) {
  Entry *outer = c->scope;
  const Block *outer_worker = c->worker;
  if (b->parent && b->parent->opcode == OP_ROLES) c->worker = block_worker(b);
  for (Op *op = b->first, *next; op; op = next) {
    next = op->next;
    for (uint32_t i = 0; i < op->num_blocks; i++) cse_block(c, op->blocks[i]);
    if (!op->num_results || !op_only_computes(op)) continue;
    uint32_t h = hash_op(op);
    Entry **bucket = &c->buckets[h & c->mask], *e = *bucket;
    while (e && !(e->hash == h && is_usable(c, e) && same_op(c->ctx, e->op, op))) e = e->next;
    if (e) {
      op_replace(op, op_result_values(c->ctx, e->op));
      continue;
    }
    e = arena_new(&c->ctx->arena, Entry);
    *e = (Entry){op, h, c->worker, *bucket, c->scope};
    *bucket = c->scope = e;
  }
  for (; c->scope != outer; c->scope = c->scope->below) c->buckets[c->scope->hash & c->mask] = c->scope->next;
  c->worker = outer_worker;
}

static uint32_t count_ops(const Block *b) {
  uint32_t n = 0;
  EACH_OP(op, b) {
    n++;
    for (uint32_t i = 0; i < op->num_blocks; i++) n += count_ops(op->blocks[i]);
  }
  return n;
}

void pass_cse(PassCtx *p) {
  Cse c = {.ctx = p->ctx};
  EACH_FUNC(f, p->module) {
    uint32_t ops = count_ops(f->body), n = 64;
    while (n < ops) n *= 2;
    c.buckets = arena_array(&p->ctx->arena, Entry *, n);
    c.mask = n - 1;
    cse_block(&c, f->body);
  }
}
