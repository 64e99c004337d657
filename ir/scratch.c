// The sizes of scratch, and the plans that need it, from layouts alone.
#include "ir/scratch.h"

#include <string.h>

#include "ir/gf2.h"
#include "ir/reduce_order.h"
#include "ir/roles.h"

enum { MAX_SHUFFLED_WORDS = 64 };   // 32-bit words of a thread

// ---- conversions ----

static uint32_t lanes_of(const LayoutMap *m, uint32_t packed) { return layoutmap_out(m, packed, LAYOUT_LANE); }
static uint32_t regs_of(const LayoutMap *m, uint32_t packed) { return layoutmap_out(m, packed, LAYOUT_REG); }

// A place (r, l) of dst wants place M(r, l) of src. In round j lane l fetches its register r = j ^ A(l). A is chosen so
// that the lane asked, B(l) ^ const, determines the register asked there: every source lane can first permute its
// registers, and one shuffle then serves all lanes.
bool scratch_shuffle_plan(const Layout *from, const Layout *to, ShufflePlan *plan) {
  *plan = (ShufflePlan){0};
  LayoutMap m;
  if (from->num_bits[LAYOUT_LANE] != 5 || to->num_bits[LAYOUT_LANE] != 5) return false;
  if (!layout_invert_and_compose(to, from, &m) || layoutmap_move(&m) > MOVE_LANES) return false;
  uint32_t dst_regs = to->num_bits[LAYOUT_REG], src_regs = from->num_bits[LAYOUT_REG];
  if (dst_regs > 16 || src_regs > 16) return false;
  plan->dst_reg_bits = dst_regs;
  plan->src_reg_bits = src_regs;

  // The images of the lane bits, as (lane, register) of src. An image whose lane part is not new is joined with the
  // image of a register of dst.
  Gf2Space lanes = {0};            // over source lanes; preimages in lane bits
  uint32_t reg_of_lane[5];
  for (uint32_t i = 0; i < 5; i++) {
    uint32_t image = m.col[dst_regs + i], chosen = 0, pre = 0;
    uint32_t rest = gf2_reduce(&lanes, lanes_of(&m, image), &pre);
    if (rest == 0) {
      // Earlier lane bits already reach its lane. That is right if the register agrees, too.
      uint32_t reg = regs_of(&m, image);
      for (uint32_t k = 0; k < i; k++)
        if (pre >> k & 1) reg ^= reg_of_lane[k];
      for (uint32_t b = 0; reg && !chosen && b < dst_regs; b++) {
        uint32_t ignored = 0;
        if (gf2_reduce(&lanes, lanes_of(&m, image ^ m.col[b]), &ignored) != 0) chosen = 1u << b;
      }
      if (reg && !chosen) return false;
      if (chosen) image ^= m.col[log2_u32(chosen)];
    }
    plan->after[i] = chosen;
    plan->from_lane[i] = lanes_of(&m, image);
    reg_of_lane[i] = regs_of(&m, image);
    gf2_add(&lanes, plan->from_lane[i], 1u << i);
  }
  // A source lane s serves the lanes l with from_lane(l) = s ^ from_round(j): they ask for register reg_of_lane(l) ^
  // … Lanes outside the span of from_lane keep their registers in place.
  for (uint32_t i = 0; i < 5; i++) gf2_add(&lanes, 1u << i, 0);
  for (uint32_t i = 0; i < 5; i++) {
    uint32_t pre = 0;
    gf2_reduce(&lanes, 1u << i, &pre);
    plan->before[i] = 0;
    for (uint32_t k = 0; k < 5; k++)
      if (pre >> k & 1) plan->before[i] ^= reg_of_lane[k];
  }
  for (uint32_t b = 0; b < dst_regs; b++) {
    uint32_t from_round = lanes_of(&m, m.col[b]);
    plan->from_round[b] = from_round;
    plan->take[b] = regs_of(&m, m.col[b]);
    for (uint32_t i = 0; i < 5; i++)
      if (from_round >> i & 1) plan->take[b] ^= plan->before[i];
  }
  return true;
}

bool scratch_shuffle_stays(const ShufflePlan *p, uint32_t j) {
  uint32_t lane = 0;
  for (uint32_t i = 0; i < 5; i++)
    if (p->from_lane[i] != 1u << i) return false;
  for (; j; j &= j - 1) lane ^= p->from_round[__builtin_ctz(j)];
  return lane == 0;
}

