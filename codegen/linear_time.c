// Rewrites of what LLVM's passes and code generator take superlinear time for. They are here, in the module as LLVM's
// passes leave it, because instcombine undoes most of them.
#include "codegen/cg.h"
#include "ir/map.h"

// instcombine writes an address sum without carries as `or disjoint`. For each such `or` LLVM's CodeGenPrepare looks at
// all of them: its time grows with the square of a thread's elements. An addition means the same and takes linear time;
// instruction selection turns it into an `or` again if that is better.
static void or_to_add(LLVMBuilderRef b, LLVMBasicBlockRef block) {
  for (LLVMValueRef in = LLVMGetFirstInstruction(block), next; in; in = next) {
    next = LLVMGetNextInstruction(in);
    if (LLVMGetInstructionOpcode(in) != LLVMOr || !LLVMGetIsDisjoint(in)) continue;
    LLVMPositionBuilderBefore(b, in);   // takes over the line, too
    LLVMValueRef sum = LLVMBuildNUWAdd(b, LLVMGetOperand(in, 0), LLVMGetOperand(in, 1), "");
    if (LLVMIsAInstruction(sum)) LLVMSetNSW(sum, true);
    LLVMReplaceAllUsesWith(in, sum);
    LLVMInstructionEraseFromParent(in);
  }
}

// Gives all uses of an instruction a frozen copy, which stands before another.
static LLVMValueRef freeze(LLVMBuilderRef b, LLVMValueRef in, LLVMValueRef before) {
  LLVMPositionBuilderBefore(b, before);
  LLVMValueRef frozen = LLVMBuildFreeze(b, in, "");
  LLVMReplaceAllUsesWith(in, frozen);
  LLVMSetOperand(frozen, 0, in);
  return frozen;
}

// LLVM's straight-line strength reduction asks, for every pair of additions, whether one may be poison where the
// other is not, and walks their operands. Most addresses come from a division of the program id: frozen, it ends the
// walk. Comparisons keep the division itself: from the range of a loop's bound LLVM sees that the induction variable
// does not overflow, and turns addresses into sums.
static void freeze_divisions(LLVMBuilderRef b, LLVMBasicBlockRef block) {
  for (LLVMValueRef in = LLVMGetFirstInstruction(block); in; in = LLVMGetNextInstruction(in)) {
    LLVMOpcode op = LLVMGetInstructionOpcode(in);
    if (op != LLVMSDiv && op != LLVMSRem && op != LLVMUDiv && op != LLVMURem) continue;
    LLVMValueRef frozen = freeze(b, in, LLVMGetNextInstruction(in));
    for (LLVMUseRef use = LLVMGetFirstUse(frozen); use;) {
      LLVMValueRef user = LLVMGetUser(use);
      use = LLVMGetNextUse(use);
      for (unsigned i = 0; i < 2 && LLVMIsAICmpInst(user); i++)
        if (LLVMGetOperand(user, i) == frozen) LLVMSetOperand(user, i, in);
    }
  }
}

// LLVM's scalar evolution expands every partial sum into all its terms, and what a loop ends with into all that it
// begins with. On a chain of additions, such as a thread's reduction of integers, and on a chain of loops its time and
// memory are therefore quadratic and worse. A frozen partial sum is one term.
enum { MAX_TERMS = 32 };

static uint64_t num_terms(const Map *terms, LLVMValueRef v) {
  const MapSlot *known = map_get(terms, v);
  return known ? known->number : !LLVMIsAConstant(v);
}

// The terms of what a phi is before its loop or in either branch. A loop adds some. The map has the blocks seen so far.
static uint64_t num_phi_terms(const Map *terms, LLVMValueRef phi) {
  enum { OF_LOOP = 8 };
  uint64_t n = 1;
  bool is_loop = false;
  for (unsigned i = 0, count = LLVMCountIncoming(phi); i < count; i++) {
    const MapSlot *known = map_get(terms, LLVMGetIncomingValue(phi, i));
    if (known && known->number > n) n = known->number;
    is_loop |= !map_get(terms, LLVMGetIncomingBlock(phi, i));
  }
  return n + (is_loop ? OF_LOOP : 0);
}

