// `tilec tune`: times the configurations of an autotuned kernel with arguments as for `tilec run`, prints a table and
// keeps the choice in a file.
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ir/clock.h"
#include "runtime/cli/cli.h"
#include "runtime/compile/compile.h"
#include "runtime/jit/jit.h"
#include "runtime/cli/session.h"

// The JIT compiles and times. This also loads the source itself, to evaluate the expressions of the command line.
typedef struct {
  Run run;
  Context ctx;
  Frontend *frontend;
  CtFunction *kernel;
  tile_device *device;
  Session shown;               // the program whose warnings the user saw
  tile_jit *jit;
  tile_jit_kernel *jit_kernel;
  tile_arg *args;
  size_t *sizes;
  // progress
  pthread_mutex_t lock;
  bool shows_progress;
  double start;
  uint32_t compiled, timed, total;
} Tune;

// ---- progress ----

static void draw(const Tune *t) {
  enum { WIDTH = 30 };
  uint32_t done = t->compiled + t->timed, all = 2 * t->total, filled = all ? done * WIDTH / all : 0;
  if (filled > WIDTH) filled = WIDTH;
  fprintf(stderr, "\r\033[K[");
  for (uint32_t i = 0; i < WIDTH; i++) fputc(i < filled ? '#' : '.', stderr);
  fprintf(stderr, "] compiled %u of %u, timed %u, %.1f s", t->compiled, t->total, t->timed, clock_seconds() - t->start);
  fflush(stderr);
}

static void on_event(void *user, const tile_event *e) {
  Tune *t = user;
  pthread_mutex_lock(&t->lock);
  t->compiled += e->kind == TILE_EVENT_COMPILE_END || e->kind == TILE_EVENT_CACHE_HIT;
  t->timed += e->kind == TILE_EVENT_TUNE_STEP;
  if (t->shows_progress) draw(t);
  pthread_mutex_unlock(&t->lock);
}

// ---- arguments ----

// True, after a diagnostic, if a configuration has another value for the name of -D.
static bool is_tuned(Tune *t, const char *define) {
  const char *name = arena_strndup(&t->ctx.arena, define, strcspn(define, " ="));
  const CtAutotune *tune = t->kernel->autotune;
  for (uint32_t i = 0; tune && i < tune->num_configs; i++)
    if (ct_dict_get_str(tune->configs[i].kwargs, name)) {
      diag_error(&t->ctx, (Span){0, 0}, "-D %s: the configurations choose `%s`", define, name);
      diag_note(&t->ctx, (Span){0, 0}, "leave it out, or give it to `tilec run`, which times it with --bench");
      t->run.is_usage_error = true;
      return true;
    }
  return false;
}

static ParamSpec *new_specs(Tune *t) {
  ParamSpec *specs = frontend_new_specs(t->frontend, t->kernel);
  const StrList *defines = &t->run.options->defines;
  for (uint32_t i = 0; i < defines->count; i++)
    if (!frontend_apply_define(t->frontend, t->kernel, specs, defines->data[i], "-D") || is_tuned(t, defines->data[i]))
      return NULL;
  return specs;
}

// Reports a kernel without configurations, and what to write. The example names the kernel's first constexpr and, as
// the key, its last other parameter, which is often a size.
static bool check_tuned(Tune *t, const void *input) {
  (void)input;
  if (t->kernel->autotune) return true;
  const char *choice = NULL, *key = NULL;
  for (uint32_t i = 0; i < t->kernel->num_params; i++)
    if (!t->kernel->params[i].is_constexpr) key = t->kernel->params[i].name;
    else if (!choice) choice = t->kernel->params[i].name;
  const Span at = t->kernel->def->func.name_span;
  diag_error(&t->ctx, at, "%s has no @triton.autotune to choose from", t->kernel->name);
  diag_note(&t->ctx, at, "write @triton.autotune([triton.Config({%s}, num_warps=4), …], key=[%s]) above it",
            choice ? arena_printf(&t->ctx.arena, "\"%s\": 512", choice) : "",
            key ? arena_printf(&t->ctx.arena, "\"%s\"", key) : "");
  t->run.is_usage_error = true;
  return false;
}

