// Whether a wait for wgmma stays after the work that an author wrote before it.
//
// ptxas sees no relation between a wait and arithmetic. It moves the wait up to where it gets the mbarrier's arrival
// that follows off early, and the arithmetic then runs beside nothing. That costs more than it gains if the arithmetic
// takes longer than the dots in flight; otherwise tensor cores have enough to do, and the slot's early return counts.
#include "codegen/wgmma.h"

// Instructions that a warp issues for an op, about.
static uint32_t instructions(const Op *op) {
  uint32_t regs = 0;
  for (uint32_t i = 0; i < op->num_operands; i++)
    if (op_operand(op, i) && type_is_tensor(op_operand(op, i)->type)) {
      uint32_t n = cg_num_regs(op_operand(op, i)->type);
      if (n > regs) regs = n;
    }
  return regs * (op_unit(op) == UNIT_EXCH ? 1 : unit_instructions(op_unit(op)));
}

// Cycles that tensor cores take for a dot: 2048 products of 16-bit elements in each.
static uint64_t cycles(const Op *dot) {
  const Type *b = op_operand(dot, 1)->type;
  uint64_t columns = dot->results[0].type->shape[1], products = type_numel(dot->results[0].type);
  return products * (type_numel(b) / columns) * type_elem_bits(b) / 16 / 2048;
}

bool wgmma_wait_follows_work(const Op *wait) {
  uint64_t work = 0, dots = 0;
  const Op *op = wait->prev;
  for (; op && op->opcode != OP_WGMMA && op->opcode != OP_WGMMA_WAIT; op = op->prev) {
    if (op->num_blocks && op_unit(op) != UNIT_EXCH) return false;
    work += instructions(op);
  }
  int64_t in_flight = INT64_MAX;   // of the dots before op
  for (; op && in_flight > 0 && !op->num_blocks; op = op->prev) {
    if (op->opcode == OP_WGMMA_WAIT && op_int(op, ATTR_COUNT, 0) < in_flight) in_flight = op_int(op, ATTR_COUNT, 0);
    if (op->opcode != OP_WGMMA) continue;
    dots += cycles(op);
    if (in_flight < INT64_MAX) in_flight--;
  }
  return dots && work > dots;
}
