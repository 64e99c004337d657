// Ops that make or move elements and compute nothing from them.
#include <stdlib.h>
#include <string.h>

#include "ir/interp_int.h"

bool interp_constant(Prog *p, Op *op) {
  const Type *t = op->results[0].type;
  uint32_t bytes = type_elem_bytes(t);
  void *out = interp_result_data(p, op, 0);
  for (uint32_t i = 0, n = interp_value_count(p, t); i < n; i++)
    set_element(out, bytes, i, op_attr(op, ATTR_VALUE)->bits);
  return true;
}

// Sets a scalar result, which is the same for all lanes of a region.
static bool give(Prog *p, Op *op, uint64_t bits) {
  uint32_t bytes = type_elem_bytes(op->results[0].type);
  void *out = interp_result_data(p, op, 0);
  for (uint32_t i = 0; i < p->lanes; i++) set_element(out, bytes, i, bits);
  return true;
}

bool interp_program_id(Prog *p, Op *op) { return give(p, op, p->id[op_int(op, ATTR_AXIS, 0)]); }
bool interp_block_rank(Prog *p, Op *op) { return give(p, op, p->rank); }
bool interp_num_programs(Prog *p, Op *op) { return give(p, op, p->run->launch->grid[op_int(op, ATTR_AXIS, 0)]); }

// A special register has no defined value. This one counts up: differences of clocks are positive.
bool interp_special(Prog *p, Op *op) {
  return give(p, op, op_int(op, ATTR_SREG, 0) == SREG_SMID ? 0 : ++p->run->clock);
}

bool interp_range(Prog *p, Op *op) {
  uint32_t *out = interp_result_data(p, op, 0);
  int64_t start = op_int(op, ATTR_START, 0), n = type_numel(op->results[0].type);
  for (int64_t i = 0; i < n; i++) out[i] = (uint32_t)(start + i);
  return true;
}

// Copies n elements; element i of out is element from[i] of in.
static void pick(void *out, const void *in, uint32_t bytes, const uint32_t *from, size_t n) {
#define PICK(T)                                                                              \
  do {                                                                                       \
    T *o = out;                                                                              \
    const T *s = in;                                                                         \
    for (size_t i = 0; i < n; i++) o[i] = s[from[i]];                                        \
  } while (0)
  switch (bytes) {
    case 1: PICK(uint8_t); break;
    case 2: PICK(uint16_t); break;
    case 4: PICK(uint32_t); break;
    default: PICK(uint64_t); break;
  }
#undef PICK
}

// r[i0, i1, …] = x[Σ i_k · strides[k]], strides in elements of x.
static bool strided(Prog *p, Op *op, const int64_t *strides) {
  const Type *r = op->results[0].type;
  uint32_t bytes = type_elem_bytes(r);
  const char *in = interp_operand_data(p, op, 0);
  char *out = interp_result_data(p, op, 0);
  int64_t n = type_numel(r), inner = r->rank ? r->shape[r->rank - 1] : 1, step = r->rank ? strides[r->rank - 1] : 0;
  uint32_t index[MAX_RANK] = {0};
  uint32_t *from = interp_malloc((size_t)inner * sizeof *from);
  for (int64_t i = 0; i < inner; i++) from[i] = (uint32_t)(i * step);
  for (int64_t at = 0; at < n; at += inner) {
    int64_t base = 0;
    for (int k = 0; k + 1 < r->rank; k++) base += index[k] * strides[k];
    pick(out + at * bytes, in + base * bytes, bytes, from, (size_t)inner);
    for (int k = r->rank - 2; k >= 0 && ++index[k] == r->shape[k]; k--) index[k] = 0;
  }
  free(from);
  return true;
}

bool interp_splat(Prog *p, Op *op) { return strided(p, op, (int64_t[MAX_RANK]){0}); }

bool interp_broadcast(Prog *p, Op *op) {
  const Type *x = operand_type(op, 0);
  int64_t strides[MAX_RANK];
  interp_row_major(x, strides);
  for (uint32_t k = 0; k < x->rank; k++)
    if (x->shape[k] == 1) strides[k] = 0;
  return strided(p, op, strides);
}

bool interp_trans(Prog *p, Op *op) {
  const Type *x = operand_type(op, 0);
  const Attr *order = op_attr(op, ATTR_ORDER);
  int64_t strides[MAX_RANK], permuted[MAX_RANK];
  interp_row_major(x, strides);
  for (uint32_t k = 0; k < x->rank; k++) permuted[k] = strides[order->ints[k]];
  return strided(p, op, permuted);
}

