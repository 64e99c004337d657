// What the simulator and libtile tell each other about a kernel's failure: libtile knows the source, the simulator what
// went wrong.
#ifndef TILE_RUNTIME_RT_FAULT_H
#define TILE_RUNTIME_RT_FAULT_H

#include <stdint.h>

// What is known of a place in the source whose code may fail.
typedef struct PlaceNote {
  const char *file;            // as the line information names it
  uint32_t line, col, size;    // from 1; bytes from there on
  uint32_t elem_bytes;         // an access: the size of what its pointer points to; 0: not known
  const char *way_out;         // an access: what to do if it is out of bounds; NULL: nothing is known
} PlaceNote;

// A failure as an error with a place in the source.
typedef struct KernelFault {
  char file[1024];             // "": it has no place
  uint32_t line, col, size;    // as in PlaceNote
  char text[1024], way_out[512];   // way_out "": there is none
  char shown[2048];            // the line, and below it a mark; "": the text is not known
} KernelFault;

#endif
