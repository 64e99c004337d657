// Memory: ld, st, mov, address conversions, cache hints.
#include <string.h>

#include "runtime/sim/async.h"

// ------------------------------------------------------------------------------------------------------------- ld, st

static inline uint64_t load_value(const uint8_t *from, unsigned bytes) {
  switch (bytes) {
  case 1: return *from;
  case 2: { uint16_t v; memcpy(&v, from, 2); return v; }
  case 4: { uint32_t v; memcpy(&v, from, 4); return v; }
  default: { uint64_t v; memcpy(&v, from, 8); return v; }
  }
}
static inline void store_value(uint8_t *to, uint64_t v, unsigned bytes) {
  switch (bytes) {
  case 1: *to = (uint8_t)v; break;
  case 2: { uint16_t x = (uint16_t)v; memcpy(to, &x, 2); break; }
  case 4: { uint32_t x = (uint32_t)v; memcpy(to, &x, 4); break; }
  default: memcpy(to, &v, 8); break;
  }
}

// n: bytes of an element; k: elements. sel: sign-extend. m: a polling load.
static ExecResult exec_ld(Warp *w, const Instr *in, uint32_t mask) {
  MemAccess a;
  TRY(mem_resolve(w, in, &in->ops[1], in->space, in->n * in->k, in->n * in->k, ACCESS_READ, mask, &a));
  if (in->m) warp_poll(w);
  const PtxOperand *elems = in->ops[0].kind == OPND_VEC ? in->ops[0].sub : &in->ops[0];
  if (in->n == 16) {
    uint64_t *lo = dst_row(w, &elems[0]);
    FOR_LANES(l, mask) memcpy(&lo[l], a.host[l], 8), memcpy(&lo[l + WARP_SIZE], a.host[l] + 8, 8);
    return EXEC_NEXT;
  }
  for (unsigned e = 0; e < in->k; e++) {
    uint64_t *d = dst_row(w, &elems[e]);
    unsigned off = e * in->n;
    switch (in->n) {
    case 4: FOR_LANES(l, mask) { uint32_t v; memcpy(&v, a.host[l] + off, 4); d[l] = v; } break;
    case 8: FOR_LANES(l, mask) memcpy(&d[l], a.host[l] + off, 8); break;
    default: FOR_LANES(l, mask) d[l] = load_value(a.host[l] + off, in->n); break;
    }
    if (in->sel) {
      uint64_t keep = width_mask(elems[e].bits);
      unsigned up = 64 - in->n * 8;
      FOR_LANES(l, mask) d[l] = (uint64_t)((int64_t)(d[l] << up) >> up) & keep;
    }
  }
  return EXEC_NEXT;
}

// Loads an entry parameter by name: one value for all lanes. Decoding has checked the bounds.
static ExecResult exec_ld_param(Warp *w, const Instr *in, uint32_t mask) {
  const PtxOperand *elems = in->ops[0].kind == OPND_VEC ? in->ops[0].sub : &in->ops[0];
  const uint8_t *from = (const uint8_t *)(uintptr_t)(w->grid->param_addr + in->ops[1].sym->addr +
                                                     (uint64_t)in->ops[1].offset);
  for (unsigned e = 0; e < in->k; e++) {
    uint64_t v = load_value(from + e * in->n, in->n), *d = dst_row(w, &elems[e]);
    if (in->sel) v = (uint64_t)((int64_t)(v << (64 - in->n * 8)) >> (64 - in->n * 8)) & width_mask(elems[e].bits);
    FOR_LANES(l, mask) {
      d[l] = v;
      set_undef(w, &elems[e], l, 0);
    }
  }
  return EXEC_NEXT;
}

