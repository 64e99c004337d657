#include "runtime/compile/temporary.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "ir/base.h"
#include "runtime/compile/compile.h"

enum { MAX_REGISTERED = 256 };   // what exceeds this is not removed
static const int ending_signals[] = {SIGHUP, SIGINT, SIGTERM};

// Signals belong to the process, so this table does, too. Each slot holds one registration or NULL.
static struct {
  _Atomic(const Temporary *) slots[MAX_REGISTERED];
  const Temporary *taken[MAX_REGISTERED];   // by the handler
  atomic_bool is_ending;
  atomic_uint holds;   // threads between temporary_hold and temporary_release
} temporaries;

static sigset_t ending_set(void) {
  sigset_t set;
  sigemptyset(&set);
  for (uint32_t i = 0; i < countof(ending_signals); i++) sigaddset(&set, ending_signals[i]);
  return set;
}

static bool replace(const Temporary *old, const Temporary *new) {
  for (uint32_t i = 0; i < MAX_REGISTERED; i++) {
    const Temporary *expected = old;
    if (atomic_compare_exchange_strong(&temporaries.slots[i], &expected, new)) return true;
  }
  return false;
}

void temporary_register(const Temporary *t) { replace(NULL, t); }

void temporary_forget(const Temporary *t) {
  if (replace(t, NULL)) return;
  // A signal's handler in another thread uses it, and then ends the process.
  while (atomic_load(&temporaries.is_ending)) pause();
}

void temporary_hold(sigset_t *before) {
  const sigset_t set = ending_set();
  pthread_sigmask(SIG_BLOCK, &set, before);
  atomic_fetch_add(&temporaries.holds, 1);
  if (!atomic_load(&temporaries.is_ending)) return;
  atomic_fetch_sub(&temporaries.holds, 1);
  for (;;) pause();   // another thread ends the process
}

void temporary_release(const sigset_t *before) {
  atomic_fetch_sub(&temporaries.holds, 1);
  pthread_sigmask(SIG_SETMASK, before, NULL);
}

int temporary_make(char *name, Temporary *t) {
  sigset_t mask;
  *t = (Temporary){.path = name};
  temporary_hold(&mask);
  const int fd = mkstemp(name);
  if (fd >= 0) temporary_register(t);
  temporary_release(&mask);
  return fd;
}

// Calls only functions that a signal's handler may call.
static void remove_and_end(int signal_number) {
  while (atomic_exchange(&temporaries.is_ending, true)) pause();   // another thread is at it
  // The threads that hold are other ones, for a thread that holds gets no such signal.
  while (atomic_load(&temporaries.holds)) nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
  const Temporary **taken = temporaries.taken;
  for (uint32_t i = 0; i < MAX_REGISTERED; i++) {
    const Temporary *t = taken[i] = atomic_exchange(&temporaries.slots[i], NULL);
    if (t && !t->path) kill(t->process, SIGKILL);
  }
  for (uint32_t i = 0; i < MAX_REGISTERED; i++)
    if (taken[i] && taken[i]->path) unlink(taken[i]->path);
  for (uint32_t i = 0; i < MAX_REGISTERED; i++)   // folders, which are empty now
    if (taken[i] && taken[i]->path) rmdir(taken[i]->path);
  raise(signal_number);   // SA_RESETHAND: it ends the process when this function returns
}

void temporary_remove_on_signals(void) {
  struct sigaction ours = {.sa_handler = remove_and_end, .sa_flags = SA_RESETHAND, .sa_mask = ending_set()}, before;
  for (uint32_t i = 0; i < countof(ending_signals); i++)
    if (sigaction(ending_signals[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
      sigaction(ending_signals[i], &ours, NULL);
}
