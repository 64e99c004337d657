// Tells the assembler for how many blocks per SM to keep registers, where a guess says how many a row kernel needs (pressure.h):
// left alone it takes a few more than it must, and loses a whole block by that. Where blocks are small, one more or less is no
// matter, and a limit that is too tight costs spills: it is left alone.
// In, out: LAID_OUT; sets the module's min_blocks.
#include "passes/pass.h"
#include "passes/pressure.h"

enum { MIN_WARPS = 16 };

bool pass_hint_occupancy(PassCtx *p) {
  uint32_t blocks = 0;
  if (p->module->num_warps < MIN_WARPS) return false;
  for (Func *f = p->module->funcs; f; f = f->next) {
    uint32_t own = pressure_of(p->module, f).blocks;
    blocks = f == p->module->funcs ? own : (uint32_t)min_i64(blocks, own);
  }
  if (p->module->maxnreg || blocks < 2) return false;
  p->module->min_blocks = blocks;
  return true;
}
