// Functions of Python's modules: itertools, functools, collections, dataclasses, …; math.c has those of math, and
// triton.c what triton and triton.language compute on plain values.
#include <string.h>

#include "frontend/comptime/comptime_impl.h"

// An argument that is a number, to some functions only an integer; NULL after a failure.
static const CtValue *number_arg(Comptime *ct, const CtArgs *a, uint32_t i, bool is_float_allowed) {
  const CtValue *v = ct_unwrap(a->args[i]);
  if (is_int(v) || (is_float_allowed && v->kind == CT_FLOAT)) return v;
  return v->kind == CT_MISSING ? ct_fail_missing(ct, a->span, v) : ct_wrong_type(ct, a, v);
}

bool ct_number_arg(Comptime *ct, const CtArgs *a, uint32_t i, double *out) {
  const CtValue *v = number_arg(ct, a, i, true);
  *out = !v ? 0 : v->kind == CT_FLOAT ? v->f : (double)int_of(v);
  return v != NULL;
}

bool ct_int_arg(Comptime *ct, const CtArgs *a, uint32_t i, Int128 *out) {
  const CtValue *v = number_arg(ct, a, i, false);
  *out = v ? int_of(v) : 0;
  return v != NULL;
}

static CtValue *method_value(Comptime *ct, CtValue *self, const char *name) {
  return ct_bind(ct, self, ct_builtin(ct->ctx, name));
}

// ---- itertools ----

CT_FN(iter_product) {
  CtValue *repeat = ct_kwarg(a, "repeat");
  uint32_t times =
               repeat && is_int(repeat) && int_of(repeat) >= 0 && int_of(repeat) < 64 ? (uint32_t)int_of(repeat) : 1,
           n = a->num_args * times;
  CtList *lists = arena_array(ct->arena, CtList, n + 1);
  double total = 1;
  for (uint32_t i = 0; i < n; i++) {
    if (!ct_iterate(ct, a->args[i % a->num_args], a->span, &lists[i])) return NULL;
    total *= lists[i].count;
  }
  if (!ct_grow(ct, total > MAX_ELEMENTS ? (size_t)MAX_ELEMENTS + 1 : (size_t)total * (n + 1), a->span)) return NULL;
  CtValue *out = ct_list(ct->ctx, NULL, 0);
  uint32_t *at = arena_array(ct->arena, uint32_t, n + 1);
  for (uint32_t row = 0; row < (uint32_t)total; row++) {
    CtValue *t = ct_tuple(ct->ctx, NULL, 0);
    for (uint32_t i = 0; i < n; i++) ct_append(ct, t, lists[i].data[at[i]]);
    ct_append(ct, out, t);
    for (uint32_t i = n; i-- > 0;) {
      if (++at[i] < lists[i].count) break;
      at[i] = 0;
    }
  }
  return ct_iterator(out, "itertools.product");
}

static CtValue *chain(Comptime *ct, CtValue *const *parts, uint32_t n, Span span) {
  CtValue *out = ct_list(ct->ctx, NULL, 0);
  for (uint32_t i = 0; i < n; i++) {
    CtList items;
    if (!ct_iterate(ct, parts[i], span, &items) || !ct_grow(ct, (size_t)out->list.count + items.count, span))
      return NULL;
    ct_extend(ct, &out->list, &items);
  }
  return ct_iterator(out, "itertools.chain");
}

CT_FN(iter_chain) { return chain(ct, a->args, a->num_args, a->span); }

CT_FN(iter_chain_from) {
  CtList parts;
  return ct_iterate(ct, a->args[0], a->span, &parts) ? chain(ct, parts.data, parts.count, a->span) : NULL;
}

