// Makes, links, erases and clones ops, blocks and values, and keeps the lists of uses. All live in the Context's arena.
#include <string.h>

#include "ir/ir.h"
#include "ir/num.h"
#include "ir/scratch.h"

// ---- modules, functions, blocks ----

Module *module_new(Context *ctx, const Target *target) {
  Module *m = arena_new(&ctx->arena, Module);
  m->ctx = ctx;
  m->stage = STAGE_TILE;
  m->target = target;
  m->num_warps = 4;
  m->num_stages = 3;
  m->num_ctas = 1;
  m->fp_fusion = true;
  m->auto_tma = true;
  return m;
}

static Block *block_new(Context *ctx, Func *func, Op *parent) {
  Block *b = arena_new(&ctx->arena, Block);
  b->func = func;
  b->parent = parent;
  return b;
}

Func *func_new(Module *m, const char *name, Span span) {
  Func *f = arena_new(&m->ctx->arena, Func);
  f->module = m;
  f->name = intern(m->ctx, name);
  f->span = span;
  f->body = block_new(m->ctx, f, NULL);
  Func **end = &m->funcs;
  while (*end) end = &(*end)->next;
  *end = f;
  return f;
}

Value *func_add_param(Func *f, const Type *type, FuncParam param) {
  if (!f->num_params || is_pow2_u64(f->num_params)) {   // room for twice as many
    FuncParam *bigger = arena_array(&f->module->ctx->arena, FuncParam, 2 * f->num_params + 1);
    if (f->num_params) memcpy(bigger, f->params, f->num_params * sizeof *bigger);
    f->params = bigger;
  }
  f->params[f->num_params++] = param;
  Value *v = block_add_arg(f->module->ctx, f->body, type);
  v->name = param.name;
  return v;
}

static uint32_t place(uint32_t bytes, uint32_t size, uint32_t count) {
  return round_up_u32(bytes, size) + size * count;
}

// Parameters lie in order, each at a multiple of its size. A descriptor's map is followed by its extents and strides.
uint32_t func_param_bytes(const Func *f) {
  uint32_t bytes = 0;
  for (uint32_t i = 0; i < f->num_params; i++) {
    const Type *t = f->body->args[i]->type;
    const FuncParamKind kind = f->params[i].kind;
    const bool is_map = kind == PARAM_DESC || kind == PARAM_AUTO_TENSORMAP,
               has_fields = kind == PARAM_DESC || kind == PARAM_DESC_FIELDS;
    bytes = place(bytes, is_map ? TENSOR_MAP_BYTES : has_fields ? 8 : type_elem_bytes(t), 1);
    if (has_fields) bytes = place(place(bytes, 4, t->rank), 8, t->rank);
  }
  return bytes;
}

Value *block_add_arg(Context *ctx, Block *b, const Type *type) {
  if (!b->num_args || is_pow2_u64(b->num_args)) {   // room for twice as many
    Value **bigger = arena_array(&ctx->arena, Value *, 2 * b->num_args + 1);
    if (b->num_args) memcpy(bigger, b->args, b->num_args * sizeof *bigger);
    b->args = bigger;
  }
  Value *v = arena_new(&ctx->arena, Value);
  *v = (Value){.type = type, .block = b, .index = b->num_args};
  b->args[b->num_args++] = v;
  return v;
}

void block_remove_arg(Block *b, uint32_t index) {
  assert(!b->args[index]->uses);
  b->num_args--;
  for (uint32_t i = index; i < b->num_args; i++) {
    b->args[i] = b->args[i + 1];
    b->args[i]->index = i;
  }
}

Op *block_terminator(const Block *b) {
  return b->last && op_is(b->last, TRAIT_TERMINATOR) ? b->last : NULL;
}

// ---- uses ----

static void link_use(Use *u) {
  if (!u->value) return;
  u->prev = NULL;
  u->next = u->value->uses;
  if (u->next) u->next->prev = u;
  u->value->uses = u;
}

static void unlink_use(Use *u) {
  if (!u->value) return;
  if (u->prev) u->prev->next = u->next; else u->value->uses = u->next;
  if (u->next) u->next->prev = u->prev;
  u->next = u->prev = NULL;
}

