// What a kernel does with global memory, as far as its own pointers and descriptors tell: two parameters are taken to be two arrays,
// as Triton takes them.
#ifndef TILE_PASSES_GLOBAL_MEMORY_H
#define TILE_PASSES_GLOBAL_MEMORY_H

#include "passes/buffer.h"
#include "passes/liveness.h"

// The parameter, a pointer or a descriptor, that a pointer or descriptor begins at. NULL: not one alone, or not known.
const Value *global_root(const Value *v);

typedef struct { OpList reads, writes; } GlobalUses;
// Of the array behind a parameter: through pointers and descriptors derived from it, carried by loops and chosen by conditionals, and
// through the launcher's tensor maps of it.
GlobalUses global_uses_of(Context *ctx, Func *f, uint32_t param);

// Whether what is loaded behind an op of the block, or inside one, may be what another program wrote before: a wait for other grids, an
// atomic whose result is looked at, a volatile load, assembly with effects.
bool global_is_acquired(const Block *b);

#endif
