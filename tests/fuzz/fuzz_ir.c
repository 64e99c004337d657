// Any bytes as IR text: refused with diagnostics, or a module whose print parses back to the same text.
#include <stdlib.h>
#include <string.h>

#include "ir/buf.h"
#include "ir/ir.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Context ctx;
  context_init(&ctx);
  Module *m = ir_parse(&ctx, source_add(&ctx, "fuzz.tir", (const char *)data, size));
  if (m && ir_verify(m)) {
    Buf first = buf_make(&ctx.arena), second = buf_make(&ctx.arena);
    ir_print_module(&first, m);
    Module *again = ir_parse(&ctx, source_add(&ctx, "printed.tir", buf_str(&first), first.size));
    if (!again) abort();
    ir_print_module(&second, again);
    if (strcmp(buf_str(&first), buf_str(&second))) abort();
  }
  diag_render(&ctx, false);
  context_free(&ctx);
  return 0;
}
