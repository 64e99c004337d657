// What the files of pipeline_loops share. For one loop the pass goes through them in this order:
//   pipeline_loads.c      which loads become asynchronous, and what their addresses are computed from
//   pipeline_wgmma.c      which wgmmas stay in flight
//   pipeline_slots.c      how many slots each ring has, and where copies are issued
//   pipeline_prologue.c   which copies are issued before the loop, and how early
//   pipeline_loops.c      the new loop
// All of them copy through the rings of pipeline_ring.c.
#ifndef TILE_PASSES_PIPELINE_LOOPS_H
#define TILE_PASSES_PIPELINE_LOOPS_H

#include "passes/liveness.h"
#include "passes/loop_slice.h"
#include "passes/tma.h"

// Op.mark, beside IN_SLICE: the prologue needs the op's result; the load reads what the loop writes.
enum { NEEDED = 2, WRITTEN = 4 };

typedef struct {
  Op *load;                // load or desc_load in the loop body
  Op *alloc;               // the alloc of its value, if the copy can go where that wants it
  Op *consumer;            // first op of the body that needs the data
  Op *outside;             // of a peeled load: the alloc of the same tile before or after the loop; otherwise NULL
  bool tma;                // false: cp.async
  bool ahead;              // fetches the next iteration's tile
  bool filled_after;       // elements that the mask leaves out get their value after the read
  // Stages − 1 slots: the iteration that reads a slot also has it refilled; otherwise `stages` slots.
  bool short_ring;
  uint32_t group;
  const Type *buffer_type; // of one slot
  Value *ring;             // the buffer of all slots
} AsyncLoad;

// Loads that share one wait.
typedef struct {
  Op *consumer;
  bool tma, ahead;
  bool short_ring;         // all its loads' rings are short; it has as many mbarriers as slots
  int64_t bytes;           // of all its tiles, for TMA
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
  Liveness shared;         // of the function before this loop is rebuilt
  uint32_t first_number, last_number;  // the loop's in it
  bool *carried_in_slice;  // by number of the carried value
  Op *front, *back;        // the conditionals before and after the loop that hold peeled dots; NULL: none
  Op *pingpong;               // the loop's pingpong_wait; NULL: none
  int64_t issuer;          // the warp that issues in the loop
  Value *limit;            // the first value of the induction variable without tiles
} Pipe;

static inline Block *pipe_body(const Pipe *p) { return p->loop->blocks[0]; }

// The op of the body that an op inside the loop is, or is part of.
static inline Op *pipe_in_body(const Pipe *p, Op *op) {
  while (op->parent != pipe_body(p)) op = op->parent->parent;
  return op;
}

// The elements that one copy of a thread moves.
static inline uint32_t pipe_copy_elements(const Op *load) {
  return (uint32_t)op_int(load, ATTR_COPY, op_int(load, ATTR_VECTOR, 1));
}

// ---- pipeline_loads.c ----
// Fills loads and groups and marks slices. all_loads: also loads that no dot reads. False: there is nothing to
// pipeline.
bool pipe_choose_loads(Pipe *p, bool all_loads);

// ---- pipeline_wgmma.c ----
// Lets wgmmas stay in flight into the next iteration. Returns the op after which the previous iteration's slot is free;
// NULL: nothing stays in flight.
Op *pipe_overlap_wgmmas(Pipe *p);
// Where that does not hold, and nothing slow comes between the first wait for tiles and a wgmma: lets copies be issued
// while that runs. Wgmmas after all others of the iteration stay in flight into the next one, up to there. Returns the
// op after which the previous iteration's slot is free; NULL: no such wgmma.
Op *pipe_issue_under_wgmma(Pipe *p);

// ---- pipeline_slots.c ----
// Whether the op is too short to hide the latency of a copy.
bool pipe_is_short(const Op *op);
// Records what shared memory the function needs beside the rings.
void pipe_measure(Pipe *p);
// Takes fewer stages, if the loop allows it, while the rings do not fit into shared memory. False: a loop around
// another one is better not pipelined.
bool pipe_fit_stages(Pipe *p);
// Decides which rings have S − 1 slots. `free`: the op after which the previous iteration no longer uses its slots,
// if that is inside the body. Returns the op of the body before which copies are issued; NULL: after `free`, or after
// the first wait.
Op *pipe_choose_slots(Pipe *p, Op *free);

// ---- pipeline_ring.c ----
typedef struct { Value *slot, *phase; } RingRead;    // which slot, and the parity of the phase that fills it
typedef struct { Value *slot, *short_slot, *pred; } RingWrite;    // which slot of each kind of ring, if pred

static inline uint32_t ring_slots(const Pipe *p, bool is_short) { return p->stages - is_short; }
const Type *ring_type(const Pipe *p, const AsyncLoad *a);
bool ring_any_short(const Pipe *p);
void ring_build(Pipe *p, Builder *b);
// The slot and parity that are read after this one.
RingRead ring_next(Builder *b, RingRead place, uint32_t slots);
// The inputs of the slice at one iteration: its induction variable, and its carried values by number.
ValueMap *ring_slice_inputs(const Pipe *p, Value *iv, Value *const *carried);
// Clones the slice and issues the copies of one iteration into `here`, and the peeled loads' copies for the next
// iteration into `next`. A place without a slot is left out. Afterwards the map holds the clones.
void ring_issue(Pipe *p, Builder *b, ValueMap *map, RingWrite here, RingWrite next, int64_t issuer);
// Waits for a group's tiles. issued: this iteration has already issued its copies.
void ring_wait(Pipe *p, Builder *b, uint32_t group, RingRead place, bool issued);
// A loop in the body may wait for all copies, this loop's among them; the barrier after that wait may serve this loop's
// readers. Adds the proxy fence that they need.
void ring_fence_inner_waits(Pipe *p);
// Makes the peeled dots before the loop (ahead), or after it, read their tiles from this slot.
void ring_serve_outside(Pipe *p, bool ahead, Value *slot, Value *phase);
// Waits, after the loop, until no copy is in flight.
void ring_drain(Pipe *p, Builder *b);
void ring_invalidate(Pipe *p, Builder *b);

// ---- pipeline_prologue.c ----
// Builds the rings and, before the loop, issues the copies of iterations 0 … stages − 2. Returns the induction
// variable of the iteration that the loop issues first, and in carried[] that iteration's carried values, as far as the
// slice needs them.
Value *pipe_build_prologue(Pipe *p, Value **carried);

#endif
