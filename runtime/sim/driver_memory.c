// The simulated driver: memory, copies, fills, tensor maps.
#include "runtime/sim/driver_state.h"
#include "runtime/sim/tensormap.h"


// ------------------------------------------------------------------------------------------------------- allocation

CUresult sim_cuMemGetInfo(size_t *free_bytes, size_t *total) {
  LOCKED;
  RETURN_IF_NO_CONTEXT(context);
  *free_bytes = context->device->total_mem - context->device->used_mem;
  *total = context->device->total_mem;
  return CUDA_SUCCESS;
}
static CUresult allocate(uint64_t *address, size_t size, AllocKind kind) {
  RETURN_IF_NO_CONTEXT(context);
  RETURN_INVALID_UNLESS(address && size, "an allocation of %zu bytes", size);
  *address = device_alloc(context->device, size, 512, kind);
  if (!*address)
    return driver_fail(CUDA_ERROR_OUT_OF_MEMORY, "no %zu bytes left: %llu of %llu are in use", size,
                       (unsigned long long)context->device->used_mem, (unsigned long long)context->device->total_mem);
  if (kind == ALLOC_DEVICE) undef_track_memory(context->device, *address);
  return CUDA_SUCCESS;
}
CUresult sim_cuMemAlloc(CUdeviceptr *address, size_t size) {
  LOCKED;
  uint64_t a = 0;
  CUresult r = allocate(&a, size, ALLOC_DEVICE);
  if (!r) *address = a;
  return r;
}
CUresult sim_cuMemAllocAsync(CUdeviceptr *address, size_t size, CUstream stream) {
  LOCKED;
  (void)stream;
  return sim_cuMemAlloc(address, size);
}
CUresult sim_cuMemAllocPitch(CUdeviceptr *address, size_t *pitch, size_t width, size_t height, unsigned element) {
  LOCKED;
  (void)element;
  RETURN_INVALID_UNLESS(address && pitch, "a null argument");
  size_t row, size;
  if (__builtin_add_overflow(width, 511, &row) || __builtin_mul_overflow(row / 512 * 512, height, &size))
    return driver_fail(CUDA_ERROR_OUT_OF_MEMORY, "%zu rows of %zu bytes are more than any memory", height, width);
  CUresult r = sim_cuMemAlloc(address, size);
  if (!r) *pitch = row / 512 * 512;
  return r;
}
static CUresult release(uint64_t address, bool host) {
  if (!address) return CUDA_SUCCESS;
  Device *d = NULL;
  Alloc *a = driver_find(address, &d);
  RETURN_INVALID_UNLESS(a && a->base == address && (a->kind == ALLOC_DEVICE || a->kind == ALLOC_HOST) &&
                            (!host || a->kind == ALLOC_HOST),
                        "%#llx was not allocated or is freed already", (unsigned long long)address);
  device_free(d, address);
  return CUDA_SUCCESS;
}
CUresult sim_cuMemFree(CUdeviceptr address) { LOCKED; return release(address, false); }
CUresult sim_cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  LOCKED;
  (void)stream;
  return release(address, false);
}
CUresult sim_cuMemAllocManaged(CUdeviceptr *address, size_t size, unsigned flags) {
  LOCKED;
  (void)flags;
  uint64_t a = 0;
  CUresult r = allocate(&a, size, ALLOC_HOST);
  if (!r) *address = a;
  return r;
}
CUresult sim_cuMemAllocHost(void **address, size_t size) {
  LOCKED;
  uint64_t a = 0;
  CUresult r = allocate(&a, size, ALLOC_HOST);
  if (!r) *address = (void *)(uintptr_t)a;
  return r;
}
CUresult sim_cuMemHostAlloc(void **address, size_t size, unsigned flags) {
  LOCKED;
  (void)flags;
  return sim_cuMemAllocHost(address, size);
}
CUresult sim_cuMemFreeHost(void *address) { LOCKED; return release((uintptr_t)address, true); }
CUresult sim_cuMemHostGetDevicePointer(CUdeviceptr *address, void *host, unsigned flags) {
  LOCKED;
  (void)flags;
  RETURN_INVALID_UNLESS(driver_find((uintptr_t)host, NULL), "%p is no pinned memory", host);
  *address = (uintptr_t)host;
  return CUDA_SUCCESS;
}
CUresult sim_cuMemGetAddressRange(CUdeviceptr *base, size_t *size, CUdeviceptr address) {
  LOCKED;
  Alloc *a = driver_find(address, NULL);
  RETURN_INVALID_UNLESS(a, "%#llx is not allocated", address);
  if (base) *base = a->base;
  if (size) *size = a->size;
  return CUDA_SUCCESS;
}
CUresult sim_cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr address) {
  LOCKED;
  Device *d = NULL;
  Alloc *a = driver_find(address, &d);
  RETURN_INVALID_UNLESS(a, "%#llx is not allocated", address);
  switch (attribute) {
  case CU_POINTER_ATTRIBUTE_CONTEXT: *(CUcontext *)data = &driver_state()->primary[d->ordinal]; break;
  case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    *(unsigned *)data = a->kind == ALLOC_HOST ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    break;
  case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: *(CUdeviceptr *)data = address; break;
  case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    RETURN_INVALID_UNLESS(a->kind == ALLOC_HOST, "%#llx is device memory", address);
    *(void **)data = (void *)(uintptr_t)address;
    break;
  case CU_POINTER_ATTRIBUTE_IS_MANAGED: *(unsigned *)data = 0; break;
  case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *(int *)data = d->ordinal; break;
  case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: *(CUdeviceptr *)data = a->base; break;
  case CU_POINTER_ATTRIBUTE_RANGE_SIZE: *(size_t *)data = a->size; break;
  default: return driver_fail(CUDA_ERROR_NOT_SUPPORTED, "pointer attribute %d", (int)attribute);
  }
  return CUDA_SUCCESS;
}

