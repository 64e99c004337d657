// What the simulator's reports should know of the source, from the front end's IR: passes give accesses other masks.
#include "ir/outside.h"
#include "runtime/compile/steps.h"

typedef struct { tile_program *program; VEC(PlaceNote) notes; } Notes;

static void add_note(Op *op, void *user) {
  Notes *n = user;
  Context *ctx = &n->program->ctx;
  PlaceNote note = {0};
  const bool is_access = outside_can_be(op, &note.elem_bytes);
  if (!is_access && op->opcode != OP_ASSERT) return;
  const Span span = op_user_span(ctx, op);
  const LineCol at = source_locate(ctx, span.begin);
  if (!at.file || at.file->is_embedded) return;
  note.file = at.file->path;
  note.line = at.line;
  note.col = at.col;
  note.size = span.end > span.begin ? span.end - span.begin : 1;
  if (is_access) note.way_out = outside_way_out(&ctx->arena, op);
  vec_push(&ctx->arena, &n->notes, note);
}

void compile_note_places(tile_program *p) {
  Notes n = {.program = p};
  module_walk(p->module, add_note, &n);
  p->notes = n.notes.data;
  p->num_notes = n.notes.count;
}
