// What accesses and conversions cost in a layout. The unit is one instruction of one warp.
#ifndef TILE_PASSES_LAYOUT_COST_H
#define TILE_PASSES_LAYOUT_COST_H

#include "passes/access.h"

enum { SECTOR_BYTES = 32, LINE_BYTES = 128 };    // of memory: the least that moves, and what a cache has together

// Returns how many elements of the access one machine instruction takes in a layout.
int64_t layout_access_width(const Op *op, const AccessInfo *a, const Layout *l);
// Returns the memory transactions (32-byte sectors, plus a constant per instruction) of the access in a layout.
int64_t layout_cost_access(const Op *op, const AccessInfo *a, const Layout *l, uint32_t num_warps);
// Whether the access rather takes layout l than that what it takes or gives is converted between l and its own layout.
bool layout_access_accepts(Context *ctx, const Op *op, const AccessInfo *a, const Layout *l, const Layout *own,
                           uint32_t num_warps);
// Returns what lanes pay for a reduction or a scan of a tensor in a layout: its shuffles.
int64_t layout_cost_exchange(const Op *op, const Layout *l, uint32_t num_warps);
// Returns what warps pay for a reduction of a tensor in a layout: each thread stores its part of the results and
// fetches the parts of all warps, with barriers; 0 if no row lies in several warps.
int64_t layout_cost_meeting(const Op *op, const Layout *l, uint32_t num_warps);
// Returns the cost of a conversion from the type's layout to l, by the cheapest way.
int64_t layout_cost_convert(Context *ctx, const Type *t, const Layout *l, uint32_t num_warps);
// Returns how many elements of so many bytes one access of a shared tile takes in a layout, as log2.
uint32_t layout_log2_shared_vector(const Layout *l, const Layout *shared, uint32_t bytes);
// Returns the cost of reading or writing all of a shared tile in a layout. Each line of banks that a warp's access moves
// takes as long as four instructions, because an SM's warps share the banks.
int64_t layout_cost_shared(const Layout *l, const Type *buffer, uint32_t num_warps);
// Whether the op may be repeated in another layout.
bool layout_can_redo(const Op *op);
// Returns the cost of such an op, or of a map of such ops, if its tensors have the layout.
int64_t layout_cost_op(const Op *op, const Layout *l, uint32_t num_warps);

#endif
