// Reorders blocks that load more than a thread's registers can hold, so that each value is used soon after it is
// loaded.
// Codegen emits one op at a time, so all loads come before any of the arithmetic. The assembler keeps that order and
// spills.
//
// What writes memory, waits, or exchanges data stays in order, and a load stays before what may write after it. Two
// orders are tried. The first places, before each of these instructions, what it needs, operands first. The second
// places, after each load, everything that can then be computed; this suits sums over vectors of loaded numbers. A new
// order is taken only if it holds at most half as many numbers as the block's own. Blocks with products on tensor cores
// stay as they are, because their order was chosen earlier.
#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "codegen/cg.h"
#include "ir/map.h"

typedef struct {
  Cg *c;
  Map number;                // by instruction, from 1
  LLVMValueRef *in;          // in the order in which they were
  bool *placed;
  uint32_t count;
  uint32_t *order, used;     // a new order, and how many have a place in it
  VEC(uint32_t) open;        // whose operands are being placed
  uint32_t *missing;         // by_load: how many operands that get a place in their own time have none yet
} Stream;

static bool has_attribute(LLVMValueRef call, const char *name, size_t len, uint64_t value) {
  const unsigned kind = LLVMGetEnumAttributeKindForName(name, len);
  const LLVMAttributeIndex whole = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
  const LLVMValueRef f = LLVMGetCalledValue(call);
  LLVMAttributeRef a = LLVMGetCallSiteEnumAttribute(call, whole, kind);
  if (!a && LLVMIsAFunction(f)) a = LLVMGetEnumAttributeAtIndex(f, whole, kind);
  return a && LLVMGetEnumAttributeValue(a) == value;
}

static bool touches_no_memory(LLVMValueRef call) { return has_attribute(call, "memory", 6, 0); }

// Whether it reads global memory, and may do so later.
static bool is_load(const Cg *c, LLVMValueRef in) {
  if (LLVMIsALoadInst(in))
    return !LLVMGetVolatile(in) && LLVMGetOrdering(in) == LLVMAtomicOrderingNotAtomic &&
           LLVMTypeOf(LLVMGetOperand(in, 0)) == c->t_gptr;
  return LLVMIsACallInst(in) && LLVMGetMetadata(in, c->load_kind);
}

// Whether the instruction may stand anywhere between its operands and its users.
static bool is_free(LLVMValueRef in) {
  if (LLVMIsACallInst(in)) return touches_no_memory(in) && !has_attribute(in, "convergent", 10, 0);
  return LLVMIsABinaryOperator(in) || LLVMIsAUnaryOperator(in) || LLVMIsACastInst(in) || LLVMIsACmpInst(in) ||
         LLVMIsASelectInst(in) || LLVMIsAGetElementPtrInst(in) || LLVMIsAExtractValueInst(in) ||
         LLVMIsAInsertValueInst(in) || LLVMIsAExtractElementInst(in) || LLVMIsAInsertElementInst(in) ||
         LLVMIsAShuffleVectorInst(in) || LLVMIsAFreezeInst(in);
}

static bool is_product(const Cg *c, LLVMValueRef in) {
  return LLVMIsACallInst(in) && LLVMGetMetadata(in, c->product_kind);
}

// Registers that the result takes; a predicate takes none.
static uint32_t words(const Cg *c, LLVMValueRef in) {
  const LLVMTypeRef t = LLVMTypeOf(in);
  if (t == c->t_void || t == c->t_i1) return 0;
  return (uint32_t)(LLVMStoreSizeOfType(LLVMGetModuleDataLayout(c->mod), t) + 3) / 4;
}

// Places what instruction i needs, then i. Without recursion: sums may be thousands of terms deep.
static void place(Stream *s, uint32_t i) {
  if (s->placed[i]) return;
  s->open.count = 0;
  vec_push(s->c->arena, &s->open, i);
  while (s->open.count) {
    const uint32_t at = s->open.data[s->open.count - 1];
    const uint32_t before = s->open.count;
    for (int k = 0; k < LLVMGetNumOperands(s->in[at]) && s->open.count == before && !s->placed[at]; k++) {
      const MapSlot *known = map_get(&s->number, LLVMGetOperand(s->in[at], (unsigned)k));
      if (known && !s->placed[known->number - 1]) vec_push(s->c->arena, &s->open, (uint32_t)known->number - 1);
    }
    if (s->open.count > before) continue;
    s->open.count--;
    if (s->placed[at]) continue;
    s->placed[at] = true;
    s->order[s->used++] = at;
  }
}

// Whether the instruction stays in order with others of its kind.
static bool is_ordered(const Stream *s, uint32_t i) { return !is_load(s->c, s->in[i]) && !is_free(s->in[i]); }

static bool may_write(LLVMValueRef in) { return !LLVMIsACallInst(in) || !touches_no_memory(in); }

static void place_loads_before(Stream *s, uint32_t *passed, uint32_t i) {
  for (; *passed < i; (*passed)++)
    if (is_load(s->c, s->in[*passed])) place(s, *passed);
}

static void place_rest(Stream *s) {
  for (uint32_t i = 0; i < s->count; i++) place(s, i);
}

static void order_by_need(Stream *s) {
  uint32_t passed = 0;       // the loads before it are placed
  for (uint32_t i = 0; i < s->count; i++) {
    if (!is_ordered(s, i)) continue;
    if (may_write(s->in[i])) place_loads_before(s, &passed, i);
    place(s, i);
  }
  place_rest(s);
}

// ---- the order by loads ----

static const MapSlot *operand_of(const Stream *s, uint32_t i, int k) {
  return map_get(&s->number, LLVMGetOperand(s->in[i], (unsigned)k));
}

