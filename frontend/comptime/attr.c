// value.name: attributes of every kind of value.
#include <string.h>

#include "frontend/comptime/comptime_impl.h"

static CtValue *method_of(Comptime *ct, CtValue *self, const char *kind, const char *name) {
  return ct_bind(ct, self, ct_builtin(ct->ctx, arena_printf(ct->arena, "%s.%s", kind, name)));
}

// ---- types ----

static const struct { uint8_t mantissa_bits; uint16_t exponent_bias; } float_formats[NUM_DTYPE_KINDS] = {
    [DT_FP8E4NV] = {3, 7}, [DT_FP8E4B15] = {3, 15}, [DT_FP8E4B8] = {3, 8}, [DT_FP8E5] = {2, 15},
    [DT_FP8E5B16] = {2, 16}, [DT_FP16] = {10, 15}, [DT_BF16] = {7, 127}, [DT_FP32] = {23, 127}, [DT_FP64] = {53, 1023}};

static CtValue *dtype_attr(Comptime *ct, CtValue *v, const char *name) {
  const CtType *t = v->type;
  const uint32_t bits = ct_bits(t);
  const int64_t numel = ct_numel(t);
  const int absent = -1, bytes = bits < 8 ? 1 : (int)bits / 8, mantissa = float_formats[t->scalar].mantissa_bits;
  const struct { const char *name; int64_t value; } numbers[] = {
      {"primitive_bitwidth", bits}, {"itemsize", bytes}, {"nbytes", numel * bytes}, {"numel", numel},
      {"int_bitwidth", dtype_info[t->scalar].cls == DTCLASS_FLOAT ? absent : (int)bits},
      {"fp_mantissa_width", mantissa ? mantissa : absent},
      {"exponent_bias", mantissa ? float_formats[t->scalar].exponent_bias : absent},
      {"address_space", t->kind == CT_TYPE_POINTER ? (int)t->address_space : absent}};
  for (size_t i = 0; i < countof(numbers); i++)
    if (!strcmp(name, numbers[i].name) && numbers[i].value != absent) return ct_int(ct->ctx, numbers[i].value);
  if (!strcmp(name, "name")) return ct_str(ct->ctx, ct_type_name(ct->ctx, t));
  if (!strcmp(name, "scalar")) return ct_dtype(ct->ctx, ct_scalar_of(t));
  if (!strcmp(name, "layout") && (t->layout || t->spelled))
    return comptime_layout_on(ct, t->spelled ? t->spelled : comptime_layout_from_map(ct, t->layout), t->layout);
  if (!strcmp(name, "element_ty") && t->elem) return ct_dtype(ct->ctx, t->elem);
  if (!strcmp(name, "block_type") && t->kind == CT_TYPE_BLOCK) return v;   // a descriptor's type is that of its tile
  if (!strcmp(name, "shape")) {
    CtValue *shape = ct_tuple(ct->ctx, NULL, 0);
    for (uint32_t i = 0; t->kind == CT_TYPE_BLOCK && i < t->rank; i++)
      ct_append(ct, shape, ct_int(ct->ctx, t->shape[i]));
    return shape;
  }
  return ct_has_method(v, name) ? method_of(ct, v, "dtype", name) : NULL;
}

// ---- functions, classes, instances ----

