// ping_pong: ping-pong scheduling of a loop with two chained dots (attention): the second dot's operand is computed
// from the first's result. The second dot is delayed by one iteration. The tensor cores get both dots together, and the
// arithmetic between the two runs meanwhile.
//   in, out: LAID_OUT, dots on wgmma; before pipeline_loops
//
//   for j                                    S = wgmma Q, K(first);  P, C = f(S), g(O, S)     if the loop runs at all
//     S = wgmma Q, K(j)                      for j up to the last but one, P, C
//     P = f(S)                        →        pingpong_wait
//     C = g(O, S)                              S = wgmma Q, K(next j)          in flight
//     O = wgmma (half P), V(j), C              O = wgmma (half P), V(j), C     in flight
//                                              pingpong_pass
//                                              P = f(wait S)
//                                              C = g(wait O, S)
//                                            O = wgmma (half P), V(last), C                   if the loop runs at all
//
// Between pingpong_wait and pingpong_pass a warpgroup has the tensor cores to itself. It does its arithmetic while the
// others have them. If registers that a wgmma reads are written while it is in flight, the assembler serialises the
// wgmmas. Therefore the loop carries P as f computes it and converts it before the next pair. Loads of K are marked
// `peeled` 1 (the first is before the loop, and the loop loads the next iteration's), those of V -1 (the last is after
// the loop).
#include "ir/loop.h"
#include "ir/roles.h"
#include "passes/pass.h"

typedef struct { Context *ctx; Module *module; } PingPong;

enum { OF_FIRST = 1, OF_SECOND = 2, DELAYED = 4, SEEN = 8 };   // Op.mark; SEEN: by the running search
enum { OTHER_REGISTERS = 47 };                // of a thread, beside those of S, O and the half P

typedef struct {
  Op *loop, *first, *second, *narrow;         // narrow: the conversion that makes second's operand
  uint32_t carried;                           // which of the loop's values is the second's result: O
} Chain;

// Marks what a value needs of the body: pure ops of the induction variable, TMA loads, buffers, and the one dot `dot`.
static bool mark_slice(const Op *loop, Value *v, const Op *dot, uint32_t bit) {
  Block *body = loop->blocks[0];
  if (v->block == body) return v->index == 0;
  if (!v->def || v->def->parent != body) return true;
  Op *op = v->def;
  if (op->mark & bit) return true;
  bool fine =
      (op_is(op, TRAIT_PURE) && !op->num_blocks) || op->opcode == OP_DESC_LOAD || op->opcode == OP_ALLOC || op == dot;
  if (!fine) return false;
  op->mark |= bit;
  for (uint32_t i = 0; i < op->num_operands; i++)
    if (op_operand(op, i) && !mark_slice(loop, op_operand(op, i), dot, bit)) return false;
  return true;
}

// Whether v depends on `source` within the loop.
static bool depends_on(const Op *loop, const Value *v, const Op *source) {
  Op *op = v->def;
  if (op == source) return true;
  if (!op || (op->mark & SEEN) || value_defined_outside(v, loop)) return false;
  if (op->opcode == OP_IF) {       // one result of several: not marked
    for (uint32_t i = 0; i < 2; i++)
      if (depends_on(loop, op_operand(op->blocks[i]->last, v->index), source)) return true;
  } else {
    op->mark |= SEEN;
  }
  for (uint32_t i = 0; i < op->num_operands; i++)
    if (op_operand(op, i) && depends_on(loop, op_operand(op, i), source)) return true;
  return false;
}

static void clear_marks(Op *op, void *user) { op->mark &= ~*(const uint32_t *)user; }

// What lies between the dots is cloned before the loop.
static bool can_clone(const Chain *c, const Op *op) {
  if (op == c->first) return true;
  switch (op->opcode) {
    case OP_DESC_LOAD: case OP_ALLOC: return true;
    case OP_LOAD: return !op_int(op, ATTR_VOLATILE, 0);
    default: return op_only_computes(op);
  }
}

static bool is_memory(const Op *op) { return op->opcode == OP_DESC_LOAD || op->opcode == OP_ALLOC; }

static Value *carried_arg(const Chain *c) { return for_carried(c->loop, c->carried); }

