// Buffers in shared memory: which memory a value may be, its size, and who reads it.
#ifndef TILE_PASSES_BUFFER_H
#define TILE_PASSES_BUFFER_H

#include "ir/build.h"

typedef VEC(Op *) OpList;
// Adds the allocs whose memory v may be: through views, carried variables and ifs.
void buffer_find_allocs(Context *ctx, Value *v, OpList *out);
bool buffer_is_view(const Op *op);
Value *buffer_whole(Value *v);             // what v is a view of, or v
// Whether tensor cores or TMA read it, through views too: its writers then need a proxy fence.
bool buffer_read_by_async_proxy(const Value *buf);
uint32_t buffer_bytes(const Type *t);      // of the whole array of tiles

#endif
