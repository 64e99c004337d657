/* Kernels that are compiled when they are launched, as Triton's JIT does.
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
 * Arguments are those of the source, in its order, constexprs included. tile_arg_default() takes the parameter's
 * default, or leaves a constexpr to the autotune configuration; arguments left out at the end have their defaults. An
 * integer constexpr is a tile_arg_int; other constexprs are a float, a bool, None or a tile_arg_text: an expression
 * over the names of the source, "fp16", "tl.float16", "relu" (a function), "(relu, fp16, 64)".
 *
 * Specialisation. There is a variant for each combination of types, of integers that are 1 (they become constants) or
 * multiples of 16, of pointers that are multiples of 16, of the values of constexprs, and of num_warps, num_stages,
 * num_ctas, maxnreg and the options of the launch. `do_not_specialize` and the annotations of the source are
 * obeyed. An integer is int32 if it fits, otherwise int64; a float is fp32; tile_arg.type selects another type.
 *
 * Threads. Any number of threads may use a tile_jit, and everything that came from it, at the same time. A launch
 * whose variant exists takes no lock and allocates nothing. Threads that need the same missing variant wait for one
 * compilation; different variants compile at the same time. */
#ifndef TILE_JIT_H
#define TILE_JIT_H

#include "tile/tile.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tile_jit tile_jit;
typedef struct tile_jit_kernel tile_jit_kernel;
typedef struct tile_variant tile_variant;

/* What a launch does if its variant does not exist. Loading a variant from the cache is not a compilation. */
typedef enum tile_jit_policy {
  TILE_JIT_ALLOW = 0,          /* compile it */
  TILE_JIT_WARN = 1,           /* compile it and send TILE_EVENT_UNPREPARED; tile_jit_prepare sends none */
  TILE_JIT_FORBID = 2          /* fail with TILE_ERROR_USAGE; only tile_jit_prepare compiles */
} tile_jit_policy;

/* Called in the thread that caused the event, which may be the library's own. Must not call into the same tile_jit.
 * The strings are valid only during the call. */
typedef void (*tile_event_fn)(void *user, const tile_event *event);

/* What the JIT does with @triton.autotune. A launch that gives all meta-parameters itself is never tuned. */
typedef enum tile_tune_mode {
  TILE_TUNE_OFF = 0,           /* the first configuration that compiles and fits */
  TILE_TUNE_SAVED = 1,         /* what tune_file says, otherwise as OFF */
  TILE_TUNE_ON = 2             /* what tune_file says; otherwise the first launch (or prepare) for each key times all
                                  configurations, and writes the result to tune_file */
} tile_tune_mode;

typedef struct tile_jit_options {
  size_t struct_size;
  tile_jit_policy policy;
  tile_event_fn on_event;  /* or NULL */
  void *user;
  bool no_cache;               /* neither read nor write the disk cache */
  const char *cache_dir;       /* NULL: TILE_CACHE_DIR, or XDG_CACHE_HOME/tilec, or HOME/.cache/tilec */
  const char *const *include_paths;
  size_t num_include_paths;
  const char *const *options;  /* further options by tilec's names: "enable-fp-fusion=0" */
  size_t num_options;
  tile_tune_mode tune;
  const char *tune_file;       /* JSON, to be kept with the source; NULL: none */
  double tune_seconds;         /* for one tuning; 0: no limit */
  const tile_hooks *hooks;     /* copied; NULL: none. Events go to its event function and to on_event */
  double compile_seconds;      /* limit for one variant, which ends with TILE_ERROR_CANCELLED; 0: none */
  /* On a gpu or sim device: a process of its own, `tilec jit-worker`, compiles each variant. If it crashes, that
   * launch fails with TILE_ERROR_INTERNAL and the host continues. When the JIT is opened, such a process reads the
   * source, its module level included, before the library does. Hooks of the source run in the host. */
  bool isolate;
  const char *tilec;           /* of the same version; NULL: TILE_TILEC, or the one beside the library, or the PATH's */
  const tile_source_range *source_map;   /* copied; for tile_jit_open_memory; NULL: none */
  size_t num_source_map;
} tile_jit_options;
#define TILE_JIT_OPTIONS_INIT \
  { sizeof(tile_jit_options), TILE_JIT_ALLOW, NULL, NULL, false, NULL, NULL, 0, NULL, 0, TILE_TUNE_OFF, NULL, 0, NULL, \
    0, false, NULL, NULL, 0 }

