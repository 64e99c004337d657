// TILE → LAID_OUT: a layout for every tensor.
//
// Anchors (dots, then memory accesses, the most bytes in the deepest loops first) choose their layout; it flows from there
// along data (layout_rules.h) to every value that has none yet, so that what belongs together shares one layout. Where two
// regions meet, a convert_layout is placed; remove_conversions then removes those that can be had cheaper.
//
// Choice at an access: the fastest axis is the one of longest contiguity; each thread takes as many consecutive elements as
// make 16 bytes (the widest element of the region's stores counts, else the narrowest of its loads: a store with gaps
// costs, a load with gaps is caught by L1), but not so many that threads go idle. Lanes run along the fastest axis. Where the
// tensor is reduced along that axis and there are rows enough, warps take whole rows, so that the reduction needs shuffles only.
//
// In: verified TILE. Out: every tensor type has a layout; operands agree as layout_rules.h says.
#include <string.h>

#include "passes/axis_info.h"
#include "passes/layout_rules.h"
#include "passes/pass.h"

typedef VEC(Value *) Values;
typedef VEC(Op *) Ops;

typedef struct {
  Op *op;
  int64_t weight;
  uint32_t order;          // position in the program: ties
} Anchor;

typedef struct {
  Context *ctx;
  Module *module;
  AxisAnalysis *axes;
  const Layout **pivots;   // by Op.mark
  Ops ops;                 // by Op.mark
  VEC(Anchor) anchors;
  Values work;
} Coalesce;

static const Layout *layout_of(const Value *v) { return v->aux; }

// ---- gathering ----

static uint32_t loop_depth(const Op *op) {
  uint32_t d = 0;
  for (const Op *p = op->parent->parent; p; p = p->parent->parent) d += p->opcode == OP_FOR || p->opcode == OP_WHILE;
  return d;
}

static const Type *access_shape(const Op *op) {
  const Type *ptr = op_operand(op, 0)->type;
  return ptr->kind == TYPE_TENSOR ? ptr : op_operand(op, 1)->type;
}

static uint32_t access_bytes(const Op *op) { return type_elem_bytes(type_elem(op_operand(op, 0)->type)->elem); }

static void gather(Op *op, void *user) {
  Coalesce *c = user;
  op->mark = c->ops.count;
  vec_push(&c->ctx->arena, &c->ops, op);
  for (uint32_t i = 0; i < op->num_results; i++) op->results[i].aux = NULL;
  for (uint32_t b = 0; b < op->num_blocks; b++)
    for (uint32_t i = 0; i < op->blocks[b]->num_args; i++) op->blocks[b]->args[i]->aux = NULL;
  int64_t weight = 0;
  if (op->opcode == OP_DOT) {
    const Type *a = op_operand(op, 0)->type;
    weight = type_numel(op->results[0].type) * a->shape[a->rank - 1] * 16;
  } else if (op_is_global_access(op)) {
    weight = type_numel(access_shape(op)) * access_bytes(op);
  }
  if (!weight) return;
  for (uint32_t d = loop_depth(op); d > 0 && weight < INT64_MAX / 64; d--) weight *= 16;
  vec_push(&c->ctx->arena, &c->anchors, ((Anchor){op, weight, c->anchors.count}));
}

// ---- choosing ----


// Whether a tensor of this shape is reduced or scanned along the axis anywhere in the kernel.
static bool shape_is_reduced(const Coalesce *c, const Type *t, uint32_t axis) {
  for (uint32_t i = 0; i < c->ops.count; i++) {
    const Op *op = c->ops.data[i];
    if ((op->opcode == OP_REDUCE || op->opcode == OP_SCAN) && type_same_shape(op_operand(op, 0)->type, t) &&
        op_int(op, ATTR_AXIS, 0) == axis)
      return true;
  }
  return false;
}

// Elements per thread that serve all accesses of this shape and order best; see the top of the file.
static int64_t shared_vector(Coalesce *c, const Type *t, uint32_t axis) {
  int64_t stores = 0, loads = 0;
  for (uint32_t i = 0; i < c->anchors.count; i++) {
    Op *op = c->anchors.data[i].op;
    AccessInfo a;
    if (!op_is_global_access(op) || !type_same_shape(access_shape(op), t)) continue;
    if (!axis_access_info(c->axes, op, &a) || a.fastest != axis) continue;
    int64_t v = access_max_vector(&a, axis, access_bytes(op));
    bool is_store = op->opcode != OP_LOAD;
    if (is_store && op->opcode != OP_STORE) v = 1;      // atomics go element by element
    if (is_store) stores = stores ? min_i64(stores, max_i64(v, 1)) : v;
    else loads = max_i64(loads, v);
  }
  return stores > 1 ? stores : max_i64(loads, 1);
}

