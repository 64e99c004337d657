// Diagnostics as JSON: the objects that docs/reports.md describes, and the document of them.
#include "runtime/compile/messages.h"

enum { MESSAGES_FORMAT = 1 };

// The end is just after the last byte; 0, 0: only the beginning is known.
static void put_range(JsonWriter *w, const char *file, uint32_t line, uint32_t column, uint32_t end_line,
                      uint32_t end_column) {
  json_put_string(w, "file", file);
  json_put_int(w, "line", line);
  json_put_int(w, "column", column);
  json_put_int(w, "end_line", end_line);
  json_put_int(w, "end_column", end_column);
}

void message_json(JsonWriter *w, const MessageItem *item, uint32_t num_notes) {
  static const char *const levels[] = {"error", "warning", "remark", "note"};
  const tile_diagnostic *d = &item->diagnostic;
  json_begin_object(w, true);
  json_put_string(w, "level", levels[d->level]);
  put_range(w, d->file, d->line, d->column, d->end_line, d->end_column);
  json_put_string(w, "name", d->name);
  json_put_string(w, "text", d->text);
  json_put_array(w, "fixits", true);
  for (size_t i = 0; i < d->num_fixits; i++) {
    const tile_fixit *f = &item->fixits[i];
    json_begin_object(w, true);
    put_range(w, f->file, f->line, f->column, f->end_line, f->end_column);
    json_put_string(w, "text", f->text);
    json_end_object(w);
  }
  json_end_array(w);
  json_put_array(w, "notes", true);
  for (uint32_t i = 1; i <= num_notes; i++) message_json(w, item + i, 0);
  json_end_array(w);
  json_end_object(w);
}

void messages_put_json(Buf *out, const Messages *m, int exit_status) {
  uint32_t count;
  const MessageGroup *groups = messages_in_order(m, &count);
  JsonWriter w = json_writer(out);
  json_begin_object(&w, false);
  json_put_int(&w, "tile_diagnostics", MESSAGES_FORMAT);
  json_put_string(&w, "compiler", arena_printf(m->arena, "tilec %s", tile_version()));
  json_put_int(&w, "exit_status", exit_status);
  json_put_array(&w, "diagnostics", false);
  for (uint32_t i = 0; i < count; i++) message_json(&w, groups[i].first, groups[i].num_notes);
  json_end_array(&w);
  json_end_object(&w);
  buf_putc(out, '\n');
}
