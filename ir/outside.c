#include "ir/outside.h"

#include <string.h>

#include "ir/buf.h"
#include "ir/far_address.h"
#include "ir/ir.h"

static const struct { const char *noun, *verb; } words[] = {
    [OUTSIDE_LOAD] = {"load", "loads"},
    [OUTSIDE_STORE] = {"store", "stores"},
    [OUTSIDE_UPDATE] = {"atomic access", "updates"}};

const char *outside_noun(OutsideKind kind) { return words[kind].noun; }
const char *outside_verb(OutsideKind kind) { return words[kind].verb; }

// How far the first byte outside of the buffer is from the buffer's begin.
static uint64_t distance(const Outside *o) {
  if (o->address < o->begin) return o->begin - o->address;
  const uint64_t from_begin = o->address - o->begin;
  return from_begin > o->size ? from_begin : o->size;
}

const char *outside_text(Arena *a, const Outside *o) {
  const uint64_t bytes = distance(o);
  const uint32_t unit = o->elem_bytes && bytes % o->elem_bytes == 0 ? o->elem_bytes : 1;
  return arena_printf(a, "out-of-bounds %s: program (%u, %u, %u) %s %s %s%llu of %s, which has %llu",
                      words[o->kind].noun, o->program[0], o->program[1], o->program[2], words[o->kind].verb,
                      unit == o->elem_bytes ? "element" : "byte", o->address < o->begin ? "-" : "",
                      (unsigned long long)(bytes / unit), o->buffer ? o->buffer : "the nearest buffer",
                      (unsigned long long)(o->size / unit));
}

bool outside_element(const Outside *o, int64_t *element) {
  const uint64_t bytes = distance(o);
  if (!o->elem_bytes || bytes % o->elem_bytes) return false;
  *element = (int64_t)(bytes / o->elem_bytes);
  if (o->address < o->begin) *element = -*element;
  return true;
}

const char *outside_far(const Outside *o) {
  const bool is_past = o->address >= o->begin;
  const uint64_t bytes = distance(o);
  return far_address_note(bytes / (o->elem_bytes ? o->elem_bytes : 1), is_past ? bytes - o->size : bytes, is_past);
}

typedef struct { OutsideKind kind; bool is_access, is_desc; } AccessInfo;

static AccessInfo info_of(const Op *op) {
  switch (op->opcode) {
  case OP_LOAD: case OP_ASYNC_COPY: return (AccessInfo){OUTSIDE_LOAD, true, false};
  case OP_STORE: return (AccessInfo){OUTSIDE_STORE, true, false};
  case OP_ATOMIC_RMW: case OP_ATOMIC_CAS: return (AccessInfo){OUTSIDE_UPDATE, true, false};
  case OP_DESC_LOAD: case OP_DESC_GATHER: case OP_TMA_LOAD: return (AccessInfo){OUTSIDE_LOAD, true, true};
  case OP_DESC_STORE: case OP_DESC_SCATTER: case OP_TMA_STORE: return (AccessInfo){OUTSIDE_STORE, true, true};
  case OP_DESC_REDUCE: case OP_TMA_REDUCE: return (AccessInfo){OUTSIDE_UPDATE, true, true};
  default: return (AccessInfo){0};
  }
}

static bool takes_mask(const Op *op) {
  return info_of(op).is_access && op_operand_at(op->opcode, OPERAND_MASK) >= 0;
}

bool outside_can_be(const Op *op, uint32_t *elem_bytes) {
  const AccessInfo i = info_of(op);
  if (!i.is_access) return false;
  const Type *elem = type_elem(outside_pointer(op)->type);
  *elem_bytes = type_elem_bytes(i.is_desc ? elem : elem->elem);
  return true;
}

OutsideKind outside_kind(const Op *op) { return info_of(op).kind; }
// The pointer or the descriptor.
Value *outside_pointer(const Op *op) {
  Value *ptr = op_named(op, OPERAND_PTR);
  return ptr ? ptr : op_operand(op, 0);
}

// "(0,)", "(0, 1)"
static void put_axes(Buf *b, uint32_t rank) {
  buf_putc(b, '(');
  for (uint32_t i = 0; i < rank; i++) buf_printf(b, "%s%u", i ? ", " : "", i);
  buf_puts(b, rank == 1 ? ",)" : ")");
}

