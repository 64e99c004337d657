// Applies triton's and the native decorators: jit, autotune, heuristics, constexpr_function, aggregate. Makes
// triton.Config objects, and reads parameters' annotations.
#include <string.h>

#include "frontend/comptime/comptime_impl.h"
#include "ir/nearest.h"

// ---- annotations ----

static bool is_constexpr_name(const char *s) {
  const char *dot = strrchr(s, '.');
  return !strcmp(dot ? dot + 1 : s, "constexpr");
}

static bool is_const_name(const char *s) {
  return !strcmp(s, "tl.const") || !strcmp(s, "const") || !strcmp(s, "gl.const");
}

// Whether a text in an annotation is a type as signatures write it: "*fp32", "*kfp16:16", "i32:1", "tensordesc<…>".
static bool is_signature_type(const char *s) {
  char name[32];
  if (!strncmp(s, "tensordesc<", 11) || !strncmp(s, "tensordesc_im2col<", 18)) return true;
  bool is_pointer = *s == '*';
  s += strspn(s, "*");
  if (is_pointer && *s == 'k') s++;
  size_t n = strcspn(s, ":");
  if (!n || n >= sizeof name) return false;
  memcpy(name, s, n);
  name[n] = 0;
  DtypeKind k;
  return dtype_find(name, &k);
}

static void annotate_text(Comptime *ct, CtParam *p, const char *text) {
  if (is_constexpr_name(text)) p->is_constexpr = true;
  else if (is_const_name(text)) p->is_const = true;
  else if (is_signature_type(text)) p->type_text = intern(ct->ctx, text);
}

static void annotate(Comptime *ct, CtParam *p, const Node *n, CtEnv *env) {
  // *kfp32: a const pointer; kfp32 alone is not a name.
  if (n->kind == NODE_POINTER_TYPE && n->unary.value->kind == NODE_NAME) {
    const char *text = arena_printf(ct->arena, "*%s", n->unary.value->name.id);
    if (is_signature_type(text)) {
      p->type_text = intern(ct->ctx, text);
      return;
    }
  }
  CtValue *v = p->annotation = ct_eval_quietly(ct, n, env);
  if (!v) return;
  v = ct_unwrap(v);
  if (v->kind == CT_TUPLE && v->list.count) v = v->list.data[0];   // fp32 | None
  if (v->kind == CT_STR) annotate_text(ct, p, v->str.data);
  else if (v->kind == CT_DTYPE) p->type_text = intern(ct->ctx, ct_type_text(ct->ctx, v->type));
  else if (v->kind == CT_BUILTIN) {
    if (!strcmp(v->builtin.name, "float")) p->type_text = "fp32";
    else if (!strcmp(v->builtin.name, "bool")) p->type_text = "u1";
    else annotate_text(ct, p, v->builtin.name);
  }
}

static void annotate_params(Comptime *ct, CtFunction *fn) {
  for (uint32_t i = 0; i < fn->num_params; i++) {
    const Node *annotation = fn->params[i].node->param.annotation;
    if (annotation) annotate(ct, &fn->params[i], annotation, fn->env);
  }
}

// ---- jit ----

static bool names_param(const CtValue *v, const CtParam *p, uint32_t index) {
  return (v->kind == CT_STR && !strcmp(v->str.data, p->name)) || (v->kind == CT_INT && v->i == index);
}

static void mark_params(CtFunction *fn, const CtValue *names, bool alignment_only) {
  if (!names || !ct_has_list(names)) return;
  for (uint32_t i = 0; i < fn->num_params; i++)
    for (uint32_t k = 0; k < names->list.count; k++) {
      if (!names_param(names->list.data[k], &fn->params[i], i)) continue;
      if (alignment_only) fn->params[i].do_not_specialize_on_alignment = true;
      else fn->params[i].do_not_specialize = true;
    }
}

static CtFunction *copy_function(Comptime *ct, const CtFunction *fn) {
  CtFunction *copy = arena_new(ct->arena, CtFunction);
  *copy = *fn;
  copy->params = arena_array(ct->arena, CtParam, fn->num_params + 1);
  if (fn->num_params) memcpy(copy->params, fn->params, fn->num_params * sizeof *fn->params);
  return copy;
}

