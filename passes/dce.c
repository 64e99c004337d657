// dce: removes what nothing uses: pure ops and loads without a live user, and carried variables that feed only
// themselves. A value is live if an op with an effect needs it, directly or through live values. A loop or an if is
// live if something in it has an effect or a result is live; it carries only what is live. A `while` whose condition
// cannot change is live, too: the program hangs there.
// In, out: TILE or LAID_OUT.
#include "ir/loop.h"
#include "passes/pass.h"

typedef struct {
  Context *ctx;
  VEC(Value *) work;
} Dce;

static bool is_live(const Value *v) { return v->aux != NULL; }

static void mark_op(Dce *d, Op *op);

static void mark_value(Dce *d, Value *v) {
  if (!v || v->aux) return;
  v->aux = v;
  vec_push(&d->ctx->arena, &d->work, v);
}

// The op must stay. What it always needs and the ops around it must stay, too. Carried values are marked one by one.
static void mark_op(Dce *d, Op *op) {
  if (op->mark) return;
  op->mark = 1;
  uint32_t needed = op->opcode == OP_FOR ? 3 : op->opcode == OP_WHILE ? 0 : op->num_operands;
  bool is_back_edge = op->opcode == OP_YIELD && op->parent->parent &&
                      op_is(op->parent->parent, TRAIT_CARRIES);
  if (is_back_edge) needed = 0;
  if (op->opcode == OP_CONDITION) needed = 1;
  for (uint32_t i = 0; i < needed; i++) mark_value(d, op_operand(op, i));
  for (uint32_t b = 0; b < op->num_blocks; b++) {
    Op *t = block_terminator(op->blocks[b]);
    if (t) mark_op(d, t);
  }
  if (op->parent->parent) mark_op(d, op->parent->parent);
}

// The other ops with blocks hold functions of their arguments (a combine function), which live with the op.
static bool is_carrier(const Op *op) { return op_is(op, TRAIT_CARRIES); }

static void mark_carried(Dce *d, Value *v) {
  Op *op = v->def ? v->def : v->block->parent;
  uint32_t i = v->index;
  if (!op) return;
  switch (op->opcode) {
    case OP_FOR: {
      uint32_t k = v->def ? i : i - FOR_CARRIED;
      if (v == for_iv(op)) return;
      mark_value(d, for_init(op, k));
      mark_value(d, for_carried(op, k));
      mark_value(d, for_next(op, k));
      return;
    }
    case OP_IF:
      for (uint32_t b = 0; b < 2; b++) mark_value(d, op_operand(block_terminator(op->blocks[b]), i));
      return;
    case OP_ROLES: mark_value(d, op_operand(block_terminator(op->blocks[0]), i)); return;
    case OP_WHILE:
      if (v->def || v->block == op->blocks[1]) {
        mark_value(d, op_operand(block_terminator(op->blocks[0]), i + 1));
        mark_value(d, op->blocks[1]->args[i]);
      } else {
        mark_value(d, op_operand(op, i));
        mark_value(d, op_operand(block_terminator(op->blocks[1]), i));
      }
      return;
    default: return;
  }
}

// Whether an iteration may change the value, which the condition of a `while` reads.
static bool may_change(const Op *loop, const Value *v) {
  const Block *before = loop->blocks[0], *after = loop->blocks[1];
  if (v->block == before) {   // unchanged if it goes through the body as it is
    const Value *next = op_operand(block_terminator(after), v->index);
    return next->block != after || op_operand(block_terminator(before), next->index + 1) != v;
  }
  if (!v->def || v->def->parent != before) return false;
  if (v->def->num_blocks || !op_is(v->def, TRAIT_PURE)) return true;
  for (uint32_t i = 0; i < v->def->num_operands; i++)
    if (op_operand(v->def, i) && may_change(loop, op_operand(v->def, i))) return true;
  return false;
}

static bool has_effect(const Op *op) {
  if (op->opcode == OP_WHILE) return !may_change(op, op_operand(block_terminator(op->blocks[0]), 0));
  if (op->opcode == OP_INLINE_ASM) return !op_int(op, ATTR_PURE, 0);
  if (op->opcode == OP_ALLOC) return false;
  if (op_is(op, TRAIT_WRITES | TRAIT_SYNC)) return true;
  return op_int(op, ATTR_VOLATILE, 0) != 0;
}

