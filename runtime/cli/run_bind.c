// Turns SPECs into typed, specialised parameters, as Triton's JIT does with its arguments. The kernel's own module
// evaluates the expressions, which may use the scalar arguments and the constexprs.
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ir/nearest.h"
#include "runtime/cli/run.h"

typedef struct {
  Run *run;
  Frontend *fe;
  Context *ctx;
  const CtFunction *kernel;    // or NULL
  const ParamSpec *specs;      // of it
  CtBinding *bindings;
  uint32_t num_bindings;
} Scope;

static bool usage(Scope *s, const char *fmt, ...) PRINTF_LIKE(2, 3);
static bool usage(Scope *s, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  const char *text = arena_vprintf(&s->ctx->arena, fmt, ap);
  va_end(ap);
  s->run->is_usage_error = true;
  return diag_error(s->ctx, (Span){0, 0}, "%s", text);
}

// An argument in the specialiser's form. The dtype of its buffer, if it has one, must be known.
static SpecValue spec_value(Arena *arena, const RunArg *a) {
  static const ValueKind kinds[] =
      {[ARG_NONE] = VALUE_NONE,          [ARG_BOOL] = VALUE_BOOL,      [ARG_INT] = VALUE_INT,
       [ARG_FLOAT] = VALUE_FLOAT,        [ARG_BUFFER] = VALUE_POINTER, [ARG_FILE] = VALUE_POINTER,
       [ARG_ALIAS] = VALUE_POINTER,      [ARG_DESC] = VALUE_DESC,      [ARG_TUPLE] = VALUE_TUPLE,
       [ARG_CONSTEXPR] = VALUE_CONSTEXPR};
  const ArgSpec *spec = a->spec;
  SpecValue v = {.kind = kinds[spec->kind],
                 .text = spec->text,
                 .has_dtype = spec->has_dtype,
                 .dtype = spec->dtype,
                 .i = spec->i,
                 .f = spec->f,
                 .pad_nan = spec->pad_nan,
                 .layout = spec->layout};
  if (v.kind == VALUE_CONSTEXPR) v.expression = spec->name;
  if (v.kind == VALUE_TUPLE) {
    SpecValue *items = arena_array(arena, SpecValue, spec->num_items + 1);
    const RunArg *item = a + 1;
    for (uint32_t i = 0; i < spec->num_items; i++, item = run_arg_after(item)) items[i] = spec_value(arena, item);
    v.items = items;
    v.num_items = spec->num_items;
    v.class_name = spec->name;
  }
  if (!a->buffer) return v;
  v.dtype = a->buffer->initial.dtype;
  v.address = (uint64_t)a->offset * host_elem_bytes(v.dtype);
  if (v.kind == VALUE_DESC) v.rank = a->tensor.rank, memcpy(v.block, a->block, sizeof a->block);
  return v;
}

static void bind(Scope *s, const char *name, CtValue *value) {
  s->bindings[s->num_bindings++] = (CtBinding){intern(s->ctx, name), value};
}

static Scope make_scope(Run *run, Context *ctx, Frontend *fe, const CtFunction *kernel, const ParamSpec *specs) {
  uint32_t num_params = kernel ? kernel->num_params : 0;
  Scope s = {run, fe, ctx, kernel, specs, arena_array(&ctx->arena, CtBinding, run->num_args + num_params + 1), 0};
  for (uint32_t i = 0; i < num_params; i++)
    if (specs[i].kind == SPEC_CONSTEXPR && specs[i].value) bind(&s, kernel->params[i].name, ct_unwrap(specs[i].value));
  for (uint32_t i = 0; i < run->num_args; i++) {
    SpecValue value = spec_value(&ctx->arena, &run->args[i]);
    CtValue *v = value.kind == VALUE_TUPLE ? specialize_heuristic_value(fe, ctx, &value)
                                           : specialize_scalar_value(ctx, &value);
    if (v) bind(&s, run->args[i].name, v);
  }
  return s;
}

static bool is_letter(char c) { return isalpha((unsigned char)c) || c == '_'; }
static bool is_part_of_name(char c) { return is_letter(c) || isdigit((unsigned char)c); }

// The size of the first name in *text, to which *text is moved; 0: there is none. Texts in quotes and what stands after
// a dot are no names.
static size_t next_name(const char **text) {
  const char *s = *text;
  for (char before = 0; *s; before = *s++) {
    if (*s == '"' || *s == '\'') {
      const char *end = strchr(s + 1, *s);
      if (!end) break;
      s = end;
    } else if (is_letter(*s) && before != '.' && !is_part_of_name(before)) {
      size_t n = 0;
      while (is_part_of_name(s[n])) n++;
      return *text = s, n;
    }
  }
  return 0;
}

