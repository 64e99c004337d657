// Devices, memory and kernels: the public functions, and what all devices share.
#include "runtime/device.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/compile.h"
#include "runtime/error.h"

static tile_status open_by_name(const char *spec, tile_device **device, tile_error **error) {
  if (!strcmp(spec, "interp")) return device_open_interp(device, error);
  if (!strcmp(spec, "sim")) return device_open_cuda(0, true, device, error);
  if (!strcmp(spec, "gpu")) return device_open_cuda(0, false, device, error);
  if (!strncmp(spec, "gpu:", 4) && spec[4]) {
    char *end;
    long ordinal = strtol(spec + 4, &end, 10);
    if (!*end && ordinal >= 0 && ordinal < 1024) return device_open_cuda((int)ordinal, false, device, error);
  }
  return error_set(error, TILE_ERROR_USAGE, "there is no device '%s'; there are gpu, gpu:N, sim, interp", spec);
}

tile_status tile_device_open(const char *spec, tile_device **device, tile_error **error) {
  *device = NULL;
  const char *named = getenv("TILE_DEVICE");
  if (!spec && named && *named) spec = named;
  if (spec) return open_by_name(spec, device, error);
  static const char *const order[] = {"gpu", "sim"};
  for (uint32_t i = 0; i < countof(order); i++)
    if (open_by_name(order[i], device, NULL) == TILE_OK) return TILE_OK;
  return open_by_name("interp", device, error);
}

const char *tile_device_kind(const tile_device *d) { return d->kind; }
const char *tile_device_name(const tile_device *d) { return d->name; }
const char *tile_device_arch(const tile_device *d) { return d->arch; }
void tile_device_close(tile_device *d) {
  if (d) d->ops->close(d);
}

tile_status tile_memory_alloc(tile_device *d, size_t size, uint64_t *address, tile_error **error) { return d->ops->alloc(d, size, address, error); }
tile_status tile_memory_free(tile_device *d, uint64_t address, tile_error **error) { return address ? d->ops->free(d, address, error) : TILE_OK; }
tile_status tile_memory_upload(tile_device *d, uint64_t to, const void *from, size_t size, tile_error **error) {
  return size ? d->ops->upload(d, to, from, size, error) : TILE_OK;
}
tile_status tile_memory_download(tile_device *d, void *to, uint64_t from, size_t size, tile_error **error) {
  return size ? d->ops->download(d, to, from, size, error) : TILE_OK;
}
tile_status tile_device_synchronize(tile_device *d, tile_error **error) { return d->ops->synchronize(d, error); }

static void copy_param(tile_kernel *k, const Func *f, uint32_t i) {
  KernelParam *to = &k->params[i];
  const FuncParam *from = &f->params[i];
  const Type *type = f->body->args[i]->type;
  const char *spelling = arena_printf(&k->arena, "%s", param_spelling(&k->arena, f, i));
  *to = (KernelParam){.name = arena_printf(&k->arena, "%s", from->name), .spelling = spelling, .kind = from->kind,
                      .is_pointer = type->kind == TYPE_PTR, .is_unsigned = spelling[0] == 'u', .divisible = from->divisible > 1 ? from->divisible : 1,
                      .swizzle_bytes = from->swizzle_bytes, .padding = from->padding, .base_param = from->base_param, .bytes = 8};
  if (type->kind == TYPE_SCALAR) {
    to->scalar = type->scalar;
    to->is_float = scalar_is_float(type->scalar);
    to->bytes = type_elem_bytes(type);
  } else if (type->kind == TYPE_DESC) {
    to->scalar = type->elem->scalar;
    to->rank = type->rank;
  }
  memcpy(to->box, from->box, sizeof to->box);
  memcpy(to->extent_params, from->extent_params, sizeof to->extent_params);
  memcpy(to->stride_params, from->stride_params, sizeof to->stride_params);
  memcpy(to->extent_values, from->extent_values, sizeof to->extent_values);
  memcpy(to->stride_values, from->stride_values, sizeof to->stride_values);
}

static Func *find_func(const tile_program *p, const char *name, tile_error **error) {
  Func *f = p->module ? p->module->funcs : NULL;
  if (!f) return error_set(error, TILE_ERROR_USAGE, "the program has no kernel"), NULL;
  if (!name) {
    if (f->next) return error_set(error, TILE_ERROR_USAGE, "the program has several kernels (%s, %s, …): name one", f->name, f->next->name), NULL;
    return f;
  }
  while (f && strcmp(f->name, name)) f = f->next;
  if (!f) error_set(error, TILE_ERROR_USAGE, "the program has no kernel '%s'", name);
  return f;
}

tile_kernel *kernel_new(tile_device *d) {
  tile_kernel *k = calloc(1, sizeof *k);
  if (!k) return NULL;
  arena_init(&k->arena);
  pthread_mutex_init(&k->scratch_lock, NULL);
  k->device = d;
  return k;
}

