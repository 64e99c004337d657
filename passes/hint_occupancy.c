// hint_occupancy: tells the assembler for how many blocks per SM to keep registers (`.minnctapersm`), by the estimate
// of pressure.h. A limit that is too tight spills, which costs far more than a block: there is no hint unless all that
// is live in the order of the ops fits into the limit, although the assembler streams most of it.
//   - Row kernels of 16 warps and more: without a hint the assembler takes a few registers more than it must and loses
//     a whole block. Smaller blocks get no hint: one block more or less matters little there. Nor is there a hint for
//     fewer blocks than the estimate allows: within a limit the assembler takes what it can get, without one it
//     streams.
//   - Loops with several loads and no dots, for example matrix-vector products, sums over rows, norms: without a hint
//     the assembler may save registers for one more block by waiting for some of an iteration's loads before it issues
//     the others. A limit with room for all of them prevents that. There is no hint if registers hardly limit
//     occupancy, or if the loop waits or stores and the fewer blocks would have too few loads in flight, unless it
//     needs at most half more registers than a full SM leaves: the assembler would then save registers down to these,
//     and wait. A loop that waits gets two blocks instead of one if its loads and waits leave room, even if all that is
//     live does not fit: nothing runs while the threads of a single block wait. If a thread has not enough registers
//     for all loads, and what the loop carries rules out another block, the hint leaves the thread all its registers.
//     If not even one block has room for all loads, and the registers live at waits rule out two blocks, the hint is
//     one block.
//   - Kernels with loops that load scalars, if there are no tensors, or a vector beside the scalars and nothing that
//     waits or writes: without a hint the assembler unrolls the loop, but keeps to the 32 registers with which threads
//     fill an SM, and waits for loads before it issues the next. The hint is for three quarters of the blocks. Few
//     blocks more hide less than the loads of four iterations in flight.
//   - Kernels with dots of which an SM's shared memory holds three or four warps for each scheduler: without a hint the
//     assembler takes a few registers more than fit three times, and two of these warps are left. The hint is for as
//     many blocks as shared memory holds.
//   - Kernels with a loop that has dots and, beside what is copied ahead, loads: without a hint the assembler issues
//     these loads after the dots, to save registers that nobody else can use if shared memory holds fewer warps still.
//     The hint is the same.
//   - Kernels that hold more at waits than a thread has registers, or with dots in all twice as much: without a hint
//     the assembler may keep to 32 registers and spill several times as much. Or it streams what a thread only adds up,
//     with few loads in flight. The hint of one block, which limits nothing, prevents both.
// Where blocks run at once (`roles`), the estimate does not hold, and there is no hint.
// In, out: LAID_OUT; sets the module's min_blocks.
#include "ir/loop.h"
#include "ir/roles.h"
#include "passes/packing.h"
#include "passes/pass.h"
#include "passes/pressure.h"

enum {
  MIN_WARPS = 16,
  ROOM = 16,
  FEW = 8,                   // registers that the assembler saves without waiting for loads
  IN_FLIGHT = 24 << 10,      // bytes on their way to an SM that keep memory busy
  SCHEDULERS = 4,            // of an SM
};

static void find_loads_and_dots(Op *op, void *user) {
  bool *found = user;
  if (op->opcode == OP_LOAD && op_result(op, 0)->type->kind == TYPE_TENSOR) found[0] = true;
  if (op_unit(op) == UNIT_DOT) found[1] = true;
}

static void find_loop(Op *op, void *user) {
  bool found[2] = {false, false};
  if (op_is(op, TRAIT_LOOP)) block_walk(op->blocks[op->num_blocks - 1], find_loads_and_dots, found);
  if (found[0] && found[1]) *(bool *)user = true;
}

// Whether a loop has both dots and loads of tensors.
static bool loads_beside_dots(const Func *f) {
  bool found = false;
  block_walk(f->body, find_loop, &found);
  return found;
}

// The blocks that an SM's shared memory holds, if these have no more than a quarter of its threads and all that is live
// in order fits; 0 otherwise. Each of an SM's four schedulers has its own quarter of the registers.
static uint32_t blocks_by_shared(Context *ctx, const Module *m, Func *f, uint32_t most) {
  Liveness l = liveness_compute(ctx, m, f);
  const uint32_t blocks = target_blocks_by_shared(m->target, packing_bytes(ctx, &l));
  const uint32_t warps = blocks * m->num_warps, each = (warps + SCHEDULERS - 1) / SCHEDULERS;
  if (!blocks || 4 * warps * WARP_SIZE > m->target->sm_threads) return 0;
  const uint32_t limit = target_registers_of(each, SCHEDULERS * WARP_SIZE);
  return (limit < THREAD_REGISTERS || loads_beside_dots(f)) && most <= limit ? blocks : 0;
}

typedef struct { bool tensors, loads_in_loop, loads_beside; } Scalars;

