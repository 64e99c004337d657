// Elementwise ops: eval_scalar on every element, and direct loops for the common types.
#include <math.h>
#include <string.h>

#include "ir/interp_int.h"

// Replaces the host's NaN by the GPU's canonical one.
static inline float canonical(float x) { return x == x ? x : num_f32_bits(0x7fffffff); }

#define LOOP(T, expr)                                                                        \
  do {                                                                                       \
    const T *a = in[0], *b = in[1];                                                          \
    T *r = out;                                                                              \
    (void)b;                                                                                 \
    for (size_t i = 0; i < n; i++) r[i] = (T)(expr);                                         \
  } while (0)
#define COMPARE(T, op)                                                                       \
  do {                                                                                       \
    const T *a = in[0], *b = in[1];                                                          \
    uint8_t *r = out;                                                                        \
    for (size_t i = 0; i < n; i++) r[i] = a[i] op b[i];                                      \
  } while (0)

static bool fast_f32(const Op *op, size_t n, const void *const *in, void *out) {
  switch (op->opcode) {
    case OP_ADDF: LOOP(float, canonical(a[i] + b[i])); return true;
    case OP_SUBF: LOOP(float, canonical(a[i] - b[i])); return true;
    case OP_MULF: LOOP(float, canonical(a[i] * b[i])); return true;
    case OP_DIVF: case OP_DIVF_RN: LOOP(float, canonical(a[i] / b[i])); return true;
    case OP_SQRT_RN: LOOP(float, canonical(sqrtf(a[i]))); return true;
    case OP_FMA: {
      const float *c = in[2];
      LOOP(float, canonical(fmaf(a[i], b[i], c[i])));
      return true;
    }
    case OP_CMPF:
      switch (op_int(op, ATTR_PRED, CMP_OEQ)) {
        case CMP_OEQ: COMPARE(float, ==); return true;
        case CMP_UNE: COMPARE(float, !=); return true;
        case CMP_OLT: COMPARE(float, <); return true;
        case CMP_OLE: COMPARE(float, <=); return true;
        case CMP_OGT: COMPARE(float, >); return true;
        case CMP_OGE: COMPARE(float, >=); return true;
        default: return false;
      }
    default: return false;
  }
}

#define FAST_INT(name, U, S)                                                                 \
  static bool name(const Op *op, size_t n, const void *const *in, void *out) {               \
    switch (op->opcode) {                                                                    \
      case OP_ADDI: LOOP(U, a[i] + b[i]); return true;                                       \
      case OP_SUBI: LOOP(U, a[i] - b[i]); return true;                                       \
      case OP_MULI: LOOP(U, a[i] * b[i]); return true;                                       \
      case OP_ANDI: LOOP(U, a[i] & b[i]); return true;                                       \
      case OP_ORI: LOOP(U, a[i] | b[i]); return true;                                        \
      case OP_XORI: LOOP(U, a[i] ^ b[i]); return true;                                       \
      case OP_MINSI: LOOP(S, a[i] < b[i] ? a[i] : b[i]); return true;                        \
      case OP_MAXSI: LOOP(S, a[i] > b[i] ? a[i] : b[i]); return true;                        \
      case OP_CMPI:                                                                          \
        switch (op_int(op, ATTR_PRED, CMP_EQ)) {                                             \
          case CMP_EQ: COMPARE(U, ==); return true;                                          \
          case CMP_NE: COMPARE(U, !=); return true;                                          \
          case CMP_SLT: COMPARE(S, <); return true;                                          \
          case CMP_SLE: COMPARE(S, <=); return true;                                         \
          case CMP_SGT: COMPARE(S, >); return true;                                          \
          case CMP_SGE: COMPARE(S, >=); return true;                                         \
          case CMP_ULT: COMPARE(U, <); return true;                                          \
          case CMP_ULE: COMPARE(U, <=); return true;                                         \
          default: return false;                                                             \
        }                                                                                    \
      default: return false;                                                                 \
    }                                                                                        \
  }
FAST_INT(fast_i32, uint32_t, int32_t)
FAST_INT(fast_i64, uint64_t, int64_t)

static bool fast(const Op *op, const Type *elem, size_t n, const void *const *in, void *out) {
  if (elem->kind == TYPE_PTR) return op->opcode == OP_CMPI && fast_i64(op, n, in, out);
  switch (elem->scalar) {
    case SC_F32: return fast_f32(op, n, in, out);
    case SC_I32: return fast_i32(op, n, in, out);
    case SC_I64: return fast_i64(op, n, in, out);
    case SC_I1:
      if (op->opcode == OP_ANDI) LOOP(uint8_t, a[i] & b[i]);
      else if (op->opcode == OP_ORI) LOOP(uint8_t, a[i] | b[i]);
      else if (op->opcode == OP_XORI) LOOP(uint8_t, a[i] ^ b[i]);
      else return false;
      return true;
    default: return false;
  }
}

static bool fast_addptr(const Op *op, size_t n, const void *const *in, void *out) {
  uint64_t size = type_elem_bytes(type_elem(operand_type(op, 0))->elem), *r = out;
  const uint64_t *base = in[0];
  uint32_t bits = type_elem_bits(operand_type(op, 1));
  if (bits != 32 && bits != 64) return false;
  for (size_t i = 0; i < n; i++)
    r[i] =
        base[i] + (bits == 32 ? (uint64_t)(int64_t)((const int32_t *)in[1])[i] : ((const uint64_t *)in[1])[i]) * size;
  return true;
}

static void select_elements(const Op *op, size_t n, const void *const *in, void *out, bool scalar_condition) {
  uint32_t bytes = type_elem_bytes(op->results[0].type);
  const uint8_t *c = in[0];
  if (scalar_condition) {
    memcpy(out, in[c[0] ? 1 : 2], n * bytes);
    return;
  }
  for (size_t i = 0; i < n; i++) memcpy((char *)out + i * bytes, (const char *)in[c[i] ? 1 : 2] + i * bytes, bytes);
}

bool interp_scalar(Prog *p, Op *op) {
  const Type *types[4], *result = op->results[0].type, *elem = type_elem(result);
  const void *in[4] = {NULL};
  uint32_t bytes[4], num = op->num_operands, out_bytes = type_elem_bytes(result);
  size_t n = interp_value_count(p, result);
  for (uint32_t i = 0; i < num; i++) {
    types[i] = type_elem(operand_type(op, i));
    bytes[i] = type_elem_bytes(types[i]);
    in[i] = interp_operand_data(p, op, i);
  }
  void *out = interp_result_data(p, op, 0);
  if (op->opcode == OP_SELECT) {
    select_elements(op, n, in, out, operand_type(op, 0)->rank == 0 && result->rank);
    return true;
  }
  if (op->opcode == OP_ADDPTR && fast_addptr(op, n, in, out)) return true;
  if (fast(op, types[0], n, in, out)) return true;
  for (size_t i = 0; i < n; i++) {
    uint64_t x[4];
    for (uint32_t k = 0; k < num; k++) x[k] = element(in[k], bytes[k], i);
    set_element(out, out_bytes, i, eval_scalar(op, types, elem, x));
  }
  if (op_is_int_division(op)) interp_divided(p, op, in[1], out, n);
  return true;
}
