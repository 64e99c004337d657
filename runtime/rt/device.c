// Devices, memory and kernels: the public functions, and what all devices share.
#include "runtime/rt/device.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/rt/error.h"
#include "runtime/rt/metadata.h"

static tile_status find_and_open(const char *spec, tile_device **device, tile_error **error) {
  if (!strcmp(spec, "interp")) {
    if (linked_parts.open_interp) return linked_parts.open_interp(device, error);
    return error_set(error, TILE_ERROR_NO_DEVICE, "libtile-rt has no interpreter; libtile has");
  }
  bool is_sim = !strncmp(spec, "sim", 3), is_gpu = !strncmp(spec, "gpu", 3);
  if ((is_sim || is_gpu) && !spec[3]) return device_open_cuda(0, is_sim, device, error);
  if ((is_sim || is_gpu) && spec[3] == ':' && spec[4]) {
    char *end;
    long ordinal = strtol(spec + 4, &end, 10);
    if (!*end && ordinal >= 0 && ordinal < 1024) return device_open_cuda((int)ordinal, is_sim, device, error);
  }
  return error_set(error, TILE_ERROR_USAGE, "there is no device '%s'; there are gpu, gpu:N, sim, sim:N, interp", spec);
}

static tile_status open_by_name(const char *spec, tile_device **device, tile_error **error) {
  tile_status status = find_and_open(spec, device, error);
  if (status == TILE_OK) pthread_mutex_init(&(*device)->timing, NULL);
  return status;
}

tile_status tile_device_open(const char *spec, tile_device **device, tile_error **error) {
  *device = NULL;
  const char *named = getenv("TILE_DEVICE");
  if (!spec && named && *named) spec = named;
  if (spec) return open_by_name(spec, device, error);
  static const char *const order[] = {"gpu", "sim"};
  tile_error *why = NULL;   // there is no gpu
  for (uint32_t i = 0; i < countof(order); i++) {
    if (open_by_name(order[i], device, i ? NULL : &why) != TILE_OK) continue;
    tile_error_free(why);
    return TILE_OK;
  }
  if (!linked_parts.open_interp) return error_pass_on(error, why);
  tile_error_free(why);
  return open_by_name("interp", device, error);
}

tile_status tile_device_open_with(const char *spec, const tile_device_options *given, tile_device **device,
                                  tile_error **error) {
  tile_device_options o = TILE_DEVICE_OPTIONS_INIT;
  if (given) memcpy(&o, given, given->struct_size < sizeof o ? given->struct_size : sizeof o);
  tile_status status = tile_device_open(spec, device, error);
  if (status == TILE_OK) (*device)->hooks = hooks_copy(o.hooks);
  return status;
}

const char *tile_device_kind(const tile_device *d) { return d->kind; }
const char *tile_device_name(const tile_device *d) { return d->name; }
const char *tile_device_arch(const tile_device *d) { return d->arch; }
void tile_device_close(tile_device *d) {
  if (!d) return;
  pthread_mutex_destroy(&d->timing);
  d->ops->close(d);
}

tile_status tile_memory_alloc(tile_device *d, size_t size, uint64_t *address, tile_error **error) {
  return d->ops->alloc(d, size, address, error);
}
tile_status tile_memory_free(tile_device *d, uint64_t address, tile_error **error) {
  return address ? d->ops->free(d, address, error) : TILE_OK;
}
tile_status tile_memory_upload(tile_device *d, uint64_t to, const void *from, size_t size, tile_error **error) {
  return size ? d->ops->upload(d, to, from, size, error) : TILE_OK;
}
tile_status tile_memory_download(tile_device *d, void *to, uint64_t from, size_t size, tile_error **error) {
  return size ? d->ops->download(d, to, from, size, error) : TILE_OK;
}
tile_status tile_device_synchronize(tile_device *d, tile_error **error) { return d->ops->synchronize(d, error); }

tile_kernel *kernel_new(tile_device *d) {
  tile_kernel *k = calloc(1, sizeof *k);
  if (!k) return NULL;
  arena_init_with(&k->arena, d ? hooks_memory(&d->hooks) : (ArenaMemory){0}, &k->on_empty);
  pthread_mutex_init(&k->scratch_lock, NULL);
  k->device = d;
  return k;
}

tile_status kernel_start(tile_kernel *k, tile_error **error) {
  tile_status status = k->device->ops->load(k, error);
  k->ptx = NULL;
  k->cubin = NULL;
  if (status == TILE_OK) launch_plan(k);
  else tile_kernel_free(k);
  return status;
}

bool device_runs(const tile_device *d, const Target *t) {
  return t->arch_specific ? (int)t->sm == d->sm : (int)t->sm <= d->sm;
}

tile_status device_check_compiled(const tile_device *d, tile_error **error) {
  if (d->arch) return TILE_OK;
  return error_set(error, TILE_ERROR_USAGE, "the interpreter runs IR: a compiled kernel needs a gpu or sim device");
}

