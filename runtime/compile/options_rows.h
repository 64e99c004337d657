// The rows of options.def, for the files that parse and print them: options.c, options_print.c, options_complete.c.
#ifndef TILE_RUNTIME_OPTIONS_ROWS_H
#define TILE_RUNTIME_OPTIONS_ROWS_H

#include <string.h>

#include "runtime/compile/options.h"

enum { LONGEST_NAME = 23 };
typedef enum { KIND_BOOL, KIND_INT, KIND_STR, KIND_LIST, KIND_OPT, KIND_FLAGS } OptionKind;
typedef enum {
  GROUP_COMPILE, GROUP_OUTPUT, GROUP_LAUNCH, GROUP_RUN, GROUP_TUNE, GROUP_PACK, GROUP_INFO, NUM_GROUPS
} OptionGroup;
typedef struct {
  OptionKind kind;
  OptionGroup group;
  size_t offset;
  const char *name, *shorts, *arg, *help;
  int64_t def, lo, hi;
} OptionRow;

enum {
  NUM_OPTION_ROWS = 0
#define OPTION(kind, field, name, shorts, arg, def, lo, hi, group, help) + 1
#include "runtime/compile/options.def"
};
extern const OptionRow option_rows[NUM_OPTION_ROWS];

static inline bool option_has_one_dash(const OptionRow *r) { return r->shorts[0] == '-'; }

// Whether each value counts, and whether there may be none.
static inline bool option_is_list(const OptionRow *r) { return r->kind == KIND_LIST || r->kind == KIND_FLAGS; }
static inline bool option_may_lack_value(const OptionRow *r) { return r->kind == KIND_OPT || r->kind == KIND_FLAGS; }
// Whether its value is the name of a file.
static inline bool option_names_file(const OptionRow *r) { return !strncmp(r->arg, "FILE", 4); }

// Whether a subcommand has the options of a group.
static inline bool option_is_of(OptionGroup group, Command c) {
  switch (group) {
  case GROUP_COMPILE:
  case GROUP_OUTPUT: return c != COMMAND_CACHE;
  case GROUP_LAUNCH: return c == COMMAND_RUN || c == COMMAND_TUNE;
  case GROUP_RUN: return c == COMMAND_RUN;
  case GROUP_TUNE: return c == COMMAND_TUNE;
  case GROUP_PACK: return c == COMMAND_PACK;
  default: return true;
  }
}

// options_complete.c
void options_print_bash(Buf *out);
void options_print_zsh(Buf *out);
void options_print_fish(Buf *out);

#endif
