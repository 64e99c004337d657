// Kernels as objects: what callers ask of one.
#include <stdlib.h>
#include <string.h>

#include "runtime/rt/device.h"

static const char hint[] = "\n.minnctapersm ", threads[] = "\n.reqntid ";

// Blanks the hints that limit registers; whether there was one.
static bool drop_hints(char *ptx) {
  bool found = false;
  for (char *at = ptx; (at = strstr(at, hint));) {
    const bool limits = strtoul(at + sizeof hint - 1, NULL, 10) > 1;
    found |= limits;
    for (at++; *at && *at != '\n'; at++)
      if (limits) *at = ' ';
  }
  return found;
}

// The most registers that a thread can have.
static uint32_t most_registers(const char *ptx) {
  const char *at = strstr(ptx, threads);
  const unsigned long n = at ? strtoul(at + sizeof threads - 1, NULL, 10) : 0;
  return n && SM_REGISTERS / n < THREAD_REGISTERS ? (uint32_t)(SM_REGISTERS / n) : THREAD_REGISTERS;
}

// Adds the hint of one block to each kernel.
static void ask_for_all(char *out, const char *ptx) {
  static const char all[] = "\n.minnctapersm 1";
  for (const char *at; (at = strstr(ptx, threads));) {
    const char *end = at + 1 + strcspn(at + 1, "\n");
    memcpy(out, ptx, (size_t)(end - ptx));
    out += end - ptx;
    memcpy(out, all, sizeof all - 1);
    out += sizeof all - 1;
    ptx = end;
  }
  memcpy(out, ptx, strlen(ptx) + 1);
}

char *kernel_with_other_hint(const char *ptx, const CodeUse *use) {
  if (use->local_bytes <= resources_declared_local(ptx)) return NULL;
  size_t size = strlen(ptx) + 1;
  for (const char *at = ptx; (at = strstr(at, threads)); at++) size += sizeof hint + 1;
  char *out = malloc(size);
  if (!out) return NULL;
  memcpy(out, ptx, strlen(ptx) + 1);
  if (drop_hints(out)) return out;
  if (!strstr(ptx, hint + 1) && !strstr(ptx, ".maxnreg ") && 2 * use->registers <= most_registers(ptx)) {
    ask_for_all(out, ptx);
    return out;
  }
  free(out);
  return NULL;
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
  if (!k || !name) return NULL;
  for (uint32_t i = 0; i < k->num_constexprs; i++)
    if (!strcmp(k->constexpr_names[i], name)) return k->constexpr_values[i];
  return NULL;
}

size_t tile_kernel_num_constexprs(const tile_kernel *k) { return k ? k->num_constexprs : 0; }
const char *tile_kernel_constexpr_name(const tile_kernel *k, size_t i) {
  return k && i < k->num_constexprs ? k->constexpr_names[i] : NULL;
}
const char *tile_kernel_name(const tile_kernel *k) { return k ? k->name : NULL; }
size_t tile_kernel_num_args(const tile_kernel *k) { return k ? k->num_args : 0; }
void *tile_kernel_function(const tile_kernel *k) { return k ? k->function : NULL; }
const char *tile_kernel_arch(const tile_kernel *k) { return k && k->target ? k->target->name : NULL; }
uint32_t tile_kernel_ptx_version(const tile_kernel *k) { return k ? k->ptx_version : 0; }
uint32_t tile_kernel_num_warps(const tile_kernel *k) { return k ? k->num_threads / WARP_SIZE : 0; }
uint32_t tile_kernel_num_ctas(const tile_kernel *k) { return k ? k->num_ctas : 0; }
uint32_t tile_kernel_num_threads(const tile_kernel *k) { return k ? k->num_threads : 0; }
uint32_t tile_kernel_shared_bytes(const tile_kernel *k) { return k ? k->shared_bytes : 0; }
uint32_t tile_kernel_scratch_bytes(const tile_kernel *k) { return k ? k->scratch_bytes : 0; }

bool tile_kernel_get_param(const tile_kernel *k, size_t i, tile_param *out) {
  if (!k || i >= k->num_args) return false;
  const KernelParam *p = &k->params[i];
  tile_param all = {.struct_size = sizeof all,
                    .name = p->name,
                    .type_text = p->spelling,
                    .kind = (tile_arg_kind)launch_param_kind(p),
                    .type = launch_param_type(p),
                    .divisibility = p->is_pointer || !p->rank ? param_multiple(p) : 16,
                    .rank = p->rank};
  const char *s = strchr(p->spelling, '[');   // the block, of which a tensor map may take a part at a time
  for (uint32_t a = 0; s && a < p->rank && a < TILE_MAX_RANK; a++) {
    all.block[a] = strtoll(s + 1, NULL, 10);
    s = strchr(s + 1, ',');
  }
  return GIVE_OUT(tile_param, out, &all);
}

void tile_kernel_free(tile_kernel *k) {
  if (!k) return;
  if (k->device) k->device->ops->unload(k);
  pthread_mutex_destroy(&k->scratch_lock);
  arena_free(&k->arena);
  free(k);
}
