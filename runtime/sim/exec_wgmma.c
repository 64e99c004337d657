// wgmma at its issue: checks, and the queue entry that all four warps share. wgmma.c computes; mma.c has placement
// and arithmetic.
#include <stdlib.h>
#include <string.h>

#include "runtime/sim/exec_matrix.h"
#include "runtime/sim/shadow.h"

static Warp *group_leader(const Warp *w) { return &w->cta->warps[w->id & ~3u]; }

// Do all lanes hold the same value, as descriptors and scale-d must?
static bool uniform(const uint64_t *row, uint64_t *out) {
  *out = row[0];
  for (int l = 1; l < WARP_SIZE; l++)
    if (row[l] != row[0]) return false;
  return true;
}

// Calls fn for each 16-byte chunk of shared memory that a descriptor's matrix (`rows` of M or N from first_row)
// covers.
typedef ExecResult (*ChunkFn)(void *user, uint32_t offset);
static ExecResult each_chunk(uint64_t desc, bool mn_major, unsigned elem_bytes, unsigned first_row, unsigned rows,
                             unsigned k_count, ChunkFn fn, void *user) {
  MmaDescriptor d;
  mma_descriptor_decode(desc, &d);
  unsigned per = 16 / elem_bytes;
  unsigned outer = mn_major ? k_count : rows, inner = (mn_major ? rows : k_count) / per;
  for (unsigned o = 0; o < outer; o++)
    for (unsigned i = 0; i < inner; i++) {
      unsigned row = first_row + (mn_major ? i * per : o), k = mn_major ? o : i * per;
      TRY(fn(user, mma_descriptor_address(&d, mn_major, elem_bytes, row, k)));
    }
  return EXEC_NEXT;
}

typedef struct { Warp *w; AsyncOp *op; const Instr *in; } ChunkCheck;
static ExecResult check_chunk(void *user, uint32_t address) {
  ChunkCheck *c = user;
  if (address < SHARED_BASE || address - SHARED_BASE + 16 > c->w->cta->shared_size)
    return sim_report(c->w->grid, c->w, c->in, -1, REPORT_OUT_OF_BOUNDS,
                      "wgmma reads shared memory at 0x%x, outside the CTA's %u bytes", address, c->w->cta->shared_size);
  return agent_wgmma_reads(c->w, c->op, address - SHARED_BASE, 16);
}

static uint32_t absolute(const WgmmaFlight *f, const PtxOperand *o) { return f->base + o->slot; }

static void count_flight(WarpAsync *wa, const WgmmaFlight *f, int by) {
  const WgmmaForm *form = f->in->aux;
  for (uint32_t i = 0; i < f->in->ops[0].count; i++) wa->acc_count[absolute(f, &f->in->ops[0].sub[i])] += (uint16_t)by;
  if (!form->a_in_registers) return;
  for (uint32_t i = 0; i < f->in->ops[1].count; i++)
    if (f->in->ops[1].sub[i].kind == OPND_REG) wa->src_count[absolute(f, &f->in->ops[1].sub[i])] += (uint16_t)by;
}

// wait_group: groups below are no longer in flight.
static void release(Warp *w, uint32_t below_group) {
  WarpAsync *wa = async_of_warp(w);
  uint32_t kept = 0;
  for (uint32_t i = 0; i < wa->num_flight; i++) {
    if (wa->flight[i].group < below_group) count_flight(wa, &wa->flight[i], -1);
    else wa->flight[kept++] = wa->flight[i];
  }
  wa->num_flight = kept;
  kept = 0;
  for (uint32_t i = 0; i < wa->num_alias; i++) {
    if (wa->alias[i].group < below_group) wa->acc_count[wa->alias[i].to]--;
    else wa->alias[kept++] = wa->alias[i];
  }
  wa->num_alias = kept;
}

