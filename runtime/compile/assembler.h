// Assembles PTX without the driver, on several threads at once: by ptxas if that is found, otherwise by nvJitLink.
// nvJitLink compiles as `ptxas -c` does, for linking; its code takes up to a third more registers than the driver's.
#ifndef TILE_RUNTIME_ASSEMBLER_H
#define TILE_RUNTIME_ASSEMBLER_H

#include "ir/arena.h"
#include "runtime/tile/rt.h"

typedef struct Assembler Assembler;

// All NULL: there is no assembler. said: what it told of the PTX that it took; never NULL if there is a cubin.
typedef struct { const char *made_by, *cubin; size_t size; const char *said; } MachineCode;

// TILE_ASSEMBLER chooses nvjitlink, ptxas or driver (none of them); without it, the first that is found. NULL: none.
// A variable that names none of them is a usage error.
tile_status assembler_open(Assembler **assembler, tile_error **error);
void assembler_close(Assembler *assembler);
const char *assembler_version(const Assembler *assembler, Arena *a);   // "nvJitLink 13.0", "ptxas 13.0.88"
// May be called from any thread. What *code points to is in the arena; made_by is left as it is.
tile_status assembler_run(const Assembler *assembler, Arena *a, const char *ptx, const char *arch, MachineCode *code,
                          tile_error **error);

#endif