static bool is_bound(const Scope *s, const char *name, size_t n) {
  for (uint32_t i = 0; i < s->num_bindings; i++)
    if (strlen(s->bindings[i].name) == n && !strncmp(s->bindings[i].name, name, n)) return true;
  const CtModule *m = s->fe ? frontend_module(s->fe) : NULL;
  return m && comptime_lookup(frontend_comptime(s->fe), m->env, intern(s->ctx, arena_strndup(s->run->arena, name, n)));
}

// Adds which arguments and constexprs an expression may use, if it uses a name that nothing has.
static void tell_names(Scope *s, const char *text) {
  Buf all = buf_make(s->run->arena);
  size_t n = 0;
  while ((n = next_name(&text)) && is_bound(s, text, n)) text += n;
  for (uint32_t i = 0; i < s->num_bindings; i++) buf_printf(&all, "%s%s", i ? ", " : "", s->bindings[i].name);
  if (n && all.size) diag_note(s->ctx, (Span){0, 0}, "there are %s", buf_str(&all));
}

static CtValue *eval(Scope *s, const char *what, const char *text) {
  CtValue *v = comptime_eval_text(s->fe ? frontend_comptime(s->fe) : NULL, frontend_module(s->fe), what, text,
                                  s->bindings, s->num_bindings);
  if (!v) s->run->is_usage_error = true, tell_names(s, text);
  return v ? ct_unwrap(v) : NULL;
}

static bool as_int(Scope *s, const char *what, const char *text, CtValue *v, int64_t least, int64_t *out) {
  if (v->kind == CT_BOOL) v = ct_int(s->ctx, v->b);
  if (v->kind == CT_FLOAT && v->f >= -0x1p63 && v->f < 0x1p63 && v->f == (double)(int64_t)v->f)
    v = ct_int(s->ctx, (Int128)v->f);
  if (v->kind != CT_INT)
    return usage(s, "%s: '%s' is %s, not a whole number%s", what, text, ct_repr(s->ctx, v),
                 v->kind == CT_FLOAT && strchr(text, '/') ? "; write // or cdiv(a, b)" : "");
  if (v->i < least)
    return usage(s, "%s: '%s' is %s; at least %lld is needed", what, text, ct_repr(s->ctx, v), (long long)least);
  if (v->i > INT64_MAX) return usage(s, "%s: '%s' is %s, more than 64 bits hold", what, text, ct_repr(s->ctx, v));
  *out = (int64_t)v->i;
  return true;
}

static bool eval_int(Scope *s, const char *what, const char *text, int64_t least, int64_t *out) {
  CtValue *v = eval(s, what, text);
  return v && as_int(s, what, text, v, least, out);
}

static bool resolve_buffer(Scope *s, RunBuffer *b) {
  HostTensor *t = &b->initial;
  if (b->spec->kind == ARG_FILE) return true;
  t->dtype = b->spec->dtype;
  t->rank = b->spec->dims.count;
  t->count = 1;
  for (uint32_t i = 0; i < t->rank; i++) {
    if (!eval_int(s, arena_printf(&s->ctx->arena, "the shape of %s", b->name), b->spec->dims.data[i], 0, &t->shape[i]))
      return false;
    if (__builtin_mul_overflow(t->count, (uint64_t)t->shape[i], &t->count) || t->count > UINT64_C(1) << 40)
      return usage(s, "%s: '%s' is too large", b->name, b->spec->text);
  }
  return true;
}

// The type of the kernel's parameter of this name, if that is a number's and known.
static const char *number_type(const Scope *s, const char *name) {
  const uint32_t i = s->kernel ? frontend_param_index(s->kernel, name) : 0;
  DtypeKind dtype;
  if (!s->kernel || i == s->kernel->num_params || s->specs[i].kind != SPEC_TYPE) return NULL;
  return dtype_find(s->specs[i].type, &dtype) ? s->specs[i].type : NULL;
}

