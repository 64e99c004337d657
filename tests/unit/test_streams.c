// Devices as programs see them: what they are, memory, streams, events, and launches that the host stops. On the
// simulator and the interpreter; tests/runtime/stub_streams.test has the same over a driver that queues.
#include <stdio.h>
#include <stdlib.h>

#include "tile_case.h"

static const char source[] =
    "@kernel\ndef add(x: *i32, y: *i32):\n    i = arange(0, 16)\n    store(y + i, load(x + i) + 1)\n"
    "@kernel\ndef spin(x: *i32, n: i32):\n    for i in range(n):\n        store(x, i + 1)\n"
    "@kernel\ndef fails(x: *i32):\n    store(x + (1 << 40), 1)\n";

typedef struct { tile_device *d; tile_program *p; tile_kernel *k; } Bench;

static Bench open_bench(const char *spec, const tile_hooks *hooks, const char *name, const char *signature) {
  Bench b = {0};
  tile_device_options with = TILE_DEVICE_OPTIONS_INIT;
  with.hooks = hooks;
  OK(tile_device_open_with(spec, &with, &b.d, &error));
  tile_compile_options o = TILE_COMPILE_OPTIONS_INIT;
  o.kernel = name;
  o.signature = signature;
  OK(tile_compile_memory("streams.tile", source, sizeof source - 1, &o, &b.p, &error));
  OK(tile_kernel_load(b.d, b.p, name, &b.k, &error));
  return b;
}

static void close_bench(Bench *b) {
  tile_kernel_free(b->k);
  tile_program_free(b->p);
  tile_device_close(b->d);
}

TEST(counts) {
  size_t n = 77;
  OK(tile_device_count("sim", &n, &error));
  assert_int_equal(n, 1);
  OK(tile_device_count("interp", &n, &error));
  assert_int_equal(n, 1);
  n = 77;
  OK(tile_device_count("gpu", &n, &error));
  assert_true(n < 77);
  REFUSED(tile_device_count("cpu", &n, &error), TILE_ERROR_USAGE,
          "there are no devices of the kind 'cpu'; there are gpu, sim, interp");
}

TEST(properties) {
  tile_device *d = case_device("sim");
  tile_device_properties p = TILE_DEVICE_PROPERTIES_INIT;
  OK(tile_device_get_properties(d, &p, &error));
  assert_string_equal(p.kind, "sim");
  assert_string_equal(p.name, "Simulated H200");
  assert_string_equal(p.arch, "sm_90a");
  assert_int_equal(p.ordinal, 0);
  assert_int_equal(p.compute_major * 10 + p.compute_minor, 90);
  assert_int_equal(p.num_sms, 132);
  assert_int_equal(p.warp_size, 32);
  assert_int_equal(p.threads_per_block, 1024);
  assert_int_equal(p.warps_per_sm, 64);
  assert_int_equal(p.registers_per_block, 65536);
  assert_int_equal(p.shared_per_block, 227 * 1024);
  assert_int_equal(p.memory_bytes, UINT64_C(141) << 30);
  assert_int_equal(p.l2_bytes, 50 << 20);
  assert_true(p.clock_khz && p.memory_clock_khz && p.memory_bus_bits && p.driver_version);
  uint64_t left = 0, all = 0;
  OK(tile_memory_info(d, &left, &all, &error));
  assert_int_equal(all, p.memory_bytes);
  uint64_t before = left, a = case_buffer(d, NULL, 1 << 20);
  OK(tile_memory_info(d, &left, NULL, &error));
  assert_in_range(before - left, 1 << 20, 2 << 20);
  OK(tile_memory_free(d, a, &error));
  p.struct_size = 12;
  REFUSED(tile_device_get_properties(d, &p, &error), TILE_ERROR_USAGE, "tile_device_properties: its struct_size is 12");
  tile_device_close(d);
  d = case_device("interp");
  p = (tile_device_properties)TILE_DEVICE_PROPERTIES_INIT;
  p.num_sms = 9;
  OK(tile_device_get_properties(d, &p, &error));
  assert_string_equal(p.kind, "interp");
  assert_null(p.arch);
  assert_int_equal(p.num_sms, 0);
  tile_device_close(d);
}

