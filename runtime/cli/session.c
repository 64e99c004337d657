// A device with a program compiled for it and the buffers on it: compiling, launching, timing.
#include "runtime/cli/session.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/cli/cli.h"

enum { GUARD = 4096, GUARD_BYTE = 0xc5 };   // around a buffer where the device does not check addresses itself

tile_status session_compile(Session *s, const CompileJob *base, int config, tile_error **error) {
  CompileJob job = *base;
  Options options = *base->options;
  if (!options.arch && s->device) options.arch = s->device->arch;
  job.options = &options;
  job.config = config;
  if (s->device && strcmp(s->device->kind, "interp")) job.emit |= TILE_EMIT_PTX | TILE_EMIT_METADATA;
  s->run->is_usage_error = false;
  tile_status status = compile_job(&job, &s->program, error);
  return status == TILE_ERROR_PROGRAM && s->run->is_usage_error ? TILE_ERROR_USAGE : status;
}

// ---- buffers ----

static uint64_t guard_of(const tile_device *d) { return d->ops->checks_bounds ? 0 : GUARD; }

static tile_status upload(const Run *run, tile_device *device, RunBuffer *b, tile_error **error) {
  const uint64_t guard = guard_of(device), bytes = host_bytes(&b->initial), all = bytes + 2 * guard;
  RETURN_IF_FAILED(tile_memory_alloc(device, all, &b->block, error));
  b->address = b->block + guard;
  if (!guard) return tile_memory_upload(device, b->address, b->initial.data, bytes, error);
  ArenaMark mark = arena_mark(run->arena);
  uint8_t *staging = arena_alloc(run->arena, all);
  memset(staging, GUARD_BYTE, all);
  memcpy(staging + guard, b->initial.data, bytes);
  tile_status status = tile_memory_upload(device, b->block, staging, all, error);
  arena_rewind(run->arena, mark);
  return status;
}

tile_status session_upload(const Run *run, tile_device *device, tile_error **error) {
  for (uint32_t i = 0; i < run->num_buffers; i++) RETURN_IF_FAILED(upload(run, device, &run->buffers[i], error));
  return TILE_OK;
}

tile_status session_download(Session *s, const RunBuffer *b, HostTensor *to, tile_error **error) {
  uint64_t guard = guard_of(s->device), bytes = host_bytes(&b->initial);
  *to = b->initial;
  uint8_t *staging = arena_alloc(s->run->arena, bytes + 2 * guard + 1);
  to->data = staging + guard;
  RETURN_IF_FAILED(tile_memory_download(s->device, staging, b->block, bytes + 2 * guard, error));
  for (uint64_t i = 0; i < guard; i++) {
    bool before = staging[guard - 1 - i] != GUARD_BYTE, after = staging[guard + bytes + i] != GUARD_BYTE;
    if (before || after)
      return error_set(error, TILE_ERROR_RUN, "the kernel wrote outside of the buffer %s of %llu bytes, at byte %lld",
                       b->name, (unsigned long long)bytes, before ? -1 - (long long)i : (long long)(bytes + i));
  }
  return TILE_OK;
}

void session_free_buffers(const Run *run, tile_device *device) {
  for (uint32_t i = 0; device && i < run->num_buffers; i++) {
    if (run->buffers[i].block) tile_memory_free(device, run->buffers[i].block, NULL);
    run->buffers[i].block = 0;
  }
}

static uint64_t variable(const char *name, uint64_t usual) {
  const char *given = getenv(name);
  return given && *given ? strtoull(given, NULL, 0) : usual;
}

static void use_schedules(const Session *s, uint64_t num, uint64_t step) {
  const DeviceOps *ops = s->device->ops;
  if (ops->use_schedules) ops->use_schedules(s->device, variable("TILE_SIM_SEED", 0), (uint32_t)num, step);
}

