// -Wunused-parameter: a pointer that the kernel never names, while it stores only to memory that it also loads.
#include "frontend/lower/hints.h"
#include "frontend/lower/term.h"
#include "frontend/lower/warnings.h"

#include <string.h>

enum { MAX_STEPS = 64 };

// The parameter from which an address is computed; NULL if that is not known.
static const Value *base_of(const Lower *L, const Value *v, int depth) {
  if (!v || ++depth > MAX_STEPS) return NULL;
  if (v->block && !v->block->parent) return v;
  const Op *op = v->def;
  if (!op) return base_of(L, lower_before_loop(L, v), depth);
  switch (op->opcode) {
  case OP_ADDPTR: case OP_SPLAT: case OP_BROADCAST: case OP_EXPAND_DIMS: case OP_RESHAPE: case OP_TRANS: case OP_HINT:
  case OP_BITCAST:
    return base_of(L, op_operand(op, 0), depth);
  case OP_FOR: case OP_WHILE:
    return base_of(L, op_operand(op, op->num_operands - op->num_results + v->index), depth);
  default: return NULL;
  }
}

// stored, loaded: parameters. unknown: whether some other memory is written.
typedef struct { const Lower *L; Map stored, loaded; VEC(const Value *) all; bool unknown; } Accesses;

static void see_access(Op *op, void *user) {
  Accesses *a = user;
  const bool is_load = op->opcode == OP_LOAD, is_store = op->opcode == OP_STORE;
  if (!is_load && !is_store) {
    a->unknown |= op_is(op, TRAIT_WRITES) && op->opcode != OP_ASSUME && !op_int(op, ATTR_PURE, 0);
    return;
  }
  const Value *base = base_of(a->L, op_operand(op, 0), 0);
  if (!base) {
    a->unknown |= is_store;
    return;
  }
  map_at(a->L->arena, is_load ? &a->loaded : &a->stored, base)->number = 1;
  if (is_store) vec_push(a->L->arena, &a->all, base);
}

typedef struct { const char *name; bool found; } Mention;

static void find_name(const Node *n, void *user) {
  Mention *m = user;
  if (n->kind == NODE_NAME && n->name.id == m->name) m->found = true;
  else ast_each_child(n, find_name, user);
}

static bool is_named(const Node *def, const char *name) {
  Mention m = {name, false};
  for (uint32_t i = 0; i < def->func.body.count; i++) find_name(def->func.body.data[i], &m);
  return m.found;
}

void warn_unused_pointers(Lower *L, const Func *f, const Node *def) {
  Accesses a = {.L = L};
  block_walk(f->body, see_access, &a);
  if (a.unknown || !a.all.count || L->has_pruned_call) return;
  for (uint32_t i = 0; i < a.all.count; i++)
    if (!map_get(&a.loaded, a.all.data[i])) return;   // an output of its own
  for (uint32_t i = 0; i < L->kernel->num_params; i++) {
    const CtParam *p = &L->kernel->params[i];
    const bool is_pointer = L->specs[i].kind == SPEC_TYPE && L->specs[i].type && *L->specs[i].type == '*';
    if (!is_pointer || !p->node || p->name[0] == '_' || is_named(def, p->name)) continue;
    if (diag_warning(L->ctx, WARN_UNUSED_PARAMETER, p->node->span, "`%s` is a pointer that the kernel never uses, and its "
                     "stores go to `%s`, which it also loads", p->name, a.all.data[0]->name ? a.all.data[0]->name : "x"))
      lower_hint(L, "store through `%s` if it is the output; otherwise remove it, or begin its name with `_`", p->name);
  }
}
