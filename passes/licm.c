// licm: moves what does not change out of loops, innermost loops first: pure ops whose operands are all defined
// outside. Loads stay, because a store in the loop may change what they read and a loop that never runs must not read
// at all. A loop with disable_licm keeps what it has.
// In, out: TILE or LAID_OUT.
#include "passes/pass.h"

// What a reduction's combine function uses must come from outside the loop, too.
static bool blocks_invariant(const Op *op, const Op *loop) {
  for (uint32_t b = 0; b < op->num_blocks; b++)
    EACH_OP(in, op->blocks[b]) {
      if (!blocks_invariant(in, loop)) return false;
      for (uint32_t i = 0; i < in->num_operands; i++) {
        const Value *v = op_operand(in, i);
        if (v && !value_defined_outside(v, loop) && value_defined_outside(v, op)) return false;
      }
    }
  return true;
}

static bool invariant(const Op *op, const Op *loop) {
  if (!op_is(op, TRAIT_PURE)) return false;
  for (uint32_t i = 0; i < op->num_operands; i++)
    if (op_operand(op, i) && !value_defined_outside(op_operand(op, i), loop)) return false;
  return blocks_invariant(op, loop);
}

static void visit(Op *loop, void *user) {
  (void)user;
  if (!op_is(loop, TRAIT_LOOP) || op_int(loop, ATTR_NO_LICM, 0)) return;
  for (uint32_t i = 0; i < loop->num_blocks; i++)
    for (Op *op = loop->blocks[i]->first, *next; op; op = next) {
      next = op->next;
      if (invariant(op, loop)) op_move_before(op, loop);
    }
}

void pass_licm(PassCtx *p) { module_walk_inside_out(p->module, visit, NULL); }
