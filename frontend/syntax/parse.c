// The parser's doors: whole modules, single expressions, and the expressions inside f-strings.
#include <stdlib.h>
#include <string.h>

#include "frontend/syntax/parser.h"
#include "ir/utf8.h"
#include "tile_grammar.h"

#define YYSTYPE TILE_STYPE   // the scanner's header asks for them under these names
#define YYLTYPE TILE_LTYPE
#include "tile_lexer.h"

static Node *run(Context *ctx, PyParser *p, const SourceFile *file, uint32_t begin, uint32_t end, bool is_module) {
  *p = (PyParser){.ctx = ctx, .file = file, .begin = begin, .pos = begin, .end = end, .embedded = p->embedded};
  yyscan_t scanner;
  if (tile_raw_lex_init_extra(p, &scanner)) ice(ctx, "scanner: out of memory");
  p->scanner = scanner;
  YY_BUFFER_STATE buffer = tile_raw__scan_bytes(file->text + begin, (int)(end - begin), scanner);
  indent_start(p, !is_module);
  uint32_t errors = diag_error_count(ctx);
  int status = tile_parse(p);
  // After another error the `with` that an `as` belongs to may be missing from the tree.
  for (uint32_t i = 0, others = diag_error_count(ctx) - errors; !others && i < p->stray_as.count; i++)
    diag_error(ctx, p->stray_as.data[i]->span, "'as' is not allowed in an expression");
  tile_raw__delete_buffer(buffer, scanner);
  tile_raw_lex_destroy(scanner);
  if (status == 0 && p->result && (is_module || diag_error_count(ctx) == errors)) return p->result;
  if (diag_error_count(ctx) == errors) ice(ctx, "%s is refused without an error", file->path);
  return NULL;
}

// Source must be UTF-8 without NUL bytes: every later stage relies on it.
static bool check_bytes(Context *ctx, const SourceFile *file, uint32_t begin, uint32_t end) {
  const char *s = file->text;
  bool ok = true;
  for (size_t i = begin; i < end;) {
    Span at = {file->base + (Loc)i, file->base + (Loc)i + 1};
    uint32_t code;
    const size_t len = utf8_decode(s + i, end - i, &code);
    if (!len) {
      ok = diag_error(ctx, at, "byte 0x%02x is not valid UTF-8", (unsigned char)s[i]);
      while (i < end && s[i] != '\n') i++;   // one report a line
    } else if (!s[i]) {
      return diag_error(ctx, at, "NUL byte in the source");
    } else {
      i += len;
    }
  }
  return ok;
}

static uint32_t skip_mark(const SourceFile *file) {
  return file->size >= 3 && !memcmp(file->text, "\xef\xbb\xbf", 3) ? 3 : 0;
}

Node *parse_part(Context *ctx, const SourceFile *file, uint32_t begin, uint32_t end) {
  Node *tree = check_bytes(ctx, file, begin, end)
                   ? run(ctx, arena_new(&ctx->arena, PyParser), file, begin, end, true)
                   : NULL;
  if (tree) return tree;
  Node *empty = arena_new(&ctx->arena, Node);
  *empty = (Node){.kind = NODE_MODULE, .depth = 1, .span = {file->base + begin, file->base + end}};
  return empty;
}

Node *parse_module(Context *ctx, const SourceFile *file) {
  // The program's own file is the first.
  if (file == ctx->files[0]) ctx->is_bare = !strstr(file->text, "triton") && !strstr(file->text, "gluon");
  return parse_part(ctx, file, skip_mark(file), (uint32_t)file->size);
}

Node *parse_expression_part(Context *ctx, const SourceFile *file, uint32_t begin, uint32_t end) {
  return check_bytes(ctx, file, begin, end) ? run(ctx, arena_new(&ctx->arena, PyParser), file, begin, end, false)
                                            : NULL;
}

Node *parse_expression(Context *ctx, const SourceFile *file) {
  return parse_expression_part(ctx, file, skip_mark(file), (uint32_t)file->size);
}

Node *parse_embedded(PyParser *p, uint32_t begin, uint32_t end) {
  if (!p->embedded) p->embedded = arena_new(&p->ctx->arena, PyParser);
  return run(p->ctx, p->embedded, p->file, begin, end, false);
}
