// Layouts as GF(2) maps: interning, queries, conversion maps, shape operations. layout.h explains them.
#include "ir/layout.h"

#include <string.h>

#include "ir/gf2.h"

static uint32_t total_bits(const Layout *l) {
  return l->num_bits[0] + l->num_bits[1] + l->num_bits[2] + l->num_bits[3];
}

static uint32_t hash_layout(const Layout *l) {
  uint32_t h = 2166136261u;
#define MIX(x) h = (h ^ (x)) * 16777619u
  MIX(l->kind);
  MIX(l->rank);
  for (uint32_t i = 0; i < l->rank; i++) MIX(l->log2_size[i]);
  for (uint32_t i = 0; i < LAYOUT_DIMS; i++) MIX(l->num_bits[i]);
  for (uint32_t i = 0, n = total_bits(l); i < n; i++) {
    MIX(l->basis[i]);
    MIX(h >> 13);
  }
  for (uint32_t i = 0; i < l->num_pads; i++) MIX(l->pad[i].interval << 8 | l->pad[i].by);
  MIX(l->moved);
#undef MIX
  return h ^ h >> 16;
}

static bool same(const void *kept, const void *key) {
  const Layout *a = kept, *b = key;
  return a->kind == b->kind && a->rank == b->rank && memcmp(a->log2_size, b->log2_size, sizeof a->log2_size) == 0 &&
         memcmp(a->num_bits, b->num_bits, sizeof a->num_bits) == 0 && a->moved == b->moved &&
         a->num_pads == b->num_pads && memcmp(a->pad, b->pad, a->num_pads * sizeof *a->pad) == 0 &&
         memcmp(a->basis, b->basis, total_bits(a) * sizeof *a->basis) == 0;
}

const Layout *layout_intern(Context *ctx, const Layout *l) {
  MapSlot *slot = map_find(&ctx->arena, &ctx->layouts, hash_layout(l), l, same);
  if (slot->key) return slot->key;
  uint32_t n = total_bits(l), tensor = layout_tensor_bits(l);
  if (n > LAYOUT_MAX_BITS || tensor > 31)
    ice(ctx, "layout with %u place bits for a tensor of 2^%u elements", n, tensor);
  Layout *kept = arena_new(&ctx->arena, Layout);
  *kept = *l;
  for (uint32_t i = 0; i < n; i++)
    if (l->basis[i] >> tensor)
      ice(ctx, "layout column %u = %u outside a tensor of 2^%u elements", i, l->basis[i], tensor);
  for (uint32_t i = n; i < LAYOUT_MAX_BITS; i++) kept->basis[i] = 0;
  slot->key = kept;
  return kept;
}

// ---- queries ----

uint32_t layout_total_bits(const Layout *l) { return total_bits(l); }

uint32_t layout_tensor_bits(const Layout *l) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < l->rank; i++) n += l->log2_size[i];
  return n;
}

uint32_t layout_dim_start(const Layout *l, LayoutDim dim) {
  uint32_t n = 0;
  for (uint32_t d = 0; d < (uint32_t)dim; d++) n += l->num_bits[d];
  return n;
}

uint32_t layout_basis(const Layout *l, LayoutDim dim, uint32_t bit) {
  assert(bit < l->num_bits[dim]);
  return l->basis[layout_dim_start(l, dim) + bit];
}

uint32_t layout_axis_shift(const Layout *l, uint32_t axis) {
  uint32_t n = 0;
  for (uint32_t i = axis + 1; i < l->rank; i++) n += l->log2_size[i];
  return n;
}

uint32_t layout_axis_mask(const Layout *l, uint32_t axis) {
  return ((1u << l->log2_size[axis]) - 1) << layout_axis_shift(l, axis);
}

uint32_t layout_apply_bits(const Layout *l, uint32_t place) { return gf2_apply(l->basis, total_bits(l), place); }

