// Of pipeline_loops: which loads become asynchronous. A load does if its tile can be copied to shared memory unchanged,
// if its address can be computed ahead (the ops between the loop's carried values and the load, the slice, are pure and
// cheap, or loads that only the next iteration uses), and if earlier iterations do not write what it reads.
#include "passes/access.h"
#include "passes/global_memory.h"
#include "passes/layout_cost.h"
#include "passes/pipeline_loops.h"

// ---- candidates ----

static Op *first_consumer(const Pipe *p, const Value *v) {
  Op *first = NULL;
  EACH_USE(u, v) {
    Op *at = pipe_in_body(p, u->user);
    if (at->opcode == OP_ALLOC || buffer_is_view(at)) at = first_consumer(p, op_result(at, 0));
    if (!at) continue;
    if (!first || op_is_before(at, first)) first = at;
  }
  return first;
}

static Op *only_alloc(const Value *v) {
  EACH_USE(u, v)
    if (u->user->opcode == OP_ALLOC) return u->user;
  return NULL;
}

// cp.async moves 4, 8 or 16 bytes.
static bool can_copy_async(const Pipe *p, const Op *load) {
  if (!p->module->target->has_cp_async || op_int(load, ATTR_VOLATILE, 0) || !type_is_tensor(load->results[0].type))
    return false;
  return pipe_copy_elements(load) * type_elem_bytes(load->results[0].type) >= 4;
}

// cp.async fills with zeros. Whether the load fills with something else.
static bool fills_otherwise(const Op *load) {
  const Value *other = op_named(load, OPERAND_OTHER);
  uint64_t bits;
  return op_named(load, OPERAND_MASK) && other && !(value_constant_bits(other, &bits) && bits == 0);
}

// The axis along which neighbouring lanes hold elements.
static uint32_t lanes_axis(const Layout *l) {
  for (uint32_t lane = 0; lane < l->num_bits[LAYOUT_LANE]; lane++)
    for (uint32_t axis = 0; axis < l->rank; axis++)
      if (layout_basis(l, LAYOUT_LANE, lane) & layout_axis_mask(l, axis)) return axis;
  return l->rank - 1u;
}

static int64_t cost_of_reads(const Pipe *p, const Op *load, const Type *buffer) {
  int64_t cost = 0;
  EACH_USE(u, &load->results[0]) {
    const Value *read = u->user->opcode == OP_CONVERT_LAYOUT ? &u->user->results[0] : &load->results[0];
    cost += layout_cost_shared(read->type->layout, buffer, p->module->num_warps);
  }
  return cost;
}

// A row-major buffer. Its fastest axis is the one along which a thread has the most consecutive elements. If elements
// are copied one by one, it is the axis along which neighbouring lanes lie; otherwise a copy's lanes would share a bank.
// Copies of 16 bytes may be swizzled: for readers whose lanes lie across the rows.
static const Type *row_buffer(const Pipe *p, const Op *load) {
  const Type *t = load->results[0].type;
  uint32_t order[MAX_RANK], fast = 0;
  for (uint32_t i = 1; i < t->rank; i++)
    if (layout_contiguity(t->layout, i) >= layout_contiguity(t->layout, fast)) fast = i;
  if (pipe_copy_elements(load) == 1) fast = lanes_axis(t->layout);
  order[0] = fast;
  for (uint32_t i = t->rank, n = 1; i-- > 0;)
    if (i != fast) order[n++] = i;
  const Layout *plain = layout_make_shared_plain(p->ctx, t->rank, t->shape, order);
  const Type *rows = type_buffer(p->ctx, type_elem(t), t->rank, t->shape, plain, 0);
  const int64_t bytes = t->shape[fast] * type_elem_bytes(type_elem(t));
  if (t->rank < 2 || pipe_copy_elements(load) * type_elem_bytes(type_elem(t)) != 16 || bytes < 32) return rows;
  const Layout *swizzled = layout_make_shared_swizzled(p->ctx, t->rank, t->shape, type_elem_bits(t),
                                                       (uint32_t)min_i64(bytes, 128), order);
  if (!swizzled) return rows;
  const Type *other = type_buffer(p->ctx, type_elem(t), t->rank, t->shape, swizzled, 0);
  return cost_of_reads(p, load, other) < cost_of_reads(p, load, rows) ? other : rows;
}

