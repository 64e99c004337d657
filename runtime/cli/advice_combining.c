// Finds scans and reductions whose combine function is not associative, so that the order of combining matters.
#include <math.h>

#include "ir/fold.h"
#include "runtime/cli/advice.h"

enum { MOST_VALUES = 128, MOST_PARTS = 4, SAMPLES = 8 };
typedef struct { uint64_t part[MOST_PARTS]; } Element;   // bits, one for each combined tensor

typedef struct {
  const Value *values[MOST_VALUES];
  uint64_t bits[MOST_VALUES];
  uint32_t count;
} Known;

static bool know(Known *k, const Value *v, uint64_t bits) {
  if (k->count == MOST_VALUES) return false;
  k->values[k->count] = v;
  k->bits[k->count++] = bits;
  return true;
}

static const uint64_t *bits_of(const Known *k, const Value *v) {
  for (uint32_t i = k->count; i-- > 0;)
    if (k->values[i] == v) return &k->bits[i];
  return NULL;
}

static bool evaluate(Known *k, const Op *op) {
  enum { MOST_OPERANDS = 4 };
  const Type *types[MOST_OPERANDS];
  uint64_t in[MOST_OPERANDS];
  if (op->opcode == OP_CONSTANT) return know(k, &op->results[0], (uint64_t)op_int(op, ATTR_VALUE, 0));
  if (!eval_is_scalar_op(op->opcode) || op->num_results != 1 || op->num_operands > MOST_OPERANDS) return false;
  for (uint32_t i = 0; i < op->num_operands; i++) {
    const Value *v = op_operand(op, i);
    const uint64_t *bits = v ? bits_of(k, v) : NULL;
    if (!bits) return false;
    types[i] = v->type;
    in[i] = *bits;
  }
  return know(k, &op->results[0], eval_scalar(op, types, op->results[0].type, in));
}

// Runs the function of a scan or reduction on two elements; false if only the interpreter could.
static bool combine(const Block *b, const Element *x, const Element *y, Element *out) {
  Known k = {.count = 0};
  const uint32_t parts = b->num_args / 2;
  for (uint32_t i = 0; i < parts; i++)
    if (!know(&k, b->args[i], x->part[i]) || !know(&k, b->args[parts + i], y->part[i])) return false;
  EACH_OP(op, b) {
    if (op == b->last) break;
    if (!evaluate(&k, op)) return false;
  }
  for (uint32_t i = 0; i < parts; i++) {
    const uint64_t *bits = bits_of(&k, op_operand(b->last, i));
    if (!bits) return false;
    out->part[i] = *bits;
  }
  return true;
}

static double number(const Type *t, uint64_t bits) {
  return type_is_float(t) ? num_decode(scalar_num_format(t->scalar), bits) : (double)(int64_t)bits;
}

static double sample_number(uint32_t sample, uint32_t element, uint32_t part) {
  static const double numbers[] = {1, 2, 4, 3, 7, 5, 6};
  return numbers[(sample * 3 + element + part * 2) % countof(numbers)];
}

static bool sample(const Block *b, uint32_t which, Element x[3]) {
  for (uint32_t i = 0; i < b->num_args / 2; i++) {
    const Type *t = b->args[i]->type;
    if (t->kind != TYPE_SCALAR || type_elem_bits(t) == 1) return false;
    for (uint32_t e = 0; e < 3; e++) {
      const double v = sample_number(which, e, i);
      x[e].part[i] = type_is_float(t) ? num_encode(scalar_num_format(t->scalar), v, NUM_RNE, false) : (uint64_t)v;
    }
  }
  return true;
}

// Whether (x ∘ y) ∘ z differs from x ∘ (y ∘ z) by more than rounding for some sample; *known: it could be computed.
typedef struct { uint32_t sample; double left, right; bool known; } Grouping;

