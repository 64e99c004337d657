// Context: the root of one compilation. Owns memory, interned strings/types/layouts, source files and diagnostics.
// One thread at a time per Context; several Contexts are independent.
#ifndef TILE_IR_CONTEXT_H
#define TILE_IR_CONTEXT_H

#include <setjmp.h>

#include "ir/map.h"

typedef struct Context Context;

// ---- source.c: files and positions ----
typedef struct SourceFile {
  const char *path;        // as shown in messages
  const char *text;        // NUL-terminated copy; may contain NUL bytes before size
  size_t size;
  Loc base;                // Loc of byte 0; byte i is base + i
  const uint32_t *line_starts;
  uint32_t num_lines;
  bool is_embedded;        // text that the library carries: not a file, and no dependency of a build
} SourceFile;
typedef struct { const SourceFile *file; uint32_t line, col; } LineCol;  // 1-based; col counts bytes

// A text's lines from first_line up to the next range are those of `file` from file_line on. Ranges are in ascending
// order.
typedef struct { uint32_t first_line, file_line; const char *file; } SourceRange;
// If the context has source_ranges for this path, source_locate gives the files that they name.
enum { SOURCE_MAX = 64 << 20 };   // bytes: who reads a source file stops there
const SourceFile *source_add(Context *ctx, const char *path, const char *text, size_t size);
const SourceFile *source_add_embedded(Context *ctx, const char *path, const char *text, size_t size);
LineCol source_locate(const Context *ctx, Loc loc);  // file is NULL for loc 0
// The text there in `a`, or NULL if it is longer than `most` bytes, has several lines or is not known.
const char *source_text(const Context *ctx, Arena *a, Span span, uint32_t most);

// ---- warning.c: which warnings are reported ----
typedef enum {
#define WARNING(id, name, is_default, text) WARN_##id,
#include "ir/warnings.def"
  NUM_WARNINGS, WARN_NONE = NUM_WARNINGS
} Warning;
extern const struct WarningInfo { const char *name, *text; bool is_default; } warning_info[NUM_WARNINGS];
typedef struct { uint64_t on, as_error; } WarningSet;   // bit i: warning i
WarningSet warning_defaults(void);
// Applies the text of a -W option: NAME, no-NAME, error, error=NAME, no-error or no-error=NAME, where NAME may be
// `all`; "" means `all`. False if there is no such warning: *near is then the nearest name, or NULL.
bool warning_choose(WarningSet *set, const char *text, const char **near);
Warning warning_find(const char *name, size_t n);        // WARN_NONE if there is none

// Warnings that a comment `# tilec: ignore[NAME, …]` turns off in its line. If a `def` begins in that line, they are
// off in the whole function (warning_extend_ignores).
typedef struct { Span covered; uint64_t warnings; } Ignore;
// Reads a comment of n bytes, which is at position `at` of a source of ctx.
void warning_read_comment(Context *ctx, Loc at, const char *text, size_t n);
void warning_extend_ignores(Context *ctx, Span header, Span function);
bool warning_is_ignored(const Context *ctx, Warning w, Span span);

// ---- diag.c: messages for people ----
typedef enum { DIAG_ERROR, DIAG_WARNING, DIAG_REMARK, DIAG_NOTE } DiagLevel;
// A change of the source that removes an error's cause: `text` replaces `span`.
typedef struct Fixit Fixit;
struct Fixit { Span span; const char *text; Fixit *next; };
typedef struct Diag Diag;
struct Diag {
  DiagLevel level;
  Warning warning;         // or WARN_NONE; has level DIAG_ERROR if -Werror made it an error
  bool is_alone;           // a note that belongs to no message before it
  Span span;
  const char *text;
  Fixit *fixits;           // none overlaps another
  Diag *next;              // notes follow the message they belong to
};
// Records an error and returns false: callers can `return diag_error(...)`. The text gives the reason first, in lower
// case, without a full stop. A diag_note after it gives the way out ("write …", "pass -D …"). An error that was
// recorded before, of the same place and text, is only counted, and its notes are left out.
bool diag_error(Context *ctx, Span span, const char *fmt, ...) PRINTF_LIKE(3, 4);
// The same for an error whose text names its cause: if the text was reported elsewhere, that error gets a note here.
bool diag_error_once(Context *ctx, Span span, const char *fmt, ...) PRINTF_LIKE(3, 4);
// Records a warning: each text once at each place, and none about the library's own sources. Returns false if the
// warning is not reported; the caller then leaves out its notes.
bool diag_warning(Context *ctx, Warning w, Span span, const char *fmt, ...) PRINTF_LIKE(4, 5);
void diag_remark(Context *ctx, Span span, const char *fmt, ...) PRINTF_LIKE(3, 4);
void diag_note(Context *ctx, Span span, const char *fmt, ...) PRINTF_LIKE(3, 4);   // span {0,0}: a hint without a place
void diag_tell(Context *ctx, Span span, const char *fmt, ...) PRINTF_LIKE(3, 4);   // a note of its own
// Adds a fix-it to the last message that is not a note. If the span is empty, the text is inserted there.
void diag_fixit(Context *ctx, Span span, const char *text);
// Adds the fix-it that replaces `name` by `instead`, if the source at that message begins or ends with `name`.
void diag_rename(Context *ctx, const char *name, const char *instead);
// Beside diag_error, before it: the error is that a kernel does not fit, needing so much of something.
typedef enum { FIT_ALL, FIT_SHARED, FIT_REGISTERS, FIT_THREADS, FIT_PARAMETERS, FIT_CLUSTER, FIT_GRID } Fit;
typedef struct { Fit what; uint64_t needed, limit; } Misfit;
void diag_misfit(Context *ctx, Fit what, uint64_t needed, uint64_t limit);
// Removes the warnings of this kind: their reason turned out to be none.
void diag_drop(Context *ctx, Warning w);
// Sorts the warnings by source position among themselves; other messages keep their places.
void diag_sort_warnings(Context *ctx);
void diag_forget(Context *ctx);                          // all messages
uint32_t diag_error_count(const Context *ctx);           // without the warnings that are errors, with repeated errors
bool diag_failed(const Context *ctx);                    // with them
// The text with another prefix of the builtins than "tl.": "" for a program that has no such module.
const char *diag_respelled(Arena *a, const char *text, const char *prefix);
// "--num-warps" as the library's fields are named, in `text`: "`num_warps`".
const char *diag_with_fields(Arena *a, const char *text);
// The text of a warning ends with its name: "[-Wunused-value]", or "[-Werror=unused-value]".
const char *diag_text(Context *ctx, const Diag *d);

