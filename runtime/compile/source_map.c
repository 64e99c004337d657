// The source map of a text that a program gathered from several files.
#include "runtime/compile/compile.h"

enum { MOST_LINES = 1 << 20 };

tile_status source_map_check(const tile_source_range *map, size_t count, tile_error **error) {
  if (count && !map) return error_set(error, TILE_ERROR_USAGE, "source_map is NULL, and num_source_map %zu", count);
  for (size_t i = 0; i < count; i++) {
    const uint32_t before = i ? map[i - 1].first_line : 0;
    if (!map[i].file)
      return error_set(error, TILE_ERROR_USAGE, "source_map[%zu] names no file", i);
    if (!is_zero(map[i].reserved, sizeof map[i].reserved))
      return error_set(error, TILE_ERROR_USAGE, "source_map[%zu]: its %s", i, GIVEN_RESERVED);
    if (map[i].first_line <= before || !map[i].file_line || map[i].file_line > MOST_LINES)
      return error_set(error, TILE_ERROR_USAGE,
                       "source_map[%zu]: lines count from 1 to %d, and first_line ascends from range to range; there "
                       "are first_line %u and file_line %u", i, MOST_LINES, map[i].first_line, map[i].file_line);
  }
  return TILE_OK;
}

void source_map_apply(Context *ctx, const char *path, const tile_source_range *map, size_t count) {
  SourceRange *ranges = arena_array(&ctx->arena, SourceRange, count + 1);
  for (size_t i = 0; i < count; i++)
    ranges[i] = (SourceRange){map[i].first_line, map[i].file_line, intern(ctx, map[i].file)};
  ctx->ranges_path = count ? path : NULL;
  ctx->source_ranges = ranges;
  ctx->num_source_ranges = (uint32_t)count;
}
