// Notes that name the kernel's parameter whose argument is not what its use needs, and what gave it its type.
#include <string.h>

#include "frontend/lower/hints.h"
#include "frontend/lower/statements.h"
#include "frontend/lower/term.h"

static bool is_given_by(const ParamSpec *s, const char *origin) { return s->origin && !strcmp(s->origin, origin); }

static const char *giver(const ParamSpec *s) {
  return s->is_default || !s->origin ? "its default" : is_given_by(s, "argument") ? "the launch" : s->origin;
}

// What v is made of by conversions, and by adding and subtracting: a parameter of the kernel, or NULL.
static const Value *base_param(const Value *v, int depth) {
  if (!v || depth > 8) return NULL;
  if (v->block) return v->block->parent ? NULL : v;
  const Op *op = v->def;
  switch (op->opcode) {
  case OP_ADDI: case OP_SUBI: case OP_SPLAT: case OP_BROADCAST: case OP_ADDPTR: case OP_EXTUI: case OP_EXTSI: break;
  default: return NULL;
  }
  const Value *found = NULL;
  for (uint32_t i = 0; i < op->num_operands && !found; i++) found = base_param(op_operand(op, i), depth + 1);
  return found;
}

enum { NO_PARAM = -1 };

// The number of the kernel's parameter that v is, or NO_PARAM if it has no place in the source.
static int index_of(Lower *L, const Value *v) {
  for (uint32_t i = 0; v && v->name && L->kernel && i < L->kernel->num_params; i++)
    if (!strcmp(L->kernel->params[i].name, v->name) && L->kernel->params[i].node) return (int)i;
  return NO_PARAM;
}

// The same of x itself, if it is a pointer.
static int index_of_pointer(Lower *L, const Term *x) {
  const Value *v = x->kind == TERM_VALUE && ct_is_ptr(term_t(x)) ? term_v(x) : NULL;
  return v && v->block && !v->block->parent ? index_of(L, v) : NO_PARAM;
}

void lower_note_param(Lower *L, const Term *x) {
  const int i = index_of(L, x->kind == TERM_VALUE ? base_param(term_v(x), 0) : NULL);
  if (i == NO_PARAM || L->specs[i].kind != SPEC_TYPE) return;
  const CtParam *p = &L->kernel->params[i];
  const ParamSpec *s = &L->specs[i];
  if (ct_is_float(term_t(x)) && is_given_by(s, "--arg"))
    diag_note(L->ctx, p->node->span, "`%s` is %s by --arg; an integer is written without a point or exponent: "
              "--arg %s=1000", p->name, s->type, p->name);
  else if (is_given_by(s, "--arg"))
    diag_note(L->ctx, p->node->span, "`%s` is %s by --arg; an array is written --arg %s=fp32[1000]=randn:1",
              p->name, s->type, p->name);
  else if (!is_given_by(s, "argument"))
    diag_note(L->ctx, p->node->span, "`%s` is %s by %s; the type of an array is written *fp32", p->name, s->type,
              giver(s));
}

// The types of the launch's arguments, as in "x: *fp32, n: i32": they show when two have been exchanged.
static const char *passed(Lower *L) {
  Buf b = buf_make(L->arena);
  uint32_t shown = 0;
  for (uint32_t i = 0; i < L->kernel->num_params; i++) {
    const ParamSpec *s = &L->specs[i];
    const bool is_folded = s->kind == SPEC_CONSTEXPR && s->type;
    if ((s->kind != SPEC_TYPE && !is_folded) || !s->type || !is_given_by(s, "argument")) continue;
    if (shown++ == 8) {
      buf_puts(&b, ", …");
      break;
    }
    buf_printf(&b, "%s%s: %s", b.size ? ", " : "", L->kernel->params[i].name, s->type);
  }
  return buf_str(&b);
}

// The parameter that a name stands for, if the name still has the launch's value; or NO_PARAM.
static int param_named(Lower *L, const Node *n) {
  if (n->kind != NODE_NAME || L->frame->fn != L->kernel) return NO_PARAM;
  const uint32_t i = frontend_param_index(L->kernel, n->name.id);
  const Var *v = scope_find(&L->frame->scope, n->name.id);
  if (i >= L->kernel->num_params || !v || !L->kernel->params[i].node) return NO_PARAM;
  return v->span.begin >= L->frame->fn->def->span.begin && v->span.begin > L->kernel->params[i].node->span.end
             ? NO_PARAM : (int)i;
}

