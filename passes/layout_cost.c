// Costs of layouts: see layout_cost.h.
#include "passes/layout_cost.h"

#include "ir/scratch.h"

enum { SECTOR_BYTES = 32 };

// Returns the sectors that one instruction of a warp touches.
static uint32_t sectors_touched(const AccessInfo *a, const Layout *l, uint32_t axis, uint32_t bytes, int64_t vec,
                                uint32_t idle) {
  uint32_t mask = layout_axis_mask(l, axis), shift = layout_axis_shift(l, axis), count = 0;
  uint64_t seen[WARP_SIZE], step = (uint64_t)min_i64(a->step[axis], SECTOR_BYTES) * bytes;
  for (uint32_t lane = 0; lane < WARP_SIZE; lane++) {
    if (lane & idle) continue;
    uint32_t e = layout_apply(l, 0, lane, 0, 0);
    uint64_t column = (e & mask) >> shift, row = e & ~mask, runs = (uint64_t)a->contiguity[axis];
    // Only elements of one aligned run are known to be neighbours in memory.
    uint64_t run = column / runs, first = column % runs * bytes;
    if (runs == 1 && step < SECTOR_BYTES) run = 0, first = column * step;
    const uint64_t last = first + (uint64_t)vec * bytes - 1;
    for (uint64_t at = first / SECTOR_BYTES; at <= last / SECTOR_BYTES; at++) {
      uint64_t key = row << 40 ^ run << 20 ^ at;
      uint32_t i = 0;
      while (i < count && seen[i] != key) i++;
      if (i == count && count < WARP_SIZE) seen[count++] = key;
    }
  }
  return count;
}

int64_t layout_cost_access(const Op *op, const AccessInfo *a, const Layout *l, uint32_t num_warps) {
  uint32_t bytes = access_elem_bytes(op), axis = a->fastest;
  int64_t vec = min_i64(layout_contiguity(l, axis),
                        access_is_copied(op) ? access_max_copy(a, axis, bytes) : access_max_vector(a, axis, bytes));
  vec = min_i64(vec, access_width(op, bytes));
  bool is_load = op->opcode == OP_LOAD;               // duplicates load again, but only one of them stores
  uint32_t idle_lanes = is_load ? 0 : layout_free_bits(l, LAYOUT_LANE),
           idle_warps = is_load ? 0 : layout_free_bits(l, LAYOUT_WARP);
  int64_t instructions = max_i64(1, layout_regs_per_thread(l) / vec);
  int64_t warps = (int64_t)num_warps >> __builtin_popcount(idle_warps);
  return instructions * warps * (sectors_touched(a, l, axis, bytes, vec, idle_lanes) + 4);
}

int64_t layout_cost_conversion(const Type *t, uint32_t num_warps) {
  return type_numel(t) * type_elem_bytes(t) / 64 + 16 * (int64_t)num_warps;
}

int64_t layout_cost_convert(Context *ctx, const Type *t, const Layout *l, uint32_t num_warps) {
  const int64_t regs = (int64_t)layout_regs_per_thread(l) * num_warps;
  switch (scratch_convert_kind(ctx, t, type_with_layout(ctx, t, l))) {
    case CONVERT_NONE: case CONVERT_REGISTERS: return 0;
    case CONVERT_SHUFFLE: case CONVERT_WARP: return 3 * regs;
    default: return layout_cost_conversion(t, num_warps) + 2 * regs;
  }
}

// The cost of an element in instructions of a thread, as the assembler expands it.
static const uint8_t unit_cost[] =
    {[UNIT_NONE] = 0, [UNIT_ALU] = 1, [UNIT_SFU] = 4, [UNIT_FDIV] = 12, [UNIT_IDIV] = 24};

bool layout_can_redo(const Op *op) {
  return op_is(op, TRAIT_PURE) && op_unit(op) < countof(unit_cost) && !op->num_blocks;
}

int64_t layout_cost_op(const Op *op, const Layout *l, uint32_t num_warps) {
  return (int64_t)unit_cost[op_unit(op)] * layout_regs_per_thread(l) * num_warps;
}