static CtValue *function_attr(Comptime *ct, const CtFunction *fn, const char *name, Span span) {
  if (!strcmp(name, "__name__") || !strcmp(name, "__qualname__")) return ct_str(ct->ctx, fn->name);
  if (!strcmp(name, "__module__")) return ct_str(ct->ctx, fn->env->module->name);
  if (!strcmp(name, "__doc__")) {
    const Node *first = fn->def->func.body.count ? fn->def->func.body.data[0] : NULL;
    bool has = first && first->kind == NODE_EXPR_STMT && first->unary.value->kind == NODE_STR;
    return has ? ct_str_n(ct->ctx, first->unary.value->str.data, first->unary.value->str.size) : ct_none();
  }
  if (fn->role == FN_PLAIN) return NULL;
  if (!strcmp(name, "arg_names")) {
    CtValue *names = ct_list(ct->ctx, NULL, 0);
    for (uint32_t i = 0; i < fn->num_params; i++)
      ct_append(ct, names, ct_str(ct->ctx, fn->params[i].name));
    return names;
  }
  if (!strcmp(name, "fn")) {   // what the decorator was given
    CtFunction *plain = arena_new(ct->arena, CtFunction);
    *plain = *fn;
    if (fn->autotune) plain->autotune = NULL;
    else if (fn->num_heuristics) plain->num_heuristics = 0;
    else plain->role = FN_PLAIN;
    return ct_function_value(ct, plain);
  }
  return ct_missing(ct, arena_printf(ct->arena, "%s.%s", fn->name, name),
                    "running a kernel is host code, which the compiler does not run", span);
}

static CtValue *class_attr(Comptime *ct, CtValue *v, const char *name) {
  CtClass *cls = v->cls;
  CtValue *found = ct_class_lookup(cls, name);
  if (found) return found->kind == CT_FUNCTION && found->fn->binding == BIND_CLASS ? ct_bind(ct, v, found) : found;
  if (!strcmp(name, "__name__") || !strcmp(name, "__qualname__")) return ct_str(ct->ctx, cls->name);
  if (!strcmp(name, "_fields")) {
    CtValue *fields = ct_tuple(ct->ctx, NULL, 0);
    for (uint32_t i = 0; i < cls->num_fields; i++)
      ct_append(ct, fields, ct_str(ct->ctx, cls->fields[i].name));
    return fields;
  }
  if (!strcmp(name, "__members__") && cls->form == CLASS_ENUM) {
    CtValue *members = ct_dict(ct->ctx);
    for (uint32_t i = 0; i < cls->env->count; i++)
      if (cls->env->bindings[i].value->kind == CT_INSTANCE)
        ct_dict_set_str(ct->ctx, members->dict, cls->env->bindings[i].name, cls->env->bindings[i].value);
    return members;
  }
  return NULL;
}

static CtValue *class_value(Comptime *ct, CtClass *cls) {
  if (!cls->env) return ct_builtin(ct->ctx, cls->name);
  CtValue *v = ct_new(ct->ctx, CT_CLASS);
  v->cls = cls;
  return v;
}

static CtValue *instance_attr(Comptime *ct, CtValue *v, const char *name, Span span) {
  CtInstance *in = v->instance;
  CtValue *found = ct_instance_get(in, name);
  if (found || (found = ct_layout_attr(ct, v, name))) return found;
  if ((found = ct_class_lookup(in->cls, name))) {
    if (found->kind != CT_FUNCTION) return found;
    switch (found->fn->binding) {
      case BIND_SELF: return ct_bind(ct, v, found);
      case BIND_CLASS: return ct_bind(ct, class_value(ct, in->cls), found);
      case BIND_PROPERTY: return ct_call1(ct, found, v, span);
      case BIND_NOTHING: return found;
    }
  }
  if (!strcmp(name, "__class__")) return class_value(ct, in->cls);
  if (!strcmp(name, "__dict__")) {
    CtValue *d = ct_dict(ct->ctx);
    ct_dict_update_bindings(ct->ctx, d->dict, in->attrs->bindings, in->attrs->count);
    return d;
  }
  if (ct_plain(v) != v) return ct_find_attr(ct, ct_plain(v), name, span);
  if (ct_has_method(v, name)) return method_of(ct, v, "instance", name);
  CtValue *other = ct_class_lookup(in->cls, intern(ct->ctx, "__getattr__"));
  return other ? ct_call1(ct, ct_bind(ct, v, other), ct_str(ct->ctx, name), span) : NULL;
}

