// The only door of codegen: an ALLOCATED module to LLVM IR text and PTX. The only room that sees LLVM.
#ifndef TILE_CODEGEN_CODEGEN_H
#define TILE_CODEGEN_CODEGEN_H

#include "ir/buf.h"
#include "ir/ir.h"

typedef struct {
  bool line_info;          // .loc lines (default on)
  uint32_t ptx_version;    // ×10; 0 = the lowest the code needs
  uint32_t opt_level;      // 0…3, default 3
} CodegenOptions;

typedef struct {
  const char *ptx;         // NUL-terminated, in ctx's arena; without the metadata comments (runtime adds those)
  const char *llvm_ir;     // when asked for
  uint32_t ptx_version;    // ×10
} CodegenResult;

// False after diagnostics. want_llvm: the LLVM IR before optimisation as text. ice() on our bugs; LLVM's fatal errors
// come back as an ice with LLVM's text.
bool codegen_emit(Module *m, const CodegenOptions *options, bool want_llvm, bool want_ptx, CodegenResult *result);
const char *codegen_llvm_version(void);

#endif
