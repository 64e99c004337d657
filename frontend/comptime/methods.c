// Methods of the built-in types other than text: list, dict, set, tuple, int, float, dtype, and Config's.
#include <math.h>
#include <string.h>

#include "frontend/comptime/comptime_impl.h"

// ---- argument help ----

CtValue *ct_arity(Comptime *ct, const CtArgs *a, uint32_t min, uint32_t max) {
  if (a->num_args >= min && a->num_args <= max) return ct_none(ct->ctx);
  if (max > min) return ct_fail(ct, a->span, "TypeError", "expected %u to %u arguments, got %u", min, max, a->num_args);
  return ct_fail(ct, a->span, "TypeError", "expected %u argument%s, got %u", min, min == 1 ? "" : "s", a->num_args);
}

bool ct_optional_int(Comptime *ct, const CtArgs *a, uint32_t i, Int128 otherwise, Int128 *out) {
  CtValue *v = i < a->num_args ? ct_unwrap(a->args[i]) : NULL;
  *out = otherwise;
  if (!v || v->kind == CT_NONE) return true;
  if (is_int(v)) return *out = int_of(v), true;
  return ct_fail(ct, a->span, "TypeError", "expected an integer, not '%s'", ct_kind_name(v)) != NULL;
}

// ---- lists and tuples ----

CT_FN(list_append) {
  if (!ct_arity(ct, a, 1, 1) || !ct_grow(ct, (size_t)self->list.count + 1, a->span)) return NULL;
  vec_push(ct->arena, &self->list, a->args[0]);
  return ct_none(ct->ctx);
}

CT_FN(list_extend) {
  CtList items;
  if (!ct_arity(ct, a, 1, 1) || !ct_iterate(ct, a->args[0], a->span, &items) ||
      !ct_grow(ct, (size_t)self->list.count + items.count, a->span))
    return NULL;
  for (uint32_t i = 0; i < items.count; i++) vec_push(ct->arena, &self->list, items.data[i]);
  return ct_none(ct->ctx);
}

CT_FN(list_insert) {
  Int128 at, n = self->list.count;
  if (!ct_arity(ct, a, 2, 2) || !ct_optional_int(ct, a, 0, 0, &at) || !ct_grow(ct, (size_t)n + 1, a->span)) return NULL;
  if (at < 0) at = at + n < 0 ? 0 : at + n;
  if (at > n) at = n;
  vec_push(ct->arena, &self->list, a->args[1]);
  memmove(&self->list.data[at + 1], &self->list.data[at], (size_t)(n - at) * sizeof *self->list.data);
  self->list.data[at] = a->args[1];
  return ct_none(ct->ctx);
}

CT_FN(list_pop) {
  Int128 at;
  if (!ct_optional_int(ct, a, 0, -1, &at)) return NULL;
  CtValue *index = ct_int(ct->ctx, at), *v = ct_subscript(ct, self, index, a->span);
  return v && ct_delete_subscript(ct, self, index, a->span) ? v : NULL;
}

static CtValue *list_position(Comptime *ct, CtValue *self, const CtArgs *a, Int128 *out) {
  if (!ct_arity(ct, a, 1, 1)) return NULL;
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
  return ct_delete_subscript(ct, self, ct_int(ct->ctx, at), a->span) ? ct_none(ct->ctx) : NULL;
}

CT_FN(list_count) {
  Int128 n = 0;
  if (!ct_arity(ct, a, 1, 1)) return NULL;
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
  return ct_none(ct->ctx);
}

CT_FN(list_clear) {
  self->list = (CtList){0};
  return ct_none(ct->ctx);
}

CT_FN(list_copy) {
  return ct_list(ct->ctx, self->list.data, self->list.count);
}

CT_FN(list_sort) {
  CtArgs sorted = *a;
  sorted.args = &self;
  sorted.num_args = 1;
  CtValue *v = ct_call_builtin(ct, NULL, "sorted", &sorted);
  if (!v) return NULL;
  self->list = v->list;
  return ct_none(ct->ctx);
}

