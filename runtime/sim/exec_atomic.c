// atom and red: every operation, type, vector and scope. The lanes of a warp act one after another, in an order that
// depends on the seed.
#include <string.h>

#include "runtime/sim/async.h"
#include "runtime/sim/exec_arith.h"

static double min_max(double a, double b, bool max) {
  if (a != a) return b;
  if (b != b) return a;
  return (a < b) != max ? a : b;
}

static uint64_t combine(const Instr *in, PtxType t, uint64_t old, uint64_t b, bool flush) {
  unsigned bits = ptx_types[t].bits;
  uint64_t keep = width_mask(bits);
  bool s = ptx_types[t].cls == CLASS_SINT;
  if (ptx_types[t].cls == CLASS_FLOAT && in->sel != M_exch) {
    if (is_packed(t)) {
      PtxType h = t == T_F16X2 ? T_F16 : T_BF16;
      return combine(in, h, old & 0xffff, b & 0xffff, flush) |
             combine(in, h, old >> 16 & 0xffff, b >> 16 & 0xffff, flush) << 16;
    }
    NumFormat f = num_format_of(t);
    if (in->sel == M_add)
      return t == T_F64 ? num_bits_f64(num_f64_bits(old) + num_f64_bits(b))
                        : num_add(f, old & keep, b & keep, NUM_RNE, flush);
    return num_encode(f, min_max(num_decode(f, old), num_decode(f, b), in->sel == M_max), NUM_RNE, false);
  }
  switch (in->sel) {
  case M_add: return (old + b) & keep;
  case M_and: return old & b;
  case M_or: return old | b;
  case M_xor: return old ^ b;
  case M_inc: return old >= (b & keep) ? 0 : old + 1;
  case M_dec: return old == 0 || old > (b & keep) ? b & keep : old - 1;
  case M_min: return (s ? num_sext(old, bits) < num_sext(b, bits) : old < (b & keep)) ? old : b & keep;
  case M_max: return (s ? num_sext(old, bits) > num_sext(b, bits) : old > (b & keep)) ? old : b & keep;
  default: return b & keep;   // exch
  }
}

// atom: ops d, [a], b (, c); red: ops [a], b.  n: bytes of an element; k: elements.
static ExecResult exec_atom(Warp *w, const Instr *in, uint32_t mask) {
  bool atom = in->op == OP_atom;
  const PtxOperand *addr = &in->ops[atom], *src = &in->ops[atom + 1], *dst = atom ? &in->ops[0] : NULL;
  MemAccess a;
  TRY(mem_resolve(w, in, addr, in->space, in->n * in->k, in->n * in->k, ACCESS_ATOMIC, mask, &a));
  Grid *g = w->grid;
  PtxType t = in->type[in->num_types - 1];
  bool changed = false;
  uint32_t turn = g->policy ? rng_next(&g->rng) % WARP_SIZE : 0;
  for (uint32_t i = 0; i < WARP_SIZE; i++) {
    uint32_t l = (i + turn) % WARP_SIZE;
    if (!(mask >> l & 1)) continue;
    if (in->n == 16) {   // b128: exch and cas
      uint64_t old[2], val[2];
      memcpy(old, a.host[l], 16);
      const uint64_t *b = src_row(w, src), *c = in->sel == M_cas ? src_at(w, in, 3) : b;
      val[0] = c[l], val[1] = c[l + WARP_SIZE];
      bool store = in->sel == M_exch || (old[0] == b[l] && old[1] == b[l + WARP_SIZE]);
      if (store) changed |= memcmp(old, val, 16) != 0, memcpy(a.host[l], val, 16);
      uint64_t *d = dst_row(w, dst);
      if (dst->kind == OPND_REG) d[l] = old[0], d[l + WARP_SIZE] = old[1];
      continue;
    }
    for (unsigned e = 0; e < in->k; e++) {
      const PtxOperand *s = src->kind == OPND_VEC ? &src->sub[e] : src;
      uint8_t *at = a.host[l] + e * in->n;
      uint64_t old = 0, val, b = src_row(w, s)[l];
      memcpy(&old, at, in->n);
      if (in->sel == M_cas)
        val = old == (b & width_mask(in->n * 8)) ? src_at(w, in, 3)[l] & width_mask(in->n * 8) : old;
      else
        val = combine(in, t, old, b, t == T_F32 && a.space[l] == SPACE_GLOBAL);   // global .f32 adds flush subnormals
      if (val != old) changed = true, memcpy(at, &val, in->n);
      if (dst) dst_row(w, dst->kind == OPND_VEC ? &dst->sub[e] : dst)[l] = old;
    }
  }
  if (changed) g->progress++;
  else warp_poll(w);
  return EXEC_NEXT;
}

bool decode_atom(PtxParser *p, Instr *in) {
  static const PtxMod kinds[] = {M_add, M_and, M_or, M_xor, M_inc, M_dec, M_min, M_max, M_exch, M_cas};
  bool atom = in->op == OP_atom;
  if (has_mod(in, M_async)) return decode_store_async(p, in);
  for (size_t i = 0; i < countof(kinds); i++)
    if (has_mod(in, kinds[i])) in->sel = (uint16_t)kinds[i];
  uint32_t n = (atom ? 3 : 2) + (in->sel == M_cas), hint = has_mod(in, M_L2_cache_hint);
  if (!in->sel || ((in->sel == M_cas || in->sel == M_exch) && !atom) || !decode_want_type(p, in, 1)) return false;
  if (!decode_want_ops(p, in, n + hint, n + hint) || !decode_operand(p, in, atom, 'm')) return false;
  PtxType t = in->type[in->num_types - 1];
  in->n = ptx_types[t].bits / 8;
  in->k = in->vec;
  if (in->n < 2 || in->n * in->k > 16) return false;
  bool is_float = ptx_types[t].cls == CLASS_FLOAT, bits = ptx_types[t].cls == CLASS_BITS;
  switch (in->sel) {
  case M_add: if (bits || in->n == 16 || (in->n == 2 && !is_float)) return false; break;
  case M_min: case M_max: if (bits || (is_float && (t == T_F32 || t == T_F64))) return false; break;
  case M_and: case M_or: case M_xor: if (is_float || in->n < 4 || in->n == 16) return false; break;
  case M_inc: case M_dec: if (t != T_U32) return false; break;
  default: if (is_float || (in->sel == M_exch && in->n == 2)) return false; break;
  }
  if (in->k > 1) {
    if (!is_float) return false;
    for (uint32_t i = atom ? 0 : 1; i < n; i += 2) {
      const PtxOperand *o = &in->ops[i];
      if (o->kind != OPND_VEC || o->count != in->k)
        return decode_error(p, "operand %u of %s must be a vector of %u", i + 1, ptx_op_name(in->op), in->k);
      for (uint32_t e = 0; e < in->k; e++)
        if (o->sub[e].kind != OPND_REG && o->sub[e].kind != (atom && i == 0 ? OPND_SINK : OPND_IMM)) return false;
    }
  } else {
    for (uint32_t i = 0; i < n; i++)
      if (i != atom && !decode_operand(p, in, i, i ? 's' : 'd')) return false;
  }
  if (in->n == 16)
    for (uint32_t i = 0; i < n; i++)
      if (i != 1 && in->ops[i].kind != OPND_SINK && (in->ops[i].kind != OPND_REG || in->ops[i].bits != 128))
        return false;
  in->exec = exec_atom;
  return true;
}
