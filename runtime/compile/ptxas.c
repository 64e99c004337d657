// Runs ptxas as a process, with temporary files for PTX and cubin. The error holds its messages.
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/compile/compile.h"

extern char **environ;

const char *ptxas_find(Arena *a) {
  const char *named = getenv("TILE_PTXAS");
  if (named && *named) return access(named, X_OK) == 0 ? named : NULL;
  const char *path = getenv("PATH");
  StrList folders = options_list(a, path ? path : "", ':');
  for (uint32_t i = 0; i < folders.count; i++) {
    const char *candidate = arena_printf(a, "%s/ptxas", folders.data[i]);
    if (access(candidate, X_OK) == 0) return candidate;
  }
  static const char usual[] = "/usr/local/cuda/bin/ptxas";
  return access(usual, X_OK) == 0 ? usual : NULL;
}

// Runs argv with its output going to out_fd. Returns its exit status; -1 if it did not run or a signal ended it;
// UNKNOWN if the status is lost, as in a process that ignores SIGCHLD.
enum { UNKNOWN = -2 };
static int spawn_and_wait(char *const argv[], int out_fd) {
  posix_spawn_file_actions_t actions;
  if (posix_spawn_file_actions_init(&actions)) return -1;
  posix_spawn_file_actions_adddup2(&actions, out_fd, 1);
  posix_spawn_file_actions_adddup2(&actions, out_fd, 2);
  pid_t pid;
  int failed = posix_spawn(&pid, argv[0], &actions, NULL, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed) return -1;
  int status;
  while (waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) return errno == ECHILD ? UNKNOWN : -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

const char *ptxas_version(Arena *a) {
  const char *ptxas = ptxas_find(a), *said = "", *found;
  const char *tmp = getenv("TMPDIR");
  char *log = arena_printf(a, "%s/tilec.XXXXXX", tmp && *tmp ? tmp : "/tmp");
  char *argv[] = {arena_printf(a, "%s", ptxas ? ptxas : ""), arena_printf(a, "--version"), NULL};
  int fd = ptxas ? mkstemp(log) : -1;
  if (fd < 0) return "ptxas";
  size_t size;
  int rc = spawn_and_wait(argv, fd);
  if (rc == 0 || rc == UNKNOWN) file_read(a, log, &said, &size, NULL);
  close(fd);
  unlink(log);
  found = strstr(said, ", V");
  return found ? arena_printf(a, "ptxas %.*s", (int)strcspn(found + 3, " \n"), found + 3) : "ptxas";
}

typedef struct { const char *arch, *extra_options; } Request;

static tile_status assemble_once(void *user, Arena *a, const char *ptx, const char **cubin, size_t *size,
                                 tile_error **error) {
  const Request *r = user;
  const char *ptxas = ptxas_find(a);
  if (!ptxas)
    return error_set(error, TILE_ERROR_FILE,
                     "a cubin needs ptxas, which was not found; put it on PATH, name it in TILE_PTXAS, or emit PTX");
  const char *tmp = getenv("TMPDIR");
  char *folder = arena_printf(a, "%s/tilec.XXXXXX", tmp && *tmp ? tmp : "/tmp");
  // All memory is allocated before the folder exists, so that a lack of memory leaves none. mkdtemp fills in its name.
  enum { ROOM = 16 };
  const size_t room = strlen(folder) + ROOM;
  char *in = arena_alloc(a, room), *out = arena_alloc(a, room), *log = arena_alloc(a, room);
  VEC(char *) argv = {0};
  char *fixed[] = {arena_printf(a, "%s", ptxas), arena_printf(a, "-arch=%s", r->arch), in, arena_printf(a, "-o"), out};
  for (uint32_t i = 0; i < countof(fixed); i++) vec_push(a, &argv, fixed[i]);
  StrList extra = options_list(a, r->extra_options ? r->extra_options : "", ' ');
  for (uint32_t i = 0; i < extra.count; i++) vec_push(a, &argv, arena_printf(a, "%s", extra.data[i]));
  vec_push(a, &argv, NULL);
  if (!mkdtemp(folder))
    return error_set(error, TILE_ERROR_FILE, "cannot make a temporary folder %s: %s", folder, strerror(errno));
  snprintf(in, room, "%s/in.ptx", folder);
  snprintf(out, room, "%s/out.cubin", folder);
  snprintf(log, room, "%s/log", folder);

  int rc = -1;
  tile_status status = file_write(a, in, ptx, strlen(ptx), error);
  FILE *f = status == TILE_OK ? fopen(log, "w+b") : NULL;
  if (f) rc = spawn_and_wait(argv.data, fileno(f)), fclose(f);
  const bool made = rc == UNKNOWN && access(out, R_OK) == 0;   // ptxas leaves no file when it fails
  if (status == TILE_OK && rc != 0 && !made) {
    const char *said = "";
    size_t n = 0;
    if (rc != -1) file_read(a, log, &said, &n, NULL);
    status = rc == -1        ? error_set(error, TILE_ERROR_FILE, "cannot run %s", ptxas)
             : rc == UNKNOWN ? error_set(error, TILE_ERROR_ASSEMBLER, "%s refused our PTX:\n%s", ptxas, said)
                             : error_set(error, TILE_ERROR_ASSEMBLER, "%s refused our PTX (exit %d):\n%s", ptxas, rc,
                                         said);
  }
  if (status == TILE_OK) status = file_read(a, out, cubin, size, error);
  unlink(in), unlink(out), unlink(log), rmdir(folder);
  return status;
}

tile_status ptxas_assemble(Arena *a, const char *ptx, const char *arch, const char *extra_options, const char **cubin,
                           size_t *size, tile_error **error) {
  return assemble_checked(assemble_once, &(Request){arch, extra_options}, a, ptx, cubin, size, error);
}
