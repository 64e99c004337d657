// Programs of the CUDA toolkit: see tool.h.
#include "runtime/compile/tool.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/compile/error.h"
#include "runtime/compile/file.h"
#include "runtime/compile/options.h"
#include "runtime/compile/temporary.h"

extern char **environ;

const char *tool_find(Arena *a, const char *variable, const char *name) {
  const char *named = getenv(variable);
  if (named && *named) return access(named, X_OK) == 0 ? named : NULL;
  const char *path = getenv("PATH");
  StrList folders = options_list(a, path ? path : "", ':');
  vec_push(a, &folders, "/usr/local/cuda/bin");
  for (uint32_t i = 0; i < folders.count; i++) {
    const char *candidate = arena_printf(a, "%s/%s", folders.data[i], name);
    if (access(candidate, X_OK) == 0) return candidate;
  }
  return NULL;
}

tile_status tool_check_named(const char *variable, tile_error **error) {
  const char *named = getenv(variable);
  if (!named || !*named || access(named, X_OK) == 0) return TILE_OK;
  return error_set(error, TILE_ERROR_FILE, "%s names %s, which is no program that can be run", variable, named);
}

int tool_run(char *const argv[], int out_fd) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  if (posix_spawn_file_actions_init(&actions)) return -1;
  if (posix_spawnattr_init(&attributes)) return posix_spawn_file_actions_destroy(&actions), -1;
  posix_spawn_file_actions_adddup2(&actions, out_fd, 1);
  posix_spawn_file_actions_adddup2(&actions, out_fd, 2);
  sigset_t mask;
  temporary_hold(&mask);
  posix_spawnattr_setsigmask(&attributes, &mask);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t pid;
  const int failed = posix_spawn(&pid, argv[0], &actions, &attributes, argv, environ);
  const Temporary child = {.process = pid};
  if (!failed) temporary_register(&child);
  temporary_release(&mask);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (failed) return -1;
  siginfo_t ended;
  while (waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT) < 0 && errno == EINTR) {}   // its id stays in use
  temporary_forget(&child);
  int status;
  while (waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) return errno == ECHILD ? TOOL_UNKNOWN : -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : WIFSIGNALED(status) ? TOOL_KILLED + WTERMSIG(status) : -1;
}

char *tool_temporary(Arena *a) {
  const char *folder = getenv("TMPDIR");
  return arena_printf(a, "%s/tilec.XXXXXX", folder && *folder ? folder : "/tmp");
}

int tool_ask(Arena *a, char *const argv[], const char **said) {
  char *log = tool_temporary(a);
  Temporary temporary;
  const int fd = temporary_make(log, &temporary);
  *said = "";
  if (fd < 0) return -1;
  size_t size;
  const int rc = tool_run(argv, fd);
  if (rc != -1) file_read(a, log, said, &size, NULL);
  close(fd);
  unlink(log);
  temporary_forget(&temporary);
  return rc;
}