// Counts each instruction's operands that get a place in their own time: loads, what stays in order, and what is
// computed of these. The block is in its own order, in which operands come first.
static void count_missing(Stream *s) {
  bool *waits = arena_array(s->c->arena, bool, s->count);
  for (uint32_t i = 0; i < s->count; i++) {
    s->missing[i] = 0;
    for (int k = 0; k < LLVMGetNumOperands(s->in[i]); k++) {
      const MapSlot *known = operand_of(s, i, k);
      s->missing[i] += known && waits[known->number - 1];
    }
    waits[i] = s->missing[i] || !is_free(s->in[i]);
  }
}

// Places what can be computed now that instruction i is, and what of that can be computed then.
static void place_ready(Stream *s, uint32_t i) {
  VEC(uint32_t) ready = {0};
  vec_push(s->c->arena, &ready, i);
  while (ready.count) {
    const uint32_t at = ready.data[--ready.count];
    place(s, at);
    for (LLVMUseRef use = LLVMGetFirstUse(s->in[at]); use; use = LLVMGetNextUse(use)) {
      const MapSlot *user = map_get(&s->number, LLVMGetUser(use));
      if (!user) continue;
      const uint32_t u = (uint32_t)user->number - 1;
      if (!--s->missing[u] && !is_ordered(s, u) && !is_load(s->c, s->in[u])) vec_push(s->c->arena, &ready, u);
    }
  }
}

static uint32_t next_ordered(const Stream *s, uint32_t i) {
  while (i < s->count && !is_ordered(s, i)) i++;
  return i;
}

static void order_by_load(Stream *s) {
  count_missing(s);
  for (uint32_t i = 0, next = next_ordered(s, 0); i < s->count; i++) {
    if (i == next || (is_load(s->c, s->in[i]) && !s->placed[i])) place_ready(s, i);
    if (i == next) next = next_ordered(s, i + 1);
    for (; next < s->count && !s->missing[next] && !may_write(s->in[next]); next = next_ordered(s, next + 1))
      place_ready(s, next);
  }
  place_rest(s);
}

static bool is_used_elsewhere(LLVMValueRef in) {
  for (LLVMUseRef use = LLVMGetFirstUse(in); use; use = LLVMGetNextUse(use)) {
    const LLVMValueRef user = LLVMGetUser(use);
    if (LLVMIsAPHINode(user) || LLVMGetInstructionParent(user) != LLVMGetInstructionParent(in)) return true;
  }
  return false;
}

// The most registers that results of the block take at a time.
static uint32_t most_held(const Stream *s, const uint32_t *order) {
  uint32_t *last = arena_array(s->c->arena, uint32_t, s->count);
  uint32_t *ends = arena_array(s->c->arena, uint32_t, s->count + 1);
  for (uint32_t at = 0; at < s->count; at++)
    for (int k = 0; k < LLVMGetNumOperands(s->in[order[at]]); k++) {
      const MapSlot *known = map_get(&s->number, LLVMGetOperand(s->in[order[at]], (unsigned)k));
      if (known) last[known->number - 1] = at;
    }
  for (uint32_t i = 0; i < s->count; i++)
    ends[is_used_elsewhere(s->in[i]) ? s->count : last[i]] += words(s->c, s->in[i]);
  uint32_t held = 0, most = 0;
  for (uint32_t at = 0; at < s->count; at++) {
    held += words(s->c, s->in[order[at]]);
    most = held > most ? held : most;
    held -= ends[at];
  }
  return most;
}

static void apply(const Stream *s, const uint32_t *order, LLVMValueRef end) {
  LLVMBuilderRef b = s->c->b;
  for (uint32_t at = 0; at < s->count; at++) {
    LLVMValueRef in = s->in[order[at]];
    LLVMInstructionRemoveFromParent(in);
    LLVMPositionBuilderBefore(b, end);
    LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(in));
    LLVMInsertIntoBuilder(b, in);
  }
}

static const uint32_t *ordered(Stream *s, void (*place_all)(Stream *s)) {
  s->used = 0;
  s->order = arena_array(s->c->arena, uint32_t, s->count);
  memset(s->placed, 0, s->count * sizeof *s->placed);
  place_all(s);
  return s->order;
}

static void stream(Cg *c, LLVMBasicBlockRef block) {
  const uint32_t registers = target_registers_of(1, WARP_SIZE * c->module->num_warps);
  const LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
  uint32_t loaded = 0, count = 0;
  for (LLVMValueRef in = LLVMGetFirstInstruction(block); in; in = LLVMGetNextInstruction(in), count++)
    if (is_load(c, in)) loaded += words(c, in);
    else if (is_product(c, in)) return;
  if (loaded <= registers) return;
  Stream s = {.c = c, .in = arena_array(c->arena, LLVMValueRef, count), .placed = arena_array(c->arena, bool, count),
              .missing = arena_array(c->arena, uint32_t, count)};
  uint32_t *as_is = arena_array(c->arena, uint32_t, count);
  for (LLVMValueRef in = LLVMGetFirstInstruction(block); in != end; in = LLVMGetNextInstruction(in)) {
    if (LLVMIsAPHINode(in)) continue;
    as_is[s.count] = s.count;
    s.in[s.count++] = in;
    map_at(c->arena, &s.number, in)->number = s.count;
  }
  const uint32_t *by_need = ordered(&s, order_by_need), *by_load = ordered(&s, order_by_load);
  const uint32_t need = most_held(&s, by_need), load = most_held(&s, by_load);
  if (2 * (need < load ? need : load) <= most_held(&s, as_is)) apply(&s, need <= load ? by_need : by_load, end);
}

void cg_stream_loads(Cg *c) {
  for (LLVMValueRef f = LLVMGetFirstFunction(c->mod); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block))
      stream(c, block);
}
