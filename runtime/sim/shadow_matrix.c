// Definedness in matrix instructions: an element of D is undefined if any element of its row of A or column of B is,
// or its C.
#include <string.h>

#include "runtime/sim/shadow.h"

typedef struct { bool row[64], col[256]; } Tainted;

static uint64_t part(const Warp *w, const PtxOperand *o, uint32_t lane, unsigned e, unsigned bits) {
  uint64_t u = o->kind == OPND_REG ? get_undef(w, o, lane) : 0;
  return bits == 64 ? u : u >> (e * bits) & width_mask(bits);
}

static void set_result(Warp *w, const MmaSpec *s, const PtxOperand *d, const PtxOperand *c, const Tainted *t,
                       unsigned first_row) {
  unsigned bits = mma_type_info(s->d)->bits, per = mma_per_register(s->d);
  for (unsigned r = 0; r < d->count; r++)
    for (uint32_t lane = 0; lane < WARP_SIZE; lane++) {
      uint64_t u = 0;
      for (unsigned e = 0; e < per; e++) {
        MmaCoord at = mma_d_coord(s, lane, r, e);
        if (t->row[first_row + at.row] || t->col[at.col] || (c && part(w, &c->sub[r], lane, e, bits)))
          u |= width_mask(bits) << (e * bits % 64);
      }
      set_undef(w, &d->sub[r], lane, u);
    }
}

static bool vector_undef(const Warp *w, const PtxOperand *v) {
  uint32_t any = 0;
  for (uint32_t i = 0; i < v->count; i++) any |= undef_lanes_of(w, &v->sub[i], FULL_MASK);
  return any;
}

static void taint_rows(const Warp *w, const MmaSpec *s, const PtxOperand *a, Tainted *t, unsigned first_row) {
  for (unsigned r = 0; r < a->count; r++)
    for (uint32_t lane = 0; lane < WARP_SIZE; lane++)
      for (unsigned e = 0; e < mma_per_register(s->a); e++)
        if (part(w, &a->sub[r], lane, e, mma_type_info(s->a)->bits))
          t->row[first_row + mma_a_coord(s, lane, r, e).row] = true;
}

void undef_mma(Warp *w, const Instr *in, const MmaSpec *s) {
  if (!w->undef) return;
  if (!vector_undef(w, &in->ops[1]) && !vector_undef(w, &in->ops[2]) && !vector_undef(w, &in->ops[3])) {
    undef_clear(w, &in->ops[0], FULL_MASK);
    return;
  }
  Tainted t = {0};
  taint_rows(w, s, &in->ops[1], &t, 0);
  for (unsigned r = 0; r < in->ops[2].count; r++)
    for (uint32_t lane = 0; lane < WARP_SIZE; lane++)
      for (unsigned e = 0; e < mma_per_register(s->b); e++)
        if (part(w, &in->ops[2].sub[r], lane, e, mma_type_info(s->b)->bits))
          t.col[mma_b_coord(s, lane, r, e).col] = true;
  set_result(w, s, &in->ops[0], &in->ops[3], &t, 0);
}

void undef_wgmma_result(AsyncOp *op) {
  const Instr *in = op->in;
  const WgmmaForm *form = in->aux;
  const MmaSpec *s = &form->spec;
  Warp *warps = op->warp;
  const uint8_t *undef = cta_undef(warps->cta);
  if (!warps->undef || !undef) return;
  Tainted t = {0};
  unsigned es = mma_type_info(s->a)->bits / 8;
  MmaDescriptor da, db;
  mma_descriptor_decode(op->wgmma.desc_a[0], &da);
  mma_descriptor_decode(op->wgmma.desc_b[0], &db);
  for (unsigned k = 0; k < s->k; k++) {
    for (unsigned n = 0; n < s->n; n++)
      for (unsigned i = 0; i < es; i++)
        t.col[n] |= undef[mma_descriptor_address(&db, form->trans_b, es, n, k) - SHARED_BASE + i] != 0;
    for (unsigned m = 0; !form->a_in_registers && m < 64; m++)
      for (unsigned i = 0; i < es; i++)
        t.row[m] |= undef[mma_descriptor_address(&da, form->trans_a, es, m, k) - SHARED_BASE + i] != 0;
  }
  for (unsigned p = 0; p < 4; p++) {
    uint32_t base = warps[p].base;
    warps[p].base = op->wgmma.base[p];
    if (form->a_in_registers) taint_rows(&warps[p], s, &in->ops[1], &t, 16 * p);
    set_result(&warps[p], s, &in->ops[0], op->wgmma.use_c[0] ? &in->ops[0] : NULL, &t, 16 * p);
    warps[p].base = base;
  }
}

void undef_ldmatrix(Warp *w, const Instr *in, const MemAccess *a, unsigned count, bool trans) {
  if (!w->undef) return;
  for (unsigned m = 0; m < count; m++)
    for (uint32_t lane = 0; lane < WARP_SIZE; lane++) {
      uint64_t u = 0;
      for (unsigned e = 0; e < 2; e++) {
        MmaCoord c = mma_matrix_coord(lane, e, trans);
        unsigned row = m * 8 + c.row;
        uint16_t bits = 0;
        if (a->space[row] == SPACE_SHARED && cta_undef(a->cta[row]))
          memcpy(&bits, cta_undef(a->cta[row]) + (a->host[row] - a->cta[row]->shared) + 2 * c.col, 2);
        if (bits) w->grid->unwritten = in;
        u |= (uint64_t)bits << (16 * e);
      }
      set_undef(w, &in->ops[0].sub[m], lane, u);
    }
}

void undef_stmatrix(Warp *w, const Instr *in, const MemAccess *a, unsigned count, bool trans) {
  if (!w->undef) return;
  for (unsigned m = 0; m < count; m++)
    for (uint32_t lane = 0; lane < WARP_SIZE; lane++)
      for (unsigned e = 0; e < 2; e++) {
        MmaCoord c = mma_matrix_coord(lane, e, trans);
        unsigned row = m * 8 + c.row;
        uint16_t bits = (uint16_t)(get_undef(w, &in->ops[1].sub[m], lane) >> (16 * e));
        if (a->space[row] == SPACE_SHARED && cta_undef(a->cta[row]))
          memcpy(cta_undef(a->cta[row]) + (a->host[row] - a->cta[row]->shared) + 2 * c.col, &bits, 2);
      }
}
