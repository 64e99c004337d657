// Loads and stores of global memory. Registers are accessed in groups of `vector` consecutive ones, up to 128 bits at a
// time. Unmasked plain accesses are LLVM loads and stores; masked or hinted ones are one predicated instruction. All
// loads of an op come before anything that uses them, so that they are in flight together. Of threads that hold the
// same element only the owner stores.
#include <stdio.h>
#include <string.h>

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

// NULL where the mask is known to hold.
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

static LLVMValueRef plain_load(Cg *c, LLVMValueRef at, const AccessShape *s, uint32_t elem_bytes, bool is_volatile) {
  LLVMTypeRef e = int_type(c, elem_bytes * 8);
  LLVMValueRef v = LLVMBuildLoad2(c->b, s->count == 1 ? e : LLVMVectorType(e, s->count), at, "");
  LLVMSetAlignment(v, s->count * elem_bytes);
  if (is_volatile) LLVMSetVolatile(v, true);
  return v;
}

// fill: num_words words that masked-off lanes read, tied to the results.
static LLVMValueRef asm_load(Cg *c, LLVMValueRef at, LLVMValueRef mask, const LLVMValueRef *fill, const AccessShape *s, const Hints *h) {
  AsmAccess a = {0};
  char list[64];
  uint32_t n = s->num_words;
  asm_operand_list(list, sizeof list, 0, n);
  const char *reg = asm_reg_class(s->word_bits);
  size_t k = 0;
  for (uint32_t i = 0; i < n; i++) k += (size_t)snprintf(a.constraints + k, sizeof a.constraints - k, "%s=%s", i ? "," : "", reg);
  k += (size_t)snprintf(a.constraints + k, sizeof a.constraints - k, ",l");
  a.args[a.num_args++] = at;
  char guard[16] = "", vec[16] = "";
  if (mask) {
    snprintf(guard, sizeof guard, "@$%u ", n + 1);
    k += (size_t)snprintf(a.constraints + k, sizeof a.constraints - k, ",b");
    a.args[a.num_args++] = mask;
    for (uint32_t i = 0; i < n; i++) {
      k += (size_t)snprintf(a.constraints + k, sizeof a.constraints - k, ",%u", i);
      a.args[a.num_args++] = s->word_bits < 16 ? LLVMBuildZExt(c->b, fill[i], c->t_i16, "") : fill[i];
    }
  }
  if (n > 1) snprintf(vec, sizeof vec, ".v%u", n);
  snprintf(a.text, sizeof a.text, "%sld%s%s.b%u %s, [$%u];", guard, h->modifiers, vec, s->word_bits, list, n);
  LLVMTypeRef word = int_type(c, s->word_bits < 16 ? 16 : s->word_bits), words[4] = {word, word, word, word};
  LLVMTypeRef result = n == 1 ? word : LLVMStructTypeInContext(c->ll, words, n, false);
  return cg_insn_text(c, h->evict ? INSN_LD_GLOBAL_HINT : INSN_LD_GLOBAL, a.text, a.constraints, result, a.args, a.num_args);
}

static void unpack_asm_load(Cg *c, LLVMValueRef loaded, const AccessShape *s, uint32_t elem_bits, LLVMValueRef *out) {
  for (uint32_t i = 0; i < s->num_words; i++) {
    LLVMValueRef w = s->num_words == 1 ? loaded : LLVMBuildExtractValue(c->b, loaded, i, "");
    if (s->word_bits < 16) w = LLVMBuildTrunc(c->b, w, c->t_i8, "");
    cg_unpack(c, w, s->per_word, elem_bits, out + i * s->per_word);
  }
}

void emit_load(Cg *c, Op *op) {
  Value *mask_value = op_operand(op, 2), *other_value = op_operand(op, 3);
  const Type *t = op_result(op, 0)->type;
  Address a = address_of(c, op_operand(op, 0), op_operand(op, 1));
  const CgValue *mask = mask_value ? cg_get(mask_value) : NULL, *other = other_value ? cg_get(other_value) : NULL;
  Hints h = hints_of(op);
  uint32_t n = cg_num_regs(t), bits = a.elem_bytes * 8;
  AccessShape s = memory_access_shape((uint32_t)op_int(op, ATTR_VECTOR, 1), a.elem_bytes);
  const uint32_t *reps = type_is_tensor(t) ? cg_reg_reps(c, t->layout) : NULL;
  ScalarKind kind = cg_elem_kind(t);
  LLVMTypeRef elem = cg_elem_type(c, t);

  LLVMValueRef *loaded = arena_array(c->arena, LLVMValueRef, n);
  bool *by_asm = arena_array(c->arena, bool, n);
  for (uint32_t r = 0; r < n; r += s.count) {
    if (reps && reps[r] != r) continue;
    LLVMValueRef m = mask_of(mask, r);
    if (mask_is_false(m)) continue;
    LLVMValueRef at = address_reg(c, &a, r);
    if (!m && !h.hinted) {
      loaded[r] = plain_load(c, at, &s, a.elem_bytes, h.is_volatile);
      continue;
    }
    LLVMValueRef fill[4], elems[16];
    for (uint32_t i = 0; i < s.num_words && m; i++) {
      for (uint32_t k = 0; k < s.per_word; k++)
        elems[k] = other ? cg_to_storage(c, cg_reg(other, r + i * s.per_word + k), kind) : cg_int(int_type(c, bits), 0);
      fill[i] = other ? cg_pack(c, elems, s.per_word, bits) : cg_int(int_type(c, s.word_bits), 0);
    }
    loaded[r] = asm_load(c, at, m, fill, &s, &h);
    by_asm[r] = true;
  }

  CgValue *v = cg_value_new(c, n);
  for (uint32_t r = 0; r < n; r += s.count) {
    if (reps && reps[r] != r) {
      for (uint32_t i = 0; i < s.count; i++) v->v[r + i] = v->v[reps[r] + i];
      continue;
    }
    LLVMValueRef x[16];
    for (uint32_t i = 0; i < s.count; i++) {
      if (!loaded[r]) {
        v->v[r + i] = other ? cg_reg(other, r + i) : LLVMConstNull(elem);
        continue;
      }
      if (i == 0 && by_asm[r]) unpack_asm_load(c, loaded[r], &s, bits, x);
      if (!by_asm[r]) x[i] = s.count == 1 ? loaded[r] : LLVMBuildExtractElement(c->b, loaded[r], cg_i32(c, i), "");
      v->v[r + i] = cg_from_storage(c, x[i], elem);
    }
  }
  cg_set(op_result(op, 0), v);
}