/* Reads and checks the source; compiles nothing yet. options may be NULL. The text is copied. The device must outlive
 * the tile_jit. */
TILE_API tile_status tile_jit_open_file(tile_device *device, const char *path, const tile_jit_options *options,
                                        tile_jit **jit, tile_error **error);
TILE_API tile_status tile_jit_open_memory(tile_device *device, const char *name, const char *text, size_t size,
                                          const tile_jit_options *options, tile_jit **jit, tile_error **error);
/* Also frees its kernels and variants. No thread may be using them. */
TILE_API void tile_jit_close(tile_jit *jit);

TILE_API size_t tile_jit_num_kernels(const tile_jit *jit);
TILE_API const char *tile_jit_kernel_name(const tile_jit *jit, size_t index);      /* NULL past the end */
/* Gives the same handle each time; it lives as long as the tile_jit. name NULL: the only kernel. */
TILE_API tile_status tile_jit_get_kernel(const tile_jit *jit, const char *name, tile_jit_kernel **kernel,
                                         tile_error **error);
TILE_API size_t tile_jit_num_params(const tile_jit_kernel *kernel);
TILE_API const char *tile_jit_param_name(const tile_jit_kernel *kernel, size_t index);   /* NULL past the end */
TILE_API bool tile_jit_param_is_constexpr(const tile_jit_kernel *kernel, size_t index);
/* Whether tuning chooses the meta-parameters of a launch that leaves them out. */
TILE_API bool tile_jit_is_tuned(const tile_jit_kernel *kernel);
TILE_API bool tile_jit_param_has_default(const tile_jit_kernel *kernel, size_t index);

/* Sets the grid of a variant, from its constexprs. With 0 on an axis nothing runs. */
typedef void (*tile_grid_fn)(void *user, const tile_variant *variant, uint32_t grid[3]);

typedef struct tile_jit_launch_options {
  size_t struct_size;
  uint32_t grid[3];            /* programs on each axis: 1 x 1 x 1 unless it is set; 0: nothing runs */
  tile_grid_fn grid_fn;        /* NULL: grid holds */
  void *grid_user;
  void *stream;                /* a CUstream; NULL: the default stream */
  int num_warps, num_stages, num_ctas, maxnreg;   /* 0: the configuration's, or the default */
  /* For tuning: the size in bytes of each parameter's array, 0 where it is not known. Tuning compares arrays of known
   * size between candidates and restores them afterwards; it does not check the others, and what candidates wrote to
   * them stays. */
  const size_t *arg_bytes;
  size_t num_arg_bytes;
  /* The shape and strides of each parameter's array, for hooks of the source that ask for them; rank 0 where they are
   * not known. Descriptors have their own. */
  const tile_tensor *arg_shapes;
  size_t num_arg_shapes;
  /* Further options of this launch's variant by tilec's names, after those of the JIT: "enable-fp-fusion=0",
   * "debug=1". The same options in another order are another variant. */
  const char *const *options;
  size_t num_options;
} tile_jit_launch_options;
#define TILE_JIT_LAUNCH_OPTIONS_INIT \
  { sizeof(tile_jit_launch_options), { 1, 1, 1 }, NULL, NULL, NULL, 0, 0, 0, 0, NULL, 0, NULL, 0, NULL, 0 }

/* Finds or makes the variant and launches it. On a gpu it returns once the launch is queued. */
TILE_API tile_status tile_jit_launch(tile_jit_kernel *kernel, const tile_jit_launch_options *options,
                                     const tile_arg *args, size_t num_args, tile_error **error);
/* Does everything for a launch with these arguments that may allocate, compile, load or synchronise, and launches
 * nothing. Only the type and alignment of a pointer matter: any multiple of 16 counts as aligned. variant may be NULL.
 * */
TILE_API tile_status tile_jit_prepare(tile_jit_kernel *kernel, const tile_jit_launch_options *options,
                                      const tile_arg *args, size_t num_args, const tile_variant **variant,
                                      tile_error **error);

