// rotate_dots: in a loop with two dots, the second on what is computed from the first (attention), the first runs one
// iteration ahead, so that the tensor cores work while the registers do the arithmetic between the two.
//   in, out: LAID_OUT, dots on wgmma; before pipeline_loops, which then fetches the first dot's operand an iteration earlier
//
//   for j                                    S = wgmma Q, K(first j)              if there is one
//     S = wgmma Q, K(j)                      for j, S
//     P = f(S)                        →        S' = wgmma Q, K(next j)            in flight
//     O = wgmma (half P), V(j), O              P = f(S)
//                                              S', P = wait S', P
//                                              O = wgmma (half P), V(j), O
//                                              yield O, S'
//
// A conditional on S, such as a mask on the diagonal, comes before S' is begun.
// P goes through the wait with S': the assembler gives up on overlap when registers that a wgmma reads are written while
// another is in flight, so the conversion to its operand must come after. In the last iteration "next j" is j again: the product
// is not used, and no address beyond the last is formed.
#include "passes/tma.h"

typedef struct { Context *ctx; Module *module; bool changed; } Rotate;

enum { IN_FRONT = 1, MAX_REGISTERS = 208 };   // of both S and O in a thread; the rest is for addresses and P

typedef struct {
  Op *loop, *first, *second, *narrow;         // narrow: the conversion that makes second's operand
} Chain;

// Marks what the first dot needs of the body: pure ops of the induction variable, TMA loads, buffers.
static bool mark_front(const Op *loop, Value *v) {
  Block *body = loop->blocks[0];
  if (v->block == body) return v->index == 0;
  if (!v->def || v->def->parent != body) return true;
  Op *op = v->def;
  if (op->mark & IN_FRONT) return true;
  bool fine = (op_info[op->opcode].traits & TRAIT_PURE) || op->opcode == OP_DESC_LOAD || op->opcode == OP_ALLOC || op->opcode == OP_WGMMA;
  if (!fine || op->num_blocks) return false;
  op->mark |= IN_FRONT;
  for (uint32_t i = 0; i < op->num_operands; i++)
    if (op_operand(op, i) && !mark_front(loop, op_operand(op, i))) return false;
  return true;
}

static bool depends_on(const Value *v, const Op *source, int depth) {
  if (!v->def || depth == 0) return false;
  if (v->def == source) return true;
  for (uint32_t i = 0; i < v->def->num_operands; i++)
    if (op_operand(v->def, i) && depends_on(op_operand(v->def, i), source, depth - 1)) return true;
  if (v->def->opcode == OP_IF)
    for (uint32_t i = 0; i < 2; i++)
      if (depends_on(op_operand(v->def->blocks[i]->last, v->index), source, depth - 1)) return true;
  return false;
}

// A loop known to run only a few times gains nothing from running ahead, and pays for the start.
static bool is_short(const Op *loop) {
  Value *lb = op_operand(loop, 0), *ub = op_operand(loop, 1);
  int64_t first, last, step, span;
  if (!value_constant_int(op_operand(loop, 2), &step)) return false;
  if (value_constant_int(lb, &first) && value_constant_int(ub, &last)) return last - first <= 2 * step;
  if (!ub->def || ub->def->opcode != OP_ADDI) return false;
  for (uint32_t i = 0; i < 2; i++)
    if (op_operand(ub->def, i) == lb && value_constant_int(op_operand(ub->def, 1 - i), &span)) return span <= 2 * step;
  return false;
}

static bool find_chain(Rotate *s, Op *loop, Chain *c) {
  Op *dots[2];
  uint32_t n = 0;
  if (is_short(loop)) return false;
  for (Op *op = loop->blocks[0]->first; op; op = op->next) {
    op->mark &= ~(uint32_t)IN_FRONT;
    if (op->opcode != OP_WGMMA) continue;
    if (n == 2) return false;
    dots[n++] = op;
  }
  if (n != 2) return false;
  *c = (Chain){.loop = loop, .first = dots[0], .second = dots[1]};
  Value *a = op_operand(c->second, 0);
  if (a->type->kind != TYPE_TENSOR) return false;
  while (a->def && a->def->opcode == OP_CONVERT_LAYOUT) a = op_operand(a->def, 0);
  if (!a->def || a->def->opcode != OP_FPTRUNC || !depends_on(a, c->first, 48)) return false;
  c->narrow = a->def;
  Value *from = op_operand(c->narrow, 0);
  uint32_t registers = 2 * layout_regs_per_thread(op_result(c->first, 0)->type->layout) + layout_regs_per_thread(op_result(c->second, 0)->type->layout);
  if (registers > MAX_REGISTERS || from->def == c->first || op_operand(c->first, 0)->type->kind != TYPE_BUFFER) return false;
  (void)s;
  // One tile load at least, or there is nothing to fetch early; pointers that the loop advances cannot be had early.
  if (!mark_front(loop, op_result(c->first, 0))) return false;
  for (Op *op = loop->blocks[0]->first; op; op = op->next)
    if ((op->mark & IN_FRONT) && op->opcode == OP_DESC_LOAD) return true;
  return false;
}

