// Loads, stores, atomics, and block pointers.
#include "frontend/lower/gluon.h"
#include "frontend/lower/hints.h"
#include "frontend/lower/term.h"
#include "frontend/lower/warnings.h"

#include <string.h>

#include <math.h>

static const char *const caches_load[] = {
    [CACHE_NONE] = "", [CACHE_CA] = ".ca", [CACHE_CG] = ".cg", [CACHE_CV] = ".cv", [CACHE_CS] = ".cs"};
static const char *const caches_store[] = {
    [CACHE_NONE] = "", [CACHE_CG] = ".cg", [CACHE_WB] = ".wb", [CACHE_CS] = ".cs", [CACHE_WT] = ".wt"};
static const char *const evicts[] = {[EVICT_NORMAL] = "", [EVICT_FIRST] = "evict_first", [EVICT_LAST] = "evict_last"};
static const char *const paddings[] = {"", "zero", "nan"};
static const char *const sems[] = {
    [SEM_RELAXED] = "relaxed", [SEM_ACQUIRE] = "acquire", [SEM_RELEASE] = "release", [SEM_ACQ_REL] = "acq_rel"};
static const char *const scopes[] = {[SCOPE_GPU] = "gpu", [SCOPE_CTA] = "cta", [SCOPE_SYS] = "sys"};

enum { NO_BLOCK_POINTER = -1 };   // in place of a set of unchecked axes

static void set_access(Lower *L, Op *op, int cache, int evict, int64_t unchecked) {
  if (cache) op_set_int(L->ctx, op, ATTR_CACHE, cache);
  if (evict) op_set_int(L->ctx, op, ATTR_EVICT, evict);
  if (unchecked != NO_BLOCK_POINTER) op_set_int(L->ctx, op, ATTR_UNCHECKED, unchecked);
}

// The pointer argument and its pointee's type. NULL after a diagnostic.
static Term *pointer_arg(Lower *L, Call *c, const CtType **pointee) {
  Term *p = c->args[0];
  if (p->kind == TERM_VALUE && ct_is_ptr(term_t(p))) {
    *pointee = ct_scalar_of(term_t(p))->elem;
    if ((*pointee)->kind == CT_TYPE_SCALAR && (*pointee)->scalar == DT_VOID) {
      arg_error(L, c, 0, "`%s` through a pointer to void", c->row->name);
      return lower_hint(L, "cast it: p.to(tl.pointer_type(tl.float32))");
    }
    return p;
  }
  arg_error(L, c, 0, "`%s` needs a pointer, this is %s", c->row->name, term_describe(L, p));
  if (term_is_none(p)) lower_hint(L, "guard the access with `if pointer is not None:`");
  if (p->kind == TERM_DESC) lower_hint(L, "a descriptor is accessed by desc.load([…]) and desc.store([…], value)");
  if (p->kind == TERM_BLOCK_PTR)
    lower_hint(L, "block pointers are for tl.load and tl.store: add offsets to the pointer that it was made of");
  const bool is_told = lower_note_no_pointer(L, p, c->spans[0]);
  if (!is_told) lower_note_param(L, p);
  if (lower_note_listed(L, p) || lower_note_comma(L, p) || lower_hint_returned(L, p)) return NULL;
  if (p->kind == TERM_TUPLE && !p->tuple.cls)
    return lower_hint(L, "access them one by one, as in tl.%s(p[0], …)", c->row->name);
  const Term *next = c->args[1];
  if (next && next->kind == TERM_VALUE && ct_is_ptr(term_t(next)))
    lower_hint(L, "the pointer comes first: tl.%s(pointer, …)", c->row->name);
  else if (is_told && p->kind == TERM_VALUE && ct_bits(ct_scalar_of(term_t(p))) < 64) return NULL;
  else if (p->kind == TERM_VALUE && ct_is_int(term_t(p)) && ct_bits(ct_scalar_of(term_t(p))) == 64)
    lower_hint(L, "an address that is an integer becomes a pointer by x.to(tl.pointer_type(tl.float32))");
  else if (p->kind == TERM_VALUE && ct_is_int(term_t(p)))
    lower_hint(L, "add offsets to a pointer: tl.%s(pointer + offsets, …)", c->row->name);
  else if (p->kind == TERM_VALUE)
    lower_hint(L, "a pointer is a parameter such as `x: *fp32` plus offsets; what tl.load gave is a value already");
  return NULL;
}

