// -Wunused-variable: a name that a function assigns and never reads. -Wunused-value: a statement that computes and does
// nothing with what it computed.
#include "frontend/lower/term.h"
#include "frontend/lower/warnings.h"

#include <string.h>

// ---- variables ----
// read: names that the function reads anywhere. assigned: its assignments to single names, in source order.
typedef struct { Lower *L; Map read; VEC(const Node *) assigned; bool has_plain_access; } Names;

static void see(const Node *n, void *user);

static bool is_access(const char *name) { return !strcmp(name, "load") || !strcmp(name, "store"); }

// A target binds names; what stands in an attribute or a subscript is read.
static void see_target(const Node *t, void *user) {
  if (t->kind == NODE_TUPLE || t->kind == NODE_LIST) ast_each_child(t, see_target, user);
  else if (t->kind == NODE_STARRED) see_target(t->unary.value, user);
  else if (t->kind != NODE_NAME) see(t, user);
}

static void see_assigned(Names *s, const Node *t) {
  if (t->kind == NODE_NAME) vec_push(s->L->arena, &s->assigned, t);
  else see_target(t, s);
}

static void see_call(Names *s, const Node *n) {
  const Node *f = n->call.func;
  const char *name = f->kind == NODE_ATTRIBUTE ? f->attr.name : f->kind == NODE_NAME ? f->name.id : "";
  bool is_masked = n->call.args.count > 1u + (strcmp(name, "store") == 0);
  for (uint32_t i = 0; i < n->call.keywords.count; i++)
    is_masked |= n->call.keywords.data[i]->attr.name && !strcmp(n->call.keywords.data[i]->attr.name, "mask");
  s->has_plain_access |= is_access(name) && !is_masked;
  ast_each_child(n, see, s);
}

static void see(const Node *n, void *user) {
  Names *s = user;
  switch (n->kind) {
  case NODE_NAME: map_at(s->L->arena, &s->read, n->name.id)->number = 1; return;
  case NODE_ASSIGN:
    for (uint32_t i = 0; i < n->assign.targets.count; i++) see_assigned(s, n->assign.targets.data[i]);
    see(n->assign.value, s);
    return;
  case NODE_ANN_ASSIGN:
    if (n->ann.value) see_assigned(s, n->ann.target), see(n->ann.value, s);
    return;
  case NODE_AUG_ASSIGN:
    see_assigned(s, n->binary.left);
    see(n->binary.right, s);
    return;
  case NODE_FOR: case NODE_COMP_FOR:
    see_target(n->loop.target, s);
    see(n->loop.iter, s);
    for (uint32_t i = 0; i < n->loop.body.count; i++) see(n->loop.body.data[i], s);
    for (uint32_t i = 0; i < n->loop.orelse.count; i++) see(n->loop.orelse.data[i], s);
    return;
  case NODE_WITH_ITEM:
    see(n->pair.first, s);
    if (n->pair.second) see_target(n->pair.second, s);
    return;
  case NODE_NAMED_EXPR:
    see_target(n->pair.first, s);
    see(n->pair.second, s);
    return;
  case NODE_CALL: see_call(s, n); return;
  default: ast_each_child(n, see, s);
  }
}

void warn_unused_variables(Lower *L, const Node *def) {
  Names s = {.L = L};
  for (uint32_t i = 0; i < def->func.body.count; i++) see(def->func.body.data[i], &s);
  // Parameters and what has been reported count as read.
  for (uint32_t i = 0; i < def->func.params.count; i++)
    if (def->func.params.data[i]->kind == NODE_PARAM)
      map_at(L->arena, &s.read, def->func.params.data[i]->param.name)->number = 1;
  for (uint32_t i = 0; i < s.assigned.count; i++) {
    const Node *t = s.assigned.data[i];
    const char *name = t->name.id;
    if (name[0] == '_' || map_get(&s.read, name)) continue;
    map_at(L->arena, &s.read, name)->number = 1;
    if (!diag_warning(L->ctx, WARN_UNUSED_VARIABLE, t->span, "`%s` is assigned and never used", name)) continue;
    if (strstr(name, "mask") && s.has_plain_access)
      diag_note(L->ctx, (Span){0, 0}, "a load or a store has no mask: give it mask=%s", name);
    else diag_note(L->ctx, (Span){0, 0}, "remove it, or begin its name with `_`");
  }
}

