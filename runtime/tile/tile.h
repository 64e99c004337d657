/* libtile: the tile compiler as a C library. Compile a .tile/.py/.tir file to PTX, load it on a device, launch it.
 *
 *   tile_program *program; tile_device *device; tile_kernel *kernel; tile_error *error = NULL;
 *   tile_compile_options options = TILE_COMPILE_OPTIONS_INIT;
 *   options.kernel = "add";
 *   if (tile_compile_file("add.tile", &options, &program, &error) != TILE_OK) { puts(tile_error_message(error)); … }
 *   tile_device_open(NULL, &device, &error);
 *   tile_kernel_load(device, program, "add", &kernel, &error);
 *
 * Then launch it as tile/rt.h shows, which also says what holds for errors, threads and structures.
 *
 * Threads. Different programs may be compiled in different threads at the same time. A program is immutable once
 * compiled. A calling thread needs 64 KB of stack on the simulator and the interpreter, and what the driver wants on a
 * gpu. Compiling, tuning and simulating need megabytes: if the caller has too little left, the library does them in a
 * thread of its own, which also calls hooks and grid functions, and the call returns when that thread has ended. */
#ifndef TILE_TILE_H
#define TILE_TILE_H

#include "tile/rt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- compiling --------------------------------------------------------------------------------------------------- */

/* What to make; combined with |. PTX and metadata come together. */
enum {
  TILE_EMIT_AST = 1,           /* the syntax tree */
  TILE_EMIT_TILE = 2,          /* tile IR as the front end made it */
  TILE_EMIT_LAID_OUT = 4,      /* tile IR with layouts */
  TILE_EMIT_ALLOCATED = 8,     /* tile IR with shared memory and barriers placed */
  TILE_EMIT_LLVM = 16,         /* LLVM IR before its optimiser */
  TILE_EMIT_PTX = 32,
  TILE_EMIT_METADATA = 64,     /* what a launcher needs to know, as JSON */
  TILE_EMIT_CUBIN = 128,       /* through ptxas, which must be installed */
  TILE_EMIT_HEADER = 256,      /* a C header with the kernel and a typed launch function; for this library's version */
  TILE_EMIT_LAYOUT_SVG = 512,  /* pictures of the layouts: the thread that holds each element, and bank conflicts */
  TILE_EMIT_REPORT = 1024,     /* what the kernels cost: registers, occupancy, accesses, loops, as JSON */
  TILE_EMIT_SASS = 2048        /* machine code as text, through ptxas and nvdisasm, which must be installed */
};

/* For a text that a program built from several files: the lines from `first_line` to the next range come from `file`,
 * where they begin at line `file_line`. Messages, line information and remarks then show that file. Ranges are
 * in ascending order; lines before the first range keep the text's own name. The size of this structure is fixed;
 * reserved must be zero. */
typedef struct tile_source_range {
  uint32_t first_line, file_line;        /* from 1 */
  const char *file;
  uint64_t reserved[2];
} tile_source_range;

typedef struct tile_compile_options {
  size_t struct_size;
  const char *kernel;          /* NULL: every kernel whose parameter types are known */
  const char *signature;       /* "*fp32:16, *fp32, i32, 1024"; NULL: from the annotations */
  const char *arch;            /* "sm_90a"; NULL: sm_90a. Take tile_device_arch to compile for a device */
  const char *const *defines;  /* "NAME=VALUE": constexpr parameters */
  size_t num_defines;
  const char *const *include_paths;
  size_t num_include_paths;
  int num_warps, num_stages, num_ctas, maxnreg;   /* 0: the default (4, 3, 1, none) */
  unsigned emit;               /* 0: PTX and metadata */
  const char *const *options;  /* any further option by tilec's name: "enable-fp-fusion=0", "verify-each" */
  size_t num_options;
  const tile_hooks *hooks;     /* NULL: none. `alloc` and `free` must stay valid as long as the program */
  double seconds;              /* a time limit, which ends with TILE_ERROR_CANCELLED; 0: none */
  const tile_source_range *source_map;   /* for tile_compile_memory; NULL: none */
  size_t num_source_map;
} tile_compile_options;
#define TILE_COMPILE_OPTIONS_INIT \
  { sizeof(tile_compile_options), NULL, NULL, NULL, NULL, 0, NULL, 0, 0, 0, 0, 0, 0, NULL, 0, NULL, 0, NULL, 0 }

typedef struct tile_program tile_program;

/* path "-": standard input. A name with the suffix .tir holds the text of IR, any other name kernel source. */
TILE_API tile_status tile_compile_file(const char *path, const tile_compile_options *options, tile_program **program,
                                       tile_error **error);
/* name is the file's name in messages; imports search its folder. The text is copied. */
TILE_API tile_status tile_compile_memory(const char *name, const char *text, size_t size,
                                         const tile_compile_options *options, tile_program **program,
                                         tile_error **error);
/* One of TILE_EMIT_*: the text or the bytes of the cubin, with a NUL after `size` bytes; NULL: it was not requested.
 * The program owns it. size may be NULL. */
TILE_API const char *tile_program_output(const tile_program *program, unsigned emit, size_t *size);
TILE_API size_t tile_program_num_kernels(const tile_program *program);
TILE_API const char *tile_program_kernel_name(const tile_program *program, size_t index);   /* NULL past the end */
/* What a kernel needs on the architecture that it was compiled for, from its cubin or, without one, from an assembler
 * (TILE_ASSEMBLER); if none is found, is_assembled is false. name NULL: the program's only kernel. The program must
 * have PTX. */
TILE_API tile_status tile_program_resources(const tile_program *program, const char *name, tile_resources *resources,
                                            tile_error **error);
/* Warnings of a successful compilation, and its remarks if the option "remarks" requests them. */
TILE_API size_t tile_program_num_diagnostics(const tile_program *program);
TILE_API bool tile_program_get_diagnostic(const tile_program *program, size_t index, tile_diagnostic *diagnostic);
TILE_API bool tile_program_get_fixit(const tile_program *program, size_t diagnostic, size_t index, tile_fixit *fixit);
/* Kernels loaded from it stay valid, except on the interpreter, where they must be freed first. */
TILE_API void tile_program_free(tile_program *program);

/* Names of the architectures that `arch` may be; NULL past the end. */
TILE_API const char *tile_arch_name(size_t index);

/* Does everything that may allocate, load or synchronise. name NULL: the program's only kernel. */
TILE_API tile_status tile_kernel_load(tile_device *device, const tile_program *program, const char *name,
                                      tile_kernel **kernel, tile_error **error);
#ifdef __cplusplus
}
#endif
#endif
