// Every instruction form of tests/sim/instr.txt on 1024 operands, against what an H200 computed (tests/sim/recorded/instr_h200.txt:
// per form a hash of the results, or the results themselves for approximate forms). TILE_TEST_GPU=1 TILE_TEST_RECORD=FILE
// makes that file again; TILE_TEST_DUMP=FILE writes all results, to look at a difference, and TILE_TEST_PTX=FILE the PTX.
#include <math.h>

#include "tests/unit/sim_host.h"

enum { N = 1024, MAX_FORMS = 600, SHOWN = 3 };
typedef struct { char cls; double ulp, absolute; char code[240]; char result; } Form;
typedef struct { Form forms[MAX_FORMS]; int count; } Forms;

static void read_forms(Forms *f) {
  char *text = host_read("tests/sim/instr.txt");
  for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
    if (line[0] == '#' || !line[0]) continue;
    assert_true(f->count < MAX_FORMS);
    Form *m = &f->forms[f->count++];
    m->cls = line[0];
    char *plus = line + 2;
    m->ulp = line[1] == '~' ? strtod(line + 2, &plus) : 0;
    m->absolute = m->ulp && *plus == '+' ? strtod(plus + 1, NULL) : 0;
    snprintf(m->code, sizeof m->code, "%s", strchr(line, ' ') + 1);
    m->result = strstr(m->code, "%l0") ? 'l' : strstr(m->code, "%w0") ? 'w' : strstr(m->code, "%h0") ? 'h' : 'p';
  }
  free(text);
}

// ------------------------------------------------------------------------------------------------------- operands

static uint64_t special(char cls, uint32_t i) {
  static const uint64_t ints[] = {0, 1, 2, 3, 5, 7, 8, 16, 31, 32, 33, 63, 64, 127, 128, 255, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff,
                                  0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff, 0xfffffffffffffffe, 0x123456789abcdef0, 0xffffffff00000001};
  static const uint32_t f32[] = {0, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fffffff, 0xffc00001, 1, 0x80000001, 0x007fffff, 0x00800000, 0x80800000,
                                 0x7f7fffff, 0xff7fffff, 0x3f000000, 0x3fc00000, 0x40200000, 0xc0200000, 0x40490fdb, 0x4f000000, 0xcf000000, 0x5f000000, 0x33000000, 0x477fe000, 0x43800000, 0x3effffff, 0x3f7fffff};
  static const uint64_t f64[] = {0, 0x8000000000000000, 0x3ff0000000000000, 0xbff0000000000000, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 1, 0x800fffffffffffff, 0x0010000000000000,
                                 0x7fefffffffffffff, 0x3fe0000000000000, 0x3ff8000000000000, 0xc004000000000000, 0x41dfffffffc00000, 0x41e0000000000000, 0xc1e0000000200000, 0x43e0000000000000, 0xc3e0000000000000,
                                 0x36a0000000000000, 0x3690000000000000, 0x47efffffe0000000, 0x47effffff0000000, 0x3800000000000000, 0x40effc0000000000, 0x3ff0000010000000, 0x3ff0000030000000, 0x7fe0000000000000};
  static const uint16_t f16[] = {0, 0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7fff, 0xfe01, 1, 0x8001, 0x03ff, 0x0400, 0x8400, 0x7bff, 0xfbff, 0x3800, 0x3e00, 0x4100, 0xc100, 0x4248, 0x5c00, 0x5f00, 0x2400, 0x1400, 0x7800, 0x3bff, 0x0200, 0x6c00};
  static const uint16_t bf16[] = {0, 0x8000, 0x3f80, 0xbf80, 0x7f80, 0xff80, 0x7fff, 0xffc1, 1, 0x8001, 0x007f, 0x0080, 0x8080, 0x7f7f, 0xff7f, 0x3f00, 0x3fc0, 0x4020, 0xc020, 0x4049, 0x4f00, 0x5f00, 0x3380, 0x3eff, 0x477f, 0x4380, 0x3f7f, 0x0040};
  i %= 28;
  switch (cls) {
  case 'i': return ints[i];
  case 'f': return f32[i];
  case 'd': return f64[i];
  case 'h': return (uint64_t)f16[(i * 5 + 3) % 28] << 16 | f16[i];
  default: return (uint64_t)bf16[(i * 5 + 3) % 28] << 16 | bf16[i];
  }
}
static uint64_t random_operand(char cls, uint32_t *seed) {
  uint64_t hi = host_random(seed), lo = host_random(seed), x = hi << 32 | lo;
  switch (cls) {
  case 'i': return hi & 1 ? x : x >> (lo & 63);
  case 'f': return hi & 3 ? (x & 0x807fffff) | (uint64_t)(100 + hi / 8 % 50) << 23 : (uint32_t)x;
  case 'd': return hi & 3 ? (x & 0x800fffffffffffff) | (uint64_t)(1000 + lo % 50) << 52 : x;
  case 'h': return (uint32_t)x;
  default: return hi & 1 ? ((x & 0x807f807f) | 0x3f003f00) : (uint32_t)x;
  }
}
static void make_operands(char cls, uint64_t *in) {
  uint32_t seed = 12345;
  for (uint32_t i = 0; i < N; i++)
    for (uint32_t k = 0; k < 3; k++)
      in[i * 3 + k] = i < 784 ? (k == 0 ? special(cls, i) : k == 1 ? special(cls, i / 28) : i % 3 ? special(cls, i * 7 + i / 28) : random_operand(cls, &seed)) : random_operand(cls, &seed);
}

