// Matrix instructions of one warp: mma.sync, ldmatrix, stmatrix, movmatrix. Placement and arithmetic are mma.c's.
#include "runtime/sim/exec_matrix.h"
#include "runtime/sim/shadow.h"

#include <string.h>

// A whole warp of which none may have exited, where the threads' places are part of the operation.
static ExecResult full_warp(Warp *w, const Instr *in, uint32_t mask) {
  if (!whole_warp(w, mask)) return EXEC_STALL;
  return mask == FULL_MASK ? EXEC_NEXT : sim_report(w->grid, w, in, -1, REPORT_DIVERGENT, "%s needs all 32 threads of the warp", ptx_op_name(in->op));
}

bool decode_mma_type(PtxType t, MmaType *out) {
  static const struct { PtxType ptx; MmaType mma; } table[] = {
    {T_F16, MMA_F16}, {T_BF16, MMA_BF16}, {T_TF32, MMA_TF32}, {T_E4M3, MMA_E4M3}, {T_E5M2, MMA_E5M2}, {T_F64, MMA_F64},
    {T_F32, MMA_F32}, {T_S8, MMA_S8}, {T_U8, MMA_U8}, {T_S4, MMA_S4}, {T_U4, MMA_U4}, {T_S32, MMA_S32}};
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
    if (table[i].ptx == t) {
      *out = table[i].mma;
      return true;
    }
  return false;
}

bool decode_registers(PtxParser *p, Instr *in, uint32_t i, uint32_t count) {
  if (i >= in->num_ops || in->ops[i].kind != OPND_VEC || in->ops[i].count != count)
    return ptx_error(p, in->line, "operand %u must be a vector of %u registers", i + 1, count);
  for (uint32_t j = 0; j < count; j++) {
    OperandKind kind = (OperandKind)in->ops[i].sub[j].kind;
    if (kind != OPND_REG && (kind != OPND_IMM || i == 0)) return ptx_error(p, in->line, "operand %u must be a vector of %u registers", i + 1, count);
  }
  return true;
}

// ---- mma.sync

static ExecResult exec_mma(Warp *w, const Instr *in, uint32_t mask) {
  ExecResult met = full_warp(w, in, mask);
  if (met != EXEC_NEXT) return met;
  const MmaSpec *s = in->aux;
  uint64_t a[16 * 64], b[8 * 64], d[16 * 8];
  for (unsigned lane = 0; lane < WARP_SIZE; lane++) {
    for (unsigned r = 0; r < in->ops[1].count; r++)
      for (unsigned e = 0; e < mma_per_register(s->a); e++) {
        MmaCoord c = mma_a_coord(s, lane, r, e);
        a[c.row * s->k + c.col] = mma_element(src_row(w, &in->ops[1].sub[r])[lane], e, mma_type_info(s->a)->bits);
      }
    for (unsigned r = 0; r < in->ops[2].count; r++)
      for (unsigned e = 0; e < mma_per_register(s->b); e++) {
        MmaCoord c = mma_b_coord(s, lane, r, e);
        b[c.col * s->k + c.row] = mma_element(src_row(w, &in->ops[2].sub[r])[lane], e, mma_type_info(s->b)->bits);
      }
    for (unsigned r = 0; r < in->ops[3].count; r++)
      for (unsigned e = 0; e < mma_per_register(s->d); e++) {
        MmaCoord c = mma_d_coord(s, lane, r, e);
        d[c.row * s->n + c.col] = mma_element(src_row(w, &in->ops[3].sub[r])[lane], e, mma_type_info(s->d)->bits);
      }
  }
  mma_compute(s, s->m, a, b, d, true);
  undef_mma(w, in, s);
  for (unsigned r = 0; r < in->ops[0].count; r++) {
    uint64_t *dst = dst_row(w, &in->ops[0].sub[r]);
    for (unsigned lane = 0; lane < WARP_SIZE; lane++) {
      uint64_t v = 0;
      for (unsigned e = 0; e < mma_per_register(s->d); e++) {
        MmaCoord c = mma_d_coord(s, lane, r, e);
        v = mma_with_element(v, e, mma_type_info(s->d)->bits, d[c.row * s->n + c.col]);
      }
      dst[lane] = v;
    }
  }
  return EXEC_NEXT;
}

