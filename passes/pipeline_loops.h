// What the files of pipeline_loops share. For one loop the pass goes through them in this order:
//   pipeline_loads.c      which loads become asynchronous, and what their addresses are computed from
//   pipeline_wgmma.c      which wgmmas stay in flight
//   pipeline_slots.c      how many slots each ring has, and where copies are issued
//   pipeline_prologue.c   what is issued in front of the loop, and how far in front
//   pipeline_loops.c      the loop anew
// All of them copy through the rings of pipeline_ring.c.
#ifndef TILE_PASSES_PIPELINE_LOOPS_H
#define TILE_PASSES_PIPELINE_LOOPS_H

#include "passes/liveness.h"
#include "passes/tma.h"

// Op.mark: the op is cloned with every issue; the prologue needs its result; the load reads what the loop writes.
enum { IN_SLICE = 1, NEEDED = 2, WRITTEN = 4 };

typedef struct {
  Op *load;                // load or desc_load in the loop body
  Op *alloc;               // the alloc of its value, when the copy can land where that wants it
  Op *consumer;            // first op of the body that needs the data
  Op *outside;             // of a rotated dot's load: the alloc of the same tile in front of the loop, or behind it; else NULL
  bool tma;                // else cp.async
  bool ahead;              // fetches the next iteration's tile
  bool filled_after;       // what the mask leaves out gets its value behind the read
  bool short_ring;         // the iteration that reads a slot has it filled again: stages − 1 slots, else as many as stages
  uint32_t group;
  const Type *buffer_type; // of one slot
  Value *ring;             // the buffer of all slots
} AsyncLoad;

// Loads that are waited for together.
typedef struct {
  Op *consumer;
  bool tma, ahead;
  bool short_ring;         // of TMA: its loads', and the mbarriers are as many as slots
  int64_t bytes;           // of all its tiles, when it is TMA
  Value *barriers;         // an mbarrier for each slot; NULL for cp.async, whose groups are counted
} LoadGroup;

typedef struct {
  Context *ctx;
  Module *module;
  Op *loop;
  uint32_t stages;
  VEC(AsyncLoad) loads;
  VEC(LoadGroup) groups;
  uint32_t num_copy_groups;
  Liveness shared;         // of the function before this loop is made anew
  uint32_t first_number, last_number;  // the loop's in it
  bool *carried_in_slice;  // by number of the carried value
  Op *front, *back;        // the conditionals in front of the loop and behind it that hold rotated dots; NULL: none
  Op *pingpong;               // the loop's pingpong_wait
  int64_t issuer;          // the warp that issues in the loop
  Value *limit;            // first value of the induction variable that has no tiles
  bool changed;
} Pipe;

static inline Block *pipe_body(const Pipe *p) { return p->loop->blocks[0]; }

// The op of the body that an op inside the loop is, or is part of.
static inline Op *pipe_in_body(const Pipe *p, Op *op) {
  while (op->parent != pipe_body(p)) op = op->parent->parent;
  return op;
}

// Of two ops of the body.
static inline bool pipe_is_before(const Op *a, const Op *b) {
  while ((a = a->next) && a != b) {}
  return a != NULL;
}

// That one copy of a thread moves.
static inline uint32_t pipe_copy_elements(const Op *load) { return (uint32_t)op_int(load, ATTR_COPY, op_int(load, ATTR_VECTOR, 1)); }

// ---- pipeline_loads.c ----
// Fills loads and groups, marks slices. all_loads: also loads that no dot reads. False: there is nothing to pipeline.
bool pipe_choose_loads(Pipe *p, bool all_loads);
// Whether the op is too little to keep anyone busy while a tile is on its way.
bool pipe_is_short(const Op *op);

// ---- pipeline_wgmma.c ----
// Lets wgmmas run on into the next iteration. Returns the op after which the slot of the iteration before is free, or NULL when nothing
// stays in flight.
Op *pipe_overlap_wgmmas(Pipe *p);

// ---- pipeline_slots.c ----
// Remembers what shared memory the function needs beside the rings.
void pipe_measure(Pipe *p);
// Decides which rings have S − 1 slots. `free`: the op after which the iteration before is done with its slots, where that is inside the
// body. Returns the op of the body before which copies are issued; NULL: after `free`, or behind the first wait.
Op *pipe_choose_slots(Pipe *p, Op *free);

// ---- pipeline_ring.c ----
typedef struct { Value *slot, *phase; } RingRead;    // which slot, and the parity of the phase that fills it
typedef struct { Value *slot, *short_slot, *pred; } RingWrite;    // which slot of each kind of ring, if pred

static inline uint32_t ring_slots(const Pipe *p, bool is_short) { return p->stages - is_short; }
const Type *ring_type(const Pipe *p, const AsyncLoad *a);
bool ring_any_short(const Pipe *p);
void ring_build(Pipe *p, Builder *b);
// What is read after this, in a ring of so many slots.
RingRead ring_next(Builder *b, RingRead place, uint32_t slots);
// What the slice is computed from at one iteration: its induction variable, and its carried values by number.
ValueMap *ring_slice_inputs(const Pipe *p, Value *iv, Value *const *carried);
// Clones the slice and issues the copies of one iteration into `here`, for rotated dots of the next into `next`. A place without a slot is
// left out. The map holds the clones afterwards.
void ring_issue(Pipe *p, Builder *b, ValueMap *map, RingWrite here, RingWrite next, int64_t issuer);
// Waits for a group's tiles. issued: this iteration has issued its copies already.
void ring_wait(Pipe *p, Builder *b, uint32_t group, RingRead place, bool issued);
// A wait for all copies, as loops in the body have them, is one for this loop's too, whose readers the barrier behind it may serve: it is
// fenced for them.
void ring_fence_inner_waits(Pipe *p);
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
