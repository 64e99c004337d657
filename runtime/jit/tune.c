// @triton.autotune: finds the configuration of a kernel that is fastest for these arguments. Candidates are compiled on
// all cores. Each runs once and is compared with the first, and is then timed from cold caches; the fastest ones run in
// turns. Afterwards, arrays of known size are as before, whatever the kernel did to them.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ir/clock.h"
#include "runtime/compile/compile.h"
#include "runtime/jit/jit_impl.h"

enum { MAX_THREADS = 64, FIRST_RUNS = 5, MIN_RUNS = 10, MAX_RUNS = 100 };
#define WARM_UP_MS 50.0     // until the device's clocks are up
#define ENOUGH_MS 200.0     // of runs of one finalist
#define FINALIST 1.10       // a finalist is this near to the best of the first runs
#define TIE 1.015           // candidates this near change places from process to process: the first in the source wins

typedef struct {
  tile_variant *variant;       // NULL: out of the race
  tile_error *error;           // why
  Hooked hooked;
  double times[MAX_RUNS], low, median, high;
  uint32_t runs;
  bool is_pruned, is_finalist;
} Candidate;

// An array: as it must be before each run, and as the first candidate leaves it.
typedef struct {
  uint64_t address;
  HostTensor before, first, now;
  double largest;              // of first, once it is known
  bool is_written, is_known;
} Array;
typedef struct { Array *arrays; uint32_t count; } Arrays;

typedef struct {
  tile_jit_kernel *k;
  const Request *request;
  Candidate *candidates;       // by configuration
  Arrays arrays;
  uint32_t count;
  Assembler *assembler;        // NULL: the driver's
  int chosen;
  bool holds_device;           // its lock for timing
  double compile_deadline, deadline;   // of clock_ms(); half of the time is for compiling
  atomic_uint next, compiled;
} Tuning;

static bool is_over(const Tuning *t) { return clock_ms() > t->deadline; }

static bool is_stopped(const tile_jit *jit) {
  return jit->hooks.should_stop && jit->hooks.should_stop(jit->hooks.user);
}

static void drop(Candidate *c) {
  jit_variant_free(c->variant);
  c->variant = NULL;
}

// ---- compiling ----

static void compile_candidate(Tuning *t, uint32_t i) {
  Candidate *c = &t->candidates[i];
  if (c->is_pruned || c->error || !c->hooked.args || is_stopped(t->k->jit)) return;
  if (atomic_load(&t->compiled) && clock_ms() > t->compile_deadline) {
    error_set(&c->error, TILE_ERROR_RUN, "the time for tuning is over");
    return;
  }
  const Request r = {t->k, t->request->key, t->request->options, c->hooked.args, t->assembler};
  if (jit_compile(&r, (int)i, &c->variant, &c->error) != TILE_OK) return;
  if (jit_keep_hook(c->variant, t->request, &c->hooked, (int)i, &c->error) == TILE_OK)
    atomic_fetch_add(&t->compiled, 1);
  else drop(c);
}

static void *compile_some(void *user) {
  Tuning *t = user;
  for (uint32_t i; (i = atomic_fetch_add(&t->next, 1)) < t->count;) compile_candidate(t, i);
  return NULL;
}

static void compile_all(Tuning *t) {
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  const uint32_t most = cores < 1 ? 1 : cores > MAX_THREADS ? MAX_THREADS : (uint32_t)cores;
  pthread_t threads[MAX_THREADS];
  uint32_t started = 0;
  while (started + 1 < t->count && started + 1 < most && !pthread_create(&threads[started], NULL, compile_some, t))
    started++;
  compile_some(t);
  while (started) pthread_join(threads[--started], NULL);
}

// ---- running them ----

