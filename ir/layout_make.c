// Constructors of layouts. Except for the swizzled ones, each column is a single bit: a constructor deals the bits of
// each axis, from the lowest up, to groups of place bits. The order in which it deals makes the layout.
#include <string.h>

#include "ir/gf2.h"
#include "ir/layout.h"

typedef struct {
  Layout l;
  uint32_t cols[LAYOUT_DIMS][LAYOUT_MAX_BITS];
  uint8_t num[LAYOUT_DIMS];
  uint8_t used[LAYOUT_MAX_RANK];   // bits of the axis dealt so far, also past its end
} Deal;

static uint8_t log2_ceil(int64_t n) {
  uint8_t b = 0;
  while (((int64_t)1 << b) < n) b++;
  return b;
}

static Deal begin(LayoutKind kind, uint32_t rank, const int64_t *shape) {
  Deal d = {.l = {.kind = (uint8_t)kind, .rank = (uint8_t)rank}};
  for (uint32_t i = 0; i < rank; i++) d.l.log2_size[i] = log2_ceil(shape[i]);
  return d;
}

static void deal_column(Deal *d, LayoutDim dim, uint32_t column) {
  if (d->num[dim] < LAYOUT_MAX_BITS) d->cols[dim][d->num[dim]++] = column;
}

// Deals the next n bits of the axis to dim. Past the end of the axis these are duplicates, but not in registers.
static void deal(Deal *d, LayoutDim dim, uint32_t axis, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    uint32_t bit = d->used[axis]++;
    if (bit < d->l.log2_size[axis]) deal_column(d, dim, 1u << (layout_axis_shift(&d->l, axis) + bit));
    else if (dim != LAYOUT_REG) deal_column(d, dim, 0);
  }
}

static void deal_duplicates(Deal *d, LayoutDim dim, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) deal_column(d, dim, 0);
}

// Deals the rest of the axis to registers (in shared memory: to the offset).
static void deal_rest(Deal *d, uint32_t axis) {
  if (d->used[axis] < d->l.log2_size[axis]) deal(d, LAYOUT_REG, axis, (uint32_t)(d->l.log2_size[axis] - d->used[axis]));
}

static const Layout *end(Context *ctx, Deal *d) {
  uint32_t n = 0;
  for (uint32_t dim = 0; dim < LAYOUT_DIMS; dim++) {
    d->l.num_bits[dim] = d->num[dim];
    for (uint32_t i = 0; i < d->num[dim]; i++, n++) {
      if (n == LAYOUT_MAX_BITS) ice(ctx, "layout with more than %d place bits", LAYOUT_MAX_BITS);
      d->l.basis[n] = d->cols[dim][i];
    }
  }
  return layout_intern(ctx, &d->l);
}

const Layout *layout_make_blocked(Context *ctx, uint32_t rank, const int64_t *shape, const uint32_t *size_per_thread,
                                  const uint32_t *threads_per_warp, const uint32_t *warps_per_block,
                                  const uint32_t *order) {
  Deal d = begin(LAYOUT_DISTRIBUTED, rank, shape);
  const uint32_t *const sizes[] = {size_per_thread, threads_per_warp, warps_per_block};
  for (uint32_t dim = LAYOUT_REG; dim <= LAYOUT_WARP; dim++)
    for (uint32_t i = 0; i < rank; i++) deal(&d, (LayoutDim)dim, order[i], log2_u32(sizes[dim][order[i]]));
  for (uint32_t i = 0; i < rank; i++) deal_rest(&d, order[i]);
  return end(ctx, &d);
}

const Layout *layout_make_slice(Context *ctx, const Layout *parent, uint32_t axis) {
  return layout_drop_zero_regs(ctx, layout_slice(ctx, parent, axis));
}

// ---- tensor cores ----

// Deals warps. Along one operand's axis they step over it; along the other operand's axis (axis < 0) they hold
// duplicates.
static void deal_warps(Deal *d, const MmaShape *mma, int m_axis, int n_axis) {
  for (uint32_t k = 0; k < 2; k++) {
    bool is_m = (k == 0) == mma->warps_m_first;
    int axis = is_m ? m_axis : n_axis;
    uint32_t bits = log2_u32(mma->warps[mma->rank - (is_m ? 2 : 1)]);
    if (axis < 0) deal_duplicates(d, LAYOUT_WARP, bits);
    else deal(d, LAYOUT_WARP, (uint32_t)axis, bits);
  }
  for (uint32_t i = 0; i + 2 < mma->rank; i++) deal(d, LAYOUT_WARP, i, log2_u32(mma->warps[i]));
}

