// dot on multiply-adds: both operands go to scratch, row-major, and then every thread runs a loop over K that reads the
// rows and columns of its own results. Large operands go there in parts along K, with a loop each. Starting from c,
// every result is one fused multiply-add per k in ascending order; floats narrower than f32 have f32 accumulators.
#include "codegen/cg.h"

typedef struct {
  Cg *c;
  const uint32_t *reps;    // of the result
  uint32_t regs;
  ScalarKind a, b, acc;
  LLVMTypeRef acc_type;    // in which the accumulators are while the loop runs
  bool is_signed, narrow;  // narrow: the result is of a float type below f32
  const Type *a_type, *b_type, *result;
  LLVMValueRef a_base, b_base;     // where the operands lie in shared memory
  uint32_t log2_k, log2_n;         // log2_k: of a part
} Dot;

static Dot dot_of(Cg *c, const Op *op) {
  const Type *result = op->results[0].type;
  Dot d = {.c = c, .reps = cg_reps(c, result), .regs = cg_num_regs(result), .acc = cg_elem_kind(result),
           .a = cg_elem_kind(op_operand(op, 0)->type), .b = cg_elem_kind(op_operand(op, 1)->type),
           .is_signed = op_int(op, ATTR_SIGNED, 1) != 0, .result = result,
           .a_type = op_operand(op, 0)->type, .b_type = op_operand(op, 1)->type,
           .log2_n = result->layout->log2_size[result->rank - 1]};
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

// Stores those elements of an operand that belong to one part along K. low_bit: where k begins in its flat index.
static void store_part(const Dot *d, LLVMValueRef base, const Value *v, uint32_t low_bit, uint32_t log2_k,
                       uint32_t part) {
  Cg *c = d->c;
  PlaceMap m = placemap_of_layout(v->type->layout), of_part = m;
  const uint32_t first = low_bit + d->log2_k, last = low_bit + log2_k, parts = (1u << (last - first)) - 1;
  uint32_t thread_part[countof(m.thread)], register_part[countof(m.reg)], bit_of[countof(m.reg)];
  uint32_t any_thread = 0, moving = 0;
  of_part.num_reg_bits = of_part.free_reg = 0;
  for (uint32_t i = 0; i < m.num_thread_bits; i++) {
    any_thread |= thread_part[i] = m.thread[i] >> first & parts;
    of_part.thread[i] = (m.thread[i] & ((1u << first) - 1)) | m.thread[i] >> last << first;
  }
  for (uint32_t i = 0; i < m.num_reg_bits; i++) {
    if ((register_part[i] = m.reg[i] >> first & parts)) {
      moving |= 1u << i;
      continue;
    }
    of_part.free_reg |= (m.free_reg >> i & 1) << of_part.num_reg_bits;
    bit_of[of_part.num_reg_bits] = i;
    of_part.reg[of_part.num_reg_bits++] = (m.reg[i] & ((1u << first) - 1)) | m.reg[i] >> last << first;
  }
  LLVMValueRef of_thread = any_thread ? cg_thread_bits(c, thread_part, m.num_thread_bits) : NULL;
  // Each setting of the bits that move from part to part has registers of one part.
  for (uint32_t setting = moving;; setting = (setting - 1) & moving) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < m.num_reg_bits; i++) at ^= setting >> i & 1 ? register_part[i] : 0;
    if (of_thread || at == part) {
      CgValue *registers = cg_value_new(c, 1u << of_part.num_reg_bits);
      for (uint32_t r = 0; r < registers->count; r++) {
        uint32_t from = setting;
        for (uint32_t i = 0; i < of_part.num_reg_bits; i++) from |= (r >> i & 1) << bit_of[i];
        registers->v[r] = cg_reg(cg_get(v), from);
      }
      LLVMValueRef pred = of_thread ? cg_cmp(c, LLVMIntEQ, of_thread, at ^ part) : NULL;
      cg_shared_store(c, base, &of_part, type_elem(v->type), registers, pred);
    }
    if (!setting) return;
  }
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

