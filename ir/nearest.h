// Suggestions for misspelled names.
#ifndef TILE_IR_NEAREST_H
#define TILE_IR_NEAREST_H

#include "ir/base.h"

// The name that takes the fewest insertions, deletions and substitutions, or NULL if none is near. A name of up to 3
// letters may differ by one of these, a name of up to 7 by two, a longer one by three. The name itself is no
// suggestion.
const char *nearest_name(const char *name, const char *const *names, uint32_t count);

#endif