static void deal_batch(Deal *d, uint32_t rank) {
  for (uint32_t i = 0; i + 2 < rank; i++) deal_rest(d, i);
}

// One 16×8 fragment: lane = 4·(row mod 8) + column pair; registers: column in the pair, row half.
//   row 0:  l0 r0  l0 r1  l1 r0  l1 r1  l2 r0  l2 r1  l3 r0  l3 r1
//   row 1:  l4 …                                     rows 8…15: the same lanes, registers 2 and 3
const Layout *layout_make_mma_acc(Context *ctx, const int64_t *shape, const MmaShape *mma) {
  uint32_t m = mma->rank - 2, n = mma->rank - 1;
  Deal d = begin(LAYOUT_DISTRIBUTED, mma->rank, shape);
  deal(&d, LAYOUT_REG, n, 1);
  deal(&d, LAYOUT_LANE, n, 2);
  deal(&d, LAYOUT_LANE, m, 3);
  deal(&d, LAYOUT_REG, m, 1);
  deal(&d, LAYOUT_REG, n, log2_u32(mma->instr_n) - 3);
  deal_warps(&d, mma, (int)m, (int)n);
  deal_rest(&d, n);
  deal_rest(&d, m);
  deal_batch(&d, mma->rank);
  return end(ctx, &d);
}

const Layout *layout_make_wgmma_acc(Context *ctx, const int64_t *shape, uint32_t warps_m, uint32_t warps_n,
                                    uint32_t instr_n) {
  MmaShape mma = {.rank = 2, .warps = {warps_m, warps_n}, .warps_m_first = true, .instr_n = instr_n};
  return layout_make_mma_acc(ctx, shape, &mma);
}

const Layout *layout_make_mma_operand(Context *ctx, uint32_t op_index, const int64_t *shape, const MmaShape *mma,
                                      uint32_t k_width) {
  uint32_t rank = mma->rank, k = op_index == 0 ? rank - 1 : rank - 2, other = op_index == 0 ? rank - 2 : rank - 1;
  Deal d = begin(LAYOUT_DISTRIBUTED, rank, shape);
  deal(&d, LAYOUT_REG, k, log2_u32(k_width) + mma->k_pairs);
  deal(&d, LAYOUT_LANE, k, 2);
  deal(&d, LAYOUT_LANE, other, 3);
  if (op_index == 0) deal(&d, LAYOUT_REG, other, 1);
  if (!mma->k_pairs) deal(&d, LAYOUT_REG, k, 1);
  if (op_index == 1) deal(&d, LAYOUT_REG, other, log2_u32(mma->instr_n) - 3);
  deal_warps(&d, mma, op_index == 0 ? (int)other : -1, op_index == 1 ? (int)other : -1);
  deal_rest(&d, k);
  deal_rest(&d, other);
  deal_batch(&d, rank);
  return end(ctx, &d);
}

// ---- shared memory ----

const Layout *layout_make_shared_plain(Context *ctx, uint32_t rank, const int64_t *shape, const uint32_t *order) {
  Deal d = begin(LAYOUT_SHARED, rank, shape);
  for (uint32_t i = 0; i < rank; i++) deal_rest(&d, order[i]);
  return end(ctx, &d);
}

const Layout *layout_make_shared_chunked(Context *ctx, uint32_t rank, const int64_t *shape, uint32_t chunk,
                                         const uint32_t *order) {
  Deal d = begin(LAYOUT_SHARED, rank, shape);
  deal(&d, LAYOUT_OFFSET, order[0], log2_u32(chunk));
  for (uint32_t i = 1; i < rank; i++) deal_rest(&d, order[i]);
  deal_rest(&d, order[0]);
  return end(ctx, &d);
}

