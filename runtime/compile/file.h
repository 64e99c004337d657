// Reads and writes whole files. A file is written under a temporary name beside it and then renamed: a run that fails
// leaves no half-written file.
#ifndef TILE_RUNTIME_FILE_H
#define TILE_RUNTIME_FILE_H

#include <string.h>

#include "ir/arena.h"
#include "runtime/tile/tile.h"

// "-" is standard input. A NUL that size does not count ends the text. A device or a pipe may give 1 GiB.
tile_status file_read(Arena *a, const char *path, const char **text, size_t *size, tile_error **error);
// The same for a program, of which SOURCE_MAX bytes are read at most.
tile_status file_read_source(Arena *a, const char *path, const char **text, size_t *size, tile_error **error);
// "-" is standard output. Devices, pipes, the targets of symbolic links, and files in folders that the process may not
// write are written in place.
tile_status file_write(Arena *a, const char *path, const void *data, size_t size, tile_error **error);

static inline bool file_has_suffix(const char *path, const char *suffix) {
  size_t n = strlen(path), m = strlen(suffix);
  return n >= m && !strcmp(path + n - m, suffix);
}

#endif
