#include "runtime/compile/specialize.h"

#include <string.h>

#include "runtime/compile/host_tensor.h"

static const char *scalar_type(const SpecValue *v) {
  if (v->has_dtype) return dtype_info[v->dtype].short_name;
  switch (v->kind) {
  case VALUE_BOOL: return "i1";
  case VALUE_FLOAT: return "fp32";
  default: return v->i >= INT32_MIN && v->i <= INT32_MAX ? "i32" : "i64";
  }
}

const char *specialize_type(Arena *a, const SpecValue *v, const CtParam *param) {
  if (v->kind == VALUE_POINTER)
    return arena_printf(a, "*%s%s", param->is_const ? "k" : "", dtype_info[v->dtype].short_name);
  if (v->kind != VALUE_DESC) return scalar_type(v);
  Buf b = buf_make(a);
  buf_printf(&b, "tensordesc<%s[", dtype_info[v->dtype].short_name);
  for (uint32_t i = 0; i < v->rank; i++) buf_printf(&b, "%s%lld", i ? "," : "", (long long)v->block[i]);
  buf_puts(&b, "]");
  if (v->layout) buf_printf(&b, ",%s", v->layout);
  buf_puts(&b, ">");
  return buf_str(&b);
}

static int hint_of(const SpecValue *v, const CtParam *param, bool is_annotated, const char *type) {
  bool is_pointer = v->kind == VALUE_POINTER;
  if (!is_pointer && (v->kind != VALUE_INT || strchr(type, 'f') || !strcmp(type, "i1"))) return 0;
  return specialize_hint(is_pointer, is_annotated, param->do_not_specialize, param->do_not_specialize_on_alignment,
                         is_pointer ? v->address : (uint64_t)v->i);
}

static CtValue *constexpr_value(Frontend *fe, const SpecValue *v, const char *origin) {
  return comptime_eval_text(frontend_comptime(fe), frontend_module(fe), origin, v->expression, NULL, 0);
}

// Specialises an item of a tuple by the rules of the tuple's parameter i.
static bool specialize_item(Frontend *fe, Context *ctx, const CtFunction *k, uint32_t i, const SpecValue *v,
                            const char *origin, ParamSpec *out) {
  if (v->kind == VALUE_NONE || v->kind == VALUE_CONSTEXPR) {
    CtValue *value = v->kind == VALUE_NONE ? ct_none() : constexpr_value(fe, v, origin);
    if (value) *out = (ParamSpec){.kind = SPEC_CONSTEXPR, .divisible = 1, .value = ct_unwrap(value), .origin = origin};
    return value != NULL;
  }
  if (v->kind == VALUE_TUPLE) {
    *out = (ParamSpec){.kind = SPEC_TUPLE,
                       .divisible = 1,
                       .num_items = v->num_items,
                       .class_name = v->class_name,
                       .origin = origin};
    out->items = arena_array(&ctx->arena, ParamSpec, v->num_items + 1);
    for (uint32_t n = 0; n < v->num_items; n++)
      if (!specialize_item(fe, ctx, k, i, &v->items[n], origin, &out->items[n])) return false;
    return true;
  }
  const char *type = specialize_type(&ctx->arena, v, &k->params[i]);
  int hint = hint_of(v, &k->params[i], false, type);
  if (!frontend_item_type(fe, k, i, hint ? arena_printf(&ctx->arena, "%s:%d", type, hint) : type, origin, out))
    return false;
  if (v->kind == VALUE_DESC) out->padding = v->pad_nan ? PAD_NAN : PAD_ZERO;
  return true;
}

