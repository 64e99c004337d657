// pipeline_loops: loads of coming iterations run while this one computes.
//   in:  LAID_OUT, loops with loads or desc_loads whose addresses can be computed ahead
//   out: those loads are cp.async or TMA copies into buffers of S stages, issued S − 1 iterations early; wgmmas on such
//        buffers stay in flight across iterations
//
//   for i, acc                         bufA, bufB = alloc S tiles;  full = alloc S barriers
//     %a = load A[i]                   issue loads 0 … S−2 (each only if that iteration exists)       prologue
//     %A = alloc %a                    for i, acc, s (slot), ph (parity), …
//     %b = load B[i]                     wait full[s], ph
//     %B = alloc %b            →         acc' = wgmma bufA[s], bufB[s], acc   (in flight)
//     acc' = wgmma %A, %B, acc           wait until only this wgmma is in flight: slot (s − 1) mod S is free
//     yield acc'                         issue loads i+S−1 into slot (s − 1) mod S, if that iteration exists
//                                        yield acc', …
//                                      wait for the last wgmma
//
// The ops that addresses depend on (the *slice*) are cloned into the issue: loop-carried values they need get a second
// copy that runs S − 1 iterations ahead. What only the slice needed dies in dce. A load whose slice contains memory
// accesses stays where it is. Trip counts of 0 and below S are covered by the predicates; there is no epilogue.
// Around dots that rotate_dots has moved, a ring of slots reaches beyond the loop: loads of the next iteration (`ahead` 1) are one
// further on in theirs, with slot 0 for the dot in front of the loop; the dot behind the loop takes the slot after the last
// iteration's. Both begin in the first turn of the loop: waits come before turn_wait, copies are issued after turn_pass, by a warp
// of the last warpgroup, which by then knows that all others have done what they did before their turn.
// The prologue moves up over loads and stores to shared memory, so that its copies run while those do.
// Whoever frees a slot reads it before the block barrier that insert_barriers puts in front of the next copy into it. (An mbarrier
// per slot on which every warp arrives, waited for by the issuing warp alone, was measured and is slower: docs/performance.md.)
#include "ir/scratch.h"
#include "passes/tma.h"

enum { IN_SLICE = 1, NEEDED = 2 };

typedef struct {
  Op *load;                // load or desc_load in the loop body
  Op *alloc;               // the alloc of its value, when the copy can land where that wants it
  Op *consumer;            // first op of the body that needs the data: loads with the same one share a barrier
  bool tma;
  Op *outside;             // of an `ahead` load: the alloc of its tile in front of the loop, or behind it; else NULL
  bool ahead;
  uint32_t group;
  const Type *buffer_type; // of one stage
  Value *buffers;
} Async;

typedef struct {
  Context *ctx;
  Module *module;
  Op *loop;
  uint32_t stages;
  Op *front, *back;        // the conditionals in front of the loop and behind it that hold rotated dots; NULL: none
  Op *turn;                // the loop's turn_wait
  int64_t issuer;          // warp
  Value *limit;            // first value of the induction variable that has no tiles
  VEC(Async) asyncs;
  uint32_t num_groups, num_copy_groups;
  Value *barriers[64];     // per group: array of `stages`, or NULL for cp.async groups
  bool *carried_in_slice;
  bool changed;
} Pipe;

static Block *body_of(const Op *loop) { return loop->blocks[0]; }

// ---- which loads ----

static Op *first_consumer(const Pipe *s, const Value *v) {
  Op *first = NULL;
  for (const Use *u = v->uses; u; u = u->next) {
    Op *at = u->user;
    while (at->parent != body_of(s->loop)) at = at->parent->parent;
    bool view = at->opcode == OP_ALLOC || at->opcode == OP_BUFFER_TRANS || at->opcode == OP_BUFFER_SLICE;
    if (view) at = first_consumer(s, op_result(at, 0));
    if (!at) continue;
    bool earlier = !first;
    for (const Op *o = at; o && !earlier; o = o->next) earlier = o == first;
    if (earlier) first = at;
  }
  return first;
}

static Op *only_alloc(const Value *v) {
  for (const Use *u = v->uses; u; u = u->next)
    if (u->user->opcode == OP_ALLOC) return u->user;
  return NULL;
}

// cp.async moves 4, 8 or 16 bytes and fills with zeros.
static bool can_copy_async(const Pipe *s, const Op *load) {
  if (!s->module->target->has_cp_async || op_int(load, ATTR_VOLATILE, 0) || !type_is_tensor(load->results[0].type)) return false;
  const Value *other = op_operand(load, 3);
  uint64_t bits;
  if (other && !(value_constant_bits(other, &bits) && bits == 0)) return false;
  return op_int(load, ATTR_VECTOR, 1) * type_elem_bytes(load->results[0].type) >= 4;
}