static void memory(const char *spec) {
  tile_device *d = case_device(spec);
  uint64_t a = case_buffer(d, NULL, 64), b = case_buffer(d, NULL, 64);
  union { uint8_t u8[64]; uint16_t u16[32]; uint32_t u32[16]; uint64_t u64[8]; } got;
  OK(tile_memory_set(d, a, 0xab, 1, 64, &error));
  OK(tile_memory_set(d, a + 8, 0x1234, 2, 4, &error));
  OK(tile_memory_set(d, a + 16, 0x12345678, 4, 2, &error));
  OK(tile_memory_set(d, a + 24, UINT64_C(0x123456789abcdef0), 8, 2, &error));
  OK(tile_memory_set(d, a, 0, 4, 0, &error));
  OK(tile_memory_copy(d, b, a, 64, &error));
  OK(tile_memory_copy(d, b, a, 0, &error));
  OK(tile_memory_download(d, &got, b, 64, &error));
  assert_int_equal(got.u8[0], 0xab);
  assert_int_equal(got.u16[4], 0x1234);
  assert_int_equal(got.u16[7], 0x1234);
  assert_int_equal(got.u32[4], 0x12345678);
  assert_int_equal(got.u32[5], 0x12345678);
  assert_int_equal(got.u64[3], UINT64_C(0x123456789abcdef0));
  assert_int_equal(got.u64[4], UINT64_C(0x123456789abcdef0));
  assert_int_equal(got.u8[40], 0xab);
  REFUSED(tile_memory_set(d, a, 0, 3, 1, &error), TILE_ERROR_USAGE,
          "tile_memory_set: pattern_bytes is 3; 1, 2, 4 and 8 are possible");
  char says[160];
  snprintf(says, sizeof says, "tile_memory_set: 1 elements of 2 bytes at 0x%llx: the address must be a multiple of pattern_bytes, and the elements must fit a memory", (unsigned long long)a + 1);
  REFUSED(tile_memory_set(d, a + 1, 0, 2, 1, &error), TILE_ERROR_USAGE, says);
  REFUSED(tile_memory_set(d, a, 0, 8, SIZE_MAX / 4, &error), TILE_ERROR_USAGE, "the elements must fit a memory");
  assert_int_not_equal(tile_memory_set(d, a, 0, 1, 4096, NULL), TILE_OK);
  assert_int_not_equal(tile_memory_copy(d, a, b, 4096, NULL), TILE_OK);
  void *pinned = NULL;
  OK(tile_memory_alloc_host(d, 64, &pinned, &error));
  memset(pinned, 7, 64);
  OK(tile_memory_upload(d, a, pinned, 64, &error));
  OK(tile_memory_download(d, &got, a, 64, &error));
  assert_int_equal(got.u8[63], 7);
  OK(tile_memory_free_host(d, pinned, &error));
  OK(tile_memory_free_host(d, NULL, &error));
  OK(tile_memory_free(d, a, &error));
  OK(tile_memory_free(d, b, &error));
  tile_device_close(d);
}
TEST(memory_on_sim) { memory("sim"); }
TEST(memory_on_interp) { memory("interp"); }

