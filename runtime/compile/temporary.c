#include "runtime/compile/temporary.h"

#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "ir/base.h"
#include "runtime/compile/compile.h"

enum { MAX_REGISTERED = 256 };   // what exceeds this is not removed

// One for a process, as are its signals. A slot holds one registration or NULL.
static struct {
  _Atomic(const Temporary *) slots[MAX_REGISTERED];
  const Temporary *taken[MAX_REGISTERED];   // by the handler
  atomic_bool is_ending;
} temporaries;

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

// Calls only functions that a signal's handler may call.
static void remove_and_end(int signal_number) {
  while (atomic_exchange(&temporaries.is_ending, true)) pause();   // another thread is at it
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
  static const int numbers[] = {SIGHUP, SIGINT, SIGTERM};
  struct sigaction ours = {.sa_handler = remove_and_end, .sa_flags = SA_RESETHAND}, before;
  sigemptyset(&ours.sa_mask);
  for (uint32_t i = 0; i < countof(numbers); i++) sigaddset(&ours.sa_mask, numbers[i]);
  for (uint32_t i = 0; i < countof(numbers); i++)
    if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL) sigaction(numbers[i], &ours, NULL);
}
