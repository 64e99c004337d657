// Compiled kernels on disk, shared by processes. The cache may lose entries at any time and never fails: the worst is a
// miss. An entry holds its whole key and a checksum. It appears by rename: a reader sees all of it or nothing.
#ifndef TILE_RUNTIME_CACHE_H
#define TILE_RUNTIME_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/tile/rt.h"

typedef struct Cache Cache;
typedef struct { const char *folder; uint64_t entries, bytes, limit; } CacheStats;

// dir NULL: TILE_CACHE_DIR, or XDG_CACHE_HOME/tilec, or HOME/.cache/tilec. TILE_CACHE_RO names a second folder, which
// is only read; TILE_CACHE_SIZE is the limit (bytes, or with K, M, G, T; 1G if it is not given). Returns NULL if there
// is no cache.
Cache *cache_open(const char *dir);
// cache_open(NULL) for its figures and for trimming: makes no folder. One that does not exist has no entries.
Cache *cache_look(void);
tile_status cache_check_environment(tile_error **error);   // a usage error if a variable makes no sense
bool cache_is_writable(const Cache *c);
void cache_close(Cache *c);
// The payload of an entry, for the caller to free; NULL on a miss. A damaged entry is deleted.
void *cache_get(const Cache *c, const void *key, size_t key_size, size_t *size);
void cache_put(const Cache *c, const void *key, size_t key_size, const void *payload, size_t size);
CacheStats cache_stats(const Cache *c);
// Deletes the entries that were used longest ago until the rest is within limit bytes. Returns what it deleted.
CacheStats cache_trim(const Cache *c, uint64_t limit);

uint64_t cache_hash(const void *data, size_t size, uint64_t seed);

#endif
