// Methods of the built-in types other than text: list, dict, set, tuple, int, float, dtype, and Config's.
#include <math.h>
#include <string.h>

#include "frontend/comptime/comptime_impl.h"

bool ct_optional_int(Comptime *ct, const CtArgs *a, uint32_t i, Int128 otherwise, Int128 *out) {
  CtValue *v = i < a->num_args ? ct_unwrap(a->args[i]) : NULL;
  *out = otherwise;
  if (!v || v->kind == CT_NONE) return true;
  if (is_int(v)) return *out = int_of(v), true;
  return ct_fail(ct, a->span, "TypeError", "expected an integer, not '%s'", ct_kind_name(v)) != NULL;
}

// ---- lists and tuples ----

CT_FN(list_append) {
  if (!ct_grow(ct, (size_t)self->list.count + 1, a->span)) return NULL;
  ct_append(ct, self, a->args[0]);
  return ct_none();
}

CT_FN(list_extend) {
  CtList items;
  if (!ct_iterate(ct, a->args[0], a->span, &items) ||
      !ct_grow(ct, (size_t)self->list.count + items.count, a->span))
    return NULL;
  ct_extend(ct, &self->list, &items);
  return ct_none();
}

CT_FN(list_insert) {
  Int128 at, n = self->list.count;
  if (!ct_optional_int(ct, a, 0, 0, &at) || !ct_grow(ct, (size_t)n + 1, a->span)) return NULL;
  if (at < 0) at = at + n < 0 ? 0 : at + n;
  if (at > n) at = n;
  ct_append(ct, self, a->args[1]);
  memmove(&self->list.data[at + 1], &self->list.data[at], (size_t)(n - at) * sizeof *self->list.data);
  self->list.data[at] = a->args[1];
  return ct_none();
}

CT_FN(list_pop) {
  Int128 at;
  if (!ct_optional_int(ct, a, 0, -1, &at)) return NULL;
  CtValue *index = ct_int(ct->ctx, at), *v = ct_subscript(ct, self, index, a->span);
  return v && ct_delete_subscript(ct, self, index, a->span) ? v : NULL;
}

static CtValue *list_position(Comptime *ct, CtValue *self, const CtArgs *a, Int128 *out) {
  ct_work(ct, self);
  for (*out = 0; *out < self->list.count; ++*out) {
    bool same;
    if (!ct_op_equal(ct, self->list.data[*out], a->args[0], a->span, &same)) return NULL;
    if (same) return self->list.data[*out];
  }
  return ct_fail(ct, a->span, "ValueError", "%s is not in the list", ct_repr(ct->ctx, a->args[0]));
}

CT_FN(list_index) {
  Int128 at;
  return list_position(ct, self, a, &at) ? ct_int(ct->ctx, at) : NULL;
}

CT_FN(list_remove) {
  Int128 at;
  if (!list_position(ct, self, a, &at)) return NULL;
  return ct_delete_subscript(ct, self, ct_int(ct->ctx, at), a->span) ? ct_none() : NULL;
}

CT_FN(list_count) {
  Int128 n = 0;
  ct_work(ct, self);
  for (uint32_t i = 0; i < self->list.count; i++) n += ct_equal(self->list.data[i], a->args[0]);
  return ct_int(ct->ctx, n);
}

CT_FN(list_reverse) {
  for (uint32_t i = 0, n = self->list.count; i < n / 2; i++) {
    CtValue *t = self->list.data[i];
    self->list.data[i] = self->list.data[n - 1 - i];
    self->list.data[n - 1 - i] = t;
  }
  return ct_none();
}

CT_FN(list_clear) {
  self->list = (CtList){0};
  return ct_none();
}

CT_FN(list_copy) {
  return ct_list(ct->ctx, self->list.data, self->list.count);
}

CT_FN(list_sort) {
  CtArgs sorted = {&self, 1, a->kwargs, a->num_kwargs, a->span};
  CtValue *v = ct_call_builtin(ct, NULL, "sorted", &sorted);
  if (!v) return NULL;
  self->list = v->list;
  return ct_none();
}

