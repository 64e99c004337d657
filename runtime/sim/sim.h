// The simulator's internal header: every struct on one page.
//
// PTX text → Module (parse.c, decode.c) → Grid → Cluster → Cta → Warp, run by exec.c. One instruction executes for all
// active lanes of a warp at once: a handler (ExecFn) loops over the lanes of a mask. Everything that can be decided from
// the text is decided once, at load time, by the instruction family's DecodeFn (ptx_ops.def).
//
// Registers: 64-bit slots [slot][lane]; a value narrower than its slot is kept zero-extended to 64 bits. Predicates live
// apart, one 32-bit lane mask each. Immediates are 32 equal lanes, so that a source operand is always a row of 32 slots.
//
// Address spaces: global, const and entry parameters are host memory, and a device address is the host address (checked
// against the allocation table). A shared address is (rank in cluster) << 24 | offset, offsets start at SHARED_BASE as on
// the hardware, so that a null shared pointer is out of bounds; generic = SHARED_WINDOW + shared address. A local address is
// an offset in the thread's local memory; generic = LOCAL_WINDOW + it.
#ifndef TILE_RUNTIME_SIM_SIM_H
#define TILE_RUNTIME_SIM_SIM_H

#include <stdio.h>

#include "ir/arena.h"
#include "runtime/rt/cuda_types.h"

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
typedef struct Device Device;
typedef struct PtxModule PtxModule;
typedef struct PtxFunction PtxFunction;
typedef struct Instr Instr;
typedef struct PtxParser PtxParser;
typedef struct Grid Grid;
typedef struct Cluster Cluster;
typedef struct Cta Cta;
typedef struct Warp Warp;

// ---------------------------------------------------------------------------------------------- types and modifiers

typedef enum {
  T_NONE, T_PRED,
  T_B1, T_B4, T_U4, T_S4,
  T_B8, T_U8, T_S8, T_B16, T_U16, T_S16, T_B32, T_U32, T_S32, T_B64, T_U64, T_S64, T_B128,
  T_F16, T_F16X2, T_BF16, T_BF16X2, T_F32, T_F32X2, T_F64, T_TF32,
  T_E4M3, T_E5M2, T_E4M3X2, T_E5M2X2, T_S8X4, T_U8X4, T_S16X2, T_U16X2, T_COUNT
} PtxType;
typedef enum { CLASS_NONE, CLASS_PRED, CLASS_BITS, CLASS_UINT, CLASS_SINT, CLASS_FLOAT } TypeClass;
typedef struct { const char *name; uint8_t bits; uint8_t cls; } TypeInfo;
extern const TypeInfo ptx_types[T_COUNT];

typedef enum {
#define PTX_MOD(id, text) M_##id,
#include "runtime/sim/ptx_mods.def"
#undef PTX_MOD
  M_COUNT
} PtxMod;
enum { MOD_WORDS = (M_COUNT + 63) / 64 };

typedef enum {
#define PTX_OP(mnemonic, decode, flags) OP_##mnemonic,
#include "runtime/sim/ptx_ops.def"
#undef PTX_OP
  OP_COUNT
} PtxOp;

// Flags of an op row. SHADOW_* say how undefined bits travel from sources to destination (see shadow.c).
enum {
  OPF_NONE = 0,
  OPF_NO_DST = 1 << 0,         // operand 0 is a source (stores, branches, barriers)
  OPF_SYNC = 1 << 1,           // warp-synchronous: its lanes must meet
  OPF_RAW_SYMS = 1 << 2,       // the family resolves symbol and special-register operands itself
  OPF_BITWISE = 1 << 4,        // definedness: per bit
  OPF_MOVE = 1 << 5,           // definedness: copied
  OPF_CARRY = 1 << 6,          // definedness: spreads from the lowest undefined bit upwards
  OPF_SHIFT = 1 << 7,          // definedness: shifted as the value
  OPF_OWN_SHADOW = 1 << 8,     // the handler or a memory hook sets the destination's definedness
};

