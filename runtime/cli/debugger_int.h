// Inside the debugger: shared by debugger*.c only.
#ifndef TILE_RUNTIME_DEBUGGER_INT_H
#define TILE_RUNTIME_DEBUGGER_INT_H

#include "runtime/cli/debugger.h"

typedef struct { const SourceFile *file; uint32_t line; const char *cond; bool is_deleted; } Break;   // cond: or NULL

// A statement. site: the inlined calls around it; depth: their number.
typedef struct { const Op *op; LineCol at; const CallSite *site; uint32_t depth; } Place;

// What a variable held when it was last looked at.
typedef struct { const char *function, *name; uint64_t hash; } SeenVar;

enum { DEBUG_DEPTHS = 160 };   // more than the front end inlines
// Where to stop next. START: at the next statement of any program. STEP: at the next statement of this program that is
// at most `deepest` calls deep. CONTINUE: at breakpoints. RUN: nowhere.
typedef enum { DEBUG_START, DEBUG_STEP, DEBUG_CONTINUE, DEBUG_RUN } DebugMode;

struct Debug {
  Session *session;
  Arena *arena;                // lasts for the run
  Arena shown;                 // for one stop's output
  DebugMode mode;
  uint32_t deepest;
  uint32_t program[3];         // of the last stop
  Place last;                  // the last stop
  struct { Place place; uint32_t program[3]; } passed[DEBUG_DEPTHS];   // by depth: the last statement, of any program
  const char *step;            // what an empty line repeats
  VEC(Break) breaks;
  VEC(SeenVar) seen;
  bool has_quit;
};

// debugger.c
Place debugger_place(const Debug *d, const InterpStop *stop);
const char *debugger_function(const Place *p);
void debugger_put_source(const SourceFile *file, uint32_t line, const char *mark);
const char *debugger_add_break(Debug *d, const char *text);   // "FILE:LINE if COND"; NULL, or what is wrong with it

// debugger_commands.c
bool debugger_prompt(Debug *d, const InterpStop *stop);   // reads commands until one goes on; false: it ends the run
// Prints the variables that have changed since the last call, or `all`. Without `prints`, only remembers their values.
void debugger_show_changes(Debug *d, const InterpStop *stop, bool prints, bool all);
bool debugger_holds(Debug *d, const InterpStop *stop, const char *cond);   // prints an error, and counts it as true

#endif