/* Prepares several launches at the same time, on num_threads threads (0: one per core). A failure does not stop the
 * others; the first error in the order of the requests is returned. The size of a request is fixed; reserved must be
 * zero. */
typedef struct tile_jit_request {
  tile_jit_kernel *kernel;
  const tile_jit_launch_options *options;   /* or NULL */
  const tile_arg *args;
  size_t num_args;
  uint64_t reserved[2];
} tile_jit_request;
TILE_API tile_status tile_jit_prepare_all(const tile_jit_request *requests, size_t num_requests, unsigned num_threads,
                                          tile_error **error);

/* Times the configurations of @triton.autotune for a launch with these arguments, even if a result is known, and keeps
 * the new result: its variant, and an entry in tune_file. The jit's tune mode must not be OFF. report may be NULL;
 * otherwise the caller frees the report, which also says after a failure what was tried. If tune_file cannot be
 * written, this JIT still uses the result, and the call returns the error. */
typedef struct tile_tuning tile_tuning;
typedef struct tile_tune_candidate {
  size_t struct_size;
  const char *config;          /* "BM=128, BN=256, num_warps=8, num_stages=3" */
  const char *skipped;         /* why it was not timed to the end; NULL: it was */
  double milliseconds, low, high;   /* of one launch: the median, and the first and last quintile of the runs */
  uint32_t runs;
  bool chosen;
  bool tied;                   /* within 1.5 % of the fastest. The first of these in the source is chosen, so that the
                                  choice is the same next time */
} tile_tune_candidate;
#define TILE_TUNE_CANDIDATE_INIT { sizeof(tile_tune_candidate), NULL, NULL, 0, 0, 0, 0, false, false }
TILE_API tile_status tile_jit_tune(tile_jit_kernel *kernel, const tile_jit_launch_options *options,
                                   const tile_arg *args, size_t num_args, tile_tuning **report, tile_error **error);
TILE_API size_t tile_tuning_num_candidates(const tile_tuning *report);
TILE_API bool tile_tuning_get_candidate(const tile_tuning *report, size_t index, tile_tune_candidate *candidate);
/* The chosen variant; NULL: none. */
TILE_API const tile_variant *tile_tuning_variant(const tile_tuning *report);
TILE_API void tile_tuning_free(tile_tuning *report);

/* Variants live as long as the tile_jit. */
TILE_API size_t tile_jit_num_variants(tile_jit_kernel *kernel);
TILE_API tile_kernel *tile_variant_kernel(const tile_variant *variant);   /* its parameters, warps, architecture, … */
/* An output of the variant, one of TILE_EMIT_*, _HEADER excepted: the text, or the bytes of the cubin, with a NUL after
 * `size` bytes. The variant owns it. It is made at the first call and then kept; all but PTX, cubin and SASS compile
 * the variant once more. Cubin and SASS need an assembler. size may be NULL. On the interpreter, which has no
 * architecture, the variant is compiled for sm_90a. */
TILE_API tile_status tile_variant_output(const tile_variant *variant, unsigned emit, const char **data, size_t *size,
                                         tile_error **error);
/* The same as tile_kernel_resources. On a device without machine code an assembler makes it, if one is found. */
TILE_API tile_status tile_variant_resources(const tile_variant *variant, tile_resources *resources, tile_error **error);
/* The value of a constexpr as source text, or NULL. */
TILE_API const char *tile_variant_constexpr(const tile_variant *variant, const char *name);
/* The same as an integer (a bool is 0 or 1); `otherwise` if it is not an integer. */
TILE_API int64_t tile_variant_constexpr_int(const tile_variant *variant, const char *name, int64_t otherwise);
TILE_API size_t tile_variant_num_constexprs(const tile_variant *variant);
TILE_API const char *tile_variant_constexpr_name(const tile_variant *variant, size_t index);
/* Launches a variant with the arguments of the source, which the variant must fit. */
TILE_API tile_status tile_variant_launch(const tile_variant *variant, const uint32_t grid[3], void *stream,
                                         const tile_arg *args, size_t num_args, tile_error **error);

