#include "runtime/compile/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ir/context.h"
#include "ir/utf8.h"
#include "runtime/compile/error.h"
#include "runtime/compile/temporary.h"

enum { MAX_STREAM = 1 << 30 };   // bytes of a pipe or a device

static tile_status failed(tile_error **error, const char *what, const char *path) {
  return error_set(error, TILE_ERROR_FILE, "cannot %s %s: %s", what, path, strerror(errno));
}

// The stream's bytes in memory of malloc's. NULL if there is not enough of it, or more than `limit` bytes (*size is
// then above it).
static char *read_stream(FILE *f, size_t limit, size_t *size) {
  size_t capacity = 1 << 16, n = 0, got;
  char *data = malloc(capacity + 1);
  while (data && n <= limit && (got = fread(data + n, 1, capacity - n, f)) > 0) {
    n += got;
    if (n < capacity) continue;
    char *bigger = realloc(data, capacity * 2 + 1);
    if (!bigger) free(data);
    data = bigger;
    capacity *= 2;
  }
  *size = n;
  if (data && n > limit) {
    free(data);
    data = NULL;
  }
  return data;
}

static tile_status read_at_most(Arena *a, const char *path, size_t limit, const char **text, size_t *size,
                                tile_error **error) {
  bool is_stdin = !strcmp(path, "-");
  FILE *f = is_stdin ? stdin : fopen(path, "rbe");
  if (!f) return failed(error, "read", path);
  struct stat st = {0};
  tile_status status = TILE_OK;
  if (fstat(fileno(f), &st) == 0 && S_ISDIR(st.st_mode)) {
    errno = EISDIR;
    status = failed(error, "read", path);
  } else {
    if (!S_ISREG(st.st_mode) && limit > MAX_STREAM) limit = MAX_STREAM;
    size_t n;
    char *data = read_stream(f, limit, &n), *copy;
    if (!data && n > limit)
      status = error_set(error, TILE_ERROR_FILE, "cannot read %s: it has more than %zu MB", path, limit >> 20);
    else if (!data) status = error_set(error, TILE_ERROR_NO_MEMORY, "out of memory while reading %s", path);
    else if (ferror(f)) status = failed(error, "read", path);
    else if (!(copy = arena_try(a, n + 1)))
      status = error_set(error, TILE_ERROR_NO_MEMORY, "out of memory while reading %s", path);
    else *text = memcpy(copy, data, n), *size = n;
    free(data);
  }
  if (!is_stdin) fclose(f);
  return status;
}

tile_status file_read(Arena *a, const char *path, const char **text, size_t *size, tile_error **error) {
  return read_at_most(a, path, SIZE_MAX, text, size, error);
}

// Neither a zero byte nor a wrong character alone makes it none: a text may have such a mistake, which has its message.
static bool is_text(const char *text, size_t size) {
  if (!memchr(text, 0, size)) return true;
  uint32_t code;
  for (size_t i = 0, n; i < size; i += n)
    if (!(n = utf8_decode(text + i, size - i, &code))) return false;
  return true;
}

tile_status file_read_source(Arena *a, const char *path, const char **text, size_t *size, tile_error **error) {
  RETURN_IF_FAILED(read_at_most(a, path, SOURCE_MAX, text, size, error));
  if (is_text(*text, *size)) return TILE_OK;
  return error_set(error, TILE_ERROR_FILE, "cannot read %s as a source: it is not text", path);
}

static bool write_all(FILE *f, const void *data, size_t size) {
  bool ok = fwrite(data, 1, size, f) == size;
  return fflush(f) == 0 && ok;
}

// Writes as a shell's > does: a device, a pipe or the target of a symbolic link stays what it is.
static tile_status write_through(const char *path, const void *data, size_t size, tile_error **error) {
  FILE *f = fopen(path, "wbe");
  if (!f) return failed(error, "write", path);
  bool ok = write_all(f, data, size);
  ok = fclose(f) == 0 && ok;
  return ok ? TILE_OK : failed(error, "write", path);
}

enum { MAX_ATTEMPTS = 100 };         // to find an unused name

tile_status file_write(Arena *a, const char *path, const void *data, size_t size, tile_error **error) {
  if (!strcmp(path, "-")) return write_all(stdout, data, size) ? TILE_OK : failed(error, "write", "standard output");
  struct stat st;
  bool exists = lstat(path, &st) == 0;
  if (exists && !S_ISREG(st.st_mode)) return write_through(path, data, size, error);
  if (exists && access(path, W_OK) != 0) return failed(error, "write", path);
  const size_t n = strlen(path) + 32;
  char *temporary = arena_try(a, n);
  if (!temporary) return error_set(error, TILE_ERROR_NO_MEMORY, "out of memory while writing %s", path);
  // open applies the process's umask. To read the umask is to change it, for other threads too.
  int fd = -1;
  const Temporary registered = {.path = temporary};
  sigset_t mask;
  temporary_hold(&mask);
  for (unsigned attempt = 0; fd < 0 && attempt < MAX_ATTEMPTS; attempt++) {
    snprintf(temporary, n, "%s.%ld.%u", path, (long)getpid(), attempt);
    fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, exists ? st.st_mode & 0777 : 0666);
    if (fd < 0 && errno != EEXIST) break;
  }
  if (fd >= 0) temporary_register(&registered);
  temporary_release(&mask);
  // The process may be allowed to write the file and not its folder, and the name may have the greatest length.
  if (fd < 0 && (errno == EACCES || errno == EPERM || errno == ENAMETOOLONG))
    return write_through(path, data, size, error);
  if (fd < 0) return failed(error, "write", path);
  if (exists) fchmod(fd, st.st_mode & 07777);
  FILE *f = fdopen(fd, "wb");
  bool ok = f && write_all(f, data, size);
  ok = (f ? fclose(f) : close(fd)) == 0 && ok;
  ok = ok && rename(temporary, path) == 0;
  tile_status status = ok ? TILE_OK : failed(error, "write", path);
  if (!ok) unlink(temporary);
  temporary_forget(&registered);
  return status;
}
