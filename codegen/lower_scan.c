// scan goes through groups of neighbouring axis bits from the lowest up, as ir/reduce_order.h states. Before each
// group the axis consists of segments that are scanned already, and every thread knows the total of each segment that
// it has a part of; the group combines each segment with those before it.
#include "codegen/tuple.h"
#include "ir/reduce_order.h"

typedef struct {
  Combine of;
  const Type *type;
  uint32_t regs;
  const uint32_t *reps;
  bool reverse;
  CgValue *v[MAX_COMBINED];         // elements
  CgValue *total[MAX_COMBINED];     // of the segment of register r; valid if r's lower bits are clear
  uint32_t low_regs, low_thread;    // place bits of the axis below the group
} Scan;

// Whether register r holds the same segment as `key`: they differ only in lower axis bits.
static bool in_segment(const Scan *s, uint32_t r, uint32_t key) { return (r & ~s->low_regs) == key && s->reps[r] == r; }

static void scan_registers(Scan *s, const uint32_t *bits, uint32_t count) {
  uint32_t group = 0;
  for (uint32_t i = 0; i < count; i++) group |= 1u << bits[i];
  for (uint32_t base = 0; base < s->regs; base++) {
    if (base & (group | s->low_regs) || s->reps[base] != base) continue;
    Tuple before = {0};
    for (uint32_t j = 0; j < 1u << count; j++) {
      uint32_t at = s->reverse ? (1u << count) - 1 - j : j, key = base;
      for (uint32_t i = 0; i < count; i++)
        if (at >> i & 1) key |= 1u << bits[i];
      Tuple total = tuple_get(&s->of, s->total, key);
      if (j == 0) {
        before = total;
        continue;
      }
      Tuple sum = tuple_combine(&s->of, &before, &total);
      for (uint32_t r = 0; r < s->regs; r++) {
        if (!in_segment(s, r, key)) continue;
        Tuple x = tuple_get(&s->of, s->v, r);
        bool alone = s->low_regs == 0 && s->low_thread == 0;
        x = alone ? sum : tuple_combine(&s->of, &before, &x);
        tuple_put(&s->of, s->v, r, &x);
      }
      before = sum;
    }
    tuple_put(&s->of, s->total, base, &before);
  }
}

// The segment's number in the group, from the thread's bits.
static LLVMValueRef gather_bits(Cg *c, const uint32_t *bits, uint32_t count) {
  uint32_t columns[16] = {0};
  for (uint32_t i = 0; i < count; i++) columns[bits[i]] = 1u << i;
  return cg_thread_bits(c, columns, log2_u32(c->num_warps * WARP_SIZE));
}

static LLVMValueRef scatter_bits(Cg *c, LLVMValueRef number, const uint32_t *bits, uint32_t count) {
  LLVMValueRef x = cg_i32(c, 0);
  for (uint32_t i = 0; i < count; i++) {
    LLVMValueRef bit = cg_op(c, LLVMAnd, number, 1u << i);
    if (bits[i] > i) bit = cg_op(c, LLVMShl, bit, bits[i] - i);
    if (bits[i] < i) bit = cg_op(c, LLVMLShr, bit, i - bits[i]);
    x = i ? LLVMBuildOr(c->b, x, bit, "") : bit;
  }
  return x;
}

static Tuple shuffle(const Scan *s, const Tuple *x, LLVMValueRef lane) {
  Tuple t = {0};
  for (uint32_t i = 0; i < s->of.n; i++) t.x[i] = cg_shuffle_idx(s->of.c, x->x[i], lane);
  return t;
}

