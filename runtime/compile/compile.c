// The compile facade. Order of sources for a parameter: annotation and default, --signature, -D, the autotune
// configuration, the arguments of a run, heuristics. An autotuned kernel takes the first configuration that gets
// through the back end.
#include "runtime/compile/compile.h"

#include <stdlib.h>
#include <string.h>

#include "codegen/codegen.h"
#include "ir/c_locale.h"
#include "ir/clock.h"
#include "ir/nearest.h"
#include "passes/pass.h"
#include "runtime/compile/layout_svg.h"

const struct EmitInfo emit_info[NUM_EMITS] = {{"ast", ".ast"},       {"tile", ".tir"},    {"laid-out", ".tir"},
                                              {"allocated", ".tir"}, {"llvm", ".ll"},     {"ptx", ".ptx"},
                                              {"json", ".json"},     {"cubin", ".cubin"}, {"header", ".h"},
                                              {"layout-svg", ".svg"}};
#define EMIT_BACK_END (TILE_EMIT_LLVM | TILE_EMIT_PTX | TILE_EMIT_METADATA | TILE_EMIT_CUBIN | TILE_EMIT_HEADER)
#define EMIT_PASSES (TILE_EMIT_LAID_OUT | TILE_EMIT_ALLOCATED | TILE_EMIT_LAYOUT_SVG | EMIT_BACK_END)

static void set_output(tile_program *p, unsigned emit, const char *data, size_t size) {
  uint32_t bit = log2_u32(emit);
  p->outputs[bit].data = data;
  p->outputs[bit].size = size;
}

static void emit_module(tile_program *p, unsigned emit) {
  Buf b = buf_make(&p->ctx.arena);
  ir_print_module(&b, p->module);
  set_output(p, emit, buf_str(&b), b.size);
}

bool compile_is_ir_path(const char *path) {
  size_t n = strlen(path);
  return n > 4 && !strcmp(path + n - 4, ".tir");
}

static Span span_of_kernel(const CtFunction *k) { return k->def->func.name_span; }

// ---- front end ----

// Launch options as the source's configuration and then the command line say.
static void override_launch(const Options *o, uint32_t most_stages, LaunchOptions *l) {
  if (o->num_warps) l->num_warps = (uint32_t)o->num_warps;
  if (o->num_stages) l->num_stages = (uint32_t)o->num_stages, l->stages_given = true;
  if (!l->stages_given && most_stages) l->num_stages = most_stages;
  if (o->num_ctas) l->num_ctas = (uint32_t)o->num_ctas;
  if (o->maxnreg) l->maxnreg = (uint32_t)o->maxnreg;
  l->enable_fp_fusion = o->fp_fusion;
  l->debug = o->debug;
  l->sanitize_overflow = o->sanitize_overflow;
  l->launch_cooperative_grid = o->cooperative;
  l->launch_pdl = o->pdl;
  l->auto_tma = o->auto_tma;
}

// Does kernel have the parameter that a -D names?
static bool has_param(const CtFunction *k, const char *define) {
  size_t n = strcspn(define, "=");
  for (uint32_t i = 0; i < k->num_params; i++)
    if (!strncmp(k->params[i].name, define, n) && k->params[i].name[n] == 0) return true;
  return false;
}

static bool apply_command_line(const CompileJob *job, tile_program *p, CtFunction *k, ParamSpec *specs) {
  const Options *o = job->options;
  bool ok = true;
  if (options_signature(o)) ok = frontend_apply_signature(p->frontend, k, specs, options_signature(o));
  for (uint32_t i = 0; i < o->defines.count; i++)
    if (p->kernel || has_param(k, o->defines.data[i]))
      ok = frontend_apply_define(p->frontend, k, specs, o->defines.data[i]) && ok;
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

// The configuration as the command line left it, and where it changed something, what the source says.
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

// Everything that decides a kernel's specialisation. False after diagnostics.
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
  override_launch(job->options, p->most_stages, launch);
  if (k == p->kernel && k->autotune && config < k->autotune->num_configs)
    p->config_text = effective_config_text(ctx, &k->autotune->configs[config], k, *specs, launch);
  return !k->num_heuristics || frontend_run_heuristics(p->frontend, k, *specs, args->dict);
}

