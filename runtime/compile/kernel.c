// A compiled program's kernel for a device. Its metadata describe it, as they do for a kernel from PTX or a package.
#include <string.h>

#include "ir/nearest.h"
#include "runtime/compile/compile.h"

Func *program_func(const tile_program *p, const char *name, tile_error **error) {
  Func *f = p->module ? p->module->funcs : NULL;
  if (!f) return error_set(error, TILE_ERROR_USAGE, "the program has no kernel"), NULL;
  if (!name) {
    if (f->next)
      return error_which_kernel(error, "the program", f->name, f->next->name, f->next->next), NULL;
    return f;
  }
  const char *names[64];
  uint32_t n = 0;
  for (; f && strcmp(f->name, name); f = f->next)
    if (n < countof(names)) names[n++] = f->name;
  if (!f) error_no_kernel(error, "the program", name, nearest_name(name, names, n), names, n);
  return f;
}

typedef struct { tile_device *device; const tile_program *program; const char *name; tile_kernel *k; } Description;

static tile_status describe(void *user, Arena *a, tile_error **error) {
  Description *d = user;
  Buf json = buf_make(a);
  metadata_write(&json, d->program);
  d->k = kernel_from_json(d->device, buf_str(&json), json.size, d->name, error);
  return d->k ? TILE_OK : TILE_ERROR_USAGE;
}

tile_kernel *kernel_describe(tile_device *device, const tile_program *program, const char *name, tile_error **error) {
  Func *f = program_func(program, name, error);
  if (!f) return NULL;
  Description d = {device, program, f->name, NULL};
  scratch_run(device ? hooks_memory(&device->hooks) : (ArenaMemory){0}, "describing a kernel", describe, &d, error);
  if (!d.k) return NULL;
  d.k->ir = program->module;
  d.k->func = f;
  d.k->sources = program->ctx.files;
  d.k->num_sources = program->ctx.num_files;
  d.k->notes = program->notes;
  d.k->num_notes = program->num_notes;
  d.k->ptx = program->outputs[log2_u32(TILE_EMIT_PTX)].data;
  d.k->cubin = program->outputs[log2_u32(TILE_EMIT_CUBIN)].data;
  d.k->cubin_size = program->outputs[log2_u32(TILE_EMIT_CUBIN)].size;
  return d.k;
}

tile_status tile_kernel_load(tile_device *d, const tile_program *program, const char *name, tile_kernel **kernel,
                             tile_error **error) {
  RETURN_IF_NULL(d, "device");
  RETURN_IF_NULL(program, "program");
  RETURN_IF_NULL(kernel, "kernel");
  *kernel = NULL;
  tile_error *e = NULL;
  tile_kernel *k = kernel_describe(d, program, name, &e);
  if (!k) return error_pass_on(error, e);
  tile_status status = kernel_start(k, error);
  if (status == TILE_OK) *kernel = k;
  return status;
}
