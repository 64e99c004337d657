// Statements of a kernel body, scopes, and leaving early.
//
// Structured IR has no jumps, so `return`, `break` and `continue` set flags on the path (Scope.exits), and what follows
// a statement that may have set one is lowered inside an `if` that tests that none is set. If exactly one arm of a
// run-time `if` ends, what follows is lowered into the other arm, so the common `if pid >= n: return` needs no flag.
#include "frontend/lower/hints.h"
#include "frontend/lower/statements.h"
#include "frontend/lower/term.h"
#include "frontend/lower/warnings.h"

#include <string.h>

// ---- assignment ----
static void poison_target(Lower *L, const Node *t) {
  if (t->kind == NODE_NAME) scope_set(L, &L->frame->scope, t->name.id, NULL, t->span, 0);
  else if (t->kind == NODE_TUPLE || t->kind == NODE_LIST)
    for (uint32_t i = 0; i < t->list.count; i++) poison_target(L, t->list.data[i]);
  else if (t->kind == NODE_STARRED) poison_target(L, t->unary.value);
}

static void skip_name(Lower *L, const char *name) {
  if (!scope_find(&L->frame->scope, name)) scope_set(L, &L->frame->scope, name, NULL, (Span){0, 0}, 0);
}

void lower_skip(Lower *L, const NodeList *body) {
  NameVec names = {0};
  lower_collect_assigned(L, body, &names);
  VEC_EACH(name, names) skip_name(L, *name);
}

// The same for a statement that kernels do not have.
static void skip_statement(const Node *s, void *user) {
  Lower *L = user;
  switch (s->kind) {
  case NODE_FUNCTION_DEF: skip_name(L, s->func.name); return;
  case NODE_CLASS_DEF: skip_name(L, s->cls.name); return;
  case NODE_ALIAS: {
    const char *name = s->alias.asname ? s->alias.asname : s->alias.name;
    skip_name(L, intern_n(L->ctx, name, strcspn(name, ".")));
    return;
  }
  default: {
    Node *one[] = {(Node *)s};
    lower_skip(L, &(NodeList){one, 1, 1});
    ast_each_child(s, skip_statement, L);
  }
  }
}

static void assign_elements(Lower *L, const Node *target, Term *value, bool constexpr_, bool decay) {
  uint32_t want = target->list.count;
  if (value->kind != TERM_TUPLE || (value->tuple.cls && value->tuple.cls->form == CLASS_AGGREGATE)) {
    if (lower_refuse_nothing(L, value, target->span)) return;
    lower_error(L, target->span, "cannot unpack %s into %u names", term_describe(L, value), want);
    if (!lower_note_result(L, value)) lower_hint_unpack(L, value, want);
    poison_target(L, target);
    return;
  }
  uint32_t star = want, have = value->tuple.count;
  for (uint32_t i = 0; i < want; i++)
    if (target->list.data[i]->kind == NODE_STARRED) star = i;
  if (star == want ? have < want : have + 1 < want) {
    lower_error(L, target->span, "cannot unpack a tuple of %u into %u names", have, want);
    if (value->tuple.is_shape) lower_hint(L, "a shape has one number per axis: this one is of %u ax%s", have,
                                          have == 1 ? "is" : "es");
    else lower_note_result(L, value);
    poison_target(L, target);
    return;
  }
  if (star == want && have > want &&     // Triton drops the rest
      diag_warning(L->ctx, WARN_UNUSED_VALUE, target->span, "%u names take %u of a tuple's %u values: nothing uses "
                   "the others", want, want, have))
    diag_note(L->ctx, (Span){0, 0}, "name them all, or take the rest with `*_`");
  for (uint32_t i = 0, j = 0; i < want; i++) {
    const Node *t = target->list.data[i];
    if (i == star) {
      uint32_t n = have - (want - 1);
      lower_assign_target(L, t->unary.value, term_tuple(L, value->tuple.items + j, n, NULL), constexpr_, decay);
      j += n;
    } else {
      lower_assign_target(L, t, value->tuple.items[j++], constexpr_, decay);
    }
  }
}

