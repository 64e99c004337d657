// The door of codegen, which turns an ALLOCATED module into LLVM IR and PTX. Codegen is the only room that sees LLVM.
#ifndef TILE_CODEGEN_CODEGEN_H
#define TILE_CODEGEN_CODEGEN_H

#include "ir/buf.h"
#include "ir/ir.h"

typedef struct {
  bool line_info;          // whether PTX has .loc lines (default: yes)
  uint32_t ptx_version;    // ×10; 0 = the lowest the code needs
  uint32_t opt_level;      // 0…3, default 3
  Buf *times;              // when set, rows of milliseconds: the lowering, LLVM's optimiser and its code generator
} CodegenOptions;

typedef struct {
  const char *ptx;         // NUL-terminated, in ctx's arena; without the metadata comments that the runtime adds
  const char *llvm_ir;     // NULL unless wanted
  uint32_t ptx_version;    // ×10
} CodegenResult;

// Returns false after diagnostics. llvm_ir is the text before optimisation. Bugs of ours and LLVM's fatal errors
// leave by ice(), the latter with LLVM's text.
bool codegen_emit(Module *m, const CodegenOptions *options, bool want_llvm, bool want_ptx, CodegenResult *result);
const char *codegen_llvm_version(void);

#endif
