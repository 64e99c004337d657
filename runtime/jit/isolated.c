// isolate: a variant is compiled by a tilec process, so that a crash of the compiler, or one that does not end, is an
// error of one launch. The request goes to its standard input, the PTX (or a status and a message) comes back on its
// standard output. A source is read by such a process before it is read here: what its module level does to the
// evaluator happens there first.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ir/clock.h"
#include "runtime/jit/jit.h"
#include "runtime/compile/compile.h"
#include "runtime/jit/jit_impl.h"

extern char **environ;

enum { REQUEST_MAGIC = 0x716a6c74, ANSWER_MAGIC = 0x616a6c74, POLL_MS = 20, MAX_TEXT = 1 << 30 };

// ---- bytes ----

static void put_u64(Buf *b, uint64_t v) { buf_write(b, (const char *)&v, sizeof v); }
static void put_bytes(Buf *b, const char *s, size_t n) {
  put_u64(b, n);
  buf_write(b, s, n);
}
static void put_text(Buf *b, const char *s) { put_bytes(b, s, strlen(s)); }

typedef struct { const char *at; size_t left; Arena *arena; bool bad; } Reader;
static uint64_t take_u64(Reader *r) {
  uint64_t v = 0;
  if (r->left < sizeof v) return r->bad = true, 0;
  memcpy(&v, r->at, sizeof v);
  r->at += sizeof v;
  r->left -= sizeof v;
  return v;
}
static const char *take_bytes(Reader *r, size_t *size) {
  uint64_t n = take_u64(r);
  *size = 0;
  if (r->bad || n > r->left) return r->bad = true, "";
  const char *s = arena_strndup(r->arena, r->at, n);
  r->at += n;
  r->left -= n;
  *size = n;
  return s;
}
static const char *take_text(Reader *r) {
  size_t n;
  return take_bytes(r, &n);
}

// ---- the request ----

static void write_arg(Buf *b, const tile_arg *a);

static void write_tuple(Buf *b, const tile_tuple *t) {
  put_u64(b, t->num_items);
  put_text(b, t->type_name ? t->type_name : "");
  for (uint32_t i = 0; i < t->num_items; i++) write_arg(b, &t->items[i]);
}

static void write_arg(Buf *b, const tile_arg *a) {
  put_u64(b, (uint64_t)a->kind);
  put_u64(b, (uint64_t)a->type);
  if (a->kind == TILE_ARG_TEXT) put_text(b, a->value.text);
  else if (a->kind == TILE_ARG_TUPLE) write_tuple(b, a->value.tuple);
  else if (a->kind == TILE_ARG_TENSOR) buf_write(b, (const char *)a->value.tensor, sizeof *a->value.tensor);
  else put_u64(b, (uint64_t)a->value.i);
}
static void read_arg(Reader *r, tile_arg *a, uint32_t depth);

static const tile_tuple *read_tuple(Reader *r, uint32_t depth) {
  uint64_t n = take_u64(r);
  const char *name = take_text(r);
  tile_tuple *t = arena_new(r->arena, tile_tuple);
  if (n > r->left || depth > JIT_MAX_DEPTH) return r->bad = true, t;
  tile_arg *items = arena_array(r->arena, tile_arg, n + 1);
  for (uint64_t i = 0; i < n; i++) read_arg(r, &items[i], depth + 1);
  *t = (tile_tuple){items, (uint32_t)n, *name ? name : NULL};
  return t;
}

static void read_arg(Reader *r, tile_arg *a, uint32_t depth) {
  a->kind = (tile_arg_kind)take_u64(r);
  a->type = (tile_type)take_u64(r);
  if (a->kind == TILE_ARG_TEXT) {
    a->value.text = take_text(r);
  } else if (a->kind == TILE_ARG_TUPLE) {
    a->value.tuple = read_tuple(r, depth);
  } else if (a->kind == TILE_ARG_TENSOR && r->left >= sizeof(tile_tensor)) {
    tile_tensor *t = arena_new(r->arena, tile_tensor);
    memcpy(t, r->at, sizeof *t);
    r->at += sizeof *t;
    r->left -= sizeof *t;
    a->value.tensor = t;
  } else {
    a->value.i = (int64_t)take_u64(r);
  }
}

