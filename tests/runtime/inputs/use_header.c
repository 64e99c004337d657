#include <stdio.h>
#include <tile/rt.h>

#include "add.h"

enum { N = 1000 };

static int failed(tile_status status, tile_error **error) {
  if (status != TILE_OK) printf("%s\n", tile_error_message(*error));
  return status != TILE_OK;
}

int main(void) {
  tile_error *e = NULL;
  tile_device *device;
  tile_family *kernel;
  uint64_t buffers[3];
  static float data[N];
  const uint32_t grid[3] = {4, 1, 1};
  if (failed(tile_device_open(NULL, &device, &e), &e) || failed(add_load(device, &kernel, &e), &e)) return 1;
  for (int i = 0; i < N; i++) data[i] = (float)i;
  for (int i = 0; i < 3; i++)
    if (failed(tile_memory_alloc(device, sizeof data, &buffers[i], &e), &e) || failed(tile_memory_upload(device, buffers[i], data, sizeof data, &e), &e)) return 1;
  if (failed(add_launch(kernel, grid, NULL, buffers[0], buffers[1], buffers[2], N, &e), &e) || failed(tile_device_synchronize(device, &e), &e)) return 1;
  if (failed(tile_memory_download(device, data, buffers[2], sizeof data, &e), &e)) return 1;
  int right = 0;
  for (int i = 0; i < N; i++) right += data[i] == 2 * (float)i;
  printf("%d sums are right\n", right);
  if (add_launch(kernel, grid, NULL, buffers[0] + 4, buffers[1], buffers[2], N, &e) != TILE_OK) printf("refused: %s\n", tile_error_message(e));
  tile_error_free(e);
  e = NULL;
  if (add_launch(kernel, grid, NULL, buffers[0], buffers[1], buffers[2] + 2, N, &e) != TILE_OK) printf("refused: %s\n", tile_error_message(e));
  tile_error_free(e);
  e = NULL;
  tile_family_free(kernel);
  if (tile_family_load_memory(device, add_image, sizeof add_image - 1, "add", &kernel, &e) != TILE_OK) printf("refused: %s\n", tile_error_message(e));
  tile_error_free(e);
  for (int i = 0; i < 3; i++) tile_memory_free(device, buffers[i], NULL);
  tile_device_close(device);
  return 0;
}