void op_set_operand(Op *op, uint32_t i, Value *v) {
  Use *u = &op->operands[i];
  unlink_use(u);
  u->value = v;
  link_use(u);
}

void op_append_operand(Context *ctx, Op *op, Value *v) {
  if (op->num_operands == op->cap_operands) {
    // Uses are linked by address: each is unlinked, moved and linked again.
    uint32_t cap = op->cap_operands ? op->cap_operands * 2 : 4;
    Use *bigger = arena_array(&ctx->arena, Use, cap);
    for (uint32_t i = 0; i < op->num_operands; i++) {
      unlink_use(&op->operands[i]);
      bigger[i] = op->operands[i];
      link_use(&bigger[i]);
    }
    op->operands = bigger;
    op->cap_operands = cap;
  }
  uint32_t i = op->num_operands++;
  op->operands[i] = (Use){.value = v, .user = op, .index = i};
  link_use(&op->operands[i]);
}

void op_remove_operand(Op *op, uint32_t index) {
  for (uint32_t i = index; i + 1 < op->num_operands; i++) op_set_operand(op, i, op->operands[i + 1].value);
  op_set_operand(op, --op->num_operands, NULL);
}

void value_replace_all_uses(Value *from, Value *to) {
  if (from == to) return;
  while (from->uses) op_set_operand(from->uses->user, from->uses->index, to);
  if (!to->name) to->name = from->name;
}

const Type **op_result_types(Context *ctx, const Op *op) {
  const Type **types = arena_array(&ctx->arena, const Type *, op->num_results + 1);
  for (uint32_t i = 0; i < op->num_results; i++) types[i] = op->results[i].type;
  return types;
}

Value **op_result_values(Context *ctx, Op *op) {
  Value **values = arena_array(&ctx->arena, Value *, op->num_results + 1);
  for (uint32_t i = 0; i < op->num_results; i++) values[i] = op_result(op, i);
  return values;
}

Value **op_operand_values(Context *ctx, const Op *op, uint32_t first) {
  Value **values = arena_array(&ctx->arena, Value *, op->num_operands + 1);
  for (uint32_t i = first; i < op->num_operands; i++) values[i - first] = op_operand(op, i);
  return values;
}

void op_replace(Op *op, Value *const *values) {
  for (uint32_t i = 0; i < op->num_results; i++) value_replace_all_uses(&op->results[i], values[i]);
  op_erase(op);
}

bool value_has_one_use(const Value *v) { return v->uses && !v->uses->next; }
Block *value_block(const Value *v) { return v->block ? v->block : v->def->parent; }

bool block_encloses(const Block *outer, const Block *inner) {
  for (; inner; inner = inner->parent ? inner->parent->parent : NULL)
    if (inner == outer) return true;
  return false;
}

bool value_defined_outside(const Value *v, const Op *region_op) {
  const Block *at = value_block(v);
  for (uint32_t i = 0; i < region_op->num_blocks; i++)
    if (block_encloses(region_op->blocks[i], at)) return false;
  return true;
}

bool op_operands_outside(const Op *op, const Op *region_op) {
  for (uint32_t i = 0; i < op->num_operands; i++)
    if (op_operand(op, i) && !value_defined_outside(op_operand(op, i), region_op)) return false;
  return true;
}

static bool is_alike(const Value *a, const Value *b, uint32_t depth) {
  if (a == b) return true;
  const Op *x = a ? a->def : NULL, *y = b ? b->def : NULL;
  if (!x || !y || !depth || a->index != b->index || !op_is(x, TRAIT_PURE) || x->num_blocks || !op_is_alike(x, y))
    return false;
  for (uint32_t i = 0; i < x->num_operands; i++)
    if (!is_alike(op_operand(x, i), op_operand(y, i), depth - 1)) return false;
  return true;
}

bool value_is_alike(const Value *a, const Value *b) {
  enum { DEEPEST = 12 };
  return is_alike(a, b, DEEPEST);
}

// ---- ops ----

