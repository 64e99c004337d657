// 16 threads on one device: each has a stream, events, memory and launches of one kernel and of a JIT's; some launches the host stops. On
// the simulator, the interpreter and a gpu if there is one (tests/threads.sh gives the stub driver).
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "tile_case.h"

enum { THREADS = 16, ROUNDS = 4, COUNT = 64 };

static const char source[] =
    "@kernel\ndef add(x: *i32, out: *i32, n: i32):\n    i = arange(0, 64)\n    store(out + i, load(x + i) + n)\n";

typedef struct { tile_device *d; tile_kernel *kernel; tile_jit_kernel *jit_kernel; bool computes; int n; } Work;
static atomic_int asked;
static bool never(void *user) { (void)user; return asked++ < 0; }

static void check(tile_status status, tile_error *error) {
  if (status != TILE_OK) print_error("%s\n", tile_error_message(error)), abort();
}
#define MUST(call) do { tile_error *error = NULL; tile_status s_ = (call); check(s_, error); } while (0)

static void one_round(const Work *w, void *stream, uint64_t x, uint64_t out, tile_stream_event *event, int round) {
  int32_t given[COUNT], got[COUNT];
  const tile_arg args[] = {tile_arg_pointer(x), tile_arg_pointer(out), tile_arg_int(w->n)};
  const tile_arg jit_args[] = {tile_arg_array(x, TILE_INT32), tile_arg_array(out, TILE_INT32), tile_arg_int(w->n)};
  tile_launch_options o = TILE_LAUNCH_OPTIONS_INIT;
  tile_jit_launch_options jit_o = TILE_JIT_LAUNCH_OPTIONS_INIT;
  o.stream = jit_o.stream = stream;
  for (int i = 0; i < COUNT; i++) given[i] = i * round;
  MUST(tile_memory_set_async(w->d, out, 0, 4, COUNT, stream, &error));
  MUST(tile_memory_upload_async(w->d, x, given, sizeof given, stream, &error));
  if (round % 2) MUST(tile_kernel_launch(w->kernel, &o, args, 3, &error));
  else MUST(tile_jit_launch(w->jit_kernel, &jit_o, jit_args, 3, &error));
  MUST(tile_stream_event_record(event, stream, &error));
  MUST(tile_stream_event_synchronize(event, &error));
  MUST(tile_memory_download_async(w->d, got, w->computes ? out : x, sizeof got, stream, &error));
  MUST(tile_stream_synchronize(w->d, stream, &error));
  for (int i = 0; i < COUNT; i++)
    if (got[i] != given[i] + (w->computes ? w->n : 0)) abort();
}

static void *work(void *user) {
  const Work *w = user;
  uint64_t x, out;
  void *stream;
  tile_stream_event *event;
  tile_device_properties p = TILE_DEVICE_PROPERTIES_INIT;
  MUST(tile_device_get_properties(w->d, &p, &error));
  MUST(tile_stream_create(w->d, &stream, &error));
  MUST(tile_stream_event_create(w->d, &event, &error));
  MUST(tile_memory_alloc(w->d, COUNT * 4, &x, &error));
  MUST(tile_memory_alloc(w->d, COUNT * 4, &out, &error));
  for (int round = 0; round < ROUNDS; round++) one_round(w, stream, x, out, event, round);
  const char *ptx;
  const tile_variant *v = NULL;
  const tile_arg args[] = {tile_arg_array(x, TILE_INT32), tile_arg_array(out, TILE_INT32), tile_arg_int(w->n)};
  MUST(tile_jit_prepare(w->jit_kernel, NULL, args, 3, &v, &error));
  MUST(tile_variant_output(v, TILE_EMIT_PTX, &ptx, NULL, &error));
  MUST(tile_device_synchronize(w->d, &error));
  tile_stream_event_destroy(event);
  MUST(tile_stream_destroy(w->d, stream, &error));
  MUST(tile_memory_free(w->d, x, &error));
  MUST(tile_memory_free(w->d, out, &error));
  return NULL;
}

static void on_device(tile_device *d, bool computes) {
  tile_program *p = NULL;
  tile_kernel *k = NULL;
  OK(tile_compile_memory("add.tile", source, sizeof source - 1, NULL, &p, &error));
  OK(tile_kernel_load(d, p, NULL, &k, &error));
  tile_jit *jit = case_jit(d, source);
  Work works[THREADS];
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) {
    works[i] = (Work){d, k, case_kernel(jit, "add"), computes, 2 + i % 3};
    assert_int_equal(pthread_create(&threads[i], NULL, work, &works[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  tile_jit_close(jit);
  tile_kernel_free(k);
  tile_program_free(p);
  tile_device_close(d);
}

static tile_device *stoppable(const char *spec) {
  tile_device *d = NULL;
  tile_hooks hooks = TILE_HOOKS_INIT;
  tile_device_options o = TILE_DEVICE_OPTIONS_INIT;
  hooks.should_stop = never;
  o.hooks = &hooks;
  return tile_device_open_with(spec, &o, &d, NULL) == TILE_OK ? d : NULL;
}

TEST(on_sim) { on_device(stoppable("sim"), true); }
TEST(on_interp) { on_device(stoppable("interp"), true); }
TEST(on_gpu) {
  tile_device *d = stoppable("gpu");
  if (!d) skip();
  const bool is_stub = !strcmp(tile_device_name(d), "stub");
  on_device(d, !is_stub);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(on_gpu), cmocka_unit_test(on_sim), cmocka_unit_test(on_interp)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
