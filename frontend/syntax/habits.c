// Suggestions for syntax errors that are habits of another language: the rows of habits.def.
#include <ctype.h>
#include <string.h>

#include "frontend/syntax/parser.h"
#include "ir/nearest.h"

typedef struct { const char *line, *before, *at, *instead; } Habit;
static const Habit habits[] = {
#define HABIT(line, before, at, instead) {line, before, at, instead},
#include "frontend/syntax/habits.def"
};

static const struct { uint32_t first, last; const char *ascii; } marks[] = {
#define HABIT(line, before, at, instead)
#define MARK(first, last, ascii) {first, last, ascii},
#include "frontend/syntax/habits.def"
};

typedef struct { const char *text; size_t size; } Word;

static Word word_of(const PyParser *p, Span span) {
  const uint32_t base = p->file->base;
  if (span.begin < base + p->begin || span.end > base + p->end || span.end <= span.begin) return (Word){"", 0};
  return (Word){p->file->text + (span.begin - base), span.end - span.begin};
}

static bool is_text(Word w, const char *text) { return strlen(text) == w.size && !memcmp(w.text, text, w.size); }

static bool is_one_of(Word w, const char *const *texts, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (is_text(w, texts[i])) return true;
  return false;
}

static bool declares(Word w) {
  static const char *const words[] = {
      "int",      "float",    "double",   "half",       "unsigned",   "signed",     "char",         "long",
      "short",    "bool",     "auto",     "const",      "void",       "size_t",     "uint",         "uint8_t",
      "int8_t",   "uint16_t", "int16_t",  "uint32_t",   "int32_t",    "uint64_t",   "int64_t",      "float2",
      "float4",   "__half",   "static",   "extern",     "struct",     "dim3",       "__shared__",   "__global__",
      "__device__", "__constant__", "__restrict__", "volatile", "var", "let",       "constexpr",    "template"};
  return is_one_of(w, words, countof(words));
}

static bool is_word(Word w) { return w.size && (isalpha((unsigned char)*w.text) || *w.text == '_'); }
static bool is_number(Word w) {
  return w.size &&
    (isdigit((unsigned char)*w.text) || (*w.text == '.' && w.size > 1 && isdigit((unsigned char)w.text[1])));
}

static bool fits(Word w, const char *pattern, size_t size) {
  if (size == 5 && !memcmp(pattern, "@type", 5)) return declares(w);
  if (size == 5 && !memcmp(pattern, "@word", 5)) return is_word(w);
  if (size == 7 && !memcmp(pattern, "@number", 7)) return is_number(w);
  return w.size == size && !memcmp(w.text, pattern, size);
}

static bool fits_before(Word last, Word before_last, const char *pattern) {
  if (!*pattern) return true;
  const char *space = strchr(pattern, ' ');
  if (!space) return fits(last, pattern, strlen(pattern));
  return fits(before_last, pattern, (size_t)(space - pattern)) && fits(last, space + 1, strlen(space + 1));
}

// A row's text may be longer than one token: it is compared with the line from the error on.
static bool fits_at(Word at, Word rest, const char *pattern) {
  if (!*pattern) return true;
  if (!strcmp(pattern, "@end")) return !rest.size;
  if (*pattern == '@' || is_word((Word){pattern, 1})) return fits(at, pattern, strlen(pattern));
  return rest.size >= strlen(pattern) && !memcmp(rest.text, pattern, strlen(pattern));
}

static Word line_at(const PyParser *p, Loc at, Loc *begin) {
  const char *text = p->file->text;
  uint32_t i = at - p->file->base, k = i;
  while (k < p->end && text[k] != '\n' && text[k] != '\r') k++;
  while (i > p->begin && text[i - 1] != '\n' && text[i - 1] != '\r') i--;
  *begin = p->file->base + i;
  return (Word){text + i, k - i};
}

// value // the comment of a C programmer
static bool is_after_slashes(Word line, size_t error) {
  for (size_t i = 1; i + 3 < line.size && i < error; i++)
    if (line.text[i - 1] == ' ' && line.text[i] == '/' && line.text[i + 1] == '/') return true;
  return false;
}

static void hint(PyParser *p, const char *text) { diag_note(p->ctx, (Span){0, 0}, "%s", text); }

// reutrn x, whlie x, form x import y
static bool hint_keyword(PyParser *p, Word last) {
  static const char *const keywords[] = {"elif",   "else",  "return", "while", "for",    "if",     "def",   "import",
                                         "from",   "class", "assert", "raise", "global", "lambda", "print", "with",
                                         "except", "break", "continue", "pass", "in", "not", "and", "is"};
  const char *name = arena_strndup(&p->ctx->arena, last.text, last.size);
  const char *near = is_word(last) ? nearest_name(name, keywords, countof(keywords)) : NULL;
  if (near) diag_note(p->ctx, (Span){0, 0}, "did you mean `%s`?", near);
  return near != NULL;
}

// A fence of Markdown around the code: what a model or a README gave. Nothing after the first error is reported then.
static bool hint_fence(PyParser *p) {
  const char *text = p->file->text;
  for (uint32_t i = p->begin; i + 3 <= p->end; i++) {
    if ((i > p->begin && text[i - 1] != '\n') || memcmp(text + i, "```", 3) != 0) continue;
    diag_note(p->ctx, (Span){p->file->base + i, p->file->base + i + 3},
              "this is Markdown: keep only the code between such lines");
    return p->is_markdown = true;
  }
  return false;
}

bool habit_hint(PyParser *p, Span span) {
  if (hint_fence(p)) return true;
  Loc begin;
  const int k = p->recent[0].begin == span.begin;   // the parser has seen the token, the scanner's caller has not
  const Word at = word_of(p, span), last = word_of(p, p->recent[k]), before_last = word_of(p, p->recent[k + 1]),
             line = line_at(p, span.begin, &begin);
  const size_t column = span.begin - begin;
  const Word rest = {line.text + column, line.size - column};
  const size_t indent = strspn(line.text, " \t");
  const Word first = {line.text + indent, strcspn(line.text + indent, " \t(:{\r\n")};
  if (is_word(at) && is_after_slashes(line, column)) return hint(p, "a comment begins with #"), true;
  for (size_t i = 0; i < countof(habits); i++) {
    const Habit *h = &habits[i];
    if (*h->line && !is_text(first, h->line)) continue;
    if (!fits_before(last, before_last, h->before) || !fits_at(at, rest, h->at)) continue;
    return hint(p, h->instead), true;
  }
  return (is_word(at) || is_number(at)) && hint_keyword(p, last);
}

void habit_mark(PyParser *p, uint32_t c) {
  for (size_t i = 0; i < countof(marks); i++)
    if (c >= marks[i].first && c <= marks[i].last)
      diag_note(p->ctx, (Span){0, 0}, "write %s", marks[i].ascii);
}
