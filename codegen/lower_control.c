// Structured control flow becomes blocks and phis. Every register of a carried value gets a phi; registers that hold
// the same element share it. A loop is a guard, and then the body with the test at its end.
#include "codegen/cg.h"
#include "codegen/wgmma.h"
#include "ir/loop.h"

#include <llvm-c/DebugInfo.h>

// The phis of one carried value: v has one per distinct register.
static CgValue *make_phis(Cg *c, const Type *t) {
  uint32_t n = cg_num_regs(t);
  CgValue *v = cg_value_new(c, n);
  v->splat = n == 1 && !type_is_tensor(t);   // a carried base serves every register of the offsets
  if (t->kind == TYPE_DESC) cg_unsupported(c, c->op, "a tensor descriptor cannot be carried");
  const uint32_t *reps = cg_reps(c, t);
  for (uint32_t r = 0; r < n; r++) v->v[r] = reps[r] != r ? v->v[reps[r]] : LLVMBuildPhi(c->b, cg_elem_type(c, t), "");
  return v;
}

static void add_incoming(Cg *c, const CgValue *phis, const Type *t, const CgValue *from, LLVMBasicBlockRef block) {
  const uint32_t *reps = cg_reps(c, t);
  for (uint32_t r = 0; r < phis->count; r++) {
    if (reps[r] != r) continue;
    LLVMValueRef x = cg_reg(from, r);
    LLVMAddIncoming(phis->v[r], &x, &block, 1);
  }
}

// Asks the assembler to keep a loop around other loops as it is. Once it has unrolled the inner ones, it would unroll
// the outer one, too: code of as many copies, and registers for what they compute and load at once.
static void keep_outer_loop(Cg *c, const Op *loop, LLVMValueRef branch) {
  if (!for_holds_loop(loop)) return;
  LLVMMetadataRef name = LLVMMDStringInContext2(c->ll, "llvm.loop.unroll.disable", 24);
  LLVMMetadataRef itself = LLVMTemporaryMDNode(c->ll, NULL, 0);       // of a loop's node the first operand is the node
  LLVMMetadataRef parts[2] = {itself, LLVMMDNodeInContext2(c->ll, &name, 1)};
  LLVMMetadataRef node = LLVMMDNodeInContext2(c->ll, parts, 2);
  LLVMMetadataReplaceAllUsesWith(itself, node);
  LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(c->ll, "llvm.loop", 9), LLVMMetadataAsValue(c->ll, node));
}

// The predicate of next and bound that continues the loop. A 64-bit counter of step 1 is compared for inequality: the
// guard has checked that it starts below the bound, so it reaches it. LLVM then counts down to zero or uses an address
// as the counter, and ptxas, which can only then compute the trip count, unrolls the loop.
static LLVMIntPredicate goes_on(const Cg *c, LLVMValueRef lb, LLVMValueRef step) {
  uint64_t by = 0;
  return LLVMTypeOf(lb) == c->t_i64 && cg_const_int(step, &by) && by == 1 ? LLVMIntNE : LLVMIntSLT;
}

// The results of a loop, whose last iteration ends in `latch`. before: where a loop without iterations comes from; NULL:
// it has one at least.
static void set_results(Cg *c, Op *op, CgValue *const *carried, LLVMBasicBlockRef latch, LLVMBasicBlockRef before) {
  const Op *yield = block_terminator(op->blocks[0]);
  for (uint32_t i = 0; i < op->num_results; i++) {
    if (carried[i]->pinned) continue;
    const Type *t = op_result(op, i)->type;
    CgValue *r = make_phis(c, t);
    add_incoming(c, r, t, cg_get(op_operand(yield, i)), latch);
    if (before) add_incoming(c, r, t, cg_get(for_init(op, i)), before);
    cg_set(op_result(op, i), r);
  }
  for (uint32_t i = 0; i < op->num_results; i++)   // after all phis
    if (carried[i]->pinned) cg_set(op_result(op, i), wgmma_pinned_result(c, op, i, carried[i]));
}