static CtValue *missing_attribute(Comptime *ct, const char *kind, const char *name, Span span) {
  return ct_missing(ct, arena_printf(ct->arena, "%s.%s", kind, name),
                    "the compiler does not run this method: compute it in the host program and pass it as a constexpr",
                    span);
}

CtValue *ct_find_attr(Comptime *ct, CtValue *v, const char *name, Span span) {
  switch (v->kind) {
    case CT_MODULE: return ct_module_attr(ct, v->module, name);
    case CT_MISSING: {
      CtValue *derived = ct_missing_from(ct, v, "%s.%s", v->missing.name, name),
              *fact = ct_target_fact(ct, derived->missing.name);
      return fact ? fact : derived;
    }
    case CT_CONSTEXPR: return !strcmp(name, "value") ? v->inner : ct_find_attr(ct, v->inner, name, span);
    case CT_DTYPE: return dtype_attr(ct, v, name);
    case CT_FUNCTION:
      if (v->fn->binding == BIND_PROPERTY &&
          (!strcmp(name, "setter") || !strcmp(name, "deleter") || !strcmp(name, "getter")))
        return method_of(ct, v, "property", name);
      return function_attr(ct, v->fn, name, span);
    case CT_CLASS: return class_attr(ct, v, name);
    case CT_INSTANCE: return instance_attr(ct, v, name, span);
    case CT_BUILTIN: {
      const char *dot = strrchr(v->builtin.name, '.');
      if (!strcmp(name, "__name__")) return ct_str(ct->ctx, dot ? dot + 1 : v->builtin.name);
      return ct_builtin(ct->ctx, arena_printf(ct->arena, "%s.%s", v->builtin.name, name));
    }
    case CT_SLICE:
      if (!strcmp(name, "start")) return v->slice.lower;
      if (!strcmp(name, "stop")) return v->slice.upper;
      return !strcmp(name, "step") ? v->slice.step : NULL;
    case CT_RANGE:
      if (!strcmp(name, "start")) return ct_int(ct->ctx, v->range.start);
      if (!strcmp(name, "stop")) return ct_int(ct->ctx, v->range.stop);
      if (!strcmp(name, "step")) return ct_int(ct->ctx, v->range.step);
      return ct_is_host_method(v, name) ? missing_attribute(ct, "range", name, span) : NULL;
    default:
      if (!strcmp(name, "__class__")) return ct_builtin(ct->ctx, ct_kind_name(v));
      if (ct_has_method(v, name)) return method_of(ct, v, ct_kind_name(v), name);
      return ct_is_host_method(v, name) ? missing_attribute(ct, ct_kind_name(v), name, span) : NULL;
  }
}

CtValue *ct_get_attr(Comptime *ct, CtValue *v, const char *name, Span span) {
  CtValue *found = ct_find_attr(ct, v, name, span);
  if (found || ct->error) return found;
  if (v->kind == CT_MODULE)
    return ct_fail(ct, span, "AttributeError", "module '%s' has no attribute '%s'", v->module->name, name);
  return ct_fail(ct, span, "AttributeError", "'%s' has no attribute '%s'", ct_kind_name(v), name);
}

bool ct_set_attr(Comptime *ct, CtValue *v, const char *name, CtValue *item, Span span) {
  switch (v->kind) {
    case CT_INSTANCE:
      if (v->instance->cls->form == CLASS_NAMEDTUPLE) break;
      ct_env_set(ct->ctx, v->instance->attrs, name, item);
      return true;
    case CT_CLASS: ct_env_set(ct->ctx, v->cls->env, name, item); return true;
    case CT_MODULE: if (!v->module->env) break; ct_env_set(ct->ctx, v->module->env, name, item); return true;
    case CT_FUNCTION: return true;   // fn.cache = …: nothing a kernel can see
    case CT_MISSING: return ct_fail_missing(ct, span, v) != NULL;
    default: break;
  }
  ct_fail(ct, span, "AttributeError", "attribute '%s' of '%s' cannot be set", name, ct_kind_name(v));
  return false;
}
