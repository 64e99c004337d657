// Linear maps on LLVM values. The code computes a thread's part of a map once, from tid (lane bits, then warp bits:
// tid's own bits); a register contributes a constant. One thread part serves all registers of a tensor.
#include "codegen/cg.h"

#include "ir/gf2.h"

PlaceMap placemap_of_layout(const Layout *l) {
  PlaceMap m = {.num_reg_bits = l->num_bits[LAYOUT_REG],
                .num_thread_bits = l->num_bits[LAYOUT_LANE] + l->num_bits[LAYOUT_WARP]};
  for (uint32_t i = 0; i < m.num_reg_bits; i++) m.reg[i] = layout_basis(l, LAYOUT_REG, i);
  for (uint32_t i = 0; i < l->num_bits[LAYOUT_LANE]; i++) m.thread[i] = layout_basis(l, LAYOUT_LANE, i);
  for (uint32_t i = 0; i < l->num_bits[LAYOUT_WARP]; i++)
    m.thread[l->num_bits[LAYOUT_LANE] + i] = layout_basis(l, LAYOUT_WARP, i);
  m.free_reg = layout_free_bits(l, LAYOUT_REG);
  m.free_thread = layout_free_bits(l, LAYOUT_LANE) | layout_free_bits(l, LAYOUT_WARP) << l->num_bits[LAYOUT_LANE];
  return m;
}

bool placemap_to_shared(const Layout *l, const Layout *shared, PlaceMap *out) {
  LayoutMap m;
  if (!layout_to_shared(l, shared, &m)) return false;
  *out = placemap_of_layout(l);
  out->moved = shared->moved;
  out->whole_bits = layout_whole_bits(shared);
  for (; out->num_pads < shared->num_pads; out->num_pads++) {
    out->pad[out->num_pads].interval = shared->pad[out->num_pads].interval;
    out->pad[out->num_pads].by = shared->pad[out->num_pads].by;
  }
  uint32_t at = 0;
  for (uint32_t i = 0; i < out->num_reg_bits; i++) out->reg[i] = layoutmap_out(&m, m.col[at++], LAYOUT_OFFSET);
  for (uint32_t i = 0; i < out->num_thread_bits; i++) out->thread[i] = layoutmap_out(&m, m.col[at++], LAYOUT_OFFSET);
  return true;
}

void placemap_scale(PlaceMap *m, uint32_t log2) {
  for (uint32_t i = 0; i < m->num_reg_bits; i++) m->reg[i] <<= log2;
  for (uint32_t i = 0; i < m->num_thread_bits; i++) m->thread[i] <<= log2;
  m->first <<= log2;
  for (uint32_t i = 0; i < m->num_pads; i++) m->pad[i].interval += log2, m->pad[i].by += log2;
  m->moved <<= log2;
}

uint32_t placemap_reg(const PlaceMap *m, uint32_t r) {
  uint32_t x = m->first;
  for (uint32_t i = 0; i < m->num_reg_bits; i++)
    if (r >> i & 1) x ^= m->reg[i];
  return x;
}

// If input bit i feeds output bit o, one mask and shift moves all bits with the same o − i. A layout of a few runs
// costs a few instructions.
LLVMValueRef cg_thread_bits(Cg *c, const uint32_t *columns, uint32_t n) {
  LLVMValueRef sum = NULL;
  uint32_t used = 0;
  for (int distance = -(int)n; distance < 32; distance++) {
    uint32_t mask = 0, out = 0;
    for (uint32_t i = 0; i < n; i++) {
      int o = (int)i + distance;
      if (o >= 0 && o < 32 && (columns[i] >> o & 1)) mask |= 1u << i, out |= 1u << o;
    }
    if (!mask) continue;
    // A run that ends at the top bit of tid needs no mask before a right shift, and all of tid needs none.
    uint32_t all = c->num_warps * WARP_SIZE - 1;
    uint32_t unmasked = distance < 0 ? all & ~((1u << -distance) - 1) : all;
    LLVMValueRef part = c->tid;
    if (mask != unmasked) part = cg_op(c, LLVMAnd, part, mask);
    if (distance > 0) part = cg_op(c, LLVMShl, part, (uint32_t)distance);
    if (distance < 0) part = cg_op(c, LLVMLShr, part, (uint32_t)-distance);
    if (!sum)
      sum = part;
    else if (used & out)
      sum = LLVMBuildXor(c->b, sum, part, "");
    else {
      sum = LLVMBuildOr(c->b, sum, part, "");
      if (LLVMIsAInstruction(sum)) LLVMSetIsDisjoint(sum, true);
    }
    used |= out;
  }
  return sum ? sum : cg_i32(c, 0);
}

