// What decode functions and handlers share: checks, operands, addresses, control of the warp.
#ifndef TILE_RUNTIME_SIM_EXEC_H
#define TILE_RUNTIME_SIM_EXEC_H

#include "runtime/sim/sim.h"

// Returns from the enclosing function unless the result is EXEC_NEXT.
#define TRY(result)                              \
  do {                                           \
    ExecResult result_ = (result);               \
    if (result_ != EXEC_NEXT) return result_;    \
  } while (0)
#define warp_report(w, in, lane, kind, ...) sim_report((w)->grid, w, in, lane, kind, __VA_ARGS__)

// ---- parse.c, decode.c
bool ptx_error(PtxParser *p, uint32_t line, const char *fmt, ...) PRINTF_LIKE(3, 4);   // returns false
Arena *ptx_arena(PtxParser *p);
uint32_t ptx_new_slot(PtxParser *p);            // a fresh register slot of the current function
bool decode_error(PtxParser *p, const char *fmt, ...) PRINTF_LIKE(2, 3);            // at the instruction; returns false
// Checks of a decode function. Each reports what it finds and returns false. The number and the kinds of the
// operands, a letter each: d register or `_`, r register, s register or immediate, P predicate, p predicate or
// immediate, i immediate, m memory, l label, . anything. Those after a ? may be missing.
bool decode_operands(PtxParser *p, Instr *in, const char *pattern);
bool decode_operand(PtxParser *p, Instr *in, uint32_t i, char letter);
bool decode_want_ops(PtxParser *p, Instr *in, uint32_t least, uint32_t most);
bool decode_as(PtxParser *p, Instr *in, ExecFn exec, const char *pattern);   // sets the handler and checks the operands
bool decode_wait_group(PtxParser *p, Instr *in, ExecFn exec);              // one constant
bool decode_want_type(PtxParser *p, Instr *in, uint32_t n);               // at least n types
bool decode_regs(PtxParser *p, Instr *in, uint32_t num_srcs);             // "d" and that many "s"; at least one type
bool decode_unknown(PtxParser *p, Instr *in);   // "unknown instruction …"; a decode function that
    // returns false without a report says the same

// ---- warp.c
void warp_start(Warp *w, uint32_t id, Cta *c);
uint32_t warp_run(Warp *w, uint32_t budget);       // at most `budget` instructions; returns how many
void warp_ensure_frame(Warp *w, uint32_t base, uint32_t slots, uint32_t pbase, uint32_t preds);
uint8_t *warp_local(Warp *w, const Instr *in, int lane, uint64_t addr,
                    uint32_t size);   // NULL when outside the thread's local memory
void warp_save_group(Warp *w);                 // writes the active lanes' pc, depth and frame to lane_*
void warp_wake(Warp *w);                       // some of its lanes can go on
// For warp-synchronous instructions: returns EXEC_STALL until all live lanes that the member masks name have arrived.
ExecResult warp_meet(Warp *w, const Instr *in, uint32_t mask, const uint64_t *members);
ExecResult exec_bar_warp(Warp *w, const Instr *in, uint32_t mask);
ExecResult exec_threads_exited(Warp *w, const Instr *in);
void exec_setmaxnreg_cta_end(Cta *c);                // reports a warp that exited without a setmaxnreg of its warpgroup
ExecResult exec_system_call(Warp *w, const Instr *in, uint32_t mask,
                            const char *name);   // printf, assertions: exec_system.c
