// libtile in threads with little stack: compiling examples and what nests as deep as it may, a JIT with hooks, launches on the simulator and
// the interpreter. Each work is done once with plenty of stack, too, and must come to the same.
#include "tile_case.h"

#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ir/deep_stack.h"

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SANITIZED 1
enum { SMALL = 512 << 10 };   // their frames and what they keep for a thread are larger
#else
#define SANITIZED 0
enum { SMALL = 64 << 10 };
#endif

// Nothing in a thread may assert: that leaves by longjmp to the test.
static void in_thread(size_t bytes, void *(*work)(void *), void *user) {
  pthread_attr_t attr;
  pthread_t thread;
  pthread_attr_init(&attr);
  assert_int_equal(pthread_attr_setstacksize(&attr, bytes), 0);
  assert_int_equal(pthread_create(&thread, &attr, work, user), 0);
  pthread_join(thread, NULL);
  pthread_attr_destroy(&attr);
}

// ---- the thread itself ----

typedef struct { pthread_t thread; sigset_t mask; locale_t locale; } Where;

static void look(void *user) {
  Where *w = user;
  w->thread = pthread_self();
  w->locale = uselocale((locale_t)0);
  pthread_sigmask(SIG_BLOCK, NULL, &w->mask);
  volatile char deep[4 << 20];   // it is there
  for (size_t i = 0; i < sizeof deep; i += 4096) deep[i] = 1;
}

typedef struct { Where from, inside; bool done; } Looked;

static void *look_from(void *user) {
  Looked *l = user;
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
  l->from = (Where){.thread = pthread_self(), .locale = uselocale((locale_t)0)};
  l->done = deep_stack_run(look, &l->inside);
  return NULL;
}

TEST(the_thread) {
  for (int small = 0; small < 2; small++) {
    Looked l = {0};
    in_thread(small ? SMALL : 2 * DEEP_STACK_NEEDED, look_from, &l);
    assert_true(l.done);
    assert_int_equal(pthread_equal(l.from.thread, l.inside.thread) != 0, !small);
    assert_true(sigismember(&l.inside.mask, SIGUSR2));
    assert_ptr_equal(l.inside.locale, l.from.locale);
  }
}

// ---- compiling ----

typedef struct {
  const char *path, *text;     // text NULL: the file's
  const char *kernel, *signature, *arch;
  const tile_hooks *hooks;
  tile_status status;
  char *result;                // the PTX, or the message
} Compiling;

static void *compile_one(void *user) {
  Compiling *c = user;
  tile_compile_options o = TILE_COMPILE_OPTIONS_INIT;
  o.kernel = c->kernel;
  o.signature = c->signature;
  o.arch = c->arch;
  o.hooks = c->hooks;
  tile_program *p = NULL;
  tile_error *error = NULL;
  c->status = c->text ? tile_compile_memory(c->path, c->text, strlen(c->text), &o, &p, &error) : tile_compile_file(c->path, &o, &p, &error);
  const char *result = c->status == TILE_OK ? tile_program_output(p, TILE_EMIT_PTX, NULL) : tile_error_message(error);
  c->result = strdup(result ? result : "");
  tile_program_free(p);
  tile_error_free(error);
  return NULL;
}

// What comes out, the same with little stack as with much.
static char *compile_both(Compiling c, tile_status status) {
  Compiling little = c;
  compile_one(&c);
  in_thread(SMALL, compile_one, &little);
  if (c.status != status) fail_msg("%s: %s", c.path, c.result);
  assert_int_equal(little.status, c.status);
  assert_string_equal(little.result, c.result);
  free(c.result);
  return little.result;
}

