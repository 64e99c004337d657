// The run once more on the interpreter, watched op by op: why is an element what it is?
#ifndef TILE_RUNTIME_RERUN_H
#define TILE_RUNTIME_RERUN_H

#include "runtime/cli/writes.h"

typedef struct {
  Session session;
  RunBuffer *kept;             // the run's buffers as they were
  bool (*watch)(void *user, const InterpStep *step);
  void *user;
  double deadline;
  uint32_t steps;
  Writes writes;               // of the run as it is, to the buffer of the wrong element
  uint64_t held;               // by that element after it
  const char *error;           // that ended it; NULL: none
  bool has_writer;             // only the program that wrote it is watched
} Rerun;

// False if the kernel cannot run there. All launches of a Rerun have a few seconds together.
bool rerun_open(Rerun *r, Run *run);
// Launches on the buffers' initial values. False if the run fails, the time is over, or the watcher ends it.
bool rerun_launch(Rerun *r, bool (*watch)(void *user, const InterpStep *step), void *user);
// Runs to see what the interpreter makes of this element, and what writes it. False as rerun_launch.
bool rerun_find(Rerun *r, const RunBuffer *b, uint64_t index);
// The bits of that element after the last run, and its number.
uint64_t rerun_bits(const Rerun *r);
double rerun_number(const Rerun *r);
double rerun_held(const Rerun *r);   // after the run as it is
void rerun_close(Rerun *r);

#endif
