// Gluon's layouts as compile-time values: the classes, their checks, and the map of a layout on a tensor's shape.
//
// A layout is an instance whose attributes are its fields. A field that has its default is not kept, so the text of a
// layout is as short as its writer can make it. Layouts compare by their fields. A layout that comes from a tensor or a
// buffer (`x.type.layout`) knows the shape, and compares with others by its map.
#include "frontend/comptime/layouts.h"

#include <string.h>

enum { MAX_FIELDS = 7 };
#define CGA {"cga_layout", FIELD_VECTORS, true, 0}
// Fields in the order of positional arguments.
static const struct { const char *name; Field fields[MAX_FIELDS]; } classes[NUM_LAYOUT_CLASSES] = {
    [L_BLOCKED] = {"gl.BlockedLayout", {{"size_per_thread", FIELD_INTS, 0, 0}, {"threads_per_warp", FIELD_INTS, 0, 0},
                   {"warps_per_cta", FIELD_INTS, 0, 0}, {"order", FIELD_INTS, 0, 0}, CGA}},
    [L_SLICE] = {"gl.SliceLayout", {{"dim", FIELD_INT, 0, 0}, {"parent", FIELD_LAYOUT, 0, 0}}},
    [L_LINEAR] = {"gl.DistributedLinearLayout",
                  {{"reg_bases", FIELD_VECTORS, 0, 0}, {"lane_bases", FIELD_VECTORS, 0, 0},
                   {"warp_bases", FIELD_VECTORS, 0, 0}, {"block_bases", FIELD_VECTORS, 0, 0},
                   {"shape", FIELD_INTS, 0, 0}}},
    [L_DOT_OPERAND] = {"gl.DotOperandLayout", {{"operand_index", FIELD_INT, 0, 0}, {"parent", FIELD_LAYOUT, 0, 0},
                       {"k_width", FIELD_INT, 0, 0}}},
    [L_NVMMA_DISTRIBUTED] = {"gl.NVMMADistributedLayout", {{"version", FIELD_INTS, 0, 0},
                             {"warps_per_cta", FIELD_INTS, 0, 0}, {"instr_shape", FIELD_INTS, 0, 0}, CGA}},
    [L_NVMMA_SHARED] = {"gl.NVMMASharedLayout", {{"swizzle_byte_width", FIELD_INT, 0, 0},
                        {"element_bitwidth", FIELD_INT, 0, 0}, {"rank", FIELD_INT, true, 2},
                        {"transposed", FIELD_BOOL, true, 0}, {"fp4_padded", FIELD_BOOL, true, 0}, CGA}},
    [L_SWIZZLED] = {"gl.SwizzledSharedLayout", {{"vec", FIELD_INT, 0, 0}, {"per_phase", FIELD_INT, 0, 0},
                    {"max_phase", FIELD_INT, 0, 0}, {"order", FIELD_INTS, 0, 0}, CGA}},
    [L_SHARED_LINEAR] = {"gl.SharedLinearLayout", {{"offset_bases", FIELD_VECTORS, 0, 0},
                         {"block_bases", FIELD_VECTORS, true, 0}, {"alignment", FIELD_INT, true, 16}}},
    [L_PADDED] = {"gl.PaddedSharedLayout", {{"interval_padding_pairs", FIELD_VECTORS, 0, 0},
                  {"offset_bases", FIELD_VECTORS, 0, 0}, {"block_bases", FIELD_VECTORS, 0, 0},
                  {"shape", FIELD_INTS, 0, 0}}},
    [L_MBARRIER] = {"gl.MBarrierLayout", {CGA}},
    [L_AUTO] = {"gl.AutoLayout", {{0}}},
    [L_COALESCED] = {"gl.CoalescedLayout", {{0}}}};

static LayoutClass class_named(const char *name) {
  const char *dot = strrchr(name, '.'), *last = dot ? dot + 1 : name;
  LayoutClass c = L_BLOCKED;
  while (c < NUM_LAYOUT_CLASSES && strcmp(classes[c].name + strlen("gl."), last)) c++;
  return c;
}

