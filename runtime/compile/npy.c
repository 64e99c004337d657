// The .npy format: magic, version, header length, a Python dict literal with exactly the keys descr, fortran_order and
// shape, then the data.
#include <stdlib.h>
#include <string.h>

#include "runtime/compile/host_tensor.h"

static const char magic[] = "\x93NUMPY";
enum { MAGIC = 6, ALIGN = 64 };

// numpy's type codes. npy_read takes the first row with the code, npy_write the row of the dtype.
static const struct { DtypeKind dtype; const char *code; } codes[] = {
    {DT_INT1, "|b1"},     {DT_INT8, "|i1"},    {DT_UINT8, "|u1"},    {DT_INT16, "<i2"},   {DT_UINT16, "<u2"},
    {DT_INT32, "<i4"},    {DT_UINT32, "<u4"},  {DT_INT64, "<i8"},    {DT_UINT64, "<u8"},  {DT_FP16, "<f2"},
    {DT_FP32, "<f4"},     {DT_FP64, "<f8"},    {DT_BF16, "<u2"},     {DT_FP8E4NV, "|u1"}, {DT_FP8E5, "|u1"},
    {DT_FP8E4B15, "|u1"}, {DT_FP8E4B8, "|u1"}, {DT_FP8E5B16, "|u1"},
};

bool npy_has_type(DtypeKind dtype) {
  const DtypeInfo *d = &dtype_info[dtype];
  return d->bits >= (d->cls == DTCLASS_FLOAT ? 16 : 8) && dtype != DT_BF16;
}

typedef struct { const char *p, *end; } Cursor;

static void skip_spaces(Cursor *c) {
  while (c->p < c->end && (*c->p == ' ' || *c->p == '\t')) c->p++;
}
static bool take(Cursor *c, const char *word) {
  skip_spaces(c);
  size_t n = strlen(word);
  if ((size_t)(c->end - c->p) < n || memcmp(c->p, word, n)) return false;
  c->p += n;
  return true;
}

// Takes 'text' or "text" without escapes; copies the text to out.
static bool take_string(Cursor *c, char *out, size_t capacity) {
  skip_spaces(c);
  if (c->p == c->end || (*c->p != '\'' && *c->p != '"')) return false;
  char quote = *c->p++;
  size_t n = 0;
  while (c->p < c->end && *c->p != quote) {
    if (*c->p == '\\' || n + 1 >= capacity) return false;
    out[n++] = *c->p++;
  }
  if (c->p == c->end) return false;
  c->p++;
  out[n] = 0;
  return true;
}

static const char *take_shape(Cursor *c, HostTensor *t) {
  static const char bad[] = "its shape is not a tuple of whole numbers";
  if (!take(c, "(")) return bad;
  t->rank = 0;
  t->count = 1;
  while (!take(c, ")")) {
    skip_spaces(c);
    uint64_t n = 0;
    const char *start = c->p;
    for (; c->p < c->end && *c->p >= '0' && *c->p <= '9'; c->p++)
      if (n > (UINT64_C(1) << 48)) return "its shape is too large";
      else n = n * 10 + (uint64_t)(*c->p - '0');
    if (c->p == start) return bad;
    if (t->rank == HOST_MAX_RANK) return "it has more than 8 axes";
    t->shape[t->rank++] = (int64_t)n;
    if (__builtin_mul_overflow(t->count, n, &t->count) || t->count > UINT64_C(1) << 48) return "its shape is too large";
    if (!take(c, ",")) {
      if (!take(c, ")")) return bad;
      break;
    }
  }
  return NULL;
}

static const char *take_type(Cursor *c, HostTensor *t) {
  char descr[32];
  if (!take_string(c, descr, sizeof descr)) return "its element type is a structure or not a string";
  for (uint32_t i = 0; i < countof(codes); i++) {
    bool is_same = !strcmp(descr, codes[i].code) ||   // one byte has no order: '<' means '|'
                   (codes[i].code[0] == '|' && descr[0] == '<' && !strcmp(descr + 1, codes[i].code + 1));
    if (!is_same) continue;
    t->dtype = codes[i].dtype;
    return NULL;
  }
  return descr[0] == '>' ? "its elements are big-endian: convert them, as in x.astype(\"<f4\")"
                         : "its element type does not exist here: convert it, as in x.astype(\"float32\")";
}

