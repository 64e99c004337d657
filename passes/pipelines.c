// What runs, in which order.
//
//   TILE ────────────────────────────────────────────► LAID_OUT ────────────────► ALLOCATED
//
//   simplify      unroll     fuse a·b+c    addresses      layouts         vectors     memory
//   canonicalize─►unroll ───►fuse ────────►split ───┬───►coalesce ─┬────►annotate ──►allocate_shared
//   cse           simplify   descriptors   simplify │    remove_   │     access      insert_barriers
//   dce                                             │    conversions
//   licm                                            │    simplify
//                                                   │
//                            from here on a kernel's layouts are in its types
#include "passes/pipeline.h"

#define STEP(name) {PASS_ID_##name, NULL}
#define STEP_IF(name, condition) {PASS_ID_##name, condition}

static bool wants_fusion(const Module *m) { return m->fp_fusion; }

static const PipelineStep tile_steps[] = {
  STEP(canonicalize),
  STEP(cse),
  STEP(unroll_loops),
  STEP(canonicalize),
  STEP(lower_descriptors),
  STEP_IF(fuse_multiply_add, wants_fusion),
  STEP(split_addresses),
  STEP(canonicalize),
  STEP(cse),
  STEP(licm),
  STEP(dce),
};

static const PipelineStep laid_out_steps[] = {
  STEP(coalesce),
  STEP(remove_conversions),
  STEP(canonicalize),
  STEP(cse),
  STEP(licm),
  STEP(dce),
  STEP(annotate_access),
};

static const PipelineStep allocated_steps[] = {
  STEP(allocate_shared),
  STEP(insert_barriers),
};

static const Pipeline pipelines[] = {
  {STAGE_TILE, tile_steps, countof(tile_steps)},
  {STAGE_LAID_OUT, laid_out_steps, countof(laid_out_steps)},
  {STAGE_ALLOCATED, allocated_steps, countof(allocated_steps)},
};

const Pipeline *pipeline_at(uint32_t i) { return i < countof(pipelines) ? &pipelines[i] : NULL; }
