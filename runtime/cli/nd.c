// Arrays of doubles: see nd.h.
#include "runtime/cli/nd.h"

#include <math.h>
#include <string.h>

static const char too_deep[] = "an array has at most 8 axes";

Nd *nd_new(Arena *a, uint32_t rank, const int64_t *shape) {
  Nd *x = arena_new(a, Nd);
  *x = (Nd){.rank = rank, .count = 1};
  for (uint32_t i = 0; i < rank; i++) x->count *= (uint64_t)(x->shape[i] = shape[i]);
  x->data = arena_alloc(a, (x->count + 1) * sizeof(double));
  return x;
}

Nd *nd_scalar(Arena *a, double v) {
  Nd *x = nd_new(a, 0, NULL);
  x->data[0] = v;
  return x;
}

Nd *nd_of_host(Arena *a, const HostTensor *t, uint64_t first) {
  const int64_t rest = (int64_t)(t->count - first);
  Nd *x = first ? nd_new(a, 1, &rest) : nd_new(a, t->rank, t->shape);
  for (uint64_t i = 0; i < x->count; i++) x->data[i] = host_get(t, first + i);
  x->is_bool = t->dtype == DT_INT1;
  return x;
}

const char *nd_shape_text(Arena *a, const Nd *x) {
  Buf b = buf_make(a);
  for (uint32_t i = 0; i < x->rank; i++) buf_printf(&b, "%s%lld", i ? ", " : "(", (long long)x->shape[i]);
  buf_puts(&b, !x->rank ? "()" : x->rank == 1 ? ",)" : ")");
  return buf_str(&b);
}

// ---- element by element ----

// The steps of x along the axes of a shape that it broadcasts to; 0 along axes that it lacks.
static void steps_in(const Nd *x, uint32_t rank, int64_t *steps) {
  int64_t step = 1;
  for (uint32_t i = 0; i < rank; i++) steps[i] = 0;
  for (uint32_t i = x->rank; i-- > 0; step *= x->shape[i])
    if (x->shape[i] != 1) steps[rank - x->rank + i] = step;
}

static bool common_shape(Arena *a, const Nd *const *all, uint32_t n, uint32_t *rank, int64_t *shape,
                         const char **why) {
  *rank = 0;
  for (uint32_t k = 0; k < n; k++) *rank = all[k]->rank > *rank ? all[k]->rank : *rank;
  for (uint32_t i = 0; i < *rank; i++) shape[i] = 1;
  for (uint32_t k = 0; k < n; k++)
    for (uint32_t i = 0; i < all[k]->rank; i++) {
      int64_t *to = &shape[*rank - all[k]->rank + i];
      const int64_t extent = all[k]->shape[i];
      if (extent == *to || extent == 1) continue;
      if (*to != 1) {
        *why = arena_printf(a, "the shapes %s and %s do not go together", nd_shape_text(a, all[0]),
                            nd_shape_text(a, all[k ? k : 1]));
        return false;
      }
      *to = extent;
    }
  return true;
}

// Goes through a shape with the offsets of up to three operands.
typedef struct {
  uint32_t rank, num;
  int64_t shape[HOST_MAX_RANK], at[HOST_MAX_RANK], steps[3][HOST_MAX_RANK], offset[3];
} Walk;

static Walk walk_over(uint32_t rank, const int64_t *shape, const Nd *const *all, uint32_t num) {
  Walk w = {.rank = rank, .num = num};
  for (uint32_t i = 0; i < rank; i++) w.shape[i] = shape[i];
  for (uint32_t k = 0; k < num; k++) steps_in(all[k], rank, w.steps[k]);
  return w;
}

static void walk_on(Walk *w) {
  for (uint32_t i = w->rank; i-- > 0;) {
    for (uint32_t k = 0; k < w->num; k++) w->offset[k] += w->steps[k][i];
    if (++w->at[i] < w->shape[i]) return;
    for (uint32_t k = 0; k < w->num; k++) w->offset[k] -= w->steps[k][i] * w->shape[i];
    w->at[i] = 0;
  }
}

Nd *nd_unary(Arena *a, const Nd *x, NdUnary f) {
  Nd *r = nd_new(a, x->rank, x->shape);
  for (uint64_t i = 0; i < r->count; i++) r->data[i] = f(x->data[i]);
  return r;
}

Nd *nd_binary(Arena *a, const Nd *x, const Nd *y, NdBinary f, const char **why) {
  const Nd *all[] = {x, y};
  uint32_t rank;
  int64_t shape[HOST_MAX_RANK];
  if (!common_shape(a, all, 2, &rank, shape, why)) return NULL;
  Nd *r = nd_new(a, rank, shape);
  Walk w = walk_over(rank, shape, all, 2);
  for (uint64_t i = 0; i < r->count; i++, walk_on(&w)) r->data[i] = f(x->data[w.offset[0]], y->data[w.offset[1]]);
  return r;
}

