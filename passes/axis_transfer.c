// The transfer function of the axis analysis, op by op: what is known of a result, from what is known of the operands.
#include "passes/axis_transfer.h"

#include "passes/axis_lattice.h"

// What holds of any function of two operands: it is constant where both are.
static AxisInfo function_info(const Op *op, const AxisInfo *x, const AxisInfo *y) {
  AxisInfo r = axis_unknown(op->results[0].type);
  for (uint32_t i = 0; i < r.rank; i++) r.constancy[i] = axis_gcd(x->constancy[i], y->constancy[i]);
  return r;
}

static AxisInfo add_like(const Op *op, const AxisInfo *x, const AxisInfo *y, int64_t y_scale, bool subtract) {
  const Type *t = op->results[0].type;
  AxisInfo r = function_info(op, x, y);
  for (uint32_t i = 0; i < r.rank; i++) {
    int64_t steps_x = axis_gcd(x->contiguity[i], y->constancy[i]);
    int64_t steps_y = subtract ? 1 : axis_gcd(x->constancy[i], y->contiguity[i]);
    r.contiguity[i] = max_i64(steps_x, steps_y);
    // Where only one operand counts up, the other is constant in the group: any of its elements is its first.
    int64_t c = r.contiguity[i];
    int64_t dx = steps_x == c ? axis_divisor_at(x, i, c) : axis_divisor_at(x, i, 1);
    int64_t dy = steps_x != c ? axis_divisor_at(y, i, c) : axis_divisor_at(y, i, 1);
    r.divisibility[i] = axis_gcd(dx, axis_mul(dy, y_scale));
  }
  if (op->opcode == OP_ADDPTR) {
    r.nonneg = true;
    return r;
  }
  r.nonneg = subtract ? false : x->nonneg && y->nonneg;
  if (subtract) axis_set_range(&r, t, (__int128)x->lo - y->hi, (__int128)x->hi - y->lo);
  else axis_set_range(&r, t, (__int128)x->lo + y->lo, (__int128)x->hi + y->hi);
  return r;
}

static AxisInfo mul_info(const Op *op, const AxisInfo *x, const AxisInfo *y) {
  const Type *t = op->results[0].type;
  AxisInfo r = function_info(op, x, y);
  int64_t k;
  for (uint32_t i = 0; i < r.rank; i++) {
    bool by_one_y = axis_known(y, &k) && k == 1, by_one_x = axis_known(x, &k) && k == 1;
    int64_t c = by_one_y ? x->contiguity[i] : by_one_x ? y->contiguity[i] : 1;
    r.contiguity[i] = c;
    r.divisibility[i] = by_one_y ? x->divisibility[i] : by_one_x ? y->divisibility[i]
                                 : axis_mul(axis_divisor_at(x, i, 1), axis_divisor_at(y, i, 1));
  }
  r.nonneg = x->nonneg && y->nonneg;
  __int128 p[4] = {(__int128)x->lo * y->lo, (__int128)x->lo * y->hi, (__int128)x->hi * y->lo, (__int128)x->hi * y->hi};
  __int128 lo = p[0], hi = p[0];
  for (uint32_t i = 1; i < 4; i++) {
    if (p[i] < lo) lo = p[i];
    if (p[i] > hi) hi = p[i];
  }
  axis_set_range(&r, t, lo, hi);
  return r;
}

// Whether rounding toward zero keeps aligned groups together, which it does unless numbers are negative. As in Triton,
// a number of which nothing is known counts as not negative: the sign of an index rarely can be proved.
static bool counts_as_nonneg(const AxisInfo *x, const Type *t) {
  const uint32_t bits = type_elem_bits(t);
  return x->nonneg || x->lo == (bits < 64 ? -(INT64_C(1) << (bits - 1)) : INT64_MIN);
}