// The buffer at the end of a chain of names. Adds the offsets on the way, in elements, to *offset.
static RunBuffer *follow(Scope *s, const RunArg *from, const ArgSpec *spec, int64_t *offset) {
  for (uint32_t steps = 0; spec->kind == ARG_ALIAS && steps <= s->run->num_args; steps++) {
    int64_t skipped = 0;
    if (spec->offset && !eval_int(s, from->name, spec->offset, 0, &skipped)) return NULL;
    if (__builtin_add_overflow(*offset, skipped, offset)) *offset = INT64_MAX;   // beyond every buffer
    RunBuffer *b = run_find_buffer(s->run, spec->name);
    if (b) return b;
    const RunArg *next = run_find_arg(s->run, spec->name);
    if (!next || next->spec->kind != ARG_ALIAS) break;
    spec = next->spec;
  }
  const char *number = number_type(s, from->name);
  if (number)
    return usage(s, "--arg %s: '%s' is not a number, and the parameter is %s", from->name, spec->text, number), NULL;
  const RunArg *named = run_find_arg(s->run, spec->name);
  if (named && (named->spec->kind == ARG_INT || named->spec->kind == ARG_FLOAT))
    usage(s, "--arg %s: '%s' is a number, and only buffers are given by name: write its value, or --sweep \"%s,%s=…\"",
          from->name, spec->name, spec->name, from->name);
  else
    usage(s, "--arg %s: there is no buffer '%s'; an array of its own is written %s=fp32[1000]=randn:1, and the "
          "buffers to share are those of --buf and of other arguments", from->name, spec->name, from->name);
  return NULL;
}

static bool resolve_desc(Scope *s, RunArg *a) {
  const ArgSpec *spec = a->spec;
  const HostTensor *t = &a->buffer->initial;
  uint32_t rank = spec->block.count;
  const char *what = arena_printf(&s->ctx->arena, "descriptor %s", a->name);
  a->tensor.rank = rank;
  if ((spec->shape.count && spec->shape.count != rank) || (!spec->shape.count && t->rank != rank) ||
      (spec->strides.count && spec->strides.count != rank))
    return usage(s, "%s: its block has rank %u; its shape and strides must too (the buffer has rank %u)", what, rank,
                 t->rank);
  for (uint32_t i = 0; i < rank; i++) {
    if (!eval_int(s, what, spec->block.data[i], 1, &a->block[i])) return false;
    a->tensor.shape[i] = spec->shape.count ? 0 : t->shape[i];
    if (spec->shape.count && !eval_int(s, what, spec->shape.data[i], 1, &a->tensor.shape[i])) return false;
  }
  int64_t dense = 1, last = a->offset, reach;
  bool too_far = false;
  for (uint32_t i = rank; i-- > 0;) {
    a->tensor.strides[i] = dense;
    if (spec->strides.count && !eval_int(s, what, spec->strides.data[i], 1, &a->tensor.strides[i])) return false;
    if (__builtin_mul_overflow(dense, a->tensor.shape[i], &dense)) dense = INT64_MAX;
    too_far = too_far || __builtin_mul_overflow(a->tensor.shape[i] - 1, a->tensor.strides[i], &reach) ||
              __builtin_add_overflow(last, reach, &last);
  }
  if (too_far) last = INT64_MAX;
  if (last >= (int64_t)t->count)
    return usage(s, "%s reaches element %lld of a buffer of %llu", what, (long long)last, (unsigned long long)t->count);
  return true;
}

static bool resolve_args(Scope *s) {
  for (uint32_t i = 0; i < s->run->num_buffers; i++)
    if (!resolve_buffer(s, &s->run->buffers[i])) return false;
  for (uint32_t i = 0; i < s->run->num_args; i++) {
    RunArg *a = &s->run->args[i];
    const ArgSpec *base = a->spec->kind == ARG_DESC ? a->spec->base : a->spec;
    if (base->kind == ARG_ALIAS) {
      a->offset = 0;
      if (!(a->buffer = follow(s, a, base, &a->offset))) return false;
      if (a->offset > (int64_t)a->buffer->initial.count)
        return usage(s, "--arg %s: offset %lld is beyond the buffer's %llu elements", a->name, (long long)a->offset,
                     (unsigned long long)a->buffer->initial.count);
    }
    if (a->spec->kind == ARG_DESC && !resolve_desc(s, a)) return false;
  }
  return true;
}

// ---- types and specialisation ----

static bool by_heuristic(const CtFunction *k, const char *name) {
  for (uint32_t i = 0; i < k->num_heuristics; i++)
    if (!strcmp(k->heuristics[i].name, name)) return true;
  return false;
}