static void consider(Pipe *s, Op *op, bool all_loads) {
  Async a = {.load = op};
  if (op->opcode == OP_DESC_LOAD) {
    // There is one tensor map, not one a stage, where the descriptor changes from iteration to iteration.
    if (!tma_usable(s->module, op_operand(op, 0)) || !value_defined_outside(op_operand(op, 0), s->loop)) return;
    const Type *desc = op_operand(op, 0)->type;
    a.tma = true;
    a.buffer_type = type_buffer(s->ctx, desc->elem, desc->rank, desc->shape, tma_tile_layout(s->ctx, desc), 0);
    a.alloc = only_alloc(op_result(op, 0));
    if (a.alloc && op_result(a.alloc, 0)->type != a.buffer_type) a.alloc = NULL;
  } else if (op->opcode == OP_LOAD && can_copy_async(s, op)) {
    a.alloc = only_alloc(op_result(op, 0));
    if (!a.alloc && !all_loads) return;
    const Type *t = op_result(op, 0)->type;
    if (a.alloc) {
      a.buffer_type = op_result(a.alloc, 0)->type;
    } else {
      uint32_t order[MAX_RANK], fast = 0;
      for (uint32_t i = 1; i < t->rank; i++)
        if (layout_contiguity(t->layout, i) >= layout_contiguity(t->layout, fast)) fast = i;
      order[0] = fast;
      for (uint32_t i = t->rank, n = 1; i-- > 0;)
        if (i != fast) order[n++] = i;
      a.buffer_type = type_buffer(s->ctx, type_elem(t), t->rank, t->shape, layout_make_shared_plain(s->ctx, t->rank, t->shape, order), 0);
    }
  } else {
    return;
  }
  a.consumer = first_consumer(s, op_result(op, 0));
  // A turn on the tensor cores is not spent waiting.
  for (Op *o = body_of(s->loop)->first; a.consumer && o != a.consumer; o = o->next)
    if (o->opcode == OP_TURN_WAIT) {
      a.consumer = o;
      break;
    }
  if (a.consumer) vec_push(&s->ctx->arena, &s->asyncs, a);
}

static Op *next_moved(Op *op, int64_t ahead) {
  while (op && (op->opcode != OP_DESC_LOAD || op_int(op, ATTR_AHEAD, 0) != ahead)) op = op->next;
  return op;
}

// The loads of a rotated dot are the same ones, in the same order, in the conditional outside the loop and in the loop.
static bool match_outside(Pipe *s, Op *conditional, int64_t ahead) {
  if (!conditional) return false;
  Op *op = next_moved(conditional->blocks[0]->first, ahead);
  bool any = false;
  for (uint32_t i = 0; i < s->asyncs.count; i++) {
    Async *a = &s->asyncs.data[i];
    if (op_int(a->load, ATTR_AHEAD, 0) != ahead) continue;
    a->outside = op && value_has_one_use(op_result(op, 0)) ? only_alloc(op_result(op, 0)) : NULL;
    if (!a->outside || !a->alloc || op_operand(op, 0) != op_operand(a->load, 0) || op_result(a->outside, 0)->type != a->buffer_type) return false;
    a->ahead = ahead > 0;
    any = true;
    op = next_moved(op->next, ahead);
  }
  return any && !op;
}

static void find_outside(Pipe *s) {
  s->front = s->loop->prev, s->back = s->loop->next, s->turn = NULL;
  while (s->front && s->front->opcode != OP_IF) s->front = s->front->prev;
  while (s->back && s->back->opcode != OP_IF) s->back = s->back->next;
  for (Op *op = body_of(s->loop)->first; op; op = op->next)
    if (op->opcode == OP_TURN_WAIT) s->turn = op;
  s->issuer = s->turn && s->module->num_warps >= 8 ? s->module->num_warps - 4 : 0;
  // A tensor map that the block has made is visible to warp 0 alone, which then issues, behind a block barrier.
  for (uint32_t i = 0; i < s->asyncs.count; i++)
    if (!op_operand(s->asyncs.data[i].load, 0)->block) s->issuer = 0;
  if (s->turn && match_outside(s, s->front, 1) && match_outside(s, s->back, -1)) return;
  s->front = s->back = NULL;
  for (uint32_t i = 0; i < s->asyncs.count; i++) s->asyncs.data[i].outside = NULL, s->asyncs.data[i].ahead = false;
}

// ---- what their addresses need ----

static bool add_to_slice(Pipe *s, Value *v);

static bool add_captures(Pipe *s, Block *b) {
  for (Op *op = b->first; op; op = op->next) {
    if (!(op_info[op->opcode].traits & (TRAIT_PURE | TRAIT_TERMINATOR)) && op->opcode != OP_IF) return false;
    for (uint32_t i = 0; i < op->num_operands; i++)
      if (op_operand(op, i) && !add_to_slice(s, op_operand(op, i))) return false;
    for (uint32_t i = 0; i < op->num_blocks; i++)
      if (!add_captures(s, op->blocks[i])) return false;
  }
  return true;
}

