// A loop's range: its bounds, and what it asks of the loop.
#include "frontend/lower/hints.h"
#include "frontend/lower/statements.h"
#include "frontend/lower/term.h"

#include <string.h>

enum { MAX_UNROLL_FACTOR = 1024 };

bool lower_split_range(Lower *L, Call *c, RangeArgs *r) {
  *r = (RangeArgs){.call = *c};
  r->start = c->args[0], r->stop = c->args[1], r->step = c->args[2];
  if (term_is_none(r->stop)) {
    r->stop = r->start;
    r->start = term_int(L, 0);
  }
  if (term_is_none(r->step)) r->step = term_int(L, 1);
  return r->start && r->stop && r->step;
}

bool lower_refuse_no_step(Lower *L, const Node *iter) {
  lower_error(L, iter->span, "the step of a range must not be 0");
  const Node *e = NULL;
  if (iter->kind == NODE_CALL && iter->call.args.count == 3) e = iter->call.args.data[2];
  for (uint32_t i = 0; iter->kind == NODE_CALL && i < iter->call.keywords.count; i++) {
    const Node *k = iter->call.keywords.data[i];
    if (k->attr.name && strcmp(k->attr.name, "step") == 0) e = k->attr.first;
  }
  lower_note_computed(L, e, 0);
  return false;
}

static const CtType *range_type(Lower *L, Term *const *bounds) {
  const CtType *r = NULL;
  for (int i = 0; i < 3; i++) {
    const CtType *t = term_t(bounds[i]);
    if (ct_is_bool(t)) t = lower_scalar(L, DT_INT32);
    if (!r || ct_bits(t) > ct_bits(r) || (ct_bits(t) == ct_bits(r) && !ct_is_signed(t))) r = t;
  }
  return r;
}

// With --debug a step that is known at run time alone is tested.
static void check_step(Lower *L, Term *step, Span span) {
  if (!L->options->debug || lower_in_prelude(L, span)) return;
  Term *positive = lower_binary(L, PYOP_GT, step, term_int(L, 0), span);
  if (positive)
    lower_assert(L, term_v(positive), span,
                 "the step of this loop is not positive: a negative one must be a constexpr");
}

const CtType *lower_range_bounds(Lower *L, const Node *s, const RangeArgs *r, Term **bounds, bool *negative) {
  static const char *const what[] = {"the start of a range", "the end of a range", "the step of a range"};
  Span span = s->loop.iter->span;
  bounds[0] = r->start;
  bounds[1] = r->stop;
  bounds[2] = r->step;
  int64_t step;
  bool is_const = term_get_int(r->step, &step);
  *negative = is_const && step < 0;
  if (is_const && step == 0) {
    lower_refuse_no_step(L, s->loop.iter);
    return NULL;
  }
  if (*negative) bounds[2] = term_const(L, ct_int(L->ctx, -(Int128)step));
  for (int i = 0; i < 3; i++) {
    bounds[i] = term_to_value(L, bounds[i], span, what[i]);
    if (!bounds[i]) return NULL;
    if (!ct_is_int(term_t(bounds[i])) || ct_rank(term_t(bounds[i]))) {
      lower_error(L, span, "%s must be a scalar integer, not %s", what[i], term_describe(L, bounds[i]));
      if (ct_rank(term_t(bounds[i]))) lower_hint(L, "tl.max(x) makes a scalar of a tile");
      else if (ct_is_float(term_t(bounds[i]))) {
        lower_note_division(L, bounds[i]);
        lower_hint(L, "write a // b in place of a / b, or x.to(tl.int32)");
        lower_note_param(L, bounds[i]);
      } else lower_note_pointer(L, bounds[i]);
      return NULL;
    }
  }
  const CtType *type = range_type(L, bounds);
  for (int i = 0; i < 3; i++) bounds[i] = lower_cast(L, bounds[i], type, s->span);
  if (!is_const) check_step(L, bounds[2], span);
  return type;
}

// disallow_acc_multi_buffer and warp_specialize are accepted and change nothing.
void lower_range_attrs(Lower *L, Op *op, Call *c) {
  enum { IGNORED = NUM_ATTRS };
  static const struct { uint32_t arg, key; } attrs[] = {
      {3, ATTR_NUM_STAGES}, {4, ATTR_UNROLL}, {5, IGNORED}, {6, ATTR_FLATTEN}, {7, IGNORED}, {8, ATTR_NO_LICM}};
  for (uint32_t i = 0; i < countof(attrs); i++) {
    uint32_t a = attrs[i].arg;
    int64_t v;
    if (!c->given[a] || arg_is_none(c, a)) continue;
    if (!arg_int(L, c, a, &v)) continue;
    const bool stages = attrs[i].key == ATTR_NUM_STAGES, unroll = attrs[i].key == ATTR_UNROLL;
    if (stages && v < 0) {
      arg_error(L, c, a, "`num_stages` of `range` must not be negative, but is %lld", (long long)v);
      continue;
    }
    if (unroll && (v < 0 || v > MAX_UNROLL_FACTOR)) {
      arg_error(L, c, a, "`loop_unroll_factor` of `range` must be from 0 to %d, not %lld", MAX_UNROLL_FACTOR,
                (long long)v);
      continue;
    }
    if (stages) v = min_i64(v, MAX_STAGES);
    if (attrs[i].key != IGNORED && (v != 0 || stages)) op_set_int(L->ctx, op, (AttrKey)attrs[i].key, v);
  }
}
