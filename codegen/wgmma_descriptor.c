// Descriptors by which wgmma reads operands in shared memory.
#include "codegen/wgmma.h"

WgmmaDescriptor wgmma_descriptor_make(Cg *c, const Op *op, Value *buf, uint32_t k_axis, uint32_t outer) {
  static const uint8_t modes[] = {[128 / 32] = 1, [64 / 32] = 2, [32 / 32] = 3, [0] = 0};
  const Type *t = buf->type;
  WgmmaDescriptor d = {.k_axis = k_axis};
  if (!wgmma_tile_read(t->layout, t->shape, type_elem_bytes(type_elem(t)), k_axis, outer, &d.tile))
    cg_unsupported(c, op, "an operand's buffer has none of the layouts that wgmma reads");
  uint64_t strides = (uint64_t)(d.tile.leading >> 4 & 0x3fff) << 16 | (uint64_t)(d.tile.stride >> 4 & 0x3fff) << 32;
  uint64_t constant = strides | (uint64_t)modes[d.tile.span / 32] << 62;
  const CgValue *v = cg_get(buf);
  LLVMValueRef start = v->count > 1 ? cg_add(c, v->v[0], v->v[1]) : v->v[0];   // bits that are 0 in v[0]
  LLVMValueRef address = cg_op(c, LLVMAnd, cg_smem_addr(c, start), 0x3ffff);
  address = LLVMBuildZExt(c->b, cg_op(c, LLVMLShr, address, 4), c->t_i64, "");
  d.base = cg_op(c, LLVMOr, address, constant);
  d.warpgroup = cg_i64(c, 0);
  return d;
}

// i64: bytes from the tile's start to element (outer, k), as the 16-byte units of a descriptor.
static LLVMValueRef units(Cg *c, const WgmmaDescriptor *d, uint32_t outer, uint32_t k) {
  return cg_i64(c, wgmma_tile_offset(&d->tile, d->k_axis, outer, k) >> 4);
}

void wgmma_descriptor_split(Cg *c, WgmmaDescriptor *d, const Layout *acc, bool rows, LLVMValueRef warp) {
  LLVMValueRef offset = cg_i64(c, 0);
  uint32_t log2_n = acc->log2_size[1];
  for (uint32_t b = 2; b < acc->num_bits[LAYOUT_WARP]; b++) {
    uint32_t flat = layout_basis(acc, LAYOUT_WARP, b), outer = rows ? flat >> log2_n : flat & ((1u << log2_n) - 1);
    if (!outer) continue;
    LLVMValueRef bit = cg_op(c, LLVMAnd, cg_op(c, LLVMLShr, warp, b), 1);
    offset = cg_add(c, offset, LLVMBuildMul(c->b, LLVMBuildZExt(c->b, bit, c->t_i64, ""), units(c, d, outer, 0), ""));
  }
  d->warpgroup = offset;
}

LLVMValueRef wgmma_descriptor_at(Cg *c, const WgmmaDescriptor *d, uint32_t outer, uint32_t k) {
  return cg_add(c, LLVMBuildAdd(c->b, d->base, d->warpgroup, ""), units(c, d, outer, k));
}
