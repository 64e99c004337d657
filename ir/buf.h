// Buf: growing text in an arena, always NUL-terminated. What buf_str returns stays valid until the next append.
#ifndef TILE_IR_BUF_H
#define TILE_IR_BUF_H

#include "ir/arena.h"

typedef struct Buf {
  Arena *arena;
  char *data;
  size_t size, capacity;   // size without the final NUL
} Buf;

static inline Buf buf_make(Arena *a) { return (Buf){.arena = a}; }
void buf_write(Buf *b, const char *s, size_t n);
void buf_puts(Buf *b, const char *s);
void buf_putc(Buf *b, char c);
void buf_fill(Buf *b, char c, size_t n);   // c, n times
void buf_printf(Buf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
// s in double quotes with the escapes \\ \" \n \t \xNN, which the IR reader and readers of JSON-like text understand.
void buf_quote(Buf *b, const char *s, size_t n);
const char *buf_str(Buf *b);

#endif