static bool add_to_slice(Pipe *s, Value *v) {
  Block *body = body_of(s->loop);
  if (v->block == body) {
    if (v->index == 0 || s->carried_in_slice[v->index - 1]) return true;
    s->carried_in_slice[v->index - 1] = true;
    return add_to_slice(s, op_operand(body->last, v->index - 1));
  }
  if (!v->def || v->def->parent != body) return true;   // outside the loop, or inside an op that is cloned whole
  Op *op = v->def;
  if (op->mark & IN_SLICE) return true;
  if (!(op_info[op->opcode].traits & TRAIT_PURE) && op->opcode != OP_IF) return false;
  // Conversions and reductions synchronise the block and use shared memory: not worth running twice.
  if (op->opcode == OP_REDUCE || op->opcode == OP_SCAN || op->opcode == OP_WGMMA || op->opcode == OP_MMA || op->opcode == OP_DOT) return false;
  op->mark |= IN_SLICE;
  for (uint32_t i = 0; i < op->num_operands; i++)
    if (op_operand(op, i) && !add_to_slice(s, op_operand(op, i))) return false;
  for (uint32_t i = 0; i < op->num_blocks; i++)
    if (!add_captures(s, op->blocks[i])) return false;
  return true;
}

static bool slice_of(Pipe *s, const Op *load) {
  for (uint32_t i = 0; i < load->num_operands; i++)
    if (op_operand(load, i) && !add_to_slice(s, op_operand(load, i))) return false;
  return true;
}

// Marks the slices of all asyncs; drops those that have none (their slice would contain memory accesses).
static void find_slices(Pipe *s) {
  uint32_t n = s->loop->num_results, kept = 0;
  for (uint32_t round = 0; round < 2; round++) {
    for (Op *op = body_of(s->loop)->first; op; op = op->next) op->mark &= ~(uint32_t)IN_SLICE;
    for (uint32_t i = 0; i < n; i++) s->carried_in_slice[i] = false;
    kept = 0;
    for (uint32_t i = 0; i < s->asyncs.count; i++)
      if (slice_of(s, s->asyncs.data[i].load)) s->asyncs.data[kept++] = s->asyncs.data[i];
    bool all = kept == s->asyncs.count;
    s->asyncs.count = kept;
    if (all) break;   // otherwise a failed attempt left marks: once more with the good ones only
  }
}

// ---- wgmma in flight ----

static bool operand_is_staged(const Pipe *s, const Value *buf) {
  while (buf->def && (buf->def->opcode == OP_BUFFER_TRANS || buf->def->opcode == OP_BUFFER_SLICE)) buf = op_operand(buf->def, 0);
  if (buf->type->kind != TYPE_BUFFER) return false;
  if (value_defined_outside(buf, s->loop)) return true;
  for (uint32_t i = 0; i < s->asyncs.count; i++)
    if (s->asyncs.data[i].alloc == buf->def) return true;
  return false;
}

// acc stays in flight when nothing in the iteration but nested conditionals reads it.
static bool can_overlap(const Pipe *s, Op *wgmma) {
  Value *r = op_result(wgmma, 0), *c = op_operand(wgmma, 2);
  Block *body = body_of(s->loop);
  // Packed halves would be taken apart to be carried: that reads them.
  if (type_is_scalar(type_elem(c->type), SC_F16)) return false;
  if (wgmma->parent != body || !operand_is_staged(s, op_operand(wgmma, 0)) || !operand_is_staged(s, op_operand(wgmma, 1))) return false;
  if (c->block != body || op_operand(body->last, c->index - 1) != r || !value_has_one_use(c)) return false;
  for (const Use *u = r->uses; u; u = u->next) {
    const Op *at = u->user;
    while (at->parent != body) at = at->parent->parent;
    if (at != body->last && (at == u->user || at->opcode != OP_IF)) return false;
  }
  return true;
}

static void build_wgmma_wait(Builder *b, int64_t count, Value **v) {
  Op *wait = build_op(b, OP_WGMMA_WAIT, v, v ? 1 : 0);
  op_set_int(b->ctx, wait, ATTR_COUNT, count);
  if (v) *v = op_result(wait, 0);
}

static bool used_inside(const Value *v, const Op *op) {
  for (const Use *u = v->uses; u; u = u->next)
    for (uint32_t k = 0; k < op->num_blocks; k++)
      if (block_encloses(op->blocks[k], u->user->parent)) return true;
  return false;
}

