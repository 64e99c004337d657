// What to write where a function, a method, a class, a type or a module stands in place of a value.
#include "frontend/lower/builtins.h"
#include "frontend/lower/hints.h"
#include "frontend/lower/statements.h"
#include "frontend/lower/term.h"

#include <string.h>

// What stands for a function, and what it takes: its required parameters from number `first` on.
typedef struct { const char *name, *params; } Callee;

static const char *row_params(Lower *L, const BuiltinRow *row, uint32_t first) {
  Buf b = buf_make(L->arena);
  BuiltinParam p;
  uint32_t i = 0;
  bool more = false;
  for (const char *s = row->params; (s = builtin_next_param(s, &p)); i++) {
    if (i < first) continue;
    more |= p.otherwise || p.is_list;
    if (!p.otherwise && !p.is_list) buf_printf(&b, "%s%.*s", b.size ? ", " : "", (int)p.name_size, p.name);
  }
  if (more) buf_puts(&b, b.size ? ", …" : "…");
  return buf_str(&b);
}

static const char *function_params(Lower *L, const CtFunction *fn, uint32_t first) {
  Buf b = buf_make(L->arena);
  bool more = false;
  for (uint32_t i = first; i < fn->num_params; i++) {
    more |= fn->params[i].default_value != NULL;
    if (!fn->params[i].default_value) buf_printf(&b, "%s%s", b.size ? ", " : "", fn->params[i].name);
  }
  if (more) buf_puts(&b, b.size ? ", …" : "…");
  return buf_str(&b);
}

static bool callee_of(Lower *L, const Term *t, uint32_t first, Callee *out) {
  if (t->kind == TERM_BOUND) return callee_of(L, t->bound.fn, 1, out);
  if (!term_is_const(t)) return false;
  const CtValue *c = t->ct;
  if (c->kind == CT_METHOD) return callee_of(L, term_const(L, c->method.fn), 1, out);
  if (c->kind == CT_FUNCTION) {
    *out = (Callee){c->fn->name, function_params(L, c->fn, first)};
    return *c->fn->name != '<';
  }
  if (c->kind == CT_CLASS) return *out = (Callee){c->cls->name, "…"}, true;
  if (c->kind != CT_BUILTIN) return false;
  const BuiltinRow *row = builtin_row_of(c->builtin.name);
  const Term *found = row ? NULL : builtin_resolve(L, c->builtin.name);
  if (row) out->params = row_params(L, row, first);
  else if (found && found->kind == TERM_CONST && found->ct->kind == CT_FUNCTION)
    out->params = function_params(L, found->ct->fn, first);
  else if (found || comptime_has_function(c->builtin.name)) out->params = "…";
  else return false;
  const char *dot = strrchr(c->builtin.name, '.');
  out->name = first && dot ? dot + 1 : c->builtin.name;
  return true;
}

const char *lower_callee_name(Lower *L, const Term *t) {
  Callee f;
  return callee_of(L, t, 0, &f) ? f.name : NULL;
}

bool lower_is_uncalled(Lower *L, const Term *t) {
  Callee f;
  return t && callee_of(L, t, 0, &f);
}

bool lower_hint_kind(Lower *L, const Term *t) {
  Callee f;
  if (callee_of(L, t, 0, &f)) {
    const bool is_method = t->kind == TERM_BOUND || (term_is_const(t) && t->ct->kind == CT_METHOD);
    const bool is_class = term_is_const(t) && t->ct->kind == CT_CLASS;
    lower_hint(L, "%s: %s%s(%s)", is_class ? "make an object of it" : "call it", is_method ? "x." : "", f.name, f.params);
    return true;
  }
  if (!term_is_const(t)) return false;
  if (t->ct->kind == CT_DTYPE)
    lower_hint(L, "a type is given as dtype=, or to x.to(…)");
  else if (t->ct->kind == CT_MODULE)
    lower_hint(L, "a module is no value: write what it has, as in %s.NAME", t->ct->module->name);
  else return false;
  return true;
}

bool lower_refuse_truth(Lower *L, const Term *t, const Node *n) {
  const bool is_own = n->kind == NODE_NAME && scope_find(&L->frame->scope, n->name.id);   // a parameter may have a function, or None
  if (is_own || !lower_is_uncalled(L, t)) return false;
  lower_error(L, n->span, "%s is no condition: it is always true", term_describe(L, t));
  return lower_hint_kind(L, t);
}
