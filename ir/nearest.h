// Suggestions for misspelled names.
#ifndef TILE_IR_NEAREST_H
#define TILE_IR_NEAREST_H

#include "ir/base.h"

// The name that takes the fewest insertions, deletions, substitutions and swaps of neighbours, or NULL if none is near.
// Case does not count. A name of one or two letters may differ in case only, a name of up to 5 letters by one edit, of
// up to 9 by two, a longer one by three. The name itself is no suggestion. Of two equally near names the first wins.
const char *nearest_name(const char *name, const char *const *names, uint32_t count);

#endif
