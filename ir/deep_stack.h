// Runs work on a stack that is deep enough. Hosts give some of their threads little stack (128 KB is musl's default,
// engines take 64), and work on a program recurses as deeply as the program nests. The front end's limits
// (AST_MAX_DEPTH, MAX_EXPR_DEPTH, MAX_REGION_DEPTH, MAX_STACK) keep that below DEEP_STACK_NEEDED.
#ifndef TILE_IR_DEEP_STACK_H
#define TILE_IR_DEEP_STACK_H

#include <stdbool.h>
#include <stddef.h>

static const size_t DEEP_STACK_NEEDED = (size_t)6 << 20, DEEP_STACK_BYTES = (size_t)16 << 20;

// Calls work(user): in this thread if it has as much stack left; otherwise in a new thread with this thread's locale
// and signal mask, and waits for its end. work must not leave by longjmp. False: nothing was done, because there was no
// memory for the new thread.
bool deep_stack_run(void (*work)(void *user), void *user);

#endif
