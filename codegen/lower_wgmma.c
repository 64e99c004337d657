// wgmma: one inline assembly per group, so that LLVM carries the accumulators through it once and not once per instruction; the op's
// tile is cut into m64nNkK instructions over its warpgroups. Operands in shared memory are named by descriptors, whose strides are those of the
// swizzled tile layouts.
//
// Order within an op: fence, all instructions, commit, and, unless the op is `async`, a wait. What is read after a wait
// passes through an assembly behind it: only so does LLVM see that the wait makes it valid.
#include <stdio.h>
#include <string.h>

#include "codegen/cg.h"

enum { FEW = 16 };   // operands of one assembly, where there is a choice: for each of them LLVM looks through all

typedef struct {
  const char *types;       // ".f32.f16.f16"
  uint32_t k;              // of one instruction
  uint32_t elem_bytes;     // of the operands
  bool has_transpose, has_scale;
  bool packed_acc;         // f16 accumulators: two in a register
  const char *reg;         // constraint of an accumulator register
  LLVMTypeRef type;
} WgmmaKind;

static WgmmaKind wgmma_kind(Cg *c, const Op *op, ScalarKind a, ScalarKind b, ScalarKind acc) {
  WgmmaKind w = {.reg = "f", .type = c->t_f32, .has_scale = true, .elem_bytes = scalar_bits(a) / 8};
  w.k = 32 / w.elem_bytes;
  bool half = acc == SC_F16;
  switch (a) {
  case SC_F16: w.types = half ? ".f16.f16.f16" : ".f32.f16.f16", w.has_transpose = true; break;
  case SC_BF16: w.types = ".f32.bf16.bf16", w.has_transpose = true; break;
  case SC_F32: w.types = ".f32.tf32.tf32"; break;
  case SC_I8:
    w.types = op_int(op, ATTR_SIGNED, 1) ? ".s32.s8.s8" : ".s32.u8.u8", w.has_scale = false;
    w.reg = "r", w.type = c->t_i32;
    break;
  case SC_F8E4M3:
  case SC_F8E5M2: {
    static const char *const pairs[2][2][2] = {{{".f32.e4m3.e4m3", ".f32.e4m3.e5m2"}, {".f32.e5m2.e4m3", ".f32.e5m2.e5m2"}},
                                               {{".f16.e4m3.e4m3", ".f16.e4m3.e5m2"}, {".f16.e5m2.e4m3", ".f16.e5m2.e5m2"}}};
    w.types = pairs[half][a == SC_F8E5M2][b == SC_F8E5M2];
    break;
  }
  default: cg_unsupported(c, op, "no wgmma instruction for this type");
  }
  if (half) w.packed_acc = true, w.reg = "r", w.type = c->t_i32;
  return w;
}

// ---- descriptors ----

typedef struct {
  LLVMValueRef base;       // i64: address and strides of the tile's start
  bool k_major;
  uint32_t chunk;          // bytes of the contiguous axis that lie together
  uint32_t lines;          // extent of the other axis: a chunk is that many lines
  uint32_t elem_bytes;
} Operand;

static const Layout *swizzled(Cg *c, const Type *t, uint32_t span, uint32_t fast) {
  uint32_t order[2] = {fast, 1 - fast};
  return layout_make_shared_swizzled(c->ctx, 2, t->shape, type_elem_bytes(type_elem(t)) * 8, span, order);
}

