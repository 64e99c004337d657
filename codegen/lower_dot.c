// dot on multiply-adds: both operands go to scratch, row-major, and then every thread runs a loop over K that reads the
// rows and columns of its own results. Starting from c, it does one fused multiply-add per k in ascending order; floats
// narrower than f32 have f32 accumulators.
#include "codegen/cg.h"

typedef struct {
  Cg *c;
  const uint32_t *reps;    // of the result
  uint32_t regs;
  ScalarKind a, b, acc;
  LLVMTypeRef acc_type;    // in which the accumulators are while the loop runs
  bool is_signed, narrow;  // narrow: the result is of a float type below f32
} Dot;

static Dot dot_of(Cg *c, const Op *op) {
  const Type *result = op->results[0].type;
  Dot d = {.c = c, .reps = cg_reps(c, result), .regs = cg_num_regs(result), .acc = cg_elem_kind(result),
           .a = cg_elem_kind(op_operand(op, 0)->type), .b = cg_elem_kind(op_operand(op, 1)->type),
           .is_signed = op_int(op, ATTR_SIGNED, 1) != 0};
  d.narrow = scalar_is_float(d.acc) && d.acc != SC_F64 && d.acc != SC_F32;
  d.acc_type = d.narrow ? c->t_f32 : c->elem[d.acc];
  return d;
}

static LLVMValueRef widen(const Dot *d, LLVMValueRef x, ScalarKind from) {
  Cg *c = d->c;
  if (LLVMGetTypeKind(d->acc_type) == LLVMIntegerTypeKind)
    return LLVMBuildIntCast2(c->b, x, d->acc_type, d->is_signed, "");
  if (d->acc == SC_F64) return from == SC_F64 ? x : LLVMBuildFPExt(c->b, cg_float_to_f32(c, x, from), c->t_f64, "");
  return cg_float_to_f32(c, x, from);
}

static LLVMValueRef multiply_add(const Dot *d, LLVMValueRef a, LLVMValueRef b, LLVMValueRef acc) {
  Cg *c = d->c;
  if (LLVMGetTypeKind(d->acc_type) == LLVMIntegerTypeKind)
    return LLVMBuildAdd(c->b, LLVMBuildMul(c->b, a, b, ""), acc, "");
  return cg_call_intrinsic(c, "llvm.fma", &(LLVMTypeRef){d->acc_type}, 1, (LLVMValueRef[]){a, b, acc}, 3);
}

// Map from places of the result to flat elements of A (its row, at k = 0) or B (its column, at k = 0).
static PlaceMap operand_map(const Layout *result, uint32_t log2_k, bool is_a) {
  PlaceMap m = placemap_of_layout(result);
  uint32_t r = result->rank, log2_m = result->log2_size[r - 2], log2_n = result->log2_size[r - 1];
  uint32_t *columns[2] = {m.reg, m.thread}, counts[2] = {m.num_reg_bits, m.num_thread_bits};
  for (int k = 0; k < 2; k++)
    for (uint32_t i = 0; i < counts[k]; i++) {
      uint32_t x = columns[k][i], n = x & ((1u << log2_n) - 1), row = x >> log2_n, batch = row >> log2_m;
      columns[k][i] = is_a ? row << log2_k : batch << (log2_k + log2_n) | n;
    }
  m.free_reg = m.free_thread = 0;
  return m;
}

static LLVMValueRef scaled(Cg *c, LLVMValueRef k, uint32_t bytes, LLVMValueRef base) {
  return cg_add(c, cg_op(c, LLVMMul, k, bytes), base);
}

static void store_operand(Cg *c, LLVMValueRef base, const Value *v) {
  PlaceMap m = placemap_of_layout(v->type->layout);
  cg_shared_store(c, base, &m, type_elem(v->type), cg_get(v), NULL);
}

// Adds one step of K. rows: A at all steps of the chunk, of which wide_a has the widened ones; cols: B at this step.
static void add_step(const Dot *d, const CgValue *rows, uint32_t step, LLVMValueRef *wide_a, const CgValue *cols,
                     LLVMValueRef *acc) {
  for (uint32_t r = 0; r < d->regs; r++) {
    if (d->reps[r] != r) continue;
    uint32_t ra = r + step * d->regs;
    // One loaded element serves many results: widen it once. (LLVM merges the widenings that remain.)
    if (!wide_a[ra]) wide_a[ra] = widen(d, rows->v[ra], d->a);
    acc[r] = multiply_add(d, wide_a[ra], widen(d, cols->v[r], d->b), acc[r]);
  }
}