// ------------------------------------------------------------------------------------------------------ execution

static char *make_ptx(const Forms *f) {
  char *text = NULL;
  size_t size = 0;
  FILE *o = open_memstream(&text, &size);
  fputs(".version 8.3\n.target sm_90a\n.address_size 64\n", o);
  for (int i = 0; i < f->count; i++) {
    fprintf(o, ".visible .entry k%d(.param .u64 in, .param .u64 out) {\n.reg .b64 %%l<6>, %%a<4>;\n.reg .b32 %%w<6>, %%t<4>;\n.reg .b16 %%h<6>;\n.reg .pred %%p<6>;\n", i);
    fputs("ld.param.u64 %a0, [in];\nld.param.u64 %a1, [out];\nmov.u32 %t0, %ctaid.x;\nmov.u32 %t1, %ntid.x;\nmov.u32 %t2, %tid.x;\nmad.lo.u32 %t0, %t0, %t1, %t2;\n"
          "mad.wide.u32 %a0, %t0, 24, %a0;\nmad.wide.u32 %a1, %t0, 8, %a1;\nld.global.u64 %l1, [%a0];\nld.global.u64 %l2, [%a0+8];\nld.global.u64 %l3, [%a0+16];\n", o);
    for (int k = 1; k <= 3; k++) fprintf(o, "cvt.u32.u64 %%w%d, %%l%d;\ncvt.u16.u64 %%h%d, %%l%d;\n", k, k, k, k);
    fputs("mov.b64 %l0, 0;\nmov.b32 %w0, 0;\nmov.b16 %h0, 0;\nand.b32 %t3, %w1, 1;\nsetp.ne.u32 %p1, %t3, 0;\nand.b32 %t3, %w2, 1;\nsetp.ne.u32 %p2, %t3, 0;\n", o);
    fprintf(o, "%s\n", f->forms[i].code);
    switch (f->forms[i].result) {
    case 'w': fputs("cvt.u64.u32 %l0, %w0;\n", o); break;
    case 'h': fputs("cvt.u64.u16 %l0, %h0;\n", o); break;
    case 'p': fputs("selp.b64 %l0, 1, 0, %p0;\n", o); break;
    default: break;
    }
    fputs("st.global.u64 [%a1], %l0;\nret;\n}\n", o);
  }
  fclose(o);
  return text;
}

static uint64_t hash(const uint64_t *v) {
  uint64_t h = 14695981039346656037ull;
  for (int i = 0; i < N; i++)
    for (int b = 0; b < 64; b += 8) h = (h ^ (v[i] >> b & 255)) * 1099511628211ull;
  return h;
}

static void run_form(CUmodule m, int i, char cls, uint64_t *out) {
  static uint64_t in[N * 3];
  make_operands(cls, in);
  char name[16];
  snprintf(name, sizeof name, "k%d", i);
  CUdeviceptr di = host_buffer(in, sizeof in), dout = host_buffer(NULL, N * 8);
  LAUNCH(host_function(m, name), N / 128, 128, 0, &di, &dout);
  host_fetch(out, dout, N * 8);
  CU(cuMemFree_v2, (CUdeviceptr), di);
  CU(cuMemFree_v2, (CUdeviceptr), dout);
}

