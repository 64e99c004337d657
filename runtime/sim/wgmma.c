// Performs a wgmma that all four warps have issued; moves fragments between registers and matrices.
#include <string.h>

#include "runtime/sim/exec_matrix.h"
#include "runtime/sim/shadow.h"

void fragment_gather(const Fragment *f, const uint64_t *frame, const PtxOperand *registers, uint64_t *matrix) {
  unsigned bits = mma_type_info(f->type)->bits, per = mma_per_register(f->type);
  for (unsigned r = 0; r < registers->count; r++) {
    const PtxOperand *o = &registers->sub[r];
    const uint64_t *row = o->kind == OPND_IMM ? o->lanes : frame + (size_t)o->slot * WARP_SIZE;
    for (unsigned lane = 0; lane < WARP_SIZE; lane++)
      for (unsigned e = 0; e < per; e++) {
        MmaCoord c = f->coord(f->spec, lane, r, e);
        matrix[c.row * f->row_stride + c.col * f->col_stride] = row[lane] >> (e * bits) & width_mask(bits);
      }
  }
}

void fragment_scatter(const Fragment *f, uint64_t *frame, const PtxOperand *registers, const uint64_t *matrix) {
  unsigned bits = mma_type_info(f->type)->bits, per = mma_per_register(f->type);
  for (unsigned r = 0; r < registers->count; r++) {
    if (registers->sub[r].kind != OPND_REG) continue;
    uint64_t *row = frame + (size_t)registers->sub[r].slot * WARP_SIZE;
    for (unsigned lane = 0; lane < WARP_SIZE; lane++) {
      uint64_t v = 0;
      for (unsigned e = 0; e < per; e++) {
        MmaCoord c = f->coord(f->spec, lane, r, e);
        v |= (matrix[c.row * f->row_stride + c.col * f->col_stride] & width_mask(bits)) << (e * bits);
      }
      row[lane] = v;
    }
  }
}

// Writes the copies that movs made of these accumulators while they were in flight.
static void write_aliases(const AsyncOp *op, unsigned part) {
  Warp *w = &op->warp[part];
  const WarpAsync *wa = w->async;
  const PtxOperand *d = &op->in->ops[0];
  for (uint32_t i = 0; i < wa->num_alias; i++) {
    const WgmmaAlias *a = &wa->alias[i];
    bool mine = false;
    for (uint32_t r = 0; r < d->count && !mine; r++) mine = op->wgmma.base[part] + d->sub[r].slot == a->from;
    if (!mine || op->wgmma.index >= a->issued) continue;
    size_t from = (size_t)a->from * WARP_SIZE, to = (size_t)a->to * WARP_SIZE;
    FOR_LANES(l, a->lanes) {
      w->regs[to + l] = w->regs[from + l];
      if (w->undef) w->undef[to + l] = w->undef[from + l];
    }
    if (w->undef) w->undef_lanes[a->to] = (w->undef_lanes[a->to] & ~a->lanes) | (w->undef_lanes[a->from] & a->lanes);
  }
}

// The matrix of `rows` rows of M or N that a descriptor describes.
static void read_matrix(const Cta *c, uint64_t desc, bool mn_major, unsigned es, unsigned rows, unsigned depth,
                        uint64_t *out) {
  MmaDescriptor d;
  mma_descriptor_decode(desc, &d);
  for (unsigned row = 0; row < rows; row++)
    for (unsigned k = 0; k < depth; k++, out++) {
      *out = 0;
      memcpy(out, c->shared + (mma_descriptor_address(&d, mn_major, es, row, k) - SHARED_BASE), es);
    }
}

ExecResult wgmma_perform(AsyncOp *op) {
  const PtxOperand *d_regs = &op->in->ops[0], *a_regs = &op->in->ops[1];
  const WgmmaForm *form = op->in->aux;
  const MmaSpec *s = &form->spec;
  AsyncWgmma *g = &op->wgmma;
  uint64_t a[64 * 32], b[256 * 32], d[64 * 256];
  unsigned es = mma_type_info(s->a)->bits / 8;
  const Fragment fa = {s, s->a, mma_a_coord, s->k, 1}, fd = {s, s->d, mma_d_coord, s->n, 1};
  read_matrix(op->warp->cta, g->desc_b[0], form->trans_b, es, s->n, s->k, b);
  if (!form->a_in_registers) read_matrix(op->warp->cta, g->desc_a[0], form->trans_a, es, 64, s->k, a);
  for (unsigned part = 0; part < 4; part++) {
    const uint64_t *frame = op->warp[part].regs + (size_t)g->base[part] * WARP_SIZE;
    if (form->a_in_registers) fragment_gather(&fa, frame, a_regs, a + part * 16 * s->k);
    if (g->use_c[0]) fragment_gather(&fd, frame, d_regs, d + part * 16 * s->n);
  }
  mma_compute(s, 64, a, b, d, g->use_c[0]);
  undef_wgmma_result(op);
  for (unsigned part = 0; part < 4; part++) {
    fragment_scatter(&fd, op->warp[part].regs + (size_t)g->base[part] * WARP_SIZE, d_regs, d + part * 16 * s->n);
    write_aliases(op, part);
  }
  return EXEC_NEXT;
}
