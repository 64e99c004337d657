#include "ir/ir.h"
#include "ir/outside.h"

enum { MAX_OPS = 64 };

static bool is_load_of(const Op *def, const Op *store) {
  return def && def->opcode == OP_LOAD && value_is_alike(op_named(def, OPERAND_PTR), op_named(store, OPERAND_PTR)) &&
         value_is_alike(op_named(def, OPERAND_OFFSET), op_named(store, OPERAND_OFFSET));
}

// The load of the stored elements among the ops that v is computed from; NULL: there is none.
static const Op *find_load(const Value *v, const Op *store) {
  const Value *next[MAX_OPS] = {v};
  for (uint32_t i = 0, count = 1; i < count; i++) {
    const Op *def = next[i]->def;
    if (is_load_of(def, store)) return def;
    if (!def || !op_is(def, TRAIT_PURE)) continue;
    for (uint32_t k = 0; k < def->num_operands && count < MAX_OPS; k++)
      if (op_operand(def, k)) next[count++] = op_operand(def, k);
  }
  return NULL;
}

static const Op *unconverted(const Value *v) {
  const Op *def = v->def;
  while (def && op_is(def, TRAIT_CONVERTS)) def = op_operand(def, 0)->def;
  return def;
}

// The atomic that combines as the op does; NULL: there is none.
static const char *atomic_of(const Op *op) {
  switch (op->opcode) {
  case OP_ADDI: case OP_ADDF: case OP_SUBI: case OP_SUBF: return "atomic_add";
  case OP_MAXSI: case OP_MAXUI: case OP_MAXF: case OP_MAXIMUMF: return "atomic_max";
  case OP_MINSI: case OP_MINUI: case OP_MINF: case OP_MINIMUMF: return "atomic_min";
  case OP_ANDI: return "atomic_and";
  case OP_ORI: return "atomic_or";
  case OP_XORI: return "atomic_xor";
  default: return NULL;
  }
}

const Op *outside_update(const Op *store, const char **atomic) {
  const Op *load = store->opcode == OP_STORE ? find_load(op_named(store, OPERAND_VALUE), store) : NULL;
  if (!load) return NULL;
  *atomic = NULL;
  const Op *last = unconverted(op_named(store, OPERAND_VALUE));
  for (uint32_t i = 0; last && i < last->num_operands && i < 2; i++) {
    const bool is_minuend = i && (last->opcode == OP_SUBI || last->opcode == OP_SUBF);
    if (op_operand(last, i) && unconverted(op_operand(last, i)) == load && !is_minuend) *atomic = atomic_of(last);
  }
  return load;
}
