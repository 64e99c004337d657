// From a launch's arguments to a variant: the one that is there, or one that is made now. Of several threads that need
// the same missing variant, one makes it and the others wait.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/compile/compile.h"
#include "runtime/jit/jit_impl.h"

static bool is_pending(const tile_jit_kernel *k, const Key *key) {
  for (const Pending *p = k->pending; p; p = p->next) {
    const Entry e = {p->key->hash, p->key->num_words, p->key->num_texts, p->key->words, p->key->texts, NULL};
    if (jit_entry_is(&e, key)) return true;
  }
  return false;
}

// Does the caller give every meta-parameter that a configuration would? Then there is nothing to tune.
static bool gives_config(const tile_jit_kernel *k, const tile_arg *args) {
  const CtAutotune *tune = k->fn->autotune;
  if (!tune || !tune->num_configs || !tune->configs[0].kwargs) return false;
  const CtDict *names = tune->configs[0].kwargs;
  for (uint32_t i = 0; i < names->count; i++) {
    if (names->entries[i].key->kind != CT_STR) return false;
    for (uint32_t p = 0; p < k->num_params; p++)
      if (!strcmp(k->params[p].name, names->entries[i].key->str.data) && args[p].kind == TILE_ARG_DEFAULT) return false;
  }
  return true;
}

typedef enum { MAKE_FOR_LAUNCH, MAKE_FOR_PREPARE, MAKE_BY_TUNING } Purpose;
typedef struct { const Request *r; Purpose why; tile_tuning *report; tile_variant *variant; } Making;

static tile_status make_one(void *user, Arena *a, tile_error **error) {
  Making *m = user;
  const Request *r = m->r;
  tile_jit_kernel *k = r->kernel;
  if (m->why == MAKE_FOR_LAUNCH && k->jit->policy == TILE_JIT_WARN)
    jit_event(k->jit, TILE_EVENT_UNPREPARED, k->name, jit_variant_text(a, k, r->args), 0);
  if (m->why == MAKE_BY_TUNING) return jit_tune(r, jit_result_key(a, r), m->report, &m->variant, error);
  if (gives_config(k, r->args)) return jit_compile(r, CONFIG_NONE, &m->variant, error);
  return tile_jit_is_tuned(k) ? jit_tuned(r, &m->variant, error) : jit_first(r, &m->variant, error);
}

static tile_status make_deep(void *user, tile_error **error) {
  return jit_scratch(((const Making *)user)->r->kernel->jit, "making a variant", make_one, user,
                     error);
}

static void remove_pending(tile_jit_kernel *k, const Pending *me) {
  Pending **p = &k->pending;
  while (*p != me) p = &(*p)->next;
  *p = me->next;
}

static tile_status make_variant(const Request *r, Purpose why, tile_tuning *report, tile_variant **out,
                                tile_error **error) {
  tile_jit_kernel *k = r->kernel;
  Pending me = {r->key, NULL};
  pthread_mutex_lock(&k->lock);
  while (is_pending(k, r->key)) pthread_cond_wait(&k->done, &k->lock);
  *out = why == MAKE_BY_TUNING ? NULL : jit_table_find(k, r->key);
  tile_status status = !*out && why == MAKE_FOR_LAUNCH ? jit_may_make(r, error) : TILE_OK;
  if (*out || status != TILE_OK) {
    pthread_mutex_unlock(&k->lock);
    return status;
  }
  me.next = k->pending;
  k->pending = &me;
  pthread_mutex_unlock(&k->lock);
  Making m = {r, why, report, NULL};
  status = deep_run("making a variant", make_deep, &m, error);
  pthread_mutex_lock(&k->lock);
  remove_pending(k, &me);
  if (m.variant) {
    if (status == TILE_OK) status = jit_table_insert(k, r->key, m.variant, error);
    jit_own_locked(k, m.variant);
  }
  pthread_cond_broadcast(&k->done);
  pthread_mutex_unlock(&k->lock);
  if (status == TILE_OK) *out = m.variant;
  return status;
}

// ---- launching ----

tile_variant *jit_find(const tile_jit_kernel *k, const tile_jit_launch_options *o, const tile_arg *given,
                       size_t num_given, LaunchArgs *l) {
  return jit_make_key(l, k, o, given, num_given, NULL) == TILE_OK ? jit_table_find(k, &l->key) : NULL;
}

static tile_status find_or_make(tile_jit_kernel *k, const tile_jit_launch_options *o, const tile_arg *given,
                                size_t num_given, Purpose why, LaunchArgs *l, tile_variant **variant,
                                tile_error **error) {
  tile_status status = jit_make_key(l, k, o, given, num_given, error);
  if (status != TILE_OK) return status;
  if ((*variant = jit_table_find(k, &l->key))) return TILE_OK;
  const Request request = {k, &l->key, o, l->args, NULL};
  return make_variant(&request, why, NULL, variant, error);
}

// Checks what is given, and completes the options.
static inline tile_status take_launch(const char *function, const tile_jit_kernel *k, tile_jit_launch_options *o,
                                      const tile_jit_launch_options *given, const tile_arg *args, size_t num_args,
                                      tile_error **error) {
  *o = (tile_jit_launch_options)TILE_JIT_LAUNCH_OPTIONS_INIT;
  RETURN_IF_NULL_IN(function, k, "kernel");
  if (num_args) RETURN_IF_NULL_IN(function, args, "args");
  RETURN_IF_FAILED(TAKE_GIVEN(tile_jit_launch_options, o, given, error));
  if (o->num_options) RETURN_IF_NULL_IN(function, o->options, "options->options");
  if (!o->arg_bytes) o->num_arg_bytes = 0;
  if (!o->arg_shapes) o->num_arg_shapes = 0;
  return TILE_OK;
}