static bool is_int(LLVMValueRef v) { return LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMIntegerTypeKind; }

static void cut_sums(Cg *c, Map *terms, LLVMBasicBlockRef block) {
  LLVMValueRef first = LLVMGetFirstInstruction(block);   // where copies of phis can stand
  while (LLVMIsAPHINode(first)) first = LLVMGetNextInstruction(first);
  for (LLVMValueRef in = LLVMGetFirstInstruction(block); in; in = LLVMGetNextInstruction(in)) {
    const LLVMOpcode op = LLVMGetInstructionOpcode(in);
    if (op != LLVMAdd && op != LLVMSub && (op != LLVMPHI || !is_int(in))) continue;
    uint64_t n = 0;
    if (op == LLVMPHI) n = num_phi_terms(terms, in);
    else n = num_terms(terms, LLVMGetOperand(in, 0)) + num_terms(terms, LLVMGetOperand(in, 1));
    if (n <= MAX_TERMS) map_at(c->arena, terms, in)->number = n;
    else freeze(c->b, in, op == LLVMPHI ? first : LLVMGetNextInstruction(in));
  }
  map_at(c->arena, terms, block)->number = 1;
}

// Strength reduction also compares every addition and every address with those that share an operand with it. A frozen
// copy of the operand is another one to it, and to nobody else: the copies become one value again right after it. It
// finds less then, and operands with few uses stay as they are.
enum { MAX_ADDRESSES = 128, MAX_ADDITIONS = 256, USES_OF_FROZEN = 64 };

// LLVM's peephole optimiser replaces a register's copies one by one, and for each it visits all uses of the first. Each
// operand of an inline assembly is a copy.
enum { MAX_ASMS = 2048, USES_OF_MOVED = 1024 };

typedef enum { BY_REDUCTION, BY_ASM } UseKind;
typedef VEC(LLVMValueRef) Users;

static bool is_asm(LLVMValueRef in) { return LLVMIsACallInst(in) && LLVMIsAInlineAsm(LLVMGetCalledValue(in)); }

// When several blocks widen the same index, each has its own copy, and strength reduction takes them as one value.
static bool is_elsewhere(LLVMValueRef user, LLVMValueRef v) {
  LLVMBasicBlockRef at = LLVMGetInstructionParent(user), entry = LLVMGetEntryBasicBlock(LLVMGetBasicBlockParent(at));
  return at != (LLVMIsAInstruction(v) ? LLVMGetInstructionParent(v) : entry);
}

static bool is_use(LLVMValueRef user, LLVMValueRef v, UseKind kind) {
  if (kind == BY_ASM) return is_asm(user);
  if (LLVMIsAZExtInst(user) || LLVMIsASExtInst(user)) return is_elsewhere(user, v);
  if (LLVMIsAGetElementPtrInst(user))
    return LLVMGetOperand(user, 0) != v || !LLVMIsAConstantInt(LLVMGetOperand(user, 1));
  return LLVMIsABinaryOperator(user) && LLVMGetInstructionOpcode(user) == LLVMAdd;
}

static uint32_t count_uses(LLVMValueRef v, UseKind kind) {
  uint32_t n = 0;
  for (LLVMUseRef use = LLVMGetFirstUse(v); use; use = LLVMGetNextUse(use)) n += is_use(LLVMGetUser(use), v, kind);
  return n;
}

static LLVMValueRef copy_of(Cg *c, LLVMValueRef v, UseKind kind, uint32_t number) {
  if (kind == BY_REDUCTION) return LLVMBuildFreeze(c->b, v, "");
  CgAsm a = cg_asm_new(c);
  cg_asm_result(&a, LLVMTypeOf(v));
  cg_asm_tie(&a, 0, v);
  buf_printf(&a.text, "// copy %u", number);   // with the same text they would be one value
  return cg_asm_call(&a, INSN_COPY);
}

