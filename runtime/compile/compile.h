// Compiles one file: front end, passes and code generation, in one Context. An internal error (ice) ends here as a
// tile_error. This is the room's door: jit and cli include it and no other header of runtime/compile.
#ifndef TILE_RUNTIME_COMPILE_H
#define TILE_RUNTIME_COMPILE_H

#include "frontend/frontend.h"
#include "ir/ir.h"
#include "runtime/compile/assembler.h"
#include "runtime/compile/device.h"
#include "runtime/compile/error.h"
#include "runtime/compile/file.h"
#include "runtime/compile/host_tensor.h"
#include "runtime/compile/json_writer.h"
#include "runtime/compile/messages.h"
#include "runtime/compile/options.h"
#include "runtime/compile/pack.h"
#include "runtime/compile/report.h"
#include "runtime/compile/specialize.h"
#include "runtime/compile/svg.h"
#include "runtime/tile/tile.h"

GIVEN_SINCE(tile_compile_options, num_source_map);

enum { NUM_EMITS = 12 };
extern const struct EmitInfo { const char *name, *suffix; } emit_info[NUM_EMITS];   // by bit of TILE_EMIT_*

struct tile_program {
  Context ctx;
  const Target *target;
  Frontend *frontend;          // NULL for .tir input
  CtFunction *kernel;          // the one that the user asked for, or NULL when several were compiled
  ParamSpec *specs;            // kernel's, as compiled
  LaunchOptions launch;
  uint32_t most_stages;        // num_stages if neither options nor source give it; 0: the default
  bool is_usage_error;         // the diagnostics are about the options
  Module *module;              // at the last stage it was brought to
  int config;                  // index of the autotune configuration that is compiled; −1: none
  const char *config_text;     // that configuration as the source writes it, or NULL
  uint32_t ptx_version;        // ×10
  bool has_lines;              // line information is wanted
  struct { const char *data; size_t size; } outputs[NUM_EMITS];
  const char *cubin_made_by;   // the assembler of TILE_EMIT_CUBIN, with its version
  CostReport *report;              // with TILE_EMIT_REPORT
  const PlaceNote *notes;          // for the simulator's reports: places of the kernel's source that may fail
  uint32_t num_notes;
};

// What stops a compilation early: hooks (or NULL) that say so, or the deadline on clock_seconds()'s clock (0: none).
typedef struct { const tile_hooks *hooks; double deadline; } Limits;
void limits_apply(Limits *limits, Context *ctx);   // ctx asks limits from now on; limits must outlive ctx

typedef struct CompileJob CompileJob;
struct CompileJob {
  const Options *options;
  const char *path;
  const char *text;            // NULL: compile_job reads the file
  size_t size;
  const char *override_text;   // of --ir-override's file, once compile_job has read it
  size_t override_size;
  unsigned emit;
  bool color;
  int config;                  // only this autotune configuration; −1: the first that compiles
  // Called before the heuristics. May set types and values that neither the command line, the source nor the
  // configuration gives, and fills heuristic_args: parameter name → the argument's value. False after diagnostics.
  bool (*specialize)(void *user, tile_program *program, CtFunction *kernel, ParamSpec *specs, CtDict *heuristic_args);
  // Called at the end, where internal errors are still caught: evaluates expressions with the program's front end.
  bool (*finish)(void *user, tile_program *program);
  bool stops;                  // a breakpoint before each statement of the kernel
  const char *origin;          // of the options' defines, in messages; NULL: -D
  void *user;
  Buf *printed, *times;        // for the output of --print-after and --time-passes; may be NULL
  const tile_hooks *hooks;     // with every field; or NULL
  const tile_source_range *source_map;   // of text; checked
  size_t num_source_map;
  double seconds;              // the compilation stops after this time; 0: no limit
};

// source_map.c
tile_status source_map_check(const tile_source_range *map, size_t count, tile_error **error);
// A text of this path that is added to ctx has the map. path must last as long as ctx.
void source_map_apply(Context *ctx, const char *path, const tile_source_range *map, size_t count);

tile_status compile_job(const CompileJob *job, tile_program **program, tile_error **error);
const char *compile_llvm_version(void);
const char *compile_config_text(Context *ctx, const CtConfig *config);   // as the source writes it
bool compile_is_ir_path(const char *path);   // suffix .tir

// kernel.c: returns the kernel of that name, or the only one if there is no name; NULL and an error if there is none.
Func *program_func(const tile_program *program, const char *name, tile_error **error);

// metadata.c: what a launcher must know of every kernel of the program's module, as JSON.
void metadata_write(Buf *out, const tile_program *program);
void metadata_put_kernel(JsonWriter *w, const tile_program *program, const Func *f);   // one kernel

// temporary.c: makes SIGHUP, SIGINT and SIGTERM kill the child processes and remove the temporary files before they end
// this process. A signal that is ignored stays ignored. Only a program calls this: a library leaves signals to its
// host.
void temporary_remove_on_signals(void);

// ptxas.c: assembles PTX to a cubin. ptxas_find looks at TILE_PTXAS, in PATH and in the CUDA toolkit's usual folder;
// NULL: there is no ptxas.
const char *ptxas_find(Arena *a);
const char *ptxas_version(Arena *a);   // "ptxas 13.0.88"
tile_status ptxas_assemble(Arena *a, const char *ptx, const char *arch, const char *extra_options, MachineCode *code,
                           tile_error **error);

// sass.c: the text of machine code, by nvdisasm (TILE_NVDISASM, PATH, the CUDA toolkit's usual folder). Without one, or
// with TILE_NVDISASM=none, NULL. sass_check: an error if the variable names what cannot be run.
const char *sass_find(Arena *a);
tile_status sass_check(tile_error **error);
tile_status sass_of_cubin(Arena *a, const char *cubin, size_t size, const char **text, tile_error **error);

// assembler_warnings.c: makes warnings of the program of what an assembler said.
void assembler_warn(tile_program *program, const MachineCode *code);

// resources.c: the program's machine code, made if need be.
// Runs the assembler that TILE_ASSEMBLER chooses, or ptxas if there are options for it. Without one out->cubin is NULL.
tile_status machine_code_assemble(const tile_program *program, const char *ptx_options, Arena *a, MachineCode *out,
                                  tile_error **error);
tile_status machine_code_make(const tile_program *program, Arena *a, MachineCode *out, tile_error **error);
// Fills all of *out but struct_size.
void machine_code_resources(const tile_program *program, const MachineCode *code, const char *kernel,
                            tile_resources *out);

// spill.c: assembles PTX by the given function; if the kernel then uses local memory and the PTX has an occupancy hint,
// assembles it once more without the hint and keeps the code that uses less.
typedef tile_status AssembleFn(void *user, Arena *a, const char *ptx, MachineCode *code, tile_error **error);
tile_status assemble_checked(AssembleFn *assemble, void *user, Arena *a, const char *ptx, MachineCode *code,
                             tile_error **error);

#endif
