/* examples/matmul.tile ahead of time: this program knows libtile-rt and a header that tilec packed, nothing else of tilec. It
 * runs the product, checks it against the host, replays it from a graph, launches it from eight threads, and sees what is
 * refused. On the simulator too, where libtile-sim.so stands in for libcuda.so.1.
 *   tilec pack examples/matmul.tile -n matmul_kernel --arch=sm_80,sm_90a -o matmul.h -s "SIGNATURE" -s "LOOSER SIGNATURE"
 *   cc -O2 -I. aot_matmul.c -ltile-rt -lpthread -ldl -o aot_matmul && ./aot_matmul 4096 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "matmul.h"

enum { NUM_THREADS = 8, REPLAYS = 3 };
static int failures;

static int ok(tile_status status, tile_error **error, const char *what) {
  if (status == TILE_OK) return 1;
  printf("FAILED: %s: %s\n", what, tile_error_message(*error));
  tile_error_free(*error);
  *error = NULL;
  failures++;
  return 0;
}

static void refused(tile_status status, tile_error **error, const char *what, const char *says) {
  int right = status != TILE_OK && strstr(tile_error_message(*error), says);
  printf("%s: %s: %s\n", right ? "refused" : "FAILED", what, status == TILE_OK ? "it was taken" : tile_error_message(*error));
  failures += !right;
  tile_error_free(*error);
  *error = NULL;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Small integers are exact in fp16: element i of a matrix. */
static int value(size_t i, int seed) { return (int)((i * 2654435761u + (size_t)seed * 40503u) >> 7 & 3) - 1; }
static uint16_t half(int v) { return (uint16_t)(v == 0 ? 0 : v == 1 ? 0x3c00 : v == 2 ? 0x4000 : 0xbc00); }

typedef struct { tile_device *device; tile_family *family; uint64_t a, b, c; int32_t n; size_t bytes; } Product;

static tile_status launch(const Product *p, void *stream, uint64_t c, tile_error **error) {
  tile_arg args[12] = {tile_arg_pointer(p->a), tile_arg_pointer(p->b), tile_arg_pointer(c)};
  for (int i = 0; i < 3; i++) args[3 + i] = tile_arg_int(p->n), args[6 + 2 * i] = tile_arg_int(p->n), args[7 + 2 * i] = tile_arg_int(1);
  tile_kernel *kernel;
  tile_status status = tile_family_select(p->family, args, 12, &kernel, error);
  if (status != TILE_OK) return status;
  const int32_t bm = atoi(tile_kernel_constexpr(kernel, "BM")), bn = atoi(tile_kernel_constexpr(kernel, "BN"));
  const uint32_t grid[3] = {(uint32_t)((p->n + bm - 1) / bm * ((p->n + bn - 1) / bn)), 1, 1};
  return matmul_kernel_launch(p->family, grid, stream, p->a, p->b, c, p->n, p->n, p->n, p->n, 1, p->n, 1, p->n, 1, error);
}

/* Elements of c against the host's product. */
static void check(const Product *p, uint64_t c, const char *what) {
  tile_error *error = NULL;
  size_t n = (size_t)p->n;
  uint16_t *got = malloc(p->bytes);
  if (!ok(tile_device_synchronize(p->device, &error), &error, what) || !ok(tile_memory_download(p->device, got, c, p->bytes, &error), &error, what)) {
    free(got);
    return;
  }
  size_t wrong = 0, tried = 0;
  for (size_t i = 0; i < n; i += n > 256 ? 37 : 1)
    for (size_t j = 0; j < n; j += n > 256 ? 41 : 1, tried++) {
      long sum = 0;
      for (size_t k = 0; k < n; k++) sum += (long)value(i * n + k, 1) * value(k * n + j, 2);
      _Float16 want = (_Float16)(float)sum;
      wrong += memcmp(&want, &got[i * n + j], 2) != 0;
    }
  printf("%s: %s: %zu of %zu elements are right\n", wrong ? "FAILED" : "ok", what, tried - wrong, tried);
  failures += wrong != 0;
  free(got);
}

