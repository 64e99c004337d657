// Counts what a launch does. The rules of the memory:
//
// Global memory: a request moves every 32-byte sector that one of its threads touches. (CUDA C++ Best Practices Guide,
// "Coalesced Access to Global Memory"; Nsight Compute, Kernel Profiling Guide, "Memory Tables": sectors/request.)
//
// Shared memory: 32 banks, each 4 bytes wide. Threads that access one word of a bank are served together; each further
// word of that bank takes another wavefront. (CUDA C++ Programming Guide, "Shared Memory" of compute capability 5.x and
// later.) A request of 8 bytes per thread is served by half-warps, one of 16 bytes by quarter-warps, as ldmatrix and
// stmatrix are by matrices; ir/layout_make.c has the same rule for layouts. TMA and wgmma access shared memory, too;
// their layouts are free of conflicts by their swizzles, and they are not counted.
#include "runtime/sim/counts.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/sim/async.h"

enum { BANKS = 32, WORD = 4 };

// Which bytes of an allocation were read and written: a bit for each.
typedef struct { uint64_t base, size; uint8_t *seen[2]; } SeenBytes;
typedef struct {
  LineCounts *by_instr;        // by index of the code
  SeenBytes *memory;
  uint32_t num_memory, cap_memory;
  uint64_t once[2];            // bytes read, written
} GridCounts;

void counts_begin(Grid *g) {
  if (!g->sim->counts_launches) return;
  GridCounts *c = calloc(1, sizeof *c);
  if (!c || !(c->by_instr = calloc(g->module->num_code, sizeof *c->by_instr))) free(c);
  else g->counts = c;
}

static LineCounts *counts_of(Grid *g, const Instr *in) {
  return &((GridCounts *)g->counts)->by_instr[in - g->module->code];
}

// ---- bytes that count once

static SeenBytes *seen_of(GridCounts *c, const Alloc *a) {
  for (uint32_t i = c->num_memory; i-- > 0;)
    if (c->memory[i].base == a->base && c->memory[i].size == a->size) return &c->memory[i];
  if (c->num_memory == c->cap_memory) {
    uint32_t cap = c->cap_memory ? 2 * c->cap_memory : 16;
    SeenBytes *more = realloc(c->memory, cap * sizeof *more);
    if (!more) return NULL;
    c->memory = more, c->cap_memory = cap;
  }
  SeenBytes *s = &c->memory[c->num_memory];
  *s = (SeenBytes){a->base, a->size, {calloc(a->size / 8 + 1, 1), calloc(a->size / 8 + 1, 1)}};
  if (s->seen[0] && s->seen[1]) return c->num_memory++, s;
  free(s->seen[0]), free(s->seen[1]);
  return NULL;
}

static void see(GridCounts *c, const Alloc *a, uint64_t addr, uint32_t bytes, AccessKind kind) {
  SeenBytes *s = seen_of(c, a);
  if (!s) return;
  for (int k = kind == ACCESS_WRITE; k <= (kind != ACCESS_READ); k++)   // an atomic operation reads and writes
    for (uint64_t at = addr - a->base, end = at + bytes; at < end;) {
      uint8_t *byte = &s->seen[k][at / 8];
      uint32_t n = 8 - at % 8 < end - at ? 8 - (uint32_t)(at % 8) : (uint32_t)(end - at);
      uint8_t mask = (uint8_t)(((1u << n) - 1) << at % 8);
      c->once[k] += (uint32_t)__builtin_popcount(mask & ~*byte);
      *byte |= mask;
      at += n;
    }
}

// ---- accesses

static bool is_data(const Alloc *a) { return a->kind != ALLOC_PARAM && a->kind != ALLOC_CONST; }

static void count_global(Warp *w, const Instr *in, const MemAccess *a, uint32_t mask) {
  struct { uint64_t at; uint32_t bytes; } sectors[WARP_SIZE];   // of each: which of its bytes are asked for
  uint32_t n = 0;
  FOR_LANES(l, mask) {
    // An access is aligned to its size, which is a sector's at most.
    uint64_t at = a->addr[l] / SECTOR_BYTES;
    uint32_t bytes = (a->size >= 32 ? FULL_MASK : (1u << a->size) - 1) << a->addr[l] % SECTOR_BYTES, i = n;
    while (i > 0 && sectors[i - 1].at != at) i--;
    if (!i) sectors[n].at = at, sectors[n].bytes = 0, i = ++n;
    sectors[i - 1].bytes |= bytes;
    see(w->grid->counts, a->alloc[l], a->addr[l], a->size, a->kind);
  }
  LineCounts *c = counts_of(w->grid, in);
  c->global_requests++;
  c->global_sectors += n;
  for (uint32_t i = 0; i < n; i++) c->global_asked += (uint32_t)__builtin_popcount(sectors[i].bytes);
}

// Wavefronts of the lanes of mask, which are served together: the most words that one bank has.
static uint32_t wavefronts(const MemAccess *a, uint32_t mask) {
  uint64_t words[WARP_SIZE * 4];
  uint32_t num_words = 0, in_bank[BANKS] = {0}, worst = 0;
  FOR_LANES(l, mask) {
    uint32_t last = (uint32_t)((a->addr[l] + a->size - 1) / WORD);
    for (uint32_t word = (uint32_t)(a->addr[l] / WORD); word <= last; word++) {
      uint32_t i = num_words;
      while (i > 0 && words[i - 1] != word) i--;
      if (i || num_words == countof(words)) continue;
      words[num_words++] = word;
      uint32_t k = ++in_bank[word % BANKS];
      if (k > worst) worst = k;
    }
  }
  return worst;
}

