// auto_tma: recognises loads of dense tiles, by their addresses and masks.
#include <math.h>

#include "ir/fold.h"
#include "ir/num.h"
#include "passes/access.h"
#include "passes/auto_tma.h"
#include "passes/global_memory.h"

enum { MAX_SWIZZLE = 128 };   // bytes of a row that one box moves

static bool no(AutoTma *s, const char *why) {
  s->why = why;
  return false;
}

// scale · (iv − lb) / step of the loop, if that is affine in iv.
static bool trip_index(const AutoTma *s, int64_t scale, Affine *out) {
  int64_t step;
  Affine lb;
  if (!value_constant_int(op_operand(s->loop, 2), &step) || step <= 0 || scale % step) return false;
  affine_scalar(out, s->loop->blocks[0]->args[0]);
  if (!affine_of(op_operand(s->loop, 0), &lb) || !affine_add(out, &lb, -1)) return false;
  Affine k;
  affine_constant(&k, scale / step);
  return affine_multiply(out, &k);
}

// Splits a base pointer into a parameter and a uniform offset in elements. A base that the loop advances adds its step
// times the trip index.
static bool base_offset(const AutoTma *s, Value *base, int *param, Affine *offset) {
  Affine part;
  if (value_op(base, OP_ADDPTR) && !type_is_tensor(base->type))
    return base_offset(s, op_operand(base->def, 0), param, offset) && affine_of(op_operand(base->def, 1), &part) &&
           affine_add(offset, &part, 1);
  if (base->block && base->block == s->loop->blocks[0] && base->index > 0) {
    Block *body = s->loop->blocks[0];
    Value *next = op_operand(body->last, base->index - 1);
    if (!value_op(next, OP_ADDPTR) || op_operand(next->def, 0) != base) return false;
    Value *advance = op_operand(next->def, 1);
    if (!affine_of(advance, &part)) return false;
    Affine moved = {0};
    for (uint32_t i = 0; i < part.num_terms; i++) {
      for (uint32_t k = 0; k < part.terms[i].num_scalars; k++)
        if (!value_defined_outside(part.terms[i].scalars[k], s->loop)) return false;
      Affine trips, rest = {.num_terms = 1, .terms = {part.terms[i]}};
      rest.terms[0].coef = 1;
      if (!trip_index(s, part.terms[i].coef, &trips) || !affine_multiply(&trips, &rest) ||
          !affine_add(&moved, &trips, 1))
        return false;
    }
    return base_offset(s, op_operand(s->loop, 2 + base->index), param, offset) && affine_add(offset, &moved, 1);
  }
  *param = tma_param_index(s, base);
  return *param >= 0;
}

static bool divisible_by(const AutoTma *s, const AffineTerm *t, int64_t n) {
  int64_t d = t->coef;
  for (uint32_t i = 0; i < t->num_scalars; i++) {
    int p = tma_param_index(s, t->scalars[i]);
    if (p >= 0) d *= max_i64(1, s->func->params[p].divisible);
  }
  return d % n == 0;
}

// Whether the launcher can compute it: a constant or a parameter.
static bool known_to_launcher(const AutoTma *s, const AffineTerm *t) {
  if (t->num_scalars > 1 || (t->num_scalars == 1 && t->coef != 1)) return false;
  return t->num_scalars == 0 || tma_param_index(s, t->scalars[0]) >= 0;
}

// Takes the stride of an outer axis out of a term by which an address moves along `axis`: a parameter or a constant, and
// a multiple of 16 bytes.
static bool outer_stride(const AutoTma *s, const Dense *d, int axis, const AffineTerm *t, AffineTerm *stride) {
  const int64_t bytes = type_elem_bytes(op_result(d->load, 0)->type);
  *stride = (AffineTerm){.coef = 1, .axis = AFFINE_NO_AXIS};
  for (uint32_t i = 0; i < t->num_scalars && !stride->num_scalars && t->num_scalars > 1; i++)
    if (tma_param_index(s, t->scalars[i]) >= 0) stride->scalars[stride->num_scalars++] = t->scalars[i];
  if (axis != d->fast && (stride->num_scalars || d->stride.num_scalars)) return false;
  if (!stride->num_scalars) stride->coef = t->coef * (axis == d->fast ? 1 : d->stride.coef);
  return stride->coef > 0 && divisible_by(s, stride, max_i64(1, TMA_ALIGNMENT / bytes));
}

