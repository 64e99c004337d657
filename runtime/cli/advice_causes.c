// Why an element is wrong, of what the kernel's operations did: the first infinity or NaN, a NaN that a maximum passed
// over, a division that rounded toward zero, a difference of unsigned numbers. A cause is certain: the interpreter runs
// again with another result there, and the element must change.
#include <math.h>
#include <string.h>

#include "ir/fold.h"
#include "runtime/cli/advice.h"

enum { MOST_IN = 3, MOST_SUSPECTS = 8 };
typedef enum { NOT_FINITE, NAN_IGNORED, TOWARD_ZERO, SIGN_KEPT, BELOW_ZERO } Surprise;

typedef struct {
  const Op *op;
  Surprise what;
  uint32_t program[3];
  uint64_t in[MOST_IN], out;   // elements: of the operands, of the result
  uint64_t lane;               // which of its elements
  bool has_argument;           // of the library's function that the op is a part of
  double argument;
} Suspect;

typedef struct {
  Rerun *rerun;
  double is, expected;         // the wrong element
  Suspect found[MOST_SUSPECTS];
  uint32_t count;
  bool has_overflow;           // of integers
  uint32_t tried;              // bit i: elements of found[i] get another result, those before end_lane
  size_t end_lane;
  bool has_kept;               // the last of these elements, at its first surprise
} Search;

// ---- what is surprising ----

static bool is_float(const Value *v) { return type_is_float(type_elem(v->type)); }

// Inside of a reduction, scan or map elements have no places of their own.
static bool is_combining(const Op *op) {
  const Op *around = op->parent->parent;
  return around && (around->opcode == OP_REDUCE || around->opcode == OP_SCAN || around->opcode == OP_MAP);
}

// An infinity of finite numbers, or a NaN of numbers.
static bool is_not_finite(const Op *op, const uint64_t *in, uint64_t out, uint64_t *instead) {
  const Value *r = &op->results[0];
  const double x = advice_number(r, out);
  if (isfinite(x) || op->opcode == OP_BITCAST) return false;
  for (uint32_t i = 0; i < op->num_operands; i++) {
    const double a = is_float(op_operand(op, i)) ? advice_number(op_operand(op, i), in[i]) : 0;
    if (isnan(a) || (isinf(x) && isinf(a))) return false;
  }
  *instead = num_encode(scalar_num_format(type_elem(r->type)->scalar), 1.0, NUM_RNE, false);
  return true;
}

static bool is_nan_ignored(const Op *op, const uint64_t *in, uint64_t out, uint64_t *instead) {
  const Value *r = &op->results[0];
  if (op->opcode != OP_MAXF && op->opcode != OP_MINF) return false;
  *instead = num_canonical_nan(scalar_num_format(type_elem(r->type)->scalar));
  return !isnan(advice_number(r, out)) && (isnan(advice_number(r, in[0])) || isnan(advice_number(r, in[1])));
}

static bool is_toward_zero(const Op *op, const uint64_t *in, uint64_t out, uint64_t *instead) {
  const uint32_t bits = type_elem_bits(op->results[0].type);
  const int64_t a = num_sext(in[0], bits), b = num_sext(in[1], bits);
  if ((op->opcode != OP_DIVSI && op->opcode != OP_REMSI) || !b || b == -1 || !(a % b) || (a < 0) == (b < 0))
    return false;
  *instead = num_zext(op->opcode == OP_DIVSI ? out - 1 : out + in[1], bits);
  return true;
}

static bool is_sign_kept(const Op *op, const uint64_t *in, uint64_t *instead) {
  const uint32_t bits = type_elem_bits(op->results[0].type);
  if (op->opcode != OP_SHRSI || num_sext(in[0], bits) >= 0 || !in[1] || in[1] >= bits) return false;
  *instead = num_zext(in[0], bits) >> in[1];
  return true;
}

// A difference of unsigned numbers that is far above what it is made of, once it is converted to a wider type.
static bool is_below_zero(const Op *op, const uint64_t *in, uint64_t *instead) {
  if (op->opcode != OP_UITOFP && op->opcode != OP_EXTUI) return false;
  const Type *t = type_elem(op->results[0].type);
  const uint32_t bits = type_elem_bits(op_operand(op, 0)->type);
  const int64_t number = num_sext(in[0], bits);
  if (bits == 1 || number >= 0) return false;
  *instead = op->opcode == OP_EXTUI ? num_zext((uint64_t)number, type_elem_bits(t))
                                    : num_encode(scalar_num_format(t->scalar), (double)number, NUM_RNE, false);
  return true;
}