/* ---- arrays of other libraries ----------------------------------------------------------------------------------- */

/* DLPack's DLTensor, field by field: a pointer to one may be cast to this. */
typedef struct tile_dltensor {
  void *data;
  int32_t device_type, device_id, ndim;
  uint8_t code, bits;          /* DLDataType */
  uint16_t lanes;
  int64_t *shape, *strides;    /* strides NULL: dense */
  uint64_t byte_offset;
} tile_dltensor;
/* Makes the array an argument. bytes, which may be NULL, receives the size of a dense array, otherwise 0, for
 * arg_bytes. */
TILE_API tile_status tile_arg_from_dlpack(const tile_dltensor *tensor, tile_arg *arg, size_t *bytes,
                                          tile_error **error);
/* Make a tensor for a descriptor argument. strides NULL: dense; block NULL: the kernel's pre_hook sets it. */
TILE_API tile_status tile_tensor_init(tile_tensor *tensor, uint64_t base, tile_type type, uint32_t rank,
                                      const int64_t *shape, const int64_t *strides, const int64_t *block,
                                      tile_error **error);
TILE_API tile_status tile_tensor_from_dlpack(tile_tensor *tensor, const tile_dltensor *from, const int64_t *block,
                                             tile_error **error);

/* ---- for the Python package ----------------------------------------------------------------------------------------
 * Makes a Python function that launches variants that exist and calls slow(grid, *args, **kwargs) for everything else.
 * All objects are Python's, and the caller holds the interpreter's lock. NULL: the process runs no Python that it
 * knows. The capsule belongs to the function. */
TILE_API void *tile_jit_python_launcher(tile_jit_kernel *kernel, void *slow, void *type_code, void *meta,
                                        void *address_of, void **capsule);
/* Call it before the kernel is freed: afterwards the function calls slow for everything. */
TILE_API void tile_jit_python_close(void *capsule);
/* After this call a launch returns result_of(the variant's address) instead of None. */
TILE_API void tile_jit_python_use_results(void *capsule, void *result_of);
/* kind 0: it has data_ptr() and dtype; 1: address_of knows it; 2: desc; 3: as 0, and it has is_cuda. */
TILE_API void tile_jit_python_learn_type(void *capsule, void *type, int kind);
TILE_API void tile_jit_python_learn_text(void *capsule, void *value, const char *text);    /* of a constexpr */
/* stream_of(ordinal) is the stream. */
TILE_API void tile_jit_python_use_stream(void *capsule, void *stream_of, void *ordinal);
/* Makes another launching function, which calls otherwise(grid, *args, **kwargs) if the current device (device_of(),
 * unless that is None) is not the stream's, or if one of the guards does not hold. A new tuple of guards replaces the
 * old one for all functions of the capsule. Guards: (collection,) that is empty; (dict, name) that is not in it;
 * (dict, name, value) or (object, name of an attribute, value) that is the identical value; a function that returns
 * True. */
TILE_API void *tile_jit_python_guard(void *capsule, void *guards, void *device_of, void *otherwise);
/* Makes a function run(grid0, grid1, grid2, stream, function, packed metadata, metadata, enter hook, exit hook, *args)
 * that launches one variant of the capsule's kernel, and calls slow with the same for everything else: a hook that is
 * true, objects of types that were not learned, errors. A stream of None is the current one; function and metadata are
 * ignored. args are those of all parameters or of free_params, a tuple of indices: the others have the variant's
 * values. */
TILE_API void *tile_jit_python_variant(void *capsule, const tile_variant *variant, void *free_params, void *slow);
/* Makes a method launch(grid, *args, **kwargs) for a class that wraps kernels; it calls the method named slow for
 * everything unusual. kind 0: autotuned kernels, which launch with the configuration that was chosen before; 1:
 * heuristics. */
TILE_API void *tile_jit_python_layer(void *slow, int kind);
/* The same for a class whose objects may have their method `run` replaced: an object whose run is not the function run
 * (NULL: any will do) is launched by slow. */
TILE_API void *tile_jit_python_layer_of_run(void *slow, int kind, void *run);

#ifdef __cplusplus
}
#endif
#endif
