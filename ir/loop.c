#include "ir/loop.h"

void for_bind(Context *ctx, ValueMap *map, const Op *loop, Value *iv, Value *const *carried) {
  value_map_set(ctx, map, for_iv(loop), iv);
  for (uint32_t i = 0; i < loop->num_results; i++) value_map_set(ctx, map, for_carried(loop, i), carried[i]);
}

bool for_trips(const Op *loop, int64_t *trips) {
  int64_t lb, ub, step;
  if (!value_constant_int(for_lower(loop), &lb) || !value_constant_int(for_upper(loop), &ub) ||
      !value_constant_int(for_step(loop), &step) || step <= 0)
    return false;
  *trips = lb < ub ? (ub - lb - 1) / step + 1 : 0;
  return true;
}

Value *for_build_trips(Builder *b, const Op *loop) {
  Value *step = for_step(loop), *span = build_binary(b, OP_SUBI, for_upper(loop), for_lower(loop));
  Value *up = build_binary(b, OP_ADDI, span, build_binary(b, OP_SUBI, step, build_int(b, step->type, 1)));
  Value *n = build_binary(b, OP_DIVSI, up, step), *zero = build_int(b, n->type, 0);
  return build_binary(b, OP_MAXSI, n, zero);
}

static void find_loop(Op *op, void *user) { *(bool *)user |= op_is(op, TRAIT_LOOP) != 0; }

bool for_holds_loop(const Op *loop) {
  bool found = false;
  block_walk(loop->blocks[0], find_loop, &found);
  return found;
}