// Moves such a term from the coordinate of `axis` to one of an outer axis.
static bool move_outside(const AutoTma *s, Dense *d, int axis, const AffineTerm *t) {
  Affine moved = {.num_terms = 1, .terms = {*t}}, part = {.num_terms = 1};
  AffineTerm stride, in_axis;
  if (!outer_stride(s, d, axis, t, &stride)) return false;
  in_axis = stride;
  if (axis != d->fast) in_axis.coef = t->coef;
  if (!affine_divide_term(t, &in_axis, &part.terms[0]) || !affine_add(&d->coord[axis], &moved, -1)) return false;
  for (uint32_t i = 0; i < d->num_outer; i++) {
    AffineTerm q;
    Outer *o = &d->outer[i];
    if (affine_divide_term(&stride, &o->stride, &q) && !q.num_scalars && q.coef == 1)
      return affine_add(&o->coord, &part, 1);
  }
  if (d->num_outer == MAX_OUTER) return false;
  d->outer[d->num_outer++] = (Outer){.stride = stride, .coord = part};
  return true;
}

// Each conjunct of the mask must bound one axis: coordinate < extent, or 0 ≤ coordinate.
static bool bound_by_mask(const AutoTma *s, Dense *d, Value *mask) {
  while (value_op(mask, OP_BROADCAST)) mask = op_operand(mask->def, 0);
  if (!mask->def) return false;
  Op *op = mask->def;
  if (op->opcode == OP_ANDI) return bound_by_mask(s, d, op_operand(op, 0)) && bound_by_mask(s, d, op_operand(op, 1));
  int64_t axis_added = -1;
  const Attr *order = op->opcode == OP_TRANS ? op_attr(op, ATTR_ORDER) : NULL;
  if (order) op = op_operand(op, 0)->def;
  if (op && op->opcode == OP_EXPAND_DIMS) {
    axis_added = op_int(op, ATTR_AXIS, 0);
    op = op_operand(op, 0)->def;
  }
  int64_t pred = op && op->opcode == OP_CMPI ? op_int(op, ATTR_PRED, CMP_EQ) : CMP_EQ;
  if (pred != CMP_SLT && pred != CMP_SGE) return false;
  Affine diff, rhs;
  if (!affine_of(op_operand(op, 0), &diff) || !affine_of(op_operand(op, 1), &rhs) || !affine_add(&diff, &rhs, -1))
    return false;
  int axis = AFFINE_NO_AXIS;
  for (uint32_t i = 0; i < diff.num_terms; i++) {
    AffineTerm *t = &diff.terms[i];
    if (t->axis == AFFINE_NO_AXIS) continue;
    if (axis_added >= 0 && t->axis >= axis_added) t->axis++;
    if (order) affine_transpose(t, order);
    if (axis != AFFINE_NO_AXIS || t->coef != 1 || t->num_scalars || t->wrap_modulus) return false;
    axis = t->axis;
  }
  if (axis == AFFINE_NO_AXIS || (pred == CMP_SLT && !affine_is_zero(&d->extent[axis]))) return false;
  // coordinate = u + index and index + w < 0, so the extent is u − w. A lower bound, index + w ≥ 0, must be 0 ≤
  // coordinate.
  Affine extent = d->coord[axis];
  if (!affine_add(&extent, &diff, -1)) return false;
  AffineTerm index = {.coef = 1, .axis = axis};
  Affine one = {.num_terms = 1, .terms = {index}};
  if (!affine_add(&extent, &one, 1)) return false;
  if (pred == CMP_SGE) {
    d->masked_below[axis] = true;
    return affine_is_zero(&extent);
  }
  for (uint32_t i = 0; i < extent.num_terms; i++) {
    const AffineTerm *t = &extent.terms[i];
    if (t->axis != AFFINE_NO_AXIS) return false;
    if (known_to_launcher(s, t) && affine_is_zero(&d->extent[axis])) d->extent[axis] = (Affine){1, {*t}};
    else if (!move_outside(s, d, axis, t)) return false;
  }
  return !affine_is_zero(&d->extent[axis]);
}

// What a masked-off element reads as.
static bool padding_of(const Value *other, const Type *t, Padding *padding) {
  uint64_t bits;
  *padding = PAD_ZERO;
  if (!other) return true;
  if (!value_constant_bits(other, &bits)) return false;
  if (bits == 0) return true;
  *padding = PAD_NAN;
  return type_is_float(t) && tma_can_pad(t, PAD_NAN) &&
         isnan(num_decode(scalar_num_format(type_elem(t)->scalar), bits));
}

