// A strict JSON reader, which makes a tree in an arena. Metadata may come from a damaged or foreign file.
#ifndef TILE_RUNTIME_RT_JSON_READER_H
#define TILE_RUNTIME_RT_JSON_READER_H

#include "ir/arena.h"

typedef enum { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT } JsonKind;
typedef struct JsonValue JsonValue;
struct JsonValue {
  JsonKind kind;
  bool is_int;                 // NUMBER: `i` holds it exactly
  bool b;
  int64_t i;
  double f;
  const char *s;               // STRING, without NUL bytes
  const JsonValue *const *items;   // ARRAY, OBJECT
  const char *const *keys;     // OBJECT
  uint32_t count;
};

// NULL if the text is no JSON in UTF-8; *where is then the offset of the mistake.
const JsonValue *json_read(Arena *a, const char *text, size_t size, size_t *where);
// A member of an object; NULL when there is none, or when o is NULL or no object.
const JsonValue *json_get(const JsonValue *o, const char *key);
int64_t json_get_int(const JsonValue *o, const char *key, int64_t otherwise);
const char *json_get_string(const JsonValue *o, const char *key, const char *otherwise);
bool json_get_bool(const JsonValue *o, const char *key);
// The items of an array member; 0 when there is none.
uint32_t json_get_items(const JsonValue *o, const char *key, const JsonValue *const **items);

#endif
