// annotate_offsets: tells codegen by how many bytes the addresses of a thread's registers differ (`deltas`, a number
// for each bit of a register's number, 0 if it is not the same in all threads). One address with immediate offsets then
// serves all registers of an access, instead of an address of two machine registers for each.
// On the final ops it also tells by how many times a scalar they differ (`strided`), such as a stride that the launch
// brings, where that spares a thread the addresses of many rows. Codegen then adds one row's distance to the address of
// another row. Otherwise LLVM takes the products of row and stride out of the loop, and a thread holds two machine
// registers for each row, or more than it has. Outside of loops the assembler computes an offset of 32 bits where it is
// needed; one of 64 bits takes as many registers as an address.
// It runs twice: before pipeline_loops, whose register estimate reads the deltas, and on the final ops.
// In, out: LAID_OUT or ALLOCATED.
#include "ir/loop.h"
#include "passes/pass.h"
#include "passes/steps.h"

enum {
  MANY_ROWS = 8,             // addresses, of 16 registers
  MOST_STRIDES = 1 << 24,    // their bytes fit 32 bits
};

typedef struct { StepAnalysis steps; bool is_final; } Annotate;

// Whether a number and the one `index` after it, whose place has that bit set, are in one aligned run of consecutive
// numbers. Such a run wraps as a whole.
static bool in_one_run(const AxisInfo *x, uint32_t axis, int64_t index) {
  const int64_t run = 2 * index;
  return run <= x->contiguity[axis] && axis_divisor_at(x, axis, run) % run == 0;
}

// Whether no other column has a bit of register bit `bit`'s column, so that indices add up without carries.
static bool adds_up(const Layout *l, uint32_t bit) {
  for (uint32_t i = 0; i < layout_total_bits(l); i++)
    if (i != bit && (l->basis[i] & layout_basis(l, LAYOUT_REG, bit))) return false;
  return true;
}

// The bytes from a register to the one with bit `bit` set in its number; 0: not known. `x` is NULL if the numbers do
// not wrap.
static int64_t delta_of(const Layout *l, const Steps *s, const AxisInfo *x, uint32_t bit, int64_t unit) {
  const uint32_t column = layout_basis(l, LAYOUT_REG, bit);
  if (!adds_up(l, bit)) return 0;
  int64_t bytes = 0;
  for (uint32_t axis = 0; axis < l->rank; axis++) {
    const int64_t index = (column & layout_axis_mask(l, axis)) >> layout_axis_shift(l, axis);
    int64_t part;
    if (!index) continue;
    if (x && !in_one_run(x, axis, index)) return 0;
    if (s->by[axis] == NO_STEP || s->of[axis] || __builtin_mul_overflow(index * unit, s->by[axis], &part) ||
        __builtin_add_overflow(bytes, part, &bytes))
      return 0;
  }
  return bytes == (int32_t)bytes ? bytes : 0;
}

// How many times `stride` lie between a register and the one with bit `bit` set in its number; 0: not known.
static int64_t strides_of(const Layout *l, const Steps *s, uint32_t bit, const Value *stride) {
  const uint32_t column = layout_basis(l, LAYOUT_REG, bit);
  if (!adds_up(l, bit)) return 0;
  int64_t strides = 0;
  for (uint32_t axis = 0; axis < l->rank; axis++) {
    const int64_t index = (column & layout_axis_mask(l, axis)) >> layout_axis_shift(l, axis);
    int64_t part;
    if (!index) continue;
    if (s->by[axis] == NO_STEP || s->of[axis] != stride || __builtin_mul_overflow(index, s->by[axis], &part) ||
        __builtin_add_overflow(strides, part, &strides))
      return 0;
  }
  return strides > -MOST_STRIDES && strides < MOST_STRIDES ? strides : 0;
}

// Fills in how many strides each bit of a register's number adds, where `deltas` has no distance. Returns how many bits
// that are.
static uint32_t fill_strides(const Op *op, const Layout *l, const Steps *s, const Value *stride, const int64_t *deltas,
                             int64_t *strides) {
  const uint32_t vector = (uint32_t)op_int(op, ATTR_COPY, op_int(op, ATTR_VECTOR, 1));
  uint32_t bits = 0;
  for (uint32_t b = 0; b < l->num_bits[LAYOUT_REG]; b++) {
    strides[b] = deltas[b] || b < log2_u32(vector) ? 0 : strides_of(l, s, b, stride);
    bits += strides[b] != 0;
  }
  return bits;
}

// Gives the access an offset of which codegen knows by how many strides registers differ, if that spares a thread the
// addresses of many rows.
static void add_strides(Annotate *a, Op *op, const int64_t *deltas) {
  Value *offset = op_named(op, OPERAND_OFFSET), *best = NULL;
  const Layout *l = offset->type->layout;
  const Steps *s = steps_of(&a->steps, offset);
  int64_t strides[LAYOUT_MAX_BITS];
  uint32_t most = 0;
  for (uint32_t axis = 0; axis < l->rank; axis++) {
    const uint32_t bits = s->of[axis] ? fill_strides(op, l, s, s->of[axis], deltas, strides) : 0;
    if (bits > most) most = bits, best = s->of[axis];
  }
  if (1u << most < MANY_ROWS) return;
  fill_strides(op, l, s, best, deltas, strides);
  Builder b = builder_before(a->steps.ctx, op);
  Op *strided = build_op(&b, OP_STRIDED, (Value *[]){offset, best}, 2);
  op_set_ints(a->steps.ctx, strided, ATTR_STRIDES, strides, l->num_bits[LAYOUT_REG]);
  op_set_named(op, OPERAND_OFFSET, op_result(strided, 0));
}

// Whether LLVM or the assembler holds what it computes of an offset.
static bool is_held(const Op *op, const Value *offset) { return loop_around(op) || type_elem_bits(offset->type) == 64; }

static void annotate(Op *op, void *user) {
  Annotate *a = user;
  StepAnalysis *steps = &a->steps;
  if (op->opcode != OP_ASYNC_COPY && op->opcode != OP_LOAD && op->opcode != OP_STORE && op->opcode != OP_ATOMIC_RMW)
    return;
  Value *ptr = op_named(op, OPERAND_PTR), *offset = op_named(op, OPERAND_OFFSET), *v = offset ? offset : ptr;
  op_remove_attr(op, ATTR_DELTAS);
  if (!type_is_tensor(v->type) || (offset && type_is_tensor(ptr->type))) return;
  const int64_t unit = offset ? type_elem_bytes(type_elem(ptr->type)->elem) : 1;
  const Layout *l = v->type->layout;
  const bool exact = !offset || steps_are_exact(steps, offset) || steps_are_in_tile(steps->axes, offset);
  const AxisInfo *wraps = exact ? NULL : axis_info(steps->axes, offset);
  int64_t deltas[LAYOUT_MAX_BITS];
  bool any = false;
  for (uint32_t b = 0; b < l->num_bits[LAYOUT_REG]; b++)
    any |= (deltas[b] = delta_of(l, steps_of(steps, v), wraps, b, unit)) != 0;
  if (any) op_set_ints(steps->ctx, op, ATTR_DELTAS, deltas, l->num_bits[LAYOUT_REG]);
  if (a->is_final && offset && exact && !value_op(offset, OP_STRIDED) && is_held(op, offset))
    add_strides(a, op, deltas);
}

void pass_annotate_offsets(PassCtx *p) {
  Annotate a = {{p->ctx, axis_analyse(p->ctx, p->module), {0}}, p->module->stage == STAGE_ALLOCATED};
  module_walk(p->module, annotate, &a);
}