// ---- values ----
typedef struct { bool calls; } Calls;
static void find_call(const Node *n, void *user) {
  if (n->kind == NODE_CALL) ((Calls *)user)->calls = true;
  else ast_each_child(n, find_call, user);
}

static bool has_call(const Node *n) {
  Calls c = {false};
  find_call(n, &c);
  return c.calls;
}

// Whether the statement's outermost operation computes a result and has no effect; its operands may have one.
static bool is_computation(const Node *v) {
  switch (v->kind) {
  case NODE_NAME: case NODE_ATTRIBUTE: case NODE_SUBSCRIPT: case NODE_INT: case NODE_FLOAT: case NODE_TRUE:
  case NODE_FALSE: case NODE_UNARY: case NODE_BINARY: case NODE_COMPARE:
    return true;
  case NODE_BOOL_OP: case NODE_IF_EXP: case NODE_TUPLE: case NODE_LIST: return !has_call(v);
  default: return false;
  }
}

// A hint counts as an effect: in Triton it changes its operand. So does a layout for a tensor without one.
static bool has_effect(const Op *op) {
  if (op->opcode == OP_CONVERT_LAYOUT && !op_operand(op, 0)->type->layout) return true;
  if (op_int(op, ATTR_PURE, 0)) return false;
  if (op_is(op, TRAIT_WRITES | TRAIT_SYNC) || op->opcode == OP_HINT || op_int(op, ATTR_VOLATILE, 0)) return true;
  for (uint32_t i = 0; i < op->num_blocks; i++)
    EACH_OP(in, op->blocks[i]) if (has_effect(in)) return true;
  return false;
}

// Whether a call is of a function of the language, not of the user's.
static bool is_builtin_call(Lower *L, const Node *call) {
  if (!lower_is_name_path(call->call.func)) return false;
  const Term *f = lower_expr(L, call->call.func);
  if (f && f->kind == TERM_BOUND) f = f->bound.fn;
  if (!term_is_const(f)) return false;
  if (f->ct->kind == CT_BUILTIN) return builtin_row_of(f->ct->builtin.name) || builtin_resolve(L, f->ct->builtin.name);
  return f->ct->kind == CT_FUNCTION && lower_in_prelude(L, f->ct->fn->def->span);
}

const CtFunction *lower_called_function(Lower *L, const Node *call) {
  if (!lower_is_name_path(call->call.func)) return NULL;
  const Term *f = lower_expr(L, call->call.func);
  const bool is_known = f && term_is_const(f) && f->ct->kind == CT_FUNCTION && f->ct->fn->def->kind == NODE_FUNCTION_DEF;
  return is_known && !lower_in_prelude(L, f->ct->fn->def->span) ? f->ct->fn : NULL;
}

// The first assignment of a function to one of its own parameters, or NULL.
static const Node *assigned_parameter(Lower *L, const Node *def) {
  Names s = {.L = L};
  for (uint32_t i = 0; i < def->func.body.count; i++) see(def->func.body.data[i], &s);
  for (uint32_t i = 0; i < s.assigned.count; i++)
    for (uint32_t k = 0; k < def->func.params.count; k++) {
      const Node *p = def->func.params.data[k];
      if (p->kind == NODE_PARAM && !strcmp(p->param.name, s.assigned.data[i]->name.id)) return s.assigned.data[i];
    }
  return NULL;
}

static void find_return(const Node *n, void *user) {
  const Node **found = user;
  if (*found || n->kind == NODE_FUNCTION_DEF) return;
  if (n->kind == NODE_RETURN) *found = n;
  else ast_each_child(n, find_return, user);
}

// Warns of a call of a function that returns nothing and has no effect, but assigns to its own parameter, as if that
// changed the caller's variable, or returns early, as if that ended the caller.
static void warn_lost_parameter(Lower *L, const Node *call) {
  const CtFunction *fn = lower_called_function(L, call);
  const Node *lost = fn ? assigned_parameter(L, fn->def) : NULL, *early = NULL;
  if (fn && !lost) ast_each_child(fn->def, find_return, &early);
  if ((!lost && !early) || !diag_warning(L->ctx, WARN_UNUSED_VALUE, call->span,
                             "this call of `%s` does nothing: it stores nothing and returns nothing", fn->name))
    return;
  if (early) {
    diag_note(L->ctx, early->span, "this ends `%s` alone, and its caller goes on: return the condition, and test it in "
              "an `if` there", fn->name);
    return;
  }
  diag_note(L->ctx, lost->span, "`%s` is this function's own variable: return it, and assign what the call gives",
            lost->name.id);
}

