// Arrays of doubles, dense and row-major, with NumPy's meaning of operators, axes and broadcasting. The arena owns
// them; no function changes its operands. Functions that can fail return NULL and say in *why what is wrong.
#ifndef TILE_RUNTIME_ND_H
#define TILE_RUNTIME_ND_H

#include "runtime/compile/compile.h"

typedef struct {
  uint32_t rank;
  int64_t shape[HOST_MAX_RANK];
  uint64_t count;
  bool is_bool;                // ~x is `not x`, as of NumPy's bool
  double *data;
} Nd;

Nd *nd_new(Arena *a, uint32_t rank, const int64_t *shape);   // not initialised
Nd *nd_scalar(Arena *a, double v);
Nd *nd_of_host(Arena *a, const HostTensor *t, uint64_t first);   // first > 0: the elements from there on, of one axis
const char *nd_shape_text(Arena *a, const Nd *x);            // "(3, 4)"

// Element by element, over the shape that the operands broadcast to.
typedef double (*NdUnary)(double x);
typedef double (*NdBinary)(double x, double y);
Nd *nd_unary(Arena *a, const Nd *x, NdUnary f);
Nd *nd_binary(Arena *a, const Nd *x, const Nd *y, NdBinary f, const char **why);
Nd *nd_where(Arena *a, const Nd *c, const Nd *x, const Nd *y, const char **why);
Nd *nd_broadcast(Arena *a, const Nd *x, uint32_t rank, const int64_t *shape, const char **why);
Nd *nd_round(Arena *a, const Nd *x, DtypeKind dtype);        // to the nearest value of the dtype

// Along axes: bit i of `axes` is axis i. A reduction gives one number for the n elements of v; a scan puts n numbers in
// the place of the n of v.
typedef double (*NdReduce)(const double *v, uint64_t n);
typedef void (*NdScan)(double *v, uint64_t n);
Nd *nd_reduce(Arena *a, const Nd *x, uint32_t axes, bool keepdims, NdReduce f);
Nd *nd_scan(Arena *a, const Nd *x, uint32_t axis, NdScan f);
Nd *nd_take(Arena *a, const Nd *x, const Nd *indices, uint32_t axis, const char **why);
bool nd_axis(const Nd *x, double number, uint32_t *axis);    // from the end if negative; false: there is none

Nd *nd_matmul(Arena *a, const Nd *x, const Nd *y, const char **why);
Nd *nd_transpose(Arena *a, const Nd *x, const uint32_t *order);   // axis i was axis order[i]
// One extent may be −1.
Nd *nd_reshape(Arena *a, const Nd *x, uint32_t rank, const int64_t *shape, const char **why);

Nd *nd_stack(Arena *a, const Nd *const *all, uint32_t n, const char **why);   // along a new first axis

// x[…]: for each axis that is indexed either an element, a range, or a new axis of length 1.
typedef enum { ND_ELEMENT, ND_RANGE, ND_NEW } NdIndexKind;
typedef struct { NdIndexKind kind; bool has_from, has_to; int64_t from, to, step; } NdIndex;
Nd *nd_index(Arena *a, const Nd *x, const NdIndex *index, uint32_t n, const char **why);

#endif
