/* Devices, memory, compiled kernels and their launch: what libtile-rt and libtile both have. libtile-rt is this header
 * alone, without the compiler (no LLVM, under 1 MB, needs only libc; it opens the CUDA driver with dlopen). libtile
 * has all of it, and tile/tile.h and tile/jit.h. Link one of the two.
 *
 *   tile_device *device; tile_kernel *kernel; tile_error *error = NULL;
 *   tile_device_open(NULL, &device, &error);
 *   tile_kernel_load_ptx(device, ptx, ptx_size, "add", &kernel, &error);
 *   tile_arg args[] = {tile_arg_pointer(x), tile_arg_pointer(y), tile_arg_pointer(out), tile_arg_int(n)};
 *   tile_launch_options launch = TILE_LAUNCH_OPTIONS_INIT;
 *   launch.grid[0] = (n + 1023) / 1024;
 *   tile_kernel_launch(kernel, &launch, args, 4, &error);
 *
 * Errors. Functions that can fail return a tile_status. Their last parameter is a tile_error ** or NULL: on failure it
 * receives an error object, which the caller owns (tile_error_free); on success it is left alone. The library never
 * exits, aborts or prints; its own bugs and LLVM's fatal errors come back as TILE_ERROR_INTERNAL.
 *
 * Threads. There is no global state. Several threads may launch kernels and use a device's memory at the same time, on
 * every device. A kernel that uses scratch memory (tile_kernel_scratch_bytes) must not run on two streams at once.
 *
 * Structures that a caller passes begin with struct_size. Start from the _INIT macro: code built with an older header
 * then keeps its meaning. Enum values are never renumbered. */
#ifndef TILE_RT_H
#define TILE_RT_H

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

#define TILE_VERSION_MAJOR 0
#define TILE_VERSION_MINOR 2
#define TILE_VERSION_PATCH 0
/* The number of the binary interface: libtile.so.1. */
#define TILE_ABI_VERSION 1

/* "0.2.0": the library's version, which may be newer than the header's. Static. */
TILE_API const char *tile_version(void);

/* ---- status and errors ------------------------------------------------------------------------------------------- */

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
  TILE_ERROR_CANCELLED = 9,    /* tile_hooks.should_stop said so, or the time given is over */
  TILE_ERROR_RESOURCES = 10,   /* the kernel does not fit the machine; see tile_error_resource */
  TILE_ERROR_INTERNAL = 70     /* a bug in this library */
} tile_status;

typedef enum tile_level {
  TILE_LEVEL_ERROR = 0, TILE_LEVEL_WARNING = 1, TILE_LEVEL_REMARK = 2, TILE_LEVEL_NOTE = 3
} tile_level;

/* One message of the compiler. Strings belong to the error or program it came from. */
typedef struct tile_diagnostic {
  tile_level level;
  const char *file;            /* NULL when the message has no place */
  uint32_t line, column;       /* from 1; column counts bytes */
  const char *text;
} tile_diagnostic;

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
/* Of a TILE_ERROR_RESOURCES: what does not fit, how much of it the kernel needs and how much there is. False for any
 * other error. A tuner tries something smaller then; a wrong program is TILE_ERROR_PROGRAM. */
TILE_API bool tile_error_resource(const tile_error *error, tile_resource *kind, uint64_t *needed, uint64_t *limit);
TILE_API size_t tile_error_num_diagnostics(const tile_error *error);
/* All zero past the end. */
TILE_API tile_diagnostic tile_error_diagnostic(const tile_error *error, size_t index);
TILE_API void tile_error_free(tile_error *error);    /* NULL is fine */

/* ---- hooks ------------------------------------------------------------------------------------------------------- */

