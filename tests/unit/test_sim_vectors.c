// The simulator against what a real H200 gave (tests/sim/gpu_vectors): matrix sums bit for bit, wgmma descriptors, tensor
// copies and conversions exactly, approximate functions within their bounds.
#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/sim/mma.h"
#include "runtime/sim/sim.h"
#include "runtime/sim/tensormap.h"
#include "tests/sim/gpu_vectors/vectors.h"

static const char *const folder = "tests/sim/recorded";

typedef struct { VectorHeader h; uint32_t bytes[VECTOR_ARRAYS]; uint8_t *data[VECTOR_ARRAYS]; } Record;

static FILE *open_data(const char *name) {
  char path[256];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *f = fopen(path, "rb");
  if (!f) fail_msg("cannot open %s", path);
  return f;
}
static bool next_record(FILE *f, Record *r) {
  if (fread(&r->h, sizeof r->h, 1, f) != 1) return false;
  assert_true(r->h.count <= VECTOR_ARRAYS);
  for (uint32_t i = 0; i < r->h.count; i++) {
    assert_int_equal(fread(&r->bytes[i], 4, 1, f), 1);
    r->data[i] = malloc(r->bytes[i] + 1);
    assert_int_equal(fread(r->data[i], 1, r->bytes[i], f), r->bytes[i]);
  }
  return true;
}
static void free_record(Record *r) {
  for (uint32_t i = 0; i < r->h.count; i++) free(r->data[i]);
}

static MmaType type_named(const char *name) {
  for (int t = 0; t < MMA_TYPE_COUNT; t++)
    if (!strcmp(mma_type_info((MmaType)t)->name, name)) return (MmaType)t;
  fail_msg("no type %s", name);
  return MMA_F16;
}
// "mma 16 8 16 f32 f16 f16 satfinite": shape, D, A, B, flags. Doubles name D only once more.
static MmaSpec spec_of(const char *name) {
  char kind[16], d[8], a[8], b[8] = "";
  unsigned m, n, k;
  assert_true(sscanf(name, "%15s %u %u %u %7s %7s %7s", kind, &m, &n, &k, d, a, b) >= 6);
  MmaSpec s = {.m = (uint16_t)m, .n = (uint16_t)n, .k = (uint16_t)k, .d = type_named(d), .a = type_named(a), .b = type_named(b), .wgmma = !strcmp(kind, "wgmma")};
  s.saturate = strstr(name, "satfinite") != NULL;
  s.negate_a = strstr(name, "negate") != NULL;
  assert_null(mma_spec_error(&s));
  return s;
}
static uint64_t element(const uint8_t *regs, size_t reg, unsigned e, unsigned bits) {
  uint64_t v = 0;
  memcpy(&v, regs + reg * (bits == 64 ? 8 : 4), bits == 64 ? 8 : 4);
  return bits == 64 ? v : v >> (e * bits) & ((1ull << bits) - 1);
}

static uint32_t total, wrong;
static void compare(const char *name, unsigned which, unsigned row, unsigned col, uint64_t got, uint64_t want) {
  total++;
  if (got == want) return;
  if (wrong++ < 20) print_error("%s, case %u, (%u,%u): %llx, the GPU gave %llx\n", name, which, row, col, (unsigned long long)got, (unsigned long long)want);
}

TEST(test_mma) {
  FILE *f = open_data("mma.bin");
  total = wrong = 0;
  for (Record r; next_record(f, &r); free_record(&r)) {
    MmaSpec s = spec_of(r.h.name);
    unsigned na = mma_a_registers(&s), nb = mma_b_registers(&s), nd = mma_d_registers(&s), before = wrong;
    unsigned cases = r.bytes[0] / (na * 32 * (s.a == MMA_F64 ? 8 : 4));
    for (unsigned i = 0; i < cases; i++) {
      uint64_t a[16 * 64], b[8 * 64], d[16 * 8];
      for (unsigned lane = 0; lane < 32; lane++) {
        for (unsigned j = 0; j < na; j++)
          for (unsigned e = 0; e < mma_per_register(s.a); e++) { MmaCoord c = mma_a_coord(&s, lane, j, e); a[c.row * s.k + c.col] = element(r.data[0], (i * na + j) * 32 + lane, e, mma_type_info(s.a)->bits); }
        for (unsigned j = 0; j < nb; j++)
          for (unsigned e = 0; e < mma_per_register(s.b); e++) { MmaCoord c = mma_b_coord(&s, lane, j, e); b[c.col * s.k + c.row] = element(r.data[1], (i * nb + j) * 32 + lane, e, mma_type_info(s.b)->bits); }
        for (unsigned j = 0; j < nd; j++)
          for (unsigned e = 0; e < mma_per_register(s.d); e++) { MmaCoord c = mma_d_coord(&s, lane, j, e); d[c.row * s.n + c.col] = element(r.data[2], (i * nd + j) * 32 + lane, e, mma_type_info(s.d)->bits); }
      }
      mma_compute(&s, s.m, a, b, d, true);
      for (unsigned lane = 0; lane < 32; lane++)
        for (unsigned j = 0; j < nd; j++)
          for (unsigned e = 0; e < mma_per_register(s.d); e++) {
            MmaCoord c = mma_d_coord(&s, lane, j, e);
            compare(r.h.name, i, c.row, c.col, d[c.row * s.n + c.col], element(r.data[3], (i * nd + j) * 32 + lane, e, mma_type_info(s.d)->bits));
          }
    }
    print_message("%-40s %u cases, %u elements differ\n", r.h.name, cases, wrong - before);
  }
  fclose(f);
  assert_int_equal(wrong, 0);
}

