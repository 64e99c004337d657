// Costs of layouts: see layout_cost.h.
#include "passes/layout_cost.h"

#include "ir/reduce_order.h"
#include "ir/scratch.h"

// The unit is one instruction. A sector that an instruction touches costs one: a line of four takes the cache as long
// as four instructions take to issue. A line of which a load or a store touches only strided elements occupies the
// cache for as long; atomics bypass this cache. Issuing an access, with its address, costs ISSUE. If two loads of the
// widest take the halves of the same sectors, the first brings these to the cache, and the other's cost a CACHED-th:
// memory is several times slower than the cache. Stores write through the cache, and each costs. A shuffle takes as
// long as a line; an EXCHANGE is a shuffle and what combines its result. A MEETING is a warp's barriers, where a tensor
// goes through shared memory.
enum { WIDEST_BYTES = 16, ISSUE = 4, CACHED = 4, EXCHANGE = 5, MEETING = 16 };
enum { MAX_TOUCHED = 2 * WARP_SIZE };

// Returns how many sectors one instruction of a warp touches. If elements are a sector or more apart, each line that it
// touches counts whole. Of `parts` sectors it touches less than half, of elements that are consecutive.
static uint32_t sectors_touched(const Op *op, const AccessInfo *a, const Layout *l, int64_t vec, uint32_t idle,
                                uint32_t *parts) {
  const uint32_t axis = a->fastest, mask = layout_axis_mask(l, axis), shift = layout_axis_shift(l, axis);
  const uint64_t bytes = access_elem_bytes(op), step = (uint64_t)min_i64(a->step[axis], LINE_BYTES) * bytes;
  const bool apart = a->contiguity[axis] == 1 && step >= SECTOR_BYTES && op->opcode != OP_ATOMIC_RMW;
  const uint64_t unit = apart ? LINE_BYTES : SECTOR_BYTES;
  uint64_t seen[MAX_TOUCHED], touched[MAX_TOUCHED];
  uint32_t count = 0;
  for (uint32_t lane = 0; lane < WARP_SIZE; lane++) {
    if (lane & idle) continue;
    uint32_t e = layout_apply(l, 0, lane, 0, 0);
    uint64_t column = (e & mask) >> shift, row = e & ~mask, runs = (uint64_t)a->contiguity[axis];
    // Only elements of one aligned run are known to be neighbours in memory.
    uint64_t run = column / runs, first = column % runs * bytes;
    if (runs == 1 && step < unit) run = 0, first = column * step;
    const uint64_t last = first + (uint64_t)vec * bytes - 1;
    for (uint64_t at = first / unit; at <= last / unit; at++) {
      uint64_t key = row << 40 ^ run << 20 ^ at;
      uint32_t i = 0;
      while (i < count && seen[i] != key) i++;
      if (i == MAX_TOUCHED) break;
      if (i == count) seen[count] = key, touched[count++] = 0;
      touched[i] += (at == last / unit ? last + 1 : (at + 1) * unit) - (at == first / unit ? first : at * unit);
    }
  }
  *parts = 0;
  for (uint32_t i = 0; i < count && a->contiguity[axis] > 1; i++) *parts += 2 * touched[i] < unit;
  return apart ? count * (LINE_BYTES / SECTOR_BYTES) : count;
}

int64_t layout_access_width(const Op *op, const AccessInfo *a, const Layout *l) {
  const uint32_t bytes = access_elem_bytes(op), axis = a->fastest;
  const int64_t allowed = access_is_copied(op) ? access_max_copy(a, axis, bytes) : access_max_vector(a, axis, bytes);
  return min_i64(min_i64(layout_contiguity(l, axis), allowed), access_width(op, bytes));
}

