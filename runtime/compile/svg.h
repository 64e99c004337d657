// What pictures as SVG share: text with its characters escaped.
#ifndef TILE_RUNTIME_SVG_H
#define TILE_RUNTIME_SVG_H

#include "ir/buf.h"

// At (x, y) in pixels, y being the base line. attributes: "" or " name=\"value\"…".
static inline void svg_text(Buf *b, double x, double y, const char *attributes, const char *s) {
  buf_printf(b, "<text x=\"%.1f\" y=\"%.1f\"%s>", x, y, attributes);
  for (; *s; s++) {
    if (*s == '<' || *s == '>' || *s == '&') buf_puts(b, *s == '<' ? "&lt;" : *s == '>' ? "&gt;" : "&amp;");
    else buf_putc(b, *s);
  }
  buf_puts(b, "</text>\n");
}

#endif