static void wgmma_case(const Record *r, const MmaSpec *s, unsigned i, const uint8_t *image, const MmaDescriptor *da, const MmaDescriptor *db, bool ta, bool tb, const uint8_t *c, uint64_t *d) {
  unsigned es = mma_type_info(s->a)->bits / 8, nd = mma_d_registers(s);
  static uint64_t a[64 * 32], b[256 * 32];
  for (unsigned k = 0; k < s->k; k++) {
    for (unsigned m = 0; m < 64; m++) a[m * s->k + k] = 0, memcpy(&a[m * s->k + k], image + mma_descriptor_address(da, ta, es, m, k), es);
    for (unsigned n = 0; n < s->n; n++) b[n * s->k + k] = 0, memcpy(&b[n * s->k + k], image + mma_descriptor_address(db, tb, es, n, k), es);
  }
  for (unsigned t = 0; c && t < 128; t++)
    for (unsigned j = 0; j < nd; j++)
      for (unsigned e = 0; e < mma_per_register(s->d); e++) {
        MmaCoord at = mma_d_coord(s, t % 32, j, e);
        d[(t / 32 * 16 + at.row) * s->n + at.col] = element(c, (i * nd + j) * 128 + t, e, mma_type_info(s->d)->bits);
      }
  (void)r;
  mma_compute(s, 64, a, b, d, c != NULL);
}

TEST(test_wgmma) {
  FILE *f = open_data("wgmma.bin");
  static uint8_t image[WGMMA_IMAGE];
  static uint64_t d[64 * 64];
  total = wrong = 0;
  unsigned address = 0;
  for (Record r; next_record(f, &r); free_record(&r)) {
    unsigned before = wrong;
    if (!strcmp(r.h.name, "address")) {
      const WgmmaCase *k = &wgmma_cases[address++];
      MmaSpec s = {64, 64, 16, MMA_F16, MMA_F16, MMA_F32, true, false, false, false};
      for (uint32_t i = 0; i < WGMMA_IMAGE / 2; i++) {
        uint16_t h = (uint16_t)num_encode(NUM_F16, vector_small(i), NUM_RNE, false);
        memcpy(image + 2 * i, &h, 2);
      }
      MmaDescriptor da = {k->a, k->a_leading, k->a_stride, k->base_offset, k->swizzle}, db = {k->b, k->b_leading, k->b_stride, k->base_offset, k->swizzle};
      wgmma_case(&r, &s, 0, image, &da, &db, k->trans_a, k->trans_b, NULL, d);
      for (unsigned t = 0; t < 128; t++)
        for (unsigned j = 0; j < 32; j++) {
          MmaCoord at = mma_d_coord(&s, t % 32, j, 0);
          unsigned row = t / 32 * 16 + at.row;
          compare("address", address - 1, row, at.col, (uint64_t)(int64_t)num_decode(NUM_F32, d[row * 64 + at.col]), (uint64_t)(int64_t)((int8_t *)r.data[0])[j * 128 + t]);
        }
      if (wrong != before) print_error("addressing case %u: %u elements differ\n", address - 1, wrong - before);
      continue;
    }
    MmaSpec s = spec_of(r.h.name);
    enum { USED = 2048 + 256 };
    unsigned cases = r.bytes[0] / USED, nd = mma_d_registers(&s);
    MmaDescriptor da = {0, 128, 256, 0, 0}, db = {2048, 128, 256, 0, 0};
    for (unsigned i = 0; i < cases; i++) {
      memcpy(image, r.data[0] + i * USED, USED);
      wgmma_case(&r, &s, i, image, &da, &db, false, false, r.data[1], d);
      for (unsigned t = 0; t < 128; t++)
        for (unsigned j = 0; j < nd; j++)
          for (unsigned e = 0; e < mma_per_register(s.d); e++) {
            MmaCoord at = mma_d_coord(&s, t % 32, j, e);
            unsigned row = t / 32 * 16 + at.row;
            compare(r.h.name, i, row, at.col, d[row * s.n + at.col], element(r.data[2], (i * nd + j) * 128 + t, e, mma_type_info(s.d)->bits));
          }
    }
    print_message("%-40s %u cases, %u elements differ\n", r.h.name, cases, wrong - before);
  }
  fclose(f);
  assert_int_equal(wrong, 0);
}

