// coalesce: a layout for every tensor. TILE becomes LAID_OUT.
//
// Anchors choose their layouts: dots by multiply-adds, then memory accesses, those with the most bytes in the deepest
// loops first, then dots that accelerate_dot will give the layouts of tensor cores. Each layout flows along data
// (layout_rules.h) to every value that has none yet; what belongs together shares one. Where two regions meet, the pass
// places a convert_layout. remove_conversions removes those that have a cheaper substitute.
//
// Choice at an access: the fastest axis is the one of longest contiguity, or of the shortest step where nothing is
// known to be contiguous, and lanes run along it. All accesses of a kernel with the same shape and fastest axis get one
// layout: as many consecutive elements per thread as make them cheapest together (16 bytes if all elements have one
// size), but not more than leaves every thread busy. Loads that will be copied ahead, and loads that only a dot takes,
// have one for each size of element: what computes with them has a layout of its own. If the tensor is reduced along
// that axis and has rows enough, warps take whole rows: the reduction then needs only shuffles. Those count, too: with
// more elements of a row in a thread, fewer lanes share it. Warps do not take whole rows if they would have to exchange
// more for reductions along another axis. Where a load and the store of what becomes of it run along different axes,
// each thread has neighbours of both, if elements are bytes.
//
// In: verified TILE. Out: every tensor type has a layout; operands agree as layout_rules.h says.
#include <string.h>

#include "passes/dot_unit.h"
#include "passes/layout_assign.h"
#include "passes/layout_cost.h"
#include "passes/layout_rules.h"
#include "passes/pass.h"

// `apart`: for loads that give no layout to what computes with them, the element size in bytes; 0 for other accesses.
typedef struct {
  const Func *func;
  const Type *shape;
  uint32_t order[LAYOUT_MAX_RANK], apart;
  const Layout *layout;
  int64_t cost;              // of the accesses, and of what is reduced or scanned along the fastest axis
} Choice;

// A store, a load that what it stores is computed from element by element, and the axis of each one's tensor along
// which the other's lanes run.
typedef struct { const Op *store, *load; uint32_t in_store, in_load; } Turned;

typedef struct {
  Context *ctx;
  Module *module;
  AxisAnalysis *axes;
  VEC(Choice) choices;
  VEC(Turned) turned;
  VEC(Op *) reductions;      // reduce and scan
  bool exchanges;            // whether threads exchange elements anywhere
  LayoutAnchors anchors;
} Coalesce;

static void gather(Op *op, void *user) {
  Coalesce *c = user;
  int64_t weight = 0;
  c->exchanges |= op_unit(op) == UNIT_EXCH;
  if (op->opcode == OP_REDUCE || op->opcode == OP_SCAN) vec_push(&c->ctx->arena, &c->reductions, op);
  if (op->opcode == OP_DOT) {
    const Type *a = op_operand(op, 0)->type;
    uint32_t bits;
    weight = type_numel(op->results[0].type) * a->shape[a->rank - 1] * 16;
    if (dot_unit(c->module, op, &bits) != DOT_FMA) {
      vec_push(&c->ctx->arena, &c->anchors, ((LayoutAnchor){op, 1, NULL}));
      return;
    }
  } else if (access_is_tensor(op)) {
    weight = type_numel(access_type(op)) * access_elem_bytes(op);
  }
  if (weight) vec_push(&c->ctx->arena, &c->anchors, ((LayoutAnchor){op, layout_loop_weight(op, weight), NULL}));
}

// Whether a reduction or scan in loops as deep as `at` takes a tensor of this shape. A sum that a loop has accumulated
// is no reason to give the loop fewer columns per row.
static bool takes_shape(const Op *op, const Block *at, const Type *t) {
  if (op->parent->func != at->func || !type_same_shape(op_operand(op, 0)->type, t)) return false;
  return !at->first || layout_loop_weight(op, 1) >= layout_loop_weight(at->first, 1);
}

static bool shape_is_reduced(const Coalesce *c, const Block *at, const Type *t, uint32_t axis) {
  VEC_EACH(x, c->reductions)
    if (takes_shape(*x, at, t) && op_int(*x, ATTR_AXIS, 0) == axis) return true;
  return false;
}

