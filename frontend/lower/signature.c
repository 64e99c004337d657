// The types and constants that a kernel is compiled with: annotations, --signature, -D.
#include <stdlib.h>
#include <string.h>

#include "frontend/lower/lower.h"

uint32_t frontend_param_index(const CtFunction *kernel, const char *name) {
  uint32_t i = 0;
  while (i < kernel->num_params && strcmp(kernel->params[i].name, name) != 0) i++;
  return i;
}

// ---- one parameter ----
static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n'; }

static const char *trim(Context *ctx, const char *s, size_t n) {
  while (n && is_blank(*s)) s++, n--;
  while (n && is_blank(s[n - 1])) n--;
  return intern_n(ctx, s, n);
}

static const char *spec_text(Context *ctx, const ParamSpec *s) {
  if (s->kind == SPEC_CONSTEXPR) return ct_repr(ctx, s->value);
  if (s->kind == SPEC_TUPLE) {
    Buf b = buf_make(&ctx->arena);
    buf_printf(&b, "%s(", s->class_name ? s->class_name : "");
    for (uint32_t i = 0; i < s->num_items; i++) buf_printf(&b, "%s%s", i ? ", " : "", spec_text(ctx, &s->items[i]));
    buf_puts(&b, ")");
    return buf_str(&b);
  }
  return s->divisible > 1 ? arena_printf(&ctx->arena, "%s:%lld", s->type, (long long)s->divisible) : s->type;
}

static bool same_spec(const ParamSpec *a, const ParamSpec *b) {
  if (a->kind != b->kind) return false;
  if (a->kind == SPEC_CONSTEXPR) return ct_equal(ct_unwrap(a->value), ct_unwrap(b->value));
  if (a->kind != SPEC_TUPLE) return strcmp(a->type, b->type) == 0 && a->divisible == b->divisible;
  if (a->num_items != b->num_items || !a->class_name != !b->class_name ||
      (a->class_name && strcmp(a->class_name, b->class_name) != 0))
    return false;
  for (uint32_t i = 0; i < a->num_items; i++)
    if (!same_spec(&a->items[i], &b->items[i])) return false;
  return true;
}

static const char *signature_origin(const Frontend *fe) {
  return fe->ctx->caller == CALLER_TILEC ? "--signature" : "signature";
}

static ParamSpec constexpr_spec(CtValue *value, const char *origin) {
  return (ParamSpec){.kind = SPEC_CONSTEXPR, .divisible = 1, .value = ct_unwrap(value), .origin = origin};
}

// Replaces an open spec or a default; any other must agree with the new one. False after a diagnostic.
static bool set_spec(Frontend *fe, const CtFunction *kernel, ParamSpec *specs, uint32_t i, ParamSpec s) {
  ParamSpec *old = &specs[i];
  if (old->kind != SPEC_OPEN && !old->is_default) {
    if (!same_spec(old, &s))
      return diag_error(fe->ctx, (Span){0, 0}, "parameter `%s` of `%s` is %s by %s but %s by %s",
                        kernel->params[i].name, kernel->name, spec_text(fe->ctx, old), old->origin,
                        spec_text(fe->ctx, &s), s.origin);
    return true;
  }
  *old = s;
  return true;
}

// Splits "fp16:16" at its hint. False if the hint is not valid.
static bool split_hint(Context *ctx, const char *text, const char **type, int64_t *hint) {
  const char *colon = strrchr(text, ':');
  *hint = 0;
  if (!colon || strchr(colon, ']') || strchr(colon, '>')) {
    *type = trim(ctx, text, strlen(text));
    return true;
  }
  char *end;
  *hint = strtoll(colon + 1, &end, 10);
  while (*end == ' ') end++;
  *type = trim(ctx, text, (size_t)(colon - text));
  return end != colon + 1 && !*end && (*hint == 16 || *hint == 1 || *hint == 8);
}

