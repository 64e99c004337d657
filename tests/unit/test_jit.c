// The JIT on the simulator: variants by specialisation, defaults, constexprs, policies, threads, descriptors, the cache on disk.
#include "tile_case.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char source[] =
  "import triton\nimport triton.language as tl\n"
  "@triton.jit\n"
  "def axpy(x, y, n, a, scale=2.0, bias=None, BLOCK: tl.constexpr = 128, MODE: tl.constexpr = 'plus'):\n"
  "    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
  "    m = o < n\n"
  "    v = tl.load(x + o, mask=m)\n"
  "    if MODE == 'plus':\n"
  "        v = v * scale + a\n"
  "    else:\n"
  "        v = v * scale - a\n"
  "    if bias is not None:\n"
  "        v += tl.load(bias)\n"
  "    tl.store(y + o, v, mask=m)\n"
  "@triton.jit\n"
  "def move(src, dst, BM: tl.constexpr, BN: tl.constexpr):\n"
  "    dst.store([tl.program_id(0) * BM, 0], src.load([tl.program_id(0) * BM, 4]))\n"
  "@triton.heuristics({'EVEN': lambda args: args['n'] % args['BLOCK'] == 0})\n"
  "@triton.jit\n"
  "def even(out, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):\n"
  "    tl.store(out, 1.0 if EVEN else 0.0)\n"
  "@triton.jit\n"
  "def broken(x, N: tl.constexpr):\n"
  "    tl.static_assert(N == 4, 'only four')\n"
  "    tl.store(x, 0.0)\n";

typedef struct { int events[16]; char last[256]; } Seen;
static pthread_mutex_t seen_lock = PTHREAD_MUTEX_INITIALIZER;
static void on_event(void *user, const tile_event *e) {
  Seen *s = user;
  pthread_mutex_lock(&seen_lock);
  s->events[e->kind]++;
  snprintf(s->last, sizeof s->last, "%s(%s)", e->kernel, e->variant);
  pthread_mutex_unlock(&seen_lock);
}

static tile_jit *open_jit(tile_device *d, Seen *seen, tile_jit_policy policy, const char *cache) {
  tile_jit *jit = NULL;
  tile_jit_options o = TILE_JIT_OPTIONS_INIT;
  o.policy = policy;
  o.on_event = on_event;
  o.user = seen;
  o.no_cache = !cache;
  o.cache_dir = cache;
  OK(tile_jit_open_memory(d, "jit.py", source, strlen(source), &o, &jit, &error));
  return jit;
}

static uint64_t make_buffer(tile_device *d, const float *from, size_t n) { return case_buffer(d, from, n * sizeof *from); }

enum { N = 256 };

