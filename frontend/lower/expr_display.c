// Expressions that are made of parts: f-strings, tuples, lists, dictionaries and comprehensions.
#include "frontend/lower/statements.h"
#include "frontend/lower/term.h"

Term *lower_fstring(Lower *L, const Node *e) {
  TermList parts = {0};
  bool runtime = false;
  Buf text = buf_make(L->arena);
  for (uint32_t i = 0; i < e->list.count; i++) {
    const Node *p = e->list.data[i];
    if (p->kind == NODE_STR) {
      buf_write(&text, p->str.data, p->str.size);
      continue;
    }
    Term *t = lower_expr(L, p->format.value);
    if (!t) return NULL;
    if (p->format.text) buf_puts(&text, p->format.text);
    CtValue *c = term_to_ct(L, t);
    if (c) {
      const char *spec = "";
      if (p->format.spec) {
        Term *s = lower_fstring(L, p->format.spec);
        if (!s || !term_get_str(s, &spec))
          return s ? lower_error(L, p->span, "a format specification must be constant") : NULL;
      }
      char conversion = p->format.text && !p->format.conversion && !p->format.spec ? 'r' : p->format.conversion;
      CtValue *s = comptime_format(L->ct, c, conversion, spec, p->span);
      if (!s) return NULL;
      buf_puts(&text, ct_to_str(L->ctx, s));
      continue;
    }
    if (p->format.spec || p->format.conversion) {
      if (diag_warning(L->ctx, WARN_FORMAT, p->span,
                       "the format of a run-time value has no effect: the device prints it in its own way"))
        diag_note(L->ctx, (Span){0, 0}, "leave it out, or round the value before");
    }
    runtime = true;
    vec_push(L->arena, &parts, term_const(L, ct_str(L->ctx, arena_strndup(L->arena, buf_str(&text), text.size))));
    vec_push(L->arena, &parts, t);
    text = buf_make(L->arena);
  }
  Term *tail = term_const(L, ct_str(L->ctx, arena_strndup(L->arena, buf_str(&text), text.size)));
  if (!runtime) return tail;
  vec_push(L->arena, &parts, tail);
  Term *t = term_tuple(L, parts.data, parts.count, NULL);
  t->tuple.is_fstring = true;
  return t;
}

static bool comprehend(Lower *L, const Node *e, uint32_t level, TermList *out) {
  if (level == e->comp.generators.count) {
    Term *t = lower_expr(L, e->comp.elt);
    vec_push(L->arena, out, t);
    return t != NULL;
  }
  const Node *g = e->comp.generators.data[level];
  Term *iter = lower_expr(L, g->loop.iter);
  if (!iter) return false;
  if (iter->kind == TERM_CONST) {
    CtList list = {0};
    const Int128 length = iter->ct->kind == CT_RANGE ? ct_range_length(iter->ct) : 0;   // read before the list is made
    if (length > L->fe->max_statements) return lower_count(L, L->fe->max_statements, e->span);
    if (!comptime_iterate(L->ct, iter->ct, g->loop.iter->span, &list) || !lower_count(L, list.count, e->span))
      return false;
    iter = term_const(L, ct_tuple(L->ctx, list.data, list.count));
  } else if (iter->kind == TERM_TUPLE && !lower_count(L, iter->tuple.count, e->span)) {
    return false;
  }
  if (iter->kind != TERM_TUPLE) {
    lower_error(L, g->loop.iter->span, "a comprehension in a kernel goes over a tuple or constants, not over %s",
                term_describe(L, iter));
    if (term_is_tensor(iter)) lower_hint(L, "a tile has no loop over its elements: compute on the whole of it");
    else lower_hint(L, "compute in the body of `for i in range(n):`, or declare the bound `n: tl.constexpr`");
    return false;
  }
  for (uint32_t i = 0; i < iter->tuple.count; i++) {
    lower_assign_item(L, g->loop.target, g->loop.iter, iter->tuple.items[i], true);
    bool skip = false;
    for (uint32_t c = 0; c < g->loop.body.count && !skip; c++) {
      int known;
      Value *v;
      if (!lower_condition(L, lower_expr(L, g->loop.body.data[c]), g->loop.body.data[c]->span, "a comprehension",
                           &known, &v))
        return false;
      if (known < 0) {
        lower_error(L, g->loop.body.data[c]->span, "the filter of a comprehension must be known at compile time");
        return false;
      }
      skip = !known;
    }
    if (!skip && !comprehend(L, e, level + 1, out)) return false;
  }
  return true;
}

Term *lower_comprehension(Lower *L, const Node *e) {
  Scope saved = scope_copy(L, &L->frame->scope);
  TermList items = {0};
  bool ok = comprehend(L, e, 0, &items);
  NameVec bound = {0};   // by `:=`, which binds outside the comprehension
  lower_collect_expr(L, e, &bound);
  for (uint32_t i = 0; i < bound.count; i++) {
    const Var *v = scope_find(&L->frame->scope, bound.data[i]);
    if (v) scope_set(L, &saved, v->name, v->term, v->span, v->flags);
  }
  L->frame->scope = saved;
  if (!ok) return NULL;
  Term *t = term_tuple(L, items.data, items.count, NULL);
  t->tuple.is_list = e->kind == NODE_LIST_COMP;
  return t;
}

bool lower_items(Lower *L, const NodeList *list, TermList *items, SpanList *spans, const NameUse *uses) {
  bool ok = true;
  for (uint32_t i = 0; i < list->count; i++) {
    const Node *n = list->data[i];
    bool starred = n->kind == NODE_STARRED;
    if (uses) L->use = uses[i];
    Term *t = lower_expr(L, starred ? n->unary.value : n);
    if (t && starred && t->kind != TERM_TUPLE)
      t = lower_error(L, n->span, "`*` spreads a tuple, not %s", term_describe(L, t));
    ok &= t != NULL;
    uint32_t count = !t ? 0 : starred ? t->tuple.count : 1;
    for (uint32_t k = 0; k < count; k++) {
      vec_push(L->arena, items, starred ? t->tuple.items[k] : t);
      if (spans) vec_push(L->arena, spans, n->span);
    }
  }
  return ok;
}

Term *lower_sequence(Lower *L, const Node *e) {
  TermList items = {0};
  if (!lower_items(L, &e->list, &items, NULL, NULL)) return NULL;
  Term *t = term_tuple(L, items.data, items.count, NULL);
  t->tuple.is_list = e->kind == NODE_LIST;
  return t;
}

Term *lower_dict(Lower *L, const Node *e) {
  CtValue *d = ct_dict(L->ctx);
  for (uint32_t i = 0; i < e->dict.keys.count; i++) {
    if (!e->dict.keys.data[i]) return lower_error(L, e->span, "`**` is not supported in a kernel's dict");
    Term *k = lower_expr(L, e->dict.keys.data[i]), *v = lower_expr(L, e->dict.values.data[i]);
    if (!k || !v) return NULL;
    CtValue *ck = term_to_ct(L, k), *cv = term_to_ct(L, v);
    if (!ck || !cv) {
      lower_error(L, e->span, "a dict in a kernel holds constants only");
      return lower_hint(L, "write a tuple, or a namedtuple of the module level");
    }
    ct_dict_set(L->ctx, d->dict, ck, cv);
  }
  return term_const(L, d);
}
