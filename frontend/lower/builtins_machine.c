// Builtins close to the machine: barriers, special registers, inline assembly, named device functions.
#include "frontend/lower/builtins.h"
#include "frontend/lower/term.h"
#include "frontend/lower/warnings.h"
#include "ir/inline_asm.h"

#include <string.h>

Term *tl_barrier(Lower *L, Call *c) {
  (void)c;
  build_op(&L->b, OP_BARRIER, NULL, 0);
  return term_none(L);
}

Term *tl_grid_dependency(Lower *L, Call *c) {
  const Target *t = L->module->target;
  if (t->sm < 90) return builtin_error(L, c, "`%s` needs sm_90 or later, this is %s", c->row->name, t->name);
  Op *op = build_op(&L->b, OP_GRID_DEPENDENCY, NULL, 0);
  if (c->row->data) op_set_int(L->ctx, op, ATTR_DEPENDENTS, 1);
  return term_none(L);
}

Term *tl_special(Lower *L, Call *c) {
  SpecialReg reg = (SpecialReg)c->row->data;
  const CtType *t = lower_scalar(L, reg == SREG_SMID ? DT_INT32 : DT_INT64);
  Op *op = lower_new_op(L, OP_SPECIAL, t, NULL, 0);
  op_set_int(L->ctx, op, ATTR_SREG, reg);
  return term_of_op(L, op, t);
}

// ---- escape hatches ----
static bool asm_results(Lower *L, Call *c, uint32_t i, const CtType **out, uint32_t *n, bool *is_tuple) {
  Term *t = c->args[i];
  *is_tuple = t->kind == TERM_TUPLE;
  *n = *is_tuple ? t->tuple.count : 1;
  if (!*is_tuple) return arg_dtype(L, c, i, &out[0]);
  if (*n > 8) return arg_error(L, c, i, "inline assembly gives at most 8 results, not %u", *n) != NULL;
  for (uint32_t k = 0; k < *n; k++)
    if (!term_get_dtype(t->tuple.items[k], &out[k]))
      return arg_error(L, c, i, "entry %u of `dtype` is not a type", k) != NULL;
  return true;
}

// After an error about the constraints: some that fit, and how elements share registers.
static Term *hint_constraints(Lower *L, const Op *op, uint32_t pack) {
  const char *fitting = inline_asm_fitting(L->ctx, op);
  uint32_t most = 1;   // elements in a register
  bool is_wide = false;
  for (uint32_t i = 0; i < op->num_operands; i++)
    most = (uint32_t)max_i64(most, inline_asm_per_register(op_operand(op, i)->type, pack));
  for (uint32_t i = 0; i < op->num_results; i++) {
    const uint32_t each = inline_asm_per_register(op->results[i].type, pack);
    most = (uint32_t)max_i64(most, each);
    is_wide |= each == 1;
  }
  if (most == 1) return lower_hint(L, "\"%s\" fits", fitting);
  if (is_wide)
    lower_hint(L, "each of the %u results has a register of its own; those of a narrow dtype, as tl.int8, share one",
               pack);
  return lower_hint(L, "\"%s\" fits: with pack=%u, %u narrow elements share a register of 32 bits, which suits "
                       "instructions like add.f16x2", fitting, pack, most);
}

Term *tl_inline_asm(Lower *L, Call *c) {
  const char *text, *constraints;
  bool pure, is_tuple;
  int64_t pack;
  const CtType *results[8];
  uint32_t n;
  if (!arg_str(L, c, 0, &text) || !arg_str(L, c, 1, &constraints) || !asm_results(L, c, 3, results, &n, &is_tuple) ||
      !arg_bool(L, c, 4, &pure) || !arg_int(L, c, 5, &pack))
    return NULL;
  if (pure) lower_warn_pure(L, c, text);
  Term *args = c->args[2];
  Term **items = args->kind == TERM_TUPLE ? args->tuple.items : &args;
  uint32_t count = args->kind == TERM_TUPLE ? args->tuple.count : 1;
  if (pack < 1 || pack > 64) return arg_error(L, c, 5, "`pack` must be 1 to 64, not %lld", (long long)pack);
  Term **x = arena_array(L->arena, Term *, count + 1);
  for (uint32_t i = 0; i < count; i++)
    if (!(x[i] = term_to_value(L, items[i], c->spans[2], "an argument"))) return NULL;
  for (int pass = 0; pass < 2; pass++)
    for (uint32_t i = 1; i < count; i++)
      if (!lower_broadcast_pair(L, &x[0], &x[i], c->spans[2])) return NULL;
  const CtType *shape = count ? term_t(x[0]) : lower_scalar(L, DT_INT32);
  ValueList values = {0};
  for (uint32_t i = 0; i < count; i++) vec_push(L->arena, &values, term_v(x[i]));
  const Type *types[8];
  for (uint32_t i = 0; i < n; i++) types[i] = lower_ir_type(L, lower_with_elem(L, shape, ct_scalar_of(results[i])));
  Op *op = build_op_typed(&L->b, OP_INLINE_ASM, types, n, values.data, values.count);
  op_set_str(L->ctx, op, ATTR_TEXT, intern(L->ctx, text));
  op_set_str(L->ctx, op, ATTR_CONSTRAINTS, intern(L->ctx, constraints));
  op_set_int(L->ctx, op, ATTR_PACK, pack);
  op_set_int(L->ctx, op, ATTR_PURE, pure);
  AsmRegisters registers;
  const char *wrong = inline_asm_registers(L->ctx, op, &registers);
  if (wrong) {
    arg_error(L, c, 1, "%s", wrong);
    return hint_constraints(L, op, (uint32_t)pack);
  }
  if ((wrong = inline_asm_check_text(L->ctx, op, &registers))) return arg_error(L, c, 0, "%s", wrong);
  Term *out[8];
  for (uint32_t i = 0; i < n; i++)
    out[i] = term_value(L, op_result(op, i), lower_with_elem(L, shape, ct_scalar_of(results[i])));
  return is_tuple ? term_tuple(L, out, n, NULL) : out[0];
}