// Signed and unsigned quotient.
static AxisInfo div_info(const Op *op, const AxisInfo *x, const AxisInfo *y) {
  const Type *t = op->results[0].type;
  AxisInfo r = function_info(op, x, y);
  if (op->opcode == OP_DIVUI && (x->lo < 0 || y->lo < 0)) return r;
  int64_t k;
  bool is_known = axis_known(y, &k) && k > 0;
  const bool by_one = is_known && k == 1, is_up = counts_as_nonneg(x, t);
  for (uint32_t i = 0; i < r.rank; i++) {
    if (by_one) {
      r.contiguity[i] = x->contiguity[i];
      r.divisibility[i] = x->divisibility[i];
      r.constancy[i] = x->constancy[i];
      continue;
    }
    // x counts up from a multiple of g, y is a multiple of g: g neighbours have one quotient.
    int64_t g =
        axis_gcd(axis_gcd(x->contiguity[i], y->constancy[i]), axis_gcd(x->divisibility[i], axis_divisor_at(y, i, 1)));
    if (is_up) r.constancy[i] = max_i64(r.constancy[i], g);
    if (is_known && is_pow2_u64((uint64_t)k) && x->contiguity[i] <= k && x->divisibility[i] > k &&
        (x->contiguity[i] == 1 || is_up))
      r.divisibility[i] = x->divisibility[i] / k;
  }
  r.nonneg = x->nonneg && y->nonneg;
  if (is_known && x->lo >= 0) axis_set_range(&r, t, x->lo / k, x->hi / k);
  else if (x->lo >= 0 && y->lo >= 1) axis_set_range(&r, t, 0, x->hi / y->lo);
  else if (is_known && op->opcode == OP_DIVSI) axis_set_range(&r, t, x->lo / k, x->hi / k);
  return r;
}

static AxisInfo rem_info(const Op *op, const AxisInfo *x, const AxisInfo *y) {
  const Type *t = op->results[0].type;
  AxisInfo r = function_info(op, x, y);
  for (uint32_t i = 0; i < r.rank; i++) {
    int64_t dy = axis_divisor_at(y, i, 1);
    int64_t c = axis_gcd(axis_gcd(x->contiguity[i], y->constancy[i]), axis_gcd(x->divisibility[i], dy));
    // A negative block that starts at a multiple of y is not contiguous (0, then -y + 1 …). As in Triton that is left
    // out of account: an index that wraps to negative numbers reads outside, and rarely can its sign be proved.
    r.contiguity[i] = c;
    r.divisibility[i] = axis_gcd(axis_divisor_at(x, i, r.contiguity[i]), dy);
  }
  r.nonneg = x->nonneg;
  bool is_unsigned = op->opcode == OP_REMUI;
  if (y->lo > 0 && (!is_unsigned || x->lo >= 0)) {
    int64_t most = y->hi - 1;
    axis_set_range(&r, t, x->lo >= 0 ? 0 : -(__int128)most,
                   x->hi >= 0 ? (x->lo >= 0 ? min_i64(most, x->hi) : most) : 0);
  } else if (y->lo > 0) {
    axis_set_range(&r, t, 0, y->hi - 1);
  }
  return r;
}

static AxisInfo shift_or_scale(const Op *op, const AxisInfo *x, const AxisInfo *y, uint32_t bits) {
  int64_t k;
  AxisInfo r = function_info(op, x, y);
  if (!axis_known(y, &k) || k < 0 || k >= bits - 1) return r;
  AxisInfo factor = axis_constant(op->results[0].type, (int64_t)1 << k);
  for (uint32_t i = 0; i < r.rank; i++) factor.constancy[i] = y->constancy[i];
  if (op->opcode == OP_SHLI) return mul_info(op, x, &factor);
  if (op->opcode == OP_SHRUI && x->lo < 0) return r;
  r = div_info(op, x, &factor);
  if (x->lo < 0) axis_set_range(&r, op->results[0].type, x->lo >> k, x->hi >> k);   // rounds down, not toward zero
  return r;
}

