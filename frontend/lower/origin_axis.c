// Notes for two tensors whose shapes do not broadcast: where each got its extent, and the way out.
#include "frontend/lower/hints.h"
#include "frontend/lower/statements.h"
#include "frontend/lower/term.h"
#include "ir/loop.h"

#include <string.h>

enum { MAX_STEPS = 64 };   // of a computation that is looked at

const Value *lower_before_loop(const Lower *L, const Value *v) {
  const MapSlot *slot = map_get(&L->inits, v);
  return slot ? slot->value : NULL;
}

static const Op *find_extent(const Lower *L, const Value *v, uint32_t axis, int depth);

// The same of a result of a loop or an `if`.
static const Op *find_in_region(const Lower *L, const Value *v, uint32_t axis, int depth) {
  const Op *op = v->def;
  if (op->opcode != OP_IF)
    return find_extent(L, op_operand(op, op->num_operands - op->num_results + v->index), axis, depth);
  for (uint32_t i = 0; i < op->num_blocks; i++) {
    const Op *found = find_extent(L, op_operand(block_terminator(op->blocks[i]), v->index), axis, depth);
    if (found) return found;
  }
  return NULL;
}

// The same of what an op computes from operands of v's shape. Numbers that are spread for it come last.
static const Op *find_in_operands(const Lower *L, const Value *v, uint32_t axis, int depth) {
  const Op *op = v->def;
  bool has_like = false;
  for (uint32_t i = 0; i < op->num_operands; i++) {
    const Value *x = op_operand(op, i);
    if (!x || x->type->kind == TYPE_DESC || !type_same_shape(x->type, v->type)) continue;
    has_like = true;
    const bool is_number = x->def && (x->def->opcode == OP_SPLAT || x->def->opcode == OP_CONSTANT);
    const Op *found = is_number && lower_same_place(x->def, op) ? NULL : find_extent(L, x, axis, depth);
    if (found) return found;
  }
  return has_like ? NULL : op;
}

// The op that gave v its extent along an axis; NULL if that is not known, or the extent is what broadcasting made of 1.
static const Op *find_extent(const Lower *L, const Value *v, uint32_t axis, int depth) {
  if (!v || axis >= v->type->rank || ++depth > MAX_STEPS) return NULL;
  const Op *op = v->def;
  if (!op) return find_extent(L, lower_before_loop(L, v), axis, depth);
  const Value *x = op->num_operands ? op_operand(op, 0) : NULL;
  const uint32_t own = (uint32_t)op_int(op, ATTR_AXIS, 0);
  switch (op->opcode) {
  case OP_FOR: case OP_WHILE: case OP_IF: return find_in_region(L, v, axis, depth);
  case OP_EXPAND_DIMS: return axis == own ? op : find_extent(L, x, axis - (axis > own), depth);
  case OP_BROADCAST:
    return x->type->shape[axis] == v->type->shape[axis] ? find_extent(L, x, axis, depth) : NULL;
  case OP_TRANS: {
    const Attr *order = op_attr(op, ATTR_ORDER);
    return order && axis < order->num_ints ? find_extent(L, x, (uint32_t)order->ints[axis], depth) : op;
  }
  case OP_REDUCE: return find_extent(L, x, axis + (axis >= own), depth);
  case OP_DOT: {
    if (axis + 2 < v->type->rank) return find_extent(L, x, axis, depth);
    const Op *found = find_extent(L, axis + 1 == v->type->rank ? op_operand(op, 1) : x, axis, depth);
    return found ? found : op;
  }
  default: return find_in_operands(L, v, axis, depth);
  }
}

// The place that the user wrote of an op.
static Span user_span(Lower *L, const Op *op) {
  Span span = op->span;
  for (const CallSite *site = op->inlined_at; site && lower_in_prelude(L, span); site = site->outer) span = site->span;
  return span;
}

typedef struct { Lower *L; int64_t value; const char *name; } Named;

// The first name in an expression that is a constant of that value.
static void find_name(const Node *n, void *user) {
  Named *named = user;
  int64_t value;
  if (named->name) return;
  if (n->kind != NODE_NAME) {
    ast_each_child(n, find_name, user);
    return;
  }
  const CtValue *c = lower_constant_named(named->L, n->name.id);
  const Term *t = c ? term_const(named->L, (CtValue *)c) : NULL;
  if (t && term_get_int(t, &value) && value == named->value) named->name = n->name.id;
}

static bool is_inside(Span inner, Span outer) { return inner.begin >= outer.begin && inner.end <= outer.end; }

