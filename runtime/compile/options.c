// Parses options by the table of options.def: `--name=value`, `--name value`, `-xvalue`, `-x value`. Dashes and
// underscores in names are the same; `--` ends the options; `@file` stands for the arguments in a file, quoted as for
// gcc. getopt_long does not do: it keeps its state in globals, and the library parses options too.
#include "runtime/compile/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/frontend.h"
#include "ir/target.h"
#include "ir/nearest.h"
#include "passes/pass.h"
#include "runtime/compile/error.h"
#include "runtime/compile/file.h"
#include "runtime/compile/messages.h"
#include "runtime/compile/options_rows.h"

#ifndef TILE_VERIFY_EACH
#define TILE_VERIFY_EACH 0
#endif
const OptionRow option_rows[NUM_OPTION_ROWS] = {
#define OPTION(kind_, field, name_, shorts_, arg_, def_, lo_, hi_, group_, help_)                                     \
  {KIND_##kind_, GROUP_##group_, offsetof(Options, field), name_, shorts_, arg_, help_, (int64_t)(def_), lo_, hi_},
#include "runtime/compile/options.def"
};

// What the compiler checks of a row, by its kind. An INT whose default is below its range counts as not given.
#define ROW_OF_BOOL(arg, def, lo, hi) (sizeof(arg) == 1 && ((def) == 0 || (def) == 1) && (lo) == 0 && (hi) == 1)
#define ROW_OF_INT(arg, def, lo, hi) (sizeof(arg) > 1 && (lo) < (hi) && (def) <= (hi))
#define ROW_OF_STR(arg, def, lo, hi) (sizeof(arg) > 1 && (def) == 0 && (lo) == 0 && (hi) == 0)
#define ROW_OF_LIST ROW_OF_STR
#define ROW_OF_OPT ROW_OF_STR
#define ROW_OF_FLAGS ROW_OF_STR
#define OPTION(kind_, field, name_, shorts_, arg_, def_, lo_, hi_, group_, help_)                                     \
  _Static_assert(sizeof(name_) > 2 && sizeof(name_) <= LONGEST_NAME + 1, #field ": a name has 2 to 23 characters");   \
  _Static_assert(sizeof(shorts_) <= 3 && sizeof(help_) > 1, #field ": at most two short names, and a help text");     \
  _Static_assert(ROW_OF_##kind_(arg_, def_, lo_, hi_), #field ": argument, default or range do not fit the kind");
#include "runtime/compile/options.def"

void options_init(Options *o, Arena *arena) {
  *o = (Options){.arena = arena};
  for (uint32_t i = 0; i < NUM_OPTION_ROWS; i++) {
    char *at = (char *)o + option_rows[i].offset;
    if (option_rows[i].kind == KIND_BOOL) *(bool *)at = option_rows[i].def != 0;
    if (option_rows[i].kind == KIND_INT) *(int64_t *)at = option_rows[i].def;
  }
}

static bool needs_value(const OptionRow *r) { return r->kind != KIND_BOOL && !option_may_lack_value(r); }

static bool same_name(const char *name, size_t n, const char *row) {
  for (size_t i = 0; i < n; i++)
    if ((name[i] == '_' ? '-' : name[i]) != row[i]) return false;
  return row[n] == 0;
}

static const OptionRow *find_long(const char *name, size_t n) {
  for (uint32_t i = 0; i < NUM_OPTION_ROWS; i++)
    if (!option_has_one_dash(&option_rows[i]) && same_name(name, n, option_rows[i].name)) return &option_rows[i];
  return NULL;
}

// The row of what follows a single dash: a whole name with that spelling, otherwise a letter that its value may follow.
static const OptionRow *find_short(const char *text) {
  const OptionRow *found = NULL;
  for (uint32_t i = NUM_OPTION_ROWS; i-- > 0;) {
    if (option_has_one_dash(&option_rows[i]) && !strcmp(text, option_rows[i].name)) return &option_rows[i];
    if (!option_has_one_dash(&option_rows[i]) && strchr(option_rows[i].shorts, text[0])) found = &option_rows[i];
  }
  return found;
}

// The row of "Wall": options that are mostly written with their letter.
static const OptionRow *find_flags(const char *text) {
  for (uint32_t i = 0; i < NUM_OPTION_ROWS; i++)
    if (option_rows[i].kind == KIND_FLAGS && text[0] == option_rows[i].shorts[0]) return &option_rows[i];
  return NULL;
}

// How messages name an option: "--num-warps", or `num_warps` for a user of the library.
static const char *spelled(const Options *o, const char *text) {
  return o->caller != CALLER_TILEC ? diag_with_fields(o->arena, text) : text;
}

static const char *spelling(const Options *o, const OptionRow *r) {
  return spelled(o, arena_printf(o->arena, "%s%s", option_has_one_dash(r) ? "-" : "--", r->name));
}

#define usage(error, ...) (error_set(error, TILE_ERROR_USAGE, __VA_ARGS__), false)

// How other compilers spell what tilec has, or has not.
static bool is_foreign(const char *arg, tile_error **error) {
  static const struct { const char *spelling, *way; } all[] = {
      {"-march", "the architecture is --arch=sm_90a"},
      {"-arch", "the architecture is --arch=sm_90a"},
      {"--target", "the architecture is --arch=sm_90a"},
      {"--gpu-architecture", "the architecture is --arch=sm_90a"},
      {"-c", "machine code is made with --emit=cubin, or by -o FILE.cubin"},
      {"-S", "PTX is what tilec writes: -o FILE.ptx"},
      {"-v", "the version is --version"},
      {"-std", "the language has one version"},
      {"--std", "the language has one version"}};
  const size_t n = strcspn(arg, "=");
  for (uint32_t i = 0; i < countof(all); i++)
    if (strlen(all[i].spelling) == n && !strncmp(arg, all[i].spelling, n))
      return !usage(error, "there is no option %.*s; %s", (int)n, arg, all[i].way);
  return false;
}

static bool assign(Options *o, const OptionRow *r, const char *value, tile_error **error) {
  char *at = (char *)o + r->offset;
  const char *name = spelling(o, r);
  if (value && !*value && option_names_file(r)) return usage(error, "%s takes the name of a file, not ''", name);
  switch (r->kind) {
  case KIND_BOOL: {
    static const char *const yes[] = {"1", "true", "True", "on", "yes"}, *const no[] = {"0", "false", "False", "off",
                                                                                        "no"};
    if (!value) return *(bool *)at = true;
    for (uint32_t i = 0; i < countof(yes); i++) {
      if (!strcmp(value, yes[i])) return *(bool *)at = true;
      if (!strcmp(value, no[i])) return *(bool *)at = false, true;
    }
    return usage(error, "%s takes 0 or 1, not '%s'", name, value);
  }
  case KIND_INT: {
    char *end;
    errno = 0;
    long long v = strtoll(value, &end, 10);
    if (end == value || *end || errno || v < r->lo || v > r->hi)
      return usage(error, "%s takes a whole number from %lld to %lld, not '%s'", name, (long long)r->lo,
                   (long long)r->hi, value);
    *(int64_t *)at = v;
    return true;
  }
  case KIND_STR: *(const char **)at = value; return true;
  case KIND_OPT: *(const char **)at = value ? value : ""; return true;
  case KIND_LIST: vec_push(o->arena, (StrList *)at, value); return true;
  case KIND_FLAGS: vec_push(o->arena, (StrList *)at, value ? value : ""); return true;
  }
  return false;
}

static const char *near_option(const char *text) {
  const char *names[NUM_OPTION_ROWS];
  for (uint32_t i = 0; i < NUM_OPTION_ROWS; i++) names[i] = option_rows[i].name;
  const char *near = nearest_name(text, names, NUM_OPTION_ROWS);
  const size_t n = strlen(text);
  for (uint32_t i = 0; !near && i < NUM_OPTION_ROWS; i++) {   // --warps, which is the end of --num-warps
    const size_t size = strlen(names[i]);
    if (n > 2 && size > n && names[i][size - n - 1] == '-' && !strcmp(names[i] + size - n, text)) near = names[i];
  }
  return near;
}

static bool unknown(Options *o, const char *name, size_t n, tile_error **error) {
  const char *text = arena_strndup(o->arena, name, n), *near = near_option(text);
  return near ? usage(error, "there is no option --%s; did you mean --%s?", text, near)
              : usage(error, "there is no option --%s; --help lists them", text);
}

const char *options_command_name(Command c) {
  static const char *const names[NUM_COMMANDS] = {NULL, "run", "tune", "pack", "cache"};
  return names[c];
}

static bool allowed(const Options *o, const OptionRow *r, Command command, tile_error **error) {
  if (option_is_of(r->group, command)) return true;
  for (Command c = COMMAND_COMPILE; c < NUM_COMMANDS; c++)
    if (option_is_of(r->group, c)) {
      const char *name = options_command_name(c);
      return usage(error, "%s is an option of `tilec%s%s`", spelling(o, r), name ? " " : "", name ? name : "");
    }
  return true;
}

// Parses an argument that begins with a dash. It may take the next argument as its value.
static bool parse_option(Options *o, Command command, const char *arg, const char *next, bool *took_next,
                         tile_error **error) {
  const OptionRow *r = NULL;
  const char *value = NULL;
  bool negated = false;
  if (is_foreign(arg, error)) return false;
  if (arg[1] == '-') {
    const char *name = arg + 2, *eq = strchr(name, '=');
    size_t n = eq ? (size_t)(eq - name) : strlen(name);
    if (eq) value = eq + 1;
    r = find_long(name, n);
    if (!r && n > 3 && !strncmp(name, "no-", 3)) {
      r = find_long(name + 3, n - 3);
      if (r && (r->kind != KIND_BOOL || eq)) r = NULL;
      negated = r != NULL;
    }
    if (!r) return unknown(o, name, n, error);
  } else {
    r = find_short(arg + 1);
    if (r && !option_has_one_dash(r) && arg[2]) value = arg[2] == '=' && !option_is_list(r) ? arg + 3 : arg + 2;
    if (!r) return usage(error, "there is no option %s; --help lists them", arg);
  }
  if (!allowed(o, r, command, error)) return false;
  if (negated) return assign(o, r, "0", error);
  if (needs_value(r) && !value) {
    if (!next) return usage(error, "%s needs a value: %s", spelling(o, r), r->arg);
    value = next;
    *took_next = true;
  }
  return assign(o, r, value, error);
}

static bool parse_list(Options *o, Command command, int argc, const char *const *argv, int depth, tile_error **error);

// strchr also finds the NUL that ends this: a NUL byte in a file separates words.
#define BLANKS " \t\r\n"

StrList options_split(Arena *a, const char *s, size_t size, bool *is_open) {
  StrList words = {0};
  *is_open = false;
  const char *end = s + size;
  while (s < end) {
    while (s < end && strchr(BLANKS, *s)) s++;
    if (s >= end) break;
    Buf word = buf_make(a);
    char quote = 0;
    for (; s < end && (quote || !strchr(BLANKS, *s)); s++) {
      if (*s == '\\' && quote != '\'' && s + 1 < end) buf_putc(&word, *++s);
      else if (quote ? *s == quote : *s == '"' || *s == '\'') quote = quote ? 0 : *s;
      else buf_putc(&word, *s);
    }
    *is_open = quote != 0;
    vec_push(a, &words, buf_str(&word));
  }
  return words;
}

StrList options_list(Arena *a, const char *s, char separator) {
  StrList parts = {0};
  const char stop[] = {separator, 0};
  for (size_t n; *s; s += n + (s[n] != 0)) {
    n = strcspn(s, stop);
    if (n) vec_push(a, &parts, arena_strndup(a, s, n));
  }
  return parts;
}

static bool parse_response_file(Options *o, Command command, const char *path, int depth, tile_error **error) {
  enum { DEEPEST = 8 };
  if (depth >= DEEPEST) return usage(error, "@%s: response files nest too deeply", path);
  const char *s = NULL;
  size_t size = 0;
  if (file_read_source(o->arena, path, &s, &size, error) != TILE_OK) return false;
  bool is_open;
  StrList words = options_split(o->arena, s, size, &is_open);
  if (is_open) return usage(error, "%s: a quote is not closed", path);
  return parse_list(o, command, (int)words.count, words.data, depth + 1, error);
}

static bool parse_list(Options *o, Command command, int argc, const char *const *argv, int depth, tile_error **error) {
  bool only_inputs = false;
  for (int i = 0; i < argc; i++) {
    const char *arg = argv[i];
    if (!only_inputs && !strcmp(arg, "--")) {
      only_inputs = true;
    } else if (!only_inputs && arg[0] == '-' && arg[1]) {
      bool took_next = false;
      if (!parse_option(o, command, arg, i + 1 < argc ? argv[i + 1] : NULL, &took_next, error)) return false;
      i += took_next;
    } else if (!only_inputs && arg[0] == '@' && arg[1]) {
      if (!parse_response_file(o, command, arg + 1, depth, error)) return false;
    } else {
      vec_push(o->arena, &o->inputs, arg);
    }
  }
  return true;
}

static bool is_among(const char *name, const char *const *names) {
  for (; *names; names++)
    if (!strcmp(name, *names)) return true;
  return false;
}

static const char *const remark_kinds[] = {"all", "applied", "missed", NULL};

static bool check_passes(const Options *o, const char *option, const char *list, tile_error **error) {
  uint32_t count = 0;
  while (passes_list(count, NULL)) count++;
  const char **names = arena_array(o->arena, const char *, count);
  for (uint32_t i = 0; i < count; i++) names[i] = passes_list(i, NULL);
  StrList wanted = options_list(o->arena, list ? list : "", ',');
  for (uint32_t k = 0; k < wanted.count; k++) {
    const char *name = wanted.data[k], *near;
    uint32_t i = 0;
    while (i < count && strcmp(names[i], name)) i++;
    if (i < count || (!strcmp(option, "--remarks") && is_among(name, remark_kinds))) continue;
    near = nearest_name(name, names, count);
    return usage(error, "%s: there is no pass named '%s'; %s%s", spelled(o, option), name,
                 near ? "did you mean " : "`tilec --list-passes` lists them", near ? near : "");
  }
  return true;
}

bool options_warnings(const Options *o, WarningSet *set, tile_error **error) {
  const char *near;
  *set = warning_defaults();
  for (uint32_t i = 0; i < o->warnings.count; i++)
    if (!warning_choose(set, o->warnings.data[i], &near))
      return usage(error, "%sW%s: there is no such warning%s%s%s", o->caller == CALLER_TILEC ? "-" : "",
                   o->warnings.data[i], near ? "; did you mean " : "",
                   near                        ? near
                   : o->caller == CALLER_TILEC ? "; --help lists them"
                                               : "; docs/diagnostics.md lists them",
                   near ? "?" : "");
  return true;
}

static const char *const form_names[NUM_MESSAGES_FORMS] = {"text", "json", "sarif"};

MessagesForm messages_form(const char *name) {
  MessagesForm f = MESSAGES_TEXT;
  while (f < NUM_MESSAGES_FORMS && strcmp(name, form_names[f])) f++;
  return f;
}

// Checks what the range of a row cannot say.
static bool check_values(const Options *o, tile_error **error) {
  const struct { const char *name; int64_t value; } powers[] = {{"--num-warps", o->num_warps},
                                                                {"--num-ctas", o->num_ctas}};
  for (uint32_t i = 0; i < countof(powers); i++)
    if (powers[i].value && !is_pow2_u64((uint64_t)powers[i].value))
      return usage(error, "%s takes a power of two, not %lld", spelled(o, powers[i].name), (long long)powers[i].value);
  for (uint32_t i = 0; i < o->defines.count; i++) {
    const char *eq = strchr(o->defines.data[i], '=');
    if (!eq || eq == o->defines.data[i])
      return usage(error, "%s takes NAME=VALUE, not '%s'", spelled(o, "-D"), o->defines.data[i]);
    if (!eq[1 + strspn(eq + 1, " ")])
      return usage(error, "%s %s has no value; a text stands in quotes: ''", spelled(o, "-D"), o->defines.data[i]);
  }
  WarningSet warnings;
  if (!options_warnings(o, &warnings, error)) return false;
  if (!check_passes(o, "--passes", o->passes, error)) return false;
  if (o->print_after && strcmp(o->print_after, "all") && !check_passes(o, "--print-after", o->print_after, error))
    return false;
  if (o->remarks && !check_passes(o, "--remarks", o->remarks, error)) return false;
  uint32_t ptx = (uint32_t)o->ptx_version;
  if (ptx && !target_is_ptx_version(ptx))
    return usage(error, "PTX version %u.%u is not one of 7.0 to 7.8, 8.0 to 8.8, 9.0", ptx / 10, ptx % 10);
  if (o->report && *o->report && strcmp(o->report, "text") && strcmp(o->report, "json"))
    return usage(error, "--report takes text or json, not '%s'", o->report);
  if (o->dot_precision && frontend_dot_precision(o->dot_precision) < 0)
    return usage(error, "--dot-precision takes tf32, tf32x3, ieee, bf16x3 or bf16x6, not '%s'", o->dot_precision);
  if (o->diagnostics_format && messages_form(o->diagnostics_format) == NUM_MESSAGES_FORMS)
    return usage(error, "--diagnostics-format takes text, json or sarif, not '%s'", o->diagnostics_format);
  if (o->color && strcmp(o->color, "auto") && strcmp(o->color, "always") && strcmp(o->color, "never"))
    return usage(error, "--color takes auto, always or never, not '%s'", o->color);
  return true;
}

bool options_parse(Options *o, Command command, int argc, const char *const *argv, tile_error **error) {
  return parse_list(o, command, argc, argv, 0, error) && check_values(o, error);
}

bool options_set(Options *o, const char *name, const char *value, tile_error **error) {
  while (*name == '-') name++;
  const char *eq = strchr(name, '=');
  size_t n = eq ? (size_t)(eq - name) : strlen(name);
  if (eq && !value) value = eq + 1;
  const OptionRow *r = find_long(name, n);
  if (!r && (r = find_flags(name)) != NULL) value = name + 1;
  if (!r) {
    const char *text = arena_strndup(o->arena, name, n), *near = near_option(text);
    return near ? usage(error, "there is no option '%s'; did you mean '%s'?", text, near)
                : usage(error, "there is no option '%s'; docs/reference-options.md lists them", text);
  }
  if (r->group != GROUP_COMPILE)
    return usage(error, "%s is not a compile option", spelling(o, r));
  if (!value && needs_value(r))
    return usage(error, "%s needs a value: %s", spelling(o, r), r->arg);
  return assign(o, r, value, error) && check_values(o, error);
}

void options_own(Options *o, Arena *arena) {
  o->arena = arena;
  o->inputs.capacity = o->inputs.count;   // the next push copies
  for (uint32_t i = 0; i < NUM_OPTION_ROWS; i++) {
    StrList *list = (StrList *)((char *)o + option_rows[i].offset);
    if (option_is_list(&option_rows[i])) list->capacity = list->count;
  }
}

static bool is_given(const Options *o, const OptionRow *r) {
  const char *at = (const char *)o + r->offset;
  switch (r->kind) {
  case KIND_BOOL: return *(const bool *)at != (r->def != 0);
  case KIND_INT: return *(const int64_t *)at != r->def;
  case KIND_LIST: case KIND_FLAGS: return ((const StrList *)at)->count != 0;
  default: return *(const char *const *)at != NULL;
  }
}

bool options_has(const Options *o, const char *name) {
  const OptionRow *r = NULL;
  for (uint32_t i = 0; i < NUM_OPTION_ROWS; i++)
    if (!strcmp(option_rows[i].name, name)) r = &option_rows[i];
  return r && is_given(o, r);
}

void options_given(const Options *o, const char *const *except, StrList *out) {
  for (uint32_t i = 0; i < NUM_OPTION_ROWS; i++) {
    const OptionRow *r = &option_rows[i];
    const char *at = (const char *)o + r->offset;
    if (r->group != GROUP_COMPILE || is_among(r->name, except)) continue;
    const StrList *list = (const StrList *)at;
    const char *text = NULL;
    if (!is_given(o, r)) continue;
    if (r->kind == KIND_BOOL) text = *(const bool *)at ? "1" : "0";
    if (r->kind == KIND_INT)
      text = arena_printf(o->arena, "%lld", (long long)*(const int64_t *)at);
    if (r->kind == KIND_STR || r->kind == KIND_OPT) text = *(const char *const *)at;
    for (uint32_t k = 0; k < (option_is_list(r) ? list->count : text != NULL); k++)
      vec_push(o->arena, out, arena_printf(o->arena, "%s=%s", r->name, text ? text : list->data[k]));
  }
}
