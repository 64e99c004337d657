#include "ir/buf.h"
#include "ir/ir.h"
#include "ir/outside.h"

static bool is_rest(const Op *op) { return op->opcode == OP_REMSI; }
static bool is_product(const Op *op) { return op->opcode == OP_MULI; }
static bool is_difference(const Op *op) { return op->opcode == OP_SUBI; }
static bool is_narrow(const Op *op) {
  const bool grows = op->opcode == OP_MULI || op->opcode == OP_ADDI || op->opcode == OP_SUBI || op->opcode == OP_SHLI;
  return grows && type_is_int(op->results[0].type) && type_elem_bits(op->results[0].type) <= 16;
}

// The first op that `is` holds for among those that v is computed from, not through memory; NULL: there is none.
static const Op *find(const Value *v, bool (*is)(const Op *op)) {
  enum { MAX_OPS = 32 };
  const Value *next[MAX_OPS] = {v};
  for (uint32_t i = 0, count = 1; i < count; i++) {
    const Op *def = next[i]->def;
    if (!def || !op_is(def, TRAIT_PURE)) continue;
    if (is(def)) return def;
    for (uint32_t k = 0; k < def->num_operands && count < MAX_OPS; k++)
      if (op_operand(def, k)) next[count++] = op_operand(def, k);
  }
  return NULL;
}

enum { MAX_VALUES = 64 };

// Collects what v is computed from, not through memory, v included. Returns how many; 0: more than MAX_VALUES.
static uint32_t collect(const Value *v, const Value *all[MAX_VALUES]) {
  uint32_t count = 1;
  all[0] = v;
  for (uint32_t i = 0; i < count; i++) {
    const Op *def = all[i]->def;
    if (!def || !op_is(def, TRAIT_PURE)) continue;
    for (uint32_t k = 0; k < def->num_operands; k++) {
      const Value *from = op_operand(def, k);
      bool is_new = from != NULL;
      for (uint32_t j = 0; j < count && is_new; j++) is_new = all[j] != from;
      if (!is_new) continue;
      if (count == MAX_VALUES) return 0;
      all[count++] = from;
    }
  }
  return count;
}

static bool is_range(const Value *v) { return v->def && v->def->opcode == OP_RANGE; }

// Whether v is computed from a range, and from none of `others`. One that is the same in every program and iteration is
// often bounded by its size.
static bool is_apart(const Value *v, const Value *const others[], uint32_t num_others) {
  const Value *all[MAX_VALUES];
  bool has_range = false, moves = false;
  for (uint32_t i = 0, count = collect(v, all); i < count; i++) {
    moves |= all[i]->def ? all[i]->def->opcode == OP_PROGRAM_ID : all[i]->block->parent != NULL;
    if (!is_range(all[i])) continue;
    has_range = true;
    for (uint32_t k = 0; k < num_others; k++)
      if (all[i] == others[k]) return false;
  }
  return has_range && moves;
}

const char *outside_not_in_mask(const Value *pointer, const Value *mask) {
  const Value *reached[MAX_VALUES], *bounded[MAX_VALUES];
  const uint32_t num_reached = collect(pointer, reached), num_bounded = collect(mask, bounded);
  for (uint32_t i = 1; i < num_reached && num_bounded; i++)
    if (reached[i]->name && reached[i]->def && type_is_int(reached[i]->type) &&
        is_apart(reached[i], bounded, num_bounded))
      return reached[i]->name;
  return NULL;
}

// The parameter from which a scalar load reads; NULL: v is none.
static const Value *array_of(const Value *v) {
  const Op *def = v->def;
  if (!v->name || !def || def->opcode != OP_LOAD || type_is_tensor(v->type)) return NULL;
  const Value *base = outside_pointer(def);
  while (base->def && base->def->opcode == OP_ADDPTR) base = op_operand(base->def, 0);
  return base->def ? NULL : base;
}

static bool is_among(const Value *v, const Value *const all[], uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (all[i] == v) return true;
  return false;
}

