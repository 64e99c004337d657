// Gluon's clusters: with num_ctas above 1 a program is a cluster, and each of its blocks holds a part of every tensor,
// buffer and descriptor's tile, or all of it.
//
// The front end's types describe what the whole cluster holds. The IR is the code of one block, and its types describe
// that block's part. Only three things depend on the block's number: the values of an arange, the coordinates of TMA,
// and who writes what several blocks hold. No op moves elements between blocks.
#include "frontend/lower/gluon.h"
#include "frontend/lower/term.h"

static bool is_split(const Lower *L, const CtType *t) { return L->module->num_ctas > 1 && t->layout; }

// How far a bit of the block's number moves along an axis.
static uint32_t step_of(const Layout *l, uint32_t bit, uint32_t axis) {
  return (layout_basis(l, LAYOUT_BLOCK, bit) & layout_axis_mask(l, axis)) >> layout_axis_shift(l, axis);
}

const CtType *lower_block_part(Lower *L, const CtType *t) {
  if (t->kind != CT_TYPE_BLOCK || !is_split(L, t) || !t->layout->num_bits[LAYOUT_BLOCK]) return t;
  const Layout *part = layout_block_part(L->ctx, t->layout);
  const uint32_t skip = t->rank - t->layout->rank;   // the number of tiles
  int64_t shape[CT_MAX_RANK];
  for (uint32_t d = 0; d < t->rank; d++)
    shape[d] = d < skip ? t->shape[d] : t->shape[d] >> (t->layout->log2_size[d - skip] - part->log2_size[d - skip]);
  return ct_type_with_layout(L->ctx, ct_type_block(L->ctx, t->elem, shape, t->rank), part, t->spelled);
}

static bool is_split_along(const Lower *L, const CtType *t, uint32_t axis) {
  for (uint32_t i = 0; is_split(L, t) && i < t->layout->num_bits[LAYOUT_BLOCK]; i++)
    if (step_of(t->layout, i, axis)) return true;
  return false;
}

// Whether each block holds the same part of a and of b; along `except` (−1: no axis) neither may be split.
static bool same_parts(const Lower *L, const CtType *a, const CtType *b, int64_t except) {
  if (!is_split(L, a) || !is_split(L, b)) return true;
  for (uint32_t i = 0; i < a->layout->num_bits[LAYOUT_BLOCK]; i++)
    for (uint32_t d = 0; d < a->layout->rank; d++)
      if (step_of(a->layout, i, d) != (d == except ? 0 : step_of(b->layout, i, d)) ||
          (d == except && step_of(b->layout, i, d)))
        return false;
  return true;
}

static bool crosses(Lower *L, Span span, const char *what, const CtType *a, const CtType *b) {
  lower_error(L, span, "%s would move elements between the blocks of the cluster", what);
  if (a) lower_hint(L, "one has %s", lower_layout_text(L, a));
  if (b) lower_hint(L, "the other has %s", lower_layout_text(L, b));
  lower_hint(L, a ? "give both one cga_layout; from block to block data goes through global memory"
                  : "split another axis in cga_layout; from block to block data goes through global memory");
  return false;
}

bool lower_check_same_blocks(Lower *L, Span span, const char *what, const CtType *a, const CtType *b, int64_t except) {
  return same_parts(L, a, b, except) || crosses(L, span, what, a, b);
}

bool lower_check_axis_in_block(Lower *L, Span span, const char *what, const CtType *t, uint32_t axis) {
  if (!is_split_along(L, t, axis)) return true;
  return crosses(L, span, arena_printf(L->arena, "%s along axis %u of %s", what, axis, lower_layout_text(L, t)), NULL,
                 NULL);
}

bool lower_check_keeps_layout(Lower *L, Span span, const CtType *t) {
  if (!is_split(L, t)) return true;
  lower_error(L, span, "with num_ctas = %u a tensor keeps its layout", L->module->num_ctas);
  lower_hint(L, "AutoLayout and CoalescedLayout do not say which block holds what");
  return false;
}

