// wgmma: the op's tile is cut into m64nNkK instructions over its warpgroups. One inline assembly has them all, so
// that LLVM carries the accumulators through it once and not once per instruction.
//
// Order within an op: fence, all instructions, commit, and a wait, unless the op is `async` and LLVM optimises. What is
// read after a wait passes through an assembly after it: only then does LLVM see that the wait makes it valid.
#include "codegen/wgmma.h"

typedef struct {
  const char *types;       // ".f32.f16.f16"
  uint32_t k;              // of one instruction
  bool has_transpose, has_scale;
} Kind;

static Kind kind_of(Cg *c, const Op *op, ScalarKind a, ScalarKind b, ScalarKind acc) {
  Kind w = {.has_scale = true, .k = 256 / scalar_bits(a)};
  bool half = acc == SC_F16;
  switch (a) {
  case SC_F16: w.types = half ? ".f16.f16.f16" : ".f32.f16.f16", w.has_transpose = true; break;
  case SC_BF16: w.types = ".f32.bf16.bf16", w.has_transpose = true; break;
  case SC_F32: w.types = ".f32.tf32.tf32"; break;
  case SC_I8: w.types = op_int(op, ATTR_SIGNED, 1) ? ".s32.s8.s8" : ".s32.u8.u8", w.has_scale = false; break;
  case SC_F8E4M3:
  case SC_F8E5M2: {
    static const char *const pairs[2][2][2] = {
      {{".f32.e4m3.e4m3", ".f32.e4m3.e5m2"}, {".f32.e5m2.e4m3", ".f32.e5m2.e5m2"}},
      {{".f16.e4m3.e4m3", ".f16.e4m3.e5m2"}, {".f16.e5m2.e4m3", ".f16.e5m2.e5m2"}},
    };
    w.types = pairs[half][a == SC_F8E5M2][b == SC_F8E5M2];
    break;
  }
  default: cg_unsupported(c, op, "no wgmma instruction for this type");
  }
  return w;
}

typedef struct {
  Cg *c;
  Kind kind;
  const Type *acc;
  const Layout *a_layout;            // of A in registers
  WgmmaDescriptor a, b;
  LLVMValueRef *words_a;             // A in registers: one word at each first register; NULL: A is in shared memory
  const char *pinned;                // the accumulators' registers, if a loop has pinned them
  uint32_t n, num_insns;             // columns of an instruction; instructions per step of K
  uint32_t insn_regs, insn_words;    // accumulators of one instruction: registers of the layout, words
} Wgmma;

enum {
  MAX_WORDS = 224,         // of accumulators that fit into a thread's 255 registers beside its other values
  NARROW = 128,            // columns of an instruction if they do not fit, and a block has several warpgroups
};

static bool accumulators_fit(const Type *acc, uint32_t regs) { return wgmma_num_words(acc, regs) <= MAX_WORDS; }

// Packs A in registers to words of k_width elements, before the fence.
static LLVMValueRef *pack_operand(Cg *c, const Value *a, uint32_t k_width) {
  const CgValue *v = cg_get(a);
  ScalarKind kind = cg_elem_kind(a->type);
  LLVMValueRef *words = arena_array(c->arena, LLVMValueRef, v->count);
  for (uint32_t r = 0; r < v->count; r += k_width) {
    LLVMValueRef parts[4];
    for (uint32_t i = 0; i < k_width; i++) parts[i] = cg_to_storage(c, cg_reg(v, r + i), kind);
    words[r] = cg_pack(c, parts, k_width, 32 / k_width);
  }
  return words;
}

// The register of A that holds element (row, k). Registers hold pairs, rows g and g + 8, then the K halves; further
// ones step over K, then M.
static uint32_t operand_register(const Layout *a, uint32_t row, uint32_t k) {
  uint32_t first = 0, flat = row << a->log2_size[1] | k;
  for (uint32_t bit = 0; bit < a->num_bits[LAYOUT_REG]; bit++)
    if (layout_basis(a, LAYOUT_REG, bit) & flat) first |= 1u << bit;
  return first;
}

// The accumulators of each instruction, as its text names them: "%sum0_0, %sum0_1, …", or "$0, $1, …".
static const char **list_accumulators(const Wgmma *p) {
  Arena *arena = p->c->arena;
  const char **lists = arena_array(arena, const char *, p->num_insns);
  for (uint32_t insn = 0; insn < p->num_insns; insn++) {
    Buf list = buf_make(arena);
    for (uint32_t i = 0; i < p->insn_words; i++)
      buf_printf(&list, "%s%s%u", i ? ", " : "", p->pinned ? p->pinned : "$", insn * p->insn_words + i);
    lists[insn] = buf_str(&list);
  }
  return lists;
}

