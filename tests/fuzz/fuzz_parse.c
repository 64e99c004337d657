// Any bytes as a source file: the parser reports or accepts, and its tree can be dumped.
#include "frontend/syntax/syntax.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Context ctx;
  context_init(&ctx);
  const SourceFile *file = source_add(&ctx, "fuzz.py", (const char *)data, size);
  Node *tree = parse_module(&ctx, file);
  if (diag_error_count(&ctx) == 0) ast_dump(&ctx, tree);
  diag_render(&ctx, true);
  context_free(&ctx);
  return 0;
}
