// auto_tma: plain-pointer loads that provably read a dense tile become descriptor loads through a hidden tensor map.
//   in:  TILE with split addresses (base + offsets); loads in loops whose value goes to a dot
//   out: such loads are desc_loads on a hidden parameter, which the launcher fills from the kernel's own arguments
//
// dense_tile.h says what a dense tile is. TMA zero-fills negative coordinates and counts in 32 bits; pointers do
// neither. If equality is not proved, the loop is versioned: a test before it chooses between TMA and the plain loads.
// It tests that rows wrapped by `% M` do not cross M, that coordinates are not negative, and that what the program
// computed in 64 bits fits 32. Computed numbers and products are assumed not to be negative (they are numbers of tiles,
// strides, extents); constants and parameters that are added may be. An array that the kernel also writes is read by
// plain loads, and so are small tiles of a loop that multiplies by mma and whose other tiles threads copy.
#include "ir/loop.h"
#include "ir/roles.h"
#include "passes/access.h"
#include "passes/dense_tile.h"
#include "passes/dot_unit.h"
#include "passes/tma.h"

// Whether v, or its transpose, is an operand of a dot.
static bool is_dot_operand(const Value *v) {
  EACH_USE(u, v) {
    if (u->user->opcode == OP_DOT && u->index < 2) return true;
    if (u->user->opcode == OP_TRANS && is_dot_operand(&u->user->results[0])) return true;
  }
  return false;
}

// Sets what the launcher makes axis i of a map of. extent: zero if it is unbounded.
static void set_axis(const DenseSearch *s, FuncParam *p, uint32_t i, const Affine *extent, const AffineTerm *stride) {
  const AffineTerm *e = extent->num_terms ? &extent->terms[0] : NULL;
  p->extent_params[i] = e && e->num_scalars ? dense_param(s, e->scalars[0]) : -1;
  p->extent_values[i] = e ? e->coef : DENSE_UNBOUNDED;
  p->stride_params[i] = stride->num_scalars ? dense_param(s, stride->scalars[0]) : -1;
  p->stride_values[i] = stride->coef;
}

static int add_hidden_param(DenseSearch *s, const DenseTile *d, const Type *desc) {
  FuncParam p = {.name = "tensormap",
                 .kind = PARAM_AUTO_TENSORMAP,
                 .spelling = "tensormap",
                 .divisible = 1,
                 .base_param = d->base_param,
                 .padding = d->padding};
  const AffineTerm one = {.coef = 1, .axis = AFFINE_NO_AXIS};
  const Affine unbounded = {0};
  for (uint32_t i = 0; i < d->num_outer; i++) set_axis(s, &p, i, &unbounded, &d->outer[i].stride);
  set_axis(s, &p, d->num_outer, &d->extent[1 - d->fast], &d->stride);
  set_axis(s, &p, d->num_outer + 1, &d->extent[d->fast], &one);
  func_add_param(s->func, desc, p);
  return (int)s->func->num_params - 1;
}

static void replace_load(DenseSearch *s, const DenseTile *d, Op *load, const ValueMap *map) {
  Context *ctx = s->ctx;
  const Type *t = op_result(load, 0)->type;
  const uint32_t n = d->num_outer, rank = n + 2;
  Affine coord[MAX_DESC_RANK];
  int64_t shape[MAX_DESC_RANK];
  for (uint32_t i = 0; i < n; i++) shape[i] = 1, coord[i] = d->outer[i].coord;
  for (uint32_t i = 0; i < 2; i++) {
    const int axis = i ? d->fast : 1 - d->fast;
    shape[n + i] = t->shape[axis];
    coord[n + i] = d->coord[axis];
  }
  const Type *desc = type_desc(ctx, type_elem(t), rank, shape, NULL);
  int hidden = add_hidden_param(s, d, desc);      // may move the array of arguments
  Value *args[1 + MAX_DESC_RANK] = {s->func->body->args[hidden]};
  Builder b = builder_before(ctx, load);
  for (uint32_t i = 0; i < rank; i++) {
    for (uint32_t k = 0; k < coord[i].num_terms; k++)
      for (uint32_t j = 0; j < coord[i].terms[k].num_scalars; j++)
        coord[i].terms[k].scalars[j] = value_map_get(map, coord[i].terms[k].scalars[j]);
    args[1 + i] = affine_build(&b, &coord[i], type_scalar(ctx, SC_I32));
  }
  const Type *tile = type_tensor(ctx, type_elem(t), 2, shape + n, NULL);
  Value *v = build_value(&b, OP_DESC_LOAD, tile, args, 1 + rank);
  if (d->fast == 0) {
    static const int64_t swap[2] = {1, 0};
    Op *tr = build_op_typed(&b, OP_TRANS, &t, 1, &v, 1);
    op_set_ints(ctx, tr, ATTR_ORDER, swap, 2);
    v = op_result(tr, 0);
  }
  op_replace(load, &v);
}

