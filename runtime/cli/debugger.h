// The debugger of `tilec run`, for kernels on the interpreter: --break, --step, and `breakpoint_if` at a terminal.
#ifndef TILE_RUNTIME_DEBUGGER_H
#define TILE_RUNTIME_DEBUGGER_H

#include "runtime/cli/nd.h"
#include "runtime/cli/session.h"

typedef struct Debug Debug;

// Whether a run with these options is debugged on this device.
bool debugger_is_wanted(const Options *o, const tile_device *device);
// Debugs the session's launches from now on. The program must be compiled with stops.
tile_status debugger_attach(Session *s, Debug **out, tile_error **error);
void debugger_free(Debug *d);              // d may be NULL
bool debugger_has_quit(const Debug *d);    // d may be NULL

// debugger_show.c
Nd *debugger_array(Arena *a, const InterpVar *v);   // of rank 0 for a constant
// Appends a value: on one line if it is small; otherwise its shape, its range and a corner, or all of it if is_full.
// type: NULL for the value of an expression.
void debugger_put_value(Buf *b, const char *name, const char *type, const Nd *x, bool is_full);
void debugger_put_var(Buf *b, Context *ctx, const InterpVar *v, bool is_full);

#endif