static bool moves_by_multiples(AutoTma *s, const Affine *coord, int64_t n) {
  for (uint32_t i = 0; i < coord->num_terms; i++) {
    const AffineTerm *t = &coord->terms[i];
    int64_t d = t->coef % n;
    for (uint32_t k = 0; k < t->num_scalars; k++) d = d * (axis_info(s->axes, t->scalars[k])->divisibility[0] % n) % n;
    if (d) return false;
  }
  return true;
}

static bool never_negative(AutoTma *s, const AffineTerm *t) {
  if (t->coef < 0) return false;
  return t->num_scalars != 1 || tma_param_index(s, t->scalars[0]) < 0 || axis_info(s->axes, t->scalars[0])->nonneg;
}

// 2^31 rows of so many bytes are 256 GiB: if rows are that long, coordinates of existing memory fit 32 bits.
enum { LONG_ROW = 128 };

// The least or the greatest value of a coordinate in the loop: each term is taken with the induction variable at one of
// its ends.
bool tma_extreme(AutoTma *s, const Affine *coord, bool greatest, Affine *out) {
  const Value *iv = s->loop->blocks[0]->args[0];
  Affine ends[2], minus_one;
  affine_constant(&minus_one, -1);
  if (!affine_of(op_operand(s->loop, 0), &ends[0]) || !affine_of(op_operand(s->loop, 1), &ends[1]) ||
      !affine_add(&ends[1], &minus_one, 1))
    return false;
  *out = (Affine){0};
  for (uint32_t i = 0; i < coord->num_terms; i++) {
    Affine part = {.num_terms = 1, .terms = {coord->terms[i]}};
    AffineTerm *t = &part.terms[0];
    uint32_t k = 0;
    while (k < t->num_scalars && t->scalars[k] != iv) k++;
    if (k < t->num_scalars) {
      bool grows = t->coef > 0;
      t->scalars[k] = t->scalars[--t->num_scalars];
      if (!affine_multiply(&part, &ends[grows == greatest])) return false;
    }
    if (!affine_add(out, &part, 1)) return false;
  }
  return true;
}

// Finds out what must be tested of a coordinate. False if no test before the loop can tell.
static bool examine_coordinate(AutoTma *s, Dense *d, int axis, int64_t row_bytes) {
  Affine *least = &d->least[axis];
  if (!tma_extreme(s, &d->coord[axis], false, least)) return false;
  bool outside = true, constant = true;
  for (uint32_t i = 0; i < least->num_terms; i++) {
    const AffineTerm *t = &least->terms[i];
    constant &= t->num_scalars == 0;
    d->test_sign[axis] |= !never_negative(s, t);
    d->test_size[axis] |= t->wide && row_bytes < LONG_ROW;
    for (uint32_t k = 0; k < t->num_scalars; k++) outside &= value_defined_outside(t->scalars[k], s->loop);
  }
  d->test_sign[axis] &= !d->masked_below[axis];
  if (constant) return !d->test_sign[axis];
  return outside || (!d->test_sign[axis] && !d->test_size[axis]);
}

// Finds out what must be tested of the coordinates of outer axes. False if they change in the loop, or may be negative.
static bool examine_outer(AutoTma *s, Dense *d, int64_t bytes) {
  for (uint32_t i = 0; i < d->num_outer; i++) {
    Outer *o = &d->outer[i];
    for (uint32_t k = 0; k < o->coord.num_terms; k++) {
      const AffineTerm *t = &o->coord.terms[k];
      o->test_size |= t->wide && (o->stride.num_scalars || o->stride.coef * bytes < LONG_ROW);
      if (!never_negative(s, t)) return false;
      for (uint32_t j = 0; j < t->num_scalars; j++)
        if (!value_defined_outside(t->scalars[j], s->loop)) return false;
    }
  }
  return true;
}

// A wrapped axis starts at wrap_start and ends at the modulus.
static bool take_wrap(const AutoTma *s, Dense *d, int axis, const AffineTerm *t) {
  if (tma_param_index(s, t->wrap_modulus) < 0 || !value_defined_outside(t->wrap_start, s->loop)) return false;
  // It cannot also be displaced: the modulus would not bound it.
  if (!affine_is_zero(&d->coord[axis])) return false;
  d->wrap_start[axis] = t->wrap_start;
  d->wrap_modulus[axis] = t->wrap_modulus;
  affine_scalar(&d->coord[axis], t->wrap_start);
  affine_scalar(&d->extent[axis], t->wrap_modulus);
  return true;
}