// What warps pay if each of those tensors has the layout: those reduced along several axes meet along one of them.
static int64_t cost_of_meeting(const Coalesce *c, const Block *at, const Type *t, const BlockedChoice *b) {
  const Layout *l = layout_blocked_for(c->ctx, c->module->num_warps, t, b);
  int64_t cost = 0;
  VEC_EACH(x, c->reductions)
    if (takes_shape(*x, at, t)) cost += layout_cost_meeting(*x, l, c->module->num_warps);
  return cost;
}

// Whether warps take whole rows of the fastest axis. They do if the tensor is reduced along it; unless it is reduced
// along another axis, too, and the warps' parts of those results are so many more that these cost twice as much.
static bool warps_take_rows(const Coalesce *c, const Block *at, const Type *t, BlockedChoice b) {
  if (t->rank < 2 || !shape_is_reduced(c, at, t, b.order[0])) return false;
  const int64_t spread = cost_of_meeting(c, at, t, &b);
  b.rows_in_warps = true;
  return cost_of_meeting(c, at, t, &b) <= 2 * spread;
}

static int64_t elements_per_thread(const Coalesce *c, const Type *t) {
  return max_i64(1, type_numel(t) / ((int64_t)c->module->num_warps * WARP_SIZE));
}

static bool is_only_for_dot(const Op *op) {
  if (op->opcode != OP_LOAD || !value_has_one_use(&op->results[0])) return false;
  const Use *u = op->results[0].uses;
  return op_unit(u->user) == UNIT_DOT && u->index < 2;
}

// Of a load that pipeline_loops will copy to shared memory, or that only a dot takes, the element size; 0 for others.
static uint32_t apart_bytes(const Op *op) {
  return access_is_copied(op) || is_only_for_dot(op) ? access_elem_bytes(op) : 0;
}

static bool same_choice(const Choice *x, const Func *f, const Type *t, const BlockedChoice *b, uint32_t apart) {
  return x->func == f && x->apart == apart && type_same_shape(x->shape, t) &&
         !memcmp(x->order, b->order, sizeof *b->order * t->rank);
}

// The bytes of the single elements that a load of this shape and fastest axis brings to a dot by registers, or 0.
static uint32_t stored_for_dot(const Coalesce *c, const Func *f, const Type *t, const BlockedChoice *b) {
  VEC_EACH(it, c->anchors) {
    const Op *op = it->op;
    AccessInfo a;
    if (op->opcode != OP_LOAD || op->parent->func != f || !access_is_tensor(op) ||
        !type_same_shape(access_type(op), t) || !access_info(c->axes, op, &a) || a.fastest != b->order[0])
      continue;
    const uint32_t bytes = access_elem_bytes(op);
    if (access_feeds_dot(op) && (bytes < 4 || !access_is_copied(op))) return bytes;
  }
  return 0;
}

// What a scattered store pays for neighbours in one thread: the lanes of an instruction then lie further apart, and
// what it would write to a line of memory at once goes there in several parts. (Caches join the parts of loads.) Where
// threads exchange elements, neighbours in one thread save more. PART for each doubling is more than what three loads
// save by pairs.
static int64_t cost_of_parts(const Coalesce *c, const Op *op, const AccessInfo *a, const Layout *l, uint32_t vec) {
  enum { PART = 6 };
  const int64_t step = min_i64(a->step[a->fastest], SECTOR_BYTES) * access_elem_bytes(op);
  if (op->opcode == OP_LOAD || a->contiguity[a->fastest] > 1 || step < SECTOR_BYTES || c->exchanges) return 0;
  return (int64_t)layout_regs_per_thread(l) * c->module->num_warps * PART * log2_u32(vec);
}

// The shape that v is computed from element by element, maybe reshaped, if that is t; NULL if it is not. No shape of
// what comes from a dot: that has the layout of tensor cores. Looks at `left` ops at most.
static const Type *source_shape(const Value *v, const Type *t, uint32_t *left) {
  const Op *op = v->def;
  if (!op || v->type->kind != TYPE_TENSOR || !*left) return NULL;
  --*left;
  if (access_is_tensor(op)) return type_same_shape(access_type(op), t) ? t : NULL;
  if (op->opcode != OP_RESHAPE && !op_is(op, TRAIT_ELEMENTWISE)) return NULL;
  for (uint32_t i = 0; i < op->num_operands; i++)
    if (op_operand(op, i) && source_shape(op_operand(op, i), t, left)) return t;
  return NULL;
}

