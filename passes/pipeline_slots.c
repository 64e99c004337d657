// Of pipeline_loops: how many slots each ring has, and where in an iteration the copies of a later one are issued.
//
//        S slots                                   S − 1 slots, where threads read the tile into registers
//   wait for tile i                            wait for tile i
//   ── barrier ── all have read tile i−1       ── barrier ──   (cp.async: all copies are complete)
//   issue tile i+S−1 over tile i−1             read tile i
//   read tile i                                ── barrier ── all have read tile i
//   compute                                    issue tile i+S−1 over tile i
//                                              compute
//
// Both copy equally far ahead. Fewer slots cost up to one barrier more, and the issue comes after the reads. They pay
// in loops where the shared memory saved lets one more block share an SM that has few, or lets the loop have its stages
// at all. What is computed from the tile may be stored for tensor cores or exchanged between threads: that needs a
// barrier anyway, and the issue then goes after it. A ring that tensor cores read has S slots, because they read while
// the threads continue. But if no wgmma stays in flight and either the stages do not fit otherwise or a block of few
// warps would have an SM to itself, every ring gets S − 1: the issue comes at the iteration's end, when all reads are
// done. The copies are then about one iteration less ahead.
#include "ir/loop.h"
#include "ir/roles.h"
#include "ir/scratch.h"
#include "passes/access.h"
#include "passes/buffer.h"
#include "passes/packing.h"
#include "passes/pipeline_loops.h"
#include "passes/pressure.h"

// ---- what it saves ----

void pipe_measure(Pipe *p) {
  p->shared = liveness_compute(p->ctx, p->module, p->loop->parent->func);
  p->first_number = op_order_begin(&p->shared.order, p->loop);
  p->last_number = op_order_end(&p->shared.order, p->loop);
}

// Whether the op's memory, or scratch, is not needed beside the rings.
static bool becomes_ring(const Pipe *p, const Op *op) {
  VEC_EACH(a, p->loads) {
    if (op == a->alloc ||
        (op->opcode == OP_CONVERT_LAYOUT && op_operand(op, 0) == op_result(a->load, 0) && !a->filled_after))
      return true;
  }
  return false;
}

// The block's shared memory with the rings as they are marked.
static uint32_t shared_need(const Pipe *p) {
  uint32_t most = p->shared.count + p->loads.count + p->groups.count + 1;
  Liveness l = {.items = arena_array(&p->ctx->arena, Lifetime, most)};
  Lifetime ring = {.begin = p->first_number, .end = p->last_number, .role = block_role(p->loop->parent)};
  for (uint32_t i = 0; i < p->shared.count; i++)
    if (!becomes_ring(p, p->shared.items[i].op)) l.items[l.count++] = p->shared.items[i];
  VEC_EACH(a, p->loads) {
    const Type *t = ring_type(p, a);
    ring.bytes = buffer_bytes(t), ring.align = scratch_tile_align(t);
    l.items[l.count++] = ring;
  }
  VEC_EACH(group, p->groups) {
    ring.bytes = group->tma ? ring_slots(p, group->short_ring) * (uint32_t)sizeof(uint64_t) : 0;
    ring.align = sizeof(uint64_t);
    if (ring.bytes) l.items[l.count++] = ring;
  }
  return packing_bytes(p->ctx, &l);
}

static uint32_t blocks_of(const Pipe *p, uint32_t bytes, uint32_t registers) {
  const Target *t = p->module->target;
  const uint32_t threads = module_total_warps(p->module) * WARP_SIZE;
  const int64_t by_both = min_i64(target_blocks_by_registers(registers, threads), target_blocks_by_threads(t, threads));
  return (uint32_t)min_i64(target_blocks_by_shared(t, bytes), by_both);
}

// Whether so many blocks have less than a quarter of an SM's threads.
static bool are_few(const Pipe *p, uint32_t blocks) {
  return 4 * blocks * module_total_warps(p->module) * WARP_SIZE < p->module->target->sm_threads;
}

// Whether the op or a later one of the body reads v.
static bool used_from(const Pipe *p, const Value *v, const Op *op) {
  EACH_USE(u, v) {
    const Op *at = pipe_in_body(p, u->user);
    if (at == op || op_is_before(op, at)) return true;
  }
  return false;
}