static const Op *def_beside(const Value *v, Opcode through) {
  while (v->def && (v->def->opcode == through || v->def->opcode == OP_EXPAND_DIMS || v->def->opcode == OP_EXTSI ||
                    v->def->opcode == OP_SPLAT))
    v = op_operand(v->def, 0);
  return v->def;
}

// Whether the block of a block pointer begins at 0 along the axis; sum: of the axes' offsets, the last one added last.
static bool begins_at_zero(const Value *sum, uint32_t rank, uint32_t axis) {
  const Op *add = NULL;
  for (uint32_t d = rank; d-- > axis && d;) {
    add = def_beside(sum, OP_BROADCAST);
    if (!add || add->opcode != OP_ADDI) return false;
    if (d > axis) sum = op_operand(add, 0);
  }
  const Value *term = axis ? op_operand(add, 1) : sum;
  const Op *index = def_beside(term, OP_BROADCAST);
  if (index && index->opcode == OP_MULI) index = def_beside(op_operand(index, 0), OP_BROADCAST);
  int64_t begin;
  if (!index || index->opcode == OP_RANGE) return index != NULL;
  if (index->opcode != OP_ADDI) return false;
  const Op *offset = def_beside(op_operand(index, 1), OP_BROADCAST);
  return offset && value_constant_int(&offset->results[0], &begin) && !begin;
}

// The axes along which a block may leave the shape of its block pointer, as a set of bits; -1: of no block pointer.
static int64_t axes_to_check(const Op *op) {
  const int64_t all = op_int(op, ATTR_UNCHECKED, -1);
  if (all < 0) return -1;
  const Op *add = op_operand(op, 0)->def;
  int64_t axes = all & 0xffff;
  for (uint32_t d = 0; add && add->opcode == OP_ADDPTR && d < op_operand(op, 0)->type->rank; d++)
    if (all >> (16 + d) & 1 && begins_at_zero(op_operand(add, 1), op_operand(op, 0)->type->rank, d))
      axes &= ~((int64_t)1 << d);
  return axes;
}

static const char *block_pointer_way_out(Arena *a, const Op *op, int64_t unchecked) {
  const Type *t = op_operand(op, 0)->type;
  const bool is_load = op->opcode == OP_LOAD;
  Buf b = buf_make(a);
  if (!unchecked) {
    const Op *add = op_operand(op, 0)->def;
    const Value *base = add && add->opcode == OP_ADDPTR ? op_operand(add, 0) : NULL;
    while (base && base->def && base->def->opcode == OP_SPLAT) base = op_operand(base->def, 0);
    return base && base->def && base->def->opcode == OP_ADDPTR
               ? "shape and strides of the block pointer reach past the buffer: they count from its base, which was "
                 "moved from the buffer's begin, so the shape must leave out what lies before"
               : "boundary_check keeps to the shape of the block pointer: its shape and strides reach past the buffer";
  }
  buf_puts(&b, unchecked & (unchecked - 1) ? "nothing checks axes " : "nothing checks axis ");
  const char *before = "";
  for (uint32_t i = 0; i < t->rank; i++) {
    if (!(unchecked >> i & 1)) continue;
    const uint64_t rest = (uint64_t)unchecked >> (i + 1);
    buf_printf(&b, "%s%u", before, i);
    before = rest & (rest - 1) ? ", " : " and ";
  }
  buf_printf(&b, " of this block pointer: tl.%s, boundary_check=", is_load ? "load(p" : "store(p, value");
  put_axes(&b, t->rank);
  buf_puts(&b, is_load ? ") reads zeros outside of its shape" : ") stores nothing outside of its shape");
  return buf_str(&b);
}

const char outside_wraps[] = "no part of the offset is below 0, but the whole may be too large for its type: convert "
                             "its parts first, x.to(tl.int64)";

// ---- in the user's words

enum { LONGEST = 60, MAX_OPS = 32, MAX_DEPTH = 6 };

