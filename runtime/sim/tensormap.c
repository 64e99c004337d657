// Tensor maps: encoding, validity, box walk and element reductions.
#include "runtime/sim/tensormap.h"

#include <math.h>
#include <string.h>

#include "runtime/sim/mma.h"

typedef enum { KIND_UINT, KIND_SINT, KIND_FLOAT } ElementKind;
static const struct { uint8_t bytes; ElementKind kind; NumFormat format; } dtypes[TMAP_DTYPE_COUNT] = {
  [TMAP_UINT8] = {1, KIND_UINT, 0},          [TMAP_UINT16] = {2, KIND_UINT, 0},
  [TMAP_UINT32] = {4, KIND_UINT, 0},         [TMAP_INT32] = {4, KIND_SINT, 0},
  [TMAP_UINT64] = {8, KIND_UINT, 0},         [TMAP_INT64] = {8, KIND_SINT, 0},
  [TMAP_FLOAT16] = {2, KIND_FLOAT, NUM_F16}, [TMAP_FLOAT32] = {4, KIND_FLOAT, NUM_F32},
  [TMAP_FLOAT64] = {8, KIND_FLOAT, NUM_F64}, [TMAP_BFLOAT16] = {2, KIND_FLOAT, NUM_BF16},
  [TMAP_FLOAT32_FTZ] = {4, KIND_FLOAT, NUM_F32},
  [TMAP_TFLOAT32] = {4, KIND_FLOAT, NUM_F32}, [TMAP_TFLOAT32_FTZ] = {4, KIND_FLOAT, NUM_F32},
};
unsigned tensormap_element_bytes(TensorMapDtype t) { return dtypes[t].bytes; }
static unsigned swizzle_bytes(TensorMapSwizzle s) { return s == TMAP_SWIZZLE_NONE ? 0 : 16u << s; }

const char *tensormap_check(const TensorMap *m) {
  if ((unsigned)m->dtype >= TMAP_DTYPE_COUNT) return "unknown data type";
  if (m->rank < 1 || m->rank > TENSORMAP_MAX_RANK) return "the rank must be 1 to 5";
  if ((unsigned)m->interleave > TMAP_INTERLEAVE_32B) return "unknown interleave";
  if ((unsigned)m->swizzle > TMAP_SWIZZLE_128B) return "unknown swizzle, or one that sm_90 does not have";
  if (m->l2_promotion > 3) return "unknown L2 promotion";
  if ((unsigned)m->fill > TMAP_FILL_NAN) return "unknown out-of-bounds fill";
  if (m->interleave != TMAP_INTERLEAVE_NONE && m->rank < 3) return "an interleaved tensor has at least 3 dimensions";
  if (m->interleave == TMAP_INTERLEAVE_32B && m->swizzle != TMAP_SWIZZLE_32B)
    return "interleave 32B goes with swizzle 32B only";
  unsigned es = dtypes[m->dtype].bytes, unit = m->interleave == TMAP_INTERLEAVE_32B ? 32 : 16;
  if (m->address % unit)
    return unit == 16 ? "the global address must be 16-byte aligned" : "the global address must be 32-byte aligned";
  for (uint32_t i = 0; i < m->rank; i++) {
    if (m->dim[i] < 1 || m->dim[i] > 1ull << 32) return "each global dimension must be 1 to 2^32";
    if (m->box[i] < 1 || m->box[i] > 256) return "each box dimension must be 1 to 256";
    if (m->element_stride[i] < 1 || m->element_stride[i] > 8) return "each element stride must be 1 to 8";
    if (i == 0) continue;
    if (m->stride[i] % unit)
      return unit == 16 ? "each global stride must be a multiple of 16 bytes"
                        : "each global stride must be a multiple of 32 bytes";
    if (m->stride[i] >= 1ull << 40) return "each global stride must be below 2^40 bytes";
  }
  uint32_t inner = m->box[0] * es;
  if (m->interleave == TMAP_INTERLEAVE_NONE && inner % 16)
    return "the innermost box dimension must be a multiple of 16 bytes";
  unsigned span = swizzle_bytes(m->swizzle);
  if (m->interleave == TMAP_INTERLEAVE_NONE && span && inner > span)
    return "the innermost box dimension is wider than the swizzle";
  if (m->fill == TMAP_FILL_NAN && dtypes[m->dtype].kind != KIND_FLOAT)
    return "filling with NaN needs a floating-point type";
  return NULL;
}

// The 128 bytes: a tag, the plain fields, and a checksum, which tells a map from stray bytes. A map under
// construction (tensormap.replace) may hold values that no finished map has; each is kept as far as its field is
// wide.
typedef struct {
  uint64_t tag, address;
  uint64_t stride[TENSORMAP_MAX_RANK - 1], dim[TENSORMAP_MAX_RANK];
  uint16_t box[TENSORMAP_MAX_RANK];
  uint8_t element_stride[TENSORMAP_MAX_RANK];
  uint8_t dtype, rank, interleave, swizzle, l2_promotion, fill;
  uint32_t check;
} Packed;
_Static_assert(sizeof(Packed) <= TENSORMAP_BYTES, "a tensor map has 128 bytes");
static const uint64_t packed_tag = 0x70616d726f736e74ull;