static bool option_is_set(const CtDict *options, const char *name) {
  const CtValue *v = options ? ct_dict_get_str(options, name) : NULL;
  return v && v->kind != CT_MISSING && ct_is_true(v);
}

// False after an error. The options are the same for all decorators that compile.
static bool check_jit_options(Comptime *ct, const char *decorator, const CtDict *options, Span span) {
  static const char *const known[] = {"noinline", "debug", "do_not_specialize", "do_not_specialize_on_alignment",
                                      "version",  "repr",  "launch_metadata"};
  for (uint32_t i = 0; options && i < options->count; i++) {
    const char *name = options->entries[i].key->str.data;
    bool found = false;
    for (size_t k = 0; k < countof(known); k++) found |= !strcmp(name, known[k]);
    if (found) continue;
    const char *near = nearest_name(name, known, countof(known));
    ct_fail(ct, span, "TypeError", "%s has no option '%s'", strrchr(decorator, '.') + 1, name);
    ct->error->hint = near ? arena_printf(ct->arena, "did you mean `%s`?", near)
                           : "options such as num_warps belong to triton.Config(…), the launch or the command line";
    return false;
  }
  return true;
}

static CtValue *make_jit(Comptime *ct, const char *decorator, CtValue *v, const CtDict *options, Span span) {
  v = ct_unwrap(v);
  if (v->kind == CT_MISSING) return v;
  if (v->kind != CT_FUNCTION)
    return ct_fail(ct, span, "TypeError", "'%s' cannot be compiled: it is not a function", ct_kind_name(v));
  if (v->fn->def->kind != NODE_FUNCTION_DEF)
    return ct_fail(ct, span, "TypeError", "a lambda cannot be compiled; write a def");
  if (!check_jit_options(ct, decorator, options, span)) return NULL;
  CtFunction *fn = copy_function(ct, v->fn);
  fn->role = FN_JIT;
  fn->is_kernel = !strcmp(decorator, "tile.kernel");
  fn->is_bare = !strncmp(decorator, "tile.", 5);
  fn->is_gluon = !strncmp(decorator, "gluon.", 6);
  fn->debug = option_is_set(options, "debug");
  annotate_params(ct, fn);
  if (ct->error) return NULL;
  if (options) {
    mark_params(fn, ct_dict_get_str(options, "do_not_specialize"), false);
    mark_params(fn, ct_dict_get_str(options, "do_not_specialize_on_alignment"), true);
  }
  return ct_function_value(ct, fn);
}

// ---- Config ----

// After an error about Config's arguments: the call with the constexprs in its dictionary.
static CtValue *hint_config(Comptime *ct, const CtArgs *a) {
  static const char *const options[] = {"num_warps", "num_stages", "num_ctas", "maxnreg", "pre_hook", "ir_override",
                                        "minRegAutoWS", "maxRegAutoWS"};
  const CtValue *first = a->num_args ? ct_unwrap(a->args[0]) : ct_kwarg(a, "kwargs");
  CtValue *constexprs = ct_dict(ct->ctx);
  for (uint32_t i = 0; first && first->kind == CT_DICT && i < first->dict->count; i++)
    ct_dict_set(ct->ctx, constexprs->dict, first->dict->entries[i].key, first->dict->entries[i].value);
  Buf rest = buf_make(ct->arena);
  for (uint32_t i = 0; i < a->num_kwargs; i++) {
    const CtBinding *k = &a->kwargs[i];
    bool is_option = false;
    for (size_t o = 0; o < countof(options); o++) is_option |= !strcmp(k->name, options[o]);
    const CtValue *v = ct_unwrap(k->value);
    if (is_option) buf_printf(&rest, ", %s=%s", k->name, ct_repr(ct->ctx, k->value));
    else if (v->kind == CT_DICT)   // the constexprs under another name, such as `meta`
      for (uint32_t e = 0; v != first && e < v->dict->count; e++)
        ct_dict_set(ct->ctx, constexprs->dict, v->dict->entries[e].key, v->dict->entries[e].value);
    else if (strcmp(k->name, "kwargs")) ct_dict_set_str(ct->ctx, constexprs->dict, k->name, k->value);
  }
  if (ct->error && !ct->error->hint && !strstr(ct->error->message, "did you mean"))
    ct->error->hint = arena_printf(ct->arena, "constexprs stand in its dictionary: write triton.Config(%s%s)",
                                   ct_repr(ct->ctx, constexprs), buf_str(&rest));
  return NULL;
}

