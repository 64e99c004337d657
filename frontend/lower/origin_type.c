// Notes for a variable that has two types: where each value got its type.
#include "frontend/lower/hints.h"
#include "frontend/lower/statements.h"
#include "frontend/lower/term.h"

#include <string.h>

// ---- the statement that assigns a variable ----
// value: what the variable gets of it, or NULL: item number `index` of what `from` gives.
typedef struct { Span target; const Node *found, *value, *from; uint32_t index; } Assignment;

static bool is_target(const Node *n, Span span) {
  return n && n->kind == NODE_NAME && n->span.begin == span.begin && n->span.end == span.end;
}

// Whether the target, to which value is assigned, is or has the variable.
static bool take_target(Assignment *a, const Node *target, const Node *value) {
  if (is_target(target, a->target)) return a->value = value, true;
  if (target->kind != NODE_TUPLE) return false;
  const bool is_each = value && value->kind == NODE_TUPLE && value->list.count == target->list.count;
  for (uint32_t i = 0; i < target->list.count; i++) {
    if (!take_target(a, target->list.data[i], is_each ? value->list.data[i] : NULL)) continue;
    if (!is_each && is_target(target->list.data[i], a->target)) a->from = value, a->index = i;
    return true;
  }
  return false;
}

static void find_assignment(const Node *n, void *user) {
  Assignment *a = user;
  if (a->found) return;
  bool is_it = n->kind == NODE_ANN_ASSIGN && take_target(a, n->ann.target, n->ann.value);
  for (uint32_t i = 0; n->kind == NODE_ASSIGN && i < n->assign.targets.count && !is_it; i++)
    is_it = take_target(a, n->assign.targets.data[i], n->assign.value);
  if (is_it) a->found = n;
  else ast_each_child(n, find_assignment, user);
}

static Assignment assignment_at(Lower *L, Span target) {
  Assignment a = {.target = target};
  ast_each_child(L->frame->fn->def, find_assignment, &a);
  return a;
}

static bool is_literal(const Node *n) {
  return n->kind == NODE_INT || n->kind == NODE_FLOAT || (n->kind == NODE_UNARY && is_literal(n->unary.value));
}

// What makes `value` a scalar of the type: 0.0, tl.full((), 0, tl.float16), n.to(tl.float32).
static const char *as_scalar(Lower *L, const Node *value, const CtType *type) {
  const char *text = lower_source_text_or(L, value->span, "x"), *name = dtype_info[type->scalar].name;
  const bool is_digits = strspn(text, "-0123456789") == strlen(text);
  if (is_literal(value) && is_digits && type->scalar == DT_FP32) return arena_printf(L->arena, "%s.0", text);
  if (is_literal(value))
    return arena_printf(L->arena, "tl.full((), %s, tl.%s)", text, name);
  const bool is_simple = value->kind == NODE_NAME || value->kind == NODE_CALL || value->kind == NODE_SUBSCRIPT;
  return arena_printf(L->arena, is_simple ? "%s.to(tl.%s)" : "(%s).to(tl.%s)", text, name);
}

bool lower_hint_first_value(Lower *L, const char *name, Span assigned, const Term *value, const Term *other) {
  if (value->kind != TERM_VALUE || other->kind != TERM_VALUE || lower_in_prelude(L, assigned)) return false;
  const Assignment a = assignment_at(L, assigned);
  const bool is_annotated = a.found && a.found->kind == NODE_ANN_ASSIGN;
  const Node *from = a.value;
  const CtType *t = term_t(other);
  if (is_annotated)
    lower_hint(L, "the annotation of `%s` converts nothing: the value has the type that it is computed with", name);
  if (!from || ct_rank(t) || ct_rank(term_t(value)) || ct_is_ptr(t) || ct_is_ptr(term_t(value))) return false;
  if (!is_annotated && !is_literal(from)) return false;
  return !lower_hint(L, "write %s = %s there, which is %s", name, as_scalar(L, from, t), ct_type_text(L->ctx, t));
}