static uint32_t packed_check(const Packed *p) {
  const uint8_t *b = (const uint8_t *)p;
  uint32_t h = 2166136261u;
  for (size_t i = 0; i < offsetof(Packed, check); i++) h = (h ^ b[i]) * 16777619u;
  return h;
}

void tensormap_pack(const TensorMap *m, void *opaque128) {
  Packed p;
  memset(&p, 0, sizeof p);
  p.tag = packed_tag;
  p.address = m->address;
  for (uint32_t i = 0; i < TENSORMAP_MAX_RANK; i++) {
    if (i) p.stride[i - 1] = m->stride[i];
    p.dim[i] = m->dim[i];
    p.box[i] = (uint16_t)(m->box[i] < UINT16_MAX ? m->box[i] : UINT16_MAX);
    p.element_stride[i] = (uint8_t)(m->element_stride[i] < UINT8_MAX ? m->element_stride[i] : UINT8_MAX);
  }
  p.dtype = (uint8_t)m->dtype, p.rank = (uint8_t)m->rank, p.interleave = (uint8_t)m->interleave;
  p.swizzle = (uint8_t)m->swizzle, p.l2_promotion = (uint8_t)m->l2_promotion, p.fill = (uint8_t)m->fill;
  p.check = packed_check(&p);
  memset(opaque128, 0, TENSORMAP_BYTES);
  memcpy(opaque128, &p, sizeof p);
}

bool tensormap_is_blank(const void *opaque128) {
  static const uint8_t zeros[TENSORMAP_BYTES];
  return !memcmp(opaque128, zeros, TENSORMAP_BYTES);
}

bool tensormap_unpack(const void *opaque128, TensorMap *m) {
  Packed p;
  memcpy(&p, opaque128, sizeof p);
  if (p.tag != packed_tag || p.check != packed_check(&p)) return false;
  *m = (TensorMap){.dtype = p.dtype, .rank = p.rank, .address = p.address, .interleave = p.interleave,
                   .swizzle = p.swizzle, .l2_promotion = p.l2_promotion, .fill = p.fill};
  for (uint32_t i = 0; i < TENSORMAP_MAX_RANK; i++) {
    m->stride[i] = i ? p.stride[i - 1] : dtypes[p.dtype < TMAP_DTYPE_COUNT ? p.dtype : 0].bytes;
    m->dim[i] = p.dim[i];
    m->box[i] = p.box[i];
    m->element_stride[i] = p.element_stride[i];
  }
  return true;
}

// An element stride above 1 skips elements of the box. That of the innermost dimension is ignored.
static uint32_t box_extent(const TensorMap *m, uint32_t i) {
  return i == 0 ? m->box[0] : (m->box[i] + m->element_stride[i] - 1) / m->element_stride[i];
}

uint32_t tensormap_box_bytes(const TensorMap *m) {
  uint32_t n = dtypes[m->dtype].bytes;
  for (uint32_t i = 0; i < m->rank; i++) n *= box_extent(m, i);
  return n;
}
// A row narrower than the swizzle takes the whole width of the swizzle.
static uint32_t row_pitch(const TensorMap *m) {
  uint32_t bytes = m->box[0] * dtypes[m->dtype].bytes, span = swizzle_bytes(m->swizzle);
  return m->interleave == TMAP_INTERLEAVE_NONE && bytes < span ? span : bytes;
}
uint32_t tensormap_box_extent(const TensorMap *m) {
  return tensormap_box_bytes(m) / (m->box[0] * dtypes[m->dtype].bytes) * row_pitch(m);
}
uint32_t tensormap_shared_align(const TensorMap *m) { return m->interleave == TMAP_INTERLEAVE_32B ? 256 : 128; }

bool tensormap_walk(const TensorMap *m, const int32_t *coords, uint32_t shared, bool is_store, TensorMapRunFn fn,
                    void *user) {
  uint32_t es = dtypes[m->dtype].bytes, row_bytes = m->box[0] * es, pitch = row_pitch(m),
           span = swizzle_bytes(m->swizzle);
  // The in-bounds part of each row: [lo, hi) in bytes from the row's start.
  int64_t first = coords[0], lo = -first, hi = (int64_t)m->dim[0] - first;
  lo = lo < 0 ? 0 : lo > m->box[0] ? m->box[0] : lo;
  hi = hi < lo ? lo : hi > m->box[0] ? m->box[0] : hi;
  uint32_t edges[] = {0, (uint32_t)lo * es, (uint32_t)hi * es, row_bytes};
  if (is_store && hi > lo) {
    int64_t chunk_end = ((first + hi) * es + 15) / 16 * 16 - first * es;
    edges[2] = chunk_end < row_bytes ? (uint32_t)chunk_end : row_bytes;
  }
  uint32_t rows = tensormap_box_bytes(m) / row_bytes;
  for (uint32_t r = 0; r < rows; r++) {
    uint64_t row_address = m->address;
    bool row_in = true;
    for (uint32_t i = 1, rest = r; i < m->rank; i++) {
      uint32_t extent = box_extent(m, i);
      int64_t x = (int64_t)coords[i] + (int64_t)(rest % extent) * m->element_stride[i];
      rest /= extent;
      row_in &= x >= 0 && (uint64_t)x < m->dim[i];
      row_address += (uint64_t)x * m->stride[i];
    }
    for (int part = 0; part < 3; part++) {
      bool in = row_in && part == 1;
      for (uint32_t at = edges[part], next; at < edges[part + 1]; at = next) {
        uint32_t flat = shared + r * pitch + at;
        next = edges[part + 1];
        if (span && next - at > 16 - flat % 16) next = at + 16 - flat % 16;   // one swizzle chunk at a time
        TensorMapRun run = {mma_swizzle(flat, span), in ? row_address + (uint64_t)((first * es) + at) : 0, next - at,
                            in};
        if (!fn(user, &run)) return false;
      }
    }
  }
  return true;
}