// Distance in units in the last place of the reference's type; 0 for equal, huge when one is NaN and the other not.
static double distance(char result, char cls, uint64_t got, uint64_t want, double absolute) {
  if (got == want) return 0;
  double g, w, unit;
  if (result == 'w' || cls == 'f') {
    float x, y;
    uint32_t a = (uint32_t)got, b = (uint32_t)want;
    memcpy(&x, &a, 4), memcpy(&y, &b, 4);
    g = x, w = y;
    unit = ldexp(1, (int)fmax(y == 0 || isinf(y) || isnan(y) ? -126 : ilogb(y), -126) - 23);
  } else {
    int man = cls == 'b' ? 7 : 10, bias = cls == 'b' ? 127 : 15, width = 15 - man;
    double v[2];
    uint64_t bits[2] = {got, want};
    for (int k = 0; k < 2; k++) {
      int e = (int)(bits[k] >> man) & ((1 << width) - 1), f = (int)bits[k] & ((1 << man) - 1);
      v[k] = e == (1 << width) - 1 ? (f ? NAN : INFINITY) : ldexp(e ? f + (1 << man) : f, (e ? e : 1) - bias - man);
      if (bits[k] & 0x8000) v[k] = -v[k];
    }
    g = v[0], w = v[1];
    unit = ldexp(1, (int)fmax(w == 0 || isinf(w) || isnan(w) ? 1 - bias : ilogb(w), 1 - bias) - man);
  }
  if (isnan(g) && isnan(w)) return 0;
  if (isnan(g) != isnan(w)) return 1e30;
  if (isinf(g) || isinf(w)) return g == w ? 0 : 1e30;
  return fabs(g - w) <= absolute ? 0 : fabs(g - w) / unit;
}

TEST(test_forms) {
  static Forms f;
  read_forms(&f);
  char *ptx = make_ptx(&f);
  const char *show = getenv("TILE_TEST_PTX");
  if (show) {
    FILE *t = fopen(show, "w");
    fputs(ptx, t);
    fclose(t);
  }
  CUmodule m = host_load(ptx);
  free(ptx);
  const char *record = getenv("TILE_TEST_RECORD");
  const char *dump = getenv("TILE_TEST_DUMP");
  FILE *o = record ? fopen(record, "w") : NULL, *d = dump ? fopen(dump, "wb") : NULL;
  char *golden = record ? NULL : host_read("tests/sim/recorded/instr_h200.txt"), *at = golden;
  int bad = 0;
  for (int i = 0; i < f.count; i++) {
    const Form *form = &f.forms[i];
    uint64_t out[N];
    run_form(m, i, form->cls, out);
    if (d) fwrite(out, sizeof out, 1, d);
    if (o) {
      fprintf(o, "%s\n%016llx\n", form->code, (unsigned long long)hash(out));
      for (int k = 0; form->ulp && k < N; k++) fprintf(o, "%llx%c", (unsigned long long)out[k], k % 32 == 31 ? '\n' : ' ');
      continue;
    }
    // The record lists the same forms in the same order.
    size_t n = strlen(form->code);
    if (strncmp(at, form->code, n) || at[n] != '\n') fail_msg("tests/sim/recorded/instr_h200.txt does not follow instr.txt at: %s", form->code);
    at += n + 1;
    uint64_t want = strtoull(at, &at, 16);
    at++;
    if (!form->ulp) {
      if (want != hash(out)) print_error("differs from the H200: %s\n", form->code), bad++;
      continue;
    }
    int shown = 0;
    double worst = 0;
    for (int k = 0; k < N; k++) {
      uint64_t w = strtoull(at, &at, 16);
      double e = distance(form->result, form->cls, out[k], w, form->absolute);
      if (e > worst) worst = e;
      if (e <= form->ulp) continue;
      if (shown++ < SHOWN) print_error("%s: operand %d: %llx, the H200 has %llx: %g units in the last place\n", form->code, k, (unsigned long long)out[k], (unsigned long long)w, e);
    }
    at += strspn(at, " \n");
    bad += shown > 0;
    if (getenv("TILE_TEST_SHOW")) print_message("%-50s %g units in the last place\n", form->code, worst);
  }
  if (o) fclose(o);
  if (d) fclose(d);
  free(golden);
  if (bad) fail_msg("%d of %d instruction forms differ", bad, f.count);
}

int main(void) {
  setenv("TILE_SIM_CHECKS", "5", 1);   // quotients by zero are compared, too
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_forms)};
  return cmocka_run_group_tests(tests, host_setup, host_teardown);
}
