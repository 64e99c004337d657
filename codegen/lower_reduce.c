// reduce combines registers of a thread, then lanes by shuffles, then warps through shared memory, in the order that
// ir/reduce_order.h states. Several operands go together through one combine region, emitted inline at every step.
#include "codegen/tuple.h"
#include "ir/reduce_order.h"

enum { MAX_ROWS = 64, MANY_HALVES = 64 };

typedef struct {
  Combine of;
  bool symmetric;          // combine(a, b) = combine(b, a) bit for bit
  uint32_t positions;      // tuple_positions
  uint32_t ordered;        // lane bits whose fold combines an earlier part of the axis with a later one
} Reduction;

// If the region is one commutative op per operand, both partners of an exchange get the same bits whichever comes
// first.
static bool is_symmetric(Block *b, uint32_t n) {
  Op *end = block_terminator(b);
  for (uint32_t i = 0; i < n; i++) {
    Value *v = op_operand(end, i);
    const Op *def = v->def;
    if (!def || !op_is(def, TRAIT_COMMUTES) || def->num_operands != 2) return false;
    Value *x = op_operand(def, 0), *y = op_operand(def, 1);
    bool straight = x == b->args[i] && y == b->args[n + i], crossed = y == b->args[i] && x == b->args[n + i];
    if (!straight && !crossed) return false;
  }
  return true;
}

// Whether the next combinations take an earlier part of the axis first and a later one second.
static void set_ordered(Reduction *red, bool ordered) { red->of.rising = ordered ? red->positions : 0; }

// Register r of every operand = combine(register r, register other).
static void fold_pair(const Reduction *red, CgValue *const *v, uint32_t r, uint32_t other) {
  Tuple a = tuple_get(&red->of, v, r), b = tuple_get(&red->of, v, other), both = tuple_combine(&red->of, &a, &b);
  tuple_put(&red->of, v, r, &both);
}

// Combines register r with the partner's at a lane bit. In order, both lanes get the right result; otherwise each lane
// takes its own first, which is right where the bit is clear.
static void fold_lanes(Reduction *red, CgValue *const *v, uint32_t r, uint32_t lane_bit, bool in_order) {
  Cg *c = red->of.c;
  LLVMValueRef upper = NULL;
  if (!red->symmetric && in_order) upper = cg_cmp(c, LLVMIntNE, cg_op(c, LLVMAnd, c->lane, 1u << lane_bit), 0);
  Tuple own = tuple_get(&red->of, v, r), got = {0};
  for (uint32_t i = 0; i < red->of.n; i++) {
    got.x[i] = cg_shuffle_xor(c, own.x[i], 1u << lane_bit);
    if (!upper) continue;
    LLVMValueRef first = cg_select(c, upper, got.x[i], own.x[i]);
    got.x[i] = cg_select(c, upper, own.x[i], got.x[i]);
    own.x[i] = first;
  }
  set_ordered(red, !red->symmetric && red->ordered >> lane_bit & 1);
  Tuple both = tuple_combine(&red->of, &own, &got);
  tuple_put(&red->of, v, r, &both);
}

// Folds register r over several lane bits, from the lowest. Where the order matters, only the lanes whose bits are
// clear combine in order, and the others take the result from them: one shuffle instead of two selects at each bit.
static void fold_lane_bits(Reduction *red, CgValue *const *v, uint32_t r, uint32_t lane_bits) {
  Cg *c = red->of.c;
  const bool fetches = !red->symmetric && __builtin_popcount(lane_bits) > 1;
  for (uint32_t b = 0; b < 5; b++)
    if (lane_bits >> b & 1) fold_lanes(red, v, r, b, !fetches);
  if (!fetches) return;
  Tuple x = tuple_get(&red->of, v, r);
  LLVMValueRef from = cg_op(c, LLVMAnd, c->lane, 31 & ~lane_bits);
  for (uint32_t i = 0; i < red->of.n; i++) x.x[i] = cg_shuffle_idx(c, x.x[i], from);
  tuple_put(&red->of, v, r, &x);
}

// The rows that a warp reduces together. Each register listed holds part of another row.
typedef struct { uint32_t reg[MAX_ROWS], count; uint32_t lane_bits; } Rows;

