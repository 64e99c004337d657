// What the buffer held before the run explains the difference: the kernel combines with it, or no program stores to a
// part.
#include <math.h>

#include "runtime/cli/advice.h"

// ---- what the kernel adds to was not zero ----

static const char *param_of(const Value *v) {
  while (v && v->def) v = v->def->num_operands ? op_operand(v->def, 0) : NULL;
  return v ? v->name : NULL;
}

static void tell_added(Op *op, void *user) {
  Advice *to = user;
  const int64_t kind = op->opcode == OP_ATOMIC_RMW ? op_int(op, ATTR_ATOMIC, ATOMIC_ADD) : ATOMIC_XCHG;
  const char *name = kind == ATOMIC_ADD || kind == ATOMIC_FADD ? param_of(op_operand(op, 0)) : NULL;
  if (to->notes || !name || strcmp(name, to->c->buffer->name)) return;
  Context *ctx = op->parent->func->module->ctx;
  advice_note(to, ctx, op_user_span(ctx, op),
              "got is what is expected plus what %s held before the run: the kernel adds to it here, so let it begin "
              "with zeros", name);
}

// Whether x is what y is, but for rounding in the type.
static bool is_near(const Comparison *c, double x, double y, double scale) {
  return fabs(x - y) <= (host_rtol(c->dtype, true) + 1e-6) * scale;
}

void advise_initial(Advice *to) {
  const Comparison *c = to->c;
  bool has_initial = false;
  double largest = host_largest(c->ref);
  for (uint64_t i = 0; i < c->initial->count; i++) largest = fmax(largest, fabs(host_get(c->initial, i)));
  for (uint64_t i = 0; i < c->ref->count; i++) {
    const double was = host_get(c->initial, i), want = host_get(c->ref, i);
    if (!isfinite(was) || !isfinite(want) || !is_near(c, host_get(c->got, i), was + want, largest)) return;
    has_initial |= !is_near(c, was, 0, largest);
  }
  if (has_initial) module_walk(c->module, tell_added, to);
}

// A float is compared as an integer: if it is negative, the greater number is the lesser one.
static bool keeps_larger(const Op *op, bool is_float) {
  const int64_t kind = op_int(op, ATTR_ATOMIC, ATOMIC_ADD);
  return kind == ATOMIC_MAX || kind == (is_float ? ATOMIC_UMIN : ATOMIC_UMAX);
}

static bool keeps_smaller(const Op *op, bool is_float) {
  const int64_t kind = op_int(op, ATTR_ATOMIC, ATOMIC_ADD);
  return kind == ATOMIC_MIN || kind == (is_float ? ATOMIC_UMAX : ATOMIC_UMIN);
}

void advise_kept(Advice *to) {
  const Op *op = to->rerun->writes.op;
  const bool is_float = host_is_float(to->c->dtype);
  const double was = host_get(to->c->initial, to->first_bad);
  if (!op || op->opcode != OP_ATOMIC_RMW || rerun_number(to->rerun) != was) return;
  const bool is_larger = keeps_larger(op, is_float);
  if (!is_larger && !keeps_smaller(op, is_float)) return;
  const double want = host_get(to->c->ref, to->first_bad);
  if (is_larger ? want >= was : want <= was) return;
  Context *ctx = op->parent->func->module->ctx;
  const char *start = is_larger ? is_float ? "-inf" : "the least number" : is_float ? "inf" : "the largest number";
  advice_note(to, ctx, op_user_span(ctx, op), "this keeps the %s of its operand and what %s held before, at first %g: "
              "let it begin with %s", is_larger ? "larger" : "smaller", to->c->buffer->name, was, start);
}

// ---- a part to which no program stores ----

typedef struct {
  const bool *has;             // of each element that is compared
  uint64_t count, first, from[MAX_RANK], end[MAX_RANK];   // bounds for each axis
  bool is_box, is_tail;        // all within the bounds are in it; all from the first on are
} Part;

