// The arguments of the command line and their buffers, before the kernel is known.
#include <string.h>

#include "runtime/cli/cli.h"
#include "runtime/cli/run.h"

static tile_status split_name(Run *run, const char *option, const char *text, const char **name, const ArgSpec **spec,
                              tile_error **error) {
  const char *eq = strchr(text, '=');
  if (!eq || eq == text) return error_set(error, TILE_ERROR_USAGE, "%s takes NAME=SPEC, not '%s'", option, text);
  *name = arena_strndup(run->arena, text, (size_t)(eq - text));
  tile_error *e = NULL;
  if ((*spec = run_spec_parse(run->arena, eq + 1, &e))) return TILE_OK;
  error_set(error, TILE_ERROR_USAGE, "%s %s: %s", option, *name, tile_error_message(e));
  tile_error_free(e);
  return TILE_ERROR_USAGE;
}

static RunBuffer *add_buffer(Run *run, const char *name, const ArgSpec *spec) {
  RunBuffer *b = &run->buffers[run->num_buffers++];
  *b = (RunBuffer){.name = name, .spec = spec};
  return b;
}

RunBuffer *run_find_buffer(const Run *run, const char *name) {
  for (uint32_t i = 0; i < run->num_buffers; i++)
    if (!strcmp(run->buffers[i].name, name)) return &run->buffers[i];
  return NULL;
}

const RunArg *run_find_arg(const Run *run, const char *name) {
  for (uint32_t i = 0; i < run->num_args; i++)
    if (!strcmp(run->args[i].name, name)) return &run->args[i];
  return NULL;
}

const RunBuffer *run_buffer_named(const Run *run, const char *name) {
  const RunArg *a = run_find_arg(run, name);
  return a && a->buffer ? a->buffer : run_find_buffer(run, name);
}

tile_status run_no_buffer(const Run *run, const char *option, const char *name, tile_error **error) {
  Buf all = buf_make(run->arena);
  for (uint32_t i = 0; i < run->num_buffers; i++) buf_printf(&all, "%s%s", i ? ", " : "", run->buffers[i].name);
  return error_set(error, TILE_ERROR_USAGE, "--%s: there is no buffer '%s'; %s%s", option, name,
                   all.size ? "there are " : "no argument is one", buf_str(&all));
}

static uint32_t count_args(const ArgSpec *spec) {
  uint32_t n = 1;
  for (uint32_t i = 0; i < spec->num_items; i++) n += count_args(spec->items[i]);
  return n;
}

// Adds an argument and, after a tuple, its items: those of t are t_0, t_1, …
static tile_status add_arg(Run *run, const char *name, const ArgSpec *spec, bool is_item, tile_error **error) {
  if (run_find_arg(run, name)) return error_set(error, TILE_ERROR_USAGE, "--arg %s is given twice", name);
  RunArg *a = &run->args[run->num_args++];
  *a = (RunArg){.name = name, .spec = spec, .is_item = is_item};
  for (uint32_t i = 0; i < spec->num_items; i++)
    RETURN_IF_FAILED(add_arg(run, frontend_item_name(run->arena, name, i), spec->items[i], true, error));
  const ArgSpec *base = spec->kind == ARG_DESC ? spec->base : spec;
  if (base->kind != ARG_BUFFER && base->kind != ARG_FILE) return TILE_OK;
  if (run_find_buffer(run, name))
    return error_set(error, TILE_ERROR_USAGE, "--arg %s: a --buf has the same name", name);
  a->buffer = add_buffer(run, name, base);
  return TILE_OK;
}

static tile_status parse_bufs(Run *run, tile_error **error) {
  const StrList *bufs = &run->options->bufs;
  for (uint32_t i = 0; i < bufs->count; i++) {
    const char *name;
    const ArgSpec *spec;
    RETURN_IF_FAILED(split_name(run, "--buf", bufs->data[i], &name, &spec, error));
    if (spec->kind != ARG_BUFFER && spec->kind != ARG_FILE)
      return error_set(error, TILE_ERROR_USAGE, "--buf %s: '%s' is not a buffer", name, spec->text);
    if (run_find_buffer(run, name)) return error_set(error, TILE_ERROR_USAGE, "--buf %s is given twice", name);
    add_buffer(run, name, spec);
  }
  return TILE_OK;
}

