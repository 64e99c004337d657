// Feeds arbitrary bytes to the parser and the compile-time evaluator: no input may crash or hang them.
// Build: clang -fsanitize=fuzzer,address,undefined with the front end's and ir/'s sources (see docs/testing).
#include "frontend/comptime.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Context ctx;
  context_init(&ctx);
  const SourceFile *file = source_add(&ctx, "fuzz.py", (const char *)data, size);
  ComptimeOptions options = {.step_limit = 20000};
  Comptime *ct = comptime_new(&ctx, &options);
  CtModule *m = file ? comptime_load_source(ct, file, "fuzz") : NULL;
  if (m) {
    ast_dump(&ctx, m->tree);
    comptime_kernels(ct, m);
  }
  diag_render(&ctx, false);
  context_free(&ctx);
  return 0;
}
