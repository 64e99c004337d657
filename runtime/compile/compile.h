// The compile facade: frontend → passes → codegen for one file, in one Context. Bugs of ours (ice) end here as errors.
// This is the room's door: jit and cli include it and no other header of runtime/compile.
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
#include "runtime/compile/options.h"
#include "runtime/compile/pack.h"
#include "runtime/compile/specialize.h"
#include "runtime/tile/tile.h"

enum { NUM_EMITS = 10 };
extern const struct EmitInfo { const char *name, *suffix; } emit_info[NUM_EMITS];   // by bit of TILE_EMIT_*

struct tile_program {
  Context ctx;
  const Target *target;
  Frontend *frontend;          // NULL for .tir input
  CtFunction *kernel;          // the one asked for, or NULL when several were compiled
  ParamSpec *specs;            // kernel's, as compiled
  LaunchOptions launch;
  uint32_t most_stages;        // num_stages where nobody asks for one; 0: the default
  Module *module;              // at the last stage it was brought to
  int config;                  // number of the autotune configuration taken; −1: none
  const char *config_text;     // the autotune configuration taken, as the source writes it, or NULL
  uint32_t ptx_version;        // ×10
  struct { const char *data; size_t size; } outputs[NUM_EMITS];
};

// When work in the host shall end before it is done: hooks or NULL; deadline on clock_seconds()'s clock, or 0.
typedef struct { const tile_hooks *hooks; double deadline; } Limits;
void limits_apply(Limits *limits, Context *ctx);   // ctx asks from now on; limits must outlive that

typedef struct CompileJob CompileJob;
struct CompileJob {
  const Options *options;
  const char *path;
  const char *text;            // NULL: the file is read
  size_t size;
  const char *override_text;   // of --ir-override's file, once it is read
  size_t override_size;
  unsigned emit;
  bool color;
  int config;                  // only this autotune configuration; −1: the first that gets through
  // May set types and values that neither the command line, the source nor the configuration gives; before the
  // heuristics. heuristic_args: parameter name → value, to be filled with what the arguments are. False after
  // diagnostics.
  bool (*specialize)(void *user, tile_program *program, CtFunction *kernel, ParamSpec *specs, CtDict *heuristic_args);
  // Called at the end, inside the containment of bugs: what a run wants evaluated by the program's front end.
  bool (*finish)(void *user, tile_program *program);
  void *user;
  Buf *printed, *times;        // where print-after and time-passes go; may be NULL
  const tile_hooks *hooks;     // whole; or NULL
  double seconds;              // after which the compilation is stopped; 0: none
};

tile_status compile_job(const CompileJob *job, tile_program **program, tile_error **error);
const char *compile_llvm_version(void);
// An autotune configuration as the source writes it.
const char *compile_config_text(Context *ctx, const CtConfig *config);
bool compile_is_ir_path(const char *path);   // suffix .tir

// metadata.c: what a launcher needs of every kernel of the program's module, as JSON.
void metadata_write(Buf *out, const tile_program *program);
void metadata_put_kernel(JsonWriter *w, const tile_program *program, const Func *f);   // one of them

// ptxas.c: PTX to cubin by the assembler, if it is found (TILE_PTXAS, PATH, the usual folder of the CUDA toolkit).
const char *ptxas_find(Arena *a);
const char *ptxas_version(Arena *a);   // "ptxas 13.0.88"; only where it is found
tile_status ptxas_assemble(Arena *a, const char *ptx, const char *arch, const char *extra_options, const char **cubin,
                           size_t *size, tile_error **error);

#endif
