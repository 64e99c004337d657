// Program order: see op_order.h.
#include "passes/op_order.h"

static void number_block(OpOrder *o, const Block *b) {
  EACH_OP(op, b) {
    map_at(&o->ctx->arena, &o->begins, op)->number = ++o->count;
    for (uint32_t i = 0; i < op->num_blocks; i++) number_block(o, op->blocks[i]);
    if (op->num_blocks) o->count++;
  }
}

OpOrder op_order_of(Context *ctx, const Func *f) {
  OpOrder o = {.ctx = ctx};
  number_block(&o, f->body);
  return o;
}

uint32_t op_order_begin(const OpOrder *o, const Op *op) {
  const MapSlot *s = map_get(&o->begins, op);
  if (!s) ice(o->ctx, "an op was made after the order of ops was taken");
  return (uint32_t)s->number;
}

uint32_t op_order_end(const OpOrder *o, const Op *op) {
  uint32_t begin = op_order_begin(o, op);
  if (!op->num_blocks) return begin;
  const Op *last = op->blocks[op->num_blocks - 1]->last;
  return 1 + (last ? op_order_end(o, last) : begin);
}
