// Gluon's layouts as maps. See layout_gluon.h.
#include "ir/layout_gluon.h"

void layout_tile_add(LayoutTile *t, LayoutDim dim, const LayoutVector *v) {
  if (t->num[dim] == LAYOUT_MAX_BITS) t->too_many = true;
  else t->vec[dim][t->num[dim]++] = *v;
}

// A unit vector along the axis.
static void step(LayoutTile *t, LayoutDim dim, uint32_t axis, uint32_t by) {
  LayoutVector v = {0};
  v.at[axis] = by;
  layout_tile_add(t, dim, &v);
}

// Steps of from, 2·from, … below to.
static void steps(LayoutTile *t, LayoutDim dim, uint32_t axis, uint32_t from, uint32_t to) {
  for (; from < to; from *= 2) step(t, dim, axis, from);
}

void layout_tile_blocked(LayoutTile *t, uint32_t rank, const uint32_t *size_per_thread, const uint32_t *threads,
                         const uint32_t *warps, const uint32_t *order) {
  t->rank = rank;
  for (uint32_t i = 0; i < rank; i++) {
    const uint32_t d = order[i], s = size_per_thread[d], st = s * threads[d];
    steps(t, LAYOUT_REG, d, 1, s);
    steps(t, LAYOUT_LANE, d, s, st);
    steps(t, LAYOUT_WARP, d, st, st * warps[d]);
  }
}

// Warps along M and N, in steps of m and n elements, then along the batch; 0: they hold the same.
static void mma_warps(LayoutTile *t, const uint32_t *warps, bool m_first, uint32_t m, uint32_t n) {
  const uint32_t rank = t->rank, scale[2] = {m, n};
  for (uint32_t k = 0; k < 2; k++) {
    const bool is_n = (k == 0) != m_first;
    const uint32_t axis = rank - 2 + is_n;
    for (uint32_t w = 1; w < warps[axis]; w *= 2) step(t, LAYOUT_WARP, axis, w * scale[is_n]);
  }
  for (uint32_t d = 0; d + 2 < rank; d++) steps(t, LAYOUT_WARP, d, 1, warps[d]);
}

void layout_tile_mma(LayoutTile *t, uint32_t rank, const uint32_t *warps, uint32_t instr_n, bool warps_m_first) {
  const uint32_t m = rank - 2, n = rank - 1;
  t->rank = rank;
  step(t, LAYOUT_REG, n, 1);
  steps(t, LAYOUT_LANE, n, 2, 8);
  steps(t, LAYOUT_LANE, m, 1, 8);
  step(t, LAYOUT_REG, m, 8);
  steps(t, LAYOUT_REG, n, 8, instr_n);
  mma_warps(t, warps, warps_m_first, 16, instr_n);
}

void layout_tile_mma_operand(LayoutTile *t, uint32_t rank, const uint32_t *warps, bool warps_m_first, uint32_t operand,
                             uint32_t k_width) {
  const uint32_t k = operand == 0 ? rank - 1 : rank - 2, other = operand == 0 ? rank - 2 : rank - 1;
  t->rank = rank;
  steps(t, LAYOUT_REG, k, 1, k_width);
  steps(t, LAYOUT_LANE, k, k_width, 4 * k_width);
  steps(t, LAYOUT_LANE, other, 1, 8);
  if (operand == 0) step(t, LAYOUT_REG, other, 8);
  step(t, LAYOUT_REG, k, 4 * k_width);
  mma_warps(t, warps, warps_m_first, operand == 0 ? 16 : 0, operand == 0 ? 0 : 8);
}

void layout_tile_fma_operand(LayoutTile *t, uint32_t rank, const uint32_t *size_per_thread, const uint32_t *threads,
                             const uint32_t *warps, const uint32_t *order, uint32_t operand, uint32_t k) {
  const uint32_t axis = operand == 0 ? rank - 1 : rank - 2;
  uint32_t size[LAYOUT_MAX_RANK];
  for (uint32_t d = 0; d < rank; d++) size[d] = d == axis ? k : size_per_thread[d];
  layout_tile_blocked(t, rank, size, threads, warps, order);
  for (uint32_t dim = LAYOUT_LANE; dim <= LAYOUT_WARP; dim++)
    for (uint32_t i = 0; i < t->num[dim]; i++) t->vec[dim][i].at[axis] = 0;
}

