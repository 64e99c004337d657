// The tables of PTX: types, modifiers, operations.
#include "runtime/sim/ptx.h"

const TypeInfo ptx_types[T_COUNT] = {
  [T_NONE] = {"", 0, CLASS_NONE},
#define PTX_TYPE(id, text, bits, cls) {#text, bits, cls},
#include "runtime/sim/ptx_types.def"
#undef PTX_TYPE
};
static const char *const mod_names[M_COUNT] = {
#define PTX_MOD(id) #id,
#define PTX_MOD_TEXT(id, text) text,
#include "runtime/sim/ptx_mods.def"
};
static const struct { const char *name; uint32_t flags; } ops[OP_COUNT] = {
#define PTX_OP(mnemonic, decode, flags) {#mnemonic, flags},
#include "runtime/sim/ptx_ops.def"
#undef PTX_OP
};
// A row has at most one rule of definedness. A row without destination has none.
enum { RULES = OPF_BITWISE | OPF_MOVE | OPF_CARRY | OPF_SHIFT };
#define PTX_OP(mnemonic, decode, flags) \
  _Static_assert((((flags)&RULES) & (((flags)&RULES) - 1)) == 0, #mnemonic ": more than one rule of definedness"); \
  _Static_assert(!((flags)&RULES) || !((flags) & (OPF_NO_DST | OPF_OWN_SHADOW)), \
                 #mnemonic ": a rule of definedness without use");
#include "runtime/sim/ptx_ops.def"
#undef PTX_OP

const char *ptx_op_name(PtxOp op) { return ops[op].name; }
uint32_t ptx_op_flags(PtxOp op) { return ops[op].flags; }
const char *ptx_mod_name(PtxMod mod) { return mod_names[mod]; }
