#define _GNU_SOURCE
#include "ir/deep_stack.h"

#include <locale.h>
#include <pthread.h>
#include <stdint.h>

// A thread's stack does not move, and to find it may mean to read the whole memory map of the process: it is found
// once. Empty: not known.
typedef struct { bool is_known; uintptr_t low, high; } Stack;

static Stack find_stack(void) {
  Stack s = {.is_known = true};
  pthread_attr_t attr;
  if (pthread_getattr_np(pthread_self(), &attr)) return s;
  void *lowest;
  size_t size;
  if (!pthread_attr_getstack(&attr, &lowest, &size)) s.low = (uintptr_t)lowest, s.high = s.low + size;
  pthread_attr_destroy(&attr);
  return s;
}

// The bytes left of this thread's stack. 0 on a fiber, which is outside its thread's stack.
static size_t stack_left(void) {
  static _Thread_local Stack stack;
  if (!stack.is_known) stack = find_stack();
  const uintptr_t here = (uintptr_t)__builtin_frame_address(0);   // not a variable's, which a sanitizer may move
  return here > stack.low && here < stack.high ? here - stack.low : 0;
}

typedef struct { void (*work)(void *user); void *user; locale_t locale; } StackWork;

static void *run(void *argument) {
  const StackWork *w = argument;
  uselocale(w->locale);
  w->work(w->user);
  return NULL;
}

bool deep_stack_run(void (*work)(void *user), void *user) {
  if (stack_left() >= DEEP_STACK_NEEDED) {
    work(user);
    return true;
  }
  StackWork w = {work, user, uselocale((locale_t)0)};
  pthread_attr_t attr;
  pthread_t thread;
  if (pthread_attr_init(&attr)) return false;
  // A thread that cancels the caller waits: the work uses the caller's variables until it has ended.
  int before;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
  const bool runs = !pthread_attr_setstacksize(&attr, DEEP_STACK_BYTES) && !pthread_create(&thread, &attr, run, &w);
  if (runs) pthread_join(thread, NULL);
  pthread_setcancelstate(before, NULL);
  pthread_attr_destroy(&attr);
  return runs;
}
