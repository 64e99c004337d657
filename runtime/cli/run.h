// `tilec run`: a kernel's arguments, made from SPECs, and the buffers that they refer to.
#ifndef TILE_RUNTIME_RUN_H
#define TILE_RUNTIME_RUN_H

#include "runtime/compile/compile.h"
#include "runtime/cli/file_uses.h"
#include "runtime/cli/run_spec.h"

typedef struct {
  const char *name;            // of the argument or --buf that it belongs to
  const ArgSpec *spec;         // BUFFER or FILE
  HostTensor initial;          // data is NULL until it is known
  HostTensor result, reference;   // after the run; after the interpreter's run with --check
  uint64_t block, address;     // on the session's device: the allocation, and the data in it
} RunBuffer;

typedef struct {
  const char *name;
  const ArgSpec *spec;
  bool is_item;                // of the tuple before it
  bool is_swept;               // a value of --sweep, which need not be a parameter
  RunBuffer *buffer;           // BUFFER, FILE, ALIAS, DESC
  int64_t offset;              // into it, in elements
  int64_t block[TILE_MAX_RANK];   // DESC
  tile_tensor tensor;          // DESC: without its base (run_arg_tensor)
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
  double flops, moved;         // the values of --flops and --bytes
  struct Expectation *expected;   // by --expect; run_expect.c
  const CompileJob *job;       // what compiled the kernel, and the configuration of an autotuned one
  int config;
  bool has_unused_sweep;       // of swept; this fails all points alike
  bool is_usage_error;         // the diagnostics are about the command line
} Run;

// run_args.c: before the kernel is known.
// Reads the job's source and the arguments with their files. command: "run" or "tune", for messages.
tile_status run_begin(Run *run, const char *command, CompileJob *job, tile_error **error);
RunBuffer *run_find_buffer(const Run *run, const char *name);   // of --buf or an argument; NULL: there is none
const RunArg *run_find_arg(const Run *run, const char *name);
const RunBuffer *run_buffer_named(const Run *run, const char *name);   // what an argument or --buf of this name is
// The refusal of a name that is no buffer, given to an option.
tile_status run_no_buffer(const Run *run, const char *option, const char *name, tile_error **error);
const RunArg *run_arg_after(const RunArg *a);   // after its items
// After session_upload:
uint64_t run_arg_address(const RunArg *a);
tile_tensor *run_arg_tensor(Arena *arena, const RunArg *a);   // DESC
tile_status run_fill_buffers(Run *run, tile_error **error);

// run_bind.c: with the kernel's module. For CompileJob:
bool run_specialize(void *user, tile_program *p, CtFunction *kernel, ParamSpec *specs, CtDict *heuristic_args);
bool run_finish(void *user, tile_program *program);
// The same without a program: run_resolve finds what the arguments are, run_grid the grid for specs. False after
// diagnostics in ctx.
bool run_resolve(Run *run, Context *ctx, Frontend *fe, const CtFunction *kernel, const ParamSpec *specs);
bool run_grid(Run *run, Context *ctx, Frontend *fe, const CtFunction *kernel, const ParamSpec *specs);

// run_check.c
typedef struct { double rtol, atol; bool has_rtol, uses_tf32; } CheckLimits;
tile_status run_check_limits(const Options *o, CheckLimits *out, tile_error **error);
// Compares two arrays, with the tolerance of a dtype, and prints what differs: "check c: …", "… has 3". False if they
// differ by more than the limits.
typedef struct {
  const char *what, *name, *has;
  const HostTensor *got, *ref;
  const HostTensor *initial;   // what got was before the run
  const RunBuffer *buffer;     // that got is, or a part of: element i is places[i] of the buffer, or i
  const double *places;
  DtypeKind dtype;
  Run *run;
  Module *module;              // the kernel's, for notes; or NULL
} Comparison;
bool run_tell(Buf *out, const Comparison *c, const CheckLimits *limits);
// Compares result with reference of every buffer; prints a line per buffer that the kernel wrote. False if one differs
// by more than the limits.
bool run_compare(Run *run, Module *module, const CheckLimits *limits, Buf *out);
// Whether an element differs by more than the limits; *first is the first one.
bool run_differs(const HostTensor *got, const HostTensor *ref, const CheckLimits *limits, uint64_t *first);
bool run_uses_tf32(const Module *m);
bool run_is_tf32(const Op *op);                // a product that does
void run_print_index(Buf *out, const HostTensor *t, uint64_t i);   // "[2,7]"

// run_advice.c: a note on what to try next, if there is one.
void run_advise(Buf *out, const Comparison *c, uint64_t first_bad, double error);

// run_expect.c: what --expect says that buffers should hold. run_expect_prepare computes it from what they hold before
// the run; run_expect_compare compares it with the results.
tile_status run_expect_prepare(Run *run, tile_program *program, tile_error **error);
bool run_expect_compare(Run *run, Module *module, const CheckLimits *limits, Buf *out);

#endif
