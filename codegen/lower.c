// The walk over ops and the dispatch table, expanded from the op table: a row without its emitter does not link.
#include "codegen/cg.h"

#include <string.h>

typedef struct {
  ScalarEmitter *scalar;
  void (*whole)(Cg *c, Op *op);
  const char *intrinsic;   // in place of `scalar`
} Emitter;

#define ENTRY_SCALAR(name) {.scalar = emit_##name}
#define ENTRY_WHOLE(name) {.whole = emit_##name}
#define ENTRY_GONE(name) {.whole = NULL}
#define ENTRY_LLVM(name) {.intrinsic = "llvm." #name} ENTRY_NO_MORE
#define ENTRY_NO_MORE(name)
static const Emitter emitters[NUM_OPS] = {
#define OP(id, name, operands, results, blocks, traits, stages, elems, unit, infer, verify, how) \
  [OP_##id] = ENTRY_##how(name),
#include "ir/ops.def"
};

// Lowers one element, or a vector of two halves.
static LLVMValueRef lower_element(Cg *c, const Op *op, ScalarKind k, LLVMValueRef *in) {
  const Emitter *e = &emitters[op->opcode];
  if (e->scalar) return e->scalar(c, op, k, in);
  LLVMTypeRef t = LLVMTypeOf(in[0]);
  return cg_call_intrinsic(c, e->intrinsic, &t, 1, in, op->num_operands);
}

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
  return op_is(op, TRAIT_HALVES) && (k == SC_F16 || (k == SC_BF16 && c->target->sm >= 90));
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
    LLVMValueRef pair = lower_element(c, op, k, x);
    out->v[r] = cg_element(c, pair, 0);
    out->v[mate] = cg_element(c, pair, 1);
  }
}

static void lower_elementwise(Cg *c, Op *op) {
  Value *result = op_result(op, 0);
  uint32_t n = cg_num_regs(result->type), num_in = op->num_operands;
  ScalarKind k = cg_elem_kind(op_operand(op, op_subject(op->opcode))->type);
  const CgValue *in[4];
  bool splat = true, scalar = !type_is_tensor(result->type);
  for (uint32_t i = 0; i < num_in; i++) {
    in[i] = cg_get(op_operand(op, i));
    splat &= in[i]->splat;
  }
  LLVMValueRef x[4];
  if (splat || scalar) {
    for (uint32_t i = 0; i < num_in; i++) x[i] = in[i]->v[0];
    cg_set(result, cg_splat(c, n, lower_element(c, op, k, x)));
    return;
  }
  const uint32_t *reps = equal_registers(c, op);
  if (cg_lower_packed_cast(c, op, reps)) return;
  CgValue *out = cg_value_new(c, n);
  if (is_packed(c, op, k)) lower_packed(c, op, k, in, reps, out);
  for (uint32_t r = 0; r < n; r++) {
    if (out->v[r]) continue;
    if (reps[r] != r) {
      out->v[r] = out->v[reps[r]];
      continue;
    }
    for (uint32_t i = 0; i < num_in; i++) x[i] = cg_reg(in[i], r);
    out->v[r] = lower_element(c, op, k, x);
  }
  cg_set(result, out);
}

void cg_lower_op(Cg *c, Op *op) {
  c->op = op;
  c->ctx->current_op = op;
  if (c->debug) debug_lines_set(c->debug, op);
  const Emitter *e = &emitters[op->opcode];
  if (e->scalar || e->intrinsic)
    lower_elementwise(c, op);
  else if (e->whole)
    e->whole(c, op);
  else
    cg_unsupported(c, op, "must have been lowered by a pass before");
}

void cg_lower_block(Cg *c, Block *b) {
  for (Op *op = b->first; op; op = op->next)
    if (!op_is(op, TRAIT_TERMINATOR)) cg_lower_op(c, op);
}

void cg_inline_region(Cg *c, Block *b, const LLVMValueRef *args, LLVMValueRef *out) {
  for (uint32_t i = 0; i < b->num_args; i++) cg_set_scalar(c, b->args[i], args[i]);
  cg_lower_block(c, b);
  Op *end = block_terminator(b);
  for (uint32_t i = 0; i < end->num_operands; i++) out[i] = cg_scalar(op_operand(end, i));
}
