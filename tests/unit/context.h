// For tests that take a Context: set up before each, freed after it.
#ifndef TILE_TESTS_CONTEXT_H
#define TILE_TESTS_CONTEXT_H

#include <stdlib.h>

#include "ir/context.h"
#include "tests/unit/unit.h"

static int setup(void **state) {
  Context *ctx = calloc(1, sizeof *ctx);
  context_init(ctx);
  *state = ctx;
  return 0;
}
static int teardown(void **state) {
  context_free(*state);
  free(*state);
  return 0;
}

#endif