// Marks what is computed from O on the way to v.
static bool mark_from_carried(const Chain *c, Value *v) {
  if (v == carried_arg(c)) return true;
  if (!v->def || v->def->parent != c->loop->blocks[0] || v->def->num_blocks || !op_is(v->def, TRAIT_PURE)) return false;
  if (v->def->mark & SEEN) return v->def->mark & DELAYED;
  v->def->mark |= SEEN;
  bool from = false;
  for (uint32_t i = 0; i < v->def->num_operands; i++)
    if (op_operand(v->def, i)) from |= mark_from_carried(c, op_operand(v->def, i));
  if (from) v->def->mark |= DELAYED;
  return from;
}

// Only g reads O, and only g and the second dot read what g computes.
static bool is_only_delayed(const Chain *c, const Value *v) {
  EACH_USE(u, v)
    if (u->user->parent != c->loop->blocks[0] || !(u->user->mark & DELAYED)) return false;
  return true;
}

static bool find_chain(Op *loop, Chain *c) {
  Block *body = loop->blocks[0];
  Op *dots[2];
  uint32_t n = 0, all = OF_FIRST | OF_SECOND | DELAYED | SEEN, seen = SEEN;
  block_walk(body, clear_marks, &all);
  EACH_OP(op, body) {
    if (op->opcode != OP_WGMMA) continue;
    if (n == 2) return false;
    dots[n++] = op;
  }
  if (n != 2) return false;
  *c = (Chain){.loop = loop, .first = dots[0], .second = dots[1]};
  Value *a = op_operand(c->second, DOT_A), *result = op_result(c->second, 0);
  if (a->type->kind != TYPE_TENSOR || op_operand(c->first, DOT_A)->type->kind != TYPE_BUFFER) return false;
  c->second->mark |= DELAYED;
  while (value_op(a, OP_CONVERT_LAYOUT) && value_has_one_use(a)) {
    a->def->mark |= DELAYED;
    a = op_operand(a->def, 0);
  }
  if (!value_op(a, OP_FPTRUNC) || !value_has_one_use(a) || !depends_on(loop, a, c->first)) return false;
  block_walk(body, clear_marks, &seen);
  c->narrow = a->def;
  c->narrow->mark |= DELAYED;
  if (op_operand(c->narrow, 0)->def == c->first) return false;
  // The result is carried, and nothing else in this iteration reads it.
  if (!value_has_one_use(result) || result->uses->user != body->last) return false;
  c->carried = result->uses->index;
  Value *c_in = op_operand(c->second, DOT_ACC);
  if (c_in->type != carried_arg(c)->type || c_in->type != result->type) return false;
  if (op_operand(c->second, DOT_USE_ACC)) return false;
  if (!mark_from_carried(c, c_in) || !is_only_delayed(c, carried_arg(c))) return false;
  for (Op *op = body->first; op != c->second; op = op->next)
    if ((op->mark & DELAYED) && !is_only_delayed(c, op_result(op, 0))) return false;
  uint32_t of_s = layout_regs_per_thread(op_result(c->first, 0)->type->layout);
  if (of_s + of_s / 2 + layout_regs_per_thread(result->type->layout) > THREAD_REGISTERS - OTHER_REGISTERS) return false;
  // Both dots need tile loads, otherwise there is nothing to copy early. Pointers that the loop advances cannot be
  // computed early.
  if (!mark_slice(loop, op_result(c->first, 0), c->first, OF_FIRST) ||
      !mark_slice(loop, op_operand(c->second, DOT_B), NULL, OF_SECOND))
    return false;
  bool loads[2] = {false, false};
  for (Op *op = body->first; op != body->last; op = op->next) {
    if (op->mark & DELAYED) continue;
    if (!can_clone(c, op)) return false;
    if (op->opcode == OP_DESC_LOAD) loads[0] |= (op->mark & OF_FIRST) != 0, loads[1] |= (op->mark & OF_SECOND) != 0;
    if (!(op->mark & OF_SECOND) || !is_memory(op)) continue;
    // The second dot's tiles stay with it.
    if (op->mark & OF_FIRST) return false;
    EACH_USE(u, op_result(op, 0))
      if (u->user->parent != body || !(u->user->mark & (OF_SECOND | DELAYED))) return false;
  }
  return loads[0] && loads[1];
}

static Op *clone_to(Builder *b, const Op *op, ValueMap *map, int64_t peeled) {
  Op *copy = build_clone(b, op, map);
  if (op->opcode == OP_DESC_LOAD && peeled) op_set_int(b->ctx, copy, ATTR_PEELED, peeled);
  return copy;
}

static bool is_between(const Op *op) {
  return !(op->mark & DELAYED) && !((op->mark & OF_SECOND) && is_memory(op));
}

