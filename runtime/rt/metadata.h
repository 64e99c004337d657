// A kernel's description out of its metadata.
#ifndef TILE_RUNTIME_RT_METADATA_H
#define TILE_RUNTIME_RT_METADATA_H

#include "runtime/rt/device.h"
#include "runtime/rt/json_reader.h"

extern const char *const param_kind_names[NUM_PARAM_KINDS];

// NULL after an error. The kernel's code is not set. device may be NULL: then the kernel can only be looked at.
tile_kernel *kernel_from_metadata(tile_device *device, const JsonValue *json,
                                  tile_error **error); // one object of "kernels"
// name NULL: the only kernel of the JSON that --emit=json writes.
tile_kernel *kernel_from_json(tile_device *device, const char *json, size_t size, const char *name, tile_error **error);
// Bytes of the leading comments that hold the metadata; 0: there are none.
size_t metadata_size_in_ptx(Arena *a, const char *ptx, size_t size);

#endif