typedef enum tile_event_kind {
  TILE_EVENT_COMPILE_BEGIN = 0, TILE_EVENT_COMPILE_END = 1, TILE_EVENT_CACHE_HIT = 2, TILE_EVENT_CACHE_MISS = 3,
  TILE_EVENT_UNPREPARED = 4, TILE_EVENT_TUNE_STEP = 5, TILE_EVENT_TUNE_SKIP = 6, TILE_EVENT_LAUNCH = 7,
  TILE_EVENT_LOAD = 8
} tile_event_kind;
typedef struct tile_event {
  tile_event_kind kind;
  const char *kernel;          /* "" while a file with several kernels is compiled */
  const char *variant;         /* the argument types with hints and the constexprs: "*fp32:16, i32, BLOCK=1024".
                                  TUNE_STEP: the configuration; TUNE_SKIP: why one was dropped; LAUNCH: "" */
  double milliseconds;         /* COMPILE_END; LOAD: the time the driver took; TUNE_STEP: the time of one launch */
  const uint32_t *grid;        /* LAUNCH: the three sizes, otherwise NULL */
  void *stream;                /* LAUNCH */
} tile_event;

/* Functions that a host may give to a device, a compilation or a JIT; any may be NULL. The library calls them from any
 * thread that is inside it, its own threads included. They must not call back into the object that they were given to.
 * What is passed to them lasts for the call. */
typedef struct tile_hooks {
  size_t struct_size;
  void *user;                  /* the first argument of each of them */
  /* `size` bytes for compilations and descriptions of kernels, aligned to 16 bytes. NULL means that there is none
   * left; the call then returns TILE_ERROR_NO_MEMORY. Give both functions or none. LLVM, the C library and error
   * objects use malloc. */
  void *(*alloc)(void *user, size_t size);
  void (*free)(void *user, void *memory, size_t size);
  void (*event)(void *user, const tile_event *event);
  /* What is worth telling but no error: a warning or remark of the compiler, a cache that cannot be used. */
  void (*log)(void *user, tile_level level, const char *message);
  /* Asked every few milliseconds during a compilation or a tuning; true ends that with TILE_ERROR_CANCELLED. */
  bool (*should_stop)(void *user);
} tile_hooks;
#define TILE_HOOKS_INIT { sizeof(tile_hooks), NULL, NULL, NULL, NULL, NULL, NULL }

/* ---- resources --------------------------------------------------------------------------------------------------- */

/* What a compiled kernel takes of a multiprocessor (SM), and how many of its blocks one holds. What the machine code
 * decides is known once an assembler has made it, the driver's or one that libtile finds. */
typedef struct tile_resources {
  size_t struct_size;
  uint32_t threads, shared_bytes;        /* of a block */
  bool is_assembled;                     /* whether the rest is known; it is 0 otherwise */
  uint32_t registers;                    /* of a thread */
  uint32_t local_bytes, spill_bytes;     /* of a thread: its stack frame, and what of that holds values for which
                                            there were not enough registers */
  uint32_t blocks_per_sm, warps_per_sm;  /* resident at once, and the most warps that this machine holds */
  /* How many blocks each limit alone allows; the least of them is blocks_per_sm. */
  uint32_t blocks_by_threads, blocks_by_registers, blocks_by_shared;
} tile_resources;
#define TILE_RESOURCES_INIT { sizeof(tile_resources), 0, 0, false, 0, 0, 0, 0, 0, 0, 0, 0 }

/* ---- devices and memory ------------------------------------------------------------------------------------------ */

typedef struct tile_device tile_device;

/* spec: "gpu" or "gpu:N" (the CUDA driver, found by dlopen), "sim" or "sim:N" (the PTX simulator; TILE_SIM_DEVICES
 * says how many), "interp" (the IR interpreter). libtile-rt has no interpreter, and finds the simulator as
 * libtile-sim.so. NULL: what TILE_DEVICE says, otherwise the first of gpu, sim and interp that opens. A gpu device
 * uses the CUDA primary context of its ordinal, as PyTorch does: pointers and streams can be shared with it. */
TILE_API tile_status tile_device_open(const char *spec, tile_device **device, tile_error **error);
typedef struct tile_device_options {
  size_t struct_size;
  const tile_hooks *hooks;     /* copied; NULL: none. `alloc` and `free` serve kernels, `event` launches */
} tile_device_options;
#define TILE_DEVICE_OPTIONS_INIT { sizeof(tile_device_options), NULL }
TILE_API tile_status tile_device_open_with(const char *spec, const tile_device_options *options, tile_device **device,
                                           tile_error **error);
