// Asynchronous operations: cp.async and its arrivals, bulk and tensor copies, wgmma, remote stores that signal an
// mbarrier. The issuing instruction queues an operation. The seed's policy performs it at once, as late as the rules
// allow, or at a random moment, but no later than the first wait for it. Invariant: the issue checks an operation's
// addresses and arguments, and performing it cannot go out of bounds. Performing it reads the registers of a wgmma
// and the bytes of memory, as the hardware is free to do.
#ifndef TILE_SIM_ASYNC_H
#define TILE_SIM_ASYNC_H

#include <stdlib.h>
#include <string.h>

#include "runtime/sim/mbarrier.h"
#include "runtime/sim/mma.h"
#include "runtime/sim/exec.h"
#include "runtime/sim/tensormap.h"

typedef enum { ASYNC_COPY, ASYNC_ARRIVE, ASYNC_BULK, ASYNC_STORE, ASYNC_WGMMA, ASYNC_KINDS } AsyncKind;
typedef enum { POLICY_EARLY, POLICY_LATE, POLICY_RANDOM, POLICY_COUNT } AsyncPolicy;

// A place in some CTA's shared memory. offset counts from the CTA's first byte (add SHARED_BASE for the address).
typedef struct { Cta *cta; uint32_t offset; } SharedPlace;
static inline uint8_t *shared_host(SharedPlace p) { return p.cta->shared + p.offset; }
static inline uint64_t shared_word(SharedPlace p) {
  uint64_t word;
  memcpy(&word, shared_host(p), 8);
  return word;
}
static inline void set_shared_word(SharedPlace p, uint64_t word) { memcpy(shared_host(p), &word, 8); }
static inline SharedPlace shared_place(const MemAccess *a, int lane) {
  return (SharedPlace){a->cta[lane], (uint32_t)(a->host[lane] - a->cta[lane]->shared)};
}

// cp.async of one warp: one copy per lane.
typedef struct {
  uint32_t mask;                       // lanes not yet performed
  uint32_t group[WARP_SIZE];           // of the lane, as numbered when issued
  SharedPlace dst[WARP_SIZE];
  const uint8_t *src[WARP_SIZE];
  uint8_t bytes, src_bytes[WARP_SIZE]; // the rest is zero
} AsyncCopy;
// cp.async.mbarrier.arrive: each lane arrives when its earlier copies are done.
typedef struct { uint32_t mask; SharedPlace bar[WARP_SIZE]; } AsyncArrive;
// cp.async.bulk and its tensor and reducing forms, between shared memory and global or shared memory.
typedef struct {
  bool is_tensor, to_shared, is_reduce, in_group, read_done;
  TensorMap map;
  uint64_t map_address;
  int32_t coords[TENSORMAP_MAX_RANK];
  TensorMapReduceOp reduce;
  TensorMapDtype dtype;                // of a reduction
  SharedPlace src;                     // from shared memory
  uint8_t *global;                     // 1-D
  uint32_t bytes;                      // of the whole box or line: what completes
  uint32_t extent;                     // in shared memory
  uint32_t num_dst;
  SharedPlace dst[MAX_CLUSTER], bar[MAX_CLUSTER];
  uint32_t clock[MAX_CLUSTER];         // of each barrier's agent
  uint32_t group;                      // in_group: bulk group of the lane, as numbered when issued
  uint32_t serial;                     // in_group: nth store of the grid (shadow_proxy.c)
  uint8_t *buffer;                     // what was read, once read_done
  uint32_t buffer_cap;
} AsyncBulk;
// st.async, red.async
typedef struct {
  SharedPlace dst, bar;
  uint8_t value[16];
  uint32_t bytes;
  bool is_reduce;
  TensorMapReduceOp reduce;
  TensorMapDtype dtype;
} AsyncStore;
// One wgmma of a warpgroup. It exists from the first warp's issue and can be performed once all four have issued it.
typedef struct {
  uint32_t issued;                     // bit per warp of the group
  uint32_t base[4];                    // register frame
  uint32_t group[4];                   // as numbered by each warp
  uint64_t desc_a[4], desc_b[4];
  bool use_c[4];
  uint64_t index;                      // nth of the warpgroup
} AsyncWgmma;