// Conditional readers wait in their own block. The conditional gives the value on: it must not be alive twice, in flight and
// waited for, or registers that tensor cores still write would be copied.
static void wait_in_conditionals(Pipe *s, Op *wgmma) {
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
          Builder b = builder_before(s->ctx, inner->first);
          waited = v;
          build_wgmma_wait(&b, 0, &waited);
        }
        op_set_operand(u->user, u->index, waited);
      }
      op_append_operand(s->ctx, inner->last, waited ? waited : v);
    }
    const Type **types = arena_array(&s->ctx->arena, const Type *, op->num_results + 1);
    for (uint32_t i = 0; i < op->num_results; i++) types[i] = op_result(op, i)->type;
    types[op->num_results] = v->type;
    Value *cond = op_operand(op, 0);
    Op *made = op_rebuild(s->ctx, op, types, op->num_results + 1, &cond, 1);
    for (uint32_t i = 0; i < op->num_results; i++) value_replace_all_uses(op_result(op, i), op_result(made, i));
    Value *given = op_result(made, op->num_results);
    op_erase(op);
    for (Use *u = v->uses, *after; u; u = after) {
      after = u->next;
      bool inside = false;
      for (uint32_t k = 0; k < 2; k++) inside |= block_encloses(made->blocks[k], u->user->parent);
      if (!inside) op_set_operand(u->user, u->index, given);
    }
    v = given;
  }
}

// Returns the op after which this iteration's slot (s − 1) is free: the wait for the previous iteration's wgmmas.
static Op *overlap_wgmmas(Pipe *s) {
  Op *last = NULL;
  uint32_t num = 0;
  bool mixed = false;
  for (Op *op = body_of(s->loop)->first; op; op = op->next) {
    if (op->opcode != OP_WGMMA) continue;
    if (can_overlap(s, op)) num++, last = op;
    else mixed = true;
  }
  // A wait counts groups in order: with synchronous wgmmas between, every one is waited for anyway.
  if (!last || mixed) return NULL;
  Builder after = builder_at_end(s->ctx, s->loop->parent->func, s->loop->parent, s->loop->span);
  after.before = s->loop->next;
  for (Op *op = body_of(s->loop)->first; op; op = op->next) {
    if (op->opcode != OP_WGMMA) continue;
    op_set_int(s->ctx, op, ATTR_ASYNC, 1);
    wait_in_conditionals(s, op);
    Value *r = op_result(s->loop, op_operand(op, 2)->index - 1), *waited = r;
    build_wgmma_wait(&after, 0, &waited);
    for (Use *u = r->uses, *next; u; u = next) {
      next = u->next;
      if (u->user != waited->def) op_set_operand(u->user, u->index, waited);
    }
  }
  Builder b = builder_before(s->ctx, last);
  b.before = last->next;
  build_wgmma_wait(&b, num, NULL);
  return last->next;
}

// ---- the new loop ----

static Value *slice_value(const ValueMap *map, Value *v) { return v ? value_map_get(map, v) : NULL; }

typedef struct { Value *slot, *pred; } Place;

static bool group_is_ahead(const Pipe *s, uint32_t g) {
  for (uint32_t i = 0; i < s->asyncs.count; i++)
    if (s->asyncs.data[i].group == g) return s->asyncs.data[i].ahead;
  return false;
}

static void issue_group(Pipe *s, Builder *b, ValueMap *map, uint32_t g, Place place, int64_t issuer) {
  Value *bar = s->barriers[g] ? tma_build_index(b, s->barriers[g], place.slot) : NULL;
  if (bar) {
    int64_t bytes = 0;
    for (uint32_t i = 0; i < s->asyncs.count; i++)
      if (s->asyncs.data[i].group == g) bytes += tma_tile_bytes(s->asyncs.data[i].buffer_type);
    tma_build_expect(b, bar, place.pred, bytes, issuer);
  }
  Value *tokens[64];
  uint32_t num_tokens = 0;
  for (uint32_t i = 0; i < s->asyncs.count; i++) {
    Async *a = &s->asyncs.data[i];
    if (a->group != g) continue;
    Value *buf = tma_build_index(b, a->buffers, place.slot);
    if (a->tma) {
      Value *coords[MAX_RANK];
      for (uint32_t k = 1; k < a->load->num_operands; k++) coords[k - 1] = slice_value(map, op_operand(a->load, k));
      tma_build_load(b, slice_value(map, op_operand(a->load, 0)), buf, bar, place.pred, coords, issuer);
      continue;
    }
    const Type *t = op_result(a->load, 0)->type;
    Value *mask = slice_value(map, op_operand(a->load, 2));
    Value *all = build_splat(b, place.pred, type_with_elem(s->ctx, t, type_scalar(s->ctx, SC_I1)));
    mask = mask ? build_binary(b, OP_ANDI, mask, all) : all;
    Value *args[5] = {buf, slice_value(map, op_operand(a->load, 0)), slice_value(map, op_operand(a->load, 1)), mask, NULL};
    Op *copy = build_op(b, OP_ASYNC_COPY, args, 5);
    op_copy_attrs(s->ctx, copy, a->load);
    if (num_tokens < countof(tokens)) tokens[num_tokens++] = op_result(copy, 0);
  }
  if (!bar) build_op(b, OP_ASYNC_COMMIT, tokens, num_tokens);
}

