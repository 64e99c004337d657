// -Wtype-name, -Wannotation, -Wpure-asm: a dtype, an annotation or a promise that does not do what it looks like.
#include "frontend/lower/statements.h"
#include "frontend/lower/term.h"
#include "frontend/lower/warnings.h"

#include <string.h>

void lower_warn_type_name(Lower *L, const CtValue *a, const CtValue *b, Span span) {
  const CtValue *type = a->kind == CT_DTYPE ? a : b, *text = a->kind == CT_DTYPE ? b : a;
  DtypeKind kind;
  if (type->kind != CT_DTYPE || text->kind != CT_STR || lower_in_prelude(L, span)) return;
  if (!diag_warning(L->ctx, WARN_TYPE_NAME, span, "a dtype never equals a string: %s is no text",
                    ct_type_text(L->ctx, type->type)))
    return;
  const bool is_known = dtype_find(text->str.data, &kind);
  lower_hint(L, "compare it with the dtype: == tl.%s", is_known ? dtype_info[kind].name : "float16");
}

// The dtype that an annotation names: tl.float32, float32.
static bool annotated_dtype(const Node *a, DtypeKind *kind) {
  const char *name = a->kind == NODE_NAME ? a->name.id : a->kind == NODE_ATTRIBUTE ? a->attr.name : NULL;
  return name && dtype_find(name, kind);
}

void lower_warn_annotation(Lower *L, const Node *s, const Term *v) {
  DtypeKind kind;
  if (!v || v->kind != TERM_VALUE || ct_is_ptr(term_t(v)) || !annotated_dtype(s->ann.annotation, &kind)) return;
  if (s->ann.target->kind != NODE_NAME || ct_scalar_of(term_t(v))->scalar == kind || lower_in_prelude(L, s->span)) return;
  const char *name = s->ann.target->name.id;
  if (diag_warning(L->ctx, WARN_ANNOTATION, s->ann.annotation->span, "the annotation converts nothing: `%s` is %s", name,
                   term_describe(L, v)))
    lower_hint(L, "convert the value: %s = %s.to(tl.%s)", name,
               s->ann.value->kind == NODE_NAME || s->ann.value->kind == NODE_CALL
                   ? lower_source_text_or(L, s->ann.value->span, "…") : "(…)", dtype_info[kind].name);
}

void lower_warn_pure(Lower *L, const Call *c, const char *text) {
  static const char *const effects[] = {"%clock", "%globaltimer", "atom.", "red.", "st.", ".volatile", "bar.", "membar",
                                        "fence.", "nanosleep"};
  if (lower_in_prelude(L, c->span)) return;
  for (uint32_t i = 0; i < sizeof effects / sizeof *effects; i++) {
    const char *at = strstr(text, effects[i]);
    if (!at || (i > 1 && at > text && strchr("abcdefghijklmnopqrstuvwxyz_", at[-1]))) continue;
    if (diag_warning(L->ctx, WARN_PURE_ASM, c->spans[4], "is_pure=True says that equal calls give equal values, and may "
                     "be merged, moved or left out: this assembly has `%s`", effects[i]))
      lower_hint(L, "write is_pure=False");
    return;
  }
}
