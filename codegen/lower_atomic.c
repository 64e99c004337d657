// Atomics, as inline assembly: LLVM's atomicrmw drops the memory order on this target. Of the threads that hold an
// element only the owner acts; if others need the old value, it goes through scratch. Thread 0 does a scalar atomic for
// the block; barriers order the accesses of the block before a release, and after an acquire whose value is used. Where
// a thread does several atomics for one op, a fence before them releases and one after them acquires: an order at each
// would let it wait for the one before.
#include "codegen/address.h"
#include "ir/loop.h"

static const char *const sems[] = {[SEM_RELAXED] = "relaxed", [SEM_ACQUIRE] = "acquire", [SEM_RELEASE] = "release",
                                   [SEM_ACQ_REL] = "acq_rel"};

static const char *scope_name(const Op *op) {
  static const char *const scopes[] = {[SCOPE_GPU] = "gpu", [SCOPE_CTA] = "cta", [SCOPE_SYS] = "sys"};
  return scopes[op_int(op, ATTR_SCOPE, SCOPE_GPU)];
}

// `add.noftz.f16`, `add.noftz.v2.f16x2`, `max.s32`, `and.b64` … of `words` operands with per_word elements each.
static const char *operation_name(Cg *c, const Op *op, ScalarKind k, uint32_t bits, uint32_t words, uint32_t per_word) {
  static const char *const names[] = {
    [ATOMIC_ADD] = "add.u", [ATOMIC_FADD] = "add", [ATOMIC_MAX] = "max.s", [ATOMIC_MIN] = "min.s",
    [ATOMIC_UMAX] = "max.u", [ATOMIC_UMIN] = "min.u", [ATOMIC_AND] = "and.b", [ATOMIC_OR] = "or.b",
    [ATOMIC_XOR] = "xor.b", [ATOMIC_XCHG] = "exch.b",
  };
  AtomicKind kind = (AtomicKind)op_int(op, ATTR_ATOMIC, ATOMIC_ADD);
  if (op->opcode == OP_ATOMIC_CAS) return arena_printf(c->arena, "cas.b%u", bits);
  if (kind != ATOMIC_FADD) {
    if (bits < 32) cg_unsupported(c, op, "integer atomics need 32 or 64 bits");
    return arena_printf(c->arena, "%s%u", names[kind], bits);
  }
  const char *type = k == SC_F16 ? "f16" : k == SC_BF16 ? "bf16" : k == SC_F32 ? "f32" : k == SC_F64 ? "f64" : NULL;
  if (!type) cg_unsupported(c, op, "no atomic addition for this type");
  const char *vector = words > 1 ? arena_printf(c->arena, "v%u.", words) : "";
  return arena_printf(c->arena, "add.%s%s%s%s", bits == 16 ? "noftz." : "", vector, type, per_word == 2 ? "x2" : "");
}

// One predicated instruction: red, or atom, which returns the old bits (as storage integer; 0 where pred is false).
// Only a red has several operands for as many elements; the two of an atom are compared and stored.
static LLVMValueRef atom(Cg *c, const Op *op, MemSem sem, bool red, bool bf16, const char *name, LLVMValueRef at,
                         LLVMValueRef *operands, uint32_t n, LLVMValueRef pred) {
  LLVMTypeRef t = LLVMTypeOf(operands[0]);
  CgAsm a = cg_asm_new(c);
  if (!red) cg_asm_result(&a, t);
  uint32_t address = cg_asm_arg(&a, at);
  for (uint32_t i = 0; i < n; i++) cg_asm_arg(&a, operands[i]);
  if (pred) buf_printf(&a.text, "@$%u ", cg_asm_arg(&a, pred));
  if (pred && !red) cg_asm_tie(&a, 0, LLVMConstNull(t));
  buf_printf(&a.text, "%s.%s.%s.global.%s %s[$%u], ", red ? "red" : "atom", sems[sem], scope_name(op), name,
             red ? "" : "$0, ", address);
  bool vector = red && n > 1;
  cg_asm_list(&a, vector ? "{" : "", address + 1, n, vector ? "};" : ";");
  InsnId id = vector ? INSN_RED_VECTOR : red ? bf16 ? INSN_RED_BF16 : INSN_RED : bf16 ? INSN_ATOM_BF16 : INSN_ATOM;
  return cg_asm_call(&a, id);
}

