// Packing of lifetimes: biggest first, each at the lowest offset that is free among those live with it.
//
//        time →
//   off  ┌─────────┐
//    │   │    A    ├──┐
//    ▼   ├──────┬──┘ C│
//        │  B   │┌────┘
//        └──────┘
#include "passes/packing.h"

uint32_t packing_place(Context *ctx, const Liveness *l, Placed *placed) {
  uint32_t n = l->count, total = 0;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t k = i;                                // of equals, in program order
    for (; k > 0 && placed[k - 1].life->bytes < l->items[i].bytes; k--) placed[k] = placed[k - 1];
    placed[k] = (Placed){&l->items[i], 0};
  }
  uint32_t *by_offset = arena_array(&ctx->arena, uint32_t, n + 1), sorted = 0;
  for (uint32_t i = 0; i < n; i++) {
    const Lifetime *life = placed[i].life;
    uint32_t align = life->align, at = 0;
    for (uint32_t k = 0; k < sorted; k++) {
      const Placed *q = &placed[by_offset[k]];
      if (!liveness_overlap(life, q->life)) continue;
      if (at + life->bytes <= q->offset) break;
      if (q->offset + q->life->bytes > at) at = (q->offset + q->life->bytes + align - 1) & ~(align - 1);
    }
    placed[i].offset = at;
    uint32_t k = sorted++;
    for (; k > 0 && placed[by_offset[k - 1]].offset > at; k--) by_offset[k] = by_offset[k - 1];
    by_offset[k] = i;
    if (at + life->bytes > total) total = at + life->bytes;
  }
  return total;
}

uint32_t packing_bytes(Context *ctx, const Liveness *l) {
  return packing_place(ctx, l, arena_array(&ctx->arena, Placed, l->count + 1));
}
