// Hints after a wrong argument of a builtin: what to write instead.
#include <string.h>

#include "frontend/lower/builtins.h"
#include "frontend/lower/hints.h"
#include "frontend/lower/statements.h"
#include "frontend/lower/term.h"

const char *arg_function(Lower *L, const Call *c) {
  const char *prelude = lower_prelude_name(L, c->span);
  return prelude ? prelude : c->row->name;
}

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

bool builtin_hint_step(Lower *L, const Call *c, const CallArgs *args) {
  if (strcmp(c->row->name, "arange") || args->num_args != 3) return false;
  const char *from = lower_source_text_or(L, args->spans[0], "0"), *to = lower_source_text_or(L, args->spans[1], "n");
  const char *step = lower_source_text_or(L, args->spans[2], "step"), *add = strcmp(from, "0") ? from : NULL;
  return lower_hint(L, "it has no step: write %s%stl.arange(0, %s%s%s // %s) * %s", add ? add : "", add ? " + " : "",
                    add ? "(" : "", to, add ? arena_printf(L->arena, " - %s)", from) : "", step, step) == NULL;
}

// ---- arguments by position that belong to a parameter further on ----
typedef enum { ARG_OTHER, ARG_BOOL, ARG_FLOAT, ARG_TYPE, ARG_TEXT } ArgKind;
// The parameters that take an argument of a kind, the most likely first; texts: those that they take.
static const struct { ArgKind kind; const char *params, *texts; } takers[] = {
    {ARG_BOOL, "allow_tf32 keep_dims volatile return_indices bitcast reverse descending can_reorder ieee_rounding", ""},
    {ARG_FLOAT, "other", ""},
    {ARG_TYPE, "dtype out_dtype", ""},
    {ARG_TEXT, "cache_modifier", ".ca .cg .cv .cs .wb .wt"},
    {ARG_TEXT, "eviction_policy", "evict_first evict_last evict_normal"},
    {ARG_TEXT, "input_precision", "tf32 tf32x3 ieee bf16x3 bf16x6"},
    {ARG_TEXT, "sem", "acquire release acq_rel relaxed"},
    {ARG_TEXT, "scope", "cta gpu sys"},
    {ARG_TEXT, "padding_option", "zero nan"},
    {ARG_TEXT, "fp_downcast_rounding", "rtne rtz"},
};

static ArgKind kind_of(const Term *t, const char **text) {
  const CtType *type;
  *text = "";
  if (!t || !term_is_const(t)) return ARG_OTHER;
  if (t->ct->kind == CT_BOOL) return ARG_BOOL;
  if (t->ct->kind == CT_FLOAT) return ARG_FLOAT;
  if (term_get_str(t, text)) return ARG_TEXT;
  return term_get_dtype(t, &type) ? ARG_TYPE : ARG_OTHER;
}

// The parameters of the function that the user called: the builtin, or the function of the prelude that calls it.
static NameVec user_params(Lower *L, const Call *c, const CtFunction *through) {
  NameVec names = {0};
  BuiltinParam p;
  for (uint32_t i = 0; through && i < through->num_params; i++) vec_push(L->arena, &names, through->params[i].name);
  for (const char *s = through ? "" : c->row->params; *s && (s = builtin_next_param(s, &p));)
    vec_push(L->arena, &names, arena_strndup(L->arena, p.name, p.name_size));
  return names;
}

// Which of these parameters got argument i.
static uint32_t user_index(Lower *L, const Call *c, uint32_t i, const CtFunction *through) {
  for (uint32_t k = 0; through && k < through->num_params; k++) {
    const Var *v = scope_find(&L->frame->scope, through->params[k].name);
    if (v && v->term == c->args[i]) return k;
  }
  return through ? UINT32_MAX : i;
}

bool builtin_hint_position(Lower *L, const Call *c, uint32_t i) {
  const char *text, *shown = builtin_arg_text(L, c, i);
  const ArgKind kind = kind_of(c->args[i], &text);
  const CtFunction *through = lower_in_prelude(L, c->span) ? L->frame->fn : NULL;
  const NameVec names = user_params(L, c, through);
  const uint32_t at = user_index(L, c, i, through);
  if (kind == ARG_OTHER || at >= names.count) return false;
  const size_t size = strlen(names.data[at]);
  const char *written = lower_source_text_or(L, c->spans[i], "");
  if (!through && !strncmp(written, names.data[at], size) && strchr("= ", written[size])) return false;   // by name
  if (through) {
    const CtType *type;
    shown = term_get_dtype(c->args[i], &type) && type->kind == CT_TYPE_SCALAR
                ? arena_printf(L->arena, "tl.%s", dtype_info[type->scalar].name) : ct_repr(L->ctx, c->args[i]->ct);
  }
  for (uint32_t k = 0; k < countof(takers); k++) {
    if (takers[k].kind != kind || (kind == ARG_TEXT && !ct_has_word(takers[k].texts, text))) continue;
    if (ct_has_word(takers[k].params, names.data[at])) return false;
    for (uint32_t n = at + 1; n < names.count; n++)
      if (ct_has_word(takers[k].params, names.data[n]))
        return lower_hint(L, "positional arguments take the first parameters, here `%s`: write %s=%s", names.data[at],
                          names.data[n], shown) == NULL;
  }
  return false;
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
