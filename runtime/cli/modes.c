// Refuses options that would have no effect: beside which others each means something, and in which subcommand. Warns
// of folders that do not exist.
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "runtime/cli/cli.h"

// `option` needs one of `needs`, unless that is "", and none of `without`.
typedef struct { const char *option, *needs, *without; } Rule;

// --compile-only goes with everything: one adds it to a complete command.
static const Rule run_rules[] = {
    {"sweep", "bench", "commands"},
    {"bench-out", "sweep", ""},
    {"peer", "sweep", ""},
    {"flops", "bench", ""},
    {"bytes", "bench", ""},
    {"rtol", "check,expect", ""},
    {"atol", "check,expect", ""},
    {"check", "", "sweep"},
    {"expect", "", "sweep"},
    {"print", "", "sweep"},
    {"save", "", "sweep"},
    {"report", "", "sweep"},
    {"output", "", "sweep"},
    {"emit", "", "sweep"},
    {"compile-only", "", "sweep"},
    {"break", "", "sweep,commands"},
    {"step", "", "sweep,commands"},
    {"MD", "output,emit,compile-only", ""},
    {"MF", "output,emit,compile-only", ""},
};
static const char no_tune[] = "output,emit,report,remarks,MD,MF,passes,print-after,time-passes,layout-of",
                  no_pack[] = "report,layout-of,passes,stdin-name,print-after,time-passes,bisect-limit";

// The first option of the list that is given, or NULL.
static const char *given_of(const Options *o, const char *list) {
  const StrList names = options_list(o->arena, list, ',');
  for (uint32_t i = 0; i < names.count; i++)
    if (options_has(o, names.data[i])) return names.data[i];
  return NULL;
}

static const char *dashed(const Options *o, const char *name) {
  return arena_printf(o->arena, "%s%s", strcmp(name, "MD") && strcmp(name, "MF") ? "--" : "-", name);
}

static const char *alternatives(const Options *o, const char *list) {
  Buf b = buf_make(o->arena);
  const StrList names = options_list(o->arena, list, ',');
  for (uint32_t i = 0; i < names.count; i++) buf_printf(&b, "%s%s", i ? " or " : "", dashed(o, names.data[i]));
  return buf_str(&b);
}

static bool check_rule(const Options *o, const Rule *r, tile_error **error) {
  const char *other = given_of(o, r->without);
  if (!options_has(o, r->option)) return true;
  if (*r->needs && !given_of(o, r->needs))
    return error_set(error, TILE_ERROR_USAGE, "%s has no effect without %s", dashed(o, r->option),
                     alternatives(o, r->needs)), false;
  if (other)
    return error_set(error, TILE_ERROR_USAGE, "%s has no effect with %s", dashed(o, r->option),
                     dashed(o, other)), false;
  return true;
}

static void warn_folders(const Options *o) {
  for (uint32_t i = 0; !o->quiet && i < o->include_paths.count; i++) {
    const char *path = o->include_paths.data[i];
    struct stat st;
    const int reason = stat(path, &st) ? errno : S_ISDIR(st.st_mode) ? 0 : ENOTDIR;
    if (reason)
      cli_say(o, TILE_LEVEL_WARNING, "-I %s: %s; name the folder that has the modules to import", path,
              strerror(reason));
  }
}

bool cli_check_options(const Options *o, Command command, tile_error **error) {
  const char *idle = given_of(o, command == COMMAND_TUNE ? no_tune : command == COMMAND_PACK ? no_pack : "");
  if (idle)
    return error_set(error, TILE_ERROR_USAGE, "%s has no effect in `tilec %s`", dashed(o, idle),
                     command == COMMAND_TUNE ? "tune" : "pack"), false;
  for (uint32_t i = 0; command == COMMAND_RUN && i < countof(run_rules); i++)
    if (!check_rule(o, &run_rules[i], error)) return false;
  warn_folders(o);
  return true;
}