static Value *both(Builder *b, Value *x, Value *y) { return x ? build_binary(b, OP_ANDI, x, y) : y; }

// `fits` and what must hold of one axis for the map to be right throughout the loop; NULL: nothing.
static Value *test_axis(DenseSearch *s, Builder *b, const DenseTile *d, int axis, Value *fits) {
  const Type *i64 = type_scalar(s->ctx, SC_I64);
  int64_t extent = op_result(d->load, 0)->type->shape[axis];
  if (d->wrap_modulus[axis]) {
    Value *end = build_binary(b, OP_ADDI, d->wrap_start[axis], build_int(b, d->wrap_start[axis]->type, extent));
    fits = both(b, fits, build_cmp(b, CMP_SLE, end, d->wrap_modulus[axis]));
  }
  if (!d->test_sign[axis] && !d->test_size[axis]) return fits;
  if (d->test_sign[axis])
    fits = both(b, fits, build_cmp(b, CMP_SGE, affine_build(b, &d->least[axis], i64), build_int(b, i64, 0)));
  if (!d->test_size[axis]) return fits;
  Affine greatest;
  if (!dense_extreme(s, &d->coord[axis], true, &greatest))
    ice(s->ctx, "a coordinate that has a least value has no greatest");
  Value *end = build_binary(b, OP_ADDI, affine_build(b, &greatest, i64), build_int(b, i64, extent));
  return both(b, fits, build_cmp(b, CMP_SLE, end, build_int(b, i64, DENSE_UNBOUNDED)));
}

// The same of the outer axes.
static Value *test_outer(DenseSearch *s, Builder *b, const DenseTile *d, Value *fits) {
  const Type *i64 = type_scalar(s->ctx, SC_I64);
  for (uint32_t i = 0; i < d->num_outer; i++)
    if (d->outer[i].test_size)
      fits = both(b, fits,
                  build_cmp(b, CMP_SLE, affine_build(b, &d->outer[i].coord, i64), build_int(b, i64, DENSE_UNBOUNDED)));
  return fits;
}

// How many bytes of the load a thread copies at once.
static int64_t copied_bytes(const DenseSearch *s, const Op *load) {
  AccessInfo a;
  const uint32_t bytes = access_elem_bytes(load);
  return access_info(s->axes, load, &a) ? access_max_copy(&a, a.fastest, bytes) * bytes : 0;
}

// Whether the loop's dots, one at least, go by mma, and threads copy a tile for one that TMA does not.
static bool threads_copy(const DenseSearch *s, const Op *loop, const DenseTile *dense, uint32_t n) {
  enum { LEAST = 4 };
  bool by_mma = false, copies = false;
  EACH_OP(op, loop->blocks[0]) {
    uint32_t bits, i = 0;
    if (op->opcode == OP_DESC_LOAD) return false;
    if (op->opcode == OP_DOT && dot_unit(s->func->module, op, &bits) != DOT_MMA) return false;
    by_mma |= op->opcode == OP_DOT;
    while (i < n && dense[i].load != op) i++;
    copies |= i == n && access_is_copied(op) && copied_bytes(s, op) >= LEAST;
  }
  return by_mma && copies;
}

