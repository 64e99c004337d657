// The JIT's door for the command line: the cache that `tilec cache` looks after, and the worker that compiles for
// another process. Everyone else includes the public header, runtime/tile/jit.h.
#ifndef TILE_RUNTIME_JIT_H
#define TILE_RUNTIME_JIT_H

#include "ir/arena.h"
#include "runtime/jit/cache.h"
#include "runtime/tile/jit.h"

int jit_worker_main(Arena *arena);   // isolated.c: `tilec jit-worker`

#endif
