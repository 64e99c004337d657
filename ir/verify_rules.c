// What ops demand of their operands, attributes and types: verify_<rule> for the rules that ops.def names.
// verify_shared.c has those of shared memory and tensor cores.
#include <string.h>

#include "ir/buf.h"
#include "ir/inline_asm.h"
#include "ir/reduce_order.h"
#include "ir/verify_int.h"

bool verify_fail(Verifier *v, const Op *op, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  const char *text = arena_vprintf(&v->ctx->arena, fmt, ap);
  va_end(ap);
  diag_error(v->ctx, op->span, "%s: %s", op_info[op->opcode].name, text);
  // Print the op: after passes, the source line alone does not say which operation is meant.
  Buf b = buf_make(&v->ctx->arena);
  ir_print_op(&b, op);
  const char *line = buf_str(&b), *end = strchr(line, '\n');
  size_t n = end ? (size_t)(end - line) : b.size;
  diag_note(v->ctx, (Span){0, 0}, "in `%.*s`", (int)(n < 300 ? n : 300), line);
  return v->ok = false;
}

bool verify_any(Verifier *v, const Op *op) { (void)v, (void)op; return true; }

bool verify_constant(Verifier *v, const Op *op) {
  RETURN_UNLESS(op_attr(op, ATTR_VALUE), "has no value");
  const Type *t = out(op, 0);
  RETURN_UNLESS(t->kind == TYPE_SCALAR || t->kind == TYPE_PTR || t->kind == TYPE_TENSOR,
                "must be a scalar or a tensor");
  uint32_t w = type_elem_bits(t);
  RETURN_UNLESS(w == 64 || op_attr(op, ATTR_VALUE)->bits >> w == 0, "value has bits beyond its type");
  return true;
}

bool verify_axis3(Verifier *v, const Op *op) {
  int64_t axis = op_int(op, ATTR_AXIS, -1);
  RETURN_UNLESS(axis >= 0 && axis <= 2, "axis must be 0, 1 or 2");
  return true;
}

bool verify_range(Verifier *v, const Op *op) {
  const Type *t = out(op, 0);
  RETURN_UNLESS(t->kind == TYPE_TENSOR && t->rank == 1 && type_is_scalar(t->elem, SC_I32),
                "result must be a tensor of i32 with one axis");
  RETURN_UNLESS(t->shape[0] == op_int(op, ATTR_END, 0) - op_int(op, ATTR_START, 0),
                "result must have end - start elements");
  return true;
}

bool verify_splat(Verifier *v, const Op *op) {
  RETURN_UNLESS(in(op, 0)->rank == 0 && out(op, 0)->kind == TYPE_TENSOR && out(op, 0)->elem == in(op, 0),
                "must be from a scalar to a tensor of it");
  return true;
}

bool verify_broadcast(Verifier *v, const Op *op) {
  const Type *x = in(op, 0), *r = out(op, 0);
  RETURN_UNLESS(x->kind == TYPE_TENSOR && r->kind == TYPE_TENSOR && x->rank == r->rank && x->elem == r->elem,
                "rank and element type must stay");
  const Layout *want = r->layout;
  for (uint32_t i = 0; i < x->rank; i++) {
    RETURN_UNLESS(x->shape[i] == r->shape[i] || x->shape[i] == 1, "axis %u of %lld cannot become %lld", i,
                  (long long)x->shape[i], (long long)r->shape[i]);
    if (want && x->shape[i] != r->shape[i]) want = layout_project(v->ctx, want, i);
  }
  if (x->layout && want)
    RETURN_UNLESS(layout_drop_zero_regs(v->ctx, want) == layout_drop_zero_regs(v->ctx, x->layout),
                  "operand layout must be the result's with the new axes struck");
  return true;
}

bool verify_axis(Verifier *v, const Op *op) {
  int64_t axis = op_int(op, ATTR_AXIS, -1);
  RETURN_UNLESS(in(op, 0)->kind == TYPE_TENSOR && axis >= 0 && axis <= in(op, 0)->rank, "axis out of range");
  return true;
}

