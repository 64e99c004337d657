// A compiled kernel as bytes: everything a launch needs, and the PTX. Same machine, same build: the cache's header says
// which, so numbers are stored as they are in memory. Every offset is checked: the bytes may come from a damaged file.
#include <string.h>

#include "runtime/rt/device.h"

enum { IMAGE_MAGIC = 0x31696c74, MAX_IMAGE_PARAMS = 4096 };

static void put_u64(Buf *b, uint64_t v) { buf_write(b, (const char *)&v, sizeof v); }
static void put_text(Buf *b, const char *s) {
  size_t n = strlen(s);
  put_u64(b, n);
  buf_write(b, s, n + 1);
}

void image_write(Buf *b, const tile_kernel *k) {
  const uint64_t numbers[] = {IMAGE_MAGIC, sizeof(KernelParam), k->num_params, k->num_args, k->num_threads, k->num_ctas, k->shared_bytes, k->scratch_bytes, k->cooperative, k->pdl, k->num_constexprs};
  for (uint32_t i = 0; i < countof(numbers); i++) put_u64(b, numbers[i]);
  put_text(b, k->name);
  put_text(b, k->target->name);
  for (uint32_t i = 0; i < k->num_params; i++) {
    KernelParam p = k->params[i];
    p.name = p.spelling = NULL;
    buf_write(b, (const char *)&p, sizeof p);
    put_text(b, k->params[i].name);
    put_text(b, k->params[i].spelling);
  }
  for (uint32_t i = 0; i < k->num_constexprs; i++) put_text(b, k->constexpr_names[i]), put_text(b, k->constexpr_values[i]);
  put_text(b, k->ptx);
}

typedef struct { const char *at; size_t left; bool bad; } Reader;

static const char *take(Reader *r, size_t n) {
  if (r->bad || n > r->left) {
    r->bad = true;
    return NULL;
  }
  const char *p = r->at;
  r->at += n;
  r->left -= n;
  return p;
}
static uint64_t take_u64(Reader *r) {
  uint64_t v = 0;
  const char *p = take(r, sizeof v);
  if (p) memcpy(&v, p, sizeof v);
  return v;
}
static const char *take_text(Reader *r) {
  uint64_t n = take_u64(r);
  const char *p = n < SIZE_MAX ? take(r, (size_t)n + 1) : NULL;
  if (p && p[n] == 0 && strlen(p) == n) return p;
  r->bad = true;
  return "";
}

static bool read_param(Reader *r, Arena *a, KernelParam *p) {
  const char *bytes = take(r, sizeof *p);
  if (!bytes) return false;
  memcpy(p, bytes, sizeof *p);
  p->name = arena_printf(a, "%s", take_text(r));
  p->spelling = arena_printf(a, "%s", take_text(r));
  return !r->bad && p->rank <= MAX_RANK && (unsigned)p->scalar < NUM_SCALARS && p->divisible >= 1;
}

tile_kernel *image_read(tile_device *device, const void *bytes, size_t size) {
  Reader r = {bytes, size, false};
  if (take_u64(&r) != IMAGE_MAGIC || take_u64(&r) != sizeof(KernelParam)) return NULL;
  uint32_t numbers[9];
  for (uint32_t i = 0; i < countof(numbers); i++) numbers[i] = (uint32_t)take_u64(&r);
  if (r.bad || numbers[0] > MAX_IMAGE_PARAMS || numbers[1] > numbers[0] || numbers[8] > MAX_IMAGE_PARAMS) return NULL;
  tile_kernel *k = kernel_new(device);
  if (!k) return NULL;
  uint32_t *const fields[] = {&k->num_params, &k->num_args, &k->num_threads, &k->num_ctas, &k->shared_bytes, &k->scratch_bytes};
  for (uint32_t i = 0; i < countof(fields); i++) *fields[i] = numbers[i];
  k->cooperative = numbers[6];
  k->pdl = numbers[7];
  k->name = arena_printf(&k->arena, "%s", take_text(&r));
  k->target = target_find(take_text(&r));
  k->params = arena_array(&k->arena, KernelParam, k->num_params + 1);
  bool ok = k->target != NULL;
  for (uint32_t i = 0; ok && i < k->num_params; i++) ok = read_param(&r, &k->arena, &k->params[i]);
  k->num_constexprs = numbers[8];
  k->constexpr_names = arena_array(&k->arena, const char *, k->num_constexprs + 1);
  k->constexpr_values = arena_array(&k->arena, const char *, k->num_constexprs + 1);
  for (uint32_t i = 0; ok && i < k->num_constexprs; i++) {
    k->constexpr_names[i] = arena_printf(&k->arena, "%s", take_text(&r));
    k->constexpr_values[i] = arena_printf(&k->arena, "%s", take_text(&r));
  }
  if (ok) k->ptx = take_text(&r);
  if (ok && !r.bad && !r.left) return k;
  tile_kernel_free(k);
  return NULL;
}