static bool decode_access(PtxParser *p, Instr *in, uint32_t data, uint32_t addr) {
  if (!decode_operands(p, in, has_mod(in, M_L2_cache_hint) ? "..?." : "..") || !decode_operand(p, in, addr, 'm') ||
      !decode_want_type(p, in, 1))
    return false;
  const TypeInfo *t = &ptx_types[in->type[in->num_types - 1]];
  if (t->bits < 8 || in->ops[addr].count) return false;
  in->n = t->bits / 8;
  in->k = in->vec;
  if (in->n * in->k > 32 || (in->n == 16 && in->k != 1)) return false;
  PtxOperand *o = &in->ops[data];
  if (o->kind == OPND_VEC ? o->count != in->k : in->k != 1)
    return decode_error(p, "the vector has %u elements, not %u", o->count, in->k);
  const PtxOperand *base = &in->ops[addr];
  if (in->space == SPACE_PARAM) {
    bool frame = base->base_kind == OPND_SYM ? base->sym->space == SPACE_FRAME : !in->func->is_entry;
    in->space = frame ? SPACE_LOCAL : SPACE_PARAM;
  } else if (base->base_kind == OPND_SYM && in->space == SPACE_GENERIC && base->sym->space != SPACE_GLOBAL &&
             base->sym->space != SPACE_CONST) {
    in->space = base->sym->space == SPACE_FRAME ? SPACE_LOCAL : (uint8_t)base->sym->space;
  }
  return true;
}

static bool decode_elements(PtxParser *p, Instr *in, PtxOperand *o, bool dst) {
  PtxOperand *elems = o->kind == OPND_VEC ? o->sub : o;
  for (uint32_t i = 0; i < in->k; i++) {
    const PtxOperand *e = &elems[i];
    bool ok = e->kind == OPND_REG || (dst ? e->kind == OPND_SINK : e->kind == OPND_IMM);
    if (!ok || (e->kind == OPND_REG && (e->bits < in->n * 8u || (in->n == 16 && e->bits != 128))))
      return decode_error(p, "element %u of %s must be a register of at least %u bits", i + 1, ptx_op_name(in->op),
                          in->n * 8);
  }
  return true;
}

bool decode_ld(PtxParser *p, Instr *in) {
  if (!decode_access(p, in, 0, 1) || !decode_elements(p, in, &in->ops[0], true)) return false;
  in->sel = ptx_types[in->type[in->num_types - 1]].cls == CLASS_SINT;
  in->m = has_any(in, M_volatile, M_relaxed, M_acquire, M_mmio);
  const PtxOperand *a = &in->ops[1];
  in->exec = exec_ld;
  if (in->space == SPACE_PARAM && a->base_kind == OPND_SYM && in->n < 16) {
    if (a->sym->space != SPACE_PARAM || a->offset < 0 || (uint64_t)a->offset + in->n * in->k > a->sym->size ||
        (a->sym->addr + (uint64_t)a->offset) % (in->n * in->k))
      return decode_error(p, "the access does not lie within parameter %s", a->sym->name);
    in->exec = exec_ld_param;
  }
  return true;
}

static void put_elements(Warp *w, const Instr *in, uint32_t mask, const MemAccess *a) {
  const PtxOperand *elems = in->ops[1].kind == OPND_VEC ? in->ops[1].sub : &in->ops[1];
  if (in->n == 16) {
    const uint64_t *lo = src_row(w, &elems[0]);
    bool wide = elems[0].kind == OPND_REG;
    FOR_LANES(l, mask) {
      uint64_t hi = wide ? lo[l + WARP_SIZE] : 0;
      memcpy(a->host[l], &lo[l], 8);
      memcpy(a->host[l] + 8, &hi, 8);
    }
    return;
  }
  for (unsigned e = 0; e < in->k; e++) {
    const uint64_t *s = src_row(w, &elems[e]);
    FOR_LANES(l, mask) store_value(a->host[l] + e * in->n, s[l], in->n);
  }
}