bool specialize_param(Frontend *fe, Context *ctx, const CtFunction *k, ParamSpec *specs, uint32_t i, const SpecValue *v,
                      const char *origin, bool keep_types, bool *is_usage_error) {
  const CtParam *param = &k->params[i];
  Arena *a = &ctx->arena;
  if (param->is_constexpr)
    return frontend_apply_define(fe, k, specs, arena_printf(a, "%s=%s", param->name, v->text), origin);
  if (v->kind == VALUE_NONE) return frontend_set_constexpr(fe, k, specs, param->name, ct_none(), origin);
  if (v->kind == VALUE_CONSTEXPR) {
    CtValue *value = constexpr_value(fe, v, origin);
    return value && frontend_set_constexpr(fe, k, specs, param->name, value, origin);
  }
  if (keep_types) return true;
  if (v->kind == VALUE_TUPLE) {
    ParamSpec s;
    return specialize_item(fe, ctx, k, i, v, origin, &s) &&
           frontend_set_tuple(fe, k, specs, i, s.items, s.num_items, s.class_name, origin);
  }
  const char *own = specialize_type(a, v, param);
  bool is_annotated = specs[i].kind == SPEC_TYPE;
  const char *type = is_annotated ? specs[i].type : own;
  bool wants_pointer = type[0] == '*', is_buffer = v->kind == VALUE_POINTER;
  if (is_annotated && (wants_pointer != is_buffer ||
                       (wants_pointer && strcmp(type + 1 + (type[1] == 'k'), own + 1 + (own[1] == 'k'))))) {
    *is_usage_error = true;
    diag_error(ctx, (Span){0, 0}, "%s %s: the kernel's parameter is %s, and %s is %s", origin, param->name, type,
               v->text, own);
    const bool is_option = origin[0] == '-';
    DtypeKind wanted;
    if (is_option && wants_pointer && v->text[0] == '@' && dtype_find(type + 1 + (type[1] == 'k'), &wanted) &&
        npy_has_type(wanted))
      diag_note(ctx, (Span){0, 0}, "save it as x.astype(\"%s\")", dtype_info[wanted].name);
    else if (is_option && wants_pointer)
      diag_note(ctx, (Span){0, 0}, "a buffer is written --arg %s=%s[1000]=randn:1", param->name,
                type + 1 + (type[1] == 'k'));
    else if (is_option && is_buffer) diag_note(ctx, (Span){0, 0}, "a number is written --arg %s=3", param->name);
    else if (is_buffer && wants_pointer)
      diag_note(ctx, (Span){0, 0}, "pass an array of that type, or declare the parameter as %s", own);
    else if (is_buffer)
      diag_note(ctx, (Span){0, 0},
                "an array is passed by its address, not by its element: in Python, x.item() is a number");
    return false;
  }
  int hint = hint_of(v, param, is_annotated, type);
  if (is_annotated && !hint && specs[i].divisible > 1) return true;
  if (!frontend_set_type(fe, k, specs, i, hint ? arena_printf(a, "%s:%d", type, hint) : type, origin)) return false;
  if (v->kind == VALUE_DESC) specs[i].padding = v->pad_nan ? PAD_NAN : PAD_ZERO;
  return true;
}

CtValue *specialize_scalar_value(Context *ctx, const SpecValue *v) {
  switch (v->kind) {
  case VALUE_NONE: return ct_none();
  case VALUE_BOOL: return ct_bool(v->i != 0);
  case VALUE_INT: return ct_int(ctx, v->has_dtype && v->dtype == DT_UINT64 ? (Int128)(uint64_t)v->i : v->i);
  case VALUE_FLOAT: return ct_float(ctx, v->f);
  default: return NULL;
  }
}

CtValue *specialize_heuristic_value(Frontend *fe, Context *ctx, const SpecValue *v) {
  if (v->kind == VALUE_TUPLE) {
    CtValue **items = arena_array(&ctx->arena, CtValue *, v->num_items + 1);
    for (uint32_t i = 0; i < v->num_items; i++) items[i] = specialize_heuristic_value(fe, ctx, &v->items[i]);
    return ct_tuple(ctx, items, v->num_items);
  }
  if (v->kind == VALUE_CONSTEXPR) {
    CtValue *c = constexpr_value(fe, v, "constexpr");
    return c ? ct_unwrap(c) : ct_none();
  }
  CtValue *value = specialize_scalar_value(ctx, v);
  // A heuristic may ask whether a tensor is None. It learns nothing else about a tensor but its type.
  return value ? value : ct_dtype(ctx, ct_type_pointer(ctx, ct_type_scalar(ctx, v->dtype), false));
}
