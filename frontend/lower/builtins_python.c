// Python's own functions on terms, of which some may be known only at run time.
#include "frontend/lower/builtins.h"
#include "frontend/lower/hints.h"
#include "frontend/lower/term.h"

#include <string.h>

enum { NUM_MINMAX = 5 };   // parameters of tl.max and tl.min

// Python's function of the row's name, on constants.
static Term *all_const(Lower *L, const Call *c, CtValue **values, uint32_t n) {
  CtValue *fn = ct_builtin(L->ctx, intern(L->ctx, c->row->name + 3));
  return term_const(L, comptime_call(L->ct, fn, values, n, NULL, 0, c->span));
}

// Whether the call means tl.max and not Python's max: it has a tensor and a further argument of tl.max, a tensor alone
// or, where `tl.` may be left out, a tensor and an axis.
static bool is_reduction(Lower *L, const Call *c, const Term *list) {
  const uint32_t n = list->tuple.count;
  if (!n || !term_is_tensor(list->tuple.items[0])) return false;
  for (uint32_t i = 1; i < NUM_MINMAX; i++)
    if (c->given[i]) return true;
  int64_t axis;
  return n == 1 || (n == 2 && L->frame->fn->is_bare && term_get_int(list->tuple.items[1], &axis));
}

Term *tl_py_minmax(Lower *L, Call *c) {
  bool is_max = c->row->data == 1;
  const Term *list = c->args[0];
  if (list->tuple.count == 1 && list->tuple.items[0]->kind == TERM_TUPLE) list = list->tuple.items[0];
  if (is_reduction(L, c, list)) {
    Term *args[1 + NUM_MINMAX] = {list->tuple.items[0]};
    for (uint32_t i = 1; i < NUM_MINMAX; i++) args[i] = c->args[i];
    if (list->tuple.count == 2) args[1] = list->tuple.items[1];
    return lower_prelude_call(L, is_max ? "max" : "min", args, NUM_MINMAX, c->span);
  }
  if (list->tuple.count == 0) return builtin_error(L, c, "`%s` needs at least one value", c->row->name + 3);
  Term *best = list->tuple.items[0];
  for (uint32_t i = 1; i < list->tuple.count; i++) {
    Term *x = list->tuple.items[i];
    CtValue *a = term_to_ct(L, best), *b = term_to_ct(L, x);
    if (a && b) best = all_const(L, c, (CtValue *[]){a, b}, 2);
    else
      best = lower_call_positional(L, builtin_resolve(L, is_max ? "tl.maximum" : "tl.minimum"), (Term *[]){best, x}, 2,
                                   c->span);
    if (!best) return NULL;
  }
  return best;
}

Term *tl_py_len(Lower *L, Call *c) {
  Term *x = c->args[0];
  if (x->kind == TERM_TUPLE) return term_int(L, x->tuple.count);
  if (term_is_tensor(x)) return term_int(L, term_t(x)->shape[0]);
  CtValue *k = term_to_ct(L, x);
  if (!k) {
    arg_error(L, c, 0, "%s has no len", term_describe(L, x));
    if (x->kind == TERM_VALUE && ct_is_ptr(term_t(x)) && lower_note_one_pointer(L, x)) return NULL;
    return lower_hint(L, "pass the number of elements to the kernel as a parameter of its own");
  }
  return all_const(L, c, &k, 1);
}

Term *tl_py_number(Lower *L, Call *c) {
  CtValue *k = term_to_ct(L, c->args[0]);
  if (k) return all_const(L, c, &k, 1);
  static const DtypeKind kinds[] = {DT_INT32, DT_FP32, DT_INT1};
  Term *x = arg_value(L, c, 0);
  return x ? lower_cast_to(L, x, kinds[c->row->data], c->span) : NULL;
}

static const char *class_name(const CtValue *v) {
  const char *name = v->kind == CT_BUILTIN ? v->builtin.name : v->kind == CT_CLASS ? v->cls->name : "";
  const char *dot = strrchr(name, '.');
  return dot ? dot + 1 : name;
}

static bool is_instance(Lower *L, const Term *x, const CtValue *cls) {
  const char *n = class_name(cls);
  if (x->kind == TERM_VALUE) return strcmp(n, "tensor") == 0;
  if (x->kind == TERM_DESC) return strstr(n, "tensor_descriptor") != NULL;
  if (x->kind == TERM_BLOCK_PTR) return strcmp(n, "tensor") == 0;
  if (x->kind == TERM_BUFFER) return strcmp(n, "shared_memory_descriptor") == 0;
  if (x->kind == TERM_ACC) return strcmp(n, "warpgroup_mma_accumulator") == 0;
  if (x->kind == TERM_TUPLE) {
    if (x->tuple.cls)
      return (cls->kind == CT_CLASS && cls->cls == x->tuple.cls) ||
             (strcmp(n, "tuple") == 0 && x->tuple.cls->form == CLASS_NAMEDTUPLE);
    return strcmp(n, "tuple") == 0 || (strcmp(n, "list") == 0 && x->tuple.is_list);
  }
  if (x->kind != TERM_CONST) return false;
  if (strcmp(n, "constexpr") == 0) return true;
  CtValue *args[2] = {x->ct, (CtValue *)cls};
  uint32_t errors = diag_error_count(L->ctx);
  CtValue *r = comptime_call(L->ct, ct_builtin(L->ctx, intern(L->ctx, "isinstance")), args, 2, NULL, 0, L->b.span);
  return r && diag_error_count(L->ctx) == errors && ct_is_true(r);
}

