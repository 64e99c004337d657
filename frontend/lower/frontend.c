// Loading programs, and lowering a kernel for one specialisation.
#include "frontend/lower/gluon.h"
#include "frontend/lower/statements.h"
#include "frontend/lower/term.h"
#include "frontend/lower/warnings.h"

#include <string.h>

LaunchOptions launch_options_default(void) {
  return (LaunchOptions){.num_warps = 4, .num_stages = 3, .num_ctas = 1, .enable_fp_fusion = true, .auto_tma = true,
                         .dot_precision = -1};
}

static Frontend *new_frontend(Context *ctx, const FrontendOptions *o) {
  Frontend *fe = arena_new(&ctx->arena, Frontend);
  fe->ctx = ctx;
  fe->target = o->target ? o->target : target_find("sm_90a");
  ComptimeOptions co = {.include_paths = o->include_paths,
                        .num_include_paths = o->num_include_paths,
                        .is_language_name = lower_is_language_name,
                        .cuda_capability = (int)fe->target->sm,
                        .step_limit = o->step_limit};
  fe->max_statements = o->step_limit ? o->step_limit : MAX_STATEMENTS;
  fe->ct = comptime_new(ctx, &co);
  return fe;
}

static Frontend *loaded(Frontend *fe, CtModule *module) {
  if (!module) return NULL;
  fe->module = module;
  if (module->tree) warn_redefinitions(fe->ctx, module->tree);
  fe->kernels = comptime_kernels(fe->ct, module);
  return fe;
}

Frontend *frontend_load_file(Context *ctx, const char *path, const FrontendOptions *options) {
  Frontend *fe = new_frontend(ctx, options);
  return loaded(fe, comptime_load_file(fe->ct, path));
}

Frontend *frontend_load_text(Context *ctx, const char *path, const char *text, size_t size,
                             const FrontendOptions *options) {
  Frontend *fe = new_frontend(ctx, options);
  const SourceFile *file = source_add(ctx, path, text, size);
  return loaded(fe, comptime_load_source(fe->ct, file, "__main__"));
}

Comptime *frontend_comptime(const Frontend *fe) { return fe->ct; }
const CtModule *frontend_module(const Frontend *fe) { return fe->module; }
uint32_t frontend_num_kernels(const Frontend *fe) { return fe->kernels.count; }
CtFunction *frontend_kernel(const Frontend *fe, uint32_t i) { return fe->kernels.data[i]; }

// ---- kernels ----
static const Node *value_return(const NodeList *body) {
  for (uint32_t i = 0; i < body->count; i++) {
    const Node *n = body->data[i];
    if (n->kind == NODE_RETURN && n->unary.value && n->unary.value->kind != NODE_NONE) return n;
    if (n->kind == NODE_FUNCTION_DEF || n->kind == NODE_CLASS_DEF) continue;
    for (const AstPart *part = ast_parts(n); part->kind; part++) {
      const Node *found = part->kind == PART_BODY ? value_return(ast_part_list(n, part)) : NULL;
      if (found) return found;
    }
  }
  return NULL;
}

// As the file's other kernels have it, or as its imports allow.
static const char *decorator(Frontend *fe) {
  if (fe->kernels.count)
    return fe->kernels.data[0]->is_bare ? "@kernel" : fe->kernels.data[0]->is_gluon ? "@gluon.jit" : "@triton.jit";
  const CtValue *triton = comptime_lookup(fe->ct, fe->module->env, intern(fe->ctx, "triton"));
  return triton && triton->kind == CT_MODULE ? "@triton.jit" : "@triton.jit or @kernel";
}

typedef struct { Frontend *fe; const char *name; const Node *outer; uint32_t shown; } NestedSearch;
enum { MAX_SHOWN = 4 };

static void search_nested(const Node *n, void *user) {
  NestedSearch *s = user;
  const Node *outer = s->outer;
  if (s->shown == MAX_SHOWN) return;
  const bool is_class = n->kind == NODE_CLASS_DEF;
  if (outer && n->kind == NODE_FUNCTION_DEF &&
      (s->name ? !strcmp(n->func.name, s->name) : comptime_is_for_kernels(s->fe->ct, n, s->fe->module->env))) {
    const bool in_class = outer->kind == NODE_CLASS_DEF;
    const Span name = in_class ? outer->cls.name_span : outer->func.name_span;
    diag_note(s->fe->ctx, n->func.name_span, "`%s` stands in %s `%s` of line %u: move it to the module level",
              n->func.name, in_class ? "class" : "function", in_class ? outer->cls.name : outer->func.name,
              source_locate(s->fe->ctx, name.begin).line);
    s->shown++;
    return;
  }
  if (is_class || n->kind == NODE_FUNCTION_DEF) s->outer = n;
  ast_each_child(n, search_nested, s);
  s->outer = outer;
}