static CtValue *make_config(Comptime *ct, const CtArgs *a) {
  static const char *const attrs[] = {"kwargs",  "num_warps", "num_stages", "num_ctas",
                                      "maxnreg", "pre_hook",  "ir_override"};
  CtValue *values[9];
  if (!ct_take_args(ct, "Config kwargs ?num_warps ?num_stages ?num_ctas ?maxnreg ?pre_hook ?ir_override"
                        " ?minRegAutoWS ?maxRegAutoWS", a, values))
    return hint_config(ct, a);
  if (ct_unwrap(values[0])->kind != CT_DICT) {
    if (values[0]->kind == CT_MISSING) return ct_fail_missing(ct, a->span, values[0]);
    return ct_fail(ct, a->span, "TypeError", "Config's first argument must be a dictionary, not '%s'",
                   ct_kind_name(values[0]));
  }
  CtValue *v = ct_object_new(ct, "triton.Config");
  CtValue *defaults[] = {ct_dict(ct->ctx), ct_int(ct->ctx, 4), ct_int(ct->ctx, 3), ct_int(ct->ctx, 1),
                         ct_none(), ct_none(),   ct_none()};
  for (size_t i = 0; i < countof(attrs); i++)
    ct_attr_set(ct, v, attrs[i], values[i] ? ct_unwrap(values[i]) : defaults[i]);
  return v;
}

static int small_int(Comptime *ct, const CtValue *config, const char *name) {
  const CtValue *v = ct_attr(ct, config, name);
  return v && v->kind == CT_INT && v->i > 0 && v->i < 1 << 20 ? (int)v->i : 0;
}

bool comptime_read_config(Comptime *ct, CtValue *object, CtConfig *out) {
  if (object->kind != CT_INSTANCE || strcmp(object->instance->cls->name, "triton.Config")) return false;
  CtValue *kwargs = ct_attr(ct, object, "kwargs"), *hook = ct_attr(ct, object, "pre_hook");
  *out = (CtConfig){.kwargs = kwargs && kwargs->kind == CT_DICT ? kwargs->dict : ct_dict(ct->ctx)->dict,
                    .num_warps = small_int(ct, object, "num_warps"),
                    .num_stages = small_int(ct, object, "num_stages"),
                    .num_ctas = small_int(ct, object, "num_ctas"),
                    .maxnreg = small_int(ct, object, "maxnreg"),
                    .pre_hook = hook && hook->kind != CT_NONE && hook->kind != CT_MISSING ? hook : NULL,
                    .object = object};
  return true;
}

// ---- autotune and heuristics ----

static CtValue *option(const CtDict *options, const char *name) {
  CtValue *v = ct_dict_get_str(options, name);
  return v && v->kind != CT_NONE && v->kind != CT_MISSING ? v : NULL;
}

// Where the text stands in the list that is the keyword argument `which` of one of the function's decorators.
static Span span_in_decorator(const CtFunction *fn, const char *which, const char *text, Span otherwise) {
  const NodeList *decorators = &fn->def->func.decorators;
  for (uint32_t i = 0; i < decorators->count; i++) {
    const Node *call = decorators->data[i];
    for (uint32_t k = 0; call->kind == NODE_CALL && k < call->call.keywords.count; k++) {
      const Node *keyword = call->call.keywords.data[k], *list = keyword->attr.first;
      if (!keyword->attr.name || strcmp(keyword->attr.name, which) != 0) continue;
      if (list->kind != NODE_LIST && list->kind != NODE_TUPLE) continue;
      for (uint32_t e = 0; e < list->list.count; e++) {
        const Node *item = list->list.data[e];
        if (item->kind == NODE_STR && strcmp(item->str.data, text) == 0) return item->span;
      }
    }
  }
  return otherwise;
}

