// `tilec pack`: compiles files for signatures and architectures into one package or header. `tilec pack FILE.tilepack`
// lists what a package holds.
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "runtime/cli/cli.h"
#include "runtime/compile/compile.h"

// "add(*fp32:16, i32)" or, for the kernel of -n or the only one, "*fp32:16, i32".
typedef struct { const char *kernel, *text; bool used; } Signature;

typedef struct {
  const Options *options;
  Arena *arena;
  Pack pack;
  StrList archs;
  Assembler *assembler;
  Signature *signatures;
  StrList files;               // read, for the make rule
  StrList texts;               // of warnings that the user knows
  FileUses uses;
  bool told;                   // the user knows which configuration an autotuned kernel takes
} Packing;

static Signature read_signature(const Options *o, const char *text) {
  size_t n = 0, size = strlen(text);
  while (isalnum((unsigned char)text[n]) || text[n] == '_') n++;
  if (!n || text[n] != '(' || text[size - 1] != ')') return (Signature){o->kernel, text, false};
  return (Signature){arena_strndup(o->arena, text, n), arena_strndup(o->arena, text + n + 1, size - n - 2), false};
}

static bool is_open(const char *signature) {
  int depth = 0;
  for (; *signature; signature++) depth += (*signature == '(') - (*signature == ')');
  return depth > 0;
}

static void add_file(Packing *k, const char *path) {
  for (uint32_t i = 0; i < k->files.count; i++)
    if (!strcmp(k->files.data[i], path)) return;
  vec_push(k->arena, &k->files, arena_printf(k->arena, "%s", path));
}

// Several signatures and architectures have the same warnings.
static void tell(Packing *k, const char *text, const tile_program *program) {
  if (k->options->messages) messages_add_program(k->options->messages, program);
  for (uint32_t i = 0; i < k->texts.count; i++)
    if (!strcmp(k->texts.data[i], text)) return;
  vec_push(k->arena, &k->texts, arena_printf(k->arena, "%s", text));
  if (!k->options->messages) fputs(text, stderr);
}

static tile_status pack_one(Packing *k, const char *path, const char *text, size_t size, const char *kernel,
                            const char *signature, const char *arch, tile_error **error) {
  Options o = *k->options;
  o.kernel = kernel;
  o.arch = arch;
  o.signatures = (StrList){0};
  if (signature) vec_push(k->arena, &o.signatures, signature);
  CompileJob job = {.options = &o,
                    .path = path,
                    .text = text,
                    .size = size,
                    .config = -1,
                    .emit = TILE_EMIT_PTX,
                    .color = cli_color(k->options)};
  tile_program *program = NULL;
  RETURN_IF_FAILED(compile_job(&job, &program, error));
  if (program->config_text && !k->told)
    cli_say(&o, TILE_LEVEL_REMARK, "%s takes the configuration %s", program->kernel->name, program->config_text);
  k->told = true;
  const PackOptions po = {k->assembler, o.ptx_options};
  tile_status status = pack_add(&k->pack, program, &po, error);
  if (status == TILE_OK && diag_failed(&program->ctx))
    status = error_set_diagnostics(error, TILE_ERROR_PROGRAM, &program->ctx, job.color);
  else
    tell(k, diag_render(&program->ctx, job.color), program);
  const Comptime *ct = program->frontend ? frontend_comptime(program->frontend) : NULL;
  for (uint32_t i = 0; ct && i < comptime_num_files(ct); i++) add_file(k, comptime_file(ct, i)->path);
  add_file(k, path);
  tile_program_free(program);
  return status;
}

// Whether the text has a kernel of that name. Its compilation repeats the diagnostics, if there are any.
static bool has_kernel(const Packing *k, const char *path, const char *text, size_t size, const char *name) {
  Context ctx;
  context_init(&ctx);
  jmp_buf on_ice;
  volatile bool found = false;
  if (!setjmp(on_ice)) {
    ctx.on_ice = &on_ice;
    FrontendOptions fo = {.include_paths = k->options->include_paths.data,
                          .num_include_paths = k->options->include_paths.count,
                          .target = target_find(k->archs.data[0])};
    const Frontend *fe = compile_is_ir_path(path) ? NULL : frontend_load_text(&ctx, path, text, size, &fo);
    for (uint32_t i = 0; fe && i < frontend_num_kernels(fe); i++)
      found = found || !strcmp(frontend_kernel(fe, i)->name, name);
    found = found || !fe;
  }
  context_free(&ctx);
  return found;
}

