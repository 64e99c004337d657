// Scopes: the variables on one path through a function, and which names a statement list may bind.
#include "frontend/lower/statements.h"
#include "frontend/lower/term.h"

#include <string.h>

// ---- scopes ----
Var *scope_find(Scope *s, const char *name) {
  for (uint32_t i = s->count; i-- > 0;)
    if (s->vars[i].name == name) return &s->vars[i];
  return NULL;
}

void scope_set(Lower *L, Scope *s, const char *name, Term *term, Span span, uint8_t flags) {
  Var *v = scope_find(s, name);
  if (!v) {
    if (s->count == s->capacity) {
      uint32_t capacity = s->capacity ? s->capacity * 2 : 16;
      Var *grown = arena_array(L->arena, Var, capacity);
      if (s->count) memcpy(grown, s->vars, s->count * sizeof *grown);
      s->vars = grown;
      s->capacity = capacity;
    }
    v = &s->vars[s->count++];
  }
  *v = (Var){.name = name, .term = term, .span = span, .flags = flags};
  Value *value = NULL;
  if (term && term->kind == TERM_VALUE) value = term_v(term);
  if (term && term->kind == TERM_BUFFER) value = term->buffer.v;
  if (value && !value->name) value->name = name;
}

void scope_remove(Scope *s, const char *name) {
  Var *v = scope_find(s, name);
  if (!v) return;
  uint32_t i = (uint32_t)(v - s->vars);
  memmove(v, v + 1, (s->count - i - 1) * sizeof *v);
  s->count--;
}

Scope scope_copy(Lower *L, const Scope *s) {
  Scope c = *s;
  c.capacity = s->count + 8;
  c.vars = arena_array(L->arena, Var, c.capacity);
  if (s->count) memcpy(c.vars, s->vars, s->count * sizeof *c.vars);
  return c;
}

FlagState scope_flow(const Scope *s) {
  FlagState r = s->ended ? FLAG_YES : FLAG_NO;
  for (int i = 0; i < NUM_EXITS; i++)
    if (s->exits[i].state > r) r = s->exits[i].state;
  return r;
}

void scope_resume(Scope *s, bool all) {
  s->ended = false;
  for (int i = all ? 0 : EXIT_CONTINUE; i < NUM_EXITS; i++) s->exits[i] = (Flag){FLAG_NO, NULL};
}

Value *scope_live(Lower *L, const Scope *s) {
  Value *any = NULL;
  for (int i = 0; i < NUM_EXITS; i++) {
    if (s->exits[i].state != FLAG_MAYBE) continue;
    Value *v = s->exits[i].v;
    any = any ? build_binary(&L->b, OP_ORI, any, v) : v;
  }
  return build_binary(&L->b, OP_XORI, any, build_int(&L->b, any->type, 1));
}

// ---- names that a statement list binds ----
static void add_name(Lower *L, NameVec *out, const char *name) {
  for (uint32_t i = 0; i < out->count; i++)
    if (out->data[i] == name) return;
  vec_push(L->arena, out, name);
}

static void collect_target(Lower *L, const Node *t, NameVec *out) {
  if (t->kind == NODE_NAME) add_name(L, out, t->name.id);
  else if (t->kind == NODE_TUPLE || t->kind == NODE_LIST)
    for (uint32_t i = 0; i < t->list.count; i++) collect_target(L, t->list.data[i], out);
  else if (t->kind == NODE_STARRED) collect_target(L, t->unary.value, out);
}

static void collect_exprs(Lower *L, const NodeList *list, NameVec *out) {
  for (uint32_t i = 0; i < list->count; i++) lower_collect_expr(L, list->data[i], out);
}