static void streams(const char *spec) {
  Bench b = open_bench(spec, NULL, "add", NULL);
  const uint64_t x = case_buffer(b.d, NULL, 64), y = case_buffer(b.d, NULL, 64);
  void *one = NULL, *two = NULL;
  tile_stream_event *start = NULL, *end = NULL;
  OK(tile_stream_create(b.d, &one, &error));
  OK(tile_stream_create(b.d, &two, &error));
  assert_non_null(one);
  assert_ptr_not_equal(one, two);
  OK(tile_stream_event_create(b.d, &start, &error));
  OK(tile_stream_event_create(b.d, &end, &error));
  assert_int_equal(tile_stream_event_handle(start) != NULL, !strcmp(spec, "sim"));
  double ms = -1;
  REFUSED(tile_stream_event_elapsed_ms(start, end, &ms, &error), TILE_ERROR_USAGE,
          "an event that was never recorded has no time");
  OK(tile_stream_event_synchronize(end, &error));
  int32_t given[16], got[16];
  for (int i = 0; i < 16; i++) given[i] = 10 * i;
  OK(tile_stream_event_record(start, one, &error));
  OK(tile_memory_upload_async(b.d, x, given, 64, one, &error));
  tile_launch_options launch = TILE_LAUNCH_OPTIONS_INIT;
  launch.stream = one;
  const tile_arg args[] = {tile_arg_pointer(x), tile_arg_pointer(y)};
  OK(tile_kernel_launch(b.k, &launch, args, 2, &error));
  OK(tile_stream_event_record(end, one, &error));
  OK(tile_stream_wait_event(b.d, two, end, &error));
  OK(tile_memory_copy_async(b.d, x, y, 64, two, &error));
  OK(tile_memory_set_async(b.d, x + 60, 5, 4, 1, two, &error));
  OK(tile_memory_download_async(b.d, got, x, 64, two, &error));
  OK(tile_stream_synchronize(b.d, two, &error));
  bool done = false, event_done = false;
  OK(tile_stream_query(b.d, one, &done, &error));
  OK(tile_stream_event_query(end, &event_done, &error));
  assert_true(done && event_done);
  for (int i = 0; i < 15; i++) assert_int_equal(got[i], 10 * i + 1);
  assert_int_equal(got[15], 5);
  OK(tile_stream_event_synchronize(end, &error));
  OK(tile_stream_event_elapsed_ms(start, end, &ms, &error));
  assert_true(ms >= 0 && ms < 60000);
  tile_device *other = case_device(spec);
  tile_stream_event *foreign = NULL;
  OK(tile_stream_event_create(other, &foreign, &error));
  OK(tile_stream_event_record(foreign, NULL, &error));
  REFUSED(tile_stream_event_elapsed_ms(start, foreign, &ms, &error), TILE_ERROR_USAGE, "the two events are of two devices");
  tile_stream_event_destroy(foreign);
  tile_device_close(other);
  tile_stream_event_destroy(start);
  tile_stream_event_destroy(end);
  OK(tile_stream_destroy(b.d, one, &error));
  OK(tile_stream_destroy(b.d, two, &error));
  OK(tile_stream_destroy(b.d, NULL, &error));
  assert_int_not_equal(tile_stream_destroy(b.d, &b, NULL), TILE_OK);
  close_bench(&b);
}
TEST(streams_on_sim) { streams("sim"); }
TEST(streams_on_interp) {
  streams("interp");
  tile_device *d = case_device("interp");
  REFUSED(tile_stream_destroy(d, (void *)(uintptr_t)16, &error), TILE_ERROR_USAGE,
          "0x10 is no stream that tile_stream_create made");
  tile_device_close(d);
}

static bool fifth_time(void *user) { return ++*(int *)user >= 5; }

// A launch that would take hours ends soon, and what it wrote stays.
static void stops(const char *spec) {
  int asked = 0;
  tile_hooks hooks = TILE_HOOKS_INIT;
  hooks.user = &asked;
  hooks.should_stop = fifth_time;
  Bench b = open_bench(spec, &hooks, "spin", NULL);
  const int32_t zero = 0;
  int32_t got = 0;
  const uint64_t x = case_buffer(b.d, &zero, 4);
  tile_arg args[] = {tile_arg_pointer(x), tile_arg_int(INT32_MAX)};
  REFUSED(tile_kernel_launch(b.k, NULL, args, 2, &error), TILE_ERROR_CANCELLED,
          "stopped while spin ran: memory has what it wrote until then");
  assert_int_equal(asked, 5);
  OK(tile_memory_download(b.d, &got, x, 4, &error));
  assert_in_range(got, 1, INT32_MAX - 1);
  asked = -1000000;
  args[1] = tile_arg_int(3);
  OK(tile_kernel_launch(b.k, NULL, args, 2, &error));
  OK(tile_device_synchronize(b.d, &error));
  OK(tile_memory_download(b.d, &got, x, 4, &error));
  assert_int_equal(got, 3);
  close_bench(&b);
}
TEST(stops_on_sim) { stops("sim"); }
TEST(stops_on_interp) { stops("interp"); }

