// The JIT: kernels of a source file, their variants, and the way from a launch's arguments to one of them.
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ir/clock.h"
#include "ir/nearest.h"
#include "runtime/compile/compile.h"
#include "runtime/jit/jit_impl.h"

// ---- opening ----

static tile_arg default_of(const CtParam *p) {
  const CtValue *v = p->default_value ? ct_unwrap(p->default_value) : NULL;
  if (!v || p->is_constexpr) return tile_arg_default();
  switch (v->kind) {
  case CT_NONE: return tile_arg_none();
  case CT_BOOL: return tile_arg_bool(v->b);
  case CT_INT: return v->i >= INT64_MIN && v->i <= INT64_MAX ? tile_arg_int((int64_t)v->i) : tile_arg_default();
  case CT_FLOAT: return tile_arg_float(v->f);
  default: return tile_arg_default();
  }
}

static void init_kernel(tile_jit *jit, tile_jit_kernel *k, CtFunction *fn) {
  k->jit = jit;
  k->fn = fn;
  k->name = fn->name;
  k->num_params = fn->num_params;
  k->params = arena_array(&jit->arena, JitParam, fn->num_params + 1);
  arena_init_with(&k->arena, hooks_memory(&jit->hooks), NULL);
  pthread_mutex_init(&k->lock, NULL);
  pthread_cond_init(&k->done, NULL);
  uint32_t num_configs = fn->autotune ? fn->autotune->num_configs : 0;
  k->config_texts = arena_array(&jit->arena, const char *, num_configs + 1);
  for (uint32_t i = 0; i < num_configs; i++)
    k->config_texts[i] = compile_config_text(&jit->ctx, &fn->autotune->configs[i]);
  for (uint32_t i = 0; i < fn->num_params; i++) {
    const CtParam *p = &fn->params[i];
    k->params[i] = (JitParam){.name = p->name,
                              .has_default = p->default_value != NULL,
                              .default_arg = default_of(p),
                              .traits = {.is_constexpr = p->is_constexpr,
                                         .is_annotated = p->type_text != NULL,
                                         .never = p->do_not_specialize,
                                         .never_aligned = p->do_not_specialize_on_alignment,
                                         .is_value_keyed = fn->num_heuristics != 0 ||
                                                           (jit->tune != TILE_TUNE_OFF && jit_is_key(fn, p->name))}};
    if (i < JIT_MAX_PARAMS) k->traits[i] = k->params[i].traits;
    for (uint32_t h = 0; h < fn->num_heuristics; h++)
      if (!strcmp(fn->heuristics[h].name, p->name)) k->params[i].has_default = true;
  }
}

// The number of kernels in the source; 0 after diagnostics.
static uint32_t read_source(tile_jit *jit) {
  const char *arch = jit->device->arch ? jit->device->arch : jit->options.arch ? jit->options.arch : "sm_90a";
  FrontendOptions fo = {.include_paths = jit->options.include_paths.data,
                        .num_include_paths = jit->options.include_paths.count,
                        .target = target_find(arch)};
  jit->frontend = frontend_load_text(&jit->ctx, jit->path, jit->text, jit->size, &fo);
  uint32_t count = jit->frontend ? frontend_num_kernels(jit->frontend) : 0;
  if (jit->frontend && !count) diag_error(&jit->ctx, (Span){0, 0}, "%s defines no kernel", jit->path);
  return count;
}

// Kernels that are not finished are not counted.
static void init_kernels(tile_jit *jit, uint32_t count) {
  jit->kernels = arena_array(&jit->arena, tile_jit_kernel, count);
  for (; jit->num_kernels < count; jit->num_kernels++)
    init_kernel(jit, &jit->kernels[jit->num_kernels], frontend_kernel(jit->frontend, jit->num_kernels));
}

void jit_start_clock(tile_jit *jit) {
  jit->limits = (Limits){&jit->hooks, jit->compile_seconds > 0 ? clock_seconds() + jit->compile_seconds : 0};
  limits_apply(&jit->limits, &jit->ctx);
}

