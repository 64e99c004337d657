// Values that control flow ties together: the initial value, the block argument, the yielded value and the result of a
// carried variable.
#ifndef TILE_PASSES_TIES_H
#define TILE_PASSES_TIES_H

#include "ir/ir.h"

typedef void (*TieVisitor)(Value *v, void *user);
// Calls back for every value directly tied to v, perhaps several times, never for v itself.
void ties_visit(Value *v, TieVisitor visit, void *user);

#endif