// k_axis: which axis of the buffer is K.
static Operand make_operand(Cg *c, const Op *op, Value *buf, uint32_t k_axis) {
  static const uint32_t spans[] = {128, 64, 32, 0}, modes[] = {1, 2, 3, 0};
  const Type *t = buf->type;
  Operand o = {.elem_bytes = type_elem_bytes(type_elem(t))};
  uint32_t fast = 0, i = 0;
  for (; i < 8; i++) {
    fast = i & 1;
    if (swizzled(c, t, spans[i / 2], fast) == t->layout) break;
  }
  if (i == 8) cg_unsupported(c, op, "an operand's buffer has none of the layouts that wgmma reads");
  uint32_t span = spans[i / 2];
  o.k_major = fast == k_axis;
  o.chunk = span ? span : 16;
  o.lines = (uint32_t)t->shape[1 - fast];
  // Strides: between groups of eight lines, and between chunks. Without swizzling the two change places for operands
  // that are contiguous along M or N.
  uint32_t group = 8 * o.chunk, next_chunk = o.lines * o.chunk, lbo, sbo;
  if (span) {
    lbo = o.k_major ? 16 : next_chunk;
    sbo = group;
  } else {
    lbo = o.k_major ? next_chunk : group;
    sbo = o.k_major ? group : next_chunk;
  }
  uint64_t constant = (uint64_t)(lbo >> 4 & 0x3fff) << 16 | (uint64_t)(sbo >> 4 & 0x3fff) << 32 | (uint64_t)modes[i / 2] << 62;
  LLVMValueRef address = LLVMBuildLShr(c->b, LLVMBuildAnd(c->b, cg_smem_addr(c, cg_scalar(buf)), cg_i32(c, 0x3ffff), ""), cg_i32(c, 4), "");
  o.base = LLVMBuildOr(c->b, LLVMBuildZExt(c->b, address, c->t_i64, ""), cg_i64(c, constant), "");
  return o;
}

// Bytes from the tile's start to element (outer, k); outer along M or N. Swizzling works on absolute address bits, so
// plain offsets inside a line are right.
static uint32_t operand_offset(const Operand *o, uint32_t outer, uint32_t k) {
  uint32_t fast = (o->k_major ? k : outer) * o->elem_bytes, line = o->k_major ? outer : k;
  return fast / o->chunk * o->lines * o->chunk + line * o->chunk + fast % o->chunk;
}

static LLVMValueRef at_offset(Cg *c, LLVMValueRef base, LLVMValueRef warpgroup_part, uint32_t bytes) {
  LLVMValueRef d = LLVMBuildAdd(c->b, base, warpgroup_part, "");
  return bytes ? LLVMBuildAdd(c->b, d, cg_i64(c, bytes >> 4), "") : d;
}

// The part of the offset that the warp bits from the third on contribute: i64, in units of 16 bytes.
static LLVMValueRef warpgroup_offset(Cg *c, const Operand *o, const Layout *acc, bool rows, LLVMValueRef warp) {
  LLVMValueRef sum = cg_i64(c, 0);
  uint32_t log2_n = acc->log2_size[1];
  for (uint32_t b = 2; b < acc->num_bits[LAYOUT_WARP]; b++) {
    uint32_t flat = layout_basis(acc, LAYOUT_WARP, b), outer = rows ? flat >> log2_n : flat & ((1u << log2_n) - 1);
    uint32_t bytes = operand_offset(o, outer, 0);
    if (!bytes) continue;
    LLVMValueRef bit = LLVMBuildAnd(c->b, LLVMBuildLShr(c->b, warp, cg_i32(c, b), ""), cg_i32(c, 1), "");
    LLVMValueRef part = LLVMBuildMul(c->b, LLVMBuildZExt(c->b, bit, c->t_i64, ""), cg_i64(c, bytes >> 4), "");
    sum = cg_add(c, sum, part);
  }
  return sum;
}

// ---- accumulators ----

static void acc_to_words(Cg *c, const WgmmaKind *w, ScalarKind k, const LLVMValueRef *elems, uint32_t n, LLVMValueRef *words) {
  for (uint32_t i = 0; i < n; i++) {
    if (!w->packed_acc)
      words[i] = elems[i];
    else if (i % 2 == 0)
      words[i / 2] = cg_pack(c, (LLVMValueRef[]){cg_to_storage(c, elems[i], k), cg_to_storage(c, elems[i + 1], k)}, 2, 16);
  }
}

static void acc_from_words(Cg *c, const WgmmaKind *w, ScalarKind k, const LLVMValueRef *words, uint32_t n, LLVMValueRef *elems) {
  for (uint32_t i = 0; i < n; i++) {
    if (!w->packed_acc) {
      elems[i] = words[i];
    } else if (i % 2 == 0) {
      cg_unpack(c, words[i / 2], 2, 16, elems + i);
      for (uint32_t h = 0; h < 2; h++) elems[i + h] = cg_bitcast(c, elems[i + h], c->elem[k]);
    }
  }
}

