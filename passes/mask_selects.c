// mask_selects: lets selects of many elements that were loaded late choose by masks of bits instead of predicates.
//
// A thread has seven predicates. Where a condition of more registers was made before threads waited for each other, the
// assembler packs its predicates into words; then it issues each load after the wait only when it has chosen among the
// elements of the load before: one load in flight. A mask of 32 bits for each register of the condition, and one
// bitwise instruction (lop3) for each element, which a select takes as well, leave it free to issue all loads first.
//
//   %m = cmpi …, reduce …, %x = load …, select %m, …, %x     →     …, select %m, …, %x {masks = 1}
//
// Several elements must share a mask, because making one is an instruction, too.
// In, out: LAID_OUT.
#include "passes/pass.h"

enum { PREDICATES = 7, SHARED = 2 };

// What the value repeats along axes.
static const Value *unbroadcast(const Value *v) {
  while (v->def && (v->def->opcode == OP_BROADCAST || v->def->opcode == OP_EXPAND_DIMS)) v = op_operand(v->def, 0);
  return v;
}

// Whether the value is computed, element by element, of a load after position `wait` of the block. Op.mark is the
// position. Looks at `left` ops at most.
static bool is_loaded_after(const Value *v, const Block *b, uint32_t wait, uint32_t *left) {
  const Op *op = v ? v->def : NULL;
  if (!op || op->parent != b || op->mark < wait || !*left) return false;
  --*left;
  if (op->opcode == OP_LOAD) return true;
  if (!op_is(op, TRAIT_ELEMENTWISE)) return false;
  for (uint32_t i = 0; i < op->num_operands; i++)
    if (is_loaded_after(op_operand(op, i), b, wait, left)) return true;
  return false;
}

// The position of the last wait before the op that comes after what makes the value; 0 if there is none.
static uint32_t last_wait(const Value *v, const Op *op) {
  for (const Op *q = op->prev; q && q != v->def; q = q->prev)
    if (op_unit(q) == UNIT_EXCH || q->num_blocks) return q->mark;
  return 0;
}

static bool wants_masks(const Op *op) {
  if (op->opcode != OP_SELECT || !type_is_tensor(op->results[0].type)) return false;
  const Type *t = op->results[0].type;
  const Value *condition = unbroadcast(op_operand(op, 0));
  if (type_elem_bits(t) != 32 || !type_is_tensor(condition->type)) return false;
  const uint32_t masks = layout_regs_per_thread(condition->type->layout);
  if (masks <= PREDICATES || layout_regs_per_thread(t->layout) < SHARED * masks) return false;
  const uint32_t wait = last_wait(condition, op);
  uint32_t left = 64;
  return wait && (is_loaded_after(op_operand(op, 1), op->parent, wait, &left) ||
                  is_loaded_after(op_operand(op, 2), op->parent, wait, &left));
}

static void visit(PassCtx *p, Block *b) {
  uint32_t n = 1;
  EACH_OP(op, b) op->mark = n++;
  EACH_OP(op, b) {
    for (uint32_t i = 0; i < op->num_blocks; i++) visit(p, op->blocks[i]);
    if (wants_masks(op)) op_set_int(p->ctx, op, ATTR_MASKS, 1);
  }
}

void pass_mask_selects(PassCtx *p) {
  EACH_FUNC(f, p->module) visit(p, f->body);
}