uint32_t layout_pack(const Layout *l, uint32_t reg, uint32_t lane, uint32_t warp, uint32_t block) {
  const uint32_t part[] = {reg, lane, warp, block};
  uint32_t place = 0;
  for (uint32_t d = 0, at = 0; d < LAYOUT_DIMS; at += l->num_bits[d++])
    if (l->num_bits[d]) place |= (part[d] & (uint32_t)((1ull << l->num_bits[d]) - 1)) << at;
  return place;
}

uint32_t layout_part(const Layout *l, uint32_t place, LayoutDim dim) {
  if (!l->num_bits[dim]) return 0;
  return place >> layout_dim_start(l, dim) & (uint32_t)((1ull << l->num_bits[dim]) - 1);
}

uint32_t layout_apply(const Layout *l, uint32_t reg, uint32_t lane, uint32_t warp, uint32_t block) {
  return layout_apply_bits(l, layout_pack(l, reg, lane, warp, block));
}


uint32_t layout_rank(const Layout *l) { return gf2_rank(l->basis, total_bits(l)); }
bool layout_is_surjective(const Layout *l) { return layout_rank(l) == layout_tensor_bits(l); }
uint32_t layout_regs_per_thread(const Layout *l) { return 1u << l->num_bits[LAYOUT_REG]; }

uint32_t layout_size_bytes(const Layout *l, uint32_t elem_bits) {
  const uint32_t last = (1u << l->num_bits[LAYOUT_OFFSET]) - 1;
  return (elem_bits < 8 ? 1 : elem_bits / 8) * (layout_address(l, last) + 1);
}

uint32_t layout_address(const Layout *l, uint32_t offset) {
  uint32_t sum = offset;
  for (uint32_t i = 0; i < l->num_pads; i++) sum += offset >> l->pad[i].interval << l->pad[i].by;
  return sum;
}

uint32_t layout_whole_bits(const Layout *l) {
  uint32_t n = l->moved ? (uint32_t)__builtin_ctz(l->moved) : LAYOUT_MAX_BITS;
  for (uint32_t i = 0; i < l->num_pads; i++) {
    if (l->pad[i].interval < n) n = l->pad[i].interval;
    if (l->pad[i].by < n) n = l->pad[i].by;
  }
  return n;
}

uint32_t layout_free_bits(const Layout *l, LayoutDim dim) {
  Gf2Space s = {0};
  uint32_t mask = 0;
  for (uint32_t d = 0, at = 0; d <= (uint32_t)dim; d++)
    for (uint32_t i = 0; i < l->num_bits[d]; i++, at++)
      if (!gf2_add(&s, l->basis[at], 0) && d == (uint32_t)dim) mask |= 1u << i;
  return mask;
}

uint32_t layout_vector_bits(const Layout *l, uint32_t axis, uint8_t bits[LAYOUT_MAX_BITS]) {
  uint32_t shift = layout_axis_shift(l, axis), n = 0;
  for (; n < l->log2_size[axis]; n++) {
    // The only column with this flat bit must be that of a register, and hold nothing else.
    uint32_t want = 1u << (shift + n), found = LAYOUT_MAX_BITS;
    for (uint32_t i = 0, all = total_bits(l); i < all; i++) {
      if (!(l->basis[i] & want)) continue;
      if (found != LAYOUT_MAX_BITS || l->basis[i] != want || i >= l->num_bits[LAYOUT_REG]) return n;
      found = i;
    }
    if (found == LAYOUT_MAX_BITS) return n;
    bits[n] = (uint8_t)found;
  }
  return n;
}

uint32_t layout_contiguity(const Layout *l, uint32_t axis) {
  uint8_t bits[LAYOUT_MAX_BITS];
  uint32_t all = layout_vector_bits(l, axis, bits), n = 0;
  while (n < all && bits[n] == n) n++;
  return 1u << n;
}

// ---- conversion maps ----

static uint32_t sum_of(const uint8_t bits[LAYOUT_DIMS], uint32_t n) {
  uint32_t s = 0;
  for (uint32_t i = 0; i < n; i++) s += bits[i];
  return s;
}

uint32_t layoutmap_apply(const LayoutMap *m, uint32_t place) {
  return gf2_apply(m->col, sum_of(m->in_bits, LAYOUT_DIMS), place);
}

