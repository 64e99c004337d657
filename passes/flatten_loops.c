// flatten_loops: a loop over tiles and the loop over K inside it become one loop. pipeline_loops can then copy the next
// tile's operands while this tile is being finished.
//   in:  TILE, `for` with flatten and exactly one `for` in its body; what stands before the inner loop is pure
//   out: one `for` over all inner iterations of all tiles
//
//   for j = lb, ub, step; O                     n = trips of the inner loop, the same for every tile
//     P(j, O)           pure                    if n > 0
//     for k; I = init(P)          →               for t = 0, trips(outer) · n;  j, k, O, P, I
//       B(k, I)                                     P' = k first ? P(j, O) : P           I' = k first ? init(P') : I
//     E(j, O, I)        epilogue                    I'' = B(k, I')
//     yield O'                                      O' = k last ? E(j, O, I'') : O
//                                                   k, j step on
//                                               else the outer loop with the inner one taken away
// The inner bounds must not change from tile to tile. An accumulator that starts as a constant is reset by a select on
// "k first", which wgmma takes as its use_c flag.
#include "ir/loop.h"
#include "passes/pass.h"


// Moves out of the loop what a tile's prologue computes without the tile's number. It need not be carried.
static void hoist_invariants(Op *outer, const Op *inner) {
  for (Op *op = outer->blocks[0]->first, *next; op != inner; op = next) {
    next = op->next;
    if (op_is(op, TRAIT_PURE) && !op->num_blocks && op_operands_outside(op, outer)) op_move_before(op, outer);
  }
}

// The next tile would overwrite this tile's descriptor while copies through it are in flight.
static bool makes_descriptor_of_tile(const Op *outer, const Op *inner) {
  EACH_OP(op, inner->blocks[0])
    if (op->opcode == OP_MAKE_DESC && !op_operands_outside(op, outer)) return true;
  return false;
}

static Op *only_inner_loop(Op *outer) {
  Op *inner = NULL;
  EACH_OP(op, outer->blocks[0]) {
    if (op->opcode != OP_FOR) continue;
    if (inner) return NULL;
    inner = op;
  }
  if (!inner) return NULL;
  hoist_invariants(outer, inner);
  for (uint32_t i = 0; i < FOR_INITS; i++)
    if (!value_defined_outside(op_operand(inner, i), outer)) return NULL;
  for (Op *op = outer->blocks[0]->first; op != inner; op = op->next) {
    if (op->opcode == OP_MAKE_DESC || !op_only_computes(op)) return NULL;
  }
  return makes_descriptor_of_tile(outer, inner) ? NULL : inner;
}

static Value **mapped(Context *ctx, const ValueMap *map, const Op *op, uint32_t first, uint32_t n) {
  Value **v = arena_array(&ctx->arena, Value *, n + 1);
  for (uint32_t i = 0; i < n; i++) v[i] = value_map_get(map, op_operand(op, first + i));
  return v;
}

// ---- the fused loop ----

typedef struct {
  Context *ctx;
  Op *outer, *inner;
  VEC(Value *) live;         // P: values made before the inner loop that it or the epilogue uses
} Nest;

// What the fused loop carries: j, the number of the inner step, k, then O…, P…, I….
enum { TILE, STEP, K, NUM_COUNTERS };

static uint32_t at_outer(uint32_t i) { return NUM_COUNTERS + i; }
static uint32_t at_live(const Nest *n, uint32_t i) { return NUM_COUNTERS + n->outer->num_results + i; }
static uint32_t at_inner(const Nest *n, uint32_t i) { return NUM_COUNTERS + n->outer->num_results + n->live.count + i; }

static void find_live(Nest *n) {
  const Block *body = n->outer->blocks[0];
  for (Op *op = body->first; op != n->inner; op = op->next)
    for (uint32_t r = 0; r < op->num_results; r++) {
      bool used = false;
      for (const Use *u = op->results[r].uses; u && !used; u = u->next) {
        const Op *at = u->user;
        while (at->parent != body) at = at->parent->parent;
        for (const Op *o = n->inner; o && !used; o = o->next) used = o == at;
      }
      if (used) vec_push(&n->ctx->arena, &n->live, &op->results[r]);
    }
}