tile_kernel *kernel_describe(tile_device *d, const tile_program *program, const char *name, tile_error **error) {
  Func *f = find_func(program, name, error);
  if (!f) return NULL;
  tile_kernel *k = kernel_new(d);
  if (!k) return error_set(error, TILE_ERROR_NO_MEMORY, "out of memory"), NULL;
  const Module *m = program->module;
  k->name = arena_printf(&k->arena, "%s", f->name);
  k->num_threads = m->num_warps * WARP_SIZE;
  k->num_ctas = m->num_ctas ? m->num_ctas : 1;
  k->shared_bytes = m->shared_bytes;
  k->scratch_bytes = m->scratch_bytes;
  k->cooperative = m->cooperative;
  k->pdl = m->pdl;
  k->num_params = f->num_params;
  k->params = arena_array(&k->arena, KernelParam, f->num_params ? f->num_params : 1);
  for (uint32_t i = 0; i < f->num_params; i++) {
    copy_param(k, f, i);
    if (f->params[i].kind == PARAM_PLAIN || f->params[i].kind == PARAM_DESC || f->params[i].kind == PARAM_DESC_FIELDS) k->num_args = i + 1;
  }
  k->num_constexprs = f->num_constexprs;
  k->constexpr_names = arena_array(&k->arena, const char *, f->num_constexprs + 1);
  k->constexpr_values = arena_array(&k->arena, const char *, f->num_constexprs + 1);
  for (uint32_t i = 0; i < f->num_constexprs; i++) {
    k->constexpr_names[i] = arena_printf(&k->arena, "%s", f->constexpr_names[i]);
    k->constexpr_values[i] = arena_printf(&k->arena, "%s", f->constexpr_values[i]);
  }
  k->ir = program->module;
  k->func = f;
  k->target = program->target;
  k->ptx = tile_program_output(program, TILE_EMIT_PTX, NULL);
  return k;
}

tile_status kernel_start(tile_kernel *k, tile_error **error) {
  tile_status status = k->device->ops->load(k, error);
  k->ptx = NULL;
  if (status != TILE_OK) tile_kernel_free(k);
  return status;
}

tile_status tile_kernel_load(tile_device *d, const tile_program *program, const char *name, tile_kernel **kernel, tile_error **error) {
  *kernel = NULL;
  tile_error *e = NULL;
  tile_kernel *k = kernel_describe(d, program, name, &e);
  if (!k) {
    tile_status status = tile_error_status(e);
    if (error && !*error) *error = e;
    else tile_error_free(e);
    return status;
  }
  tile_status status = kernel_start(k, error);
  if (status == TILE_OK) *kernel = k;
  return status;
}

tile_status tile_kernel_load_image(tile_device *d, const void *image, size_t size, tile_kernel **kernel, tile_error **error) {
  *kernel = NULL;
  if (!d->arch) return error_set(error, TILE_ERROR_USAGE, "the interpreter runs IR: a compiled kernel needs a gpu or sim device");
  tile_kernel *k = image_read(d, image, size);
  if (!k) return error_set(error, TILE_ERROR_USAGE, "these bytes are no kernel of this version of libtile (%s): make the header again", tile_version());
  tile_status status = kernel_start(k, error);
  if (status == TILE_OK) *kernel = k;
  return status;
}

const char *tile_kernel_name(const tile_kernel *k) { return k->name; }
size_t tile_kernel_num_args(const tile_kernel *k) { return k->num_args; }
void *tile_kernel_function(const tile_kernel *k) { return k->function; }
uint32_t tile_kernel_num_threads(const tile_kernel *k) { return k->num_threads; }
uint32_t tile_kernel_shared_bytes(const tile_kernel *k) { return k->shared_bytes; }
uint32_t tile_kernel_scratch_bytes(const tile_kernel *k) { return k->scratch_bytes; }

void tile_kernel_free(tile_kernel *k) {
  if (!k) return;
  if (k->device) k->device->ops->unload(k);
  pthread_mutex_destroy(&k->scratch_lock);
  arena_free(&k->arena);
  free(k);
}

tile_status tile_kernel_launch(tile_kernel *k, const tile_launch_options *given, const tile_arg *args, size_t num_args, tile_error **error) {
  tile_launch_options o = TILE_LAUNCH_OPTIONS_INIT;
  if (given) memcpy(&o, given, given->struct_size < sizeof o ? given->struct_size : sizeof o);
  tile_status status = launch_check_grid(k, o.grid, error);
  if (status == TILE_OK) status = launch_check_args(k, args, num_args, error);
  return status == TILE_OK ? k->device->ops->launch(k, &o, args, error) : status;
}
