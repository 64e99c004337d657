// The embedded texts: CMake makes a string prelude_NAME of each NAME.tile.
#include "frontend/prelude/prelude.h"

#include <string.h>
#include <threads.h>

#include "ir/map.h"

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

// The functions of all files by name, found once: kernels look up most names that they write.
enum { SLOTS = 2048 };
typedef struct { const char *name; size_t length; const PreludeFile *file; } Defined;
static Defined defined[SLOTS];       // open addressing; file is NULL: empty

static void find_functions(void) {
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    size_t length;
    for (const char *at = files[i].text, *name; (name = prelude_next_function(&at, &length));) {
      uint32_t k = map_hash_bytes(name, length) % SLOTS;
      while (defined[k].file) k = (k + 1) % SLOTS;
      defined[k] = (Defined){name, length, &files[i]};
    }
  }
}

static bool is_defined(const PreludeFile *file, const char *name, size_t n) {
  for (uint32_t k = map_hash_bytes(name, n) % SLOTS; defined[k].file; k = (k + 1) % SLOTS)
    if (defined[k].file == file && defined[k].length == n && memcmp(defined[k].name, name, n) == 0) return true;
  return false;
}

bool prelude_defines(const PreludeFile *file, const char *name) {
  static once_flag once = ONCE_FLAG_INIT;
  call_once(&once, find_functions);
  char stem[64] = "_";
  const size_t n = strlen(name);
  if (is_defined(file, name, n)) return true;
  if (n >= sizeof stem || !is_directed(name, n)) return false;
  memcpy(stem + 1, name, n - 1);
  return is_defined(file, stem, n);
}

uint32_t prelude_imports_size(const PreludeFile *file) {
  return (uint32_t)(strstr(file->text, "\n@") + 1 - file->text);
}

PreludePart prelude_function(const PreludeFile *file, const char *name) {
  const char *begin = name, *next = strstr(name, "\n@");
  while (begin[-1] != '\n' || *begin != '@') begin--;
  return (PreludePart){(uint32_t)(begin - file->text), next ? (uint32_t)(next + 1 - file->text) : (uint32_t)file->size};
}