static void variants_on(const char *device) {
  tile_device *d = case_device_or_skip(device);
  Seen seen = {0};
  tile_jit *jit = open_jit(d, &seen, TILE_JIT_ALLOW, NULL);
  tile_jit_kernel *k = case_kernel(jit, "axpy");
  assert_int_equal(tile_jit_num_params(k), 8);
  assert_string_equal(tile_jit_param_name(k, 6), "BLOCK");
  assert_true(tile_jit_param_is_constexpr(k, 6) && !tile_jit_param_is_constexpr(k, 5));
  assert_true(tile_jit_param_has_default(k, 4) && !tile_jit_param_has_default(k, 3));
  float in[N], out[N];
  for (int i = 0; i < N; i++) in[i] = (float)i;
  uint64_t x = make_buffer(d, in, N), y = make_buffer(d, in, N), b = make_buffer(d, in + 7, 1);
  tile_jit_launch_options o = TILE_JIT_LAUNCH_OPTIONS_INIT;
  o.grid[0] = 2;
  const struct { tile_arg args[8]; int num, variants; float scale, add; int n; const char *last; } runs[] = {
    {{tile_arg_array(x, TILE_FP32), tile_arg_array(y, TILE_FP32), tile_arg_int(N), tile_arg_float(1)}, 4, 1, 2, 1, N, "axpy(*fp32:16, *fp32:16, i32:16, fp32, fp32, bias=None)"},
    {{tile_arg_array(x, TILE_FP32), tile_arg_array(y, TILE_FP32), tile_arg_int(16), tile_arg_float(2)}, 4, 1, 2, 2, 16, NULL},
    {{tile_arg_array(x, TILE_FP32), tile_arg_array(y, TILE_FP32), tile_arg_int(9), tile_arg_float(2)}, 4, 2, 2, 2, 9, "axpy(*fp32:16, *fp32:16, i32, fp32, fp32, bias=None)"},
    {{tile_arg_array(x, TILE_FP32), tile_arg_array(y, TILE_FP32), tile_arg_int(1), tile_arg_int(1)}, 4, 3, 2, 1, 1, "axpy(*fp32:16, *fp32:16, i32:1, i32:1, fp32, bias=None)"},
    {{tile_arg_array(x, TILE_FP32), tile_arg_array(y, TILE_FP32), tile_arg_int(N), tile_arg_float(1), tile_arg_float(3), tile_arg_array(b, TILE_FP32)}, 6, 4, 3, 8, N, NULL},
    {{tile_arg_array(x, TILE_FP32), tile_arg_array(y, TILE_FP32), tile_arg_int(N), tile_arg_float(1), tile_arg_default(), tile_arg_none(), tile_arg_int(256), tile_arg_text("'minus'")}, 8, 5, 2, -1, N, NULL},
    {{tile_arg_array(x, TILE_FP32), tile_arg_array(y, TILE_FP32), tile_arg_int(N), tile_arg_float(1), tile_arg_default(), tile_arg_none(), tile_arg_int(256), tile_arg_text("'plus'")}, 8, 6, 2, 1, N, NULL},
    {{tile_arg_array(x, TILE_FP32), tile_arg_array(y, TILE_FP32), tile_arg_int(N), tile_arg_float(1)}, 4, 6, 2, 1, N, NULL},
  };
  for (size_t r = 0; r < sizeof runs / sizeof *runs; r++) {
    OK(tile_memory_upload(d, y, in, sizeof in, &error));
    OK(tile_jit_launch(k, &o, runs[r].args, (size_t)runs[r].num, &error));
    case_fetch(d, out, y, sizeof out);
    for (int i = 0; i < N; i++) assert_true(out[i] == (i < runs[r].n ? in[i] * runs[r].scale + runs[r].add : in[i]));
    assert_int_equal(tile_jit_num_variants(k), runs[r].variants);
    if (runs[r].last) assert_string_equal(seen.last, runs[r].last);
  }
  assert_int_equal(seen.events[TILE_EVENT_COMPILE_END], 6);
  // Launch options are part of the variant.
  const tile_variant *v;
  o.num_warps = 2;
  OK(tile_jit_prepare(k, &o, runs[0].args, 4, &v, &error));
  assert_int_equal(tile_kernel_num_threads(tile_variant_kernel(v)), 64);
  assert_int_equal(tile_variant_constexpr_int(v, "BLOCK", 0), 128);
  assert_string_equal(tile_variant_constexpr(v, "MODE"), "'plus'");
  assert_null(tile_variant_constexpr(v, "WIDTH"));
  OK(tile_variant_launch(v, o.grid, NULL, runs[0].args, 4, &error));

  tile_arg args[4];
  memcpy(args, runs[0].args, sizeof args);
  REFUSED(tile_jit_launch(k, &o, args, 3, &error), TILE_ERROR_USAGE, "argument 'a' is missing");
  REFUSED(tile_jit_launch(k, &o, args, 9, &error), TILE_ERROR_USAGE, "takes 8 arguments, got 9");
  args[0] = tile_arg_pointer(x);
  REFUSED(tile_jit_launch(k, &o, args, 4, &error), TILE_ERROR_USAGE, "'x' is a pointer without a type");
  args[0] = tile_arg_text("3");
  REFUSED(tile_jit_launch(k, &o, args, 4, &error), TILE_ERROR_USAGE, "'x' is no constexpr");
  args[0] = runs[0].args[0];
  o.grid[0] = 0;
  OK(tile_jit_launch(k, &o, args, 4, &error));
  o.grid[0] = 1;
  k = case_kernel(jit, "broken");
  args[0] = runs[0].args[0];
  args[1] = tile_arg_int(5);
  for (int again = 0; again < 2; again++) REFUSED(tile_jit_launch(k, &o, args, 2, &error), TILE_ERROR_PROGRAM, "only four");
  args[1] = tile_arg_array(x, TILE_FP32);
  REFUSED(tile_jit_launch(k, &o, args, 2, &error), TILE_ERROR_USAGE, "'N' is a constexpr");
  REFUSED(tile_jit_get_kernel(jit, "axpi", &k, &error), TILE_ERROR_USAGE, "did you mean axpy");
  REFUSED(tile_jit_get_kernel(jit, NULL, &k, &error), TILE_ERROR_USAGE, "several kernels");
  tile_jit_close(jit);
  tile_device_close(d);
}
TEST(on_sim) { variants_on("sim"); }
TEST(on_interp) { variants_on("interp"); }
TEST(on_gpu) { variants_on("gpu"); }

