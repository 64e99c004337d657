// The first half of a compilation: from source to a verified module of the stage TILE. These give a parameter's type or
// value, in this order: its annotation and default, --signature, -D, the autotune configuration, the arguments of a
// run, heuristics.
#include "runtime/compile/steps.h"

#include <string.h>

static Span span_of_kernel(const CtFunction *k) { return k->def->func.name_span; }

// Applies the command line to launch options that hold what the source's configuration says.
static void override_launch(const Options *o, uint32_t most_stages, LaunchOptions *l) {
  if (o->num_warps) l->num_warps = (uint32_t)o->num_warps;
  if (o->num_stages) l->num_stages = (uint32_t)o->num_stages, l->stages_given = true;
  if (!l->stages_given && most_stages) l->num_stages = most_stages;
  if (o->num_ctas) l->num_ctas = (uint32_t)o->num_ctas;
  if (o->maxnreg) l->maxnreg = (uint32_t)o->maxnreg;
  l->enable_fp_fusion = o->fp_fusion;
  if (o->dot_precision) l->dot_precision = frontend_dot_precision(o->dot_precision);
  l->debug = o->debug;
  l->sanitize_overflow = o->sanitize_overflow;
  l->launch_cooperative_grid = o->cooperative;
  l->launch_pdl = o->pdl;
  l->auto_tma = o->auto_tma;
}

// Whether the kernel has the parameter that a -D names.
static bool has_param(const CtFunction *k, const char *define) {
  size_t n = strcspn(define, "=");
  for (uint32_t i = 0; i < k->num_params; i++)
    if (!strncmp(k->params[i].name, define, n) && k->params[i].name[n] == 0) return true;
  return false;
}

static bool apply_command_line(const CompileJob *job, tile_program *p, CtFunction *k, ParamSpec *specs) {
  const Options *o = job->options;
  const char *origin = job->origin ? job->origin : o->caller == CALLER_TILEC ? "-D" : "defines";
  bool ok = true;
  if (options_signature(o)) ok = frontend_apply_signature(p->frontend, k, specs, options_signature(o));
  p->is_usage_error = !ok;
  for (uint32_t i = 0; i < o->defines.count; i++)
    if ((p->kernel || has_param(k, o->defines.data[i])) &&
        !frontend_apply_define(p->frontend, k, specs, o->defines.data[i], origin))
      ok = false, p->is_usage_error = true;
  return ok;
}

const char *compile_config_text(Context *ctx, const CtConfig *c) {
  Buf b = buf_make(&ctx->arena);
  for (uint32_t i = 0; c->kwargs && i < c->kwargs->count; i++)
    buf_printf(&b, "%s=%s, ", ct_to_str(ctx, c->kwargs->entries[i].key), ct_repr(ctx, c->kwargs->entries[i].value));
  if (c->num_warps) buf_printf(&b, "num_warps=%d, ", c->num_warps);
  if (c->num_stages) buf_printf(&b, "num_stages=%d, ", c->num_stages);
  if (c->num_ctas) buf_printf(&b, "num_ctas=%d, ", c->num_ctas);
  const char *s = buf_str(&b);
  return b.size > 2 ? arena_strndup(&ctx->arena, s, b.size - 2) : "";
}

// The configuration with the command line's changes and, if there are any, what the source says.
static const char *effective_config_text(Context *ctx, const CtConfig *c, const CtFunction *k, const ParamSpec *specs,
                                         const LaunchOptions *launch) {
  CtConfig now = *c;
  now.kwargs = ct_dict(ctx)->dict;
  for (uint32_t n = 0; c->kwargs && n < c->kwargs->count; n++) {
    const CtEntry *e = &c->kwargs->entries[n];
    uint32_t i = e->key->kind == CT_STR ? frontend_param_index(k, e->key->str.data) : k->num_params;
    bool is_constant = i < k->num_params && specs[i].kind == SPEC_CONSTEXPR;
    ct_dict_set_str(ctx, now.kwargs, ct_to_str(ctx, e->key), is_constant ? specs[i].value : e->value);
  }
  if (c->num_warps) now.num_warps = (int)launch->num_warps;
  if (c->num_stages) now.num_stages = (int)launch->num_stages;
  if (c->num_ctas) now.num_ctas = (int)launch->num_ctas;
  const char *source = compile_config_text(ctx, c), *text = compile_config_text(ctx, &now);
  return strcmp(source, text) == 0 ? text : arena_printf(&ctx->arena, "%s (in the source %s)", text, source);
}

// Collects everything that decides a kernel's specialisation. False after diagnostics.
static bool specialize(const CompileJob *job, tile_program *p, CtFunction *k, uint32_t config, ParamSpec **specs,
                       LaunchOptions *launch) {
  Context *ctx = &p->ctx;
  *specs = frontend_new_specs(p->frontend, k);
  *launch = launch_options_default();
  if (!apply_command_line(job, p, k, *specs)) return false;
  if (k->autotune && config < k->autotune->num_configs) {
    const CtConfig *c = &k->autotune->configs[config];
    if (!frontend_apply_config(p->frontend, k, *specs, launch, c)) return false;
    if (k == p->kernel) p->config = (int)config;
  }
  CtValue *args = ct_dict(ctx);
  if (job->specialize && !job->specialize(job->user, p, k, *specs, args->dict)) return false;
  if (k->num_heuristics && !frontend_run_heuristics(p->frontend, k, *specs, launch, args->dict)) return false;
  override_launch(job->options, p->most_stages, launch);
  if (k == p->kernel && k->autotune && config < k->autotune->num_configs)
    p->config_text = effective_config_text(ctx, &k->autotune->configs[config], k, *specs, launch);
  return true;
}