static const CtFnRow list_methods[] = {
    {"append", list_append, 1, 1}, {"extend", list_extend, 1, 1}, {"insert", list_insert, 2, 2},
    {"pop", list_pop, 0, 1}, {"index", list_index, 1, 1}, {"remove", list_remove, 1, 1}, {"count", list_count, 1, 1},
    {"reverse", list_reverse, 0, 0}, {"clear", list_clear, 0, 0}, {"copy", list_copy, 0, 0},
    {"sort", list_sort, 0, 0}, {NULL, NULL, 0, 0}};
static const CtFnRow tuple_methods[] = {
    {"index", list_index, 1, 1}, {"count", list_count, 1, 1}, {NULL, NULL, 0, 0}};

// ---- dictionaries and sets ----

static CtValue *dict_entries(Comptime *ct, const CtValue *self, bool keys, bool values) {
  CtValue *out = ct_list(ct->ctx, NULL, 0);
  ct_work(ct, self);
  for (uint32_t i = 0; i < self->dict->count; i++) {
    CtValue *pair[2] = {self->dict->entries[i].key, self->dict->entries[i].value};
    ct_append(ct, out, keys && values ? ct_tuple(ct->ctx, pair, 2) : keys ? pair[0] : pair[1]);
  }
  return out;
}
CT_FN(dict_keys) { return dict_entries(ct, self, true, false); }
CT_FN(dict_values) { return dict_entries(ct, self, false, true); }
CT_FN(dict_items) { return dict_entries(ct, self, true, true); }

// The entry of the key that a method's first argument is. False after a failure; *key and *value are NULL then.
static bool find_entry(Comptime *ct, const CtValue *self, const CtArgs *a, CtValue **key, CtValue **value) {
  *key = ct_key(ct, a->args[0], a->span);
  *value = *key ? ct_dict_get(self->dict, *key) : NULL;
  return *key != NULL;
}

// A method's second argument: what it gives where there is no entry.
static CtValue *fallback(const CtArgs *a) { return a->num_args > 1 ? a->args[1] : ct_none(); }

CT_FN(dict_get) {
  CtValue *key, *v;
  return !find_entry(ct, self, a, &key, &v) || v ? v : fallback(a);
}

CT_FN(dict_setdefault) {
  CtValue *key, *v;
  if (!find_entry(ct, self, a, &key, &v) || v) return v;
  ct_dict_set(ct->ctx, self->dict, key, fallback(a));
  return fallback(a);
}

static CtValue *no_entry(Comptime *ct, const CtArgs *a, const CtValue *key) {
  return ct_fail(ct, a->span, "KeyError", "no entry for key %s", ct_repr(ct->ctx, key));
}

CT_FN(dict_pop) {
  CtValue *key, *v;
  if (!find_entry(ct, self, a, &key, &v)) return NULL;
  if (v) ct_dict_remove(ct->ctx, self->dict, key);
  return v ? v : a->num_args > 1 ? a->args[1] : no_entry(ct, a, key);
}

CT_FN(dict_update) {
  for (uint32_t i = 0; i < a->num_args; i++) {
    CtValue *from = ct_call_builtin(ct, NULL, "dict", CT_ARGS(a->span, a->args[i]));
    if (!from || from->kind != CT_DICT) return from ? ct_fail_missing(ct, a->span, from) : NULL;
    ct_dict_update(ct->ctx, self->dict, from->dict);
  }
  ct_dict_update_bindings(ct->ctx, self->dict, a->kwargs, a->num_kwargs);
  return ct_none();
}

CT_FN(dict_clear) {
  *self->dict = (CtDict){0};
  return ct_none();
}

CT_FN(dict_copy) {
  CtValue *v = ct_dict(ct->ctx);
  v->kind = self->kind;
  ct_dict_update(ct->ctx, v->dict, self->dict);
  return v;
}

CT_FN(dict_popitem) {
  if (!self->dict->count) return ct_fail(ct, a->span, "KeyError", "there is no entry to remove");
  const CtEntry last = self->dict->entries[self->dict->count - 1];
  ct_dict_remove(ct->ctx, self->dict, last.key);
  return self->kind == CT_SET ? last.key : ct_tuple(ct->ctx, (CtValue *[]){last.key, last.value}, 2);
}

