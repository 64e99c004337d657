// What the tables of PTX say: types, modifiers, operations.
#include "runtime/sim/ptx.h"

const TypeInfo ptx_types[T_COUNT] = {
  [T_NONE] = {"", 0, CLASS_NONE}, [T_PRED] = {"pred", 1, CLASS_PRED},
  [T_B1] = {"b1", 1, CLASS_BITS}, [T_B4] = {"b4", 4, CLASS_BITS}, [T_U4] = {"u4", 4, CLASS_UINT}, [T_S4] = {"s4", 4, CLASS_SINT},
  [T_B8] = {"b8", 8, CLASS_BITS}, [T_U8] = {"u8", 8, CLASS_UINT}, [T_S8] = {"s8", 8, CLASS_SINT},
  [T_B16] = {"b16", 16, CLASS_BITS}, [T_U16] = {"u16", 16, CLASS_UINT}, [T_S16] = {"s16", 16, CLASS_SINT},
  [T_B32] = {"b32", 32, CLASS_BITS}, [T_U32] = {"u32", 32, CLASS_UINT}, [T_S32] = {"s32", 32, CLASS_SINT},
  [T_B64] = {"b64", 64, CLASS_BITS}, [T_U64] = {"u64", 64, CLASS_UINT}, [T_S64] = {"s64", 64, CLASS_SINT},
  [T_B128] = {"b128", 128, CLASS_BITS},
  [T_F16] = {"f16", 16, CLASS_FLOAT}, [T_F16X2] = {"f16x2", 32, CLASS_FLOAT}, [T_BF16] = {"bf16", 16, CLASS_FLOAT},
  [T_BF16X2] = {"bf16x2", 32, CLASS_FLOAT}, [T_F32] = {"f32", 32, CLASS_FLOAT}, [T_F32X2] = {"f32x2", 64, CLASS_FLOAT},
  [T_F64] = {"f64", 64, CLASS_FLOAT}, [T_TF32] = {"tf32", 32, CLASS_FLOAT},
  [T_E4M3] = {"e4m3", 8, CLASS_FLOAT}, [T_E5M2] = {"e5m2", 8, CLASS_FLOAT}, [T_E4M3X2] = {"e4m3x2", 16, CLASS_FLOAT},
  [T_E5M2X2] = {"e5m2x2", 16, CLASS_FLOAT}, [T_S8X4] = {"s8x4", 32, CLASS_SINT}, [T_U8X4] = {"u8x4", 32, CLASS_UINT},
  [T_S16X2] = {"s16x2", 32, CLASS_SINT}, [T_U16X2] = {"u16x2", 32, CLASS_UINT},
};
static const char *const mod_names[M_COUNT] = {
#define PTX_MOD(id, text) text,
#include "runtime/sim/ptx_mods.def"
#undef PTX_MOD
};
static const struct { const char *name; uint32_t flags; } ops[OP_COUNT] = {
#define PTX_OP(mnemonic, decode, flags) {#mnemonic, flags},
#include "runtime/sim/ptx_ops.def"
#undef PTX_OP
};
const char *ptx_op_name(PtxOp op) { return ops[op].name; }
uint32_t ptx_op_flags(PtxOp op) { return ops[op].flags; }
const char *ptx_mod_name(PtxMod mod) { return mod_names[mod]; }
