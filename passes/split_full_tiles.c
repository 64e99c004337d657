// split_full_tiles: loads whose mask is a plain bound get a branch without it, taken by every tile that the bound does not cut.
//   in, out: LAID_OUT, vector widths annotated
//
//   %m = cmpi (start + range), n {slt}          %full = start + N − 1 < n
//   %x = load %p, %o, %m                →       %x, %y = if %full { load %p, %o ; load %q, %o }
//   %y = load %q, %o, %m                                 else     { load %p, %o, %m ; load %q, %o, %m }
//
// Predicated loads cost more than their predicate: the assembler waits for some before it issues others. In a branch of their
// own all are in flight before the first use. Loads of a block that can stand together share a branch; it pays where a thread
// has several accesses.
#include "passes/affine.h"

typedef struct { Context *ctx; bool changed; } Split;

// How many machine accesses a thread makes before a branch for them pays.
enum { MIN_ACCESSES = 2, MAX_LOADS = 16 };

static uint32_t num_accesses(const Op *load) {
  const Type *t = load->results[0].type;
  return layout_regs_per_thread(t->layout) / (uint32_t)max_i64(1, op_int(load, ATTR_VECTOR, 1));
}

// An i1 that holds when every element of the mask does: one comparison per conjunct. NULL where the mask is no plain bound.
// With b NULL only answers whether there is one (any non-NULL value).
static bool bound_of(Value *mask, Builder *b, Value **all) {
  while (mask->def && (mask->def->opcode == OP_BROADCAST || mask->def->opcode == OP_EXPAND_DIMS || mask->def->opcode == OP_CONVERT_LAYOUT ||
                       mask->def->opcode == OP_SPLAT))
    mask = op_operand(mask->def, 0);
  if (!type_is_tensor(mask->type)) {
    if (b) *all = *all ? build_binary(b, OP_ANDI, *all, mask) : mask;
    return true;
  }
  if (!mask->def) return false;
  Op *op = mask->def;
  if (op->opcode == OP_ANDI) return bound_of(op_operand(op, 0), b, all) && bound_of(op_operand(op, 1), b, all);
  if (op->opcode != OP_CMPI || op_int(op, ATTR_PRED, CMP_EQ) != CMP_SLT) return false;
  // last = lhs − rhs at the tile's last element must be below 0: positive steps along the axes only.
  Affine last, rhs;
  const Type *t = op_operand(op, 0)->type;
  if (!type_is_scalar(type_elem(t), SC_I32)) return false;
  if (!affine_of(op_operand(op, 0), &last) || !affine_of(op_operand(op, 1), &rhs) || !affine_add(&last, &rhs, -1)) return false;
  Affine scalar = {0};
  for (uint32_t i = 0; i < last.num_terms; i++) {
    AffineTerm term = last.terms[i];
    if (term.wrap_modulus) return false;
    if (term.axis != AFFINE_NO_AXIS) {
      if (term.num_scalars || term.coef < 0) return false;
      term.coef *= t->shape[term.axis] - 1;
      term.axis = AFFINE_NO_AXIS;
    }
    Affine one = {.num_terms = term.coef != 0, .terms = {term}};
    if (!affine_add(&scalar, &one, 1)) return false;
  }
  if (b) {
    Value *inside = build_cmp(b, CMP_SLT, affine_build(b, &scalar), build_i32(b, 0));
    *all = *all ? build_binary(b, OP_ANDI, *all, inside) : inside;
  }
  return true;
}

static bool eligible(const Op *op) {
  if (op->opcode != OP_LOAD || !type_is_tensor(op->results[0].type)) return false;
  Value *mask = op_operand(op, 2);
  return mask && type_is_tensor(mask->type) && !op_int(op, ATTR_VOLATILE, 0) && bound_of(mask, NULL, NULL);
}

static bool depends_on(const Op *op, Op *const *group, uint32_t n) {
  for (uint32_t i = 0; i < op->num_operands; i++)
    for (uint32_t k = 0; k < n; k++)
      if (op_operand(op, i) && op_operand(op, i)->def == group[k]) return true;
  return false;
}

// The loads from `first` on that can be issued with it. What stands between and does not need them moves in front.
static uint32_t gather_group(Op *first, Op **group) {
  uint32_t n = 0;
  group[n++] = first;
  Op *held[64];
  uint32_t num_held = 0;      // ops that need the group: they and what needs them stay behind it
  for (Op *op = first->next, *next; op && n < MAX_LOADS; op = next) {
    next = op->next;
    if (depends_on(op, group, n) || depends_on(op, held, num_held)) {
      if (!(op_info[op->opcode].traits & TRAIT_PURE) || num_held == countof(held)) break;
      held[num_held++] = op;
      continue;
    }
    if (eligible(op) && op_operand(op, 2) == op_operand(first, 2)) {
      group[n++] = op;
    } else if ((op_info[op->opcode].traits & TRAIT_PURE) && op->num_blocks == 0) {
      op_move_before(op, first);
    } else {
      break;
    }
  }
  return n;
}

static Op *copy_load(Builder *b, const Op *load, bool masked) {
  Value *args[4] = {op_operand(load, 0), op_operand(load, 1), masked ? op_operand(load, 2) : NULL, masked ? op_operand(load, 3) : NULL};
  Op *copy = build_op_typed(b, OP_LOAD, &load->results[0].type, 1, args, 4);
  op_copy_attrs(b->ctx, copy, load);
  copy->span = load->span;
  return copy;
}

static Op *split(Split *s, Op *first) {
  Op *group[MAX_LOADS];
  uint32_t n = gather_group(first, group), accesses = 0;
  for (uint32_t i = 0; i < n; i++) accesses += num_accesses(group[i]);
  if (accesses < MIN_ACCESSES) return first;
  Builder b = builder_before(s->ctx, first);
  Value *full = NULL, *values[MAX_LOADS];
  const Type *types[MAX_LOADS];
  bound_of(op_operand(first, 2), &b, &full);
  for (uint32_t i = 0; i < n; i++) types[i] = group[i]->results[0].type;
  BuildRegion r = build_if_begin(&b, full, types, n);
  for (uint32_t i = 0; i < n; i++) values[i] = op_result(copy_load(&b, group[i], false), 0);
  build_if_else(&b, &r, values);
  for (uint32_t i = 0; i < n; i++) values[i] = op_result(copy_load(&b, group[i], true), 0);
  Op *branch = build_if_end(&b, r, values);
  for (uint32_t i = 0; i < n; i++) {
    op_result(branch, i)->name = op_result(group[i], 0)->name;
    value_replace_all_uses(op_result(group[i], 0), op_result(branch, i));
    op_erase(group[i]);
  }
  s->changed = true;
  return branch;
}

static void visit_block(Split *s, Block *blk) {
  for (Op *op = blk->first; op; op = op->next) {
    for (uint32_t i = 0; i < op->num_blocks; i++) visit_block(s, op->blocks[i]);
    if (eligible(op)) op = split(s, op);
  }
}

bool pass_split_full_tiles(PassCtx *p) {
  Split s = {.ctx = p->ctx};
  for (Func *f = p->module->funcs; f; f = f->next) visit_block(&s, f->body);
  return s.changed;
}
