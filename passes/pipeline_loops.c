// pipeline_loops: loads of coming iterations run while this one computes.
//   in:  LAID_OUT, loops with loads or desc_loads whose addresses can be computed ahead
//   out: those loads are cp.async or TMA copies into rings of S slots, issued S − 1 iterations early; wgmmas on the
//        rings stay in flight across iterations
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
// Every issue clones the ops that addresses depend on (the *slice*). Loop-carried values that they need get a second
// copy that runs S − 1 iterations ahead. dce removes what only the old slice needed. A load whose slice contains
// memory accesses stays in place, unless these are loads for the next iteration (advance_indices). Predicates cover
// trip counts of 0 and below S; there is no epilogue. Around the dots of ping_pong the rings extend beyond the loop.
// Loads of the next iteration (`peeled` 1) are one slot further on in theirs, and slot 0 is for the dot before the
// loop. The dot after the loop takes the slot after the last iteration's.
// Waits come before pingpong_wait. Copies are issued after pingpong_pass by a warp of the last warpgroup, which by then
// knows that all others have done what came before their pingpong_wait. Rings of tiles that threads read into registers
// may do with S − 1 slots: pipeline_slots.c. Whoever frees a slot reads it before the block barrier that
// insert_barriers puts before the next copy into it.
#include "ir/loop.h"
#include "ir/scratch.h"
#include "passes/access.h"
#include "passes/pipeline_loops.h"

// The new loop while it is built.
typedef struct {
  Pipe *pipe;
  Builder b;
  ValueMap *map;             // of the old body's values, for this iteration
  RingRead here, next;       // this iteration's slot, and the next one
  RingRead short_here;       // this iteration's in rings of S − 1 slots
  ValueMap *ahead;           // of the slice's values, for the iteration that is issued
  Value *iv_ahead, *fill;    // its induction variable and slot
  bool *waited;              // by group
  // Op of the old body; both NULL: issue after the first wait, before anything is read.
  Op *issue_after, *issue_before;
  bool issued;
} NewBody;

static RingRead place_of(const NewBody *n, const AsyncLoad *a) {
  return a->short_ring ? n->short_here : a->ahead ? n->next : n->here;
}

static void wait_once(NewBody *n, const AsyncLoad *a) {
  if (n->waited[a->group]) return;
  n->waited[a->group] = true;
  ring_wait(n->pipe, &n->b, a->group, place_of(n, a), n->issued);
}

static bool issue_at_wait(const NewBody *n) { return !n->issue_after && !n->issue_before; }

// Whether the loop runs S − 1 times at most: the prologue has issued all of its copies.
static bool is_issued_before(const Pipe *p) {
  int64_t trips;
  return !p->front && for_trips(p->loop, &trips) && trips <= (int64_t)p->stages - 1;
}

// Issues the copies for S − 1 iterations ahead into the slot freed last, those of peeled loads into this iteration's.
static void issue_once(NewBody *n) {
  Pipe *p = n->pipe;
  if (n->issued) return;
  n->issued = true;
  RingWrite fill = {n->fill, n->short_here.slot, build_cmp(&n->b, CMP_SLT, n->iv_ahead, p->limit)}, next = {0};
  if (is_issued_before(p)) fill.pred = build_constant_bits(&n->b, fill.pred->type, 0);
  if (p->front) {
    next.slot = n->here.slot;
    next.pred = build_cmp(&n->b, CMP_SLT, build_binary(&n->b, OP_ADDI, n->iv_ahead, for_step(p->loop)), p->limit);
  }
  ring_issue(p, &n->b, n->ahead, fill, next, p->issuer);
}

// The assembler moves a wait for tensor cores up to the start of its basic block, and nothing overlaps with them after
// that. A wait for an mbarrier phase that has already completed ends the block.
static void end_basic_block(NewBody *n) {
  for (uint32_t g = 0; g < n->pipe->groups.count; g++)
    if (!n->pipe->groups.data[g].ahead) {
      ring_wait(n->pipe, &n->b, g, n->here, true);
      return;
    }
}

static void replace_load(NewBody *n, const AsyncLoad *a) {
  Value *x = op_result(a->load, 0);
  if (a->alloc && value_has_one_use(x)) return;
  // Something other than the alloc reads it.
  wait_once(n, a);
  if (issue_at_wait(n)) issue_once(n);
  Value *tile = tma_build_index(&n->b, a->ring, place_of(n, a).slot), *read = NULL;
  EACH_USE(u, x) {
    // The read can give the wanted layout.
    if (u->user->opcode == OP_CONVERT_LAYOUT && u->user->parent == pipe_body(n->pipe) && !a->filled_after) {
      Value *converted = op_result(u->user, 0);
      value_map_set(n->pipe->ctx, n->map, converted, tma_build_read(&n->b, tile, converted->type));
    } else if (!read) {
      read = tma_build_read(&n->b, tile, x->type);
    }
  }
  if (read && a->filled_after)
    read = build_ternary(&n->b, OP_SELECT, value_map_get(n->map, op_named(a->load, OPERAND_MASK)), read,
                         value_map_get(n->map, op_named(a->load, OPERAND_OTHER)));
  if (read) value_map_set(n->pipe->ctx, n->map, x, read);
}