// Registers of their own for the values, by way of an empty assembly: copies that LLVM needs, because a value is a constant,
// is there twice or lives on, come before it.
static void tie(Cg *c, LLVMValueRef *v, uint32_t n) {
  for (; n > FEW; v += FEW, n -= FEW) tie(c, v, FEW);
  if (n == 0) return;
  Buf k = buf_make(c->arena);
  LLVMTypeRef *types = arena_array(c->arena, LLVMTypeRef, n);
  for (uint32_t i = 0; i < n; i++) {
    types[i] = LLVMTypeOf(v[i]);
    buf_puts(&k, types[i] == c->t_f32 ? (i ? ",=f" : "=f") : (i ? ",=r" : "=r"));
  }
  for (uint32_t i = 0; i < n; i++) buf_printf(&k, ",%u", i);
  LLVMTypeRef result = n == 1 ? types[0] : LLVMStructTypeInContext(c->ll, types, n, false);
  LLVMValueRef call = cg_asm(c, EFFECT_SYNC, "", buf_str(&k), result, v, n);
  for (uint32_t i = 0; i < n; i++) v[i] = n == 1 ? call : LLVMBuildExtractValue(c->b, call, i, "");
}

// Wait for all but `pending` groups; the values in v become valid. They are tied behind the wait: where a value lives on
// beside its waited copy, the moves that this costs then come after the wait.
static void wait_for(Cg *c, uint32_t pending, LLVMValueRef *v, uint32_t n) {
  LLVMValueRef count = cg_i32(c, pending);
  cg_insn(c, INSN_WGMMA_WAIT, c->t_void, &count, 1);
  tie(c, v, n);
}

// ---- sums that a loop holds ----
//
// LLVM takes time for each register of each assembly and of each edge of the flow. Where a loop does nothing with sums but add products
// to them, they have registers of their own, declared and named in the assembly, and LLVM sees values only before and behind the loop.

// A wait behind the loop takes the result, and nothing else does.
static bool is_waited_for(const Op *loop, uint32_t i) {
  const Value *result = &loop->results[i];
  return value_has_one_use(result) && result->uses->user->opcode == OP_WGMMA_WAIT && result->uses->user->parent == loop->parent;
}

// The carried value goes through products alone, and those that the loop leaves in flight are waited for.
static bool holds_sums(const Op *loop, uint32_t i) {
  const Block *body = loop->blocks[0];
  const Value *v = body->args[i + 1];
  bool any = false, in_flight = false;
  for (;; v = &v->uses->user->results[0]) {
    if (!value_has_one_use(v)) return false;
    const Use *use = v->uses;
    const Op *op = use->user;
    if (op->parent != body) return false;
    if (op->opcode == OP_YIELD) return any && use->index == i && (!in_flight || is_waited_for(loop, i));
    if (op->opcode != OP_WGMMA || use->index != 2 || op_attr(op, ATTR_IMPRECISE_ACC)) return false;
    any = true;
    in_flight |= op_int(op, ATTR_ASYNC, 0) != 0;
  }
}

static WgmmaKind kind_of_sums(const Type *t) { return (WgmmaKind){.packed_acc = cg_elem_kind(t) == SC_F16}; }
static uint32_t words_of(const Type *t) { return cg_num_regs(t) / (kind_of_sums(t).packed_acc ? 2 : 1); }
static const char *constraint(Cg *c, LLVMTypeRef t) { return t == c->t_f32 ? "f" : "r"; }

