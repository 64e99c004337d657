// read_fragments: reads the fragments of an mma, which are many registers, right before it, instead of holding them
// while threads wait for each other.
// In, out: LAID_OUT.
#include "passes/buffer.h"
#include "passes/pass.h"

static bool is_wait(const Op *op) {
  return op->opcode == OP_ASYNC_WAIT || op->opcode == OP_MBAR_WAIT || op_unit(op) == UNIT_EXCH;
}

static bool uses(const Op *op, const Op *def) {
  for (uint32_t i = 0; i < op->num_operands; i++)
    if (op_operand(op, i) && op_operand(op, i)->def == def) return true;
  return false;
}

// Whether the op is a copy or a store to another buffer than the one that is read.
static bool fills_another(const Op *op, const Op *read) {
  const Value *from = buffer_whole(op_operand(read, 0)), *to;
  if (op->opcode == OP_ASYNC_COMMIT) return true;
  if (op->opcode != OP_ASYNC_COPY && op->opcode != OP_LOCAL_STORE) return false;
  to = buffer_whole(op_named(op, OPERAND_BUF));
  return value_op(to, OP_ALLOC) && value_op(from, OP_ALLOC) && to != from;
}

// Whether threads wait between the read and the mma, which is the first to use it, and nothing there writes its buffer.
static bool is_held_over_wait(const Op *read, const Op *mma) {
  bool waits = false;
  for (const Op *op = read->next; op != mma; op = op->next) {
    const bool reads = op->opcode == OP_LOAD || op->opcode == OP_LOCAL_LOAD;
    if (uses(op, read) || !(is_wait(op) || reads || op_is(op, TRAIT_PURE) || fills_another(op, read))) return false;
    waits |= is_wait(op);
  }
  return waits;
}

static void read_late(Op *op, void *user) {
  (void)user;
  for (uint32_t i = 0; i < 2 && op->opcode == OP_MMA; i++) {
    Op *read = op_operand(op, i)->def;
    if (read && read->opcode == OP_LOCAL_LOAD && read->parent == op->parent && is_held_over_wait(read, op))
      op_move_before(read, op);
  }
}

void pass_read_fragments(PassCtx *p) { module_walk(p->module, read_late, NULL); }
