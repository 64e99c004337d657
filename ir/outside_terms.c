// The terms of an access's offset, found in the IR of the tile stage.
#include "ir/outside_terms.h"

#include <string.h>

#include "ir/ir.h"
#include "ir/loop.h"

enum { MAX_DEPTH = 16 };

typedef struct {
  Context *ctx;
  OutsideTerms *out;
  bool splits_names;           // whether a sum that has a name is split, too
  bool is_lost;                // a part of the sum is not known
} Finder;

// ---- a term as nodes

static bool put(OutsideTerms *t, OutsideNode node) {
  if (t->num_nodes == OUTSIDE_NODES) return false;
  t->nodes[t->num_nodes++] = node;
  return true;
}

static OutsideNodeKind kind_of(Opcode opcode) {
  switch (opcode) {
  case OP_ADDI: return OFFSET_ADD;
  case OP_SUBI: return OFFSET_SUB;
  case OP_MULI: return OFFSET_MUL;
  case OP_DIVSI: return OFFSET_DIV;
  case OP_REMSI: return OFFSET_REM;
  case OP_MINSI: return OFFSET_MIN;
  case OP_MAXSI: return OFFSET_MAX;
  case OP_EXTUI: return OFFSET_UNSIGNED;
  case OP_TRUNCI: return OFFSET_WRAP;
  default: return OFFSET_ANY;
  }
}

static bool put_value(Context *ctx, OutsideTerms *t, const Value *v, uint32_t depth);

// The variable of a `for`: its first value, and as many steps as the loop has run.
static bool put_counter(Context *ctx, OutsideTerms *t, const Op *loop, uint8_t bits, uint32_t depth) {
  int64_t first = 0, step = 0;
  const bool is_zero = value_constant_int(op_operand(loop, 0), &first) && !first;
  if (!is_zero && !put_value(ctx, t, op_operand(loop, 0), depth)) return false;
  if (!put(t, (OutsideNode){.kind = OFFSET_COUNT, .value = outside_line(ctx, loop)}) ||
      !put_value(ctx, t, op_operand(loop, 2), depth) || !put(t, (OutsideNode){.kind = OFFSET_MUL, .bits = bits}) ||
      (!is_zero && !put(t, (OutsideNode){.kind = OFFSET_ADD, .bits = bits})))
    return false;
  if (!value_constant_int(op_operand(loop, 2), &step) || step <= 0) return true;
  return put_value(ctx, t, op_operand(loop, 1), depth) && put(t, (OutsideNode){.kind = OFFSET_BELOW, .bits = bits});
}

// The index of the parameter in the PTX, where a descriptor takes several parameters.
static uint32_t number_in_ptx(const Func *f, uint32_t index) {
  uint32_t number = 0;
  for (uint32_t i = 0; i < index; i++) {
    const Type *t = f->body->args[i]->type;
    number += t->kind == TYPE_DESC ? 1 + 2 * (uint32_t)t->rank : 1;
  }
  return number;
}

static bool put_argument(Context *ctx, OutsideTerms *t, const Value *v, uint8_t bits, uint32_t depth) {
  const Op *loop = v->block->parent;
  if (!loop)
    return put(t, (OutsideNode){.kind = OFFSET_PARAM, .bits = bits, .value = v->index,
                                .count = number_in_ptx(v->block->func, v->index)});
  if (loop->opcode == OP_FOR && !v->index) return put_counter(ctx, t, loop, bits, depth);
  return put(t, (OutsideNode){.kind = OFFSET_ANY, .bits = bits});
}

// The offset of a pointer from a parameter, which *base is.
static bool put_offset(Context *ctx, OutsideTerms *t, const Value *pointer, const Value **base, uint32_t depth) {
  *base = pointer;
  if (!pointer->def) return !pointer->block->parent && put(t, (OutsideNode){.kind = OFFSET_CONSTANT, .bits = 64});
  return depth && pointer->def->opcode == OP_ADDPTR &&
         put_offset(ctx, t, op_operand(pointer->def, 0), base, depth - 1) &&
         put_value(ctx, t, op_operand(pointer->def, 1), depth - 1) &&
         put(t, (OutsideNode){.kind = OFFSET_ADD, .bits = 64});
}

static bool put_load(Context *ctx, OutsideTerms *t, const Op *load, uint8_t bits, uint32_t depth) {
  const Value *base;
  const uint32_t before = t->num_nodes;
  if (put_offset(ctx, t, outside_pointer(load), &base, depth))
    return put(t, (OutsideNode){.kind = OFFSET_LOAD, .bits = bits, .value = base->index,
                                .count = number_in_ptx(base->block->func, base->index)});
  t->num_nodes = before;
  return put(t, (OutsideNode){.kind = OFFSET_ANY, .bits = bits});
}

