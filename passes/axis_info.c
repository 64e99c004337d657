// Forward analysis of divisibility, contiguity, constancy and range: see axis_info.h.
#include "passes/axis_info.h"

#include <string.h>

#include "ir/num.h"

// What is assumed of a value besides what is computed: every element is in lo … hi and a multiple of `divisor`.
typedef struct { int64_t lo, hi, divisor; } Fact;
typedef struct { const Value *key; const AxisInfo *info; const Fact *fact; } Slot;
struct AxisAnalysis {
  Context *ctx;
  Slot *slots;
  uint32_t capacity, count;
  bool changed, widen;       // of the running sweep
};

// ---- table ----

static uint32_t hash_pointer(const void *p) {
  uint64_t x = (uint64_t)(uintptr_t)p >> 4;
  return (uint32_t)((x * 0x9E3779B97F4A7C15ull) >> 32);
}

// The slot of v, or the empty one where it goes. The table is never full.
static Slot *find_slot(AxisAnalysis *a, const Value *v) {
  if ((a->count + 1) * 2 > a->capacity) {
    Slot *old = a->slots;
    uint32_t n = a->capacity;
    a->capacity = n ? n * 2 : 256;
    a->slots = arena_array(&a->ctx->arena, Slot, a->capacity);
    for (uint32_t i = 0; i < n; i++)
      if (old[i].key) *find_slot(a, old[i].key) = old[i];
  }
  for (uint32_t i = hash_pointer(v) & (a->capacity - 1);; i = (i + 1) & (a->capacity - 1))
    if (!a->slots[i].key || a->slots[i].key == v) return &a->slots[i];
}

static Slot *make_slot(AxisAnalysis *a, const Value *v) {
  Slot *s = find_slot(a, v);
  a->count += !s->key;
  s->key = v;
  return s;
}

static void set_info(AxisAnalysis *a, const Value *v, const AxisInfo *info) {
  Slot *s = make_slot(a, v);
  AxisInfo r = *info;
  if (s->fact && s->fact->lo <= r.hi && s->fact->hi >= r.lo) {
    r.lo = max_i64(r.lo, s->fact->lo);
    r.hi = min_i64(r.hi, s->fact->hi);
    r.nonneg |= r.lo >= 0;
    for (uint32_t i = 0; i < r.rank; i++)
      if (r.contiguity[i] == 1) r.divisibility[i] = max_i64(r.divisibility[i], s->fact->divisor);
  }
  if (s->info && !memcmp(s->info, &r, sizeof r)) return;
  AxisInfo *copy = arena_new(&a->ctx->arena, AxisInfo);
  *copy = r;
  s->info = copy;
  a->changed = true;
}

static const AxisInfo *get_info(AxisAnalysis *a, const Value *v) { return find_slot(a, v)->info; }

static void add_fact(AxisAnalysis *a, const Value *v, Fact f) {
  Slot *s = make_slot(a, v);
  Fact *copy = arena_new(&a->ctx->arena, Fact);
  *copy = f;
  if (s->fact) {
    copy->lo = max_i64(f.lo, s->fact->lo);
    copy->hi = min_i64(f.hi, s->fact->hi);
    copy->divisor = max_i64(f.divisor, s->fact->divisor);
  }
  s->fact = copy;
}

// ---- numbers ----

// Powers of two, so the greatest common divisor is the smaller one.
static int64_t gcd2(int64_t x, int64_t y) { return min_i64(x, y); }
static int64_t mul2(int64_t x, int64_t y) { return x > AXIS_MAX_DIVISOR / y ? AXIS_MAX_DIVISOR : x * y; }
static int64_t pow2_divisor(int64_t x) { return x == 0 ? AXIS_MAX_DIVISOR : min_i64(AXIS_MAX_DIVISOR, (int64_t)((uint64_t)x & -(uint64_t)x)); }
static int64_t floor_pow2(int64_t x) { return x <= 1 ? 1 : (int64_t)1 << (63 - __builtin_clzll((unsigned long long)x)); }

static uint32_t int_bits(const Type *t) { return type_elem_bits(t); }
static int64_t type_min(const Type *t) {
  uint32_t b = int_bits(t);
  return b == 1 ? 0 : b >= 64 ? INT64_MIN : -((int64_t)1 << (b - 1));
}
static int64_t type_max(const Type *t) {
  uint32_t b = int_bits(t);
  return b == 1 ? 1 : b >= 64 ? INT64_MAX : ((int64_t)1 << (b - 1)) - 1;
}

int64_t axis_divisor_at(const AxisInfo *x, uint32_t axis, int64_t size) {
  return size >= x->contiguity[axis] ? x->divisibility[axis] : gcd2(x->divisibility[axis], size * x->unit);
}

bool axis_known(const AxisInfo *x, int64_t *number) {
  *number = x->lo;
  return x->lo == x->hi;
}

// ---- making infos ----

