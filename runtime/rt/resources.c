// What a kernel takes of an SM: what its machine code says of itself, and the occupancy that follows. Every part of
// tilec that asks for registers, local memory or occupancy of machine code asks here.
#include <elf.h>
#include <string.h>

#include "runtime/rt/device.h"

// ---- what a cubin says ----

// Attributes of a cubin's section .nv.info: a byte for the format, one for the kind, and two for a value or, in format
// SIZED, for the number of bytes that follow. `nvdisasm --print-raw` and `cuobjdump -elf` show them by name. The two
// that count here hold the number of the kernel's symbol and a value.
enum { FORMAT_SIZED = 4, FRAME_SIZE = 0x11, REGISTER_COUNT = 0x2f };

typedef struct {
  const unsigned char *bytes;
  size_t size;
  Elf64_Ehdr head;
} Cubin;

static bool open_cubin(Cubin *c, const void *bytes, size_t size) {
  *c = (Cubin){.bytes = bytes, .size = size};
  if (size < sizeof c->head) return false;
  memcpy(&c->head, bytes, sizeof c->head);
  return !memcmp(c->head.e_ident, ELFMAG, SELFMAG) && c->head.e_shentsize == sizeof(Elf64_Shdr) &&
         c->head.e_shoff <= size && (size - c->head.e_shoff) / sizeof(Elf64_Shdr) >= c->head.e_shnum &&
         c->head.e_shstrndx < c->head.e_shnum;
}

// Section i with bytes that lie in the file.
static bool section_at(const Cubin *c, uint32_t i, Elf64_Shdr *s) {
  if (i >= c->head.e_shnum) return false;
  memcpy(s, c->bytes + c->head.e_shoff + i * sizeof *s, sizeof *s);
  return s->sh_type != SHT_NOBITS && s->sh_offset <= c->size && c->size - s->sh_offset >= s->sh_size;
}

// Whether a string table has the name at the offset.
static bool has_name(const Cubin *c, const Elf64_Shdr *table, uint64_t at, const char *name) {
  const size_t n = strlen(name) + 1;
  return at <= table->sh_size && table->sh_size - at >= n && !memcmp(c->bytes + table->sh_offset + at, name, n);
}

static bool find_section(const Cubin *c, const char *name, Elf64_Shdr *s) {
  Elf64_Shdr names;
  if (!section_at(c, c->head.e_shstrndx, &names)) return false;
  for (uint32_t i = 0; i < c->head.e_shnum; i++)
    if (section_at(c, i, s) && has_name(c, &names, s->sh_name, name)) return true;
  return false;
}

static bool is_symbol(const Cubin *c, uint32_t number, const char *name) {
  Elf64_Shdr symbols, names;
  Elf64_Sym symbol;
  if (!find_section(c, ".symtab", &symbols) || !section_at(c, symbols.sh_link, &names) ||
      symbols.sh_size / sizeof symbol <= number)
    return false;
  memcpy(&symbol, c->bytes + symbols.sh_offset + number * sizeof symbol, sizeof symbol);
  return has_name(c, &names, symbol.st_name, name);
}

bool resources_of_cubin(const void *cubin, size_t size, const char *kernel, CodeUse *out) {
  Cubin c;
  Elf64_Shdr info;
  bool found = false;
  *out = (CodeUse){0, 0};
  if (!open_cubin(&c, cubin, size) || !find_section(&c, ".nv.info", &info)) return false;
  const unsigned char *p = c.bytes + info.sh_offset;
  for (size_t at = 0; info.sh_size - at >= 4;) {
    uint16_t bytes;
    memcpy(&bytes, p + at + 2, sizeof bytes);
    const bool sized = p[at] == FORMAT_SIZED;
    if (sized && info.sh_size - at - 4 < bytes) break;
    uint32_t pair[2];                                          // a symbol and its value
    if (sized && bytes == sizeof pair && (p[at + 1] == FRAME_SIZE || p[at + 1] == REGISTER_COUNT)) {
      memcpy(pair, p + at + 4, sizeof pair);
      uint32_t *most = p[at + 1] == FRAME_SIZE ? &out->local_bytes : &out->registers;
      const bool is_meant = !kernel || is_symbol(&c, pair[0], kernel);
      if (is_meant && pair[1] > *most) *most = pair[1];
      found |= is_meant;
    }
    at += 4 + (sized ? bytes : 0);
  }
  return found;
}