uint32_t layoutmap_out(const LayoutMap *m, uint32_t packed, LayoutDim dim) {
  if (!m->out_bits[dim]) return 0;
  return packed >> sum_of(m->out_bits, dim) & (uint32_t)((1ull << m->out_bits[dim]) - 1);
}

bool layout_invert_and_compose(const Layout *dst, const Layout *src, LayoutMap *out) {
  *out = (LayoutMap){0};
  memcpy(out->in_bits, dst->num_bits, sizeof out->in_bits);
  memcpy(out->out_bits, src->num_bits, sizeof out->out_bits);
  Gf2Space s = gf2_span(src->basis, total_bits(src));
  for (uint32_t d = 0, at = 0; d < LAYOUT_DIMS; d++) {
    for (uint32_t i = 0; i < dst->num_bits[d]; i++, at++) {
      uint32_t element = dst->basis[at];
      if (dst->kind == src->kind && i < src->num_bits[d] && layout_basis(src, d, i) == element)
        out->col[at] = 1u << (layout_dim_start(src, d) + i);
      else if (gf2_reduce(&s, element, &out->col[at]) != 0)
        return false;
      else if (dst->kind == src->kind && d == LAYOUT_LANE && i < src->num_bits[d] && !layout_basis(src, d, i) &&
               !layoutmap_out(out, out->col[at], d))
        out->col[at] ^= 1u << (layout_dim_start(src, d) + i);     // the lane itself has it, too, in another register
    }
  }
  return true;
}

bool layout_right_inverse(const Layout *l, uint32_t places[LAYOUT_MAX_BITS]) {
  Gf2Space s = gf2_span(l->basis, total_bits(l));
  for (uint32_t i = 0, n = layout_tensor_bits(l); i < n; i++)
    if (gf2_reduce(&s, 1u << i, &places[i]) != 0) return false;
  return true;
}

LayoutMove layoutmap_move(const LayoutMap *m) {
  LayoutMove most = MOVE_NOTHING;
  for (uint32_t d = 0; d < LAYOUT_DIMS; d++) {
    if (d == LAYOUT_REG && m->in_bits[d] != m->out_bits[d]) most = MOVE_REGISTERS;
    for (uint32_t e = 0, at = 0; e < LAYOUT_DIMS; e++)
      for (uint32_t i = 0; i < m->in_bits[e]; i++, at++)
        if (layoutmap_out(m, m->col[at], d) != (e == d ? 1u << i : 0))
          most = (LayoutMove)max_i64(most, (d > e ? d : e) + 1);      // a register that the lane chooses: MOVE_LANES
  }
  return most;
}

// ---- shape operations ----

// The flat index in a tensor of axis sizes `to`: its part on axis i is f's part on axis map[i] of `from`, or zero if
// map[i] < 0.
static uint32_t rearrange(uint32_t f, const Layout *from, const Layout *to, const int *map) {
  uint32_t r = 0;
  for (uint32_t i = 0; i < to->rank; i++) {
    if (map[i] < 0) continue;
    uint32_t part = (f & layout_axis_mask(from, (uint32_t)map[i])) >> layout_axis_shift(from, (uint32_t)map[i]);
    r |= part << layout_axis_shift(to, i);
  }
  return r;
}

bool layout_to_shared(const Layout *l, const Layout *shared, LayoutMap *out) {
  if (layout_tensor_bits(l) == layout_tensor_bits(shared)) return layout_invert_and_compose(l, shared, out);
  Layout wide = *l;
  int same_axes[LAYOUT_MAX_RANK];
  if (l->rank != shared->rank) return false;
  memcpy(wide.log2_size, shared->log2_size, sizeof wide.log2_size);
  for (uint32_t i = 0; i < l->rank; i++) {
    if (l->log2_size[i] > shared->log2_size[i]) return false;
    same_axes[i] = (int)i;
  }
  for (uint32_t i = 0, n = total_bits(l); i < n; i++) wide.basis[i] = rearrange(l->basis[i], l, shared, same_axes);
  return layout_invert_and_compose(&wide, shared, out);
}

