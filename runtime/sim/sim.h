// The simulated machine: every struct on one page.
//
// A launch (grid.c) is a Grid of Clusters of CTAs of Warps. A warp (warp.c) executes one instruction of the PtxModule
// (ptx.h) for all active lanes at once: a handler (ExecFn) loops over the lanes of a mask. What follows from the text
// alone is decided at load time by the DecodeFn that ptx_ops.def names.
//
// Registers: 64-bit slots [slot][lane]; a narrower value is zero-extended to 64 bits. A predicate is a 32-bit lane
// mask. An immediate is 32 equal lanes: a source operand is always a row of 32 slots.
//
// Address spaces: global, const and entry parameters are host memory; a device address is the host address, checked
// against the allocation table. A shared address is (rank in cluster) << 24 | offset. Offsets start at SHARED_BASE,
// as on the hardware, and a null shared pointer is out of bounds. Generic = SHARED_WINDOW + shared address. A local
// address is an offset in the thread's local memory; generic = LOCAL_WINDOW + local address.
#ifndef TILE_RUNTIME_SIM_SIM_H
#define TILE_RUNTIME_SIM_SIM_H

#include <stdio.h>

#include "runtime/rt/line_counts.h"
#include "runtime/sim/ptx.h"

enum {
  WARP_SIZE = 32,
  SHARED_BASE = 1024,          // first byte a kernel can own; below it is the system's, as on sm_90
  SHARED_RANK_SHIFT = 24,
  NUM_BARRIERS = 16,
  MAX_CLUSTER = 16,
};
#define SHARED_WINDOW UINT64_C(0x0000007000000000)
#define LOCAL_WINDOW UINT64_C(0x0000007800000000)
#define WINDOW_SIZE UINT64_C(0x0000000100000000)
#define FULL_MASK 0xffffffffu

typedef struct Sim Sim;
typedef struct Grid Grid;
typedef struct Cluster Cluster;
typedef struct Cta Cta;

// ------------------------------------------------------------------------------------------------------- memory

typedef enum {
  ALLOC_DEVICE,
  ALLOC_HEAP,
  ALLOC_HOST,
  ALLOC_MODULE,
  ALLOC_CONST,
  ALLOC_PARAM
} AllocKind;   // HEAP: a kernel's malloc
typedef struct Alloc {
  uint64_t base, size;
  AllocKind kind;
  uint8_t *shadow;   // device memory whose definedness is tracked: the defined bits of each byte (shadow_undef.c)
  struct GlobalMark *marks;    // who wrote each 16 bytes last and through which proxy (shadow_proxy.c)
  void **pages;                // which blocks and warps of the launch accessed it (shadow_blocks.c)
} Alloc;

struct Device {
  Sim *sim;
  int ordinal;
  const char *name;
  int cc_major, cc_minor, num_sms;
  uint64_t total_mem, used_mem;
  int shared_optin, shared_per_sm;
  Alloc **allocs;              // ascending by base
  uint32_t num_allocs, cap_allocs;
  uint64_t region, region_size;   // the reservation of address space
  uint64_t brk;                // next free address in it
};
void blocks_forget(Alloc *a);  // frees its pages
// 0 when out of memory.
uint64_t device_alloc(Device *d, uint64_t size, uint64_t align, AllocKind kind);
bool device_free(Device *d, uint64_t addr);
void device_free_all(Device *d);   // what the program allocated; modules keep their variables
Alloc *device_find(Device *d, uint64_t addr);   // the allocation that contains addr, or NULL
Alloc *device_nearest(Device *d, uint64_t addr);   // for messages
void device_release(Device *d);

// ------------------------------------------------------------------------------------------------------ execution

typedef struct { uint32_t pc, base, pbase, local; const Instr *call; } CallFrame;

typedef enum { WARP_RUN, WARP_STUCK, WARP_WAIT, WARP_BARRIER, WARP_DONE, WARP_STATES } WarpState;

