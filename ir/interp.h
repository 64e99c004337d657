// The reference interpreter: runs a function of the tile IR over a grid, at any stage before LLVM. It defines what ops
// mean. It looks at layouts only where they fix an order (reduce, scan).
//
// Memory is host memory: an address is a host pointer. Every access must lie inside one of the launch's buffers;
// address 0 never does. An asynchronous copy completes at the wait for it. Until then its destination holds poison,
// which shows a missing wait. At stage ALLOCATED buffers lie at their offsets, and each op with scratch poisons what
// its scratch overwrites.
//
// Programs run one after another. A program that spins (a `while` with an atomic or a volatile load in it) lets the
// others run, and locks and flags between programs therefore work.
#ifndef TILE_IR_INTERP_H
#define TILE_IR_INTERP_H

#include "ir/ir.h"

typedef struct { uint64_t address; size_t size; } InterpBuffer;

// The value of a tensor descriptor. Extents and strides count elements, slowest axis first; the last stride is 1.
typedef struct {
  uint64_t address;
  int64_t extents[MAX_RANK], strides[MAX_RANK];
  Padding padding;
} InterpDesc;

typedef struct {
  uint64_t bits;               // PARAM_PLAIN: the value, or the address
  const InterpDesc *desc;      // PARAM_DESC
} InterpArg;

// How to go on after a stop: to the next breakpoint, or to the next line of this program.
typedef enum { INTERP_CONTINUE, INTERP_STEP } InterpAction;
// A stop at a `breakpoint` whose condition holds, or after a step. Variables are text, a line for each element.
typedef struct {
  bool is_step;
  const char *changed, *all;   // changed: since the last stop; at a breakpoint all
} InterpStop;

typedef struct {
  Func *func;
  uint32_t grid[3];
  // One per parameter; hidden ones (PARAM_AUTO_TENSORMAP, PARAM_SCRATCH) are made here and may be missing.
  const InterpArg *args;
  uint32_t num_args;
  const InterpBuffer *buffers; // in any order
  uint32_t num_buffers;
  void (*print)(void *user, const char *text, size_t size);     // output of `print`, whole lines; NULL: dropped
  // op runs next; NULL when the program through which the host steps has ended.
  InterpAction (*breakpoint)(void *user, const Op *op, const uint32_t program[3], const InterpStop *stop);
  void *user;
  bool (*should_stop)(void *stop_user);         // asked between ops: true ends the run; NULL: nobody is
  void *stop_user;
  uint32_t first_program[3], num_programs[3];  // only these programs of the grid when num_programs[0] is not 0
} InterpLaunch;

// False after a diagnostic at the op that failed (out of bounds, failed assert, deadlock), with the program and the
// chain of inlined calls as notes; without one if should_stop ended it. Numbers the module's values.
bool interp_run(Context *ctx, const InterpLaunch *launch);

#endif
