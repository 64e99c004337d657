// Disassembles machine code with nvdisasm, a program of the CUDA toolkit.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/compile/compile.h"
#include "runtime/compile/temporary.h"
#include "runtime/compile/tool.h"

static const char variable[] = "TILE_NVDISASM";

static bool is_off(void) {
  const char *named = getenv(variable);
  return named && !strcmp(named, "none");
}

const char *sass_find(Arena *a) { return is_off() ? NULL : tool_find(a, variable, "nvdisasm"); }

tile_status sass_check(tile_error **error) { return is_off() ? TILE_OK : tool_check_named(variable, error); }

// Without the lines that nvdisasm writes to standard error.
static const char *without_warnings(Arena *a, const char *said) {
  static const char mark[] = "nvdisasm ";
  Buf b = buf_make(a);
  for (const char *s = said; *s;) {
    const size_t n = strcspn(s, "\n") + 1, size = s[n - 1] ? n : n - 1;
    if (strncmp(s, mark, sizeof mark - 1)) buf_write(&b, s, size);
    s += size;
  }
  return buf_str(&b);
}

tile_status sass_of_cubin(Arena *a, const char *cubin, size_t size, const char **text, tile_error **error) {
  const char *nvdisasm = sass_find(a), *said = "";
  RETURN_IF_FAILED(sass_check(error));
  if (!nvdisasm)
    return error_set(error, TILE_ERROR_FILE,
                     "SASS needs nvdisasm, which was not found; put it on PATH or name it in TILE_NVDISASM");
  char *in = tool_temporary(a);
  Temporary temporary;
  const int fd = temporary_make(in, &temporary);
  if (fd < 0) return error_set(error, TILE_ERROR_FILE, "cannot make a temporary file %s", in);
  close(fd);
  tile_status status = file_write(a, in, cubin, size, error);
  char *argv[] = {arena_printf(a, "%s", nvdisasm), arena_printf(a, "-c"), in, NULL};
  const int rc = status == TILE_OK ? tool_ask(a, argv, &said) : 0;
  unlink(in);
  temporary_forget(&temporary);
  if (rc && rc != TOOL_UNKNOWN)
    return error_set(error, TILE_ERROR_FILE, "%s cannot read our machine code%s%s", nvdisasm, *said ? ":\n" : "", said);
  *text = without_warnings(a, said);
  return status;
}
