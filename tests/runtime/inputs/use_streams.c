/* Streams, events, waiting that the host stops, and a kernel that fails, over the stub driver. argv[1]: what to do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tile/tile.h"

#define SOURCE "@kernel\ndef k(x: *i32):\n    store(x, 1)\n"

static tile_device *device;
static tile_kernel *kernel;
static int asked, patience = 1 << 30;

static bool should_stop(void *user) { (void)user; return ++asked > patience; }

/* Prints the first line of what went wrong. */
static int said(const char *what, tile_status status, tile_error *error) {
  const char *text = tile_error_message(error);
  printf("%s: %s%s%.*s\n", what, tile_status_name(status), *text ? ": " : "", (int)strcspn(text, "\n"), text);
  tile_error_free(error);
  return status;
}
#define SAY(what, call) do { tile_error *error = NULL; tile_status s_ = (call); said(what, s_, error); } while (0)
#define MUST(call) do { tile_error *error = NULL; tile_status s_ = (call); if (s_) exit(said(#call, s_, error)); } while (0)

static void open_all(bool with_hooks) {
  tile_program *p = NULL;
  tile_hooks hooks = TILE_HOOKS_INIT;
  tile_device_options o = TILE_DEVICE_OPTIONS_INIT;
  hooks.should_stop = should_stop;
  if (with_hooks) o.hooks = &hooks;
  MUST(tile_device_open_with("gpu", &o, &device, &error));
  MUST(tile_compile_memory("k.tile", SOURCE, sizeof SOURCE - 1, NULL, &p, &error));
  MUST(tile_kernel_load(device, p, NULL, &kernel, &error));
  tile_program_free(p);
}

static void launch(void *stream) {
  tile_launch_options o = TILE_LAUNCH_OPTIONS_INIT;
  tile_arg arg = tile_arg_pointer(4096);
  o.stream = stream;
  MUST(tile_kernel_launch(kernel, &o, &arg, 1, &error));
}

static void streams(void) {
  void *stream = NULL, *pinned = NULL;
  tile_stream_event *start = NULL, *end = NULL;
  uint64_t x = 0, y = 0, left = 0, all = 0;
  double ms = 0;
  bool done = true, event_done = true;
  int got[2] = {0, 0};
  open_all(false);
  MUST(tile_memory_info(device, &left, &all, &error));
  MUST(tile_stream_create(device, &stream, &error));
  MUST(tile_stream_event_create(device, &start, &error));
  MUST(tile_stream_event_create(device, &end, &error));
  MUST(tile_memory_alloc(device, 8, &x, &error));
  MUST(tile_memory_alloc(device, 8, &y, &error));
  MUST(tile_memory_alloc_host(device, 8, &pinned, &error));
  memcpy(pinned, "abcdefg", 8);
  MUST(tile_stream_event_record(start, stream, &error));
  launch(stream);
  MUST(tile_stream_event_record(end, stream, &error));
  MUST(tile_stream_query(device, stream, &done, &error));
  MUST(tile_stream_event_query(end, &event_done, &error));
  printf("busy: %d %d\n", !done, !event_done);
  MUST(tile_memory_upload_async(device, x, pinned, 8, stream, &error));
  MUST(tile_memory_copy_async(device, y, x, 8, stream, &error));
  MUST(tile_memory_set_async(device, y + 4, 7, 4, 1, stream, &error));
  MUST(tile_memory_download_async(device, got, y, 8, stream, &error));
  MUST(tile_stream_wait_event(device, NULL, end, &error));
  MUST(tile_stream_event_synchronize(end, &error));
  MUST(tile_stream_synchronize(device, stream, &error));
  MUST(tile_stream_query(device, stream, &done, &error));
  MUST(tile_stream_event_elapsed_ms(start, end, &ms, &error));
  printf("done: %d, %.4s %d, at least 50 ms: %d, free %llu of %llu GB\n", done, (char *)got, got[1], ms > 49,
         (unsigned long long)(left >> 30), (unsigned long long)(all >> 30));
  tile_stream_event_destroy(start);
  tile_stream_event_destroy(end);
  MUST(tile_stream_destroy(device, stream, &error));
  MUST(tile_memory_free_host(device, pinned, &error));
  MUST(tile_memory_free(device, x, &error));
  MUST(tile_memory_free(device, y, &error));
}

static void stops(void) {
  tile_stream_event *end = NULL;
  open_all(true);
  MUST(tile_stream_event_create(device, &end, &error));
  launch(NULL);
  MUST(tile_stream_event_record(end, NULL, &error));
  asked = 0, patience = 3;
  SAY("device", tile_device_synchronize(device, &error));
  asked = 0;
  SAY("stream", tile_stream_synchronize(device, NULL, &error));
  asked = 0;
  SAY("event", tile_stream_event_synchronize(end, &error));
  printf("asked %d times\n", asked);
  patience = 1 << 30;
  SAY("device", tile_device_synchronize(device, &error));
  SAY("stream", tile_stream_synchronize(device, NULL, &error));
  tile_stream_event_destroy(end);
}

static void fails(void) {
  uint64_t x;
  tile_arg arg = tile_arg_pointer(4096);
  open_all(false);
  launch(NULL);
  SAY("first", tile_device_synchronize(device, &error));
  SAY("again", tile_device_synchronize(device, &error));
  SAY("alloc", tile_memory_alloc(device, 8, &x, &error));
  SAY("launch", tile_kernel_launch(kernel, NULL, &arg, 1, &error));
  tile_kernel_free(kernel);
  tile_device_close(device);
  open_all(false);
  SAY("anew", tile_device_synchronize(device, &error));
}

int main(int argc, char **argv) {
  (void)argc;
  if (!strcmp(argv[1], "streams")) streams();
  if (!strcmp(argv[1], "stops")) stops();
  if (!strcmp(argv[1], "fails")) fails();
  tile_kernel_free(kernel);
  tile_device_close(device);
  return 0;
}
