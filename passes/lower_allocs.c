// lower_allocs: `alloc %x` becomes an empty alloc and a store into it.
//   in:  LAID_OUT, allocs with an initial value
//   out: allocs without one
// Where the tensor cores or TMA read the buffer, each writer fences its generic writes for them; the block barrier that
// must follow comes from insert_barriers.
#include "passes/pass.h"

static bool read_by_async_proxy(const Value *buf) {
  for (const Use *u = buf->uses; u; u = u->next)
    switch (u->user->opcode) {
    case OP_WGMMA: case OP_TMA_STORE: case OP_TMA_REDUCE: return true;
    case OP_BUFFER_TRANS: case OP_BUFFER_SLICE: case OP_BUFFER_INDEX:
      if (read_by_async_proxy(&u->user->results[0])) return true;
      break;
    default: break;
    }
  return false;
}

static void visit(Op *op, void *user) {
  PassCtx *p = user;
  if (op->opcode != OP_ALLOC || !op_operand(op, 0)) return;
  Builder b = builder_before(p->ctx, op);
  b.before = op->next;
  Value *put[2] = {op_operand(op, 0), op_result(op, 0)};
  op_set_operand(op, 0, NULL);
  build_op(&b, OP_LOCAL_STORE, put, 2);
  if (read_by_async_proxy(op_result(op, 0))) build_op(&b, OP_FENCE_ASYNC, NULL, 0);
}

bool pass_lower_allocs(PassCtx *p) {
  module_walk(p->module, visit, p);
  return true;
}
