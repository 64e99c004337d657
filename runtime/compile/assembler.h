// PTX to machine code without the driver, so that several threads can do it at once: by nvJitLink where that library is
// found, else by ptxas.
#ifndef TILE_RUNTIME_ASSEMBLER_H
#define TILE_RUNTIME_ASSEMBLER_H

#include "ir/arena.h"
#include "runtime/tile/rt.h"

typedef struct Assembler Assembler;

// TILE_ASSEMBLER chooses: nvjitlink, ptxas, driver (none); else the first that is there. NULL: there is none.
Assembler *assembler_open(void);
void assembler_close(Assembler *assembler);
const char *assembler_version(const Assembler *assembler, Arena *a);   // "nvJitLink 13.0", "ptxas 13.0.88"
// From any thread. The bytes are in the arena.
tile_status assembler_run(const Assembler *assembler, Arena *a, const char *ptx, const char *arch, const char **cubin,
                          size_t *size, tile_error **error);

#endif