// Of two rows the one that the lane's bit chooses goes on in this lane, in register r; the other in its partner.
static void split_pair(Reduction *red, CgValue *const *v, uint32_t r, uint32_t other, uint32_t lane_bit) {
  Cg *c = red->of.c;
  LLVMValueRef upper = cg_cmp(c, LLVMIntNE, cg_op(c, LLVMAnd, c->lane, 1u << lane_bit), 0);
  Tuple a = tuple_get(&red->of, v, r), b = tuple_get(&red->of, v, other);
  Tuple own = tuple_select(&red->of, upper, &b, &a), got = tuple_select(&red->of, upper, &a, &b);
  for (uint32_t k = 0; k < red->of.n; k++) got.x[k] = cg_shuffle_xor(c, got.x[k], 1u << lane_bit);
  Tuple first = own, second = got;
  if (!red->symmetric) {
    first = tuple_select(&red->of, upper, &got, &own);
    second = tuple_select(&red->of, upper, &own, &got);
  }
  set_ordered(red, !red->symmetric && red->ordered >> lane_bit & 1);
  Tuple both = tuple_combine(&red->of, &first, &second);
  tuple_put(&red->of, v, r, &both);
}

// The rows of the half of the list that the lane's bit chooses go on in this lane, the others in its partner.
static void split_rows(Reduction *red, CgValue *const *v, Rows *rows, uint32_t lane_bit) {
  rows->count /= 2;
  for (uint32_t i = 0; i < rows->count; i++) split_pair(red, v, rows->reg[i], rows->reg[i + rows->count], lane_bit);
}

// Folds lanes that keep different rows. Returns the register bits that tell those apart.
static uint32_t fold_kept(Reduction *red, CgValue *const *v, const uint32_t *reps, const ReducePlan *plan,
                          uint32_t lane_bits, uint32_t folded) {
  const uint32_t n = v[0]->count;
  uint32_t kept = 0;
  for (uint32_t b = 0; b < 5; b++) {
    if (!(lane_bits >> b & 1)) continue;
    const uint32_t bit = plan->keeps[b];
    kept |= bit;
    for (uint32_t r = 0; r < n; r++) {
      if ((r & (folded | kept)) || reps[r] != r) continue;
      if (bit) split_pair(red, v, r, r | bit, b);
      else fold_lanes(red, v, r, b, true);
    }
  }
  return kept;
}

// Folds many rows with fewer shuffles than one for each row and lane bit. At each lane bit a lane goes on with half of
// the rows and gets its partner's part of them, until one row is left; then lanes exchange that as fold_lanes does. At
// the end every lane fetches every row. The partners of each combination are those of fold_lanes.
static void fold_rows(Reduction *red, CgValue *const *v, Rows rows) {
  Cg *c = red->of.c;
  const uint32_t all = rows.count;
  uint32_t split[5], splits = 0;
  for (uint32_t b = 0; b < 5; b++) {
    if (!(rows.lane_bits >> b & 1)) continue;
    if (rows.count > 1) {
      split_rows(red, v, &rows, b);
      split[splits++] = b;
    } else {
      fold_lanes(red, v, rows.reg[0], b, false);
    }
  }
  Tuple kept[MAX_ROWS];
  for (uint32_t i = 0; i < rows.count; i++) kept[i] = tuple_get(&red->of, v, rows.reg[i]);
  LLVMValueRef others = cg_op(c, LLVMAnd, c->lane, 31 & ~rows.lane_bits);
  for (uint32_t i = 0; i < all; i++) {
    uint32_t lane = 0;
    for (uint32_t s = 0; s < splits; s++)
      if (i & (all >> (s + 1))) lane |= 1u << split[s];
    Tuple x = kept[i & (rows.count - 1)];
    for (uint32_t k = 0; k < red->of.n; k++) x.x[k] = cg_shuffle_idx(c, x.x[k], cg_op(c, LLVMOr, others, lane));
    tuple_put(&red->of, v, rows.reg[i], &x);
  }
}

// The instruction that reduces 32-bit integers over all lanes; NULL if there is none.
static const char *redux_name(const Reduction *red, const Type *t) {
  if (red->of.n != 1 || !red->symmetric || !type_is_int(t) || type_elem_bits(t) != 32) return NULL;
  switch (block_terminator(red->of.op->blocks[0])->operands[0].value->def->opcode) {
  case OP_ADDI: return "add.s32";
  case OP_MINSI: return "min.s32";
  case OP_MAXSI: return "max.s32";
  case OP_MINUI: return "min.u32";
  case OP_MAXUI: return "max.u32";
  case OP_ANDI: return "and.b32";
  case OP_ORI: return "or.b32";
  case OP_XORI: return "xor.b32";
  default: return NULL;
  }
}