// Completes r, whose rank and sizes are set: its columns are those of l, with axis i taken from axis map[i].
static const Layout *remap(Context *ctx, const Layout *l, Layout *r, const int *map) {
  r->kind = l->kind;
  memcpy(r->num_bits, l->num_bits, sizeof r->num_bits);
  r->num_pads = l->num_pads;
  memcpy(r->pad, l->pad, sizeof r->pad);
  r->moved = l->moved;
  for (uint32_t i = 0, n = total_bits(l); i < n; i++) r->basis[i] = rearrange(l->basis[i], l, r, map);
  return layout_intern(ctx, r);
}

const Layout *layout_reshape(Context *ctx, const Layout *l, uint32_t rank, const int64_t *shape) {
  Layout r = *l;
  r.rank = (uint8_t)rank;
  memset(r.log2_size, 0, sizeof r.log2_size);
  for (uint32_t i = 0; i < rank; i++) r.log2_size[i] = (uint8_t)log2_u32((uint32_t)shape[i]);
  assert(layout_tensor_bits(&r) == layout_tensor_bits(l));
  return layout_intern(ctx, &r);
}

const Layout *layout_transpose(Context *ctx, const Layout *l, const int64_t *order) {
  Layout r = {.rank = l->rank};
  int map[LAYOUT_MAX_RANK];
  for (uint32_t i = 0; i < l->rank; i++) {
    map[i] = (int)order[i];
    r.log2_size[i] = l->log2_size[order[i]];
  }
  return remap(ctx, l, &r, map);
}

const Layout *layout_slice(Context *ctx, const Layout *l, uint32_t axis) {
  Layout r = {.rank = (uint8_t)(l->rank - 1)};
  int map[LAYOUT_MAX_RANK];
  for (uint32_t i = 0; i < r.rank; i++) {
    map[i] = (int)(i < axis ? i : i + 1);
    r.log2_size[i] = l->log2_size[map[i]];
  }
  return remap(ctx, l, &r, map);
}

const Layout *layout_expand_dims(Context *ctx, const Layout *l, uint32_t axis) {
  Layout r = {.rank = (uint8_t)(l->rank + 1)};
  int map[LAYOUT_MAX_RANK];
  for (uint32_t i = 0; i < r.rank; i++) {
    map[i] = i == axis ? -1 : (int)(i < axis ? i : i - 1);
    r.log2_size[i] = map[i] < 0 ? 0 : l->log2_size[map[i]];
  }
  return remap(ctx, l, &r, map);
}

const Layout *layout_project(Context *ctx, const Layout *l, uint32_t axis) {
  Layout r = *l;
  r.log2_size[axis] = 0;
  int map[LAYOUT_MAX_RANK];
  for (uint32_t i = 0; i < l->rank; i++) map[i] = i == axis ? -1 : (int)i;
  return remap(ctx, l, &r, map);
}

const Layout *layout_stretch(Context *ctx, const Layout *l, uint32_t axis, int64_t size) {
  Layout r = *l;
  r.log2_size[axis] = (uint8_t)log2_u32((uint32_t)size);
  int map[LAYOUT_MAX_RANK];
  for (uint32_t i = 0; i < l->rank; i++) map[i] = (int)i;
  r = *remap(ctx, l, &r, map);
  const uint32_t at = l->num_bits[LAYOUT_REG], more = r.log2_size[axis];
  memmove(r.basis + at + more, r.basis + at, sizeof *r.basis * (total_bits(l) - at));
  for (uint32_t i = 0; i < more; i++) r.basis[at + i] = 1u << (layout_axis_shift(&r, axis) + i);
  r.num_bits[LAYOUT_REG] += more;
  return layout_intern(ctx, &r);
}

const Layout *layout_join(Context *ctx, const Layout *l) {
  Layout r = *l;
  r.rank++;
  r.log2_size[l->rank] = 1;
  r.num_bits[LAYOUT_REG]++;
  r.basis[0] = 1;
  for (uint32_t i = 0, n = total_bits(l); i < n; i++) r.basis[i + 1] = l->basis[i] << 1;
  return layout_intern(ctx, &r);
}