static AxisInfo bit_info(const Op *op, const AxisInfo *x, const AxisInfo *y) {
  const Type *t = op->results[0].type;
  AxisInfo r = function_info(op, x, y);
  int64_t k;
  for (uint32_t side = 0; op->opcode == OP_ANDI && type_elem_bits(t) > 1 && side < 2; side++) {
    const AxisInfo *mask = side ? x : y, *other = side ? y : x;
    if (axis_known(mask, &k) && k > 0 && k < AXIS_MAX_DIVISOR && is_pow2_u64((uint64_t)k + 1)) {
      // x & (2^n − 1) is the unsigned remainder by 2^n, for any sign of x.
      for (uint32_t i = 0; i < r.rank; i++) {
        r.contiguity[i] = axis_gcd(axis_gcd(other->contiguity[i], other->divisibility[i]), k + 1);
        r.divisibility[i] = axis_divisor_at(other, i, r.contiguity[i]);
        r.constancy[i] = other->constancy[i];
      }
      axis_set_range(&r, t, 0, k);
      return r;
    }
  }
  for (uint32_t i = 0; i < r.rank; i++) {
    int64_t dx = axis_divisor_at(x, i, 1), dy = axis_divisor_at(y, i, 1);
    r.divisibility[i] = op->opcode == OP_ANDI ? max_i64(dx, dy) : axis_gcd(dx, dy);
  }
  if (type_elem_bits(t) == 1) {
    // The shorter of two prefixes is one, and so is the longer.
    for (uint32_t i = 0; i < r.rank && op->opcode != OP_XORI; i++) r.prefix[i] = axis_gcd(x->prefix[i], y->prefix[i]);
  } else {
    if (op->opcode == OP_ANDI && (x->lo >= 0 || y->lo >= 0))
      axis_set_range(&r, t, 0, x->lo < 0 ? y->hi : y->lo < 0 ? x->hi : min_i64(x->hi, y->hi));
    else if (op->opcode != OP_ANDI && x->lo >= 0 && y->lo >= 0)
      axis_set_range(&r, t, 0, (__int128)axis_floor_pow2(max_i64(x->hi, y->hi)) * 2 - 1);
  }
  return r;
}

// Along which groups a comparison is constant. i < n changes at n: aligned groups of g do not straddle it when n and
// the groups' first numbers are multiples of g. Likewise n ≤ i. (i ≤ n changes after n, i == n twice.)
static AxisInfo cmp_info(const Op *op, const AxisInfo *x, const AxisInfo *y) {
  AxisInfo r = function_info(op, x, y);
  CmpPred pred = (CmpPred)op_int(op, ATTR_PRED, 0);
  bool left_counts = pred == CMP_SLT || pred == CMP_ULT || pred == CMP_SGE || pred == CMP_UGE;
  bool right_counts = pred == CMP_SGT || pred == CMP_UGT || pred == CMP_SLE || pred == CMP_ULE;
  for (uint32_t i = 0; i < r.rank; i++) {
    const AxisInfo *counts = left_counts ? x : y, *bound = left_counts ? y : x;
    if (!left_counts && !right_counts) break;
    // Of addresses a group of g spans g units.
    int64_t apart = max_i64(1, axis_gcd(counts->divisibility[i], axis_divisor_at(bound, i, 1)) / counts->unit);
    r.constancy[i] = max_i64(r.constancy[i], axis_gcd(axis_gcd(counts->contiguity[i], bound->constancy[i]), apart));
  }
  // i < n and i ≤ n are true at first, for signed numbers that do not overflow: an index.
  if (op->opcode == OP_CMPI && type_elem_bits(op_operand(op, 0)->type) >= 32)
    for (uint32_t i = 0; i < r.rank; i++) {
      if (pred == CMP_SLT || pred == CMP_SLE) r.prefix[i] = axis_gcd(x->contiguity[i], y->constancy[i]);
      if (pred == CMP_SGT || pred == CMP_SGE) r.prefix[i] = axis_gcd(y->contiguity[i], x->constancy[i]);
    }
  int result = -1;
  if (op->opcode != OP_CMPI || !type_is_int(op_operand(op, 0)->type) || type_elem_bits(op_operand(op, 0)->type) == 1)
    return r;
  switch (pred) {
    case CMP_SLT: result = x->hi < y->lo ? 1 : x->lo >= y->hi ? 0 : -1; break;
    case CMP_SLE: result = x->hi <= y->lo ? 1 : x->lo > y->hi ? 0 : -1; break;
    case CMP_SGT: result = x->lo > y->hi ? 1 : x->hi <= y->lo ? 0 : -1; break;
    case CMP_SGE: result = x->lo >= y->hi ? 1 : x->hi < y->lo ? 0 : -1; break;
    case CMP_EQ: result = x->hi < y->lo || x->lo > y->hi ? 0 : x->lo == x->hi && y->lo == y->hi ? 1 : -1; break;
    case CMP_NE: result = x->hi < y->lo || x->lo > y->hi ? 1 : x->lo == x->hi && y->lo == y->hi ? 0 : -1; break;
    default: break;
  }
  if (result >= 0) return axis_constant(op->results[0].type, result);
  return r;
}

