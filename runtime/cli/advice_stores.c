// What the buffer held before the run explains the difference: the kernel adds to it, or no program stored to a part.
#include <math.h>

#include "runtime/cli/advice.h"

// ---- what the kernel adds to was not zero ----

typedef struct { Advice *to; const Comparison *c; } Search;

static const char *param_of(const Value *v) {
  while (v && v->def) v = v->def->num_operands ? op_operand(v->def, 0) : NULL;
  return v ? v->name : NULL;
}

static void tell_added(Op *op, void *user) {
  const Search *s = user;
  const int64_t kind = op->opcode == OP_ATOMIC_RMW ? op_int(op, ATTR_ATOMIC, ATOMIC_ADD) : ATOMIC_XCHG;
  const char *name = kind == ATOMIC_ADD || kind == ATOMIC_FADD ? param_of(op_operand(op, 0)) : NULL;
  if (s->to->notes || !name || strcmp(name, s->c->buffer->name)) return;
  Context *ctx = op->parent->func->module->ctx;
  advice_note(s->to, ctx, op_user_span(ctx, op),
              "got is what is expected plus what %s held before the run: the kernel adds to it here, so let it begin "
              "with zeros", name);
}

// Whether x is what y is, but for rounding in the type.
static bool is_near(const Comparison *c, double x, double y, double scale) {
  return fabs(x - y) <= (host_rtol(c->dtype, true) + 1e-6) * scale;
}

void advise_initial(Advice *to, const Comparison *c) {
  bool has_initial = false;
  double largest = host_largest(c->ref);
  for (uint64_t i = 0; i < c->initial->count; i++) largest = fmax(largest, fabs(host_get(c->initial, i)));
  for (uint64_t i = 0; i < c->ref->count; i++) {
    const double was = host_get(c->initial, i), want = host_get(c->ref, i);
    if (!isfinite(was) || !isfinite(want) || !is_near(c, host_get(c->got, i), was + want, largest)) return;
    has_initial |= !is_near(c, was, 0, largest);
  }
  Search s = {to, c};
  if (has_initial && c->module) module_walk(c->module, tell_added, &s);
}

// ---- a part to which no program stored ----

// Bounds, for each axis, of the elements that are as they were before the run. False if others lie between them.
static bool find_untouched(const Comparison *c, uint64_t *from, uint64_t *to) {
  const HostTensor *was = c->initial, *now = c->got;
  const uint64_t bytes = host_elem_bytes(now->dtype);
  uint64_t found = 0, size = 1;
  for (uint32_t k = 0; k < now->rank; k++) from[k] = UINT64_MAX, to[k] = 0;
  for (uint64_t i = 0; i < now->count; i++) {
    if (memcmp(now->data + i * bytes, was->data + i * bytes, bytes)) continue;
    found++;
    uint64_t rest = i;
    for (uint32_t k = now->rank; k-- > 0; rest /= (uint64_t)now->shape[k]) {
      const uint64_t at = rest % (uint64_t)now->shape[k];
      if (at < from[k]) from[k] = at;
      if (at >= to[k]) to[k] = at + 1;
    }
  }
  for (uint32_t k = 0; k < now->rank && found; k++) size *= to[k] - from[k];
  return found > 1 && found == size && found < now->count;
}

void advise_unstored(Advice *to, Rerun *rerun, const Comparison *c, uint64_t first_bad) {
  uint64_t from[MAX_RANK], end[MAX_RANK], at = first_bad;
  if (c->places || c->got->rank > MAX_RANK || !find_untouched(c, from, end)) return;
  for (uint32_t k = c->got->rank; k-- > 0; at /= (uint64_t)c->got->shape[k]) {
    const uint64_t i = at % (uint64_t)c->got->shape[k];
    if (i < from[k] || i >= end[k]) return;
  }
  if (!rerun_is_unstored(rerun)) return;
  buf_printf(to->out, "note: %s[", c->name);
  for (uint32_t k = 0; k < c->got->rank; k++)
    buf_printf(to->out, "%s%llu:%llu", k ? ", " : "", (unsigned long long)from[k], (unsigned long long)end[k]);
  buf_puts(to->out, "] still has its initial values: no program stored there\n");
  to->notes++;
}
