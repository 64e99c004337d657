// version_full_tile: a tile that lies wholly inside its bounds needs no mask. A comparison that ranges decide becomes a
// constant. If a mask keeps accesses from being vectors (nothing is known of what divides the bound), the rest of the
// block is versioned: a test before it chooses between a copy without masks and the original.
//
//   %m = s + range(0, B) < n                      %full = s + B − 1 < n
//   %x = load p, o, %m               →            if %full {likely} { %x = load p, o ; … ; store q, o, %y }
//   … ; store q, o, %y, %m                        else             { %x = load p, o, %m ; … ; store q, o, %y, %m }
//
// Masks may be conjunctions of such bounds on several axes, broadcast. The test is computed in 64 bits: it is right for
// any start. The versioned part is what follows the first such access in its block. If it contains dots, loops or tile
// copies, it is left alone (the loops' own bodies are versioned one by one).
// In, out: TILE.
#include "passes/access.h"
#include "passes/axis_info.h"
#include "passes/pass.h"

enum { MAX_COPIED_OPS = 300, MAX_MASKS = 8, MAX_TEST = 64 };

typedef struct {
  Context *ctx;
  AxisAnalysis *axes;
  uint32_t left;             // values that the test being built may still look at
} Version;

static Value *mask_of(const Op *op) {
  return op->opcode == OP_LOAD || op->opcode == OP_STORE ? op_named(op, OPERAND_MASK) : NULL;
}

// ---- the test ----

// The greatest (least) element of an integer tensor as an i64 scalar. False if it is not a sum of ranges and uniform
// numbers. If b is NULL, builds nothing.
static bool extreme(Version *s, Builder *b, Value *v, bool greatest, Value **out) {
  const Type *i64 = type_scalar(s->ctx, SC_I64);
  int64_t k;
  if (!s->left) return false;
  s->left--;
  if (v->type->kind != TYPE_TENSOR) {
    if (b) *out = type_elem_bits(v->type) < 64 ? build_cast(b, OP_EXTSI, v, i64) : v;
    return true;
  }
  if (value_constant_int(v, &k)) {
    if (b) *out = build_int(b, i64, k);
    return true;
  }
  Op *op = v->def;
  if (!op) return false;
  switch (op->opcode) {
    case OP_SPLAT:
    case OP_BROADCAST:
    case OP_EXPAND_DIMS:
    case OP_EXTSI: return extreme(s, b, op_operand(op, 0), greatest, out);
    case OP_RANGE:
      if (b) *out = build_int(b, i64, greatest ? op_int(op, ATTR_END, 0) - 1 : op_int(op, ATTR_START, 0));
      return true;
    case OP_ADDI: case OP_SUBI: {
      Value *x = NULL, *y = NULL;
      bool flip = op->opcode == OP_SUBI;
      if (!extreme(s, b, op_operand(op, 0), greatest, &x) || !extreme(s, b, op_operand(op, 1), greatest != flip, &y))
        return false;
      if (b) *out = build_binary(b, op->opcode, x, y);
      return true;
    }
    default: return false;
  }
}

static bool all_of(Version *s, Builder *b, Value *mask, Value **out) {
  uint64_t bits;
  if (!s->left) return false;
  s->left--;
  if (mask->type->kind != TYPE_TENSOR) {
    if (b) *out = mask;
    return true;
  }
  if (value_constant_bits(mask, &bits) && (bits & 1)) {
    if (b) *out = build_int(b, type_scalar(s->ctx, SC_I1), 1);
    return true;
  }
  Op *op = mask->def;
  if (!op) return false;
  switch (op->opcode) {
    case OP_BROADCAST: case OP_EXPAND_DIMS: case OP_SPLAT: return all_of(s, b, op_operand(op, 0), out);
    case OP_ANDI: {
      Value *x = NULL, *y = NULL;
      if (!all_of(s, b, op_operand(op, 0), &x) || !all_of(s, b, op_operand(op, 1), &y)) return false;
      if (b) *out = build_binary(b, OP_ANDI, x, y);
      return true;
    }
    case OP_CMPI: {
      CmpPred pred = (CmpPred)op_int(op, ATTR_PRED, 0);
      bool less = pred == CMP_SLT || pred == CMP_SLE, more = pred == CMP_SGT || pred == CMP_SGE;
      Value *x = NULL, *y = NULL;
      if (!(less || more) || type_elem_bits(op_operand(op, 0)->type) < 32) return false;
      if (!extreme(s, b, op_operand(op, 0), less, &x) || !extreme(s, b, op_operand(op, 1), more, &y)) return false;
      if (b) *out = build_cmp(b, pred, x, y);
      return true;
    }
    default: return false;
  }
}

// Builds an i1 scalar: whether every element of the mask is true. False if the mask is not a conjunction of plain
// bounds, or a long one.
static bool all_true(Version *s, Builder *b, Value *mask, Value **out) {
  s->left = MAX_TEST;
  return all_of(s, b, mask, out);
}

// ---- what to version ----

// Whether the access could move more at once without its mask.
static bool mask_costs(Version *s, const Op *op) {
  AccessInfo a;
  if (!access_is_tensor(op) || !mask_of(op) || mask_of(op)->type->kind != TYPE_TENSOR || !access_info(s->axes, op, &a))
    return false;
  int64_t with = access_max_vector(&a, a.fastest, access_elem_bytes(op));
  a.mask_constancy[a.fastest] = AXIS_MAX_DIVISOR;
  return access_max_vector(&a, a.fastest, access_elem_bytes(op)) > with;
}