// Gluon: pointers without a layout get that of the value or the mask that comes with them.
static Term *with_layout_of_args(Lower *L, Call *c, Term *ptr, uint32_t first, uint32_t last) {
  for (uint32_t i = first; L->is_gluon && ptr && i <= last && ct_rank(term_t(ptr)) && !term_t(ptr)->layout; i++) {
    const CtType *t = term_is_tensor(c->args[i]) ? term_t(c->args[i]) : NULL, *p = term_t(ptr);
    if (!t || !t->layout || t->rank != p->rank || memcmp(t->shape, p->shape, t->rank * sizeof *t->shape)) continue;
    ptr = lower_convert(L, ptr, ct_type_with_layout(L->ctx, p, t->layout, t->spelled));
  }
  return ptr;
}

static Term *report_scalar_pointer(Lower *L, Call *c, uint32_t i, const Term *x) {
  arg_error(L, c, i, "a scalar pointer takes a scalar, not %s", term_describe(L, x));
  if (lower_keeps_dims(x) && ct_numel(term_t(x)) == 1)
    return lower_hint(L, "leave out keep_dims: a reduction of all axes gives a scalar");
  if (ct_is_bool(term_t(x)))
    return lower_hint(L, "one element needs no mask; for a tile, add offsets to the pointer: p + tl.arange(0, …)");
  return lower_hint(L, "add offsets to the pointer: p + tl.arange(0, …)");
}

// An optional operand, broadcast to the pointer's shape.
static bool like_pointer(Lower *L, Call *c, uint32_t i, Term *ptr, Term **out) {
  *out = NULL;
  if (arg_is_none(c, i)) return true;
  Term *x = arg_value(L, c, i);
  if (!x) return false;
  const CtType *pt = term_t(ptr);
  if (ct_rank(term_t(x)) && !ct_rank(pt)) {
    report_scalar_pointer(L, c, i, x);
    return false;
  }
  *out = lower_like(L, x, ptr, c->spans[i]);
  return *out != NULL;
}

static bool is_positional(const Call *c, uint32_t i) { return c->node && c->node->call.args.count > i; }

// Whether argument i, the mask, and argument j, the elements' value, seem to be exchanged, as the value is a bool. An
// integer mask is taken for the value only if it has the elements' type.
static bool are_exchanged(const Call *c, uint32_t i, uint32_t j, const Term *ptr) {
  const CtType *pointee = ct_scalar_of(term_t(ptr))->elem;
  const Term *mask = c->args[i], *value = c->args[j];
  if (value->kind != TERM_VALUE || !ct_is_bool(term_t(value)) || ct_is_bool(pointee)) return false;
  if (term_is_number(mask)) return mask->ct->kind == CT_FLOAT || (mask->ct->kind == CT_INT && is_positional(c, i));
  if (mask->kind != TERM_VALUE || ct_is_ptr(term_t(mask))) return false;
  if (ct_is_float(term_t(mask))) return true;
  return is_positional(c, i) && ct_bits(pointee) > 8 && ct_type_equal(ct_scalar_of(term_t(mask)), pointee);
}

