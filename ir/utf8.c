#include "ir/utf8.h"

size_t utf8_decode(const char *s, size_t n, uint32_t *code) {
  static const uint32_t least[UTF8_LONGEST + 1] = {0, 0, 0x80, 0x800, 0x10000};
  const unsigned char *p = (const unsigned char *)s;
  const size_t length = p[0] < 0x80 ? 1 : p[0] < 0xc0 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : p[0] < 0xf8 ? 4 : 0;
  if (!length || length > n) return 0;
  uint32_t c = length == 1 ? p[0] : p[0] & (0x7fu >> length);
  for (size_t i = 1; i < length; i++) {
    if ((p[i] & 0xc0) != 0x80) return 0;
    c = c << 6 | (p[i] & 0x3f);
  }
  if (c < least[length] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) return 0;
  *code = c;
  return length;
}

size_t utf8_encode(char to[UTF8_LONGEST], uint32_t code) {
  static const unsigned char first[UTF8_LONGEST + 1] = {0, 0, 0xc0, 0xe0, 0xf0};
  const size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  for (size_t i = length; --i; code >>= 6) to[i] = (char)(0x80 | (code & 0x3f));
  to[0] = (char)(first[length] | code);
  return length;
}
