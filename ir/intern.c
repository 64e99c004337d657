// Unique strings.
#include <string.h>

#include "ir/context.h"

// A kept string has its length before it: it may contain NUL bytes.
typedef struct { size_t size; char text[]; } InternEntry;
typedef struct { const char *text; size_t size; } InternKey;

static bool same(const void *kept, const void *key) {
  const InternEntry *e = kept;
  const InternKey *t = key;
  return e->size == t->size && memcmp(e->text, t->text, t->size) == 0;
}

const char *intern_n(Context *ctx, const char *s, size_t n) {
  MapSlot *slot = map_find(&ctx->arena, &ctx->strings, map_hash_bytes(s, n), &(InternKey){s, n}, same);
  if (slot->key) return ((const InternEntry *)slot->key)->text;
  InternEntry *e = arena_alloc(&ctx->arena, sizeof *e + n + 1);
  e->size = n;
  memcpy(e->text, s, n);
  slot->key = e;
  return e->text;
}

const char *intern(Context *ctx, const char *s) { return intern_n(ctx, s, strlen(s)); }
