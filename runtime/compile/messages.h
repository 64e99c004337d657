// Diagnostics of programs and errors, collected to be written as one document of JSON or SARIF.
#ifndef TILE_RUNTIME_MESSAGES_H
#define TILE_RUNTIME_MESSAGES_H

#include "runtime/compile/json_writer.h"
#include "runtime/tile/tile.h"

typedef enum { MESSAGES_TEXT, MESSAGES_JSON, MESSAGES_SARIF, NUM_MESSAGES_FORMS } MessagesForm;
// options.c. The form of that name; NUM_MESSAGES_FORMS if there is none.
MessagesForm messages_form(const char *name);

typedef struct {
  tile_diagnostic diagnostic;
  const tile_fixit *fixits;
} MessageItem;

// A message with the notes that follow it. file: the number of its file, in the order in which messages first name files;
// UINT32_MAX if the message has no place.
typedef struct { const MessageItem *first; uint32_t num_notes, file; } MessageGroup;

typedef struct { const char *path, *text; size_t size; } MessageSource;

typedef struct Messages {
  Arena *arena;                // everything in the items is copied here
  MessagesForm form;
  VEC(MessageItem) items;      // a note after the message it belongs to
  VEC(MessageSource) sources;  // the texts of standard input and of the files read so far
} Messages;

Messages *messages_new(Arena *a, MessagesForm form);
// These add messages. A warning that was added before is left out, with its notes.
void messages_add_program(Messages *m, const tile_program *program);
void messages_add_error(Messages *m, const tile_error *error);
void messages_add_text(Messages *m, tile_level level, const char *text);   // without a place
// Adds the text of a source that cannot be read from a file: standard input. m keeps the pointers.
void messages_add_source(Messages *m, const char *path, const char *text, size_t size);
// Converts a column that counts bytes to one that counts characters; both begin at 1.
uint32_t messages_character(Messages *m, const char *path, uint32_t line, uint32_t column);

// The *count groups by file, line and column; those without a place come last.
const MessageGroup *messages_in_order(const Messages *m, uint32_t *count);
// Appends the whole document, exit status included.
void messages_write(Buf *out, Messages *m, int exit_status);
void messages_put_json(Buf *out, const Messages *m, int exit_status);
void messages_put_sarif(Buf *out, Messages *m, int exit_status);
// A diagnostic as an object, with its notes inside; docs/reports.md describes it.
void message_json(JsonWriter *w, const MessageItem *item, uint32_t num_notes);

#endif
