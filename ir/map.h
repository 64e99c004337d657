// The hash map: open addressing in an arena, at most half full, linear probing. A key is a pointer, compared by its
// address or by the user's MapEqual (as the string or type to which it points). Nothing is removed, and nobody walks a
// map: its order depends on addresses.
//
//   MapSlot *s = map_at(&arena, &map, v);      the slot of pointer v; a new one has value NULL and number 0
//   s = map_get(&map, v);                      … or NULL
#ifndef TILE_IR_MAP_H
#define TILE_IR_MAP_H

#include "ir/arena.h"

typedef struct {
  const void *key;                           // NULL: empty
  union { void *value; uint64_t number; };
  uint32_t hash;
} MapSlot;
typedef struct { MapSlot *slots; uint32_t count, capacity; } Map;   // {0} is empty

// Whether the key of a slot equals the one sought, which has the same hash.
typedef bool MapEqual(const void *kept, const void *key);

static inline uint32_t map_hash_number(uint64_t n) { return (uint32_t)(n * 0x9E3779B97F4A7C15ull >> 32); }
static inline uint32_t map_hash_pointer(const void *p) {
  return map_hash_number((uintptr_t)p >> 4);
}

static inline uint32_t map_hash_bytes(const char *s, size_t n) {
  uint32_t h = 2166136261u;
  for (size_t i = 0; i < n; i++) h = (h ^ (unsigned char)s[i]) * 16777619u;
  return h ^ h >> 15;
}

// The slot of the key, or the empty one where it belongs. equal is NULL: compares addresses.
static inline MapSlot *map_probe(const Map *m, uint32_t hash, const void *key, MapEqual *equal) {
  for (uint32_t at = hash & (m->capacity - 1);; at = (at + 1) & (m->capacity - 1)) {
    MapSlot *s = &m->slots[at];
    if (!s->key || (s->hash == hash && (equal ? equal(s->key, key) : s->key == key))) return s;
  }
}

static inline void map_grow(Arena *a, Map *m) {
  Map more = {NULL, m->count, m->capacity ? m->capacity * 2 : 32};
  more.slots = arena_array(a, MapSlot, more.capacity);
  for (uint32_t i = 0; i < m->capacity; i++)
    if (m->slots[i].key) *map_probe(&more, m->slots[i].hash, NULL, NULL) = m->slots[i];
  *m = more;
}

// As map_probe, with room for one more. If the slot is empty, the caller sets its key, and value or number.
static inline MapSlot *map_find(Arena *a, Map *m, uint32_t hash, const void *key, MapEqual *equal) {
  if (m->count * 2 >= m->capacity) map_grow(a, m);
  MapSlot *s = map_probe(m, hash, key, equal);
  m->count += !s->key;
  s->hash = hash;
  return s;
}

static inline MapSlot *map_at(Arena *a, Map *m, const void *key) {
  MapSlot *s = map_find(a, m, map_hash_pointer(key), key, NULL);
  s->key = key;
  return s;
}

// As map_probe; NULL where map_probe gives an empty slot.
static inline MapSlot *map_seek(const Map *m, uint32_t hash, const void *key, MapEqual *equal) {
  MapSlot *s = m->capacity ? map_probe(m, hash, key, equal) : NULL;
  return s && s->key ? s : NULL;
}

static inline MapSlot *map_get(const Map *m, const void *key) {
  return map_seek(m, map_hash_pointer(key), key, NULL);
}

#endif