// Clones the slice at b with the values of map, then issues the copies: of this iteration, and of the next for rotated dots.
static void issue(Pipe *s, Builder *b, ValueMap *map, const Place *place, const Place *ahead, int64_t issuer) {
  for (Op *op = body_of(s->loop)->first; op; op = op->next) {
    if (!(op->mark & IN_SLICE)) continue;
    Op *copy = op_clone(s->ctx, op, map);
    if (b->before) op_insert_before(copy, b->before);
    else op_append(copy, b->block);
  }
  for (uint32_t g = 0; g < s->num_groups; g++) {
    const Place *at = group_is_ahead(s, g) ? ahead : place;
    if (at) issue_group(s, b, map, g, *at, issuer);
  }
}

static void group_asyncs(Pipe *s) {
  s->num_groups = s->num_copy_groups = 0;
  for (uint32_t i = 0; i < s->asyncs.count; i++) {
    Async *a = &s->asyncs.data[i];
    uint32_t j = 0;
    while (j < i && (s->asyncs.data[j].consumer != a->consumer || s->asyncs.data[j].tma != a->tma || s->asyncs.data[j].ahead != a->ahead)) j++;
    a->group = j < i ? s->asyncs.data[j].group : s->num_groups++;
    if (j == i && !a->tma) s->num_copy_groups++;
  }
}

// Waits for group g of the current iteration.
static void build_group_wait(Pipe *s, Builder *b, uint32_t g, Value *slot, Value *phase, bool issued) {
  if (s->barriers[g]) {
    Value *args[3] = {tma_build_index(b, s->barriers[g], slot), phase, NULL};
    build_op(b, OP_MBAR_WAIT, args, 3);
    return;
  }
  // Committed after this group: the later groups of this iteration, and all of the iterations issued since.
  uint32_t later = 0;
  for (uint32_t i = g + 1; i < s->num_groups; i++) later += s->barriers[i] == NULL;
  int64_t pending = later + (int64_t)(s->stages - 2 + (issued ? 1 : 0)) * s->num_copy_groups;
  op_set_int(s->ctx, build_op(b, OP_ASYNC_WAIT, NULL, 0), ATTR_COUNT, pending);
  // cp.async writes through the generic proxy; wgmma reads through the async proxy.
  for (uint32_t i = 0; i < s->asyncs.count; i++)
    if (s->asyncs.data[i].group == g && s->asyncs.data[i].consumer->opcode == OP_WGMMA) {
      build_op(b, OP_FENCE_ASYNC, NULL, 0);
      break;
    }
}

// The assembler moves a wait for tensor cores up as far as its basic block goes, and with it the end of what runs beside them. A
// look at a barrier that this iteration has passed already ends the block.
static void end_basic_block(Pipe *s, Builder *b, Value *slot, Value *phase) {
  for (uint32_t g = 0; g < s->num_groups; g++)
    if (!group_is_ahead(s, g)) {
      build_group_wait(s, b, g, slot, phase, true);
      return;
    }
}

static Value *next_slot(Builder *b, Value *slot, uint32_t stages, Value **wraps) {
  Value *plus = build_binary(b, OP_ADDI, slot, build_i32(b, 1));
  *wraps = build_cmp(b, CMP_EQ, plus, build_i32(b, stages));
  return build_ternary(b, OP_SELECT, *wraps, build_i32(b, 0), plus);
}

// In the loop, S − 1 iterations ahead: into the slot freed last, for rotated dots into this iteration's.
static void issue_ahead(Pipe *s, Builder *b, ValueMap *map, Value *iv, Value *fill, Value *slot) {
  Place place = {fill, build_cmp(b, CMP_SLT, iv, s->limit)}, ahead = {NULL, NULL};
  if (s->front) ahead = (Place){slot, build_cmp(b, CMP_SLT, build_binary(b, OP_ADDI, iv, op_operand(s->loop, 2)), s->limit)};
  issue(s, b, map, &place, &ahead, s->issuer);
}

// ---- where the prologue goes ----

static void need(Value *v, const Block *block) {
  if (!v || !v->def || v->def->parent != block) return;
  v->def->mark |= NEEDED;
}

static void need_slice(const Op *op, const Block *block) {
  for (uint32_t i = 0; i < op->num_operands; i++) need(op_operand(op, i), block);
  for (uint32_t k = 0; k < op->num_blocks; k++)
    for (const Op *o = op->blocks[k]->first; o; o = o->next) need_slice(o, block);
}

// What the prologue may come before: nothing that writes global memory, waits, or has scratch memory of its own.
static bool can_pass(Pipe *s, const Op *op) {
  uint32_t align;
  switch (op->opcode) {
    case OP_LOAD: return !op_int(op, ATTR_VOLATILE, 0);
    case OP_ALLOC: case OP_LOCAL_STORE: case OP_FENCE_ASYNC: return true;
    default: return (op_info[op->opcode].traits & TRAIT_PURE) && !op->num_blocks && !op_scratch_bytes(s->ctx, op, s->module->num_warps, &align);
  }
}