static bool same_elements(Prog *p, Op *op) {
  memcpy(interp_result_data(p, op, 0), interp_operand_data(p, op, 0),
         (size_t)interp_value_count(p, op->results[0].type) * type_elem_bytes(op->results[0].type));
  return true;
}
bool interp_expand_dims(Prog *p, Op *op) { return same_elements(p, op); }
bool interp_reshape(Prog *p, Op *op) { return same_elements(p, op); }
bool interp_convert_layout(Prog *p, Op *op) { return same_elements(p, op); }
bool interp_hint(Prog *p, Op *op) { return same_elements(p, op); }
bool interp_strided(Prog *p, Op *op) { return same_elements(p, op); }

bool interp_join(Prog *p, Op *op) {
  uint32_t bytes = type_elem_bytes(op->results[0].type);
  const void *a = interp_operand_data(p, op, 0), *b = interp_operand_data(p, op, 1);
  void *out = interp_result_data(p, op, 0);
  for (size_t i = 0, n = interp_value_count(p, operand_type(op, 0)); i < n; i++) {
    set_element(out, bytes, 2 * i, element(a, bytes, i));
    set_element(out, bytes, 2 * i + 1, element(b, bytes, i));
  }
  return true;
}

bool interp_split(Prog *p, Op *op) {
  uint32_t bytes = type_elem_bytes(op->results[0].type);
  const void *x = interp_operand_data(p, op, 0);
  void *a = interp_result_data(p, op, 0), *b = interp_result_data(p, op, 1);
  for (size_t i = 0, n = interp_value_count(p, op->results[0].type); i < n; i++) {
    set_element(a, bytes, i, element(x, bytes, 2 * i));
    set_element(b, bytes, i, element(x, bytes, 2 * i + 1));
  }
  return true;
}

bool interp_cat(Prog *p, Op *op) {
  size_t bytes = type_elem_bytes(op->results[0].type), n = (size_t)type_numel(operand_type(op, 0)) * bytes;
  char *out = interp_result_data(p, op, 0);
  memcpy(out, interp_operand_data(p, op, 0), n);
  memcpy(out + n, interp_operand_data(p, op, 1), (size_t)type_numel(operand_type(op, 1)) * bytes);
  return true;
}

bool interp_gather(Prog *p, Op *op) {
  const Type *x = operand_type(op, 0), *it = operand_type(op, 1);
  uint32_t axis = (uint32_t)op_int(op, ATTR_AXIS, 0), bytes = type_elem_bytes(x), index_bytes = type_elem_bytes(it);
  const void *in = interp_operand_data(p, op, 0), *index = interp_operand_data(p, op, 1);
  void *out = interp_result_data(p, op, 0);
  int64_t inner = 1;
  for (uint32_t k = axis + 1; k < x->rank; k++) inner *= x->shape[k];
  for (int64_t i = 0, n = type_numel(it); i < n; i++) {
    int64_t at = num_sext(element(index, index_bytes, (size_t)i), type_elem_bits(it));
    if (at < 0 || at >= x->shape[axis])
      return interp_fail(p, op, "index %lld is outside of an axis of %lld: indices count from 0 to %lld", (long long)at,
                         (long long)x->shape[axis], (long long)x->shape[axis] - 1);
    int64_t from = (i / inner / it->shape[axis] * x->shape[axis] + at) * inner + i % inner;
    set_element(out, bytes, (size_t)i, element(in, bytes, (size_t)from));
  }
  return true;
}

bool interp_histogram(Prog *p, Op *op) {
  const Type *x = operand_type(op, 0), *r = op->results[0].type;
  uint32_t bytes = type_elem_bytes(x), out_bytes = type_elem_bytes(r);
  const void *in = interp_operand_data(p, op, 0);
  const uint8_t *mask = interp_operand_data(p, op, 1);
  void *out = interp_result_data(p, op, 0);
  int64_t bins = type_numel(r);
  memset(out, 0, (size_t)bins * out_bytes);
  for (size_t i = 0, n = (size_t)type_numel(x); i < n; i++) {
    int64_t bin = num_sext(element(in, bytes, i), type_elem_bits(x));
    if ((mask && !mask[i]) || bin < 0 || bin >= bins) continue;
    set_element(out, out_bytes, (size_t)bin, element(out, out_bytes, (size_t)bin) + 1);
  }
  return true;
}