// The hooks of a JIT stop its launches.
static void jit_stops(const char *spec) {
  int asked = -1000000;
  tile_device *d = case_device(spec);
  tile_hooks hooks = TILE_HOOKS_INIT;
  hooks.user = &asked;
  hooks.should_stop = fifth_time;
  tile_jit_options o = TILE_JIT_OPTIONS_INIT;
  o.hooks = &hooks;
  o.no_cache = true;
  tile_jit *jit = NULL;
  OK(tile_jit_open_memory(d, "streams.tile", source, sizeof source - 1, &o, &jit, &error));
  const uint64_t x = case_buffer(d, NULL, 16);
  const tile_arg args[] = {tile_arg_array(x, TILE_INT32), tile_arg_int(INT32_MAX)};
  OK(tile_jit_prepare(case_kernel(jit, "spin"), NULL, args, 2, NULL, &error));
  asked = 0;
  REFUSED(tile_jit_launch(case_kernel(jit, "spin"), NULL, args, 2, &error), TILE_ERROR_CANCELLED, "stopped while spin ran");
  tile_jit_close(jit);
  tile_device_close(d);
}
TEST(jit_stops_on_sim) { jit_stops("sim"); }
TEST(jit_stops_on_interp) { jit_stops("interp"); }

TEST(lost) {
  Bench b = open_bench("sim", NULL, "fails", NULL);
  const uint64_t x = case_buffer(b.d, NULL, 64);
  const tile_arg args[] = {tile_arg_pointer(x)};
  REFUSED(tile_kernel_launch(b.k, NULL, args, 1, &error), TILE_ERROR_RUN, "streams.tile:11");
  const char *says = "the context of sim:0 is lost since a kernel failed (launching fails on a grid of 1 x 1 x 1";
  uint64_t y;
  REFUSED(tile_kernel_launch(b.k, NULL, args, 1, &error), TILE_ERROR_DRIVER, says);
  REFUSED(tile_memory_alloc(b.d, 64, &y, &error), TILE_ERROR_DRIVER, says);
  REFUSED(tile_device_synchronize(b.d, &error), TILE_ERROR_DRIVER, "close the device and open it anew");
  tile_device *second = case_device("sim");   // while the first holds the context
  REFUSED(tile_memory_alloc(second, 64, &y, &error), TILE_ERROR_DRIVER, "before the device was opened");
  tile_device_close(second);
  close_bench(&b);
  tile_device *again = case_device("sim");
  OK(tile_memory_alloc(again, 64, &y, &error));
  OK(tile_memory_free(again, y, &error));
  tile_device_close(again);
  b = open_bench("interp", NULL, "fails", NULL);
  REFUSED(tile_kernel_launch(b.k, NULL, args, 1, &error), TILE_ERROR_RUN, "out-of-bounds");
  OK(tile_memory_alloc(b.d, 64, &y, &error));
  close_bench(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(counts), cmocka_unit_test(properties), cmocka_unit_test(memory_on_sim),
      cmocka_unit_test(memory_on_interp), cmocka_unit_test(streams_on_sim), cmocka_unit_test(streams_on_interp),
      cmocka_unit_test(stops_on_sim), cmocka_unit_test(stops_on_interp), cmocka_unit_test(jit_stops_on_sim),
      cmocka_unit_test(jit_stops_on_interp), cmocka_unit_test(lost)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
