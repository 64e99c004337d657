// Which hardware computes a dot: see dot_unit.h.
#include "passes/dot_unit.h"

#include "ir/roles.h"

// Bits of an operand element as the tensor core reads it; 0 if it cannot.
static uint32_t operand_bits(const Target *t, const Type *a, const Type *b, const Type *c, const Op *dot) {
  ScalarKind ka = type_elem(a)->scalar, kb = type_elem(b)->scalar, kc = type_elem(c)->scalar;
  bool fp8 = (ka == SC_F8E4M3 || ka == SC_F8E5M2) && (kb == SC_F8E4M3 || kb == SC_F8E5M2);
  if (fp8) return t->has_fp8_mma && kc == SC_F32 ? 8 : 0;
  if (ka != kb) return 0;
  switch (ka) {
  case SC_F16: return kc == SC_F32 || kc == SC_F16 ? 16 : 0;
  case SC_BF16: return kc == SC_F32 ? 16 : 0;
  case SC_I8: return kc == SC_I32 ? 8 : 0;
  case SC_F32: return kc == SC_F32 && op_int(dot, ATTR_PRECISION, PREC_TF32) == PREC_TF32 ? 32 : 0;
  case SC_F64: return kc == SC_F64 ? 64 : 0;
  default: return 0;
  }
}

DotUnit dot_unit(const Module *m, const Op *dot, uint32_t *bits) {
  const Type *a = op_operand(dot, 0)->type, *b = op_operand(dot, 1)->type, *c = op_operand(dot, DOT_ACC)->type;
  *bits = operand_bits(m->target, a, b, c, dot);
  if (*bits == 0) return DOT_FMA;
  uint32_t m_axis = c->rank - 2u, n_axis = c->rank - 1u, warps = op_num_warps(dot);
  int64_t rows = c->shape[m_axis], cols = c->shape[n_axis], k = a->shape[n_axis];
  if (k < 8 * (int64_t)dot_k_width(*bits)) return *bits = 0, DOT_FMA;
  if (m->target->has_wgmma && *bits < 64 && c->rank == 2 && rows >= 64 && cols >= 8 &&
      warps % WARPGROUP_WARPS == 0) {
    uint32_t warps_m = (uint32_t)min_i64(warps, rows / 16);
    // Each warp column needs at least 8 columns of its own.
    if (cols / (warps / warps_m) >= 8) return DOT_WGMMA;
  }
  return DOT_MMA;
}

const char *dot_unit_why(const Module *m, const Op *dot) {
  uint32_t bits;
  const Type *a = op_operand(dot, 0)->type, *c = op_operand(dot, DOT_ACC)->type;
  switch (dot_unit(m, dot, &bits)) {
  case DOT_FMA:
    return operand_bits(m->target, a, op_operand(dot, 1)->type, c, dot)
               ? "K is too short for them"
               : "the target's tensor cores do not take these types at this precision";
  case DOT_MMA:
    if (!m->target->has_wgmma || bits == 64 || c->rank != 2) return NULL;
    if (c->shape[0] < 64) return "M is below 64";
    return op_num_warps(dot) % WARPGROUP_WARPS ? "the number of warps is no multiple of four" : "N is too small";
  default: return NULL;
  }
}

int64_t dot_room(const Module *m) {
  const uint32_t blocks = target_blocks_by_registers(THREAD_REGISTERS, WARP_SIZE * m->num_warps);
  return target_shared_of(m->target, blocks ? blocks : 1);
}

Value *dot_stored_tile(Value *v) {
  while (value_op(v, OP_TRANS) || value_op(v, OP_CONVERT_LAYOUT)) v = op_operand(v->def, 0);
  return v;
}

// Whether a dot of the block before `last`, or its operand before `index`, stores the tile.
static bool is_stored_before(const Block *b, const Value *tile, const Op *last, uint32_t index) {
  EACH_OP(op, b)
    for (uint32_t i = 0; i < 2 && op->opcode == OP_DOT; i++) {
      if (op == last && i == index) return false;
      if (dot_stored_tile(op_operand(op, i)) == tile) return true;
    }
  return false;
}

bool dot_operands_fit(const Module *m, const Block *b) {
  int64_t bytes = 0;
  uint32_t bits;
  EACH_OP(op, b)
    for (uint32_t i = 0; i < 2 && op->opcode == OP_DOT && dot_unit(m, op, &bits) == DOT_MMA; i++) {
      const Value *tile = dot_stored_tile(op_operand(op, i));
      if (!is_stored_before(b, tile, op, i)) bytes += type_bytes(tile->type);
    }
  return bytes <= dot_room(m);
}

Value *dot_repeated_tile(Value *v) {
  Value *found = NULL;
  for (Op *op; (op = v->def) && (op->opcode == OP_BROADCAST || op->opcode == OP_RESHAPE ||
                                 op->opcode == OP_EXPAND_DIMS || op->opcode == OP_CONVERT_LAYOUT);) {
    v = op_operand(op, 0);
    if (v->type->kind != TYPE_TENSOR || v->type->rank < 2) break;
    if (op->opcode == OP_BROADCAST || (found && op->opcode == OP_EXPAND_DIMS)) found = v;
  }
  return found;
}
