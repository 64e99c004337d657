// Checks the occupancy hint (`.minnctapersm`) against what the assembler made of it. The compiler guesses how many
// registers a kernel needs; where the guess is too low the assembler spills, which costs far more than a resident
// block.
#include <stdlib.h>

#include "runtime/compile/compile.h"
#include "runtime/rt/device.h"

tile_status assemble_checked(AssembleFn *assemble, void *user, Arena *a, const char *ptx, MachineCode *code,
                             tile_error **error) {
  tile_status status = assemble(user, a, ptx, code, error);
  CodeUse use, other_use;
  if (status != TILE_OK || !resources_of_cubin(code->cubin, code->size, NULL, &use)) return status;
  char *text = kernel_with_other_hint(ptx, &use);
  MachineCode other = *code;
  if (text && assemble(user, a, text, &other, NULL) == TILE_OK &&
      resources_of_cubin(other.cubin, other.size, NULL, &other_use) && other_use.local_bytes < use.local_bytes)
    *code = other;
  free(text);
  return TILE_OK;
}