static const Layout *choose_for_access(Coalesce *c, const Op *op) {
  const Type *t = access_shape(op);
  AccessInfo a;
  axis_access_info(c->axes, op, &a);
  BlockedChoice choice = {.vec = 1};
  // Axes by contiguity, longest first; of equals, the later axis.
  for (uint32_t i = 0; i < t->rank; i++) choice.order[i] = t->rank - 1u - i;
  for (uint32_t i = 1; i < t->rank; i++)
    for (uint32_t k = i; k > 0 && a.contiguity[choice.order[k]] > a.contiguity[choice.order[k - 1]]; k--) {
      uint32_t swap = choice.order[k];
      choice.order[k] = choice.order[k - 1];
      choice.order[k - 1] = swap;
    }
  uint32_t axis = choice.order[0];
  int64_t own = access_max_vector(&a, axis, access_bytes(op));
  int64_t vec = op->opcode == OP_LOAD || op->opcode == OP_STORE ? max_i64(1, shared_vector(c, t, axis)) : 1;
  if (op->opcode == OP_STORE) vec = min_i64(vec, max_i64(own, 1));
  int64_t threads = (int64_t)c->module->num_warps * WARP_SIZE;
  vec = min_i64(vec, max_i64(1, type_numel(t) / threads));
  choice.vec = (uint32_t)vec;
  choice.rows_in_warps = t->rank > 1 && shape_is_reduced(c, t, axis);
  return layout_blocked_for(c->ctx, c->module, t, &choice);
}

// An accumulator for multiply-adds: square-ish patches per thread, so that each operand element loaded is used often.
static const Layout *choose_for_dot(Coalesce *c, const Op *op) {
  const Type *t = op->results[0].type;
  int64_t per_thread = type_numel(t) / ((int64_t)c->module->num_warps * WARP_SIZE);
  uint32_t size[LAYOUT_MAX_RANK], lanes[LAYOUT_MAX_RANK], warps[LAYOUT_MAX_RANK], order[LAYOUT_MAX_RANK];
  for (uint32_t i = 0; i < t->rank; i++) {
    size[i] = lanes[i] = warps[i] = 1;
    order[i] = t->rank - 1u - i;
  }
  uint32_t m = t->rank - 2u, n = t->rank - 1u, patch = per_thread >= 16 ? 4 : per_thread >= 4 ? 2 : 1;
  size[m] = (uint32_t)min_i64(patch, t->shape[m]);
  size[n] = (uint32_t)min_i64(patch, t->shape[n]);
  uint32_t lanes_left = WARP_SIZE, warps_left = c->module->num_warps;
  for (uint32_t i = 0; i < t->rank; i++) {
    uint32_t a = order[i];
    lanes[a] = (uint32_t)min_i64(lanes_left, t->shape[a] / size[a]);
    lanes_left /= lanes[a];
    warps[a] = (uint32_t)min_i64(warps_left, t->shape[a] / size[a] / lanes[a]);
    warps_left /= warps[a];
  }
  lanes[0] *= lanes_left;
  warps[0] *= warps_left;
  return layout_make_blocked(c->ctx, t->rank, t->shape, size, lanes, warps, order);
}

// ---- cost ----

// Memory transactions (32-byte sectors, and one per instruction and warp) of the access in a layout.
static int64_t access_cost(Coalesce *c, const Op *op, const Layout *l) {
  AccessInfo a;
  axis_access_info(c->axes, op, &a);
  uint32_t bytes = access_bytes(op), axis = a.fastest;
  int64_t vec = min_i64(layout_contiguity(l, axis), access_max_vector(&a, axis, bytes));
  uint32_t mask = layout_axis_mask(l, axis), shift = layout_axis_shift(l, axis);
  uint64_t seen[WARP_SIZE];
  uint32_t sectors = 0;
  uint32_t idle = op->opcode == OP_LOAD ? 0 : layout_free_bits(l, LAYOUT_LANE);
  for (uint32_t lane = 0; lane < WARP_SIZE; lane++) {
    if (lane & idle) continue;
    uint32_t e = layout_apply(l, 0, lane, 0, 0);
    uint64_t column = (e & mask) >> shift, row = e & ~mask;
    // Only aligned runs are known to be neighbours in memory.
    uint64_t run = column / (uint64_t)a.contiguity[axis], byte = column % (uint64_t)a.contiguity[axis] * bytes;
    for (uint64_t at = byte / 32; at <= (byte + (uint64_t)vec * bytes - 1) / 32; at++) {
      uint64_t key = row << 40 ^ run << 20 ^ at;
      uint32_t i = 0;
      while (i < sectors && seen[i] != key) i++;
      if (i == sectors && sectors < WARP_SIZE) seen[sectors++] = key;
    }
  }
  int64_t instructions = max_i64(1, layout_regs_per_thread(l) / vec);
  uint32_t free_warps = op->opcode == OP_LOAD ? 0 : layout_free_bits(l, LAYOUT_WARP);
  int64_t warps = (int64_t)c->module->num_warps >> __builtin_popcount(free_warps);
  return instructions * warps * (sectors + 4);
}

