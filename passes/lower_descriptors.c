// Descriptor accesses to masked pointers, where no TMA will do them: below sm_90, and of descriptors that the kernel makes
// (those that the launcher could make are parameters by now, see hoist_descriptors).
//
//   %x = desc_load %d, i, j     →   rows = i + range ; cols = j + range
//   (%d = make_desc base,           mask = 0 ≤ rows < M and 0 ≤ cols < N
//    M, N, sm, sn)                  %x = load base + rows·sm + cols·sn, mask, padding
// In, out: TILE. A descriptor parameter has no address that a kernel could use without TMA: that is an error.
#include "ir/num.h"
#include "passes/pass.h"
#include "passes/tma.h"

typedef struct { Context *ctx; Module *module; bool changed; } Lower;

static bool is_access(const Op *op) {
  return op->opcode == OP_DESC_LOAD || op->opcode == OP_DESC_STORE || op->opcode == OP_DESC_REDUCE || op->opcode == OP_DESC_GATHER ||
         op->opcode == OP_DESC_SCATTER;
}

typedef struct { const Op *desc; Value *pointers, *mask; } Tile;

// A vector of numbers along `axis` as a tensor of the tile's shape.
static Value *along(Builder *b, Value *v, uint32_t axis, const Type *tile) {
  for (uint32_t i = 0; i < tile->rank; i++)
    if (i != axis) v = build_expand_dims(b, v, i);
  return build_broadcast(b, v, tile);
}

// Pointers and bounds of the tile whose index along axis i is index[i], a vector of i32.
static Tile address_tile(Builder *b, const Op *desc, const Type *tile, Value *const *index) {
  uint32_t rank = tile->rank;
  const Type *i64 = type_scalar(b->ctx, SC_I64), *i64s = type_with_elem(b->ctx, tile, i64);
  Tile t = {.desc = desc};
  Value *offset = NULL;
  for (uint32_t i = 0; i < rank; i++) {
    Value *extent = build_splat(b, op_operand(desc, 1 + i), index[i]->type);
    Value *stride = build_splat(b, op_operand(desc, 1 + rank + i), type_with_elem(b->ctx, index[i]->type, i64));
    Value *low = build_cmp(b, CMP_SGE, index[i], build_int(b, index[i]->type, 0));
    Value *inside = along(b, build_binary(b, OP_ANDI, low, build_cmp(b, CMP_SLT, index[i], extent)), i, type_with_elem(b->ctx, tile, type_scalar(b->ctx, SC_I1)));
    Value *part = along(b, build_binary(b, OP_MULI, build_cast(b, OP_EXTSI, index[i], i64), stride), i, i64s);
    offset = offset ? build_binary(b, OP_ADDI, offset, part) : part;
    t.mask = t.mask ? build_binary(b, OP_ANDI, t.mask, inside) : inside;
  }
  Value *base = build_splat(b, op_operand(desc, 0), type_with_elem(b->ctx, tile, op_operand(desc, 0)->type));
  t.pointers = build_binary(b, OP_ADDPTR, base, offset);
  return t;
}

static Value *counting(Builder *b, Value *start, int64_t n) {
  Value *range = build_range(b, 0, n, NULL);
  return build_binary(b, OP_ADDI, range, build_splat(b, start, range->type));
}

static Value *padding(Builder *b, const Op *desc, const Type *tile) {
  bool nan = op_int(desc, ATTR_PADDING, PAD_ZERO) == PAD_NAN && type_is_float(tile);
  return nan ? build_float(b, tile, __builtin_nan("")) : NULL;
}

static void lower(Op *op, void *user) {
  Lower *l = user;
  if (!is_access(op)) return;
  Value *d = op_operand(op, 0);
  bool by_rows = op->opcode == OP_DESC_GATHER || op->opcode == OP_DESC_SCATTER;
  if (tma_usable(l->module, d) && !by_rows) return;
  if (!d->def || d->def->opcode != OP_MAKE_DESC) {
    diag_error(l->ctx, op->span, "%s of a descriptor parameter needs %s", by_rows ? "row gather or scatter" : "an access",
               by_rows ? "a descriptor made in the kernel" : "TMA, which this target does not have");
    diag_note(l->ctx, (Span){0, 0}, "make the descriptor in the kernel with make_tensor_descriptor, from a pointer");
    return;
  }
  Builder b = builder_before(l->ctx, op);
  bool has_value = op->opcode == OP_DESC_STORE || op->opcode == OP_DESC_REDUCE || op->opcode == OP_DESC_SCATTER;
  Value *value = has_value ? op_operand(op, 1) : NULL;
  const Type *tile = has_value ? value->type : op->results[0].type;
  uint32_t first = has_value ? 2 : 1;
  Value *index[MAX_RANK];
  if (by_rows) {
    index[0] = op_operand(op, first);
    index[1] = counting(&b, op_operand(op, first + 1), tile->shape[1]);
  } else {
    for (uint32_t i = 0; i < tile->rank; i++) index[i] = counting(&b, op_operand(op, first + i), tile->shape[i]);
  }
  Tile t = address_tile(&b, d->def, tile, index);
  if (!has_value) value_replace_all_uses(&op->results[0], build_load(&b, t.pointers, NULL, t.mask, padding(&b, d->def, tile)));
  else if (op->opcode == OP_DESC_REDUCE) {
    Op *atomic = build_op(&b, OP_ATOMIC_RMW, (Value *[]){t.pointers, NULL, value, t.mask}, 4);
    op_copy_attrs(l->ctx, atomic, op);
    op_set_int(l->ctx, atomic, ATTR_SEM, SEM_RELAXED);
    op_set_int(l->ctx, atomic, ATTR_SCOPE, SCOPE_GPU);
  } else build_store(&b, t.pointers, NULL, value, t.mask);
  op_erase(op);
  l->changed = true;
}

bool pass_lower_descriptors(PassCtx *p) {
  Lower l = {p->ctx, p->module, false};
  module_walk(p->module, lower, &l);
  return l.changed;
}
