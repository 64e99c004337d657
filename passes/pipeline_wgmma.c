// Of pipeline_loops: wgmmas that stay in flight, into the next iteration or while copies are issued, and the waits
// that they need.
#include "ir/loop.h"
#include "passes/buffer.h"
#include "passes/pipeline_loops.h"
#include "passes/pressure.h"

static bool operand_is_staged(const Pipe *p, const Value *buf) {
  while (buf->def && buffer_is_view(buf->def)) buf = op_operand(buf->def, 0);
  if (buf->type->kind != TYPE_BUFFER) return false;
  if (value_defined_outside(buf, p->loop)) return true;
  VEC_EACH(a, p->loads)
    if (a->alloc == buf->def) return true;
  return false;
}

// Carrying packed halves would unpack them, which reads them.
static bool is_packed(const Op *wgmma) { return type_is_scalar(type_elem(wgmma->results[0].type), SC_F16); }

// Whether an op of the body is `last` or one before it.
static bool is_not_after(const Op *op, const Op *last) {
  while (op && op != last) op = op->next;
  return op != NULL;
}

// The conditional of the body that gives the next iteration either r or, where a tile is finished, a fresh accumulator;
// NULL if the iteration yields r itself. *ok: it is one of both.
static Op *chooses_next(const Block *body, const Value *r, uint32_t carried, bool *ok) {
  const Value *next = op_operand(body->last, carried);
  Op *def = next->def;
  *ok = next == r;
  if (*ok || !def || def->opcode != OP_IF || def->parent != body || !value_has_one_use(next)) return NULL;
  for (uint32_t k = 0; k < 2; k++) *ok |= op_operand(def->blocks[k]->last, next->index) == r;
  return *ok ? def : NULL;
}

// The accumulator stays in flight if nothing in the iteration except nested conditionals reads it. `from_registers`:
// the first operand may be a tensor, which nothing writes before another wgmma of the next iteration has been waited
// for.
static bool can_overlap(const Pipe *p, Op *wgmma, bool from_registers) {
  Value *r = op_result(wgmma, 0), *a = op_operand(wgmma, 0), *c = op_operand(wgmma, DOT_ACC);
  Block *body = pipe_body(p);
  if (is_packed(wgmma) || wgmma->parent != body) return false;
  if (!(from_registers && a->type->kind == TYPE_TENSOR) && !operand_is_staged(p, a)) return false;
  if (!operand_is_staged(p, op_operand(wgmma, 1))) return false;
  bool ok;
  uint32_t carried;
  if (for_carrying(c, &carried) != p->loop || !value_has_one_use(c)) return false;
  const Op *chooses = chooses_next(body, r, carried, &ok);
  if (!ok) return false;
  EACH_USE(u, r) {
    const Op *at = u->user;
    while (at->parent != body) at = at->parent->parent;
    if (at != body->last && (at == u->user || at->opcode != OP_IF)) return false;
    if (chooses && !is_not_after(at, chooses)) return false;
  }
  return true;
}

static void build_wgmma_wait(Builder *b, int64_t count, Value **v) {
  Op *wait = build_op(b, OP_WGMMA_WAIT, v, v != NULL);
  op_set_int(b->ctx, wait, ATTR_COUNT, count);
  if (v) *v = op_result(wait, 0);
}

static bool used_inside(const Value *v, const Op *op) {
  EACH_USE(u, v)
    for (uint32_t k = 0; k < op->num_blocks; k++)
      if (block_encloses(op->blocks[k], u->user->parent)) return true;
  return false;
}

// Whether an arm of a conditional reads v. Only to yield it, as result `next`, is not to read it; an arm that yields
// something else there takes the registers.
static bool reads(const Block *arm, const Value *v, const Value *next) {
  if (next && op_operand(arm->last, next->index) != v) return true;
  EACH_USE(u, v)
    if (block_encloses(arm, u->user->parent) && !(next && u->user == arm->last && u->index == next->index)) return true;
  return false;
}