// The loop over one part along K, whose operands are in scratch. acc: the accumulators before and after.
static void add_part(const Dot *d, LLVMValueRef *acc) {
  Cg *c = d->c;
  const uint32_t log2_chunk = d->log2_k < 2 ? d->log2_k : 2, chunk = 1u << log2_chunk;
  const uint32_t a_bytes = type_elem_bytes(type_elem(d->a_type)), b_bytes = type_elem_bytes(type_elem(d->b_type));
  PlaceMap load_a = operand_map(d->result->layout, d->log2_k, true),
           load_b = operand_map(d->result->layout, d->log2_k, false);
  for (uint32_t i = 0; i < log2_chunk; i++) load_a.reg[load_a.num_reg_bits++] = 1u << i;

  LLVMValueRef *phis = arena_array(c->arena, LLVMValueRef, d->regs);
  LLVMBasicBlockRef before = LLVMGetInsertBlock(c->b), loop = cg_block(c, "dot"), after = cg_block(c, "dot.end");
  LLVMBuildBr(c->b, loop);
  LLVMPositionBuilderAtEnd(c->b, loop);
  LLVMValueRef k = LLVMBuildPhi(c->b, c->t_i32, "k"), zero = cg_i32(c, 0);
  LLVMAddIncoming(k, &zero, &before, 1);
  for (uint32_t r = 0; r < d->regs; r++) {
    if (d->reps[r] != r) continue;
    phis[r] = LLVMBuildPhi(c->b, d->acc_type, "");
    LLVMAddIncoming(phis[r], &acc[r], &before, 1);
    acc[r] = phis[r];
  }
  const CgValue *rows = cg_shared_load(c, scaled(c, k, a_bytes, d->a_base), &load_a, type_elem(d->a_type));
  LLVMValueRef *wide_a = arena_array(c->arena, LLVMValueRef, rows->count);
  for (uint32_t step = 0; step < chunk; step++) {
    LLVMValueRef row = cg_add(c, k, cg_i32(c, step));
    const CgValue *cols =
        cg_shared_load(c, scaled(c, row, b_bytes << d->log2_n, d->b_base), &load_b, type_elem(d->b_type));
    add_step(d, rows, step, wide_a, cols, acc);
  }
  LLVMBasicBlockRef latch = LLVMGetInsertBlock(c->b);
  LLVMValueRef next = cg_add(c, k, cg_i32(c, chunk));
  LLVMAddIncoming(k, &next, &latch, 1);
  for (uint32_t r = 0; r < d->regs; r++)
    if (d->reps[r] == r) LLVMAddIncoming(phis[r], &acc[r], &latch, 1);
  LLVMBuildCondBr(c->b, cg_cmp(c, LLVMIntULT, next, 1u << d->log2_k), loop, after);
  LLVMPositionBuilderAtEnd(c->b, after);
}

void emit_dot(Cg *c, Op *op) {
  c->has_loops = true;
  const Value *a = op_operand(op, 0), *b = op_operand(op, 1);
  const uint32_t log2_k = a->type->layout->log2_size[a->type->rank - 1];
  const DotScratch at = scratch_dot(op);
  Dot d = dot_of(c, op);
  LLVMValueRef scratch = cg_scratch(c, op);
  d.log2_k = at.log2_k;
  d.a_base = cg_add(c, scratch, cg_i32(c, at.a));
  d.b_base = cg_add(c, scratch, cg_i32(c, at.b));

  LLVMValueRef *acc = arena_array(c->arena, LLVMValueRef, d.regs);
  const CgValue *init = cg_get(op_operand(op, 2));
  for (uint32_t r = 0; r < d.regs; r++)
    if (d.reps[r] == r) acc[r] = d.narrow ? cg_float_to_f32(c, cg_reg(init, r), d.acc) : cg_reg(init, r);
  for (uint32_t part = 0; part < 1u << (log2_k - at.log2_k); part++) {
    if (part) cg_barrier(c);   // after the reads of the last part
    store_part(&d, d.a_base, a, 0, log2_k, part);
    store_part(&d, d.b_base, b, d.log2_n, log2_k, part);
    cg_barrier(c);
    add_part(&d, acc);
  }

  CgValue *out = cg_value_new(c, d.regs);
  for (uint32_t r = 0; r < d.regs; r++)
    out->v[r] = d.reps[r] != r ? out->v[d.reps[r]] : d.narrow ? cg_f32_to_float(c, acc[r], d.acc, ROUND_RNE) : acc[r];
  cg_set(op_result(op, 0), out);
}
