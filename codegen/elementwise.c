// Lowering of elementwise ops: see elementwise.h.
#include "codegen/elementwise.h"

enum { MAX_OPERANDS = 4 };
enum { LONG_RUN = 24, MANY_REGS = 8, REGS_AT_ONCE = 4 };     // as many at once hide the latency of each op

// For each register the lowest one that holds the same element, or one that is equal by `constancy`.
static const uint32_t *equal_registers(Cg *c, const Op *op) {
  const Type *t = op->results[0].type;
  const Layout *l = t->layout;
  const uint32_t *reps = cg_reps(c, t);
  const Attr *constancy = op_attr(op, ATTR_CONSTANCY);
  if (!constancy) return reps;
  uint32_t equal = 0;        // register bits that move within a run of equal elements
  for (uint32_t axis = 0; axis < t->rank; axis++) {
    uint8_t bits[LAYOUT_MAX_BITS];
    uint32_t steps = layout_vector_bits(l, axis, bits);
    for (uint32_t i = 0; i < steps && (int64_t)2 << i <= constancy->ints[axis]; i++) equal |= 1u << bits[i];
  }
  uint32_t n = 1u << l->num_bits[LAYOUT_REG], *out = arena_array(c->arena, uint32_t, n);
  for (uint32_t r = 0; r < n; r++) {
    uint32_t s = r, lower = reps[r & ~equal];
    while (lower != s) {
      s = lower;
      lower = reps[s & ~equal];
    }
    out[r] = s;
  }
  return out;
}

// Whether the machine does the op on two elements at a time.
static bool is_packed(const Cg *c, const Op *op, ScalarKind k) {
  return op_is(op, TRAIT_HALVES) && (k == SC_F16 || (k == SC_BF16 && c->target->has_bf16));
}

// Pairs registers of neighbouring elements, which loads and stores have in one word, too. (LLVM would also choose
// pairs, but with the halves exchanged.)
static void lower_packed(Cg *c, const Op *op, ScalarKind k, const CgValue *const *in, const uint32_t *reps,
                         CgValue *out) {
  uint8_t bits[LAYOUT_MAX_BITS];
  const Layout *l = op->results[0].type->layout;
  uint32_t step = 0, most = 0;
  for (uint32_t axis = 0; axis < l->rank; axis++) {
    uint32_t n = layout_vector_bits(l, axis, bits);
    if (n < most || !n) continue;
    most = n;
    step = 1u << bits[0];
  }
  for (uint32_t r = 0; step && r < out->count; r++) {
    uint32_t mate = r ^ step;
    if (r & step || reps[r] != r || reps[mate] != mate) continue;
    LLVMValueRef x[4];
    for (uint32_t i = 0; i < op->num_operands; i++)
      x[i] = cg_vector(c, (LLVMValueRef[]){cg_reg(in[i], r), cg_reg(in[i], mate)}, 2);
    LLVMValueRef pair = cg_lower_element(c, op, k, x);
    out->v[r] = cg_element(c, pair, 0);
    out->v[mate] = cg_element(c, pair, 1);
  }
}

static bool all_splat(const Op *op) {
  bool splat = true;
  for (uint32_t i = 0; i < op->num_operands; i++) splat &= cg_get(op_operand(op, i))->splat;
  return splat;
}

// Register r of the result.
static void lower_register(Cg *c, const RunStep *s, uint32_t r) {
  if (s->out->v[r]) return;
  if (s->reps[r] != r) {
    s->out->v[r] = s->out->v[s->reps[r]];
    return;
  }
  LLVMValueRef x[MAX_OPERANDS];
  for (uint32_t i = 0; i < s->op->num_operands; i++) x[i] = cg_reg(s->in[i], r);
  s->out->v[r] = cg_lower_element(c, s->op, s->k, x);
}

static RunStep step_of(Cg *c, Op *op) {
  RunStep s = {.op = op, .k = cg_elem_kind(op_operand(op, op_subject(op->opcode))->type)};
  for (uint32_t i = 0; i < op->num_operands; i++) s.in[i] = cg_get(op_operand(op, i));
  s.reps = equal_registers(c, op);
  return s;
}

void cg_lower_elementwise(Cg *c, Op *op) {
  Value *result = op_result(op, 0);
  const uint32_t n = cg_num_regs(result->type);
  if (all_splat(op) || !type_is_tensor(result->type)) {
    LLVMValueRef x[MAX_OPERANDS];
    for (uint32_t i = 0; i < op->num_operands; i++) x[i] = cg_get(op_operand(op, i))->v[0];
    ScalarKind k = cg_elem_kind(op_operand(op, op_subject(op->opcode))->type);
    cg_set(result, cg_splat(c, n, cg_lower_element(c, op, k, x)));
    return;
  }
  RunStep s = step_of(c, op);
  if (cg_is_packed_cast(c, op)) {
    cg_lower_packed_cast(c, op, s.reps);
    return;
  }
  if (cg_is_wide_division(c, op)) {
    cg_lower_wide_division(c, op);
    return;
  }
  s.out = cg_value_new(c, n);
  if (is_packed(c, op, s.k)) lower_packed(c, op, s.k, s.in, s.reps, s.out);
  for (uint32_t r = 0; r < n; r++) lower_register(c, &s, r);
  cg_set(result, s.out);
}

// ---- runs ----

static bool is_pending(const Value *v) {
  const CgValue *x = v ? cg_get(v) : NULL;
  return x && !x->splat && !x->pinned && x->count && !x->v[x->count - 1];
}

bool run_is_apart(const Run *run, const Op *op) {
  if (!run->steps.count) return true;
  if (!op_is(op, TRAIT_PURE) || op->num_blocks) return false;
  for (uint32_t i = 0; i < op->num_operands; i++)
    if (is_pending(op_operand(op, i))) return false;
  return true;
}

bool run_take(Cg *c, Run *run, Op *op) {
  if (!op_is(op, TRAIT_ELEMENTWISE) || cg_is_packed_cast(c, op) || cg_is_wide_division(c, op)) return false;
  const Type *t = op->results[0].type;
  const uint32_t n = type_is_tensor(t) ? cg_num_regs(t) : 1;
  const ScalarKind k = cg_elem_kind(op_operand(op, op_subject(op->opcode))->type);
  if (n < MANY_REGS || (run->steps.count && n != run->regs) || is_packed(c, op, k) || all_splat(op)) return false;
  RunStep s = step_of(c, op);
  s.out = cg_value_new(c, n);
  cg_set(op_result(op, 0), s.out);
  run->regs = n;
  vec_push(c->arena, &run->steps, s);
  return true;
}

static void lower_registers(Cg *c, const RunStep *s, uint32_t first, uint32_t end) {
  c->op = s->op;
  c->ctx->current_op = s->op;
  if (c->debug) debug_lines_set(c->debug, s->op);
  for (uint32_t r = first; r < end; r++) lower_register(c, s, r);
}

void run_end(Cg *c, Run *run) {
  const uint32_t at_once = run->steps.count < LONG_RUN ? run->regs : REGS_AT_ONCE;
  for (uint32_t r = 0; r < run->regs; r += at_once)
    VEC_EACH(s, run->steps) lower_registers(c, s, r, r + at_once < run->regs ? r + at_once : run->regs);
  *run = (Run){0};
}
