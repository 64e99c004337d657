// split_addresses: keeps a tensor of pointers as one scalar base and a tensor of offsets.
//
//   %p = splat %base ; %q = addptr %p, %offs ; %x = load %q      →     %x = load %base', %offs'
//
// An offset is split into a *uniform* part, which moves to the base, and a *varying* part: (splat u + r)·s + splat c
// has uniform u·s + c and varying r·s. If a loop adds only uniform parts to a carried pointer tensor, it carries the
// base, and the offsets stay outside the loop. Pointers that are data (loaded, or chosen per element from different
// bases) stay tensors.
//
// Why the split may stay in 32 bits: address arithmetic is assumed not to overflow the program's own integers (if it
// does, the access is wild). Let o = u + v. If u and v never have opposite signs (*balanced*), |v| ≤ |o|. Therefore v
// fits where o did, and v·s where o·s did. Sums of balanced parts stay balanced: two v's of one sign belong to o's of
// that sign. Uniform parts are computed in 64 bits unless ranges prove 32 enough. What is neither proved nor balanced
// is widened or left whole. Offsets added to a pointer one after the other are summed in 32 bits if both stay within a
// tile (a small number, or a small number times a stride): a tile spans less than 2^31 elements.
// In, out: TILE.
#include "passes/split_addresses.h"

#include "ir/loop.h"
#include "passes/pass.h"
#include "passes/steps.h"

typedef struct { Value *base, *offset; } Address;     // offset NULL: zero

static bool is_pointers(const Value *v) { return v && v->type->kind == TYPE_TENSOR && type_is_ptr(v->type); }
static const Type *i32_of(Split *s) { return type_scalar(s->ctx, SC_I32); }

// ---- addresses ----

static bool has_failed(const Split *s, const Value *arg) {
  VEC_EACH(x, s->failed)
    if (*x == arg) return true;
  return false;
}

// The block argument of a loop variable, given the argument or the loop's result; NULL if v is neither.
static Value *loop_variable(Value *v) {
  uint32_t i;
  if (v->def) return v->def->opcode == OP_FOR ? for_carried(v->def, v->index) : NULL;
  return for_carrying(v, &i) ? v : NULL;
}

static bool same_width(const Op *bitcast) {
  return type_elem_bytes(type_elem(op_operand(bitcast, 0)->type)->elem) ==
         type_elem_bytes(type_elem(bitcast->results[0].type)->elem);
}

// Whether decompose will succeed, given which loop variables it succeeds for.
static bool can_decompose(Split *s, Value *v) {
  if (!is_pointers(v)) return false;
  Value *variable = loop_variable(v);
  if (variable) return !has_failed(s, variable);
  if (!v->def) return false;
  Op *op = v->def;
  switch (op->opcode) {
    case OP_SPLAT: return true;
    case OP_ADDPTR: case OP_BROADCAST: case OP_EXPAND_DIMS: case OP_RESHAPE: case OP_TRANS: case OP_HINT:
      return can_decompose(s, op_operand(op, 0));
    case OP_BITCAST: return is_pointers(op_operand(op, 0)) && same_width(op) && can_decompose(s, op_operand(op, 0));
    case OP_IF:
      return can_decompose(s, op_operand(op->blocks[0]->last, v->index)) &&
             can_decompose(s, op_operand(op->blocks[1]->last, v->index));
    default: return false;
  }
}

static Value *zero_offset(Split *s, Builder *b, const Type *like) {
  return build_int(b, type_with_elem(s->ctx, like, i32_of(s)), 0);
}

// A hint on the addresses becomes hints on base and offset, because accesses use their sum.
static Address decompose_hint(Split *s, Op *op, Address a) {
  Builder b = builder_before(s->ctx, op);
  int64_t bytes = type_elem_bytes(type_elem(op->results[0].type)->elem);
  const Attr *d = op_attr(op, ATTR_DIVISIBILITY);
  if (!a.offset) a.offset = zero_offset(s, &b, op->results[0].type);
  Op *offset = build_op(&b, OP_HINT, (Value *[]){a.offset}, 1);
  op_copy_attrs(s->ctx, offset, op);
  if (d) {
    int64_t elements[MAX_RANK], most = 1;
    for (uint32_t i = 0; i < d->num_ints && i < MAX_RANK; i++) {
      elements[i] = max_i64(1, d->ints[i] / bytes);
      most = max_i64(most, d->ints[i]);
    }
    op_set_ints(s->ctx, offset, ATTR_DIVISIBILITY, elements, d->num_ints);
    Op *base = build_op(&b, OP_HINT, (Value *[]){a.base}, 1);
    op_set_ints(s->ctx, base, ATTR_DIVISIBILITY, &most, 1);
    a.base = op_result(base, 0);
  }
  a.offset = op_result(offset, 0);
  return a;
}