// x[i] = v, or x[i] op= v if there is an operator, is an error. value: v, or NULL if it has no text.
static void assign_element(Lower *L, const Node *target, const char *op, const Node *value) {
  const uint32_t errors = diag_error_count(L->ctx);
  Term *base = lower_expr(L, target->pair.first);
  if (!base && diag_error_count(L->ctx) > errors) return;
  if (base && lower_assign_to_address(L, base, target, op, value)) return;
  lower_error(L, target->span, "elements cannot be assigned in a kernel: values do not change");
  if (base && base->kind == TERM_TUPLE)
    lower_hint(L, "make a new tuple: t = t[:1] + (value,) + t[2:]");
  else if (base && base->kind == TERM_CONST && base->ct->kind == CT_DICT) {
    base->is_broken = true;
    lower_hint(L, "make a new dictionary: d = d | {key: value}");
  }
  else lower_hint(L, "choose per element with tl.where(…), or write to memory with tl.store(…)");
}

void lower_assign_target(Lower *L, const Node *target, Term *value, bool constexpr_, bool decay) {
  if (!value) {
    poison_target(L, target);
    return;
  }
  switch (target->kind) {
  case NODE_NAME:
    if (decay) value = term_decay(L, value, target->span);
    scope_set(L, &L->frame->scope, target->name.id, value, target->span, constexpr_ ? VAR_CONSTEXPR : 0);
    return;
  case NODE_TUPLE: case NODE_LIST: assign_elements(L, target, value, constexpr_, decay); return;
  case NODE_ATTRIBUTE: {
    Term *base = lower_expr(L, target->attr.first);
    if (!base) return;
    if (base->kind == TERM_TUPLE && base->tuple.is_open) {
      for (uint32_t i = 0; i < base->tuple.cls->num_fields; i++)
        if (base->tuple.cls->fields[i].name == target->attr.name) {
          base->tuple.items[i] = value;
          return;
        }
      lower_error(L, target->span, "%s has no field `%s`", base->tuple.cls->name, target->attr.name);
      return;
    }
    lower_error(L, target->span, "attributes cannot be assigned in a kernel");
    lower_hint(L, "make a new value instead");
    return;
  }
  case NODE_SUBSCRIPT:
    assign_element(L, target, NULL, NULL);
    return;
  default: ice(L->ctx, "assignment to %s", ast_kind_name((NodeKind)target->kind));
  }
}

void lower_assign_item(Lower *L, const Node *target, const Node *iter, Term *item, bool constexpr_) {
  L->items_of = iter;
  lower_assign_target(L, target, item, constexpr_, false);
  L->items_of = NULL;
}

bool lower_enter_region(Lower *L, Span span) {
  if (L->region_depth < MAX_REGION_DEPTH) {
    L->region_depth++;
    return true;
  }
  lower_error(L, span, "run-time branches and loops nest deeper than %d, calls included", MAX_REGION_DEPTH);
  lower_hint(L, "the statements after an early `return`, `break` or `continue` count as nested in it");
  L->frame->failed_return = true;
  L->gave_up = true;
  return false;
}

// ---- statements ----
bool lower_count(Lower *L, uint64_t statements, Span span) {
  const bool had_room = L->num_stmts < L->fe->max_statements;
  L->num_stmts += statements;
  if (had_room && L->num_stmts >= L->fe->max_statements) {
    lower_error(L, span, "the kernel expands to more than %u statements", L->fe->max_statements);
    lower_hint(L, "static_range copies its body, and every call its function: use range(…) for long loops");
    L->gave_up = true;
  }
  return !L->gave_up;
}

static bool is_constexpr_annotation(const Node *a) {
  if (!a) return false;
  const char *name = a->kind == NODE_NAME ? a->name.id : a->kind == NODE_ATTRIBUTE ? a->attr.name : "";
  return strcmp(name, "constexpr") == 0;
}