bool lower_hint_assigned(Lower *L, const Term *t) {
  const Scope *s = &L->frame->scope;
  int64_t number;
  if (t->kind != TERM_VALUE || !value_constant_int(term_v(t), &number)) return false;
  for (uint32_t i = s->count; i-- > 0;) {
    if (!s->vars[i].term || s->vars[i].term->kind != TERM_VALUE || term_v(s->vars[i].term) != term_v(t)) continue;
    const Assignment a = assignment_at(L, s->vars[i].span);
    const char *from = a.value ? lower_source_text_or(L, a.value->span, NULL) : NULL;
    if (!from && a.from && lower_is_name_path(a.from))
      from = arena_printf(L->arena, "%s[%u]", lower_source_text_or(L, a.from->span, "t"), a.index);
    if (!from || lower_in_prelude(L, s->vars[i].span)) return false;
    diag_note(L->ctx, s->vars[i].span, "`%s` is assigned here: a plain assignment makes a run-time value", s->vars[i].name);
    return !lower_hint(L, "keep the constant: write %s: tl.constexpr = %s there", s->vars[i].name, from);
  }
  return false;
}

// ---- what gave a value its type ----
static bool is_widening(const Op *op) {
  return op && (op->opcode == OP_EXTSI || op->opcode == OP_EXTUI || op->opcode == OP_FPEXT);
}

// Whether the op is implicit: a constant, a broadcast or a conversion that the operation at its place brought along.
static bool is_implicit(const Op *def, const Op *user) {
  return !def || def->opcode == OP_CONSTANT || (op_is(def, TRAIT_CONVERTS) && lower_same_place(def, user)) ||
         is_widening(def);
}

enum { MAX_STEPS = 16 };

// The op that gave v the type of its elements: the ops after it keep the type of an operand.
static const Op *type_origin(const Value *v) {
  const Op *op = v->def;
  for (int step = 0; op && step < MAX_STEPS; step++) {
    const Op *from = NULL;
    const bool keeps = op_is(op, TRAIT_ELEMENTWISE) || op->opcode == OP_BROADCAST || op->opcode == OP_EXPAND_DIMS ||
                       op->opcode == OP_SPLAT || op->opcode == OP_RESHAPE;
    for (uint32_t i = 0; keeps && i < op->num_operands && !from; i++) {
      const Value *x = op_operand(op, i);
      if (x && type_elem(x->type) == type_elem(op->results[0].type) && !is_implicit(x->def, op)) from = x->def;
    }
    if (!from) return op;
    op = from;
  }
  return op;
}

void lower_note_widened(Lower *L, const Term *x) {
  const Op *op = x->kind == TERM_VALUE && !ct_is_ptr(term_t(x)) ? type_origin(term_v(x)) : NULL;
  if (!op || (op->opcode != OP_REDUCE && op->opcode != OP_SCAN)) return;
  const Op *cast = op_operand(op, 0)->def;
  while (cast && (cast->opcode == OP_RESHAPE || cast->opcode == OP_EXPAND_DIMS)) cast = op_operand(cast, 0)->def;
  Span span = op->span;
  const char *function = NULL;
  for (const CallSite *site = op->inlined_at; site && lower_in_prelude(L, span); site = site->outer) {
    span = site->span;
    function = site->function;
  }
  if (!is_widening(cast) || !function || !lower_in_prelude(L, cast->span)) return;
  const uint32_t bits = type_elem_bits(op_operand(cast, 0)->type);
  const char *from = cast->opcode == OP_FPEXT ? bits == 16 ? "bf16" : "fp8"
                     : arena_printf(L->arena, "%c%u", cast->opcode == OP_EXTUI && bits > 1 ? 'u' : 'i', bits);
  diag_note(L->ctx, span, "%s%s of %s gives %s: it computes with narrow numbers in 32 bits",
            lower_prefix(L->arena, L->frame->fn), function, from, ct_type_text(L->ctx, ct_scalar_of(term_t(x))));
}