LayoutClass layout_class(const CtValue *v) {
  const bool may = v->kind == CT_INSTANCE && !v->instance->cls->env && !strncmp(v->instance->cls->name, "gl.", 3);
  return may ? class_named(v->instance->cls->name) : NUM_LAYOUT_CLASSES;
}

bool layout_class_is_shared(LayoutClass c) { return c >= L_NVMMA_SHARED && c <= L_MBARRIER; }

bool comptime_is_layout(const CtValue *v, LayoutKind kind) {
  const LayoutClass c = layout_class(v);
  return c < L_AUTO && layout_class_is_shared(c) == (kind == LAYOUT_SHARED);
}
bool comptime_is_auto_layout(const CtValue *v) { return layout_class(v) == L_AUTO; }
bool comptime_is_coalesced_layout(const CtValue *v) { return layout_class(v) == L_COALESCED; }

// ---- fields ----
CtValue *layout_field(Comptime *ct, const CtValue *v, const char *name) {
  return ct_instance_get(v->instance, intern(ct->ctx, name));
}

int64_t layout_field_int(Comptime *ct, const CtValue *v, const char *name, int64_t otherwise) {
  const CtValue *x = layout_field(ct, v, name);
  return x ? (int64_t)int_of(x) : otherwise;
}

uint32_t layout_field_ints(Comptime *ct, const CtValue *v, const char *name, uint32_t out[LAYOUT_MAX_RANK]) {
  const CtValue *x = layout_field(ct, v, name);
  for (uint32_t i = 0; x && i < x->list.count; i++) out[i] = (uint32_t)int_of(x->list.data[i]);
  return x ? x->list.count : 0;
}

static uint32_t field_count(Comptime *ct, const CtValue *v, const char *name) {
  const CtValue *x = layout_field(ct, v, name);
  return x ? x->list.count : 0;
}

LayoutVector layout_vector(const CtValue *list) {
  LayoutVector r = {0};
  for (uint32_t d = 0; d < list->list.count; d++) r.at[d] = (uint32_t)int_of(list->list.data[d]);
  return r;
}

CtValue *layout_normal(Comptime *ct, const char *cls, const Field *f, CtValue *v, Span span) {
  enum { MAX_SIZE = 1 << 20 };
  v = ct_unwrap(v);
  if (v->kind == CT_MISSING) return ct_fail_missing(ct, span, v);
  if (f->kind == FIELD_LAYOUT) {
    if (comptime_is_layout(v, LAYOUT_DISTRIBUTED)) return v;
    return ct_fail(ct, span, "TypeError", "%s of %s must be a distributed layout, not %s", f->name, cls,
                   ct_repr(ct->ctx, v));
  }
  if (f->kind == FIELD_BOOL) return ct_bool(ct_is_true(v));
  if (f->kind == FIELD_INT) {
    if (is_int(v) && int_of(v) >= 0 && int_of(v) <= MAX_SIZE) return ct_int(ct->ctx, int_of(v));
    return ct_fail(ct, span, "ValueError", "%s of %s must be an integer of at most 2^20, not %s", f->name, cls,
                   ct_repr(ct->ctx, v));
  }
  if (f->optional && v->kind == CT_NONE) return ct_list(ct->ctx, NULL, 0);
  const Field inner = {f->name, f->kind == FIELD_VECTORS ? FIELD_INTS : FIELD_INT, false, 0};
  const uint32_t most = f->kind == FIELD_VECTORS ? LAYOUT_MAX_BITS : LAYOUT_MAX_RANK;
  if (v->kind != CT_LIST && v->kind != CT_TUPLE)
    return ct_fail(ct, span, "TypeError", "%s of %s must be a list, not %s", f->name, cls, ct_repr(ct->ctx, v));
  if (v->list.count > most)
    return ct_fail(ct, span, "ValueError", "%s of %s has %u entries, more than %u", f->name, cls, v->list.count, most);
  CtValue *r = ct_list(ct->ctx, NULL, 0);
  for (uint32_t i = 0; i < v->list.count; i++) {
    CtValue *item = layout_normal(ct, cls, &inner, v->list.data[i], span);
    if (!item) return NULL;
    ct_append(ct, r, item);
  }
  return r;
}