// bf16 addition for targets without one: compare-and-swap on the 16 bits.
static LLVMValueRef bf16_add_loop(Cg *c, const Op *op, MemSem sem, LLVMValueRef at, LLVMValueRef bits,
                                  LLVMValueRef pred) {
  c->has_loops = true;
  LLVMBasicBlockRef before = LLVMGetInsertBlock(c->b), start = cg_block(c, "cas.start"), loop = cg_block(c, "cas");
  LLVMBasicBlockRef after = cg_block(c, "cas.end");
  if (pred)
    LLVMBuildCondBr(c->b, pred, start, after);
  else
    LLVMBuildBr(c->b, start);
  LLVMPositionBuilderAtEnd(c->b, start);
  LLVMValueRef first = LLVMBuildLoad2(c->b, c->t_i16, at, "");
  LLVMSetAlignment(first, 2);
  LLVMSetVolatile(first, true);
  LLVMBuildBr(c->b, loop);
  LLVMPositionBuilderAtEnd(c->b, loop);
  LLVMValueRef seen = LLVMBuildPhi(c->b, c->t_i16, "");
  LLVMAddIncoming(seen, &first, &start, 1);
  LLVMValueRef x = cg_float_to_f32(c, cg_bitcast(c, seen, c->t_bf16), SC_BF16);
  LLVMValueRef y = cg_float_to_f32(c, cg_bitcast(c, bits, c->t_bf16), SC_BF16);
  LLVMValueRef sum = cg_f32_to_float(c, LLVMBuildFAdd(c->b, x, y, ""), SC_BF16, ROUND_RNE);
  LLVMValueRef swap[] = {seen, cg_bitcast(c, sum, c->t_i16)};
  LLVMValueRef old = atom(c, op, sem, false, false, "cas.b16", at, swap, 2, NULL);
  LLVMAddIncoming(seen, &old, &loop, 1);
  LLVMBuildCondBr(c->b, LLVMBuildICmp(c->b, LLVMIntEQ, old, seen, ""), after, loop);
  LLVMPositionBuilderAtEnd(c->b, after);
  if (!pred) return old;
  LLVMValueRef r = LLVMBuildPhi(c->b, c->t_i16, ""), zero = cg_int(c->t_i16, 0);
  LLVMAddIncoming(r, &old, &loop, 1);
  LLVMAddIncoming(r, &zero, &before, 1);
  return r;
}

// Gives the owners' old values to every thread that holds a copy of the element.
static CgValue *share_result(Cg *c, const Op *op, const CgValue *old) {
  const Type *t = op->results[0].type;
  PlaceMap store = {0}, load = {0};
  if (type_is_tensor(t)) {
    store = load = placemap_of_layout(t->layout);
    if (!store.free_thread) return (CgValue *)old;
  } else {
    store.num_thread_bits = load.num_thread_bits = log2_u32(c->num_warps * WARP_SIZE);
    store.free_thread = (1u << store.num_thread_bits) - 1;
  }
  LLVMValueRef scratch = cg_scratch(c, op);
  cg_shared_store(c, scratch, &store, type_elem(t), old, NULL);
  cg_barrier(c);
  return cg_shared_load(c, scratch, &load, type_elem(t));
}

typedef struct { const Op *op; bool passed, writes, reads; } Before;

static void look_before(Op *op, void *user) {
  Before *b = user;
  b->passed |= op == b->op;
  if (b->passed || op_is(op, TRAIT_PURE | TRAIT_TERMINATOR | TRAIT_REGION) || op->opcode == OP_ASSUME) return;
  b->writes |= op->opcode != OP_LOAD && op->opcode != OP_BARRIER;
  b->reads |= op->opcode == OP_LOAD;
}

// Whether the value comes out of a reduction, and therefore waits for what every thread has read.
static bool comes_from_reduce(const Value *v, int depth) {
  if (!v->def || depth == 0 || type_is_tensor(v->type)) return false;
  if (v->def->opcode == OP_REDUCE) return true;
  if (!op_is(v->def, TRAIT_ELEMENTWISE)) return false;
  for (uint32_t i = 0; i < v->def->num_operands; i++)
    if (op_operand(v->def, i) && comes_from_reduce(op_operand(v->def, i), depth - 1)) return true;
  return false;
}

// A release by thread 0 must follow the accesses of the whole block. There is nothing to wait for if the kernel has
// only read, and the value depends on all that it read.
static bool release_needs_barrier(const Op *op, const Value *value) {
  if (loop_around(op)) return true;
  Before b = {.op = op};
  block_walk(op->parent->func->body, look_before, &b);
  return b.writes || (b.reads && !comes_from_reduce(value, 16));
}

// Whether the thread does the register's atomic; NULL: always.
static LLVMValueRef active(Cg *c, LLVMValueRef owner, const Value *mask, uint32_t r) {
  return cg_and(c, owner, mask ? cg_reg(cg_get(mask), r) : NULL);
}

