// Suggestions for misspelled names.
#ifndef TILE_IR_NEAREST_H
#define TILE_IR_NEAREST_H

#include "ir/base.h"

// The name that takes the fewest insertions, deletions and substitutions, or NULL when none is near: one such change in
// up to 3 letters, two in up to 7, three in more. A name that is equal is no suggestion.
const char *nearest_name(const char *name, const char *const *names, uint32_t count);

#endif
