// defer_reductions: finishes a reduction that a loop carries after the loop. In the loop each thread combines what it
// holds itself; lanes and warps combine once.
//   in, out: LAID_OUT; after remove_conversions
//
//   l = init                                 p = init in the first place along `axis`, else the identity
//   for …                                    for …
//     l = l·a + reduce(x, axis)       →        p = p·a + reduce(the registers of x along axis)
//   use l                                    l = reduce(p, axis)
//                                            use l
//
// p has one element for each thread along the axis, where x has an element for each register of these threads. It takes
// as many registers as the reduction's result before that is converted to l's layout; l stays if they are far more than
// its own. The operation is a sum, or any other that does not depend on the order; only sums have `a`.
// The update may be in the branches of an `if`, or in some of them.
#include "ir/loop.h"
#include "passes/pass.h"

#include <math.h>
#include <string.h>

#include "ir/fold.h"
#include "ir/num.h"
#include "ir/reduce_order.h"

enum { MAX_SITES = 8 };

// Where l is updated.
typedef struct {
  Op *reduce, *convert;      // convert: of the reduction's result to the layout of l, or NULL
  Op *update, *product;      // l·a is `product`, or part of an `update` by fma
  Value *factor;             // a, or NULL
} Site;

// How x becomes a tensor whose last axis is what registers hold along the axis: by a reshape to `shape`, a permutation
// by `order`, and a reshape to `apart`.
typedef struct {
  uint32_t rank;
  int64_t shape[MAX_RANK], order[MAX_RANK], apart[MAX_RANK];
} Split;

typedef struct {
  Op *loop;
  uint32_t index;            // which of the loop's values
  Opcode combine;
  uint32_t axis, num_sites, num_uses;    // num_uses: of l
  Site sites[MAX_SITES];
  VEC(Value *) joined;       // results of `if` on the way to the loop's end
  const Type *x, *part;      // of the reduced tensors, of p
  Split split;
} Carried;

static uint64_t float_bits(ScalarKind k, double x) { return num_encode(scalar_num_format(k), x, NUM_RNE, false); }

// The bits of the number that changes nothing. False if the operation has none, or its order matters.
static bool identity(Opcode oc, ScalarKind k, uint64_t *bits) {
  const uint32_t width = scalar_bits(k);
  const uint64_t ones = ~0ull >> (64 - width), sign = 1ull << (width - 1);
  switch (oc) {
    case OP_ADDI: case OP_ORI: case OP_XORI: case OP_MAXUI: *bits = 0; return true;
    case OP_ANDI: case OP_MINUI: *bits = ones; return true;
    case OP_MAXSI: *bits = sign; return true;
    case OP_MINSI: *bits = ones ^ sign; return true;
    case OP_ADDF: *bits = sign; return true;                                  // −0
    case OP_MAXF: case OP_MINF: *bits = float_bits(k, NAN); return true;      // they give the other operand
    case OP_MAXIMUMF: *bits = float_bits(k, -INFINITY); return true;
    case OP_MINIMUMF: *bits = float_bits(k, INFINITY); return true;
    default: return false;
  }
}

// ---- finding them ----

static Value *loop_arg(const Carried *c) { return for_carried(c->loop, c->index); }

// The value beside x, if op has both as its operands 0 and 1.
static Value *beside(const Op *op, const Value *x) {
  return op_operand(op, 0) == x ? op_operand(op, 1) : op_operand(op, 1) == x ? op_operand(op, 0) : NULL;
}

static bool is_private(const Value *v, const Block *block) {
  return v->def && value_has_one_use(v) && value_block(v) == block;
}

// Finds l·a, or l alone, in an update that adds the rest.
static bool find_factor(const Carried *c, Site *s, Value *scaled) {
  Value *l = loop_arg(c);
  if (scaled == l) return true;
  if (!value_op(scaled, OP_MULF) || !is_private(scaled, s->update->parent)) return false;
  s->product = scaled->def;
  s->factor = beside(scaled->def, l);
  return s->factor && s->factor != l && c->combine == OP_ADDF;
}