CgValue *cg_hold_sums(Cg *c, const Op *loop, uint32_t i) {
  if (!holds_sums(loop, i)) return NULL;
  const Value *init = op_operand(loop, i + 3);
  const CgValue *from = cg_get(init);
  WgmmaKind kind = kind_of_sums(init->type);
  uint32_t n = words_of(init->type), regs = cg_num_regs(init->type);
  LLVMValueRef *elems = arena_array(c->arena, LLVMValueRef, regs), *words = arena_array(c->arena, LLVMValueRef, n);
  for (uint32_t r = 0; r < regs; r++) elems[r] = cg_reg(from, r);
  acc_to_words(c, &kind, cg_elem_kind(init->type), elems, regs, words);

  CgValue *held = cg_value_new(c, regs);
  held->held = arena_printf(c->arena, "%%sum%u_", c->num_held++);
  LLVMBasicBlockRef here = LLVMGetInsertBlock(c->b);
  LLVMMetadataRef line = LLVMGetCurrentDebugLocation2(c->b);
  LLVMPositionBuilderBefore(c->b, LLVMGetFirstInstruction(c->entry));
  cg_asm(c, EFFECT_SIDE, arena_printf(c->arena, ".reg .b32 %s<%u>;", held->held, n), "", c->t_void, NULL, 0);
  LLVMPositionBuilderAtEnd(c->b, here);
  LLVMSetCurrentDebugLocation2(c->b, line);
  for (uint32_t at = 0; at < n; at += FEW) {
    Buf text = buf_make(c->arena), constraints = buf_make(c->arena);
    LLVMValueRef args[FEW];
    uint32_t num_args = 0;
    for (uint32_t w = at; w < n && w < at + FEW; w++) {
      buf_printf(&text, "%smov.b32 %s%u, ", w > at ? "\n\t" : "", held->held, w);
      if (LLVMIsNull(words[w])) {
        buf_puts(&text, "0;");
        continue;
      }
      buf_printf(&text, "$%u;", num_args);
      buf_printf(&constraints, "%s%s", num_args ? "," : "", constraint(c, LLVMTypeOf(words[w])));
      args[num_args++] = words[w];
    }
    cg_asm(c, EFFECT_SIDE, buf_str(&text), buf_str(&constraints), c->t_void, args, num_args);
  }
  return held;
}

// The sums as values: where no products are in flight.
static CgValue *release_sums(Cg *c, const Type *t, const CgValue *held) {
  WgmmaKind kind = kind_of_sums(t);
  ScalarKind k = cg_elem_kind(t);
  uint32_t n = words_of(t);
  LLVMTypeRef word = kind.packed_acc ? c->t_i32 : c->elem[k], types[FEW];
  LLVMValueRef *words = arena_array(c->arena, LLVMValueRef, n);
  for (uint32_t at = 0; at < n; at += FEW) {
    Buf text = buf_make(c->arena), constraints = buf_make(c->arena);
    uint32_t few = 0;
    for (; few < FEW && at + few < n; few++) {
      types[few] = word;
      buf_printf(&text, "%smov.b32 $%u, %s%u;", few ? "\n\t" : "", few, held->held, at + few);
      buf_printf(&constraints, "%s=%s", few ? "," : "", constraint(c, word));
    }
    LLVMTypeRef result = few == 1 ? word : LLVMStructTypeInContext(c->ll, types, few, false);
    LLVMValueRef call = cg_asm(c, EFFECT_SIDE, buf_str(&text), buf_str(&constraints), result, NULL, 0);
    for (uint32_t i = 0; i < few; i++) words[at + i] = few == 1 ? call : LLVMBuildExtractValue(c->b, call, i, "");
  }
  CgValue *out = cg_value_new(c, held->count);
  acc_from_words(c, &kind, k, words, held->count, out->v);
  return out;
}

CgValue *cg_held_result(Cg *c, const Op *loop, uint32_t i, CgValue *held) {
  return is_waited_for(loop, i) ? held : release_sums(c, loop->results[i].type, held);
}

void emit_wgmma_wait(Cg *c, Op *op) {
  uint32_t pending = (uint32_t)op_int(op, ATTR_COUNT, 0), total = 0, at = 0;
  for (uint32_t i = 0; i < op->num_operands; i++) total += cg_num_regs(op_operand(op, i)->type);
  LLVMValueRef *words = arena_array(c->arena, LLVMValueRef, total + 1);
  for (uint32_t i = 0; i < op->num_operands; i++) {
    const CgValue *x = cg_get(op_operand(op, i));
    if (x->held) continue;
    ScalarKind k = cg_elem_kind(op_operand(op, i)->type);
    WgmmaKind w = kind_of_sums(op_operand(op, i)->type);
    LLVMValueRef *elems = arena_array(c->arena, LLVMValueRef, x->count);
    for (uint32_t r = 0; r < x->count; r++) elems[r] = cg_reg(x, r);
    acc_to_words(c, &w, k, elems, x->count, words + at);
    at += w.packed_acc ? x->count / 2 : x->count;
  }
  wait_for(c, pending, words, at);
  at = 0;
  for (uint32_t i = 0; i < op->num_operands; i++) {
    const Type *t = op_operand(op, i)->type;
    const CgValue *x = cg_get(op_operand(op, i));
    if (x->held) {
      cg_set(op_result(op, i), release_sums(c, t, x));
      continue;
    }
    ScalarKind k = cg_elem_kind(t);
    WgmmaKind w = kind_of_sums(t);
    CgValue *out = cg_value_new(c, cg_num_regs(t));
    acc_from_words(c, &w, k, words + at, out->count, out->v);
    at += w.packed_acc ? out->count / 2 : out->count;
    cg_set(op_result(op, i), out);
  }
}

