// The errors that lead reports of accesses out of bounds, misaligned accesses and races, in terms of the source.
#ifndef TILE_RUNTIME_SIM_LEAD_H
#define TILE_RUNTIME_SIM_LEAD_H

#include "ir/outside_terms.h"
#include "runtime/sim/exec.h"

// What does not order two accesses: programs of the grid, the blocks of a program's cluster, its warps, the threads of a
// warp in one instruction; or threads that access shared memory.
typedef enum { RACE_PROGRAMS, RACE_BLOCKS, RACE_WARPS, RACE_THREADS, RACE_SHARED } RaceScope;
typedef struct {
  const Instr *in;
  OutsideKind kind;
  uint32_t program[3];
  bool is_atomic;              // or volatile
} RaceSide;
// Atomics between two accesses that would order them if they were not relaxed, or if their scope were the GPU: one, or
// NULL; and one that the earlier program writes by, or NULL.
typedef struct { const Instr *first, *wrote; } WeakAtomics;
// The error is at a plain store that should have been atomic, or at the access that stands later in the code; the note
// is at the other. address: of global memory, which the lane of the warp accesses by `found.in`.
void lead_race(Warp *w, int lane, RaceScope scope, const RaceSide *found, const RaceSide *other, uint64_t address,
               const WeakAtomics *weak);
// What is waited for: a cp.async, a copy that completes on an mbarrier, a store or a product.
typedef enum { WAIT_COPY, WAIT_TMA_LOAD, WAIT_TMA_STORE, WAIT_MMA } WaitKind;
// In Gluon kernels, whose authors write the waits: an access of shared memory by `in` before the operation `other` is
// done; an asynchronous operation `in` at what other threads or operations may still access; the use of a register of a
// product; and, at the end of a program, an operation that nobody has waited for. Elsewhere nothing.
void lead_early(Warp *w, const Instr *in, bool writes, const Instr *other, WaitKind kind, bool other_writes);
void lead_overtakes(Warp *w, const Instr *in, WaitKind kind, bool writes, const Instr *other, bool other_writes);
void lead_unfinished(Warp *w, const Instr *in, const Instr *product, bool writes);
void lead_left_over(Warp *w, const Instr *in, WaitKind kind);
// "element 384 of tmp", "byte 3 of tmp"; or `unknown`.
const char *lead_element(Arena *a, Warp *w, const Instr *in, int lane, uint64_t address, uint32_t elem_bytes,
                         const char *unknown);
// Fills in the access's kind, element size and program. elem_bytes: for a place of which that is not known.
// lane, access: what of it was found to be outside of `a`, the memory that its pointer points to.
void lead_outside(Warp *w, const Instr *in, int lane, const MemAccess *access, const Alloc *a, Outside *o,
                  AccessKind kind, uint32_t elem_bytes);
// A load of global memory that nothing has written; and an error that names such a load if the instruction's operands
// depend on one. said: what is undefined. Returns false if none is known (undef_origin.c).
typedef struct FreshLoad FreshLoad;
void fresh_note(Warp *w, const Instr *in, int lane, uint64_t address);
bool fresh_lead(Warp *w, const Instr *in, const char *said);
// Fills in is_whole and was_inside, as far as they are known (whole.c).
void whole_block(Warp *w, const Instr *in, int lane, const MemAccess *access, const Alloc *a, const PlaceNote *place,
                 Outside *o);
// An access of that size at an address that is no multiple of `align`.
void lead_misaligned(Warp *w, const Instr *in, int lane, uint64_t address, uint32_t size, uint32_t align,
                     AccessKind kind);

#endif
