// -Wleft-out-atomic: lanes that the mask of a load leaves out, and that take part in an atomic operation all the same.
#include "frontend/lower/warnings.h"

enum { MAX_VALUES = 32 };

// The load under a mask that v is computed from by arithmetic alone; NULL: there is none, or what it gives for the
// elements left out is a number that somebody chose. *chooses: a tl.where is in between.
static const Op *masked_load(const Value *v, bool *chooses) {
  const Value *next[MAX_VALUES] = {v};
  for (uint32_t i = 0, count = 1; i < count; i++) {
    const Op *def = next[i]->def;
    if (!def) continue;
    if (def->opcode == OP_LOAD && type_is_tensor(def->results[0].type)) {
      const Value *mask = op_named(def, OPERAND_MASK), *other = op_named(def, OPERAND_OTHER);
      uint64_t always;
      int64_t number = 0;
      if (mask && !value_constant_bits(mask, &always) && (!other || (value_constant_int(other, &number) && !number)))
        return def;
    }
    if (!op_is(def, TRAIT_PURE)) continue;
    if (def->opcode == OP_SELECT) return *chooses = true, NULL;
    for (uint32_t k = 0; k < def->num_operands && count < MAX_VALUES; k++)
      if (op_operand(def, k)) next[count++] = op_operand(def, k);
  }
  return NULL;
}

static void look_at(Op *op, void *user) {
  Lower *L = user;
  const bool is_cas = op->opcode == OP_ATOMIC_CAS;
  if ((!is_cas && op->opcode != OP_ATOMIC_RMW) || (!is_cas && op_named(op, OPERAND_MASK))) return;
  const Value *pointer = op_named(op, OPERAND_PTR), *value = op_named(op, OPERAND_VALUE);
  const bool is_set = is_cas || op_int(op, ATTR_ATOMIC, -1) == ATOMIC_XCHG;
  bool chooses = false, ignored;
  const Op *load = type_is_tensor(pointer->type) ? masked_load(pointer, &chooses) : NULL;
  // A sum or a union with 0 changes nothing.
  if (load && !is_set && masked_load(value, &ignored)) load = NULL;
  if (!load && is_set && !chooses && type_is_tensor(pointer->type)) load = masked_load(value, &ignored);
  if (!load || !diag_warning(L->ctx, WARN_LEFT_OUT_ATOMIC, op_user_span(L->ctx, op),
                             "the elements that the mask of a load leaves out take part in this atomic operation: they "
                             "count as 0"))
    return;
  if (is_cas)
    lower_hint(L, "atomic_cas has no mask: give the elements left out a place of their own, as the last of a longer "
               "table, tl.where(mask, offsets, size), or compare them with a value that no place has");
  else lower_hint(L, "pass the mask of the load: mask=%s",
                  lower_source_text_or(L, op_named(load, OPERAND_MASK)->def ? op_named(load, OPERAND_MASK)->def->span
                                                                            : load->span, "mask"));
}

void lower_warn_left_out(Lower *L, const Func *f) { block_walk(f->body, look_at, L); }
