// What tilec's subcommands share.
#ifndef TILE_RUNTIME_CLI_H
#define TILE_RUNTIME_CLI_H

#include "runtime/cli/file_uses.h"
#include "runtime/compile/compile.h"

bool cli_color(const Options *o);                                    // for standard error
// Prints the error (if any) to standard error, frees it, and returns the exit status.
int cli_finish(tile_status status, tile_error *error, const Options *o);
// If --diagnostics-format asks for a document, begins it: messages go there from then on. The whole command line is
// searched first, so that messages about other arguments go there, too. cli_end_messages writes it to standard error.
void cli_begin_messages(Options *o, int argc, char **argv);
void cli_end_messages(const Options *o, int exit_status);
// Prints a message without a place: "tilec: TEXT", or "tilec: warning: TEXT".
void cli_say(const Options *o, tile_level level, const char *fmt, ...) PRINTF_LIKE(3, 4);
// Answers --help, --version, --list-archs and the like. True if one of them is given.
bool cli_answer(const Options *o, Command command, int *exit_status);
// False, with a usage error, if an option would have no effect in this subcommand or together with the others.
// Also warns of folders of -I that do not exist.
bool cli_check_options(const Options *o, Command command, tile_error **error);
// Writes to standard error what the job printed and the program's warnings and configuration. program: NULL if the
// compilation failed.
void cli_tell(const CompileJob *job, tile_program *program);
// Opens a device whose log goes to standard error.
tile_status cli_open_device(const char *spec, tile_device **device, tile_error **error);
void cli_warn_environment(const Options *o);                       // environment.c: misspelled names, to standard error
bool cli_read_number(const char *text, double *value);              // all of text, as strtod reads it
// The one input file, read; "-" is standard input. command: the subcommand, or NULL.
tile_status cli_input(Arena *a, const Options *o, const char *command, const char **path, const char **text,
                      size_t *size, tile_error **error);

// Writes the report of --report, if that is given, to standard output or, if an output goes there, to standard error.
// program or error may be NULL.
void cli_report(const Options *o, const tile_program *program, const tile_error *error, bool is_stdout_taken);

// outputs.c
bool outputs_wanted(const Options *o);                               // false: only a report is
bool outputs_fill_stdout(const Options *o, unsigned emits);          // whether one of them goes to standard output
unsigned outputs_choose(const Options *o, tile_error **error);       // TILE_EMIT_*; 0 after an error
// Writes nothing if a file among the outputs is in use.
tile_status outputs_write(const Options *o, const tile_program *p, const char *input, unsigned emits, FileUses *uses,
                          tile_error **error);

// The make rule of -MD and -MF, if either is given.
tile_status outputs_use_depfile(const Options *o, const char *target, FileUses *uses, tile_error **error);
tile_status outputs_write_depfile(const Options *o, const StrList *files, const char *target, tile_error **error);

int run_main(const Options *o, Arena *arena);                        // run.c
int tune_main(const Options *o, Arena *arena);                       // tune_main.c
int commands_main(const Options *o);                                  // run_commands.c
int pack_main(const Options *o, Arena *arena);                       // pack_main.c
int cache_main(const Options *o, Arena *arena);                      // cache_main.c

#endif