static bool find_reduction(const Carried *c, Site *s, Value *r) {
  const Block *block = s->update->parent;
  if (value_op(r, OP_CONVERT_LAYOUT) && is_private(r, block)) {
    s->convert = r->def;
    r = op_operand(r->def, 0);
  }
  if (!value_op(r, OP_REDUCE) || !is_private(r, block) || r->def->num_results != 1) return false;
  s->reduce = r->def;
  const Block *b = s->reduce->blocks[0];
  const Op *combine = b->first;
  return combine->opcode == c->combine && beside(combine, b->args[0]) == b->args[1] &&
         combine->next == block_terminator(b) && op_operand(combine->next, 0) == &combine->results[0];
}

static bool find_update(Carried *c, Op *update, Site *s) {
  Value *l = loop_arg(c);
  const bool is_fma = update->opcode == OP_FMA;
  const Opcode combine = is_fma ? OP_ADDF : update->opcode;
  if ((c->num_sites && combine != c->combine) || update->num_operands != (is_fma ? 3u : 2u)) return false;
  c->combine = combine;
  if (is_fma) {
    *s = (Site){.update = update, .factor = beside(update, l)};
    return s->factor && s->factor != l && find_reduction(c, s, op_operand(update, 2));
  }
  for (uint32_t i = 0; i < 2; i++) {
    *s = (Site){.update = update};
    if (find_reduction(c, s, op_operand(update, i)) && find_factor(c, s, op_operand(update, 1 - i))) return true;
  }
  return false;
}

// Finds the updates that give v, the next l, in a block.
static bool find_sites(Context *ctx, Carried *c, Value *v, const Block *block) {
  if (v == loop_arg(c)) return c->num_uses++, true;
  if (!is_private(v, block)) return false;
  if (v->def->opcode == OP_IF) {
    vec_push(&ctx->arena, &c->joined, v);
    for (uint32_t i = 0; i < 2; i++) {
      const Block *b = v->def->blocks[i];
      if (!find_sites(ctx, c, op_operand(block_terminator(b), v->index), b)) return false;
    }
    return true;
  }
  if (c->num_sites == MAX_SITES || !find_update(c, v->def, &c->sites[c->num_sites])) return false;
  const Site *s = &c->sites[c->num_sites++];
  const Type *x = op_operand(s->reduce, 0)->type;
  const uint32_t axis = (uint32_t)op_int(s->reduce, ATTR_AXIS, 0);
  if (c->x && (x != c->x || axis != c->axis)) return false;
  c->x = x;
  c->axis = axis;
  c->num_uses++;
  return true;
}

// Finds how to split the axis. False if its bits are not each in one place.
static bool find_split(Context *ctx, Carried *c) {
  const Type *t = c->x;
  const uint32_t axis = c->axis, n = t->layout->log2_size[axis];
  AxisPlace places[LAYOUT_MAX_BITS];
  if (t->rank + n >= MAX_RANK || !reduce_axis_places(t->layout, axis, places)) return false;
  Split *s = &c->split;
  bool in_registers[MAX_RANK] = {false};
  int64_t threads = 1, registers = 1;
  uint32_t rank = axis, placed = 0;
  memcpy(s->shape, t->shape, sizeof(int64_t) * axis);
  for (uint32_t i = n; i-- > 0;) {       // neighbouring bits of one kind become one axis
    const bool is_register = places[i].dim == LAYOUT_REG;
    if (i == n - 1 || is_register != in_registers[rank - 1]) {
      in_registers[rank] = is_register;
      s->shape[rank++] = 1;
    }
    s->shape[rank - 1] *= 2;
    *(is_register ? &registers : &threads) *= 2;
  }
  memcpy(s->shape + rank, t->shape + axis + 1, sizeof(int64_t) * (t->rank - axis - 1));
  s->rank = rank + t->rank - axis - 1;
  for (uint32_t i = 0; i < s->rank; i++)
    if (!in_registers[i]) s->order[placed++] = i;
  for (uint32_t i = axis; i < rank; i++)
    if (in_registers[i]) s->order[placed++] = i;
  memcpy(s->apart, t->shape, sizeof(int64_t) * t->rank);
  s->apart[axis] = threads;
  s->apart[t->rank] = registers;
  const Layout *l = layout_transpose(ctx, layout_reshape(ctx, t->layout, s->rank, s->shape), s->order);
  l = layout_make_slice(ctx, layout_reshape(ctx, l, t->rank + 1u, s->apart), t->rank);
  c->part = type_tensor(ctx, type_elem(t), t->rank, s->apart, l);
  return threads > 1;
}

