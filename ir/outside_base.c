// What moves the whole block of an access: the terms of its offset that grow with program_id, and loops.
#include <string.h>

#include "ir/ir.h"
#include "ir/outside.h"

enum { MAX_VALUES = 64, LONGEST = 60 };

typedef struct {
  Context *ctx;
  const Value *terms[MAX_VALUES];   // of the sum that is the address, without its first pointer
  uint32_t num_terms;
  const Value *carried;             // what a loop carries into the sum; NULL: nothing, or it is not known
} Sum;

static bool keeps_numbers(const Op *op) {
  return op->opcode == OP_SPLAT || op->opcode == OP_BROADCAST || op->opcode == OP_EXPAND_DIMS ||
         op->opcode == OP_HINT || op->opcode == OP_EXTSI || (op_is(op, TRAIT_MOVES) && op->num_operands == 1);
}

const Value *outside_unspread(const Value *v) {
  while (v->def && keeps_numbers(v->def)) v = op_operand(v->def, 0);
  return v;
}

static void collect_terms(Sum *s, const Value *v) {
  v = outside_unspread(v);
  if (v->def && (v->def->opcode == OP_ADDPTR || v->def->opcode == OP_ADDI)) {
    collect_terms(s, op_operand(v->def, 0));
    collect_terms(s, op_operand(v->def, 1));
    return;
  }
  const Op *loop = v->block ? v->block->parent : NULL;
  if (loop && (loop->opcode == OP_FOR || loop->opcode == OP_WHILE) && !s->carried) s->carried = v;
  if (type_is_int(type_elem(v->type)) && s->num_terms < MAX_VALUES) s->terms[s->num_terms++] = v;
}

// The axes of program_id that v is computed from, not through memory, as a set of bits.
static uint32_t axes_of(const Value *v, uint32_t depth) {
  const Op *def = v->def;
  if (!def || !depth || !op_is(def, TRAIT_PURE)) return 0;
  if (def->opcode == OP_PROGRAM_ID) return 1u << op_int(def, ATTR_AXIS, 0);
  uint32_t axes = 0;
  for (uint32_t i = 0; i < def->num_operands; i++)
    if (op_operand(def, i)) axes |= axes_of(op_operand(def, i), depth - 1);
  return axes;
}

// The text of the op in the user's file, if it is short and of one line; or NULL.
static const char *text_of(Context *ctx, const Op *op) {
  const Span span = op_user_span(ctx, op);
  const LineCol at = source_locate(ctx, span.begin);
  if (!at.file || at.file->is_embedded || span.end <= span.begin) return NULL;
  const char *text = source_text(ctx, &ctx->arena, span, LONGEST);
  return text && *text && !strpbrk(text, "\n`#") && !strstr(text, "...") ? text : NULL;
}

// A product says more than the name that it has; another value is known best by its name.
static const char *term_text(Context *ctx, const Value *v) {
  const char *text = v->def && (!v->name || v->def->opcode == OP_MULI) ? text_of(ctx, v->def) : NULL;
  return text ? text : v->name;
}

uint32_t outside_line(Context *ctx, const Op *op) {
  const LineCol at = source_locate(ctx, op_user_span(ctx, op).begin);
  return at.file && !at.file->is_embedded ? at.line : 0;
}

// What the loop does with the value that it carries: "line 24 (`p += BK`)"; NULL if it is not known.
static const char *step_of(Context *ctx, const Value *carried) {
  const Op *loop = carried->block->parent, *yield = carried->block->last;
  const bool counts = loop->opcode == OP_FOR;   // its first argument is the loop's variable
  if (counts && !carried->index) {
    int64_t step;
    const char *must = value_constant_int(op_operand(loop, 2), &step) ? "" : " (whose step must be positive)";
    return carried->name && outside_line(ctx, loop)
               ? arena_printf(&ctx->arena, "`%s` of the loop of line %u%s", carried->name, outside_line(ctx, loop), must)
               : NULL;
  }
  if (!yield || yield->opcode != OP_YIELD || carried->index - counts >= yield->num_operands) return NULL;
  const Op *next = op_operand(yield, carried->index - counts)->def;
  const bool is_sum = next && (next->opcode == OP_ADDPTR || next->opcode == OP_ADDI || next->opcode == OP_SUBI);
  const uint32_t line = is_sum ? outside_line(ctx, next) : 0;
  const char *text = line ? text_of(ctx, next) : NULL;
  return !line ? NULL : text ? arena_printf(&ctx->arena, "line %u (`%s`)", line, text)
                             : arena_printf(&ctx->arena, "line %u", line);
}

void outside_find_base(Context *ctx, const Value *pointer, const Value *mask, OutsideWays *ways) {
  enum { DEPTH = 8 };
  Sum s = {.ctx = ctx};
  collect_terms(&s, pointer);
  const uint32_t bounded = mask ? axes_of(mask, DEPTH) : 0;
  for (uint32_t i = 0; i < s.num_terms; i++) {
    const uint32_t axes = axes_of(s.terms[i], DEPTH) & ~bounded;
    const char *text = axes ? term_text(ctx, s.terms[i]) : NULL;
    for (uint32_t k = 0; k < 3 && text; k++)
      if (axes >> k & 1 && !ways->by_program[k]) ways->by_program[k] = text;
  }
  ways->moved = s.carried ? step_of(ctx, s.carried) : NULL;
  ways->is_one = !type_is_tensor(pointer->type);
  ways->is_masked = mask != NULL;
}

// The last axis on which a term depends and along which this program is not the first; -1: there is none.
static int axis_that_moves(const Outside *o, const OutsideWays *ways) {
  for (int k = 2; k >= 0; k--)
    if (o->program[k] && ways->by_program[k]) return k;
  return -1;
}

const char *outside_base_way_out(Arena *a, const Outside *o, const OutsideWays *ways) {
  const int axis = axis_that_moves(o, ways);
  const bool is_past = o->address >= o->begin, is_one = ways->is_one;
  const char *noun = outside_noun(o->kind);
  if (o->is_whole && o->was_inside && ways->moved)
    return arena_printf(a, "%searlier iterations of the loop were inside, and %s moves this %s in each: leave that out "
                        "if each iteration takes the same elements, otherwise let the loop end earlier",
                        is_one ? "" : "all of the block is outside, so that a mask would leave nothing of it: ",
                        ways->moved, noun);
  if (axis < 0 || !is_past) return NULL;
  const char *text = ways->by_program[axis], *buffer = o->buffer ? o->buffer : "the buffer";
  const uint32_t id = o->program[axis];
  if (is_one && !ways->is_masked && o->elem_bytes && o->size == o->elem_bytes)
    return arena_printf(a, "%s has a single element, and `%s` grows with program_id(%d), which is %u here: leave it out "
                        "of the offset, or pass an array with an element for each program", buffer, text, axis, id);
  if (is_one && !ways->is_masked)
    return arena_printf(a, "`%s` grows with program_id(%d), which is %u here: compare it with the elements that there "
                        "are, or do this %s under an `if`", text, axis, id, noun);
  if (o->is_whole && !is_one)
    return arena_printf(a, "all of the block is outside, so that a mask would leave nothing of it: `%s` grows with "
                        "program_id(%d), which is %u here; take an index or a stride that stays inside %s, or launch "
                        "fewer programs along axis %d", text, axis, id, buffer, axis);
  if (ways->is_masked && !ways->has_free)
    return arena_printf(a, "the mask of this %s lets it through, and does not bound `%s`, which grows with "
                        "program_id(%d), %u here: compare that index and its stride with what %s has, then the mask",
                        noun, text, axis, id, buffer);
  return NULL;
}
