#include "frontend/syntax/pynum.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/utf8.h"

void pynum_put_int_base(Buf *b, Int128 value, uint32_t base, bool upper) {
  char digits[132], *s = digits + sizeof digits;
  unsigned __int128 v = value < 0 ? -(unsigned __int128)value : (unsigned __int128)value;
  *--s = 0;
  do *--s = (upper ? "0123456789ABCDEF" : "0123456789abcdef")[(uint32_t)(v % base)]; while (v /= base);
  if (value < 0) buf_putc(b, '-');
  buf_puts(b, s);
}

void pynum_put_int(Buf *b, Int128 value) { pynum_put_int_base(b, value, 10, false); }

void pynum_put_float(Buf *b, double value) {
  if (isnan(value)) { buf_puts(b, "nan"); return; }
  if (isinf(value)) { buf_puts(b, value < 0 ? "-inf" : "inf"); return; }
  char text[40];
  for (int digits = 0; digits < 17; digits++) {   // digits after the first
    snprintf(text, sizeof text, "%.*e", digits, value);
    if (strtod(text, NULL) == value) break;
  }
  const char *e = strchr(text, 'e');
  int exponent = atoi(e + 1), digits = 0;   // significant digits
  for (const char *c = text; c < e; c++) digits += *c >= '0' && *c <= '9';
  if (exponent < -4 || exponent >= 16) buf_puts(b, text);
  else buf_printf(b, "%.*f", digits - 1 - exponent < 1 ? 1 : digits - 1 - exponent, value);
}

void pynum_put_utf8(Buf *b, uint32_t c) {
  char text[UTF8_LONGEST];
  buf_write(b, text, utf8_encode(text, c));
}

static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static void trim(const char **s, size_t *n) {
  while (*n && is_blank(**s)) ++*s, --*n;
  while (*n && is_blank((*s)[*n - 1])) --*n;
}

bool pynum_read_int(const char *s, size_t n, uint32_t base, Int128 *out, bool *too_large) {
  const unsigned __int128 max = ~(unsigned __int128)0 >> 1;
  trim(&s, &n);
  *too_large = false;
  bool negative = n && s[0] == '-';
  if (n && (s[0] == '-' || s[0] == '+')) s++, n--;
  if (n > 2 && s[0] == '0') {
    char c = s[1] | 0x20;
    uint32_t prefix = c == 'x' ? 16 : c == 'o' ? 8 : c == 'b' ? 2 : 0;
    if (prefix && (base == 0 || base == prefix)) {
      base = prefix;
      s += 2;
      n -= 2;
      if (s[0] == '_') s++, n--;
    }
  }
  if (!base) base = 10;
  unsigned __int128 value = 0;
  bool any = false;
  for (size_t i = 0; i < n; i++) {
    if (s[i] == '_' && any && i + 1 < n && s[i + 1] != '_') continue;
    uint32_t d = s[i] >= '0' && s[i] <= '9'                     ? (uint32_t)(s[i] - '0')
                 : (s[i] | 0x20) >= 'a' && (s[i] | 0x20) <= 'z' ? (uint32_t)((s[i] | 0x20) - 'a' + 10)
                                                                : 99;
    if (d >= base) return false;
    if (value > (max - d) / base) *too_large = true;
    else value = value * base + d;
    any = true;
  }
  *out = negative ? -(Int128)value : (Int128)value;
  return any;
}

bool pynum_read_float(const char *s, size_t n, double *out) {
  trim(&s, &n);
  char text[400];
  size_t len = 0;
  if (!n || n >= sizeof text) return false;
  for (size_t i = 0; i < n; i++) {
    char c = s[i];
    if (c == '_' && i && i + 1 < n && s[i - 1] >= '0' && s[i - 1] <= '9') continue;
    if (c == 'x' || c == 'X' || c == '(') return false;   // strtod's hex and nan(…) are not Python's
    text[len++] = c;
  }
  text[len] = 0;
  char *end;
  *out = strtod(text, &end);
  return end == text + len && !is_blank(text[0]);
}