TILE_API const char *tile_device_kind(const tile_device *device);   /* "gpu", "sim" or "interp" */
TILE_API const char *tile_device_name(const tile_device *device);   /* "NVIDIA H200" */
/* The architecture to compile for, "sm_90a"; NULL: any (interp). */
TILE_API const char *tile_device_arch(const tile_device *device);
TILE_API void tile_device_close(tile_device *device);               /* free its kernels first */

/* Sizes are in bytes. The content of fresh memory is undefined. A copy is complete when its function returns. */
TILE_API tile_status tile_memory_alloc(tile_device *device, size_t size, uint64_t *address, tile_error **error);
TILE_API tile_status tile_memory_free(tile_device *device, uint64_t address, tile_error **error);
TILE_API tile_status tile_memory_upload(tile_device *device, uint64_t to, const void *from, size_t size,
                                        tile_error **error);
TILE_API tile_status tile_memory_download(tile_device *device, void *to, uint64_t from, size_t size,
                                          tile_error **error);
/* Waits for all launches. If a kernel failed, this reports it at the latest. */
TILE_API tile_status tile_device_synchronize(tile_device *device, tile_error **error);

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

typedef struct tile_kernel tile_kernel;

/* Loading (here and tile_kernel_load of tile/tile.h) does everything that may allocate, load or synchronise. name
 * NULL: the only kernel. What is passed in is not needed afterwards. */
/* Loads a kernel from PTX that begins with the metadata that tilec writes. size is without a NUL. */
TILE_API tile_status tile_kernel_load_ptx(tile_device *device, const char *ptx, size_t size, const char *name,
                                          tile_kernel **kernel, tile_error **error);
/* Loads a kernel from machine code (--emit=cubin) and its metadata (--emit=json). */
TILE_API tile_status tile_kernel_load_cubin(tile_device *device, const void *cubin, size_t size, const char *metadata,
                                            size_t metadata_size, const char *name, tile_kernel **kernel,
                                            tile_error **error);
TILE_API const char *tile_kernel_name(const tile_kernel *kernel);
/* The value of a constexpr as the source would write it; NULL: there is none of that name. Lives as long as the
 * kernel. */
TILE_API const char *tile_kernel_constexpr(const tile_kernel *kernel, const char *name);
TILE_API size_t tile_kernel_num_args(const tile_kernel *kernel);     /* a descriptor counts as one */
/* The CUfunction that runs any launch; NULL on the interpreter. */
TILE_API void *tile_kernel_function(const tile_kernel *kernel);
TILE_API uint32_t tile_kernel_num_threads(const tile_kernel *kernel);
TILE_API uint32_t tile_kernel_shared_bytes(const tile_kernel *kernel);
/* Global memory per block; the kernel owns it. */
TILE_API uint32_t tile_kernel_scratch_bytes(const tile_kernel *kernel);
/* What the kernel takes as it is loaded. On the simulator and the interpreter there is no machine code: is_assembled is
 * false (tile_program_resources assembles). */
TILE_API tile_status tile_kernel_resources(const tile_kernel *kernel, tile_resources *resources, tile_error **error);
TILE_API void tile_kernel_free(tile_kernel *kernel);

enum { TILE_MAX_RANK = 5 };

/* Element types. */
typedef enum tile_type {
  TILE_UNTYPED = 0, TILE_INT1, TILE_INT8, TILE_INT16, TILE_INT32, TILE_INT64, TILE_UINT8, TILE_UINT16, TILE_UINT32,
  TILE_UINT64, TILE_FP8E4NV, TILE_FP8E5, TILE_FP8E4B15, TILE_FP8E4B8, TILE_FP8E5B16, TILE_FP16, TILE_BF16, TILE_FP32,
  TILE_FP64
} tile_type;

/* How a descriptor's block lies in shared memory, which only Gluon kernels ask: an NVMMASharedLayout of that swizzle.
 * The default is the one that NVMMASharedLayout.get_default_for(block, type) gives. */
enum { TILE_SWIZZLE_DEFAULT = 0, TILE_SWIZZLE_NONE = 1, TILE_SWIZZLE_32 = 2, TILE_SWIZZLE_64 = 3, TILE_SWIZZLE_128 = 4 };

