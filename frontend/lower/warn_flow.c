// -Wunreachable, -Wmissing-store, -Wredefinition, -Wsame-tile, -Wloop-variable: mistakes in the order of statements, of
// definitions and of iterations.
#include "frontend/lower/statements.h"
#include "frontend/lower/warnings.h"

#include <string.h>

// ---- code that cannot be reached ----
static const char *last_name(const Node *path) {
  return path->kind == NODE_ATTRIBUTE ? path->attr.name : path->kind == NODE_NAME ? path->name.id : "";
}

static bool is_static_assert_false(const Node *s) {
  if (s->kind != NODE_EXPR_STMT || s->unary.value->kind != NODE_CALL) return false;
  const Node *call = s->unary.value;
  return !strcmp(last_name(call->call.func), "static_assert") && call->call.args.count &&
         call->call.args.data[0]->kind == NODE_FALSE;
}

static void check_list(Lower *L, const NodeList *list);
static bool leaves_list(const NodeList *list);

// Whether no statement after s runs: s leaves the list, or each of its arms does.
static bool leaves(const Node *s) {
  switch (s->kind) {
  case NODE_RETURN: case NODE_BREAK: case NODE_CONTINUE: case NODE_RAISE: return true;
  case NODE_IF: return s->cond.orelse.count && leaves_list(&s->cond.body) && leaves_list(&s->cond.orelse);
  default: return is_static_assert_false(s);
  }
}

static bool leaves_list(const NodeList *list) {
  for (uint32_t i = 0; i < list->count; i++)
    if (leaves(list->data[i])) return true;
  return false;
}

static bool is_nothing(const Node *s) {
  return s->kind == NODE_PASS || (s->kind == NODE_EXPR_STMT && (s->unary.value->kind == NODE_STR ||
                                                                s->unary.value->kind == NODE_ELLIPSIS));
}

static void check_list(Lower *L, const NodeList *list) {
  const Node *leaver = NULL;
  for (uint32_t i = 0; i < list->count; i++) {
    const Node *s = list->data[i];
    if (leaver && !is_nothing(s)) {
      if (diag_warning(L->ctx, WARN_UNREACHABLE, s->span, "this statement cannot be reached"))
        diag_note(L->ctx, leaver->span, "no path leads past this statement; remove what follows it");
      return;
    }
    for (const AstPart *part = ast_parts(s); part->kind; part++)
      if (part->kind == PART_BODY) check_list(L, ast_part_list(s, part));
    if (!leaver && leaves(s)) leaver = s;
  }
}

void warn_unreachable(Lower *L, const Node *def) { check_list(L, &def->func.body); }

// ---- kernels that store nothing ----
// Calls that never write memory.
static bool is_check(const Node *call) {
  static const char *const names[] = {"static_assert", "assume", "multiple_of", "max_contiguous", "max_constancy"};
  for (uint32_t i = 0; i < countof(names); i++)
    if (!strcmp(last_name(call->call.func), names[i])) return true;
  return false;
}

static void find_effect(const Node *n, void *user) {
  bool *found = user;
  if (n->kind == NODE_ASSERT || (n->kind == NODE_CALL && !is_check(n))) *found = true;
  else ast_each_child(n, find_effect, user);
}

// Whether the list has, at any depth, a statement that may write memory in another specialisation.
static void find_statement(const Node *s, void *user) {
  if (s->kind == NODE_EXPR_STMT || s->kind == NODE_ASSERT || s->kind == NODE_WITH) find_effect(s, user);
  else ast_each_child(s, find_statement, user);
}

static bool has_effect_statement(const Node *def) {
  bool found = false;
  for (uint32_t i = 0; i < def->func.body.count; i++) find_statement(def->func.body.data[i], &found);
  return found;
}

bool warn_calls(const NodeList *list) {
  bool found = false;
  for (uint32_t i = 0; i < list->count; i++) find_effect(list->data[i], &found);
  return found;
}

static void find_write(Op *op, void *user) {
  if (op_is(op, TRAIT_WRITES) && op->opcode != OP_ASSUME && !op_int(op, ATTR_PURE, 0)) *(bool *)user = true;
}

