// Tuning with functions of the source: perf_model and top_k, hooks of configurations and of autotune, reset_to_zero; the report;
// the budget; captured streams are not here (tests/runtime/stub.test).
#include "tile_case.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char source[] =
  "import triton\nimport triton.language as tl\n"
  "def cost(x, out, n, B, num_warps, num_stages, num_ctas):\n"
  "    return abs(B - 128) + n * 0\n"
  "@triton.autotune(configs=[triton.Config({'B': b}) for b in (32, 64, 128, 256, 512)], key=['n'],\n"
  "                 prune_configs_by={'early_config_prune': lambda configs, args, **kw: [c for c in configs if c.kwargs['B'] != 128],\n"
  "                                   'perf_model': cost, 'top_k': 2}, reset_to_zero=['out'])\n"
  "@triton.jit\n"
  "def modelled(x, out, n, B: tl.constexpr):\n"
  "    o = tl.program_id(0) * B + tl.arange(0, B)\n"
  "    tl.atomic_add(out, tl.sum(tl.load(x + o, mask=o < n, other=0.0)))\n"
  "def zero(args):\n"
  "    args['out'].zero_()\n"
  "@triton.autotune(configs=[triton.Config({'B': 64}, pre_hook=zero), triton.Config({'B': 128}, pre_hook=zero)], key=['n'])\n"
  "@triton.jit\n"
  "def split(x, out, n, B: tl.constexpr):\n"
  "    o = tl.program_id(0) * B + tl.arange(0, B)\n"
  "    tl.atomic_add(out, tl.sum(tl.load(x + o, mask=o < n, other=0.0)))\n"
  "def blocks(args):\n"
  "    args['src'].block_shape = [args['B'], 4]\n"
  "    args['dst'].block_shape = [args['B'], 4]\n"
  "@triton.autotune(configs=[triton.Config({'B': b}, pre_hook=blocks) for b in (8, 4)], key=[])\n"
  "@triton.jit\n"
  "def move(src, dst, B: tl.constexpr):\n"
  "    dst.store([tl.program_id(0) * B, 0], src.load([tl.program_id(0) * B, 4]))\n"
  "def seen(args, reset_only=False):\n"
  "    if args['n'] != 16 or reset_only:\n"
  "        raise ValueError('hook')\n"
  "def after(args, exception=None):\n"
  "    if args['B'] == 32 and exception is None:\n"
  "        raise ValueError('the post_hook was here')\n"
  "@triton.autotune(configs=[triton.Config({'B': b}) for b in (16, 32)], key=[], pre_hook=seen, post_hook=after)\n"
  "@triton.jit\n"
  "def hooked(out, n, B: tl.constexpr):\n"
  "    tl.store(out + tl.arange(0, B), 1.0, mask=tl.arange(0, B) < n)\n"
  "@triton.autotune(configs=[triton.Config({'B': b}) for b in (16, 32)], key=[])\n"
  "@triton.jit\n"
  "def waits(out, n, B: tl.constexpr):\n"
  "    tl.store(out + tl.arange(0, B), 1.0, mask=tl.arange(0, B) < n)\n"
  "@triton.jit\n"
  "def plain(out):\n"
  "    tl.store(out, 1.0)\n";

enum { N = 256 };
typedef struct { tile_device *d; tile_jit *jit; uint64_t x, out; int64_t n; } Bench;

static void grid_of(void *user, const tile_variant *v, uint32_t grid[3]) {
  int64_t b = tile_variant_constexpr_int(v, "B", 1);
  grid[0] = (uint32_t)((*(const int64_t *)user + b - 1) / b);
}

static void open_bench(Bench *b, const char *device, tile_tune_mode mode, double seconds) {
  b->d = case_device(device);
  tile_jit_options o = TILE_JIT_OPTIONS_INIT;
  o.no_cache = true;
  o.tune = mode;
  o.tune_seconds = seconds;
  OK(tile_jit_open_memory(b->d, "hooks.py", source, strlen(source), &o, &b->jit, &error));
  float in[N];
  for (int i = 0; i < N; i++) in[i] = (float)i;
  b->x = case_buffer(b->d, in, sizeof in);
  b->out = case_buffer(b->d, in, sizeof in);
  b->n = 200;
}
static void close_bench(Bench *b) {
  tile_jit_close(b->jit);
  tile_memory_free(b->d, b->x, NULL);
  tile_memory_free(b->d, b->out, NULL);
  tile_device_close(b->d);
}
static float first_out(const Bench *b) {
  float v = -1;
  case_fetch(b->d, &v, b->out, sizeof v);
  return v;
}
static void set_first(const Bench *b, float v) { OK(tile_memory_upload(b->d, b->out, &v, sizeof v, &error)); }