const Layout *layout_split(Context *ctx, const Layout *l) {
  if (l->rank == 0 || l->log2_size[l->rank - 1] != 1) return NULL;
  Layout r = *l;
  uint32_t found = LAYOUT_MAX_BITS, n = 0;
  for (uint32_t i = 0, all = total_bits(l); i < all; i++) {
    if (l->basis[i] & 1) {
      if (l->basis[i] != 1 || i >= l->num_bits[LAYOUT_REG] || found != LAYOUT_MAX_BITS) return NULL;
      found = i;
    } else {
      r.basis[n++] = l->basis[i] >> 1;
    }
  }
  if (found == LAYOUT_MAX_BITS) return NULL;
  r.rank--;
  r.log2_size[r.rank] = 0;
  r.num_bits[LAYOUT_REG]--;
  return layout_intern(ctx, &r);
}

const Layout *layout_drop_zero_regs(Context *ctx, const Layout *l) {
  Layout r = *l;
  uint32_t n = 0;
  r.num_bits[LAYOUT_REG] = 0;
  for (uint32_t i = 0, all = total_bits(l); i < all; i++) {
    bool is_reg = i < l->num_bits[LAYOUT_REG];
    if (is_reg && !l->basis[i]) continue;
    r.num_bits[LAYOUT_REG] += is_reg;
    r.basis[n++] = l->basis[i];
  }
  return layout_intern(ctx, &r);
}

// x without the bits of the mask; those above move down.
static uint32_t without_bits(uint32_t x, uint32_t mask) {
  for (uint32_t bit = LAYOUT_MAX_BITS; bit-- > 0;)
    if (mask >> bit & 1) x = (x & ((1u << bit) - 1)) | x >> bit >> 1 << bit;
  return x;
}

const Layout *layout_block_part(Context *ctx, const Layout *l) {
  Layout r = *l;
  const uint32_t first = layout_dim_start(l, LAYOUT_BLOCK);
  uint32_t chosen = 0;
  for (uint32_t i = first; i < total_bits(l); i++) {
    if ((l->basis[i] & (l->basis[i] - 1)) || (l->basis[i] & chosen)) return NULL;
    chosen |= l->basis[i];
  }
  r.num_bits[LAYOUT_BLOCK] = 0;
  for (uint32_t d = 0; d < l->rank; d++) r.log2_size[d] -= (uint8_t)__builtin_popcount(chosen & layout_axis_mask(l, d));
  for (uint32_t i = 0; i < first; i++) {
    if (l->basis[i] & chosen) return NULL;
    r.basis[i] = without_bits(l->basis[i], chosen);
  }
  return layout_intern(ctx, &r);
}

// ---- text ----

void layout_print(Buf *out, const Layout *l) {
  static const char *const names[2][LAYOUT_DIMS] = {{"reg", "lane", "warp", "block"}, {"offset", "", "", "block"}};
  buf_puts(out, l->kind == LAYOUT_SHARED ? "shared<" : "layout<");
  for (uint32_t i = 0; i < l->rank; i++) buf_printf(out, "%s%u", i ? "x" : "", 1u << l->log2_size[i]);
  for (uint32_t d = 0; d < LAYOUT_DIMS; d++) {
    if (!l->num_bits[d]) continue;
    buf_printf(out, ", %s = [", names[l->kind][d]);
    for (uint32_t i = 0; i < l->num_bits[d]; i++) buf_printf(out, "%s%u", i ? ", " : "", layout_basis(l, d, i));
    buf_putc(out, ']');
  }
  for (uint32_t i = 0; i < l->num_pads; i++)
    buf_printf(out, "%s%u, %u%s", i ? ", " : ", pad = [", 1u << l->pad[i].interval, 1u << l->pad[i].by,
               i + 1 < l->num_pads ? "" : "]");
  for (uint32_t m = l->moved; m; m &= m - 1)
    buf_printf(out, "%s%u%s", m == l->moved ? ", moved = [" : ", ", m & -m, m & (m - 1) ? "" : "]");
  buf_putc(out, '>');
}
