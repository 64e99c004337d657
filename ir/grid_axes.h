#ifndef TILE_IR_GRID_AXES_H
#define TILE_IR_GRID_AXES_H

#include "ir/ir.h"

// Bit i: all programs along axis i of a grid do the same, because nothing asks for their number there, and no atomic
// hands out work. 0 for a kernel that asks for no number and has atomics: each program counts.
uint32_t grid_axes_alike(Module *m);

#endif
