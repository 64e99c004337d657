// What hooks of the source see of arguments and do to them: arrays filled and copied before each launch, values looked at, blocks set,
// and what they cannot do.
#include "tile_case.h"

#include <stdio.h>
#include <string.h>


enum { N = 32 };

typedef struct { tile_device *d; tile_jit *jit; tile_jit_kernel *k; uint64_t x, y; tile_type type; uint32_t elem; } Bench;

// Kernels y[i] += x[i], in the type at hand, with a hook of this body; `a` is its dict.
static void open_bench(Bench *b, const char *device, tile_tune_mode mode, tile_type type, uint32_t elem, const char *hook) {
  static const char form[] =
    "import triton\nimport triton.language as tl\n"
    "def hook(a):\n%s\n"
    "def nothing(a):\n    pass\n"
    "@triton.autotune(configs=[triton.Config({'B': 32}, num_warps=1, pre_hook=hook)], key=[])\n"
    "@triton.jit\n"
    "def add(x, y, n, B: tl.constexpr):\n"
    "    o = tl.arange(0, B)\n"
    "    tl.store(y + o, tl.load(y + o) + tl.load(x + o), o < n)\n"
    "@triton.autotune(configs=[triton.Config({'B': 4}, num_warps=1, pre_hook=hook)], key=[])\n"
    "@triton.jit\n"
    "def move(x, y, n, B: tl.constexpr):\n"
    "    y.store([0, 0], x.load([0, 0]))\n";
  char source[4096];
  assert_true(snprintf(source, sizeof source, form, hook) < (int)sizeof source);
  *b = (Bench){.type = type, .elem = elem};
  OK(tile_device_open(device, &b->d, &error));
  tile_jit_options o = TILE_JIT_OPTIONS_INIT;
  o.no_cache = true;
  o.tune = mode;
  OK(tile_jit_open_memory(b->d, "hook.py", source, strlen(source), &o, &b->jit, &error));
  OK(tile_jit_get_kernel(b->jit, "add", &b->k, &error));
  const char zeros[N * 8] = {0};
  OK(tile_memory_alloc(b->d, N * elem, &b->x, &error));
  OK(tile_memory_alloc(b->d, N * elem, &b->y, &error));
  OK(tile_memory_upload(b->d, b->x, zeros, N * elem, &error));
  OK(tile_memory_upload(b->d, b->y, zeros, N * elem, &error));
}

static void close_bench(Bench *b) {
  tile_jit_close(b->jit);
  tile_memory_free(b->d, b->x, NULL);
  tile_memory_free(b->d, b->y, NULL);
  tile_device_close(b->d);
}

static tile_status launch(Bench *b, int64_t n, tile_error **error) {
  const size_t bytes[] = {N * b->elem, N * b->elem};
  tile_tensor shapes[2] = {{.rank = 2, .shape = {4, 8}, .strides = {8, 1}}, {.rank = 2, .shape = {4, 8}, .strides = {1, 4}}};
  tile_jit_launch_options o = TILE_JIT_LAUNCH_OPTIONS_INIT;
  o.arg_bytes = bytes;
  o.num_arg_bytes = 2;
  o.arg_shapes = shapes;
  o.num_arg_shapes = 2;
  const tile_arg args[] = {tile_arg_array(b->x, b->type), tile_arg_array(b->y, b->type), tile_arg_int(n)};
  tile_status status = tile_jit_launch(b->k, &o, args, 3, error);
  return status == TILE_OK ? tile_device_synchronize(b->d, error) : status;
}

static void read_y(Bench *b, void *to) { OK(tile_memory_download(b->d, to, b->y, N * b->elem, &error)); }