bool verify_reshape(Verifier *v, const Op *op) {
  const Type *x = in(op, 0), *r = out(op, 0);
  RETURN_UNLESS(type_numel(x) == type_numel(r) && type_elem(x) == type_elem(r),
                "number and type of elements must stay");
  if (x->layout && r->layout && !op_int(op, ATTR_REORDER, 0))
    RETURN_UNLESS(layout_drop_zero_regs(v->ctx, layout_reshape(v->ctx, x->layout, r->rank, r->shape)) ==
                      layout_drop_zero_regs(v->ctx, r->layout),
                  "result layout must be the operand's, reshaped");
  return true;
}

bool verify_trans(Verifier *v, const Op *op) {
  const Attr *order = op_attr(op, ATTR_ORDER);
  const Type *x = in(op, 0), *r = out(op, 0);
  RETURN_UNLESS(x->kind == (op->opcode == OP_TRANS ? TYPE_TENSOR : TYPE_BUFFER) && r->kind == x->kind &&
                    r->elem == x->elem && r->count == x->count,
                "only the order of the axes may change");
  RETURN_UNLESS(order && order->num_ints == x->rank && r->rank == x->rank, "order must name each axis once");
  uint32_t seen = 0;
  for (uint32_t i = 0; i < x->rank; i++) {
    RETURN_UNLESS(order->ints[i] >= 0 && order->ints[i] < x->rank, "order must name each axis once");
    seen |= 1u << order->ints[i];
    RETURN_UNLESS(r->shape[i] == x->shape[order->ints[i]], "result shape must be the operand's, permuted");
  }
  RETURN_UNLESS(seen == (1u << x->rank) - 1, "order must name each axis once");
  RETURN_UNLESS(!x->layout || !r->layout || layout_transpose(v->ctx, x->layout, order->ints) == r->layout,
                "result layout must be the operand's, permuted");
  return true;
}

bool verify_join(Verifier *v, const Op *op) {
  RETURN_UNLESS(in(op, 0) == in(op, 1), "operands must have one type");
  RETURN_UNLESS(in(op, 0)->rank < MAX_RANK, "rank too high");
  return true;
}

bool verify_split(Verifier *v, const Op *op) {
  const Type *x = in(op, 0);
  RETURN_UNLESS(x->kind == TYPE_TENSOR && x->shape[x->rank - 1] == 2, "last axis must be 2");
  RETURN_UNLESS(out(op, 0) == out(op, 1), "results must have one type");
  RETURN_UNLESS(type_numel(out(op, 0)) * 2 == type_numel(x) && type_elem(out(op, 0)) == x->elem,
                "results must be halves of the operand");
  RETURN_UNLESS(!x->layout || x->rank == 1 || layout_split(v->ctx, x->layout) == out(op, 0)->layout,
                "the last axis must be one register bit of the layout");
  return true;
}

bool verify_cat(Verifier *v, const Op *op) {
  const Type *x = in(op, 0), *y = in(op, 1), *r = out(op, 0);
  RETURN_UNLESS(x->kind == TYPE_TENSOR && y->kind == TYPE_TENSOR && r->kind == TYPE_TENSOR && x->rank == y->rank &&
                    r->rank == x->rank,
                "ranks must agree");
  RETURN_UNLESS(x->elem == y->elem && x->elem == r->elem && r->shape[0] == x->shape[0] + y->shape[0],
                "sizes must add up along axis 0");
  for (uint32_t i = 1; i < x->rank; i++)
    RETURN_UNLESS(x->shape[i] == y->shape[i] && x->shape[i] == r->shape[i], "other axes must agree");
  return true;
}

bool verify_convert_layout(Verifier *v, const Op *op) {
  RETURN_UNLESS(in(op, 0)->kind == TYPE_TENSOR && type_same_shape(in(op, 0), out(op, 0)) &&
                    type_elem(in(op, 0)) == type_elem(out(op, 0)),
                "only the layout may change");
  return true;
}

