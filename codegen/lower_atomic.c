// Atomics, as inline assembly: LLVM's atomicrmw drops the memory order on this target. Of threads that hold the same
// element only the owner acts; when others need the old value it goes through scratch shared memory. A scalar atomic is
// done by thread 0 for the block; barriers order the block's accesses before a release, and after an acquire whose value is used.
#include <stdio.h>
#include <string.h>

#include "codegen/address.h"

static const char *const sems[] = {[SEM_RELAXED] = "relaxed", [SEM_ACQUIRE] = "acquire", [SEM_RELEASE] = "release", [SEM_ACQ_REL] = "acq_rel"};
static const char *const scopes[] = {[SCOPE_GPU] = "gpu", [SCOPE_CTA] = "cta", [SCOPE_SYS] = "sys"};

// `add.noftz.f16`, `max.s32`, `and.b64` …
static void operation_name(Cg *c, const Op *op, AtomicKind kind, ScalarKind k, uint32_t bits, char *out, size_t size) {
  static const char *const names[] = {
    [ATOMIC_ADD] = "add.u", [ATOMIC_FADD] = "add", [ATOMIC_MAX] = "max.s", [ATOMIC_MIN] = "min.s", [ATOMIC_UMAX] = "max.u",
    [ATOMIC_UMIN] = "min.u", [ATOMIC_AND] = "and.b", [ATOMIC_OR] = "or.b", [ATOMIC_XOR] = "xor.b", [ATOMIC_XCHG] = "exch.b",
  };
  if (kind != ATOMIC_FADD) {
    if (bits < 32) cg_unsupported(c, op, "integer atomics need 32 or 64 bits");
    snprintf(out, size, "%s%u", names[kind], bits);
    return;
  }
  const char *type = k == SC_F16 ? "noftz.f16" : k == SC_BF16 ? "noftz.bf16" : k == SC_F32 ? "f32" : k == SC_F64 ? "f64" : NULL;
  if (!type) cg_unsupported(c, op, "no atomic addition for this type");
  snprintf(out, size, "%s.%s", names[kind], type);
}

static bool result_used(const Op *op) { return op->num_results && op->results[0].uses; }

// One atom/red on one element, predicated. Returns the old bits (as storage integer), 0 where pred is false.
static LLVMValueRef atom(Cg *c, const Op *op, const char *name, LLVMValueRef at, LLVMValueRef *operands, unsigned n, LLVMValueRef pred,
                         bool want_old, bool bf16) {
  MemSem sem = (MemSem)op_int(op, ATTR_SEM, SEM_ACQ_REL);
  const char *scope = scopes[op_int(op, ATTR_SCOPE, SCOPE_GPU)];
  LLVMTypeRef t = LLVMTypeOf(operands[0]);
  const char *reg = asm_reg_class(LLVMGetIntTypeWidth(t));
  // There is no red of an exchange, nor with acquire semantics.
  bool red = !want_old && n == 1 && (sem == SEM_RELAXED || sem == SEM_RELEASE) && strncmp(name, "exch", 4) != 0;
  char text[192], constraints[64], guard[16] = "";
  LLVMValueRef args[5];
  unsigned num_args = 0, first = red ? 0 : 1;
  size_t k = red ? 0 : (size_t)snprintf(constraints, sizeof constraints, "=%s,", reg);
  k += (size_t)snprintf(constraints + k, sizeof constraints - k, "l");
  args[num_args++] = at;
  for (unsigned i = 0; i < n; i++) {
    k += (size_t)snprintf(constraints + k, sizeof constraints - k, ",%s", reg);
    args[num_args++] = operands[i];
  }
  if (pred) {
    snprintf(guard, sizeof guard, "@$%u ", first + 1 + n);
    k += (size_t)snprintf(constraints + k, sizeof constraints - k, ",b");
    args[num_args++] = pred;
    if (!red) {
      snprintf(constraints + k, sizeof constraints - k, ",0");
      args[num_args++] = LLVMConstNull(t);
    }
  }
  if (red) {
    snprintf(text, sizeof text, "%sred.%s.%s.global.%s [$0], $1;", guard, sems[sem], scope, name);
    return cg_insn_text(c, bf16 ? INSN_RED_BF16 : INSN_RED, text, constraints, c->t_void, args, num_args);
  }
  snprintf(text, sizeof text, n == 1 ? "%satom.%s.%s.global.%s $0, [$1], $2;" : "%satom.%s.%s.global.%s $0, [$1], $2, $3;", guard, sems[sem],
           scope, name);
  return cg_insn_text(c, bf16 ? INSN_ATOM_BF16 : INSN_ATOM, text, constraints, t, args, num_args);
}

