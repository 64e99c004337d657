/* What a program outside of the repository does: C11 and C++ both compile this. */
#include <stdio.h>
#include <string.h>

#include <tile/tile.h>

static const char source[] =
    "@kernel\n"
    "def scale(x: *fp32, n: i32, BLOCK: constexpr = 128):\n"
    "    offs = program_id(0) * BLOCK + arange(0, BLOCK)\n"
    "    store(x + offs, load(x + offs, offs < n) * 2.0, offs < n)\n";

static int fail(tile_error *error) {
  fprintf(stderr, "%s\n", tile_error_message(error));
  tile_error_free(error);
  return 1;
}

int main(void) {
  tile_error *error = NULL;
  tile_program *program;
  tile_device *device;
  tile_kernel *kernel;
  tile_compile_options options = TILE_COMPILE_OPTIONS_INIT;
  tile_launch_options launch = TILE_LAUNCH_OPTIONS_INIT;
  float data[200];
  uint64_t address;
  tile_arg args[2];
  int i;
  /* An error comes back as an object, with its place. */
  if (tile_compile_memory("bad.tile", "@kernel\ndef f(:\n", 16, NULL, &program, &error) != TILE_ERROR_PROGRAM) return 2;
  tile_diagnostic said = TILE_DIAGNOSTIC_INIT;
  if (!tile_error_get_diagnostic(error, 0, &said) || said.line != 2) return 3;
  tile_error_free(error);
  error = NULL;

  if (tile_compile_memory("scale.tile", source, strlen(source), &options, &program, &error)) return fail(error);
  if (!strstr(tile_program_output(program, TILE_EMIT_PTX, NULL), ".visible .entry scale")) return 4;
  if (tile_device_open("interp", &device, &error)) return fail(error);
  if (tile_kernel_load(device, program, NULL, &kernel, &error)) return fail(error);
  for (i = 0; i < 200; i++) data[i] = (float)i;
  if (tile_memory_alloc(device, sizeof data, &address, &error)) return fail(error);
  if (tile_memory_upload(device, address, data, sizeof data, &error)) return fail(error);
  launch.grid[0] = 2;
  args[0] = tile_arg_pointer(address);
  args[1] = tile_arg_int(150);
  if (tile_kernel_launch(kernel, &launch, args, 2, &error)) return fail(error);
  if (tile_memory_download(device, data, address, sizeof data, &error)) return fail(error);
  for (i = 0; i < 200; i++)
    if (data[i] != (float)(i < 150 ? 2 * i : i)) return 5;
  /* A wrong argument is refused by name. */
  if (tile_kernel_launch(kernel, &launch, args, 1, &error) != TILE_ERROR_USAGE || !strstr(tile_error_message(error), "takes 2 arguments")) return 6;
  tile_error_free(error);
  error = NULL;
  args[0] = tile_arg_int(1);
  if (tile_kernel_launch(kernel, &launch, args, 2, &error) != TILE_ERROR_USAGE || !strstr(tile_error_message(error), "'x'")) return 7;
  tile_error_free(error);
  tile_kernel_free(kernel);
  tile_program_free(program);
  tile_memory_free(device, address, NULL);
  tile_device_close(device);
  puts("ok");
  return 0;
}