// A wgmma may share accumulators with one in flight only register by register and in the same shape. It may never use
// them as A.
static ExecResult check_registers(Warp *w, const Instr *in) {
  WarpAsync *wa = async_of_warp(w);
  const WgmmaForm *form = in->aux;
  WgmmaFlight mine = {in, w->base, wa->wgmma_committed};
  uint32_t top = w->base + w->grid->func->num_slots;
  for (uint32_t i = 0; i < in->ops[0].count; i++)
    if (absolute(&mine, &in->ops[0].sub[i]) >= top) top = absolute(&mine, &in->ops[0].sub[i]) + 1;
  async_reserve_slots(w, top);
  bool checks = w->grid->checks & CHECK_ASYNC;
  for (uint32_t i = 0; checks && i < in->ops[0].count; i++) {
    uint32_t slot = absolute(&mine, &in->ops[0].sub[i]);
    if (wa->written[slot] >= wa->fence_epoch)
      return warp_report(w, in, -1, REPORT_ASYNC, "accumulator register %u was written since the last wgmma.fence", i);
    if (!wa->acc_count[slot] && !wa->src_count[slot]) continue;
    for (uint32_t j = 0; j < wa->num_flight; j++) {
      const WgmmaFlight *f = &wa->flight[j];
      const WgmmaForm *other = f->in->aux;
      bool same_place = i < f->in->ops[0].count && absolute(f, &f->in->ops[0].sub[i]) == slot;
      bool same_shape = other->spec.n == form->spec.n && other->spec.k == form->spec.k && other->spec.d == form->spec.d;
      if (same_place && same_shape) continue;
      for (uint32_t k = 0; k < f->in->ops[0].count; k++)
        if (absolute(f, &f->in->ops[0].sub[k]) == slot)
          return warp_report(
              w, in, -1, REPORT_ASYNC,
              "accumulator register %u belongs to the wgmma of ptx:%u, of another shape or order, which is still in "
              "flight",
              i, f->in->line);
    }
    if (wa->src_count[slot])
      return warp_report(w, in, -1, REPORT_ASYNC, "accumulator register %u is an A operand of a wgmma still in flight",
                         i);
  }
  for (uint32_t i = 0; checks && form->a_in_registers && i < in->ops[1].count; i++) {
    if (in->ops[1].sub[i].kind != OPND_REG) continue;
    uint32_t slot = absolute(&mine, &in->ops[1].sub[i]);
    if (slot < wa->num_slots && wa->acc_count[slot])
      return warp_report(w, in, -1, REPORT_ASYNC, "A register %u is the accumulator of a wgmma still in flight", i);
    if (slot < wa->num_slots && wa->written[slot] >= wa->fence_epoch)
      return warp_report(w, in, -1, REPORT_ASYNC, "A register %u was written since the last wgmma.fence", i);
  }
  if (wa->num_flight == wa->cap_flight) {
    wa->cap_flight = wa->cap_flight ? 2 * wa->cap_flight : 16;
    wa->flight = realloc(wa->flight, wa->cap_flight * sizeof *wa->flight);
  }
  for (uint32_t i = 0; form->a_in_registers && i < in->ops[1].count; i++)
    async_reserve_slots(w, absolute(&mine, &in->ops[1].sub[i]) + 1);
  wa->flight[wa->num_flight++] = mine;
  count_flight(wa, &mine, 1);
  return EXEC_NEXT;
}

// What one warp passes to a wgmma apart from registers.
typedef struct { uint64_t desc_a, desc_b; bool use_c; } WarpPart;

static ExecResult read_part(Warp *w, const Instr *in, WarpPart *part) {
  const WgmmaForm *form = in->aux;
  MmaDescriptor d;
  *part = (WarpPart){.use_c = true};
  if ((!form->a_in_registers && !uniform(src_at(w, in, 1), &part->desc_a)) || !uniform(src_at(w, in, 2), &part->desc_b))
    return warp_report(w, in, -1, REPORT_INVALID, "a wgmma descriptor differs between the threads of a warp");
  const char *wrong = form->a_in_registers ? NULL : mma_descriptor_decode(part->desc_a, &d);
  if (!wrong) wrong = mma_descriptor_decode(part->desc_b, &d);
  if (wrong) return warp_report(w, in, -1, REPORT_INVALID, "wgmma descriptor: %s", wrong);
  uint32_t lanes = src_pred(w, &in->ops[3]);
  if (lanes && lanes != FULL_MASK)
    return warp_report(w, in, -1, REPORT_INVALID, "scale-d differs between the threads of a warp");
  part->use_c = lanes != 0;
  return EXEC_NEXT;
}

