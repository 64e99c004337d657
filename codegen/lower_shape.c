// Constants, ranges and shape operations. A shape operation moves no data: the result's layout says which register of
// the same thread holds each element, and the lowering only renames registers. (If an element is in another thread,
// the passes have placed a convert_layout before the op.)
#include "codegen/cg.h"

static LLVMValueRef constant_bits(Cg *c, const Type *t, uint64_t bits) {
  const Type *e = type_elem(t);
  if (e->kind == TYPE_PTR) return LLVMConstIntToPtr(cg_i64(c, bits), c->t_gptr);
  LLVMTypeRef elem = c->elem[e->scalar];
  if (LLVMGetTypeKind(elem) == LLVMIntegerTypeKind) return cg_int(elem, bits);
  return LLVMConstBitCast(cg_int(LLVMIntTypeInContext(c->ll, scalar_bits(e->scalar)), bits), elem);
}

void emit_constant(Cg *c, Op *op) {
  const Type *t = op_result(op, 0)->type;
  const Attr *a = op_attr(op, ATTR_VALUE);
  cg_set(op_result(op, 0), cg_splat(c, cg_num_regs(t), constant_bits(c, t, a->bits)));
}

void emit_range(Cg *c, Op *op) {
  const Type *t = op_result(op, 0)->type;
  uint32_t n = cg_num_regs(t), start = (uint32_t)op_int(op, ATTR_START, 0);
  const uint32_t *reps = cg_reps(c, t);
  PlaceMap m = placemap_of_layout(t->layout);
  LLVMValueRef thread = placemap_thread(c, &m);
  CgValue *v = cg_value_new(c, n);
  for (uint32_t r = 0; r < n; r++) {
    if (reps[r] != r) {
      v->v[r] = v->v[reps[r]];
      continue;
    }
    // LLVM joins start and the register's constant to one addition.
    uint32_t k = placemap_reg(&m, r);
    v->v[r] = cg_add(c, placemap_join(c, &m, thread, k), cg_i32(c, start));
  }
  cg_set(op_result(op, 0), v);
}

void emit_splat(Cg *c, Op *op) {
  cg_set(op_result(op, 0), cg_splat(c, cg_num_regs(op_result(op, 0)->type), cg_scalar(op_operand(op, 0))));
}

void emit_hint(Cg *c, Op *op) {
  (void)c;
  cg_set(op_result(op, 0), cg_get(op_operand(op, 0)));
}

void emit_strided(Cg *c, Op *op) { emit_hint(c, op); }   // address.c reads what it promises

// The result has x's registers by other names: `as` is x's layout seen in the result's shape.
static void rename_registers(Cg *c, Op *op, CgValue *x, const Layout *as) {
  const Type *t = op_result(op, 0)->type;
  CgValue *v = cg_rename(c, x, t->layout, as);
  if (!v && op_int(op, ATTR_REORDER, 0) && cg_num_regs(t) == x->count) v = x;   // any order will do
  if (!v) cg_unsupported(c, op, "the result's layout needs elements of other threads");
  cg_set(op_result(op, 0), v);
}

void emit_broadcast(Cg *c, Op *op) {
  const Type *from = op_operand(op, 0)->type, *to = op_result(op, 0)->type;
  const CgValue *x = cg_get(op_operand(op, 0));
  // Element (i, j) of the result is element (i, 0) of x: strike the repeated axes from the result's layout.
  const Layout *needed = to->layout;
  for (uint32_t a = 0; a < to->rank && type_is_tensor(from); a++)
    if (from->shape[a] != to->shape[a]) needed = layout_project(c->ctx, needed, a);
  CgValue *v = type_is_tensor(from) ? cg_rename(c, x, needed, from->layout) : cg_splat(c, cg_num_regs(to), x->v[0]);
  if (!v) cg_unsupported(c, op, "the result's layout needs elements of other threads");
  cg_set(op_result(op, 0), v);
}

void emit_expand_dims(Cg *c, Op *op) {
  const Type *from = op_operand(op, 0)->type;
  const Layout *as = layout_expand_dims(c->ctx, from->layout, (uint32_t)op_int(op, ATTR_AXIS, 0));
  rename_registers(c, op, cg_get(op_operand(op, 0)), as);
}

void emit_reshape(Cg *c, Op *op) {
  const Type *from = op_operand(op, 0)->type, *to = op_result(op, 0)->type;
  CgValue *x = cg_get(op_operand(op, 0));
  if (!type_is_tensor(from) || !type_is_tensor(to)) {
    cg_set(op_result(op, 0), cg_splat(c, cg_num_regs(to), x->v[0]));
    return;
  }
  rename_registers(c, op, x, layout_reshape(c->ctx, from->layout, to->rank, to->shape));
}

