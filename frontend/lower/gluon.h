// Tensors with layouts, and what Gluon alone has: shared memory, asynchronous copies, wgmma, clusters, partitions.
#ifndef TILE_FRONTEND_LOWER_GLUON_H
#define TILE_FRONTEND_LOWER_GLUON_H

#include "frontend/lower/builtins.h"

// ---- layouts.c: Gluon's tensor types ----
CtValue *lower_layout_of(Lower *L, const CtType *t);              // NULL if it has none
const char *lower_layout_text(Lower *L, const CtType *t);         // as written, and as a map
// The block type with that layout (AutoLayout: without one). NULL after a diagnostic if it does not fit.
const CtType *lower_with_layout(Lower *L, const CtType *t, CtValue *layout, Span span);
const CtType *lower_inferred(Lower *L, const CtType *elem, const int64_t *shape, uint32_t rank, const Layout *map);
// Of a result of a reduction along the axis.
const CtType *lower_reduced(Lower *L, const CtType *t, const CtType *elem, uint32_t axis);
// Returns the type of a split's results: t without its last axis, which has size 2. NULL if that axis is not one
// register bit.
const CtType *lower_half(Lower *L, const CtType *t);
// The join of two tensors of type `half`, in their slice's parent if the new axis is one register bit there.
Term *lower_joined(Lower *L, Term *pair, const CtType *half);
Term *lower_convert(Lower *L, Term *x, const CtType *to);         // to's layout; x may have none yet
Term *lower_expand_dims_laid_out(Lower *L, Term *x, int64_t axis, Span span);
Term *lower_repeat_laid_out(Lower *L, Term *x, const int64_t *shape, uint32_t rank, Span span);
// Both operands in `shape` and one layout. False after a diagnostic.
bool lower_broadcast_laid_out(Lower *L, Term **a, Term **b, const int64_t *shape, Span span);
// The map of a layout on a shape; NULL after a diagnostic.
const Layout *lower_layout_map(Lower *L, const CtValue *layout, const int64_t *shape, uint32_t rank, Span span);
// x in the shape (in Gluon: and the layout) of `like`.
Term *lower_broadcast_like(Lower *L, Term *x, const CtType *like, Span span);

// ---- gluon_clusters.c: what one block of a cluster has ----
const CtType *lower_block_part(Lower *L, const CtType *t);        // its part of a tensor, tile or buffer
Value *lower_block_start(Lower *L, const CtType *t, uint32_t axis);   // of its part, i32; NULL: the axis is not split
// If several blocks hold the same elements of t, restricts the mask to the block that writes them, and returns true.
bool lower_owner_mask(Lower *L, const CtType *t, Term **mask);
// Both return false after a diagnostic if `what` would move elements between blocks. For lower_check_same_blocks a block
// must hold the same part of a and b, and neither may be split along `except` (−1: no axis). For
// lower_check_axis_in_block t must not be split along the axis.
bool lower_check_same_blocks(Lower *L, Span span, const char *what, const CtType *a, const CtType *b, int64_t except);
bool lower_check_axis_in_block(Lower *L, Span span, const char *what, const CtType *t, uint32_t axis);
// The same for a dot: a must be split as the accumulator's rows are, b as its columns, and neither along K.
bool lower_check_product_blocks(Lower *L, Span span, const CtType *a, const CtType *b, const CtType *acc);
bool lower_check_keeps_layout(Lower *L, Span span, const CtType *t);   // every tensor of a cluster that has one must
// Each block's part of a tensor that had no layout, as type `to` says; NULL after a diagnostic.
Value *lower_divide(Lower *L, Value *whole, const CtType *to, Span span);
bool lower_check_owned(Lower *L, Call *c, const CtType *t);       // false if two blocks of a cluster hold one element
bool lower_check_owned_results(Lower *L);   // of a whole kernel: nobody may read what only the owner has

// ---- gluon_tensor.c, builtins_static.c ----
const CtType *lower_type_of_tensor(Lower *L, const CtType *t);    // what `.type` shows: a Gluon tensor's has a layout
bool lower_is_blackwell(const char *name);                        // a function that Hopper does not have
bool lower_print_layout(Lower *L, Term *t, Span span);            // at compile time, if t is one

// ---- gluon_shared.c, gluon_async.c, gluon_mma.c ----
Term *lower_buffer_attribute(Lower *L, Term *base, const char *name, Span span);
Term *lower_buffer_arg(Lower *L, Call *c, uint32_t i);            // a buffer that is one tile
Term *lower_data_arg(Lower *L, Call *c, uint32_t i);              // the same, but not an mbarrier
// A descriptor's block with its layout, or with the default one if it is NULL. NULL after a diagnostic.
const CtType *lower_desc_block(Lower *L, const CtType *block, CtValue *layout, Span span);
// Whether dots and waits alone use the carried tensors of a loop that an iteration changes.
bool lower_may_be_accumulators(Value *const *args, Value *const *next, uint32_t n);

// ---- gluon_roles.c ----
// Whether each warp_specialize of the kernel leaves registers for its default partition. False after diagnostics.
bool lower_check_roles(Lower *L);

#endif