static void lower_ann_assign(Lower *L, const Node *s) {
  if (!s->ann.value) return;
  bool constant = is_constexpr_annotation(s->ann.annotation);
  Term *v = lower_expr(L, s->ann.value);
  if (constant) v = term_recall(L, v);
  if (constant && v && v->kind == TERM_VALUE) {   // as in Triton: what needs a constant reports it
    constant = false;
    v = memcpy(arena_new(L->arena, Term), v, sizeof *v);
    v->value.declared = s->span;
  }
  else if (!constant) lower_warn_annotation(L, s, v);
  lower_assign_target(L, s->ann.target, v, constant, !constant);
}

static void lower_return(Lower *L, const Node *s) {
  Scope *scope = &L->frame->scope;
  Term *v = s->unary.value ? lower_expr(L, s->unary.value) : term_none(L);
  if (!v) L->frame->failed_return = true;
  scope->ret = v;
  scope->exits[EXIT_RETURN] = (Flag){FLAG_YES, NULL};
}

static void lower_assert_stmt(Lower *L, const Node *s) {
  Term *cond = lower_expr(L, s->pair.first);
  Term *msg = s->pair.second ? lower_expr(L, s->pair.second) : term_const(L, ct_str(L->ctx, ""));
  if (!cond || !msg) return;
  Term *args[2] = {cond, msg};
  Term *fn = builtin_resolve(L, "device_assert");
  if (fn) lower_call_positional(L, fn, args, 2, s->span);
}

static const char *unsupported_statement(Lower *L, const Node *s, const char **hint) {
  *hint = NULL;
  switch (s->kind) {
    case NODE_FUNCTION_DEF:
      *hint = "define it at module level with @triton.jit";
      return "a function cannot be defined inside a kernel";
    case NODE_CLASS_DEF:
      *hint = "define it at module level with @tl.core._aggregate, or use a tuple";
      return "a class cannot be defined inside a kernel";
    case NODE_IMPORT:
    case NODE_IMPORT_FROM: *hint = "import at module level"; return "kernels cannot import";
    case NODE_TYPE_ALIAS: *hint = "write it at module level"; return "a type alias cannot be defined inside a kernel";
    case NODE_GLOBAL:
    case NODE_NONLOCAL:
      *hint = "pass values in as parameters, and store results with tl.store(…)";
      return "kernels cannot change globals";
    case NODE_TRY: *hint = "test before: a mask for accesses, `if` for numbers"; return "kernels have no exceptions";
    case NODE_MATCH: *hint = "write if/elif"; return "`match` is not supported in kernels";
    default: ice(L->ctx, "statement %s in a kernel", ast_kind_name((NodeKind)s->kind));
  }
}

static void lower_raise(Lower *L, const Node *s) {
  const Node *e = s->pair.first;
  const char *text = NULL;
  if (e && e->kind == NODE_CALL && e->call.args.count == 1) {
    Term *t = lower_expr(L, e->call.args.data[0]);
    if (!t) return;
    term_get_str(t, &text);
  }
  lower_error(L, s->span, "compilation reaches a `raise`%s%s", text ? ": " : "", text ? text : "");
  if (L->region_depth)
    lower_hint(L, "a run-time condition is tested by tl.device_assert(condition, text), a constexpr's at compile time");
  L->frame->scope.exits[EXIT_RETURN] = (Flag){FLAG_YES, NULL};
  L->frame->failed_return = true;
}

// Returns why the result of a call must be used ("" if no reason is given), or NULL if it need not be.
static const char *must_use_result(Lower *L, const Node *func) {
  if (!lower_is_name_path(func)) return NULL;
  const Term *f = lower_expr(L, func);
  return term_is_const(f) && f->ct->kind == CT_FUNCTION ? f->ct->fn->must_use_result : NULL;
}

