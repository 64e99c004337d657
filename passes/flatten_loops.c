// flatten_loops: a loop over tiles and the loop over K inside it become one loop, so that pipeline_loops can fetch the next
// tile's operands while this tile is still being finished.
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
#include "passes/pass.h"

typedef struct { Context *ctx; bool changed; } Flatten;

static bool block_is_pure(const Block *b) {
  for (const Op *op = b->first; op; op = op->next) {
    bool fine = (op_info[op->opcode].traits & (TRAIT_PURE | TRAIT_TERMINATOR)) || op->opcode == OP_IF;
    if (!fine) return false;
    for (uint32_t i = 0; i < op->num_blocks; i++)
      if (!block_is_pure(op->blocks[i])) return false;
  }
  return true;
}

// What a tile's prologue computes without the tile's number is computed once, and not carried.
static void hoist_invariants(Op *outer, const Op *inner) {
  for (Op *op = outer->blocks[0]->first, *next; op != inner; op = next) {
    next = op->next;
    bool invariant = (op_info[op->opcode].traits & TRAIT_PURE) && op->num_blocks == 0;
    for (uint32_t i = 0; i < op->num_operands && invariant; i++)
      invariant = !op_operand(op, i) || value_defined_outside(op_operand(op, i), outer);
    if (invariant) op_move_before(op, outer);
  }
}

// A descriptor of one tile would be written over by the next one's while copies through it are in flight.
static bool makes_descriptor_of_tile(const Op *outer, const Op *inner) {
  for (const Op *op = inner->blocks[0]->first; op; op = op->next) {
    if (op->opcode != OP_MAKE_DESC) continue;
    for (uint32_t i = 0; i < op->num_operands; i++)
      if (!value_defined_outside(op_operand(op, i), outer)) return true;
  }
  return false;
}

static Op *only_inner_loop(Op *outer) {
  Op *inner = NULL;
  for (Op *op = outer->blocks[0]->first; op; op = op->next) {
    if (op->opcode != OP_FOR) continue;
    if (inner) return NULL;
    inner = op;
  }
  if (!inner) return NULL;
  hoist_invariants(outer, inner);
  for (uint32_t i = 0; i < 3; i++)
    if (!value_defined_outside(op_operand(inner, i), outer)) return NULL;
  for (Op *op = outer->blocks[0]->first; op != inner; op = op->next) {
    if (op->opcode == OP_MAKE_DESC) return NULL;
    bool fine = (op_info[op->opcode].traits & TRAIT_PURE) || (op->opcode == OP_IF && block_is_pure(op->blocks[0]) && block_is_pure(op->blocks[1]));
    if (!fine) return NULL;
  }
  return makes_descriptor_of_tile(outer, inner) ? NULL : inner;
}

static Value *trip_count(Builder *b, const Op *loop) {
  Value *lb = op_operand(loop, 0), *ub = op_operand(loop, 1), *step = op_operand(loop, 2);
  Value *span = build_binary(b, OP_SUBI, ub, lb);
  Value *up = build_binary(b, OP_ADDI, span, build_binary(b, OP_SUBI, step, build_int(b, step->type, 1)));
  Value *n = build_binary(b, OP_DIVSI, up, step), *zero = build_int(b, n->type, 0);
  return build_binary(b, OP_MAXSI, n, zero);
}

// Clones the ops of a block from `from` up to (not including) `to` behind the cursor.
static void clone_range(Builder *b, Op *from, const Op *to, ValueMap *map) {
  for (Op *op = from; op != to; op = op->next) op_append(op_clone(b->ctx, op, map), b->block);
}

static Value **mapped(Context *ctx, const ValueMap *map, const Op *op, uint32_t first, uint32_t n) {
  Value **v = arena_array(&ctx->arena, Value *, n + 1);
  for (uint32_t i = 0; i < n; i++) v[i] = value_map_get(map, op_operand(op, first + i));
  return v;
}

// Values defined before the inner loop that the inner loop or the epilogue uses.
static uint32_t live_prologue(Op *outer, Op *inner, Value **live, uint32_t max) {
  uint32_t n = 0;
  for (Op *op = outer->blocks[0]->first; op != inner; op = op->next)
    for (uint32_t r = 0; r < op->num_results; r++) {
      bool used = false;
      for (const Use *u = op->results[r].uses; u && !used; u = u->next) {
        const Op *at = u->user;
        while (at->parent != outer->blocks[0]) at = at->parent->parent;
        for (const Op *o = inner; o && !used; o = o->next) used = o == at;
      }
      if (used && n < max) live[n++] = &op->results[r];
    }
  return n;
}

