// unroll_loops: unrolls `for` loops that ask for it (loop_unroll_factor = n): the body n times per iteration, and the
// remaining iterations in a second loop. If the bounds are known and give no more than n iterations, no loop is left.
// Nor is it of a loop of few iterations and few ops in another loop, if it loads and only computes with that element by
// element: shifts and addresses are constants then, and the loads of all iterations are issued together. Where LLVM
// counts such a loop by what addresses move by, the assembler does not see that it is one.
//
//   for i = lb, ub, s { B(i) }   →   m = lb + floor(trips / n) · n · s
//                                    for i = lb, m, n·s { B(i); B(i+s); … }     for i = m, ub, s { B(i) }
// In, out: TILE.
#include "ir/loop.h"
#include "passes/pass.h"

// Clones the body at the cursor with the given induction value. carried[] goes in and out.
static void clone_body(Builder *b, const Op *loop, Value *iv, Value **carried) {
  ValueMap *map = value_map_new(b->ctx);
  const Block *body = loop->blocks[0];
  for_bind(b->ctx, map, loop, iv, carried);
  build_clone_range(b, body->first, body->last, map);
  for (uint32_t i = 0; i < loop->num_results; i++) carried[i] = value_map_get(map, for_next(loop, i));
}

// iv, k iterations later.
static Value *after(Builder *b, Value *iv, Value *step, int64_t k) {
  return k ? build_binary(b, OP_ADDI, iv, build_binary(b, OP_MULI, step, build_int(b, iv->type, k))) : iv;
}

static void unroll(Op *op, int64_t factor, Context *ctx) {
  Builder b = builder_before(ctx, op);
  uint32_t n = op->num_results;
  Value **carried = arena_array(&ctx->arena, Value *, n + 1), **inner = arena_array(&ctx->arena, Value *, n + 1);
  for (uint32_t i = 0; i < n; i++) carried[i] = for_init(op, i);
  Value *lb = for_lower(op), *ub = for_upper(op), *step = for_step(op);
  int64_t trips;
  const bool known = for_trips(op, &trips);
  if (known && trips <= factor) {
    for (int64_t k = 0; k < trips; k++) clone_body(&b, op, after(&b, lb, step, k), carried);
  } else {
    Value *count = build_int(&b, lb->type, factor);
    Value *rounds = build_binary(&b, OP_DIVSI, for_build_trips(&b, op), count);
    Value *wide = build_binary(&b, OP_MULI, step, count);
    Value *middle = build_binary(&b, OP_ADDI, lb, build_binary(&b, OP_MULI, rounds, wide));
    BuildRegion r = build_for_begin(&b, lb, middle, wide, carried, n, inner);
    Value *iv = for_iv(r.op);
    for (int64_t k = 0; k < factor; k++) clone_body(&b, op, after(&b, iv, step, k), inner);
    Op *main_loop = build_for_end(&b, r, inner);
    op_copy_attrs(ctx, main_loop, op);
    op_remove_attr(main_loop, ATTR_UNROLL);
    for (uint32_t i = 0; i < n; i++) carried[i] = op_result(main_loop, i);
    if (!known || trips % factor) {
      r = build_for_begin(&b, middle, ub, step, carried, n, inner);
      clone_body(&b, op, for_iv(r.op), inner);
      Op *rest = build_for_end(&b, r, inner);
      op_set_int(ctx, rest, ATTR_NUM_STAGES, 1);
      for (uint32_t i = 0; i < n; i++) carried[i] = op_result(rest, i);
    }
  }
  op_replace(op, carried);
}

typedef struct { uint32_t ops, loads; bool other; } Body;

static void look_at(Op *op, void *user) {
  Body *body = user;
  const bool is_load = op->opcode == OP_LOAD, is_branch = op->opcode == OP_IF || op->opcode == OP_YIELD;
  body->other |= !is_load && !is_branch && (!op_is(op, TRAIT_PURE) || op->num_blocks);
  body->other |= op_unit(op) == UNIT_DOT || op_unit(op) == UNIT_EXCH;
  body->loads += is_load;
  body->ops += !is_branch && op->opcode != OP_CONSTANT;
}

// Whether all of a loop's ops, of which there are few, load or compute element by element.
static bool is_simple(const Op *loop) {
  enum { MAX_OPS = 24 };
  Body body = {0};
  block_walk(loop->blocks[0], look_at, &body);
  return !body.other && body.loads && body.ops <= MAX_OPS;
}

// The iterations of a loop that nobody asked to unroll; 1 if it stays.
static int64_t few_iterations(const Op *loop) {
  enum { FEW = 4 };
  int64_t trips;
  if (op_attr(loop, ATTR_UNROLL) || op_attr(loop, ATTR_NUM_STAGES) || !loop_around(loop)) return 1;
  return for_trips(loop, &trips) && trips > 0 && trips <= FEW && is_simple(loop) ? trips : 1;
}

static void visit(Op *op, void *user) {
  int64_t factor = op->opcode == OP_FOR ? op_int(op, ATTR_UNROLL, few_iterations(op)) : 1;
  if (factor > 1) unroll(op, factor, user);
}

void pass_unroll_loops(PassCtx *p) {
  module_walk_inside_out(p->module, visit, p->ctx);
}