static void clone_op(NewBody *n, Op *op) {
  Pipe *p = n->pipe;
  n->b.span = op->span;
  n->b.inlined_at = op->inlined_at;
  const AsyncLoad *load = NULL, *alloc = NULL;
  VEC_EACH(a, p->loads) {
    // A wait for an mbarrier needs no barrier after it: copies are issued first.
    if (a->consumer == op && !(n->issue_before == op && a->tma)) wait_once(n, a);
    if (a->load == op) load = a;
    if (a->alloc == op) alloc = a;
  }
  if (n->issue_before == op) issue_once(n);
  for (uint32_t i = 0; i < p->loads.count; i++) {
    if (p->loads.data[i].consumer != op) continue;
    wait_once(n, &p->loads.data[i]);
    // Nothing of the previous iteration is in flight. Its slot is free as soon as this iteration's first wait has let
    // every warp through.
    if (issue_at_wait(n)) issue_once(n);
  }
  if (load) {
    replace_load(n, load);
  } else if (alloc) {
    value_map_set(p->ctx, n->map, op_result(op, 0), tma_build_index(&n->b, alloc->ring, place_of(n, alloc).slot));
  // Not read in its layout yet.
  } else if (op->opcode != OP_CONVERT_LAYOUT || value_map_get(n->map, op_result(op, 0)) == op_result(op, 0)) {
    if (p->front && op->opcode == OP_WGMMA_WAIT && op_int(op, ATTR_COUNT, 0) == 0) end_basic_block(n);
    build_clone(&n->b, op, n->map);
  }
  if (n->issue_after == op) issue_once(n);
}

// Invalidates the mbarriers after the loop and the waits that pipe_overlap_wgmmas has put there.
static void finish(Pipe *p, Builder *b, Op *made, RingRead end) {
  ring_drain(p, b);
  for (uint32_t i = 0; i < p->loop->num_results; i++) value_replace_all_uses(op_result(p->loop, i), op_result(made, i));
  Op *after = made->next;
  while (after && (after->opcode == OP_WGMMA_WAIT || after->opcode == OP_ASYNC_WAIT || after == p->loop))
    after = after->next;
  if (p->back) {
    ring_serve_outside(p, false, end.slot, end.phase);
    after = p->back->next;
  }
  if (after) b->before = after;
  ring_invalidate(p, b);
}

// The loop carries its old values, a copy of those that the slice needs, then what the issue needs: the induction
// variable ahead, this iteration's slot and its parity, and the slot to fill; then the slot and parity of rings of S
// − 1 slots, if there are any.
enum { IV_AHEAD, SLOT, PHASE, FILL, SHORT_SLOT, SHORT_PHASE, NUM_EXTRA };

// What the new loop yields; num: of the old values and the slice's.
static void yield_values(NewBody *n, uint32_t num, bool any_short, Value **yields) {
  const Pipe *p = n->pipe;
  const Op *yield = pipe_body(p)->last;
  Builder *b = &n->b;
  for (uint32_t i = 0, k = yield->num_operands; i < yield->num_operands; i++) {
    yields[i] = value_map_get(n->map, op_operand(yield, i));
    if (p->carried_in_slice[i]) yields[k++] = value_map_get(n->ahead, op_operand(yield, i));
  }
  Value **extra = yields + num;
  extra[IV_AHEAD] = build_binary(b, OP_ADDI, n->iv_ahead, for_step(p->loop));
  extra[SLOT] = n->next.slot;
  extra[PHASE] = n->next.phase;
  extra[FILL] = ring_next(b, (RingRead){n->fill, NULL}, ring_slots(p, false)).slot;
  if (!any_short) return;
  RingRead next = ring_next(b, n->short_here, ring_slots(p, true));
  extra[SHORT_SLOT] = next.slot, extra[SHORT_PHASE] = next.phase;
}

static void tell_pipelined(const Pipe *p) {
  int64_t bytes = 0;
  uint32_t by_tma = 0;
  if (!remarks_wanted(p->ctx)) return;
  VEC_EACH(a, p->loads) {
    bytes += (int64_t)scratch_tile_bytes(a->buffer_type) * ring_slots(p, a->short_ring);
    by_tma += a->tma;
  }
  const uint32_t by_threads = p->loads.count - by_tma;
  remark_applied(p->loop, "pipelined in %u stages: %u load%s copied ahead by %s, %lld bytes of shared memory",
                 p->stages, p->loads.count, p->loads.count == 1 ? "" : "s",
                 !by_threads ? "TMA" : !by_tma ? "cp.async" : "TMA and cp.async", (long long)bytes);
}