// bf16 addition where the machine has none: compare-and-swap on the 16 bits.
static LLVMValueRef bf16_add_loop(Cg *c, const Op *op, LLVMValueRef at, LLVMValueRef bits, LLVMValueRef pred) {
  c->has_loops = true;
  LLVMBasicBlockRef before = LLVMGetInsertBlock(c->b), start = cg_block(c, "cas.start"), loop = cg_block(c, "cas"), after = cg_block(c, "cas.end");
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
  LLVMValueRef x = cg_float_to_f32(c, cg_bitcast(c, seen, c->t_bf16), SC_BF16), y = cg_float_to_f32(c, cg_bitcast(c, bits, c->t_bf16), SC_BF16);
  LLVMValueRef sum = cg_f32_to_float(c, LLVMBuildFAdd(c->b, x, y, ""), SC_BF16, ROUND_RNE);
  LLVMValueRef old = atom(c, op, "cas.b16", at, (LLVMValueRef[]){seen, cg_bitcast(c, sum, c->t_i16)}, 2, NULL, true, false);
  LLVMAddIncoming(seen, &old, &loop, 1);
  LLVMBuildCondBr(c->b, LLVMBuildICmp(c->b, LLVMIntEQ, old, seen, ""), after, loop);
  LLVMPositionBuilderAtEnd(c->b, after);
  if (!pred) return old;
  LLVMValueRef r = LLVMBuildPhi(c->b, c->t_i16, ""), zero = cg_int(c->t_i16, 0);
  LLVMAddIncoming(r, &old, &loop, 1);
  LLVMAddIncoming(r, &zero, &before, 1);
  return r;
}

enum { MAX_VECTOR = 8 };

// `width` consecutive elements of f32 or, in pairs, of halves in one red. Only for additions whose old values nobody wants.
static void vector_red(Cg *c, const Op *op, ScalarKind k, LLVMValueRef at, const LLVMValueRef *elems, uint32_t width, LLVMValueRef pred) {
  MemSem sem = (MemSem)op_int(op, ATTR_SEM, SEM_ACQ_REL);
  const char *scope = scopes[op_int(op, ATTR_SCOPE, SCOPE_GPU)], *type = k == SC_F32 ? "f32" : k == SC_F16 ? "f16x2" : "bf16x2";
  uint32_t per_word = k == SC_F32 ? 1 : 2, words = width / per_word, n = 0;
  LLVMValueRef args[2 + MAX_VECTOR];
  Buf text = buf_make(c->arena), constraints = buf_make(c->arena);
  args[n++] = at;
  buf_puts(&constraints, "l");
  if (pred) buf_printf(&text, "@$%u ", 1 + words);
  buf_printf(&text, "red.%s.%s.global.add.%s", sems[sem], scope, k == SC_F32 ? "" : "noftz.");
  if (words > 1) buf_printf(&text, "v%u.", words);
  buf_printf(&text, "%s [$0], %s", type, words > 1 ? "{" : "");
  for (uint32_t i = 0; i < words; i++) {
    args[n++] = per_word == 2 ? cg_pack(c, elems + 2 * i, 2, 16) : elems[i];
    buf_puts(&constraints, ",r");
    buf_printf(&text, "%s$%u", i ? ", " : "", 1 + i);
  }
  buf_puts(&text, words > 1 ? "};" : ";");
  if (pred) buf_puts(&constraints, ",b"), args[n++] = pred;
  cg_insn_text(c, words > 1 ? INSN_RED_VECTOR : k == SC_BF16 ? INSN_RED_BF16 : INSN_RED, buf_str(&text), buf_str(&constraints), c->t_void, args, n);
}

