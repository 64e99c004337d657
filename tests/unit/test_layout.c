// Layouts and the linear algebra under them, against brute force.
#include <stdio.h>

#include "ir/gf2.h"
#include "ir/layout.h"
#include "tests/unit/context.h"

static uint32_t rng_state = 1;
static uint32_t rnd(uint32_t n) {
  rng_state = rng_state * 1664525u + 1013904223u;
  return (rng_state >> 8) % n;
}

// ---- gf2 ----

TEST(test_gf2) {
  for (int round = 0; round < 300; round++) {
    uint32_t a[6], b[6], n = rnd(7), m = rnd(7), in_a[64] = {0}, in_b[64] = {0}, count_a = 0, count_both = 0;
    for (uint32_t i = 0; i < n; i++) a[i] = rnd(64);
    for (uint32_t i = 0; i < m; i++) b[i] = rnd(64);
    for (uint32_t x = 0; x < 1u << n; x++) in_a[gf2_apply(a, n, x)] = 1;
    for (uint32_t x = 0; x < 1u << m; x++) in_b[gf2_apply(b, m, x)] = 1;
    for (uint32_t v = 0; v < 64; v++) count_a += in_a[v], count_both += in_a[v] && in_b[v];
    assert_int_equal(1u << gf2_rank(a, n), count_a);
    Gf2Space s = gf2_span(a, n);
    for (uint32_t v = 0; v < 64; v++) {
      uint32_t pre, rest = gf2_reduce(&s, v, &pre);
      assert_int_equal(rest == 0, in_a[v]);
      assert_int_equal(gf2_apply(a, n, pre), v ^ rest);
    }
    uint32_t both[32], k = gf2_intersect(a, n, b, m, both);
    assert_int_equal(1u << k, count_both);
    assert_int_equal(gf2_rank(both, k), k);
    for (uint32_t x = 0; x < 1u << k; x++) {
      uint32_t v = gf2_apply(both, k, x);
      assert_true(in_a[v] && in_b[v]);
    }
  }
}

// ---- helpers ----

static const Layout *random_layout(Context *ctx, uint32_t tensor_bits, uint32_t place_bits) {
  Layout l = {.kind = LAYOUT_DISTRIBUTED, .rank = 2};
  l.log2_size[0] = (uint8_t)rnd(tensor_bits + 1);
  l.log2_size[1] = (uint8_t)(tensor_bits - l.log2_size[0]);
  for (uint32_t i = 0; i < place_bits; i++) {
    l.num_bits[rnd(4)]++;
    l.basis[i] = rnd(3) ? rnd(1u << tensor_bits) : 0;
  }
  return layout_intern(ctx, &l);
}

static uint32_t axis_part(const Layout *l, uint32_t flat, uint32_t axis) {
  return (flat & layout_axis_mask(l, axis)) >> layout_axis_shift(l, axis);
}

static bool is_injective(const Layout *l) { return layout_rank(l) == layout_total_bits(l); }

