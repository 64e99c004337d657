// Inside Gluon's layouts: layouts.c has the classes and their checks, layout_map.c the maps.
#ifndef TILE_FRONTEND_LAYOUTS_H
#define TILE_FRONTEND_LAYOUTS_H

#include "frontend/comptime/comptime_impl.h"
#include "ir/layout_gluon.h"

typedef enum {
  L_BLOCKED, L_SLICE, L_LINEAR, L_DOT_OPERAND, L_NVMMA_DISTRIBUTED, L_NVMMA_SHARED, L_SWIZZLED, L_SHARED_LINEAR,
  L_PADDED, L_MBARRIER, L_AUTO, L_COALESCED, NUM_LAYOUT_CLASSES
} LayoutClass;
typedef enum { FIELD_INT, FIELD_BOOL, FIELD_INTS, FIELD_VECTORS, FIELD_LAYOUT } FieldKind;
typedef struct { const char *name; FieldKind kind; bool optional; int otherwise; } Field;

LayoutClass layout_class(const CtValue *v);                 // NUM_LAYOUT_CLASSES if v is no layout
bool layout_class_is_shared(LayoutClass c);
uint32_t layout_class_rank(Comptime *ct, const CtValue *v);  // 0: it is known with the tensor only
CtValue *layout_instance(Comptime *ct, LayoutClass c);       // without fields
// A field's value; NULL, or no entries, if it has its default.
CtValue *layout_field(Comptime *ct, const CtValue *v, const char *name);
int64_t layout_field_int(Comptime *ct, const CtValue *v, const char *name, int64_t otherwise);
uint32_t layout_field_ints(Comptime *ct, const CtValue *v, const char *name, uint32_t out[LAYOUT_MAX_RANK]);
LayoutVector layout_vector(const CtValue *list);
bool layout_lists_have(const CtValue *lists, uint32_t n);    // each of them n entries
// cga_layout as this layout has it: a slice has its parent's without the axis, an operand of a dot zeros along K.
uint32_t layout_cga(Comptime *ct, const CtValue *v, LayoutVector out[LAYOUT_MAX_BITS]);
// A field's value in one form: plain integers, lists of them. NULL after a failure that names `cls`.
CtValue *layout_normal(Comptime *ct, const char *cls, const Field *f, CtValue *v, Span span);

#endif
