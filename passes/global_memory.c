#include "passes/global_memory.h"

#include "ir/loop.h"
#include "ir/map.h"
#include "passes/ties.h"

const Value *global_root(const Value *v) {
  while (v->def && (op_is(v->def, TRAIT_BASE) || (op_is(v->def, TRAIT_MOVES) && v->def->num_operands == 1)))
    v = op_operand(v->def, 0);
  uint32_t carried;
  const Op *loop = for_carrying(v, &carried);
  if (loop) return global_root(for_init(loop, carried));     // a base that the loop advances
  return v->def || v->block->parent ? NULL : v;
}

typedef struct { Context *ctx; GlobalUses *found; Map seen; } Search;

static void search(Value *v, void *user) {
  Search *s = user;
  if (!v || (v->type->kind != TYPE_DESC && type_elem(v->type)->kind != TYPE_PTR)) return;
  if (map_get(&s->seen, v)) return;
  map_at(&s->ctx->arena, &s->seen, v);
  EACH_USE(u, v) {
    Op *op = u->user;
    if (op_unit(op) == UNIT_GMEM || op_unit(op) == UNIT_DESC || op_is_tma_copy(op)) {
      if (u->index > 0) continue;
      if (op_is(op, TRAIT_WRITES) && op->opcode != OP_TMA_LOAD) vec_push(&s->ctx->arena, &s->found->writes, op);
      else vec_push(&s->ctx->arena, &s->found->reads, op);
    } else if (!op_is(op, TRAIT_CARRIES)) {
      for (uint32_t i = 0; i < op->num_results; i++) search(op_result(op, i), s);
    }
  }
  ties_visit(v, search, s);
}

GlobalUses global_uses_of(Context *ctx, Func *f, uint32_t param) {
  GlobalUses found = {0};
  Search s = {.ctx = ctx, .found = &found};
  search(f->body->args[param], &s);
  for (uint32_t i = 0; i < f->num_params; i++)
    if (f->params[i].kind == PARAM_AUTO_TENSORMAP && f->params[i].base_param == (int)param)
      search(f->body->args[i], &s);
  return found;
}

void global_mark_written(Context *ctx, const Block *b, uint32_t mark) {
  Func *f = b->func;
  for (uint32_t i = 0; i < f->num_params; i++) {
    if (f->params[i].kind == PARAM_AUTO_TENSORMAP) continue;   // with its base
    GlobalUses uses = global_uses_of(ctx, f, i);
    bool written = false;
    VEC_EACH(x, uses.writes)
      written |= block_encloses(b, (*x)->parent);
    for (uint32_t k = 0; written && k < uses.reads.count; k++) uses.reads.data[k]->mark |= mark;
  }
}

static bool acquires(const Op *op) {
  switch (op->opcode) {
    case OP_GRID_DEPENDENCY: return !op_int(op, ATTR_DEPENDENTS, 0);
    case OP_LOAD: return op_int(op, ATTR_VOLATILE, 0) != 0;
    case OP_INLINE_ASM: return !op_int(op, ATTR_PURE, 0);
    default: return op_is_atomic(op) && op->results[0].uses;
  }
}

bool global_is_acquired(const Block *b) {
  EACH_OP(op, b) {
    if (acquires(op)) return true;
    for (uint32_t i = 0; i < op->num_blocks; i++)
      if (global_is_acquired(op->blocks[i])) return true;
  }
  return false;
}
