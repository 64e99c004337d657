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

// exch and cas of b128, on one lane. Returns whether the memory at `at` changed.
static bool atom_b128(Warp *w, const Instr *in, uint32_t lane, uint8_t *at) {
  const uint64_t *b = src_row(w, &in->ops[2]), *c = in->sel == M_cas ? src_at(w, in, 3) : b;
  uint64_t old[2], val[2] = {c[lane], c[lane + WARP_SIZE]};
  memcpy(old, at, 16);
  bool stores = in->sel == M_exch || (old[0] == b[lane] && old[1] == b[lane + WARP_SIZE]);
  if (stores) memcpy(at, val, 16);
  uint64_t *d = dst_row(w, &in->ops[0]);
  if (in->ops[0].kind == OPND_REG) d[lane] = old[0], d[lane + WARP_SIZE] = old[1];
  return stores && memcmp(old, val, 16) != 0;
}

static const PtxOperand *element_of(const PtxOperand *o, unsigned e) { return o->kind == OPND_VEC ? &o->sub[e] : o; }

// The operation on element e of one lane. Returns whether the memory at `at` changed.
static bool atom_element(Warp *w, const Instr *in, uint32_t lane, unsigned e, uint8_t *at, bool is_global) {
  bool atom = in->op == OP_atom;
  PtxType t = in->type[in->num_types - 1];
  uint64_t old = 0, val, b = src_row(w, element_of(&in->ops[atom + 1], e))[lane], keep = width_mask(in->n * 8);
  memcpy(&old, at, in->n);
  if (in->sel == M_cas) val = old == (b & keep) ? src_at(w, in, 3)[lane] & keep : old;
  else val = combine(in, t, old, b, t == T_F32 && is_global);   // global .f32 adds flush subnormals
  if (val != old) memcpy(at, &val, in->n);
  if (atom) dst_row(w, element_of(&in->ops[0], e))[lane] = old;
  return val != old;
}

// atom: ops d, [a], b (, c); red: ops [a], b.  n: bytes of an element; k: elements.
static ExecResult exec_atom(Warp *w, const Instr *in, uint32_t mask) {
  const PtxOperand *addr = &in->ops[in->op == OP_atom];
  MemAccess a;
  TRY(mem_resolve(w, in, addr, in->space, in->n * in->k, in->n * in->k, ACCESS_ATOMIC, mask, &a));
  Grid *g = w->grid;
  bool changed = false;
  uint32_t turn = g->policy ? rng_next(&g->rng) % WARP_SIZE : 0;
  for (uint32_t i = 0; i < WARP_SIZE; i++) {
    uint32_t l = (i + turn) % WARP_SIZE;
    if (!(mask >> l & 1)) continue;
    if (in->n == 16) {
      changed |= atom_b128(w, in, l, a.host[l]);
      continue;
    }
    for (unsigned e = 0; e < in->k; e++) {
      const bool is_global = a.space[l] == SPACE_GLOBAL;
      if (!atom_element(w, in, l, e, a.host[l] + e * in->n, is_global)) continue;
      changed = true;
      if (is_global) last_change_note(w, in, a.addr[l] + e * in->n);
    }
  }
  if (changed) g->progress++;
  else warp_poll(w);
  return EXEC_NEXT;
}

// Whether the operation in->sel exists for the type, of in->n bytes.
static bool has_type(const Instr *in, PtxType t) {
  bool is_float = ptx_types[t].cls == CLASS_FLOAT, is_bits = ptx_types[t].cls == CLASS_BITS;
  switch (in->sel) {
  case M_add: return !is_bits && in->n != 16 && (in->n != 2 || is_float);
  case M_min: case M_max: return !is_bits && t != T_F32 && t != T_F64;
  case M_and: case M_or: case M_xor: return !is_float && in->n >= 4 && in->n != 16;
  case M_inc: case M_dec: return t == T_U32;
  case M_exch: return !is_float && in->n != 2;
  default: return !is_float;   // cas
  }
}

// Whether destination and source are vectors of in->k registers. A source element may be an immediate; a destination
// element of atom may be `_`.
static bool decode_vectors(PtxParser *p, const Instr *in, uint32_t num_ops) {
  bool atom = in->op == OP_atom;
  for (uint32_t i = atom ? 0 : 1; i < num_ops; i += 2) {
    const PtxOperand *o = &in->ops[i];
    if (o->kind != OPND_VEC || o->count != in->k)
      return decode_error(p, "operand %u of %s must be a vector of %u", i + 1, ptx_op_name(in->op), in->k);
    for (uint32_t e = 0; e < in->k; e++)
      if (o->sub[e].kind != OPND_REG && o->sub[e].kind != (atom && i == 0 ? OPND_SINK : OPND_IMM)) return false;
  }
  return true;
}

static bool decode_scalars(PtxParser *p, Instr *in, uint32_t num_ops) {
  for (uint32_t i = 0; i < num_ops; i++) {
    const PtxOperand *o = &in->ops[i];
    if (i == (in->op == OP_atom)) continue;   // the address
    if (!decode_operand(p, in, i, i ? 's' : 'd')) return false;
    if (in->n == 16 && o->kind != OPND_SINK && (o->kind != OPND_REG || o->bits != 128)) return false;
  }
  return true;
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
  if (in->n < 2 || in->n * in->k > 16 || !has_type(in, t)) return false;
  if (in->k > 1 && ptx_types[t].cls != CLASS_FLOAT) return false;
  if (!(in->k > 1 ? decode_vectors(p, in, n) : decode_scalars(p, in, n))) return false;
  in->exec = exec_atom;
  return true;
}