// Instruction `insn` at step k. acc: the list of its accumulators; scale: "0", "1" or the operand that decides.
static void add_instruction(const Wgmma *p, CgAsm *a, uint32_t insn, uint32_t k, const char *acc, const char *scale) {
  const Kind *kind = &p->kind;
  uint32_t log2_n = p->acc->layout->log2_size[1], flat = layout_apply(p->acc->layout, insn * p->insn_regs, 0, 0, 0);
  uint32_t row = flat >> log2_n, col = flat & ((1u << log2_n) - 1);
  buf_printf(&a->text, "wgmma.mma_async.sync.aligned.m64n%uk%u%s {%s}, ", p->n, kind->k, kind->types, acc);
  if (p->words_a) {
    uint32_t first = operand_register(p->a_layout, row, k);
    for (uint32_t i = 0; i < 4; i++)
      buf_printf(&a->text, "%s$%u", i ? ", " : "{", cg_asm_arg(a, p->words_a[first + i * kind->k / 8]));
    buf_puts(&a->text, "}");
  } else {
    buf_printf(&a->text, "$%u", cg_asm_arg(a, wgmma_descriptor_at(p->c, &p->a, row, k)));
  }
  buf_printf(&a->text, ", $%u, %s", cg_asm_arg(a, wgmma_descriptor_at(p->c, &p->b, col, k)), scale);
  if (kind->has_scale) buf_puts(&a->text, ", 1, 1");
  if (kind->has_transpose && !p->words_a) buf_printf(&a->text, ", %u", !wgmma_is_k_major(&p->a));
  if (kind->has_transpose) buf_printf(&a->text, ", %u", !wgmma_is_k_major(&p->b));
  buf_puts(&a->text, ";\n\t");
}

// words += A·B over k in [begin, end), as one group. The first step of K scales the words by `scale`, or by the
// literal if that is known. A pinned accumulator has no words.
static void multiply(const Wgmma *p, uint32_t begin, uint32_t end, LLVMValueRef scale, const char *literal,
                     LLVMValueRef *words) {
  Cg *c = p->c;
  uint32_t n = p->num_insns * p->insn_words, steps = (end - begin) / p->kind.k, tied = p->pinned ? 0 : n;
  const char **acc = list_accumulators(p);
  CgAsm a = cg_asm_new(c);
  for (uint32_t i = 0; i < tied; i++) cg_asm_result(&a, wgmma_word_type(c, p->acc));
  if (!literal) literal = arena_printf(c->arena, "$%u", cg_asm_arg(&a, scale));
  buf_puts(&a.text, "wgmma.fence.sync.aligned;\n\t");
  // If the accumulators do not fit into registers at once, ptxas spills them and waits for each instruction. In this
  // case all steps of K of one instruction come together.
  const bool spills = !accumulators_fit(p->acc, p->num_insns * p->insn_regs);
  for (uint32_t i = 0; i < p->num_insns * steps; i++) {
    uint32_t step = spills ? i % steps : i / p->num_insns, insn = spills ? i / steps : i % p->num_insns;
    add_instruction(p, &a, insn, begin + step * p->kind.k, acc[insn], step ? "1" : literal);
  }
  buf_puts(&a.text, "wgmma.commit_group.sync.aligned;");
  for (uint32_t i = 0; i < tied; i++) cg_asm_tie(&a, i, words[i]);
  LLVMValueRef call = cg_asm_call(&a, INSN_WGMMA);
  cg_mark(c, call, c->product_kind);
  for (uint32_t i = 0; i < tied; i++) words[i] = cg_asm_get(c, call, i);
}

// The tensor cores add fp8 products with few bits: after every `depth` of them the partial accumulators are added to
// `words`, which are f32.
static void multiply_precisely(const Wgmma *p, uint32_t k_end, uint32_t depth, LLVMValueRef scale, bool from_zero,
                               LLVMValueRef *words) {
  Cg *c = p->c;
  uint32_t n = p->num_insns * p->insn_words;
  LLVMValueRef *partial = arena_array(c->arena, LLVMValueRef, n), zero = LLVMConstNull(c->t_f32);
  for (uint32_t i = 0; i < n; i++)
    if (from_zero) words[i] = zero;
    else if (scale) words[i] = cg_select(c, scale, words[i], zero);
  for (uint32_t k = 0; k < k_end; k += depth) {
    for (uint32_t i = 0; i < n; i++) partial[i] = LLVMGetUndef(c->t_f32);
    multiply(p, k, k + depth < k_end ? k + depth : k_end, NULL, "0", partial);
    wgmma_wait(c, 0, partial, n);
    for (uint32_t i = 0; i < n; i++) words[i] = LLVMBuildFAdd(c->b, words[i], partial[i], "");
  }
}

static bool is_all_zero(const CgValue *v) {
  for (uint32_t i = 0; i < v->count; i++)
    if (!LLVMIsNull(cg_reg(v, i))) return false;
  return true;
}

