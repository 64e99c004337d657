// Buffers of `tilec run`: .npy round trips and refusals, generators, printing.
#include "unit.h"

#include <math.h>

#include "runtime/compile/host_tensor.h"

static HostTensor make(Arena *a, DtypeKind dtype, uint32_t rank, const int64_t *shape) {
  HostTensor t = {.dtype = dtype, .rank = rank, .count = 1};
  for (uint32_t i = 0; i < rank; i++) t.shape[i] = shape[i], t.count *= (uint64_t)shape[i];
  t.data = arena_alloc(a, host_bytes(&t) + 1);
  return t;
}

TEST(npy_round_trip) {
  static const struct { DtypeKind in, out; uint32_t rank; } cases[] = {
    {DT_FP32, DT_FP32, 2}, {DT_FP16, DT_FP16, 1}, {DT_INT64, DT_INT64, 0},    {DT_INT1, DT_INT1, 3},
    {DT_BF16, DT_UINT16, 2}, {DT_FP8E5, DT_UINT8, 1}, {DT_UINT16, DT_UINT16, 2},
  };
  static const int64_t shape[] = {3, 5, 2};
  Arena a;
  arena_init(&a);
  for (uint32_t i = 0; i < countof(cases); i++) {
    HostTensor t = make(&a, cases[i].in, cases[i].rank, shape), back;
    host_fill(&t, &(Fill){.kind = FILL_RANDINT, .seed = i, .lo = 0, .hi = 2});
    Buf b = buf_make(&a);
    npy_write(&b, &t);
    assert_int_equal(b.size, (b.size - host_bytes(&t)) / 64 * 64 + host_bytes(&t));
    assert_null(npy_read(&a, buf_str(&b), b.size, &back));
    assert_int_equal(back.dtype, cases[i].out);
    assert_int_equal(back.rank, t.rank);
    for (uint32_t k = 0; k < t.rank; k++) assert_int_equal(back.shape[k], t.shape[k]);
    assert_memory_equal(back.data, t.data, host_bytes(&t));
    // One byte more or less is noticed.
    assert_non_null(npy_read(&a, buf_str(&b), b.size - 1, &back));
    buf_putc(&b, 0);
    assert_non_null(npy_read(&a, buf_str(&b), b.size, &back));
  }
  arena_free(&a);
}

// A version-1 file with this header text and `data` bytes of zeros.
static const char *read_header(Arena *a, const char *header, size_t data, HostTensor *t) {
  Buf b = buf_make(a);
  buf_write(&b, "\x93NUMPY\x01", 7);
  buf_putc(&b, 0);
  buf_putc(&b, (char)strlen(header));
  buf_putc(&b, 0);
  buf_puts(&b, header);
  buf_fill(&b, 0, data);
  return npy_read(a, buf_str(&b), b.size, t);
}

TEST(npy_refusals) {
  static const struct { const char *header; size_t data; const char *says; } cases[] = {
    {"{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }", 16, "Fortran"},
    {"{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }", 8, "big-endian: convert them, as in x.astype(\"<f4\")"},
    {"{'descr': '<c8', 'fortran_order': False, 'shape': (2,), }", 16, "its element type does not exist here: convert it, as in x.astype(\"float32\")"},
    {"{'descr': [('a','<f4')], 'fortran_order': False, 'shape': (2,), }", 8, "element type"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, -1), }", 8, "shape"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", 8, "too large"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (999999999999999999999), }", 8, "too large"},
    {"{'descr': '<f4', 'fortran_order': False, }", 8, "header"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'shape': (2,), }", 8, "header"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), } x", 8, "header"},
    {"{'descr': '<f4", 8, "element type"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", 8, "cut short"},
  };
  Arena a;
  arena_init(&a);
  HostTensor t;
  for (uint32_t i = 0; i < countof(cases); i++) {
    const char *why = read_header(&a, cases[i].header, cases[i].data, &t);
    assert_non_null(why);
    if (!strstr(why, cases[i].says)) fail_msg("'%s' is not in: %s", cases[i].says, why);
  }
  assert_non_null(npy_read(&a, "\x93NUMPY\x03\x00", 8, &t));
  assert_non_null(npy_read(&a, "", 0, &t));
  // numpy writes one-byte types with '|', others write '<': both are good.
  assert_null(read_header(&a, "{'shape': (), 'fortran_order': False, 'descr': '<i1'}\n", 1, &t));
  assert_int_equal(t.dtype, DT_INT8);
  assert_int_equal(t.count, 1);
  arena_free(&a);
}

