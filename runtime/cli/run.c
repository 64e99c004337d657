// `tilec run`: compile for the device, fill the buffers, launch, then print, save, compare, time.
#include "runtime/cli/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/cli/cli.h"
#include "runtime/compile/compile.h"
#include "runtime/cli/sweep.h"

enum { GUARD = 4096, GUARD_BYTE = 0xc5 };

// One device with the program compiled for it and the buffers on it.
typedef struct {
  Run *run;
  tile_device *device;
  tile_program *program;
  tile_kernel *kernel;
  tile_arg *args;
  size_t num_args;
} Session;

static uint64_t guard_of(const tile_device *d) { return d->ops->checks_bounds ? 0 : GUARD; }

// ---- compiling ----

static tile_status compile_for(Session *s, const CompileJob *base, int config, tile_error **error) {
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

static tile_status upload(Session *s, RunBuffer *b, tile_error **error) {
  uint64_t guard = guard_of(s->device), bytes = host_bytes(&b->initial);
  tile_status status = tile_memory_alloc(s->device, bytes + 2 * guard, &b->block, error);
  if (status != TILE_OK) return status;
  b->address = b->block + guard;
  if (!guard) return tile_memory_upload(s->device, b->address, b->initial.data, bytes, error);
  ArenaMark mark = arena_mark(s->run->arena);
  uint8_t *staging = arena_alloc(s->run->arena, bytes + 2 * guard);
  memset(staging, GUARD_BYTE, bytes + 2 * guard);
  memcpy(staging + guard, b->initial.data, bytes);
  status = tile_memory_upload(s->device, b->block, staging, bytes + 2 * guard, error);
  arena_rewind(s->run->arena, mark);
  return status;
}

static tile_status download(Session *s, RunBuffer *b, HostTensor *to, tile_error **error) {
  uint64_t guard = guard_of(s->device), bytes = host_bytes(&b->initial);
  *to = b->initial;
  uint8_t *staging = arena_alloc(s->run->arena, bytes + 2 * guard + 1);
  to->data = staging + guard;
  tile_status status = tile_memory_download(s->device, staging, b->block, bytes + 2 * guard, error);
  if (status != TILE_OK) return status;
  for (uint64_t i = 0; i < guard; i++) {
    bool before = staging[guard - 1 - i] != GUARD_BYTE, after = staging[guard + bytes + i] != GUARD_BYTE;
    if (before || after)
      return error_set(error, TILE_ERROR_RUN, "the kernel wrote outside of the buffer %s of %llu bytes, at byte %lld",
                       b->name, (unsigned long long)bytes, before ? -1 - (long long)i : (long long)(bytes + i));
  }
  return TILE_OK;
}

// ---- launching ----

static tile_status make_args(Session *s, tile_error **error) {
  const tile_kernel *k = s->kernel;
  s->num_args = k->num_args;
  s->args = arena_array(s->run->arena, tile_arg, k->num_args + 1);
  for (uint32_t i = 0; i < k->num_args; i++) {
    RunArg *a = NULL;
    for (uint32_t n = 0; n < s->run->num_args; n++)
      if (!strcmp(s->run->args[n].name, k->params[i].name)) a = &s->run->args[n];
    if (!a)
      return error_set(error, TILE_ERROR_USAGE, "%s needs --arg %s=SPEC (%s)", k->name, k->params[i].name,
                       k->params[i].spelling);
    uint64_t address = a->buffer ? a->buffer->address + (uint64_t)a->offset * host_elem_bytes(a->buffer->initial.dtype)
                                 : 0;
    switch (a->spec->kind) {
    case ARG_BOOL:
    case ARG_INT: s->args[i] = tile_arg_int(a->spec->i); break;
    case ARG_FLOAT: s->args[i] = tile_arg_float(a->spec->f); break;
    case ARG_DESC: {
      tile_tensor *t = arena_new(s->run->arena, tile_tensor);
      *t = a->tensor;
      t->base = address;
      s->args[i] = tile_arg_tensor(t);
      break;
    }
    case ARG_NONE: s->args[i] = tile_arg_pointer(0); break;
    default: s->args[i] = tile_arg_pointer(address);
    }
  }
  return TILE_OK;
}

static tile_launch_options launch_options(const Run *run) {
  tile_launch_options o = TILE_LAUNCH_OPTIONS_INIT;
  memcpy(o.grid, run->grid, sizeof o.grid);
  return o;
}

// Loads, launches, and brings the buffers back into result (or reference).
static tile_status run_once(Session *s, bool is_reference, tile_error **error) {
  Run *run = s->run;
  tile_status status = tile_kernel_load(s->device, s->program,
                                        s->program->kernel ? s->program->kernel->name : run->options->kernel,
                                        &s->kernel, error);
  for (uint32_t i = 0; status == TILE_OK && i < run->num_buffers; i++) status = upload(s, &run->buffers[i], error);
  if (status == TILE_OK) status = make_args(s, error);
  tile_launch_options o = launch_options(run);
  if (status == TILE_OK) status = tile_kernel_launch(s->kernel, &o, s->args, s->num_args, error);
  if (status == TILE_OK) status = tile_device_synchronize(s->device, error);
  for (uint32_t i = 0; status == TILE_OK && i < run->num_buffers; i++) {
    RunBuffer *b = &run->buffers[i];
    status = download(s, b, is_reference ? &b->reference : &b->result, error);
  }
  return status;
}

static void close_session(Session *s) {
  for (uint32_t i = 0; i < s->run->num_buffers; i++) {
    if (s->device && s->run->buffers[i].block) tile_memory_free(s->device, s->run->buffers[i].block, NULL);
    s->run->buffers[i].block = 0;
  }
  tile_kernel_free(s->kernel);
  tile_program_free(s->program);
  tile_device_close(s->device);
}

// ---- after the run ----

static tile_status check_limits(const Options *o, CheckLimits *out, tile_error **error) {
  CheckLimits limits = {0};
  const struct { const char *text; double *value; } given[] = {{o->rtol, &limits.rtol}, {o->atol, &limits.atol}};
  for (uint32_t i = 0; i < countof(given); i++) {
    char *end;
    if (!given[i].text) continue;
    *given[i].value = strtod(given[i].text, &end);
    if (end == given[i].text || *end || !(*given[i].value >= 0))
      return error_set(error, TILE_ERROR_USAGE, "--rtol and --atol take a number, not '%s'", given[i].text);
  }
  limits.has_rtol = o->rtol != NULL;
  *out = limits;
  return TILE_OK;
}

// On the simulator with several schedules: each must give what the first gave, within the bounds of --check.
static tile_status check_schedules(Session *s, tile_error **error) {
  Run *run = s->run;
  const Options *o = run->options;
  CheckLimits limits;
  tile_status status = check_limits(o, &limits, error);
  tile_launch_options launch = launch_options(run);
  long long first = o->sim_seed < 0 ? 0 : (long long)o->sim_seed;
  for (int64_t k = 1; status == TILE_OK && k < o->sim_seeds; k++) {
    ArenaMark mark = arena_mark(run->arena);
    for (uint32_t i = 0; status == TILE_OK && i < run->num_buffers; i++)
      status = tile_memory_upload(s->device, run->buffers[i].address, run->buffers[i].initial.data,
                                  host_bytes(&run->buffers[i].initial), error);
    if (status == TILE_OK) status = tile_kernel_launch(s->kernel, &launch, s->args, s->num_args, error);
    if (status == TILE_OK) status = tile_device_synchronize(s->device, error);
    for (uint32_t i = 0; status == TILE_OK && i < run->num_buffers; i++) {
      RunBuffer *b = &run->buffers[i];
      HostTensor now;
      status = download(s, b, &now, error);
      uint64_t at;
      if (status != TILE_OK || !run_differs(&now, &b->result, &limits, &at)) continue;
      status = error_set(error, TILE_ERROR_RUN,
                         "seed %lld gives another result than seed %lld: element %llu of %s is %.9g instead of %.9g",
                         first + (long long)k, first, (unsigned long long)at, b->name, host_get(&now, at),
                         host_get(&b->result, at));
    }
    arena_rewind(run->arena, mark);
  }
  return status;
}

static tile_status check(Run *run, const CompileJob *job, int config, tile_error **error) {
  CheckLimits limits;
  Session s = {.run = run};
  tile_status status = check_limits(run->options, &limits, error);
  if (status == TILE_OK) status = tile_device_open("interp", &s.device, error);
  if (status == TILE_OK) status = compile_for(&s, job, config, error);
  if (status == TILE_OK) limits.uses_tf32 = run_uses_tf32(s.program->module);
  if (status == TILE_OK) status = run_once(&s, true, error);
  if (status == TILE_OK) {
    Buf out = buf_make(run->arena);
    bool ok = run_compare(run, &limits, &out);
    fputs(buf_str(&out), stdout);
    if (!ok) status = error_set(error, TILE_ERROR_RUN, "the result differs from the interpreter's");
  }
  close_session(&s);
  return status;
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static tile_status measure(Session *s, BenchResult *out, tile_error **error) {
  enum { LEAST_ROUNDS = 20, MOST_ROUNDS = 2000, WARM_UP = 5, GPU_MS = 100, OTHER_ROUNDS = 5 };
  Run *run = s->run;
  bool is_gpu = !strcmp(s->device->kind, "gpu");
  double *times = arena_array(run->arena, double, MOST_ROUNDS), total = 0;
  tile_launch_options o = launch_options(run);
  tile_status status = TILE_OK;
  for (int i = 0; status == TILE_OK && is_gpu && i < WARM_UP; i++)
    status = s->device->ops->time(s->kernel, &o, s->args, &times[0], error);
  uint32_t n = 0, least = is_gpu ? LEAST_ROUNDS : OTHER_ROUNDS;
  while (status == TILE_OK && n < MOST_ROUNDS && (n < least || (is_gpu && total < GPU_MS))) {
    status = s->device->ops->time(s->kernel, &o, s->args, &times[n], error);
    total += times[n++];
  }
  if (status != TILE_OK) return status;
  qsort(times, n, sizeof *times, by_value);
  double bytes = 0;
  for (uint32_t i = 0; i < run->num_buffers; i++) bytes += (double)host_bytes(&run->buffers[i].initial);
  *out = (BenchResult){.median = n % 2 ? times[n / 2] : (times[n / 2 - 1] + times[n / 2]) / 2,
                       .low = times[n / 10],
                       .high = times[n * 9 / 10],
                       .runs = n,
                       .bytes = run->options->moved ? run->moved : bytes,
                       .flops = run->flops,
                       .kernel = arena_printf(run->arena, "%s", s->kernel->name),
                       .device = arena_printf(run->arena, "%s", s->device->name)};
  return TILE_OK;
}

static tile_status bench(Session *s, tile_error **error) {
  BenchResult r;
  tile_status status = measure(s, &r, error);
  if (status != TILE_OK) return status;
  printf("bench %s on %s: median %.3f us, p10 %.3f, p90 %.3f (%u runs); %s: %.1f GB/s", r.kernel, r.device,
         r.median * 1e3, r.low * 1e3, r.high * 1e3, r.runs,
         s->run->options->moved ? "as --bytes says" : "every buffer once", r.bytes / r.median * 1e-6);
  if (s->run->options->flops) printf("; %.1f TFLOP/s", r.flops / r.median * 1e-9);
  putchar('\n');
  return TILE_OK;
}

static const RunBuffer *buffer_named(const Run *run, const char *name, size_t n) {
  for (uint32_t i = 0; i < run->num_args; i++)
    if (run->args[i].buffer && !strncmp(run->args[i].name, name, n) && !run->args[i].name[n])
      return run->args[i].buffer;
  for (uint32_t i = 0; i < run->num_buffers; i++)
    if (!strncmp(run->buffers[i].name, name, n) && !run->buffers[i].name[n]) return &run->buffers[i];
  return NULL;
}

// What a run writes beside -o, and --print and --save, checked before the run so that a typing error does not cost one.
static tile_status check_names(Run *run, tile_error **error) {
  const Options *o = run->options;
  tile_status status = file_uses_add_inputs(&run->uses, o, error);
  if (status == TILE_OK && o->sim_trace)
    status = file_uses_add(&run->uses, run->arena, "--sim-trace", o->sim_trace, error);
  if (status != TILE_OK) return status;
  for (uint32_t i = 0; i < o->prints.count + o->saves.count; i++) {
    bool is_save = i >= o->prints.count;
    const char *text = is_save ? o->saves.data[i - o->prints.count] : o->prints.data[i];
    size_t n = is_save ? strcspn(text, "=") : strlen(text);
    if (is_save && !text[n]) return error_set(error, TILE_ERROR_USAGE, "--save takes NAME=FILE.npy, not '%s'", text);
    if (is_save) status = file_uses_add(&run->uses, run->arena, "--save", text + n + 1, error);
    if (status != TILE_OK) return status;
    bool known = false;
    for (uint32_t k = 0; k < run->num_args; k++)
      known = known || (!strncmp(run->args[k].name, text, n) && !run->args[k].name[n]);
    if (!known && !buffer_named(run, text, n))
      return error_set(error, TILE_ERROR_USAGE, "--%s: there is no buffer '%.*s'", is_save ? "save" : "print", (int)n,
                       text);
  }
  return TILE_OK;
}

static tile_status print_and_save(const Run *run, tile_error **error) {
  const Options *o = run->options;
  for (uint32_t i = 0; i < o->prints.count; i++) {
    const RunBuffer *b = buffer_named(run, o->prints.data[i], strlen(o->prints.data[i]));
    if (!b) return error_set(error, TILE_ERROR_USAGE, "--print %s: it is not a buffer", o->prints.data[i]);
    Buf out = buf_make(run->arena);
    buf_printf(&out, "%s = ", o->prints.data[i]);
    host_print(&out, &b->result);
    fputs(buf_str(&out), stdout);
  }
  for (uint32_t i = 0; i < o->saves.count; i++) {
    const char *text = o->saves.data[i];
    size_t n = strcspn(text, "=");
    const RunBuffer *b = buffer_named(run, text, n);
    if (!b) return error_set(error, TILE_ERROR_USAGE, "--save %s: it is not a buffer", text);
    Buf out = buf_make(run->arena);
    npy_write(&out, &b->result);
    tile_status status = file_write(run->arena, text + n + 1, buf_str(&out), out.size, error);
    if (status != TILE_OK) return status;
  }
  return TILE_OK;
}

static void say_device(const Options *o, const tile_device *d) {
  const char *named = getenv("TILE_DEVICE");
  if (o->quiet || o->device || (named && *named)) return;
  fprintf(stderr, "tilec: running on %s (%s); --device=gpu|sim|interp chooses\n", d->kind, d->name);
}

// The simulator reads its options when its driver is initialised, as those of a real driver, from the environment.
tile_status run_set_up_simulator(const Options *o, Arena *arena, tile_error **error) {
  const struct { const char *name, *value; } given[] = {
    {"TILE_SIM_SEED", o->sim_seed < 0 ? NULL : arena_printf(arena, "%lld", (long long)o->sim_seed)},
    // With --check the schedules are launches of their own, so that their results can be compared (check_schedules).
    {"TILE_SIM_SEEDS", o->sim_seeds < 0 ? NULL : o->check ? "1" : arena_printf(arena, "%lld", (long long)o->sim_seeds)},
    {"TILE_SIM_SEED_STEP", o->check && o->sim_seeds > 1 ? "1" : NULL},
    {"TILE_SIM_TRACE", o->sim_trace},
  };
  for (uint32_t i = 0; i < countof(given); i++)
    if (given[i].value && setenv(given[i].name, given[i].value, 1))
      return error_set(error, TILE_ERROR_NO_MEMORY, "out of memory");
  return TILE_OK;
}

static tile_status check_simulator_options(const Options *o, const tile_device *d, tile_error **error) {
  const char *option = o->sim_seed >= 0    ? "--sim-seed"
                       : o->sim_seeds >= 0 ? "--sim-seeds"
                       : o->sim_trace      ? "--sim-trace"
                                           : NULL;
  if (!option || !d || !strcmp(tile_device_kind(d), "sim")) return TILE_OK;
  return error_set(error, TILE_ERROR_USAGE, "%s is for --device=sim; this is %s", option, tile_device_kind(d));
}

tile_status run_measure(const Options *o, Arena *arena, const StrList *swept, FileUses *uses, BenchResult *out,
                        tile_error **error) {
  Run run = {.options = o, .arena = arena, .grid = {1, 1, 1}, .uses = *uses, .swept = swept};
  Session s = {.run = &run};
  CompileJob job = {.options = o, .config = -1, .specialize = run_specialize, .finish = run_finish, .user = &run};
  tile_status status = cli_input(arena, o, &job.path, &job.text, &job.size, error);
  if (status == TILE_OK && !o->grid)
    status = error_set(error, TILE_ERROR_USAGE, "`tilec run` needs --grid, as in --grid 4 or --grid \"cdiv(n,BLOCK)\"");
  if (status == TILE_OK && !run_parse_args(&run, error)) status = TILE_ERROR_USAGE;
  if (status == TILE_OK) status = run_read_files(&run, error);
  if (status == TILE_OK) status = tile_device_open(o->device, &s.device, error);
  if (status == TILE_OK) status = compile_for(&s, &job, -1, error);
  if (status == TILE_OK) status = file_uses_add_sources(&run.uses, arena, s.program->frontend, error);
  if (status == TILE_OK) {
    status = run_fill_buffers(&run, error);
    if (status == TILE_OK) status = run_once(&s, false, error);
  }
  if (status == TILE_OK) status = measure(&s, out, error);
  uses->has_conflict = run.uses.has_conflict;
  close_session(&s);
  return status;
}

int run_main(const Options *o, Arena *arena) {
  if (o->sweeps.count) return sweep_main(o, arena);
  tile_error *error = NULL;
  Run run = {.options = o, .arena = arena, .grid = {1, 1, 1}};
  Session s = {.run = &run};
  Buf printed = buf_make(arena), times = buf_make(arena);
  CompileJob job = {.options = o,
                    .config = -1,
                    .color = cli_color(o),
                    .specialize = run_specialize,
                    .finish = run_finish,
                    .user = &run,
                    .printed = &printed,
                    .times = &times};
  tile_status status = cli_input(arena, o, &job.path, &job.text, &job.size, &error);
  if (status == TILE_OK && (o->emit || o->output || o->compile_only) && !(job.emit = outputs_choose(o, &error)))
    status = TILE_ERROR_USAGE;
  const unsigned emits = job.emit;
  if (status == TILE_OK && !o->grid)
    status = error_set(&error, TILE_ERROR_USAGE,
                       "`tilec run` needs --grid, as in --grid 4 or --grid \"cdiv(n,BLOCK)\"");
  if (status == TILE_OK && !run_parse_args(&run, &error)) status = TILE_ERROR_USAGE;
  if (status == TILE_OK) status = check_names(&run, &error);
  if (status == TILE_OK) status = run_read_files(&run, &error);
  if (status == TILE_OK) status = run_set_up_simulator(o, arena, &error);
  if (status == TILE_OK && !o->compile_only) status = tile_device_open(o->device, &s.device, &error);
  if (status == TILE_OK) status = check_simulator_options(o, s.device, &error);
  if (status == TILE_OK && s.device) say_device(o, s.device);
  if (status == TILE_OK) status = compile_for(&s, &job, -1, &error);
  fputs(buf_str(&printed), stderr);
  fputs(buf_str(&times), stderr);
  if (status == TILE_OK) {
    if (!o->quiet) {
      fputs(diag_render(&s.program->ctx, job.color), stderr);
      if (s.program->config_text)
        fprintf(stderr, "tilec: %s takes the configuration %s\n", s.program->kernel->name, s.program->config_text);
    }
    if (emits) status = outputs_write(o, s.program, job.path, emits, &run.uses, &error);
  }
  if (o->compile_only) {
    tile_program_free(s.program);
    return cli_finish(status, error, o);
  }
  job.emit = 0;
  if (status == TILE_OK) {
    status = run_fill_buffers(&run, &error);
    if (status == TILE_OK) status = run_once(&s, false, &error);
  }
  if (status == TILE_OK) status = print_and_save(&run, &error);
  if (status == TILE_OK && o->check && o->sim_seeds > 1) status = check_schedules(&s, &error);
  int config = s.program ? s.program->config : -1;
  if (status == TILE_OK && o->bench) status = bench(&s, &error);
  close_session(&s);
  if (status == TILE_OK && o->check) status = check(&run, &job, config, &error);
  return cli_finish(status, error, o);
}