static void test_random_maps(void **state) {
  Context *ctx = *state;
  for (int round = 0; round < 400; round++) {
    uint32_t t = 1 + rnd(6), n = rnd(9);
    const Layout *l = random_layout(ctx, t, n);
    Layout copy = *l;
    assert_ptr_equal(layout_intern(ctx, &copy), l);
    uint32_t hits[64] = {0}, held = 0, owners[64] = {0};
    for (uint32_t x = 0; x < 1u << n; x++) {
      uint32_t part[4];
      for (uint32_t d = 0; d < 4; d++) part[d] = layout_part(l, x, d);
      assert_int_equal(layout_pack(l, part[0], part[1], part[2], part[3]), x);
      uint32_t e = layout_apply_bits(l, x);
      assert_int_equal(layout_apply(l, part[0], part[1], part[2], part[3]), e);
      hits[e]++;
      bool owner = true;
      for (uint32_t d = 0; d < 4; d++) owner &= !(part[d] & layout_free_bits(l, d));
      owners[e] += owner;
    }
    for (uint32_t e = 0; e < 1u << t; e++) {
      held += hits[e] != 0;
      assert_int_equal(owners[e], hits[e] != 0);
    }
    assert_int_equal(layout_is_surjective(l), held == 1u << t);
    assert_int_equal(is_injective(l), held == 1u << n);
    uint32_t inverse[32];
    bool invertible = layout_right_inverse(l, inverse);
    assert_int_equal(invertible, held == 1u << t);
    if (invertible)
      for (uint32_t e = 0; e < 1u << t; e++) assert_int_equal(layout_apply_bits(l, gf2_apply(inverse, t, e)), e);

    const Layout *m = random_layout(ctx, t, rnd(9));
    LayoutMap map;
    if (layout_invert_and_compose(m, l, &map)) {
      for (uint32_t x = 0; x < 1u << layout_total_bits(m); x++)
        assert_int_equal(layout_apply_bits(l, layoutmap_apply(&map, x)), layout_apply_bits(m, x));
    } else {
      assert_false(invertible);
    }
  }
}

// ---- constructors ----

static void test_blocked(void **state) {
  Context *ctx = *state;
  for (int round = 0; round < 600; round++) {
    int64_t shape[2] = {1 << rnd(6), 1 << rnd(6)};
    uint32_t spt[2] = {1u << rnd(3), 1u << rnd(3)}, lanes0 = rnd(6), warps = rnd(4), warps0 = rnd(warps + 1), first = rnd(2);
    uint32_t tpw[2] = {1u << lanes0, 32u >> lanes0}, wpb[2] = {1u << warps0, 1u << (warps - warps0)}, order[2] = {first, 1 - first};
    const Layout *l = layout_make_blocked(ctx, 2, shape, spt, tpw, wpb, order);
    assert_true(layout_is_surjective(l));
    assert_int_equal(l->num_bits[LAYOUT_LANE], 5);
    assert_int_equal(l->num_bits[LAYOUT_WARP], warps);
    // Registers: the thread's part of the tile, clipped to the tensor, then the repetitions, always fastest axis first.
    uint32_t part[2], reps[2];
    for (int a = 0; a < 2; a++) {
      uint32_t tile = spt[a] * tpw[a] * wpb[a];
      part[a] = spt[a] < shape[a] ? spt[a] : (uint32_t)shape[a];
      reps[a] = tile < shape[a] ? (uint32_t)shape[a] / tile : 1;
    }
    assert_int_equal(layout_regs_per_thread(l), part[0] * part[1] * reps[0] * reps[1]);
    for (uint32_t r = 0; r < layout_regs_per_thread(l); r++)
      for (uint32_t lane = 0; lane < 32; lane++)
        for (uint32_t w = 0; w < 1u << warps; w++) {
          uint32_t rr = r, ll = lane, ww = w, at[2] = {0, 0};
          for (int i = 0; i < 2; i++) {
            uint32_t a = order[i];
            at[a] += rr % part[a] + ll % tpw[a] * spt[a] + ww % wpb[a] * spt[a] * tpw[a];
            rr /= part[a], ll /= tpw[a], ww /= wpb[a];
          }
          for (int i = 0; i < 2; i++) {
            uint32_t a = order[i];
            at[a] += rr % reps[a] * spt[a] * tpw[a] * wpb[a];
            rr /= reps[a];
          }
          uint32_t flat = layout_apply(l, r, lane, w, 0);
          for (uint32_t a = 0; a < 2; a++) assert_int_equal(axis_part(l, flat, a), at[a] % (uint32_t)shape[a]);
        }
  }
}

