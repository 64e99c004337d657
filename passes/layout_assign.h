// Gives every tensor a layout: anchors choose, the rest follows by layout_rules.h. Shared by coalesce, which chooses for the
// first time, and remove_conversions, which takes all conversions away and lets the layouts flow anew.
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

// Loops count 16-fold; a branch that is hardly ever taken a 64th.
int64_t layout_loop_weight(const Op *op, int64_t weight);
// Sets the types of all tensors and places convert_layouts where regions meet.
void layout_assign(Context *ctx, Module *m, const LayoutAnchors *anchors, const LayoutChoices *choices);

#endif