Op *op_new(Context *ctx, Func *func, Opcode oc, Span span, const Type *const *result_types, uint32_t num_results,
           Value *const *operands, uint32_t num_operands, uint32_t num_blocks) {
  Op *op = arena_new(&ctx->arena, Op);
  op->opcode = oc;
  op->span = span;
  op->num_operands = op->cap_operands = num_operands;
  op->operands = arena_array(&ctx->arena, Use, num_operands);
  for (uint32_t i = 0; i < num_operands; i++) {
    op->operands[i] = (Use){.value = operands[i], .user = op, .index = i};
    link_use(&op->operands[i]);
  }
  op->num_results = num_results;
  op->results = arena_array(&ctx->arena, Value, num_results);
  for (uint32_t i = 0; i < num_results; i++) op->results[i] = (Value){.type = result_types[i], .def = op, .index = i};
  op->num_blocks = num_blocks;
  op->blocks = arena_array(&ctx->arena, Block *, num_blocks);
  for (uint32_t i = 0; i < num_blocks; i++) op->blocks[i] = block_new(ctx, func, op);
  return op;
}

Block *op_add_block(Context *ctx, Func *func, Op *op) {
  Block **more = arena_array(&ctx->arena, Block *, op->num_blocks + 1);
  if (op->num_blocks) memcpy(more, op->blocks, op->num_blocks * sizeof *more);
  op->blocks = more;
  return more[op->num_blocks++] = block_new(ctx, func, op);
}

void op_insert_before(Op *op, Op *before) {
  Block *b = before->parent;
  op->parent = b;
  op->next = before;
  op->prev = before->prev;
  if (op->prev) op->prev->next = op; else b->first = op;
  before->prev = op;
}

void op_append(Op *op, Block *b) {
  op->parent = b;
  op->next = NULL;
  op->prev = b->last;
  if (op->prev) op->prev->next = op; else b->first = op;
  b->last = op;
}

void op_unlink(Op *op) {
  Block *b = op->parent;
  if (!b) return;
  if (op->prev) op->prev->next = op->next; else b->first = op->next;
  if (op->next) op->next->prev = op->prev; else b->last = op->prev;
  op->parent = NULL;
  op->prev = op->next = NULL;
}

void op_move_before(Op *op, Op *before) {
  if (op == before) return;
  op_unlink(op);
  op_insert_before(op, before);
}

static void drop_uses(Op *op) {
  for (uint32_t i = 0; i < op->num_operands; i++) op_set_operand(op, i, NULL);
  for (uint32_t k = 0; k < op->num_blocks; k++)
    EACH_OP(in, op->blocks[k]) drop_uses(in);
}

void op_erase(Op *op) {
  drop_uses(op);
  for (uint32_t i = 0; i < op->num_results; i++) assert(!op->results[i].uses);
  op_unlink(op);
  op->num_blocks = 0;
}

Op *op_rebuild(Context *ctx, Op *op, const Type *const *result_types, uint32_t num_results, Value *const *operands,
               uint32_t num_operands) {
  Op *made = op_new(ctx, op->parent->func, op->opcode, op->span, result_types, num_results, operands, num_operands, 0);
  op_copy_attrs(ctx, made, op);
  made->inlined_at = op->inlined_at;
  made->blocks = op->blocks;
  made->num_blocks = op->num_blocks;
  op->num_blocks = 0;
  for (uint32_t i = 0; i < made->num_blocks; i++) made->blocks[i]->parent = made;
  op_insert_before(made, op);
  return made;
}

// ---- cloning ----

ValueMap *value_map_new(Context *ctx) { return arena_new(&ctx->arena, ValueMap); }

void value_map_set(Context *ctx, ValueMap *m, const Value *from, Value *to) {
  map_at(&ctx->arena, m, from)->value = to;
}

Value *value_map_get(const ValueMap *m, Value *v) {
  const MapSlot *s = m ? map_get(m, v) : NULL;
  return s ? s->value : v;
}

