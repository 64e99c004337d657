// The second half of a compilation: runs the passes and the code generator on the program's module.
#include "runtime/compile/steps.h"

#include <string.h>

#include "codegen/codegen.h"
#include "passes/pass.h"
#include "runtime/compile/layout_svg.h"

#define EMIT_OF_PTX (TILE_EMIT_PTX | TILE_EMIT_CUBIN | TILE_EMIT_HEADER | TILE_EMIT_REPORT | TILE_EMIT_SASS)
#define EMIT_CODE (TILE_EMIT_LLVM | TILE_EMIT_METADATA | EMIT_OF_PTX)
#define EMIT_AFTER_LAID_OUT (TILE_EMIT_ALLOCATED | TILE_EMIT_LAYOUT_SVG | EMIT_CODE)

// Keeps the text of the last IR of stage LAID_OUT: if later outputs are wanted too, the passes do not stop there.
static bool keep_laid_out(void *user, const char *pass, Module *m) {
  (void)pass;
  Buf *text = user;
  if (m->stage != STAGE_LAID_OUT) return true;
  text->size = 0;
  ir_print_module(text, m);
  return true;
}

static Buf *times_of(const CompileJob *job) { return job->options->time_passes ? job->times : NULL; }

static PassOptions pass_options(const CompileJob *job) {
  const Options *o = job->options;
  return (PassOptions){.print_after = job->printed ? o->print_after : NULL,
                       .verify_each = o->verify_each,
                       .torture = o->torture,
                       .stop_after = (int)o->stop_after,
                       .printed = job->printed,
                       .times = times_of(job)};
}

static void emit_ptx(const CompileJob *job, tile_program *p, const char *ptx) {
  Arena *a = &p->ctx.arena;
  Buf json = buf_make(a);
  metadata_write(&json, p);
  compile_set_output(p, TILE_EMIT_METADATA, buf_str(&json), json.size);
  if (!(job->emit & EMIT_OF_PTX)) return;
  Buf out = buf_make(a);
  buf_printf(&out, "// tilec %s\n", tile_version());
  for (const char *line = buf_str(&json); *line;) {
    size_t n = strcspn(line, "\n");
    buf_puts(&out, "// ");
    buf_write(&out, line, n);
    buf_putc(&out, '\n');
    line += n + (line[n] == '\n');
  }
  buf_puts(&out, ptx);
  compile_set_output(p, TILE_EMIT_PTX, buf_str(&out), out.size);
}

static bool emit_layouts(const CompileJob *job, tile_program *p) {
  Buf b = buf_make(&p->ctx.arena);
  const char *of = job->options->layout_of;
  if (!layout_svg(p->module, of, &b)) {
    if (of) return diag_error(&p->ctx, (Span){0, 0}, "no value named '%s' has a layout", of);
    return diag_error(&p->ctx, (Span){0, 0},
                      "no value has a layout: the kernel has no tensors, or the passes that ran give them none");
  }
  compile_set_output(p, TILE_EMIT_LAYOUT_SVG, buf_str(&b), b.size);
  return true;
}

// Runs the passes that --passes names, or those up to the last stage that an output needs.
static bool run_passes(const CompileJob *job, tile_program *p) {
  PassOptions po = pass_options(job);
  if (job->options->passes) {
    if (!passes_run_named(p->module, job->options->passes, &po)) return false;
    for (unsigned e = TILE_EMIT_TILE; e <= TILE_EMIT_ALLOCATED; e <<= 1)
      if (job->emit & e) compile_emit_module(p, e);
    return true;
  }
  const PassOptions check = {.stop_after = -1};
  const uint64_t found = UINT64_C(1) << WARN_STORE_CONFLICT | UINT64_C(1) << WARN_PLAIN_UNLOCK |
                         UINT64_C(1) << WARN_INVERTED_LOCK;
  const bool is_on = p->ctx.warnings.on & found;
  const bool warns = is_on && p->module && p->module->stage != STAGE_ALLOCATED;
  if (warns && !passes_run_named(p->module, "find_store_conflicts", &check)) return false;
  const bool wants_laid_out = job->emit & TILE_EMIT_LAID_OUT, goes_on = job->emit & EMIT_AFTER_LAID_OUT;
  if (!wants_laid_out && !goes_on) return true;
  Buf laid_out = buf_make(&p->ctx.arena);
  if (wants_laid_out) po.after_pass = keep_laid_out, po.user = &laid_out;
  if (!passes_run(p->module, goes_on ? STAGE_ALLOCATED : STAGE_LAID_OUT, &po)) return false;
  if (laid_out.size) compile_set_output(p, TILE_EMIT_LAID_OUT, buf_str(&laid_out), laid_out.size);
  else if (wants_laid_out && po.stop_after >= 0) compile_emit_module(p, TILE_EMIT_LAID_OUT);   // by --bisect-limit
  if (job->emit & TILE_EMIT_ALLOCATED) compile_emit_module(p, TILE_EMIT_ALLOCATED);
  return true;
}

static bool generate_code(const CompileJob *job, tile_program *p) {
  Context *ctx = &p->ctx;
  const Options *o = job->options;
  if (p->module->stage != STAGE_ALLOCATED) {
    diag_error(ctx, (Span){0, 0},
               "the passes that ran do not bring the module to stage allocated, which code is made from");
    diag_note(ctx, (Span){0, 0}, "--emit=allocated shows how far it came");
    return false;
  }
  ctx->current_pass = "codegen";
  ctx->current_op = NULL;
  CodegenOptions co = {o->line_info, (uint32_t)o->ptx_version, (uint32_t)o->opt_level,
                       times_of(job)};
  CodegenResult result = {0};
  const bool wants_ptx = job->emit & (EMIT_OF_PTX | TILE_EMIT_METADATA);
  if (!codegen_emit(p->module, &co, (job->emit & TILE_EMIT_LLVM) != 0, wants_ptx, &result)) return false;
  if (result.llvm_ir) compile_set_output(p, TILE_EMIT_LLVM, result.llvm_ir, strlen(result.llvm_ir));
  p->ptx_version = result.ptx_version;
  if (wants_ptx) emit_ptx(job, p, result.ptx);
  ctx->current_pass = NULL;
  return true;
}

bool compile_run_back_end(const CompileJob *job, tile_program *p) {
  const Options *o = job->options;
  if (job->emit & TILE_EMIT_LAID_OUT && p->module->stage == STAGE_ALLOCATED && !o->passes)
    return diag_error(&p->ctx, (Span){0, 0}, "%s is at stage allocated, after the one that --emit=laid-out prints",
                      o->ir_override ? o->ir_override : job->path);
  return run_passes(job, p) && (!(job->emit & TILE_EMIT_LAYOUT_SVG) || emit_layouts(job, p)) &&
         (!(job->emit & EMIT_CODE) || generate_code(job, p));
}
