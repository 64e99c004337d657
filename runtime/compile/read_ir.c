// Modules that come as text: a .tir file as the input, and --ir-override's file, which replaces the front end's module.
#include "runtime/compile/steps.h"

#include <string.h>

static Module *parse_verified(Context *ctx, const char *path, const char *text, size_t size) {
  const SourceFile *file = source_add(ctx, path, text, size);
  Module *m = file ? ir_parse(ctx, file) : NULL;
  return m && ir_verify(m) ? m : NULL;
}

bool compile_read_ir(const CompileJob *job, tile_program *p) {
  if (job->emit & TILE_EMIT_AST)
    return diag_error(&p->ctx, (Span){0, 0}, "%s is IR; only a source file has a syntax tree", job->path);
  if (!(p->module = parse_verified(&p->ctx, job->path, job->text, job->size))) return false;
  if (job->options->arch) p->module->target = p->target;
  p->target = p->module->target;
  return true;
}

// The launcher binds arguments by the source's kernel: the kernel in the file must have the same parameters and after
// them only those that passes add.
static bool takes_the_same(const Func *source, const Func *given) {
  if (strcmp(source->name, given->name) || given->num_params < source->num_params) return false;
  for (uint32_t i = 0; i < given->num_params; i++) {
    const FuncParam *p = &given->params[i];
    if (i >= source->num_params
            ? p->kind != PARAM_AUTO_TENSORMAP && p->kind != PARAM_SCRATCH
            : strcmp(p->name, source->params[i].name) || given->body->args[i]->type != source->body->args[i]->type)
      return false;
  }
  return true;
}

bool compile_override_ir(const CompileJob *job, tile_program *p) {
  const char *path = job->options->ir_override;
  if (!path) return true;
  Context *ctx = &p->ctx;
  Module *m = parse_verified(ctx, path, job->override_text, job->override_size);
  if (!m) return false;
  const Func *made = p->module->funcs, *given = m->funcs;
  if (!given || given->next || made->next || !takes_the_same(made, given)) {
    diag_error(ctx, (Span){0, 0},
               "--ir-override: %s must hold kernel %s and nothing else, with the parameters that its source gives it",
               path, made->name);
    diag_note(ctx, (Span){0, 0},
              "start from what --emit=tile, laid-out or allocated prints of it with the same options");
    return false;
  }
  m->target = p->target;
  p->launch.num_warps = m->num_warps;
  p->launch.num_stages = m->num_stages;
  p->module = m;
  return true;
}