LLVMValueRef placemap_thread(Cg *c, const PlaceMap *m) {
  LLVMValueRef x = cg_thread_bits(c, m->thread, m->num_thread_bits);
  return m->start ? cg_xor(c, x, m->start) : x;
}

uint32_t placemap_vector(const PlaceMap *m, uint32_t most, uint32_t bits[PLACEMAP_MAX_VECTOR]) {
  const uint32_t limit = m->num_pads || m->moved ? m->whole_bits : LAYOUT_MAX_BITS;
  uint32_t n = 0;
  for (uint32_t step = 1; 2u << n <= most && n < limit; step <<= 1) {
    int found = -1;
    uint32_t touching = 0;
    for (uint32_t i = 0; i < m->num_reg_bits; i++) {
      if (m->reg[i] == step && found < 0) found = (int)i;
      else if (m->reg[i] & step) touching++;
    }
    for (uint32_t i = 0; i < m->num_thread_bits; i++) touching += (m->thread[i] & step) != 0;
    if (found < 0 || touching) break;
    bits[n++] = (uint32_t)found;
  }
  return n;
}

uint32_t placemap_disjoint(const PlaceMap *m, uint32_t constant) {
  uint32_t mask = m->moved;
  for (uint32_t i = 0; i < m->num_thread_bits; i++) mask |= m->thread[i];
  return constant & ~mask;
}

uint32_t placemap_padded(const PlaceMap *m, uint32_t constant) {
  uint32_t sum = constant;
  for (uint32_t i = 0; i < m->num_pads; i++) sum += constant >> m->pad[i].interval << m->pad[i].by;
  return sum;
}

LLVMValueRef placemap_join(Cg *c, const PlaceMap *m, LLVMValueRef thread, uint32_t constant) {
  const uint32_t disjoint = placemap_disjoint(m, constant);
  const LLVMValueRef at = cg_xor(c, thread, cg_i32(c, constant & ~disjoint));
  // For offsets with no bit in common, the padding of their sum is the sum of their paddings.
  LLVMValueRef x = at;
  for (uint32_t i = 0; i < m->num_pads; i++)
    x = cg_add(c, x, cg_op(c, LLVMShl, cg_op(c, LLVMLShr, at, m->pad[i].interval), m->pad[i].by));
  if (!disjoint) return x;
  x = cg_op(c, LLVMAdd, x, placemap_padded(m, disjoint));
  if (LLVMIsAInstruction(x) && LLVMGetInstructionOpcode(x) == LLVMAdd) {
    LLVMSetNSW(x, true);
    LLVMSetNUW(x, true);
  }
  return x;
}

LLVMValueRef cg_owner_pred(Cg *c, uint32_t free_thread) {
  if (!free_thread || (c->is_owner && free_thread == UINT32_MAX)) return NULL;
  LLVMBasicBlockRef here = LLVMGetInsertBlock(c->b);
  if (c->owner.block != here || c->owner.tid != c->tid || c->owner.free_thread != free_thread) {
    LLVMValueRef bits = free_thread == UINT32_MAX ? c->tid : cg_op(c, LLVMAnd, c->tid, free_thread);
    c->owner.block = here, c->owner.tid = c->tid, c->owner.free_thread = free_thread;
    c->owner.pred = cg_cmp(c, LLVMIntEQ, bits, 0);
  }
  return c->owner.pred;
}