static bool choose(Comptime *ct, const CtList *from, uint32_t k, bool ordered, bool *used, CtList *picked,
                   uint32_t first, CtValue *out, Span span) {
  if (!ct_step(ct, span)) return false;
  if (picked->count == k) {
    ct_append(ct, out, ct_tuple(ct->ctx, picked->data, picked->count));
    return true;
  }
  for (uint32_t i = ordered ? 0 : first; i < from->count; i++) {
    if (used[i]) continue;
    used[i] = true;
    vec_push(ct->arena, picked, from->data[i]);
    bool ok = choose(ct, from, k, ordered, used, picked, i + 1, out, span);
    picked->count--;
    used[i] = false;
    if (!ok) return false;
  }
  return true;
}

static CtValue *choices(Comptime *ct, const CtArgs *a, bool ordered) {
  CtList from, picked = {0};
  Int128 k;
  if (!ct_iterate(ct, a->args[0], a->span, &from)) return NULL;
  k = from.count;
  if (a->num_args > 1 && !ct_int_arg(ct, a, 1, &k)) return NULL;
  CtValue *out = ct_list(ct->ctx, NULL, 0);
  bool *used = arena_array(ct->arena, bool, from.count + 1);
  if (k >= 0 && k <= from.count && !choose(ct, &from, (uint32_t)k, ordered, used, &picked, 0, out, a->span))
    return NULL;
  return ct_iterator(out, ordered ? "itertools.permutations" : "itertools.combinations");
}
CT_FN(iter_combinations) { return choices(ct, a, false); }
CT_FN(iter_permutations) { return choices(ct, a, true); }

CT_FN(iter_repeat) {
  Int128 n;
  if (a->num_args != 2) return ct_unsupported(ct, a->span, "itertools.repeat without a count");
  if (!ct_int_arg(ct, a, 1, &n)) return NULL;
  if (n > MAX_ELEMENTS) n = (Int128)MAX_ELEMENTS + 1;
  if (!ct_grow(ct, n < 0 ? 0 : (size_t)n, a->span)) return NULL;
  CtValue *out = ct_list(ct->ctx, NULL, 0);
  for (Int128 i = 0; i < n; i++) ct_append(ct, out, a->args[0]);
  return ct_iterator(out, "itertools.repeat");
}

// ---- functools, copy, operator, typing ----

CT_FN(func_partial) {
  if (!self) {
    if (!a->num_args) return ct_fail(ct, a->span, "TypeError", "partial() needs a function");
    CtValue *kwargs = ct_dict(ct->ctx);
    ct_dict_update_bindings(ct->ctx, kwargs->dict, a->kwargs, a->num_kwargs);
    CtValue *parts[2] = {ct_tuple(ct->ctx, a->args, a->num_args), kwargs};
    return method_value(ct, ct_tuple(ct->ctx, parts, 2), "functools.partial");
  }
  const CtList *bound = &self->list.data[0]->list;
  const CtDict *named = self->list.data[1]->dict;
  CtList args = {0};
  struct { CtBinding *data; uint32_t count, capacity; } kwargs = {0};
  for (uint32_t i = 1; i < bound->count; i++) vec_push(ct->arena, &args, bound->data[i]);
  for (uint32_t i = 0; i < a->num_args; i++) vec_push(ct->arena, &args, a->args[i]);
  for (uint32_t i = 0; i < named->count; i++) {
    const char *name = intern(ct->ctx, named->entries[i].key->str.data);
    if (!ct_kwarg(a, name)) vec_push(ct->arena, &kwargs, ((CtBinding){name, named->entries[i].value}));
  }
  for (uint32_t i = 0; i < a->num_kwargs; i++) vec_push(ct->arena, &kwargs, a->kwargs[i]);
  return ct_call(ct, bound->data[0], &(CtArgs){args.data, args.count, kwargs.data, kwargs.count, a->span});
}

CT_FN(func_reduce) {
  CtList items;
  if (!ct_iterate(ct, a->args[1], a->span, &items)) return NULL;
  uint32_t i = a->num_args > 2 ? 0 : 1;
  if (i && !items.count) return ct_fail(ct, a->span, "TypeError", "reduce() of nothing");
  CtValue *r = i ? items.data[0] : a->args[2];
  for (; r && i < items.count; i++) r = ct_call(ct, a->args[0], CT_ARGS(a->span, r, items.data[i]));
  return r;
}