static ExecResult check_chunks(Warp *w, const Instr *in, AsyncOp *op, const WarpPart *mine) {
  const WgmmaForm *form = in->aux;
  ChunkCheck check = {w, op, in};
  unsigned es = mma_type_info(form->spec.a)->bits / 8;
  if (!form->a_in_registers)
    TRY(each_chunk(mine->desc_a, form->trans_a, es, 16 * (w->id & 3), 16, form->spec.k, check_chunk, &check));
  return each_chunk(mine->desc_b, form->trans_b, es, 0, form->spec.n, form->spec.k, check_chunk, &check);
}

static ExecResult exec_wgmma(Warp *w, const Instr *in, uint32_t mask) {
  if (!whole_warp(w, mask)) return EXEC_STALL;
  uint32_t part = w->id & 3;
  Warp *leader = group_leader(w);
  if (mask != FULL_MASK || leader->id + 4 > w->cta->num_warps)
    return warp_report(w, in, -1, REPORT_DIVERGENT, "wgmma needs the 128 threads of a warpgroup");
  WarpAsync *wa = async_of_warp(w);
  AsyncOp *op = NULL;
  for (AsyncOp *o = async_of_cluster(w->cta->cluster)->first; o && !op; o = o->next)
    if (o->kind == ASYNC_WGMMA && o->warp == leader && o->wgmma.index == wa->wgmma_issued) op = o;
  if (op && op->in != in)
    return warp_report(w, in, -1, REPORT_DIVERGENT,
                       "the warps of a warpgroup execute different wgmma: ptx:%u and ptx:%u", op->in->line, in->line);
  WarpPart mine;
  TRY(read_part(w, in, &mine));
  if (op) {
    uint32_t first = (uint32_t)__builtin_ctz(op->wgmma.issued);
    if (op->wgmma.desc_b[first] != mine.desc_b || op->wgmma.desc_a[first] != mine.desc_a ||
        op->wgmma.use_c[first] != mine.use_c)
      return warp_report(w, in, -1, REPORT_INVALID,
                         "the warps of a warpgroup give wgmma different descriptors or scale-d");
  }
  TRY(check_registers(w, in));
  bool is_new = !op;
  if (is_new) op = async_new(leader, in, -1, ASYNC_WGMMA);
  AsyncWgmma *g = &op->wgmma;
  agent_wgmma_issue(w, op);
  TRY(check_chunks(w, in, op, &mine));
  g->issued |= 1u << part;
  g->base[part] = w->base;
  g->group[part] = wa->wgmma_committed;
  g->desc_a[part] = mine.desc_a, g->desc_b[part] = mine.desc_b;
  g->use_c[part] = mine.use_c;
  g->index = wa->wgmma_issued++;
  w->grid->progress++;
  if (is_new) return async_issue(op);
  if (g->issued == 15 && async_policy(w->grid) == POLICY_EARLY && async_can_perform(op)) return async_finish(op);
  return EXEC_NEXT;
}

static ExecResult exec_wgmma_fence(Warp *w, const Instr *in, uint32_t mask) {
  (void)in;
  if (!whole_warp(w, mask)) return EXEC_STALL;
  async_of_warp(w)->fence_epoch++;
  return EXEC_NEXT;
}

static ExecResult exec_wgmma_commit(Warp *w, const Instr *in, uint32_t mask) {
  (void)in;
  if (!whole_warp(w, mask)) return EXEC_STALL;
  async_of_warp(w)->wgmma_committed++;
  return EXEC_NEXT;
}

