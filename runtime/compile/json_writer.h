// A streaming JSON writer. It puts commas, indentation and escapes. Begin and end calls must pair.
#ifndef TILE_RUNTIME_JSON_WRITER_H
#define TILE_RUNTIME_JSON_WRITER_H

#include "ir/buf.h"

enum { JSON_MAX_DEPTH = 32 };
typedef struct JsonWriter {
  Buf *out;
  uint32_t depth;
  bool has_items[JSON_MAX_DEPTH];
  bool is_inline[JSON_MAX_DEPTH];   // written on one line
  bool after_key;
} JsonWriter;

JsonWriter json_writer(Buf *out);
void json_begin_object(JsonWriter *w, bool on_one_line);
void json_end_object(JsonWriter *w);
void json_begin_array(JsonWriter *w, bool on_one_line);
void json_end_array(JsonWriter *w);
void json_key(JsonWriter *w, const char *key);
void json_string(JsonWriter *w, const char *s);      // bytes that are not UTF-8 become U+FFFD; NULL writes null
void json_int(JsonWriter *w, int64_t v);
void json_double(JsonWriter *w, double v);           // shortest that reads back; infinities and NaN become null
void json_bool(JsonWriter *w, bool v);
void json_raw(JsonWriter *w, const char *json);       // a value that is JSON already
// The same after a key.
void json_put_object(JsonWriter *w, const char *key, bool on_one_line);
void json_put_array(JsonWriter *w, const char *key, bool on_one_line);
void json_put_string(JsonWriter *w, const char *key, const char *s);
void json_put_int(JsonWriter *w, const char *key, int64_t v);
void json_put_double(JsonWriter *w, const char *key, double v);
void json_put_bool(JsonWriter *w, const char *key, bool v);

#endif