static tile_status start_described(tile_kernel *k, tile_kernel **kernel, tile_error *why, tile_error **error) {
  if (!k) return error_pass_on(error, why);
  tile_status status = kernel_start(k, error);
  if (status == TILE_OK) *kernel = k;
  return status;
}

tile_status tile_kernel_load_ptx(tile_device *d, const char *ptx, size_t size, const char *name, tile_kernel **kernel,
                                 tile_error **error) {
  *kernel = NULL;
  tile_status status = device_check_compiled(d, error);
  if (status != TILE_OK) return status;
  char *text = malloc(size + 1);   // the driver wants a NUL at its end
  if (!text) return error_set(error, TILE_ERROR_NO_MEMORY, "out of memory");
  memcpy(text, ptx, size);
  text[size] = 0;
  tile_error *why = NULL;
  tile_kernel *k = kernel_from_ptx(d, text, size, name, &why);
  status = start_described(k, kernel, why, error);
  free(text);
  return status;
}

tile_status tile_kernel_load_cubin(tile_device *d, const void *cubin, size_t size, const char *metadata,
                                   size_t metadata_size, const char *name, tile_kernel **kernel, tile_error **error) {
  *kernel = NULL;
  tile_status status = device_check_compiled(d, error);
  if (status != TILE_OK) return status;
  tile_error *why = NULL;
  tile_kernel *k = kernel_from_json(d, metadata, metadata_size, name, &why);
  if (k) k->cubin = cubin, k->cubin_size = size;
  return start_described(k, kernel, why, error);
}

const char *tile_kernel_constexpr(const tile_kernel *k, const char *name) {
  for (uint32_t i = 0; i < k->num_constexprs; i++)
    if (!strcmp(k->constexpr_names[i], name)) return k->constexpr_values[i];
  return NULL;
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

void kernel_tell_launch(const tile_kernel *k, const uint32_t grid[3], void *stream) {
  const tile_event event = {TILE_EVENT_LAUNCH, k->name, "", 0, grid, stream};
  k->device->hooks.event(k->device->hooks.user, &event);
}

tile_status tile_kernel_check(const tile_kernel *k, const tile_launch_options *given, const tile_arg *args,
                              size_t num_args, tile_error **error) {
  tile_launch_options o = TILE_LAUNCH_OPTIONS_INIT;
  if (given) memcpy(&o, given, given->struct_size < sizeof o ? given->struct_size : sizeof o);
  tile_arg flat[UINT8_MAX];
  tile_status status = launch_check_grid(k, o.grid, error);
  if (status == TILE_OK && launch_has_tuples(args, num_args))
    status = launch_flatten_kernel(k, args, num_args, flat, error), args = flat, num_args = k->num_args;
  if (status == TILE_OK) status = launch_check_args(k, args, num_args, error);
  for (uint32_t i = 0; status == TILE_OK && i < k->num_args; i++) {
    uint64_t address = args[i].kind == TILE_ARG_POINTER  ? args[i].value.pointer
                       : args[i].kind == TILE_ARG_TENSOR ? args[i].value.tensor->base
                                                         : 0;
    char why[160];
    if (!address || k->device->ops->is_own(k->device, address, why, sizeof why)) continue;
    status = error_set(error, TILE_ERROR_USAGE, "%s: argument %u '%s' (%s) is 0x%llx, which %s", k->name, i,
                       k->params[i].name, k->params[i].spelling, (unsigned long long)address, why);
  }
  return status;
}

tile_status tile_kernel_reserve(tile_kernel *k, const uint32_t grid[3], tile_error **error) {
  tile_status status = launch_check_grid(k, grid, error);
  return status == TILE_OK && k->scratch_bytes && k->device->ops->reserve ? k->device->ops->reserve(k, grid, error)
                                                                          : status;
}

tile_status tile_kernel_launch(tile_kernel *k, const tile_launch_options *given, const tile_arg *args, size_t num_args,
                               tile_error **error) {
  tile_launch_options o = TILE_LAUNCH_OPTIONS_INIT;
  if (given && given->struct_size == sizeof o) o = *given;
  else if (given) memcpy(&o, given, given->struct_size < sizeof o ? given->struct_size : sizeof o);
  if (num_args != k->num_args && !launch_has_tuples(args, num_args)) return launch_check_args(k, args, num_args, error);
  if (num_args != k->num_args) {
    tile_arg flat[UINT8_MAX];
    tile_status status = launch_flatten_kernel(k, args, num_args, flat, error);
    return status == TILE_OK ? kernel_launch(k, o.grid, o.stream, flat, NULL, error) : status;
  }
  return kernel_launch(k, o.grid, o.stream, args, NULL, error);
}

#define STRING_(x) #x
#define STRING(x) STRING_(x)
const char *tile_version(void) {
  return STRING(TILE_VERSION_MAJOR) "." STRING(TILE_VERSION_MINOR) "." STRING(TILE_VERSION_PATCH);
}