// ---- the op ----

// Columns of one instruction: as far as the accumulator's registers step along N without a gap, 256 at most.
static uint32_t instruction_columns(const Layout *acc) {
  uint32_t n = 8, bit = 2;
  while (n < 256 && bit < acc->num_bits[LAYOUT_REG] && layout_basis(acc, LAYOUT_REG, bit) == n) n *= 2, bit++;
  return n;
}

typedef struct {
  const WgmmaKind *kind;
  uint32_t n, num_words;
  bool a_in_registers, transpose_a, transpose_b;
} Shape;

typedef struct {
  Cg *c;
  const WgmmaKind *kind;
  Shape shape;
  const Layout *acc, *a_layout;      // a_layout: of A in registers
  Operand a, b;
  LLVMValueRef part_a, part_b;       // what the warpgroup adds to their addresses
  LLVMValueRef *words_a;             // A in registers: one word at each first register
  const char *held;                  // the sums' registers, where a loop holds them
  uint32_t num_blocks, per_insn;     // instructions per step of K; accumulator registers of one
} Product;

// A in registers: words of four registers each, made before the fence.
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

// Registers of A hold pairs, rows g and g + 8, then the K halves; further registers step over K, then M.
static uint32_t operand_register(const Layout *a, uint32_t row, uint32_t k) {
  uint32_t first = 0, flat = row << a->log2_size[1] | k;
  for (uint32_t bit = 0; bit < a->num_bits[LAYOUT_REG]; bit++)
    if (layout_basis(a, LAYOUT_REG, bit) & flat) first |= 1u << bit;
  return first;
}

// One group under construction: the text of its instructions and what they name. $0 … are the accumulators, if no loop holds them; then
// come the operands.
typedef struct {
  Buf text, constraints;
  const char **sums;       // of each block: "%sum0_0, %sum0_1, …"
  LLVMValueRef *args;
  uint32_t num_words, num_args;
} Group;

static const char **list_sums(const Product *p) {
  Arena *arena = p->c->arena;
  uint32_t n = p->shape.num_words;
  const char **lists = arena_array(arena, const char *, p->num_blocks);
  for (uint32_t blk = 0; blk < p->num_blocks; blk++) {
    Buf list = buf_make(arena);
    for (uint32_t i = 0; i < n; i++) buf_printf(&list, "%s%s%u", i ? ", " : "", p->held ? p->held : "$", blk * n + i);
    lists[blk] = buf_str(&list);
  }
  return lists;
}

static uint32_t add_operand(Group *g, const char *how, LLVMValueRef v) {
  buf_printf(&g->constraints, "%s%s", g->constraints.size ? "," : "", how);
  g->args[g->num_args] = v;
  return g->num_words + g->num_args++;
}

// The instruction at block blk and step k; scale: "0", "1" or the operand that decides.
static void add_instruction(const Product *p, Group *g, uint32_t blk, uint32_t k, const char *scale) {
  const Shape *s = &p->shape;
  uint32_t log2_n = p->acc->log2_size[1], flat = layout_apply(p->acc, blk * p->per_insn, 0, 0, 0), row = flat >> log2_n, col = flat & ((1u << log2_n) - 1);
  buf_printf(&g->text, "wgmma.mma_async.sync.aligned.m64n%uk%u%s {%s}, ", s->n, s->kind->k, s->kind->types, g->sums[blk]);
  if (p->words_a) {
    uint32_t first = operand_register(p->a_layout, row, k);
    for (uint32_t i = 0; i < 4; i++) buf_printf(&g->text, "%s$%u", i ? ", " : "{", add_operand(g, "r", p->words_a[first + i * s->kind->k / 8]));
    buf_puts(&g->text, "}");
  } else {
    buf_printf(&g->text, "$%u", add_operand(g, "l", at_offset(p->c, p->a.base, p->part_a, operand_offset(&p->a, row, k))));
  }
  buf_printf(&g->text, ", $%u, %s", add_operand(g, "l", at_offset(p->c, p->b.base, p->part_b, operand_offset(&p->b, col, k))), scale);
  if (s->kind->has_scale) buf_puts(&g->text, ", 1, 1");
  if (s->kind->has_transpose && !s->a_in_registers) buf_printf(&g->text, ", %u", s->transpose_a);
  if (s->kind->has_transpose) buf_printf(&g->text, ", %u", s->transpose_b);
  buf_puts(&g->text, ";\n\t");
}