// Whether threads copy the tile by few instructions.
static bool copies_are_few(const DenseSearch *s, const DenseTile *d) {
  enum { COPIES = 2 };
  const Type *t = op_result(d->load, 0)->type;
  const int64_t threads = WARP_SIZE * (int64_t)op_num_warps(d->load);
  return d->padding == PAD_ZERO &&
         type_bytes(t) <= COPIES * threads * copied_bytes(s, d->load);
}

// Threads that read what TMA copied need a proxy fence before its next copy to the same place, and wait at an mbarrier
// for it, where they wait for their own copies anyway. Small tiles therefore go with these.
static uint32_t leave_to_threads(const DenseSearch *s, const Op *loop, DenseTile *dense, uint32_t n) {
  uint32_t kept = 0;
  if (!threads_copy(s, loop, dense, n)) return n;
  for (uint32_t i = 0; i < n; i++) {
    if (copies_are_few(s, &dense[i]))
      remark_missed(dense[i].load, "%s is not loaded by TMA: it is small, and threads copy other tiles of the loop",
                    remark_name(dense[i].load));
    else dense[kept++] = dense[i];
  }
  return kept;
}

static void convert_loop(DenseSearch *s, Op *loop) {
  enum { MAX_LOADS = 8 };
  DenseTile dense[MAX_LOADS];
  uint32_t n = 0;
  s->loop = loop;
  s->func = loop->parent->func;
  for (Op *op = loop->blocks[0]->first; op && n < MAX_LOADS; op = op->next)
    if (op->opcode == OP_LOAD && is_dot_operand(op_result(op, 0))) {
      if (dense_recognise(s, op, &dense[n])) n++;
      else remark_missed(op, "%s is not loaded by TMA: %s", remark_name(op), s->why);
    }
  n = leave_to_threads(s, loop, dense, n);
  if (n == 0) return;
  Context *ctx = s->ctx;
  Builder b = builder_before(ctx, loop);
  Value *fits = NULL;
  for (uint32_t i = 0; i < n; i++) {
    for (int a = 0; a < 2; a++) fits = test_axis(s, &b, &dense[i], a, fits);
    fits = test_outer(s, &b, &dense[i], fits);
  }
  for (uint32_t i = 0; i < n; i++)
    remark_applied(dense[i].load, "%s is loaded by TMA, through a tensor map that the launcher makes%s",
                   remark_name(dense[i].load), fits ? ", if a test before the loop finds that this is right" : "");
  ValueMap *map = value_map_new(ctx);
  if (!fits) {
    for (uint32_t i = 0; i < n; i++) replace_load(s, &dense[i], dense[i].load, map);
    return;
  }
  // The copy keeps the plain loads. The original moves into the first branch and gets the tensor maps.
  Op *plain = op_clone(ctx, loop, map);
  BuildRegion r = build_if_begin(&b, fits, op_result_types(ctx, loop), loop->num_results);
  Op *branch = r.op;
  for (uint32_t i = 0; i < loop->num_results; i++) value_replace_all_uses(op_result(loop, i), op_result(branch, i));
  op_unlink(loop);
  op_append(loop, b.block);
  build_if_else(&b, &r, op_result_values(ctx, loop));
  op_append(plain, b.block);
  build_if_end(&b, r, op_result_values(ctx, plain));
  ValueMap *same = value_map_new(ctx);
  for (uint32_t i = 0; i < n; i++) replace_load(s, &dense[i], dense[i].load, same);
}

static void visit(Op *op, void *user) {
  if (op->opcode == OP_FOR && !for_holds_loop(op)) convert_loop(user, op);
}

void pass_auto_tma(PassCtx *p) {
  DenseSearch s = {.ctx = p->ctx, .axes = axis_analyse(p->ctx, p->module)};
  if (!p->module->target->has_tma || !p->module->auto_tma) return;
  module_walk_inside_out(p->module, visit, &s);
}
