// The op `roles`: its blocks run at once. Block 0 runs on the warps that also run what is around the op; each further
// block, a *worker*, on warps of its own. Here is what follows from its attributes: which warps run a block, which
// named barrier they meet at, and how many registers they have.
//
// The warps of a launch: those of the kernel (Module.num_warps), then those of the workers, the larger workers first;
// therefore a worker of four warps or more begins at a warpgroup. The workers' warps fill whole warpgroups; the last
// ones may be idle.
//
// Registers: a launch begins with M for each thread. If an op asks for registers, each warpgroup of workers gets the
// most that one of its workers asks for, a multiple of 8, and block 0 gets what is left. Outside of the ops the workers
// wait with the least that there can be, and the kernel's warps have the rest.
#ifndef TILE_IR_ROLES_H
#define TILE_IR_ROLES_H

#include "ir/arena.h"
#include "ir/ir.h"

enum {
  MAX_BLOCK_WARPS = 32, MAX_WARPGROUPS = MAX_BLOCK_WARPS / WARPGROUP_WARPS, NAMED_BARRIERS = 16,
  MIN_SET_REGISTERS = 24, MAX_SET_REGISTERS = 256,   // what setmaxnreg takes, in steps of 8
  // Named barriers: that of the kernel's own warps (with block 0 of every op), that of all warps of the launch, and the
  // first of the workers.
  BARRIER_KERNEL = 0, BARRIER_LAUNCH = 1, BARRIER_WORKERS = 2
};

// The block of a `roles` that b is or is inside of, or NULL.
const Block *block_role(const Block *b);
// The same if that is a worker; NULL: the kernel's own warps run b.
const Block *block_worker(const Block *b);
// The warps that run a block or an op.
uint32_t block_num_warps(const Block *b);
static inline uint32_t op_num_warps(const Op *op) { return block_num_warps(op->parent); }

// The warps of one block of a `roles`, counted from the launch's first, and the named barrier at which they meet. One
// warp needs none, and has BARRIER_KERNEL.
typedef struct { uint32_t first, count, barrier; } RoleWarps;
RoleWarps roles_warps(const Op *op, uint32_t block);
uint32_t roles_worker_warps(const Op *op);                  // of all workers, in whole warpgroups

// Whether the workers have v without the kernel's warps: a parameter, a buffer, or what is computed from such alone by
// ops that do not look at memory.
bool roles_can_recompute(Context *ctx, const Value *v);
// The values from outside that workers use and cannot recompute: block 0's first thread hands them over in scratch.
typedef VEC(Value *) RolesCaptures;
RolesCaptures roles_captures(Context *ctx, const Op *op);
uint32_t roles_capture_words(const Type *t);                // of 64 bits, that a captured value takes
// The scratch of op: captured values, and before them, if `says_which` op, the number of the op that runs.
uint32_t roles_scratch_bytes(Context *ctx, const Op *op);
enum { ROLES_NUMBER_BYTES = 16 };
// The first `roles` of the function if one of them is inside a loop or an if, or NULL. Its scratch lives as long as the
// function.
const Op *roles_that_says_which(const Func *f);

// Registers of a thread: of the kernel's own warps and of each warpgroup of the workers.
typedef struct { uint32_t own, worker[MAX_WARPGROUPS]; } RolesRegisters;

// What the `roles` of a function have in common.
typedef struct {
  uint32_t total_warps;      // of a launch
  uint32_t num_ops;
  uint32_t num_barriers;     // named barriers that the workers of any op take
  bool branches;             // an op is inside a loop or an if: the workers must learn whether it runs
  uint32_t registers;        // M, with which a launch begins; 0: no op asks for registers
} RolesInfo;
RolesInfo roles_info(const Func *f);
// The registers while op runs, or (NULL) outside of all; 0 if the function asks for none. False if the workers ask for
// so many that block 0 has too few.
bool roles_registers(const Func *f, const RolesInfo *info, const Op *op, RolesRegisters *out);
// Of a launch of any function of the module.
uint32_t module_total_warps(const Module *m);

#endif
