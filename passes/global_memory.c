#include "passes/global_memory.h"

#include "ir/loop.h"
#include "ir/map.h"
#include "passes/ties.h"

static const Value *origin(const Value *v);

static const Value *base_of(const Value *v) {
  while (v->def && (op_is(v->def, TRAIT_BASE) || (op_is(v->def, TRAIT_MOVES) && v->def->num_operands == 1)))
    v = op_operand(v->def, 0);
  return v;
}

// What a loop carries and only advances is derived from its first value; NULL if it carries something else.
static const Value *carried_origin(const Op *loop, uint32_t i) {
  return base_of(for_next(loop, i)) == for_carried(loop, i) ? origin(for_init(loop, i)) : NULL;
}

// What a pointer or descriptor is derived from by additions, moves and control flow: a parameter, or what makes it
// otherwise.
static const Value *origin(const Value *v) {
  v = base_of(v);
  const Op *op = v->def;
  const Value *from = NULL;
  uint32_t i = v->index;
  const Op *loop = op && op->opcode == OP_FOR ? op : op ? NULL : for_carrying(v, &i);
  if (loop) {
    from = carried_origin(loop, i);
  } else if (op && op->opcode == OP_IF) {
    from = base_of(op_operand(op->blocks[0]->last, v->index));
    from = from == base_of(op_operand(op->blocks[1]->last, v->index)) ? origin(from) : NULL;
  }
  return from ? from : v;
}

const Value *global_root(const Value *v) {
  v = origin(v);
  if (v->def || v->block->parent) return NULL;
  const FuncParam *p = &v->block->func->params[v->index];
  return p->kind == PARAM_AUTO_TENSORMAP ? v->block->args[p->base_param] : v;
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

static bool writes_to(const Op *op, const Value *root) {
  if (!op_is(op, TRAIT_WRITES) || (op_unit(op) != UNIT_GMEM && op_unit(op) != UNIT_DESC)) return false;
  const Value *written = global_root(op_operand(op, 0));
  return !root || !written || root == written;
}

typedef struct { bool written; uint32_t mark; } Unknown;

static void find_write(Op *op, void *user) { ((Unknown *)user)->written |= writes_to(op, NULL); }

static void mark_unknown_read(Op *op, void *user) {
  const bool reads = op_is(op, TRAIT_READS) && (op_unit(op) == UNIT_GMEM || op_unit(op) == UNIT_DESC);
  if (reads && !global_root(op_operand(op, 0))) op->mark |= ((const Unknown *)user)->mark;
}

static void find_barrier(Op *op, void *user) { *(bool *)user |= op->opcode == OP_BARRIER; }

void global_mark_written(Context *ctx, Block *b, uint32_t mark) {
  Func *f = b->func;
  bool meets = false;
  block_walk(b, find_barrier, &meets);
  if (meets) b = f->body;
  Unknown unknown = {.mark = mark};
  block_walk(b, find_write, &unknown);
  if (unknown.written) block_walk(b, mark_unknown_read, &unknown);
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

// `root` is NULL for any array, and `writes` says whether writes count.
static bool must_follow(const Op *op, const Value *root, bool writes) {
  if (op->opcode == OP_BARRIER || op->opcode == OP_GRID_DEPENDENCY || op_is_atomic(op)) return true;
  if (op->opcode == OP_INLINE_ASM && !op_int(op, ATTR_PURE, 0)) return true;
  if (writes && writes_to(op, root)) return true;
  for (uint32_t i = 0; i < op->num_blocks; i++)
    EACH_OP(inner, op->blocks[i])
      if (must_follow(inner, root, writes)) return true;
  return false;
}

bool global_must_follow(const Op *op, const Value *root) { return must_follow(op, root, true); }
bool global_is_released(const Op *op) { return must_follow(op, NULL, false); }