static bool uses_name(const char *text, const char *name) {
  for (size_t n; text && (n = next_name(&text)); text += n)
    if (strlen(name) == n && !strncmp(text, name, n)) return true;
  return false;
}

// Whether --arg, --buf, --grid, --flops or --bytes uses a value of --sweep.
static bool is_used(const Run *run, const char *name) {
  const Options *o = run->options;
  const StrList *lists[] = {&o->args, &o->bufs};
  for (uint32_t l = 0; l < countof(lists); l++)
    for (uint32_t i = 0; i < lists[l]->count; i++) {
      const char *eq = strchr(lists[l]->data[i], '=');
      if (eq && uses_name(eq + 1, name)) return true;
    }
  // A grid's lambda has them as meta["n"].
  return strstr(o->grid, arena_printf(run->arena, "\"%s\"", name)) ||
         strstr(o->grid, arena_printf(run->arena, "'%s'", name)) || uses_name(o->grid, name) ||
         uses_name(o->flops, name) || uses_name(o->moved, name);
}

static bool unused_sweep(Scope *s, const RunArg *a) {
  s->run->has_unused_sweep = true;
  return usage(s, "--sweep %s: neither the kernel nor --arg, --buf, --grid, --flops or --bytes uses it", a->name);
}

static bool check_arg_names(Scope *s, const CtFunction *k) {
  const Run *run = s->run;
  bool ok = true;
  for (uint32_t i = 0; i < run->num_args; i++)
    if (run->args[i].is_swept && frontend_param_index(k, run->args[i].name) == k->num_params &&
        !is_used(run, run->args[i].name))
      return unused_sweep(s, &run->args[i]);
  for (uint32_t i = 0; i < run->num_args; i++)
    if (!run->args[i].is_item && !run->args[i].is_swept &&
        frontend_param_index(k, run->args[i].name) == k->num_params) {
      const char *names[64];
      uint32_t n = 0;
      for (; n < k->num_params && n < countof(names); n++) names[n] = k->params[n].name;
      const char *near = nearest_name(run->args[i].name, names, n);
      Buf all = buf_make(s->run->arena);
      for (uint32_t j = 0; j < n; j++) buf_printf(&all, "%s%s", j ? ", " : "", names[j]);
      ok = usage(s, "--arg %s: %s has no parameter of that name; %s%s%s", run->args[i].name, k->name,
                 near ? "did you mean " : "its parameters: ", near ? near : buf_str(&all), near ? "?" : "");
    }
  for (uint32_t i = 0; i < run->num_args; i++) {
    const uint32_t p = frontend_param_index(k, run->args[i].name);
    const ArgSpecKind kind = run->args[i].spec->kind;
    if (p < k->num_params && k->params[p].is_constexpr && (kind == ARG_BUFFER || kind == ARG_FILE || kind == ARG_DESC))
      ok = usage(s, "--arg %s: the parameter is a constexpr of %s, which takes a value, not an array",
                 run->args[i].name, k->name);
  }
  return ok;
}

// A parameter without an argument has the number that the source gives it as its default.
static void add_defaults(Run *run, Context *ctx, const CtFunction *k) {
  RunArg *all = arena_array(run->arena, RunArg, run->num_args + k->num_params + 1);
  memcpy(all, run->args, run->num_args * sizeof *all);
  run->args = all;
  for (uint32_t i = 0; i < k->num_params; i++) {
    const CtParam *p = &k->params[i];
    CtValue *v = p->is_constexpr || !p->default_value ? NULL : ct_unwrap(p->default_value);
    if (!v || run_find_arg(run, p->name) || (v->kind != CT_INT && v->kind != CT_FLOAT && v->kind != CT_BOOL)) continue;
    tile_error *error = NULL;
    const char *name = arena_printf(run->arena, "%s", p->name), *text = arena_printf(run->arena, "%s", ct_repr(ctx, v));
    const ArgSpec *spec = run_spec_parse(run->arena, text, &error);
    tile_error_free(error);
    if (spec) all[run->num_args++] = (RunArg){.name = name, .spec = spec};
  }
}

