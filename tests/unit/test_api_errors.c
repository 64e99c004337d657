// What the public interface says when it refuses: the whole texts, one call after another. The devices are the interpreter and the
// simulator; what the CUDA driver says is in test_launch_args and in tests/runtime/libcuda.test.
#include "tile_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/tile/rt.h"

static const char kernels[] =
  "import triton\nimport triton.language as tl\n"
  "@triton.jit\ndef fill(out, n, B: tl.constexpr = 16):\n    tl.store(out + tl.arange(0, B), n)\n"
  "@triton.jit\ndef copy(out, x):\n    tl.store(out, tl.load(x))\n"
  "@triton.autotune(configs=[triton.Config({'B': 16}), triton.Config({'B': 32})], key=['n'])\n"
  "@triton.jit\ndef tuned(out, n, B: tl.constexpr):\n    tl.store(out + tl.arange(0, B), n)\n";

static tile_program *program_of(const char *text, const char *kernel, const char *signature) {
  tile_program *p = NULL;
  tile_compile_options o = TILE_COMPILE_OPTIONS_INIT;
  o.kernel = kernel;
  o.signature = signature;
  OK(tile_compile_memory("case.py", text, strlen(text), &o, &p, &error));
  return p;
}

static const char typed[] =
  "import triton\nimport triton.language as tl\n"
  "@triton.jit\ndef first(out: '*i32'):\n    tl.store(out, 1)\n"
  "@triton.jit\ndef second(out: '*i32'):\n    tl.store(out, 2)\n";

static void programs(void **state) {
  (void)state;
  tile_device *d = case_device("interp");
  tile_program *p = program_of(typed, NULL, NULL);
  tile_kernel *k = NULL;
  REFUSED(tile_kernel_load(d, p, NULL, &k, &error), TILE_ERROR_USAGE, "the program has several kernels (first, second, …): name one");
  REFUSED(tile_kernel_load(d, p, "third", &k, &error), TILE_ERROR_USAGE, "the program has no kernel 'third'");
  tile_compile_options o = TILE_COMPILE_OPTIONS_INIT;
  const char *extra[] = {"grid=3"};
  tile_program *q = NULL;
  o.options = extra;
  o.num_options = 1;
  REFUSED(tile_compile_memory("case.py", typed, strlen(typed), &o, &q, &error), TILE_ERROR_USAGE, "--grid is not a compile option");
  const char *ptx = tile_program_output(p, TILE_EMIT_PTX, NULL);
  REFUSED(tile_kernel_load_ptx(d, ptx, strlen(ptx), "first", &k, &error), TILE_ERROR_USAGE, "the interpreter runs IR: a compiled kernel needs a gpu or sim device");
  tile_program_free(p);
  tile_device_close(d);
}

static void memory(void **state) {
  (void)state;
  tile_device *d = case_device("interp");
  uint64_t p = case_buffer(d, NULL, 64), q = 0;
  char bytes[128] = {0};
  REFUSED(tile_memory_alloc(d, SIZE_MAX, &q, &error), TILE_ERROR_NO_MEMORY, "out of memory: 18446744073709551615 bytes");
  REFUSED(tile_memory_free(d, 0x1000, &error), TILE_ERROR_USAGE, "0x1000 is not the address of an allocation");
  REFUSED(tile_memory_upload(d, 0x1000, bytes, 8, &error), TILE_ERROR_USAGE, "copying 8 bytes to 0x1000, which is outside of every allocation");
  REFUSED(tile_memory_download(d, bytes, 0x1000, 8, &error), TILE_ERROR_USAGE, "copying 8 bytes from 0x1000, which is outside of every allocation");
  OK(tile_memory_free(d, p, &error));
  tile_device_close(d);
}

