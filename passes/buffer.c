// Buffers in shared memory: see buffer.h.
#include "passes/buffer.h"

#include "ir/scratch.h"
#include "passes/ties.h"

bool buffer_is_view(const Op *op) {
  return op_is(op, TRAIT_MOVES) && op->results[0].type->kind == TYPE_BUFFER;
}

Value *buffer_whole(Value *v) {
  while (v->def && buffer_is_view(v->def)) v = op_operand(v->def, 0);
  return v;
}

uint32_t buffer_bytes(const Type *t) { return scratch_tile_stride(t) * type_tiles(t); }

bool buffer_read_by_async_proxy(const Value *buf) {
  EACH_USE(u, buf) {
    const Op *op = u->user;
    if (op_is(op, TRAIT_ASYNC_PROXY) && op->opcode != OP_TMA_LOAD) return true;
    if (buffer_is_view(op) && buffer_read_by_async_proxy(&op->results[0])) return true;
  }
  return false;
}

// ---- aliases ----

typedef struct { Context *ctx; OpList *allocs; VEC(Value *) seen; } AllocSearch;

static void search_allocs(Value *v, void *user) {
  AllocSearch *s = user;
  if (!v || v->type->kind != TYPE_BUFFER) return;
  VEC_EACH(x, s->seen)
    if (*x == v) return;
  vec_push(&s->ctx->arena, &s->seen, v);
  if (value_op(v, OP_ALLOC)) {
    VEC_EACH(alloc, *s->allocs)
      if (*alloc == v->def) return;
    vec_push(&s->ctx->arena, s->allocs, v->def);
  } else if (v->def && buffer_is_view(v->def)) {
    search_allocs(op_operand(v->def, 0), s);
  } else {
    ties_visit(v, search_allocs, s);
  }
}

void buffer_find_allocs(Context *ctx, Value *v, OpList *out) {
  AllocSearch s = {.ctx = ctx, .allocs = out};
  search_allocs(v, &s);
}