// A number that is written as a float, or with a type of its own, must be what the parameter is.
static bool check_number(Scope *s, const RunArg *a, const char *type) {
  DtypeKind dtype;
  const ArgSpec *spec = a->spec;
  if (!type || !dtype_find(type, &dtype)) return true;
  ArgSpec plain = *spec;   // the parameter must hold the number, whatever type --arg gives it
  if (spec->is_typed) plain.has_dtype = spec->dtype == DT_UINT64 && spec->i < 0;
  if (spec->kind == ARG_INT && !host_is_float(dtype) && !run_spec_holds(dtype, &plain))
    return usage(s, "--arg %s: the parameter is %s, which does not hold '%s'; declare it %s", a->name, type, spec->text,
                 plain.has_dtype ? "u64" : "i64");
  if (spec->is_typed && dtype != spec->dtype)
    return usage(s, "--arg %s: the parameter is %s, and '%s' is %s; without a type the number has the parameter's",
                 a->name, type, spec->text, dtype_info[spec->dtype].short_name);
  if (spec->kind == ARG_FLOAT && !host_is_float(dtype))
    return usage(s, "--arg %s: the parameter is %s, a whole number, and '%s' is a float", a->name, type, spec->text);
  return true;
}

static bool is_of(const Func *f, const char *name) {
  for (uint32_t i = 0; i < f->num_params; i++)
    if (f->params[i].name && !strcmp(f->params[i].name, name)) return true;
  return false;
}

// The same for IR, whose kernel is compiled already.
static bool check_numbers(Scope *s, const Func *f) {
  for (uint32_t i = 0; f && i < f->num_params; i++) {
    const RunArg *a = f->params[i].name ? run_find_arg(s->run, f->params[i].name) : NULL;
    if (a && !check_number(s, a, f->params[i].spelling)) return false;
  }
  for (uint32_t i = 0; f && i < s->run->num_args; i++) {
    const RunArg *a = &s->run->args[i];
    if (a->is_swept && !is_of(f, a->name) && !is_used(s->run, a->name)) return unused_sweep(s, a);
  }
  return true;
}

bool run_resolve(Run *run, Context *ctx, Frontend *fe, const CtFunction *k, const ParamSpec *specs) {
  add_defaults(run, ctx, k);
  Scope s = make_scope(run, ctx, fe, k, specs);
  return check_arg_names(&s, k) && resolve_args(&s);
}

bool run_specialize(void *user, tile_program *p, CtFunction *k, ParamSpec *specs, CtDict *heuristic_args) {
  Run *run = user;
  if (!frontend_check_params(p->frontend, k)) return false;
  add_defaults(run, &p->ctx, k);
  Scope s = make_scope(run, &p->ctx, p->frontend, k, specs);
  bool ok = check_arg_names(&s, k) && resolve_args(&s);
  if (!ok) return false;
  for (uint32_t i = 0; i < run->num_args; i++) {
    const RunArg *a = &run->args[i];
    if (a->is_item || frontend_param_index(k, a->name) == k->num_params) continue;
    const ParamSpec *own = &specs[frontend_param_index(k, a->name)];
    if (own->kind == SPEC_TYPE && !check_number(&s, a, own->type)) ok = false;
    SpecValue value = spec_value(&s.ctx->arena, a);
    ok = specialize_param(p->frontend, s.ctx, k, specs, frontend_param_index(k, a->name), &value, "--arg",
                          run->options->signatures.count != 0, &run->is_usage_error) &&
         ok;
    ct_dict_set_str(s.ctx, heuristic_args, a->name, specialize_heuristic_value(p->frontend, s.ctx, &value));
  }
  Buf missing = buf_make(&s.ctx->arena);
  for (uint32_t i = 0; i < k->num_params; i++) {
    const CtParam *param = &k->params[i];
    if (!param->is_constexpr && specs[i].kind != SPEC_CONSTEXPR && !run_find_arg(run, param->name) &&
        !by_heuristic(k, param->name))
      buf_printf(&missing, " --arg %s=SPEC", param->name);
  }
  return missing.size ? usage(&s, "%s needs more arguments:%s", k->name, buf_str(&missing)) : ok;
}

// ---- the grid, --flops and --bytes ----

static bool eval_amount(Scope *s, const char *option, const char *text, double *out) {
  CtValue *v = text ? eval(s, option, text) : NULL;
  if (!text) return true;
  if (!v) return false;
  if (v->kind != CT_INT && v->kind != CT_FLOAT)
    return usage(s, "%s: '%s' is %s, not a number", option, text, ct_repr(s->ctx, v));
  *out = v->kind == CT_INT ? (double)v->i : v->f;
  return *out > 0 || usage(s, "%s: '%s' is %g; more than 0 is needed", option, text, *out);
}

