// lower_tma: descriptor accesses that pipeline_loops left become synchronous TMA copies through a shared buffer.
//   in:  LAID_OUT; desc_load/desc_store/desc_reduce on descriptors that reach TMA
//   out: none of those; every descriptor parameter knows its box and swizzle; for descriptors that the kernel makes, it
//        writes tensor maps itself, into memory that the launcher provides (a hidden parameter)
//
//   %x = desc_load %d, i, j        %buf = alloc; %bar = alloc; mbar_init; mbar_expect; tma_load; mbar_wait; mbar_inval
//                                  %x = local_load %buf     (or %buf itself if an alloc of %x asks for this layout)
//                                  In a `for`, what concerns the life of %bar stands around the loop, and the loop
//                                  carries the phase to wait for, which flips in each iteration: making an mbarrier
//                                  takes a fence and two barriers.
//   desc_store %d, %x, i, j        tma_wait 0; %buf = alloc; local_store %x, %buf; fence_async; tma_store
//
// A store does not wait: the wait comes before the next write to its buffer, before a TMA load of the same array that
// may follow it, and before the kernel returns. The program's own barriers order all other accesses of global memory:
// before them the kernel waits for TMA's writes, and a proxy fence orders threads' writes with TMA.
#include "passes/tma.h"

#include "ir/roles.h"
#include "ir/scratch.h"
#include "passes/global_memory.h"
#include "passes/loop_slice.h"
#include "passes/op_order.h"

static void box_of(const Type *desc, int64_t box[MAX_DESC_RANK]) {
  for (uint32_t i = 0; i < desc->rank; i++) box[i] = type_desc_box(desc, i);
}

static Value *alloc_tile(Builder *b, const Type *desc) {
  return build_alloc(b, tma_tile_buffer(b->ctx, desc), NULL);
}

typedef struct { Op *loop; Value *buffer; } StoreBuffer;
// The mbarriers of a loop's loads, for those that execute once in each iteration.
typedef struct { const Block *body; Value *barriers, *phase; uint32_t num, used; } LoopBarriers;
typedef struct {
  Module *module;
  Func *func;
  bool stored;
  uint32_t num_maps;         // tensor maps that the kernel writes
  bool scarce;               // there is no room for a buffer for every store
  VEC(StoreBuffer) buffers;  // of stores in loops
  VEC(LoopBarriers) loops;
  VEC(Op *) accesses;        // found before any is lowered, because lowering a load erases later ops
} LowerTma;

static void coordinates(const Op *op, uint32_t first, Value **coords) {
  for (uint32_t i = first; i < op->num_operands; i++) coords[i - first] = op_operand(op, i);
}

// Gathers the ops of the block that read the buffer or a view of it, or that have such ops in them.
static void find_readers(Context *ctx, const Value *buffer, const Block *b, OpList *readers) {
  EACH_USE(u, buffer) {
    Op *user = u->user;
    if (user->num_results && user->results[0].type->kind == TYPE_BUFFER) {
      find_readers(ctx, &user->results[0], b, readers);
      continue;
    }
    while (user && user->parent != b) user = user->parent->parent;
    if (user) vec_push(&ctx->arena, readers, user);
  }
}

// The first op after a load, in its block, that needs what is loaded: it reads the buffer, or the load must be over
// before it. NULL if nothing reads the buffer.
static Op *first_reader(Context *ctx, const Op *load, const Value *buffer) {
  OpList readers = {0};
  const Value *root = global_root(op_operand(load, 0));
  find_readers(ctx, buffer, load->parent, &readers);
  for (Op *at = load->next; at && readers.count; at = at->next) {
    if (global_must_follow(at, root)) return at;
    VEC_EACH(x, readers)
      if (*x == at) return at;
  }
  return NULL;
}

static LoopBarriers *barriers_of_loop(LowerTma *s, const Op *load) {
  VEC_EACH(x, s->loops)
    if (x->body == load->parent) return x;
  return NULL;
}

static void count_barrier(LowerTma *s, const Op *load) {
  const Op *loop = load->parent->parent;
  if (!loop || loop->opcode != OP_FOR) return;
  LoopBarriers *l = barriers_of_loop(s, load);
  if (l) l->num++;
  else vec_push(&s->module->ctx->arena, &s->loops, ((LoopBarriers){.body = load->parent, .num = 1}));
}

static void build_loop_barriers(Context *ctx, LoopBarriers *l) {
  Op *loop = l->body->parent;
  Builder b = builder_before(ctx, loop);
  l->barriers = tma_build_barriers(&b, l->num > 1 ? l->num : 0);
  loop = loop_carry(ctx, loop, build_i32(&b, 0));
  Block *body = loop->blocks[0];
  l->body = body;
  l->phase = body->args[body->num_args - 1];
  Builder end = builder_before(ctx, body->last), after = builder_after(ctx, loop);
  op_append_operand(ctx, body->last, build_binary(&end, OP_XORI, l->phase, build_i32(&end, 1)));
  tma_build_invalidate(&after, l->barriers);
}

