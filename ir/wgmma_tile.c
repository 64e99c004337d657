// The canonical form of an operand: the contiguous axis lies in spans of 16 bytes (no swizzle) to 128, the lines of the
// other axis follow each other by spans, eight of them to a group, whose addresses are swizzled. Groups of lines and
// further spans may lie anywhere, with a constant stride inside of one instruction. Swizzling works on bits of the
// absolute address. A slice may therefore begin inside a span, but only with the first line of a group.
#include "ir/wgmma_tile.h"

#include <string.h>

enum { UNIT = 16, GROUP_BITS = 3, K_BYTES = 32 };

typedef struct {
  const Layout *layout;
  uint32_t bits[2];            // log2 of the shape
  uint32_t elem_bytes, k_axis, outer_bits;
  uint32_t inner;              // address bits that the instruction's own elements use
} Reader;

// The constant stride of bits [first, end) of an axis, 0 if there is none of them. False if it is not constant.
static bool constant_stride(Reader *r, const uint32_t *places, uint32_t first, uint32_t end, uint32_t *stride) {
  *stride = first < end ? places[first] : 0;
  if (first < end && (*stride % UNIT || *stride & (*stride - 1))) return false;
  for (uint32_t i = first; i < end; i++) {
    if (places[i] != *stride << (i - first)) return false;
    r->inner |= places[i];
  }
  return true;
}

static bool read_span(const Reader *r, uint32_t fast, uint32_t span, WgmmaTile *t) {
  const uint32_t width = span ? span : UNIT, *line = t->places[1 - fast], *along = t->places[fast];
  const uint32_t in_span = log2_u32(width / r->elem_bytes);
  for (uint32_t i = 0; i < in_span && i < r->bits[fast]; i++)
    if (along[i] != r->elem_bytes << i) return false;
  for (uint32_t i = 0; i < GROUP_BITS; i++)
    if (line[i] != (width << i ^ ((1u << i) * span / 128) * UNIT)) return false;
  Reader inside = *r;
  const bool k_major = fast == r->k_axis;
  const uint32_t moved = r->layout->moved * r->elem_bytes;
  const uint32_t k_bits = log2_u32(K_BYTES / r->elem_bytes);
  const uint32_t fast_end = k_major ? k_bits : r->outer_bits, line_end = k_major ? r->outer_bits : k_bits;
  uint32_t of_spans, of_groups;
  inside.inner = (width << GROUP_BITS) - 1;
  if (r->bits[fast] < in_span) inside.inner ^= (width - 1) & ~((r->elem_bytes << r->bits[fast]) - 1);
  if (!constant_stride(&inside, along, in_span, fast_end, &of_spans) ||
      !constant_stride(&inside, line, GROUP_BITS, line_end, &of_groups))
    return false;
  for (uint32_t axis = 0; axis < 2; axis++)
    for (uint32_t i = axis == fast ? in_span > fast_end ? in_span : fast_end : line_end; i < r->bits[axis]; i++)
      if (t->places[axis][i] & (inside.inner | moved) || t->places[axis][i] % UNIT) return false;
  if (moved & inside.inner) return false;
  t->fast = fast;
  t->span = span;
  // Without a swizzle, operands that are contiguous along M or N have the two the other way round.
  t->leading = !span && !k_major ? of_groups : of_spans;
  t->stride = !span && !k_major ? of_spans : of_groups;
  return true;
}

bool wgmma_tile_read(const Layout *l, const int64_t shape[2], uint32_t elem_bytes, uint32_t k_axis, uint32_t outer,
                     WgmmaTile *out) {
  static const uint32_t spans[] = {128, 64, 32, 0};
  uint32_t places[LAYOUT_MAX_BITS];
  Reader r = {.layout = l, .elem_bytes = elem_bytes, .k_axis = k_axis, .outer_bits = log2_u32(outer)};
  if (l->rank != 2 || l->num_pads || !layout_right_inverse(l, places)) return false;
  *out = (WgmmaTile){0};
  for (uint32_t axis = 0; axis < 2; axis++) {
    r.bits[axis] = log2_u32((uint32_t)shape[axis]);
    for (uint32_t i = 0; i < r.bits[axis]; i++)
      out->places[axis][i] = places[layout_axis_shift(l, axis) + i] * elem_bytes;
  }
  if ((int64_t)outer > shape[1 - k_axis] || K_BYTES > shape[k_axis] * elem_bytes) return false;
  for (uint32_t i = 0; i < 2 * countof(spans); i++)
    if (read_span(&r, i & 1, spans[i / 2], out)) return true;
  return false;
}

uint32_t wgmma_tile_offset(const WgmmaTile *t, uint32_t k_axis, uint32_t outer, uint32_t k) {
  uint32_t bytes = 0;
  for (uint32_t x = outer; x; x &= x - 1) bytes ^= t->places[1 - k_axis][__builtin_ctz(x)];
  for (uint32_t x = k; x; x &= x - 1) bytes ^= t->places[k_axis][__builtin_ctz(x)];
  return bytes;
}

uint32_t wgmma_columns(const Layout *acc) {
  uint32_t n = 8, bit = 2;
  while (n < 256 && bit < acc->num_bits[LAYOUT_REG] && layout_basis(acc, LAYOUT_REG, bit) == n) n *= 2, bit++;
  return n;
}
