// TILE → LAID_OUT: a layout for every tensor.
//
// Anchors (dots, then memory accesses, the most bytes in the deepest loops first) choose their layout; it flows from there
// along data (layout_rules.h) to every value that has none yet, so that what belongs together shares one layout. Where two
// regions meet, a convert_layout is placed; remove_conversions then removes those that can be had cheaper.
//
// Choice at an access: the fastest axis is the one of longest contiguity; each thread takes as many consecutive elements as
// make 16 bytes (the widest element of the stores of this shape counts, else the narrowest of its loads: a store with gaps
// costs, a load with gaps is caught by L1), but not so many that threads go idle. Lanes run along the fastest axis. Where the
// tensor is reduced along that axis and there are rows enough, warps take whole rows, so that the reduction needs shuffles only.
//
// In: verified TILE. Out: every tensor type has a layout; operands agree as layout_rules.h says.
#include "passes/layout_assign.h"
#include "passes/layout_cost.h"
#include "passes/layout_rules.h"
#include "passes/pass.h"

typedef struct {
  Context *ctx;
  Module *module;
  AxisAnalysis *axes;
  VEC(Op *) reductions;      // reduce and scan
  LayoutAnchors anchors;
} Coalesce;

static void gather(Op *op, void *user) {
  Coalesce *c = user;
  int64_t weight = 0;
  if (op->opcode == OP_REDUCE || op->opcode == OP_SCAN) vec_push(&c->ctx->arena, &c->reductions, op);
  if (op->opcode == OP_DOT) {
    const Type *a = op_operand(op, 0)->type;
    weight = type_numel(op->results[0].type) * a->shape[a->rank - 1] * 16;
  } else if (op_is_global_access(op)) {
    weight = type_numel(access_type(op)) * access_elem_bytes(op);
  }
  if (weight) vec_push(&c->ctx->arena, &c->anchors, ((LayoutAnchor){op, layout_loop_weight(op, weight), NULL}));
}

// Whether a tensor of this shape is reduced or scanned along the axis anywhere in the kernel.
static bool shape_is_reduced(const Coalesce *c, const Func *f, const Type *t, uint32_t axis) {
  for (uint32_t i = 0; i < c->reductions.count; i++) {
    const Op *op = c->reductions.data[i];
    if (op->parent->func == f && type_same_shape(op_operand(op, 0)->type, t) && op_int(op, ATTR_AXIS, 0) == axis) return true;
  }
  return false;
}

// Elements per thread that serve all accesses of this shape and order best; see the top of the file.
static int64_t shared_vector(Coalesce *c, const Func *f, const Type *t, uint32_t axis) {
  int64_t stores = 0, loads = 1;
  for (uint32_t i = 0; i < c->anchors.count; i++) {
    const Op *op = c->anchors.data[i].op;
    AccessInfo a;
    if ((op->opcode != OP_LOAD && op->opcode != OP_STORE) || op->parent->func != f || !type_same_shape(access_type(op), t)) continue;
    if (!axis_access_info(c->axes, op, &a) || a.fastest != axis) continue;
    int64_t v = access_max_vector(&a, axis, access_elem_bytes(op));
    if (op->opcode == OP_LOAD) loads = max_i64(loads, v);
    else stores = stores ? min_i64(stores, v) : v;
  }
  return stores > 1 ? stores : loads;
}

static int64_t elements_per_thread(const Coalesce *c, const Type *t) {
  return max_i64(1, type_numel(t) / ((int64_t)c->module->num_warps * WARP_SIZE));
}

static const Layout *choose_for_access(Coalesce *c, const Op *op) {
  const Type *t = access_type(op);
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
  int64_t vec = op->opcode == OP_LOAD || op->opcode == OP_STORE ? shared_vector(c, op->parent->func, t, axis) : 1;
  if (op->opcode == OP_STORE) vec = min_i64(vec, access_max_vector(&a, axis, access_elem_bytes(op)));
  choice.vec = (uint32_t)min_i64(vec, elements_per_thread(c, t));
  choice.rows_in_warps = t->rank > 1 && shape_is_reduced(c, op->parent->func, t, axis);
  return layout_blocked_for(c->ctx, c->module, t, &choice);
}

// An accumulator for multiply-adds: square-ish patches per thread, so that each operand element loaded is used often.
static const Layout *choose_for_dot(Coalesce *c, const Op *op) {
  const Type *t = op->results[0].type;
  int64_t per_thread = elements_per_thread(c, t);
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

static const Layout *choose(void *user, const Op *op) {
  return op->opcode == OP_DOT ? choose_for_dot(user, op) : choose_for_access(user, op);
}

static bool accepts(void *user, const Op *op, const Layout *l) {
  Coalesce *c = user;
  const Layout *own = choose_for_access(c, op);
  AccessInfo a;
  axis_access_info(c->axes, op, &a);
  uint32_t warps = c->module->num_warps;
  const Type *moved = type_with_elem(c->ctx, access_type(op), type_elem(op_operand(op, 0)->type)->elem);
  return own == l || access_cost(op, &a, l, warps) <= access_cost(op, &a, own, warps) + conversion_cost(moved, warps);
}

static const Layout *otherwise(void *user, const Value *v) {
  Coalesce *c = user;
  const Type *t = v->type;
  BlockedChoice choice = {.vec = 1, .rows_in_warps = t->rank > 1 && shape_is_reduced(c, value_block(v)->func, t, t->rank - 1u)};
  // A tile that comes by TMA is read from shared memory 16 bytes at a time.
  bool from_tile = v->def && (v->def->opcode == OP_DESC_LOAD || v->def->opcode == OP_DESC_GATHER);
  if (from_tile) choice.vec = (uint32_t)min_i64(16 / type_elem_bytes(t), elements_per_thread(c, t));
  for (uint32_t i = 0; i < t->rank; i++) choice.order[i] = t->rank - 1u - i;
  return layout_blocked_for(c->ctx, c->module, t, &choice);
}

bool pass_coalesce(PassCtx *p) {
  Coalesce c = {.ctx = p->ctx, .module = p->module, .axes = axis_analyse(p->ctx, p->module)};
  module_walk(p->module, gather, &c);
  layout_assign(p->ctx, p->module, &c.anchors, &(LayoutChoices){choose, accepts, otherwise, &c});
  return true;
}
