// Unique strings: open addressing, grown at three quarters full.
#include <string.h>

#include "ir/context.h"

static uint32_t hash_bytes(const char *s, size_t n) {
  uint32_t h = 2166136261u;
  for (size_t i = 0; i < n; i++) h = (h ^ (unsigned char)s[i]) * 16777619u;
  return h ^ h >> 15;
}

// Strings are kept with their length before them: they may contain NUL bytes.
typedef struct { size_t size; char text[]; } Entry;
static const Entry *entry_of(const char *s) { return (const Entry *)(const void *)(s - offsetof(Entry, text)); }

static void grow(Context *ctx) {
  uint32_t old = ctx->strings.capacity, cap = old ? old * 2 : 256;
  const char **slots = arena_array(&ctx->arena, const char *, cap);
  for (uint32_t i = 0; i < old; i++) {
    const char *s = ctx->strings.slots[i];
    if (!s) continue;
    uint32_t at = hash_bytes(s, entry_of(s)->size) & (cap - 1);
    while (slots[at]) at = (at + 1) & (cap - 1);
    slots[at] = s;
  }
  ctx->strings.slots = slots;
  ctx->strings.capacity = cap;
}

const char *intern_n(Context *ctx, const char *s, size_t n) {
  if (ctx->strings.count * 4 >= ctx->strings.capacity * 3) grow(ctx);
  uint32_t mask = ctx->strings.capacity - 1, at = hash_bytes(s, n) & mask;
  for (; ctx->strings.slots[at]; at = (at + 1) & mask) {
    const char *t = ctx->strings.slots[at];
    if (entry_of(t)->size == n && memcmp(t, s, n) == 0) return t;
  }
  Entry *e = arena_alloc(&ctx->arena, sizeof *e + n + 1);
  e->size = n;
  memcpy(e->text, s, n);
  ctx->strings.slots[at] = e->text;
  ctx->strings.count++;
  return e->text;
}

const char *intern(Context *ctx, const char *s) { return intern_n(ctx, s, strlen(s)); }
