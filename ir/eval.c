// The meaning of each op marked SCALAR in ops.def, on one element: eval_<name>, bits in, bits out. Used by constant
// folding and by the interpreter, so that folding never changes a result.
#include <math.h>

#include "ir/fold.h"

typedef struct {
  const Op *op;
  const Type *const *in_types;
  const Type *out_type;
  const uint64_t *in;
  uint32_t w;              // bits of operand 0
} Eval;

NumFormat scalar_num_format(ScalarKind k) {
  switch (k) {
    case SC_F64: return NUM_F64;
    case SC_F16: return NUM_F16;
    case SC_BF16: return NUM_BF16;
    case SC_F8E4M3: return NUM_F8E4M3;
    case SC_F8E5M2: return NUM_F8E5M2;
    case SC_F8E4B15: return NUM_F8E4B15;
    default: return NUM_F32;
  }
}

static NumFormat fmt(const Type *t) { return scalar_num_format(t->scalar); }
static int64_t s(const Eval *e, uint32_t i) { return num_sext(e->in[i], e->w); }
static uint64_t u(const Eval *e, uint32_t i) { return num_zext(e->in[i], e->w); }
static double f(const Eval *e, uint32_t i) { return num_decode(fmt(e->in_types[i]), e->in[i]); }
static uint64_t from(const Eval *e, double x) { return num_encode(fmt(e->out_type), x, NUM_RNE, false); }

// ---- integers ----
#define INT_OP(name, expr) static uint64_t eval_##name(const Eval *e) { return (uint64_t)(expr); }
INT_OP(addi, e->in[0] + e->in[1])
INT_OP(subi, e->in[0] - e->in[1])
INT_OP(muli, e->in[0] * e->in[1])
INT_OP(divui, u(e, 1) ? u(e, 0) / u(e, 1) : 0)
INT_OP(remui, u(e, 1) ? u(e, 0) % u(e, 1) : 0)
// −1 apart: INT64_MIN / −1 would trap.
INT_OP(divsi, s(e, 1) == 0 ? 0 : s(e, 1) == -1 ? 0 - (uint64_t)s(e, 0) : (uint64_t)(s(e, 0) / s(e, 1)))
INT_OP(remsi, s(e, 1) == 0 || s(e, 1) == -1 ? 0 : s(e, 0) % s(e, 1))
INT_OP(andi, e->in[0] & e->in[1])
INT_OP(ori, e->in[0] | e->in[1])
INT_OP(xori, e->in[0] ^ e->in[1])
INT_OP(shli, u(e, 1) >= e->w ? 0 : e->in[0] << u(e, 1))
INT_OP(shrui, u(e, 1) >= e->w ? 0 : u(e, 0) >> u(e, 1))
INT_OP(shrsi, s(e, 0) >> (u(e, 1) >= e->w ? 63 : u(e, 1)))
INT_OP(minsi, s(e, 0) < s(e, 1) ? s(e, 0) : s(e, 1))
INT_OP(maxsi, s(e, 0) > s(e, 1) ? s(e, 0) : s(e, 1))
INT_OP(minui, u(e, 0) < u(e, 1) ? u(e, 0) : u(e, 1))
INT_OP(maxui, u(e, 0) > u(e, 1) ? u(e, 0) : u(e, 1))
INT_OP(mulhui, e->w == 64 ? num_mulhi_u64(u(e, 0), u(e, 1)) : u(e, 0) * u(e, 1) >> e->w)
INT_OP(absi, s(e, 0) < 0 ? 0 - (uint64_t)s(e, 0) : (uint64_t)s(e, 0))
INT_OP(clz, u(e, 0) ? (uint64_t)__builtin_clzll(u(e, 0)) - (64 - e->w) : e->w)
INT_OP(popc, __builtin_popcountll(u(e, 0)))
INT_OP(select, e->in[0] & 1 ? e->in[1] : e->in[2])