static void mark_roots(Op *op, void *user) {
  Dce *d = user;
  Op *parent = op->parent->parent;
  if (has_effect(op) || (!parent && op_is(op, TRAIT_TERMINATOR))) mark_op(d, op);
}

static void drop_results(Dce *d, Op *op, uint32_t first_operand) {
  uint32_t n = 0;
  const Type **types = arena_array(&d->ctx->arena, const Type *, op->num_results + 1);
  uint32_t *kept = arena_array(&d->ctx->arena, uint32_t, op->num_results + 1);
  for (uint32_t i = 0; i < op->num_results; i++) {
    bool keep = is_live(&op->results[i]);
    if (op->opcode == OP_FOR) keep |= is_live(for_carried(op, i));
    if (op->opcode == OP_WHILE) keep |= is_live(op->blocks[1]->args[i]);
    if (!keep) continue;
    types[n] = op->results[i].type;
    kept[n++] = i;
  }
  if (n == op->num_results) return;
  Value **operands = arena_array(&d->ctx->arena, Value *, op->num_operands + 1);
  uint32_t num = 0;
  for (uint32_t i = 0; i < first_operand; i++) operands[num++] = op_operand(op, i);
  if (op->opcode == OP_FOR)
    for (uint32_t k = 0; k < n; k++) operands[num++] = for_init(op, kept[k]);
  Op *made = op_rebuild(d->ctx, op, types, n, operands, num);
  made->mark = op->mark;
  for (uint32_t i = op->num_results, k = n; i-- > 0;) {
    if (k > 0 && kept[k - 1] == i) {
      k--;
      made->results[k].aux = op->results[i].aux;
      made->results[k].name = op->results[i].name;
      value_replace_all_uses(&op->results[i], &made->results[k]);
      continue;
    }
    for (uint32_t b = 0; b < made->num_blocks; b++) {
      Op *t = block_terminator(made->blocks[b]);
      if ((op->opcode == OP_WHILE || op->opcode == OP_ROLES) && b > 0) continue;
      op_remove_operand(t, i + (op->opcode == OP_WHILE));
    }
  }
  op_erase(op);
}

// Once the dead ops are gone, removes the block arguments of dropped carried variables. They have no uses left.
static void drop_args(Op *op, uint32_t block, uint32_t shift) {
  Block *b = op->blocks[block];
  for (uint32_t i = b->num_args; i-- > shift;) {
    if (is_live(b->args[i])) continue;
    block_remove_arg(b, i);
    if (op->opcode == OP_WHILE && block == 0) {
      op_remove_operand(op, i);
      op_remove_operand(block_terminator(op->blocks[1]), i);
    }
  }
}

static void sweep_block(Dce *d, Block *b) {
  for (Op *op = b->last, *prev; op; op = prev) {
    prev = op->prev;
    bool live = op->mark;
    for (uint32_t i = 0; i < op->num_results; i++) live |= is_live(&op->results[i]);
    if (!live) {
      // Its users are dead, too: those later in the block are gone already, those in its own blocks go with it.
      op_erase(op);
      continue;
    }
    if (!is_carrier(op)) continue;
    drop_results(d, op, op->opcode == OP_FOR ? FOR_INITS : op->opcode == OP_IF ? 1 : op->num_operands);
    // drop_results put the new op in the old one's place.
    Op *now = prev ? prev->next : b->first;
    for (uint32_t k = 0; k < now->num_blocks; k++) {
      sweep_block(d, now->blocks[k]);
      // A while's first block comes before its second: dropping an argument also drops what the second block yields to
      // it.
      if (op_is(now, TRAIT_LOOP)) drop_args(now, k, now->opcode == OP_FOR ? FOR_CARRIED : 0);
    }
  }
}

void pass_dce(PassCtx *p) {
  Dce d = {.ctx = p->ctx};
  module_clear_scratch(p->module);
  module_walk(p->module, mark_roots, &d);
  while (d.work.count) {
    Value *v = d.work.data[--d.work.count];
    Op *op = v->def ? v->def : v->block->parent;
    if (!op) continue;
    mark_op(&d, op);
    if (is_carrier(op)) mark_carried(&d, v);
  }
  EACH_FUNC(f, p->module) sweep_block(&d, f->body);
}