// "x: *fp32", "x=*fp32" and "BLOCK=256" where the type or value alone belongs.
static void explain_named(Frontend *fe, const CtFunction *kernel, const char *text) {
  const size_t n = strcspn(text, ":= ");
  const char *rest = text + n + strspn(text + n, ":= ");
  if (n && *rest && frontend_param_index(kernel, trim(fe->ctx, text, n)) < kernel->num_params)
    diag_note(fe->ctx, (Span){0, 0},
              "a signature has no names, its items stand in the order of the parameters: write %s", rest);
}

static bool is_word(const char *text) {
  if ((*text < 'a' || *text > 'z') && (*text < 'A' || *text > 'Z') && *text != '_') return false;
  for (; *text; text++)
    if (!strchr("_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", *text)) return false;
  return true;
}

static bool type_spec(Frontend *fe, const CtFunction *kernel, uint32_t i, const char *text, const char *origin,
                      ParamSpec *out) {
  const CtType *t;
  bool is_desc;
  int64_t hint;
  const char *type;
  const char *name = kernel->params[i].name;
  Span none = {0, 0};
  if (!split_hint(fe->ctx, text, &type, &hint)) {
    diag_error(fe->ctx, none, "the hint of `%s` for parameter `%s` must be :16 or :1", text, name);
    explain_named(fe, kernel, text);
    return false;
  }
  bool open_shape = strncmp(type, "tensordesc<", 11) == 0;   // its shape may name constexprs: looked at when lowering
  if (!open_shape && !frontend_parse_type(fe->ctx, type, &t, &is_desc)) {
    diag_error(fe->ctx, none, "`%s` is not a type, in %s for parameter `%s`", type, origin, name);
    const char *near = frontend_guess_type(&fe->ctx->arena, type);
    if (near) diag_note(fe->ctx, none, "write %s", near);
    else if (!kernel->params[i].is_constexpr && is_word(type))
      diag_note(fe->ctx, none, "a text is a constant: declare `%s: tl.constexpr`, and write \"%s\" in quotes", name,
                type);
    explain_named(fe, kernel, text);
    diag_note(fe->ctx, none,
              "types are i1 i8 i16 i32 i64 u8 u16 u32 u64 fp8e4nv fp8e4b15 fp8e5 fp16 bf16 fp32 fp64, pointers "
              "*fp32, and tensordesc<fp16[128,64]>");
    return false;
  }
  if (hint == 1 && !open_shape) {
    if (t->kind != CT_TYPE_SCALAR || !ct_is_int(t))
      return diag_error(fe->ctx, none, "only integers can be specialised to 1, not `%s` (parameter `%s`)", type, name);
    *out = (ParamSpec){
        .kind = SPEC_CONSTEXPR, .type = type, .divisible = 1, .value = ct_int(fe->ctx, 1), .origin = origin};
    return true;
  }
  if (hint > 1 && !open_shape && !is_desc && t->kind == CT_TYPE_SCALAR && !ct_is_int(t)) {
    diag_error(fe->ctx, none, "only integers and pointers can be multiples of %d, not `%s` (parameter `%s`)", (int)hint,
               type, name);
    return false;
  }
  if (kernel->params[i].is_const && type[0] == '*' && type[1] != 'k')
    type = intern(fe->ctx, arena_printf(&fe->ctx->arena, "*k%s", type + 1));
  *out = (ParamSpec){.kind = SPEC_TYPE, .type = type, .divisible = hint > 1 ? hint : 1, .origin = origin};
  return true;
}

bool frontend_set_type(Frontend *fe, const CtFunction *kernel, ParamSpec *specs, uint32_t index, const char *type,
                       const char *origin) {
  ParamSpec s;
  if (!type_spec(fe, kernel, index, type, origin, &s)) return false;
  s.padding = specs[index].padding;
  return set_spec(fe, kernel, specs, index, s);
}

bool frontend_item_type(Frontend *fe, const CtFunction *kernel, uint32_t index, const char *type, const char *origin,
                        ParamSpec *out) {
  return type_spec(fe, kernel, index, type, origin, out);
}

bool frontend_set_tuple(Frontend *fe, const CtFunction *kernel, ParamSpec *specs, uint32_t index, ParamSpec *items,
                        uint32_t num_items, const char *class_name, const char *origin) {
  return set_spec(fe, kernel, specs, index,
                  (ParamSpec){.kind = SPEC_TUPLE,
                              .divisible = 1,
                              .items = items,
                              .num_items = num_items,
                              .class_name = class_name,
                              .origin = origin});
}