static void scan_lanes(Scan *s, const uint32_t *bits, uint32_t count, bool is_last_group) {
  Cg *c = s->of.c;
  uint32_t segments = 1u << count, group = 0;
  for (uint32_t i = 0; i < count; i++) group |= 1u << bits[i];
  LLVMValueRef number = gather_bits(c, bits, count), others = cg_op(c, LLVMAnd, c->lane, 31 & ~group);
  LLVMValueRef rank = s->reverse ? LLVMBuildSub(c->b, cg_i32(c, segments - 1), number, "") : number;
  LLVMValueRef sources[6], reaches[6];
  uint32_t steps = 0;
  for (uint32_t d = 1; d < segments; d *= 2, steps++) {
    LLVMValueRef from = s->reverse ? cg_op(c, LLVMAdd, number, d) : cg_op(c, LLVMSub, number, d);
    sources[steps] = LLVMBuildOr(c->b, others, scatter_bits(c, from, bits, count), "");
    reaches[steps] = cg_cmp(c, LLVMIntUGE, rank, d);
  }
  uint32_t last_number = s->reverse ? 0 : group;
  LLVMValueRef last_lane = cg_op(c, LLVMOr, others, last_number);
  for (uint32_t key = 0; key < s->regs; key++) {
    if (key & s->low_regs || s->reps[key] != key) continue;
    Tuple sum = tuple_get(&s->of, s->total, key);
    for (uint32_t k = 0; k < steps; k++) {
      Tuple got = shuffle(s, &sum, sources[k]), more = tuple_combine(&s->of, &got, &sum);
      sum = tuple_select(&s->of, reaches[k], &more, &sum);
    }
    bool alone = s->low_regs == 0 && s->low_thread == 0;
    if (alone) {
      tuple_put(&s->of, s->v, key, &sum);
    } else {
      Tuple before = shuffle(s, &sum, sources[0]);
      // The last element of a segment takes the total itself.
      uint32_t end = s->reverse ? key : key | s->low_regs;
      LLVMValueRef is_end = NULL;
      if (s->low_thread) {
        LLVMValueRef low = cg_op(c, LLVMAnd, c->tid, s->low_thread);
        is_end = cg_cmp(c, LLVMIntEQ, low, s->reverse ? 0 : s->low_thread);
      }
      for (uint32_t r = 0; r < s->regs; r++) {
        if (!in_segment(s, r, key)) continue;
        Tuple x = tuple_get(&s->of, s->v, r), y = sum;
        if (r != end || is_end) {
          y = tuple_combine(&s->of, &before, &x);
          y = tuple_select(&s->of, reaches[0], &y, &x);
          if (r == end) y = tuple_select(&s->of, is_end, &sum, &y);
        }
        tuple_put(&s->of, s->v, r, &y);
      }
    }
    if (is_last_group) continue;
    Tuple total = shuffle(s, &sum, last_lane);
    tuple_put(&s->of, s->total, key, &total);
  }
}

// A dense numbering of the segments in a warp, the places of their totals in scratch: registers that one vector holds
// lowest, then threads, so that the lanes of a warp access neighbouring vectors, then the other registers. Returns the
// bits of the number.
static uint32_t number_segments(PlaceMap *m, uint32_t group, uint32_t vector_bits) {
  uint32_t dense = 0, reg = 0;
  for (; reg < m->num_reg_bits && dense < vector_bits; reg++)
    if (!(m->free_reg >> reg & 1)) m->reg[reg] = 1u << dense++;
  for (uint32_t i = 0; i < m->num_thread_bits; i++)
    if (!((m->free_thread | group) >> i & 1)) m->thread[i] = 1u << dense++;
  for (; reg < m->num_reg_bits; reg++)
    if (!(m->free_reg >> reg & 1)) m->reg[reg] = 1u << dense++;
  return dense;
}