// Storing to and loading from shared memory, and the barriers.
static int64_t conversion_cost(const Coalesce *c, const Type *t, uint32_t elem_bytes) {
  return type_numel(t) * elem_bytes / 64 + 16 * (int64_t)c->module->num_warps;
}

static bool access_accepts(Coalesce *c, const Op *op, const Layout *l) {
  const Layout *own = choose_for_access(c, op);
  if (own == l) return true;
  return access_cost(c, op, l) <= access_cost(c, op, own) + conversion_cost(c, access_shape(op), access_bytes(op));
}

// ---- flow ----

static void assign(Value *v, Coalesce *c, const Layout *l) {
  if (!v || v->type->kind != TYPE_TENSOR || v->aux || !l) return;
  v->aux = (void *)(uintptr_t)l;
  vec_push(&c->ctx->arena, &c->work, v);
}

static void set_pivot(Coalesce *c, Op *op, const Layout *pivot) {
  if (c->pivots[op->mark] || !pivot) return;
  c->pivots[op->mark] = pivot;
  for (uint32_t i = 0; i < op->num_operands; i++)
    if (op_operand(op, i)) assign(op_operand(op, i), c, layout_rule_operand(c->ctx, op, i, pivot));
  for (uint32_t i = 0; i < op->num_results; i++) assign(&op->results[i], c, layout_rule_result(c->ctx, op, i, pivot));
}

typedef struct { Coalesce *c; const Layout *layout; } TieVisit;
static void tie(Value *v, void *user) {
  TieVisit *t = user;
  assign(v, t->c, t->layout);
}

static void flow(Coalesce *c) {
  while (c->work.count) {
    Value *v = c->work.data[--c->work.count];
    const Layout *l = layout_of(v);
    value_visit_ties(v, tie, &(TieVisit){c, l});
    if (v->def) set_pivot(c, v->def, layout_rule_pivot_of_result(c->ctx, v->def, v->index, l));
    if (value_is_leaf(v)) continue;        // each user can have its own copy
    for (Use *u = v->uses; u; u = u->next) {
      const Layout *pivot = layout_rule_pivot_of_operand(c->ctx, u->user, u->index, l);
      if (!pivot || c->pivots[u->user->mark]) continue;
      if (op_is_global_access(u->user) && !access_accepts(c, u->user, pivot)) continue;
      set_pivot(c, u->user, pivot);
    }
  }
}

static void assign_default(Coalesce *c, Value *v) {
  if (v->type->kind != TYPE_TENSOR || v->aux) return;
  const Type *t = v->type;
  bool rows = t->rank > 1 && shape_is_reduced(c, t, t->rank - 1u);
  BlockedChoice choice = {.vec = 1, .rows_in_warps = rows};
  for (uint32_t i = 0; i < t->rank; i++) choice.order[i] = t->rank - 1u - i;
  assign(v, c, layout_blocked_for(c->ctx, c->module, t, &choice));
  flow(c);
}

static void assign_all(Coalesce *c) {
  // Heaviest first; insertion sort keeps program order among equals.
  Anchor *a = c->anchors.data;
  for (uint32_t i = 1; i < c->anchors.count; i++)
    for (uint32_t k = i; k > 0 && a[k].weight > a[k - 1].weight; k--) {
      Anchor swap = a[k];
      a[k] = a[k - 1];
      a[k - 1] = swap;
    }
  for (uint32_t i = 0; i < c->anchors.count; i++) {
    Op *op = a[i].op;
    if (c->pivots[op->mark]) continue;
    set_pivot(c, op, op->opcode == OP_DOT ? choose_for_dot(c, op) : choose_for_access(c, op));
    flow(c);
  }
  for (uint32_t i = 0; i < c->ops.count; i++) {
    Op *op = c->ops.data[i];
    for (uint32_t k = 0; k < op->num_results; k++) assign_default(c, &op->results[k]);
    for (uint32_t b = 0; b < op->num_blocks; b++)
      for (uint32_t k = 0; k < op->blocks[b]->num_args; k++) assign_default(c, op->blocks[b]->args[k]);
  }
}