struct Warp {
  Cta *cta;
  Grid *grid;
  uint32_t id;                 // in the CTA
  WarpState state;
  uint32_t exist, exited;      // lanes
  uint32_t active;             // lanes running at pc; the others are parked at lane_pc
  uint32_t stalled;            // lanes at a warp-synchronous instruction that await others
  uint32_t waiting;            // lanes that got EXEC_WAIT since the scheduler last polled
  uint32_t in_barrier;         // lanes blocked in bar.sync / barrier.cluster.wait
  uint32_t pc;                 // of the active lanes
  uint32_t meet;               // lowest pc among parked runnable lanes: reaching it means regrouping
  uint32_t depth;              // call depth of the active lanes
  uint32_t burst;              // backward branches since the last regrouping
  uint64_t *r;                 // registers of the active lanes' frame
  uint32_t *p;                 // predicates of that frame
  uint32_t base, pbase;        // r == regs + base*32, p == preds + pbase
  uint64_t *regs;
  uint32_t *preds;
  uint32_t cap_slots, cap_preds;
  uint32_t lane_pc[WARP_SIZE], lane_depth[WARP_SIZE], lane_base[WARP_SIZE], lane_pbase[WARP_SIZE];
  uint32_t lane_local[WARP_SIZE];      // start of the frame in local memory
  uint32_t retry;                      // lanes exited since stalled lanes were last tried
  uint32_t carry;                      // condition code CC.CF per lane
  CallFrame *stack[WARP_SIZE];
  uint32_t cap_stack[WARP_SIZE];
  uint8_t *local[WARP_SIZE];           // local memory, grown on use
  uint32_t cap_local[WARP_SIZE];
  uint8_t lane_barrier[WARP_SIZE];     // of lanes in in_barrier
  const Instr *lane_barrier_instr[WARP_SIZE];
  uint32_t cluster_arrived;            // lanes between barrier.cluster.arrive and .wait
  uint32_t cluster_epoch[WARP_SIZE];   // of the cluster barrier at their arrival
  uint32_t cp_group[WARP_SIZE];        // cp.async groups committed so far
  uint32_t bulk_group[WARP_SIZE];
  uint32_t maxnreg;                    // setmaxnreg's current count
  uint32_t setmaxnreg_count;           // how many it has executed, and the last one
  const Instr *setmaxnreg_last;
  uint32_t waited[32];                 // the last waits: twice an mbarrier's offset, and the phase's parity
  uint64_t polls;                      // failed polls since grid->progress last moved
  uint64_t polls_at;                   // grid->progress when polls was last counted
  uint64_t steps;
  uint64_t ran_at;                     // grid->steps when it last had a turn
  struct Endless *endless;             // endless.c's state, of a warp that has run long
  bool yield, counted;         // leave the quantum; counted in Cta.warps_done
  // Definedness, NULL when not checked: undef[slot][lane] has a 1 for each undefined bit; undef_lanes[slot] has a 1
  // for each lane with an undefined bit; pred_undef[predicate] is a lane mask. They grow with regs and preds.
  uint64_t *undef;
  uint32_t *undef_lanes, *pred_undef;
  uint8_t *local_undef[WARP_SIZE];     // shaped as local: the undefined bits of each byte
  void *async;                         // async.c's per-warp state (wgmma groups)
  void *shadow;                        // shadow.c's per-warp state (clocks)
  uint32_t *accesses;                  // how often it executed each instruction, by Instr.access; 0: all others
  uint64_t scratch[2][WARP_SIZE];      // destination of `_`
};

typedef struct ThreadBarrier {
  uint32_t arrived, expected;  // threads; expected 0: all threads of the CTA that have not exited
  uint32_t epoch;              // completed phases
  uint32_t pred_and, pred_or, pred_count;   // barrier.red
} ThreadBarrier;

