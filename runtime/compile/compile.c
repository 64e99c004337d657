// Compiles a file: reads it, tries one autotune configuration after the other, and reports why none compiles.
#include "runtime/compile/compile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/codegen.h"
#include "ir/c_locale.h"
#include "ir/clock.h"
#include "ir/nearest.h"
#include "ir/remark.h"
#include "runtime/compile/steps.h"

const struct EmitInfo emit_info[NUM_EMITS] = {{"ast", ".ast"},       {"tile", ".tir"},    {"laid-out", ".tir"},
                                              {"allocated", ".tir"}, {"llvm", ".ll"},     {"ptx", ".ptx"},
                                              {"json", ".json"},     {"cubin", ".cubin"}, {"header", ".h"},
                                              {"layout-svg", ".svg"}, {"report", ".report.json"},
                                              {"sass", ".sass"}};

bool compile_is_ir_path(const char *path) {
  return file_has_suffix(path, ".tir");
}

// ---- one attempt ----

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

// Reports an internal error with what is known: the pass, the op that it worked on, and how to reproduce it.
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

typedef enum { REACHED_FRONT_END, REACHED_BACK_END, REACHED_FINISH, REACHED_END } Reached;

typedef struct {
  const CompileJob *job;
  Limits *limits;
  const Target *target;
  uint32_t config;             // the autotune configuration to take
  uint32_t most_stages;        // as in tile_program
  Reached reached;             // where it failed
  tile_program *program;
} Attempt;

void tile_program_free(tile_program *p) {
  if (!p) return;
  context_free(&p->ctx);
  free(p);
}

static tile_program *program_new(const Attempt *a) {
  tile_program *p = calloc(1, sizeof *p);
  if (!p) return NULL;
  context_init_with(&p->ctx, hooks_memory(a->job->hooks));
  limits_apply(a->limits, &p->ctx);
  options_warnings(a->job->options, &p->ctx.warnings, NULL);
  p->ctx.caller = a->job->options->caller;
  p->ctx.wants_remarks = a->job->options->remarks || a->job->emit & TILE_EMIT_REPORT;
  p->target = a->target;
  p->config = -1;
  p->has_lines = a->job->options->line_info;
  p->most_stages = a->most_stages;
  return p;
}

// The steps, one after the other. A step may report an error and yet return true.
static void run_steps(Attempt *a) {
  const CompileJob *job = a->job;
  tile_program *p = a->program;
  Buf *times = job->options->time_passes ? job->times : NULL;
  double start = clock_ms();
  p->ctx.current_pass = "front end";
  bool ok = compile_is_ir_path(job->path) ? compile_read_ir(job, p) : compile_run_front_end(job, p, a->config);
  p->ctx.current_pass = NULL;
  clock_row(times, &start, "front end");
  if (!ok || diag_error_count(&p->ctx)) return;
  if (job->emit & TILE_EMIT_TILE && !job->options->passes) compile_emit_module(p, TILE_EMIT_TILE);
  if (job->emit & TILE_EMIT_PTX) compile_note_places(p);
  a->reached = REACHED_BACK_END;
  if (!compile_run_back_end(job, p) || diag_error_count(&p->ctx)) return;
  if (job->options->remarks) remarks_tell(&p->ctx, job->options->remarks);
  a->reached = REACHED_FINISH;
  if ((!job->finish || job->finish(job->user, p)) && !diag_error_count(&p->ctx)) a->reached = REACHED_END;
}

