// `tilec run`: compiles for the device, fills the buffers, launches, then prints, saves, compares and times.
#include "runtime/cli/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/cli/cli.h"
#include "runtime/cli/debugger.h"
#include "runtime/cli/session.h"
#include "runtime/cli/sweep.h"

// ---- --print and --save ----

// Checks --print, --save and --sim-trace before the run: a misspelled name then costs no run.
static tile_status check_names(Run *run, tile_error **error) {
  const Options *o = run->options;
  RETURN_IF_FAILED(file_uses_add_inputs(&run->uses, o, error));
  if (o->sim_trace) RETURN_IF_FAILED(file_uses_add(&run->uses, run->arena, "--sim-trace", o->sim_trace, error));
  for (uint32_t i = 0; i < o->prints.count + o->saves.count; i++) {
    bool is_save = i >= o->prints.count;
    const char *text = is_save ? o->saves.data[i - o->prints.count] : o->prints.data[i];
    size_t n = is_save ? strcspn(text, "=") : strlen(text);
    const char *name = arena_strndup(run->arena, text, n);
    if (is_save && (!text[n] || !text[n + 1]))
      return error_set(error, TILE_ERROR_USAGE, "--save takes NAME=FILE.npy, not '%s'", text);
    const RunBuffer *saved = is_save ? run_buffer_named(run, name) : NULL;
    if (is_save)
      RETURN_IF_FAILED(file_uses_add_buffer(&run->uses, run->arena, "--save", text + n + 1, saved ? saved->name : NULL,
                                            error));
    if (is_save && !file_has_suffix(text + n + 1, ".npy"))
      return error_set(error, TILE_ERROR_USAGE, "--save %s: the name must end in .npy, the one format that is written",
                       text);
    if (!run_find_arg(run, name) && !run_find_buffer(run, name))
      return run_no_buffer(run, is_save ? "save" : "print", name, error);
  }
  return TILE_OK;
}

static tile_status print_and_save(const Run *run, tile_error **error) {
  const Options *o = run->options;
  for (uint32_t i = 0; i < o->prints.count; i++) {
    const RunBuffer *b = run_buffer_named(run, o->prints.data[i]);
    if (!b) return error_set(error, TILE_ERROR_USAGE, "--print %s: it is not a buffer", o->prints.data[i]);
    Buf out = buf_make(run->arena);
    host_print(&out, &b->result);
    printf("%s = %s", o->prints.data[i], buf_str(&out));
  }
  for (uint32_t i = 0; i < o->saves.count; i++) {
    const char *text = o->saves.data[i];
    size_t n = strcspn(text, "=");
    const RunBuffer *b = run_buffer_named(run, arena_strndup(run->arena, text, n));
    if (!b) return error_set(error, TILE_ERROR_USAGE, "--save %s: it is not a buffer", text);
    Buf out = buf_make(run->arena);
    npy_write(&out, &b->result);
    RETURN_IF_FAILED(file_write(run->arena, text + n + 1, buf_str(&out), out.size, error));
  }
  return TILE_OK;
}

// ---- --check and --bench ----

// Launches again with each further schedule of the simulator: the result must be the first one's, within the limits of
// --check.
static tile_status check_schedules(Session *s, tile_error **error) {
  Run *run = s->run;
  const Options *o = run->options;
  CheckLimits limits;
  RETURN_IF_FAILED(run_check_limits(o, &limits, error));
  const char *seed = getenv("TILE_SIM_SEED");
  const long long first = seed && *seed ? strtoll(seed, NULL, 0) : 0;
  const int64_t num = session_schedules(o);
  for (int64_t k = 1; k < num; k++) {
    ArenaMark mark = arena_mark(run->arena);
    for (uint32_t i = 0; i < run->num_buffers; i++) {
      const RunBuffer *b = &run->buffers[i];
      RETURN_IF_FAILED(tile_memory_upload(s->device, b->address, b->initial.data, host_bytes(&b->initial), error));
    }
    RETURN_IF_FAILED(session_launch(s, error));
    for (uint32_t i = 0; i < run->num_buffers; i++) {
      const RunBuffer *b = &run->buffers[i];
      HostTensor now;
      RETURN_IF_FAILED(session_download(s, b, &now, error));
      uint64_t at;
      if (run_differs(&now, &b->result, &limits, &at))
        return error_set(error, TILE_ERROR_RUN,
                         "seed %lld gives another result than seed %lld: element %llu of %s is %.9g instead of %.9g",
                         first + (long long)k, first, (unsigned long long)at, b->name, host_get(&now, at),
                         host_get(&b->result, at));
    }
    arena_rewind(run->arena, mark);
  }
  printf("check: %lld schedules of the simulator, seeds %lld to %lld, give the same result\n", (long long)num, first,
         first + (long long)num - 1);
  return TILE_OK;
}

