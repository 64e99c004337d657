// The evaluator's public functions: state, errors to diagnostics, names, kernels.
#include "frontend/comptime/comptime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/comptime/comptime_impl.h"

enum { DEFAULT_STEPS = 4000000 };

Comptime *comptime_new(Context *ctx, const ComptimeOptions *options) {
  Comptime *ct = arena_new(&ctx->arena, Comptime);
  ct->ctx = ctx;
  ct->arena = &ctx->arena;
  if (options) ct->options = *options;
  if (!ct->options.step_limit) ct->options.step_limit = DEFAULT_STEPS;
  if (!ct->options.cuda_capability) ct->options.cuda_capability = 90;
  return ct;
}

// ---- failure ----

static CtError *new_error(Comptime *ct, Span span, const char *type) {
  CtError *e = arena_new(ct->arena, CtError);
  e->span = span;
  e->type = type;
  ct->error = e;
  return e;
}

CtValue *ct_fail(Comptime *ct, Span span, const char *type, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  const char *message = arena_vprintf(ct->arena, fmt, ap);
  va_end(ap);
  new_error(ct, span, type)->message = message;
  return NULL;
}

static const char *describe_missing(Comptime *ct, const CtValue *missing) {
  const char *name = missing->missing.name;
  return missing->missing.is_construct ? arena_printf(ct->arena, "%s is not supported at compile time", name)
                                       : arena_printf(ct->arena, "'%s' is not known at compile time", name);
}

CtValue *ct_fail_missing(Comptime *ct, Span span, const CtValue *missing) {
  CtError *e = new_error(ct, span, "NotImplementedError");
  e->missing = missing;
  e->message = describe_missing(ct, missing);
  return NULL;
}

CtValue *ct_missing(Comptime *ct, const char *name, const char *why, Span span) {
  CtValue *v = ct_new(ct->ctx, CT_MISSING);
  v->missing.name = name;
  v->missing.why = why;
  v->missing.span = span;
  return v;
}

CtValue *ct_missing_from(Comptime *ct, const CtValue *origin, const char *fmt, ...) {
  enum { LONGEST = 60 };
  va_list ap;
  va_start(ap, fmt);
  const char *name = arena_vprintf(ct->arena, fmt, ap);
  va_end(ap);
  if (strlen(name) > LONGEST) name = origin->missing.name;
  return ct_missing(ct, name, origin->missing.why, origin->missing.span);
}

CtValue *ct_unsupported(Comptime *ct, Span span, const char *what) {
  CtValue *missing = ct_missing(ct, what, "compute it in the host program and pass it as a constexpr", span);
  missing->missing.is_construct = true;
  return ct_fail_missing(ct, span, missing);
}

static CtValue *fatal(Comptime *ct, Span span, const char *message) {
  ct_fail(ct, span, "RuntimeError", "%s", message);
  ct->error->is_fatal = true;
  return NULL;
}

enum { STEPS_PER_POLL = 256 };
bool ct_step(Comptime *ct, Span span) {
  if (ct->error && ct->error->is_fatal) return false;
  if (ct->steps >= ct->next_poll) {
    ct->next_poll = ct->steps + STEPS_PER_POLL;
    context_poll(ct->ctx);
  }
  if (++ct->steps > ct->options.step_limit) {
    ct_fail(ct, span, "RuntimeError", "evaluation at compile time did not end within %llu steps",
            (unsigned long long)ct->options.step_limit);
    ct->error->is_fatal = true;
    return false;
  }
  if (ct->ctx->arena.total - ct->memory_base > MAX_MEMORY)
    return fatal(ct, span, "evaluation at compile time needs too much memory") != NULL;
  char here;
  const char *now = &here;
  size_t used = now < ct->stack_base ? (size_t)(ct->stack_base - now) : (size_t)(now - ct->stack_base);
  if (used > MAX_STACK) return fatal(ct, span, "recursion too deep") != NULL;
  return true;
}

enum { ELEMENTS_PER_STEP = 1024 };
void ct_work(Comptime *ct, const CtValue *v) {
  size_t n = v->kind == CT_STR || v->kind == CT_BYTES  ? v->str.size
             : ct_has_list(v)                          ? v->list.count
             : v->kind == CT_DICT || v->kind == CT_SET ? v->dict->count
                                                       : 0;
  ct->steps += n / ELEMENTS_PER_STEP;
}

bool ct_grow(Comptime *ct, size_t elements, Span span) {
  if (elements <= MAX_ELEMENTS) return true;
  ct_fail(ct, span, "MemoryError", "a value of %zu elements is too large to make at compile time", elements);
  return false;
}

