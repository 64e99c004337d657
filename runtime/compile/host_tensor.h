// A dense row-major array in host memory: what `tilec run` fills, prints, compares, reads from and writes to .npy
// files.
#ifndef TILE_RUNTIME_HOST_TENSOR_H
#define TILE_RUNTIME_HOST_TENSOR_H

#include "frontend/frontend.h"
#include "ir/buf.h"

enum { HOST_MAX_RANK = 8 };
typedef struct {
  DtypeKind dtype;
  uint32_t rank;
  int64_t shape[HOST_MAX_RANK];
  uint64_t count;              // elements
  uint8_t *data;
} HostTensor;

uint32_t host_elem_bytes(DtypeKind dtype);           // i1 takes one byte
static inline uint64_t host_bytes(const HostTensor *t) { return t->count * host_elem_bytes(t->dtype); }
double host_get(const HostTensor *t, uint64_t i);    // rounds 64-bit integers
int64_t host_get_int(const HostTensor *t, uint64_t i);
void host_set(HostTensor *t, uint64_t i, double v);  // integers: rounds towards zero and saturates
void host_set_int(HostTensor *t, uint64_t i, int64_t v);
bool host_is_float(DtypeKind dtype);

// What a buffer holds at first. Element i of a random one depends only on seed and i, never on shape or machine.
typedef enum { FILL_ZEROS, FILL_ONES, FILL_ARANGE, FILL_VALUE, FILL_RANDN, FILL_UNIFORM, FILL_RANDINT } FillKind;
typedef struct {
  FillKind kind;
  uint64_t seed;
  double value;                // FILL_VALUE
  int64_t lo, hi;              // FILL_RANDINT: lo ≤ x < hi
} Fill;
void host_fill(HostTensor *t, const Fill *fill);

// Prints as numpy does: nested brackets, without the middle of long axes.
void host_print(Buf *out, const HostTensor *t);

// host_compare.c
// Relative tolerance by dtype: 0 for integers; for floats about the error of adding many terms in another order.
double host_rtol(DtypeKind d, bool uses_tf32);
double host_largest(const HostTensor *ref);          // the largest finite magnitude
typedef struct {
  double abs, rel, largest;    // worst errors; largest finite |reference|
  uint64_t bad, first_bad;     // elements that differ by more than atol + rtol · (|ref| + largest)
} HostDifference;
HostDifference host_compare(const HostTensor *got, const HostTensor *ref, double rtol, double atol, double largest);

// npy.c: versions 1.0 and 2.0, little-endian, C order. bf16 and fp8 are written as raw uint16 and uint8.
// npy_read copies the data to the arena. It returns NULL, or what is wrong with the file.
const char *npy_read(Arena *a, const char *bytes, size_t size, HostTensor *t);
void npy_write(Buf *out, const HostTensor *t);
bool npy_has_type(DtypeKind dtype);   // whether NumPy has a type of the dtype's name

#endif