const char *frontend_item_name(Arena *a, const char *name, uint32_t i) { return arena_printf(a, "%s_%u", name, i); }

static const char *all_names(Frontend *fe, const char *const *names, uint32_t count) {
  Buf b = buf_make(&fe->ctx->arena);
  for (uint32_t i = 0; i < count; i++) buf_printf(&b, "%s%s", i ? ", " : "", names[i]);
  return buf_str(&b);
}

bool frontend_set_constexpr(Frontend *fe, const CtFunction *kernel, ParamSpec *specs, const char *name, CtValue *value,
                            const char *origin) {
  uint32_t i = frontend_param_index(kernel, name);
  if (i < kernel->num_params)
    return set_spec(fe, kernel, specs, i, constexpr_spec(value, origin));
  if (!frontend_check_params(fe, kernel)) return false;
  diag_error(fe->ctx, kernel->def->func.name_span, "kernel `%s` has no parameter `%s`, given by %s", kernel->name, name,
             origin);
  const char **names = arena_array(&fe->ctx->arena, const char *, kernel->num_params + 1);
  for (uint32_t k = 0; k < kernel->num_params; k++) names[k] = kernel->params[k].name;
  const char *near = nearest_name(name, names, kernel->num_params);
  if (near) diag_note(fe->ctx, (Span){0, 0}, "did you mean `%s`?", near);
  else diag_note(fe->ctx, (Span){0, 0}, "its parameters: %s", all_names(fe, names, kernel->num_params));
  return false;
}

// What a default value of a parameter of type t is, or NULL if v is one. None and values that are not known at compile
// time are one of every type.
static const char *other_than_default(Context *ctx, const CtType *t, bool is_desc, const CtValue *v) {
  if (v->kind == CT_NONE || v->kind == CT_MISSING) return NULL;
  if (is_desc || t->kind != CT_TYPE_SCALAR || ct_is_ptr(t)) return "None, because memory comes with the launch";
  const bool is_whole = v->kind == CT_INT || v->kind == CT_BOOL;
  if (ct_is_float(t)) return is_whole || v->kind == CT_FLOAT ? NULL : "a number";
  if (!is_whole) return ct_is_bool(t) ? "True or False" : "an integer";
  if (v->kind == CT_BOOL || (ct_is_bool(t) ? v->i == 0 || v->i == 1 : ct_int_fits(v->i, t))) return NULL;
  return ct_is_bool(t) ? "True or False" : arena_printf(&ctx->arena, "an integer that fits %s", ct_type_text(ctx, t));
}

static void check_default(Frontend *fe, const CtParam *p, const char *type) {
  const CtType *t;
  bool is_desc;
  if (!p->default_value || !p->node || !frontend_parse_type(fe->ctx, type, &t, &is_desc)) return;
  const char *wanted = other_than_default(fe->ctx, t, is_desc, ct_unwrap(p->default_value));
  if (!wanted) return;
  diag_error(fe->ctx, p->node->param.default_value->span, "the default value of `%s`, which is %s, must be %s", p->name,
             type, wanted);
}

ParamSpec *frontend_new_specs(Frontend *fe, const CtFunction *kernel) {
  ParamSpec *specs = arena_array(&fe->ctx->arena, ParamSpec, kernel->num_params + 1);
  for (uint32_t i = 0; i < kernel->num_params; i++) {
    const CtParam *p = &kernel->params[i];
    ParamSpec s = {.kind = SPEC_OPEN, .divisible = 1};
    const CtValue *given = p->default_value && p->node ? ct_unwrap(p->default_value) : NULL;
    if (given && given->kind == CT_BUILTIN && !strcmp(given->builtin.name, "tl.constexpr")) {
      diag_error(fe->ctx, p->node->param.default_value->span, "tl.constexpr is the default value of `%s` here",
                 p->name);
      diag_note(fe->ctx, (Span){0, 0}, "what a parameter is stands after a colon: `%s: tl.constexpr`", p->name);
    }
    if (p->is_constexpr) {
      if (p->default_value)
        s = constexpr_spec(p->default_value, "its default value");
    } else if (p->type_text) {
      if (!type_spec(fe, kernel, i, p->type_text, "its annotation", &s))
        s = (ParamSpec){.kind = SPEC_OPEN, .divisible = 1};
      else if (s.kind == SPEC_TYPE) check_default(fe, p, s.type);
    } else if (p->default_value && ct_unwrap(p->default_value)->kind == CT_NONE) {
      s = constexpr_spec(p->default_value, "its default value");
    }
    s.is_default = s.kind != SPEC_OPEN;
    specs[i] = s;
  }
  return specs;
}