/* A tensor in global memory, for a descriptor parameter. Shape and strides are in elements; the last axis is the
 * fastest and has stride 1. The last four fields are for the JIT (tile/jit.h): a compiled kernel has them fixed. */
typedef struct tile_tensor {
  uint64_t base;
  uint32_t rank;
  int64_t shape[TILE_MAX_RANK], strides[TILE_MAX_RANK];
  tile_type type;
  int64_t block[TILE_MAX_RANK];
  bool pad_nan;                /* a read outside the tensor gives NaN, not 0 */
  uint8_t swizzle;             /* TILE_SWIZZLE_…; what is none of these is the default */
} tile_tensor;

typedef enum tile_arg_kind {
  TILE_ARG_INT = 0, TILE_ARG_FLOAT = 1, TILE_ARG_POINTER = 2, TILE_ARG_TENSOR = 3,
  /* only for the JIT: the parameter's default; Python's None; a boolean in `i`; an expression in `text` (constexprs) */
  TILE_ARG_DEFAULT = 4, TILE_ARG_NONE = 5, TILE_ARG_BOOL = 6, TILE_ARG_TEXT = 7,
  TILE_ARG_TUPLE = 8
} tile_arg_kind;
typedef struct tile_tuple tile_tuple;
/* An argument. An integer or a float is converted to the parameter's type: an integer parameter refuses a number that
 * does not fit it, a float parameter rounds. `type` is the type that a pointer points to, or a scalar's own type,
 * which only the JIT uses. What a pointer here points to must last for the call. */
typedef struct tile_arg {
  tile_arg_kind kind;
  tile_type type;
  union {
    int64_t i;
    double f;
    uint64_t pointer;
    const tile_tensor *tensor;
    const char *text;
    const tile_tuple *tuple;
  } value;
} tile_arg;
static inline tile_arg tile_arg_int(int64_t i) {
  tile_arg a = { TILE_ARG_INT, TILE_UNTYPED, { i } };
  return a;
}
static inline tile_arg tile_arg_float(double f) {
  tile_arg a = { TILE_ARG_FLOAT, TILE_UNTYPED, { 0 } };
  a.value.f = f;
  return a;
}
static inline tile_arg tile_arg_pointer(uint64_t p) {
  tile_arg a = { TILE_ARG_POINTER, TILE_UNTYPED, { 0 } };
  a.value.pointer = p;
  return a;
}
static inline tile_arg tile_arg_tensor(const tile_tensor *t) {
  tile_arg a = { TILE_ARG_TENSOR, TILE_UNTYPED, { 0 } };
  a.value.tensor = t;
  return a;
}

/* An argument that is a tuple. Its items may be of any kind except TILE_ARG_DEFAULT, tuples included; a TILE_ARG_TEXT
 * is a constexpr ("64", "fp16", or the name of a function of the source). A compiled kernel has some items compiled
 * in: None, constexprs, integers that are 1. A caller leaves them out or gives them with the same value. */
struct tile_tuple {
  const tile_arg *items;
  uint32_t num_items;
  const char *type_name;       /* the namedtuple of the source that it is; NULL: a plain tuple. Only the JIT uses it */
};
static inline tile_arg tile_arg_tuple(const tile_tuple *t) {
  tile_arg a = { TILE_ARG_TUPLE, TILE_UNTYPED, { 0 } };
  a.value.tuple = t;
  return a;
}

/* For the JIT. */
static inline tile_arg tile_arg_array(uint64_t p, tile_type t) {
  tile_arg a = tile_arg_pointer(p);
  a.type = t;
  return a;
}
static inline tile_arg tile_arg_bool(bool b) { tile_arg a = tile_arg_int(b); a.kind = TILE_ARG_BOOL; return a; }
static inline tile_arg tile_arg_none(void) { tile_arg a = tile_arg_int(0); a.kind = TILE_ARG_NONE; return a; }
static inline tile_arg tile_arg_default(void) { tile_arg a = tile_arg_int(0); a.kind = TILE_ARG_DEFAULT; return a; }
static inline tile_arg tile_arg_text(const char *s) {
  tile_arg a = { TILE_ARG_TEXT, TILE_UNTYPED, { 0 } };
  a.value.text = s;
  return a;
}