static ExecResult exec_st(Warp *w, const Instr *in, uint32_t mask) {
  enum { LONGEST = 64 };
  MemAccess a;
  const uint32_t size = in->n * in->k;
  TRY(mem_resolve(w, in, &in->ops[0], in->space, size, size, ACCESS_WRITE, mask, &a));
  if (!w->endless || size > LONGEST) {
    if (in->space != SPACE_LOCAL) w->grid->progress++;
    put_elements(w, in, mask, &a);
    return EXEC_NEXT;
  }
  uint8_t old[WARP_SIZE][LONGEST];   // whether anything changes tells endless.c
  bool changes = false;
  FOR_LANES(l, mask) memcpy(old[l], a.host[l], size);
  put_elements(w, in, mask, &a);
  FOR_LANES(l, mask) changes |= memcmp(old[l], a.host[l], size) != 0;
  w->grid->progress += changes;
  return EXEC_NEXT;
}

bool decode_st(PtxParser *p, Instr *in) {
  if (has_mod(in, M_async)) return decode_store_async(p, in);
  in->exec = exec_st;
  return decode_access(p, in, 1, 0) && decode_elements(p, in, &in->ops[1], false);
}

// --------------------------------------------------------------------------------------------------------------- mov

static ExecResult exec_mov(Warp *w, const Instr *in, uint32_t mask) {
  uint64_t *d = dst_at(w, in), keep = width_mask(in->n);
  const uint64_t *a = src_at(w, in, 1);
  FOR_LANES(l, mask) d[l] = a[l] & keep;
  return EXEC_NEXT;
}
static ExecResult exec_mov_pred(Warp *w, const Instr *in, uint32_t mask) {
  set_pred(w, &in->ops[0], mask, src_pred(w, &in->ops[1]));
  return EXEC_NEXT;
}
static ExecResult exec_mov_sreg(Warp *w, const Instr *in, uint32_t mask) {
  uint64_t *d = dst_at(w, in), keep = width_mask(in->n);
  FOR_LANES(l, mask) d[l] = sreg_value(w, in->ops[1].slot, l) & keep;
  return EXEC_NEXT;
}
static ExecResult exec_mov_symbol(Warp *w, const Instr *in, uint32_t mask) {
  uint64_t *d = dst_at(w, in), keep = width_mask(in->n);
  FOR_LANES(l, mask) d[l] = (mem_symbol_address(w, in->ops[1].sym, l) + (uint64_t)in->ops[1].offset) & keep;
  return EXEC_NEXT;
}
static ExecResult exec_mov_function(Warp *w, const Instr *in, uint32_t mask) {
  uint64_t *d = dst_at(w, in);
  FOR_LANES(l, mask) d[l] = (uintptr_t)in->ops[1].sym->func;
  return EXEC_NEXT;
}
// {a, b, …} to one register: element 0 is the least significant.
static ExecResult exec_mov_pack(Warp *w, const Instr *in, uint32_t mask) {
  const PtxOperand *v = &in->ops[1];
  unsigned bits = in->n / v->count;
  uint64_t out[2][WARP_SIZE] = {0};
  for (uint32_t e = 0; e < v->count; e++) {
    const uint64_t *s = src_row(w, &v->sub[e]);
    unsigned at = e * bits;
    FOR_LANES(l, mask) out[at / 64][l] |= (s[l] & width_mask(bits)) << (at % 64);
  }
  uint64_t *d = dst_at(w, in);
  FOR_LANES(l, mask) d[l] = out[0][l];
  if (in->n == 128) FOR_LANES(l, mask) d[l + WARP_SIZE] = out[1][l];
  return EXEC_NEXT;
}
static ExecResult exec_mov_unpack(Warp *w, const Instr *in, uint32_t mask) {
  const PtxOperand *v = &in->ops[0];
  const uint64_t *s = src_at(w, in, 1);
  unsigned bits = in->n / v->count;
  uint64_t from[2][WARP_SIZE];
  FOR_LANES(l, mask) {
    from[0][l] = s[l];
    if (in->n == 128) from[1][l] = in->ops[1].kind == OPND_REG ? s[l + WARP_SIZE] : 0;
  }
  for (uint32_t e = 0; e < v->count; e++) {
    uint64_t *d = dst_row(w, &v->sub[e]);
    unsigned at = e * bits;
    FOR_LANES(l, mask) d[l] = from[at / 64][l] >> (at % 64) & width_mask(bits);
  }
  return EXEC_NEXT;
}
static ExecResult exec_mov_wide(Warp *w, const Instr *in, uint32_t mask) {
  uint64_t *d = dst_at(w, in);
  const uint64_t *a = src_at(w, in, 1);
  FOR_LANES(l, mask) d[l] = a[l], d[l + WARP_SIZE] = a[l + WARP_SIZE];
  return EXEC_NEXT;
}

