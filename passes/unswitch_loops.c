// unswitch_loops: an `if` in a loop whose condition the loop does not change is decided before the loop.
//
//   for … { a ; if %c { b } ; d }        →        if %c { for … { a ; b ; d } } else { for … { a ; d } }
//
// A loop without branches is unrolled by the assembler, which then has loads of several iterations in flight. Loops
// with loops, dots or tile copies inside, and long ones, stay as they are.
// In, out: TILE.
#include "ir/build.h"
#include "passes/pass.h"

enum { MAX_COPIED_OPS = 64 };

typedef struct { uint32_t count; bool stays; } Size;

static void measure(Op *op, void *user) {
  Size *s = user;
  s->count++;
  s->stays |= op_is(op, TRAIT_LOOP) || op_unit(op) == UNIT_DOT || op_unit(op) == UNIT_DESC;
}

// The first branch of the loop that can be decided before it.
static Op *decided_branch(const Op *loop) {
  const Block *body = loop->blocks[0];
  Size size = {0};
  block_walk(loop->blocks[0], measure, &size);
  if (size.stays || size.count > MAX_COPIED_OPS) return NULL;
  EACH_OP(op, body)
    if (op->opcode == OP_IF && value_defined_outside(op_operand(op, 0), loop)) return op;
  return NULL;
}

// The loop with the condition known, and its results.
static void copy_loop(Builder *b, const Op *loop, Value *cond, bool holds, Value **results) {
  ValueMap *map = value_map_new(b->ctx);
  value_map_set(b->ctx, map, cond, build_int(b, cond->type, holds));
  Op *copy = build_clone(b, loop, map);
  for (uint32_t i = 0; i < loop->num_results; i++) results[i] = op_result(copy, i);
}

static void unswitch(Context *ctx, Op *loop, const Op *branch) {
  Builder b = builder_before(ctx, loop);
  Value *cond = op_operand(branch, 0);
  const uint32_t n = loop->num_results;
  const Type **types = arena_array(&ctx->arena, const Type *, n + 1);
  Value **results = arena_array(&ctx->arena, Value *, n + 1);
  for (uint32_t i = 0; i < n; i++) types[i] = loop->results[i].type;
  BuildRegion r = build_if_begin(&b, cond, types, n);
  copy_loop(&b, loop, cond, true, results);
  build_if_else(&b, &r, results);
  copy_loop(&b, loop, cond, false, results);
  Op *either = build_if_end(&b, r, results);
  for (uint32_t i = 0; i < n; i++) results[i] = op_result(either, i);
  op_replace(loop, results);
}

typedef struct { Op *op, *branch; } Loop;
typedef struct { Context *ctx; VEC(Loop) loops; } Found;

static void find(Op *op, void *user) {
  Found *f = user;
  Op *branch = op->opcode == OP_FOR ? decided_branch(op) : NULL;
  if (branch) vec_push(&f->ctx->arena, &f->loops, ((Loop){op, branch}));
}

void pass_unswitch_loops(PassCtx *p) {
  Found found = {.ctx = p->ctx};
  module_walk(p->module, find, &found);
  VEC_EACH(x, found.loops) unswitch(p->ctx, x->op, x->branch);
}