// ---- diag_render.c ----
// All messages as text: `path:line:col: error: text`, the source line, caret and tildes (by display width, control
// bytes escaped). The context's arena owns it.
const char *diag_render(Context *ctx, bool color);
const char *diag_render_one(Context *ctx, const Diag *d);   // a message and the notes that belong to it
// Appends the source line text[0..size) and below it a mark of `marked` bytes from byte column col (from 1) on, as in
// those messages, both indented by `indent` columns.
struct Buf;
void diag_put_line(struct Buf *b, uint32_t indent, const char *text, size_t size, uint32_t col,
                   uint32_t marked);
static inline Span span_of(Loc a, Loc b) { return (Span){a, b}; }

// An internal error: remembers op and pass, and leaves by longjmp to ctx->on_ice if that is set (the facade sets it);
// otherwise aborts.
NORETURN void ice(Context *ctx, const char *fmt, ...) PRINTF_LIKE(2, 3);

// ---- intern.c ----
// The one copy of a string: equal strings have equal pointers.
const char *intern(Context *ctx, const char *s);
const char *intern_n(Context *ctx, const char *s, size_t n);

// Who reads the texts: they name the options of tilec, the fields of the library's structures, or a launch's arguments.
typedef enum { CALLER_TILEC, CALLER_LIBRARY, CALLER_JIT } Caller;

struct Context {
  Arena arena;
  Map strings, types, layouts;           // intern.c, type.c, layout.c
  const SourceFile **files;
  uint32_t num_files, cap_files;
  Loc next_loc;
  const char *ranges_path;               // the path of the text that has source_ranges; NULL: no text has
  const SourceRange *source_ranges;
  uint32_t num_source_ranges;
  Diag *diags, *last_diag;
  WarningSet warnings;
  VEC(Ignore) ignores;
  Diag *last_message;                    // the last that is no note, if it was kept
  bool is_repeated;                      // the last message is an error that was recorded before
  uint32_t num_repeated;
  Map warned;                            // the warnings so far, as Diag
  bool has_raised;                       // a warning became an error
  bool is_bare;                          // the program has no module `tl`: texts name the builtins without it
  Caller caller;
  Misfit misfit;                         // if all errors are that one
  struct Remark *remarks, *last_remark;  // remark.c
  bool wants_remarks;
  uint32_t num_errors, error_limit;      // errors past error_limit are only counted; 0 means 20
  const char *current_pass;              // for ice()
  const void *current_op;
  const char *ice_text;
  jmp_buf *on_ice;                       // setjmp gives 1 after ice(), or ARENA_EMPTY, or CONTEXT_STOPPED
  bool (*should_stop)(void *user);       // whether the host wants to end this compilation; may be NULL
  void *stop_user;
};
enum { CONTEXT_STOPPED = 3, DEFAULT_ERROR_LIMIT = 20 };
static inline uint32_t diag_limit(const Context *ctx) {
  return ctx->error_limit ? ctx->error_limit : DEFAULT_ERROR_LIMIT;
}
// Called between steps; does not return if the host wants to end the compilation.
static inline void context_poll(Context *ctx) {
  if (ctx->should_stop && ctx->on_ice && ctx->should_stop(ctx->stop_user)) longjmp(*ctx->on_ice, CONTEXT_STOPPED);
}

void context_init(Context *ctx);         // ctx must stay where it is
void context_init_with(Context *ctx, ArenaMemory memory);
void context_free(Context *ctx);

#endif