int64_t layout_cost_access(const Op *op, const AccessInfo *a, const Layout *l, uint32_t num_warps) {
  const uint32_t bytes = access_elem_bytes(op), axis = a->fastest;
  const int64_t vec = layout_access_width(op, a, l);
  bool is_load = op->opcode == OP_LOAD;               // duplicates load again, but only one of them stores
  uint32_t idle_lanes = is_load ? 0 : layout_free_bits(l, LAYOUT_LANE),
           idle_warps = is_load ? 0 : layout_free_bits(l, LAYOUT_WARP);
  const int64_t regs = layout_regs_per_thread(l), warps = (int64_t)num_warps >> __builtin_popcount(idle_warps);
  uint32_t parts;
  const int64_t instructions = max_i64(1, regs / vec), touched = sectors_touched(op, a, l, vec, idle_lanes, &parts);
  int64_t sectors = instructions * touched;
  const bool halves = is_load && vec * bytes == WIDEST_BYTES && a->contiguity[axis] >= 2 * vec &&
                      layout_contiguity(l, axis) >= 2 * vec;
  if (halves) {
    const int64_t both = sectors_touched(op, a, l, 2 * vec, idle_lanes, &parts);
    sectors = instructions / 2 * (both + (2 * touched - both) / CACHED);
  }
  return warps * (sectors + ISSUE * instructions);
}

int64_t layout_cost_exchange(const Op *op, const Layout *l, uint32_t num_warps) {
  const uint32_t axis = (uint32_t)op_int(op, ATTR_AXIS, 0);
  AxisPlace at[LAYOUT_MAX_BITS];
  if (!reduce_axis_places(l, axis, at)) return 0;
  uint32_t bits[LAYOUT_DIMS] = {0}, low = 0, shuffles;
  for (uint32_t i = 0; i < l->log2_size[axis]; i++) bits[at[i].dim]++;
  while (low < l->log2_size[axis] && at[low].dim == LAYOUT_REG) low++;
  const uint32_t regs = layout_regs_per_thread(l);
  // A scan's neighbours in one thread have one total, for lanes to exchange.
  if (op->opcode == OP_SCAN) shuffles = (regs >> low) * bits[LAYOUT_LANE];
  else reduce_by_halves(regs >> bits[LAYOUT_REG], bits[LAYOUT_LANE], &shuffles);
  return (int64_t)shuffles * EXCHANGE * op->num_operands * num_warps;
}

int64_t layout_cost_meeting(const Op *op, const Layout *l, uint32_t num_warps) {
  const uint32_t axis = (uint32_t)op_int(op, ATTR_AXIS, 0);
  AxisPlace at[LAYOUT_MAX_BITS];
  if (!reduce_axis_places(l, axis, at)) return 0;
  uint32_t bits[LAYOUT_DIMS] = {0};
  for (uint32_t i = 0; i < l->log2_size[axis]; i++) bits[at[i].dim]++;
  if (!bits[LAYOUT_WARP]) return 0;
  const int64_t results = layout_regs_per_thread(l) >> bits[LAYOUT_REG];
  return (results + (results << bits[LAYOUT_WARP]) + MEETING) * op->num_operands * num_warps;
}

// Returns the cost of a conversion through shared memory: stores, loads, barriers.
static int64_t shared_cost(const Type *t, uint32_t num_warps) {
  return type_bytes(t) / 64 + MEETING * (int64_t)num_warps;
}

// What a store pays for sectors of which its instructions write less than half: the cache joins each with what it has.
// Lanes that hold the same elements will share them (remove_conversions), and do not count.
static int64_t cost_of_parts(const Op *op, const AccessInfo *a, const Layout *l, uint32_t num_warps) {
  if (op->opcode != OP_STORE || layout_free_bits(l, LAYOUT_LANE)) return 0;
  const int64_t vec = layout_access_width(op, a, l), instructions = max_i64(1, layout_regs_per_thread(l) / vec);
  uint32_t parts;
  sectors_touched(op, a, l, vec, 0, &parts);
  return instructions * parts * ((int64_t)num_warps >> __builtin_popcount(layout_free_bits(l, LAYOUT_WARP)));
}