// An empty kernel is one that is still to be written, and gets no warning.
static bool is_empty(const NodeList *body) {
  for (uint32_t i = 0; i < body->count; i++)
    if (!is_nothing(body->data[i])) return false;
  return true;
}

void warn_missing_store(Lower *L, const Func *f, const Node *def) {
  bool writes = is_empty(&def->func.body);
  block_walk(f->body, find_write, &writes);
  if (writes || L->has_pruned_call) return;
  for (uint32_t i = 0; i < L->visited.count; i++)
    if (has_effect_statement(L->visited.data[i])) return;
  if (diag_warning(L->ctx, WARN_MISSING_STORE, def->func.name_span, "kernel `%s` stores nothing, so it has no effect",
                   def->func.name))
    lower_hint(L, "write its results to memory with tl.store(…)");
}

// ---- functions that are defined twice ----
typedef struct { const char *name; bool found; } Mention;

static void find_use(const Node *n, void *user) {
  Mention *u = user;
  if (n->kind == NODE_NAME && n->name.id == u->name) u->found = true;
  // Names in a function's body are looked up when it is called.
  if (n->kind != NODE_FUNCTION_DEF) {
    ast_each_child(n, find_use, user);
    return;
  }
  for (uint32_t i = 0; i < n->func.decorators.count; i++) find_use(n->func.decorators.data[i], user);
  for (uint32_t i = 0; i < n->func.params.count; i++) find_use(n->func.params.data[i], user);
}

static bool is_used_between(const NodeList *list, uint32_t first, uint32_t second) {
  Mention u = {list->data[first]->func.name, false};
  for (uint32_t i = first + 1; i < second; i++) {
    const Node *s = list->data[i];
    find_use(s, &u);
    // Code of the module between the two definitions may call the first one.
    if (s->kind != NODE_FUNCTION_DEF && s->kind != NODE_CLASS_DEF) find_effect(s, &u.found);
  }
  const NodeList *decorators = &list->data[second]->func.decorators;   // @f.setter, @overload of f, …
  for (uint32_t i = 0; i < decorators->count; i++) find_use(decorators->data[i], &u);
  return u.found;
}

static bool is_overload(const Node *def) {
  for (uint32_t i = 0; i < def->func.decorators.count; i++)
    if (!strcmp(last_name(def->func.decorators.data[i]), "overload")) return true;
  return false;
}

void warn_redefinitions(Context *ctx, const Node *module) {
  const NodeList *list = &module->block;
  Map last = {0};   // name → 1 + the number of its last definition
  for (uint32_t i = 0; i < list->count; i++) {
    const Node *def = list->data[i];
    if (def->kind != NODE_FUNCTION_DEF || def->func.name[0] == '_') continue;
    MapSlot *slot = map_at(&ctx->arena, &last, def->func.name);
    const uint32_t before = (uint32_t)slot->number;
    slot->number = i + 1;
    if (!before || is_overload(list->data[before - 1]) || is_used_between(list, before - 1, i)) continue;
    if (diag_warning(ctx, WARN_REDEFINITION, def->func.name_span,
                     "`%s` is defined again, and the first one is never used", def->func.name))
      diag_note(ctx, list->data[before - 1]->func.name_span, "the first one is here: remove or rename one of them");
  }
}

// ---- loops over tiles ----
typedef struct { const Op *loop; uint32_t num_loads; bool differ; } Tiles;

// Whether v is the same in every iteration of the loop: computed outside of it, or within from such values alone.
static bool is_same(const Op *loop, const Value *v, uint32_t depth) {
  const Block *b = v->def ? v->def->parent : v->block;
  while (b && b->parent != loop) b = b->parent ? b->parent->parent : NULL;
  if (!b) return true;
  if (!v->def || !op_is(v->def, TRAIT_PURE) || v->def->num_blocks || depth > 10) return false;
  for (uint32_t i = 0; i < v->def->num_operands; i++)
    if (op_operand(v->def, i) && !is_same(loop, op_operand(v->def, i), depth + 1)) return false;
  return true;
}

