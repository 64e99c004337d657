// Products and sums of int32 that should not wrap around, because what they give is then widened: the simulator looks at
// the numbers (-Woverflow). Hashes wrap on purpose; those that are taken as unsigned, shifted or combined bit by bit are
// left alone.
#include <string.h>

#include "runtime/compile/steps.h"

enum { MAX_DEPTH = 8, LARGEST_FACTOR = 1 << 16 };

static bool is_int32(const Type *t) { return type_is_int(t) && type_elem_bits(t) == 32; }

static bool is_of_prelude(Context *ctx, const Op *op) {
  const LineCol at = source_locate(ctx, op->span.begin);
  return !at.file || at.file->is_embedded;
}

// Whether a user of v makes a wider number of it, or counts random numbers by it.
static bool is_widened(Context *ctx, const Value *v, uint32_t depth) {
  for (const Use *u = v->uses; u; u = u->next) {
    const Op *op = u->user;
    switch (op->opcode) {
    case OP_EXTSI: case OP_SITOFP:
      if (!is_of_prelude(ctx, op)) return true;
      break;
    case OP_EXTUI: case OP_MULHUI: case OP_XORI:
      if (is_of_prelude(ctx, op)) return true;
      break;
    case OP_ADDI: case OP_SUBI: case OP_SPLAT: case OP_BROADCAST: case OP_EXPAND_DIMS: case OP_RESHAPE:
      if (depth && is_widened(ctx, &op->results[0], depth - 1)) return true;
      break;
    default: break;
    }
  }
  return false;
}

static bool is_large_constant(const Value *v) {
  int64_t x;
  return value_constant_int(v, &x) && (x > LARGEST_FACTOR || x < -LARGEST_FACTOR);
}

static bool is_sum(const Op *op) {
  if (op->opcode != OP_REDUCE || op->num_results != 1 || !is_int32(op->results[0].type)) return false;
  const Op *first = op->blocks[0]->first;
  return first && first->opcode == OP_ADDI && first->next && first->next->opcode == OP_YIELD;
}

bool compile_may_not_wrap(Context *ctx, const Op *op) {
  const bool is_product = op->opcode == OP_MULI && is_int32(op->results[0].type) && !is_of_prelude(ctx, op) &&
                          !is_large_constant(op_operand(op, 0)) && !is_large_constant(op_operand(op, 1));
  if (!is_product && !is_sum(op)) return false;
  const Span span = op_user_span(ctx, op);
  return ctx->warnings.on >> WARN_OVERFLOW & 1 && !warning_is_ignored(ctx, WARN_OVERFLOW, span) &&
         is_widened(ctx, &op->results[0], MAX_DEPTH);
}
