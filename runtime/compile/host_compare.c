// Compares a host array with a reference.
#include <math.h>
#include <string.h>

#include "runtime/compile/host_tensor.h"

double host_rtol(DtypeKind d, bool uses_tf32) {
  if (!host_is_float(d)) return 0;
  switch (d) {
  case DT_FP64: return 1e-9;
  case DT_FP32: return uses_tf32 ? 2e-3 : 1e-4;
  case DT_FP16: return 1e-2;
  case DT_BF16: return 2e-2;
  default: return 0.13;
  }
}

static bool same_bits(const HostTensor *a, const HostTensor *b, uint64_t i) {
  uint32_t n = host_elem_bytes(a->dtype);
  return !memcmp(a->data + i * n, b->data + i * n, n);
}

double host_largest(const HostTensor *ref) {
  double largest = 0;
  for (uint64_t i = 0; i < ref->count; i++) {
    double v = fabs(host_get(ref, i));
    if (isfinite(v) && v > largest) largest = v;
  }
  return largest;
}

HostDifference host_compare(const HostTensor *got, const HostTensor *ref, double rtol, double atol, double largest) {
  enum { CHUNK = 512 };
  HostDifference d = {.largest = largest};
  for (uint64_t i = 0; i < ref->count; i++) {
    uint32_t n = host_elem_bytes(ref->dtype);
    // Most chunks of a large array are equal bit by bit.
    if (i % CHUNK == 0 && ref->count - i >= CHUNK && !memcmp(got->data + i * n, ref->data + i * n, (size_t)CHUNK * n)) {
      i += CHUNK - 1;
      continue;
    }
    if (same_bits(got, ref, i)) continue;
    double g = host_get(got, i), r = host_get(ref, i), error = fabs(g - r);
    bool ok = isnan(r) ? isnan(g) : isinf(r) ? g == r : error <= atol + rtol * (fabs(r) + d.largest);
    // Two 64-bit integers may differ and yet be equal as doubles.
    if (!host_is_float(ref->dtype) && rtol == 0 && atol == 0) ok = false;
    if (!ok && d.bad++ == 0) d.first_bad = i;
    if (isnan(error)) error = isnan(g) && isnan(r) ? 0 : INFINITY;
    if (error > d.abs) d.abs = error;
    double scale = fabs(r) > 0 ? fabs(r) : d.largest;
    if (error > 0 && error / scale > d.rel) d.rel = error / scale;
  }
  return d;
}