static bool is_callable(const Term *t) {
  return t->kind == TERM_BOUND ||
         (term_is_const(t) && (t->ct->kind == CT_BUILTIN || t->ct->kind == CT_FUNCTION || t->ct->kind == CT_METHOD));
}

static const CtType *type_of_variable(Lower *L, const Node *n) {
  const Term *t = n->kind == NODE_NAME ? lower_expr(L, n) : NULL;
  return t && t->kind == TERM_VALUE ? term_t(t) : NULL;
}

static const Node *accumulator_of(const Node *call) {
  enum { ACC = 2 };
  for (uint32_t i = 0; i < call->call.keywords.count; i++) {
    const Node *k = call->call.keywords.data[i];
    if (k->attr.name && !strcmp(k->attr.name, "acc")) return k->attr.first;
  }
  return call->call.args.count > ACC ? call->call.args.data[ACC] : NULL;
}

// The variable that the author may take a call to change in place: the accumulator of a product, or the tensor of a
// method that gives another of its shape.
static const char *variable_to_set(Lower *L, const Node *call, const Term *result) {
  const Node *f = call->call.func;
  const Term *fn = lower_expr(L, f);
  if (result->kind != TERM_VALUE || !fn) return NULL;
  if (term_is_const(fn) && fn->ct->kind == CT_BUILTIN && !strcmp(fn->ct->builtin.name, "tl.dot")) {
    const Node *acc = accumulator_of(call);
    return acc && type_of_variable(L, acc) ? acc->name.id : NULL;
  }
  const CtType *to = term_t(result), *from = f->kind == NODE_ATTRIBUTE ? type_of_variable(L, f->attr.first) : NULL;
  if (!from || from->kind != to->kind || from->rank != to->rank) return NULL;
  return memcmp(from->shape, to->shape, from->rank * sizeof *from->shape) ? NULL : f->attr.first->name.id;
}

static void hint_to_assign(Lower *L, const Node *v, const Term *t) {
  const char *name = v->kind == NODE_CALL ? variable_to_set(L, v, t) : NULL;
  const char *text = name ? lower_source_text_or(L, v->span, NULL) : NULL;
  if (!text) {
    diag_note(L->ctx, (Span){0, 0}, "assign it, or remove the statement");
    return;
  }
  diag_fixit(L->ctx, (Span){v->span.begin, v->span.begin}, arena_printf(L->arena, "%s = ", name));
  diag_note(L->ctx, (Span){0, 0}, "it gives a new tensor and leaves `%s` as it is: write `%s = %s`", name, name, text);
}

void warn_unused_value(Lower *L, const Node *v, const Term *t, const Block *block, const Op *before) {
  if (v->kind == NODE_CALL) {
    if (L->b.block != block) return;
    const Op *first = before ? before->next : block->first;
    for (const Op *op = first; op; op = op->next)
      if (has_effect(op)) return;
    if (term_is_none(t)) {
      if (first) warn_lost_parameter(L, v);   // without operations, what it would do is switched off
      return;
    }
    if (!is_builtin_call(L, v)) return;
  } else if (!is_computation(v)) {
    return;
  }
  const bool is_uncalled = (v->kind == NODE_NAME || v->kind == NODE_ATTRIBUTE) && is_callable(t);
  if (!diag_warning(L->ctx, WARN_UNUSED_VALUE, v->span, is_uncalled ? "this names a function and does not call it"
                                                                    : "the value of this statement is not used"))
    return;
  if (is_uncalled) {
    diag_fixit(L->ctx, (Span){v->span.end, v->span.end}, "()");
    diag_note(L->ctx, (Span){0, 0}, "write parentheses after it");
  } else if (v->kind == NODE_COMPARE && v->compare.rights.count == 1 && v->compare.ops[0] == PYOP_EQ) {
    diag_note(L->ctx, (Span){0, 0}, "`=` assigns, `==` compares");
  } else {
    hint_to_assign(L, v, t);
  }
}
