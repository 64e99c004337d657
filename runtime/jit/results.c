// What tuning found, kept: a JSON file that can stand beside the source and be used without timing.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "runtime/compile/compile.h"
#include "runtime/jit/jit_impl.h"

// The value of a number matters only if it `is_keyed`.
static void put_arg(Buf *b, const tile_arg *a, bool is_keyed) {
  const tile_tuple *t = a->value.tuple;
  switch (a->kind) {
  case TILE_ARG_POINTER: buf_printf(b, "*%s", dtype_info[a->type].short_name); break;
  case TILE_ARG_TENSOR: buf_printf(b, "desc %s", dtype_info[a->value.tensor->type].short_name); break;
  case TILE_ARG_TEXT: buf_puts(b, a->value.text); break;
  case TILE_ARG_FLOAT: buf_printf(b, is_keyed ? "%.17g" : "_", a->value.f); break;
  case TILE_ARG_INT: case TILE_ARG_BOOL: buf_printf(b, is_keyed ? "%lld" : "_", (long long)a->value.i); break;
  case TILE_ARG_TUPLE:
    buf_printf(b, "%s(", t->type_name ? t->type_name : "");
    for (uint32_t i = 0; i < t->num_items; i++) {
      if (i) buf_puts(b, ", ");
      put_arg(b, &t->items[i], is_keyed);
    }
    buf_puts(b, ")");
    break;
  default: buf_puts(b, "None");
  }
}

// What the choice depends on: values of the key's parameters, types of the arrays, launch options. Numbers that are no
// constexpr and that no key names, and parameters without a value, do not count.
const char *jit_result_key(Arena *a, const Request *r) {
  const tile_jit_kernel *k = r->kernel;
  Buf b = buf_make(a);
  for (uint32_t i = 0; i < k->num_params; i++) {
    const tile_arg *arg = &r->args[i];
    const JitTraits t = k->params[i].traits;
    const bool is_array = arg->kind == TILE_ARG_POINTER || arg->kind == TILE_ARG_TENSOR,
               is_number = arg->kind == TILE_ARG_FLOAT || arg->kind == TILE_ARG_INT || arg->kind == TILE_ARG_BOOL,
               is_keyed = t.is_value_keyed || t.is_constexpr;
    if (arg->kind == TILE_ARG_DEFAULT || arg->kind == TILE_ARG_NONE || (is_number && !is_keyed)) continue;
    if (b.size) buf_puts(&b, ", ");
    if (!is_array) buf_printf(&b, "%s=", k->params[i].name);
    if (arg->kind == TILE_ARG_FLOAT && !t.is_value_keyed)
      buf_printf(&b, "%lld", (long long)arg->value.i);   // of a constexpr, files have the bits
    else put_arg(&b, arg, t.is_value_keyed || is_number);
  }
  const tile_jit_launch_options *o = r->options;
  if (o->num_warps || o->num_stages || o->num_ctas || o->maxnreg)
    buf_printf(&b, ", options %d %d %d %d", o->num_warps, o->num_stages, o->num_ctas, o->maxnreg);
  return buf_str(&b);
}

static TuneResult *find(const tile_jit *jit, const char *kernel, const char *device, const char *key) {
  for (TuneResult *r = jit->results; r; r = r->next)
    if (!strcmp(r->kernel, kernel) && !strcmp(r->key, key) && !strcmp(r->device, device)) return r;
  return NULL;
}

int jit_find_result(tile_jit_kernel *k, const char *key) {
  pthread_mutex_lock(&k->jit->lock);
  const TuneResult *known = find(k->jit, k->name, k->jit->device->name, key);
  int config = -1;
  for (uint32_t i = 0; known && i < k->fn->autotune->num_configs; i++)
    if (!strcmp(k->config_texts[i], known->config)) config = (int)i;
  pthread_mutex_unlock(&k->jit->lock);
  return config;
}

static void add(tile_jit *jit, const char *kernel, const char *device, const char *key, const char *config, double ms) {
  TuneResult *r = find(jit, kernel, device, key);
  const char *kept = arena_printf(&jit->arena, "%s", config);
  if (!r) {
    r = arena_new(&jit->arena, TuneResult);
    r->kernel = arena_printf(&jit->arena, "%s", kernel);
    r->device = arena_printf(&jit->arena, "%s", device);
    r->key = arena_printf(&jit->arena, "%s", key);
    TuneResult **end = &jit->results;
    while (*end) end = &(*end)->next;
    *end = r;
  }
  r->config = kept;
  r->milliseconds = ms;
}

// ---- the file ----

// While the file is read and written, its folder is locked: if several threads or processes add to it at once, none
// undoes what another did. If tune_file is a symbolic link, path is what it leads to, and renaming replaces that file,
// too: it is never half-written.
typedef struct { tile_jit *jit; char *path; int folder; } ResultFile;
enum {
  LOCK_TRIES = 2000   // of a millisecond: its holder needs less than one. If the holder was stopped, go on without it
};