// By the threads for which the condition holds; NULL: by all.
static void fence(Cg *c, const Op *op, LLVMValueRef pred) {
  CgAsm a = cg_asm_new(c);
  if (pred) buf_printf(&a.text, "@$%u ", cg_asm_arg(&a, pred));
  buf_printf(&a.text, "fence.acq_rel.%s;", scope_name(op));
  cg_asm_call(&a, INSN_FENCE);
}

enum { MAX_VECTOR = 8 };

static void lower_atomic(Cg *c, Op *op) {
  bool cas = op->opcode == OP_ATOMIC_CAS;
  const Value *subject = op_named(op, OPERAND_VALUE), *mask = op_named(op, OPERAND_MASK);
  const Type *t = subject->type;
  Address a = address_of(c, op);
  MemSem sem = (MemSem)op_int(op, ATTR_SEM, SEM_ACQ_REL);
  AtomicKind kind = (AtomicKind)op_int(op, ATTR_ATOMIC, ATOMIC_ADD);
  ScalarKind k = cg_elem_kind(t);
  // annotate_access gives a width above 1 only if one red can do it.
  uint32_t n = cg_num_regs(t), width = (uint32_t)op_int(op, ATTR_VECTOR, 1);
  uint32_t per_word = width > 1 && a.elem_bytes == 2 ? 2 : 1;
  bool is_scalar = !type_is_tensor(t), want_old = op->num_results && op->results[0].uses;
  bool bf16 = k == SC_BF16 && kind == ATOMIC_FADD && !cas;
  // There is no red of an exchange, nor with acquire semantics.
  bool red = width > 1 || (!want_old && !cas && (sem == SEM_RELAXED || sem == SEM_RELEASE) && kind != ATOMIC_XCHG);
  const uint32_t *reps = cg_reps(c, t);
  const char *name = operation_name(c, op, k, a.elem_bytes * 8, width / per_word, per_word);

  bool release = sem == SEM_RELEASE || sem == SEM_ACQ_REL, acquire = sem == SEM_ACQUIRE || sem == SEM_ACQ_REL;
  if (is_scalar && release && release_needs_barrier(op, subject)) cg_barrier(c);
  LLVMValueRef owner = cg_layout_owner(c, t), any = NULL;
  uint32_t num_atomics = 0;
  for (uint32_t r = 0; r < n; r += width) num_atomics += reps[r] == r;
  bool fences = num_atomics > 1 && sem != SEM_RELAXED;
  for (uint32_t r = 0; fences && r < n; r += width) {
    if (reps[r] != r) continue;
    LLVMValueRef pred = active(c, owner, mask, r);
    any = any ? LLVMBuildOr(c->b, any, pred, "") : pred;
  }
  if (fences && release) fence(c, op, any);
  CgValue *old = cg_value_new(c, n);
  for (uint32_t r = 0; r < n; r += width) {
    if (reps[r] != r) {
      old->v[r] = old->v[reps[r]];
      continue;
    }
    LLVMValueRef pred = active(c, owner, mask, r), at = address_reg(c, &a, r);
    LLVMValueRef elems[MAX_VECTOR], operands[MAX_VECTOR];
    uint32_t num = 0;
    if (cas) operands[num++] = cg_to_storage(c, cg_reg(cg_get(op_operand(op, 2)), r), k);
    for (uint32_t i = 0; i < width; i++) elems[i] = cg_to_storage(c, cg_reg(cg_get(subject), r + i), k);
    for (uint32_t i = 0; i < width; i += per_word) operands[num++] = cg_pack(c, elems + i, per_word, 16);
    bool by_loop = bf16 && width == 1 && !c->target->has_bf16_vector_red;
    MemSem order = fences ? SEM_RELAXED : sem;
    LLVMValueRef x = by_loop ? bf16_add_loop(c, op, order, at, operands[0], pred)
                             : atom(c, op, order, red, bf16, name, at, operands, num, pred);
    if (want_old) old->v[r] = cg_from_storage(c, x, cg_elem_type(c, t));
  }
  if (fences && acquire) fence(c, op, any);
  // The barrier of share_result orders an acquire for the block. If nobody uses the old value, the program cannot know
  // what the atomic has read, and has acquired nothing.
  if (want_old) cg_set(op_result(op, 0), share_result(c, op, old));
}

void emit_atomic_rmw(Cg *c, Op *op) { lower_atomic(c, op); }
void emit_atomic_cas(Cg *c, Op *op) { lower_atomic(c, op); }
