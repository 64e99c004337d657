// Builtins for debugging: printing, breakpoints, assertions.
#include "frontend/lower/gluon.h"
#include "frontend/lower/statements.h"
#include "frontend/lower/term.h"

#include <stdlib.h>
#include <string.h>

// One print op: a text, and the values whose elements are printed after it.
typedef struct { Buf text, names; TermList values; } PrintOp;
typedef VEC(PrintOp) PrintList;

static PrintOp *new_print(Lower *L, PrintList *list) {
  PrintOp p = {.text = buf_make(L->arena), .names = buf_make(L->arena)};
  vec_push(L->arena, list, p);
  return &list->data[list->count - 1];
}

static void add_value(Lower *L, PrintOp *p, Term *v, const char *name) {
  buf_printf(&p->names, "%s%s", p->values.count ? "," : "", name ? name : "");
  vec_push(L->arena, &p->values, v);
}

static bool is_unsigned(const Term *v) {
  return ct_is_int(term_t(v)) && !ct_is_signed(term_t(v)) && !ct_is_bool(term_t(v));
}

// " text: ", as Triton prints it, or " text = " if an f-string says that.
static const char *prefix_of(Lower *L, Buf *text) {
  const char *s = buf_str(text);
  size_t n = text->size;
  while (n && s[n - 1] == ' ') n--;
  const char *end = n == 0 ? "" : s[n - 1] == '=' ? " " : s[n - 1] == ':' ? " " : ": ";
  return intern(L->ctx, arena_printf(L->arena, "%s%.*s%s", s[0] == ' ' ? "" : " ", (int)n, s, end));
}

// An op prints all its integers as signed or all as unsigned, so unsigned ones are widened if any is signed.
static Op *emit_print(Lower *L, PrintOp *p, bool hex) {
  bool any_signed = false, any_unsigned = false;
  for (uint32_t i = 0; i < p->values.count; i++) {
    any_signed |= ct_is_signed(term_t(p->values.data[i]));
    any_unsigned |= is_unsigned(p->values.data[i]);
  }
  ValueList values = {0};
  for (uint32_t i = 0; i < p->values.count; i++) {
    Term *v = p->values.data[i];
    if (any_signed && is_unsigned(v) && ct_bits(term_t(v)) < 64 && !hex)
      v = lower_cast_to(L, v, DT_INT64, L->b.span);
    vec_push(L->arena, &values, term_v(v));
  }
  Op *op = build_op(&L->b, OP_PRINT, values.data, values.count);
  op_set_str(L->ctx, op, ATTR_TEXT, values.count ? prefix_of(L, &p->text) : intern(L->ctx, buf_str(&p->text)));
  op_set_str(L->ctx, op, ATTR_NAMES, intern(L->ctx, buf_str(&p->names)));
  if (hex) op_set_int(L->ctx, op, ATTR_HEX, 1);
  if (any_unsigned && !any_signed) op_set_int(L->ctx, op, ATTR_SIGNED, 0);
  return op;
}