const Layout *layout_make_shared_swizzled(Context *ctx, uint32_t rank, const int64_t *shape, uint32_t elem_bits,
                                          uint32_t swizzle_bytes, const uint32_t *order) {
  Deal d = begin(LAYOUT_SHARED, rank, shape);
  uint32_t elem_bytes = elem_bits < 8 ? 1 : elem_bits / 8, log2_elem = log2_u32(elem_bytes);
  uint32_t chunk = log2_u32(swizzle_bytes ? swizzle_bytes : 16) - log2_elem;
  if (d.l.log2_size[order[0]] < chunk) return NULL;
  deal(&d, LAYOUT_OFFSET, order[0], chunk);
  for (uint32_t i = 1; i < rank; i++) deal_rest(&d, order[i]);
  deal_rest(&d, order[0]);
  // The byte address of a place is plain. The element at it is the one whose unswizzled address is address ^ (row bits,
  // shifted down): the column of address bit 7 + i also contains that of bit 4 + i.
  uint32_t xor_bits = swizzle_bytes ? log2_u32(swizzle_bytes) - 4 : 0;
  for (uint32_t i = 0; i < xor_bits; i++) {
    uint32_t from = 7 + i - log2_elem, to = 4 + i - log2_elem;
    if (from < d.num[LAYOUT_OFFSET]) d.cols[LAYOUT_OFFSET][from] ^= d.cols[LAYOUT_OFFSET][to];
  }
  return end(ctx, &d);
}

// The number of lane bits in one phase of an access to shared memory. A phase moves 128 bytes: all 32 lanes with
// vectors of up to 4 bytes, 16 with 8 bytes, 8 with 16.
static uint32_t phase_lanes(uint32_t vec_bytes) { return vec_bytes <= 4 ? 5 : 7 - log2_u32(vec_bytes); }

// Appends to out those vectors of `from` that are independent of space, and adds them to space.
static uint32_t extend(Gf2Space *space, const uint32_t *from, uint32_t n, uint32_t *out, uint32_t num_out,
                       uint32_t limit) {
  for (uint32_t i = 0; i < n && num_out < limit; i++)
    if (gf2_add(space, from[i], 0)) out[num_out++] = from[i];
  return num_out;
}

// Let V be the span of the vector, P and Q the spans of V and of one phase's lanes on either side (p and q, which begin
// with vec). The offset bits are V, then B (banks), then S (rows of 128 bytes). Two lanes conflict if they differ by
// something in V + S that is not in V: S must meet neither P nor Q. It consists of what lies outside P + Q, and of sums
// p + q of a vector that only P has and one that only Q has.
static const Layout *make_swizzled(Context *ctx, const Layout *shape, uint32_t bytes, const uint32_t *vec,
                                   uint32_t num_vec, const uint32_t *p, uint32_t num_p, const uint32_t *q,
                                   uint32_t num_q) {
  uint32_t bits = layout_tensor_bits(shape);
  Gf2Space v = gf2_span(vec, num_vec);
  uint32_t both[LAYOUT_MAX_BITS], only_p[LAYOUT_MAX_BITS], only_q[LAYOUT_MAX_BITS], rest[LAYOUT_MAX_BITS],
      unit[LAYOUT_MAX_BITS];
  uint32_t num_both = gf2_intersect(p, num_p, q, num_q, both);
  Gf2Space sum = gf2_span(both, num_both), sum_q = sum;
  uint32_t num_only_p = extend(&sum, p, num_p, only_p, 0, LAYOUT_MAX_BITS);
  uint32_t num_only_q = extend(&sum_q, q, num_q, only_q, 0, LAYOUT_MAX_BITS);
  extend(&sum, only_q, num_only_q, rest, 0, LAYOUT_MAX_BITS);
  for (uint32_t i = 0; i < bits; i++) unit[i] = 1u << i;
  uint32_t num_rest = extend(&sum, unit, bits, rest, 0, LAYOUT_MAX_BITS);

  uint32_t bank_bits = 7 - log2_u32(bytes);   // 128 bytes
  bank_bits = bank_bits > num_vec ? bank_bits - num_vec : 0;
  if (bank_bits > bits - num_vec) bank_bits = bits - num_vec;
  uint32_t num_rows = bits - num_vec - bank_bits, rows[LAYOUT_MAX_BITS], pairs[LAYOUT_MAX_BITS], num_pairs = 0;
  for (; num_pairs < num_only_p && num_pairs < num_only_q; num_pairs++)
    pairs[num_pairs] = only_p[num_pairs] ^ only_q[num_pairs];
  Gf2Space taken = v;
  uint32_t n = extend(&taken, rest, num_rest, rows, 0, num_rows);
  n = extend(&taken, pairs, num_pairs, rows, n, num_rows);
  n = extend(&taken, only_q, num_only_q, rows, n, num_rows);   // these rows conflict
  n = extend(&taken, only_p, num_only_p, rows, n, num_rows);
  n = extend(&taken, both, num_both, rows, n, num_rows);

  // Banks: what the lanes share goes lowest, into one word if elements are narrower than a word.
  uint32_t banks[LAYOUT_MAX_BITS], b = 0;
  b = extend(&taken, both, num_both, banks, b, bank_bits);
  b = extend(&taken, only_p, num_only_p, banks, b, bank_bits);
  b = extend(&taken, only_q, num_only_q, banks, b, bank_bits);
  b = extend(&taken, unit, bits, banks, b, bank_bits);

  Layout l = {.kind = LAYOUT_SHARED, .rank = shape->rank};
  memcpy(l.log2_size, shape->log2_size, sizeof l.log2_size);
  l.num_bits[LAYOUT_OFFSET] = (uint8_t)bits;
  memcpy(l.basis, vec, num_vec * sizeof *vec);
  memcpy(l.basis + num_vec, banks, b * sizeof *banks);
  memcpy(l.basis + num_vec + b, rows, n * sizeof *rows);
  return layout_intern(ctx, &l);
}

