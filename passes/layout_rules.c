// Layout flow, op by op: see layout_rules.h.
#include "passes/layout_rules.h"

#include <string.h>

#include "ir/roles.h"

static bool is_tensor(const Value *v) { return v && v->type->kind == TYPE_TENSOR; }

typedef enum {
  FLOW_FREE,         // tensors of the op are unrelated
  FLOW_SAME,         // all tensors share one layout
  FLOW_SAME_BUT_FIRST,   // gather that mirrors nothing: the first operand is free
  FLOW_OPERANDS,     // histogram: the operands share one layout, the result is free
  FLOW_BROADCAST, FLOW_EXPAND_DIMS, FLOW_RESHAPE, FLOW_TRANS, FLOW_JOIN, FLOW_SPLIT, FLOW_CAT, FLOW_REDUCE, FLOW_DOT,
  FLOW_TENSOR_CORE   // nothing flows in: the op has the one layout it was made with
} Flow;

static Flow flow_of(const Op *op) {
  if (op_is(op, TRAIT_ELEMENTWISE)) return FLOW_SAME;
  switch (op->opcode) {
    case OP_LOAD: case OP_STORE: case OP_ATOMIC_RMW: case OP_ATOMIC_CAS: case OP_SCAN: case OP_MAP: case OP_HINT:
    case OP_INLINE_ASM: case OP_ASYNC_COPY:
      return FLOW_SAME;
    case OP_GATHER: return op_int(op, ATTR_MIRROR, 0) ? FLOW_SAME : FLOW_SAME_BUT_FIRST;
    case OP_HISTOGRAM: return FLOW_OPERANDS;
    case OP_BROADCAST: return FLOW_BROADCAST;
    case OP_EXPAND_DIMS: return FLOW_EXPAND_DIMS;
    case OP_RESHAPE: return FLOW_RESHAPE;
    case OP_TRANS: return FLOW_TRANS;
    case OP_JOIN: return FLOW_JOIN;
    case OP_SPLIT: return FLOW_SPLIT;
    case OP_CAT: return FLOW_CAT;
    case OP_REDUCE: return FLOW_REDUCE;
    case OP_DOT: return FLOW_DOT;
    case OP_DOT_SHARED: case OP_MMA: case OP_WGMMA: return FLOW_TENSOR_CORE;
    default: return FLOW_FREE;
  }
}

// The layout of a broadcast's operand: stretched axes shrink to size 1.
static const Layout *shrink(Context *ctx, const Op *op, const Layout *l) {
  const Type *from = op_operand(op, 0)->type, *to = op->results[0].type;
  for (uint32_t a = 0; a < to->rank; a++)
    if (from->shape[a] != to->shape[a]) l = layout_project(ctx, l, a);
  return layout_drop_zero_regs(ctx, l);
}

static const Layout *inverse_transpose(Context *ctx, const Op *op, const Layout *l) {
  const Attr *a = op_attr(op, ATTR_ORDER);
  int64_t inverse[LAYOUT_MAX_RANK] = {0};
  for (uint32_t i = 0; i < a->num_ints; i++) inverse[a->ints[i]] = i;
  return layout_transpose(ctx, l, inverse);
}

// The layout of two tensors concatenated along axis 0: the highest register bit tells them apart.
static const Layout *cat_layout(Context *ctx, const Layout *half) {
  Layout l = *half;
  uint32_t at = l.num_bits[LAYOUT_REG]++, n = layout_total_bits(half);
  for (uint32_t i = n; i > at; i--) l.basis[i] = half->basis[i - 1];
  l.basis[at] = 1u << layout_tensor_bits(half);
  l.log2_size[0]++;
  return layout_intern(ctx, &l);
}

// The inverse of cat_layout. NULL if it is not the highest register bit alone that tells the halves apart.
static const Layout *half_layout(Context *ctx, const Layout *whole) {
  Layout l = *whole;
  uint32_t n = layout_total_bits(whole);
  if (!l.num_bits[LAYOUT_REG] || !l.log2_size[0]) return NULL;
  uint32_t at = --l.num_bits[LAYOUT_REG], top = 1u << (layout_tensor_bits(whole) - 1);
  for (uint32_t i = 0; i < n; i++)
    if ((whole->basis[i] & top) != 0 && (i != at || whole->basis[i] != top)) return NULL;
  if (whole->basis[at] != top) return NULL;
  for (uint32_t i = at; i + 1 < n; i++) l.basis[i] = whole->basis[i + 1];
  l.basis[n - 1] = 0;
  l.log2_size[0]--;
  return layout_intern(ctx, &l);
}

