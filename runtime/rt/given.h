// What callers give: structures, which begin with struct_size, and pointers, which may be NULL. Every public function
// checks them here.
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

// The bytes that a structure has up to its last field in version 0.2: a caller's cannot be smaller.
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

// Copies what a caller gave, if anything, over the defaults in *to. A larger structure than this library's is of a newer
// header: the rest of it must be zero.
#define TAKE_GIVEN(type, to, given, error) take_given(to, sizeof(type), type##_least, given, #type, error)
tile_status take_given_slowly(void *to, size_t size, size_t least, const void *given, const char *name,
                              tile_error **error);
static inline tile_status take_given(void *to, size_t size, size_t least, const void *given, const char *name,
                                     tile_error **error) {
  if (!given) return TILE_OK;
  if (*(const size_t *)given != size) return take_given_slowly(to, size, least, given, name, error);
  memcpy(to, given, size);
  return TILE_OK;
}

// Checks a structure of the caller's that the library is to fill.
#define CHECK_OUT(type, out, error) check_out(out, type##_least, #type, error)
tile_status check_out(const void *out, size_t least, const char *name, tile_error **error);
// Fills it with what of `from` fits; its struct_size stays.
static inline void fill_out(void *out, const void *from, size_t size) {
  const size_t room = *(const size_t *)out;
  memcpy((char *)out + sizeof(size_t), (const char *)from + sizeof(size_t), (room < size ? room : size) - sizeof(size_t));
}
// Both, for a function that returns whether there is such a thing; `from` NULL: there is not.
#define GIVE_OUT(type, out, from) give_out(out, from, sizeof(type), type##_least)
static inline bool give_out(void *out, const void *from, size_t size, size_t least) {
  if (!out || !from || *(const size_t *)out < least) return false;
  fill_out(out, from, size);
  return true;
}

// *to becomes a copy with every field; NULL: no hooks.
static inline tile_status hooks_take(tile_hooks *to, const tile_hooks *given, tile_error **error) {
  *to = (tile_hooks)TILE_HOOKS_INIT;
  return TAKE_GIVEN(tile_hooks, to, given, error);
}

#endif
