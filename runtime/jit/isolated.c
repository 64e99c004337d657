// A JIT opened with `isolate`: a tilec process (worker.c) compiles each variant, so that a crash of the compiler, or a
// compilation that does not end, is the error of one launch. The request goes to its standard input, the PTX (or a
// status and a message) comes back on its standard output. Such a process also reads the source before it is read here:
// if its module level crashes the evaluator, that happens there.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ir/clock.h"
#include "runtime/compile/compile.h"
#include "runtime/jit/wire.h"

extern char **environ;

enum { POLL_MS = 20, MAX_TEXT = 1 << 30 };

static void write_source(Buf *b, const tile_jit *jit) {
  wire_put_u64(b, WIRE_REQUEST);
  wire_put_text(b, tile_version());
  wire_put_text(b, jit->device->arch);
  wire_put_text(b, jit->path);
  wire_put_bytes(b, jit->text, jit->size);
  wire_put_u64(b, jit->num_option_texts);
  for (uint32_t i = 0; i < jit->num_option_texts; i++) wire_put_text(b, jit->option_texts[i]);
  wire_put_u64(b, jit->num_source_map);
  for (size_t i = 0; i < jit->num_source_map; i++) {
    wire_put_u64(b, jit->source_map[i].first_line), wire_put_u64(b, jit->source_map[i].file_line);
    wire_put_text(b, jit->source_map[i].file);
  }
  wire_put_u64(b, jit->options.include_paths.count);
  for (uint32_t i = 0; i < jit->options.include_paths.count; i++) wire_put_text(b, jit->options.include_paths.data[i]);
}

// r NULL: the process only reads the source.
static void write_request(Buf *b, const tile_jit *jit, const Request *r, int config) {
  write_source(b, jit);
  wire_put_text(b, r ? r->kernel->name : "");
  if (!r) return;
  const tile_jit_kernel *k = r->kernel;
  wire_put_launch(b, &(WireLaunch){config, *r->options, (tile_arg *)(uintptr_t)r->args, k->num_params});
}

// The tilec that was named, or TILE_TILEC, or the one installed beside this library, or the PATH's.
static const char *find_tilec(const tile_jit *jit, Arena *a) {
  const char *named = getenv("TILE_TILEC");
  if (jit->tilec || (named && *named)) return jit->tilec ? jit->tilec : named;
  Dl_info here;
  if (dladdr((const void *)(uintptr_t)&tile_version, &here) && here.dli_fname) {
    const char *slash = strrchr(here.dli_fname, '/');
    static const char *const beside[] = {"tilec", "../bin/tilec", "../../bin/tilec"};
    for (uint32_t i = 0; slash && i < countof(beside); i++) {
      const char *path = arena_printf(a, "%.*s/%s", (int)(slash - here.dli_fname), here.dli_fname, beside[i]);
      if (!access(path, X_OK)) return path;
    }
  }
  return "tilec";
}

