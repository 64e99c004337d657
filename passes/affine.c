// Sums of products of scalars and indices: see affine.h.
#include "passes/affine.h"

void affine_constant(Affine *a, int64_t c) {
  a->num_terms = c != 0;
  if (c) a->terms[0] = (AffineTerm){.coef = c, .axis = AFFINE_NO_AXIS};
}

void affine_scalar(Affine *a, Value *v) {
  a->num_terms = 1;
  a->terms[0] = (AffineTerm){.coef = 1,
                             .num_scalars = 1,
                             .scalars = {v},
                             .wide = type_elem_bits(v->type) > 32,
                             .axis = AFFINE_NO_AXIS};
}

bool affine_is_zero(const Affine *a) { return a->num_terms == 0; }

static bool same_scalars(const AffineTerm *a, const AffineTerm *b) {
  if (a->num_scalars != b->num_scalars) return false;
  bool used[AFFINE_MAX_SCALARS] = {false};
  for (uint32_t i = 0; i < a->num_scalars; i++) {
    uint32_t j = 0;
    while (j < b->num_scalars && (used[j] || b->scalars[j] != a->scalars[i])) j++;
    if (j == b->num_scalars) return false;
    used[j] = true;
  }
  return true;
}

static bool same_factor(const AffineTerm *a, const AffineTerm *b) {
  return a->axis == b->axis && a->wrap_start == b->wrap_start && a->wrap_modulus == b->wrap_modulus &&
         same_scalars(a, b);
}

static bool add_term(Affine *a, const AffineTerm *t, int64_t factor) {
  int64_t coef;
  if (__builtin_mul_overflow(t->coef, factor, &coef)) return false;
  for (uint32_t i = 0; i < a->num_terms; i++) {
    AffineTerm *to = &a->terms[i];
    if (!same_factor(to, t)) continue;
    if (__builtin_add_overflow(to->coef, coef, &to->coef)) return false;
    to->wide |= t->wide;
    if (to->coef == 0) *to = a->terms[--a->num_terms];
    return true;
  }
  if (a->num_terms == AFFINE_MAX_TERMS) return false;
  a->terms[a->num_terms] = *t;
  a->terms[a->num_terms++].coef = coef;
  return true;
}

bool affine_add(Affine *a, const Affine *b, int64_t factor) {
  for (uint32_t i = 0; i < b->num_terms; i++)
    if (!add_term(a, &b->terms[i], factor)) return false;
  return true;
}

bool affine_multiply(Affine *a, const Affine *b) {
  Affine product = {0};
  for (uint32_t i = 0; i < a->num_terms; i++)
    for (uint32_t j = 0; j < b->num_terms; j++) {
      AffineTerm t = a->terms[i];
      const AffineTerm *u = &b->terms[j];
      if (t.axis != AFFINE_NO_AXIS && u->axis != AFFINE_NO_AXIS) return false;
      if (t.num_scalars + u->num_scalars > AFFINE_MAX_SCALARS) return false;
      if (__builtin_mul_overflow(t.coef, u->coef, &t.coef)) return false;
      t.wide |= u->wide;
      for (uint32_t k = 0; k < u->num_scalars; k++) t.scalars[t.num_scalars++] = u->scalars[k];
      if (u->axis != AFFINE_NO_AXIS) {
        t.axis = u->axis;
        t.wrap_start = u->wrap_start;
        t.wrap_modulus = u->wrap_modulus;
      }
      if (!add_term(&product, &t, 1)) return false;
    }
  *a = product;
  return true;
}

bool affine_divide_term(const AffineTerm *term, const AffineTerm *divisor, AffineTerm *quotient) {
  if (divisor->coef == 0 || term->coef % divisor->coef) return false;
  *quotient = *term;
  quotient->coef = term->coef / divisor->coef;
  for (uint32_t i = 0; i < divisor->num_scalars; i++) {
    uint32_t j = 0;
    while (j < quotient->num_scalars && quotient->scalars[j] != divisor->scalars[i]) j++;
    if (j == quotient->num_scalars) return false;
    quotient->scalars[j] = quotient->scalars[--quotient->num_scalars];
  }
  // If the program multiplied one 32-bit number by a constant, the number itself has 32 bits.
  if (quotient->num_scalars == 0 || (quotient->num_scalars == 1 && type_elem_bits(quotient->scalars[0]->type) <= 32))
    quotient->wide = false;
  return true;
}

static Value *splat_source(Value *v) {
  while (v->def && (v->def->opcode == OP_SPLAT || v->def->opcode == OP_BROADCAST || v->def->opcode == OP_EXPAND_DIMS))
    v = op_operand(v->def, 0);
  return type_is_tensor(v->type) ? NULL : v;
}

