// Tuples of registers in reductions and scans.
#include "codegen/tuple.h"

Tuple tuple_get(const Combine *k, CgValue *const *v, uint32_t r) {
  Tuple t = {0};
  for (uint32_t i = 0; i < k->n; i++) t.x[i] = v[i]->v[r];
  return t;
}

void tuple_put(const Combine *k, CgValue *const *v, uint32_t r, const Tuple *t) {
  for (uint32_t i = 0; i < k->n; i++) v[i]->v[r] = t->x[i];
}

Tuple tuple_combine(const Combine *k, const Tuple *acc, const Tuple *x) {
  LLVMValueRef args[2 * MAX_COMBINED];
  Tuple out = {0};
  for (uint32_t i = 0; i < k->n; i++) {
    args[i] = acc->x[i];
    args[k->n + i] = x->x[i];
  }
  cg_inline_region(k->c, k->op->blocks[0], args, out.x);
  return out;
}

Tuple tuple_select(const Combine *k, LLVMValueRef p, const Tuple *a, const Tuple *b) {
  Tuple t = {0};
  for (uint32_t i = 0; i < k->n; i++) t.x[i] = cg_select(k->c, p, a->x[i], b->x[i]);
  return t;
}

void tuple_exchange(const Combine *k, const uint32_t *offsets, const PlaceMap *store, CgValue *const *from,
                    const PlaceMap *load,
                    CgValue **to) {
  Cg *c = k->c;
  LLVMValueRef scratch = cg_scratch(c, k->op), at[MAX_COMBINED];
  for (uint32_t i = 0; i < k->n; i++) {
    at[i] = cg_add(c, scratch, cg_i32(c, offsets[i]));
    cg_shared_store(c, at[i], store, type_elem(op_operand(k->op, i)->type), from[i], NULL);
  }
  cg_barrier(c);
  for (uint32_t i = 0; i < k->n; i++) to[i] = cg_shared_load(c, at[i], load, type_elem(op_operand(k->op, i)->type));
}
