// Kernels as objects: what callers ask of one.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/rt/device.h"

static const char hint[] = "\n.minnctapersm ", threads[] = "\n.reqntid ";

// The number in the text's first directive of that name; 0: there is none.
static unsigned long number_of(const char *ptx, const char *directive) {
  const char *at = strstr(ptx, directive);
  return at ? strtoul(at + strlen(directive), NULL, 10) : 0;
}

// The most registers that a thread can have.
static uint32_t most_registers(const char *ptx) {
  const unsigned long n = number_of(ptx, threads);
  return n && SM_REGISTERS / n < THREAD_REGISTERS ? (uint32_t)(SM_REGISTERS / n) : THREAD_REGISTERS;
}

// The blocks that an SM's registers hold if each thread has what was spilled, too; 0: not one. Of several, those that
// leave some registers more: where a block just fits, the assembler spills again.
static unsigned long blocks_without_spills(const char *ptx, const CodeUse *use) {
  enum { SPARE = 8 };
  const unsigned long n = number_of(ptx, threads), need = use->registers + use->local_bytes / 4;
  if (!n || need > THREAD_REGISTERS || n * need > SM_REGISTERS) return 0;
  const unsigned long blocks = SM_REGISTERS / (n * (need + SPARE));
  return blocks ? blocks : 1;
}

// Copies the PTX with the hint of so many blocks in each kernel, 0: without one. NULL: no memory.
static char *with_hint(const char *ptx, unsigned long blocks) {
  enum { LONGEST = 16 };
  char line[LONGEST + sizeof hint] = "";
  const size_t n = blocks ? (size_t)snprintf(line, sizeof line, "%s%lu", hint, blocks) : 0;
  size_t size = strlen(ptx) + 1;
  for (const char *at = ptx; (at = strstr(at, threads)); at++) size += n;
  char *out = malloc(size), *to = out;
  for (const char *at; out && (at = strstr(ptx, threads));) {
    const char *end = at + 1 + strcspn(at + 1, "\n");
    memcpy(to, ptx, (size_t)(end - ptx));
    to += end - ptx;
    memcpy(to, line, n);
    to += n;
    ptx = strncmp(end, hint, sizeof hint - 1) ? end : end + 1 + strcspn(end + 1, "\n");
  }
  if (out) memcpy(to, ptx, strlen(ptx) + 1);
  return out;
}

char *kernel_with_other_hint(const char *ptx, const CodeUse *use) {
  if (use->local_bytes <= resources_declared_local(ptx)) return NULL;
  const unsigned long asked = number_of(ptx, hint);
  if (asked > 1) {
    const unsigned long blocks = blocks_without_spills(ptx, use);
    return with_hint(ptx, blocks < asked ? blocks : asked - 1);
  }
  if (strstr(ptx, hint + 1) || strstr(ptx, ".maxnreg ")) return NULL;
  // Without a hint the assembler may keep to fewer registers than there are; a few spills can be those of its order.
  enum { FEW_BYTES = 64 };
  const bool has_more = 2 * use->registers <= most_registers(ptx) + 1;
  return has_more || use->local_bytes <= FEW_BYTES ? with_hint(ptx, 1) : NULL;
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
