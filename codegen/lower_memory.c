// Loads and stores of global memory. One access moves up to `vector` consecutive registers and up to 128 bits.
// Unmasked plain accesses are LLVM loads and stores; a masked or hinted one is a predicated instruction. All loads of
// an op come before anything that uses them, so that they are in flight together. Of the threads that hold an element
// only the owner stores it.
#include <stdio.h>

#include "codegen/address.h"

typedef struct { char modifiers[48]; bool hinted, evict, is_volatile; } Hints;

static Hints hints_of(const Op *op) {
  static const char *const caches[] = {"", ".ca", ".cg", ".cv", ".wb", ".cs", ".wt"};
  static const char *const evicts[] = {"", ".L1::evict_first", ".L1::evict_last"};
  int64_t cache = op_int(op, ATTR_CACHE, CACHE_NONE), evict = op_int(op, ATTR_EVICT, EVICT_NORMAL);
  Hints h = {.is_volatile = op_int(op, ATTR_VOLATILE, 0) != 0};
  if (h.is_volatile)
    snprintf(h.modifiers, sizeof h.modifiers, ".volatile.global");
  else
    // The instruction takes a cache operator or an eviction priority, not both.
    snprintf(h.modifiers, sizeof h.modifiers, ".global%s", cache != CACHE_NONE ? caches[cache] : evicts[evict]);
  h.evict = !h.is_volatile && cache == CACHE_NONE && evict != EVICT_NORMAL;
  h.hinted = !h.is_volatile && (cache != CACHE_NONE || evict != EVICT_NORMAL);
  return h;
}

static LLVMTypeRef int_type(Cg *c, uint32_t bits) { return LLVMIntTypeInContext(c->ll, bits < 8 ? 8 : bits); }

// NULL if the mask is known to hold.
static LLVMValueRef mask_of(const CgValue *mask, uint32_t r) {
  if (!mask) return NULL;
  LLVMValueRef m = cg_reg(mask, r);
  uint64_t x;
  return cg_const_int(m, &x) && x ? NULL : m;
}

static bool mask_is_false(LLVMValueRef m) {
  uint64_t x;
  return m && cg_const_int(m, &x) && !x;
}

// What a load and a store of type t have in common.
typedef struct {
  Address address;
  const CgValue *mask;       // NULL: none
  Hints hints;
  AccessShape shape;
  const uint32_t *reps;      // registers that repeat others' elements
  uint32_t num_regs, bits;   // of an element in memory
  ScalarKind kind;
} GlobalAccess;

static GlobalAccess access_of(Cg *c, const Op *op, const Type *t) {
  const Value *mask = op_named(op, OPERAND_MASK);
  GlobalAccess a = {.address = address_of(c, op),
                    .mask = mask ? cg_get(mask) : NULL,
                    .hints = hints_of(op)};
  a.num_regs = cg_num_regs(t);
  a.bits = a.address.elem_bytes * 8;
  a.shape = access_shape((uint32_t)op_int(op, ATTR_VECTOR, 1), a.address.elem_bytes);
  a.reps = cg_reps(c, t);
  a.kind = cg_elem_kind(t);
  return a;
}

static bool repeats(const GlobalAccess *a, uint32_t r) { return a->reps[r] != r; }

static LLVMValueRef plain_load(Cg *c, GlobalAccess *a, uint32_t r) {
  LLVMTypeRef e = int_type(c, a->bits);
  uint32_t count = a->shape.count;
  LLVMValueRef at = address_reg(c, &a->address, r);
  LLVMValueRef v = LLVMBuildLoad2(c->b, count == 1 ? e : LLVMVectorType(e, count), at, "");
  LLVMSetAlignment(v, count * a->address.elem_bytes);
  if (a->hints.is_volatile) LLVMSetVolatile(v, true);
  return v;
}

// fill: the words that masked-off lanes get. The assembly itself writes constants: LLVM takes time for each operand.
static LLVMValueRef asm_load(Cg *c, LLVMValueRef at, LLVMValueRef mask, const LLVMValueRef *fill, const AccessShape *s,
                             const Hints *h) {
  CgAsm a = cg_asm_new(c);
  LLVMTypeRef word = int_type(c, s->word_bits < 16 ? 16 : s->word_bits);
  uint64_t x;
  for (uint32_t i = 0; i < s->num_words; i++)
    if (mask && cg_const_int(fill[i], &x)) cg_asm_result_from(&a, word, x);
    else cg_asm_result(&a, word);
  const char *place = access_address(&a, at);
  if (mask) buf_printf(&a.text, "@$%u ", cg_asm_arg(&a, mask));
  for (uint32_t i = 0; i < s->num_words && mask; i++)
    if (!cg_const_int(fill[i], &x)) cg_asm_tie(&a, i, fill[i]);
  buf_printf(&a.text, "ld%s", h->modifiers);
  access_put_width(&a, s);
  access_put_words(&a, 0, s);
  buf_printf(&a.text, ", %s;", place);
  LLVMValueRef load = cg_asm_call(&a, h->evict ? INSN_LD_GLOBAL_HINT : INSN_LD_GLOBAL);
  if (!h->is_volatile) cg_mark(c, load, c->load_kind);
  return load;
}

