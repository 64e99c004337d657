// What to try next after --check or --expect has failed: one note, by what is known of the run and the kernel.
#include <math.h>
#include <string.h>

#include "ir/fold.h"
#include "runtime/cli/run.h"

// ---- elements that nothing was stored to ----

// The end of the buffer, from the first wrong element on, is as it was before the run.
static bool advise_untouched(Buf *out, const Comparison *c, uint64_t first_bad) {
  const HostTensor *was = c->initial, *now = c->got;
  const uint64_t bytes = host_elem_bytes(now->dtype), from = first_bad * bytes;
  if (memcmp(now->data + from, was->data + from, (now->count - first_bad) * bytes)) return false;
  if (!first_bad) {
    buf_printf(out, "note: %s has its initial values: did the kernel store to it?\n", c->name);
  } else if (now->rank == 1) {
    buf_printf(out, "note: %s[%llu:%llu] has its initial values: do the grid's programs and the masks cover it?\n",
               c->name, (unsigned long long)first_bad, (unsigned long long)now->count);
  } else {
    buf_printf(out, "note: %s has its initial values from ", c->name);
    run_print_index(out, now, first_bad);
    buf_puts(out, " on: do the grid's programs and the masks cover them?\n");
  }
  return true;
}

// The last columns of all rows.
static bool advise_untouched_columns(Buf *out, const Comparison *c) {
  const HostTensor *was = c->initial, *now = c->got;
  const uint64_t width = now->rank > 1 ? (uint64_t)now->shape[now->rank - 1] : 0, bytes = host_elem_bytes(now->dtype);
  uint64_t from = 0;
  for (uint64_t i = 0; width && i < now->count; i++)
    if (memcmp(now->data + i * bytes, was->data + i * bytes, bytes)) from = i % width + 1 > from ? i % width + 1 : from;
  bool matters = false;   // what is expected there is something else
  for (uint64_t i = 0; from && from < width && i < now->count; i++)
    matters |= i % width >= from && memcmp(now->data + i * bytes, c->ref->data + i * bytes, bytes);
  if (!matters || c->ref->dtype != now->dtype || c->ref->count != now->count) return false;
  buf_printf(out, "note: the columns %llu to %llu of %s have their initial values: do the block and the masks cover "
             "them?\n", (unsigned long long)from, (unsigned long long)width - 1, c->name);
  return true;
}

// ---- functions that are not associative ----

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

static void advise_combining(Op *op, void *user) {
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

// ---- the note ----

static void advise_division(Op *op, void *user) {
  Buf *out = user;
  if (out->size || (op->opcode != OP_DIVSI && op->opcode != OP_REMSI)) return;
  const LineCol at = source_locate(op->parent->func->module->ctx, op->span.begin);
  if (at.file && !at.file->is_embedded)
    buf_printf(out, "note: the %s of %s:%u rounds toward zero, as in C; --expect rounds down\n",
               op->opcode == OP_DIVSI ? "`//`" : "`%`", at.file->path, at.line);
}

// Suggests --debug for large errors of integers, because an overflow makes a large one.
void run_advise(Buf *out, const Comparison *c, uint64_t first_bad, double error) {
  enum { SMALL = 32 };
  if (advise_untouched(out, c, first_bad) || advise_untouched_columns(out, c)) return;
  Buf b = buf_make(out->arena);
  if (c->module) module_walk(c->module, advise_combining, &b);
  if (!b.size && !host_is_float(c->dtype)) {
    if (error >= SMALL && !c->run->options->debug) buf_puts(&b, "note: --debug stops where integers overflow\n");
    else if (error < SMALL && c->module && !strcmp(c->what, "expect")) module_walk(c->module, advise_division, &b);
  }
  if (!strstr(buf_str(out), buf_str(&b))) buf_puts(out, buf_str(&b));
}
