// choose_descriptors: for accesses through a descriptor that the program chooses at run time among the kernel's
// arguments. It chooses a number in the descriptor's place, and each access branches over the arguments that it may be.
//
//   %d = if %c { yield %a } { yield %b }     →  %n = if %c { yield 0 } { yield 1 }
//   %x = desc_load %d, i, j                     %x = if %n == 0 { desc_load %a, i, j } { desc_load %b, i, j }
//
// A tensor map has no address that could be chosen: it is passed by value, and TMA reads the parameter itself.
// In, out: TILE. Afterwards no result of a region and no block argument is a descriptor, except in functions where one
// of the candidates is made by the kernel. lower_descriptors refuses these.
#include "ir/loop.h"
#include "passes/pass.h"

typedef struct { Value **data; uint32_t count, capacity; } Values;
typedef struct { Op **data; uint32_t count, capacity; } Ops;
typedef struct {
  Context *ctx;
  Func *func;
  Values chosen;           // descriptors that are results of regions or block arguments
  Ops accesses, carriers;  // accesses through them; ops that bring a descriptor into a region or out of it
  bool is_lowerable;
} Choose;

static bool is_param(const Choose *c, const Value *v) { return !v->def && v->block == c->func->body; }
static bool is_carrier(const Op *op) { return op_is(op, TRAIT_CARRIES | TRAIT_TERMINATOR); }

static void add_chosen(Choose *c, Value *v) {
  if (v->type->kind != TYPE_DESC) return;
  vec_push(&c->ctx->arena, &c->chosen, v);
  EACH_USE(u, v) {
    if (op_unit(u->user) == UNIT_DESC) vec_push(&c->ctx->arena, &c->accesses, u->user);
    else if (!is_carrier(u->user)) c->is_lowerable = false;
  }
}

static void visit(Op *op, void *user) {
  Choose *c = user;
  if (op->parent->func != c->func) return;
  for (uint32_t i = 0; op_is(op, TRAIT_CARRIES) && i < op->num_results; i++) add_chosen(c, op_result(op, i));
  for (uint32_t b = 0; op_is(op, TRAIT_CARRIES) && b < op->num_blocks; b++)
    for (uint32_t i = 0; i < op->blocks[b]->num_args; i++) add_chosen(c, op->blocks[b]->args[i]);
  if (!is_carrier(op)) return;
  bool carries = false;
  for (uint32_t i = 0; i < op->num_operands; i++) {
    const Value *v = op_operand(op, i);
    if (!v || v->type->kind != TYPE_DESC) continue;
    carries = true;
    if (v->def && !op_is(v->def, TRAIT_CARRIES)) c->is_lowerable = false;   // make_desc
  }
  if (carries) vec_push(&c->ctx->arena, &c->carriers, op);
}

// Where a chosen value comes from: one or two operands of carriers.
static uint32_t sources(const Value *v, Value *out[2]) {
  uint32_t n = 0;
  const Op *op = v->def ? v->def : v->block->parent;
  const uint32_t i = v->index;
  switch (op->opcode) {
  case OP_IF:
    for (uint32_t b = 0; b < 2; b++) out[n++] = op_operand(block_terminator(op->blocks[b]), i);
    break;
  case OP_FOR: {
    uint32_t k = v->def ? i : i - FOR_CARRIED;
    out[n++] = for_init(op, k);
    out[n++] = for_next(op, k);
    break;
  }
  default:
    if (!v->def && v->block == op->blocks[0]) {
      out[n++] = op_operand(op, i);
      out[n++] = op_operand(block_terminator(op->blocks[1]), i);
    } else {
      out[n++] = op_operand(block_terminator(op->blocks[0]), 1 + i);
    }
  }
  return n;
}

static bool holds(const Values *values, const Value *v) {
  VEC_EACH(x, *values)
    if (*x == v) return true;
  return false;
}

// The parameters that v may be.
static Values candidates(Choose *c, Value *v) {
  Values seen = {0}, params = {0};
  vec_push(&c->ctx->arena, &seen, v);
  for (uint32_t at = 0; at < seen.count; at++) {
    Value *from[2];
    if (is_param(c, seen.data[at])) {
      vec_push(&c->ctx->arena, &params, seen.data[at]);
      continue;
    }
    for (uint32_t n = sources(seen.data[at], from), k = 0; k < n; k++)
      if (!holds(&seen, from[k])) vec_push(&c->ctx->arena, &seen, from[k]);
  }
  return params;
}

// Builds the access once for each parameter from `first` on, each under the comparison that selects it. Returns the
// first result, if any.
static Value *branch(Builder *b, const Op *access, Value *number, const Values *params, uint32_t first) {
  const Type *type = access->num_results ? access->results[0].type : NULL;
  Value *param = params->data[first];
  if (first + 1 == params->count) {
    Value **operands = arena_array(&b->ctx->arena, Value *, access->num_operands);
    for (uint32_t i = 0; i < access->num_operands; i++) operands[i] = i ? op_operand(access, i) : param;
    Op *op = build_op_typed(b, access->opcode, &type, access->num_results, operands, access->num_operands);
    op_copy_attrs(b->ctx, op, access);
    return type ? op_result(op, 0) : NULL;
  }
  BuildRegion r =
      build_if_begin(b, build_cmp(b, CMP_EQ, number, build_i32(b, param->index)), &type, access->num_results);
  const Values one = {&param, 1, 1};
  Value *yield = branch(b, access, number, &one, 0);
  build_if_else(b, &r, &yield);
  yield = branch(b, access, number, params, first + 1);
  Op *op = build_if_end(b, r, &yield);
  return type ? op_result(op, 0) : NULL;
}

static void choose(Choose *c) {
  if (!c->chosen.count || !c->is_lowerable) return;
  Values *which = arena_array(&c->ctx->arena, Values, c->accesses.count + 1);
  for (uint32_t i = 0; i < c->accesses.count; i++) which[i] = candidates(c, op_operand(c->accesses.data[i], 0));
  VEC_EACH(x, c->carriers) {
    Op *op = *x;
    for (uint32_t k = 0; k < op->num_operands; k++) {
      const Value *v = op_operand(op, k);
      if (!v || !is_param(c, v) || v->type->kind != TYPE_DESC) continue;
      Builder b = builder_before(c->ctx, op);
      op_set_operand(op, k, build_i32(&b, v->index));
    }
  }
  VEC_EACH(it, c->chosen) (*it)->type = type_scalar(c->ctx, SC_I32);
  for (uint32_t i = 0; i < c->accesses.count; i++) {
    Op *op = c->accesses.data[i];
    Builder b = builder_before(c->ctx, op);
    Value *v = branch(&b, op, op_operand(op, 0), &which[i], 0);
    op_replace(op, &v);
  }
}

void pass_choose_descriptors(PassCtx *p) {
  EACH_FUNC(f, p->module) {
    Choose c = {.ctx = p->ctx, .func = f, .is_lowerable = true};
    module_walk(p->module, visit, &c);
    choose(&c);
  }
}
