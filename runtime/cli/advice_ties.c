// Where several elements are equal, a reduction may give the index of any: the interpreter's choice is one of them.
#include "runtime/cli/advice.h"

typedef struct { bool takes_last; bool any; } Choice;

// Takes the first or the last index among the elements that equal the result.
static bool choose(void *user, const InterpStep *step) {
  Choice *c = user;
  const Op *op = step->op;
  if (op->opcode != OP_REDUCE || !combining_has_ties(op)) return true;
  const Type *t = op_operand(op, 0)->type;
  const uint32_t axis = (uint32_t)op_int(op, ATTR_AXIS, 0), bytes = type_elem_bytes(t),
                 index_bytes = type_elem_bytes(op_operand(op, 1)->type);
  const uint8_t *x = interp_step_data(step, op_operand(op, 0)), *index = interp_step_data(step, op_operand(op, 1));
  const uint8_t *r = interp_step_data(step, &op->results[0]);
  uint8_t *out = interp_step_data(step, &op->results[1]);
  const size_t size = (size_t)t->shape[axis];
  size_t inner = 1;
  for (uint32_t k = axis + 1; k < t->rank; k++) inner *= (size_t)t->shape[k];
  for (size_t line = 0; line < (size_t)type_numel(t) / size; line++)
    for (size_t k = 0; k < size; k++) {
      const size_t i = c->takes_last ? k : size - 1 - k, at = (line / inner * size + i) * inner + line % inner;
      if (!memcmp(x + at * bytes, r + line * bytes, bytes))
        memcpy(out + line * index_bytes, index + at * index_bytes, index_bytes);
    }
  c->any = true;
  return true;
}

static const uint8_t *data_of(const RunBuffer *b) { return (const uint8_t *)(uintptr_t)b->address; }

// Whether the choice decides every element that differs.
static bool decides(Rerun *r, const Comparison *c, const CheckLimits *limits) {
  Choice choice = {.takes_last = false};
  const uint64_t n = host_bytes(&c->buffer->initial);
  if (!rerun_launch(r, choose, &choice) || !choice.any) return false;
  HostTensor first = *c->ref, last = *c->ref, masked = *c->got;
  first.data = memcpy(arena_alloc(c->run->arena, n), data_of(c->buffer), n);
  choice.takes_last = true;
  if (!rerun_launch(r, choose, &choice)) return false;
  last.data = (uint8_t *)data_of(c->buffer);
  masked.data = memcpy(arena_alloc(c->run->arena, n), c->got->data, n);
  const uint32_t bytes = host_elem_bytes(first.dtype);
  for (uint64_t i = 0; i < first.count; i++)
    if (memcmp(first.data + i * bytes, last.data + i * bytes, bytes))
      memcpy(masked.data + i * bytes, c->ref->data + i * bytes, bytes);
  uint64_t at;
  return !run_differs(&masked, c->ref, limits, &at);
}

static void tell(Op *op, void *user) {
  Advice *to = user;
  Context *ctx = op->parent->func->module->ctx;
  const Span at = op_user_span(ctx, op);
  if (op->opcode == OP_REDUCE && combining_has_ties(op))
    advice_note(to, ctx, at, "%s may give the index of any of several equal elements; tie_break_left=True takes the "
                "first", advice_source(to->arena, ctx, at));
}

static bool tell_in(Advice *to, const Rerun *r) {
  module_walk(r->session.program->module, tell, to);
  return true;
}

void advise_tied_element(Advice *to) {
  Rerun *r = to->rerun;
  Choice choice = {.takes_last = false};
  if (!rerun_launch(r, choose, &choice) || !choice.any) return;
  const uint64_t first = rerun_bits(r);
  choice.takes_last = true;
  if (rerun_launch(r, choose, &choice) && rerun_bits(r) != first) tell_in(to, r);
}

bool advise_ties(Advice *to, const CheckLimits *limits) {
  const Comparison *c = to->c;
  Rerun r;
  if (!c->run->job || host_is_float(c->dtype)) return false;
  const bool is_decided = rerun_open(&r, c->run) && decides(&r, c, limits) && tell_in(to, &r);
  rerun_close(&r);
  return is_decided;
}
