// Integer division.
//
// A thread that divides several 64-bit numbers by what is no constant tests once for four of them whether all, and the
// divisors, fit 32 bits without a sign, as indices do. If so, it divides in 32 bits: the machine's code for that is a
// tenth as long, and the assembler runs the divisions side by side and inverts a common divisor once. (LLVM would test,
// and branch, for each division.) Both quotient and remainder are computed; what nobody uses, LLVM removes.
#include "codegen/cg.h"

// LLVM may assume that a divisor is not zero and remove what depends on it; a program that selects the result away
// afterwards relies on the opposite. Of an opaque copy it may assume what it likes.
static LLVMValueRef divisor(Cg *c, LLVMValueRef d) {
  uint64_t x;
  return cg_const_int(d, &x) && x ? d : cg_opaque(c, d);
}

// LLVM may also assume that nobody divides the least number by −1, which wraps. If the divisor is a constant, it
// would decide comparisons with the quotient by that.
SCALAR_EMITTER(divsi) {
  if (LLVMIsAConstantInt(in[1]) && LLVMConstIntGetSExtValue(in[1]) == -1) return LLVMBuildNeg(c->b, in[0], "");
  return LLVMBuildSDiv(c->b, in[0], divisor(c, in[1]), "");
}
SCALAR_EMITTER(divui) { return LLVMBuildUDiv(c->b, in[0], divisor(c, in[1]), ""); }
SCALAR_EMITTER(remsi) { return LLVMBuildSRem(c->b, in[0], divisor(c, in[1]), ""); }
SCALAR_EMITTER(remui) { return LLVMBuildURem(c->b, in[0], divisor(c, in[1]), ""); }

// ---- several of 64 bits ----

static bool is_quotient(const Op *op) { return op->opcode == OP_DIVSI || op->opcode == OP_DIVUI; }
static bool is_signed(const Op *op) { return op->opcode == OP_DIVSI || op->opcode == OP_REMSI; }

// Quotients of which neighbours are equal are few. Of remainders whose neighbours are consecutive most are not needed:
// LLVM removes their divisions, which a test of all of them would keep.
bool cg_is_wide_division(Cg *c, const Op *op) {
  if (!is_quotient(op) && op->opcode != OP_REMSI && op->opcode != OP_REMUI) return false;
  const Type *t = op->results[0].type;
  if (!type_is_tensor(t) || type_elem_bits(t) != 64) return false;
  if (op_attr(op, ATTR_CONSTANCY) || op_attr(op, ATTR_CONTIGUITY)) return false;
  const CgValue *x = cg_get(op_operand(op, 0)), *y = cg_get(op_operand(op, 1));
  if ((x->splat && y->splat) || (y->splat && LLVMIsAConstantInt(y->v[0]))) return false;
  const uint32_t *reps = cg_reps(c, t), n = cg_num_regs(t);
  uint32_t distinct = 0;
  for (uint32_t r = 0; r < n; r++) distinct += reps[r] == r;
  return distinct > 1;
}

// An earlier division of the same numbers in the block, or NULL.
static const CgDivision *known(Cg *c, const Value *x, const Value *y, bool is_signed, const Block *block) {
  VEC_EACH(d, c->divisions)
    if (d->x == x && d->y == y && d->is_signed == is_signed && d->block == block) return d;
  return NULL;
}

enum { AT_ONCE = 4 };        // more would hide no more latency, and take registers
typedef struct { uint32_t count, regs[AT_ONCE]; } Group;
typedef struct { LLVMBasicBlockRef end; LLVMValueRef q[AT_ONCE], r[AT_ONCE]; } Way;

// Whether the block divides so for the quotient, and not for the multiple below alone.
static bool needs_quotient(const CgDivision *d) {
  EACH_USE(u, d->x) {
    const Op *op = u->user;
    if (!is_quotient(op) || is_signed(op) != d->is_signed || op->parent != d->block) continue;
    if (op_operand(op, 0) != d->x || op_operand(op, 1) != d->y) continue;
    const Value *q = &op->results[0];
    const Op *user = value_has_one_use(q) ? q->uses->user : NULL;
    if (!user || user->opcode != OP_MULI || (op_operand(user, 0) != d->y && op_operand(user, 1) != d->y)) return true;
  }
  return false;
}

// A group's quotients and remainders in 32 bits, or in 64.
static Way divide_group(Cg *c, const CgDivision *d, const Group *g, bool fits) {
  Way w;
  for (uint32_t i = 0; i < g->count; i++) {
    LLVMValueRef in[] = {cg_reg(cg_get(d->x), g->regs[i]), cg_reg(cg_get(d->y), g->regs[i])};
    if (!fits) {
      w.q[i] = cg_insn(c, d->is_signed ? INSN_DIV_S64 : INSN_DIV_U64, c->t_i64, in, 2);
      w.r[i] = needs_quotient(d) ? LLVMBuildSub(c->b, in[0], LLVMBuildMul(c->b, w.q[i], in[1], ""), "")
                                 : cg_insn(c, d->is_signed ? INSN_REM_S64 : INSN_REM_U64, c->t_i64, in, 2);
      continue;
    }
    LLVMValueRef x = LLVMBuildTrunc(c->b, in[0], c->t_i32, "");
    LLVMValueRef y = divisor(c, LLVMBuildTrunc(c->b, in[1], c->t_i32, ""));
    w.q[i] = LLVMBuildZExt(c->b, LLVMBuildUDiv(c->b, x, y, ""), c->t_i64, "");
    w.r[i] = LLVMBuildZExt(c->b, LLVMBuildURem(c->b, x, y, ""), c->t_i64, "");
  }
  w.end = LLVMGetInsertBlock(c->b);
  return w;
}