void emit_for(Cg *c, Op *op) {
  c->has_loops = true;
  LLVMValueRef lb = cg_scalar(for_lower(op)), ub = cg_scalar(for_upper(op)), step = cg_scalar(for_step(op));
  Block *body = op->blocks[0];
  uint32_t n = op->num_results;
  CgValue **carried = arena_array(c->arena, CgValue *, n + 1);
  for (uint32_t i = 0; i < n; i++) carried[i] = wgmma_pin(c, op, i);
  LLVMBasicBlockRef before = LLVMGetInsertBlock(c->b), loop = cg_block(c, "for"), after = cg_block(c, "for.end");
  const bool was_owner = c->is_owner;
  LLVMValueRef enters = LLVMBuildICmp(c->b, LLVMIntSLT, lb, ub, "");
  if (op_int(op, ATTR_BY_OWNER, 0)) {
    enters = cg_and(c, cg_owner_pred(c, UINT32_MAX), enters);
    c->is_owner = true;
  }
  uint64_t always = 0;
  bool guarded = !cg_const_int(enters, &always) || !always;
  if (guarded)
    LLVMBuildCondBr(c->b, enters, loop, after);
  else
    LLVMBuildBr(c->b, loop);

  LLVMPositionBuilderAtEnd(c->b, loop);
  LLVMValueRef iv = LLVMBuildPhi(c->b, LLVMTypeOf(lb), "iv");
  LLVMAddIncoming(iv, &lb, &before, 1);
  cg_set_scalar(c, for_iv(op), iv);
  for (uint32_t i = 0; i < n; i++) {
    const Type *t = for_carried(op, i)->type;
    if (!carried[i]) {
      carried[i] = make_phis(c, t);
      add_incoming(c, carried[i], t, cg_get(for_init(op, i)), before);
    }
    cg_set(for_carried(op, i), carried[i]);
  }
  cg_lower_block(c, body);

  c->op = op;
  if (c->debug) debug_lines_set(c->debug, op);
  LLVMBasicBlockRef latch = LLVMGetInsertBlock(c->b);
  LLVMValueRef next = LLVMBuildAdd(c->b, iv, step, "");
  if (LLVMIsAInstruction(next)) LLVMSetNSW(next, true);
  LLVMValueRef again = LLVMBuildCondBr(c->b, LLVMBuildICmp(c->b, goes_on(c, lb, step), next, ub, ""), loop, after);
  keep_outer_loop(c, op, again);
  LLVMAddIncoming(iv, &next, &latch, 1);
  Op *yield = block_terminator(body);
  for (uint32_t i = 0; i < n; i++)
    if (!carried[i]->pinned) add_incoming(c, carried[i], body->args[i + 1]->type, cg_get(op_operand(yield, i)), latch);

  c->is_owner = was_owner;
  LLVMPositionBuilderAtEnd(c->b, after);
  set_results(c, op, carried, latch, guarded ? before : NULL);
}

void emit_while(Cg *c, Op *op) {
  c->has_loops = true;
  Block *test = op->blocks[0], *body = op->blocks[1];
  LLVMBasicBlockRef before = LLVMGetInsertBlock(c->b), head = cg_block(c, "while"), inside = cg_block(c, "while.body"),
                    after = cg_block(c, "while.end");
  LLVMBuildBr(c->b, head);
  LLVMPositionBuilderAtEnd(c->b, head);
  CgValue **carried = arena_array(c->arena, CgValue *, test->num_args + 1);
  for (uint32_t i = 0; i < test->num_args; i++) {
    const Type *t = test->args[i]->type;
    carried[i] = make_phis(c, t);
    add_incoming(c, carried[i], t, cg_get(op_operand(op, i)), before);
    cg_set(test->args[i], carried[i]);
  }
  cg_lower_block(c, test);
  Op *condition = block_terminator(test);
  LLVMBuildCondBr(c->b, cg_scalar(op_operand(condition, 0)), inside, after);

  LLVMPositionBuilderAtEnd(c->b, inside);
  for (uint32_t i = 0; i < body->num_args; i++) cg_set(body->args[i], cg_get(op_operand(condition, i + 1)));
  cg_lower_block(c, body);
  LLVMBasicBlockRef latch = LLVMGetInsertBlock(c->b);
  LLVMBuildBr(c->b, head);
  Op *yield = block_terminator(body);
  for (uint32_t i = 0; i < test->num_args; i++)
    add_incoming(c, carried[i], test->args[i]->type, cg_get(op_operand(yield, i)), latch);

  LLVMPositionBuilderAtEnd(c->b, after);
  for (uint32_t i = 0; i < op->num_results; i++) cg_set(op_result(op, i), cg_get(op_operand(condition, i + 1)));
}

void emit_if(Cg *c, Op *op) {
  LLVMBasicBlockRef arms[2] = {cg_block(c, "if.then"), cg_block(c, "if.else")}, after = cg_block(c, "if.end"), ends[2];
  LLVMBuildCondBr(c->b, cg_scalar(op_operand(op, 0)), arms[0], arms[1]);
  for (int k = 0; k < 2; k++) {
    LLVMPositionBuilderAtEnd(c->b, arms[k]);
    cg_lower_block(c, op->blocks[k]);
    ends[k] = LLVMGetInsertBlock(c->b);
    LLVMBuildBr(c->b, after);
  }
  LLVMPositionBuilderAtEnd(c->b, after);
  for (uint32_t i = 0; i < op->num_results; i++) {
    const Type *t = op_result(op, i)->type;
    const CgValue *from[2];
    for (int k = 0; k < 2; k++) from[k] = cg_get(op_operand(block_terminator(op->blocks[k]), i));
    CgValue *r = make_phis(c, t);
    for (int k = 0; k < 2; k++) add_incoming(c, r, t, from[k], ends[k]);
    cg_set(op_result(op, i), r);
  }
}

// The op that owns the block reads its terminator.
void emit_yield(Cg *c, Op *op) { cg_unsupported(c, op, "is not lowered by itself"); }
void emit_condition(Cg *c, Op *op) { cg_unsupported(c, op, "is not lowered by itself"); }