static tile_status load_source(tile_jit *jit, tile_error **error) {
  jmp_buf on_ice;
  int why = setjmp(on_ice);
  if (why) {
    jit->ctx.on_ice = NULL;
    return error_set_left(error, why, &jit->ctx, "loading the source");
  }
  jit->ctx.on_ice = &on_ice;
  jit_start_clock(jit);
  uint32_t count = read_source(jit);
  if (count) init_kernels(jit, count);
  jit->ctx.on_ice = NULL;
  return count ? TILE_OK : error_set_diagnostics(error, TILE_ERROR_PROGRAM, &jit->ctx, false);
}

static tile_status read_options(tile_jit *jit, const tile_jit_options *o, tile_error **error) {
  options_init(&jit->options, &jit->arena);
  jit->policy = o->policy;
  jit->on_event = o->on_event;
  jit->user = o->user;
  jit->tune = o->tune;
  jit->tune_seconds = o->tune_seconds;
  jit->compile_seconds = o->compile_seconds;
  jit->isolate = o->isolate && jit->device->arch;
  if (o->tilec) jit->tilec = arena_printf(&jit->arena, "%s", o->tilec);
  jit->num_option_texts = (uint32_t)o->num_options;
  jit->option_texts = arena_array(&jit->arena, const char *, o->num_options + 1);
  for (size_t i = 0; i < o->num_options; i++) jit->option_texts[i] = arena_printf(&jit->arena, "%s", o->options[i]);
  if (o->tune_file) jit->tune_file = arena_printf(&jit->arena, "%s", o->tune_file);
  bool ok = true;
  for (size_t i = 0; ok && i < o->num_options; i++)
    ok = options_set(&jit->options, arena_printf(&jit->arena, "%s", o->options[i]), NULL, error);
  for (size_t i = 0; ok && i < o->num_include_paths; i++)
    ok = options_set(&jit->options, "include", arena_printf(&jit->arena, "%s", o->include_paths[i]), error);
  if (jit->device->arch) jit->options.arch = jit->device->arch;
  if (ok && jit->options.ir_override)
    return error_set(
        error, TILE_ERROR_USAGE,
        "--ir-override is about one kernel, and a JIT compiles many: give it to tilec or tile_compile_file");
  return ok ? TILE_OK : TILE_ERROR_USAGE;
}

// Options are part of what a cached kernel depends on; those of each launch are in its key.
static const char *identity_with_options(tile_jit *jit, const tile_jit_options *o) {
  Buf b = buf_make(&jit->arena);
  buf_puts(&b, jit_identity(jit));
  for (size_t i = 0; i < o->num_options; i++) buf_printf(&b, "option %s\n", o->options[i]);
  return buf_str(&b);
}

typedef struct { tile_jit *jit; const char *path, *text; size_t size; const tile_jit_options *options; } Opening;

static tile_status open_contained(void *user, Arena *a, tile_error **error) {
  const Opening *from = user;
  tile_jit *jit = from->jit;
  const tile_jit_options *o = from->options;
  jit->path = arena_printf(a, "%s", from->path);
  tile_status status = read_options(jit, o, error);
  if (status == TILE_OK && !from->text) status = file_read(a, from->path, &jit->text, &jit->size, error);
  else if (from->text) jit->text = arena_strndup(a, from->text, from->size), jit->size = from->size;
  if (status == TILE_OK && jit->isolate) status = jit_try_source(jit, error);
  if (status == TILE_OK) status = load_source(jit, error);
  if (status == TILE_OK && jit->tune != TILE_TUNE_OFF && jit->tune_file) status = jit_load_results(jit, error);
  if (status != TILE_OK) return status;
  // The interpreter runs IR, which is not kept on disk.
  jit->cache = o->no_cache || !jit->device->arch ? NULL : cache_open(o->cache_dir);
  jit->identity = identity_with_options(jit, o);
  jit->files = jit_files(a, jit->frontend);
  return TILE_OK;
}