Term *tl_py_isinstance(Lower *L, Call *c) {
  Term *cls = c->args[1];
  uint32_t n = cls->kind == TERM_TUPLE ? cls->tuple.count : 1;
  for (uint32_t i = 0; i < n; i++) {
    Term *t = cls->kind == TERM_TUPLE ? cls->tuple.items[i] : cls;
    if (!term_is_const(t))
      return arg_error(L, c, 1, "isinstance needs a class, this is %s", term_describe(L, t));
    if (is_instance(L, c->args[0], t->ct)) return term_bool(L, true);
  }
  return term_bool(L, false);
}

static bool has_attr(Lower *L, Term *x, const char *name) {
  if (x->kind == TERM_CONST) return comptime_get_attr(L->ct, x->ct, name) != NULL;
  if (x->kind == TERM_TUPLE && x->tuple.cls) {
    for (uint32_t i = 0; i < x->tuple.cls->num_fields; i++)
      if (x->tuple.cls->fields[i].name == name) return true;
    return lower_find_method(L, x, name) != NULL;
  }
  static const char *const of_values[] = {"dtype", "type", "shape", "numel", "T"};
  if (x->kind == TERM_VALUE) {
    for (uint32_t i = 0; i < countof(of_values); i++)
      if (strcmp(name, of_values[i]) == 0) return true;
    return builtin_find_method(L, name) != NULL;
  }
  return false;
}

Term *tl_py_getattr(Lower *L, Call *c) {
  const char *name;
  if (!arg_str(L, c, 1, &name)) return NULL;
  name = intern(L->ctx, name);
  bool has = has_attr(L, c->args[0], name);
  if (c->row->data == 1) return term_bool(L, has);
  if (!has && c->args[2]->tuple.count) return c->args[2]->tuple.items[0];
  return lower_attribute(L, c->args[0], name, c->span);
}

static Term *as_tuple(Lower *L, Term *x, Span span) {
  if (x->kind == TERM_TUPLE) return x;
  CtList list = {0};
  if (x->kind != TERM_CONST) {
    lower_error(L, span, "%s does not iterate", term_describe(L, x));
    return lower_hint(L, "count with `for i in range(n):` and tl.load what each iteration needs");
  }
  if (!comptime_iterate(L->ct, x->ct, span, &list)) return NULL;
  return term_const(L, ct_tuple(L->ctx, list.data, list.count));
}

Term *tl_py_tuple(Lower *L, Call *c) {
  Term *x = as_tuple(L, c->args[0], c->spans[0]);
  if (!x) return NULL;
  Term *t = term_tuple(L, x->tuple.items, x->tuple.count, NULL);
  t->tuple.is_list = c->row->data == 1;
  return t;
}

Term *tl_py_type(Lower *L, Call *c) {
  Term *x = c->args[0];
  if (x->kind == TERM_VALUE) return term_const(L, ct_builtin(L->ctx, intern(L->ctx, "tl.tensor")));
  CtValue *k = term_to_ct(L, x);
  if (!k) return arg_error(L, c, 0, "the type of %s is not available", term_describe(L, x));
  return all_const(L, c, &k, 1);
}

Term *tl_py_zip(Lower *L, Call *c) {
  bool enumerate = c->row->data == 1;
  Term *one[1] = {c->args[0]};
  Term **lists = enumerate ? one : c->args[0]->tuple.items;
  uint32_t num = enumerate ? 1 : c->args[0]->tuple.count, n = UINT32_MAX;
  Term **seqs = arena_array(L->arena, Term *, num + 1);
  for (uint32_t i = 0; i < num; i++) {
    if (!(seqs[i] = as_tuple(L, lists[i], c->spans[0]))) return NULL;
    if (seqs[i]->tuple.count < n) n = seqs[i]->tuple.count;
  }
  if (!num) n = 0;
  Term **rows = arena_array(L->arena, Term *, n + 1);
  for (uint32_t r = 0; r < n; r++) {
    TermList row = {0};
    if (enumerate) vec_push(L->arena, &row, term_int(L, r));
    for (uint32_t i = 0; i < num; i++) vec_push(L->arena, &row, seqs[i]->tuple.items[r]);
    rows[r] = term_tuple(L, row.data, row.count, NULL);
  }
  return term_tuple(L, rows, n, NULL);
}