// A value of a sweep replaces the argument of that name.
static tile_status parse_args(Run *run, tile_error **error) {
  const StrList *given = &run->options->args, none = {0}, *swept = run->swept ? run->swept : &none;
  const uint32_t count = given->count + swept->count;
  const char **names = arena_array(run->arena, const char *, count + 1);
  const ArgSpec **specs = arena_array(run->arena, const ArgSpec *, count + 1);
  uint32_t num_args = 0;
  for (uint32_t i = 0; i < count; i++) {
    const bool is_swept = i < swept->count;
    const char *text = is_swept ? swept->data[i] : given->data[i - swept->count];
    RETURN_IF_FAILED(split_name(run, is_swept ? "--sweep" : "--arg", text, &names[i], &specs[i], error));
    num_args += count_args(specs[i]);
  }
  run->args = arena_array(run->arena, RunArg, num_args + 1);
  run->buffers = arena_array(run->arena, RunBuffer, num_args + run->options->bufs.count + 1);
  RETURN_IF_FAILED(parse_bufs(run, error));
  for (uint32_t i = 0; i < count; i++) {
    const RunArg *same = i < swept->count ? NULL : run_find_arg(run, names[i]);
    if (same && same->is_swept) continue;
    const uint32_t at = run->num_args;
    RETURN_IF_FAILED(add_arg(run, names[i], specs[i], false, error));
    run->args[at].is_swept = i < swept->count;
  }
  return TILE_OK;
}

static tile_status read_files(Run *run, tile_error **error) {
  for (uint32_t i = 0; i < run->num_buffers; i++) {
    RunBuffer *b = &run->buffers[i];
    if (b->spec->kind != ARG_FILE) continue;
    RETURN_IF_FAILED(file_uses_add_buffer(&run->uses, run->arena, NULL, b->spec->name, b->name, error));
    const char *bytes;
    size_t size;
    RETURN_IF_FAILED(file_read(run->arena, b->spec->name, &bytes, &size, error));
    const char *why = npy_read(run->arena, bytes, size, &b->initial);
    if (why) return error_set(error, TILE_ERROR_FILE, "cannot use %s: %s", b->spec->name, why);
    if (b->spec->has_dtype) {
      if (host_elem_bytes(b->spec->dtype) != host_elem_bytes(b->initial.dtype))
        return error_set(error, TILE_ERROR_USAGE, "%s holds %s, which cannot be read as %s: the sizes differ",
                         b->spec->name, dtype_info[b->initial.dtype].short_name, dtype_info[b->spec->dtype].short_name);
      b->initial.dtype = b->spec->dtype;
    }
  }
  return TILE_OK;
}

tile_status run_begin(Run *run, const char *command, CompileJob *job, tile_error **error) {
  RETURN_IF_FAILED(cli_input(run->arena, run->options, command, &job->path, &job->text, &job->size, error));
  if (!run->options->grid)
    return error_set(error, TILE_ERROR_USAGE,
                     "`tilec %s` needs --grid, as in --grid 4 or --grid \"cdiv(n,BLOCK)\"", command);
  RETURN_IF_FAILED(parse_args(run, error));
  return read_files(run, error);   // before compiling, which needs their dtypes and shapes
}

tile_status run_fill_buffers(Run *run, tile_error **error) {
  for (uint32_t i = 0; i < run->num_buffers; i++) {
    HostTensor *t = &run->buffers[i].initial;
    if (t->data) continue;
    t->data = arena_try(run->arena, host_bytes(t) + 1);
    if (!t->data)
      return error_set(error, TILE_ERROR_NO_MEMORY, "out of memory: '%s' takes %llu bytes", run->buffers[i].name,
                       (unsigned long long)host_bytes(t));
    host_fill(t, &run->buffers[i].spec->fill);
  }
  return TILE_OK;
}

const RunArg *run_arg_after(const RunArg *a) {
  const RunArg *next = a + 1;
  for (uint32_t i = 0; i < a->spec->num_items; i++) next = run_arg_after(next);
  return next;
}

uint64_t run_arg_address(const RunArg *a) {
  return a->buffer ? a->buffer->address + (uint64_t)a->offset * host_elem_bytes(a->buffer->initial.dtype) : 0;
}

tile_tensor *run_arg_tensor(Arena *arena, const RunArg *a) {
  tile_tensor *t = arena_new(arena, tile_tensor);
  *t = a->tensor;
  t->base = run_arg_address(a);
  return t;
}
