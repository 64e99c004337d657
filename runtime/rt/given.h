// Checks what callers of public functions give: structures, which begin with struct_size, and pointers, which may be
// NULL.
#ifndef TILE_RUNTIME_RT_GIVEN_H
#define TILE_RUNTIME_RT_GIVEN_H

#include <string.h>

#include "runtime/rt/error.h"

// Returns TILE_ERROR_USAGE from a public function if the pointer is NULL; name is the parameter's in the header.
#define RETURN_IF_NULL(pointer, name) RETURN_IF_NULL_IN(__func__, pointer, name)
#define RETURN_IF_NULL_IN(function, pointer, name) \
  do { if (!(pointer)) return given_null(error, function, name); } while (0)
tile_status given_null(tile_error **error, const char *function, const char *parameter);

// Refuse a list of texts with NULL in it, a time below 0.
tile_status given_texts(const char *const *texts, size_t count, const char *name, tile_error **error);
tile_status given_seconds(double seconds, const char *name, tile_error **error);

// TYPE_least: the size of a structure in version 0.2, up to its last field then. A caller's cannot be smaller.
#define GIVEN_SINCE(type, last) enum { type##_least = offsetof(type, last) + sizeof(((type *)0)->last) }
GIVEN_SINCE(tile_diagnostic, num_fixits);
GIVEN_SINCE(tile_fixit, text);
GIVEN_SINCE(tile_hooks, should_stop);
GIVEN_SINCE(tile_resources, blocks_by_shared);
GIVEN_SINCE(tile_device_options, hooks);
GIVEN_SINCE(tile_device_properties, memory_bus_bits);
GIVEN_SINCE(tile_param, block);
GIVEN_SINCE(tile_launch_options, stream);
GIVEN_SINCE(tile_package_entry, code_size);

// Whether n reserved bytes are zero, as they must be in structures of a fixed size. In messages: GIVEN_RESERVED.
static inline bool is_zero(const void *bytes, size_t n) {
  const unsigned char *b = bytes;
  while (n && !b[n - 1]) n--;
  return !n;
}
#define GIVEN_RESERVED "reserved fields, which must be zero, are not: begin with a structure of zeros"

// Copies the caller's structure over the defaults in *to; `given` may be NULL. A structure larger than this library's
// is from a newer header, and its rest must be zero.
#define TAKE_GIVEN(type, to, given, error) given_take(to, sizeof(type), type##_least, given, #type, error)
tile_status given_take_slowly(void *to, size_t size, size_t least, const void *given, const char *name,
                              tile_error **error);
static inline tile_status given_take(void *to, size_t size, size_t least, const void *given, const char *name,
                                     tile_error **error) {
  if (!given) return TILE_OK;
  if (*(const size_t *)given != size) return given_take_slowly(to, size, least, given, name, error);
  memcpy(to, given, size);
  return TILE_OK;
}

// Checks the struct_size of a caller's structure that the library is about to fill.
#define CHECK_OUT(type, out, error) given_check_out(out, type##_least, #type, error)
tile_status given_check_out(const void *out, size_t least, const char *name, tile_error **error);
// Copies as much of `from` as fits; out's struct_size stays.
static inline void given_fill_out(void *out, const void *from, size_t size) {
  const size_t room = *(const size_t *)out;
  const size_t header = sizeof(size_t), end = room < size ? room : size;
  memcpy((char *)out + header, (const char *)from + header, end - header);
}
// Checks and fills, for functions that return false past the end. from is NULL past the end.
#define GIVE_OUT(type, out, from) given_give_out(out, from, sizeof(type), type##_least)
static inline bool given_give_out(void *out, const void *from, size_t size, size_t least) {
  if (!out || !from || *(const size_t *)out < least) return false;
  given_fill_out(out, from, size);
  return true;
}

// Copies the caller's hooks to *to, with every field set. given NULL: no hooks.
static inline tile_status hooks_take(tile_hooks *to, const tile_hooks *given, tile_error **error) {
  *to = (tile_hooks)TILE_HOOKS_INIT;
  return TAKE_GIVEN(tile_hooks, to, given, error);
}

#endif
