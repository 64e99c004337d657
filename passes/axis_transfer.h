// The transfer function of the axis analysis, which axis_info.c solves.
#ifndef TILE_PASSES_AXIS_TRANSFER_H
#define TILE_PASSES_AXIS_TRANSFER_H

#include "passes/axis_info.h"

// Returns what is known of result `index` of an op without blocks, from what is known of its operands (NULL: absent).
AxisInfo axis_transfer(const Op *op, uint32_t index, const AxisInfo *const *x);

#endif