void tensormap_load(const TensorMap *m, uint8_t *dst, const uint8_t *src, uint32_t bytes) {
  memcpy(dst, src, bytes);
  if (m->dtype != TMAP_TFLOAT32 && m->dtype != TMAP_TFLOAT32_FTZ) return;
  for (uint32_t i = 0; i + 4 <= bytes; i += 4) {
    uint32_t v;
    memcpy(&v, dst + i, 4);
    v = (v & 0x7fffffff) > 0x7f800000 ? 0x7fffe000 : (v + 0xfff + (v >> 13 & 1)) & ~0x1fffu;
    memcpy(dst + i, &v, 4);
  }
}

void tensormap_fill(const TensorMap *m, uint8_t *bytes, uint32_t count) {
  if (m->fill == TMAP_FILL_ZERO) {
    memset(bytes, 0, count);
    return;
  }
  // What an H200 fills every type with.
  static const uint16_t nan = 0x7ff7;
  for (uint32_t i = 0; i + sizeof nan <= count; i += sizeof nan) memcpy(bytes + i, &nan, sizeof nan);
}

bool tensormap_reduce_allowed(TensorMapDtype t, TensorMapReduceOp op) {
  bool wide_int = t == TMAP_UINT32 || t == TMAP_INT32 || t == TMAP_UINT64 || t == TMAP_INT64;
  bool half = t == TMAP_FLOAT16 || t == TMAP_BFLOAT16;
  switch (op) {
  case TMAP_ADD: return wide_int || half || t == TMAP_FLOAT32 || t == TMAP_FLOAT32_FTZ || t == TMAP_FLOAT64;
  case TMAP_MIN: case TMAP_MAX: return wide_int || half;
  case TMAP_INC: case TMAP_DEC: return t == TMAP_UINT32;
  case TMAP_AND: case TMAP_OR: case TMAP_XOR: return wide_int;
  }
  return false;
}

static uint64_t reduce_float(NumFormat f, TensorMapReduceOp op, uint64_t a, uint64_t b, bool ftz) {
  if (op == TMAP_ADD) {
    return f == NUM_F64 ? num_bits_f64(num_add_f64(num_f64_bits(a), num_f64_bits(b), NUM_RNE))
                        : num_add(f, a, b, NUM_RNE, ftz);
  }
  double x = num_decode(f, a), y = num_decode(f, b);
  if (isnan(x)) return isnan(y) ? num_canonical_nan(f) : b;
  if (isnan(y)) return a;
  if (x == y) return signbit(x) == (op == TMAP_MIN) ? a : b;
  return (x < y) == (op == TMAP_MIN) ? a : b;
}

static uint64_t reduce_int(bool is_signed, unsigned bits, TensorMapReduceOp op, uint64_t a, uint64_t b) {
  bool less = is_signed ? num_sext(a, bits) < num_sext(b, bits) : a < b;
  switch (op) {
  case TMAP_ADD: return a + b;
  case TMAP_MIN: return less ? a : b;
  case TMAP_MAX: return less ? b : a;
  case TMAP_INC: return a >= b ? 0 : a + 1;
  case TMAP_DEC: return a == 0 || a > b ? b : a - 1;
  case TMAP_AND: return a & b;
  case TMAP_OR: return a | b;
  case TMAP_XOR: return a ^ b;
  }
  return a;
}

void tensormap_reduce(TensorMapDtype t, TensorMapReduceOp op, uint8_t *dst, const uint8_t *src, uint32_t bytes) {
  uint32_t es = dtypes[t].bytes;
  for (uint32_t i = 0; i + es <= bytes; i += es) {
    uint64_t a = 0, b = 0;
    memcpy(&a, dst + i, es);
    memcpy(&b, src + i, es);
    uint64_t v = dtypes[t].kind == KIND_FLOAT ? reduce_float(dtypes[t].format, op, a, b, t == TMAP_FLOAT32_FTZ)
                                              : reduce_int(dtypes[t].kind == KIND_SINT, es * 8, op, a, b);
    memcpy(dst + i, &v, es);
  }
}
