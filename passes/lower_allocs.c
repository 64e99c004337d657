// lower_allocs: `alloc %x` becomes an empty alloc and a store into it.
//   in:  LAID_OUT, allocs with an initial value
//   out: allocs without one
// If tensor cores or TMA read the buffer, each writer needs a proxy fence after its writes. insert_barriers adds the
// block barrier that must follow.
#include "passes/buffer.h"
#include "passes/pass.h"

static void visit(Op *op, void *user) {
  PassCtx *p = user;
  if (op->opcode != OP_ALLOC || !op_operand(op, 0)) return;
  Builder b = builder_after(p->ctx, op);
  build_op(&b, OP_LOCAL_STORE, (Value *[]){op_operand(op, 0), op_result(op, 0)}, 2);
  op_set_operand(op, 0, NULL);
  if (buffer_read_by_async_proxy(op_result(op, 0))) build_op(&b, OP_FENCE_ASYNC, NULL, 0);
}

void pass_lower_allocs(PassCtx *p) {
  module_walk(p->module, visit, p);
}