static void write_source(Buf *b, const tile_jit *jit) {
  put_u64(b, REQUEST_MAGIC);
  put_text(b, tile_version());
  put_text(b, jit->device->arch);
  put_text(b, jit->path);
  put_bytes(b, jit->text, jit->size);
  put_u64(b, jit->num_option_texts);
  for (uint32_t i = 0; i < jit->num_option_texts; i++) put_text(b, jit->option_texts[i]);
  put_u64(b, jit->options.include_paths.count);
  for (uint32_t i = 0; i < jit->options.include_paths.count; i++) put_text(b, jit->options.include_paths.data[i]);
}

// No name: the source is to be read and no more.
static void write_request(Buf *b, const tile_jit *jit, const Request *r, int config) {
  write_source(b, jit);
  put_text(b, r ? r->kernel->name : "");
  if (!r) return;
  const tile_jit_kernel *k = r->kernel;
  put_u64(b, (uint64_t)(int64_t)config);
  const int numbers[] = {r->options->num_warps, r->options->num_stages, r->options->num_ctas, r->options->maxnreg};
  for (uint32_t i = 0; i < countof(numbers); i++) put_u64(b, (uint64_t)numbers[i]);
  put_u64(b, k->num_params);
  for (uint32_t i = 0; i < k->num_params; i++) write_arg(b, &r->args[i]);
}

// ---- the child ----

static const char **take_texts(Reader *r, size_t *n) {
  *n = take_u64(r);
  if (*n > r->left) r->bad = true, *n = 0;
  const char **texts = arena_array(r->arena, const char *, *n + 1);
  for (size_t i = 0; i < *n; i++) texts[i] = take_text(r);
  return texts;
}

static tile_status answer_request(Reader *r, Arena *a, const char **ptx, const char **files, tile_error **error) {
  if (take_u64(r) != REQUEST_MAGIC)
    return error_set(error, TILE_ERROR_USAGE, "standard input holds no request of a JIT");
  const char *version = take_text(r), *arch = take_text(r), *path = take_text(r);
  if (strcmp(version, tile_version()))
    return error_set(error, TILE_ERROR_USAGE, "this tilec is version %s and the library is %s", tile_version(),
                     version);
  size_t size;
  const char *text = take_bytes(r, &size);
  tile_jit_options o = TILE_JIT_OPTIONS_INIT;
  o.no_cache = true;
  o.options = take_texts(r, &o.num_options);
  o.include_paths = take_texts(r, &o.num_include_paths);
  const char *name = take_text(r);
  const bool only_reads = !*name;
  int config = only_reads ? 0 : (int)(int64_t)take_u64(r);
  tile_jit_launch_options launch = TILE_JIT_LAUNCH_OPTIONS_INIT;
  int *const numbers[] = {&launch.num_warps, &launch.num_stages, &launch.num_ctas, &launch.maxnreg};
  for (uint32_t i = 0; i < countof(numbers) && !only_reads; i++) *numbers[i] = (int)take_u64(r);
  uint64_t num_args = only_reads ? 0 : take_u64(r);
  tile_arg args[JIT_MAX_PARAMS];
  for (uint64_t i = 0; i < num_args && num_args <= JIT_MAX_PARAMS; i++) read_arg(r, &args[i], 0);
  if (r->bad || num_args > JIT_MAX_PARAMS)
    return error_set(error, TILE_ERROR_USAGE, "the request of the JIT is damaged");
  // Nothing runs here: of a device only the architecture is looked at.
  tile_device device = {.kind = "gpu", .arch = arch, .hooks = TILE_HOOKS_INIT};
  tile_jit *jit;
  tile_jit_kernel *k;
  tile_status status = tile_jit_open_memory(&device, path, text, size, &o, &jit, error);
  if (status != TILE_OK) return status;
  if (only_reads) return tile_jit_close(jit), TILE_OK;
  status = tile_jit_get_kernel(jit, name, &k, error);
  if (status == TILE_OK && k->num_params != num_args)
    status = error_set(error, TILE_ERROR_USAGE, "the request of the JIT has %llu arguments",
                       (unsigned long long)num_args);
  const Request request = {k, NULL, &launch, args, NULL};
  if (status == TILE_OK) status = jit_compile_ptx(&request, config, a, ptx, files, error);
  tile_jit_close(jit);
  return status;
}