// The tiles of the second dot for one value of the induction variable.
static Value *clone_tiles(Builder *b, const Chain *c, Value *iv) {
  ValueMap *map = value_map_new(b->ctx);
  value_map_set(b->ctx, map, for_iv(c->loop), iv);
  EACH_OP(op, c->loop->blocks[0])
    if (op->mark & OF_SECOND) clone_to(b, op, map, -1);
  return value_map_get(map, op_operand(c->second, DOT_B));
}

static Value *clone_operand(Builder *b, const Chain *c, Value *p) {
  ValueMap *map = value_map_new(b->ctx);
  value_map_set(b->ctx, map, op_operand(c->narrow, 0), p);
  clone_to(b, c->narrow, map, 0);
  for (const Op *op = c->narrow->next; op != c->second; op = op->next)
    if ((op->mark & DELAYED) && op->opcode == OP_CONVERT_LAYOUT &&
        value_map_get(map, op_operand(op, 0)) != op_operand(op, 0))
      clone_to(b, op, map, 0);
  return value_map_get(map, op_operand(c->second, DOT_A));
}

// Clones g: the second dot's accumulator, from O in the map.
static Value *clone_accumulator(Builder *b, const Chain *c, ValueMap *map, Value *v) {
  if (!v->def || v->def->parent != c->loop->blocks[0] || !(v->def->mark & DELAYED) || value_map_get(map, v) != v)
    return value_map_get(map, v);
  for (uint32_t i = 0; i < v->def->num_operands; i++)
    if (op_operand(v->def, i)) clone_accumulator(b, c, map, op_operand(v->def, i));
  clone_to(b, v->def, map, 0);
  return value_map_get(map, v);
}

static Op *clone_second(Builder *b, const Chain *c, Value *a, Value *tiles, Value *acc) {
  ValueMap *map = value_map_new(b->ctx);
  value_map_set(b->ctx, map, op_operand(c->second, DOT_A), a);
  value_map_set(b->ctx, map, op_operand(c->second, DOT_B), tiles);
  value_map_set(b->ctx, map, op_operand(c->second, DOT_ACC), acc);
  return clone_to(b, c->second, map, 0);
}

// What the new loop carries, from the values of one iteration and its O: the old values except O, then P, C and the
// induction variable of the tiles that the second dot reads next.
static void carried_values(Builder *b, const Chain *c, ValueMap *map, Value *o, Value *iv, Value **out) {
  const Op *yield = c->loop->blocks[0]->last;
  uint32_t n = 0;
  value_map_set(b->ctx, map, carried_arg(c), o);
  for (uint32_t i = 0; i < yield->num_operands; i++)
    if (i != c->carried) out[n++] = value_map_get(map, op_operand(yield, i));
  out[n++] = value_map_get(map, op_operand(c->narrow, 0));
  out[n++] = clone_accumulator(b, c, map, op_operand(c->second, DOT_ACC));
  out[n] = iv;
}

static Op *build_pingpong(Builder *b, Opcode oc, bool edge) {
  Op *op = build_op(b, oc, NULL, 0);
  if (edge) op_set_int(b->ctx, op, ATTR_EDGE, 1);
  return op;
}

static Value *await(Builder *b, int64_t count, Value *v) {
  Op *wait = build_op(b, OP_WGMMA_WAIT, &v, 1);
  op_set_int(b->ctx, wait, ATTR_COUNT, count);
  return op_result(wait, 0);
}

// Builds the first iteration up to the second dot. Its results are the carried values except the induction variable.
static Op *build_front(Builder *b, const Chain *c, Value *has_any) {
  Context *ctx = b->ctx;
  Op *loop = c->loop;
  Block *body = loop->blocks[0];
  uint32_t n = loop->num_results;
  Value *lb = for_lower(loop), *p = op_operand(c->narrow, 0), **values = arena_array(&ctx->arena, Value *, n + 2);
  const Type **types = arena_array(&ctx->arena, const Type *, n + 1);
  for (uint32_t i = 0, k = 0; i < n; i++)
    if (i != c->carried) types[k++] = op_result(loop, i)->type;
  types[n - 1] = p->type;
  types[n] = op_result(loop, c->carried)->type;
  BuildRegion r = build_if_begin(b, has_any, types, n + 1);
  ValueMap *map = value_map_new(ctx);
  for_bind(ctx, map, loop, lb, op_operand_values(ctx, loop, FOR_INITS));
  for (const Op *op = body->first; op != body->last; op = op->next)
    if (is_between(op)) clone_to(b, op, map, op->mark & OF_FIRST ? 1 : 0);
  carried_values(b, c, map, for_init(loop, c->carried), lb, values);
  build_if_else(b, &r, values);
  for (uint32_t i = 0, k = 0; i < n; i++)
    if (i != c->carried) values[k++] = for_init(loop, i);
  values[n - 1] = build_float(b, p->type, 0);
  values[n] = for_init(loop, c->carried);
  return build_if_end(b, r, values);
}