static void test_mma(void **state) {
  Context *ctx = *state;
  // wgmma accumulator, 64 rows per warpgroup.
  const Layout *d = layout_make_wgmma_acc(ctx, (int64_t[]){128, 64}, 8, 1, 64);
  for (uint32_t r = 0; r < 32; r++)
    for (uint32_t lane = 0; lane < 32; lane++)
      for (uint32_t w = 0; w < 8; w++) {
        uint32_t g = lane / 4, t = lane % 4, j = r / 4, i = r % 4;
        assert_int_equal(layout_apply(d, r, lane, w, 0), (16 * w + g + i / 2 * 8) * 64 + 8 * j + 2 * t + i % 2);
      }
  assert_int_equal(layout_regs_per_thread(d), 32);
  // Two warpgroups side by side: warp bit 2 steps over N.
  d = layout_make_wgmma_acc(ctx, (int64_t[]){64, 128}, 4, 2, 64);
  assert_int_equal(layout_apply(d, 0, 0, 4, 0), 64);
  assert_int_equal(layout_apply(d, 0, 0, 1, 0), 16 * 128);

  // mma.sync m16n8k16 on a 64×32 tile, 2 × 2 warps, 16-bit operands.
  MmaShape mma = {.rank = 2, .warps = {2, 2}, .instr_n = 8};
  const Layout *c = layout_make_mma_acc(ctx, (int64_t[]){64, 32}, &mma);
  const Layout *a = layout_make_mma_operand(ctx, 0, (int64_t[]){64, 32}, &mma, 2);
  const Layout *b = layout_make_mma_operand(ctx, 1, (int64_t[]){32, 32}, &mma, 2);
  assert_int_equal(layout_regs_per_thread(c), 16);
  assert_int_equal(layout_regs_per_thread(a), 32);
  assert_int_equal(layout_regs_per_thread(b), 16);
  for (uint32_t lane = 0; lane < 32; lane++)
    for (uint32_t w = 0; w < 4; w++) {
      uint32_t g = lane / 4, t = lane % 4, wn = w & 1, wm = w >> 1;
      for (uint32_t r = 0; r < 16; r++) {
        uint32_t rep_n = r >> 2 & 1, rep_m = r >> 3;
        assert_int_equal(layout_apply(c, r, lane, w, 0), (wm * 16 + rep_m * 32 + g + (r >> 1 & 1) * 8) * 32 + wn * 8 + rep_n * 16 + 2 * t + (r & 1));
      }
      for (uint32_t r = 0; r < 32; r++) {   // a0: row g, k 2t..; a1: row g+8; a2: k+8; a3: both
        uint32_t k = 2 * t + (r & 1) + (r >> 2 & 1) * 8 + (r >> 3 & 1) * 16, m = wm * 16 + (r >> 4) * 32 + g + (r >> 1 & 1) * 8;
        assert_int_equal(layout_apply(a, r, lane, w, 0), m * 32 + k);
      }
      for (uint32_t r = 0; r < 16; r++) {
        uint32_t k = 2 * t + (r & 1) + (r >> 1 & 1) * 8 + (r >> 2 & 1) * 16, n = wn * 8 + (r >> 3) * 16 + g;
        assert_int_equal(layout_apply(b, r, lane, w, 0), k * 32 + n);
      }
    }
  // Warps along the other axis hold the same data.
  assert_int_equal(layout_free_bits(a, LAYOUT_WARP), 1);
  assert_int_equal(layout_free_bits(b, LAYOUT_WARP), 2);

  // The 16-bit accumulator of one wgmma is the A operand of the next, but for the order of registers: none moves.
  MmaShape wg = {.rank = 2, .warps = {4, 1}, .warps_m_first = true, .instr_n = 64};
  LayoutMap map;
  assert_true(layout_invert_and_compose(layout_make_mma_operand(ctx, 0, (int64_t[]){64, 64}, &wg, 2),
                                        layout_make_mma_acc(ctx, (int64_t[]){64, 64}, &wg), &map));
  assert_true(layoutmap_move(&map) <= MOVE_REGISTERS);
  // With 8-bit operands lanes move.
  assert_true(layout_invert_and_compose(layout_make_mma_operand(ctx, 0, (int64_t[]){64, 64}, &wg, 4),
                                        layout_make_mma_acc(ctx, (int64_t[]){64, 64}, &wg), &map));
  assert_int_equal(layoutmap_move(&map), MOVE_LANES);
}

