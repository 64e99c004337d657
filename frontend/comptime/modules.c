// Functions of Python's modules: itertools, functools, collections, dataclasses, …; math is in comptime_math.c, and
// what triton and triton.language compute on plain values in comptime_triton.c.
#include <string.h>

#include "frontend/comptime/comptime_impl.h"

CtValue *ct_wrong_args(Comptime *ct, const CtArgs *a) { return ct_fail(ct, a->span, "TypeError", "wrong arguments"); }

bool ct_number_arg(Comptime *ct, const CtArgs *a, uint32_t i, double *out) {
  *out = 0;
  CtValue *v = i < a->num_args ? ct_unwrap(a->args[i]) : NULL;
  if (v && v->kind == CT_FLOAT) return *out = v->f, true;
  if (v && is_int(v)) return *out = (double)int_of(v), true;
  if (v && v->kind == CT_MISSING) return ct_fail_missing(ct, a->span, v) != NULL;
  return ct_wrong_args(ct, a) != NULL;
}

bool ct_int_arg(Comptime *ct, const CtArgs *a, uint32_t i, Int128 *out) {
  *out = 0;
  CtValue *v = i < a->num_args ? ct_unwrap(a->args[i]) : NULL;
  if (v && is_int(v)) return *out = int_of(v), true;
  if (v && v->kind == CT_MISSING) return ct_fail_missing(ct, a->span, v) != NULL;
  return ct_wrong_args(ct, a) != NULL;
}

static CtValue *method_value(Comptime *ct, CtValue *self, const char *name) {
  CtValue *v = arena_new(ct->arena, CtValue);
  v->kind = CT_METHOD;
  v->method.self = self;
  v->method.fn = ct_builtin(ct->ctx, name);
  return v;
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
    for (uint32_t i = 0; i < n; i++) vec_push(ct->arena, &t->list, lists[i].data[at[i]]);
    vec_push(ct->arena, &out->list, t);
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
    for (uint32_t k = 0; k < items.count; k++) vec_push(ct->arena, &out->list, items.data[k]);
  }
  return ct_iterator(out, "itertools.chain");
}

CT_FN(iter_chain) {
  return chain(ct, a->args, a->num_args, a->span);
}

CT_FN(iter_chain_from) {
  CtList parts;
  if (a->num_args != 1) return ct_wrong_args(ct, a);
  return ct_iterate(ct, a->args[0], a->span, &parts) ? chain(ct, parts.data, parts.count, a->span) : NULL;
}

