// Programs of the CUDA toolkit: finds one and runs it.
#ifndef TILE_RUNTIME_TOOL_H
#define TILE_RUNTIME_TOOL_H

#include "ir/arena.h"
#include "runtime/tile/tile.h"

// The program that the environment variable names, otherwise the one of this name in PATH or in the toolkit's usual
// folder; NULL: there is none.
const char *tool_find(Arena *a, const char *variable, const char *name);
// An error if the variable names what cannot be run.
tile_status tool_check_named(const char *variable, tile_error **error);
// Runs argv with its output going to out_fd. Returns its exit status; TOOL_KILLED + n if signal n ended it; -1 if it
// did not run; TOOL_UNKNOWN if the status is lost, for example in a process that ignores SIGCHLD.
enum { TOOL_UNKNOWN = -2, TOOL_KILLED = 1000 };
int tool_run(char *const argv[], int out_fd);
// The same; *said receives what the program wrote, as far as that could be read.
int tool_ask(Arena *a, char *const argv[], const char **said);
// A file of the folder for temporary files, whose last six characters are X for mkstemp or mkdtemp.
char *tool_temporary(Arena *a);

#endif