// value: the index of the argument that holds the elements' values.
static bool mask_arg(Lower *L, Call *c, uint32_t i, uint32_t value, Term *ptr, Term **out) {
  if (!like_pointer(L, c, i, ptr, out)) return false;
  if (!*out || ct_is_bool(term_t(*out))) return true;
  arg_error(L, c, i, "a mask must be int1, this is %s", term_describe(L, *out));
  const char *inverted = (*out)->kind == TERM_VALUE ? lower_inverted_integer(L, *out) : NULL;
  if (inverted) return lower_hint(L, "compare: %s == 0", inverted) != NULL;
  if (!are_exchanged(c, i, value, ptr)) return !builtin_hint_position(L, c, i) && lower_hint(L, "compare: mask != 0");
  const char *name = value == 1 ? "value" : "other", *given[3];
  for (uint32_t k = 0; k < 3; k++) {
    given[k] = lower_source_text_or(L, c->spans[k], k == 0 ? "pointer" : k == i ? name : "mask");
    const size_t key = strspn(given[k], "abcdefghijklmnopqrstuvwxyz_");
    if (given[k][key] == '=') given[k] += key + 1;   // mask=x
  }
  return lower_hint(L, "%s and mask seem exchanged: write tl.%s(%s, %s, %s)", name, c->row->name, given[0], given[2],
                    given[1]) != NULL;
}

static bool is_bool_pointee(const CtType *t) { return t->kind == CT_TYPE_SCALAR && t->scalar == DT_INT1; }

// The type that a pointee has in memory: int8 for int1, int64 for a pointer.
static const CtType *memory_type(Lower *L, const CtType *pointee) {
  if (pointee->kind == CT_TYPE_POINTER) return lower_scalar(L, DT_INT64);
  return is_bool_pointee(pointee) ? lower_scalar(L, DT_INT8) : pointee;
}

static Term *emit_load(Lower *L, Term *ptr, Term *mask, Term *other, const CtType *pointee, int cache, int evict,
                       bool is_volatile, int64_t unchecked, Span span) {
  const CtType *mem = memory_type(L, pointee);
  Value *v = build_load(&L->b, term_v(ptr), NULL, mask ? term_v(mask) : NULL, other ? term_v(other) : NULL);
  if (v->def && v->def->opcode == OP_LOAD) {
    set_access(L, v->def, cache, evict, unchecked);
    if (is_volatile) op_set_int(L->ctx, v->def, ATTR_VOLATILE, 1);
  }
  Term *r = term_value(L, v, lower_with_elem(L, term_t(ptr), mem));
  return mem == pointee ? r : lower_cast(L, r, pointee, span);
}

static Term *load_block_ptr(Lower *L, Call *c, Term *bp);

Term *tl_load_call(Lower *L, Call *c) {
  int cache, evict;
  bool is_volatile;
  if (!arg_choice(L, c, 5, caches_load, countof(caches_load), &cache) ||
      !arg_choice(L, c, 6, evicts, countof(evicts), &evict) || !arg_bool(L, c, 7, &is_volatile))
    return NULL;
  if (c->args[0]->kind == TERM_BLOCK_PTR) return load_block_ptr(L, c, c->args[0]);
  const CtType *pointee;
  Term *ptr = pointer_arg(L, c, &pointee);
  if (!ptr) return NULL;
  const char *padding;
  if (!arg_str(L, c, 4, &padding)) return NULL;
  int64_t dims[MAX_RANK];
  uint32_t num_dims;
  if (!arg_ints(L, c, 3, dims, MAX_RANK, &num_dims)) return NULL;
  if (padding[0] || num_dims)
    return builtin_error(
        L, c, "boundary_check and padding_option are for block pointers; plain pointers take mask and other");
  if (!(ptr = with_layout_of_args(L, c, ptr, 1, 2))) return NULL;
  if (arg_is_none(c, 1) && !arg_is_none(c, 2)) {
    arg_error(L, c, 2, "`other` without `mask` has no meaning");
    return lower_hint(L, "leave it out, or say with mask= which elements to load: the others become `other`");
  }
  // The pointer may be broadcast to the mask's shape.
  Term *mask = arg_is_none(c, 1) ? NULL : arg_value(L, c, 1), *other = NULL;
  if (!mask && !arg_is_none(c, 1)) return NULL;
  if (mask && ct_rank(term_t(ptr)) && ct_rank(term_t(mask))) {
    const CtType *pointers = term_t(ptr), *conditions = term_t(mask);
    if (!lower_broadcast_pair(L, &ptr, &mask, c->span)) return NULL;
    lower_warn_widened(L, c, pointers, conditions, term_t(ptr));
  }
  if (!mask_arg(L, c, 1, 2, ptr, &mask)) return NULL;
  if (!arg_is_none(c, 2)) {
    const CtType *mem = memory_type(L, pointee);
    CtValue *k = term_to_ct(L, c->args[2]);
    if (k && (k->kind == CT_INT || k->kind == CT_FLOAT || k->kind == CT_BOOL) && ct_is_float(mem)) {
      double f = k->kind == CT_FLOAT ? k->f : k->kind == CT_BOOL ? k->b : (double)k->i;
      Term *made = arg_value(L, c, 2);   // the constant is first rounded to its own type
      if (!made) return NULL;
      if (ct_is_kind(term_t(made), DT_FP32)) f = (double)(float)f;
      other = term_full(L, lower_with_elem(L, term_t(ptr), mem), f, 0);
    } else {
      if (!like_pointer(L, c, 2, ptr, &other)) return NULL;
      other = lower_cast(L, other, mem, c->spans[2]);
      if (!other) return NULL;
    }
  }
  return emit_load(L, ptr, mask, other, pointee, cache, evict, is_volatile, NO_BLOCK_POINTER, c->span);
}