static void test_shared(void **state) {
  Context *ctx = *state;
  const uint32_t row_major[] = {1, 0}, col_major[] = {0, 1};
  const Layout *p = layout_make_shared_plain(ctx, 2, (int64_t[]){8, 16}, col_major);
  for (uint32_t o = 0; o < 128; o++) assert_int_equal(layout_apply(p, o, 0, 0, 0), o % 8 * 16 + o / 8);
  assert_int_equal(layout_size_bytes(p, 16), 256);

  for (uint32_t log2_elem = 0; log2_elem < 4; log2_elem++)
    for (uint32_t span = 16; span <= 128; span *= 2)
      for (uint32_t transposed = 0; transposed < 2; transposed++) {
        uint32_t swizzle = span == 16 ? 0 : span, elem = 1u << log2_elem, chunk = span / elem, rows = 32, cols = 2 * chunk;
        int64_t shape[2] = {transposed ? cols : rows, transposed ? rows : cols};
        const Layout *l = layout_make_shared_swizzled(ctx, 2, shape, elem * 8, swizzle, transposed ? col_major : row_major);
        assert_non_null(l);
        assert_true(layout_is_surjective(l) && is_injective(l));
        for (uint32_t c = 0; c < cols; c++)
          for (uint32_t r = 0; r < rows; r++) {
            uint32_t address = (c / chunk * rows + r) * span + c % chunk * elem;
            uint32_t mask = swizzle ? (swizzle / 16 - 1) << 4 : 0;
            uint32_t swizzled = address ^ (address >> 3 & mask);
            uint32_t flat = layout_apply(l, swizzled / elem, 0, 0, 0);
            assert_int_equal(flat, transposed ? c * rows + r : r * cols + c);
          }
      }
  assert_null(layout_make_shared_swizzled(ctx, 2, (int64_t[]){8, 32}, 16, 128, row_major));
}

// ---- shape operations ----

static void test_shapes(void **state) {
  Context *ctx = *state;
  for (int round = 0; round < 200; round++) {
    Layout raw = {.rank = 3};
    for (uint32_t i = 0; i < 3; i++) raw.log2_size[i] = (uint8_t)rnd(3);
    uint32_t t = raw.log2_size[0] + raw.log2_size[1] + raw.log2_size[2], n = rnd(7);
    raw.num_bits[LAYOUT_REG] = (uint8_t)(n / 2);
    raw.num_bits[LAYOUT_LANE] = (uint8_t)(n - n / 2);
    for (uint32_t i = 0; i < n; i++) raw.basis[i] = rnd(1u << t);
    const Layout *l = layout_intern(ctx, &raw);
    int64_t order[3] = {0, 1, 2};
    for (int i = 2; i > 0; i--) {
      uint32_t j = rnd((uint32_t)i + 1);
      int64_t s = order[i];
      order[i] = order[j], order[j] = s;
    }
    uint32_t axis = rnd(3);
    const Layout *tr = layout_transpose(ctx, l, order), *sl = layout_slice(ctx, l, axis), *pr = layout_project(ctx, l, axis);
    const Layout *ex = layout_expand_dims(ctx, sl, axis), *jo = layout_join(ctx, l);
    assert_ptr_equal(ex, pr);
    assert_ptr_equal(layout_split(ctx, jo), l);
    const Layout *flat = layout_reshape(ctx, l, 1, (int64_t[]){1 << t});
    for (uint32_t x = 0; x < 1u << n; x++) {
      uint32_t f = layout_apply_bits(l, x);
      assert_int_equal(layout_apply_bits(flat, x), f);
      for (uint32_t i = 0; i < 3; i++) assert_int_equal(axis_part(tr, layout_apply_bits(tr, x), i), axis_part(l, f, (uint32_t)order[i]));
      for (uint32_t i = 0; i < 2; i++) assert_int_equal(axis_part(sl, layout_apply_bits(sl, x), i), axis_part(l, f, i < axis ? i : i + 1));
      assert_int_equal(layout_apply_bits(jo, x << 1 | 1), f << 1 | 1);
    }
    const Layout *dropped = layout_drop_zero_regs(ctx, sl);
    assert_int_equal(layout_rank(dropped), layout_rank(sl));
    for (uint32_t i = 0; i < dropped->num_bits[LAYOUT_REG]; i++) assert_int_not_equal(layout_basis(dropped, LAYOUT_REG, i), 0);
  }
}

