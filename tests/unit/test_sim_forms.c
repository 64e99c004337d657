// Every shape and type of mma.sync, and wgmma over its types and widths with A in registers and in shared memory, each on one
// set of operands: a hash of the accumulators against an H200's (tests/sim/recorded/mma_h200.txt). TILE_TEST_GPU=1 TILE_TEST_RECORD=FILE
// makes that file again; TILE_TEST_PTX=FILE writes the kernels.
#include "ir/base.h"
#include "tests/unit/sim_host.h"

enum { THREADS = 128 };
typedef struct { char name[80]; uint32_t threads; } Form;
typedef struct { Form forms[640]; uint32_t count; FILE *ptx; } Forms;

// Random words as operands: finite floats of four neighbouring exponents, so that sums align and round; integers as they come.
typedef struct { const char *name; unsigned bits; uint32_t keep, set; } Type;
static const Type types[] = {
  {"f16", 16, 0x8fff8fff, 0x30003000}, {"bf16", 16, 0x81ff81ff, 0x3e003e00}, {"tf32", 32, 0x81ffe000, 0x3e000000}, {"f32", 32, 0x81ffffff, 0x3e000000},
  {"e4m3", 8, 0x9f9f9f9f, 0x20202020}, {"e5m2", 8, 0x8f8f8f8f, 0x30303030}, {"f64", 64, 0x803fffff, 0x3fc00000},
  {"s8", 8, 0xffffffff, 0}, {"u8", 8, 0xffffffff, 0}, {"s4", 4, 0xffffffff, 0}, {"u4", 4, 0xffffffff, 0}, {"s32", 32, 0xffffffff, 0}};
static const Type *type_named(const char *name) {
  for (size_t i = 0; i < countof(types); i++)
    if (!strcmp(types[i].name, name)) return &types[i];
  fail_msg("no type %s", name);
  return NULL;
}

// %x becomes a mixture of the bits of word number %x.
#define MIX "mul.lo.u32 %%x, %%x, 0x9e3779b1; shr.u32 %%y, %%x, 15; xor.b32 %%x, %%x, %%y; mul.lo.u32 %%x, %%x, 0x85ebca6b; shr.u32 %%y, %%x, 13; xor.b32 %%x, %%x, %%y;\n"

// count registers named `name`0 …: word numbers from `first` on, one per thread and register.
static void fill_registers(FILE *o, const char *name, const Type *t, unsigned count, unsigned first) {
  for (unsigned i = 0; i < count; i++) {
    fprintf(o, "mad.lo.u32 %%x, %%t, 256, %u;\n" MIX "and.b32 %%x, %%x, 0x%x; or.b32 %%x, %%x, 0x%x;\n", first + i, t->keep, t->set);
    if (t->bits == 64) fprintf(o, "mov.b64 %s%u, {%%x, %%x};\n", name, i);
    else fprintf(o, "mov.b32 %s%u, %%x;\n", name, i);
  }
}
static void list(FILE *o, const char *name, unsigned count) {
  fputc('{', o);
  for (unsigned i = 0; i < count; i++) fprintf(o, "%s%s%u", i ? ", " : "", name, i);
  fputc('}', o);
}

static void begin_kernel(Forms *f, uint32_t threads, const char *name) {
  Form *m = &f->forms[f->count];
  assert_true(f->count < countof(f->forms));
  snprintf(m->name, sizeof m->name, "%s", name);
  m->threads = threads;
  fprintf(f->ptx, ".visible .entry k%u(.param .u64 out) .reqntid %u, 1, 1 {\n.reg .b32 %%t, %%x, %%y, %%s, %%r, %%a<8>, %%b<8>, %%d<128>; .reg .b64 %%o, %%q, %%da, %%db, %%la<8>, %%lb<8>, %%ld<8>; .reg .pred %%p;\n"
          "mov.u32 %%t, %%tid.x; ld.param.u64 %%o, [out];\n", f->count++, threads);
}
static void end_kernel(Forms *f, const char *name, unsigned count, bool wide) {
  fputs("mov.u32 %r, 0;\n", f->ptx);
  for (unsigned i = 0; i < count; i++) {
    if (wide) fprintf(f->ptx, "mov.b64 {%%x, %%y}, %s%u; mad.lo.u32 %%r, %%r, 31, %%x; mad.lo.u32 %%r, %%r, 31, %%y;\n", name, i);
    else fprintf(f->ptx, "mad.lo.u32 %%r, %%r, 31, %s%u;\n", name, i);
  }
  fputs("mad.wide.u32 %o, %t, 4, %o; st.global.u32 [%o], %r; ret;\n}\n", f->ptx);
}

