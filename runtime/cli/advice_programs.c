// Which programs are wrong, and how. If nothing else is known: what wrote the wrong element.
#include <math.h>
#include <stdlib.h>

#include "runtime/cli/advice.h"

// What a program's elements differ by from what is expected.
typedef struct { uint32_t writer; uint64_t count, wrong; double least, most; } Program;
typedef struct { Program *all; uint32_t count; } Programs;

static int by_writer(const void *a, const void *b) {
  const Program *x = a, *y = b;
  return (x->writer > y->writer) - (x->writer < y->writer);
}

static double difference(const Comparison *c, uint64_t i) { return host_get(c->got, i) - host_get(c->ref, i); }

// The programs that wrote compared elements, in order; none if some elements are not known to have one writer, or if
// there are too many elements.
static Programs programs_of(const Advice *to) {
  enum { MOST = 1 << 22 };
  const Comparison *c = to->c;
  const Writes *w = &to->rerun->writes;
  const uint64_t n = c->ref->count;
  const double near = advice_rounding_of(c);
  if (n > MOST) return (Programs){0};
  Programs p = {arena_array(to->arena, Program, n + 1), 0};
  for (uint64_t i = 0; i < n; i++) {
    const uint32_t writer = w->writers[c->places ? (uint64_t)c->places[i] : i];
    const double d = difference(c, i);
    if (!writer || !isfinite(d)) return (Programs){p.all, 0};
    p.all[i] = (Program){writer, 1, fabs(d) > near, d, d};
  }
  qsort(p.all, n, sizeof *p.all, by_writer);
  for (uint64_t i = 0; i < n; i++) {
    Program *last = p.count ? &p.all[p.count - 1] : NULL;
    const Program x = p.all[i];
    if (!last || last->writer != x.writer) {
      p.all[p.count++] = x;
      continue;
    }
    last->count++;
    last->wrong += x.wrong;
    last->least = fmin(last->least, x.least);
    last->most = fmax(last->most, x.most);
  }
  return p;
}

static void put_program(Buf *b, const Run *run, const Program *p) {
  uint32_t id[3];
  writes_program(run, p->writer, id);
  buf_printf(b, "program (%u, %u, %u)", id[0], id[1], id[2]);
}

// ---- something that does not go on from program to program ----

static void find_scan(Op *op, void *user) {
  const Op **found = user;
  if (op->opcode == OP_SCAN && !*found) *found = op;
}

// The first program is right, and each other is wrong by one number, which is not the same in all.
static void tell_scan(Advice *to, const Programs *p) {
  const Op *scan = NULL;
  Module *m = to->rerun->session.program->module;
  module_walk(m, find_scan, &scan);
  const double near = 4 * advice_rounding_of(to->c);
  const Program *wrong = NULL;
  bool grows = false;
  for (uint32_t i = 0; i < p->count; i++) {
    const Program *x = &p->all[i];
    if (x->most - x->least > near || (i && x->count < 2) || (x->wrong && x->wrong != x->count)) return;
    if (x->wrong && !wrong) wrong = x;
    grows |= x->wrong && fabs(x->most - wrong->most) > near;
  }
  if (!scan || !grows || p->all[0].wrong) return;
  Buf b = buf_make(to->arena);
  put_program(&b, to->c->run, &p->all[0]);
  buf_puts(&b, " is right, and all elements of ");
  put_program(&b, to->c->run, wrong);
  const double off = (wrong->least + wrong->most) / 2;
  advice_note(to, m->ctx, op_user_span(m->ctx, scan), "%s are %g too %s: this scan begins anew in each program",
              buf_str(&b), fabs(off), off < 0 ? "small" : "large");
}

// ---- a number that is missing in all ----

static uint64_t common_divisor(uint64_t a, uint64_t b) {
  while (b) {
    const uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

// Integers that are all wrong by a multiple of a constant of the kernel.
static bool tell_multiple(Advice *to) {
  enum { LEAST = 4 };          // so many elements, and such a constant
  const Comparison *c = to->c;
  const Func *f = to->rerun->session.program->module->funcs;
  uint64_t divisor = 0, wrong = 0;
  for (uint64_t i = 0; i < c->ref->count; i++) {
    const double d = fabs(difference(c, i));
    if (!(d < 1e15) || d != floor(d)) return false;
    divisor = common_divisor((uint64_t)d, divisor);
    wrong += d != 0;
  }
  for (uint32_t i = 0; f && i < f->num_constexprs && wrong >= LEAST; i++) {
    char *end;
    const uint64_t value = strtoull(f->constexpr_values[i], &end, 10);
    if (*end || value < LEAST || divisor % value) continue;
    buf_printf(to->out, "note: all wrong elements are off by multiples of %llu, which is %s\n",
               (unsigned long long)value, f->constexpr_names[i]);
    return true;
  }
  return false;
}

// Some programs are right, and others are not.
static void tell_wrong_programs(Advice *to, const Programs *p) {
  uint32_t right = 0;
  const Program *wrong = NULL;
  for (uint32_t i = 0; i < p->count; i++) {
    right += !p->all[i].wrong;
    if (p->all[i].wrong && !wrong) wrong = &p->all[i];
  }
  if (!right || !wrong || p->count < 2) return;
  Buf b = buf_make(to->arena);
  put_program(&b, to->c->run, wrong);
  buf_printf(to->out, "note: %u of %u programs have wrong elements, the first is %s\n", p->count - right, p->count,
             buf_str(&b));
}

// The last two notes give no cause, so other notes may follow them.
void advise_programs(Advice *to) {
  const Programs p = programs_of(to);
  if (p.count > 1) tell_scan(to, &p);
  if (to->notes || (!host_is_float(to->c->dtype) && tell_multiple(to))) return;
  tell_wrong_programs(to, &p);
}

void advise_writer(Advice *to) {
  const Writes *w = &to->rerun->writes;
  if (!w->op) return;
  Context *ctx = w->op->parent->func->module->ctx;
  advice_note(to, ctx, op_user_span(ctx, w->op), "program (%u, %u, %u) writes the wrong element here", w->program[0],
              w->program[1], w->program[2]);
}