bool decode_mov(PtxParser *p, Instr *in) {
  if (!decode_operands(p, in, "..") || !decode_want_type(p, in, 1)) return false;
  PtxOperand *d = &in->ops[0], *s = &in->ops[1];
  in->n = ptx_types[in->type[0]].bits;
  if (in->type[0] == T_PRED) {
    in->exec = exec_mov_pred;
    return decode_operand(p, in, 0, 'P') && decode_operand(p, in, 1, 'p');
  }
  if (d->kind == OPND_VEC || s->kind == OPND_VEC) {
    PtxOperand *v = d->kind == OPND_VEC ? d : s;
    if (v->count != 2 && v->count != 4) return false;
    for (uint32_t i = 0; i < v->count; i++) {
      uint8_t k = v->sub[i].kind;
      if (k != OPND_REG && k != (d->kind == OPND_VEC ? OPND_SINK : OPND_IMM))
        return decode_error(p, "bad element in a vector of mov");
    }
    in->exec = d->kind == OPND_VEC ? exec_mov_unpack : exec_mov_pack;
    if (in->n == 128 && (d->kind == OPND_VEC ? s : d)->bits != 128) return false;
    return d->kind == OPND_VEC ? decode_operand(p, in, 1, 's') : decode_operand(p, in, 0, 'd');
  }
  if (!decode_operand(p, in, 0, 'd')) return false;
  switch (s->kind) {
  case OPND_SREG: in->exec = exec_mov_sreg; return true;
  case OPND_SYM: in->exec = exec_mov_symbol; return true;
  case OPND_LABEL:
    if (s->sym->kind != SYM_FUNC) return decode_error(p, "%s has no address", s->sym->name);
    in->exec = exec_mov_function;
    return true;
  default:
    in->exec = exec_mov;
    if (in->n == 128) {
      if (d->bits != 128 || s->kind != OPND_REG || s->bits != 128) return false;
      in->exec = exec_mov_wide;
    }
    return decode_operand(p, in, 1, 's');
  }
}

// ------------------------------------------------------------------------------------------------ address conversions

static uint64_t window_of(Space s) {
  return s == SPACE_SHARED || s == SPACE_SHARED_CLUSTER ? SHARED_WINDOW : s == SPACE_LOCAL ? LOCAL_WINDOW : 0;
}

static ExecResult exec_cvta(Warp *w, const Instr *in, uint32_t mask) {
  uint64_t *d = dst_at(w, in), window = window_of(in->space);
  const uint64_t *a = src_at(w, in, 1);
  if (in->sel) window = -window;
  uint64_t keep = width_mask(in->ops[0].bits);
  FOR_LANES(l, mask) d[l] = (a[l] + window) & keep;
  return EXEC_NEXT;
}
bool decode_cvta(PtxParser *p, Instr *in) {
  in->sel = has_mod(in, M_to);
  in->exec = exec_cvta;
  return in->space != SPACE_GENERIC && decode_regs(p, in, 1);
}

