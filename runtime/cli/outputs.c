// Chooses the outputs and writes them.
#include <string.h>

#include "runtime/cli/cli.h"
#include "ir/nearest.h"
#include "runtime/compile/compile.h"

static const char *suffix_of(const char *path) {
  const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
  return dot && (!slash || dot > slash) ? dot : path + strlen(path);
}

static unsigned choose(const Options *o, tile_error **error) {
  unsigned emits = 0;
  if (!o->emit) {
    const char *suffix = o->output && strcmp(o->output, "-") ? suffix_of(o->output) : "";
    for (uint32_t i = 0; i < NUM_EMITS; i++)
      if (!strcmp(suffix, emit_info[i].suffix)) return 1u << i;
    if (*suffix && !o->passes) {
      error_set(error, TILE_ERROR_USAGE, "-o %s: the suffix %s names no output; say which with --emit", o->output,
                suffix);
      return 0;
    }
    return o->passes ? TILE_EMIT_TILE : TILE_EMIT_PTX;
  }
  for (const char *s = o->emit; *s;) {
    size_t n = strcspn(s, ",");
    const char *name = arena_strndup(o->arena, s, n), *names[NUM_EMITS];
    unsigned found = 0;
    for (uint32_t i = 0; i < NUM_EMITS; i++) {
      names[i] = emit_info[i].name;
      if (!strcmp(name, names[i])) found = 1u << i;
    }
    if (!found) {
      const char *near = nearest_name(name, names, NUM_EMITS);
      error_set(
          error, TILE_ERROR_USAGE,
          "--emit=%s: there is no such output%s%s; "
          "there are ast, tile, laid-out, allocated, llvm, ptx, cubin, json, header, layout-svg, report, sass",
          name, near ? "; did you mean " : "", near ? near : "");
      return 0;
    }
    emits |= found;
    s += n + (s[n] == ',');
  }
  if (!emits) error_set(error, TILE_ERROR_USAGE, "--emit needs a value");
  return emits;
}

// Options that belong to one output.
static bool check_effect(const Options *o, unsigned emits, tile_error **error) {
  const struct { const char *given, *option, *output; unsigned emit; } all[] = {
      {o->layout_of, "--layout-of", "layout-svg", TILE_EMIT_LAYOUT_SVG},
      {o->ptx_options, "--ptx-options", "cubin", TILE_EMIT_CUBIN}};
  for (uint32_t i = 0; i < countof(all); i++)
    if (all[i].given && !(emits & all[i].emit))
      return error_set(error, TILE_ERROR_USAGE, "%s has no effect without --emit=%s", all[i].option,
                       all[i].output), false;
  return true;
}

bool outputs_wanted(const Options *o) {
  return !o->report || o->output || o->emit || o->depfile || o->depfile_name;
}

bool outputs_fill_stdout(const Options *o, unsigned emits) {
  return o->output ? !strcmp(o->output, "-") : (emits & ~(unsigned)TILE_EMIT_CUBIN) != 0;
}

// From --emit; without it from the output's suffix; without that PTX, or IR if --passes is given.
unsigned outputs_choose(const Options *o, tile_error **error) {
  unsigned emits = choose(o, error);
  if (emits && !check_effect(o, emits, error)) return 0;
  bool to_stdout = o->output ? !strcmp(o->output, "-") : !(emits & TILE_EMIT_CUBIN);
  if (!emits || !o->depfile || o->depfile_name || !to_stdout) return emits;
  error_set(error, TILE_ERROR_USAGE, "-MD without -o needs -MF");
  return 0;
}