// Whether p takes far more registers of a thread than l.
static bool is_much(const Carried *c) {
  enum { FEW = 32 };
  const Type *l = loop_arg(c)->type;
  const int64_t before = l->kind == TYPE_TENSOR ? layout_regs_per_thread(l->layout) : 1;
  return layout_regs_per_thread(c->part->layout) > max_i64(before, FEW);
}

static bool can_defer(Context *ctx, Carried *c) {
  uint64_t bits;
  uint32_t uses = 0;
  EACH_USE(u, loop_arg(c)) uses++;
  if (!c->num_sites || uses != c->num_uses || !c->x->layout || type_elem(c->x)->kind != TYPE_SCALAR ||
      !identity(c->combine, type_elem(c->x)->scalar, &bits) || !find_split(ctx, c) || is_much(c))
    return false;
  for (uint32_t i = 0; i < c->num_sites; i++) {
    const Site *s = &c->sites[i];
    if (s->factor && s->convert) return false;
    if (s->reduce->num_operands > 1 && c->split.apart[c->x->rank] == 1) return false;
  }
  return true;
}

static bool has_factor(const Carried *c) {
  for (uint32_t i = 0; i < c->num_sites; i++)
    if (c->sites[i].factor) return true;
  return false;
}

// ---- in the loop ----

static Value *reshaped(Builder *b, Value *x, uint32_t rank, const int64_t *shape) {
  const Type *t = type_tensor(b->ctx, type_elem(x->type), (int)rank, shape,
                              layout_reshape(b->ctx, x->type->layout, rank, shape));
  return build_value(b, OP_RESHAPE, t, &x, 1);
}

static Value *transposed(Builder *b, Value *x, const int64_t *order) {
  int64_t shape[MAX_RANK];
  for (uint32_t i = 0; i < x->type->rank; i++) shape[i] = x->type->shape[order[i]];
  const Type *t = type_tensor(b->ctx, type_elem(x->type), x->type->rank, shape,
                              layout_transpose(b->ctx, x->type->layout, order));
  Value *r = build_value(b, OP_TRANS, t, &x, 1);
  op_set_ints(b->ctx, r->def, ATTR_ORDER, order, x->type->rank);
  return r;
}

// A reduction by the same operation, of other tensors along another axis.
static Value *reduced(Builder *b, const Op *like, Value *const *x, uint32_t axis) {
  ValueMap *map = value_map_new(b->ctx);
  for (uint32_t i = 0; i < like->num_operands; i++) value_map_set(b->ctx, map, op_operand(like, i), x[i]);
  Op *r = build_clone(b, like, map);
  op_set_int(b->ctx, r, ATTR_AXIS, axis);
  const Type *t;
  infer_types(b->ctx, OP_REDUCE, x, like->num_operands, r, &t);
  r->results[0].type = t;
  return &r->results[0];
}

static Value *combine_registers(Builder *b, const Carried *c, const Site *s) {
  const uint32_t rank = c->x->rank;
  Value *x[2];               // of a sum of products, both factors
  for (uint32_t i = 0; i < s->reduce->num_operands; i++) {
    x[i] = transposed(b, reshaped(b, op_operand(s->reduce, i), c->split.rank, c->split.shape), c->split.order);
    x[i] = reshaped(b, x[i], rank + 1, c->split.apart);
  }
  return c->split.apart[rank] > 1 ? reduced(b, s->reduce, x, rank) : reshaped(b, x[0], rank, c->split.apart);
}

// Combines p's parts, after the loop.
static Value *whole(Builder *b, const Carried *c, Value *p) {
  Op *r = build_clone(b, c->sites[0].reduce, value_map_new(b->ctx));
  while (r->num_operands > 1) op_remove_operand(r, r->num_operands - 1);
  op_remove_attr(r, ATTR_PRODUCT);
  op_set_operand(r, 0, p);
  return &r->results[0];
}

