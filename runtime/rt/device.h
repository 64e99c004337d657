// What a device is inside: a table of functions. The CUDA driver and the simulator have one (device_cuda.c), libtile's
// interpreter has another (runtime/compile/device_interp.c). libtile-rt is made of this folder: nothing in it knows the
// compiler. This is the room's door: other rooms include it and no other header of runtime/rt; the simulator alone
// includes cuda_types.h, fault.h and line_counts.h.
#ifndef TILE_RUNTIME_RT_DEVICE_H
#define TILE_RUNTIME_RT_DEVICE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "ir/ir.h"
#include "runtime/rt/cuda.h"
#include "runtime/rt/given.h"
#include "runtime/rt/line_counts.h"
#include "runtime/tile/rt.h"

typedef struct DeviceOps DeviceOps;
typedef struct StreamOps StreamOps;

struct tile_device {
  const DeviceOps *ops;
  const char *kind;            // "gpu", "sim", "interp"
  char name[128];
  const char *arch;            // the architecture to compile for; NULL: any
  int sm;                      // 90; 0: any
  tile_hooks hooks;
  atomic_uint num_streams;     // without StreamOps: those made
  pthread_mutex_t timing;      // whoever times a kernel holds it: two at once would disturb each other
};

static inline ArenaMemory hooks_memory(const tile_hooks *h) {
  return h && h->alloc && h->free ? (ArenaMemory){h->alloc, h->free, h->user} : (ArenaMemory){0};
}

// A parameter of the compiled kernel, without pointers into the program that it came from.
typedef struct {
  const char *name, *spelling;
  FuncParamKind kind;
  bool is_pointer, is_float, is_unsigned;
  ScalarKind scalar;           // of the value, or of a descriptor's element
  uint32_t bytes;              // of the value in the parameter block
  uint32_t elem_bytes;         // is_pointer: the size of what it points to, to which it must be aligned
  int64_t divisible;
  // PARAM_DESC, PARAM_AUTO_TENSORMAP
  uint32_t rank, swizzle_bytes;
  Padding padding;
  int64_t box[MAX_DESC_RANK];
  int base_param, extent_params[MAX_DESC_RANK], stride_params[MAX_DESC_RANK];
  int64_t extent_values[MAX_DESC_RANK], stride_values[MAX_DESC_RANK];
  const char *made_at;         // where the source makes the descriptor:  " at file:line:col", or ""
} KernelParam;

// How the quick way of a launch takes an argument. What it does not take goes the slow way, which has the messages.
typedef enum { QUICK_POINTER, QUICK_INT, QUICK_I64, QUICK_F32, QUICK_F64 } QuickKind;
typedef struct {
  uint8_t kind, bits;          // QUICK_INT: what must fit
  uint8_t type;                // QUICK_POINTER: the tile_type that it points to; 0: not known
  bool is_signed;
  uint32_t mask;               // these bits must be clear
} QuickArg;

// Several threads may launch it: once it is loaded, everything but the scratch memory is fixed.
struct tile_kernel {
  tile_device *device;
  const tile_hooks *hooks;         // the JIT's; NULL: only the device's
  QuickArg *quick;                 // one per argument; NULL: every launch goes the slow way
  uint32_t num_args;
  uint32_t max_grid_x;
  CUlaunchConfig config;           // gpu, sim: a launch's, except for grid and stream
  CUlaunchAttribute attributes[3];
  Arena arena;
  jmp_buf *on_empty;           // where the arena jumps if memory runs out while the kernel is made
  const char *name;
  KernelParam *params;
  uint32_t num_params;             // the caller gives num_args of them; hidden ones come last
  uint32_t num_threads, num_ctas, shared_bytes, scratch_bytes;
  bool cooperative, pdl;
  _Atomic uint32_t alike;          // as grid_axes_alike; 0 once the log has been told of it
  uint32_t num_constexprs;
  const char **constexpr_names, **constexpr_values;   // values as the source would write them
  const Target *target;
  uint32_t ptx_version;            // ×10; 0: not known
  // The code, until it is loaded: PTX, a cubin or both; neither if only the interpreter can run the kernel.
  const char *ptx;
  const void *cubin;               // preferred if the device runs it
  size_t cubin_size;
  uint32_t declared_local;         // bytes of local memory that its PTX asks for
  CUmodule module;                 // gpu, sim
  CUfunction function;
  pthread_mutex_t scratch_lock;
  uint64_t scratch, scratch_size;
  Module *ir;                      // interp: the program's
  Func *func;
  // For reports, until it is loaded: the files that it was compiled from. Its maker owns them.
  const SourceFile *const *sources;
  uint32_t num_sources;
  const PlaceNote *notes;          // of that source
  uint32_t num_notes;
};