LLVMValueRef cg_layout_owner(Cg *c, const Type *t) {
  if (!type_is_tensor(t)) return cg_owner_pred(c, UINT32_MAX);
  PlaceMap m = placemap_of_layout(t->layout);
  return cg_owner_pred(c, m.free_thread);
}

const uint32_t *cg_reps(Cg *c, const Type *t) {
  const Layout *l = t->layout;
  if (!type_is_tensor(t)) {
    uint32_t count = cg_num_regs(t), *each = arena_array(c->arena, uint32_t, count);
    for (uint32_t r = 0; r < count; r++) each[r] = r;
    return each;
  }
  uint32_t bits = l->num_bits[LAYOUT_REG], n = 1u << bits, *reps = arena_array(c->arena, uint32_t, n);
  uint32_t free_bits = layout_free_bits(l, LAYOUT_REG), rep_of_bit[LAYOUT_MAX_BITS];
  for (uint32_t i = 0; i < bits; i++) {
    rep_of_bit[i] = 1u << i;
    if (!(free_bits >> i & 1)) continue;
    // A free column is a combination of earlier independent ones.
    Gf2Space s = gf2_span(&l->basis[layout_dim_start(l, LAYOUT_REG)], i);
    rep_of_bit[i] = 0;
    if (gf2_reduce(&s, layout_basis(l, LAYOUT_REG, i), &rep_of_bit[i]) != 0)
      ice(c->ctx, "codegen: free register bit outside the span");
    uint32_t combination = rep_of_bit[i];
    rep_of_bit[i] = 0;
    for (uint32_t j = 0; j < i; j++)
      if (combination >> j & 1) rep_of_bit[i] ^= rep_of_bit[j];
  }
  for (uint32_t r = 1; r < n; r++) {
    uint32_t low = (uint32_t)__builtin_ctz(r);
    reps[r] = reps[r & (r - 1)] ^ rep_of_bit[low];
  }
  return reps;
}

LLVMValueRef cg_axis_index(Cg *c, const Layout *l, uint32_t axis, uint32_t r, LLVMValueRef *thread) {
  PlaceMap m = placemap_of_layout(l);
  uint32_t mask = layout_axis_mask(l, axis), shift = layout_axis_shift(l, axis);
  for (uint32_t i = 0; i < m.num_reg_bits; i++) m.reg[i] = (m.reg[i] & mask) >> shift;
  for (uint32_t i = 0; i < m.num_thread_bits; i++) m.thread[i] = (m.thread[i] & mask) >> shift;
  if (!*thread) *thread = placemap_thread(c, &m);
  return placemap_join(c, &m, *thread, placemap_reg(&m, r));
}

CgValue *cg_rename(Cg *c, const CgValue *x, const Layout *dst, const Layout *src) {
  LayoutMap m;
  uint32_t n = layout_regs_per_thread(dst);
  if (x->splat) return cg_splat(c, n, x->v[0]);
  if (!layout_invert_and_compose(dst, src, &m) || layoutmap_move(&m) > MOVE_REGISTERS) return NULL;
  uint32_t *sources = arena_array(c->arena, uint32_t, n);
  CgValue *v = cg_value_new(c, n);
  v->v[0] = x->v[0];
  for (uint32_t r = 1; r < n; r++) {
    sources[r] = sources[r & (r - 1)] ^ layoutmap_out(&m, m.col[__builtin_ctz(r)], LAYOUT_REG);
    v->v[r] = x->v[sources[r]];
  }
  return v;
}

LLVMValueRef cg_uniform_warp(Cg *c) {
  if (c->uniform_warp) return c->uniform_warp;
  LLVMBasicBlockRef here = LLVMGetInsertBlock(c->b);
  LLVMMetadataRef line = LLVMGetCurrentDebugLocation2(c->b);
  LLVMValueRef next = LLVMGetNextInstruction(c->warp);
  if (next) LLVMPositionBuilderBefore(c->b, next);
  c->uniform_warp = cg_shuffle_idx(c, c->warp, cg_i32(c, 0));
  LLVMPositionBuilderAtEnd(c->b, here);
  LLVMSetCurrentDebugLocation2(c->b, line);
  return c->uniform_warp;
}