static void add_mma(Forms *f, unsigned m, unsigned k, const char *d, const char *a, const char *b, bool saturate) {
  const Type *ta = type_named(a), *tb = type_named(b), *td = type_named(d);
  unsigned na = m * k * ta->bits / 1024, nb = 8 * k * tb->bits / 1024, nd = m * 8 * td->bits / 1024;
  bool wide = ta->bits == 64;
  if (wide) na /= 2, nb /= 2, nd /= 2;
  char name[80];
  snprintf(name, sizeof name, "mma.m%un8k%u.%s%s.%s.%s", m, k, saturate ? "satfinite." : "", d, a, b);
  begin_kernel(f, 32, name);
  fill_registers(f->ptx, wide ? "%la" : "%a", ta, na, 0);
  fill_registers(f->ptx, wide ? "%lb" : "%b", tb, nb, 16);
  fill_registers(f->ptx, wide ? "%ld" : "%d", td, nd, 32);
  fprintf(f->ptx, "mma.sync.aligned.m%un8k%u.row.col%s.%s.%s.%s.%s ", m, k, saturate ? ".satfinite" : "", d, a, b, d);
  const char *dn = wide ? "%ld" : "%d";
  list(f->ptx, dn, nd), fputs(", ", f->ptx);
  list(f->ptx, wide ? "%la" : "%a", na), fputs(", ", f->ptx);
  list(f->ptx, wide ? "%lb" : "%b", nb), fputs(", ", f->ptx);
  list(f->ptx, dn, nd), fputs(";\n", f->ptx);
  end_kernel(f, dn, nd, wide);
}

// A: 64 rows of 32 bytes, B: n rows after it, both K-major in plain cores of 8 by 16 bytes.
static void add_wgmma(Forms *f, unsigned n, const char *d, const char *a, const char *b, bool in_registers, bool saturate) {
  const Type *ta = type_named(a), *tb = type_named(b), *td = type_named(d);
  unsigned k = 256 / ta->bits, nd = n * td->bits / 64;
  char name[80];
  snprintf(name, sizeof name, "wgmma.m64n%uk%u.%s.%s.%s%s%s", n, k, d, a, b, saturate ? ".satfinite" : "", in_registers ? " A in registers" : "");
  begin_kernel(f, THREADS, name);
  fprintf(f->ptx, ".shared .align 1024 .b8 s%u[10240];\nmov.u32 %%s, s%u;\n", f->count, f->count);
  const unsigned words[] = {512, 8 * n};
  const Type *filled[] = {ta, tb};
  for (unsigned i = 0, at = 0; i < 2; at += words[i++] * 4)
    for (unsigned w = 0; w < words[i]; w += THREADS) {
      if (words[i] - w < THREADS) fprintf(f->ptx, "setp.ge.u32 %%p, %%t, %u; @%%p bra S%u;\n", words[i] - w, i);
      fprintf(f->ptx, "add.u32 %%x, %%t, %u;\n" MIX "and.b32 %%x, %%x, 0x%x; or.b32 %%x, %%x, 0x%x; mad.lo.u32 %%y, %%t, 4, %%s; st.shared.b32 [%%y+%u], %%x;\n", at + w + 99, filled[i]->keep, filled[i]->set, at + 4 * w);
      if (words[i] - w < THREADS) fprintf(f->ptx, "S%u:\n", i);
    }
  fill_registers(f->ptx, "%a", ta, 4, 128);
  fill_registers(f->ptx, "%d", td, nd, 132 - 128);
  // strides: 128 bytes along K, 256 between groups of 8 rows
  fputs("fence.proxy.async; bar.sync 0; shr.u32 %x, %s, 4; cvt.u64.u32 %da, %x; or.b64 %da, %da, 0x1000080000; add.u64 %db, %da, 128; wgmma.fence.sync.aligned;\n", f->ptx);
  fprintf(f->ptx, "wgmma.mma_async.sync.aligned.m64n%uk%u.%s.%s.%s%s ", n, k, d, a, b, saturate ? ".satfinite" : "");
  list(f->ptx, "%d", nd);
  if (in_registers) fputs(", ", f->ptx), list(f->ptx, "%a", 4);
  else fputs(", %da", f->ptx);
  bool is_int = ta->keep == 0xffffffff, half = ta->bits == 16;
  fprintf(f->ptx, ", %%db, 1%s%s;\nwgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n", is_int ? "" : ", 1, 1", half ? in_registers ? ", 0" : ", 0, 0" : "");
  end_kernel(f, "%d", nd, false);
}

