// Builtins for debugging, promises, compile-time checks, queries, inline assembly, and loops' stand-ins.
#include "frontend/lower.h"

#include <stdio.h>
#include <string.h>

Term *tl_range_loop(Lower *L, Call *c) {
  CtValue *values[3];
  uint32_t n = 0;
  for (uint32_t i = 0; i < 3; i++) {
    if (arg_is_none(c, i)) break;
    if (!(values[n++] = term_to_ct(L, c->args[i]))) return lower_error(L, c->spans[i], "range over run-time bounds works in a `for` only");
  }
  CtValue *r = comptime_call(L->ct, ct_builtin(L->ctx, intern(L->ctx, "range")), values, n, NULL, 0, c->span);
  return r ? term_const(L, r) : NULL;
}
Term *tl_static_range(Lower *L, Call *c) { return tl_range_loop(L, c); }

// Its attributes have no effect on a loop that is neither pipelined nor unrolled.
Term *tl_condition_call(Lower *L, Call *c) {
  (void)L;
  return c->args[0];
}

Term *tl_assume(Lower *L, Call *c) {
  Term *x = c->args[0];
  int known;
  Value *v;
  if (!lower_condition(L, x, c->spans[0], "`assume`", &known, &v)) return NULL;
  if (known < 0) build_op(&L->b, OP_ASSUME, &v, 1);
  return term_none(L);
}

Term *tl_barrier(Lower *L, Call *c) {
  (void)c;
  build_op(&L->b, OP_BARRIER, NULL, 0);
  return term_none(L);
}

// ---- printing ----
typedef struct { ValueList values; Buf names; Buf prefix; int64_t all_signed; } PrintArgs;

static void add_print_value(Lower *L, PrintArgs *p, Term *v, const char *name) {
  if (p->values.count) buf_putc(&p->names, ',');
  // The sign of each operand travels in its name: "u:" before an unsigned one.
  buf_printf(&p->names, "%s%s", ct_is_int(term_t(v)) && !ct_is_signed(term_t(v)) && !ct_is_bool(term_t(v)) ? "u:" : "", name);
  vec_push(&L->ctx->arena, &p->values, term_v(v));
}

// A text or f-string, then values: texts of f-strings go between the values as %s-free pieces joined by "{}".
static bool print_text(Lower *L, Term *t, Span span, PrintArgs *p) {
  const char *s;
  if (term_get_str(t, &s)) {
    buf_puts(&p->prefix, s);
    return true;
  }
  if (t->kind != TERM_TUPLE || !t->tuple.is_fstring) return lower_error(L, span, "the text must be a string, not %s", term_describe(L, t)) != NULL;
  for (uint32_t i = 0; i < t->tuple.count; i++) {
    Term *part = t->tuple.items[i];
    if (term_get_str(part, &s)) {
      buf_puts(&p->prefix, s);
      continue;
    }
    Term *v = term_to_value(L, part, span, "a printed value");
    if (!v) return false;
    buf_puts(&p->prefix, "{}");
    add_print_value(L, p, v, term_v(v)->name ? term_v(v)->name : "");
  }
  return true;
}

static void emit_print(Lower *L, PrintArgs *p, bool hex) {
  Op *op = build_op(&L->b, OP_PRINT, p->values.data, p->values.count);
  op_set_str(L->ctx, op, ATTR_TEXT, buf_str(&p->prefix));
  op_set_str(L->ctx, op, ATTR_NAMES, buf_str(&p->names));
  if (hex) op_set_int(L->ctx, op, ATTR_HEX, 1);
}

static PrintArgs new_print(Lower *L) { return (PrintArgs){.names = buf_make(&L->ctx->arena), .prefix = buf_make(&L->ctx->arena), .all_signed = 1}; }

static const char *operand_name(const Call *c, uint32_t i) {
  if (!c->node || i >= c->node->call.args.count) return "";
  const Node *n = c->node->call.args.data[i];
  return n->kind == NODE_NAME ? n->name.id : "";
}

