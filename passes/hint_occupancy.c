// Tells the assembler for how many blocks per SM to keep registers, where a guess says how many a row kernel needs (pressure.h):
// left alone it takes a few more than it must, and loses a whole block by that. Where blocks are small, one more or less is no
// matter, and a limit that is too tight costs spills: it is left alone.
// But for loops that only load and compute, as a product with a vector or sums over rows: left alone the assembler may give up some
// registers for one block more, and then waits for some of an iteration's loads before it issues the others, which halves the speed.
// A limit with room makes it issue them all, and it does not take more than it needs. Where registers are enough for more than an SM
// holds, the assembler has no block to gain by holding loads back, and is left alone: it took more with a limit, and a sum over rows by
// blocks of two warps lost 6 %.
// In, out: LAID_OUT; sets the module's min_blocks.
#include "passes/pass.h"
#include "passes/pressure.h"

enum { MIN_WARPS = 16, ROOM = 16 };

// 0: nothing to say.
static uint32_t blocks_wanted(const Module *m, Func *f) {
  Pressure p = pressure_of(m, f);
  uint32_t threads = m->num_warps * WARP_SIZE, need = (uint32_t)max_i64(p.stream, p.words) + ROOM;
  if (!p.stream) return m->num_warps >= MIN_WARPS && p.blocks > 1 ? p.blocks : 0;
  if (need > MAX_REGISTERS) return 0;
  uint32_t blocks = SM_REGISTERS / (need * threads);
  return blocks > target_blocks_per_sm(m->target, threads) ? 0 : blocks;
}

bool pass_hint_occupancy(PassCtx *p) {
  uint32_t blocks = UINT32_MAX;
  if (p->module->maxnreg) return false;
  for (Func *f = p->module->funcs; f; f = f->next) blocks = (uint32_t)min_i64(blocks, blocks_wanted(p->module, f));
  if (!p->module->funcs || !blocks) return false;
  p->module->min_blocks = blocks;
  return true;
}