static uint64_t eval_cmpi(const Eval *e) {
  switch ((CmpPred)op_int(e->op, ATTR_PRED, CMP_EQ)) {
    case CMP_EQ: return u(e, 0) == u(e, 1);
    case CMP_NE: return u(e, 0) != u(e, 1);
    case CMP_SLT: return s(e, 0) < s(e, 1);
    case CMP_SLE: return s(e, 0) <= s(e, 1);
    case CMP_SGT: return s(e, 0) > s(e, 1);
    case CMP_SGE: return s(e, 0) >= s(e, 1);
    case CMP_ULT: return u(e, 0) < u(e, 1);
    case CMP_ULE: return u(e, 0) <= u(e, 1);
    case CMP_UGT: return u(e, 0) > u(e, 1);
    case CMP_UGE: return u(e, 0) >= u(e, 1);
    default: return 0;
  }
}

// ---- floating point ----
static uint64_t sign_bit(const Eval *e) { return 1ull << (e->w - 1); }

static uint64_t add(const Eval *e, uint64_t a, uint64_t b) {
  NumFormat k = fmt(e->out_type);
  return k == NUM_F64 ? num_bits_f64(num_add_f64(num_f64_bits(a), num_f64_bits(b), NUM_RNE)) : num_add(k, a, b, NUM_RNE, false);
}
INT_OP(addf, add(e, e->in[0], e->in[1]))
INT_OP(subf, num_is_nan(fmt(e->out_type), e->in[1]) ? num_canonical_nan(fmt(e->out_type)) : add(e, e->in[0], e->in[1] ^ sign_bit(e)))
INT_OP(negf, e->in[0] ^ sign_bit(e))
INT_OP(absf, e->in[0] & ~sign_bit(e))

static uint64_t eval_mulf(const Eval *e) {
  NumFormat k = fmt(e->out_type);
  return k == NUM_F64 ? num_bits_f64(num_mul_f64(f(e, 0), f(e, 1), NUM_RNE)) : num_mul(k, e->in[0], e->in[1], NUM_RNE, false);
}
static uint64_t eval_divf(const Eval *e) {
  NumFormat k = fmt(e->out_type);
  return k == NUM_F64 ? num_bits_f64(num_div_f64(f(e, 0), f(e, 1), NUM_RNE)) : num_div(k, e->in[0], e->in[1], NUM_RNE, false);
}
static uint64_t eval_divf_rn(const Eval *e) { return eval_divf(e); }
static uint64_t eval_fma(const Eval *e) {
  NumFormat k = fmt(e->out_type);
  return k == NUM_F64 ? num_bits_f64(num_fma_f64(f(e, 0), f(e, 1), f(e, 2), NUM_RNE)) : num_fma(k, e->in[0], e->in[1], e->in[2], NUM_RNE, false);
}
static uint64_t eval_sqrt_rn(const Eval *e) {
  NumFormat k = fmt(e->out_type);
  return k == NUM_F64 ? num_bits_f64(num_sqrt_f64(f(e, 0), NUM_RNE)) : num_sqrt(k, e->in[0], NUM_RNE, false);
}

// min and max by value, −0 below +0; propagate says what one NaN gives.
static uint64_t pick(const Eval *e, bool want_max, bool propagate) {
  NumFormat k = fmt(e->out_type);
  bool na = num_is_nan(k, e->in[0]), nb = num_is_nan(k, e->in[1]);
  if (na || nb) return (na && nb) || propagate ? num_canonical_nan(k) : e->in[na];
  double a = f(e, 0), b = f(e, 1);
  bool less = a < b || (a == b && signbit(a) && !signbit(b));
  return e->in[less == want_max];
}
INT_OP(minf, pick(e, false, false))
INT_OP(maxf, pick(e, true, false))
INT_OP(minimumf, pick(e, false, true))
INT_OP(maximumf, pick(e, true, true))

static uint64_t eval_cmpf(const Eval *e) {
  double a = f(e, 0), b = f(e, 1);
  switch ((CmpPred)op_int(e->op, ATTR_PRED, CMP_OEQ)) {
    case CMP_OEQ: return a == b;
    case CMP_UNE: return !(a == b);
    case CMP_OLT: return a < b;
    case CMP_OLE: return a <= b;
    case CMP_OGT: return a > b;
    case CMP_OGE: return a >= b;
    default: return 0;
  }
}

