// `tilec jit-worker`: compiles one variant, or only reads a source, for an isolated JIT in another process.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runtime/compile/compile.h"
#include "runtime/jit/jit.h"
#include "runtime/jit/wire.h"

static const tile_source_range *take_map(WireReader *r, size_t *n) {
  *n = wire_take_u64(r);
  if (*n > r->left) r->bad = true, *n = 0;
  tile_source_range *map = arena_array(r->arena, tile_source_range, *n + 1);
  for (size_t i = 0; i < *n; i++) {
    map[i].first_line = (uint32_t)wire_take_u64(r), map[i].file_line = (uint32_t)wire_take_u64(r);
    map[i].file = wire_take_text(r);
  }
  return map;
}

// What the host's log gets: a level and a text each, as in the answer.
typedef struct { Buf texts; uint64_t count; } Log;

static void keep_message(void *user, tile_level level, const char *text) {
  Log *log = user;
  log->count++;
  wire_put_u64(&log->texts, level);
  wire_put_text(&log->texts, text);
}

static tile_status answer_request(WireReader *r, Arena *a, Log *log, const char **ptx, const char **files,
                                  tile_error **error) {
  if (wire_take_u64(r) != WIRE_REQUEST)
    return error_set(error, TILE_ERROR_USAGE, "standard input holds no request of a JIT");
  const char *version = wire_take_text(r), *arch = wire_take_text(r), *path = wire_take_text(r);
  if (strcmp(version, tile_version()))
    return error_set(error, TILE_ERROR_USAGE, "this tilec is version %s and the library is %s", tile_version(),
                     version);
  size_t size;
  const char *text = wire_take_bytes(r, &size);
  tile_jit_options o = TILE_JIT_OPTIONS_INIT;
  const tile_hooks hooks = {.struct_size = sizeof hooks, .user = log, .log = keep_message};
  o.no_cache = true;
  o.hooks = &hooks;
  o.options = wire_take_texts(r, &o.num_options);
  o.source_map = take_map(r, &o.num_source_map);
  o.include_paths = wire_take_texts(r, &o.num_include_paths);
  const char *name = wire_take_text(r);
  const bool only_reads = !*name;
  WireLaunch launch = {0};
  if (!only_reads) wire_take_launch(r, &launch);
  if (r->bad)
    return error_set(error, TILE_ERROR_USAGE, "the request of the JIT is damaged");
  // Nothing runs here: of a device only the architecture is looked at.
  tile_device device = {.kind = "gpu", .arch = arch, .hooks = TILE_HOOKS_INIT};
  tile_jit *jit;
  tile_jit_kernel *k;
  tile_status status = tile_jit_open_memory(&device, path, text, size, &o, &jit, error);
  if (status != TILE_OK) return status;
  if (only_reads) return tile_jit_close(jit), TILE_OK;
  status = tile_jit_get_kernel(jit, name, &k, error);
  if (status == TILE_OK && k->num_params != launch.num_args)
    status = error_set(error, TILE_ERROR_USAGE, "the request of the JIT has %u arguments", launch.num_args);
  const Request request = {k, NULL, &launch.options, launch.args, NULL};
  if (status == TILE_OK) status = jit_compile_ptx(&request, launch.config, a, ptx, files, error);
  tile_jit_close(jit);
  return status;
}

static bool read_all(int fd, Buf *b) {
  char chunk[4096];
  for (;;) {
    ssize_t n = read(fd, chunk, sizeof chunk);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n == 0;
    buf_write(b, chunk, (size_t)n);
  }
}

int jit_worker_main(Arena *arena) {
  Buf in = buf_make(arena), out = buf_make(arena);
  tile_error *error = NULL;
  const char *ptx = "", *files = "";
  tile_status status = read_all(STDIN_FILENO, &in)
                           ? TILE_OK
                           : error_set(&error, TILE_ERROR_FILE, "the request of the JIT cannot be read");
  WireReader r = {buf_str(&in), in.size, arena, false};
  Log log = {.texts = buf_make(arena)};
  if (status == TILE_OK) status = answer_request(&r, arena, &log, &ptx, &files, &error);
  wire_put_u64(&out, WIRE_ANSWER);
  wire_put_u64(&out, status);
  wire_put_text(&out, status == TILE_OK ? ptx : tile_error_message(error));
  wire_put_text(&out, files);
  tile_resource resource = TILE_RESOURCE_NONE;
  uint64_t needed = 0, limit = 0;
  tile_error_resource(error, &resource, &needed, &limit);
  wire_put_u64(&out, resource), wire_put_u64(&out, needed), wire_put_u64(&out, limit);
  tile_error_free(error);
  wire_put_u64(&out, log.count);
  buf_write(&out, buf_str(&log.texts), log.texts.size);
  return fwrite(buf_str(&out), 1, out.size, stdout) == out.size && fflush(stdout) == 0 ? 0 : TILE_ERROR_FILE;
}
