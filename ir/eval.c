// The meaning of each SCALAR or LLVM row of ops.def on one element: eval_<name>, bits in, bits out. Constant folding
// and the interpreter both use it: folding never changes a result.
#include <math.h>

#include "ir/fold.h"

typedef struct {
  const Op *op;
  const Type *const *in_types;
  const Type *out_type;
  const uint64_t *in;
  uint32_t w;              // bits of the operand that the op works on
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

#define EVAL(name, expr) static uint64_t eval_##name(const Eval *e) { return (uint64_t)(expr); }

// ---- integers ----
EVAL(addi, e->in[0] + e->in[1])
EVAL(subi, e->in[0] - e->in[1])
EVAL(muli, e->in[0] * e->in[1])
EVAL(divui, u(e, 1) ? u(e, 0) / u(e, 1) : 0)
EVAL(remui, u(e, 1) ? u(e, 0) % u(e, 1) : 0)
// Division by −1 is a case of its own: INT64_MIN / −1 would trap.
EVAL(divsi, s(e, 1) == 0 ? 0 : s(e, 1) == -1 ? 0 - (uint64_t)s(e, 0) : (uint64_t)(s(e, 0) / s(e, 1)))
EVAL(remsi, s(e, 1) == 0 || s(e, 1) == -1 ? 0 : s(e, 0) % s(e, 1))
EVAL(andi, e->in[0] & e->in[1])
EVAL(ori, e->in[0] | e->in[1])
EVAL(xori, e->in[0] ^ e->in[1])
EVAL(shli, u(e, 1) >= e->w ? 0 : e->in[0] << u(e, 1))
EVAL(shrui, u(e, 1) >= e->w ? 0 : u(e, 0) >> u(e, 1))
EVAL(shrsi, s(e, 0) >> (u(e, 1) >= e->w ? 63 : u(e, 1)))
EVAL(minsi, s(e, 0) < s(e, 1) ? s(e, 0) : s(e, 1))
EVAL(maxsi, s(e, 0) > s(e, 1) ? s(e, 0) : s(e, 1))
EVAL(minui, u(e, 0) < u(e, 1) ? u(e, 0) : u(e, 1))
EVAL(maxui, u(e, 0) > u(e, 1) ? u(e, 0) : u(e, 1))
EVAL(mulhui, e->w == 64 ? num_mulhi_u64(u(e, 0), u(e, 1)) : u(e, 0) * u(e, 1) >> e->w)
EVAL(absi, s(e, 0) < 0 ? 0 - (uint64_t)s(e, 0) : (uint64_t)s(e, 0))
EVAL(clz, u(e, 0) ? (uint64_t)__builtin_clzll(u(e, 0)) - (64 - e->w) : e->w)
EVAL(popc, __builtin_popcountll(u(e, 0)))
EVAL(select, e->in[0] & 1 ? e->in[1] : e->in[2])

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
  return k == NUM_F64 ? num_bits_f64(num_add_f64(num_f64_bits(a), num_f64_bits(b), NUM_RNE))
                      : num_add(k, a, b, NUM_RNE, false);
}
EVAL(addf, add(e, e->in[0], e->in[1]))
EVAL(subf, num_is_nan(fmt(e->out_type), e->in[1]) ? num_canonical_nan(fmt(e->out_type))
                                                  : add(e, e->in[0], e->in[1] ^ sign_bit(e)))
EVAL(negf, e->in[0] ^ sign_bit(e))
EVAL(absf, e->in[0] & ~sign_bit(e))