// The prologue's inputs: the outer loop's variables in one tile.
static ValueMap *tile_inputs(const Nest *n, Value *j, Value *const *o) {
  ValueMap *map = value_map_new(n->ctx);
  for_bind(n->ctx, map, n->outer, j, o);
  return map;
}

// P and I start as in the first tile.
static void initial_values(const Nest *n, Builder *b, Value *zero, Value **inits) {
  const Op *outer = n->outer, *inner = n->inner;
  inits[TILE] = for_lower(outer);
  inits[STEP] = zero;
  inits[K] = for_lower(inner);
  for (uint32_t i = 0; i < outer->num_results; i++) inits[at_outer(i)] = for_init(outer, i);
  ValueMap *first = tile_inputs(n, inits[TILE], inits + at_outer(0));
  build_clone_range(b, outer->blocks[0]->first, inner, first);
  for (uint32_t i = 0; i < n->live.count; i++) inits[at_live(n, i)] = value_map_get(first, n->live.data[i]);
  for (uint32_t i = 0; i < inner->num_results; i++)
    inits[at_inner(n, i)] = value_map_get(first, for_init(inner, i));
}

// Maps P to its values in this step. A tile's first step computes them.
static void choose_live(const Nest *n, Builder *b, Value *is_first, Value *const *carried, ValueMap *map) {
  uint32_t count = n->live.count;
  if (!count) return;
  const Type **types = arena_array(&n->ctx->arena, const Type *, count);
  for (uint32_t i = 0; i < count; i++) types[i] = n->live.data[i]->type;
  BuildRegion region = build_if_begin(b, is_first, types, count);
  ValueMap *inside = tile_inputs(n, carried[TILE], carried + at_outer(0));
  build_clone_range(b, n->outer->blocks[0]->first, n->inner, inside);
  Value **now = arena_array(&n->ctx->arena, Value *, count);
  for (uint32_t i = 0; i < count; i++) now[i] = value_map_get(inside, n->live.data[i]);
  build_if_else(b, &region, now);
  Op *chosen = build_if_end(b, region, carried + at_live(n, 0));
  for (uint32_t i = 0; i < count; i++) value_map_set(n->ctx, map, n->live.data[i], op_result(chosen, i));
}

// One step of the fused loop.
static void build_step(const Nest *n, Builder *b, Value *num_steps, const Type *const *outer_types,
                       Value *const *carried, Value **yields) {
  const Op *outer = n->outer, *inner = n->inner;
  const Block *ob = outer->blocks[0], *ib = inner->blocks[0];
  const Type *ct = num_steps->type;
  Value *zero = build_int(b, ct, 0), *one = build_int(b, ct, 1);
  Value *is_first = build_cmp(b, CMP_EQ, carried[STEP], zero);
  ValueMap *map = tile_inputs(n, carried[TILE], carried + at_outer(0));
  choose_live(n, b, is_first, carried, map);
  value_map_set(n->ctx, map, for_iv(inner), carried[K]);
  for (uint32_t i = 0; i < inner->num_results; i++) {
    // The inner loop's initial value in this tile: an invariant or one of the live values.
    Value *init = value_map_get(map, for_init(inner, i));
    Value *now = build_ternary(b, OP_SELECT, is_first, init, carried[at_inner(n, i)]);
    value_map_set(n->ctx, map, for_carried(inner, i), now);
  }
  build_clone_range(b, ib->first, ib->last, map);
  Value **iter = mapped(n->ctx, map, ib->last, 0, inner->num_results);

  Value *next_step = build_binary(b, OP_ADDI, carried[STEP], one);
  Value *is_last = build_cmp(b, CMP_EQ, next_step, num_steps);
  BuildRegion post = build_if_begin(b, is_last, outer_types, outer->num_results);
  for (uint32_t i = 0; i < inner->num_results; i++) value_map_set(n->ctx, map, &inner->results[i], iter[i]);
  build_clone_range(b, inner->next, ob->last, map);
  build_if_else(b, &post, mapped(n->ctx, map, ob->last, 0, outer->num_results));
  Op *epilogue = build_if_end(b, post, carried + at_outer(0));

  yields[TILE] = build_ternary(b, OP_SELECT, is_last, build_binary(b, OP_ADDI, carried[TILE], for_step(outer)),
                               carried[TILE]);
  yields[STEP] = build_ternary(b, OP_SELECT, is_last, zero, next_step);
  yields[K] = build_ternary(b, OP_SELECT, is_last, for_lower(inner),
                            build_binary(b, OP_ADDI, carried[K], for_step(inner)));
  for (uint32_t i = 0; i < outer->num_results; i++) yields[at_outer(i)] = op_result(epilogue, i);
  for (uint32_t i = 0; i < n->live.count; i++) yields[at_live(n, i)] = value_map_get(map, n->live.data[i]);
  for (uint32_t i = 0; i < inner->num_results; i++) yields[at_inner(n, i)] = iter[i];
}

