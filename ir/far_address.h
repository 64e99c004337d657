// The note of reports of an access far outside every buffer.
#ifndef TILE_IR_FAR_ADDRESS_H
#define TILE_IR_FAR_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

// Whether an offset of so many elements is a small negative one that was taken as unsigned in 32 bits.
static inline bool far_address_is_negative(uint64_t elements) {
  return elements < UINT64_C(1) << 32 && (UINT64_C(1) << 32) - elements < UINT64_C(1) << 24;
}

// index: the number of the accessed element, which is past the end of the buffer or before its start.
// distance: the bytes between the access and the buffer. A 32-bit offset that overflows is wrong by 2³² elements of up
// to 16 bytes. Distances from 1 to 64 GiB therefore get a note, all others "". Null pointers are farther away than that.
static inline const char *far_address_note(uint64_t index, uint64_t distance, bool is_past) {
  if (is_past && index == INT32_MAX)
    return "2147483647 is the largest int32, which often stands for something that was not found: leave it out before "
           "it is an offset";
  if (is_past && far_address_is_negative(index))
    return "a negative offset may have become unsigned (uint32), and large: keep offsets signed";
  return distance > UINT64_C(1) << 30 && distance <= UINT64_C(1) << 36
             ? "an offset of 32 bits may have overflowed: compute it in 64 bits (tl.program_id(0).to(tl.int64) * "
               "stride); --debug finds the operation"
             : "";
}

#endif
