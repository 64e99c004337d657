// What a report of an access out of bounds says of the terms of its offset.
#include <string.h>

#include "ir/buf.h"
#include "ir/outside_numbers.h"

enum { LONGEST = 160, TOO_LONG = 260 };

typedef struct {
  Arena *arena;
  const Outside *o;
  const OutsideTerms *terms;
  TermNumbers numbers[OUTSIDE_TERMS];
  int64_t element;
} Words;

static const OutsideNode *nodes_of(const OutsideTerms *all, const OutsideTerm *t) { return &all->nodes[t->first]; }

static uint8_t last_kind(const OutsideTerms *all, const OutsideTerm *t) {
  return nodes_of(all, t)[t->num_nodes - 1].kind;
}

static bool has_kind(const OutsideTerms *all, const OutsideTerm *t, OutsideNodeKind kind) {
  for (uint32_t i = 0; i < t->num_nodes; i++)
    if (nodes_of(all, t)[i].kind == kind) return true;
  return false;
}

// "4 * 72 = 288", "288"
static void put_value(Buf *b, const OutsideTerms *all, const OutsideTerm *t, const TermNumbers *n) {
  const uint8_t kind = n->value ? last_kind(all, t) : OFFSET_ANY;
  const bool knows_left = n->left.low == n->left.high, knows_right = n->right.low == n->right.high;
  int64_t left = n->left.low, right = n->right.low;
  if (!t->is_repeated && kind == OFFSET_MUL && (knows_left || knows_right)) {
    if (!knows_left) left = right ? n->value / right : 0;
    if (!knows_right) right = left ? n->value / left : 0;
    int64_t product;
    if (!__builtin_mul_overflow(left, right, &product) && product == n->value)
      buf_printf(b, "%lld * %lld = ", (long long)left, (long long)right);
  } else if ((kind == OFFSET_DIV || kind == OFFSET_REM) && knows_right) {
    if (knows_left) buf_printf(b, "%lld", (long long)left);
    else buf_puts(b, "...");
    buf_printf(b, " %s %lld = ", kind == OFFSET_DIV ? "//" : "%", (long long)right);
  }
  buf_printf(b, "%lld", (long long)n->value);
}

static void put_term(Buf *b, const OutsideTerms *all, const OutsideTerm *t, const TermNumbers *n) {
  buf_printf(b, "`%s`", t->text);
  if (t->is_repeated && !n->is_known) buf_puts(b, " in each iteration");
  const long long times = t->is_repeated && n->is_known && n->right.low ? n->value / n->right.low : 0;
  if (times == 1) buf_puts(b, " once");
  else if (times) buf_printf(b, " %lld times", times);
  if (!t->line && !n->is_known) return;
  buf_puts(b, " (");
  if (t->line) buf_printf(b, "line %u%s", t->line, n->is_known ? ": " : "");
  if (n->is_known) put_value(b, all, t, n);
  buf_putc(b, ')');
}

static const char *sum_text(const Words *w, bool with_zeros) {
  Buf b = buf_make(w->arena);
  const char *before = "";
  buf_printf(&b, "element %lld is ", (long long)w->element);
  for (uint32_t i = 0; i < w->terms->count; i++) {
    const OutsideTerm *t = &w->terms->terms[i];
    if (!with_zeros && w->numbers[i].is_known && !w->numbers[i].value) continue;
    buf_puts(&b, !t->is_subtracted ? before : *before ? " - " : "-");
    put_term(&b, w->terms, t, &w->numbers[i]);
    before = " + ";
  }
  const int64_t c = w->terms->constant;
  if (c) buf_printf(&b, "%s%lld", c < 0 ? " - " : before, (long long)(c < 0 ? -c : c));
  return buf_str(&b);
}

// Whether the sum says more than that a program has its block: `pid * BLOCK + tl.arange(0, BLOCK)`.
static bool is_telling(const OutsideTerms *t) {
  uint32_t count = t->constant != 0;
  for (uint32_t i = 0; i < t->count; i++) {
    const OutsideTerm *term = &t->terms[i];
    const uint8_t kind = last_kind(t, term);
    const bool has_input = has_kind(t, term, OFFSET_PARAM) || has_kind(t, term, OFFSET_LOAD);
    if (has_input || kind == OFFSET_DIV || kind == OFFSET_REM) return true;
    count += kind != OFFSET_RANGE;
  }
  return count > 1;
}

static const char *sum_of(const Words *w) {
  if (!is_telling(w->terms)) return NULL;
  const char *all = sum_text(w, true);
  if (strlen(all) > LONGEST) all = sum_text(w, false);
  return strlen(all) > TOO_LONG ? NULL : all;
}

static bool is_same_node(const OutsideNode *x, const OutsideNode *y) {
  return x->kind == y->kind && x->bits == y->bits && x->count == y->count && x->value == y->value;
}

static bool is_same_term(const OutsideTerm *x, const OutsideTerm *y) {
  return x->line == y->line && x->is_subtracted == y->is_subtracted && x->first == y->first &&
         x->num_nodes == y->num_nodes && !strcmp(x->text, y->text);
}

