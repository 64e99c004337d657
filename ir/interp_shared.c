// Shared memory and the copies that run on their own: buffers, cp.async, mbarriers, TMA. Issuing a copy leaves poison
// at its destination. It completes as late as the rules allow: at the wait for it.
#include <stdlib.h>
#include <string.h>

#include "ir/interp_int.h"
#include "ir/roles.h"
#include "ir/scratch.h"

enum { POISON = 0xA5 };

// ---- buffers ----

// Copies the tile's elements between the view and a dense array in row-major order.
static void each_element(const BufferView *v, const Type *tile, char *dense, bool to_view) {
  uint32_t bytes = type_elem_bytes(tile), last = tile->rank - 1u;
  int64_t index[MAX_RANK] = {0}, width = tile->shape[last], step = v->strides[last];
  for (int64_t at = 0, n = type_numel(tile); at < n; at += width) {
    int64_t base = 0;
    for (uint32_t k = 0; k < last; k++) base += index[k] * v->strides[k];
    for (int64_t i = 0; i < width; i++) {
      uint8_t *in_view = v->data + (base + i * step) * bytes;
      char *in_dense = dense + (at + i) * bytes;
      if (to_view) memcpy(in_view, in_dense, bytes); else memcpy(in_dense, in_view, bytes);
    }
    for (int k = (int)last - 1; k >= 0 && ++index[k] == tile->shape[k]; k--) index[k] = 0;
  }
}

void interp_view_read(const BufferView *v, const Type *tile, void *out) { each_element(v, tile, out, false); }
static void view_write(const BufferView *v, const Type *tile, const void *in) {
  each_element(v, tile, (char *)(uintptr_t)in, true);
}

static void poison(const BufferView *v, const Type *tile) {
  size_t n = (size_t)type_bytes(tile);
  void *bytes = interp_malloc(n);
  memset(bytes, POISON, n);
  view_write(v, tile, bytes);
  free(bytes);
}

static const BufferView *view_of(Prog *p, const Op *op, uint32_t i) { return interp_operand_data(p, op, i); }

bool interp_alloc(Prog *p, Op *op) {
  const Type *t = op->results[0].type;
  size_t n = type_tiles(t) * (size_t)type_bytes(t);
  BufferView *v = interp_result_data(p, op, 0);
  uint8_t *memory;
  if (p->shared) {
    int64_t offset = op_int(op, ATTR_OFFSET, 0);
    uint32_t all = p->run->launch->func->module->shared_bytes;
    if (offset < 0 || (uint64_t)offset + n > all)
      return interp_fail(p, op, "buffer outside of the %u bytes of shared memory", all);
    memory = p->shared + offset;
  } else {
    // The memory belongs to the op: it is the second half of its slot, and the same in each iteration of a loop.
    Slot *s = &p->slots[op->results[0].number];
    interp_reserve(&s->wide, &s->wide_capacity, n);
    memory = s->wide;
  }
  memset(memory, POISON, n);
  *v = (BufferView){.data = memory, .tile = type_numel(t)};
  interp_row_major(t, v->strides);
  if (has_operand(op, 0)) view_write(v, t, interp_operand_data(p, op, 0));
  return true;
}

void interp_poison_scratch(Prog *p, const Op *op) {
  const Attr *offset = op_attr(op, ATTR_OFFSET);
  if (!offset || op->opcode == OP_ALLOC) return;
  const Module *m = p->run->launch->func->module;
  uint32_t align, n = scratch_op_bytes(p->run->ctx, op, &align);
  if ((uint64_t)offset->i + n <= m->shared_bytes) memset(p->shared + offset->i, POISON, n);
}

bool interp_buffer_index(Prog *p, Op *op) {
  const Type *t = operand_type(op, 0);
  BufferView v = *view_of(p, op, 0);
  int64_t i = interp_operand_int(p, op, 1);
  if (i < 0 || i >= type_tiles(t))
    return interp_fail(p, op, "tile %lld of a buffer that has %u", (long long)i, type_tiles(t));
  v.data += i * v.tile * type_elem_bytes(t);
  memcpy(interp_result_data(p, op, 0), &v, sizeof v);
  return true;
}

