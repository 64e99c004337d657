// What a host gives to the library: memory that runs out at every possible place, an end before the end, events, the log.
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/tile/tile.h"

static const char source[] =
  "@kernel\n"
  "def scale(x: *fp32, n: i32, BLOCK: constexpr = 128):\n"
  "    offs = program_id(0) * BLOCK + arange(0, BLOCK)\n"
  "    store(x + offs, load(x + offs, offs < n) * 2.0, offs < n)\n";

typedef struct {
  int64_t blocks, bytes, calls, fail_at;   // what is out; fail_at: the call that gets nothing
  int polls, stop_at;
  int events[16];
  char last[128];
  uint32_t grid;
} Host;

static void *host_alloc(void *user, size_t size) {
  Host *h = user;
  if (++h->calls == h->fail_at) return NULL;
  h->blocks++;
  h->bytes += (int64_t)size;
  return malloc(size);
}
static void host_free(void *user, void *p, size_t size) {
  Host *h = user;
  h->blocks--;
  h->bytes -= (int64_t)size;
  free(p);
}
static bool host_stop(void *user) {
  Host *h = user;
  return ++h->polls == h->stop_at;
}
static void host_event(void *user, const tile_event *e) {
  Host *h = user;
  h->events[e->kind]++;
  snprintf(h->last, sizeof h->last, "%s", e->kernel);
  if (e->grid) h->grid = e->grid[0];
}

static tile_hooks hooks_of(Host *h) {
  tile_hooks hooks = TILE_HOOKS_INIT;
  hooks.user = h;
  return hooks;
}

static tile_status compile_with(const tile_hooks *hooks, double seconds, tile_program **p, tile_error **e) {
  tile_compile_options o = TILE_COMPILE_OPTIONS_INIT;
  const char *const options[] = {"num-warps=2"};
  o.hooks = hooks;
  o.seconds = seconds;
  o.options = options;
  o.num_options = 1;
  return tile_compile_memory("scale.tile", source, strlen(source), &o, p, e);
}

static void memory_runs_out(void **state) {
  (void)state;
  Host h = {0};
  tile_hooks hooks = hooks_of(&h);
  hooks.alloc = host_alloc;
  hooks.free = host_free;
  tile_program *p;
  tile_error *e = NULL;
  assert_int_equal(compile_with(&hooks, 0, &p, &e), TILE_OK);
  assert_true(h.blocks > 0);
  tile_program_free(p);
  assert_int_equal(h.blocks, 0);
  assert_int_equal(h.bytes, 0);
  int64_t calls = h.calls;
  assert_true(calls >= 3);
  for (int64_t n = 1; n <= calls; n++) {
    h = (Host){.fail_at = n};
    assert_int_equal(compile_with(&hooks, 0, &p, &e), TILE_ERROR_NO_MEMORY);
    assert_null(p);
    assert_non_null(strstr(tile_error_message(e), "out of memory"));
    tile_error_free(e);
    e = NULL;
    assert_int_equal(h.blocks, 0);
    assert_int_equal(h.bytes, 0);
  }
}

static void stopped(void **state) {
  (void)state;
  Host h = {0};
  tile_hooks hooks = hooks_of(&h);
  hooks.should_stop = host_stop;
  tile_program *p;
  tile_error *e = NULL;
  assert_int_equal(compile_with(&hooks, 0, &p, &e), TILE_OK);
  tile_program_free(p);
  int polls = h.polls;
  assert_true(polls > 20);
  for (int n = 1; n <= polls; n += n < 10 ? 1 : polls / 10) {
    h = (Host){.stop_at = n};
    assert_int_equal(compile_with(&hooks, 0, &p, &e), TILE_ERROR_CANCELLED);
    assert_null(p);
    tile_error_free(e);
    e = NULL;
    assert_int_equal(h.polls, n);
  }
  assert_int_equal(compile_with(NULL, 1e-9, &p, &e), TILE_ERROR_CANCELLED);
  tile_error_free(e);
  e = NULL;
  assert_int_equal(compile_with(NULL, 60, &p, &e), TILE_OK);
  tile_program_free(p);
}

static void events(void **state) {
  (void)state;
  Host h = {0};
  tile_hooks hooks = hooks_of(&h);
  hooks.event = host_event;
  hooks.alloc = host_alloc;
  hooks.free = host_free;
  tile_device_options options = TILE_DEVICE_OPTIONS_INIT;
  options.hooks = &hooks;
  tile_device *device;
  tile_kernel *kernel;
  tile_program *p;
  uint64_t x;
  assert_int_equal(tile_device_open_with("sim", &options, &device, NULL), TILE_OK);
  assert_int_equal(compile_with(&hooks, 0, &p, NULL), TILE_OK);
  assert_int_equal(h.events[TILE_EVENT_COMPILE_BEGIN], 1);
  assert_int_equal(h.events[TILE_EVENT_COMPILE_END], 1);
  assert_int_equal(tile_kernel_load(device, p, NULL, &kernel, NULL), TILE_OK);
  assert_int_equal(tile_memory_alloc(device, 4096, &x, NULL), TILE_OK);
  tile_launch_options launch = TILE_LAUNCH_OPTIONS_INIT;
  launch.grid[0] = 3;
  const tile_arg args[] = {tile_arg_pointer(x), tile_arg_int(0)};
  assert_int_equal(tile_kernel_launch(kernel, &launch, args, 1, NULL), TILE_ERROR_USAGE);
  assert_int_equal(h.events[TILE_EVENT_LAUNCH], 0);
  assert_int_equal(tile_kernel_launch(kernel, &launch, args, 2, NULL), TILE_OK);
  assert_int_equal(h.events[TILE_EVENT_LAUNCH], 1);
  assert_int_equal(h.grid, 3);
  assert_string_equal(h.last, "scale");
  assert_int_equal(tile_memory_free(device, x, NULL), TILE_OK);
  tile_kernel_free(kernel);
  tile_program_free(p);
  tile_device_close(device);
  assert_int_equal(h.blocks, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(memory_runs_out), cmocka_unit_test(stopped), cmocka_unit_test(events)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
