// Loops: the operands and block arguments of a `for` by name, how often it runs, and which loop an op is in.
#ifndef TILE_IR_LOOP_H
#define TILE_IR_LOOP_H

#include "ir/build.h"

// A `for` has its bounds and step before the initial values, and its body the induction variable before what it
// carries.
enum { FOR_INITS = 3, FOR_CARRIED = 1 };
static inline Value *for_lower(const Op *loop) { return op_operand(loop, 0); }
static inline Value *for_upper(const Op *loop) { return op_operand(loop, 1); }
static inline Value *for_step(const Op *loop) { return op_operand(loop, 2); }
static inline Value *for_iv(const Op *loop) { return loop->blocks[0]->args[0]; }
// Carried value i before the loop, in the body, and at the end of the body.
static inline Value *for_init(const Op *loop, uint32_t i) { return op_operand(loop, FOR_INITS + i); }
static inline Value *for_carried(const Op *loop, uint32_t i) { return loop->blocks[0]->args[FOR_CARRIED + i]; }
static inline Value *for_next(const Op *loop, uint32_t i) { return op_operand(loop->blocks[0]->last, i); }
// The `for` in whose body v is carried value *i, or NULL.
static inline Op *for_carrying(const Value *v, uint32_t *i) {
  Op *loop = v->block ? v->block->parent : NULL;
  *i = v->index - FOR_CARRIED;
  return loop && loop->opcode == OP_FOR && v->index >= FOR_CARRIED ? loop : NULL;
}
// Maps what an iteration begins with to `iv` and, by number, `carried`.
void for_bind(Context *ctx, ValueMap *map, const Op *loop, Value *iv, Value *const *carried);
// How often a `for` runs, if its bounds and its step are constants.
bool for_trips(const Op *loop, int64_t *trips);
Value *for_build_trips(Builder *b, const Op *loop);    // computes it
bool for_holds_loop(const Op *loop);                   // whether another loop is in it, at any depth

// The innermost `for` or `while` around op, or NULL.
static inline Op *loop_around(const Op *op) {
  Op *loop = op->parent->parent;
  while (loop && !op_is(loop, TRAIT_LOOP)) loop = loop->parent->parent;
  return loop;
}

#endif