struct Cta {
  Grid *grid;
  Cluster *cluster;
  uint32_t rank;               // in the cluster
  uint32_t ctaid[3];
  uint64_t linear;             // ctaid as one number
  uint32_t sm;
  uint8_t *shared;             // shared[offset - SHARED_BASE]
  uint32_t shared_size;
  Warp *warps;
  const Instr *repeated_wait;  // the last one for a phase of an mbarrier that its warp had waited for before
  uint32_t num_warps, num_threads;
  uint32_t warps_done;
  ThreadBarrier bars[NUM_BARRIERS];
  int32_t reg_pool;            // registers setmaxnreg may still hand out
  void *shadow;                // NULL at the start; its owner frees it in cta_end or grid_end
};

struct Cluster {
  Grid *grid;
  uint32_t num_ctas;
  uint32_t dim[3], id[3];
  Cta **ctas;
  ThreadBarrier bar;
  Cluster *next;               // resident list
  void *async, *shadow;
};

typedef enum {
  REPORT_OUT_OF_BOUNDS, REPORT_MISALIGNED, REPORT_DEADLOCK, REPORT_DIVERGENT, REPORT_RACE, REPORT_UNDEFINED,
  REPORT_ASYNC, REPORT_PROXY, REPORT_MBARRIER, REPORT_ASSERT, REPORT_TRAP, REPORT_LIMIT, REPORT_INVALID,
  REPORT_FILE, REPORT_COUNT
} ReportKind;
// Records a report (kernel, CTA, thread, PTX line with its text, source line) and stops the grid. lane -1: the whole
// warp; w or in may be NULL. Returns EXEC_FAULT.
ExecResult sim_report(Grid *g, Warp *w, const Instr *in, int lane, ReportKind kind, const char *fmt, ...)
    PRINTF_LIKE(6, 7);

// Fills in what is known of the instruction's place in the user's source. Returns false if it has none, or if libtile
// did not compile the kernel. Where several accesses share a place and differ, neither's details are known.
bool report_note(const Grid *g, const Instr *in, PlaceNote *out);
// Puts an error at that place before the report that sim_report makes next, with a note on the way out unless it is
// NULL. Without it sim_report takes the report's first line as the error, at its instruction's place.
void report_lead(Grid *g, const PlaceNote *place, const char *text, const char *way_out);
// Adds to that error where the number of its element comes from.
void report_lead_sum(Grid *g, const char *sum);
// Adds a note at another place to that error. Only the first one counts.
void report_lead_note(Grid *g, const PlaceNote *place, const char *text);
// Keeps a warning for the host, with a note at another place unless that is NULL or the same one, and a way out unless
// that is NULL.
void report_warning(Grid *g, const PlaceNote *place, const char *text, const PlaceNote *other, const char *other_text,
                    const char *way_out);
void report_program(const Cta *c, uint32_t program[3]);   // the kernel's program that the block runs
const char *report_program_name(Arena *a, const uint32_t program[3]);   // "program (3, 0, 0)"
const char *report_program_of(Arena *a, const Cta *c);
const char *report_kind_name(ReportKind kind);   // "deadlock"
bool report_same_place(const PlaceNote *a, const PlaceNote *b);
extern const char report_zero_step[];   // the way out of a loop with a step of 0
extern const char report_promised[];   // why an access takes several elements at once
// The PTX line, the source position and its line with a caret.
void report_place(FILE *f, const PtxModule *m, const Instr *in, int indent);
// The file and line of the innermost inlined position in a file of the user, or NULL and 0. The prelude's file names
// begin with `<`.
const char *report_user_line(const PtxModule *m, const Instr *in, uint32_t *line);