// endless.c: after a backward branch; steps: that the warp has run
ExecResult endless_jump(Warp *w, const Instr *in, uint64_t steps);
// Whether an iteration has changed nothing since memory last changed. pc, unless NULL: where the loop begins.
bool endless_repeats(const Warp *w, uint32_t *pc);
void endless_free(Warp *w);
// last_change.c: the atomic operation that changed an address of global memory last, if it is remembered.
typedef struct LastChanges LastChanges;
typedef struct { const Instr *by; uint32_t program[3]; } LastChange;
void last_change_note(Warp *w, const Instr *in, uint64_t address);
const LastChange *last_change_of(const Grid *g, uint64_t address);
// stuck.c: after a backward branch of a warp that has run long. Reports a loop whose condition never changes again. *s
// is NULL at first, and freed by free().
typedef struct Stuck Stuck;
ExecResult stuck_jump(Stuck **s, Warp *w, const Instr *in);
void warp_poll(Warp *w);                       // a poll failed: another warp should run
uint64_t sreg_value(Warp *w, uint32_t sreg, int lane);                  // sreg.c
int sreg_find(const char *name);                                  // -1 when there is none

// ---- mem.c
typedef enum { ACCESS_READ, ACCESS_WRITE, ACCESS_ATOMIC } AccessKind;
// One memory instruction of a warp, checked but not yet performed. host[lane] points at the bytes.
struct MemAccess {
  const PtxOperand *op;        // that has the addresses, or NULL
  AccessKind kind;
  uint32_t mask;
  uint32_t size;               // bytes per lane, all vector elements together
  Space space[WARP_SIZE];      // resolved: GLOBAL, SHARED, LOCAL, CONST, PARAM (a generic access can mix)
  uint64_t addr[WARP_SIZE];    // global: address; shared: offset in cta[lane]->shared; local: offset
  Cta *cta[WARP_SIZE];         // shared: whose
  Alloc *alloc[WARP_SIZE];     // global
  uint8_t *host[WARP_SIZE];
};

// Resolves the addresses of a memory operand for the lanes of mask; space may be GENERIC. Checks bounds and
// alignment, and runs the access hook. After EXEC_FAULT the handler must not access memory.
ExecResult mem_resolve(Warp *w, const Instr *in, const PtxOperand *op, Space space, uint32_t size, uint32_t align,
                       AccessKind kind, uint32_t mask, MemAccess *out);
// The same for one address that is not an operand's (bulk copies, tensor maps), without the hook; lane is for the
// report.
ExecResult mem_resolve_one(Warp *w, const Instr *in, int lane, Space space, uint64_t addr, uint32_t size,
                           uint32_t align, AccessKind kind, MemAccess *out);
uint64_t mem_symbol_address(const Warp *w, const Symbol *s, int lane);
uint64_t mem_operand_address(Warp *w, const PtxOperand *op, int lane);          // base + offset, unchecked

// The parameter that an address of the instruction was computed from. name NULL: it is not known, or there are several.
typedef struct {
  const char *name;
  uint64_t pointer;            // its value
  uint32_t elem_bytes;         // of what it points to; 0: not known
  const Alloc *alloc;          // what it points into, or NULL
} AddressOrigin;
// For reports (origin.c). lane -1: of any access by the instruction, whichever warp made it.
AddressOrigin origin_of(Warp *w, const Instr *in, int lane, uint64_t addr);
// The only parameter that points into the allocation; its name is NULL if there is none, or more than one.
AddressOrigin origin_in(const Warp *w, const Instr *in, const Alloc *a);