static void see_access(Op *op, void *user) {
  Tiles *t = user;
  if (op->opcode == OP_LOAD && !op_int(op, ATTR_VOLATILE, 0)) {
    t->num_loads++;
    for (uint32_t i = 0; i < op->num_operands; i++)
      t->differ |= op_operand(op, i) && !is_same(t->loop, op_operand(op, i), 0);
  } else if (op_is(op, TRAIT_READS | TRAIT_WRITES | TRAIT_SYNC)) {
    t->differ = true;
  }
}

// Warns of `for i in range(0, n, B)` that does not use i and whose loads are the same in every iteration.
void lower_warn_same_tile(Lower *L, const Node *loop, const Op *op) {
  int64_t step;
  const Node *target = loop->loop.target;
  if (op->opcode != OP_FOR || target->kind != NODE_NAME || target->name.id[0] == '_') return;
  if (op->blocks[0]->args[0]->uses || lower_in_prelude(L, op->span)) return;
  if (value_constant_int(op_operand(op, 2), &step) && step == 1) return;
  Tiles t = {op, 0, false};
  block_walk(op->blocks[0], see_access, &t);
  if (!t.num_loads || t.differ) return;
  if (diag_warning(L->ctx, WARN_SAME_TILE, target->span, "`%s` is not used, and every iteration loads the same "
                   "elements", target->name.id))
    lower_hint(L, "add it to the offsets, or move the pointers by the step at the end of each iteration");
}

// ---- assignments to a loop's variable ----
// assigned: the first assignment to the name. inner: the outermost loop inside the body that has it, or NULL. A call
// with the variable among its arguments, as tl.multiple_of(i, 16), may be a hint, and counts as no assignment.
// Neither does one that ends each iteration, as in a `while`: it is not needed, and does no harm.
typedef struct { const char *name; const Node *assigned, *inner; bool is_read; } LoopVariable;

static bool assigns(const Node *s, const char *name) {
  if (s->kind == NODE_AUG_ASSIGN) return s->binary.left->kind == NODE_NAME && s->binary.left->name.id == name;
  if (s->kind != NODE_ASSIGN || s->assign.value->kind == NODE_CALL || s->assign.targets.count != 1) return false;
  const Node *target = s->assign.targets.data[0];
  return target->kind == NODE_NAME && target->name.id == name;
}

static void find_assignment(const Node *n, void *user) {
  LoopVariable *v = user;
  if (v->assigned) return;
  if (assigns(n, v->name)) v->assigned = n;
  else ast_each_child(n, find_assignment, user);
  if (v->assigned && (n->kind == NODE_FOR || n->kind == NODE_WHILE)) v->inner = n;
}

// A name that is read after the assignment, or in the next iteration of an inner loop.
static void find_later_read(const Node *n, void *user) {
  LoopVariable *v = user;
  const Span s = v->assigned->span;
  const bool is_inner = v->inner && n->span.begin >= v->inner->span.begin && n->span.begin < v->inner->span.end;
  if (n->kind == NODE_NAME && n->name.id == v->name && (n->span.begin >= s.end || (is_inner && n->span.end <= s.begin)))
    v->is_read = true;
  ast_each_child(n, find_later_read, user);
}

void lower_warn_loop_variable(Lower *L, const Node *loop, const Cont *rest) {
  const Node *target = loop->loop.target;
  if (target->kind != NODE_NAME || target->name.id[0] == '_' || lower_in_prelude(L, loop->span)) return;
  LoopVariable v = {.name = target->name.id};
  const uint32_t n = loop->loop.body.count;
  for (uint32_t i = 0; i < n; i++)
    if (i + 1 < n || !assigns(loop->loop.body.data[i], v.name)) find_assignment(loop->loop.body.data[i], &v);
  if (!v.assigned) return;
  for (uint32_t i = 0; i < n; i++) find_later_read(loop->loop.body.data[i], &v);
  if (v.is_read || scope_is_read_next(L, rest, v.name)) return;
  if (!diag_warning(L->ctx, WARN_LOOP_VARIABLE, v.assigned->span,
                    "the next iteration sets `%s` anew, and nothing reads it before: this assignment has no effect",
                    v.name))
    return;
  lower_hint(L, "to skip iterations, loop with `while`, and raise `%s` in its body", v.name);
}
