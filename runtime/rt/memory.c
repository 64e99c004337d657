// Memory of devices: the public functions.
#include "runtime/rt/device.h"

tile_status tile_memory_alloc(tile_device *d, size_t size, uint64_t *address, tile_error **error) {
  RETURN_IF_NULL(d, "device");
  RETURN_IF_NULL(address, "address");
  *address = 0;
  return d->ops->alloc(d, size, address, error);
}
tile_status tile_memory_free(tile_device *d, uint64_t address, tile_error **error) {
  if (!address) return TILE_OK;
  RETURN_IF_NULL(d, "device");
  return d->ops->free(d, address, error);
}

tile_status tile_memory_alloc_host(tile_device *d, size_t size, void **memory, tile_error **error) {
  RETURN_IF_NULL(d, "device");
  RETURN_IF_NULL(memory, "memory");
  *memory = NULL;
  return d->ops->alloc_host(d, size ? size : 1, memory, error);
}
tile_status tile_memory_free_host(tile_device *d, void *memory, tile_error **error) {
  if (!memory) return TILE_OK;
  RETURN_IF_NULL(d, "device");
  return d->ops->free_host(d, memory, error);
}

tile_status tile_memory_info(tile_device *d, uint64_t *free_bytes, uint64_t *total_bytes, tile_error **error) {
  uint64_t info[2] = {0, 0};
  RETURN_IF_NULL(d, "device");
  if (d->ops->memory_info) RETURN_IF_FAILED(d->ops->memory_info(d, info, error));
  if (free_bytes) *free_bytes = info[0];
  if (total_bytes) *total_bytes = info[1];
  return TILE_OK;
}

// ---- copies ----

tile_status tile_memory_upload(tile_device *d, uint64_t to, const void *from, size_t size, tile_error **error) {
  RETURN_IF_NULL(d, "device");
  if (!size) return TILE_OK;
  RETURN_IF_NULL(from, "from");
  return d->ops->upload(d, to, from, size, error);
}
tile_status tile_memory_download(tile_device *d, void *to, uint64_t from, size_t size, tile_error **error) {
  RETURN_IF_NULL(d, "device");
  if (!size) return TILE_OK;
  RETURN_IF_NULL(to, "to");
  return d->ops->download(d, to, from, size, error);
}

// A device that does all work at once has no other copies.
tile_status tile_memory_upload_async(tile_device *d, uint64_t to, const void *from, size_t size, void *stream,
                                     tile_error **error) {
  RETURN_IF_NULL(d, "device");
  if (!size) return TILE_OK;
  RETURN_IF_NULL(from, "from");
  return d->ops->streams ? d->ops->streams->upload(d, to, from, size, stream, error)
                         : d->ops->upload(d, to, from, size, error);
}
tile_status tile_memory_download_async(tile_device *d, void *to, uint64_t from, size_t size, void *stream,
                                       tile_error **error) {
  RETURN_IF_NULL(d, "device");
  if (!size) return TILE_OK;
  RETURN_IF_NULL(to, "to");
  return d->ops->streams ? d->ops->streams->download(d, to, from, size, stream, error)
                         : d->ops->download(d, to, from, size, error);
}

tile_status tile_memory_copy_async(tile_device *d, uint64_t to, uint64_t from, size_t size, void *stream,
                                   tile_error **error) {
  RETURN_IF_NULL(d, "device");
  return size ? d->ops->copy(d, to, from, size, stream, error) : TILE_OK;
}
tile_status tile_memory_copy(tile_device *d, uint64_t to, uint64_t from, size_t size, tile_error **error) {
  RETURN_IF_FAILED(tile_memory_copy_async(d, to, from, size, NULL, error));
  return tile_stream_synchronize(d, NULL, error);
}

static tile_status set(const char *function, tile_device *d, uint64_t to, uint64_t pattern, uint32_t bytes,
                       size_t count, void *stream, tile_error **error) {
  RETURN_IF_NULL_IN(function, d, "device");
  size_t size;
  if (!is_pow2_u64(bytes) || bytes > 8)
    return error_set(error, TILE_ERROR_USAGE, "%s: pattern_bytes is %u; 1, 2, 4 and 8 are possible", function, bytes);
  if (to % bytes || __builtin_mul_overflow(count, bytes, &size))
    return error_set(error, TILE_ERROR_USAGE, "%s: %zu elements of %u bytes at 0x%llx: the address must be a multiple "
                     "of pattern_bytes, and the elements must fit a memory", function, count, bytes,
                     (unsigned long long)to);
  return count ? d->ops->fill(d, to, pattern, bytes, count, stream, error) : TILE_OK;
}
tile_status tile_memory_set_async(tile_device *d, uint64_t to, uint64_t pattern, uint32_t bytes, size_t count,
                                  void *stream, tile_error **error) {
  return set(__func__, d, to, pattern, bytes, count, stream, error);
}
tile_status tile_memory_set(tile_device *d, uint64_t to, uint64_t pattern, uint32_t bytes, size_t count,
                            tile_error **error) {
  RETURN_IF_FAILED(set(__func__, d, to, pattern, bytes, count, NULL, error));
  return tile_stream_synchronize(d, NULL, error);
}