static const CtFnRow list_methods[] = {{"append", list_append}, {"extend", list_extend}, {"insert", list_insert},
    {"pop", list_pop}, {"index", list_index},
                                      {"remove", list_remove}, {"count", list_count}, {"reverse", list_reverse},
                                      {"clear", list_clear}, {"copy", list_copy},
                                      {"sort", list_sort}, {NULL, NULL}};
static const CtFnRow tuple_methods[] = {{"index", list_index}, {"count", list_count}, {NULL, NULL}};

// ---- dictionaries and sets ----

static CtValue *dict_entries(Comptime *ct, const CtValue *self, bool keys, bool values) {
  CtValue *out = ct_list(ct->ctx, NULL, 0);
  ct_work(ct, self);
  for (uint32_t i = 0; i < self->dict->count; i++) {
    CtValue *pair[2] = {self->dict->entries[i].key, self->dict->entries[i].value};
    vec_push(ct->arena, &out->list, keys && values ? ct_tuple(ct->ctx, pair, 2) : keys ? pair[0] : pair[1]);
  }
  return out;
}
CT_FN(dict_keys) { return dict_entries(ct, self, true, false); }
CT_FN(dict_values) { return dict_entries(ct, self, false, true); }
CT_FN(dict_items) { return dict_entries(ct, self, true, true); }

static CtValue *checked_key(Comptime *ct, const CtArgs *a) {
  if (!ct_arity(ct, a, 1, 2)) return NULL;
  CtValue *key = ct_unwrap(a->args[0]);
  if (key->kind == CT_MISSING) return ct_fail_missing(ct, a->span, key);
  return ct_is_hashable(key) ? key
                             : ct_fail(ct, a->span, "TypeError", "'%s' cannot be a dictionary key", ct_kind_name(key));
}

CT_FN(dict_method_get) {
  CtValue *key = checked_key(ct, a), *v = key ? ct_dict_get(self->dict, key) : NULL;
  if (!key || v) return v;
  return a->num_args > 1 ? a->args[1] : ct_none(ct->ctx);
}

CT_FN(dict_setdefault) {
  CtValue *key = checked_key(ct, a), *v = key ? ct_dict_get(self->dict, key) : NULL;
  if (!key || v) return v;
  v = a->num_args > 1 ? a->args[1] : ct_none(ct->ctx);
  ct_dict_set(ct->ctx, self->dict, key, v);
  return v;
}

CT_FN(dict_pop) {
  CtValue *key = checked_key(ct, a), *v = key ? ct_dict_get(self->dict, key) : NULL;
  if (v) ct_dict_remove(ct->ctx, self->dict, key);
  if (!key || v) return v;
  return a->num_args > 1 ? a->args[1] : ct_fail(ct, a->span, "KeyError", "no entry for key %s", ct_repr(ct->ctx, key));
}

CT_FN(dict_update) {
  for (uint32_t i = 0; i < a->num_args; i++) {
    CtValue *from = ct_call_builtin(ct, NULL, "dict", &(CtArgs){&a->args[i], 1, NULL, 0, a->span});
    if (!from || from->kind != CT_DICT) return from ? ct_fail_missing(ct, a->span, from) : NULL;
    for (uint32_t k = 0; k < from->dict->count; k++)
      ct_dict_set(ct->ctx, self->dict, from->dict->entries[k].key, from->dict->entries[k].value);
  }
  for (uint32_t i = 0; i < a->num_kwargs; i++) ct_dict_set_str(ct->ctx, self->dict, a->kwargs[i].name, a->kwargs[i].value);
  return ct_none(ct->ctx);
}

CT_FN(dict_clear) {
  *self->dict = (CtDict){0};
  return ct_none(ct->ctx);
}

CT_FN(dict_copy) {
  CtValue *v = ct_dict(ct->ctx);
  v->kind = self->kind;
  for (uint32_t i = 0; i < self->dict->count; i++)
    ct_dict_set(ct->ctx, v->dict, self->dict->entries[i].key, self->dict->entries[i].value);
  return v;
}

