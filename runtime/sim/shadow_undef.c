// Definedness of every bit of registers, local and shared memory, and device memory from cuMemAlloc. Undefined bits
// propagate with the values by the op table's OPF_* rules; quotients and remainders by zero are undefined. A report is
// made when they decide a guard, an address or an operand of a synchronising or asynchronous instruction, or when they
// are stored to global memory.
#include <stdlib.h>
#include <string.h>

#include "runtime/sim/lead.h"
#include "runtime/sim/shadow.h"

// A register of 128 bits has two slots.
static bool is_wide(const PtxOperand *o) { return o->kind == OPND_REG && o->bits == 128; }
static PtxOperand upper_half(const PtxOperand *o) {
  PtxOperand half = *o;
  half.slot++;
  return half;
}
uint32_t undef_lanes_of(const Warp *w, const PtxOperand *o, uint32_t mask) {
  if (o->kind == OPND_PRED) return w->pred_undef[w->pbase + o->slot] & mask;
  if (o->kind != OPND_REG) return 0;
  return (w->undef_lanes[w->base + o->slot] | (is_wide(o) ? w->undef_lanes[w->base + o->slot + 1] : 0)) & mask;
}
static uint64_t reg_undef(const Warp *w, const PtxOperand *o, uint32_t lane) {
  return get_undef(w, o, lane) & width_mask(o->bits);
}
static uint64_t upper_undef(const Warp *w, const PtxOperand *o, uint32_t lane) {
  const PtxOperand half = upper_half(o);
  return is_wide(o) ? get_undef(w, &half, lane) : 0;
}
static uint64_t value(const Warp *w, const PtxOperand *o, uint32_t lane) {
  return o->kind == OPND_REG || o->kind == OPND_IMM ? src_row(w, o)[lane] : 0;
}

static ExecResult report(Warp *w, const Instr *in, uint32_t lanes, const char *what) {
  static const char said[] = "%s has never been set (or was computed from a value that has not)";
  Arena scratch;
  arena_init(&scratch);
  if (!w->grid->by_zero) fresh_lead(w, in, arena_printf(&scratch, said, what));
  arena_free(&scratch);
  return warp_report(w, in, __builtin_ctz(lanes), REPORT_UNDEFINED, said, what);
}

// Lanes in which an operand has undefined bits within its width.
static uint32_t operand_undef(const Warp *w, const PtxOperand *o, uint32_t mask) {
  uint32_t lanes = undef_lanes_of(w, o, mask), bad = o->kind == OPND_PRED ? lanes : 0;
  if (o->kind == OPND_REG) FOR_LANES(l, lanes) if (reg_undef(w, o, l) | upper_undef(w, o, l)) bad |= 1u << l;
  for (uint32_t i = 0; o->kind == OPND_VEC && i < o->count; i++) bad |= operand_undef(w, &o->sub[i], mask);
  return bad;
}

static ExecResult check_address(Warp *w, const Instr *in, const PtxOperand *o, uint32_t mask) {
  if (o->base_kind == OPND_REG) {
    PtxOperand base = *o;
    base.kind = OPND_REG;
    base.count = 0;
    uint32_t bad = operand_undef(w, &base, mask);
    if (bad) return report(w, in, bad, "the address");
  }
  for (uint32_t i = 0; i < o->count; i++) {
    uint32_t bad = operand_undef(w, &o->sub[i], mask);
    if (bad) return report(w, in, bad, "a coordinate");
  }
  return EXEC_NEXT;
}

void undef_clear(Warp *w, const PtxOperand *o, uint32_t mask) {
  if (o->kind == OPND_PRED) w->pred_undef[w->pbase + o->slot] &= ~mask;
  for (uint32_t half = 0; o->kind == OPND_REG && half <= is_wide(o); half++) {
    const size_t slot = (size_t)w->base + o->slot + half;
    FOR_LANES(l, w->undef_lanes[slot] & mask) w->undef[slot * WARP_SIZE + l] = 0;
    w->undef_lanes[slot] &= ~mask;
  }
  for (uint32_t i = 0; o->kind == OPND_VEC && i < o->count; i++) undef_clear(w, &o->sub[i], mask);
  if (o->pair) undef_clear(w, o->pair, mask);
}

