// Kernels as objects: what callers ask of one.
#include <stdlib.h>
#include <string.h>

#include "runtime/rt/device.h"

bool kernel_drop_occupancy(char *ptx) {
  static const char hint[] = "\n.minnctapersm ";
  bool found = false;
  for (char *at = ptx; (at = strstr(at, hint));) {
    const bool limits = strtoul(at + sizeof hint - 1, NULL, 10) > 1;
    found |= limits;
    for (at++; *at && *at != '\n'; at++)
      if (limits) *at = ' ';
  }
  return found;
}

tile_kernel *kernel_new(tile_device *d) {
  tile_kernel *k = calloc(1, sizeof *k);
  if (!k) return NULL;
  arena_init_with(&k->arena, d ? hooks_memory(&d->hooks) : (ArenaMemory){0}, &k->on_empty);
  pthread_mutex_init(&k->scratch_lock, NULL);
  k->device = d;
  return k;
}

const char *tile_kernel_constexpr(const tile_kernel *k, const char *name) {
  for (uint32_t i = 0; i < k->num_constexprs; i++)
    if (!strcmp(k->constexpr_names[i], name)) return k->constexpr_values[i];
  return NULL;
}

const char *tile_kernel_name(const tile_kernel *k) { return k->name; }
size_t tile_kernel_num_args(const tile_kernel *k) { return k->num_args; }
void *tile_kernel_function(const tile_kernel *k) { return k->function; }
uint32_t tile_kernel_num_threads(const tile_kernel *k) { return k->num_threads; }
uint32_t tile_kernel_shared_bytes(const tile_kernel *k) { return k->shared_bytes; }
uint32_t tile_kernel_scratch_bytes(const tile_kernel *k) { return k->scratch_bytes; }

void tile_kernel_free(tile_kernel *k) {
  if (!k) return;
  if (k->device) k->device->ops->unload(k);
  pthread_mutex_destroy(&k->scratch_lock);
  arena_free(&k->arena);
  free(k);
}