// Gives every `each` of these uses a copy of v. The copies stand before `at`.
static void split_uses(Cg *c, LLVMValueRef v, LLVMValueRef at, UseKind kind, uint32_t each) {
  Users users = {0};
  for (LLVMUseRef use = LLVMGetFirstUse(v); use; use = LLVMGetNextUse(use))
    if (is_use(LLVMGetUser(use), v, kind)) vec_push(c->arena, &users, LLVMGetUser(use));
  LLVMPositionBuilderBefore(c->b, at);
  LLVMValueRef copy = NULL;
  for (uint32_t n = 0; n < users.count; n++) {
    if (n % each == 0) copy = copy_of(c, v, kind, n / each);
    unsigned operand = 0;   // a user of two operands is in the list twice
    while (LLVMGetOperand(users.data[n], operand) != v) operand++;
    LLVMSetOperand(users.data[n], operand, copy);
  }
}

static void split_value(Cg *c, LLVMValueRef v, LLVMValueRef at) {
  LLVMTypeKind type = LLVMGetTypeKind(LLVMTypeOf(v));
  bool is_base = type == LLVMPointerTypeKind;
  bool is_word = is_base || type == LLVMIntegerTypeKind || type == LLVMFloatTypeKind;
  if (is_word && count_uses(v, BY_ASM) > MAX_ASMS) split_uses(c, v, at, BY_ASM, USES_OF_MOVED);
  if (count_uses(v, BY_REDUCTION) > (is_base ? MAX_ADDRESSES : MAX_ADDITIONS))
    split_uses(c, v, at, BY_REDUCTION, USES_OF_FROZEN);
}

static void split_shared_operands(Cg *c, LLVMValueRef f) {
  LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(f);
  for (unsigned i = 0, n = LLVMCountParams(f); i < n; i++)
    split_value(c, LLVMGetParam(f, i), LLVMGetFirstInstruction(entry));
  for (LLVMBasicBlockRef block = entry; block; block = LLVMGetNextBasicBlock(block)) {
    LLVMValueRef first = LLVMGetFirstInstruction(block);   // where copies of phis can stand
    while (LLVMIsAPHINode(first)) first = LLVMGetNextInstruction(first);
    for (LLVMValueRef in = LLVMGetFirstInstruction(block), next; in; in = next) {
      next = LLVMGetNextInstruction(in);
      split_value(c, in, LLVMIsAPHINode(in) ? first : next);
    }
  }
}

// Strength reduction asks about most pairs whether their operands may be poison, and searches the instructions around
// them for a proof. Arguments, results of inline assembly and loads from global and shared memory are never poison:
// where they are marked, there is no search.
static void mark_defined(Cg *c, LLVMValueRef f) {
  LLVMAttributeRef noundef = LLVMCreateEnumAttribute(c->ll, LLVMGetEnumAttributeKindForName("noundef", 7), 0);
  const unsigned kind = LLVMGetMDKindIDInContext(c->ll, "noundef", 7);
  LLVMValueRef none = LLVMMetadataAsValue(c->ll, LLVMMDNodeInContext2(c->ll, NULL, 0));
  for (unsigned i = 0, n = LLVMCountParams(f); i < n; i++) LLVMAddAttributeAtIndex(f, i + 1, noundef);
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block))
    for (LLVMValueRef in = LLVMGetFirstInstruction(block); in; in = LLVMGetNextInstruction(in)) {
      if (LLVMIsALoadInst(in) && LLVMGetPointerAddressSpace(LLVMTypeOf(LLVMGetOperand(in, 0))) != 0)
        LLVMSetMetadata(in, kind, none);
      else if (is_asm(in) && LLVMTypeOf(in) != c->t_void)
        LLVMAddCallSiteAttribute(in, LLVMAttributeReturnIndex, noundef);
    }
}

void cg_keep_time_linear(Cg *c) {
  for (LLVMValueRef f = LLVMGetFirstFunction(c->mod); f; f = LLVMGetNextFunction(f)) {
    Map terms = {0};
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block)) {
      or_to_add(c->b, block);
      freeze_divisions(c->b, block);
      cut_sums(c, &terms, block);
    }
    if (!LLVMGetFirstBasicBlock(f)) continue;
    split_shared_operands(c, f);
    mark_defined(c, f);
  }
}