static Term *value_for_store(Lower *L, Call *c, uint32_t i, Term *ptr, const CtType *pointee) {
  Term *v = arg_value(L, c, i);
  if (!v) return NULL;
  const CtType *pt = term_t(ptr);
  if (ct_rank(term_t(v)) && !ct_rank(pt)) return report_scalar_pointer(L, c, i, v);
  lower_warn_stored(L, c, v, pointee);
  v = lower_cast(L, v, is_bool_pointee(pointee) ? pointee : memory_type(L, pointee), c->spans[i]);
  if (v && is_bool_pointee(pointee)) v = lower_cast_to(L, v, DT_INT8, c->spans[i]);
  return lower_like(L, v, ptr, c->spans[i]);
}

static bool check_not_const(Lower *L, Call *c, Term *ptr) {
  if (!ct_scalar_of(term_t(ptr))->is_const) return true;
  arg_error(L, c, 0, "`%s` through a const pointer", c->row->name);
  lower_hint(L, "drop tl.const (or `*k` in the signature) from the parameter");
  return false;
}

static Term *store_block_ptr(Lower *L, Call *c, Term *bp, int cache, int evict);

Term *tl_store_call(Lower *L, Call *c) {
  int cache, evict;
  if (!arg_choice(L, c, 4, caches_store, countof(caches_store), &cache) ||
      !arg_choice(L, c, 5, evicts, countof(evicts), &evict))
    return NULL;
  if (c->args[0]->kind == TERM_BLOCK_PTR) return store_block_ptr(L, c, c->args[0], cache, evict);
  const CtType *pointee;
  Term *ptr = pointer_arg(L, c, &pointee), *mask;
  if (!ptr || !check_not_const(L, c, ptr)) return NULL;
  if (!(ptr = with_layout_of_args(L, c, ptr, 1, 2))) return NULL;
  int64_t dims[MAX_RANK];
  uint32_t num_dims;
  if (!arg_ints(L, c, 3, dims, MAX_RANK, &num_dims)) return NULL;
  if (num_dims)
    return arg_error(L, c, 3, "boundary_check is for block pointers; plain pointers take mask");
  Term *v = value_for_store(L, c, 1, ptr, pointee);
  if (!v || !mask_arg(L, c, 2, 1, ptr, &mask)) return NULL;
  lower_owner_mask(L, term_t(ptr), &mask);
  set_access(L, build_store(&L->b, term_v(ptr), NULL, term_v(v), mask ? term_v(mask) : NULL), cache, evict,
             NO_BLOCK_POINTER);
  return term_none(L);
}

// ---- atomics ----
static bool sem_scope(Lower *L, Call *c, uint32_t i, int *sem, int *scope) {
  *sem = SEM_ACQ_REL;
  *scope = SCOPE_GPU;
  return (arg_is_none(c, i) || arg_choice(L, c, i, sems, countof(sems), sem)) &&
         (arg_is_none(c, i + 1) || arg_choice(L, c, i + 1, scopes, countof(scopes), scope));
}