static AxisInfo select_info(const Op *op, const AxisInfo *c, const AxisInfo *x, const AxisInfo *y) {
  int64_t chosen;
  if (axis_known(c, &chosen)) return chosen ? *x : *y;
  AxisInfo r = axis_join(x, y);
  bool scalar = c->rank != r.rank || op_operand(op, 0)->type->kind != TYPE_TENSOR;
  for (uint32_t i = 0; i < r.rank && !scalar; i++) {
    r.contiguity[i] = axis_gcd(r.contiguity[i], c->constancy[i]);
    r.constancy[i] = axis_gcd(r.constancy[i], c->constancy[i]);
    r.divisibility[i] = axis_gcd(axis_divisor_at(x, i, r.contiguity[i]), axis_divisor_at(y, i, r.contiguity[i]));
  }
  return r;
}

static AxisInfo minmax_info(const Op *op, const AxisInfo *x, const AxisInfo *y) {
  AxisInfo r = function_info(op, x, y);
  for (uint32_t i = 0; i < r.rank; i++)
    r.divisibility[i] = axis_gcd(axis_divisor_at(x, i, 1), axis_divisor_at(y, i, 1));
  bool is_min = op->opcode == OP_MINSI || op->opcode == OP_MINUI;
  bool is_signed = op->opcode == OP_MINSI || op->opcode == OP_MAXSI;
  if (type_elem_bits(op->results[0].type) == 1) return r;
  if (is_signed || (x->lo >= 0 && y->lo >= 0)) {
    if (is_min) axis_set_range(&r, op->results[0].type, min_i64(x->lo, y->lo), min_i64(x->hi, y->hi));
    else axis_set_range(&r, op->results[0].type, max_i64(x->lo, y->lo), max_i64(x->hi, y->hi));
  }
  r.nonneg = is_min ? x->nonneg && y->nonneg : is_signed ? x->nonneg || y->nonneg : x->nonneg && y->nonneg;
  return r;
}

static AxisInfo cast_info(const Op *op, const AxisInfo *x) {
  const Type *t = op->results[0].type;
  AxisInfo r = *x, u = function_info(op, x, x);
  const Type *from = op_operand(op, 0)->type;
  switch (op->opcode) {
    case OP_EXTSI:
      if (type_elem_bits(from) > 1) return r;
      axis_set_range(&u, t, -(__int128)x->hi, -(__int128)x->lo);
      return u;
    case OP_EXTUI:
      if (x->lo >= 0) return r;
      // −1 becomes the largest number: only groups that do not straddle zero still count up.
      for (uint32_t i = 0; i < r.rank; i++) {
        r.contiguity[i] = axis_gcd(x->contiguity[i], x->divisibility[i]);
        r.divisibility[i] = axis_divisor_at(x, i, r.contiguity[i]);
      }
      r.nonneg = true;
      r.lo = 0;
      r.hi = (int64_t)(((uint64_t)1 << type_elem_bits(from)) - 1);
      return r;
    case OP_TRUNCI:
      for (uint32_t i = 0; i < r.rank; i++) {
        int64_t wraps = (int64_t)1 << min_i64(type_elem_bits(t), 40);
        r.contiguity[i] = axis_gcd(axis_gcd(x->contiguity[i], x->divisibility[i]), wraps);
        r.divisibility[i] = axis_divisor_at(x, i, r.contiguity[i]);
      }
      axis_set_range(&r, t, x->lo, x->hi);
      return r;
    case OP_BITCAST:
      if (type_is_ptr(t) && type_is_ptr(from)) {
        bool same = type_elem_bits(type_elem(t)->elem) == type_elem_bits(type_elem(from)->elem);
        for (uint32_t i = 0; i < u.rank; i++) {
          u.contiguity[i] = same ? x->contiguity[i] : 1;
          u.divisibility[i] = same ? x->divisibility[i] : axis_divisor_at(x, i, 1);
        }
      }
      return u;
    default:
      if (op->opcode == OP_INTTOPTR || op->opcode == OP_PTRTOINT)
        for (uint32_t i = 0; i < u.rank; i++) u.divisibility[i] = axis_divisor_at(x, i, 1);
      return u;
  }
}