static const CtFnRow dict_methods[] = {
    {"keys", dict_keys, 0, 0}, {"values", dict_values, 0, 0}, {"items", dict_items, 0, 0}, {"get", dict_get, 1, 2},
    {"setdefault", dict_setdefault, 1, 2}, {"pop", dict_pop, 1, 2}, {"update", dict_update, 0, 1},
    {"clear", dict_clear, 0, 0}, {"copy", dict_copy, 0, 0}, {"popitem", dict_popitem, 0, 0}, {NULL, NULL, 0, 0}};

CT_FN(set_add) {
  CtValue *key = ct_key(ct, a->args[0], a->span);
  if (!key) return NULL;
  ct_dict_set(ct->ctx, self->dict, key, ct_none());
  return ct_none();
}

CT_FN(set_discard) {
  const CtValue *key = ct_key(ct, a->args[0], a->span);
  if (!key) return NULL;
  ct_dict_remove(ct->ctx, self->dict, key);
  return ct_none();
}

CT_FN(set_remove) {
  const CtValue *key = ct_key(ct, a->args[0], a->span);
  if (!key || ct_dict_remove(ct->ctx, self->dict, key)) return key ? ct_none() : NULL;
  return no_entry(ct, a, key);
}

static CtValue *set_with(Comptime *ct, CtValue *self, const CtArgs *a, PyOp op) {
  CtValue *v = dict_copy(ct, self, a);
  for (uint32_t i = 0; v && i < a->num_args; i++) {
    CtValue *other = ct_call_builtin(ct, NULL, "set", CT_ARGS(a->span, a->args[i]));
    v = other ? ct_binary(ct, op, v, other, a->span) : NULL;
  }
  return v;
}
CT_FN(set_union) { return set_with(ct, self, a, PYOP_OR); }
CT_FN(set_intersection) { return set_with(ct, self, a, PYOP_AND); }
CT_FN(set_difference) { return set_with(ct, self, a, PYOP_SUB); }
CT_FN(set_update) {
  CtValue *v = set_with(ct, self, a, PYOP_OR);
  if (!v) return NULL;
  self->dict = v->dict;
  return ct_none();
}

CT_FN(set_symmetric_difference) { return set_with(ct, self, a, PYOP_XOR); }

// Whether one of self and the argument, which may be any sequence, has all (with `none`: nothing) of the other.
static CtValue *set_test(Comptime *ct, CtValue *self, const CtArgs *a, bool other_in_self, bool none) {
  CtValue *other = ct_call_builtin(ct, NULL, "set", a);
  if (!other) return NULL;
  const CtDict *items = other_in_self ? other->dict : self->dict, *in = other_in_self ? self->dict : other->dict;
  bool ok = true;
  for (uint32_t i = 0; i < items->count && ok; i++) ok = (ct_dict_get(in, items->entries[i].key) == NULL) == none;
  return ct_bool(ok);
}
CT_FN(set_issubset) { return set_test(ct, self, a, false, false); }
CT_FN(set_issuperset) { return set_test(ct, self, a, true, false); }
CT_FN(set_isdisjoint) { return set_test(ct, self, a, false, true); }

static const CtFnRow set_methods[] = {
    {"add", set_add, 1, 1}, {"discard", set_discard, 1, 1}, {"remove", set_remove, 1, 1}, {"copy", dict_copy, 0, 0},
    {"clear", dict_clear, 0, 0}, {"union", set_union, 0, CT_ANY}, {"intersection", set_intersection, 0, CT_ANY},
    {"difference", set_difference, 0, CT_ANY}, {"update", set_update, 0, CT_ANY},
    {"symmetric_difference", set_symmetric_difference, 1, 1}, {"issubset", set_issubset, 1, 1},
    {"issuperset", set_issuperset, 1, 1}, {"isdisjoint", set_isdisjoint, 1, 1}, {"pop", dict_popitem, 0, 0},
    {NULL, NULL, 0, 0}};