static bool eval_grid(Scope *s) {
  const char *text = s->run->options->grid;
  CtValue *axes[3];
  const char *texts[3] = {text, text, text};
  uint32_t n = 0;
  StrList parts = run_spec_split(s->run->arena, text, strlen(text));
  bool is_function = !strncmp(text, "lambda", 6);
  if (is_function || parts.count == 1) {
    CtValue *v = eval(s, "--grid", text);
    if (v && (v->kind == CT_FUNCTION || v->kind == CT_METHOD)) {
      CtValue *meta = ct_dict(s->ctx);
      for (uint32_t i = 0; i < s->num_bindings; i++)
        ct_dict_set_str(s->ctx, meta->dict, s->bindings[i].name, s->bindings[i].value);
      v = comptime_call(frontend_comptime(s->fe), v, &meta, 1, NULL, 0, (Span){0, 0});
      if (v) v = ct_unwrap(v);
    }
    if (!v) return false;
    if (v->kind == CT_TUPLE || v->kind == CT_LIST) {
      if (!v->list.count || v->list.count > 3)
        return usage(s, "--grid: '%s' has %u axes; there are 1 to 3", text, v->list.count);
      for (; n < v->list.count; n++) axes[n] = ct_unwrap(v->list.data[n]);
    } else {
      axes[n++] = v;
    }
  } else {
    if (parts.count > 3) return usage(s, "--grid: '%s' has %u axes; there are 1 to 3", text, parts.count);
    for (; n < parts.count; n++) {
      texts[n] = parts.data[n];
      if (!(axes[n] = eval(s, "--grid", parts.data[n]))) return false;
    }
  }
  for (uint32_t i = 0; i < 3; i++) {
    int64_t v = 1;
    if (i < n && !as_int(s, "--grid", texts[i], axes[i], 1, &v)) return false;
    if (v > INT32_MAX) return usage(s, "--grid: '%s' is %lld; at most 2147483647 is possible", texts[i], (long long)v);
    s->run->grid[i] = (uint32_t)v;
  }
  return true;
}

bool run_grid(Run *run, Context *ctx, Frontend *fe, const CtFunction *k, const ParamSpec *specs) {
  Scope s = make_scope(run, ctx, fe, k, specs);
  return eval_grid(&s);
}

static const Func *kernel_of(const Scope *s, const Module *m) {
  const Func *f = m->funcs;
  while (f && s->run->options->kernel && strcmp(f->name, s->run->options->kernel)) f = f->next;
  return f;
}

// IR text keeps the constexprs of its kernel as text. Those that are numbers or truth values may be used in a grid.
static void bind_constants(Scope *s, const Func *f) {
  if (!f) return;
  CtBinding *all = arena_array(&s->ctx->arena, CtBinding, s->num_bindings + f->num_constexprs + 1);
  memcpy(all, s->bindings, s->num_bindings * sizeof *all);
  s->bindings = all;
  for (uint32_t i = 0; i < f->num_constexprs; i++) {
    const char *text = f->constexpr_values[i];
    char *end;
    errno = 0;
    long long n = strtoll(text, &end, 10);
    if (end != text && !*end && !errno) bind(s, f->constexpr_names[i], ct_int(s->ctx, n));
    else if (!strcmp(text, "True") || !strcmp(text, "False"))
      bind(s, f->constexpr_names[i], ct_bool(text[0] == 'T'));
  }
}

bool run_finish(void *user, tile_program *p) {
  Run *run = user;
  Frontend *fe = p->frontend;
  if (!fe) {
    FrontendOptions fo = {.target = p->target};
    if (!(fe = frontend_load_text(&p->ctx, "<command line>", "", 0, &fo))) return false;
  }
  Scope s = make_scope(run, &p->ctx, fe, p->kernel, p->specs);
  const Func *f = p->frontend ? NULL : kernel_of(&s, p->module);
  if (!p->frontend) bind_constants(&s, f);
  if (!p->frontend && (!resolve_args(&s) || !check_numbers(&s, f))) return false;
  const Options *o = run->options;
  if (!eval_grid(&s)) return false;
  const bool is_alone = run->grid[0] == 1 && run->grid[1] == 1 && run->grid[2] == 1;
  if (is_alone) diag_drop(&p->ctx, WARN_STORE_CONFLICT);
  if (is_alone) diag_drop(&p->ctx, WARN_PLAIN_UNLOCK);
  return eval_amount(&s, "--flops", o->flops, &run->flops) &&
         eval_amount(&s, "--bytes", o->moved, &run->moved);
}
