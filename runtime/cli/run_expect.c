// --expect NAME=EXPR and --expect NAME=@FILE.npy: is the result right?
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/cli/cli.h"
#include "runtime/cli/expression.h"
#include "runtime/cli/run.h"

typedef struct Expectation {
  const RunBuffer *buffer;
  const char *left;            // what stands before the `=`
  const double *places;        // of the elements that it picks; NULL: all
  HostTensor want;             // fp64
} Expectation;

typedef struct {
  const Run *run;
  const Func *kernel;
  Arena *arena;
} Scope;

static bool number_of(const char *text, double *v) {
  char *end;
  if (!strcmp(text, "True") || !strcmp(text, "False")) return *v = text[0] == 'T', true;
  *v = strtod(text, &end);
  return end != text && !*end;
}

// Arguments as they are before the run, --buf's buffers, and constexprs that are numbers.
static const Nd *find(void *user, const char *name) {
  const Scope *s = user;
  double v;
  const RunArg *a = run_find_arg(s->run, name);
  const RunBuffer *b = run_buffer_named(s->run, name);
  if (b) return nd_of_host(s->arena, &b->initial, a && a->offset > 0 ? (uint64_t)a->offset : 0);
  if (a && (a->spec->kind == ARG_INT || a->spec->kind == ARG_BOOL)) return nd_scalar(s->arena, (double)a->spec->i);
  if (a && a->spec->kind == ARG_FLOAT) return nd_scalar(s->arena, a->spec->f);
  for (uint32_t i = 0; s->kernel && i < s->kernel->num_constexprs; i++)
    if (!strcmp(s->kernel->constexpr_names[i], name) && number_of(s->kernel->constexpr_values[i], &v))
      return nd_scalar(s->arena, v);
  return NULL;
}

static ExpressionScope scope_of(Scope *s) {
  const Run *run = s->run;
  const uint32_t num = run->num_args + run->num_buffers + (s->kernel ? s->kernel->num_constexprs : 0);
  const char **names = arena_array(s->arena, const char *, num + 1);
  uint32_t n = 0;
  for (uint32_t i = 0; i < run->num_args; i++) names[n++] = run->args[i].name;
  for (uint32_t i = 0; i < run->num_buffers; i++)
    if (!run_find_arg(run, run->buffers[i].name)) names[n++] = run->buffers[i].name;
  for (uint32_t i = 0; s->kernel && i < s->kernel->num_constexprs; i++) names[n++] = s->kernel->constexpr_names[i];
  return (ExpressionScope){find, s, names, n, "is not an argument, a buffer or a constexpr of the kernel"};
}

static void *keep(const Run *run, const Nd *x) {   // in the run's arena
  return memcpy(arena_alloc(run->arena, (x->count + 1) * sizeof *x->data), x->data, x->count * sizeof *x->data);
}

typedef struct { const ExpressionScope *scope; const char *name; const Nd *places; } PickScope;
static const Nd *find_places(void *user, const char *name) {
  const PickScope *s = user;
  return strcmp(name, s->name) ? s->scope->find(s->scope->user, name) : s->places;
}

// Finds out which elements are compared, and sets the shape of what is wanted.
static bool pick(Run *run, Context *ctx, const ExpressionScope *scope, Expectation *to) {
  const HostTensor *like = &to->buffer->initial;
  to->want = *like;
  to->want.dtype = DT_FP64;
  if (!strcmp(to->left, to->buffer->name)) return true;
  Nd *places = nd_new(&ctx->arena, like->rank, like->shape);
  for (uint64_t i = 0; i < places->count; i++) places->data[i] = (double)i;
  PickScope p = {scope, to->buffer->name, places};
  ExpressionScope within = *scope;
  within.find = find_places;
  within.user = &p;
  const Nd *x = expression_pick(ctx, "--expect", to->left, &within);
  if (!x) return false;
  to->places = keep(run, x);
  to->want.rank = x->rank;
  to->want.count = x->count;
  memcpy(to->want.shape, x->shape, sizeof x->shape);
  return true;
}

static tile_status read_reference(Run *run, const char *path, Expectation *to, tile_error **error) {
  const HostTensor *like = &to->buffer->initial;
  HostTensor t;
  const char *bytes;
  size_t size;
  RETURN_IF_FAILED(file_uses_add(&run->uses, run->arena, NULL, path, error));
  RETURN_IF_FAILED(file_read(run->arena, path, &bytes, &size, error));
  const char *why = npy_read(run->arena, bytes, size, &t);
  if (why) return error_set(error, TILE_ERROR_FILE, "cannot use %s: %s", path, why);
  // bf16 and fp8 are kept as raw bits of that size.
  if (!host_is_float(t.dtype) && host_is_float(like->dtype) && host_elem_bytes(t.dtype) == host_elem_bytes(like->dtype))
    t.dtype = like->dtype;
  if (t.count != to->want.count)
    return error_set(error, TILE_ERROR_USAGE, "--expect %s: %s has %llu elements, the %s has %llu", to->left, path,
                     (unsigned long long)t.count, to->places ? "part" : "buffer", (unsigned long long)to->want.count);
  to->want.data = keep(run, nd_of_host(run->arena, &t, 0));
  return TILE_OK;
}

