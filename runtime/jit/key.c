// What a variant is found by: from a launch's arguments to a key. What the compiler would do differently must differ in
// it, and nothing else should. All arguments of a launch pass through here, so the usual kinds have a way of their own.
#include <string.h>

#include "runtime/compile/compile.h"
#include "runtime/jit/jit_impl.h"

static inline void put(Key *key, uint64_t word) { key->words[key->num_words++] = word; }

// Words are mixed in pairs that do not wait for each other. Keys are compared whole, so it need only spread.
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

#define REFUSE(i, ...) error_set(error, TILE_ERROR_USAGE, "%s: argument %u '%s' " __VA_ARGS__)

static tile_status key_param(Key *key, const tile_jit_kernel *k, uint32_t i, const tile_arg *a, tile_error **error);

// A tuple's items are specialised one by one, by the rules of its parameter but for its annotation.
static tile_status key_item(Key *key, const tile_jit_kernel *k, uint32_t i, const tile_arg *a, uint32_t depth,
                            tile_error **error) {
  const JitParam *p = &k->params[i];
  const JitTraits t = p->traits;
  bool has_room = key->num_words + 4 * (k->num_params - i) + 8 <= JIT_MAX_WORDS &&
                  key->num_texts + k->num_params - i < JIT_MAX_PARAMS;
  if (!has_room) return REFUSE(i, "has too many items", k->name, i, p->name);
  switch (a->kind) {
  case TILE_ARG_DEFAULT: return REFUSE(i, "is a tuple with an item that is missing", k->name, i, p->name);
  case TILE_ARG_TEXT:
    if (!a->value.text) return REFUSE(i, "has no text", k->name, i, p->name);
    put(key, (uint64_t)a->kind);
    put(key, cache_hash(a->value.text, strlen(a->value.text), 0));
    key->texts[key->num_texts++] = a->value.text;
    return TILE_OK;
  case TILE_ARG_INT: {
    if (!is_type(a->type)) return REFUSE(i, "has an unknown type %d", k->name, i, p->name, (int)a->type);
    uint64_t type = a->type ? a->type : a->value.i >= INT32_MIN && a->value.i <= INT32_MAX ? TILE_INT32 : TILE_INT64;
    put(key, (uint64_t)a->kind | type << 16 |
                 (uint64_t)specialize_hint(false, false, t.never, t.never_aligned, (uint64_t)a->value.i) << 8);
    if (t.is_value_keyed) put(key, (uint64_t)a->value.i);
    return TILE_OK;
  }
  case TILE_ARG_TUPLE: {
    const tile_tuple *tuple = a->value.tuple;
    if (!tuple || (tuple->num_items && !tuple->items))
      return REFUSE(i, "is a tuple without items", k->name, i, p->name);
    if (depth == JIT_MAX_DEPTH) return REFUSE(i, "nests tuples deeper than %d", k->name, i, p->name, JIT_MAX_DEPTH);
    put(key, (uint64_t)a->kind | (uint64_t)(tuple->type_name != NULL) << 8 | (uint64_t)tuple->num_items << 16);
    if (tuple->type_name)
      put(key, cache_hash(tuple->type_name, strlen(tuple->type_name), 0)),
          key->texts[key->num_texts++] = tuple->type_name;
    for (uint32_t n = 0; n < tuple->num_items; n++) {
      tile_status status = key_item(key, k, i, &tuple->items[n], depth + 1, error);
      if (status != TILE_OK) return status;
    }
    return TILE_OK;
  }
  default: return key_param(key, k, i, a, error);
  }
}

