// What runs, in which order.
#include "passes/pipelines.h"

#define STEP(name) {PASS_ID_##name, NULL}
#define STEP_IF(name, condition) {PASS_ID_##name, condition}

static bool wants_tensor_maps(const Module *m) { return m->target->has_tma && m->auto_tma; }
// In a module as written, layouts, copies and barriers are the author's.
static bool chooses(const Module *m) { return !m->as_written; }
static bool is_as_written(const Module *m) { return m->as_written; }
static bool fuses_as_written(const Module *m) { return m->as_written && m->fp_fusion; }
static bool wants_fusion(const Module *m) { return m->fp_fusion; }

static const PipelineStep tile_steps[] = {
  STEP(canonicalize),
  STEP(cse),
  STEP(count_loops),
  STEP(unroll_loops),
  STEP(canonicalize),
  STEP(choose_descriptors),
  STEP_IF(hoist_descriptors, wants_tensor_maps),
  STEP(flatten_loops),
  STEP(lower_descriptors),
  STEP_IF(sum_products, wants_fusion),
  STEP_IF(fuse_multiply_add, wants_fusion),
  STEP(split_addresses),
  STEP(canonicalize),
  STEP(cse),
  STEP(licm),
  STEP(unswitch_loops),
  STEP(auto_tma),
  STEP(version_full_tile),
  STEP(narrow_divisions),
  STEP(uniform_loads),
  STEP(decompose_dot),
  STEP(mirror_gathers),
  STEP(canonicalize),
  STEP(dce),
  STEP(order_dots),
};

static const PipelineStep laid_out_steps[] = {
  STEP(coalesce),
  STEP_IF(resolve_layouts, is_as_written),
  STEP_IF(sum_products, fuses_as_written),
  STEP_IF(fuse_multiply_add, fuses_as_written),
  STEP_IF(accelerate_dot, chooses),
  STEP_IF(remove_conversions, chooses),
  STEP_IF(dce, chooses),
  STEP(defer_reductions),
  STEP_IF(sink_conversions, chooses),
  STEP_IF(share_loops, chooses),
  STEP_IF(narrow_compares, chooses),
  STEP(canonicalize),
  STEP(cse),
  STEP(licm),
  STEP(dce),
  STEP(annotate_access),
  STEP(annotate_offsets),
  STEP_IF(ping_pong, chooses),
  STEP_IF(advance_indices, chooses),
  STEP_IF(advance_divisions, is_as_written),
  STEP_IF(pipeline_loops, chooses),
  STEP(lower_tma),
  STEP(lower_allocs),
  STEP_IF(spread_stores, chooses),
  STEP(canonicalize),
  STEP(cse),
  STEP(licm),
  STEP(dce),
  STEP_IF(compute_late, chooses),
  STEP_IF(order_loads, chooses),
  STEP_IF(read_fragments, chooses),
  STEP_IF(mask_selects, chooses),
  STEP_IF(hint_occupancy, chooses),
};

static const PipelineStep allocated_steps[] = {
  STEP(allocate_shared),
  STEP_IF(owner_loops, chooses),
  STEP(insert_barriers),
  STEP_IF(merge_fences, chooses),
  STEP(insert_fences),
  STEP(annotate_offsets),
};

static const Pipeline pipelines[] = {
  {STAGE_TILE, tile_steps, countof(tile_steps)},
  {STAGE_LAID_OUT, laid_out_steps, countof(laid_out_steps)},
  {STAGE_ALLOCATED, allocated_steps, countof(allocated_steps)},
};

const Pipeline *pipeline_at(uint32_t i) { return i < countof(pipelines) ? &pipelines[i] : NULL; }
