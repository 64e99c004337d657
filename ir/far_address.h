// The note added to reports of an access far outside every buffer.
#ifndef TILE_IR_FAR_ADDRESS_H
#define TILE_IR_FAR_ADDRESS_H

#include <stdint.h>

// distance: bytes between the access and the nearest buffer. A 32-bit offset that overflows is off by 2³² elements of
// up to 16 bytes, so a distance between 1 and 64 GiB gets the note; any other gets "". Null pointers are farther away.
static inline const char *far_address_note(uint64_t distance) {
  return distance > UINT64_C(1) << 30 && distance <= UINT64_C(1) << 36
             ? "; an offset of 32 bits may have overflowed: compute it in 64 bits (tl.program_id(0).to(tl.int64) * "
               "stride); --debug finds the operation"
             : "";
}

#endif