// (start + index) mod modulus with a uniform start and modulus.
static bool wrapped(Op *rem, Affine *out) {
  Value *x = op_operand(rem, 0), *modulus = splat_source(op_operand(rem, 1));
  if (!modulus || !value_op(x, OP_ADDI)) return false;
  for (uint32_t i = 0; i < 2; i++) {
    Value *start = splat_source(op_operand(x->def, i)), *range = op_operand(x->def, 1 - i);
    if (!start || !value_op(range, OP_RANGE) || op_int(range->def, ATTR_START, 0) != 0) continue;
    out->num_terms = 1;
    out->terms[0] = (AffineTerm){.coef = 1, .axis = 0, .wrap_start = start, .wrap_modulus = modulus};
    return true;
  }
  return false;
}

void affine_transpose(AffineTerm *t, const Attr *order) {
  const int from = t->axis;
  for (uint32_t i = 0; i < order->num_ints && from != AFFINE_NO_AXIS; i++)
    if (order->ints[i] == from) t->axis = (int)i;
}

// Looks at a shared subexpression each time that it occurs, at `budget` values in all.
static bool affine_within(Value *v, uint32_t *budget, Affine *out) {
  int64_t c;
  out->num_terms = 0;
  if (value_constant_int(v, &c)) {
    affine_constant(out, c);
    return true;
  }
  bool tensor = type_is_tensor(v->type);
  if (!v->def || *budget == 0) {
    if (tensor) return false;
    affine_scalar(out, v);
    return true;
  }
  --*budget;
  Op *op = v->def;
  Affine rhs;
  switch (op->opcode) {
  case OP_RANGE:
    out->num_terms = 1;
    out->terms[0] = (AffineTerm){.coef = 1, .axis = 0};
    affine_constant(&rhs, op_int(op, ATTR_START, 0));
    return affine_add(out, &rhs, 1);
  case OP_ADDI: case OP_SUBI:
    return affine_within(op_operand(op, 0), budget, out) && affine_within(op_operand(op, 1), budget, &rhs) &&
           affine_add(out, &rhs, op->opcode == OP_ADDI ? 1 : -1);
  case OP_MULI:
    if (!affine_within(op_operand(op, 0), budget, out) || !affine_within(op_operand(op, 1), budget, &rhs) ||
        !affine_multiply(out, &rhs))
      break;
    for (uint32_t i = 0; i < out->num_terms; i++)
      out->terms[i].wide |= type_elem_bits(v->type) > 32 && out->terms[i].num_scalars;
    return true;
  case OP_EXTSI: case OP_HINT: case OP_SPLAT: case OP_BROADCAST: case OP_CONVERT_LAYOUT:
    return affine_within(op_operand(op, 0), budget, out);
  case OP_EXPAND_DIMS: {
    int64_t axis = op_int(op, ATTR_AXIS, 0);
    if (!affine_within(op_operand(op, 0), budget, out)) return false;
    for (uint32_t i = 0; i < out->num_terms; i++)
      if (out->terms[i].axis >= axis) out->terms[i].axis++;
    return true;
  }
  case OP_REMSI:
    if (tensor) return wrapped(op, out);
    break;
  default:
    break;
  }
  if (tensor) return false;
  affine_scalar(out, v);
  return true;
}

bool affine_of(Value *v, Affine *out) {
  uint32_t budget = 512;
  return affine_within(v, &budget, out);
}

static Value *as_type(Builder *b, Value *v, const Type *t) {
  if (v->type == t) return v;
  return build_cast(b, type_elem_bits(v->type) > type_elem_bits(t) ? OP_TRUNCI : OP_EXTSI, v, t);
}

Value *affine_build(Builder *b, const Affine *a, const Type *t) {
  Value *sum = NULL;
  for (uint32_t i = 0; i < a->num_terms; i++) {
    const AffineTerm *term = &a->terms[i];
    Value *product = NULL;
    for (uint32_t k = 0; k < term->num_scalars; k++) {
      Value *s = as_type(b, term->scalars[k], t);
      product = product ? build_binary(b, OP_MULI, product, s) : s;
    }
    if (!product) product = build_int(b, t, term->coef);
    else if (term->coef != 1) product = build_binary(b, OP_MULI, product, build_int(b, t, term->coef));
    sum = sum ? build_binary(b, OP_ADDI, sum, product) : product;
  }
  return sum ? sum : build_int(b, t, 0);
}
