// What the JIT's files share. runtime/jit/jit.h and runtime/tile/jit.h are the room's doors.
#ifndef TILE_RUNTIME_JIT_IMPL_H
#define TILE_RUNTIME_JIT_IMPL_H

#include <pthread.h>
#include <stdatomic.h>

#include "runtime/compile/compile.h"
#include "runtime/jit/cache.h"
#include "runtime/tile/jit.h"

GIVEN_SINCE(tile_jit_options, num_source_map);
GIVEN_SINCE(tile_jit_launch_options, num_options);
GIVEN_SINCE(tile_tune_candidate, tied);

enum {
  JIT_MAX_PARAMS = INT16_MAX,  // more than the driver takes
  JIT_FEW_PARAMS = FEW_ARGS,   // which a launch keeps on its stack
  JIT_FEW_WORDS = 4 * JIT_FEW_PARAMS,
  JIT_MAX_LEAVES = UINT16_MAX,
  JIT_MAX_DEPTH = 16,
  JIT_MAX_OPTIONS = 64,        // of one launch
  CONFIG_FIRST = -1,
  CONFIG_NONE = 1 << 30
};

// What a variant is found by: the launch options and at least one word for each parameter; texts of constexprs apart.
typedef struct {
  uint64_t *words;
  const char **texts;
  uint32_t num_words, num_texts, max_words, max_texts;
  uint64_t hash;
} Key;

// A launch's arguments, one for each parameter, with defaults filled in, and their key.
typedef struct {
  Key key;
  tile_arg *args;
  void *memory;                // what key and args point into; NULL: the arrays below
  uint64_t few_words[JIT_FEW_WORDS];
  const char *few_texts[2 * JIT_FEW_PARAMS];
  tile_arg few_args[JIT_FEW_PARAMS];
} LaunchArgs;

// What the key needs to know of a parameter. It is one byte: a launch reads all of them.
typedef struct {
  uint8_t is_constexpr : 1, is_annotated : 1, never : 1, never_aligned : 1;
  uint8_t is_value_keyed : 1;  // a heuristic or the autotuner looks at the value
} JitTraits;

typedef struct {
  const char *name;
  JitTraits traits;
  bool has_default;
  tile_arg default_arg;        // NONE, BOOL, INT or FLOAT; DEFAULT: the compiler reads the source
} JitParam;

// One thing that a hook does to an array: fills it with a number or copies another array into it.
typedef struct { uint16_t param, from; bool is_copy, is_float; int64_t i; double f; } Effect;

// A run of a configuration's pre_hook.
typedef struct HookRun HookRun;
struct HookRun {
  HookRun *next;               // with other values
  const Effect *effects;
  uint32_t num_effects;
  bool depends;                // on values outside the variant's key: another run may do something else
  int config;
  uint64_t values[2];          // depends: a checksum of everything that it could look at
  const int64_t *blocks;       // the blocks of descriptors after it, TILE_MAX_RANK for each parameter
  tile_variant *variant;       // for these blocks
};

typedef struct VariantOutput VariantOutput;
struct VariantOutput { VariantOutput *next; unsigned emit; size_t size; char data[]; };

struct tile_variant {
  tile_variant *next;
  tile_jit_kernel *owner;
  tile_kernel *kernel;
  tile_program *program;       // whose IR the interpreter runs; NULL on other devices
  HookRun *hook;               // what its pre_hook did when it was made; NULL: nothing that matters to a launch
  // The parameter that each argument of the compiled kernel comes from; with has_tuples, the leaf.
  uint16_t *arg_params;
  bool has_tuples;             // arguments are flattened before they are packed
  uint32_t num_leaves;         // how many that gives
  void *made_from;             // wire.h's launch
  size_t made_from_size;
  char *ptx;                   // NULL on the interpreter
  VariantOutput *outputs;      // those that were asked for; under the owner's lock
};

typedef struct {
  uint64_t hash;
  uint32_t num_words, num_texts;
  const uint64_t *words;
  const char *const *texts;
  tile_variant *variant;
} Entry;

// Read without a lock: slots are never emptied. A larger table replaces a full one, which is kept until the end.
typedef struct Table Table;
struct Table {
  Table *older;
  uint32_t mask, count;
  _Atomic(const Entry *) slots[];
};