bool comptime_report_missing(Comptime *ct, const CtValue *missing, Span span) {
  Span origin = missing->missing.span, none = {0, 0};
  bool is_here = origin.begin == span.begin && origin.end == span.end;
  diag_error(ct->ctx, span, "%s", describe_missing(ct, missing));
  diag_note(ct->ctx, is_here ? none : origin, "%s", missing->missing.why);
  return false;
}

// Turns the pending error into diagnostics.
static void flush(Comptime *ct) {
  const CtError *e = ct->error;
  ct->error = NULL;
  if (!e) return;
  if (e->missing) comptime_report_missing(ct, e->missing, e->span);
  else if (e->exception) diag_error(ct->ctx, e->span, "%s raised%s%s", e->type, *e->message ? ": " : "", e->message);
  else diag_error(ct->ctx, e->span, "%s", e->message);
  if (e->hint) diag_note(ct->ctx, (Span){0, 0}, "%s", e->hint);
  for (uint32_t i = 0; i < e->num_notes; i++)
    diag_note(ct->ctx, e->notes[i].span, "in the call of '%s'", e->notes[i].name);
}

// Every public function that runs code begins with enter and ends with leave. The limits apply to the outermost one.
static void enter(Comptime *ct, const char *stack) {
  if (ct->entries++) return;
  ct->steps = ct->next_poll = 0;
  ct->memory_base = ct->ctx->arena.total;
  ct->stack_base = stack;
  ct->error = NULL;
}

static void leave(Comptime *ct) {
  ct->entries--;
  flush(ct);
}

void comptime_left(Comptime *ct) {
  ct->entries = ct->depth = ct->tries = 0;
  ct->error = NULL;
  ct->frame = NULL;
}

#define ENTER(ct) char stack_mark_ = 0; enter((ct), &stack_mark_)
// The body of a public function that only evaluates one expression of type T.
#define RETURN_ENTERED(ct, T, expression)                                                                            \
  ENTER(ct);                                                                                                         \
  T result_ = expression;                                                                                            \
  leave(ct);                                                                                                         \
  return result_

// ---- modules ----

// Fills in what other modules imported from this one before it had it. A list stays missing, because the module may
// still change it in place.
static void settle(Comptime *ct, CtModule *m) {
  for (uint32_t i = 0; i < m->awaited.count; i++) {
    const CtValue *v = ct_module_attr(ct, m, m->awaited.data[i].name);
    if (v && v->kind != CT_LIST && v->kind != CT_ITERATOR) *m->awaited.data[i].value = *v;
  }
}

static const char *real_path(Comptime *ct, const char *path) {
  char *real = realpath(path, NULL);
  const char *interned = real ? intern(ct->ctx, real) : NULL;
  free(real);
  return interned;
}

static CtModule *load(Comptime *ct, const SourceFile *file, const char *name, uint32_t size) {
  CtModule *m = arena_new(ct->arena, CtModule);
  m->name = name;
  m->file = file;
  m->real_path = real_path(ct, file->path);
  for (uint32_t i = 0; i < ct->modules.count; i++) m->is_imported |= ct->modules.data[i]->is_loading;
  vec_push(ct->arena, &ct->modules, m);
  if (!file->is_embedded) vec_push(ct->arena, &ct->files, file);
  uint32_t errors = diag_error_count(ct->ctx);
  m->tree = size == file->size ? parse_module(ct->ctx, file) : parse_part(ct->ctx, file, 0, size);
  m->env = ct_env_new(ct, NULL, m);
  m->failed = diag_error_count(ct->ctx) != errors;
  m->is_loading = true;
  if (!m->failed && !ct_exec_module(ct, m)) {
    m->failed = true;
    flush(ct);
  }
  m->is_loading = false;
  settle(ct, m);
  return m;
}

static char *read_file(Context *ctx, const char *path, size_t *size) {
  FILE *f = fopen(path, "rb");
  if (!f) return NULL;
  Buf b = buf_make(&ctx->arena);
  char chunk[65536];
  for (size_t n; b.size <= SOURCE_MAX && (n = fread(chunk, 1, sizeof chunk, f)) > 0;) buf_write(&b, chunk, n);
  bool ok = !ferror(f) && b.size <= SOURCE_MAX;
  fclose(f);
  *size = b.size;
  return ok ? (b.data ? b.data : (char *)"") : NULL;
}

// Compares paths as the system resolves them: two spellings may name one file.
static CtModule *find_loaded(Comptime *ct, const char *path) {
  const char *real = real_path(ct, path);
  for (uint32_t i = 0; i < ct->modules.count && real; i++)
    if (ct->modules.data[i]->real_path == real) return ct->modules.data[i];
  return NULL;
}

