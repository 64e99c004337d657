// What runs, in which order.
#include "passes/pipelines.h"

#define STEP(name) {PASS_ID_##name, NULL}
#define STEP_IF(name, condition) {PASS_ID_##name, condition}

static bool wants_tensor_maps(const Module *m) { return m->target->has_tma && m->auto_tma; }
static bool wants_fusion(const Module *m) { return m->fp_fusion; }

static const PipelineStep tile_steps[] = {
  STEP(canonicalize),
  STEP(cse),
  STEP(unroll_loops),
  STEP(canonicalize),
  STEP(choose_descriptors),
  STEP_IF(hoist_descriptors, wants_tensor_maps),
  STEP(flatten_loops),
  STEP(lower_descriptors),
  STEP_IF(fuse_multiply_add, wants_fusion),
  STEP(split_addresses),
  STEP(canonicalize),
  STEP(cse),
  STEP(licm),
  STEP(auto_tma),
  STEP(version_full_tile),
  STEP(narrow_divisions),
  STEP(decompose_dot),
  STEP(canonicalize),
  STEP(dce),
};

static const PipelineStep laid_out_steps[] = {
  STEP(coalesce),
  STEP(accelerate_dot),
  STEP(remove_conversions),
  STEP(dce),
  STEP(sink_conversions),
  STEP(narrow_compares),
  STEP(canonicalize),
  STEP(cse),
  STEP(licm),
  STEP(dce),
  STEP(annotate_access),
  STEP(annotate_offsets),
  STEP(ping_pong),
  STEP(pipeline_loops),
  STEP(lower_tma),
  STEP(lower_allocs),
  STEP(canonicalize),
  STEP(cse),
  STEP(licm),
  STEP(dce),
  STEP(order_loads),
  STEP(hint_occupancy),
};

static const PipelineStep allocated_steps[] = {
  STEP(allocate_shared),
  STEP(insert_barriers),
  STEP(annotate_offsets),
};

static const Pipeline pipelines[] = {
  {STAGE_TILE, tile_steps, countof(tile_steps)},
  {STAGE_LAID_OUT, laid_out_steps, countof(laid_out_steps)},
  {STAGE_ALLOCATED, allocated_steps, countof(allocated_steps)},
};

const Pipeline *pipeline_at(uint32_t i) { return i < countof(pipelines) ? &pipelines[i] : NULL; }
