#include "ir/gf2.h"

uint32_t gf2_reduce(const Gf2Space *s, uint32_t vec, uint32_t *pre) {
  uint32_t p = 0;
  for (uint32_t left = vec; left;) {
    uint32_t b = log2_u32(left);
    left &= ~(1u << b);
    if (!s->vec[b]) continue;
    vec ^= s->vec[b];
    p ^= s->pre[b];
    left ^= s->vec[b] & ~(1u << b);
  }
  if (pre) *pre = p;
  return vec;
}


bool gf2_add(Gf2Space *s, uint32_t vec, uint32_t pre) {
  uint32_t used;
  vec = gf2_reduce(s, vec, &used);
  if (!vec) return false;
  uint32_t b = log2_u32(vec);
  s->vec[b] = vec;
  s->pre[b] = pre ^ used;
  s->dim++;
  return true;
}

Gf2Space gf2_span(const uint32_t *cols, uint32_t n) {
  Gf2Space s = {0};
  for (uint32_t i = 0; i < n; i++) gf2_add(&s, cols[i], 1u << i);
  return s;
}

uint32_t gf2_rank(const uint32_t *cols, uint32_t n) { return gf2_span(cols, n).dim; }

uint32_t gf2_intersect(const uint32_t *a, uint32_t num_a, const uint32_t *b, uint32_t num_b, uint32_t *out) {
  // A dependency among a's and b's columns is an element of a's span that b's span has too.
  Gf2Space sum = gf2_span(a, num_a), found = {0};
  uint32_t n = 0;
  for (uint32_t i = 0; i < num_b; i++) {
    uint32_t pre, rest = gf2_reduce(&sum, b[i], &pre);
    if (rest) {
      // A preimage counts only a's columns: a vector that b added has the part of a by which it was reduced.
      sum.vec[log2_u32(rest)] = rest;
      sum.pre[log2_u32(rest)] = pre;
      sum.dim++;
    } else {
      uint32_t v = gf2_apply(a, num_a, pre);
      if (gf2_add(&found, v, 0)) out[n++] = v;
    }
  }
  return n;
}