static Term *emit_rmw(Lower *L, AtomicKind kind, Term *ptr, Term *val, Term *mask, int sem, int scope) {
  return term_value(L, build_atomic(&L->b, kind, term_v(ptr), term_v(val), mask ? term_v(mask) : NULL, sem, scope),
                    term_t(val));
}

AtomicKind lower_atomic_kind(AtomicKind k, const CtType *elem) {
  if (ct_is_float(elem)) return k == ATOMIC_ADD ? ATOMIC_FADD : k;
  if (ct_is_signed(elem)) return k;
  return k == ATOMIC_MAX ? ATOMIC_UMAX : k == ATOMIC_MIN ? ATOMIC_UMIN : k;
}

static Term *atomic(Lower *L, Call *c, bool *is_owned) {
  AtomicKind kind = (AtomicKind)c->row->data;
  int sem, scope;
  const CtType *elem;
  Term *ptr = pointer_arg(L, c, &elem), *mask;
  if (!ptr || !check_not_const(L, c, ptr) || !sem_scope(L, c, 3, &sem, &scope)) return NULL;
  if (!(ptr = with_layout_of_args(L, c, ptr, 1, 2))) return NULL;
  bool is_float = elem->kind == CT_TYPE_SCALAR && ct_is_float(elem), half = is_float && ct_bits(elem) == 16;
  bool ok = elem->kind == CT_TYPE_SCALAR && (ct_bits(elem) >= 32 || (half && kind == ATOMIC_ADD));
  if (!ok) {
    builtin_error(L, c, "`%s` does not exist for %s", c->row->name, ct_type_text(L->ctx, elem));
    return lower_hint(L, "it works on integers and floats of 32 and 64 bits%s: let the pointer point to one of them",
                      kind == ATOMIC_ADD ? ", fp16 and bf16" : "");
  }
  Term *val = value_for_store(L, c, 1, ptr, elem);
  if (!val || !mask_arg(L, c, 2, 1, ptr, &mask)) return NULL;
  lower_warn_fraction(L, c, c->args[1], elem);
  *is_owned = lower_owner_mask(L, term_t(ptr), &mask);
  if (*is_owned && !ct_rank(term_t(ptr)) && (sem == SEM_RELEASE || sem == SEM_ACQ_REL)) {
    builtin_error(L, c, "one block makes this `%s` for its cluster, and does not know what the others have written",
                  c->row->name);
    return lower_hint(L, "pass sem=\"relaxed\" if the number is all that others read; otherwise count in each block: a "
                         "tensor with a cga_layout without zero vectors");
  }
  if (is_float && atomic_is_bitwise(kind)) {
    lower_warn_float_bits(L, c, kind, elem);
    const CtType *bits = lower_scalar(L, ct_bits(elem) == 64 ? DT_INT64 : DT_INT32);
    Term *iptr = lower_cast(L, ptr, ct_type_pointer(L->ctx, bits, false), c->span);
    return lower_bitcast(L, emit_rmw(L, kind, iptr, lower_bitcast(L, val, bits, c->span), mask, sem, scope), elem,
                         c->span);
  }
  if (is_float && (kind == ATOMIC_MAX || kind == ATOMIC_MIN)) {
    Value *old = build_atomic_float_minmax(&L->b, kind == ATOMIC_MAX, term_v(ptr), term_v(val),
                                           mask ? term_v(mask) : NULL, sem, scope);
    return term_value(L, old, term_t(val));
  }
  return emit_rmw(L, lower_atomic_kind(kind, elem), ptr, val, mask, sem, scope);
}

Term *tl_atomic(Lower *L, Call *c) {
  bool is_owned = false;
  Term *old = atomic(L, c, &is_owned);
  if (old && is_owned) vec_push(L->arena, &L->owned, ((Owned){term_v(old), c->row->name, c->span}));
  return old;
}