bool interp_buffer_trans(Prog *p, Op *op) {
  BufferView v = *view_of(p, op, 0), r = v;
  const Attr *order = op_attr(op, ATTR_ORDER);
  for (uint32_t k = 0; k < order->num_ints; k++) r.strides[k] = v.strides[order->ints[k]];
  memcpy(interp_result_data(p, op, 0), &r, sizeof r);
  return true;
}

bool interp_buffer_slice(Prog *p, Op *op) {
  BufferView v = *view_of(p, op, 0);
  v.data += op_int(op, ATTR_START, 0) * v.strides[op_int(op, ATTR_AXIS, 0)] * type_elem_bytes(operand_type(op, 0));
  memcpy(interp_result_data(p, op, 0), &v, sizeof v);
  return true;
}

// Whether the view is of consecutive elements in row-major order.
static bool is_dense(const BufferView *v, const Type *t) {
  int64_t strides[MAX_RANK];
  interp_row_major(t, strides);
  for (uint32_t k = 0; k < t->rank; k++)
    if (t->shape[k] > 1 && strides[k] != v->strides[k]) return false;
  return true;
}

bool interp_buffer_reshape(Prog *p, Op *op) {
  BufferView v = *view_of(p, op, 0);
  if (!is_dense(&v, operand_type(op, 0)))
    return interp_fail(p, op, "the interpreter does not reshape a permuted or sliced buffer; the simulator does");
  interp_row_major(op->results[0].type, v.strides);
  memcpy(interp_result_data(p, op, 0), &v, sizeof v);
  return true;
}

// The interpreter keeps a tile in row-major order, whatever its layout.
static bool is_plain(Prog *p, const Type *t) {
  uint32_t order[MAX_RANK];
  for (uint32_t k = 0; k < t->rank; k++) order[k] = t->rank - 1u - k;
  return layout_make_shared_plain(p->run->ctx, t->rank, t->shape, order) == t->layout;
}

bool interp_buffer_reinterpret(Prog *p, Op *op) {
  const Type *from = operand_type(op, 0), *to = op->results[0].type;
  BufferView v = *view_of(p, op, 0);
  const bool same = from->elem == to->elem && from->layout == to->layout;
  if (!is_dense(&v, from) || (!same && (!is_plain(p, from) || !is_plain(p, to))))
    return interp_fail(p, op, "the interpreter reinterprets buffers in row-major layouts only; the simulator does all");
  v.tile = type_numel(to);
  interp_row_major(to, v.strides);
  memcpy(interp_result_data(p, op, 0), &v, sizeof v);
  return true;
}

bool interp_keep_alive(Prog *p, Op *op) { return p && op; }

bool interp_local_load(Prog *p, Op *op) {
  interp_view_read(view_of(p, op, 0), op->results[0].type, interp_result_data(p, op, 0));
  return true;
}

bool interp_local_store(Prog *p, Op *op) {
  view_write(view_of(p, op, 1), operand_type(op, 1), interp_operand_data(p, op, 0));
  return true;
}

// ---- pending copies ----

static PendingCopy *append(PendingCopy **list) {
  while (*list) list = &(*list)->next;
  PendingCopy *c = calloc(1, sizeof *c);
  if (!c) abort();
  return *list = c;
}

static void drop_first(PendingCopy **list) {
  PendingCopy *c = *list;
  *list = c->next;
  free(c->data);
  free(c);
}

static uint32_t length(const PendingCopy *list) {
  uint32_t n = 0;
  for (; list; list = list->next) n++;
  return n;
}

static void give_token(Prog *p, Op *op) { *(uint8_t *)interp_result_data(p, op, 0) = 0; }

// ---- cp.async ----

