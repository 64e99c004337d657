// Devices and their memory: the public functions.
#include "runtime/rt/device.h"

#include <stdlib.h>
#include <string.h>

static tile_status find_and_open(const char *spec, tile_device **device, tile_error **error) {
  if (!strcmp(spec, "interp")) {
    if (linked_parts.open_interp) return linked_parts.open_interp(device, error);
    return error_set(error, TILE_ERROR_NO_DEVICE, "libtile-rt has no interpreter; link libtile, which has one");
  }
  bool is_sim = !strncmp(spec, "sim", 3), is_gpu = !strncmp(spec, "gpu", 3);
  if ((is_sim || is_gpu) && !spec[3]) return device_open_cuda(0, is_sim, device, error);
  if ((is_sim || is_gpu) && spec[3] == ':' && spec[4]) {
    char *end;
    long ordinal = strtol(spec + 4, &end, 10);
    if (!*end && ordinal >= 0 && ordinal < 1024) return device_open_cuda((int)ordinal, is_sim, device, error);
  }
  return error_set(error, TILE_ERROR_USAGE,
                   "there is no device '%s'; there are gpu, gpu:N, and on the CPU sim, sim:N, interp", spec);
}

static tile_status open_by_name(const char *spec, tile_device **device, tile_error **error) {
  tile_status status = find_and_open(spec, device, error);
  if (status == TILE_OK) pthread_mutex_init(&(*device)->timing, NULL);
  return status;
}

tile_status tile_device_open(const char *spec, tile_device **device, tile_error **error) {
  RETURN_IF_NULL(device, "device");
  *device = NULL;
  const char *named = getenv("TILE_DEVICE");
  const bool by_variable = !spec && named && *named;
  if (spec || by_variable) {
    tile_error *why = NULL;
    const tile_status status = open_by_name(by_variable ? named : spec, device, &why);
    if (status == TILE_ERROR_USAGE && by_variable) {
      error_set(error, status, "TILE_DEVICE: %s", tile_error_message(why));
      tile_error_free(why);
      return status;
    }
    return status == TILE_OK ? status : error_pass_on(error, why);
  }
  static const char *const order[] = {"gpu", "sim"};
  tile_error *why = NULL;   // there is no gpu
  for (uint32_t i = 0; i < countof(order); i++) {
    tile_error *other = NULL;
    const tile_status status = open_by_name(order[i], device, i ? &other : &why);
    if (status == TILE_OK || (i && status == TILE_ERROR_USAGE)) {   // the simulator refuses a variable
      tile_error_free(why);
      return status == TILE_OK ? status : error_pass_on(error, other);
    }
    tile_error_free(other);
  }
  if (!linked_parts.open_interp) return error_pass_on(error, why);
  tile_error_free(why);
  return open_by_name("interp", device, error);
}

tile_status tile_device_open_with(const char *spec, const tile_device_options *given, tile_device **device,
                                  tile_error **error) {
  tile_device_options o = TILE_DEVICE_OPTIONS_INIT;
  tile_hooks hooks;
  RETURN_IF_NULL(device, "device");
  *device = NULL;
  RETURN_IF_FAILED(TAKE_GIVEN(tile_device_options, &o, given, error));
  RETURN_IF_FAILED(hooks_take(&hooks, o.hooks, error));
  RETURN_IF_FAILED(tile_device_open(spec, device, error));
  (*device)->hooks = hooks;
  return TILE_OK;
}

const char *tile_device_kind(const tile_device *d) { return d ? d->kind : NULL; }
const char *tile_device_name(const tile_device *d) { return d ? d->name : NULL; }
const char *tile_device_arch(const tile_device *d) { return d ? d->arch : NULL; }
void tile_device_close(tile_device *d) {
  if (!d) return;
  pthread_mutex_destroy(&d->timing);
  d->ops->close(d);
}

// ---- what there is ----

tile_status tile_device_count(const char *kind, size_t *count, tile_error **error) {
  RETURN_IF_NULL(kind, "kind");
  RETURN_IF_NULL(count, "count");
  *count = 0;
  const bool is_sim = !strcmp(kind, "sim");
  if (is_sim || !strcmp(kind, "gpu")) return device_count_cuda(is_sim, count, error);
  if (!strcmp(kind, "interp")) return *count = linked_parts.open_interp != NULL, TILE_OK;
  return error_set(error, TILE_ERROR_USAGE, "there are no devices of the kind '%s'; there are gpu, sim, interp", kind);
}

tile_status tile_device_get_properties(const tile_device *d, tile_device_properties *properties, tile_error **error) {
  RETURN_IF_NULL(d, "device");
  RETURN_IF_NULL(properties, "properties");
  RETURN_IF_FAILED(CHECK_OUT(tile_device_properties, properties, error));
  tile_device_properties all = {.kind = d->kind, .name = d->name, .arch = d->arch};
  if (d->ops->properties) RETURN_IF_FAILED(d->ops->properties(d, &all, error));
  given_fill_out(properties, &all, sizeof all);
  return TILE_OK;
}

#define STRING_(x) #x
#define STRING(x) STRING_(x)
const char *tile_version(void) {
  return STRING(TILE_VERSION_MAJOR) "." STRING(TILE_VERSION_MINOR) "." STRING(TILE_VERSION_PATCH);
}
