// annotate_access: sets the vector width of each load, store, atomic and asynchronous copy: how many elements one
// machine access moves. The layout must give a thread that many consecutive registers of consecutive elements, the
// addresses must be contiguous and aligned, the mask constant over them, and 16 bytes are the most. cp.async may move
// more (`copy`), because its mask may end within the access. Atomics go in pairs if two halves fit a word and nobody
// wants the result.
// Likewise sets constancy: an integer or i1 that is the same over a thread's neighbouring registers (a mask of whole
// vectors) is computed once for them; and the contiguity of remainders, of which an access needs a run's first.
// In, out: LAID_OUT; sets `vector`, `copy`, `constancy` and `contiguity`.
#include "passes/access.h"
#include "passes/axis_info.h"
#include "passes/pass.h"

typedef struct { Context *ctx; AxisAnalysis *axes; } Annotate;

// Sets the attribute if runs of more than one element lie in a thread's neighbouring registers.
static void note_runs(Annotate *a, Op *op, AttrKey key, const int64_t *runs) {
  const Type *t = op->results[0].type;
  bool any = false;
  for (uint32_t axis = 0; axis < t->rank; axis++) any |= runs[axis] > 1 && layout_contiguity(t->layout, axis) > 1;
  if (any) op_set_ints(a->ctx, op, key, runs, t->rank);
}

static void note_integers(Annotate *a, Op *op) {
  Value *v = &op->results[0];
  const Type *t = v->type;
  if (t->kind != TYPE_TENSOR || !type_is_int(t) || !t->layout) return;
  const AxisInfo *x = axis_info(a->axes, v);
  note_runs(a, op, ATTR_CONSTANCY, x->constancy);
  if (op->opcode == OP_REMSI || op->opcode == OP_REMUI) note_runs(a, op, ATTR_CONTIGUITY, x->contiguity);
}

// Why an access along its fastest axis moves only `vector` elements at once.
static const char *why_narrow(Context *ctx, const Op *op, const AccessInfo *x, uint32_t bytes, int64_t vector) {
  const uint32_t f = x->fastest;
  if (op->opcode == OP_ATOMIC_RMW) return "the machine has no wider atomic for this";
  if (x->contiguity[f] == 1) return "its neighbouring elements are not known to be consecutive in memory";
  if (x->alignment[f] / bytes <= vector)
    return arena_printf(&ctx->arena,
                        "its addresses are known to be multiples of %lld bytes only (a hint :16 says more)",
                        (long long)max_i64(x->alignment[f], bytes));
  if (x->mask_constancy[f] <= vector) return "its mask may end between neighbouring elements";
  return "its layout gives a thread that few neighbours";
}

// An access is as wide as it can be if it moves 16 bytes, or all elements of a thread.
static void tell_width(const Annotate *a, const Op *op, const Type *t, const AccessInfo *info, uint32_t bytes,
                       int64_t vector) {
  if (!remarks_wanted(a->ctx)) return;
  static const char *const verbs[] = {"loads", "stores", "updates"};
  const char *verb = verbs[!op_is(op, TRAIT_WRITES) ? 0 : op_is_atomic(op) ? 2 : 1];
  const uint32_t all = layout_regs_per_thread(t->layout);
  const long long width = vector * bytes;
  if (width >= 16 || vector >= all)
    remark_applied(op, "%s %s %lld bytes at a time", verb, remark_name(op), width);
  else
    remark_missed(op, "%s %s %lld byte%s at a time, %lld of a thread's %u elements: %s", verb, remark_name(op), width,
                  width == 1 ? "" : "s", (long long)vector, all, why_narrow(a->ctx, op, info, bytes, vector));
}

static void annotate(Op *op, void *user) {
  Annotate *a = user;
  if (op_is(op, TRAIT_ELEMENTWISE)) {
    note_integers(a, op);
    return;
  }
  bool is_copy = op->opcode == OP_ASYNC_COPY;
  AccessInfo info;
  if ((!is_copy && !access_is_tensor(op)) || op->opcode == OP_ATOMIC_CAS || !access_info(a->axes, op, &info)) return;
  const Type *t = access_type(op);
  const uint32_t bytes = access_elem_bytes(op);
  int64_t vector = 1, copy = 1;
  for (uint32_t axis = 0; axis < t->rank; axis++) {
    vector = max_i64(vector, min_i64(access_max_vector(&info, axis, bytes), layout_contiguity(t->layout, axis)));
    copy = max_i64(copy, min_i64(access_max_copy(&info, axis, bytes), layout_contiguity(t->layout, axis)));
  }
  if (op->opcode == OP_ATOMIC_RMW) vector = min_i64(vector, access_width(op, bytes));
  op_set_int(a->ctx, op, ATTR_VECTOR, vector);
  if (!is_copy) tell_width(a, op, t, &info, bytes, access_is_copied(op) ? copy : vector);
  if (copy > vector && (is_copy || access_is_copied(op))) op_set_int(a->ctx, op, ATTR_COPY, copy);
}

void pass_annotate_access(PassCtx *p) {
  Annotate a = {p->ctx, axis_analyse(p->ctx, p->module)};
  module_walk(p->module, annotate, &a);
}