// text: the expression; NULL: only what stands before the `=`.
static bool compute(Run *run, const tile_program *p, Context *ctx, const char *text, Expectation *to) {
  const HostTensor *want = &to->want;
  const Func *f = p->module->funcs;
  const char *kernel = p->kernel ? p->kernel->name : run->options->kernel;
  while (f && kernel && strcmp(f->name, kernel)) f = f->next;
  Scope s = {run, f, &ctx->arena};
  const ExpressionScope scope = scope_of(&s);
  if (!pick(run, ctx, &scope, to)) return false;
  if (!text) return true;
  const char *what = arena_printf(&ctx->arena, "--expect %s", to->left), *why = "";
  const Nd *x = expression_eval(ctx, what, text, &scope);
  const Nd *all = x ? nd_broadcast(&ctx->arena, x, want->rank, want->shape, &why) : NULL;
  if (x && !all) return diag_error(ctx, (Span){0, 0}, "--expect %s=%s: %s", to->left, text, why);
  if (all) to->want.data = keep(run, all);
  return all != NULL;
}

// In a Context of its own, which is freed with all arrays but the result.
static tile_status compute_guarded(Run *run, const tile_program *p, const char *text, Expectation *to,
                                   tile_error **error) {
  Context ctx;
  jmp_buf on_ice;
  context_init(&ctx);
  const int why = setjmp(on_ice);
  if (why) {
    ctx.on_ice = NULL;
    error_set_left(error, why, &ctx, "computing --expect");
  } else {
    ctx.on_ice = &on_ice;
    if (!compute(run, p, &ctx, text, to)) error_set_diagnostics(error, TILE_ERROR_USAGE, &ctx, cli_color(run->options));
    ctx.on_ice = NULL;
  }
  context_free(&ctx);
  return *error ? tile_error_status(*error) : TILE_OK;
}

// The first `=` outside of brackets, or the end.
static const char *equals(const char *s) {
  for (int depth = 0; *s && (*s != '=' || depth); s++) depth += (*s == '[' || *s == '(') - (*s == ']' || *s == ')');
  return s;
}

tile_status run_expect_prepare(Run *run, tile_program *p, tile_error **error) {
  const StrList *all = &run->options->expects;
  run->expected = arena_array(run->arena, Expectation, all->count + 1);
  for (uint32_t i = 0; i < all->count; i++) {
    const char *text = all->data[i], *eq = equals(text);
    if (!*eq || eq == text || !eq[1] || eq[1] == '=')
      return error_set(error, TILE_ERROR_USAGE, "--expect takes NAME=EXPR or NAME=@FILE.npy, not '%s'", text);
    const char *end = eq, *value = eq + 1 + strspn(eq + 1, " ");
    while (end > text && end[-1] == ' ') end--;
    Expectation *e = &run->expected[i];
    *e = (Expectation){.left = arena_strndup(run->arena, text, (size_t)(end - text))};
    static const char ends[] = "[]().,:+-*/%@<>!&|^~ ";
    const char *name = arena_strndup(run->arena, e->left, strcspn(e->left, ends));
    e->buffer = run_buffer_named(run, name);
    if (!e->buffer) return run_no_buffer(run, "expect", name, error);
    RETURN_IF_FAILED(compute_guarded(run, p, *value == '@' ? NULL : value, e, error));
    if (*value == '@') RETURN_IF_FAILED(read_reference(run, value + 1, e, error));
  }
  return TILE_OK;
}

// The elements that are compared, of what the buffer holds.
static HostTensor picked(const Run *run, const Expectation *e, const HostTensor *from) {
  HostTensor got = e->want;
  const double *all = nd_of_host(run->arena, from, 0)->data;
  double *part = arena_array(run->arena, double, got.count + 1);
  for (uint64_t i = 0; i < got.count; i++) part[i] = all[e->places ? (uint64_t)e->places[i] : i];
  got.data = (uint8_t *)part;
  return got;
}

bool run_expect_compare(Run *run, Module *module, const CheckLimits *limits, Buf *out) {
  bool ok = true;
  for (uint32_t i = 0; i < run->options->expects.count; i++) {
    const Expectation *e = &run->expected[i];
    const HostTensor got = picked(run, e, &e->buffer->result), initial = picked(run, e, &e->buffer->initial);
    const Comparison c = {"expect", e->left, "expected", &got, &e->want, &initial, e->buffer, e->places,
                          e->buffer->result.dtype, run, module};
    ok = run_tell(out, &c, limits) && ok;
  }
  return ok;
}
