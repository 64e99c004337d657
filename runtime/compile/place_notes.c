// What the simulator's reports should know of the source, from the front end's IR: passes give accesses other masks.
#include <string.h>

#include "ir/num.h"
#include "ir/outside_terms.h"
#include "runtime/compile/steps.h"

typedef struct { tile_program *program; VEC(PlaceNote) notes; } Notes;

static bool locate(Context *ctx, Op *op, PlaceNote *note) {
  const Span span = op_user_span(ctx, op);
  const LineCol at = source_locate(ctx, span.begin);
  if (!at.file || at.file->is_embedded) return false;
  note->file = at.file->path;
  note->line = at.line;
  note->col = at.col;
  note->size = span.end > span.begin ? span.end - span.begin : 1;
  return true;
}

// The nearest hint that the pointer was computed from, within one file.
static void find_promise(Context *ctx, const Value *pointer, PlaceNote *note) {
  enum { MAX_OPS = 32 };
  const Value *next[MAX_OPS] = {pointer};
  for (uint32_t i = 0, count = 1; i < count; i++) {
    Op *def = next[i]->def;
    PlaceNote hint;
    if (!def || !op_is(def, TRAIT_PURE)) continue;
    if (def->opcode == OP_HINT && locate(ctx, def, &hint) && hint.file == note->file) {
      note->promise.line = hint.line;
      note->promise.col = hint.col;
      note->promise.size = hint.size;
      return;
    }
    for (uint32_t k = 0; k < def->num_operands && count < MAX_OPS; k++)
      if (op_operand(def, k)) next[count++] = op_operand(def, k);
  }
}

static void find_update(Context *ctx, const Op *store, PlaceNote *note) {
  PlaceNote at;
  Op *load = (Op *)outside_update(store, &note->update.atomic);
  if (!load || !locate(ctx, load, &at) || at.file != note->file) return;
  note->update.line = at.line;
  note->update.col = at.col;
}

// The variable that has the shared memory which the op accesses.
static const char *buffer_of(const Op *op) {
  const Value *v = NULL;
  for (uint32_t i = 0; i < op->num_operands && !v; i++)
    if (op_operand(op, i) && op_operand(op, i)->type->kind == TYPE_BUFFER) v = op_operand(op, i);
  while (v && !v->name && v->def && v->def->num_operands) v = op_operand(v->def, 0);
  return v && v->type->kind == TYPE_BUFFER ? v->name : NULL;
}

static bool asserts_all(Context *ctx, const Op *op) {
  enum { LONGEST_CALL = 400 };
  const char *text = source_text(ctx, &ctx->arena, op_user_span(ctx, op), LONGEST_CALL);
  const char *call = text ? strstr(text, "device_assert(") : NULL;
  return call && !strstr(call, "mask") && type_is_tensor(op_operand(op, 0)->type);
}

static uint32_t elements_of(const Op *op) {
  const Type *t = outside_pointer(op)->type;
  return t->kind == TYPE_DESC ? 0 : type_is_tensor(t) ? (uint32_t)type_numel(t) : 1;
}

// The format of the numbers of a load or a store, and which warnings about them are off.
static void describe_numbers(const Context *ctx, const Op *op, PlaceNote *note) {
  static const uint8_t formats[NUM_SCALARS] = {[SC_F16] = NUM_F16 + 1, [SC_BF16] = NUM_BF16 + 1, [SC_F32] = NUM_F32 + 1,
                                               [SC_F64] = NUM_F64 + 1};
  static const Warning warnings[] = {WARN_NAN_STORE, WARN_TO_INFINITY};
  const Type *elem = type_elem(outside_pointer(op)->type);
  if (elem->kind == TYPE_PTR) elem = elem->elem;
  if (elem->kind == TYPE_SCALAR) note->format = formats[elem->scalar];
  for (size_t i = 0; i < countof(warnings); i++)
    if (!(ctx->warnings.on >> warnings[i] & 1) || warning_is_ignored(ctx, warnings[i], op_user_span(ctx, op)))
      note->quiet |= (uint8_t)(1u << i);
}

static const OutsideTerms *copy_of_terms(Context *ctx, const Op *op) {
  OutsideTerms terms;
  if (!outside_find_terms(ctx, op, &terms)) return NULL;
  OutsideTerms *copy = arena_new(&ctx->arena, OutsideTerms);
  *copy = terms;
  return copy;
}

static void add_note(Op *op, void *user) {
  Notes *n = user;
  Context *ctx = &n->program->ctx;
  PlaceNote note = {0};
  const bool is_access = outside_can_be(op, &note.elem_bytes);
  note.may_not_wrap = compile_may_not_wrap(ctx, op);
  if (op_is(op, TRAIT_PURE) && !is_access && op->opcode != OP_ASSERT && !note.may_not_wrap) return;
  if (!locate(ctx, op, &note)) return;
  note.is_gluon = n->program->module->as_written;
  if (note.is_gluon) note.buffer = buffer_of(op);
  if (is_access) {
    note.kind = outside_kind(op);
    note.is_unmasked = outside_is_unmasked(op);
    note.has_rows = type_is_tensor(outside_pointer(op)->type) && outside_pointer(op)->type->rank > 1;
    const OutsideWays ways = outside_ways_out(ctx, op);
    note.way_out = ways.past;
    note.way_out_before = ways.before;
    note.bytes_from = ways.bytes_from;
    memcpy(note.by_program, ways.by_program, sizeof note.by_program);
    note.moved = ways.moved;
    note.is_one = ways.is_one;
    note.is_masked = ways.is_masked;
    note.has_free = ways.has_free;
    note.elems = elements_of(op);
    note.terms = copy_of_terms(ctx, op);
    describe_numbers(ctx, op, &note);
    note.exchange = outside_exchange(ctx, op);
    find_update(ctx, op, &note);
    find_promise(ctx, outside_pointer(op), &note);
  }
  int64_t step;
  note.has_step = op->opcode == OP_FOR && !value_constant_int(op_operand(op, 2), &step);
  if (op->opcode == OP_ASSERT) note.asserts_all = asserts_all(ctx, op);
  vec_push(&ctx->arena, &n->notes, note);
}

void compile_note_places(tile_program *p) {
  Notes n = {.program = p};
  module_walk(p->module, add_note, &n);
  p->notes = n.notes.data;
  p->num_notes = n.notes.count;
}