static void flatten(Flatten *s, Op *outer, Op *inner) {
  Context *ctx = s->ctx;
  Block *ob = outer->blocks[0], *ib = inner->blocks[0];
  uint32_t num_o = outer->num_results, num_i = inner->num_results;
  enum { MAX_LIVE = 256 };
  Value *live[MAX_LIVE];
  uint32_t num_p = live_prologue(outer, inner, live, MAX_LIVE);
  Builder b = builder_before(ctx, outer);
  Value *jl = op_operand(outer, 0), *js = op_operand(outer, 2), *kl = op_operand(inner, 0), *ks = op_operand(inner, 2);
  Value *n_inner = trip_count(&b, inner), *n_outer = trip_count(&b, outer);
  const Type *i64 = type_scalar(ctx, SC_I64), *i32 = type_scalar(ctx, SC_I32);
  // Tiles times steps may pass 2^31 in a persistent kernel over a large problem only when each does by itself nearly so;
  // 32 bits where both counts are 32-bit keeps the loop cheap.
  const Type *ct = type_is_scalar(n_inner->type, SC_I64) || type_is_scalar(n_outer->type, SC_I64) ? i64 : i32;
  if (n_inner->type != ct) n_inner = build_cast(&b, OP_EXTSI, n_inner, ct);
  if (n_outer->type != ct) n_outer = build_cast(&b, OP_EXTSI, n_outer, ct);
  Value *zero = build_int(&b, ct, 0), *one = build_int(&b, ct, 1);
  Value *some = build_cmp(&b, CMP_SGT, n_inner, zero);
  const Type **otypes = arena_array(&ctx->arena, const Type *, num_o + 1);
  for (uint32_t i = 0; i < num_o; i++) otypes[i] = op_result(outer, i)->type;
  BuildRegion versions = build_if_begin(&b, some, otypes, num_o);

  // Carried: j, k step number, k, O…, P…, I…. P and I start as anything: the first step sets them.
  uint32_t num = 3 + num_o + num_p + num_i;
  Value **inits = arena_array(&ctx->arena, Value *, num), **carried = arena_array(&ctx->arena, Value *, num), **yields = arena_array(&ctx->arena, Value *, num);
  inits[0] = jl;
  inits[1] = zero;
  inits[2] = kl;
  for (uint32_t i = 0; i < num_o; i++) inits[3 + i] = op_operand(outer, 3 + i);
  ValueMap *first = value_map_new(ctx);
  value_map_set(ctx, first, ob->args[0], jl);
  for (uint32_t i = 0; i < num_o; i++) value_map_set(ctx, first, ob->args[1 + i], op_operand(outer, 3 + i));
  clone_range(&b, ob->first, inner, first);
  for (uint32_t i = 0; i < num_p; i++) inits[3 + num_o + i] = value_map_get(first, live[i]);
  for (uint32_t i = 0; i < num_i; i++) inits[3 + num_o + num_p + i] = value_map_get(first, op_operand(inner, 3 + i));
  BuildRegion loop = build_for_begin(&b, zero, build_binary(&b, OP_MULI, n_outer, n_inner), one, inits, num, carried);
  op_copy_attrs(ctx, loop.op, inner);
  const Attr *stages = op_attr(outer, ATTR_NUM_STAGES);
  if (stages) op_set_int(ctx, loop.op, ATTR_NUM_STAGES, stages->i);
  Value *j = carried[0], *step = carried[1], *k = carried[2];
  Value *is_first = build_cmp(&b, CMP_EQ, step, zero);

  ValueMap *map = value_map_new(ctx);
  value_map_set(ctx, map, ob->args[0], j);
  for (uint32_t i = 0; i < num_o; i++) value_map_set(ctx, map, ob->args[1 + i], carried[3 + i]);
  if (num_p) {
    const Type **ptypes = arena_array(&ctx->arena, const Type *, num_p);
    for (uint32_t i = 0; i < num_p; i++) ptypes[i] = live[i]->type;
    BuildRegion pre = build_if_begin(&b, is_first, ptypes, num_p);
    ValueMap *inside = value_map_new(ctx);
    value_map_set(ctx, inside, ob->args[0], j);
    for (uint32_t i = 0; i < num_o; i++) value_map_set(ctx, inside, ob->args[1 + i], carried[3 + i]);
    clone_range(&b, ob->first, inner, inside);
    Value **now = arena_array(&ctx->arena, Value *, num_p);
    for (uint32_t i = 0; i < num_p; i++) now[i] = value_map_get(inside, live[i]);
    build_if_else(&b, &pre, now);
    Op *chosen = build_if_end(&b, pre, &carried[3 + num_o]);
    for (uint32_t i = 0; i < num_p; i++) value_map_set(ctx, map, live[i], op_result(chosen, i));
  }
  value_map_set(ctx, map, ib->args[0], k);
  for (uint32_t i = 0; i < num_i; i++) {
    // The inner loop's starting value, as this tile's prologue gives it: invariant, or one of the live values.
    Value *init = value_map_get(map, op_operand(inner, 3 + i)), *kept = carried[3 + num_o + num_p + i];
    value_map_set(ctx, map, ib->args[1 + i], build_ternary(&b, OP_SELECT, is_first, init, kept));
  }
  clone_range(&b, ib->first, ib->last, map);
  Value **iter = mapped(ctx, map, ib->last, 0, num_i);

  Value *next_step = build_binary(&b, OP_ADDI, step, one);
  Value *is_last = build_cmp(&b, CMP_EQ, next_step, n_inner);
  BuildRegion post = build_if_begin(&b, is_last, otypes, num_o);
  for (uint32_t i = 0; i < num_i; i++) value_map_set(ctx, map, op_result(inner, i), iter[i]);
  clone_range(&b, inner->next, ob->last, map);
  build_if_else(&b, &post, mapped(ctx, map, ob->last, 0, num_o));
  Op *epilogue = build_if_end(&b, post, &carried[3]);

  yields[0] = build_ternary(&b, OP_SELECT, is_last, build_binary(&b, OP_ADDI, j, js), j);
  yields[1] = build_ternary(&b, OP_SELECT, is_last, zero, next_step);
  yields[2] = build_ternary(&b, OP_SELECT, is_last, kl, build_binary(&b, OP_ADDI, k, ks));
  for (uint32_t i = 0; i < num_o; i++) yields[3 + i] = op_result(epilogue, i);
  for (uint32_t i = 0; i < num_p; i++) yields[3 + num_o + i] = value_map_get(map, live[i]);
  for (uint32_t i = 0; i < num_i; i++) yields[3 + num_o + num_p + i] = iter[i];
  Op *fused = build_for_end(&b, loop, yields);

  Value **results = arena_array(&ctx->arena, Value *, num_o + 1);
  for (uint32_t i = 0; i < num_o; i++) results[i] = op_result(fused, 3 + i);
  build_if_else(&b, &versions, results);
  // No inner iterations: every tile is prologue and epilogue only.
  ValueMap *plain = value_map_new(ctx);
  Op *empty = op_clone(ctx, outer, plain);
  op_append(empty, b.block);
  op_remove_attr(empty, ATTR_FLATTEN);
  for (Op *op = empty->blocks[0]->first; op; op = op->next)
    if (op->opcode == OP_FOR) {
      for (uint32_t i = 0; i < num_i; i++) value_replace_all_uses(op_result(op, i), op_operand(op, 3 + i));
      op_erase(op);
      break;
    }
  for (uint32_t i = 0; i < num_o; i++) results[i] = op_result(empty, i);
  Op *both = build_if_end(&b, versions, results);
  for (uint32_t i = 0; i < num_o; i++) value_replace_all_uses(op_result(outer, i), op_result(both, i));
  op_erase(outer);
  s->changed = true;
}

static void visit_block(Flatten *s, Block *b) {
  for (Op *op = b->first, *next; op; op = next) {
    next = op->next;
    for (uint32_t i = 0; i < op->num_blocks; i++) visit_block(s, op->blocks[i]);
    if (op->opcode != OP_FOR || !op_int(op, ATTR_FLATTEN, 0)) continue;
    Op *inner = only_inner_loop(op);
    if (inner) flatten(s, op, inner);
  }
}

bool pass_flatten_loops(PassCtx *p) {
  Flatten s = {.ctx = p->ctx};
  for (Func *f = p->module->funcs; f; f = f->next) visit_block(&s, f->body);
  return s.changed;
}
