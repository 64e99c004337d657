#include "runtime/cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ir/nearest.h"
#include "passes/pass.h"
#include "runtime/compile/compile.h"

bool cli_color(const Options *o) {
  if (o->color && strcmp(o->color, "auto")) return !strcmp(o->color, "always");
  const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
  return isatty(STDERR_FILENO) && !(no && *no) && !(term && !strcmp(term, "dumb"));
}

void cli_begin_messages(Options *o, int argc, char **argv) {
  static const char name[] = "--diagnostics-format";
  for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) {
    size_t n = 0;
    while (name[n] && (argv[i][n] == name[n] || (name[n] == '-' && argv[i][n] == '_'))) n++;
    if (name[n] || (argv[i][n] && argv[i][n] != '=')) continue;
    const char *value = argv[i][n] ? argv[i] + n + 1 : i + 1 < argc ? argv[i + 1] : "";
    const MessagesForm form = messages_form(value);
    const bool is_document = form != MESSAGES_TEXT && form != NUM_MESSAGES_FORMS;
    o->messages = is_document ? messages_new(o->arena, form) : NULL;
  }
}

void cli_end_messages(const Options *o, int exit_status) {
  if (!o->messages) return;
  Buf b = buf_make(o->arena);
  messages_write(&b, o->messages, exit_status);
  fflush(stdout);
  fputs(buf_str(&b), stderr);
}

void cli_say(const Options *o, tile_level level, const char *fmt, ...) {
  const bool color = cli_color(o), warns = level == TILE_LEVEL_WARNING;
  va_list ap;
  va_start(ap, fmt);
  const char *text = arena_vprintf(o->arena, fmt, ap);
  va_end(ap);
  if (o->messages) messages_add_text(o->messages, level, text);
  else
    fprintf(stderr, "tilec: %s%s%s%s%s\n", warns && color ? "\033[1;35m" : "", warns ? "warning:" : "",
            warns && color ? "\033[0m" : "", warns ? " " : "", text);
}

int cli_finish(tile_status status, tile_error *error, const Options *o) {
  if (error && o->messages) {
    messages_add_error(o->messages, error);
    tile_error_free(error);
  } else if (error) {
    fflush(stdout);   // what led to the error comes first
    bool plain = tile_error_num_diagnostics(error) == 0, color = cli_color(o);
    if (plain) fprintf(stderr, "tilec: %serror:%s ", color ? "\033[1;31m" : "", color ? "\033[0m" : "");
    fprintf(stderr, "%s\n", tile_error_message(error));
    tile_error_free(error);
  }
  switch (status) {
  case TILE_ERROR_NO_DEVICE:
  case TILE_ERROR_DRIVER:
  case TILE_ERROR_NO_MEMORY: return TILE_ERROR_RUN;
  default: return (int)status;
  }
}

bool cli_answer(const Options *o, Command command, int *exit_status) {
  Buf b = buf_make(o->arena);
  if (o->help) {
    options_print(&b, OPTIONS_HELP, command);
  } else if (o->version) {
    buf_printf(&b, "tilec %s\nLLVM %s\n", tile_version(), compile_llvm_version());
  } else if (o->list_archs) {
    for (size_t i = 0; tile_arch_name(i); i++) buf_printf(&b, "%s\n", tile_arch_name(i));
  } else if (o->list_passes) {
    const char *text;
    for (uint32_t i = 0; passes_list(i, &text); i++) buf_printf(&b, "%-22s %s\n", passes_list(i, &text), text);
  } else if (o->print_options) {
    static const struct { const char *name; OptionsForm form; } forms[] = {
        {"man", OPTIONS_MAN}, {"json", OPTIONS_JSON}, {"bash", OPTIONS_BASH},
        {"zsh", OPTIONS_ZSH}, {"fish", OPTIONS_FISH}};
    const OptionsForm *form = NULL;
    for (uint32_t i = 0; i < countof(forms); i++)
      if (!strcmp(o->print_options, forms[i].name)) form = &forms[i].form;
    if (!form) {
      tile_error *error = NULL;
      const tile_status status =
          error_set(&error, TILE_ERROR_USAGE, "--print-options takes man, json, bash, zsh or fish, not '%s'",
                    o->print_options);
      *exit_status = cli_finish(status, error, o);
      return true;
    }
    options_print(&b, *form, command);
  } else {
    return false;
  }
  tile_error *error = NULL;
  tile_status status = file_write(o->arena, "-", buf_str(&b), b.size, &error);
  *exit_status = cli_finish(status, error, o);
  return true;
}