typedef struct MemAccess MemAccess;
// What asynchronous machinery and checkers hook into the executor; any may be NULL. Filled by hooks_install.
typedef struct SimHooks {
  void (*grid_begin)(Grid *g);
  void (*grid_end)(Grid *g);
  void (*cta_begin)(Cta *c);                 // after shared memory and warps exist
  void (*cta_end)(Cta *c);                   // all warps have exited
  void (*cluster_end)(Cluster *c);           // all CTAs have ended; last chance to complete and to complain
  // Before each instruction's handler (only when the grid checks definedness).
  ExecResult (*step)(Warp *w, const Instr *in, uint32_t mask);
  ExecResult (*access)(Warp *w, const Instr *in, const MemAccess *a);
  void (*barrier)(Cta *c, uint32_t id, bool complete, Warp *w, uint32_t mask);   // arrival, and completion (w NULL)
  void (*cluster_barrier)(Cluster *c, bool complete, Warp *w, uint32_t mask);
  void (*warp_sync)(Warp *w, uint32_t mask);                                     // bar.warp.sync, shfl.sync, …
  ExecResult (*fence)(Warp *w, const Instr *in, uint32_t mask);
  ExecResult (*lanes_exit)(Warp *w, const Instr *in, uint32_t mask);
  // Performs pending asynchronous operations of the cluster. force: performs at least one if it can, because all
  // warps wait. Returns whether anything changed.
  bool (*async_advance)(Cluster *c, bool force);
  // Describes pending operations for a deadlock report.
  const char *(*describe)(Cluster *c, Arena *a);
} SimHooks;
void hooks_install(Grid *g, SimHooks *h);   // hooks.c

enum { CHECK_RACES = 1, CHECK_UNDEF = 2, CHECK_ASYNC = 4, CHECK_BLOCKS = 8, CHECK_NUMBERS = 16, CHECK_ALL = 31 };

typedef struct LaunchParams {
  PtxFunction *func;
  uint32_t grid[3], block[3], cluster[3];
  uint32_t dynamic_shared;
  bool cooperative;
  const uint8_t *params;       // param_bytes of the function
} LaunchParams;

#define GRID_STOPPED CUDA_ERROR_NOT_READY

