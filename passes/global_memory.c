#include "passes/global_memory.h"

const Value *global_root(const Value *v) {
  while (v->def && (v->def->opcode == OP_ADDPTR || v->def->opcode == OP_SPLAT || v->def->opcode == OP_BROADCAST || v->def->opcode == OP_BITCAST ||
                    v->def->opcode == OP_EXPAND_DIMS || v->def->opcode == OP_CONVERT_LAYOUT || v->def->opcode == OP_HINT || v->def->opcode == OP_RESHAPE ||
                    v->def->opcode == OP_MAKE_DESC))
    v = op_operand(v->def, 0);
  if (!v->def && v->block->parent && v->block->parent->opcode == OP_FOR && v->index > 0)   // base advanced in a loop
    return global_root(op_operand(v->block->parent, v->index + 2));
  return v->def || v->block->parent ? NULL : v;
}

static bool writes_global(const Op *op) {
  switch (op->opcode) {
    case OP_STORE: case OP_ATOMIC_RMW: case OP_ATOMIC_CAS: case OP_DESC_STORE: case OP_DESC_REDUCE: case OP_DESC_SCATTER: return true;
    default: return false;
  }
}

bool block_writes_global(const Block *b, const Value *root) {
  for (const Op *op = b->first; op; op = op->next) {
    if (writes_global(op) && global_root(op_operand(op, 0)) == root) return true;
    for (uint32_t i = 0; i < op->num_blocks; i++)
      if (block_writes_global(op->blocks[i], root)) return true;
  }
  return false;
}

static bool acquires(const Op *op) {
  switch (op->opcode) {
    case OP_GRID_DEPENDENCY: return !op_int(op, ATTR_DEPENDENTS, 0);
    case OP_ATOMIC_RMW: case OP_ATOMIC_CAS: return op->results[0].uses != NULL;
    case OP_LOAD: return op_int(op, ATTR_VOLATILE, 0) != 0;
    case OP_INLINE_ASM: return !op_int(op, ATTR_PURE, 0);
    default: return false;
  }
}

bool block_acquires_global(const Block *b) {
  for (const Op *op = b->first; op; op = op->next) {
    if (acquires(op)) return true;
    for (uint32_t i = 0; i < op->num_blocks; i++)
      if (block_acquires_global(op->blocks[i])) return true;
  }
  return false;
}
