// The embedded texts: CMake makes a string prelude_NAME of each NAME.tile.
#include "frontend/prelude/prelude.h"

#include <string.h>

#include "prelude_bessel.inc"
#include "prelude_device.inc"
#include "prelude_fast.inc"
#include "prelude_math.inc"
#include "prelude_math64.inc"
#include "prelude_numbers.inc"
#include "prelude_random.inc"
#include "prelude_scaled.inc"
#include "prelude_special.inc"
#include "prelude_special64.inc"
#include "prelude_standard.inc"
#include "prelude_trigonometry.inc"
#include "prelude_trigonometry64.inc"

#define FILE(id, is_math) {"<prelude>/" #id ".tile", prelude_##id, sizeof prelude_##id - 1, is_math}
static const PreludeFile files[] = {
    FILE(standard, false),      FILE(random, false), FILE(scaled, false), FILE(math, true),    FILE(trigonometry, true),
    FILE(trigonometry64, true), FILE(numbers, true), FILE(math64, true),  FILE(device, true),  FILE(special, true),
    FILE(special64, true),      FILE(bessel, true), FILE(fast, true),
};

const PreludeFile *prelude_file(uint32_t i) { return i < sizeof files / sizeof *files ? &files[i] : NULL; }

const char *prelude_next_function(const char **at, size_t *length) {
  const char *def = strstr(*at, "\ndef ");
  if (!def) return NULL;
  const char *name = def + 5;
  *length = strcspn(name, "(");
  *at = name + *length;
  return name;
}

static bool is_directed(const char *name, size_t n) {
  return n > 3 && memcmp(name + n - 3, "_r", 2) == 0 && strchr(PRELUDE_DIRECTIONS, name[n - 1]);
}

bool prelude_defines(const PreludeFile *file, const char *name) {
  size_t n = strlen(name), length;
  bool directed = is_directed(name, n);
  for (const char *at = file->text, *found; (found = prelude_next_function(&at, &length));)
    if (length == n &&
        (memcmp(found, name, n) == 0 || (directed && *found == '_' && memcmp(found + 1, name, n - 1) == 0)))
      return true;
  return false;
}

uint32_t prelude_imports_size(const PreludeFile *file) {
  return (uint32_t)(strstr(file->text, "\n@") + 1 - file->text);
}

PreludePart prelude_function(const PreludeFile *file, const char *name) {
  const char *begin = name, *next = strstr(name, "\n@");
  while (begin[-1] != '\n' || *begin != '@') begin--;
  return (PreludePart){(uint32_t)(begin - file->text), next ? (uint32_t)(next + 1 - file->text) : (uint32_t)file->size};
}
