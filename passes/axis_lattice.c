// The facts of the axis analysis as a lattice: see axis_lattice.h.
#include "passes/axis_lattice.h"

#include <string.h>

// ---- numbers ----

// The smaller of two powers of two divides the other.
int64_t axis_gcd(int64_t x, int64_t y) { return min_i64(x, y); }
int64_t axis_mul(int64_t x, int64_t y) { return x > AXIS_MAX_DIVISOR / y ? AXIS_MAX_DIVISOR : x * y; }
int64_t axis_pow2_divisor(int64_t x) {
  return x % AXIS_MAX_DIVISOR == 0 ? AXIS_MAX_DIVISOR : (int64_t)((uint64_t)x & -(uint64_t)x);
}
int64_t axis_floor_pow2(int64_t x) { return x <= 1 ? 1 : (int64_t)1 << (63 - __builtin_clzll((unsigned long long)x)); }

static int64_t type_min(const Type *t) {
  uint32_t b = type_elem_bits(t);
  return b == 1 ? 0 : b >= 64 ? INT64_MIN : -((int64_t)1 << (b - 1));
}
static int64_t type_max(const Type *t) {
  uint32_t b = type_elem_bits(t);
  return b == 1 ? 1 : b >= 64 ? INT64_MAX : ((int64_t)1 << (b - 1)) - 1;
}

// ---- asking infos ----

int64_t axis_divisor_at(const AxisInfo *x, uint32_t axis, int64_t size) {
  return size >= x->contiguity[axis] ? x->divisibility[axis] : axis_gcd(x->divisibility[axis], size * x->unit);
}

bool axis_known(const AxisInfo *x, int64_t *number) {
  *number = x->lo;
  return x->lo == x->hi;
}

// ---- making infos ----

static uint8_t rank_of(const Type *t) { return t->kind == TYPE_TENSOR ? t->rank : 1; }
int axis_of_operand(const Op *op, uint32_t axis) {
  const Type *from = op->operands[0].value->type, *to = op->results[0].type;
  if (op->opcode == OP_TRANS) return (int)op_attr(op, ATTR_ORDER)->ints[axis];
  if (op->opcode == OP_BROADCAST) return from->shape[axis] == to->shape[axis] ? (int)axis : -1;
  const uint32_t added = (uint32_t)op_int(op, ATTR_AXIS, 0);
  return axis == added ? -1 : (int)(axis - (axis > added));
}

int64_t axis_size(const Type *t, uint32_t a) { return t->kind == TYPE_TENSOR ? t->shape[a] : 1; }

AxisInfo axis_unknown(const Type *t) {
  AxisInfo x;
  memset(&x, 0, sizeof x);      // compared bytewise
  x.rank = rank_of(t);
  for (uint32_t i = 0; i < x.rank; i++) x.contiguity[i] = x.divisibility[i] = x.constancy[i] = x.prefix[i] = 1;
  x.lo = INT64_MIN;
  x.hi = INT64_MAX;
  x.unit = type_is_ptr(t) ? (uint8_t)type_elem_bytes(type_elem(t)->elem) : 1;
  if (type_is_int(t)) {
    x.lo = type_min(t);
    x.hi = type_max(t);
  }
  x.nonneg = x.lo >= 0;
  return x;
}

AxisInfo axis_constant(const Type *t, int64_t v) {
  AxisInfo x = axis_unknown(t);
  for (uint32_t i = 0; i < x.rank; i++) {
    x.constancy[i] = x.prefix[i] = axis_size(t, i);
    x.divisibility[i] = axis_pow2_divisor(v);
  }
  x.lo = x.hi = v;
  x.nonneg = v >= 0;
  return x;
}

void axis_set_range(AxisInfo *x, const Type *t, __int128 lo, __int128 hi) {
  if (lo < type_min(t) || hi > type_max(t)) {
    x->lo = type_min(t);
    x->hi = type_max(t);
  } else {
    x->lo = (int64_t)lo;
    x->hi = (int64_t)hi;
  }
  int64_t d = AXIS_MAX_DIVISOR;
  for (uint32_t i = 0; i < x->rank; i++) d = axis_gcd(d, axis_divisor_at(x, i, 1));
  if (d > 1 && d < AXIS_MAX_DIVISOR && x->lo < x->hi) {
    int64_t hi_down = x->hi & ~(d - 1);
    int64_t lo_up = x->lo > INT64_MAX - d ? x->lo : (x->lo + d - 1) & ~(d - 1);
    if (lo_up <= hi_down) {
      x->lo = lo_up;
      x->hi = hi_down;
    }
  }
  if (x->lo >= 0) x->nonneg = true;
}

AxisInfo axis_join(const AxisInfo *x, const AxisInfo *y) {
  AxisInfo r = *x;
  for (uint32_t i = 0; i < r.rank; i++) {
    r.contiguity[i] = axis_gcd(x->contiguity[i], y->contiguity[i]);
    r.divisibility[i] = axis_gcd(axis_divisor_at(x, i, r.contiguity[i]), axis_divisor_at(y, i, r.contiguity[i]));
    r.constancy[i] = axis_gcd(x->constancy[i], y->constancy[i]);
    r.prefix[i] = axis_gcd(x->prefix[i], y->prefix[i]);
  }
  r.lo = min_i64(x->lo, y->lo);
  r.hi = max_i64(x->hi, y->hi);
  r.nonneg = x->nonneg && y->nonneg;
  return r;
}