static bool groups_differently(const Block *b, Grouping *g) {
  const double rounding = 0.02;
  *g = (Grouping){.known = false};
  if (b->num_args / 2 > MOST_PARTS) return false;
  for (; g->sample < SAMPLES; g->sample++) {
    Element x[3], left, right;
    if (!sample(b, g->sample, x) || !combine(b, &x[0], &x[1], &left) || !combine(b, &left, &x[2], &left) ||
        !combine(b, &x[1], &x[2], &right) || !combine(b, &x[0], &right, &right))
      return false;
    g->known = true;
    for (uint32_t i = 0; i < b->num_args / 2; i++) {
      g->left = number(b->args[i]->type, left.part[i]);
      g->right = number(b->args[i]->type, right.part[i]);
      if (fabs(g->left - g->right) > rounding * fmax(fabs(g->left), fabs(g->right))) return true;
    }
  }
  return false;
}

// The user's function that became the block; NULL: it is the language's.
static const Op *user_function(const Op *combining) {
  const Context *ctx = combining->parent->func->module->ctx;
  EACH_OP(op, combining->blocks[0]) {
    const SourceFile *f = source_locate(ctx, op->span.begin).file;
    if (op->inlined_at && op->inlined_at != combining->inlined_at && op->inlined_at->function && f && !f->is_embedded)
      return op;
  }
  return NULL;
}

static void judge(Op *op, void *user) {
  Buf *out = user;
  const Op *in = op->opcode == OP_SCAN || op->opcode == OP_REDUCE ? user_function(op) : NULL;
  Grouping g;
  if (!in || (!groups_differently(op->blocks[0], &g) && g.known)) return;
  const LineCol at = source_locate(in->parent->func->module->ctx, in->span.begin);
  const char *name = in->inlined_at->function;
  if (!g.known) {
    buf_printf(out, "note: a scan or reduction combines in any order: is `%s` (%s:%u) associative?\n", name,
               at.file->path, at.line);
    return;
  }
  buf_printf(out, "note: a scan or reduction combines in any order, and `%s` (%s:%u) is not associative", name,
             at.file->path, at.line);
  const double x = sample_number(g.sample, 0, 0), y = sample_number(g.sample, 1, 0), z = sample_number(g.sample, 2, 0);
  if (op->blocks[0]->num_args == 2)
    buf_printf(out, ": %s(%s(%g, %g), %g) is %g, %s(%g, %s(%g, %g)) is %g", name, name, x, y, z, g.left, name, x, name,
               y, z, g.right);
  buf_putc(out, '\n');
}

// ---- ties ----

static bool has_equal_parts(const Element *x, const Element *y) {
  return x->part[0] == y->part[0] && x->part[1] == y->part[1];
}

bool combining_has_ties(const Op *reduce) {
  const Block *b = reduce->blocks[0];
  Element x = {{0}}, y = {{0}}, xy, yx;
  if (b->num_args != 4 || !type_is_int(b->args[1]->type)) return false;
  const Type *t = b->args[0]->type;
  const uint64_t three = type_is_float(t) ? num_encode(scalar_num_format(t->scalar), 3, NUM_RNE, false) : 3,
                 four = type_is_float(t) ? num_encode(scalar_num_format(t->scalar), 4, NUM_RNE, false) : 4;
  x = (Element){{three, 1}};
  y = (Element){{four, 2}};
  if (!combine(b, &x, &y, &xy) || !combine(b, &y, &x, &yx) || !has_equal_parts(&xy, &yx)) return false;
  y.part[0] = three;
  return combine(b, &x, &y, &xy) && combine(b, &y, &x, &yx) && !has_equal_parts(&xy, &yx) &&
         (has_equal_parts(&xy, &x) || has_equal_parts(&xy, &y));
}

void advise_combining(Advice *to) {
  Buf b = buf_make(to->arena);
  module_walk(to->c->module, judge, &b);
  if (!b.size) return;
  to->notes++;
  if (!strstr(buf_str(to->out), buf_str(&b))) buf_puts(to->out, buf_str(&b));
}