// What machine code says of itself, for each thread.
typedef struct { uint32_t registers, local_bytes; } CodeUse;

struct DeviceOps {
  void (*close)(tile_device *d);
  tile_status (*alloc)(tile_device *d, size_t size, uint64_t *address, tile_error **error);
  tile_status (*free)(tile_device *d, uint64_t address, tile_error **error);
  tile_status (*upload)(tile_device *d, uint64_t to, const void *from, size_t size, tile_error **error);
  tile_status (*download)(tile_device *d, void *to, uint64_t from, size_t size, tile_error **error);
  tile_status (*synchronize)(tile_device *d, tile_error **error);
  // Pinned memory of the host.
  tile_status (*alloc_host)(tile_device *d, size_t size, void **memory, tile_error **error);
  tile_status (*free_host)(tile_device *d, void *memory, tile_error **error);
  // Bytes that are free, and all bytes. NULL: the device uses the host's memory.
  tile_status (*memory_info)(tile_device *d, uint64_t info[2], tile_error **error);
  // Fills the properties that only the device knows. NULL: there are none.
  tile_status (*properties)(const tile_device *d, tile_device_properties *out, tile_error **error);
  const StreamOps *streams;    // NULL: all work is done at once
  // Both are queued on the stream. fill sets elements of 1, 2, 4 or 8 bytes to the low bits of pattern.
  tile_status (*fill)(tile_device *d, uint64_t to, uint64_t pattern, uint32_t elem_bytes, size_t count, void *stream,
                      tile_error **error);
  tile_status (*copy)(tile_device *d, uint64_t to, uint64_t from, size_t size, void *stream, tile_error **error);
  bool (*is_capturing)(tile_device *d, void *stream);   // into a graph; NULL: this device has none
  tile_status (*load)(tile_kernel *k, tile_error **error);
  void (*unload)(tile_kernel *k);
  // Can the device reach the address? If not, why receives a predicate, "is …".
  bool (*is_own)(tile_device *d, uint64_t address, char *why, size_t size);
  // Allocates scratch memory for launches on grids up to this one. NULL: kernels have none.
  tile_status (*reserve)(tile_kernel *k, const uint32_t grid[3], tile_error **error);
  tile_status (*launch)(tile_kernel *k, const tile_launch_options *options, const tile_arg *args, tile_error **error);
  // The registers and memory that the loaded machine code uses. NULL: there is no machine code.
  tile_status (*code_use)(const tile_kernel *k, CodeUse *out, tile_error **error);
  // Launches with checked arguments, as the driver takes them. NULL: the device has no such launch.
  tile_status (*launch_params)(const tile_kernel *k, const uint32_t grid[3], void *stream, void **params,
                               tile_error **error);
  // One launch, timed from cold caches, in milliseconds.
  tile_status (*time)(tile_kernel *k, const tile_launch_options *options, const tile_arg *args, double *milliseconds,
                      tile_error **error);
  // Turns the counting of later launches on or off. Returns the counts of the last counted launch, or NULL; they are
  // valid until the next counted launch. NULL: the device does not count.
  const LaunchCounts *(*count_launches)(tile_device *d, bool on);
  void (*use_schedules)(tile_device *d, uint64_t seed, uint32_t num, uint64_t step);   // may be NULL (driver.h)
  void (*tell_warnings)(tile_device *d);   // of launches so far; may be NULL
  bool checks_bounds;              // it reports an access outside an allocation
};