// The environment decides again: the next line of --commands may be without --check.
static void leave_schedules(const Session *s) {
  if (s->device && s->run->options->check)
    use_schedules(s, variable("TILE_SIM_SEEDS", 1), variable("TILE_SIM_SEED_STEP", 0));
}

void session_close(Session *s) {
  leave_schedules(s);
  session_free_buffers(s->run, s->device);
  tile_kernel_free(s->kernel);
  tile_program_free(s->program);
  tile_device_close(s->device);
}

// ---- launching ----

static tile_status make_args(Session *s, tile_error **error) {
  const tile_kernel *k = s->kernel;
  s->args = arena_array(s->run->arena, tile_arg, k->num_args + 1);
  for (uint32_t i = 0; i < k->num_args; i++) {
    const RunArg *a = run_find_arg(s->run, k->params[i].name);
    if (!a)
      return error_set(error, TILE_ERROR_USAGE, "%s needs --arg %s=SPEC (%s)", k->name, k->params[i].name,
                       k->params[i].spelling);
    switch (a->spec->kind) {
    case ARG_BOOL:
    case ARG_INT: s->args[i] = tile_arg_int(a->spec->i); break;
    case ARG_FLOAT: s->args[i] = tile_arg_float(a->spec->f); break;
    case ARG_DESC: s->args[i] = tile_arg_tensor(run_arg_tensor(s->run->arena, a)); break;
    default: s->args[i] = tile_arg_pointer(run_arg_address(a));
    }
  }
  return TILE_OK;
}

static tile_launch_options launch_options(const Run *run) {
  tile_launch_options o = TILE_LAUNCH_OPTIONS_INIT;
  memcpy(o.grid, run->grid, sizeof o.grid);
  return o;
}

tile_status session_launch(Session *s, tile_error **error) {
  tile_launch_options o = launch_options(s->run);
  RETURN_IF_FAILED(tile_kernel_launch(s->kernel, &o, s->args, s->kernel->num_args, error));
  return tile_device_synchronize(s->device, error);
}

tile_status session_prepare(Session *s, tile_error **error) {
  const char *name = s->program->kernel ? s->program->kernel->name : s->run->options->kernel;
  RETURN_IF_FAILED(tile_kernel_load(s->device, s->program, name, &s->kernel, error));
  RETURN_IF_FAILED(session_upload(s->run, s->device, error));
  return make_args(s, error);
}

tile_status session_run(Session *s, bool is_reference, tile_error **error) {
  const Run *run = s->run;
  RETURN_IF_FAILED(session_prepare(s, error));
  if (is_reference) s->kernel->alike = 0;   // the first run has told of it
  RETURN_IF_FAILED(session_launch(s, error));
  for (uint32_t i = 0; i < run->num_buffers; i++) {
    RunBuffer *b = &run->buffers[i];
    RETURN_IF_FAILED(session_download(s, b, is_reference ? &b->reference : &b->result, error));
  }
  return TILE_OK;
}

// ---- timing ----

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

tile_status session_time(Session *s, BenchResult *out, tile_error **error) {
  enum { LEAST_ROUNDS = 20, MOST_ROUNDS = 2000, WARM_UP = 5, GPU_MS = 100, OTHER_ROUNDS = 5 };
  Run *run = s->run;
  bool is_gpu = !strcmp(s->device->kind, "gpu");
  double *times = arena_array(run->arena, double, MOST_ROUNDS), total = 0, bytes = 0;
  tile_launch_options o = launch_options(run);
  for (int i = 0; is_gpu && i < WARM_UP; i++)
    RETURN_IF_FAILED(s->device->ops->time(s->kernel, &o, s->args, &times[0], error));
  uint32_t n = 0, least = is_gpu ? LEAST_ROUNDS : OTHER_ROUNDS;
  while (n < MOST_ROUNDS && (n < least || (is_gpu && total < GPU_MS))) {
    RETURN_IF_FAILED(s->device->ops->time(s->kernel, &o, s->args, &times[n], error));
    total += times[n++];
  }
  qsort(times, n, sizeof *times, by_value);
  for (uint32_t i = 0; i < run->num_buffers; i++) bytes += (double)host_bytes(&run->buffers[i].initial);
  *out = (BenchResult){.median = n % 2 ? times[n / 2] : (times[n / 2 - 1] + times[n / 2]) / 2,
                       .low = times[n / 10],
                       .high = times[n * 9 / 10],
                       .runs = n,
                       .is_gpu = is_gpu,
                       .bytes = run->options->moved ? run->moved : bytes,
                       .flops = run->flops,
                       .kernel = arena_printf(run->arena, "%s", s->kernel->name),
                       .device = arena_printf(run->arena, "%s", s->device->name)};
  return TILE_OK;
}

