// Python's built-in functions on sequences: range, list, sorted, zip, max, …
#include <string.h>

#include "frontend/comptime/comptime_impl.h"

// The elements of the first argument, or of all of them when there are several (min, max).
static bool elements(Comptime *ct, const CtArgs *a, CtList *out) {
  if (a->num_args == 1) return ct_iterate(ct, a->args[0], a->span, out);
  *out = ct_list(ct->ctx, a->args, a->num_args)->list;
  return true;
}

CT_FN(py_len) {
  Int128 n;
  return ct_length(ct, a->args[0], a->span, &n) ? ct_int(ct->ctx, n) : NULL;
}

CT_FN(py_range) {
  Int128 parts[3] = {0, 0, 1};
  for (uint32_t i = 0; i < a->num_args; i++) {
    CtValue *v = ct_unwrap(a->args[i]);
    if (!is_int(v)) return ct_wrong_type(ct, a, v);
    parts[a->num_args == 1 ? 1 : i] = int_of(v);
    if (int_of(v) < INT64_MIN || int_of(v) > INT64_MAX)
      return ct_fail(ct, a->span, "OverflowError", "the bounds of a range do not fit in 64 bits");
  }
  if (!parts[2]) return ct_fail(ct, a->span, "ValueError", "range() step cannot be zero");
  return ct_range(ct, parts[0], parts[1], parts[2]);
}

static CtValue *collect(Comptime *ct, const CtArgs *a, CtKind kind) {
  CtList items = {0};
  if (a->num_args && !ct_iterate(ct, a->args[0], a->span, &items)) return NULL;
  if (kind == CT_LIST) return ct_list(ct->ctx, items.data, items.count);
  if (kind == CT_TUPLE) return ct_tuple(ct->ctx, items.data, items.count);
  CtValue *s = ct_dict(ct->ctx);
  s->kind = CT_SET;
  for (uint32_t i = 0; i < items.count; i++) {
    CtValue *key = ct_key(ct, items.data[i], a->span);
    if (!key) return NULL;
    ct_dict_set(ct->ctx, s->dict, key, ct_none());
  }
  return s;
}
CT_FN(py_list) { return collect(ct, a, CT_LIST); }
CT_FN(py_tuple) { return collect(ct, a, CT_TUPLE); }
CT_FN(py_set) { return collect(ct, a, CT_SET); }

CT_FN(py_dict) {
  CtValue *d = ct_dict(ct->ctx);
  CtList items = {0};
  CtValue *from = ct_arg(a, 0) ? ct_unwrap(ct_arg(a, 0)) : NULL;
  if (from && from->kind == CT_DICT) {
    ct_dict_update(ct->ctx, d->dict, from->dict);
  } else if (from) {
    if (!ct_iterate(ct, from, a->span, &items)) return NULL;
    for (uint32_t i = 0; i < items.count; i++) {
      CtList pair;
      if (!ct_iterate(ct, items.data[i], a->span, &pair)) return NULL;
      if (pair.count != 2 || !ct_is_hashable(pair.data[0]))
        return ct_fail(ct, a->span, "TypeError", "dict() needs pairs of a key and a value");
      ct_dict_set(ct->ctx, d->dict, ct_unwrap(pair.data[0]), pair.data[1]);
    }
  }
  ct_dict_update_bindings(ct->ctx, d->dict, a->kwargs, a->num_kwargs);
  return d;
}

CT_FN(py_sum) {
  CtList items;
  if (!ct_iterate(ct, a->args[0], a->span, &items)) return NULL;
  CtValue *total = ct_arg(a, 1) ? ct_arg(a, 1) : ct_kwarg(a, "start") ? ct_kwarg(a, "start") : ct_int(ct->ctx, 0);
  for (uint32_t i = 0; total && i < items.count; i++) total = ct_binary(ct, PYOP_ADD, total, items.data[i], a->span);
  return total;
}

static CtValue *extreme(Comptime *ct, const CtArgs *a, bool want_max) {
  CtList items;
  if (!elements(ct, a, &items)) return NULL;
  if (!items.count)
    return ct_kwarg(a, "default") ? ct_kwarg(a, "default")
                                  : ct_fail(ct, a->span, "ValueError", "no elements to choose from");
  CtValue *key = ct_kwarg(a, "key"), *best = items.data[0], *best_key = NULL;
  bool any_constexpr = false;
  for (uint32_t i = 0; i < items.count; i++) {
    CtValue *k = key && key->kind != CT_NONE ? ct_call1(ct, key, items.data[i], a->span) : items.data[i];
    if (!k) return NULL;
    any_constexpr |= items.data[i]->kind == CT_CONSTEXPR;
    bool better = i == 0;
    if (i && !ct_less(ct, want_max ? best_key : k, want_max ? k : best_key, a->span, &better)) return NULL;
    if (better) best = items.data[i], best_key = k;
  }
  return any_constexpr ? ct_constexpr(ct->ctx, best) : best;
}
CT_FN(py_max) { return extreme(ct, a, true); }
CT_FN(py_min) { return extreme(ct, a, false); }