// ------------------------------------------------------------------------------------------------------- module

typedef enum {
  SPACE_GENERIC, SPACE_GLOBAL, SPACE_SHARED, SPACE_SHARED_CLUSTER, SPACE_LOCAL, SPACE_CONST,
  SPACE_PARAM,                 // an entry's parameters: host memory
  SPACE_FRAME,                 // .param of a call or of a device function: the thread's local memory
} Space;

typedef struct SrcLoc SrcLoc;
struct SrcLoc { uint32_t file, line, col; const SrcLoc *inlined_at; };

typedef enum { SYM_VAR, SYM_REG, SYM_PRED, SYM_LABEL, SYM_FUNC, SYM_TARGETS } SymKind;
typedef struct Symbol Symbol;
struct Symbol {
  const char *name;
  SymKind kind;
  Space space;                 // SYM_VAR
  PtxType type;                // element or register type
  uint64_t size;               // bytes, SYM_VAR; 0 for `.extern .shared x[]`
  uint32_t align;
  uint64_t addr;               // host address (global, const); offset in frame, parameter block; label: instruction index
  uint32_t slot;               // SYM_REG, SYM_PRED: first slot; SYM_VAR shared: index in Module.shared_syms
  uint32_t range;              // SYM_REG, SYM_PRED declared as name<range>; else 0
  bool is_extern, is_const_init;
  PtxFunction *func;              // SYM_FUNC
  struct { uint32_t *pcs; const char **names; uint32_t count; } targets;  // SYM_TARGETS
  struct Initializer *init;
  uint32_t line;
  struct PtxScope *scope;
  Symbol *next_in_bucket;
};

typedef enum {
  OPND_NONE, OPND_SINK,        // `_`
  OPND_REG, OPND_PRED, OPND_IMM,
  OPND_SREG,                   // special register (slot: SpecialReg); only mov sees it
  OPND_SYM,                    // address of sym + offset; only mov sees it
  OPND_MEM,                    // [base + offset], base by base_kind; sub: further bracket elements (tensor coordinates)
  OPND_VEC,                    // {sub[0], …}
  OPND_LABEL,                  // sym: label, function or target table
} OperandKind;
typedef struct PtxOperand PtxOperand;
struct PtxOperand {
  uint8_t kind;
  uint8_t bits;                // width of the register or element
  uint8_t base_kind;           // OPND_MEM: OPND_REG, OPND_SYM or OPND_IMM (absolute)
  bool negated;                // !p
  uint8_t float_bytes;         // OPND_IMM written as a floating-point literal: 4 or 8
  uint32_t slot;               // register slot, predicate index, special register
  uint32_t count;              // of sub
  const uint64_t *lanes;       // OPND_IMM: 32 equal values (offset keeps the value)
  Symbol *sym;
  int64_t offset;              // OPND_MEM, OPND_SYM
  PtxOperand *sub;
  PtxOperand *pair;               // second of `p|q`
};

typedef enum {
  EXEC_NEXT,                   // done; lanes go to the following instruction
  EXEC_STALL,                  // these lanes cannot go on yet: they stay here until others of the warp arrive or state changes
  EXEC_WAIT,                   // as STALL, but what they wait for lies outside the warp; polled by the scheduler
  EXEC_JUMP,                   // the handler has set pc (and frame) of the active lanes
  EXEC_FAULT,                  // a report has been made; the grid stops
} ExecResult;
typedef ExecResult (*ExecFn)(Warp *w, const Instr *in, uint32_t mask);
// Checks modifiers and operands, sets in->exec. On error reports through ptx_error and returns false.
typedef bool (*DecodeFn)(PtxParser *p, Instr *in);