static bool spawn_worker(const char *tilec, int fd, pid_t *pid) {
  posix_spawn_file_actions_t actions;
  if (posix_spawn_file_actions_init(&actions)) return false;
  posix_spawn_file_actions_adddup2(&actions, fd, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fd, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  char *argv[] = {(char *)(uintptr_t)tilec, (char *)(uintptr_t)"jit-worker", NULL};
  bool ok = !posix_spawnp(pid, tilec, &actions, NULL, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  return ok;
}

// Sends the request and reads the answer until the child has sent all of it or must stop. After TILE_OK the answer may
// still be wrong: if the child died early, its exit status says so.
static tile_status converse(const tile_jit *jit, int fd, const Buf *request, Buf *out, tile_error **error) {
  double deadline = jit->compile_seconds > 0 ? clock_seconds() + jit->compile_seconds : 0;
  char chunk[4096];
  const char *unsent = request->data;
  for (size_t left = request->size;;) {
    if (jit->hooks.should_stop && jit->hooks.should_stop(jit->hooks.user))
      return error_set(error, TILE_ERROR_CANCELLED, "stopped while compiling");
    if (deadline > 0 && clock_seconds() > deadline)
      return error_set(error, TILE_ERROR_CANCELLED,
                       "the compilation took longer than %g s; compile_seconds sets the limit", jit->compile_seconds);
    struct pollfd p = {fd, POLLIN | (left ? POLLOUT : 0), 0};
    if (poll(&p, 1, POLL_MS) <= 0) continue;
    if (left && p.revents & POLLOUT) {
      ssize_t sent = send(fd, unsent, left, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent > 0) unsent += sent, left -= (size_t)sent;
      if (sent < 0 && errno != EINTR && errno != EAGAIN) left = 0;   // the child reads no more
      if (!left) shutdown(fd, SHUT_WR);
      continue;
    }
    ssize_t n = recv(fd, chunk, sizeof chunk, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0 || out->size > MAX_TEXT) return TILE_OK;
    buf_write(out, chunk, (size_t)n);
  }
}

// Reads the messages at the end of an answer, and passes them on to `log` unless it is NULL. False if they are damaged.
static bool take_log(WireReader r, const tile_hooks *log) {
  uint64_t count = wire_take_u64(&r);
  for (; count && !r.bad; count--) {
    const tile_level level = (tile_level)wire_take_u64(&r);
    const char *text = wire_take_text(&r);
    if (log && log->log && !r.bad) log->log(log->user, level, text);
  }
  return !r.bad && !r.left;
}

static tile_status read_answer(const Buf *in, const tile_jit *jit, const char *tilec, int wait_status, Arena *a,
                               const char **ptx, const char **files, tile_error **error) {
  WireReader r = {in->size ? in->data : "", in->size, a, false};
  bool is_answer = wire_take_u64(&r) == WIRE_ANSWER;
  tile_status status = (tile_status)wire_take_u64(&r);
  const char *text = wire_take_text(&r), *read = wire_take_text(&r);
  const tile_resource resource = (tile_resource)wire_take_u64(&r);
  const uint64_t needed = wire_take_u64(&r), limit = wire_take_u64(&r);
  if (is_answer && !r.bad && take_log(r, NULL) && WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0) {
    *ptx = text;
    *files = read;
    take_log(r, &jit->hooks);
    if (status != TILE_OK) error_set(error, status, "%s", text);
    return status == TILE_ERROR_RESOURCES ? error_resource(error, resource, needed, limit) : status;
  }
  if (WIFSIGNALED(wait_status))
    return error_set(error, TILE_ERROR_INTERNAL, "the compiler process %s died of signal %d (%s)", tilec,
                     WTERMSIG(wait_status), strsignal(WTERMSIG(wait_status)));
  return error_set(error, TILE_ERROR_INTERNAL,
                   "the compiler process %s gave no answer and exit status %d; is it a tilec of version %s?", tilec,
                   WEXITSTATUS(wait_status), tile_version());
}

typedef struct { const tile_jit *jit; int fd; const Buf *request; Buf *answer; } Talk;

static tile_status talk(void *user, Arena *a, tile_error **error) {
  (void)a;
  const Talk *t = user;
  return converse(t->jit, t->fd, t->request, t->answer, error);
}

// After it, whatever happened, the process has ended and the socket is closed.
static tile_status ask(const tile_jit *jit, const Buf *request, Arena *a, const char **text, const char **files,
                       tile_error **error) {
  const char *tilec = find_tilec(jit, a);
  Buf answer = buf_make(a);
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
    return error_set(error, TILE_ERROR_FILE, "cannot make sockets for a compiler process: %s", strerror(errno));
  pid_t pid = 0;
  bool started = spawn_worker(tilec, pair[1], &pid);
  close(pair[1]);
  Talk t = {jit, pair[0], request, &answer};
  tile_status status =
      started ? scratch_contain(a, "talking to a compiler process", talk, &t, error)
              : error_set(error, TILE_ERROR_FILE,
                          "cannot start %s, the compiler process of an isolated JIT; TILE_TILEC names another", tilec);
  close(pair[0]);
  if (!started) return status;
  if (status != TILE_OK) kill(pid, SIGKILL);
  int wait_status = 0;
  while (waitpid(pid, &wait_status, 0) < 0 && errno == EINTR) {}
  return status == TILE_OK ? read_answer(&answer, jit, tilec, wait_status, a, text, files, error) : status;
}

tile_status jit_compile_isolated(const Request *r, int config, Arena *a, const char **ptx, const char **files,
                                 tile_error **error) {
  Buf request = buf_make(a);
  write_request(&request, r->kernel->jit, r, config);
  return ask(r->kernel->jit, &request, a, ptx, files, error);
}

static tile_status try_source(void *user, Arena *a, tile_error **error) {
  const tile_jit *jit = user;
  Buf request = buf_make(a);
  const char *text, *files;
  write_request(&request, jit, NULL, 0);
  tile_error *why = NULL;
  tile_status status = ask(jit, &request, a, &text, &files, &why);
  // Reading the source here gives the better message.
  if (status == TILE_ERROR_PROGRAM) status = TILE_OK;
  if (status != TILE_OK) return error_pass_on(error, why);
  tile_error_free(why);
  return TILE_OK;
}

tile_status jit_try_source(const tile_jit *jit, tile_error **error) {
  return jit_scratch(jit, "reading the source", try_source, (void *)(uintptr_t)jit, error);
}
