// Of pipeline_loops: the rings. Each ring has `stages` slots, or stages − 1; iteration i uses slot i modulo their
// number. Each group of TMA loads has an mbarrier per slot. Its phase flips each time round the ring; therefore a
// reader needs the slot and a parity. Groups of cp.async are counted: a wait names how many may still be in flight.
#include "ir/loop.h"
#include "passes/access.h"
#include "passes/buffer.h"
#include "passes/pipeline_loops.h"

const Type *ring_type(const Pipe *p, const AsyncLoad *a) {
  const Type *t = a->buffer_type;
  return type_buffer(p->ctx, t->elem, t->rank, t->shape, t->layout, ring_slots(p, a->short_ring));
}

bool ring_any_short(const Pipe *p) {
  bool any = false;
  VEC_EACH(a, p->loads) any |= a->short_ring;
  return any;
}

void ring_build(Pipe *p, Builder *b) {
  VEC_EACH(a, p->loads) {
    b->span = a->load->span;   // for the message that lists buffers
    a->ring = build_alloc(b, ring_type(p, a), NULL);
    if (a->short_ring) op_set_int(p->ctx, a->ring->def, ATTR_NUM_STAGES, p->stages);
  }
  VEC_EACH(group, p->groups)
    if (group->tma)
      group->barriers = tma_build_barriers(b, ring_slots(p, group->short_ring));
}

RingRead ring_next(Builder *b, RingRead place, uint32_t slots) {
  Value *plus = build_binary(b, OP_ADDI, place.slot, build_i32(b, 1));
  Value *wraps = build_cmp(b, CMP_EQ, plus, build_i32(b, slots));
  RingRead next = {.slot = build_ternary(b, OP_SELECT, wraps, build_i32(b, 0), plus)};
  if (place.phase)
    next.phase = build_binary(b, OP_XORI, place.phase, build_cast(b, OP_EXTUI, wraps, type_scalar(b->ctx, SC_I32)));
  return next;
}

// ---- issue ----

ValueMap *ring_slice_inputs(const Pipe *p, Value *iv, Value *const *carried) {
  ValueMap *map = value_map_new(p->ctx);
  value_map_set(p->ctx, map, for_iv(p->loop), iv);
  for (uint32_t i = 0; i < p->loop->num_results; i++)
    if (p->carried_in_slice[i]) value_map_set(p->ctx, map, for_carried(p->loop, i), carried[i]);
  return map;
}

static Value *slice_value(const ValueMap *map, Value *v) { return v ? value_map_get(map, v) : NULL; }

static void issue_tma(Builder *b, const ValueMap *map, const AsyncLoad *a, Value *buf, Value *bar, Value *pred,
                      int64_t issuer) {
  Value *coords[MAX_RANK];
  for (uint32_t k = 1; k < a->load->num_operands; k++) coords[k - 1] = slice_value(map, op_operand(a->load, k));
  tma_build_load(b, slice_value(map, op_operand(a->load, 0)), buf, bar, pred, coords, issuer);
}

// Returns its token.
static Value *issue_copy(Builder *b, const ValueMap *map, const AsyncLoad *a, Value *buf, Value *pred) {
  Value *ptr = slice_value(map, op_named(a->load, OPERAND_PTR)),
        *offset = slice_value(map, op_named(a->load, OPERAND_OFFSET)),
        *mask = slice_value(map, op_named(a->load, OPERAND_MASK));
  Value *args[5] = {buf, ptr, offset, build_mask_if(b, mask, pred, op_result(a->load, 0)->type), NULL};
  Op *copy = build_op(b, OP_ASYNC_COPY, args, 5);
  op_copy_attrs(b->ctx, copy, a->load);
  return op_result(copy, 0);
}

static void issue_group(Pipe *p, Builder *b, const ValueMap *map, uint32_t g, RingWrite place, int64_t issuer) {
  const LoadGroup *group = &p->groups.data[g];
  Value *bar =
      group->tma ? tma_build_index(b, group->barriers, group->short_ring ? place.short_slot : place.slot) : NULL;
  if (bar) tma_build_expect(b, bar, place.pred, group->bytes, issuer);
  Value **tokens = arena_array(&p->ctx->arena, Value *, p->loads.count);
  uint32_t num_tokens = 0;
  const Builder outer = *b;
  uint64_t exists;
  const bool is_empty = !bar && value_constant_bits(place.pred, &exists) && !exists;
  VEC_EACH(a, p->loads) {
    if (a->group != g || is_empty) continue;
    b->span = a->load->span, b->inlined_at = a->load->inlined_at;
    Value *buf = tma_build_index(b, a->ring, a->short_ring ? place.short_slot : place.slot);
    if (bar) issue_tma(b, map, a, buf, bar, place.pred, issuer);
    else tokens[num_tokens++] = issue_copy(b, map, a, buf, place.pred);
  }
  b->span = outer.span, b->inlined_at = outer.inlined_at;
  if (!bar) build_op(b, OP_ASYNC_COMMIT, tokens, num_tokens);
}