static Op *clone(Context *ctx, Func *func, const Op *op, ValueMap *map) {
  Op *made = op_new(ctx, func, op->opcode, op->span, NULL, 0, NULL, 0, op->num_blocks);
  op_copy_attrs(ctx, made, op);
  made->inlined_at = op->inlined_at;
  for (uint32_t i = 0; i < op->num_operands; i++)
    op_append_operand(ctx, made, value_map_get(map, op->operands[i].value));
  made->num_results = op->num_results;
  made->results = arena_array(&ctx->arena, Value, op->num_results);
  for (uint32_t i = 0; i < op->num_results; i++) {
    const Value *r = &op->results[i];
    made->results[i] = (Value){.type = r->type, .def = made, .index = i, .name = r->name};
    value_map_set(ctx, map, r, &made->results[i]);
  }
  for (uint32_t k = 0; k < op->num_blocks; k++) {
    const Block *from = op->blocks[k];
    Block *to = made->blocks[k];
    for (uint32_t i = 0; i < from->num_args; i++) {
      Value *arg = block_add_arg(ctx, to, from->args[i]->type);
      arg->name = from->args[i]->name;
      value_map_set(ctx, map, from->args[i], arg);
    }
    EACH_OP(in, from) op_append(clone(ctx, func, in, map), to);
  }
  return made;
}

Op *op_clone(Context *ctx, const Op *op, ValueMap *map) {
  return clone(ctx, op->parent ? op->parent->func : NULL, op, map ? map : value_map_new(ctx));
}

// ---- constants and walks ----

bool value_constant_bits(const Value *v, uint64_t *bits) {
  if (!v || !v->def) return false;
  if (v->def->opcode == OP_SPLAT) return value_constant_bits(op_operand(v->def, 0), bits);
  if (v->def->opcode != OP_CONSTANT) return false;
  *bits = op_attr(v->def, ATTR_VALUE)->bits;
  return true;
}

bool value_constant_int(const Value *v, int64_t *x) {
  uint64_t bits;
  if (!v || !type_is_int(v->type) || !value_constant_bits(v, &bits)) return false;
  uint32_t w = type_elem_bits(v->type);
  *x = w == 1 ? (int64_t)bits : num_sext(bits, w);
  return true;
}

void block_walk(Block *b, OpVisitor visit, void *user) {
  for (Op *op = b->first, *next; op; op = next) {
    next = op->next;
    visit(op, user);
    if (op->parent != b) continue;   // erased, replaced or moved away
    next = op->next;
    for (uint32_t i = 0; i < op->num_blocks; i++) block_walk(op->blocks[i], visit, user);
  }
}

Span op_user_place(const Context *ctx, const Op *op, const CallSite **site) {
  Span span = op->span;
  const CallSite *c = op->inlined_at;
  for (; c; c = c->outer) {
    const SourceFile *f = source_locate(ctx, span.begin).file;
    if (f && !f->is_embedded) break;
    span = c->span;
  }
  if (site) *site = c;
  return span;
}
Span op_user_span(const Context *ctx, const Op *op) { return op_user_place(ctx, op, NULL); }

bool op_only_computes(const Op *op) {
  if (!op_is(op, TRAIT_PURE | TRAIT_TERMINATOR) && op->opcode != OP_IF && op->opcode != OP_MAP) return false;
  for (uint32_t i = 0; i < op->num_blocks; i++)
    EACH_OP(in, op->blocks[i])
      if (!op_only_computes(in)) return false;
  return true;
}

void module_walk(Module *m, OpVisitor visit, void *user) {
  EACH_FUNC(f, m) block_walk(f->body, visit, user);
}

static void clear_block(Block *b) {
  for (uint32_t i = 0; i < b->num_args; i++) b->args[i]->aux = NULL;
  EACH_OP(op, b) {
    op->mark = 0;
    for (uint32_t i = 0; i < op->num_results; i++) op->results[i].aux = NULL;
    for (uint32_t i = 0; i < op->num_blocks; i++) clear_block(op->blocks[i]);
  }
}

void module_clear_scratch(Module *m) {
  EACH_FUNC(f, m) clear_block(f->body);
}

static void walk_inside_out(Block *b, OpVisitor visit, void *user) {
  for (Op *op = b->first, *next; op; op = next) {
    next = op->next;
    for (uint32_t i = 0; i < op->num_blocks; i++) walk_inside_out(op->blocks[i], visit, user);
    visit(op, user);
  }
}

void module_walk_inside_out(Module *m, OpVisitor visit, void *user) {
  EACH_FUNC(f, m) walk_inside_out(f->body, visit, user);
}
