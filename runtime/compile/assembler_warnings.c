// Warnings about what an assembler did not do as the kernel says it.
#include "runtime/compile/compile.h"
#include "runtime/rt/device.h"

static const struct { Warning warning; Opcode opcode; } kinds[NUM_ASSEMBLER_NOTES] = {
    [NOTE_REGISTERS] = {WARN_IGNORED_REGISTERS, OP_ROLES},
    [NOTE_SERIAL] = {WARN_SERIAL_PRODUCTS, OP_WGMMA},
    [NOTE_WAIT] = {WARN_SERIAL_PRODUCTS, OP_WGMMA}};

typedef struct { Opcode opcode; const Op *found; } Search;

static void look(Op *op, void *user) {
  Search *s = user;
  if (op->opcode == s->opcode && !s->found) s->found = op;
}

// The first op in the source's order that the note is about: in the function that it names, or in any.
static Span place_of(const tile_program *p, const AssemblerNote *note) {
  Search s = {kinds[note->kind].opcode, NULL};
  EACH_FUNC(f, p->module) {
    const bool is_meant = !note->function_size || (strlen(f->name) == (size_t)note->function_size &&
                                                   !memcmp(f->name, note->function, strlen(f->name)));
    if (is_meant) block_walk(f->body, look, &s);
    if (s.found) return op_user_span(&p->ctx, s.found);
  }
  return p->module->funcs->span;
}

void assembler_warn(tile_program *p, const MachineCode *code) {
  const char *log = code->said;
  AssemblerNote note;
  while (log && assembler_note_next(&log, &note)) {
    const AssemblerNoteInfo *i = &assembler_note_info[note.kind];
    if (!diag_warning(&p->ctx, kinds[note.kind].warning, place_of(p, &note), "%s", i->text)) continue;
    diag_note(&p->ctx, (Span){0, 0}, "its words: %.*s", note.words_size, note.words);
    diag_note(&p->ctx, (Span){0, 0}, "%s", i->way_out);
  }
  diag_sort_warnings(&p->ctx);
}