static void move_needed(Op *from, const Op *to, Op *before) {
  for (Op *op = from, *next; op != to; op = next) {
    next = op->next;
    if (!(op->mark & NEEDED) || op == before) continue;
    op_unlink(op);
    op_insert_before(op, before);
  }
}

// The highest place that the prologue can go up to from `at`, where there is something slow to overtake; else `at`.
static Op *above_slow(Pipe *s, Op *at) {
  Op *highest = at;
  for (Op *op = at->prev; op && can_pass(s, op); op = op->prev) {
    if ((op->mark & NEEDED) && !(op_info[op->opcode].traits & TRAIT_PURE)) break;
    if (op->mark & NEEDED) need_slice(op, at->parent);
    highest = op;
  }
  Op *slow = highest;
  while (slow != at && slow->opcode != OP_LOAD && slow->opcode != OP_LOCAL_STORE) slow = slow->next;
  return slow;
}

// The op before which the prologue is built, after moving what it needs in front of that. `at` is the loop, or a dot of rotated ones
// before it; what the loop needs, its bounds for instance, may stand between the two.
static Op *prologue_position(Pipe *s, Op *at) {
  Block *block = at->parent;
  bool all_tma = true;
  for (uint32_t i = 0; i < s->asyncs.count; i++) all_tma &= s->asyncs.data[i].tma;
  for (Op *op = block->first; op; op = op->next) op->mark &= ~(uint32_t)NEEDED;
  for (uint32_t i = 0; i < s->loop->num_operands; i++)
    if (i < 3 || s->carried_in_slice[i - 3]) need(op_operand(s->loop, i), block);
  for (Op *op = body_of(s->loop)->first; op; op = op->next)
    if (op->mark & IN_SLICE) need_slice(op, block);
  for (uint32_t i = 0; i < s->asyncs.count; i++) need_slice(s->asyncs.data[i].load, block);
  for (Op *op = s->loop; op != at; op = op->prev)
    if (op->prev->mark & NEEDED) need_slice(op->prev, block);
  Op *position = all_tma ? above_slow(s, at) : at;
  move_needed(position, s->loop, position);
  return position;
}

// The dots outside the loop take their tiles from a slot of the rings.
static void take_from_ring(Pipe *s, bool ahead, Value *slot, Value *phase) {
  bool waited[64] = {false};
  for (uint32_t i = 0; i < s->asyncs.count; i++) {
    Async *a = &s->asyncs.data[i];
    if (!a->outside || a->ahead != ahead) continue;
    Builder b = builder_before(s->ctx, a->outside);
    if (!waited[a->group]) {
      Value *args[3] = {tma_build_index(&b, s->barriers[a->group], slot), phase, NULL};
      build_op(&b, OP_MBAR_WAIT, args, 3);
      waited[a->group] = true;
    }
    value_replace_all_uses(op_result(a->outside, 0), tma_build_index(&b, a->buffers, slot));
    Op *load = op_operand(a->outside, 0)->def;
    op_erase(a->outside);
    op_erase(load);
  }
}

