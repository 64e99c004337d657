// mma.sync: register operands of layout_make_mma_operand, accumulators of layout_make_mma_acc. The tile is cut into
// m16n8kK instructions (f64 below sm_90: each as four m8n8k4); the layouts' columns say which registers belong to
// one. If the tile is narrower than an instruction, lanes and instruction rows beyond it repeat the tile, and nobody
// reads what they give.
#include <string.h>

#include "codegen/cg.h"
#include "ir/gf2.h"

typedef struct {
  const char *shape, *in, *acc;  // text of the instruction
  InsnId id;
  uint32_t k, k_width;           // of one instruction; elements per 32-bit register (f64: 1, in 64 bits)
  bool packed_acc;               // f16 accumulators: two in a register
  bool by_quarters;              // m16n8k8 as four m8n8k4
  bool as_f16;                   // fp8: m16n8k32 as two m16n8k16 of f16
} MmaKind;

// sm_90 to sm_103 have tensor core instructions of fp8 for wgmma and tcgen05 only. For mma of fp8 the assembler writes
// conversions to f16, two instructions of f16 whose accumulators begin at zero, and four additions.
static bool lacks_fp8(const Cg *c) { return c->target->sm >= 90 && c->target->sm < 120; }

static MmaKind mma_kind(Cg *c, const Op *op, ScalarKind a, ScalarKind b, ScalarKind acc) {
  MmaKind m = {.id = INSN_MMA_SYNC, .acc = "f32"};
  switch (a) {
  case SC_F16: m.shape = "m16n8k16", m.in = ".f16.f16", m.k = 16; break;
  case SC_BF16: m.shape = "m16n8k16", m.in = ".bf16.bf16", m.k = 16; break;
  case SC_F32: m.shape = "m16n8k8", m.in = ".tf32.tf32", m.k = 8; break;
  case SC_F64:
    m.by_quarters = !cg_has_insn(c, INSN_MMA_SYNC_F64);
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
    m.as_f16 = lacks_fp8(c);
    m.shape = "m16n8k32", m.k = 32, m.in = pairs[a == SC_F8E5M2][b == SC_F8E5M2], m.id = INSN_MMA_SYNC_FP8;
    if (m.as_f16) m.shape = "m16n8k16", m.in = ".f16.f16", m.id = INSN_MMA_SYNC;
    break;
  }
  default: cg_unsupported(c, op, "no mma instruction for this type");
  }
  m.k_width = m.k / 8;
  if (acc == SC_F16) m.acc = "f16", m.packed_acc = true;
  return m;
}

// The register whose element differs from that of register 0 by `flat`.
static uint32_t register_of(Cg *c, const Op *op, const Layout *l, uint32_t flat) {
  Gf2Space s = gf2_span(l->basis, l->num_bits[LAYOUT_REG]);
  uint32_t reg = 0;
  if (gf2_reduce(&s, flat, &reg) != 0) cg_unsupported(c, op, "an operand's layout does not fit the accumulator's");
  return reg;
}

// Of f32, the tensor core reads the bits that tf32 has.
static LLVMValueRef pack_word(Cg *c, const CgValue *v, uint32_t first, uint32_t n, ScalarKind k) {
  if (k == SC_F64) return cg_reg(v, first);
  LLVMValueRef parts[4];
  for (uint32_t i = 0; i < n; i++) parts[i] = cg_to_storage(c, cg_reg(v, first + i), k);
  return cg_pack(c, parts, n, 32 / n);
}

// Accumulator i of an instruction: column i mod 2 of a pair, row half i / 2. If the tile has only one of two, it stands
// for both.
static uint32_t fragment_register(uint32_t first, uint32_t i, uint32_t both_cols, uint32_t both_rows) {
  return first + (i & both_cols) + (both_rows ? i >> 1 << both_cols : 0);
}

// One instruction: acc += the words of A · the words of B.
static void add_mma(Cg *c, const MmaKind *kind, LLVMValueRef *a, uint32_t num_a, LLVMValueRef *b, uint32_t num_b,
                    LLVMValueRef *acc, uint32_t num_acc) {
  CgAsm m = cg_asm_new(c);
  for (uint32_t i = 0; i < num_acc; i++) cg_asm_result(&m, LLVMTypeOf(acc[i]));
  for (uint32_t i = 0; i < num_a; i++) cg_asm_arg(&m, a[i]);
  for (uint32_t i = 0; i < num_b; i++) cg_asm_arg(&m, b[i]);
  for (uint32_t i = 0; i < num_acc; i++) cg_asm_tie(&m, i, acc[i]);
  buf_printf(&m.text, "mma.sync.aligned.%s.row.col.%s%s.%s ", kind->shape, kind->acc, kind->in, kind->acc);
  cg_asm_list(&m, "{", 0, num_acc, "}, ");
  cg_asm_list(&m, "{", num_acc, num_a, "}, ");
  cg_asm_list(&m, "{", num_acc + num_a, num_b, "}, ");
  cg_asm_list(&m, "{", num_acc + num_a + num_b, num_acc, "};");
  LLVMValueRef call = cg_asm_call(&m, kind->id);
  cg_mark(c, call, c->product_kind);
  for (uint32_t i = 0; i < num_acc; i++) acc[i] = cg_asm_get(c, call, i);
}

