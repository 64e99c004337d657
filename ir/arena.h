// A bump arena. All that one compilation makes lives in its Context's arena; nothing is freed singly. A user of scratch
// memory takes a mark and rewinds to it.
#ifndef TILE_IR_ARENA_H
#define TILE_IR_ARENA_H

#include <setjmp.h>

#include "ir/base.h"

typedef struct ArenaChunk ArenaChunk;
// Where chunks come from; malloc and free if there are no functions.
typedef struct {
  void *(*alloc)(void *user, size_t size);   // aligned to 16 bytes; NULL when there is none
  void (*free)(void *user, void *p, size_t size);
  void *user;
} ArenaMemory;
enum { ARENA_EMPTY = 2 };  // what setjmp gives when memory has run out
typedef struct {
  ArenaChunk *chunk;   // current chunk, newest first
  size_t total;        // bytes handed out since arena_init
  ArenaMemory memory;
  jmp_buf *const *on_empty;  // where to go when memory runs out; without, abort
} Arena;
typedef struct { ArenaChunk *chunk; size_t used; } ArenaMark;

void arena_init(Arena *a);
void arena_init_with(Arena *a, ArenaMemory memory, jmp_buf *const *on_empty);
void arena_free(Arena *a);                    // gives all memory back; the arena can be used again
// Zeroed memory, aligned to 16 bytes. Never NULL: without memory it leaves by longjmp to on_empty.
void *arena_alloc(Arena *a, size_t size);
// NULL when there is none, for those who have something to give back first.
void *arena_try(Arena *a, size_t size);
ArenaMark arena_mark(const Arena *a);
void arena_rewind(Arena *a, ArenaMark m);     // frees what was allocated since the mark
char *arena_strndup(Arena *a, const char *s, size_t n);
char *arena_printf(Arena *a, const char *fmt, ...) PRINTF_LIKE(2, 3);
char *arena_vprintf(Arena *a, const char *fmt, va_list ap);

#define arena_new(a, T) ((T *)arena_alloc((a), sizeof(T)))
#define arena_array(a, T, n) ((T *)arena_alloc((a), sizeof(T) * (size_t)(n)))

// A growable array in an arena: VEC(int) v = {0}; vec_push(&arena, &v, 3); v.data[0]; v.count.
#define VEC(T) struct { T *data; uint32_t count, capacity; }
// Walks a vector's elements with a pointer; the body must not push.
#define VEC_EACH(x, v) for (__auto_type x = (v).data; (uint32_t)(x - (v).data) < (v).count; x++)
#define vec_push(arena, v, x)                                                                                   \
  do {                                                                                                          \
    if ((v)->count == (v)->capacity)                                                                            \
      (v)->data = vec_grow_((arena), (v)->data, sizeof(*(v)->data), (v)->count, &(v)->capacity);                \
    (v)->data[(v)->count++] = (x);                                                                              \
  } while (0)
void *vec_grow_(Arena *a, void *data, size_t elem, uint32_t count, uint32_t *capacity);

#endif
