// What the public interface says when it refuses: the whole texts, one call after another. The devices are the interpreter and the
// simulator; what the CUDA driver says is in test_launch_args and in tests/runtime/libcuda.test.
#include "tile_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

TEST(programs) {
  tile_device *d = case_device("interp");
  tile_program *p = program_of(typed, NULL, NULL);
  tile_kernel *k = NULL;
  REFUSED(tile_kernel_load(d, p, NULL, &k, &error), TILE_ERROR_USAGE, "the program has several kernels (first, second): name one");
  REFUSED(tile_kernel_load(d, p, "third", &k, &error), TILE_ERROR_USAGE, "the program has no kernel 'third'");
  tile_compile_options o = TILE_COMPILE_OPTIONS_INIT;
  const char *extra[] = {"grid=3"};
  tile_program *q = NULL;
  o.options = extra;
  o.num_options = 1;
  REFUSED(tile_compile_memory("case.py", typed, strlen(typed), &o, &q, &error), TILE_ERROR_USAGE, "`grid` is not a compile option");
  const char *ptx = tile_program_output(p, TILE_EMIT_PTX, NULL);
  REFUSED(tile_kernel_load_ptx(d, ptx, strlen(ptx), "first", &k, &error), TILE_ERROR_USAGE, "the interpreter runs IR: a compiled kernel needs a gpu or sim device");
  tile_program_free(p);
  tile_device_close(d);
}

TEST(memory) {
  tile_device *d = case_device("interp");
  uint64_t p = case_buffer(d, NULL, 64), q = 0;
  char bytes[128] = {0};
  REFUSED(tile_memory_alloc(d, SIZE_MAX, &q, &error), TILE_ERROR_NO_MEMORY, "out of memory: 18446744073709551615 bytes");
  REFUSED(tile_memory_free(d, 0x1000, &error), TILE_ERROR_USAGE, "0x1000 is not the address of an allocation");
  REFUSED(tile_memory_upload(d, 0x1000, bytes, 8, &error), TILE_ERROR_USAGE, "copying 8 bytes to 0x1000, which is outside every allocation");
  REFUSED(tile_memory_download(d, bytes, 0x1000, 8, &error), TILE_ERROR_USAGE, "copying 8 bytes from 0x1000, which is outside every allocation");
  OK(tile_memory_free(d, p, &error));
  tile_device_close(d);
}