// The library's own arithmetic is meant to overflow; a reduction's is the user's.
static bool may_overflow(const Op *op) {
  const SourceFile *f = source_locate(op->parent->func->module->ctx, op->span.begin).file;
  return type_is_int(type_elem(op->results[0].type)) && ((f && !f->is_embedded) || is_combining(op));
}

static bool overflows(const Op *op, const uint64_t *in) {
  const uint32_t bits = type_elem_bits(op->results[0].type);
  const int64_t a = num_sext(in[0], bits), b = num_sext(in[1], bits);
  int64_t r = 0;
  const bool is_far = op->opcode == OP_ADDI   ? __builtin_add_overflow(a, b, &r)
                      : op->opcode == OP_SUBI ? __builtin_sub_overflow(a, b, &r)
                      : op->opcode == OP_MULI ? __builtin_mul_overflow(a, b, &r)
                                              : false;
  return is_far || num_sext((uint64_t)r, bits) != r;
}

// Whether the op's result is surprising; *instead: what would not be.
static bool surprises(const Op *op, const uint64_t *in, uint64_t out, Surprise *what, uint64_t *instead) {
  const bool gives_float = is_float(&op->results[0]);
  if (gives_float && is_nan_ignored(op, in, out, instead)) return *what = NAN_IGNORED, true;
  if (gives_float && is_not_finite(op, in, out, instead)) return *what = NOT_FINITE, true;
  if (is_below_zero(op, in, instead)) return *what = BELOW_ZERO, true;
  if (!gives_float && is_sign_kept(op, in, instead)) return *what = SIGN_KEPT, true;
  return !gives_float && is_toward_zero(op, in, out, instead) && (*what = TOWARD_ZERO, true);
}

// ---- watching ----

static bool is_same(Span a, Span b) { return a.begin == b.begin && a.end == b.end; }

// The value that the function was given of which the op is a part. NULL: it is not found, or the op is an operator.
static const Value *argument_of(const Context *ctx, const Op *op, const Value *v, uint32_t depth) {
  enum { DEEP = 24 };
  const Op *d = v->def;
  const Span call = op_user_span(ctx, op);
  if (!d || depth > DEEP || (op->num_operands > 1 && is_same(call, op->span))) return NULL;
  if (!is_same(op_user_span(ctx, d), call)) return v;
  for (uint32_t i = 0; i < d->num_operands; i++) {
    const Value *found = op_operand(d, i) ? argument_of(ctx, op, op_operand(d, i), depth + 1) : NULL;
    if (found) return found;
  }
  return NULL;
}

static void keep(Suspect *s, const InterpStep *step, Surprise what, size_t lane, const uint64_t *in, uint64_t out) {
  const Op *op = step->op;
  *s = (Suspect){.op = op, .what = what, .out = out, .lane = lane};
  memcpy(s->in, in, sizeof s->in);
  memcpy(s->program, step->program, sizeof s->program);
  const Value *v = argument_of(op->parent->func->module->ctx, op, op_operand(op, 0), 0);
  const void *data = v && is_float(v) && !is_combining(op) ? interp_step_data(step, v) : NULL;
  if (!data) return;
  const size_t n = interp_step_count(step, v);
  s->has_argument = n == 1 || n == interp_step_count(step, &op->results[0]);
  if (s->has_argument) s->argument = advice_number(v, advice_bits(data, type_elem_bytes(v->type), n == 1 ? 0 : lane));
}

static Suspect *find(Search *s, const Op *op, Surprise what) {
  for (uint32_t i = 0; i < s->count; i++)
    if (s->found[i].op == op && s->found[i].what == what) return &s->found[i];
  return NULL;
}

// A product's element is made of many: the operand's NaN stands for them, if it has one, or its infinity.
static uint64_t worst_of(const InterpStep *step, const Value *v) {
  const uint8_t *data = interp_step_data(step, v);
  const uint32_t bytes = type_elem_bytes(v->type);
  uint64_t worst = 0;
  for (size_t i = 0, n = interp_step_count(step, v); i < n && is_float(v) && !isnan(advice_number(v, worst)); i++) {
    const uint64_t x = advice_bits(data, bytes, i);
    if (!isfinite(advice_number(v, x))) worst = x;
  }
  return worst;
}

