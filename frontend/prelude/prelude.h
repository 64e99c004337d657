// The prelude: builtins written in the language itself, as texts embedded in the library. The lowering parses each
// function when a kernel first uses it. A text is imports, then functions with one decorator each.
#ifndef TILE_FRONTEND_PRELUDE_H
#define TILE_FRONTEND_PRELUDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// is_math: the functions that libdevice also has.
typedef struct { const char *path, *text; size_t size; bool is_math; } PreludeFile;
const PreludeFile *prelude_file(uint32_t i);   // in the order of search; NULL past the end
// Whether the file has a function of that name, or, for add_rz and the like, the function _add_r that takes the
// direction of rounding as its first argument: 0 for _rn, 1 for _rz, 2 for _rd, 3 for _ru.
bool prelude_defines(const PreludeFile *file, const char *name);
#define PRELUDE_DIRECTIONS "nzdu"
// The next function defined at or after *at, which advances past it: its name, of *length bytes; NULL after the last.
const char *prelude_next_function(const char **at, size_t *length);
// The part of the text with the function whose name stands at `name`, and the part before all functions.
typedef struct { uint32_t begin, end; } PreludePart;
PreludePart prelude_function(const PreludeFile *file, const char *name);
uint32_t prelude_imports_size(const PreludeFile *file);

#endif
