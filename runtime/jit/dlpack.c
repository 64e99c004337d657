// Arrays of other libraries as arguments: DLPack's tensors, and descriptors from what a caller knows of an array.
#include <string.h>

#include "runtime/compile/compile.h"
#include "runtime/jit/jit_impl.h"

// DLDataTypeCode and bits, one lane.
static const struct { uint8_t code, bits; tile_type type; } types[] = {
    {0, 8, TILE_INT8},  {0, 16, TILE_INT16},   {0, 32, TILE_INT32},  {0, 64, TILE_INT64},
             {1, 8, TILE_UINT8}, {1, 16, TILE_UINT16},  {1, 32, TILE_UINT32}, {1, 64, TILE_UINT64},
             {2, 16, TILE_FP16}, {2, 32, TILE_FP32},    {2, 64, TILE_FP64},   {4, 16, TILE_BF16},
             {6, 8, TILE_INT1},  {10, 8, TILE_FP8E4NV}, {12, 8, TILE_FP8E5}};

static tile_status type_of(const tile_dltensor *t, tile_type *type, tile_error **error) {
  for (uint32_t i = 0; i < countof(types); i++)
    if (t->code == types[i].code && t->bits == types[i].bits && t->lanes == 1) return *type = types[i].type, TILE_OK;
  return error_set(error, TILE_ERROR_USAGE,
                   "there is no kernel type for DLPack's type code %u with %u bits and %u lanes", t->code, t->bits,
                   t->lanes);
}

static bool is_dense(const tile_dltensor *t) {
  int64_t dense = 1;
  for (int32_t i = t->ndim; t->strides && i-- > 0; dense = (int64_t)((uint64_t)dense * (uint64_t)t->shape[i]))
    if (t->shape[i] != 1 && t->strides[i] != dense) return false;
  return true;
}

tile_status tile_arg_from_dlpack(const tile_dltensor *t, tile_arg *arg, size_t *bytes, tile_error **error) {
  tile_type type = TILE_UNTYPED;
  tile_status status = type_of(t, &type, error);
  if (status != TILE_OK) return status;
  *arg = tile_arg_array((uint64_t)(uintptr_t)t->data + t->byte_offset, type);
  size_t size = t->bits / 8;
  for (int32_t i = 0; i < t->ndim; i++)
    if (t->shape[i] < 0 || __builtin_mul_overflow(size, (size_t)t->shape[i], &size))
      return error_set(error, TILE_ERROR_USAGE, "an array of this shape has more bytes than an address counts");
  if (bytes) *bytes = is_dense(t) ? size : 0;
  return TILE_OK;
}

tile_status tile_tensor_init(tile_tensor *out, uint64_t base, tile_type type, uint32_t rank, const int64_t *shape,
                             const int64_t *strides, const int64_t *block, tile_error **error) {
  if (!rank || rank > TILE_MAX_RANK)
    return error_set(error, TILE_ERROR_USAGE, "a descriptor has 1 to %d axes, not %u", TILE_MAX_RANK, rank);
  memset(out, 0, sizeof *out);
  out->base = base;
  out->type = type;
  out->rank = rank;
  int64_t dense = 1;
  for (uint32_t i = rank; i-- > 0;) {
    out->shape[i] = shape[i];
    out->strides[i] = strides ? strides[i] : dense;
    out->block[i] = block ? block[i] : 1;
    if (!strides && __builtin_mul_overflow(dense, shape[i], &dense) && i)
      return error_set(error, TILE_ERROR_USAGE, "the strides of a dense array of this shape do not fit 64 bits");
  }
  return TILE_OK;
}

tile_status tile_tensor_from_dlpack(tile_tensor *out, const tile_dltensor *t, const int64_t *block,
                                    tile_error **error) {
  tile_type type = TILE_UNTYPED;
  tile_status status = type_of(t, &type, error);
  if (status != TILE_OK) return status;
  return tile_tensor_init(out, (uint64_t)(uintptr_t)t->data + t->byte_offset, type, (uint32_t)t->ndim, t->shape,
                          t->strides, block, error);
}