struct Grid {
  Sim *sim;
  Device *device;
  PtxModule *module;
  PtxFunction *func;
  LaunchParams launch;
  uint64_t param_addr;         // the parameter block, an ALLOC_PARAM allocation
  uint64_t workspace;          // cooperative launch: {size, barrier word}, which %envreg1 and %envreg2 point at
  uint64_t num_ctas, next_cta;
  uint32_t shared_size;        // static + dynamic
  uint32_t dynamic_offset;     // where dynamic shared memory starts, from SHARED_BASE
  Cluster *resident;           // list
  Cluster *pool;               // finished, to be used again
  uint32_t num_resident, max_resident;   // clusters
  uint64_t rng;
  uint64_t seed;
  uint32_t policy;             // of the scheduler, by seed
  uint64_t progress;           // incremented when state changes that a poll could see
  uint64_t meetings;           // barriers completed: what progress counts that changes no memory
  uint64_t quiet_from, quiet_changes;   // steps when progress was last seen to count anything but meetings; the rest
  uint64_t steps;              // warp instructions
  uint64_t lane_steps;         // thread instructions
  uint64_t max_steps;
  // For reports: the last division by zero or by an undefined value, load of shared memory that nothing had written,
  // and mbarrier.inval.
  const Instr *by_zero, *unwritten, *invalidated;
  const Cta *invalidated_cta;
  uint32_t invalidated_at;     // its offset in shared memory
  const char *way_out;         // of the report that is being made, if who makes it knows one
  const Instr *ended;          // the mbarrier.inval that is its cause, or NULL
  const Instr *other;          // the other access of a race, for its report
  bool probes;                 // warps run on only to tell what they would access (whole.c)
  bool has_lead;               // sim->fault leads the report
  CUresult failed;             // CUDA_SUCCESS while all is well; GRID_STOPPED: the host wanted it to end
  uint64_t asked_at;           // steps when the host was last asked
  uint32_t checks;             // CHECK_*
  SimHooks hooks;
  struct Numbers *numbers;     // numbers.c's; NULL: nothing is said of numbers
  struct FreshLoad *fresh;     // by Instr.access: what it loaded last that nothing has written (undef_origin.c); or NULL
  struct LastChanges *last_changes;   // by atomic operations (last_change.c)
  Alloc *last_alloc;           // cache of device_find
  void *trace;
  void *counts;                // counts.c's; NULL: nothing is counted
  void *shadow;
};
static inline void warp_thread_index(const Warp *w, int lane, uint32_t tid[3]) {
  const uint32_t *b = w->grid->launch.block;
  uint32_t lin = w->id * WARP_SIZE + (uint32_t)lane;
  tid[0] = lin % b[0];
  tid[1] = lin / b[0] % b[1];
  tid[2] = lin / (b[0] * b[1]);
}
static inline uint32_t rng_next(uint64_t *s) {   // splitmix64, upper half
  uint64_t z = (*s += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (uint32_t)((z ^ (z >> 31)) >> 32);
}

// The driver's calls for definedness: fresh memory is undefined; the host's copies and fills define it
// (shadow_undef.c).
void undef_track_memory(Device *d, uint64_t addr);
void undef_memory_copied(Device *d, uint64_t to, uint64_t from,
                         uint64_t size);   // from: any address, host memory counts as defined

// The simulated machine. The driver has one per process (driver.c); unit tests make their own.
struct Sim {
  Arena arena;
  Device *devices;
  int num_devices;
  uint64_t seed;
  uint32_t num_seeds;
  uint64_t seed_step;          // added to seed after each launch
  uint32_t checks;
  uint64_t max_steps;
  uint64_t approx;             // moves approximate results within their bounds, each by this seed; 0: none
  const char *trace_path;
  char refused[256];           // a variable of the environment that makes no sense, and why; "": all do
  char *report;                // of the last failure; "" when none
  ReportKind report_kind;
  KernelFault fault;           // the same as an error with a place; its file is "" if it has none
  KernelFault *warnings;       // that the host has not been told of
  uint32_t num_warnings;
  bool counts_launches;        // counts.c
  LaunchCounts *launch_counts; // of the last launch that was counted, in counts_arena; or NULL
  Arena counts_arena;
  uint32_t proxy_clock;        // counts launches and fences between proxies (shadow_proxy.c)
  void (*print)(void *user, const char *text, size_t n);   // device printf; NULL: stdout
  void *print_user;
  // Asked while a launch runs: true ends it. NULL: nobody is.
  bool (*should_stop)(void *user);
  void *stop_user;
};
void sim_init(Sim *sim);       // options from the environment
void sim_free(Sim *sim);

// ---- trace.c: no-ops unless TILE_SIM_TRACE names a file; trace_open returns false if the file cannot be written
enum { TRACE_ENGINES = 1000, TRACE_NUM_ENGINES = 5 };                // the first track that is not a warp's
bool trace_open(Grid *g);
void trace_cta(Cta *c);
// A slice of the trace; times are in warp instructions. Its name is `what`, unless NULL, and the source line of `in`.
void trace_span(Cta *c, uint32_t track, const char *what, const Instr *in, uint64_t from, uint64_t to);
// Adds the slices of a warp that has run the instructions from number `from` to g->steps, one for each source line.
typedef struct { const char *file; uint32_t line; const Instr *in; uint64_t from; } TraceLine;
void trace_step(Warp *w, const Instr *in, uint64_t at, TraceLine *open);   // before the instruction with that number
void trace_step_end(Warp *w, uint64_t at, TraceLine *open);
void trace_close(Grid *g);

// ---- grid.c, sim.c, deadlock.c
CUresult grid_run(Sim *sim, Device *d, const LaunchParams *lp);
int sim_occupancy(const Device *d, const PtxFunction *f, uint32_t threads, uint64_t dynamic_shared);   // CTAs per SM
void deadlock_report(Grid *g, const char *what);   // what: in words

#endif
