// Options, parsed from a command line or, one by one, from strings. options.def has a row for each.
#ifndef TILE_RUNTIME_OPTIONS_H
#define TILE_RUNTIME_OPTIONS_H

#include "ir/buf.h"
#include "ir/context.h"
#include "runtime/tile/tile.h"

typedef VEC(const char *) StrList;

typedef struct {
  Arena *arena;                // strings of lists and of response files
#define OPTION_TYPE_BOOL bool
#define OPTION_TYPE_INT int64_t
#define OPTION_TYPE_STR const char *
#define OPTION_TYPE_OPT const char *
#define OPTION_TYPE_LIST StrList
#define OPTION_TYPE_FLAGS StrList
#define OPTION(kind, field, name, shorts, arg, def, lo, hi, group, help) OPTION_TYPE_##kind field;
#include "runtime/compile/options.def"
  StrList inputs;              // arguments that are not options
  Caller caller;               // who gives them
  struct Messages *messages;   // tilec collects messages here; NULL: they go to standard error
} Options;

typedef enum { COMMAND_COMPILE, COMMAND_RUN, COMMAND_TUNE, COMMAND_PACK, COMMAND_CACHE, NUM_COMMANDS } Command;

void options_init(Options *o, Arena *arena);
// Parses argv, which is without the names of program and subcommand. Keeps its strings without a copy. False with an
// error of status TILE_ERROR_USAGE.
bool options_parse(Options *o, Command command, int argc, const char *const *argv, tile_error **error);
// Makes a shallow copy of another Options safe to change: later additions to its lists go into `arena` and do not reach
// the original.
void options_own(Options *o, Arena *arena);
// Splits text into words as a shell does: by blanks, quotes and backslashes, nothing else. *is_open:
// a quote is not closed.
StrList options_split(Arena *a, const char *text, size_t size, bool *is_open);
// The parts of text that are not empty.
StrList options_list(Arena *a, const char *text, char separator);
// Sets one compile option by name, "num-warps" to "4" (value NULL: a flag without a value). For the library.
bool options_set(Options *o, const char *name, const char *value, tile_error **error);
// Appends the compile options that are not at their defaults, as options_set takes them, except those that the
// NULL-terminated list `except` names.
void options_given(const Options *o, const char *const *except, StrList *out);

// The warnings that the options turn on. False after an error.
bool options_warnings(const Options *o, WarningSet *set, tile_error **error);

// Whether the option of this name is not at its default.
bool options_has(const Options *o, const char *name);

static inline const char *options_signature(const Options *o) {
  return o->signatures.count ? o->signatures.data[o->signatures.count - 1] : NULL;
}

const char *options_command_name(Command command);   // "run"; NULL for COMMAND_COMPILE, which has no name

// The variables of the environment that are read: those of variables.def, and then others that are not only tilec's.
enum {
#define VARIABLE(name, meaning) +1
  NUM_OWN_VARIABLES = 0
#include "runtime/compile/variables.def"
  ,
  NUM_VARIABLES = NUM_OWN_VARIABLES + 2
};
typedef struct { const char *name, *meaning; } OptionVariable;
extern const OptionVariable option_variables[NUM_VARIABLES];

// options_print.c. Help and man page are about one subcommand, the others about all.
typedef enum {
  OPTIONS_HELP, OPTIONS_MAN, OPTIONS_JSON, OPTIONS_BASH, OPTIONS_ZSH, OPTIONS_FISH, NUM_OPTIONS_FORMS
} OptionsForm;
void options_print(Buf *out, OptionsForm form, Command command);

#endif
