// What a JIT reads from other processes: entries of the cache, the tuner's JSON, launches on their way to a compiler
// process. The first byte chooses the reader.
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/jit/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { N = 64, MAX_FILE = 1 << 16, PATH_BYTES = 256 };

static const char source[] =
    "import triton\nimport triton.language as tl\n"
    "@triton.autotune([triton.Config({'B': 32}), triton.Config({'B': 64}, num_warps=1)], key=['n'])\n"
    "@triton.jit\n"
    "def add(x, y, n, B: tl.constexpr):\n"
    "    o = tl.program_id(0) * B + tl.arange(0, B)\n"
    "    tl.store(y + o, tl.load(x + o, o < n), o < n)\n";

// As in runtime/jit/cache.c.
typedef struct {
  char magic[8];
  uint32_t format, reserved;
  uint64_t key_size, payload_size, key_sum, payload_sum;
} Header;

// A folder in memory with one entry, whose key is kept; and a file for results of tuning.
static struct {
  tile_device *device;
  uint64_t buffer;
  char folder[PATH_BYTES], entry[PATH_BYTES], results[PATH_BYTES];
  Header header;
  char *key, *payload;
  bool compiles;
} bench;

static void must(bool ok) {
  if (!ok) abort();
}
static void notice(void *user, const tile_event *e) {
  (void)user;
  if (e->kind == TILE_EVENT_COMPILE_BEGIN) bench.compiles = true;
}
static bool stop_compiling(void *user) { return user && bench.compiles; }
static void discard(void *user, tile_level level, const char *text) { (void)user, (void)level, (void)text; }

static tile_jit *open_jit(bool may_compile, tile_tune_mode tune, tile_error **error) {
  const tile_hooks hooks = {.struct_size = sizeof hooks, .user = may_compile ? NULL : &bench, .event = notice,
                            .should_stop = stop_compiling, .log = discard};
  tile_jit_options o = TILE_JIT_OPTIONS_INIT;
  o.cache_dir = bench.folder, o.tune = tune, o.tune_file = bench.results, o.hooks = &hooks;
  tile_jit *jit = NULL;
  bench.compiles = false;
  tile_jit_open_memory(bench.device, "fuzz.py", source, sizeof source - 1, &o, &jit, error);
  return jit;
}

static void launch(tile_jit *jit, tile_error **error) {
  tile_jit_kernel *k;
  must(tile_jit_get_kernel(jit, NULL, &k, error) == TILE_OK);
  tile_jit_launch_options o = TILE_JIT_LAUNCH_OPTIONS_INIT;
  const tile_arg args[] = {tile_arg_array(bench.buffer, TILE_FP32), tile_arg_array(bench.buffer + N * 4, TILE_FP32),
                           tile_arg_int(N), tile_arg_int(32)};
  tile_jit_launch(k, &o, args, 4, error);
}

static void write_file(const char *path, const void *head, size_t head_size, const void *rest, size_t size) {
  FILE *f = fopen(path, "wb");
  must(f && fwrite(head, 1, head_size, f) == head_size && fwrite(rest, 1, size, f) == size);
  fclose(f);
}

static void remove_files(void) {
  unlink(bench.entry), unlink(bench.results);
  *strrchr(bench.entry, '/') = 0;
  rmdir(bench.entry);
  snprintf(bench.results, PATH_BYTES, "%s/trimmed", bench.folder);
  unlink(bench.results), rmdir(bench.folder);
}

static void open_device(void) {
  const char zeros[2 * N * 4] = {0};
  must(tile_device_open("sim", &bench.device, NULL) == TILE_OK &&
       tile_memory_alloc(bench.device, sizeof zeros, &bench.buffer, NULL) == TILE_OK &&
       tile_memory_upload(bench.device, bench.buffer, zeros, sizeof zeros, NULL) == TILE_OK);
}

