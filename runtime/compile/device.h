// What the compiler adds to runtime/rt's devices: the interpreter, and kernels from compiled programs.
#ifndef TILE_RUNTIME_DEVICE_H
#define TILE_RUNTIME_DEVICE_H

#include "ir/interp.h"
#include "runtime/rt/device.h"
#include "runtime/tile/tile.h"

tile_status device_open_interp(tile_device **device, tile_error **error);
// Who is told of the stops of kernels on the interpreter. Without one it prints the variables at a `breakpoint_if` and
// goes on. With a watcher of ops a kernel prints nothing.
typedef struct {
  bool (*stop)(void *user, const InterpStop *stop);   // as in InterpLaunch
  bool (*watch)(void *user, const InterpStep *step);
  void *user;
} Debugger;
void device_debug_interp(tile_device *device, const Debugger *debugger);

// Describes a compiled kernel without starting it. NULL after an error.
tile_kernel *kernel_describe(tile_device *device, const tile_program *program, const char *name, tile_error **error);

#endif
