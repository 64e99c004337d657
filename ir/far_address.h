// The note of reports of an access far outside every buffer.
#ifndef TILE_IR_FAR_ADDRESS_H
#define TILE_IR_FAR_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

// Whether a small negative offset, taken as an unsigned one of 32 bits, leads that far past the end of a buffer.
static inline bool far_address_is_negative(uint64_t distance) {
  for (uint64_t element = 1; element <= 16; element *= 2)
    if (distance < element << 32 && (element << 32) - distance < UINT64_C(1) << 26) return true;
  return false;
}

// distance: the bytes between an access and the nearest buffer; is_past: the access lies past its end. A 32-bit offset
// that overflows is wrong by 2³² elements of up to 16 bytes. Distances from 1 to 64 GiB therefore get a note, all
// others "". Null pointers are farther away than that.
static inline const char *far_address_note(uint64_t distance, bool is_past) {
  if (is_past && far_address_is_negative(distance))
    return "a negative offset may have become unsigned (uint32), and large: keep offsets signed";
  return distance > UINT64_C(1) << 30 && distance <= UINT64_C(1) << 36
             ? "an offset of 32 bits may have overflowed: compute it in 64 bits (tl.program_id(0).to(tl.int64) * "
               "stride); --debug finds the operation"
             : "";
}

#endif