// Stable merge sort; items move with their keys.
static bool merge_sort(Comptime *ct, CtValue **items, CtValue **keys, CtValue **spare, uint32_t n, bool reverse,
                       Span span) {
  if (n < 2) return true;
  uint32_t half = n / 2, i = 0, k = half, out = 0;
  if (!merge_sort(ct, items, keys, spare, half, reverse, span) ||
      !merge_sort(ct, items + half, keys + half, spare, n - half, reverse, span))
    return false;
  while (out < n) {
    bool right = i == half;
    if (i < half && k < n && !ct_less(ct, reverse ? keys[i] : keys[k], reverse ? keys[k] : keys[i], span, &right))
      return false;
    uint32_t from = right && k < n ? k++ : i++;
    spare[2 * out] = items[from];
    spare[2 * out++ + 1] = keys[from];
  }
  for (uint32_t j = 0; j < n; j++) items[j] = spare[2 * j], keys[j] = spare[2 * j + 1];
  return true;
}

CT_FN(py_sorted) {
  CtValue *v = collect(ct, a, CT_LIST);
  CtValue *key = ct_kwarg(a, "key"), *reverse = ct_kwarg(a, "reverse");
  if (!v) return NULL;
  uint32_t n = v->list.count;
  CtValue **keys = arena_array(ct->arena, CtValue *, n + 1),
          **spare = arena_array(ct->arena, CtValue *, 2 * (size_t)n + 2);
  for (uint32_t i = 0; i < n; i++)
    if (!(keys[i] = key && key->kind != CT_NONE ? ct_call1(ct, key, v->list.data[i], a->span) : v->list.data[i]))
      return NULL;
  bool descending = false;
  if (reverse && !ct_truth(ct, reverse, a->span, &descending)) return NULL;
  return merge_sort(ct, v->list.data, keys, spare, n, descending, a->span) ? v : NULL;
}

CT_FN(py_reversed) {
  CtValue *v = collect(ct, a, CT_LIST);
  return v && ct_call_method(ct, v, "reverse", &(CtArgs){.span = a->span}) ? ct_iterator(v, "reversed") : NULL;
}

CT_FN(py_enumerate) {
  CtList items;
  CtValue *start = ct_arg(a, 1) ? ct_unwrap(ct_arg(a, 1)) : ct_kwarg(a, "start");
  if (!ct_iterate(ct, a->args[0], a->span, &items)) return NULL;
  Int128 at = start && is_int(start) ? int_of(start) : 0;
  CtValue *out = ct_list(ct->ctx, NULL, 0);
  for (uint32_t i = 0; i < items.count; i++)
    ct_append(ct, out, ct_tuple(ct->ctx, (CtValue *[]){ct_int(ct->ctx, at + i), items.data[i]}, 2));
  return ct_iterator(out, "enumerate");
}

// ---- side by side ----

// The arguments from `first` on; each step takes one element of each, in order. The same iterator may occur twice.
typedef struct { CtCursor *columns; uint32_t count; } Rows;

static bool rows_open(Comptime *ct, Rows *r, const CtArgs *a, uint32_t first) {
  *r = (Rows){arena_array(ct->arena, CtCursor, a->num_args + 1), a->num_args - first};
  for (uint32_t i = 0; i < r->count; i++)
    if (!ct_cursor_open(ct, &r->columns[i], a->args[first + i], a->span)) return false;
  return true;
}

// The index of the column that has nothing left, or count: row is filled.
static uint32_t rows_next(const Rows *r, CtValue **row) {
  uint32_t i = 0;
  while (i < r->count && ct_cursor_next(&r->columns[i], &row[i])) i++;
  return i;
}

// zip(…, strict=True): all columns must end together.
static bool ends_together(Comptime *ct, const Rows *r, uint32_t ended, Span span) {
  CtValue *more;
  if (ended)
    return ct_fail(ct, span, "ValueError", "zip() argument %u is shorter than argument%s", ended + 1,
                   ended == 1 ? " 1" : arena_printf(ct->arena, "s 1-%u", ended)) != NULL;
  for (uint32_t i = 1; i < r->count; i++)
    if (ct_cursor_next(&r->columns[i], &more))
      return ct_fail(ct, span, "ValueError", "zip() argument %u is longer than argument%s", i + 1,
                     i == 1 ? " 1" : arena_printf(ct->arena, "s 1-%u", i)) != NULL;
  return true;
}

