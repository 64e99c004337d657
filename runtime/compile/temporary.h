// What a signal that ends the process must not leave: temporary files and folders, and the programs that write them.
#ifndef TILE_RUNTIME_TEMPORARY_H
#define TILE_RUNTIME_TEMPORARY_H

#include <signal.h>
#include <sys/types.h>

typedef struct { const char *path; pid_t process; } Temporary;   // one of the two; path NULL: a process

// The caller owns *t and its path, and does not change them between these two calls. No other process uses the path,
// and nothing has that name any more when t is forgotten. A child process is forgotten first and reaped afterwards,
// because its id may be given to another process once it is reaped.
void temporary_register(const Temporary *t);
void temporary_forget(const Temporary *t);

// Between these two calls the signals that remove temporaries wait, so that a file or a child is registered before they
// act. *before receives the thread's signal mask; a program started in between must be given that mask.
void temporary_hold(sigset_t *before);
void temporary_release(const sigset_t *before);   // leaves errno as it is

// Creates a file by mkstemp(name) and registers it as *t. Returns its descriptor, or -1 with errno set.
int temporary_make(char *name, Temporary *t);

#endif