static bool put_value(Context *ctx, OutsideTerms *t, const Value *v, uint32_t depth) {
  v = outside_unspread(v);
  if (!depth-- || !type_is_int(v->type)) return false;
  const uint8_t bits = (uint8_t)type_elem_bits(v->type);
  const Op *def = v->def;
  int64_t x;
  if (value_constant_int(v, &x)) return put(t, (OutsideNode){.kind = OFFSET_CONSTANT, .bits = bits, .value = x});
  if (!def) return put_argument(ctx, t, v, bits, depth);
  if (def->opcode == OP_PROGRAM_ID || def->opcode == OP_NUM_PROGRAMS)
    return put(t, (OutsideNode){.kind = def->opcode == OP_PROGRAM_ID ? OFFSET_PROGRAM : OFFSET_PROGRAMS, .bits = bits,
                                .value = op_int(def, ATTR_AXIS, 0)});
  if (def->opcode == OP_RANGE)
    return put(t, (OutsideNode){.kind = OFFSET_RANGE, .bits = bits, .value = op_int(def, ATTR_START, 0),
                                .count = (uint32_t)type_numel(v->type)});
  if (def->opcode == OP_LOAD && !type_is_tensor(v->type) && !op_named(def, OPERAND_MASK))
    return put_load(ctx, t, def, bits, depth);
  const OutsideNodeKind kind = kind_of(def->opcode);
  if (kind == OFFSET_ANY) return put(t, (OutsideNode){.kind = OFFSET_ANY, .bits = bits});
  if (kind == OFFSET_UNSIGNED || kind == OFFSET_WRAP) {
    const uint32_t from = kind == OFFSET_WRAP ? bits : type_elem_bits(op_operand(def, 0)->type);
    return put_value(ctx, t, op_operand(def, 0), depth) && put(t, (OutsideNode){.kind = kind, .bits = (uint8_t)from});
  }
  return put_value(ctx, t, op_operand(def, 0), depth) && put_value(ctx, t, op_operand(def, 1), depth) &&
         put(t, (OutsideNode){.kind = kind, .bits = bits});
}

// ---- the text of a term

static bool take_text(OutsideTerm *t, const char *text) {
  if (!text || !*text || strlen(text) >= sizeof t->text || strpbrk(text, "\n`#")) return false;
  memcpy(t->text, text, strlen(text) + 1);
  return true;
}

static bool take_source(Context *ctx, OutsideTerm *t, const Op *op) {
  return outside_line(ctx, op) && take_text(t, source_text(ctx, &ctx->arena, op_user_span(ctx, op), OUTSIDE_TEXT - 1));
}

// A product, a quotient and a remainder say more than the name that they have.
static bool describe(Context *ctx, OutsideTerm *t, const Value *v) {
  const Op *def = v->def, *loop = v->block ? v->block->parent : NULL;
  if (!def) t->line = loop ? outside_line(ctx, loop) : 0;
  if (!def && !loop) return take_text(t, v->block->func->params[v->index].name);
  if (!def) return take_text(t, v->name);
  t->line = outside_line(ctx, def);
  const bool says_more = def->opcode == OP_MULI || def->opcode == OP_DIVSI || def->opcode == OP_REMSI;
  if ((says_more || !v->name) && take_source(ctx, t, def)) return true;
  return take_text(t, v->name);
}

// ---- the sum

static OutsideTerm *add_term(Finder *f, bool is_subtracted) {
  f->is_lost |= f->out->count == OUTSIDE_TERMS;
  if (f->is_lost) return NULL;
  OutsideTerm *t = &f->out->terms[f->out->count++];
  *t = (OutsideTerm){.is_subtracted = is_subtracted, .first = f->out->num_nodes};
  return t;
}

static void collect_term(Finder *f, const Value *v, bool is_subtracted) {
  int64_t x;
  if (value_constant_int(v, &x)) {
    f->out->constant += is_subtracted ? -x : x;
    return;
  }
  OutsideTerm *t = add_term(f, is_subtracted);
  if (!t) return;
  f->is_lost |= !describe(f->ctx, t, v);
  if (!put_value(f->ctx, f->out, v, MAX_DEPTH)) {
    f->out->num_nodes = t->first;
    f->is_lost |= !put(f->out, (OutsideNode){.kind = OFFSET_ANY, .bits = (uint8_t)type_elem_bits(v->type)});
  }
  t->num_nodes = f->out->num_nodes - t->first;
}

