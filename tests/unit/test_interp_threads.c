// The interpreter as a device of many threads: each allocates, copies, launches one shared kernel and a shared JIT, and frees.
#include "tile_case.h"

#include <pthread.h>

static const char source[] =
  "import triton\nimport triton.language as tl\n"
  "@triton.jit\n"
  "def add(x: '*fp32', out: '*fp32', c: 'i32', BLOCK: tl.constexpr = 64):\n"
  "    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
  "    tl.store(out + o, tl.load(x + o) + c)\n";
enum { NUM_THREADS = 16, ROUNDS = 12, CHURN = 500, N = 1000, LAUNCHED = 128 };

typedef struct { tile_device *device; tile_kernel *kernel; tile_jit_kernel *jit_kernel; int number; const char *failure; } Worker;

static bool is_ok(Worker *w, tile_status status, tile_error *error) {
  if (status != TILE_OK && !w->failure) w->failure = tile_error_message(error);   // kept for the report: it is the test's end
  return status == TILE_OK;
}
#define TRY(call) (error = NULL, is_ok(w, call, error))

static bool launch(Worker *w, uint64_t x, uint64_t out, int round) {
  tile_error *error;
  const tile_arg args[] = {tile_arg_array(x, TILE_FP32), tile_arg_array(out, TILE_FP32), tile_arg_int(w->number)};
  if (round % 2) {
    tile_launch_options o = TILE_LAUNCH_OPTIONS_INIT;
    o.grid[0] = LAUNCHED / 64;
    return TRY(tile_kernel_launch(w->kernel, &o, args, 3, &error));
  }
  tile_jit_launch_options o = TILE_JIT_LAUNCH_OPTIONS_INIT;
  o.grid[0] = LAUNCHED / 64;
  return TRY(tile_jit_launch(w->jit_kernel, &o, args, 3, &error));
}

static bool round_trip(Worker *w, int round) {
  tile_error *error;
  float data[N], got[N];
  for (int i = 0; i < N; i++) data[i] = (float)(i * round), got[i] = -1;
  uint64_t x = 0, out = 0;
  if (!TRY(tile_memory_alloc(w->device, sizeof data, &x, &error)) || !TRY(tile_memory_alloc(w->device, sizeof data, &out, &error))) return false;
  if (!TRY(tile_memory_upload(w->device, x, data, sizeof data, &error)) || !launch(w, x, out, round)) return false;
  if (!TRY(tile_memory_download(w->device, got, out, sizeof got, &error))) return false;
  for (int i = 0; i < LAUNCHED; i++)
    if (got[i] != data[i] + (float)w->number) w->failure = "a wrong sum";
  return TRY(tile_memory_free(w->device, x, &error)) && TRY(tile_memory_free(w->device, out, &error));
}

static bool churn(Worker *w) {
  tile_error *error;
  uint64_t address;
  const float one = 1;
  return TRY(tile_memory_alloc(w->device, sizeof one, &address, &error)) && TRY(tile_memory_upload(w->device, address, &one, sizeof one, &error)) &&
         TRY(tile_memory_free(w->device, address, &error));
}

static void *work(void *user) {
  Worker *w = user;
  for (int i = 0; i < CHURN; i++)
    if (!churn(w)) return NULL;
  for (int round = 0; round < ROUNDS; round++)
    if (!round_trip(w, round)) break;
  return NULL;
}

TEST(threads) {
  tile_device *device = case_device("interp");
  tile_program *program = NULL;
  tile_kernel *kernel = NULL;
  OK(tile_compile_memory("add.py", source, strlen(source), NULL, &program, &error));
  OK(tile_kernel_load(device, program, NULL, &kernel, &error));
  tile_jit *jit = case_jit(device, source);
  Worker workers[NUM_THREADS];
  pthread_t ids[NUM_THREADS];
  for (int i = 0; i < NUM_THREADS; i++) {
    workers[i] = (Worker){device, kernel, case_kernel(jit, "add"), i, NULL};
    assert_int_equal(pthread_create(&ids[i], NULL, work, &workers[i]), 0);
  }
  for (int i = 0; i < NUM_THREADS; i++) pthread_join(ids[i], NULL);
  for (int i = 0; i < NUM_THREADS; i++)
    if (workers[i].failure) fail_msg("thread %d: %s", i, workers[i].failure);
  tile_jit_close(jit);
  tile_kernel_free(kernel);
  tile_program_free(program);
  tile_device_close(device);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(threads)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
