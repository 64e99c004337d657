// advance_indices: a load that the addresses of copied tiles need is done one iteration early, and the loop carries its
// value. pipeline_loops can then copy the tiles ahead without a wait for the load.
//   in, out: LAID_OUT; before pipeline_loops
//
//   for i, acc                               r = load rows[lb], if lb < ub
//     %r = load rows[i]                      for i, acc, %r
//     %x = load X[%r, …]              →        %x = load X[%r, …]
//     dot(%x, …)                               dot(%x, …)
//                                              %n = load rows[i + step], if i + step < ub
//                                              yield …, %n
//
// If that load's address needs another load (a table of page tables), the other one is done two iterations early. Loads
// of arrays that the loop writes stay in place, as do all loads of a loop that waits for other programs. The loop may
// then have fewer stages than it asks for, if its tiles do not fit otherwise (`least_stages`).
#include "ir/loop.h"
#include "passes/access.h"
#include "passes/global_memory.h"
#include "passes/loop_slice.h"
#include "passes/pass.h"
#include "passes/pressure.h"
#include "passes/tma.h"

// Op.mark: the load reads what the loop writes; a tile's address needs it.
enum { WRITTEN = 2, WAITED_FOR = 4 };
enum { MAX_WORDS = 16, MAX_LOADS = 8 };         // registers of a thread for one load's value; loads of a loop

typedef struct {
  Context *ctx;
  Module *module;
  VEC(Op *) found;                              // loads of a slice that are not early yet, in no order
} Advance;

// For a slice's loads: keeps those that are not early yet.
static bool may_be_early(const Op *load, void *user) {
  Advance *a = user;
  if (load->mark & WRITTEN) return false;
  if (slice_is_of_next(load)) return true;
  const Type *t = load->results[0].type;
  const uint32_t words = type_is_tensor(t) ? pressure_words(&load->results[0]) : 0;
  if (words > MAX_WORDS) return false;
  vec_push(&a->ctx->arena, &a->found, (Op *)load);
  return true;
}

// Whether pipeline_loops would copy the tile if its address were known.
static bool is_copied(const Advance *a, const Op *op, const Op *loop) {
  if (op->mark & WRITTEN) return false;
  if (op->opcode == OP_LOAD) return type_is_tensor(op->results[0].type) && access_is_copied(op);
  return op->opcode == OP_DESC_LOAD && tma_usable(a->module, op_operand(op, 0)) &&
         value_defined_outside(op_operand(op, 0), loop);
}

// The last load of the body that a copied tile's address waits for; NULL: none.
static Op *last_waited_for(Advance *a, Op *loop) {
  Block *body = loop->blocks[0];
  EACH_OP(op, body) op->mark &= ~(uint32_t)WAITED_FOR;
  EACH_OP(op, body) {
    if (!is_copied(a, op, loop)) continue;
    a->found.count = 0;
    LoopSlice slice = slice_begin(a->ctx, loop, may_be_early, a);
    if (!slice_add_operands(&slice, op)) continue;
    VEC_EACH(load, a->found) (*load)->mark |= WAITED_FOR;
  }
  Op *last = body->last;
  while (last && !(last->mark & WAITED_FOR)) last = last->prev;
  return last;
}

// An iteration for which ops of the body are cloned at the cursor.
typedef struct {
  Builder *b;
  const Op *loop;
  ValueMap *map;             // of its induction variable and carried values, and of what has been cloned
  Value *exists;             // i1
} Iteration;

// Clones an op of the body, and first what it needs of the body.
static void clone_with_needs(Iteration *it, const Op *op);

static void clone_needs(Iteration *it, const Op *op) {
  for (uint32_t i = 0; i < op->num_operands; i++) {
    Value *v = op_operand(op, i);
    if (v && v->def && v->def->parent == it->loop->blocks[0] && value_map_get(it->map, v) == v)
      clone_with_needs(it, v->def);
  }
  for (uint32_t k = 0; k < op->num_blocks; k++)
    EACH_OP(inner, op->blocks[k]) clone_needs(it, inner);
}

static void clone_with_needs(Iteration *it, const Op *op) {
  clone_needs(it, op);
  Op *made = build_clone(it->b, op, it->map);
  if (op->opcode == OP_LOAD) access_mask_if(made, it->exists);
}

// The load's value in the iteration of this induction variable and these carried values.
static Value *load_for(Builder *b, Op *load, const Op *loop, Value *iv, Value *const *carried) {
  Iteration it = {b, loop, value_map_new(b->ctx), build_cmp(b, CMP_SLT, iv, for_upper(loop))};
  for_bind(b->ctx, it.map, loop, iv, carried);
  clone_with_needs(&it, load);
  return value_map_get(it.map, op_result(load, 0));
}

// The loop with the load's value as its last carried one.
static Op *advance(Advance *a, Op *loop, Op *load) {
  Builder before = builder_before(a->ctx, loop), end = builder_before(a->ctx, loop->blocks[0]->last);
  before.span = end.span = load->span;
  before.inlined_at = end.inlined_at = load->inlined_at;
  Value *first = load_for(&before, load, loop, for_lower(loop), op_operand_values(a->ctx, loop, FOR_INITS));
  Value *after = build_binary(&end, OP_ADDI, for_iv(loop), for_step(loop));
  Value *next = load_for(&end, load, loop, after, op_operand_values(a->ctx, loop->blocks[0]->last, 0));
  remark_applied(load, "%s is loaded an iteration early: addresses of tiles that are copied ahead need it",
                 remark_name(load));
  return loop_carry_early(a->ctx, loop, load, first, next);
}

// Triton shares the stages out between numbers and tiles: programs ask for so many that both together fit.
static uint32_t least_stages(uint32_t stages) { return stages > 4 ? (stages - 1) / 2 + 1 : 2; }

static void visit(Op *op, void *user) {
  Advance *a = user;
  if (op->opcode != OP_FOR || access_stages(op) < 2 || global_is_acquired(op->blocks[0])) return;
  EACH_OP(inner, op->blocks[0]) inner->mark = 0;
  global_mark_written(a->ctx, op->blocks[0], WRITTEN);
  const uint32_t stages = access_stages(op);
  Op *load;
  for (uint32_t i = 0; i < MAX_LOADS && (load = last_waited_for(a, op)); i++) {
    op = advance(a, op, load);
    op_set_int(a->ctx, op, ATTR_LEAST_STAGES, least_stages(stages));
  }
}

void pass_advance_indices(PassCtx *p) {
  Advance a = {.ctx = p->ctx, .module = p->module};
  module_walk_inside_out(p->module, visit, &a);
}