// ---- rewriting ----

// v as an operand of op, in the layout.
static Value *in_layout(Coalesce *c, Op *op, Value *v, const Layout *l) {
  if (!l || v->type->kind != TYPE_TENSOR || v->type->layout == l) return v;
  Builder b = builder_before(c->ctx, op);
  if (value_is_leaf(v)) {
    Op *copy = op_clone(c->ctx, v->def, value_map_new(c->ctx));
    op_insert_before(copy, op);
    copy->results[0].type = type_with_layout(c->ctx, v->type, l);
    return op_result(copy, 0);
  }
  return build_convert_layout(&b, v, l);
}

static void set_type(Coalesce *c, Value *v) {
  if (v->type->kind == TYPE_TENSOR) v->type = type_with_layout(c->ctx, v->type, layout_of(v));
}

// Carried values: what goes in and what is yielded agree with the block argument or result.
static void convert_carried(Coalesce *c, Op *op) {
  Op *parent = op->parent->parent;
  for (uint32_t i = 0; i < op->num_operands; i++) {
    const Value *like = NULL;
    if (op->opcode == OP_FOR && i >= 3) like = op->blocks[0]->args[i - 2];
    else if (op->opcode == OP_WHILE) like = op->blocks[0]->args[i];
    else if (op->opcode == OP_YIELD && parent && parent->opcode == OP_IF) like = op_result(parent, i);
    else if (op->opcode == OP_YIELD && parent && parent->opcode == OP_FOR) like = parent->blocks[0]->args[i + 1];
    else if (op->opcode == OP_YIELD && parent && parent->opcode == OP_WHILE) like = parent->blocks[0]->args[i];
    else if (op->opcode == OP_CONDITION && i > 0) like = parent->blocks[1]->args[i - 1];
    if (like && like->type->kind == TYPE_TENSOR) op_set_operand(op, i, in_layout(c, op, op_operand(op, i), like->type->layout));
  }
}

static void rewrite(Coalesce *c) {
  for (uint32_t i = 0; i < c->ops.count; i++) {
    Op *op = c->ops.data[i];
    for (uint32_t k = 0; k < op->num_results; k++) set_type(c, &op->results[k]);
    for (uint32_t b = 0; b < op->num_blocks; b++)
      for (uint32_t k = 0; k < op->blocks[b]->num_args; k++) set_type(c, op->blocks[b]->args[k]);
  }
  for (uint32_t i = 0; i < c->ops.count; i++) {
    Op *op = c->ops.data[i];
    convert_carried(c, op);
    const Layout *pivot = c->pivots[op->mark];
    if (!pivot) pivot = layout_rule_pivot(c->ctx, op);
    if (!pivot) continue;
    for (uint32_t k = 0; k < op->num_operands; k++)
      if (op_operand(op, k)) op_set_operand(op, k, in_layout(c, op, op_operand(op, k), layout_rule_operand(c->ctx, op, k, pivot)));
    // A result whose layout was settled before the op's pivot: the op keeps its own, the users get what they expect.
    for (uint32_t k = 0; k < op->num_results; k++) {
      Value *r = &op->results[k];
      const Layout *made = layout_rule_result(c->ctx, op, k, pivot);
      if (!made || made == r->type->layout) continue;
      const Layout *expected = r->type->layout;
      r->type = type_with_layout(c->ctx, r->type, made);
      if (!r->uses) continue;
      Builder b = builder_before(c->ctx, op->next);
      b.span = op->span;
      Op *convert = build_op_typed(&b, OP_CONVERT_LAYOUT, (const Type *[]){type_with_layout(c->ctx, r->type, expected)}, 1, (Value *[]){r}, 1);
      value_replace_all_uses(r, op_result(convert, 0));
      op_set_operand(convert, 0, r);
    }
  }
}

bool pass_coalesce(PassCtx *p) {
  Coalesce c = {.ctx = p->ctx, .module = p->module, .axes = axis_analyse(p->ctx, p->module)};
  for (Func *f = p->module->funcs; f; f = f->next)
    for (uint32_t i = 0; i < f->body->num_args; i++) f->body->args[i]->aux = NULL;
  module_walk(p->module, gather, &c);
  c.pivots = arena_array(&p->ctx->arena, const Layout *, c.ops.count + 1);
  assign_all(&c);
  rewrite(&c);
  return true;
}
