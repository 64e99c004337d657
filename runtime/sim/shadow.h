// The checkers' state beside the machine's, and the calls that inform the checkers. A function whose check is off
// does nothing. Those that return ExecResult return EXEC_FAULT after a report, otherwise EXEC_NEXT.
//
// Races (shadow_race.c, shadow_agents.c): a vector clock per warp and an epoch per shared-memory word. The agents of
// the happens-before order are warps, and for each warp its wgmma, its cp.async and its bulk stores, and for each
// mbarrier the copies that complete on it. An asynchronous operation's accesses happen at the next epoch of its
// agent; a wait makes the epoch known to the waiter. Definedness (shadow_undef.c): a bit per bit of registers, shared
// and local memory. Proxies over global memory (shadow_proxy.c): who wrote each 16 bytes last, in kernels that copy
// in bulk. Races in global memory (shadow_blocks.c): a clock per cluster and the warps' clocks, and for each word its
// last writer and two of its readers.
#ifndef TILE_SIM_SHADOW_H
#define TILE_SIM_SHADOW_H

#include "runtime/sim/async.h"

typedef struct GridBlocks GridBlocks;
typedef struct GridShadow { bool has_wgmma; struct GridProxy *proxy; GridBlocks *blocks; } GridShadow;   // Grid.shadow
typedef struct CtaShadow {                                      // Cta.shadow
  struct CtaRace *race;    // NULL when races are not checked
  struct MapAcquire *acquires;   // fences by which its threads published or took up tensor maps
  uint32_t num_acquires, cap_acquires;
  uint8_t *undef;          // a byte per byte of shared memory, its undefined bits; NULL when definedness is not checked
} CtaShadow;
static inline uint8_t *cta_undef(const Cta *c) { return c->shadow ? ((const CtaShadow *)c->shadow)->undef : NULL; }

// ---- shadow_race.c
void race_cta_begin(Cta *c);
void race_cluster_end(Cluster *c);
bool access_is_strong(const Instr *in);                // volatile, or with a memory order
// Gets the bytes that the lane's plain store will write; false if they are not known.
bool access_store_bytes(Warp *w, const Instr *in, int lane, uint32_t size, uint8_t *out);
ExecResult race_access(Warp *w, const Instr *in, const MemAccess *a);
void race_barrier(Cta *c, uint32_t id, bool complete, Warp *w, uint32_t mask);
void race_cluster_barrier(Cluster *c, bool complete, Warp *w, uint32_t mask);
void race_warp_sync(Warp *w, uint32_t mask);
ExecResult race_fence(Warp *w, const Instr *in, uint32_t mask);

// The warp's clock; does w know what x did up to x's clock `clock`? If races are not checked, every warp knows
// everything.
uint32_t race_clock(const Warp *w);
bool race_knows(const Warp *w, const Warp *x, uint32_t clock);

// ---- shadow_agents.c: mbarriers and asynchronous operations
void agent_cta_end(Cta *c);                            // reports operations that nothing has waited for
const char *agent_describe(Cluster *c, Arena *a);      // the mbarriers, for a deadlock report
int64_t agent_unexpected_bytes(Cta *c);                // that copies bring to one of its mbarriers, or 0
uint32_t agent_phases(const Cta *c, uint32_t offset);  // complete ones of the mbarrier there; 0: none, or not known
ExecResult agent_mbarrier_init(Warp *w, const Instr *in, int lane, SharedPlace bar);
ExecResult agent_mbarrier_inval(Warp *w, const Instr *in, int lane, SharedPlace bar);
ExecResult agent_mbarrier_touch(Warp *w, const Instr *in, int lane, SharedPlace bar, bool flipped);
ExecResult agent_mbarrier_arrive(Warp *w, const Instr *in, int lane, SharedPlace bar, bool flipped);
ExecResult agent_mbarrier_waited(Warp *w, const Instr *in, int lane, SharedPlace bar);
ExecResult agent_bytes_complete(AsyncOp *op, SharedPlace bar, bool flipped);

ExecResult agent_copy_issue(AsyncOp *op);
void agent_copy_waited(Warp *w, uint32_t mask,
                       uint32_t keep);   // all but the last `keep` groups; UINT32_MAX: everything
