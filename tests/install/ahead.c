/* Two kernels that tile_add_kernels compiled, one of them for two signatures; the package beside them holds the same. */
#include <stdio.h>

#include "ahead_kernels.h"

enum { N = 1000 };

static int fail(tile_error *error) {
  fprintf(stderr, "%s\n", tile_error_message(error));
  return 1;
}

int main(int argc, char **argv) {
  tile_error *e = NULL;
  tile_device *device;
  tile_family *add, *scaled;
  tile_package *package;
  uint64_t x, out;
  static float data[N + 4];
  const uint32_t add_grid[3] = {(N + add_BLOCK - 1) / add_BLOCK, 1, 1}, scale_grid[3] = {(N + 127) / 128, 1, 1};
  if (tile_device_open("sim", &device, &e) || add_load(device, &add, &e) || scale_load(device, &scaled, &e)) return fail(e);
  if (tile_family_num_kernels(add) != 2 || tile_family_num_args(scaled) != 3) return 2;
  for (int i = 0; i < N; i++) data[i] = (float)i;
  if (tile_memory_alloc(device, sizeof data, &x, &e) || tile_memory_alloc(device, sizeof data, &out, &e)) return fail(e);
  if (tile_memory_upload(device, x, data, sizeof data, &e)) return fail(e);
  if (add_launch(add, add_grid, NULL, x, x, out, N, &e) || scale_launch(scaled, scale_grid, NULL, out, 0.25f, N, &e)) return fail(e);
  if (add_launch(add, add_grid, NULL, x + 4, x + 4, x + 4, N, &e)) return fail(e);
  if (tile_memory_download(device, data, out, sizeof data, &e)) return fail(e);
  for (int i = 0; i < N; i++)
    if (data[i] != (float)i / 2) return 3;
  if (argc > 1) {
    if (tile_package_open_file(argv[1], &package, &e)) return fail(e);
    tile_family_free(add);
    if (tile_family_load(device, package, "add", &add, &e)) return fail(e);
    tile_package_close(package);
    if (add_launch(add, add_grid, NULL, x, x, out, N, &e)) return fail(e);
  }
  tile_memory_free(device, x, NULL);
  tile_memory_free(device, out, NULL);
  tile_family_free(add);
  tile_family_free(scaled);
  tile_device_close(device);
  puts("ok");
  return 0;
}