// Notes the kernels, or the functions of that name, that a class or another function holds. False if there is none.
static bool explain_nested(Frontend *fe, const char *name) {
  NestedSearch s = {.fe = fe, .name = name};
  search_nested(fe->module->tree, &s);
  return s.shown != 0;
}

// Says why what the name stands for is no kernel of this file. False if it does not look like one.
static bool explain_no_kernel(Frontend *fe, const char *name, const CtValue *v) {
  if (v && v->kind == CT_MISSING) {
    diag_note(fe->ctx, v->missing.span, "`%s` could not be made: %s", name, v->missing.why);
    return true;
  }
  if (!v || v->kind != CT_FUNCTION || !v->fn->def || v->fn->def->kind != NODE_FUNCTION_DEF) return false;
  const Node *def = v->fn->def, *ret = value_return(&def->func.body);
  if (v->fn->env->module != fe->module)
    diag_note(fe->ctx, def->func.name_span, "`%s` comes from another file: compile that one", name);
  else if (v->fn->role == FN_PLAIN)
    diag_note(fe->ctx, def->func.name_span, "`%s` has no decorator: write %s on the line above", name, decorator(fe));
  else if (ret)
    diag_note(fe->ctx, ret->span, "`%s` returns a value here, so it is a function for kernels to call; "
              "a kernel stores its results with %sstore(…)", name, lower_prefix(&fe->ctx->arena, v->fn));
  else
    diag_note(fe->ctx, def->func.name_span, "`%s` is a function for kernels to call, because others are marked @kernel",
              name);
  return true;
}

void frontend_explain_no_kernels(Frontend *fe) {
  if (explain_nested(fe, NULL)) return;
  uint32_t shown = 0;
  const CtEnv *env = fe->module->env;
  const NodeList *body = &fe->module->tree->block;
  for (uint32_t i = 0; i < body->count && shown < MAX_SHOWN; i++)
    if (body->data[i]->kind == NODE_FUNCTION_DEF)
      shown += explain_no_kernel(fe, body->data[i]->func.name,
                                 comptime_lookup(fe->ct, env, body->data[i]->func.name));
  if (!shown) diag_note(fe->ctx, (Span){0, 0}, "a kernel is a function decorated with %s", decorator(fe));
}

CtFunction *frontend_find_kernel(Frontend *fe, const char *name) {
  Buf all = buf_make(&fe->ctx->arena);
  const CtValue *named = comptime_lookup(fe->ct, fe->module->env, intern(fe->ctx, name));
  for (uint32_t i = 0; i < fe->kernels.count; i++) {
    if (strcmp(fe->kernels.data[i]->name, name) == 0) return fe->kernels.data[i];
    // k = triton.jit(_k): the kernel's own name is _k.
    if (named && named->kind == CT_FUNCTION && named->fn == fe->kernels.data[i]) return fe->kernels.data[i];
    buf_printf(&all, "%s%s", i ? ", " : "", fe->kernels.data[i]->name);
  }
  const SourceFile *f = fe->module->file;
  diag_error(fe->ctx, (Span){0, 0}, "there is no kernel `%s` in %s", name, f ? f->path : "the program");
  bool known = explain_no_kernel(fe, name, named) ||
               explain_nested(fe, name);
  if (all.size) diag_note(fe->ctx, (Span){0, 0}, "the kernels are %s", buf_str(&all));
  else if (!known) frontend_explain_no_kernels(fe);
  return NULL;
}

// ---- lowering ----
static bool check_options(Frontend *fe, const LaunchOptions *o, Span at) {
  const uint64_t threads = WARP_SIZE * (uint64_t)o->num_warps;
  if (!is_pow2_u64(o->num_warps))
    return diag_error(fe->ctx, at, "num_warps must be a power of two up to 32, not %u", o->num_warps);
  if (threads > MAX_BLOCK_THREADS) {
    diag_misfit(fe->ctx, FIT_THREADS, threads, MAX_BLOCK_THREADS);
    return diag_error(fe->ctx, at, "num_warps=%u makes %llu threads, and a block has at most %d", o->num_warps,
                      (unsigned long long)threads, MAX_BLOCK_THREADS);
  }
  if (!is_pow2_u64(o->num_ctas) || o->num_ctas > 16)
    return diag_error(fe->ctx, at, "num_ctas must be a power of two up to 16, not %u", o->num_ctas);
  if (o->num_ctas > 1 && !fe->target->has_cluster)
    return diag_error(fe->ctx, at, "num_ctas above 1 needs sm_90 or later, this is %s", fe->target->name);
  return true;
}