// A value that a `while` hands from its condition to its body.
static const Value *before_condition(const Value *v) {
  const Op *loop = v->block ? v->block->parent : NULL;
  if (!loop || loop->opcode != OP_WHILE || v->block != loop->blocks[1]) return v;
  return op_operand(loop->blocks[0]->last, 1 + v->index);
}

static void collect(Finder *f, const Value *v, bool is_subtracted, uint32_t depth);

// What a loop adds to the carried value in each iteration: the sums on the way from `v`, its next value, to itself.
static void collect_steps(Finder *f, const Value *carried, const Value *v, const Op *loop) {
  for (uint32_t steps = 0; steps < MAX_DEPTH; steps++) {
    v = before_condition(outside_unspread(v));
    if (v == carried) return;
    const Op *add = v->def;
    if (!add || (add->opcode != OP_ADDPTR && add->opcode != OP_ADDI)) break;
    OutsideTerm *t = add_term(f, false);
    if (!t) return;
    t->line = outside_line(f->ctx, add);
    t->is_repeated = true;
    const bool is_known = take_source(f->ctx, t, add) &&
                          put(f->out, (OutsideNode){.kind = OFFSET_COUNT, .value = outside_line(f->ctx, loop)}) &&
                          put_value(f->ctx, f->out, op_operand(add, 1), MAX_DEPTH) &&
                          put(f->out, (OutsideNode){.kind = OFFSET_MUL, .bits = 64});
    t->num_nodes = f->out->num_nodes - t->first;
    f->is_lost |= !is_known;
    v = op_operand(add, 0);
  }
  f->is_lost = true;
}

// True if v is what a loop carries on, and has been collected.
static bool collect_carried(Finder *f, const Value *v, bool is_subtracted, uint32_t depth) {
  const Value *carried = before_condition(v);
  const Op *loop = carried->block ? carried->block->parent : NULL;
  if (!loop || is_subtracted || (loop->opcode != OP_FOR && loop->opcode != OP_WHILE)) return false;
  const bool is_for = loop->opcode == OP_FOR;
  if (is_for && !carried->index) return false;
  const uint32_t i = is_for ? carried->index - FOR_CARRIED : carried->index;
  const Op *yield = loop->blocks[is_for ? 0 : 1]->last;
  const Finder before = *f;
  OutsideTerms *all = arena_new(&f->ctx->arena, OutsideTerms);
  *all = *f->out;
  collect(f, op_operand(loop, is_for ? FOR_INITS + i : i), false, depth);
  const bool has_next = yield && yield->opcode == OP_YIELD && i < yield->num_operands;
  if (has_next) collect_steps(f, carried, op_operand(yield, i), loop);
  f->is_lost |= !has_next;
  if (!f->is_lost || type_is_ptr(v->type)) return true;
  *f = before;
  *f->out = *all;
  return false;
}

static void collect(Finder *f, const Value *v, bool is_subtracted, uint32_t depth) {
  v = outside_unspread(v);
  const Op *def = v->def;
  if (f->is_lost) return;
  if (!depth--) {
    f->is_lost = true;
    return;
  }
  const bool may_split = (f->splits_names || !v->name) && type_elem_bits(v->type) >= 32;   // narrower ones may have wrapped around
  const bool is_sum = def && (def->opcode == OP_ADDI || def->opcode == OP_SUBI) && may_split;
  if (is_sum || (def && def->opcode == OP_ADDPTR)) {
    collect(f, op_operand(def, 0), is_subtracted, depth);
    collect(f, op_operand(def, 1), is_subtracted != (def->opcode == OP_SUBI), depth);
    return;
  }
  if (!def && collect_carried(f, v, is_subtracted, depth)) return;
  if (type_is_int(v->type)) {
    collect_term(f, v, is_subtracted);
    return;
  }
  const char *name = v->block && !v->block->parent ? v->block->func->params[v->index].name : NULL;
  f->is_lost |= !name || strlen(name) >= sizeof f->out->base;
  if (!f->is_lost) memcpy(f->out->base, name, strlen(name) + 1);
}

bool outside_find_terms(Context *ctx, const Op *op, OutsideTerms *out) {
  const Value *pointer = outside_pointer(op);
  if (!type_is_ptr(pointer->type) || op_int(op, ATTR_UNCHECKED, -1) >= 0) return false;   // that is of a block pointer
  Finder f = {.ctx = ctx, .out = out};
  for (uint32_t attempt = 0; attempt < 2; attempt++) {
    *out = (OutsideTerms){.is_tile = type_is_tensor(pointer->type) && pointer->type->rank > 1};
    f.splits_names = attempt != 0;
    f.is_lost = false;
    collect(&f, pointer, false, MAX_DEPTH);
    if (out->count > 1 || f.is_lost) break;
  }
  return !f.is_lost && out->count && *out->base;
}
