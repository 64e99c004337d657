// The prelude's files: text made by CMake from prelude_NAME.tile. Only prelude.c includes this.
#ifndef TILE_FRONTEND_PRELUDE_H
#define TILE_FRONTEND_PRELUDE_H

#include "prelude_math.inc"
#include "prelude_math64.inc"
#include "prelude_numbers.inc"
#include "prelude_trigonometry.inc"
#include "prelude_special.inc"
#include "prelude_device.inc"
#include "prelude_random.inc"
#include "prelude_scaled.inc"
#include "prelude_standard.inc"

// F(name, is_math): math files are where libdevice's functions are.
#define PRELUDE_FILES(F) \
  F(standard, false)     \
  F(random, false)       \
  F(scaled, false)       \
  F(math, true)          \
  F(trigonometry, true)  \
  F(numbers, true)       \
  F(math64, true)        \
  F(device, true)        \
  F(special, true)

#endif
