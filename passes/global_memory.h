// Which global memory ops reach, as far as that is known: by the kernel's parameter that their addresses begin at. Different parameters
// are taken to be different memory.
#ifndef TILE_PASSES_GLOBAL_MEMORY_H
#define TILE_PASSES_GLOBAL_MEMORY_H

#include "ir/ir.h"

// The parameter, a pointer or a descriptor, that a pointer or descriptor begins at. NULL: not known.
const Value *global_root(const Value *v);
// Whether an op of the block, or inside one, writes through that parameter.
bool block_writes_global(const Block *b, const Value *root);
// Whether what is loaded behind an op of the block, or inside one, may be what another program wrote before: a wait for other grids, an
// atomic whose result is looked at, a volatile load, assembly with effects.
bool block_acquires_global(const Block *b);

#endif