static bool decompose(Split *s, Value *v, Address *out) {
  if (v->aux) {
    *out = *(const Address *)v->aux;
    return true;
  }
  if (!is_pointers(v) || !v->def) return false;
  Op *op = v->def;
  Builder b = builder_before(s->ctx, op);
  Address a = {0};
  switch (op->opcode) {
    case OP_SPLAT: a = (Address){op_operand(op, 0), NULL}; break;
    case OP_ADDPTR: {
      if (!decompose(s, op_operand(op, 0), &a)) return false;
      Parts o = split_offset(s, op_operand(op, 1));
      if (o.uniform) a.base = build_binary(&b, OP_ADDPTR, a.base, o.uniform);
      if (o.varying && type_elem_bits(o.varying->type) < 32) o.varying = build_cast(&b, OP_EXTSI, o.varying, i32_of(s));
      bool local = a.offset && o.varying && steps_are_in_tile(s->axes, a.offset) &&
                   steps_are_in_tile(s->axes, o.varying);
      a.offset = split_add(s, &b, OP_ADDI, a.offset, o.varying, local);
      break;
    }
    case OP_BROADCAST: case OP_EXPAND_DIMS: case OP_RESHAPE: case OP_TRANS:
      if (!decompose(s, op_operand(op, 0), &a)) return false;
      if (a.offset) a.offset = split_move(&b, op, a.offset);
      break;
    case OP_HINT:
      if (!decompose(s, op_operand(op, 0), &a)) return false;
      a = decompose_hint(s, op, a);
      break;
    case OP_BITCAST:
      if (!is_pointers(op_operand(op, 0)) || !same_width(op) || !decompose(s, op_operand(op, 0), &a)) return false;
      a.base = build_cast(&b, OP_BITCAST, a.base, type_elem(v->type));
      break;
    default: return false;
  }
  Address *memo = arena_new(&s->ctx->arena, Address);
  *memo = *out = a;
  v->aux = memo;
  return true;
}

// Builds the pointers again, for users that need them. (Other accesses decompose them.)
static Value *compose(Split *s, Builder *b, const Type *t, Address a) {
  const Type *splat_type = t;
  Value *splat = build_value(b, OP_SPLAT, splat_type, &a.base, 1);
  Value *v = a.offset ? build_value(b, OP_ADDPTR, t, (Value *[]){splat, a.offset}, 2) : splat;
  Address *memo = arena_new(&s->ctx->arena, Address);
  *memo = a;
  v->aux = memo;
  return v;
}

// ---- loops and ifs ----

// Whether v has the offsets of the loop variable: only uniform parts were added.
static bool keeps_offset(Split *s, Value *v, const Value *variable) {
  if (v == variable) return true;
  if (!v->def) return false;
  Op *op = v->def;
  switch (op->opcode) {
    case OP_ADDPTR: return keeps_offset(s, op_operand(op, 0), variable) && !split_offset(s, op_operand(op, 1)).varying;
    case OP_FOR: {
      Value *inner = for_carried(op, v->index);
      return keeps_offset(s, for_init(op, v->index), variable) && !has_failed(s, inner) &&
             keeps_offset(s, for_next(op, v->index), inner);
    }
    case OP_IF:
      return keeps_offset(s, op_operand(op->blocks[0]->last, v->index), variable) &&
             keeps_offset(s, op_operand(op->blocks[1]->last, v->index), variable);
    default: return false;
  }
}

static void split_block(Split *s, Block *block);

// Keeps the use of v by `keep`; all others get `by`.
static void replace_other_uses(Value *v, Value *by, Op *keep) {
  value_replace_all_uses(v, by);
  op_set_operand(keep, 0, v);
}

static Op *composed_splat(Value *composed) {
  return composed->def->opcode == OP_SPLAT ? composed->def : op_operand(composed->def, 0)->def;
}

// A carried pointer tensor that is split: its base takes the place of the pointers; if its offset changes in the loop,
// too, the offset is carried as value `offset_index`.
typedef struct { uint32_t index; Address init; bool carries_offset; uint32_t offset_index; } Carried;
typedef struct { Carried *data; uint32_t count; } CarriedList;

static CarriedList choose_carried(Split *s, const Op *loop) {
  CarriedList list = {.data = arena_array(&s->ctx->arena, Carried, loop->num_results + 1)};
  for (uint32_t i = 0; i < loop->num_results; i++) {
    Carried c = {.index = i};
    Value *arg = for_carried(loop, i);
    if (!is_pointers(arg) || has_failed(s, arg) || !decompose(s, for_init(loop, i), &c.init)) continue;
    c.carries_offset = !keeps_offset(s, for_next(loop, i), arg);
    list.data[list.count++] = c;
  }
  return list;
}

