// Whole files: read into memory; written to a temporary name beside them and renamed, so that a failed run leaves
// nothing half-written.
#ifndef TILE_RUNTIME_FILE_H
#define TILE_RUNTIME_FILE_H

#include <string.h>

#include "ir/arena.h"
#include "runtime/tile/tile.h"

// "-" is standard input. The text is NUL-terminated beside its size.
tile_status file_read(Arena *a, const char *path, const char **text, size_t *size, tile_error **error);
// "-" is standard output. Devices, pipes, symbolic links, and files in folders that are not ours to write are written
// in place.
tile_status file_write(Arena *a, const char *path, const void *data, size_t size, tile_error **error);

static inline bool file_has_suffix(const char *path, const char *suffix) {
  size_t n = strlen(path), m = strlen(suffix);
  return n >= m && !strcmp(path + n - m, suffix);
}

#endif