// ---- which block it is ----
static Value *block_rank(Lower *L) { return op_result(build_op(&L->b, OP_BLOCK_RANK, NULL, 0), 0); }

Value *lower_block_start(Lower *L, const CtType *t, uint32_t axis) {
  Value *sum = NULL;
  for (uint32_t i = 0; is_split(L, t) && i < t->layout->num_bits[LAYOUT_BLOCK]; i++) {
    const uint32_t step = step_of(t->layout, i, axis);
    if (!step) continue;
    Value *bit = build_binary(&L->b, OP_SHRUI, block_rank(L), build_i32(&L->b, i));
    bit = build_binary(&L->b, OP_ANDI, bit, build_i32(&L->b, 1));
    bit = build_binary(&L->b, OP_SHLI, bit, build_i32(&L->b, log2_u32(step)));
    sum = sum ? build_binary(&L->b, OP_ADDI, sum, bit) : bit;
  }
  return sum;
}

// ---- tensors without a layout ----
// Each block holds the whole of a tensor that has no layout. When the tensor is given one, each block computes its own
// part anew. That works for ranges, scalars and arithmetic on them; dce removes the whole tensor if nothing uses it.
typedef struct { const Value *whole; const Layout *map; Value *part; } Part;
typedef struct { Lower *L; Span span; VEC(Part) made; } Division;

static Value *part_of(Division *d, Value *whole, CtValue *layout);

static Value *part_of_result(Division *d, Value *whole, CtValue *layout, const CtType *t, const Type *to) {
  Lower *L = d->L;
  const Op *op = whole->def;
  if (op && op->opcode == OP_RANGE) {
    const int64_t start = op_int(op, ATTR_START, 0);
    Value *r = build_range(&L->b, start, start + to->shape[0], to->layout), *first = lower_block_start(L, t, 0);
    return first ? build_binary(&L->b, OP_ADDI, r, build_splat(&L->b, first, to)) : r;
  }
  if (op && op->opcode == OP_EXPAND_DIMS) {
    const uint32_t axis = (uint32_t)op_int(op, ATTR_AXIS, 0);
    Value *x = part_of(d, op_operand(op, 0), comptime_layout_slice(L->ct, layout, axis));
    return x ? build_convert_layout(&L->b, build_expand_dims(&L->b, x, axis), to->layout) : NULL;
  }
  if (op && op->opcode == OP_BROADCAST) {
    Value *x = part_of(d, op_operand(op, 0), layout);
    const Layout *from = to->layout;
    for (uint32_t i = 0; x && i < to->rank; i++)
      if (x->type->shape[i] != to->shape[i]) from = layout_project(L->ctx, from, i);
    return x ? build_broadcast(&L->b, build_convert_layout(&L->b, x, from), to) : NULL;
  }
  if (op && (op->opcode == OP_CONSTANT || op->opcode == OP_SPLAT || op_is(op, TRAIT_ELEMENTWISE))) {
    ValueMap *map = value_map_new(L->ctx);
    for (uint32_t i = 0; i < op->num_operands; i++) {
      Value *x = part_of(d, op_operand(op, i), layout);
      if (!x) return NULL;
      value_map_set(L->ctx, map, op_operand(op, i), x);
    }
    Value *r = op_result(build_clone(&L->b, op, map), 0);
    r->type = to;
    return r;
  }
  lower_error(L, d->span, "with num_ctas = %u a tensor that `%s` made without a layout cannot be given one",
              L->module->num_ctas, op ? op_info[op->opcode].name : "for");
  lower_hint(L, "make it with its layout: pass layout=…, with cga_layout; a tensor of pointers takes it before the load");
  return NULL;
}