// atomic_cas converts constants, and integers to wider ones. Triton converts nothing: what a float is compared with
// would depend on the compiler.
static bool check_compared(Lower *L, Call *c, uint32_t i, const CtType *elem) {
  const Term *t = c->args[i];
  if (t->kind != TERM_VALUE || t->value.known) return true;
  const CtType *type = ct_scalar_of(term_t(t));
  if (type->kind != CT_TYPE_SCALAR || type->scalar == elem->scalar) return true;
  if (!ct_is_float(type) && !ct_is_float(elem) && ct_bits(type) <= ct_bits(elem)) return true;
  const char *name = ct_type_text(L->ctx, type), *pointee = ct_type_text(L->ctx, elem);
  arg_error(L, c, i, "`atomic_cas` compares and stores %s, which is what the pointer points to; this is %s", pointee,
            name);
  const char *pointer = lower_source_text_or(L, c->spans[0], "pointer");
  const char *value = lower_source_text_or(L, c->spans[i], "value");
  if (ct_bits(type) == ct_bits(elem) && !ct_is_float(type))
    lower_hint(L, "pass %s, or, to compare bits, cast the pointer: %s.to(tl.pointer_type(tl.%s))", pointee, pointer,
               dtype_info[type->scalar].name);
  else lower_hint(L, "convert it: %s.to(tl.%s)", value, dtype_info[elem->scalar].name);
  return false;
}

Term *tl_atomic_cas(Lower *L, Call *c) {
  int sem, scope;
  const CtType *elem;
  Term *ptr = pointer_arg(L, c, &elem);
  if (!ptr || !check_not_const(L, c, ptr) || !lower_check_owned(L, c, term_t(ptr)) ||
      !sem_scope(L, c, 3, &sem, &scope))
    return NULL;
  if (!(ptr = with_layout_of_args(L, c, ptr, 1, 2))) return NULL;
  if (elem->kind != CT_TYPE_SCALAR || ct_bits(elem) < 16) {
    builtin_error(L, c, "`atomic_cas` does not exist for %s", ct_type_text(L->ctx, elem));
    return lower_hint(L, "it works on elements of 16, 32 and 64 bits: let the pointer point to one of them");
  }
  if (!check_compared(L, c, 1, elem) || !check_compared(L, c, 2, elem)) return NULL;
  Term *cmp = value_for_store(L, c, 1, ptr, elem), *val = value_for_store(L, c, 2, ptr, elem);
  if (!cmp || !val) return NULL;
  Value *v[4] = {term_v(ptr), NULL, term_v(cmp), term_v(val)};
  const Type *type = term_v(val)->type;
  Op *op = build_op_typed(&L->b, OP_ATOMIC_CAS, &type, 1, v, 4);
  op_set_int(L->ctx, op, ATTR_SEM, sem);
  op_set_int(L->ctx, op, ATTR_SCOPE, scope);
  return term_of_op(L, op, term_t(val));
}

// ---- block pointers ----
Term *tl_make_block_ptr(Lower *L, Call *c) {
  const CtType *elem;
  Term *base = pointer_arg(L, c, &elem);
  int64_t block[MAX_RANK], order[MAX_RANK];
  uint32_t rank, n;
  if (!base) return NULL;
  if (ct_rank(term_t(base))) {
    arg_error(L, c, 0, "the base of a block pointer must be a scalar pointer, not %s", term_describe(L, base));
    return lower_hint(L, "give the pointer to the first element of the whole tensor: where the block begins is "
                         "`offsets`, and its elements follow from block_shape");
  }
  if (!arg_ints(L, c, 4, block, MAX_RANK, &rank) || !lower_check_shape(L, block, rank, c->spans[4]) ||
      !arg_ints(L, c, 5, order, MAX_RANK, &n))
    return NULL;
  if (n != rank)
    return arg_error(L, c, 5, "`order` has %u entr%s for a block of rank %u", n, n == 1 ? "y" : "ies", rank);
  if (!lower_is_permutation(order, n, rank)) {
    arg_error(L, c, 5, "`order` must name each of the %u axes once", rank);
    return lower_hint(L, "axes count from 0, and the fastest comes first: order=(1, 0) of a matrix stored by rows");
  }
  Term *t = arena_new(L->arena, Term);
  t->kind = TERM_BLOCK_PTR;
  t->bp.base = term_v(base);
  t->bp.pointer = term_t(base);
  t->bp.shape = arena_array(L->arena, Value *, rank);
  t->bp.strides = arena_array(L->arena, Value *, rank);
  t->bp.offsets = arena_array(L->arena, Value *, rank);
  t->bp.block = lower_shaped(L, elem, block, rank);
  const CtType *i64 = lower_scalar(L, DT_INT64), *i32 = lower_scalar(L, DT_INT32);
  if (!arg_scalars(L, c, 1, i64, rank, t->bp.shape) || !arg_scalars(L, c, 2, i64, rank, t->bp.strides) ||
      !arg_scalars(L, c, 3, i32, rank, t->bp.offsets))
    return NULL;
  lower_warn_row_stride(L, c, rank, t->bp.shape, t->bp.strides);
  int64_t extent;
  for (uint32_t i = 0; i < rank; i++)
    if (value_constant_int(t->bp.shape[i], &extent) && t->bp.block->shape[i] <= extent) t->bp.fits |= 1u << i;
  return t;
}