static bool load(Tune *t, const void *input) {
  const CompileJob *job = input;
  const Options *o = t->run.options;
  FrontendOptions fo = {.include_paths = o->include_paths.data,
                        .num_include_paths = o->include_paths.count,
                        .target = target_find(t->device->arch ? t->device->arch : "sm_90a")};
  t->frontend = frontend_load_text(&t->ctx, job->path, job->text, job->size, &fo);
  if (!t->frontend) return false;
  if (o->kernel) t->kernel = frontend_find_kernel(t->frontend, o->kernel);
  else if (frontend_num_kernels(t->frontend) == 1) t->kernel = frontend_kernel(t->frontend, 0);
  else
    diag_error(&t->ctx, (Span){0, 0}, "%s has %u kernels: name one with --kernel", job->path,
               frontend_num_kernels(t->frontend));
  t->run.is_usage_error = !t->kernel;
  ParamSpec *specs = t->kernel ? new_specs(t) : NULL;
  return specs && run_resolve(&t->run, &t->ctx, t->frontend, t->kernel, specs);
}

// Work in the Context. It returns false after diagnostics; these and an internal error go to error.
typedef bool (*Work)(Tune *t, const void *input);
static tile_status guarded(Tune *t, Work work, const void *input, tile_error **error) {
  jmp_buf on_ice;
  int why = setjmp(on_ice);
  bool ok = false;
  if (!why) {
    t->ctx.on_ice = &on_ice;
    ok = work(t, input);
  }
  t->ctx.on_ice = NULL;
  if (why) return error_set_left(error, why, &t->ctx, "reading the source");
  if (ok) return TILE_OK;
  return error_set_diagnostics(error, t->run.is_usage_error ? TILE_ERROR_USAGE : TILE_ERROR_PROGRAM, &t->ctx,
                               cli_color(t->run.options));
}

static bool grid_for(Tune *t, const void *input) {
  const tile_variant *v = input;
  ParamSpec *specs = frontend_new_specs(t->frontend, t->kernel);
  for (size_t i = 0; i < tile_variant_num_constexprs(v); i++) {
    const char *name = tile_variant_constexpr_name(v, i);
    uint32_t p = frontend_param_index(t->kernel, name);
    // A folded argument is not a constexpr of the source; its value is already known.
    if (p == t->kernel->num_params || !t->kernel->params[p].is_constexpr) continue;
    const char *define = arena_printf(&t->ctx.arena, "%s=%s", name, tile_variant_constexpr(v, name));
    if (!frontend_apply_define(t->frontend, t->kernel, specs, define, "the configuration"))
      return false;
  }
  return run_grid(&t->run, &t->ctx, t->frontend, t->kernel, specs);
}

static void grid_fn(void *user, const tile_variant *v, uint32_t grid[3]) {
  Tune *t = user;
  grid[0] = UINT32_MAX;   // an error of the launch, unless the expression has a value
  if (guarded(t, grid_for, v, NULL) == TILE_OK) memcpy(grid, t->run.grid, sizeof t->run.grid);
}

static tile_arg make_arg(Tune *t, const RunArg *a, size_t *bytes) {
  const uint64_t address = run_arg_address(a);
  tile_type type = (tile_type)(a->buffer ? a->buffer->initial.dtype : a->spec->has_dtype ? a->spec->dtype : DT_VOID);
  tile_arg arg = tile_arg_none();
  if (a->buffer) *bytes = host_bytes(&a->buffer->initial) - (address - a->buffer->address);
  switch (a->spec->kind) {
  case ARG_NONE: break;
  case ARG_BOOL: arg = tile_arg_bool(a->spec->i); break;
  case ARG_INT: arg = tile_arg_int(a->spec->i), arg.type = (uint16_t)type; break;
  case ARG_FLOAT: arg = tile_arg_float(a->spec->f), arg.type = (uint16_t)type; break;
  case ARG_CONSTEXPR: arg = tile_arg_text(a->spec->name); break;
  case ARG_TUPLE: {
    tile_arg *items = arena_array(t->run.arena, tile_arg, a->spec->num_items + 1);
    const RunArg *item = a + 1;
    size_t ignored;   // only parameters have sizes
    for (uint32_t i = 0; i < a->spec->num_items; i++, item = run_arg_after(item))
      items[i] = make_arg(t, item, &ignored);
    tile_tuple *tuple = arena_new(t->run.arena, tile_tuple);
    *tuple = (tile_tuple){items, a->spec->num_items, a->spec->name, 0};
    arg = tile_arg_tuple(tuple);
    break;
  }
  case ARG_DESC: {
    tile_tensor *tensor = run_arg_tensor(t->run.arena, a);
    tensor->type = type;
    tensor->pad_nan = a->spec->pad_nan;
    memcpy(tensor->block, a->block, sizeof a->block);
    arg = tile_arg_tensor(tensor);
    break;
  }
  default: arg = tile_arg_array(address, type);
  }
  return arg;
}