static void add_all(Forms *f) {
  static const char *const fp8[] = {"e4m3", "e5m2"}, *const int8[] = {"s8", "u8"}, *const int4[] = {"s4", "u4"};
  static const unsigned int8_shapes[][2] = {{8, 16}, {16, 16}, {16, 32}}, int4_shapes[][2] = {{8, 32}, {16, 32}, {16, 64}}, f64_shapes[][2] = {{8, 4}, {16, 4}, {16, 8}, {16, 16}};
  for (unsigned k = 8; k <= 16; k += 8) add_mma(f, 16, k, "f32", "f16", "f16", false), add_mma(f, 16, k, "f16", "f16", "f16", false), add_mma(f, 16, k, "f32", "bf16", "bf16", false), add_mma(f, 16, k / 2, "f32", "tf32", "tf32", false);
  for (unsigned i = 0; i < 4; i++) add_mma(f, f64_shapes[i][0], f64_shapes[i][1], "f64", "f64", "f64", false);
  for (unsigned i = 0; i < 4; i++) {
    const char *a8 = fp8[i / 2], *b8 = fp8[i % 2];
    for (unsigned k = 16; k <= 32; k += 16) add_mma(f, 16, k, "f32", a8, b8, false), add_mma(f, 16, k, "f16", a8, b8, false);
    for (unsigned s = 0; s < 6; s++) {
      add_mma(f, int8_shapes[s / 2][0], int8_shapes[s / 2][1], "s32", int8[i / 2], int8[i % 2], s % 2);
      add_mma(f, int4_shapes[s / 2][0], int4_shapes[s / 2][1], "s32", int4[i / 2], int4[i % 2], s % 2);
    }
  }
  for (unsigned rs = 0; rs < 2; rs++) {
    for (unsigned n = 8; n <= 256; n += 8) add_wgmma(f, n, "f32", "f16", "f16", rs, false);
    static const unsigned widths[] = {8, 24, 64, 128, 208, 256};
    for (unsigned w = 0; w < countof(widths); w++) {
      unsigned n = widths[w];
      add_wgmma(f, n, "f16", "f16", "f16", rs, false), add_wgmma(f, n, "f32", "bf16", "bf16", rs, false), add_wgmma(f, n, "f32", "tf32", "tf32", rs, false);
      for (unsigned i = 0; i < 4; i++) {
        add_wgmma(f, n, "f32", fp8[i / 2], fp8[i % 2], rs, false), add_wgmma(f, n, "f16", fp8[i / 2], fp8[i % 2], rs, false);
        add_wgmma(f, n, "s32", int8[i / 2], int8[i % 2], rs, i == 1);
      }
    }
  }
}

static uint64_t hash(const uint32_t *v, uint32_t n) {
  uint64_t h = UINT64_C(14695981039346656037);
  for (uint32_t i = 0; i < n; i++)
    for (int b = 0; b < 32; b += 8) h = (h ^ (v[i] >> b & 255)) * UINT64_C(1099511628211);
  return h;
}

TEST(test_forms) {
  static Forms f;
  char *text = NULL;
  size_t size = 0;
  f.ptx = open_memstream(&text, &size);
  fputs(".version 8.7\n.target sm_90a\n.address_size 64\n", f.ptx);
  add_all(&f);
  fclose(f.ptx);
  const char *show = getenv("TILE_TEST_PTX"), *record = getenv("TILE_TEST_RECORD");
  FILE *o = show ? fopen(show, "w") : NULL;
  if (o) fputs(text, o), fclose(o);
  CUmodule m = host_load(text);
  free(text);
  o = record ? fopen(record, "w") : NULL;
  char *golden = host_read("tests/sim/recorded/mma_h200.txt");
  CUdeviceptr buffer = host_buffer(NULL, THREADS * 4);
  uint32_t differ = 0, compared = 0;
  for (uint32_t i = 0; i < f.count; i++) {
    uint32_t out[THREADS];
    char name[16], line[100];
    snprintf(name, sizeof name, "k%u", i);
    LAUNCH(host_function(m, name), 1, f.forms[i].threads, 0, &buffer);
    host_fetch(out, buffer, f.forms[i].threads * 4);
    uint64_t h = hash(out, f.forms[i].threads);
    if (o) fprintf(o, "%s: %016llx\n", f.forms[i].name, (unsigned long long)h);
    snprintf(line, sizeof line, "\n%s: ", f.forms[i].name);
    const char *at = strstr(golden, line);
    if (!at) continue;
    compared++;
    if (strtoull(at + strlen(line), NULL, 16) != h) print_error("differs from the H200: %s\n", f.forms[i].name), differ++;
  }
  if (o) fclose(o);
  free(golden);
  print_message("%u forms, %u compared with an H200, %u differ\n", f.count, compared, differ);
  assert_int_equal(differ, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_forms)};
  return cmocka_run_group_tests(tests, host_setup, host_teardown);
}
