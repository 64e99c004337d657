#include "passes/affine.h"

void affine_constant(Affine *a, int64_t c) {
  a->num_terms = c != 0;
  if (c) a->terms[0] = (AffineTerm){.coef = c, .axis = AFFINE_NO_AXIS};
}

void affine_scalar(Affine *a, Value *v) {
  a->num_terms = 1;
  a->terms[0] = (AffineTerm){.coef = 1, .num_scalars = 1, .scalars = {v}, .axis = AFFINE_NO_AXIS};
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
  return a->axis == b->axis && a->wrap_start == b->wrap_start && a->wrap_modulus == b->wrap_modulus && same_scalars(a, b);
}

static bool add_term(Affine *a, const AffineTerm *t, int64_t factor) {
  for (uint32_t i = 0; i < a->num_terms; i++) {
    if (!same_factor(&a->terms[i], t)) continue;
    a->terms[i].coef += t->coef * factor;
    if (a->terms[i].coef == 0) a->terms[i] = a->terms[--a->num_terms];
    return true;
  }
  if (a->num_terms == AFFINE_MAX_TERMS) return false;
  a->terms[a->num_terms] = *t;
  a->terms[a->num_terms++].coef *= factor;
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
      t.coef *= u->coef;
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
  if (!modulus || !x->def || x->def->opcode != OP_ADDI) return false;
  for (uint32_t i = 0; i < 2; i++) {
    Value *start = splat_source(op_operand(x->def, i)), *range = op_operand(x->def, 1 - i);
    if (!start || !range->def || range->def->opcode != OP_RANGE || op_int(range->def, ATTR_START, 0) != 0) continue;
    out->num_terms = 1;
    out->terms[0] = (AffineTerm){.coef = 1, .axis = 0, .wrap_start = start, .wrap_modulus = modulus};
    return true;
  }
  return false;
}

bool affine_of(Value *v, Affine *out) {
  int64_t c;
  out->num_terms = 0;
  if (value_constant_int(v, &c)) {
    affine_constant(out, c);
    return true;
  }
  bool tensor = type_is_tensor(v->type);
  if (!v->def) {
    if (tensor) return false;
    affine_scalar(out, v);
    return true;
  }
  Op *op = v->def;
  Affine rhs;
  switch (op->opcode) {
  case OP_RANGE:
    out->num_terms = 1;
    out->terms[0] = (AffineTerm){.coef = 1, .axis = 0};
    affine_constant(&rhs, op_int(op, ATTR_START, 0));
    return affine_add(out, &rhs, 1);
  case OP_ADDI: case OP_SUBI:
    return affine_of(op_operand(op, 0), out) && affine_of(op_operand(op, 1), &rhs) && affine_add(out, &rhs, op->opcode == OP_ADDI ? 1 : -1);
  case OP_MULI:
    if (affine_of(op_operand(op, 0), out) && affine_of(op_operand(op, 1), &rhs) && affine_multiply(out, &rhs)) return true;
    break;
  case OP_EXTSI: case OP_HINT: case OP_SPLAT: case OP_BROADCAST: case OP_CONVERT_LAYOUT:
    return affine_of(op_operand(op, 0), out);
  case OP_EXPAND_DIMS: {
    int64_t axis = op_int(op, ATTR_AXIS, 0);
    if (!affine_of(op_operand(op, 0), out)) return false;
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

static Value *as_i32(Builder *b, Value *v) {
  const Type *i32 = type_scalar(b->ctx, SC_I32);
  if (v->type == i32) return v;
  return build_cast(b, type_is_scalar(v->type, SC_I64) ? OP_TRUNCI : OP_EXTSI, v, i32);
}

Value *affine_build(Builder *b, const Affine *a) {
  Value *sum = NULL;
  for (uint32_t i = 0; i < a->num_terms; i++) {
    const AffineTerm *t = &a->terms[i];
    Value *product = NULL;
    for (uint32_t k = 0; k < t->num_scalars; k++) {
      Value *s = as_i32(b, t->scalars[k]);
      product = product ? build_binary(b, OP_MULI, product, s) : s;
    }
    if (!product) product = build_i32(b, t->coef);
    else if (t->coef != 1) product = build_binary(b, OP_MULI, product, build_i32(b, t->coef));
    sum = sum ? build_binary(b, OP_ADDI, sum, product) : product;
  }
  return sum ? sum : build_i32(b, 0);
}