// A word per parameter: kind, hint, type. What the compiler would do differently must differ here, and nothing else
// should.
static tile_status key_param(Key *key, const tile_jit_kernel *k, uint32_t i, const tile_arg *a, tile_error **error) {
  const JitParam *p = &k->params[i];
  if ((unsigned)a->kind > TILE_ARG_TUPLE) return REFUSE(i, "has an unknown kind %d", k->name, i, p->name, (int)a->kind);
  const bool is_number = a->kind == TILE_ARG_INT || a->kind == TILE_ARG_FLOAT || a->kind == TILE_ARG_BOOL;
  if (is_number && !is_type(a->type)) return REFUSE(i, "has an unknown type %d", k->name, i, p->name, (int)a->type);
  uint64_t word = (uint64_t)a->kind | (uint64_t)a->type << 16;
  if (p->traits.is_constexpr) {
    if (a->kind == TILE_ARG_TEXT && !a->value.text) return REFUSE(i, "has no text", k->name, i, p->name);
    put(key, word);
    if (a->kind == TILE_ARG_POINTER || a->kind == TILE_ARG_TENSOR)
      return REFUSE(i, "is a constexpr: it takes a value, not an address", k->name, i, p->name);
    if (a->kind == TILE_ARG_TUPLE)
      return REFUSE(i, "is a constexpr: a tuple for it is written as text, \"(1, 2)\"", k->name, i, p->name);
    if (a->kind == TILE_ARG_TEXT)
      put(key, cache_hash(a->value.text, strlen(a->value.text), 0)), key->texts[key->num_texts++] = a->value.text;
    else if (a->kind != TILE_ARG_DEFAULT && a->kind != TILE_ARG_NONE) put(key, (uint64_t)a->value.i);
    return TILE_OK;
  }
  switch (a->kind) {
  case TILE_ARG_INT:
    if (!a->type)
      word |= (uint64_t)(a->value.i >= INT32_MIN && a->value.i <= INT32_MAX ? TILE_INT32 : TILE_INT64) << 16;
    put(key, word | (uint64_t)specialize_hint(false, p->traits.is_annotated, p->traits.never, p->traits.never_aligned,
                                              (uint64_t)a->value.i)
                        << 8);
    break;
  case TILE_ARG_POINTER:
    if (!a->type || !is_type(a->type))
      return REFUSE(i, "is a pointer without a type: use tile_arg_array", k->name, i, p->name);
    put(key, word | (uint64_t)specialize_hint(true, p->traits.is_annotated, p->traits.never, p->traits.never_aligned,
                                              a->value.pointer)
                        << 8);
    return TILE_OK;
  case TILE_ARG_TENSOR: {
    const tile_tensor *t = a->value.tensor;
    if (!t || !t->rank || t->rank > TILE_MAX_RANK || !t->type || !is_type(t->type))
      return REFUSE(i, "is a tensor without rank or type", k->name, i, p->name);
    if (key->num_words + t->rank + 4 * (k->num_params - i) + 8 > JIT_MAX_WORDS)
      return REFUSE(i, "is one tensor too many", k->name, i, p->name);
    put(key, word | (uint64_t)t->type << 24 | (uint64_t)t->rank << 32 | (uint64_t)t->pad_nan << 40);
    for (uint32_t axis = 0; axis < t->rank; axis++) put(key, (uint64_t)t->block[axis]);
    return TILE_OK;
  }
  case TILE_ARG_TUPLE: return key_item(key, k, i, a, 0, error);
  case TILE_ARG_TEXT: return REFUSE(i, "is no constexpr: it cannot be given as an expression", k->name, i, p->name);
  case TILE_ARG_DEFAULT:
    if (!p->has_default) return REFUSE(i, "is missing", k->name, i, p->name);
    put(key, word);
    return TILE_OK;
  default: put(key, word);
  }
  if (p->traits.is_value_keyed) put(key, (uint64_t)a->value.i);
  return TILE_OK;
}

static tile_status check_numbers(const tile_jit_kernel *k, const int *numbers, tile_error **error) {
  for (uint32_t i = 0; i < 4; i++)
    if (numbers[i] < 0 || numbers[i] > UINT16_MAX)
      return error_set(error, TILE_ERROR_USAGE, "%s: launch option %d is out of range", k->name, numbers[i]);
  return TILE_OK;
}

// The usual kinds of arguments, as key_param puts them. False: not one of those.
static inline bool key_usual(Key *key, JitTraits t, const tile_arg *a) {
  uint64_t word = (uint64_t)a->kind, v = (uint64_t)a->value.i;
  if (a->kind == TILE_ARG_POINTER && !t.is_constexpr && (unsigned)a->type - 1 < TILE_FP64) {
    put(key, word | (uint64_t)a->type << 16 |
                 (uint64_t)specialize_hint(true, t.is_annotated, t.never, t.never_aligned, v) << 8);
    return true;
  }
  if (a->kind != TILE_ARG_INT || a->type || (t.is_value_keyed && !t.is_constexpr)) return false;
  if (t.is_constexpr) {
    put(key, word);
    put(key, v);
    return true;
  }
  uint64_t type = (int64_t)v == (int32_t)v ? TILE_INT32 : TILE_INT64;
  put(key, word | type << 16 | (uint64_t)specialize_hint(false, t.is_annotated, t.never, t.never_aligned, v) << 8);
  return true;
}

// Fills in defaults and makes the key. args has a place for each parameter.
tile_status jit_make_key(Key *key, const tile_jit_kernel *k, const tile_jit_launch_options *o, const tile_arg *given,
                         size_t num_given, tile_arg *args, tile_error **error) {
  if (num_given > k->num_params)
    return error_set(error, TILE_ERROR_USAGE, "%s takes %u arguments, got %zu", k->name, k->num_params, num_given);
  key->num_words = key->num_texts = 0;
  const int numbers[] = {o->num_warps, o->num_stages, o->num_ctas, o->maxnreg};
  if ((unsigned)(numbers[0] | numbers[1] | numbers[2] | numbers[3]) > UINT16_MAX)
    return check_numbers(k, numbers, error);
  put(key, (uint64_t)numbers[0] << 48 | (uint64_t)numbers[1] << 32 | (uint64_t)numbers[2] << 16 | (uint64_t)numbers[3]);
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
