// The attributes of ops, and the tables of their keys and enumerations.
#include <string.h>

#include "ir/ir.h"

#define ENUM_BEGIN(name) static const char *const texts_of_##name[] = {
#define V(prefix, id, text) text,
#define ENUM_END(name) };
#include "ir/enums.def"

static const AttrKind kind_of_INT = {ATTR_CLASS_INT, NULL, 0}, kind_of_INTS = {ATTR_CLASS_INTS, NULL, 0},
                      kind_of_STR = {ATTR_CLASS_STR, NULL, 0}, kind_of_BITS = {ATTR_CLASS_BITS, NULL, 0};
#define ENUM_BEGIN(name)
#define V(prefix, id, text)
#define ENUM_END(name)                                                                                                 \
  static const AttrKind kind_of_##name = {ATTR_CLASS_ENUM, texts_of_##name, countof(texts_of_##name)};
#include "ir/enums.def"

static const struct { const char *name; const AttrKind *kind; } attrs[NUM_ATTRS] = {
#define ATTR(id, text, kind) [ATTR_##id] = {text, &kind_of_##kind},
#include "ir/attrs.def"
};

// ---- what a row of attrs.def or enums.def can get wrong ----

#define ATTR(id, text, kind) _Static_assert(sizeof text > 1, "attrs.def, " #id ": the attribute has a name");
#include "ir/attrs.def"
#define ENUM_BEGIN(name)
#define V(prefix, id, text) _Static_assert(sizeof text > 1, "enums.def, " #prefix "_" #id ": the value has a word");
#define ENUM_END(name)
#include "ir/enums.def"
_Static_assert(CMP_UGE + 1 == CMP_OEQ,
               "enums.def: predicates of integers come before those of floats, and nothing else");

const char *attr_name(AttrKey k) { return attrs[k].name; }
const AttrKind *attr_kind(AttrKey k) { return attrs[k].kind; }

bool attr_find(const char *name, size_t n, AttrKey *k) {
  for (uint32_t i = 0; i < NUM_ATTRS; i++)
    if (strlen(attrs[i].name) == n && memcmp(attrs[i].name, name, n) == 0) {
      *k = (AttrKey)i;
      return true;
    }
  return false;
}

static bool is_same_attr(const Attr *x, const Attr *y) {
  if (x->key != y->key || x->num_ints != y->num_ints) return false;
  return x->num_ints ? !memcmp(x->ints, y->ints, sizeof *x->ints * x->num_ints) : x->bits == y->bits;
}

bool op_is_alike(const Op *a, const Op *b) {
  if (a->opcode != b->opcode || a->num_operands != b->num_operands || a->num_results != b->num_results ||
      a->num_attrs != b->num_attrs)
    return false;
  for (uint32_t i = 0; i < a->num_results; i++)
    if (a->results[i].type != b->results[i].type) return false;
  for (uint32_t i = 0; i < a->num_attrs; i++)
    if (!is_same_attr(&a->attrs[i], &b->attrs[i])) return false;
  return true;
}

const Attr *op_attr(const Op *op, AttrKey k) {
  for (uint32_t i = 0; i < op->num_attrs; i++)
    if (op->attrs[i].key == k) return &op->attrs[i];
  return NULL;
}

int64_t op_int(const Op *op, AttrKey k, int64_t otherwise) {
  const Attr *a = op_attr(op, k);
  return a ? a->i : otherwise;
}

const char *op_str(const Op *op, AttrKey k, const char *otherwise) {
  const Attr *a = op_attr(op, k);
  return a ? a->str : otherwise;
}

static void set(Context *ctx, Op *op, Attr a) {
  uint32_t at = 0;
  while (at < op->num_attrs && op->attrs[at].key < a.key) at++;
  bool have = at < op->num_attrs && op->attrs[at].key == a.key;
  Attr *bigger = arena_array(&ctx->arena, Attr, op->num_attrs + !have);
  if (at) memcpy(bigger, op->attrs, at * sizeof *bigger);
  bigger[at] = a;
  uint32_t rest = at + have;
  if (op->num_attrs > rest) memcpy(bigger + at + 1, op->attrs + rest, (op->num_attrs - rest) * sizeof *bigger);
  op->attrs = bigger;
  op->num_attrs += !have;
}

void op_set_int(Context *ctx, Op *op, AttrKey k, int64_t v) { set(ctx, op, (Attr){.key = k, .i = v}); }
void op_set_bits(Context *ctx, Op *op, AttrKey k, uint64_t v) { set(ctx, op, (Attr){.key = k, .bits = v}); }
void op_set_str(Context *ctx, Op *op, AttrKey k, const char *s) {
  set(ctx, op, (Attr){.key = k, .str = intern(ctx, s)});
}

void op_set_ints(Context *ctx, Op *op, AttrKey k, const int64_t *v, uint32_t n) {
  int64_t *copy = arena_array(&ctx->arena, int64_t, n);
  if (n) memcpy(copy, v, n * sizeof *copy);
  set(ctx, op, (Attr){.key = k, .num_ints = n, .ints = copy});
}

void op_remove_attr(Op *op, AttrKey k) {
  const Attr *a = op_attr(op, k);
  if (!a) return;
  uint32_t at = (uint32_t)(a - op->attrs);
  memmove(op->attrs + at, op->attrs + at + 1, (op->num_attrs - at - 1) * sizeof *op->attrs);
  op->num_attrs--;
}

void op_copy_attrs(Context *ctx, Op *to, const Op *from) {
  to->attrs = arena_array(&ctx->arena, Attr, from->num_attrs);
  if (from->num_attrs) memcpy(to->attrs, from->attrs, from->num_attrs * sizeof *to->attrs);
  to->num_attrs = from->num_attrs;
}
