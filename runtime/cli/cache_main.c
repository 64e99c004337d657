// `tilec cache stats|trim|clear`: shows, trims or empties the cache of compiled kernels.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/jit/jit.h"
#include "runtime/cli/cli.h"
#include "runtime/compile/compile.h"

static const char *size_text(Arena *a, uint64_t bytes) {
  static const char *const units[] = {"bytes", "KB", "MB", "GB", "TB"};
  uint32_t unit = 0;
  double v = (double)bytes;
  for (; v >= 1024 && unit + 1 < countof(units); unit++) v /= 1024;
  return arena_printf(a, unit ? "%.1f %s" : "%.0f %s", v, units[unit]);
}

static tile_status no_folder(tile_error **error) {
  const char *named = getenv("TILE_CACHE_DIR");
  if (named && *named)
    return error_set(error, TILE_ERROR_FILE,
                     "TILE_CACHE_DIR names %s, which is no folder that only you may write: name another", named);
  return error_set(error, TILE_ERROR_FILE,
                   "there is no usable cache folder: XDG_CACHE_HOME and HOME name none that only you may write; "
                   "name one in TILE_CACHE_DIR");
}

int cache_main(const Options *o, Arena *a) {
  tile_error *error = NULL;
  const char *action = o->inputs.count ? o->inputs.data[0] : "stats";
  static const char *const actions[] = {"stats", "trim", "clear"};
  uint32_t which = 0;
  while (which < countof(actions) && strcmp(action, actions[which])) which++;
  if (which == countof(actions) || o->inputs.count > 1) {
    tile_status status = error_set(&error, TILE_ERROR_USAGE,
                                   "write tilec cache stats, tilec cache trim or tilec cache clear; "
                                   "TILE_CACHE_DIR names the folder");
    return cli_finish(status, error, o);
  }
  const tile_status environment = cache_check_environment(&error);
  if (environment != TILE_OK) return cli_finish(environment, error, o);
  Cache *c = cache_look();
  // `stats` also works for a folder that can only be read.
  if (!c || !*cache_stats(c).folder || (which && !cache_is_writable(c))) {
    cache_close(c);
    const tile_status status = no_folder(&error);
    return cli_finish(status, error, o);
  }
  CacheStats s = cache_stats(c);
  if (which == 0) {
    printf("%s: %llu entries, %s of at most %s\n", s.folder, (unsigned long long)s.entries, size_text(a, s.bytes),
           size_text(a, s.limit));
  } else {
    CacheStats removed = cache_trim(c, which == 1 ? s.limit : 0);
    printf("%s: %llu entries removed, %s; %llu left\n", s.folder, (unsigned long long)removed.entries,
           size_text(a, removed.bytes), (unsigned long long)cache_stats(c).entries);
  }
  cache_close(c);
  return 0;
}