// ---- numbers ----

static CtValue *count_bits(Comptime *ct, const CtValue *self, bool only_set) {
  const Int128 v = int_of(self);
  Int128 n = 0;
  for (unsigned __int128 m = v < 0 ? -(unsigned __int128)v : (unsigned __int128)v; m; m >>= 1) n += !only_set || m & 1;
  return ct_int(ct->ctx, n);
}
CT_FN(int_bit_length) { return count_bits(ct, self, false); }
CT_FN(int_bit_count) { return count_bits(ct, self, true); }

CT_FN(float_is_integer) { return ct_bool(self->f == floor(self->f) && !isinf(self->f)); }

static const CtFnRow int_methods[] = {
    {"bit_length", int_bit_length, 0, 0}, {"bit_count", int_bit_count, 0, 0}, {NULL, NULL, 0, 0}};
static const CtFnRow float_methods[] = {{"is_integer", float_is_integer, 0, 0}, {NULL, NULL, 0, 0}};

// ---- dtypes ----

static bool scalar_is(const CtValue *v, DtypeClass cls) {
  return v->type->kind == CT_TYPE_SCALAR && dtype_info[v->type->scalar].cls == cls;
}
static bool block_elem_is(const CtValue *v, DtypeClass cls) {
  const CtType *t = v->type->kind == CT_TYPE_BLOCK ? v->type->elem : v->type;
  return t->kind == CT_TYPE_SCALAR && dtype_info[t->scalar].cls == cls;
}
static bool is_kind(const CtValue *v, DtypeKind k) { return v->type->kind == CT_TYPE_SCALAR && v->type->scalar == k; }

// TEST(name, condition)
#define DTYPE_TESTS(TEST)                                                                                            \
  TEST(is_floating, scalar_is(self, DTCLASS_FLOAT))                                                                  \
  TEST(is_int_signed, scalar_is(self, DTCLASS_SIGNED))                                                               \
  TEST(is_int_unsigned, scalar_is(self, DTCLASS_UNSIGNED))                                                           \
  TEST(is_int, scalar_is(self, DTCLASS_SIGNED) || scalar_is(self, DTCLASS_UNSIGNED))                                 \
  TEST(is_bool, is_kind(self, DT_INT1))                                                                              \
  TEST(is_fp8, block_elem_is(self, DTCLASS_FLOAT) && dtype_info[self->type->scalar].bits == 8)                    \
  TEST(is_standard_floating,                                                                                         \
       is_kind(self, DT_FP16) || is_kind(self, DT_BF16) || is_kind(self, DT_FP32) || is_kind(self, DT_FP64))         \
  TEST(is_ptr, self->type->kind == CT_TYPE_POINTER)                                                                  \
  TEST(is_block, self->type->kind == CT_TYPE_BLOCK)                                                                  \
  TEST(is_const, self->type->kind == CT_TYPE_POINTER && self->type->is_const)                                        \
  TEST(is_void, is_kind(self, DT_VOID))

#define TEST_FN(name, condition) CT_FN(dtype_##name) { return ct_bool(condition); }
DTYPE_TESTS(TEST_FN)
CT_FN(dtype_get_block_shapes) { return ct_find_attr(ct, self, "shape", a->span); }

#define TEST_ROW(name, condition) {#name, dtype_##name, 0, 0},
static const CtFnRow dtype_methods[] = {
    DTYPE_TESTS(TEST_ROW) {"get_block_shapes", dtype_get_block_shapes, 0, 0}, {NULL, NULL, 0, 0}};

// is_fp16, is_int32, is_fp8e4nv, …: named after the dtypes.
static bool dtype_named_test(const char *name, DtypeKind *out) {
  return !strncmp(name, "is_", 3) && dtype_find(name + 3, out);
}

// ---- instances ----

CT_FN(instance_replace) {
  CtValue *v = ct_instance_copy(ct, self);
  for (uint32_t i = 0; i < a->num_kwargs; i++) {
    if (!ct_instance_get(v->instance, a->kwargs[i].name))
      return ct_fail(ct, a->span, "ValueError", "no field '%s'", a->kwargs[i].name);
    ct_attr_set(ct, v, a->kwargs[i].name, a->kwargs[i].value);
  }
  return v;
}