TEST(fills) {
  static const struct { tile_type type; uint32_t elem; double value; } types[] = {
    {TILE_FP32, 4, 2.5}, {TILE_FP64, 8, -1.25}, {TILE_FP16, 2, 0.5}, {TILE_INT8, 1, -3}, {TILE_INT32, 4, 1 << 20}, {TILE_INT64, 8, 5e12}, {TILE_UINT16, 2, 65000}};
  for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
    for (int device = 0; device < 2; device++) {
      Bench b;
      char hook[128];
      snprintf(hook, sizeof hook, "    a['y'].fill_(%.17g)", types[t].value);
      open_bench(&b, device ? "interp" : "sim", TILE_TUNE_OFF, types[t].type, types[t].elem, hook);
      for (int again = 0; again < 2; again++) {
        OK(launch(&b, 3, &error));
        union { float f[N]; double d[N]; uint16_t u16[N]; int8_t i8[N]; int32_t i32[N]; int64_t i64[N]; } y;
        read_y(&b, &y);
        for (int i = 0; i < N; i++) {
          double got = b.type == TILE_FP32 ? (double)y.f[i] : b.type == TILE_FP64 ? y.d[i] : b.type == TILE_FP16 ? (y.u16[i] == 0x3800 ? 0.5 : -1)
                     : b.type == TILE_INT8 ? y.i8[i] : b.type == TILE_INT32 ? y.i32[i] : b.type == TILE_INT64 ? (double)y.i64[i] : y.u16[i];
          assert_true(got == types[t].value);
        }
      }
      close_bench(&b);
    }
  }
}

// What depends on a value is looked at again when the value changes, and only then.
TEST(values) {
  static const char *const devices[] = {"sim", "interp"};
  for (int i = 0; i < 4; i++) {
    Bench b;
    open_bench(&b, devices[i % 2], i < 2 ? TILE_TUNE_OFF : TILE_TUNE_ON, TILE_FP32, 4,
               "    assert set(a) == {'x', 'y', 'n', 'B', 'num_warps', 'num_stages', 'num_ctas'} and a['num_warps'] == 1\n"
               "    a['x'].fill_(a['n'] + 0.5)\n"
               "    if a['n'] > 20:\n"
               "        a['y'].copy_(a['x'])\n"
               "    else:\n"
               "        a['y'].zero_()");
    static const int ns[] = {3, 3, 30, 5, 30, 3};
    for (size_t n = 0; n < sizeof ns / sizeof *ns; n++) {
      float y[N], x = (float)ns[n] + 0.5f;
      OK(launch(&b, ns[n], &error));
      read_y(&b, y);
      for (int e = 0; e < N; e++) assert_true(y[e] == (e < ns[n] ? x : 0) + (ns[n] > 20 ? x : 0));
    }
    assert_int_equal(tile_jit_num_variants(b.k), 1);
    close_bench(&b);
  }
}

TEST(attributes) {
  Bench b;
  char hook[1024];
  open_bench(&b, "sim", TILE_TUNE_OFF, TILE_FP32, 4, "    pass");
  uint64_t x = b.x;
  close_bench(&b);
  snprintf(hook, sizeof hook,
           "    x, y = a['x'], a.get('y')\n"
           "    assert x.numel() == 32 and x.nelement() == 32 and x.element_size() == 4 and x.itemsize == 4 and x.nbytes == 128\n"
           "    assert x.shape == (4, 8) and x.size() == (4, 8) and x.size(0) == 4 and x.size(-1) == 8 and x.dim() == 2 and x.ndim == 2\n"
           "    assert x.stride() == (8, 1) and x.stride(0) == 8 and y.stride(1) == 4 and x.is_contiguous() and not y.is_contiguous()\n"
           "    assert x.dtype == tl.float32 and str(x.dtype) == 'fp32' and x.data_ptr() %% 16 == 0 and x.data_ptr() != y.data_ptr() and x.data_ptr() > %d\n"
           "    assert hasattr(x, 'numel') and not hasattr(x, 'clone') and getattr(x, 'grad', 7) == 7 and 'z' not in a and len(list(a.items())) == 7\n"
           "    y.zero_().fill_(x.numel() + x.shape[1])", (int)(x & 1));
  open_bench(&b, "sim", TILE_TUNE_OFF, TILE_FP32, 4, hook);
  float y[N];
  OK(launch(&b, 4, &error));
  read_y(&b, y);
  assert_true(y[0] == 40 && y[N - 1] == 40);
  close_bench(&b);
}

static void refused(const char *hook, const char *says) {
  Bench b;
  tile_error *error = NULL;
  open_bench(&b, "sim", TILE_TUNE_OFF, TILE_INT8, 1, hook);
  assert_int_equal(launch(&b, 4, &error), TILE_ERROR_PROGRAM);
  if (!strstr(tile_error_message(error), says)) fail_msg("'%s' is not in: %s", says, tile_error_message(error));
  tile_error_free(error);
  close_bench(&b);
}

