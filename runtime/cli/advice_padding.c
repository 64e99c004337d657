// Elements that a mask left out of a load. They may reach a sum as something else than 0: the interpreter runs a second
// time with other numbers in their place, while the results of reductions, products and loads are as before. The terms
// of a sum that differ then are made of those elements; of these alone, unless they also differ with other numbers in
// place of what is loaded, as an accumulator does. Or one is the largest or the smallest of all: with the least or the
// greatest number in their place the wrong element is then right.
#include <math.h>
#include <stdlib.h>

#include "ir/fold.h"
#include "runtime/cli/advice.h"

enum { MOST_BYTES = 1 << 25, MOST_LOADS = 8 };

typedef struct {
  Rerun *rerun;
  uint8_t *log;                // of the first run: for each op that is as before, its result, and a sum's terms
  size_t used, at;
  bool is_full;
  const Op *loads[MOST_LOADS]; // with elements that are left out
  uint32_t num_loads;
  const Op *tried;             // the load with other elements where the mask left some out; NULL: all, where it did not
  const Op *sum;               // which they reach
  size_t left_out, terms;      // of the sum
  double left;                 // one of its terms that are left out
} LeftOut;

static bool is_float(const Value *v) { return type_is_float(type_elem(v->type)); }
static NumFormat format_of(const Value *v) { return scalar_num_format(type_elem(v->type)->scalar); }
static size_t bytes_of(const Value *v) { return (size_t)type_numel(v->type) * type_elem_bytes(v->type); }

static bool is_sum(const Op *op) {
  if (op->opcode != OP_REDUCE || op->num_operands != 1) return false;
  const Op *first = op->blocks[0]->first;
  return is_float(&op->results[0]) && first->opcode == OP_ADDF && first->next == op->blocks[0]->last;
}

static bool is_kept(const Op *op) {
  return op->opcode == OP_REDUCE || op->opcode == OP_SCAN || op->opcode == OP_LOAD || op_unit(op) == UNIT_DOT;
}

static bool leaves_out(const InterpStep *step) {
  const Op *op = step->op;
  const uint8_t *mask = op->opcode == OP_LOAD && op_operand(op, 2) ? interp_step_data(step, op_operand(op, 2)) : NULL;
  return mask && is_float(&op->results[0]) && memchr(mask, 0, (size_t)type_numel(op->results[0].type));
}

static void write_log(LeftOut *p, const void *data, size_t n) {
  p->is_full |= n > MOST_BYTES - p->used;
  if (p->is_full) return;
  memcpy(p->log + p->used, data, n);
  p->used += n;
}

static bool record(void *user, const InterpStep *step) {
  LeftOut *p = user;
  const Op *op = step->op;
  if (!is_kept(op)) return true;
  for (uint32_t i = 0; i < op->num_results; i++)
    write_log(p, interp_step_data(step, &op->results[i]), bytes_of(&op->results[i]));
  if (is_sum(op)) write_log(p, interp_step_data(step, op_operand(op, 0)), bytes_of(op_operand(op, 0)));
  bool is_known = !leaves_out(step) || p->num_loads == MOST_LOADS;
  for (uint32_t i = 0; i < p->num_loads; i++) is_known |= p->loads[i] == op;
  if (!is_known) p->loads[p->num_loads++] = op;
  return true;
}

// Changes the elements that the mask left out or, if left_out is false, those that were loaded.
static void fill(const InterpStep *step, bool left_out) {
  const Value *r = &step->op->results[0];
  const Value *m = step->op->opcode == OP_LOAD ? op_operand(step->op, 2) : NULL;
  const uint8_t *mask = m ? interp_step_data(step, m) : NULL;
  const uint32_t bytes = type_elem_bytes(r->type);
  uint8_t *data = interp_step_data(step, r);
  for (size_t i = 0, n = (size_t)type_numel(r->type); i < n; i++) {
    if ((mask && !mask[i]) != left_out) continue;
    const double x = num_decode(format_of(r), advice_bits(data, bytes, i));
    const uint64_t other = num_encode(format_of(r), isfinite(x) ? x + 3 : 3, NUM_RNE, false);
    memcpy(data + i * bytes, &other, bytes);
  }
}