// PTX vectors of one register may be written without braces.
static void as_vector(PtxParser *p, PtxOperand *o) {
  if (o->kind != OPND_REG) return;
  PtxOperand *sub = arena_new(ptx_arena(p), PtxOperand);
  *sub = *o;
  *o = (PtxOperand){.kind = OPND_VEC, .sub = sub, .count = 1};
}

// Whether the layouts are named .row.col, in this order.
static bool is_row_col(const Instr *in) {
  for (uint32_t i = 0; i < in->num_mods; i++)
    if (in->mods[i] == M_row) return i + 1 < in->num_mods && in->mods[i + 1] == M_col;
  return false;
}

bool decode_mma(PtxParser *p, Instr *in) {
  MmaSpec *s = arena_new(ptx_arena(p), MmaSpec);
  MmaType c;
  if (!has_mod(in, M_sync) || has_mod(in, M_sp) || has_mod(in, M_xor) || has_mod(in, M_and)) return ptx_error(p, in->line, "unknown instruction: this form of mma");
  if (in->num_types != 4 || !decode_mma_type(in->type[0], &s->d) || !decode_mma_type(in->type[1], &s->a) || !decode_mma_type(in->type[2], &s->b) ||
      !decode_mma_type(in->type[3], &c) || c != s->d)
    return ptx_error(p, in->line, "unknown instruction: mma on these types");
  s->m = in->m, s->n = in->n, s->k = in->k;
  s->saturate = has_mod(in, M_satfinite);
  const char *wrong = mma_spec_error(s);
  if (wrong) return ptx_error(p, in->line, "unknown instruction: %s", wrong);
  if (!is_row_col(in)) return ptx_error(p, in->line, "mma takes A by rows and B by columns");
  if (!decode_want_ops(p, in, 4, 4)) return false;
  for (int i = 0; i < 4; i++) as_vector(p, &in->ops[i]);
  in->aux = s;
  in->exec = exec_mma;
  return decode_registers(p, in, 0, mma_d_registers(s)) && decode_registers(p, in, 1, mma_a_registers(s)) &&
         decode_registers(p, in, 2, mma_b_registers(s)) && decode_registers(p, in, 3, mma_d_registers(s));
}

// ---- ldmatrix, stmatrix, movmatrix

// The rows of a matrix, one address of each of the first threads.
static ExecResult matrix_rows(Warp *w, const Instr *in, const PtxOperand *address, unsigned rows, AccessKind kind, MemAccess *a) {
  ExecResult r = mem_resolve(w, in, address, (Space)in->space, 16, 16, kind, FULL_MASK >> (32 - rows), a);
  for (unsigned i = 0; i < rows && r == EXEC_NEXT; i++)
    if (a->space[i] != SPACE_SHARED) r = sim_report(w->grid, w, in, (int)i, REPORT_OUT_OF_BOUNDS, "a matrix lies in shared memory; this address does not");
  return r;
}

static ExecResult exec_ldmatrix(Warp *w, const Instr *in, uint32_t mask) {
  ExecResult r = full_warp(w, in, mask);
  if (r != EXEC_NEXT) return r;
  unsigned count = in->sel, rows = count * 8;
  MemAccess a;
  r = matrix_rows(w, in, &in->ops[1], rows, ACCESS_READ, &a);
  if (r != EXEC_NEXT) return r;
  uint16_t rows16[32][8];
  for (unsigned i = 0; i < rows; i++) memcpy(rows16[i], a.host[i], 16);
  bool trans = has_mod(in, M_trans);
  for (unsigned m = 0; m < count; m++) {
    uint64_t *dst = dst_row(w, &in->ops[0].sub[m]);
    for (unsigned lane = 0; lane < WARP_SIZE; lane++) {
      uint64_t v = 0;
      for (unsigned e = 0; e < 2; e++) {
        MmaCoord c = mma_matrix_coord(lane, e, trans);
        v |= (uint64_t)rows16[m * 8 + c.row][c.col] << (16 * e);
      }
      dst[lane] = v;
    }
  }
  undef_ldmatrix(w, in, &a, count, trans);
  return EXEC_NEXT;
}