enum { ADDRESS_WORDS = 2 };

// Words per thread of the global addresses that are copied from.
static uint32_t address_words(const Pipe *p) {
  uint32_t words = 0;
  VEC_EACH(a, p->loads)
    if (!a->tma) words += access_addresses(a->load, pipe_copy_elements(a->load)) * ADDRESS_WORDS;
  return words;
}

// An estimate of the registers per thread if copies are issued before an op of the body.
static uint32_t registers_at(const Pipe *p, const Op *at) {
  uint32_t tiles = 0;
  for (Op *op = pipe_body(p)->first; op != at; op = op->next)
    for (uint32_t i = 0; i < op->num_results; i++) {
      uint32_t held = pressure_words(op_result(op, i));
      if (held && used_from(p, op_result(op, i), at)) tiles += held;
    }
  // If no tiles are held, addresses may use their registers.
  return pressure_registers(pressure_carried(p->loop) + (tiles ? tiles + address_words(p) : 0));
}

// Not if tiles that are read before the issue would spill. One block more does not matter once a quarter of an SM's
// threads are resident.
static bool is_worth(const Pipe *p, uint32_t full_bytes, const Op *issue) {
  uint32_t bytes = shared_need(p), registers = registers_at(p, issue), blocks = blocks_of(p, full_bytes, registers);
  if (registers > THREAD_REGISTERS) return false;
  if (full_bytes > p->module->target->shared_bytes) return bytes <= p->module->target->shared_bytes;
  return blocks_of(p, bytes, registers) > blocks && are_few(p, blocks);
}

static void set_all(Pipe *p, bool is_short);

// Whether every ring should be short, with copies issued at the iteration's end: if the stages do not fit otherwise, or
// if a block of few warps would have an SM to itself.
static bool all_are_worth(Pipe *p, uint32_t full_bytes) {
  if (full_bytes > p->module->target->shared_bytes) return true;
  if (!are_few(p, 1)) return false;
  if (pressure_registers(pressure_carried(p->loop)) > THREAD_REGISTERS) return false;
  // Before the end threads also hold what they compute with: all registers that they have, if need be.
  const uint32_t registers = (uint32_t)min_i64(registers_at(p, pipe_body(p)->last), THREAD_REGISTERS);
  set_all(p, true);
  return blocks_of(p, full_bytes, registers) == 1 && blocks_of(p, shared_need(p), registers) > 1;
}

// ---- where tiles are read ----

// Sets *last to the body's last op that reads the buffer v. False: something other than threads reads it.
static bool read_by_threads(const Pipe *p, const Value *v, Op **last) {
  EACH_USE(u, v) {
    Op *at = pipe_in_body(p, u->user);
    bool is_view = at == u->user && buffer_is_view(at);
    const Opcode reads = u->user->opcode;
    if (is_view ? !read_by_threads(p, op_result(at, 0), last) : reads != OP_LOCAL_LOAD && reads != OP_DOT_SHARED)
      return false;
    if (!is_view && op_is_before(*last, at)) *last = at;
  }
  return true;
}

static void mark_groups(Pipe *p) {
  for (uint32_t g = 0; g < p->groups.count; g++) p->groups.data[g].short_ring = p->groups.data[g].tma;
  VEC_EACH(a, p->loads)
    if (!a->short_ring) p->groups.data[a->group].short_ring = false;
  VEC_EACH(load, p->loads) // an mbarrier's phase covers all of its tiles
    if (load->tma) load->short_ring = p->groups.data[load->group].short_ring;
}

// The rings that threads have read before `work` get S − 1 slots. Returns the last op that reads one; NULL: there is
// none.
static Op *shorten_read_before(Pipe *p, const Op *work) {
  Op **reads = arena_array(&p->ctx->arena, Op *, p->loads.count), *last = NULL;
  for (uint32_t i = 0; i < p->loads.count; i++) {
    AsyncLoad *a = &p->loads.data[i];
    reads[i] = a->load;
    a->short_ring =
        (!a->alloc || read_by_threads(p, op_result(a->alloc, 0), &reads[i])) && op_is_before(reads[i], work);
  }
  mark_groups(p);
  for (uint32_t i = 0; i < p->loads.count; i++)
    if (p->loads.data[i].short_ring && (!last || op_is_before(last, reads[i]))) last = reads[i];
  return last;
}