// Why can_copy_async refuses a load, in words.
static const char *why_not_async(const Pipe *p, const Op *load) {
  if (!type_is_tensor(load->results[0].type)) return "it loads one value";
  if (!p->module->target->has_cp_async) return "the target has no asynchronous copies";
  if (op_int(load, ATTR_VOLATILE, 0)) return "it is volatile";
  return "an asynchronous copy moves 4 bytes at least, and a thread's neighbouring elements are not known to be "
         "consecutive and aligned";
}

// Whether copies of 4 bytes and more can fill the buffer: not one of bytes with rows along the other axis.
static bool copies_fit(const Op *load, const Op *alloc) {
  const Type *t = load->results[0].type;
  const uint32_t bytes = type_elem_bytes(type_elem(t));
  return bytes << layout_log2_shared_vector(t->layout, alloc->results[0].type->layout, bytes) >= 4;
}

#define STAYS "is not copied ahead of the loop: "

static void consider(Pipe *p, Op *op, bool all_loads) {
  AsyncLoad a = {.load = op};
  if (op->opcode == OP_LOAD && !all_loads && slice_is_of_next(op)) return;    // it is early already
  if (op->mark & WRITTEN) {
    remark_missed(op, "%s " STAYS "the loop also writes that array", remark_name(op));
    return;
  }
  if (op->opcode == OP_DESC_LOAD) {
    // If the descriptor changes from iteration to iteration, there is still one tensor map, not one per stage.
    if (!tma_usable(p->module, op_operand(op, 0)) || !value_defined_outside(op_operand(op, 0), p->loop)) {
      remark_missed(op, "%s " STAYS "its descriptor is made inside of the loop", remark_name(op));
      return;
    }
    a.tma = true;
    a.buffer_type = tma_load_buffer(p->ctx, op);
    a.alloc = only_alloc(op_result(op, 0));
    if (a.alloc && op_result(a.alloc, 0)->type != a.buffer_type) a.alloc = NULL;
  } else if (op->opcode == OP_LOAD && can_copy_async(p, op)) {
    a.alloc = only_alloc(op_result(op, 0));
    const bool is_operand = a.alloc != NULL;
    if (a.alloc && !copies_fit(op, a.alloc)) a.alloc = NULL;
    if (!is_operand && !all_loads && !access_feeds_dot(op)) {
      remark_missed(op, "%s " STAYS "no dot reads it; range(…, num_stages=%u) copies all loads of the loop ahead",
                    remark_name(op), p->stages);
      return;
    }
    a.filled_after = fills_otherwise(op);
    if (a.filled_after && a.alloc) {
      remark_missed(op, "%s " STAYS "what its mask leaves out is not zero", remark_name(op));
      return;
    }
    a.buffer_type = a.alloc ? op_result(a.alloc, 0)->type : row_buffer(p, op);
  } else {
    if (op->opcode == OP_LOAD) remark_missed(op, "%s " STAYS "%s", remark_name(op), why_not_async(p, op));
    return;
  }
  a.consumer = first_consumer(p, op_result(op, 0));
  // Copies are waited for before pingpong_wait, because a warpgroup should not wait while it has the tensor cores, and
  // before others may learn that the load is over.
  bool loaded = false;
  for (Op *o = pipe_body(p)->first; a.consumer && o != a.consumer; o = o->next) {
    loaded |= o == op;
    if (o->opcode == OP_PINGPONG_WAIT || (loaded && global_is_released(o))) a.consumer = o;
    if (a.consumer == o) break;
  }
  if (a.consumer) vec_push(&p->ctx->arena, &p->loads, a);
}

// ---- what their addresses need ----

// Nobody waits for it before the next iteration's copies are issued.
static bool is_early(const Op *load, void *user) {
  (void)user;
  return !(load->mark & WRITTEN) && slice_is_of_next(load);
}

// Marks the slices of all loads. Drops loads whose slice would contain other memory accesses than early ones.
static void find_slices(Pipe *p) {
  for (bool all = false; !all;) {      // a failed attempt leaves marks: repeat with the remaining loads
    LoopSlice slice = slice_begin(p->ctx, p->loop, is_early, NULL);
    p->carried_in_slice = slice.carried;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->loads.count; i++) {
      const Op *load = p->loads.data[i].load;
      if (load->mark & IN_SLICE) continue;   // every issue does it
      if (slice_add_operands(&slice, load)) p->loads.data[kept++] = p->loads.data[i];
      else remark_missed(load, "%s " STAYS "its address depends on what the loop reads", remark_name(load));
    }
    all = kept == p->loads.count;
    p->loads.count = kept;
  }
}

// ---- peeled dots ----