// The variable's name, or the text of the op that makes it if that is part of the text of `in`; NULL: neither is known.
static const char *words_of(Context *ctx, const Value *v, const Op *in) {
  while (v->def && !v->name && (v->def->opcode == OP_SPLAT || v->def->opcode == OP_BROADCAST))
    v = op_operand(v->def, 0);
  if (v->name) return v->name;
  if (v->block) return v->block->parent ? NULL : v->block->func->params[v->index].name;
  const Span its = op_user_span(ctx, v->def), whole = op_user_span(ctx, in);
  const bool is_part =
      its.begin >= whole.begin && its.end <= whole.end && its.end - its.begin < whole.end - whole.begin;
  return is_part ? source_text(ctx, &ctx->arena, its, LONGEST) : NULL;
}

// As an operand of `&`.
static const char *in_parentheses(Context *ctx, const char *text) {
  const bool is_name = !text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789")];
  return is_name ? text : arena_printf(&ctx->arena, "(%s)", text);
}

static const Value *unmoved(const Value *v) {
  for (const Op *def = v->def; def; def = v->def) {
    if (!op_is(def, TRAIT_CONVERTS | TRAIT_MOVES) && def->opcode != OP_SPLAT && def->opcode != OP_BROADCAST &&
        def->opcode != OP_EXTSI)
      break;
    v = op_operand(def, 0);
  }
  return v;
}

// Whether it is computed from indices that begin at 0 or above so that no bound from below is missing.
static bool is_never_negative(const Value *v, uint32_t depth) {
  v = unmoved(v);
  const Op *def = v->def;
  int64_t x;
  if (value_constant_int(v, &x)) return x >= 0;
  if (!def) return false;
  switch (def->opcode) {
  case OP_PROGRAM_ID: case OP_NUM_PROGRAMS: return true;
  case OP_RANGE: return op_int(def, ATTR_START, 0) >= 0;
  case OP_ADDI: case OP_MULI: case OP_DIVSI: case OP_REMSI:
    return depth && is_never_negative(op_operand(def, 0), depth - 1) && is_never_negative(op_operand(def, 1), depth - 1);
  default: return false;
  }
}

// Of a product with factors that are never negative: the other factor.
static const Value *signed_factor(const Value *v) {
  for (uint32_t depth = 0; depth < MAX_DEPTH; depth++) {
    const Op *mul = unmoved(v)->def;
    if (!mul || mul->opcode != OP_MULI) break;
    const bool first = is_never_negative(op_operand(mul, 0), MAX_DEPTH),
               second = is_never_negative(op_operand(mul, 1), MAX_DEPTH);
    if (first == second) break;
    v = op_operand(mul, first);
  }
  return v;
}

// The words for an offset that may be negative, for a comparison with 0: the only term of a sum, or factor of a product,
// that may be, or else the whole.
static const char *signed_words(Context *ctx, const Value *v, const Op *in) {
  const Value *its = signed_factor(v);
  const char *text = its != v ? words_of(ctx, its, in) : NULL;
  return text ? text : words_of(ctx, v, in);
}

// The sum of the offsets from the buffer that may be negative, as an operand of a comparison; NULL if it is not known.
// *wraps: no offset can be negative, unless it is too large for its type.
static const char *offset_words(Context *ctx, const Value *pointer, bool *wraps) {
  const char *sum = NULL;
  *wraps = false;
  bool has_offset = false;
  for (const Op *add = pointer->def; add; add = op_operand(add, 0)->def) {
    if (add->opcode == OP_BROADCAST || add->opcode == OP_SPLAT) continue;
    if (add->opcode != OP_ADDPTR) return sum;
    has_offset = true;
    if (is_never_negative(op_operand(add, 1), MAX_DEPTH)) continue;
    const char *offset = signed_words(ctx, op_operand(add, 1), add);
    if (!offset || strpbrk(offset, "&|^<>=~\n") || strstr(offset, " if ")) return NULL;
    sum = sum ? arena_printf(&ctx->arena, "%s + %s", offset, sum) : offset;
    if (strlen(sum) > LONGEST) return NULL;
  }
  *wraps = has_offset && !sum;
  return sum;
}

// Follows the value while it has a single use. Returns the select that it ends in, as operand `arm`, or NULL.
static const Op *only_arm(const Value *v, uint32_t *arm) {
  const Op *found = NULL;
  for (uint32_t steps = 0; steps < MAX_OPS; steps++) {
    if (!value_has_one_use(v)) return NULL;
    Op *user = v->uses->user;
    *arm = v->uses->index;
    if (user->opcode == OP_SELECT) found = user;
    if (found || user->num_results != 1 || !op_is(user, TRAIT_CONVERTS | TRAIT_MOVES)) break;
    v = &user->results[0];
  }
  return found && *arm ? found : NULL;
}

