// Arrays of other libraries as arguments: DLPack's tensors, and descriptors from what a caller knows of an array.
#include <string.h>

#include "runtime/compile/compile.h"
#include "runtime/jit/jit_impl.h"

static tile_status type_of(const tile_dltensor *t, tile_type *type, tile_error **error) {
  for (uint32_t i = 0; i < NUM_DTYPE_KINDS; i++)
    if (t->code == dtype_info[i].dlpack && t->bits == host_elem_bytes((DtypeKind)i) * 8 && t->lanes == 1)
      return *type = (tile_type)i, TILE_OK;
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

#define RETURN_IF_NO_SHAPE(t) if ((t)->ndim) RETURN_IF_NULL((t)->shape, "tensor->shape")

tile_status tile_arg_from_dlpack(const tile_dltensor *t, tile_arg *arg, size_t *bytes, tile_error **error) {
  tile_type type = TILE_UNTYPED;
  RETURN_IF_NULL(t, "tensor");
  RETURN_IF_NULL(arg, "arg");
  RETURN_IF_NO_SHAPE(t);
  RETURN_IF_FAILED(type_of(t, &type, error));
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
  RETURN_IF_NULL(out, "tensor");
  RETURN_IF_NULL(shape, "shape");
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
  RETURN_IF_NULL(out, "tensor");
  RETURN_IF_NULL(t, "from");
  RETURN_IF_NO_SHAPE(t);
  RETURN_IF_FAILED(type_of(t, &type, error));
  return tile_tensor_init(out, (uint64_t)(uintptr_t)t->data + t->byte_offset, type, (uint32_t)t->ndim, t->shape,
                          t->strides, block, error);
}
