// Makes packages, and headers that hold one, from compiled programs. runtime/rt/package.h describes the format.
#ifndef TILE_RUNTIME_PACK_H
#define TILE_RUNTIME_PACK_H

#include "ir/buf.h"
#include "ir/target.h"
#include "runtime/compile/assembler.h"
#include "runtime/tile/tile.h"

typedef struct PackCode PackCode;
struct PackCode { const char *kind, *made_by; const char *data; size_t size, offset; };
typedef struct {
  const Target *target;
  const char *metadata;        // JSON
  const char *description;     // threads and memory, for people
  PackCode codes[2];
  uint32_t num_codes;
} PackTarget;
typedef struct {
  const char *signature;       // everything that distinguishes variants
  const char *condition;       // what the arguments must be
  const char *constexprs;      // "NAME = VALUE, …", for people
  const char **constexpr_names, **constexpr_values;
  uint32_t num_constexprs;
  int64_t score;               // how specialised it is
  VEC(PackTarget) targets;
} PackVariant;
typedef struct { const char *name, *type; int64_t divisible; } PackParam;   // divisible: what every variant requires
typedef struct {
  const char *name;
  PackParam *params;
  uint32_t num_params;
  VEC(PackVariant) variants;
} PackKernel;
typedef struct {
  Arena *arena;
  VEC(PackKernel) kernels;
} Pack;

typedef struct {
  const Assembler *assembler;  // for machine code beside the PTX; NULL: none
  const char *ptx_options;     // for ptxas, which is used if there are any
} PackOptions;

// Adds every kernel of a program that has PTX. Copies what it needs of the program.
tile_status pack_add(Pack *pack, tile_program *program, const PackOptions *options, tile_error **error);
void pack_write(Pack *pack, Buf *out);
// header.c: a C header that holds the package, with typed functions to load and launch.
void header_write(Pack *pack, Buf *out);

#endif
