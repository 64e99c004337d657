// The buffer holds the expected elements in another order.
#include <math.h>
#include <stdlib.h>

#include "runtime/cli/advice.h"

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double *values(Arena *a, const HostTensor *t) {
  double *v = arena_array(a, double, t->count + 1);
  for (uint64_t i = 0; i < t->count; i++) v[i] = host_get(t, i);
  return v;
}

static bool is_near(double x, double y) {
  const double rounding = 1e-6;
  return x == y || fabs(x - y) <= rounding * fabs(y);
}

// Whether both have the same elements, but not in the same places, and enough different ones for that to be no accident.
static bool same_elements(Arena *a, const Comparison *c) {
  enum { LEAST_DIFFERENT = 8 };
  double *got = values(a, c->got), *ref = values(a, c->ref);
  const uint64_t n = c->ref->count;
  uint64_t different = 1;
  bool is_moved = false;
  for (uint64_t i = 0; i < n; i++) is_moved |= !is_near(got[i], ref[i]);
  if (!is_moved) return false;
  qsort(got, n, sizeof *got, by_value);
  qsort(ref, n, sizeof *ref, by_value);
  for (uint64_t i = 0; i < n; i++) {
    if (!is_near(got[i], ref[i])) return false;
    different += i && ref[i] != ref[i - 1];
  }
  return different >= LEAST_DIFFERENT;
}

// Whether reading `from` as rows x columns, column by column, gives `to`.
static bool is_transposed(const HostTensor *from, const HostTensor *to, uint64_t rows, uint64_t columns) {
  for (uint64_t i = 0; i < to->count; i++) {
    const uint64_t part = i / (rows * columns) * rows * columns, at = i % (rows * columns);
    if (!is_near(host_get(to, i), host_get(from, part + at % rows * columns + at / rows))) return false;
  }
  return true;
}

static bool stores_tile(const Advice *to) {
  const Op *op = to->rerun ? to->rerun->writes.op : NULL;
  return !op || op->opcode != OP_STORE || op_operand(op, 2)->type->rank > 1;
}

void advise_order(Advice *to) {
  const Comparison *c = to->c;
  enum { MOST = 1 << 22 };     // elements: they are sorted
  const HostTensor *got = c->got, *ref = c->ref;
  if (got->count != ref->count || ref->count > MOST || !same_elements(to->arena, c)) return;
  const uint64_t columns = (uint64_t)ref->shape[ref->rank ? ref->rank - 1 : 0];
  const uint64_t rows = ref->rank > 1 ? (uint64_t)ref->shape[ref->rank - 2] : 1;
  const char *how = "";
  if (rows > 1 && columns > 1 && (is_transposed(ref, got, rows, columns) || is_transposed(got, ref, columns, rows) ||
                                  is_transposed(ref, got, columns, rows) || is_transposed(got, ref, rows, columns)))
    how = stores_tile(to) ? ", transposed: tl.trans swaps the axes, and tl.reshape keeps the order of the elements"
                          : ", transposed";
  else if (columns % 2 == 0 && is_transposed(ref, got, 2, columns / 2))
    how = ", the two halves interleaved: tl.join and tl.interleave alternate between two tensors, and tl.cat puts one "
          "after the other";
  else if (columns % 2 == 0 && is_transposed(ref, got, columns / 2, 2))
    how = ", as two halves instead of interleaved: tl.cat puts one tensor after the other, and tl.join and "
          "tl.interleave alternate";
  buf_printf(to->out, "note: %s holds the expected elements in another order%s\n", c->name, how);
  if (to->rerun) advise_writer(to);
  to->notes++;
}