ShufflePacking scratch_shuffle_packing(const ShufflePlan *p, uint32_t elem_bits) {
  ShufflePacking k = {0};
  for (uint32_t b = 0; b < p->dst_reg_bits && elem_bits << (k.num + 1) <= 32; b++) {
    uint32_t q = p->take[b];
    bool alone = p->from_round[b] == 0 && q && !(q & (q - 1));
    for (uint32_t i = 0; i < p->dst_reg_bits; i++) alone &= i == b || !(p->take[i] & q);
    for (uint32_t i = 0; i < 5; i++) alone &= !(p->before[i] & q) && !(p->after[i] >> b & 1);
    if (!alone) continue;
    k.dst[k.num] = b;
    k.src[k.num++] = (uint32_t)__builtin_ctz(q);
    k.dst_mask |= 1u << b;
    k.src_mask |= q;
  }
  return k;
}

// The selects of a permutation by lane, for each word.
static uint32_t selects_of(const uint32_t columns[5]) {
  return (uint32_t)__builtin_popcount(columns[0] | columns[1] | columns[2] | columns[3] | columns[4]);
}

// Whether shuffles and the selects around them are fewer instructions of a thread than shared memory costs: it takes a
// word in and out as fast as two shuffles take it, but the first word is out only after some FIXED instructions.
static bool shuffles_pay(const ShufflePlan *p, const Type *to) {
  enum { FIXED = 24 };
  const uint32_t bits = type_elem_bytes(type_elem(to)) * 8, each = bits > 32 ? 2 : 1;
  const ShufflePacking pack = scratch_shuffle_packing(p, bits);
  const uint32_t src = (each << p->src_reg_bits) >> pack.num, dst = (each << p->dst_reg_bits) >> pack.num;
  if (dst > MAX_SHUFFLED_WORDS) return false;
  uint32_t moved = 0;
  for (uint32_t j = 0; j < 1u << p->dst_reg_bits; j++)
    if (!(j & pack.dst_mask) && !scratch_shuffle_stays(p, j)) moved += each;
  return moved + src * selects_of(p->before) + dst * selects_of(p->after) <= 2 * dst + FIXED;
}

ConvertKind scratch_convert_kind(const Type *from, const Type *to) {
  if (from->layout == to->layout) return CONVERT_NONE;
  LayoutMap m;
  if (!layout_invert_and_compose(to->layout, from->layout, &m)) return CONVERT_SHARED;
  const LayoutMove move = layoutmap_move(&m);
  if (move <= MOVE_REGISTERS) return CONVERT_REGISTERS;
  if (move != MOVE_LANES) return CONVERT_SHARED;
  ShufflePlan plan;
  if (scratch_shuffle_plan(from->layout, to->layout, &plan) && shuffles_pay(&plan, to)) return CONVERT_SHUFFLE;
  // Warps that hold the same elements write to the same places.
  return layout_free_bits(from->layout, LAYOUT_WARP) ? CONVERT_SHARED : CONVERT_WARP;
}

const Layout *scratch_convert_layout(Context *ctx, const Type *from, const Type *to, uint32_t *vec) {
  uint32_t log2_vec = 0;
  uint32_t bits = type_elem_bytes(type_elem(from)) * 8;
  const Layout *l = layout_make_shared_for_conversion(ctx, from->layout, to->layout, bits, &log2_vec);
  *vec = 1u << log2_vec;
  return l;
}

// ---- reductions and scans ----

// Lets lanes keep rows as the layout of the result asks. False if that does not reach it.
static bool keep_rows(Context *ctx, ReducePlan *p, const Layout *result, const AxisPlace *at, uint32_t axis_bits) {
  Layout l = *p->partial;
  const uint32_t regs = l.num_bits[LAYOUT_REG];
  for (uint32_t i = 0; i < axis_bits; i++) {
    if (at[i].dim != LAYOUT_LANE) continue;
    const uint32_t b = at[i].bit, want = layout_basis(result, LAYOUT_LANE, b);
    for (uint32_t k = 0; k < regs && want && !p->keeps[b]; k++) {
      if (l.basis[k] != want) continue;
      p->keeps[b] = 1u << k;
      l.basis[regs + b] = want;
      l.basis[k] = 0;
    }
  }
  LayoutMap m;
  const Layout *kept = layout_intern(ctx, &l);
  if (!layout_invert_and_compose(result, kept, &m) || layoutmap_move(&m) > MOVE_REGISTERS) return false;
  p->partial = kept;
  return p->lanes_keep = true;
}