enum { MAX_SUMS = 224 };   // words of accumulators that a thread's 255 registers hold with what else is needed

// words += A·B over k in [begin, end), as one group. The first step of K scales the words by `scale`, or by the literal when
// that is known.
static void multiply(const Product *p, uint32_t begin, uint32_t end, LLVMValueRef scale, const char *literal, LLVMValueRef *words) {
  Cg *c = p->c;
  uint32_t n = p->num_blocks * p->shape.num_words, instructions = p->num_blocks * ((end - begin) / p->kind->k);
  uint32_t tied = p->held ? 0 : n;
  Group g = {.text = buf_make(c->arena), .constraints = buf_make(c->arena), .sums = list_sums(p), .num_words = tied,
             .args = arena_array(c->arena, LLVMValueRef, n + instructions * (p->words_a ? 5 : 2) + 1)};
  LLVMTypeRef *types = arena_array(c->arena, LLVMTypeRef, n);
  for (uint32_t i = 0; i < tied; i++) {
    types[i] = p->kind->type;
    buf_printf(&g.constraints, "%s=%s", i ? "," : "", p->kind->reg);
  }
  if (!literal) literal = arena_printf(c->arena, "$%u", add_operand(&g, "b", scale));
  buf_puts(&g.text, "wgmma.fence.sync.aligned;\n\t");
  // Sums that registers do not hold at once are spilled, and the instructions waited for one by one: then those of one sum together.
  uint32_t steps = (end - begin) / p->kind->k;
  bool spills = n > MAX_SUMS;
  for (uint32_t i = 0; i < instructions; i++) {
    uint32_t step = spills ? i % steps : i / p->num_blocks, blk = spills ? i / steps : i % p->num_blocks;
    add_instruction(p, &g, blk, begin + step * p->kind->k, step ? "1" : literal);
  }
  buf_puts(&g.text, "wgmma.commit_group.sync.aligned;");
  for (uint32_t i = 0; i < tied; i++) {
    buf_printf(&g.constraints, ",%u", i);
    g.args[g.num_args++] = words[i];
  }
  LLVMTypeRef result = tied ? LLVMStructTypeInContext(c->ll, types, tied, false) : c->t_void;
  LLVMValueRef call = cg_insn_text(c, INSN_WGMMA, buf_str(&g.text), buf_str(&g.constraints), result, g.args, g.num_args);
  for (uint32_t i = 0; i < tied; i++) words[i] = LLVMBuildExtractValue(c->b, call, i, "");
}

// fp8 products are summed with few bits: after every `terms` of them the sum goes to f32 registers of its own.
static void multiply_precisely(const Product *p, uint32_t depth, uint32_t terms, LLVMValueRef scale, bool from_zero, LLVMValueRef *words) {
  Cg *c = p->c;
  uint32_t n = p->num_blocks * p->shape.num_words;
  LLVMValueRef *partial = arena_array(c->arena, LLVMValueRef, n), zero = LLVMConstNull(c->t_f32);
  for (uint32_t i = 0; i < n; i++)
    if (from_zero) words[i] = zero;
    else if (scale) words[i] = LLVMBuildSelect(c->b, scale, words[i], zero, "");
  for (uint32_t k = 0; k < depth; k += terms) {
    for (uint32_t i = 0; i < n; i++) partial[i] = LLVMGetUndef(p->kind->type);
    multiply(p, k, k + terms < depth ? k + terms : depth, NULL, "0", partial);
    wait_for(c, 0, partial, n);
    for (uint32_t i = 0; i < n; i++) words[i] = LLVMBuildFAdd(c->b, words[i], partial[i], "");
  }
}

static bool is_all_zero(const CgValue *v, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    if (!LLVMIsNull(cg_reg(v, i))) return false;
  return true;
}