static void test_vectors(void **state) {
  Context *ctx = *state;
  const Layout *l = layout_make_blocked(ctx, 2, (int64_t[]){32, 64}, (uint32_t[]){1, 8}, (uint32_t[]){4, 8}, (uint32_t[]){4, 1}, (uint32_t[]){1, 0});
  assert_int_equal(layout_contiguity(l, 1), 8);
  assert_int_equal(layout_contiguity(l, 0), 1);
  // Two contiguous columns whose register bits are not the lowest.
  Layout raw = {.rank = 1, .log2_size = {4}, .num_bits = {2, 2}, .basis = {8, 1, 2, 4}};
  uint8_t bits[32];
  const Layout *m = layout_intern(ctx, &raw);
  assert_int_equal(layout_contiguity(m, 0), 1);
  assert_int_equal(layout_vector_bits(m, 0, bits), 1);
  assert_int_equal(bits[0], 1);
  // A lane that flips the low bit spoils the vector.
  raw.basis[0] = 1, raw.basis[1] = 8, raw.basis[2] = 3;
  assert_int_equal(layout_contiguity(layout_intern(ctx, &raw), 0), 1);
}

static void test_moves(void **state) {
  Context *ctx = *state;
  int64_t shape[] = {32, 32};
  uint32_t order[] = {1, 0}, column[] = {0, 1};
  const Layout *l = layout_make_blocked(ctx, 2, shape, (uint32_t[]){1, 4}, (uint32_t[]){4, 8}, (uint32_t[]){4, 1}, order);
  const Layout *regs = layout_make_blocked(ctx, 2, shape, (uint32_t[]){1, 4}, (uint32_t[]){4, 8}, (uint32_t[]){4, 1}, column);
  const Layout *warps = layout_make_blocked(ctx, 2, shape, (uint32_t[]){1, 4}, (uint32_t[]){4, 8}, (uint32_t[]){1, 4}, order);
  LayoutMap map;
  assert_true(layout_invert_and_compose(l, l, &map));
  assert_int_equal(layoutmap_move(&map), MOVE_NOTHING);
  assert_true(layout_invert_and_compose(regs, l, &map));
  assert_int_equal(layoutmap_move(&map), MOVE_LANES);
  assert_true(layout_invert_and_compose(warps, l, &map));
  assert_int_equal(layoutmap_move(&map), MOVE_WARPS);
  // Duplicated data stays where it is: a row vector that every warp holds.
  const Layout *row = layout_slice(ctx, l, 0);
  assert_true(layout_invert_and_compose(layout_drop_zero_regs(ctx, row), row, &map));
  assert_true(layoutmap_move(&map) <= MOVE_REGISTERS);
  // A lane that holds the element in another register takes it from itself. Its number chooses the register.
  Layout held = {.rank = 1, .log2_size = {2}, .num_bits = {2, 5, 0, 0}, .basis = {1, 2}};
  Layout shared = {.rank = 1, .log2_size = {2}, .num_bits = {0, 5, 0, 0}, .basis = {0, 2, 1}};
  assert_true(layout_invert_and_compose(layout_intern(ctx, &shared), layout_intern(ctx, &held), &map));
  for (uint32_t i = 0; i < 5; i++) assert_int_equal(layoutmap_out(&map, map.col[i], LAYOUT_LANE), 1u << i);
  assert_int_equal(layoutmap_out(&map, map.col[1], LAYOUT_REG), 2);
  assert_int_equal(layoutmap_move(&map), MOVE_LANES);
}