// Queued work. Stream and event handles are the driver's.
struct StreamOps {
  tile_status (*upload)(tile_device *d, uint64_t to, const void *from, size_t size, void *stream, tile_error **error);
  tile_status (*download)(tile_device *d, void *to, uint64_t from, size_t size, void *stream, tile_error **error);
  tile_status (*create)(tile_device *d, void **stream, tile_error **error);
  tile_status (*destroy)(tile_device *d, void *stream, tile_error **error);
  tile_status (*synchronize)(tile_device *d, void *stream, tile_error **error);
  tile_status (*query)(tile_device *d, void *stream, bool *done, tile_error **error);
  tile_status (*wait_event)(tile_device *d, void *stream, void *event, tile_error **error);
  tile_status (*event_create)(tile_device *d, void **event, tile_error **error);
  void (*event_destroy)(tile_device *d, void *event);
  tile_status (*event_record)(tile_device *d, void *event, void *stream, tile_error **error);
  tile_status (*event_synchronize)(tile_device *d, void *event, tile_error **error);
  tile_status (*event_query)(tile_device *d, void *event, bool *done, tile_error **error);
  tile_status (*event_elapsed)(tile_device *d, void *start, void *end, double *milliseconds, tile_error **error);
};

bool device_should_stop(const tile_device *d);   // stream.c: asks the host

// launch.c: a launch that the host may stop. It is asked every few milliseconds, through the hooks of the kernel's
// device and of its JIT.
typedef struct { const tile_kernel *kernel; double asked_at; bool stopped; } LaunchStop;
bool launch_can_stop(const tile_kernel *k);
bool launch_should_stop(void *stop);                  // a LaunchStop
tile_status launch_stopped(const tile_kernel *k, tile_error **error);

tile_status device_open_cuda(int ordinal, bool simulator, tile_device **device, tile_error **error);
// 0 without a driver.
tile_status device_count_cuda(bool simulator, size_t *count, tile_error **error);

// The devices that a library links in. libtile defines them in runtime/compile/linked.c, libtile-rt in
// runtime/rt/alone/linked.c.
typedef struct {
  void *(*sim_symbol)(const char *name);   // the simulator's functions; NULL: libtile-sim.so.1 is opened
  tile_status (*open_interp)(tile_device **device, tile_error **error);   // NULL: there is no interpreter
} LinkedParts;
extern const LinkedParts linked_parts;

// resources.c
// Of the kernel in a cubin; kernel NULL: the most of any. False if the bytes do not tell.
bool resources_of_cubin(const void *cubin, size_t size, const char *kernel, CodeUse *out);
uint32_t resources_declared_local(const char *ptx);   // bytes of local memory that the PTX itself asks for
// Fills all but struct_size. use NULL: the machine code is not known.
void resources_fill(tile_resources *out, const Target *t, uint32_t threads, uint32_t shared_bytes, const CodeUse *use,
                    uint32_t declared_local);

// assembler_note.c: what an assembler tells of PTX that it takes, but does not run as it is written.
typedef enum { NOTE_REGISTERS, NOTE_SERIAL, NOTE_WAIT, NUM_ASSEMBLER_NOTES } AssemblerNoteKind;
typedef struct {
  const char *said;            // part of the assembler's line
  const char *instruction;     // the PTX that it is about
  const char *text, *way_out;  // for users
} AssemblerNoteInfo;
extern const AssemblerNoteInfo assembler_note_info[NUM_ASSEMBLER_NOTES];
// Parts of the log: the assembler's words, and the function that it names (size 0: none).
typedef struct {
  AssemblerNoteKind kind;
  const char *words, *function;
  int words_size, function_size;
} AssemblerNote;
bool assembler_note_next(const char **log, AssemblerNote *out);   // and moves *log beyond it; false: there is none
// Whether an assembler refuses PTX because a kernel may have too few registers; then the error is TILE_ERROR_RESOURCES.
bool assembler_lacks_registers(const char *ptx, const char *log, tile_error **error);
// Whether it refuses a line of the user's inline assembly; then the error leads with its place in the source.
bool assembler_refuses_asm(const char *ptx, const char *log, const char *target, tile_error **error);
// Logs each as a warning, with its place if the PTX has line information. hooks may be NULL.
void assembler_notes_log(const tile_hooks *hooks, const char *kernel, const char *ptx, const char *log);

