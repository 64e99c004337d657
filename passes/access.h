// Accesses of global memory by threads (loads, stores, atomics), and how much of one a machine instruction does.
#ifndef TILE_PASSES_ACCESS_H
#define TILE_PASSES_ACCESS_H

#include "passes/axis_info.h"

bool access_is_tensor(const Op *op);       // load, store or atomic on tensors
const Type *access_type(const Op *op);     // of the tensor of addresses
uint32_t access_elem_bytes(const Op *op);
// Returns how many elements of `bytes` each one machine instruction takes at most if all are consecutive: up to 16
// bytes for a load or store, the longest vector of `red` for an atomic addition of floats whose old values nobody
// reads, 1 for other atomics.
int64_t access_width(const Op *op, uint32_t bytes);
// Lets the load be done only if the i1 `condition` holds.
void access_mask_if(Op *load, Value *condition);

// What is known of an access: contiguous elements along each axis, the byte alignment of each group's first element,
// and the groups over which the mask is constant.
typedef struct {
  uint32_t fastest;                 // the axis of longest useful contiguity; of equals, of the least likely step
  int64_t step[MAX_RANK];           // if no axis is contiguous: likely_step.h
  int64_t contiguity[MAX_RANK];     // elements
  int64_t alignment[MAX_RANK];      // bytes
  int64_t mask_constancy[MAX_RANK];
  int64_t mask_prefix[MAX_RANK];    // groups whose first elements the mask keeps: cp.async moves these
} AccessInfo;
bool access_info(AxisAnalysis *a, const Op *op, AccessInfo *out);
// Whether lanes should run along axis i rather than k. Of equals, along the later one.
bool access_is_faster(const AccessInfo *x, uint32_t i, uint32_t k);
// The most elements per machine access that addresses, alignment and mask allow along the axis (16 bytes at most).
int64_t access_max_vector(const AccessInfo *x, uint32_t axis, uint32_t elem_bytes);
// The same if the mask may end within the access.
int64_t access_max_copy(const AccessInfo *x, uint32_t axis, uint32_t elem_bytes);
// How many of a thread's addresses are no constant distance from others (annotate_offsets), if an instruction moves so
// many elements.
uint32_t access_addresses(const Op *load, uint32_t elements);
// Whether an operand of a dot is computed from the load, in its block: the tile itself, its transpose, or a conversion
// from smaller numbers.
bool access_feeds_dot(const Op *load);
// The stages that a `for` asks for, or the module's.
uint32_t access_stages(const Op *loop);
// Whether the load is in a pipelined loop and cp.async will do it, as far as can be told without its layout: a dot
// reads it, or the loop asks for all loads, and what the mask leaves out is zero.
bool access_is_copied(const Op *op);

#endif