// Returns the way out if the mask's comparison `less < end` has this mistake, or NULL. reached: the values from which the
// pointer is computed.
static const char *beside_end(Arena *a, const Value *less, const Value *end, const Value *const reached[],
                              uint32_t count) {
  less = outside_unspread(less);
  end = outside_unspread(end);
  const Value *array = array_of(end), *parts[MAX_VALUES];
  if (!array || !less->name || !array->name || !is_among(less, reached, count) || is_among(end, reached, count))
    return NULL;
  const uint32_t num_parts = collect(less, parts);
  for (uint32_t i = 0; i < count && num_parts; i++)
    if (array_of(reached[i]) == array && !is_among(reached[i], parts, num_parts))
      return arena_printf(a, "the mask compares `%s` with `%s`, which %s holds beside `%s`, and the offset adds `%s`, "
                          "too: if both are counted from the buffer's begin, write %s < %s - %s", less->name, end->name,
                          array->name, reached[i]->name, reached[i]->name, less->name, end->name, reached[i]->name);
  return NULL;
}

const char *outside_beside_end(Arena *a, const Value *pointer, const Value *mask) {
  const Value *reached[MAX_VALUES], *bounded[MAX_VALUES];
  const uint32_t num_reached = collect(pointer, reached), num_bounded = collect(mask, bounded);
  const char *found = NULL;
  for (uint32_t i = 0; i < num_bounded && num_reached && !found; i++) {
    const Op *def = bounded[i]->def;
    if (!def || def->opcode != OP_CMPI) continue;
    const int64_t pred = op_int(def, ATTR_PRED, CMP_EQ);
    if (pred == CMP_SLT || pred == CMP_ULT)
      found = beside_end(a, op_operand(def, 0), op_operand(def, 1), reached, num_reached);
    else if (pred == CMP_SGT || pred == CMP_UGT)
      found = beside_end(a, op_operand(def, 1), op_operand(def, 0), reached, num_reached);
  }
  return found;
}

// "FILE:LINE:COLUMN"
static const char *place(Arena *a, const Op *op) {
  const Context *ctx = op->parent->func->module->ctx;
  const LineCol at = source_locate(ctx, op_user_span(ctx, op).begin);
  return arena_printf(a, "%s:%u:%u", at.file ? at.file->path : "?", at.line, at.col);
}

// The operand of a conversion to an integer, before any widening.
static const Value *converted(const Op *op) {
  const Value *v = op_operand(op, 0);
  return v->def && v->def->opcode == OP_FPEXT ? op_operand(v->def, 0) : v;
}

static bool is_of_half(const Op *op) {
  return (op->opcode == OP_FPTOSI || op->opcode == OP_FPTOUI) && type_elem_bits(converted(op)->type) == 16;
}

const char *outside_rounded(Arena *a, const Op *op) {
  const Op *cast = find(outside_pointer(op), is_of_half);
  if (!cast) return NULL;
  const bool is_bf16 = type_elem(converted(cast)->type)->scalar == SC_BF16;
  return arena_printf(a, "the offset comes from %s at %s, which holds whole numbers up to %d: keep it an integer, or "
                      "compute in float32", is_bf16 ? "bf16" : "fp16", place(a, cast), is_bf16 ? 256 : 2048);
}

const char *outside_before_cause(Arena *a, const Op *op) {
  const Op *narrow = find(outside_pointer(op), is_narrow), *rest = find(outside_pointer(op), is_rest);
  if (narrow) {
    const uint32_t bits = type_elem_bits(narrow->results[0].type);
    return arena_printf(a, "%s is computed in int%u, which ends at %d: convert its operands first, x.to(tl.int32)",
                        place(a, narrow), bits, (1 << (bits - 1)) - 1);
  }
  // Without a difference, a negative number is one from memory, or a product that wrapped around.
  const bool may_wrap = rest && find(op_operand(rest, 0), is_product) && !find(outside_pointer(op), is_difference);
  if (!rest || (!may_wrap && !find(op_operand(rest, 0), is_difference))) return NULL;
  return arena_printf(a, "the `%%` of %s has the sign of its left operand, as in C: (a %% b + b) %% b has the sign of b",
                      place(a, rest));
}
