// Types as values: construction, equality and text.
#include "frontend/comptime/value.h"

#include <string.h>

const CtType *ct_type_scalar(Context *ctx, DtypeKind kind) {
  CtType *t = arena_new(&ctx->arena, CtType);
  t->kind = CT_TYPE_SCALAR;
  t->scalar = kind;
  return t;
}

const CtType *ct_type_pointer(Context *ctx, const CtType *elem, bool is_const) {
  CtType *t = arena_new(&ctx->arena, CtType);
  *t =
      (CtType){.kind = CT_TYPE_POINTER, .scalar = elem->scalar, .elem = elem, .is_const = is_const, .address_space = 1};
  return t;
}

const CtType *ct_type_block(Context *ctx, const CtType *elem, const int64_t *shape, uint32_t rank) {
  CtType *t = arena_new(&ctx->arena, CtType);
  *t = (CtType){.kind = CT_TYPE_BLOCK, .scalar = elem->scalar, .elem = elem, .rank = rank};
  memcpy(t->shape, shape, rank * sizeof *shape);
  return t;
}

const CtType *ct_type_with_layout(Context *ctx, const CtType *block, const Layout *layout, const CtValue *spelled) {
  CtType *t = arena_new(&ctx->arena, CtType);
  *t = *block;
  t->layout = layout;
  t->spelled = layout ? spelled : NULL;
  return t;
}

bool ct_type_equal(const CtType *a, const CtType *b) {
  if (a == b) return true;
  if (a->kind != b->kind || a->scalar != b->scalar) return false;
  if (a->kind == CT_TYPE_SCALAR) return true;
  if (a->kind == CT_TYPE_POINTER && (a->is_const != b->is_const || a->address_space != b->address_space)) return false;
  if (a->rank != b->rank || memcmp(a->shape, b->shape, a->rank * sizeof *a->shape) || a->layout != b->layout)
    return false;
  return ct_type_equal(a->elem, b->elem);
}

const char *ct_type_text(Context *ctx, const CtType *type) {
  if (type->kind == CT_TYPE_SCALAR) return dtype_info[type->scalar].short_name;
  const char *elem = ct_type_text(ctx, type->elem);
  if (type->kind == CT_TYPE_POINTER) return arena_printf(&ctx->arena, "*%s%s", type->is_const ? "k" : "", elem);
  Buf b = buf_make(&ctx->arena);
  buf_putc(&b, '<');
  for (uint32_t i = 0; i < type->rank; i++) buf_printf(&b, "%s%lld", i ? ", " : "[", (long long)type->shape[i]);
  buf_printf(&b, "], %s>", elem);
  return buf_str(&b);
}

const char *ct_type_name(Context *ctx, const CtType *type) {
  if (type->kind == CT_TYPE_POINTER)
    return arena_printf(&ctx->arena, "%spointer<%s>", type->is_const ? "const_" : "", ct_type_name(ctx, type->elem));
  if (type->kind != CT_TYPE_SCALAR) return ct_type_text(ctx, type);
  const DtypeInfo *d = &dtype_info[type->scalar];
  return d->cls == DTCLASS_FLOAT ? d->short_name : d->name;
}

// ---- what a type is ----
const CtType *ct_scalar_of(const CtType *t) { return t->kind == CT_TYPE_BLOCK ? t->elem : t; }
bool ct_is_ptr(const CtType *t) { return ct_scalar_of(t)->kind == CT_TYPE_POINTER; }

static DtypeClass class_of(const CtType *t) {
  return ct_is_ptr(t) ? DTCLASS_VOID : dtype_info[ct_scalar_of(t)->scalar].cls;
}
bool ct_is_float(const CtType *t) { return class_of(t) == DTCLASS_FLOAT; }
bool ct_is_int(const CtType *t) { return class_of(t) == DTCLASS_SIGNED || class_of(t) == DTCLASS_UNSIGNED; }
bool ct_is_signed(const CtType *t) { return class_of(t) == DTCLASS_SIGNED; }
bool ct_is_kind(const CtType *t, DtypeKind k) { return !ct_is_ptr(t) && ct_scalar_of(t)->scalar == k; }
bool ct_is_bool(const CtType *t) { return ct_is_kind(t, DT_INT1); }
bool ct_is_fp8(const CtType *t) { return ct_is_float(t) && ct_bits(t) == 8; }
uint32_t ct_bits(const CtType *t) { return ct_is_ptr(t) ? 64 : dtype_info[ct_scalar_of(t)->scalar].bits; }

bool ct_int_fits(Int128 v, const CtType *t) {
  uint32_t bits = ct_bits(t);
  if (bits == 1) return v >= 0 && v <= 1;
  if (ct_is_signed(t)) return v >= -((Int128)1 << (bits - 1)) && v < (Int128)1 << (bits - 1);
  return v >= 0 && v < (Int128)1 << bits;
}

int64_t ct_numel(const CtType *t) {
  int64_t n = 1;
  for (uint32_t i = 0; i < ct_rank(t); i++) n *= t->shape[i];
  return n;
}