// Sorts an offset's terms: axis_term[a] is the one that counts along axis a, the others are added to *uniform. False
// unless each axis has exactly one.
static bool terms_by_axis(const Affine *offset, const AffineTerm *axis_term[2], Affine *uniform) {
  axis_term[0] = axis_term[1] = NULL;
  for (uint32_t i = 0; i < offset->num_terms; i++) {
    const AffineTerm *term = &offset->terms[i];
    if (term->axis == AFFINE_NO_AXIS) {
      Affine one = {.num_terms = 1, .terms = {*term}};
      if (!affine_add(uniform, &one, 1)) return false;
    } else {
      if (axis_term[term->axis]) return false;
      axis_term[term->axis] = term;
    }
  }
  return axis_term[0] && axis_term[1];
}

bool tma_recognise(AutoTma *s, Op *load, Dense *d) {
  no(s, "its addresses are not those of a dense tile of two axes");
  const Type *t = op_result(load, 0)->type;
  Value *base = op_operand(load, 0), *offset = op_operand(load, 1), *mask = op_operand(load, 2),
        *other = op_operand(load, 3);
  Padding padding;
  if (!type_is_tensor(t) || t->rank != 2 || !offset || type_is_tensor(base->type) || op_int(load, ATTR_VOLATILE, 0))
    return false;
  if (type_elem(t)->kind != TYPE_SCALAR || !padding_of(other, t, &padding)) return false;
  int64_t bytes = type_elem_bytes(t);
  if (t->shape[0] > TMA_MAX_BOX || t->shape[1] > TMA_MAX_BOX * MAX_SWIZZLE / bytes)
    return no(s, "the tile is longer than the 256 elements that TMA moves on an axis");
  *d = (Dense){.load = load, .fast = -1, .padding = padding};
  Affine all, uniform = {0};
  if (!base_offset(s, base, &d->base_param, &uniform) || !affine_of(offset, &all)) return false;
  if (s->func->params[d->base_param].divisible % TMA_ALIGNMENT)
    return no(s, "its pointer is not known to be a multiple of 16 bytes (a hint :16 says so)");
  // TMA sees what threads have written only after a proxy fence. Barriers, by which a program orders its accesses, are
  // none.
  if (global_uses_of(s->ctx, s->func, (uint32_t)d->base_param).writes.count)
    return no(s, "the kernel also writes that array");
  const AffineTerm *axis_term[2];
  if (!terms_by_axis(&all, axis_term, &uniform)) return false;
  for (int a = 1; a >= 0 && d->fast < 0; a--)
    if (axis_term[a]->coef == 1 && axis_term[a]->num_scalars == 0) d->fast = a;
  if (d->fast < 0) return no(s, "no stride of the tile is known to be 1");
  int slow = 1 - d->fast;
  d->stride = *axis_term[slow];
  d->stride.axis = AFFINE_NO_AXIS;
  d->stride.wrap_start = d->stride.wrap_modulus = NULL;
  int64_t unit = max_i64(1, TMA_ALIGNMENT / bytes);
  if (!known_to_launcher(s, &d->stride))
    return no(s, "its stride is computed in the kernel, out of the launcher's reach");
  if (!divisible_by(s, &d->stride, unit))
    return no(s, "its stride is not known to be a multiple of 16 bytes (a hint :16 says so)");
  if (t->shape[d->fast] * bytes < TMA_ALIGNMENT) return no(s, "its rows are shorter than 16 bytes");
  if (t->shape[slow] > TMA_MAX_BOX) return false;
  for (uint32_t i = 0; i < uniform.num_terms; i++) {
    AffineTerm q;
    bool along_slow = affine_divide_term(&uniform.terms[i], &d->stride, &q);
    Affine one = {.num_terms = 1, .terms = {along_slow ? q : uniform.terms[i]}};
    if (!affine_add(&d->coord[along_slow ? slow : d->fast], &one, 1)) return false;
  }
  for (int a = 0; a < 2; a++)
    if (axis_term[a]->wrap_modulus && !take_wrap(s, d, a, axis_term[a])) return false;
  if (!moves_by_multiples(s, &d->coord[d->fast], unit))
    return no(s, "it does not move by known multiples of 16 bytes along its rows");
  if (mask && !bound_by_mask(s, d, mask)) return no(s, "its mask is more than bounds of the two axes");
  no(s, "no test before the loop can tell whether its coordinates fit");
  int64_t row_bytes = d->stride.num_scalars ? bytes : d->stride.coef * bytes;
  return examine_coordinate(s, d, slow, row_bytes) && examine_coordinate(s, d, d->fast, bytes) &&
         examine_outer(s, d, bytes);
}
