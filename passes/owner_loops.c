// owner_loops: leaves a loop that only updates scalars in memory to the thread that stores scalars.
//
// All threads load a scalar, and one of them, the owner, stores it. If a loop does nothing but load, compute and store
// scalars, the other threads compute what only the owner needs. They also race with its stores: insert_barriers lets
// all threads meet between a load and the store that follows, in every iteration.
//
//   %sum = for … do (%i: i32, %s: i32) {          %sum = for … do (%i: i32, %s: i32) {
//     %v = load %p                                  …
//     %t = addi %s, %v                      →     } {by_owner = 1}
//     store %p, _, %t, _
//     yield %t
//   }
//
// Without loads there is nothing to gain: the owner's stores stay in the loop of all threads, each under a condition.
// Only the owner enters a loop that is marked; its loads are in flight together. In the other threads the results are
// what the loop began with. Therefore only stores of scalars may use them, by way of ops on scalars.
// In, out: LAID_OUT or ALLOCATED.
#include "ir/loop.h"
#include "passes/access.h"
#include "passes/pass.h"

enum { MOST_VALUES = 256 };

typedef struct {
  Context *ctx;
  VEC(const Value *) seen;       // on the way from a loop's results to stores
} Owners;

typedef struct { bool loads, stores, others; } Contents; // others: ops that every thread needs

static bool is_single(const Type *t) { return t->kind == TYPE_SCALAR || t->kind == TYPE_PTR; }

static void look_at(Op *op, void *user) {
  Contents *in = user;
  const bool is_access = (op->opcode == OP_LOAD || op->opcode == OP_STORE) && !op_int(op, ATTR_VOLATILE, 0);
  const bool is_flow = op->opcode == OP_FOR || op->opcode == OP_IF || op->opcode == OP_YIELD;
  in->loads |= op->opcode == OP_LOAD;
  in->stores |= op->opcode == OP_STORE;
  in->others |= !is_access && !is_flow && !op_is(op, TRAIT_PURE);
  for (uint32_t i = 0; i < op->num_operands; i++)
    if (op_operand(op, i)) in->others |= !is_single(op_operand(op, i)->type);
  for (uint32_t i = 0; i < op->num_results; i++) in->others |= !is_single(op->results[i].type);
}

static bool only_stored(Owners *s, const Value *v);

// Whether what operand i of a loop or terminator becomes is needed for stores of scalars only.
static bool carried_only_stored(Owners *s, const Op *op, uint32_t i) {
  if (op->opcode == OP_FOR)
    return i >= FOR_INITS && only_stored(s, for_carried(op, i - FOR_INITS)) &&
           only_stored(s, &op->results[i - FOR_INITS]);
  const Op *around = op->parent->parent;
  if (op->opcode != OP_YIELD || !around) return false;
  if (around->opcode == OP_IF) return only_stored(s, &around->results[i]);
  return around->opcode == OP_FOR && only_stored(s, for_carried(around, i)) &&
         only_stored(s, &around->results[i]);
}

static bool only_stored(Owners *s, const Value *v) {
  VEC_EACH(x, s->seen)
    if (*x == v) return true;
  if (s->seen.count == MOST_VALUES) return false;
  vec_push(&s->ctx->arena, &s->seen, v);
  EACH_USE(u, v) {
    const Op *op = u->user;
    if (op->opcode == OP_STORE ? !access_is_tensor(op) : carried_only_stored(s, op, u->index)) continue;
    if (!op_is(op, TRAIT_ELEMENTWISE) || !op_is(op, TRAIT_PURE)) return false;
    for (uint32_t i = 0; i < op->num_results; i++)
      if (!is_single(op->results[i].type) || !only_stored(s, &op->results[i])) return false;
  }
  return true;
}

static void visit(Op *op, void *user) {
  Owners *s = user;
  if (op->opcode != OP_FOR) return;
  Contents in = {0};
  look_at(op, &in);
  block_walk(op->blocks[0], look_at, &in);
  if (!in.loads || !in.stores || in.others) return;
  s->seen.count = 0;
  for (uint32_t i = 0; i < op->num_results; i++)
    if (!only_stored(s, &op->results[i])) return;
  op_set_int(s->ctx, op, ATTR_BY_OWNER, 1);
}

void pass_owner_loops(PassCtx *p) {
  module_walk(p->module, visit, &(Owners){.ctx = p->ctx});
}
