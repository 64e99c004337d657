// Checks the occupancy hint (`.minnctapersm`) against what the assembler made of it. The compiler guesses how many
// registers a kernel needs; where the guess is too low the assembler spills, which costs far more than a resident block.
#include <elf.h>
#include <string.h>

#include "runtime/compile/compile.h"

// Attributes of a cubin's section .nv.info: a byte for the format, one for the kind, and two for a value or, in format
// SIZED, for the number of bytes that follow. `nvdisasm --print-raw` and `cuobjdump -elf` show them by name.
enum { FORMAT_SIZED = 4, FRAME_SIZE = 0x11 };

static uint32_t largest_frame(const unsigned char *p, size_t n) {
  uint32_t most = 0;
  for (size_t at = 0; n - at >= 4;) {
    uint16_t bytes;
    memcpy(&bytes, p + at + 2, sizeof bytes);
    const bool sized = p[at] == FORMAT_SIZED;
    if (sized && n - at - 4 < bytes) break;
    uint32_t frame[2] = {0};                                  // a symbol and its bytes of local memory
    if (sized && p[at + 1] == FRAME_SIZE && bytes == sizeof frame) memcpy(frame, p + at + 4, sizeof frame);
    if (frame[1] > most) most = frame[1];
    at += 4 + (sized ? bytes : 0);
  }
  return most;
}

uint32_t cubin_frame_bytes(const char *cubin, size_t size) {
  Elf64_Ehdr head;
  if (size < sizeof head) return 0;
  memcpy(&head, cubin, sizeof head);
  if (memcmp(head.e_ident, ELFMAG, SELFMAG) || head.e_shentsize != sizeof(Elf64_Shdr) || head.e_shoff > size ||
      (size - head.e_shoff) / sizeof(Elf64_Shdr) < head.e_shnum || head.e_shstrndx >= head.e_shnum)
    return 0;
  Elf64_Shdr names, s;
  memcpy(&names, cubin + head.e_shoff + head.e_shstrndx * sizeof names, sizeof names);
  static const char wanted[] = ".nv.info";
  for (uint32_t i = 0; i < head.e_shnum; i++) {
    memcpy(&s, cubin + head.e_shoff + i * sizeof s, sizeof s);
    const uint64_t name = names.sh_offset + s.sh_name;
    if (name > size || size - name < sizeof wanted || memcmp(cubin + name, wanted, sizeof wanted)) continue;
    if (s.sh_offset > size || size - s.sh_offset < s.sh_size) return 0;
    return largest_frame((const unsigned char *)cubin + s.sh_offset, s.sh_size);
  }
  return 0;
}

tile_status assemble_checked(AssembleFn *assemble, void *user, Arena *a, const char *ptx, const char **cubin,
                             size_t *size, tile_error **error) {
  tile_status status = assemble(user, a, ptx, cubin, size, error);
  const uint32_t frame = status == TILE_OK ? cubin_frame_bytes(*cubin, *size) : 0;
  if (!frame) return status;
  char *plain = arena_strndup(a, ptx, strlen(ptx));
  const char *other;
  size_t other_size;
  if (kernel_drop_occupancy(plain) && assemble(user, a, plain, &other, &other_size, NULL) == TILE_OK &&
      cubin_frame_bytes(other, other_size) < frame)
    *cubin = other, *size = other_size;
  return TILE_OK;
}
