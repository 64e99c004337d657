#include "passes/loop_slice.h"

#include "ir/loop.h"

LoopSlice slice_begin(Context *ctx, Op *loop, bool (*takes)(const Op *load, void *user), void *user) {
  EACH_OP(op, loop->blocks[0]) op->mark &= ~(uint32_t)IN_SLICE;
  return (LoopSlice){loop, arena_array(&ctx->arena, bool, loop->num_results + 1), takes, user};
}

static bool add(LoopSlice *s, Value *v);

bool slice_add_operands(LoopSlice *s, const Op *op) {
  for (uint32_t i = 0; i < op->num_operands; i++)
    if (op_operand(op, i) && !add(s, op_operand(op, i))) return false;
  return true;
}

static bool add_captures(LoopSlice *s, Block *b) {
  EACH_OP(op, b) {
    if (!op_is(op, TRAIT_PURE | TRAIT_TERMINATOR) && op->opcode != OP_IF) return false;
    if (!slice_add_operands(s, op)) return false;
    for (uint32_t i = 0; i < op->num_blocks; i++)
      if (!add_captures(s, op->blocks[i])) return false;
  }
  return true;
}

static bool may_clone(const LoopSlice *s, const Op *op) {
  if (op->opcode == OP_LOAD) return s->takes(op, s->user);
  return op->opcode == OP_IF || (op_is(op, TRAIT_PURE) && !op->num_blocks && op_unit(op) != UNIT_DOT);
}

static bool add(LoopSlice *s, Value *v) {
  Block *body = s->loop->blocks[0];
  if (v->block == body) {
    uint32_t i;
    if (!for_carrying(v, &i) || s->carried[i]) return true;
    s->carried[i] = true;
    return add(s, for_next(s->loop, i));
  }
  if (!v->def || v->def->parent != body) return true;   // outside the loop, or inside an op that is cloned whole
  Op *op = v->def;
  if (op->mark & IN_SLICE) return true;
  if (!may_clone(s, op)) return false;
  op->mark |= IN_SLICE;
  if (!slice_add_operands(s, op)) return false;
  for (uint32_t i = 0; i < op->num_blocks; i++)
    if (!add_captures(s, op->blocks[i])) return false;
  return true;
}

bool slice_is_of_next(const Op *load) {
  const Op *yield = load->parent->last;
  EACH_USE(u, &load->results[0])
    if (u->user != yield) return false;
  return load->results[0].uses && yield->opcode == OP_YIELD && load->parent->parent->opcode == OP_FOR;
}

Op *loop_carry(Context *ctx, Op *loop, Value *first) {
  const uint32_t n = loop->num_results;
  Value **operands = arena_array(&ctx->arena, Value *, FOR_INITS + n + 1);
  const Type **types = arena_array(&ctx->arena, const Type *, n + 1);
  for (uint32_t i = 0; i < FOR_INITS + n; i++) operands[i] = op_operand(loop, i);
  for (uint32_t i = 0; i < n; i++) types[i] = loop->results[i].type;
  operands[FOR_INITS + n] = first;
  types[n] = first->type;
  Op *made = op_rebuild(ctx, loop, types, n + 1, operands, FOR_INITS + n + 1);
  block_add_arg(ctx, made->blocks[0], first->type);
  for (uint32_t i = 0; i < n; i++) made->results[i].name = loop->results[i].name;
  op_replace(loop, op_result_values(ctx, made));
  return made;
}

Op *loop_carry_early(Context *ctx, Op *loop, Op *op, Value *first, Value *next) {
  Op *made = loop_carry(ctx, loop, first);
  Block *body = made->blocks[0];
  op_append_operand(ctx, body->last, next);
  Value *early = body->args[body->num_args - 1];
  early->name = op->results[0].name;
  op_replace(op, &early);
  return made;
}