void emit_dot(Cg *c, Op *op) {
  c->has_loops = true;
  Value *a = op_operand(op, 0), *b = op_operand(op, 1), *start = op_operand(op, 2);
  const Type *result = op_result(op, 0)->type;
  uint32_t a_bytes = type_elem_bytes(type_elem(a->type)), b_bytes = type_elem_bytes(type_elem(b->type));
  uint32_t log2_k = a->type->layout->log2_size[a->type->rank - 1], log2_n = result->layout->log2_size[result->rank - 1];
  Dot d = dot_of(c, op);
  const uint32_t *reps = d.reps, regs = d.regs;
  DotScratch at = scratch_dot(op);
  LLVMValueRef scratch = cg_scratch(c, op), a_base = cg_add(c, scratch, cg_i32(c, at.a));
  LLVMValueRef b_base = cg_add(c, scratch, cg_i32(c, at.b));
  store_operand(c, a_base, a);
  store_operand(c, b_base, b);
  cg_barrier(c);

  uint32_t log2_chunk = log2_k < 2 ? log2_k : 2, chunk = 1u << log2_chunk;
  PlaceMap load_a = operand_map(result->layout, log2_k, true), load_b = operand_map(result->layout, log2_k, false);
  for (uint32_t i = 0; i < log2_chunk; i++) load_a.reg[load_a.num_reg_bits++] = 1u << i;

  LLVMValueRef *acc = arena_array(c->arena, LLVMValueRef, regs), *phis = arena_array(c->arena, LLVMValueRef, regs);
  const CgValue *init = cg_get(start);
  for (uint32_t r = 0; r < regs; r++)
    if (reps[r] == r) acc[r] = d.narrow ? cg_float_to_f32(c, cg_reg(init, r), d.acc) : cg_reg(init, r);

  LLVMBasicBlockRef before = LLVMGetInsertBlock(c->b), loop = cg_block(c, "dot"), after = cg_block(c, "dot.end");
  LLVMBuildBr(c->b, loop);
  LLVMPositionBuilderAtEnd(c->b, loop);
  LLVMValueRef k = LLVMBuildPhi(c->b, c->t_i32, "k"), zero = cg_i32(c, 0);
  LLVMAddIncoming(k, &zero, &before, 1);
  for (uint32_t r = 0; r < regs; r++) {
    if (reps[r] != r) continue;
    phis[r] = LLVMBuildPhi(c->b, d.acc_type, "");
    LLVMAddIncoming(phis[r], &acc[r], &before, 1);
    acc[r] = phis[r];
  }
  const CgValue *rows = cg_shared_load(c, scaled(c, k, a_bytes, a_base), &load_a, type_elem(a->type));
  LLVMValueRef *wide_a = arena_array(c->arena, LLVMValueRef, rows->count);
  for (uint32_t step = 0; step < chunk; step++) {
    LLVMValueRef row = cg_add(c, k, cg_i32(c, step));
    const CgValue *cols = cg_shared_load(c, scaled(c, row, b_bytes << log2_n, b_base), &load_b, type_elem(b->type));
    add_step(&d, rows, step, wide_a, cols, acc);
  }
  LLVMBasicBlockRef latch = LLVMGetInsertBlock(c->b);
  LLVMValueRef next = cg_add(c, k, cg_i32(c, chunk));
  LLVMAddIncoming(k, &next, &latch, 1);
  for (uint32_t r = 0; r < regs; r++)
    if (reps[r] == r) LLVMAddIncoming(phis[r], &acc[r], &latch, 1);
  LLVMBuildCondBr(c->b, cg_cmp(c, LLVMIntULT, next, 1u << log2_k), loop, after);
  LLVMPositionBuilderAtEnd(c->b, after);

  CgValue *out = cg_value_new(c, regs);
  for (uint32_t r = 0; r < regs; r++)
    out->v[r] = reps[r] != r ? out->v[reps[r]] : d.narrow ? cg_f32_to_float(c, acc[r], d.acc, ROUND_RNE) : acc[r];
  cg_set(op_result(op, 0), out);
}
