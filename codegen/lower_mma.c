// mma.sync: register operands of layout_make_mma_operand, accumulators of layout_make_mma_acc. The tile is cut into
// m16n8kK instructions (f64 below sm_90: each as four m8n8k4); which registers belong to one is found in the layouts' columns. Where the tile is narrower than an
// instruction, lanes and instruction rows beyond it repeat the tile, and what they give is left alone.
#include <stdio.h>

#include "codegen/cg.h"
#include "ir/gf2.h"

typedef struct {
  const char *shape, *in, *acc;  // text of the instruction
  InsnId id;
  uint32_t k, k_width;           // of one instruction; elements per 32-bit register (f64: 1, in 64 bits)
  bool packed_acc;               // f16 accumulators: two in a register
  bool by_quarters;              // m16n8k8 as four m8n8k4
} MmaKind;

static MmaKind mma_kind(Cg *c, const Op *op, ScalarKind a, ScalarKind b, ScalarKind acc) {
  MmaKind m = {.id = INSN_MMA_SYNC, .acc = "f32"};
  switch (a) {
  case SC_F16: m.shape = "m16n8k16", m.in = ".f16.f16", m.k = 16; break;
  case SC_BF16: m.shape = "m16n8k16", m.in = ".bf16.bf16", m.k = 16; break;
  case SC_F32: m.shape = "m16n8k8", m.in = ".tf32.tf32", m.k = 8; break;
  case SC_F64:
    m.by_quarters = c->target->sm < 90;
    m.shape = m.by_quarters ? "m8n8k4" : "m16n8k8", m.in = ".f64.f64", m.acc = "f64", m.k = 8;
    m.id = m.by_quarters ? INSN_MMA_SYNC : INSN_MMA_SYNC_F64;
    break;
  case SC_I8:
    m.shape = "m16n8k32", m.k = 32, m.acc = "s32";
    m.in = op_int(op, ATTR_SIGNED, 1) ? ".s8.s8" : ".u8.u8";
    break;
  case SC_F8E4M3:
  case SC_F8E5M2: {
    static const char *const pairs[2][2] = {{".e4m3.e4m3", ".e4m3.e5m2"}, {".e5m2.e4m3", ".e5m2.e5m2"}};
    m.shape = "m16n8k32", m.k = 32, m.in = pairs[a == SC_F8E5M2][b == SC_F8E5M2], m.id = INSN_MMA_SYNC_FP8;
    break;
  }
  default: cg_unsupported(c, op, "no mma instruction for this type");
  }
  m.k_width = m.k / 8;
  if (acc == SC_F16) m.acc = "f16", m.packed_acc = true;
  return m;
}

// The register of a thread that holds the element differing by `flat` from register 0's.
static uint32_t register_of(Cg *c, const Op *op, const Layout *l, uint32_t flat) {
  Gf2Space s = gf2_span(l->basis, l->num_bits[LAYOUT_REG]);
  uint32_t reg = 0;
  if (gf2_reduce(&s, flat, &reg) != 0) cg_unsupported(c, op, "an operand's layout does not fit the accumulator's");
  return reg;
}

static LLVMValueRef pack_word(Cg *c, const CgValue *v, uint32_t first, uint32_t n, ScalarKind k) {
  if (k == SC_F64) return cg_reg(v, first);
  LLVMValueRef parts[4];
  for (uint32_t i = 0; i < n; i++) {
    parts[i] = cg_reg(v, first + i);
    // The tensor core would cut f32 to tf32; rounding to nearest loses less.
    parts[i] = k == SC_F32 ? cg_insn(c, INSN_CVT_TF32_F32, c->t_i32, &parts[i], 1) : cg_to_storage(c, parts[i], k);
  }
  return cg_pack(c, parts, n, 32 / n);
}

// Accumulator i of an instruction: column i mod 2 of a pair, row half i / 2. Where the tile has only one, that stands for both.
static uint32_t fragment_register(uint32_t first, uint32_t i, uint32_t both_cols, uint32_t both_rows) {
  return first + (i & both_cols) + (both_rows ? i >> 1 << both_cols : 0);
}

// Rows g and columns of K 0…3, rows g + 8, then the same for 4…7: operands and sums as m16n8k8 has them.
static void mma_by_quarters(Cg *c, const MmaKind *kind, const LLVMValueRef *args, LLVMValueRef *acc) {
  char text[160];
  snprintf(text, sizeof text, "mma.sync.aligned.%s.row.col.%s%s.%s {$0, $1}, {$2}, {$3}, {$4, $5};", kind->shape, kind->acc, kind->in, kind->acc);
  LLVMTypeRef number = LLVMTypeOf(acc[0]), result = LLVMStructTypeInContext(c->ll, (LLVMTypeRef[]){number, number}, 2, false);
  for (uint32_t k = 0; k < 2; k++)
    for (uint32_t row = 0; row < 2; row++) {
      LLVMValueRef in[] = {args[row + 2 * k], args[4 + k], acc[2 * row], acc[2 * row + 1]};
      LLVMValueRef call = cg_insn_text(c, kind->id, text, "=d,=d,d,d,0,1", result, in, 4);
      for (uint32_t i = 0; i < 2; i++) acc[2 * row + i] = LLVMBuildExtractValue(c->b, call, i, "");
    }
}

