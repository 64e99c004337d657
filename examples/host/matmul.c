/* C = A·B by examples/matmul.tile from C. The first launch compiles and times its configurations; the kernels are kept
 * on disk.
 *   cc matmul.c $(pkg-config --cflags --libs libtile) -o matmul && ./matmul ../matmul.tile 4096 */
#include <stdio.h>
#include <stdlib.h>
#include <tile/jit.h>

static tile_error *e; /* of the call that failed */

static void check(tile_status status) {
  if (status == TILE_OK) return;
  fprintf(stderr, "%s\n", tile_error_message(e));
  exit(1);
}

static void grid_of(void *user, const tile_variant *v, uint32_t grid[3]) {
  int64_t n = *(int64_t *)user;
  int64_t bm = tile_variant_constexpr_int(v, "BM", 1), bn = tile_variant_constexpr_int(v, "BN", 1);
  grid[0] = (uint32_t)((n + bm - 1) / bm * ((n + bn - 1) / bn));
}

int main(int argc, char **argv) {
  tile_device *device;
  tile_jit *jit;
  tile_jit_kernel *matmul;
  int64_t n = argc > 2 ? atoll(argv[2]) : 64;
  size_t bytes = (size_t)(n * n) * 2, sizes[3] = {bytes, bytes, bytes};
  uint64_t matrix[3];
  tile_jit_options options = TILE_JIT_OPTIONS_INIT;
  options.tune = TILE_TUNE_ON;
  check(tile_device_open(NULL, &device, &e));
  check(tile_jit_open_file(device, argc > 1 ? argv[1] : "matmul.tile", &options, &jit, &e));
  check(tile_jit_get_kernel(jit, "matmul_kernel", &matmul, &e));
  uint16_t *host = malloc(bytes);
  for (size_t i = 0; i < bytes / 2; i++) host[i] = 0x3c00; /* 1.0 */
  for (int i = 0; i < 3; i++) {
    check(tile_memory_alloc(device, bytes, &matrix[i], &e));
    check(tile_memory_upload(device, matrix[i], host, bytes, &e));
  }
  tile_arg args[12];
  for (int i = 0; i < 3; i++) args[i] = tile_arg_array(matrix[i], TILE_FP16);
  for (int i = 0; i < 3; i++) {
    args[3 + i] = args[6 + 2 * i] = tile_arg_int(n);
    args[7 + 2 * i] = tile_arg_int(1);
  }
  tile_jit_launch_options launch = TILE_JIT_LAUNCH_OPTIONS_INIT;
  launch.grid_fn = grid_of, launch.grid_user = &n, launch.arg_bytes = sizes, launch.num_arg_bytes = 3;
  check(tile_jit_launch(matmul, &launch, args, 12, &e));
  check(tile_device_synchronize(device, &e));
  check(tile_memory_download(device, host, matrix[2], bytes, &e));
  printf("%s: first element 0x%04x, last 0x%04x\n", tile_device_name(device), host[0], host[bytes / 2 - 1]);
  for (int i = 0; i < 3; i++) check(tile_memory_free(device, matrix[i], &e));
  free(host);
  tile_jit_close(jit);
  tile_device_close(device);
}
