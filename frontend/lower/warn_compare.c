// -Wassert-tuple, -Wbitwise-compare, -Wis-literal, -Wnone-compare, -Wsign-after-equals, -Wempty-range: conditions,
// assignments and ranges that do not mean what they seem to.
#include "frontend/lower/term.h"
#include "frontend/lower/warnings.h"

#include <string.h>

static bool is_literal(const Node *n) {
  return n->kind == NODE_INT || n->kind == NODE_FLOAT || n->kind == NODE_STR || n->kind == NODE_BYTES ||
         (n->kind == NODE_UNARY && (n->unary.value->kind == NODE_INT || n->unary.value->kind == NODE_FLOAT));
}

// Where the operator between two operands stands: without blanks, line ends and parentheses.
static Span operator_span(const Context *ctx, const Node *left, const Node *right) {
  const LineCol at = source_locate(ctx, left->span.end);
  Loc begin = left->span.end, end = right->span.begin;
  if (!at.file) return (Span){0, 0};
  const char *text = at.file->text;
  const Loc base = at.file->base;
  while (begin < end && strchr(" \t\r\n\\)", text[begin - base])) begin++;
  while (end > begin && strchr(" \t\r\n\\(", text[end - 1 - base])) end--;
  return (Span){begin, end};
}

// The operator of `b & c` or `b | c` without parentheses, which would belong to its span.
static const char *bare_bitwise(const Node *n) {
  if (n->kind != NODE_BINARY || (n->op != PYOP_AND && n->op != PYOP_OR)) return NULL;
  return n->span.begin == n->binary.left->span.begin ? pyop_text((PyOp)n->op) : NULL;
}

static bool is_mask(const Term *t) { return t->kind == TERM_VALUE && ct_is_bool(term_t(t)); }

// Numbers that are not the two values of a mask.
static bool is_wide(const Term *t) {
  int64_t i;
  if (t->kind == TERM_VALUE) return ct_is_int(term_t(t)) && !ct_is_bool(term_t(t));
  return term_get_int(t, &i) && i != 0 && i != 1;
}

void lower_warn_mask(Lower *L, const Node *e, const Term *a, const Term *b) {
  const Node *c = L->comparison;
  const char *op = c ? bare_bitwise(e) : NULL;
  // In `x == 0 & mask` the number is one of a mask's values, but written where x is compared with it.
  const bool is_number = op && e->binary.left->kind == NODE_INT && e != c->compare.left;
  if (!op || !a || !b || !((is_mask(a) && is_wide(b)) || ((is_wide(a) || is_number) && is_mask(b)))) return;
  const uint32_t last = c->compare.rights.count - 1;
  const bool is_first = e == c->compare.left && is_mask(a), is_last = e == c->compare.rights.data[last] && is_mask(b);
  if (!is_first && !is_last) return;
  const Node *number = is_first ? e->binary.right : e->binary.left, *mask = is_first ? e->binary.left : e->binary.right,
             *other = is_first ? c->compare.rights.data[0] : last ? c->compare.rights.data[last - 1] : c->compare.left;
  const PyOp than = (PyOp)c->compare.ops[is_first ? 0 : last];
  if (!diag_warning(L->ctx, WARN_BITWISE_COMPARE, e->span, "`%s` binds more tightly than `%s`: it combines %s and %s "
                    "first", op, pyop_text(than), term_describe(L, a), term_describe(L, b)))
    return;
  const Span compared = span_of(is_first ? number->span.begin : other->span.begin,
                                is_first ? other->span.end : number->span.end);
  diag_fixit(L->ctx, span_of(compared.begin, compared.begin), "(");
  diag_fixit(L->ctx, span_of(compared.end, compared.end), ")");
  const char *m = lower_source_text(L, mask->span), *n = lower_source_text(L, number->span),
             *o = lower_source_text(L, other->span);
  if (is_first) diag_note(L->ctx, (Span){0, 0}, "write %s %s (%s %s %s)", m, op, n, pyop_text(than), o);
  else diag_note(L->ctx, (Span){0, 0}, "write (%s %s %s) %s %s", o, pyop_text(than), n, op, m);
}

// a < b & c < d, which means a < (b & c) and (b & c) < d. The syntax of a single comparison, such as `x & 1 == 0`, is
// not reported.
static void check_bitwise(Context *ctx, const Node *n) {
  for (uint32_t i = 0; i + 1 < n->compare.rights.count; i++) {
    const Node *middle = n->compare.rights.data[i];
    const char *op = bare_bitwise(middle);
    if (!op || !diag_warning(ctx, WARN_BITWISE_COMPARE, middle->span, "`%s` binds more tightly than the comparisons on "
                             "both sides of it", op))
      continue;
    diag_note(ctx, (Span){0, 0}, "write (a < b) %s (c < d); if this is meant, put parentheses around it", op);
    return;
  }
}

