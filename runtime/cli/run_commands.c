// `tilec run --commands=FILE`: many runs in one process. Opening a GPU takes seconds when many processes do it at once;
// here the device stays open from the first line to the last. After the output of each run its exit status follows on
// standard output: a program that feeds lines through a pipe sees where a run ends.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "runtime/cli/cli.h"
#include "runtime/compile/compile.h"
#include "runtime/cli/session.h"

static int run_line(const Options *outer, const char *line, size_t size) {
  Arena arena;
  arena_init(&arena);
  Options o;
  options_init(&o, &arena);
  o.messages = outer->messages;
  tile_error *error = NULL;
  bool is_open;
  StrList words = options_split(&arena, line, size, &is_open);
  uint32_t skip = words.count >= 2 && !strcmp(words.data[0], "tilec") && !strcmp(words.data[1], "run") ? 2 : 0;
  bool ok = options_parse(&o, COMMAND_RUN, (int)(words.count - skip), words.data + skip, &error);
  if (ok && is_open) error_set(&error, TILE_ERROR_USAGE, "a quote is not closed in this line");
  if (ok && o.commands) error_set(&error, TILE_ERROR_USAGE, "--commands does not nest");
  // The simulator read its options when the device was opened.
  if (ok && (o.sim_seed >= 0 || o.sim_seeds >= 0 || o.sim_trace))
    error_set(&error, TILE_ERROR_USAGE, "options of the simulator hold for all lines: give them beside --commands");
  if (ok && !error) cli_check_options(&o, COMMAND_RUN, &error);
  if (!o.device) o.device = outer->device;
  if (!o.arch) o.arch = outer->arch;
  o.quiet = o.quiet || outer->quiet;
  int exit_status = error ? cli_finish(tile_error_status(error), error, &o) : run_main(&o, &arena);
  arena_free(&arena);
  return exit_status;
}

// A kernel's failure may leave the driver's context unusable. Once nobody holds that context, opening the device makes
// another.
static tile_status renew(const Options *o, tile_device **device, tile_error **error) {
  if (tile_device_synchronize(*device, NULL) == TILE_OK) return TILE_OK;
  tile_device_close(*device);
  return cli_open_device(o->device, device, error);
}

int commands_main(const Options *o) {
  tile_error *error = NULL;
  FILE *in = strcmp(o->commands, "-") ? fopen(o->commands, "r") : stdin;
  tile_device *device = NULL;
  tile_status status = in ? TILE_OK
                          : error_set(&error, TILE_ERROR_FILE, "cannot read %s: %s", o->commands, strerror(errno));
  FileUses uses = {0};
  if (status == TILE_OK && o->sim_trace) status = file_uses_add(&uses, o->arena, "--sim-trace", o->sim_trace, &error);
  if (status == TILE_OK) status = session_set_up_simulator(o, o->arena, &error);
  // The device stays open, and with it the schedule that the simulator was started with.
  if (status == TILE_OK && setenv("TILE_SIM_SEEDS", "1", 0))
    status = error_set(&error, TILE_ERROR_NO_MEMORY, "out of memory");
  if (status == TILE_OK) status = cli_open_device(o->device, &device, &error);
  int worst = 0;
  char *line = NULL;
  size_t capacity = 0;
  ssize_t n;
  for (unsigned number = 1; status == TILE_OK && (n = getline(&line, &capacity, in)) >= 0; number++) {
    if (strspn(line, " \t\r\n") == (size_t)n || line[0] == '#') continue;
    int exit_status = run_line(o, line, (size_t)n);
    if (!worst) worst = exit_status;
    if (exit_status == TILE_ERROR_RUN) status = renew(o, &device, &error);
    printf("tilec: line %u: exit status %d\n", number, exit_status);
    fflush(stdout);
  }
  if (status == TILE_OK && ferror(in))
    status = error_set(&error, TILE_ERROR_FILE, "cannot read %s: %s", o->commands, strerror(errno));
  free(line);
  if (in && in != stdin) fclose(in);
  tile_device_close(device);
  return status == TILE_OK ? worst : cli_finish(status, error, o);
}
