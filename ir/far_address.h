// What reports of an access far outside of every buffer add.
#ifndef TILE_IR_FAR_ADDRESS_H
#define TILE_IR_FAR_ADDRESS_H

#include <stdint.h>

// "", unless an offset of 32 bits that overflowed explains the distance in bytes: it misses by 2³² elements of up to 16
// bytes, less what the buffer has. A null pointer is farther away.
static inline const char *far_address_note(uint64_t distance) {
  return distance > UINT64_C(1) << 30 && distance <= UINT64_C(1) << 36
             ? "; an offset of 32 bits may have overflowed: compute it in 64 bits (tl.program_id(0).to(tl.int64) * "
               "stride); --debug finds the operation"
             : "";
}

#endif