// What reductions and scans along the fastest axis cost, of what is computed from such tensors in layout l.
static int64_t cost_of_exchanges(const Coalesce *c, const Func *f, const Type *t, const BlockedChoice *b,
                                 const Layout *l) {
  int64_t cost = 0;
  VEC_EACH(x, c->reductions) {
    const Type *reduced = op_operand(*x, 0)->type;
    uint32_t left = 64;
    if ((*x)->parent->func != f || !source_shape(op_operand(*x, 0), t, &left)) continue;
    const Layout *at = layout_reshape(c->ctx, l, reduced->rank, reduced->shape);
    const uint32_t axis = (uint32_t)op_int(*x, ATTR_AXIS, 0);
    if (layout_axis_mask(at, axis) & ~layout_axis_mask(l, b->order[0])) continue;
    cost += layout_loop_weight(*x, 64 * layout_cost_exchange(*x, at, c->module->num_warps));
  }
  return cost;
}

// Finds the loads that v, which the store takes, is computed from and that run along another axis; axis k of the
// store's tensor is axis order[k] of v. Looks at `left` ops at most.
static void find_turned(Coalesce *c, const Op *store, uint32_t fastest, const Value *v, const int64_t *order,
                        uint32_t *left) {
  const Op *op = v->def;
  const uint32_t rank = v->type->rank;
  AccessInfo a;
  if (!op || !type_is_tensor(v->type) || !*left) return;
  --*left;
  if (op->opcode == OP_LOAD && access_is_tensor(op)) {
    if (apart_bytes(op) || !access_info(c->axes, op, &a) || a.fastest == order[fastest]) return;
    Turned pair = {.store = store, .load = op, .in_load = (uint32_t)order[fastest]};
    while (order[pair.in_store] != a.fastest) pair.in_store++;
    vec_push(&c->ctx->arena, &c->turned, pair);
    return;
  }
  int64_t turned[LAYOUT_MAX_RANK];
  const bool is_trans = op->opcode == OP_TRANS;
  if (!is_trans && !(op_is(op, TRAIT_ELEMENTWISE) && op_is(op, TRAIT_PURE))) return;
  for (uint32_t i = 0; i < rank; i++) turned[i] = is_trans ? op_attr(op, ATTR_ORDER)->ints[order[i]] : order[i];
  for (uint32_t i = 0; i < op->num_operands; i++) find_turned(c, store, fastest, op_operand(op, i), turned, left);
}

static void gather_turned(Op *op, void *user) {
  Coalesce *c = user;
  AccessInfo a;
  if (op->opcode != OP_STORE || !access_is_tensor(op) || !access_info(c->axes, op, &a)) return;
  int64_t order[LAYOUT_MAX_RANK];
  for (uint32_t i = 0; i < LAYOUT_MAX_RANK; i++) order[i] = i;
  uint32_t left = 64;
  find_turned(c, op, a.fastest, op_named(op, OPERAND_VALUE), order, &left);
}

// Whether the op is an access of this shape and fastest axis.
static bool is_one_of(const Coalesce *c, const Op *op, const Func *f, const Type *t, const BlockedChoice *b,
                      uint32_t apart, AccessInfo *a) {
  return access_is_tensor(op) && op->parent->func == f && type_same_shape(access_type(op), t) &&
         apart_bytes(op) == apart && access_info(c->axes, op, a) && a->fastest == b->order[0];
}

// The most elements of a thread: what one instruction takes of the smallest.
static int64_t most_elements(const Coalesce *c, const Func *f, const Type *t, const BlockedChoice *b, uint32_t apart) {
  uint32_t bytes = 16;
  AccessInfo a;
  VEC_EACH(it, c->anchors)
    if (is_one_of(c, it->op, f, t, b, apart, &a) && access_elem_bytes(it->op) < bytes)
      bytes = access_elem_bytes(it->op);
  return min_i64(16 / bytes, elements_per_thread(c, t));
}

