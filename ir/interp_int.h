// Inside the interpreter: shared by interp*.c only.
//
// A tensor is an array of its elements in row-major order, of type_elem_bytes bytes each (i1: a byte of 0 or 1; a
// pointer: 8 bytes). A value gets storage at its first definition and reuses it at the next: an SSA value of a loop's
// body has one slot. Regions that combine elements (reduce, scan, map) run over `lanes` elements at once; every scalar
// of the region is then an array of `lanes`.
#ifndef TILE_IR_INTERP_INT_H
#define TILE_IR_INTERP_INT_H

#include <ucontext.h>

#include "ir/buf.h"
#include "ir/fold.h"
#include "ir/interp.h"
#include "ir/outside.h"

typedef struct {
  void *data, *wide;             // wide: a value of one lane, repeated for the lanes of a region
  size_t capacity, wide_capacity;
  uint32_t lanes;
} Slot;

// A buffer in shared memory: a strided view of elements. The value of a TYPE_BUFFER.
// Strides count elements; tile is the distance between tiles of a multi-buffer.
typedef struct { uint8_t *data; int64_t strides[MAX_RANK]; int64_t tile; } BufferView;

typedef struct PendingCopy PendingCopy;
struct PendingCopy {
  PendingCopy *next;
  const Type *type;              // of the tile
  BufferView view;
  uint8_t *data;                 // loads: what arrives, row-major
  uint64_t group;                // cp.async
  uint8_t *barrier;              // TMA load
  const Op *op;                  // TMA store
  InterpDesc desc;
  int64_t coords[MAX_RANK];
};

typedef struct { const Op *op; uint32_t id[3]; } ZeroDivision;   // a program in which the op divided by zero
typedef struct WriteLog WriteLog;
typedef struct InterpRun InterpRun;
typedef struct Prog {
  InterpRun *run;
  uint32_t id[3], rank;          // of the program; of the block in its cluster
  Slot *slots;
  uint32_t lanes;
  uint8_t *shared;               // stage ALLOCATED: the block's shared memory; buffers may overlap in it
  PendingCopy *copies, *tma_loads, *tma_stores;   // oldest first; tma_loads: only of `home`, since any role may wait
  uint64_t group;                // number of the open cp.async group
  bool synchronised;             // an atomic or volatile load ran in this iteration of a while loop
  bool failed, finished, yielded;
  bool has_stops;                // it has passed a `breakpoint` before a statement
  const Op *waiting;             // the loop it spins in, or the mbar_wait
  // Programs that spin and blocks of a `roles` are coroutines.
  Block *role;                   // the block of a `roles` that this one runs; NULL: the function
  struct Prog *home;             // the program; itself unless this is one of its roles
  bool moved;                    // a role: since it was resumed it has done more than look at what it waits for
  ucontext_t context, *scheduler;
  void *stack;
  struct Prog *next;
} Prog;

struct InterpRun {
  Context *ctx;
  const InterpLaunch *launch;
  uint32_t num_values;
  InterpBuffer *buffers;         // sorted by address
  uint32_t num_buffers, last_buffer;
  InterpDesc *descs;             // of the parameters
  InterpArg *args;
  void *scratch;
  Prog *free_progs;
  ucontext_t scheduler;
  bool use_contexts;
  uint64_t clock;
  uint64_t writes;               // counts changes of memory: the progress for which spinning programs wait
  uint64_t steps, max_steps;     // ops that have run; after how many it fails, 0: never
  bool stopped;                  // the host wanted it to end
  // interp_division.c
  WriteLog *log;                 // NULL: nobody asks what memory held
  VEC(ZeroDivision) by_zero;     // one for each op
  const Op *doubted;             // results of its divisions by zero are others; failures give no diagnostic
  bool doubts_largest;           // they are the largest number; otherwise they have all bits set
  uint64_t printed;              // a checksum
};

// interp_values.c
// Records the error, with the program and the call chain; returns false.
bool interp_fail(Prog *p, const Op *op, const char *fmt, ...) PRINTF_LIKE(3, 4);
// sum, way_out: notes, or NULL.
bool interp_fail_with_notes(Prog *p, const Op *op, const char *text, const char *sum, const char *way_out);