static tile_status compile_once(Attempt *a, tile_error **error) {
  a->reached = REACHED_FRONT_END;
  a->program = program_new(a);
  if (!a->program) return error_set(error, TILE_ERROR_NO_MEMORY, "out of memory");
  Context *const ctx = &a->program->ctx;
  jmp_buf on_ice;
  const int why = setjmp(on_ice);
  if (!why) {
    ctx->on_ice = &on_ice;
    source_map_apply(ctx, a->job->path, a->job->source_map, a->job->num_source_map);
    run_steps(a);
    diag_sort_warnings(ctx);
    ctx->on_ice = NULL;
    ctx->should_stop = NULL;
    if (a->reached == REACHED_END && !diag_failed(ctx)) return TILE_OK;
    const tile_status status = a->program->is_usage_error ? TILE_ERROR_USAGE : TILE_ERROR_PROGRAM;
    if (diag_failed(ctx)) return error_set_diagnostics(error, status, ctx, a->job->color);
    if (!ctx->ice_text) ctx->ice_text = "failed without a message";
  }
  a->reached = REACHED_FRONT_END;   // nothing else is tried
  if (why == ARENA_EMPTY || why == CONTEXT_STOPPED) return error_set_left(error, why, ctx, "compiling");
  return report_ice(a->job, a->program, error);
}

// ---- the whole way ----

static tile_status assemble(const CompileJob *job, tile_program *p, tile_error **error) {
  uint32_t bit = log2_u32(TILE_EMIT_CUBIN);
  double start = clock_ms();
  MachineCode code = {0};
  Arena *arena = &p->ctx.arena;
  const char *wish = getenv("TILE_ASSEMBLER"), *named = getenv("TILE_PTXAS"), *options = job->options->ptx_options;
  const bool any = !wish || !*wish;
  // A program that is named is no matter of choice: without it, the error says what is missing.
  if (!options && (any ? named && *named : !strcmp(wish, "ptxas"))) options = "";
  tile_status status = machine_code_assemble(p, options, arena, &code, error);
  if (status == TILE_OK && !code.cubin && any) status = machine_code_assemble(p, "", arena, &code, error);
  else if (status == TILE_OK && !code.cubin)
    status = error_set(error, TILE_ERROR_FILE, "TILE_ASSEMBLER=%s makes no cubin here: name ptxas, or emit PTX", wish);
  p->cubin_made_by = code.made_by;
  clock_row(job->options->time_passes ? job->times : NULL, &start, "ptxas");
  p->outputs[bit].data = code.cubin;
  p->outputs[bit].size = code.size;
  if (status == TILE_OK) assembler_warn(p, &code);
  return status;
}

static tile_status find_target(const CompileJob *job, const Target **target, tile_error **error) {
  const char *arch = job->options->arch ? job->options->arch : "sm_90a";
  if ((*target = target_find(arch))) return TILE_OK;
  const char *names[64];
  uint32_t n = 0;
  while (n < countof(names) && target_at(n)) names[n] = target_at(n)->name, n++;
  char number[32];   // 90 for sm_90
  snprintf(number, sizeof number, "sm_%s", arch);
  const char *near = target_find(number) ? number : nearest_name(arch, names, n);
  char all[512] = "";
  for (uint32_t i = 0, at = 0; i < n && at < sizeof all; i++)
    at += (uint32_t)snprintf(all + at, sizeof all - at, "%s%s", i ? ", " : "", names[i]);
  return error_set(error, TILE_ERROR_USAGE, "there is no architecture %s%s%s; there are %s", arch,
                   near ? "; did you mean " : "", near ? near : "", all);
}

// Chooses what to try after a failure in the back end: fewer stages if nobody asked for a number and the default's ring
// slots do not fit in shared memory; otherwise the next autotune configuration. False if there is nothing left.
static bool move_on(Attempt *a) {
  const tile_program *p = a->program;
  if (a->reached != REACHED_BACK_END || !p->frontend) return false;
  const uint32_t fitting = p->module ? p->module->fitting_stages : 0;
  if (!p->launch.stages_given && fitting && fitting < p->launch.num_stages) {
    a->most_stages = fitting;
    return true;
  }
  if (a->job->config >= 0 || !p->kernel || !p->kernel->autotune || ++a->config >= p->kernel->autotune->num_configs)
    return false;
  a->most_stages = 0;
  return true;
}