// Whether LLVM may need moves to give each value a register of its own. Computed values may turn out to be equal
// later; what comes out of an assembly or over an edge does not.
static bool may_need_moves(const LLVMValueRef *v, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    if (!LLVMIsAPHINode(v[i]) && !LLVMIsAExtractValueInst(v[i])) return true;
    for (uint32_t k = 0; k < i; k++)
      if (v[i] == v[k]) return true;
  }
  return false;
}

static LLVMValueRef *initial_words(const Wgmma *p, const Value *init, bool from_zero) {
  Cg *c = p->c;
  uint32_t n = p->num_insns * p->insn_words;
  if (!from_zero) {
    LLVMValueRef *words = wgmma_acc_to_words(c, init->type, cg_get(init));
    // No move may come between the fence and the first instruction.
    if (!value_has_one_use(init) || may_need_moves(words, n)) wgmma_tie(c, words, n);
    return words;
  }
  LLVMValueRef *words = arena_array(c->arena, LLVMValueRef, n);
  for (uint32_t i = 0; i < n; i++) words[i] = LLVMGetUndef(wgmma_word_type(c, p->acc));
  return words;
}

static Wgmma wgmma_of(Cg *c, const Op *op) {
  Value *a = op_operand(op, 0), *b = op_operand(op, 1);
  const Type *acc = op->results[0].type;
  bool in_registers = type_is_tensor(a->type);
  Wgmma p = {.c = c, .acc = acc, .n = wgmma_columns(acc->layout), .pinned = cg_get(op_operand(op, DOT_ACC))->pinned};
  p.kind = kind_of(c, op, cg_elem_kind(a->type), cg_elem_kind(b->type), cg_elem_kind(acc));
  // ptxas spills the accumulators of whole instructions, to make room for another one's. It also waits for each
  // instruction; meanwhile tensor cores work for another warpgroup.
  if (acc->layout->num_bits[LAYOUT_WARP] > 2 && !accumulators_fit(acc, cg_num_regs(acc)) && p.n > NARROW) p.n = NARROW;
  p.insn_regs = p.n / 2;
  p.insn_words = wgmma_num_words(acc, p.insn_regs);
  p.num_insns = cg_num_regs(acc) / p.insn_regs;
  p.b = wgmma_descriptor_make(c, op, b, 0, p.n);
  if (b->type->shape[0] % p.kind.k || cg_num_regs(acc) % p.insn_regs)
    cg_unsupported(c, op, "the tile is smaller than an instruction");
  if (in_registers) p.a_layout = a->type->layout;
  else p.a = wgmma_descriptor_make(c, op, a, 1, 64);
  if (!p.kind.has_transpose && ((!in_registers && !wgmma_is_k_major(&p.a)) || !wgmma_is_k_major(&p.b)))
    cg_unsupported(c, op, "this type's operands must be contiguous along K");
  // The shuffle says that the warpgroup's part of the tile is the same in all its lanes.
  if (acc->layout->num_bits[LAYOUT_WARP] > 2) {
    LLVMValueRef warp = cg_shuffle_idx(c, c->warp, cg_i32(c, 0));
    if (!in_registers) wgmma_descriptor_split(c, &p.a, acc->layout, true, warp);
    wgmma_descriptor_split(c, &p.b, acc->layout, false, warp);
  }
  if (in_registers) p.words_a = pack_operand(c, a, p.kind.k / 8);
  return p;
}

void emit_wgmma(Cg *c, Op *op) {
  const Value *init = op_operand(op, DOT_ACC), *use_c = op_operand(op, DOT_USE_ACC);
  uint32_t depth = (uint32_t)op_operand(op, 1)->type->shape[0];
  Wgmma p = wgmma_of(c, op);
  LLVMValueRef scale = use_c ? cg_scalar(use_c) : NULL;
  uint64_t known = 0;
  bool scale_known = !scale || cg_const_int(scale, &known), from_zero = scale && scale_known && !known;
  from_zero |= !p.pinned && is_all_zero(cg_get(init));
  LLVMValueRef *words = p.pinned ? NULL : initial_words(&p, init, from_zero);

  int64_t terms = op_int(op, ATTR_IMPRECISE_ACC, depth + 1);
  if (cg_elem_kind(p.acc) == SC_F32 && terms > 0 && terms <= depth) {
    uint32_t steps = (uint32_t)terms / p.kind.k;
    multiply_precisely(&p, depth, p.kind.k * (steps ? steps : 1), scale_known ? NULL : scale, from_zero, words);
  } else {
    multiply(&p, 0, depth, scale, from_zero ? "0" : scale_known ? "1" : NULL, words);
    // Without optimisation LLVM copies values freely, and an accumulator in flight must not be copied.
    bool in_flight = op_int(op, ATTR_ASYNC, 0) && c->options->opt_level;
    if (!in_flight) wgmma_wait(c, 0, words, p.pinned ? 0 : p.num_insns * p.insn_words);
  }
  CgValue *pinned = cg_get(init);
  cg_set(op_result(op, 0), p.pinned ? pinned : wgmma_acc_from_words(c, p.acc, words));
}
