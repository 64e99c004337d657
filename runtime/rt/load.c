// Loading kernels that are compiled already.
#include <stdlib.h>
#include <string.h>

#include "runtime/rt/device.h"

tile_status kernel_start(tile_kernel *k, tile_error **error) {
  tile_status status = k->device->ops->load(k, error);
  k->ptx = NULL;
  k->cubin = NULL;
  k->sources = NULL;
  k->num_sources = 0;
  k->notes = NULL;
  k->num_notes = 0;
  if (status == TILE_OK) launch_plan(k);
  else tile_kernel_free(k);
  return status;
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
  RETURN_IF_NULL(d, "device");
  RETURN_IF_NULL(ptx, "ptx");
  RETURN_IF_NULL(kernel, "kernel");
  *kernel = NULL;
  tile_status status = device_check_compiled(d, error);
  if (status != TILE_OK) return status;
  char *text = malloc(size + 1);   // the driver wants a NUL at its end
  if (!text) return error_no_memory(error);
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
  RETURN_IF_NULL(d, "device");
  RETURN_IF_NULL(cubin, "cubin");
  RETURN_IF_NULL(metadata, "metadata");
  RETURN_IF_NULL(kernel, "kernel");
  *kernel = NULL;
  tile_status status = device_check_compiled(d, error);
  if (status != TILE_OK) return status;
  tile_error *why = NULL;
  tile_kernel *k = kernel_from_json(d, metadata, metadata_size, name, &why);
  if (k) k->cubin = cubin, k->cubin_size = size;
  return start_described(k, kernel, why, error);
}