Term *tl_advance(Lower *L, Call *c) {
  Term *p = c->args[0];
  if (p->kind != TERM_BLOCK_PTR)
    return arg_error(L, c, 0, "`advance` moves a block pointer, this is %s", term_describe(L, p));
  uint32_t rank = p->bp.block->rank;
  Value *by[MAX_RANK];
  if (!arg_scalars(L, c, 1, lower_scalar(L, DT_INT32), rank, by)) return NULL;
  Term *t = arena_new(L->arena, Term);
  *t = *p;
  t->bp.offsets = arena_array(L->arena, Value *, rank);
  for (uint32_t i = 0; i < rank; i++) t->bp.offsets[i] = build_binary(&L->b, OP_ADDI, p->bp.offsets[i], by[i]);
  return t;
}

// Pointers to the block's elements, and the mask of those inside the shape along `dims` (NULL if no axis is checked).
static Term *block_pointers(Lower *L, Term *bp, const int64_t *dims, uint32_t num_dims, Term **mask, Span span) {
  const CtType *block = bp->bp.block, *i64 = lower_scalar(L, DT_INT64), *i32 = lower_scalar(L, DT_INT32);
  uint32_t rank = block->rank;
  Term *ptr = term_value(L, bp->bp.base, bp->bp.pointer);
  *mask = NULL;
  Term *sum = NULL;
  for (uint32_t d = 0; d < rank; d++) {
    const CtType *line = lower_shaped(L, i32, &block->shape[d], 1);
    Op *range = lower_new_op(L, OP_RANGE, line, NULL, 0);
    op_set_int(L->ctx, range, ATTR_START, 0);
    op_set_int(L->ctx, range, ATTR_END, block->shape[d]);
    Term *index = lower_cast(L, term_of_op(L, range, line), i64, span);
    Term *offset = lower_cast(L, term_value(L, bp->bp.offsets[d], i32), i64, span);
    index = lower_binary(L, PYOP_ADD, index, offset, span);
    for (uint32_t k = 0; k < rank; k++)
      if (k != d) index = lower_expand_dims(L, index, k);
    Term *step = lower_binary(L, PYOP_MUL, index, term_value(L, bp->bp.strides[d], i64), span);
    sum = sum ? lower_binary(L, PYOP_ADD, sum, step, span) : step;
    bool checked = false;
    for (uint32_t k = 0; k < num_dims; k++) checked |= dims[k] == d;
    if (!checked) continue;
    Term *above = lower_binary(L, PYOP_GE, index, term_int(L, 0), span);
    Term *below = lower_binary(L, PYOP_LT, index, term_value(L, bp->bp.shape[d], i64), span);
    Term *both = lower_binary(L, PYOP_AND, above, below, span);
    *mask = *mask ? lower_binary(L, PYOP_AND, *mask, both, span) : both;
  }
  if (*mask) *mask = lower_broadcast_to(L, *mask, block->shape, rank, span);
  return lower_binary(L, PYOP_ADD, ptr, sum, span);
}

