// A program's machine code, by whichever assembler there is, and what it takes of an SM.
#include <string.h>

#include "ir/roles.h"
#include "runtime/compile/compile.h"

tile_status machine_code_assemble(const tile_program *p, const char *ptx_options, Arena *a, MachineCode *out,
                                  tile_error **error) {
  const char *ptx = p->outputs[log2_u32(TILE_EMIT_PTX)].data;
  Assembler *assembler = NULL;
  *out = (MachineCode){0};
  if (!ptx_options) RETURN_IF_FAILED(assembler_open(&assembler, error));
  tile_status status = TILE_OK;
  if (assembler) {
    status = assembler_run(assembler, a, ptx, p->target->name, out, error);
    out->made_by = assembler_version(assembler, a);
  } else if (ptx_options) {
    status = ptxas_assemble(a, ptx, p->target->name, ptx_options, out, error);
    out->made_by = ptxas_version(a);
  }
  assembler_close(assembler);
  return status;
}

tile_status machine_code_make(const tile_program *p, Arena *a, MachineCode *out, tile_error **error) {
  const uint32_t cubin = log2_u32(TILE_EMIT_CUBIN), ptx = log2_u32(TILE_EMIT_PTX);
  *out = (MachineCode){0};
  if (!p->outputs[ptx].data) return error_set(error, TILE_ERROR_USAGE, "the program was compiled without PTX");
  if (p->outputs[cubin].data) {
    *out = (MachineCode){p->cubin_made_by, p->outputs[cubin].data, p->outputs[cubin].size, ""};   // told already
    return TILE_OK;
  }
  return machine_code_assemble(p, NULL, a, out, error);
}

void machine_code_resources(const tile_program *p, const MachineCode *code, const char *name, tile_resources *out) {
  const Module *m = p->module;
  CodeUse use;
  const bool known = code->cubin && resources_of_cubin(code->cubin, code->size, name, &use);
  resources_fill(out, m->target, module_total_warps(m) * WARP_SIZE, m->shared_bytes, known ? &use : NULL,
                 resources_declared_local(p->outputs[log2_u32(TILE_EMIT_PTX)].data));
}

typedef struct { const tile_program *program; const char *name; tile_resources *out; } Question;

static tile_status find_resources(void *user, Arena *scratch, tile_error **error) {
  const Question *q = user;
  MachineCode code;
  RETURN_IF_FAILED(machine_code_make(q->program, scratch, &code, error));
  machine_code_resources(q->program, &code, q->name, q->out);
  return TILE_OK;
}

tile_status tile_program_resources(const tile_program *p, const char *name, tile_resources *resources,
                                   tile_error **error) {
  tile_resources all = TILE_RESOURCES_INIT;
  RETURN_IF_NULL(p, "program");
  RETURN_IF_NULL(resources, "resources");
  RETURN_IF_FAILED(CHECK_OUT(tile_resources, resources, error));
  const Func *f = program_func(p, name, error);
  if (!f) return TILE_ERROR_USAGE;
  Question q = {p, f->name, &all};
  RETURN_IF_FAILED(scratch_run((ArenaMemory){0}, "asking for resources", find_resources, &q, error));
  given_fill_out(resources, &all, sizeof all);
  return TILE_OK;
}