// Waits for v at the arm's beginning if it reads v. Returns v as the arm then has it.
static Value *wait_in_arm(Pipe *p, Block *arm, Value *v, const Value *next) {
  if (!reads(arm, v, next)) return v;
  Builder b = builder_before(p->ctx, arm->first);
  Value *waited = v;
  build_wgmma_wait(&b, 0, &waited);
  for (Use *u = v->uses, *after; u; u = after) {
    after = u->next;
    if (block_encloses(arm, u->user->parent) && u->user != waited->def) op_set_operand(u->user, u->index, waited);
  }
  return waited;
}

// Conditional readers wait in their own block. The conditional yields the value: if it were live twice, in flight and
// waited for, registers that tensor cores still write would be copied. The one that chooses what the next iteration
// gets yields it anyway.
static void wait_in_conditionals(Pipe *p, Op *wgmma) {
  Value *v = op_result(wgmma, 0);
  bool ok;
  const Op *chooses = chooses_next(wgmma->parent, v, op_operand(wgmma, DOT_ACC)->index - 1, &ok);
  const Value *chosen = chooses ? op_operand(wgmma->parent->last, op_operand(wgmma, DOT_ACC)->index - 1) : NULL;
  for (Op *op = wgmma->next, *next; op; op = next) {
    next = op->next;
    if (op->opcode != OP_IF || !used_inside(v, op)) continue;
    for (uint32_t k = 0; k < 2; k++) {
      Value *given = wait_in_arm(p, op->blocks[k], v, op == chooses ? chosen : NULL);
      if (op != chooses) op_append_operand(p->ctx, op->blocks[k]->last, given);
    }
    if (op == chooses) return;
    const Type **types = arena_array(&p->ctx->arena, const Type *, op->num_results + 1);
    for (uint32_t i = 0; i < op->num_results; i++) types[i] = op_result(op, i)->type;
    types[op->num_results] = v->type;
    Value *cond = op_operand(op, 0);
    Op *made = op_rebuild(p->ctx, op, types, op->num_results + 1, &cond, 1);
    Value *given = op_result(made, op->num_results);
    op_replace(op, op_result_values(p->ctx, made));
    for (Use *u = v->uses, *after; u; u = after) {
      after = u->next;
      bool inside = false;
      for (uint32_t k = 0; k < 2; k++) inside |= block_encloses(made->blocks[k], u->user->parent);
      if (!inside) op_set_operand(u->user, u->index, given);
    }
    v = given;
  }
}

// Leaves the wgmma in flight at the iteration's end; its result is waited for after the loop.
static void leave_in_flight(Pipe *p, Op *wgmma, Builder *after) {
  op_set_int(p->ctx, wgmma, ATTR_ASYNC, 1);
  wait_in_conditionals(p, wgmma);
  Value *r = op_result(p->loop, op_operand(wgmma, DOT_ACC)->index - 1), *waited = r;
  build_wgmma_wait(after, 0, &waited);
  for (Use *u = r->uses, *next; u; u = next) {
    next = u->next;
    if (u->user != waited->def) op_set_operand(u->user, u->index, waited);
  }
}

static Builder after_loop(Pipe *p) {
  Builder b = builder_at_end(p->ctx, p->loop->parent->func, p->loop->parent, p->loop->span);
  b.before = p->loop->next;
  return b;
}

// Whether the wgmma's accumulators leave the assembler so few of a thread's registers that it waits for each of the
// instructions: what is issued after the wgmma then does not run beside it.
static bool fills_registers(const Op *wgmma) {
  enum { REST = 32 };            // addresses, counters, masks
  return pressure_words(&wgmma->results[0]) + REST > THREAD_REGISTERS;
}

Op *pipe_overlap_wgmmas(Pipe *p) {
  Op *last = NULL;
  uint32_t num = 0;
  bool mixed = false;
  EACH_OP(op, pipe_body(p)) {
    if (op->opcode != OP_WGMMA) continue;
    if (can_overlap(p, op, false) && !fills_registers(op)) num++, last = op;
    else mixed = true;
  }
  // A wait counts groups in order. With a synchronous wgmma between them, every group is waited for anyway.
  if (!last || mixed) return NULL;
  Builder after = after_loop(p);
  EACH_OP(op, pipe_body(p))
    if (op->opcode == OP_WGMMA) leave_in_flight(p, op, &after);
  Builder b = builder_after(p->ctx, last);
  build_wgmma_wait(&b, num, NULL);
  return last->next;
}

