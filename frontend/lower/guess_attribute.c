// Suggestions for an unknown attribute: what to write for a name from another library, whose attribute it is, or the
// nearest name.
#include "frontend/lower/builtins.h"
#include "frontend/lower/hints.h"
#include "frontend/lower/term.h"

#include <string.h>

static const char *nearest_method(Lower *L, const char *name) {
  NameVec all = {0}, names = {0};
  static const char *const others[] = {"dtype", "shape", "numel", "T"};
  for (uint32_t i = 0; i < countof(others); i++) vec_push(L->arena, &names, others[i]);
  lower_add_language_functions(L, &all);
  for (uint32_t i = 0; i < all.count; i++)
    if (builtin_find_method(L, all.data[i])) vec_push(L->arena, &names, all.data[i]);
  return nearest_name(name, names.data, names.count);
}

static bool is_among(const char *words, const char *name) {
  const size_t n = strlen(name);
  for (const char *at = words; (at = strstr(at, name)); at++)
    if ((at == words || at[-1] == ' ') && (!at[n] || at[n] == ' ')) return true;
  return false;
}

// What other libraries and releases call a type, or the type of the elements.
static const char names_of_types[] = "dtype type element_ty element_type elem_type elem_ty elementtype elt_type "
                                     "scalar_type scalar_ty value_type value_dtype base_dtype data_type get_type";
static const char extents[] = "size shape numel nelement nbytes size_bytes ndim dim rank len __len__ get_shape";

static bool has_attribute(Lower *L, const CtType *t, const char *name) {
  return comptime_get_attr(L->ct, ct_dtype(L->ctx, t), intern(L->ctx, name)) != NULL;
}

static Term *hint_value(Lower *L, const Term *base, const char *name) {
  const CtType *t = term_t(base);
  const bool is_ptr = ct_is_ptr(t);
  if (is_ptr && !ct_rank(t) && is_among(extents, name))
    return lower_hint(L, "an address has no extents: pass them to the kernel as parameters of their own");
  if (lower_hint_foreign(L, FOREIGN_METHOD, name)) return NULL;
  if (is_among(names_of_types, name))
    return lower_hint(L, is_ptr ? "write x.dtype.element_ty for the type of what it points to"
                                : "x.dtype is the type of the elements");
  if (has_attribute(L, ct_scalar_of(t), name)) return lower_hint(L, "the type has it: x.dtype.%s", name);
  if (lower_hint_foreign(L, FOREIGN_FUNCTION, name)) return NULL;
  if (lower_hint_nearest(L, name, nearest_method(L, name))) return NULL;
  DtypeKind kind;
  if (lower_is_language_name(name)) lower_hint(L, "it is a function: tl.%s(…)", name);
  else if (dtype_find(name, &kind) || comptime_foreign(FOREIGN_DTYPE, name))
    lower_hint(L, "write x.to(tl.%s)", comptime_foreign_dtype(name));
  return NULL;
}

static Term *hint_type(Lower *L, const CtType *t, const char *name) {
  static const char *const tests[] = {"is_floating", "is_int", "is_ptr", "is_bool", "is_block", "is_int_signed",
                                      "is_int_unsigned", "element_ty", "primitive_bitwidth", "itemsize", "scalar"};
  if (is_among(names_of_types, name)) {
    if (t->kind == CT_TYPE_POINTER) return lower_hint(L, "write .element_ty for the type of what it points to");
    if (t->kind == CT_TYPE_BLOCK) return lower_hint(L, "write .element_ty for the type of the elements");
    return lower_hint(L, "this is the type of the elements already: leave `.%s` out; pointer types have element_ty",
                      name);
  }
  if (is_among("max min eps tiny smallest_normal max_value min_value finfo iinfo", name)) {
    lower_hint_foreign(L, FOREIGN_FUNCTION, "finfo");
    return NULL;
  }
  if (is_among("bits bitwidth width bit_width bytes size element_size", name))
    return lower_hint(L, "write .primitive_bitwidth for its bits, .itemsize for its bytes");
  if (is_among("is_floating_point is_float", name)) return lower_hint(L, "write .is_floating()");
  if (is_among("is_signed is_unsigned", name)) return lower_hint(L, "write .is_int%s()", name + 2);
  if (builtin_find_method(L, name)) return lower_hint(L, "this is a type; the value has it: x.%s(…)", name);
  lower_hint_nearest(L, name, nearest_name(name, tests, countof(tests)));
  return NULL;
}

Term *lower_no_attribute(Lower *L, const Term *base, const char *name, Span span) {
  const bool is_tensor = base->kind == TERM_VALUE && !ct_is_ptr(term_t(base)), is_value = base->kind == TERM_VALUE,
             is_sequence = base->kind == TERM_TUPLE;
  const char *what = is_sequence && base->tuple.is_fstring ? "a text with run-time values"
                     : is_sequence                         ? base->tuple.is_list ? "a list" : "a tuple"
                     : is_tensor && term_is_tensor(base)   ? "a tensor"
                                                           : term_describe(L, base);
  const char *prelude = lower_prelude_name(L, span);
  if (prelude && !is_tensor) {
    lower_error(L, span, "`%s` works on tiles and numbers, not on %s", prelude, term_describe(L, base));
    return is_sequence ? lower_hint(L, "add up or combine its items in a loop over tl.static_range") : NULL;
  }
  lower_error(L, span, "%s has no attribute `%s`", what, name);
  if (builtin_find(arena_printf(L->arena, "descriptor.%s", name)) && is_tensor)
    return lower_hint(L,
                      "a tensor descriptor has it: tl.make_tensor_descriptor(…), or an argument of type tensordesc<…>");
  if (is_sequence) {
    if (!lower_hint_foreign(L, FOREIGN_SEQUENCE, name))
      lower_hint(L, "index it by constants, or go over it with for or tl.static_range");
  } else if (is_value) {
    return hint_value(L, base, name);
  } else if (term_is_const(base) && base->ct->kind == CT_DTYPE) {
    return hint_type(L, base->ct->type, name);
  }
  return NULL;
}

Term *lower_no_block_attribute(Lower *L, const char *name, Span span) {
  lower_error(L, span, "a block pointer has no attribute `%s`", name);
  if (strcmp(name, "load") == 0) return lower_hint(L, "call the function: tl.load(p, boundary_check=(…))");
  if (strcmp(name, "store") == 0) return lower_hint(L, "call the function: tl.store(p, x, boundary_check=(…))");
  if (is_among("base shape strides stride offsets offset block_shape order", name) || is_among(extents, name))
    return lower_hint(L, "keep what tl.make_block_ptr is given in variables: it is not read back");
  if (strcmp(name, "element_ty") == 0) return lower_hint(L, "its type has it: p.dtype.element_ty.element_ty");
  if (builtin_find_method(L, name) || comptime_foreign(FOREIGN_METHOD, name) ||
      comptime_foreign(FOREIGN_FUNCTION, name))
    return lower_hint(L, "load what it points to: tl.load(p, boundary_check=(…))");
  return lower_hint(L, "it has advance, dtype and type; tl.load and tl.store take it");
}