typedef struct { const Product *p; uint64_t c; int failed; } Work;
static void *work(void *user) {
  Work *w = user;
  for (int i = 0; i < 4; i++) w->failed |= launch(w->p, NULL, w->c, NULL) != TILE_OK;
  return NULL;
}

static void threads(const Product *p) {
  pthread_t ids[NUM_THREADS];
  Work works[NUM_THREADS];
  for (int i = 0; i < NUM_THREADS; i++) {
    works[i] = (Work){p, 0, 0};
    if (tile_memory_alloc(p->device, p->bytes, &works[i].c, NULL) != TILE_OK) works[i].failed = 1;
    pthread_create(&ids[i], NULL, work, &works[i]);
  }
  for (int i = 0; i < NUM_THREADS; i++) {
    pthread_join(ids[i], NULL);
    failures += works[i].failed;
    if (i == 0 || i == NUM_THREADS - 1) check(p, works[i].c, "one of eight threads");
    tile_memory_free(p->device, works[i].c, NULL);
  }
}

#define DRIVER(name, ...) ((int (*)(__VA_ARGS__))dlsym(driver, name))
static void graph(const Product *p) {
  tile_error *error = NULL;
  void *driver = dlopen("libcuda.so.1", RTLD_NOW), *stream = NULL, *g = NULL, *exec = NULL, *context = NULL;
  uint64_t c;
  /* The primary context, which the device uses too. */
  if (!driver || DRIVER("cuDevicePrimaryCtxRetain", void **, int)(&context, 0) || DRIVER("cuCtxSetCurrent", void *)(context) || tile_memory_alloc(p->device, p->bytes, &c, NULL)) {
    printf("FAILED: no driver for the graph\n");
    failures++;
    return;
  }
  uint16_t *zeros = calloc(1, p->bytes);
  int r = DRIVER("cuStreamCreate", void **, unsigned)(&stream, 1);
  if (!r) r = DRIVER("cuStreamBeginCapture_v2", void *, int)(stream, 0);
  ok(launch(p, stream, c, &error), &error, "launch inside of a capture");
  if (!r) r = DRIVER("cuStreamEndCapture", void *, void **)(stream, &g);
  if (!r) r = DRIVER("cuGraphInstantiateWithFlags", void **, void *, uint64_t)(&exec, g, 0);
  for (int i = 0; i < REPLAYS && !r; i++) {
    tile_memory_upload(p->device, c, zeros, p->bytes, NULL);
    r = DRIVER("cuGraphLaunch", void *, void *)(exec, stream);
    if (!r) r = DRIVER("cuStreamSynchronize", void *)(stream);
    if (!r) check(p, c, "replayed from a graph");
  }
  if (r) printf("FAILED: the driver's graph functions return %d\n", r), failures++;
  if (exec) DRIVER("cuGraphExecDestroy", void *)(exec);
  if (g) DRIVER("cuGraphDestroy", void *)(g);
  if (stream) DRIVER("cuStreamDestroy_v2", void *)(stream);
  tile_memory_free(p->device, c, NULL);
  DRIVER("cuCtxSetCurrent", void *)(NULL);
  DRIVER("cuDevicePrimaryCtxRelease_v2", int)(0);
  free(zeros);
}

static void bad_input(Product *p) {
  tile_error *error = NULL;
  const uint32_t huge[3] = {1, 70000, 1};
  refused(launch(p, NULL, p->c + 1, &error), &error, "an odd address", "argument 'c' (*fp16) was compiled for addresses divisible by 2");
  refused(matmul_kernel_launch(p->family, huge, NULL, p->a, p->b, p->c, p->n, p->n, p->n, p->n, 1, p->n, 1, p->n, 1, &error), &error, "a large grid", "at most 65535");
  const tile_arg three[] = {tile_arg_pointer(p->a), tile_arg_pointer(p->b), tile_arg_pointer(p->c)};
  refused(tile_family_launch(p->family, NULL, three, 3, &error), &error, "three arguments", "takes 12 arguments, got 3");
}