// Approximate machine functions: computed in double and rounded once, with f32 subnormals flushed as .ftz does.
static uint64_t approximate(const Eval *e, double (*fn)(double)) {
  if (fmt(e->out_type) != NUM_F32) return from(e, fn(f(e, 0)));
  float x = num_ftz_f32(num_f32_bits((uint32_t)e->in[0]));
  return num_bits_f32(num_ftz_f32(num_f32_bits((uint32_t)from(e, fn((double)x)))));
}
static double reciprocal_root(double x) { return 1.0 / sqrt(x); }
static double reciprocal(double x) { return 1.0 / x; }
INT_OP(exp2, approximate(e, exp2))
INT_OP(log2, approximate(e, log2))
INT_OP(sin, approximate(e, sin))
INT_OP(cos, approximate(e, cos))
INT_OP(tanh, approximate(e, tanh))
INT_OP(sqrt, approximate(e, sqrt))
INT_OP(rsqrt, approximate(e, reciprocal_root))
INT_OP(rcp, approximate(e, reciprocal))
INT_OP(remf, from(e, fmod(f(e, 0), f(e, 1))))
INT_OP(floor, from(e, num_round_to_integral(f(e, 0), NUM_RDN)))
INT_OP(ceil, from(e, num_round_to_integral(f(e, 0), NUM_RUP)))
INT_OP(trunc, from(e, num_round_to_integral(f(e, 0), NUM_RTZ)))
INT_OP(rint, from(e, num_round_to_integral(f(e, 0), NUM_RNE)))

// ---- conversions ----
INT_OP(extsi, s(e, 0))
INT_OP(extui, u(e, 0))
INT_OP(trunci, e->in[0])
INT_OP(bitcast, e->in[0])
INT_OP(inttoptr, u(e, 0))
INT_OP(ptrtoint, e->in[0])
INT_OP(sitofp, num_encode_i64(fmt(e->out_type), s(e, 0), NUM_RNE, false))
INT_OP(uitofp, num_encode_u64(fmt(e->out_type), u(e, 0), NUM_RNE, false))
INT_OP(fpext, num_encode(fmt(e->out_type), f(e, 0), NUM_RNE, false))

static uint64_t to_int(const Eval *e, bool is_signed) {
  uint32_t w = type_elem_bits(e->out_type);
  return num_to_int(f(e, 0), w < 8 ? 8 : w, is_signed, NUM_RTZ, false);
}
INT_OP(fptosi, to_int(e, true))
INT_OP(fptoui, to_int(e, false))

static uint64_t eval_fptrunc(const Eval *e) {
  bool narrow = type_elem_bits(e->out_type) == 8;
  NumRound r = op_int(e->op, ATTR_ROUNDING, ROUND_RNE) == ROUND_RTZ ? NUM_RTZ : NUM_RNE;
  return num_encode(fmt(e->out_type), f(e, 0), r, narrow);
}

static uint64_t eval_addptr(const Eval *e) {
  return e->in[0] + (uint64_t)num_sext(e->in[1], type_elem_bits(e->in_types[1])) * type_elem_bytes(e->in_types[0]->elem);
}

typedef uint64_t (*EvalFn)(const Eval *e);
#define HOW_SCALAR(name) eval_##name
#define HOW_WHOLE(name) NULL
#define HOW_GONE(name) NULL
static const EvalFn eval_fns[NUM_OPS] = {
#define OP(id, name, operands, results, blocks, traits, stages, infer, verify, how) [OP_##id] = HOW_##how(name),
#include "ir/ops.def"
};

bool eval_is_scalar_op(Opcode oc) { return eval_fns[oc] != NULL; }

uint64_t eval_scalar(const Op *op, const Type *const *in_types, const Type *out_type, const uint64_t *in) {
  Eval e = {op, in_types, out_type, in, type_elem_bits(in_types[op->opcode == OP_SELECT ? 1 : 0])};
  return num_zext(eval_fns[op->opcode](&e), type_elem_bits(out_type));
}