// -Wautotune-name: a name in key, reset_to_zero or restore_value that is no parameter has no effect.
static void check_names(Comptime *ct, const CtFunction *fn, const CtDict *options, const char *which, Span span) {
  CtList list;
  CtValue *v = option(options, which);
  if (!v || (v->kind != CT_LIST && v->kind != CT_TUPLE) || !ct_iterate(ct, v, span, &list)) return;
  const char **names = arena_array(ct->arena, const char *, fn->num_params + 1);
  for (uint32_t k = 0; k < fn->num_params; k++) names[k] = fn->params[k].name;
  for (uint32_t i = 0; i < list.count; i++) {
    const CtValue *item = ct_unwrap(list.data[i]);
    if (item->kind != CT_STR) continue;
    bool found = false;
    for (uint32_t k = 0; k < fn->num_params && !found; k++) found = strcmp(names[k], item->str.data) == 0;
    if (found) continue;
    const Span at = span_in_decorator(fn, which, item->str.data, span);
    if (!diag_warning(ct->ctx, WARN_AUTOTUNE_NAME, at, "`%s` in %s of autotune is no parameter of `%s`",
                      item->str.data, which, fn->name))
      continue;
    const char *near = nearest_name(item->str.data, names, fn->num_params);
    if (near) diag_note(ct->ctx, (Span){0, 0}, "did you mean `%s`?", near);
    else diag_note(ct->ctx, (Span){0, 0}, "it has no effect: remove it, or name a parameter");
  }
}

static CtValue *apply_autotune(Comptime *ct, const CtDict *options, CtValue *v, Span span) {
  v = ct_unwrap(v);
  if (v->kind == CT_MISSING) return v;
  if (v->kind != CT_FUNCTION || v->fn->role != FN_JIT)
    return ct_fail(ct, span, "TypeError",
                   "autotune decorates a jit function, not '%s': put it above @triton.jit or @kernel", ct_kind_name(v));
  CtFunction *fn = copy_function(ct, v->fn);
  CtAutotune *tune = fn->autotune = arena_new(ct->arena, CtAutotune);
  CtList configs;
  CtValue *given = ct_dict_get_str(options, "configs");
  if (comptime_read_config(ct, given, &(CtConfig){0}))
    return ct_fail(ct, span, "TypeError", "configs of autotune is a list: configs=[triton.Config(…)]");
  if (!ct_iterate(ct, given, span, &configs)) return NULL;
  tune->configs = arena_array(ct->arena, CtConfig, configs.count + 1);
  for (uint32_t i = 0; i < configs.count; i++) {
    if (comptime_read_config(ct, configs.data[i], &tune->configs[tune->num_configs])) tune->num_configs++;
    else if (configs.data[i]->kind != CT_MISSING)
      return ct_fail(ct, span, "TypeError",
                     "configs[%u] is a '%s', not a triton.Config: write triton.Config({…}, num_warps=…)", i,
                     ct_kind_name(configs.data[i]));
  }
  static const char *const lists[] = {"key", "reset_to_zero", "restore_value"};
  for (size_t i = 0; i < countof(lists); i++) check_names(ct, fn, options, lists[i], span);
  tune->key = option(options, "key");
  if (!tune->key) tune->key = ct_list(ct->ctx, NULL, 0);
  tune->prune_configs_by = option(options, "prune_configs_by");
  tune->reset_to_zero = option(options, "reset_to_zero");
  tune->restore_value = option(options, "restore_value");
  tune->pre_hook = option(options, "pre_hook");
  tune->post_hook = option(options, "post_hook");
  return ct_function_value(ct, fn);
}

