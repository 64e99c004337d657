// UTF-8: one character at a time.
#ifndef TILE_IR_UTF8_H
#define TILE_IR_UTF8_H

#include "ir/base.h"

enum { UTF8_LONGEST = 4 };

// Reads the character at s, of which n > 0 bytes may be looked at. Returns its length in bytes and sets *code; returns
// 0 and leaves *code if no valid sequence begins there: overlong, cut off, a surrogate or above U+10FFFF.
size_t utf8_decode(const char *s, size_t n, uint32_t *code);
// Writes a code point up to U+10FFFF. Returns its length in bytes.
size_t utf8_encode(char to[UTF8_LONGEST], uint32_t code);

#endif
