// Draws layouts: which register, lane and warp, or which offset, holds which element.
#ifndef TILE_RUNTIME_LAYOUT_SVG_H
#define TILE_RUNTIME_LAYOUT_SVG_H

#include "ir/buf.h"
#include "ir/ir.h"

// Draws each layout of the module's values once, or only those of values with this name in the source. False if there
// is none.
bool layout_svg(const Module *m, const char *value, Buf *out);

#endif
