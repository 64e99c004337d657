// Levenshtein distance, one row of the matrix at a time.
#include "ir/nearest.h"

#include <string.h>

// A value above limit if the distance exceeds it.
static uint32_t distance(const char *a, const char *b, uint32_t limit) {
  enum { LONGEST = 64 };
  size_t n = strlen(a), m = strlen(b);
  if (n >= LONGEST || m >= LONGEST || (n > m ? n - m : m - n) > limit) return limit + 1;
  uint32_t row[LONGEST];
  for (size_t j = 0; j <= m; j++) row[j] = (uint32_t)j;
  for (size_t i = 1; i <= n; i++) {
    uint32_t diagonal = row[0];
    row[0] = (uint32_t)i;
    for (size_t j = 1; j <= m; j++) {
      uint32_t best = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      if (row[j] + 1 < best) best = row[j] + 1;
      if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
      row[j] = best;
    }
  }
  return row[m];
}

const char *nearest_name(const char *name, const char *const *names, uint32_t count) {
  size_t length = strlen(name);
  uint32_t limit = length <= 3 ? 1 : length <= 7 ? 2 : 3;
  const char *best = NULL;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t d = distance(name, names[i], limit);
    if (d > limit || d == 0) continue;
    best = names[i];
    limit = d - 1;
  }
  return best;
}