bool verify_alike(Verifier *v, const Op *op) {
  for (uint32_t i = 1; i < op->num_operands; i++) RETURN_UNLESS(in(op, i) == in(op, 0), "operands must have one type");
  return true;
}

bool verify_cmpi(Verifier *v, const Op *op) {
  RETURN_UNLESS(op_int(op, ATTR_PRED, CMP_OEQ) <= CMP_UGE, "needs an integer predicate");
  return verify_alike(v, op);
}

bool verify_cmpf(Verifier *v, const Op *op) {
  RETURN_UNLESS(op_int(op, ATTR_PRED, CMP_EQ) >= CMP_OEQ, "needs a floating-point predicate");
  return verify_alike(v, op);
}

bool verify_select(Verifier *v, const Op *op) {
  RETURN_UNLESS(is_i1(in(op, 0)) && in(op, 1) == in(op, 2), "takes an i1 and two operands of one type");
  RETURN_UNLESS(in(op, 0)->rank == 0 || like(in(op, 0), in(op, 1)),
                "condition must be a scalar or have the operands' shape");
  return true;
}

// Conversions. ops.def says which elements they convert.
static uint32_t bits_in(const Op *op) { return type_elem_bits(in(op, 0)); }
static uint32_t bits_out(const Op *op) { return type_elem_bits(out(op, 0)); }

bool verify_widens(Verifier *v, const Op *op) {
  RETURN_UNLESS(bits_out(op) > bits_in(op), "result must be wider than the operand");
  return true;
}

bool verify_narrows(Verifier *v, const Op *op) {
  RETURN_UNLESS(bits_out(op) < bits_in(op), "result must be narrower than the operand");
  return true;
}

bool verify_rounds(Verifier *v, const Op *op) {
  RETURN_UNLESS(bits_out(op) <= bits_in(op) && in(op, 0) != out(op, 0),
                "result must be another type, and no wider than the operand");
  return true;
}

bool verify_bitcast(Verifier *v, const Op *op) {
  RETURN_UNLESS(bits_out(op) == bits_in(op), "result must be as wide as the operand");
  RETURN_UNLESS(type_is_ptr(in(op, 0)) == type_is_ptr(out(op, 0)),
                "inttoptr and ptrtoint convert between pointers and others");
  return true;
}

bool verify_addptr(Verifier *v, const Op *op) {
  RETURN_UNLESS(type_is_int(in(op, 1)) && type_elem_bits(in(op, 1)) >= 32, "takes a pointer and an i32 or i64 offset");
  return true;
}

bool verify_address(Verifier *v, const Op *op, uint32_t ptr, const Type **shape) {
  const Type *p = in(op, ptr), *offset = in(op, ptr + 1);
  RETURN_UNLESS(type_is_ptr(p) && (p->kind == TYPE_TENSOR || p->kind == TYPE_PTR),
                "needs a pointer or a tensor of pointers");
  RETURN_UNLESS(!offset || (p->rank == 0 && type_is_int(offset) && type_elem_bits(offset) >= 32),
                "offset must be i32 or i64 and the pointer a scalar");
  *shape = offset ? offset : p;
  return true;
}

bool verify_mask(Verifier *v, const Op *op, const Type *mask, const Type *shape) {
  RETURN_UNLESS(!mask || (is_i1(mask) && like(mask, shape)), "mask must be i1, one for each element");
  return true;
}

bool verify_load(Verifier *v, const Op *op) {
  const Type *shape = NULL, *r = out(op, 0);
  if (!verify_address(v, op, 0, &shape)) return false;
  RETURN_UNLESS(type_elem(r) == type_elem(in(op, 0))->elem && like(r, shape),
                "result must be the pointee in the address's shape");
  RETURN_UNLESS(!in(op, 3) || in(op, 3) == r, "other must have the result's type");
  return verify_mask(v, op, in(op, 2), shape);
}

