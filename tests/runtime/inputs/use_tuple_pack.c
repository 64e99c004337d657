// A packed kernel whose parameters are tuples: its items one by one by the header's function, and as tuples.
#include <stdio.h>

#include "line.h"

static int failed(tile_error *e) {
  printf("refused: %s\n", tile_error_message(e));
  tile_error_free(e);
  return 1;
}

int main(void) {
  tile_device *d;
  tile_family *f;
  tile_error *e = NULL;
  uint64_t x, y;
  float in[64], out[64];
  for (int i = 0; i < 64; i++) in[i] = (float)i;
  if (tile_device_open(NULL, &d, &e) || tile_memory_alloc(d, sizeof in, &x, &e) || tile_memory_alloc(d, sizeof in, &y, &e)) return failed(e);
  if (tile_memory_upload(d, x, in, sizeof in, &e) || line_load(d, &f, &e)) return failed(e);
  const uint32_t grid[3] = {1, 1, 1};
  if (line_launch(f, grid, NULL, x, 0, 2.0f, 1, 64, y, &e) || tile_device_synchronize(d, &e) || tile_memory_download(d, out, y, sizeof out, &e)) return failed(e);
  printf("%g\n", (double)out[63]);
  for (int factor = 1; factor < 4; factor++) {
    const tile_arg offset_items[] = {tile_arg_int(factor)}, array_items[] = {tile_arg_pointer(x), tile_arg_none()};
    const tile_tuple offset = {offset_items, 1, NULL, 0}, arrays = {array_items, 2, NULL, 0};
    const tile_arg by_items[] = {tile_arg_float(3), tile_arg_tuple(&offset)};
    const tile_tuple by = {by_items, 2, NULL, 0};
    const tile_arg args[] = {tile_arg_tuple(&arrays), tile_arg_tuple(&by), tile_arg_int(64), tile_arg_pointer(y)};
    if (tile_family_launch(f, NULL, args, 4, &e) || tile_device_synchronize(d, &e) || tile_memory_download(d, out, y, sizeof out, &e)) return failed(e);
    tile_kernel *k;
    if (tile_family_select(f, args, 4, &k, &e)) return failed(e);
    printf("%g with %zu arguments\n", (double)out[63], tile_kernel_num_args(k));
  }
  const tile_arg none = tile_arg_none();
  const tile_tuple wrong = {&none, 1, NULL, 0};
  const tile_arg args[] = {tile_arg_tuple(&wrong), tile_arg_tuple(&wrong), tile_arg_int(64), tile_arg_pointer(y)};
  if (tile_family_launch(f, NULL, args, 4, &e)) failed(e);
  tile_family_free(f);
  tile_device_close(d);
  return 0;
}
