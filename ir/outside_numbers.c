// Evaluates the terms of an access's offset. Each term has a set of possible values; their sum is known, and often only one
// combination gives it.
#include <string.h>

#include "ir/outside_terms.h"
#include "ir/outside_numbers.h"

static const int64_t most = INT64_C(1) << 48;   // bounds beyond are none

static int64_t bounded(__int128 x) { return x > most ? most : x < -most ? -most : (int64_t)x; }
static bool is_one(const NumberSet *s) { return s->low == s->high; }
static NumberSet one(int64_t x) { return (NumberSet){x, x, 0, x}; }
static NumberSet any(void) { return (NumberSet){-most, most, 1, 0}; }
static NumberSet from(int64_t low, int64_t high) { return low == high ? one(low) : (NumberSet){low, high, 1, 0}; }
static __int128 abs_of(__int128 x) { return x < 0 ? -x : x; }
static NumberSet exact(__int128 x) { return abs_of(x) < most ? one((int64_t)x) : any(); }
static __int128 gcd(__int128 a, __int128 b) {
  for (a = abs_of(a), b = abs_of(b); b;) {
    const __int128 rest = a % b;
    a = b, b = rest;
  }
  return a;
}

// The numbers base + k * step between the bounds. A step too large for the sums below becomes 1.
static NumberSet make(__int128 low, __int128 high, __int128 step, __int128 base) {
  if (low == high) return exact(low);
  if (bounded(low) == bounded(high)) return any();
  if (step <= 0 || step > most) step = 1;
  return (NumberSet){bounded(low), bounded(high), (int64_t)step, (int64_t)(base % step)};
}

static NumberSet product(const NumberSet *a, const NumberSet *b) {
  const __int128 all[] = {(__int128)a->low * b->low, (__int128)a->low * b->high, (__int128)a->high * b->low,
                          (__int128)a->high * b->high};
  __int128 low = all[0], high = all[0];
  for (uint32_t i = 1; i < 4; i++) {
    low = all[i] < low ? all[i] : low;
    high = all[i] > high ? all[i] : high;
  }
  const __int128 step = gcd(gcd((__int128)a->base * b->step, (__int128)b->base * a->step), (__int128)a->step * b->step);
  return make(low, high, step, (__int128)a->base * b->base);
}

// `/` and `%` by a positive number, toward zero.
static NumberSet quotient(const NumberSet *a, int64_t by) {
  const bool is_even = a->step % by == 0 && a->base % by == 0;
  return make(a->low / by, a->high / by, is_even ? a->step / by : 1, is_even ? a->base / by : 0);
}
static NumberSet rest(const NumberSet *a, int64_t by) {
  if (is_one(a)) return one(a->low % by);
  if (a->low >= 0 && a->high < by) return *a;
  return make(a->low < 0 ? 1 - by : 0, by - 1, gcd(a->step, by), a->base);
}

static NumberSet wrapped(const NumberSet *a, uint32_t bits) {
  if (!bits || bits >= 64) return *a;
  const int64_t end = INT64_C(1) << (bits - 1);
  const bool is_open = bits >= 32 && (a->low == -most || a->high == most);   // assumed not to wrap around
  if (is_open || (a->low >= -end && a->high < end)) return *a;
  if (!is_one(a)) return any();
  return one((int64_t)((uint64_t)a->low << (64 - bits)) >> (64 - bits));
}

static NumberSet apply(OutsideNodeKind kind, const NumberSet *a, const NumberSet *b) {
  switch (kind) {
  case OFFSET_ADD:
    return make((__int128)a->low + b->low, (__int128)a->high + b->high, gcd(a->step, b->step), a->base + b->base);
  case OFFSET_SUB:
    return make((__int128)a->low - b->high, (__int128)a->high - b->low, gcd(a->step, b->step), a->base - b->base);
  case OFFSET_MUL: return product(a, b);
  case OFFSET_DIV: return is_one(b) && b->low > 0 ? quotient(a, b->low) : any();
  case OFFSET_REM: return is_one(b) && b->low > 0 ? rest(a, b->low) : any();
  case OFFSET_MIN:
  case OFFSET_MAX: {
    const bool is_min = kind == OFFSET_MIN;
    const int64_t low = (a->low < b->low) == is_min ? a->low : b->low;
    const int64_t high = (a->high < b->high) == is_min ? a->high : b->high;
    return make(low, high, gcd(gcd(a->step, b->step), (__int128)a->base - b->base), a->base);
  }
  case OFFSET_BELOW: return make(a->low, a->high < b->high ? a->high : b->high - 1, a->step, a->base);
  default: return any();
  }
}

