// Gives every tensor a layout: anchors choose, the rest follows by layout_rules.h. coalesce uses it to choose layouts
// for the first time, remove_conversions to choose them again without conversions. It uses Op.mark and Value.aux of the
// pass that runs.
#ifndef TILE_PASSES_LAYOUT_ASSIGN_H
#define TILE_PASSES_LAYOUT_ASSIGN_H

#include "ir/build.h"

typedef struct {
  Op *op;
  int64_t weight;            // heavier anchors settle their surroundings first
  const Layout *pivot;       // NULL: asked for by `choose` when its turn comes
} LayoutAnchor;
typedef VEC(LayoutAnchor) LayoutAnchors;

typedef struct {
  const Layout *(*choose)(void *user, const Op *op);
  // Whether a memory access takes the layout that flows to it, or waits for its own choice.
  bool (*accepts)(void *user, const Op *op, const Layout *pivot);
  // For what no anchor reaches.
  const Layout *(*otherwise)(void *user, const Value *v);
  void *user;
} LayoutChoices;

// Multiplies by 16 for each loop around op; divides by 64 for a branch that is unlikely.
int64_t layout_loop_weight(const Op *op, int64_t weight);
// Sets the types of all tensors and places convert_layouts where regions meet.
void layout_assign(Context *ctx, Module *m, const LayoutAnchors *anchors, const LayoutChoices *choices);

#endif