// ---- local memory that is no spill ----

uint32_t resources_declared_local(const char *ptx) {
  uint32_t total = 0;
  for (const char *s = ptx; (s = strstr(s, ".local ")); s++) {
    // `.local .align 8 .b8 name[24];` declares; `ld.local.b32 …` does not.
    const char *end = s + strcspn(s, ";\n"), *open = memchr(s, '[', (size_t)(end - s));
    const bool declares = (s == ptx || s[-1] == '\t' || s[-1] == ' ' || s[-1] == '\n') && *end == ';';
    if (declares && open) total += (uint32_t)strtoul(open + 1, NULL, 10);
  }
  return total;
}

// ---- occupancy ----

// Registers are given to warps by 256, warps live in the four quarters of an SM; shared memory comes by 128 bytes. CUDA
// programming guide, technical specifications per compute capability.
enum { SM_PARTS = 4, REGISTER_UNIT = 256, SHARED_UNIT = 128 };

static uint32_t blocks_by_registers(uint32_t warps, uint32_t registers) {
  const uint32_t of_warp = (registers * WARP_SIZE + REGISTER_UNIT - 1) / REGISTER_UNIT * REGISTER_UNIT;
  return of_warp ? SM_REGISTERS / SM_PARTS / of_warp * SM_PARTS / warps : UINT32_MAX;
}

static uint32_t blocks_by_shared(const Target *t, uint32_t shared_bytes) {
  const uint32_t of_block = (shared_bytes + SYSTEM_SHARED_BYTES + SHARED_UNIT - 1) / SHARED_UNIT * SHARED_UNIT;
  return (t->shared_bytes + SYSTEM_SHARED_BYTES) / of_block;
}

void resources_fill(tile_resources *out, const Target *t, uint32_t threads, uint32_t shared_bytes, const CodeUse *use,
                    uint32_t declared_local) {
  const uint32_t warps = (threads + WARP_SIZE - 1) / WARP_SIZE;
  *out = (tile_resources){.struct_size = out->struct_size, .threads = threads, .shared_bytes = shared_bytes};
  if (!use) return;
  out->is_assembled = true;
  out->registers = use->registers;
  out->local_bytes = use->local_bytes;
  out->spill_bytes = use->local_bytes > declared_local ? use->local_bytes - declared_local : 0;
  out->warps_per_sm = t->sm_threads / WARP_SIZE;
  out->blocks_by_threads = target_blocks_by_threads(t, threads);
  out->blocks_by_registers = blocks_by_registers(warps, use->registers);
  out->blocks_by_shared = blocks_by_shared(t, shared_bytes);
  const uint32_t by_both = (uint32_t)min_i64(out->blocks_by_registers, out->blocks_by_shared);
  out->blocks_per_sm = (uint32_t)min_i64(out->blocks_by_threads, by_both);
}

tile_status tile_kernel_resources(const tile_kernel *k, tile_resources *resources, tile_error **error) {
  RETURN_IF_NULL(k, "kernel");
  RETURN_IF_NULL(resources, "resources");
  RETURN_IF_FAILED(CHECK_OUT(tile_resources, resources, error));
  CodeUse use;
  tile_resources all = TILE_RESOURCES_INIT;
  const bool has_code = !strcmp(k->device->kind, "gpu") && k->device->ops->code_use;
  if (has_code) {
    RETURN_IF_FAILED(k->device->ops->code_use(k, &use, error));
  }
  resources_fill(&all, k->target, k->num_threads, k->shared_bytes, has_code ? &use : NULL, k->declared_local);
  given_fill_out(resources, &all, sizeof all);
  return TILE_OK;
}
