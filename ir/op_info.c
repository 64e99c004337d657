// The op table (ops.def) as data, compile-time checks of what a row can get wrong, and queries.
#include <string.h>

#include "ir/buf.h"
#include "ir/ir.h"

// Each column of letters is expanded where the letters have that column's meaning.
#define P TRAIT_PURE
#define R TRAIT_READS
#define W TRAIT_WRITES
#define S TRAIT_SYNC
#define T TRAIT_TERMINATOR
#define G TRAIT_REGION
#define V TRAIT_CARRIES
#define L TRAIT_LOOP
#define E TRAIT_ELEMENTWISE
#define C TRAIT_COMMUTES
#define N TRAIT_CONVERTS
#define H TRAIT_HALVES
#define I TRAIT_CONDITION
#define M TRAIT_MOVES
#define B TRAIT_BASE
#define F TRAIT_FREE
#define X TRAIT_TMA
#define U TRAIT_WGMMA
#define Y TRAIT_ASYNC_PROXY
enum {
#define OP(id, name, operands, results, blocks, traits, stages, elems, unit, infer, verify, how)                       \
  TRAITS_OF_##id = traits,
#include "ir/ops.def"
};
#undef P
#undef R
#undef W
#undef S
#undef T
#undef G
#undef V
#undef L
#undef E
#undef C
#undef N
#undef H
#undef I
#undef M
#undef B
#undef F
#undef X
#undef U
#undef Y

#define T STAGE_TILE
#define L STAGE_LAID_OUT
#define A STAGE_ALLOCATED
#define ALL (STAGE_TILE | STAGE_LAID_OUT | STAGE_ALLOCATED)
enum {
#define OP(id, name, operands, results, blocks, traits, stages, elems, unit, infer, verify, how)                       \
  STAGES_OF_##id = stages,
#include "ir/ops.def"
};
#undef T
#undef L
#undef A
#undef ALL

// Sets of element types: bit k is ScalarKind k, the bit after these is pointers. The upper half is the result's set; 0:
// the infer rule decides.
enum { ELEM_PTR = NUM_SCALARS, RESULT_SHIFT = 16 };
#define INTS (1 << SC_I1 | 1 << SC_I8 | 1 << SC_I16 | 1 << SC_I32 | 1 << SC_I64)
#define I8UP (INTS & ~(1 << SC_I1))
#define I32UP (1 << SC_I32 | 1 << SC_I64)
#define FP8S (1 << SC_F8E4M3 | 1 << SC_F8E5M2 | 1 << SC_F8E4B15)
#define FLTS (1 << SC_F16 | 1 << SC_BF16 | 1 << SC_F32 | 1 << SC_F64)
#define F32UP (1 << SC_F32 | 1 << SC_F64)
#define F32 (1 << SC_F32)
#define PTRS (1 << ELEM_PTR)
#define ANY ((1 << (ELEM_PTR + 1)) - 1)
#define TO(from, to) ((from) | (to) << RESULT_SHIFT)
enum {
#define OP(id, name, operands, results, blocks, traits, stages, elems, unit, infer, verify, how) ELEMS_OF_##id = elems,
#include "ir/ops.def"
};
_Static_assert((INTS | FP8S | FLTS | PTRS) == ANY, "the sets of elements hold all of types.def");
_Static_assert(ELEM_PTR < RESULT_SHIFT - 1, "a set has 16 bits");