static void make_args(Tune *t) {
  uint32_t n = t->kernel->num_params;
  t->args = arena_array(t->run.arena, tile_arg, n + 1);
  t->sizes = arena_array(t->run.arena, size_t, n + 1);
  for (uint32_t i = 0; i < n; i++) {
    const RunArg *a = run_find_arg(&t->run, t->kernel->params[i].name);
    t->args[i] = a ? make_arg(t, a, &t->sizes[i]) : tile_arg_default();
  }
}

static tile_status open_jit(Tune *t, const CompileJob *job, tile_error **error) {
  const Options *o = t->run.options;
  StrList options = {0};
  // These are given below or with the launch; the architecture is the device's.
  static const char *const elsewhere[] = {"kernel",     "signature", "include", "arch", "num-warps",
                                          "num-stages", "num-ctas",  "maxnreg", NULL};
  options_given(o, elsewhere, &options);
  tile_jit_options jo = TILE_JIT_OPTIONS_INIT;
  jo.on_event = on_event;
  jo.user = t;
  jo.include_paths = o->include_paths.data;
  jo.num_include_paths = o->include_paths.count;
  jo.options = options.data;
  jo.num_options = options.count;
  jo.tune = TILE_TUNE_ON;
  jo.tune_file = o->tune_file;
  if (o->tune_seconds && !(cli_read_number(o->tune_seconds, &jo.tune_seconds) && jo.tune_seconds > 0))
    return error_set(error, TILE_ERROR_USAGE, "--tune-seconds takes a number above 0, not '%s'", o->tune_seconds);
  RETURN_IF_FAILED(tile_jit_open_memory(t->device, job->path, job->text, job->size, &jo, &t->jit, error));
  return tile_jit_get_kernel(t->jit, t->kernel->name, &t->jit_kernel, error);
}

// The JIT says nothing about what its cache has, and skips a configuration with errors. The source is therefore
// compiled here once, as `tilec run` does it, for its warnings and for the errors that every configuration has.
static tile_status tell_warnings(Tune *t, CompileJob job, tile_error **error) {
  Buf printed = buf_make(t->run.arena), times = buf_make(t->run.arena);
  job.options = t->run.options;
  job.color = cli_color(job.options);
  job.specialize = run_specialize;
  job.finish = run_finish;
  job.user = &t->run;
  job.printed = &printed;
  job.times = &times;
  t->shown = (Session){.run = &t->run, .device = t->device};
  tile_error *refusal = NULL;
  const tile_status status = session_compile(&t->shown, &job, -1, &refusal);
  if (status == TILE_ERROR_RESOURCES) {   // the table says which configurations do not fit
    tile_error_free(refusal);
    return TILE_OK;
  }
  if (t->shown.program) t->shown.program->config_text = NULL;   // the choice is not made yet
  cli_tell(&job, t->shown.program);
  if (refusal && error) *error = refusal;
  return status;
}

static tile_status use_files(Tune *t, tile_error **error) {
  const Options *o = t->run.options;
  RETURN_IF_FAILED(file_uses_add_inputs(&t->run.uses, o, error));
  RETURN_IF_FAILED(file_uses_add_sources(&t->run.uses, o->arena, t->frontend, error));
  RETURN_IF_FAILED(session_use_trace(o, t->device, &t->run.uses, error));
  return o->tune_file ? file_uses_add(&t->run.uses, o->arena, "--tune-file", o->tune_file, error) : TILE_OK;
}

// ---- the table ----

static int by_time(const void *a, const void *b) {
  const tile_tune_candidate *x = a, *y = b;
  if (!x->skipped != !y->skipped) return x->skipped ? 1 : -1;
  return (x->milliseconds > y->milliseconds) - (x->milliseconds < y->milliseconds);
}