static void set_all(Pipe *p, bool is_short) {
  VEC_EACH(a, p->loads) a->short_ring = is_short;
  mark_groups(p);
}

// ---- where copies are issued ----

static const AsyncLoad *async_load(const Pipe *p, const Op *load) {
  VEC_EACH(a, p->loads)
    if (a->load == load) return a;
  return NULL;
}

bool pipe_is_short(const Op *op) {
  switch (op->opcode) {
    case OP_LOCAL_LOAD: case OP_ALLOC: case OP_LOAD: case OP_DESC_LOAD: return true;
    case OP_INLINE_ASM: return op_int(op, ATTR_PURE, 0);
    default: return op_is(op, TRAIT_PURE) && op_unit(op) != UNIT_DOT && op->num_blocks == 0;
  }
}

// The first op after the first wait that copies should overlap with.
static Op *first_work(const Pipe *p) {
  bool waited = false;
  for (Op *op = pipe_body(p)->first;; op = op->next) {
    const AsyncLoad *load = async_load(p, op);
    bool other_load = !load && (op->opcode == OP_LOAD || op->opcode == OP_DESC_LOAD);
    waited = waited || (load && !load->alloc);
    VEC_EACH(a, p->loads) waited = waited || a->consumer == op;
    if (op == pipe_body(p)->last || (waited && (other_load || !pipe_is_short(op)))) return op;
  }
}

// Whether the op reads, in shared memory, what threads have computed in this iteration.
static bool reads_computed(const Pipe *p, const Op *op) {
  for (uint32_t i = 0; i < op->num_operands; i++) {
    Value *v = op_operand(op, i);
    if (!v || v->type->kind != TYPE_BUFFER) continue;
    v = buffer_whole(v);
    if (value_op(v, OP_ALLOC) && v->def->parent == pipe_body(p) && !becomes_ring(p, v->def)) return true;
  }
  return false;
}

// The op before which copies over what `last` has read are issued: not after `work`, but after a barrier that is there
// anyway.
static Op *issue_after_barrier(const Pipe *p, Op *last, Op *work) {
  for (Op *op = last->next;; op = op->next) {
    uint32_t align;
    if (reads_computed(p, op)) return op;
    if (op == work) return last->next;
    if (op->opcode != OP_ALLOC && !becomes_ring(p, op) && scratch_op_bytes(p->ctx, op, &align))
      return op->next;
  }
}

// Triton pipelines only innermost loops, and a program's num_stages is what these have room for. A loop around another
// one is rather not pipelined than refused, or than a block of few warps has an SM to itself.
static uint32_t least_stages(const Pipe *p) {
  return for_holds_loop(p->loop) ? 1 : (uint32_t)op_int(p->loop, ATTR_LEAST_STAGES, p->stages);
}

static bool is_alone(const Pipe *p) {
  const Target *t = p->module->target;
  return are_few(p, 1) && target_blocks_by_shared(t, shared_need(p)) == 1 &&
         target_blocks_by_shared(t, packing_bytes(p->ctx, &p->shared)) > 1;
}

bool pipe_fit_stages(Pipe *p) {
  const uint32_t least = least_stages(p);
  const bool is_outer = for_holds_loop(p->loop);
  while (p->stages > least && (shared_need(p) > p->module->target->shared_bytes || (is_outer && is_alone(p))))
    p->stages--;
  return p->stages > 1;
}

Op *pipe_choose_slots(Pipe *p, Op *free) {
  if (p->front || p->pingpong) return NULL;
  uint32_t full = shared_need(p);
  Op *work = free ? free : first_work(p), *last = shorten_read_before(p, work);
  Op *issue = free || !last ? free : issue_after_barrier(p, last, work);
  if (last && is_worth(p, full, issue)) return free ? NULL : issue;
  bool all = !free && all_are_worth(p, full);
  set_all(p, all);
  return all ? pipe_body(p)->last : NULL;
}
