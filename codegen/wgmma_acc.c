// Accumulators of wgmma: as LLVM values, which every assembly takes in and gives back, or pinned to PTX registers.
//
// LLVM takes time for each register of each assembly and of each edge of the flow. If a loop does nothing with
// accumulators but add to them, they are pinned: they have registers that an assembly declares and the assemblies
// name, and LLVM sees values only before and after the loop.
#include "codegen/wgmma.h"
#include "ir/loop.h"

enum { FEW = 16 };   // operands of one assembly, where there is a choice: for each of them LLVM looks through all

static bool is_packed(const Type *acc) { return cg_elem_kind(acc) == SC_F16; }
uint32_t wgmma_num_words(const Type *acc, uint32_t regs) { return is_packed(acc) ? regs / 2 : regs; }
LLVMTypeRef wgmma_word_type(Cg *c, const Type *acc) { return is_packed(acc) ? c->t_i32 : cg_elem_type(c, acc); }

LLVMValueRef *wgmma_acc_to_words(Cg *c, const Type *t, const CgValue *v) {
  uint32_t n = wgmma_num_words(t, v->count);
  LLVMValueRef *words = arena_array(c->arena, LLVMValueRef, n);
  for (uint32_t i = 0; i < n; i++) {
    if (!is_packed(t)) {
      words[i] = cg_reg(v, i);
      continue;
    }
    LLVMValueRef pair[2];
    for (uint32_t h = 0; h < 2; h++) pair[h] = cg_to_storage(c, cg_reg(v, 2 * i + h), SC_F16);
    words[i] = cg_pack(c, pair, 2, 16);
  }
  return words;
}

CgValue *wgmma_acc_from_words(Cg *c, const Type *t, const LLVMValueRef *words) {
  CgValue *v = cg_value_new(c, cg_num_regs(t));
  for (uint32_t i = 0; i < wgmma_num_words(t, v->count); i++) {
    if (!is_packed(t)) {
      v->v[i] = words[i];
      continue;
    }
    LLVMValueRef *pair = v->v + 2 * i;
    cg_unpack(c, words[i], 2, 16, pair);
    for (uint32_t h = 0; h < 2; h++) pair[h] = cg_bitcast(c, pair[h], c->t_f16);
  }
  return v;
}

void wgmma_tie(Cg *c, LLVMValueRef *words, uint32_t n) {
  for (; n > FEW; words += FEW, n -= FEW) wgmma_tie(c, words, FEW);
  if (n == 0) return;
  CgAsm a = cg_asm_new(c);
  for (uint32_t i = 0; i < n; i++) cg_asm_result(&a, LLVMTypeOf(words[i]));
  for (uint32_t i = 0; i < n; i++) cg_asm_tie(&a, i, words[i]);
  LLVMValueRef call = cg_asm_call(&a, INSN_WGMMA_TIE);
  for (uint32_t i = 0; i < n; i++) words[i] = cg_asm_get(c, call, i);
}

// The words are tied after the wait: if a word is used beside its waited copy, the moves that this costs then come
// after the wait.
void wgmma_wait(Cg *c, uint32_t pending, LLVMValueRef *words, uint32_t n) {
  LLVMValueRef count = cg_i32(c, pending);
  cg_insn(c, INSN_WGMMA_WAIT, c->t_void, &count, 1);
  wgmma_tie(c, words, n);
}

// ---- pinned accumulators ----

// A wait after the loop takes the result, and nothing else does.
static bool is_waited_for(const Op *loop, uint32_t i) {
  const Value *result = &loop->results[i];
  const Op *user = value_has_one_use(result) ? result->uses->user : NULL;
  return user && user->opcode == OP_WGMMA_WAIT && user->parent == loop->parent;
}

// Whether a dot may still write to the value where it is used. depth: how many ops to look through.
static bool may_be_in_flight(const Value *v, uint32_t depth) {
  const Op *def = v->def, *loop = def ? def : v->block->parent;
  if (def && def->opcode == OP_WGMMA) return op_int(def, ATTR_ASYNC, 0) != 0;
  if (def && def->opcode == OP_WGMMA_WAIT)
    return op_int(def, ATTR_COUNT, 0) != 0 && may_be_in_flight(op_operand(def, v->index), depth);
  if (!loop || loop->num_blocks == 0 || (!def && v->index == 0)) return false;
  if (loop->opcode != OP_FOR || depth == 0) return true;
  const uint32_t i = def ? v->index : v->index - FOR_CARRIED;
  return may_be_in_flight(for_init(loop, i), depth - 1) || may_be_in_flight(for_next(loop, i), depth - 1);
}

