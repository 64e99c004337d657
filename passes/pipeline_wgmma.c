// Of pipeline_loops: wgmmas that stay in flight into the next iteration, and the waits that they need.
#include "passes/buffer.h"
#include "passes/pipeline_loops.h"

static bool operand_is_staged(const Pipe *p, const Value *buf) {
  while (buf->def && buffer_is_view(buf->def)) buf = op_operand(buf->def, 0);
  if (buf->type->kind != TYPE_BUFFER) return false;
  if (value_defined_outside(buf, p->loop)) return true;
  VEC_EACH(a, p->loads)
    if (a->alloc == buf->def) return true;
  return false;
}

// The accumulator stays in flight if nothing in the iteration except nested conditionals reads it.
static bool can_overlap(const Pipe *p, Op *wgmma) {
  Value *r = op_result(wgmma, 0), *c = op_operand(wgmma, 2);
  Block *body = pipe_body(p);
  // Carrying packed halves would unpack them, which reads them.
  if (type_is_scalar(type_elem(c->type), SC_F16)) return false;
  if (wgmma->parent != body || !operand_is_staged(p, op_operand(wgmma, 0)) ||
      !operand_is_staged(p, op_operand(wgmma, 1)))
    return false;
  if (c->block != body || op_operand(body->last, c->index - 1) != r || !value_has_one_use(c)) return false;
  EACH_USE(u, r) {
    const Op *at = u->user;
    while (at->parent != body) at = at->parent->parent;
    if (at != body->last && (at == u->user || at->opcode != OP_IF)) return false;
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

// Conditional readers wait in their own block. The conditional yields the value: if it were live twice, in flight and
// waited for, registers that tensor cores still write would be copied.
static void wait_in_conditionals(Pipe *p, Op *wgmma) {
  Value *v = op_result(wgmma, 0);
  for (Op *op = wgmma->next, *next; op; op = next) {
    next = op->next;
    if (op->opcode != OP_IF || !used_inside(v, op)) continue;
    for (uint32_t k = 0; k < 2; k++) {
      Block *inner = op->blocks[k];
      Value *waited = NULL;
      for (Use *u = v->uses, *after; u; u = after) {
        after = u->next;
        if (!block_encloses(inner, u->user->parent) || (waited && u->user == waited->def)) continue;
        if (!waited) {
          Builder b = builder_before(p->ctx, inner->first);
          waited = v;
          build_wgmma_wait(&b, 0, &waited);
        }
        op_set_operand(u->user, u->index, waited);
      }
      op_append_operand(p->ctx, inner->last, waited ? waited : v);
    }
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

// Returns the op after which slot s − 1 is free: the wait for the previous iteration's wgmmas.
Op *pipe_overlap_wgmmas(Pipe *p) {
  Op *last = NULL;
  uint32_t num = 0;
  bool mixed = false;
  EACH_OP(op, pipe_body(p)) {
    if (op->opcode != OP_WGMMA) continue;
    if (can_overlap(p, op)) num++, last = op;
    else mixed = true;
  }
  // A wait counts groups in order. With a synchronous wgmma between them, every group is waited for anyway.
  if (!last || mixed) return NULL;
  Builder after = builder_at_end(p->ctx, p->loop->parent->func, p->loop->parent, p->loop->span);
  after.before = p->loop->next;
  EACH_OP(op, pipe_body(p)) {
    if (op->opcode != OP_WGMMA) continue;
    op_set_int(p->ctx, op, ATTR_ASYNC, 1);
    wait_in_conditionals(p, op);
    Value *r = op_result(p->loop, op_operand(op, 2)->index - 1), *waited = r;
    build_wgmma_wait(&after, 0, &waited);
    for (Use *u = r->uses, *next; u; u = next) {
      next = u->next;
      if (u->user != waited->def) op_set_operand(u->user, u->index, waited);
    }
  }
  Builder b = builder_after(p->ctx, last);
  build_wgmma_wait(&b, num, NULL);
  return last->next;
}
