// A package: kernels for several architectures and specialisations in one file. runtime/compile/pack.c writes it,
// package.c reads it.
//
//   PackageHeader | code | index
// All numbers little-endian. Each piece of code begins at a multiple of 16, PTX ends with a NUL that its size leaves
// out. The index is JSON:
//   {"tile_package": 1, "compiler": "tilec 0.2.0", "kernels": [
//     {"name": "add", "params": [{"name": "x", "type": "*fp32"}, …],           what a caller passes, in order
//      "variants": [                                                            the first one that fits is taken
//        {"signature": "*fp32:16, …", "targets": [                              one per architecture
//          {"metadata": {…}, "code": [{"kind": "cubin", "offset": 64, "size": 9, "made_by": "ptxas …"},
//                                     {"kind": "ptx", …}]}]}]}]}
// A parameter that a variant's metadata does not have is one of its constexprs: the variant fits if the argument
// equals it.
#ifndef TILE_RUNTIME_RT_PACKAGE_H
#define TILE_RUNTIME_RT_PACKAGE_H

#include "runtime/rt/device.h"

enum { PACKAGE_FORMAT = 1, PACKAGE_ALIGN = 16 };
typedef struct {
  char magic[8];               // PACKAGE_MAGIC
  uint32_t format, header_size;
  uint64_t file_size, index_offset, index_size;
  uint64_t checksum;           // of everything after the header
  uint64_t reserved[2];
} PackageHeader;
#define PACKAGE_MAGIC "TILEPACK"
_Static_assert(sizeof(PackageHeader) == 64, "the header's size is part of the format");

uint64_t package_checksum(const void *data, size_t size);

#endif