void layout_tile_swizzled(LayoutTile *t, uint32_t rank, const uint32_t *cta, const uint32_t *order, uint32_t vec,
                          uint32_t per_phase, uint32_t max_phase) {
  const uint32_t c = order[0];
  t->rank = rank;
  steps(t, LAYOUT_OFFSET, c, 1, cta[c]);
  for (uint32_t row = 1; rank > 1 && row < cta[order[1]]; row *= 2) {
    LayoutVector v = {0};
    v.at[order[1]] = row;
    v.at[c] = vec * (row / per_phase % max_phase) % cta[c];
    layout_tile_add(t, LAYOUT_OFFSET, &v);
  }
  for (uint32_t i = 2; i < rank; i++) steps(t, LAYOUT_OFFSET, order[i], 1, cta[order[i]]);
}

void layout_tile_nvmma(LayoutTile *t, uint32_t rank, const uint32_t *cta, uint32_t axis, uint32_t swizzle_bytes,
                       uint32_t elem_bits) {
  enum { MAX_BOX = 256, UNIT_BITS = 128, SWIZZLED_ROWS = 3 };   // units of 16 bytes
  t->rank = rank;
  uint32_t bit = 0;
  const uint32_t first = swizzle_bytes ? axis : rank - 1;
  const uint32_t width = swizzle_bytes ? 8 * swizzle_bytes / elem_bits : MAX_BOX;
  steps(t, LAYOUT_OFFSET, first, 1, cta[first] < width ? cta[first] : width);
  for (uint32_t i = rank; i-- > 0;) {
    if (i == first) continue;
    for (uint32_t row = 1; row < cta[i] && row < MAX_BOX; row *= 2, bit++) {
      LayoutVector v = {0};
      v.at[i] = row;
      if (swizzle_bytes && bit < SWIZZLED_ROWS)
        v.at[axis] = UNIT_BITS / elem_bits * ((1u << bit) / (128 / swizzle_bytes) % (swizzle_bytes / 16));
      layout_tile_add(t, LAYOUT_OFFSET, &v);
    }
  }
}

void layout_cta_shape(uint32_t rank, const int64_t *shape, const LayoutVector *cga, uint32_t num_cga, uint32_t *cta) {
  for (uint32_t d = 0; d < rank; d++) {
    cta[d] = (uint32_t)shape[d];
    for (uint32_t i = 0; i < num_cga; i++)
      if (cga[i].at[d] && cga[i].at[d] < (uint32_t)shape[d] && cta[d] > 1) cta[d] /= 2;
  }
}

static uint32_t extent(const LayoutTile *t, uint32_t axis) {
  uint32_t all = 0;
  for (uint32_t dim = 0; dim < LAYOUT_DIMS; dim++)   // explicit bases may have blocks' already
    for (uint32_t i = 0; i < t->num[dim]; i++) all |= t->vec[dim][i].at[axis];
  return all ? 2u << log2_u32(all) : 1;
}

const Layout *layout_finish(Context *ctx, LayoutKind kind, LayoutTile *t, const int64_t *shape, const uint32_t *order,
                            const LayoutVector *cga, uint32_t num_cga) {
  Layout l = {.kind = (uint8_t)kind, .rank = (uint8_t)t->rank};
  uint32_t cta[LAYOUT_MAX_RANK], n = 0;
  for (uint32_t d = 0; d < t->rank; d++) l.log2_size[d] = (uint8_t)log2_u32((uint32_t)shape[d]);
  layout_cta_shape(t->rank, shape, cga, num_cga, cta);
  for (uint32_t i = 0; i < t->rank; i++) steps(t, LAYOUT_REG, order[i], extent(t, order[i]), cta[order[i]]);
  for (uint32_t i = 0; i < num_cga; i++) {
    LayoutVector v = {0};
    for (uint32_t d = 0; d < t->rank; d++)
      if (cga[i].at[d] < (uint32_t)shape[d]) v.at[d] = cga[i].at[d] * cta[d];
    layout_tile_add(t, LAYOUT_BLOCK, &v);
  }
  for (uint32_t dim = 0; dim < LAYOUT_DIMS; dim++) {
    l.num_bits[dim] = (uint8_t)t->num[dim];
    if (n + t->num[dim] > LAYOUT_MAX_BITS || t->too_many) return NULL;
    for (uint32_t i = 0; i < t->num[dim]; i++, n++)
      for (uint32_t d = 0; d < t->rank; d++) {
        const uint32_t by = t->vec[dim][i].at[d], end = dim == LAYOUT_BLOCK ? (uint32_t)shape[d] : cta[d];
        if (by < end) l.basis[n] |= by << layout_axis_shift(&l, d);
      }
  }
  for (uint32_t i = 0; i < t->num_pads; i++) {
    const uint32_t interval = log2_u32(t->pad[i].interval);
    if (interval >= l.num_bits[LAYOUT_OFFSET]) continue;   // no offset reaches it
    l.pad[l.num_pads].interval = (uint8_t)interval;
    l.pad[l.num_pads++].by = (uint8_t)log2_u32(t->pad[i].by);
  }
  return layout_intern(ctx, &l);
}