bool interp_async_copy(Prog *p, Op *op) {
  // A load whose operands begin one later. What it loads arrives at the wait.
  const Type *tile = operand_type(op, 0);
  size_t n = (size_t)type_numel(tile);
  uint8_t *data = interp_malloc(n * type_elem_bytes(tile));
  if (!interp_load_elements(p, op, 1, n, OUTSIDE_LOAD, (char *)data)) {
    free(data);
    return false;
  }
  PendingCopy *c = append(&p->copies);
  c->type = tile;
  c->view = *view_of(p, op, 0);
  c->data = data;
  c->group = p->group;
  poison(&c->view, tile);
  give_token(p, op);
  return true;
}

bool interp_async_commit(Prog *p, Op *op) {
  p->group++;
  give_token(p, op);
  return true;
}

bool interp_async_wait(Prog *p, Op *op) {
  uint64_t left = (uint64_t)op_int(op, ATTR_COUNT, 0);
  while (p->copies && p->copies->group + left < p->group) {
    view_write(&p->copies->view, p->copies->type, p->copies->data);
    drop_first(&p->copies);
  }
  give_token(p, op);
  return true;
}

// ---- mbarriers: 64 bits in the buffer ----

typedef struct { uint32_t phase : 1, expected : 15, pending : 16; int32_t bytes; } Barrier;
_Static_assert(sizeof(Barrier) == 8, "an mbarrier is one i64");

static Barrier get_barrier(const uint8_t *at) {
  Barrier b;
  memcpy(&b, at, sizeof b);
  return b;
}

// Completes the phase if no arrivals and no bytes are missing.
static void put_barrier(uint8_t *at, Barrier b) {
  if (b.pending == 0 && b.bytes == 0) {
    b.phase ^= 1;
    b.pending = b.expected;
  }
  memcpy(at, &b, sizeof b);
}

bool interp_mbar_init(Prog *p, Op *op) {
  uint32_t n = (uint32_t)op_int(op, ATTR_COUNT, 1);
  Barrier b = {.expected = n & 0x7fff, .pending = n & 0xffff};
  memcpy(view_of(p, op, 0)->data, &b, sizeof b);
  return true;
}

bool interp_mbar_inval(Prog *p, Op *op) {
  memset(view_of(p, op, 0)->data, POISON, sizeof(Barrier));
  return true;
}

static bool arrive(Prog *p, Op *op, int64_t arrivals, int64_t bytes) {
  if (operand_is_false(p, op, 1)) return true;
  uint8_t *at = view_of(p, op, 0)->data;
  Barrier b = get_barrier(at);
  if (b.pending < arrivals)
    return interp_fail(p, op, "%lld arrival%s at an mbarrier that waits for %u", (long long)arrivals,
                       arrivals == 1 ? "" : "s", b.pending);
  b.pending = (b.pending - (uint32_t)arrivals) & 0xffff;
  b.bytes += (int32_t)bytes;
  put_barrier(at, b);
  return true;
}

bool interp_mbar_expect(Prog *p, Op *op) { return arrive(p, op, 1, op_int(op, ATTR_BYTES, 0)); }
bool interp_mbar_arrive(Prog *p, Op *op) { return arrive(p, op, op_int(op, ATTR_COUNT, 1), 0); }

bool interp_async_arrive(Prog *p, Op *op) {
  while (p->copies) {
    view_write(&p->copies->view, p->copies->type, p->copies->data);
    drop_first(&p->copies);
  }
  const int64_t threads = WARP_SIZE * (int64_t)op_num_warps(op);
  return arrive(p, op, op_int(op, ATTR_COUNT, 0) ? threads : 0, 0);
}

static void land(PendingCopy *c) {
  view_write(&c->view, c->type, c->data);
  Barrier b = get_barrier(c->barrier);
  b.bytes -= (int32_t)type_bytes(c->type);
  put_barrier(c->barrier, b);
}

bool interp_mbar_is_open(Prog *p, const Op *wait, uint32_t *arrivals, int32_t *bytes) {
  uint8_t *at = view_of(p, wait, 0)->data;
  uint32_t parity = (uint32_t)interp_operand_int(p, wait, 1) & 1;
  for (PendingCopy **c = &p->home->tma_loads; *c && get_barrier(at).phase == parity;) {
    if ((*c)->barrier != at) {
      c = &(*c)->next;
      continue;
    }
    land(*c);
    drop_first(c);
  }
  Barrier b = get_barrier(at);
  *arrivals = b.pending;
  *bytes = b.bytes;
  return b.phase == parity;
}