static ExecResult exec_isspacep(Warp *w, const Instr *in, uint32_t mask) {
  const uint64_t *a = src_at(w, in, 1);
  uint32_t out = 0;
  FOR_LANES(l, mask) {
    bool shared = a[l] - SHARED_WINDOW < WINDOW_SIZE, local = a[l] - LOCAL_WINDOW < WINDOW_SIZE, yes;
    const Alloc *alloc = shared || local ? NULL : device_find(w->grid->device, a[l]);
    switch (in->space) {
    case SPACE_SHARED: yes = shared && (a[l] - SHARED_WINDOW) >> SHARED_RANK_SHIFT == w->cta->rank; break;
    case SPACE_SHARED_CLUSTER:
      yes = shared && (a[l] - SHARED_WINDOW) >> SHARED_RANK_SHIFT < w->cta->cluster->num_ctas;
      break;
    case SPACE_LOCAL: yes = local; break;
    case SPACE_CONST: yes = alloc && alloc->kind == ALLOC_CONST; break;
    case SPACE_PARAM: yes = alloc && alloc->kind == ALLOC_PARAM; break;
    default: yes = !shared && !local && !(alloc && (alloc->kind == ALLOC_CONST || alloc->kind == ALLOC_PARAM)); break;
    }
    out |= (uint32_t)yes << l;
  }
  set_pred(w, &in->ops[0], mask, out);
  return EXEC_NEXT;
}
bool decode_isspacep(PtxParser *p, Instr *in) {
  in->exec = exec_isspacep;
  return in->space != SPACE_GENERIC && decode_operands(p, in, "Ps");
}

static ExecResult exec_mapa(Warp *w, const Instr *in, uint32_t mask) {
  uint64_t *d = dst_at(w, in), window = in->space == SPACE_SHARED_CLUSTER ? 0 : SHARED_WINDOW;
  const uint64_t *a = src_at(w, in, 1), *b = src_at(w, in, 2);
  FOR_LANES(l, mask) {
    uint32_t rank = (uint32_t)b[l];
    if (rank >= w->cta->cluster->num_ctas)
      return warp_report(w, in, l, REPORT_INVALID, "mapa to block %u of a cluster of %u", rank,
                         w->cta->cluster->num_ctas);
    uint64_t offset = a[l] - window;
    if (offset >> 32)
      return warp_report(w, in, l, REPORT_INVALID, "mapa of %#llx, which is not a shared address",
                         (unsigned long long)a[l]);
    d[l] = window + ((offset & ((1u << SHARED_RANK_SHIFT) - 1)) | (uint64_t)rank << SHARED_RANK_SHIFT);
  }
  return EXEC_NEXT;
}
bool decode_mapa(PtxParser *p, Instr *in) {
  in->exec = exec_mapa;
  return decode_regs(p, in, 2);
}

static ExecResult exec_getctarank(Warp *w, const Instr *in, uint32_t mask) {
  uint64_t *d = dst_at(w, in), window = in->space == SPACE_SHARED_CLUSTER ? 0 : SHARED_WINDOW;
  const uint64_t *a = src_at(w, in, 1);
  FOR_LANES(l, mask) d[l] = (uint32_t)((a[l] - window) >> SHARED_RANK_SHIFT);
  return EXEC_NEXT;
}
bool decode_getctarank(PtxParser *p, Instr *in) {
  in->exec = exec_getctarank;
  return decode_regs(p, in, 1);
}

// A cache policy affects performance only: any value will do.
static ExecResult exec_createpolicy(Warp *w, const Instr *in, uint32_t mask) {
  uint64_t *d = dst_at(w, in);
  FOR_LANES(l, mask) d[l] = UINT64_C(0x1000000000000000);
  return EXEC_NEXT;
}
bool decode_createpolicy(PtxParser *p, Instr *in) {
  in->exec = exec_createpolicy;
  return in->num_ops >= 1 && decode_operand(p, in, 0, 'd');
}