CT_FN(py_zip) {
  Rows rows;
  bool strict = false;
  if ((ct_kwarg(a, "strict") && !ct_truth(ct, ct_kwarg(a, "strict"), a->span, &strict)) || !rows_open(ct, &rows, a, 0))
    return NULL;
  CtValue *out = ct_list(ct->ctx, NULL, 0), **row = arena_array(ct->arena, CtValue *, rows.count + 1);
  uint32_t ended = 0;
  while (rows.count && (ended = rows_next(&rows, row)) == rows.count)
    ct_append(ct, out, ct_tuple(ct->ctx, row, rows.count));
  return strict && rows.count && !ends_together(ct, &rows, ended, a->span) ? NULL : ct_iterator(out, "zip");
}

CT_FN(py_map) {
  Rows rows;
  if (!rows_open(ct, &rows, a, 1)) return NULL;
  CtValue *out = ct_list(ct->ctx, NULL, 0);
  for (;;) {
    CtValue **row = arena_array(ct->arena, CtValue *, rows.count), *v;
    if (rows_next(&rows, row) < rows.count) return ct_iterator(out, "map");
    if (!(v = ct_call(ct, a->args[0], &(CtArgs){row, rows.count, NULL, 0, a->span}))) return NULL;
    ct_append(ct, out, v);
  }
}

CT_FN(py_filter) {
  CtList items;
  if (!ct_iterate(ct, a->args[1], a->span, &items)) return NULL;
  CtValue *out = ct_list(ct->ctx, NULL, 0);
  for (uint32_t i = 0; i < items.count; i++) {
    CtValue *v = a->args[0]->kind == CT_NONE ? items.data[i] : ct_call1(ct, a->args[0], items.data[i], a->span);
    bool keep;
    if (!v || !ct_truth(ct, v, a->span, &keep)) return NULL;
    if (keep) ct_append(ct, out, items.data[i]);
  }
  return ct_iterator(out, "filter");
}

static CtValue *any_all(Comptime *ct, const CtArgs *a, bool stop_at) {
  CtCursor cursor;
  if (!ct_cursor_open(ct, &cursor, a->args[0], a->span)) return NULL;
  for (CtValue *item; ct_cursor_next(&cursor, &item);) {
    bool b;
    if (!ct_truth(ct, item, a->span, &b)) return NULL;
    if (b == stop_at) return ct_bool(stop_at);
  }
  return ct_bool(!stop_at);
}
CT_FN(py_any) { return any_all(ct, a, true); }
CT_FN(py_all) { return any_all(ct, a, false); }

CT_FN(py_iter) {
  CtValue *from = ct_unwrap(a->args[0]), *v = from->kind == CT_ITERATOR ? from : collect(ct, a, CT_LIST);
  return !v || v == from ? v : ct_iterator(v, arena_printf(ct->arena, "%s_iterator", ct_kind_name(from)));
}

CT_FN(py_next) {
  CtValue *v = ct_unwrap(a->args[0]), *item;
  if (v->kind == CT_MISSING) return ct_fail_missing(ct, a->span, v);
  if (v->kind != CT_ITERATOR)
    return ct_fail(ct, a->span, "TypeError", "'%s' is not an iterator: take next(iter(…))", ct_kind_name(v));
  if (ct_cursor_next(&(CtCursor){.live = v}, &item)) return item;
  return ct_arg(a, 1) ? ct_arg(a, 1) : ct_fail(ct, a->span, "StopIteration", "the iterator has no further element");
}

const CtFnRow ct_sequence_functions[] = {
    {"all", py_all, 1, 1}, {"any", py_any, 1, 1}, {"dict", py_dict, 0, 1}, {"enumerate", py_enumerate, 1, 2},
    {"filter", py_filter, 2, 2}, {"frozenset", py_set, 0, 1}, {"iter", py_iter, 1, 1}, {"len", py_len, 1, 1},
    {"list", py_list, 0, 1}, {"map", py_map, 2, CT_ANY}, {"max", py_max, 1, CT_ANY}, {"min", py_min, 1, CT_ANY},
    {"next", py_next, 1, 2}, {"range", py_range, 1, 3}, {"reversed", py_reversed, 1, 1}, {"set", py_set, 0, 1},
    {"sorted", py_sorted, 1, 1}, {"sum", py_sum, 1, 2}, {"tuple", py_tuple, 0, 1}, {"zip", py_zip, 0, CT_ANY},
    {NULL, NULL, 0, 0}};