static void lower_load(LowerTma *s, Op *op) {
  Context *ctx = s->module->ctx;
  Builder b = builder_before(ctx, op);
  Value *desc = op_operand(op, 0), *coords[MAX_RANK];
  coordinates(op, 1, coords);
  LoopBarriers *l = barriers_of_loop(s, op);
  Value *buf = build_alloc(&b, tma_load_buffer(ctx, op), NULL);
  Value *bar = l ? tma_build_index(&b, l->barriers, build_i32(&b, l->used++)) : tma_build_barriers(&b, 0);
  tma_build_expect(&b, bar, NULL, type_bytes(desc->type), 0);
  tma_build_load(&b, desc, buf, bar, NULL, coords, 0);
  Value *x = op_result(op, 0);
  for (Use *u = x->uses, *next; u; u = next) {
    next = u->next;
    Op *alloc = u->user;
    if (alloc->opcode != OP_ALLOC || op_result(alloc, 0)->type != buf->type) continue;
    op_replace(alloc, &buf);
  }
  // What the copy's readers do not need is issued while it is under way, other copies for example.
  Op *reader = x->uses ? NULL : first_reader(ctx, op, buf);
  Builder w = reader ? builder_before(ctx, reader) : b;
  tma_build_wait(&w, bar, l ? l->phase : build_i32(&w, 0));
  if (!l) tma_build_invalidate(&w, bar);
  if (x->uses) value_replace_all_uses(x, tma_build_read(&b, buf, x->type));
  op_erase(op);
}

// Around op, in its block of a `roles`: other blocks run beside it.
static Op *outermost_loop(const Op *op) {
  Op *loop = NULL;
  for (Op *p = op->parent->parent; p && p->opcode != OP_ROLES; p = p->parent->parent)
    if (op_is(p, TRAIT_LOOP)) loop = p;
  return loop;
}

// The buffer of a store inside loops belongs to the outermost one: the copy out of it is in flight during the next
// iteration. Stores of one loop and type share a buffer if there is no room for one each.
static Value *store_buffer(LowerTma *s, Op *op, const Type *desc) {
  Op *loop = outermost_loop(op);
  Builder b = builder_before(s->module->ctx, loop ? loop : op);
  if (!loop) return alloc_tile(&b, desc);
  const Type *t = tma_tile_buffer(b.ctx, desc);
  for (uint32_t i = 0; s->scarce && i < s->buffers.count; i++)
    if (s->buffers.data[i].loop == loop && s->buffers.data[i].buffer->type == t) return s->buffers.data[i].buffer;
  StoreBuffer made = {loop, alloc_tile(&b, desc)};
  vec_push(&b.ctx->arena, &s->buffers, made);
  return made.buffer;
}

static void lower_store(LowerTma *s, Op *op) {
  Context *ctx = s->module->ctx;
  Builder b = builder_before(ctx, op);
  Value *desc = op_operand(op, 0), *value = op_operand(op, 1), *coords[MAX_RANK];
  coordinates(op, 2, coords);
  build_wait(&b, OP_TMA_WAIT, 0);
  Value *buf = store_buffer(s, op, desc->type);
  if (value->type->rank != desc->type->rank) {
    const Type *t = type_tensor(ctx, value->type->elem, desc->type->rank, desc->type->shape,
                                layout_reshape(ctx, value->type->layout, desc->type->rank, desc->type->shape));
    value = build_value(&b, OP_RESHAPE, t, &value, 1);
  }
  build_op(&b, OP_LOCAL_STORE, (Value *[]){value, buf}, 2);
  build_op(&b, OP_FENCE_ASYNC, NULL, 0);
  Value *args[2 + MAX_RANK] = {desc, buf};
  for (uint32_t i = 0; i < desc->type->rank; i++) args[2 + i] = coords[i];
  bool is_store = op->opcode == OP_DESC_STORE;
  Op *out = build_op(&b, is_store ? OP_TMA_STORE : OP_TMA_REDUCE, args, 2u + desc->type->rank);
  op_copy_attrs(ctx, out, op);
  op_erase(op);
}

static void find(Op *op, void *user) {
  LowerTma *s = user;
  bool access = op->opcode == OP_DESC_LOAD || op->opcode == OP_DESC_STORE || op->opcode == OP_DESC_REDUCE;
  if (access && tma_usable(s->module, op_operand(op, 0))) vec_push(&s->module->ctx->arena, &s->accesses, op);
}

static void lower(LowerTma *s, Op *op) {
  bool load = op->opcode == OP_DESC_LOAD;
  s->stored |= !load;
  if (load) lower_load(s, op);
  else lower_store(s, op);
}