static void taint(Warp *w, const PtxOperand *o, uint32_t lane) {
  if (o->kind == OPND_PRED) w->pred_undef[w->pbase + o->slot] |= 1u << lane;
  if (o->kind == OPND_REG) set_undef(w, o, lane, width_mask(o->bits));
  const PtxOperand half = upper_half(o);
  if (is_wide(o)) set_undef(w, &half, lane, UINT64_MAX);
  for (uint32_t i = 0; o->kind == OPND_VEC && i < o->count; i++) taint(w, &o->sub[i], lane);
  if (o->pair) taint(w, o->pair, lane);
}

// All bits from the lowest undefined one upwards: those that carries can reach.
static uint64_t upwards(uint64_t u) { return u ? ~((u & -u) - 1) : 0; }

static uint64_t shift_undef(Warp *w, const Instr *in, uint32_t lane) {
  const PtxOperand *a = &in->ops[1], *b = &in->ops[2];
  uint64_t ua = reg_undef(w, a, lane), n = value(w, b, lane) & 0xffffffff;
  unsigned bits = in->ops[0].bits;
  if (in->op == OP_shl || in->op == OP_shr) {
    if (reg_undef(w, b, lane)) return ~UINT64_C(0);
    if (in->op == OP_shl) return n >= bits ? 0 : ua << n;
    bool sign = ptx_types[in->type[0]].cls == CLASS_SINT && ua >> (bits - 1) & 1;
    if (n >= bits) return sign ? ~UINT64_C(0) : 0;
    return ua >> n | (sign && n ? ~UINT64_C(0) << (bits - n) : 0);
  }
  const PtxOperand *c = &in->ops[3];
  uint64_t ub = reg_undef(w, b, lane);
  if (reg_undef(w, c, lane)) return ~UINT64_C(0);
  if (in->op == OP_bfe)
    return ub ? ~UINT64_C(0) : bit_field_extract(ua, (uint32_t)n, (uint32_t)value(w, c, lane), in->type[0]);
  if (in->op == OP_bfi) {
    const PtxOperand *len = &in->ops[4];
    return reg_undef(w, len, lane)
               ? ~UINT64_C(0)
               : bit_field_insert(ua, ub, (uint32_t)value(w, c, lane), (uint32_t)value(w, len, lane), bits);
  }
  if (in->op == OP_prmt && in->num_mods == 1) {
    uint64_t both = ub << 32 | ua, sel = value(w, c, lane), out = 0;
    for (int i = 0; i < 4; i++) {
      uint64_t pick = sel >> (4 * i) & 15, byte = both >> (8 * (pick & 7)) & 0xff;
      if (pick & 8) byte = byte & 0x80 ? 0xff : 0;
      out |= byte << (8 * i);
    }
    return out;
  }
  if (in->op == OP_shf) {
    uint64_t both = ub << 32 | ua, s = value(w, c, lane);
    s = has_mod(in, M_wrap) ? s & 31 : s > 32 ? 32 : s & 63;
    return has_mod(in, M_l) ? both << s >> 32 : both >> s;
  }
  return ua | ub ? ~UINT64_C(0) : 0;
}

// Packed arithmetic computes each half by itself. LLVM leaves the upper half unset if it uses only the lower one.
static bool is_lane_wise(const Instr *in) {
  if (!in->num_types || in->op == OP_cvt || in->ops[0].kind != OPND_REG ||
      in->ops[0].bits != ptx_types[in->type[0]].bits)
    return false;
  switch (in->type[0]) {
    case T_F16X2: case T_BF16X2: case T_F32X2: case T_S16X2: case T_U16X2: return true;
    default: return false;
  }
}

// From integer to integer: m bits are kept and extended by their sign (sel) or by zeros.
static bool is_int_cvt(const Instr *in) {
  return in->op == OP_cvt && ptx_types[in->type[0]].cls != CLASS_FLOAT && ptx_types[in->type[1]].cls != CLASS_FLOAT &&
         !in->sat;
}
static uint64_t cvt_undef(const Instr *in, uint64_t u) {
  u &= width_mask(in->m);
  return in->sel && u >> (in->m - 1) & 1 ? u | ~width_mask(in->m) : u;
}

