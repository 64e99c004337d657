// What accesses and conversions cost in a layout. The unit is one instruction of one warp.
#ifndef TILE_PASSES_LAYOUT_COST_H
#define TILE_PASSES_LAYOUT_COST_H

#include "passes/access.h"

// Memory transactions (32-byte sectors, and some per instruction) of the access in a layout.
int64_t layout_cost_access(const Op *op, const AccessInfo *a, const Layout *l, uint32_t num_warps);
// Through shared memory: stores, loads, the barriers.
int64_t layout_cost_conversion(const Type *t, uint32_t num_warps);

#endif
