// The rules of `roles`: warps, named barriers and registers that exist, and where the op may be. verify.c checks what
// its blocks use from outside.
#include "ir/roles.h"
#include "ir/verify_int.h"

static bool check_workers(Verifier *v, const Op *op) {
  const Attr *warps = op_attr(op, ATTR_WARPS), *registers = op_attr(op, ATTR_REGISTERS);
  const uint32_t n = op->num_blocks - 1;
  RETURN_UNLESS(op->num_blocks > 1, "has no block beside its first");
  RETURN_UNLESS(warps && warps->num_ints == n, "warps must have a number for each block but the first");
  for (uint32_t i = 0; i < n; i++)
    RETURN_UNLESS(warps->ints[i] > 0 && is_pow2_u64((uint64_t)warps->ints[i]) && warps->ints[i] <= MAX_BLOCK_WARPS,
                  "block %u has %lld warps; it must be a power of two", i + 1, (long long)warps->ints[i]);
  RETURN_UNLESS(v->m->num_warps % WARPGROUP_WARPS == 0, "needs a kernel whose num_warps is a multiple of %d",
                WARPGROUP_WARPS);
  RETURN_UNLESS(v->m->num_warps + roles_worker_warps(op) <= MAX_BLOCK_WARPS,
                "%u warps of the kernel and %u of the workers are more than the %d of a block", v->m->num_warps,
                roles_worker_warps(op), MAX_BLOCK_WARPS);
  RETURN_UNLESS(!registers || registers->num_ints == n, "registers must have a number for each block but the first");
  for (uint32_t i = 0; registers && i < n; i++)
    RETURN_UNLESS(registers->ints[i] >= MIN_SET_REGISTERS && registers->ints[i] <= MAX_SET_REGISTERS,
                  "block %u asks for %lld registers; it can have %d to %d", i + 1, (long long)registers->ints[i],
                  MIN_SET_REGISTERS, MAX_SET_REGISTERS);
  RETURN_UNLESS(!registers || v->m->target->arch_specific, "moving registers between warps needs sm_90a, this is %s",
                v->m->target->name);
  return true;
}

static void count_pingpong(Op *op, void *user) {
  if (op->opcode == OP_PINGPONG_WAIT) *(bool *)user = true;
}

static bool check_limits(Verifier *v, const Op *op) {
  Func *f = op->parent->func;
  const RolesInfo info = roles_info(f);
  RolesRegisters registers;
  bool has_pingpong = false;
  block_walk(f->body, count_pingpong, &has_pingpong);
  const uint32_t most = NAMED_BARRIERS - BARRIER_WORKERS - (has_pingpong ? v->m->num_warps / WARPGROUP_WARPS : 0);
  RETURN_UNLESS(info.num_barriers <= most,
                "%u workers have more than one warp, and there are named barriers for %u of a block's %d",
                info.num_barriers, most, NAMED_BARRIERS);
  RETURN_UNLESS(roles_registers(f, &info, op, &registers),
                "the workers ask for more registers than there are: of %u for each of %u threads too few are left for "
                "block 0",
                info.registers, info.total_warps * WARP_SIZE);
  return true;
}

bool verify_roles(Verifier *v, const Op *op) {
  for (const Op *up = op->parent->parent; up; up = up->parent->parent) {
    RETURN_UNLESS(up->opcode != OP_ROLES, "is inside of another: they cannot be nested");
    RETURN_UNLESS(op_is(up, TRAIT_CARRIES), "is inside of a function that combines elements");
  }
  if (!check_workers(v, op)) return false;
  for (uint32_t i = 0; i < op->num_blocks; i++) {
    const Op *end = block_terminator(op->blocks[i]);
    RETURN_UNLESS(op->blocks[i]->num_args == 0, "blocks have no arguments");
    RETURN_UNLESS(end && end->opcode == OP_YIELD, "block must end in yield");
    RETURN_UNLESS(end->num_operands == (i ? 0 : op->num_results), "block %u yields %u values, not %u", i,
                  end->num_operands, i ? 0 : op->num_results);
    for (uint32_t k = 0; k < end->num_operands; k++)
      RETURN_UNLESS(in(end, k) == out(op, k), "value %u that the block yields has another type", k);
  }
  return check_limits(v, op);
}

bool verify_pingpong(Verifier *v, const Op *op) {
  RETURN_UNLESS(!block_worker(op->parent), "is for the kernel's own warps, not for a worker");
  return true;
}