static tile_status open_deep(void *user, tile_error **error) {
  return scratch_contain(&((const Opening *)user)->jit->arena, "opening a JIT", open_contained, user, error);
}

static tile_status open_jit(tile_device *device, const char *path, const char *text, size_t size,
                            const tile_jit_options *given, tile_jit **out, tile_error **error) {
  tile_jit_options o = TILE_JIT_OPTIONS_INIT;
  if (given) memcpy(&o, given, given->struct_size < sizeof o ? given->struct_size : sizeof o);
  *out = NULL;
  if (compile_is_ir_path(path))
    return error_set(error, TILE_ERROR_USAGE,
                     "%s is IR, which has its types already: compile it with tile_compile_file", path);
  tile_jit *jit = calloc(1, sizeof *jit);
  if (!jit) return error_set(error, TILE_ERROR_NO_MEMORY, "out of memory");
  jit->device = device;
  jit->hooks = hooks_copy(o.hooks);
  arena_init_with(&jit->arena, hooks_memory(&jit->hooks), NULL);
  pthread_mutex_init(&jit->lock, NULL);
  context_init_with(&jit->ctx, hooks_memory(&jit->hooks));
  Opening opening = {jit, path, text, size, &o};
  tile_status status = deep_run("opening a JIT", open_deep, &opening, error);
  if (status == TILE_OK) *out = jit;
  else tile_jit_close(jit);
  return status;
}

tile_status tile_jit_open_file(tile_device *device, const char *path, const tile_jit_options *options, tile_jit **jit,
                               tile_error **error) {
  return open_jit(device, path, NULL, 0, options, jit, error);
}
tile_status tile_jit_open_memory(tile_device *device, const char *name, const char *text, size_t size,
                                 const tile_jit_options *options, tile_jit **jit, tile_error **error) {
  return open_jit(device, name, text ? text : "", size, options, jit, error);   // no text is an empty one
}

void tile_jit_close(tile_jit *jit) {
  if (!jit) return;
  for (uint32_t i = 0; i < jit->num_kernels; i++) {
    tile_jit_kernel *k = &jit->kernels[i];
    for (tile_variant *v = k->variants, *next; v; v = next) next = v->next, jit_variant_free(v);
    for (Table *t = atomic_load(&k->table), *older; t; t = older) older = t->older, free(t);
    pthread_mutex_destroy(&k->lock);
    pthread_cond_destroy(&k->done);
    arena_free(&k->arena);
  }
  cache_close(jit->cache);
  pthread_mutex_destroy(&jit->lock);
  context_free(&jit->ctx);
  arena_free(&jit->arena);
  free(jit);
}

// ---- looking at kernels ----

size_t tile_jit_num_kernels(const tile_jit *jit) { return jit->num_kernels; }
const char *tile_jit_kernel_name(const tile_jit *jit, size_t i) {
  return i < jit->num_kernels ? jit->kernels[i].name : NULL;
}