// Finds the prelude's function for a name of libdevice, the only device library there is: __nv_tanhf is tanh. libdevice
// marks the type by letters before and after the language's name: erff, isnand, clzll, dadd_rz, fmaf_rz, uhadd.
static Term *device_function(Lower *L, const char *base) {
  static const char *const irregular[][2] = {{"mul64hi", "mulhi"}, {"umul64hi", "mulhi"},
      {"fast_fdividef", "fast_dividef"}, {"llabs", "abs"}};
  static const char *const endings[] = {"", "f", "d", "ll"};
  for (uint32_t i = 0; i < countof(irregular); i++)
    if (strcmp(base, irregular[i][0]) == 0) base = irregular[i][1];
  Arena *a = L->arena;
  const char *direction = strstr(base, "f_r");
  if (direction) base = arena_printf(a, "%.*s%s", (int)(direction - base), base, direction + 1);
  size_t len = strlen(base);
  for (uint32_t skip = 0; skip < 2; skip++) {
    if (skip && (!len || !strchr("dfu", base[0]))) break;
    for (uint32_t i = 0; i < countof(endings); i++) {
      size_t end = strlen(endings[i]);
      if (len <= end + skip || strcmp(base + len - end, endings[i]) != 0) continue;
      Term *fn = builtin_resolve(L, arena_printf(a, "libdevice.%.*s", (int)(len - end - skip), base + skip));
      if (fn) return fn;
    }
  }
  return NULL;
}

Term *tl_extern(Lower *L, Call *c) {
  Term *args = c->args[2];
  CtValue *table = term_to_ct(L, c->args[3]);
  if (args->kind != TERM_TUPLE || !table || table->kind != CT_DICT)
    return builtin_error(L, c, "extern_elementwise needs a list of arguments and a constant dict of overloads");
  uint32_t n = args->tuple.count;
  Term **x = arena_array(L->arena, Term *, n + 1);
  for (uint32_t i = 0; i < n; i++)
    if (!(x[i] = term_to_value(L, args->tuple.items[i], c->spans[2], "an argument"))) return NULL;
  for (uint32_t e = 0; e < table->dict->count; e++) {
    const CtEntry *entry = &table->dict->entries[e];
    const CtList *key = &entry->key->list, *value = &entry->value->list;
    bool match = entry->key->kind == CT_TUPLE && key->count == n && entry->value->kind == CT_TUPLE && value->count >= 1;
    for (uint32_t i = 0; match && i < n; i++)
      match = key->data[i]->kind == CT_DTYPE && ct_type_equal(key->data[i]->type, ct_scalar_of(term_t(x[i])));
    if (!match) continue;
    CtValue *symbol = ct_unwrap(value->data[0]);
    const char *name = symbol->kind == CT_STR ? symbol->str.data : "";
    if (strncmp(name, "__nv_", 5) == 0) {
      Term *fn = device_function(L, name + 5);
      if (fn) return lower_call_positional(L, fn, x, n, c->span);
    }
    return builtin_error(L, c, "the device function `%s` is not known", name);
  }
  Buf types = buf_make(L->arena);
  for (uint32_t i = 0; i < n; i++)
    buf_printf(&types, "%s%s", i ? ", " : "", ct_type_text(L->ctx, ct_scalar_of(term_t(x[i]))));
  return builtin_error(L, c, "no overload of this function takes (%s)", buf_str(&types));
}