bool frontend_check_params(Frontend *fe, const CtFunction *kernel) {
  for (uint32_t i = 0; i < kernel->num_params; i++) {
    const CtParam *p = &kernel->params[i];
    if (p->kind != PARAM_VARARGS && p->kind != PARAM_KWARGS) continue;
    diag_error(fe->ctx, p->node->span, "a kernel cannot have `%s%s`: its parameters are its binary interface",
               p->kind == PARAM_KWARGS ? "**" : "*", p->name);
    diag_note(fe->ctx, (Span){0, 0}, "name each parameter, constexprs as `NAME: tl.constexpr`; functions that the "
              "kernel calls may have `*args`");
    return false;
  }
  return true;
}

// A function with errors gets no warnings: what it does not use or reach may be their consequence.
static void warn(Lower *L, const Func *f, const Node *def) {
  for (uint32_t i = 0; i < L->visited.count; i++) {
    warn_unused_variables(L, L->visited.data[i]);
    warn_unreachable(L, L->visited.data[i]);
    warn_compares(L, L->visited.data[i]);
  }
  warn_missing_store(L, f, def);
  warn_unused_pointers(L, f, def);
  lower_warn_left_out(L, f);
}

bool frontend_lower_into(Frontend *fe, Module *m, CtFunction *kernel, const ParamSpec *specs,
                         const LaunchOptions *launch) {
  Context *ctx = fe->ctx;
  if (!frontend_check_params(fe, kernel)) return false;
  if (frontend_count_open(kernel, specs)) return lower_report_open(fe, kernel, specs);
  if (!frontend_check_signature(fe, kernel, specs)) return false;
  for (uint32_t i = 0; i < kernel->num_params; i++)
    if (kernel->params[i].is_constexpr &&
        (kernel->params[i].do_not_specialize || kernel->params[i].do_not_specialize_on_alignment))
      return diag_error(ctx, kernel->params[i].node->span,
                        "parameter `%s` is a constexpr and in do_not_specialize: a constant is always specialised",
                        kernel->params[i].name);
  uint32_t errors = diag_error_count(ctx);
  Func *f = func_new(m, kernel->name, kernel->def->func.name_span);
  Lower L = {.fe = fe, .ctx = ctx, .arena = &ctx->arena, .ct = fe->ct, .module = m, .options = launch,
             .is_gluon = kernel->is_gluon, .kernel = kernel, .specs = specs};
  L.b = builder_at_end(ctx, f, f->body, kernel->def->func.name_span);
  Frame frame = {.fn = kernel};
  L.frame = &frame;
  lower_visit(&L, kernel);
  if (!lower_add_params(&L, kernel, specs, &frame.scope)) return false;
  Cont k = {&kernel->def->func.body, 0, NULL};
  LiveOut out = {NULL, true};
  lower_stmts(&L, &k, &out);
  if (frame.scope.ret && !term_is_none(frame.scope.ret)) {
    const Node *at = value_return(&kernel->def->func.body);
    lower_error(&L, at ? at->span : kernel->def->func.name_span,
                "kernel `%s` returns %s; a kernel gives its results through memory", kernel->name,
                term_describe(&L, frame.scope.ret));
    lower_hint(&L, "store the value with store(…)");   // a @triton.jit function that returns a value is no kernel
  }
  lower_cursor_to_end(&L, f->body);
  build_op(&L.b, OP_RETURN, NULL, 0);
  if (diag_error_count(ctx) != errors || !lower_check_roles(&L) || !lower_check_owned_results(&L)) return false;
  warn(&L, f, kernel->def);
  return true;
}

Module *frontend_lower(Frontend *fe, CtFunction *kernel, const ParamSpec *specs, const LaunchOptions *launch) {
  if (!check_options(fe, launch, kernel->def->func.name_span)) return NULL;
  // A program's tiles are not laid out over a cluster, so a second block would repeat all the work, atomics included.
  if (launch->num_ctas > 1 && !kernel->is_gluon &&
      diag_warning(fe->ctx, WARN_NUM_CTAS, kernel->def->func.name_span,
                   "num_ctas = %u: programs are not split over clusters, each runs in one block", launch->num_ctas)) {
    diag_note(fe->ctx, (Span){0, 0}, "leave num_ctas at 1, and give a large tile more warps");
  }
  Module *m = module_new(fe->ctx, fe->target);
  m->num_warps = launch->num_warps;
  m->num_stages = (uint32_t)min_i64(launch->num_stages, MAX_STAGES);
  m->maxnreg = launch->maxnreg;
  m->fp_fusion = launch->enable_fp_fusion;
  m->debug = launch->debug;
  m->auto_tma = launch->auto_tma;
  m->cooperative = launch->launch_cooperative_grid;
  m->pdl = launch->launch_pdl;
  m->as_written = kernel->is_gluon;
  if (kernel->is_gluon) m->num_ctas = launch->num_ctas;
  m->stage = kernel->is_gluon ? STAGE_LAID_OUT : STAGE_TILE;
  return frontend_lower_into(fe, m, kernel, specs, launch) ? m : NULL;
}