// ++i and --i are two signs.
static bool is_increment(const Node *e) {
  const Node *inner = e->kind == NODE_UNARY ? e->unary.value : NULL;
  return inner && inner->kind == NODE_UNARY && inner->op == e->op && (e->op == PYOP_POS || e->op == PYOP_NEG) &&
         inner->unary.value->kind == NODE_NAME;
}

static void lower_expr_stmt(Lower *L, const Node *s) {
  const Node *v = s->unary.value;
  if (v->kind == NODE_STR || v->kind == NODE_ELLIPSIS) return;   // a docstring, or the body of a stub
  if (is_increment(v)) {
    lower_error(L, s->span, "`%s` changes nothing: there is no increment", lower_source_text(L, s->span));
    lower_hint(L, "write `i += 1`");
    return;
  }
  const Block *block = L->b.block;
  const Op *before = block->last;
  Term *t = lower_expr(L, v);
  if (t && t->kind != TERM_BLOCK_PTR) warn_unused_value(L, v, t, block, before);
  if (!t || v->kind != NODE_CALL) return;
  const char *why;
  if (t->kind == TERM_BLOCK_PTR) {
    lower_error(L, s->span, "the result of this call is unused, so it does nothing");
    lower_hint(L, "assign it: `p = tl.advance(p, …)`");
  } else if ((why = must_use_result(L, v->call.func))) {
    lower_error(L, s->span, "the result of this call is unused, but its function is marked @triton.must_use_result%s%s",
                *why ? ": " : "", why);
    lower_hint(L, "assign it, to `_` if it is not needed");
  }
}

static void lower_delete(Lower *L, const NodeList *targets) {
  for (uint32_t i = 0; i < targets->count; i++) {
    const Node *target = targets->data[i];
    if (target->kind == NODE_NAME) {
      const char *name = target->name.id;
      if (scope_find(&L->frame->scope, name)) scope_lose(L, &(Var){.name = name, .span = target->span}, NULL);
      scope_remove(&L->frame->scope, name);
    } else if (target->kind == NODE_TUPLE || target->kind == NODE_LIST) lower_delete(L, &target->list);
    else lower_error(L, target->span, "only names can be deleted in a kernel: values do not change");
  }
}

static void lower_stmt(Lower *L, const Node *s) {
  context_poll(L->ctx);
  L->b.span = s->span;
  Scope *scope = &L->frame->scope;
  switch (s->kind) {
  case NODE_PASS: return;
  case NODE_EXPR_STMT: lower_expr_stmt(L, s); return;
  case NODE_ASSIGN: {
    Term *v = lower_expr(L, s->assign.value);
    const bool decays = !lower_constexpr_tuple(L, s->assign.value);   // as in Triton: its items stay constants
    L->assigned = s->assign.value;
    if (v && decays && s->assign.targets.data[0]->kind == NODE_NAME) v = term_decay(L, v, s->assign.value->span);
    for (uint32_t i = 0; i < s->assign.targets.count; i++) {
      const Node *target = s->assign.targets.data[i];
      if (v && target->kind == NODE_SUBSCRIPT) assign_element(L, target, NULL, s->assign.value);
      else lower_assign_target(L, target, v, false, decays);
    }
    return;
  }
  case NODE_AUG_ASSIGN: {
    if (s->binary.left->kind == NODE_SUBSCRIPT) {
      assign_element(L, s->binary.left, pyop_text((PyOp)s->op), s->binary.right);
      return;
    }
    Term *a = lower_expr(L, s->binary.left), *b = lower_expr(L, s->binary.right);
    lower_assign_target(L, s->binary.left, lower_binary(L, (PyOp)s->op, a, b, s->span), false, true);
    return;
  }
  case NODE_ANN_ASSIGN: lower_ann_assign(L, s); return;
  case NODE_RETURN: lower_return(L, s); return;
  case NODE_WHILE: lower_while(L, s); return;
  case NODE_BREAK: scope->exits[EXIT_BREAK] = (Flag){FLAG_YES, NULL}; return;
  case NODE_CONTINUE: scope->exits[EXIT_CONTINUE] = (Flag){FLAG_YES, NULL}; return;
  case NODE_ASSERT: lower_assert_stmt(L, s); return;
  case NODE_RAISE: lower_raise(L, s); return;
  case NODE_DELETE: lower_delete(L, &s->list); return;
  case NODE_ERROR: return;
  default: {
    const char *hint, *text = unsupported_statement(L, s, &hint);
    lower_error(L, s->span, "%s", text);
    if (hint) lower_hint(L, "%s", hint);
    skip_statement(s, L);
  }
  }
}