CtModule *ct_load_file(Comptime *ct, const char *path, const char *name, bool *found) {
  CtModule *m = find_loaded(ct, path);
  *found = true;
  if (m) return m;
  size_t size;
  char *text = read_file(ct->ctx, path, &size);
  *found = text != NULL;
  if (!text) return NULL;
  const SourceFile *file = source_add(ct->ctx, path, text, size);
  return file ? load(ct, file, name, (uint32_t)file->size) : NULL;
}

CtModule *comptime_load_start(Comptime *ct, const SourceFile *file, const char *module_name, uint32_t size) {
  ENTER(ct);
  CtModule *m = load(ct, file, intern(ct->ctx, module_name), size);
  leave(ct);
  return m->failed ? NULL : m;
}

CtModule *comptime_load_source(Comptime *ct, const SourceFile *file, const char *module_name) {
  return comptime_load_start(ct, file, module_name, (uint32_t)file->size);
}

bool comptime_load_more(Comptime *ct, CtModule *module, uint32_t begin, uint32_t end) {
  ENTER(ct);
  const uint32_t errors = diag_error_count(ct->ctx);
  const Node *tree = parse_part(ct->ctx, module->file, begin, end);
  const bool ok = diag_error_count(ct->ctx) == errors && ct_exec_top_level(ct, &tree->block, module->env);
  leave(ct);
  return ok;
}

static const char *module_name_of(Context *ctx, const char *path) {
  const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path, *dot = strrchr(base, '.');
  return dot && dot > base ? intern_n(ctx, base, (size_t)(dot - base)) : intern(ctx, base);
}

CtModule *comptime_load_file(Comptime *ct, const char *path) {
  ENTER(ct);
  bool found;
  CtModule *m = ct_load_file(ct, path, module_name_of(ct->ctx, path), &found);
  if (!found) diag_error(ct->ctx, (Span){0, 0}, "%s: cannot be read", path);
  leave(ct);
  return m && !m->failed ? m : NULL;
}

uint32_t comptime_num_files(const Comptime *ct) { return ct->files.count; }
const SourceFile *comptime_file(const Comptime *ct, uint32_t i) { return ct->files.data[i]; }

// ---- kernels ----

static bool returns_value(const NodeList *body) {
  for (uint32_t i = 0; i < body->count; i++) {
    const Node *n = body->data[i];
    if (n->kind == NODE_RETURN && n->unary.value && n->unary.value->kind != NODE_NONE) return true;
    if (n->kind == NODE_FUNCTION_DEF || n->kind == NODE_CLASS_DEF) continue;
    for (const AstPart *part = ast_parts(n); part->kind; part++)
      if (part->kind == PART_BODY && returns_value(ast_part_list(n, part))) return true;
  }
  return false;
}

// The kernels are the functions marked @kernel and those that autotune or heuristics configure. In a file without
// @kernel every @triton.jit function that returns nothing is a kernel.
CtKernelList comptime_kernels(Comptime *ct, const CtModule *module) {
  CtKernelList list = {0};
  bool any_marked = false;
  for (uint32_t i = 0; i < module->env->count; i++) {
    const CtValue *v = module->env->bindings[i].value;
    any_marked |= v->kind == CT_FUNCTION && v->fn->is_kernel && v->fn->env->module == module;
  }
  for (uint32_t i = 0; i < module->env->count; i++) {
    const CtValue *v = module->env->bindings[i].value;
    if (v->kind != CT_FUNCTION || v->fn->role != FN_JIT || v->fn->env->module != module) continue;
    bool is_configured = v->fn->autotune || v->fn->num_heuristics;
    if (any_marked ? !v->fn->is_kernel && !is_configured : returns_value(&v->fn->def->func.body)) continue;
    bool known = false;
    for (uint32_t k = 0; k < list.count; k++) known |= list.data[k]->def == v->fn->def;
    if (known) continue;
    vec_push(ct->arena, &list, v->fn);
    for (uint32_t k = list.count - 1; k > 0 && list.data[k]->def->span.begin < list.data[k - 1]->def->span.begin; k--) {
      CtFunction *t = list.data[k];
      list.data[k] = list.data[k - 1];
      list.data[k - 1] = t;
    }
  }
  return list;
}

// ---- names ----

// A Python built-in; NULL if there is none of that name.
static CtValue *python_name(Comptime *ct, const char *name) {
  return ct_is_python_builtin(name) || ct_is_exception_name(name) ? ct_builtin(ct->ctx, name) : NULL;
}

static CtValue *builtin_module(Comptime *ct, const char *name) {
  CtValue *v = ct_new(ct->ctx, CT_MODULE);
  v->module = ct_builtin_module(ct, name);
  return v;
}

CtValue *comptime_gluon_module(Comptime *ct) { return builtin_module(ct, "triton.experimental.gluon.language"); }