static Part part_of(const HostTensor *t, const bool *has) {
  Part p = {.has = has, .first = t->count};
  uint64_t size = 1;
  for (uint32_t k = 0; k < t->rank; k++) p.from[k] = UINT64_MAX;
  for (uint64_t i = 0; i < t->count; i++) {
    if (!has[i]) continue;
    if (!p.count++) p.first = i;
    uint64_t rest = i;
    for (uint32_t k = t->rank; k-- > 0; rest /= (uint64_t)t->shape[k]) {
      const uint64_t at = rest % (uint64_t)t->shape[k];
      if (at < p.from[k]) p.from[k] = at;
      if (at >= p.end[k]) p.end[k] = at + 1;
    }
  }
  for (uint32_t k = 0; k < t->rank; k++) size *= p.end[k] - p.from[k];
  p.is_box = p.count == size;
  p.is_tail = p.count == t->count - p.first;
  return p;
}

static void put_part(Buf *out, const Comparison *c, const Part *p) {
  buf_puts(out, c->name);
  if (p->count == c->got->count) return;
  if (!p->is_box) buf_puts(out, " from ");
  if (!p->is_box) return run_print_index(out, c->got, p->first), buf_puts(out, " on");
  for (uint32_t k = 0; k < c->got->rank; k++)
    buf_printf(out, "%s%llu:%llu", k ? ", " : "[", (unsigned long long)p->from[k], (unsigned long long)p->end[k]);
  buf_putc(out, ']');
}

// Tells of the part if the first wrong element is in it.
static bool tell_part(Advice *to, const bool *has, bool is_certain) {
  const Comparison *c = to->c;
  if (!has[to->first_bad] || c->got->rank > MAX_RANK) return false;
  const Part p = part_of(c->got, has);
  const unsigned long long count = p.count, all = c->got->count;
  if (!p.is_box && !p.is_tail && !is_certain) return false;
  buf_puts(to->out, is_certain ? "note: no program stores to " : "note: ");
  if (!p.is_box && !p.is_tail) {
    buf_printf(to->out, "%llu of the %llu elements of %s; the first is ", count, all, c->name);
    run_print_index(to->out, c->got, p.first);
    buf_puts(to->out, ": do the grid's programs and the masks cover them?\n");
  } else {
    put_part(to->out, c, &p);
    if (!is_certain) buf_puts(to->out, " has its initial values");
    buf_puts(to->out, count == all ? is_certain ? "\n" : ": did the kernel store to it?\n"
                                   : ": do the grid's programs and the masks cover it?\n");
  }
  to->notes++;
  return true;
}

void advise_untouched(Advice *to) {
  const HostTensor *was = to->c->initial, *now = to->c->got;
  const uint32_t bytes = host_elem_bytes(now->dtype);
  bool *has = arena_array(to->arena, bool, now->count + 1);
  for (uint64_t i = 0; i < now->count; i++) has[i] = !memcmp(now->data + i * bytes, was->data + i * bytes, bytes);
  tell_part(to, has, false);
}

void advise_unreached(Advice *to) {
  const Comparison *c = to->c;
  const Writes *w = &to->rerun->writes;
  bool *has = arena_array(to->arena, bool, c->got->count + 1);
  for (uint64_t i = 0; i < c->got->count; i++) has[i] = !w->writers[c->places ? (uint64_t)c->places[i] : i];
  if (w->has_others || !tell_part(to, has, true) || !w->barred) return;
  Context *ctx = w->barred->parent->func->module->ctx;
  Buf index = buf_make(to->arena);
  run_print_index(&index, c->got, to->first_bad);
  advice_note(to, ctx, op_user_span(ctx, w->barred), "in program (%u, %u, %u) the mask leaves out %s here",
              w->barred_program[0], w->barred_program[1], w->barred_program[2], buf_str(&index));
}