TEST(descriptors_and_heuristics) {
  tile_device *d = case_device("sim");
  Seen seen = {0};
  tile_jit *jit = open_jit(d, &seen, TILE_JIT_ALLOW, NULL);
  tile_jit_kernel *k;
  float in[6 * 8], out[5 * 4];
  for (int i = 0; i < 48; i++) in[i] = (float)i;
  uint64_t src = make_buffer(d, in, 48), dst = make_buffer(d, NULL, 20);
  tile_tensor s = {.base = src, .rank = 2, .shape = {6, 8}, .strides = {8, 1}, .type = TILE_FP32, .block = {4, 4}};
  tile_tensor t = {.base = dst, .rank = 2, .shape = {5, 4}, .strides = {4, 1}, .type = TILE_FP32, .block = {4, 4}};
  tile_jit_launch_options o = TILE_JIT_LAUNCH_OPTIONS_INIT;
  o.grid[0] = 2;
  tile_arg args[] = {tile_arg_tensor(&s), tile_arg_tensor(&t), tile_arg_int(4), tile_arg_int(4)};
  k = case_kernel(jit, "move");
  OK(tile_jit_launch(k, &o, args, 4, &error));
  case_fetch(d, out, dst, sizeof out);
  for (int i = 0; i < 20; i++) assert_true(out[i] == in[i / 4 * 8 + 4 + i % 4]);
  s.type = TILE_UNTYPED;
  REFUSED(tile_jit_launch(k, &o, args, 4, &error), TILE_ERROR_USAGE, "without rank or type");

  k = case_kernel(jit, "even");
  o.grid[0] = 1;
  for (int n = 32; n < 36; n += 2) {
    tile_arg scalars[] = {tile_arg_array(dst, TILE_FP32), tile_arg_int(n), tile_arg_int(16)};
    OK(tile_jit_launch(k, &o, scalars, 3, &error));
    OK(tile_memory_download(d, out, dst, 4, &error));
    assert_true(out[0] == (n % 16 == 0));
  }
  tile_jit_close(jit);
  tile_device_close(d);
}

TEST(policies) {
  tile_device *d = case_device("sim");
  uint64_t x = make_buffer(d, NULL, N);
  tile_arg args[] = {tile_arg_array(x, TILE_FP32), tile_arg_array(x, TILE_FP32), tile_arg_int(1), tile_arg_float(1)};
  for (int policy = TILE_JIT_WARN; policy <= TILE_JIT_FORBID; policy++) {
    Seen seen = {0};
    tile_jit *jit = open_jit(d, &seen, (tile_jit_policy)policy, NULL);
    tile_jit_kernel *k;
    k = case_kernel(jit, "axpy");
    if (policy == TILE_JIT_FORBID) REFUSED(tile_jit_launch(k, NULL, args, 4, &error), TILE_ERROR_USAGE, "the variant (*fp32:16, *fp32:16, i32:1, fp32, fp32, bias=None) was not prepared");
    OK(tile_jit_prepare(k, NULL, args, 4, NULL, &error));
    assert_int_equal(seen.events[TILE_EVENT_UNPREPARED], 0);
    OK(tile_memory_upload(d, x, (float[]){1}, 4, &error));
    OK(tile_jit_launch(k, NULL, args, 4, &error));
    assert_int_equal(seen.events[TILE_EVENT_UNPREPARED], 0);
    if (policy == TILE_JIT_WARN) {
      args[2] = tile_arg_int(2);
      tile_jit_launch_options o = TILE_JIT_LAUNCH_OPTIONS_INIT;
      OK(tile_memory_upload(d, x, (float[]){1, 1}, 8, &error));
      OK(tile_jit_launch(k, &o, args, 4, &error));
      assert_int_equal(seen.events[TILE_EVENT_UNPREPARED], 1);
      args[2] = tile_arg_int(1);
    }
    tile_jit_close(jit);
  }
  tile_device_close(d);
}

enum { THREADS = 16 };
typedef struct { tile_jit_kernel *k; tile_device *d; int index; bool ok; } Worker;