static uint64_t eval_mulf(const Eval *e) {
  NumFormat k = fmt(e->out_type);
  return k == NUM_F64 ? num_bits_f64(num_mul_f64(f(e, 0), f(e, 1), NUM_RNE))
                      : num_mul(k, e->in[0], e->in[1], NUM_RNE, false);
}
static uint64_t eval_divf(const Eval *e) {
  NumFormat k = fmt(e->out_type);
  return k == NUM_F64 ? num_bits_f64(num_div_f64(f(e, 0), f(e, 1), NUM_RNE))
                      : num_div(k, e->in[0], e->in[1], NUM_RNE, false);
}
static uint64_t eval_divf_rn(const Eval *e) { return eval_divf(e); }
static uint64_t eval_fma(const Eval *e) {
  NumFormat k = fmt(e->out_type);
  return k == NUM_F64 ? num_bits_f64(num_fma_f64(f(e, 0), f(e, 1), f(e, 2), NUM_RNE))
                      : num_fma(k, e->in[0], e->in[1], e->in[2], NUM_RNE, false);
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
static uint64_t eval_clipf(const Eval *e) {
  const uint64_t sign = UINT64_C(1) << 31, infinity = 0x7f800000, a = u(e, 0) & ~sign, b = u(e, 1) & ~sign;
  if (a > infinity && b > infinity) return num_canonical_nan(NUM_F32);
  return (a > infinity || (b <= infinity && b < a) ? b : a) | ((u(e, 0) ^ u(e, 1)) & sign);
}

EVAL(minf, pick(e, false, false))
EVAL(maxf, pick(e, true, false))
EVAL(minimumf, pick(e, false, true))
EVAL(maximumf, pick(e, true, true))

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

// Computes a function in double and rounds once to the op's type. For f32 it flushes subnormals, as .ftz does.
static uint64_t approximate(const Eval *e, double (*fn)(double)) {
  if (fmt(e->out_type) != NUM_F32) return from(e, fn(f(e, 0)));
  float x = num_ftz_f32(num_f32_bits((uint32_t)e->in[0]));
  return num_bits_f32(num_ftz_f32(num_f32_bits((uint32_t)from(e, fn((double)x)))));
}
static double reciprocal_root(double x) { return 1.0 / sqrt(x); }
static double reciprocal(double x) { return 1.0 / x; }
EVAL(exp2, approximate(e, exp2))
EVAL(log2, approximate(e, log2))
EVAL(sin, approximate(e, sin))
EVAL(cos, approximate(e, cos))
EVAL(tanh, approximate(e, tanh))
EVAL(sqrt, approximate(e, sqrt))
EVAL(rsqrt, approximate(e, reciprocal_root))
EVAL(rcp, approximate(e, reciprocal))
EVAL(remf, from(e, fmod(f(e, 0), f(e, 1))))
EVAL(floor, from(e, num_round_to_integral(f(e, 0), NUM_RDN)))
EVAL(ceil, from(e, num_round_to_integral(f(e, 0), NUM_RUP)))
EVAL(trunc, from(e, num_round_to_integral(f(e, 0), NUM_RTZ)))
EVAL(rint, from(e, num_round_to_integral(f(e, 0), NUM_RNE)))

// ---- conversions; to fp8 they saturate ----
static bool is_fp8(const Eval *e) { return type_elem_bits(e->out_type) == 8; }
EVAL(extsi, s(e, 0))
EVAL(extui, u(e, 0))
EVAL(trunci, e->in[0])
EVAL(bitcast, e->in[0])
EVAL(inttoptr, u(e, 0))
EVAL(ptrtoint, e->in[0])
EVAL(sitofp, num_encode_i64(fmt(e->out_type), s(e, 0), NUM_RNE, is_fp8(e)))
EVAL(uitofp, num_encode_u64(fmt(e->out_type), u(e, 0), NUM_RNE, is_fp8(e)))
EVAL(fpext, num_encode(fmt(e->out_type), f(e, 0), NUM_RNE, false))

static uint64_t to_int(const Eval *e, bool is_signed) {
  return num_to_int(f(e, 0), type_elem_bits(e->out_type), is_signed, NUM_RTZ, false);
}
EVAL(fptosi, to_int(e, true))
EVAL(fptoui, to_int(e, false))

static uint64_t eval_fptrunc(const Eval *e) {
  NumRound r = op_int(e->op, ATTR_ROUNDING, ROUND_RNE) == ROUND_RTZ ? NUM_RTZ : NUM_RNE;
  return num_encode(fmt(e->out_type), f(e, 0), r, is_fp8(e));
}

static uint64_t eval_addptr(const Eval *e) {
  return e->in[0] +
         (uint64_t)num_sext(e->in[1], type_elem_bits(e->in_types[1])) * type_elem_bytes(e->in_types[0]->elem);
}

typedef uint64_t (*EvalFn)(const Eval *e);
#define HOW_SCALAR(name) eval_##name
#define HOW_LLVM(intrinsic) HOW_SCALAR
#define HOW_WHOLE(name) NULL
#define HOW_GONE(name) NULL
static const EvalFn eval_fns[NUM_OPS] = {
#define OP(id, name, operands, results, blocks, traits, stages, elems, unit, infer, verify, how)                       \
  [OP_##id] = HOW_##how(name),
#include "ir/ops.def"
};

bool eval_is_scalar_op(Opcode oc) { return eval_fns[oc] != NULL; }

uint64_t eval_scalar(const Op *op, const Type *const *in_types, const Type *out_type, const uint64_t *in) {
  Eval e = {op, in_types, out_type, in, type_elem_bits(in_types[op_subject(op->opcode)])};
  return num_zext(eval_fns[op->opcode](&e), type_elem_bits(out_type));
}