static void asm_store(Cg *c, LLVMValueRef at, LLVMValueRef mask, const LLVMValueRef *words, const AccessShape *s, const Hints *h) {
  AsmAccess a = {0};
  char list[64], guard[16] = "", vec[16] = "";
  uint32_t n = s->num_words;
  asm_operand_list(list, sizeof list, 1, n);
  const char *reg = asm_reg_class(s->word_bits);
  size_t k = (size_t)snprintf(a.constraints, sizeof a.constraints, "l");
  a.args[a.num_args++] = at;
  for (uint32_t i = 0; i < n; i++) {
    k += (size_t)snprintf(a.constraints + k, sizeof a.constraints - k, ",%s", reg);
    a.args[a.num_args++] = s->word_bits < 16 ? LLVMBuildZExt(c->b, words[i], c->t_i16, "") : words[i];
  }
  if (mask) {
    snprintf(guard, sizeof guard, "@$%u ", n + 1);
    snprintf(a.constraints + k, sizeof a.constraints - k, ",b");
    a.args[a.num_args++] = mask;
  }
  if (n > 1) snprintf(vec, sizeof vec, ".v%u", n);
  snprintf(a.text, sizeof a.text, "%sst%s%s.b%u [$0], %s;", guard, h->modifiers, vec, s->word_bits, list);
  cg_insn_text(c, h->evict ? INSN_ST_GLOBAL_HINT : INSN_ST_GLOBAL, a.text, a.constraints, c->t_void, a.args, a.num_args);
}

void emit_store(Cg *c, Op *op) {
  Value *value = op_operand(op, 2), *mask_value = op_operand(op, 3);
  const Type *t = value->type;
  Address a = address_of(c, op_operand(op, 0), op_operand(op, 1));
  const CgValue *mask = mask_value ? cg_get(mask_value) : NULL, *v = cg_get(value);
  Hints h = hints_of(op);
  uint32_t n = cg_num_regs(t), bits = a.elem_bytes * 8;
  AccessShape s = memory_access_shape((uint32_t)op_int(op, ATTR_VECTOR, 1), a.elem_bytes);
  const uint32_t *reps = type_is_tensor(t) ? cg_reg_reps(c, t->layout) : NULL;
  ScalarKind kind = cg_elem_kind(t);
  LLVMValueRef owner = cg_layout_owner(c, t);

  for (uint32_t r = 0; r < n; r += s.count) {
    if (reps && reps[r] != r) continue;
    LLVMValueRef m = mask_of(mask, r);
    if (mask_is_false(m)) continue;
    m = cg_and(c, owner, m);
    LLVMValueRef at = address_reg(c, &a, r), elems[16];
    for (uint32_t i = 0; i < s.count; i++) elems[i] = cg_to_storage(c, cg_reg(v, r + i), kind);
    if (m || h.hinted) {
      LLVMValueRef words[4];
      for (uint32_t i = 0; i < s.num_words; i++) words[i] = cg_pack(c, elems + i * s.per_word, s.per_word, bits);
      asm_store(c, at, m, words, &s, &h);
      continue;
    }
    LLVMValueRef x = elems[0];
    if (s.count > 1) {
      x = LLVMGetPoison(LLVMVectorType(int_type(c, bits), s.count));
      for (uint32_t i = 0; i < s.count; i++) x = LLVMBuildInsertElement(c->b, x, elems[i], cg_i32(c, i), "");
    }
    LLVMValueRef st = LLVMBuildStore(c->b, x, at);
    LLVMSetAlignment(st, s.count * a.elem_bytes);
    if (h.is_volatile) LLVMSetVolatile(st, true);
  }
}