bool layout_access_accepts(Context *ctx, const Op *op, const AccessInfo *a, const Layout *l, const Layout *own,
                           uint32_t num_warps) {
  if (own == l) return true;
  const Type *moved = type_with_elem(ctx, access_type(op), type_elem(op_operand(op, 0)->type)->elem);
  // A tile that will be copied is read from shared memory in any layout.
  const int64_t conversion = access_is_copied(op) ? 0 : shared_cost(moved, num_warps);
  return layout_cost_access(op, a, l, num_warps) + cost_of_parts(op, a, l, num_warps) <=
         layout_cost_access(op, a, own, num_warps) + cost_of_parts(op, a, own, num_warps) + conversion;
}

uint32_t layout_log2_shared_vector(const Layout *l, const Layout *shared, uint32_t bytes) {
  LayoutMap m;
  uint32_t n = 0;
  if (!layout_to_shared(l, shared, &m)) return 0;
  for (; bytes << (n + 1) <= 16 && n < layout_whole_bits(shared); n++) {
    uint32_t steps = 0, touching = 0;
    for (uint32_t i = 0; i < layout_total_bits(l); i++) {
      touching += m.col[i] >> n & 1;
      steps += i < l->num_bits[LAYOUT_REG] && m.col[i] == 1u << n;
    }
    if (steps != 1 || touching != 1) break;
  }
  return n;
}

int64_t layout_cost_shared(const Layout *l, const Type *buffer, uint32_t num_warps) {
  const uint32_t bytes = type_elem_bytes(type_elem(buffer)), n = layout_log2_shared_vector(l, buffer->layout, bytes);
  const int64_t lines = layout_bank_conflicts(l, buffer->layout, 8 * bytes, 1u << n);
  return num_warps * (int64_t)(layout_regs_per_thread(l) >> n) * (1 + 4 * lines);
}

int64_t layout_cost_convert(Context *ctx, const Type *t, const Layout *l, uint32_t num_warps) {
  const int64_t regs = (int64_t)layout_regs_per_thread(l) * num_warps;
  // A bit is a predicate, which becomes a number for the way, of a vector's part, and a predicate again after it.
  const int64_t sent = (int64_t)layout_regs_per_thread(t->layout) * num_warps;
  const int64_t bits = type_elem_bits(t) == 1 ? 2 * (regs + sent) : 0;
  switch (scratch_convert_kind(t, type_with_layout(ctx, t, l))) {
    case CONVERT_NONE: case CONVERT_REGISTERS: return 0;
    case CONVERT_SHUFFLE: case CONVERT_WARP: return 3 * regs + bits;
    default: return shared_cost(t, num_warps) + 2 * regs + bits;
  }
}

bool layout_can_redo(const Op *op) {
  return op_is(op, TRAIT_PURE) && (op_unit(op) == UNIT_NONE || unit_instructions(op_unit(op))) && !op->num_blocks;
}

static int64_t cost_of_block(const Block *b);

// Of a branch's blocks the cheaper one counts: the other is rarely taken, as for angles of many turns.
static int64_t cost_of_element(const Op *op) {
  if (op->opcode == OP_IF) return min_i64(cost_of_block(op->blocks[0]), cost_of_block(op->blocks[1]));
  if (op->opcode == OP_MAP) return cost_of_block(op->blocks[0]) / op_int(op, ATTR_PACK, 1);
  // The special function unit takes four times as long as the ALU.
  return op_unit(op) == UNIT_SFU ? 4 : unit_instructions(op_unit(op));
}

static int64_t cost_of_block(const Block *b) {
  int64_t sum = 0;
  EACH_OP(op, b) sum += cost_of_element(op);
  return sum;
}

int64_t layout_cost_op(const Op *op, const Layout *l, uint32_t num_warps) {
  return cost_of_element(op) * layout_regs_per_thread(l) * num_warps;
}