bool outside_same_terms(const OutsideTerms *a, const OutsideTerms *b) {
  if (strcmp(a->base, b->base) || a->constant != b->constant || a->count != b->count || a->num_nodes != b->num_nodes)
    return false;
  for (uint32_t i = 0; i < a->count; i++)
    if (!is_same_term(&a->terms[i], &b->terms[i])) return false;
  for (uint32_t i = 0; i < a->num_nodes; i++)
    if (!is_same_node(&a->nodes[i], &b->nodes[i])) return false;
  return true;
}

// How many nodes it has without the upper bound of a loop's variable.
static uint32_t count_unbounded(const OutsideTerms *all, const OutsideTerm *t) {
  const OutsideNode *nodes = nodes_of(all, t);
  if (nodes->kind != OFFSET_COUNT || last_kind(all, t) != OFFSET_BELOW) return t->num_nodes;
  uint32_t count = 1;
  while (nodes[count - 1].kind != OFFSET_MUL) count++;
  return count;
}

// Whether the two terms are always equal. In a tile, equal ranges may lie along different axes.
static bool are_equal(const OutsideTerms *all, const OutsideTerm *a, const OutsideTerm *b) {
  const uint32_t count = count_unbounded(all, a);
  if (a->is_subtracted != b->is_subtracted || count != count_unbounded(all, b)) return false;
  for (uint32_t i = 0; i < count; i++) {
    const OutsideNode *x = &nodes_of(all, a)[i], *y = &nodes_of(all, b)[i];
    if (x->kind != y->kind || x->count != y->count || x->value != y->value) return false;
    if (x->kind == OFFSET_ANY || x->kind == OFFSET_LOAD || (x->kind == OFFSET_RANGE && all->is_tile)) return false;
  }
  return true;
}

// A pointer may move by the same step several times, but an index counts once.
static bool is_index(const OutsideTerms *all, const OutsideTerm *t) {
  return has_kind(all, t, OFFSET_PROGRAM) || has_kind(all, t, OFFSET_RANGE) || has_kind(all, t, OFFSET_COUNT);
}

static const char *twice_text(const Words *w, const OutsideTerm *a, const OutsideTerm *b) {
  if (a->line > b->line) return twice_text(w, b, a);
  const char *lines = a->line == b->line ? arena_printf(w->arena, "on line %u", a->line)
                                         : arena_printf(w->arena, "on lines %u and %u", a->line, b->line);
  if (!strcmp(a->text, b->text))
    return arena_printf(w->arena, "`%s` is added twice, %s: leave one out", a->text, lines);
  return arena_printf(w->arena, "`%s` and `%s` add the same number, %s: leave one out", a->text, b->text, lines);
}

static const char *added_twice(const Words *w) {
  const OutsideTerm *all = w->terms->terms;
  for (uint32_t i = 0; i < w->terms->count; i++)
    for (uint32_t k = i + 1; k < w->terms->count; k++)
      if (are_equal(w->terms, &all[i], &all[k]) && is_index(w->terms, &all[i]) &&
          !(all[i].is_repeated && all[k].is_repeated) && (!w->numbers[i].is_known || w->numbers[i].value))
        return twice_text(w, &all[i], &all[k]);
  return NULL;
}

// Finds a quotient that is itself past the end of the buffer: the mask bounds the dividend, not the quotient.
static const char *too_large_quotient(const Words *w) {
  const int64_t size = (int64_t)(w->o->size / w->o->elem_bytes);
  for (uint32_t i = 0; i < w->terms->count; i++) {
    const OutsideTerm *t = &w->terms->terms[i];
    const TermNumbers *n = &w->numbers[i];
    const bool is_quotient = last_kind(w->terms, t) == OFFSET_DIV && !t->is_subtracted;
    if (!is_quotient || !n->is_known || n->value < size || n->value > w->element) continue;
    return arena_printf(w->arena, "`%s` is %lld here, and %s has %lld element%s: a quotient counts on over all outer "
                        "axes; if it is the index of one of them, take it %% the size of that axis", t->text,
                        (long long)n->value, w->o->buffer, (long long)size, size == 1 ? "" : "s");
  }
  return NULL;
}

// Evaluates the terms. False if they do not give the element that was accessed.
static bool evaluate(Words *w, const OutsideInputs *in) {
  const OutsideTerms *t = w->terms;
  if (!w->o->buffer || strcmp(w->o->buffer, t->base) || !outside_element(w->o, &w->element)) return false;
  for (uint32_t i = 0; i < t->count; i++) {
    w->numbers[i] = outside_numbers(t, &t->terms[i], w->o, in);
    w->numbers[i].is_subtracted = t->terms[i].is_subtracted;
  }
  return outside_solve(w->numbers, t->count, w->element - t->constant);
}

OutsideWords outside_words(Arena *a, const Outside *o, const OutsideWays *ways, const OutsideTerms *terms,
                           const OutsideInputs *in) {
  const char *far = outside_far(o);
  if (*far) return (OutsideWords){.way_out = far};
  OutsideWords out = {.way_out = outside_way_out(a, o, ways)};
  Words w = {.arena = a, .o = o, .terms = terms};
  if (!terms || !evaluate(&w, in)) return out;
  const char *twice = added_twice(&w), *quotient = ways->is_masked ? too_large_quotient(&w) : NULL;
  if (twice || quotient) out.way_out = twice ? twice : quotient;
  out.sum = sum_of(&w);
  return out;
}