// lru_cache, cache, wraps(f): what they return calls what it is given.
CT_FN(func_wraps) { return method_value(ct, ct_none(), "functools.cache"); }
CT_FN(func_transparent) {
  const bool is_function = a->num_args == 1 && (a->args[0]->kind == CT_FUNCTION || a->args[0]->kind == CT_MISSING);
  if (!self && !is_function) return func_wraps(ct, self, a);
  return a->num_args == 1 ? a->args[0] : ct_fail(ct, a->span, "TypeError", "a cache decorates one function");
}

// @x.setter: the property stays what it was, because an attribute that is set is found before it.
CT_FN(property_accessor) { return self; }

static CtValue *copy_value(Comptime *ct, CtValue *v, bool deep, int depth, Span span) {
  if (depth > 50) return ct_fail(ct, span, "RecursionError", "copy of a structure nested too deeply");
  if (v->kind == CT_LIST || (v->kind == CT_TUPLE && deep)) {
    CtValue *out = (v->kind == CT_LIST ? ct_list : ct_tuple)(ct->ctx, v->list.data, v->list.count);
    for (uint32_t i = 0; deep && i < out->list.count; i++)
      if (!(out->list.data[i] = copy_value(ct, out->list.data[i], true, depth + 1, span))) return NULL;
    return out;
  }
  if (v->kind == CT_DICT || v->kind == CT_SET) {
    CtValue *out = ct_dict(ct->ctx);
    out->kind = v->kind;
    ct_dict_update(ct->ctx, out->dict, v->dict);
    for (uint32_t i = 0; deep && i < out->dict->count; i++) {
      CtValue **item = &out->dict->entries[i].value;
      if (!(*item = copy_value(ct, *item, true, depth + 1, span))) return NULL;
    }
    return out;
  }
  if (v->kind != CT_INSTANCE || v->instance->cls->form == CLASS_ENUM) return v;
  CtValue *out = ct_instance_copy(ct, v);
  for (uint32_t i = 0; deep && i < out->instance->attrs->count; i++) {
    CtValue **item = &out->instance->attrs->bindings[i].value;
    if (!(*item = copy_value(ct, *item, true, depth + 1, span))) return NULL;
  }
  return out;
}
CT_FN(copy_copy) { return copy_value(ct, a->args[0], false, 0, a->span); }
CT_FN(copy_deepcopy) { return copy_value(ct, a->args[0], true, 0, a->span); }

#define OPERATORS(OP)                                                                                                \
  OP(add, ADD) OP(sub, SUB) OP(mul, MUL) OP(floordiv, FLOORDIV) OP(truediv, DIV) OP(mod, MOD) OP(lt, LT) OP(le, LE)  \
  OP(gt, GT) OP(ge, GE) OP(eq, EQ) OP(ne, NE) OP(and_, AND) OP(or_, OR) OP(xor, XOR)
