// annotate_access: sets the vector width of each load, store, atomic and asynchronous copy: how many elements one
// machine access moves. The layout must give a thread that many consecutive registers of consecutive elements, the
// addresses must be contiguous and aligned, the mask constant over them, and 16 bytes are the most. cp.async may move
// more (`copy`), because its mask may end within the access. Atomics go in pairs if two halves fit a word and nobody
// wants the result.
// Likewise sets constancy: an integer or i1 that is the same over a thread's neighbouring registers (a mask of whole
// vectors) is computed once for them.
// In, out: LAID_OUT; sets `vector`, `copy` and `constancy`.
#include "passes/access.h"
#include "passes/axis_info.h"
#include "passes/pass.h"

typedef struct { Context *ctx; AxisAnalysis *axes; } Annotate;

static void note_constancy(Annotate *a, Op *op) {
  Value *v = &op->results[0];
  const Type *t = v->type;
  if (t->kind != TYPE_TENSOR || !type_is_int(t) || !t->layout) return;
  const AxisInfo *x = axis_info(a->axes, v);
  bool any = false;
  for (uint32_t axis = 0; axis < t->rank; axis++)
    any |= x->constancy[axis] > 1 && layout_contiguity(t->layout, axis) > 1;
  if (!any) return;
  op_set_ints(a->ctx, op, ATTR_CONSTANCY, x->constancy, t->rank);
}

static void annotate(Op *op, void *user) {
  Annotate *a = user;
  if (op_is(op, TRAIT_ELEMENTWISE)) {
    note_constancy(a, op);
    return;
  }
  bool is_copy = op->opcode == OP_ASYNC_COPY;
  AccessInfo info;
  if ((!is_copy && !access_is_tensor(op)) || op->opcode == OP_ATOMIC_CAS || !access_info(a->axes, op, &info)) return;
  const Value *ptr = op_operand(op, is_copy), *offset = op_operand(op, is_copy + 1u);
  const Type *t = ptr->type->kind == TYPE_TENSOR ? ptr->type : offset->type;
  uint32_t bytes = type_elem_bytes(type_elem(ptr->type)->elem);
  int64_t vector = 1, copy = 1;
  for (uint32_t axis = 0; axis < t->rank; axis++) {
    vector = max_i64(vector, min_i64(access_max_vector(&info, axis, bytes), layout_contiguity(t->layout, axis)));
    copy = max_i64(copy, min_i64(access_max_copy(&info, axis, bytes), layout_contiguity(t->layout, axis)));
  }
  if (op->opcode == OP_ATOMIC_RMW) vector = min_i64(vector, access_width(op, bytes));
  op_set_int(a->ctx, op, ATTR_VECTOR, vector);
  if (copy > vector && (is_copy || access_is_copied(op))) op_set_int(a->ctx, op, ATTR_COPY, copy);
}

void pass_annotate_access(PassCtx *p) {
  Annotate a = {p->ctx, axis_analyse(p->ctx, p->module)};
  module_walk(p->module, annotate, &a);
}
