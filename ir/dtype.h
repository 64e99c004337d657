// The language's element types (dtypes.def): the types of ir/type.h with signedness and the names that users write.
#ifndef TILE_IR_DTYPE_H
#define TILE_IR_DTYPE_H

#include "ir/type.h"

typedef enum {
#define DTYPE(kind, short_name, name, bits, cls, scalar, dlpack) DT_##kind,
#include "ir/dtypes.def"
  NUM_DTYPE_KINDS
} DtypeKind;
typedef enum { DTCLASS_VOID, DTCLASS_SIGNED, DTCLASS_UNSIGNED, DTCLASS_FLOAT } DtypeClass;
typedef struct {
  const char *short_name, *name;
  uint32_t bits;
  DtypeClass cls;
  ScalarKind scalar;           // of the IR that carries it
  int dlpack;                  // DLPack's type code, -1: it has none
} DtypeInfo;
extern const DtypeInfo dtype_info[NUM_DTYPE_KINDS];
// Finds a dtype by either name ("fp32", "float32") or an alias of signatures ("u1", "B"). False if there is none.
bool dtype_find(const char *name, DtypeKind *out);
bool dtype_find_n(const char *name, size_t size, DtypeKind *out);
const char *dtype_name_of(ScalarKind k);   // in signatures: the first dtype that k carries

#endif
