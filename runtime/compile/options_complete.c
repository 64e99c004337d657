// Completion of tilec's command line for bash, zsh and fish, from the rows of options.def.
#include <string.h>

#include "runtime/compile/options_rows.h"

static const char cache_actions[] = "stats trim clear";

// Calls put for each warning's -WNAME and -Wno-NAME, and for -Wall and -Werror.
static void put_flags(Buf *b, const OptionRow *r, void (*put)(Buf *b, const char *word)) {
  static const char *const others[] = {"all", "no-all", "error", "no-error"};
  for (uint32_t i = 0; i < countof(others); i++) put(b, arena_printf(b->arena, "%c%s", r->shorts[0], others[i]));
  for (uint32_t i = 0; i < NUM_WARNINGS; i++)
    for (int off = 0; off < 2; off++)
      put(b, arena_printf(b->arena, "%c%s%s", r->shorts[0], off ? "no-" : "", warning_info[i].name));
}

static void put_word(Buf *b, const char *word) { buf_printf(b, " -%s", word); }
static void put_zsh(Buf *b, const char *word) { buf_printf(b, "      '-%s'\n", word); }
static void put_fish(Buf *b, const char *word) { buf_printf(b, "complete -c tilec -o %s\n", word); }

// The values that an option chooses from, separated by blanks, without those that have a part to fill in (gpu:N). If
// tilec can list the values, the shell runs tilec. False if a value may be anything.
static bool put_values(Buf *b, const OptionRow *r, const char *archs) {
  if (!strcmp(r->name, "arch")) return buf_puts(b, archs), true;
  const size_t start = b->size;
  for (const char *s = r->arg; *s && strchr(r->arg, '|'); s += strcspn(s, "|"), s += *s == '|') {
    const size_t n = strcspn(s, "|");
    if (strcspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") < n) continue;
    if (b->size > start) buf_putc(b, ' ');
    buf_write(b, s, n);
  }
  return b->size > start;
}

// The options that a subcommand has, as words; those with a value end in `=` and ask for it.
static void put_words(Buf *b, Command c) {
  for (uint32_t i = 0, n = 0; i < NUM_OPTION_ROWS; i++) {
    const OptionRow *r = &option_rows[i];
    if (!option_is_of(r->group, c)) continue;
    const bool one = option_has_one_dash(r);
    const bool has_value = r->arg[0] && !one && !option_may_lack_value(r);
    buf_printf(b, "%s%s%s%s", n++ ? " " : "", one ? "-" : "--", r->name, has_value ? "=" : "");
    if (r->kind == KIND_FLAGS) put_flags(b, r, put_word);
  }
  if (c == COMMAND_CACHE) buf_printf(b, " %s", cache_actions);
}

// Bash splits words at `=`, too: the `=` is a word of its own before the value.
static void put_bash_values(Buf *out) {
  buf_puts(out, "  if [ \"$cur\" = = ]; then option=${COMP_WORDS[COMP_CWORD-1]} cur=\n"
                "  elif [ \"${COMP_WORDS[COMP_CWORD-1]}\" = = ]; then option=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
                "  case $option in\n");
  for (uint32_t i = 0; i < NUM_OPTION_ROWS; i++) {
    Buf values = buf_make(out->arena);
    if (put_values(&values, &option_rows[i], "$(\"$1\" --list-archs 2>/dev/null)"))
      buf_printf(out, "    --%s) COMPREPLY=($(compgen -W \"%s\" -- \"$cur\")) ;;\n", option_rows[i].name,
                 buf_str(&values));
  }
  buf_puts(out, "  esac\n  [ -z \"$option\" ] || return 0\n");
}

void options_print_bash(Buf *out) {
  buf_puts(out, "# bash completion of tilec\n_tilec() {\n  local cur=${COMP_WORDS[COMP_CWORD]} option=\"\" words\n"
                "  COMPREPLY=()\n");
  put_bash_values(out);
  buf_puts(out, "  case ${COMP_WORDS[1]} in\n");
  for (Command c = COMMAND_RUN; c <= NUM_COMMANDS; c++) {
    const bool is_last = c == NUM_COMMANDS;
    buf_printf(out, "    %s) words=\"", is_last ? "*" : options_command_name(c));
    put_words(out, is_last ? COMMAND_COMPILE : c);
    buf_puts(out, "\" ;;\n");
  }
  buf_puts(out, "  esac\n  if [ \"$COMP_CWORD\" = 1 ]; then words+=\"");
  for (Command c = COMMAND_RUN; c < NUM_COMMANDS; c++) buf_printf(out, " %s", options_command_name(c));
  buf_puts(out, "\"; fi\n  case $cur in\n    -* | [a-z]*) COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")) ;;\n"
                "    *) if [ \"${COMP_WORDS[1]}\" = cache ]; then COMPREPLY=(");
  buf_puts(out, cache_actions);
  buf_puts(out, "); fi ;;\n  esac\n"
                "  [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace\n  return 0\n}\n"
                "complete -o default -F _tilec tilec\n");
}