// The loop with bases for pointers and, after the old carried values, the offsets that change.
static Op *rebuild_for(Split *s, Op *op, const CarriedList *list) {
  uint32_t n = op->num_results, num = n;
  const Type **types = arena_array(&s->ctx->arena, const Type *, 2 * n + 1);
  Value **operands = arena_array(&s->ctx->arena, Value *, FOR_INITS + 2 * n + 1);
  for (uint32_t i = 0; i < n; i++) types[i] = op->results[i].type;
  for (uint32_t i = 0; i < FOR_INITS + n; i++) operands[i] = op_operand(op, i);
  Builder before = builder_before(s->ctx, op);
  VEC_EACH(c, *list) {
    types[c->index] = c->init.base->type;
    operands[FOR_INITS + c->index] = c->init.base;
    if (!c->carries_offset) continue;
    if (!c->init.offset) c->init.offset = zero_offset(s, &before, op->results[c->index].type);
    c->init.offset = split_widen(s, &before, c->init.offset);
    c->offset_index = num;
    types[num] = c->init.offset->type;
    operands[FOR_INITS + num++] = c->init.offset;
  }
  Op *made = op_rebuild(s->ctx, op, types, num, operands, FOR_INITS + num);
  for (uint32_t i = n; i < num; i++) block_add_arg(s->ctx, made->blocks[0], types[i]);
  return made;
}

// In the body and after the loop, pointers are composed again from base and offset.
static void compose_carried(Split *s, Op *old, Op *made, const CarriedList *list) {
  Block *body = made->blocks[0];
  VEC_EACH(c, *list) {
    Value *arg = body->args[c->index + 1];
    const Type *t = arg->type;
    arg->type = c->init.base->type;
    Builder b = builder_before(s->ctx, body->first);
    Address a = {arg, c->carries_offset ? body->args[c->offset_index + 1] : c->init.offset};
    Value *tensor = compose(s, &b, t, a);
    replace_other_uses(arg, tensor, composed_splat(tensor));
  }
  Value **results = op_result_values(s->ctx, made);
  Builder after = builder_before(s->ctx, old);
  for (uint32_t i = 0; i < old->num_results; i++) made->results[i].name = old->results[i].name;
  VEC_EACH(c, *list) {
    Address a = {results[c->index], c->carries_offset ? op_result(made, c->offset_index) : c->init.offset};
    results[c->index] = compose(s, &after, old->results[c->index].type, a);
  }
  op_replace(old, results);
}

static void split_for(Split *s, Op *op) {
  Block *body = op->blocks[0];
  CarriedList list = choose_carried(s, op);
  if (list.count) compose_carried(s, op, rebuild_for(s, op, &list), &list);
  split_block(s, body);
  Op *yield = body->last;
  VEC_EACH(c, list) {
    Address a;
    if (!decompose(s, op_operand(yield, c->index), &a)) ice(s->ctx, "a carried pointer that was to be split is not");
    op_set_operand(yield, c->index, a.base);
    if (!c->carries_offset) continue;
    Builder b = builder_before(s->ctx, yield);
    if (!a.offset) a.offset = zero_offset(s, &b, c->init.offset->type);
    op_append_operand(s->ctx, yield, split_widen(s, &b, a.offset));
  }
}

static void split_if(Split *s, Op *op) {
  uint32_t n = op->num_results, num_results = n;
  bool *can = arena_array(&s->ctx->arena, bool, n + 1);
  for (uint32_t i = 0; i < n; i++) can[i] = can_decompose(s, op_result(op, i));
  split_block(s, op->blocks[0]);
  split_block(s, op->blocks[1]);
  const Type **types = arena_array(&s->ctx->arena, const Type *, 2 * n + 1);
  Value **offsets = arena_array(&s->ctx->arena, Value *, n + 1);   // shared by both branches
  uint32_t *offset_index = arena_array(&s->ctx->arena, uint32_t, n + 1);
  bool any = false;
  for (uint32_t i = 0; i < n; i++) {
    types[i] = op->results[i].type;
    if (!can[i]) continue;
    Address a[2];
    for (uint32_t k = 0; k < 2; k++)
      if (!decompose(s, op_operand(op->blocks[k]->last, i), &a[k]))
        ice(s->ctx, "a pointer of an if that was to be split is not");
    any = true;
    types[i] = a[0].base->type;
    bool same = a[0].offset == a[1].offset && (!a[0].offset || value_defined_outside(a[0].offset, op));
    offsets[i] = same ? a[0].offset : NULL;
    if (!same) offset_index[i] = num_results++;
    for (uint32_t k = 0; k < 2; k++) {
      Op *yield = op->blocks[k]->last;
      op_set_operand(yield, i, a[k].base);
      if (same) continue;
      Builder b = builder_before(s->ctx, yield);
      if (!a[k].offset) a[k].offset = zero_offset(s, &b, op->results[i].type);
      Value *wide = split_widen(s, &b, a[k].offset);
      types[offset_index[i]] = wide->type;
      op_append_operand(s->ctx, yield, wide);
    }
  }
  if (!any) return;
  Value *cond = op_operand(op, 0);
  Op *made = op_rebuild(s->ctx, op, types, num_results, &cond, 1);
  Builder after = builder_before(s->ctx, op);
  for (uint32_t i = 0; i < n; i++) {
    Value *r = op_result(made, i);
    r->name = op->results[i].name;
    if (can[i])
      r = compose(s, &after, op->results[i].type,
                  (Address){r, offset_index[i] ? op_result(made, offset_index[i]) : offsets[i]});
    value_replace_all_uses(&op->results[i], r);
  }
  op_erase(op);
}