#define OPERATOR_FN(name, op)                                                                                        \
  CT_FN(operator_##name) { return ct_binary(ct, PYOP_##op, a->args[0], a->args[1], a->span); }
OPERATORS(OPERATOR_FN)

CT_FN(typing_cast) { return a->args[1]; }

// A decorator that checks or marks what it is given.
CT_FN(as_given) { return a->args[0]; }

CT_FN(nothing) { return ct_none(); }

CT_FN(os_getenv) { return a->num_args > 1 ? a->args[1] : ct_none(); }

// ---- collections, dataclasses, enum ----

CT_FN(collections_namedtuple) {
  CtValue *v[5];
  CtList fields;
  if (!ct_take_args(ct, "namedtuple typename field_names ?rename ?defaults ?module", a, v)) return NULL;
  if (v[0]->kind != CT_STR) return ct_wrong_type(ct, a, v[0]);
  CtValue *list = v[1];
  if (list->kind == CT_STR) {
    list = ct_call_method(ct, list, "replace", CT_ARGS(a->span, ct_str(ct->ctx, ","), ct_str(ct->ctx, " ")));
    if (list) list = ct_call_method(ct, list, "split", &(CtArgs){.span = a->span});
  }
  if (!list || !ct_iterate(ct, list, a->span, &fields)) return NULL;
  CtList defaults = {0};
  if (v[3] && v[3]->kind != CT_NONE && !ct_iterate(ct, v[3], a->span, &defaults)) return NULL;
  CtValue *out = ct_new(ct->ctx, CT_CLASS);
  CtClass *cls = out->cls = arena_new(ct->arena, CtClass);
  cls->name = intern_n(ct->ctx, v[0]->str.data, v[0]->str.size);
  cls->form = CLASS_NAMEDTUPLE;
  cls->env = ct_env_new(ct, NULL, NULL);
  cls->env->is_class = true;
  cls->num_fields = fields.count;
  cls->fields = arena_array(ct->arena, CtField, fields.count + 1);
  for (uint32_t i = 0; i < fields.count; i++) {
    if (fields.data[i]->kind != CT_STR) return ct_wrong_type(ct, a, fields.data[i]);
    bool has_default = i + defaults.count >= fields.count;
    cls->fields[i] = (CtField){intern_n(ct->ctx, fields.data[i]->str.data, fields.data[i]->str.size),
                               has_default ? defaults.data[i + defaults.count - fields.count] : NULL};
  }
  return out;
}

CT_FN(dataclasses_dataclass) {
  if (!a->num_args && !self) return method_value(ct, ct_none(), "dataclasses.dataclass");
  CtValue *v = a->args[0];
  if (v->kind == CT_MISSING) return v;
  if (v->kind != CT_CLASS) return ct_wrong_type(ct, a, v);
  if (v->cls->form == CLASS_PLAIN) v->cls->form = CLASS_DATACLASS;
  return v;
}

// A field with a default_factory: bind_fields calls it for each instance.
CT_FN(dataclasses_field) {
  CtValue *value = ct_kwarg(a, "default"), *factory = ct_kwarg(a, "default_factory");
  if (value) return value;
  CtValue *field = ct_object_new(ct, "dataclasses.Field");
  if (factory) ct_attr_set(ct, field, "default_factory", factory);
  return field;
}

CT_FN(dataclasses_replace) {
  if (a->args[0]->kind != CT_INSTANCE) return ct_wrong_type(ct, a, a->args[0]);
  CtValue *v = ct_instance_copy(ct, a->args[0]);
  for (uint32_t i = 0; i < a->num_kwargs; i++) ct_attr_set(ct, v, a->kwargs[i].name, a->kwargs[i].value);
  return v;
}

CT_FN(enum_auto) { return ct_missing(ct, "enum.auto", "its class gives it a value", a->span); }

// packaging.version.Version("3.6.0"): compared by its numbers.
CT_FN(packaging_version) {
  CtValue *text = ct_unwrap(a->args[0]);
  if (text->kind == CT_MISSING) return text;
  if (text->kind != CT_STR) return ct_wrong_type(ct, a, text);
  CtValue *v = ct_tuple(ct->ctx, NULL, 0);
  for (const char *s = text->str.data; *s >= '0' && *s <= '9';) {
    Int128 number = 0;
    for (; *s >= '0' && *s <= '9' && number < 1000000; s++) number = number * 10 + (*s - '0');
    ct_append(ct, v, ct_int(ct->ctx, number));
    if (*s == '.') s++;
  }
  return v;
}

// A built-in module is its own spec. Only the host knows whether it has another module.
CT_FN(importlib_find_spec) {
  const CtValue *name = ct_unwrap(a->args[0]);
  if (name->kind == CT_STR && ct_builtin_module(ct, name->str.data))
    return ct_import_module(ct, name->str.data, 0, NULL, a->span);
  return ct_missing(ct, "importlib.util.find_spec(...)", "the compiler does not know which modules the host has",
                    a->span);
}

CT_FN(importlib_module_from_spec) { return a->args[0]; }

// importlib.import_module("05-wgmma"): a file whose name `import` cannot spell.
CT_FN(importlib_import_module) {
  const CtValue *name = ct_unwrap(a->args[0]);
  if (name->kind != CT_STR) return ct_wrong_type(ct, a, name);
  CtModule *from = ct->frame ? ct->frame->env->module : NULL;   // at the module level: the one that runs now
  for (uint32_t i = 0; i < ct->modules.count && !ct->frame; i++)
    if (ct->modules.data[i]->is_loading) from = ct->modules.data[i];
  if (!from) return ct_unsupported(ct, a->span, "importlib.import_module");
  return ct_import_module(ct, intern(ct->ctx, name->str.data), 0, from, a->span);
}

// ---- dispatch ----

#define OPERATOR_ROW(name, op) {"operator." #name, operator_##name, 2, 2},
static const CtFnRow functions[] = {
    OPERATORS(OPERATOR_ROW)
    {"itertools.product", iter_product, 0, CT_ANY}, {"itertools.chain", iter_chain, 0, CT_ANY},
    {"itertools.chain.from_iterable", iter_chain_from, 1, 1}, {"itertools.combinations", iter_combinations, 1, 2},
    {"itertools.permutations", iter_permutations, 1, 2}, {"itertools.repeat", iter_repeat, 1, 2},
    {"functools.partial", func_partial, 0, CT_ANY}, {"functools.reduce", func_reduce, 2, 3},
    {"functools.lru_cache", func_transparent, 0, CT_ANY}, {"functools.cache", func_transparent, 0, CT_ANY},
    {"functools.wraps", func_wraps, 0, CT_ANY}, {"copy.copy", copy_copy, 1, 1},
    {"copy.deepcopy", copy_deepcopy, 1, 1}, {"typing.cast", typing_cast, 2, 2}, {"warnings.warn", nothing, 0, CT_ANY},
    {"warnings.filterwarnings", nothing, 0, CT_ANY}, {"warnings.simplefilter", nothing, 0, CT_ANY},
    {"os.getenv", os_getenv, 1, 2}, {"collections.namedtuple", collections_namedtuple, 0, CT_ANY},
    {"dataclasses.dataclass", dataclasses_dataclass, 0, 1}, {"dataclasses.field", dataclasses_field, 0, 0},
    {"dataclasses.replace", dataclasses_replace, 1, 1}, {"enum.auto", enum_auto, 0, 0},
    {"enum.unique", as_given, 1, 1}, {"typing.final", as_given, 1, 1}, {"functools.total_ordering", as_given, 1, 1},
    {"packaging.version.Version", packaging_version, 1, 1}, {"packaging.version.parse", packaging_version, 1, 1},
    {"property.setter", property_accessor, 0, CT_ANY}, {"property.deleter", property_accessor, 0, CT_ANY},
    {"property.getter", property_accessor, 0, CT_ANY}, {"importlib.util.find_spec", importlib_find_spec, 1, 2},
    {"importlib.util.module_from_spec", importlib_module_from_spec, 1, 1},
    {"importlib.import_module", importlib_import_module, 1, 1}, {NULL, NULL, 0, 0}};

static const CtFnRow *find_function(const char *name) {
  const CtFnRow *const tables[] = {functions, ct_math_functions, ct_triton_functions, ct_layout_functions};
  const CtFnRow *row = NULL;
  for (size_t i = 0; !row && i < countof(tables); i++) row = ct_find_row(tables[i], name);
  return row;
}

bool comptime_has_function(const char *name) { return find_function(name) || ct_is_layout_class(name); }

CtValue *ct_call_module_function(Comptime *ct, const char *name, CtValue *self, const CtArgs *a, bool *known) {
  *known = true;
  if (!strcmp(name, "collections.OrderedDict")) return ct_call_builtin(ct, NULL, "dict", a);
  const CtFnRow *row = find_function(name);
  if (row) return ct_call_row(ct, row, self, a);
  CtValue *layout = !self && !strncmp(name, "gl.", 3) ? ct_layout_new(ct, name, a) : NULL;
  *known = layout || ct->error;
  return layout;
}