// Compiles the kernel once, for the entry that this makes.
static void start(void) {
  tile_error *error = NULL;
  struct stat st;
  snprintf(bench.folder, PATH_BYTES, "%s/fuzz_jit.XXXXXX", stat("/dev/shm", &st) ? "/tmp" : "/dev/shm");
  must(mkdtemp(bench.folder));
  snprintf(bench.results, PATH_BYTES, "%s/results.json", bench.folder);
  setenv("TILE_SIM_MAX_STEPS", "2000", 1);
  open_device();
  tile_jit *jit = open_jit(true, TILE_TUNE_OFF, &error);
  must(jit);
  launch(jit, &error);
  tile_jit_close(jit);
  glob_t found;
  char pattern[PATH_BYTES + 16];
  snprintf(pattern, sizeof pattern, "%s/*/*.tilebin", bench.folder);
  must(!error && !glob(pattern, 0, NULL, &found) && found.gl_pathc == 1);
  snprintf(bench.entry, PATH_BYTES, "%s", found.gl_pathv[0]);
  globfree(&found);
  FILE *f = fopen(bench.entry, "rb");
  must(f && fread(&bench.header, sizeof bench.header, 1, f) == 1);
  bench.key = malloc(bench.header.key_size);
  must(fread(bench.key, bench.header.key_size, 1, f) == 1);
  bench.payload = malloc(bench.header.payload_size);
  must(fread(bench.payload, bench.header.payload_size, 1, f) == 1);
  // What the entry holds, to begin with: TILE_FUZZ_ENTRY names a file for it.
  const char *to = getenv("TILE_FUZZ_ENTRY"), unchanged[sizeof(Header) + 1] = {0};
  if (to) write_file(to, unchanged, sizeof unchanged, bench.payload, bench.header.payload_size);
  fclose(f);
  atexit(remove_files);
}

// The header is the right one, changed by the input's first bytes: zeros lead on to the payload.
static void read_entry(const uint8_t *data, size_t size, tile_error **error) {
  Header h = bench.header;
  const size_t changed = size < sizeof h ? size : sizeof h;
  h.payload_size = size - changed;
  h.payload_sum = cache_hash(data + changed, size - changed, 4);
  char *head = malloc(sizeof h + h.key_size);
  memcpy(head, &h, sizeof h);
  memcpy(head + sizeof h, bench.key, h.key_size);
  for (size_t i = 0; i < changed; i++) head[i] ^= (char)data[i];
  write_file(bench.entry, head, sizeof h + h.key_size, data + changed, size - changed);
  tile_jit *jit = open_jit(false, TILE_TUNE_OFF, error);
  must(jit);
  launch(jit, error);
  tile_jit_close(jit);
  const bool is_whole = h.payload_size == bench.header.payload_size && !memcmp(head, &h, sizeof h) &&
                        !memcmp(data + changed, bench.payload, h.payload_size);
  must(!is_whole || (!*error && !bench.compiles));
  free(head);
  if (!*error) return;
  tile_device_close(bench.device);   // a kernel that failed leaves a device that is lost
  open_device();
}

// Results read from the file survive when one is added and the file is written again.
static void read_results(const uint8_t *data, size_t size, tile_error **error) {
  write_file(bench.results, "", 0, data, size);
  tile_jit *jit = open_jit(false, TILE_TUNE_SAVED, error);
  if (jit) {
    tile_jit_kernel *k;
    must(tile_jit_get_kernel(jit, NULL, &k, error) == TILE_OK);
    must(jit_keep_result(k, "the key", 1, 0.5, error) == TILE_OK);
    uint32_t n = 0, again = 0;
    for (const TuneResult *r = jit->results; r; r = r->next) n++;
    tile_jit_close(jit);
    must((jit = open_jit(false, TILE_TUNE_SAVED, error)) != NULL);
    must(tile_jit_get_kernel(jit, NULL, &k, error) == TILE_OK && jit_find_result(k, "the key") == 1);
    for (const TuneResult *r = jit->results; r; r = r->next) again++;
    must(n == again);
    tile_jit_close(jit);
  }
  unlink(bench.results);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 1 || size > MAX_FILE) return 0;
  if (!bench.device) start();
  tile_error *error = NULL;
  if (data[0] % 3 == 0) {
    read_entry(data + 1, size - 1, &error);
  } else if (data[0] % 3 == 1) {
    read_results(data + 1, size - 1, &error);
  } else {
    Arena a;
    arena_init(&a);
    WireReader r = {arena_strndup(&a, (const char *)data + 1, size - 1), size - 1, &a, false};
    WireLaunch l;
    wire_take_launch(&r, &l);
    Buf b = buf_make(&a);
    if (!r.bad) wire_put_launch(&b, &l);
    arena_free(&a);
  }
  tile_error_free(error);
  return 0;
}
