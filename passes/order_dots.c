// order_dots: a tile that several dots take stays in shared memory from the first of them to the last. A dot of other
// tiles that comes between them, but needs nothing of the first, comes before it instead: its tiles and the one that
// stays then take the same place. (In attention's backward pass, k has the first dot and the third, v the second.)
//
//   %s = dot %q, %k                      %p = dot %do, %v
//   %p = dot %do, %v             →       %s = dot %q, %k
//   %d = dot (… %s, %p), %k              %d = dot (… %s, %p), %k
//
// Only dots by mma move, of tiles that no pipeline will copy ahead, in a block whose tiles do not leave an SM as many
// programs as registers do.
// In, out: TILE.
#include "passes/access.h"
#include "passes/dot_unit.h"
#include "passes/pass.h"

typedef VEC(Op *) Ops;
typedef struct {
  Context *ctx;
  Module *module;
  Ops moved;                 // what the later dot needs and itself
} Order;

static bool takes(const Op *dot, const Value *tile) {
  return dot_stored_tile(op_operand(dot, 0)) == tile || dot_stored_tile(op_operand(dot, 1)) == tile;
}

static bool is_taken_after(const Op *dot, const Value *tile) {
  for (const Op *op = dot->next; op; op = op->next)
    if (op->opcode == OP_DOT && takes(op, tile)) return true;
  return false;
}

static bool is_mma(const Module *m, const Op *op) {
  uint32_t bits;
  return op->opcode == OP_DOT && dot_unit(m, op, &bits) == DOT_MMA;
}

// Gathers the ops after `first` that op needs, in order. False if one of them is `first`, or must stay where it is.
static bool gather(Order *o, Op *op, const Op *first) {
  for (uint32_t i = 0; i < op->num_operands; i++) {
    Op *def = op_operand(op, i) ? op_operand(op, i)->def : NULL;
    if (!def || def->parent != op->parent || def->mark < first->mark) continue;
    bool known = false;
    VEC_EACH(x, o->moved) known |= *x == def;
    if (known) continue;
    if (def == first || !op_is(def, TRAIT_PURE) || def->num_blocks || !gather(o, def, first)) return false;
  }
  vec_push(&o->ctx->arena, &o->moved, op);
  return true;
}

// Whether a dot after `second` takes a tile of this one, too, that the block stores.
static bool keeps_tile(const Op *dot, const Op *second) {
  for (uint32_t i = 0; i < 2; i++) {
    const Value *tile = dot_stored_tile(op_operand(dot, i));
    if (value_block(tile) == dot->parent && is_taken_after(second, tile)) return true;
  }
  return false;
}

static bool is_copied_ahead(const Op *dot) {
  for (uint32_t i = 0; i < 2; i++) {
    const Value *tile = dot_stored_tile(op_operand(dot, i));
    if (tile->def && access_is_copied(tile->def)) return true;
  }
  return false;
}

// Whether `second` went before `first`.
static bool exchange(Order *o, Op *first, Op *second) {
  if (!keeps_tile(first, second) || keeps_tile(second, second) || is_copied_ahead(first) || is_copied_ahead(second))
    return false;
  o->moved.count = 0;
  if (!gather(o, second, first)) return false;
  VEC_EACH(x, o->moved) op_move_before(*x, first);
  return true;
}

static void visit_block(Order *o, Block *b) {
  uint32_t n = 0;
  Ops dots = {0};
  EACH_OP(op, b) {
    op->mark = ++n;
    if (is_mma(o->module, op)) vec_push(&o->ctx->arena, &dots, op);
    for (uint32_t i = 0; i < op->num_blocks; i++) visit_block(o, op->blocks[i]);
  }
  if (dots.count < 3 || dot_operands_fit(o->module, b)) return;
  for (uint32_t i = 0; i + 2 < dots.count; i++)
    if (exchange(o, dots.data[i], dots.data[i + 1])) dots.data[i + 1] = dots.data[i];
}

void pass_order_dots(PassCtx *p) {
  Order o = {.ctx = p->ctx, .module = p->module};
  EACH_FUNC(f, p->module) visit_block(&o, f->body);
}