static bool choose(Comptime *ct, const CtList *from, uint32_t k, bool ordered, bool *used, CtList *picked,
                   uint32_t first, CtValue *out, Span span) {
  if (!ct_step(ct, span)) return false;
  if (picked->count == k) {
    vec_push(ct->arena, &out->list, ct_tuple(ct->ctx, picked->data, picked->count));
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
  if (!a->num_args || !ct_iterate(ct, a->args[0], a->span, &from)) return ct->error ? NULL : ct_wrong_args(ct, a);
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
  if (!ct_int_arg(ct, a, 1, &n) || !ct_grow(ct,
                                            n < 0              ? 0
                                            : n > MAX_ELEMENTS ? (size_t)MAX_ELEMENTS + 1
                                                               : (size_t)n,
                                            a->span))
    return NULL;
  CtValue *out = ct_list(ct->ctx, NULL, 0);
  for (Int128 i = 0; i < n; i++) vec_push(ct->arena, &out->list, a->args[0]);
  return ct_iterator(out, "itertools.repeat");
}

// ---- functools, copy, operator, typing ----

CT_FN(func_partial) {
  if (!self) {
    if (!a->num_args) return ct_wrong_args(ct, a);
    CtValue *kwargs = ct_dict(ct->ctx);
    for (uint32_t i = 0; i < a->num_kwargs; i++)
      ct_dict_set_str(ct->ctx, kwargs->dict, a->kwargs[i].name, a->kwargs[i].value);
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
  if (a->num_args < 2 || !ct_iterate(ct, a->args[1], a->span, &items)) return ct->error ? NULL : ct_wrong_args(ct, a);
  uint32_t i = a->num_args > 2 ? 0 : 1;
  if (i && !items.count) return ct_fail(ct, a->span, "TypeError", "reduce() of nothing");
  CtValue *r = i ? items.data[0] : a->args[2];
  for (; r && i < items.count; i++)
    r = ct_call(ct, a->args[0], &(CtArgs){(CtValue *[]){r, items.data[i]}, 2, NULL, 0, a->span});
  return r;
}

// lru_cache, cache, wraps(f): what they return calls what it is given.
CT_FN(func_transparent) {
  bool is_function = a->num_args == 1 && (a->args[0]->kind == CT_FUNCTION || a->args[0]->kind == CT_MISSING);
  if (self || is_function) return a->num_args == 1 ? a->args[0] : ct_wrong_args(ct, a);
  return method_value(ct, ct_none(ct->ctx), "functools.cache");
}
CT_FN(func_wraps) {
  return method_value(ct, ct_none(ct->ctx), "functools.cache");
}

// @x.setter: the property stays what it was, for an attribute that is set is found before it.
CT_FN(property_accessor) {
  (void)ct; 
  return self;
}

static CtValue *copy_value(Comptime *ct, CtValue *v, bool deep, int depth, Span span) {
  if (depth > 50) return ct_fail(ct, span, "RecursionError", "copy of a structure nested too deeply");
  CtValue *out = v;
  if (v->kind == CT_LIST || (v->kind == CT_TUPLE && deep)) {
    out = v->kind == CT_LIST ? ct_list(ct->ctx, v->list.data, v->list.count)
                             : ct_tuple(ct->ctx, v->list.data, v->list.count);
    for (uint32_t i = 0; deep && i < out->list.count; i++)
      if (!(out->list.data[i] = copy_value(ct, out->list.data[i], true, depth + 1, span))) return NULL;
  } else if (v->kind == CT_DICT || v->kind == CT_SET) {
    out = ct_dict(ct->ctx);
    out->kind = v->kind;
    for (uint32_t i = 0; i < v->dict->count; i++) {
      CtValue *item =
          deep ? copy_value(ct, v->dict->entries[i].value, true, depth + 1, span) : v->dict->entries[i].value;
      if (!item) return NULL;
      ct_dict_set(ct->ctx, out->dict, v->dict->entries[i].key, item);
    }
  } else if (v->kind == CT_INSTANCE && v->instance->cls->form != CLASS_ENUM) {
    out = ct_instance_new(ct, v->instance->cls);
    for (uint32_t i = 0; i < v->instance->attrs->count; i++) {
      CtValue *item = deep ? copy_value(ct, v->instance->attrs->bindings[i].value, true, depth + 1, span)
                           : v->instance->attrs->bindings[i].value;
      if (!item) return NULL;
      ct_env_set(ct->ctx, out->instance->attrs, v->instance->attrs->bindings[i].name, item);
    }
  }
  return out;
}
CT_FN(copy_copy) {
  return a->num_args == 1 ? copy_value(ct, a->args[0], false, 0, a->span) : ct_wrong_args(ct, a);
}
CT_FN(copy_deepcopy) {
  return a->num_args == 1 ? copy_value(ct, a->args[0], true, 0, a->span) : ct_wrong_args(ct, a);
}

#define OPERATOR(name, op) \
  CT_FN(operator_##name) { \
    return a->num_args == 2 ? ct_binary(ct, op, a->args[0], a->args[1], a->span) : ct_wrong_args(ct, a); \
  }
OPERATOR(add, PYOP_ADD)
OPERATOR(sub, PYOP_SUB) OPERATOR(mul, PYOP_MUL) OPERATOR(floordiv, PYOP_FLOORDIV) OPERATOR(truediv, PYOP_DIV)
    OPERATOR(mod, PYOP_MOD) OPERATOR(lt, PYOP_LT) OPERATOR(le, PYOP_LE) OPERATOR(gt, PYOP_GT) OPERATOR(ge, PYOP_GE)
        OPERATOR(eq, PYOP_EQ) OPERATOR(ne, PYOP_NE) OPERATOR(and_, PYOP_AND) OPERATOR(or_, PYOP_OR)
            OPERATOR(xor, PYOP_XOR)

                CT_FN(typing_cast) {
  return a->num_args == 2 ? a->args[1] : ct_wrong_args(ct, a);
}

CT_FN(nothing) {
  return ct_none(ct->ctx);
}

CT_FN(os_getenv) {
  return a->num_args > 1 ? a->args[1] : ct_none(ct->ctx);
}

// ---- collections, dataclasses, enum ----

CT_FN(collections_namedtuple) {
  static const char *const names[] = {"typename", "field_names", "?rename", "?defaults", "?module", NULL};
  CtValue *v[5];
  CtList fields;
  if (!ct_take_args(ct, "namedtuple", a, names, v) || v[0]->kind != CT_STR)
    return ct->error ? NULL : ct_wrong_args(ct, a);
  CtValue *list = v[1];
  if (list->kind == CT_STR) {
    CtValue *spaced[2] = {ct_str(ct->ctx, ","), ct_str(ct->ctx, " ")};
    list = ct_call_method(ct, list, "replace", &(CtArgs){spaced, 2, NULL, 0, a->span});
    if (list) list = ct_call_method(ct, list, "split", &(CtArgs){.span = a->span});
  }
  if (!list || !ct_iterate(ct, list, a->span, &fields)) return NULL;
  CtList defaults = {0};
  if (v[3] && v[3]->kind != CT_NONE && !ct_iterate(ct, v[3], a->span, &defaults)) return NULL;
  CtValue *out = arena_new(ct->arena, CtValue);
  out->kind = CT_CLASS;
  CtClass *cls = out->cls = arena_new(ct->arena, CtClass);
  cls->name = intern_n(ct->ctx, v[0]->str.data, v[0]->str.size);
  cls->form = CLASS_NAMEDTUPLE;
  cls->env = ct_env_new(ct, NULL, NULL);
  cls->env->is_class = true;
  cls->num_fields = fields.count;
  cls->fields = arena_array(ct->arena, CtField, fields.count + 1);
  for (uint32_t i = 0; i < fields.count; i++) {
    if (fields.data[i]->kind != CT_STR) return ct_wrong_args(ct, a);
    bool has_default = i + defaults.count >= fields.count;
    cls->fields[i] = (CtField){intern_n(ct->ctx, fields.data[i]->str.data, fields.data[i]->str.size), NULL,
                               has_default ? defaults.data[i + defaults.count - fields.count] : NULL};
  }
  return out;
}

CT_FN(dataclasses_dataclass) {
  if (!a->num_args && !self) return method_value(ct, ct_none(ct->ctx), "dataclasses.dataclass");
  CtValue *v = a->num_args == 1 ? a->args[0] : NULL;
  if (v && v->kind == CT_MISSING) return v;
  if (!v || v->kind != CT_CLASS) return ct_wrong_args(ct, a);
  if (v->cls->form == CLASS_PLAIN) v->cls->form = CLASS_DATACLASS;
  return v;
}

// A field that says more than its default value: bind_fields asks it for one, anew for each instance.
CT_FN(dataclasses_field) {
  CtValue *value = ct_kwarg(a, "default"), *factory = ct_kwarg(a, "default_factory");
  if (value) return value;
  CtClass *cls = arena_new(ct->arena, CtClass);
  cls->name = "dataclasses.Field";
  CtValue *field = ct_instance_new(ct, cls);
  if (factory) ct_env_set(ct->ctx, field->instance->attrs, intern(ct->ctx, "default_factory"), factory);
  return field;
}

CT_FN(dataclasses_replace) {
  if (a->num_args != 1 || a->args[0]->kind != CT_INSTANCE) return ct_wrong_args(ct, a);
  CtValue *v = copy_value(ct, a->args[0], false, 0, a->span);
  for (uint32_t i = 0; i < a->num_kwargs; i++)
    ct_env_set(ct->ctx, v->instance->attrs, a->kwargs[i].name, a->kwargs[i].value);
  return v;
}

CT_FN(enum_auto) {
  return ct_missing(ct, "enum.auto", "its class gives it a value", a->span);
}

// packaging.version.Version("3.6.0"): compared by its numbers.
CT_FN(packaging_version) {
  CtValue *text = a->num_args == 1 ? ct_unwrap(a->args[0]) : NULL;
  if (text && text->kind == CT_MISSING) return text;
  if (!text || text->kind != CT_STR) return ct_wrong_args(ct, a);
  CtValue *v = ct_tuple(ct->ctx, NULL, 0);
  for (const char *s = text->str.data; *s >= '0' && *s <= '9';) {
    Int128 number = 0;
    for (; *s >= '0' && *s <= '9' && number < 1000000; s++) number = number * 10 + (*s - '0');
    vec_push(ct->arena, &v->list, ct_int(ct->ctx, number));
    if (*s == '.') s++;
  }
  return v;
}

// A built-in module is its own spec; whether another one is there is for the host to say.
CT_FN(importlib_find_spec) {
  const CtValue *name = a->num_args ? ct_unwrap(a->args[0]) : NULL;
  if (!name) return ct_wrong_args(ct, a);
  if (name->kind == CT_STR && ct_builtin_module(ct, name->str.data))
    return ct_import_module(ct, name->str.data, 0, NULL, a->span);
  return ct_missing(ct, "importlib.util.find_spec(...)", "which modules the host has is not known", a->span);
}

CT_FN(importlib_module_from_spec) {
  return a->num_args == 1 ? a->args[0] : ct_wrong_args(ct, a);
}

// ---- dispatch ----

static const CtFnRow functions[] = {
    {"itertools.product", iter_product}, {"itertools.chain", iter_chain},
    {"itertools.chain.from_iterable", iter_chain_from},
    {"itertools.combinations", iter_combinations}, {"itertools.permutations", iter_permutations},
    {"itertools.repeat", iter_repeat},
    {"functools.partial", func_partial}, {"functools.reduce", func_reduce}, {"functools.lru_cache", func_transparent},
    {"functools.cache", func_transparent}, {"functools.wraps", func_wraps}, {"copy.copy", copy_copy},
    {"copy.deepcopy", copy_deepcopy},
    {"typing.cast", typing_cast}, {"warnings.warn", nothing}, {"warnings.filterwarnings", nothing},
    {"warnings.simplefilter", nothing},
    {"os.getenv", os_getenv}, {"collections.namedtuple", collections_namedtuple},
    {"dataclasses.dataclass", dataclasses_dataclass},
    {"dataclasses.field", dataclasses_field}, {"dataclasses.replace", dataclasses_replace}, {"enum.auto", enum_auto},
    {"operator.add", operator_add},
    {"operator.sub", operator_sub}, {"operator.mul", operator_mul}, {"operator.floordiv", operator_floordiv},
    {"operator.truediv", operator_truediv},
    {"operator.mod", operator_mod}, {"operator.lt", operator_lt}, {"operator.le", operator_le},
    {"operator.gt", operator_gt},
    {"operator.ge", operator_ge}, {"operator.eq", operator_eq}, {"operator.ne", operator_ne},
    {"operator.and_", operator_and_},
    {"operator.or_", operator_or_}, {"operator.xor", operator_xor}, {"packaging.version.Version", packaging_version},
    {"packaging.version.parse", packaging_version}, {"property.setter", property_accessor},
    {"importlib.util.find_spec", importlib_find_spec}, {"importlib.util.module_from_spec", importlib_module_from_spec},
    {"property.deleter", property_accessor}, {"property.getter", property_accessor}, {NULL, NULL}};

static const CtFnRow *find_function(const char *name) {
  const CtFnRow *const tables[] = {functions, ct_math_functions, ct_triton_functions};
  for (size_t i = 0; i < countof(tables); i++)
    for (const CtFnRow *f = tables[i]; f->name; f++)
      if (!strcmp(f->name, name)) return f;
  return NULL;
}

bool comptime_has_function(const char *name) { return find_function(name) != NULL; }

CtValue *ct_call_module_function(Comptime *ct, const char *name, CtValue *self, const CtArgs *a, bool *known) {
  *known = true;
  if (!strcmp(name, "collections.OrderedDict")) return ct_call_builtin(ct, NULL, "dict", a);
  const CtFnRow *f = find_function(name);
  if (f) return f->fn(ct, self, a);
  CtValue *layout = !self && !strncmp(name, "gl.", 3) ? ct_layout_new(ct, name, a) : NULL;
  *known = layout || ct->error;
  return layout;
}
