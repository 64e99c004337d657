// Warp-synchronous exchange: shfl, vote, match, redux, elect, activemask, bar.warp.sync.
#include "runtime/sim/exec.h"

// Lanes may reach one bar.warp.sync barrier at different instructions.
ExecResult exec_bar_warp(Warp *w, const Instr *in, uint32_t mask) {
  const uint64_t *members = src_at(w, in, 0);
  const Instr *code = w->grid->module->code;
  uint32_t need = 0, others = 0;
  FOR_LANES(l, mask) {
    if (!((uint32_t)members[l] >> l & 1))
      return warp_report(w, in, l, REPORT_DIVERGENT,
                         "lane %u executes it, but its member mask %#x does not name that lane", l,
                         (uint32_t)members[l]);
    need |= (uint32_t)members[l];
  }
  need &= live_lanes(w);
  FOR_LANES(l, need & ~mask & w->stalled & ~w->active) if (code[w->lane_pc[l]].exec == exec_bar_warp) others |= 1u << l;
  if (need & ~mask & ~others) return EXEC_STALL;
  FOR_LANES(l, others) w->lane_pc[l]++;
  w->stalled &= ~others;
  if (others) w->meet = 0;
  if (w->grid->hooks.warp_sync) w->grid->hooks.warp_sync(w, mask | others);
  return EXEC_NEXT;
}

// ------------------------------------------------------------------------------------------------------------- shfl

// ops: d or d|p, a, b, c, members
static ExecResult exec_shfl(Warp *w, const Instr *in, uint32_t mask) {
  TRY(warp_meet(w, in, mask, src_at(w, in, 4)));
  const PtxOperand *d = &in->ops[0];
  const uint64_t *a = src_at(w, in, 1), *b = src_at(w, in, 2), *c = src_at(w, in, 3);
  uint64_t out[WARP_SIZE], undef[WARP_SIZE];
  uint32_t valid = 0;
  FOR_LANES(l, mask) {
    uint32_t bv = (uint32_t)b[l] & 31, clamp = (uint32_t)c[l] & 31, seg = (uint32_t)c[l] >> 8 & 31;
    int lane = l, max = (int)((l & seg) | (clamp & ~seg)), min = (int)(l & seg), j;
    bool ok;
    switch (in->sel) {
    case M_up: j = lane - (int)bv, ok = j >= max; break;
    case M_down: j = lane + (int)bv, ok = j <= max; break;
    case M_bfly: j = lane ^ (int)bv, ok = j <= max; break;
    default: j = min | (int)(bv & ~seg), ok = j <= max; break;
    }
    if (!ok) j = lane;
    valid |= (uint32_t)ok << l;
    bool there = mask >> j & 1;   // a lane that does not take part has no value
    out[l] = there ? (uint32_t)a[j] : 0;
    undef[l] = there ? get_undef(w, &in->ops[1], (uint32_t)j) : UINT32_MAX;
  }
  uint64_t *dst = dst_row(w, d);
  FOR_LANES(l, mask) {
    dst[l] = out[l];
    set_undef(w, d, l, undef[l]);
  }
  if (d->pair) {
    set_pred(w, d->pair, mask, valid);
    if (w->pred_undef && d->pair->kind == OPND_PRED) w->pred_undef[w->pbase + d->pair->slot] &= ~mask;
  }
  return EXEC_NEXT;
}
bool decode_shfl(PtxParser *p, Instr *in) {
  in->sel = one_of(in, M_up, M_down, M_bfly, M_idx);
  in->exec = exec_shfl;
  return has_mod(in, M_sync) && in->sel && in->type[0] == T_B32 && decode_operands(p, in, "dssss");
}

// -------------------------------------------------------------------------------------------------------- vote, match

// ops: d, p, members. Lanes that name different members vote apart.
static ExecResult exec_vote(Warp *w, const Instr *in, uint32_t mask) {
  const uint64_t *members = src_at(w, in, 2);
  TRY(warp_meet(w, in, mask, members));
  uint32_t value = src_pred(w, &in->ops[1]);
  for (uint32_t left = mask; left;) {
    uint32_t m = (uint32_t)members[__builtin_ctz(left)], group = 0;
    FOR_LANES(l, left) if ((uint32_t)members[l] == m) group |= 1u << l;
    left &= ~group;
    uint32_t yes = value & group;
    bool all = yes == group, any = yes != 0;
    if (in->sel == M_ballot) {
      uint64_t *d = dst_at(w, in);
      FOR_LANES(l, group) d[l] = yes;
    } else {
      bool v = in->sel == M_all ? all : in->sel == M_any ? any : all || !any;
      set_pred(w, &in->ops[0], group, v ? FULL_MASK : 0);
    }
  }
  return EXEC_NEXT;
}
bool decode_vote(PtxParser *p, Instr *in) {
  in->sel = one_of(in, M_ballot, M_all, M_any, M_uni);
  in->exec = exec_vote;
  if (!has_mod(in, M_sync) || !in->sel || !decode_operands(p, in, ".ps")) return false;
  return in->sel == M_ballot ? decode_operand(p, in, 0, 'd') : decode_operand(p, in, 0, 'P');
}

