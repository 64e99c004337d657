// What a kernel does with global memory, as far as its own pointers and descriptors tell. Two parameters are taken to
// be two arrays, as Triton takes them.
#ifndef TILE_PASSES_GLOBAL_MEMORY_H
#define TILE_PASSES_GLOBAL_MEMORY_H

#include "passes/buffer.h"
#include "passes/liveness.h"

// Returns the parameter that a pointer or descriptor is derived from. NULL: there are several, or it is not known.
const Value *global_root(const Value *v);

typedef struct { OpList reads, writes; } GlobalUses;
// Returns the accesses of a parameter's array: through pointers and descriptors derived from it, carried by loops and
// chosen by conditionals, and through the launcher's tensor maps of it.
GlobalUses global_uses_of(Context *ctx, Func *f, uint32_t param);

// Sets the mark of each access that reads an array into which the block writes, or of which the array is not known, if
// the block writes at all. What the function writes elsewhere counts, too, if the block has a barrier: that may order it
// with a read in the block.
void global_mark_written(Context *ctx, Block *b, uint32_t mark);

// Whether a load after an op of the block, or inside one, may read what another program wrote before that op: the op
// waits for other grids, is an atomic whose result is used, a volatile load, or assembly with effects.
bool global_is_acquired(const Block *b);

// Whether an access before the op must be over when it executes: the op, or one in its blocks, may let others know that
// it is (a barrier, an atomic, assembly with effects), or writes into the same array. `root` is the access's, NULL if
// not known.
bool global_must_follow(const Op *op, const Value *root);
// Whether the op or one in its blocks may let others know that the accesses before it are over.
bool global_is_released(const Op *op);

#endif
