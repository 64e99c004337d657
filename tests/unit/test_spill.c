// runtime/compile/spill.c, runtime/rt/kernel.c: code that spills is assembled with another occupancy hint. The first test
// needs ptxas.
#include <stdlib.h>
#include <string.h>

#include "runtime/compile/compile.h"
#include "runtime/rt/device.h"
#include "unit.h"

enum { VALUES = 80 };                // live at once, more than 512 threads of four resident blocks have registers for

static const char *kernel_text(Arena *a) {
  Buf b = buf_make(a);
  buf_puts(&b, ".version 8.0\n.target sm_90a\n.address_size 64\n\n.visible .entry hold(.param .u64 p)\n"
               ".reqntid 512, 1, 1\n.minnctapersm 4\n{\n.reg .b64 %a;\n");
  buf_printf(&b, ".reg .b32 %%v<%d>;\nld.param.u64 %%a, [p];\n", VALUES);
  for (int i = 0; i < VALUES; i++) buf_printf(&b, "ld.volatile.global.b32 %%v%d, [%%a+%d];\n", i, 4 * i);
  for (int i = 0; i < VALUES; i++) buf_printf(&b, "st.volatile.global.b32 [%%a+%d], %%v%d;\n", 4 * (VALUES - 1 - i), i);
  buf_puts(&b, "ret;\n}\n");
  return buf_str(&b);
}

static uint32_t frame_bytes(const char *cubin, size_t size) {
  CodeUse use;
  return resources_of_cubin(cubin, size, "hold", &use) ? use.local_bytes : 0;
}

typedef struct { int calls; unsigned long blocks[4]; uint32_t frame[4]; } Seen;

static tile_status watch(void *user, Arena *a, const char *ptx, MachineCode *code, tile_error **error) {
  Seen *s = user;
  char *copy = arena_strndup(a, ptx, strlen(ptx));
  char *hint = strstr(copy, "\n.minnctapersm ");
  s->blocks[s->calls] = hint ? strtoul(hint + strlen("\n.minnctapersm "), NULL, 10) : 0;
  if (hint) *hint = ' ';               // ptxas_assemble looks for what begins a line, to lower it itself
  tile_status status = ptxas_assemble(a, copy, "sm_90a", NULL, code, error);
  s->frame[s->calls++] = status == TILE_OK ? frame_bytes(code->cubin, code->size) : 0;
  return status;
}

static void test_lowers_hint(void **state) {
  (void)state;
  Arena a = {0};
  if (!ptxas_find(&a)) {
    arena_free(&a);
    skip();
  }
  MachineCode code = {0};
  Seen s = {0};
  assert_int_equal(assemble_checked(watch, &s, &a, kernel_text(&a), &code, NULL), TILE_OK);
  assert_int_equal(s.calls, 2);
  assert_int_equal(s.blocks[0], 4);
  assert_int_equal(s.blocks[1], 1);      // 128 registers, of which the values take most
  assert_true(s.frame[0] > 0);
  assert_int_equal(s.frame[1], 0);
  assert_int_equal(frame_bytes(code.cubin, code.size), 0);
  for (size_t n = 0; n < code.size; n += 1 + n / 16) {   // a text that was cut off is no reason to read beyond it
    char *part = malloc(n ? n : 1);
    memcpy(part, code.cubin, n);
    frame_bytes(part, n);
    free(part);
  }
  arena_free(&a);
}

static char *other_hint(const char *ptx, uint32_t registers, uint32_t local) {
  const CodeUse use = {registers, local};
  return kernel_with_other_hint(ptx, &use);
}

static void test_other_hints(void **state) {
  (void)state;
  // 168 registers and six spilled words fit twice, 64 and 64 of 1024 threads not at all, and a limit is never kept.
  char *text = other_hint("a\n.reqntid 128, 1, 1\n.minnctapersm 3\n{\n", 168, 24);
  assert_string_equal(text, "a\n.reqntid 128, 1, 1\n.minnctapersm 2\n{\n");
  free(text);
  text = other_hint("a\n.reqntid 512, 1, 1\n.minnctapersm 2\n{\n", 64, 256);
  assert_string_equal(text, "a\n.reqntid 512, 1, 1\n.minnctapersm 1\n{\n");
  free(text);
  text = other_hint("a\n.reqntid 1024, 1, 1\n.minnctapersm 2\n{\n", 64, 256);
  assert_string_equal(text, "a\n.reqntid 1024, 1, 1\n{\n");
  free(text);
  text = other_hint("a\n.reqntid 32, 1, 1\n.minnctapersm 10\n{\n", 32, 8);
  assert_string_equal(text, "a\n.reqntid 32, 1, 1\n.minnctapersm 9\n{\n");
  free(text);
  // 128 registers and 38 spilled words fit three times, but hardly: the assembler would spill again.
  text = other_hint("a\n.reqntid 128, 1, 1\n.minnctapersm 4\n{\n", 128, 152);
  assert_string_equal(text, "a\n.reqntid 128, 1, 1\n.minnctapersm 2\n{\n");
  free(text);
  // Half of the registers, and a few spills with all of them.
  text = other_hint("a\n.reqntid 128,1,1\n{\n", 128, 100);
  assert_string_equal(text, "a\n.reqntid 128,1,1\n.minnctapersm 1\n{\n");
  free(text);
  text = other_hint("a\n.reqntid 128,1,1\n{\n", 255, 16);
  assert_string_equal(text, "a\n.reqntid 128,1,1\n.minnctapersm 1\n{\n");
  free(text);
  text = other_hint("a\n.reqntid 128,1,1\n{\n}\nb\n.reqntid 64,1,1\n{\n}\n", 32, 8);     // all registers are offered
  assert_string_equal(text, "a\n.reqntid 128,1,1\n.minnctapersm 1\n{\n}\nb\n.reqntid 64,1,1\n.minnctapersm 1\n{\n}\n");
  free(text);
  // No other hint: all registers are offered, the user set the limit, most are taken and much is spilled, or nothing is.
  assert_null(other_hint(".reg\n.reqntid 512, 1, 1\n.minnctapersm 1\n{\n", 32, 8));
  assert_null(other_hint(".reg\n.reqntid 128,1,1\n.maxnreg 32\n{\n", 32, 8));
  assert_null(other_hint(".reg\n.reqntid 128,1,1\n{\n", 200, 80));
  assert_null(other_hint(".reg\n.reqntid 128,1,1\n{\n", 32, 0));
  assert_null(other_hint(".reg\n.reqntid 1024,1,1\n{\n", 64, 80));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_lowers_hint), cmocka_unit_test(test_other_hints)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