// A load for the iteration after this one: only if this one exists, as in the loop.
static void issue_early_load(Builder *b, Op *load, ValueMap *map, Value *pred) {
  access_mask_if(build_clone(b, load, map), pred);
}

void ring_issue(Pipe *p, Builder *b, ValueMap *map, RingWrite here, RingWrite next, int64_t issuer) {
  EACH_OP(op, pipe_body(p)) {
    if (!(op->mark & IN_SLICE)) continue;
    if (op->opcode == OP_LOAD) issue_early_load(b, op, map, here.pred);
    else build_clone(b, op, map);
  }
  for (uint32_t g = 0; g < p->groups.count; g++) {
    RingWrite place = p->groups.data[g].ahead ? next : here;
    if (place.slot) issue_group(p, b, map, g, place, issuer);
  }
}

// ---- wait ----

// cp.async writes through the generic proxy; wgmma reads through the async proxy, perhaps not as the first reader.
static bool needs_fence(const Pipe *p, uint32_t g) {
  VEC_EACH(a, p->loads) {
    if (a->group == g && !a->tma && a->alloc && buffer_read_by_async_proxy(op_result(a->alloc, 0))) return true;
  }
  return false;
}

static bool any_needs_fence(const Pipe *p) {
  bool any = false;
  for (uint32_t g = 0; g < p->groups.count; g++) any = any || needs_fence(p, g);
  return any;
}

static void fence_after(Op *op, void *user) {
  Pipe *p = user;
  if (op->opcode != OP_ASYNC_WAIT || op_int(op, ATTR_COUNT, 0) != 0) return;
  Builder b = builder_after(p->ctx, op);
  build_op(&b, OP_FENCE_ASYNC, NULL, 0);
}

void ring_fence_inner_waits(Pipe *p) {
  if (any_needs_fence(p)) block_walk(pipe_body(p), fence_after, p);
}

void ring_wait(Pipe *p, Builder *b, uint32_t g, RingRead place, bool issued) {
  const LoadGroup *group = &p->groups.data[g];
  if (group->tma) {
    tma_build_wait(b, tma_build_index(b, group->barriers, place.slot), place.phase);
    return;
  }
  // Committed after this group: the later groups of this iteration, and all groups of the iterations issued since.
  uint32_t later = 0;
  for (uint32_t i = g + 1; i < p->groups.count; i++) later += !p->groups.data[i].tma;
  int64_t pending = later + (int64_t)(p->stages - 2 + (issued ? 1 : 0)) * p->num_copy_groups;
  build_wait(b, OP_ASYNC_WAIT, pending);
  if (needs_fence(p, g) || (pending == 0 && any_needs_fence(p))) build_op(b, OP_FENCE_ASYNC, NULL, 0);
}

void ring_serve_outside(Pipe *p, bool ahead, Value *slot, Value *phase) {
  bool *waited = arena_array(&p->ctx->arena, bool, p->groups.count);
  VEC_EACH(a, p->loads) {
    if (!a->outside || a->ahead != ahead) continue;
    Builder b = builder_before(p->ctx, a->outside);
    if (!waited[a->group]) ring_wait(p, &b, a->group, (RingRead){slot, phase}, false);
    waited[a->group] = true;
    value_replace_all_uses(op_result(a->outside, 0), tma_build_index(&b, a->ring, slot));
    Op *load = op_operand(a->outside, 0)->def;
    op_erase(a->outside);
    op_erase(load);
  }
}

void ring_drain(Pipe *p, Builder *b) {
  if (p->num_copy_groups) build_wait(b, OP_ASYNC_WAIT, 0);
}

void ring_invalidate(Pipe *p, Builder *b) {
  VEC_EACH(group, p->groups)
    if (group->tma) tma_build_invalidate(b, group->barriers);
}