TEST(examples) {
  static const Compiling all[] = {
    {.path = "examples/softmax.tile", .signature = "*fp32:16, *fp32:16, i32:16, i32:16, i32, i32, 1024", .arch = "sm_80"},
    {.path = "examples/matmul.tile", .signature = "*fp16:16, *fp16:16, *fp16:16, i32:16, i32:16, i32:16, i32:16, 1, i32:16, 1, i32:16, 1, 128, 128, 64, 8", .arch = "sm_90a"},
    {.path = "examples/attention.tile", .kernel = "attention_fwd", .signature = "*fp16:16, *fp16:16, *fp16:16, *fp16:16, i32:16, fp32, 64, 32, 64, True", .arch = "sm_90a"},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(compile_both(all[i], TILE_OK));
}

#define HEAD "import triton\nimport triton.language as tl\n"

static char *repeat(char *to, const char *piece, int times) {
  while (times--) to = stpcpy(to, piece);
  return to;
}

// 792 regions of 800, 2900 expressions of 3000, 990 levels of a tree of 1000, and evaluation until its part of the stack is used up.
TEST(nests) {
  static char text[1 << 16];
  char *at = stpcpy(text, HEAD "@triton.jit\ndef e(x, a, n: tl.constexpr):\n    if n > 0:\n");
  for (int i = 0; i < 8; i++) {
    at = repeat(at, " ", 8 + i);
    at += sprintf(at, "if x > %d:\n", i);
  }
  strcpy(at, "                tl.store(a + n, x)\n                e(x + 1, a, n - 1)\n"
             "@triton.jit\ndef f(a: '*i32', n: 'i32'):\n    e(n, a, 99)\n");
  free(compile_both((Compiling){.path = "regions.py", .text = text, .kernel = "f"}, TILE_OK));

  at = stpcpy(text, HEAD "@triton.jit\ndef d(x, n: tl.constexpr):\n    if n == 0:\n        return x\n    else:\n        return ");
  at = stpcpy(repeat(at, "-(", 20), "d(x, n - 1)");
  strcpy(repeat(at, ")", 20), "\n@triton.jit\ndef f(a: '*i32', n: 'i32'):\n    tl.store(a, d(n, 120))\n");
  free(compile_both((Compiling){.path = "expressions.py", .text = text, .kernel = "f"}, TILE_OK));

  at = repeat(stpcpy(text, HEAD "@triton.jit\ndef f(a: '*i32', n: 'i32'):\n    tl.store(a, "), "-", 990);
  strcpy(at, "n)\n");
  free(compile_both((Compiling){.path = "tree.py", .text = text, .kernel = "f"}, TILE_OK));

  at = repeat(stpcpy(text, "def climb(n):\n    return "), "[", 190);
  at = repeat(stpcpy(at, "climb(n + 1)"), "]", 190);
  strcpy(at, "\nA = climb(0)\n@kernel\ndef f(a: *i32):\n    store(a, A)\n");
  char *message = compile_both((Compiling){.path = "evaluation.py", .text = text, .kernel = "f"}, TILE_ERROR_PROGRAM);
  assert_non_null(strstr(message, ": error: recursion too deep"));
  free(message);
}

static bool at_once(void *user) {
  atomic_fetch_add((atomic_int *)user, 1);
  return true;
}

TEST(ends_early) {
  atomic_int asked = 0;
  const tile_hooks hooks = {.struct_size = sizeof hooks, .user = &asked, .should_stop = at_once};
  free(compile_both((Compiling){.path = "examples/vector_add.tile", .hooks = &hooks}, TILE_ERROR_CANCELLED));
  assert_int_equal(asked, 2);
}

// ---- the JIT and launches ----

static const char jit_source[] =
  HEAD
  "def zero(a):\n    a['out'].zero_()\n"
  "def prune(configs, named_args, **kwargs):\n    return [c for c in configs if c.kwargs['B'] == 64]\n"
  "@triton.autotune(configs=[triton.Config({'B': b}, pre_hook=zero) for b in [32, 64]], key=['n'], prune_configs_by={'early_config_prune': prune})\n"
  "@triton.jit\n"
  "def product(x, y, out, n, B: tl.constexpr):\n"
  "    r = tl.arange(0, B)[:, None]\n    c = tl.arange(0, B)[None, :]\n"
  "    d = tl.dot(tl.load(x + r * B + c), tl.load(y + r * B + c))\n"
  "    tl.store(out + r * B + c, tl.load(out + r * B + c) + d)\n"
  "@triton.jit\n"
  "def e(x, a, n: tl.constexpr):\n"
  "    if n > 0:\n        if x > 0:\n            if x > 1:\n                tl.store(a + n, x)\n                e(x + 1, a, n - 1)\n"
  "@triton.jit\n"
  "def nest(a, n):\n    e(n, a, 120)\n";

enum { B = 64 };
typedef struct { const char *device, *stack; char failed[512]; float product[B * B]; int32_t nest[128]; } Session;

// The first call that fails ends it.
#define TRY(call)                                                                                                \
  do {                                                                                                           \
    tile_error *error = NULL;                                                                                    \
    if ((call) != TILE_OK) {                                                                                     \
      snprintf(s->failed, sizeof s->failed, "%s on %s: %s: %s", s->stack, s->device, #call, tile_error_message(error)); \
      return NULL;                                                                                               \
    }                                                                                                            \
  } while (0)

static void *run_session(void *user) {
  Session *s = user;
  tile_device *d;
  tile_jit *jit;
  tile_jit_kernel *product, *nest;
  uint64_t x, y, out, a;
  static const uint16_t ones[B * B] = {[0] = 0x3c00, [B * B - 1] = 0x4000};   // fp16
  static const float old[B * B] = {5};
  TRY(tile_device_open(s->device, &d, &error));
  tile_jit_options o = TILE_JIT_OPTIONS_INIT;
  o.no_cache = true;
  o.tune = TILE_TUNE_ON;
  TRY(tile_jit_open_memory(d, "small.py", jit_source, strlen(jit_source), &o, &jit, &error));
  TRY(tile_jit_get_kernel(jit, "product", &product, &error));
  TRY(tile_jit_get_kernel(jit, "nest", &nest, &error));
  TRY(tile_memory_alloc(d, sizeof ones, &x, &error));
  TRY(tile_memory_alloc(d, sizeof ones, &y, &error));
  TRY(tile_memory_alloc(d, sizeof old, &out, &error));
  TRY(tile_memory_alloc(d, sizeof s->nest, &a, &error));
  TRY(tile_memory_upload(d, x, ones, sizeof ones, &error));
  TRY(tile_memory_upload(d, y, ones, sizeof ones, &error));
  TRY(tile_memory_upload(d, out, old, sizeof old, &error));
  TRY(tile_memory_upload(d, a, s->nest, sizeof s->nest, &error));
  const size_t bytes[] = {sizeof ones, sizeof ones, sizeof old};
  tile_jit_launch_options launch = TILE_JIT_LAUNCH_OPTIONS_INIT;
  launch.arg_bytes = bytes;
  launch.num_arg_bytes = 3;
  const tile_arg args[] = {tile_arg_array(x, TILE_FP16), tile_arg_array(y, TILE_FP16), tile_arg_array(out, TILE_FP32), tile_arg_int(7)};
  TRY(tile_jit_launch(product, &launch, args, 4, &error));
  const tile_arg nest_args[] = {tile_arg_array(a, TILE_INT32), tile_arg_int(3)};
  TRY(tile_jit_launch(nest, NULL, nest_args, 2, &error));
  TRY(tile_device_synchronize(d, &error));
  TRY(tile_memory_download(d, s->product, out, sizeof s->product, &error));
  TRY(tile_memory_download(d, s->nest, a, sizeof s->nest, &error));
  tile_jit_close(jit);
  tile_memory_free(d, x, NULL);
  tile_memory_free(d, y, NULL);
  tile_memory_free(d, out, NULL);
  tile_memory_free(d, a, NULL);
  tile_device_close(d);
  return NULL;
}

TEST(sessions) {
  for (int sim = 0; sim < 2; sim++) {
    Session *much = calloc(1, sizeof *much), *little = calloc(1, sizeof *little);
    much->device = little->device = sim ? "sim" : "interp";
    much->stack = "much stack", little->stack = "little stack";
    run_session(much);
    in_thread(SMALL, run_session, little);
    if (*much->failed || *little->failed) fail_msg("%s %s", much->failed, little->failed);
    assert_true(much->product[0] == 1 && much->product[B * B - 1] == 4 && much->nest[120] == 3 && much->nest[1] == 122);
    assert_memory_equal(much->product, little->product, sizeof much->product);
    assert_memory_equal(much->nest, little->nest, sizeof much->nest);
    free(much);
    free(little);
  }
}

// Without memory for a thread it is an error as any other. In a process of its own, which gets less than such a stack; before other tests,
// whose threads' stacks the C library keeps for the next ones.
static void *compile_without_memory(void *user) {
  unsigned long pages = 0;
  FILE *f = fopen("/proc/self/statm", "r");
  const bool known = f && fscanf(f, "%lu", &pages) == 1;
  if (f) fclose(f);
  const rlim_t most = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + DEEP_STACK_BYTES / 2;
  return known && !setrlimit(RLIMIT_AS, &(struct rlimit){most, most}) ? compile_one(user) : NULL;
}
TEST(no_memory) {
  if (SANITIZED) return;   // they do not run with limited memory
  const pid_t child = fork();
  if (!child) {
    Compiling c = {.path = "examples/vector_add.tile"};
    in_thread(SMALL, compile_without_memory, &c);
    _exit(c.status == TILE_ERROR_NO_MEMORY && c.result && !strcmp(c.result, "no memory for a thread with enough stack while compiling") ? 0 : 1);
  }
  int how = -1;
  waitpid(child, &how, 0);
  assert_int_equal(how, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(no_memory), cmocka_unit_test(the_thread), cmocka_unit_test(examples), cmocka_unit_test(nests), cmocka_unit_test(ends_early), cmocka_unit_test(sessions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