Nd *nd_where(Arena *a, const Nd *c, const Nd *x, const Nd *y, const char **why) {
  const Nd *all[] = {c, x, y};
  uint32_t rank;
  int64_t shape[HOST_MAX_RANK];
  if (!common_shape(a, all, 3, &rank, shape, why)) return NULL;
  Nd *r = nd_new(a, rank, shape);
  Walk w = walk_over(rank, shape, all, 3);
  for (uint64_t i = 0; i < r->count; i++, walk_on(&w))
    r->data[i] = c->data[w.offset[0]] != 0 ? x->data[w.offset[1]] : y->data[w.offset[2]];
  return r;
}

Nd *nd_broadcast(Arena *a, const Nd *x, uint32_t rank, const int64_t *shape, const char **why) {
  Nd *like = arena_new(a, Nd);
  *like = (Nd){.rank = rank, .count = 1, .data = &(double){0}};
  bool fits = x->rank <= rank;
  for (uint32_t i = 0; i < rank; i++) like->shape[i] = shape[i];
  for (uint32_t i = 0; fits && i < x->rank; i++)
    fits = x->shape[i] == 1 || x->shape[i] == shape[rank - x->rank + i];
  if (!fits) {
    *why = arena_printf(a, "the shape is %s, not %s", nd_shape_text(a, x), nd_shape_text(a, like));
    return NULL;
  }
  Nd *r = nd_new(a, rank, shape);
  r->is_bool = x->is_bool;
  const Nd *all[] = {x};
  Walk w = walk_over(rank, shape, all, 1);
  for (uint64_t i = 0; i < r->count; i++, walk_on(&w)) r->data[i] = x->data[w.offset[0]];
  return r;
}

Nd *nd_round(Arena *a, const Nd *x, DtypeKind dtype) {
  uint8_t bytes[8];
  HostTensor one = {.dtype = dtype, .rank = 0, .count = 1, .data = bytes};
  Nd *r = nd_new(a, x->rank, x->shape);
  for (uint64_t i = 0; i < r->count; i++) {
    host_set(&one, 0, x->data[i]);
    r->data[i] = host_get(&one, 0);
  }
  return r;
}

// ---- along axes ----

bool nd_axis(const Nd *x, double number, uint32_t *axis) {
  const double i = number < 0 ? number + x->rank : number;
  if (!(i >= 0 && i < x->rank && i == floor(i))) return false;
  *axis = (uint32_t)i;
  return true;
}

// x with the axes of the set last, in their order.
static Nd *axes_last(Arena *a, const Nd *x, uint32_t axes) {
  uint32_t order[HOST_MAX_RANK] = {0}, n = 0;
  for (uint32_t side = 0; side < 2; side++)
    for (uint32_t i = 0; i < x->rank; i++)
      if ((axes >> i & 1) == side) order[n++] = i;
  return nd_transpose(a, x, order);
}

Nd *nd_reduce(Arena *a, const Nd *x, uint32_t axes, bool keepdims, NdReduce f) {
  int64_t shape[HOST_MAX_RANK];
  uint32_t rank = 0;
  uint64_t n = 1;
  for (uint32_t i = 0; i < x->rank; i++) {
    if (!(axes >> i & 1)) shape[rank++] = x->shape[i];
    else if (n *= (uint64_t)x->shape[i], keepdims) shape[rank++] = 1;
  }
  const Nd *moved = axes_last(a, x, axes);
  Nd *r = nd_new(a, rank, shape);
  for (uint64_t i = 0; i < r->count; i++) r->data[i] = f(moved->data + i * n, n);
  return r;
}

Nd *nd_scan(Arena *a, const Nd *x, uint32_t axis, NdScan f) {
  Nd *moved = axes_last(a, x, 1u << axis);
  const uint64_t n = (uint64_t)x->shape[axis];
  for (uint64_t i = 0; n && i < moved->count; i += n) f(moved->data + i, n);
  uint32_t order[HOST_MAX_RANK];
  for (uint32_t i = 0; i < x->rank; i++) order[i] = i < axis ? i : i == axis ? x->rank - 1 : i - 1;
  return nd_transpose(a, moved, order);
}

