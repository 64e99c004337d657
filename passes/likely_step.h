// How far apart in memory neighbours along an axis probably lie, for accesses whose order axis_info does not prove: a
// guess that chooses among layouts and that nothing may rely on.
#ifndef TILE_PASSES_LIKELY_STEP_H
#define TILE_PASSES_LIKELY_STEP_H

#include "passes/axis_info.h"

#define LIKELY_FAR ((int64_t)1 << 40)             // the most that a step can be
#define LIKELY_GATHER ((int64_t)1 << 20)          // numbers from memory, without a factor

// Returns by how many elements of memory the offsets or pointers v probably differ from one element to the next along
// the axis. Rows and images that a flat index is taken apart into (x / n, x % n) count as if they never ended. A factor
// that the launch brings counts as some tens of what divides it: of two strides of a dense array the larger is a
// multiple of the smaller. LIKELY_GATHER says that numbers from memory count elements of memory along the axis.
int64_t likely_step(AxisAnalysis *a, Value *v, uint32_t axis);

#endif