// The first dot and what it needs, for one value of the induction variable.
static Value *clone_front(Builder *b, const Chain *c, Value *iv) {
  ValueMap *map = value_map_new(b->ctx);
  value_map_set(b->ctx, map, c->loop->blocks[0]->args[0], iv);
  for (Op *op = c->loop->blocks[0]->first; op; op = op->next) {
    if (!(op->mark & IN_FRONT)) continue;
    Op *copy = op_clone(b->ctx, op, map);
    if (op->opcode == OP_DESC_LOAD) op_set_int(b->ctx, copy, ATTR_AHEAD, 1);
    if (b->before) op_insert_before(copy, b->before);
    else op_append(copy, b->block);
  }
  return value_map_get(map, op_result(c->first, 0));
}

static void rotate(Rotate *s, Chain *c) {
  Context *ctx = s->ctx;
  Op *loop = c->loop;
  Builder b = builder_before(ctx, loop);
  Value *lb = op_operand(loop, 0), *ub = op_operand(loop, 1), *step = op_operand(loop, 2);
  const Type *type = op_result(c->first, 0)->type;
  BuildRegion r = build_if_begin(&b, build_cmp(&b, CMP_SLT, lb, ub), &type, 1);
  Value *start = clone_front(&b, c, lb);
  build_if_else(&b, &r, &start);
  Value *zero = build_float(&b, type, 0);
  start = op_result(build_if_end(&b, r, &zero), 0);

  // The loop with one more carried value.
  uint32_t n = loop->num_results;
  const Type **types = arena_array(&ctx->arena, const Type *, n + 1);
  Value **operands = arena_array(&ctx->arena, Value *, n + 4);
  for (uint32_t i = 0; i < n; i++) types[i] = op_result(loop, i)->type;
  types[n] = type;
  for (uint32_t i = 0; i < n + 3; i++) operands[i] = op_operand(loop, i);
  operands[n + 3] = start;
  Op *made = op_rebuild(ctx, loop, types, n + 1, operands, n + 4);
  for (uint32_t i = 0; i < n; i++) value_replace_all_uses(op_result(loop, i), op_result(made, i));
  op_erase(loop);
  c->loop = made;
  Block *body = made->blocks[0];
  Value *now = block_add_arg(ctx, body, type);

  // The assembler waits for what is in flight where branches join, so the product starts behind the last of them.
  Op *behind = body->first;
  for (Op *op = behind; op != c->narrow; op = op->next)
    if (op->opcode == OP_IF) behind = op->next;
  Builder top = builder_before(ctx, behind);
  Value *iv = body->args[0], *plus = build_binary(&top, OP_ADDI, iv, step);
  Value *next = build_ternary(&top, OP_SELECT, build_cmp(&top, CMP_SLT, plus, ub), plus, iv);
  Value *ahead = clone_front(&top, c, next);
  op_set_int(ctx, ahead->def, ATTR_ASYNC, 1);
  value_replace_all_uses(op_result(c->first, 0), now);

  Builder at = builder_before(ctx, c->narrow);
  Value *through[2] = {ahead, op_operand(c->narrow, 0)};
  Op *wait = build_op(&at, OP_WGMMA_WAIT, through, 2);
  op_set_int(ctx, wait, ATTR_COUNT, 0);
  op_set_operand(c->narrow, 0, op_result(wait, 1));
  op_append_operand(ctx, body->last, op_result(wait, 0));
  // What only the first dot needed of this iteration has had its use one iteration ago.
  for (Op *op = body->last, *before; op; op = before) {
    before = op->prev;
    bool dead = (op->mark & IN_FRONT) != 0;
    for (uint32_t i = 0; i < op->num_results; i++) dead &= op_result(op, i)->uses == NULL;
    if (dead) op_erase(op);
  }
  s->changed = true;
}

static void visit_block(Rotate *s, Block *blk) {
  for (Op *op = blk->first, *next; op; op = next) {
    next = op->next;
    for (uint32_t i = 0; i < op->num_blocks; i++) visit_block(s, op->blocks[i]);
    Chain c;
    if (op->opcode == OP_FOR && find_chain(s, op, &c)) rotate(s, &c);
  }
}

bool pass_rotate_dots(PassCtx *p) {
  Rotate s = {.ctx = p->ctx, .module = p->module};
  for (Func *f = p->module->funcs; f; f = f->next) visit_block(&s, f->body);
  return s.changed;
}