// The first parameter of the kernel among what an expression adds up.
static int param_added(Lower *L, const Node *n) {
  if (!n) return NO_PARAM;
  if (n->kind != NODE_BINARY) return param_named(L, n);
  if (n->op != PYOP_ADD && n->op != PYOP_SUB) return NO_PARAM;
  const int i = param_added(L, n->binary.left);
  return i != NO_PARAM ? i : param_added(L, n->binary.right);
}

bool lower_note_no_pointer(Lower *L, const Term *x, Span span) {
  int i = param_added(L, lower_node_at(L, span));
  if (i == NO_PARAM) i = index_of(L, x->kind == TERM_VALUE ? base_param(term_v(x), 0) : NULL);
  if (i == NO_PARAM) return false;
  const CtParam *p = &L->kernel->params[i];
  const ParamSpec *s = &L->specs[i];
  const bool is_number = s->kind == SPEC_CONSTEXPR && s->value && ct_integer(s->value);
  if (!is_given_by(s, "argument") || (s->kind != SPEC_TYPE && !is_number) || (s->type && *s->type == '*')) return false;
  const char *what = is_number ? ct_repr(L->ctx, s->value)
                     : !strcmp(s->type, "i1") || !strcmp(s->type, "u1") ? "True or False" : s->type;
  diag_note(L->ctx, p->node->span, "`%s` is %s by the launch, and a pointer needs a tensor; for no tensor pass None "
            "and test `if %s is not None:`; the launch passes %s", p->name, what, p->name, passed(L));
  return true;
}

// The parameter that x is, if the launch gave it a tensor; or NO_PARAM.
static int pointer_param(Lower *L, const Term *x) {
  const int i = index_of_pointer(L, x);
  return i != NO_PARAM && is_given_by(&L->specs[i], "argument") ? i : NO_PARAM;
}

bool lower_is_told(Lower *L, const Term *x) {
  const int i = pointer_param(L, x);
  return i != NO_PARAM && i < 64 && (L->told >> i & 1);
}

bool lower_note_pointer(Lower *L, const Term *x) {
  const int i = pointer_param(L, x);
  if (i == NO_PARAM) return false;
  if (i < 64) L->told |= 1ull << i;
  const CtParam *p = &L->kernel->params[i];
  diag_note(L->ctx, p->node->span, "`%s` is a pointer, %s, by the launch; the launch passes %s", p->name,
            L->specs[i].type, passed(L));
  return true;
}

bool lower_note_one_pointer(Lower *L, const Term *x) {
  const int i = index_of_pointer(L, x);
  if (i == NO_PARAM) return false;
  const CtParam *p = &L->kernel->params[i];
  const ParamSpec *s = &L->specs[i];
  diag_note(L->ctx, p->node->span, "`%s` is one pointer, %s, by %s", p->name, s->type ? s->type : "*fp32", giver(s));
  if (is_given_by(s, "--arg"))
    lower_hint(L, "for several arrays give a tuple, --arg %s='(fp32[128]=randn:1, fp32[128]=randn:2)'; for the "
               "elements of one, pass their number as a parameter of its own", p->name);
  else if (is_given_by(s, "argument"))
    lower_hint(L, "for several tensors pass a tuple, (a, b); for the elements of one, pass their number as a parameter "
               "of its own");
  else
    lower_hint(L, "for several arrays its type is a tuple, (%s, %s); for the elements of one, pass their number as a "
               "parameter of its own", s->type ? s->type : "*fp32", s->type ? s->type : "*fp32");
  return true;
}

// The load whose element v is computed from; NULL if there is none.
static const Op *load_below(const Value *v, int depth) {
  const Op *op = v ? v->def : NULL;
  if (!op || depth > 8) return NULL;
  if (op->opcode == OP_LOAD) return op;
  const Op *found = NULL;
  for (uint32_t i = 0; i < op->num_operands && !found; i++) found = load_below(op_operand(op, i), depth + 1);
  return found;
}

const char *lower_note_loaded(Lower *L, const Term *x, const Term *pointer) {
  const Op *load = x->kind == TERM_VALUE ? load_below(term_v(x), 0) : NULL;
  const Value *base = load ? base_param(op_operand(load, 0), 0) : NULL;
  if (base && pointer && base == base_param(term_v(pointer), 0)) return NULL;   // an element of the array itself
  const int i = index_of(L, base);
  if (i == NO_PARAM || L->specs[i].kind != SPEC_TYPE) return NULL;
  const CtParam *p = &L->kernel->params[i];
  const ParamSpec *s = &L->specs[i];
  const bool is_launch = is_given_by(s, "argument");
  diag_note(L->ctx, p->node->span, "%s is loaded through `%s`, which is %s by %s%s%s", term_describe(L, x), p->name,
            s->type, giver(s), is_launch ? "; the launch passes " : "", is_launch ? passed(L) : "");
  return p->name;
}