// ---- accesses ----

// Builds the offset in 32 bits, given that its range fits: the narrowing moves down to where the offset was widened.
static Value *narrow(Split *s, Builder *b, ValueMap *done, Value *v) {
  const Type *t = type_with_elem(s->ctx, v->type, i32_of(s));
  Op *op = v->def;
  Value *r = value_map_get(done, v);
  if (r != v) return r;
  if (op && op->opcode == OP_EXTSI && op_operand(op, 0)->type == t) return op_operand(op, 0);
  if (op && (op->opcode == OP_ADDI || op->opcode == OP_SUBI || op->opcode == OP_MULI)) {
    Value *x = narrow(s, b, done, op_operand(op, 0)), *y = narrow(s, b, done, op_operand(op, 1));
    r = build_binary(b, op->opcode, x, y);
  } else if (op && (op->opcode == OP_BROADCAST || op->opcode == OP_EXPAND_DIMS || op->opcode == OP_SPLAT)) {
    r = split_move(b, op, narrow(s, b, done, op_operand(op, 0)));
  } else {
    r = build_cast(b, OP_TRUNCI, v, i32_of(s));
  }
  value_map_set(s->ctx, done, v, r);
  return r;
}

static void split_access(Split *s, Op *op) {
  Address a;
  Value *ptr = op_named(op, OPERAND_PTR);
  if (!is_pointers(ptr) || op_named(op, OPERAND_OFFSET) || !decompose(s, ptr, &a)) return;
  Builder b = builder_before(s->ctx, op);
  const Type *t = ptr->type;
  if (!a.offset) a.offset = zero_offset(s, &b, t);
  const AxisInfo *range = axis_info(s->axes, a.offset);
  if (type_elem_bits(a.offset->type) == 64 && split_fits32(range->lo, range->hi))
    a.offset = narrow(s, &b, value_map_new(s->ctx), a.offset);
  op_set_named(op, OPERAND_PTR, a.base);
  op_set_named(op, OPERAND_OFFSET, a.offset);
}

static void split_block(Split *s, Block *block) {
  for (Op *op = block->first, *next; op; op = next) {
    next = op->next;
    switch (op->opcode) {
      case OP_FOR: split_for(s, op); break;
      case OP_IF: split_if(s, op); break;
      default:
        if (op_unit(op) == UNIT_GMEM) split_access(s, op);
        for (uint32_t i = 0; i < op->num_blocks; i++) split_block(s, op->blocks[i]);
    }
  }
}

// ---- which loop variables can be split: the greatest set that supports itself ----

typedef struct { Split *s; bool grew; } FailSearch;

static void find_failures(Op *op, void *user) {
  FailSearch *f = user;
  if (op->opcode != OP_FOR) return;
  for (uint32_t i = 0; i < op->num_results; i++) {
    Value *arg = for_carried(op, i);
    if (!is_pointers(arg) || has_failed(f->s, arg)) continue;
    if (can_decompose(f->s, for_init(op, i)) && can_decompose(f->s, for_next(op, i))) continue;
    vec_push(&f->s->ctx->arena, &f->s->failed, arg);
    f->grew = true;
  }
}

void pass_split_addresses(PassCtx *p) {
  Split s = {.ctx = p->ctx, .axes = axis_analyse(p->ctx, p->module)};
  module_clear_scratch(p->module);
  FailSearch search = {&s, true};
  while (search.grew) {
    search.grew = false;
    module_walk(p->module, find_failures, &search);
  }
  EACH_FUNC(f, p->module) split_block(&s, f->body);
}