Term *tl_device_print(Lower *L, Call *c) {
  PrintArgs p = new_print(L);
  bool hex;
  if (!arg_bool(L, c, 2, &hex)) return NULL;
  const char *s;
  bool is_text = term_get_str(c->args[0], &s) || (c->args[0]->kind == TERM_TUPLE && c->args[0]->tuple.is_fstring);
  if (is_text && !print_text(L, c->args[0], c->spans[0], &p)) return NULL;
  if (!is_text) {   // print(x): no text
    Term *v = arg_value(L, c, 0);
    if (!v) return NULL;
    add_print_value(L, &p, v, operand_name(c, 0));
  }
  for (uint32_t i = 0; i < c->args[1]->tuple.count; i++) {
    Term *item = c->args[1]->tuple.items[i];
    if (term_get_str(item, &s)) {
      buf_puts(&p.prefix, s);
      continue;
    }
    Term *v = term_to_value(L, item, c->spans[1], "a printed value");
    if (!v) return NULL;
    add_print_value(L, &p, v, operand_name(c, i + 1));
  }
  emit_print(L, &p, hex);
  return term_none(L);
}

// The condition and "this program's ids are pids": int or string condition texts are not given a meaning here.
static bool where_condition(Lower *L, Call *c, uint32_t cond_i, uint32_t pids_i, Value **out) {
  Term *cond = c->args[cond_i];
  int known;
  Value *v;
  if (cond->kind == TERM_VALUE && ct_rank(term_t(cond))) {   // any element
    Term *nz = lower_not_zero(L, cond, c->spans[cond_i]);
    cond = nz ? prelude_call(L, "_any", &nz, 1, c->span) : NULL;
  }
  if (!lower_condition(L, cond, c->spans[cond_i], c->row->name, &known, &v)) return false;
  Term *all = known >= 0 ? term_full(L, ct_scalar(L, DT_INT1), 0, known) : term_value(L, v, ct_scalar(L, DT_INT1));
  const Term *pids = c->args[pids_i];
  if (pids->tuple.count == 1 && pids->tuple.items[0]->kind == TERM_TUPLE) pids = pids->tuple.items[0];
  for (uint32_t i = 0; i < pids->tuple.count && i < 3; i++) {
    if (term_is_none(pids->tuple.items[i])) continue;
    Op *op = build_op(&L->b, OP_PROGRAM_ID, NULL, 0);
    op_set_int(L->ctx, op, ATTR_AXIS, i);
    Term *eq = lower_binary(L, PYOP_EQ, term_value(L, op_result(op, 0), ct_scalar(L, DT_INT32)), pids->tuple.items[i], c->span);
    all = eq ? lower_binary(L, PYOP_AND, all, eq, c->span) : NULL;
    if (!all) return false;
  }
  *out = term_v(all);
  return true;
}

typedef struct { PrintArgs *p; } PrintArm;
static void arm_print(Lower *L, void *user) { emit_print(L, ((PrintArm *)user)->p, false); }
static void arm_nothing(Lower *L, void *user) {
  (void)L;
  (void)user;
}

Term *tl_print_if(Lower *L, Call *c) {
  PrintArgs p = new_print(L);
  Value *cond;
  if (!print_text(L, c->args[0], c->spans[0], &p) || !where_condition(L, c, 1, 2, &cond)) return NULL;
  PrintArm arm = {&p};
  lower_runtime_if(L, cond, arm_print, arm_nothing, &arm, NULL, NULL, c->span);
  return term_none(L);
}

// The interpreter shows all variables: they are the operands.
Term *tl_breakpoint_if(Lower *L, Call *c) {
  Value *cond;
  if (!where_condition(L, c, 0, 1, &cond)) return NULL;
  ValueList values = {0};
  Buf names = buf_make(&L->ctx->arena);
  vec_push(&L->ctx->arena, &values, cond);
  const Scope *s = &L->frame->scope;
  for (uint32_t i = 0; i < s->count; i++) {
    Term *t = s->vars[i].term;
    if (!t || t->kind != TERM_VALUE) continue;
    buf_printf(&names, "%s%s%s", values.count > 1 ? "," : "", ct_is_int(term_t(t)) && !ct_is_signed(term_t(t)) && !ct_is_bool(term_t(t)) ? "u:" : "", s->vars[i].name);
    vec_push(&L->ctx->arena, &values, term_v(t));
  }
  Op *op = build_op(&L->b, OP_BREAKPOINT, values.data, values.count);
  op_set_str(L->ctx, op, ATTR_NAMES, buf_str(&names));
  return term_none(L);
}