typedef struct AsyncOp AsyncOp;
struct AsyncOp {
  AsyncOp *prev, *next;                // of the cluster's queue, in order of issue
  AsyncOp *older;                      // all of the cluster's, in use or not
  AsyncKind kind;
  Cluster *cluster;
  Warp *warp;                          // the issuer; wgmma: first warp of the warpgroup
  const Instr *in;
  int lane;                            // the issuer; -1 for a whole warp
  uint64_t seq, issued_at;             // order of issue; Grid.steps then
  uint32_t comp, clock;                // the operation as an agent in the happens-before order (shadow.h)
  union { AsyncCopy copy; AsyncArrive arrive; AsyncBulk bulk; AsyncStore store; AsyncWgmma wgmma; };
};

typedef struct ClusterAsync {
  AsyncOp *first, *last, *free, *all;
  uint32_t count;
  uint64_t next_seq;
} ClusterAsync;

// A wgmma of one warp that no wait has covered. Other instructions must not touch its registers.
typedef struct { const Instr *in; uint32_t base, group; } WgmmaFlight;
// A plain mov of an accumulator in flight gives it a second register without reading it. The copy is in flight as
// long as the accumulator, and is written when it is. (ptxas coalesces these moves.)
typedef struct {
  uint32_t from, to, group, lanes;
  uint64_t issued;
} WgmmaAlias;   // absolute slots; products before `issued`
typedef struct WarpAsync {
  uint32_t wgmma_committed;            // groups
  uint64_t wgmma_issued;               // operations
  uint32_t num_flight, cap_flight;
  WgmmaFlight *flight;
  uint32_t num_alias, cap_alias;
  WgmmaAlias *alias;
  uint16_t *acc_count, *src_count;     // by absolute register slot: operations in flight that own it
  uint32_t *written;                   // by slot: fence epoch of the last ordinary write
  uint32_t num_slots, fence_epoch;
} WarpAsync;

// What aux of a wgmma instruction holds.
typedef struct { MmaSpec spec; bool a_in_registers, trans_a, trans_b; } WgmmaForm;

AsyncPolicy async_policy(const Grid *g);
ClusterAsync *async_of_cluster(Cluster *c);
static inline WarpAsync *async_of_warp(Warp *w) {
  if (!w->async) {
    w->async = calloc(1, sizeof(WarpAsync));
    ((WarpAsync *)w->async)->fence_epoch = 1;
  }
  return w->async;
}
void async_reserve_slots(Warp *w, uint32_t slots);          // room for what is counted by register slot
void async_free_warps(Cta *c);

AsyncOp *async_new(Warp *w, const Instr *in, int lane, AsyncKind kind);
// Queues the operation, or performs it at once when the seed says so.
ExecResult async_issue(AsyncOp *op);
ExecResult async_finish(AsyncOp *op);                      // performs what is left of it and removes it
ExecResult async_perform_copy(AsyncOp *op, uint32_t mask); // the lanes of mask; removes the operation when none is left
ExecResult async_read_bulk(AsyncOp *op);                   // takes the source of a store into its buffer
bool async_can_perform(const AsyncOp *op);
#define async_report(op, kind, ...) sim_report((op)->cluster->grid, (op)->warp, (op)->in, (op)->lane, kind, __VA_ARGS__)
// Performs the wgmma for all four warps (exec_tensor.c).
ExecResult wgmma_perform(AsyncOp *op);
// Mbarriers: resolves an operand's addresses (exec_mbarrier.c), reports an error, stores the word, performs an
// arrival with its consequences.
ExecResult exec_mbarrier_resolve(Warp *w, const Instr *in, const PtxOperand *op, uint32_t mask, MemAccess *a);
void async_mbarrier_store(SharedPlace bar, uint64_t word);
ExecResult async_mbarrier_fail(Warp *w, const Instr *in, int lane, SharedPlace bar, MbarrierError e);
ExecResult async_mbarrier_arrive(Warp *w, const Instr *in, int lane, SharedPlace bar, uint32_t count, int64_t tx,
                                bool drop, bool no_complete);

// st.async and red.async, which decode_st and decode_atom pass on.
bool decode_store_async(PtxParser *p, Instr *in);
bool decode_bulk(PtxParser *p, Instr *in);                 // cp.async.bulk, which decode_cp passes on

// Hooks (hooks.c installs them).
bool async_advance(Cluster *c, bool force);
void async_cta_end(Cta *c);
void async_cluster_end(Cluster *c);
const char *async_describe(Cluster *c, Arena *a);

#endif