static void metadata(void **state) {
  (void)state;
  tile_device *d = case_device("sim");
  tile_kernel *k = NULL;
  tile_program *p = program_of(typed, NULL, NULL);
  size_t size;
  const char *ptx = tile_program_output(p, TILE_EMIT_PTX, &size);
  REFUSED(tile_kernel_load_ptx(d, ptx, size, NULL, &k, &error), TILE_ERROR_USAGE, "there are several kernels (first, second, …): name one");
  REFUSED(tile_kernel_load_ptx(d, ".version 8.0", 12, NULL, &k, &error), TILE_ERROR_USAGE, "this PTX does not begin with the metadata that tilec writes");
  static const struct { const char *text, *says; } cases[] = {
    {"[}", "the metadata is no JSON from byte 1 on"},
    {"{}", "this is no metadata of tilec, or of another version"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    REFUSED(tile_kernel_load_cubin(d, ptx, size, cases[i].text, strlen(cases[i].text), NULL, &k, &error), TILE_ERROR_USAGE, cases[i].says);
  const char *json = tile_program_output(p, TILE_EMIT_METADATA, &size), *threads = strstr(json, "\"threads\"");
  assert_non_null(threads);
  char *spoilt = strdup(json);
  memcpy(spoilt + (threads - json), "\"treads\" ", 9);
  REFUSED(tile_kernel_load_cubin(d, ptx, 4, spoilt, size, "first", &k, &error), TILE_ERROR_USAGE, "the kernel's metadata cannot be used: the number of threads is missing or wrong");
  free(spoilt);
  tile_program_free(p);
  tile_device_close(d);
}

static void jit(void **state) {
  (void)state;
  tile_device *d = case_device("interp");
  tile_jit *j = NULL;
  REFUSED(tile_jit_open_memory(d, "case.tir", "", 0, NULL, &j, &error), TILE_ERROR_USAGE, "case.tir is IR, which has its types already: compile it with tile_compile_file");
  char many[8192] = "import triton\n@triton.jit\ndef wide(", *at = many + strlen(many);
  for (int i = 0; i < 300; i++) at += sprintf(at, "a%d, ", i);
  strcpy(at, "):\n    pass\n");
  j = case_jit(d, many);
  tile_jit_kernel *k = NULL;
  REFUSED(tile_jit_get_kernel(j, "wide", &k, &error), TILE_ERROR_USAGE, "wide has more than ");
  tile_jit_close(j);
  j = case_jit(d, kernels);
  REFUSED(tile_jit_get_kernel(j, NULL, &k, &error), TILE_ERROR_USAGE, "case.py has 3 kernels (fill, copy, …): name one");
  REFUSED(tile_jit_get_kernel(j, "file", &k, &error), TILE_ERROR_USAGE, "case.py has no kernel 'file'; did you mean fill?");
  REFUSED(tile_jit_get_kernel(j, "zzz", &k, &error), TILE_ERROR_USAGE, "case.py has no kernel 'zzz'");
  uint64_t p = case_buffer(d, NULL, 256);
  const tile_arg args[] = {tile_arg_array(p, TILE_INT32), tile_arg_int(3), tile_arg_default()};
  k = case_kernel(j, "fill");
  tile_jit_launch_options o = TILE_JIT_LAUNCH_OPTIONS_INIT;
  o.num_warps = 70000;
  REFUSED(tile_jit_launch(k, &o, args, 3, &error), TILE_ERROR_USAGE, "fill: launch option 70000 is out of range");
  tile_jit_close(j);
  tile_jit_options forbidden = TILE_JIT_OPTIONS_INIT;
  forbidden.no_cache = true;
  forbidden.policy = TILE_JIT_FORBID;
  OK(tile_jit_open_memory(d, "case.py", kernels, strlen(kernels), &forbidden, &j, &error));
  REFUSED(tile_jit_launch(case_kernel(j, "fill"), NULL, args, 3, &error), TILE_ERROR_USAGE,
          "fill: the variant (*i32:16, i32) was not prepared, and compiling at launch is forbidden; 0 variants are there");
  tile_tuning *report = NULL;
  REFUSED(tile_jit_tune(case_kernel(j, "tuned"), NULL, args, 3, &report, &error), TILE_ERROR_USAGE, "tuned: the jit was opened with tuning off");
  tile_jit_close(j);
  OK(tile_memory_free(d, p, &error));
  tile_device_close(d);
}

static void grids(void **state) {
  (void)state;
  tile_device *d = case_device("interp");
  tile_program *p = program_of(typed, "first", NULL);
  tile_kernel *k = NULL;
  OK(tile_kernel_load(d, p, NULL, &k, &error));
  uint64_t out = case_buffer(d, NULL, 64);
  const tile_arg args[] = {tile_arg_pointer(out)};
  tile_launch_options o = TILE_LAUNCH_OPTIONS_INIT;
  o.grid[1] = 0;
  REFUSED(tile_kernel_launch(k, &o, args, 1, &error), TILE_ERROR_USAGE, "first: the grid is 0 on axis y; at least 1 program must run");
  o.grid[1] = 70000;
  REFUSED(tile_kernel_launch(k, &o, args, 1, &error), TILE_ERROR_USAGE, "first: the grid is 70000 blocks on axis y; at most 65535 are possible");
  const tile_arg odd[] = {tile_arg_pointer(0)};
  o.grid[1] = 1;
  REFUSED(tile_kernel_launch(k, &o, odd, 1, &error), TILE_ERROR_USAGE, "first: argument 0 'out' (*i32) is a null pointer; pass the address of a buffer");
  OK(tile_memory_free(d, out, &error));
  tile_kernel_free(k);
  tile_program_free(p);
  tile_device_close(d);
}

static void arrays(void **state) {
  (void)state;
  tile_arg arg;
  tile_tensor t;
  size_t bytes;
  int64_t shape[8] = {4, 4};
  tile_dltensor x = {.ndim = 2, .code = 4, .bits = 32, .lanes = 1, .shape = shape};
  REFUSED(tile_arg_from_dlpack(&x, &arg, &bytes, &error), TILE_ERROR_USAGE, "there is no kernel type for DLPack's type code 4 with 32 bits and 1 lanes");
  REFUSED(tile_tensor_init(&t, 0, TILE_FP32, 6, shape, NULL, NULL, &error), TILE_ERROR_USAGE, "a descriptor has 1 to 5 axes, not 6");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(programs), cmocka_unit_test(memory), cmocka_unit_test(metadata), cmocka_unit_test(jit),
                                     cmocka_unit_test(grids), cmocka_unit_test(arrays)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