// ---- rank ----
static uint32_t length_of_first(Comptime *ct, const CtValue *v, const char *name) {
  const CtValue *x = layout_field(ct, v, name);
  return x && x->list.count ? x->list.data[0]->list.count : 0;
}

uint32_t layout_class_rank(Comptime *ct, const CtValue *v) {
  switch (layout_class(v)) {
    case L_BLOCKED: case L_SWIZZLED: return field_count(ct, v, "order");
    case L_SLICE: return layout_class_rank(ct, layout_field(ct, v, "parent")) - 1;
    case L_LINEAR: case L_PADDED: return field_count(ct, v, "shape");
    case L_DOT_OPERAND: return layout_class_rank(ct, layout_field(ct, v, "parent"));
    case L_NVMMA_DISTRIBUTED: return field_count(ct, v, "warps_per_cta");
    case L_NVMMA_SHARED: return (uint32_t)layout_field_int(ct, v, "rank", 2);
    case L_SHARED_LINEAR: return length_of_first(ct, v, "offset_bases");
    case L_MBARRIER: return 1;
    default: return 0;
  }
}
uint32_t comptime_layout_rank(Comptime *ct, const CtValue *layout) { return layout_class_rank(ct, layout); }

uint32_t layout_cga(Comptime *ct, const CtValue *v, LayoutVector out[LAYOUT_MAX_BITS]) {
  const LayoutClass c = layout_class(v);
  if (c == L_SLICE || c == L_DOT_OPERAND) {
    const CtValue *parent = layout_field(ct, v, "parent");
    const uint32_t n = layout_cga(ct, parent, out), rank = layout_class_rank(ct, parent);
    const uint32_t axis = (uint32_t)(c == L_SLICE ? layout_field_int(ct, v, "dim", 0)
                                                  : rank - 1 - layout_field_int(ct, v, "operand_index", 0));
    for (uint32_t i = 0; i < n; i++) {
      out[i].at[axis] = 0;
      for (uint32_t d = axis; c == L_SLICE && d + 1 < rank; d++) out[i].at[d] = out[i].at[d + 1];
    }
    return n;
  }
  const CtValue *list = layout_field(ct, v, "cga_layout");
  for (uint32_t i = 0; list && i < list->list.count; i++) out[i] = layout_vector(list->list.data[i]);
  return list ? list->list.count : 0;
}

// ---- checks ----
static bool fail(Comptime *ct, Span span, const CtValue *v, const char *what) {
  return ct_fail(ct, span, "ValueError", "%s: %s", ct_repr(ct->ctx, v), what) != NULL;
}

static bool all_pow2(const CtValue *list) {
  for (uint32_t i = 0; list && i < list->list.count; i++) {
    const CtValue *x = list->list.data[i];
    if (x->kind == CT_LIST ? !all_pow2(x) : !is_pow2_u64((uint64_t)int_of(x))) return false;
  }
  return true;
}

bool layout_lists_have(const CtValue *lists, uint32_t n) {
  for (uint32_t i = 0; lists && i < lists->list.count; i++)
    if (lists->list.data[i]->list.count != n) return false;
  return true;
}

static bool is_permutation(const CtValue *list) {
  uint32_t seen = 0;
  for (uint32_t i = 0; i < list->list.count; i++)
    if (int_of(list->list.data[i]) < (Int128)list->list.count) seen |= 1u << (uint32_t)int_of(list->list.data[i]);
  return seen == (1u << list->list.count) - 1;
}

