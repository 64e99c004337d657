#include "runtime/compile/host_tensor.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ir/num.h"

uint32_t host_elem_bytes(DtypeKind d) { return dtype_info[d].bits < 8 ? 1 : dtype_info[d].bits / 8; }
bool host_is_float(DtypeKind d) { return dtype_info[d].cls == DTCLASS_FLOAT; }

static NumFormat format_of(DtypeKind d) {
  switch (d) {
  case DT_FP8E4NV: return NUM_F8E4M3;
  case DT_FP8E5: return NUM_F8E5M2;
  case DT_FP8E4B15: return NUM_F8E4B15;
  case DT_FP16: return NUM_F16;
  case DT_BF16: return NUM_BF16;
  case DT_FP64: return NUM_F64;
  default: return NUM_F32;
  }
}

static uint64_t get_bits(const HostTensor *t, uint64_t i) {
  uint32_t n = host_elem_bytes(t->dtype);
  uint64_t bits = 0;
  memcpy(&bits, t->data + i * n, n);
  return bits;
}

static void set_bits(HostTensor *t, uint64_t i, uint64_t bits) {
  uint32_t n = host_elem_bytes(t->dtype);
  memcpy(t->data + i * n, &bits, n);
}

int64_t host_get_int(const HostTensor *t, uint64_t i) {
  uint64_t bits = get_bits(t, i);
  if (host_is_float(t->dtype))
    return (int64_t)num_to_int(num_decode(format_of(t->dtype), bits), 64, true, NUM_RTZ, false);
  return dtype_info[t->dtype].cls == DTCLASS_SIGNED ? num_sext(bits, dtype_info[t->dtype].bits) : (int64_t)bits;
}

double host_get(const HostTensor *t, uint64_t i) {
  if (host_is_float(t->dtype)) return num_decode(format_of(t->dtype), get_bits(t, i));
  return t->dtype == DT_UINT64 ? (double)get_bits(t, i) : (double)host_get_int(t, i);
}

void host_set_int(HostTensor *t, uint64_t i, int64_t v) {
  if (host_is_float(t->dtype)) set_bits(t, i, num_encode_i64(format_of(t->dtype), v, NUM_RNE, false));
  else set_bits(t, i, t->dtype == DT_INT1 ? v != 0 : (uint64_t)v);
}

void host_set(HostTensor *t, uint64_t i, double v) {
  const DtypeInfo *d = &dtype_info[t->dtype];
  if (host_is_float(t->dtype)) set_bits(t, i, num_encode(format_of(t->dtype), v, NUM_RNE, false));
  else if (t->dtype == DT_INT1) set_bits(t, i, v != 0);
  else set_bits(t, i, num_to_int(v, d->bits, d->cls == DTCLASS_SIGNED, NUM_RTZ, false));
}

// Word `k` of the stream of (seed, i): splitmix64's finaliser over a counter.
static uint64_t random_word(uint64_t seed, uint64_t i, uint64_t k) {
  uint64_t z = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15) + (2 * i + k) * UINT64_C(0xd1342543de82ef95) + 1;
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static double random_unit(uint64_t seed, uint64_t i, uint64_t k) {
  return (double)(random_word(seed, i, k) >> 11) * 0x1p-53;
}

static double random_normal(uint64_t seed, uint64_t i) {
  double u = 1.0 - random_unit(seed, i, 0), angle = 6.283185307179586 * random_unit(seed, i, 1);
  return sqrt(-2.0 * log(u)) * cos(angle);
}

void host_fill(HostTensor *t, const Fill *f) {
  for (uint64_t i = 0; i < t->count; i++) {
    switch (f->kind) {
    case FILL_ZEROS: host_set_int(t, i, 0); break;
    case FILL_ONES: host_set_int(t, i, 1); break;
    case FILL_ARANGE: host_set_int(t, i, (int64_t)i); break;
    case FILL_VALUE: host_set(t, i, f->value); break;
    case FILL_RANDN: host_set(t, i, random_normal(f->seed, i)); break;
    case FILL_UNIFORM: host_set(t, i, random_unit(f->seed, i, 0)); break;
    case FILL_RANDINT: {
      uint64_t range = (uint64_t)f->hi - (uint64_t)f->lo;
      host_set_int(t, i, (int64_t)((uint64_t)f->lo + num_mulhi_u64(random_word(f->seed, i, 0), range)));
      break;
    }
    }
  }
}

static void print_element(Buf *out, const HostTensor *t, uint64_t i) {
  static const int digits[NUM_DTYPE_KINDS] = {[DT_FP16] = 5, [DT_BF16] = 4, [DT_FP32] = 7, [DT_FP64] = 12};
  if (t->dtype == DT_INT1) buf_puts(out, host_get_int(t, i) ? "True" : "False");
  else if (t->dtype == DT_UINT64) buf_printf(out, "%llu", (unsigned long long)get_bits(t, i));
  else if (!host_is_float(t->dtype)) buf_printf(out, "%lld", (long long)host_get_int(t, i));
  else buf_printf(out, "%.*g", digits[t->dtype] ? digits[t->dtype] : 4, host_get(t, i));
}

enum { SHOWN = 128, EDGE = 3 };

static void print_axis(Buf *out, const HostTensor *t, uint32_t axis, uint64_t start, uint64_t stride, bool whole) {
  if (axis == t->rank) {
    print_element(out, t, start);
    return;
  }
  int64_t n = t->shape[axis];
  uint64_t inner = n ? stride / (uint64_t)n : 0;
  buf_putc(out, '[');
  for (int64_t i = 0; i < n; i++) {
    if (i) {
      buf_putc(out, axis + 1 == t->rank ? ' ' : '\n');
      if (axis + 1 < t->rank) buf_fill(out, ' ', axis + 1);
    }
    if (!whole && n > 2 * EDGE && i == EDGE) {
      buf_puts(out, "...");
      i = n - EDGE - 1;
      continue;
    }
    print_axis(out, t, axis + 1, start + (uint64_t)i * inner, inner, whole);
  }
  buf_putc(out, ']');
}

void host_print(Buf *out, const HostTensor *t) {
  buf_printf(out, "%s[", dtype_info[t->dtype].short_name);
  for (uint32_t i = 0; i < t->rank; i++) buf_printf(out, "%s%lld", i ? "," : "", (long long)t->shape[i]);
  buf_puts(out, "]\n");
  print_axis(out, t, 0, 0, t->count, t->count <= SHOWN);
  buf_putc(out, '\n');
}