// A value of l's type, once for each thread along the axis.
static Value *spread(Builder *b, const Carried *c, Value *v) {
  if (v->type->kind != TYPE_TENSOR) return build_splat(b, v, c->part);
  return build_broadcast(b, build_expand_dims(b, v, c->axis), c->part);
}

static Value *updated(Builder *b, const Carried *c, const Site *s) {
  Value *p = loop_arg(c), *part = combine_registers(b, c, s), *a = s->factor ? spread(b, c, s->factor) : NULL;
  if (s->update->opcode == OP_FMA) return build_ternary(b, OP_FMA, p, a, part);
  return build_binary(b, c->combine, a ? build_binary(b, OP_MULF, p, a) : p, part);
}

static void erase(Op *op) {
  if (op) op_erase(op);
}

static void replace_update(Context *ctx, const Carried *c, const Site *s) {
  Builder b = builder_before(ctx, s->update);
  value_replace_all_uses(&s->update->results[0], updated(&b, c, s));
  op_erase(s->update);
  erase(s->product);
  erase(s->convert);
}

// ---- around the loop ----

// Whether an element is the first along the axis: an i1 for each element of t.
static Value *is_first(Builder *b, const Type *t, uint32_t axis) {
  const Layout *l = t->layout;
  for (uint32_t i = 0; i < t->rank; i++)
    if (i != axis) l = layout_project(b->ctx, l, i);
  for (uint32_t i = t->rank; i-- > 0;)
    if (i != axis) l = layout_slice(b->ctx, l, i);
  Value *v = build_range(b, 0, t->shape[axis], layout_drop_zero_regs(b->ctx, l));
  v = build_cmp(b, CMP_EQ, v, build_splat(b, build_i32(b, 0), v->type));
  for (uint32_t i = 0; i < t->rank; i++)
    if (i != axis) v = build_expand_dims(b, v, i);
  return t->rank > 1 ? build_broadcast(b, v, type_with_elem(b->ctx, t, type_elem(v->type))) : v;
}

// p before the first iteration.
static Value *start(Builder *b, const Carried *c, Value *init) {
  uint64_t bits = 0;
  identity(c->combine, type_elem(c->part)->scalar, &bits);
  Value *none = build_constant_bits(b, c->part, bits);
  if (!has_factor(c)) return none;
  Value *x[] = {is_first(b, c->part, c->axis), spread(b, c, init), none};
  return build_elementwise(b, OP_SELECT, x, 3);
}

static void defer(Context *ctx, Carried *c) {
  const Type *outside = loop_arg(c)->type;
  Value *result = op_result(c->loop, c->index), *init = for_init(c->loop, c->index);
  loop_arg(c)->type = result->type = c->part;
  VEC_EACH(v, c->joined) (*v)->type = c->part;
  for (uint32_t i = 0; i < c->num_sites; i++) replace_update(ctx, c, &c->sites[i]);

  Builder b = builder_before(ctx, c->loop);
  op_set_operand(c->loop, FOR_INITS + c->index, start(&b, c, init));

  b = builder_after(ctx, c->loop);
  Value *all = whole(&b, c, result), *l = all;
  if (outside->kind == TYPE_TENSOR) l = build_convert_layout(&b, l, outside->layout);
  if (!has_factor(c)) l = build_binary(&b, c->combine, init, l);
  value_replace_all_uses(result, l);
  op_set_operand(all->def, 0, result);
  for (uint32_t i = 0; i < c->num_sites; i++) op_erase(c->sites[i].reduce);
}

static void visit(Op *op, void *user) {
  if (op->opcode != OP_FOR) return;
  Context *ctx = user;
  for (uint32_t i = 0; i < op->num_results; i++) {
    Carried c = {.loop = op, .index = i};
    Block *body = op->blocks[0];
    if (op->results[i].uses && find_sites(ctx, &c, op_operand(block_terminator(body), i), body) && can_defer(ctx, &c))
      defer(ctx, &c);
  }
}

void pass_defer_reductions(PassCtx *p) { module_walk(p->module, visit, p->ctx); }