// The carried value goes through dots and waits alone, and dots that the loop leaves in flight are waited for. No dot
// may be in flight before the loop: if its registers are moved to the pinned ones meanwhile, ptxas serialises all dots.
static bool can_pin(const Op *loop, uint32_t i) {
  if (may_be_in_flight(for_init(loop, i), 3)) return false;
  const Block *body = loop->blocks[0];
  const Value *v = body->args[i + 1];
  bool any = false, in_flight = false;
  for (;; v = &v->uses->user->results[v->uses->user->opcode == OP_WGMMA_WAIT ? v->uses->index : 0]) {
    if (!value_has_one_use(v)) return false;
    const Use *use = v->uses;
    const Op *op = use->user;
    if (op->parent != body) return false;
    if (op->opcode == OP_YIELD) return any && use->index == i && (!in_flight || is_waited_for(loop, i));
    if (op->opcode == OP_WGMMA_WAIT) {
      in_flight &= op_int(op, ATTR_COUNT, 0) != 0;
      continue;
    }
    if (op->opcode != OP_WGMMA || use->index != 2 || op_attr(op, ATTR_IMPRECISE_ACC)) return false;
    any = true;
    in_flight |= op_int(op, ATTR_ASYNC, 0) != 0;
  }
}

CgValue *wgmma_pin(Cg *c, const Op *loop, uint32_t i) {
  if (!can_pin(loop, i)) return NULL;
  const Value *init = for_init(loop, i);
  uint32_t regs = cg_num_regs(init->type), n = wgmma_num_words(init->type, regs);
  LLVMValueRef *words = wgmma_acc_to_words(c, init->type, cg_get(init));
  CgValue *pinned = cg_value_new(c, regs);
  pinned->pinned = arena_printf(c->arena, "%%sum%u_", c->num_pinned++);
  LLVMBasicBlockRef here = LLVMGetInsertBlock(c->b);
  LLVMMetadataRef line = LLVMGetCurrentDebugLocation2(c->b);
  LLVMPositionBuilderBefore(c->b, LLVMGetFirstInstruction(c->entry));
  CgAsm declare = cg_asm_new(c);
  buf_printf(&declare.text, ".reg .b32 %s<%u>;", pinned->pinned, n);
  cg_asm_call(&declare, INSN_WGMMA_PIN);
  LLVMPositionBuilderAtEnd(c->b, here);
  LLVMSetCurrentDebugLocation2(c->b, line);
  for (uint32_t at = 0; at < n; at += FEW) {
    CgAsm a = cg_asm_new(c);
    for (uint32_t w = at; w < n && w < at + FEW; w++) {
      buf_printf(&a.text, "%smov.b32 %s%u, ", w > at ? "\n\t" : "", pinned->pinned, w);
      if (LLVMIsNull(words[w])) buf_puts(&a.text, "0;");
      else buf_printf(&a.text, "$%u;", cg_asm_arg(&a, words[w]));
    }
    cg_asm_call(&a, INSN_WGMMA_PIN);
  }
  return pinned;
}

// The accumulators as values again. No dots are in flight.
static CgValue *unpin(Cg *c, const Type *t, const CgValue *pinned) {
  uint32_t n = wgmma_num_words(t, pinned->count);
  LLVMValueRef *words = arena_array(c->arena, LLVMValueRef, n);
  for (uint32_t at = 0; at < n; at += FEW) {
    CgAsm a = cg_asm_new(c);
    uint32_t few = n - at < FEW ? n - at : FEW;
    for (uint32_t i = 0; i < few; i++) {
      uint32_t number = cg_asm_result(&a, wgmma_word_type(c, t));
      buf_printf(&a.text, "%smov.b32 $%u, %s%u;", i ? "\n\t" : "", number, pinned->pinned, at + i);
    }
    LLVMValueRef call = cg_asm_call(&a, INSN_WGMMA_PIN);
    for (uint32_t i = 0; i < few; i++) words[at + i] = cg_asm_get(c, call, i);
  }
  return wgmma_acc_from_words(c, t, words);
}

CgValue *wgmma_pinned_result(Cg *c, const Op *loop, uint32_t i, CgValue *pinned) {
  return is_waited_for(loop, i) ? pinned : unpin(c, loop->results[i].type, pinned);
}

// Whether the wait is of those through which a loop's pinned accumulator goes; after the loop it takes the result.
static bool stays_pinned(const Value *acc) { return !acc->def || !op_is(acc->def, TRAIT_LOOP); }

void emit_wgmma_wait(Cg *c, Op *op) {
  if (c->module->as_written && wgmma_wait_follows_work(op)) cg_insn(c, INSN_HOLD_ORDER, c->t_void, NULL, 0);
  VEC(LLVMValueRef) all = {0};
  for (uint32_t i = 0; i < op->num_operands; i++) {
    const CgValue *x = cg_get(op_operand(op, i));
    if (x->pinned) continue;
    const Type *t = op_operand(op, i)->type;
    const LLVMValueRef *words = wgmma_acc_to_words(c, t, x);
    for (uint32_t w = 0; w < wgmma_num_words(t, x->count); w++) vec_push(c->arena, &all, words[w]);
  }
  wgmma_wait(c, (uint32_t)op_int(op, ATTR_COUNT, 0), all.data, all.count);
  const LLVMValueRef *words = all.data;
  for (uint32_t i = 0; i < op->num_operands; i++) {
    const Type *t = op_operand(op, i)->type;
    const CgValue *x = cg_get(op_operand(op, i));
    if (x->pinned) {
      cg_set(op_result(op, i), stays_pinned(op_operand(op, i)) ? (CgValue *)x : unpin(c, t, x));
      continue;
    }
    cg_set(op_result(op, i), wgmma_acc_from_words(c, t, words));
    words += wgmma_num_words(t, x->count);
  }
}