Term *tl_device_assert(Lower *L, Call *c) {
  if (!L->options->debug) return term_none(L);
  PrintArgs p = new_print(L);
  Term *cond = arg_value(L, c, 0);
  if (!cond || !print_text(L, c->args[1], c->spans[1], &p)) return NULL;
  cond = lower_not_zero(L, cond, c->spans[0]);
  if (cond && !arg_is_none(c, 2)) {   // masked off counts as true
    Term *mask = arg_value(L, c, 2);
    if (!mask || !(mask = lower_not_zero(L, mask, c->spans[2]))) return NULL;
    Term *off = lower_logical_not(L, mask, c->span);
    cond = off ? lower_binary(L, PYOP_OR, cond, off, c->span) : NULL;
  }
  if (!cond) return NULL;
  Value *v = term_v(cond);
  Op *op = build_op(&L->b, OP_ASSERT, &v, 1);
  op_set_str(L->ctx, op, ATTR_TEXT, buf_str(&p.prefix));
  return term_none(L);
}

// ---- compile time ----
Term *tl_static_print(Lower *L, Call *c) {
  Buf b = buf_make(&L->ctx->arena);
  for (uint32_t i = 0; i < c->args[0]->tuple.count; i++) {
    Term *t = c->args[0]->tuple.items[i];
    CtValue *k = term_to_ct(L, t);
    buf_printf(&b, "%s%s", i ? " " : "", k ? ct_to_str(L->ctx, k) : term_describe(L, t));
  }
  diag_note(L->ctx, c->span, "%s", buf_str(&b));
  return term_none(L);
}

Term *tl_static_assert(Lower *L, Call *c) {
  bool ok;
  CtValue *k = term_to_ct(L, c->args[0]);
  if (!k) return lower_error(L, c->spans[0], "static_assert needs a condition known at compile time, this is %s", term_describe(L, c->args[0]));
  ok = ct_is_true(k);
  if (ok) return term_none(L);
  CtValue *msg = term_to_ct(L, c->args[1]);
  const char *text = msg ? ct_to_str(L->ctx, msg) : "";
  return call_error(L, c, "static assertion failed%s%s", *text ? ": " : "", text);
}

Term *tl_fail(Lower *L, Call *c) {
  const char *text;
  if (!arg_str(L, c, 0, &text)) return NULL;
  // Said at the call of the outermost prelude function, where its user can do something about it.
  const CallSite *site = L->b.inlined_at;
  while (site && site->outer && strncmp(source_locate(L->ctx, site->span.begin).file->path, "<prelude>", 9) == 0) site = site->outer;
  return lower_error(L, site ? site->span : c->span, "%s", text);
}

// ---- queries ----
Term *tl_special(Lower *L, Call *c) {
  SpecialReg reg = (SpecialReg)c->row->data;
  const CtType *t = ct_scalar(L, reg == SREG_SMID ? DT_INT32 : DT_INT64);
  const Type *type = ir_type(L, t);
  Op *op = build_op_typed(&L->b, OP_SPECIAL, &type, 1, NULL, 0);
  op_set_int(L->ctx, op, ATTR_SREG, reg);
  return term_value(L, op_result(op, 0), t);
}

Term *tl_launch_query(Lower *L, Call *c) {
  const Module *m = L->module;
  return term_int(L, c->row->data == 0 ? m->num_warps : c->row->data == 1 ? m->num_warps * WARP_SIZE : m->num_ctas);
}

Term *tl_target_query(Lower *L, Call *c) {
  if (c->row->data < 2) return term_bool(L, c->row->data == 0);
  int64_t major, minor;
  if (!arg_int(L, c, 0, &major) || !arg_int(L, c, 1, &minor)) return NULL;
  return term_bool(L, L->module->target->sm >= major * 10 + minor);
}

