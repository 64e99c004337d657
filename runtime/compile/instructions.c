// Counts instructions by class: see instructions.def.
#include "runtime/compile/instructions.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "ir/base.h"

const char *const insn_class_names[NUM_INSN_CLASSES] = {
#define CLASS(id, text) text,
#include "runtime/compile/instructions.def"
};

enum { INSN_FLOAT_OR_INT = NUM_INSN_CLASSES };
static const struct { const char *prefix; int class; } rows[] = {
#define INSN(prefix, class) {prefix, INSN_##class},
#include "runtime/compile/instructions.def"
};

enum { LONGEST = 64 };

static bool has_float_type(const char *mnemonic) {
  return strstr(mnemonic, ".f16") || strstr(mnemonic, ".bf16") || strstr(mnemonic, ".f32") || strstr(mnemonic, ".f64");
}

static void count(const char *mnemonic, uint32_t counts[NUM_INSN_CLASSES]) {
  size_t longest = 0;
  int class = INSN_INT;
  for (uint32_t i = 0; i < countof(rows); i++) {
    const size_t n = strlen(rows[i].prefix);
    if (n >= longest && !strncmp(mnemonic, rows[i].prefix, n)) longest = n, class = rows[i].class;
  }
  if (class == INSN_FLOAT_OR_INT) class = has_float_type(mnemonic) ? INSN_FLOAT : INSN_INT;
  counts[class]++;
}

// Copies the word at s in lower case; returns what comes after it.
static const char *take_word(const char *s, char word[LONGEST]) {
  size_t n = 0;
  for (; isalnum((unsigned char)*s) || *s == '.' || *s == '_' || *s == ':'; s++)
    if (n + 1 < LONGEST) word[n++] = (char)tolower((unsigned char)*s);
  word[n] = 0;
  return s;
}

// ---- PTX ----

// One statement, which ends before `end`: a predicate may come before the instruction. Directives begin with a dot.
static void count_statement(const char *s, const char *end, uint32_t counts[NUM_INSN_CLASSES]) {
  while (s < end && (isspace((unsigned char)*s) || *s == '{' || *s == '}')) s++;
  if (s < end && *s == '@')
    while (s < end && !isspace((unsigned char)*s)) s++;
  while (s < end && isspace((unsigned char)*s)) s++;
  char word[LONGEST];
  if (s < end && isalpha((unsigned char)*s)) take_word(s, word), count(word, counts);
}

// The start of the kernel's body, or NULL.
static const char *find_entry(const char *ptx, const char *kernel) {
  static const char entry[] = ".entry ";
  const size_t n = strlen(kernel);
  for (const char *s = ptx; (s = strstr(s, entry)); s += sizeof entry - 1) {
    const char *name = s + sizeof entry - 1;
    if (!strncmp(name, kernel, n) && (name[n] == '(' || isspace((unsigned char)name[n]))) return strstr(name, "\n{");
  }
  return NULL;
}

// The end of the body that begins at s.
static const char *closing_brace(const char *s) {
  for (int depth = 0; *s; s++) {
    depth += *s == '{';
    depth -= *s == '}';
    if (*s == '}' && !depth) return s;
  }
  return NULL;
}

void instructions_of_ptx(const char *ptx, const char *kernel, uint32_t counts[NUM_INSN_CLASSES]) {
  const char *s = find_entry(ptx, kernel), *end = s ? closing_brace(s) : NULL;
  if (!end) return;
  for (s += 2; s < end;) {
    const size_t line = strcspn(s, "\n"), note = strcspn(s, "\n/");
    size_t n = strcspn(s, ";\n");
    if (note < n && s[note] == '/' && s[note + 1] == '/') {
      s += line + 1;
      continue;
    }
    // A label is alone on its line.
    const size_t colon = strcspn(s, ":\n");
    if (s[n] == '\n' && s[colon] == ':' && s[colon + 1] != ':') n = line;
    else if (s[n] == ';') count_statement(s, s + n, counts);
    s += n + 1;
  }
}

// ---- SASS ----

void instructions_of_sass(const char *sass, const char *kernel, uint32_t counts[NUM_INSN_CLASSES]) {
  char heading[256];
  snprintf(heading, sizeof heading, "\n.text.%s:", kernel);
  const char *s = strstr(sass, heading);
  for (s = s ? s + strlen(heading) : NULL; s && *s; s++) {
    s += strspn(s, " \t");
    if (!strncmp(s, ".section", 8)) return;
    const char *address = strncmp(s, "/*", 2) ? NULL : strstr(s, "*/");
    const size_t line = strcspn(s, "\n");
    if (address && (size_t)(address - s) < line) {
      const char *at = address + 2;
      at += strspn(at, " \t{");
      if (*at == '@') at += strcspn(at, " \t\n");
      at += strspn(at, " \t");
      char word[LONGEST];
      if (isalpha((unsigned char)*at)) take_word(at, word), word[strcspn(word, ".")] = 0, count(word, counts);
    }
    s += line;
    if (!*s) return;
  }
}