// ---- texts from the command line ----
static CtValue *eval_value(Frontend *fe, const char *what, const char *text) {
  DtypeKind dtype;
  if (dtype_find(text, &dtype)) return ct_dtype(fe->ctx, ct_type_scalar(fe->ctx, dtype));
  return comptime_eval_text(fe->ct, fe->module, what, text, NULL, 0);
}

bool frontend_apply_define(Frontend *fe, const CtFunction *kernel, ParamSpec *specs, const char *text,
                           const char *origin) {
  const char *eq = strchr(text, '=');
  const char *name = trim(fe->ctx, text, (size_t)(eq - text));
  if (frontend_param_index(kernel, name) == kernel->num_params)
    return frontend_set_constexpr(fe, kernel, specs, name, ct_none(), origin);
  const char *value = trim(fe->ctx, eq + 1, strlen(eq + 1));
  CtValue *v = eval_value(fe, arena_printf(&fe->ctx->arena, "%s %s", origin, name), value);
  if (!v && is_word(value))
    diag_note(fe->ctx, (Span){0, 0}, "a text stands in quotes, which a shell takes away: write -D \"%s='%s'\"", name,
              value);
  return v && frontend_set_constexpr(fe, kernel, specs, name, v, origin);
}

// The end of the item that begins at s: a comma outside brackets and quotes, or the end of the text.
static const char *item_end(const char *s) {
  int depth = 0;
  char quote = 0;
  for (; *s; s++) {
    if (quote) {
      if (*s == '\\' && s[1]) s++;
      else if (*s == quote) quote = 0;
    } else if (*s == '\'' || *s == '"') quote = *s;
    else if (*s == '<' || *s == '[' || *s == '(' || *s == '{') depth++;
    else if (*s == '>' || *s == ']' || *s == ')' || *s == '}') depth--;
    else if (*s == ',' && depth <= 0) break;
  }
  return s;
}

// An item of a signature, and where it stands in the signature's text.
typedef struct { const char *text; uint32_t at; } Item;
typedef VEC(Item) ItemVec;

static Item trimmed(Context *ctx, const char *s, size_t n, uint32_t at) {
  while (n && is_blank(*s)) s++, n--, at++;
  return (Item){trim(ctx, s, n), at};
}

// The items between commas; after the last comma there may be none, as in "(i32, )". at: the offset of the text in the
// signature.
static ItemVec split_items(Frontend *fe, const char *text, size_t size, uint32_t at) {
  ItemVec items = {0};
  const char *last = text + size;
  while (last > text && is_blank(last[-1])) last--;
  for (const char *s = text; s < last;) {
    const char *end = item_end(s);
    if (end > last) end = last;
    vec_push(&fe->ctx->arena, &items, trimmed(fe->ctx, s, (size_t)(end - s), at + (uint32_t)(s - text)));
    s = end < last ? end + 1 : end;
  }
  return items;
}

static bool is_value_text(const char *item) {
  return strchr("0123456789-+.'\"", item[0]) != NULL || strcmp(item, "None") == 0 || strcmp(item, "True") == 0 ||
         strcmp(item, "False") == 0;
}

