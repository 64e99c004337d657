// What ops do to the bytes of shared memory: see shared_memory.h.
#include "passes/shared_memory.h"

// Adds the bytes of one buffer value: those of its allocs, narrowed to a tile if the index is a constant.
static void add_buffer(Context *ctx, SharedAccesses *out, Value *v, bool is_write, SharedBy by) {
  OpList allocs = {0};
  buffer_find_allocs(ctx, v, &allocs);
  int64_t tile = -1;
  const uint32_t own = buffer_bytes(v->type);   // a reinterpreted tile may reach into the next
  for (Value *w = v; w->def && buffer_is_view(w->def); w = op_operand(w->def, 0))
    if (w->def->opcode == OP_BUFFER_INDEX && (!value_constant_int(op_operand(w->def, 1), &tile) || allocs.count != 1))
      tile = -1;
  VEC_EACH(alloc, allocs) {
    const Type *t = (*alloc)->results[0].type;
    uint32_t lo = (uint32_t)op_int(*alloc, ATTR_OFFSET, 0), bytes = buffer_bytes(t);
    if (tile >= 0 && t->count && tile < t->count && own <= bytes / t->count) {
      bytes /= t->count;
      lo += bytes * (uint32_t)tile;
    }
    const SharedAccess a = {by, is_write, lo, lo + bytes};
    vec_push(&ctx->arena, out, a);
  }
}

void shared_accesses(Context *ctx, const Op *op, SharedAccesses *out) {
  enum { READ, WRITE };
  switch (op->opcode) {
    case OP_ALLOC:
      if (op_operand(op, 0)) add_buffer(ctx, out, (Value *)&op->results[0], WRITE, SHARED_BY_THREADS);
      break;
    case OP_LOCAL_LOAD: add_buffer(ctx, out, op_named(op, OPERAND_BUF), READ, SHARED_BY_THREADS); break;
    case OP_LOCAL_STORE: add_buffer(ctx, out, op_named(op, OPERAND_BUF), WRITE, SHARED_BY_THREADS); break;
    case OP_ASYNC_COPY: add_buffer(ctx, out, op_named(op, OPERAND_BUF), WRITE, SHARED_BY_COPY); break;
    case OP_MBAR_INIT:
    case OP_MBAR_INVAL: add_buffer(ctx, out, op_named(op, OPERAND_BAR), WRITE, SHARED_BY_THREADS); break;
    case OP_MBAR_EXPECT:
    case OP_ASYNC_ARRIVE:
    case OP_MBAR_ARRIVE:
    case OP_MBAR_WAIT: add_buffer(ctx, out, op_named(op, OPERAND_BAR), READ, SHARED_BY_THREADS); break;
    case OP_TMA_LOAD:
      add_buffer(ctx, out, op_named(op, OPERAND_BUF), WRITE, SHARED_BY_TMA);
      add_buffer(ctx, out, op_named(op, OPERAND_BAR), READ, SHARED_BY_THREADS);
      break;
    case OP_TMA_STORE:
    case OP_TMA_REDUCE: add_buffer(ctx, out, op_named(op, OPERAND_BUF), READ, SHARED_BY_TMA); break;
    case OP_DOT_SHARED:
      for (uint32_t i = 0; i < 2; i++) add_buffer(ctx, out, op_operand(op, i), READ, SHARED_BY_THREADS);
      break;
    case OP_WGMMA:
      for (uint32_t i = 0; i < 2; i++)
        if (op_operand(op, i)->type->kind == TYPE_BUFFER)
          add_buffer(ctx, out, op_operand(op, i), READ, SHARED_BY_WGMMA);
      break;
    default: break;
  }
}