static bool read_all(int fd, Buf *b) {
  char chunk[4096];
  for (;;) {
    ssize_t n = read(fd, chunk, sizeof chunk);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n == 0;
    buf_write(b, chunk, (size_t)n);
  }
}

int jit_worker_main(Arena *arena) {
  Buf in = buf_make(arena), out = buf_make(arena);
  tile_error *error = NULL;
  const char *ptx = "", *files = "";
  tile_status status = read_all(STDIN_FILENO, &in)
                           ? TILE_OK
                           : error_set(&error, TILE_ERROR_FILE, "the request of the JIT cannot be read");
  Reader r = {buf_str(&in), in.size, arena, false};
  if (status == TILE_OK) status = answer_request(&r, arena, &ptx, &files, &error);
  put_u64(&out, ANSWER_MAGIC);
  put_u64(&out, status);
  put_text(&out, status == TILE_OK ? ptx : tile_error_message(error));
  put_text(&out, files);
  tile_error_free(error);
  return fwrite(buf_str(&out), 1, out.size, stdout) == out.size && fflush(stdout) == 0 ? 0 : TILE_ERROR_FILE;
}

// ---- the parent ----

// The one that was named, that of TILE_TILEC, the one installed beside this library, else the PATH's.
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

// The request is sent and the answer read until the child has said all, or must not go on. TILE_OK does not mean that
// what it said is right: what one that died early left unread is in its exit status.
static tile_status converse(const tile_jit *jit, int fd, const Buf *request, Buf *out, tile_error **error) {
  double deadline = jit->compile_seconds > 0 ? clock_seconds() + jit->compile_seconds : 0;
  char chunk[4096];
  const char *unsent = request->data;
  for (size_t left = request->size;;) {
    if (jit->hooks.should_stop && jit->hooks.should_stop(jit->hooks.user))
      return error_set(error, TILE_ERROR_CANCELLED, "stopped while compiling");
    if (deadline > 0 && clock_seconds() > deadline)
      return error_set(error, TILE_ERROR_CANCELLED, "the compilation took longer than %g s", jit->compile_seconds);
    struct pollfd p = {fd, POLLIN | (left ? POLLOUT : 0), 0};
    if (poll(&p, 1, POLL_MS) <= 0) continue;
    if (left && p.revents & POLLOUT) {
      ssize_t sent = send(fd, unsent, left, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent > 0) unsent += sent, left -= (size_t)sent;
      if (sent < 0 && errno != EINTR && errno != EAGAIN) left = 0;   // it reads no more
      if (!left) shutdown(fd, SHUT_WR);
      continue;
    }
    ssize_t n = recv(fd, chunk, sizeof chunk, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0 || out->size > MAX_TEXT) return TILE_OK;
    buf_write(out, chunk, (size_t)n);
  }
}

static tile_status read_answer(const Buf *in, const char *tilec, int wait_status, Arena *a, const char **ptx,
                               const char **files, tile_error **error) {
  Reader r = {in->size ? in->data : "", in->size, a, false};
  bool is_answer = take_u64(&r) == ANSWER_MAGIC;
  tile_status status = (tile_status)take_u64(&r);
  const char *text = take_text(&r), *read = take_text(&r);
  if (is_answer && !r.bad && !r.left && WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0) {
    *ptx = text;
    *files = read;
    return status == TILE_OK ? TILE_OK : error_set(error, status, "%s", text);
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

// Whatever happens, the process is gone and the socket closed afterwards.
static tile_status ask(const tile_jit *jit, const Buf *request, Arena *a, const char **text, const char **files,
                       tile_error **error) {
  const char *tilec = find_tilec(jit, a);
  Buf answer = buf_make(a);
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
    return error_set(error, TILE_ERROR_FILE, "no sockets for a compiler process: %s", strerror(errno));
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
  return status == TILE_OK ? read_answer(&answer, tilec, wait_status, a, text, files, error) : status;
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
  // What is wrong with the source is said better by who reads it here.
  if (status == TILE_ERROR_PROGRAM) status = TILE_OK;
  if (status != TILE_OK) return error_pass_on(error, why);
  tile_error_free(why);
  return TILE_OK;
}

tile_status jit_try_source(const tile_jit *jit, tile_error **error) {
  return scratch_run(hooks_memory(&jit->hooks), "reading the source", try_source, (void *)(uintptr_t)jit, error);
}