// kernel.c: a PTX text to assemble in place of one whose code spills, to be freed; NULL if there is none, or no memory.
// Its occupancy hint is for as many blocks as have room for what was spilled, too, or is left out. If there was none,
// and the assembler kept to half of the registers or fewer, the hint is one block: the assembler gives up on some
// kernels and then keeps to 32 registers.
char *kernel_with_other_hint(const char *ptx, const CodeUse *use);
tile_kernel *kernel_new(tile_device *device);   // kernel.c. NULL: out of memory. device may be NULL
// load.c: loads a kernel that its metadata describes; frees it if that fails.
tile_status kernel_start(tile_kernel *k, tile_error **error);
tile_status device_check_compiled(const tile_device *d, tile_error **error);   // an error on the interpreter
// metadata.c: from PTX that begins with its metadata. ptx[size] is NUL; the text must stay until the kernel is started.
// name NULL: the only kernel. NULL after an error.
tile_kernel *kernel_from_ptx(tile_device *device, const char *ptx, size_t size, const char *name, tile_error **error);

// launch.c: what every device does with arguments. Checks and launches. map, if not NULL, has for each of the kernel's
// arguments its index in args; booleans are integers then.
tile_status kernel_launch(tile_kernel *k, const uint32_t grid[3], void *stream, const tile_arg *args,
                          const uint16_t *map, tile_error **error);
// Room for the arguments of a launch: on the stack unless they are many.
enum { FEW_ARGS = 128 };
typedef struct { tile_arg *data, few[FEW_ARGS]; } ArgList;
static inline bool arg_list_init(ArgList *l, size_t n) {   // false: out of memory
  l->data = n <= FEW_ARGS ? l->few : malloc(n * sizeof *l->data);
  return l->data != NULL;
}
static inline void arg_list_free(ArgList *l) {
  if (l->data != l->few) free(l->data);
}
void launch_plan(tile_kernel *k);     // fills in quick, once all else is known
// The number that an argument must be a multiple of.
static inline int64_t param_multiple(const KernelParam *p) {
  return p->is_pointer && p->elem_bytes > p->divisible ? p->elem_bytes : p->divisible;
}
// The kind of argument that a parameter takes, and its type: of the number, of what the pointer points to, or of the
// descriptor's elements.
static inline tile_arg_kind launch_param_kind(const KernelParam *p) {
  return p->kind == PARAM_DESC || p->kind == PARAM_DESC_FIELDS ? TILE_ARG_TENSOR
         : p->is_pointer                                       ? TILE_ARG_POINTER
         : p->is_float                                         ? TILE_ARG_FLOAT
                                                               : TILE_ARG_INT;
}
tile_type launch_param_type(const KernelParam *p);   // launch.c; TILE_UNTYPED: it is not known
// Can a tensor map have rows so many elements apart? Its strides are multiples of 16 bytes below 2^40.
static inline bool is_map_stride(int64_t elements, uint32_t bytes) {
  return elements >= 0 && elements < INT64_C(1) << 40 && elements * bytes % 16 == 0;
}
// Checks args against the parameters, naming the one that is wrong.
tile_status launch_check_args(const tile_kernel *k, const tile_arg *args, size_t num_args, tile_error **error);
tile_status launch_check_grid(const tile_kernel *k, const uint32_t grid[3], tile_error **error);
// Whether no program runs: a launch then checks its arguments and does nothing.
static inline bool launch_is_empty(const uint32_t grid[3]) { return !grid[0] || !grid[1] || !grid[2]; }
// Does the argument fit what the parameter is specialised for? Kinds and types are not checked.
bool launch_fits(const KernelParam *p, const tile_arg *a);
// Reports a wrong number of arguments, with the names of those that a launch takes.
tile_status launch_wrong_count(const char *owner, const char *const *names, uint32_t num_names, size_t got,
                               tile_error **error);
// tuple.c: flattens args, some of which are tuples, to one argument for each of the kernel's, or for each of names.
bool launch_has_tuples(const tile_arg *args, size_t n);
tile_status launch_flatten(const tile_kernel *k, const char *owner, const char *const *names, uint32_t num_names,
                           const tile_arg *args, size_t num_args, tile_arg *out, tile_error **error);
tile_status launch_flatten_kernel(const tile_kernel *k, const tile_arg *args, size_t num_args, tile_arg *out,
                                  tile_error **error);
// A checked scalar or pointer argument as the parameter's bits.
uint64_t launch_arg_bits(const KernelParam *p, tile_arg arg);

#include "runtime/rt/metadata.h"
#include "runtime/rt/package.h"

#endif
