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
 * exits, aborts or prints; its own bugs and LLVM's fatal errors are returned as TILE_ERROR_INTERNAL.
 *
 * Threads. There is no global state. Several threads may launch kernels and use a device's memory at the same time, on
 * every device. A kernel that uses scratch memory (tile_kernel_scratch_bytes) must not run on two streams at once.
 *
 * Structures begin with struct_size; start from the _INIT macro. Structures grow at their end: code built with an older
 * header keeps its meaning, and the library writes only what fits. A struct_size that is 0 or less than in version 0.2
 * is a TILE_ERROR_USAGE. So is one that is larger than the library knows, unless the part it does not know is zero.
 * Elements of arrays and what an argument points to (tile_arg, tile_tensor, tile_tuple, tile_source_range,
 * tile_jit_request) have a fixed size instead; their reserved fields must be zero. Nothing but scalars and pointers is
 * returned by value, and enum values are never renumbered.
 *
 * NULL. A required pointer that is NULL is a TILE_ERROR_USAGE whose message names the parameter; a function without a
 * status returns 0, NULL or false instead. Freeing or closing NULL does nothing. */
#ifndef TILE_RT_H
#define TILE_RT_H

#include "tile/error.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TILE_VERSION_MAJOR 0
#define TILE_VERSION_MINOR 2
#define TILE_VERSION_PATCH 0
/* The number of the binary interface: libtile.so.1. */
#define TILE_ABI_VERSION 1

/* "0.2.0": the library's version, which may be newer than the header's. Static. */
TILE_API const char *tile_version(void);

/* ---- hooks ------------------------------------------------------------------------------------------------------- */