// ops: d or d|p, a, members
static ExecResult exec_match(Warp *w, const Instr *in, uint32_t mask) {
  const uint64_t *a = src_at(w, in, 1), *members = src_at(w, in, 2);
  TRY(warp_meet(w, in, mask, members));
  uint64_t bits = width_mask(ptx_types[in->type[0]].bits), out[WARP_SIZE];
  uint32_t same = 0;
  FOR_LANES(l, mask) {
    uint32_t equal = 0, group = 0;
    FOR_LANES(k, mask) {
      if (members[k] != members[l]) continue;
      group |= 1u << k;
      if (((a[k] ^ a[l]) & bits) == 0) equal |= 1u << k;
    }
    bool all = equal == group;
    out[l] = in->sel == M_any ? equal : all ? group : 0;
    same |= (uint32_t)all << l;
  }
  uint64_t *d = dst_at(w, in);
  FOR_LANES(l, mask) d[l] = out[l];
  if (in->ops[0].pair) set_pred(w, in->ops[0].pair, mask, same);
  return EXEC_NEXT;
}
bool decode_match(PtxParser *p, Instr *in) {
  in->sel = one_of(in, M_any, M_all);
  in->exec = exec_match;
  return has_mod(in, M_sync) && in->sel && decode_regs(p, in, 2) && (in->type[0] == T_B32 || in->type[0] == T_B64);
}

// ------------------------------------------------------------------------------------------------------------- redux

static ExecResult exec_redux(Warp *w, const Instr *in, uint32_t mask) {
  const uint64_t *a = src_at(w, in, 1), *members = src_at(w, in, 2);
  TRY(warp_meet(w, in, mask, members));
  uint64_t out[WARP_SIZE];
  bool is_signed = in->type[0] == T_S32;
  FOR_LANES(l, mask) {
    bool first = true;
    uint32_t acc = 0;
    FOR_LANES(k, mask) {
      if (members[k] != members[l]) continue;
      uint32_t v = (uint32_t)a[k];
      if (first) acc = v, first = false;
      else switch (in->sel) {
      case M_add: acc += v; break;
      case M_and: acc &= v; break;
      case M_or: acc |= v; break;
      case M_xor: acc ^= v; break;
      case M_min: acc = (is_signed ? (int32_t)v < (int32_t)acc : v < acc) ? v : acc; break;
      default: acc = (is_signed ? (int32_t)v > (int32_t)acc : v > acc) ? v : acc; break;
      }
    }
    out[l] = acc;
  }
  uint64_t *d = dst_at(w, in);
  FOR_LANES(l, mask) d[l] = out[l];
  return EXEC_NEXT;
}
bool decode_redux(PtxParser *p, Instr *in) {
  static const PtxMod ops[] = {M_add, M_and, M_or, M_xor, M_min, M_max};
  for (size_t i = 0; i < countof(ops); i++)
    if (has_mod(in, ops[i])) in->sel = (uint8_t)ops[i];
  in->exec = exec_redux;
  return has_mod(in, M_sync) && in->sel && decode_regs(p, in, 2) &&
         (in->type[0] == T_B32 || in->type[0] == T_U32 || in->type[0] == T_S32);
}

static ExecResult exec_activemask(Warp *w, const Instr *in, uint32_t mask) {
  uint64_t *d = dst_at(w, in);
  FOR_LANES(l, mask) d[l] = mask;
  return EXEC_NEXT;
}
bool decode_activemask(PtxParser *p, Instr *in) {
  return decode_as(p, in, exec_activemask, "d");
}

// elect.sync d|p, members: the lowest member is elected.
static ExecResult exec_elect(Warp *w, const Instr *in, uint32_t mask) {
  const uint64_t *members = src_at(w, in, 1);
  TRY(warp_meet(w, in, mask, members));
  uint64_t *d = dst_at(w, in);
  uint32_t elected = 0;
  uint64_t out[WARP_SIZE];
  FOR_LANES(l, mask) {
    uint32_t leader = (uint32_t)__builtin_ctz((uint32_t)members[l] & live_lanes(w));
    out[l] = leader;
    elected |= (uint32_t)(leader == l) << l;
  }
  FOR_LANES(l, mask) d[l] = out[l];
  if (in->ops[0].pair) set_pred(w, in->ops[0].pair, mask, elected);
  return EXEC_NEXT;
}
bool decode_elect(PtxParser *p, Instr *in) {
  in->exec = exec_elect;
  return has_mod(in, M_sync) && decode_operands(p, in, "ds");
}