// The axes of the indices take the place of the axis.
Nd *nd_take(Arena *a, const Nd *x, const Nd *indices, uint32_t axis, const char **why) {
  int64_t shape[2 * HOST_MAX_RANK], n = x->shape[axis];
  uint64_t rank = 0, inner = 1;
  for (uint32_t i = 0; i < axis; i++) shape[rank++] = x->shape[i];
  for (uint32_t i = 0; i < indices->rank; i++) shape[rank++] = indices->shape[i];
  for (uint32_t i = axis + 1; i < x->rank; i++) inner *= (uint64_t)(shape[rank++] = x->shape[i]);
  if (rank > HOST_MAX_RANK) return *why = too_deep, NULL;
  Nd *r = nd_new(a, (uint32_t)rank, shape);
  r->is_bool = x->is_bool;
  for (uint64_t i = 0; i < r->count; i += inner) {
    const uint64_t part = i / inner;
    const double at = indices->data[part % indices->count], from = at < 0 ? at + (double)n : at;
    if (!(from >= 0 && from < (double)n && from == floor(from)))
      return *why = arena_printf(a, "index %g is outside of axis %u, which has %lld elements", at, axis, (long long)n),
             NULL;
    const uint64_t row = part / indices->count * (uint64_t)n + (uint64_t)from;
    memcpy(r->data + i, x->data + row * inner, inner * sizeof *r->data);
  }
  return r;
}

// ---- shapes ----

Nd *nd_transpose(Arena *a, const Nd *x, const uint32_t *order) {
  int64_t shape[HOST_MAX_RANK], steps[HOST_MAX_RANK], step = 1;
  Walk w = {.rank = x->rank, .num = 1};
  for (uint32_t i = x->rank; i-- > 0; step *= x->shape[i]) steps[i] = step;
  for (uint32_t i = 0; i < x->rank; i++) {
    shape[i] = w.shape[i] = x->shape[order[i]];
    w.steps[0][i] = steps[order[i]];
  }
  Nd *r = nd_new(a, x->rank, shape);
  r->is_bool = x->is_bool;
  for (uint64_t i = 0; i < r->count; i++, walk_on(&w)) r->data[i] = x->data[w.offset[0]];
  return r;
}

Nd *nd_reshape(Arena *a, const Nd *x, uint32_t rank, const int64_t *shape, const char **why) {
  Nd *r = arena_new(a, Nd);
  *r = *x;
  r->rank = rank;
  uint64_t known = 1;
  int open = -1;
  for (uint32_t i = 0; i < rank; i++) {
    r->shape[i] = shape[i];
    if (shape[i] == -1 && open < 0) open = (int)i;
    else known *= (uint64_t)shape[i];
  }
  if (open >= 0 && known && x->count % known == 0) r->shape[open] = (int64_t)(x->count / known), known = x->count;
  if (known == x->count) return r;
  *why = arena_printf(a, "an array of shape %s has %llu elements", nd_shape_text(a, x), (unsigned long long)x->count);
  return NULL;
}

Nd *nd_stack(Arena *a, const Nd *const *all, uint32_t n, const char **why) {
  int64_t shape[HOST_MAX_RANK] = {n};
  const uint32_t rank = n ? all[0]->rank : 0;
  if (rank == HOST_MAX_RANK) return *why = too_deep, NULL;
  for (uint32_t i = 0; i < rank; i++) shape[i + 1] = all[0]->shape[i];
  Nd *r = nd_new(a, rank + 1, shape);
  for (uint32_t i = 0; i < n; i++) {
    if (all[i]->rank != rank || memcmp(all[i]->shape, all[0]->shape, rank * sizeof *shape))
      return *why = "the parts of a list must have one shape", NULL;
    memcpy(r->data + i * all[i]->count, all[i]->data, all[i]->count * sizeof *r->data);
  }
  return r;
}

// Adds the product of m×k and k×n to c. The inner loop runs along rows.
static void multiply(double *restrict c, const double *restrict x, const double *restrict y, int64_t m, int64_t k,
                     int64_t n) {
  for (int64_t i = 0; i < m; i++)
    for (int64_t p = 0; p < k; p++)
      for (int64_t j = 0; j < n; j++) c[i * n + j] += x[i * k + p] * y[p * n + j];
}