typedef enum tile_event_kind {
  TILE_EVENT_COMPILE_BEGIN = 0, TILE_EVENT_COMPILE_END = 1, TILE_EVENT_CACHE_HIT = 2, TILE_EVENT_CACHE_MISS = 3,
  TILE_EVENT_UNPREPARED = 4, TILE_EVENT_TUNE_STEP = 5, TILE_EVENT_TUNE_SKIP = 6, TILE_EVENT_LAUNCH = 7,
  TILE_EVENT_LOAD = 8
} tile_event_kind;
typedef struct tile_event {
  size_t struct_size;          /* set by the library: there are no fields past it */
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
 * Their arguments are valid only during the call. */
typedef struct tile_hooks {
  size_t struct_size;
  void *user;                  /* the first argument of each of them */
  /* `size` bytes for compilations and descriptions of kernels, aligned to 16 bytes. NULL means that there is no
   * memory left; the call then returns TILE_ERROR_NO_MEMORY. Give both functions or none. LLVM, the C library and error
   * objects use malloc. */
  void *(*alloc)(void *user, size_t size);
  void (*free)(void *user, void *memory, size_t size);
  void (*event)(void *user, const tile_event *event);
  /* Gets every message that is not an error: warnings and remarks of the compiler, as errors are written, with the
   * place, the source line, a caret and notes; what the source prints at compile time (static_print), as
   * TILE_LEVEL_NOTE; a cache that cannot be used. */
  void (*log)(void *user, tile_level level, const char *message);
  /* Called every few milliseconds during compilation and tuning; true ends them with TILE_ERROR_CANCELLED. It is also
   * called during a launch on the simulator and the interpreter, which ends the same way: memory keeps what was
   * written, and the device stays usable. On a gpu a kernel cannot be stopped, but waiting for it can
   * (tile_device_synchronize, tile_stream_synchronize, tile_stream_event_synchronize): the function returns while the
   * kernel continues. A launch calls the hooks of its device and those of its JIT. */
  bool (*should_stop)(void *user);
} tile_hooks;
#define TILE_HOOKS_INIT { sizeof(tile_hooks), NULL, NULL, NULL, NULL, NULL, NULL }

/* ---- resources --------------------------------------------------------------------------------------------------- */

/* What a compiled kernel needs of a multiprocessor (SM), and how many of its blocks an SM holds. Values that depend on
 * the machine code are known once an assembler has made it: the driver's, or one that libtile finds. */
typedef struct tile_resources {
  size_t struct_size;
  uint32_t threads, shared_bytes;        /* of a block */
  bool is_assembled;                     /* whether the rest is known; it is 0 otherwise */
  uint32_t registers;                    /* of a thread */
  uint32_t local_bytes, spill_bytes;     /* of a thread: its stack frame, and the part of it that holds values for
                                            which there were not enough registers */
  uint32_t blocks_per_sm, warps_per_sm;  /* resident at once, and the most warps that an SM of this machine holds */
  /* How many blocks each limit alone allows; the smallest of them is blocks_per_sm. */
  uint32_t blocks_by_threads, blocks_by_registers, blocks_by_shared;
} tile_resources;
#define TILE_RESOURCES_INIT { sizeof(tile_resources), 0, 0, false, 0, 0, 0, 0, 0, 0, 0, 0 }

/* ---- devices and memory ------------------------------------------------------------------------------------------ */

typedef struct tile_device tile_device;

/* spec: "gpu" or "gpu:N" (the CUDA driver, found by dlopen), "sim" or "sim:N" (the PTX simulator; TILE_SIM_DEVICES says
 * how many), "interp" (the IR interpreter). libtile-rt has no interpreter, and finds the simulator as libtile-sim.so.1.
 * NULL: the device that TILE_DEVICE names, otherwise the first of gpu, sim and interp that opens. A gpu device uses the
 * CUDA primary context of its ordinal, as PyTorch does: pointers and streams can be shared with it. */
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
TILE_API void tile_device_close(tile_device *device);               /* free its kernels, streams and events first */

/* How many devices of a kind ("gpu", "sim", "interp") tile_device_open can open. 0 is not an error: there is no driver,
 * or the library has no device of that kind. */
TILE_API tile_status tile_device_count(const char *kind, size_t *count, tile_error **error);

/* Properties of a device. 0: not known, or the interpreter has none. Strings belong to the device. */
typedef struct tile_device_properties {
  size_t struct_size;
  const char *kind, *name, *arch;        /* as the functions above return them */
  uint32_t ordinal;                      /* the N of "gpu:N" */
  uint32_t compute_major, compute_minor; /* the compute capability: 9, 0 */
  uint32_t driver_version;               /* the CUDA version of the driver, 13000 for 13.0 */
  uint32_t num_sms;                      /* multiprocessors (SMs) */
  uint32_t warp_size;                    /* threads */
  uint32_t threads_per_block, threads_per_sm, warps_per_block, warps_per_sm, blocks_per_sm;   /* at most */
  uint32_t registers_per_block, registers_per_sm;   /* of 32 bits */
  uint32_t shared_per_block, shared_per_sm;         /* bytes; per block: what a kernel may request */
  uint32_t l2_bytes;
  uint64_t memory_bytes;
  uint32_t clock_khz, memory_clock_khz, memory_bus_bits;
} tile_device_properties;
#define TILE_DEVICE_PROPERTIES_INIT \
  { sizeof(tile_device_properties), NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }
TILE_API tile_status tile_device_get_properties(const tile_device *device, tile_device_properties *properties,
                                                tile_error **error);

/* Waits for all launches and asynchronous copies, and reports the failure of a kernel if no call has reported it yet.
 *
 * After a kernel has failed on a gpu or sim device (TILE_ERROR_RUN), the driver's context is lost: its memory, kernels
 * and streams can no longer be used, and every later call returns TILE_ERROR_DRIVER with a message that names that
 * failure. Free its objects, then close and reopen the device. On a gpu that works only if nothing else in the process
 * (PyTorch, another tile_device) holds the primary context; otherwise restart the process. The interpreter loses
 * nothing. */
TILE_API tile_status tile_device_synchronize(tile_device *device, tile_error **error);

/* Sizes are in bytes. The contents of new memory are undefined. These functions have finished when they return. */
TILE_API tile_status tile_memory_alloc(tile_device *device, size_t size, uint64_t *address, tile_error **error);
TILE_API tile_status tile_memory_free(tile_device *device, uint64_t address, tile_error **error);   /* 0 is fine */
TILE_API tile_status tile_memory_upload(tile_device *device, uint64_t to, const void *from, size_t size,
                                        tile_error **error);
TILE_API tile_status tile_memory_download(tile_device *device, void *to, uint64_t from, size_t size,
                                          tile_error **error);
/* From device memory to device memory; the two ranges must not overlap. */
TILE_API tile_status tile_memory_copy(tile_device *device, uint64_t to, uint64_t from, size_t size,
                                      tile_error **error);
/* Sets `count` elements of pattern_bytes (1, 2, 4 or 8) to the low bytes of pattern. `to` must be aligned to them. */
TILE_API tile_status tile_memory_set(tile_device *device, uint64_t to, uint64_t pattern, uint32_t pattern_bytes,
                                     size_t count, tile_error **error);
/* How much memory is free, and how much there is. Either may be NULL. Both are 0 on the interpreter. */
TILE_API tile_status tile_memory_info(tile_device *device, uint64_t *free_bytes, uint64_t *total_bytes,
                                      tile_error **error);
/* Pinned host memory: asynchronous copies read and write it directly, and on a gpu kernels can also use it. */
TILE_API tile_status tile_memory_alloc_host(tile_device *device, size_t size, void **memory, tile_error **error);
TILE_API tile_status tile_memory_free_host(tile_device *device, void *memory, tile_error **error);

/* ---- streams ----------------------------------------------------------------------------------------------------- */

/* A stream is a void *: a CUstream on a gpu or sim device, made by this library or any other; NULL is the default
 * stream. Work in one stream is done in order. The simulator and the interpreter do it immediately, before the call
 * returns. A stream that is created here does not wait for the default stream. */
TILE_API tile_status tile_stream_create(tile_device *device, void **stream, tile_error **error);
/* stream: from tile_stream_create, or NULL. Work that is already queued is still done. */
TILE_API tile_status tile_stream_destroy(tile_device *device, void *stream, tile_error **error);
TILE_API tile_status tile_stream_synchronize(tile_device *device, void *stream, tile_error **error);
/* Whether all of its work is done. */
TILE_API tile_status tile_stream_query(tile_device *device, void *stream, bool *done, tile_error **error);

/* These are queued on the stream. Host memory must not change until they are done; copies of memory that is not pinned
 * may already be done when they return. */
TILE_API tile_status tile_memory_upload_async(tile_device *device, uint64_t to, const void *from, size_t size,
                                              void *stream, tile_error **error);
TILE_API tile_status tile_memory_download_async(tile_device *device, void *to, uint64_t from, size_t size,
                                                void *stream, tile_error **error);
TILE_API tile_status tile_memory_copy_async(tile_device *device, uint64_t to, uint64_t from, size_t size, void *stream,
                                            tile_error **error);
TILE_API tile_status tile_memory_set_async(tile_device *device, uint64_t to, uint64_t pattern, uint32_t pattern_bytes,
                                           size_t count, void *stream, tile_error **error);

/* A place in a stream (a CUevent), for waiting and for timing. The device must outlive it. */
typedef struct tile_stream_event tile_stream_event;
TILE_API tile_status tile_stream_event_create(tile_device *device, tile_stream_event **event, tile_error **error);
TILE_API void tile_stream_event_destroy(tile_stream_event *event);
TILE_API void *tile_stream_event_handle(const tile_stream_event *event);   /* the CUevent; NULL on the interpreter */
/* Puts the event after all work that is now in the stream. Recording it again moves it. */
TILE_API tile_status tile_stream_event_record(tile_stream_event *event, void *stream, tile_error **error);
/* Work that is queued on the stream after this call waits for the event. The host does not. */
TILE_API tile_status tile_stream_wait_event(tile_device *device, void *stream, const tile_stream_event *event,
                                            tile_error **error);
/* The host waits for the event. An event that was never recorded is done. */
TILE_API tile_status tile_stream_event_synchronize(tile_stream_event *event, tile_error **error);
TILE_API tile_status tile_stream_event_query(const tile_stream_event *event, bool *done, tile_error **error);
/* The time between two recorded events that are done, by the GPU's clock, or by the host's on the simulator and the
 * interpreter. */
TILE_API tile_status tile_stream_event_elapsed_ms(const tile_stream_event *start, const tile_stream_event *end,
                                                  double *milliseconds, tile_error **error);

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

typedef struct tile_kernel tile_kernel;

/* Loading (here and tile_kernel_load of tile/tile.h) does everything that may allocate, load or synchronise. name
 * NULL: the only kernel. The arguments are not needed after the call. */
/* Loads a kernel from PTX that begins with the metadata that tilec writes. size does not count a NUL. */
TILE_API tile_status tile_kernel_load_ptx(tile_device *device, const char *ptx, size_t size, const char *name,
                                          tile_kernel **kernel, tile_error **error);
/* Loads a kernel from machine code (--emit=cubin) and its metadata (--emit=json). */
TILE_API tile_status tile_kernel_load_cubin(tile_device *device, const void *cubin, size_t size, const char *metadata,
                                            size_t metadata_size, const char *name, tile_kernel **kernel,
                                            tile_error **error);
TILE_API const char *tile_kernel_name(const tile_kernel *kernel);
/* The value of a constexpr as source text; NULL: there is none of that name. Lives as long as the kernel. */
TILE_API const char *tile_kernel_constexpr(const tile_kernel *kernel, const char *name);
TILE_API size_t tile_kernel_num_constexprs(const tile_kernel *kernel);
TILE_API const char *tile_kernel_constexpr_name(const tile_kernel *kernel, size_t index);   /* NULL past the end */
TILE_API size_t tile_kernel_num_args(const tile_kernel *kernel);     /* a descriptor counts as one */
/* The architecture that it was compiled for, "sm_90a", and the version of its PTX times 10, 88 for 8.8 (0: no PTX). */
TILE_API const char *tile_kernel_arch(const tile_kernel *kernel);
TILE_API uint32_t tile_kernel_ptx_version(const tile_kernel *kernel);
TILE_API uint32_t tile_kernel_num_warps(const tile_kernel *kernel);
TILE_API uint32_t tile_kernel_num_ctas(const tile_kernel *kernel);   /* blocks of a cluster; 1: no clusters */
/* The CUfunction that runs any launch; NULL on the interpreter. */
TILE_API void *tile_kernel_function(const tile_kernel *kernel);
TILE_API uint32_t tile_kernel_num_threads(const tile_kernel *kernel);
TILE_API uint32_t tile_kernel_shared_bytes(const tile_kernel *kernel);
/* Global memory per block; the kernel owns it. */
TILE_API uint32_t tile_kernel_scratch_bytes(const tile_kernel *kernel);
/* What the loaded kernel needs. On the simulator and the interpreter there is no machine code: is_assembled is
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
/* The type's name as in signatures, "fp16"; "void" for TILE_UNTYPED; NULL if there is no such type. Static. */
TILE_API const char *tile_type_name(tile_type type);

/* The layout of a descriptor's block in shared memory, only for Gluon kernels: an NVMMASharedLayout with that swizzle.
 * The default is what NVMMASharedLayout.get_default_for(block, type) gives. */
enum {
  TILE_SWIZZLE_DEFAULT = 0, TILE_SWIZZLE_NONE = 1, TILE_SWIZZLE_32 = 2, TILE_SWIZZLE_64 = 3, TILE_SWIZZLE_128 = 4
};

/* A tensor in global memory, for a descriptor parameter. Shape and strides are in elements; the last axis is the
 * fastest and has stride 1. type, block and the fields after them are for the JIT (tile/jit.h): in a compiled
 * kernel they are fixed. The size of this structure is fixed; reserved must be zero. */
typedef struct tile_tensor {
  uint64_t base;
  uint32_t rank;
  tile_type type;
  int64_t shape[TILE_MAX_RANK], strides[TILE_MAX_RANK], block[TILE_MAX_RANK];
  bool pad_nan;                /* a read outside the tensor gives NaN, not 0 */
  uint8_t swizzle;             /* TILE_SWIZZLE_…; any other value is the default */
  uint8_t num_cga, cga[4];     /* with a swizzle: the layout's cga_layout. Entry i is for bit i of a block's number in
                                * its cluster: 0 for a vector of zeros, 1 + log2(n) + 16 * axis for n on axis */
  uint8_t reserved[33];
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
 * which only the JIT uses. What a pointer here points to must stay valid during the call. The functions below make
 * arguments.
 * The size of this structure is fixed, 16 bytes; reserved must be zero. */
typedef struct tile_arg {
  uint16_t kind;               /* a tile_arg_kind */
  uint16_t type;               /* a tile_type */
  uint32_t reserved;
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
  tile_arg a = { TILE_ARG_INT, TILE_UNTYPED, 0, { i } };
  return a;
}
static inline tile_arg tile_arg_float(double f) {
  tile_arg a = { TILE_ARG_FLOAT, TILE_UNTYPED, 0, { 0 } };
  a.value.f = f;
  return a;
}
static inline tile_arg tile_arg_pointer(uint64_t p) {
  tile_arg a = { TILE_ARG_POINTER, TILE_UNTYPED, 0, { 0 } };
  a.value.pointer = p;
  return a;
}
static inline tile_arg tile_arg_tensor(const tile_tensor *t) {
  tile_arg a = { TILE_ARG_TENSOR, TILE_UNTYPED, 0, { 0 } };
  a.value.tensor = t;
  return a;
}

/* An argument that is a tuple. Its items may be of any kind except TILE_ARG_DEFAULT, tuples included; a TILE_ARG_TEXT
 * is a constexpr ("64", "fp16", or the name of a function of the source). Some items are compiled into a kernel:
 * None, constexprs, integers that are 1. A caller leaves them out or gives them with the same value. The size of this
 * structure is fixed; reserved must be zero. */
struct tile_tuple {
  const tile_arg *items;
  uint32_t num_items;
  const char *type_name;       /* the namedtuple of the source that it is; NULL: a plain tuple. Only the JIT uses it */
  uint64_t reserved;
};
static inline tile_arg tile_arg_tuple(const tile_tuple *t) {
  tile_arg a = { TILE_ARG_TUPLE, TILE_UNTYPED, 0, { 0 } };
  a.value.tuple = t;
  return a;
}

/* For the JIT. */
static inline tile_arg tile_arg_array(uint64_t p, tile_type t) {
  tile_arg a = tile_arg_pointer(p);
  a.type = (uint16_t)t;
  return a;
}
static inline tile_arg tile_arg_bool(bool b) { tile_arg a = tile_arg_int(b); a.kind = TILE_ARG_BOOL; return a; }
static inline tile_arg tile_arg_none(void) { tile_arg a = tile_arg_int(0); a.kind = TILE_ARG_NONE; return a; }
static inline tile_arg tile_arg_default(void) { tile_arg a = tile_arg_int(0); a.kind = TILE_ARG_DEFAULT; return a; }
static inline tile_arg tile_arg_text(const char *s) {
  tile_arg a = { TILE_ARG_TEXT, TILE_UNTYPED, 0, { 0 } };
  a.value.text = s;
  return a;
}

/* A parameter of a compiled kernel, as a launch must give it. Strings live as long as the kernel. */
typedef struct tile_param {
  size_t struct_size;
  const char *name;
  const char *type_text;       /* "*fp32", "i32", "tensordesc<fp16[64,64]>" */
  tile_arg_kind kind;          /* what it takes: TILE_ARG_INT, …_FLOAT, …_POINTER or …_TENSOR */
  tile_type type;              /* of the number, of what the pointer points to, of the tensor's elements */
  int64_t divisibility;        /* the integer or address must be a multiple of it; 1: any */
  uint32_t rank;               /* of a descriptor; otherwise 0 */
  int64_t block[TILE_MAX_RANK];
} tile_param;
#define TILE_PARAM_INIT \
  { sizeof(tile_param), NULL, NULL, TILE_ARG_INT, TILE_UNTYPED, 0, 0, { 0, 0, 0, 0, 0 } }
TILE_API bool tile_kernel_get_param(const tile_kernel *kernel, size_t index, tile_param *param);

typedef struct tile_launch_options {
  size_t struct_size;
  uint32_t grid[3];            /* programs on each axis, where a cluster counts as one: 1 x 1 x 1 unless it is
                                  set; 0: nothing runs */
  void *stream;                /* a CUstream; NULL: the default stream. The interpreter ignores it */
} tile_launch_options;
#define TILE_LAUNCH_OPTIONS_INIT { sizeof(tile_launch_options), { 1, 1, 1 }, NULL }

/* Checks what a launch checks, and also that the kernel's device can access the memory of every pointer. Launches
 * nothing. Use it to find mistakes: asking the driver takes microseconds. */
TILE_API tile_status tile_kernel_check(const tile_kernel *kernel, const tile_launch_options *options,
                                       const tile_arg *args, size_t num_args, tile_error **error);
/* Allocates scratch memory for launches on grids of up to this many programs. Only launches of kernels with scratch
 * memory into a stream that is being captured into a graph need this call: without it they are an error. Other launches
 * allocate scratch memory themselves; everything else exists once the kernel is loaded. */
TILE_API tile_status tile_kernel_reserve(tile_kernel *kernel, const uint32_t grid[3], tile_error **error);
/* Checks the arguments against the kernel's parameters and launches. On a gpu it returns once the launch is queued. */
TILE_API tile_status tile_kernel_launch(tile_kernel *kernel, const tile_launch_options *options, const tile_arg *args,
                                        size_t num_args, tile_error **error);

/* ---- packages: one file, several architectures and specialisations ----------------------------------------------- */

/* What `tilec pack` writes and a header of --emit=header holds. Immutable once open; any thread may use it. */
typedef struct tile_package tile_package;
typedef struct tile_package_entry {
  size_t struct_size;
  const char *kernel, *signature, *arch;
  const char *kind;            /* "ptx" or "cubin" */
  const char *made_by;         /* the compiler, or the assembler and its version */
  const void *code;
  size_t code_size;
} tile_package_entry;
#define TILE_PACKAGE_ENTRY_INIT { sizeof(tile_package_entry), NULL, NULL, NULL, NULL, NULL, NULL, 0 }

TILE_API tile_status tile_package_open_file(const char *path, tile_package **package, tile_error **error);
/* The bytes are not copied and must last as long as the package. */
TILE_API tile_status tile_package_open_memory(const void *bytes, size_t size, tile_package **package,
                                              tile_error **error);
TILE_API void tile_package_close(tile_package *package);             /* families loaded from it stay valid */
/* Its contents, one entry per piece of code. Strings and code belong to the package. */
TILE_API size_t tile_package_num_entries(const tile_package *package);
TILE_API bool tile_package_get_entry(const tile_package *package, size_t index, tile_package_entry *entry);

/* The variants of one kernel, loaded on a device: for each signature, the best code for the device. */
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
/* The variant that a launch with these arguments would use, for example to read its constexprs. It belongs to the
 * family. */
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
