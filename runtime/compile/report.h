// What a compiled kernel costs: machine resources, shared memory by buffer, instructions by class, and what the passes
// said of its accesses and loops. docs/reports.md describes the JSON.
#ifndef TILE_RUNTIME_REPORT_H
#define TILE_RUNTIME_REPORT_H

#include "ir/remark.h"
#include "runtime/compile/instructions.h"
#include "runtime/compile/report_lines.h"
#include "runtime/tile/tile.h"

// A buffer of shared memory, an access of global memory, or a conversion of layouts through shared memory.
typedef struct {
  const char *what, *name, *type;   // name: in the source, or NULL
  LineCol at;
  uint32_t bytes, offset;      // of a buffer; bytes of one machine access
  uint32_t count;              // how often the same stands there
} ReportItem;
typedef VEC(ReportItem) ReportItems;

typedef struct {
  const char *name;
  tile_resources resources;
  const char *made_by;         // the assembler, or the driver; NULL: none
  ReportItems shared, accesses, conversions;
  const Remark **remarks;      // of this kernel, in the order of the source
  uint32_t num_remarks;
  const char *counted;         // "PTX", "SASS"
  uint32_t counts[NUM_INSN_CLASSES];
  const LaunchCounts *executed;   // what a run did, if the device counts; or NULL
} KernelReport;

typedef struct {
  const char *arch;
  uint32_t num_warps, num_stages, num_ctas;
  const char *config;          // the autotune configuration, or NULL
  KernelReport *kernels;
  uint32_t num_kernels;
} CostReport;

// Of a program with PTX. It lasts as long as the program.
tile_status report_make(tile_program *program, CostReport **report, tile_error **error);
void report_put_text(Buf *out, const Context *ctx, const CostReport *r);
// The object that docs/reports.md describes: with diagnostics of the program or of an error, and without kernels if
// there is no report. Any of the three may be NULL.
void report_put_json(Buf *out, const tile_program *program, const tile_error *error, const CostReport *r);

#endif