static void *work(void *user) {
  Worker *w = user;
  float in[N], out[N];
  for (int i = 0; i < N; i++) in[i] = (float)(i + w->index);
  uint64_t x = make_buffer(w->d, in, N), y = make_buffer(w->d, in, N);
  tile_jit_launch_options o = TILE_JIT_LAUNCH_OPTIONS_INIT;
  o.grid[0] = 2;
  w->ok = true;
  for (int round = 0; round < 4; round++) {
    // Half of the threads want the same variants at the same time.
    o.num_warps = 1 << (w->index % 2);
    tile_arg args[] = {tile_arg_array(x, TILE_FP32), tile_arg_array(y, TILE_FP32), tile_arg_int(round % 2 ? 16 : 17), tile_arg_float(w->index)};
    w->ok = w->ok && tile_jit_launch(w->k, &o, args, 4, NULL) == TILE_OK && tile_device_synchronize(w->d, NULL) == TILE_OK;
  }
  w->ok = w->ok && tile_memory_download(w->d, out, y, sizeof out, NULL) == TILE_OK;
  for (int i = 0; i < N; i++) w->ok = w->ok && out[i] == (i < 17 ? in[i] * 2 + (float)w->index : in[i]);
  return NULL;
}

TEST(threads) {
  tile_device *d = case_device("sim");
  Seen seen = {0};
  tile_jit *jit = open_jit(d, &seen, TILE_JIT_ALLOW, NULL);
  tile_jit_kernel *k = case_kernel(jit, "axpy");
  pthread_t ids[THREADS];
  Worker workers[THREADS];
  for (int i = 0; i < THREADS; i++) {
    workers[i] = (Worker){k, d, i, false};
    pthread_create(&ids[i], NULL, work, &workers[i]);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(ids[i], NULL);
    assert_true(workers[i].ok);
  }
  assert_int_equal(tile_jit_num_variants(k), 4);
  assert_int_equal(seen.events[TILE_EVENT_COMPILE_END], 4);
  tile_jit_close(jit);
  tile_device_close(d);
}

// A second program of the same source finds the first one's kernels, and they do the same.
TEST(disk_cache) {
  char dir[] = "/tmp/tile-jit-XXXXXX", command[64];
  assert_non_null(mkdtemp(dir));
  tile_device *d = case_device("sim");
  float in[N], out[N];
  for (int i = 0; i < N; i++) in[i] = (float)i;
  uint64_t x = make_buffer(d, in, N), y = make_buffer(d, in, N);
  for (int round = 0; round < 3; round++) {
    Seen seen = {0};
    tile_jit *jit = open_jit(d, &seen, round == 1 ? TILE_JIT_ALLOW : TILE_JIT_WARN, dir);
    tile_jit_kernel *k;
    k = case_kernel(jit, "axpy");
    tile_arg args[] = {tile_arg_array(x, TILE_FP32), tile_arg_array(y, TILE_FP32), tile_arg_int(100 + round / 2 * 12), tile_arg_float(round)};
    const tile_variant *v;
    OK(tile_jit_prepare(k, NULL, args, 4, &v, &error));
    assert_int_equal(tile_variant_constexpr_int(v, "BLOCK", 0), 128);
    OK(tile_jit_launch(k, NULL, args, 4, &error));
    case_fetch(d, out, y, sizeof out);
    for (int i = 0; i < 100; i++) assert_true(out[i] == in[i] * 2 + (float)round);
    assert_int_equal(seen.events[TILE_EVENT_CACHE_HIT], round == 1);
    assert_int_equal(seen.events[TILE_EVENT_COMPILE_END], round != 1);
    tile_jit_close(jit);
  }
  tile_device_close(d);
  snprintf(command, sizeof command, "rm -r %s", dir);
  assert_int_equal(system(command), 0);
}

// The prelude is part of the compiler: a kernel that calls one of its functions is kept as any other.
TEST(cached_prelude) {
  static const char text[] = "import triton\nimport triton.language as tl\n@triton.jit\ndef fill(out, n):\n    tl.store(out, tl.cdiv(n, 3))\n";
  char dir[] = "/tmp/tile-jit-XXXXXX", command[64];
  assert_non_null(mkdtemp(dir));
  tile_device *d = case_device("sim");
  uint64_t x = make_buffer(d, NULL, N);
  const tile_arg args[] = {tile_arg_array(x, TILE_FP32), tile_arg_int(100)};
  for (int round = 0; round < 2; round++) {
    Seen seen = {0};
    tile_jit_options o = TILE_JIT_OPTIONS_INIT;
    tile_jit *jit = NULL;
    o.on_event = on_event;
    o.user = &seen;
    o.cache_dir = dir;
    OK(tile_jit_open_memory(d, "case.py", text, strlen(text), &o, &jit, &error));
    OK(tile_jit_launch(case_kernel(jit, "fill"), NULL, args, 2, &error));
    assert_int_equal(seen.events[TILE_EVENT_CACHE_HIT], round);
    tile_jit_close(jit);
  }
  tile_memory_free(d, x, NULL);
  tile_device_close(d);
  snprintf(command, sizeof command, "rm -r %s", dir);
  assert_int_equal(system(command), 0);
}