static tile_status measure(Session *s, CompileJob *job, BenchResult *out, tile_error **error) {
  Run *run = s->run;
  RETURN_IF_FAILED(run_begin(run, "run", job, error));
  RETURN_IF_FAILED(cli_open_device(run->options->device, &s->device, error));
  RETURN_IF_FAILED(session_use_trace(run->options, s->device, &run->uses, error));
  RETURN_IF_FAILED(session_compile(s, job, -1, error));
  RETURN_IF_FAILED(file_uses_add_sources(&run->uses, run->arena, s->program->frontend, error));
  RETURN_IF_FAILED(run_fill_buffers(run, error));
  RETURN_IF_FAILED(session_run(s, false, error));
  return session_time(s, out, error);
}

tile_status session_measure(const Options *o, Arena *arena, const StrList *swept, FileUses *uses, BenchResult *out,
                            tile_error **error) {
  Run run = {.options = o, .arena = arena, .grid = {1, 1, 1}, .uses = *uses, .swept = swept};
  Session s = {.run = &run};
  CompileJob job = {.options = o, .specialize = run_specialize, .finish = run_finish, .user = &run};
  tile_status status = measure(&s, &job, out, error);
  out->has_unused_sweep = run.has_unused_sweep;
  uses->has_conflict = run.uses.has_conflict;
  session_close(&s);
  return status;
}

// ---- the simulator ----

static const char trace_variable[] = "TILE_SIM_TRACE";

// Four seeds have all of the simulator's policies. A timeline is about one schedule.
int64_t session_schedules(const Options *o) {
  enum { USUAL = 4 };
  if (!o->check) return 1;
  if (o->sim_seeds >= 0) return o->sim_seeds;
  return (int64_t)variable("TILE_SIM_SEEDS", o->sim_trace ? 1 : USUAL);
}

void session_use_schedules(const Session *s) {
  if (s->run->options->check) use_schedules(s, 1, 1);
}

tile_status session_use_trace(const Options *o, const tile_device *device, FileUses *uses, tile_error **error) {
  const char *named = getenv(trace_variable);
  const bool is_used = named && *named && !o->sim_trace && !strcmp(device->kind, "sim");
  return is_used ? file_uses_add(uses, o->arena, trace_variable, named, error) : TILE_OK;
}

// The simulator's driver reads its options when it is initialised, from the environment as a real driver does.
tile_status session_set_up_simulator(const Options *o, Arena *arena, tile_error **error) {
  const struct { const char *name, *value; } given[] = {
    {"TILE_SIM_SEED", o->sim_seed < 0 ? NULL : arena_printf(arena, "%lld", (long long)o->sim_seed)},
    // With --check each schedule is a launch of its own, so that the results can be compared (check_schedules).
    {"TILE_SIM_SEEDS", o->sim_seeds < 0 ? NULL : o->check ? "1" : arena_printf(arena, "%lld", (long long)o->sim_seeds)},
    {trace_variable, o->sim_trace},
  };
  for (uint32_t i = 0; i < countof(given); i++)
    if (given[i].value && setenv(given[i].name, given[i].value, 1))
      return error_set(error, TILE_ERROR_NO_MEMORY, "out of memory");
  return TILE_OK;
}