static void fold_all_lanes(const Reduction *red, CgValue *const *v, uint32_t r, const char *name) {
  CgAsm a = cg_asm_new(red->of.c);
  cg_asm_result(&a, red->of.c->t_i32);
  cg_asm_arg(&a, v[0]->v[r]);
  buf_printf(&a.text, "redux.sync.%s $0, $1, 0xffffffff;", name);
  v[0]->v[r] = cg_asm_call(&a, INSN_REDUX);
}

// The lanes that differ from this one in the given bits of their number only, as a mask.
static LLVMValueRef lane_group(Cg *c, uint32_t lane_bits) {
  uint32_t group = 0;
  for (uint32_t l = 0; l < WARP_SIZE; l++)
    if (!(l & ~lane_bits)) group |= 1u << l;
  return LLVMBuildShl(c->b, cg_i32(c, group), cg_op(c, LLVMAnd, c->lane, 31 & ~lane_bits), "");
}

// Combines predicates over lane bits by one vote.
static LLVMValueRef vote(Cg *c, Opcode by, LLVMValueRef x, uint32_t lane_bits) {
  const bool all = by == OP_ANDI;
  if (!lane_bits) return x;
  if (lane_bits == 31 && by != OP_XORI) return cg_insn(c, all ? INSN_VOTE_ALL : INSN_VOTE_ANY, c->t_i1, &x, 1);
  if (all) x = LLVMBuildNot(c->b, x, "");
  LLVMValueRef votes = cg_insn(c, INSN_VOTE_BALLOT, c->t_i32, &x, 1);
  if (lane_bits != 31) votes = LLVMBuildAnd(c->b, votes, lane_group(c, lane_bits), "");
  if (by == OP_XORI) votes = cg_op(c, LLVMAnd, cg_unary_intrinsic(c, "llvm.ctpop", votes), 1);
  return cg_cmp(c, all ? LLVMIntEQ : LLVMIntNE, votes, 0);
}

// Combines register r over the lane bits, or over the block, by one instruction that tells all of them the result.
static void fold_at_once(const Reduction *red, CgValue *const *v, uint32_t r, uint32_t lane_bits, const char *redux,
                         const ReducePlan *plan) {
  Cg *c = red->of.c;
  if (redux) fold_all_lanes(red, v, r, redux);
  else if (plan->at_barrier) v[0]->v[r] = cg_barrier_vote(c, plan->vote == OP_ANDI, v[0]->v[r]);
  else v[0]->v[r] = vote(c, plan->vote, v[0]->v[r], lane_bits);
}

// Where the partial results lie: the element of the result in the low bits, the warp's number along the axis above it.
static PlaceMap partial_map(const Layout *in, const Layout *partial, uint32_t axis, uint32_t element_bits) {
  PlaceMap m = {0};
  if (partial)
    m = placemap_of_layout(partial);
  else
    m.num_thread_bits = (uint32_t)in->num_bits[LAYOUT_LANE] + in->num_bits[LAYOUT_WARP];
  if (!partial) m.free_thread = (1u << m.num_thread_bits) - 1;
  AxisPlace at[LAYOUT_MAX_BITS];
  reduce_axis_places(in, axis, at);
  uint32_t number = 0, lanes = in->num_bits[LAYOUT_LANE];
  for (uint32_t w = 0; w < in->num_bits[LAYOUT_WARP]; w++)
    for (uint32_t i = 0; i < in->log2_size[axis]; i++)
      if (at[i].dim == LAYOUT_WARP && at[i].bit == w) {
        m.thread[lanes + w] = 1u << (element_bits + number++);
        m.free_thread &= ~(1u << (lanes + w));
      }
  return m;
}