static LLVMValueRef join(Cg *c, const Way *a, LLVMValueRef x, const Way *b, LLVMValueRef y) {
  LLVMValueRef phi = LLVMBuildPhi(c->b, c->t_i64, "");
  LLVMAddIncoming(phi, (LLVMValueRef[]){x, y}, (LLVMBasicBlockRef[]){a->end, b->end}, 2);
  return phi;
}

static void divide(Cg *c, CgDivision *d, const Group *g) {
  const CgValue *xs = cg_get(d->x), *ys = cg_get(d->y);
  LLVMValueRef any = cg_reg(ys, g->regs[0]);
  for (uint32_t i = 0; i < g->count; i++) {
    any = LLVMBuildOr(c->b, any, cg_reg(xs, g->regs[i]), "");
    if (i && !ys->splat) any = LLVMBuildOr(c->b, any, cg_reg(ys, g->regs[i]), "");
  }
  LLVMBasicBlockRef narrow = cg_block(c, "narrow"), wide = cg_block(c, "wide"), after = cg_block(c, "divided");
  LLVMBuildCondBr(c->b, cg_cmp(c, LLVMIntULE, any, UINT32_MAX), narrow, wide);
  LLVMPositionBuilderAtEnd(c->b, narrow);
  const Way a = divide_group(c, d, g, true);
  LLVMBuildBr(c->b, after);
  LLVMPositionBuilderAtEnd(c->b, wide);
  const Way b = divide_group(c, d, g, false);
  LLVMBuildBr(c->b, after);
  LLVMPositionBuilderAtEnd(c->b, after);
  for (uint32_t i = 0; i < g->count; i++) {
    d->quotient->v[g->regs[i]] = join(c, &a, a.q[i], &b, b.q[i]);
    d->remainder->v[g->regs[i]] = join(c, &a, a.r[i], &b, b.r[i]);
  }
}

static void divide_all(Cg *c, CgDivision *d, const uint32_t *reps, uint32_t n) {
  d->quotient = cg_value_new(c, n), d->remainder = cg_value_new(c, n);
  Group g = {0};
  for (uint32_t i = 0; i < n; i++) {
    if (reps[i] == i) g.regs[g.count++] = i;
    if (g.count < AT_ONCE && i + 1 < n) continue;
    if (g.count) divide(c, d, &g);
    g.count = 0;
  }
  for (uint32_t i = 0; i < n; i++) {
    d->quotient->v[i] = d->quotient->v[reps[i]];
    d->remainder->v[i] = d->remainder->v[reps[i]];
  }
}

void cg_lower_wide_division(Cg *c, Op *op) {
  CgDivision made = {op_operand(op, 0), op_operand(op, 1), op->parent, is_signed(op), NULL, NULL};
  const CgDivision *d = known(c, made.x, made.y, made.is_signed, made.block);
  if (!d) {
    divide_all(c, &made, cg_reps(c, op->results[0].type), cg_num_regs(op->results[0].type));
    vec_push(c->arena, &c->divisions, made);
    d = &made;
  }
  cg_set(op_result(op, 0), is_quotient(op) ? d->quotient : d->remainder);
}

// ---- multiples ----

static LLVMValueRef wide_multiple_below(Cg *c, const Op *div, LLVMValueRef quotient) {
  const CgDivision *d = known(c, op_operand(div, 0), op_operand(div, 1), is_signed(div), div->parent);
  if (!d) return NULL;
  for (uint32_t i = 0; i < d->quotient->count; i++)
    if (d->quotient->v[i] == quotient)
      return LLVMBuildSub(c->b, cg_reg(cg_get(d->x), i), d->remainder->v[i], "");
  return NULL;
}

// (x / y) · y = x − x % y, if nothing else needs the quotient: one correction of it and the product are saved.
static LLVMValueRef multiple_below(Cg *c, const Value *x, const Value *y, LLVMValueRef quotient) {
  const Op *div = x->def;
  if (!div || !is_quotient(div) || op_operand(div, 1) != y || !value_has_one_use(x)) return NULL;
  if (!LLVMIsABinaryOperator(quotient)) return wide_multiple_below(c, div, quotient);
  const LLVMOpcode opcode = LLVMGetInstructionOpcode(quotient);
  if (opcode != LLVMSDiv && opcode != LLVMUDiv) return NULL;
  LLVMValueRef from = LLVMGetOperand(quotient, 0), by = LLVMGetOperand(quotient, 1);
  if (LLVMIsAConstantInt(by)) return NULL;
  return LLVMBuildSub(c->b, from, LLVMBuildBinOp(c->b, opcode == LLVMSDiv ? LLVMSRem : LLVMURem, from, by, ""), "");
}

SCALAR_EMITTER(muli) {
  const Value *x = op_operand(op, 0), *y = op_operand(op, 1);
  LLVMValueRef below = multiple_below(c, x, y, in[0]);
  if (!below) below = multiple_below(c, y, x, in[1]);
  return below ? below : LLVMBuildMul(c->b, in[0], in[1], "");
}