static uint64_t result_undef(Warp *w, const Instr *in, uint32_t flags, uint32_t lane) {
  uint64_t u[4] = {0}, all = 0;
  for (uint32_t i = 1; i < in->num_ops && i < 4; i++) {
    u[i] = in->ops[i].kind == OPND_PRED ? (w->pred_undef[w->pbase + in->ops[i].slot] >> lane & 1 ? ~UINT64_C(0) : 0)
                                        : reg_undef(w, &in->ops[i], lane);
    all |= u[i];
  }
  if (flags & OPF_BITWISE) {
    uint64_t a = in->num_ops > 1 ? value(w, &in->ops[1], lane) : 0,
             b = in->num_ops > 2 ? value(w, &in->ops[2], lane) : 0;
    if (in->op == OP_and) return (u[1] & u[2]) | (u[1] & b) | (u[2] & a);
    if (in->op == OP_or) return (u[1] & u[2]) | (u[1] & ~b) | (u[2] & ~a);
    return all;
  }
  if (flags & OPF_SHIFT) return shift_undef(w, in, lane);
  if (flags & OPF_MOVE) {
    if (in->op == OP_selp) return u[3] ? ~UINT64_C(0) : src_pred(w, &in->ops[3]) >> lane & 1 ? u[1] : u[2];
    if (in->op == OP_slct) return u[3] ? ~UINT64_C(0) : u[1] | u[2];
    return all;
  }
  if (is_int_cvt(in)) return cvt_undef(in, all);
  if (is_lane_wise(in)) {
    const unsigned half = ptx_types[in->type[0]].bits / 2;
    return (all & width_mask(half) ? width_mask(half) : 0) |
           (all >> half & width_mask(half) ? width_mask(half) << half : 0);
  }
  bool integer = in->num_types && ptx_types[in->type[0]].cls != CLASS_FLOAT;
  if ((flags & OPF_CARRY) && integer && !has_mod(in, M_hi)) return upwards(all);
  return all ? ~UINT64_C(0) : 0;
}

// mov that packs several registers into one, or the reverse, or moves 128 bits.
static void move_parts(Warp *w, const Instr *in, uint32_t mask) {
  const PtxOperand *d = &in->ops[0], *s = &in->ops[1], half = upper_half(d);
  const unsigned width = ptx_types[in->type[0]].bits;
  FOR_LANES(l, mask) {
    uint64_t bits[2] = {0, 0};
    if (s->kind == OPND_VEC) {
      const unsigned step = width / s->count;
      for (uint32_t i = 0; i < s->count; i++)
        bits[i * step / 64] |= (reg_undef(w, &s->sub[i], l) & width_mask(step)) << (i * step % 64);
    } else {
      bits[0] = reg_undef(w, s, l), bits[1] = upper_undef(w, s, l);
    }
    if (d->kind == OPND_VEC) {
      const unsigned step = width / d->count;
      for (uint32_t i = 0; i < d->count; i++)
        set_undef(w, &d->sub[i], l, bits[i * step / 64] >> (i * step % 64) & width_mask(step));
    } else {
      set_undef(w, d, l, bits[0] & width_mask(d->bits));
      if (is_wide(d)) set_undef(w, &half, l, bits[1]);
    }
  }
}

static bool synchronises(const Instr *in) {
  return in->op == OP_mbarrier || in->op == OP_wgmma || in->op == OP_cp || in->op == OP_bar || in->op == OP_barrier ||
         in->op == OP_brx || in->op == OP_setmaxnreg || in->op == OP_tensormap;
}

// Lanes in which an integer is divided by zero, or by what is not defined.
static uint32_t lanes_by_zero(Warp *w, const Instr *in, uint32_t mask) {
  if ((in->op != OP_div && in->op != OP_rem) || ptx_types[in->type[0]].cls == CLASS_FLOAT) return 0;
  const PtxOperand *d = &in->ops[2];
  const uint64_t bits = width_mask(ptx_types[in->type[0]].bits);
  const uint32_t lanes = operand_undef(w, d, mask) | LANES_WHERE(l, mask, !(value(w, d, l) & bits));
  if (lanes) w->grid->by_zero = in;
  return lanes;
}