// Gives the owners' old values to every thread that holds a copy of the element.
static CgValue *share_result(Cg *c, const Op *op, const CgValue *old) {
  const Type *t = op->results[0].type;
  PlaceMap store = {0}, load = {0};
  if (type_is_tensor(t)) {
    store = load = placemap_of_layout(t->layout);
    if (!store.free_thread) return (CgValue *)old;
  } else {
    store.num_thread_bits = load.num_thread_bits = log2_u32(c->module->num_warps * WARP_SIZE);
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

// Whether the value comes out of a reduction, and so waits for what every thread has read.
static bool comes_from_reduce(const Value *v, int depth) {
  if (!v->def || depth == 0 || type_is_tensor(v->type)) return false;
  if (v->def->opcode == OP_REDUCE) return true;
  if (!op_is(v->def, TRAIT_ELEMENTWISE)) return false;
  for (uint32_t i = 0; i < v->def->num_operands; i++)
    if (op_operand(v->def, i) && comes_from_reduce(op_operand(v->def, i), depth - 1)) return true;
  return false;
}

// A release by thread 0 must follow the accesses of the whole block. Nothing to wait for: a kernel that has only read, and whose
// value needed all it read.
static bool release_needs_barrier(const Op *op, const Value *value) {
  for (const Op *p = op->parent->parent; p; p = p->parent->parent)
    if (op_is(p, TRAIT_LOOP)) return true;
  Before b = {.op = op};
  block_walk(op->parent->func->body, look_before, &b);
  return b.writes || (b.reads && !comes_from_reduce(value, 16));
}

static void lower_atomic(Cg *c, Op *op, bool cas) {
  const Type *t = op_operand(op, cas ? 3 : 2)->type;
  Address a = address_of(c, op_operand(op, 0), op_operand(op, 1));
  const CgValue *cmp = cas ? cg_get(op_operand(op, 2)) : NULL, *value = cg_get(op_operand(op, cas ? 3 : 2));
  const CgValue *mask = !cas && op_operand(op, 3) ? cg_get(op_operand(op, 3)) : NULL;
  MemSem sem = (MemSem)op_int(op, ATTR_SEM, SEM_ACQ_REL);
  AtomicKind kind = (AtomicKind)op_int(op, ATTR_ATOMIC, ATOMIC_ADD);
  ScalarKind k = cg_elem_kind(t);
  uint32_t n = cg_num_regs(t), bits = a.elem_bytes * 8;
  bool is_scalar = !type_is_tensor(t), want_old = result_used(op), bf16 = k == SC_BF16 && kind == ATOMIC_FADD && !cas;
  const uint32_t *reps = is_scalar ? NULL : cg_reg_reps(c, t->layout);
  char name[32];
  if (cas)
    snprintf(name, sizeof name, "cas.b%u", bits);
  else
    operation_name(c, op, kind, k, bits, name, sizeof name);
  const uint32_t width = (uint32_t)op_int(op, ATTR_VECTOR, 1);   // annotate_access: more than 1 where a red does it

  bool release = sem == SEM_RELEASE || sem == SEM_ACQ_REL;
  if (is_scalar && release && release_needs_barrier(op, op_operand(op, cas ? 3 : 2))) cg_barrier(c);
  LLVMValueRef owner = cg_layout_owner(c, t);
  CgValue *old = cg_value_new(c, n);
  for (uint32_t r = 0; r < n; r += width) {
    if (reps && reps[r] != r) {
      old->v[r] = old->v[reps[r]];
      continue;
    }
    LLVMValueRef pred = cg_and(c, owner, mask ? cg_reg(mask, r) : NULL), at = address_reg(c, &a, r), operands[MAX_VECTOR];
    uint32_t num = 0;
    if (cas) operands[num++] = cg_to_storage(c, cg_reg(cmp, r), k);
    for (uint32_t i = 0; i < width; i++) operands[num++] = cg_to_storage(c, cg_reg(value, r + i), k);
    if (width > 1) {
      vector_red(c, op, k, at, operands, width, pred);
      continue;
    }
    LLVMValueRef x = bf16 && !c->target->has_bf16_vector_red ? bf16_add_loop(c, op, at, operands[0], pred)
                                                          : atom(c, op, name, at, operands, num, pred, want_old, bf16);
    if (want_old) old->v[r] = cg_from_storage(c, x, cg_elem_type(c, t));
  }
  // Sharing the old value fences an acquire for the block. Without it there is nothing that could have been acquired: the
  // program cannot know what the atomic has read.
  if (want_old) cg_set(op_result(op, 0), share_result(c, op, old));
}

void emit_atomic_rmw(Cg *c, Op *op) { lower_atomic(c, op, false); }
void emit_atomic_cas(Cg *c, Op *op) { lower_atomic(c, op, true); }