TEST(metadata) {
  tile_device *d = case_device("sim");
  tile_kernel *k = NULL;
  tile_program *p = program_of(typed, NULL, NULL);
  size_t size;
  const char *ptx = tile_program_output(p, TILE_EMIT_PTX, &size);
  REFUSED(tile_kernel_load_ptx(d, ptx, size, NULL, &k, &error), TILE_ERROR_USAGE, "the code has several kernels (first, second): name one");
  REFUSED(tile_kernel_load_ptx(d, ".version 8.0", 12, NULL, &k, &error), TILE_ERROR_USAGE, "this PTX does not begin with the metadata that tilec writes; load it as tilec wrote it");
  static const struct { const char *text, *says; } cases[] = {
    {"[}", "the metadata is not JSON from byte 1 on; compile the kernel again"},
    {"{}", "this is not metadata of this tilec version; compile the kernel again"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    REFUSED(tile_kernel_load_cubin(d, ptx, size, cases[i].text, strlen(cases[i].text), NULL, &k, &error), TILE_ERROR_USAGE, cases[i].says);
  const char *json = tile_program_output(p, TILE_EMIT_METADATA, &size), *threads = strstr(json, "\"threads\"");
  assert_non_null(threads);
  char *spoilt = strdup(json);
  memcpy(spoilt + (threads - json), "\"treads\" ", 9);
  REFUSED(tile_kernel_load_cubin(d, ptx, 4, spoilt, size, "first", &k, &error), TILE_ERROR_USAGE, "the kernel's metadata cannot be used: the number of threads is missing or wrong");
  free(spoilt);
  // Metadata that names no parameters: a launch would pack none, and the driver would read some.
  char *other = strdup(ptx), *params = strstr(other, "\"params\"");
  assert_non_null(params);
  memcpy(params, "\"parans\"", 8);
  REFUSED(tile_kernel_load_ptx(d, other, strlen(other), "first", &k, &error), TILE_ERROR_USAGE, "first: its code has other parameters than its metadata; compile it again");
  free(other);
  tile_program_free(p);
  tile_device_close(d);
}

TEST(jit) {
  tile_device *d = case_device("interp");
  tile_jit *j = NULL;
  REFUSED(tile_jit_open_memory(d, "case.tir", "", 0, NULL, &j, &error), TILE_ERROR_USAGE, "case.tir is IR, which has its types already: compile it with tile_compile_file");
  const char *override[] = {"ir-override=x.tir"};
  tile_jit_options given = TILE_JIT_OPTIONS_INIT;
  given.options = override;
  given.num_options = 1;
  REFUSED(tile_jit_open_memory(d, "case.py", kernels, strlen(kernels), &given, &j, &error), TILE_ERROR_USAGE,
          "`ir_override` is about one kernel, and a JIT compiles many: give it to tilec or tile_compile_file");
  enum { TOO_MANY = 1 << 15 };
  char *many = malloc(TOO_MANY * 8), *at = many + sprintf(many, "import triton\n@triton.jit\ndef wide(");
  for (int i = 0; i < TOO_MANY; i++) at += sprintf(at, "a%d, ", i);
  strcpy(at, "):\n    pass\n");
  j = case_jit(d, many);
  tile_jit_kernel *k = NULL;
  REFUSED(tile_jit_get_kernel(j, "wide", &k, &error), TILE_ERROR_USAGE, "wide has more than 32767 parameters");
  tile_jit_close(j);
  free(many);
  j = case_jit(d, kernels);
  REFUSED(tile_jit_get_kernel(j, NULL, &k, &error), TILE_ERROR_USAGE, "case.py has several kernels (fill, copy, …): name one");
  REFUSED(tile_jit_get_kernel(j, "file", &k, &error), TILE_ERROR_USAGE, "case.py has no kernel 'file'; did you mean fill? There are fill, ");
  REFUSED(tile_jit_get_kernel(j, "zzz", &k, &error), TILE_ERROR_USAGE, "case.py has no kernel 'zzz'; there are ");
  uint64_t p = case_buffer(d, NULL, 256);
  const tile_arg args[] = {tile_arg_array(p, TILE_INT32), tile_arg_int(3), tile_arg_default()};
  k = case_kernel(j, "fill");
  tile_jit_launch_options o = TILE_JIT_LAUNCH_OPTIONS_INIT;
  o.num_warps = 70000;
  REFUSED(tile_jit_launch(k, &o, args, 3, &error), TILE_ERROR_USAGE, "fill: num_warps=70000 is out of range; 0 to 65535 are possible");
  tile_jit_close(j);
  tile_jit_options forbidden = TILE_JIT_OPTIONS_INIT;
  forbidden.no_cache = true;
  forbidden.policy = TILE_JIT_FORBID;
  OK(tile_jit_open_memory(d, "case.py", kernels, strlen(kernels), &forbidden, &j, &error));
  REFUSED(tile_jit_launch(case_kernel(j, "fill"), NULL, args, 3, &error), TILE_ERROR_USAGE,
          "fill: the variant (*i32:16, i32) was not prepared, and compiling at launch is forbidden; 0 variants are there");
  tile_tuning *report = NULL;
  REFUSED(tile_jit_tune(case_kernel(j, "tuned"), NULL, args, 3, &report, &error), TILE_ERROR_USAGE, "tuned: the JIT was opened with tuning off; open it with tuning on");
  tile_jit_close(j);
  OK(tile_memory_free(d, p, &error));
  tile_device_close(d);
}

// Arguments as a C program can get them wrong: kinds and types that there are not, and no text.
TEST(wrong_args) {
  tile_device *d = case_device("sim");
  tile_jit *j = case_jit(d, kernels);
  tile_jit_kernel *k = case_kernel(j, "fill");
  uint64_t p = case_buffer(d, NULL, 256);
  tile_arg args[] = {tile_arg_array(p, TILE_INT32), tile_arg_int(3), tile_arg_int(16)};
  args[1].type = 99;
  REFUSED(tile_jit_launch(k, NULL, args, 3, &error), TILE_ERROR_USAGE, "fill: argument 'n' has an unknown type 99");
  const tile_tuple items = {&args[1], 1, NULL, 0};
  const tile_arg tuple[] = {args[0], tile_arg_tuple(&items)};
  REFUSED(tile_jit_launch(k, NULL, tuple, 2, &error), TILE_ERROR_USAGE, "fill: argument 'n' has an unknown type 99");
  args[1] = tile_arg_int(3);
  args[2].kind = (tile_arg_kind)99;
  REFUSED(tile_jit_launch(k, NULL, args, 3, &error), TILE_ERROR_USAGE, "fill: argument 'B' has an unknown kind 99");
  args[2] = tile_arg_text(NULL);
  REFUSED(tile_jit_launch(k, NULL, args, 3, &error), TILE_ERROR_USAGE, "fill: argument 'B' has no text");
  args[0].type = (uint16_t)-1;
  REFUSED(tile_jit_launch(k, NULL, args, 2, &error), TILE_ERROR_USAGE, "is a pointer without a type: use tile_arg_array");
  tile_tensor t = {.base = p, .rank = 1, .shape = {16}, .strides = {1}, .type = (tile_type)99, .block = {16}};
  args[0] = tile_arg_tensor(&t);
  REFUSED(tile_jit_launch(k, NULL, args, 2, &error), TILE_ERROR_USAGE, "is a tensor without rank or type");
  t.type = TILE_FP32;
  t.num_cga = 5;
  REFUSED(tile_jit_launch(k, NULL, args, 2, &error), TILE_ERROR_USAGE, "has a cga_layout for more than 16 blocks");
  tile_jit_close(j);
  // No text is an empty one, not the file of that name.
  REFUSED(tile_jit_open_memory(d, "examples/vector_add.tile", NULL, 0, NULL, &j, &error), TILE_ERROR_PROGRAM, "defines no kernel");
  tile_program *q = NULL;
  REFUSED(tile_compile_memory("examples/vector_add.tile", NULL, 0, NULL, &q, &error), TILE_ERROR_PROGRAM, "defines no kernel");
  OK(tile_memory_free(d, p, &error));
  tile_device_close(d);
}

// Sizes whose products do not fit 64 bits.
TEST(large) {
  static const char source[] =
    "import triton\nimport triton.language as tl\n"
    "@triton.jit\ndef move(src, y):\n    y += tl.arange(0, 8)[:, None] * 8 + tl.arange(0, 8)[None, :]\n    tl.store(y, src.load([0, 0]))\n"
    "@triton.jit\ndef made(x, y, p):\n    d = tl.make_tensor_descriptor(x, shape=[tl.load(p), 64], strides=[64, 1], block_shape=[16, 64])\n"
    "    tl.store(y + tl.arange(0, 16)[:, None] * 64 + tl.arange(0, 64)[None, :], d.load([0, 0]))\n";
  tile_device *d = case_device("sim");
  tile_jit *j = case_jit(d, source);
  uint64_t p = case_buffer(d, NULL, 4096);
  tile_tensor t = {.base = p, .rank = 2, .shape = {8, 8}, .strides = {(INT64_C(1) << 61) + 8, 1}, .type = TILE_INT64, .block = {8, 8}};
  const tile_arg args[] = {tile_arg_tensor(&t), tile_arg_array(p, TILE_INT64)};
  REFUSED(tile_jit_launch(case_kernel(j, "move"), NULL, args, 2, &error), TILE_ERROR_USAGE, "axis 0 has 2305843009213693960 elements of 8 bytes");
  // A launch needs scratch memory for each program; prepare gets it.
  const tile_arg pointers[] = {tile_arg_array(p, TILE_FP32), tile_arg_array(p, TILE_FP32), tile_arg_array(p, TILE_INT32)};
  const tile_variant *v = NULL;
  tile_jit_launch_options o = TILE_JIT_LAUNCH_OPTIONS_INIT;
  OK(tile_jit_prepare(case_kernel(j, "made"), &o, pointers, 3, &v, &error));
  assert_int_equal(tile_kernel_scratch_bytes(tile_variant_kernel(v)), 128);
  const uint32_t grid[3] = {INT32_MAX, 65535, 65535};
  REFUSED(tile_kernel_reserve(tile_variant_kernel(v), grid, &error), TILE_ERROR_NO_MEMORY, "made: the scratch memory for a grid of 2147483647 x 65535 x 65535 is more than there can be");
  memcpy(o.grid, grid, sizeof grid);
  REFUSED(tile_jit_prepare(case_kernel(j, "made"), &o, pointers, 3, NULL, &error), TILE_ERROR_NO_MEMORY, "is more than there can be");
  tile_jit_close(j);
  OK(tile_memory_free(d, p, &error));
  tile_device_close(d);
}

// After a kernel that failed the device takes no more code, and that is not the code's fault.
TEST(after_a_failure) {
  tile_device *d = case_device("sim");
  tile_program *p = program_of(typed, "first", NULL);
  tile_kernel *k = NULL;
  OK(tile_kernel_load(d, p, NULL, &k, &error));
  const tile_arg args[] = {tile_arg_pointer(0x1000)};
  REFUSED(tile_kernel_launch(k, NULL, args, 1, &error), TILE_ERROR_RUN, "out-of-bounds access");
  tile_kernel *again = NULL;
  REFUSED(tile_kernel_load(d, p, NULL, &again, &error), TILE_ERROR_DRIVER,
          "loading first: the context of sim:0 is lost since a kernel failed (");
  tile_kernel_free(k);
  tile_program_free(p);
  tile_device_close(d);
}

static const char pruning[] =
  "import triton\nimport triton.language as tl\n"
  "def none(configs, named_args, **kw):\n    return []\n"
  "@triton.autotune(configs=[triton.Config({'B': 16}), triton.Config({'B': 32})], key=[], prune_configs_by={'early_config_prune': none})\n"
  "@triton.jit\ndef no_config(out, B: tl.constexpr):\n    tl.store(out + tl.arange(0, B), 1)\n"
  "@triton.autotune(configs=[triton.Config({'B': 16}, pre_hook=lambda a: a['x'].zero_())], key=[])\n"
  "@triton.jit\ndef clears(x, B: tl.constexpr):\n    tl.store(x + tl.arange(0, B), 1)\n"
  "def deepen(a):\n    a['d'].block_shape = [8, 8, 8]\n"
  "@triton.autotune(configs=[triton.Config({'B': 16}, pre_hook=deepen)], key=[])\n"
  "@triton.jit\ndef blocks(d, B: tl.constexpr):\n    d.store([0, 0], tl.full([8, 8], B, tl.int32))\n"
  "@triton.autotune(configs=[triton.Config({'B': 16}), triton.Config({'B': 32})], key=[])\n"
  "@triton.jit\ndef differs(x, B: tl.constexpr):\n    tl.store(x, B)\n"
  "@triton.autotune(configs=[triton.Config({'B': 16}, pre_hook=lambda a: a['x'].copy_(a['y']))], key=[])\n"
  "@triton.jit\ndef copies(x, y, B: tl.constexpr):\n    tl.store(x + tl.arange(0, B), 1)\n"
  "@triton.autotune(configs=[triton.Config({'B': 16}), triton.Config({'B': 32})], key=[], prune_configs_by={'perf_model': lambda **kw: 1.0, 'top_k': 'two'})\n"
  "@triton.jit\ndef bad_number(out, B: tl.constexpr):\n    tl.store(out + tl.arange(0, B), 1)\n"
  "@triton.autotune(configs=[triton.Config({1: 16}), triton.Config({1: 32})], key=[], prune_configs_by={'perf_model': lambda **kw: 1.0, 'top_k': 1})\n"
  "@triton.jit\ndef bad_key(out, B: tl.constexpr):\n    tl.store(out + tl.arange(0, B), 1)\n";

TEST(tuning) {
  tile_device *d = case_device("interp");
  tile_jit *j = NULL;
  tile_jit_options o = TILE_JIT_OPTIONS_INIT;
  o.no_cache = true;
  o.tune = TILE_TUNE_ON;
  OK(tile_jit_open_memory(d, "case.py", pruning, strlen(pruning), &o, &j, &error));
  uint64_t p = case_buffer(d, NULL, 256);
  const tile_arg args[] = {tile_arg_array(p, TILE_INT32)};
  const size_t bytes[] = {256};
  tile_jit_launch_options launch = TILE_JIT_LAUNCH_OPTIONS_INIT;
  launch.arg_bytes = bytes;
  launch.num_arg_bytes = 1;
  REFUSED(tile_jit_launch(case_kernel(j, "no_config"), &launch, args, 1, &error), TILE_ERROR_PROGRAM, "no_config: early_config_prune leaves no configuration; it must return at least one");
  REFUSED(tile_jit_launch(case_kernel(j, "bad_number"), &launch, args, 1, &error), TILE_ERROR_PROGRAM, "bad_number: top_k of prune_configs_by is not a number");
  REFUSED(tile_jit_launch(case_kernel(j, "bad_key"), &launch, args, 1, &error), TILE_ERROR_PROGRAM, "bad_key: perf_model takes arguments by name, and a configuration has the key 1");
  const tile_arg nowhere[] = {tile_arg_array(0x1000, TILE_INT32), tile_arg_array(0x2000, TILE_INT32)};
  REFUSED(tile_jit_launch(case_kernel(j, "clears"), &launch, nowhere, 1, &error), TILE_ERROR_USAGE, "0x1000 with 256 bytes is not inside an allocation");
  const size_t same[] = {256, 256};
  launch.arg_bytes = same;
  launch.num_arg_bytes = 2;
  REFUSED(tile_jit_launch(case_kernel(j, "copies"), &launch, nowhere, 2, &error), TILE_ERROR_USAGE, "copying 256 bytes that are not inside allocations");
  const tile_tensor t = {.base = p, .rank = 2, .shape = {8, 8}, .strides = {8, 1}, .type = TILE_INT32, .block = {8, 8}};
  REFUSED(tile_jit_launch(case_kernel(j, "blocks"), &launch, (const tile_arg[]){tile_arg_tensor(&t)}, 1, &error), TILE_ERROR_PROGRAM,
          "blocks: a pre_hook leaves a descriptor of rank 2 with block_shape [8, 8, 8]");
  tile_tuning *report = NULL;
  OK(tile_jit_tune(case_kernel(j, "differs"), &launch, args, 1, &report, &error));
  assert_string_equal(case_candidate(report, 1).skipped, "its result differs from the first configuration's");
  tile_tuning_free(report);
  const tile_arg two[] = {tile_arg_array(p, TILE_INT32), tile_arg_array(p, TILE_FP16)};
  const size_t both[] = {256, 128};
  launch.arg_bytes = both;
  launch.num_arg_bytes = 2;
  REFUSED(tile_jit_launch(case_kernel(j, "copies"), &launch, two, 2, &error), TILE_ERROR_USAGE,
          "copies: a hook copies 'y' (128 bytes of fp16) into 'x' (256 bytes of i32); they must be of one type and size");
  tile_jit_close(j);
  OK(tile_memory_free(d, p, &error));
  tile_device_close(d);
}

// A file of results that is none: this one.
TEST(results) {
  tile_device *d = case_device("interp");
  tile_jit *j = NULL;
  tile_jit_options o = TILE_JIT_OPTIONS_INIT;
  o.no_cache = true;
  o.tune = TILE_TUNE_SAVED;
  o.tune_file = "tests/unit/test_api_errors.c";
  REFUSED(tile_jit_open_memory(d, "case.py", pruning, strlen(pruning), &o, &j, &error), TILE_ERROR_FILE, "tests/unit/test_api_errors.c:1:1: here it is not JSON in UTF-8, so it is neither used nor overwritten; correct it, or remove it and tune again");
  // What another process kept meanwhile stays; what is no file of results stays as it is.
  char path[] = "/tmp/tile-results-XXXXXX", text[1024] = "";
  const int fd = mkstemp(path);
  assert_true(fd >= 0 && unlink(path) == 0);
  o.tune = TILE_TUNE_ON;
  o.tune_file = path;
  for (int is_foreign = 0; is_foreign < 2; is_foreign++) {
    unlink(path);
    OK(tile_jit_open_memory(d, "case.py", kernels, strlen(kernels), &o, &j, &error));
    FILE *f = fopen(path, "w");
    fputs(is_foreign ? "mine" : "{\"tile_tuning\": 1, \"results\": [{\"kernel\": \"other\", \"device\": \"d\", \"key\": \"k\", \"config\": \"B=1\"}]}", f);
    fclose(f);
    uint64_t out = case_buffer(d, NULL, 256);
    const tile_arg args[] = {tile_arg_array(out, TILE_INT32), tile_arg_int(3)};
    OK(tile_jit_launch(case_kernel(j, "tuned"), NULL, args, 2, &error));
    OK(tile_memory_free(d, out, &error));
    tile_jit_close(j);
    f = fopen(path, "r");
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    if (is_foreign) assert_string_equal(text, "mine");
    else assert_true(strstr(text, "\"kernel\": \"other\"") && strstr(text, "\"kernel\": \"tuned\""));
  }
  unlink(path);
  close(fd);
  tile_device_close(d);
}

TEST(devices) {
  tile_device *d = case_device("sim");
  tile_program *p = NULL;
  tile_kernel *k = NULL;
  tile_compile_options o = TILE_COMPILE_OPTIONS_INIT;
  o.kernel = "first";
  o.emit = 4096 | TILE_EMIT_PTX;
  REFUSED(tile_compile_memory("e.tile", "", 0, &o, &p, &error), TILE_ERROR_USAGE, "emit is 0x1020: only the bits of TILE_EMIT_*, 0xfff, say something");
  o.emit = TILE_EMIT_TILE;
  OK(tile_compile_memory("case.py", typed, strlen(typed), &o, &p, &error));
  REFUSED(tile_kernel_load(d, p, NULL, &k, &error), TILE_ERROR_USAGE, "the program was compiled without PTX and can only run on the interpreter");
  tile_program_free(p);
  p = program_of(typed, "first", NULL);
  size_t size;
  const char *ptx = tile_program_output(p, TILE_EMIT_PTX, &size);
  char *greedy = calloc(1, size + 16), *at;
  const char *shared = strstr(ptx, "\"shared_bytes\": ") + 16;
  at = greedy + (shared - ptx);
  memcpy(greedy, ptx, (size_t)(shared - ptx));
  at += sprintf(at, "9999999");
  strcpy(at, shared + strspn(shared, "0123456789"));
  REFUSED(tile_kernel_load_ptx(d, greedy, strlen(greedy), NULL, &k, &error), TILE_ERROR_RESOURCES, "first needs 9999999 bytes of shared memory per block; Simulated H200 has 232448: use smaller tiles or fewer stages");
  free(greedy);
  OK(tile_kernel_load(d, p, NULL, &k, &error));
  const tile_arg wrong[] = {tile_arg_pointer(0x1000)};
  REFUSED(tile_kernel_check(k, NULL, wrong, 1, &error), TILE_ERROR_USAGE, "first: argument 'out' (*i32) is 0x1000, which is no memory of the driver: perhaps an address on the host, or freed");
  const tile_tuple three = {(const tile_arg[]){tile_arg_int(1), tile_arg_int(2), tile_arg_int(3)}, 3, NULL, 0};
  const tile_arg tuple[] = {tile_arg_tuple(&three)};
  REFUSED(tile_kernel_launch(k, NULL, tuple, 1, &error), TILE_ERROR_USAGE, "first: argument 1 is a tuple that does not fit the kernel's 'out'");
  tile_kernel_free(k);
  tile_program_free(p);
  tile_device_close(d);
}

TEST(grids) {
  tile_device *d = case_device("interp");
  tile_program *p = program_of(typed, "first", NULL);
  tile_kernel *k = NULL;
  OK(tile_kernel_load(d, p, NULL, &k, &error));
  uint64_t out = case_buffer(d, NULL, 64);
  const tile_arg args[] = {tile_arg_pointer(out)};
  tile_launch_options o = TILE_LAUNCH_OPTIONS_INIT;
  o.grid[1] = 0;
  OK(tile_kernel_launch(k, &o, args, 1, &error));
  o.grid[1] = 70000;
  REFUSED(tile_kernel_launch(k, &o, args, 1, &error), TILE_ERROR_RESOURCES, "first: the grid is 70000 blocks on axis y; at most 65535 are possible: axis x takes 2147483647, put the longest one there");
  OK(tile_memory_free(d, out, &error));
  tile_kernel_free(k);
  tile_program_free(p);
  tile_device_close(d);
}

TEST(arrays) {
  tile_arg arg;
  tile_tensor t;
  size_t bytes;
  int64_t shape[8] = {4, 4};
  tile_dltensor x = {.ndim = 2, .code = 4, .bits = 32, .lanes = 1, .shape = shape};
  REFUSED(tile_arg_from_dlpack(&x, &arg, &bytes, &error), TILE_ERROR_USAGE, "there is no kernel type for DLPack's type code 4 with 32 bits and 1 lanes");
  REFUSED(tile_tensor_init(&t, 0, TILE_FP32, 6, shape, NULL, NULL, &error), TILE_ERROR_USAGE, "a descriptor has 1 to 5 axes, not 6");
  x.code = 2;
  shape[0] = shape[1] = INT64_C(1) << 32;
  REFUSED(tile_arg_from_dlpack(&x, &arg, &bytes, &error), TILE_ERROR_USAGE, "an array of this shape has more bytes than an address counts");
  shape[0] = -4, shape[1] = 4;
  REFUSED(tile_arg_from_dlpack(&x, &arg, &bytes, &error), TILE_ERROR_USAGE, "an array of this shape has more bytes than an address counts");
  const int64_t wide[3] = {2, INT64_C(1) << 32, INT64_C(1) << 32};
  REFUSED(tile_tensor_init(&t, 0, TILE_FP32, 3, wide, NULL, NULL, &error), TILE_ERROR_USAGE, "the strides of a dense array of this shape do not fit 64 bits");
  OK(tile_tensor_init(&t, 0, TILE_FP32, 2, wide + 1, NULL, NULL, &error));   // which is no stride yet
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(programs), cmocka_unit_test(memory), cmocka_unit_test(metadata), cmocka_unit_test(jit),
                                     cmocka_unit_test(wrong_args), cmocka_unit_test(large), cmocka_unit_test(after_a_failure),
                                     cmocka_unit_test(grids), cmocka_unit_test(tuning), cmocka_unit_test(results), cmocka_unit_test(devices), cmocka_unit_test(arrays)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
