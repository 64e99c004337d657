// A launcher in C (python.c): what it knows of one kernel, and what it makes of Python's objects (python_args.c).
#ifndef TILE_RUNTIME_JIT_PYTHON_LAUNCHER_H
#define TILE_RUNTIME_JIT_PYTHON_LAUNCHER_H

#include "runtime/jit/jit_impl.h"
#include "runtime/jit/python.h"

// As the module calls them: data_ptr() and dtype; address_of; the field `address`, of a tile_tensor; a tensor whose
// is_cuda must be true.
enum { OBJECT_TENSOR, OBJECT_OTHER_ARRAY, OBJECT_DESCRIPTOR, OBJECT_CUDA_TENSOR };
enum { MAX_TYPES = 16, MAX_DTYPES = 32, MAX_TEXTS = 32 };
// Names that calls and objects are asked for: the options of a launch first, those that are numbers before the stream.
enum { OPTION_STREAM = 4, NUM_OPTIONS, WORD_DATA_PTR = NUM_OPTIONS, WORD_DTYPE, WORD_ADDRESS, WORD_IS_CUDA, NUM_WORDS };
// What the module makes of a variant; NULL: not made.
typedef struct { const tile_variant *variant; Object *meta, *result; } Known;

typedef struct {
  MethodDef method, guarded;
  tile_jit_kernel *k;
  Object **names, *words[NUM_WORDS];
  Object *slow, *type_code, *meta_of;   // of the module: all of a launch; a dtype's code; a variant's constexprs
  Object *address_of;                   // and (address, code) of an array
  Object *result_of;                    // what a launch of a variant returns; NULL: None
  Object *stream_of, *ordinal;          // the current stream of the device as an integer; NULL: the default stream
  // Of the guarded function: what must hold, the current device's ordinal, who launches if not. NULL: there is none.
  Object *guards, *device_of, *otherwise;
  Object *types[MAX_TYPES];             // of objects that are arrays or descriptors
  uint8_t type_kinds[MAX_TYPES];
  Object *dtypes[MAX_DTYPES];
  tile_type dtype_codes[MAX_DTYPES];
  // Values of constexprs that are expressions, and what they are in the source: the last ones.
  Object *texts[MAX_TEXTS];
  char *text_values[MAX_TEXTS];
  uint32_t next_text;
  Known **known;   // a hash table by variant, at most half full; an entry stays where it is when the table grows
  uint32_t known_size;   // 0 or a power of two
  uint32_t num_names, num_types, num_dtypes, num_texts, num_known;
} Launcher;

extern const char launcher_capsule[];   // the name of the capsules that have a Launcher

// Items of the tuples of one launch, and its texts: the launcher may forget them while other Python code runs.
enum { MAX_ITEMS = 128, MAX_TUPLES = 32, TEXT_BYTES = 1024 };
typedef struct {
  uint32_t num_items, num_tuples, num_bytes;
  tile_arg items[MAX_ITEMS];
  tile_tuple tuples[MAX_TUPLES];
  char bytes[TEXT_BYTES];
} Items;

// Makes an object the argument of parameter i. False: it takes Python to do it; an exception may be set.
bool launcher_arg(Launcher *l, uint32_t i, Object *o, tile_arg *a, Items *pool);
// The index of an object among the texts: itself, or an equal string. -1: it is not there.
int launcher_text(const Launcher *l, Object *o);
bool launcher_stream(Launcher *l, void **stream);   // the current one, or the default stream's NULL stays
bool launcher_grid_axis(Object *o, uint32_t *axis);

#endif
