/* Kernels compiled when they are launched, as Triton's JIT does it.
 *
 *   tile_jit *jit; tile_jit_kernel *kernel; tile_error *error = NULL;
 *   tile_jit_open_file(device, "vector_add.tile", NULL, &jit, &error);
 *   tile_jit_get_kernel(jit, "add", &kernel, &error);
 *   tile_arg args[] = {tile_arg_array(x, TILE_FP32), tile_arg_array(y, TILE_FP32), tile_arg_array(out, TILE_FP32),
 *                      tile_arg_int(n), tile_arg_int(1024)};
 *   tile_jit_launch_options launch = TILE_JIT_LAUNCH_OPTIONS_INIT;
 *   launch.grid[0] = (n + 1023) / 1024;
 *   tile_jit_launch(kernel, &launch, args, 5, &error);
 *
 * Arguments are those of the source, in its order, constexprs included: tile_arg_default() takes the default (or leaves a
 * constexpr to the autotune configuration), and arguments left out at the end are defaults. An integer constexpr is a
 * tile_arg_int, any other a float, bool, None or tile_arg_text("fp16").
 *
 * Specialisation. A variant is made per: types; an integer being 1 (it becomes a constant) or a multiple of 16; a pointer
 * being a multiple of 16; the values of constexprs; num_warps, num_stages, num_ctas, maxnreg. `do_not_specialize` and
 * annotations of the source are obeyed. Integers are int32 where they fit, else int64; floats are fp32; give
 * tile_arg.type for another.
 *
 * Threads. A tile_jit and everything got from it may be used by any number of threads at the same time. A launch of a variant that
 * is there takes no lock and allocates nothing. Threads that need the same missing variant wait for one compilation;
 * different ones compile at the same time. */
#ifndef TILE_JIT_H
#define TILE_JIT_H

#include "tile/tile.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tile_jit tile_jit;
typedef struct tile_jit_kernel tile_jit_kernel;
typedef struct tile_variant tile_variant;

/* What happens when a launch needs a variant that is not there. Loading one from the cache is no compilation. */
typedef enum tile_jit_policy {
  TILE_JIT_ALLOW = 0,          /* compile it */
  TILE_JIT_WARN = 1,           /* compile it and send TILE_EVENT_UNPREPARED; tile_jit_prepare sends none */
  TILE_JIT_FORBID = 2          /* fail with TILE_ERROR_USAGE; only tile_jit_prepare compiles */
} tile_jit_policy;

/* Called in the thread that caused the event, which may be one of the library's own. It must not call into the same tile_jit. Strings last for the call. */
typedef void (*tile_event_fn)(void *user, const tile_event *event);

/* What is done with @triton.autotune. Launches that give all meta-parameters themselves are never tuned. */
typedef enum tile_tune_mode {
  TILE_TUNE_OFF = 0,           /* the first configuration that compiles and fits */
  TILE_TUNE_SAVED = 1,         /* what tune_file says, else as OFF */
  TILE_TUNE_ON = 2             /* what tune_file says, else time all of them at the first launch (or prepare) per key; results go to tune_file */
} tile_tune_mode;

typedef struct tile_jit_options {
  size_t struct_size;
  tile_jit_policy policy;
  tile_event_fn on_event;  /* or NULL */
  void *user;
  bool no_cache;               /* neither read nor write the disk cache */
  const char *cache_dir;       /* NULL: TILE_CACHE_DIR, else XDG_CACHE_HOME/tilec, else HOME/.cache/tilec */
  const char *const *include_paths;
  size_t num_include_paths;
  const char *const *options;  /* further options under tilec's names: "enable-fp-fusion=0" */
  size_t num_options;
  tile_tune_mode tune;
  const char *tune_file;       /* JSON, meant to be kept with the source; NULL: none */
  double tune_seconds;         /* per tuning; 0: no limit */
  const tile_hooks *hooks;     /* copied; NULL: none. Its event function is called besides on_event */
  double compile_seconds;      /* per variant, after which it is TILE_ERROR_CANCELLED; 0: no limit */
  /* Each variant is compiled by a process of its own, `tilec jit-worker`: if it crashes, that launch fails with TILE_ERROR_INTERNAL and
   * the host goes on. Opening has such a process read the source, its module level included, before it is read here. Hooks of the source
   * run here. On a gpu or sim device. */
  bool isolate;
  const char *tilec;           /* of the same version; NULL: TILE_TILEC, else the one beside the library, else the PATH's */
} tile_jit_options;
#define TILE_JIT_OPTIONS_INIT \
  { sizeof(tile_jit_options), TILE_JIT_ALLOW, NULL, NULL, false, NULL, NULL, 0, NULL, 0, TILE_TUNE_OFF, NULL, 0, NULL, 0, false, NULL }

