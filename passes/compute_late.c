// compute_late: a value that is first used after threads exchange data, or after a loop, is computed right before that
// use where this holds fewer registers until then:
//   - a conversion to a wider type, since the narrower numbers wait instead;
//   - after a loop also indices, masks and the like, whose operands take fewer registers or are needed there anyway.
//
//   %w = fpext %n        …, reduce, …, mulf %x, %w        →        …, reduce, …, %w = fpext %n, mulf %x, %w
//
// ptxas moves conversions as well, but only after it has chosen the kernel's register count; it does not move over a
// loop. Only within a block.
// In, out: LAID_OUT.
#include "passes/pass.h"
#include "passes/pressure.h"

enum {
  MAX_DEPTH = 6,             // ops that are looked through for what a value is computed from
  MAX_USES = 32,             // a value with more counts as one that nobody needs late
};

// By position in a block: how many ops before it exchange data or have blocks, and how many of these loop.
typedef struct { uint32_t waits, loops; } Passed;

// Numbers of one bit are predicates, which nothing is gained by holding.
static bool widens(const Op *op) {
  if (op->num_operands != 1 || !op_is(op, TRAIT_ELEMENTWISE)) return false;
  const Type *from = op_operand(op, 0)->type, *to = op->results[0].type;
  return type_elem_bits(from) > 1 && type_elem_bits(from) < type_elem_bits(to);
}

static bool can_move(const Op *op) {
  return op->num_results == 1 && !op->num_blocks && op_is(op, TRAIT_PURE) &&
         op_is(op, TRAIT_ELEMENTWISE | TRAIT_MOVES | TRAIT_FREE) && op_unit(op) != UNIT_EXCH;
}

// The op of block b that contains op, or op itself.
static Op *in_block(const Block *b, Op *op) {
  while (op && op->parent != b) op = op->parent->parent;
  return op;
}

// The first op of block b in which v is used. Op.mark is the position; an op that has moved has that of its user.
static Op *first_user(const Block *b, const Value *v) {
  Op *first = NULL;
  EACH_USE(u, v) {
    Op *op = in_block(b, u->user);
    if (!first || op->mark < first->mark) first = op;
  }
  while (first->prev && first->prev->mark == first->mark) first = first->prev;
  return first;
}

// Registers of a thread that hold v.
static uint32_t words(const Value *v) {
  const bool is_mask = type_is_tensor(v->type) && type_elem_bits(v->type) == 1;
  return is_mask ? layout_regs_per_thread(v->type->layout) : pressure_type_words(v->type);
}

static bool is_used_from(const Block *b, const Value *v, uint32_t at) {
  uint32_t n = 0;
  EACH_USE(u, v) {
    const Op *op = in_block(b, u->user);
    if (op && op->mark >= at) return true;
    if (++n == MAX_USES) return false;
  }
  return false;
}

static bool is_argument(const Block *b, const Value *v) {
  for (uint32_t i = 0; i < b->num_args; i++)
    if (b->args[i] == v) return true;
  return false;
}

// The registers that computing v at position `at` of block b adds to those that are live up to there in any case.
// Parameters take none, and a loop holds what it uses from outside.
static uint32_t held_for(const Block *b, const Value *v, uint32_t at, uint32_t depth) {
  const Op *op = v->def;
  const bool argument = !op && is_argument(b, v);
  if (argument && !b->parent) return 0;
  if (!argument && (!op || op->parent != b)) return op_is(b->parent, TRAIT_LOOP) ? 0 : words(v);
  if (is_used_from(b, v, at)) return 0;
  if (argument || !can_move(op) || depth == MAX_DEPTH) return words(v);
  uint32_t n = 0;
  for (uint32_t i = 0; i < op->num_operands; i++)
    if (op_operand(op, i)) n += held_for(b, op_operand(op, i), at, depth + 1);
  return (uint32_t)min_i64(n, words(v));
}

static bool holds_fewer(const Block *b, const Op *op, uint32_t at) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < op->num_operands; i++)
    if (op_operand(op, i)) n += held_for(b, op_operand(op, i), at, 0);
  return n < words(&op->results[0]);
}

// Returns whether the block has a loop.
static bool visit(Context *ctx, Block *b) {
  uint32_t n = 0;
  EACH_OP(op, b) n++;
  Passed *passed = arena_array(&ctx->arena, Passed, n + 1);
  n = 0;
  EACH_OP(op, b) {
    bool loops = op_is(op, TRAIT_LOOP);
    for (uint32_t i = 0; i < op->num_blocks; i++) loops |= visit(ctx, op->blocks[i]);
    passed[n + 1] = (Passed){passed[n].waits + (op_unit(op) == UNIT_EXCH || op->num_blocks), passed[n].loops + loops};
    op->mark = n++;
  }
  for (Op *op = b->last, *before; op; op = before) {
    before = op->prev;
    if (!can_move(op) || !type_is_tensor(op->results[0].type) || !op->results[0].uses) continue;
    Op *user = first_user(b, &op->results[0]);
    const Passed *from = &passed[op->mark + 1], *to = &passed[user->mark];
    const bool late = widens(op) ? to->waits > from->waits
                                 : to->loops > from->loops && holds_fewer(b, op, user->mark);
    if (!late) continue;
    op_move_before(op, user);
    op->mark = user->mark;
  }
  return passed[n].loops > 0;
}

void pass_compute_late(PassCtx *p) {
  EACH_FUNC(f, p->module) visit(p->ctx, f->body);
}
