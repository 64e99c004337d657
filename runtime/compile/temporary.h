// What a signal that ends the process must not leave: temporary files and folders, and the programs that write them.
#ifndef TILE_RUNTIME_TEMPORARY_H
#define TILE_RUNTIME_TEMPORARY_H

#include <signal.h>
#include <sys/types.h>

typedef struct { const char *path; pid_t process; } Temporary;   // one of the two; path NULL: a process

// Between these two calls *t and its path stay as they are; the caller owns them. The path is this process's own, and
// when t is forgotten, nothing has this name any more. A process is waited for after it is forgotten: until then its id
// names no other one.
void temporary_register(const Temporary *t);
void temporary_forget(const Temporary *t);

// Between these two calls no signal ends the process: what the calling thread makes and registers there is removed too.
// *before holds the thread's mask of signals, which a program started there needs.
void temporary_hold(sigset_t *before);
void temporary_release(const sigset_t *before);   // leaves errno as it is

// mkstemp, and *t registers the file that it made: a descriptor, or -1 and errno.
int temporary_make(char *name, Temporary *t);

#endif
