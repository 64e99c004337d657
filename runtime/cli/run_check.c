// --check: compares the device's buffers with the interpreter's.
#include <string.h>

#include "runtime/cli/run.h"

bool run_differs(const HostTensor *got, const HostTensor *ref, const CheckLimits *limits, uint64_t *first) {
  HostDifference d = host_compare(got, ref, limits->has_rtol ? limits->rtol : host_rtol(ref->dtype, limits->uses_tf32),
                                  limits->atol, host_largest(ref));
  *first = d.first_bad;
  return d.bad != 0;
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
    double rtol = limits->has_rtol ? limits->rtol : host_rtol(ref->dtype, limits->uses_tf32);
    HostDifference d = host_compare(got, ref, rtol, limits->atol, host_largest(ref));
    buf_printf(out, "check %s: largest absolute error %.3g, relative %.3g (rtol %g): %s\n", b->name, d.abs, d.rel, rtol,
               d.bad ? "FAILED" : "ok");
    if (!d.bad) continue;
    ok = false;
    buf_printf(out, "  %llu of %llu elements differ; the first is ", (unsigned long long)d.bad,
               (unsigned long long)ref->count);
    print_index(out, ref, d.first_bad);
    buf_printf(out, ": got %.9g, the interpreter has %.9g\n", host_get(got, d.first_bad), host_get(ref, d.first_bad));
  }
  return ok;
}

static void find_tf32(Op *op, void *user) {
  bool is_f32 = op->opcode == OP_DOT && type_elem(op_operand(op, 0)->type)->scalar == SC_F32;
  if (is_f32 && op_int(op, ATTR_PRECISION, PREC_TF32) != PREC_IEEE) *(bool *)user = true;
}

bool run_uses_tf32(Module *m) {
  bool found = false;
  module_walk(m, find_tf32, &found);
  return found;
}
