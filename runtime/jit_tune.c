// @triton.autotune: which of a kernel's configurations is fastest for these arguments. Candidates are compiled on all cores;
// each is run once and compared with the first, then timed from cold caches. Arrays whose sizes are known are as before
// afterwards, whatever the kernel did to them. Results can be kept in a JSON file and used without timing.
#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/error.h"
#include "runtime/file.h"
#include "runtime/host_tensor.h"
#include "runtime/jit_impl.h"
#include "runtime/json_writer.h"
#include "runtime/run.h"

enum { MAX_THREADS = 64, MIN_RUNS = 5, MAX_RUNS = 100 };
#define ENOUGH_MS 20.0

typedef struct {
  tile_jit_kernel *k;
  const Request *request;
  tile_variant **variants;     // by configuration; NULL: skipped
  tile_error **errors;         // why
  double *times;
  const bool *is_pruned;
  uint32_t count;
  atomic_uint next;
} Tuning;

static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

// ---- results kept ----

// What the choice depends on: values of the key's parameters, types of the arrays, launch options, device.
static const char *result_key(Arena *a, const tile_jit_kernel *k, const Request *r) {
  Buf b = buf_make(a);
  for (uint32_t i = 0; i < k->num_params; i++) {
    const tile_arg *arg = &r->args[i];
    const char *comma = b.size ? ", " : "";
    if (arg->kind == TILE_ARG_POINTER) buf_printf(&b, "%s*%s", comma, dtype_info[arg->type].short_name);
    else if (arg->kind == TILE_ARG_TENSOR) buf_printf(&b, "%sdesc %s", comma, dtype_info[arg->value.tensor->type].short_name);
    else if (arg->kind == TILE_ARG_TEXT) buf_printf(&b, "%s%s=%s", comma, k->params[i].name, arg->value.text);
    else if (arg->kind == TILE_ARG_FLOAT && k->params[i].traits.is_value_keyed) buf_printf(&b, "%s%s=%.17g", comma, k->params[i].name, arg->value.f);
    else if ((k->params[i].traits.is_value_keyed || k->params[i].traits.is_constexpr) && arg->kind != TILE_ARG_DEFAULT && arg->kind != TILE_ARG_NONE)
      buf_printf(&b, "%s%s=%lld", comma, k->params[i].name, (long long)arg->value.i);
  }
  const tile_jit_launch_options *o = r->options;
  if (o->num_warps || o->num_stages || o->num_ctas || o->maxnreg) buf_printf(&b, ", options %d %d %d %d", o->num_warps, o->num_stages, o->num_ctas, o->maxnreg);
  return buf_str(&b);
}

static const TuneResult *find_result(const tile_jit *jit, const char *kernel, const char *key) {
  for (const TuneResult *r = jit->results; r; r = r->next)
    if (!strcmp(r->kernel, kernel) && !strcmp(r->key, key) && !strcmp(r->device, jit->device->name)) return r;
  return NULL;
}

static void add_result(tile_jit *jit, const char *kernel, const char *device, const char *key, const char *config, double ms) {
  TuneResult *r = arena_new(&jit->arena, TuneResult);
  *r = (TuneResult){jit->results, arena_printf(&jit->arena, "%s", kernel), arena_printf(&jit->arena, "%s", device), arena_printf(&jit->arena, "%s", key),
                    arena_printf(&jit->arena, "%s", config), ms};
  jit->results = r;
}

static tile_status save_results(tile_jit *jit, tile_error **error) {
  Arena a;
  arena_init(&a);
  Buf b = buf_make(&a);
  JsonWriter w = json_writer(&b);
  json_begin_object(&w, false);
  json_key(&w, "tile_tuning");
  json_int(&w, 1);
  json_key(&w, "results");
  json_begin_array(&w, false);
  for (const TuneResult *r = jit->results; r; r = r->next) {
    json_begin_object(&w, true);
    const char *const fields[][2] = {{"kernel", r->kernel}, {"device", r->device}, {"key", r->key}, {"config", r->config}};
    for (uint32_t i = 0; i < countof(fields); i++) {
      json_key(&w, fields[i][0]);
      json_string(&w, fields[i][1]);
    }
    json_key(&w, "milliseconds");
    json_double(&w, r->milliseconds);
    json_end_object(&w);
  }
  json_end_array(&w);
  json_end_object(&w);
  buf_putc(&b, '\n');
  tile_status status = file_write(&a, jit->tune_file, buf_str(&b), b.size, error);
  arena_free(&a);
  return status;
}