CT_FN(dict_popitem) {
  if (!self->dict->count) return ct_fail(ct, a->span, "KeyError", "nothing is left to take");
  const CtEntry last = self->dict->entries[self->dict->count - 1];
  ct_dict_remove(ct->ctx, self->dict, last.key);
  return self->kind == CT_SET ? last.key : ct_tuple(ct->ctx, (CtValue *[]){last.key, last.value}, 2);
}

static const CtFnRow dict_methods[] = {{"keys", dict_keys}, {"values", dict_values}, {"items", dict_items},
    {"get", dict_method_get}, {"setdefault", dict_setdefault},
                                      {"pop", dict_pop}, {"update", dict_update}, {"clear", dict_clear},
                                      {"copy", dict_copy}, {"popitem", dict_popitem}, {NULL, NULL}};

CT_FN(set_add) {
  CtValue *key = checked_key(ct, a);
  if (!key) return NULL;
  ct_dict_set(ct->ctx, self->dict, key, ct_none(ct->ctx));
  return ct_none(ct->ctx);
}

CT_FN(set_discard) {
  CtValue *key = checked_key(ct, a);
  if (!key) return NULL;
  ct_dict_remove(ct->ctx, self->dict, key);
  return ct_none(ct->ctx);
}

CT_FN(set_remove) {
  CtValue *key = checked_key(ct, a);
  if (!key || ct_dict_remove(ct->ctx, self->dict, key)) return key ? ct_none(ct->ctx) : NULL;
  return ct_fail(ct, a->span, "KeyError", "no entry for key %s", ct_repr(ct->ctx, key));
}