// Operand 2 is written through operands 0 and 1.
static bool check_write(Verifier *v, const Op *op, const Type **shape) {
  if (!verify_address(v, op, 0, shape)) return false;
  const Type *pointer = type_elem(in(op, 0)), *value = in(op, 2);
  RETURN_UNLESS(type_elem(value) == pointer->elem && like(value, *shape),
                "value must be the pointee in the address's shape");
  RETURN_UNLESS(!pointer->is_const, "pointer is to const");
  return true;
}

bool verify_store(Verifier *v, const Op *op) {
  const Type *shape = NULL;
  return check_write(v, op, &shape) && verify_mask(v, op, in(op, 3), shape);
}

bool verify_atomic(Verifier *v, const Op *op) {
  const Type *shape = NULL;
  if (!check_write(v, op, &shape)) return false;
  const uint32_t vector_bits = op_int(op, ATTR_VECTOR, 1) > 1 ? type_elem_bits(in(op, 2)) : 0;
  RETURN_UNLESS(!vector_bits || (op_int(op, ATTR_ATOMIC, 0) == ATOMIC_FADD && !op->results[0].uses &&
                                 (vector_bits == 16 || vector_bits == 32)),
                "a vector of elements is for additions of 16 or 32-bit floats whose old values nobody reads");
  if (op->opcode == OP_ATOMIC_RMW) return verify_mask(v, op, in(op, 3), shape);
  RETURN_UNLESS(in(op, 3) == in(op, 2), "cmp and value must have one type");
  return true;
}

static bool check_yield(Verifier *v, const Op *op, const Block *b, Opcode oc, uint32_t skip, const Type *const *types,
                        uint32_t n) {
  const Op *t = block_terminator(b);
  RETURN_UNLESS(t && t->opcode == oc, "block must end in %s", op_info[oc].name);
  RETURN_UNLESS(t->num_operands == n + skip, "block yields %u values, not %u", t->num_operands - skip, n);
  for (uint32_t i = 0; i < n; i++)
    RETURN_UNLESS(in(t, i + skip) == types[i], "value %u that the block yields has another type", i);
  return true;
}

static bool check_args(Verifier *v, const Op *op, const Block *b, const Type *const *types, uint32_t n) {
  RETURN_UNLESS(b->num_args == n, "block has %u arguments, not %u", b->num_args, n);
  for (uint32_t i = 0; i < n; i++) RETURN_UNLESS(b->args[i]->type == types[i], "block argument %u has another type", i);
  return true;
}

bool verify_for(Verifier *v, const Op *op) {
  const Type *iv = in(op, 0);
  RETURN_UNLESS(iv->rank == 0 && type_is_int(iv) && type_elem_bits(iv) >= 32 && in(op, 1) == iv && in(op, 2) == iv,
                "bounds and step must be i32 or i64 scalars of one type");
  RETURN_UNLESS(op->num_results + 3 == op->num_operands, "one result for each carried value");
  const Type **types = arena_array(&v->ctx->arena, const Type *, op->num_results + 1);
  types[0] = iv;
  for (uint32_t i = 0; i < op->num_results; i++) types[i + 1] = out(op, i);
  return check_args(v, op, op->blocks[0], types, op->num_results + 1) &&
         check_yield(v, op, op->blocks[0], OP_YIELD, 0, types + 1, op->num_results);
}

bool verify_while(Verifier *v, const Op *op) {
  const Type **inits = arena_array(&v->ctx->arena, const Type *, op->num_operands),
             **results = op_result_types(v->ctx, op);
  for (uint32_t i = 0; i < op->num_operands; i++) inits[i] = in(op, i);
  if (!check_args(v, op, op->blocks[0], inits, op->num_operands) ||
      !check_args(v, op, op->blocks[1], results, op->num_results))
    return false;
  if (!check_yield(v, op, op->blocks[0], OP_CONDITION, 1, results, op->num_results)) return false;
  RETURN_UNLESS(type_is_scalar(in(block_terminator(op->blocks[0]), 0), SC_I1), "condition must be a scalar i1");
  return check_yield(v, op, op->blocks[1], OP_YIELD, 0, inits, op->num_operands);
}

