#include "ir/grid_axes.h"

static void keep_asked(Op *op, void *user) {
  uint32_t *alike = user;
  if (op->opcode == OP_PROGRAM_ID) *alike &= ~(1u << op_int(op, ATTR_AXIS, 0));
  bool may_differ = op->opcode == OP_INLINE_ASM || op->opcode == OP_SPECIAL;
  for (uint32_t i = 0; i < op->num_results && op_is_atomic(op); i++) may_differ |= op->results[i].uses != NULL;
  if (may_differ) *alike = 0;
}

uint32_t grid_axes_alike(Module *m) {
  uint32_t alike = 7;
  module_walk(m, keep_asked, &alike);
  return alike;
}
