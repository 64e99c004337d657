// Passes keep the meaning: every tests/kernels/*.tir gives the same results in the interpreter before the passes and after
// each of them, up to ALLOCATED. The files say what to run with:
//   // ARGS: f32[1024] i32=7     a buffer of random elements, or a value, for each parameter
//   // GRID: 2 2                 default 1
//   // TOLERANCE: 1e-3           relative, for passes that may change rounding; default: the same bits
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "ir/fold.h"
#include "ir/interp.h"
#include "passes/pass.h"
#include "tests/unit/unit.h"

enum { MAX_ARGS = 8 };

typedef struct {
  Context *ctx;
  const char *path;
  uint32_t num, grid[3];
  double tolerance;
  ScalarKind kind[MAX_ARGS];
  size_t count[MAX_ARGS];        // elements; 0: a value
  int64_t value[MAX_ARGS];
  char *initial[MAX_ARGS], *want[MAX_ARGS], *got[MAX_ARGS];
  bool failed;
} Case;

static const char *line_after(const char *text, const char *key) {
  const char *at = strstr(text, key);
  return at ? at + strlen(key) : NULL;
}

static size_t bytes_of(const Case *c, uint32_t i) { return c->count[i] * (scalar_bits(c->kind[i]) / 8); }

static void read_header(Case *c, const char *text) {
  const char *args = line_after(text, "// ARGS:"), *grid = line_after(text, "// GRID:"), *tolerance = line_after(text, "// TOLERANCE:");
  assert_non_null(args);
  char word[64];
  int used;
  while (sscanf(args, " %63[^ \n]%n", word, &used) == 1) {
    args += used;
    uint32_t i = c->num++;
    assert_true(i < MAX_ARGS);
    size_t n = strcspn(word, "[=");
    for (uint32_t k = 0; k < NUM_SCALARS; k++)
      if (strlen(scalar_name((ScalarKind)k)) == n && memcmp(scalar_name((ScalarKind)k), word, n) == 0) c->kind[i] = (ScalarKind)k;
    if (word[n] == '[') c->count[i] = strtoul(word + n + 1, NULL, 10);
    else c->value[i] = strtoll(word + n + 1, NULL, 10);
    if (*args == '\n') break;
  }
  c->grid[0] = c->grid[1] = c->grid[2] = 1;
  if (grid) sscanf(grid, "%u %u %u", &c->grid[0], &c->grid[1], &c->grid[2]);
  if (tolerance) c->tolerance = strtod(tolerance, NULL);
  uint64_t seed = 1;
  for (uint32_t i = 0; i < c->num; i++) {
    if (!c->count[i]) continue;
    size_t size = scalar_bits(c->kind[i]) / 8;
    c->initial[i] = malloc(bytes_of(c, i));
    c->want[i] = malloc(bytes_of(c, i));
    c->got[i] = malloc(bytes_of(c, i));
    for (size_t k = 0; k < c->count[i]; k++) {
      seed = seed * 6364136223846793005ull + 1442695040888963407ull;
      double x = (double)(int64_t)(seed >> 40) / (1 << 23) * 4 - 4;
      uint64_t bits = scalar_is_float(c->kind[i]) ? num_encode(scalar_num_format(c->kind[i]), x, NUM_RNE, false) : (uint64_t)(int64_t)(x * 10);
      memcpy(c->initial[i] + k * size, &bits, size);
    }
  }
}

static bool run(Case *c, Module *m, char *const *buffers) {
  InterpArg args[MAX_ARGS];
  InterpBuffer memory[MAX_ARGS];
  uint32_t n = 0;
  for (uint32_t i = 0; i < c->num; i++) {
    args[i] = (InterpArg){.bits = (uint64_t)c->value[i]};
    if (!c->count[i]) continue;
    memcpy(buffers[i], c->initial[i], bytes_of(c, i));
    args[i].bits = (uintptr_t)buffers[i];
    memory[n++] = (InterpBuffer){(uintptr_t)buffers[i], bytes_of(c, i)};
  }
  InterpLaunch l = {.func = m->funcs, .grid = {c->grid[0], c->grid[1], c->grid[2]}, .args = args, .num_args = c->num, .buffers = memory, .num_buffers = n};
  return interp_run(c->ctx, &l);
}

static bool same(const Case *c, uint32_t i, size_t k) {
  size_t size = scalar_bits(c->kind[i]) / 8;
  const char *want = c->want[i] + k * size, *got = c->got[i] + k * size;
  if (memcmp(want, got, size) == 0) return true;
  if (c->tolerance == 0 || !scalar_is_float(c->kind[i])) return false;
  uint64_t w = 0, g = 0;
  memcpy(&w, want, size);
  memcpy(&g, got, size);
  NumFormat f = scalar_num_format(c->kind[i]);
  return fabs(num_decode(f, w) - num_decode(f, g)) <= c->tolerance * (1 + fabs(num_decode(f, w)));
}

static bool after_pass(void *user, const char *pass, Module *m) {
  Case *c = user;
  const char *why = NULL;
  if (!run(c, m, c->got)) why = diag_render(c->ctx, false);
  for (uint32_t i = 0; i < c->num && !why; i++)
    for (size_t k = 0; k < c->count[i] && !why; k++)
      if (!same(c, i, k)) why = arena_printf(&c->ctx->arena, "argument %u differs first at element %zu\n", i, k);
  if (!why) return true;
  Buf b = buf_make(&c->ctx->arena);
  ir_print_module(&b, m);
  print_error("%s: after pass %s: %s%s\n", c->path, pass, why, getenv("TILE_TEST_VERBOSE") ? buf_str(&b) : "");
  c->failed = true;
  return false;
}

static bool check_file(const char *path, const char *target) {
  Context ctx;
  context_init(&ctx);
  FILE *f = fopen(path, "rb");
  assert_non_null(f);
  fseek(f, 0, SEEK_END);
  size_t n = (size_t)ftell(f);
  rewind(f);
  char *text = arena_alloc(&ctx.arena, n + 1);
  assert_int_equal(fread(text, 1, n, f), n);
  fclose(f);

  Case c = {.ctx = &ctx, .path = path};
  read_header(&c, text);
  Module *m = ir_parse(&ctx, source_add(&ctx, path, text, n));
  bool ok = m && ir_verify(m) && run(&c, m, c.want);
  if (ok) {
    m->target = target_find(target);
    PassOptions options = {.stop_after = -1, .verify_each = true, .after_pass = after_pass, .user = &c};
    ok = passes_run(m, STAGE_ALLOCATED, &options) && !c.failed;
    if (getenv("TILE_TEST_VERBOSE")) {
      Buf b = buf_make(&ctx.arena);
      ir_print_module(&b, m);
      puts(buf_str(&b));
    }
  }
  if (!ok && !c.failed) print_error("%s: for %s: %s\n", path, target, diag_render(&ctx, false));
  for (uint32_t i = 0; i < c.num; i++) {
    free(c.initial[i]);
    free(c.want[i]);
    free(c.got[i]);
  }
  context_free(&ctx);
  return ok;
}

static void check_all(const char *target) {
  glob_t g;
  assert_int_equal(glob("tests/kernels/*.tir", 0, NULL, &g), 0);
  int bad = 0;
  for (size_t i = 0; i < g.gl_pathc; i++) bad += !check_file(g.gl_pathv[i], target);
  globfree(&g);
  assert_int_equal(bad, 0);
}

TEST(test_sm_80) { check_all("sm_80"); }
TEST(test_sm_90a) { check_all("sm_90a"); }

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_sm_80), cmocka_unit_test(test_sm_90a)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