// Without inner iterations a tile is prologue and epilogue only.
static Op *without_inner(const Nest *n) {
  Op *empty = op_clone(n->ctx, n->outer, value_map_new(n->ctx)), *loop = empty->blocks[0]->first;
  op_remove_attr(empty, ATTR_FLATTEN);
  while (loop->opcode != OP_FOR) loop = loop->next;
  op_replace(loop, op_operand_values(n->ctx, loop, FOR_INITS));
  return empty;
}

static void flatten(Context *ctx, Op *outer, Op *inner) {
  Nest nest = {.ctx = ctx, .outer = outer, .inner = inner};
  find_live(&nest);
  uint32_t num_o = outer->num_results, num = at_inner(&nest, inner->num_results);
  Builder b = builder_before(ctx, outer);
  Value *n_inner = for_build_trips(&b, inner), *n_outer = for_build_trips(&b, outer);
  const Type *i64 = type_scalar(ctx, SC_I64), *i32 = type_scalar(ctx, SC_I32);
  // If both counts have 32 bits, 32 bits keep the loop cheap. The product passes 2^31 only in a problem where each
  // count nearly does.
  const Type *ct = type_is_scalar(n_inner->type, SC_I64) || type_is_scalar(n_outer->type, SC_I64) ? i64 : i32;
  if (n_inner->type != ct) n_inner = build_cast(&b, OP_EXTSI, n_inner, ct);
  if (n_outer->type != ct) n_outer = build_cast(&b, OP_EXTSI, n_outer, ct);
  Value *zero = build_int(&b, ct, 0), *one = build_int(&b, ct, 1);
  const Type **types = op_result_types(ctx, outer);
  BuildRegion versions = build_if_begin(&b, build_cmp(&b, CMP_SGT, n_inner, zero), types, num_o);

  Value **inits = arena_array(&ctx->arena, Value *, num), **carried = arena_array(&ctx->arena, Value *, num),
        **yields = arena_array(&ctx->arena, Value *, num);
  initial_values(&nest, &b, zero, inits);
  BuildRegion loop = build_for_begin(&b, zero, build_binary(&b, OP_MULI, n_outer, n_inner), one, inits, num, carried);
  op_copy_attrs(ctx, loop.op, inner);
  const Attr *stages = op_attr(outer, ATTR_NUM_STAGES);
  if (stages) op_set_int(ctx, loop.op, ATTR_NUM_STAGES, stages->i);
  build_step(&nest, &b, n_inner, types, carried, yields);
  Op *fused = build_for_end(&b, loop, yields);

  build_if_else(&b, &versions, op_result_values(ctx, fused) + at_outer(0));
  Op *empty = without_inner(&nest);
  op_append(empty, b.block);
  Op *both = build_if_end(&b, versions, op_result_values(ctx, empty));
  op_replace(outer, op_result_values(ctx, both));
}

static void visit(Op *op, void *user) {
  if (op->opcode != OP_FOR || !op_int(op, ATTR_FLATTEN, 0)) return;
  Op *inner = only_inner_loop(op);
  if (!inner) {
    remark_missed(op, "not flattened: no single inner loop, or work beside it that cannot be repeated");
    return;
  }
  remark_applied(op, "one loop with the one inside, whose next tile is copied ahead");
  flatten(user, op, inner);
}

void pass_flatten_loops(PassCtx *p) {
  module_walk_inside_out(p->module, visit, p->ctx);
}