typedef struct Pending Pending;
struct Pending { const Key *key; Pending *next; };   // on the stack of the thread that compiles

struct tile_jit_kernel {
  uint32_t num_params;
  _Atomic(Table *) table;
  JitTraits *traits;
  tile_jit *jit;
  CtFunction *fn;              // in the jit's Context
  const char *name;
  JitParam *params;
  pthread_mutex_t lock;        // of the fields below, and for filling the table
  pthread_cond_t done;
  const char **config_texts;   // of the autotune configurations; fixed
  Arena arena;
  Pending *pending;
  tile_variant *variants;
  atomic_size_t num_variants;
};

struct tile_tuning {
  Arena arena;
  tile_tune_candidate *candidates;
  uint32_t count;
  const tile_variant *variant;
  tile_error *lost;            // why the result could not be kept, or NULL
};

typedef struct TuneResult TuneResult;
struct TuneResult { TuneResult *next; const char *kernel, *device, *key, *config; double milliseconds; };

struct tile_jit {
  tile_device *device;
  pthread_mutex_t lock;        // of results, and for running functions of the source in ctx
  tile_tune_mode tune;
  double tune_seconds, compile_seconds;
  Limits limits;               // on what runs in ctx
  bool isolate;
  const char *tilec;           // or NULL
  const char **option_texts;   // as they were given
  uint32_t num_option_texts;
  const char *tune_file;       // or NULL
  TuneResult *results;
  Arena arena;
  tile_jit_policy policy;
  tile_event_fn on_event;
  void *user;
  tile_hooks hooks;
  Options options;
  const char *path, *text;
  size_t size;
  tile_source_range *source_map;
  size_t num_source_map;
  Context ctx;                 // the source as a whole: what its kernels are. Fixed after opening
  Frontend *frontend;
  CtModule *objects;           // what functions of the source see of arguments; NULL until one is called
  tile_jit_kernel *kernels;
  uint32_t num_kernels;
  Cache *cache;                // or NULL
  // The part of a cache key that all variants share: the compiler and its options; the source as it was read.
  const char *identity, *files;
  const SourceFile *const *sources;   // those of ctx once it was opened
  uint32_t num_sources;
};

// Work with memory of its own, of the host's (runtime/compile/error.h).
static inline tile_status jit_scratch(const tile_jit *jit, const char *doing, ScratchWork work, void *user,
                                      tile_error **error) {
  return scratch_run(hooks_memory(&jit->hooks), doing, work, user, error);
}

// A launch as the slow path takes it.
typedef struct {
  tile_jit_kernel *kernel;
  const Key *key;
  const tile_jit_launch_options *options;
  const tile_arg *args;        // one per parameter, defaults filled in
  const Assembler *assembler;  // to use instead of the driver's, or NULL
} Request;

// key.c: fills in defaults and makes the key. The caller frees l with jit_free_args, also after an error.
tile_status jit_make_key(LaunchArgs *l, const tile_jit_kernel *k, const tile_jit_launch_options *o,
                         const tile_arg *given, size_t num_given, tile_error **error);
static inline void jit_free_args(LaunchArgs *l) { free(l->memory); }

// table.c
bool jit_entry_is(const Entry *e, const Key *key);
tile_variant *jit_table_find(const tile_jit_kernel *k, const Key *key);   // NULL: it is not there
// Replaces an entry with the same key. The caller holds k's lock.
tile_status jit_table_insert(tile_jit_kernel *k, const Key *key, tile_variant *v, tile_error **error);

// variant.c
void jit_variant_free(tile_variant *v);
void jit_own_variant(tile_jit_kernel *k, tile_variant *v);   // the kernel frees it
void jit_own_locked(tile_jit_kernel *k, tile_variant *v);    // the same; the caller holds k's lock
// The source's arguments as the kernel's. packed has room for those. False: out of memory.
bool jit_variant_pack(const tile_variant *v, const tile_arg *args, tile_arg *packed);
tile_status jit_variant_launch(const tile_variant *v, const uint32_t grid[3], void *stream, const tile_arg *args,
                               tile_error **error);

