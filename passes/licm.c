// licm: moves what does not change out of loops, innermost loops first. A loop with disable_licm keeps what it has.
//   - pure ops whose operands are all defined outside
//   - on TILE, such loads of `for` loops that write nothing and see no other program's writes. A loop that never runs
//     must not read, therefore the load's mask says whether it runs.
// In, out: TILE or LAID_OUT.
#include "ir/build.h"
#include "ir/loop.h"
#include "passes/access.h"
#include "passes/global_memory.h"
#include "passes/pass.h"

// What a reduction's combine function uses must come from outside the loop, too.
static bool blocks_invariant(const Op *op, const Op *loop) {
  for (uint32_t b = 0; b < op->num_blocks; b++)
    EACH_OP(in, op->blocks[b]) {
      if (!blocks_invariant(in, loop)) return false;
      for (uint32_t i = 0; i < in->num_operands; i++) {
        const Value *v = op_operand(in, i);
        if (v && !value_defined_outside(v, loop) && value_defined_outside(v, op)) return false;
      }
    }
  return true;
}

static bool invariant(const Op *op, const Op *loop) {
  return op_operands_outside(op, loop) && blocks_invariant(op, loop);
}

static void find_effects(Op *op, void *user) { *(bool *)user |= op_is(op, TRAIT_WRITES | TRAIT_SYNC); }

// Whether a load reads the same in each iteration.
static bool keeps_memory(const Op *loop) {
  bool effects = false;
  block_walk(loop->blocks[0], find_effects, &effects);
  return !effects && !global_is_acquired(loop->blocks[0]);
}

static void move_load(Context *ctx, Op *load, Op *loop) {
  op_move_before(load, loop);
  Builder b = builder_before(ctx, load);
  Value *runs = build_cmp(&b, CMP_SLT, for_lower(loop), for_upper(loop));
  access_mask_if(load, runs);
}

static void visit(Op *loop, void *user) {
  Context *ctx = user;
  if (!op_is(loop, TRAIT_LOOP) || op_int(loop, ATTR_NO_LICM, 0)) return;
  const bool at_tile = loop->parent->func->module->stage == STAGE_TILE;
  const bool moves_loads = at_tile && loop->opcode == OP_FOR && keeps_memory(loop);
  for (uint32_t i = 0; i < loop->num_blocks; i++)
    for (Op *op = loop->blocks[i]->first, *next; op; op = next) {
      next = op->next;
      const bool is_load = op->opcode == OP_LOAD && moves_loads;
      if (!(is_load || op_is(op, TRAIT_PURE)) || !invariant(op, loop)) continue;
      if (is_load) move_load(ctx, op, loop);
      else op_move_before(op, loop);
    }
}

void pass_licm(PassCtx *p) { module_walk_inside_out(p->module, visit, p->ctx); }