static void look(Search *s, const InterpStep *step) {
  const Op *op = step->op;
  const bool is_product = op->opcode == OP_DOT;
  if ((!op_is(op, TRAIT_ELEMENTWISE) && !is_product) || op->num_results != 1 || op->num_operands > MOST_IN) return;
  const void *data[MOST_IN] = {NULL};
  uint32_t bytes[MOST_IN] = {0};
  uint64_t in[MOST_IN] = {0}, instead;
  for (uint32_t i = 0; i < op->num_operands; i++) {
    const Value *v = op_operand(op, i);
    if (!v || (!is_product && interp_step_count(step, v) != interp_step_count(step, &op->results[0]))) return;
    data[i] = interp_step_data(step, v);
    bytes[i] = type_elem_bytes(v->type);
    if (is_product) in[i] = worst_of(step, v);
  }
  uint8_t *out = interp_step_data(step, &op->results[0]);
  const bool is_checked = may_overflow(op);
  const uint32_t size = type_elem_bytes(op->results[0].type);
  for (size_t lane = 0, n = interp_step_count(step, &op->results[0]); lane < n; lane++) {
    Surprise what;
    for (uint32_t i = 0; i < op->num_operands && !is_product; i++) in[i] = advice_bits(data[i], bytes[i], lane);
    const uint64_t was = advice_bits(out, size, lane);
    s->has_overflow |= is_checked && overflows(op, in);
    if (!surprises(op, in, was, &what, &instead)) continue;
    Suspect *x = find(s, op, what);
    if (!x && !s->tried && s->count < MOST_SUSPECTS) keep(x = &s->found[s->count++], step, what, lane, in, was);
    if (!x || !(s->tried >> (x - s->found) & 1) || lane >= s->end_lane) continue;
    if (lane + 1 == s->end_lane && !s->has_kept) keep(x, step, what, lane, in, was), s->has_kept = true;
    memcpy(out + lane * size, &instead, size);
  }
}

static bool search_step(void *user, const InterpStep *step) {
  look(user, step);
  return true;
}

// Whether the element changes if these suspects have other results, in their elements before `end`. A division that
// rounds down, a shift without the sign or a number below zero must bring it nearer to what is expected.
static bool changes(Search *s, uint32_t suspects, size_t end, Surprise what) {
  Rerun *r = s->rerun;
  s->tried = suspects;
  s->end_lane = end;
  s->has_kept = false;
  const double before = fabs(s->is - s->expected);
  if (!rerun_launch(r, search_step, s) || rerun_bits(r) == r->held) return false;
  if (what != TOWARD_ZERO && what != SIGN_KEPT && what != BELOW_ZERO) return true;
  return fabs(rerun_number(r) - s->expected) < before;
}

// Which elements a suspect is about: it keeps the first that matters.
static void narrow(Search *s, uint32_t all, uint32_t i) {
  const Suspect *x = &s->found[i];
  size_t low = 0, high = (size_t)type_numel(x->op->results[0].type);
  if (is_combining(x->op) || all != 1u << i) return;
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    if (changes(s, all, middle, x->what)) high = middle; else low = middle;
  }
  changes(s, all, high, x->what);
}

// An infinity of a zero, as 1 / 0: where the result is finite it may well be meant, as log(0) in exp(log(x)).
static bool is_pole(const Suspect *s) {
  for (uint32_t i = 0; i < s->op->num_operands && s->what == NOT_FINITE; i++)
    if (is_float(op_operand(s->op, i)) && advice_number(op_operand(s->op, i), s->in[i]) == 0) return true;
  return s->what == NOT_FINITE && s->has_argument && s->argument == 0;
}

// The first suspect without which the others explain nothing: several may each be enough to make a sum infinite.
static const Suspect *find_cause(Search *s, Surprise what) {
  uint32_t all = 0;
  bool explained = false;
  for (uint32_t i = 0; i < s->count && !explained; i++) {
    if (s->found[i].what != what || (isfinite(s->is) && is_pole(&s->found[i]))) continue;
    const uint32_t alone = 1u << i;
    if ((explained = changes(s, alone, SIZE_MAX, what))) all = alone;
    else explained = (all |= alone) != alone && changes(s, all, SIZE_MAX, what);
  }
  for (uint32_t i = 0; i < s->count && explained; i++) {
    if (!(all >> i & 1) || (all != 1u << i && changes(s, all & ~(1u << i), SIZE_MAX, what))) continue;
    narrow(s, all, i);
    return &s->found[i];
  }
  return NULL;
}

// ---- telling ----

static const char *infix(Opcode oc) {
  switch (oc) {
  case OP_ADDF: return "+";
  case OP_SUBF: return "-";
  case OP_MULF: return "*";
  case OP_DIVF: case OP_DIVF_RN: return "/";
  default: return NULL;
  }
}