static void check_compare(Context *ctx, const Node *n) {
  check_bitwise(ctx, n);
  const Node *left = n->compare.left;
  for (uint32_t i = 0; i < n->compare.rights.count; i++) {
    const Node *right = n->compare.rights.data[i];
    const PyOp op = (PyOp)n->compare.ops[i];
    const bool is = op == PYOP_IS || op == PYOP_IS_NOT, equals = op == PYOP_EQ || op == PYOP_NE;
    const char *instead = op == PYOP_IS ? "==" : op == PYOP_IS_NOT ? "!=" : op == PYOP_EQ ? "is" : "is not";
    bool told = false;
    if (is && (is_literal(left) || is_literal(right)))
      told = diag_warning(ctx, WARN_IS_LITERAL, n->span, "`%s` with a literal compares identities, not values",
                          pyop_text(op));
    if (equals && (left->kind == NODE_NONE || right->kind == NODE_NONE))
      told = diag_warning(ctx, WARN_NONE_COMPARE, n->span, "`%s` compares with None", pyop_text(op));
    if (told) {
      diag_fixit(ctx, operator_span(ctx, left, right), instead);
      diag_note(ctx, (Span){0, 0}, "write `%s`", instead);
    }
    left = right;
  }
}

static void check_assert(Context *ctx, const Node *condition) {
  if (condition->kind == NODE_TUPLE && condition->list.count &&
      diag_warning(ctx, WARN_ASSERT_TUPLE, condition->span, "this is a tuple, which is always true"))
    diag_note(ctx, (Span){0, 0}, "remove the parentheses around condition and message");
}

// `i =+ 1`, which gives i the value +1.
static void check_assigned(Context *ctx, const Node *value) {
  const LineCol at = source_locate(ctx, value->span.begin);
  if (value->kind != NODE_UNARY || !at.file || value->span.begin == at.file->base) return;
  const char *sign = at.file->text + (value->span.begin - at.file->base);
  if ((*sign != '+' && *sign != '-') || sign[-1] != '=' || sign[1] != ' ') return;
  if (diag_warning(ctx, WARN_SIGN_AFTER_EQUALS, span_of(value->span.begin - 1, value->span.begin + 1),
                   "`=%c` assigns the number that follows with this sign", *sign))
    diag_note(ctx, (Span){0, 0}, "`%c=` %s", *sign, *sign == '+' ? "adds" : "subtracts");
}

// `for i in range(n - 1, 0)`, which lacks its step of -1.
static void check_range(Context *ctx, const Node *iter) {
  if (iter->kind != NODE_CALL || iter->call.args.count != 2) return;
  const Node *f = iter->call.func, *start = iter->call.args.data[0], *stop = iter->call.args.data[1];
  const char *name = f->kind == NODE_ATTRIBUTE ? f->attr.name : f->kind == NODE_NAME ? f->name.id : "";
  const bool has_step = iter->call.keywords.count && strcmp(name, "range") != 0;
  if ((strcmp(name, "range") != 0 && strcmp(name, "static_range") != 0) || has_step) return;
  const bool is_below = stop->kind == NODE_UNARY && stop->unary.value->kind == NODE_INT;
  const bool is_zero = stop->kind == NODE_INT && stop->integer.value == 0;
  if ((!is_zero && !is_below) || start->kind == NODE_UNARY) return;
  if (start->kind == NODE_INT && is_zero && start->integer.value == 0) return;
  if (diag_warning(ctx, WARN_EMPTY_RANGE, iter->span, "this range counts up, and is empty unless it begins below its end"))
    diag_note(ctx, (Span){0, 0}, "a range that counts down has the step -1: range(n - 1, -1, -1)");
}

static void check(const Node *n, void *user) {
  Context *ctx = user;
  if (n->kind == NODE_FOR) check_range(ctx, n->loop.iter);
  if (n->kind == NODE_ASSIGN) check_assigned(ctx, n->assign.value);
  if (n->kind == NODE_COMPARE) check_compare(ctx, n);
  if (n->kind == NODE_ASSERT) check_assert(ctx, n->pair.first);
  if (n->kind == NODE_CALL && n->call.args.count) {
    const Node *f = n->call.func;
    const char *name = f->kind == NODE_ATTRIBUTE ? f->attr.name : f->kind == NODE_NAME ? f->name.id : "";
    if (!strcmp(name, "static_assert") || !strcmp(name, "device_assert")) check_assert(ctx, n->call.args.data[0]);
  }
  ast_each_child(n, check, user);
}

void warn_compares(Lower *L, const Node *def) { check(def, L->ctx); }
