// merge_fences: removes a proxy fence if each thread executes another one before the async proxy (wgmma, TMA) reads
// anything, and a barrier after that. What the first fence covers, the second covers, too: tiles whose copies a loop
// has waited for, and then an operand that is computed from them. A fence also waits for what the thread has under way.
// In, out: ALLOCATED.
#include "passes/pass.h"

static bool is_fence(const Op *op) { return op->opcode == OP_FENCE_ASYNC && !op_int(op, ATTR_GLOBAL, 0); }

// Whether the async proxy does nothing that the op lets it begin.
static bool is_by_threads(const Op *op) {
  switch (op->opcode) {
    case OP_BARRIER: case OP_LOAD: case OP_LOCAL_LOAD: case OP_LOCAL_STORE: case OP_ALLOC:
    case OP_DOT_SHARED: return true;
    case OP_ASYNC_COPY: case OP_ASYNC_COMMIT: case OP_ASYNC_WAIT: return true;
    case OP_INLINE_ASM: return op_int(op, ATTR_PURE, 0);
    default: return op_is(op, TRAIT_PURE) && !op->num_blocks;
  }
}

static bool is_repeated(const Op *fence) {
  bool fenced = false;
  for (const Op *op = fence->next; op; op = op->next) {
    if (fenced && op->opcode == OP_BARRIER) return true;
    if (is_fence(op)) fenced = true;
    else if (!is_by_threads(op)) return false;
  }
  return false;
}

static void merge(Op *op, void *user UNUSED) {
  if (is_fence(op) && is_repeated(op)) op_erase(op);
}

void pass_merge_fences(PassCtx *p) {
  EACH_FUNC(f, p->module) block_walk(f->body, merge, NULL);
}