void emit_trans(Cg *c, Op *op) {
  const Layout *as = layout_transpose(c->ctx, op_operand(op, 0)->type->layout, op_attr(op, ATTR_ORDER)->ints);
  rename_registers(c, op, cg_get(op_operand(op, 0)), as);
}

// Registers of a, then of b; each has n.
static CgValue *side_by_side(Cg *c, const CgValue *a, const CgValue *b, uint32_t n) {
  CgValue *v = cg_value_new(c, 2 * n);
  for (uint32_t r = 0; r < n; r++) {
    v->v[r] = cg_reg(a, r);
    v->v[n + r] = cg_reg(b, r);
  }
  return v;
}

static void join_layout(const Layout *half, uint32_t column, Layout *out) {
  uint32_t regs = half->num_bits[LAYOUT_REG], total = layout_total_bits(half);
  for (uint32_t i = total; i > regs; i--) out->basis[i] = out->basis[i - 1];
  out->basis[regs] = column;
  out->num_bits[LAYOUT_REG]++;
}

void emit_join(Cg *c, Op *op) {
  const Type *half = op_operand(op, 0)->type, *to = op_result(op, 0)->type;
  if (!type_is_tensor(half)) {
    const CgValue *a = cg_get(op_operand(op, 0)), *b = cg_get(op_operand(op, 1));
    CgValue *both = side_by_side(c, a, b, 1);
    Layout l = {.kind = LAYOUT_DISTRIBUTED, .rank = 1, .log2_size = {1},
                .num_bits = {1, to->layout->num_bits[1], to->layout->num_bits[2], to->layout->num_bits[3]}};
    l.basis[0] = 1;
    rename_registers(c, op, both, layout_intern(c->ctx, &l));
    return;
  }
  // Flat indices double to make room for the new last axis; the top register bit is that axis.
  Layout l = *half->layout;
  l.log2_size[l.rank++] = 1;
  for (uint32_t i = 0, n = layout_total_bits(half->layout); i < n; i++) l.basis[i] <<= 1;
  join_layout(half->layout, 1, &l);
  CgValue *both = side_by_side(c, cg_get(op_operand(op, 0)), cg_get(op_operand(op, 1)), cg_num_regs(half));
  rename_registers(c, op, both, layout_intern(c->ctx, &l));
}

void emit_split(Cg *c, Op *op) {
  const Type *from = op_operand(op, 0)->type, *to = op_result(op, 0)->type;
  const CgValue *x = cg_get(op_operand(op, 0));
  if (x->splat) {
    for (uint32_t k = 0; k < 2; k++) cg_set(op_result(op, k), cg_splat(c, cg_num_regs(to), x->v[0]));
    return;
  }
  // Element i of half k is element 2i + k of x.
  Layout wanted = {.kind = LAYOUT_DISTRIBUTED, .rank = from->rank};
  for (uint32_t a = 0; a < from->rank; a++) wanted.log2_size[a] = from->layout->log2_size[a];
  const Layout *half = type_is_tensor(to) ? to->layout : NULL;
  for (uint32_t d = 0; d < LAYOUT_DIMS; d++)
    wanted.num_bits[d] = half ? half->num_bits[d] : d == LAYOUT_REG ? 0 : from->layout->num_bits[d];
  for (uint32_t i = 0; half && i < layout_total_bits(half); i++) wanted.basis[i] = half->basis[i] << 1;
  uint32_t place[LAYOUT_MAX_BITS];
  if (!layout_right_inverse(from->layout, place) || place[0] >> from->layout->num_bits[LAYOUT_REG])
    cg_unsupported(c, op, "the last axis is not in the registers of one thread");
  for (uint32_t k = 0; k < 2; k++) {
    CgValue *shifted = cg_value_new(c, x->count);
    for (uint32_t r = 0; r < x->count; r++) shifted->v[r] = x->v[r ^ (k ? place[0] : 0)];
    CgValue *v = cg_rename(c, shifted, layout_intern(c->ctx, &wanted), from->layout);
    if (!v) cg_unsupported(c, op, "the result's layout needs elements of other threads");
    cg_set(op_result(op, k), v);
  }
}

void emit_cat(Cg *c, Op *op) {
  const Type *half = op_operand(op, 0)->type;
  Layout l = *half->layout;
  uint32_t top = 1u << layout_tensor_bits(half->layout);
  l.log2_size[0]++;
  join_layout(half->layout, top, &l);
  CgValue *both = side_by_side(c, cg_get(op_operand(op, 0)), cg_get(op_operand(op, 1)), cg_num_regs(half));
  rename_registers(c, op, both, layout_intern(c->ctx, &l));
}