TEST(diagnostics) {
  refused("    a['x'].clone()", "an array in a hook has no 'clone'; it has dtype, shape, ");
  refused("    a['x'].copy_(3)", "copy_ takes another argument of the kernel that is an array");
  refused("    a['x'].fill_('one')", "a hook fills 'x' with 'one'; a number is needed");
  refused("    a['x'].fill_(200)", "a hook fills 'x' with 200, which i8 cannot hold");
  refused("    a['x'].shape = (3,)", "a hook sets 'shape' of 'x'; of a descriptor it can set block_shape, of an array nothing");
  refused("    a['z']", "'z'");
  refused("    a['x']._log.append(5)", "a hook changes what is inside an argument's object; it can only change arguments");
  refused("    a['x']._log.append((300, 0))", "a hook changes what is inside an argument's object; it can only change arguments");
  refused("    a['x']._index = 2\n    a['x'].zero_()", "a hook changes what is inside an argument's object; it can only change arguments");
  refused("    a['y']._index = 40\n    a['x'].copy_(a['y'])", "a hook changes what is inside an argument's object; it can only change arguments");
}

TEST(no_sizes) {
  Bench b;
  tile_error *error = NULL;
  open_bench(&b, "sim", TILE_TUNE_OFF, TILE_FP32, 4, "    a['y'].fill_(a['x'].numel())");
  const tile_arg args[] = {tile_arg_array(b.x, TILE_FP32), tile_arg_array(b.y, TILE_FP32), tile_arg_int(4)};
  assert_int_equal(tile_jit_launch(b.k, NULL, args, 3, &error), TILE_ERROR_PROGRAM);
  assert_non_null(strstr(tile_error_message(error), "the size of this array is not known: give it in arg_bytes"));
  tile_error_free(error);
  close_bench(&b);
}

// Blocks that depend on a shape: another shape is another variant, and the first one stays.
TEST(blocks) {
  Bench b;
  open_bench(&b, "sim", TILE_TUNE_OFF, TILE_FP32, 4,
             "    for d in (a['x'], a['y']):\n"
             "        d.block_shape[0] = 4 if a['x'].shape[0] > 4 else 2\n"
             "        d.block_shape[1] = a['B']\n"
             "    a['y'].base.fill_(-1 if a['x'].strides[0] == 4 and a['x'].padding == 'zero' else -2)");
  OK(tile_jit_get_kernel(b.jit, "move", &b.k, &error));
  float in[N], out[N];
  for (int i = 0; i < N; i++) in[i] = (float)i;
  OK(tile_memory_upload(b.d, b.x, in, sizeof in, &error));
  for (int again = 0; again < 3; again++)
    for (int rows = 4; rows <= 8; rows += 4) {
      tile_tensor x, y;
      OK(tile_tensor_init(&x, b.x, TILE_FP32, 2, (const int64_t[]){rows, 4}, NULL, NULL, &error));
      OK(tile_tensor_init(&y, b.y, TILE_FP32, 2, (const int64_t[]){8, 4}, NULL, NULL, &error));
      const size_t bytes[] = {sizeof in, sizeof in};
      tile_jit_launch_options o = TILE_JIT_LAUNCH_OPTIONS_INIT;
      o.arg_bytes = bytes;
      o.num_arg_bytes = 2;
      OK(tile_jit_launch(b.k, &o, (const tile_arg[]){tile_arg_tensor(&x), tile_arg_tensor(&y), tile_arg_int(3)}, 3, &error));
      OK(tile_device_synchronize(b.d, &error));
      read_y(&b, out);
      for (int i = 0; i < N; i++) assert_true(out[i] == (i < rows / 2 * 4 ? (float)i : -1));
    }
  assert_int_equal(tile_jit_num_variants(b.k), 2);
  close_bench(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(fills), cmocka_unit_test(values), cmocka_unit_test(attributes), cmocka_unit_test(diagnostics),
                                     cmocka_unit_test(no_sizes), cmocka_unit_test(blocks)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