// Exchanges the segment totals of all warps through scratch. The index has the warp's number above the segment's.
static void scan_warps(Scan *s, const uint32_t *bits, uint32_t count, const uint32_t *offsets) {
  Cg *c = s->of.c;
  const Layout *l = s->type->layout;
  PlaceMap full = placemap_of_layout(l);
  PlaceMap store = {.num_reg_bits = full.num_reg_bits, .num_thread_bits = full.num_thread_bits}, load;
  uint32_t group = 0, widest = 0;
  for (uint32_t i = 0; i < count; i++) group |= 1u << bits[i];
  for (uint32_t i = 0; i < s->of.n; i++)
    widest = (uint32_t)max_i64(widest, type_elem_bytes(type_elem(op_operand(s->of.op, i)->type)));
  store.free_reg = full.free_reg | s->low_regs;
  store.free_thread = full.free_thread | s->low_thread;
  const uint32_t dense = number_segments(&store, group, log2_u32(16 / widest));
  load = store;
  for (uint32_t i = 0; i < count; i++) {
    store.thread[bits[i]] = 1u << (dense + i);
    load.reg[load.num_reg_bits++] = 1u << (dense + i);
  }
  CgValue *all[MAX_COMBINED];
  tuple_exchange(&s->of, offsets, &store, s->total, &load, all);

  LLVMValueRef number = gather_bits(c, bits, count);
  uint32_t warps = 1u << count;
  for (uint32_t key = 0; key < s->regs; key++) {
    if (key & s->low_regs || s->reps[key] != key) continue;
    Tuple sum = {0}, before = {0};
    for (uint32_t j = 0; j < warps; j++) {
      uint32_t w = s->reverse ? warps - 1 - j : j;
      Tuple total = tuple_get(&s->of, all, key + w * s->regs);
      if (j == 0) {
        sum = before = total;
        continue;
      }
      if (j > 1) before = tuple_select(&s->of, cg_cmp(c, LLVMIntEQ, number, w), &sum, &before);
      sum = tuple_combine(&s->of, &sum, &total);
    }
    LLVMValueRef is_first = cg_cmp(c, LLVMIntEQ, number, s->reverse ? warps - 1 : 0);
    for (uint32_t r = 0; r < s->regs; r++) {
      if (!in_segment(s, r, key)) continue;
      Tuple x = tuple_get(&s->of, s->v, r), y = tuple_combine(&s->of, &before, &x);
      y = tuple_select(&s->of, is_first, &x, &y);
      tuple_put(&s->of, s->v, r, &y);
    }
    tuple_put(&s->of, s->total, key, &sum);
  }
}

void emit_scan(Cg *c, Op *op) {
  const Type *t = op_operand(op, 0)->type;
  uint32_t axis = (uint32_t)op_int(op, ATTR_AXIS, 0);
  Scan s = {.of = {.c = c, .op = op, .n = op->num_operands}, .type = t, .regs = cg_num_regs(t), .reps = cg_reps(c, t),
            .reverse = op_int(op, ATTR_REVERSE, 0) != 0};
  if (!s.reverse) s.of.rising = tuple_positions(op);
  AxisPlace at[LAYOUT_MAX_BITS];
  if (!reduce_axis_places(t->layout, axis, at)) cg_unsupported(c, op, "the layout mixes the axis with others");
  for (uint32_t i = 0; i < s.of.n; i++) {
    const CgValue *x = cg_get(op_operand(op, i));
    s.v[i] = cg_value_new(c, s.regs);
    s.total[i] = cg_value_new(c, s.regs);
    for (uint32_t r = 0; r < s.regs; r++) s.v[i]->v[r] = s.total[i]->v[r] = cg_reg(x, r);
  }
  ScanGroup groups[LAYOUT_MAX_BITS];
  uint32_t n = reduce_scan_order(t, axis, groups), offsets[MAX_SCAN_OFFSETS] = {0}, warp_groups = 0;
  uint32_t lanes = t->layout->num_bits[LAYOUT_LANE];
  scratch_scan_offsets(op, offsets);
  for (uint32_t g = 0; g < n; g++) {
    uint32_t bits[LAYOUT_MAX_BITS], count = groups[g].count, mask = 0;
    for (uint32_t i = 0; i < count; i++) {
      AxisPlace p = at[groups[g].first + i];
      bits[i] = p.bit + (p.dim == LAYOUT_WARP ? lanes : 0);   // bits of tid for lanes and warps
      mask |= 1u << bits[i];
    }
    switch (groups[g].dim) {
    case LAYOUT_REG: scan_registers(&s, bits, count); s.low_regs |= mask; break;
    case LAYOUT_LANE: scan_lanes(&s, bits, count, g + 1 == n); s.low_thread |= mask; break;
    case LAYOUT_WARP: scan_warps(&s, bits, count, offsets + s.of.n * warp_groups++); s.low_thread |= mask; break;
    default: cg_unsupported(c, op, "a scan across the blocks of a cluster");
    }
  }
  for (uint32_t i = 0; i < s.of.n; i++) {
    for (uint32_t r = 0; r < s.regs; r++) s.v[i]->v[r] = s.v[i]->v[s.reps[r]];
    cg_set(op_result(op, i), s.v[i]);
  }
}