uint32_t interp_value_count(const Prog *p, const Type *t);          // elements × lanes
const void *interp_operand_data(Prog *p, const Op *op, uint32_t i); // NULL when absent
void *interp_result_data(Prog *p, Op *op, uint32_t i);
void *interp_value_storage(Prog *p, const Value *v);                // makes room for v's elements × lanes
const void *interp_value_data(Prog *p, const Value *v);
size_t interp_value_bytes(const Type *t);                           // of one lane
void interp_reserve(void **data, size_t *capacity, size_t n);        // contents are lost when it grows
void interp_row_major(const Type *t, int64_t strides[MAX_RANK]);
void interp_coords(Prog *p, const Op *op, uint32_t first, int64_t coords[MAX_RANK]);   // the operands from `first` on
void *interp_malloc(size_t n);                                   // malloc that does not fail; free() it
void *interp_grow(void *data, size_t n);                         // the same for realloc
static inline const Type *operand_type(const Op *op, uint32_t i) { return op->operands[i].value->type; }
static inline bool has_operand(const Op *op, uint32_t i) { return i < op->num_operands && op->operands[i].value; }

static inline bool operand_is_false(Prog *p, const Op *op, uint32_t i) {   // a predicate that is absent holds
  const uint8_t *x = interp_operand_data(p, op, i);
  return x && !*x;
}

static inline uint64_t element(const void *data, uint32_t bytes, size_t i) {
  switch (bytes) {
    case 1: return ((const uint8_t *)data)[i];
    case 2: return ((const uint16_t *)data)[i];
    case 4: return ((const uint32_t *)data)[i];
    default: return ((const uint64_t *)data)[i];
  }
}
static inline void set_element(void *data, uint32_t bytes, size_t i, uint64_t bits) {
  switch (bytes) {
    case 1: ((uint8_t *)data)[i] = (uint8_t)bits; break;
    case 2: ((uint16_t *)data)[i] = (uint16_t)bits; break;
    case 4: ((uint32_t *)data)[i] = (uint32_t)bits; break;
    default: ((uint64_t *)data)[i] = bits; break;
  }
}
int64_t interp_operand_int(Prog *p, const Op *op, uint32_t i);      // a scalar integer, sign-extended

// interp.c: running
// Runs a block up to its terminator, whose operands are ready then.
bool interp_run_block(Prog *p, Block *b);
// Copies the operands of a terminator, but the first `skip`, to the results of op.
void interp_move_to_results(Prog *p, const Op *from, uint32_t skip, Op *op);
// Starts a coroutine, or goes on with it, until it gives way or ends.
void interp_resume(Prog *p);
// Returns from a coroutine to its scheduler until that resumes it; at once if p is none. op is what waits.
void interp_give_way(Prog *p, const Op *op);

// interp_division.c
// Runs the grid. An error if the result of an integer division by zero decides what memory holds in the end or what is
// printed.
bool interp_run_judged(InterpRun *run, bool (*run_grid)(InterpRun *));
// After the op has divided n elements into out.
void interp_divided(Prog *p, const Op *op, const void *divisors, void *out, size_t n);
// Every write to the launch's memory.
void interp_write(Prog *p, uint64_t to, const void *from, size_t n);

// interp_stop.c
bool interp_watched(Prog *p, Op *op);   // false: the watcher ends the run
void interp_stop_at_end(Prog *p);

// interp_memory.c
// Gathers n elements through the operands ptr, offset?, mask?, other? that begin at `first`, each access checked.
bool interp_load_elements(Prog *p, const Op *op, uint32_t first, size_t n, OutsideKind kind, char *out);
bool interp_read_tile(Prog *p, const Op *op, const InterpDesc *d, const Type *tile, const int64_t *coords, void *out);
bool interp_write_tile(Prog *p, const Op *op, const InterpDesc *d, const Type *tile, const int64_t *coords,
                       const void *in, int64_t atomic);

// interp_shared.c
// Completes copies that bring the phase about if they are under way. Whether the phase of that parity is still open;
// *arrivals and *bytes are then what is missing.
bool interp_mbar_is_open(Prog *p, const Op *wait, uint32_t *arrivals, int32_t *bytes);
void interp_view_read(const BufferView *v, const Type *tile, void *out);          // row-major
// At stage ALLOCATED: poisons what the op's lowering would overwrite.
void interp_poison_scratch(Prog *p, const Op *op);
// Ends a program's copies: completes its stores if all went well, and drops the rest.
bool interp_finish_copies(Prog *p, bool ok);

#define HOW_SCALAR(name) interp_scalar
#define HOW_LLVM(intrinsic) HOW_SCALAR
#define HOW_WHOLE(name) interp_##name
#define HOW_GONE(name) interp_##name
#define OP(id, name, operands, results, blocks, traits, stages, elems, unit, infer, verify, how)                       \
  bool HOW_##how(name)(Prog *p, Op *op);
#include "ir/ops.def"

#endif
