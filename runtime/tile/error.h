/* Statuses, errors and what the compiler says: tile/rt.h includes this header. */
#ifndef TILE_ERROR_H
#define TILE_ERROR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TILE_API __attribute__((visibility("default")))
#else
#define TILE_API
#endif

/* The first ones are also tilec's exit status. */
typedef enum tile_status {
  TILE_OK = 0,
  TILE_ERROR_PROGRAM = 1,      /* an error in the kernel's source or in its types */
  TILE_ERROR_USAGE = 2,        /* a wrong option or argument */
  TILE_ERROR_FILE = 3,         /* a file could not be read or written */
  TILE_ERROR_ASSEMBLER = 4,    /* ptxas or the driver refused our PTX */
  TILE_ERROR_RUN = 5,          /* the kernel failed: device_assert, out of bounds, a simulator report, a failed check */
  TILE_ERROR_NO_DEVICE = 6,    /* no such device here */
  TILE_ERROR_DRIVER = 7,       /* the CUDA driver returned an error; see tile_error_cuda_result */
  TILE_ERROR_NO_MEMORY = 8,
  TILE_ERROR_CANCELLED = 9,    /* tile_hooks.should_stop returned true, or the time limit is over */
  TILE_ERROR_RESOURCES = 10,   /* the kernel does not fit the machine; see tile_error_resource */
  TILE_ERROR_INTERNAL = 70     /* a bug in this library */
} tile_status;

/* "TILE_ERROR_PROGRAM", and in words: "an error in the kernel's source or in its types". Static, never NULL. */
TILE_API const char *tile_status_name(tile_status status);
TILE_API const char *tile_status_text(tile_status status);

typedef enum tile_level {
  TILE_LEVEL_ERROR = 0, TILE_LEVEL_WARNING = 1, TILE_LEVEL_REMARK = 2, TILE_LEVEL_NOTE = 3
} tile_level;

/* One message of the compiler. Strings belong to the error or program that it came from. */
typedef struct tile_diagnostic {
  size_t struct_size;
  tile_level level;
  int32_t note_of;             /* the index of the diagnostic that this is a note of; -1: it is not a note */
  const char *file;            /* NULL: the message has no place */
  uint32_t line, column;       /* from 1; column counts bytes */
  uint32_t end_line, end_column;   /* just after its last byte; 0: only the beginning is known */
  const char *text;
  const char *name;            /* of the warning, as in options, or of the kind of message; NULL: it has none */
  size_t num_fixits;
} tile_diagnostic;
#define TILE_DIAGNOSTIC_INIT { sizeof(tile_diagnostic), TILE_LEVEL_ERROR, -1, NULL, 0, 0, 0, 0, NULL, NULL, 0 }

/* A change of the source that a diagnostic proposes: `text` replaces the text from (line, column) up to (end_line,
 * end_column). Apply all fix-its of a diagnostic together; they do not overlap. */
typedef struct tile_fixit {
  size_t struct_size;
  const char *file;
  uint32_t line, column, end_line, end_column;
  const char *text;
} tile_fixit;
#define TILE_FIXIT_INIT { sizeof(tile_fixit), NULL, 0, 0, 0, 0, NULL }

typedef struct tile_error tile_error;

TILE_API tile_status tile_error_status(const tile_error *error);
/* The whole message: for compile errors every diagnostic with source line and caret. Ends without a newline. */
TILE_API const char *tile_error_message(const tile_error *error);
/* The CUresult that caused a TILE_ERROR_DRIVER, otherwise 0. */
TILE_API int tile_error_cuda_result(const tile_error *error);
/* What a kernel needs more of than there is. */
typedef enum tile_resource {
  TILE_RESOURCE_NONE = 0,
  TILE_RESOURCE_SHARED = 1,    /* bytes of shared memory of a block */
  TILE_RESOURCE_REGISTERS = 2, /* of a block */
  TILE_RESOURCE_THREADS = 3,   /* of a block */
  TILE_RESOURCE_PARAMETERS = 4,/* bytes */
  TILE_RESOURCE_CLUSTER = 5,   /* blocks */
  TILE_RESOURCE_GRID = 6       /* blocks on an axis */
} tile_resource;
/* For a TILE_ERROR_RESOURCES: what does not fit, how much of it the kernel needs and how much there is. False for any
 * other error. A tuner can try a smaller configuration; a wrong program is a TILE_ERROR_PROGRAM. */
TILE_API bool tile_error_resource(const tile_error *error, tile_resource *kind, uint64_t *needed, uint64_t *limit);
TILE_API size_t tile_error_num_diagnostics(const tile_error *error);
/* These and all tile_…_get_… functions with an index return false past the end, and write nothing. */
TILE_API bool tile_error_get_diagnostic(const tile_error *error, size_t index, tile_diagnostic *diagnostic);
TILE_API bool tile_error_get_fixit(const tile_error *error, size_t diagnostic, size_t index, tile_fixit *fixit);
TILE_API void tile_error_free(tile_error *error);    /* NULL is fine */

#ifdef __cplusplus
}
#endif
#endif