static Opcode vote_op(const Op *reduce) {
  const Block *b = reduce->blocks[0];
  const Op *op = reduce->num_results == 1 ? op_operand(block_terminator(b), 0)->def : NULL;
  if (!op || type_elem(reduce->operands[0].value->type)->scalar != SC_I1) return NUM_OPS;
  if (op->opcode != OP_ANDI && op->opcode != OP_ORI && op->opcode != OP_XORI) return NUM_OPS;
  const Value *x = op_operand(op, 0), *y = op_operand(op, 1);
  return (x == b->args[0] && y == b->args[1]) || (x == b->args[1] && y == b->args[0]) ? op->opcode : NUM_OPS;
}

ReducePlan scratch_reduce_plan(Context *ctx, const Op *op) {
  const Type *t = op->operands[0].value->type;
  uint32_t axis = (uint32_t)op_int(op, ATTR_AXIS, 0);
  ReducePlan p = {.num_partials = 1, .vote = vote_op(op)};
  AxisPlace at[LAYOUT_MAX_BITS];
  if (!reduce_axis_places(t->layout, axis, at)) ice(ctx, "reduce: the layout mixes axis %u with others", axis);
  for (uint32_t i = 0; i < t->layout->log2_size[axis]; i++)
    if (at[i].dim == LAYOUT_WARP) p.num_partials *= 2;
  const Type *result = op->results[0].type;
  p.through_shared = p.num_partials > 1;
  if (type_is_tensor(result)) {
    p.partial = layout_slice(ctx, t->layout, axis);
    LayoutMap m;
    if ((!layout_invert_and_compose(result->layout, p.partial, &m) || layoutmap_move(&m) > MOVE_REGISTERS) &&
        (p.through_shared || !keep_rows(ctx, &p, result->layout, at, t->layout->log2_size[axis])))
      p.through_shared = true;
  }
  p.at_barrier = p.through_shared && !type_is_tensor(result) && (p.vote == OP_ANDI || p.vote == OP_ORI);
  p.through_shared &= !p.at_barrier;
  if (!p.through_shared) return p;
  uint32_t elements = type_is_tensor(result) ? 1u << layout_tensor_bits(result->layout) : 1;
  for (uint32_t i = 0; i < op->num_results && i < countof(p.offsets); i++) {
    p.offsets[i] = p.bytes;
    p.bytes += round_up_u32(elements * p.num_partials * type_elem_bytes(type_elem(op->operands[i].value->type)), 16);
  }
  return p;
}

uint32_t scratch_scan_offsets(const Op *op, uint32_t offsets[MAX_SCAN_OFFSETS]) {
  const Type *t = op->operands[0].value->type;
  ScanGroup groups[LAYOUT_MAX_BITS];
  uint32_t n = reduce_scan_order(t, (uint32_t)op_int(op, ATTR_AXIS, 0), groups), bytes = 0, at = 0;
  for (uint32_t g = 0; g < n; g++) {
    if (groups[g].dim != LAYOUT_WARP) continue;
    uint32_t totals = 1u << (layout_tensor_bits(t->layout) - groups[g].first);
    for (uint32_t i = 0; i < op->num_operands; i++) {
      offsets[at++] = bytes;
      bytes += round_up_u32(totals * type_elem_bytes(type_elem(op->operands[i].value->type)), 16);
    }
  }
  return bytes;
}

// ---- dot ----

// Parts of this size leave room for the ring that the operands come from.
enum { DOT_SCRATCH = 32 << 10, DOT_LEAST_LOG2_K = 2 };

// Whether no register or thread bit of an operand moves both within a part along K and from part to part.
static bool splits_along_k(const Type *t, uint32_t low_bit, uint32_t log2_k, uint32_t log2_part) {
  const uint32_t from_part_to_part = ((1u << (log2_k - log2_part)) - 1) << (low_bit + log2_part);
  for (uint32_t i = 0; i < LAYOUT_MAX_BITS; i++)
    if (t->layout->basis[i] & from_part_to_part && t->layout->basis[i] & ~from_part_to_part) return false;
  return true;
}

