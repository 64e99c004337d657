// The table of a kernel's variants. Launches read it without a lock while another thread inserts, so slots are atomic
// and a table that is outgrown stays: what ir/map.h, which belongs to one thread, does not do.
#include <stdlib.h>
#include <string.h>

#include "runtime/compile/compile.h"
#include "runtime/jit/jit_impl.h"

bool jit_entry_is(const Entry *e, const Key *key) {
  if (e->hash != key->hash || e->num_words != key->num_words ||
      memcmp(e->words, key->words, key->num_words * sizeof *key->words))
    return false;
  for (uint32_t i = 0; i < e->num_texts; i++)
    if (strcmp(e->texts[i], key->texts[i])) return false;
  return true;
}

// The slot of the key's entry, or the empty one where it belongs. *found is what the slot held when it was looked at.
static _Atomic(const Entry *) *slot_of(Table *t, const Key *key, const Entry **found) {
  uint32_t i = (uint32_t)key->hash & t->mask;
  while ((*found = atomic_load_explicit(&t->slots[i], memory_order_acquire)) && !jit_entry_is(*found, key))
    i = (i + 1) & t->mask;
  return &t->slots[i];
}

tile_variant *jit_table_find(const tile_jit_kernel *k, const Key *key) {
  Table *t = atomic_load_explicit(&k->table, memory_order_acquire);
  const Entry *e = NULL;
  if (t) slot_of(t, key, &e);
  return e ? e->variant : NULL;
}

static void place(Table *t, const Entry *e) {
  uint32_t i = (uint32_t)e->hash & t->mask;
  while (atomic_load_explicit(&t->slots[i], memory_order_relaxed)) i = (i + 1) & t->mask;
  atomic_store_explicit(&t->slots[i], e, memory_order_release);
  t->count++;
}

// A table twice as large takes t's place.
static Table *grow(tile_jit_kernel *k, Table *t) {
  uint32_t size = t ? (t->mask + 1) * 2 : 16;
  Table *bigger = calloc(1, sizeof *bigger + size * sizeof *bigger->slots);
  if (!bigger) return NULL;
  bigger->mask = size - 1;
  bigger->older = t;
  for (uint32_t i = 0; t && i <= t->mask; i++) {
    const Entry *e = atomic_load_explicit(&t->slots[i], memory_order_relaxed);
    if (e) place(bigger, e);
  }
  atomic_store_explicit(&k->table, bigger, memory_order_release);
  return bigger;
}

typedef struct { tile_jit_kernel *k; const Key *key; tile_variant *v; } Inserting;

static tile_status insert_contained(void *user, Arena *a, tile_error **error) {
  const Inserting *in = user;
  tile_jit_kernel *k = in->k;
  const Key *key = in->key;
  Entry *e = arena_new(a, Entry);
  uint64_t *words = arena_array(a, uint64_t, key->num_words);
  const char **texts = arena_array(a, const char *, key->num_texts + 1);
  memcpy(words, key->words, key->num_words * sizeof *words);
  for (uint32_t i = 0; i < key->num_texts; i++) texts[i] = arena_printf(a, "%s", key->texts[i]);
  *e = (Entry){key->hash, key->num_words, key->num_texts, words, texts, in->v};
  Table *t = atomic_load_explicit(&k->table, memory_order_relaxed);
  if ((!t || (t->count + 1) * 2 > t->mask) && !(t = grow(k, t)))
    return error_no_memory(error);
  const Entry *old;
  _Atomic(const Entry *) *slot = slot_of(t, key, &old);
  atomic_store_explicit(slot, e, memory_order_release);
  t->count += !old;
  return TILE_OK;
}

tile_status jit_table_insert(tile_jit_kernel *k, const Key *key, tile_variant *v, tile_error **error) {
  Inserting i = {k, key, v};
  return scratch_contain(&k->arena, "keeping a variant", insert_contained, &i, error);
}