ExecResult undef_step(Warp *w, const Instr *in, uint32_t mask) {
  if (in->guard >= 0) {
    uint32_t bad = w->pred_undef[w->pbase + (uint32_t)in->guard] & w->active;
    if (bad) return report(w, in, bad, in->op == OP_bra ? "the condition of this branch" : "the guard predicate");
  }
  if (!mask) return EXEC_NEXT;
  uint32_t flags = ptx_op_flags((PtxOp)in->op), any = 0;
  bool has_dst = instr_has_dst(in) && in->ops[0].kind != OPND_MEM;
  for (uint32_t i = 0; i < in->num_ops; i++) {
    const PtxOperand *o = &in->ops[i];
    if (i == 0 && has_dst) continue;
    if (o->kind == OPND_MEM) {
      TRY(check_address(w, in, o, i == 1 ? copy_lanes_that_read(w, in, mask) : mask));
    } else if (o->kind == OPND_VEC) {
      if (in->op == OP_wgmma) continue;
      for (uint32_t k = 0; k < o->count; k++) any |= undef_lanes_of(w, &o->sub[k], mask);
    } else {
      any |= undef_lanes_of(w, o, mask);
    }
  }
  if (any && synchronises(in)) {
    for (uint32_t i = has_dst ? 1 : 0; i < in->num_ops; i++) {
      uint32_t bad = in->op == OP_wgmma && in->ops[i].kind == OPND_VEC ? 0 : operand_undef(w, &in->ops[i], mask);
      if (bad) return report(w, in, bad, "an operand of this instruction");
    }
  }
  if ((flags & OPF_OWN_SHADOW) || !has_dst) return EXEC_NEXT;
  const PtxOperand *d = &in->ops[0];
  const uint32_t by_zero = lanes_by_zero(w, in, mask);
  if (!any) {
    undef_clear(w, d, mask);
    FOR_LANES(l, by_zero) taint(w, d, l);
    return EXEC_NEXT;
  }
  if (in->op == OP_mov && (d->kind == OPND_VEC || in->ops[1].kind == OPND_VEC || is_wide(d))) {
    move_parts(w, in, mask);
    return EXEC_NEXT;
  }
  any |= by_zero;
  undef_clear(w, d, mask & ~any);
  FOR_LANES(l, any & mask) {
    uint64_t bits = by_zero >> l & 1 ? ~UINT64_C(0) : result_undef(w, in, flags, l);
    if (d->kind == OPND_REG && !d->pair) set_undef(w, d, l, bits & width_mask(d->bits));
    else if (bits) taint(w, d, l);
    else undef_clear(w, d, 1u << l);
  }
  return EXEC_NEXT;
}

// ---- memory

enum { TRACK_LIMIT = 1 << 28 };  // larger allocations count as defined

void undef_track_memory(Device *d, uint64_t addr) {
  Alloc *a = device_find(d, addr);
  if (a && (d->sim->checks & CHECK_UNDEF) && a->size <= TRACK_LIMIT) a->shadow = calloc(1, a->size);
}

void undef_memory_copied(Device *d, uint64_t to, uint64_t from, uint64_t size) {
  Alloc *dst = device_find(d, to), *src = from ? device_find(d, from) : NULL;
  if (!dst || !dst->shadow || to - dst->base + size > dst->size) return;
  uint8_t *bits = dst->shadow + (to - dst->base);
  if (src && src->shadow && from - src->base + size <= src->size) memmove(bits, src->shadow + (from - src->base), size);
  else memset(bits, 0xff, size);
}

// A launch that does not track definedness may write anywhere: afterwards all memory counts as defined.
void undef_grid_begin(Grid *g) {
  if (g->checks & CHECK_UNDEF) return;
  for (uint32_t i = 0; i < g->device->num_allocs; i++) {
    free(g->device->allocs[i]->shadow);
    g->device->allocs[i]->shadow = NULL;
  }
}

// The defined bits of global memory at addr, or NULL when it is not tracked.
static uint8_t *global_bits(Grid *g, uint64_t addr) {
  Alloc *a = g->last_alloc;
  if (!a || addr - a->base >= a->size) a = device_find(g->device, addr);
  return a && a->shadow ? a->shadow + (addr - a->base) : NULL;
}

