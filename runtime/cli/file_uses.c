#include "runtime/cli/file_uses.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/compile/compile.h"

// False for a file that cannot be overwritten.
static bool identify(FileUse *use, Arena *a) {
  struct stat st;
  bool is_standard = !strcmp(use->path, "-"),
       is_there = is_standard ? !use->option && fstat(STDIN_FILENO, &st) == 0 : stat(use->path, &st) == 0;
  if (is_there ? !S_ISREG(st.st_mode) : is_standard) return false;
  const char *slash = strrchr(use->path, '/');
  use->name = is_there ? "" : slash ? slash + 1 : use->path;
  const char *folder = slash ? arena_strndup(a, use->path, (size_t)(slash + 1 - use->path)) : ".";
  if (!is_there && stat(folder, &st) != 0) return false;   // writing will fail with its own message
  use->device = st.st_dev;
  use->inode = st.st_ino;
  return true;
}

// How to recognise an option's output: by the suffix of its name, its first characters, or a text soon after them.
// A header's name says little: people write headers, too.
static const struct { const char *option, *suffix, *begins, *contains; } kinds[] = {
    {"-o", ".ptx", "// tilec", ".version"},
    {"-o", ".tir", "module {", "func @"},
    {"-o", ".ast", "(module", NULL},
    {"-o", ".ll", "; ModuleID", NULL},
    {"-o", ".cubin", "\x7f" "ELF", NULL},
    {"-o", ".json", "{", NULL},
    {"-o", NULL, "/* Made by tilec", NULL},
    {"-o", ".svg", "<svg", NULL},
    {"-o", ".sass", NULL, ".headerflags"},
    {"-o", ".tilepack", "TILEPACK", NULL},
    {"--save", ".npy", "\x93NUMPY", NULL},
    {"-MF", ".d", NULL, ": \\\n"},
    {"--sim-trace", ".json", "{", NULL},
    {"--bench-out", "", NULL, NULL},   // its suffix has been checked
    {"--tune-file", "", NULL, NULL},   // its content will be
};

// Whether a file that is there, and not empty, is none that the option writes.
// What else names the output of an option.
static const struct { const char *name, *option; } aliases[] = {
    {"--emit", "-o"}, {"-MD", "-MF"}, {"TILE_SIM_TRACE", "--sim-trace"}};

static bool is_of_another_kind(const FileUse *use) {
  char head[4096];
  FILE *f = fopen(use->path, "rbe");
  const size_t n = f ? fread(head, 1, sizeof head - 1, f) : 0;
  if (f) fclose(f);
  head[n] = 0;
  const char *option = use->option;
  for (size_t i = 0; i < countof(aliases); i++)
    if (!strcmp(use->option, aliases[i].name)) option = aliases[i].option;
  for (size_t i = 0; i < countof(kinds); i++) {
    if (strcmp(kinds[i].option, option)) continue;
    if ((kinds[i].suffix && file_has_suffix(use->path, kinds[i].suffix)) ||
        (kinds[i].begins && !strncmp(head, kinds[i].begins, strlen(kinds[i].begins))) ||
        (kinds[i].contains && strstr(head, kinds[i].contains)))
      return false;
  }
  return n > 0;
}

static bool is_same(const FileUse *x, const FileUse *y) {
  return x->device == y->device && x->inode == y->inode && !strcmp(x->name, y->name);
}

static tile_status add(FileUses *uses, Arena *a, FileUse use, tile_error **error) {
  if (!identify(&use, a)) return TILE_OK;
  for (uint32_t i = 0; i < uses->count; i++) {
    const FileUse *other = &uses->data[i];
    if ((!use.option && !other->option) || !is_same(&use, other)) continue;
    const FileUse *out = use.option ? &use : other, *in = use.option ? other : &use;
    if (in->buffer && out->buffer && !strcmp(in->buffer, out->buffer) && !in->option) continue;
    uses->has_conflict = true;
    if (use.option && other->option)
      return error_set(error, TILE_ERROR_USAGE, "%s %s and %s %s are the same file: give one of them another name",
                       other->option, other->path, use.option, use.path);
    return error_set(error, TILE_ERROR_USAGE, "%s %s would overwrite %s, which is an input: give another name",
                     out->option, out->path, in->path);
  }
  if (use.option && !*use.name && is_of_another_kind(&use)) {
    uses->has_conflict = true;
    return error_set(error, TILE_ERROR_USAGE,
                     "%s %s would overwrite a file of another kind: remove it or give another name", use.option,
                     use.path);
  }
  vec_push(a, uses, use);
  return TILE_OK;
}

tile_status file_uses_add(FileUses *uses, Arena *a, const char *option, const char *path, tile_error **error) {
  return add(uses, a, (FileUse){.option = option, .path = path}, error);
}

tile_status file_uses_add_buffer(FileUses *uses, Arena *a, const char *option, const char *path, const char *buffer,
                                 tile_error **error) {
  return add(uses, a, (FileUse){.option = option, .path = path, .buffer = buffer}, error);
}

tile_status file_uses_add_inputs(FileUses *uses, const Options *o, tile_error **error) {
  if (o->ir_override) RETURN_IF_FAILED(file_uses_add(uses, o->arena, NULL, o->ir_override, error));
  for (uint32_t i = 0; i < o->inputs.count; i++)
    RETURN_IF_FAILED(file_uses_add(uses, o->arena, NULL, o->inputs.data[i], error));
  return TILE_OK;
}

tile_status file_uses_add_sources(FileUses *uses, Arena *a, const Frontend *fe, tile_error **error) {
  const Comptime *ct = fe ? frontend_comptime(fe) : NULL;
  for (uint32_t i = 0; ct && i < comptime_num_files(ct); i++)
    RETURN_IF_FAILED(file_uses_add(uses, a, NULL, comptime_file(ct, i)->path, error));
  return TILE_OK;
}
