// Warnings of products and sums of int32 that wrap around before they are widened: at the places in the source that
// libtile has noted.
#include "runtime/sim/numbers.h"

static bool may_wrap(const Instr *in) {
  const bool is_int = in->num_types && ptx_types[in->type[0]].bits == 32 && ptx_types[in->type[0]].cls != CLASS_FLOAT;
  if (!is_int || in->num_ops < 2 || in->ops[0].kind != OPND_REG || has_any(in, M_hi, M_wide)) return false;
  for (uint32_t i = 1; i < in->num_ops; i++)
    if (in->ops[i].kind == OPND_REG && in->ops[i].slot == in->ops[0].slot) return false;
  return in->op == OP_add || in->op == OP_mul || in->op == OP_mad || (in->op == OP_redux && has_mod(in, M_add));
}

void wraps_begin(Grid *g) {
  PtxModule *m = g->module;
  bool any = false;
  for (uint32_t i = 0; i < m->notes.count; i++) any |= m->notes.data[i].may_not_wrap;
  if (!any || m->knows_wraps) return;
  m->knows_wraps = true;
  for (uint32_t i = 0; i < m->num_code; i++) {
    PlaceNote place;
    if (may_wrap(&m->code[i]) && report_note(g, &m->code[i], &place) && place.may_not_wrap)
      m->code[i].numbers = NUMBER_WRAP;
  }
}

static int64_t operand(const Warp *w, const Instr *in, uint32_t i, uint32_t lane) {
  return (int32_t)(uint32_t)src_row(w, &in->ops[i])[lane];
}

static int64_t exact(const Warp *w, const Instr *in, uint32_t lane, uint32_t mask) {
  int64_t sum = 0;
  switch (in->op) {
  case OP_add: return operand(w, in, 1, lane) + operand(w, in, 2, lane);
  case OP_mul: return operand(w, in, 1, lane) * operand(w, in, 2, lane);
  case OP_mad: return operand(w, in, 1, lane) * operand(w, in, 2, lane) + operand(w, in, 3, lane);
  default:
    FOR_LANES(l, mask) sum += operand(w, in, 1, l);
    return sum;
  }
}

// Once for a place.
static void forget(Grid *g, const PlaceNote *at) {
  for (uint32_t i = 0; i < g->module->num_code; i++) {
    Instr *in = &g->module->code[i];
    PlaceNote its;
    if (in->numbers == NUMBER_WRAP && report_note(g, in, &its) && report_same_place(&its, at)) in->numbers = NUMBER_NONE;
  }
}

static void warn(Warp *w, const Instr *in, uint32_t lane, int64_t value) {
  Grid *g = w->grid;
  PlaceNote at;
  if (!report_note(g, in, &at)) return;
  Arena a;
  arena_init(&a);
  const bool is_product = in->op == OP_mul || in->op == OP_mad;
  const long long got = (int32_t)(uint32_t)value;
  const char *what = is_product ? arena_printf(&a, "%lld * %lld", (long long)operand(w, in, 1, lane),
                                               (long long)operand(w, in, 2, lane))
                                : arena_printf(&a, "a sum of %lld", (long long)value);
  report_warning(g, &at, arena_printf(&a, "%s computes %s in int32, which wraps around to %lld before it is widened "
                                      "[-Woverflow]", report_program_of(&a, w->cta), what, got), NULL, NULL,
                 is_product ? "convert a factor first: x.to(tl.int64) * y"
                            : "a sum of int32 is an int32: convert the elements first, tl.sum(x.to(tl.int64))");
  arena_free(&a);
  forget(g, &at);
}

void wraps_step(Warp *w, const Instr *in, uint32_t mask) {
  FOR_LANES(l, mask) {
    const int64_t value = exact(w, in, l, mask);
    if (value != (int32_t)value) {
      warn(w, in, l, value);
      return;
    }
    if (in->op == OP_redux) return;
  }
}
