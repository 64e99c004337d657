// What the files of pipeline_loops share. For one loop the pass goes through them in this order:
//   pipeline_loads.c      which loads become asynchronous, and what their addresses are computed from
//   pipeline_wgmma.c      which wgmmas stay in flight
//   pipeline_prologue.c   what is issued in front of the loop, and how far in front
//   pipeline_loops.c      the loop anew
// All of them copy through the rings of pipeline_ring.c.
#ifndef TILE_PASSES_PIPELINE_LOOPS_H
#define TILE_PASSES_PIPELINE_LOOPS_H

#include "passes/tma.h"

// Op.mark: the op is cloned with every issue; the prologue needs its result.
enum { IN_SLICE = 1, NEEDED = 2 };

typedef struct {
  Op *load;                // load or desc_load in the loop body
  Op *alloc;               // the alloc of its value, when the copy can land where that wants it
  Op *consumer;            // first op of the body that needs the data
  Op *outside;             // of a rotated dot's load: the alloc of the same tile in front of the loop, or behind it; else NULL
  bool tma;                // else cp.async
  bool ahead;              // fetches the next iteration's tile
  bool filled_after;       // what the mask leaves out gets its value behind the read
  uint32_t group;
  const Type *buffer_type; // of one slot
  Value *ring;             // the buffer of all slots
} AsyncLoad;

// Loads that are waited for together.
typedef struct {
  Op *consumer;
  bool tma, ahead;
  int64_t bytes;           // of all its tiles, when it is TMA
  Value *barriers;         // an mbarrier for each slot; NULL for cp.async, whose groups are counted
} LoadGroup;

typedef struct {
  Context *ctx;
  Module *module;
  Op *loop;
  uint32_t stages;         // slots of each ring
  VEC(AsyncLoad) loads;
  VEC(LoadGroup) groups;
  uint32_t num_copy_groups;
  bool *carried_in_slice;  // by number of the carried value
  Op *front, *back;        // the conditionals in front of the loop and behind it that hold rotated dots; NULL: none
  Op *turn;                // the loop's turn_wait
  int64_t issuer;          // the warp that issues in the loop
  Value *limit;            // first value of the induction variable that has no tiles
  bool changed;
} Pipe;

static inline Block *pipe_body(const Pipe *p) { return p->loop->blocks[0]; }

// ---- pipeline_loads.c ----
// Fills loads and groups, marks slices. all_loads: also loads that no dot reads. False: there is nothing to pipeline.
bool pipe_choose_loads(Pipe *p, bool all_loads);

// ---- pipeline_wgmma.c ----
// Lets wgmmas run on into the next iteration. Returns the op after which the slot of the iteration before is free, or NULL when nothing
// stays in flight.
Op *pipe_overlap_wgmmas(Pipe *p);

// ---- pipeline_ring.c ----
typedef struct { Value *slot, *phase; } RingRead;    // which slot, and the parity of the phase that fills it
typedef struct { Value *slot, *pred; } RingWrite;    // which slot, if pred

void ring_build(Pipe *p, Builder *b);
// The slot after this one; wraps tells whether it is slot 0.
Value *ring_next_slot(const Pipe *p, Builder *b, Value *slot, Value **wraps);
// What the slice is computed from at one iteration: its induction variable, and its carried values by number.
ValueMap *ring_slice_inputs(const Pipe *p, Value *iv, Value *const *carried);
// Clones the slice and issues the copies of one iteration into `here`, for rotated dots of the next into `next`. A place without a slot is
// left out. The map holds the clones afterwards.
void ring_issue(Pipe *p, Builder *b, ValueMap *map, RingWrite here, RingWrite next, int64_t issuer);
// Waits for a group's tiles. issued: this iteration has issued its copies already.
void ring_wait(Pipe *p, Builder *b, uint32_t group, RingRead place, bool issued);
// The tiles of the dots in front of the loop (ahead), or behind it, come from this slot.
void ring_serve_outside(Pipe *p, bool ahead, Value *slot, Value *phase);
// Behind the loop: no copy is on its way any more.
void ring_drain(Pipe *p, Builder *b);
void ring_invalidate(Pipe *p, Builder *b);

// ---- pipeline_prologue.c ----
// Builds the rings and the issue of iterations 0 … stages − 2 in front of the loop. Returns the induction variable of the iteration
// that the loop issues first, and in carried[] that iteration's carried values, as far as the slice needs them.
Value *pipe_build_prologue(Pipe *p, Value **carried);

#endif
