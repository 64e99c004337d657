// Device memory: one lazily committed reservation of address space per device. A device address is the host address
// of its bytes. Gaps between allocations catch accesses past an end.
#include <string.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "runtime/sim/sim.h"

enum { GUARD = 4096 };   // a page: between two allocations

static bool reserve(Device *d) {
  if (d->region) return true;
  // A fixed hint makes addresses, and therefore reports, repeatable; the operating system may choose another place.
  uint64_t hint = UINT64_C(0x200000000000) + ((uint64_t)d->ordinal << 41);
  for (unsigned shift = 40; shift >= 31; shift -= 3) {
    void *p = mmap((void *)(uintptr_t)hint, (size_t)1 << shift, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) continue;
    d->region = (uint64_t)(uintptr_t)p;
    d->region_size = UINT64_C(1) << shift;
    d->brk = d->region;
    return true;
  }
  return false;
}

void device_release(Device *d) {
  if (d->region) munmap((void *)(uintptr_t)d->region, d->region_size);
  for (uint32_t i = 0; i < d->num_allocs; i++)
    free(d->allocs[i]->shadow), free(d->allocs[i]->marks), blocks_forget(d->allocs[i]), free(d->allocs[i]);
  free(d->allocs);
  d->region = 0;
  d->allocs = NULL;
  d->num_allocs = d->cap_allocs = 0;
}

static uint64_t align_up(uint64_t x, uint64_t a) { return (x + a - 1) & ~(a - 1); }

// Index of the first allocation with base > addr.
static uint32_t upper_bound(const Device *d, uint64_t addr) {
  uint32_t lo = 0, hi = d->num_allocs;
  while (lo < hi) {
    uint32_t mid = (lo + hi) / 2;
    if (d->allocs[mid]->base <= addr) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

static uint64_t find_place(Device *d, uint64_t size, uint64_t align) {
  uint64_t end = d->region + d->region_size, base = align_up(d->brk, align);
  if (base + size + GUARD <= end) {
    d->brk = base + size + GUARD;
    return base;
  }
  base = d->region;   // the reservation is used up: first gap that fits
  for (uint32_t i = 0; i <= d->num_allocs; i++) {
    base = align_up(base, align);
    uint64_t limit = i < d->num_allocs ? d->allocs[i]->base : end;
    if (base + size + GUARD <= limit) return base;
    if (i < d->num_allocs) base = d->allocs[i]->base + d->allocs[i]->size + GUARD;
  }
  return 0;
}

// Fresh device memory may hold anything. These 16 bytes, from each multiple of 16 on, are NaN in floats of 16, 32 and 64
// bits and negative in integers, and are easily noticed; runtime/python/tilec/_fresh.py knows them. Large blocks stay
// uncommitted zeros.
static void fill_fresh(uint8_t *memory, uint64_t size) {
  static const uint8_t pattern[16] = {0xf5, 0xff, 0xf9, 0xff, 0xf3, 0xff, 0xfd, 0xff,
                                      0xf6, 0xff, 0xfb, 0xff, 0xf2, 0xff, 0xfe, 0xff};
  for (uint64_t at = 0; at < size; at += sizeof pattern)
    memcpy(memory + at, pattern, size - at < sizeof pattern ? size - at : sizeof pattern);
}

uint64_t device_alloc(Device *d, uint64_t size, uint64_t align, AllocKind kind) {
  if (!size || size > d->total_mem - d->used_mem || !reserve(d)) return 0;
  if (align < 512) align = 512;
  uint64_t base = find_place(d, size, align);
  if (!base) return 0;
  if (d->num_allocs == d->cap_allocs) {
    uint32_t cap = d->cap_allocs ? d->cap_allocs * 2 : 64;
    Alloc **more = realloc(d->allocs, cap * sizeof *more);
    if (!more) return 0;
    d->allocs = more;
    d->cap_allocs = cap;
  }
  Alloc *a = calloc(1, sizeof *a);
  if (!a) return 0;
  *a = (Alloc){.base = base, .size = size, .kind = kind};
  uint32_t at = upper_bound(d, base);
  memmove(d->allocs + at + 1, d->allocs + at, (d->num_allocs - at) * sizeof *d->allocs);
  d->allocs[at] = a;
  d->num_allocs++;
  d->used_mem += size;
  if ((kind == ALLOC_DEVICE || kind == ALLOC_HEAP) && size <= 64u << 20) fill_fresh((uint8_t *)(uintptr_t)base, size);
  return base;
}

bool device_free(Device *d, uint64_t addr) {
  uint32_t at = upper_bound(d, addr);
  if (!at || d->allocs[at - 1]->base != addr) return false;
  Alloc *a = d->allocs[--at];
  memmove(d->allocs + at, d->allocs + at + 1, (d->num_allocs - at - 1) * sizeof *d->allocs);
  d->num_allocs--;
  d->used_mem -= a->size;
  // No other allocation lies in its pages.
  const uint64_t first = a->base & ~(uint64_t)(GUARD - 1), end = align_up(a->base + a->size, GUARD);
  madvise((void *)(uintptr_t)first, end - first, MADV_DONTNEED);
  free(a->shadow);
  free(a->marks);
  blocks_forget(a);
  free(a);
  return true;
}

void device_free_all(Device *d) {
  for (uint32_t i = d->num_allocs; i-- > 0;)
    if (d->allocs[i]->kind == ALLOC_DEVICE || d->allocs[i]->kind == ALLOC_HOST) device_free(d, d->allocs[i]->base);
}

Alloc *device_find(Device *d, uint64_t addr) {
  uint32_t at = upper_bound(d, addr);
  if (!at) return NULL;
  Alloc *a = d->allocs[at - 1];
  return addr - a->base < a->size ? a : NULL;
}

Alloc *device_nearest(Device *d, uint64_t addr) {
  uint32_t at = upper_bound(d, addr);
  if (at && addr - d->allocs[at - 1]->base < d->allocs[at - 1]->size + (64u << 20)) return d->allocs[at - 1];
  return at < d->num_allocs ? d->allocs[at] : NULL;
}