// Whether a loop loads scalars and no more than one vector, and neither waits nor writes.
static bool loads_vector_beside_scalars(const Op *loop) {
  uint32_t words = 0, scalars = 0;
  EACH_OP(op, loop->blocks[0]) {
    if (op->num_blocks || op_unit(op) == UNIT_EXCH || op_is(op, TRAIT_WRITES | TRAIT_SYNC)) return false;
    if (op->opcode != OP_LOAD) continue;
    const Value *v = op_result(op, 0);
    if (v->type->kind == TYPE_TENSOR) words += pressure_words(v);
    else scalars++;
  }
  return scalars && words && words <= PRESSURE_VECTOR;
}

static void look_for_tensors(Op *op, void *user) {
  Scalars *s = user;
  for (uint32_t i = 0; i < op->num_results; i++) {
    const TypeKind k = op->results[i].type->kind;
    s->tensors |= k != TYPE_SCALAR && k != TYPE_PTR;
  }
  if (op->opcode == OP_FOR) s->loads_beside |= loads_vector_beside_scalars(op);
  s->loads_in_loop |= op->opcode == OP_LOAD && loop_around(op);
}

// The blocks for which a kernel keeps registers if its loops load scalars, alone or beside a vector; 0 for other
// kernels, and where registers are enough.
static uint32_t blocks_of_scalars(const Module *m, Func *f, uint32_t threads, uint32_t most) {
  enum { ENOUGH = 40, LEAST = 4 };
  const uint32_t full = target_blocks_by_threads(m->target, threads), blocks = full / 4 * 3;
  Scalars s = {0};
  block_walk(f->body, look_for_tensors, &s);
  if (full < LEAST || target_registers_of(full, threads) >= ENOUGH) return 0;
  if (s.tensors) return s.loads_beside && most <= target_registers_of(blocks, threads) ? blocks : 0;
  return s.loads_in_loop ? blocks : 0;
}

// The most blocks whose threads have so many registers. Each scheduler has its own warps.
static uint32_t blocks_that_fit(const Module *m, uint32_t registers) {
  uint32_t warps = 0;
  while (target_registers_of(warps + 1, SCHEDULERS * WARP_SIZE) >= registers) warps++;
  return warps * SCHEDULERS / m->num_warps;
}

// For a loop with several loads and no dots.
static uint32_t blocks_of_stream(const Module *m, const Pressure *p, uint32_t threads) {
  const uint32_t in_flight = (uint32_t)max_i64(p->stream, p->words) + ROOM,
                 need = (uint32_t)max_i64(in_flight, p->most);
  if (need > THREAD_REGISTERS) {
    const uint32_t most = target_blocks_by_registers(THREAD_REGISTERS, threads);
    return most && target_registers_of(most + 1, threads) < pressure_registers(p->carried) ? most : 0;
  }
  const uint32_t blocks = target_blocks_by_registers(need, threads), of_two = target_registers_of(2, threads);
  if (!blocks && p->words > of_two) return 1;
  if (blocks == 1 && p->waits && in_flight <= of_two) return 2;
  const uint32_t full = target_registers_of(target_blocks_by_threads(m->target, threads), threads);
  if (need <= full + FEW) return 0;
  if (p->waits && blocks * threads * p->loaded * 4 < IN_FLIGHT)
    return 2 * need <= 3 * full ? blocks_that_fit(m, need) : 0;
  return blocks;
}

// Returns 0 for no hint.
static uint32_t blocks_wanted(Context *ctx, const Module *m, Func *f) {
  if (roles_info(f).num_ops) return 0;
  const Pressure p = pressure_of(m, f);
  const uint32_t threads = m->num_warps * WARP_SIZE, all = target_registers_of(1, threads),
                 of_scalars = blocks_of_scalars(m, f, threads, p.complex ? UINT32_MAX : p.most);
  if (of_scalars) return of_scalars;
  const bool spills = p.complex ? p.most > 2 * all : p.words > all && p.most > all;
  if (spills) return 1;
  if (p.complex) return blocks_by_shared(ctx, m, f, p.most);
  const bool is_row = (!p.stream || p.waits) && m->num_warps >= MIN_WARPS;
  if (is_row && p.blocks > 1 && target_registers_of(p.blocks, threads) >= p.most) return p.blocks;
  return p.stream ? blocks_of_stream(m, &p, threads) : 0;
}

void pass_hint_occupancy(PassCtx *p) {
  uint32_t blocks = UINT32_MAX;
  if (p->module->maxnreg) return;
  EACH_FUNC(f, p->module) blocks = (uint32_t)min_i64(blocks, blocks_wanted(p->ctx, p->module, f));
  if (!p->module->funcs || !blocks) return;
  p->module->min_blocks = blocks;
  EACH_FUNC(f, p->module)
    remark_kernel(f, REMARK_APPLIED, "the assembler keeps registers for %u block%s on each SM", blocks,
              blocks == 1 ? "" : "s");
}