static tile_status pack_file(Packing *k, const char *path, tile_error **error) {
  const Options *o = k->options;
  const char *text;
  size_t size;
  RETURN_IF_FAILED(file_read_source(k->arena, path, &text, &size, error));
  for (uint32_t s = 0; s < o->signatures.count; s++) {
    Signature *sig = &k->signatures[s];
    if (sig->kernel && o->inputs.count > 1 && !has_kernel(k, path, text, size, sig->kernel)) continue;
    sig->used = true;
    k->told = false;
    for (uint32_t a = 0; a < k->archs.count; a++)
      RETURN_IF_FAILED(pack_one(k, path, text, size, sig->kernel, sig->text, k->archs.data[a], error));
  }
  for (uint32_t a = 0; !o->signatures.count && a < k->archs.count; a++)
    RETURN_IF_FAILED(pack_one(k, path, text, size, o->kernel, NULL, k->archs.data[a], error));
  return TILE_OK;
}

static tile_status write_package(Packing *k, tile_error **error) {
  const Options *o = k->options;
  RETURN_IF_FAILED(file_uses_add_inputs(&k->uses, o, error));
  for (uint32_t i = 0; i < k->files.count; i++)
    RETURN_IF_FAILED(file_uses_add(&k->uses, k->arena, NULL, k->files.data[i], error));
  RETURN_IF_FAILED(file_uses_add(&k->uses, k->arena, "-o", o->output, error));
  RETURN_IF_FAILED(outputs_use_depfile(o, o->output, &k->uses, error));
  Buf out = buf_make(k->arena);
  if (o->emit ? !strcmp(o->emit, "header") : file_has_suffix(o->output, ".h")) header_write(&k->pack, &out);
  else pack_write(&k->pack, &out);
  RETURN_IF_FAILED(file_write(k->arena, o->output, buf_str(&out), out.size, error));
  return outputs_write_depfile(o, &k->files, o->output, error);
}

static tile_status list_package(const char *path, tile_error **error) {
  tile_package *p;
  RETURN_IF_FAILED(tile_package_open_file(path, &p, error));
  for (size_t i = 0; i < tile_package_num_entries(p); i++) {
    tile_package_entry e = TILE_PACKAGE_ENTRY_INIT;
    tile_package_get_entry(p, i, &e);
    printf("%-16s %-8s %-5s %8zu  %-24s (%s)\n", e.kernel, e.arch, e.kind, e.code_size, e.made_by, e.signature);
  }
  tile_package_close(p);
  return TILE_OK;
}

static tile_status pack_all(Packing *k, tile_error **error) {
  const Options *o = k->options;
  if (!o->inputs.count)
    return error_set(
        error, TILE_ERROR_USAGE,
        "no input file; `tilec pack kernels.tile --arch=sm_80,sm_90a -s \"add(*fp32:16, i32)\" -o kernels.tilepack`");
  if (!o->output && o->inputs.count == 1 && file_has_suffix(o->inputs.data[0], ".tilepack"))
    return list_package(o->inputs.data[0], error);
  if (!o->output)
    return error_set(error, TILE_ERROR_USAGE, "a package needs a name: -o FILE.tilepack, or -o FILE.h for a C header");
  if (o->emit && strcmp(o->emit, "header") && strcmp(o->emit, "package"))
    return error_set(error, TILE_ERROR_USAGE, "`tilec pack` makes --emit=package or header, not %s", o->emit);
  const bool is_known = file_has_suffix(o->output, ".h") || file_has_suffix(o->output, ".tilepack");
  if (!o->emit && !is_known && strcmp(o->output, "-"))
    return error_set(error, TILE_ERROR_USAGE, "-o %s: its suffix says neither .tilepack nor .h; say which with --emit",
                     o->output);
  k->archs = options_list(k->arena, o->arch ? o->arch : "sm_90a", ',');
  k->signatures = arena_array(k->arena, Signature, o->signatures.count + 1);
  for (uint32_t i = 0; i < o->signatures.count; i++) {
    if (is_open(o->signatures.data[i]))
      return error_set(error, TILE_ERROR_USAGE, "-s \"%s\": a parenthesis is not closed", o->signatures.data[i]);
    k->signatures[i] = read_signature(o, o->signatures.data[i]);
  }
  for (uint32_t i = 0; i < o->inputs.count; i++) RETURN_IF_FAILED(pack_file(k, o->inputs.data[i], error));
  for (uint32_t i = 0; i < o->signatures.count; i++)
    if (!k->signatures[i].used)
      return error_set(error, TILE_ERROR_USAGE, "no file has a kernel %s, for which a signature is given",
                       k->signatures[i].kernel);
  return write_package(k, error);
}

int pack_main(const Options *options, Arena *arena) {
  Packing k = {.options = options, .arena = arena, .pack = {.arena = arena}};
  tile_error *error = NULL;
  tile_status status = options->cubin ? assembler_open(&k.assembler, &error) : TILE_OK;
  if (status == TILE_OK) status = pack_all(&k, &error);
  assembler_close(k.assembler);
  return cli_finish(status, error, options);
}