static void unpack_asm_load(Cg *c, LLVMValueRef loaded, const AccessShape *s, uint32_t elem_bits, LLVMValueRef *out) {
  for (uint32_t i = 0; i < s->num_words; i++) {
    LLVMValueRef w = cg_asm_get(c, loaded, i);
    if (s->word_bits < 16) w = LLVMBuildTrunc(c->b, w, c->t_i8, "");
    cg_unpack(c, w, s->per_word, elem_bits, out + i * s->per_word);
  }
}

// Emits a masked or hinted load of the registers from r on. Masked-off lanes get `other`, or zeros.
static LLVMValueRef guarded_load(Cg *c, GlobalAccess *a, uint32_t r, LLVMValueRef mask, const CgValue *other) {
  const AccessShape *s = &a->shape;
  LLVMValueRef fill[4], elems[16];
  for (uint32_t i = 0; i < s->num_words && mask; i++) {
    for (uint32_t k = 0; k < s->per_word && other; k++)
      elems[k] = cg_to_storage(c, cg_reg(other, r + i * s->per_word + k), a->kind);
    fill[i] = other ? cg_pack(c, elems, s->per_word, a->bits) : cg_int(int_type(c, s->word_bits), 0);
  }
  return asm_load(c, address_reg(c, &a->address, r), mask, fill, s, &a->hints);
}

void emit_load(Cg *c, Op *op) {
  Value *other_value = op_named(op, OPERAND_OTHER);
  const Type *t = op_result(op, 0)->type;
  GlobalAccess a = access_of(c, op, t);
  const CgValue *other = other_value ? cg_get(other_value) : NULL;
  uint32_t n = a.num_regs, count = a.shape.count;
  LLVMTypeRef elem = cg_elem_type(c, t);

  LLVMValueRef *loaded = arena_array(c->arena, LLVMValueRef, n);
  bool *by_asm = arena_array(c->arena, bool, n);
  for (uint32_t r = 0; r < n; r += count) {
    LLVMValueRef m = mask_of(a.mask, r);
    if (repeats(&a, r) || mask_is_false(m)) continue;
    by_asm[r] = m || a.hints.hinted;
    loaded[r] = by_asm[r] ? guarded_load(c, &a, r, m, other) : plain_load(c, &a, r);
  }

  CgValue *v = cg_value_new(c, n);
  for (uint32_t r = 0; r < n; r += count) {
    if (repeats(&a, r)) {
      for (uint32_t i = 0; i < count; i++) v->v[r + i] = v->v[a.reps[r] + i];
      continue;
    }
    LLVMValueRef x[16];
    if (by_asm[r]) unpack_asm_load(c, loaded[r], &a.shape, a.bits, x);
    for (uint32_t i = 0; i < count; i++) {
      if (!loaded[r]) {
        v->v[r + i] = other ? cg_reg(other, r + i) : LLVMConstNull(elem);
        continue;
      }
      if (!by_asm[r]) x[i] = cg_element(c, loaded[r], i);
      v->v[r + i] = cg_from_storage(c, x[i], elem);
    }
  }
  cg_set(op_result(op, 0), v);
}

static void plain_store(Cg *c, const GlobalAccess *a, LLVMValueRef at, const LLVMValueRef *elems) {
  uint32_t count = a->shape.count;
  LLVMValueRef st = LLVMBuildStore(c->b, cg_vector(c, elems, count), at);
  LLVMSetAlignment(st, count * a->address.elem_bytes);
  if (a->hints.is_volatile) LLVMSetVolatile(st, true);
}

void emit_store(Cg *c, Op *op) {
  Value *value = op_named(op, OPERAND_VALUE);
  const CgValue *v = cg_get(value);
  GlobalAccess a = access_of(c, op, value->type);
  const AccessShape *s = &a.shape;
  LLVMValueRef owner = cg_layout_owner(c, value->type);
  for (uint32_t r = 0; r < a.num_regs; r += s->count) {
    LLVMValueRef m = mask_of(a.mask, r);
    if (repeats(&a, r) || mask_is_false(m)) continue;
    m = cg_and(c, owner, m);
    LLVMValueRef at = address_reg(c, &a.address, r), elems[16];
    for (uint32_t i = 0; i < s->count; i++) elems[i] = cg_to_storage(c, cg_reg(v, r + i), a.kind);
    if (!m && !a.hints.hinted) {
      plain_store(c, &a, at, elems);
      continue;
    }
    access_store(c, a.hints.evict ? INSN_ST_GLOBAL_HINT : INSN_ST_GLOBAL, a.hints.modifiers, at, m, elems, s);
  }
}
