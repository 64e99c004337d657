// Types: interned and immutable, so equal types are equal pointers.
//   f32                                   scalar
//   ptr<f16>  ptr<f16, const>             pointer to global memory
//   tensor<128x64xf32>                    tensor without a layout (stage TILE); dimensions are powers of two
//   tensor<128x64xf32, #a>                tensor with a distributed layout (from LAID_OUT on)
//   buffer<128x64xf16, #s>                a tile in shared memory with a shared layout
//   buffer<3 * 128x64xf16, #s>            an array of 3 such tiles (multi-buffering), selected by `buffer_index`
//   desc<128x64xf16>                      tensor descriptor with its block shape
//   token                                 orders asynchronous operations; has no run-time form
// A layout has log2 sizes of its own: a shape may be smaller than its layout.
#ifndef TILE_IR_TYPE_H
#define TILE_IR_TYPE_H

#include "ir/context.h"
#include "ir/layout.h"

enum { MAX_RANK = 16, MAX_DESC_RANK = 5 };   // of tensors; of descriptors, as of the hardware's tensor maps
enum { MAX_COMBINED = 16 };   // tensors that one reduce or scan combines

typedef enum {
#define SCALAR(id, text, bits, cls) SC_##id,
#include "ir/types.def"
  NUM_SCALARS
} ScalarKind;

typedef enum { TYPE_SCALAR, TYPE_PTR, TYPE_TENSOR, TYPE_BUFFER, TYPE_DESC, TYPE_TOKEN } TypeKind;

typedef struct Type Type;
struct Type {
  TypeKind kind;
  ScalarKind scalar;       // TYPE_SCALAR
  const Type *elem;        // PTR: pointee scalar; TENSOR: scalar or pointer; BUFFER, DESC: scalar
  bool is_const;           // PTR: stores rejected
  uint8_t rank;            // TENSOR (≥ 1), BUFFER, DESC
  uint32_t count;          // BUFFER: number of tiles in a multi-buffer array, 0 for a single tile
  int64_t shape[MAX_RANK];
  const Layout *layout;    // TENSOR: distributed or NULL; BUFFER: shared; DESC: shared layout of its tile or NULL
  uint32_t hash;
};

const Type *type_scalar(Context *ctx, ScalarKind k);
const Type *type_ptr(Context *ctx, const Type *elem, bool is_const);
const Type *type_tensor(Context *ctx, const Type *elem, int rank, const int64_t *shape, const Layout *layout);
const Type *type_buffer(Context *ctx, const Type *elem, int rank, const int64_t *shape, const Layout *layout,
                        uint32_t count);
const Type *type_desc(Context *ctx, const Type *elem, int rank, const int64_t *shape, const Layout *layout);
const Type *type_token(Context *ctx);

// The same type with another element or layout. type_with_elem of a scalar or a pointer is `elem` itself.
const Type *type_with_elem(Context *ctx, const Type *t, const Type *elem);
const Type *type_with_layout(Context *ctx, const Type *t, const Layout *layout);
// elem for rank 0, otherwise a tensor: a tensor without axes is its scalar.
const Type *type_shaped(Context *ctx, const Type *elem, int rank, const int64_t *shape, const Layout *layout);

const Type *type_elem(const Type *t);            // element of a tensor, buffer or descriptor; otherwise t itself
int64_t type_numel(const Type *t);               // 1 for scalars and pointers
uint32_t scalar_bits(ScalarKind k);
bool scalar_is_float(ScalarKind k);
const char *scalar_name(ScalarKind k);            // in the text of the IR
bool scalar_find(const char *name, ScalarKind *out);   // by that name
uint32_t type_elem_bits(const Type *t);          // of the element; pointers 64; i1 is 1
uint32_t type_elem_bytes(const Type *t);         // storage in memory: i1 takes 1 byte
int64_t type_bytes(const Type *t);               // of all elements, without padding; of an array, those of one tile
static inline uint32_t type_tiles(const Type *t) { return t->count ? t->count : 1; }
static inline bool type_is_tensor(const Type *t) { return t->kind == TYPE_TENSOR; }
static inline bool type_is_scalar(const Type *t, ScalarKind k) { return t->kind == TYPE_SCALAR && t->scalar == k; }
bool type_is_int(const Type *t);                 // of the element: i1…i64
bool type_is_float(const Type *t);
bool type_is_ptr(const Type *t);                 // of the element
// Of a slice whose start is xored to offsets (layout.h): the value has the start's bytes beside the tile's address.
static inline bool type_is_moved(const Type *t) { return t->kind == TYPE_BUFFER && t->layout && t->layout->moved; }
// How TMA moves a descriptor's tile: the bytes of the swizzle span (0, 32, 64, 128), and the elements of each axis that
// one box holds. A larger tile is moved as several boxes. In shared memory each box is one piece: boxes side by side
// along the last axis are chunks of the tile's layout, and an axis before it is cut only if the axes before that one
// have one element in a box.
uint32_t type_desc_swizzle_bytes(const Type *desc);
uint32_t type_desc_box(const Type *desc, uint32_t axis);
bool type_same_shape(const Type *a, const Type *b);

#endif