enum { RND_NONE, RND_RN, RND_RZ, RND_RM, RND_RP, RND_RNA, RND_RS };
enum { CMP_EQ, CMP_NE, CMP_LT, CMP_LE, CMP_GT, CMP_GE, CMP_NUM, CMP_NAN };  // | CMP_UNORDERED
enum { CMP_UNORDERED = 8 };
enum { BOOL_NONE, BOOL_AND, BOOL_OR, BOOL_XOR };

struct Instr {
  ExecFn exec;
  uint16_t op;                 // PtxOp
  uint16_t num_ops;
  int32_t guard;               // predicate index or -1
  bool guard_negated;
  bool ftz, sat, rint;         // rint: .rni .rzi .rmi .rpi
  uint8_t rnd;                 // RND_*; RND_NONE when not written
  uint8_t num_types;
  uint8_t type[5];             // PtxType, in the order written
  uint8_t space;               // Space of a memory access; GENERIC when not written
  uint8_t vec;                 // 1, 2, 4, 8
  uint8_t cmp, boolop;
  uint16_t sel;                // family's own small decision
  uint8_t num_mods;
  uint16_t m, n, k;            // .mMnNkK
  uint32_t target;             // branch target, instruction index
  uint64_t modset[MOD_WORDS];  // which modifiers are written
  uint16_t *mods;              // in the order written (PtxMod)
  PtxOperand *ops;
  void *aux;                   // family's own decoded data
  const SrcLoc *loc;
  uint32_t line;               // of the PTX text
  PtxFunction *func;
};
static inline bool has_mod(const Instr *in, PtxMod m) { return in->modset[m / 64] >> (m % 64) & 1; }

struct PtxFunction {
  const char *name;
  PtxModule *module;
  bool is_entry, is_defined;
  Symbol **params, **rets;     // formal parameters; space PARAM (entry) or FRAME, or SYM_REG in the old style
  uint32_t num_params, num_rets;
  uint32_t param_bytes;        // entry: size of the parameter block
  uint32_t frame_bytes;        // .local and .param of one activation, per thread
  uint32_t num_slots, num_preds;
  uint32_t first, end;         // instructions [first, end)
  uint32_t reqntid[3], maxntid[3], reqcluster[3], maxnreg, min_ctas, max_cluster_rank;  // 0: not given
  bool explicit_cluster, nonportable_cluster;
  uint32_t *shared_offset;     // entry: by Module.shared_syms index; UINT32_MAX when the kernel does not use it
  uint32_t static_shared;      // entry: bytes, without SHARED_BASE
  uint32_t dynamic_align;
  int32_t max_dynamic_shared;  // function attribute; default 48 KB less static
  VEC(uint32_t) shared_used;   // shared_syms named by this function's own code
  VEC(PtxFunction *) callees;     // called, or address taken
  bool mark;                   // while walking the call graph
};

typedef VEC(Symbol *) SymbolVec;
struct PtxModule {
  Arena arena;
  Device *device;
  const char *text;            // NUL-terminated copy
  size_t text_size;
  const uint32_t *line_starts;
  uint32_t num_lines;
  uint32_t version, sm;        // 83, 90
  bool arch_specific;          // sm_90a
  Instr *code;                 // all functions, one after another; closed by OP_exit
  uint32_t num_code;
  VEC(PtxFunction *) funcs;
  SymbolVec globals;           // .global and .const
  SymbolVec shared_syms;
  VEC(const char *) files;     // by .file number
  const char *error;           // what is wrong with the text, or NULL
  CUresult error_code;
  struct CUmod_st *handle;     // the driver's, which owns this module
};

// ------------------------------------------------------------------------------------------------------- memory

typedef enum { ALLOC_DEVICE, ALLOC_HEAP, ALLOC_HOST, ALLOC_MODULE, ALLOC_CONST, ALLOC_PARAM } AllocKind;   // HEAP: a kernel's malloc
typedef struct Alloc {
  uint64_t base, size;
  AllocKind kind;
  uint32_t serial;             // nth allocation, for reports
  uint8_t *shadow;             // device memory whose definedness is tracked: the defined bits of each byte (shadow_undef.c)
  struct GlobalMark *marks;    // who wrote each 16 bytes last and through which proxy (shadow_proxy.c)
} Alloc;

