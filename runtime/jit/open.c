// Opening a JIT: its options, the source and its kernels.
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "ir/nearest.h"
#include "runtime/compile/compile.h"
#include "runtime/jit/jit_impl.h"

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
  k->traits = arena_array(&jit->arena, JitTraits, fn->num_params + 1);
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
    k->traits[i] = k->params[i].traits;
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
  source_map_apply(&jit->ctx, jit->path, jit->source_map, jit->num_source_map);
  jit->frontend = frontend_load_text(&jit->ctx, jit->path, jit->text, jit->size, &fo);
  uint32_t count = jit->frontend ? frontend_num_kernels(jit->frontend) : 0;
  if (jit->frontend && !count) {
    diag_error(&jit->ctx, (Span){0, 0}, "%s defines no kernel", jit->path);
    frontend_explain_no_kernels(jit->frontend);
  }
  return count;
}

// num_kernels counts the finished ones, which tile_jit_close frees.
static void init_kernels(tile_jit *jit, uint32_t count) {
  jit->kernels = arena_array(&jit->arena, tile_jit_kernel, count);
  for (; jit->num_kernels < count; jit->num_kernels++)
    init_kernel(jit, &jit->kernels[jit->num_kernels], frontend_kernel(jit->frontend, jit->num_kernels));
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
  jit->options.caller = CALLER_JIT;
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
  jit->num_source_map = o->num_source_map;
  jit->source_map = arena_array(&jit->arena, tile_source_range, o->num_source_map + 1);
  for (size_t i = 0; i < o->num_source_map; i++) {
    jit->source_map[i] = o->source_map[i];
    jit->source_map[i].file = arena_printf(&jit->arena, "%s", o->source_map[i].file);
  }
  bool ok = true;
  for (size_t i = 0; ok && i < o->num_options; i++)
    ok = options_set(&jit->options, arena_printf(&jit->arena, "%s", o->options[i]), NULL, error);
  for (size_t i = 0; ok && i < o->num_include_paths; i++)
    ok = options_set(&jit->options, "include", arena_printf(&jit->arena, "%s", o->include_paths[i]), error);
  if (jit->device->arch) jit->options.arch = jit->device->arch;
  if (ok && jit->options.ir_override)
    return error_set(
        error, TILE_ERROR_USAGE,
        "`ir_override` is about one kernel, and a JIT compiles many: give it to tilec or tile_compile_file");
  return ok ? TILE_OK : TILE_ERROR_USAGE;
}

// Options are part of what a cached kernel depends on; those of each launch are in its key.
static const char *identity_with_options(tile_jit *jit, const tile_jit_options *o) {
  Buf b = buf_make(&jit->arena);
  buf_puts(&b, jit_identity(jit));
  for (size_t i = 0; i < o->num_options; i++) buf_printf(&b, "option %s\n", o->options[i]);
  for (size_t i = 0; i < jit->num_source_map; i++)
    buf_printf(&b, "lines %u %u %s\n", jit->source_map[i].first_line, jit->source_map[i].file_line,
               jit->source_map[i].file);
  return buf_str(&b);
}

typedef struct { tile_jit *jit; const char *path, *text; size_t size; const tile_jit_options *options; } Opening;

static tile_status open_contained(void *user, Arena *a, tile_error **error) {
  const Opening *from = user;
  tile_jit *jit = from->jit;
  const tile_jit_options *o = from->options;
  jit->path = arena_printf(a, "%s", from->path);
  tile_status status = read_options(jit, o, error);
  if (status == TILE_OK && !from->text) status = file_read_source(a, from->path, &jit->text, &jit->size, error);
  else if (from->text) jit->text = arena_strndup(a, from->text, from->size), jit->size = from->size;
  if (status == TILE_OK && jit->isolate) status = jit_try_source(jit, error);
  if (status == TILE_OK) status = load_source(jit, error);
  if (status == TILE_OK && jit->tune != TILE_TUNE_OFF && jit->tune_file) status = jit_load_results(jit, error);
  if (status != TILE_OK) return status;
  // The interpreter runs IR, which the cache does not hold.
  if (!o->no_cache) RETURN_IF_FAILED(cache_check_environment(error));
  jit->cache = o->no_cache || !jit->device->arch ? NULL : cache_open(o->cache_dir);
  jit->identity = identity_with_options(jit, o);
  jit->files = jit_files(a, jit->frontend);
  jit->sources = jit->ctx.files;
  jit->num_sources = jit->ctx.num_files;
  return TILE_OK;
}

static tile_status open_deep(void *user, tile_error **error) {
  return scratch_contain(&((const Opening *)user)->jit->arena, "opening a JIT", open_contained, user, error);
}

