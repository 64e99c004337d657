// The rules of ops on shared memory, asynchronous copies, mbarriers and tensor cores. See verify_rules.c.
#include "ir/verify_int.h"

static bool is_tile(const Type *t) { return t->kind == TYPE_BUFFER && !t->count; }
static bool is_barrier(const Type *t) {
  return is_tile(t) && type_is_scalar(t->elem, SC_I64) && t->rank == 1 && t->shape[0] == 1;
}
static bool same_elements(const Type *a, const Type *b) { return type_same_shape(a, b) && a->elem == b->elem; }
static bool is_predicate(const Type *t) { return !t || type_is_scalar(t, SC_I1); }

bool verify_alloc(Verifier *v, const Op *op) {
  const Type *t = out(op, 0);
  RETURN_UNLESS(t->kind == TYPE_BUFFER && t->layout, "result must be a buffer with a layout");
  RETURN_UNLESS(!in(op, 0) || (in(op, 0)->kind == TYPE_TENSOR && same_elements(in(op, 0), t) && !t->count),
                "init must have the buffer's shape");
  RETURN_UNLESS(v->m->stage != STAGE_ALLOCATED || op_attr(op, ATTR_OFFSET), "has no offset");
  RETURN_UNLESS(!op_attr(op, ATTR_NUM_STAGES) || (t->count && op_int(op, ATTR_NUM_STAGES, 0) == (int64_t)t->count + 1),
                "num_stages is for a buffer of one tile fewer");
  return true;
}

bool verify_buffer_index(Verifier *v, const Op *op) {
  const Type *b = in(op, 0), *r = out(op, 0);
  RETURN_UNLESS(b->kind == TYPE_BUFFER && b->count && is_i32(in(op, 1)), "takes a multi-buffer and an i32");
  RETURN_UNLESS(is_tile(r) && like(b, r) && r->elem == b->elem, "result must be one tile of the buffer");
  return true;
}

bool verify_buffer_slice(Verifier *v, const Op *op) {
  const Type *b = in(op, 0), *r = out(op, 0);
  int64_t axis = op_int(op, ATTR_AXIS, -1), start = op_int(op, ATTR_START, -1);
  RETURN_UNLESS(is_tile(b) && is_tile(r) && r->rank == b->rank && r->elem == b->elem,
                "takes a tile and gives one of its rank");
  RETURN_UNLESS(axis >= 0 && axis < b->rank, "axis out of range");
  for (uint32_t i = 0; i < b->rank; i++)
    RETURN_UNLESS(i == axis || r->shape[i] == b->shape[i], "only the sliced axis may change");
  RETURN_UNLESS(start >= 0 && start + r->shape[axis] <= b->shape[axis], "slice out of range");
  return true;
}

bool verify_buffer_reshape(Verifier *v, const Op *op) {
  const Type *b = in(op, 0), *r = out(op, 0);
  RETURN_UNLESS(is_tile(b) && is_tile(r) && r->elem == b->elem && type_numel(r) == type_numel(b),
                "takes a tile and gives one of as many elements");
  RETURN_UNLESS(layout_reshape(v->ctx, b->layout, r->rank, r->shape) == r->layout,
                "result layout must be the operand's, reshaped");
  return true;
}

static int64_t whole_bytes(const Type *t) {
  return type_bytes(t) * type_tiles(t);
}

bool verify_buffer_reinterpret(Verifier *v, const Op *op) {
  const Type *b = in(op, 0), *r = out(op, 0);
  RETURN_UNLESS(b->kind == TYPE_BUFFER && r->kind == TYPE_BUFFER, "takes a buffer and gives a buffer");
  const Op *def = op_operand(op, 0)->def;
  const Type *room = def && def->opcode == OP_BUFFER_INDEX ? in(def, 0) : b;   // with the tiles after it
  RETURN_UNLESS(whole_bytes(r) <= whole_bytes(room), "the result is larger than the buffer");
  return true;
}

