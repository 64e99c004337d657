// How layouts flow through ops. An op that relates the layouts of its tensors has a *pivot*: the one layout from which
// those of all its tensor operands and results follow. For an elementwise op it is the common layout, for a reduction
// the operand's, for a broadcast the result's. Layouts never have zero register columns: a thread keeps one copy.
#ifndef TILE_PASSES_LAYOUT_RULES_H
#define TILE_PASSES_LAYOUT_RULES_H

#include "ir/build.h"

// The layout that operand (result) i must have under this pivot. NULL if it is no tensor or the op leaves it free.
const Layout *layout_rule_operand(Context *ctx, const Op *op, uint32_t i, const Layout *pivot);
const Layout *layout_rule_result(Context *ctx, const Op *op, uint32_t i, const Layout *pivot);
// The pivot that gives operand i (each result) the layout l. NULL if l does not determine it or no pivot gives it.
const Layout *layout_rule_pivot_of_operand(Context *ctx, const Op *op, uint32_t i, const Layout *l);
const Layout *layout_rule_pivot_of_result(Context *ctx, const Op *op, const Layout *l);
// The pivot of an op that no layout of its neighbours suits; NULL if it takes any.
const Layout *layout_rule_own(Context *ctx, const Op *op);
// The pivot of an op whose tensors already have layouts; NULL if it has none.
const Layout *layout_rule_pivot(Context *ctx, const Op *op);

// Whether the value can be recomputed in any layout at no cost: constant, range, splat.
bool layout_rule_is_free(const Value *v);
// Row-major, one element per thread at a time (or `vec` along the last axis), spread over num_warps warps.
const Layout *layout_default(Context *ctx, uint32_t num_warps, const Type *t, uint32_t vec);
// The axes, fastest first; how many consecutive elements of the fastest axis a thread holds, and how many of the second
// (0: what is left after lanes and warps); whether warps go to the slower axes first (whole rows in one warp).
typedef struct { uint32_t order[LAYOUT_MAX_RANK]; uint32_t vec, across; bool rows_in_warps; } BlockedChoice;
const Layout *layout_blocked_for(Context *ctx, uint32_t num_warps, const Type *t, const BlockedChoice *c);
// The layout in which lanes that hold the same elements share them: register bits, the highest first, but none of the
// lowest `stay`, go to those of the lane bits `lanes` that make no difference. Returns l if there are none.
const Layout *layout_share_registers(Context *ctx, const Layout *l, uint32_t stay, uint32_t lanes);

#endif
