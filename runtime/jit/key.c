// From a launch's arguments to the key of a variant. Keys must differ where the compiler would make different code, and
// should not differ otherwise. All arguments of every launch pass through here: the usual kinds have a way of their
// own.
#include <string.h>

#include "runtime/compile/compile.h"
#include "runtime/jit/jit_impl.h"

static inline void put(Key *key, uint64_t word) { key->words[key->num_words++] = word; }

// Mixes words in pairs that do not wait for each other. Keys are compared as a whole: the hash need only spread.
static inline uint64_t hash_words(const uint64_t *words, uint32_t n) {
  uint64_t h = n, salt = UINT64_C(0x9fb21c651e98df25);
  for (uint32_t i = 0; i < n; i += 2, salt += UINT64_C(0x9e3779b97f4a7c15)) {
    unsigned __int128 p = (unsigned __int128)(words[i] ^ salt) *
                          ((i + 1 < n ? words[i + 1] : 0) ^ UINT64_C(0xd1342543de82ef95));
    h += (uint64_t)p ^ (uint64_t)(p >> 64);
  }
  return h ^ h >> 29;
}

static bool is_type(tile_type t) { return (unsigned)t <= TILE_FP64; }

#define REFUSE(fmt, ...) \
  error_set(error, TILE_ERROR_USAGE, "%s: argument '%s' " fmt, k->name, k->params[i].name, ##__VA_ARGS__)

static inline uint64_t hint(bool is_pointer, JitTraits t, uint64_t v) {
  return (uint64_t)specialize_hint(is_pointer, t.is_annotated, t.never, t.never_aligned, v) << 8;
}
static inline uint64_t int_type(int64_t v) { return (v == (int32_t)v ? TILE_INT32 : TILE_INT64) << 16; }

static void put_text(Key *key, const char *text) {
  put(key, cache_hash(text, strlen(text), 0));
  key->texts[key->num_texts++] = text;
}

static tile_status key_param(Key *key, const tile_jit_kernel *k, uint32_t i, const tile_arg *a, tile_error **error);

// A tuple's items are specialised one by one, by the rules of its parameter except for its annotation.
static tile_status key_item(Key *key, const tile_jit_kernel *k, uint32_t i, const tile_arg *a, uint32_t depth,
                            tile_error **error) {
  JitTraits t = k->params[i].traits;
  t.is_annotated = false;
  bool has_room = key->num_words + 2 * (k->num_params - i) + 8 <= key->max_words &&
                  key->num_texts + k->num_params - i < key->max_texts;
  if (!has_room) return REFUSE("has too many items");
  if (a->reserved) return REFUSE("has an item whose %s", GIVEN_RESERVED);
  switch (a->kind) {
  case TILE_ARG_DEFAULT: return REFUSE("is a tuple with an item that is missing");
  case TILE_ARG_TEXT:
    if (!a->value.text) return REFUSE("has no text");
    put(key, (uint64_t)a->kind);
    put_text(key, a->value.text);
    return TILE_OK;
  case TILE_ARG_INT: {
    if (!is_type(a->type)) return REFUSE("has an unknown type %d", (int)a->type);
    uint64_t type = a->type ? (uint64_t)a->type << 16 : int_type(a->value.i);
    put(key, (uint64_t)a->kind | type | hint(false, t, (uint64_t)a->value.i));
    if (t.is_value_keyed) put(key, (uint64_t)a->value.i);
    return TILE_OK;
  }
  case TILE_ARG_TUPLE: {
    const tile_tuple *tuple = a->value.tuple;
    if (!tuple || (tuple->num_items && !tuple->items)) return REFUSE("is a tuple without items");
    if (tuple->reserved) return REFUSE("is a tuple whose %s", GIVEN_RESERVED);
    if (depth == JIT_MAX_DEPTH) return REFUSE("nests tuples deeper than %d", JIT_MAX_DEPTH);
    put(key, (uint64_t)a->kind | (uint64_t)(tuple->type_name != NULL) << 8 | (uint64_t)tuple->num_items << 16);
    if (tuple->type_name) put_text(key, tuple->type_name);
    tile_status status = TILE_OK;
    for (uint32_t n = 0; status == TILE_OK && n < tuple->num_items; n++)
      status = key_item(key, k, i, &tuple->items[n], depth + 1, error);
    return status;
  }
  default: return key_param(key, k, i, a, error);
  }
}

static tile_status key_constexpr(Key *key, const tile_jit_kernel *k, uint32_t i, const tile_arg *a,
                                 tile_error **error) {
  put(key, (uint64_t)a->kind | (uint64_t)a->type << 16);
  switch (a->kind) {
  case TILE_ARG_POINTER:
  case TILE_ARG_TENSOR: return REFUSE("is a constexpr: it takes a value, not an address");
  case TILE_ARG_TUPLE: return REFUSE("is a constexpr: a tuple for it is written as text, \"(1, 2)\"");
  case TILE_ARG_TEXT:
    if (!a->value.text) return REFUSE("has no text");
    put_text(key, a->value.text);
    break;
  case TILE_ARG_DEFAULT:
  case TILE_ARG_NONE: break;
  default: put(key, (uint64_t)a->value.i);
  }
  return TILE_OK;
}

static tile_status key_tensor(Key *key, const tile_jit_kernel *k, uint32_t i, uint64_t word, const tile_tensor *t,
                              tile_error **error) {
  if (!t || !t->rank || t->rank > TILE_MAX_RANK || !t->type || !is_type(t->type))
    return REFUSE("is a tensor without rank or type");
  if (!is_zero(t->reserved, sizeof t->reserved)) return REFUSE("is a tensor whose %s", GIVEN_RESERVED);
  if (t->num_cga > countof(t->cga)) return REFUSE("has a cga_layout for more than 16 blocks");
  if (key->num_words + t->rank + 2 * (k->num_params - i) + 9 > key->max_words) return REFUSE("is one tensor too many");
  put(key, word | (uint64_t)t->type << 24 | (uint64_t)t->rank << 32 | (uint64_t)t->pad_nan << 40 |
               (uint64_t)t->swizzle << 48 | (uint64_t)t->num_cga << 56);
  if (t->num_cga) put(key, (uint64_t)t->cga[0] << 24 | t->cga[1] << 16 | t->cga[2] << 8 | t->cga[3]);
  for (uint32_t axis = 0; axis < t->rank; axis++) put(key, (uint64_t)t->block[axis]);
  return TILE_OK;
}

// A word for each parameter: kind, hint, type. Some need more words.
static tile_status key_param(Key *key, const tile_jit_kernel *k, uint32_t i, const tile_arg *a, tile_error **error) {
  const JitTraits t = k->params[i].traits;
  if ((unsigned)a->kind > TILE_ARG_TUPLE) return REFUSE("has an unknown kind %d", (int)a->kind);
  if (a->reserved) return REFUSE("is a tile_arg whose %s", GIVEN_RESERVED);
  const bool is_number = a->kind == TILE_ARG_INT || a->kind == TILE_ARG_FLOAT || a->kind == TILE_ARG_BOOL;
  if (is_number && !is_type(a->type)) return REFUSE("has an unknown type %d", (int)a->type);
  if (t.is_constexpr) return key_constexpr(key, k, i, a, error);
  uint64_t word = (uint64_t)a->kind | (uint64_t)a->type << 16;
  switch (a->kind) {
  case TILE_ARG_INT: word |= (a->type ? 0 : int_type(a->value.i)) | hint(false, t, (uint64_t)a->value.i); break;
  case TILE_ARG_POINTER:
    if (!a->type || !is_type(a->type)) return REFUSE("is a pointer without a type: use tile_arg_array");
    put(key, word | hint(true, t, a->value.pointer));
    return TILE_OK;
  case TILE_ARG_TENSOR: return key_tensor(key, k, i, word, a->value.tensor, error);
  case TILE_ARG_TUPLE: return key_item(key, k, i, a, 0, error);
  case TILE_ARG_TEXT: return REFUSE("is no constexpr, and this is no number or array: declare it `: tl.constexpr`");
  case TILE_ARG_DEFAULT:
    if (!k->params[i].has_default) return REFUSE("is missing");
    put(key, word);
    return TILE_OK;
  default: break;
  }
  put(key, word);
  if (t.is_value_keyed) put(key, (uint64_t)a->value.i);
  return TILE_OK;
}

static tile_status check_numbers(const tile_jit_kernel *k, const int *numbers, tile_error **error) {
  static const char *const names[] = {"num_warps", "num_stages", "num_ctas", "maxnreg"};
  for (uint32_t i = 0; i < 4; i++)
    if (numbers[i] < 0 || numbers[i] > UINT16_MAX)
      return error_set(error, TILE_ERROR_USAGE, "%s: %s=%d is out of range; 0 to %d are possible", k->name, names[i],
                       numbers[i], UINT16_MAX);
  return TILE_OK;
}

// Appends the launch options. They begin with ~(their number), which is never a word of a parameter.
static tile_status key_options(Key *key, const tile_jit_kernel *k, const tile_jit_launch_options *o,
                               tile_error **error) {
  if (o->num_options > JIT_MAX_OPTIONS)
    return error_set(error, TILE_ERROR_USAGE, "%s: %zu launch options; at most %d are possible", k->name,
                     o->num_options, JIT_MAX_OPTIONS);
  put(key, ~(uint64_t)o->num_options);
  for (size_t i = 0; i < o->num_options; i++) {
    if (!o->options[i]) return error_set(error, TILE_ERROR_USAGE, "%s: launch option %zu is NULL", k->name, i);
    put_text(key, o->options[i]);
  }
  return TILE_OK;
}

// The usual kinds of arguments, as key_param puts them. False: not one of those.
static inline bool key_usual(Key *key, JitTraits t, const tile_arg *a) {
  uint64_t word = (uint64_t)a->kind, v = (uint64_t)a->value.i;
  if (a->reserved) return false;
  if (a->kind == TILE_ARG_POINTER && !t.is_constexpr && (unsigned)a->type - 1 < TILE_FP64) {
    put(key, word | (uint64_t)a->type << 16 | hint(true, t, v));
    return true;
  }
  if (a->kind != TILE_ARG_INT || a->type || (t.is_value_keyed && !t.is_constexpr)) return false;
  if (t.is_constexpr) {
    put(key, word);
    put(key, v);
    return true;
  }
  put(key, word | int_type((int64_t)v) | hint(false, t, v));
  return true;
}

// Beside a word or two for each parameter there is room for what is in tuples and tensors.
static bool make_room(LaunchArgs *l, uint32_t num_params) {
  l->memory = NULL;
  l->key.words = l->few_words, l->key.max_words = JIT_FEW_WORDS;
  l->key.texts = l->few_texts, l->key.max_texts = 2 * JIT_FEW_PARAMS;
  l->args = l->few_args;
  if (num_params <= JIT_FEW_PARAMS) return true;
  const size_t words = 4 * (size_t)num_params + JIT_FEW_WORDS, texts = (size_t)num_params + JIT_FEW_PARAMS;
  char *p = l->memory = malloc(words * sizeof(uint64_t) + texts * sizeof(char *) + num_params * sizeof(tile_arg));
  if (!p) return false;
  l->key.words = (uint64_t *)p, l->key.max_words = (uint32_t)words;
  l->key.texts = (const char **)(p += words * sizeof(uint64_t)), l->key.max_texts = (uint32_t)texts;
  l->args = (tile_arg *)(p + texts * sizeof(char *));
  return true;
}

tile_status jit_make_key(LaunchArgs *l, const tile_jit_kernel *k, const tile_jit_launch_options *o,
                         const tile_arg *given, size_t num_given, tile_error **error) {
  if (!make_room(l, k->num_params)) return error_no_memory(error);
  Key *key = &l->key;
  tile_arg *args = l->args;
  if (num_given > k->num_params)
    return error_set(error, TILE_ERROR_USAGE, "%s takes %u arguments, got %zu", k->name, k->num_params, num_given);
  key->num_words = key->num_texts = 0;
  const int numbers[] = {o->num_warps, o->num_stages, o->num_ctas, o->maxnreg};
  if ((unsigned)(numbers[0] | numbers[1] | numbers[2] | numbers[3]) > UINT16_MAX)
    return check_numbers(k, numbers, error);
  put(key, (uint64_t)numbers[0] << 48 | (uint64_t)numbers[1] << 32 | (uint64_t)numbers[2] << 16 | (uint64_t)numbers[3]);
  if (o->num_options) RETURN_IF_FAILED(key_options(key, k, o, error));
  const JitTraits *traits = k->traits;
  for (uint32_t i = 0; i < k->num_params; i++) {
    args[i] = i < num_given && given[i].kind != TILE_ARG_DEFAULT ? given[i] : k->params[i].default_arg;
    if (key_usual(key, traits[i], &args[i])) continue;
    tile_status status = key_param(key, k, i, &args[i], error);
    if (status != TILE_OK) return status;
  }
  key->hash = hash_words(key->words, key->num_words);
  return TILE_OK;
}