void agent_arrive_issue(AsyncOp *op);
void agent_arrive_acquire(AsyncOp *op);                           // before the arrival that stands for earlier copies
ExecResult agent_bulk_issue(AsyncOp *op);
ExecResult agent_store_issue(AsyncOp *op);
void agent_bulk_waited(Warp *w, int lane, uint32_t keep);   // with .read, too
void agent_wgmma_issue(Warp *w, AsyncOp *op);
ExecResult agent_wgmma_reads(Warp *w, AsyncOp *op, uint32_t offset, uint32_t bytes);
void agent_wgmma_waited(Warp *w, uint32_t below_group);

// ---- shadow_proxy.c
void proxy_grid_begin(Grid *g);                       // hooks.c calls it when the grid has bulk copies
void proxy_grid_end(Grid *g);
void proxy_cta_end(Cta *c);
ExecResult proxy_access(Warp *w, const Instr *in, const MemAccess *a);   // an ordinary access
ExecResult proxy_fence(Warp *w, const Instr *in, uint32_t mask);
uint32_t proxy_store_begin(AsyncOp *op);              // the serial number of a bulk store
// Global bytes that a bulk operation will read, or write as store `serial`.
ExecResult proxy_async_read(Warp *w, const Instr *in, int lane, const Alloc *a, uint64_t addr, uint32_t bytes);
ExecResult proxy_async_write(Warp *w, const Instr *in, int lane, Alloc *a, uint64_t addr, uint32_t bytes,
                             uint32_t serial);
void proxy_bulk_waited(Warp *w, int lane, uint32_t keep);
ExecResult proxy_map_use(Warp *w, const Instr *in, int lane, const Alloc *a, uint64_t addr);
ExecResult proxy_map_released(Warp *w, const Instr *in, int lane, Alloc *a,
                              uint64_t addr);   // by tensormap.cp_fenceproxy

// ---- shadow_blocks.c: races in global memory
void blocks_grid_begin(Grid *g);
void blocks_grid_end(Grid *g);
void blocks_cluster_end(Cluster *c);
ExecResult blocks_access(Warp *w, const Instr *in, const MemAccess *a);
void blocks_fence(Warp *w, const Instr *in);
// Global bytes that a bulk operation will read or write; is_atomic: it is a reduction.
ExecResult blocks_bulk(Warp *w, const Instr *in, int lane, Alloc *a, uint64_t addr, uint32_t bytes, bool writes,
                       bool is_atomic);

// ---- shadow_undef.c
ExecResult undef_step(Warp *w, const Instr *in, uint32_t mask);
// The lanes whose source an instruction reads: a cp.async of no bytes reads none (exec_copy.c).
uint32_t copy_lanes_that_read(const Warp *w, const Instr *in, uint32_t mask);
ExecResult undef_access(Warp *w, const Instr *in, const MemAccess *a);
void undef_grid_begin(Grid *g);
ExecResult undef_map_use(Warp *w, const Instr *in, int lane, const Alloc *a, uint64_t addr);
void undef_copy_landed(AsyncOp *op, uint32_t mask);
void undef_bulk_landed(AsyncOp *op, SharedPlace dst, uint64_t global, uint32_t bytes);
ExecResult undef_bulk_stored(AsyncOp *op, uint64_t global, SharedPlace src, uint32_t bytes);
uint32_t undef_lanes_of(const Warp *w, const PtxOperand *o, uint32_t mask);   // lanes in which it has undefined bits
void undef_clear(Warp *w, const PtxOperand *o, uint32_t mask);                // they are defined from now on
// ---- shadow_matrix.c
void undef_mma(Warp *w, const Instr *in, const MmaSpec *s);
void undef_ldmatrix(Warp *w, const Instr *in, const MemAccess *a, unsigned count, bool trans);
void undef_stmatrix(Warp *w, const Instr *in, const MemAccess *a, unsigned count, bool trans);
void undef_wgmma_result(AsyncOp *op);
// shadow_regs.c: checks an ordinary instruction against the registers of wgmma in flight, and records writes that a
// wgmma.fence must cover.
ExecResult regs_step(Warp *w, const Instr *in, uint32_t mask);

#endif