static int lock_folder(char *path) {
  char *slash = strrchr(path, '/');
  if (slash) *slash = 0;
  const int folder = open(!slash ? "." : slash == path ? "/" : path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (slash) *slash = '/';
  for (int i = 0; folder >= 0 && i < LOCK_TRIES && flock(folder, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK; i++)
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  return folder;
}

static tile_status enter_file(ResultFile *f, tile_jit *jit, tile_error **error) {
  char *real = realpath(jit->tune_file, NULL);
  *f = (ResultFile){jit, real ? real : strdup(jit->tune_file), -1};
  if (!f->path) return error_no_memory(error);
  f->folder = lock_folder(f->path);
  return TILE_OK;
}

static void leave_file(const ResultFile *f) {
  if (f->folder >= 0) {
    flock(f->folder, LOCK_UN);   // after close alone, a child that another thread forked meanwhile would hold it
    close(f->folder);
  }
  free(f->path);
}

static tile_status save(void *user, Arena *a, tile_error **error) {
  const ResultFile *f = user;
  Buf b = buf_make(a);
  JsonWriter w = json_writer(&b);
  json_begin_object(&w, false);
  json_key(&w, "tile_tuning");
  json_int(&w, 1);
  json_key(&w, "results");
  json_begin_array(&w, false);
  for (const TuneResult *r = f->jit->results; r; r = r->next) {
    json_begin_object(&w, true);
    const char *const fields[][2] = {{"kernel", r->kernel},
                                     {"device", r->device},
                                     {"key", r->key},
                                     {"config", r->config}};
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
  return file_write(a, f->path, buf_str(&b), b.size, error);
}

static bool read_results(tile_jit *jit, const JsonValue *root) {
  const JsonValue *const *list = NULL, *results = json_get(root, "results");
  bool ok = results && results->kind == JSON_ARRAY;
  for (uint32_t i = 0, n = ok ? json_get_items(root, "results", &list) : 0; ok && i < n; i++) {
    const char *kernel = json_get_string(list[i], "kernel", NULL), *device = json_get_string(list[i], "device", NULL);
    const char *key = json_get_string(list[i], "key", NULL), *config = json_get_string(list[i], "config", NULL);
    const JsonValue *ms = json_get(list[i], "milliseconds");
    ok = kernel && device && key && config;
    if (ok) add(jit, kernel, device, key, config, ms && ms->kind == JSON_NUMBER ? ms->f : 0);
  }
  return ok;
}

typedef struct { tile_jit *jit; const char *text; size_t size; Arena *scratch; } Saved;

static tile_status not_json(const Saved *s, size_t where, tile_error **error) {
  size_t line = 1, begin = 0;
  for (size_t i = 0; i < where; i++)
    if (s->text[i] == '\n') line++, begin = i + 1;
  return error_set(error, TILE_ERROR_FILE,
                   "%s:%zu:%zu: here it is not JSON in UTF-8, so it is neither used nor overwritten; correct it, or "
                   "remove it and tune again",
                   s->jit->tune_file, line, where - begin + 1);
}

static tile_status keep_results(void *user, Arena *a, tile_error **error) {
  (void)a;
  const Saved *s = user;
  size_t where;
  const JsonValue *root = json_read(s->scratch, s->text, s->size, &where);
  if (!root) return not_json(s, where, error);
  return read_results(s->jit, root)
             ? TILE_OK
             : error_set(error, TILE_ERROR_FILE, "%s holds no tuning results; `tilec tune` writes such files",
                         s->jit->tune_file);
}

static tile_status load(void *user, Arena *a, tile_error **error) {
  const ResultFile *f = user;
  Saved saved = {.jit = f->jit, .scratch = a};
  tile_status status = file_read(a, f->path, &saved.text, &saved.size, error);
  return status == TILE_OK ? scratch_contain(&f->jit->arena, "reading tuning results", keep_results, &saved, error)
                           : status;
}

static tile_status load_results(ResultFile *f, tile_error **error) {
  return access(f->path, F_OK) ? TILE_OK
                               : jit_scratch(f->jit, "reading tuning results", load, f, error);
}

tile_status jit_load_results(tile_jit *jit, tile_error **error) {
  ResultFile f;
  tile_status status = enter_file(&f, jit, error);
  if (status == TILE_OK) status = load_results(&f, error);
  leave_file(&f);
  return status;
}

// ---- a new result ----

typedef struct { tile_jit_kernel *k; const char *key; uint32_t config; double ms; } Result;

static tile_status keep(void *user, Arena *a, tile_error **error) {
  (void)a, (void)error;
  const Result *r = user;
  add(r->k->jit, r->k->name, r->k->jit->device->name, r->key, r->k->config_texts[r->config], r->ms);
  return TILE_OK;
}

static tile_status keep_in_arena(Result *r, tile_error **error) {
  return scratch_contain(&r->k->jit->arena, "keeping a result of tuning", keep, r, error);
}

// Reads the file first: others may have newer results. A file that cannot be read is left as it is.
static tile_status keep_in_file(Result *r, tile_error **error) {
  tile_jit *jit = r->k->jit;
  ResultFile f;
  tile_status known = enter_file(&f, jit, error);
  if (known == TILE_OK) known = load_results(&f, error);
  tile_status status = keep_in_arena(r, known == TILE_OK ? error : NULL);
  if (known != TILE_OK) status = known;
  if (status == TILE_OK) status = jit_scratch(jit, "writing results of tuning", save, &f, error);
  leave_file(&f);
  return status;
}

tile_status jit_keep_result(tile_jit_kernel *k, const char *key, uint32_t config, double ms, tile_error **error) {
  Result result = {k, key, config, ms};
  pthread_mutex_lock(&k->jit->lock);
  tile_status status = k->jit->tune_file ? keep_in_file(&result, error) : keep_in_arena(&result, error);
  pthread_mutex_unlock(&k->jit->lock);
  return status;
}
