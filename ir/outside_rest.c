#include "ir/buf.h"
#include "ir/ir.h"
#include "ir/outside.h"

// The first op of the opcode among those that v is computed from, not through memory; NULL: there is none.
static const Op *find(const Value *v, Opcode oc) {
  enum { MAX_OPS = 32 };
  const Value *next[MAX_OPS] = {v};
  for (uint32_t i = 0, count = 1; i < count; i++) {
    const Op *def = next[i]->def;
    if (!def || !op_is(def, TRAIT_PURE)) continue;
    if (def->opcode == oc) return def;
    for (uint32_t k = 0; k < def->num_operands && count < MAX_OPS; k++)
      if (op_operand(def, k)) next[count++] = op_operand(def, k);
  }
  return NULL;
}

const char *outside_rest(Arena *a, const Op *op) {
  const Op *rest = find(outside_pointer(op), OP_REMSI);
  if (!rest || !find(op_operand(rest, 0), OP_SUBI)) return NULL;
  const Context *ctx = op->parent->func->module->ctx;
  const LineCol at = source_locate(ctx, op_user_span(ctx, rest).begin);
  return arena_printf(a, "the `%%` of %s:%u:%u has the sign of its left operand, as in C: (a %% b + b) %% b has the sign "
                      "of b", at.file ? at.file->path : "?", at.line, at.col);
}