DotScratch scratch_dot(const Op *op) {
  const Type *a = op->operands[0].value->type, *b = op->operands[1].value->type;
  const uint32_t a_bytes = (uint32_t)type_bytes(a),
                 b_bytes = (uint32_t)type_bytes(b),
                 log2_k = a->layout->log2_size[a->rank - 1], log2_n = b->layout->log2_size[b->rank - 1];
  DotScratch s = {.log2_k = log2_k};
  while (s.log2_k > DOT_LEAST_LOG2_K && (a_bytes + b_bytes) >> (log2_k - s.log2_k) > DOT_SCRATCH &&
         splits_along_k(a, 0, log2_k, s.log2_k - 1) && splits_along_k(b, log2_n, log2_k, s.log2_k - 1))
    s.log2_k--;
  s.b = round_up_u32(a_bytes >> (log2_k - s.log2_k), 16);
  s.bytes = s.b + (b_bytes >> (log2_k - s.log2_k));
  return s;
}

// ---- buffers ----

uint32_t scratch_tile_bytes(const Type *t) {
  return t->layout ? layout_size_bytes(t->layout, type_elem_bits(t)) : (uint32_t)type_bytes(t);
}

uint32_t scratch_tile_stride(const Type *t) {
  uint32_t bytes = scratch_tile_bytes(t);
  return t->count > 1 && bytes > BARRIER_BYTES ? round_up_u32(bytes, TMA_TILE_ALIGN) : bytes;
}

uint32_t scratch_tile_align(const Type *t) {
  // A swizzle is a function of address bits, so the tile must start where they are zero.
  for (uint32_t i = 0; t->layout && i < layout_total_bits(t->layout); i++)
    if (__builtin_popcount(t->layout->basis[i]) > 1) return SWIZZLE_ALIGN;
  return scratch_tile_bytes(t) > BARRIER_BYTES ? TMA_TILE_ALIGN : 16;
}

// ---- all ops ----

static uint32_t atomic_bytes(const Op *op, const Type *t) {
  if (!op->results[0].uses) return 0;
  if (!type_is_tensor(t)) return type_elem_bytes(t);
  if (!layout_free_bits(t->layout, LAYOUT_LANE) && !layout_free_bits(t->layout, LAYOUT_WARP)) return 0;
  return (uint32_t)type_bytes(t);
}

bool scratch_mirror_place(const Op *op, uint32_t *reg, uint32_t *lane) {
  const Layout *l = op->results[0].type->layout;
  const uint32_t mask = (uint32_t)op_int(op, ATTR_MIRROR, 0), regs = l->num_bits[LAYOUT_REG];
  if (!mask || op->operands[0].value->type->layout != l) return false;
  const Gf2Space warp = gf2_span(l->basis, regs + l->num_bits[LAYOUT_LANE]);
  uint32_t place = 0;
  if (gf2_reduce(&warp, mask << layout_axis_shift(l, (uint32_t)op_int(op, ATTR_AXIS, 0)), &place)) return false;
  *reg = place & ((1u << regs) - 1);
  *lane = place >> regs;
  return true;
}

bool scratch_meets_block(const Op *op) {
  return op->opcode != OP_CONVERT_LAYOUT ||
         scratch_convert_kind(op->operands[0].value->type, op->results[0].type) == CONVERT_SHARED;
}

uint32_t scratch_op_bytes(Context *ctx, const Op *op, uint32_t *align) {
  *align = 16;
  const Type *result = op->num_results ? op->results[0].type : NULL;
  uint32_t offsets[MAX_SCAN_OFFSETS], reg, lane;
  switch (op->opcode) {
  case OP_CONVERT_LAYOUT: {
    const Type *from = op->operands[0].value->type;
    if (scratch_convert_kind(from, result) < CONVERT_WARP) return 0;
    *align = 128;
    return (1u << layout_tensor_bits(from->layout)) * type_elem_bytes(type_elem(from));
  }
  case OP_REDUCE: return scratch_reduce_plan(ctx, op).bytes;
  case OP_SCAN: return scratch_scan_offsets(op, offsets);
  case OP_HISTOGRAM: return (uint32_t)type_numel(result) * 4;
  case OP_GATHER:
    if (scratch_mirror_place(op, &reg, &lane)) return 0;
    return (uint32_t)type_numel(op->operands[0].value->type) * type_elem_bytes(type_elem(result));
  case OP_DOT: return scratch_dot(op).bytes;
  case OP_MAKE_TENSOR_MAP: return *align = TENSOR_MAP_BYTES;
  case OP_ROLES: return roles_scratch_bytes(ctx, op);
  case OP_ATOMIC_RMW:
  case OP_ATOMIC_CAS: return atomic_bytes(op, result);
  default: return 0;
  }
}
