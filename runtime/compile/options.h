// Options: parsed from a command line or, one by one, from strings. The rows are in options.def.
#ifndef TILE_RUNTIME_OPTIONS_H
#define TILE_RUNTIME_OPTIONS_H

#include "ir/buf.h"
#include "runtime/tile/tile.h"

typedef struct { const char **data; uint32_t count, capacity; } StrList;   // a VEC(const char *)

typedef struct {
  Arena *arena;                // strings of lists and of response files
#define OPTION_TYPE_BOOL bool
#define OPTION_TYPE_INT int64_t
#define OPTION_TYPE_STR const char *
#define OPTION_TYPE_LIST StrList
#define OPTION(kind, field, name, shorts, arg, def, lo, hi, group, help) OPTION_TYPE_##kind field;
#include "runtime/compile/options.def"
  StrList inputs;              // arguments that are not options
} Options;

typedef enum { COMMAND_COMPILE, COMMAND_RUN, COMMAND_TUNE, COMMAND_PACK } Command;

void options_init(Options *o, Arena *arena);
// argv without program and subcommand names. Strings are kept, not copied. False with an error of status
// TILE_ERROR_USAGE.
bool options_parse(Options *o, Command command, int argc, const char *const *argv, tile_error **error);
// Words as a shell would split them: blanks, quotes and backslashes, nothing else.
StrList options_split(Arena *a, const char *text, size_t size);
// The parts of text that are not empty.
StrList options_list(Arena *a, const char *text, char separator);
// One compile option by name, "num-warps" = "4" (value NULL: a bare flag). For the library.
bool options_set(Options *o, const char *name, const char *value, tile_error **error);
// The compile options that are not at their defaults, as options_set takes them, but for those named in except (NULL at
// its end).
void options_given(const Options *o, const char *const *except, StrList *out);

static inline const char *options_signature(const Options *o) {
  return o->signatures.count ? o->signatures.data[o->signatures.count - 1] : NULL;
}

typedef enum { OPTIONS_HELP, OPTIONS_MAN, OPTIONS_JSON, OPTIONS_BASH } OptionsForm;
void options_print(Buf *out, OptionsForm form);

#endif