// How many neighbours along the second axis one instruction could take in an access that runs along that axis, if a
// store and a load of such tensors are turned to one another, and one of them has elements of a byte; 1 otherwise.
// Threads that have so many exchange words instead of bytes. (stmatrix or ldmatrix turn elements of two bytes.) Rows of
// less than a sector may lie side by side in memory: for these, neighbours stay in neighbouring lanes.
static int64_t turned_vector(const Coalesce *c, const Func *f, const Type *t, const BlockedChoice *b) {
  int64_t most = 1;
  AccessInfo a;
  VEC_EACH(x, c->turned)
    for (uint32_t i = 0; i < 2; i++) {
      const Op *own = i ? x->load : x->store, *other = i ? x->store : x->load;
      const uint32_t bytes = access_elem_bytes(other), own_bytes = access_elem_bytes(own);
      if ((bytes > 1 && own_bytes > 1) || t->shape[b->order[0]] * own_bytes < SECTOR_BYTES) continue;
      if ((i ? x->in_load : x->in_store) != b->order[1] || !is_one_of(c, own, f, t, b, 0, &a)) continue;
      access_info(c->axes, other, &a);
      most = max_i64(most, access_max_vector(&a, a.fastest, bytes));
    }
  return most;
}

// The layout with the number of elements per thread that makes all accesses of this shape and fastest axis cheapest
// together, and the reductions and scans of what they load.
static Choice cheapest(Coalesce *c, const Func *f, const Type *t, BlockedChoice *b, uint32_t apart) {
  VEC_EACH(x, c->choices)
    if (same_choice(x, f, t, b, apart)) return *x;
  const Layout *best = NULL;
  int64_t best_cost = INT64_MAX;
  uint32_t best_vec = 1;
  const int64_t most = most_elements(c, f, t, b, apart);
  for (b->vec = 1; b->vec <= most; b->vec *= 2) {
    const Layout *l = layout_blocked_for(c->ctx, c->module->num_warps, t, b);
    int64_t cost = cost_of_exchanges(c, f, t, b, l);
    VEC_EACH(it, c->anchors) {
      const Op *op = it->op;
      AccessInfo a;
      if (!is_one_of(c, op, f, t, b, apart, &a)) continue;
      cost += layout_loop_weight(op, 64 * (layout_cost_access(op, &a, l, c->module->num_warps) +
                                           cost_of_parts(c, op, &a, l, b->vec)));
    }
    if (cost >= best_cost) continue;
    best = l;
    best_cost = cost;
    best_vec = b->vec;
  }
  // What loads bring by single elements can still be stored for a dot by vectors, along the second axis.
  const uint32_t bytes = best_vec == 1 ? stored_for_dot(c, f, t, b) : 0;
  if (bytes) {
    b->vec = 1;
    b->across = (uint32_t)min_i64(max_i64(1, 16 / bytes), elements_per_thread(c, t));
    best = layout_blocked_for(c->ctx, c->module->num_warps, t, b);
  }
  const int64_t turned = apart || bytes ? 1 : min_i64(turned_vector(c, f, t, b), elements_per_thread(c, t) / best_vec);
  if (turned > 1) {
    b->vec = best_vec;
    b->across = (uint32_t)turned;
    best = layout_blocked_for(c->ctx, c->module->num_warps, t, b);
  }
  Choice made = {.func = f, .shape = t, .apart = apart, .layout = best, .cost = best_cost};
  memcpy(made.order, b->order, sizeof made.order);
  vec_push(&c->ctx->arena, &c->choices, made);
  return made;
}

// The reduction of a reduction's result along another axis, or NULL.
static const Op *reduced_again(const Op *op) {
  EACH_USE(u, &op->results[0])
    if (u->user->opcode == OP_REDUCE && op->results[0].type->kind == TYPE_TENSOR) return u->user;
  return NULL;
}

