#include "ir/grid_axes.h"

enum { ALL_AXES = 7 };

typedef struct { uint32_t alike; bool counts; } Alike;

static void keep_asked(Op *op, void *user) {
  Alike *a = user;
  if (op->opcode == OP_PROGRAM_ID) a->alike &= ~(1u << op_int(op, ATTR_AXIS, 0));
  bool may_differ = op->opcode == OP_INLINE_ASM || op->opcode == OP_SPECIAL;
  for (uint32_t i = 0; i < op->num_results && op_is_atomic(op); i++) may_differ |= op->results[i].uses != NULL;
  if (may_differ) a->alike = 0;
  a->counts |= op_is_atomic(op);
}

uint32_t grid_axes_alike(Module *m) {
  Alike a = {.alike = ALL_AXES};
  module_walk(m, keep_asked, &a);
  return a.alike == ALL_AXES && a.counts ? 0 : a.alike;      // programs without numbers that add one each
}
