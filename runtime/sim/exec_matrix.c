// Matrix instructions of one warp: mma.sync, ldmatrix, stmatrix, movmatrix. Placement and arithmetic are mma.c's.
#include "runtime/sim/exec_matrix.h"
#include "runtime/sim/shadow.h"

#include <string.h>

// A whole warp of which none may have exited, where the threads' places are part of the operation.
static ExecResult full_warp(Warp *w, const Instr *in, uint32_t mask) {
  if (!whole_warp(w, mask)) return EXEC_STALL;
  return mask == FULL_MASK
             ? EXEC_NEXT
             : warp_report(w, in, -1, REPORT_DIVERGENT, "%s needs all 32 threads of the warp", ptx_op_name(in->op));
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
    return decode_error(p, "operand %u must be a vector of %u registers", i + 1, count);
  for (uint32_t j = 0; j < count; j++) {
    OperandKind kind = (OperandKind)in->ops[i].sub[j].kind;
    if (kind != OPND_REG && (kind != OPND_IMM || i == 0))
      return decode_error(p, "operand %u must be a vector of %u registers", i + 1, count);
  }
  return true;
}

// ---- mma.sync

static ExecResult exec_mma(Warp *w, const Instr *in, uint32_t mask) {
  TRY(full_warp(w, in, mask));
  const MmaSpec *s = in->aux;
  uint64_t a[16 * 64], b[8 * 64], d[16 * 8];
  const Fragment fa = {s, s->a, mma_a_coord, s->k, 1}, fb = {s, s->b, mma_b_coord, 1, s->k},
                 fd = {s, s->d, mma_d_coord, s->n, 1};
  fragment_gather(&fa, w->r, &in->ops[1], a);
  fragment_gather(&fb, w->r, &in->ops[2], b);
  fragment_gather(&fd, w->r, &in->ops[3], d);
  mma_compute(s, s->m, a, b, d, true);
  undef_mma(w, in, s);
  fragment_scatter(&fd, w->r, &in->ops[0], d);
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
  if (!has_any(in, M_sync, M_sp, M_xor, M_and)) return decode_error(p, "unknown instruction: this form of mma");
  if (in->num_types != 4 || !decode_mma_type(in->type[0], &s->d) || !decode_mma_type(in->type[1], &s->a) ||
      !decode_mma_type(in->type[2], &s->b) || !decode_mma_type(in->type[3], &c) || c != s->d)
    return decode_error(p, "unknown instruction: mma on these types");
  s->m = in->m, s->n = in->n, s->k = in->k;
  s->saturate = has_mod(in, M_satfinite);
  const char *wrong = mma_spec_error(s);
  if (wrong) return decode_error(p, "unknown instruction: %s", wrong);
  if (!is_row_col(in)) return decode_error(p, "mma takes A by rows and B by columns");
  if (!decode_operands(p, in, "....")) return false;
  for (int i = 0; i < 4; i++) as_vector(p, &in->ops[i]);
  in->aux = s;
  in->exec = exec_mma;
  return decode_registers(p, in, 0, mma_d_registers(s)) && decode_registers(p, in, 1, mma_a_registers(s)) &&
         decode_registers(p, in, 2, mma_b_registers(s)) && decode_registers(p, in, 3, mma_d_registers(s));
}

// ---- ldmatrix, stmatrix, movmatrix

// The rows of a matrix, one address of each of the first threads.
static ExecResult matrix_rows(Warp *w, const Instr *in, const PtxOperand *address, unsigned rows, AccessKind kind,
                              MemAccess *a) {
  ExecResult r = mem_resolve(w, in, address, in->space, 16, 16, kind, FULL_MASK >> (32 - rows), a);
  for (unsigned i = 0; i < rows && r == EXEC_NEXT; i++)
    if (a->space[i] != SPACE_SHARED)
      r = warp_report(w, in, (int)i, REPORT_OUT_OF_BOUNDS, "a matrix lies in shared memory; this address does not");
  return r;
}

static ExecResult exec_ldmatrix(Warp *w, const Instr *in, uint32_t mask) {
  TRY(full_warp(w, in, mask));
  unsigned count = in->sel, rows = count * 8;
  MemAccess a;
  TRY(matrix_rows(w, in, &in->ops[1], rows, ACCESS_READ, &a));
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
  TRY(full_warp(w, in, mask));
  unsigned count = in->sel, rows = count * 8;
  MemAccess a;
  TRY(matrix_rows(w, in, &in->ops[0], rows, ACCESS_WRITE, &a));
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
  TRY(full_warp(w, in, mask));
  uint16_t matrix[8][8];
  const uint64_t *src = src_at(w, in, 1);
  for (unsigned lane = 0; lane < WARP_SIZE; lane++)
    for (unsigned e = 0; e < 2; e++) matrix[lane / 4][lane % 4 * 2 + e] = (uint16_t)(src[lane] >> (16 * e));
  uint64_t *dst = dst_at(w, in);
  for (unsigned lane = 0; lane < WARP_SIZE; lane++) {
    MmaCoord lo = mma_matrix_coord(lane, 0, true), hi = mma_matrix_coord(lane, 1, true);
    dst[lane] = matrix[lo.row][lo.col] | (uint64_t)matrix[hi.row][hi.col] << 16;
  }
  return EXEC_NEXT;
}

bool decode_ldmatrix(PtxParser *p, Instr *in) {
  bool stores = in->op == OP_stmatrix;
  in->sel = has_mod(in, M_x4) ? 4 : has_mod(in, M_x2) ? 2 : 1;
  if (!has_mod(in, M_m8n8) || in->num_types != 1 || in->type[0] != T_B16)
    return decode_error(p, "unknown instruction: matrices of 8x8 elements of b16 only");
  if (in->space == SPACE_GLOBAL) return decode_error(p, "a matrix lies in shared memory");
  if (!decode_operands(p, in, "..") || !decode_operand(p, in, stores ? 0 : 1, 'm')) return false;
  as_vector(p, &in->ops[stores ? 1 : 0]);
  in->exec = stores ? exec_stmatrix : exec_ldmatrix;
  return decode_registers(p, in, stores ? 1 : 0, in->sel);
}

bool decode_movmatrix(PtxParser *p, Instr *in) {
  if (!has_mod(in, M_m8n8) || !has_mod(in, M_trans))
    return decode_error(p, "unknown instruction: this form of movmatrix");
  return decode_as(p, in, exec_movmatrix, "rr");
}
