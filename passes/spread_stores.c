// spread_stores: a tile is stored to shared memory in a layout whose lanes do not store to the same banks.
//
//   %v = local_load %a, …, %w = fpext %v, local_store %w, %b
//
// %v has the layout in which %a was filled, or in which memory was read. If %b has rows along the other axis, or wider
// elements, up to all lanes of a warp may store to one bank. Then %w is computed once more for the store, in the
// blocked layout that costs the least, if that saves a quarter of the time: from another load of %a or, if the tile was
// not in shared memory, from a conversion of %v. Users of the old %v and %w keep them. A conversion takes shared
// memory: there is none if fewer blocks fit on an SM then.
// In, out: LAID_OUT, buffers without an initial value.
#include "ir/roles.h"
#include "passes/buffer.h"
#include "passes/layout_cost.h"
#include "passes/layout_rules.h"
#include "passes/packing.h"
#include "passes/pass.h"

// What is stored is computed, element by element, from one tile and from numbers and rows that all its elements share.
typedef struct {
  Context *ctx;
  const Module *module;
  uint32_t warps;
  Op *store;
  Value *source;        // the tile
  OpList ops;           // from the source to the store, the last one first
} Tile;

static bool is_uniform(const Value *v) { return value_op(v, OP_SPLAT) || value_op(v, OP_CONSTANT); }

static bool is_row(const Value *v) {
  enum { REPEATED = 8 };
  return value_op(v, OP_BROADCAST) && type_numel(op_operand(v->def, 0)->type) * REPEATED <= type_numel(v->type);
}

// The operand that is neither; NULL if there is not exactly one.
static Value *varied_operand(const Op *op) {
  Value *varied = NULL;
  for (uint32_t i = 0; i < op->num_operands; i++) {
    Value *o = op_operand(op, i);
    if (!o || !type_is_tensor(o->type) || is_uniform(o) || is_row(o)) continue;
    if (varied) return NULL;
    varied = o;
  }
  return varied;
}

static void find_source(Tile *t) {
  t->source = op_named(t->store, OPERAND_VALUE);
  for (;;) {
    Op *op = t->source->def;
    const bool is_elementwise = op && op_is(op, TRAIT_ELEMENTWISE) && layout_can_redo(op) && op->num_results == 1;
    Value *next = is_elementwise || value_op(t->source, OP_CONVERT_LAYOUT) ? varied_operand(op) : NULL;
    if (!next) return;
    vec_push(&t->ctx->arena, &t->ops, op);
    t->source = next;
  }
}

// ---- what it costs, in instructions of the block ----

static int64_t access_cost(const Tile *t, const Layout *l, const Value *buffer) {
  return layout_cost_shared(l, buffer->type, t->warps);
}

static int64_t compute_cost(const Tile *t, const Layout *l) {
  int64_t cost = 0;
  for (uint32_t i = 0; i < t->ops.count; i++) {
    const Op *op = t->ops.data[i];
    if (op->opcode == OP_CONVERT_LAYOUT) continue;
    cost += layout_cost_op(op, l, t->warps);
    for (uint32_t k = 0; k < op->num_operands; k++) {
      const Value *o = op_operand(op, k);
      if (!o || !is_row(o) || o->type->layout == l) continue;
      const Layout *row = layout_rule_operand(t->ctx, o->def, 0, l);
      cost += layout_cost_convert(t->ctx, op_operand(o->def, 0)->type, row, t->warps);
    }
  }
  return cost;
}

static int64_t cost_in(const Tile *t, const Layout *l) {
  const int64_t fetch = value_op(t->source, OP_LOCAL_LOAD) ? access_cost(t, l, op_operand(t->source->def, 0))
                                                           : layout_cost_convert(t->ctx, t->source->type, l, t->warps);
  return fetch + compute_cost(t, l) + access_cost(t, l, op_named(t->store, OPERAND_BUF));
}

// What the store costs as it is, with what nothing else would need.
static int64_t cost_now(const Tile *t) {
  int64_t cost = access_cost(t, op_named(t->store, OPERAND_VALUE)->type->layout, op_named(t->store, OPERAND_BUF));
  int64_t conversions = 0;
  for (uint32_t i = 0; i < t->ops.count; i++) {
    const Op *op = t->ops.data[i];
    if (!value_has_one_use(&op->results[0])) return cost;
    if (op->opcode == OP_CONVERT_LAYOUT)
      conversions += layout_cost_convert(t->ctx, op_operand(op, 0)->type, op->results[0].type->layout, t->warps);
  }
  cost += conversions + compute_cost(t, op_named(t->store, OPERAND_VALUE)->type->layout);
  if (value_op(t->source, OP_LOCAL_LOAD) && value_has_one_use(t->source))
    cost += access_cost(t, t->source->type->layout, op_operand(t->source->def, 0));
  return cost;
}

// ---- the layout ----

static uint32_t fast_axis(const Layout *shared) {
  uint32_t axis = shared->rank - 1u;
  while (axis > 0 && !(layout_axis_mask(shared, axis) & shared->basis[0])) axis--;
  return axis;
}