static const char *field(const CtValue *v, const char *name) {
  const CtValue *f = v->kind == CT_DICT ? dict_get_str(v->dict, name) : NULL;
  return f && f->kind == CT_STR ? f->str.data : NULL;
}

// The file is ours: JSON without null, true and false, which is a Python expression too.
tile_status jit_load_results(tile_jit *jit, tile_error **error) {
  Arena a;
  arena_init(&a);
  const char *text;
  size_t size;
  if (access(jit->tune_file, F_OK)) return TILE_OK;
  tile_status status = file_read(&a, jit->tune_file, &text, &size, error);
  jmp_buf on_ice;
  if (status == TILE_OK && !setjmp(on_ice)) {
    jit->ctx.on_ice = &on_ice;
    CtValue *v = comptime_eval_text(frontend_comptime(jit->frontend), frontend_module(jit->frontend), jit->tune_file, text, NULL, 0);
    CtValue *list = v && v->kind == CT_DICT ? dict_get_str(v->dict, "results") : NULL;
    bool ok = list && list->kind == CT_LIST;
    for (uint32_t i = 0; ok && i < list->list.count; i++) {
      const CtValue *r = list->list.data[i];
      const char *kernel = field(r, "kernel"), *device = field(r, "device"), *key = field(r, "key"), *config = field(r, "config");
      const CtValue *ms = r->kind == CT_DICT ? dict_get_str(r->dict, "milliseconds") : NULL;
      ok = kernel && device && key && config;
      if (ok) add_result(jit, kernel, device, key, config, ms && ms->kind == CT_FLOAT ? ms->f : 0);
    }
    if (!ok) status = error_set(error, TILE_ERROR_FILE, "%s holds no tuning results", jit->tune_file);
  } else if (status == TILE_OK) {
    status = error_set(error, TILE_ERROR_FILE, "%s cannot be read as tuning results", jit->tune_file);
  }
  jit->ctx.on_ice = NULL;
  arena_free(&a);
  return status;
}

// ---- candidates ----

static CtValue *scalar(Context *ctx, const tile_arg *a) {
  switch (a->kind) {
  case TILE_ARG_INT: return ct_int(ctx, a->value.i);
  case TILE_ARG_FLOAT: return ct_float(ctx, a->value.f);
  case TILE_ARG_BOOL: return ct_bool(ctx, a->value.i != 0);
  case TILE_ARG_TEXT: return ct_str(ctx, a->value.text);
  default: return ct_none(ctx);
  }
}

// early_config_prune(configs, named_args): what it leaves out is pruned.
static tile_status call_prune(tile_jit_kernel *k, CtValue *fn, const Request *r, bool *is_pruned, tile_error **error) {
  const CtAutotune *tune = k->fn->autotune;
  Context *ctx = &k->jit->ctx;
  CtValue **objects = arena_array(&ctx->arena, CtValue *, tune->num_configs + 1);
  for (uint32_t i = 0; i < tune->num_configs; i++) objects[i] = tune->configs[i].object;
  CtValue *args[2] = {ct_list(ctx, objects, tune->num_configs), ct_dict(ctx)};
  for (uint32_t i = 0; i < k->num_params; i++)
    if (r->args[i].kind != TILE_ARG_DEFAULT) dict_set_str(ctx, args[1]->dict, k->params[i].name, scalar(ctx, &r->args[i]));
  CtValue *left = comptime_call(frontend_comptime(k->jit->frontend), fn, args, 2, NULL, 0, (Span){0, 0});
  CtList kept = {0};
  if (!left || !comptime_iterate(frontend_comptime(k->jit->frontend), left, (Span){0, 0}, &kept) || !kept.count)
    return diag_error_count(ctx) ? error_set_diagnostics(error, TILE_ERROR_PROGRAM, ctx, false)
                                 : error_set(error, TILE_ERROR_PROGRAM, "%s: early_config_prune leaves no configuration", k->name);
  for (uint32_t i = 0; i < tune->num_configs; i++) {
    is_pruned[i] = true;
    for (uint32_t n = 0; n < kept.count; n++) is_pruned[i] = is_pruned[i] && ct_unwrap(kept.data[n]) != ct_unwrap(tune->configs[i].object);
  }
  return TILE_OK;
}