typedef struct {
  Cg *c;
  const Op *op;
  MmaKind kind;
  const Type *at, *bt, *ct;
  const CgValue *a, *b;
  // By first register; made once for all instructions that use them. Of fp8 as f16, the lower and the upper half.
  LLVMValueRef *words_a[2], *words_b[2];
  uint32_t log2_m, log2_n, log2_k;
  uint32_t a_row, a_half, b_half;         // registers from a word to that of row g + 8, of the second half of K
  uint32_t steps[LAYOUT_MAX_BITS], num_steps;   // along K, from one instruction's elements to another's
  // of an instruction's column pairs, and its rows g and g + 8: 1 if the tile has both
  uint32_t both_cols, both_rows;
} Mma;

// Half of a word of fp8 as a word of f16.
static LLVMValueRef half_as_f16(Cg *c, LLVMValueRef word, uint32_t half, ScalarKind k) {
  LLVMValueRef pair = LLVMBuildTrunc(c->b, cg_op(c, LLVMLShr, word, 16 * half), c->t_i16, "");
  return cg_insn(c, k == SC_F8E4M3 ? INSN_CVT_F16X2_E4M3X2 : INSN_CVT_F16X2_E5M2X2, c->t_i32, &pair, 1);
}

static LLVMValueRef word_of(const Mma *m, bool is_a, uint32_t first, uint32_t half) {
  LLVMValueRef *w = &(is_a ? m->words_a : m->words_b)[half][first];
  if (*w) return *w;
  const ScalarKind k = cg_elem_kind(is_a ? m->at : m->bt);
  *w = pack_word(m->c, is_a ? m->a : m->b, first, m->kind.k_width, k);
  if (m->kind.as_f16) *w = half_as_f16(m->c, *w, half, k);
  return *w;
}

// The steps along K of an operand's registers above those of a word, and which register each is.
static uint32_t steps_along_k(const Layout *l, uint32_t shift, uint32_t log2_k, uint32_t word,
                              uint32_t steps[LAYOUT_MAX_BITS], uint32_t regs[LAYOUT_MAX_BITS]) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < l->num_bits[LAYOUT_REG]; i++) {
    const uint32_t k = layout_basis(l, LAYOUT_REG, i) >> shift & ((1u << log2_k) - 1);
    if (k && 1u << i >= word) steps[n] = k, regs[n++] = 1u << i;
  }
  return n;
}

// An instruction's product is a sum over K, in any order that both operands share: two words of each thread, which
// differ by the first step along K, are an instruction's halves, and the other steps lead from one instruction to the
// next. A word may be part of a longer run of K in its thread.
static void find_words(Mma *m) {
  const uint32_t width = m->kind.k_width;
  uint32_t steps[LAYOUT_MAX_BITS], a[LAYOUT_MAX_BITS], b[LAYOUT_MAX_BITS];
  const uint32_t n = steps_along_k(m->at->layout, 0, m->log2_k, width, m->steps, a);
  const bool fits = n && n == steps_along_k(m->bt->layout, m->log2_n, m->log2_k, width, steps, b) &&
                    !memcmp(steps, m->steps, n * sizeof *steps);
  if (!fits) cg_unsupported(m->c, m->op, "the operands' layouts do not fit each other");
  m->a_half = a[0];
  m->b_half = b[0];
  m->a_row = m->both_rows ? register_of(m->c, m->op, m->at->layout, 8u << m->log2_k) : 0;
  m->num_steps = n - 1;
  memmove(m->steps, m->steps + 1, m->num_steps * sizeof *m->steps);
}

