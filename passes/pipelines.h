// The compiler's pipelines as data: which passes run, in which order, for which module.
#ifndef TILE_PASSES_PIPELINES_H
#define TILE_PASSES_PIPELINES_H

#include "passes/pass.h"

typedef struct {
  PassId pass;
  bool (*when)(const Module *m);   // NULL = always
} PipelineStep;

// The steps that belong to one stage. After them the module is at `reaches`, as far as passes take it there. A module
// that enters at a later stage (from a .tir file) skips the steps that do not run on it.
typedef struct {
  Stage reaches;
  const PipelineStep *steps;
  uint32_t num_steps;
} Pipeline;

// The pipelines in order; NULL past the end.
const Pipeline *pipeline_at(uint32_t i);

#endif