static bool same_launch(const LaunchOptions *a, const LaunchOptions *b) {
  return a->num_warps == b->num_warps && a->num_stages == b->num_stages && a->num_ctas == b->num_ctas &&
         a->maxnreg == b->maxnreg;
}

// All kernels whose types are known, as one module.
static bool lower_all(const CompileJob *job, tile_program *p) {
  Frontend *fe = p->frontend;
  Context *ctx = &p->ctx;
  uint32_t count = frontend_num_kernels(fe);
  if (job->options->signatures.count) {
    diag_error(ctx, (Span){0, 0}, "--signature needs to know which of the %u kernels it is for", count);
    diag_note(ctx, (Span){0, 0}, "name it with -n");
    return false;
  }
  for (uint32_t d = 0; d < job->options->defines.count; d++) {
    bool known = false;
    for (uint32_t i = 0; i < count; i++)
      known = known || has_param(frontend_kernel(fe, i), job->options->defines.data[d]);
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
  if (job->options->kernel) return (p->kernel = frontend_find_kernel(p->frontend, job->options->kernel)) != NULL;
  if (!count) {
    diag_error(&p->ctx, (Span){0, 0}, "%s defines no kernel", job->path);
    diag_note(&p->ctx, (Span){0, 0}, "a kernel is a function decorated with @kernel or @triton.jit");
    return false;
  }
  if (count == 1) p->kernel = frontend_kernel(p->frontend, 0);
  return true;
}

static bool lower(const CompileJob *job, tile_program *p, uint32_t config) {
  if (!p->kernel) return lower_all(job, p);
  if (!specialize(job, p, p->kernel, config, &p->specs, &p->launch)) return false;
  return (p->module = frontend_lower(p->frontend, p->kernel, p->specs, &p->launch)) != NULL;
}

// ---- middle and back ----

// The last IR that was LAID_OUT, when later outputs are made too: the passes go on from there and do not stop.
typedef struct { Buf text; } LaidOut;
static bool keep_laid_out(void *user, const char *pass, Module *m) {
  (void)pass;
  LaidOut *l = user;
  if (m->stage != STAGE_LAID_OUT) return true;
  l->text.size = 0;
  ir_print_module(&l->text, m);
  return true;
}

static PassOptions pass_options(const CompileJob *job) {
  const Options *o = job->options;
  return (PassOptions){.print_after = job->printed ? o->print_after : NULL,
                       .verify_each = o->verify_each,
                       .torture = o->torture,
                       .stop_after = (int)o->stop_after,
                       .printed = job->printed,
                       .times = o->time_passes ? job->times : NULL};
}

static void emit_ptx(const CompileJob *job, tile_program *p, const char *ptx) {
  Arena *a = &p->ctx.arena;
  Buf json = buf_make(a);
  metadata_write(&json, p);
  set_output(p, TILE_EMIT_METADATA, buf_str(&json), json.size);
  if (!(job->emit & (TILE_EMIT_PTX | TILE_EMIT_CUBIN | TILE_EMIT_HEADER))) return;
  Buf out = buf_make(a);
  buf_printf(&out, "// tilec %s\n", tile_version());
  for (const char *line = buf_str(&json); *line;) {
    size_t n = strcspn(line, "\n");
    buf_puts(&out, "// ");
    buf_write(&out, line, n);
    buf_putc(&out, '\n');
    line += n + (line[n] == '\n');
  }
  buf_puts(&out, ptx);
  set_output(p, TILE_EMIT_PTX, buf_str(&out), out.size);
}

static bool emit_layouts(const CompileJob *job, tile_program *p) {
  Buf b = buf_make(&p->ctx.arena);
  const char *of = job->options->layout_of;
  if (!layout_svg(p->module, of, &b)) {
    if (of) return diag_error(&p->ctx, (Span){0, 0}, "no value named '%s' has a layout", of);
    return diag_error(&p->ctx, (Span){0, 0},
                      "no value has a layout: the kernel has no tensors, or the passes that ran give them none");
  }
  set_output(p, TILE_EMIT_LAYOUT_SVG, buf_str(&b), b.size);
  return true;
}

static bool back_end(const CompileJob *job, tile_program *p) {
  Context *ctx = &p->ctx;
  const Options *o = job->options;
  PassOptions po = pass_options(job);
  bool bisects = po.stop_after >= 0;
  if (job->emit & TILE_EMIT_LAID_OUT && p->module->stage == STAGE_ALLOCATED && !o->passes)
    return diag_error(ctx, (Span){0, 0}, "%s is at stage allocated, behind the one that --emit=laid-out prints",
                      o->ir_override ? o->ir_override : job->path);
  if (o->passes) {
    if (!passes_run_named(p->module, o->passes, &po)) return false;
    for (unsigned e = TILE_EMIT_TILE; e <= TILE_EMIT_ALLOCATED; e <<= 1)
      if (job->emit & e) emit_module(p, e);
  } else {
    if (!(job->emit & EMIT_PASSES)) return true;
    LaidOut laid_out = {buf_make(&ctx->arena)};
    if (job->emit & TILE_EMIT_LAID_OUT) po.after_pass = keep_laid_out, po.user = &laid_out;
    bool stop_there = !(job->emit & (TILE_EMIT_ALLOCATED | TILE_EMIT_LAYOUT_SVG | EMIT_BACK_END));
    if (!passes_run(p->module, stop_there ? STAGE_LAID_OUT : STAGE_ALLOCATED, &po)) return false;
    if (laid_out.text.size) set_output(p, TILE_EMIT_LAID_OUT, buf_str(&laid_out.text), laid_out.text.size);
    else if (job->emit & TILE_EMIT_LAID_OUT && bisects) emit_module(p, TILE_EMIT_LAID_OUT);   // where it was stopped
    if (stop_there) return true;
    if (job->emit & TILE_EMIT_ALLOCATED) emit_module(p, TILE_EMIT_ALLOCATED);
  }
  if (job->emit & TILE_EMIT_LAYOUT_SVG && !emit_layouts(job, p)) return false;
  if (!(job->emit & EMIT_BACK_END)) return true;
  if (p->module->stage != STAGE_ALLOCATED) {
    diag_error(ctx, (Span){0, 0},
               "the passes that ran do not bring the module to stage allocated, which code is made from");
    diag_note(ctx, (Span){0, 0}, "--emit=allocated shows how far it came");
    return false;
  }
  ctx->current_pass = "codegen";
  ctx->current_op = NULL;
  CodegenOptions co = {o->line_info, (uint32_t)o->ptx_version, (uint32_t)o->opt_level};
  CodegenResult result = {0};
  bool want_ptx = (job->emit & (TILE_EMIT_PTX | TILE_EMIT_METADATA | TILE_EMIT_CUBIN | TILE_EMIT_HEADER)) != 0;
  if (!codegen_emit(p->module, &co, (job->emit & TILE_EMIT_LLVM) != 0, want_ptx, &result)) return false;
  if (result.llvm_ir) set_output(p, TILE_EMIT_LLVM, result.llvm_ir, strlen(result.llvm_ir));
  p->ptx_version = result.ptx_version;
  if (want_ptx) emit_ptx(job, p, result.ptx);
  ctx->current_pass = NULL;
  return true;
}

// ---- the whole way ----

static bool front_end(const CompileJob *job, tile_program *p, uint32_t config) {
  if (job->emit == TILE_EMIT_AST) {
    const SourceFile *file = source_add(&p->ctx, job->path, job->text, job->size);
    if (!file) return false;
    Node *tree = parse_module(&p->ctx, file);
    const char *text = ast_dump(&p->ctx, tree);
    set_output(p, TILE_EMIT_AST, text, strlen(text));
    return diag_error_count(&p->ctx) == 0;
  }
  if (!load(job, p)) return false;
  if (job->emit & TILE_EMIT_AST) {
    const char *text = ast_dump(&p->ctx, frontend_module(p->frontend)->tree);
    set_output(p, TILE_EMIT_AST, text, strlen(text));
  }
  if (!lower(job, p, config)) return false;
  if (!ir_verify(p->module)) ice(&p->ctx, "the front end's IR does not verify");
  return compile_override_ir(job, p);
}

typedef enum { REACHED_FRONT_END, REACHED_BACK_END, REACHED_FINISH, REACHED_END } Reached;

static bool is_fatal_here(const tile_program *p) { return diag_error_count(&p->ctx) != 0; }

// One attempt. *reached says where it failed.
static void attempt(const CompileJob *job, tile_program *p, uint32_t config, Reached *reached) {
  *reached = REACHED_FRONT_END;
  p->ctx.current_pass = "front end";
  bool ok = compile_is_ir_path(job->path) ? compile_read_ir(job, p) : front_end(job, p, config);
  p->ctx.current_pass = NULL;
  if (!ok || is_fatal_here(p)) return;
  if (job->emit & TILE_EMIT_TILE && !job->options->passes) emit_module(p, TILE_EMIT_TILE);
  *reached = REACHED_BACK_END;
  if (!back_end(job, p) || is_fatal_here(p)) return;
  *reached = REACHED_FINISH;
  if ((!job->finish || job->finish(job->user, p)) && !is_fatal_here(p)) *reached = REACHED_END;
}

static bool limits_are_over(void *user) {
  const Limits *l = user;
  return (l->hooks && l->hooks->should_stop && l->hooks->should_stop(l->hooks->user)) ||
         (l->deadline > 0 && clock_seconds() >= l->deadline);
}

void limits_apply(Limits *limits, Context *ctx) {
  bool limited = limits->deadline > 0 || (limits->hooks && limits->hooks->should_stop);
  ctx->should_stop = limited ? limits_are_over : NULL;
  ctx->stop_user = limits;
}

// What is known of a bug of ours: the pass, the op it stood at, and how to see it again.
static tile_status report_ice(const CompileJob *job, tile_program *p, tile_error **error) {
  Context *ctx = &p->ctx;
  jmp_buf again;
  ctx->on_ice = &again;
  const char *volatile op_text = "";
  const Op *op = ctx->current_op;
  if (op && setjmp(again) == 0) {
    Buf b = buf_make(&ctx->arena);
    ir_print_op(&b, op);
    op_text = buf_str(&b);
  }
  return error_set(error, TILE_ERROR_INTERNAL,
                   "internal error%s%s: %s%s%s\nthis is a bug in tilec %s; %s with the same options reproduces it",
                   ctx->current_pass ? " in " : "", ctx->current_pass ? ctx->current_pass : "",
                   ctx->ice_text ? ctx->ice_text : "?", *op_text ? "\n  at " : "", op_text, tile_version(), job->path);
}

static tile_program *program_new(const CompileJob *job, Limits *limits, const Target *target) {
  tile_program *p = calloc(1, sizeof *p);
  if (!p) return NULL;
  context_init_with(&p->ctx, hooks_memory(job->hooks));
  limits_apply(limits, &p->ctx);
  p->target = target;
  p->config = -1;
  return p;
}

static tile_status compile_stages(const CompileJob *job, Limits *limits, const Target *target, uint32_t config,
                                  uint32_t most_stages, Reached *reached, tile_program **out, tile_error **error) {
  tile_program *p = *out = program_new(job, limits, target);
  if (!p) return error_set(error, TILE_ERROR_NO_MEMORY, "out of memory");
  p->most_stages = most_stages;
  jmp_buf on_ice;
  switch (setjmp(on_ice)) {
  case 0: break;
  case ARENA_EMPTY:
    *reached = REACHED_FRONT_END;
    return error_set_left(error, ARENA_EMPTY, &(*out)->ctx, "compiling");
  case CONTEXT_STOPPED:
    *reached = REACHED_FRONT_END;
    return error_set_left(error, CONTEXT_STOPPED, &(*out)->ctx, "compiling");
  default:
    *reached = REACHED_FRONT_END;
    return report_ice(job, *out, error);
  }
  p->ctx.on_ice = &on_ice;
  attempt(job, p, config, reached);
  if (*reached != REACHED_END) {
    // A failure without a message is a bug of ours too.
    if (diag_error_count(&p->ctx) == 0) {
      if (!p->ctx.ice_text) p->ctx.ice_text = "failed without a message";
      return report_ice(job, p, error);
    }
    p->ctx.on_ice = NULL;
    return error_set_diagnostics(error, TILE_ERROR_PROGRAM, &p->ctx, job->color);
  }
  p->ctx.on_ice = NULL;
  p->ctx.should_stop = NULL;
  return TILE_OK;
}

// Where nobody has asked for a number of stages, shared memory decides: the default, or fewer if that is too much.
static tile_status compile_config(const CompileJob *job, Limits *limits, const Target *target, uint32_t config,
                                  Reached *reached, tile_program **out, tile_error **error) {
  tile_error *first_error = NULL;
  for (uint32_t most_stages = 0;;) {
    tile_error *e = NULL;
    tile_status status = compile_stages(job, limits, target, config, most_stages, reached, out, &e);
    const tile_program *p = *out;
    bool fewer = status != TILE_OK && *reached == REACHED_BACK_END && p && p->frontend && p->module &&
                 !p->launch.stages_given && p->module->fitting_stages &&
                 p->module->fitting_stages < p->launch.num_stages;
    if (!fewer) {
      // What the default needs is what to show.
      if (first_error && status != TILE_OK) tile_error_free(e), e = first_error;
      else tile_error_free(first_error);
      if (e) *error = e;
      return status;
    }
    most_stages = p->module->fitting_stages;
    if (first_error) tile_error_free(e);
    else first_error = e;
    tile_program_free(*out);
    *out = NULL;
  }
}

static tile_status assemble(const CompileJob *job, tile_program *p, tile_error **error) {
  uint32_t bit = log2_u32(TILE_EMIT_CUBIN);
  return ptxas_assemble(&p->ctx.arena, p->outputs[log2_u32(TILE_EMIT_PTX)].data, p->target->name,
                        job->options->ptx_options, &p->outputs[bit].data, &p->outputs[bit].size, error);
}

static tile_status find_target(const CompileJob *job, const Target **target, tile_error **error) {
  const char *arch = job->options->arch ? job->options->arch : "sm_90a";
  if ((*target = target_find(arch))) return TILE_OK;
  const char *names[64];
  uint32_t n = 0;
  while (n < countof(names) && target_at(n)) names[n] = target_at(n)->name, n++;
  const char *near = nearest_name(arch, names, n);
  return error_set(error, TILE_ERROR_USAGE, "there is no architecture %s%s%s; --list-archs lists them", arch,
                   near ? "; did you mean " : "", near ? near : "");
}

// Configuration after configuration until one gets through the back end.
static tile_status compile_configs(const CompileJob *job, Limits *limits, const Target *target, tile_program **out,
                                   tile_error **error) {
  tile_status status;
  tile_error *first_error = NULL;
  for (uint32_t config = job->config > 0 ? (uint32_t)job->config : 0;; config++) {
    Reached reached = REACHED_FRONT_END;
    tile_error *e = NULL;
    status = compile_config(job, limits, target, config, &reached, out, &e);
    const tile_program *p = *out;
    bool more = job->config < 0 && p && p->kernel && p->kernel->autotune &&
                config + 1 < p->kernel->autotune->num_configs;
    if (status == TILE_OK || reached != REACHED_BACK_END || !more) {
      if (status != TILE_OK && error && !*error)
        *error = first_error ? first_error : e, first_error = first_error ? e : NULL;
      else tile_error_free(e);
      break;
    }
    // The first configuration's reason is the one to show if none fits.
    if (first_error) tile_error_free(e);
    else first_error = e;
    tile_program_free(*out);
    *out = NULL;
  }
  tile_error_free(first_error);
  return status;
}

// What is made of the PTX; memory may run out here too.
static tile_status finish_outputs(const CompileJob *job, tile_program *p, tile_error **error) {
  jmp_buf on_empty;
  if (setjmp(on_empty)) {
    p->ctx.on_ice = NULL;
    return error_set_left(error, ARENA_EMPTY, &p->ctx, "writing outputs");
  }
  p->ctx.on_ice = &on_empty;
  tile_status status = job->emit & TILE_EMIT_CUBIN ? assemble(job, p, error) : TILE_OK;
  if (status == TILE_OK && job->emit & TILE_EMIT_HEADER) {
    Buf header = buf_make(&p->ctx.arena);
    Pack pack = {.arena = &p->ctx.arena};
    const PackOptions options = {.assembler = NULL};
    if ((status = pack_add(&pack, p, &options, error)) == TILE_OK) header_write(&pack, &header);
    if (status == TILE_OK) set_output(p, TILE_EMIT_HEADER, buf_str(&header), header.size);
  }
  p->ctx.on_ice = NULL;
  return status;
}

static void tell_messages(const CompileJob *job, const tile_program *p) {
  if (!job->hooks || !job->hooks->log) return;
  for (const Diag *d = p->ctx.diags; d; d = d->next) {
    static const tile_level levels[] = {[DIAG_ERROR] = TILE_LEVEL_ERROR,
                                        [DIAG_WARNING] = TILE_LEVEL_WARNING,
                                        [DIAG_REMARK] = TILE_LEVEL_REMARK,
                                        [DIAG_NOTE] = TILE_LEVEL_NOTE};
    job->hooks->log(job->hooks->user, levels[d->level], d->text);
  }
}

static tile_status read_file(Arena *a, const char *path, const char **text, size_t *size, tile_error **error) {
  jmp_buf on_empty, *const empty = &on_empty;
  if (setjmp(on_empty)) return error_set(error, TILE_ERROR_NO_MEMORY, "out of memory while reading %s", path);
  a->on_empty = &empty;
  tile_status status = file_read(a, path, text, size, error);
  a->on_empty = NULL;
  return status;
}

typedef struct { const CompileJob *job; tile_program **out; } Compilation;

static tile_status compile_here(void *user, tile_error **error) {
  IN_C_LOCALE;
  CompileJob job = *((const Compilation *)user)->job;
  tile_program **out = ((const Compilation *)user)->out;
  const Target *target;
  tile_status status = find_target(&job, &target, error);
  if (status != TILE_OK) return status;
  Limits limits = {job.hooks, job.seconds > 0 ? clock_seconds() + job.seconds : 0};
  Arena text_arena;
  arena_init_with(&text_arena, hooks_memory(job.hooks), NULL);
  if (!job.text) status = read_file(&text_arena, job.path, &job.text, &job.size, error);
  const char *other = job.options->ir_override;
  if (status == TILE_OK && other) status = read_file(&text_arena, other, &job.override_text, &job.override_size, error);
  if (status == TILE_OK) status = compile_configs(&job, &limits, target, out, error);
  arena_free(&text_arena);
  if (status == TILE_OK) status = finish_outputs(&job, *out, error);
  if (status == TILE_OK) {
    tell_messages(&job, *out);
  } else {
    tile_program_free(*out);
    *out = NULL;
  }
  return status;
}

const char *compile_llvm_version(void) { return codegen_llvm_version(); }

tile_status compile_job(const CompileJob *job, tile_program **out, tile_error **error) {
  Compilation c = {job, out};
  *out = NULL;
  return deep_run("compiling", compile_here, &c, error);
}