bool verify_if(Verifier *v, const Op *op) {
  RETURN_UNLESS(type_is_scalar(in(op, 0), SC_I1), "condition must be a scalar i1");
  const Type **types = op_result_types(v->ctx, op);
  for (uint32_t i = 0; i < 2; i++)
    if (!check_args(v, op, op->blocks[i], NULL, 0) ||
        !check_yield(v, op, op->blocks[i], OP_YIELD, 0, types, op->num_results))
      return false;
  return true;
}

bool verify_reduce(Verifier *v, const Op *op) {
  const bool product = op_int(op, ATTR_PRODUCT, 0) != 0;
  const uint32_t n = op->num_results;
  RETURN_UNLESS(n > 0 && op->num_operands == (product ? 2 : n), "one result for each operand, or for a product");
  RETURN_UNLESS(n <= MAX_COMBINED, "at most %d tensors are combined", MAX_COMBINED);
  int64_t axis = op_int(op, ATTR_AXIS, -1);
  const Type **types = arena_array(&v->ctx->arena, const Type *, 2 * n);
  for (uint32_t i = 0; i < n; i++) {
    RETURN_UNLESS(in(op, i)->kind == TYPE_TENSOR && like(in(op, i), in(op, 0)),
                  "operands must be tensors of one shape");
    RETURN_UNLESS(axis >= 0 && axis < in(op, i)->rank, "axis out of range");
    types[i] = types[n + i] = type_elem(in(op, i));
  }
  AxisPlace places[LAYOUT_MAX_BITS];
  const Layout *l = in(op, 0)->layout;
  RETURN_UNLESS(!l || reduce_axis_places(l, (uint32_t)axis, places), "the layout mixes the axis with others");
  RETURN_UNLESS(!product || (n == 1 && op->opcode == OP_REDUCE && in(op, 0) == in(op, 1) &&
                             type_is_scalar(types[0], SC_F32)),
                "products are of two operands of f32");
  return check_args(v, op, op->blocks[0], types, 2 * n) && check_yield(v, op, op->blocks[0], OP_YIELD, 0, types, n);
}

bool verify_map(Verifier *v, const Op *op) {
  int64_t pack = op_int(op, ATTR_PACK, 1);
  RETURN_UNLESS(pack >= 1 && pack <= 64 && op->num_results > 0, "pack must be 1 to 64, and there must be a result");
  uint32_t n = (uint32_t)pack;
  const Type **args = arena_array(&v->ctx->arena, const Type *, n * op->num_operands);
  const Type **yields = arena_array(&v->ctx->arena, const Type *, n * op->num_results);
  for (uint32_t i = 0; i < op->num_operands * n; i++) args[i] = type_elem(in(op, i / n));
  for (uint32_t i = 0; i < op->num_results * n; i++) yields[i] = type_elem(out(op, i / n));
  for (uint32_t i = 0; i < op->num_operands; i++)
    RETURN_UNLESS(like(in(op, i), out(op, 0)), "operands and results must have one shape and layout");
  return check_args(v, op, op->blocks[0], args, n * op->num_operands) &&
         check_yield(v, op, op->blocks[0], OP_YIELD, 0, yields, n * op->num_results);
}

bool verify_inline_asm(Verifier *v, const Op *op) {
  RETURN_UNLESS(op_int(op, ATTR_PACK, 1) >= 1, "pack must be at least 1");
  RETURN_UNLESS(op->num_results + op->num_operands > 0, "must have a result or an argument");
  AsmRegisters registers;
  const char *wrong = inline_asm_registers(v->ctx, op, &registers);
  if (!wrong) wrong = inline_asm_check_text(v->ctx, op, &registers);
  RETURN_UNLESS(!wrong, "%s", wrong);
  return true;
}