static tile_status check_options(const tile_jit_options *o, tile_error **error) {
  RETURN_IF_FAILED(given_texts(o->options, o->num_options, "options", error));
  RETURN_IF_FAILED(given_texts(o->include_paths, o->num_include_paths, "include_paths", error));
  RETURN_IF_FAILED(given_seconds(o->compile_seconds, "compile_seconds", error));
  RETURN_IF_FAILED(given_seconds(o->tune_seconds, "tune_seconds", error));
  if ((unsigned)o->tune > TILE_TUNE_ON || (unsigned)o->policy > TILE_JIT_FORBID)
    return error_set(error, TILE_ERROR_USAGE, "tile_jit_options: tune is %d and policy %d; there are 0, 1 and 2",
                     (int)o->tune, (int)o->policy);
  return TILE_OK;
}

static tile_status open_jit(tile_device *device, const char *path, const char *text, size_t size,
                            const tile_jit_options *given, tile_jit **out, tile_error **error) {
  tile_jit_options o = TILE_JIT_OPTIONS_INIT;
  tile_hooks hooks;
  *out = NULL;
  RETURN_IF_FAILED(TAKE_GIVEN(tile_jit_options, &o, given, error));
  RETURN_IF_FAILED(hooks_take(&hooks, o.hooks, error));
  RETURN_IF_FAILED(check_options(&o, error));
  if (text && !*path) return error_set(error, TILE_ERROR_USAGE, "`name` is empty: messages need one");
  if (!text) o.num_source_map = 0;
  RETURN_IF_FAILED(source_map_check(o.source_map, o.num_source_map, error));
  if (compile_is_ir_path(path))
    return error_set(error, TILE_ERROR_USAGE,
                     "%s is IR, which has its types already: compile it with tile_compile_file", path);
  tile_jit *jit = calloc(1, sizeof *jit);
  if (!jit) return error_no_memory(error);
  jit->device = device;
  jit->hooks = hooks;
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
  RETURN_IF_NULL(device, "device");
  RETURN_IF_NULL(path, "path");
  RETURN_IF_NULL(jit, "jit");
  return open_jit(device, path, NULL, 0, options, jit, error);
}
tile_status tile_jit_open_memory(tile_device *device, const char *name, const char *text, size_t size,
                                 const tile_jit_options *options, tile_jit **jit, tile_error **error) {
  RETURN_IF_NULL(device, "device");
  RETURN_IF_NULL(name, "name");
  if (size) RETURN_IF_NULL(text, "text");
  RETURN_IF_NULL(jit, "jit");
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

size_t tile_jit_num_kernels(const tile_jit *jit) { return jit ? jit->num_kernels : 0; }
const char *tile_jit_kernel_name(const tile_jit *jit, size_t i) {
  return jit && i < jit->num_kernels ? jit->kernels[i].name : NULL;
}

tile_status tile_jit_get_kernel(const tile_jit *jit, const char *name, tile_jit_kernel **kernel, tile_error **error) {
  const char *names[64] = {NULL};
  uint32_t n = 0;
  RETURN_IF_NULL(jit, "jit");
  RETURN_IF_NULL(kernel, "kernel");
  *kernel = NULL;
  for (uint32_t i = 0; i < jit->num_kernels; i++) {
    if (name && !strcmp(jit->kernels[i].name, name)) *kernel = &jit->kernels[i];
    if (n < countof(names)) names[n++] = jit->kernels[i].name;
  }
  if (!name && jit->num_kernels == 1) *kernel = &jit->kernels[0];
  if (!*kernel && !name)
    return error_which_kernel(error, jit->path, names[0], names[1], jit->num_kernels > 2);
  if (*kernel && (*kernel)->num_params > JIT_MAX_PARAMS) {
    *kernel = NULL;
    return error_set(error, TILE_ERROR_USAGE, "%s has more than %d parameters", name ? name : names[0], JIT_MAX_PARAMS);
  }
  if (*kernel) return TILE_OK;
  return error_no_kernel(error, jit->path, name, nearest_name(name, names, n), names, n);
}

size_t tile_jit_num_params(const tile_jit_kernel *k) { return k ? k->num_params : 0; }
const char *tile_jit_param_name(const tile_jit_kernel *k, size_t i) {
  return k && i < k->num_params ? k->params[i].name : NULL;
}
bool tile_jit_param_is_constexpr(const tile_jit_kernel *k, size_t i) {
  return k && i < k->num_params && k->params[i].traits.is_constexpr;
}
bool tile_jit_is_tuned(const tile_jit_kernel *k) {
  return k && k->fn->autotune && k->fn->autotune->num_configs > 1 && k->jit->tune != TILE_TUNE_OFF;
}
bool tile_jit_param_has_default(const tile_jit_kernel *k, size_t i) {
  return k && i < k->num_params && k->params[i].has_default;
}