static ExecResult exec_stmatrix(Warp *w, const Instr *in, uint32_t mask) {
  ExecResult r = full_warp(w, in, mask);
  if (r != EXEC_NEXT) return r;
  unsigned count = in->sel, rows = count * 8;
  MemAccess a;
  r = matrix_rows(w, in, &in->ops[0], rows, ACCESS_WRITE, &a);
  if (r != EXEC_NEXT) return r;
  bool trans = has_mod(in, M_trans);
  for (unsigned m = 0; m < count; m++) {
    const uint64_t *src = src_row(w, &in->ops[1].sub[m]);
    for (unsigned lane = 0; lane < WARP_SIZE; lane++)
      for (unsigned e = 0; e < 2; e++) {
        MmaCoord c = mma_matrix_coord(lane, e, trans);
        uint16_t v = (uint16_t)(src[lane] >> (16 * e));
        memcpy(a.host[m * 8 + c.row] + 2 * c.col, &v, 2);
      }
  }
  undef_stmatrix(w, in, &a, count, trans);
  return EXEC_NEXT;
}

static ExecResult exec_movmatrix(Warp *w, const Instr *in, uint32_t mask) {
  ExecResult r = full_warp(w, in, mask);
  if (r != EXEC_NEXT) return r;
  uint16_t matrix[8][8];
  const uint64_t *src = src_row(w, &in->ops[1]);
  for (unsigned lane = 0; lane < WARP_SIZE; lane++)
    for (unsigned e = 0; e < 2; e++) matrix[lane / 4][lane % 4 * 2 + e] = (uint16_t)(src[lane] >> (16 * e));
  uint64_t *dst = dst_row(w, &in->ops[0]);
  for (unsigned lane = 0; lane < WARP_SIZE; lane++) {
    MmaCoord lo = mma_matrix_coord(lane, 0, true), hi = mma_matrix_coord(lane, 1, true);
    dst[lane] = matrix[lo.row][lo.col] | (uint64_t)matrix[hi.row][hi.col] << 16;
  }
  return EXEC_NEXT;
}

bool decode_ldmatrix(PtxParser *p, Instr *in) {
  bool stores = in->op == OP_stmatrix;
  in->sel = has_mod(in, M_x4) ? 4 : has_mod(in, M_x2) ? 2 : 1;
  if (!has_mod(in, M_m8n8) || in->num_types != 1 || in->type[0] != T_B16) return ptx_error(p, in->line, "unknown instruction: matrices of 8x8 elements of b16 only");
  if (in->space == SPACE_GLOBAL) return ptx_error(p, in->line, "a matrix lies in shared memory");
  if (!decode_want_ops(p, in, 2, 2) || !decode_want_kind(p, in, stores ? 0 : 1, OPND_MEM)) return false;
  as_vector(p, &in->ops[stores ? 1 : 0]);
  in->exec = stores ? exec_stmatrix : exec_ldmatrix;
  return decode_registers(p, in, stores ? 1 : 0, in->sel);
}

bool decode_movmatrix(PtxParser *p, Instr *in) {
  if (!has_mod(in, M_m8n8) || !has_mod(in, M_trans)) return ptx_error(p, in->line, "unknown instruction: this form of movmatrix");
  in->exec = exec_movmatrix;
  return decode_want_ops(p, in, 2, 2) && decode_want_kind(p, in, 0, OPND_REG) && decode_want_kind(p, in, 1, OPND_REG);
}