/* Reads and checks the source; nothing is compiled yet. options may be NULL. The device must outlive the tile_jit. */
TILE_API tile_status tile_jit_open_file(tile_device *device, const char *path, const tile_jit_options *options, tile_jit **jit, tile_error **error);
TILE_API tile_status tile_jit_open_memory(tile_device *device, const char *name, const char *text, size_t size, const tile_jit_options *options,
                                          tile_jit **jit, tile_error **error);
/* Frees the kernels and variants too. Nothing of it may be running. */
TILE_API void tile_jit_close(tile_jit *jit);

TILE_API size_t tile_jit_num_kernels(const tile_jit *jit);
TILE_API const char *tile_jit_kernel_name(const tile_jit *jit, size_t index);      /* NULL past the end */
/* The same handle each time; it lives as long as the tile_jit. name NULL: the only kernel. */
TILE_API tile_status tile_jit_get_kernel(const tile_jit *jit, const char *name, tile_jit_kernel **kernel, tile_error **error);
TILE_API size_t tile_jit_num_params(const tile_jit_kernel *kernel);
TILE_API const char *tile_jit_param_name(const tile_jit_kernel *kernel, size_t index);   /* NULL past the end */
TILE_API bool tile_jit_param_is_constexpr(const tile_jit_kernel *kernel, size_t index);
/* Does a launch with defaults for its meta-parameters choose by tuning? */
TILE_API bool tile_jit_is_tuned(const tile_jit_kernel *kernel);
TILE_API bool tile_jit_param_has_default(const tile_jit_kernel *kernel, size_t index);

/* The grid of a variant, from its constexprs. 0 on an axis is an error. */
typedef void (*tile_grid_fn)(void *user, const tile_variant *variant, uint32_t grid[3]);

typedef struct tile_jit_launch_options {
  size_t struct_size;
  uint32_t grid[3];
  tile_grid_fn grid_fn;        /* or NULL: grid */
  void *grid_user;
  void *stream;                /* a CUstream; NULL: the default stream */
  int num_warps, num_stages, num_ctas, maxnreg;   /* 0: the configuration's, else the default */
  /* For tuning: how many bytes the array of each parameter has. Such arrays are compared between candidates and put back
   * afterwards; without, candidates are timed unchecked and what they write stays. */
  const size_t *arg_bytes;
  size_t num_arg_bytes;
  /* For hooks of the source that ask for an array's shape or strides: those of each parameter; rank 0 where they are not known. Of
   * descriptors they are known without. */
  const tile_tensor *arg_shapes;
  size_t num_arg_shapes;
} tile_jit_launch_options;
#define TILE_JIT_LAUNCH_OPTIONS_INIT { sizeof(tile_jit_launch_options), { 1, 1, 1 }, NULL, NULL, NULL, 0, 0, 0, 0, NULL, 0, NULL, 0 }

/* Finds (or makes) the variant and launches it. On a gpu it returns once the launch is queued. */
TILE_API tile_status tile_jit_launch(tile_jit_kernel *kernel, const tile_jit_launch_options *options, const tile_arg *args, size_t num_args,
                                     tile_error **error);
/* Does everything for such a launch that may allocate, compile, load or synchronise, and launches nothing. Of pointers only
 * type and alignment matter; any multiple of 16 stands for an aligned one. variant may be NULL. */
TILE_API tile_status tile_jit_prepare(tile_jit_kernel *kernel, const tile_jit_launch_options *options, const tile_arg *args, size_t num_args,
                                      const tile_variant **variant, tile_error **error);

/* Several of them at the same time, on so many threads (0: one per core). The first error in the order of requests is returned; the
 * others are prepared all the same. */
typedef struct tile_jit_request {
  tile_jit_kernel *kernel;
  const tile_jit_launch_options *options;   /* or NULL */
  const tile_arg *args;
  size_t num_args;
} tile_jit_request;
TILE_API tile_status tile_jit_prepare_all(const tile_jit_request *requests, size_t num_requests, unsigned num_threads, tile_error **error);

/* Times the configurations of @triton.autotune for such a launch now, whatever is known, and keeps the result: the variant, and in
 * tune_file. The jit's tune mode must not be OFF. The report (may be NULL) is the caller's to free; on failure it says what was
 * tried, too. */