// The undefined bits of the lane's shared or local memory, or NULL.
static uint8_t *undef_of(const Warp *w, const MemAccess *a, uint32_t lane) {
  if (a->space[lane] == SPACE_LOCAL) return w->local_undef[lane] ? w->local_undef[lane] + a->addr[lane] : NULL;
  if (a->space[lane] != SPACE_SHARED || !cta_undef(a->cta[lane])) return NULL;
  return cta_undef(a->cta[lane]) + (a->host[lane] - a->cta[lane]->shared);
}

static void set_loaded(Warp *w, const Instr *in, uint32_t lane, const uint8_t *undef) {
  const PtxOperand *elems = in->ops[0].kind == OPND_VEC ? in->ops[0].sub : &in->ops[0];
  uint32_t bytes = in->n;
  for (uint32_t e = 0; e < in->k; e++) {
    uint64_t bits = 0;
    if (undef) memcpy(&bits, undef + e * bytes, bytes < 8 ? bytes : 8);
    if (in->sel && bits >> (8 * bytes - 1) & 1 && bytes < 8) bits |= ~UINT64_C(0) << (8 * bytes);  // sign extension
    set_undef(w, &elems[e], lane, bits & width_mask(elems[e].bits));
    if (bytes == 16) {
      const PtxOperand upper = upper_half(&elems[e]);
      bits = 0;
      if (undef) memcpy(&bits, undef + 8, 8);
      set_undef(w, &upper, lane, bits);
    }
  }
}

static bool stored_undef(Warp *w, const Instr *in, uint32_t lane, uint32_t size, uint8_t *out) {
  const PtxOperand *elems = in->ops[1].kind == OPND_VEC ? in->ops[1].sub : &in->ops[1];
  uint8_t any = 0;
  for (uint32_t e = 0; e * in->n < size; e++) {
    uint64_t bits[2] = {get_undef(w, &elems[e], lane), 0};
    const PtxOperand upper = upper_half(&elems[e]);
    if (in->n == 16) bits[1] = get_undef(w, &upper, lane);
    memcpy(out + e * in->n, bits, in->n);
  }
  for (uint32_t i = 0; i < size; i++) any |= out[i];
  return any;
}

static ExecResult report_atomic(Warp *w, const Instr *in, int lane, uint64_t address) {
  Arena scratch;
  arena_init(&scratch);
  const char *what = lead_element(&scratch, w, in, lane, address, 0, "the global memory");
  const ExecResult r = report(w, in, 1u << lane, arena_printf(&scratch, "%s, which this atomic operation changes,", what));
  arena_free(&scratch);
  return r;
}

static ExecResult atomic_access(Warp *w, const Instr *in, const MemAccess *a) {
  bool has_dst = in->op == OP_atom;
  FOR_LANES(l, a->mask) {
    uint32_t bad = 0;
    for (uint32_t i = has_dst ? 2 : 1; i < in->num_ops; i++) bad |= operand_undef(w, &in->ops[i], 1u << l);
    uint8_t *mem = undef_of(w, a, l);
    if (bad && !mem) return report(w, in, bad, "a value stored to global memory");
    bool old = false;
    uint8_t *global = a->space[l] == SPACE_GLOBAL && a->alloc[l]->shadow
                          ? a->alloc[l]->shadow + (a->addr[l] - a->alloc[l]->base)
                          : NULL;
    for (uint32_t i = 0; global && i < a->size; i++) old |= global[i] != 0xff;
    if (global && old && !has_mod(in, M_exch)) return report_atomic(w, in, (int)l, a->addr[l]);
    if (global) memset(global, 0xff, a->size);
    for (uint32_t i = 0; mem && i < a->size; i++) old |= mem[i] != 0;
    if (mem) memset(mem, bad || (old && !has_mod(in, M_exch)) ? 0xff : 0, a->size);
    if (!has_dst) continue;
    if (old) taint(w, &in->ops[0], l);
    else undef_clear(w, &in->ops[0], 1u << l);
  }
  return EXEC_NEXT;
}

// tensormap.replace and .cp_fenceproxy access all 128 bytes.
static ExecResult map_access(Warp *w, const Instr *in, const MemAccess *a) {
  FOR_LANES(l, a->mask) {
    const uint8_t *mem = undef_of(w, a, l);
    for (uint32_t i = 0; mem && i < a->size; i++)
      if (mem[i]) return report(w, in, 1u << l, "a byte of the tensor map");
    if (a->space[l] != SPACE_GLOBAL) continue;
    if (has_mod(in, M_cp_fenceproxy)) {
      if (a->alloc[l]->shadow) memset(a->alloc[l]->shadow + (a->addr[l] - a->alloc[l]->base), 0xff, a->size);
      continue;
    }
    TRY(undef_map_use(w, in, l, a->alloc[l], a->addr[l]));
  }
  return EXEC_NEXT;
}