// Tries until an attempt succeeds. If none does, the error is the first attempt's.
static tile_status compile_attempts(const CompileJob *job, Limits *limits, const Target *target, tile_program **out,
                                    tile_error **error) {
  Attempt a = {.job = job, .limits = limits, .target = target, .config = job->config > 0 ? (uint32_t)job->config : 0};
  tile_error *first = NULL;
  tile_status status;
  while ((status = compile_once(&a, &first)) != TILE_OK && move_on(&a)) tile_program_free(a.program);
  *out = a.program;
  if (status == TILE_OK) tile_error_free(first);
  else error_pass_on(error, first);
  return status;
}

static tile_status disassemble(tile_program *p, tile_error **error) {
  const uint32_t bit = log2_u32(TILE_EMIT_SASS);
  MachineCode code;
  const char *text;
  RETURN_IF_FAILED(machine_code_make(p, &p->ctx.arena, &code, error));
  if (!code.cubin)
    return error_set(error, TILE_ERROR_FILE, "SASS needs an assembler, ptxas or nvJitLink, and none was found");
  assembler_warn(p, &code);
  RETURN_IF_FAILED(sass_of_cubin(&p->ctx.arena, code.cubin, code.size, &text, error));
  p->outputs[bit].data = text;
  p->outputs[bit].size = strlen(text);
  return TILE_OK;
}

static tile_status report(tile_program *p, tile_error **error) {
  Buf json = buf_make(&p->ctx.arena);
  RETURN_IF_FAILED(report_make(p, &p->report, error));
  report_put_json(&json, p, NULL, p->report);
  compile_set_output(p, TILE_EMIT_REPORT, buf_str(&json), json.size);
  return TILE_OK;
}

// Makes the outputs that are made from PTX. Memory may run out here too.
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
    if (status == TILE_OK) compile_set_output(p, TILE_EMIT_HEADER, buf_str(&header), header.size);
  }
  if (status == TILE_OK && job->emit & TILE_EMIT_SASS) status = disassemble(p, error);
  if (status == TILE_OK && job->emit & TILE_EMIT_REPORT) status = report(p, error);
  p->ctx.on_ice = NULL;
  // Of what the assembler said -Werror may have made errors.
  const bool failed = status == TILE_OK && diag_failed(&p->ctx);
  return failed ? error_set_diagnostics(error, TILE_ERROR_PROGRAM, &p->ctx, job->color) : status;
}

// A message of the log: as it is shown elsewhere if it has a place, otherwise its text and its notes.
static const char *logged_text(Context *ctx, const Diag *d) {
  if (source_locate(ctx, d->span.begin).file && d->level != DIAG_NOTE) {
    char *text = (char *)diag_render_one(ctx, d);
    text[strlen(text) - 1] = 0;   // whoever shows it ends the line
    return text;
  }
  Buf b = buf_make(&ctx->arena);
  buf_puts(&b, diag_text(ctx, d));
  for (const Diag *n = d->next; n && n->level == DIAG_NOTE && !n->is_alone; n = n->next)
    buf_printf(&b, "\nnote: %s", n->text);
  return buf_str(&b);
}

static void tell_messages(const CompileJob *job, tile_program *p) {
  if (!job->hooks || !job->hooks->log) return;
  for (const Diag *d = p->ctx.diags; d; d = d->next) {
    static const tile_level levels[] = {[DIAG_ERROR] = TILE_LEVEL_ERROR,
                                        [DIAG_WARNING] = TILE_LEVEL_WARNING,
                                        [DIAG_REMARK] = TILE_LEVEL_REMARK,
                                        [DIAG_NOTE] = TILE_LEVEL_NOTE};
    if (d->level != DIAG_NOTE || d->is_alone)
      job->hooks->log(job->hooks->user, levels[d->level], logged_text(&p->ctx, d));
  }
}

static tile_status read_file(Arena *a, const char *path, const char **text, size_t *size, tile_error **error) {
  jmp_buf on_empty, *const empty = &on_empty;
  if (setjmp(on_empty)) return error_set(error, TILE_ERROR_NO_MEMORY, "out of memory while reading %s", path);
  a->on_empty = &empty;
  tile_status status = file_read_source(a, path, text, size, error);
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
  if (status == TILE_OK) status = compile_attempts(&job, &limits, target, out, error);
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