// Whether the dot is split along K into partial products that the threads add up, waiting for each.
static bool is_in_parts(const Op *wgmma) {
  const int64_t depth = op_operand(wgmma, 1)->type->shape[0], terms = op_int(wgmma, ATTR_IMPRECISE_ACC, 0);
  return terms > 0 && terms <= depth;
}

// The first op of the body that needs a tile.
static Op *first_consumer(const Pipe *p) {
  EACH_OP(op, pipe_body(p))
    VEC_EACH(a, p->loads)
      if (a->consumer == op) return op;
  return pipe_body(p)->last;
}

// Whether what the loop carries leaves half of a thread's registers for what is in flight beside an iteration's values.
static bool leaves_registers(const Pipe *p) { return 2 * pressure_carried(p->loop) <= THREAD_REGISTERS; }

// Whether all that use the op's results come after `first`.
static bool is_for_later(Pipe *p, const Op *op, const Op *first) {
  for (uint32_t i = 0; i < op->num_results; i++)
    EACH_USE(u, &op->results[i])
      if (!op_is_before(first, pipe_in_body(p, u->user))) return false;
  return true;
}

// By how many words the op's result is larger than its operands.
static int64_t added_words(const Op *op) {
  int64_t words = 0;
  for (uint32_t i = 0; i < op->num_results; i++) words += pressure_words(&op->results[i]);
  for (uint32_t i = 0; i < op->num_operands; i++)
    if (op_operand(op, i)) words -= pressure_words(op_operand(op, i));
  return words;
}

// What `first` does not need is computed while it runs: what waits for a load, above all. Loads stay where they are.
// What makes more of its operands, as a row that each thread needs many elements of, is computed after the wait if
// registers are full until then, with what the loop carries and the wgmma's result.
static void compute_under(Pipe *p, const Op *first, Op *wait) {
  const uint32_t held = pressure_carried(p->loop) + pressure_words(&first->results[0]);
  Op *before = wait, *after = wait->next;
  for (Op *op = first->prev, *prev; op; op = prev) {
    prev = op->prev;
    if (!op_is(op, TRAIT_PURE) || op->num_blocks || (op->mark & IN_SLICE) || !is_for_later(p, op, first)) continue;
    const int64_t more = added_words(op);
    const bool is_full = more > 0 && pressure_registers(held + (uint32_t)more) > THREAD_REGISTERS;
    Op **place = is_full && is_for_later(p, op, wait) ? &after : &before;
    op_move_before(op, *place);
    *place = op;
  }
}

// The first wgmma that comes after a tile, or an op before it that is not short.
static Op *first_wgmma(const Pipe *p) {
  Op *op = first_consumer(p);
  while (op->opcode != OP_WGMMA && pipe_is_short(op)) op = op->next;
  return op;
}

Op *pipe_issue_under_wgmma(Pipe *p) {
  Op *first = first_wgmma(p);
  if (first->opcode != OP_WGMMA || is_packed(first) || is_in_parts(first) || fills_registers(first)) return NULL;
  // Threads may read a tile before, to compute an operand. With two stages that would leave little of an iteration for
  // a copy.
  if (first != first_consumer(p) && p->stages < 3) return NULL;
  Builder after = after_loop(p);
  bool any = false;
  for (Op *op = pipe_body(p)->last->prev; op != first && leaves_registers(p); op = op->prev) {
    if (op->opcode != OP_WGMMA) continue;
    if (!can_overlap(p, op, true)) break;
    leave_in_flight(p, op, &after);
    any = true;
  }
  op_set_int(p->ctx, first, ATTR_ASYNC, 1);
  Builder b = builder_after(p->ctx, first);
  Value *r = op_result(first, 0), *waited = r;
  if (any) build_wgmma_wait(&b, 1, NULL);
  Op *free = b.before ? b.before->prev : first;
  build_wgmma_wait(&b, 0, &waited);
  for (Use *u = r->uses, *next; u; u = next) {
    next = u->next;
    if (u->user != waited->def) op_set_operand(u->user, u->index, waited);
  }
  compute_under(p, first, waited->def);
  return free;
}