// ---- operands at run time
static inline const uint64_t *src_row(const Warp *w, const PtxOperand *op) {
  return op->kind == OPND_IMM ? op->lanes : w->r + (size_t)op->slot * WARP_SIZE;
}
static inline uint64_t *dst_row(Warp *w, const PtxOperand *op) {
  return op->kind == OPND_REG ? w->r + (size_t)op->slot * WARP_SIZE : w->scratch[0];
}
static inline uint32_t src_pred(const Warp *w, const PtxOperand *op) {      // lane mask; an immediate 0 or 1 is allowed
  uint32_t v = op->kind == OPND_PRED ? w->p[op->slot] : (op->lanes[0] ? FULL_MASK : 0);
  return op->negated ? ~v : v;
}
// Source operand i; the destination, operand 0.
static inline const uint64_t *src_at(const Warp *w, const Instr *in, uint32_t i) { return src_row(w, &in->ops[i]); }
static inline uint64_t *dst_at(Warp *w, const Instr *in) { return dst_row(w, &in->ops[0]); }
static inline void set_pred(Warp *w, const PtxOperand *op, uint32_t mask, uint32_t value) {
  if (op->kind == OPND_PRED) w->p[op->slot] = (w->p[op->slot] & ~mask) | (value & mask);
}
// Definedness of a register's lane, for instructions that set it themselves; cheap no-ops when it is not checked.
static inline uint64_t get_undef(const Warp *w, const PtxOperand *op, uint32_t lane) {
  return w->undef && op->kind == OPND_REG ? w->undef[((size_t)w->base + op->slot) * WARP_SIZE + lane] : 0;
}
static inline void set_undef(Warp *w, const PtxOperand *op, uint32_t lane, uint64_t bits) {
  if (!w->undef || op->kind != OPND_REG) return;
  uint32_t slot = w->base + op->slot;
  w->undef[(size_t)slot * WARP_SIZE + lane] = bits;
  w->undef_lanes[slot] = (w->undef_lanes[slot] & ~(1u << lane)) | (uint32_t)(bits != 0) << lane;
}
static inline uint64_t width_mask(unsigned bits) { return bits >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << bits) - 1; }
// These serve values and the masks of their undefined bits.
static inline uint64_t bit_field_extract(uint64_t a, uint32_t pos, uint32_t len, PtxType t) {
  unsigned bits = ptx_types[t].bits;
  if (bits == 32) pos &= 255, len &= 255;   // the 64-bit forms take the whole operand
  if (!len) return 0;
  if (len > 255) len = 255;
  if (pos > 255) pos = 255;
  bool s = ptx_types[t].cls == CLASS_SINT;
  unsigned top = pos + len - 1 < bits - 1 ? pos + len - 1 : bits - 1;
  uint64_t sign = s && (a >> top & 1) ? ~UINT64_C(0) : 0;
  unsigned have = pos >= bits ? 0 : len < bits - pos ? len : bits - pos;
  uint64_t field = have ? a >> pos & width_mask(have) : 0;
  return (field | (have >= 64 ? 0 : sign & ~width_mask(have))) & width_mask(bits);
}
static inline uint64_t bit_field_insert(uint64_t a, uint64_t b, uint32_t pos, uint32_t len, unsigned bits) {
  if (bits == 32) pos &= 255, len &= 255;
  if (pos >= bits || !len) return b & width_mask(bits);
  if (len > bits - pos) len = bits - pos;
  uint64_t m = width_mask(len) << pos;
  return (b & ~m) | ((a << pos) & m);
}
#define FOR_LANES(l, mask) \
  for (uint32_t m_##l = (mask), l; m_##l && (l = (uint32_t)__builtin_ctz(m_##l), 1); m_##l &= m_##l - 1)
// The lanes of mask in which the condition holds.
#define LANES_WHERE(l, mask, condition) \
  ({ uint32_t where_ = 0; FOR_LANES(l, mask) where_ |= (uint32_t)((condition) != 0) << l; where_; })
#ifdef __clang__
#define LANES_ARE_INDEPENDENT
#else
#define LANES_ARE_INDEPENDENT _Pragma("GCC ivdep")
#endif
// A loop over lanes that vectorises when all are active. The iterations are independent: a row may be both source and
// destination.
#define LANES(l, mask, ...)                                                                   \
  do {                                                                                        \
    if ((mask) == FULL_MASK) {                                                                \
      LANES_ARE_INDEPENDENT for (uint32_t l = 0; l < WARP_SIZE; l++) { __VA_ARGS__ }           \
    } else {                                                                                  \
      FOR_LANES(l, mask) { __VA_ARGS__ }                                                      \
    }                                                                                         \
  } while (0)
static inline uint32_t live_lanes(const Warp *w) { return w->exist & ~w->exited; }

// ---- decode functions named by ptx_ops.def
#define PTX_OP(mnemonic, decode, flags) bool decode(PtxParser *p, Instr *in);
#include "runtime/sim/ptx_ops.def"
#undef PTX_OP

#endif