// Lets lanes that fold many rows together keep their halves: each then stores its own rows for the other warps.
static void keep_partials(const Reduction *red, ReducePlan *plan, uint32_t axis) {
  const Type *in = op_operand(red->of.op, 0)->type;
  AxisPlace at[LAYOUT_MAX_BITS];
  reduce_axis_places(in->layout, axis, at);
  Layout l = *plan->partial;
  const uint32_t regs = l.num_bits[LAYOUT_REG];
  uint32_t own = ((1u << regs) - 1) & ~layout_free_bits(&l, LAYOUT_REG), lane_bits = 0, lanes = 0, shuffles;
  for (uint32_t i = 0; i < in->layout->log2_size[axis]; i++)
    if (at[i].dim == LAYOUT_LANE) lane_bits |= 1u << at[i].bit, lanes++;
  if (plan->vote != NUM_OPS || (lanes == 5 && redux_name(red, in))) return;
  if (!reduce_by_halves(1u << __builtin_popcount(own), lanes, &shuffles)) return;
  for (uint32_t b = 0; b < 5 && own; b++) {
    if (!(lane_bits >> b & 1)) continue;
    const uint32_t top = log2_u32(own);
    plan->keeps[b] = 1u << top;
    l.basis[regs + b] = l.basis[top];
    l.basis[top] = 0;
    own &= ~plan->keeps[b];
  }
  plan->partial = layout_intern(red->of.c->ctx, &l);
  plan->lanes_keep = true;
}

static void through_shared(Reduction *red, CgValue **v, const ReducePlan *plan, uint32_t axis) {
  Cg *c = red->of.c;
  Op *op = red->of.op;
  const Type *in = op_operand(op, 0)->type, *result = op_result(op, 0)->type;
  uint32_t lanes = in->layout->num_bits[LAYOUT_LANE];
  uint32_t element_bits = type_is_tensor(result) ? layout_tensor_bits(result->layout) : 0;
  PlaceMap store = partial_map(in->layout, plan->partial, axis, element_bits);
  PlaceMap load = {.num_thread_bits = lanes};
  if (type_is_tensor(result)) load = placemap_of_layout(result->layout);
  // The low bits of a partial result's number become register bits, which one vector reads; the others, bits of lanes
  // that hold the same element of the result, as far as there are free lane bits.
  uint32_t regs = 1u << load.num_reg_bits, partial_bits = log2_u32(plan->num_partials), vector = 0, free_lanes[5];
  uint32_t num_free = 0;
  for (uint32_t b = 0; b < lanes; b++)
    if (load.thread[b] == 0) free_lanes[num_free++] = b;
  while (element_bits == 0 && vector < partial_bits && type_elem_bits(in) << (vector + 1) <= 128) vector++;
  uint32_t in_lanes = (uint32_t)min_i64(num_free, partial_bits - vector), in_regs = partial_bits - in_lanes;
  for (uint32_t i = 0; i < in_regs; i++) load.reg[load.num_reg_bits++] = 1u << (element_bits + i);
  for (uint32_t i = 0; i < in_lanes; i++) load.thread[free_lanes[i]] = 1u << (element_bits + in_regs + i);
  tuple_exchange(&red->of, plan->offsets, &store, v, &load, v);
  red->ordered = 0;
  set_ordered(red, false);
  const uint32_t *reps = cg_reps(c, result);
  for (uint32_t r = 0; r < regs; r++) {
    if (reps[r] != r) {
      for (uint32_t i = 0; i < red->of.n; i++) v[i]->v[r] = v[i]->v[reps[r]];
      continue;
    }
    for (uint32_t step = 1; step < 1u << in_regs; step *= 2)
      for (uint32_t p = 0; p < 1u << in_regs; p += 2 * step) fold_pair(red, v, r + p * regs, r + (p + step) * regs);
    uint32_t lane_bits = 0;
    for (uint32_t i = 0; i < in_lanes; i++) lane_bits |= 1u << free_lanes[i];
    fold_lane_bits(red, v, r, lane_bits);
  }
  for (uint32_t i = 0; i < red->of.n; i++) v[i]->count = regs;
}