typedef struct tile_tuning tile_tuning;
typedef struct tile_tune_candidate {
  const char *config;          /* "BM=128, BN=256, num_warps=8, num_stages=3" */
  const char *skipped;         /* why it was not timed to the end; NULL: it was */
  double milliseconds, low, high;   /* median, and the fifth of the runs that is below and above */
  uint32_t runs;
  bool chosen;
  bool tied;                   /* within 1.5 % of the fastest: of those, the first in the source is chosen, so that the choice is the same next time */
} tile_tune_candidate;
TILE_API tile_status tile_jit_tune(tile_jit_kernel *kernel, const tile_jit_launch_options *options, const tile_arg *args, size_t num_args,
                                   tile_tuning **report, tile_error **error);
TILE_API size_t tile_tuning_num_candidates(const tile_tuning *report);
TILE_API tile_tune_candidate tile_tuning_candidate(const tile_tuning *report, size_t index);   /* zeroed past the end */
TILE_API const tile_variant *tile_tuning_variant(const tile_tuning *report);                   /* the chosen one; NULL: none */
TILE_API void tile_tuning_free(tile_tuning *report);

/* Variants live as long as the tile_jit. */
TILE_API size_t tile_jit_num_variants(tile_jit_kernel *kernel);
TILE_API tile_kernel *tile_variant_kernel(const tile_variant *variant);
/* The value of a constexpr as the source would write it, or NULL. */
TILE_API const char *tile_variant_constexpr(const tile_variant *variant, const char *name);
/* As an integer (a bool is 0 or 1); otherwise if it is none. */
TILE_API int64_t tile_variant_constexpr_int(const tile_variant *variant, const char *name, int64_t otherwise);
TILE_API size_t tile_variant_num_constexprs(const tile_variant *variant);
TILE_API const char *tile_variant_constexpr_name(const tile_variant *variant, size_t index);
/* Launches a known variant with the arguments of the source. They must be such that the variant fits them. */
TILE_API tile_status tile_variant_launch(const tile_variant *variant, const uint32_t grid[3], void *stream, const tile_arg *args, size_t num_args,
                                         tile_error **error);

/* ---- arrays of other libraries --------------------------------------------------------------------------------------- */

/* DLPack's DLTensor, field by field: a pointer to one may be cast. */
typedef struct tile_dltensor {
  void *data;
  int32_t device_type, device_id, ndim;
  uint8_t code, bits;          /* DLDataType */
  uint16_t lanes;
  int64_t *shape, *strides;    /* strides NULL: dense */
  uint64_t byte_offset;
} tile_dltensor;
/* The array as an argument. bytes (may be NULL) is its size where it is dense, else 0: what arg_bytes wants. */
TILE_API tile_status tile_arg_from_dlpack(const tile_dltensor *tensor, tile_arg *arg, size_t *bytes, tile_error **error);
/* A tensor for a descriptor argument. strides NULL: dense; block NULL: left to the kernel's pre_hook. */
TILE_API tile_status tile_tensor_init(tile_tensor *tensor, uint64_t base, tile_type type, uint32_t rank, const int64_t *shape, const int64_t *strides,
                                      const int64_t *block, tile_error **error);
TILE_API tile_status tile_tensor_from_dlpack(tile_tensor *tensor, const tile_dltensor *from, const int64_t *block, tile_error **error);

/* ---- for runtime/python/tile.py ------------------------------------------------------------------------------------
 * A Python function that launches variants that are there and calls slow(grid, *args, **kwargs) for everything else. All
 * objects are Python's, and the caller holds the interpreter's lock. NULL where the process runs no Python of a known kind.
 * The capsule belongs to the function. */
TILE_API void *tile_jit_python_launcher(tile_jit_kernel *kernel, void *slow, void *type_code, void *meta, void *address_of,
                                        void **capsule);
TILE_API void tile_jit_python_learn_type(void *capsule, void *type, int kind);             /* 0: it has data_ptr() and dtype; 1: address_of knows it; 2: desc; 3: is_cuda, too */
TILE_API void tile_jit_python_learn_text(void *capsule, void *value, const char *text);    /* of a constexpr */
TILE_API void tile_jit_python_use_stream(void *capsule, void *stream_of, void *ordinal);   /* stream_of(ordinal) is the stream */

#ifdef __cplusplus
}
#endif
#endif
