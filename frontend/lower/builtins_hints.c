// Hints after a wrong argument of a builtin: what to write instead.
#include <string.h>

#include "frontend/lower/builtins.h"
#include "frontend/lower/term.h"

// The argument's text without its name.
const char *builtin_arg_text(Lower *L, const Call *c, uint32_t i) {
  const char *text = lower_source_text_or(L, c->spans[i], "bound"), *equals = strchr(text, '=');
  return equals && equals[1] != '=' ? equals + 1 + strspn(equals + 1, " ") : text;
}

// After a call of clamp with one bound, or of cat with a list: what takes that.
bool builtin_hint_alone(Lower *L, const Call *c) {
  const bool is_clamp = !strcmp(c->row->name, "clamp");
  if (is_clamp && c->args[0] && !c->args[1] != !c->args[2])
    return lower_hint(L, "for one bound write tl.%simum(%s, %s)", c->args[1] ? "max" : "min",
                      lower_source_text_or(L, c->spans[0], "x"),
                      c->args[1] ? builtin_arg_text(L, c, 1) : builtin_arg_text(L, c, 2)) == NULL;
  if (strcmp(c->row->name, "cat") || !c->args[0] || c->args[0]->kind != TERM_TUPLE) return false;
  return lower_hint(L, "it takes two tensors, not a list: tl.cat(a, b); of four write tl.cat(tl.cat(a, b), "
                       "tl.cat(c, d))") == NULL;
}

// After a text or a type that a parameter does not take: it belongs to one further on.
bool builtin_hint_text(Lower *L, const Call *c, uint32_t i) {
  const char *text;
  const CtType *type;
  if (strstr(c->row->params, "out_dtype") && c->args[i] && term_get_dtype(c->args[i], &type))
    return lower_hint(L, "positional arguments take the first parameters: write out_dtype=%s",
                      lower_source_text_or(L, c->spans[i], "…")) == NULL;
  if (!strstr(c->row->params, "cache_modifier") || !c->args[i] || !term_get_str(c->args[i], &text)) return false;
  const char *name = text[0] == '.' ? "cache_modifier" : !strncmp(text, "evict", 5) ? "eviction_policy" : NULL;
  return name && lower_hint(L, "positional arguments take the first parameters: write %s=\"%s\"", name, text) == NULL;
}

// After numbers that belong together in a list, from parameter i on: load(m, n) of a descriptor.
bool builtin_hint_brackets(Lower *L, const Call *c, uint32_t i, uint32_t rank) {
  Buf all = buf_make(L->arena);
  for (uint32_t k = 0; k < rank; k++) {
    const Term *t = c->args[i + k];   // NULL after the last parameter
    if (!t || !(term_is_number(t) || (t->kind == TERM_VALUE && !ct_is_ptr(term_t(t))))) return false;
    buf_printf(&all, "%s%s", k ? ", " : "", lower_source_text_or(L, c->spans[i + k], "0"));
  }
  return lower_hint(L, "write them in brackets: [%s]", buf_str(&all)) == NULL;
}
