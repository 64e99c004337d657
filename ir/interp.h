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

#include "ir/buf.h"
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

// A stop: at a `breakpoint` whose condition holds, and at the end of a program that has passed statements.
typedef struct {
  const Op *op;                // runs next; NULL: the program has ended
  bool is_statement;           // the front end put it before a statement; otherwise the source has it
  const uint32_t *program;     // the three numbers of the program
  struct Prog *prog;           // the interpreter's
} InterpStop;
// A variable that the stopped function sees.
typedef struct {
  const char *name;
  const Type *type;            // NULL: a constant
  bool is_unsigned;
  const void *data;            // row-major, type_elem_bytes bytes for each element
  const char *constant;
} InterpVar;
typedef VEC(InterpVar) InterpVars;
InterpVars interp_stop_vars(Arena *a, const InterpStop *stop);
// A line for each element: "pid (0, 0, 0) idx (3) x: 5".
void interp_put_var(Buf *b, const InterpStop *stop, const InterpVar *var);

// An op that has just run. Inside of a reduction or a map it ran for several elements at once, its lanes.
typedef struct {
  Op *op;
  const uint32_t *program;
  struct Prog *prog;
} InterpStep;
// The elements of a value that the program has computed, row-major, lane after lane; they may be changed. NULL: it has
// not computed it.
void *interp_step_data(const InterpStep *step, const Value *v);
size_t interp_step_count(const InterpStep *step, const Value *v);   // how many these are
uint64_t interp_step_address(const InterpStep *step, size_t i);      // of element i of a load, a store or an atomic

typedef struct {
  Func *func;
  uint32_t grid[3];
  // One per parameter; hidden ones (PARAM_AUTO_TENSORMAP, PARAM_SCRATCH) are made here and may be missing.
  const InterpArg *args;
  uint32_t num_args;
  const InterpBuffer *buffers; // in any order
  uint32_t num_buffers;
  void (*print)(void *user, const char *text, size_t size);     // output of `print`, whole lines; NULL: dropped
  bool (*stop)(void *user, const InterpStop *stop);   // false ends the run without a diagnostic; NULL: nothing stops
  // After each op; false ends the run without a diagnostic. Divisions by zero are not judged then. NULL: nobody watches.
  bool (*watch)(void *user, const InterpStep *step);
  void *user;
  bool (*should_stop)(void *stop_user);         // asked between ops: true ends the run; NULL: nobody is
  void *stop_user;
  uint32_t first_program[3], num_programs[3];  // only these programs of the grid when num_programs[0] is not 0
} InterpLaunch;

// False after a diagnostic at the op that failed (out of bounds, failed assert, deadlock), with the program and the
// chain of inlined calls as notes; without one if should_stop ended it. Numbers the module's values.
bool interp_run(Context *ctx, const InterpLaunch *launch);

#endif
