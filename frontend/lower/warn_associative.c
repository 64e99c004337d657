// -Wnot-associative: a reduction or scan by a function f for which f(f(a, b), c) differs from f(a, f(b, c)). The body
// is run on a few numbers. A function that does more than arithmetic on scalars is not judged.
#include <math.h>

#include "frontend/lower/warnings.h"
#include "ir/fold.h"

enum { MAX_OPS = 256, MAX_ITEMS = 4, TRIALS = 64 };

typedef struct { const Value *v; uint64_t bits; } Known;
typedef struct {
  const Block *block;
  uint32_t num_items;          // each element of the reduction is so many scalars
  Known known[MAX_OPS];
  uint32_t num_known;
} Run;
typedef struct { uint64_t bits[MAX_ITEMS]; } Element;

static bool find(const Run *r, const Value *v, uint64_t *bits) {
  if (value_constant_bits(v, bits)) return true;
  for (uint32_t i = r->num_known; i-- > 0;)
    if (r->known[i].v == v) return *bits = r->known[i].bits, true;
  return false;
}

// f(a, b) in *out. False if it is not known.
static bool apply(Run *r, const Element *a, const Element *b, Element *out) {
  r->num_known = 0;
  for (uint32_t i = 0; i < 2 * r->num_items; i++)
    r->known[r->num_known++] = (Known){r->block->args[i], i < r->num_items ? a->bits[i] : b->bits[i - r->num_items]};
  EACH_OP(op, r->block) {
    if (op->opcode == OP_CONSTANT) continue;
    uint64_t in[MAX_ITEMS];
    const Type *types[MAX_ITEMS];
    if (op->num_operands > MAX_ITEMS || r->num_known == MAX_OPS) return false;
    for (uint32_t i = 0; i < op->num_operands; i++) {
      if (!op_operand(op, i) || !find(r, op_operand(op, i), &in[i])) return false;
      types[i] = type_elem(op_operand(op, i)->type);
    }
    if (op->opcode == OP_YIELD) {
      for (uint32_t i = 0; i < r->num_items; i++) out->bits[i] = in[i];
      return op->num_operands == r->num_items;
    }
    if (!eval_is_scalar_op(op->opcode) || op->num_results != 1) return false;
    const Type *t = type_elem(op->results[0].type);
    r->known[r->num_known++] = (Known){&op->results[0], eval_scalar(op, types, t, in)};
  }
  return false;
}

static uint64_t encode(const Type *t, uint32_t number) {
  return type_is_float(t) ? num_encode(scalar_num_format(t->scalar), number, NUM_RNE, false)
                          : num_zext(type_elem_bits(t) == 1 ? number & 1 : number, type_elem_bits(t));
}

static double decode(const Type *t, uint64_t bits) {
  if (type_is_float(t)) return num_decode(scalar_num_format(t->scalar), bits);
  return type_elem_bits(t) == 1 ? (double)(bits & 1) : (double)num_sext(bits, type_elem_bits(t));
}

// Whether two results differ by more than rounding; those that overflow or are no numbers tell nothing.
static bool differ(const Run *r, const Element *x, const Element *y) {
  bool found = false;
  for (uint32_t i = 0; i < r->num_items; i++) {
    const Type *t = r->block->args[i]->type;
    const double a = decode(t, x->bits[i]), b = decode(t, y->bits[i]);
    if (!isfinite(a) || !isfinite(b)) return false;
    found |= type_is_float(t) ? fabs(a - b) > 0.1 * fmax(fabs(a), fabs(b)) : a != b;
  }
  return found;
}

typedef struct { Element of[3], left, right; } Example;   // left: f(f(a, b), c); right: f(a, f(b, c))

// Tries random numbers from [low, low + range). Returns true at the first example, with it in *out.
static bool search(Run *r, uint32_t low, uint32_t range, Example *out) {
  uint32_t seed = 1;
  for (uint32_t trial = 0; trial < TRIALS; trial++) {
    Example e;
    Element inner;
    for (uint32_t k = 0; k < 3; k++)
      for (uint32_t i = 0; i < r->num_items; i++) {
        seed = seed * 1664525u + 1013904223u;
        e.of[k].bits[i] = encode(r->block->args[i]->type, low + (seed >> 16) % range);
      }
    if (!apply(r, &e.of[0], &e.of[1], &inner) || !apply(r, &inner, &e.of[2], &e.left)) return false;
    if (!apply(r, &e.of[1], &e.of[2], &inner) || !apply(r, &e.of[0], &inner, &e.right)) return false;
    if (differ(r, &e.left, &e.right)) return *out = e, true;
  }
  return false;
}

void lower_warn_not_associative(Lower *L, const Op *op, const char *function, Span span) {
  const Block *block = op->blocks[0];
  Run r = {.block = block, .num_items = block->num_args / 2};
  Example e;
  if (!r.num_items || r.num_items > MAX_ITEMS) return;
  // A function may be meant for flags, or for positive numbers: it is wrong for both.
  if (!search(&r, 0, 2, &e) || !search(&r, 1, 4, &e)) return;
  if (!diag_warning(L->ctx, WARN_NOT_ASSOCIATIVE, span,
                    "the result depends on the order in which `%s` combines the elements, which is not from left to "
                    "right",
                    function))
    return;
  const Type *t = block->args[0]->type;
  if (r.num_items == 1) {
    const double a = decode(t, e.of[0].bits[0]), b = decode(t, e.of[1].bits[0]), c = decode(t, e.of[2].bits[0]);
    lower_hint(L, "%s(%s(%g, %g), %g) is %g, and %s(%g, %s(%g, %g)) is %g: both must be equal", function, function, a,
               b, c, decode(t, e.left.bits[0]), function, a, function, b, c, decode(t, e.right.bits[0]));
  }
  if (op->opcode == OP_SCAN)
    lower_hint(L, "a recurrence s = g * s + x is a scan of pairs (g, x) by a function that returns g1 * g2, "
                  "x1 * g2 + x2");
  else
    lower_hint(L, "reduce by what does not depend on it, such as a + b, and do the rest before or after");
}
