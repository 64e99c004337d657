// dot and dot_shared, on multiply-adds. Each thread reads the rows and columns of its own results from shared memory:
// of dot_shared from the operands' buffers; of dot from scratch, row-major, where both operands go first, large ones in
// parts along K. Starting from c, every result is one fused multiply-add per k in ascending order; floats narrower than
// f32 have f32 accumulators.
#include "codegen/cg.h"

typedef struct {
  Cg *c;
  const uint32_t *reps;    // of the result
  uint32_t regs;
  ScalarKind a, b, acc;
  LLVMTypeRef acc_type;    // in which the accumulators are while the loop runs
  bool is_signed, narrow;  // narrow: the result is of a float type below f32
  const Type *a_type, *b_type, *result;
  uint32_t log2_k, log2_n;         // log2_k: of what is in shared memory
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

// The place of a flat index, of whose bits `places` says where each lies; NULL: in row-major order.
static uint32_t place_of(uint32_t index, const uint32_t *places) {
  uint32_t at = 0;
  for (uint32_t x = index; places && x; x &= x - 1) at ^= places[__builtin_ctz(x)];
  return places ? at : index;
}

// One step of K after the other reads a row of A's elements and a column of B's. Up to 32 steps are unrolled, if a loop's
// body then has no more than MOST multiply-adds: the assembler holds more elements than help where it sees more steps.
// The other bits of k, the highest, count the loop.
enum { MOST = 1024, LOG2_MOST_STEPS = 5, LOG2_GROUP = 2 };   // of a group, elements are read together if they are vectors

// An operand in shared memory. map: from a thread's registers of the result to the operand's elements at k = 0.
typedef struct {
  PlaceMap map;
  LLVMValueRef base;
  const Type *elem;
  uint32_t steps[LAYOUT_MAX_BITS];   // by bit of k: what the place differs by
  CgValue *group;                    // the elements read last
} Operand;

// places: where each bit of the operand's flat index lies; NULL: in row-major order.
static Operand operand_of(const Dot *d, bool is_a, LLVMValueRef base, const uint32_t *places) {
  const Layout *result = d->result->layout;
  Operand o = {.map = placemap_of_layout(result), .base = base, .elem = type_elem(is_a ? d->a_type : d->b_type)};
  const uint32_t log2_m = result->log2_size[result->rank - 2];
  uint32_t *columns[2] = {o.map.reg, o.map.thread}, counts[2] = {o.map.num_reg_bits, o.map.num_thread_bits};
  for (int k = 0; k < 2; k++)
    for (uint32_t i = 0; i < counts[k]; i++) {
      const uint32_t x = columns[k][i], n = x & ((1u << d->log2_n) - 1), row = x >> d->log2_n, batch = row >> log2_m;
      columns[k][i] = place_of(is_a ? row << d->log2_k : batch << (d->log2_k + d->log2_n) | n, places);
    }
  for (uint32_t i = 0; i < d->log2_k; i++) o.steps[i] = place_of(1u << (is_a ? i : d->log2_n + i), places);
  o.map.free_reg = o.map.free_thread = 0;
  return o;
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

// Reads what a thread needs of the operand at the steps from `step` on, a power of two of them. The register of result
// register r at step i is r + i * d->regs.
static CgValue *read_steps(const Dot *d, const Operand *o, uint32_t step, uint32_t log2_steps) {
  PlaceMap m = o->map;
  for (uint32_t i = 0; i < d->log2_k; i++)
    if (step >> i & 1) m.first ^= o->steps[i];
  for (uint32_t i = 0; i < log2_steps; i++) m.reg[m.num_reg_bits++] = o->steps[i];
  return cg_shared_load(d->c, o->base, &m, o->elem);
}

// Gives what a thread needs of the operand at a step. Those of a group are read together if they lie side by side.
static LLVMValueRef *elements_at(const Dot *d, Operand *o, uint32_t step, uint32_t log2_steps) {
  const uint32_t log2_group = o->steps[0] == 1 ? (uint32_t)min_i64(log2_steps, LOG2_GROUP) : 0,
                 in_group = step & ((1u << log2_group) - 1);
  if (!in_group) o->group = read_steps(d, o, step, log2_group);
  return &o->group->v[in_group * d->regs];
}

static void add_steps(const Dot *d, Operand *a, Operand *b, uint32_t log2_steps, LLVMValueRef *acc) {
  for (uint32_t step = 0; step < 1u << log2_steps; step++) {
    LLVMValueRef *x = elements_at(d, a, step, log2_steps), *y = elements_at(d, b, step, log2_steps);
    // One loaded element serves many results: LLVM merges their widenings.
    for (uint32_t r = 0; r < d->regs; r++)
      if (d->reps[r] == r) acc[r] = multiply_add(d, widen(d, x[r], d->a), widen(d, y[r], d->b), acc[r]);
  }
}

// Lets the highest bits of k, from `from` on, come from k.
static void start_at(const Dot *d, Operand *o, LLVMValueRef k, uint32_t from) {
  Cg *c = d->c;
  const uint32_t log2_bytes = log2_u32(type_elem_bytes(o->elem));
  LLVMValueRef start = o->map.start;
  for (uint32_t i = from; i < d->log2_k; i++) {
    LLVMValueRef bit = cg_op(c, LLVMAnd, cg_op(c, LLVMLShr, k, i), 1),
                 part = cg_op(c, LLVMMul, bit, o->steps[i] << log2_bytes);
    start = start ? cg_xor(c, start, part) : part;
    o->map.moved |= o->steps[i];
  }
  o->map.start = start;
}

// Adds the products at all steps. acc: the accumulators before and after.
static void add_product(const Dot *d, Operand a, Operand b, LLVMValueRef *acc) {
  Cg *c = d->c;
  uint32_t log2_steps = (uint32_t)min_i64(d->log2_k, LOG2_MOST_STEPS), distinct = 0;
  for (uint32_t r = 0; r < d->regs; r++) distinct += d->reps[r] == r;
  while (log2_steps > LOG2_GROUP && distinct << log2_steps > MOST) log2_steps--;
  if (log2_steps == d->log2_k) {
    add_steps(d, &a, &b, log2_steps, acc);
    return;
  }
  c->has_loops = true;
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
  start_at(d, &a, k, log2_steps);
  start_at(d, &b, k, log2_steps);
  add_steps(d, &a, &b, log2_steps, acc);
  LLVMBasicBlockRef latch = LLVMGetInsertBlock(c->b);
  LLVMValueRef next = cg_add(c, k, cg_i32(c, 1u << log2_steps));
  LLVMAddIncoming(k, &next, &latch, 1);
  for (uint32_t r = 0; r < d->regs; r++)
    if (d->reps[r] == r) LLVMAddIncoming(phis[r], &acc[r], &latch, 1);
  LLVMBuildCondBr(c->b, cg_cmp(c, LLVMIntULT, next, 1u << d->log2_k), loop, after);
  LLVMPositionBuilderAtEnd(c->b, after);
}

static LLVMValueRef *accumulators(const Dot *d, const Value *init) {
  Cg *c = d->c;
  LLVMValueRef *acc = arena_array(c->arena, LLVMValueRef, d->regs);
  const CgValue *v = cg_get(init);
  for (uint32_t r = 0; r < d->regs; r++)
    if (d->reps[r] == r) acc[r] = d->narrow ? cg_float_to_f32(c, cg_reg(v, r), d->acc) : cg_reg(v, r);
  return acc;
}

static void set_result(const Dot *d, Value *result, LLVMValueRef *acc) {
  Cg *c = d->c;
  CgValue *out = cg_value_new(c, d->regs);
  for (uint32_t r = 0; r < d->regs; r++)
    out->v[r] = d->reps[r] != r ? out->v[d->reps[r]]
                : d->narrow     ? cg_f32_to_float(c, acc[r], d->acc, ROUND_RNE)
                                : acc[r];
  cg_set(result, out);
}

void emit_dot(Cg *c, Op *op) {
  const Value *a = op_operand(op, 0), *b = op_operand(op, 1);
  const uint32_t log2_k = a->type->layout->log2_size[a->type->rank - 1];
  const DotScratch at = scratch_dot(op);
  Dot d = dot_of(c, op);
  LLVMValueRef scratch = cg_scratch(c, op);
  d.log2_k = at.log2_k;
  LLVMValueRef a_base = cg_add(c, scratch, cg_i32(c, at.a)), b_base = cg_add(c, scratch, cg_i32(c, at.b));
  LLVMValueRef *acc = accumulators(&d, op_operand(op, DOT_ACC));
  for (uint32_t part = 0; part < 1u << (log2_k - at.log2_k); part++) {
    if (part) cg_barrier(c);   // after the reads of the last part
    store_part(&d, a_base, a, 0, log2_k, part);
    store_part(&d, b_base, b, d.log2_n, log2_k, part);
    cg_barrier(c);
    add_product(&d, operand_of(&d, true, a_base, NULL), operand_of(&d, false, b_base, NULL), acc);
  }
  set_result(&d, op_result(op, 0), acc);
}

static Operand operand_in_buffer(const Dot *d, const Op *op, bool is_a) {
  const Value *v = op_operand(op, is_a ? 0 : 1);
  const Layout *l = v->type->layout;
  uint32_t places[LAYOUT_MAX_BITS];
  if (!layout_right_inverse(l, places)) cg_unsupported(d->c, op, "the buffer's layout has holes");
  Operand o = operand_of(d, is_a, cg_scalar(v), places);
  o.map.whole_bits = layout_whole_bits(l);
  for (; o.map.num_pads < l->num_pads; o.map.num_pads++) {
    o.map.pad[o.map.num_pads].interval = l->pad[o.map.num_pads].interval;
    o.map.pad[o.map.num_pads].by = l->pad[o.map.num_pads].by;
  }
  return o;
}

void emit_dot_shared(Cg *c, Op *op) {
  Dot d = dot_of(c, op);
  d.log2_k = d.a_type->layout->log2_size[d.a_type->rank - 1];
  LLVMValueRef *acc = accumulators(&d, op_operand(op, DOT_ACC));
  add_product(&d, operand_in_buffer(&d, op, true), operand_in_buffer(&d, op, false), acc);
  set_result(&d, op_result(op, 0), acc);
}