CT_FN(instance_asdict) { return ct_find_attr(ct, self, "__dict__", a->span); }

// triton.Config.all_kwargs(): meta-parameters and launch options in one dictionary.
CT_FN(config_all_kwargs) {
  static const char *const options[] = {"num_warps", "num_ctas", "num_stages", "maxnreg"};
  CtValue *kwargs = ct_attr(ct, self, "kwargs"), *d = ct_dict(ct->ctx);
  if (!kwargs || kwargs->kind != CT_DICT)
    return ct_fail(ct, a->span, "TypeError", "the kwargs of a Config are not a dictionary");
  ct_dict_update(ct->ctx, d->dict, kwargs->dict);
  for (size_t i = 0; i < countof(options); i++) {
    CtValue *v = ct_attr(ct, self, options[i]);
    if (v && v->kind != CT_NONE) ct_dict_set_str(ct->ctx, d->dict, options[i], v);
  }
  return d;
}

static const CtFnRow namedtuple_methods[] = {
    {"_replace", instance_replace, 0, 0}, {"_asdict", instance_asdict, 0, 0}, {NULL, NULL, 0, 0}};
static const CtFnRow config_methods[] = {{"all_kwargs", config_all_kwargs, 0, 0}, {NULL, NULL, 0, 0}};

// ---- dispatch ----

static const CtFnRow *methods_of(const CtValue *v) {
  switch (v->kind) {
    case CT_STR: return ct_str_methods;
    case CT_LIST: return list_methods;
    case CT_TUPLE: return tuple_methods;
    case CT_DICT: return dict_methods;
    case CT_SET: return set_methods;
    case CT_INT: case CT_BOOL: return int_methods;
    case CT_FLOAT: return float_methods;
    case CT_DTYPE: return dtype_methods;
    case CT_INSTANCE:
      if (v->instance->cls->form == CLASS_NAMEDTUPLE) return namedtuple_methods;
      return !v->instance->cls->env && !strcmp(v->instance->cls->name, "triton.Config") ? config_methods : NULL;
    default: return NULL;
  }
}

// Python's methods of the built-in types that are not computed here: calling one is no fault of the program.
bool ct_is_host_method(const CtValue *v, const char *name) {
  static const char *const names[NUM_CT_KINDS] = {
      [CT_STR] = "encode expandtabs format_map isascii isdecimal isprintable istitle maketrans swapcase translate",
      [CT_BYTES] = "decode hex join split strip startswith endswith find replace count index",
      [CT_DICT] = "fromkeys",
      [CT_SET] = "difference_update intersection_update symmetric_difference_update",
      [CT_RANGE] = "count index",
      [CT_INT] = "as_integer_ratio conjugate denominator imag numerator real to_bytes from_bytes is_integer",
      [CT_FLOAT] = "as_integer_ratio conjugate fromhex hex imag real"};
  return names[v->kind] && ct_has_word(names[v->kind], name);
}

bool ct_has_method(const CtValue *v, const char *name) {
  DtypeKind k;
  return ct_find_row(methods_of(v), name) || (v->kind == CT_DTYPE && dtype_named_test(name, &k));
}

CtValue *ct_call_method(Comptime *ct, CtValue *self, const char *name, const CtArgs *a) {
  self = ct_unwrap(self);
  if (self->kind == CT_STR) ct_work(ct, self);
  const CtFnRow *row = ct_find_row(methods_of(self), name);
  DtypeKind k;
  if (row) return ct_call_row(ct, row, self, a);
  if (self->kind == CT_DTYPE && dtype_named_test(name, &k)) return ct_bool(is_kind(self, k));
  if (self->kind == CT_MISSING) return ct_missing_from(ct, self, "%s.%s(...)", self->missing.name, name);
  ice(ct->ctx, "method %s of %s is bound, and there is none", name, ct_kind_name(self));
}
