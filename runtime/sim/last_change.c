// Who changed a place in global memory last by an atomic operation, for the report of a deadlock: such a place may be a
// lock or a counter. The table forgets what another place with the same hash replaces.
#include <stdlib.h>

#include "runtime/sim/exec.h"

enum { NUM_PLACES = 1 << 12 };
struct LastChanges { uint64_t address; LastChange change; };

static LastChanges *entry(LastChanges *all, uint64_t address) {
  return &all[(address / 4 * UINT64_C(0x9e3779b97f4a7c15)) >> 52];
}

void last_change_note(Warp *w, const Instr *in, uint64_t address) {
  Grid *g = w->grid;
  if (!g->last_changes) g->last_changes = calloc(NUM_PLACES, sizeof *g->last_changes);
  LastChanges *e = entry(g->last_changes, address);
  e->address = address;
  e->change.by = in;
  report_program(w->cta, e->change.program);
}

const LastChange *last_change_of(const Grid *g, uint64_t address) {
  const LastChanges *e = g->last_changes ? entry(g->last_changes, address) : NULL;
  return e && e->change.by && e->address == address ? &e->change : NULL;
}