// Forgets the terms that have changed: something that is loaded is in them.
static void forget_changed(const InterpStep *step, uint8_t *before) {
  const Value *v = op_operand(step->op, 0);
  const uint32_t bytes = type_elem_bytes(v->type);
  const uint8_t *now = interp_step_data(step, v);
  for (size_t i = 0, n = bytes_of(v); i < n; i += bytes)
    if (memcmp(now + i, before + i, bytes)) memset(before + i, 0, bytes);
}

// Compares a sum's terms with those of the first run: do left out ones meet others in one sum without being 0?
static void judge_sum(LeftOut *p, const InterpStep *step, const uint8_t *before) {
  const Value *v = op_operand(step->op, 0);
  const Type *t = v->type;
  const uint32_t bytes = type_elem_bytes(t), axis = (uint32_t)op_int(step->op, ATTR_AXIS, 0);
  const size_t size = (size_t)t->shape[axis];
  const uint8_t *now = interp_step_data(step, v);
  size_t inner = 1;
  for (uint32_t k = axis + 1; k < t->rank; k++) inner *= (size_t)t->shape[k];
  for (size_t line = 0; line < (size_t)type_numel(t) / size && !p->sum; line++) {
    size_t left_out = 0;
    for (size_t i = 0; i < size; i++) {
      const size_t at = (line / inner * size + i) * inner + line % inner;
      const double x = num_decode(format_of(v), advice_bits(before, bytes, at));
      if (!memcmp(now + at * bytes, before + at * bytes, bytes) || x == 0) continue;
      left_out++;
      p->left = x;
    }
    if (!left_out || left_out == size) continue;
    p->sum = step->op;
    p->left_out = left_out;
    p->terms = size;
  }
}

static bool is_read(const Op *op) {
  if (!op_is(op, TRAIT_READS) || op->num_results != 1) return false;
  const TypeKind kind = op->results[0].type->kind;
  return (kind == TYPE_TENSOR || kind == TYPE_SCALAR) && is_float(&op->results[0]);
}

// Takes the next value from the log; NULL: the run goes another way.
static uint8_t *next(LeftOut *p, const Value *v) {
  const size_t n = bytes_of(v);
  if (n > p->used - p->at) return NULL;
  p->at += n;
  return p->log + p->at - n;
}

static bool replay(void *user, const InterpStep *step) {
  LeftOut *p = user;
  const Op *op = step->op;
  for (uint32_t i = 0; i < op->num_results && is_kept(op); i++) {
    const uint8_t *before = next(p, &op->results[i]);
    if (!before) return false;
    memcpy(interp_step_data(step, &op->results[i]), before, bytes_of(&op->results[i]));
  }
  if (is_sum(op)) {
    uint8_t *before = next(p, op_operand(op, 0));
    if (!before) return false;
    if (p->tried) judge_sum(p, step, before);
    else forget_changed(step, before);
  }
  if (p->tried ? op == p->tried : is_read(op)) fill(step, p->tried != NULL);
  return !p->sum;
}

// Makes the sum another one.
static bool change(void *user, const InterpStep *step) {
  const LeftOut *p = user;
  if (step->op != p->sum) return true;
  const Value *r = &step->op->results[0];
  const uint32_t bytes = type_elem_bytes(r->type);
  uint8_t *data = interp_step_data(step, r);
  for (size_t i = 0, n = (size_t)type_numel(r->type); i < n; i++) {
    const double x = num_decode(format_of(r), advice_bits(data, bytes, i));
    const uint64_t other = num_encode(format_of(r), isfinite(x) ? 2 * x + 1 : 1, NUM_RNE, false);
    memcpy(data + i * bytes, &other, bytes);
  }
  return true;
}