void emit_mma(Cg *c, Op *op) {
  const Type *at = op_operand(op, 0)->type, *bt = op_operand(op, 1)->type, *ct = op_result(op, 0)->type;
  const CgValue *a = cg_get(op_operand(op, 0)), *b = cg_get(op_operand(op, 1)), *init = cg_get(op_operand(op, 2));
  ScalarKind ka = cg_elem_kind(at), kb = cg_elem_kind(bt), kc = cg_elem_kind(ct);
  MmaKind kind = mma_kind(c, op, ka, kb, kc);
  uint32_t regs = cg_num_regs(ct), log2_n = ct->layout->log2_size[ct->rank - 1], log2_m = ct->layout->log2_size[ct->rank - 2];
  uint32_t log2_k = at->layout->log2_size[at->rank - 1];
  LLVMTypeRef acc_type = kind.packed_acc ? c->t_i32 : c->elem[kc];
  const char *acc_class = kind.packed_acc || kc == SC_I32 ? "r" : kc == SC_F64 ? "d" : "f", *in_class = kc == SC_F64 ? "d" : "r";
  uint32_t num_acc = kind.packed_acc ? 2 : 4;

  char text[256], constraints[96];
  if (kind.packed_acc) {
    snprintf(text, sizeof text, "mma.sync.aligned.%s.row.col.%s%s.%s {$0, $1}, {$2, $3, $4, $5}, {$6, $7}, {$8, $9};", kind.shape, kind.acc, kind.in, kind.acc);
    snprintf(constraints, sizeof constraints, "=r,=r,r,r,r,r,r,r,0,1");
  } else {
    snprintf(text, sizeof text, "mma.sync.aligned.%s.row.col.%s%s.%s {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$10, $11, $12, $13};", kind.shape,
             kind.acc, kind.in, kind.acc);
    snprintf(constraints, sizeof constraints, "=%s,=%s,=%s,=%s,%s,%s,%s,%s,%s,%s,0,1,2,3", acc_class, acc_class, acc_class, acc_class, in_class, in_class,
             in_class, in_class, in_class, in_class);
  }
  LLVMTypeRef results[4] = {acc_type, acc_type, acc_type, acc_type};
  LLVMTypeRef result = LLVMStructTypeInContext(c->ll, results, num_acc, false);

  // Operand words are made once for all instructions that use them.
  LLVMValueRef *words_a = arena_array(c->arena, LLVMValueRef, a->count), *words_b = arena_array(c->arena, LLVMValueRef, b->count);
  CgValue *out = cg_value_new(c, regs);
  // Of an instruction's rows g and g + 8 and its column pairs, those that the tile has.
  uint32_t both_cols = log2_n > 0, both_rows = log2_m > 3, log2_each = both_cols + both_rows, num_tiles = regs >> log2_each;
  LLVMValueRef *sums = arena_array(c->arena, LLVMValueRef, num_tiles * 4);
  for (uint32_t tile = 0; tile < num_tiles; tile++) {
    LLVMValueRef *acc = sums + tile * 4;
    for (uint32_t i = 0; i < 4; i++) acc[i] = cg_reg(init, fragment_register(tile << log2_each, i, both_cols, both_rows));
    if (kind.packed_acc)
      for (uint32_t i = 0; i < 2; i++)
        acc[i] = cg_pack(c, (LLVMValueRef[]){cg_to_storage(c, acc[2 * i], kc), cg_to_storage(c, acc[2 * i + 1], kc)}, 2, 16);
  }
  // One step of K after the other: neighbouring instructions do not wait for each other, and operands are needed late.
  for (uint32_t k = 0; k < 1u << log2_k; k += kind.k)
    for (uint32_t tile = 0; tile < num_tiles; tile++) {
      uint32_t flat = layout_apply(ct->layout, tile << log2_each, 0, 0, 0), col = flat & ((1u << log2_n) - 1), row = flat >> log2_n & ((1u << log2_m) - 1);
      uint32_t batch = flat >> (log2_m + log2_n);
      uint32_t ra = register_of(c, op, at->layout, batch << (log2_m + log2_k) | row << log2_k | k);
      uint32_t rb = register_of(c, op, bt->layout, batch << (log2_k + log2_n) | k << log2_n | col);
      LLVMValueRef args[10], *acc = sums + tile * 4;
      for (uint32_t i = 0; i < 4; i++) {
        uint32_t first = ra + ((both_rows ? i & 1 : 0) + (i >> 1 << both_rows)) * kind.k_width;
        if (!words_a[first]) words_a[first] = pack_word(c, a, first, kind.k_width, ka);
        args[i] = words_a[first];
      }
      for (uint32_t i = 0; i < 2; i++) {
        uint32_t first = rb + i * kind.k_width;
        if (!words_b[first]) words_b[first] = pack_word(c, b, first, kind.k_width, kb);
        args[4 + i] = words_b[first];
      }
      if (kind.by_quarters) {
        mma_by_quarters(c, &kind, args, acc);
        continue;
      }
      for (uint32_t i = 0; i < num_acc; i++) args[6 + i] = acc[i];
      LLVMValueRef call = cg_insn_text(c, kind.id, text, constraints, result, args, 6 + num_acc);
      for (uint32_t i = 0; i < num_acc; i++) acc[i] = LLVMBuildExtractValue(c->b, call, i, "");
    }
  for (uint32_t tile = 0; tile < num_tiles; tile++) {
    LLVMValueRef *acc = sums + tile * 4;
    if (kind.packed_acc) {
      LLVMValueRef halves[4];
      for (uint32_t i = 0; i < 2; i++) cg_unpack(c, acc[i], 2, 16, halves + 2 * i);
      for (uint32_t i = 0; i < 4; i++) acc[i] = cg_bitcast(c, halves[i], c->elem[kc]);
    }
    for (uint32_t i = 4; i-- > 0;) out->v[fragment_register(tile << log2_each, i, both_cols, both_rows)] = acc[i];
  }
  cg_set(op_result(op, 0), out);
}
