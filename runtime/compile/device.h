// What the compiler adds to runtime/rt's devices: the interpreter, and kernels from compiled programs.
#ifndef TILE_RUNTIME_DEVICE_H
#define TILE_RUNTIME_DEVICE_H

#include "runtime/rt/device.h"
#include "runtime/tile/tile.h"

tile_status device_open_interp(tile_device **device, tile_error **error);

// Describes a compiled kernel without starting it. NULL after an error.
tile_kernel *kernel_describe(tile_device *device, const tile_program *program, const char *name, tile_error **error);

#endif
