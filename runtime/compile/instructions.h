// Counts the instructions of a kernel by class.
#ifndef TILE_RUNTIME_INSTRUCTIONS_H
#define TILE_RUNTIME_INSTRUCTIONS_H

#include <stdint.h>

enum {
#define CLASS(id, text) INSN_##id,
#include "runtime/compile/instructions.def"
  NUM_INSN_CLASSES
};

extern const char *const insn_class_names[NUM_INSN_CLASSES];

// Adds those of the kernel in PTX, or in the text of nvdisasm.
void instructions_of_ptx(const char *ptx, const char *kernel, uint32_t counts[NUM_INSN_CLASSES]);
void instructions_of_sass(const char *sass, const char *kernel, uint32_t counts[NUM_INSN_CLASSES]);

#endif
