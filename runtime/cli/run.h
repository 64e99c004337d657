// `tilec run`: one kernel with arguments made from SPECs, on a device, and what is done with the result.
#ifndef TILE_RUNTIME_RUN_H
#define TILE_RUNTIME_RUN_H

#include "runtime/compile/compile.h"
#include "runtime/cli/file_uses.h"
#include "runtime/cli/run_spec.h"

typedef struct {
  const char *name;            // of the argument or --buf it was made for
  const ArgSpec *spec;         // BUFFER or FILE
  HostTensor initial;          // data is NULL until it is known
  HostTensor result, reference;   // after the run; after the interpreter's run with --check
  uint64_t block, address;     // on the device that a session runs on: the allocation, and the data in it
} RunBuffer;

typedef struct {
  const char *name;
  const ArgSpec *spec;
  bool is_item;                // of the tuple before it
  bool is_swept;               // a value of --sweep: it need be no parameter
  RunBuffer *buffer;           // BUFFER, FILE, ALIAS, DESC
  int64_t offset;              // into it, in elements
  int64_t block[TILE_MAX_RANK];   // DESC
  tile_tensor tensor;          // DESC: base is set when the buffer has an address
} RunArg;

typedef struct {
  const Options *options;
  Arena *arena;
  RunArg *args;
  uint32_t num_args;
  RunBuffer *buffers;
  uint32_t num_buffers;
  uint32_t grid[3];
  FileUses uses;
  const StrList *swept;        // NAME=VALUE of a sweep's point; or NULL
  double flops, moved;         // what --flops and --bytes say
  bool is_usage_error;         // the diagnostics are about the command line
} Run;

// A kernel's time in milliseconds, and what it does in it.
typedef struct { double median, low, high, bytes, flops; uint32_t runs; const char *kernel, *device; } BenchResult;

// run.c: options of the simulator, before a device is opened.
tile_status run_set_up_simulator(const Options *o, Arena *arena, tile_error **error);
// One timed run, without output. What it reads must not be among the outputs in uses.
tile_status run_measure(const Options *o, Arena *arena, const StrList *swept, FileUses *uses, BenchResult *out,
                        tile_error **error);

// run_args.c
bool run_parse_args(Run *run, tile_error **error);
bool run_specialize(void *user, tile_program *p, CtFunction *kernel, ParamSpec *specs,
                    CtDict *heuristic_args); // for CompileJob
bool run_finish(void *user, tile_program *program);
// The two of them without a program: what the arguments are; the grid for specs. False after diagnostics in ctx.
bool run_resolve(Run *run, Context *ctx, Frontend *fe, const CtFunction *kernel, const ParamSpec *specs);
bool run_grid(Run *run, Context *ctx, Frontend *fe, const CtFunction *kernel, const ParamSpec *specs);
const RunArg *run_arg_after(const RunArg *a);   // behind its items
tile_status run_read_files(Run *run, tile_error **error);   // before compiling: their dtypes and shapes are needed
tile_status run_fill_buffers(Run *run, tile_error **error);

// run_check.c
typedef struct { double rtol, atol; bool has_rtol, uses_tf32; } CheckLimits;
// Compares result with reference of every buffer; a line per buffer that the kernel wrote. False when one is out of
// bounds.
bool run_compare(const Run *run, const CheckLimits *limits, Buf *out);
// Is any element out of bounds? The first such one.
bool run_differs(const HostTensor *got, const HostTensor *ref, const CheckLimits *limits, uint64_t *first);
bool run_uses_tf32(Module *m);

#endif
