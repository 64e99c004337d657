// `tilec run --bench --sweep`.
#ifndef TILE_RUNTIME_SWEEP_H
#define TILE_RUNTIME_SWEEP_H

#include "runtime/compile/compile.h"

int sweep_main(const Options *o, Arena *arena);

#endif