struct Device {
  Sim *sim;
  int ordinal;
  const char *name;
  int cc_major, cc_minor, num_sms;
  uint64_t total_mem, used_mem;
  int shared_optin, shared_per_sm;
  Alloc **allocs;              // ascending by base
  uint32_t num_allocs, cap_allocs, next_serial;
  uint64_t region, region_size;   // the reservation of address space
  uint64_t brk;                // next free address in it
};
// 0 when out of memory.
uint64_t device_alloc(Device *d, uint64_t size, uint64_t align, AllocKind kind);
bool device_free(Device *d, uint64_t addr);
Alloc *device_find(Device *d, uint64_t addr);   // the allocation that contains addr, or NULL
Alloc *device_nearest(Device *d, uint64_t addr);   // for messages
void device_release(Device *d);

// ------------------------------------------------------------------------------------------------------ execution

typedef struct { uint32_t pc, base, pbase, local; const Instr *call; } CallFrame;

typedef enum { WARP_RUN, WARP_STUCK, WARP_WAIT, WARP_BARRIER, WARP_DONE } WarpState;

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
  uint64_t polls;                      // failed polls since grid->progress last moved
  uint64_t polls_at;                   // grid->progress when polls was last counted
  uint64_t steps;
  bool yield, counted;         // leave the quantum; counted in Cta.warps_done
  // Definedness, NULL when not checked: undef[slot][lane] has a 1 for each undefined bit; undef_lanes[slot] says which
  // lanes have any (the quick test); pred_undef[predicate] is a lane mask. Shaped and moved as regs and preds.
  uint64_t *undef;
  uint32_t *undef_lanes, *pred_undef;
  uint8_t *local_undef[WARP_SIZE];     // shaped as local: the undefined bits of each byte
  void *async;                         // async.c's per-warp state (wgmma groups)
  void *shadow;                        // shadow.c's per-warp state (clocks)
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
  uint32_t num_warps, num_threads;
  uint32_t warps_done;
  ThreadBarrier bars[NUM_BARRIERS];
  uint32_t next_warp;          // round robin
  int32_t reg_pool;            // registers setmaxnreg may still hand out
  void *async, *shadow;        // NULL at the start; whoever hangs something here frees it in cta_end or grid_end
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
  REPORT_FILE,
} ReportKind;
// Records a report (kernel, CTA, thread, PTX line with its text, source line) and stops the grid. lane -1: the whole warp;
// w or in may be NULL. Returns EXEC_FAULT, so that a handler can return it.
ExecResult sim_report(Grid *g, Warp *w, const Instr *in, int lane, ReportKind kind, const char *fmt, ...) PRINTF_LIKE(6, 7);

void warp_thread_index(const Warp *w, int lane, uint32_t tid[3]);
const char *report_kind_name(ReportKind k);
void report_place(FILE *f, const PtxModule *m, const Instr *in);   // PTX line and source position

typedef enum { ACCESS_READ, ACCESS_WRITE, ACCESS_ATOMIC } AccessKind;
// One memory instruction of a warp, after checks and before it takes effect. host[lane] is where the bytes live.
typedef struct MemAccess {
  AccessKind kind;
  uint32_t mask;
  uint32_t size;               // bytes per lane, all vector elements together
  Space space[WARP_SIZE];      // resolved: GLOBAL, SHARED, LOCAL, CONST, PARAM (a generic access can mix)
  uint64_t addr[WARP_SIZE];    // global: address; shared: offset in cta[lane]->shared; local: offset
  Cta *cta[WARP_SIZE];         // shared: whose
  Alloc *alloc[WARP_SIZE];     // global
  uint8_t *host[WARP_SIZE];
} MemAccess;

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
  // Lets pending asynchronous work of the cluster take effect. force: something must, for all warps are waiting. True when
  // anything changed.
  bool (*async_advance)(Cluster *c, bool force);
  // Describes pending operations for a deadlock report.
  const char *(*describe)(Cluster *c, Arena *a);
} SimHooks;
void hooks_install(Grid *g, SimHooks *h);   // hooks.c

