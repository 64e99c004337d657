// --check: the device's buffers against the interpreter's.
#include <math.h>
#include <string.h>

#include "runtime/cli/run.h"

// Relative tolerance by dtype: exact for integers, else about what reordering a long sum costs in that format.
static double default_rtol(DtypeKind d, bool uses_tf32) {
  if (!host_is_float(d)) return 0;
  switch (d) {
  case DT_FP64: return 1e-9;
  case DT_FP32: return uses_tf32 ? 2e-3 : 1e-4;
  case DT_FP16: return 1e-2;
  case DT_BF16: return 2e-2;
  default: return 0.13;
  }
}

typedef struct {
  double abs, rel, largest;    // worst errors; largest finite |reference|
  uint64_t bad, first_bad;
} Difference;

static bool same_bits(const HostTensor *a, const HostTensor *b, uint64_t i) {
  uint32_t n = host_elem_bytes(a->dtype);
  return !memcmp(a->data + i * n, b->data + i * n, n);
}

double check_largest(const HostTensor *ref) {
  double largest = 0;
  for (uint64_t i = 0; i < ref->count; i++) {
    double v = fabs(host_get(ref, i));
    if (isfinite(v) && v > largest) largest = v;
  }
  return largest;
}

static Difference compare(const HostTensor *got, const HostTensor *ref, double rtol, double atol, double largest) {
  enum { CHUNK = 512 };
  Difference d = {.largest = largest};
  for (uint64_t i = 0; i < ref->count; i++) {
    uint32_t n = host_elem_bytes(ref->dtype);
    // Most of a large array is the same, bit by bit.
    if (i % CHUNK == 0 && ref->count - i >= CHUNK && !memcmp(got->data + i * n, ref->data + i * n, (size_t)CHUNK * n)) {
      i += CHUNK - 1;
      continue;
    }
    if (same_bits(got, ref, i)) continue;
    double g = host_get(got, i), r = host_get(ref, i), error = fabs(g - r);
    bool ok = isnan(r) ? isnan(g) : isinf(r) ? g == r : error <= atol + rtol * (fabs(r) + d.largest);
    // Two 64-bit integers can differ by less than a double shows.
    if (!host_is_float(ref->dtype) && rtol == 0 && atol == 0) ok = false;
    if (!ok && d.bad++ == 0) d.first_bad = i;
    if (isnan(error)) error = isnan(g) && isnan(r) ? 0 : INFINITY;
    if (error > d.abs) d.abs = error;
    double scale = fabs(r) > 0 ? fabs(r) : d.largest;
    if (error > 0 && error / scale > d.rel) d.rel = error / scale;
  }
  return d;
}

bool check_differs(const HostTensor *got, const HostTensor *ref, const CheckLimits *limits, uint64_t *first) {
  Difference d = compare(got, ref, limits->has_rtol ? limits->rtol : default_rtol(ref->dtype, limits->uses_tf32), limits->atol, check_largest(ref));
  *first = d.first_bad;
  return d.bad != 0;
}

bool check_is_close(const HostTensor *got, const HostTensor *ref, double largest, bool uses_tf32) {
  return compare(got, ref, default_rtol(ref->dtype, uses_tf32), 0, largest).bad == 0;
}

static void print_index(Buf *out, const HostTensor *t, uint64_t i) {
  uint64_t stride = t->count;
  buf_putc(out, '[');
  for (uint32_t k = 0; k < t->rank; k++) {
    stride /= (uint64_t)t->shape[k];
    buf_printf(out, "%s%llu", k ? "," : "", (unsigned long long)(i / stride));
    i %= stride;
  }
  buf_putc(out, ']');
}

bool run_compare(const Run *run, const CheckLimits *limits, Buf *out) {
  bool ok = true;
  for (uint32_t i = 0; i < run->num_buffers; i++) {
    const RunBuffer *b = &run->buffers[i];
    const HostTensor *got = &b->result, *ref = &b->reference;
    uint64_t bytes = host_bytes(ref);
    bool is_written = memcmp(got->data, b->initial.data, bytes) || memcmp(ref->data, b->initial.data, bytes);
    if (!is_written) continue;
    double rtol = limits->has_rtol ? limits->rtol : default_rtol(ref->dtype, limits->uses_tf32);
    Difference d = compare(got, ref, rtol, limits->atol, check_largest(ref));
    buf_printf(out, "check %s: largest absolute error %.3g, relative %.3g (rtol %g): %s\n", b->name, d.abs, d.rel, rtol, d.bad ? "FAILED" : "ok");
    if (!d.bad) continue;
    ok = false;
    buf_printf(out, "  %llu of %llu elements differ; the first is ", (unsigned long long)d.bad, (unsigned long long)ref->count);
    print_index(out, ref, d.first_bad);
    buf_printf(out, ": got %.9g, the interpreter has %.9g\n", host_get(got, d.first_bad), host_get(ref, d.first_bad));
  }
  return ok;
}

static void find_tf32(Op *op, void *user) {
  bool is_f32 = op->opcode == OP_DOT && type_elem(op_operand(op, 0)->type)->scalar == SC_F32;
  if (is_f32 && op_int(op, ATTR_PRECISION, PREC_TF32) != PREC_IEEE) *(bool *)user = true;
}

bool module_uses_tf32(Module *m) {
  bool found = false;
  module_walk(m, find_tf32, &found);
  return found;
}