// ---- escape hatches ----
static bool asm_results(Lower *L, Call *c, uint32_t i, const CtType **out, uint32_t *n, bool *is_tuple) {
  Term *t = c->args[i];
  *is_tuple = t->kind == TERM_TUPLE;
  *n = *is_tuple ? t->tuple.count : 1;
  if (!*is_tuple) return arg_dtype(L, c, i, &out[0]);
  if (*n > 8) return lower_error(L, c->spans[i], "more than 8 results") != NULL;
  for (uint32_t k = 0; k < *n; k++)
    if (!term_get_dtype(t->tuple.items[k], &out[k])) return lower_error(L, c->spans[i], "entry %u of `dtype` is not a type", k) != NULL;
  return true;
}

Term *tl_inline_asm(Lower *L, Call *c) {
  const char *text, *constraints;
  bool pure, is_tuple;
  int64_t pack;
  const CtType *results[8];
  uint32_t n;
  if (!arg_str(L, c, 0, &text) || !arg_str(L, c, 1, &constraints) || !asm_results(L, c, 3, results, &n, &is_tuple) || !arg_bool(L, c, 4, &pure) ||
      !arg_int(L, c, 5, &pack))
    return NULL;
  Term *args = c->args[2];
  Term **items = args->kind == TERM_TUPLE ? args->tuple.items : &args;
  uint32_t count = args->kind == TERM_TUPLE ? args->tuple.count : 1;
  if (pack < 1) return lower_error(L, c->spans[5], "`pack` must be at least 1");
  Term **x = arena_array(&L->ctx->arena, Term *, count + 1);
  for (uint32_t i = 0; i < count; i++)
    if (!(x[i] = term_to_value(L, items[i], c->spans[2], "an argument"))) return NULL;
  for (int pass = 0; pass < 2; pass++)
    for (uint32_t i = 1; i < count; i++)
      if (!lower_broadcast_pair(L, &x[0], &x[i], c->spans[2])) return NULL;
  const CtType *shape = count ? term_t(x[0]) : ct_scalar(L, DT_INT32);
  ValueList values = {0};
  for (uint32_t i = 0; i < count; i++) vec_push(&L->ctx->arena, &values, term_v(x[i]));
  const Type *types[8];
  for (uint32_t i = 0; i < n; i++) types[i] = ir_type(L, ct_with_elem(L, shape, ct_scalar_of(results[i])));
  Op *op = build_op_typed(&L->b, OP_INLINE_ASM, types, n, values.data, values.count);
  op_set_str(L->ctx, op, ATTR_TEXT, text);
  op_set_str(L->ctx, op, ATTR_CONSTRAINTS, constraints);
  op_set_int(L->ctx, op, ATTR_PACK, pack);
  op_set_int(L->ctx, op, ATTR_PURE, pure);
  Term *out[8];
  for (uint32_t i = 0; i < n; i++) out[i] = term_value(L, op_result(op, i), ct_with_elem(L, shape, ct_scalar_of(results[i])));
  return is_tuple ? term_tuple(L, out, n, NULL) : out[0];
}

// Of the device libraries only libdevice's functions exist here, in the prelude: __nv_tanhf is tanh.
Term *tl_extern(Lower *L, Call *c) {
  Term *args = c->args[2];
  CtValue *table = term_to_ct(L, c->args[3]);
  if (args->kind != TERM_TUPLE || !table || table->kind != CT_DICT) return call_error(L, c, "extern_elementwise needs a list of arguments and a constant dict of overloads");
  uint32_t n = args->tuple.count;
  Term **x = arena_array(&L->ctx->arena, Term *, n + 1);
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
      const char *base = name + 5;
      Term *fn = prelude_find(L, intern(L->ctx, base), true);
      size_t len = strlen(base);
      if (!fn && len > 1 && base[len - 1] == 'f') fn = prelude_find(L, intern_n(L->ctx, base, len - 1), true);
      if (!fn && builtin_find(base)) fn = builtin_resolve(L, arena_printf(&L->ctx->arena, "tl.%s", base));
      if (fn) return lower_call_positional(L, fn, x, n, c->span);
    }
    return call_error(L, c, "the device function `%s` is not known", name);
  }
  Buf types = buf_make(&L->ctx->arena);
  for (uint32_t i = 0; i < n; i++) buf_printf(&types, "%s%s", i ? ", " : "", ct_type_text(L->ctx, ct_scalar_of(term_t(x[i]))));
  return call_error(L, c, "no overload of this function takes (%s)", buf_str(&types));
}