enum { CHECK_RACES = 1, CHECK_UNDEF = 2, CHECK_ASYNC = 4 };

typedef struct LaunchParams {
  PtxFunction *func;
  uint32_t grid[3], block[3], cluster[3];
  uint32_t dynamic_shared;
  bool cooperative;
  const uint8_t *params;       // param_bytes of the function
} LaunchParams;

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
  uint64_t progress;           // moves when state changes that a poll could see
  uint64_t steps;              // warp instructions
  uint64_t lane_steps;         // thread instructions
  uint64_t max_steps;
  CUresult failed;             // CUDA_SUCCESS while all is well
  uint32_t checks;             // CHECK_*
  SimHooks hooks;
  Alloc *last_alloc;           // cache of device_find
  void *trace;
  void *async, *shadow;
};
static inline uint32_t rng_next(uint64_t *s) {   // splitmix64, upper half
  uint64_t z = (*s += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (uint32_t)((z ^ (z >> 31)) >> 32);
}

// What the driver tells about definedness: fresh memory holds nothing; the host's copies and fills define it (shadow_undef.c).
void undef_track_memory(Device *d, uint64_t addr);
void undef_memory_copied(Device *d, uint64_t to, uint64_t from, uint64_t size);   // from: any address, host memory counts as defined

CUresult grid_run(Sim *sim, Device *d, const LaunchParams *lp);

// The simulated machine: one per process behind the driver table (driver.c), or as many as a unit test makes.
struct Sim {
  Arena arena;
  Device *devices;
  int num_devices;
  uint64_t seed;
  uint32_t num_seeds;
  uint64_t seed_step;          // added to seed after each launch
  uint32_t checks;
  uint64_t max_steps;
  const char *trace_path;
  char *report;                // of the last failure; "" when none
  ReportKind report_kind;
  uint64_t total_steps, total_lane_steps;
  uint64_t printf_count;
  uint32_t proxy_clock;        // counts launches and fences between proxies (shadow_proxy.c)
  void (*print)(void *user, const char *text, size_t n);   // device printf; NULL: stdout
  void *print_user;
};
void sim_init(Sim *sim);       // options from the environment
void sim_free(Sim *sim);

// ---- parse.c, decode.c
// Never NULL: module->error says what is wrong with the text, if anything. Allocates the module's globals on d.
PtxModule *ptx_module_load(Device *d, const char *text, size_t size);
void ptx_module_free(PtxModule *m);
PtxFunction *ptx_module_find(const PtxModule *m, const char *name);
bool ptx_error(PtxParser *p, uint32_t line, const char *fmt, ...) PRINTF_LIKE(3, 4);   // returns false
Arena *ptx_arena(PtxParser *p);
uint32_t ptx_new_slot(PtxParser *p);            // a fresh register slot of the current function
// Common decode checks; each reports and returns false when it fails.
bool decode_want_ops(PtxParser *p, Instr *in, uint32_t lo, uint32_t hi);
bool decode_want_kind(PtxParser *p, Instr *in, uint32_t i, OperandKind kind);
bool decode_want_type(PtxParser *p, Instr *in, uint32_t n);
bool decode_dst(PtxParser *p, Instr *in, uint32_t i);                        // register or `_`
bool decode_srcs(PtxParser *p, Instr *in, uint32_t from, uint32_t to);       // operands [from, to): registers or immediates
bool decode_preds(PtxParser *p, Instr *in, uint32_t from, uint32_t to);
bool decode_regs(PtxParser *p, Instr *in, uint32_t num_srcs);                // dst, sources, at least one type
bool decode_unknown(PtxParser *p, Instr *in);                               // "unknown instruction …"; a decode function that
                                                                          // returns false without a report says the same
const char *ptx_op_name(PtxOp op);
uint32_t ptx_op_flags(PtxOp op);
// Is operand 0 written? barrier.red has a result, the other barriers have none.
static inline bool instr_has_dst(const Instr *in) {
  return !(ptx_op_flags((PtxOp)in->op) & OPF_NO_DST) || ((in->op == OP_bar || in->op == OP_barrier) && in->sel);
}
ExecResult exec_nop(Warp *w, const Instr *in, uint32_t mask);

// ---- trace.c: no-ops unless TILE_SIM_TRACE names a file; trace_open is false when it cannot be written
enum { TRACE_ENGINES = 1000 };                // first track that is no warp
bool trace_open(Grid *g);
void trace_cta(Cta *c);
void trace_span(Cta *c, uint32_t track, const char *name, const Instr *in, uint64_t from, uint64_t to);   // in warp instructions
void trace_close(Grid *g);

// ---- exec.c
void warp_ensure_frame(Warp *w, uint32_t base, uint32_t slots, uint32_t pbase, uint32_t preds);
uint8_t *warp_local(Warp *w, const Instr *in, int lane, uint64_t addr, uint32_t size);   // NULL when outside the thread's local memory
void warp_save_group(Warp *w);                 // writes the active lanes' pc, depth and frame to lane_*
void warp_wake(Warp *w);                       // some of its lanes can go on
// Warp-synchronous instructions: EXEC_STALL until all live lanes that each lane's member mask names have come.
ExecResult warp_meet(Warp *w, const Instr *in, uint32_t mask, const uint64_t *members);
ExecResult exec_bar_warp(Warp *w, const Instr *in, uint32_t mask);
ExecResult exec_threads_exited(Warp *w, const Instr *in);
void exec_setmaxnreg_cta_end(Cta *c);                // every warp of a warpgroup must have executed each one
ExecResult builtin_call(Warp *w, const Instr *in, uint32_t mask, const char *name);   // printf, assertions: builtin.c
void warp_poll(Warp *w);                       // a poll failed: another warp should run
void deadlock_report(Grid *g);                 // deadlock.c
int sim_occupancy(const Device *d, const PtxFunction *f, uint32_t threads, uint64_t dynamic_shared);   // CTAs per SM
uint64_t sreg_value(Warp *w, uint32_t sreg, int lane);                  // sreg.c
int sreg_find(const char *name);                                  // -1 when there is none

// ---- exec_memory.c
// Addresses of a memory operand for the lanes of mask. space may be GENERIC. Checks bounds and alignment, resolves generic
// addresses, runs the access hook. On EXEC_FAULT nothing may be touched.
ExecResult mem_resolve(Warp *w, const Instr *in, const PtxOperand *op, Space space, uint32_t size, uint32_t align, AccessKind kind, uint32_t mask, MemAccess *out);
// The same for one address that does not come from an operand (bulk copies, tensor maps); lane is for the report.
ExecResult mem_resolve_one(Warp *w, const Instr *in, int lane, Space space, uint64_t addr, uint32_t size, uint32_t align, AccessKind kind, MemAccess *out);
uint64_t mem_operand_address(Warp *w, const PtxOperand *op, int lane);          // base + offset, unchecked

// ---- operands at run time
static inline const uint64_t *src_row(const Warp *w, const PtxOperand *op) {
  return op->kind == OPND_IMM ? op->lanes : w->r + (size_t)op->slot * WARP_SIZE;
}
static inline uint64_t *dst_row(Warp *w, const PtxOperand *op) {
  return op->kind == OPND_REG ? w->r + (size_t)op->slot * WARP_SIZE : w->scratch[0];
}
static inline uint32_t src_pred(const Warp *w, const PtxOperand *op) {      // lane mask; an immediate 0 or 1 is allowed
  uint32_t v = op->kind == OPND_PRED ? w->p[op->slot] : (op->lanes[0] ? FULL_MASK : 0);
  return op->negated ? ~v : v;
}
static inline void set_pred(Warp *w, const PtxOperand *op, uint32_t mask, uint32_t value) {
  if (op->kind == OPND_PRED) w->p[op->slot] = (w->p[op->slot] & ~mask) | (value & mask);
}
// Definedness of a register's lane, for instructions that set it themselves; cheap no-ops when it is not checked.
static inline uint64_t get_undef(const Warp *w, const PtxOperand *op, uint32_t lane) {
  return w->undef && op->kind == OPND_REG ? w->undef[((size_t)w->base + op->slot) * WARP_SIZE + lane] : 0;
}
static inline void set_undef(Warp *w, const PtxOperand *op, uint32_t lane, uint64_t bits) {
  if (!w->undef || op->kind != OPND_REG) return;
  uint32_t slot = w->base + op->slot;
  w->undef[(size_t)slot * WARP_SIZE + lane] = bits;
  w->undef_lanes[slot] = (w->undef_lanes[slot] & ~(1u << lane)) | (uint32_t)(bits != 0) << lane;
}
static inline uint64_t width_mask(unsigned bits) { return bits >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << bits) - 1; }
// Of values, and in the same way of what is undefined in them.
static inline uint64_t bit_field_extract(uint64_t a, uint32_t pos, uint32_t len, PtxType t) {
  unsigned bits = ptx_types[t].bits;
  if (bits == 32) pos &= 255, len &= 255;   // the 64-bit forms take the whole operand
  if (!len) return 0;
  if (len > 255) len = 255;
  if (pos > 255) pos = 255;
  bool s = ptx_types[t].cls == CLASS_SINT;
  unsigned top = pos + len - 1 < bits - 1 ? pos + len - 1 : bits - 1;
  uint64_t sign = s && (a >> top & 1) ? ~UINT64_C(0) : 0;
  unsigned have = pos >= bits ? 0 : len < bits - pos ? len : bits - pos;
  uint64_t field = have ? a >> pos & width_mask(have) : 0;
  return (field | (have >= 64 ? 0 : sign & ~width_mask(have))) & width_mask(bits);
}
static inline uint64_t bit_field_insert(uint64_t a, uint64_t b, uint32_t pos, uint32_t len, unsigned bits) {
  if (bits == 32) pos &= 255, len &= 255;
  if (pos >= bits || !len) return b & width_mask(bits);
  if (len > bits - pos) len = bits - pos;
  uint64_t m = width_mask(len) << pos;
  return (b & ~m) | ((a << pos) & m);
}
#define FOR_LANES(l, mask) for (uint32_t m_##l = (mask), l; m_##l && (l = (uint32_t)__builtin_ctz(m_##l), 1); m_##l &= m_##l - 1)
// A loop over lanes that vectorises when all are active; a row may be both source and destination, lane by lane.
#define LANES(l, mask, ...)                                                                   \
  do {                                                                                        \
    if ((mask) == FULL_MASK) {                                                                \
      _Pragma("GCC ivdep") for (uint32_t l = 0; l < WARP_SIZE; l++) { __VA_ARGS__ }           \
    } else {                                                                                  \
      FOR_LANES(l, mask) { __VA_ARGS__ }                                                      \
    }                                                                                         \
  } while (0)
static inline uint32_t live_lanes(const Warp *w) { return w->exist & ~w->exited; }

// ---- decode functions named by ptx_ops.def
#define PTX_OP(mnemonic, decode, flags) bool decode(PtxParser *p, Instr *in);
#include "runtime/sim/ptx_ops.def"
#undef PTX_OP

#endif