static tile_status read_arrays(const Request *r, Arrays *s, Arena *a, tile_error **error) {
  const tile_jit_kernel *k = r->kernel;
  tile_status status = TILE_OK;
  s->arrays = arena_array(a, Array, k->num_params + 1);
  for (uint32_t i = 0; status == TILE_OK && i < k->num_params; i++) {
    const tile_arg *arg = &r->args[i];
    uint64_t address = arg->kind == TILE_ARG_POINTER  ? arg->value.pointer
                       : arg->kind == TILE_ARG_TENSOR ? arg->value.tensor->base
                                                      : 0;
    size_t bytes = r->options->arg_bytes && i < r->options->num_arg_bytes ? r->options->arg_bytes[i] : 0;
    if (!address || !bytes) continue;
    DtypeKind dtype = (DtypeKind)(arg->kind == TILE_ARG_TENSOR ? arg->value.tensor->type : arg->type);
    Array *x = &s->arrays[s->count++];
    *x = (Array){.address = address,
                 .is_written = true,
                 .before = {.dtype = dtype, .rank = 1, .count = bytes / host_elem_bytes(dtype)}};
    x->first = x->now = x->before;
    x->before.data = arena_alloc(a, bytes);
    x->first.data = arena_alloc(a, bytes);
    x->now.data = arena_alloc(a, bytes);
    if (jit_is_reset(k, i)) memset(x->before.data, 0, bytes);
    else status = tile_memory_download(k->jit->device, x->before.data, address, bytes, error);
  }
  return status;
}

static tile_status put_back(const tile_jit_kernel *k, const Arrays *s, tile_error **error) {
  tile_status status = TILE_OK;
  for (uint32_t i = 0; status == TILE_OK && i < s->count; i++)
    if (s->arrays[i].is_written)
      status = tile_memory_upload(k->jit->device, s->arrays[i].address, s->arrays[i].before.data,
                                  host_bytes(&s->arrays[i].before), error);
  return status;
}

static bool is_same_enough(Array *x) {
  if (!memcmp(x->now.data, x->first.data, host_bytes(&x->now))) return true;
  if (!x->is_known) x->largest = host_largest(&x->first), x->is_known = true;
  // A tf32 dot rounds its operands, and candidates may differ in whether they use it.
  return host_compare(&x->now, &x->first, host_rtol(x->first.dtype, true), 0, x->largest).bad == 0;
}

