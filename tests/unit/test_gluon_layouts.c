// Gluon's layouts as maps, against what Triton says they are: tests/gluon/recorded, by tests/gluon/record_*.py.
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "frontend/comptime/comptime.h"

static const char prelude[] = "from triton.experimental.gluon import language as gl\n"
                              "B = gl.BlockedLayout\nS = gl.SliceLayout\nL = gl.DistributedLinearLayout\n"
                              "D = gl.DotOperandLayout\nM = gl.NVMMADistributedLayout\n"
                              "N = gl.NVMMASharedLayout\nW = gl.SwizzledSharedLayout\nH = gl.SharedLinearLayout\n";

typedef struct { Context ctx; Comptime *ct; CtModule *module; } World;

static void open_world(World *w) {
  const ComptimeOptions options = {0};
  context_init(&w->ctx);
  w->ct = comptime_new(&w->ctx, &options);
  w->module = comptime_load_source(w->ct, source_add(&w->ctx, "t.tile", prelude, sizeof prelude - 1), "t");
  assert_non_null(w->module);
}

static CtValue *value(World *w, const char *text) {
  CtValue *v = comptime_eval_text(w->ct, w->module, "test", text, NULL, 0);
  if (!v) print_error("%s\n%s", text, diag_render(&w->ctx, false));
  assert_non_null(v);
  return v;
}

static uint32_t shape_of(World *w, const char *text, int64_t shape[LAYOUT_MAX_RANK]) {
  const CtValue *v = value(w, text);
  for (uint32_t i = 0; i < v->list.count; i++) shape[i] = (int64_t)v->list.data[i]->i;
  return v->list.count;
}

// The columns as a line of the recorded file has them.
static const char *columns(World *w, const Layout *l) {
  Buf b = buf_make(&w->ctx.arena);
  const uint32_t dims = l->kind == LAYOUT_SHARED ? 1 : LAYOUT_DIMS;
  for (uint32_t d = 0; d < dims; d++) {
    if (d) buf_putc(&b, ';');
    for (uint32_t i = 0; i < l->num_bits[d]; i++)
      buf_printf(&b, "%s%u", i ? " " : "", layout_basis(l, (LayoutDim)d, i));
  }
  return buf_str(&b);
}

// Compares each line LAYOUT|SHAPE|COLUMNS of the file; returns how many there are.
static uint32_t compare_file(const char *path) {
  char line[4096];
  uint32_t n = 0;
  FILE *f = fopen(path, "r");
  assert_non_null(f);
  World w;
  open_world(&w);
  while (fgets(line, sizeof line, f)) {
    char *shape_text = strchr(line, '|'), *want = strchr(shape_text + 1, '|');
    *shape_text++ = *want++ = 0;
    want[strcspn(want, "\n")] = 0;
    int64_t shape[LAYOUT_MAX_RANK];
    const char *why = "";
    const uint32_t rank = shape_of(&w, shape_text, shape);
    const Layout *l = comptime_layout_map(w.ct, value(&w, line), shape, rank, &why);
    if (!l) print_error("%s on %s: %s\n", line, shape_text, why);
    assert_non_null(l);
    const char *got = columns(&w, l);
    if (strcmp(got, want)) print_error("%s on %s\n", line, shape_text);
    assert_string_equal(got, want);
    n++;
  }
  fclose(f);
  context_free(&w.ctx);
  return n;
}

TEST(test_distributed) { assert_true(compare_file("tests/gluon/recorded/layouts.txt") >= 3000); }

TEST(test_shared) { assert_true(compare_file("tests/gluon/recorded/shared.txt") >= 300); }

static void check_repr(World *w, const char *text, const char *want) {
  assert_string_equal(ct_repr(&w->ctx, value(w, text)), want);
}

TEST(test_classes) {
  World w;
  open_world(&w);
  check_repr(&w, "B([1], [32], [4], [0], cga_layout=[])",
             "gl.BlockedLayout(size_per_thread=[1], threads_per_warp=[32], warps_per_cta=[4], order=[0])");
  check_repr(&w, "N.get_default_for([64, 64], gl.float16)",
             "gl.NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=16)");
  check_repr(&w, "N.get_default_for([32, 64], gl.float16, transposed=True).swizzle_byte_width", "64");
  check_repr(&w, "N.get_default_for([4, 64], gl.float16).swizzle_byte_width", "0");
  check_repr(&w, "N.get_default_for([128], gl.float32)",
             "gl.NVMMASharedLayout(swizzle_byte_width=0, element_bitwidth=32, rank=1)");
  check_repr(&w, "N(128, 16).transposed, N(128, 16).cga_layout, N(128, 16).rank", "(False, [], 2)");
  check_repr(&w, "S(0, B([1, 1], [1, 32], [1, 4], [1, 0], [[0, 1]])).cga_layout", "[[1]]");
  check_repr(&w, "gl.PaddedSharedLayout.with_identity_for([[8, 4]], [4, 8], [1, 0]).offset_bases",
             "[[0, 1], [0, 2], [0, 4], [1, 0], [2, 0]]");
  check_repr(&w, "B([1], [32], [4], [0]) == B([1], [32], [4], [0])", "True");
  check_repr(&w, "B([1], [32], [4], [0]) == B([2], [32], [4], [0])", "False");
  check_repr(&w, "isinstance(N(128, 16), gl.NVMMASharedLayout)", "True");
  check_repr(&w, "gl.to_linear_layout(B([2], [32], [4], [0]), [512]).reg_bases", "[[1], [256]]");
  context_free(&w.ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_distributed), cmocka_unit_test(test_shared),
                                     cmocka_unit_test(test_classes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
