// count_loops: turns a `while` that counts up to a bound into a `for`, so that passes can simplify its masks and the
// assembler can unroll it. Like a `while`, it is not pipelined.
//
//   while (i = lb, v…) { condition i < %n } do { … ; yield i + step, v'… }        →        for i = lb to %n step step
//
// The bound does not change in the loop, and the step is known to be positive. All else stays as it is: a counter that
// is used after the loop is carried.
// In, out: TILE.
#include "ir/build.h"
#include "ir/loop.h"
#include "passes/pass.h"

typedef struct { Op *loop; Value *bound, *step; uint32_t counter; } Counted;   // counter: which of the carried values

static bool is_positive(const Value *v) {
  int64_t constant;
  return value_constant_int(v, &constant) ? constant > 0 : value_op(v, OP_NUM_PROGRAMS) != NULL;
}

// Whether all ops that decide about an iteration, but for the comparison, can be done once before the loop.
static bool decides_by(const Op *loop, const Op *comparison) {
  for (const Op *op = loop->blocks[0]->first; op->next; op = op->next) {
    if (op == comparison) continue;
    if (!op_is(op, TRAIT_PURE) || op->num_blocks) return false;
    for (uint32_t i = 0; i < op->num_operands; i++) {
      const Value *v = op_operand(op, i);
      if (v && (v->block == loop->blocks[0] || v->def == comparison)) return false;
    }
  }
  return true;
}

// The position of the value among the arguments of the loop's first block, or how many there are.
static uint32_t argument_of(const Op *loop, const Value *v) {
  return v->block == loop->blocks[0] ? v->index : loop->blocks[0]->num_args;
}

// What the body adds to the counter in each iteration; NULL: it does something else.
static Value *step_of(const Op *loop, uint32_t counter) {
  const Block *body = loop->blocks[1];
  const Op *forwards = block_terminator(loop->blocks[0]);
  const Op *sum = op_operand(block_terminator(body), counter)->def;
  if (!sum || sum->opcode != OP_ADDI) return NULL;
  for (uint32_t i = 0; i < 2; i++) {
    const Value *before = op_operand(sum, i);
    Value *step = op_operand(sum, 1 - i);
    if (before->block == body && argument_of(loop, op_operand(forwards, 1 + before->index)) == counter)
      return is_positive(step) ? step : NULL;
  }
  return NULL;
}

static bool forwards_arguments(const Op *loop) {
  const Op *forwards = block_terminator(loop->blocks[0]);
  for (uint32_t i = 1; i < forwards->num_operands; i++)
    if (argument_of(loop, op_operand(forwards, i)) == loop->blocks[0]->num_args) return false;
  return true;
}

static bool is_counted(Op *loop, Counted *c) {
  const Op *forwards = block_terminator(loop->blocks[0]), *cmp = value_op(op_operand(forwards, 0), OP_CMPI);
  if (!cmp || cmp->parent != loop->blocks[0]) return false;
  const int64_t pred = op_int(cmp, ATTR_PRED, 0);
  if (pred != CMP_SLT && pred != CMP_SGT) return false;
  const Value *counter = op_operand(cmp, pred == CMP_SGT);
  *c = (Counted){.loop = loop, .bound = op_operand(cmp, pred == CMP_SLT), .counter = argument_of(loop, counter)};
  if (c->counter == loop->blocks[0]->num_args || c->bound->block == loop->blocks[0]) return false;
  if (!forwards_arguments(loop) || !decides_by(loop, cmp)) return false;
  c->step = step_of(loop, c->counter);
  return c->step != NULL;
}

// Moves a value that is the same in all iterations before the loop, if it is computed inside.
static void move_out(Op *loop, const Value *v) {
  if (v->def && !value_defined_outside(v, loop)) op_move_before(v->def, loop);
}

static void count(Context *ctx, const Counted *c) {
  Op *loop = c->loop;
  Block *test = loop->blocks[0], *body = loop->blocks[1];
  const Op *forwards = block_terminator(test);
  for (Op *op = test->first, *next; op->next; op = next) {
    next = op->next;
    if (op != op_operand(forwards, 0)->def) op_move_before(op, loop);
  }
  move_out(loop, c->step);
  const uint32_t n = loop->num_operands;
  Value **carried = arena_array(&ctx->arena, Value *, n + 1);
  Value **inits = op_operand_values(ctx, loop, 0);
  Builder b = builder_before(ctx, loop);
  BuildRegion r = build_for_begin(&b, inits[c->counter], c->bound, c->step, inits, n, carried);
  while (body->first->next) {
    Op *op = body->first;
    op_unlink(op);
    op_append(op, b.block);
  }
  for (uint32_t i = 0; i < body->num_args; i++) {
    const uint32_t from = argument_of(loop, op_operand(forwards, 1 + i));
    value_replace_all_uses(body->args[i], from == c->counter ? for_iv(r.op) : carried[from]);
  }
  Op *counted = build_for_end(&b, r, op_operand_values(ctx, body->last, 0));
  op_set_int(ctx, counted, ATTR_NUM_STAGES, 1);   // num_stages is about the loops that are a `for` in the source
  Value **results = arena_array(&ctx->arena, Value *, loop->num_results + 1);
  for (uint32_t i = 0; i < loop->num_results; i++)
    results[i] = op_result(counted, argument_of(loop, op_operand(forwards, 1 + i)));
  op_replace(loop, results);
}

typedef struct { Context *ctx; VEC(Op *) loops; } Found;

static void find(Op *op, void *user) {
  Found *f = user;
  if (op->opcode == OP_WHILE) vec_push(&f->ctx->arena, &f->loops, op);
}

void pass_count_loops(PassCtx *p) {
  Found found = {.ctx = p->ctx};
  module_walk(p->module, find, &found);
  VEC_EACH(loop, found.loops) {
    Counted counted;
    if (is_counted(*loop, &counted)) count(p->ctx, &counted);
  }
}