const Layout *layout_rule_operand(Context *ctx, const Op *op, uint32_t i, const Layout *pivot) {
  const Value *v = op_operand(op, i);
  if (!is_tensor(v)) return NULL;
  switch (flow_of(op)) {
    case FLOW_FREE: return NULL;
    case FLOW_SAME: case FLOW_OPERANDS: return pivot;
    case FLOW_SAME_BUT_FIRST: return i == 0 ? NULL : pivot;
    case FLOW_BROADCAST: return shrink(ctx, op, pivot);
    case FLOW_EXPAND_DIMS: return layout_slice(ctx, pivot, (uint32_t)op_int(op, ATTR_AXIS, 0));
    case FLOW_RESHAPE: return layout_reshape(ctx, pivot, v->type->rank, v->type->shape);
    case FLOW_TRANS: return inverse_transpose(ctx, op, pivot);
    case FLOW_JOIN: return layout_split(ctx, pivot);
    case FLOW_CAT: return half_layout(ctx, pivot);
    case FLOW_SPLIT: return pivot;
    case FLOW_REDUCE: return pivot;
    case FLOW_DOT: case FLOW_TENSOR_CORE: return i == 2 ? pivot : NULL;   // a dot stages its operands itself
  }
  return NULL;
}

const Layout *layout_rule_result(Context *ctx, const Op *op, uint32_t i, const Layout *pivot) {
  const Value *v = &op->results[i];
  if (!is_tensor(v)) return NULL;
  switch (flow_of(op)) {
    case FLOW_FREE: case FLOW_OPERANDS: return NULL;
    case FLOW_SPLIT: return layout_split(ctx, pivot);
    case FLOW_REDUCE: return layout_make_slice(ctx, pivot, (uint32_t)op_int(op, ATTR_AXIS, 0));
    default: return pivot;
  }
}

// How many neighbours along the last axis the op takes at a time: a map's function and inline assembly with `pack`.
static uint32_t group_of(const Op *op) {
  if (op->opcode == OP_MAP) return (uint32_t)op_int(op, ATTR_PACK, 1);
  const Value *v = op->num_results ? &op->results[0] : op->num_operands ? op_operand(op, 0) : NULL;
  if (op->opcode != OP_INLINE_ASM || !is_tensor(v) || !v->type->rank) return 1;
  return (uint32_t)min_i64(op_int(op, ATTR_PACK, 1), v->type->shape[v->type->rank - 1]);
}

// An op that takes several elements at a time needs them in consecutive registers of one thread.
static bool holds_groups(const Op *op, const Layout *l) {
  uint32_t group = group_of(op), bits = 0;
  while (1u << bits < group) bits++;
  if (bits > l->num_bits[LAYOUT_REG]) return false;
  for (uint32_t k = 0; k < bits; k++)
    if (l->basis[k] != 1u << k) return false;
  return true;
}

const Layout *layout_rule_own(Context *ctx, const Op *op) {
  uint32_t group = group_of(op);
  if (group == 1 || !op->num_operands || !is_tensor(op_operand(op, 0))) return NULL;
  return layout_default(ctx, op_num_warps(op), op_operand(op, 0)->type, group);
}

const Layout *layout_rule_pivot_of_operand(Context *ctx, const Op *op, uint32_t i, const Layout *l) {
  switch (flow_of(op)) {
    case FLOW_SAME: return holds_groups(op, l) ? l : NULL;
    case FLOW_REDUCE: case FLOW_OPERANDS: return l;
    case FLOW_SAME_BUT_FIRST: return i == 0 ? NULL : l;
    case FLOW_SPLIT: return layout_split(ctx, l) ? l : NULL;
    case FLOW_EXPAND_DIMS: return layout_expand_dims(ctx, l, (uint32_t)op_int(op, ATTR_AXIS, 0));
    case FLOW_RESHAPE: {
      const Type *t = op->results[0].type;
      return is_tensor(&op->results[0]) ? layout_reshape(ctx, l, t->rank, t->shape) : NULL;
    }
    case FLOW_TRANS: return layout_transpose(ctx, l, op_attr(op, ATTR_ORDER)->ints);
    case FLOW_JOIN: return layout_join(ctx, l);
    case FLOW_CAT: return cat_layout(ctx, l);
    case FLOW_DOT: return i == 2 ? l : NULL;
    case FLOW_BROADCAST: case FLOW_TENSOR_CORE: case FLOW_FREE: return NULL;
  }
  return NULL;
}