static const size_t sizes[] = {N * sizeof(float), sizeof(float), 0};
static tile_jit_launch_options options_of(Bench *b) {
  tile_jit_launch_options o = TILE_JIT_LAUNCH_OPTIONS_INIT;
  o.grid_fn = grid_of;
  o.grid_user = &b->n;
  o.arg_bytes = sizes;
  o.num_arg_bytes = 3;
  return o;
}
static float sum_of(int64_t n) { return (float)(n * (n - 1) / 2); }

// A launch without programs runs and tunes nothing, with a grid's function as without.
TEST(no_programs) {
  Bench b;
  open_bench(&b, "sim", TILE_TUNE_ON, 0);
  tile_jit_launch_options o = options_of(&b);
  tile_arg args[] = {tile_arg_array(b.x, TILE_FP32), tile_arg_array(b.out, TILE_FP32), tile_arg_int(0)};
  b.n = 0;
  tile_tuning *report;
  OK(tile_jit_tune(case_kernel(b.jit, "modelled"), &o, args, 3, &report, &error));
  for (size_t i = 0; i < 5; i++) assert_int_equal(case_candidate(report, i).runs, 0);
  tile_tuning_free(report);
  set_first(&b, 1000);
  OK(tile_jit_launch(case_kernel(b.jit, "modelled"), &o, args, 3, &error));
  o.grid_fn = NULL;
  o.grid[2] = 0;
  OK(tile_jit_launch(case_kernel(b.jit, "modelled"), &o, args, 3, &error));
  assert_true(first_out(&b) == 1000);
  close_bench(&b);
}

// 128 is pruned first; of the rest the model keeps 64 and 32. What reset_to_zero names starts from zero and is left there.
TEST(model_and_report) {
  Bench b;
  open_bench(&b, "sim", TILE_TUNE_ON, 0);
  tile_jit_launch_options o = options_of(&b);
  tile_arg args[] = {tile_arg_array(b.x, TILE_FP32), tile_arg_array(b.out, TILE_FP32), tile_arg_int(b.n)};
  tile_tuning *report;
  set_first(&b, 1000);
  OK(tile_jit_tune(case_kernel(b.jit, "modelled"), &o, args, 3, &report, &error));
  assert_int_equal(tile_tuning_num_candidates(report), 5);
  int chosen = 0;
  for (size_t i = 0; i < 5; i++) {
    tile_tune_candidate c = case_candidate(report, i);
    if (i < 2) assert_true(!c.skipped && c.runs == 1 && c.milliseconds > 0);
    else assert_string_equal(c.skipped, "pruned");
    chosen += c.chosen;
  }
  assert_int_equal(chosen, 1);
  assert_string_equal(case_candidate(report, 0).config, "B=32, num_warps=4, num_stages=3, num_ctas=1");
  tile_tune_candidate none = TILE_TUNE_CANDIDATE_INIT;
  assert_false(tile_tuning_get_candidate(report, 9, &none));
  assert_non_null(tile_tuning_variant(report));
  tile_tuning_free(report);
  assert_true(first_out(&b) == 0);
  OK(tile_jit_launch(case_kernel(b.jit, "modelled"), &o, args, 3, &error));
  assert_true(first_out(&b) == sum_of(b.n));
  assert_int_equal(tile_jit_num_variants(case_kernel(b.jit, "modelled")), 1);
  // Once more on request: the new choice takes the place of the old one.
  OK(tile_jit_tune(case_kernel(b.jit, "modelled"), &o, args, 3, NULL, &error));
  assert_int_equal(tile_jit_num_variants(case_kernel(b.jit, "modelled")), 2);
  close_bench(&b);
}