// The axes that dims leaves out, as the attribute `unchecked` has them.
static int64_t unchecked_axes(const Term *bp, const int64_t *dims, uint32_t num_dims) {
  int64_t unchecked = (((int64_t)1 << bp->bp.block->rank) - 1) | (int64_t)bp->bp.fits << 16;
  for (uint32_t k = 0; k < num_dims; k++) unchecked &= ~((int64_t)0x10001 << dims[k]);
  return unchecked;
}

static bool boundary_dims(Lower *L, Call *c, uint32_t i, uint32_t rank, int64_t *dims, uint32_t *n) {
  if (arg_is_none(c, i)) return *n = 0, true;
  if (!arg_ints(L, c, i, dims, MAX_RANK, n)) return false;
  for (uint32_t k = 0; k < *n; k++) {
    if (dims[k] < 0) dims[k] += rank;
    if (dims[k] < 0 || dims[k] >= (int64_t)rank)
      return arg_error(L, c, i, "boundary_check names axis %lld of a block of rank %u", (long long)dims[k],
                         rank) != NULL;
  }
  return true;
}

static Term *load_block_ptr(Lower *L, Call *c, Term *bp) {
  const CtType *block = bp->bp.block, *elem = block->elem;
  int64_t dims[MAX_RANK];
  uint32_t n;
  int cache, evict, padding;
  bool is_volatile;
  if (!arg_is_none(c, 1) || !arg_is_none(c, 2))
    return builtin_error(
        L, c, "mask and other are for plain pointers; block pointers take boundary_check and padding_option");
  if (!boundary_dims(L, c, 3, block->rank, dims, &n) || !arg_choice(L, c, 4, paddings, countof(paddings), &padding) ||
      !arg_choice(L, c, 5, caches_load, countof(caches_load), &cache) ||
      !arg_choice(L, c, 6, evicts, countof(evicts), &evict) || !arg_bool(L, c, 7, &is_volatile))
    return NULL;
  if (padding == 2 && !ct_is_float(elem))
    return arg_error(L, c, 4, "padding_option \"nan\" needs a float type, not %s", ct_type_text(L->ctx, elem));
  Term *mask, *ptr = block_pointers(L, bp, dims, n, &mask, c->span);
  if (!ptr) return NULL;
  Term *other = mask && padding
                    ? term_full(L, lower_with_elem(L, block, memory_type(L, elem)), padding == 2 ? (double)NAN : 0.0, 0)
                    : NULL;
  return emit_load(L, ptr, mask, other, elem, cache, evict, is_volatile, unchecked_axes(bp, dims, n),
                   c->span);
}

static Term *store_block_ptr(Lower *L, Call *c, Term *bp, int cache, int evict) {
  const CtType *block = bp->bp.block, *elem = block->elem;
  int64_t dims[MAX_RANK];
  uint32_t n;
  if (!arg_is_none(c, 2)) return builtin_error(L, c, "mask is for plain pointers; block pointers take boundary_check");
  if (!boundary_dims(L, c, 3, block->rank, dims, &n)) return NULL;
  Term *v = arg_value(L, c, 1);
  if (!v) return NULL;
  if (ct_rank(term_t(v)) && ct_rank(term_t(v)) != block->rank) {
    arg_error(L, c, 1, "cannot store %s through %s", term_describe(L, v), term_describe(L, bp));
    return lower_hint(L, "give it %u ax%s: x[None, :] adds one, tl.reshape(x, %s) makes the block's shape", block->rank,
                      block->rank == 1 ? "is" : "es", lower_shape_text(L, block));
  }
  Term *mask, *ptr = block_pointers(L, bp, dims, n, &mask, c->span);
  if (!ptr || !check_not_const(L, c, ptr)) return NULL;
  v = value_for_store(L, c, 1, ptr, elem);
  if (!v) return NULL;
  set_access(L, build_store(&L->b, term_v(ptr), NULL, term_v(v), mask ? term_v(mask) : NULL), cache, evict,
             unchecked_axes(bp, dims, n));
  return term_none(L);
}