static Value *part_of(Division *d, Value *whole, CtValue *layout) {
  Lower *L = d->L;
  const Type *w = whole->type;
  if (w->kind != TYPE_TENSOR) return whole;
  const Layout *map = lower_layout_map(L, layout, w->shape, w->rank, d->span);
  if (!map) return NULL;
  VEC_EACH(x, d->made)
    if (x->whole == whole && x->map == map) return x->part;
  const CtType *t = ct_type_with_layout(L->ctx, ct_type_block(L->ctx, lower_scalar(L, DT_INT32), w->shape, w->rank), map,
                                        layout);
  const CtType *part = lower_block_part(L, t);
  Value *r = part_of_result(d, whole, layout, t, type_tensor(L->ctx, w->elem, (int)w->rank, part->shape, part->layout));
  const Part made = {whole, map, r};
  if (r) vec_push(L->arena, &d->made, made);
  return r;
}

Value *lower_divide(Lower *L, Value *whole, const CtType *to, Span span) {
  return part_of(&(Division){.L = L, .span = span}, whole, lower_layout_of(L, to));
}

// Of the blocks that hold the same elements, the one with the lowest number writes them.
bool lower_owner_mask(Lower *L, const CtType *t, Term **mask) {
  const uint32_t bits = log2_u32(L->module->num_ctas);
  uint32_t same = 0;
  for (uint32_t i = 0; i < bits; i++)
    if (!ct_rank(t) || !t->layout || !layout_basis(t->layout, LAYOUT_BLOCK, i)) same |= 1u << i;
  if (!same) return false;
  Value *others = build_binary(&L->b, OP_ANDI, block_rank(L), build_i32(&L->b, same));
  Value *owns = build_cmp(&L->b, CMP_EQ, others, build_i32(&L->b, 0));
  const CtType *flag = lower_with_elem(L, t, lower_scalar(L, DT_INT1));
  if (ct_rank(t)) owns = build_splat(&L->b, owns, lower_ir_type(L, flag));
  *mask = term_value(L, *mask ? build_binary(&L->b, OP_ANDI, term_v(*mask), owns) : owns, flag);
  return true;
}

static void refuse_held_by_several(Lower *L, Span span, const char *name) {
  lower_error(L, span, "several blocks of the cluster hold what `%s` changes, and each needs its result", name);
  lower_hint(L, "split the tensor over all blocks: a cga_layout without zero vectors");
}

bool lower_check_owned(Lower *L, Call *c, const CtType *t) {
  Term *mask = NULL;
  if (L->module->num_ctas == 1 || !lower_owner_mask(L, t, &mask)) return true;
  refuse_held_by_several(L, c->span, c->row->name);
  return false;
}

static bool is_read(const Value *v) {
  EACH_USE(u, v) {
    if (!op_is(u->user, TRAIT_PURE)) return true;
    for (uint32_t i = 0; i < u->user->num_results; i++)
      if (is_read(&u->user->results[i])) return true;
  }
  return false;
}

bool lower_check_owned_results(Lower *L) {
  VEC_EACH(x, L->owned) {
    if (!is_read(x->result)) continue;
    refuse_held_by_several(L, x->span, x->name);
    return false;
  }
  return true;
}

// ---- products ----
bool lower_check_product_blocks(Lower *L, Span span, const CtType *a, const CtType *b, const CtType *acc) {
  if (!is_split(L, a) || !is_split(L, b) || !is_split(L, acc)) return true;
  const uint32_t m = acc->rank - 2u, n = acc->rank - 1u;
  for (uint32_t i = 0; i < acc->layout->num_bits[LAYOUT_BLOCK]; i++) {
    const bool fits = step_of(a->layout, i, m) == step_of(acc->layout, i, m) && !step_of(a->layout, i, n) &&
                      step_of(b->layout, i, n) == step_of(acc->layout, i, n) && !step_of(b->layout, i, m);
    if (fits) continue;
    lower_error(L, span, "this product would read what other blocks of the cluster hold");
    lower_hint(L, "the accumulator has %s", lower_layout_text(L, acc));
    lower_hint(L, "a has %s", lower_layout_text(L, a));
    lower_hint(L, "b has %s", lower_layout_text(L, b));
    return lower_hint(L, "a vector [1, 0] of the accumulator's cga_layout is [1, 0] in a and [0, 0] in b; [0, 1] is "
                         "[0, 0] in a and [0, 1] in b") != NULL;
  }
  return true;
}