// What reductions and scans along the other axes cost, of tensors of this shape, and reductions of their results.
static int64_t cost_of_others(const Coalesce *c, const Block *at, const Type *t, const Choice *x) {
  int64_t cost = 0;
  VEC_EACH(it, c->reductions) {
    if (!takes_shape(*it, at, t) || op_int(*it, ATTR_AXIS, 0) == x->order[0]) continue;
    const Layout *l = x->layout;
    for (const Op *op = *it; op; op = op->opcode == OP_REDUCE ? reduced_again(op) : NULL) {
      cost += layout_loop_weight(op, 64 * (layout_cost_exchange(op, l, c->module->num_warps) +
                                           layout_cost_meeting(op, l, c->module->num_warps)));
      l = layout_rule_result(c->ctx, op, 0, l);
    }
  }
  return cost;
}

// Sets turn[a] of each axis along which tensors of this shape are reduced, or then their results: 1 of the first
// reduction, 2 of its result's, and so on; 0 of the other axes.
static void find_turns(const Coalesce *c, const Block *at, const Type *t, uint32_t turn[LAYOUT_MAX_RANK]) {
  memset(turn, 0, sizeof *turn * LAYOUT_MAX_RANK);
  VEC_EACH(it, c->reductions) {
    if (!takes_shape(*it, at, t)) continue;
    uint32_t of[LAYOUT_MAX_RANK], rank = t->rank, n = 0;
    for (uint32_t i = 0; i < rank; i++) of[i] = i;
    for (const Op *op = *it; op; op = op->opcode == OP_REDUCE ? reduced_again(op) : NULL) {
      const uint32_t axis = (uint32_t)op_int(op, ATTR_AXIS, 0);
      turn[of[axis]] = ++n;
      memmove(&of[axis], &of[axis + 1], sizeof *of * (--rank - axis));
    }
  }
}

// Lets lanes and warps go to axes along which the tensor is not reduced before they go to others, and to the axis of the
// first reduction last: each thread then reduces most of what it holds itself. False if that is so in any case.
static bool reduce_in_threads(const Coalesce *c, const Block *at, const Type *t, BlockedChoice *b) {
  uint32_t turn[LAYOUT_MAX_RANK];
  bool is_changed = false;
  find_turns(c, at, t, turn);
  const uint32_t never = t->rank + 1;   // an axis that is not reduced comes first
  for (uint32_t i = 2; i < t->rank; i++)
    for (uint32_t k = i; k > 1; k--) {
      const uint32_t a = turn[b->order[k - 1]], x = turn[b->order[k]];
      if ((a ? a : never) >= (x ? x : never)) break;
      const uint32_t swap = b->order[k];
      b->order[k] = b->order[k - 1];
      b->order[k - 1] = swap;
      is_changed = true;
    }
  return is_changed;
}

static const Layout *choose_for_access(Coalesce *c, const Op *op) {
  const Type *t = access_type(op);
  const Func *f = op->parent->func;
  AccessInfo a;
  access_info(c->axes, op, &a);
  BlockedChoice choice = {.vec = 1};
  for (uint32_t i = 0; i < t->rank; i++) choice.order[i] = t->rank - 1u - i;
  for (uint32_t i = 1; i < t->rank; i++)
    for (uint32_t k = i; k > 0 && access_is_faster(&a, choice.order[k], choice.order[k - 1]); k--) {
      uint32_t swap = choice.order[k];
      choice.order[k] = choice.order[k - 1];
      choice.order[k - 1] = swap;
    }
  choice.rows_in_warps = warps_take_rows(c, op->parent, t, choice);
  BlockedChoice in_threads = choice;
  const Choice x = cheapest(c, f, t, &choice, apart_bytes(op));
  if (!reduce_in_threads(c, op->parent, t, &in_threads)) return x.layout;
  const Choice y = cheapest(c, f, t, &in_threads, apart_bytes(op));
  return y.cost + cost_of_others(c, op->parent, t, &y) < x.cost + cost_of_others(c, op->parent, t, &x) ? y.layout
                                                                                                       : x.layout;
}

// Whether v, the right operand of a dot, comes from a load that runs along K.
static bool runs_along_k(const Coalesce *c, const Value *v) {
  int64_t axis = v->type->rank - 2;
  for (; value_op(v, OP_TRANS); v = op_operand(v->def, 0)) axis = op_attr(v->def, ATTR_ORDER)->ints[axis];
  AccessInfo a;
  if (value_op(v, OP_DESC_LOAD)) return axis == v->type->rank - 1;
  return value_op(v, OP_LOAD) && access_is_tensor(v->def) && access_info(c->axes, v->def, &a) && a.fastest == axis;
}

