// advance_divisions: where a loop leaves a wgmma in flight, a scalar that it carries is divided an iteration early,
// while that wgmma runs, and the loop carries the result. Copies that need it are then issued without delay.
//   in, out: LAID_OUT
//
//   for …, t                              q = t / d
//     copy the tile t / d                 for …, t, q
//     wait for the operands       →         copy the tile q
//     wgmma                                 r = u / d
//     yield …, u                            wait for the operands
//                                           wgmma
//                                           yield …, u, r
//
// The divisor is from outside the loop. A loop around such a loop, of which the first t is its own, carries q as well:
// the inner loop ends with the quotient that it needs next.
#include "ir/loop.h"
#include "passes/loop_slice.h"
#include "passes/pass.h"

enum { MAX_EARLY = 4 };      // registers of a thread for a loop's results

static bool is_division_by(const Value *v, Opcode opcode, const Value *dividend, const Value *divisor) {
  return v->def && v->def->opcode == opcode && op_operand(v->def, 0) == dividend && op_operand(v->def, 1) == divisor;
}

// Whether the op divides a value that the loop carries, or counts, by one from outside that is not known.
static bool divides_carried(const Op *op, const Op *loop) {
  if (op_unit(op) != UNIT_IDIV || type_is_tensor(op->results[0].type)) return false;
  int64_t known;
  const Value *divisor = op_operand(op, 1);
  return op_operand(op, 0)->block == loop->blocks[0] && !value_constant_int(divisor, &known) &&
         value_defined_outside(divisor, loop);
}

static Op *find_after(Op *op, Opcode opcode) {
  while (op && op->opcode != opcode) op = op->next;
  return op;
}

// The first wgmma of the body that does not wait for itself.
static Op *wgmma_in_flight(const Op *loop) {
  Op *dot = find_after(loop->blocks[0]->first, OP_WGMMA);
  while (dot && !op_int(dot, ATTR_ASYNC, 0)) dot = find_after(dot->next, OP_WGMMA);
  return dot;
}

// The quotient of v, if v comes out of a loop that carries it beside v.
static Value *quotient_beside(const Op *div, const Value *v) {
  if (!v->def || v->def->opcode != OP_FOR) return NULL;
  Op *loop = v->def;
  const Value *divisor = op_operand(div, 1);
  const Value *first = for_init(loop, v->index), *next = for_next(loop, v->index);
  for (uint32_t i = 0; i < loop->num_results; i++)
    if (is_division_by(for_init(loop, i), div->opcode, first, divisor) &&
        is_division_by(for_next(loop, i), div->opcode, next, divisor))
      return op_result(loop, i);
  return NULL;
}

static Value *divide(Builder b, const Op *div, Value *dividend) {
  ValueMap *map = value_map_new(b.ctx);
  value_map_set(b.ctx, map, op_operand(div, 0), dividend);
  return op_result(build_clone(&b, div, map), 0);
}

// Where the loop has time: before it waits for the wgmma's operands, or before the wgmma if it does not wait. The wgmma
// of the iteration before is in flight then.
static Op *idle_point(const Op *div, Op *dot) {
  for (Op *op = dot->prev; op != div; op = op->prev)
    if (op->opcode == OP_MBAR_WAIT) return op;
  return dot;
}

// The division's result in the next iteration, or NULL if it should not be known early.
static Value *divide_next(Context *ctx, Op *loop, const Op *div) {
  Block *body = loop->blocks[0];
  uint32_t carried;
  Value *next = for_carrying(op_operand(div, 0), &carried) ? for_next(loop, carried) : NULL;
  Value *beside = next ? quotient_beside(div, next) : NULL;
  if (beside) return beside;
  Op *dot = wgmma_in_flight(loop);
  if (!dot || !op_is_before(div, dot)) return NULL;
  Op *at = idle_point(div, dot);
  Builder b = builder_before(ctx, at);
  if (!next) next = build_binary(&b, OP_ADDI, for_iv(loop), for_step(loop));
  else if (next->def && next->def->parent == body && !op_is_before(next->def, at)) b = builder_after(ctx, next->def);
  return divide(b, div, next);
}

static void visit(Op *loop, void *user) {
  if (loop->opcode != OP_FOR) return;
  Context *ctx = user;
  uint32_t early = 0;
  for (Op *op = loop->blocks[0]->first, *after; op && early < MAX_EARLY; op = after) {
    after = op->next;
    if (!divides_carried(op, loop)) continue;
    Value *next = divide_next(ctx, loop, op);
    if (!next) continue;
    uint32_t carried;
    Value *begin = for_carrying(op_operand(op, 0), &carried) ? for_init(loop, carried) : for_lower(loop);
    Value *first = divide(builder_before(ctx, loop), op, begin);
    remark_applied(op, "the division is done an iteration early: copies that need its result are then issued sooner");
    loop = loop_carry_early(ctx, loop, op, first, next);
    early++;
  }
}

void pass_advance_divisions(PassCtx *p) { module_walk_inside_out(p->module, visit, p->ctx); }
