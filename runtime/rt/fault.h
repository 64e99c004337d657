// What the simulator and libtile tell each other about a kernel's failure: libtile knows the source, the simulator what
// went wrong.
#ifndef TILE_RUNTIME_RT_FAULT_H
#define TILE_RUNTIME_RT_FAULT_H

#include <stdbool.h>
#include <stdint.h>

// What is known of a place in the source whose code may fail.
typedef struct PlaceNote {
  const char *file;            // as the line information names it
  uint32_t line, col, size;    // from 1; bytes from there on
  uint32_t kind;               // an access: an OutsideKind
  uint32_t elem_bytes;         // an access: the size of what its pointer points to; 0: not known
  const char *way_out;         // an access: what to do if it is out of bounds; NULL: no access
  const char *way_out_before;  // if it is before the first element
  uint32_t bytes_from;         // as in OutsideWays
  // As in OutsideWays, and how many elements the access has; 0: not known.
  const char *by_program[3], *moved;
  bool is_one, is_masked, has_free;
  uint32_t elems;
  uint8_t format;              // an access of floats: their NumFormat plus 1; 0: of other numbers
  uint8_t quiet;               // the warnings that are off: a bit for NaN, one for infinite numbers
  const char *exchange;        // a store: the same as tl.atomic_xchg(…), in the user's words; NULL: not known
  // A store of what was computed from a load of the same elements: where it loads them, 0: no such store; and the
  // function that does both at once, as "atomic_add", NULL: there is none.
  struct { uint32_t line, col; const char *atomic; } update;
  const char *buffer;          // in a Gluon kernel: the name of the shared memory that is accessed; NULL: not known
  bool is_unmasked;            // an access of a tile that no mask, shape or boundary_check limits
  bool has_rows;               // an access of a tile of several axes
  bool asserts_all;            // a device_assert of a tensor, without a mask
  bool may_not_wrap;           // a product or a sum of int32 that is widened afterwards
  bool has_step;               // a `for` whose step only the run knows
  bool is_gluon;               // the kernel's author wrote its copies, products and waits
  const struct OutsideTerms *terms;   // an access: of its offset (ir/outside_terms.h); NULL: not known
  // An access: where the file promises of its pointer what tl.multiple_of does; 0: nowhere, or not known.
  struct { uint32_t line, col, size; } promise;
} PlaceNote;

// What is said of a place in the source.
typedef struct FaultPlace {
  char file[1024];             // "": there is none
  uint32_t line, col, size;    // as in PlaceNote
  char text[1024];
  char shown[2048];            // the line, and below it a mark; "": the text is not known
} FaultPlace;

// A failure as an error with a place in the source.
typedef struct KernelFault {
  FaultPlace error, note;      // note: another place that has to do with it
  char sum[320], way_out[512]; // where the number of an element comes from; what to do; "": there is none
} KernelFault;

#endif