// What a tl.where that discards elements of the load says; NULL: there is none, or the mask says the same.
static const char *arm_way_out(Context *ctx, Op *op, const Value *mask) {
  uint32_t arm = 0;
  const Op *where = op->opcode == OP_LOAD ? only_arm(&op->results[0], &arm) : NULL;
  if (!where) return NULL;
  const char *condition = words_of(ctx, op_operand(where, 0), where), *has = mask ? words_of(ctx, mask, op) : NULL;
  if (!condition || (mask && (!has || op_operand(where, 0) == mask || !strcmp(condition, has)))) return NULL;
  if (arm == 2) condition = arena_printf(&ctx->arena, "~(%s)", condition);
  if (mask)
    condition = arena_printf(&ctx->arena, "%s & %s", in_parentheses(ctx, has),
                             arm == 2 ? condition : in_parentheses(ctx, condition));
  return arena_printf(&ctx->arena,
                      "tl.where computes both of its arms, so %s belongs into the mask of the load: mask=%s",
                      arm == 1 ? "its condition" : "the opposite of its condition", condition);
}

static bool is_op(const Value *v, Opcode opcode) { return v->def && v->def->opcode == opcode; }

// Whether the offset is a product with the size of an element, or with a number that only the launch knows.
static uint32_t bytes_from(const Value *pointer) {
  const int64_t size = type_elem_bytes(type_elem(pointer->type)->elem);
  const Value *next[MAX_OPS] = {pointer};
  uint32_t from = 0;
  for (uint32_t i = 0, count = 1; size > 1 && i < count; i++) {
    const Op *def = next[i]->def;
    if (!def || !op_is(def, TRAIT_PURE)) continue;
    for (uint32_t k = 0; k < def->num_operands && count < MAX_OPS; k++)
      if (op_operand(def, k)) next[count++] = op_operand(def, k);
    int64_t x = 0;
    if (def->opcode != OP_MULI || is_op(op_operand(def, 0), OP_PROGRAM_ID)) continue;   // the programs' blocks
    if (!value_constant_int(op_operand(def, 0), &x) && !value_constant_int(op_operand(def, 1), &x)) from = 2;
    if (x == size) return 1;
  }
  return from;
}

const char *outside_exchange(Context *ctx, const Op *op) {
  enum { LONGEST_CALL = 120 };
  static const char name[] = "store(";
  const char *text = op->opcode == OP_STORE ? source_text(ctx, &ctx->arena, op_user_span(ctx, op), LONGEST_CALL) : NULL;
  const char *at = text ? strstr(text, name) : NULL;
  if (!at || at != text + strcspn(text, "(") - (sizeof name - 2) || (at != text && at[-1] != '.')) return NULL;
  return arena_printf(&ctx->arena, "%.*satomic_xchg(%s", (int)(at - text), text, at + sizeof name - 1);
}

// In a tile a negative index may reach the row before: then each index needs its bound.
static const char *before_way_out(Context *ctx, const Op *op, const char *mask, const char *offset) {
  const AccessInfo i = info_of(op);
  const Type *t = op_named(op, OPERAND_MASK)->type;
  if (type_is_tensor(t) && t->rank > 1)
    return arena_printf(&ctx->arena, "the mask of this %s lets it through: bound each index from below, too, as "
                        "(row[:, None] >= 0)", words[i.kind].noun);
  return arena_printf(&ctx->arena, "the mask of this %s lets it through: bound the offset from below, too: mask=%s & "
                      "(%s >= 0)", words[i.kind].noun, in_parentheses(ctx, mask ? mask : "mask"), offset);
}

// The comparison in the mask that holds for the end itself, `offs <= n`, or NULL. A computed bound may be the last element:
// `offs <= n - 1` is right.
static const Op *inclusive_bound(const Value *mask) {
  const Op *def = unmoved(mask)->def;
  if (def && def->opcode == OP_ANDI) {
    const Op *left = inclusive_bound(op_operand(def, 0));
    return left ? left : inclusive_bound(op_operand(def, 1));
  }
  if (!def || def->opcode != OP_CMPI) return NULL;
  const int64_t pred = op_int(def, ATTR_PRED, CMP_EQ);
  const bool is_less = pred == CMP_SLE || pred == CMP_ULE, is_greater = pred == CMP_SGE || pred == CMP_UGE;
  if (!is_less && !is_greater) return NULL;
  const Value *end = unmoved(op_operand(def, is_less));
  return end->def ? NULL : def;
}