static void check_conversion(Context *ctx, const Layout *src, const Layout *dst, uint32_t elem_bits, uint32_t want_vec) {
  uint32_t log2_vec;
  const Layout *s = layout_make_shared_for_conversion(ctx, src, dst, elem_bits, &log2_vec);
  assert_true(layout_is_surjective(s) && is_injective(s));
  assert_int_equal(1u << log2_vec, want_vec);
  // The vector's registers are neighbours in memory on both sides; one side may have longer vectors. No bank conflicts.
  const Layout *sides[] = {src, dst};
  for (int i = 0; i < 2; i++) {
    LayoutMap map;
    assert_true(layout_invert_and_compose(sides[i], s, &map));
    uint32_t seen = 0, vec = 1;
    for (uint32_t r = 0; r < sides[i]->num_bits[LAYOUT_REG]; r++) seen |= map.col[r];
    while (seen & vec && elem_bits * vec < 128) vec *= 2;
    assert_true(vec >= want_vec);
    const uint32_t ideal = elem_bits * vec > 32 ? elem_bits * vec / 32 : 1;
    assert_int_equal(layout_bank_conflicts(sides[i], s, elem_bits, vec), ideal);
  }
}

static void test_conversion_scratch(void **state) {
  Context *ctx = *state;
  int64_t shape[] = {64, 64};
  uint32_t rows[] = {1, 0}, cols[] = {0, 1};
  const Layout *r = layout_make_blocked(ctx, 2, shape, (uint32_t[]){1, 4}, (uint32_t[]){2, 16}, (uint32_t[]){4, 1}, rows);
  const Layout *c = layout_make_blocked(ctx, 2, shape, (uint32_t[]){4, 1}, (uint32_t[]){16, 2}, (uint32_t[]){1, 4}, cols);
  const Layout *w = layout_make_wgmma_acc(ctx, shape, 4, 1, 64);
  check_conversion(ctx, r, r, 32, 4);
  check_conversion(ctx, r, w, 32, 4);   // columns 0, 1 of rows 0, 8
  check_conversion(ctx, w, r, 16, 4);
  // A row that each thread of src has one element of, and of which each thread of dst has many: these are vectors.
  Layout few = {.rank = 1, .log2_size = {7}, .num_bits = {0, 5, 2, 0}, .basis = {1, 2, 4, 8, 16, 32, 64}};
  Layout many = {.rank = 1, .log2_size = {7}, .num_bits = {5, 5, 2, 0}, .basis = {1, 8, 16, 32, 64, 2, 4}};
  check_conversion(ctx, layout_intern(ctx, &few), layout_intern(ctx, &many), 32, 1);
  uint32_t log2_vec;
  const Layout *scratch = layout_make_shared_for_conversion(ctx, layout_intern(ctx, &few), layout_intern(ctx, &many),
                                                            32, &log2_vec);
  assert_int_equal(layout_basis(scratch, LAYOUT_OFFSET, 0), 1);
  assert_int_equal(layout_basis(scratch, LAYOUT_OFFSET, 1), 8);
  check_conversion(ctx, r, layout_make_blocked(ctx, 2, shape, (uint32_t[]){1, 8}, (uint32_t[]){4, 8}, (uint32_t[]){4, 1}, rows), 32, 4);
  // Transposing: registers of one side are lanes of the other, but not of one vector.
  const Layout *r1 = layout_make_blocked(ctx, 2, shape, (uint32_t[]){1, 1}, (uint32_t[]){1, 32}, (uint32_t[]){4, 1}, rows);
  const Layout *c1 = layout_make_blocked(ctx, 2, shape, (uint32_t[]){1, 1}, (uint32_t[]){32, 1}, (uint32_t[]){4, 1}, cols);
  uint32_t v;
  check_conversion(ctx, r1, c1, 32, 2);   // both keep column bit 5 in registers
  // A plain row-major tile would conflict 32 ways: the counter sees it.
  assert_int_equal(layout_bank_conflicts(c1, layout_make_shared_plain(ctx, 2, shape, rows), 32, 1), 32);
  assert_true(layout_is_surjective(layout_make_shared_for_conversion(ctx, r, c, 16, &v)));
}

