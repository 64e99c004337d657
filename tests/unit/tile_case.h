// For tests of the public interface (runtime/tile/): calls that must succeed or be refused, and what every such test does on a device.
// OK and REFUSED declare the `error` that the call is given: OK(tile_device_open("sim", &d, &error)).
#ifndef TILE_TESTS_TILE_CASE_H
#define TILE_TESTS_TILE_CASE_H

#include "unit.h"

#include "runtime/tile/jit.h"

#define OK(call)                                                                 \
  do {                                                                           \
    tile_error *error = NULL;                                                    \
    if ((call) != TILE_OK) fail_msg("%s: %s", #call, tile_error_message(error)); \
  } while (0)
#define REFUSED(call, status, says)                                                                                \
  do {                                                                                                             \
    tile_error *error = NULL;                                                                                      \
    assert_int_equal(call, status);                                                                                \
    assert_int_equal(tile_error_status(error), status);                                                            \
    if (!strstr(tile_error_message(error), says)) fail_msg("'%s' is not in: %s", says, tile_error_message(error)); \
    tile_error_free(error);                                                                                        \
  } while (0)

static inline tile_device *case_device(const char *spec) {
  tile_device *d = NULL;
  OK(tile_device_open(spec, &d, &error));
  return d;
}

// The same; without a GPU here, a test that wants one is skipped.
static inline tile_device *case_device_or_skip(const char *spec) {
  tile_device *d = NULL;
  if (tile_device_open(spec, &d, NULL) == TILE_ERROR_NO_DEVICE) skip();
  return d ? d : case_device(spec);
}

// A JIT of the source, without a cache on disk.
static inline tile_jit *case_jit(tile_device *d, const char *source) {
  tile_jit *jit = NULL;
  tile_jit_options o = TILE_JIT_OPTIONS_INIT;
  o.no_cache = true;
  OK(tile_jit_open_memory(d, "case.py", source, strlen(source), &o, &jit, &error));
  return jit;
}

static inline tile_jit_kernel *case_kernel(tile_jit *jit, const char *name) {
  tile_jit_kernel *k = NULL;
  OK(tile_jit_get_kernel(jit, name, &k, &error));
  return k;
}

// A candidate that there is.
static inline tile_tune_candidate case_candidate(const tile_tuning *report, size_t i) {
  tile_tune_candidate c = TILE_TUNE_CANDIDATE_INIT;
  assert_true(tile_tuning_get_candidate(report, i, &c));
  return c;
}

// Memory with these bytes; with none when `from` is NULL.
static inline uint64_t case_buffer(tile_device *d, const void *from, size_t bytes) {
  uint64_t p = 0;
  OK(tile_memory_alloc(d, bytes, &p, &error));
  if (from) OK(tile_memory_upload(d, p, from, bytes, &error));
  return p;
}

// What the memory holds when all launches are done.
static inline void case_fetch(tile_device *d, void *out, uint64_t from, size_t bytes) {
  OK(tile_device_synchronize(d, &error));
  OK(tile_memory_download(d, out, from, bytes, &error));
}

#endif