tile_status tile_jit_launch(tile_jit_kernel *k, const tile_jit_launch_options *options, const tile_arg *given,
                            size_t num_args, tile_error **error) {
  tile_jit_launch_options o;
  RETURN_IF_FAILED(take_launch(__func__, k, &o, options, given, num_args, error));
  LaunchArgs l;
  tile_variant *v;
  tile_status status = find_or_make(k, &o, given, num_args, MAKE_FOR_LAUNCH, &l, &v, error);
  if (status == TILE_OK && v->hook) {
    const Request request = {k, &l.key, &o, l.args, NULL};
    status = jit_launch_hook(&request, &v, error);
  }
  if (status == TILE_OK) {
    if (o.grid_fn) o.grid_fn(o.grid_user, v, o.grid);
    status = jit_variant_launch(v, o.grid, o.stream, l.args, error);
  }
  jit_free_args(&l);
  return status;
}

tile_status tile_jit_tune(tile_jit_kernel *k, const tile_jit_launch_options *options, const tile_arg *given,
                          size_t num_args, tile_tuning **report, tile_error **error) {
  if (report) *report = NULL;
  tile_jit_launch_options o;
  RETURN_IF_FAILED(take_launch(__func__, k, &o, options, given, num_args, error));
  if (!k->fn->autotune || k->jit->tune == TILE_TUNE_OFF)
    return error_set(error, TILE_ERROR_USAGE,
                     k->fn->autotune ? "%s: the JIT was opened with tuning off; open it with tuning on"
                                     : "%s has no @triton.autotune to choose from",
                     k->name);
  LaunchArgs l;
  tile_status status = jit_make_key(&l, k, &o, given, num_args, error);
  tile_tuning *t = status == TILE_OK ? calloc(1, sizeof *t) : NULL;
  if (!t) {
    jit_free_args(&l);
    return status == TILE_OK ? error_no_memory(error) : status;
  }
  arena_init_with(&t->arena, hooks_memory(&k->jit->hooks), NULL);
  const Request request = {k, &l.key, &o, l.args, NULL};
  tile_variant *v = NULL;
  status = make_variant(&request, MAKE_BY_TUNING, t, &v, error);
  t->variant = v;
  if (status == TILE_OK && t->lost) {
    status = tile_error_status(t->lost);
    error_pass_on(error, t->lost);
    t->lost = NULL;
  }
  jit_free_args(&l);
  if (report) *report = t;
  else tile_tuning_free(t);
  return status;
}

tile_status tile_jit_prepare(tile_jit_kernel *k, const tile_jit_launch_options *options, const tile_arg *given,
                             size_t num_args, const tile_variant **variant, tile_error **error) {
  tile_jit_launch_options o;
  if (variant) *variant = NULL;
  RETURN_IF_FAILED(take_launch(__func__, k, &o, options, given, num_args, error));
  LaunchArgs l;
  tile_variant *v;
  tile_status status = find_or_make(k, &o, given, num_args, MAKE_FOR_PREPARE, &l, &v, error);
  jit_free_args(&l);
  if (status != TILE_OK) return status;
  if (variant) *variant = v;
  if (!v->kernel->scratch_bytes) return TILE_OK;
  if (o.grid_fn) o.grid_fn(o.grid_user, v, o.grid);
  return o.grid[0] && o.grid[1] && o.grid[2] ? tile_kernel_reserve(v->kernel, o.grid, error) : TILE_OK;
}

// ---- several at once ----

typedef struct { tile_status status; tile_error *error; } Prepared;
typedef struct {
  const tile_jit_request *requests;
  Prepared *results;
  size_t count;
  atomic_size_t next;
} Warming;

static void *prepare_some(void *user) {
  Warming *w = user;
  for (size_t i; (i = atomic_fetch_add(&w->next, 1)) < w->count;) {
    const tile_jit_request *r = &w->requests[i];
    w->results[i].status = tile_jit_prepare(r->kernel, r->options, r->args, r->num_args, NULL, &w->results[i].error);
  }
  return NULL;
}

tile_status tile_jit_prepare_all(const tile_jit_request *requests, size_t count, unsigned num_threads,
                                 tile_error **error) {
  enum { MAX_THREADS = 64 };
  if (count) RETURN_IF_NULL(requests, "requests");
  for (size_t i = 0; i < count; i++)
    if (!is_zero(requests[i].reserved, sizeof requests[i].reserved))
      return error_set(error, TILE_ERROR_USAGE, "requests[%zu]: its %s", i, GIVEN_RESERVED);
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  Warming w = {.requests = requests, .results = calloc(count ? count : 1, sizeof *w.results), .count = count};
  if (!w.results) return error_no_memory(error);
  size_t wanted = num_threads ? num_threads : cores > 0 ? (size_t)cores : 1, started = 0;
  pthread_t threads[MAX_THREADS];
  while (started + 1 < wanted && started + 1 < count && started < MAX_THREADS &&
         !pthread_create(&threads[started], NULL, prepare_some, &w))
    started++;
  prepare_some(&w);
  while (started) pthread_join(threads[--started], NULL);
  tile_status status = TILE_OK;
  for (size_t i = 0; i < count; i++) {
    const bool is_first = status == TILE_OK && w.results[i].status != TILE_OK;
    if (is_first) status = w.results[i].status;
    if (is_first && error && !*error) *error = w.results[i].error;
    else tile_error_free(w.results[i].error);
  }
  free(w.results);
  return status;
}