static void tell_not_finite(Buf *b, const Suspect *s) {
  const Op *op = s->op;
  const Type *t = type_elem(op->results[0].type), *from = type_elem(op_operand(op, 0)->type);
  const NumFormatInfo *info = num_format_info(scalar_num_format(t->scalar));
  const double x = advice_number(&op->results[0], s->out), a = advice_number(op_operand(op, 0), s->in[0]);
  const double second = op->num_operands > 1 ? advice_number(op_operand(op, 1), s->in[1]) : 0;
  const bool is_division = op->opcode == OP_DIVF || op->opcode == OP_DIVF_RN;
  buf_printf(b, " is %s", isnan(x) ? "NaN" : x < 0 ? "-inf" : "inf");
  if (infix(op->opcode) && !s->has_argument) buf_printf(b, ": %g %s %g", a, infix(op->opcode), second);
  else if (s->has_argument) buf_printf(b, " for %g", s->argument);
  else if (op->num_operands == 1) buf_printf(b, " for %g", a);
  if (isnan(x) && (isinf(a) || isinf(second))) buf_puts(b, "; select a finite number there by tl.where");
  if (isnan(x) || (is_division && second == 0) || (s->has_argument && s->argument == 0)) return;
  buf_printf(b, "; the largest %s number is %g", dtype_name_of(t->scalar), info->max_finite);
  const bool is_narrow = type_elem_bits(t) < 32 && type_elem_bits(from) <= type_elem_bits(t);
  if (is_narrow) buf_puts(b, ", so widen first: .to(tl.float32)");
}

static void tell(Advice *to, const Suspect *s) {
  Context *ctx = s->op->parent->func->module->ctx;
  Buf b = buf_make(to->arena);
  const Span at = op_user_span(ctx, s->op);
  buf_puts(&b, advice_source(to->arena, ctx, at));
  const int64_t x = (int64_t)advice_number(op_operand(s->op, 0), s->in[0]);
  const int64_t y = s->op->num_operands > 1 ? (int64_t)advice_number(op_operand(s->op, 1), s->in[1]) : 0;
  const int64_t r = (int64_t)advice_number(&s->op->results[0], s->out);
  if (s->what == NOT_FINITE) tell_not_finite(&b, s);
  else if (s->what == NAN_IGNORED)
    buf_puts(&b, " ignores NaN: tl.maximum and tl.minimum keep it with propagate_nan=tl.PropagateNan.ALL, also as the "
             "function of tl.reduce");
  else if (s->what == SIGN_KEPT)
    buf_printf(&b, " keeps the sign: %lld >> %lld is %lld; shift an unsigned number, x.to(tl.uint%u, bitcast=True), or "
               "take the low bits by & afterwards", (long long)x, (long long)y, (long long)r,
               type_elem_bits(s->op->results[0].type));
  else if (s->what == BELOW_ZERO)
    buf_printf(&b, " is of a number without a sign, which is %llu in place of %lld: convert the operands of the "
               "difference first, x.to(tl.int32)", (unsigned long long)s->in[0],
               (long long)num_sext(s->in[0], type_elem_bits(op_operand(s->op, 0)->type)));
  else if (s->op->opcode == OP_DIVSI)
    buf_printf(&b, " rounds toward zero, as in C: %lld // %lld is %lld; a // b - (a %% b < 0) rounds down for b > 0",
               (long long)x, (long long)y, (long long)r);
  else
    buf_printf(&b, " has the sign of its left operand, as in C: %lld %% %lld is %lld; (a %% b + b) %% b has the sign "
               "of b", (long long)x, (long long)y, (long long)r);
  buf_printf(&b, " (program (%u, %u, %u))", s->program[0], s->program[1], s->program[2]);
  advice_note(to, ctx, at, "%s", buf_str(&b));
}

static Search *search(Advice *to) {
  Search *s = arena_new(to->arena, Search);
  *s = (Search){.rerun = to->rerun, .is = rerun_number(to->rerun), .expected = host_get(to->c->ref, to->first_bad)};
  return rerun_launch(to->rerun, search_step, s) ? s : NULL;
}

void advise_causes(Advice *to) {
  Search *s = search(to);
  const bool is_number = s && !isnan(s->expected);
  const Suspect *cause = s ? find_cause(s, is_number ? NOT_FINITE : NAN_IGNORED) : NULL;
  if (!cause && is_number) cause = find_cause(s, TOWARD_ZERO);
  if (!cause && is_number) cause = find_cause(s, SIGN_KEPT);
  if (!cause && is_number) cause = find_cause(s, BELOW_ZERO);
  if (cause) tell(to, cause);
  if (cause && cause->what == NOT_FINITE && isfinite(s->expected) && !isfinite(s->is))
    advise_masked_pole(to, cause->op, cause->lane);
}

void advise_overflow(Advice *to) {
  enum { SMALL = 32 };         // a smaller error is none
  const bool asks = !host_is_float(to->c->dtype) && to->error >= SMALL && !to->c->run->options->debug;
  const Search *s = asks ? search(to) : NULL;
  if (!s || !s->has_overflow) return;
  buf_puts(to->out, "note: --debug stops where integers overflow\n");
  to->notes++;
}