void cli_tell(const CompileJob *job, tile_program *p) {
  fputs(buf_str(job->printed), stderr);
  fputs(buf_str(job->times), stderr);
  const Options *o = job->options;
  if (!p || o->quiet) return;
  if (o->messages) messages_add_program(o->messages, p);
  else fputs(diag_render(&p->ctx, job->color), stderr);
  if (p->config_text)
    cli_say(o, TILE_LEVEL_REMARK, "%s takes the configuration %s", p->kernel->name, p->config_text);
}

void cli_report(const Options *o, const tile_program *p, const tile_error *error, bool is_stdout_taken) {
  Buf b = buf_make(o->arena);
  if (!o->report) return;
  const CostReport *report = p ? p->report : NULL;
  if (!strcmp(o->report, "json")) report_put_json(&b, p, error, report);
  else if (report) report_put_text(&b, &p->ctx, report);
  fputs(buf_str(&b), is_stdout_taken ? stderr : stdout);
}

static void say_on_stderr(void *user, tile_level level, const char *message) {
  (void)user, (void)level;
  fprintf(stderr, "%s\n", message);
}

tile_status cli_open_device(const char *spec, tile_device **device, tile_error **error) {
  tile_hooks hooks = TILE_HOOKS_INIT;
  hooks.log = say_on_stderr;
  tile_device_options options = TILE_DEVICE_OPTIONS_INIT;
  options.hooks = &hooks;
  return tile_device_open_with(spec, &options, device, error);
}

bool cli_read_number(const char *text, double *value) {
  char *end;
  *value = strtod(text, &end);
  return end != text && !*end;
}

// A word in place of a file may be a misspelt subcommand.
static const char *meant_command(const char *word) {
  const char *names[NUM_COMMANDS];
  uint32_t n = 0;
  for (Command c = COMMAND_RUN; c < NUM_COMMANDS; c++) names[n++] = options_command_name(c);
  return access(word, F_OK) == 0 ? NULL : nearest_name(word, names, n);
}

static tile_status too_many_inputs(const Options *o, const char *command, tile_error **error) {
  const char *name = o->inputs.data[0], *next = o->inputs.data[1], *way = "";
  if (!command && !strchr(name, '.') && access(name, F_OK))
    return error_set(error, TILE_ERROR_USAGE, "there is no file and no subcommand %s; `tilec --help` lists them", name);
  for (uint32_t i = 0; i < o->args.count; i++)
    if (!strchr(o->args.data[i], '='))
      return error_set(error, TILE_ERROR_USAGE, "--arg takes NAME=SPEC: write --arg %s=%s", o->args.data[i], next);
  if (strchr(next, '='))
    way = "; a constexpr is given with -D NAME=VALUE, an argument of `tilec run` with --arg NAME=SPEC";
  else if (!strchr(next, '.') && access(next, F_OK)) way = "; a kernel is named with -k";
  return error_set(error, TILE_ERROR_USAGE, "one input file at a time, please: %s, %s%s", name, next, way);
}

tile_status cli_input(Arena *a, const Options *o, const char *command, const char **path, const char **text,
                      size_t *size, tile_error **error) {
  if (!o->inputs.count)
    return error_set(error, TILE_ERROR_USAGE, "no input file; `tilec %s%s--help` shows how to call it",
                     command ? command : "", command ? " " : "");
  const char *name = o->inputs.data[0], *meant = command ? NULL : meant_command(name);
  if (!*name) return error_set(error, TILE_ERROR_USAGE, "the name of the input file is empty");
  if (meant)
    return error_set(error, TILE_ERROR_USAGE, "there is no file and no subcommand %s; did you mean `tilec %s`?", name,
                     meant);
  if (o->inputs.count != 1) return too_many_inputs(o, command, error);
  *path = strcmp(name, "-") ? name : o->stdin_name ? o->stdin_name : "<stdin>";
  RETURN_IF_FAILED(file_read_source(a, name, text, size, error));
  if (o->messages) messages_add_source(o->messages, *path, *text, *size);
  return TILE_OK;
}
