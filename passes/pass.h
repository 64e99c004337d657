// The interface of passes. A pass has one file, one entry point pass_<name>, one row in passes.def and one test file
// tests/passes/<name>.tir.
#ifndef TILE_PASSES_PASS_H
#define TILE_PASSES_PASS_H

#include "ir/buf.h"
#include "ir/build.h"
#include "ir/ir.h"
#include "ir/remark.h"

typedef struct {
  Context *ctx;
  Module *module;
} PassCtx;

// Errors are diagnostics in ctx.
#define PASS(name, stage_in, stage_out, text) void pass_##name(PassCtx *p);
#include "passes/passes.def"

typedef enum {
#define PASS(name, stage_in, stage_out, text) PASS_ID_##name,
#include "passes/passes.def"
  NUM_PASSES
} PassId;

typedef struct {
  const char *print_after;         // comma-separated pass names, or "all"; NULL = nothing
  bool verify_each;
  bool torture;                    // print, parse back, compare after every pass
  int stop_after;                  // bisect: run only the first n passes; −1 = all
  struct Buf *printed;             // where print_after goes
  struct Buf *times;               // when set, a table of milliseconds per pass
  bool (*after_pass)(void *user, const char *pass, Module *m);  // may be NULL; false stops
  void *user;
} PassOptions;

// Runs the pipeline for the module's target until `until` (inclusive stage). False after diagnostics.
bool passes_run(Module *m, Stage until, const PassOptions *options);
// Runs a comma-separated list of passes, whose names the caller has checked. False after diagnostics.
bool passes_run_named(Module *m, const char *names, const PassOptions *options);
const char *passes_list(uint32_t i, const char **text);   // NULL past the end

#endif