static Op *next_peeled(Op *op, int64_t peeled) {
  while (op && (op->opcode != OP_DESC_LOAD || op_int(op, ATTR_PEELED, 0) != peeled)) op = op->next;
  return op;
}

// The loads of a peeled dot are the same, in the same order, in the conditional outside the loop and in the loop.
static bool match_outside(Pipe *p, Op *conditional, int64_t peeled) {
  if (!conditional) return false;
  Op *op = next_peeled(conditional->blocks[0]->first, peeled);
  bool any = false;
  VEC_EACH(a, p->loads) {
    if (op_int(a->load, ATTR_PEELED, 0) != peeled) continue;
    a->outside = op && value_has_one_use(op_result(op, 0)) ? only_alloc(op_result(op, 0)) : NULL;
    if (!a->outside || !a->alloc || op_operand(op, 0) != op_operand(a->load, 0) ||
        op_result(a->outside, 0)->type != a->buffer_type)
      return false;
    a->ahead = peeled > 0;
    any = true;
    op = next_peeled(op->next, peeled);
  }
  return any && !op;
}

static void find_outside(Pipe *p) {
  p->front = p->loop->prev, p->back = p->loop->next, p->pingpong = NULL;
  while (p->front && p->front->opcode != OP_IF) p->front = p->front->prev;
  while (p->back && p->back->opcode != OP_IF) p->back = p->back->next;
  EACH_OP(op, pipe_body(p))
    if (op->opcode == OP_PINGPONG_WAIT) p->pingpong = op;
  if (p->pingpong && match_outside(p, p->front, 1) && match_outside(p, p->back, -1)) return;
  p->front = p->back = NULL;
  VEC_EACH(a, p->loads) a->outside = NULL, a->ahead = false;
}

// Copies are issued by a warp of the last warpgroup in the ping-pong order. A tensor map that the block has made is
// visible to warp 0 only: then warp 0 issues, after a block barrier.
static void choose_issuer(Pipe *p) {
  p->issuer = p->pingpong && p->module->num_warps >= 2 * WARPGROUP_WARPS ? p->module->num_warps - WARPGROUP_WARPS : 0;
  for (uint32_t i = 0; i < p->loads.count; i++)
    if (!op_operand(p->loads.data[i].load, 0)->block) p->issuer = 0;
}

enum { FAR_AHEAD = 3 };

// Tiles that are read close together, as the operands of mma are, share one wait. A wait or barrier between them would
// also hold the first tiles' registers longer than the hardware scheduler needs. With FAR_AHEAD stages and more, a tile
// was copied a whole iteration before it is read: then all tiles that cp.async copies share the first wait, which saves
// a barrier for each other.
static void join_waits(Pipe *p) {
  VEC_EACH(a, p->loads) {
    const bool far = p->stages >= FAR_AHEAD && !a->tma;
    for (Op *op = a->consumer->prev; op && (far || pipe_is_short(op)); op = op->prev)
      VEC_EACH(load, p->loads)
        if (load->consumer == op && load->tma == a->tma) a->consumer = op;
  }
}

static void group_loads(Pipe *p) {
  p->groups.count = p->num_copy_groups = 0;
  VEC_EACH(a, p->loads) {
    uint32_t g = 0;
    for (; g < p->groups.count; g++) {
      const LoadGroup *other = &p->groups.data[g];
      if (other->consumer == a->consumer && other->tma == a->tma && other->ahead == a->ahead) break;
    }
    if (g == p->groups.count) {
      LoadGroup made = {.consumer = a->consumer, .tma = a->tma, .ahead = a->ahead};
      vec_push(&p->ctx->arena, &p->groups, made);
      p->num_copy_groups += !a->tma;
    }
    a->group = g;
    if (a->tma) p->groups.data[g].bytes += type_bytes(a->buffer_type);
  }
}

bool pipe_choose_loads(Pipe *p, bool all_loads) {
  p->loads.count = 0;
  EACH_OP(op, pipe_body(p)) op->mark = 0;
  if (global_is_acquired(pipe_body(p))) {   // memory may have changed then
    remark_missed(p->loop,
                  "not pipelined: what it learns from other programs (an atomic's result, a volatile load) may change "
                           "what its loads read");
    return false;
  }
  global_mark_written(p->ctx, pipe_body(p), WRITTEN);
  EACH_OP(op, pipe_body(p)) consider(p, op, all_loads);
  if (p->loads.count == 0) return false;
  pipe_measure(p);
  find_slices(p);
  find_outside(p);
  choose_issuer(p);
  join_waits(p);
  group_loads(p);
  return p->loads.count > 0;
}