static CtValue *set_with(Comptime *ct, CtValue *self, const CtArgs *a, PyOp op) {
  CtValue *v = dict_copy(ct, self, a);
  for (uint32_t i = 0; v && i < a->num_args; i++) {
    CtValue *other = ct_call_builtin(ct, NULL, "set", &(CtArgs){&a->args[i], 1, NULL, 0, a->span});
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
  return ct_none(ct->ctx);
}

CT_FN(set_symmetric_difference) { return ct_arity(ct, a, 1, 1) ? set_with(ct, self, a, PYOP_XOR) : NULL; }

// Whether `a` has all (or, with `none`, nothing) of b; b may be any sequence.
static CtValue *set_test(Comptime *ct, CtValue *self, const CtArgs *a, bool other_in_self, bool none) {
  CtValue *other =
      ct_arity(ct, a, 1, 1) ? ct_call_builtin(ct, NULL, "set", &(CtArgs){a->args, 1, NULL, 0, a->span}) : NULL;
  if (!other) return NULL;
  const CtDict *items = other_in_self ? other->dict : self->dict, *in = other_in_self ? self->dict : other->dict;
  bool ok = true;
  for (uint32_t i = 0; i < items->count && ok; i++) ok = (ct_dict_get(in, items->entries[i].key) == NULL) == none;
  return ct_bool(ct->ctx, ok);
}
CT_FN(set_issubset) { return set_test(ct, self, a, false, false); }
CT_FN(set_issuperset) { return set_test(ct, self, a, true, false); }
CT_FN(set_isdisjoint) { return set_test(ct, self, a, false, true); }

static const CtFnRow set_methods[] = {{"add", set_add}, {"discard", set_discard}, {"remove", set_remove},
    {"copy", dict_copy}, {"clear", dict_clear},
                                     {"union", set_union}, {"intersection", set_intersection},
                                     {"difference", set_difference}, {"update", set_update},
                                     {"symmetric_difference", set_symmetric_difference}, {"issubset", set_issubset},
                                     {"issuperset", set_issuperset},
                                     {"isdisjoint", set_isdisjoint}, {"pop", dict_popitem}, {NULL, NULL}};

// ---- numbers ----

CT_FN(int_bit_length) {
  Int128 v = int_of(self), n = 0;
  for (unsigned __int128 m = v < 0 ? -(unsigned __int128)v : (unsigned __int128)v; m; m >>= 1) n++;
  return ct_int(ct->ctx, n);
}

CT_FN(int_bit_count) {
  Int128 v = int_of(self), n = 0;
  for (unsigned __int128 m = v < 0 ? -(unsigned __int128)v : (unsigned __int128)v; m; m >>= 1) n += (Int128)(m & 1);
  return ct_int(ct->ctx, n);
}

CT_FN(float_is_integer) {
  return ct_bool(ct->ctx, self->f == floor(self->f) && !isinf(self->f));
}

static const CtFnRow int_methods[] = {{"bit_length", int_bit_length}, {"bit_count", int_bit_count}, {NULL, NULL}};
static const CtFnRow float_methods[] = {{"is_integer", float_is_integer}, {NULL, NULL}};

// ---- dtypes ----

static bool scalar_is(const CtValue *v, DtypeClass cls) {
  return v->type->kind == CT_TYPE_SCALAR && dtype_info[v->type->scalar].cls == cls;
}
static bool block_elem_is(const CtValue *v, DtypeClass cls) {
  const CtType *t = v->type->kind == CT_TYPE_BLOCK ? v->type->elem : v->type;
  return t->kind == CT_TYPE_SCALAR && dtype_info[t->scalar].cls == cls;
}
static bool is_kind(const CtValue *v, DtypeKind k) { return v->type->kind == CT_TYPE_SCALAR && v->type->scalar == k; }

#define DTYPE_TEST(name, condition) \
  CT_FN(dtype_##name) { return ct_bool(ct->ctx, condition); }
DTYPE_TEST(is_floating, scalar_is(self, DTCLASS_FLOAT))
DTYPE_TEST(is_int_signed, scalar_is(self, DTCLASS_SIGNED))
DTYPE_TEST(is_int_unsigned, scalar_is(self, DTCLASS_UNSIGNED))
DTYPE_TEST(is_int, scalar_is(self, DTCLASS_SIGNED) || scalar_is(self, DTCLASS_UNSIGNED))
DTYPE_TEST(is_bool, is_kind(self, DT_INT1))
DTYPE_TEST(is_fp8, block_elem_is(self, DTCLASS_FLOAT) && dtype_info[self->type->scalar].bits == 8)
DTYPE_TEST(is_standard_floating,
           is_kind(self, DT_FP16) || is_kind(self, DT_BF16) || is_kind(self, DT_FP32) || is_kind(self, DT_FP64))
DTYPE_TEST(is_ptr, self->type->kind == CT_TYPE_POINTER)
DTYPE_TEST(is_block, self->type->kind == CT_TYPE_BLOCK)
DTYPE_TEST(is_const, self->type->kind == CT_TYPE_POINTER && self->type->is_const)
DTYPE_TEST(is_void, is_kind(self, DT_VOID))

CT_FN(dtype_get_block_shapes) {
  return ct_find_attr(ct, self, "shape", a->span);
}

static const CtFnRow dtype_methods[] = {
    {"is_floating", dtype_is_floating}, {"is_int_signed", dtype_is_int_signed},
    {"is_int_unsigned", dtype_is_int_unsigned}, {"is_int", dtype_is_int},
    {"is_bool", dtype_is_bool}, {"is_fp8", dtype_is_fp8}, {"is_standard_floating", dtype_is_standard_floating},
    {"is_ptr", dtype_is_ptr},
    {"is_block", dtype_is_block}, {"is_const", dtype_is_const}, {"is_void", dtype_is_void},
    {"get_block_shapes", dtype_get_block_shapes}, {NULL, NULL}};

// is_fp16, is_int32, is_fp8e4nv, …: named after the dtypes.
static bool dtype_named_test(const char *name, DtypeKind *out) {
  return !strncmp(name, "is_", 3) && dtype_find(name + 3, out);
}

// ---- instances ----

CT_FN(instance_replace) {
  CtValue *v = ct_instance_new(ct, self->instance->cls);
  for (uint32_t i = 0; i < self->instance->attrs->count; i++)
    ct_env_set(ct->ctx, v->instance->attrs, self->instance->attrs->bindings[i].name,
            self->instance->attrs->bindings[i].value);
  for (uint32_t i = 0; i < a->num_kwargs; i++) {
    if (!ct_instance_get(v->instance, a->kwargs[i].name))
      return ct_fail(ct, a->span, "ValueError", "no field '%s'", a->kwargs[i].name);
    ct_env_set(ct->ctx, v->instance->attrs, a->kwargs[i].name, a->kwargs[i].value);
  }
  return v;
}

CT_FN(instance_asdict) {
  CtValue *d = ct_dict(ct->ctx);
  for (uint32_t i = 0; i < self->instance->attrs->count; i++)
    ct_dict_set_str(ct->ctx, d->dict, self->instance->attrs->bindings[i].name, self->instance->attrs->bindings[i].value);
  return d;
}

// triton.Config.all_kwargs(): meta-parameters and launch options in one dictionary.
CT_FN(config_all_kwargs) {
  static const char *const options[] = {"num_warps", "num_ctas", "num_stages", "maxnreg"};
  CtValue *kwargs = ct_instance_get(self->instance, intern(ct->ctx, "kwargs")), *d = ct_dict(ct->ctx);
  if (!kwargs || kwargs->kind != CT_DICT)
    return ct_fail(ct, a->span, "TypeError", "the kwargs of a Config are no dictionary");
  for (uint32_t i = 0; i < kwargs->dict->count; i++)
    ct_dict_set(ct->ctx, d->dict, kwargs->dict->entries[i].key, kwargs->dict->entries[i].value);
  for (size_t i = 0; i < countof(options); i++) {
    CtValue *v = ct_instance_get(self->instance, intern(ct->ctx, options[i]));
    if (v && v->kind != CT_NONE) ct_dict_set_str(ct->ctx, d->dict, options[i], v);
  }
  return d;
}

static const CtFnRow namedtuple_methods[] = {{"_replace", instance_replace}, {"_asdict", instance_asdict},
    {NULL, NULL}};
static const CtFnRow config_methods[] = {{"all_kwargs", config_all_kwargs}, {NULL, NULL}};

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

static CtFn *find_method(const CtValue *v, const char *name) {
  for (const CtFnRow *m = methods_of(v); m && m->name; m++)
    if (!strcmp(m->name, name)) return m->fn;
  return NULL;
}

// Python's methods of the built-in types that are not computed here: calling one is no fault of the program.
bool ct_is_host_method(const CtValue *v, const char *name) {
  static const struct { CtKind kind; const char *const names[24];
  } host[] = {
      {CT_STR,
       {"encode", "expandtabs", "format_map", "isascii", "isdecimal", "isprintable", "istitle", "maketrans", "swapcase",
        "translate"}},
      {CT_BYTES,
       {"decode", "hex", "join", "split", "strip", "startswith", "endswith", "find", "replace", "count", "index"}},
      {CT_DICT, {"fromkeys"}},
      {CT_SET, {"difference_update", "intersection_update", "symmetric_difference_update"}},
      {CT_RANGE, {"count", "index"}},
      {CT_INT,
       {"as_integer_ratio", "conjugate", "denominator", "imag", "numerator", "real", "to_bytes", "from_bytes",
        "is_integer"}},
      {CT_FLOAT, {"as_integer_ratio", "conjugate", "fromhex", "hex", "imag", "real"}}};
  for (size_t i = 0; i < countof(host); i++)
    for (size_t k = 0; host[i].kind == v->kind && k < countof(host[i].names) && host[i].names[k]; k++)
      if (!strcmp(host[i].names[k], name)) return true;
  return false;
}

bool ct_has_method(const CtValue *v, const char *name) {
  DtypeKind k;
  return find_method(v, name) || (v->kind == CT_DTYPE && dtype_named_test(name, &k));
}

CtValue *ct_call_method(Comptime *ct, CtValue *self, const char *name, const CtArgs *a) {
  self = ct_unwrap(self);
  if (self->kind == CT_STR) ct_work(ct, self);
  CtFn *fn = find_method(self, name);
  DtypeKind k;
  if (fn) return fn(ct, self, a);
  if (self->kind == CT_DTYPE && dtype_named_test(name, &k)) return ct_bool(ct->ctx, is_kind(self, k));
  if (self->kind == CT_MISSING) return ct_missing_from(ct, self, "%s.%s(...)", self->missing.name, name);
  ice(ct->ctx, "method %s of %s is bound, and there is none", name, ct_kind_name(self));
}