static tile_status compare(Session *s, const CompileJob *job, int config, tile_error **error) {
  CheckLimits limits;
  RETURN_IF_FAILED(run_check_limits(s->run->options, &limits, error));
  RETURN_IF_FAILED(cli_open_device("interp", &s->device, error));
  RETURN_IF_FAILED(session_compile(s, job, config, error));
  limits.uses_tf32 = run_uses_tf32(s->program->module);
  RETURN_IF_FAILED(session_run(s, true, error));
  Buf out = buf_make(s->run->arena);
  bool ok = run_compare(s->run, s->program->module, &limits, &out);
  fputs(buf_str(&out), stdout);
  return ok ? TILE_OK : error_set(error, TILE_ERROR_RUN, "the result differs from the interpreter's");
}

static tile_status expect(Run *run, Module *m, tile_error **error) {
  CheckLimits limits;
  RETURN_IF_FAILED(run_check_limits(run->options, &limits, error));
  limits.uses_tf32 = run_uses_tf32(m);
  Buf out = buf_make(run->arena);
  const bool ok = run_expect_compare(run, m, &limits, &out);
  fputs(buf_str(&out), stdout);
  return ok ? TILE_OK : error_set(error, TILE_ERROR_RUN, "the result is not what --expect says");
}

static tile_status check(Run *run, const CompileJob *job, int config, tile_error **error) {
  Session s = {.run = run};
  tile_status status = compare(&s, job, config, error);
  session_close(&s);
  return status;
}

static tile_status bench(Session *s, tile_error **error) {
  BenchResult r;
  RETURN_IF_FAILED(session_time(s, &r, error));
  if (!r.is_gpu) {
    printf("bench %s: a launch on %s took %.3g ms of this host (median of %u), which says nothing about a GPU\n",
           r.kernel, r.device, r.median, r.runs);
    return TILE_OK;
  }
  printf("bench %s on %s: median %.3f us, p10 %.3f, p90 %.3f (%u runs); %s: %.1f GB/s", r.kernel, r.device,
         r.median * 1e3, r.low * 1e3, r.high * 1e3, r.runs,
         s->run->options->moved ? "as --bytes says" : "every buffer once", r.bytes / r.median * 1e-6);
  if (s->run->options->flops) printf("; %.1f TFLOP/s", r.flops / r.median * 1e-9);
  putchar('\n');
  return TILE_OK;
}

// ---- the whole run ----

static void say_device(const Options *o, const tile_device *d) {
  const char *named = getenv("TILE_DEVICE");
  if (o->quiet || o->device || (named && *named) || o->breaks.count || o->step) return;
  cli_say(o, TILE_LEVEL_REMARK, "running on %s (%s); --device=gpu|sim|interp chooses", d->kind, d->name);
}

static tile_status open_device(Session *s, tile_error **error) {
  const Options *o = s->run->options;
  RETURN_IF_FAILED(session_set_up_simulator(o, s->run->arena, error));
  if (o->compile_only) return TILE_OK;
  const bool debugs = o->breaks.count || o->step;
  RETURN_IF_FAILED(cli_open_device(!o->device && debugs ? "interp" : o->device, &s->device, error));
  if (debugs && strcmp(s->device->kind, "interp"))
    return error_set(error, TILE_ERROR_USAGE, "%s is for --device=interp; this is %s", o->step ? "--step" : "--break",
                     s->device->kind);
  const char *option = o->sim_seed >= 0    ? "--sim-seed"
                       : o->sim_seeds >= 0 ? "--sim-seeds"
                       : o->sim_trace      ? "--sim-trace"
                                           : NULL;
  if (option && strcmp(s->device->kind, "sim"))
    return error_set(error, TILE_ERROR_USAGE, "%s is for --device=sim; this is %s", option, s->device->kind);
  RETURN_IF_FAILED(session_use_trace(o, s->device, &s->run->uses, error));
  say_device(o, s->device);
  return TILE_OK;
}