static uint8_t rank_of(const Type *t) { return t->kind == TYPE_TENSOR ? t->rank : 1; }
static int64_t dim_of(const Type *t, uint32_t a) { return t->kind == TYPE_TENSOR ? t->shape[a] : 1; }

static AxisInfo unknown(const Type *t) {
  AxisInfo x;
  memset(&x, 0, sizeof x);      // compared bytewise
  x.rank = rank_of(t);
  for (uint32_t i = 0; i < x.rank; i++) x.contiguity[i] = x.divisibility[i] = x.constancy[i] = 1;
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

static AxisInfo known(const Type *t, int64_t v) {
  AxisInfo x = unknown(t);
  for (uint32_t i = 0; i < x.rank; i++) {
    x.constancy[i] = dim_of(t, i);
    x.divisibility[i] = pow2_divisor(v);
  }
  x.lo = x.hi = v;
  x.nonneg = v >= 0;
  return x;
}

// Clamps to the type when the exact bounds may leave it (then anything goes), then to multiples of the divisor that all
// elements share.
static void set_range(AxisInfo *x, const Type *t, __int128 lo, __int128 hi) {
  if (lo < type_min(t) || hi > type_max(t)) {
    x->lo = type_min(t);
    x->hi = type_max(t);
  } else {
    x->lo = (int64_t)lo;
    x->hi = (int64_t)hi;
  }
  int64_t d = AXIS_MAX_DIVISOR;
  for (uint32_t i = 0; i < x->rank; i++) d = gcd2(d, axis_divisor_at(x, i, 1));
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

static AxisInfo join(const AxisInfo *x, const AxisInfo *y) {
  AxisInfo r = *x;
  for (uint32_t i = 0; i < r.rank; i++) {
    r.contiguity[i] = gcd2(x->contiguity[i], y->contiguity[i]);
    r.divisibility[i] = gcd2(axis_divisor_at(x, i, r.contiguity[i]), axis_divisor_at(y, i, r.contiguity[i]));
    r.constancy[i] = gcd2(x->constancy[i], y->constancy[i]);
  }
  r.lo = min_i64(x->lo, y->lo);
  r.hi = max_i64(x->hi, y->hi);
  r.nonneg = x->nonneg && y->nonneg;
  return r;
}

static void common_constancy(AxisInfo *r, const AxisInfo *x, const AxisInfo *y) {
  for (uint32_t i = 0; i < r->rank; i++) r->constancy[i] = gcd2(x->constancy[i], y->constancy[i]);
}

// ---- transfer functions ----

static AxisInfo add_like(const Op *op, const AxisInfo *x, const AxisInfo *y, int64_t y_scale, bool subtract) {
  const Type *t = op->results[0].type;
  AxisInfo r = unknown(t);
  common_constancy(&r, x, y);
  for (uint32_t i = 0; i < r.rank; i++) {
    int64_t steps_x = gcd2(x->contiguity[i], y->constancy[i]);
    int64_t steps_y = subtract ? 1 : gcd2(x->constancy[i], y->contiguity[i]);
    r.contiguity[i] = max_i64(steps_x, steps_y);
    // Where only one operand counts up, the other is constant in the group: any of its elements is its first.
    int64_t c = r.contiguity[i];
    int64_t dx = steps_x == c ? axis_divisor_at(x, i, c) : axis_divisor_at(x, i, 1);
    int64_t dy = steps_x != c ? axis_divisor_at(y, i, c) : axis_divisor_at(y, i, 1);
    r.divisibility[i] = gcd2(dx, mul2(dy, y_scale));
  }
  if (op->opcode == OP_ADDPTR) {
    r.nonneg = true;
    return r;
  }
  r.nonneg = subtract ? false : x->nonneg && y->nonneg;
  if (subtract) set_range(&r, t, (__int128)x->lo - y->hi, (__int128)x->hi - y->lo);
  else set_range(&r, t, (__int128)x->lo + y->lo, (__int128)x->hi + y->hi);
  return r;
}

static AxisInfo mul_info(const Op *op, const AxisInfo *x, const AxisInfo *y) {
  const Type *t = op->results[0].type;
  AxisInfo r = unknown(t);
  common_constancy(&r, x, y);
  int64_t k;
  for (uint32_t i = 0; i < r.rank; i++) {
    bool by_one_y = axis_known(y, &k) && k == 1, by_one_x = axis_known(x, &k) && k == 1;
    int64_t c = by_one_y ? x->contiguity[i] : by_one_x ? y->contiguity[i] : 1;
    r.contiguity[i] = c;
    r.divisibility[i] = by_one_y ? x->divisibility[i] : by_one_x ? y->divisibility[i]
                                 : mul2(axis_divisor_at(x, i, 1), axis_divisor_at(y, i, 1));
  }
  r.nonneg = x->nonneg && y->nonneg;
  __int128 p[4] = {(__int128)x->lo * y->lo, (__int128)x->lo * y->hi, (__int128)x->hi * y->lo, (__int128)x->hi * y->hi};
  __int128 lo = p[0], hi = p[0];
  for (uint32_t i = 1; i < 4; i++) {
    if (p[i] < lo) lo = p[i];
    if (p[i] > hi) hi = p[i];
  }
  set_range(&r, t, lo, hi);
  return r;
}

// Signed and unsigned quotient. Rounding toward zero keeps aligned groups together only when numbers are not negative, or
// when a group does not straddle zero, which aligned groups do not.
static AxisInfo div_info(const Op *op, const AxisInfo *x, const AxisInfo *y) {
  const Type *t = op->results[0].type;
  AxisInfo r = unknown(t);
  common_constancy(&r, x, y);
  int64_t k;
  bool is_known = axis_known(y, &k) && k > 0;
  bool by_one = is_known && k == 1;
  for (uint32_t i = 0; i < r.rank; i++) {
    if (by_one) {
      r.contiguity[i] = x->contiguity[i];
      r.divisibility[i] = x->divisibility[i];
      r.constancy[i] = x->constancy[i];
      continue;
    }
    // x counts up from a multiple of g, y is a multiple of g: g neighbours have one quotient (x not negative).
    int64_t g = gcd2(gcd2(x->contiguity[i], y->constancy[i]), gcd2(x->divisibility[i], axis_divisor_at(y, i, 1)));
    if (x->nonneg) r.constancy[i] = max_i64(r.constancy[i], g);
    if (is_known && is_pow2_u64((uint64_t)k) && x->contiguity[i] <= k && x->divisibility[i] > k && (x->contiguity[i] == 1 || x->nonneg))
      r.divisibility[i] = x->divisibility[i] / k;
  }
  r.nonneg = x->nonneg && y->nonneg;
  if (is_known && x->lo >= 0) set_range(&r, t, x->lo / k, x->hi / k);
  else if (x->lo >= 0 && y->lo >= 1) set_range(&r, t, 0, x->hi / y->lo);
  else if (is_known && op->opcode == OP_DIVSI) set_range(&r, t, x->lo / k, x->hi / k);
  return r;
}

static AxisInfo rem_info(const Op *op, const AxisInfo *x, const AxisInfo *y) {
  const Type *t = op->results[0].type;
  AxisInfo r = unknown(t);
  common_constancy(&r, x, y);
  for (uint32_t i = 0; i < r.rank; i++) {
    int64_t dy = axis_divisor_at(y, i, 1);
    int64_t c = gcd2(gcd2(x->contiguity[i], y->constancy[i]), gcd2(x->divisibility[i], dy));
    // A negative block that starts at a multiple of y is not contiguous (0, then -y + 1 …). As in Triton that is left out of
    // account: an index that wraps to negative numbers reads outside, and rarely can its sign be proved.
    r.contiguity[i] = c;
    r.divisibility[i] = gcd2(axis_divisor_at(x, i, r.contiguity[i]), dy);
  }
  r.nonneg = x->nonneg;
  bool is_unsigned = op->opcode == OP_REMUI;
  if (y->lo > 0 && (!is_unsigned || x->lo >= 0)) {
    int64_t most = y->hi - 1;
    set_range(&r, t, x->lo >= 0 ? 0 : -(__int128)most, x->hi >= 0 ? (x->lo >= 0 ? min_i64(most, x->hi) : most) : 0);
  } else if (y->lo > 0) {
    set_range(&r, t, 0, y->hi - 1);
  }
  return r;
}

static AxisInfo shift_or_scale(const Op *op, const AxisInfo *x, const AxisInfo *y, uint32_t bits) {
  int64_t k;
  AxisInfo r = unknown(op->results[0].type);
  if (!axis_known(y, &k) || k < 0 || k >= bits - 1) {
    common_constancy(&r, x, y);
    return r;
  }
  AxisInfo factor = known(op->results[0].type, (int64_t)1 << k);
  for (uint32_t i = 0; i < r.rank; i++) factor.constancy[i] = y->constancy[i];
  if (op->opcode == OP_SHLI) return mul_info(op, x, &factor);
  if (op->opcode == OP_SHRUI && x->lo < 0) {
    common_constancy(&r, x, y);
    return r;
  }
  r = div_info(op, x, &factor);
  if (x->lo < 0) set_range(&r, op->results[0].type, x->lo >> k, x->hi >> k);   // rounds down, not toward zero
  return r;
}

static AxisInfo bit_info(const Op *op, const AxisInfo *x, const AxisInfo *y) {
  const Type *t = op->results[0].type;
  AxisInfo r = unknown(t);
  int64_t k;
  for (uint32_t side = 0; op->opcode == OP_ANDI && side < 2; side++) {
    const AxisInfo *mask = side ? x : y, *other = side ? y : x;
    if (axis_known(mask, &k) && k > 0 && k < AXIS_MAX_DIVISOR && is_pow2_u64((uint64_t)k + 1)) {
      // x & (2^n − 1) is the unsigned remainder by 2^n, for any sign of x.
      for (uint32_t i = 0; i < r.rank; i++) {
        r.contiguity[i] = gcd2(gcd2(other->contiguity[i], other->divisibility[i]), k + 1);
        r.divisibility[i] = axis_divisor_at(other, i, r.contiguity[i]);
        r.constancy[i] = other->constancy[i];
      }
      set_range(&r, t, 0, k);
      return r;
    }
  }
  common_constancy(&r, x, y);
  for (uint32_t i = 0; i < r.rank; i++) {
    int64_t dx = axis_divisor_at(x, i, 1), dy = axis_divisor_at(y, i, 1);
    r.divisibility[i] = op->opcode == OP_ANDI ? max_i64(dx, dy) : gcd2(dx, dy);
  }
  if (int_bits(t) > 1) {
    if (op->opcode == OP_ANDI && (x->lo >= 0 || y->lo >= 0))
      set_range(&r, t, 0, x->lo < 0 ? y->hi : y->lo < 0 ? x->hi : min_i64(x->hi, y->hi));
    else if (op->opcode != OP_ANDI && x->lo >= 0 && y->lo >= 0)
      set_range(&r, t, 0, (__int128)floor_pow2(max_i64(x->hi, y->hi)) * 2 - 1);
  }
  return r;
}

// Along which groups a comparison is constant. i < n changes at n: aligned groups of g do not straddle it when n and the
// groups' first numbers are multiples of g. Likewise n ≤ i. (i ≤ n changes after n, i == n twice.)
static AxisInfo cmp_info(const Op *op, const AxisInfo *x, const AxisInfo *y) {
  AxisInfo r = unknown(op->results[0].type);
  common_constancy(&r, x, y);
  CmpPred pred = (CmpPred)op_int(op, ATTR_PRED, 0);
  bool left_counts = pred == CMP_SLT || pred == CMP_ULT || pred == CMP_SGE || pred == CMP_UGE;
  bool right_counts = pred == CMP_SGT || pred == CMP_UGT || pred == CMP_SLE || pred == CMP_ULE;
  for (uint32_t i = 0; i < r.rank; i++) {
    const AxisInfo *counts = left_counts ? x : y, *bound = left_counts ? y : x;
    if (!left_counts && !right_counts) break;
    int64_t g = gcd2(gcd2(counts->contiguity[i], bound->constancy[i]), gcd2(counts->divisibility[i], axis_divisor_at(bound, i, 1)));
    r.constancy[i] = max_i64(r.constancy[i], g);
  }
  int result = -1;
  if (op->opcode != OP_CMPI || !type_is_int(op_operand(op, 0)->type) || int_bits(op_operand(op, 0)->type) == 1) return r;
  switch (pred) {
    case CMP_SLT: result = x->hi < y->lo ? 1 : x->lo >= y->hi ? 0 : -1; break;
    case CMP_SLE: result = x->hi <= y->lo ? 1 : x->lo > y->hi ? 0 : -1; break;
    case CMP_SGT: result = x->lo > y->hi ? 1 : x->hi <= y->lo ? 0 : -1; break;
    case CMP_SGE: result = x->lo >= y->hi ? 1 : x->hi < y->lo ? 0 : -1; break;
    default: break;
  }
  if (result >= 0) return known(op->results[0].type, result);
  return r;
}

static AxisInfo select_info(const Op *op, const AxisInfo *c, const AxisInfo *x, const AxisInfo *y) {
  AxisInfo r = join(x, y);
  bool scalar = c->rank != r.rank || op_operand(op, 0)->type->kind != TYPE_TENSOR;
  for (uint32_t i = 0; i < r.rank && !scalar; i++) {
    r.contiguity[i] = gcd2(r.contiguity[i], c->constancy[i]);
    r.constancy[i] = gcd2(r.constancy[i], c->constancy[i]);
    r.divisibility[i] = gcd2(axis_divisor_at(x, i, r.contiguity[i]), axis_divisor_at(y, i, r.contiguity[i]));
  }
  return r;
}

static AxisInfo minmax_info(const Op *op, const AxisInfo *x, const AxisInfo *y) {
  AxisInfo r = unknown(op->results[0].type);
  common_constancy(&r, x, y);
  for (uint32_t i = 0; i < r.rank; i++) r.divisibility[i] = gcd2(axis_divisor_at(x, i, 1), axis_divisor_at(y, i, 1));
  bool is_min = op->opcode == OP_MINSI || op->opcode == OP_MINUI;
  bool is_signed = op->opcode == OP_MINSI || op->opcode == OP_MAXSI;
  if (int_bits(op->results[0].type) == 1) return r;
  if (is_signed || (x->lo >= 0 && y->lo >= 0)) {
    if (is_min) set_range(&r, op->results[0].type, min_i64(x->lo, y->lo), min_i64(x->hi, y->hi));
    else set_range(&r, op->results[0].type, max_i64(x->lo, y->lo), max_i64(x->hi, y->hi));
  }
  r.nonneg = is_min ? x->nonneg && y->nonneg : is_signed ? x->nonneg || y->nonneg : x->nonneg && y->nonneg;
  return r;
}

static AxisInfo cast_info(const Op *op, const AxisInfo *x) {
  const Type *t = op->results[0].type;
  AxisInfo r = *x;
  const Type *from = op_operand(op, 0)->type;
  switch (op->opcode) {
    case OP_EXTSI: {
      if (int_bits(from) > 1) return r;
      AxisInfo u = unknown(t);
      memcpy(u.constancy, x->constancy, sizeof u.constancy);
      set_range(&u, t, -(__int128)x->hi, -(__int128)x->lo);
      return u;
    }
    case OP_EXTUI:
      if (x->lo >= 0) return r;
      // −1 becomes the largest number: only groups that do not straddle zero still count up.
      for (uint32_t i = 0; i < r.rank; i++) {
        r.contiguity[i] = gcd2(x->contiguity[i], x->divisibility[i]);
        r.divisibility[i] = axis_divisor_at(x, i, r.contiguity[i]);
      }
      r.nonneg = true;
      r.lo = 0;
      r.hi = (int64_t)(((uint64_t)1 << int_bits(from)) - 1);
      return r;
    case OP_TRUNCI:
      for (uint32_t i = 0; i < r.rank; i++) {
        int64_t wraps = (int64_t)1 << min_i64(int_bits(t), 40);
        r.contiguity[i] = gcd2(gcd2(x->contiguity[i], x->divisibility[i]), wraps);
        r.divisibility[i] = axis_divisor_at(x, i, r.contiguity[i]);
      }
      set_range(&r, t, x->lo, x->hi);
      return r;
    case OP_BITCAST: {
      AxisInfo u = unknown(t);
      memcpy(u.constancy, x->constancy, sizeof u.constancy);
      if (type_is_ptr(t) && type_is_ptr(from)) {
        bool same = int_bits(type_elem(t)->elem) == int_bits(type_elem(from)->elem);
        for (uint32_t i = 0; i < u.rank; i++) {
          u.contiguity[i] = same ? x->contiguity[i] : 1;
          int64_t bytes = type_elem_bytes(type_elem(from)->elem);
          u.divisibility[i] = same ? x->divisibility[i] : x->contiguity[i] == 1 ? x->divisibility[i] : gcd2(x->divisibility[i], bytes);
        }
      }
      return u;
    }
    default: {
      AxisInfo u = unknown(t);
      memcpy(u.constancy, x->constancy, sizeof u.constancy);
      if (op->opcode == OP_INTTOPTR || op->opcode == OP_PTRTOINT)
        for (uint32_t i = 0; i < u.rank; i++) u.divisibility[i] = axis_divisor_at(x, i, 1);
      return u;
    }
  }
}

static AxisInfo shape_info(const Op *op, const AxisInfo *x) {
  const Type *t = op->results[0].type, *from = op_operand(op, 0)->type;
  AxisInfo r = unknown(t);
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
        bool stretched = from->shape[i] != t->shape[i];
        r.contiguity[i] = stretched ? 1 : x->contiguity[i];
        r.constancy[i] = stretched ? t->shape[i] : x->constancy[i];
        r.divisibility[i] = x->divisibility[i];
      }
      break;
    case OP_EXPAND_DIMS: {
      uint32_t axis = (uint32_t)op_int(op, ATTR_AXIS, 0);
      int64_t all = AXIS_MAX_DIVISOR;      // divides every element
      for (uint32_t i = 0; i < x->rank; i++) all = gcd2(all, axis_divisor_at(x, i, 1));
      for (uint32_t i = 0; i < r.rank; i++) {
        uint32_t j = i < axis ? i : i - 1;
        r.contiguity[i] = i == axis ? 1 : x->contiguity[j];
        r.constancy[i] = i == axis ? 1 : x->constancy[j];
        r.divisibility[i] = i == axis ? all : x->divisibility[j];
      }
      break;
    }
    case OP_TRANS: {
      const Attr *order = op_attr(op, ATTR_ORDER);
      for (uint32_t i = 0; i < r.rank; i++) {
        r.contiguity[i] = x->contiguity[order->ints[i]];
        r.constancy[i] = x->constancy[order->ints[i]];
        r.divisibility[i] = x->divisibility[order->ints[i]];
      }
      break;
    }
    case OP_RESHAPE: {
      if (op_int(op, ATTR_REORDER, 0) || from->kind != TYPE_TENSOR || t->kind != TYPE_TENSOR) {
        if (x->lo == x->hi) r = known(t, x->lo);
        break;
      }
      // Along the last axes, runs of x's last axis stay runs.
      uint32_t last_r = r.rank - 1u, last_x = x->rank - 1u;
      r.contiguity[last_r] = gcd2(x->contiguity[last_x], t->shape[last_r]);
      r.constancy[last_r] = gcd2(x->constancy[last_x], t->shape[last_r]);
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
  AxisInfo r = unknown(t);
  int64_t start = op_int(op, ATTR_START, 0), end = op_int(op, ATTR_END, 0);
  if (end - start == 1) return known(t, start);
  r.contiguity[0] = floor_pow2(t->shape[0]);
  r.divisibility[0] = pow2_divisor(start);
  set_range(&r, t, start, end - 1);
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
      fields[k][i] = max_i64(fields[k][i], keys[k] == ATTR_DIVISIBILITY ? pow2_divisor(a->ints[i]) : floor_pow2(a->ints[i]));
  }
}

static AxisInfo op_result_info(AxisAnalysis *a, Op *op, uint32_t index) {
  const Type *t = op->results[index].type;
  const AxisInfo *x[3] = {0};
  for (uint32_t i = 0; i < op->num_operands && i < 3; i++)
    if (op_operand(op, i)) x[i] = axis_info(a, op_operand(op, i));
  AxisInfo r;
  switch (op->opcode) {
    case OP_CONSTANT: {
      if (!type_is_int(t)) {
        r = unknown(t);
        for (uint32_t i = 0; i < r.rank; i++) r.constancy[i] = dim_of(t, i);
        return r;
      }
      int64_t v = 0;
      value_constant_int(&op->results[0], &v);
      return known(t, int_bits(t) == 1 ? v & 1 : v);
    }
    case OP_PROGRAM_ID: case OP_NUM_PROGRAMS: {
      r = unknown(t);
      int64_t most = grid_limit(op_int(op, ATTR_AXIS, 0));
      set_range(&r, t, op->opcode == OP_NUM_PROGRAMS, op->opcode == OP_NUM_PROGRAMS ? most : most - 1);
      return r;
    }
    case OP_RANGE: return range_info(op);
    case OP_SPLAT: case OP_BROADCAST: case OP_EXPAND_DIMS: case OP_TRANS: case OP_RESHAPE: return shape_info(op, x[0]);
    case OP_CONVERT_LAYOUT: return *x[0];
    case OP_HINT:
      r = *x[0];
      apply_promises(op, &r);
      if (type_is_int(t)) set_range(&r, t, r.lo, r.hi);
      return r;
    case OP_ADDI: return add_like(op, x[0], x[1], 1, false);
    case OP_SUBI: return add_like(op, x[0], x[1], 1, true);
    case OP_ADDPTR: return add_like(op, x[0], x[1], type_elem_bytes(type_elem(t)->elem), false);
    case OP_MULI: return mul_info(op, x[0], x[1]);
    case OP_DIVUI:
      if (x[0]->lo < 0 || x[1]->lo < 0) {
        r = unknown(t);
        common_constancy(&r, x[0], x[1]);
        return r;
      }
      return div_info(op, x[0], x[1]);
    case OP_DIVSI: return div_info(op, x[0], x[1]);
    case OP_REMSI: case OP_REMUI: return rem_info(op, x[0], x[1]);
    case OP_SHLI: case OP_SHRSI: case OP_SHRUI: return shift_or_scale(op, x[0], x[1], int_bits(t));
    case OP_ANDI: case OP_ORI: case OP_XORI: return bit_info(op, x[0], x[1]);
    case OP_CMPI: case OP_CMPF: return cmp_info(op, x[0], x[1]);
    case OP_SELECT: return select_info(op, x[0], x[1], x[2]);
    case OP_MINSI: case OP_MAXSI: case OP_MINUI: case OP_MAXUI: return minmax_info(op, x[0], x[1]);
    case OP_EXTSI: case OP_EXTUI: case OP_TRUNCI: case OP_BITCAST: case OP_INTTOPTR: case OP_PTRTOINT:
      return cast_info(op, x[0]);
    default: break;
  }
  r = unknown(t);
  // Any other function of equal elements has equal elements.
  bool elementwise = op_info[op->opcode].traits & TRAIT_ELEMENTWISE;
  if ((elementwise || op->opcode == OP_LOAD) && t->kind == TYPE_TENSOR) {
    for (uint32_t i = 0; i < r.rank; i++) r.constancy[i] = dim_of(t, i);
    for (uint32_t k = 0; k < op->num_operands; k++) {
      Value *v = op_operand(op, k);
      if (!v || v->type->kind != TYPE_TENSOR) continue;
      const AxisInfo *y = axis_info(a, v);
      for (uint32_t i = 0; i < r.rank; i++) r.constancy[i] = gcd2(r.constancy[i], y->constancy[i]);
    }
  }
  return r;
}

// ---- control flow ----

static void analyse_block(AxisAnalysis *a, Block *b);

// arg ⊇ old arg ∪ x; when it still grows late, ranges go to the type's limits so that the sweep ends.
static void join_into(AxisAnalysis *a, Value *arg, const AxisInfo *x) {
  const AxisInfo *old = get_info(a, arg);
  if (!old) {
    set_info(a, arg, x);
    return;
  }
  AxisInfo r = join(old, x);
  if (a->widen) {
    AxisInfo top = unknown(arg->type);
    if (r.lo < old->lo) r.lo = top.lo;
    if (r.hi > old->hi) r.hi = top.hi;
  }
  set_info(a, arg, &r);
}

static AxisInfo induction_info(AxisAnalysis *a, Op *loop) {
  const AxisInfo *lb = axis_info(a, op_operand(loop, 0)), *ub = axis_info(a, op_operand(loop, 1)), *step = axis_info(a, op_operand(loop, 2));
  const Type *t = loop->blocks[0]->args[0]->type;
  AxisInfo r = unknown(t);
  r.divisibility[0] = gcd2(lb->divisibility[0], step->divisibility[0]);
  r.nonneg = lb->nonneg;
  __int128 last = (__int128)ub->hi - 1;
  set_range(&r, t, lb->lo, last < lb->lo ? lb->lo : last);
  return r;
}

static void analyse_loop(AxisAnalysis *a, Op *op) {
  bool is_for = op->opcode == OP_FOR;
  Block *body = op->blocks[0];
  uint32_t first = is_for ? 3 : 0, shift = is_for ? 1 : 0;
  for (uint32_t i = first; i < op->num_operands; i++) join_into(a, body->args[i - first + shift], axis_info(a, op_operand(op, i)));
  bool outer_changed = a->changed, outer_widen = a->widen;
  for (uint32_t sweep = 0;; sweep++) {
    a->changed = false;
    a->widen = sweep >= 3 || outer_widen;
    if (is_for) {
      AxisInfo iv = induction_info(a, op);
      set_info(a, body->args[0], &iv);
    }
    analyse_block(a, body);
    Op *back = block_terminator(body);
    if (!is_for) {
      for (uint32_t i = 1; i < back->num_operands; i++) join_into(a, op->blocks[1]->args[i - 1], axis_info(a, op_operand(back, i)));
      analyse_block(a, op->blocks[1]);
      back = block_terminator(op->blocks[1]);
    }
    for (uint32_t i = 0; i < back->num_operands; i++) join_into(a, body->args[i + shift], axis_info(a, op_operand(back, i)));
    if (!a->changed) break;
    outer_changed = true;
  }
  a->widen = outer_widen;
  for (uint32_t i = 0; i < op->num_results; i++) {
    AxisInfo r = is_for ? *axis_info(a, body->args[i + 1]) : *axis_info(a, op_operand(block_terminator(body), i + 1));
    set_info(a, &op->results[i], &r);
  }
  a->changed |= outer_changed;
}

static void analyse_if(AxisAnalysis *a, Op *op) {
  analyse_block(a, op->blocks[0]);
  analyse_block(a, op->blocks[1]);
  for (uint32_t i = 0; i < op->num_results; i++) {
    AxisInfo r = join(axis_info(a, op_operand(block_terminator(op->blocks[0]), i)), axis_info(a, op_operand(block_terminator(op->blocks[1]), i)));
    // A tensor that is one or the other is constant where both are; which it is does not depend on the element.
    set_info(a, &op->results[i], &r);
  }
}

// What assume(cond) says of a value holds wherever the value is, when the assumption stands in the value's own block.
static void apply_assume(AxisAnalysis *a, Op *assume, Value *cond) {
  Op *def = cond->def;
  if (!def) return;
  if (def->opcode == OP_ANDI) {
    apply_assume(a, assume, op_operand(def, 0));
    apply_assume(a, assume, op_operand(def, 1));
    return;
  }
  if (def->opcode != OP_CMPI) return;
  CmpPred pred = (CmpPred)op_int(def, ATTR_PRED, 0);
  for (uint32_t side = 0; side < 2; side++) {
    Value *v = op_operand(def, side), *other = op_operand(def, 1 - side);
    int64_t k;
    if (!type_is_int(v->type) || type_elem_bits(v->type) == 1 || !axis_known(axis_info(a, other), &k)) continue;
    if (pred == CMP_EQ && v->def && (v->def->opcode == OP_REMSI || v->def->opcode == OP_REMUI) && k == 0) {
      // assume(x % m == 0)
      int64_t m;
      Value *x = op_operand(v->def, 0);
      if (axis_known(axis_info(a, op_operand(v->def, 1)), &m) && m != 0 && value_block(x) == assume->parent)
        add_fact(a, x, (Fact){INT64_MIN, INT64_MAX, pow2_divisor(m)});
      continue;
    }
    bool less = side == 0 ? pred == CMP_SLT || pred == CMP_SLE : pred == CMP_SGT || pred == CMP_SGE;
    bool more = side == 0 ? pred == CMP_SGT || pred == CMP_SGE : pred == CMP_SLT || pred == CMP_SLE;
    bool strict = pred == CMP_SLT || pred == CMP_SGT;
    if (value_block(v) == assume->parent && (less || more))
      add_fact(a, v, (Fact){more ? k + strict : INT64_MIN, less ? k - strict : INT64_MAX, 1});
  }
}

static void analyse_op(AxisAnalysis *a, Op *op) {
  switch (op->opcode) {
    case OP_FOR: case OP_WHILE: analyse_loop(a, op); return;
    case OP_IF: analyse_if(a, op); return;
    case OP_REDUCE: case OP_SCAN: case OP_MAP:
      for (uint32_t b = 0; b < op->num_blocks; b++)
        for (uint32_t i = 0; i < op->blocks[b]->num_args; i++) {
          AxisInfo u = unknown(op->blocks[b]->args[i]->type);
          set_info(a, op->blocks[b]->args[i], &u);
        }
      for (uint32_t b = 0; b < op->num_blocks; b++) analyse_block(a, op->blocks[b]);
      break;
    default: break;
  }
  for (uint32_t i = 0; i < op->num_results; i++) {
    AxisInfo r = op_result_info(a, op, i);
    set_info(a, &op->results[i], &r);
  }
}

static void analyse_block(AxisAnalysis *a, Block *b) {
  for (Op *op = b->first; op; op = op->next) analyse_op(a, op);
  for (Op *op = b->first; op; op = op->next)
    if (op->opcode == OP_ASSUME) apply_assume(a, op, op_operand(op, 0));
}

static void seed_params(AxisAnalysis *a, Func *f) {
  for (uint32_t i = 0; i < f->body->num_args; i++) {
    Value *v = f->body->args[i];
    AxisInfo r = unknown(v->type);
    if (i < f->num_params && f->params[i].divisible > 1) r.divisibility[0] = pow2_divisor(f->params[i].divisible);
    if (type_is_int(v->type)) set_range(&r, v->type, r.lo, r.hi);
    set_info(a, v, &r);
  }
}

AxisAnalysis *axis_analyse(Context *ctx, Module *m) {
  AxisAnalysis *a = arena_new(&ctx->arena, AxisAnalysis);
  a->ctx = ctx;
  for (Func *f = m->funcs; f; f = f->next) {
    seed_params(a, f);
    analyse_block(a, f->body);
    // Assumptions stand after what was computed from the value: sweep once more, with parameters and all knowing them.
    seed_params(a, f);
    analyse_block(a, f->body);
  }
  return a;
}

const AxisInfo *axis_info(AxisAnalysis *a, Value *v) {
  if (!get_info(a, v)) {
    AxisInfo r = v->def && !op_info[v->def->opcode].num_blocks ? op_result_info(a, v->def, v->index) : unknown(v->type);
    set_info(a, v, &r);
  }
  return get_info(a, v);
}

// ---- accesses ----

bool axis_access_info(AxisAnalysis *a, const Op *op, AccessInfo *out) {
  Value *ptr = op_operand(op, 0), *offset = op_operand(op, 1), *mask = NULL;
  if (op->opcode == OP_ASYNC_COPY) ptr = op_operand(op, 1), offset = op_operand(op, 2), mask = op_operand(op, 3);
  if (op->opcode == OP_LOAD) mask = op_operand(op, 2);
  if (op->opcode == OP_STORE || op->opcode == OP_ATOMIC_RMW) mask = op_operand(op, 3);
  Value *where = ptr->type->kind == TYPE_TENSOR ? ptr : offset;
  if (!where || where->type->kind != TYPE_TENSOR) return false;
  const AxisInfo *p = axis_info(a, ptr), *w = axis_info(a, where), *mi = mask ? axis_info(a, mask) : NULL;
  int64_t bytes = type_elem_bytes(type_elem(ptr->type)->elem);
  const Type *t = where->type;
  memset(out, 0, sizeof *out);
  for (uint32_t i = 0; i < t->rank; i++) {
    out->contiguity[i] = gcd2(w->contiguity[i], t->shape[i]);
    int64_t d = axis_divisor_at(w, i, out->contiguity[i]);
    out->alignment[i] = where == ptr ? d : gcd2(p->divisibility[0], mul2(d, bytes));
    out->mask_constancy[i] = !mi ? AXIS_MAX_DIVISOR : mask->type->kind == TYPE_TENSOR ? mi->constancy[i] : AXIS_MAX_DIVISOR;
  }
  // The longest run; of equals, the later axis.
  for (uint32_t i = 0; i < t->rank; i++)
    if (i == 0 || out->contiguity[i] >= out->contiguity[out->fastest]) out->fastest = i;
  return true;
}

int64_t access_max_vector(const AccessInfo *x, uint32_t axis, uint32_t elem_bytes) {
  int64_t v = gcd2(x->contiguity[axis], x->mask_constancy[axis]);
  v = gcd2(v, max_i64(1, x->alignment[axis] / elem_bytes));
  return gcd2(v, max_i64(1, 16 / (int64_t)elem_bytes));
}