ExecResult undef_map_use(Warp *w, const Instr *in, int lane, const Alloc *a, uint64_t addr) {
  const uint8_t *bits = w->undef && a->shadow ? a->shadow + (addr - a->base) : NULL;
  for (uint32_t i = 0; bits && i < TENSORMAP_BYTES; i++)
    if (bits[i] != 0xff) return report(w, in, 1u << lane, "a byte of the tensor map");
  return EXEC_NEXT;
}

ExecResult undef_access(Warp *w, const Instr *in, const MemAccess *a) {
  if (in->op == OP_atom || in->op == OP_red) return atomic_access(w, in, a);
  if (in->op == OP_tensormap) return map_access(w, in, a);
  bool loads = in->op == OP_ld || in->op == OP_ldu;
  if (!loads && in->op != OP_st) return EXEC_NEXT;
  FOR_LANES(l, a->mask) {
    uint8_t *mem = undef_of(w, a, l);
    uint8_t *global = a->space[l] == SPACE_GLOBAL && a->alloc[l]->shadow
                          ? a->alloc[l]->shadow + (a->addr[l] - a->alloc[l]->base)
                          : NULL;
    if (loads) {
      uint8_t undef[32];
      for (uint32_t i = a->size; global && i-- > 0;)
        if ((undef[i] = (uint8_t)~global[i])) fresh_note(w, in, (int)l, a->addr[l] + i);
      for (uint32_t i = 0; mem && a->space[l] == SPACE_SHARED && i < a->size; i++)
        if (mem[i]) w->grid->unwritten = in;
      set_loaded(w, in, l, global ? undef : mem);
      continue;
    }
    uint8_t bits[32];
    bool any = stored_undef(w, in, l, a->size, bits);
    if (mem) memcpy(mem, bits, a->size);
    else if (any && a->space[l] == SPACE_GLOBAL) return report(w, in, 1u << l, "a value stored to global memory");
    if (global) memset(global, 0xff, a->size);
  }
  return EXEC_NEXT;
}

// Marks `bytes` of shared memory as copied from global memory (global 0: as defined).
static void landed(const AsyncOp *op, int lane, SharedPlace p, uint64_t global, uint32_t bytes) {
  uint8_t *undef = cta_undef(p.cta);
  if (!undef) return;
  const uint8_t *from = global ? global_bits(op->cluster->grid, global) : NULL;
  for (uint32_t i = bytes; from && i-- > 0;)
    if ((undef[p.offset + i] = (uint8_t)~from[i])) fresh_note(op->warp, op->in, lane, global + i);
  if (!from) memset(undef + p.offset, 0, bytes);
}

void undef_copy_landed(AsyncOp *op, uint32_t mask) {
  FOR_LANES(l, mask) {
    landed(op, (int)l, op->copy.dst[l], 0, op->copy.bytes);
    if (op->copy.src_bytes[l]) landed(op, (int)l, op->copy.dst[l], (uint64_t)(uintptr_t)op->copy.src[l], op->copy.src_bytes[l]);
  }
}
void undef_bulk_landed(AsyncOp *op, SharedPlace dst, uint64_t global, uint32_t bytes) {
  landed(op, op->lane, dst, global, bytes);
}
ExecResult undef_bulk_stored(AsyncOp *op, uint64_t global, SharedPlace src, uint32_t bytes) {
  const uint8_t *undef = cta_undef(src.cta);
  for (uint32_t i = 0; undef && i < bytes; i++)
    if (undef[src.offset + i])
      return async_report(op, REPORT_UNDEFINED,
                          "shared+0x%x, which has never been set, is copied to global memory at 0x%llx",
                          src.offset + i + SHARED_BASE, (unsigned long long)(global + i));
  uint8_t *bits = undef ? global_bits(op->cluster->grid, global) : NULL;
  if (bits) memset(bits, 0xff, bytes);
  return EXEC_NEXT;
}
