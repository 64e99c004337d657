// What else is read from outside: expressions of --expect and of the debugger, JSON, a kernel's metadata in PTX and alone,
// packages. The first byte chooses the reader.
#include <string.h>

#include "runtime/cli/expression.h"
#include "runtime/rt/device.h"
#include "runtime/rt/metadata.h"
#include "runtime/rt/package.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Two arrays and a number.
static const Nd *find(void *user, const char *name) {
  Arena *a = user;
  if (!strcmp(name, "n")) return nd_scalar(a, 3);
  const uint32_t rank = !strcmp(name, "x") ? 2 : !strcmp(name, "v") ? 1 : 0;
  if (!rank) return NULL;
  Nd *r = nd_new(a, rank, (int64_t[]){3, 4});
  for (uint64_t i = 0; i < r->count; i++) r->data[i] = (double)i - 4;
  return r;
}

static void read_expression(const char *text) {
  static const char *const names[] = {"x", "v", "n"};
  // Expressions may ask for arrays that fill the memory: arange(1e9) is right.
  if (strstr(text, "arange") || strstr(text, "zeros") || strstr(text, "ones") || strstr(text, "broadcast")) return;
  Context ctx;
  context_init(&ctx);
  const ExpressionScope scope = {find, &ctx.arena, names, 3, "is unknown"};
  jmp_buf on_ice;
  if (!setjmp(on_ice)) {
    ctx.on_ice = &on_ice;
    expression_eval(&ctx, "fuzz", text, &scope);
    diag_render(&ctx, false);
  }
  ctx.on_ice = NULL;
  context_free(&ctx);
}

// The header is repaired, so that what follows it is read.
static void read_package(Arena *a, const uint8_t *data, size_t size) {
  PackageHeader h = {.magic = PACKAGE_MAGIC, .format = PACKAGE_FORMAT, .header_size = sizeof h};
  uint8_t *bytes = arena_alloc(a, sizeof h + size + 1);
  memcpy(bytes + sizeof h, data, size);
  h.file_size = sizeof h + size;
  h.index_offset = sizeof h + (size > 64 ? 64 : 0);
  h.index_size = h.file_size - h.index_offset;
  h.checksum = package_checksum(bytes + sizeof h, size);
  memcpy(bytes, &h, sizeof h);
  tile_package *p = NULL;
  tile_error *error = NULL;
  if (tile_package_open_memory(bytes, h.file_size, &p, &error) == TILE_OK) {
    for (size_t i = 0; i <= tile_package_num_entries(p); i++) {
      tile_package_entry e = TILE_PACKAGE_ENTRY_INIT;
      tile_package_get_entry(p, i, &e);
    }
    tile_package_close(p);
  }
  tile_error_free(error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 1) return 0;
  Arena a;
  arena_init(&a);
  const char *text = arena_strndup(&a, (const char *)data + 1, size - 1);
  tile_error *error = NULL;
  tile_kernel *k = NULL;
  size_t where;
  switch (data[0] % 5) {
  case 0: read_expression(text); break;
  case 1: json_read(&a, text, size - 1, &where); break;
  case 2: k = kernel_from_ptx(NULL, text, size - 1, NULL, &error); break;
  case 3: k = kernel_from_json(NULL, text, size - 1, NULL, &error); break;
  default: read_package(&a, data + 1, size - 1);
  }
  if (k) tile_kernel_free(k);
  tile_error_free(error);
  arena_free(&a);
  return 0;
}