// A transposed tile of 16-bit elements: rows of matrices are vectors on the other side, and neither side has bank conflicts.
static void test_matrices_scratch(void **state) {
  Context *ctx = *state;
  int64_t shape[] = {64, 64};
  const Layout *r = layout_make_blocked(ctx, 2, shape, (uint32_t[]){1, 8}, (uint32_t[]){4, 8}, (uint32_t[]){4, 1}, (uint32_t[]){1, 0});
  const Layout *c = layout_make_blocked(ctx, 2, shape, (uint32_t[]){8, 1}, (uint32_t[]){8, 4}, (uint32_t[]){1, 4}, (uint32_t[]){0, 1});
  const Layout *w = layout_make_wgmma_acc(ctx, shape, 4, 1, 64);
  const Layout *fragments[] = {c, r, w}, *vectors[] = {r, c, r};
  for (int i = 0; i < 3; i++) {
    bool transposed = i < 2;
    const Layout *s = layout_make_shared_for_matrices(ctx, fragments[i], vectors[i], transposed);
    assert_non_null(s);
    assert_true(layout_is_surjective(s) && is_injective(s));
    assert_int_equal(layout_bank_conflicts(vectors[i], s, 16, 8), 4);
    LayoutMap map;
    assert_true(layout_invert_and_compose(fragments[i], s, &map));
    uint32_t lane = fragments[i]->num_bits[LAYOUT_REG];
    uint32_t pair[] = {map.col[0], map.col[lane], map.col[lane + 1]}, high[] = {map.col[lane + 2], map.col[lane + 3], map.col[lane + 4]};
    const uint32_t *row = transposed ? high : pair, *rows = transposed ? pair : high;
    Gf2Space units = {0};   // the eight rows of a matrix lie in eight 16-byte units of 128 bytes
    for (int k = 0; k < 3; k++) {
      assert_int_equal(row[k], 1 << k);
      assert_true(gf2_add(&units, rows[k] >> 3 & 7, 0));
    }
  }
  assert_null(layout_make_shared_for_matrices(ctx, c, r, false));
  assert_null(layout_make_shared_for_matrices(ctx, w, c, false));
}

static void test_print(void **state) {
  Context *ctx = *state;
  Buf b = buf_make(&ctx->arena);
  layout_print(&b, layout_make_blocked(ctx, 2, (int64_t[]){8, 16}, (uint32_t[]){1, 2}, (uint32_t[]){4, 8}, (uint32_t[]){2, 1}, (uint32_t[]){1, 0}));
  assert_string_equal(buf_str(&b), "layout<8x16, reg = [1], lane = [2, 4, 8, 16, 32], warp = [64]>");
  b = buf_make(&ctx->arena);
  layout_print(&b, layout_make_shared_plain(ctx, 1, (int64_t[]){4}, (uint32_t[]){0}));
  assert_string_equal(buf_str(&b), "shared<4, offset = [1, 2]>");
  Layout padded = *layout_make_shared_plain(ctx, 1, (int64_t[]){64}, (uint32_t[]){0});
  padded.num_pads = 2;
  padded.pad[0].interval = 3, padded.pad[0].by = 1;
  padded.pad[1].interval = 4, padded.pad[1].by = 0;
  padded.moved = 40;
  b = buf_make(&ctx->arena);
  layout_print(&b, layout_intern(ctx, &padded));
  assert_string_equal(buf_str(&b), "shared<64, offset = [1, 2, 4, 8, 16, 32], pad = [8, 2, 16, 1], moved = [8, 32]>");
}