static bool one_axis_each(const CtValue *lists) {
  for (uint32_t i = 0; lists && i < lists->list.count; i++) {
    uint32_t n = 0;
    for (uint32_t d = 0; d < lists->list.data[i]->list.count; d++) n += int_of(lists->list.data[i]->list.data[d]) != 0;
    if (n > 1) return false;
  }
  return true;
}

static bool check_linear(Comptime *ct, CtValue *v, uint32_t rank, Span span) {
  static const char *const names[] = {"reg_bases", "lane_bases", "warp_bases", "block_bases"};
  for (uint32_t i = 0; i < countof(names); i++) {
    if (!layout_lists_have(layout_field(ct, v, names[i]), rank))
      return fail(ct, span, v, "each basis has an entry for each axis");
    if (!one_axis_each(layout_field(ct, v, names[i]))) return fail(ct, span, v, "a basis moves along one axis at most");
  }
  if (!all_pow2(layout_field(ct, v, "shape"))) return fail(ct, span, v, "the shape must be of powers of two");
  return field_count(ct, v, "lane_bases") == 5 || fail(ct, span, v, "a warp has 32 threads, which are 5 lane bases");
}

static bool check_mma(Comptime *ct, CtValue *v, uint32_t rank, Span span) {
  uint32_t version[LAYOUT_MAX_RANK] = {0}, instr[LAYOUT_MAX_RANK];
  layout_field_ints(ct, v, "version", version);
  const uint32_t n = layout_field_ints(ct, v, "instr_shape", instr);
  if (version[0] != 2 && version[0] != 3)
    return fail(ct, span, v, "the version is [2, 0] for mma.sync or [3, 0] for warpgroup_mma");
  if (rank < 2 || !all_pow2(layout_field(ct, v, "warps_per_cta")))
    return fail(ct, span, v, "warps_per_cta needs two powers of two or more");
  if (version[0] == 2) {
    if (n != rank || instr[n - 1] != 8 || instr[n - 2] != 16)
      return fail(ct, span, v, "instr_shape of version 2 is [16, 8]");
  } else if (n != 3 || instr[0] != 16 || instr[1] < 8 || instr[1] > 256 || instr[1] % 8) {
    return fail(ct, span, v, "instr_shape of version 3 is [16, N, K], N a multiple of 8 up to 256");
  }
  return true;
}

static bool check_operand(Comptime *ct, CtValue *v, Span span) {
  const CtValue *parent = layout_field(ct, v, "parent");
  const LayoutClass c = layout_class(parent);
  const uint32_t operand = (uint32_t)layout_field_int(ct, v, "operand_index", 0),
                 w = (uint32_t)layout_field_int(ct, v, "k_width", 0);
  if (operand > 1) return fail(ct, span, v, "operand_index is 0 or 1");
  if (c == L_BLOCKED)
    return layout_class_rank(ct, parent) < 2 ? fail(ct, span, v, "the parent needs two axes")
                                   : w == 0 || fail(ct, span, v, "k_width is 0 with a BlockedLayout, for dot_fma");
  if (c != L_NVMMA_DISTRIBUTED)
    return fail(ct, span, v, "the parent is an NVMMADistributedLayout, or a BlockedLayout for dot_fma");
  if (!is_pow2_u64(w)) return fail(ct, span, v, "k_width must be a power of two");
  uint32_t version[LAYOUT_MAX_RANK] = {0};
  layout_field_ints(ct, parent, "version", version);
  return operand == 0 || version[0] == 2 || fail(ct, span, v, "warpgroup_mma reads operand 1 from shared memory only");
}

static bool is_pow2_field(Comptime *ct, const CtValue *v, const char *name) {
  return is_pow2_u64((uint64_t)layout_field_int(ct, v, name, 0));
}