void lower_collect_expr(Lower *L, const Node *e, NameVec *out) {
  if (!e) return;
  switch (e->kind) {
  case NODE_NAMED_EXPR:
    collect_target(L, e->pair.first, out);
    lower_collect_expr(L, e->pair.second, out);
    break;
  case NODE_UNARY: case NODE_STARRED: lower_collect_expr(L, e->unary.value, out); break;
  case NODE_BINARY: lower_collect_expr(L, e->binary.left, out), lower_collect_expr(L, e->binary.right, out); break;
  case NODE_BOOL_OP: collect_exprs(L, &e->boolop.values, out); break;
  case NODE_COMPARE:
    lower_collect_expr(L, e->compare.left, out);
    collect_exprs(L, &e->compare.rights, out);
    break;
  case NODE_CALL:
    lower_collect_expr(L, e->call.func, out);
    collect_exprs(L, &e->call.args, out);
    collect_exprs(L, &e->call.keywords, out);
    break;
  case NODE_KEYWORD: case NODE_ATTRIBUTE: lower_collect_expr(L, e->attr.first, out); break;
  case NODE_SUBSCRIPT: lower_collect_expr(L, e->pair.first, out), lower_collect_expr(L, e->pair.second, out); break;
  case NODE_SLICE: case NODE_IF_EXP:
    lower_collect_expr(L, e->slice.lower, out);
    lower_collect_expr(L, e->slice.upper, out);
    lower_collect_expr(L, e->slice.step, out);
    break;
  case NODE_TUPLE: case NODE_LIST: case NODE_SET: case NODE_FSTRING: collect_exprs(L, &e->list, out); break;
  case NODE_FORMAT: lower_collect_expr(L, e->format.value, out), lower_collect_expr(L, e->format.spec, out); break;
  case NODE_DICT:
    collect_exprs(L, &e->dict.keys, out);
    collect_exprs(L, &e->dict.values, out);
    break;
  case NODE_LIST_COMP: case NODE_SET_COMP: case NODE_DICT_COMP: case NODE_GENERATOR:   // its targets are its own
    lower_collect_expr(L, e->comp.elt, out);
    lower_collect_expr(L, e->comp.value, out);
    collect_exprs(L, &e->comp.generators, out);
    break;
  case NODE_COMP_FOR:
    lower_collect_expr(L, e->loop.iter, out);
    collect_exprs(L, &e->loop.body, out);
    break;
  default: break;
  }
}

void lower_collect_assigned(Lower *L, const NodeList *body, NameVec *out) {
  for (uint32_t i = 0; i < body->count; i++) {
    const Node *s = body->data[i];
    switch (s->kind) {
    case NODE_ASSIGN:
      for (uint32_t t = 0; t < s->assign.targets.count; t++) collect_target(L, s->assign.targets.data[t], out);
      lower_collect_expr(L, s->assign.value, out);
      break;
    case NODE_AUG_ASSIGN:
      collect_target(L, s->binary.left, out);
      lower_collect_expr(L, s->binary.right, out);
      break;
    case NODE_ANN_ASSIGN:
      if (s->ann.value) collect_target(L, s->ann.target, out);
      lower_collect_expr(L, s->ann.value, out);
      break;
    case NODE_EXPR_STMT: case NODE_RETURN: lower_collect_expr(L, s->unary.value, out); break;
    case NODE_ASSERT:
    case NODE_RAISE: lower_collect_expr(L, s->pair.first, out), lower_collect_expr(L, s->pair.second, out); break;
    case NODE_IF:
      lower_collect_expr(L, s->cond.test, out);
      lower_collect_assigned(L, &s->cond.body, out);
      lower_collect_assigned(L, &s->cond.orelse, out);
      break;
    case NODE_FOR:
      collect_target(L, s->loop.target, out);
      lower_collect_expr(L, s->loop.iter, out);
      lower_collect_assigned(L, &s->loop.body, out);
      break;
    case NODE_WHILE:
      lower_collect_expr(L, s->loop.iter, out);
      lower_collect_assigned(L, &s->loop.body, out);
      break;
    case NODE_WITH:
      for (uint32_t k = 0; k < s->with.items.count; k++) {
        const Node *item = s->with.items.data[k];
        lower_collect_expr(L, item->pair.first, out);
        if (item->pair.second) collect_target(L, item->pair.second, out);
      }
      lower_collect_assigned(L, &s->with.body, out);
      break;
    default: break;
    }
  }
}

bool lower_has_exit(const NodeList *body, bool with_break) {
  for (uint32_t i = 0; i < body->count; i++) {
    const Node *s = body->data[i];
    switch (s->kind) {
    case NODE_RETURN: return true;
    case NODE_BREAK:
      if (with_break) return true;
      break;
    case NODE_IF:
      if (lower_has_exit(&s->cond.body, with_break) || lower_has_exit(&s->cond.orelse, with_break)) return true;
      break;
    case NODE_FOR: case NODE_WHILE:
      if (lower_has_exit(&s->loop.body, false)) return true;
      break;
    case NODE_WITH:
      if (lower_has_exit(&s->with.body, with_break)) return true;
      break;
    default: break;
    }
  }
  return false;
}

