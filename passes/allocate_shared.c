// LAID_OUT → ALLOCATED: byte offsets in the block's shared memory for buffers and for the scratch of ops.
//
//        time →                     Lifetimes (liveness.h) are packed biggest first, each as low as it goes among those
//   off  ┌─────────┐                placed that are alive with it.
//    │   │    A    ├──┐
//    ▼   ├──────┬──┘ C│
//        │  B   │┌────┘
//        └──────┘
//
// A small scratch is kept until the next op with scratch is done, though nothing reads it any more: so that one does not write
// where this one is still being read, and needs no barrier before it.
//
// In: LAID_OUT. Out: every alloc and every op with scratch has `offset`; the module knows its bytes.
#include "passes/liveness.h"
#include "passes/pass.h"

typedef struct { const Lifetime *life; uint32_t bytes, offset; } Placed;

static bool overlap(uint32_t a, uint32_t a_end, uint32_t b, uint32_t b_end) { return a < b_end && b < a_end; }

// Multi-buffers count at most `stages` tiles. Returns the bytes needed in all; offsets into placed[].
static uint32_t pack(Context *ctx, const Liveness *l, uint32_t stages, Placed *placed) {
  uint32_t n = l->count, total = 0;
  for (uint32_t i = 0; i < n; i++) {
    const Lifetime *x = &l->items[i];
    uint32_t count = x->op->opcode == OP_ALLOC ? x->op->results[0].type->count : 0, bytes = x->bytes;
    if (count > stages) bytes = bytes / count * stages;
    uint32_t k = i;                                // biggest first, else in program order
    for (; k > 0 && placed[k - 1].bytes < bytes; k--) placed[k] = placed[k - 1];
    placed[k] = (Placed){x, bytes, 0};
  }
  uint32_t *by_offset = arena_array(&ctx->arena, uint32_t, n + 1), sorted = 0;
  for (uint32_t i = 0; i < n; i++) {
    Placed *p = &placed[i];
    uint32_t align = p->life->align, at = 0;
    for (uint32_t k = 0; k < sorted; k++) {
      const Placed *q = &placed[by_offset[k]];
      if (!overlap(p->life->begin, p->life->end + 1, q->life->begin, q->life->end + 1)) continue;
      if (at + p->bytes <= q->offset) break;
      if (q->offset + q->bytes > at) at = (q->offset + q->bytes + align - 1) & ~(align - 1);
    }
    p->offset = at;
    uint32_t k = sorted++;
    for (; k > 0 && placed[by_offset[k - 1]].offset > at; k--) by_offset[k] = by_offset[k - 1];
    by_offset[k] = i;
    if (at + p->bytes > total) total = at + p->bytes;
  }
  return total;
}

static void report_too_much(Context *ctx, Module *m, Func *f, const Liveness *l, Placed *placed, uint32_t total) {
  uint32_t limit = m->target->shared_bytes, most_stages = 0;
  diag_error(ctx, f->span, "kernel %s needs %u bytes of shared memory, but %s has %u per block", f->name, total, m->target->name, limit);
  for (uint32_t i = 0; i < l->count && i < 8; i++) {
    const Op *op = placed[i].life->op;
    const Value *v = op->num_results ? &op->results[0] : NULL;
    bool is_buffer = op->opcode == OP_ALLOC;
    const char *name = v && v->name ? v->name : is_buffer ? "a buffer" : op_info[op->opcode].name;
    uint32_t count = is_buffer ? v->type->count : 0;
    if (count > most_stages) most_stages = count;
    if (count > 1) diag_note(ctx, op->span, "%u bytes for %s: %u stages of %u bytes", placed[i].bytes, name, count, placed[i].bytes / count);
    else diag_note(ctx, op->span, "%u bytes for %s", placed[i].bytes, name);
  }
  for (uint32_t s = most_stages; s > 1; s--) {
    if (pack(ctx, l, s - 1, placed) > limit) continue;
    diag_note(ctx, (Span){0, 0}, "it would fit with num_stages=%u", s - 1);
    m->fitting_stages = s - 1;
    return;
  }
  diag_note(ctx, (Span){0, 0}, "make the blocks smaller%s", most_stages > 1 ? "; no number of stages fits" : "");
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

bool pass_allocate_shared(PassCtx *p) {
  uint32_t most = 0;
  for (Func *f = p->module->funcs; f; f = f->next) {
    Liveness l = liveness_compute(p->ctx, p->module, f);
    keep_small_scratch(&l);
    Placed *placed = arena_array(&p->ctx->arena, Placed, l.count + 1);
    uint32_t total = pack(p->ctx, &l, UINT32_MAX, placed);
    if (total > p->module->target->shared_bytes) {
      report_too_much(p->ctx, p->module, f, &l, placed, total);
      return true;
    }
    for (uint32_t i = 0; i < l.count; i++) op_set_int(p->ctx, placed[i].life->op, ATTR_OFFSET, placed[i].offset);
    if (total > most) most = total;
  }
  p->module->shared_bytes = most;
  return true;
}
