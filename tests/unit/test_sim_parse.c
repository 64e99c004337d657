// The PTX front end on malformed text: the driver's error code, a message with line and source line, never a crash.
#include "tests/unit/sim_host.h"

#define HEAD ".version 8.3\n.target sm_90a\n.address_size 64\n"
#define BODY(text) HEAD ".visible .entry k() {\n.reg .b32 %r<4>;\n.reg .b64 %rd<4>;\n.reg .pred %p<3>;\n" text "\nret;\n}\n"

static void refuse(const char *ptx, CUresult code, const char *message) {
  CUmodule m = NULL;
  char log[1024] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log, (void *)sizeof log};
  CUresult r = CU(cuModuleLoadDataEx, (CUmodule *, const void *, unsigned, CUjit_option *, void **), &m, ptx, 2, options, values);
  if (r != code || !strstr(sim_last_report(), message)) fail_msg("%s\ngave %d, not %d; \"%s\", not \"%s\"", ptx, (int)r, (int)code, sim_last_report(), message);
  assert_string_equal(log, sim_last_report());
}

static void test_errors(void **state) {
  (void)state;
  refuse("", CUDA_ERROR_INVALID_PTX, "no .version");
  refuse("hello world", CUDA_ERROR_INVALID_PTX, "ptx:1: error: syntax error");
  refuse(".version 8.3\n", CUDA_ERROR_INVALID_PTX, "no .target");
  refuse(".version 99.0\n.target sm_90\n", CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "PTX version 99.0");
  refuse(".version 1e45\n.target sm_90\n", CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "is not supported");
  refuse(".version 8.6\n.target sm_100a\n", CUDA_ERROR_NO_BINARY_FOR_GPU, "target sm_100a");
  refuse(".version 8.3\n.target sm_89x\n", CUDA_ERROR_INVALID_PTX, "unknown target sm_89x");
  refuse("\177ELF\2\1\1", CUDA_ERROR_NO_BINARY_FOR_GPU, "PTX only");
  refuse(BODY("frobnicate.u32 %r1, %r2;"), CUDA_ERROR_INVALID_PTX, "ptx:8: error: unknown instruction frobnicate\n  frobnicate.u32 %r1, %r2;");
  refuse(BODY("add.nonsense %r1, %r2, %r3;"), CUDA_ERROR_INVALID_PTX, "no modifier .nonsense");
  refuse(BODY("mul.wide.u64 %rd1, %rd2, %rd3;"), CUDA_ERROR_INVALID_PTX, "unknown instruction mul.wide.u64");
  refuse(BODY("add.u32 %r1, %r2;"), CUDA_ERROR_INVALID_PTX, "add takes 3 operands, not 2");
  refuse(BODY("add.u32 %p1, %r2, %r3;"), CUDA_ERROR_INVALID_PTX, "operand 1 of add must be a register");
  refuse(BODY("add.u32 %r1, %r2, %r9;"), CUDA_ERROR_INVALID_PTX, "unknown register %r9");
  refuse(BODY("bra nowhere;"), CUDA_ERROR_INVALID_PTX, "unknown label nowhere");
  refuse(BODY("a: a: add.u32 %r1, %r2, %r3;"), CUDA_ERROR_INVALID_PTX, "a is already declared on line 8");
  refuse(BODY("@%r1 bra a; a:"), CUDA_ERROR_INVALID_PTX, "%r1 is not a predicate");
  refuse(BODY("ld.global.u32 %r1, %rd1;"), CUDA_ERROR_INVALID_PTX, "must be a memory operand");
  refuse(BODY("ld.global.v4.u32 {%r1, %r2}, [%rd1];"), CUDA_ERROR_INVALID_PTX, "the vector has 2 elements");
  refuse(BODY("ld.global.u64 %r1, [%rd1];"), CUDA_ERROR_INVALID_PTX, "at least 64 bits");
  refuse(BODY("call nothing, (%r1);"), CUDA_ERROR_INVALID_PTX, "nothing is not a function");
  refuse(BODY("cvt.s32.f32 %r1, %r2;"), CUDA_ERROR_INVALID_PTX, "needs .rni");
  refuse(BODY("setmaxnreg.inc.sync.aligned.u32 25;"), CUDA_ERROR_INVALID_PTX, "steps of 8");
  refuse(HEAD ".entry k(.param .u32 a) {\n.reg .u64 %r<2>;\nld.param.u64 %r1, [a];\n}\n", CUDA_ERROR_INVALID_PTX, "does not lie within parameter a");
  refuse(HEAD ".global .u32 x[1000000000];\n.global .u32 y[1000000000];\n.extern .global .u32 z;\n", CUDA_ERROR_INVALID_PTX, "nothing to link it with");
  refuse(HEAD ".global .u32 x[1] = {1, 2};\n", CUDA_ERROR_INVALID_PTX, "too many initial values");
  refuse(HEAD ".entry k() {\nret;\n", CUDA_ERROR_INVALID_PTX, "syntax error");
  refuse(HEAD "/* never closed", CUDA_ERROR_INVALID_PTX, "syntax error");
}

// Every prefix of a real module, and thousands of damaged copies: loads or reports, and a loaded kernel can be looked up.
static void test_damaged(void **state) {
  (void)state;
  char *text = host_read("tests/sim/kernels.ptx");
  size_t n = strlen(text) < 12000 ? strlen(text) : 12000;
  char *copy = malloc(n + 1);
  for (size_t k = 0; k < n; k += 61) {
    memcpy(copy, text, k);
    copy[k] = 0;
    CUmodule m = NULL;
    if (!host_try_load(copy, &m)) CU(cuModuleUnload, (CUmodule), m);
  }
  uint32_t seed = 77;
  for (int round = 0; round < 400; round++) {
    memcpy(copy, text, n);
    copy[n] = 0;
    for (uint32_t edits = 1 + host_random(&seed) % 4; edits; edits--) {
      size_t at = host_random(&seed) % n, from = host_random(&seed) % n, len = host_random(&seed) % 24;
      if (host_random(&seed) & 1) copy[at] = (char)(1 + host_random(&seed) % 126);
      else if (at + len < n && from + len < n) memmove(copy + at, copy + from, len);
    }
    CUmodule m = NULL;
    if (!host_try_load(copy, &m)) CU(cuModuleUnload, (CUmodule), m);
    else assert_true(*sim_last_report());
  }
  free(copy);
  free(text);
}

static void test_nesting(void **state) {
  (void)state;
  // Deep scopes end in an error, not in an overflow.
  size_t n = 200000, head = strlen(HEAD ".entry k() {\n");
  char *text = malloc(head + n + 1);
  memcpy(text, HEAD ".entry k() {\n", head);
  memset(text + head, '{', n);
  text[head + n] = 0;
  CUmodule m = NULL;
  assert_int_equal(host_try_load(text, &m), CUDA_ERROR_INVALID_PTX);
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_errors), cmocka_unit_test(test_damaged), cmocka_unit_test(test_nesting)};
  return cmocka_run_group_tests(tests, host_setup, host_teardown);
}