// Whether s has a letter or a digit of any script.
static bool has_word(const char *s) {
  for (; *s; s++)
    if ((*s >= '0' && *s <= '9') || (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (unsigned char)*s >= 0x80)
      return true;
  return false;
}

// Makes the print of a text, or the prints of an f-string: one for each run-time value, with the text before it, and
// one for words after the last value.
static bool print_text(Lower *L, Term *t, Span span, PrintList *list) {
  const char *s;
  PrintOp *p = new_print(L, list);
  if (term_get_str(t, &s)) {
    buf_puts(&p->text, s);
    return true;
  }
  if (t->kind != TERM_TUPLE || !t->tuple.is_fstring)
    return lower_error(L, span, "the text must be a string, not %s", term_describe(L, t)) != NULL;
  for (uint32_t i = 0; i < t->tuple.count; i++) {
    Term *part = t->tuple.items[i];
    if (term_get_str(part, &s)) {
      s += strspn(s, " ,;|");
      if (i + 1 == t->tuple.count && i && !has_word(s)) {   // a bracket or a full stop after the last value
        list->count--;
        break;
      }
      buf_puts(&p->text, s);
      continue;
    }
    Term *v = term_to_value(L, part, span, "a printed value");
    if (!v) return false;
    add_value(L, p, v, term_v(v)->name);
    p = new_print(L, list);
  }
  return true;
}

// Warns of a conversion of printf, `%d` or `%.2f`, in a text with values after it.
static void warn_conversion(Lower *L, const Call *c) {
  const char *s;
  if (!c->args[1]->tuple.count || !term_get_str(c->args[0], &s)) return;
  for (; (s = strchr(s, '%')); s++) {
    const size_t n = 1 + strspn(s + 1, "-+#0123456789.lhz");
    if (!s[n] || !strchr("diouxXeEfFgGcsp", s[n])) continue;
    if (diag_warning(L->ctx, WARN_FORMAT, c->spans[0], "`%.*s` is printed as it stands", (int)n + 1, s))
      diag_note(L->ctx, (Span){0, 0}, "leave it out: the values follow the text");
    return;
  }
}

static const char *operand_name(const Call *c, uint32_t i) {
  if (!c->node || i >= c->node->call.args.count) return "";
  const Node *n = c->node->call.args.data[i];
  return n->kind == NODE_NAME ? n->name.id : "";
}

Term *tl_device_print(Lower *L, Call *c) {
  PrintList list = {0};
  bool hex;
  if (!arg_bool(L, c, 2, &hex)) return NULL;
  if (!c->args[1]->tuple.count && lower_print_layout(L, c->args[0], c->span)) return term_none(L);
  const char *s;
  bool is_text = term_get_str(c->args[0], &s) || (c->args[0]->kind == TERM_TUPLE && c->args[0]->tuple.is_fstring);
  if (is_text && !print_text(L, c->args[0], c->spans[0], &list)) return NULL;
  PrintOp *p = is_text ? &list.data[list.count - 1] : new_print(L, &list);
  if (!is_text) {   // print(x): no text
    Term *v = arg_value(L, c, 0);
    if (!v) return NULL;
    add_value(L, p, v, operand_name(c, 0));
  }
  warn_conversion(L, c);
  for (uint32_t i = 0; i < c->args[1]->tuple.count; i++) {
    Term *item = c->args[1]->tuple.items[i];
    if (term_get_str(item, &s)) {
      buf_printf(&p->text, " %s", s);
      continue;
    }
    Term *v = term_to_value(L, item, c->spans[1], "a printed value");
    if (!v) return NULL;
    add_value(L, p, v, operand_name(c, i + 1));
  }
  for (uint32_t i = 0; i < list.count; i++) emit_print(L, &list.data[i], hex);
  return term_none(L);
}

// One condition of a text such as ">1,=0": an operator and a number, for one program id. NULL after a diagnostic.
static Term *text_condition(Lower *L, Call *c, uint32_t cond_i, const char *text, size_t n, Term *pid) {
  static const struct { const char *text; PyOp op; } ops[] = {{">=", PYOP_GE}, {"<=", PYOP_LE}, {"!=", PYOP_NE},
      {"==", PYOP_EQ}, {">", PYOP_GT}, {"<", PYOP_LT}, {"=", PYOP_EQ}};
  for (uint32_t i = 0; i < countof(ops); i++) {
    size_t len = strlen(ops[i].text);
    if (n <= len || strncmp(text, ops[i].text, len) != 0) continue;
    char *end;
    const char *digits = arena_strndup(L->arena, text + len, n - len);
    long long v = strtoll(digits, &end, 10);
    while (*end == ' ') end++;
    if (end == digits || *end) break;
    return lower_binary(L, ops[i].op, pid, term_int(L, v), c->span);
  }
  arg_error(L, c, cond_i, "`%.*s` is not a condition on a program id", (int)n, text);
  return lower_hint(L, "conditions look like \">1,=0\": one for each axis, with < > <= >= = !=");
}

// Where to print or stop: a condition on values, or a text with one condition for each program id. The ids are those
// given, otherwise this program's own.
static bool where_condition(Lower *L, Call *c, uint32_t cond_i, uint32_t pids_i, Value **out) {
  Term *cond = c->args[cond_i], *all = term_full(L, lower_scalar(L, DT_INT1), 0, 1);
  const Term *pids = c->args[pids_i];
  const char *text;
  if (!term_get_str(cond, &text)) {
    int known;
    Value *v;
    if (term_is_tensor(cond)) {   // any element
      Term *nz = lower_not_zero(L, cond, c->spans[cond_i]);
      cond = nz ? lower_prelude_call(L, "_any", &nz, 1, c->span) : NULL;
    }
    if (!lower_condition(L, cond, c->spans[cond_i], c->row->name, &known, &v)) return false;
    *out = known >= 0 ? build_int(&L->b, type_scalar(L->ctx, SC_I1), known) : v;
    return true;
  }
  for (uint32_t axis = 0; axis < 3; axis++) {
    size_t n = strcspn(text, ",");
    const char *rest = text + n;
    while (n && *text == ' ') text++, n--;
    if (n) {
      Op *op = NULL;
      Term *pid = axis < pids->tuple.count ? pids->tuple.items[axis] : NULL;
      if (pid && pid->kind == TERM_TUPLE && pid->tuple.count == 1) pid = pid->tuple.items[0];
      if (!pid) {
        op = build_op(&L->b, OP_PROGRAM_ID, NULL, 0);
        op_set_int(L->ctx, op, ATTR_AXIS, axis);
        pid = term_of_op(L, op, lower_scalar(L, DT_INT32));
      }
      pid = term_to_value(L, pid, c->span, "a program id");
      Term *one = pid ? text_condition(L, c, cond_i, text, n, pid) : NULL;
      if (!one || !(all = lower_binary(L, PYOP_AND, all, one, c->span))) return false;
    }
    if (!*rest) break;
    text = rest + 1;
  }
  *out = term_v(all);
  return true;
}

typedef struct { PrintList *list; } PrintArm;
static void arm_print(Lower *L, void *user) {
  PrintList *list = ((PrintArm *)user)->list;
  for (uint32_t i = 0; i < list->count; i++) emit_print(L, &list->data[i], false);
}
static void arm_nothing(Lower *L, void *user) {
  (void)L;
  (void)user;
}

Term *tl_print_if(Lower *L, Call *c) {
  PrintList list = {0};
  Value *cond;
  if (!print_text(L, c->args[0], c->spans[0], &list) || !where_condition(L, c, 1, 2, &cond)) return NULL;
  PrintArm arm = {&list};
  lower_runtime_if(L, cond, arm_print, arm_nothing, &arm, NULL, NULL, c->span);
  return term_none(L);
}

// Adds a variable to a breakpoint's operands and names. A constant has no operand, and its name is NAME=VALUE. The name
// of an unsigned integer is NAME:u. The items of a tuple are NAME_0, NAME_1, …
static void add_variable(Lower *L, const char *name, const Term *t, ValueList *values, Buf *names) {
  const char *comma = names->size ? "," : "";
  if (!t || strchr(name, ' ')) return;   // a name that the front end made
  if (t->kind == TERM_VALUE) {
    buf_printf(names, "%s%s%s", comma, name, is_unsigned(t) ? ":u" : "");
    vec_push(L->arena, values, term_v(t));
  } else if (t->kind == TERM_CONST && (t->ct->kind == CT_INT || t->ct->kind == CT_FLOAT || t->ct->kind == CT_BOOL)) {
    buf_printf(names, "%s%s=%s", comma, name, ct_repr(L->ctx, t->ct));
  } else if (t->kind == TERM_TUPLE) {
    for (uint32_t i = 0; i < t->tuple.count; i++)
      add_variable(L, arena_printf(L->arena, "%s_%u", name, i), t->tuple.items[i], values, names);
  }
}

// All variables of the function are operands, because the interpreter shows them.
static Op *build_breakpoint(Lower *L, Value *cond) {
  ValueList values = {0};
  Buf names = buf_make(L->arena);
  vec_push(L->arena, &values, cond);
  const Scope *s = &L->frame->scope;
  for (uint32_t i = 0; i < s->count; i++) add_variable(L, s->vars[i].name, s->vars[i].term, &values, &names);
  Op *op = build_op(&L->b, OP_BREAKPOINT, values.data, values.count);
  op_set_str(L->ctx, op, ATTR_NAMES, intern(L->ctx, buf_str(&names)));
  return op;
}

Term *tl_breakpoint_if(Lower *L, Call *c) {
  Value *cond;
  if (!where_condition(L, c, 0, 1, &cond)) return NULL;
  build_breakpoint(L, cond);
  return term_none(L);
}

void lower_stop_before(Lower *L, const Node *s) {
  const bool is_docstring = s->kind == NODE_EXPR_STMT && s->unary.value->kind == NODE_STR;
  if (is_docstring || lower_in_prelude(L, s->span)) return;
  const Span span = L->b.span;
  L->b.span = s->span;
  op_set_int(L->ctx, build_breakpoint(L, build_int(&L->b, type_scalar(L->ctx, SC_I1), 1)), ATTR_STATEMENT, 1);
  L->b.span = span;
}

Term *tl_device_assert(Lower *L, Call *c) {
  if (!L->options->debug) {
    if (!lower_in_prelude(L, c->span) &&
        diag_warning(L->ctx, WARN_IGNORED_ASSERT, c->span, "this assertion is not checked"))
      lower_hint(L, L->ctx->caller == CALLER_TILEC ? "--debug compiles it"
                                                   : "the option debug compiles it: @triton.jit(debug=True), "
                                                     "TRITON_DEBUG=1, debug=True of a launch");
    return term_none(L);
  }
  PrintList list = {0};
  Term *cond = arg_value(L, c, 0);
  if (!cond || !print_text(L, c->args[1], c->spans[1], &list)) return NULL;
  Buf text = buf_make(L->arena);
  Term *const *parts = &c->args[1];
  bool has_values = parts[0]->kind == TERM_TUPLE;
  uint32_t num_parts = has_values ? parts[0]->tuple.count : 1;
  if (has_values) parts = parts[0]->tuple.items;
  for (uint32_t i = 0; i < num_parts; i++) {
    const char *s;
    buf_puts(&text, term_get_str(parts[i], &s) ? s : "{}");
  }
  cond = lower_not_zero(L, cond, c->spans[0]);
  if (cond && !arg_is_none(c, 2)) {   // an element that is masked off counts as true
    Term *mask = arg_value(L, c, 2);
    if (!mask || !(mask = lower_not_zero(L, mask, c->spans[2]))) return NULL;
    Term *off = lower_logical_not(L, mask, c->span);
    cond = off ? lower_binary(L, PYOP_OR, cond, off, c->span) : NULL;
  }
  if (!cond) return NULL;
  if (has_values) {   // an assertion's message is constant, so a failing one first prints the f-string's values
    Term *fails = lower_logical_not(L, cond, c->span);
    if (fails && term_is_tensor(fails)) fails = lower_prelude_call(L, "_any", &fails, 1, c->span);
    int known;
    Value *go;
    if (!fails || !lower_condition(L, fails, c->spans[0], "device_assert", &known, &go)) return NULL;
    if (known < 0) lower_runtime_if(L, go, arm_print, arm_nothing, &(PrintArm){&list}, NULL, NULL, c->span);
    else if (known > 0) arm_print(L, &(PrintArm){&list});
  }
  Value *v = term_v(cond);
  Op *op = build_op(&L->b, OP_ASSERT, &v, 1);
  op_set_str(L->ctx, op, ATTR_TEXT, intern(L->ctx, buf_str(&text)));
  return term_none(L);
}