typedef struct { const TensorMap *map; uint8_t *image; const uint8_t *source; uint32_t base; } Load;
static bool load_run(void *user, const TensorMapRun *run) {
  Load *l = user;
  if (run->in_bounds) memcpy(l->image + run->shared - l->base, l->source + run->global, run->bytes);
  else tensormap_fill(l->map, l->image + run->shared - l->base, run->bytes);
  return true;
}
TEST(test_tma) {
  FILE *f = open_data("tma.bin");
  static uint8_t image[16384];
  uint16_t source[96 * 40];
  for (int i = 0; i < 96 * 40; i++) source[i] = (uint16_t)(i + 1);
  total = wrong = 0;
  unsigned at = 0;
  for (Record r; next_record(f, &r); free_record(&r)) {
    const TmaCase *t = &tma_cases[at++];
    TensorMap m = {.dtype = TMAP_FLOAT16, .rank = 2, .dim = {96, 40}, .stride = {2, 192}, .box = {t->box0, t->box1}, .element_stride = {1, t->stride1},
                   .swizzle = (TensorMapSwizzle)t->swizzle, .fill = t->nan_fill ? TMAP_FILL_NAN : TMAP_FILL_ZERO};
    assert_null(tensormap_check(&m));
    memset(image, 0xee, sizeof image);
    int32_t coords[] = {t->x, t->y};
    Load load = {&m, image, (const uint8_t *)source, 1024};
    tensormap_walk(&m, coords, 1024, false, load_run, &load);
    for (unsigned i = 0; i < sizeof image; i++) compare("tma", at - 1, i / 128, i % 128, image[i], r.data[0][i]);
  }
  fclose(f);
  assert_int_equal(wrong, 0);
}

// ---- one instruction per element, run as PTX

static bool two_operands(const char *op) { return strstr(op, "x2.f32") != NULL; }
static void build_ptx(const char *op, char *text, size_t size) {
  const char *last = strrchr(op, '.') + 1, *first = op;
  bool cvt = !strncmp(op, "cvt", 3), pair = two_operands(op);
  char to[16] = "";
  if (cvt) {  // the type before the last
    const char *p = last - 2;
    while (*p != '.') p--;
    snprintf(to, sizeof to, "%.*s", (int)(last - 2 - p), p + 1);
  } else {
    snprintf(to, sizeof to, "%s", last);
  }
  bool h_out = !strcmp(to, "f16") || !strcmp(to, "bf16") || !strcmp(to, "e4m3x2") || !strcmp(to, "e5m2x2");
  bool l_out = !strcmp(to, "s64") || !strcmp(to, "u64"), h_in = !strcmp(last, "e4m3x2") || !strcmp(last, "e5m2x2");
  snprintf(text, size,
           ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n) {\n"
           ".reg .b32 %%r<9>; .reg .b64 %%d<9>; .reg .b16 %%h<5>; .reg .pred %%p;\n"
           "ld.param.u64 %%d1, [in]; ld.param.u64 %%d2, [out]; ld.param.u32 %%r1, [n];\n"
           "mov.u32 %%r2, %%ctaid.x; mov.u32 %%r3, %%tid.x; mad.lo.u32 %%r2, %%r2, 128, %%r3; setp.ge.u32 %%p, %%r2, %%r1; @%%p ret;\n"
           "add.u32 %%r3, %%r2, 1; rem.u32 %%r3, %%r3, %%r1;\n"
           "mad.wide.u32 %%d3, %%r2, 4, %%d1; ld.global.b32 %%r4, [%%d3]; mad.wide.u32 %%d4, %%r3, 4, %%d1; ld.global.b32 %%r5, [%%d4];\n"
           "cvt.u16.u32 %%h2, %%r4;\n%s %s, %s%s;\n%s"
           "mad.wide.u32 %%d6, %%r2, 8, %%d2; st.global.b64 [%%d6], %%d5; ret; }\n",
           first, h_out ? "%h1" : l_out ? "%d5" : "%r6", h_in ? "%h2" : "%r4", pair ? ", %r5" : "",
           h_out ? "cvt.u64.u16 %d5, %h1;\n" : l_out ? "" : "cvt.u64.u32 %d5, %r6;\n");
}