// Notes where x got its extent along an axis, unless within `error`. Returns the name of the constant that it is there,
// or NULL.
static const char *note_extent(Lower *L, const Term *x, uint32_t axis, Span error) {
  const Op *op = term_is_tensor(x) ? find_extent(L, term_v(x), axis, 0) : NULL;
  if (!op || op->opcode == OP_DESC_LOAD || lower_in_prelude(L, user_span(L, op))) {
    lower_note_shape(L, x, error);
    return NULL;
  }
  const Span span = user_span(L, op);
  const long long extent = (long long)term_t(x)->shape[axis];
  Named named = {L, extent, NULL};
  Frame *const own = L->frame;
  for (const Node *n = NULL; L->frame && !n; L->frame = L->frame->caller)
    if ((n = lower_node_at(L, span))) find_name(n, &named);
  L->frame = own;
  if (is_inside(span, error)) return named.name;
  const Type *t = op->num_results ? op->results[0].type : NULL;
  const char *is = named.name ? arena_printf(L->arena, ": %s is %lld", named.name, extent) : "";
  if (t && t->rank == term_t(x)->rank && !memcmp(t->shape, term_t(x)->shape, t->rank * sizeof *t->shape))
    diag_note(L->ctx, span, "shape %s comes from here%s", lower_shape_text(L, term_t(x)), is);
  else diag_note(L->ctx, span, "the %lld of dimension %u comes from here%s", extent, axis, is);
  return named.name;
}

// Whether x with its two axes exchanged goes with t.
static bool fits_exchanged(const CtType *x, const CtType *t) {
  bool fits = ct_rank(x) == 2 && ct_rank(t) == 2;
  for (uint32_t i = 0; fits && i < 2; i++)
    fits = x->shape[1 - i] == t->shape[i] || x->shape[1 - i] == 1 || t->shape[i] == 1;
  return fits;
}

// After the note of each side: whether x in another shape goes with t, which a hint says.
static bool hint_shape(Lower *L, const CtType *x, const CtType *t) {
  const bool is_vector = ct_rank(x) == 1 && ct_rank(t) == 2 && x->shape[0] == t->shape[0];
  if (is_vector)
    return !lower_hint(L, "index the one of shape %s with [:, None]: the shape [%lld, 1] fits", lower_shape_text(L, x),
                       (long long)x->shape[0]);
  const bool both_thin = ct_rank(t) == 2 && ct_rank(x) == 2 && (x->shape[0] == 1 || x->shape[1] == 1) &&
                         (t->shape[0] == 1 || t->shape[1] == 1);   // two rows or two columns
  if (both_thin || !fits_exchanged(x, t)) return false;
  const char *shape = lower_shape_text(L, x), *other = arena_printf(L->arena, "[%lld, %lld]", (long long)x->shape[1],
                                                                    (long long)x->shape[0]);
  if (x->shape[0] != 1 && x->shape[1] != 1)
    return !lower_hint(L, "the one of shape %s fits transposed, tl.trans(x), or with [:, None] and [None, :] exchanged "
                       "where it is made", shape);
  return !lower_hint(L, "index with %s in place of %s where the one of shape %s is made: the shape %s fits",
                     x->shape[1] == 1 ? "[None, :]" : "[:, None]", x->shape[1] == 1 ? "[:, None]" : "[None, :]", shape,
                     other);
}

bool lower_hint_extents(Lower *L, const Term *a, const Term *b, uint32_t axis, uint32_t rank, Span error) {
  const CtType *ta = term_t(a), *tb = term_t(b);
  const uint32_t ma = axis + ct_rank(ta) - rank, mb = axis + ct_rank(tb) - rank;   // the axis of each
  const char *na = note_extent(L, a, ma, error), *nb = note_extent(L, b, mb, error);
  if (lower_hint_other_axis(L, a, tb) || lower_hint_other_axis(L, b, ta)) return true;
  const bool is_thin = ct_rank(tb) == 2 && (tb->shape[0] == 1 || tb->shape[1] == 1);   // likelier to be the wrong one
  if (hint_shape(L, is_thin ? tb : ta, is_thin ? ta : tb) || hint_shape(L, is_thin ? ta : tb, is_thin ? tb : ta))
    return true;
  if (!na || !nb || !strcmp(na, nb) || ct_rank(ta) != ct_rank(tb)) return false;
  const char *crossed = rank > 1 || L->like ? "" : "; to combine each of the one with each of the other, index them with "
                                                   "[:, None] and [None, :]";
  return !lower_hint(L, "give dimension %u one extent on both sides: %s or %s%s", axis, na, nb, crossed);
}
