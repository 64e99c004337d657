// Evaluates expressions over arrays: walks the tree that the front end's parser makes of the text.
#include <math.h>
#include <string.h>

#include "ir/nearest.h"
#include "runtime/cli/expression_int.h"
#include "runtime/cli/expression_math.h"

// ---- names, operators, indices ----

static void tell_names(const Eval *e) {
  Buf all = buf_make(e->a);
  for (uint32_t i = 0; i < e->scope->num_names; i++) buf_printf(&all, "%s%s", i ? ", " : "", e->scope->names[i]);
  if (all.size) diag_note(e->ctx, (Span){0, 0}, "there are %s", buf_str(&all));
}

static const Nd *eval_name(Eval *e, const Node *n) {
  static const struct { const char *name; double value; } constants[] = {
      {"inf", INFINITY}, {"nan", NAN}, {"pi", M_PI}, {"e", M_E}};
  const Nd *x = e->scope->find(e->scope->user, n->name.id);
  for (uint32_t i = 0; !x && i < countof(constants); i++)
    if (!strcmp(n->name.id, constants[i].name)) x = nd_scalar(e->a, constants[i].value);
  if (x) return x;
  const char *near = nearest_name(n->name.id, e->scope->names, e->scope->num_names);
  diag_error(e->ctx, n->span, "`%s` %s", n->name.id, e->scope->missing);
  if (near) diag_note(e->ctx, (Span){0, 0}, "did you mean `%s`?", near);
  else tell_names(e);
  return NULL;
}

static const Nd *eval_attribute(Eval *e, const Node *n) {
  if (expression_is_module(e, n->attr.first)) {
    const Node name = {.kind = NODE_NAME, .span = n->span, .name = {n->attr.name}};
    return eval_name(e, &name);
  }
  const Nd *x = expression_node(e, n->attr.first);
  if (!x) return NULL;
  uint32_t order[HOST_MAX_RANK];
  const bool is_all = !strcmp(n->attr.name, "T");
  if (is_all || (!strcmp(n->attr.name, "mT") && x->rank >= 2)) {
    for (uint32_t i = 0; i < x->rank; i++) {
      const bool stays = !is_all && i + 2 < x->rank;
      order[i] = stays ? i : (is_all ? x->rank - 1 : 2 * x->rank - 3) - i;
    }
    return nd_transpose(e->a, x, order);
  }
  if (strcmp(n->attr.name, "shape"))
    return no_array(e, n, "an array has no attribute `%s`; there are T, mT and shape", n->attr.name);
  Nd *shape = nd_new(e->a, 1, &(int64_t){x->rank});
  for (uint32_t i = 0; i < x->rank; i++) shape->data[i] = (double)x->shape[i];
  return shape;
}

static const NdBinary binaries[NUM_PYOPS] = {
    [PYOP_ADD] = op_add,       [PYOP_SUB] = op_sub,       [PYOP_MUL] = op_mul, [PYOP_DIV] = op_div,
    [PYOP_FLOORDIV] = op_floordiv, [PYOP_MOD] = op_mod,   [PYOP_POW] = pow,    [PYOP_LSHIFT] = op_lshift,
    [PYOP_RSHIFT] = op_rshift, [PYOP_AND] = op_and,       [PYOP_XOR] = op_xor, [PYOP_OR] = op_or,
    [PYOP_EQ] = op_eq,         [PYOP_NE] = op_ne,         [PYOP_LT] = op_lt,   [PYOP_LE] = op_le,
    [PYOP_GT] = op_gt,         [PYOP_GE] = op_ge};
static const NdUnary unaries[NUM_PYOPS] = {
    [PYOP_NEG] = op_neg, [PYOP_POS] = op_pos, [PYOP_NOT] = op_not, [PYOP_INVERT] = op_invert};

static const Nd *combine(Eval *e, const Node *n, PyOp op, const Nd *x, const Nd *y) {
  const char *why = "";
  if (!x || !y) return NULL;
  if (op == PYOP_MATMUL) return checked(e, n, nd_matmul(e->a, x, y, &why), &why);
  if (!binaries[op]) return no_array(e, n, "the operator `%s` is not for arrays", pyop_text(op));
  Nd *r = nd_binary(e->a, x, y, binaries[op], &why);
  const bool is_bitwise = op == PYOP_AND || op == PYOP_OR || op == PYOP_XOR;
  if (r) r->is_bool = (op >= PYOP_EQ && op <= PYOP_GE) || (is_bitwise && x->is_bool && y->is_bool);
  return checked(e, n, r, &why);
}

// a < b < c is (a < b) & (b < c).
static const Nd *eval_compare(Eval *e, const Node *n) {
  const Nd *left = expression_node(e, n->compare.left), *all = NULL;
  for (uint32_t i = 0; left && i < n->compare.rights.count; i++) {
    const Nd *right = expression_node(e, n->compare.rights.data[i]);
    const Nd *one = combine(e, n, n->compare.ops[i], left, right);
    all = i ? combine(e, n, PYOP_AND, all, one) : one;
    if (!all) return NULL;
    left = right;
  }
  return all;
}

static bool as_index(Eval *e, const Node *n, NdIndex *out) {
  *out = (NdIndex){.kind = ND_ELEMENT, .step = 1};
  if (n->kind == NODE_NONE || (n->kind == NODE_NAME && !strcmp(n->name.id, "newaxis"))) return out->kind = ND_NEW, true;
  if (n->kind != NODE_SLICE) return expression_int(e, n, &out->from);
  out->kind = ND_RANGE;
  out->has_from = n->slice.lower, out->has_to = n->slice.upper;
  if (n->slice.lower && !expression_int(e, n->slice.lower, &out->from)) return false;
  if (n->slice.upper && !expression_int(e, n->slice.upper, &out->to)) return false;
  if (n->slice.step && !expression_int(e, n->slice.step, &out->step)) return false;
  return out->step || refuse(e, n, "a step of 0");
}

