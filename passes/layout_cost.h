// What accesses and conversions cost in a layout. The unit is one instruction of one warp.
#ifndef TILE_PASSES_LAYOUT_COST_H
#define TILE_PASSES_LAYOUT_COST_H

#include "passes/axis_info.h"

// Of a load, store or atomic: the tensor type of its addresses, and the bytes of one element.
const Type *access_type(const Op *op);
uint32_t access_elem_bytes(const Op *op);
// Memory transactions (32-byte sectors, and some per instruction) of the access in a layout.
int64_t access_cost(const Op *op, const AccessInfo *a, const Layout *l, uint32_t num_warps);
// Through shared memory: stores, loads, the barriers.
int64_t conversion_cost(const Type *t, uint32_t num_warps);

#endif
