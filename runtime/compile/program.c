// The compiler's public face (tile.h): options in, a program and its outputs out.
#include <stdlib.h>
#include <string.h>

#include "ir/clock.h"
#include "ir/target.h"
#include "runtime/compile/compile.h"

static bool take_options(Options *to, const tile_compile_options *o, tile_error **error) {
  bool ok = true;
  for (size_t i = 0; ok && i < o->num_options; i++)
    ok = options_set(to, arena_printf(to->arena, "%s", o->options[i]), NULL, error);
  const struct { const char *name; int value; } numbers[] = {
    {"num-warps", o->num_warps}, {"num-stages", o->num_stages}, {"num-ctas", o->num_ctas}, {"maxnreg", o->maxnreg}};
  for (uint32_t i = 0; ok && i < countof(numbers); i++)
    if (numbers[i].value) ok = options_set(to, numbers[i].name, arena_printf(to->arena, "%d", numbers[i].value), error);
  for (size_t i = 0; ok && i < o->num_defines; i++) ok = options_set(to, "define", o->defines[i], error);
  for (size_t i = 0; ok && i < o->num_include_paths; i++) ok = options_set(to, "include", o->include_paths[i], error);
  if (o->kernel) to->kernel = o->kernel;
  if (o->signature) vec_push(to->arena, &to->signatures, o->signature);
  if (o->arch) to->arch = o->arch;
  return ok;
}

static void tell_compile(const tile_hooks *hooks, tile_event_kind kind, const tile_compile_options *o, double seconds) {
  const tile_event event = {sizeof event, kind, o->kernel ? o->kernel : "", o->signature ? o->signature : "",
                            seconds * 1e3, NULL, NULL};
  if (hooks->event) hooks->event(hooks->user, &event);
}

static tile_status compile_public(const char *path, const char *text, size_t size, const tile_compile_options *given,
                                  tile_program **program, tile_error **error) {
  tile_compile_options o = TILE_COMPILE_OPTIONS_INIT;
  tile_hooks hooks;
  RETURN_IF_NULL(program, "program");
  *program = NULL;
  RETURN_IF_FAILED(TAKE_GIVEN(tile_compile_options, &o, given, error));
  RETURN_IF_FAILED(hooks_take(&hooks, o.hooks, error));
  RETURN_IF_FAILED(source_map_check(o.source_map, o.num_source_map, error));
  RETURN_IF_FAILED(given_texts(o.options, o.num_options, "options", error));
  RETURN_IF_FAILED(given_texts(o.include_paths, o.num_include_paths, "include_paths", error));
  RETURN_IF_FAILED(given_seconds(o.seconds, "seconds", error));
  Arena arena;
  jmp_buf on_empty, *const empty = &on_empty;
  arena_init_with(&arena, hooks_memory(&hooks), &empty);
  if (setjmp(on_empty)) {
    arena_free(&arena);
    return error_set(error, TILE_ERROR_NO_MEMORY, "out of memory while reading options");
  }
  Options options;
  options_init(&options, &arena);
  options.caller = CALLER_LIBRARY;
  tile_status status = TILE_ERROR_USAGE;
  if (o.emit >> NUM_EMITS) {
    error_set(error, TILE_ERROR_USAGE, "emit is 0x%x: only the bits of TILE_EMIT_*, 0x%x, say something", o.emit,
              (1u << NUM_EMITS) - 1);
  } else if (take_options(&options, &o, error)) {
    CompileJob job = {.options = &options,
                      .path = path,
                      .text = text,
                      .size = size,
                      .config = -1,
                      .emit = o.emit ? o.emit : TILE_EMIT_PTX | TILE_EMIT_METADATA,
                      .hooks = &hooks,
                      .source_map = o.source_map,
                      .num_source_map = text ? o.num_source_map : 0,
                      .seconds = o.seconds};
    double start = clock_seconds();
    tell_compile(&hooks, TILE_EVENT_COMPILE_BEGIN, &o, 0);
    status = compile_job(&job, program, error);
    tell_compile(&hooks, TILE_EVENT_COMPILE_END, &o, clock_seconds() - start);
  }
  arena_free(&arena);
  return status;
}

tile_status tile_compile_file(const char *path, const tile_compile_options *options, tile_program **program,
                              tile_error **error) {
  RETURN_IF_NULL(path, "path");
  return compile_public(path, NULL, 0, options, program, error);
}

tile_status tile_compile_memory(const char *name, const char *text, size_t size, const tile_compile_options *options,
                                tile_program **program, tile_error **error) {
  RETURN_IF_NULL(name, "name");
  if (!*name) return error_set(error, TILE_ERROR_USAGE, "`name` is empty: messages need one");
  if (size) RETURN_IF_NULL(text, "text");
  return compile_public(name, text ? text : "", size, options, program, error);   // no text is an empty one
}

const char *tile_program_output(const tile_program *p, unsigned emit, size_t *size) {
  uint32_t bit = log2_u32(emit);
  bool known = p && is_pow2_u64(emit) && bit < NUM_EMITS && p->outputs[bit].data;
  if (size) *size = known ? p->outputs[bit].size : 0;
  return known ? p->outputs[bit].data : NULL;
}

size_t tile_program_num_kernels(const tile_program *p) {
  size_t n = 0;
  for (const Func *f = p && p->module ? p->module->funcs : NULL; f; f = f->next) n++;
  return n;
}

const char *tile_program_kernel_name(const tile_program *p, size_t index) {
  const Func *f = p && p->module ? p->module->funcs : NULL;
  for (; f && index; f = f->next) index--;
  return f ? f->name : NULL;
}

size_t tile_program_num_diagnostics(const tile_program *p) { return p ? diagnostic_count(&p->ctx) : 0; }
bool tile_program_get_diagnostic(const tile_program *p, size_t index, tile_diagnostic *out) {
  tile_diagnostic d;
  return GIVE_OUT(tile_diagnostic, out, p && diagnostic_at(&p->ctx, index, &d) ? &d : NULL);
}
bool tile_program_get_fixit(const tile_program *p, size_t diagnostic, size_t index, tile_fixit *out) {
  tile_fixit f;
  return GIVE_OUT(tile_fixit, out, p && fixit_at(&p->ctx, diagnostic, index, &f) ? &f : NULL);
}

const char *tile_arch_name(size_t index) {
  const Target *t = target_at((uint32_t)index);
  return t ? t->name : NULL;
}