// x[i], where i is an array of indices.
static const Nd *eval_picked(Eval *e, const Node *n, const Nd *x, const Nd *i) {
  const char *why = "";
  if (!x->rank) return no_array(e, n, "a number has no indices");
  if (!i->is_bool) return checked(e, n, nd_take(e->a, x, i, 0, &why), &why);
  diag_error(e->ctx, n->pair.second->span, "a mask is not an index here");
  diag_note(e->ctx, (Span){0, 0}, "write where(mask, x, y), which keeps the shape");
  return NULL;
}

static bool is_array_index(const Node *n) {
  return n->kind != NODE_SLICE && n->kind != NODE_NONE && n->kind != NODE_ELLIPSIS && n->kind != NODE_TUPLE &&
         !(n->kind == NODE_NAME && !strcmp(n->name.id, "newaxis"));
}

static const Nd *eval_subscript(Eval *e, const Node *n) {
  const Nd *x = expression_node(e, n->pair.first);
  if (x && is_array_index(n->pair.second)) {
    const Nd *i = expression_node(e, n->pair.second);
    if (!i || i->rank) return i ? eval_picked(e, n, x, i) : NULL;
  }
  NdIndex index[2 * HOST_MAX_RANK];
  Node *at = n->pair.second;
  const NodeList parts = expression_parts(&at);
  uint32_t num = 0, named = 0;
  if (!x) return NULL;
  for (uint32_t i = 0; i < parts.count; i++)
    named += parts.data[i]->kind != NODE_ELLIPSIS && parts.data[i]->kind != NODE_NONE;
  for (uint32_t i = 0; i < parts.count; i++) {
    // `...` stands for the axes that are not named.
    const bool is_rest = parts.data[i]->kind == NODE_ELLIPSIS;
    for (uint32_t k = 0; k < (!is_rest ? 1 : x->rank > named ? x->rank - named : 0); k++) {
      if (num == countof(index)) return no_array(e, n, "too many indices");
      if (is_rest) index[num++] = (NdIndex){.kind = ND_RANGE, .step = 1};
      else if (!as_index(e, parts.data[i], &index[num++])) return NULL;
    }
  }
  const char *why = "";
  return checked(e, n, nd_index(e->a, x, index, num, &why), &why);
}

// [a, b, …]: the arrays along a new first axis.
static const Nd *eval_list(Eval *e, const Node *n) {
  const NodeList *parts = &n->list;
  const Nd **all = arena_array(e->a, const Nd *, parts->count + 1);
  const char *why = "";
  for (uint32_t i = 0; i < parts->count; i++)
    if (!(all[i] = expression_node(e, parts->data[i]))) return NULL;
  return checked(e, n, nd_stack(e->a, all, parts->count, &why), &why);
}

static const Nd *eval_bool_op(Eval *e, const Node *n) {
  return no_array(e, n, "`%s` is not for arrays: write %s with parentheses", pyop_text(n->op),
                n->op == PYOP_BOOL_AND ? "(a) & (b)" : "(a) | (b)");
}

const Nd *expression_node(Eval *e, const Node *n) {
  context_poll(e->ctx);
  switch (n->kind) {
  case NODE_INT: return nd_scalar(e->a, (double)n->integer.value);
  case NODE_FLOAT: return nd_scalar(e->a, n->floating.value);
  case NODE_TRUE: return nd_scalar(e->a, 1);
  case NODE_FALSE: return nd_scalar(e->a, 0);
  case NODE_NAME: return eval_name(e, n);
  case NODE_ATTRIBUTE: return eval_attribute(e, n);
  case NODE_CALL: return expression_call(e, n);
  case NODE_SUBSCRIPT: return eval_subscript(e, n);
  case NODE_COMPARE: return eval_compare(e, n);
  case NODE_LIST: return eval_list(e, n);
  case NODE_BOOL_OP: return eval_bool_op(e, n);
  case NODE_BINARY: {
    const Nd *x = expression_node(e, n->binary.left), *y = x ? expression_node(e, n->binary.right) : NULL;
    return combine(e, n, n->op, x, y);
  }
  case NODE_UNARY: {
    const Nd *x = expression_node(e, n->unary.value);
    return x ? expression_unary(e, x, n->op == PYOP_INVERT && x->is_bool ? op_not : unaries[n->op]) : NULL;
  }
  default: return no_array(e, n, "this cannot be part of an expression over arrays");
  }
}

const Nd *expression_pick(Context *ctx, const char *what, const char *text, const ExpressionScope *scope) {
  const SourceFile *file = source_add(ctx, what, text, strlen(text));
  const Node *n = file ? parse_expression(ctx, file) : NULL, *of = n;
  Eval e = {ctx, &ctx->arena, scope};
  while (of && of->kind == NODE_SUBSCRIPT) of = of->pair.first;
  if (!n) return NULL;
  if (of->kind == NODE_NAME) return expression_node(&e, n);
  diag_error(ctx, of->span, "only a buffer's name with indices can stand here, as in out[:n]");
  diag_note(ctx, (Span){0, 0}, "compute to the right of the `=`, from the arguments as they were before the run");
  return NULL;
}

const Nd *expression_eval(Context *ctx, const char *what, const char *text, const ExpressionScope *scope) {
  const SourceFile *file = source_add(ctx, what, text, strlen(text));
  const Node *n = file ? parse_expression(ctx, file) : NULL;
  Eval e = {ctx, &ctx->arena, scope};
  return n ? expression_node(&e, n) : NULL;
}