// Whether a register for each may need moves. Computed values may turn out to be equal later; what comes out of an assembly or over
// an edge does not.
static bool may_need_moves(const LLVMValueRef *v, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    if (!LLVMIsAPHINode(v[i]) && !LLVMIsAExtractValueInst(v[i])) return true;
    for (uint32_t k = 0; k < i; k++)
      if (v[i] == v[k]) return true;
  }
  return false;
}

void emit_wgmma(Cg *c, Op *op) {
  Value *a = op_operand(op, 0), *b = op_operand(op, 1), *use_c = op_operand(op, 3);
  const Type *ct = op_result(op, 0)->type;
  const CgValue *init = cg_get(op_operand(op, 2));
  ScalarKind ka = cg_elem_kind(a->type), kb = cg_elem_kind(b->type), kc = cg_elem_kind(ct);
  WgmmaKind kind = wgmma_kind(c, op, ka, kb, kc);
  uint32_t n = instruction_columns(ct->layout), regs = cg_num_regs(ct), depth = (uint32_t)b->type->shape[0];
  bool in_registers = type_is_tensor(a->type);
  Product p = {.c = c, .kind = &kind, .acc = ct->layout, .per_insn = n / 2, .num_blocks = regs / (n / 2), .b = make_operand(c, op, b, 0),
               .part_a = cg_i64(c, 0), .part_b = cg_i64(c, 0), .held = init->held};
  if (depth % kind.k || regs % p.per_insn) cg_unsupported(c, op, "the tile is smaller than an instruction");
  if (in_registers) p.a_layout = a->type->layout;
  else p.a = make_operand(c, op, a, 1);
  if (!kind.has_transpose && ((!in_registers && !p.a.k_major) || !p.b.k_major)) cg_unsupported(c, op, "this type's operands must be contiguous along K");
  p.shape = (Shape){.kind = &kind, .n = n, .num_words = kind.packed_acc ? p.per_insn / 2 : p.per_insn, .a_in_registers = in_registers,
                    .transpose_a = !p.a.k_major, .transpose_b = !p.b.k_major};

  // The warpgroup's part of the tile; the same in all its lanes, and said so by the shuffle.
  if (ct->layout->num_bits[LAYOUT_WARP] > 2) {
    LLVMValueRef warp = cg_shuffle_idx(c, c->warp, cg_i32(c, 0));
    if (!in_registers) p.part_a = warpgroup_offset(c, &p.a, ct->layout, true, warp);
    p.part_b = warpgroup_offset(c, &p.b, ct->layout, false, warp);
  }
  if (in_registers) p.words_a = pack_operand(c, a, kind.k / 8);
  LLVMValueRef scale = use_c ? cg_scalar(use_c) : NULL;
  uint64_t known = 0;
  bool scale_known = !scale || cg_const_int(scale, &known), from_zero = scale && scale_known && !known;
  from_zero |= !init->held && is_all_zero(init, regs);

  uint32_t num_words = init->held ? 0 : p.num_blocks * p.shape.num_words;
  LLVMValueRef *words = arena_array(c->arena, LLVMValueRef, num_words + 1);
  if (from_zero) {
    for (uint32_t i = 0; i < num_words; i++) words[i] = LLVMGetUndef(kind.type);
  } else if (!init->held) {
    LLVMValueRef *elems = arena_array(c->arena, LLVMValueRef, regs);
    for (uint32_t r = 0; r < regs; r++) elems[r] = cg_reg(init, r);
    acc_to_words(c, &kind, kc, elems, regs, words);
    // No move may come between the fence and the first instruction.
    if (!value_has_one_use(op_operand(op, 2)) || may_need_moves(words, num_words)) tie(c, words, num_words);
  }

  int64_t terms = op_int(op, ATTR_IMPRECISE_ACC, depth + 1);
  if (kc == SC_F32 && terms > 0 && terms <= depth) {
    uint32_t steps = (uint32_t)terms / kind.k;
    multiply_precisely(&p, depth, kind.k * (steps ? steps : 1), scale_known ? NULL : scale, from_zero, words);
  } else {
    multiply(&p, 0, depth, scale, from_zero ? "0" : scale_known ? "1" : NULL, words);
    if (!op_int(op, ATTR_ASYNC, 0)) wait_for(c, 0, words, num_words);
  }
  CgValue *out = cg_value_new(c, regs);
  out->held = init->held;
  if (!init->held) acc_from_words(c, &kind, kc, words, regs, out->v);
  cg_set(op_result(op, 0), out);
}