// Adds the bytes of all existing buffers, and of one for each store that is still to be lowered.
static void count_bytes(Op *op, void *user) {
  int64_t *bytes = user;
  if (op->opcode == OP_ALLOC) {
    const Type *t = op_result(op, 0)->type;
    *bytes += type_bytes(t) * type_tiles(t);
  }
  if (op->opcode == OP_DESC_STORE || op->opcode == OP_DESC_REDUCE) *bytes += type_bytes(op_operand(op, 0)->type);
}

// ---- tensor maps of the kernel's own ----

static Value *scratch_param(LowerTma *s) {
  for (uint32_t i = 0; i < s->func->num_params; i++)
    if (s->func->params[i].kind == PARAM_SCRATCH) return s->func->body->args[i];
  Context *ctx = s->module->ctx;
  FuncParam p = {.name = "scratch", .kind = PARAM_SCRATCH, .spelling = "*i8", .divisible = TENSOR_MAP_BYTES};
  return func_add_param(s->func, type_ptr(ctx, type_scalar(ctx, SC_I8), false), p);
}

static bool is_written(const Value *desc) {
  EACH_USE(u, desc)
    if (op_is_tma_write(u->user)) return true;
  return false;
}

static bool compares_signed(const Value *desc) {
  EACH_USE(u, desc) {
    int64_t kind = u->user->opcode == OP_TMA_REDUCE || u->user->opcode == OP_DESC_REDUCE
                       ? op_int(u->user, ATTR_ATOMIC, ATOMIC_ADD)
                       : ATOMIC_ADD;
    if ((kind == ATOMIC_MAX || kind == ATOMIC_MIN) && type_is_int(desc->type)) return true;
  }
  return false;
}

// Each make_desc has its own map in each program's scratch. In a loop the map is written again when no copy uses it any
// more: loads were waited for where their data is read, stores are waited for here.
static void write_map(Op *op, void *user) {
  LowerTma *s = user;
  Value *desc = op_result(op, 0);
  if (op->opcode != OP_MAKE_DESC || !desc->uses || !tma_usable(s->module, desc)) return;
  Context *ctx = s->module->ctx;
  Builder b = builder_before(ctx, op);
  Value *args[2 + 2 * MAX_RANK] = {scratch_param(s)};
  for (uint32_t i = 0; i < op->num_operands; i++) args[1 + i] = op_operand(op, i);
  if (outermost_loop(op) && is_written(desc)) build_wait(&b, OP_TMA_WAIT, 0);
  Op *map = build_op_typed(&b, OP_MAKE_TENSOR_MAP, &desc->type, 1, args, 1 + op->num_operands);
  op_copy_attrs(ctx, map, op);
  if (compares_signed(desc)) op_set_int(ctx, map, ATTR_SIGNED, 1);
  op_set_int(ctx, map, ATTR_START, s->num_maps++ * TENSOR_MAP_BYTES);
  op_result(map, 0)->name = desc->name;
  value_replace_all_uses(desc, op_result(map, 0));
  op_erase(op);
}

// Shared memory must outlive the copies that read it, and the threads of a worker end with it.
static void wait_before_return(Op *op, void *user) {
  LowerTma *s = user;
  const bool ends_worker = op->opcode == OP_YIELD && block_worker(op->parent) == op->parent;
  if (op->opcode != OP_RETURN && !ends_worker) return;
  Builder b = builder_before(s->module->ctx, op);
  build_wait(&b, OP_TMA_WAIT, 0);
}

// ---- order in global memory ----

static bool holds_write(const Op *loop, const OpList *writes) {
  VEC_EACH(x, *writes)
    for (uint32_t i = 0; i < loop->num_blocks; i++)
      if (op_is_tma_write(*x) && block_encloses(loop->blocks[i], (*x)->parent)) return true;
  return false;
}

// Where a load must wait for the array's TMA writes: before itself, or before the outermost loop around it, in its
// block of a `roles`, without such writes. NULL if none of them can come before it.
static Op *waiting_place(const OpOrder *order, Op *load, const OpList *writes) {
  Op *at = load;
  bool same_warps = true;
  for (Op *p = load->parent->parent; p; p = p->parent->parent) {
    same_warps &= p->opcode != OP_ROLES;
    if (!op_is(p, TRAIT_LOOP)) continue;
    if (holds_write(p, writes)) return at;
    if (same_warps) at = p;
  }
  VEC_EACH(x, *writes)
    if (op_is_tma_write(*x) && op_order_begin(order, *x) < op_order_begin(order, load)) return at;
  return NULL;
}