bool interp_mbar_wait(Prog *p, Op *op) {
  uint32_t arrivals;
  int32_t bytes;
  if (operand_is_false(p, op, 2)) return true;
  while (interp_mbar_is_open(p, op, &arrivals, &bytes)) {
    if (!p->role)
      return interp_fail(
          p, op, "waits for ever: %u arrivals and %d bytes are missing, and nothing that could bring them is under way",
          arrivals, bytes);
    interp_give_way(p, op);
  }
  p->moved = true;
  return true;
}

// ---- TMA ----

// The tile in the descriptor's rank, with the leading axes of size 1 that the buffer leaves out.
static const Type *tile_of(Prog *p, const Type *buffer, uint32_t rank) {
  int64_t shape[MAX_RANK];
  for (uint32_t i = 0; i < rank; i++) shape[i] = i + buffer->rank < rank ? 1 : buffer->shape[i + buffer->rank - rank];
  return type_tensor(p->run->ctx, buffer->elem, (int)rank, shape, NULL);
}

bool interp_tma_load(Prog *p, Op *op) {
  if (operand_is_false(p, op, 3)) return true;
  const Type *desc = operand_type(op, 0), *buffer = operand_type(op, 1);
  const Type *tile = type_tensor(p->run->ctx, desc->elem, desc->rank, desc->shape, NULL);
  int64_t coords[MAX_RANK];
  interp_coords(p, op, 4, coords);
  uint8_t *data = interp_malloc((size_t)type_bytes(buffer));
  if (!interp_read_tile(p, op, interp_operand_data(p, op, 0), tile, coords, data)) {
    free(data);
    return false;
  }
  PendingCopy *c = append(&p->home->tma_loads);
  c->type = buffer;
  c->view = *view_of(p, op, 1);
  c->data = data;
  c->barrier = view_of(p, op, 2)->data;
  poison(&c->view, buffer);
  return true;
}

static bool start_store(Prog *p, Op *op) {
  PendingCopy *c = append(&p->tma_stores);
  c->op = op;
  c->type = operand_type(op, 1);
  c->view = *view_of(p, op, 1);
  c->desc = *(const InterpDesc *)interp_operand_data(p, op, 0);
  interp_coords(p, op, 2, c->coords);
  return true;
}
bool interp_tma_store(Prog *p, Op *op) { return start_store(p, op); }
bool interp_tma_reduce(Prog *p, Op *op) { return start_store(p, op); }

// The store reads shared memory here and not before: changing the buffer too early gives wrong results.
static bool finish_store(Prog *p) {
  PendingCopy *c = p->tma_stores;
  void *data = interp_malloc((size_t)type_bytes(c->type));
  interp_view_read(&c->view, c->type, data);
  int64_t atomic = c->op->opcode == OP_TMA_REDUCE ? op_int(c->op, ATTR_ATOMIC, ATOMIC_ADD) : -1;
  bool ok =
      interp_write_tile(p, c->op, &c->desc, tile_of(p, c->type, c->op->num_operands - 2), c->coords, data, atomic);
  free(data);
  drop_first(&p->tma_stores);
  return ok;
}

bool interp_tma_wait(Prog *p, Op *op) {
  uint32_t left = (uint32_t)op_int(op, ATTR_COUNT, 0);
  while (length(p->tma_stores) > left)
    if (!finish_store(p)) return false;
  return true;
}

bool interp_finish_copies(Prog *p, bool ok) {
  while (p->copies) drop_first(&p->copies);
  while (p->tma_loads) drop_first(&p->tma_loads);   // none if p is a role
  while (p->tma_stores)
    if (ok) ok = finish_store(p); else drop_first(&p->tma_stores);
  return ok;
}
