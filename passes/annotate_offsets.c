// annotate_offsets: tells codegen by how many bytes the addresses of a thread's registers differ (`deltas`, a number
// for each bit of a register's number, 0 if it is not the same in all threads). One address with immediate offsets then
// serves all registers of an access, instead of an address of two machine registers for each.
// It runs twice: before pipeline_loops, whose register estimate reads the result, and on the final ops.
// In, out: LAID_OUT or ALLOCATED.
#include "passes/pass.h"
#include "passes/steps.h"

// Whether a number and the one `index` after it, whose place has that bit set, are in one aligned run of consecutive
// numbers. Such a run wraps as a whole.
static bool in_one_run(const AxisInfo *x, uint32_t axis, int64_t index) {
  const int64_t run = 2 * index;
  return run <= x->contiguity[axis] && axis_divisor_at(x, axis, run) % run == 0;
}

// The bytes from a register to the one with bit `bit` set in its number; 0: not known. The bit's column must share no
// bit with others: indices then add up without carries. `x` is NULL if the numbers do not wrap.
static int64_t delta_of(const Layout *l, const Steps *s, const AxisInfo *x, uint32_t bit, int64_t unit) {
  const uint32_t column = layout_basis(l, LAYOUT_REG, bit);
  for (uint32_t i = 0; i < layout_total_bits(l); i++)
    if (i != bit && (l->basis[i] & column)) return 0;
  int64_t bytes = 0;
  for (uint32_t axis = 0; axis < l->rank; axis++) {
    const int64_t index = (column & layout_axis_mask(l, axis)) >> layout_axis_shift(l, axis);
    int64_t part;
    if (!index) continue;
    if (x && !in_one_run(x, axis, index)) return 0;
    if (s->by[axis] == NO_STEP || __builtin_mul_overflow(index * unit, s->by[axis], &part) ||
        __builtin_add_overflow(bytes, part, &bytes))
      return 0;
  }
  return bytes == (int32_t)bytes ? bytes : 0;
}

static void annotate(Op *op, void *user) {
  StepAnalysis *a = user;
  const bool is_copy = op->opcode == OP_ASYNC_COPY;
  if (!is_copy && op->opcode != OP_LOAD && op->opcode != OP_STORE && op->opcode != OP_ATOMIC_RMW) return;
  Value *ptr = op_operand(op, is_copy), *offset = op_operand(op, is_copy + 1u), *v = offset ? offset : ptr;
  op_remove_attr(op, ATTR_DELTAS);
  if (!type_is_tensor(v->type) || (offset && type_is_tensor(ptr->type))) return;
  const int64_t unit = offset ? type_elem_bytes(type_elem(ptr->type)->elem) : 1;
  const Layout *l = v->type->layout;
  const AxisInfo *wraps = offset && !steps_are_exact(a, offset) ? axis_info(a->axes, offset) : NULL;
  int64_t deltas[LAYOUT_MAX_BITS];
  bool any = false;
  for (uint32_t b = 0; b < l->num_bits[LAYOUT_REG]; b++)
    any |= (deltas[b] = delta_of(l, steps_of(a, v), wraps, b, unit)) != 0;
  if (any) op_set_ints(a->ctx, op, ATTR_DELTAS, deltas, l->num_bits[LAYOUT_REG]);
}

void pass_annotate_offsets(PassCtx *p) {
  StepAnalysis a = {p->ctx, axis_analyse(p->ctx, p->module), {0}};
  module_walk(p->module, annotate, &a);
}