static bool check_blocked(Comptime *ct, const CtValue *v, uint32_t rank, Span span) {
  static const char *const names[] = {"size_per_thread", "threads_per_warp", "warps_per_cta"};
  for (uint32_t i = 0; i < countof(names); i++) {
    if (field_count(ct, v, names[i]) != rank) return fail(ct, span, v, "all lists have one length");
    if (!all_pow2(layout_field(ct, v, names[i]))) return fail(ct, span, v, "sizes must be powers of two");
  }
  if (!rank || !is_permutation(layout_field(ct, v, "order"))) return fail(ct, span, v, "order names each axis once");
  uint32_t threads[LAYOUT_MAX_RANK], product = 1;
  layout_field_ints(ct, v, "threads_per_warp", threads);
  for (uint32_t i = 0; i < rank; i++) product *= threads[i];
  return product == 32 || fail(ct, span, v, "the product of threads_per_warp must be 32");
}

static bool check_slice(Comptime *ct, const CtValue *v, Span span) {
  const uint32_t parent = layout_class_rank(ct, layout_field(ct, v, "parent"));
  return (parent > 1 && layout_field_int(ct, v, "dim", 0) < parent) ||
         fail(ct, span, v, "dim names an axis of the parent, which has two or more");
}

static bool check_mma_shared(Comptime *ct, const CtValue *v, uint32_t rank, Span span) {
  const int64_t s = layout_field_int(ct, v, "swizzle_byte_width", 0),
                b = layout_field_int(ct, v, "element_bitwidth", 0);
  if (s != 0 && s != 32 && s != 64 && s != 128) return fail(ct, span, v, "swizzle_byte_width is 0, 32, 64 or 128");
  if (b != 8 && b != 16 && b != 32 && b != 64) return fail(ct, span, v, "element_bitwidth is 8, 16, 32 or 64");
  if (layout_field(ct, v, "fp4_padded")) return fail(ct, span, v, "fp4_padded tiles are of sm_100 and later");
  return (rank >= 1 && rank <= 5) || fail(ct, span, v, "rank is 1 to 5");
}

static bool check_swizzled(Comptime *ct, const CtValue *v, uint32_t rank, Span span) {
  if (!is_pow2_field(ct, v, "vec") || !is_pow2_field(ct, v, "per_phase") || !is_pow2_field(ct, v, "max_phase"))
    return fail(ct, span, v, "vec, per_phase and max_phase must be powers of two");
  return (rank && is_permutation(layout_field(ct, v, "order"))) || fail(ct, span, v, "order names each axis once");
}

static bool check_shared_linear(Comptime *ct, const CtValue *v, uint32_t rank, Span span) {
  if (!rank || !layout_lists_have(layout_field(ct, v, "offset_bases"), rank) ||
      !layout_lists_have(layout_field(ct, v, "block_bases"), rank))
    return fail(ct, span, v, "each basis has an entry for each axis");
  return is_pow2_u64((uint64_t)layout_field_int(ct, v, "alignment", 16)) ||
         fail(ct, span, v, "alignment must be a power of two");
}

static bool check_padded(Comptime *ct, const CtValue *v, uint32_t rank, Span span) {
  const CtValue *pairs = layout_field(ct, v, "interval_padding_pairs");
  if (!pairs->list.count || !layout_lists_have(pairs, 2) || !all_pow2(pairs))
    return fail(ct, span, v, "interval_padding_pairs holds pairs of powers of two");
  if (pairs->list.count > LAYOUT_MAX_PADS) return fail(ct, span, v, "there are at most four pairs");
  return (rank && layout_lists_have(layout_field(ct, v, "offset_bases"), rank)) ||
         fail(ct, span, v, "each basis has an entry for each axis");
}

