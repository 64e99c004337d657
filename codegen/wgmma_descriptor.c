// Descriptors by which wgmma reads operands in shared memory. Their strides are those of the swizzled tile layouts.
#include "codegen/wgmma.h"

WgmmaDescriptor wgmma_descriptor_make(Cg *c, const Op *op, Value *buf, uint32_t k_axis) {
  const Type *t = buf->type;
  const uint32_t elem_bytes = type_elem_bytes(type_elem(t));
  SwizzledTile tile;
  if (!layout_find_swizzled(c->ctx, t->layout, t->shape, elem_bytes * 8, &tile))
    cg_unsupported(c, op, "an operand's buffer has none of the layouts that wgmma reads");
  const uint32_t span = tile.swizzle_bytes;
  WgmmaDescriptor d = {.k_major = tile.fast == k_axis, .chunk = span ? span : 16, .lines = tile.lines,
                       .elem_bytes = elem_bytes};
  // Strides: between groups of eight lines, and between chunks. Without swizzling the two change places for operands
  // that are contiguous along M or N.
  uint32_t group = 8 * d.chunk, next_chunk = d.lines * d.chunk;
  uint32_t lbo = d.k_major ? span ? 16 : next_chunk : span ? next_chunk : group;
  uint32_t sbo = span || d.k_major ? group : next_chunk;
  uint64_t strides = (uint64_t)(lbo >> 4 & 0x3fff) << 16 | (uint64_t)(sbo >> 4 & 0x3fff) << 32;
  const uint64_t mode = span == 128 ? 1 : span == 64 ? 2 : span == 32 ? 3 : 0, constant = strides | mode << 62;
  LLVMValueRef address = cg_op(c, LLVMAnd, cg_smem_addr(c, cg_scalar(buf)), 0x3ffff);
  address = LLVMBuildZExt(c->b, cg_op(c, LLVMLShr, address, 4), c->t_i64, "");
  d.base = cg_op(c, LLVMOr, address, constant);
  d.warpgroup = cg_i64(c, 0);
  return d;
}

// i64: bytes from the tile's start to element (outer, k), as the 16-byte units of a descriptor. Swizzling works on
// bits of the absolute address, so plain offsets inside a line are right.
static LLVMValueRef units(Cg *c, const WgmmaDescriptor *d, uint32_t outer, uint32_t k) {
  uint32_t fast = (d->k_major ? k : outer) * d->elem_bytes, line = d->k_major ? outer : k;
  return cg_i64(c, (fast / d->chunk * d->lines * d->chunk + line * d->chunk + fast % d->chunk) >> 4);
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