// With the jit's lock: it runs in the jit's Context.
static tile_status prune(tile_jit_kernel *k, const Request *r, bool *is_pruned, tile_error **error) {
  const CtAutotune *tune = k->fn->autotune;
  CtValue *by = tune->prune_configs_by ? ct_unwrap(tune->prune_configs_by) : NULL;
  CtValue *fn = by && by->kind == CT_DICT ? dict_get_str(by->dict, "early_config_prune") : NULL;
  if (!fn) return TILE_OK;
  Context *ctx = &k->jit->ctx;
  jmp_buf on_ice;
  tile_status status;
  if (setjmp(on_ice)) {
    status = error_set(error, TILE_ERROR_INTERNAL, "internal error in early_config_prune: %s", ctx->ice_text ? ctx->ice_text : "?");
  } else {
    ctx->on_ice = &on_ice;
    status = call_prune(k, fn, r, is_pruned, error);
  }
  ctx->on_ice = NULL;
  return status;
}

static void *compile_some(void *user) {
  Tuning *t = user;
  for (uint32_t i; (i = atomic_fetch_add(&t->next, 1)) < t->count;)
    if (!t->is_pruned[i]) jit_compile(t->k, t->request, (int)i, &t->variants[i], &t->errors[i]);
  return NULL;
}

static void compile_all(Tuning *t) {
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  pthread_t threads[MAX_THREADS];
  uint32_t started = 0;
  while (started + 1 < t->count && started + 1 < (uint32_t)(cores > MAX_THREADS ? MAX_THREADS : cores) && !pthread_create(&threads[started], NULL, compile_some, t)) started++;
  compile_some(t);
  while (started) pthread_join(threads[--started], NULL);
}

// ---- running them ----

// The arrays, as they were and as the first candidate leaves them.
typedef struct { uint64_t address; HostTensor before, first, now; } Array;
typedef struct { Array arrays[JIT_MAX_PARAMS]; uint32_t count; Arena arena; } Arrays;

static tile_status read_arrays(const tile_jit_kernel *k, const Request *r, Arrays *s, tile_error **error) {
  arena_init(&s->arena);
  s->count = 0;
  tile_status status = TILE_OK;
  for (uint32_t i = 0; status == TILE_OK && r->options->arg_bytes && i < k->num_params; i++) {
    const tile_arg *a = &r->args[i];
    uint64_t address = a->kind == TILE_ARG_POINTER ? a->value.pointer : a->kind == TILE_ARG_TENSOR ? a->value.tensor->base : 0;
    size_t bytes = i < r->options->num_arg_bytes ? r->options->arg_bytes[i] : 0;
    if (!address || !bytes) continue;
    DtypeKind dtype = (DtypeKind)(a->kind == TILE_ARG_TENSOR ? a->value.tensor->type : a->type);
    Array *x = &s->arrays[s->count++];
    *x = (Array){.address = address, .before = {.dtype = dtype, .rank = 1, .count = bytes / host_elem_bytes(dtype)}};
    x->first = x->now = x->before;
    x->before.data = arena_alloc(&s->arena, bytes);
    x->first.data = arena_alloc(&s->arena, bytes);
    x->now.data = arena_alloc(&s->arena, bytes);
    status = tile_memory_download(k->jit->device, x->before.data, address, bytes, error);
  }
  return status;
}