static bool same_launch(const LaunchOptions *a, const LaunchOptions *b) {
  return a->num_warps == b->num_warps && a->num_stages == b->num_stages && a->num_ctas == b->num_ctas &&
         a->maxnreg == b->maxnreg;
}

// Lowers all kernels whose types are known into one module.
static bool lower_all(const CompileJob *job, tile_program *p) {
  Frontend *fe = p->frontend;
  Context *ctx = &p->ctx;
  uint32_t count = frontend_num_kernels(fe);
  if (job->options->signatures.count) {
    diag_error(ctx, (Span){0, 0}, "--signature needs to know which of the %u kernels it is for", count);
    diag_note(ctx, (Span){0, 0}, "name it with -n");
    p->is_usage_error = true;
    return false;
  }
  for (uint32_t d = 0; d < job->options->defines.count; d++) {
    bool known = false;
    for (uint32_t i = 0; i < count; i++)
      known = known || has_param(frontend_kernel(fe, i), job->options->defines.data[d]);
    p->is_usage_error = !known;
    if (!known)
      return diag_error(ctx, (Span){0, 0}, "-D %s: no kernel has a parameter of that name",
                        job->options->defines.data[d]);
  }
  const CtFunction *first = NULL;
  for (uint32_t i = 0; i < count; i++) {
    CtFunction *k = frontend_kernel(fe, i);
    ParamSpec *specs;
    LaunchOptions launch;
    if (!specialize(job, p, k, 0, &specs, &launch)) return false;
    if (frontend_count_open(k, specs)) continue;
    if (!p->module) {
      first = k;
      p->launch = launch;
      p->module = frontend_lower(fe, k, specs, &launch);
      if (!p->module) return false;
    } else if (!same_launch(&launch, &p->launch)) {
      diag_error(ctx, span_of_kernel(k), "kernels %s and %s want different launch options and cannot share a module",
                 first->name, k->name);
      diag_note(ctx, (Span){0, 0}, "compile one of them with -n, or give --num-warps and --num-stages for both");
      return false;
    } else if (!frontend_lower_into(fe, p->module, k, specs, &launch)) {
      return false;
    }
  }
  if (p->module) return true;
  diag_error(ctx, (Span){0, 0}, "%s: no kernel's parameters are all known", job->path);
  for (uint32_t i = 0; i < count; i++) {
    CtFunction *k = frontend_kernel(fe, i);
    diag_note(ctx, span_of_kernel(k), "%s: annotate its parameters, or name it with -n and give --signature and -D",
              k->name);
  }
  return false;
}

static bool load(const CompileJob *job, tile_program *p) {
  FrontendOptions fo = {.include_paths = job->options->include_paths.data,
                        .num_include_paths = job->options->include_paths.count,
                        .target = p->target};
  p->frontend = job->text ? frontend_load_text(&p->ctx, job->path, job->text, job->size, &fo)
                          : frontend_load_file(&p->ctx, job->path, &fo);
  if (!p->frontend) return false;
  uint32_t count = frontend_num_kernels(p->frontend);
  if (job->options->kernel) {
    p->kernel = frontend_find_kernel(p->frontend, job->options->kernel);
    p->is_usage_error = !p->kernel;
    return p->kernel != NULL;
  }
  if (!count) {
    diag_error(&p->ctx, (Span){0, 0}, "%s defines no kernel", job->path);
    frontend_explain_no_kernels(p->frontend);
    return false;
  }
  if (count == 1) p->kernel = frontend_kernel(p->frontend, 0);
  else if (options_signature(job->options))
    p->kernel = frontend_signature_kernel(p->frontend, options_signature(job->options));
  return true;
}

// None in place of a number is an error where the number is used: its cause is the argument.
static void tell_none(tile_program *p) {
  for (uint32_t i = 0; i < p->kernel->num_params; i++) {
    const ParamSpec *s = &p->specs[i];
    const CtParam *param = &p->kernel->params[i];
    DtypeKind dtype;
    const bool is_none = s->kind == SPEC_CONSTEXPR && s->value && ct_unwrap(s->value)->kind == CT_NONE;
    if (is_none && !param->is_constexpr && param->type_text && dtype_find(param->type_text, &dtype))
      diag_note(&p->ctx, (Span){0, 0}, "argument '%s' is None, and the kernel's parameter is %s: pass a number",
                param->name, param->type_text);
  }
}

static bool lower(const CompileJob *job, tile_program *p, uint32_t config) {
  if (!p->kernel) return lower_all(job, p);
  if (!specialize(job, p, p->kernel, config, &p->specs, &p->launch)) return false;
  p->launch.stops = job->stops;
  p->module = frontend_lower(p->frontend, p->kernel, p->specs, &p->launch);
  if (!p->module) tell_none(p);
  return p->module != NULL;
}

static void set_tree(tile_program *p, const Node *tree) {
  const char *text = ast_dump(&p->ctx, tree);
  compile_set_output(p, TILE_EMIT_AST, text, strlen(text));
}

bool compile_run_front_end(const CompileJob *job, tile_program *p, uint32_t config) {
  if (job->emit == TILE_EMIT_AST) {
    const SourceFile *file = source_add(&p->ctx, job->path, job->text, job->size);
    if (!file) return false;
    set_tree(p, parse_module(&p->ctx, file));
    return diag_error_count(&p->ctx) == 0;
  }
  if (!load(job, p)) return false;
  if (job->emit & TILE_EMIT_AST) set_tree(p, frontend_module(p->frontend)->tree);
  if (!lower(job, p, config)) return false;
  if (!ir_verify(p->module)) ice(&p->ctx, "the front end's IR does not verify");
  return compile_override_ir(job, p);
}