static CtValue *apply_heuristics(Comptime *ct, const CtDict *values, CtValue *v, Span span) {
  v = ct_unwrap(v);
  if (v->kind == CT_MISSING) return v;
  if (v->kind != CT_FUNCTION || v->fn->role != FN_JIT)
    return ct_fail(ct, span, "TypeError",
                   "heuristics decorates a jit function, not '%s': put it above @triton.jit or @kernel",
                   ct_kind_name(v));
  CtFunction *fn = copy_function(ct, v->fn);
  // An outer decorator runs before the inner ones.
  fn->num_heuristics = values->count + v->fn->num_heuristics;
  fn->heuristics = arena_array(ct->arena, CtHeuristic, fn->num_heuristics + 1);
  for (uint32_t i = 0; i < values->count; i++) {
    const CtValue *key = values->entries[i].key;
    if (key->kind != CT_STR) return ct_fail(ct, span, "TypeError", "the keys of heuristics must be parameter names");
    const CtKind kind = values->entries[i].value->kind;
    if (kind == CT_INT || kind == CT_FLOAT || kind == CT_BOOL || kind == CT_STR || kind == CT_NONE)
      return ct_fail(ct, span, "TypeError", "the heuristic of '%s' is %s, not a function: write lambda args: %s",
                     key->str.data, ct_repr(ct->ctx, values->entries[i].value),
                     ct_repr(ct->ctx, values->entries[i].value));
    fn->heuristics[i] = (CtHeuristic){intern(ct->ctx, key->str.data), values->entries[i].value};
  }
  for (uint32_t i = 0; i < v->fn->num_heuristics; i++) fn->heuristics[values->count + i] = v->fn->heuristics[i];
  return ct_function_value(ct, fn);
}

// ---- dispatch ----

// A decorator with arguments is a method of a dictionary that holds them: calling it with the function applies it.
static CtValue *delayed(Comptime *ct, const char *name, CtDict *options) {
  CtValue *self = ct_dict(ct->ctx);
  self->dict = options;
  return ct_bind(ct, self, ct_builtin(ct->ctx, name));
}

static CtDict *kwargs_dict(Comptime *ct, const CtArgs *a) {
  CtDict *d = ct_dict(ct->ctx)->dict;
  ct_dict_update_bindings(ct->ctx, d, a->kwargs, a->num_kwargs);
  return d;
}

CT_FN(call_autotune) {
  static const char *const names[] = {"configs",       "key",      "prune_configs_by", "reset_to_zero",
                                      "restore_value", "pre_hook", "post_hook"};
  if (self)
    return a->num_args == 1 ? apply_autotune(ct, self->dict, a->args[0], a->span)
                            : ct_fail(ct, a->span, "TypeError", "autotune decorates one function");
  CtValue *values[12];
  if (!ct_take_args(ct, "autotune configs ?key ?prune_configs_by ?reset_to_zero ?restore_value ?pre_hook ?post_hook"
                        " ?warmup ?rep ?use_cuda_graph ?do_bench ?cache_results", a, values))
    return NULL;
  if (values[0]->kind == CT_MISSING) return values[0];
  CtValue *options = ct_dict(ct->ctx);
  for (size_t i = 0; i < countof(names); i++)
    if (values[i]) ct_dict_set_str(ct->ctx, options->dict, names[i], values[i]);
  return delayed(ct, "triton.autotune", options->dict);
}

CT_FN(call_heuristics) {
  if (self)
    return a->num_args == 1 ? apply_heuristics(ct, self->dict, a->args[0], a->span)
                            : ct_fail(ct, a->span, "TypeError", "heuristics decorates one function");
  CtValue *values;
  if (!ct_take_args(ct, "heuristics values", a, &values)) return NULL;
  values = ct_unwrap(values);
  if (values->kind == CT_MISSING) return values;
  if (values->kind != CT_DICT)
    return ct_fail(ct, a->span, "TypeError", "heuristics takes a dictionary, not '%s'", ct_kind_name(values));
  return delayed(ct, "triton.heuristics", values->dict);
}