bool verify_gather(Verifier *v, const Op *op) {
  const Type *x = in(op, 0), *index = in(op, 1);
  int64_t axis = op_int(op, ATTR_AXIS, -1);
  RETURN_UNLESS(x->kind == TYPE_TENSOR && index->kind == TYPE_TENSOR && x->rank == index->rank && type_is_int(index),
                "takes a tensor and integer indices of its rank");
  RETURN_UNLESS(axis >= 0 && axis < x->rank, "axis out of range");
  for (uint32_t i = 0; i < x->rank; i++)
    RETURN_UNLESS(i == axis || x->shape[i] == index->shape[i], "axes other than the gathered one must agree");
  return true;
}

bool verify_product(Verifier *v, const Op *op, const Type *a, const Type *b, const Type *c) {
  uint32_t r = c->rank;
  RETURN_UNLESS(c->kind == TYPE_TENSOR && r >= 2 && r <= 3 && a->rank == r && b->rank == r,
                "operands must have rank 2, or 3 with a batch");
  RETURN_UNLESS(r == 2 || (a->shape[0] == c->shape[0] && b->shape[0] == c->shape[0]), "batch sizes must agree");
  RETURN_UNLESS(a->shape[r - 2] == c->shape[r - 2] && b->shape[r - 1] == c->shape[r - 1] &&
                    a->shape[r - 1] == b->shape[r - 2],
                "shapes must be MxK, KxN, MxN");
  RETURN_UNLESS(type_is_float(a) == type_is_float(c) && type_is_float(b) == type_is_float(c) && !type_is_ptr(c),
                "operands and result must all be floating-point or all integer");
  return true;
}

bool verify_dot(Verifier *v, const Op *op) {
  RETURN_UNLESS(in(op, 0)->kind == TYPE_TENSOR && in(op, 1)->kind == TYPE_TENSOR, "operands must be tensors");
  return verify_product(v, op, in(op, 0), in(op, 1), in(op, 2));
}

bool verify_histogram(Verifier *v, const Op *op) {
  RETURN_UNLESS(in(op, 0)->kind == TYPE_TENSOR && type_is_int(in(op, 0)), "takes a tensor of integers");
  RETURN_UNLESS(out(op, 0)->kind == TYPE_TENSOR && out(op, 0)->rank == 1 && type_is_int(out(op, 0)),
                "result must be a tensor of integers with one axis");
  return verify_mask(v, op, in(op, 1), in(op, 0));
}

bool verify_condition(Verifier *v, const Op *op) {
  RETURN_UNLESS(is_i1(in(op, 0)) && in(op, 0)->kind != TYPE_BUFFER, "condition must be i1");
  return true;
}

bool verify_special(Verifier *v, const Op *op) {
  RETURN_UNLESS(out(op, 0)->rank == 0 && type_is_int(out(op, 0)) && op_attr(op, ATTR_SREG),
                "must give a scalar integer and name the register");
  return true;
}

bool verify_hint(Verifier *v, const Op *op) {
  RETURN_UNLESS(in(op, 0)->kind == TYPE_TENSOR || in(op, 0)->kind == TYPE_SCALAR || in(op, 0)->kind == TYPE_PTR,
                "takes a scalar or a tensor");
  return true;
}

bool verify_strided(Verifier *v, const Op *op) {
  const Attr *strides = op_attr(op, ATTR_STRIDES);
  const Type *x = in(op, 0);
  RETURN_UNLESS(x->kind == TYPE_TENSOR && type_is_int(x) && x->layout, "takes a tensor of integers");
  RETURN_UNLESS(type_is_scalar(in(op, 1), SC_I32), "the stride must be an i32");
  RETURN_UNLESS(strides && strides->num_ints == x->layout->num_bits[LAYOUT_REG],
                "has a number for each bit of a register's number");
  return true;
}

static bool is_extent_or_stride(const Type *t, const Type *desc, uint32_t i) {
  return type_is_scalar(t, i < desc->rank ? SC_I32 : SC_I64);
}