static void schedule(PingPong *s, Chain *c) {
  Context *ctx = s->ctx;
  Op *loop = c->loop;
  Block *body = loop->blocks[0];
  uint32_t n = loop->num_results;
  Builder b = builder_before(ctx, loop);
  Value *lb = for_lower(loop), *ub = for_upper(loop), *step = for_step(loop);
  Value *has_any = build_cmp(&b, CMP_SLT, lb, ub);
  Op *front = build_front(&b, c, has_any);
  bool alternate = s->module->num_warps >= 2 * WARPGROUP_WARPS && !block_worker(loop->parent);
  if (alternate) build_pingpong(&b, OP_PINGPONG_PASS, true);

  Value **inits = arena_array(&ctx->arena, Value *, n + 2), **carried = arena_array(&ctx->arena, Value *, n + 2);
  Value **yields = arena_array(&ctx->arena, Value *, n + 2);
  for (uint32_t i = 0; i <= n; i++) inits[i] = op_result(front, i);
  inits[n + 1] = lb;
  BuildRegion region = build_for_begin(&b, lb, build_binary(&b, OP_SUBI, ub, step), step, inits, n + 2, carried);
  op_copy_attrs(ctx, region.op, loop);
  Value *iv = for_iv(region.op), *next = build_binary(&b, OP_ADDI, iv, step);
  ValueMap *map = value_map_new(ctx);
  value_map_set(ctx, map, for_iv(loop), next);
  for (uint32_t i = 0, k = 0; i < n; i++)
    if (i != c->carried) value_map_set(ctx, map, for_carried(loop, i), carried[k++]);
  Value *a = clone_operand(&b, c, carried[n - 1]);
  EACH_OP(op, body)
    if ((op->mark & OF_FIRST) && op != c->first) clone_to(&b, op, map, 1);
  Value *tiles = clone_tiles(&b, c, iv);
  build_pingpong(&b, OP_PINGPONG_WAIT, false);
  Op *first = clone_to(&b, c->first, map, 0), *second = clone_second(&b, c, a, tiles, carried[n]);
  op_set_int(ctx, first, ATTR_ASYNC, 1);
  op_set_int(ctx, second, ATTR_ASYNC, 1);
  build_pingpong(&b, OP_PINGPONG_PASS, false);
  value_map_set(ctx, map, op_result(c->first, 0), await(&b, 1, op_result(first, 0)));
  for (const Op *op = body->first; op != body->last; op = op->next)
    if (is_between(op) && !(op->mark & OF_FIRST)) clone_to(&b, op, map, 0);
  carried_values(&b, c, map, await(&b, 0, op_result(second, 0)), next, yields);
  Op *made = build_for_end(&b, region, yields);
  if (alternate) build_pingpong(&b, OP_PINGPONG_WAIT, true);

  // The second dot of the last iteration.
  Value *o = op_result(made, n);
  BuildRegion r = build_if_begin(&b, has_any, &o->type, 1);
  a = clone_operand(&b, c, op_result(made, n - 1));
  tiles = clone_tiles(&b, c, op_result(made, n + 1));
  Value *result = op_result(clone_second(&b, c, a, tiles, o), 0);
  build_if_else(&b, &r, &result);
  Op *back = build_if_end(&b, r, &o);
  for (uint32_t i = 0, k = 0; i < n; i++)
    value_replace_all_uses(op_result(loop, i), i == c->carried ? op_result(back, 0) : op_result(made, k++));
  op_erase(loop);
}

static void visit(Op *op, void *user) {
  Chain c;
  if (op->opcode != OP_FOR || !find_chain(op, &c)) return;
  remark_applied(op, "the second dot is delayed by an iteration; warpgroups take turns on the tensor cores");
  schedule(user, &c);
}

void pass_ping_pong(PassCtx *p) {
  PingPong s = {.ctx = p->ctx, .module = p->module};
  module_walk_inside_out(p->module, visit, &s);
}