static void expand(Pipe *s) {
  Context *ctx = s->ctx;
  Op *loop = s->loop;
  Block *body = body_of(loop);
  uint32_t n = loop->num_results, stages = s->stages;
  Op *issue_after = overlap_wgmmas(s);
  for (Op *op = body->first; op; op = op->next)
    if (op->opcode == OP_TURN_PASS) issue_after = op;

  Builder b = builder_before(ctx, prologue_position(s, s->front ? s->front : loop));
  Value *lb = op_operand(loop, 0), *ub = op_operand(loop, 1), *step = op_operand(loop, 2), *none = NULL;
  s->limit = s->front ? build_binary(&b, OP_ADDI, ub, step) : ub;
  for (uint32_t i = 0; i < s->asyncs.count; i++) {
    Async *a = &s->asyncs.data[i];
    const Type *t = a->buffer_type;
    t = type_buffer(ctx, t->elem, t->rank, t->shape, t->layout, stages);
    a->buffers = op_result(build_op_typed(&b, OP_ALLOC, &t, 1, &none, 1), 0);
  }
  for (uint32_t g = 0; g < s->num_groups; g++) {
    s->barriers[g] = NULL;
    for (uint32_t i = 0; i < s->asyncs.count; i++)
      if (s->asyncs.data[i].group == g && s->asyncs.data[i].tma && !s->barriers[g]) s->barriers[g] = tma_build_barriers(&b, stages);
  }

  // Prologue: `ahead[i]` is carried value i as the issue sees it.
  Value **ahead = arena_array(&ctx->arena, Value *, n + 1);
  for (uint32_t i = 0; i < n; i++) ahead[i] = op_operand(loop, 3 + i);
  Value *iv = lb;
  if (s->front) {            // an iteration before the first, for the rotated dots alone, which depend on nothing carried
    ValueMap *map = value_map_new(ctx);
    value_map_set(ctx, map, body->args[0], build_binary(&b, OP_SUBI, lb, step));
    for (uint32_t i = 0; i < n; i++)
      if (s->carried_in_slice[i]) value_map_set(ctx, map, body->args[1 + i], ahead[i]);
    Place first = {build_i32(&b, 0), build_cmp(&b, CMP_SLT, lb, s->limit)};
    issue(s, &b, map, NULL, &first, 0);
  }
  for (uint32_t k = 0; k + 1 < stages; k++) {
    ValueMap *map = value_map_new(ctx);
    value_map_set(ctx, map, body->args[0], iv);
    for (uint32_t i = 0; i < n; i++)
      if (s->carried_in_slice[i]) value_map_set(ctx, map, body->args[1 + i], ahead[i]);
    Value *plus = build_binary(&b, OP_ADDI, iv, step);
    Place place = {build_i32(&b, k), build_cmp(&b, CMP_SLT, iv, s->limit)}, next = {NULL, NULL};
    if (s->front) next = (Place){build_i32(&b, k + 1), build_cmp(&b, CMP_SLT, plus, s->limit)};
    issue(s, &b, map, &place, &next, 0);
    for (uint32_t i = 0; i < n; i++)
      if (s->carried_in_slice[i]) ahead[i] = value_map_get(map, op_operand(body->last, i));
    iv = plus;
  }
  if (s->front) take_from_ring(s, true, build_i32(&b, 0), build_i32(&b, 0));
  b.before = loop;

  // The loop: the old carried values, the copies that run ahead, then iv ahead, slot, parity, slot to fill.
  Value **inits = arena_array(&ctx->arena, Value *, 2 * n + 4);
  uint32_t num = 0;
  for (uint32_t i = 0; i < n; i++) inits[num++] = op_operand(loop, 3 + i);
  for (uint32_t i = 0; i < n; i++)
    if (s->carried_in_slice[i]) inits[num++] = ahead[i];
  uint32_t first_extra = num;
  inits[num++] = iv;
  inits[num++] = build_i32(&b, 0);
  inits[num++] = build_i32(&b, 0);
  inits[num++] = build_i32(&b, stages - 1);
  Value **carried = arena_array(&ctx->arena, Value *, num), **yields = arena_array(&ctx->arena, Value *, num);
  BuildRegion region = build_for_begin(&b, lb, ub, step, inits, num, carried);
  op_copy_attrs(ctx, region.op, loop);
  op_remove_attr(region.op, ATTR_NUM_STAGES);
  Value *iv_ahead = carried[first_extra], *slot = carried[first_extra + 1], *phase = carried[first_extra + 2], *fill = carried[first_extra + 3];

  ValueMap *map = value_map_new(ctx);
  value_map_set(ctx, map, body->args[0], region.op->blocks[0]->args[0]);
  for (uint32_t i = 0; i < n; i++) value_map_set(ctx, map, body->args[1 + i], carried[i]);
  Value *wraps, *next = next_slot(&b, slot, stages, &wraps);
  Value *next_phase = build_binary(&b, OP_XORI, phase, build_cast(&b, OP_EXTUI, wraps, type_scalar(ctx, SC_I32)));

  ValueMap *ahead_map = value_map_new(ctx);
  value_map_set(ctx, ahead_map, body->args[0], iv_ahead);
  for (uint32_t i = 0, k = n; i < n; i++)
    if (s->carried_in_slice[i]) value_map_set(ctx, ahead_map, body->args[1 + i], carried[k++]);

  bool issued = false;
  bool *waited = arena_array(&ctx->arena, bool, s->num_groups + 1);
  for (Op *op = body->first; op != body->last; op = op->next) {
    b.span = op->span;
    b.inlined_at = op->inlined_at;
    for (uint32_t i = 0; i < s->asyncs.count; i++) {
      Async *a = &s->asyncs.data[i];
      if (a->consumer != op || waited[a->group]) continue;
      waited[a->group] = true;
      build_group_wait(s, &b, a->group, a->ahead ? next : slot, a->ahead ? next_phase : phase, issued);
    }
    // Nothing of the previous iteration is in flight: its slot is free as soon as this iteration's first wait has let
    // every warp through.
    if (!issue_after && !issued)
      for (uint32_t i = 0; i < s->asyncs.count; i++)
        if (s->asyncs.data[i].consumer == op && !issued) {
          issue_ahead(s, &b, ahead_map, iv_ahead, fill, slot);
          issued = true;
        }
    Async *is_load = NULL, *is_alloc = NULL;
    for (uint32_t i = 0; i < s->asyncs.count; i++) {
      if (s->asyncs.data[i].load == op) is_load = &s->asyncs.data[i];
      if (s->asyncs.data[i].alloc == op) is_alloc = &s->asyncs.data[i];
    }
    if (is_load) {
      // Read into registers only where something other than the alloc uses it.
      Value *x = op_result(op, 0);
      bool registers = !is_load->alloc || !value_has_one_use(x);
      if (registers) {
        if (!waited[is_load->group]) {
          waited[is_load->group] = true;
          build_group_wait(s, &b, is_load->group, is_load->ahead ? next : slot, is_load->ahead ? next_phase : phase, issued);
        }
        Value *buf = tma_build_index(&b, is_load->buffers, is_load->ahead ? next : slot);
        const Type *t = x->type;
        if (t->rank != buf->type->rank)
          t = type_tensor(ctx, t->elem, buf->type->rank, buf->type->shape, layout_reshape(ctx, t->layout, buf->type->rank, buf->type->shape));
        Value *args[2] = {buf, NULL};
        Value *v = op_result(build_op_typed(&b, OP_LOCAL_LOAD, &t, 1, args, 2), 0);
        if (t != x->type) v = op_result(build_op_typed(&b, OP_RESHAPE, &x->type, 1, &v, 1), 0);
        value_map_set(ctx, map, x, v);
      }
    } else if (is_alloc) {
      value_map_set(ctx, map, op_result(op, 0), tma_build_index(&b, is_alloc->buffers, is_alloc->ahead ? next : slot));
    } else {
      if (s->front && op->opcode == OP_WGMMA_WAIT && op_int(op, ATTR_COUNT, 0) == 0) end_basic_block(s, &b, slot, phase);
      op_append(op_clone(ctx, op, map), b.block);
    }
    if (issue_after == op) {
      issue_ahead(s, &b, ahead_map, iv_ahead, fill, slot);
      issued = true;
    }
  }
  if (!issued) issue_ahead(s, &b, ahead_map, iv_ahead, fill, slot);

  num = 0;
  for (uint32_t i = 0; i < n; i++) yields[num++] = value_map_get(map, op_operand(body->last, i));
  for (uint32_t i = 0; i < n; i++)
    if (s->carried_in_slice[i]) yields[num++] = value_map_get(ahead_map, op_operand(body->last, i));
  Value *unused;
  yields[num++] = build_binary(&b, OP_ADDI, iv_ahead, step);
  yields[num++] = next;
  yields[num++] = next_phase;
  yields[num++] = next_slot(&b, fill, stages, &unused);
  Op *made = build_for_end(&b, region, yields);

  if (s->num_copy_groups) op_set_int(ctx, build_op(&b, OP_ASYNC_WAIT, NULL, 0), ATTR_COUNT, 0);
  for (uint32_t i = 0; i < n; i++) value_replace_all_uses(op_result(loop, i), op_result(made, i));
  // The waits that overlap_wgmmas put behind the old loop come first; the barriers die after them.
  Op *behind = made->next;
  while (behind && (behind->opcode == OP_WGMMA_WAIT || behind->opcode == OP_ASYNC_WAIT || behind == loop)) behind = behind->next;
  if (s->back) {
    take_from_ring(s, false, op_result(made, first_extra + 1), op_result(made, first_extra + 2));
    behind = s->back->next;
  }
  if (behind) b.before = behind;
  for (uint32_t g = 0; g < s->num_groups; g++)
    if (s->barriers[g]) tma_build_invalidate(&b, s->barriers[g]);
  op_erase(loop);
}