tile_status tile_jit_get_kernel(const tile_jit *jit, const char *name, tile_jit_kernel **kernel, tile_error **error) {
  const char *names[64];
  uint32_t n = 0;
  *kernel = NULL;
  for (uint32_t i = 0; i < jit->num_kernels; i++) {
    if (name && !strcmp(jit->kernels[i].name, name)) *kernel = &jit->kernels[i];
    if (n < countof(names)) names[n++] = jit->kernels[i].name;
  }
  if (!name && jit->num_kernels == 1) *kernel = &jit->kernels[0];
  if (!*kernel && !name)
    return error_set(error, TILE_ERROR_USAGE, "%s has %u kernels (%s, %s, …): name one", jit->path, jit->num_kernels,
                     names[0], names[1]);
  if (*kernel && (*kernel)->num_params > JIT_MAX_PARAMS) {
    *kernel = NULL;
    return error_set(error, TILE_ERROR_USAGE, "%s has more than %d parameters", name ? name : names[0], JIT_MAX_PARAMS);
  }
  if (*kernel) return TILE_OK;
  const char *near = nearest_name(name, names, n);
  return error_set(error, TILE_ERROR_USAGE, "%s has no kernel '%s'%s%s%s", jit->path, name,
                   near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

size_t tile_jit_num_params(const tile_jit_kernel *k) { return k->num_params; }
const char *tile_jit_param_name(const tile_jit_kernel *k, size_t i) {
  return i < k->num_params ? k->params[i].name : NULL;
}
bool tile_jit_param_is_constexpr(const tile_jit_kernel *k, size_t i) {
  return i < k->num_params && k->params[i].traits.is_constexpr;
}
bool tile_jit_is_tuned(const tile_jit_kernel *k) {
  return k->fn->autotune && k->fn->autotune->num_configs > 1 && k->jit->tune != TILE_TUNE_OFF;
}
bool tile_jit_param_has_default(const tile_jit_kernel *k, size_t i) {
  return i < k->num_params && k->params[i].has_default;
}
size_t tile_jit_num_variants(tile_jit_kernel *k) {
  return k->num_variants;
}

tile_kernel *tile_variant_kernel(const tile_variant *v) { return v->kernel; }
size_t tile_variant_num_constexprs(const tile_variant *v) { return v->kernel->num_constexprs; }
const char *tile_variant_constexpr_name(const tile_variant *v, size_t i) {
  return i < v->kernel->num_constexprs ? v->kernel->constexpr_names[i] : NULL;
}
const char *tile_variant_constexpr(const tile_variant *v, const char *name) {
  for (uint32_t i = 0; i < v->kernel->num_constexprs; i++)
    if (!strcmp(v->kernel->constexpr_names[i], name)) return v->kernel->constexpr_values[i];
  return NULL;
}
int64_t tile_variant_constexpr_int(const tile_variant *v, const char *name, int64_t otherwise) {
  const char *s = tile_variant_constexpr(v, name);
  if (!s) return otherwise;
  if (!strcmp(s, "True") || !strcmp(s, "False")) return s[0] == 'T';
  char *end;
  long long value = strtoll(s, &end, 10);
  return end != s && !*end ? value : otherwise;
}

// ---- the table of variants ----

static bool same_entry(const Entry *e, const Key *key) {
  if (e->hash != key->hash || e->num_words != key->num_words ||
      memcmp(e->words, key->words, key->num_words * sizeof *key->words))
    return false;
  for (uint32_t i = 0; i < e->num_texts; i++)
    if (strcmp(e->texts[i], key->texts[i])) return false;
  return true;
}

static tile_variant *find(const tile_jit_kernel *k, const Key *key) {
  Table *t = atomic_load_explicit(&k->table, memory_order_acquire);
  for (uint32_t i = t ? (uint32_t)key->hash & t->mask : 0; t; i = (i + 1) & t->mask) {
    const Entry *e = atomic_load_explicit(&t->slots[i], memory_order_acquire);
    if (!e) return NULL;
    if (same_entry(e, key)) return e->variant;
  }
  return NULL;
}

static void place(Table *t, const Entry *e) {
  uint32_t i = (uint32_t)e->hash & t->mask;
  while (atomic_load_explicit(&t->slots[i], memory_order_relaxed)) i = (i + 1) & t->mask;
  atomic_store_explicit(&t->slots[i], e, memory_order_release);
  t->count++;
}

// The slot of an entry with this key; NULL: there is none.
static _Atomic(const Entry *) *slot_of(Table *t, const Key *key) {
  for (uint32_t i = t ? (uint32_t)key->hash & t->mask : 0; t; i = (i + 1) & t->mask) {
    const Entry *e = atomic_load_explicit(&t->slots[i], memory_order_relaxed);
    if (!e) return NULL;
    if (same_entry(e, key)) return &t->slots[i];
  }
  return NULL;
}

typedef struct { tile_jit_kernel *k; const Key *key; tile_variant *v; } Inserting;

static tile_status insert_contained(void *user, Arena *a, tile_error **error) {
  tile_jit_kernel *k = ((const Inserting *)user)->k;
  const Key *key = ((const Inserting *)user)->key;
  Entry *e = arena_new(a, Entry);
  uint64_t *words = arena_array(a, uint64_t, key->num_words);
  const char **texts = arena_array(a, const char *, key->num_texts + 1);
  memcpy(words, key->words, key->num_words * sizeof *words);
  for (uint32_t i = 0; i < key->num_texts; i++) texts[i] = arena_printf(a, "%s", key->texts[i]);
  *e = (Entry){key->hash, key->num_words, key->num_texts, words, texts, ((const Inserting *)user)->v};
  Table *t = atomic_load_explicit(&k->table, memory_order_relaxed);
  if (!t || (t->count + 1) * 2 > t->mask) {
    uint32_t size = t ? (t->mask + 1) * 2 : 16;
    Table *bigger = calloc(1, sizeof *bigger + size * sizeof *bigger->slots);
    if (!bigger) return error_set(error, TILE_ERROR_NO_MEMORY, "out of memory");
    bigger->mask = size - 1;
    bigger->older = t;
    for (uint32_t i = 0; t && i <= t->mask; i++)
      if (atomic_load_explicit(&t->slots[i], memory_order_relaxed))
        place(bigger, atomic_load_explicit(&t->slots[i], memory_order_relaxed));
    atomic_store_explicit(&k->table, bigger, memory_order_release);
    t = bigger;
  }
  _Atomic(const Entry *) *old = slot_of(t, key);
  if (old) atomic_store_explicit(old, e, memory_order_release);
  else place(t, e);
  return TILE_OK;
}

// With k's lock. An entry that was there is replaced.
static tile_status insert(tile_jit_kernel *k, const Key *key, tile_variant *v, tile_error **error) {
  Inserting i = {k, key, v};
  return scratch_contain(&k->arena, "keeping a variant", insert_contained, &i, error);
}

static bool is_pending(const tile_jit_kernel *k, const Key *key) {
  for (const Pending *p = k->pending; p; p = p->next) {
    const Entry e = {p->key->hash, p->key->num_words, p->key->num_texts, p->key->words, p->key->texts, NULL};
    if (same_entry(&e, key)) return true;
  }
  return false;
}

static tile_status refuse_unprepared(void *user, Arena *a, tile_error **error) {
  const Request *r = user;
  const tile_jit_kernel *k = r->kernel;
  return error_set(
      error, TILE_ERROR_USAGE,
      "%s: the variant (%s) was not prepared, and compiling at launch is forbidden; %zu variants are there", k->name,
      jit_variant_text(a, k, r->args), (size_t)k->num_variants);
}

static tile_status refuse_captured(void *user, Arena *a, tile_error **error) {
  const Request *r = user;
  return error_set(error, TILE_ERROR_USAGE,
                   "%s: the stream is being captured, and the variant (%s) is not there: prepare it before the capture",
                   r->kernel->name, jit_variant_text(a, r->kernel, r->args));
}

// Does the caller give every meta-parameter that a configuration would? Then nothing is left to tune.
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

tile_status jit_may_make(const Request *r, tile_error **error) {
  const tile_jit *jit = r->kernel->jit;
  const DeviceOps *ops = jit->device->ops;
  ScratchWork refuse = jit->policy == TILE_JIT_FORBID                                            ? refuse_unprepared
                       : ops->is_capturing && ops->is_capturing(jit->device, r->options->stream) ? refuse_captured
                                                                                                 : NULL;
  return refuse ? scratch_run(hooks_memory(&jit->hooks), "refusing a launch", refuse, (void *)(uintptr_t)r, error)
                : TILE_OK;
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
  return scratch_run(hooks_memory(&((const Making *)user)->r->kernel->jit->hooks), "making a variant", make_one, user,
                     error);
}

static void remove_pending(tile_jit_kernel *k, const Pending *me) {
  Pending **p = &k->pending;
  while (*p != me) p = &(*p)->next;
  *p = me->next;
}

// With the lock.
static void own(tile_jit_kernel *k, tile_variant *v) {
  v->next = k->variants;
  k->variants = v;
  k->num_variants++;
}

void jit_own_variant(tile_jit_kernel *k, tile_variant *v) {
  pthread_mutex_lock(&k->lock);
  own(k, v);
  pthread_mutex_unlock(&k->lock);
}

static tile_status make_variant(const Request *r, Purpose why, tile_tuning *report, tile_variant **out,
                                tile_error **error) {
  tile_jit_kernel *k = r->kernel;
  Pending me = {r->key, NULL};
  pthread_mutex_lock(&k->lock);
  while (is_pending(k, r->key)) pthread_cond_wait(&k->done, &k->lock);
  *out = why == MAKE_BY_TUNING ? NULL : find(k, r->key);
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
    if (status == TILE_OK) status = insert(k, r->key, m.variant, error);
    own(k, m.variant);
  }
  pthread_cond_broadcast(&k->done);
  pthread_mutex_unlock(&k->lock);
  if (status == TILE_OK) *out = m.variant;
  return status;
}

// ---- launching ----

static void flatten(const tile_arg *a, tile_arg *flat, uint32_t *count) {
  if (a->kind == TILE_ARG_TUPLE) {
    for (uint32_t i = 0; a->value.tuple && i < a->value.tuple->num_items; i++)
      flatten(&a->value.tuple->items[i], flat, count);
  } else if (*count < JIT_MAX_LEAVES) {
    flat[(*count)++] = *a;
  }
}

void jit_flatten(const tile_arg *args, uint32_t n, tile_arg *flat, uint32_t *count) {
  *count = 0;
  for (uint32_t i = 0; i < n; i++) flatten(&args[i], flat, count);
}

void jit_variant_pack(const tile_variant *v, const tile_arg *args, tile_arg *packed) {
  tile_arg flat[JIT_MAX_LEAVES];
  uint32_t count;
  if (v->has_tuples) jit_flatten(args, v->owner->num_params, flat, &count), args = flat;
  for (uint32_t i = 0; i < v->kernel->num_args; i++) {
    packed[i] = args[v->arg_params[i]];
    if (packed[i].kind == TILE_ARG_BOOL) packed[i].kind = TILE_ARG_INT;
  }
}

tile_status jit_variant_launch(const tile_variant *v, const uint32_t grid[3], void *stream, const tile_arg *args,
                               tile_error **error) {
  if (!v->has_tuples) return kernel_launch(v->kernel, grid, stream, args, v->arg_params, error);
  tile_arg flat[JIT_MAX_LEAVES];
  uint32_t count;
  jit_flatten(args, v->owner->num_params, flat, &count);
  while (count < v->num_leaves)
    flat[count++] = tile_arg_default(); // a tuple shorter than the variant's: the kernel has the message
  return kernel_launch(v->kernel, grid, stream, flat, v->arg_params, error);
}

tile_variant *jit_find(const tile_jit_kernel *k, const tile_jit_launch_options *o, const tile_arg *given,
                       size_t num_given, tile_arg *args) {
  Key key;
  return jit_make_key(&key, k, o, given, num_given, args, NULL) == TILE_OK ? find(k, &key) : NULL;
}

static tile_status find_or_make(tile_jit_kernel *k, const tile_jit_launch_options *o, const tile_arg *given,
                                size_t num_given, Purpose why, tile_arg *args, tile_variant **variant,
                                tile_error **error) {
  Key key;
  tile_status status = jit_make_key(&key, k, o, given, num_given, args, error);
  if (status != TILE_OK) return status;
  if ((*variant = find(k, &key))) return TILE_OK;
  const Request request = {k, &key, o, args, NULL};
  return make_variant(&request, why, NULL, variant, error);
}

static inline tile_jit_launch_options launch_options(const tile_jit_launch_options *given) {
  tile_jit_launch_options o = TILE_JIT_LAUNCH_OPTIONS_INIT;
  if (given && given->struct_size == sizeof o) o = *given;
  else if (given) memcpy(&o, given, given->struct_size < sizeof o ? given->struct_size : sizeof o);
  return o;
}

tile_status tile_jit_launch(tile_jit_kernel *k, const tile_jit_launch_options *options, const tile_arg *given,
                            size_t num_args, tile_error **error) {
  tile_jit_launch_options o = launch_options(options);
  tile_arg args[JIT_MAX_PARAMS];
  tile_variant *v;
  tile_status status = find_or_make(k, &o, given, num_args, MAKE_FOR_LAUNCH, args, &v, error);
  if (status != TILE_OK) return status;
  if (v->hook) {
    Key key;
    const Request request = {k, &key, &o, args, NULL};
    if ((status = jit_make_key(&key, k, &o, given, num_args, args, error)) != TILE_OK) return status;
    if ((status = jit_launch_hook(&request, &v, error)) != TILE_OK) return status;
  }
  if (o.grid_fn) o.grid_fn(o.grid_user, v, o.grid);
  return jit_variant_launch(v, o.grid, o.stream, args, error);
}

tile_status tile_jit_tune(tile_jit_kernel *k, const tile_jit_launch_options *options, const tile_arg *given,
                          size_t num_args, tile_tuning **report, tile_error **error) {
  if (report) *report = NULL;
  if (!k->fn->autotune || k->jit->tune == TILE_TUNE_OFF)
    return error_set(error, TILE_ERROR_USAGE,
                     k->fn->autotune ? "%s: the jit was opened with tuning off"
                                     : "%s has no @triton.autotune to choose from",
                     k->name);
  tile_jit_launch_options o = launch_options(options);
  tile_arg args[JIT_MAX_PARAMS];
  Key key;
  tile_status status = jit_make_key(&key, k, &o, given, num_args, args, error);
  if (status != TILE_OK) return status;
  tile_tuning *t = calloc(1, sizeof *t);
  if (!t) return error_set(error, TILE_ERROR_NO_MEMORY, "out of memory");
  arena_init_with(&t->arena, hooks_memory(&k->jit->hooks), NULL);
  const Request request = {k, &key, &o, args, NULL};
  tile_variant *v = NULL;
  status = make_variant(&request, MAKE_BY_TUNING, t, &v, error);
  t->variant = v;
  if (report) *report = t;
  else tile_tuning_free(t);
  return status;
}

tile_status tile_jit_prepare(tile_jit_kernel *k, const tile_jit_launch_options *options, const tile_arg *given,
                             size_t num_args, const tile_variant **variant, tile_error **error) {
  tile_jit_launch_options o = launch_options(options);
  tile_arg args[JIT_MAX_PARAMS];
  tile_variant *v;
  if (variant) *variant = NULL;
  tile_status status = find_or_make(k, &o, given, num_args, MAKE_FOR_PREPARE, args, &v, error);
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
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  Warming w = {.requests = requests, .results = calloc(count ? count : 1, sizeof *w.results), .count = count};
  if (!w.results) return error_set(error, TILE_ERROR_NO_MEMORY, "out of memory");
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

tile_status tile_variant_launch(const tile_variant *v, const uint32_t grid[3], void *stream, const tile_arg *given,
                                size_t num_args, tile_error **error) {
  const tile_jit_kernel *k = v->owner;
  if (num_args > k->num_params)
    return error_set(error, TILE_ERROR_USAGE, "%s takes %u arguments, got %zu", k->name, k->num_params, num_args);
  tile_arg args[JIT_MAX_PARAMS];
  for (uint32_t i = 0; i < k->num_params; i++)
    args[i] = i < num_args && given[i].kind != TILE_ARG_DEFAULT ? given[i] : k->params[i].default_arg;
  return jit_variant_launch(v, grid, stream, args, error);
}