static bool reaches_element(LeftOut *p) {
  p->at = 0;
  p->sum = NULL;
  rerun_launch(p->rerun, replay, p);
  return p->sum && rerun_launch(p->rerun, change, p) && rerun_bits(p->rerun) != p->rerun->held;
}

void advise_padding(Advice *to) {
  Rerun *rerun = to->rerun;
  LeftOut p = {.rerun = rerun, .log = malloc(MOST_BYTES)};
  const bool is_recorded = p.log && rerun_launch(rerun, record, &p) && !p.is_full && p.num_loads &&
                           rerun_launch(rerun, replay, &p);
  for (uint32_t i = 0; i < p.num_loads && is_recorded; i++) {
    p.tried = p.loads[i];
    if (!reaches_element(&p)) continue;
    Context *ctx = p.sum->parent->func->module->ctx;
    const Span at = op_user_span(ctx, p.sum);
    advice_note(to, ctx, at, "%s also adds what a mask left out, as %g: %zu of %zu terms; select 0 there by "
                "tl.where(mask, x, 0.0)", advice_source(to->arena, ctx, at), p.left, p.left_out, p.terms);
    advice_note(to, ctx, op_user_span(ctx, p.tried), "this load has the mask");
    break;
  }
  free(p.log);
}

// ---- the largest and the smallest ----

typedef struct { VEC(const Op *) loads; bool has_extreme, is_unsigned; Arena *arena; } Masked;

// An infinity in place of a factor does not stay the least or the greatest.
static bool is_factor(const Value *v) {
  EACH_USE(u, v) {
    const Op *user = u->user;
    if (user->opcode == OP_MULF || user->opcode == OP_FMA || user->opcode == OP_MULI || op_unit(user) == UNIT_DOT)
      return true;
    if (op_is(user, TRAIT_CONVERTS | TRAIT_MOVES) && user->num_results == 1 && is_factor(&user->results[0])) return true;
  }
  return false;
}

static void find_unsigned(Op *op, void *user) {
  const int64_t pred = op->opcode == OP_CMPI ? op_int(op, ATTR_PRED, 0) : CMP_EQ;
  *(bool *)user |= op->opcode == OP_MAXUI || op->opcode == OP_MINUI || pred == CMP_ULT || pred == CMP_ULE ||
                   pred == CMP_UGT || pred == CMP_UGE;
}

// Of unsigned integers the least and the greatest number are others.
static void find_masked(Op *op, void *user) {
  Masked *m = user;
  if (op->opcode == OP_REDUCE) block_walk(op->blocks[0], find_unsigned, &m->is_unsigned);
  m->has_extreme |= op->opcode == OP_REDUCE && !is_sum(op);
  const TypeKind kind = op->opcode == OP_LOAD && op_operand(op, 2) ? op->results[0].type->kind : TYPE_PTR;
  const bool is_number = kind == TYPE_TENSOR && type_elem(op->results[0].type)->kind == TYPE_SCALAR;
  if (is_number && m->loads.count < MOST_LOADS) vec_push(m->arena, &m->loads, op);
}

// The least number of the type, or the greatest.
static uint64_t extreme_of(const Type *elem, bool is_least) {
  const uint32_t bits = type_elem_bits(elem);
  if (type_is_float(elem))
    return num_encode(scalar_num_format(elem->scalar), is_least ? -INFINITY : INFINITY, NUM_RNE, false);
  return is_least ? 1ull << (bits - 1) : (1ull << (bits - 1)) - 1;
}

typedef struct { const Op *load; uint64_t instead, was; } Replace;

static bool replace(void *user, const InterpStep *step) {
  Replace *r = user;
  if (step->op != r->load) return true;
  const Value *v = &step->op->results[0];
  const uint32_t bytes = type_elem_bytes(v->type);
  const uint8_t *mask = interp_step_data(step, op_operand(step->op, 2));
  uint8_t *data = interp_step_data(step, v);
  for (size_t i = 0, n = interp_step_count(step, v); i < n; i++) {
    if (mask[i]) continue;
    r->was = advice_bits(data, bytes, i);
    memcpy(data + i * bytes, &r->instead, bytes);
  }
  return true;
}