// Begins a sum of products of v and other by a chain of multiply-adds over the registers that the first `count` bits of
// the order bring together. Returns those register bits.
static uint32_t sum_products(const Reduction *red, CgValue *v, const uint32_t *reps, const AxisPlace *at,
                             const uint8_t *order, uint32_t count) {
  Cg *c = red->of.c;
  const CgValue *other = cg_get(op_operand(red->of.op, 1));
  uint32_t chained = 0, n = v->count;
  for (uint32_t k = 0; k < count; k++) chained |= 1u << at[order[k]].bit;
  for (uint32_t r = 0; r < n; r++) {
    if ((r & chained) || reps[r] != r) continue;
    LLVMValueRef sum = NULL;
    for (uint32_t number = 0; number < 1u << count; number++) {
      uint32_t from = r;
      for (uint32_t k = 0; k < count; k++)
        if (number >> k & 1) from |= 1u << at[order[k]].bit;
      LLVMValueRef args[3] = {v->v[from], cg_reg(other, from), sum};
      sum = sum ? cg_call_intrinsic(c, "llvm.fma", &c->t_f32, 1, args, 3) : LLVMBuildFMul(c->b, args[0], args[1], "");
    }
    v->v[r] = sum;
  }
  return chained;
}

// Whether the region does nothing with operand i but compare the two and choose one.
static bool only_chooses(const Op *op, uint32_t i) {
  const Block *b = op->blocks[0];
  const Value *pair[2] = {b->args[i], b->args[op->num_results + i]}, *chosen = op_operand(block_terminator(b), i);
  if (!chosen->def || chosen->def->opcode != OP_SELECT || !value_has_one_use(chosen)) return false;
  for (uint32_t k = 0; k < 2; k++)
    EACH_USE(u, pair[k]) {
      const Op *user = u->user;
      const uint32_t from = user == chosen->def;         // a select's first operand is its condition
      if (!from && user->opcode != OP_CMPF) return false;
      for (uint32_t n = 0; n < 2; n++)
        if (op_operand(user, from + n) != pair[0] && op_operand(user, from + n) != pair[1]) return false;
    }
  return true;
}

// The value whose many 16-bit floats operand i is, as they are or extended to f32; NULL if it is another.
static const Value *half_source(const Op *op, uint32_t i) {
  const Value *x = op_operand(op, i);
  if (cg_elem_kind(x->type) == SC_F32 && x->def && x->def->opcode == OP_FPEXT) x = op_operand(x->def, 0);
  const ScalarKind k = cg_elem_kind(x->type);
  return (k == SC_F16 || k == SC_BF16) && cg_num_regs(x->type) >= MANY_HALVES && only_chooses(op, i) ? x : NULL;
}

// 16-bit floats that the region only chooses among go through the folds of a thread's registers as f32, in a form that
// LLVM does not narrow. Of comparisons of 16 bits the assembler makes pairs, and it issues a load only when it has
// made those of the load before.
static void widen_halves(const Reduction *red, CgValue *const *v, uint32_t n) {
  Cg *c = red->of.c;
  for (uint32_t i = 0; i < red->of.n; i++) {
    const Value *half = half_source(red->of.op, i);
    for (uint32_t r = 0; half && r < n; r++) {
      LLVMValueRef x = cg_bitcast(c, cg_reg(cg_get(half), r), c->t_i16);
      if (cg_elem_kind(half->type) == SC_F16) x = cg_insn(c, INSN_CVT_F32_F16, c->t_f32, &x, 1);
      else x = cg_bitcast(c, cg_op(c, LLVMShl, LLVMBuildZExt(c->b, x, c->t_i32, ""), 16), c->t_f32);
      v[i]->v[r] = x;
    }
  }
}

// Ends what widen_halves began, in the registers that are left.
static void narrow_halves(const Reduction *red, CgValue *const *v, uint32_t n, uint32_t folded, const uint32_t *reps) {
  Cg *c = red->of.c;
  for (uint32_t i = 0; i < red->of.n; i++) {
    LLVMTypeRef elem = cg_elem_type(c, op_operand(red->of.op, i)->type);
    if (elem == c->t_f32 || !half_source(red->of.op, i)) continue;
    for (uint32_t r = 0; r < n; r++) {
      if ((r & folded) || reps[r] != r) continue;
      LLVMValueRef x = cg_op(c, LLVMLShr, cg_bitcast(c, v[i]->v[r], c->t_i32), 16);
      v[i]->v[r] = elem == c->t_f16 ? LLVMBuildFPTrunc(c->b, v[i]->v[r], elem, "")
                                    : cg_bitcast(c, LLVMBuildTrunc(c->b, x, c->t_i16, ""), elem);
    }
  }
}

