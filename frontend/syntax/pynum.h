// Numbers as Python writes and reads them.
#ifndef TILE_FRONTEND_PYNUM_H
#define TILE_FRONTEND_PYNUM_H

#include "frontend/syntax/ast.h"
#include "ir/buf.h"

void pynum_put_int(Buf *b, Int128 value);                        // decimal
void pynum_put_int_base(Buf *b, Int128 value, uint32_t base, bool upper);   // sign and digits, no prefix
// repr(): the shortest text that reads back, "1.0", "1e+16", "inf"
void pynum_put_float(Buf *b, double value);
void pynum_put_utf8(Buf *b, uint32_t c);
// int(text, base) and float(text): surrounding blanks and underscores allowed. False if it is not a number.
bool pynum_read_int(const char *s, size_t n, uint32_t base, Int128 *out, bool *too_large);
bool pynum_read_float(const char *s, size_t n, double *out);

#endif
