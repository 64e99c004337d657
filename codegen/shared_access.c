// Loads and stores of shared memory, vectorised as far as the map from registers to offsets allows.
#include "codegen/address.h"

enum { MAX_VECTOR_BYTES = 16 };

typedef struct {
  uint32_t bits[PLACEMAP_MAX_VECTOR], num_bits;   // register bits inside a vector
  uint32_t inside;              // as a mask
  uint32_t elem_bytes;
  PlaceMap bytes;               // the map in bytes
  LLVMValueRef thread;          // the thread's part
  LLVMValueRef base;
  LLVMTypeRef storage;
} Access;

static Access access_new(Cg *c, LLVMValueRef base, const PlaceMap *map, const Type *elem) {
  Access a = {.elem_bytes = type_elem_bytes(elem), .bytes = *map, .base = base, .storage = cg_storage_type(c, elem)};
  a.num_bits = placemap_vector(map, MAX_VECTOR_BYTES / a.elem_bytes, a.bits);
  for (uint32_t i = 0; i < a.num_bits; i++) a.inside |= 1u << a.bits[i];
  placemap_scale(&a.bytes, log2_u32(a.elem_bytes));
  a.thread = placemap_thread(c, &a.bytes);
  return a;
}

static uint32_t vector_register(const Access *a, uint32_t first, uint32_t k) {
  for (uint32_t i = 0; i < a->num_bits; i++)
    if (k >> i & 1) first |= 1u << a->bits[i];
  return first;
}

// base + (thread ^ overlapping constant). The disjoint constant becomes an immediate of the instruction.
static LLVMValueRef access_offset(Cg *c, const Access *a, uint32_t r, uint32_t *immediate) {
  const uint32_t k = placemap_reg(&a->bytes, r), disjoint = placemap_disjoint(&a->bytes, k);
  *immediate = placemap_padded(&a->bytes, disjoint);
  return cg_add(c, a->base, placemap_join(c, &a->bytes, a->thread, k & ~disjoint));
}

static LLVMValueRef access_ptr(Cg *c, const Access *a, uint32_t r) {
  uint32_t immediate;
  LLVMValueRef p = cg_smem_ptr(c, access_offset(c, a, r, &immediate)), rest = cg_i32(c, immediate);
  return immediate ? LLVMBuildInBoundsGEP2(c->b, c->t_i8, p, &rest, 1, "") : p;
}

static LLVMTypeRef vector_type(const Access *a) {
  return a->num_bits ? LLVMVectorType(a->storage, 1u << a->num_bits) : a->storage;
}

void cg_shared_store(Cg *c, LLVMValueRef base, const PlaceMap *map, const Type *elem, const CgValue *values,
                     LLVMValueRef pred) {
  Access a = access_new(c, base, map, elem);
  ScalarKind k = cg_elem_kind(elem);
  uint32_t n = 1u << map->num_reg_bits, vec = 1u << a.num_bits;
  AccessShape shape = access_shape(vec, a.elem_bytes);
  pred = cg_and(c, cg_owner_pred(c, map->free_thread), pred);
  for (uint32_t r = 0; r < n; r++) {
    if (r & (a.inside | map->free_reg)) continue;
    LLVMValueRef elems[16];
    for (uint32_t i = 0; i < vec; i++) elems[i] = cg_to_storage(c, cg_reg(values, vector_register(&a, r, i)), k);
    if (pred) {
      uint32_t immediate;
      LLVMValueRef at = access_offset(c, &a, r, &immediate);
      at = cg_smem_addr(c, cg_add(c, at, cg_i32(c, immediate)));
      // Predicated, without a branch: the lanes of a warp stay together.
      access_store(c, INSN_ST_SHARED, ".shared", at, pred, elems, &shape);
      continue;
    }
    LLVMValueRef v = cg_vector(c, elems, vec);
    LLVMSetAlignment(LLVMBuildStore(c->b, v, access_ptr(c, &a, r)), a.elem_bytes * vec);
  }
}

CgValue *cg_shared_load(Cg *c, LLVMValueRef base, const PlaceMap *map, const Type *elem) {
  Access a = access_new(c, base, map, elem);
  uint32_t n = 1u << map->num_reg_bits, vec = 1u << a.num_bits;
  LLVMTypeRef et = cg_elem_type(c, elem);
  CgValue *out = cg_value_new(c, n);
  // All loads come before the unpacking, so that they are in flight together.
  for (uint32_t r = 0; r < n; r++) {
    if (r & a.inside) continue;
    LLVMValueRef same = NULL;
    for (uint32_t i = 0; i < map->num_reg_bits && !same; i++)
      if ((r >> i & 1) && map->reg[i] == 0) same = out->v[r & ~(1u << i)];
    if (!same) {
      same = LLVMBuildLoad2(c->b, vector_type(&a), access_ptr(c, &a, r), "");
      LLVMSetAlignment(same, a.elem_bytes * vec);
    }
    out->v[r] = same;
  }
  for (uint32_t r = 0; r < n; r++) {
    if (r & a.inside) continue;
    LLVMValueRef v = out->v[r];
    for (uint32_t i = vec; i-- > 0;)
      out->v[vector_register(&a, r, i)] = cg_from_storage(c, cg_element(c, v, i), et);
  }
  return out;
}

LLVMValueRef cg_shared_load_one(Cg *c, LLVMValueRef offset, const Type *elem) {
  LLVMValueRef v = LLVMBuildLoad2(c->b, cg_storage_type(c, elem), cg_smem_ptr(c, offset), "");
  LLVMSetAlignment(v, type_elem_bytes(elem));
  return cg_from_storage(c, v, cg_elem_type(c, elem));
}