static CtValue *change_function(Comptime *ct, const char *what, const CtArgs *a, FnRole role) {
  CtValue *v = a->num_args == 1 ? ct_unwrap(a->args[0]) : NULL;
  if (v && (v->kind == CT_MISSING || v->kind == CT_BUILTIN)) return v;
  if (!v || v->kind != CT_FUNCTION) return ct_fail(ct, a->span, "TypeError", "%s decorates one function", what);
  CtFunction *fn = copy_function(ct, v->fn);
  if (role == FN_CONSTEXPR) fn->role = FN_CONSTEXPR;
  return ct_function_value(ct, fn);
}

// @must_use_result, or @must_use_result("why").
CT_FN(call_must_use_result) {
  const CtValue *given = a->num_args == 1 ? ct_unwrap(a->args[0]) : NULL;
  if (!self && given && given->kind == CT_STR) {
    CtValue *options = ct_dict(ct->ctx);
    ct_dict_set_str(ct->ctx, options->dict, "reason", a->args[0]);
    return delayed(ct, "triton.must_use_result", options->dict);
  }
  CtValue *changed = change_function(ct, "must_use_result", a, FN_PLAIN);
  if (changed && changed->kind == CT_FUNCTION)
    changed->fn->must_use_result = self ? ct_unwrap(ct_dict_get_str(self->dict, "reason"))->str.data : "";
  return changed;
}

static CtValue *make_aggregate(Comptime *ct, const CtArgs *a) {
  CtValue *v = a->num_args == 1 ? a->args[0] : NULL;
  if (v && v->kind == CT_MISSING) return v;
  if (!v || v->kind != CT_CLASS) return ct_fail(ct, a->span, "TypeError", "aggregate decorates a class");
  v->cls->form = CLASS_AGGREGATE;
  return v;
}

static bool is_jit_name(const char *name) {
  return !strcmp(name, "triton.jit") || !strcmp(name, "gluon.jit") || !strcmp(name, "tile.jit") ||
         !strcmp(name, "tile.kernel");
}

// A decorator's value is the builtin itself, or, with arguments, what `delayed` makes.
static bool is_compiling_decorator(const CtValue *v) {
  if (v && v->kind == CT_METHOD) v = v->method.fn;
  return v && v->kind == CT_BUILTIN && (is_jit_name(v->builtin.name) || !strncmp(v->builtin.name, "triton.", 7));
}

bool comptime_is_for_kernels(Comptime *ct, const Node *def, CtEnv *env) {
  CtError *before = ct->error;
  bool found = false;
  ct->error = NULL;
  for (uint32_t i = 0; i < def->func.decorators.count && !found && !ct->error; i++)
    found = is_compiling_decorator(ct_eval_quietly(ct, def->func.decorators.data[i], env));
  ct->error = before;
  return found;
}

CtValue *ct_call_triton(Comptime *ct, const char *name, CtValue *self, const CtArgs *a, bool *known) {
  const char *dot = strrchr(name, '.'), *last = dot ? dot + 1 : name;
  *known = true;
  if (is_jit_name(name)) {
    if (self)
      return a->num_args == 1 ? make_jit(ct, name, a->args[0], self->dict, a->span)
                              : ct_fail(ct, a->span, "TypeError", "%s decorates one function", last);
    CtDict *options = kwargs_dict(ct, a);
    return a->num_args ? make_jit(ct, name, a->args[0], options, a->span) : delayed(ct, name, options);
  }
  if (!strcmp(name, "triton.autotune")) return call_autotune(ct, self, a);
  if (!strcmp(name, "triton.heuristics")) return call_heuristics(ct, self, a);
  if (!strcmp(name, "triton.Config")) return make_config(ct, a);
  if (!strcmp(last, "constexpr_function")) return change_function(ct, last, a, FN_CONSTEXPR);
  if (!strcmp(last, "must_use_result")) return call_must_use_result(ct, self, a);
  if (!strcmp(last, "_aggregate") || !strcmp(last, "aggregate")) return make_aggregate(ct, a);
  *known = false;
  return NULL;
}