// Of 8×4 elements a block of four holds 4 rows and 2 columns.
static void test_block_part(void **state) {
  Context *ctx = *state;
  Layout l = {.kind = LAYOUT_DISTRIBUTED, .rank = 2, .log2_size = {3, 2}, .num_bits = {1, 2, 1, 2},
              .basis = {1, 4, 8, 0, 16, 2}};
  const Layout *part = layout_block_part(ctx, layout_intern(ctx, &l));
  Buf b = buf_make(&ctx->arena);
  layout_print(&b, part);
  assert_string_equal(buf_str(&b), "layout<4x2, reg = [1], lane = [2, 4], warp = [0]>");
  l.basis[4] = 16 | 4;   // two bits
  assert_null(layout_block_part(ctx, layout_intern(ctx, &l)));
  l.basis[4] = 2;        // the same twice
  assert_null(layout_block_part(ctx, layout_intern(ctx, &l)));
  l.basis[4] = 16, l.basis[3] = 16;   // a warp steps over it, too
  assert_null(layout_block_part(ctx, layout_intern(ctx, &l)));
}

// 64 elements, 2 more after each 8 and 1 more after each 16: the last lies at 63 + 7 · 2 + 3.
static void test_padding(void **state) {
  Context *ctx = *state;
  Layout l = *layout_make_shared_plain(ctx, 1, (int64_t[]){64}, (uint32_t[]){0});
  const Layout *plain = layout_intern(ctx, &l);
  l.num_pads = 2;
  l.pad[0].interval = 3, l.pad[0].by = 1;
  l.pad[1].interval = 4, l.pad[1].by = 0;
  const Layout *padded = layout_intern(ctx, &l);
  assert_ptr_not_equal(padded, plain);
  assert_int_equal(layout_address(padded, 7), 7);
  assert_int_equal(layout_address(padded, 24), 24 + 3 * 2 + 1);
  assert_int_equal(layout_size_bytes(padded, 16), 2 * (63 + 14 + 3 + 1));
  assert_int_equal(layout_whole_bits(padded), 0);
  assert_ptr_equal(layout_reshape(ctx, layout_reshape(ctx, padded, 2, (int64_t[]){8, 8}), 1, (int64_t[]){64}), padded);
  l.num_pads = 1;
  l.moved = 2;
  assert_int_equal(layout_whole_bits(layout_intern(ctx, &l)), 1);
  // A slice of 4×8 of a tile of 8×8 that is stored column by column.
  const Layout *whole = layout_make_shared_plain(ctx, 2, (int64_t[]){8, 8}, (uint32_t[]){0, 1});
  const uint32_t each[] = {1, 1}, lanes[] = {4, 8};
  const Layout *part = layout_make_blocked(ctx, 2, (int64_t[]){4, 8}, each, lanes, each, (uint32_t[]){1, 0});
  LayoutMap m;
  assert_true(layout_to_shared(part, whole, &m));
  assert_int_equal(layoutmap_out(&m, layoutmap_apply(&m, layout_pack(part, 0, 3 * 8 + 5, 0, 0)), LAYOUT_OFFSET), 5 * 8 + 3);
  assert_false(layout_to_shared(whole, part, &m));
}

int main(void) {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
  const struct CMUnitTest tests[] = {
      T(test_gf2), T(test_random_maps), T(test_blocked), T(test_mma), T(test_shared),
      T(test_shapes), T(test_vectors), T(test_moves), T(test_conversion_scratch), T(test_matrices_scratch), T(test_print),
      T(test_padding), T(test_block_part),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