Nd *nd_matmul(Arena *a, const Nd *x, const Nd *y, const char **why) {
  const Nd *const given[] = {x, y};
  // A row is a matrix of one row on the left, of one column on the right; the result lacks that axis.
  Nd sides[2] = {*x, *y};
  for (uint32_t s = 0; s < 2; s++) {
    if (given[s]->rank == 0) return *why = "a matrix product of a number", NULL;
    if (given[s]->rank > 1) continue;
    sides[s].rank = 2;
    sides[s].shape[s] = 1;
    sides[s].shape[1 - s] = given[s]->shape[0];
  }
  const Nd *l = &sides[0], *r = &sides[1];
  const int64_t m = l->shape[l->rank - 2], k = l->shape[l->rank - 1], n = r->shape[r->rank - 1];
  if (r->shape[r->rank - 2] != k) {
    const bool by_rows = y->rank == 2 && y->shape[1] == k;
    *why = arena_printf(a, "the shapes %s and %s do not go together in a matrix product%s", nd_shape_text(a, x),
                        nd_shape_text(a, y), by_rows ? "; transpose the second with .T" : "");
    return NULL;
  }
  Nd batches[2] = {{.rank = l->rank - 2}, {.rank = r->rank - 2}};
  for (uint32_t i = 0; i + 2 < l->rank; i++) batches[0].shape[i] = l->shape[i];
  for (uint32_t i = 0; i + 2 < r->rank; i++) batches[1].shape[i] = r->shape[i];
  const Nd *const both[] = {&batches[0], &batches[1]};
  uint32_t rank;
  int64_t shape[HOST_MAX_RANK], kept[HOST_MAX_RANK];
  if (!common_shape(a, both, 2, &rank, shape, why)) return NULL;
  Walk w = walk_over(rank, shape, both, 2);
  uint32_t num_kept = rank;
  shape[rank] = m, shape[rank + 1] = n;
  memcpy(kept, shape, sizeof kept);
  if (x->rank > 1) kept[num_kept++] = m;
  if (y->rank > 1) kept[num_kept++] = n;
  Nd *c = nd_new(a, rank + 2, shape);
  memset(c->data, 0, c->count * sizeof *c->data);
  for (uint64_t i = 0; i < c->count; i += (uint64_t)(m * n), walk_on(&w))
    multiply(c->data + i, l->data + w.offset[0] * m * k, r->data + w.offset[1] * k * n, m, k, n);
  return nd_reshape(a, c, num_kept, kept, why);
}

// A range on an axis of n elements, clipped as in Python. Gives its first element and returns how many there are.
static int64_t clip(const NdIndex *x, int64_t n, int64_t *first) {
  const bool down = x->step < 0;
  int64_t from = x->has_from ? x->from : down ? n - 1 : 0, to = x->has_to ? x->to : down ? -1 : n;
  if (x->has_from && from < 0) from += n;
  if (x->has_to && to < 0) to += n;
  const int64_t least = down ? -1 : 0, most = down ? n - 1 : n;
  from = from < least ? least : from > most ? most : from;
  to = to < least ? least : to > most ? most : to;
  *first = from;
  const int64_t span = down ? from - to : to - from, step = down ? -x->step : x->step;
  return span > 0 ? (span + step - 1) / step : 0;
}

Nd *nd_index(Arena *a, const Nd *x, const NdIndex *index, uint32_t n, const char **why) {
  int64_t shape[HOST_MAX_RANK], steps[HOST_MAX_RANK], step = 1, base = 0;
  Walk w = {.num = 1};
  uint32_t axis = 0;
  for (uint32_t i = x->rank; i-- > 0; step *= x->shape[i]) steps[i] = step;
  static const NdIndex all = {.kind = ND_RANGE, .step = 1};
  for (uint32_t i = 0; i < n || axis < x->rank; i++) {
    const NdIndex *at = i < n ? &index[i] : &all;
    if (at->kind != ND_ELEMENT && w.rank == HOST_MAX_RANK) return *why = too_deep, NULL;
    if (at->kind == ND_NEW) {
      shape[w.rank++] = 1;
      continue;
    }
    if (axis == x->rank)
      return *why = arena_printf(a, "an array of shape %s has no axis %u", nd_shape_text(a, x), axis), NULL;
    const int64_t extent = x->shape[axis];
    if (at->kind == ND_ELEMENT) {
      const int64_t element = at->from < 0 ? at->from + extent : at->from;
      if (element < 0 || element >= extent)
        return *why = arena_printf(a, "index %lld is outside of axis %u, which has %lld elements", (long long)at->from,
                                   axis, (long long)extent), NULL;
      base += element * steps[axis++];
      continue;
    }
    int64_t first;
    shape[w.rank] = clip(at, extent, &first);
    base += first * steps[axis];
    w.steps[0][w.rank++] = at->step * steps[axis++];
  }
  for (uint32_t i = 0; i < w.rank; i++) w.shape[i] = shape[i];
  Nd *r = nd_new(a, w.rank, shape);
  r->is_bool = x->is_bool;
  for (uint64_t i = 0; i < r->count; i++, walk_on(&w)) r->data[i] = x->data[base + w.offset[0]];
  return r;
}