// kernel, constexpr, fp32, program_id, …; NULL if there is none of that name.
static CtValue *language_name(Comptime *ct, const char *name) {
  DtypeKind dtype;
  if (!strcmp(name, "kernel") || !strcmp(name, "jit"))
    return ct_builtin(ct->ctx, arena_printf(ct->arena, "tile.%s", name));
  if (ct_has_word("autotune heuristics Config constexpr_function next_power_of_2", name))
    return ct_builtin(ct->ctx, arena_printf(ct->arena, "triton.%s", name));
  if (ct_has_word("constexpr cdiv const pointer_type block_type", name))
    return ct_builtin(ct->ctx, arena_printf(ct->arena, "tl.%s", name));
  if (ct_has_word("gl ttgl", name)) return comptime_gluon_module(ct);
  if (!strcmp(name, "gluon")) return builtin_module(ct, "triton.experimental.gluon");
  if (dtype_find(name, &dtype) && strcmp(name, "B")) return ct_dtype(ct->ctx, ct_type_scalar(ct->ctx, dtype));
  if (ct->options.is_language_name && ct->options.is_language_name(name))
    return ct_builtin(ct->ctx, arena_printf(ct->arena, "tl.%s", name));
  return NULL;
}

CtValue *comptime_lookup(Comptime *ct, const CtEnv *env, const char *name) {
  CtValue *v = ct_env_lookup(env, name);
  if (!v) v = python_name(ct, name);
  if (!v) v = language_name(ct, name);
  CtValue *star = !v || v->kind == CT_BUILTIN ? ct_star_name(ct, env, name) : NULL;
  return star && (!v || star->kind != CT_MISSING) ? star : v;
}

CtValue *comptime_get_attr(Comptime *ct, CtValue *value, const char *name) {
  RETURN_ENTERED(ct, CtValue *, ct_find_attr(ct, value, intern(ct->ctx, name), (Span){0, 0}));
}

// ---- running ----

CtValue *comptime_eval(Comptime *ct, const Node *expr, CtEnv *env) {
  RETURN_ENTERED(ct, CtValue *, ct_eval(ct, expr, env));
}

CtValue *comptime_eval_part(Comptime *ct, const CtModule *module, const SourceFile *file, uint32_t begin,
                            uint32_t end) {
  ENTER(ct);
  const Node *expr = parse_expression_part(ct->ctx, file, begin, end);
  CtValue *v = expr ? ct_eval(ct, expr, ct_env_new(ct, module ? module->env : NULL, (CtModule *)module)) : NULL;
  leave(ct);
  return v;
}

CtValue *comptime_eval_text(Comptime *ct, const CtModule *module, const char *what, const char *text,
                            const CtBinding *extra, uint32_t num_extra) {
  ENTER(ct);
  const SourceFile *file = source_add(ct->ctx, what, text, strlen(text));
  const Node *expr = file ? parse_expression(ct->ctx, file) : NULL;
  CtValue *v = NULL;
  if (expr) {
    CtEnv *env = ct_env_new(ct, module ? module->env : NULL, (CtModule *)module);
    for (uint32_t i = 0; i < num_extra; i++) ct_env_set(ct->ctx, env, intern(ct->ctx, extra[i].name), extra[i].value);
    v = ct_eval(ct, expr, env);
  }
  leave(ct);
  return v;
}

CtValue *comptime_call(Comptime *ct, CtValue *callee, CtValue *const *args, uint32_t num_args, const CtBinding *kwargs,
                       uint32_t num_kwargs, Span span) {
  RETURN_ENTERED(ct, CtValue *, ct_call(ct, callee, &(CtArgs){args, num_args, kwargs, num_kwargs, span}));
}

CtValue *comptime_unary(Comptime *ct, PyOp op, CtValue *value, Span span) {
  RETURN_ENTERED(ct, CtValue *, ct_unary(ct, op, value, span));
}

CtValue *comptime_binary(Comptime *ct, PyOp op, CtValue *left, CtValue *right, Span span) {
  RETURN_ENTERED(ct, CtValue *, ct_binary(ct, op, left, right, span));
}

CtValue *comptime_subscript(Comptime *ct, CtValue *value, CtValue *index, Span span) {
  RETURN_ENTERED(ct, CtValue *, ct_subscript(ct, value, index, span));
}

bool comptime_iterate(Comptime *ct, CtValue *value, Span span, CtList *out) {
  RETURN_ENTERED(ct, bool, ct_iterate(ct, value, span, out));
}

CtValue *comptime_format(Comptime *ct, CtValue *value, char conversion, const char *spec, Span span) {
  RETURN_ENTERED(ct, CtValue *, ct_format_value(ct, value, conversion, spec, span));
}