// What completes an option's value in zsh.
static void put_zsh_action(Buf *out, const OptionRow *r) {
  Buf values = buf_make(out->arena);
  if (put_values(&values, r, "$(${words[1]} --list-archs)")) buf_printf(out, ":{compadd -- %s}", buf_str(&values));
  else buf_puts(out, strstr(r->arg, "FILE") ? ":_files" : strstr(r->arg, "DIR") ? ":_directories" : ":");
}

// Without the characters that the shell's quotes and zsh's specs give a meaning; before a colon, the prefix.
static void put_plain(Buf *b, const char *s, const char *colon_prefix) {
  for (; *s && *s != '\n'; s++) {
    if (*s == ':') buf_puts(b, colon_prefix);
    if (!strchr("'[]\\\"`$", *s)) buf_putc(b, *s);
  }
}

void options_print_zsh(Buf *out) {
  buf_puts(out, "#compdef tilec\n# zsh completion of tilec\n_tilec() {\n  local -a words_of\n  case ${words[2]} in\n");
  for (Command c = COMMAND_RUN; c <= NUM_COMMANDS; c++) {
    const bool is_last = c == NUM_COMMANDS;
    buf_printf(out, "    %s) words_of=(\n", is_last ? "*" : options_command_name(c));
    for (uint32_t i = 0; i < NUM_OPTION_ROWS; i++) {
      const OptionRow *r = &option_rows[i];
      if (!option_is_of(r->group, is_last ? COMMAND_COMPILE : c)) continue;
      const bool one = option_has_one_dash(r);
      buf_printf(out, "      '%s%s%s%s[", option_is_list(r) ? "*" : "", one ? "-" : "--", r->name,
                 !r->arg[0] || one ? "" : option_may_lack_value(r) ? "=-" : "=");
      put_plain(out, r->help, "\\");
      buf_puts(out, "]");
      if (r->arg[0]) {
        buf_puts(out, option_may_lack_value(r) ? "::" : ":");
        put_plain(out, r->arg, "\\");
        put_zsh_action(out, r);
      }
      buf_puts(out, "'\n");
      if (r->kind == KIND_FLAGS) put_flags(out, r, put_zsh);
    }
    buf_puts(out, "      ) ;;\n");
  }
  buf_puts(out, "  esac\n  if (( CURRENT == 2 )); then compadd");
  for (Command c = COMMAND_RUN; c < NUM_COMMANDS; c++) buf_printf(out, " %s", options_command_name(c));
  buf_puts(out, "; fi\n  local operands='*:file:_files'\n");
  buf_printf(out, "  [[ ${words[2]} == cache ]] && operands='*:action:(%s)'\n", cache_actions);
  buf_puts(out, "  _arguments -s $words_of $operands\n}\n_tilec \"$@\"\n");
}

void options_print_fish(Buf *out) {
  buf_puts(out, "# fish completion of tilec\n");
  for (Command c = COMMAND_RUN; c < NUM_COMMANDS; c++)
    buf_printf(out, "complete -c tilec -n __fish_use_subcommand -a %s\n", options_command_name(c));
  buf_printf(out, "complete -c tilec -f -n '__fish_seen_subcommand_from cache' -a '%s'\n", cache_actions);
  for (uint32_t i = 0; i < NUM_OPTION_ROWS; i++) {
    const OptionRow *r = &option_rows[i];
    buf_puts(out, "complete -c tilec");
    if (!option_is_of(r->group, COMMAND_COMPILE)) {
      buf_puts(out, " -n '__fish_seen_subcommand_from");
      for (Command c = COMMAND_RUN; c < NUM_COMMANDS; c++)
        if (option_is_of(r->group, c)) buf_printf(out, " %s", options_command_name(c));
      buf_putc(out, '\'');
    }
    buf_printf(out, option_has_one_dash(r) ? " -o %s" : " -l %s", r->name);
    for (const char *s = r->shorts; *s && *s != '-'; s++) buf_printf(out, " -s %c", *s);
    const bool is_path = strstr(r->arg, "FILE") || strstr(r->arg, "DIR");
    if (r->arg[0] && !option_may_lack_value(r)) buf_puts(out, is_path ? " -r" : " -x");
    Buf values = buf_make(out->arena);
    if (!option_may_lack_value(r) && put_values(&values, r, "(tilec --list-archs)"))
      buf_printf(out, " -a '%s'", buf_str(&values));
    buf_puts(out, " -d '");
    put_plain(out, r->help, "");
    buf_puts(out, "'\n");
    if (r->kind == KIND_FLAGS) put_flags(out, r, put_fish);
  }
}