// -------------------------------------------------------------------------------------------------- copies and fills

static CUresult check_range(uint64_t address, size_t size, const char *what) {
  const Alloc *a = driver_find(address, NULL);
  const unsigned long long at = address;
  RETURN_INVALID_UNLESS(a, "%s of %zu bytes at %#llx: nothing is allocated there", what, size, at);
  RETURN_INVALID_UNLESS(size <= a->size - (address - a->base),
                        "%s of %zu bytes at %#llx: it runs past the end of the allocation of %llu bytes; sizes are in "
                        "bytes",
                        what, size, at, (unsigned long long)a->size);
  return CUDA_SUCCESS;
}

static CUresult copy(CUstream stream, uint64_t to, uint64_t from, size_t size, bool to_device, bool from_device) {
  RETURN_IF_NO_CONTEXT(context);
  if (!size) return CUDA_SUCCESS;
  CUresult r = to_device ? check_range(to, size, "copy to the device") : CUDA_SUCCESS;
  if (!r && from_device) r = check_range(from, size, "copy from the device");
  RETURN_INVALID_UNLESS(to && from, "copy with a null pointer");
  return r ? r : driver_submit(stream, &(StreamWork){.kind = WORK_COPY, .to = to, .from = from, .size = size});
}
static CUresult set(CUstream stream, uint64_t to, uint32_t value, uint32_t element, size_t count) {
  RETURN_IF_NO_CONTEXT(context);
  if (!count) return CUDA_SUCCESS;
  RETURN_INVALID_UNLESS(to % element == 0, "address %#llx is not aligned to %u", (unsigned long long)to, element);
  size_t bytes;
  RETURN_INVALID_UNLESS(!__builtin_mul_overflow(count, element, &bytes), "memset of %zu elements of %u bytes", count,
                        element);
  CUresult r = check_range(to, bytes, "memset");
  return r ? r
           : driver_submit(stream, &(StreamWork){.kind = WORK_SET,
                                                 .to = to,
                                                 .value = value,
                                                 .element = element,
                                                 .pitch = element,
                                                 .size = count});
}
// Sets rows of one element; wider rows are refused.
static CUresult set_rows(CUstream stream, uint64_t to, size_t pitch, uint32_t value, size_t width, size_t height) {
  RETURN_IF_NO_CONTEXT(context);
  if (!width || !height) return CUDA_SUCCESS;
  RETURN_INVALID_UNLESS(width == 1 && pitch >= 4 && pitch % 4 == 0 && to % 4 == 0,
                        "the simulator sets rows of one aligned element, not of %zu at a pitch of %zu", width, pitch);
  size_t bytes;
  RETURN_INVALID_UNLESS(!__builtin_mul_overflow(height - 1, pitch, &bytes) && bytes <= SIZE_MAX - 4,
                        "memset of %zu rows at a pitch of %zu", height, pitch);
  CUresult r = check_range(to, bytes + 4, "memset");
  return r ? r
           : driver_submit(stream, &(StreamWork){.kind = WORK_SET,
                                                 .to = to,
                                                 .value = value,
                                                 .element = 4,
                                                 .pitch = pitch,
                                                 .size = height});
}
static bool known(uint64_t a) { return driver_find(a, NULL) != NULL; }
CUresult sim_cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream s) {
  LOCKED;
  return copy(s, to, from, size, known(to), known(from));
}
CUresult sim_cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t size) {
  LOCKED;
  return sim_cuMemcpyAsync(to, from, size, NULL);
}
CUresult sim_cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t size, CUstream s) {
  LOCKED;
  return copy(s, to, (uintptr_t)from, size, true, false);
}
CUresult sim_cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t size) {
  LOCKED;
  return sim_cuMemcpyHtoDAsync(to, from, size, NULL);
}
CUresult sim_cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t size, CUstream s) {
  LOCKED;
  return copy(s, (uintptr_t)to, from, size, false, true);
}
CUresult sim_cuMemcpyDtoH(void *to, CUdeviceptr from, size_t size) {
  LOCKED;
  return sim_cuMemcpyDtoHAsync(to, from, size, NULL);
}
CUresult sim_cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream s) {
  LOCKED;
  return copy(s, to, from, size, true, true);
}
CUresult sim_cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t size) {
  LOCKED;
  return sim_cuMemcpyDtoDAsync(to, from, size, NULL);
}
CUresult sim_cuMemcpyPeerAsync(CUdeviceptr to, CUcontext tc, CUdeviceptr from, CUcontext fc, size_t size, CUstream s) {
  LOCKED;
  (void)tc; (void)fc;
  return copy(s, to, from, size, true, true);
}
CUresult sim_cuMemcpyPeer(CUdeviceptr to, CUcontext tc, CUdeviceptr from, CUcontext fc, size_t size) {
  LOCKED;
  return sim_cuMemcpyPeerAsync(to, tc, from, fc, size, NULL);
}
CUresult sim_cuMemsetD8Async(CUdeviceptr to, unsigned char v, size_t n, CUstream s) {
  LOCKED;
  return set(s, to, v, 1, n);
}
CUresult sim_cuMemsetD16Async(CUdeviceptr to, unsigned short v, size_t n, CUstream s) {
  LOCKED;
  return set(s, to, v, 2, n);
}
CUresult sim_cuMemsetD32Async(CUdeviceptr to, unsigned v, size_t n, CUstream s) { LOCKED; return set(s, to, v, 4, n); }
CUresult sim_cuMemsetD8(CUdeviceptr to, unsigned char v, size_t n) { LOCKED; return set(NULL, to, v, 1, n); }
CUresult sim_cuMemsetD16(CUdeviceptr to, unsigned short v, size_t n) { LOCKED; return set(NULL, to, v, 2, n); }
CUresult sim_cuMemsetD32(CUdeviceptr to, unsigned v, size_t n) { LOCKED; return set(NULL, to, v, 4, n); }
CUresult sim_cuMemsetD2D32Async(CUdeviceptr to, size_t pitch, unsigned v, size_t width, size_t height, CUstream s) {
  LOCKED;
  return set_rows(s, to, pitch, v, width, height);
}

