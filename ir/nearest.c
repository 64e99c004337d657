// Edit distance with transpositions, regardless of case: three rows of the matrix at a time.
#include "ir/nearest.h"

#include <ctype.h>
#include <string.h>

enum { LONGEST = 64 };

static uint32_t min3(uint32_t a, uint32_t b, uint32_t c) {
  const uint32_t ab = a < b ? a : b;
  return ab < c ? ab : c;
}

static bool same(char a, char b) { return tolower((unsigned char)a) == tolower((unsigned char)b); }

// A value above limit if the distance exceeds it.
static uint32_t distance(const char *a, const char *b, uint32_t limit) {
  const size_t n = strlen(a), m = strlen(b);
  if (n >= LONGEST || m >= LONGEST || (n > m ? n - m : m - n) > limit) return limit + 1;
  uint32_t rows[3][LONGEST], *before = rows[0], *above = rows[1], *row = rows[2];
  for (size_t j = 0; j <= m; j++) row[j] = (uint32_t)j;
  for (size_t i = 1; i <= n; i++) {
    uint32_t *oldest = before;
    before = above;
    above = row;
    row = oldest;
    row[0] = (uint32_t)i;
    for (size_t j = 1; j <= m; j++) {
      row[j] = min3(above[j] + 1, row[j - 1] + 1, above[j - 1] + !same(a[i - 1], b[j - 1]));
      if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]) && before[j - 2] + 1 < row[j])
        row[j] = before[j - 2] + 1;
    }
  }
  return row[m];
}

const char *nearest_name(const char *name, const char *const *names, uint32_t count) {
  const size_t length = strlen(name);
  uint32_t limit = length <= 2 ? 0 : length <= 5 ? 1 : length <= 9 ? 2 : 3;
  const char *best = NULL;
  for (uint32_t i = 0; i < count; i++) {
    if (strcmp(name, names[i]) == 0) continue;
    const uint32_t d = distance(name, names[i], limit);
    if (d > limit) continue;
    best = names[i];
    if (d == 0) break;
    limit = d - 1;
  }
  return best;
}