static bool in_registers(const Layout *l, uint32_t column) {
  for (uint32_t i = 0; i < l->num_bits[LAYOUT_REG]; i++)
    if (l->basis[i] == column) return column != 0;
  return false;
}

// out gets vec and the first `lanes` lane columns of l.
static uint32_t phase(const Layout *l, const uint32_t *vec, uint32_t num_vec, uint32_t lanes,
                      uint32_t out[LAYOUT_MAX_BITS]) {
  memcpy(out, vec, num_vec * sizeof *vec);
  for (uint32_t i = 0; i < lanes && i < l->num_bits[LAYOUT_LANE]; i++) out[num_vec++] = layout_basis(l, LAYOUT_LANE, i);
  return num_vec;
}

// A conversion through shared memory: how many registers one access takes on either side.
typedef struct { const Layout *src, *dst; uint32_t bytes, src_vec, dst_vec; } Exchange;    // log2 of registers

static uint32_t accesses(const Layout *l, uint32_t log2_vec) {
  const uint32_t regs = layout_regs_per_thread(l) >> __builtin_popcount(layout_free_bits(l, LAYOUT_REG));
  return regs >> log2_vec;
}

// What a thread's accesses cost, in instructions: each line that a warp's access moves takes as long as four.
static uint32_t exchange_cost(const Exchange *x, const Layout *shared) {
  const uint32_t bits = x->bytes * 8, stores = accesses(x->src, x->src_vec), loads = accesses(x->dst, x->dst_vec);
  return stores * (1 + 4 * layout_bank_conflicts(x->src, shared, bits, 1u << x->src_vec)) +
         loads * (1 + 4 * layout_bank_conflicts(x->dst, shared, bits, 1u << x->dst_vec));
}

static const Layout *exchange_layout(Context *ctx, const Exchange *x, const uint32_t *vec, uint32_t num_vec) {
  uint32_t p[LAYOUT_MAX_BITS], q[LAYOUT_MAX_BITS];
  const uint32_t num_p = phase(x->src, vec, num_vec, phase_lanes(x->bytes << x->src_vec), p);
  const uint32_t num_q = phase(x->dst, vec, num_vec, phase_lanes(x->bytes << x->dst_vec), q);
  return make_swizzled(ctx, x->src, x->bytes, vec, num_vec, p, num_p, q, num_q);
}

