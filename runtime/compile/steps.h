// The steps of one compilation, for this room only: compile.c calls them. Each returns false after diagnostics.
#ifndef TILE_RUNTIME_COMPILE_STEPS_H
#define TILE_RUNTIME_COMPILE_STEPS_H

#include "runtime/compile/compile.h"

static inline void compile_set_output(tile_program *p, unsigned emit, const char *data, size_t size) {
  p->outputs[log2_u32(emit)].data = data;
  p->outputs[log2_u32(emit)].size = size;
}

// The module's text as that output.
static inline void compile_emit_module(tile_program *p, unsigned emit) {
  Buf b = buf_make(&p->ctx.arena);
  ir_print_module(&b, p->module);
  compile_set_output(p, emit, buf_str(&b), b.size);
}

// read_ir.c: parses the job's text as the program's module; puts --ir-override's module in place of the front end's.
bool compile_read_ir(const CompileJob *job, tile_program *program);
bool compile_override_ir(const CompileJob *job, tile_program *program);
// front_end.c: config is an index into the kernel's autotune configurations.
bool compile_run_front_end(const CompileJob *job, tile_program *program, uint32_t config);
// place_notes.c: fills the program's notes.
void compile_note_places(tile_program *program);
// wrap_notes.c: whether the op is a product or a sum of int32 that is widened afterwards, and -Woverflow is on there.
bool compile_may_not_wrap(Context *ctx, const Op *op);
// back_end.c: passes and code generation, as far as job->emit asks for them.
bool compile_run_back_end(const CompileJob *job, tile_program *program);

#endif