// launch.c: the variant for such a launch; NULL: it is not there, or the arguments are wrong. l as jit_make_key has it.
tile_variant *jit_find(const tile_jit_kernel *k, const tile_jit_launch_options *o, const tile_arg *given,
                       size_t num_given, LaunchArgs *l);

// compile.c
const char *jit_identity(const tile_jit *jit);
const char *jit_files(Arena *a, const Frontend *fe);   // all files that were read, with checksums of their text
tile_status jit_compile(const Request *request, int config, tile_variant **variant, tile_error **error);
const char *jit_variant_text(Arena *a, const tile_jit_kernel *k, const tile_arg *args);
void jit_event(const tile_jit *jit, tile_event_kind kind, const char *kernel, const char *variant, double milliseconds);
// May a launch make a variant that is missing? A prepare always may.
tile_status jit_may_make(const Request *request, tile_error **error);
// For the compiler process of an isolated JIT, which has no device: the PTX, and the files that it comes from.
tile_status jit_compile_program(const Request *r, int config, unsigned emit, Arena *a, tile_program **program,
                                tile_error **error);
tile_status jit_compile_ptx(const Request *request, int config, Arena *a, const char **ptx, const char **files,
                            tile_error **error);
// output.c: keeps with a new variant what its outputs are made from. False: out of memory.
bool jit_keep_origin(tile_variant *v, const Request *r, int config, Arena *a);
void jit_free_origin(tile_variant *v);
// isolated.c: the same in a compiler process.
// Does a compiler process survive reading the source? An error in the source counts as yes.
tile_status jit_try_source(const tile_jit *jit, tile_error **error);
tile_status jit_compile_isolated(const Request *request, int config, Arena *a, const char **ptx, const char **files,
                                 tile_error **error);

// choose.c: the variant of the fastest configuration, by a known result or one that is found now.
tile_status jit_tuned(const Request *request, tile_variant **variant, tile_error **error);
// The first configuration that compiles and fits.
tile_status jit_first(const Request *request, tile_variant **variant, tile_error **error);
// tune.c: times all configurations. key is the result's; report may be NULL.
tile_status jit_tune(const Request *request, const char *key, tile_tuning *report, tile_variant **variant,
                     tile_error **error);

// results.c
const char *jit_result_key(Arena *a, const Request *request);
int jit_find_result(tile_jit_kernel *k, const char *key);   // the configuration; -1: nothing is known
tile_status jit_keep_result(tile_jit_kernel *k, const char *key, uint32_t config, double milliseconds,
                            tile_error **error);
tile_status jit_load_results(tile_jit *jit, tile_error **error);

// source.c: functions of the source. All take the jit's lock. args are the request's after the hooks.
typedef struct { const tile_arg *args; const Effect *effects; uint32_t num_effects; bool depends; } Hooked;
tile_status jit_prune(const Request *request, bool *is_pruned, tile_error **error);
// Runs the configuration's pre_hook and, for a launch that is_timed, autotune's own.
tile_status jit_pre_hooks(const Request *request, uint32_t config, bool is_timed, Arena *a, Hooked *out,
                          tile_error **error);
tile_status jit_post_hook(const Request *request, uint32_t config, Arena *a, Hooked *out, tile_error **error);
// What runs in ctx from now on ends after compile_seconds or by the host's wish.
void jit_start_clock(tile_jit *jit);
bool jit_has_hooks(const tile_jit_kernel *k);                     // of configurations
bool jit_is_reset(const tile_jit_kernel *k, uint32_t param);      // reset_to_zero names it
bool jit_is_key(const CtFunction *fn, const char *param);         // key names it

// effects.c
tile_status jit_apply_effects(const Request *request, const Effect *effects, uint32_t count, tile_error **error);
// Keeps with a new variant what its pre_hook did.
tile_status jit_keep_hook(tile_variant *v, const Request *request, const Hooked *h, int config, tile_error **error);
// Runs the hook for a launch. If it gives descriptors other blocks, *variant becomes the variant for these.
tile_status jit_launch_hook(const Request *request, tile_variant **variant, tile_error **error);

// build_id.c: names the build of the code that runs, for cache keys.
void jit_build_id(char *out, size_t size);

#endif
