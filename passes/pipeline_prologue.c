// Of pipeline_loops: the copies that are issued before the loop. The prologue is placed as early as possible: its
// copies then run during slow ops before the loop: global loads, stores to shared memory, and exchanges between
// threads.
#include "ir/loop.h"
#include "ir/scratch.h"
#include "passes/pipeline_loops.h"

// ---- where ----

static void need(Value *v, const Block *block) {
  if (!v || !v->def || v->def->parent != block) return;
  v->def->mark |= NEEDED;
}

static void need_operands(const Op *op, const Block *block) {
  for (uint32_t i = 0; i < op->num_operands; i++) need(op_operand(op, i), block);
  for (uint32_t k = 0; k < op->num_blocks; k++)
    EACH_OP(o, op->blocks[k]) need_operands(o, block);
}

// The rings may take the place of scratch that is used before them; if the copies come before that, they may not. So
// many bytes, the rows of a tile, are worth it.
enum { MAX_PASSED_SCRATCH = 1024 };

static uint32_t scratch_of(const Pipe *p, const Op *op) {
  uint32_t align;
  return scratch_op_bytes(p->ctx, op, &align);
}

// Whether the prologue may come before the op: not if it writes global memory, waits for other programs or copies, or
// has much scratch.
static bool can_pass(const Pipe *p, const Op *op) {
  switch (op->opcode) {
    case OP_LOAD: return !op_int(op, ATTR_VOLATILE, 0);
    case OP_ALLOC: case OP_LOCAL_STORE: case OP_FENCE_ASYNC: return true;
    default: return op_is(op, TRAIT_PURE) && !op->num_blocks && scratch_of(p, op) <= MAX_PASSED_SCRATCH;
  }
}

static bool is_slow(const Pipe *p, const Op *op) {
  return op->opcode == OP_LOAD || op->opcode == OP_LOCAL_STORE || scratch_of(p, op);
}

static void move_needed(Op *from, const Op *to, Op *before) {
  for (Op *op = from, *next; op != to; op = next) {
    next = op->next;
    if (!(op->mark & NEEDED) || op == before) continue;
    op_unlink(op);
    op_insert_before(op, before);
  }
}

// The earliest place for the prologue, if there is something slow between it and `at`; otherwise `at`.
static Op *above_slow(const Pipe *p, Op *at) {
  Op *highest = at;
  for (Op *op = at->prev; op && can_pass(p, op); op = op->prev) {
    if ((op->mark & NEEDED) && (!op_is(op, TRAIT_PURE) || is_slow(p, op))) break;
    if (op->mark & NEEDED) need_operands(op, at->parent);
    highest = op;
  }
  Op *slow = highest;
  while (slow != at && !is_slow(p, slow)) slow = slow->next;
  return slow;
}

// Returns the op before which the prologue is built, after moving what the prologue needs before that op. `at` is the
// loop, or the peeled dot before it. What the loop needs, for example its bounds, may lie between the two.
static Op *prologue_position(Pipe *p, Op *at) {
  Block *block = at->parent;
  EACH_OP(op, block) op->mark &= ~(uint32_t)NEEDED;
  for (uint32_t i = 0; i < p->loop->num_operands; i++)
    if (i < FOR_INITS || p->carried_in_slice[i - FOR_INITS]) need(op_operand(p->loop, i), block);
  for (uint32_t i = 0; i < p->loop->num_results; i++)
    if (p->carried_in_slice[i]) need(for_next(p->loop, i), block);
  EACH_OP(op, pipe_body(p))
    if (op->mark & IN_SLICE) need_operands(op, block);
  for (uint32_t i = 0; i < p->loads.count; i++) need_operands(p->loads.data[i].load, block);
  for (Op *op = p->loop; op != at; op = op->prev)
    if (op->prev->mark & NEEDED) need_operands(op->prev, block);
  Op *position = above_slow(p, at);
  move_needed(position, p->loop, position);
  return position;
}

// ---- what ----

static RingWrite place_of(Pipe *p, Builder *b, uint32_t slot, Value *iv) {
  RingWrite place = {.slot = build_i32(b, slot)};
  place.short_slot = place.slot;
  place.pred = build_cmp(b, CMP_SLT, iv, p->limit);
  return place;
}

Value *pipe_build_prologue(Pipe *p, Value **carried) {
  Op *loop = p->loop;
  Builder b = builder_before(p->ctx, prologue_position(p, p->front ? p->front : loop));
  Value *lb = for_lower(loop), *ub = for_upper(loop), *step = for_step(loop), *iv = lb;
  const RingWrite nowhere = {0};
  p->limit = p->front ? build_binary(&b, OP_ADDI, ub, step) : ub;
  ring_build(p, &b);
  for (uint32_t i = 0; i < loop->num_results; i++) carried[i] = for_init(loop, i);
  if (p->front) {            // an iteration before the first, for peeled loads only; they depend on nothing carried
    ValueMap *map = ring_slice_inputs(p, build_binary(&b, OP_SUBI, lb, step), carried);
    ring_issue(p, &b, map, nowhere, place_of(p, &b, 0, lb), 0);
  }
  for (uint32_t k = 0; k + 1 < p->stages; k++) {
    ValueMap *map = ring_slice_inputs(p, iv, carried);
    Value *next_iv = build_binary(&b, OP_ADDI, iv, step);
    RingWrite here = place_of(p, &b, k, iv), next = p->front ? place_of(p, &b, k + 1, next_iv) : nowhere;
    ring_issue(p, &b, map, here, next, 0);
    for (uint32_t i = 0; i < loop->num_results; i++)
      if (p->carried_in_slice[i]) carried[i] = value_map_get(map, for_next(loop, i));
    iv = next_iv;
  }
  if (p->front) ring_serve_outside(p, true, build_i32(&b, 0), build_i32(&b, 0));
  return iv;
}
