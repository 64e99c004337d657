// The order of reductions and scans, from the layout's columns.
#include "ir/reduce_order.h"

static uint32_t axis_bits(const Type *t, uint32_t axis) {
  if (t->layout) return t->layout->log2_size[axis];
  return t->shape[axis] > 1 ? 64u - (uint32_t)__builtin_clzll((uint64_t)t->shape[axis] - 1) : 0;
}

bool reduce_axis_places(const Layout *l, uint32_t axis, AxisPlace places[LAYOUT_MAX_BITS]) {
  uint32_t mask = layout_axis_mask(l, axis), shift = layout_axis_shift(l, axis), held = 0;
  for (uint32_t d = 0; d < LAYOUT_DIMS; d++)
    for (uint32_t i = 0; i < l->num_bits[d]; i++) {
      uint32_t column = layout_basis(l, (LayoutDim)d, i), part = (column & mask) >> shift;
      if (!part) continue;
      if (column & ~mask || !is_pow2_u64(part)) return false;
      if (held & part) continue;   // a duplicate of an earlier place
      held |= part;
      places[log2_u32(part)] = (AxisPlace){(uint8_t)d, (uint8_t)i};
    }
  return held == (mask >> shift);
}

uint32_t reduce_order(const Type *t, uint32_t axis, uint8_t bits[LAYOUT_MAX_BITS]) {
  uint32_t n = axis_bits(t, axis), count = 0;
  AxisPlace at[LAYOUT_MAX_BITS];
  if (!t->layout || !reduce_axis_places(t->layout, axis, at)) {
    for (uint32_t i = 0; i < n && i < LAYOUT_MAX_BITS; i++) bits[i] = (uint8_t)i;
    return n;
  }
  for (uint32_t d = 0; d < LAYOUT_DIMS; d++)
    for (uint32_t b = 0; b < t->layout->num_bits[d]; b++)
      for (uint32_t i = 0; i < n; i++)
        if (at[i].dim == d && at[i].bit == b) bits[count++] = (uint8_t)i;
  return count;
}

uint32_t reduce_product_folds(const Type *t, uint32_t axis) {
  enum { LONGEST = 3 };
  uint32_t n = axis_bits(t, axis), in_registers = 0;
  AxisPlace at[LAYOUT_MAX_BITS];
  if (!t->layout || !reduce_axis_places(t->layout, axis, at)) return n < LONGEST ? n : LONGEST;
  for (uint32_t i = 0; i < n; i++) in_registers += at[i].dim == LAYOUT_REG;
  return in_registers < LONGEST ? in_registers : LONGEST;
}

bool reduce_by_halves(uint32_t rows, uint32_t lane_bits, uint32_t *shuffles) {
  enum { SHUFFLE = 4, OTHER = 1 };                             // an SM shuffles 32 values in a clock, and adds 128
  const uint32_t alone = rows * lane_bits, splits = (uint32_t)min_i64(log2_u32(rows), lane_bits), left = rows >> splits;
  const uint32_t sent = rows - left, combined = sent + left * (lane_bits - splits), halves = combined + rows;
  const uint32_t cost = SHUFFLE * halves + OTHER * (combined + 2 * sent), cost_alone = (SHUFFLE + OTHER) * alone;
  // Fetching the result adds the latency of one more shuffle. Two rows are faster without: their shuffles overlap.
  const bool pays = rows > 2 && 4 * cost <= 3 * cost_alone;
  *shuffles = pays ? halves + sent : alone;
  return pays;
}

uint32_t reduce_scan_order(const Type *t, uint32_t axis, ScanGroup groups[LAYOUT_MAX_BITS]) {
  uint32_t n = axis_bits(t, axis), count = 0;
  AxisPlace at[LAYOUT_MAX_BITS];
  bool known = t->layout && reduce_axis_places(t->layout, axis, at);
  for (uint32_t i = 0; i < n; i++) {
    LayoutDim dim = known ? (LayoutDim)at[i].dim : LAYOUT_REG;
    if (count && groups[count - 1].dim == dim)
      groups[count - 1].count++;
    else
      groups[count++] = (ScanGroup){dim, (uint8_t)i, 1};
  }
  return count;
}