static void expand(Pipe *p) {
  Context *ctx = p->ctx;
  Op *loop = p->loop;
  Block *body = pipe_body(p);
  uint32_t n = loop->num_results, num = n;
  NewBody new = {.pipe = p, .issue_after = pipe_overlap_wgmmas(p)};
  EACH_OP(op, body)
    if (op->opcode == OP_PINGPONG_PASS) new.issue_after = op;
  new.issue_before = pipe_choose_slots(p, new.issue_after);
  if (issue_at_wait(&new)) new.issue_after = pipe_issue_under_wgmma(p);
  bool any_short = ring_any_short(p);
  tell_pipelined(p);

  Value **ahead = arena_array(&ctx->arena, Value *, n);
  Value *first_ahead = pipe_build_prologue(p, ahead);
  Builder *b = &new.b;
  *b = builder_before(ctx, loop);
  Value **inits = arena_array(&ctx->arena, Value *, 2 * n + NUM_EXTRA);
  for (uint32_t i = 0; i < n; i++) inits[i] = for_init(loop, i);
  for (uint32_t i = 0; i < n; i++)
    if (p->carried_in_slice[i]) inits[num++] = ahead[i];
  Value **extra = inits + num;
  extra[IV_AHEAD] = first_ahead;
  extra[SLOT] = build_i32(b, 0);
  extra[PHASE] = build_i32(b, 0);
  extra[FILL] = build_i32(b, p->stages - 1);
  if (any_short) extra[SHORT_SLOT] = build_i32(b, 0), extra[SHORT_PHASE] = build_i32(b, 0);
  uint32_t total = num + (any_short ? NUM_EXTRA : SHORT_SLOT);
  Value **carried = arena_array(&ctx->arena, Value *, total), **yields = arena_array(&ctx->arena, Value *, total);
  BuildRegion region =
      build_for_begin(b, for_lower(loop), for_upper(loop), for_step(loop), inits, total, carried);
  op_copy_attrs(ctx, region.op, loop);
  op_remove_attr(region.op, ATTR_NUM_STAGES);
  op_remove_attr(region.op, ATTR_LEAST_STAGES);

  new.map = value_map_new(ctx);
  for_bind(ctx, new.map, loop, for_iv(region.op), carried);
  extra = carried + num;
  new.iv_ahead = extra[IV_AHEAD], new.fill = extra[FILL];
  new.here = (RingRead){extra[SLOT], extra[PHASE]};
  new.next = ring_next(b, new.here, ring_slots(p, false));
  if (any_short) new.short_here = (RingRead){extra[SHORT_SLOT], extra[SHORT_PHASE]};
  for (uint32_t i = 0, k = n; i < n; i++)
    if (p->carried_in_slice[i]) ahead[i] = carried[k++];
  new.ahead = ring_slice_inputs(p, new.iv_ahead, ahead);
  new.waited = arena_array(&ctx->arena, bool, p->groups.count);
  ring_fence_inner_waits(p);
  for (Op *op = body->first; op != body->last; op = op->next) clone_op(&new, op);
  issue_once(&new);

  yield_values(&new, num, any_short, yields);
  Op *made = build_for_end(b, region, yields);
  finish(p, b, made, (RingRead){op_result(made, num + SLOT), op_result(made, num + PHASE)});
  op_erase(loop);
}

// Whether the body itself loads tiles from global memory.
static bool loads_tiles(const Pipe *p) {
  EACH_OP(op, pipe_body(p))
    if (op->opcode == OP_DESC_LOAD || (op->opcode == OP_LOAD && type_is_tensor(op->results[0].type))) return true;
  return false;
}

static void pipeline(Pipe *p, Op *loop) {
  p->loop = loop;
  p->stages = access_stages(loop);
  if (p->stages < 2) {
    if (loads_tiles(p)) remark_missed(loop, "not pipelined: num_stages is %u", p->stages);
    return;
  }
  if (!pipe_choose_loads(p, op_attr(loop, ATTR_NUM_STAGES) != NULL)) {
    if (loads_tiles(p)) remark_missed(loop, "not pipelined: no load can be copied ahead");
    return;
  }
  if (!pipe_fit_stages(p)) {
    remark_missed(loop, "not pipelined: beside the loop in it, two stages of its tiles do not fit, or leave an SM to "
                        "one block");
    return;
  }
  expand(p);
}

// Innermost loops first: a loop around a pipelined one may have loads of its own.
static void visit(Op *op, void *user) {
  if (op->opcode == OP_FOR) pipeline(user, op);
}

void pass_pipeline_loops(PassCtx *ctx) {
  Pipe p = {.ctx = ctx->ctx, .module = ctx->module};
  module_walk_inside_out(ctx->module, visit, &p);
}