typedef struct { const Cont *then, *otherwise; } IfArms;
static void arm_then(Lower *L, void *user) { lower_stmts(L, ((IfArms *)user)->then, NULL); }
static void arm_otherwise(Lower *L, void *user) {
  const IfArms *arms = user;
  const uint32_t at = L->frame->left_out.count;
  vec_push(L->arena, &L->frame->left_out, ((LeftOut){arms->then->list, ARM_OTHER}));
  lower_stmts(L, arms->otherwise, NULL);
  L->frame->left_out.data[at].body = NULL;
}

static const Cont *new_cont(Lower *L, const NodeList *list, uint32_t from, const Cont *next) {
  Cont *k = arena_new(L->arena, Cont);
  *k = (Cont){list, from, next};
  return k;
}

static Node *new_node(Lower *L, NodeKind kind, Span span) {
  Node *n = arena_new(L->arena, Node);
  n->kind = (uint8_t)kind;
  n->depth = 1;
  n->span = span;
  return n;
}

static void append(Lower *L, NodeList *list, Node *n) { vec_push(L->arena, list, n); }

// A call of the profiler's `scope`: there is nothing to enter.
static bool is_scope(const Node *n) {
  const Node *f = n->kind == NODE_CALL ? n->call.func : NULL;
  const char *name = !f ? NULL : f->kind == NODE_ATTRIBUTE ? f->attr.name : f->kind == NODE_NAME ? f->name.id : NULL;
  return name && !strcmp(name, "scope");
}

// Enters `with E as x`: assigns x = E.__enter__(), and returns statements that call E.__exit__(None, None, None) before
// `rest`. NULL after a diagnostic.
static const Cont *enter_context(Lower *L, const Node *item, const Cont *rest) {
  Term *t = lower_expr(L, item->pair.first);
  if (!t) return NULL;
  if (term_is_none(t) && is_scope(item->pair.first)) {
    if (item->pair.second) lower_assign_target(L, item->pair.second, t, false, true);
    return new_cont(L, arena_new(L->arena, NodeList), 0, rest);
  }
  Term *enter = t->kind == TERM_TUPLE && t->tuple.cls ? lower_find_method(L, t, "__enter__") : NULL;
  if (!enter || !lower_find_method(L, t, "__exit__")) {
    lower_error(L, item->span, "`with` needs an object that has __enter__ and __exit__, not %s", term_describe(L, t));
    lower_hint(L, "a kernel has no resources to close: write the body without `with`");
    return NULL;
  }
  Term *value = lower_call_positional(L, enter, NULL, 0, item->span);
  if (!value) return NULL;
  if (item->pair.second) lower_assign_target(L, item->pair.second, value, false, true);
  Node *object = new_node(L, NODE_NAME, item->span), *method = new_node(L, NODE_ATTRIBUTE, item->span),
       *call = new_node(L, NODE_CALL, item->span), *statement = new_node(L, NODE_EXPR_STMT, item->span);
  // no name that a program can have
  object->name.id = intern(L->ctx, arena_printf(L->arena, "with %u", item->span.begin));
  scope_set(L, &L->frame->scope, object->name.id, t, item->span, 0);
  method->attr.first = object;
  method->attr.name = intern(L->ctx, "__exit__");
  call->call.func = method;
  for (int i = 0; i < 3; i++) append(L, &call->call.args, new_node(L, NODE_NONE, item->span));
  statement->unary.value = call;
  NodeList *body = arena_new(L->arena, NodeList);
  append(L, body, statement);
  return new_cont(L, body, 0, rest);
}