// Adds step k to the accumulators of a tile whose first register is given.
static void add_step(const Mma *m, uint32_t first, uint32_t k, LLVMValueRef *acc) {
  uint32_t flat = layout_apply(m->ct->layout, first, 0, 0, 0), col = flat & ((1u << m->log2_n) - 1);
  uint32_t row = flat >> m->log2_n & ((1u << m->log2_m) - 1), batch = flat >> (m->log2_m + m->log2_n);
  uint32_t ra = register_of(m->c, m->op, m->at->layout, batch << (m->log2_m + m->log2_k) | row << m->log2_k | k);
  uint32_t rb = register_of(m->c, m->op, m->bt->layout, batch << (m->log2_k + m->log2_n) | k << m->log2_n | col);
  LLVMValueRef a[4], b[2];
  for (uint32_t half = 0; half < 1u + m->kind.as_f16; half++) {
    for (uint32_t i = 0; i < 4; i++) a[i] = word_of(m, true, ra + (i & 1) * m->a_row + (i >> 1) * m->a_half, half);
    for (uint32_t i = 0; i < 2; i++) b[i] = word_of(m, false, rb + i * m->b_half, half);
    if (!m->kind.by_quarters) add_mma(m->c, &m->kind, a, 4, b, 2, acc, m->kind.packed_acc ? 2 : 4);
  }
  if (!m->kind.by_quarters) return;
  // Rows g and columns of K 0…3, rows g + 8, then the same for 4…7: operands and accumulators as m16n8k8 has them.
  for (uint32_t half = 0; half < 2; half++)
    for (uint32_t r = 0; r < 2; r++) add_mma(m->c, &m->kind, a + r + 2 * half, 1, b + half, 1, acc + 2 * r, 2);
}

void emit_mma(Cg *c, Op *op) {
  const Type *ct = op_result(op, 0)->type;
  const CgValue *init = cg_get(op_operand(op, DOT_ACC));
  Mma m = {.c = c, .op = op, .at = op_operand(op, 0)->type, .bt = op_operand(op, 1)->type, .ct = ct,
           .a = cg_get(op_operand(op, 0)), .b = cg_get(op_operand(op, 1))};
  ScalarKind kc = cg_elem_kind(ct);
  m.kind = mma_kind(c, op, cg_elem_kind(m.at), cg_elem_kind(m.bt), kc);
  m.log2_n = ct->layout->log2_size[ct->rank - 1];
  m.log2_m = ct->layout->log2_size[ct->rank - 2];
  m.log2_k = m.at->layout->log2_size[m.at->rank - 1];
  for (uint32_t half = 0; half < 1u + m.kind.as_f16; half++) {
    m.words_a[half] = arena_array(c->arena, LLVMValueRef, m.a->count);
    m.words_b[half] = arena_array(c->arena, LLVMValueRef, m.b->count);
  }
  m.both_cols = m.log2_n > 0;
  m.both_rows = m.log2_m > 3;
  find_words(&m);

  uint32_t regs = cg_num_regs(ct), log2_each = m.both_cols + m.both_rows, num_tiles = regs >> log2_each;
  LLVMValueRef *accs = arena_array(c->arena, LLVMValueRef, num_tiles * 4);
  for (uint32_t tile = 0; tile < num_tiles; tile++) {
    LLVMValueRef *acc = accs + tile * 4;
    for (uint32_t i = 0; i < 4; i++)
      acc[i] = cg_reg(init, fragment_register(tile << log2_each, i, m.both_cols, m.both_rows));
    for (uint32_t i = 0; i < 2 && m.kind.packed_acc; i++)
      acc[i] = cg_pack(c, (LLVMValueRef[]){cg_to_storage(c, acc[2 * i], kc), cg_to_storage(c, acc[2 * i + 1], kc)}, 2,
                       16);
  }
  // One step of K after the other: neighbouring instructions do not wait for each other, and operands are needed late.
  for (uint32_t i = 0; i < 1u << m.num_steps; i++) {
    const uint32_t k = gf2_apply(m.steps, m.num_steps, i);
    for (uint32_t tile = 0; tile < num_tiles; tile++) add_step(&m, tile << log2_each, k, accs + tile * 4);
  }
  CgValue *out = cg_value_new(c, regs);
  for (uint32_t tile = 0; tile < num_tiles; tile++) {
    LLVMValueRef *acc = accs + tile * 4;
    if (m.kind.packed_acc) {
      LLVMValueRef halves[4];
      for (uint32_t i = 0; i < 2; i++) cg_unpack(c, acc[i], 2, 16, halves + 2 * i);
      for (uint32_t i = 0; i < 4; i++) acc[i] = cg_bitcast(c, halves[i], c->elem[kc]);
    }
    for (uint32_t i = 4; i-- > 0;) out->v[fragment_register(tile << log2_each, i, m.both_cols, m.both_rows)] = acc[i];
  }
  cg_set(op_result(op, 0), out);
}
