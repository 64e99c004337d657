// tilec: compiles a file and writes the outputs, or runs a subcommand: `run` is in run.c and run_commands.c, `tune` in
// tune_main.c, `pack` in pack_main.c, `cache` in cache_main.c.
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "ir/deep_stack.h"
#include "runtime/cli/cli.h"
#include "runtime/compile/compile.h"
#include "runtime/jit/jit.h"

static int compile_main(const Options *o) {
  tile_error *error = NULL;
  tile_program *program = NULL;
  Buf printed = buf_make(o->arena), times = buf_make(o->arena);
  CompileJob job = {.options = o, .config = -1, .color = cli_color(o), .printed = &printed, .times = &times};
  FileUses uses = {0};
  tile_status status = TILE_ERROR_USAGE;
  const bool writes = outputs_wanted(o);
  const unsigned emits = writes ? outputs_choose(o, &error) : 0;
  job.emit = emits | (o->report ? TILE_EMIT_REPORT : 0);
  if (emits || !writes) status = cli_input(o->arena, o, NULL, &job.path, &job.text, &job.size, &error);
  if (status == TILE_OK) status = compile_job(&job, &program, &error);
  cli_tell(&job, program);
  if (status == TILE_OK && writes) status = outputs_write(o, program, job.path, emits, &uses, &error);
  cli_report(o, program, error, outputs_fill_stdout(o, emits));
  tile_program_free(program);
  return cli_finish(status, error, o);
}

// `tilec help` and `tilec help NAME` are --help.
static int help_main(const Options *options, int argc, char **argv) {
  Options o = *options;
  Command command = COMMAND_COMPILE;
  tile_error *error = NULL;
  int exit_status;
  Buf names = buf_make(o.arena);
  for (Command c = COMMAND_RUN; c < NUM_COMMANDS; c++) {
    if (argc > 2 && !strcmp(argv[2], options_command_name(c))) command = c;
    buf_printf(&names, "%s%s", names.size ? ", " : "", options_command_name(c));
  }
  if (argc > 3 || (argc == 3 && command == COMMAND_COMPILE)) {
    error_set(&error, TILE_ERROR_USAGE, "write tilec help, or tilec help NAME; the subcommands are %s",
              buf_str(&names));
    return cli_finish(TILE_ERROR_USAGE, error, &o);
  }
  o.help = true;
  cli_answer(&o, command, &exit_status);
  return exit_status;
}

static int run_command(Arena *arena, Options *options, int argc, char **argv) {
  Command command = COMMAND_COMPILE;
  for (Command c = COMMAND_RUN; argc > 1 && c < NUM_COMMANDS; c++)
    if (!strcmp(argv[1], options_command_name(c))) command = c;
  const int skip = argc > 0 ? 1 + (command != COMMAND_COMPILE) : 0;
  tile_error *error = NULL;
  int exit_status;
  if (argc > 1 && !strcmp(argv[1], "jit-worker")) return jit_worker_main(arena);
  if (argc > 1 && !strcmp(argv[1], "help")) return help_main(options, argc, argv);
  if (!options_parse(options, command, argc - skip, (const char *const *)argv + skip, &error))
    return cli_finish(tile_error_status(error), error, options);
  if (cli_answer(options, command, &exit_status)) return exit_status;
  if (!cli_check_options(options, command, &error)) return cli_finish(tile_error_status(error), error, options);
  cli_warn_environment(options);
  if (options->commands) return commands_main(options);
  switch (command) {
  case COMMAND_RUN: return run_main(options, arena);
  case COMMAND_TUNE: return tune_main(options, arena);
  case COMMAND_PACK: return pack_main(options, arena);
  case COMMAND_CACHE: return cache_main(options, arena);
  default: return compile_main(options);
  }
}

static int command_main(Arena *arena, int argc, char **argv) {
  Options options;
  options_init(&options, arena);
  cli_begin_messages(&options, argc, argv);
  const int exit_status = run_command(arena, &options, argc, argv);
  cli_end_messages(&options, exit_status);
  return exit_status;
}

static int guarded_main(Arena *arena, int argc, char **argv) {
  jmp_buf on_empty, *const empty = &on_empty;
  arena_init_with(arena, (ArenaMemory){0}, &empty);
  if (!setjmp(on_empty)) return command_main(arena, argc, argv);
  fputs("tilec: error: out of memory\n", stderr);
  return TILE_ERROR_RUN;
}

// Reports that standard output could not be written: a full disk may show only at the last write.
static int finish_output(int exit_status) {
  errno = 0;
  if ((fflush(stdout) == 0 && !ferror(stdout)) || exit_status == TILE_ERROR_FILE) return exit_status;
  fprintf(stderr, "tilec: error: cannot write standard output%s%s\n", errno ? ": " : "", errno ? strerror(errno) : "");
  return exit_status ? exit_status : TILE_ERROR_FILE;
}

typedef struct { int argc; char **argv; int exit_status; } Main;

static void main_on_deep_stack(void *user) {
  Main *m = user;
  Arena arena;
  m->exit_status = finish_output(guarded_main(&arena, m->argc, m->argv));
  arena_free(&arena);
}

int main(int argc, char **argv) {
  signal(SIGXFSZ, SIG_IGN);   // a write over the limit of a file's size then fails instead, and its error is handled
  temporary_remove_on_signals();
  Main m = {argc, argv, TILE_ERROR_RUN};
  if (!deep_stack_run(main_on_deep_stack, &m)) fputs("tilec: error: out of memory\n", stderr);
  return m.exit_status;
}