// An accumulator for multiply-adds: nearly square patches per thread use each loaded operand element often. Threads
// read vectors of the right operand along N, and therefore have neighbouring columns; or along K, and then neighbouring
// lanes have neighbouring columns, whose vectors lie in different banks.
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
  size[n] = (uint32_t)min_i64(per_thread >= 64 ? 8 : patch, t->shape[n]);
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
  if (runs_along_k(c, op_operand(op, 1))) size[n] = 1;
  return layout_make_blocked(c->ctx, t->rank, t->shape, size, lanes, warps, order);
}

static const Layout *choose(void *user, const Op *op) {
  return op->opcode == OP_DOT ? choose_for_dot(user, op) : choose_for_access(user, op);
}

static bool accepts(void *user, const Op *op, const Layout *l) {
  Coalesce *c = user;
  const Layout *own = choose_for_access(c, op);
  AccessInfo a;
  access_info(c->axes, op, &a);
  return layout_access_accepts(c->ctx, op, &a, l, own, c->module->num_warps);
}

// How many elements of a row each thread has of a tile that TMA has written: those that make reading it, and reducing
// tensors of its shape, cheapest together.
static uint32_t tile_vector(const Coalesce *c, const Value *v, BlockedChoice b) {
  enum { READ = 5 };           // an access to shared memory
  const Func *f = value_block(v)->func;
  const int64_t most = min_i64(16 / type_elem_bytes(v->type), elements_per_thread(c, v->type));
  uint32_t best = 1;
  int64_t best_cost = INT64_MAX;
  for (b.vec = (uint32_t)most; b.vec > 0; b.vec /= 2) {
    const Layout *l = layout_blocked_for(c->ctx, c->module->num_warps, v->type, &b);
    int64_t cost = layout_regs_per_thread(l) / b.vec * READ * c->module->num_warps;
    VEC_EACH(x, c->reductions)
      if ((*x)->parent->func == f && type_same_shape(op_operand(*x, 0)->type, v->type))
        cost += layout_loop_weight(*x, layout_cost_exchange(*x, l, c->module->num_warps));
    if (cost >= best_cost) continue;
    best = b.vec;
    best_cost = cost;
  }
  return best;
}

static const Layout *otherwise(void *user, const Value *v) {
  Coalesce *c = user;
  const Type *t = v->type;
  BlockedChoice choice = {.vec = 1};
  for (uint32_t i = 0; i < t->rank; i++) choice.order[i] = t->rank - 1u - i;
  choice.rows_in_warps = warps_take_rows(c, value_block(v), t, choice);
  if (v->def && (v->def->opcode == OP_DESC_LOAD || v->def->opcode == OP_DESC_GATHER))
    choice.vec = tile_vector(c, v, choice);
  return layout_blocked_for(c->ctx, c->module->num_warps, t, &choice);
}

// Gives a loop its own copy of a range that it starts with, so that other uses of the range do not choose the layout of
// the value that the loop carries.
static void copy_starts(Op *loop, void *user) {
  Context *ctx = user;
  if (!op_is(loop, TRAIT_LOOP)) return;
  for (uint32_t i = 0; i < loop->num_operands; i++) {
    Value *start = op_operand(loop, i);
    if (!start || !value_op(start, OP_RANGE) || value_has_one_use(start)) continue;
    Builder b = builder_before(ctx, loop);
    op_set_operand(loop, i, op_result(build_clone(&b, start->def, value_map_new(ctx)), 0));
  }
}

void pass_coalesce(PassCtx *p) {
  module_walk(p->module, copy_starts, p->ctx);
  Coalesce c = {.ctx = p->ctx, .module = p->module, .axes = axis_analyse(p->ctx, p->module)};
  module_walk(p->module, gather, &c);
  module_walk(p->module, gather_turned, &c);
  layout_assign(p->ctx, p->module, &c.anchors, &(LayoutChoices){choose, accepts, otherwise, &c});
}