// ---- whether a name is read ----
typedef enum { USE_NONE, USE_READ, USE_BOUND } FirstUse;
typedef struct { const char *name; bool found; } Mention;

static void find_mention(const Node *n, void *user) {
  Mention *m = user;
  if (n->kind == NODE_NAME) m->found |= n->name.id == m->name;
  else ast_each_child(n, find_mention, user);
}

static bool mentions(const Node *n, const char *name) {
  Mention m = {name, false};
  find_mention(n, &m);
  return m.found;
}

static bool binds(Lower *L, const Node *target, const char *name) {
  NameVec names = {0};
  collect_target(L, target, &names);
  for (uint32_t i = 0; i < names.count; i++)
    if (names.data[i] == name) return true;
  return false;
}

// What the statements from number `from` on do first with a name. A loop counts as one that runs.
static FirstUse first_use(Lower *L, const NodeList *list, uint32_t from, const char *name) {
  for (uint32_t i = from; i < list->count; i++) {
    const Node *s = list->data[i];
    FirstUse u = USE_NONE;
    if (s->kind == NODE_ASSIGN) {
      u = mentions(s->assign.value, name) ? USE_READ : USE_NONE;
      for (uint32_t t = 0; t < s->assign.targets.count && u == USE_NONE; t++) {
        const Node *target = s->assign.targets.data[t];
        u = binds(L, target, name) ? USE_BOUND : mentions(target, name) ? USE_READ : USE_NONE;
      }
    } else if (s->kind == NODE_FOR) {
      u = mentions(s->loop.iter, name) ? USE_READ : binds(L, s->loop.target, name) ? USE_BOUND : USE_NONE;
      if (u == USE_NONE && first_use(L, &s->loop.body, 0, name) == USE_READ) u = USE_READ;
    } else if (s->kind == NODE_IF) {
      FirstUse a = first_use(L, &s->cond.body, 0, name), b = first_use(L, &s->cond.orelse, 0, name);
      u = mentions(s->cond.test, name) || a == USE_READ || b == USE_READ ? USE_READ : a == b ? a : USE_NONE;
    } else if (mentions(s, name)) {
      u = USE_READ;
    }
    if (u != USE_NONE) return u;
  }
  return USE_NONE;
}

bool scope_is_read_next(Lower *L, const Cont *k, const char *name) {
  FirstUse u = USE_NONE;
  for (; k && u == USE_NONE; k = k->next) u = first_use(L, k->list, k->from, name);
  return u == USE_READ;
}

// ---- arms that were left out ----
typedef struct { const char *name; Span found; } Binding;

static void find_binding(const Node *n, void *user) {
  Binding *b = user;
  if (b->found.end) return;
  if (n->kind == NODE_NAME && n->name.id == b->name) b->found = n->span;
  else ast_each_child(n, find_binding, b);
}

bool scope_hint_left_out(Lower *L, const char *name) {
  for (uint32_t i = L->frame->left_out.count; i-- > 0;) {
    const LeftOut *arm = &L->frame->left_out.data[i];
    NameVec names = {0};
    Binding b = {name, {0, 0}};
    if (!arm->body) continue;
    lower_collect_assigned(L, arm->body, &names);
    for (uint32_t k = 0; k < names.count; k++)
      for (uint32_t s = 0; names.data[k] == name && s < arm->body->count; s++) find_binding(arm->body->data[s], &b);
    if (!b.found.end) continue;
    if (arm->reason == ARM_OTHER) {
      diag_note(L->ctx, b.found, "it is assigned here, in the other arm of the `if`");
      lower_hint(L, "give it a value in this arm, too, or before the `if`");
      return true;
    }
    const bool is_else = arm->reason == ARM_OF_TRUE;
    diag_note(L->ctx, b.found, "it is assigned here, %s in this compilation",
              is_else ? "in the `else` of a condition that is True" : "under a condition that is False");
    lower_hint(L, "give it a value before the `if`, or use it under the same condition");
    return true;
  }
  return false;
}