// Registers along the rows of the stored tile, a vector each. Lanes along these rows, or across them, where a thread
// may have some neighbours, too.
static const Layout *best_layout(const Tile *t, int64_t below) {
  const Type *type = op_named(t->store, OPERAND_VALUE)->type, *buffer = op_named(t->store, OPERAND_BUF)->type;
  const uint32_t along = fast_axis(buffer->layout), across = 2u * type->rank - 3 - along;
  const Layout *best = NULL;
  for (uint32_t vec = 16 / type_elem_bytes(type_elem(buffer)); vec; vec /= 2)
    for (uint32_t near = 0; near <= 8; near = near ? near * 2 : 1) {
      BlockedChoice c = {.order = {near ? across : along, near ? along : across}, .vec = near ? near : vec,
                         .across = near ? vec : 0};
      for (uint32_t i = 2; i < type->rank; i++) c.order[i] = type->rank - 1 - i;
      const Layout *l = layout_blocked_for(t->ctx, t->warps, type, &c);
      const int64_t cost = cost_in(t, l);
      if (cost >= below) continue;
      below = cost;
      best = l;
    }
  return best;
}

// ---- the store's own copy ----

// Computes the op again in another layout. The map leads from old values to new ones.
static Value *copy_in(Builder *b, const Op *op, ValueMap *map, const Layout *l) {
  Value *v = op_result(build_clone(b, op, map), 0);
  v->type = type_with_layout(b->ctx, v->type, l);
  value_map_set(b->ctx, map, &op->results[0], v);
  return v;
}

static Value *copy_source(const Tile *t, Builder *b, ValueMap *map, const Layout *l) {
  if (!value_op(t->source, OP_LOCAL_LOAD)) return build_convert_layout(b, t->source, l);
  // The slot of a ring may be filled again after the load: the new one stands beside it.
  Builder beside = builder_after(t->ctx, t->source->def);
  return copy_in(&beside, t->source->def, map, l);
}

static Value *copy_tile(const Tile *t, const Layout *l) {
  Builder b = builder_before(t->ctx, t->store);
  ValueMap *map = value_map_new(t->ctx);
  Value *last = copy_source(t, &b, map, l);
  value_map_set(t->ctx, map, t->source, last);
  for (uint32_t i = t->ops.count; i-- > 0;) {
    const Op *op = t->ops.data[i];
    if (op->opcode == OP_CONVERT_LAYOUT) {
      value_map_set(t->ctx, map, &op->results[0], last);
      continue;
    }
    for (uint32_t k = 0; k < op->num_operands; k++) {
      Value *o = op_operand(op, k), *row = o && is_row(o) ? op_operand(o->def, 0) : NULL;
      if (row)
        value_map_set(t->ctx, map, row, build_convert_layout(&b, row, layout_rule_operand(t->ctx, o->def, 0, l)));
      if (row || (o && type_is_tensor(o->type) && is_uniform(o))) copy_in(&b, o->def, map, l);
    }
    last = copy_in(&b, op, map, l);
  }
  return last;
}

static uint32_t blocks_that_fit(const Tile *t, Func *f) {
  Liveness l = liveness_compute(t->ctx, t->module, f);
  return target_blocks_by_shared(t->module->target, packing_bytes(t->ctx, &l));
}

static void visit(Tile *t, Func *f) {
  Value *v = op_named(t->store, OPERAND_VALUE);
  const Type *buffer = op_named(t->store, OPERAND_BUF)->type;
  if (v->type->rank < 2 || fast_axis(buffer->layout) + 2 < v->type->rank) return;
  find_source(t);
  const Layout *l = best_layout(t, cost_now(t) * 3 / 4);
  if (!l) return;
  if (value_op(t->source, OP_LOCAL_LOAD)) {
    op_set_named(t->store, OPERAND_VALUE, copy_tile(t, l));
    return;
  }
  const int64_t by_registers = max_i64(1, target_blocks_by_registers(THREAD_REGISTERS, WARP_SIZE * t->warps)),
                blocks = min_i64(by_registers, blocks_that_fit(t, f));
  const Op *before = t->store->prev;
  op_set_named(t->store, OPERAND_VALUE, copy_tile(t, l));
  if (blocks_that_fit(t, f) >= blocks) return;
  op_set_named(t->store, OPERAND_VALUE, v);
  while (t->store->prev != before) op_erase(t->store->prev);
}

typedef struct { Context *ctx; OpList stores; } Found;

static void collect(Op *op, void *user) {
  Found *f = user;
  if (op->opcode == OP_LOCAL_STORE) vec_push(&f->ctx->arena, &f->stores, op);
}

void pass_spread_stores(PassCtx *p) {
  EACH_FUNC(f, p->module) {
    Found found = {.ctx = p->ctx};
    block_walk(f->body, collect, &found);
    const OpList stores = found.stores;
    // Twice: a tile that two stores shared may now be one's own.
    for (uint32_t i = 0; i < 2 * stores.count; i++) {
      Op *store = stores.data[i % stores.count];
      visit(&(Tile){.ctx = p->ctx, .module = p->module, .warps = op_num_warps(store), .store = store}, f);
    }
  }
}
