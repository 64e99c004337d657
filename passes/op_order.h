// The numbers of a function's ops in program order, from 1. An op with blocks has one number before and one after its
// blocks. Therefore what is live from one op to another is an interval.
#ifndef TILE_PASSES_OP_ORDER_H
#define TILE_PASSES_OP_ORDER_H

#include "ir/ir.h"
#include "ir/map.h"

typedef struct {
  Context *ctx;
  Map begins;                // by op
  uint32_t count;
} OpOrder;

OpOrder op_order_of(Context *ctx, const Func *f);
uint32_t op_order_begin(const OpOrder *o, const Op *op);
uint32_t op_order_end(const OpOrder *o, const Op *op);     // after its blocks

#endif