static tile_status put_back(const tile_jit_kernel *k, const Arrays *s, tile_error **error) {
  tile_status status = TILE_OK;
  for (uint32_t i = 0; status == TILE_OK && i < s->count; i++)
    status = tile_memory_upload(k->jit->device, s->arrays[i].address, s->arrays[i].before.data, host_bytes(&s->arrays[i].before), error);
  return status;
}

// Runs a candidate once and compares. The first one that runs is what others are held to.
static tile_status run_and_compare(Tuning *t, Arrays *s, tile_variant *v, const tile_launch_options *o, const tile_arg *packed, bool is_first, tile_error **error) {
  const tile_jit *jit = t->k->jit;
  tile_status status = put_back(t->k, s, error);
  if (status == TILE_OK) status = tile_kernel_launch(v->kernel, o, packed, v->kernel->num_args, error);
  if (status == TILE_OK) status = tile_device_synchronize(jit->device, error);
  for (uint32_t i = 0; status == TILE_OK && i < s->count; i++) {
    Array *x = &s->arrays[i];
    HostTensor *to = is_first ? &x->first : &x->now;
    status = tile_memory_download(jit->device, to->data, x->address, host_bytes(to), error);
    // A tf32 product rounds its inputs, and candidates may differ in whether they use it.
    if (status == TILE_OK && !is_first && !check_is_close(&x->now, &x->first, true))
      status = error_set(error, TILE_ERROR_RUN, "its result differs from the first configuration's");
  }
  return status;
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static tile_status time_variant(tile_variant *v, const tile_launch_options *o, const tile_arg *packed, double *median, tile_error **error) {
  double times[MAX_RUNS], total = 0;
  uint32_t n = 0;
  tile_status status = TILE_OK;
  // The simulator's and the interpreter's time says nothing about a GPU: one run each.
  bool is_gpu = !strcmp(v->kernel->device->kind, "gpu");
  while (status == TILE_OK && n < (is_gpu ? MAX_RUNS : 1) && (n < MIN_RUNS || total < ENOUGH_MS)) {
    status = v->kernel->device->ops->time(v->kernel, o, packed, &times[n], error);
    total += times[n++];
  }
  if (status != TILE_OK) return status;
  qsort(times, n, sizeof *times, by_value);
  *median = times[n / 2];
  return TILE_OK;
}

// Errors of a launch's arguments are the caller's, not the candidate's.
static tile_status run_all(Tuning *t, Arrays *s, tile_error **error) {
  tile_launch_options o = TILE_LAUNCH_OPTIONS_INIT;
  o.stream = t->request->options->stream;
  bool is_first = true;
  double deadline = t->k->jit->tune_seconds > 0 ? now_ms() + t->k->jit->tune_seconds * 1e3 : INFINITY;
  for (uint32_t i = 0; i < t->count; i++) {
    tile_variant *v = t->variants[i];
    if (!v) continue;
    tile_arg packed[JIT_MAX_PARAMS];
    variant_pack(v, t->request->args, packed);
    memcpy(o.grid, t->request->options->grid, sizeof o.grid);
    if (t->request->options->grid_fn) t->request->options->grid_fn(t->request->options->grid_user, v, o.grid);
    tile_status status = is_first || now_ms() < deadline ? TILE_OK : error_set(&t->errors[i], TILE_ERROR_RUN, "the time for tuning is over");
    if (status == TILE_OK) status = run_and_compare(t, s, v, &o, packed, is_first, &t->errors[i]);
    if (status == TILE_OK) status = time_variant(v, &o, packed, &t->times[i], &t->errors[i]);
    if (status == TILE_ERROR_USAGE || status == TILE_ERROR_DRIVER) {
      error_set(error, status, "%s", tile_error_message(t->errors[i]));
      return status;
    }
    if (status == TILE_OK) is_first = false;
    else variant_free(v), t->variants[i] = NULL;
    const char *text = t->k->config_texts[i];
    if (status == TILE_OK) jit_event(t->k->jit, TILE_EVENT_TUNE_STEP, t->k->name, text, t->times[i]);
  }
  return TILE_OK;
}

static tile_status choose(Tuning *t, int *config, tile_error **error) {
  *config = -1;
  for (uint32_t i = 0; i < t->count; i++) {
    if (t->errors[i]) jit_event(t->k->jit, TILE_EVENT_TUNE_SKIP, t->k->name, tile_error_message(t->errors[i]), 0);
    if (t->variants[i] && (*config < 0 || t->times[i] < t->times[*config])) *config = (int)i;
  }
  if (*config >= 0) return TILE_OK;
  const char *why = "all were pruned";
  for (uint32_t i = t->count; i-- > 0;)
    if (t->errors[i]) why = tile_error_message(t->errors[i]);
  return error_set(error, TILE_ERROR_PROGRAM, "%s: none of the %u configurations runs; the first says: %s", t->k->name, t->count, why);
}

static tile_status tune(tile_jit_kernel *k, const Request *r, Arena *a, const char *key, tile_variant **variant, tile_error **error) {
  tile_jit *jit = k->jit;
  const CtAutotune *at = k->fn->autotune;
  uint32_t n = at->num_configs;
  bool *is_pruned = arena_array(a, bool, n);
  pthread_mutex_lock(&jit->lock);
  tile_status status = prune(k, r, is_pruned, error);
  pthread_mutex_unlock(&jit->lock);
  if (status != TILE_OK) return status;
  Tuning t = {.k = k, .request = r, .variants = arena_array(a, tile_variant *, n), .errors = arena_array(a, tile_error *, n), .times = arena_array(a, double, n),
              .is_pruned = is_pruned, .count = n};
  compile_all(&t);
  Arrays arrays;
  status = read_arrays(k, r, &arrays, error);
  if (status == TILE_OK) status = run_all(&t, &arrays, error);
  if (status == TILE_OK) status = put_back(k, &arrays, error);
  arena_free(&arrays.arena);
  int config = -1;
  if (status == TILE_OK) status = choose(&t, &config, error);
  for (uint32_t i = 0; i < n; i++) {
    if (status == TILE_OK && (int)i == config) *variant = t.variants[i];
    else variant_free(t.variants[i]);
    tile_error_free(t.errors[i]);
  }
  if (status != TILE_OK) return status;
  pthread_mutex_lock(&jit->lock);
  add_result(jit, k->name, jit->device->name, key, k->config_texts[config], t.times[config]);
  // A file that cannot be written loses the result for the next process, nothing else.
  if (jit->tune_file) save_results(jit, NULL);
  pthread_mutex_unlock(&jit->lock);
  return TILE_OK;
}

tile_status jit_tuned(tile_jit_kernel *k, const Request *r, tile_variant **variant, tile_error **error) {
  Arena a;
  arena_init(&a);
  const char *key = result_key(&a, k, r);
  pthread_mutex_lock(&k->jit->lock);
  const TuneResult *known = find_result(k->jit, k->name, key);
  pthread_mutex_unlock(&k->jit->lock);
  int config = -1;
  for (uint32_t i = 0; known && i < k->fn->autotune->num_configs; i++)
    if (!strcmp(k->config_texts[i], known->config)) config = (int)i;
  tile_status status;
  if (config >= 0) status = jit_compile(k, r, config, variant, error);
  // Without sizes the arrays cannot be put back, and a kernel that says it needs that is not run for timing.
  else if (k->jit->tune == TILE_TUNE_SAVED) status = jit_compile(k, r, CONFIG_FIRST, variant, error);
  else if ((k->fn->autotune->reset_to_zero || k->fn->autotune->restore_value) && !r->options->arg_bytes)
    status = error_set(error, TILE_ERROR_USAGE, "%s resets or restores arguments while it is tuned: give their sizes in arg_bytes", k->name);
  else status = tune(k, r, &a, key, variant, error);
  arena_free(&a);
  return status;
}