// A configuration's pre_hook that zeroes does so before each launch, tuned or not.
static void zeroing_hook(const char *device, tile_tune_mode mode) {
  Bench b;
  open_bench(&b, device, mode, 0);
  tile_jit_launch_options o = options_of(&b);
  tile_arg args[] = {tile_arg_array(b.x, TILE_FP32), tile_arg_array(b.out, TILE_FP32), tile_arg_int(b.n)};
  for (int again = 0; again < 3; again++) {
    OK(tile_jit_launch(case_kernel(b.jit, "split"), &o, args, 3, &error));
    assert_true(first_out(&b) == sum_of(b.n));
  }
  o.arg_bytes = NULL;
  tile_error *e = NULL;
  assert_int_equal(tile_jit_launch(case_kernel(b.jit, "split"), &o, args, 3, &e), TILE_ERROR_USAGE);
  assert_non_null(strstr(tile_error_message(e), "a hook changes 'out': give its size in arg_bytes"));
  tile_error_free(e);
  close_bench(&b);
}
TEST(zeroing) {
  zeroing_hook("sim", TILE_TUNE_ON);
  zeroing_hook("sim", TILE_TUNE_OFF);
  zeroing_hook("interp", TILE_TUNE_OFF);
}

// As the persistent matmul with descriptors does it: the hook gives the descriptors their blocks.
TEST(block_hook) {
  for (int mode = TILE_TUNE_OFF; mode <= TILE_TUNE_ON; mode++) {
    Bench b;
    open_bench(&b, "sim", (tile_tune_mode)mode, 0);
    b.n = 16;
    tile_tensor s = {.base = b.x, .rank = 2, .shape = {16, 8}, .strides = {8, 1}, .type = TILE_FP32, .block = {1, 1}};
    tile_tensor t = {.base = b.out, .rank = 2, .shape = {16, 4}, .strides = {4, 1}, .type = TILE_FP32, .block = {1, 1}};
    tile_arg args[] = {tile_arg_tensor(&s), tile_arg_tensor(&t)};
    tile_jit_launch_options o = options_of(&b);
    const size_t both[] = {16 * 8 * 4, 16 * 4 * 4};
    o.arg_bytes = both;
    o.num_arg_bytes = 2;
    OK(tile_jit_launch(case_kernel(b.jit, "move"), &o, args, 2, &error));
    float out[64];
    case_fetch(b.d, out, b.out, sizeof out);
    for (int i = 0; i < 64; i++) assert_true(out[i] == (float)(i / 4 * 8 + 4 + i % 4));
    assert_true(s.block[0] == 1);
    close_bench(&b);
  }
}

TEST(hooks_of_autotune) {
  Bench b;
  open_bench(&b, "sim", TILE_TUNE_ON, 0);
  tile_jit_launch_options o = TILE_JIT_LAUNCH_OPTIONS_INIT;
  tile_tuning *report = NULL;
  tile_arg args[] = {tile_arg_array(b.out, TILE_FP32), tile_arg_int(16)};
  OK(tile_jit_tune(case_kernel(b.jit, "hooked"), &o, args, 2, &report, &error));
  assert_true(case_candidate(report, 0).chosen);
  assert_non_null(strstr(case_candidate(report, 1).skipped, "the post_hook was here"));
  tile_tuning_free(report);
  args[1] = tile_arg_int(32);
  tile_error *e = NULL;
  assert_int_equal(tile_jit_tune(case_kernel(b.jit, "hooked"), &o, args, 2, &report, &e), TILE_ERROR_PROGRAM);
  assert_non_null(strstr(tile_error_message(e), "none of the 2 configurations runs; the first says: "));
  assert_non_null(strstr(case_candidate(report, 0).skipped, "ValueError"));
  tile_tuning_free(report);
  tile_error_free(e);
  e = NULL;
  assert_int_equal(tile_jit_tune(case_kernel(b.jit, "plain"), &o, args, 1, &report, &e), TILE_ERROR_USAGE);
  assert_non_null(strstr(tile_error_message(e), "no @triton.autotune"));
  assert_null(report);
  tile_error_free(e);
  close_bench(&b);
}