// What must not be copied: what other passes look for as one, and what is long.
static bool keeps_whole(const Op *op) {
  return op_is(op, TRAIT_CARRIES) || op->opcode == OP_DOT || op_unit(op) == UNIT_DESC || op_is_atomic(op);
}

typedef struct { Value *masks[MAX_MASKS]; uint32_t count; } Masks;

static void add_mask(Masks *m, Value *mask) {
  for (uint32_t i = 0; i < m->count; i++)
    if (m->masks[i] == mask) return;
  if (m->count < MAX_MASKS) m->masks[m->count++] = mask;
}

static bool is_known_at(const Value *v, const Op *first) {
  return !v->def || v->def->parent != first->parent || op_is_before(v->def, first);
}

static void version_from(Version *s, Block *block, Op *first, const Masks *masks) {
  Context *ctx = s->ctx;
  Builder b = builder_before(ctx, first);
  Value *full = NULL;
  for (uint32_t i = 0; i < masks->count; i++) {
    Value *one = NULL;
    all_true(s, &b, masks->masks[i], &one);
    full = full ? build_binary(&b, OP_ANDI, full, one) : one;
  }
  remark_applied(first, "versioned: tiles inside of their bounds run code without masks");
  // What the block's end needs of the versioned part becomes a result of the if.
  Op *end = block->last;
  uint32_t n = 0;
  const Type **types = arena_array(&ctx->arena, const Type *, end->num_operands + 1);
  Value **inside = arena_array(&ctx->arena, Value *, end->num_operands + 1);
  uint32_t *where = arena_array(&ctx->arena, uint32_t, end->num_operands + 1);
  for (uint32_t i = 0; i < end->num_operands; i++) {
    Value *v = op_operand(end, i);
    if (!v || is_known_at(v, first)) continue;
    types[n] = v->type;
    where[n] = i;
    inside[n++] = v;
  }
  ValueMap *map = value_map_new(ctx);
  BuildRegion r = build_if_begin(&b, full, types, n);
  Op *branch = r.op;
  op_set_int(ctx, branch, ATTR_LIKELY, 1);
  for (uint32_t i = 0; i < masks->count; i++)
    value_map_set(ctx, map, masks->masks[i], build_int(&b, masks->masks[i]->type, 1));
  build_clone_range(&b, first, end, map);
  Value **copies = arena_array(&ctx->arena, Value *, n + 1);
  for (uint32_t i = 0; i < n; i++) copies[i] = value_map_get(map, inside[i]);
  build_if_else(&b, &r, copies);
  for (Op *op = first, *next; op != end; op = next) {
    next = op->next;
    op_unlink(op);
    op_append(op, branch->blocks[1]);
  }
  build_if_end(&b, r, inside);
  for (uint32_t i = 0; i < n; i++) op_set_operand(end, where[i], op_result(branch, i));
}

static void visit_block(Version *s, Block *block) {
  EACH_OP(op, block)
    for (uint32_t i = 0; i < op->num_blocks && op_is(op, TRAIT_CARRIES); i++)
      visit_block(s, op->blocks[i]);
  // A loop whose loads are copied ahead keeps them in its body.
  if (block->parent && block->parent->opcode == OP_FOR && op_int(block->parent, ATTR_NUM_STAGES, 1) > 1) return;
  Op *first = block->first;
  while (first && !(mask_costs(s, first) && all_true(s, NULL, mask_of(first), NULL))) first = first->next;
  if (!first) return;
  Masks masks = {0};
  uint32_t copied = 0;
  for (Op *op = first; op != block->last; op = op->next) {
    if (keeps_whole(op) || ++copied > MAX_COPIED_OPS) return;
    Value *mask = mask_of(op);
    if (mask && mask->type->kind == TYPE_TENSOR && is_known_at(mask, first) && all_true(s, NULL, mask, NULL))
      add_mask(&masks, mask);
  }
  version_from(s, block, first, &masks);
}

// Whether all that comes of the value is an assumption.
static bool is_only_assumed(const Op *user) {
  if (user->opcode == OP_ASSUME) return true;
  if (user->opcode != OP_ANDI || !user->results[0].uses) return false;
  EACH_USE(u, &user->results[0])
    if (!is_only_assumed(u->user)) return false;
  return true;
}

// An assumption keeps its comparison, which its own fact decides: later passes need the fact, too.
static void fold_decided(Op *op, void *user) {
  Version *s = user;
  int64_t k;
  if (op->opcode != OP_CMPI || !op->results[0].uses || !axis_known(axis_info(s->axes, &op->results[0]), &k)) return;
  Value *decided = NULL;
  for (Use *u = op->results[0].uses, *next; u; u = next) {
    next = u->next;
    if (is_only_assumed(u->user)) continue;
    Builder b = builder_before(s->ctx, op);
    if (!decided) decided = build_int(&b, op->results[0].type, k != 0);
    op_set_operand(u->user, u->index, decided);
  }
}

void pass_version_full_tile(PassCtx *p) {
  Version s = {.ctx = p->ctx, .axes = axis_analyse(p->ctx, p->module)};
  module_walk(p->module, fold_decided, &s);
  EACH_FUNC(f, p->module) visit_block(&s, f->body);
}