const OpInfo op_info[NUM_OPS] = {
#define OP(id, name, operands, results, blocks, traits, stages, elems, unit, infer, verify, how)                       \
  [OP_##id] = {#name,                                                                                                  \
               operands,                                                                                               \
               results,                                                                                                \
               blocks,                                                                                                 \
               UNIT_##unit,                                                                                            \
               TRAITS_OF_##id,                                                                                         \
               STAGES_OF_##id,                                                                                         \
               ELEMS_OF_##id & 0xffff,                                                                                 \
               ELEMS_OF_##id >> RESULT_SHIFT},
#include "ir/ops.def"
};

// ---- what a row can get wrong ----

enum {
  OF_ELEMENT_SCALAR = 1,
  OF_ELEMENT_WHOLE = 0,
  OF_ELEMENT_GONE = 0,
  IS_GONE_SCALAR = 0,
  IS_GONE_WHOLE = 0,
  IS_GONE_GONE = 1
};
#define OF_ELEMENT_LLVM(intrinsic) 1
#define IS_GONE_LLVM(intrinsic) 0
#define HAS(id, trait) ((TRAITS_OF_##id & TRAIT_##trait) != 0)
#define ROW(id, condition, why) _Static_assert(condition, "ops.def, " #id ": " why);
#define OP(id, name, operands, results, blocks, traits, stages, elems, unit, infer, verify, how)                       \
  ROW(id, sizeof #name <= 24, "the name has at most 23 letters")                                                       \
  ROW(id, sizeof operands <= 48, "the operands' names have at most 47 letters")                                        \
  ROW(id, (results) >= -1 && (results) <= 2 && (blocks) >= -1 && (blocks) <= 2, "results and blocks are -1 to 2")   \
  ROW(id, STAGES_OF_##id, "lives in no stage")                                                                         \
  ROW(id, IS_GONE_##how == !(STAGES_OF_##id & STAGE_ALLOCATED), "GONE ops alone cannot be ALLOCATED")                  \
  ROW(id, !HAS(id, PURE) || !(HAS(id, READS) || HAS(id, WRITES) || HAS(id, SYNC)), "a pure op has no effect")          \
  ROW(id, HAS(id, REGION) == ((blocks) != 0), "G says that it has blocks")                                             \
  ROW(id, !HAS(id, CARRIES) || HAS(id, REGION), "only an op with blocks carries values (V)")                           \
  ROW(id, !HAS(id, LOOP) || HAS(id, CARRIES), "a loop (L) carries values (V)")                                         \
  ROW(id, HAS(id, ELEMENTWISE) == (ELEMS_OF_##id != 0), "an elementwise op, and no other, names its elements")         \
  ROW(id, !HAS(id, ELEMENTWISE) || (HAS(id, PURE) && (results) == 1), "an elementwise op is pure and has one result")  \
  ROW(id, OF_ELEMENT_##how <= HAS(id, ELEMENTWISE), "only elementwise ops are SCALAR or LLVM")                         \
  ROW(id, HAS(id, CONVERTS) == (ELEMS_OF_##id >> RESULT_SHIFT != 0),                                                   \
      "a conversion (N), and no other, names the result's elements")                                                   \
  ROW(id, !(HAS(id, COMMUTES) || HAS(id, HALVES)) || HAS(id, ELEMENTWISE), "C and H are for elementwise ops")          \
  ROW(id, !HAS(id, COMMUTES) || sizeof operands == sizeof "a b", "C is for two operands")                              \
  ROW(id, !HAS(id, ASYNC_PROXY) || HAS(id, TMA) || HAS(id, WGMMA), "TMA and wgmma alone are the asynchronous proxy") \
  ROW(id, !(HAS(id, MOVES) || HAS(id, FREE)) || !HAS(id, ELEMENTWISE), "M and F are for no elementwise op")
#include "ir/ops.def"

// ---- elements ----

static uint32_t elem_bit(const Type *elem) {
  return elem->kind == TYPE_SCALAR ? 1u << elem->scalar : elem->kind == TYPE_PTR ? 1u << ELEM_PTR : 0;
}

uint32_t op_subject(Opcode oc) { return op_has(oc, TRAIT_CONDITION); }
bool op_takes(Opcode oc, const Type *t) { return op_info[oc].takes & elem_bit(type_elem(t)); }
bool op_gives(Opcode oc, const Type *t) { return !op_info[oc].gives || op_info[oc].gives & elem_bit(type_elem(t)); }

const char *op_elems_text(Context *ctx, uint32_t set, const char *(*name_of)(ScalarKind k)) {
  Buf b = buf_make(&ctx->arena);
  bool all_ints = (set & INTS) == INTS;
  if (all_ints) set = (set & ~(uint32_t)INTS) | 1 << SC_I1;   // one word for all
  for (uint32_t k = 0; k <= ELEM_PTR; k++) {
    if (!(set >> k & 1)) continue;
    set &= ~(1u << k);
    const char *between = !b.size ? "" : set ? ", " : " and ";
    bool is_int = k < ELEM_PTR && !scalar_is_float((ScalarKind)k);
    if (is_int && all_ints) buf_puts(&b, "integers");
    else if (is_int) buf_printf(&b, "%s%u-%s", between, scalar_bits((ScalarKind)k), set & INTS ? "" : "bit integers");
    else buf_printf(&b, "%s%s", between, k == ELEM_PTR ? "pointers" : name_of((ScalarKind)k));
  }
  return buf_str(&b);
}

// ---- operand lists of the table ----

// Name i of the operands, with its ? or *, and its length. NULL past the end.
static const char *operand_spec(Opcode oc, uint32_t i, size_t *n) {
  const char *s = op_info[oc].operands;
  if (!*s) return NULL;
  for (; i; i--) {
    s = strchr(s, ' ');
    if (!s) return NULL;
    s++;
  }
  const char *end = strchr(s, ' ');
  *n = end ? (size_t)(end - s) : strlen(s);
  return s;
}

bool op_has_list(Opcode oc) {
  size_t n = strlen(op_info[oc].operands);
  return n && op_info[oc].operands[n - 1] == '*';
}

uint32_t op_num_fixed(Opcode oc) {
  const char *s = op_info[oc].operands;
  uint32_t n = *s != 0;
  for (; *s; s++) n += *s == ' ';
  return n - op_has_list(oc);
}

bool op_operand_is_optional(Opcode oc, uint32_t i) {
  size_t n;
  const char *s = operand_spec(oc, i, &n);
  return s && s[n - 1] == '?';
}

static const char *const operand_names[] = {
  [OPERAND_PTR] = "ptr", [OPERAND_OFFSET] = "offset", [OPERAND_MASK] = "mask", [OPERAND_OTHER] = "other",
  [OPERAND_VALUE] = "value", [OPERAND_BUF] = "buf", [OPERAND_BAR] = "bar"};

int op_operand_at(Opcode oc, OperandName name) {
  size_t n;
  const char *s, *wanted = operand_names[name];
  const size_t length = strlen(wanted);
  for (uint32_t i = 0; (s = operand_spec(oc, i, &n)); i++)
    if (!memcmp(s, wanted, n < length ? n : length) && (n == length || (n == length + 1 && strchr("?*", s[length]))))
      return (int)i;
  return -1;
}

Value *op_named(const Op *op, OperandName name) {
  const int at = op_operand_at(op->opcode, name);
  return at < 0 ? NULL : op_operand(op, (uint32_t)at);
}

bool op_find(const char *name, size_t n, Opcode *oc) {
  for (uint32_t i = 0; i < NUM_OPS; i++)
    if (strlen(op_info[i].name) == n && memcmp(op_info[i].name, name, n) == 0) {
      *oc = (Opcode)i;
      return true;
    }
  return false;
}