static void write_factor(const char *dir, int factor) {
  char path[64];
  snprintf(path, sizeof path, "%s/helper.py", dir);
  FILE *f = fopen(path, "w");
  fprintf(f, "import triton.language as tl\nfactor: tl.constexpr = tl.constexpr(%d.0)\n", factor);
  fclose(f);
}

// An import that is written anew while the JIT is open: the code that comes of it is not kept for the old text.
TEST(changed_import) {
  static const char importing[] = "import triton\nimport triton.language as tl\nfrom helper import factor\n@triton.jit\ndef fill(out):\n    tl.store(out, factor)\n";
  char dir[] = "/tmp/tile-jit-XXXXXX", path[64], command[64];
  assert_non_null(mkdtemp(dir));
  snprintf(path, sizeof path, "%s/case.py", dir);
  tile_device *d = case_device("sim");
  uint64_t x = make_buffer(d, NULL, N);
  const tile_arg args[] = {tile_arg_array(x, TILE_FP32)};
  tile_jit_options o = TILE_JIT_OPTIONS_INIT;
  o.cache_dir = dir;
  float out[N];
  for (int round = 0; round < 2; round++) {
    tile_jit *jit = NULL;
    write_factor(dir, 2);
    OK(tile_jit_open_memory(d, path, importing, strlen(importing), &o, &jit, &error));
    if (round == 0) write_factor(dir, 3);
    OK(tile_jit_launch(case_kernel(jit, "fill"), NULL, args, 1, &error));
    case_fetch(d, out, x, sizeof out);
    assert_true(out[0] == (float)(3 - round));
    tile_jit_close(jit);
  }
  tile_memory_free(d, x, NULL);
  tile_device_close(d);
  snprintf(command, sizeof command, "rm -r %s", dir);
  assert_int_equal(system(command), 0);
}

static const char tuned[] =
  "import triton\nimport triton.language as tl\n"
  "def few(configs, args, **kwargs):\n"
  "    return [c for c in configs if c.kwargs['B'] != 512 and args['n'] < 1000]\n"
  "@triton.autotune(configs=[triton.Config({'B': b}, num_warps=w) for b, w in ((64, 2), (32, 1), (512, 4), (48, 1), (128, 4))], key=['n'],\n"
  "                 prune_configs_by={'early_config_prune': few}, reset_to_zero=['out'])\n"
  "@triton.jit\n"
  "def count(x, out, n, B: tl.constexpr):\n"
  "    o = tl.program_id(0) * B + tl.arange(0, B)\n"
  "    tl.atomic_add(out, tl.sum(tl.load(x + o, mask=o < n, other=0.0)))\n"
  "@triton.autotune(configs=[triton.Config({'B': b}) for b in (64, 32)], key=[])\n"
  "@triton.jit\n"
  "def differs(out, B: tl.constexpr):\n"
  "    tl.store(out, B)\n";

static void grid_of(void *user, const tile_variant *v, uint32_t grid[3]) {
  int64_t b = tile_variant_constexpr_int(v, "B", 1);
  grid[0] = (uint32_t)((*(const int *)user + b - 1) / b);
}

