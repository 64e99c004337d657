// postpone_widening: a conversion to a wider type whose result is first used after threads exchange data or after a
// loop is moved down to that use. Until then the narrower numbers take fewer registers.
//
//   %w = fpext %n        …, reduce, …, mulf %x, %w        →        …, reduce, …, %w = fpext %n, mulf %x, %w
//
// ptxas would move it as well, but only after it has chosen the kernel's register count. Only within a block.
// In, out: LAID_OUT.
#include "passes/pass.h"

// Numbers of one bit are predicates, which nothing is gained by holding.
static bool widens(const Op *op) {
  if (op->num_results != 1 || op->num_operands != 1 || !op_is(op, TRAIT_ELEMENTWISE) || !op_is(op, TRAIT_PURE))
    return false;
  const Type *from = op_operand(op, 0)->type, *to = op->results[0].type;
  if (!type_is_tensor(to) || !op->results[0].uses) return false;
  return type_elem_bits(from) > 1 && type_elem_bits(from) < type_elem_bits(to);
}

// The first op of block b in which v is used. Op.mark is the position; an op that has moved has that of its user.
static Op *first_user(const Block *b, const Value *v) {
  Op *first = NULL;
  EACH_USE(u, v) {
    Op *op = u->user;
    while (op->parent != b) op = op->parent->parent;
    if (!first || op->mark < first->mark) first = op;
  }
  while (first->prev && first->prev->mark == first->mark) first = first->prev;
  return first;
}

static void visit(Block *b) {
  uint32_t n = 0;
  EACH_OP(op, b) op->mark = n++;
  for (Op *op = b->last, *before; op; op = before) {
    before = op->prev;
    for (uint32_t i = 0; i < op->num_blocks; i++) visit(op->blocks[i]);
    if (!widens(op)) continue;
    Op *user = first_user(b, &op->results[0]);
    bool waits = false;
    for (const Op *q = op->next; q != user && !waits; q = q->next) waits = op_unit(q) == UNIT_EXCH || q->num_blocks;
    if (!waits) continue;
    op_move_before(op, user);
    op->mark = user->mark;
  }
}

void pass_postpone_widening(PassCtx *p) {
  EACH_FUNC(f, p->module) visit(f->body);
}