const Layout *layout_rule_pivot_of_result(Context *ctx, const Op *op, const Layout *l) {
  switch (flow_of(op)) {
    case FLOW_FREE: case FLOW_OPERANDS: case FLOW_REDUCE: case FLOW_TENSOR_CORE: return NULL;
    case FLOW_SAME: return holds_groups(op, l) ? l : NULL;
    case FLOW_SPLIT: return layout_join(ctx, l);
    case FLOW_JOIN: return layout_split(ctx, l) ? l : NULL;
    case FLOW_CAT: return half_layout(ctx, l) ? l : NULL;
    case FLOW_RESHAPE: return is_tensor(op_operand(op, 0)) ? l : NULL;
    default: return l;
  }
}

// A Gluon tensor has no layout until resolve_layouts finds one; it says nothing about the others.
static bool has_layout(const Value *v) { return is_tensor(v) && v->type->layout; }

const Layout *layout_rule_pivot(Context *ctx, const Op *op) {
  if (flow_of(op) == FLOW_TENSOR_CORE) return op->results[0].type->layout;
  for (uint32_t i = 0; i < op->num_results; i++) {
    if (!has_layout(&op->results[i])) continue;
    const Layout *p = layout_rule_pivot_of_result(ctx, op, op->results[i].type->layout);
    if (p) return p;
  }
  for (uint32_t i = 0; i < op->num_operands; i++) {
    if (!has_layout(op_operand(op, i))) continue;
    const Layout *p = layout_rule_pivot_of_operand(ctx, op, i, op_operand(op, i)->type->layout);
    if (p) return p;
  }
  return NULL;
}

bool layout_rule_is_free(const Value *v) {
  return v->def && op_is(v->def, TRAIT_FREE);
}

// ---- choosing blocked layouts ----

const Layout *layout_blocked_for(Context *ctx, uint32_t num_warps, const Type *t, const BlockedChoice *c) {
  uint32_t per_thread[LAYOUT_MAX_RANK], lanes[LAYOUT_MAX_RANK], warps[LAYOUT_MAX_RANK];
  uint32_t lanes_left = WARP_SIZE, warps_left = num_warps;
  for (uint32_t i = 0; i < t->rank; i++) per_thread[i] = lanes[i] = warps[i] = 1;
  per_thread[c->order[0]] = (uint32_t)min_i64(c->vec, t->shape[c->order[0]]);
  if (c->across && t->rank > 1) per_thread[c->order[1]] = (uint32_t)min_i64(c->across, t->shape[c->order[1]]);
  int64_t left[LAYOUT_MAX_RANK];
  for (uint32_t i = 0; i < t->rank; i++) {
    uint32_t a = c->order[i];
    left[a] = t->shape[a] / per_thread[a];
    lanes[a] = (uint32_t)min_i64(lanes_left, left[a]);
    lanes_left /= lanes[a];
    left[a] /= lanes[a];
  }
  for (uint32_t i = 0; i < t->rank; i++) {
    uint32_t a = c->order[c->rows_in_warps ? t->rank - 1 - i : i];
    warps[a] = (uint32_t)min_i64(warps_left, left[a]);
    warps_left /= warps[a];
  }
  // Lanes and warps that are left over hold duplicates; they are written at the slowest axis.
  lanes[c->order[t->rank - 1]] *= lanes_left;
  warps[c->order[t->rank - 1]] *= warps_left;
  return layout_make_blocked(ctx, t->rank, t->shape, per_thread, lanes, warps, c->order);
}

const Layout *layout_default(Context *ctx, uint32_t num_warps, const Type *t, uint32_t vec) {
  BlockedChoice c = {.vec = vec};
  for (uint32_t i = 0; i < t->rank; i++) c.order[i] = t->rank - 1u - i;
  return layout_blocked_for(ctx, num_warps, t, &c);
}

const Layout *layout_share_registers(Context *ctx, const Layout *l, uint32_t stay, uint32_t lanes) {
  Layout r = *l;
  uint32_t reg = r.num_bits[LAYOUT_REG];
  const uint32_t first = layout_dim_start(l, LAYOUT_LANE);
  for (uint32_t i = 0; i < r.num_bits[LAYOUT_LANE] && reg > stay; i++) {
    if (!(lanes >> i & 1) || r.basis[first + i]) continue;
    r.basis[first + i] = r.basis[--reg];
    r.basis[reg] = 0;
  }
  return reg == l->num_bits[LAYOUT_REG] ? l : layout_drop_zero_regs(ctx, layout_intern(ctx, &r));
}