static bool check(Comptime *ct, CtValue *v, Span span) {
  const uint32_t rank = layout_class_rank(ct, v);
  if (!layout_lists_have(layout_field(ct, v, "cga_layout"), rank))
    return fail(ct, span, v, "each vector of cga_layout has an entry for each axis");
  switch (layout_class(v)) {
    case L_BLOCKED: return check_blocked(ct, v, rank, span);
    case L_SLICE: return check_slice(ct, v, span);
    case L_LINEAR: return check_linear(ct, v, rank, span);
    case L_DOT_OPERAND: return check_operand(ct, v, span);
    case L_NVMMA_DISTRIBUTED: return check_mma(ct, v, rank, span);
    case L_NVMMA_SHARED: return check_mma_shared(ct, v, rank, span);
    case L_SWIZZLED: return check_swizzled(ct, v, rank, span);
    case L_SHARED_LINEAR: return check_shared_linear(ct, v, rank, span);
    case L_PADDED: return check_padded(ct, v, rank, span);
    default: return true;
  }
}

// ---- construction ----
CtValue *layout_instance(Comptime *ct, LayoutClass c) {
  CtClass *cls = arena_new(ct->arena, CtClass);
  cls->name = intern(ct->ctx, classes[c].name);
  cls->form = CLASS_DATACLASS;
  return ct_instance_new(ct, cls);
}

static bool is_default(const Field *f, const CtValue *v) {
  if (!f->optional) return false;
  return v->kind == CT_LIST ? !v->list.count : int_of(v) == f->otherwise;
}

bool ct_is_layout_class(const char *name) {
  return !strncmp(name, "gl.", 3) && class_named(name) < NUM_LAYOUT_CLASSES;
}

CtValue *ct_layout_new(Comptime *ct, const char *name, const CtArgs *a) {
  const LayoutClass c = class_named(name);
  if (c == NUM_LAYOUT_CLASSES) return NULL;
  const Field *fields = classes[c].fields;
  CtValue *given[MAX_FIELDS], *v = layout_instance(ct, c);
  Buf signature = buf_make(ct->arena);
  buf_puts(&signature, classes[c].name);
  uint32_t n = 0;
  for (; n < MAX_FIELDS && fields[n].name; n++)
    buf_printf(&signature, " %s%s", fields[n].optional ? "?" : "", fields[n].name);
  if (!ct_take_args(ct, buf_str(&signature), a, given)) return NULL;
  for (uint32_t i = 0; i < n; i++) {
    CtValue *x = given[i] ? layout_normal(ct, classes[c].name, &fields[i], given[i], a->span) : NULL;
    if (given[i] && !x) return NULL;
    if (x && !is_default(&fields[i], x)) ct_env_set(ct->ctx, v->instance->attrs, intern(ct->ctx, fields[i].name), x);
  }
  return check(ct, v, a->span) ? v : NULL;
}

CtValue *ct_layout_attr(Comptime *ct, const CtValue *v, const char *name) {
  const LayoutClass c = layout_class(v);
  if (c == NUM_LAYOUT_CLASSES) return NULL;
  if (!strcmp(name, "rank")) return c < L_AUTO ? ct_int(ct->ctx, layout_class_rank(ct, v)) : NULL;
  for (uint32_t i = 0; i < MAX_FIELDS && classes[c].fields[i].name; i++) {
    const Field *f = &classes[c].fields[i];
    if (f->optional && !strcmp(f->name, name))
      return f->kind == FIELD_VECTORS ? ct_list(ct->ctx, NULL, 0)
             : f->kind == FIELD_BOOL  ? ct_bool(f->otherwise != 0)
                                      : ct_int(ct->ctx, f->otherwise);
  }
  if (strcmp(name, "cga_layout") || (c != L_SLICE && c != L_DOT_OPERAND)) return NULL;
  LayoutVector cga[LAYOUT_MAX_BITS];
  CtValue *list = ct_list(ct->ctx, NULL, 0);
  for (uint32_t i = 0, n = layout_cga(ct, v, cga); i < n; i++) {
    CtValue *entry = ct_list(ct->ctx, NULL, 0);
    for (uint32_t d = 0; d < layout_class_rank(ct, v); d++) ct_append(ct, entry, ct_int(ct->ctx, cga[i].at[d]));
    ct_append(ct, list, entry);
  }
  return list;
}
