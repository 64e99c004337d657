// Interned types.
#include "ir/type.h"

#include <string.h>

static const struct { const char *name; uint32_t bits; bool is_float; } scalars[NUM_SCALARS] = {
#define INT false
#define FLOAT true
#define SCALAR(id, text, bits, cls) [SC_##id] = {text, bits, cls},
#include "ir/types.def"
#undef INT
#undef FLOAT
};

#define SCALAR(id, text, bits, cls)                                                                                    \
  _Static_assert((bits) == 1 || ((bits) >= 8 && (bits) <= 64 && ((bits) & ((bits)-1)) == 0),                           \
                 "types.def, " #id ": 1, 8, 16, 32 or 64 bits");
#include "ir/types.def"

static uint32_t hash_type(const Type *t) {
  uint64_t h = 14695981039346656037ull;
#define MIX(x) h = (h ^ (uint64_t)(x)) * 1099511628211ull
  MIX(t->kind);
  MIX(t->scalar);
  MIX(t->elem ? t->elem->hash : 0);
  MIX(t->is_const);
  MIX(t->rank);
  MIX(t->count);
  for (uint32_t i = 0; i < t->rank; i++) MIX(t->shape[i]);
  MIX((uintptr_t)t->layout >> 4);
#undef MIX
  return (uint32_t)(h ^ h >> 32);
}

static bool same(const void *kept, const void *key) {
  const Type *a = kept, *b = key;
  return a->kind == b->kind && a->scalar == b->scalar && a->elem == b->elem && a->is_const == b->is_const &&
         a->rank == b->rank && a->count == b->count && a->layout == b->layout &&
         memcmp(a->shape, b->shape, sizeof a->shape) == 0;
}

static const Type *type_intern(Context *ctx, Type *key) {
  key->hash = hash_type(key);
  MapSlot *slot = map_find(&ctx->arena, &ctx->types, key->hash, key, same);
  if (slot->key) return slot->key;
  Type *kept = arena_new(&ctx->arena, Type);
  *kept = *key;
  slot->key = kept;
  return kept;
}

const Type *type_scalar(Context *ctx, ScalarKind k) {
  return type_intern(ctx, &(Type){.kind = TYPE_SCALAR, .scalar = k});
}
const Type *type_token(Context *ctx) { return type_intern(ctx, &(Type){.kind = TYPE_TOKEN}); }

const Type *type_ptr(Context *ctx, const Type *elem, bool is_const) {
  return type_intern(ctx, &(Type){.kind = TYPE_PTR, .elem = elem, .is_const = is_const});
}

static const Type *shaped(Context *ctx, TypeKind kind, const Type *elem, int rank, const int64_t *shape,
                          const Layout *layout, uint32_t count) {
  if (rank < 0 || rank > (kind == TYPE_DESC ? MAX_DESC_RANK : MAX_RANK)) ice(ctx, "type of rank %d", rank);
  Type t = {.kind = kind, .elem = elem, .rank = (uint8_t)rank, .layout = layout, .count = count};
  for (int i = 0; i < rank; i++) t.shape[i] = shape[i];
  return type_intern(ctx, &t);
}

const Type *type_tensor(Context *ctx, const Type *elem, int rank, const int64_t *shape, const Layout *layout) {
  return shaped(ctx, TYPE_TENSOR, elem, rank, shape, layout, 0);
}
const Type *type_buffer(Context *ctx, const Type *elem, int rank, const int64_t *shape, const Layout *layout,
                        uint32_t count) {
  return shaped(ctx, TYPE_BUFFER, elem, rank, shape, layout, count);
}
const Type *type_desc(Context *ctx, const Type *elem, int rank, const int64_t *shape, const Layout *layout) {
  return shaped(ctx, TYPE_DESC, elem, rank, shape, layout, 0);
}

const Type *type_with_elem(Context *ctx, const Type *t, const Type *elem) {
  if (!t->rank) return elem;
  return shaped(ctx, t->kind, elem, t->rank, t->shape, t->layout, t->count);
}

const Type *type_with_layout(Context *ctx, const Type *t, const Layout *layout) {
  if (!t->rank) return t;
  return shaped(ctx, t->kind, t->elem, t->rank, t->shape, layout, t->count);
}

const Type *type_shaped(Context *ctx, const Type *elem, int rank, const int64_t *shape, const Layout *layout) {
  return rank == 0 ? elem : type_tensor(ctx, elem, rank, shape, layout);
}

const Type *type_elem(const Type *t) {
  return t->kind == TYPE_TENSOR || t->kind == TYPE_BUFFER || t->kind == TYPE_DESC ? t->elem : t;
}

int64_t type_numel(const Type *t) {
  int64_t n = 1;
  for (uint32_t i = 0; i < t->rank; i++) n *= t->shape[i];
  return n;
}

uint32_t scalar_bits(ScalarKind k) { return scalars[k].bits; }
bool scalar_is_float(ScalarKind k) { return scalars[k].is_float; }
const char *scalar_name(ScalarKind k) { return scalars[k].name; }
bool scalar_find(const char *name, ScalarKind *out) {
  for (uint32_t k = 0; k < NUM_SCALARS; k++)
    if (!strcmp(scalars[k].name, name)) return *out = (ScalarKind)k, true;
  return false;
}

uint32_t type_elem_bits(const Type *t) {
  t = type_elem(t);
  return t->kind == TYPE_SCALAR ? scalars[t->scalar].bits : 64;
}
uint32_t type_elem_bytes(const Type *t) {
  uint32_t bits = type_elem_bits(t);
  return bits < 8 ? 1 : bits / 8;
}
int64_t type_bytes(const Type *t) { return type_numel(t) * type_elem_bytes(t); }

// A swizzled layout adds the column of address bit 4 + i to that of bit 7 + i, for as many i as the swizzle has.
static uint32_t layout_swizzle_bytes(const Type *desc) {
  const uint32_t log2_elem = log2_u32(type_elem_bytes(desc));
  uint32_t bits = 0;
  for (uint32_t i = 0; i < 3 && 7 + i - log2_elem < desc->layout->num_bits[LAYOUT_OFFSET]; i++) {
    const uint32_t column = layout_basis(desc->layout, LAYOUT_OFFSET, 7 + i - log2_elem);
    bits += column != 1u << (4 + i - log2_elem) && (column & 1u << (4 + i - log2_elem));
  }
  return bits ? 16u << bits : 0;
}

uint32_t type_desc_swizzle_bytes(const Type *desc) {
  if (desc->layout) return layout_swizzle_bytes(desc);
  int64_t inner = desc->shape[desc->rank - 1], bytes = inner * (int64_t)type_elem_bytes(desc);
  // The pattern repeats every eight rows by address: a tile with fewer rows would not start where the pattern does.
  if (type_numel(desc) / inner < 8) return 0;
  return bytes >= 128 ? 128 : bytes >= 64 ? 64 : bytes >= 32 ? 32 : 0;
}

uint32_t type_desc_box(const Type *desc, uint32_t axis) {
  enum { MOST = 256 };   // elements of a box along an axis
  const uint32_t last = desc->rank - 1u, span = type_desc_swizzle_bytes(desc) / type_elem_bytes(desc);
  const int64_t most = axis == last && span ? span : MOST;
  for (uint32_t i = axis + 1; i < last; i++)
    if (desc->shape[i] > MOST) return 1;
  return (uint32_t)(desc->shape[axis] < most ? desc->shape[axis] : most);
}

bool type_is_int(const Type *t) {
  t = type_elem(t);
  return t->kind == TYPE_SCALAR && !scalars[t->scalar].is_float;
}
bool type_is_float(const Type *t) {
  t = type_elem(t);
  return t->kind == TYPE_SCALAR && scalars[t->scalar].is_float;
}
bool type_is_ptr(const Type *t) { return type_elem(t)->kind == TYPE_PTR; }
bool type_same_shape(const Type *a, const Type *b) {
  return a->rank == b->rank && memcmp(a->shape, b->shape, sizeof a->shape) == 0;
}