// Where the parenthesis opens in "(*fp32, i32:16, 4)", before which the name of a namedtuple or `constexpr` may stand.
// NULL if the item is not a tuple.
static const char *tuple_open(const char *item) {
  const char *p = item;
  while (*p == '_' || (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (p > item && *p >= '0' && *p <= '9')) p++;
  return *p == '(' && item[strlen(item) - 1] == ')' ? p : NULL;
}

enum { MAX_TUPLE_DEPTH = 32 };

// The kernel that a signature is for, and the signature as a source.
typedef struct { Frontend *fe; const CtFunction *kernel; ParamSpec *specs; const SourceFile *file; } Signature;

static CtValue *item_value(const Signature *s, uint32_t i, Item item) {
  Frontend *fe = s->fe;
  const CtParam *p = &s->kernel->params[i];
  DtypeKind dtype;
  if (dtype_find(item.text, &dtype)) return ct_dtype(fe->ctx, ct_type_scalar(fe->ctx, dtype));
  CtValue *v = comptime_eval_part(fe->ct, fe->module, s->file, item.at, item.at + (uint32_t)strlen(item.text));
  if (!v) explain_named(fe, s->kernel, item.text);
  if (!v && p->node) diag_note(fe->ctx, p->node->span, "it is the value of parameter `%s`", p->name);
  return v;
}

static bool tuple_item(const Signature *s, uint32_t i, Item item, uint32_t depth, ParamSpec *out) {
  Frontend *fe = s->fe;
  const char *name = s->kernel->params[i].name, *text = item.text;
  if (!*text)
    return diag_error(fe->ctx, (Span){0, 0}, "an item of the tuple for parameter `%s` is missing, in --signature",
                      name);
  if (depth == MAX_TUPLE_DEPTH)
    return diag_error(fe->ctx, (Span){0, 0}, "the tuple for parameter `%s` nests deeper than %d, in --signature",
                      name, MAX_TUPLE_DEPTH);
  const char *open = tuple_open(text);
  if (!open && !is_value_text(text)) return type_spec(fe, s->kernel, i, text, "--signature", out);
  const uint32_t before = open ? (uint32_t)(open + 1 - text) : 0;
  bool wrapped = open && before == strlen("constexpr(") && strncmp(text, "constexpr", 9) == 0;
  if (!open || wrapped) {
    CtValue *v =
        item_value(s, i, wrapped ? trimmed(fe->ctx, open + 1, strlen(open) - 2, item.at + before) : item);
    if (v) *out = constexpr_spec(v, signature_origin(fe));
    return v != NULL;
  }
  const ItemVec items = split_items(fe, open + 1, strlen(open + 1) - 1, item.at + before);
  *out = (ParamSpec){.kind = SPEC_TUPLE, .divisible = 1, .num_items = items.count, .origin = signature_origin(fe)};
  if (open > text) out->class_name = intern_n(fe->ctx, text, (size_t)(open - text));
  out->items = arena_array(&fe->ctx->arena, ParamSpec, items.count + 1);
  bool ok = true;
  for (uint32_t k = 0; k < items.count; k++) ok = tuple_item(s, i, items.data[k], depth + 1, &out->items[k]) && ok;
  return ok;
}

static bool apply_item(const Signature *s, uint32_t i, Item item) {
  Frontend *fe = s->fe;
  const CtParam *p = &s->kernel->params[i];
  const char *type, *text = item.text;
  int64_t hint;
  const CtType *t;
  bool is_desc;
  if (!p->is_constexpr) {
    ParamSpec spec;
    if (tuple_open(text)) return tuple_item(s, i, item, 0, &spec) && set_spec(fe, s->kernel, s->specs, i, spec);
    if (!is_value_text(text)) return frontend_set_type(fe, s->kernel, s->specs, i, text, signature_origin(fe));
  } else if (split_hint(fe->ctx, text, &type, &hint) && type[0] == '*' &&
             frontend_parse_type(fe->ctx, type, &t, &is_desc)) {
    return diag_error(fe->ctx, (Span){0, 0},
                      "parameter `%s` of `%s` is a constexpr: --signature gives the type %s where a value belongs",
                      p->name, s->kernel->name, text);
  }
  CtValue *v = item_value(s, i, item);
  return v && set_spec(fe, s->kernel, s->specs, i, constexpr_spec(v, signature_origin(fe)));
}

// Where the parenthesis opens in "add(*fp32, i32)", as `tilec pack` takes it, if the only item is of that form.
static const char *kernel_open(const ItemVec *items) {
  return items->count == 1 ? tuple_open(items->data[0].text) : NULL;
}

static bool names_kernel(const char *item, const char *open, const CtFunction *kernel) {
  const size_t n = strlen(kernel->name);
  return open && (size_t)(open - item) == n && strncmp(item, kernel->name, n) == 0;
}

CtFunction *frontend_signature_kernel(Frontend *fe, const char *text) {
  const ItemVec items = split_items(fe, text, strlen(text), 0);
  const char *open = kernel_open(&items);
  for (uint32_t i = 0; i < fe->kernels.count; i++)
    if (open && names_kernel(items.data[0].text, open, fe->kernels.data[i])) return fe->kernels.data[i];
  return NULL;
}

// The items of a signature, which may stand in parentheses after the kernel's name.
static ItemVec signature_items(Frontend *fe, const CtFunction *kernel, const char *text) {
  const ItemVec items = split_items(fe, text, strlen(text), 0);
  const char *open = kernel_open(&items);
  if (!names_kernel(items.data ? items.data[0].text : "", open, kernel)) return items;
  const uint32_t at = items.data[0].at + (uint32_t)(open + 1 - items.data[0].text);
  return split_items(fe, open + 1, strlen(open + 1) - 1, at);
}

bool frontend_apply_signature(Frontend *fe, const CtFunction *kernel, ParamSpec *specs, const char *text) {
  if (!frontend_check_params(fe, kernel)) return false;
  const Signature s = {fe, kernel, specs, source_add(fe->ctx, signature_origin(fe), text, strlen(text))};
  if (!s.file) return false;
  const ItemVec items = signature_items(fe, kernel, text);
  uint32_t runtime = 0;
  for (uint32_t i = 0; i < kernel->num_params; i++) runtime += !kernel->params[i].is_constexpr;
  if (items.count > kernel->num_params) {
    diag_error(fe->ctx, (Span){0, 0}, "--signature has %u items, kernel `%s` has %u parameters", items.count,
               kernel->name, kernel->num_params);
    Buf b = buf_make(&fe->ctx->arena);
    for (uint32_t i = 0; i < kernel->num_params; i++) buf_printf(&b, "%s%s", i ? ", " : "", kernel->params[i].name);
    diag_note(fe->ctx, (Span){0, 0}, "they are %s", buf_str(&b));
    return false;
  }
  // With as many items as run-time parameters, the constexprs between them are left to -D and defaults.
  bool skip_constexprs = items.count == runtime && items.count < kernel->num_params;
  bool ok = true;
  for (uint32_t i = 0, k = 0; i < kernel->num_params; i++) {
    if (k == items.count) {
      specs[i].is_left_out = !kernel->params[i].is_constexpr && specs[i].kind != SPEC_CONSTEXPR;
      continue;
    }
    if (skip_constexprs && kernel->params[i].is_constexpr) continue;
    const Item item = items.data[k++];
    if (*item.text) ok = apply_item(&s, i, item) && ok;
  }
  return ok;
}

bool frontend_check_signature(Frontend *fe, const CtFunction *kernel, const ParamSpec *specs) {
  Buf missing = buf_make(&fe->ctx->arena), all = buf_make(&fe->ctx->arena);
  for (uint32_t i = 0; i < kernel->num_params; i++) {
    const char *name = kernel->params[i].name;
    if (specs[i].is_left_out) buf_printf(&missing, "%s`%s`", missing.size ? ", " : "", name);
    if (!kernel->params[i].is_constexpr)
      buf_printf(&all, "%s%s", all.size ? ", " : "", spec_text(fe->ctx, &specs[i]));
  }
  if (!missing.size) return true;
  diag_error(fe->ctx, kernel->def->func.name_span, "--signature ends before %s of kernel `%s`", buf_str(&missing),
             kernel->name);
  diag_note(fe->ctx, (Span){0, 0},
            "a signature has all parameters in order: \"%s\"; an empty item, as in \"i32, , i32\", keeps an annotation",
            buf_str(&all));
  return false;
}