// The four parts of a wgmma complete together: a wait returns only after all four warps have issued it.
static ExecResult exec_wgmma_wait(Warp *w, const Instr *in, uint32_t mask) {
  if (!whole_warp(w, mask)) return EXEC_STALL;
  WarpAsync *wa = async_of_warp(w);
  uint64_t n = in->ops[0].lanes[0];
  uint32_t below = wa->wgmma_committed > n ? wa->wgmma_committed - (uint32_t)n : 0, part = w->id & 3;
  Warp *leader = group_leader(w);
  for (AsyncOp *o = async_of_cluster(w->cta->cluster)->first, *next; o; o = next) {
    next = o->next;
    if (o->kind != ASYNC_WGMMA || o->warp != leader || !(o->wgmma.issued >> part & 1) || o->wgmma.group[part] >= below)
      continue;
    if (o->wgmma.issued != 15) return EXEC_WAIT;
    TRY(async_finish(o));
  }
  release(w, below);
  agent_wgmma_waited(w, below);
  return EXEC_NEXT;
}

static bool scale_of(PtxParser *p, Instr *in, uint32_t i, bool *negative) {
  if (!decode_operand(p, in, i, 'i')) return false;
  int32_t v = (int32_t)in->ops[i].lanes[0];
  if (v != 1 && v != -1) return decode_error(p, "imm-scale must be 1 or -1");
  *negative = v < 0;
  return true;
}

static bool trans_of(PtxParser *p, Instr *in, uint32_t i, bool *trans) {
  if (!decode_operand(p, in, i, 'i')) return false;
  if (in->ops[i].lanes[0] > 1) return decode_error(p, "imm-trans must be 0 or 1");
  *trans = in->ops[i].lanes[0];
  return true;
}

static bool decode_mma_async(PtxParser *p, Instr *in) {
  WgmmaForm *f = arena_new(ptx_arena(p), WgmmaForm);
  MmaSpec *s = &f->spec;
  if (has_mod(in, M_sp)) return decode_error(p, "unknown instruction: sparse wgmma is not simulated");
  if (in->num_types != 3 || !decode_mma_type(in->type[0], &s->d) || !decode_mma_type(in->type[1], &s->a) ||
      !decode_mma_type(in->type[2], &s->b))
    return decode_error(p, "unknown instruction: wgmma on these types");
  s->m = in->m, s->n = in->n, s->k = in->k, s->wgmma = true;
  s->saturate = has_mod(in, M_satfinite);
  const char *wrong = mma_spec_error(s);
  if (wrong) return decode_error(p, "unknown instruction: %s", wrong);
  bool is_int = !mma_type_info(s->a)->is_float, half = mma_type_info(s->a)->bits == 16;
  f->a_in_registers = in->num_ops > 1 && in->ops[1].kind == OPND_VEC;
  uint32_t count = is_int ? 4 : half ? (f->a_in_registers ? 7 : 8) : 6;
  if (!decode_want_ops(p, in, count, count) || !decode_registers(p, in, 0, mma_d_registers(s))) return false;
  if (f->a_in_registers ? !decode_registers(p, in, 1, mma_a_registers(s)) : !decode_operand(p, in, 1, 'r'))
    return false;
  if (!decode_operand(p, in, 2, 'r')) return false;
  if (in->ops[3].kind != OPND_PRED && !decode_operand(p, in, 3, 'i')) return false;
  if (!is_int && (!scale_of(p, in, 4, &s->negate_a) || !scale_of(p, in, 5, &s->negate_b))) return false;
  if (half && !f->a_in_registers && !trans_of(p, in, 6, &f->trans_a)) return false;
  if (half && !trans_of(p, in, count - 1, &f->trans_b)) return false;
  in->aux = f;
  in->exec = exec_wgmma;
  return true;
}

bool decode_wgmma(PtxParser *p, Instr *in) {
  if (has_mod(in, M_mma_async)) return decode_mma_async(p, in);
  if (has_mod(in, M_fence)) in->exec = exec_wgmma_fence;
  else if (has_mod(in, M_commit_group)) in->exec = exec_wgmma_commit;
  else if (has_mod(in, M_wait_group)) {
    return decode_as(p, in, exec_wgmma_wait, "i");
  } else return decode_error(p, "unknown instruction: this form of wgmma");
  return decode_operands(p, in, "");
}
