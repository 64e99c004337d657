// Checks the occupancy hint (`.minnctapersm`) against what the assembler made of it. The compiler guesses how many
// registers a kernel needs; where the guess is too low the assembler spills, which costs far more than a resident block.
#include <string.h>

#include "runtime/compile/compile.h"
#include "runtime/rt/device.h"

static uint32_t local_bytes(const char *cubin, size_t size) {
  CodeUse use;
  return resources_of_cubin(cubin, size, NULL, &use) ? use.local_bytes : 0;
}

tile_status assemble_checked(AssembleFn *assemble, void *user, Arena *a, const char *ptx, const char **cubin,
                             size_t *size, tile_error **error) {
  tile_status status = assemble(user, a, ptx, cubin, size, error);
  const uint32_t frame = status == TILE_OK ? local_bytes(*cubin, *size) : 0;
  if (!frame) return status;
  char *plain = arena_strndup(a, ptx, strlen(ptx));
  const char *other;
  size_t other_size;
  if (kernel_drop_occupancy(plain) && assemble(user, a, plain, &other, &other_size, NULL) == TILE_OK &&
      local_bytes(other, other_size) < frame)
    *cubin = other, *size = other_size;
  return TILE_OK;
}