static void copy_axis(AxisInfo *r, uint32_t i, const AxisInfo *x, uint32_t j) {
  r->contiguity[i] = x->contiguity[j];
  r->divisibility[i] = x->divisibility[j];
  r->constancy[i] = x->constancy[j];
  r->prefix[i] = x->prefix[j];
}

static AxisInfo shape_info(const Op *op, const AxisInfo *x) {
  const Type *t = op->results[0].type, *from = op_operand(op, 0)->type;
  AxisInfo r = axis_unknown(t);
  r.lo = x->lo;
  r.hi = x->hi;
  r.nonneg = x->nonneg;
  switch (op->opcode) {
    case OP_SPLAT:
      for (uint32_t i = 0; i < r.rank; i++) {
        r.constancy[i] = t->shape[i];
        r.divisibility[i] = x->divisibility[0];
      }
      break;
    case OP_BROADCAST:
      for (uint32_t i = 0; i < r.rank; i++) {
        copy_axis(&r, i, x, i);
        if (from->shape[i] == t->shape[i]) continue;
        r.contiguity[i] = 1;
        r.constancy[i] = r.prefix[i] = t->shape[i];
      }
      break;
    case OP_EXPAND_DIMS: {
      uint32_t axis = (uint32_t)op_int(op, ATTR_AXIS, 0);
      r.divisibility[axis] = AXIS_MAX_DIVISOR;      // what divides every element
      for (uint32_t i = 0; i < x->rank; i++) {
        r.divisibility[axis] = axis_gcd(r.divisibility[axis], axis_divisor_at(x, i, 1));
        copy_axis(&r, i < axis ? i : i + 1, x, i);
      }
      break;
    }
    case OP_TRANS:
      for (uint32_t i = 0; i < r.rank; i++) copy_axis(&r, i, x, (uint32_t)op_attr(op, ATTR_ORDER)->ints[i]);
      break;
    case OP_RESHAPE: {
      if (op_int(op, ATTR_REORDER, 0) || from->kind != TYPE_TENSOR || t->kind != TYPE_TENSOR) {
        if (x->lo == x->hi) r = axis_constant(t, x->lo);
        break;
      }
      // Along the last axes, runs of x's last axis stay runs.
      uint32_t last_r = r.rank - 1u, last_x = x->rank - 1u;
      r.contiguity[last_r] = axis_gcd(x->contiguity[last_x], t->shape[last_r]);
      r.constancy[last_r] = axis_gcd(x->constancy[last_x], t->shape[last_r]);
      r.prefix[last_r] = axis_gcd(x->prefix[last_x], t->shape[last_r]);
      r.divisibility[last_r] = axis_divisor_at(x, last_x, r.contiguity[last_r]);
      break;
    }
    default: break;
  }
  return r;
}

// Number of the largest launchable grid on an axis.
static int64_t grid_limit(int64_t axis) { return axis == 0 ? INT32_MAX : 65535; }

static AxisInfo range_info(const Op *op) {
  const Type *t = op->results[0].type;
  AxisInfo r = axis_unknown(t);
  int64_t start = op_int(op, ATTR_START, 0), end = op_int(op, ATTR_END, 0);
  if (end - start == 1) return axis_constant(t, start);
  r.contiguity[0] = axis_floor_pow2(t->shape[0]);
  r.divisibility[0] = axis_pow2_divisor(start);
  axis_set_range(&r, t, start, end - 1);
  return r;
}

// Promises (hint) replace what is known less well.
static void apply_promises(const Op *op, AxisInfo *r) {
  static const AttrKey keys[] = {ATTR_CONTIGUITY, ATTR_DIVISIBILITY, ATTR_CONSTANCY};
  int64_t *const fields[] = {r->contiguity, r->divisibility, r->constancy};
  for (uint32_t k = 0; k < countof(keys); k++) {
    const Attr *a = op_attr(op, keys[k]);
    if (!a) continue;
    for (uint32_t i = 0; i < r->rank && i < a->num_ints; i++)
      fields[k][i] = max_i64(fields[k][i], keys[k] == ATTR_DIVISIBILITY ? axis_pow2_divisor(a->ints[i])
                                                                        : axis_floor_pow2(a->ints[i]));
  }
}

static AxisInfo constant_info(const Op *op) {
  const Type *t = op->results[0].type;
  if (!type_is_int(t)) {
    AxisInfo r = axis_unknown(t);
    for (uint32_t i = 0; i < r.rank; i++) r.constancy[i] = axis_size(t, i);
    return r;
  }
  int64_t v = 0;
  value_constant_int(&op->results[0], &v);
  return axis_constant(t, type_elem_bits(t) == 1 ? v & 1 : v);
}

