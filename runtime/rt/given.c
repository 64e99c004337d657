// The refusals of what callers give.
#include "runtime/rt/given.h"

// No structure of this interface comes near it: a greater struct_size is a field that nobody set.
enum { MOST_BYTES = 4096 };

tile_status given_null(tile_error **error, const char *function, const char *parameter) {
  return error_set(error, TILE_ERROR_USAGE, "%s: `%s` is NULL", function, parameter);
}

tile_status given_texts(const char *const *texts, size_t count, const char *name, tile_error **error) {
  if (count && !texts) return error_set(error, TILE_ERROR_USAGE, "`%s` is NULL, and there are to be %zu", name, count);
  for (size_t i = 0; i < count; i++)
    if (!texts[i]) return error_set(error, TILE_ERROR_USAGE, "%s[%zu] is NULL", name, i);
  return TILE_OK;
}

tile_status given_seconds(double seconds, const char *name, tile_error **error) {
  if (seconds >= 0) return TILE_OK;
  return error_set(error, TILE_ERROR_USAGE, "%s is %g; 0 means no limit", name, seconds);
}

static tile_status refuse_size(size_t given, size_t least, const char *name, tile_error **error) {
  return error_set(error, TILE_ERROR_USAGE,
                   "%s: its struct_size is %zu, and the structure has at least %zu bytes: start from its _INIT macro",
                   name, given, least);
}

tile_status given_take_slowly(void *to, size_t size, size_t least, const void *given, const char *name,
                              tile_error **error) {
  const size_t given_size = *(const size_t *)given;
  if (given_size < least || given_size > MOST_BYTES) return refuse_size(given_size, least, name, error);
  for (size_t i = size; i < given_size; i++)
    if (((const char *)given)[i])
      return error_set(error, TILE_ERROR_USAGE,
                       "%s: it is of a newer header and uses fields that this library, version %s, does not have", name,
                       tile_version());
  memcpy(to, given, given_size < size ? given_size : size);
  *(size_t *)to = size;
  return TILE_OK;
}

tile_status given_check_out(const void *out, size_t least, const char *name, tile_error **error) {
  const size_t given_size = *(const size_t *)out;
  return given_size < least || given_size > MOST_BYTES ? refuse_size(given_size, least, name, error) : TILE_OK;
}
