// Concurrent blocks: each block of a `roles` is a coroutine, and they take turns in their order. A block runs until it
// waits for an mbarrier whose phase is open, or spins in a loop. If all that have not ended wait and none can go on,
// that is a deadlock.
#include <stdlib.h>

#include "ir/interp_int.h"

typedef struct {
  Prog *p;                       // the program
  const Op *op;
  Prog *blocks;                  // one for each block
  ucontext_t scheduler;
} Roles;

// Block 0 goes on with what the program has in flight; workers begin with nothing.
static void begin(Roles *r) {
  Prog *p = r->p;
  for (uint32_t i = 0; i < r->op->num_blocks; i++)
    r->blocks[i] = (Prog){.run = p->run, .id = {p->id[0], p->id[1], p->id[2]}, .rank = p->rank,
                          .slots = p->slots, .lanes = 1,
                          .shared = p->shared, .role = r->op->blocks[i], .home = p, .scheduler = &r->scheduler};
  Prog *own = &r->blocks[0];
  own->copies = p->copies;
  own->tma_stores = p->tma_stores;
  own->group = p->group;
}

static void end(Roles *r, bool ok) {
  Prog *p = r->p, *own = &r->blocks[0];
  p->copies = own->copies;
  p->tma_stores = own->tma_stores;
  p->group = own->group;
  for (uint32_t i = 0; i < r->op->num_blocks; i++) {
    Prog *b = &r->blocks[i];
    if (i) p->failed |= !interp_finish_copies(b, ok);
    p->failed |= b->failed;
    p->synchronised |= b->synchronised;
    free(b->stack);
  }
  free(r->blocks);
}

static bool report_deadlock(Roles *r) {
  const Op *first = NULL;
  for (uint32_t i = 0; i < r->op->num_blocks && !first; i++)
    if (!r->blocks[i].finished) first = r->blocks[i].waiting;
  interp_fail(r->p, first, "deadlock: no block of this `roles` can go on");
  if (r->p->run->doubted) return false;
  for (uint32_t i = 0; i < r->op->num_blocks; i++) {
    Prog *b = &r->blocks[i];
    uint32_t arrivals;
    int32_t bytes;
    if (b->finished) continue;
    interp_mbar_is_open(b, b->waiting, &arrivals, &bytes);
    diag_note(r->p->run->ctx, b->waiting->span, "block %u waits here: %u arrivals and %d bytes are missing", i,
              arrivals, bytes);
  }
  return false;
}

// Runs each block that has not ended, once. *moved: one of them has done something. *spins: the loop in which one of
// them waits for other programs, or for memory that another block writes.
static bool run_round(Roles *r, bool *moved, const Op **spins, uint32_t *running) {
  *moved = false;
  *spins = NULL;
  *running = 0;
  for (uint32_t i = 0; i < r->op->num_blocks; i++) {
    Prog *b = &r->blocks[i];
    if (b->finished) continue;
    b->moved = !b->waiting;      // its first turn
    interp_resume(b);
    if (b->failed) return false;
    *moved |= b->moved || b->finished;
    if (b->finished) continue;
    ++*running;
    if (b->waiting->opcode != OP_MBAR_WAIT) *spins = b->waiting;
  }
  return true;
}

static bool run(Roles *r) {
  for (;;) {
    bool moved;
    const Op *spins;
    uint32_t running;
    if (!run_round(r, &moved, &spins, &running)) return false;
    if (!running) return true;
    if (moved) continue;
    if (!spins) return report_deadlock(r);
    interp_give_way(r->p, spins);
  }
}

bool interp_roles(Prog *p, Op *op) {
  Roles r = {.p = p, .op = op, .blocks = calloc(op->num_blocks, sizeof(Prog))};
  if (!r.blocks) abort();
  begin(&r);
  const bool ok = run(&r);
  end(&r, ok);
  if (!ok || p->failed) return false;
  interp_move_to_results(p, op->blocks[0]->last, 0, op);
  return true;
}