static NumberSet unsigned_of(const NumberSet *a, uint32_t bits) {
  if (a->low >= 0) return *a;
  if (is_one(a) && bits < 64) return one((int64_t)((uint64_t)a->low & ((UINT64_C(1) << bits) - 1)));
  return any();
}

static NumberSet extended(uint64_t bits, uint32_t from) {
  return exact((int64_t)(bits << (64 - from)) >> (64 - from));
}

static NumberSet leaf(const OutsideNode *n, const Outside *o, const OutsideInputs *in) {
  uint64_t bits = 0;
  switch ((OutsideNodeKind)n->kind) {
  case OFFSET_CONSTANT: return exact(n->value);
  case OFFSET_COUNT: return from(0, most);
  case OFFSET_RANGE: return from(n->value, n->value + n->count - 1);
  case OFFSET_PROGRAM: return one(o->program[n->value]);
  case OFFSET_PROGRAMS: return one(in->grid[n->value]);
  case OFFSET_PARAM: return n->bits > 1 && in->param(in->user, n, &bits) ? extended(bits, n->bits) : any();
  default: return any();
  }
}

static NumberSet loaded(const OutsideNode *n, const NumberSet *offset, const OutsideInputs *in) {
  const uint32_t size = (n->bits + 7u) / 8;
  uint64_t pointer, bits = 0;
  if (!is_one(offset) || n->bits == 1 || !in->param(in->user, n, &pointer)) return any();
  return in->memory(in->user, pointer + (uint64_t)(offset->low * size), size, &bits) ? extended(bits, n->bits) : any();
}

static NumberSet of_one(const OutsideNode *n, const NumberSet *x, const OutsideInputs *in) {
  switch ((OutsideNodeKind)n->kind) {
  case OFFSET_WRAP: return wrapped(x, n->bits);
  case OFFSET_UNSIGNED: return unsigned_of(x, n->bits);
  default: return loaded(n, x, in);
  }
}

TermNumbers outside_numbers(const OutsideTerms *all, const OutsideTerm *t, const Outside *o, const OutsideInputs *in) {
  NumberSet stack[OUTSIDE_NODES + 1] = {0};
  TermNumbers out = {0};
  uint32_t count = 0;
  for (uint32_t i = 0; i < t->num_nodes; i++) {
    const OutsideNode *n = &all->nodes[t->first + i];
    if (n->kind < OFFSET_WRAP) {
      stack[count++] = leaf(n, o, in);
      continue;
    }
    if (n->kind < OFFSET_ADD) {
      stack[count - 1] = of_one(n, &stack[count - 1], in);
      continue;
    }
    count--;
    out.left = stack[count - 1];
    out.right = stack[count];
    const NumberSet result = apply((OutsideNodeKind)n->kind, &out.left, &out.right);
    stack[count - 1] = wrapped(&result, n->bits);
  }
  out.all = stack[0];
  out.is_known = is_one(&out.all);
  out.value = out.all.low;
  return out;
}

static NumberSet signed_set(const TermNumbers *n) {
  const NumberSet zero = one(0);
  return n->is_subtracted ? apply(OFFSET_SUB, &zero, &n->all) : n->all;
}

// The one with the largest step among those that are not known; NULL: all are.
static TermNumbers *widest(TermNumbers *all, uint32_t count) {
  TermNumbers *found = NULL;
  for (uint32_t i = 0; i < count; i++)
    if (!all[i].is_known && (!found || all[i].all.step > found->all.step)) found = &all[i];
  return found;
}

static int64_t first_from(int64_t low, const NumberSet *s) {
  const int64_t over = ((low - s->base) % s->step + s->step) % s->step;
  return over ? low + s->step - over : low;
}

bool outside_solve(TermNumbers *all, uint32_t count, int64_t sum) {
  for (TermNumbers *t; (t = widest(all, count));) {
    NumberSet others = one(0);
    for (uint32_t i = 0; i < count; i++) {
      const NumberSet its = signed_set(&all[i]);
      if (&all[i] != t) others = apply(OFFSET_ADD, &others, &its);
    }
    const NumberSet its = signed_set(t);
    const int64_t low = bounded((__int128)sum - others.high), high = bounded((__int128)sum - others.low);
    const int64_t first = first_from(low > its.low ? low : its.low, &its), last = high < its.high ? high : its.high;
    if (first > last) return false;
    if (first + its.step <= last) return true;   // several are possible
    t->is_known = true;
    t->value = t->is_subtracted ? -first : first;
    t->all = one(t->value);
  }
  int64_t found = 0;
  for (uint32_t i = 0; i < count; i++) found += all[i].is_subtracted ? -all[i].value : all[i].value;
  return found == sum;
}