static const char *parse_header(Cursor *c, HostTensor *t) {
  static const char bad[] = "its header is not a dict of descr, fortran_order and shape";
  bool has_descr = false, has_order = false, has_shape = false;
  if (!take(c, "{")) return bad;
  while (!take(c, "}")) {
    char key[32];
    const char *why = NULL;
    if (!take_string(c, key, sizeof key) || !take(c, ":")) return bad;
    if (!strcmp(key, "descr") && !has_descr) {
      why = take_type(c, t);
      has_descr = true;
    } else if (!strcmp(key, "fortran_order") && !has_order) {
      if (take(c, "True")) return "its elements are in Fortran order; save it with numpy.ascontiguousarray";
      if (!take(c, "False")) return bad;
      has_order = true;
    } else if (!strcmp(key, "shape") && !has_shape) {
      why = take_shape(c, t);
      has_shape = true;
    } else {
      return bad;
    }
    if (why) return why;
    if (!take(c, ",")) {
      if (!take(c, "}")) return bad;
      break;
    }
  }
  for (; c->p < c->end; c->p++)
    if (*c->p != ' ' && *c->p != '\n') return bad;
  return has_descr && has_order && has_shape ? NULL : bad;
}

const char *npy_read(Arena *a, const char *bytes, size_t size, HostTensor *t) {
  *t = (HostTensor){0};
  const unsigned char *b = (const unsigned char *)bytes;
  if (size >= 4 && !memcmp(bytes, "PK\3\4", 4))
    return "it is an archive, as .npz files are: save each array by np.save";
  if (size < 10 || memcmp(bytes, magic, MAGIC)) return "it is not a .npy file";
  bool wide = b[6] == 2;
  if ((b[6] != 1 && b[6] != 2) || b[7] != 0) return "its .npy version is neither 1.0 nor 2.0";
  size_t start = wide ? 12 : 10;
  if (size < start) return "it is cut short";
  size_t length = b[8] | (size_t)b[9] << 8;
  if (wide) length |= (size_t)b[10] << 16 | (size_t)b[11] << 24;
  if (length > size - start) return "it is cut short";
  Cursor c = {bytes + start, bytes + start + length};
  const char *why = parse_header(&c, t);
  if (why) return why;
  size_t have = size - start - length;
  if (have != host_bytes(t)) return have < host_bytes(t) ? "it is cut short" : "it has more data than its shape says";
  t->data = arena_alloc(a, have + 1);
  memcpy(t->data, bytes + start + length, have);
  return NULL;
}

void npy_write(Buf *out, const HostTensor *t) {
  const char *code = "|u1";
  for (uint32_t i = 0; i < countof(codes); i++)
    if (codes[i].dtype == t->dtype) code = codes[i].code;
  Buf h = buf_make(out->arena);
  buf_printf(&h, "{'descr': '%s', 'fortran_order': False, 'shape': (", code);
  for (uint32_t i = 0; i < t->rank; i++)
    buf_printf(&h, "%lld%s", (long long)t->shape[i], t->rank == 1 ? "," : i + 1 < t->rank ? ", " : "");
  buf_puts(&h, "), }");
  size_t start = 10, total = (start + h.size + 1 + ALIGN - 1) / ALIGN * ALIGN;
  buf_fill(&h, ' ', total - start - h.size - 1);
  buf_putc(&h, '\n');
  buf_write(out, magic, MAGIC);
  buf_putc(out, 1);
  buf_putc(out, 0);
  buf_putc(out, (char)(h.size & 0xff));
  buf_putc(out, (char)(h.size >> 8));
  buf_write(out, buf_str(&h), h.size);
  buf_write(out, (const char *)t->data, host_bytes(t));
}