static void pipeline(Pipe *s, Op *loop) {
  int64_t asked = op_int(loop, ATTR_NUM_STAGES, -1);
  s->loop = loop;
  s->stages = (uint32_t)(asked >= 0 ? asked : s->module->num_stages);
  if (s->stages < 2) return;
  s->asyncs.count = 0;
  for (Op *op = body_of(loop)->first; op; op = op->next) consider(s, op, asked >= 0);
  if (s->asyncs.count == 0) return;
  s->carried_in_slice = arena_array(&s->ctx->arena, bool, loop->num_results + 1);
  find_slices(s);
  find_outside(s);
  group_asyncs(s);
  if (s->asyncs.count == 0 || s->num_groups > countof(s->barriers)) return;
  expand(s);
  s->changed = true;
}

// Innermost loops first; a loop that holds a pipelined loop may itself have loads of its own.
static void visit_block(Pipe *s, Block *b) {
  for (Op *op = b->first, *next; op; op = next) {
    next = op->next;
    for (uint32_t i = 0; i < op->num_blocks; i++) visit_block(s, op->blocks[i]);
    if (op->opcode == OP_FOR) pipeline(s, op);
  }
}

bool pass_pipeline_loops(PassCtx *p) {
  Pipe s = {.ctx = p->ctx, .module = p->module};
  for (Func *f = p->module->funcs; f; f = f->next) visit_block(&s, f->body);
  return s.changed;
}