OutsideWays outside_ways_out(Context *ctx, const Op *op) {
  Arena *a = &ctx->arena;
  const AccessInfo i = info_of(op);
  const char *noun = words[i.kind].noun;
  const int64_t unchecked = axes_to_check(op);
  if (unchecked >= 0) return (OutsideWays){.past = block_pointer_way_out(a, op, unchecked)};
  if (i.is_desc) return (OutsideWays){.past = "the shape and strides of the descriptor reach past the buffer"};
  if (!takes_mask(op)) return (OutsideWays){.past = "compare what the offset reaches with the elements that there are"};
  const Value *pointer = outside_pointer(op), *mask = op_named(op, OPERAND_MASK);
  bool wraps;
  const char *arm = arm_way_out(ctx, (Op *)op, mask), *offset = offset_words(ctx, pointer, &wraps);
  const char *rounded = arm ? NULL : outside_rounded(a, op);
  if (arm || rounded) return (OutsideWays){.past = arm ? arm : rounded, .before = arm ? arm : rounded};
  const char *cause = outside_before_cause(a, op);
  if (!cause && wraps) cause = outside_wraps;
  if (!offset) offset = "offs";
  OutsideWays ways = {.bytes_from = bytes_from(pointer), .before = cause};
  outside_find_base(ctx, pointer, mask, &ways);
  if (!mask && ways.is_one) {
    ways.past = arena_printf(a, "this %s is of one element: compare its offset with the elements that there are, or do "
                             "it under an `if`", noun);
    return ways;
  }
  if (!mask) {
    ways.past = arena_printf(a, "this %s has no mask: mask=offs < n leaves out the elements that do not exist", noun);
    if (!cause)
      ways.before = arena_printf(a, "this %s has no mask: mask=%s >= 0 leaves out what lies before the first element",
                                 noun, offset);
    return ways;
  }
  const char *has = words_of(ctx, mask, op), *free = outside_not_in_mask(pointer, mask);
  ways.has_free = free != NULL;
  const Op *inclusive = free ? NULL : inclusive_bound(mask);
  const char *bound = inclusive ? source_text(ctx, a, op_user_span(ctx, inclusive), LONGEST) : NULL;
  const char *beside = bound ? NULL : outside_beside_end(a, pointer, mask);
  if (beside) ways.past = beside;
  else if (bound)
    ways.past = arena_printf(a, "the mask of this %s lets it through: `%s` holds for the end itself, which is no element: "
                             "write < in place of <=", noun, bound);
  else
    ways.past = arena_printf(a, "the mask of this %s lets it through: %scompare the mask with what the offset reaches",
                             noun, free ? arena_printf(a, "it does not bound %s; ", free) : "");
  if (!cause) ways.before = before_way_out(ctx, op, has, offset);
  return ways;
}

bool outside_is_unmasked(const Op *op) {
  if (axes_to_check(op) > 0) return true;
  return takes_mask(op) && !op_named(op, OPERAND_MASK) && type_is_tensor(outside_pointer(op)->type);
}

const char *outside_way_out(Arena *a, const Outside *o, const OutsideWays *ways) {
  const char *base = outside_base_way_out(a, o, ways);
  if (o->address < o->begin) return base ? base : ways->before ? ways->before : ways->past;
  const uint64_t elem = o->elem_bytes, bytes = distance(o);
  const bool may_be_bytes = ways->past && ways->bytes_from && elem && bytes % (elem * elem) == 0 &&
                            bytes >= ways->bytes_from * o->size;
  if (may_be_bytes && ways->bytes_from == 1)
    return arena_printf(a, "adding to a pointer counts elements, not bytes: leave out the factor of %llu if it is "
                        "their size; otherwise, %s", (unsigned long long)elem, ways->past);
  if (base && !may_be_bytes) return base;
  return may_be_bytes ? arena_printf(a, "%s, and note that adding to a pointer counts elements, not bytes", ways->past)
                      : ways->past;
}