// Every candidate adds to the result, which must be as if only one had run.
TEST(tuning) {
  char file[] = "/tmp/tile-tune-XXXXXX";
  int fd = mkstemp(file), n = 200;
  close(fd);
  unlink(file);
  tile_device *d = case_device("sim");
  float in[N], sum = 0;
  for (int i = 0; i < N; i++) in[i] = (float)i, sum += i < n ? (float)i : 0;
  uint64_t x = make_buffer(d, in, N), out = make_buffer(d, in, 1);
  tile_jit_launch_options launch = TILE_JIT_LAUNCH_OPTIONS_INIT;
  launch.grid_fn = grid_of;
  launch.grid_user = &n;
  tile_arg args[] = {tile_arg_array(x, TILE_FP32), tile_arg_array(out, TILE_FP32), tile_arg_int(n)};
  const size_t bytes[] = {sizeof in, sizeof(float), 0};
  char first[32] = "";
  for (int round = 0; round < 2; round++) {
    Seen seen = {0};
    tile_jit *jit;
    tile_jit_options o = TILE_JIT_OPTIONS_INIT;
    o.no_cache = true;
    o.on_event = on_event;
    o.user = &seen;
    o.tune = round ? TILE_TUNE_SAVED : TILE_TUNE_ON;
    o.tune_file = file;
    OK(tile_jit_open_memory(d, "tuned.py", tuned, strlen(tuned), &o, &jit, &error));
    tile_jit_kernel *k;
    k = case_kernel(jit, "count");
    assert_true(tile_jit_is_tuned(k));
    if (!round) REFUSED(tile_jit_launch(k, &launch, args, 3, &error), TILE_ERROR_USAGE, "count resets or restores arguments while it is tuned: give their sizes in arg_bytes");
    launch.arg_bytes = bytes;
    launch.num_arg_bytes = 3;
    for (int again = 0; again < 2; again++) {
      float zero = 0, got;
      OK(tile_memory_upload(d, out, &zero, 4, &error));
      OK(tile_jit_launch(k, &launch, args, 3, &error));
      case_fetch(d, &got, out, 4);
      assert_true(got == sum);
    }
    // 512 is pruned and 48 is no power of two.
    assert_int_equal(seen.events[TILE_EVENT_TUNE_STEP], round ? 0 : 3);
    assert_int_equal(seen.events[TILE_EVENT_TUNE_SKIP], round ? 0 : 1);
    assert_int_equal(tile_jit_num_variants(k), 1);
    const tile_variant *v;
    OK(tile_jit_prepare(k, &launch, args, 3, &v, &error));
    if (round) assert_string_equal(tile_variant_constexpr(v, "B"), first);
    else snprintf(first, sizeof first, "%s", tile_variant_constexpr(v, "B"));
    if (!round) {
      // Given by the caller: nothing to choose.
      tile_arg given[] = {args[0], args[1], args[2], tile_arg_int(16)};
      OK(tile_jit_prepare(k, &launch, given, 4, &v, &error));
      assert_int_equal(tile_variant_constexpr_int(v, "B", 0), 16);
      // A candidate whose result differs from the first one's is out, however fast it is.
      k = case_kernel(jit, "differs");
      const size_t one[] = {4};
      launch.arg_bytes = one;
      launch.num_arg_bytes = 1;
      OK(tile_jit_prepare(k, &launch, (tile_arg[]){tile_arg_array(out, TILE_FP32)}, 1, &v, &error));
      assert_int_equal(seen.events[TILE_EVENT_TUNE_SKIP], 2);
      assert_int_equal(tile_variant_constexpr_int(v, "B", 0), 64);
      launch.arg_bytes = NULL;
      launch.num_arg_bytes = 0;
    }
    tile_jit_close(jit);
  }
  unlink(file);
  tile_device_close(d);
}

TEST(bad_sources) {
  tile_device *d;
  tile_jit *jit;
  d = case_device("interp");
  REFUSED(tile_jit_open_memory(d, "a.py", "def f(:\n", 8, NULL, &jit, &error), TILE_ERROR_PROGRAM, "a.py:1");
  REFUSED(tile_jit_open_memory(d, "a.py", "x = 1\n", 6, NULL, &jit, &error), TILE_ERROR_PROGRAM, "defines no kernel");
  REFUSED(tile_jit_open_memory(d, "a.tir", "", 0, NULL, &jit, &error), TILE_ERROR_USAGE, "is IR");
  REFUSED(tile_jit_open_file(d, "does/not/exist.tile", NULL, &jit, &error), TILE_ERROR_FILE, "does/not/exist.tile");
  const char *options[] = {"num-warps=3"};
  tile_jit_options o = TILE_JIT_OPTIONS_INIT;
  o.options = options;
  o.num_options = 1;
  REFUSED(tile_jit_open_memory(d, "a.py", source, strlen(source), &o, &jit, &error), TILE_ERROR_USAGE, "power of two");
  tile_device_close(d);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(on_sim), cmocka_unit_test(on_interp), cmocka_unit_test(on_gpu), cmocka_unit_test(descriptors_and_heuristics),
                                     cmocka_unit_test(policies), cmocka_unit_test(threads), cmocka_unit_test(disk_cache), cmocka_unit_test(cached_prelude), cmocka_unit_test(changed_import), cmocka_unit_test(tuning), cmocka_unit_test(bad_sources)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