// Whether the wrong element is a little different if what the mask leaves out is.
static bool matters(Advice *to, const Replace *r) {
  const Type *t = type_elem(r->load->results[0].type);
  Replace near = {.load = r->load, .instead = r->was - 1};
  if (type_is_float(t)) {
    const double was = num_decode(scalar_num_format(t->scalar), r->was);
    near.instead = num_encode(scalar_num_format(t->scalar), was - fmax(1, fabs(was)) / 16, NUM_RNE, false);
  }
  return rerun_launch(to->rerun, replace, &near) && rerun_bits(to->rerun) != to->rerun->held;
}

static void tell_extreme(Advice *to, const Replace *r, bool is_least) {
  Context *ctx = r->load->parent->func->module->ctx;
  const Type *t = type_elem(r->load->results[0].type);
  const double was = advice_number(&r->load->results[0], r->was);
  const long long integer = num_sext(r->instead, type_elem_bits(t));
  const char *other = !type_is_float(t) ? arena_printf(to->arena, "%lld", integer)
                      : is_least        ? "-float(\"inf\")"
                                        : "float(\"inf\")";
  advice_note(to, ctx, op_user_span(ctx, r->load), "what the mask leaves out here is %g, and the %s of all: other=%s",
              was, is_least ? "largest" : "smallest", other);
}

void advise_extremes(Advice *to) {
  Module *m = to->rerun->session.program->module;
  Masked masked = {.arena = to->arena};
  module_walk(m, find_masked, &masked);
  for (uint32_t i = 0; masked.has_extreme && i < 2 * masked.loads.count && !to->notes; i++) {
    const Op *load = masked.loads.data[i / 2];
    const Type *elem = type_elem(load->results[0].type);
    if (is_factor(&load->results[0]) || type_elem_bits(elem) == 1) continue;
    if (type_is_int(elem) && masked.is_unsigned) continue;
    const bool is_least = i % 2 == 0;
    Replace r = {.load = load, .instead = extreme_of(type_elem(load->results[0].type), is_least)};
    if (rerun_launch(to->rerun, replace, &r) && advice_is_right(to) && matters(to, &r)) tell_extreme(to, &r, is_least);
  }
}

// ---- a masked element that is not finite ----

typedef struct { const Op *load; uint64_t lane; bool is_left_out; uint64_t was; } Lane;

static bool look_at_lane(void *user, const InterpStep *step) {
  Lane *l = user;
  if (step->op != l->load) return true;
  const Value *v = &step->op->results[0];
  const uint8_t *mask = interp_step_data(step, op_operand(step->op, 2));
  if (l->is_left_out || mask[l->lane]) return true;
  l->is_left_out = true;
  l->was = advice_bits(interp_step_data(step, v), type_elem_bytes(v->type), l->lane);
  return true;
}

void advise_masked_pole(Advice *to, const Op *cause, uint64_t lane) {
  Masked masked = {.arena = to->arena};
  module_walk(to->rerun->session.program->module, find_masked, &masked);
  for (uint32_t i = 0; i < masked.loads.count; i++) {
    Lane l = {.load = masked.loads.data[i], .lane = lane};
    const Value *v = &l.load->results[0];
    if (!is_float(v) || !type_same_shape(v->type, cause->results[0].type)) continue;
    if (!rerun_launch(to->rerun, look_at_lane, &l) || !l.is_left_out) continue;
    Context *ctx = l.load->parent->func->module->ctx;
    const double was = num_decode(format_of(v), l.was);
    advice_note(to, ctx, op_user_span(ctx, l.load), "what the mask leaves out here, as %g, becomes that: keep it out of "
                "the result by tl.where(mask, …, 0.0), or load another number by other=", was);
    return;
  }
}
