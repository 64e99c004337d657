// Pictures of layouts: who holds which element.
#ifndef TILE_RUNTIME_LAYOUT_SVG_H
#define TILE_RUNTIME_LAYOUT_SVG_H

#include "ir/buf.h"
#include "ir/ir.h"

// Every layout of the module's values, or those of the values of this name in the source, each once. False when there
// is none.
bool layout_svg(const Module *m, const char *value, Buf *out);

#endif