static char *read_file(const char *path, size_t *size) {
  FILE *f = fopen(path, "rb");
  char *text = calloc(1, 1 << 20);
  *size = f && text ? fread(text, 1, (1 << 20) - 1, f) : 0;
  if (f) fclose(f);
  return text;
}

/* DIR has a package for sm_100a alone, machine code and metadata for sm_80, PTX that says it is of a later version. */
static void other_devices(const Product *p, const char *dir) {
  tile_error *error = NULL;
  tile_package *package;
  tile_family *family;
  tile_kernel *kernel;
  char path[512];
  size_t size, json_size;
  snprintf(path, sizeof path, "%s/sm_100a.tilepack", dir);
  if (ok(tile_package_open_file(path, &package, &error), &error, path)) {
    refused(tile_family_load(p->device, package, NULL, &family, &error), &error, "a package for another architecture", "the package has code for sm_100a, and ");
    tile_package_close(package);
  }
  snprintf(path, sizeof path, "%s/sm_80.json", dir);
  char *json = read_file(path, &json_size);
  snprintf(path, sizeof path, "%s/sm_80.cubin", dir);
  char *code = read_file(path, &size);
  refused(tile_kernel_load_cubin(p->device, code, size, json, json_size, NULL, &kernel, &error), &error, "machine code for another architecture", "machine code for sm_80 alone");
  free(code);
  free(json);
  snprintf(path, sizeof path, "%s/later.ptx", dir);
  code = read_file(path, &size);
  refused(tile_kernel_load_ptx(p->device, code, size, NULL, &kernel, &error), &error, "PTX of a later version", "too old");
  free(code);
  snprintf(path, sizeof path, "%s/broken.ptx", dir);
  code = read_file(path, &size);
  refused(tile_kernel_load_ptx(p->device, code, size, NULL, &kernel, &error), &error, "PTX that is none", "refused the PTX of add");
  free(code);
}

int main(int argc, char **argv) {
  tile_error *error = NULL;
  Product p = {.n = argc > 1 ? atoi(argv[1]) : 128};
  if (!ok(tile_device_open("gpu", &p.device, &error), &error, "opening the device")) return 1;
  printf("%s, %s, libtile-rt %s\n", tile_device_name(p.device), tile_device_arch(p.device), tile_version());
  double start = now();
  if (!ok(matmul_kernel_load(p.device, &p.family, &error), &error, "loading")) return 1;
  printf("loaded %zu variants in %.1f ms\n", tile_family_num_kernels(p.family), (now() - start) * 1e3);
  size_t count = (size_t)p.n * (size_t)p.n;
  p.bytes = count * 2;
  uint16_t *host = malloc(p.bytes);
  uint64_t *const buffers[] = {&p.a, &p.b, &p.c};
  for (int m = 0; m < 3; m++) {
    for (size_t i = 0; i < count; i++) host[i] = half(value(i, m + 1));
    if (!ok(tile_memory_alloc(p.device, p.bytes, buffers[m], &error), &error, "allocating")) return 1;
    ok(tile_memory_upload(p.device, *buffers[m], host, p.bytes, &error), &error, "uploading");
  }
  if (ok(launch(&p, NULL, p.c, &error), &error, "launching")) check(&p, p.c, "the product");
  if (p.n >= 1024) {
    enum { RUNS = 50 };
    start = now();
    for (int i = 0; i < RUNS; i++) launch(&p, NULL, p.c, NULL);
    tile_device_synchronize(p.device, NULL);
    double each = (now() - start) / RUNS;
    printf("%.1f us a launch, %.0f TFLOP/s, caches warm\n", each * 1e6, 2.0 * p.n * p.n * (double)p.n / each * 1e-12);
  }
  threads(&p);
  graph(&p);
  bad_input(&p);
  if (argc > 2) other_devices(&p, argv[2]);
  free(host);
  for (int m = 0; m < 3; m++) tile_memory_free(p.device, *buffers[m], NULL);
  tile_family_free(p.family);
  tile_device_close(p.device);
  printf(failures ? "%d failures\n" : "all right\n", failures);
  return failures != 0;
}
