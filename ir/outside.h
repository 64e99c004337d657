// What a report says of an access outside of its buffer: the same words for the interpreter and the simulator.
#ifndef TILE_IR_OUTSIDE_H
#define TILE_IR_OUTSIDE_H

#include "ir/arena.h"

struct Context;
struct Op;

typedef enum { OUTSIDE_LOAD, OUTSIDE_STORE, OUTSIDE_UPDATE } OutsideKind;

typedef struct {
  OutsideKind kind;
  uint32_t program[3];
  const char *buffer;          // its name; NULL: it has none
  uint64_t begin, size;        // of the buffer, in bytes
  uint64_t address;            // of the access's first byte
  uint32_t elem_bytes;         // of what the access's pointer points to; 0: not known
  bool is_whole;               // all elements of the block that the program accesses there are outside
  bool was_inside;             // an earlier execution of the access by the program was not
} Outside;

// Returns the error's text, which names the first element out of bounds: "out-of-bounds store: program (3, 0, 0) stores
// element 1000 of out, which has 1000". It counts bytes if the size of an element is not known.
const char *outside_text(Arena *a, const Outside *o);
// The number of that element, counted from the buffer's begin. False if it is not a whole number.
bool outside_element(const Outside *o, int64_t *element);
// What may have led so far away, or "".
const char *outside_far(const Outside *o);
const char *outside_noun(OutsideKind kind);   // "load"
const char *outside_verb(OutsideKind kind);   // "loads"
// Whether the op accesses global memory; *elem_bytes is the size of an element.
bool outside_can_be(const struct Op *op, uint32_t *elem_bytes);
OutsideKind outside_kind(const struct Op *op);   // of such an op
struct Value *outside_pointer(const struct Op *op);   // of such an op; or its descriptor
// What may have made such an op's offset negative, and the way out: arithmetic in 16 bits or less, a `%` of a
// difference. NULL: neither is there.
const char *outside_before_cause(Arena *a, const struct Op *op);
// The same of an offset that was a half-precision number, which is rounded above a limit.
const char *outside_rounded(Arena *a, const struct Op *op);
extern const char outside_wraps[];   // what OutsideWays.before says where no part of the offset can be negative
// The value that v has in each element, without splats, broadcasts, hints and other moves.
const struct Value *outside_unspread(const struct Value *v);
uint32_t outside_line(struct Context *ctx, const struct Op *op);   // in the user's file; 0: it is not known
// The variable that the pointer depends on and by whose range of indices the mask is not computed; NULL: none is known.
const char *outside_not_in_mask(const struct Value *pointer, const struct Value *mask);
// What the mask lacks if it compares an index with an end that an array holds, while the pointer adds another number of
// that array; or NULL.
const char *outside_beside_end(Arena *a, const struct Value *pointer, const struct Value *mask);
// The ways out for such an op, at the tile stage, by its mask, boundary_check or descriptor: of what lies past the end
// and of what lies before the first element. bytes_from: from that many times the buffer's elements on, the offset may
// count bytes; 0: it does not.
typedef struct {
  const char *past, *before;
  uint32_t bytes_from;
  // What moves the block as a whole: the terms of the offset that grow with program_id, by axis, unless the mask depends
  // on the axis, too; and what moves it on in each iteration of a loop. NULL: nothing, or it is not known.
  const char *by_program[3], *moved;
  bool is_one, is_masked;      // it is an access of one element; it has a mask
  bool has_free;               // `past` names what the mask does not bound
} OutsideWays;
OutsideWays outside_ways_out(struct Context *ctx, const struct Op *op);
void outside_find_base(struct Context *ctx, const struct Value *pointer, const struct Value *mask, OutsideWays *ways);
// The way out if what moves the whole block is the cause, or NULL.
const char *outside_base_way_out(Arena *a, const Outside *o, const OutsideWays *ways);
bool outside_is_unmasked(const struct Op *op);   // such an op on a tile that nothing keeps to a shape
const char *outside_way_out(Arena *a, const Outside *o, const OutsideWays *ways);   // NULL if ways has none
// A store as the user wrote it, but by atomic_xchg; NULL: its text is not known, or the op is no store.
const char *outside_exchange(struct Context *ctx, const struct Op *op);
// Returns the load that reads the elements which the store updates, or NULL. Sets *atomic to the function that loads and
// stores in one step, such as "atomic_add", or to NULL.
const struct Op *outside_update(const struct Op *store, const char **atomic);

#endif