// With next to no time one candidate is still compiled and chosen; the others say why they are not.
TEST(budget) {
  Bench b;
  open_bench(&b, "sim", TILE_TUNE_ON, 1e-6);
  tile_jit_launch_options o = options_of(&b);
  tile_arg args[] = {tile_arg_array(b.x, TILE_FP32), tile_arg_array(b.out, TILE_FP32), tile_arg_int(b.n)};
  tile_tuning *report;
  OK(tile_jit_tune(case_kernel(b.jit, "modelled"), &o, args, 3, &report, &error));
  int chosen = 0, late = 0;
  for (size_t i = 0; i < 2; i++) {
    tile_tune_candidate c = case_candidate(report, i);
    chosen += c.chosen;
    late += c.skipped && !strcmp(c.skipped, "the time for tuning is over");
  }
  assert_int_equal(chosen, 1);
  assert_int_equal(late, 1);
  tile_tuning_free(report);
  close_bench(&b);
}

static bool after_some(void *user) { return ++*(int *)user > 3; }

// The host may end it at any time; nothing is chosen, and the arrays are as before.
// Tuned at once for two sets of arguments: one is timed after the other, as launches that run beside each other say nothing.
typedef struct { int which; pthread_mutex_t *lock; char *order; } Seen;
static void seen_grid(void *user, const tile_variant *v, uint32_t grid[3]) {
  (void)v;
  const Seen *s = user;
  grid[0] = 1;
  pthread_mutex_lock(s->lock);
  s->order[strlen(s->order)] = (char)('a' + s->which);
  pthread_mutex_unlock(s->lock);
  nanosleep(&(struct timespec){0, 5 * 1000000L}, NULL);
}
TEST(one_at_a_time) {
  Bench b;
  open_bench(&b, "sim", TILE_TUNE_ON, 0);
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  char order[256] = "";
  Seen seen[2] = {{0, &lock, order}, {1, &lock, order}};
  const tile_arg args[] = {tile_arg_array(b.out, TILE_FP32), tile_arg_int(5)};
  tile_jit_launch_options o[2] = {options_of(&b), options_of(&b)};
  tile_jit_request requests[2];
  for (int i = 0; i < 2; i++) {
    o[i].grid_fn = seen_grid;
    o[i].grid_user = &seen[i];
    o[i].arg_bytes = NULL;
    o[i].num_warps = 1 << i;
    requests[i] = (tile_jit_request){case_kernel(b.jit, "waits"), &o[i], args, 2, {0}};
  }
  OK(tile_jit_prepare_all(requests, 2, 2, &error));
  int changes = 0;
  for (const char *s = order; s[0] && s[1]; s++) changes += s[0] != s[1];
  if (changes != 1 || strlen(order) < 6) fail_msg("timed in the order %s", order);
  close_bench(&b);
}

TEST(cancelled) {
  Bench b;
  open_bench(&b, "sim", TILE_TUNE_OFF, 0);
  int asked = 0;
  tile_hooks hooks = TILE_HOOKS_INIT;
  hooks.user = &asked;
  hooks.should_stop = after_some;
  tile_jit_options jo = TILE_JIT_OPTIONS_INIT;
  jo.no_cache = true;
  jo.tune = TILE_TUNE_ON;
  jo.hooks = &hooks;
  tile_jit *jit;
  tile_jit_kernel *k;
  OK(tile_jit_open_memory(b.d, "hooks.py", source, strlen(source), &jo, &jit, &error));
  k = case_kernel(jit, "split");
  tile_jit_launch_options o = options_of(&b);
  tile_arg args[] = {tile_arg_array(b.x, TILE_FP32), tile_arg_array(b.out, TILE_FP32), tile_arg_int(b.n)};
  set_first(&b, 1000);
  tile_error *e = NULL;
  assert_int_equal(tile_jit_launch(k, &o, args, 3, &e), TILE_ERROR_CANCELLED);
  assert_non_null(strstr(tile_error_message(e), "stopped while tuning split"));
  tile_error_free(e);
  assert_true(first_out(&b) == 1000);
  assert_int_equal(tile_jit_num_variants(k), 0);
  tile_jit_close(jit);
  close_bench(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(no_programs), cmocka_unit_test(model_and_report), cmocka_unit_test(zeroing), cmocka_unit_test(block_hook), cmocka_unit_test(hooks_of_autotune), cmocka_unit_test(budget),
                                     cmocka_unit_test(one_at_a_time), cmocka_unit_test(cancelled)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
