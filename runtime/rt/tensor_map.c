// The tensor maps that TMA reads, for a kernel's descriptor parameters and for the maps that the compiler adds.
#include "runtime/rt/device_cuda.h"

#include <stdio.h>

// Signedness matters to reductions only; 64-bit sums exist for unsigned maps only.
static const CUtensorMapDataType map_types[NUM_SCALARS] = {
    [SC_I8] = CU_TENSOR_MAP_DATA_TYPE_UINT8,      [SC_I16] = CU_TENSOR_MAP_DATA_TYPE_UINT16,
    [SC_I32] = CU_TENSOR_MAP_DATA_TYPE_UINT32,    [SC_I64] = CU_TENSOR_MAP_DATA_TYPE_UINT64,
    [SC_F8E4M3] = CU_TENSOR_MAP_DATA_TYPE_UINT8,  [SC_F8E5M2] = CU_TENSOR_MAP_DATA_TYPE_UINT8,
    [SC_F8E4B15] = CU_TENSOR_MAP_DATA_TYPE_UINT8, [SC_F16] = CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
    [SC_BF16] = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, [SC_F32] = CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
    [SC_F64] = CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
};

// The driver lists axes fastest first.
tile_status tensor_map_of_arg(const CudaDevice *d, const tile_kernel *k, const KernelParam *p, const tile_tensor *t,
                              CUtensorMap *map, tile_error **error) {
  uint32_t rank = p->rank, bytes = scalar_bits(p->scalar) / 8, box[MAX_RANK], ones[MAX_RANK];
  uint64_t dims[MAX_RANK], strides[MAX_RANK];
  for (uint32_t i = 0; i < rank; i++) {
    uint32_t axis = rank - 1 - i;
    dims[i] = (uint64_t)t->shape[axis];
    box[i] = (uint32_t)p->box[axis];
    ones[i] = 1;
    if (i && __builtin_mul_overflow((uint64_t)t->strides[axis], bytes, &strides[i - 1]))
      strides[i - 1] = UINT64_MAX;   // the driver refuses it
  }
  CUtensorMapSwizzle swizzle = p->swizzle_bytes ? (CUtensorMapSwizzle)(log2_u32(p->swizzle_bytes) - 4)
                                                : CU_TENSOR_MAP_SWIZZLE_NONE;
  bool is_nan = p->padding == PAD_NAN && scalar_is_float(p->scalar);
  CUtensorMapDataType type = map_types[p->scalar];
  if (!p->is_unsigned && type == CU_TENSOR_MAP_DATA_TYPE_UINT32) type = CU_TENSOR_MAP_DATA_TYPE_INT32;
  if (!p->is_unsigned && type == CU_TENSOR_MAP_DATA_TYPE_UINT64) type = CU_TENSOR_MAP_DATA_TYPE_INT64;
  CUtensorMapFloatOOBfill outside = is_nan ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
                                           : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
  char doing[128];
  snprintf(doing, sizeof doing, "%s: making the tensor map of '%s'", k->name, p->name);
  CALL_OR_RETURN(d,
                 tensor_map_encode(map, type, rank, (void *)(uintptr_t)t->base, dims, strides, box, ones,
                                   CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, outside),
                 doing);
  return TILE_OK;
}

// Replaces the driver's error by what is known to be wrong with a descriptor that the kernel makes of its arguments.
static tile_status explain(const tile_kernel *k, const KernelParam *p, const tile_tensor *t, tile_status status,
                           tile_error **error) {
  const char *of = k->params[p->base_param].name;
  uint32_t bytes = scalar_bits(p->scalar) / 8;
  tile_error *why = NULL;
  if (t->base % 16)
    error_set(&why, TILE_ERROR_USAGE,
              "%s: the descriptor made of '%s'%s needs a base aligned to 16 bytes, got 0x%llx; pass such an address, "
              "or load by plain pointers",
              k->name, of, p->made_at, (unsigned long long)t->base);
  for (uint32_t i = 0; !why && i + 1 < p->rank; i++)
    if (!is_map_stride(t->strides[i], bytes))
      error_set(&why, TILE_ERROR_USAGE,
                "%s: the descriptor made of '%s'%s needs strides that are positive multiples of 16 bytes, axis %u has "
                "%lld elements of %u bytes; pad its rows, or load by plain pointers",
                k->name, of, p->made_at, i, (long long)t->strides[i], bytes);
  if (!why) return status;
  if (error) tile_error_free(*error), *error = NULL;
  return error_pass_on(error, why);
}

static tile_tensor automatic_tensor(const KernelParam *p, const tile_arg *args) {
  tile_tensor t = {.base = args[p->base_param].value.pointer, .rank = p->rank};
  for (uint32_t i = 0; i < p->rank; i++) {
    t.shape[i] = p->extent_params[i] < 0 ? p->extent_values[i] : args[p->extent_params[i]].value.i;
    t.strides[i] = p->stride_params[i] < 0 ? p->stride_values[i] : args[p->stride_params[i]].value.i;
  }
  return t;
}

// There is no map of an empty tensor, nor of one at a null address, which a kernel that is given it does not read: a
// map of a single zero, or NaN, reads the same. Its strides may be zero, too.
static void show_empty(const CudaDevice *d, const KernelParam *p, tile_tensor *t) {
  bool empty = !t->base;
  for (uint32_t i = 0; i < p->rank; i++) empty |= t->shape[i] <= 0;
  if (!empty) return;
  t->base = p->padding == PAD_NAN ? d->padding + EMPTY_BYTES : d->padding;
  for (uint32_t i = 0; i < p->rank; i++) t->shape[i] = 1, t->strides[i] = EMPTY_BYTES;
}

tile_status tensor_map_of_kernel(const CudaDevice *d, const tile_kernel *k, const KernelParam *p, const tile_arg *args,
                                 CUtensorMap *map, tile_error **error) {
  tile_tensor t = automatic_tensor(p, args);
  show_empty(d, p, &t);
  tile_status status = tensor_map_of_arg(d, k, p, &t, map, error);
  return status == TILE_OK ? TILE_OK : explain(k, p, &t, status, error);
}
