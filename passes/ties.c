// Values tied by control flow: see ties.h.
#include "passes/ties.h"

#include "ir/loop.h"

static void visit_other(Value *v, Value *self, TieVisitor visit, void *user) {
  if (v && v != self) visit(v, user);
}

// Carried variable k of a loop or if: every value that it is.
static void visit_carried(Op *op, uint32_t k, bool forwarded, Value *self, TieVisitor visit, void *user) {
  if (op->opcode == OP_FOR) {
    visit_other(for_init(op, k), self, visit, user);
    visit_other(for_carried(op, k), self, visit, user);
    visit_other(for_next(op, k), self, visit, user);
    visit_other(op_result(op, k), self, visit, user);
  } else if (op->opcode == OP_IF) {
    visit_other(op_result(op, k), self, visit, user);
    for (uint32_t b = 0; b < 2; b++) visit_other(op_operand(block_terminator(op->blocks[b]), k), self, visit, user);
  } else if (op->opcode == OP_ROLES) {
    visit_other(op_result(op, k), self, visit, user);
    visit_other(op_operand(block_terminator(op->blocks[0]), k), self, visit, user);
  } else if (op->opcode == OP_WHILE && !forwarded) {
    visit_other(op_operand(op, k), self, visit, user);
    visit_other(op->blocks[0]->args[k], self, visit, user);
    visit_other(op_operand(block_terminator(op->blocks[1]), k), self, visit, user);
  } else if (op->opcode == OP_WHILE) {
    visit_other(op_operand(block_terminator(op->blocks[0]), k + 1), self, visit, user);
    visit_other(op->blocks[1]->args[k], self, visit, user);
    visit_other(op_result(op, k), self, visit, user);
  }
}

void ties_visit(Value *v, TieVisitor visit, void *user) {
  if (v->def) {
    Op *op = v->def;
    if (op_is(op, TRAIT_CARRIES)) visit_carried(op, v->index, true, v, visit, user);
    if (op->opcode == OP_WGMMA_WAIT) visit_other(op_operand(op, v->index), v, visit, user);
  } else if (v->block->parent) {
    Op *op = v->block->parent;
    if (op->opcode == OP_FOR && v->index >= FOR_CARRIED)
      visit_carried(op, v->index - FOR_CARRIED, false, v, visit, user);
    if (op->opcode == OP_WHILE) visit_carried(op, v->index, v->block == op->blocks[1], v, visit, user);
  }
  EACH_USE(u, v) {
    Op *op = u->user, *parent = op->parent->parent;
    if (op->opcode == OP_WGMMA_WAIT) visit_other(op_result(op, u->index), v, visit, user);
    if (op->opcode == OP_FOR && u->index >= FOR_INITS) visit_carried(op, u->index - FOR_INITS, false, v, visit, user);
    if (op->opcode == OP_WHILE) visit_carried(op, u->index, false, v, visit, user);
    if (op->opcode == OP_YIELD && parent && op_is(parent, TRAIT_CARRIES))
      visit_carried(parent, u->index, false, v, visit, user);
    if (op->opcode == OP_CONDITION && u->index > 0 && parent) visit_carried(parent, u->index - 1, true, v, visit, user);
  }
}
