// allocate_shared: byte offsets in the block's shared memory for buffers and for the scratch of ops, by lifetime
// (packing.h). LAID_OUT becomes ALLOCATED.
//
// A small scratch stays allocated until the next op with scratch is done, although nothing reads it any more. That next
// op then does not write where this scratch may still be read, and needs no barrier before it.
//
// In: LAID_OUT. Out: every alloc and every op with scratch has `offset`; the module knows its bytes.
#include "passes/packing.h"
#include "passes/pass.h"

// ---- too much ----

static uint32_t tiles_of(const Op *op) { return op->opcode == OP_ALLOC ? op->results[0].type->count : 0; }

// The stages of a ring's loop. They may be one more than the ring's slots.
static uint32_t stages_of(const Op *op) { return (uint32_t)op_int(op, ATTR_NUM_STAGES, tiles_of(op)); }

// Returns the bytes that the lifetimes need if no loop has more than `stages` stages.
static uint32_t bytes_with_stages(Context *ctx, const Liveness *l, uint32_t stages, Placed *placed) {
  Liveness fewer = {.items = arena_array(&ctx->arena, Lifetime, l->count + 1), .count = l->count};
  for (uint32_t i = 0; i < l->count; i++) {
    const Op *op = l->items[i].op;
    fewer.items[i] = l->items[i];
    uint32_t tiles = tiles_of(op), most = stages_of(op);
    if (tiles && most > stages)
      fewer.items[i].bytes = l->items[i].bytes / tiles * (uint32_t)max_i64(1, (int64_t)tiles + stages - most);
  }
  return packing_place(ctx, &fewer, placed);
}

static void report_too_much(Context *ctx, Module *m, Func *f, const Liveness *l, Placed *placed, uint32_t total) {
  uint32_t limit = m->target->shared_bytes, most_stages = 0;
  diag_misfit(ctx, FIT_SHARED, total, limit);
  diag_error(ctx, f->span, "kernel %s needs %u bytes of shared memory, but %s has %u per block", f->name, total,
             m->target->name, limit);
  for (uint32_t i = 0; i < l->count && i < 8; i++) {
    const Op *op = placed[i].life->op;
    const Value *v = op->num_results ? &op->results[0] : NULL;
    const char *name = v && v->name                         ? v->name
                       : op->opcode == OP_ALLOC           ? "a buffer"
                       : op->opcode == OP_CONVERT_LAYOUT ? "moving a tensor to other threads"
                                                         : op_info[op->opcode].name;
    uint32_t tiles = tiles_of(op), stages = stages_of(op), bytes = placed[i].life->bytes;
    if (stages > most_stages) most_stages = stages;
    if (stages > 1 && m->as_written)
      diag_note(ctx, op->span, "%u bytes for %s: %u tiles of %u bytes", bytes, name, tiles, bytes / tiles);
    else if (stages > 1)
      diag_note(ctx, op->span, "%u bytes for %s: %u stages of %u bytes%s", bytes, name, stages, bytes / tiles,
                tiles < stages ? ", minus the one being read" : "");
    else diag_note(ctx, op->span, "%u bytes for %s", bytes, name);
  }
  for (uint32_t s = most_stages; s > 1; s--) {
    if (bytes_with_stages(ctx, l, s - 1, placed) > limit) continue;
    if (m->as_written) {
      diag_note(ctx, (Span){0, 0}, "it would fit with %u tiles in an array", s - 1);
      return;
    }
    diag_note(ctx, (Span){0, 0}, "it would fit with num_stages=%u", s - 1);
    m->fitting_stages = s - 1;
    return;
  }
  diag_note(ctx, (Span){0, 0}, "make the blocks smaller%s",
            most_stages > 1 && !m->as_written ? "; no number of stages fits" : "");
}

enum { SMALL_SCRATCH = 1024 };

static void keep_small_scratch(Liveness *l) {
  uint32_t next_end = 0;
  for (uint32_t i = l->count; i-- > 0;) {
    Lifetime *x = &l->items[i];
    if (x->op->opcode == OP_ALLOC) continue;
    uint32_t own_end = x->end;
    if (x->bytes <= SMALL_SCRATCH && next_end > x->end) x->end = next_end;
    next_end = own_end;
  }
}

void pass_allocate_shared(PassCtx *p) {
  uint32_t most = 0;
  EACH_FUNC(f, p->module) {
    Liveness l = liveness_compute(p->ctx, p->module, f);
    keep_small_scratch(&l);
    Placed *placed = arena_array(&p->ctx->arena, Placed, l.count + 1);
    uint32_t total = packing_place(p->ctx, &l, placed);
    if (total > p->module->target->shared_bytes) {
      report_too_much(p->ctx, p->module, f, &l, placed, total);
      return;
    }
    for (uint32_t i = 0; i < l.count; i++) {
      Op *op = placed[i].life->op;
      op_set_int(p->ctx, op, ATTR_OFFSET, placed[i].offset);
      if (op->opcode == OP_CONVERT_LAYOUT)
        remark_missed(op, "%s (%s) changes its layout through %u bytes of shared memory", remark_name(op),
                      remark_type(p->ctx, op->results[0].type), placed[i].life->bytes);
    }
    if (total > most) most = total;
  }
  p->module->shared_bytes = most;
}