// ------------------------------------------------------------------------------------------------------ tensor maps

CUresult sim_cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, uint32_t rank, void *base,
                                    const uint64_t *dims, const uint64_t *strides, const uint32_t *box,
                                    const uint32_t *element_strides, CUtensorMapInterleave interleave,
                                    CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                    CUtensorMapFloatOOBfill fill) {
  LOCKED;
  RETURN_INVALID_UNLESS(map && dims && box && element_strides && (strides || rank <= 1), "a null argument");
  RETURN_INVALID_UNLESS((uintptr_t)map % 64 == 0, "the tensor map must be aligned to 64 bytes");
  RETURN_INVALID_UNLESS(rank >= 1 && rank <= TENSORMAP_MAX_RANK, "rank %u: a tensor map has 1 to %d dimensions", rank,
                        TENSORMAP_MAX_RANK);
  RETURN_INVALID_UNLESS((unsigned)type < TMAP_DTYPE_COUNT, "data type %d", (int)type);
  TensorMap m = {.dtype = (TensorMapDtype)type,
                 .rank = rank,
                 .address = (uintptr_t)base,
                 .interleave = (TensorMapInterleave)interleave,
                 .swizzle = (TensorMapSwizzle)swizzle,
                 .l2_promotion = promotion,
                 .fill = (TensorMapFill)fill};
  for (uint32_t i = 0; i < rank; i++) {
    m.dim[i] = dims[i];
    m.stride[i] = i ? strides[i - 1] : tensormap_element_bytes(m.dtype);
    m.box[i] = box[i];
    m.element_stride[i] = element_strides[i];
  }
  const char *wrong = tensormap_check(&m);
  RETURN_INVALID_UNLESS(!wrong, "tensor map: %s", wrong);
  tensormap_pack(&m, map);
  return CUDA_SUCCESS;
}
CUresult sim_cuTensorMapReplaceAddress(CUtensorMap *map, void *base) {
  LOCKED;
  TensorMap m;
  RETURN_INVALID_UNLESS(map && tensormap_unpack(map, &m), "not a tensor map");
  m.address = (uintptr_t)base;
  const char *wrong = tensormap_check(&m);
  RETURN_INVALID_UNLESS(!wrong, "tensor map: %s", wrong);
  tensormap_pack(&m, map);
  return CUDA_SUCCESS;
}
