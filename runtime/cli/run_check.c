// --check and --expect: compares buffers with what they should hold, and says how they differ.
#include <math.h>
#include "runtime/cli/advice.h"
#include "runtime/cli/cli.h"

tile_status run_check_limits(const Options *o, CheckLimits *out, tile_error **error) {
  *out = (CheckLimits){.has_rtol = o->rtol != NULL};
  const struct { const char *text; double *value; } given[] = {{o->rtol, &out->rtol}, {o->atol, &out->atol}};
  for (uint32_t i = 0; i < countof(given); i++)
    if (given[i].text && !(cli_read_number(given[i].text, given[i].value) && *given[i].value >= 0))
      return error_set(error, TILE_ERROR_USAGE, "--rtol and --atol take a number, not '%s'", given[i].text);
  return TILE_OK;
}

static double rtol_of(const CheckLimits *limits, DtypeKind dtype) {
  return limits->has_rtol ? limits->rtol : host_rtol(dtype, limits->uses_tf32);
}

bool run_differs(const HostTensor *got, const HostTensor *ref, const CheckLimits *limits, uint64_t *first) {
  HostDifference d = host_compare(got, ref, rtol_of(limits, ref->dtype), limits->atol, host_largest(ref));
  *first = d.first_bad;
  return d.bad != 0;
}

void run_print_index(Buf *out, const HostTensor *t, uint64_t i) {
  uint64_t stride = t->count;
  buf_putc(out, '[');
  for (uint32_t k = 0; k < t->rank; k++) {
    stride /= (uint64_t)t->shape[k];
    buf_printf(out, "%s%llu", k ? "," : "", (unsigned long long)(i / stride));
    i %= stride;
  }
  buf_putc(out, ']');
}

// A NaN is what is expected where the other is one too, and an error in both is easily overlooked.
static void tell_nans(Buf *out, const Comparison *c) {
  uint64_t nans = 0;
  for (uint64_t i = 0; i < c->ref->count; i++) nans += isnan(host_get(c->ref, i)) && isnan(host_get(c->got, i));
  if (nans)
    buf_printf(out, "  %llu of %llu elements are NaN in both\n", (unsigned long long)nans,
               (unsigned long long)c->ref->count);
}

static void put_number(Buf *out, const HostTensor *t, uint64_t i) {
  const double x = host_get(t, i);
  if (isnan(x)) buf_puts(out, "nan");
  else buf_printf(out, x == floor(x) && fabs(x) < 0x1p53 ? "%.0f" : "%.9g", x);
}

bool run_tell(Buf *out, const Comparison *c, const CheckLimits *limits) {
  const double rtol = rtol_of(limits, c->dtype);
  const HostDifference d = host_compare(c->got, c->ref, rtol, limits->atol, host_largest(c->ref));
  Buf ties = buf_make(out->arena);
  Advice to = {.out = &ties, .arena = out->arena, .c = c};
  const bool is_ok = !d.bad || (!strcmp(c->what, "check") && advise_ties(&to, limits));
  buf_printf(out, "%s %s: largest absolute error %.3g, relative %.3g (rtol %g): %s\n", c->what, c->name, d.abs, d.rel,
             rtol, is_ok ? "ok" : "FAILED");
  tell_nans(out, c);
  buf_puts(out, buf_str(&ties));
  if (is_ok) return true;
  buf_printf(out, "  %llu of %llu elements differ; the first is ", (unsigned long long)d.bad,
             (unsigned long long)c->ref->count);
  run_print_index(out, c->ref, d.first_bad);
  buf_puts(out, ": got ");
  put_number(out, c->got, d.first_bad);
  buf_printf(out, ", %s ", c->has);
  put_number(out, c->ref, d.first_bad);
  buf_putc(out, '\n');
  run_advise(out, c, d.first_bad, d.abs);
  return false;
}

bool run_compare(Run *run, Module *module, const CheckLimits *limits, Buf *out) {
  bool ok = true;
  for (uint32_t i = 0; i < run->num_buffers; i++) {
    const RunBuffer *b = &run->buffers[i];
    const Comparison c = {"check", b->name, "the interpreter has", &b->result, &b->reference, &b->initial, b,
                          NULL, b->reference.dtype, run, module};
    const uint64_t bytes = host_bytes(c.ref);
    bool is_written = memcmp(c.got->data, b->initial.data, bytes) || memcmp(c.ref->data, b->initial.data, bytes);
    if (is_written) ok = run_tell(out, &c, limits) && ok;
  }
  return ok;
}

bool run_is_tf32(const Op *op) {
  const bool is_f32 = op_unit(op) == UNIT_DOT && type_elem(op_operand(op, 0)->type)->scalar == SC_F32;
  return is_f32 && op_int(op, ATTR_PRECISION, PREC_TF32) != PREC_IEEE;
}

static void find_tf32(Op *op, void *user) { *(bool *)user |= run_is_tf32(op); }

bool run_uses_tf32(const Module *m) {
  bool found = false;
  EACH_FUNC(f, m) block_walk(f->body, find_tf32, &found);
  return found;
}