static void count_shared(Warp *w, const Instr *in, const MemAccess *a, uint32_t mask) {
  const uint32_t lanes = a->size >= 16 ? 8 : a->size >= 8 ? 16 : 32;
  LineCounts *c = counts_of(w->grid, in);
  c->shared_requests++;
  for (uint32_t first = 0; first < WARP_SIZE; first += lanes) {
    uint32_t group = mask & (FULL_MASK >> (WARP_SIZE - lanes)) << first, n = group ? wavefronts(a, group) : 0;
    c->shared_wavefronts += n;
    if (n) c->shared_conflicts += n - 1;
  }
}

void counts_access(Warp *w, const Instr *in, const MemAccess *a) {
  switch (in->op) {
  case OP_ld: case OP_ldu: case OP_st: case OP_atom: case OP_red: case OP_cp: case OP_ldmatrix: case OP_stmatrix: break;
  default: return;   // barriers and tensor maps
  }
  uint32_t global = LANES_WHERE(l, a->mask, a->space[l] == SPACE_GLOBAL && is_data(a->alloc[l]));
  uint32_t shared = LANES_WHERE(l, a->mask, a->space[l] == SPACE_SHARED && a->cta[l] == w->cta);
  if (global) count_global(w, in, a, global);
  if (shared) count_shared(w, in, a, shared);
}

void counts_bulk(Grid *g, const Instr *in, const BulkPart *part, uint64_t *last) {
  if (!part->bytes || !is_data(part->alloc)) return;
  LineCounts *c = counts_of(g, in);
  uint64_t from = part->addr / SECTOR_BYTES, to = (part->addr + part->bytes - 1) / SECTOR_BYTES;
  c->global_sectors += to - from + (from != *last);
  c->global_asked += part->bytes;
  c->tma_bytes += part->bytes;
  *last = to;
  see(g->counts, part->alloc, part->addr, part->bytes, part->kind);
}

// ---- instructions

static void count_tensor(LineCounts *c, const Warp *w, const Instr *in) {
  uint64_t flops = 2 * (uint64_t)in->m * in->n * in->k;
  const MmaSpec *spec = in->op == OP_mma ? in->aux : &((const WgmmaForm *)in->aux)->spec;
  if (in->op == OP_wgmma) flops /= 4;   // each of the four warps issues it
  c->tensor_instructions += in->op == OP_mma || w->id % 4 == 0;
  c->tensor_flops += flops;
  c->tensor_work += flops * mma_type_info(spec->a)->bits / 16;
}

void counts_instruction(Warp *w, const Instr *in, uint32_t active, uint32_t mask) {
  LineCounts *c = counts_of(w->grid, in);
  c->instructions++;
  c->thread_instructions += (uint32_t)__builtin_popcount(mask);
  c->divergent += active != w->exist;
  c->guarded += mask != active;
  if (!mask) return;
  if (in->op == OP_mma || (in->op == OP_wgmma && has_mod(in, M_mma_async))) count_tensor(c, w, in);
  if (in->op == OP_atom || in->op == OP_red) c->atomics += (uint32_t)__builtin_popcount(mask) * (in->k ? in->k : 1u);
}

// ---- sums by source line

static int by_place(const void *a, const void *b) {
  const LineCounts *x = a, *y = b;
  if (!x->file || !y->file) return !x->file - !y->file;
  int order = strcmp(x->file, y->file);
  return order ? order : (x->line > y->line) - (x->line < y->line);
}

static void sum_lines(const Grid *g, Arena *a, LaunchCounts *out) {
  const PtxModule *m = g->module;
  LineCounts *all = ((GridCounts *)g->counts)->by_instr;
  uint32_t n = 0;
  for (uint32_t i = 0; i < m->num_code; i++) {
    if (!all[i].instructions) continue;
    line_counts_add(&out->total, &all[i]);
    if (n != i) all[n] = all[i];
    all[n].file = report_user_line(m, &m->code[i], &all[n].line);
    n++;
  }
  qsort(all, n, sizeof *all, by_place);
  LineCounts *lines = arena_array(a, LineCounts, n + 1);
  for (uint32_t i = 0; i < n; i++) {
    if (!i || by_place(&all[i], &lines[out->num_lines - 1])) {
      lines[out->num_lines] = (LineCounts){.file = all[i].file, .line = all[i].line};
      if (all[i].file) lines[out->num_lines].file = arena_strndup(a, all[i].file, strlen(all[i].file));
      out->num_lines++;
    }
    line_counts_add(&lines[out->num_lines - 1], &all[i]);
  }
  out->lines = lines;
}

void counts_free(Sim *sim) {
  if (sim->launch_counts) arena_free(&sim->counts_arena);
  sim->launch_counts = NULL;
}

void counts_end(Grid *g) {
  GridCounts *c = g->counts;
  if (!c) return;
  Sim *sim = g->sim;
  counts_free(sim);
  arena_init(&sim->counts_arena);
  const uint32_t *block = g->launch.block;
  LaunchCounts *out = arena_new(&sim->counts_arena, LaunchCounts);
  *out = (LaunchCounts){.kernel = arena_strndup(&sim->counts_arena, g->func->name, strlen(g->func->name)),
                        .seed = g->seed,
                        .blocks = g->num_ctas,
                        .warps = (block[0] * block[1] * block[2] + WARP_SIZE - 1) / WARP_SIZE,
                        .read_once = c->once[0],
                        .written_once = c->once[1]};
  sum_lines(g, &sim->counts_arena, out);
  sim->launch_counts = out;
  for (uint32_t i = 0; i < c->num_memory; i++) free(c->memory[i].seen[0]), free(c->memory[i].seen[1]);
  free(c->memory);
  free(c->by_instr);
  free(c);
  g->counts = NULL;
}