// Runs a candidate once and compares its results with those of the first one that ran.
static tile_status run_and_compare(Tuning *t, Arrays *s, Candidate *c, const tile_launch_options *o,
                                   const tile_arg *packed, bool is_first, tile_error **error) {
  const tile_jit *jit = t->k->jit;
  tile_kernel *kernel = c->variant->kernel;
  tile_status status = put_back(t->k, s, error);
  if (status == TILE_OK) status = jit_apply_effects(t->request, c->hooked.effects, c->hooked.num_effects, error);
  if (status == TILE_OK) status = tile_kernel_launch(kernel, o, packed, kernel->num_args, error);
  if (status == TILE_OK) status = tile_device_synchronize(jit->device, error);
  for (uint32_t i = 0; status == TILE_OK && i < s->count; i++) {
    Array *x = &s->arrays[i];
    HostTensor *to = is_first ? &x->first : &x->now;
    status = tile_memory_download(jit->device, to->data, x->address, host_bytes(to), error);
    if (status == TILE_OK && is_first) x->is_written = memcmp(to->data, x->before.data, host_bytes(to)) != 0;
    if (status == TILE_OK && !is_first && !is_same_enough(x)) {
      x->is_written = true;
      status = error_set(error, TILE_ERROR_RUN, "its result differs from the first configuration's");
    }
  }
  return status;
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void summarize(Candidate *c) {
  double sorted[MAX_RUNS];
  memcpy(sorted, c->times, c->runs * sizeof *sorted);
  qsort(sorted, c->runs, sizeof *sorted, by_value);
  c->median = c->runs % 2 ? sorted[c->runs / 2] : (sorted[c->runs / 2] + sorted[c->runs / 2 - 1]) / 2;
  c->low = sorted[c->runs / 5];
  c->high = sorted[c->runs * 4 / 5];
}

// One launch with the candidate's own grid.
typedef struct { tile_launch_options options; ArgList packed; } Launch;
static bool make_launch(const Tuning *t, const Candidate *c, Launch *l) {   // false: out of memory
  const tile_jit_launch_options *o = t->request->options;
  l->options = (tile_launch_options){sizeof l->options, {o->grid[0], o->grid[1], o->grid[2]}, o->stream};
  if (!arg_list_init(&l->packed, c->variant->kernel->num_args)) return false;
  if (!jit_variant_pack(c->variant, c->hooked.args, l->packed.data)) return arg_list_free(&l->packed), false;
  if (o->grid_fn) o->grid_fn(o->grid_user, c->variant, l->options.grid);
  return true;
}

static tile_status time_once(const Tuning *t, Candidate *c) {
  Launch l;
  if (!make_launch(t, c, &l)) return error_no_memory(&c->error);
  tile_status status = t->k->jit->device->ops->time(c->variant->kernel, &l.options, l.packed.data, &c->times[c->runs],
                                                    &c->error);
  arg_list_free(&l.packed);
  if (status == TILE_OK) c->runs++;
  return status;
}

// Times of the simulator and the interpreter say nothing about a GPU: one run each.
static uint32_t first_runs(const Tuning *t) { return strcmp(t->k->jit->device->kind, "gpu") ? 1 : FIRST_RUNS; }

static tile_status warm_up(const Tuning *t, Candidate *c) {
  if (first_runs(t) == 1) return TILE_OK;
  tile_status status = TILE_OK;
  for (double end = clock_ms() + WARM_UP_MS; status == TILE_OK && clock_ms() < end; c->runs = 0)
    status = time_once(t, c);
  return status;
}

typedef struct { const Request *r; uint32_t config; } After;

static tile_status run_post_hook(void *user, Arena *a, tile_error **error) {
  const After *after = user;
  Hooked h = {0};
  tile_status status = jit_post_hook(after->r, after->config, a, &h, error);
  return status == TILE_OK ? jit_apply_effects(after->r, h.effects, h.num_effects, error) : status;
}

static tile_status run_candidate(Tuning *t, Arrays *s, uint32_t i, bool is_first) {
  Candidate *c = &t->candidates[i];
  Launch l;
  if (!make_launch(t, c, &l)) return error_no_memory(&c->error);
  tile_status status = run_and_compare(t, s, c, &l.options, l.packed.data, is_first, &c->error);
  arg_list_free(&l.packed);
  if (status == TILE_OK && is_first) status = warm_up(t, c);
  while (status == TILE_OK && c->runs < first_runs(t)) status = time_once(t, c);
  if (status == TILE_OK && t->k->fn->autotune->post_hook) {
    const Request r = {t->k, t->request->key, t->request->options, c->hooked.args, NULL};
    After after = {&r, i};
    status = jit_scratch(t->k->jit, "running a post_hook", run_post_hook, &after, &c->error);
  }
  if (status == TILE_OK) summarize(c);
  return status;
}

static bool is_empty(const Tuning *t, const Candidate *c) {
  Launch l;
  if (!make_launch(t, c, &l)) return false;
  arg_list_free(&l.packed);
  return launch_is_empty(l.options.grid);
}

// Errors of a launch's arguments are the caller's, not the candidate's.
static tile_status run_all(Tuning *t, Arrays *s, tile_error **error) {
  bool is_first = true;
  for (uint32_t i = 0; i < t->count; i++) {
    Candidate *c = &t->candidates[i];
    if (!c->variant) continue;
    if (is_stopped(t->k->jit)) return error_set(error, TILE_ERROR_CANCELLED, "stopped while tuning %s", t->k->name);
    if (is_first && is_empty(t, c)) {
      t->chosen = (int)i;
      return TILE_OK;
    }
    tile_status status = is_first || !is_over(t) ? TILE_OK
                                                 : error_set(&c->error, TILE_ERROR_RUN, "the time for tuning is over");
    if (status == TILE_OK) status = run_candidate(t, s, i, is_first);
    if (status == TILE_ERROR_USAGE || status == TILE_ERROR_DRIVER)
      return error_set_cuda(error, status, tile_error_cuda_result(c->error), "%s", tile_error_message(c->error));
    if (status == TILE_OK) is_first = false;
    else drop(c);
    if (status == TILE_OK) jit_event(t->k->jit, TILE_EVENT_TUNE_STEP, t->k->name, t->k->config_texts[i], c->median);
  }
  return TILE_OK;
}

static int fastest(const Tuning *t) {
  int best = -1;
  for (uint32_t i = 0; i < t->count; i++)
    if (t->candidates[i].variant && (best < 0 || t->candidates[i].median < t->candidates[best].median)) best = (int)i;
  return best;
}

static bool is_tied(const Tuning *t, uint32_t i, int best) {
  return best >= 0 && t->candidates[i].variant && t->candidates[i].median <= t->candidates[best].median * TIE;
}

// Times those again that may be the fastest, in turns: a drift of the clocks then hits all alike. It ends when all but
// one are known to be slower, or after enough runs.
static void run_finals(Tuning *t) {
  int best = fastest(t);
  if (best < 0 || first_runs(t) == 1) return;
  double total = 0, limit = t->candidates[best].median * FINALIST;
  uint32_t left = 0;
  for (uint32_t i = 0; i < t->count; i++)
    left += t->candidates[i].is_finalist = t->candidates[i].variant && t->candidates[i].median <= limit;
  for (uint32_t round = FIRST_RUNS;
       left > 1 && round < MAX_RUNS && (round < MIN_RUNS || total < ENOUGH_MS) && !is_over(t) && !is_stopped(t->k->jit);
       round++) {
    for (uint32_t i = 0; i < t->count; i++) {
      Candidate *c = &t->candidates[i];
      if (!c->is_finalist) continue;
      if (time_once(t, c) != TILE_OK) drop(c), c->is_finalist = false, left--;
      else summarize(c);
    }
    if ((best = fastest(t)) < 0) return;
    const Candidate *b = &t->candidates[best];
    total += b->times[b->runs - 1];
    for (uint32_t i = 0; round >= MIN_RUNS && i < t->count; i++)
      if (t->candidates[i].is_finalist && (int)i != best && t->candidates[i].low > b->high)
        t->candidates[i].is_finalist = false, left--;
  }
}

// The message of a candidate's error, without warnings that come before the error.
static const char *reason(const tile_error *e) {
  const char *text = tile_error_message(e), *at = strstr(text, ": error: ");
  while (at && at > text && at[-1] != '\n') at--;
  return at ? at : text;
}

static tile_status choose(Tuning *t, tile_error **error) {
  for (uint32_t i = 0; i < t->count; i++)
    if (t->candidates[i].error)
      jit_event(t->k->jit, TILE_EVENT_TUNE_SKIP, t->k->name, reason(t->candidates[i].error), 0);
  int best = fastest(t);
  for (uint32_t i = t->count; i-- > 0;)
    if (is_tied(t, i, best)) t->chosen = (int)i;
  if (best >= 0) return TILE_OK;
  const char *why = "all were pruned";
  tile_status status = TILE_ERROR_PROGRAM;
  for (uint32_t i = t->count; i-- > 0;) {
    if (t->candidates[i].error) why = reason(t->candidates[i].error);
    if (tile_error_status(t->candidates[i].error) == TILE_ERROR_NO_MEMORY) status = TILE_ERROR_NO_MEMORY;
  }
  return error_set(error, status, "%s: none of the %u configurations runs; the first says: %s", t->k->name, t->count,
                   why);
}

// ---- the whole ----

typedef struct { const Tuning *t; tile_tuning *out; } Report;

static tile_status report(void *user, Arena *a, tile_error **error) {
  (void)error;
  const Tuning *t = ((const Report *)user)->t;
  tile_tuning *out = ((const Report *)user)->out;
  out->candidates = arena_array(a, tile_tune_candidate, t->count + 1);
  for (uint32_t i = 0; i < t->count; i++) {
    const Candidate *c = &t->candidates[i];
    const char *skipped = c->is_pruned ? "pruned"
                          : c->error   ? arena_printf(a, "%s", reason(c->error))
                                       : NULL;
    out->candidates[i] = (tile_tune_candidate){sizeof(tile_tune_candidate),
                                               arena_printf(a, "%s", t->k->config_texts[i]),
                                               skipped,
                                               c->median,
                                               c->low,
                                               c->high,
                                               c->runs,
                                               (int)i == t->chosen,
                                               is_tied(t, i, fastest(t))};
  }
  out->count = t->count;
  return TILE_OK;
}

static tile_status check_sizes(const Request *r, tile_error **error) {
  const tile_jit_kernel *k = r->kernel;
  const CtAutotune *at = k->fn->autotune;
  // Without sizes the arrays cannot be put back, and a kernel that says it needs that is not run for timing.
  if ((!at->reset_to_zero && !at->restore_value) || r->options->arg_bytes) return TILE_OK;
  return error_set(error, TILE_ERROR_USAGE,
                   "%s resets or restores arguments while it is tuned: give their sizes in arg_bytes", k->name);
}

static tile_status prepare_candidates(Tuning *t, Arena *a, tile_error **error) {
  bool *is_pruned = arena_array(a, bool, t->count);
  tile_status status = jit_prune(t->request, is_pruned, error);
  for (uint32_t i = 0; status == TILE_OK && i < t->count; i++) {
    Candidate *c = &t->candidates[i];
    c->is_pruned = is_pruned[i];
    if (!c->is_pruned) jit_pre_hooks(t->request, i, true, a, &c->hooked, &c->error);
  }
  return status;
}

static tile_status tune(void *user, Arena *a, tile_error **error) {
  Tuning *t = user;
  tile_jit_kernel *k = t->k;
  t->candidates = arena_array(a, Candidate, t->count + 1);
  tile_status status = check_sizes(t->request, error);
  if (status == TILE_OK) status = prepare_candidates(t, a, error);
  if (status != TILE_OK) return status;
  if (!strcmp(k->jit->device->kind, "gpu")) RETURN_IF_FAILED(assembler_open(&t->assembler, error));
  compile_all(t);
  if (is_stopped(k->jit)) return error_set(error, TILE_ERROR_CANCELLED, "stopped while tuning %s", k->name);
  pthread_mutex_lock(&k->jit->device->timing);
  t->holds_device = true;
  // After read_arrays nothing may take memory from the arena: its longjmp would skip restoring the arrays.
  if ((status = read_arrays(t->request, &t->arrays, a, error)) == TILE_OK) status = run_all(t, &t->arrays, error);
  const bool ran = t->chosen < 0;
  if (status == TILE_OK && ran) run_finals(t);
  tile_status put = put_back(k, &t->arrays, status == TILE_OK ? error : NULL);
  if (status == TILE_OK) status = put;
  return status == TILE_OK && ran ? choose(t, error) : status;
}

tile_status jit_tune(const Request *r, const char *key, tile_tuning *out, tile_variant **variant, tile_error **error) {
  tile_jit_kernel *k = r->kernel;
  Tuning t = {.k = k,
              .request = r,
              .count = k->fn->autotune->num_configs,
              .chosen = -1,
              .compile_deadline = INFINITY,
              .deadline = INFINITY};
  if (k->jit->tune_seconds > 0)
    t.compile_deadline = clock_ms() + k->jit->tune_seconds * 500,
    t.deadline = t.compile_deadline + k->jit->tune_seconds * 500;
  Arena a;
  arena_init_with(&a, hooks_memory(&k->jit->hooks), NULL);
  tile_status status = scratch_contain(&a, "tuning", tune, &t, error);
  if (t.holds_device) pthread_mutex_unlock(&k->jit->device->timing);
  assembler_close(t.assembler);
  if (!t.candidates) t.count = 0;   // there was no memory for them
  Report to = {&t, out};
  if (out) {
    tile_status reported = scratch_contain(&out->arena, "reporting on tuning", report, &to,
                                           status == TILE_OK ? error : NULL);
    if (status == TILE_OK) status = reported;
  }
  // If the file cannot be written, only the next process loses the result: a launch goes on, and the log says so.
  const Candidate *chosen = status == TILE_OK ? &t.candidates[t.chosen] : NULL;
  tile_error *lost = NULL;
  if (chosen && chosen->runs) jit_keep_result(k, key, (uint32_t)t.chosen, chosen->median, &lost);
  if (lost && k->jit->hooks.log) k->jit->hooks.log(k->jit->hooks.user, TILE_LEVEL_WARNING, tile_error_message(lost));
  if (out) out->lost = lost;
  else tile_error_free(lost);
  for (uint32_t i = 0; i < t.count; i++) {
    if (status == TILE_OK && (int)i == t.chosen) *variant = t.candidates[i].variant;
    else jit_variant_free(t.candidates[i].variant);
    tile_error_free(t.candidates[i].error);
  }
  arena_free(&a);
  return status;
}

// ---- the report ----

size_t tile_tuning_num_candidates(const tile_tuning *t) { return t ? t->count : 0; }
bool tile_tuning_get_candidate(const tile_tuning *t, size_t i, tile_tune_candidate *out) {
  return GIVE_OUT(tile_tune_candidate, out, t && i < t->count ? &t->candidates[i] : NULL);
}
const tile_variant *tile_tuning_variant(const tile_tuning *t) { return t ? t->variant : NULL; }
void tile_tuning_free(tile_tuning *t) {
  if (!t) return;
  tile_error_free(t->lost);
  arena_free(&t->arena);
  free(t);
}