static void print_table(const Tune *t, const tile_tuning *report) {
  size_t n = tile_tuning_num_candidates(report);
  tile_tune_candidate *rows = arena_array(t->run.arena, tile_tune_candidate, n + 1);
  int width = 13;
  for (size_t i = 0; i < n; i++) {
    rows[i].struct_size = sizeof rows[i];
    tile_tuning_get_candidate(report, i, &rows[i]);
    if ((int)strlen(rows[i].config) > width) width = (int)strlen(rows[i].config);
  }
  qsort(rows, n, sizeof *rows, by_time);
  if (n && !rows[0].skipped)
    printf("  %-*s  %11s  %9s  %9s  %4s\n", width, "configuration",
           strcmp(tile_device_kind(t->device), "gpu") ? "us of host" : "median us", "p20", "p80", "runs");
  uint32_t ties = 0;
  for (size_t i = 0; i < n; i++) {
    const tile_tune_candidate *c = &rows[i];
    ties += c->tied;
    if (!c->skipped)
      printf("%s %-*s  %11.3f  %9.3f  %9.3f  %4u\n",
             c->chosen ? "*"
             : c->tied ? "="
                       : " ",
             width, c->config, c->milliseconds * 1e3, c->low * 1e3, c->high * 1e3, c->runs);
    else printf("  %-*s  skipped: %.*s\n", width, c->config, (int)strcspn(c->skipped, "\n"), c->skipped);
  }
  if (ties > 1) printf("* of the %u that are within 1.5 %% of the fastest (=), the first in the source\n", ties);
}

static tile_status tune(Tune *t, tile_error **error) {
  const Options *o = t->run.options;
  tile_jit_launch_options launch = TILE_JIT_LAUNCH_OPTIONS_INIT;
  launch.grid_fn = grid_fn;
  launch.grid_user = t;
  launch.num_warps = (int)o->num_warps, launch.num_stages = (int)o->num_stages, launch.num_ctas = (int)o->num_ctas,
  launch.maxnreg = (int)o->maxnreg;
  launch.arg_bytes = t->sizes;
  launch.num_arg_bytes = t->kernel->num_params;
  t->total = t->kernel->autotune ? t->kernel->autotune->num_configs : 0;
  tile_tuning *report = NULL;
  t->start = clock_seconds();
  tile_status status = tile_jit_tune(t->jit_kernel, &launch, t->args, t->kernel->num_params, &report, error);
  if (t->shows_progress) fprintf(stderr, "\r\033[K");
  if (report) print_table(t, report);
  if (status == TILE_OK)
    printf("%s on %s: %u configurations in %.1f s%s%s\n", t->kernel->name, t->device->name, t->total,
           clock_seconds() - t->start, o->tune_file ? "; kept in " : "", o->tune_file ? o->tune_file : "");
  tile_tuning_free(report);
  return status;
}

static tile_status prepare_and_tune(Tune *t, tile_error **error) {
  const Options *o = t->run.options;
  CompileJob job = {0};
  RETURN_IF_FAILED(run_begin(&t->run, "tune", &job, error));
  RETURN_IF_FAILED(session_set_up_simulator(o, t->run.arena, error));
  RETURN_IF_FAILED(cli_open_device(o->device, &t->device, error));
  RETURN_IF_FAILED(guarded(t, load, &job, error));
  RETURN_IF_FAILED(use_files(t, error));
  RETURN_IF_FAILED(guarded(t, check_tuned, NULL, error));
  RETURN_IF_FAILED(open_jit(t, &job, error));
  RETURN_IF_FAILED(tell_warnings(t, job, error));
  RETURN_IF_FAILED(run_fill_buffers(&t->run, error));
  RETURN_IF_FAILED(session_upload(&t->run, t->device, error));
  make_args(t);
  return tune(t, error);
}

int tune_main(const Options *o, Arena *arena) {
  tile_error *error = NULL;
  Tune t = {.run = {.options = o, .arena = arena, .grid = {1, 1, 1}}};
  context_init(&t.ctx);
  pthread_mutex_init(&t.lock, NULL);
  t.shows_progress = !o->quiet && isatty(STDERR_FILENO) && !(getenv("TERM") && !strcmp(getenv("TERM"), "dumb"));
  tile_status status = prepare_and_tune(&t, &error);
  tile_jit_close(t.jit);
  session_free_buffers(&t.run, t.device);
  tile_program_free(t.shown.program);
  tile_device_close(t.device);
  context_free(&t.ctx);
  pthread_mutex_destroy(&t.lock);
  return cli_finish(status, error, o);
}