// Puts the figures of the loaded machine code into the report, because the driver's assembler may not be the one that
// the report asked, and the counts of the run, if the device has counted it.
static tile_status report_as_loaded(Session *s, tile_error **error) {
  const CostReport *r = s->program->report;
  tile_resources loaded = TILE_RESOURCES_INIT;
  const DeviceOps *ops = s->device->ops;
  RETURN_IF_FAILED(tile_kernel_resources(s->kernel, &loaded, error));
  const LaunchCounts *executed = ops->count_launches ? ops->count_launches(s->device, false) : NULL;
  for (uint32_t i = 0; i < r->num_kernels; i++) {
    KernelReport *k = &r->kernels[i];
    if (strcmp(k->name, s->kernel->name)) continue;
    k->executed = launch_counts_copy(s->run->arena, executed);
    if (!loaded.is_assembled) continue;
    k->resources = loaded;
    k->made_by = "the driver's assembler";
  }
  return TILE_OK;
}

// Everything but the comparison with the interpreter, which comes after this device's memory is freed.
static tile_status run_on_device(Session *s, CompileJob *job, Debug **debug, tile_error **error) {
  Run *run = s->run;
  const Options *o = run->options;
  const bool writes = o->emit || o->output || (o->compile_only && outputs_wanted(o));
  const unsigned emits = writes ? outputs_choose(o, error) : 0;
  if (writes && !emits) return TILE_ERROR_USAGE;
  job->emit = emits | (o->report ? TILE_EMIT_REPORT : 0);
  RETURN_IF_FAILED(run_begin(run, "run", job, error));
  RETURN_IF_FAILED(check_names(run, error));
  RETURN_IF_FAILED(open_device(s, error));
  job->stops = s->device && debugger_is_wanted(o, s->device);
  tile_status status = session_compile(s, job, -1, error);
  cli_tell(job, s->program);
  RETURN_IF_FAILED(status);
  run->config = s->program->config;
  if (writes) RETURN_IF_FAILED(outputs_write(o, s->program, job->path, emits, &run->uses, error));
  if (o->compile_only) return TILE_OK;
  RETURN_IF_FAILED(run_fill_buffers(run, error));
  RETURN_IF_FAILED(run_expect_prepare(run, s->program, error));
  if (job->stops) RETURN_IF_FAILED(debugger_attach(s, debug, error));
  if (o->report && s->device->ops->count_launches) s->device->ops->count_launches(s->device, true);
  session_use_schedules(s);
  RETURN_IF_FAILED(session_run(s, false, error));
  if (o->report) RETURN_IF_FAILED(report_as_loaded(s, error));
  RETURN_IF_FAILED(print_and_save(run, error));
  if (o->expects.count) RETURN_IF_FAILED(expect(run, s->program->module, error));
  if (!strcmp(s->device->kind, "sim") && session_schedules(o) > 1) RETURN_IF_FAILED(check_schedules(s, error));
  return o->bench ? bench(s, error) : TILE_OK;
}

int run_main(const Options *o, Arena *arena) {
  if (o->sweeps.count) return sweep_main(o, arena);
  tile_error *error = NULL;
  Run run = {.options = o, .arena = arena, .grid = {1, 1, 1}};
  Session s = {.run = &run};
  Buf printed = buf_make(arena), times = buf_make(arena);
  CompileJob job = {.options = o,
                    .color = cli_color(o),
                    .specialize = run_specialize,
                    .finish = run_finish,
                    .user = &run,
                    .printed = &printed,
                    .times = &times};
  run.job = &job;
  Debug *debug = NULL;
  tile_status status = run_on_device(&s, &job, &debug, &error);
  const bool has_quit = debugger_has_quit(debug);
  debugger_free(debug);
  if (has_quit) tile_error_free(error), error = NULL, status = TILE_OK;
  int config = s.program ? s.program->config : -1;
  cli_report(o, s.program, error, o->compile_only && outputs_fill_stdout(o, job.emit & ~(unsigned)TILE_EMIT_REPORT));
  session_close(&s);
  job.emit = 0;
  job.stops = false;
  if (status == TILE_OK && !has_quit && o->check && !o->compile_only) status = check(&run, &job, config, &error);
  return cli_finish(status, error, o);
}