// The path of output `bit` of `emits`.
static const char *output_path(const Options *o, const char *input, unsigned emits, uint32_t bit) {
  bool is_binary = 1u << bit == TILE_EMIT_CUBIN;
  if (o->output && (!strcmp(o->output, "-") || is_pow2_u64(emits))) return o->output;
  if (!o->output && !is_binary) return "-";
  const char *base = o->output ? o->output : strrchr(input, '/') ? strrchr(input, '/') + 1 : input;
  if (o->output && !strcmp(suffix_of(base), emit_info[bit].suffix)) {
    uint32_t sharing = 0;
    for (uint32_t i = 0; i < NUM_EMITS; i++)
      sharing += emits >> i & 1 && !strcmp(emit_info[i].suffix, emit_info[bit].suffix);
    if (sharing == 1) return base;
  }
  int stem = (int)(suffix_of(base) - base);
  bool is_ir = !strcmp(emit_info[bit].suffix, ".tir");
  return arena_printf(o->arena, "%.*s%s%s%s", stem, base, is_ir ? "." : "", is_ir ? emit_info[bit].name : "",
                      emit_info[bit].suffix);
}

static void put_make_name(Buf *b, const char *s) {
  for (; *s; s++) {
    if (*s == ' ' || *s == '#' || *s == '\\') buf_putc(b, '\\');
    if (*s == '$') buf_putc(b, '$');
    buf_putc(b, *s);
  }
}

static const char *depfile_path(const Options *o, const char *target) {
  if (o->depfile_name) return o->depfile_name;
  return o->depfile ? arena_printf(o->arena, "%.*s.d", (int)(suffix_of(target) - target), target) : NULL;
}

tile_status outputs_use_depfile(const Options *o, const char *target, FileUses *uses, tile_error **error) {
  const char *path = depfile_path(o, target);
  return path ? file_uses_add(uses, o->arena, o->depfile_name ? "-MF" : "-MD", path, error) : TILE_OK;
}

tile_status outputs_write_depfile(const Options *o, const StrList *files, const char *target, tile_error **error) {
  const char *path = depfile_path(o, target);
  if (!path) return TILE_OK;
  Buf b = buf_make(o->arena);
  put_make_name(&b, target);
  buf_putc(&b, ':');
  for (uint32_t i = 0; i < files->count; i++) {
    buf_puts(&b, " \\\n  ");
    put_make_name(&b, files->data[i]);
  }
  buf_putc(&b, '\n');
  return file_write(o->arena, path, buf_str(&b), b.size, error);
}

tile_status outputs_write(const Options *o, const tile_program *p, const char *input, unsigned emits, FileUses *uses,
                          tile_error **error) {
  StrList files = {0};
  const Comptime *ct = p->frontend ? frontend_comptime(p->frontend) : NULL;
  for (uint32_t i = 0; ct && i < comptime_num_files(ct); i++) vec_push(o->arena, &files, comptime_file(ct, i)->path);
  if (!ct) vec_push(o->arena, &files, input);
  if (o->ir_override) vec_push(o->arena, &files, o->ir_override);
  RETURN_IF_FAILED(file_uses_add_inputs(uses, o, error));
  for (uint32_t i = 0; i < files.count; i++)
    RETURN_IF_FAILED(file_uses_add(uses, o->arena, NULL, files.data[i], error));
  const char *paths[NUM_EMITS], *main_output = "-";
  for (uint32_t bit = 0; bit < NUM_EMITS; bit++) {
    if (!(emits >> bit & 1)) continue;
    const char *path = paths[bit] = output_path(o, input, emits, bit);
    RETURN_IF_FAILED(file_uses_add(uses, o->arena, o->output ? "-o" : "--emit", path, error));
    // A make rule is about the file that -o names.
    if (strcmp(path, "-") && (!strcmp(main_output, "-") || (o->output && !strcmp(path, o->output)))) main_output = path;
  }
  RETURN_IF_FAILED(outputs_use_depfile(o, main_output, uses, error));
  for (uint32_t bit = 0; bit < NUM_EMITS; bit++)
    if (emits >> bit & 1)
      RETURN_IF_FAILED(file_write(o->arena, paths[bit], p->outputs[bit].data, p->outputs[bit].size, error));
  return outputs_write_depfile(o, &files, main_output, error);
}