// The vector's first elements are registers on both sides. Those of one side alone may follow: the other side then
// takes less of the vector at once. Bytes, which would have to be taken out of words again, are not worth that.
const Layout *layout_make_shared_for_conversion(Context *ctx, const Layout *src, const Layout *dst, uint32_t elem_bits,
                                                uint32_t *log2_vec) {
  const uint32_t bytes = elem_bits < 8 ? 1 : elem_bits / 8, max_vec = 4 - log2_u32(bytes);
  uint32_t vec[LAYOUT_MAX_BITS], common = 0;
  Gf2Space v = {0};
  for (uint32_t i = 0; i < src->num_bits[LAYOUT_REG] && common < max_vec; i++)
    if (in_registers(dst, src->basis[i])) common = extend(&v, &src->basis[i], 1, vec, common, max_vec);
  if (log2_vec) *log2_vec = common;
  Exchange x = {src, dst, bytes, common, common};
  const Layout *best = exchange_layout(ctx, &x, vec, common);
  if (common == max_vec || bytes == 1) return best;
  uint32_t least = exchange_cost(&x, best);
  for (uint32_t side = 0; side < 2; side++) {
    const Layout *l = side ? dst : src;
    Gf2Space space = v;
    const uint32_t n = extend(&space, l->basis, l->num_bits[LAYOUT_REG], vec, common, max_vec);
    if (n == common) continue;
    x = (Exchange){src, dst, bytes, side ? common : n, side ? n : common};
    const Layout *wide = exchange_layout(ctx, &x, vec, n);
    const uint32_t cost = exchange_cost(&x, wide);
    if (cost >= least) continue;
    least = cost;
    best = wide;
  }
  return best;
}

const Layout *layout_make_shared_for_matrices(Context *ctx, const Layout *fragments, const Layout *vectors,
                                              bool transposed) {
  enum { ROW = 3 };   // eight elements of 16 bits
  if (fragments->num_bits[LAYOUT_REG] < 1 || fragments->num_bits[LAYOUT_LANE] != 5) return NULL;
  uint32_t pair[ROW] = {layout_basis(fragments, LAYOUT_REG, 0), layout_basis(fragments, LAYOUT_LANE, 0),
                        layout_basis(fragments, LAYOUT_LANE, 1)};
  uint32_t high[ROW], p[LAYOUT_MAX_BITS], q[LAYOUT_MAX_BITS], num_q = 0;
  for (uint32_t i = 0; i < ROW; i++) high[i] = layout_basis(fragments, LAYOUT_LANE, 2 + i);
  const uint32_t *row = transposed ? high : pair, *rows = transposed ? pair : high;
  Gf2Space tile = {0};
  for (uint32_t i = 0; i < ROW; i++)
    if (!in_registers(vectors, row[i]) || !gf2_add(&tile, row[i], 0)) return NULL;
  for (uint32_t i = 0; i < ROW; i++)
    if (!gf2_add(&tile, rows[i], 0)) return NULL;
  for (uint32_t i = 0; i < ROW; i++) q[num_q++] = row[i];
  for (uint32_t i = 0; i < ROW; i++) q[num_q++] = rows[i];
  return make_swizzled(ctx, vectors, 2, row, ROW, p, phase(vectors, row, ROW, phase_lanes(16), p), q, num_q);
}

uint32_t layout_bank_conflicts(const Layout *distributed, const Layout *shared, uint32_t elem_bits, uint32_t vec) {
  enum { BANKS = 32, LANES = 32 };
  LayoutMap to_offset;
  if (!layout_to_shared(distributed, shared, &to_offset)) return 0;
  uint32_t bytes = elem_bits < 8 ? 1 : elem_bits / 8, vec_bytes = bytes * vec;
  uint32_t words_each = vec_bytes <= 4 ? 1 : vec_bytes / 4, group = 1u << phase_lanes(vec_bytes), wavefronts = 0;
  for (uint32_t first = 0; first < LANES; first += group) {
    uint32_t words[LANES * 4], num_words = 0, in_bank[BANKS] = {0}, worst = 0;
    for (uint32_t lane = first; lane < first + group; lane++) {
      uint32_t offset = layoutmap_out(&to_offset, layoutmap_apply(&to_offset, layout_pack(distributed, 0, lane, 0, 0)),
                                      LAYOUT_OFFSET);
      for (uint32_t w = 0; w < words_each; w++) {
        uint32_t word = layout_address(shared, offset) * bytes / 4 + w, i = 0;
        while (i < num_words && words[i] != word) i++;
        if (i < num_words) continue;
        words[num_words++] = word;
        uint32_t count = ++in_bank[word % BANKS];
        if (count > worst) worst = count;
      }
    }
    wavefronts += worst;
  }
  return wavefronts;
}