// What the approximate functions may be off by: relative, or absolute where that is larger.
static const struct { const char *prefix; double relative, absolute; } bounds[] = {
  {"ex2.approx.f32", 0x1p-21, 0}, {"ex2.approx.ftz.f32", 0x1p-21, 0}, {"lg2.approx.f32", 0x1p-21, 0x1p-21}, {"rcp.approx", 0x1p-22, 0},
  {"rsqrt.approx", 0x1p-21, 0}, {"sqrt.approx", 0x1p-21, 0}, {"sin.approx", 0x1p-20, 0x1p-20}, {"cos.approx", 0x1p-20, 0x1p-20},
  {"tanh.approx.f32", 0x1p-10, 0}, {"ex2.approx.ftz.bf16x2", 0x1p-7, 0}, {"tanh.approx.bf16x2", 0x1p-7, 0}, {"ex2.approx.f16x2", 0x1p-9, 0x1p-14}, {"tanh.approx.f16x2", 0x1p-9, 0}};

static bool within(const char *op, uint64_t got, uint64_t want, uint32_t input) {
  if (got == want) return true;
  for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
    if (strncmp(op, bounds[i].prefix, strlen(bounds[i].prefix))) continue;
    bool trig = op[0] == 's' && op[1] == 'i' ? true : op[0] == 'c' && op[1] == 'o';
    if (trig && fabsf(num_f32_bits(input)) > 3.1416f) return true;  // stated for [-pi, pi] only
    bool pair = strstr(op, "16x2") != NULL;
    NumFormat f = strstr(op, "bf16x2") ? NUM_BF16 : pair ? NUM_F16 : NUM_F32;
    for (int half = 0; half <= pair; half++) {
      double x = num_decode(f, got >> (16 * half)), y = num_decode(f, want >> (16 * half));
      if (isnan(x) && isnan(y)) continue;
      if (isinf(x) || isinf(y) ? x != y : !(fabs(x - y) <= fmax(bounds[i].relative * fabs(y), bounds[i].absolute))) return false;
    }
    return true;
  }
  return false;
}

TEST(test_unary) {
  FILE *f = open_data("unary.bin");
  Sim sim;
  sim_init(&sim);
  Device *dev = &sim.devices[0];
  Record r;
  assert_true(next_record(f, &r));
  uint32_t n = r.bytes[0] / 4;
  uint64_t in = device_alloc(dev, n * 4, 512, ALLOC_DEVICE), out = device_alloc(dev, n * 8, 512, ALLOC_DEVICE);
  memcpy((void *)(uintptr_t)in, r.data[0], n * 4);
  free_record(&r);
  total = wrong = 0;
  for (; next_record(f, &r); free_record(&r)) {
    char text[4096];
    build_ptx(r.h.name, text, sizeof text);
    PtxModule *m = ptx_module_load(dev, text, strlen(text));
    if (m->error) {
      print_error("%s: %s\n", r.h.name, m->error);
      wrong++;
      ptx_module_free(m);
      continue;
    }
    uint64_t params[3] = {in, out, n};
    LaunchParams lp = {.func = ptx_module_find(m, "k"), .grid = {(n + 127) / 128, 1, 1}, .block = {128, 1, 1}, .cluster = {1, 1, 1}, .params = (const uint8_t *)params};
    if (grid_run(&sim, dev, &lp)) fail_msg("%s: %s", r.h.name, sim.report);
    const uint64_t *got = (const uint64_t *)(uintptr_t)out, *want = (const uint64_t *)r.data[0];
    const uint32_t *x = (const uint32_t *)(uintptr_t)in;
    unsigned bad = 0, inexact = 0;
    for (uint32_t i = 0; i < n; i++) {
      inexact += got[i] != want[i];
      if (within(r.h.name, got[i], want[i], x[i])) continue;
      if (bad++ < 4) print_error("%s(%08x): %llx, the GPU gave %llx\n", r.h.name, x[i], (unsigned long long)got[i], (unsigned long long)want[i]);
    }
    print_message("%-32s %u inputs, %u differ, %u beyond the bound\n", r.h.name, n, inexact, bad);
    wrong += bad;
    ptx_module_free(m);
  }
  fclose(f);
  sim_free(&sim);
  assert_int_equal(wrong, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_mma), cmocka_unit_test(test_wgmma), cmocka_unit_test(test_tma), cmocka_unit_test(test_unary)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
