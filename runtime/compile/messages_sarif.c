// Diagnostics as SARIF 2.1.0 (OASIS), which code hosts and editors read. Its columns count characters, not bytes.
#include "runtime/compile/messages.h"

#include <string.h>

#include "ir/context.h"

static void put_text(JsonWriter *w, const char *key, const char *text) {
  json_put_object(w, key, true);
  json_put_string(w, "text", text);
  json_end_object(w);
}

// A path as a URI reference: what a URI cannot hold as %XX.
static const char *uri_of(const Messages *m, const char *path) {
  Buf b = buf_make(m->arena);
  if (path[0] == '/') buf_puts(&b, "file://");
  for (const char *s = path; *s; s++) {
    const bool is_letter = (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9');
    if (is_letter || strchr("/-._~", *s)) buf_putc(&b, *s);
    else buf_printf(&b, "%%%02X", (unsigned char)*s);
  }
  return buf_str(&b);
}

static void put_artifact(JsonWriter *w, const Messages *m, const char *file) {
  json_put_object(w, "artifactLocation", true);
  json_put_string(w, "uri", uri_of(m, file));
  json_end_object(w);
}

static void put_region(JsonWriter *w, Messages *m, const char *key, const char *file, uint32_t line, uint32_t column,
                       uint32_t end_line, uint32_t end_column) {
  json_put_object(w, key, true);
  json_put_int(w, "startLine", line);
  json_put_int(w, "startColumn", messages_character(m, file, line, column));
  if (end_line) {
    json_put_int(w, "endLine", end_line);
    json_put_int(w, "endColumn", messages_character(m, file, end_line, end_column));
  }
  json_end_object(w);
}

static void put_place(JsonWriter *w, Messages *m, const tile_diagnostic *d) {
  if (!d->file) return;
  json_put_object(w, "physicalLocation", true);
  put_artifact(w, m, d->file);
  if (d->line) put_region(w, m, "region", d->file, d->line, d->column, d->end_line, d->end_column);
  json_end_object(w);
}

// All fix-its of a diagnostic are one fix.
static void put_fix(JsonWriter *w, Messages *m, const MessageItem *item) {
  json_put_array(w, "fixes", true);
  json_begin_object(w, true);
  json_put_array(w, "artifactChanges", true);
  json_begin_object(w, true);
  put_artifact(w, m, item->fixits[0].file);
  json_put_array(w, "replacements", true);
  for (size_t i = 0; i < item->diagnostic.num_fixits; i++) {
    const tile_fixit *f = &item->fixits[i];
    json_begin_object(w, true);
    put_region(w, m, "deletedRegion", f->file, f->line, f->column, f->end_line, f->end_column);
    put_text(w, "insertedContent", f->text);
    json_end_object(w);
  }
  json_end_array(w);
  json_end_object(w);
  json_end_array(w);
  json_end_object(w);
  json_end_array(w);
}

static void put_result(JsonWriter *w, Messages *m, const MessageGroup *g) {
  static const char *const levels[] = {"error", "warning", "note", "note"};
  const tile_diagnostic *d = &g->first->diagnostic;
  json_begin_object(w, false);
  const Warning rule = d->name ? warning_find(d->name, strlen(d->name)) : WARN_NONE;
  if (rule != WARN_NONE) {
    json_put_string(w, "ruleId", d->name);
    json_put_int(w, "ruleIndex", rule);
  }
  json_put_string(w, "level", levels[d->level]);
  put_text(w, "message", d->text);
  json_put_array(w, "locations", true);
  if (d->file) {
    json_begin_object(w, true);
    put_place(w, m, d);
    json_end_object(w);
  }
  json_end_array(w);
  if (g->num_notes) json_put_array(w, "relatedLocations", false);
  for (uint32_t i = 1; i <= g->num_notes; i++) {
    const tile_diagnostic *note = &g->first[i].diagnostic;
    json_begin_object(w, true);
    json_put_int(w, "id", i);
    put_text(w, "message", note->text);
    put_place(w, m, note);
    json_end_object(w);
  }
  if (g->num_notes) json_end_array(w);
  if (d->num_fixits && g->first->fixits[0].file) put_fix(w, m, g->first);
  json_end_object(w);
}

static void put_rules(JsonWriter *w) {
  json_put_array(w, "rules", false);
  for (uint32_t i = 0; i < NUM_WARNINGS; i++) {
    json_begin_object(w, true);
    json_put_string(w, "id", warning_info[i].name);
    put_text(w, "shortDescription", warning_info[i].text);
    json_put_object(w, "defaultConfiguration", true);
    json_put_bool(w, "enabled", warning_info[i].is_default);
    json_put_string(w, "level", "warning");
    json_end_object(w);
    json_end_object(w);
  }
  json_end_array(w);
}

void messages_put_sarif(Buf *out, Messages *m, int exit_status) {
  uint32_t count;
  const MessageGroup *groups = messages_in_order(m, &count);
  JsonWriter w = json_writer(out);
  json_begin_object(&w, false);
  json_put_string(&w, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
  json_put_string(&w, "version", "2.1.0");
  json_put_array(&w, "runs", false);
  json_begin_object(&w, false);
  json_put_object(&w, "tool", false);
  json_put_object(&w, "driver", false);
  json_put_string(&w, "name", "tilec");
  json_put_string(&w, "version", tile_version());
  put_rules(&w);
  json_end_object(&w);
  json_end_object(&w);
  json_put_array(&w, "invocations", true);
  json_begin_object(&w, true);
  json_put_bool(&w, "executionSuccessful", exit_status == 0);
  json_put_int(&w, "exitCode", exit_status);
  json_end_object(&w);
  json_end_array(&w);
  json_put_string(&w, "columnKind", "unicodeCodePoints");
  json_put_array(&w, "results", false);
  for (uint32_t i = 0; i < count; i++) put_result(&w, m, &groups[i]);
  json_end_array(&w);
  json_end_object(&w);
  json_end_array(&w);
  json_end_object(&w);
  buf_putc(out, '\n');
}
