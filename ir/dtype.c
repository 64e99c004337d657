#include "ir/dtype.h"

#include <string.h>

const DtypeInfo dtype_info[NUM_DTYPE_KINDS] = {
#define DTYPE(kind, short_name, name, bits, cls, scalar, dlpack) \
  {short_name, name, bits, DTCLASS_##cls, SC_##scalar, dlpack},
#include "ir/dtypes.def"
};

bool dtype_find_n(const char *name, size_t size, DtypeKind *out) {
  static const struct { const char *name; DtypeKind kind; } aliases[] = {
      {"u1", DT_INT1}, {"B", DT_INT1}, {"f16", DT_FP16}, {"f32", DT_FP32}, {"f64", DT_FP64},
      {"float8e4m3fn", DT_FP8E4NV}};
#define IS(text) (strlen(text) == size && !memcmp(text, name, size))
  for (uint32_t i = 0; i < NUM_DTYPE_KINDS; i++)
    if (IS(dtype_info[i].short_name) || IS(dtype_info[i].name)) return *out = (DtypeKind)i, true;
  for (uint32_t i = 0; i < countof(aliases); i++)
    if (IS(aliases[i].name)) return *out = aliases[i].kind, true;
#undef IS
  return false;
}

bool dtype_find(const char *name, DtypeKind *out) { return dtype_find_n(name, strlen(name), out); }

const char *dtype_name_of(ScalarKind k) {
  uint32_t i = DT_VOID + 1;
  while (dtype_info[i].scalar != k) i++;
  return dtype_info[i].short_name;
}