bool verify_keep_alive(Verifier *v, const Op *op) {
  RETURN_UNLESS(in(op, 0)->kind == TYPE_BUFFER, "takes a buffer");
  return true;
}

bool verify_local_load(Verifier *v, const Op *op) {
  RETURN_UNLESS(is_tile(in(op, 0)) && out(op, 0)->kind == TYPE_TENSOR, "takes a tile and gives a tensor");
  RETURN_UNLESS(same_elements(in(op, 0), out(op, 0)), "shapes and element types must agree");
  RETURN_UNLESS(!in(op, 1) || in(op, 1)->kind == TYPE_TOKEN, "second operand must be a token");
  return true;
}

bool verify_local_store(Verifier *v, const Op *op) {
  RETURN_UNLESS(in(op, 0)->kind == TYPE_TENSOR && is_tile(in(op, 1)), "takes a tensor and a tile");
  RETURN_UNLESS(same_elements(in(op, 0), in(op, 1)), "shapes and element types must agree");
  return true;
}

bool verify_async_copy(Verifier *v, const Op *op) {
  const Type *shape = NULL, *b = in(op, 0), *other = in(op, 4);
  RETURN_UNLESS(is_tile(b), "first operand must be a tile");
  if (!verify_address(v, op, 1, &shape)) return false;
  RETURN_UNLESS(type_same_shape(shape, b) && type_elem(in(op, 1))->elem == b->elem,
                "the address must have the tile's shape and element type");
  RETURN_UNLESS(!other || (other->elem == b->elem && like(other, shape)),
                "other must have the accessed shape and element type");
  return verify_mask(v, op, in(op, 3), shape);
}

bool verify_tokens(Verifier *v, const Op *op) {
  for (uint32_t i = 0; i < op->num_operands; i++)
    RETURN_UNLESS(in(op, i)->kind == TYPE_TOKEN, "operands must be tokens");
  return true;
}

bool verify_mbar(Verifier *v, const Op *op) {
  RETURN_UNLESS(is_barrier(in(op, 0)), "first operand must be a buffer<1xi64>");
  bool waits = op->opcode == OP_MBAR_WAIT;
  RETURN_UNLESS(!waits || is_i32(in(op, 1)), "phase must be i32");
  RETURN_UNLESS(is_predicate(in(op, waits ? 2 : 1)), "predicate must be a scalar i1");
  return true;
}

// Operands: descriptor, tile, (loads: barrier, predicate,) coordinates.
bool verify_tma(Verifier *v, const Op *op) {
  const Type *d = in(op, 0), *tile = in(op, 1);
  uint32_t first = op->opcode == OP_TMA_LOAD ? 4 : 2;
  RETURN_UNLESS(d->kind == TYPE_DESC && is_tile(tile) && tile->elem == d->elem && tile->rank <= d->rank,
                "takes a descriptor and a tile of its element type");
  RETURN_UNLESS(first == 2 || (is_barrier(in(op, 2)) && is_predicate(in(op, 3))),
                "needs a buffer<1xi64> and a scalar i1");
  return verify_coords(v, op, first, d->rank);
}

bool verify_dot_shared(Verifier *v, const Op *op) {
  for (uint32_t i = 0; i < 2; i++)
    RETURN_UNLESS(is_tile(in(op, i)) && 1ll << layout_tensor_bits(in(op, i)->layout) == type_numel(in(op, i)),
                  "a and b must be whole tiles");
  return verify_product(v, op, in(op, 0), in(op, 1), in(op, 2));
}

bool verify_wgmma(Verifier *v, const Op *op) {
  RETURN_UNLESS((in(op, 0)->kind == TYPE_TENSOR || is_tile(in(op, 0))) && is_tile(in(op, 1)),
                "a must be a tensor or a tile, b a tile");
  RETURN_UNLESS(in(op, 2)->rank == 2 && is_predicate(in(op, 3)),
                "accumulator must have rank 2, and use_c be a scalar i1");
  return verify_product(v, op, in(op, 0), in(op, 1), in(op, 2));
}
