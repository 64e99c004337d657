#include "ir/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ArenaChunk {
  ArenaChunk *prev;
  size_t size, used;
  _Alignas(16) unsigned char bytes[];
};

enum { FIRST_CHUNK = 64 * 1024, MAX_CHUNK = 4 * 1024 * 1024 };

void arena_init(Arena *a) { *a = (Arena){0}; }

void arena_init_with(Arena *a, ArenaMemory memory, jmp_buf *const *on_empty) {
  *a = (Arena){.memory = memory, .on_empty = on_empty};
}

static ArenaChunk *get_chunk(const ArenaMemory *m, size_t bytes) {
  return m->alloc ? m->alloc(m->user, bytes) : malloc(bytes);
}

static void give_chunk_back(const ArenaMemory *m, ArenaChunk *c) {
  if (m->free) m->free(m->user, c, sizeof *c + c->size);
  else free(c);
}

void arena_free(Arena *a) {
  for (ArenaChunk *c = a->chunk, *prev; c; c = prev) {
    prev = c->prev;
    give_chunk_back(&a->memory, c);
  }
  a->chunk = NULL;
  a->total = 0;
}

static bool add_chunk(Arena *a, size_t need) {
  size_t size = a->chunk ? a->chunk->size * 2 : FIRST_CHUNK;
  if (size > MAX_CHUNK) size = MAX_CHUNK;
  if (size < need) size = need;
  ArenaChunk *c = size <= SIZE_MAX - sizeof *c ? get_chunk(&a->memory, sizeof *c + size) : NULL;
  if (!c) return false;
  c->prev = a->chunk;
  c->size = size;
  c->used = 0;
  a->chunk = c;
  return true;
}

void *arena_try(Arena *a, size_t size) {
  if (size > SIZE_MAX - 15) return NULL;
  size = (size + 15) & ~(size_t)15;
  if ((!a->chunk || a->chunk->size - a->chunk->used < size) && !add_chunk(a, size)) return NULL;
  void *p = a->chunk->bytes + a->chunk->used;
  a->chunk->used += size;
  a->total += size;
  return memset(p, 0, size);
}

void *arena_alloc(Arena *a, size_t size) {
  void *p = arena_try(a, size);
  if (p) return p;
  if (a->on_empty && *a->on_empty) longjmp(**a->on_empty, ARENA_EMPTY);
  fputs("tilec: out of memory\n", stderr);
  abort();
}

ArenaMark arena_mark(const Arena *a) { return (ArenaMark){a->chunk, a->chunk ? a->chunk->used : 0}; }

void arena_rewind(Arena *a, ArenaMark m) {
  while (a->chunk != m.chunk) {
    ArenaChunk *prev = a->chunk->prev;
    give_chunk_back(&a->memory, a->chunk);
    a->chunk = prev;
  }
  if (a->chunk) a->chunk->used = m.used;
}

char *arena_strndup(Arena *a, const char *s, size_t n) {
  char *p = arena_alloc(a, n + 1);
  memcpy(p, s, n);
  return p;
}

char *arena_vprintf(Arena *a, const char *fmt, va_list ap) {
  char text[128];   // most texts fit and are formatted once
  va_list again;
  va_copy(again, ap);
  const size_t size = (size_t)vsnprintf(text, sizeof text, fmt, ap) + 1;
  char *p = arena_alloc(a, size);
  if (size <= sizeof text) memcpy(p, text, size);
  else vsnprintf(p, size, fmt, again);
  va_end(again);
  return p;
}

char *arena_printf(Arena *a, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  char *p = arena_vprintf(a, fmt, ap);
  va_end(ap);
  return p;
}

void *vec_grow_(Arena *a, void *data, size_t elem, uint32_t count, uint32_t *capacity) {
  const uint32_t more = *capacity ? *capacity * 2 : 8;
  void *bigger = arena_alloc(a, elem * more);
  if (count) memcpy(bigger, data, elem * count);
  *capacity = more;   // only now: without memory the vector stays as it was
  return bigger;
}