TEST(generators) {
  enum { N = 20000 };
  static const int64_t shape[] = {N};
  Arena a;
  arena_init(&a);
  HostTensor t = make(&a, DT_FP64, 1, shape), again = make(&a, DT_FP64, 1, shape);
  Fill f = {.kind = FILL_RANDN, .seed = 7};
  host_fill(&t, &f);
  double sum = 0, squares = 0;
  for (int i = 0; i < N; i++) sum += host_get(&t, (uint64_t)i), squares += host_get(&t, (uint64_t)i) * host_get(&t, (uint64_t)i);
  assert_true(fabs(sum / N) < 0.03 && fabs(squares / N - 1) < 0.05);
  // An element depends on seed and index alone.
  again.count = 10;
  host_fill(&again, &f);
  assert_memory_equal(again.data, t.data, 80);
  f.seed = 8;
  host_fill(&again, &f);
  assert_memory_not_equal(again.data, t.data, 80);

  HostTensor ints = make(&a, DT_INT8, 1, shape);
  host_fill(&ints, &(Fill){.kind = FILL_RANDINT, .seed = 1, .lo = -2, .hi = 3});
  int seen[5] = {0};
  for (int i = 0; i < N; i++) {
    int64_t v = host_get_int(&ints, (uint64_t)i);
    assert_in_range(v + 2, 0, 4);
    seen[v + 2]++;
  }
  for (int i = 0; i < 5; i++) assert_in_range(seen[i], N / 5 - N / 40, N / 5 + N / 40);
  arena_free(&a);
}

TEST(elements) {
  static const int64_t shape[] = {2};
  Arena a;
  arena_init(&a);
  HostTensor bf = make(&a, DT_BF16, 1, shape), u8 = make(&a, DT_UINT8, 1, shape), i64 = make(&a, DT_INT64, 1, shape);
  host_set(&bf, 0, 1.0 / 3);
  assert_true(host_get(&bf, 0) == 0.333984375);
  host_set(&u8, 1, 300);
  assert_int_equal(host_get_int(&u8, 1), 255);
  host_set_int(&i64, 0, INT64_MIN);
  assert_true(host_get_int(&i64, 0) == INT64_MIN);
  arena_free(&a);
}

TEST(printing) {
  static const int64_t shape[] = {2, 3}, large[] = {2000};
  Arena a;
  arena_init(&a);
  HostTensor t = make(&a, DT_FP32, 2, shape);
  host_fill(&t, &(Fill){.kind = FILL_ARANGE});
  Buf b = buf_make(&a);
  host_print(&b, &t);
  assert_string_equal(buf_str(&b), "fp32[2,3]\n[[0 1 2]\n [3 4 5]]\n");
  HostTensor l = make(&a, DT_INT32, 1, large);
  host_fill(&l, &(Fill){.kind = FILL_ARANGE});
  b = buf_make(&a);
  host_print(&b, &l);
  assert_string_equal(buf_str(&b), "i32[2000]\n[0 1 2 ... 1997 1998 1999]\n");
  arena_free(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(npy_round_trip), cmocka_unit_test(npy_refusals), cmocka_unit_test(generators),
                                     cmocka_unit_test(elements), cmocka_unit_test(printing)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