// Operand `base`, and after it an extent and a stride for each axis.
static bool check_desc(Verifier *v, const Op *op, uint32_t base) {
  const Type *d = out(op, 0), *p = in(op, base);
  RETURN_UNLESS(d->kind == TYPE_DESC && p->kind == TYPE_PTR && p->elem == d->elem,
                "takes a scalar pointer to the descriptor's element");
  RETURN_UNLESS(op->num_operands == base + 1 + 2u * d->rank, "takes an extent and a stride for each axis");
  for (uint32_t i = 0; i < 2u * d->rank; i++)
    RETURN_UNLESS(is_extent_or_stride(in(op, base + 1 + i), d, i), "extents must be i32 and strides i64");
  return true;
}

bool verify_make_desc(Verifier *v, const Op *op) { return check_desc(v, op, 0); }

bool verify_make_tensor_map(Verifier *v, const Op *op) {
  RETURN_UNLESS(in(op, 0)->kind == TYPE_PTR, "takes a pointer to scratch memory");
  return check_desc(v, op, 1);
}

bool verify_desc_fields(Verifier *v, const Op *op) {
  const Type *d = in(op, 0);
  RETURN_UNLESS(d->kind == TYPE_DESC && op->num_results == 1 + 2u * d->rank,
                "takes a descriptor; gives its base, and an extent and a stride for each axis");
  RETURN_UNLESS(out(op, 0)->kind == TYPE_PTR && out(op, 0)->elem == d->elem,
                "base must be a scalar pointer to the descriptor's element");
  for (uint32_t i = 1; i < op->num_results; i++)
    RETURN_UNLESS(is_extent_or_stride(out(op, i), d, i - 1), "extents must be i32 and strides i64");
  return true;
}

bool verify_coords(Verifier *v, const Op *op, uint32_t first, uint32_t rank) {
  RETURN_UNLESS(op->num_operands == first + rank, "one coordinate for each axis");
  for (uint32_t i = first; i < op->num_operands; i++) RETURN_UNLESS(is_i32(in(op, i)), "coordinates must be i32");
  return true;
}

bool verify_desc_access(Verifier *v, const Op *op) {
  const Type *d = in(op, 0), *tile = op->opcode == OP_DESC_LOAD ? out(op, 0) : in(op, 1);
  uint32_t first = op->opcode == OP_DESC_LOAD ? 1 : 2;
  RETURN_UNLESS(d->kind == TYPE_DESC, "first operand must be a descriptor");
  RETURN_UNLESS(tile->kind == TYPE_TENSOR && tile->elem == d->elem, "tile must have the descriptor's element type");
  bool same_rows = op->opcode == OP_DESC_LOAD && tile->rank >= 2 && type_numel(tile) == type_numel(d) &&
                   tile->shape[tile->rank - 1] == d->shape[d->rank - 1];
  RETURN_UNLESS(type_same_shape(tile, d) || same_rows, "tile must have the descriptor's block shape");
  return verify_coords(v, op, first, d->rank);
}

bool verify_desc_rows(Verifier *v, const Op *op) {
  bool loads = op->opcode == OP_DESC_GATHER;
  const Type *d = in(op, 0), *tile = loads ? out(op, 0) : in(op, 1), *rows = in(op, loads ? 1 : 2);
  RETURN_UNLESS(d->kind == TYPE_DESC && d->rank == 2 && d->shape[0] == 1, "needs a descriptor with blocks of one row");
  RETURN_UNLESS(tile->kind == TYPE_TENSOR && tile->rank == 2 && tile->elem == d->elem && tile->shape[1] == d->shape[1],
                "tile must have rows of the descriptor's block");
  RETURN_UNLESS(rows->kind == TYPE_TENSOR && rows->rank == 1 && is_i32(rows->elem) && rows->shape[0] == tile->shape[0],
                "one i32 row number for each row of the tile");
  RETURN_UNLESS(is_i32(in(op, loads ? 2 : 3)), "column must be i32");
  return true;
}