static AxisInfo grid_info(const Op *op) {
  AxisInfo r = axis_unknown(op->results[0].type);
  int64_t most = grid_limit(op_int(op, ATTR_AXIS, 0)), is_count = op->opcode == OP_NUM_PROGRAMS;
  axis_set_range(&r, op->results[0].type, is_count, most - !is_count);
  return r;
}

static AxisInfo rank_info(const Op *op) {
  AxisInfo r = axis_unknown(op->results[0].type);
  axis_set_range(&r, op->results[0].type, 0, (int64_t)op->parent->func->module->num_ctas - 1);
  return r;
}

static AxisInfo hint_info(const Op *op, const AxisInfo *x) {
  AxisInfo r = *x;
  apply_promises(op, &r);
  if (type_is_int(op->results[0].type)) axis_set_range(&r, op->results[0].type, r.lo, r.hi);
  return r;
}

// Any function of equal elements has equal elements.
static AxisInfo other_info(const Op *op, uint32_t index, const AxisInfo *const *x) {
  const Type *t = op->results[index].type;
  AxisInfo r = axis_unknown(t);
  bool elementwise = op_is(op, TRAIT_ELEMENTWISE);
  if (!(elementwise || op->opcode == OP_LOAD) || t->kind != TYPE_TENSOR) return r;
  for (uint32_t i = 0; i < r.rank; i++) r.constancy[i] = axis_size(t, i);
  for (uint32_t k = 0; k < op->num_operands; k++)
    for (uint32_t i = 0; i < r.rank && x[k] && op_operand(op, k)->type->kind == TYPE_TENSOR; i++)
      r.constancy[i] = axis_gcd(r.constancy[i], x[k]->constancy[i]);
  return r;
}

static AxisInfo transfer(const Op *op, uint32_t index, const AxisInfo *const *x) {
  switch (op->opcode) {
    case OP_CONSTANT: return constant_info(op);
    case OP_PROGRAM_ID: case OP_NUM_PROGRAMS: return grid_info(op);
    case OP_BLOCK_RANK: return rank_info(op);
    case OP_RANGE: return range_info(op);
    case OP_SPLAT: case OP_BROADCAST: case OP_EXPAND_DIMS: case OP_TRANS: case OP_RESHAPE: return shape_info(op, x[0]);
    case OP_CONVERT_LAYOUT: return *x[0];
    case OP_HINT: return hint_info(op, x[0]);
    case OP_ADDI: return add_like(op, x[0], x[1], 1, false);
    case OP_SUBI: return add_like(op, x[0], x[1], 1, true);
    case OP_ADDPTR: return add_like(op, x[0], x[1], type_elem_bytes(type_elem(op->results[0].type)->elem), false);
    case OP_MULI: return mul_info(op, x[0], x[1]);
    case OP_DIVSI: case OP_DIVUI: return div_info(op, x[0], x[1]);
    case OP_REMSI: case OP_REMUI: return rem_info(op, x[0], x[1]);
    case OP_SHLI:
    case OP_SHRSI:
    case OP_SHRUI: return shift_or_scale(op, x[0], x[1], type_elem_bits(op->results[0].type));
    case OP_ANDI: case OP_ORI: case OP_XORI: return bit_info(op, x[0], x[1]);
    case OP_CMPI: case OP_CMPF: return cmp_info(op, x[0], x[1]);
    case OP_SELECT: return select_info(op, x[0], x[1], x[2]);
    case OP_MINSI: case OP_MAXSI: case OP_MINUI: case OP_MAXUI: return minmax_info(op, x[0], x[1]);
    case OP_EXTSI: case OP_EXTUI: case OP_TRUNCI: case OP_BITCAST: case OP_INTTOPTR: case OP_PTRTOINT:
      return cast_info(op, x[0]);
    default: return other_info(op, index, x);
  }
}

AxisInfo axis_transfer(const Op *op, uint32_t index, const AxisInfo *const *x) {
  AxisInfo r = transfer(op, index, x);
  for (uint32_t i = 0; i < r.rank; i++) r.prefix[i] = max_i64(r.prefix[i], r.constancy[i]);
  return r;
}
