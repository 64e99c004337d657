#include "passes/global_memory.h"

#include "passes/layout_rules.h"

const Value *global_root(const Value *v) {
  while (v->def && (v->def->opcode == OP_ADDPTR || v->def->opcode == OP_SPLAT || v->def->opcode == OP_BROADCAST || v->def->opcode == OP_BITCAST ||
                    v->def->opcode == OP_EXPAND_DIMS || v->def->opcode == OP_CONVERT_LAYOUT || v->def->opcode == OP_HINT || v->def->opcode == OP_RESHAPE ||
                    v->def->opcode == OP_MAKE_DESC))
    v = op_operand(v->def, 0);
  if (!v->def && v->block->parent && v->block->parent->opcode == OP_FOR && v->index > 0)   // base advanced in a loop
    return global_root(op_operand(v->block->parent, v->index + 2));
  return v->def || v->block->parent ? NULL : v;
}

typedef struct { Context *ctx; MemoryUses *found; VEC(Value *) seen; } Search;

static void search(Value *v, void *user) {
  Search *s = user;
  if (!v || (v->type->kind != TYPE_DESC && type_elem(v->type)->kind != TYPE_PTR)) return;
  for (uint32_t i = 0; i < s->seen.count; i++)
    if (s->seen.data[i] == v) return;
  vec_push(&s->ctx->arena, &s->seen, v);
  for (Use *u = v->uses; u; u = u->next) {
    Op *op = u->user;
    switch (op->opcode) {
      case OP_LOAD: case OP_DESC_LOAD: case OP_DESC_GATHER:
        if (u->index == 0) vec_push(&s->ctx->arena, &s->found->reads, op);
        break;
      case OP_STORE: case OP_ATOMIC_RMW: case OP_ATOMIC_CAS: case OP_DESC_STORE: case OP_DESC_REDUCE: case OP_DESC_SCATTER:
        if (u->index == 0) vec_push(&s->ctx->arena, &s->found->writes, op);
        break;
      case OP_FOR: case OP_WHILE: case OP_IF: break;
      default:
        for (uint32_t i = 0; i < op->num_results; i++) search(op_result(op, i), s);
    }
  }
  value_visit_ties(v, search, s);
}

MemoryUses memory_uses_of(Context *ctx, Func *f, uint32_t param) {
  MemoryUses found = {0};
  Search s = {.ctx = ctx, .found = &found};
  search(f->body->args[param], &s);
  for (uint32_t i = 0; i < f->num_params; i++)
    if (f->params[i].kind == PARAM_AUTO_TENSORMAP && f->params[i].base_param == (int)param) search(f->body->args[i], &s);
  return found;
}

static bool acquires(const Op *op) {
  switch (op->opcode) {
    case OP_GRID_DEPENDENCY: return !op_int(op, ATTR_DEPENDENTS, 0);
    case OP_ATOMIC_RMW: case OP_ATOMIC_CAS: return op->results[0].uses != NULL;
    case OP_LOAD: return op_int(op, ATTR_VOLATILE, 0) != 0;
    case OP_INLINE_ASM: return !op_int(op, ATTR_PURE, 0);
    default: return false;
  }
}

bool block_acquires_global(const Block *b) {
  for (const Op *op = b->first; op; op = op->next) {
    if (acquires(op)) return true;
    for (uint32_t i = 0; i < op->num_blocks; i++)
      if (block_acquires_global(op->blocks[i])) return true;
  }
  return false;
}