static void order_uses(Context *ctx, const OpOrder *order, const GlobalUses *uses) {
  VEC_EACH(x, uses->reads) {
    Op *at = (*x)->opcode == OP_TMA_LOAD ? waiting_place(order, *x, &uses->writes) : NULL;
    if (!at) continue;
    Builder b = builder_before(ctx, at);
    build_op(&b, OP_BARRIER, NULL, 0);
  }
}

typedef struct { Context *ctx; GlobalUses uses; } UnknownUses;

static void find_unknown(Op *op, void *user) {
  UnknownUses *u = user;
  if (!op_is_tma_copy(op) || global_root(op_operand(op, 0))) return;
  vec_push(&u->ctx->arena, op_is_tma_write(op) ? &u->uses.writes : &u->uses.reads, op);
}

// A load of what the program stored waits until the copy has written it. Several warps store and load: they meet at a
// barrier, before which order_at_barrier lets each thread wait for what it stored.
static void order_loads_after_stores(Context *ctx, Func *f) {
  OpOrder order = op_order_of(ctx, f);
  for (uint32_t i = 0; i < f->num_params; i++) {
    if (f->params[i].kind == PARAM_AUTO_TENSORMAP) continue;   // with its base
    GlobalUses uses = global_uses_of(ctx, f, i);
    order_uses(ctx, &order, &uses);
  }
  UnknownUses unknown = {.ctx = ctx};                // made of numbers, for example: they may be of one array
  block_walk(f->body, find_unknown, &unknown);
  order_uses(ctx, &order, &unknown.uses);
}

typedef struct {
  Context *ctx;
  bool has_tma, tma_writes, threads_write;
} BarrierOrder;

static void find_accesses(Op *op, void *user) {
  BarrierOrder *o = user;
  o->tma_writes |= op_is_tma_write(op);
  o->has_tma |= op_is_tma_copy(op);
  o->threads_write |= op_unit(op) == UNIT_GMEM && op_is(op, TRAIT_WRITES);
}

// An atomic of a scalar that orders other accesses has block barriers around it (codegen), for other programs to see what
// this one wrote before it, and for this one to see what they wrote. Those of a tensor order each thread's own accesses.
static void order_at_barrier(Op *op, void *user) {
  const BarrierOrder *o = user;
  const bool is_atomic = op_is_atomic(op) && !type_is_tensor(op->results[0].type) &&
                         op_int(op, ATTR_SEM, SEM_RELAXED) != SEM_RELAXED;
  if (op->opcode != OP_BARRIER && !is_atomic) return;
  Builder b = builder_before(o->ctx, op), after = builder_after(o->ctx, op);
  if (o->tma_writes) op_set_int(o->ctx, build_wait(&b, OP_TMA_WAIT, 0), ATTR_WRITTEN, 1);
  if (o->threads_write) op_set_int(o->ctx, build_op(&b, OP_FENCE_ASYNC, NULL, 0), ATTR_GLOBAL, 1);
  if (is_atomic) op_set_int(o->ctx, build_op(&after, OP_FENCE_ASYNC, NULL, 0), ATTR_GLOBAL, 1);
}

void pass_lower_tma(PassCtx *p) {
  LowerTma s = {.module = p->module};
  EACH_FUNC(f, p->module) {
    s.func = f;
    s.stored = false;
    s.buffers.count = 0;
    int64_t bytes = 1024;   // alignment may cost as much
    block_walk(f->body, count_bytes, &bytes);
    s.scarce = bytes > s.module->target->shared_bytes;
    for (uint32_t i = 0; i < f->num_params; i++) {
      if (f->params[i].kind != PARAM_DESC && f->params[i].kind != PARAM_AUTO_TENSORMAP) continue;
      f->params[i].swizzle_bytes = type_desc_swizzle_bytes(f->body->args[i]->type);
      box_of(f->body->args[i]->type, f->params[i].box);
      f->params[i].is_signed = compares_signed(f->body->args[i]);
    }
    s.accesses.count = 0;
    block_walk(f->body, find, &s);
    s.loops.count = 0;
    VEC_EACH(x, s.accesses)
      if ((*x)->opcode == OP_DESC_LOAD) count_barrier(&s, *x);
    VEC_EACH(l, s.loops) build_loop_barriers(p->ctx, l);
    VEC_EACH(x, s.accesses) lower(&s, *x);
    if (s.stored) block_walk(f->body, wait_before_return, &s);
    order_loads_after_stores(p->ctx, f);
    BarrierOrder order = {.ctx = p->ctx};
    block_walk(f->body, find_accesses, &order);
    if (order.has_tma) block_walk(f->body, order_at_barrier, &order);
    s.num_maps = 0;
    block_walk(f->body, write_map, &s);
    if (s.num_maps * TENSOR_MAP_BYTES > p->module->scratch_bytes)
      p->module->scratch_bytes = s.num_maps * TENSOR_MAP_BYTES;
  }
}