typedef struct tile_launch_options {
  size_t struct_size;
  uint32_t grid[3];            /* programs on each axis, where a cluster counts as one; 0: nothing runs */
  void *stream;                /* a CUstream; NULL: the default stream. The interpreter ignores it */
} tile_launch_options;
#define TILE_LAUNCH_OPTIONS_INIT { sizeof(tile_launch_options), { 1, 1, 1 }, NULL }

/* Checks what a launch checks, and also that the kernel's device can reach the memory of every pointer. Launches
 * nothing. It is for finding mistakes: asking the driver takes microseconds. */
TILE_API tile_status tile_kernel_check(const tile_kernel *kernel, const tile_launch_options *options,
                                       const tile_arg *args, size_t num_args, tile_error **error);
/* Allocates scratch memory for launches on grids of up to this many programs. Only a launch whose stream is being
 * captured into a graph needs this call, and only of a kernel with scratch memory: without it that launch is an error.
 * Other launches allocate it themselves; everything else is there once the kernel is loaded. */
TILE_API tile_status tile_kernel_reserve(tile_kernel *kernel, const uint32_t grid[3], tile_error **error);
/* Checks the arguments against the kernel's parameters and launches. On a gpu it returns once the launch is queued. */
TILE_API tile_status tile_kernel_launch(tile_kernel *kernel, const tile_launch_options *options, const tile_arg *args,
                                        size_t num_args, tile_error **error);

/* ---- packages: one file, several architectures and specialisations ----------------------------------------------- */

/* What `tilec pack` writes and a header of --emit=header holds. Immutable once open; any thread may use it. */
typedef struct tile_package tile_package;
typedef struct tile_package_entry {
  const char *kernel, *signature, *arch;
  const char *kind;            /* "ptx" or "cubin" */
  const char *made_by;         /* the compiler, or the assembler and its version */
  const void *code;
  size_t code_size;
} tile_package_entry;

TILE_API tile_status tile_package_open_file(const char *path, tile_package **package, tile_error **error);
/* The bytes are not copied and must last as long as the package. */
TILE_API tile_status tile_package_open_memory(const void *bytes, size_t size, tile_package **package,
                                              tile_error **error);
TILE_API void tile_package_close(tile_package *package);             /* families loaded from it stay valid */
/* Its contents, an entry per piece of code; all zero past the end. Strings and code belong to the package. */
TILE_API size_t tile_package_num_entries(const tile_package *package);
TILE_API tile_package_entry tile_package_entry_at(const tile_package *package, size_t index);

/* The variants of one kernel, loaded on a device: for each signature the code that is best for the device. */
typedef struct tile_family tile_family;

/* Does everything that may allocate, load or synchronise. name NULL: the package's only kernel. */
TILE_API tile_status tile_family_load(tile_device *device, const tile_package *package, const char *name,
                                      tile_family **family, tile_error **error);
TILE_API tile_status tile_family_load_memory(tile_device *device, const void *bytes, size_t size, const char *name,
                                             tile_family **family, tile_error **error);
/* Launches the first variant whose types, divisibilities and compiled-in values the arguments fit; if there is none,
 * the message says what is wrong. The arguments are those of the source without its constexprs, in order. Like
 * tile_kernel_launch it takes no lock and allocates nothing; any number of threads may call it at the same time. */
TILE_API tile_status tile_family_launch(const tile_family *family, const tile_launch_options *options,
                                        const tile_arg *args, size_t num_args, tile_error **error);
/* The variant that such a launch takes, to ask it for its constexprs. It belongs to the family. */
TILE_API tile_status tile_family_select(const tile_family *family, const tile_arg *args, size_t num_args,
                                        tile_kernel **kernel, tile_error **error);
TILE_API const char *tile_family_name(const tile_family *family);
TILE_API size_t tile_family_num_args(const tile_family *family);
TILE_API size_t tile_family_num_kernels(const tile_family *family);
/* In the order in which a launch tries them; NULL past the end. */
TILE_API tile_kernel *tile_family_kernel(const tile_family *family, size_t index);
TILE_API void tile_family_free(tile_family *family);

#ifdef __cplusplus
}
#endif
#endif