// Folds the registers of each thread and then the lanes of each warp along the axis. Every register gets the result
// of those that it was folded with.
static void fold_in_warps(Reduction *red, CgValue *const *v, const ReducePlan *plan, uint32_t axis) {
  Cg *c = red->of.c;
  const Type *t = op_operand(red->of.op, 0)->type;
  AxisPlace at[LAYOUT_MAX_BITS];
  reduce_axis_places(t->layout, axis, at);
  uint8_t order[LAYOUT_MAX_BITS];
  uint32_t n = cg_num_regs(t), num_bits = reduce_order(t, axis, order), folded = 0, lane_bits = 0, lanes = 0;
  uint32_t chained = 0, top = 0;          // the bits of the axis' index below it include all that have been folded
  const uint32_t *reps = cg_reps(c, t);
  if (op_int(red->of.op, ATTR_PRODUCT, 0)) {
    chained = reduce_product_folds(t, axis);
    folded = sum_products(red, v[0], reps, at, order, chained);
  }
  widen_halves(red, v, n);
  for (uint32_t k = 0; k < num_bits; k++) {
    AxisPlace p = at[order[k]];
    if (p.dim == LAYOUT_LANE) lane_bits |= 1u << p.bit, lanes++;
    const bool above = order[k] + 1u > top;
    top = above ? order[k] + 1u : top;
    if (p.dim == LAYOUT_LANE && above) red->ordered |= 1u << p.bit;
    set_ordered(red, above);
    if (p.dim != LAYOUT_REG || k < chained) continue;
    folded |= 1u << p.bit;
    for (uint32_t r = 0; r < n; r++)
      if (!(r & folded) && reps[r] == r) fold_pair(red, v, r, r | 1u << p.bit);
  }
  narrow_halves(red, v, n, folded, reps);
  const char *redux = lanes == 5 ? redux_name(red, t) : NULL;
  const bool at_once = redux || plan->vote != NUM_OPS;
  Rows rows = {.lane_bits = lane_bits};
  uint32_t num_rows = 0, shuffles;
  for (uint32_t r = 0; r < n; r++)
    if (!(r & folded) && reps[r] == r && num_rows++ < MAX_ROWS) rows.reg[rows.count++] = r;
  if (plan->lanes_keep) {
    folded |= fold_kept(red, v, reps, plan, lane_bits, folded);
  } else if (!at_once && num_rows <= MAX_ROWS && reduce_by_halves(num_rows, lanes, &shuffles)) {
    fold_rows(red, v, rows);
  } else {
    for (uint32_t r = 0; r < n; r++) {
      if ((r & folded) || reps[r] != r) continue;
      if (at_once) fold_at_once(red, v, r, lane_bits, redux, plan);
      else fold_lane_bits(red, v, r, lane_bits);
    }
  }
  for (uint32_t i = 0; i < red->of.n; i++)
    for (uint32_t r = 0; r < n; r++) {
      uint32_t from = reps[r] & ~folded;
      if (from != r) v[i]->v[r] = v[i]->v[reps[from]];
    }
}

void emit_reduce(Cg *c, Op *op) {
  uint32_t axis = (uint32_t)op_int(op, ATTR_AXIS, 0), n = cg_num_regs(op_operand(op, 0)->type);
  Reduction red = {.of = {.c = c, .op = op, .n = op->num_results},
                   .symmetric = is_symmetric(op->blocks[0], op->num_results),
                   .positions = tuple_positions(op)};
  ReducePlan plan = scratch_reduce_plan(c->ctx, op);
  CgValue *v[MAX_COMBINED];
  for (uint32_t i = 0; i < red.of.n; i++) {
    const CgValue *x = cg_get(op_operand(op, i));
    v[i] = cg_value_new(c, n);
    for (uint32_t r = 0; r < n; r++) v[i]->v[r] = cg_reg(x, r);
  }
  if (plan.through_shared && plan.partial) keep_partials(&red, &plan, axis);
  fold_in_warps(&red, v, &plan, axis);
  if (plan.through_shared) through_shared(&red, v, &plan, axis);
  for (uint32_t i = 0; i < red.of.n; i++) {
    const Type *result = op_result(op, i)->type;
    CgValue *out = v[i];
    if (!type_is_tensor(result)) out = cg_splat(c, 1, v[i]->v[0]);
    else if (!plan.through_shared) out = cg_rename(c, v[i], result->layout, plan.partial);
    if (!out) cg_unsupported(c, op, "the result's layout is not reached");
    cg_set(op_result(op, i), out);
  }
}
