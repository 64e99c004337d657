// The walk over ops and the dispatch table, expanded from the op table: a row without its emitter does not link.
#include "codegen/elementwise.h"

typedef struct {
  ScalarEmitter *scalar;
  void (*whole)(Cg *c, Op *op);
  const char *intrinsic;   // in place of `scalar`
} Emitter;

#define ENTRY_SCALAR(name) {.scalar = emit_##name}
#define ENTRY_WHOLE(name) {.whole = emit_##name}
#define ENTRY_GONE(name) {.whole = NULL}
#define ENTRY_LLVM(name) {.intrinsic = "llvm." #name} ENTRY_NO_MORE
#define ENTRY_NO_MORE(name)
static const Emitter emitters[NUM_OPS] = {
#define OP(id, name, operands, results, blocks, traits, stages, elems, unit, infer, verify, how) \
  [OP_##id] = ENTRY_##how(name),
#include "ir/ops.def"
};

LLVMValueRef cg_lower_element(Cg *c, const Op *op, ScalarKind k, LLVMValueRef *in) {
  const Emitter *e = &emitters[op->opcode];
  if (e->scalar) return e->scalar(c, op, k, in);
  LLVMTypeRef t = LLVMTypeOf(in[0]);
  return cg_call_intrinsic(c, e->intrinsic, &t, 1, in, op->num_operands);
}

void cg_lower_op(Cg *c, Op *op) {
  c->op = op;
  c->ctx->current_op = op;
  if (c->debug) debug_lines_set(c->debug, op);
  const Emitter *e = &emitters[op->opcode];
  if (e->scalar || e->intrinsic)
    cg_lower_elementwise(c, op);
  else if (e->whole)
    e->whole(c, op);
  else
    cg_unsupported(c, op, "must have been lowered by a pass before");
}

void cg_lower_block(Cg *c, Block *b) {
  Run run = {0};
  for (Op *op = b->first; op; op = op->next) {
    if (run_take(c, &run, op)) continue;
    if (!run_is_apart(&run, op)) run_end(c, &run);
    if (!op_is(op, TRAIT_TERMINATOR)) cg_lower_op(c, op);
  }
}

void cg_inline_region(Cg *c, Block *b, const LLVMValueRef *args, LLVMValueRef *out) {
  for (uint32_t i = 0; i < b->num_args; i++) cg_set_scalar(c, b->args[i], args[i]);
  cg_lower_block(c, b);
  Op *end = block_terminator(b);
  for (uint32_t i = 0; i < end->num_operands; i++) out[i] = cg_scalar(op_operand(end, i));
}