// However the body is left, the __exit__ of its contexts comes next.
static void lower_with(Lower *L, const Node *s) {
  Scope *scope = &L->frame->scope;
  const Cont *exits = NULL, body = {&s->with.body, 0, NULL};
  L->b.span = s->span;
  for (uint32_t i = 0; i < s->with.items.count; i++)
    if (!(exits = enter_context(L, s->with.items.data[i], exits))) {
      lower_skip(L, &s->with.body);
      return;
    }
  lower_stmts(L, &body, NULL);
  const Scope left = *scope;
  scope_resume(scope, true);
  lower_stmts(L, exits, NULL);
  scope->ended = left.ended;
  memcpy(scope->exits, left.exits, sizeof left.exits);
}

typedef struct { const Cont *rest; const LiveOut *out; } Guarded;
static void arm_rest(Lower *L, void *user) {
  Guarded *g = user;
  scope_resume(&L->frame->scope, true);
  lower_stmts(L, g->rest, g->out);
}

// Lowers an `if` that `rest` follows. Returns what to lower next: `rest`, with a constant condition the chosen arm
// before it, or NULL if `rest` was lowered inside an arm.
static const Cont *lower_if(Lower *L, const Node *s, const Cont *rest, const LiveOut *out) {
  L->b.span = s->span;
  Term *c = lower_expr(L, s->cond.test);
  int known;
  Value *v;
  if (!lower_condition(L, c, s->cond.test->span, "`if`", &known, &v)) {
    // The names that the arms bind have no value, and nothing more is reported about them.
    NameVec names = {0};
    lower_collect_assigned(L, &s->cond.body, &names);
    lower_collect_assigned(L, &s->cond.orelse, &names);
    for (uint32_t i = 0; i < names.count; i++) scope_set(L, &L->frame->scope, names.data[i], NULL, s->span, 0);
    return rest;
  }
  if (known >= 0) {
    const NodeList *chosen = known ? &s->cond.body : &s->cond.orelse, *other = known ? &s->cond.orelse : &s->cond.body;
    L->has_pruned_call |= warn_calls(other);
    if (other->count) vec_push(L->arena, &L->frame->left_out, ((LeftOut){other, known ? ARM_OF_TRUE : ARM_OF_FALSE}));
    return new_cont(L, chosen, 0, rest);
  }
  IfArms arms = {new_cont(L, &s->cond.body, 0, NULL), new_cont(L, &s->cond.orelse, 0, NULL)};
  return lower_runtime_if(L, v, arm_then, arm_otherwise, &arms, rest, out, s->span) ? NULL : rest;
}

void lower_stmts(Lower *L, const Cont *k, const LiveOut *out) {
  for (;;) {
    while (k && k->from >= k->list->count) k = k->next;
    if (!k) return;
    const Node *s = k->list->data[k->from];
    if (!lower_count(L, 1, s->span)) return;
    FlagState flow = scope_flow(&L->frame->scope);
    if (flow == FLAG_YES) return;   // unreachable
    if (flow == FLAG_MAYBE) {
      Guarded g = {k, out};
      L->b.span = s->span;
      lower_runtime_if(L, scope_live(L, &L->frame->scope), arm_rest, NULL, &g, NULL, out, s->span);
      return;
    }
    k = new_cont(L, k->list, k->from + 1, k->next);
    if (L->options->stops) lower_stop_before(L, s);
    if (s->kind == NODE_WITH) lower_with(L, s);
    else if (s->kind == NODE_FOR) lower_for(L, s, k);
    else if (s->kind == NODE_IF) k = lower_if(L, s, k, out);
    else lower_stmt(L, s);
  }
}
