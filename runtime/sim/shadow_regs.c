// Registers of wgmma in flight: before the wait no other instruction may read an accumulator, or write an accumulator
// or A register. Between a write to a register and the wgmma that uses it there must be a wgmma.fence. A mov from
// register to register only makes an alias (WgmmaAlias); aliases are kept whether or not anything is checked.
#include <stdlib.h>

#include "runtime/sim/lead.h"
#include "runtime/sim/shadow.h"

static const WgmmaFlight *owner(const WarpAsync *wa, uint32_t slot, bool accumulator) {
  for (uint32_t i = wa->num_flight; i-- > 0;) {
    const WgmmaFlight *f = &wa->flight[i];
    const PtxOperand *list = &f->in->ops[accumulator ? 0 : 1];
    for (uint32_t k = 0; k < list->count; k++)
      if (list->sub[k].kind == OPND_REG && f->base + list->sub[k].slot == slot) return f;
  }
  return NULL;
}

static WgmmaAlias *alias_of(const WarpAsync *wa, uint32_t slot) {
  for (uint32_t i = 0; i < wa->num_alias; i++)
    if (wa->alias[i].to == slot) return &wa->alias[i];
  return NULL;
}

static void drop_alias(WarpAsync *wa, WgmmaAlias *a) {
  wa->acc_count[a->to]--;
  *a = wa->alias[--wa->num_alias];
}

static ExecResult check_slot(Warp *w, const Instr *in, uint32_t slot, bool writes) {
  WarpAsync *wa = w->async;
  if (slot >= wa->num_slots) return EXEC_NEXT;
  if (wa->num_flight && (wa->acc_count[slot] || (writes && wa->src_count[slot]))) {
    WgmmaAlias *a = alias_of(wa, slot);
    if (a && writes) {
      drop_alias(wa, a);  // no instruction has read the copy
    } else if (w->grid->checks & CHECK_ASYNC) {
      bool accumulator = wa->acc_count[slot] != 0;
      const WgmmaFlight *f = owner(wa, a ? a->from : slot, accumulator);
      if (f) lead_unfinished(w, in, f->in, writes);
      return warp_report(w, in, -1, REPORT_ASYNC,
                         "%s %s%s of the wgmma of ptx:%u, for which no wgmma.wait_group has waited",
                         writes ? "overwrites" : "reads", a ? "a copy of " : "",
                         accumulator ? "an accumulator register" : "an A register", f ? f->in->line : 0);
    }
  }
  if (writes) wa->written[slot] = wa->fence_epoch;
  return EXEC_NEXT;
}

static ExecResult check_operand(Warp *w, const Instr *in, const PtxOperand *o, bool writes) {
  ExecResult r = EXEC_NEXT;
  if (o->kind == OPND_REG) r = check_slot(w, in, w->base + o->slot, writes);
  else if (o->kind == OPND_MEM && o->base_kind == OPND_REG) r = check_slot(w, in, w->base + o->slot, false);
  for (uint32_t i = 0; i < o->count && r == EXEC_NEXT; i++)
    r = check_operand(w, in, &o->sub[i], writes && o->kind == OPND_VEC);
  return r;
}

static ExecResult add_alias(Warp *w, const Instr *in, uint32_t from, uint32_t to, uint32_t mask) {
  WarpAsync *wa = w->async;
  if (from == to) return EXEC_NEXT;
  const WgmmaAlias *a = alias_of(wa, from);
  const WgmmaFlight *f = a ? NULL : owner(wa, from, true);
  WgmmaAlias fresh = a ? *a : (WgmmaAlias){from, to, f ? f->group : 0, FULL_MASK, wa->wgmma_issued};
  fresh.to = to;
  fresh.lanes &= mask;
  TRY(check_slot(w, in, to, true));
  if (wa->num_alias == wa->cap_alias) {
    wa->cap_alias = wa->cap_alias ? 2 * wa->cap_alias : 64;
    wa->alias = realloc(wa->alias, wa->cap_alias * sizeof *wa->alias);
  }
  wa->alias[wa->num_alias++] = fresh;
  wa->acc_count[to]++;
  return EXEC_NEXT;
}

ExecResult regs_step(Warp *w, const Instr *in, uint32_t mask) {
  WarpAsync *wa = w->async;
  if (!wa->num_slots || in->op == OP_wgmma || !mask) return EXEC_NEXT;
  if (wa->num_flight && in->op == OP_mov && in->ops[0].kind == OPND_REG && in->ops[1].kind == OPND_REG &&
      in->ops[0].bits == in->ops[1].bits) {
    uint32_t from = w->base + in->ops[1].slot, to = w->base + in->ops[0].slot;
    if (from < wa->num_slots && to < wa->num_slots && wa->acc_count[from]) return add_alias(w, in, from, to, mask);
  }
  bool has_dst = instr_has_dst(in) && in->ops[0].kind != OPND_MEM;
  ExecResult r = EXEC_NEXT;
  // Sources first: an instruction may overwrite what it reads. If nothing is in flight, only the destination matters.
  for (uint32_t i = has_dst ? 1 : 0; wa->num_flight && i < in->num_ops && r == EXEC_NEXT; i++)
    r = check_operand(w, in, &in->ops[i], false);
  return has_dst && r == EXEC_NEXT ? check_operand(w, in, &in->ops[0], true) : r;
}
