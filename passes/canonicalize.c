// canonicalize: folds constants (ir/fold.h), applies the rewrites (rewrite.h) and simplifies control flow until nothing
// changes.
//   if with a known condition        → the branch; known also where an induction variable starts above the bound
//   for that never runs, runs once   → what goes in, the body
//   a carried value that never changes, a result that both branches share → that value
//   a carried tensor of indices that grows by one number each time → its start plus the induction variable
//   masks, assumptions and assertions that are known → gone
//   an atomic whose result is not read → no acquire
// In, out: TILE or LAID_OUT.
#include "ir/fold.h"
#include "ir/loop.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

typedef struct {
  Context *ctx;
  const Module *module;
  RewriteFn by_opcode[NUM_OPS];
  bool changed;
} Canon;

static void canon_block(Canon *c, Block *b);

static void replace(Canon *c, Op *op, Value *v) {
  c->changed = true;
  if (v == &op->results[0]) return;        // changed in place
  op_replace(op, &v);
}

// Moves the block's ops, except its terminator, before `at`.
static void splice(Block *from, Op *at) {
  while (from->first != from->last) op_move_before(from->first, at);
}

// The least value of an induction variable, or of the next one. Neither wraps.
static bool least_value(const Value *v, int64_t *least) {
  int64_t more = 0, step;
  if (value_op(v, OP_ADDI) && value_constant_int(op_operand(v->def, 1), &more) && more >= 0) v = op_operand(v->def, 0);
  const Op *loop = v->block ? v->block->parent : NULL;
  if (v->def || !loop || loop->opcode != OP_FOR || v->index != 0) return false;
  if (!value_constant_int(for_step(loop), &step) || step < more || step <= 0 ||
      !value_constant_int(for_lower(loop), least))
    return false;
  *least += more;
  return true;
}

static bool known_condition(const Value *v, uint64_t *cond) {
  int64_t least, bound;
  if (value_constant_bits(v, cond)) return true;
  const Op *op = v->def;
  if (!op || op->opcode != OP_CMPI || type_is_tensor(v->type) || !value_constant_int(op_operand(op, 1), &bound) ||
      !least_value(op_operand(op, 0), &least))
    return false;
  switch (op_int(op, ATTR_PRED, CMP_EQ)) {
    case CMP_SLT: *cond = 0; return least >= bound;
    case CMP_SLE: *cond = 0; return least > bound;
    case CMP_SGE: *cond = 1; return least >= bound;
    case CMP_SGT: *cond = 1; return least > bound;
    default: return false;
  }
}

static bool inline_branch(Canon *c, Op *op) {
  uint64_t cond;
  if (!known_condition(op_operand(op, 0), &cond)) return false;
  Block *taken = op->blocks[cond & 1 ? 0 : 1];
  splice(taken, op);
  op_replace(op, op_operand_values(c->ctx, taken->last, 0));
  c->changed = true;
  return true;
}

static void forward_if_results(Canon *c, Op *op) {
  for (uint32_t i = 0; i < op->num_results; i++) {
    Value *x = op_operand(op->blocks[0]->last, i), *y = op_operand(op->blocks[1]->last, i);
    uint64_t p, q;
    if (!op->results[i].uses) continue;
    if (x == y) {
      value_replace_all_uses(&op->results[i], x);
      c->changed = true;
    } else if (x->type == y->type && value_constant_bits(x, &p) && value_constant_bits(y, &q) && p == q) {
      Builder b = builder_before(c->ctx, op);
      value_replace_all_uses(&op->results[i], build_constant_bits(&b, x->type, p));
      c->changed = true;
    }
  }
}

static bool shorten_for(Canon *c, Op *op) {
  int64_t trips;
  Block *body = op->blocks[0];
  if (!for_trips(op, &trips) || trips > 1) return false;
  if (trips) {
    value_replace_all_uses(for_iv(op), for_lower(op));
    for (uint32_t i = 0; i < op->num_results; i++) value_replace_all_uses(for_carried(op, i), for_init(op, i));
    splice(body, op);
  }
  op_replace(op, trips ? op_operand_values(c->ctx, body->last, 0) : op_operand_values(c->ctx, op, FOR_INITS));
  c->changed = true;
  return true;
}

// A carried value that the body yields unchanged is its initial value, in the loop and after it.
static void forward_invariants(Canon *c, Op *op) {
  Block *body = op->blocks[0];
  for (uint32_t i = 0; i < op->num_results; i++) {
    Value *arg = for_carried(op, i), *init = for_init(op, i), *next = for_next(op, i);
    if ((next != arg && next != init) || (!arg->uses && !op->results[i].uses)) continue;
    bool only_yield = arg->uses && !arg->uses->next && arg->uses->user == body->last;
    if (next == arg && only_yield && !op->results[i].uses) continue;
    value_replace_all_uses(arg, init);
    value_replace_all_uses(&op->results[i], init);
    c->changed = true;
  }
}

// Whether a tensor of indices is built from ranges, splats and constants alone.
static bool is_index(const Value *v, uint32_t depth) {
  if (!v->def) return false;
  switch (v->def->opcode) {
    case OP_RANGE: case OP_SPLAT: case OP_CONSTANT: return true;
    case OP_ADDI: case OP_MULI:
      return depth && is_index(op_operand(v->def, 0), depth - 1) && is_index(op_operand(v->def, 1), depth - 1);
    case OP_EXPAND_DIMS: case OP_BROADCAST: return is_index(op_operand(v->def, 0), depth);
    default: return false;
  }
}

// How far a carried tensor has grown in the current iteration, as a multiple of how far the induction variable has,
// which grows by `step`. NULL if the tensor does not grow by the same number each time.
static Value *growth(Builder *b, const Op *loop, int64_t step, const Value *added) {
  Value *iv = for_iv(loop), *each;
  int64_t n;
  if (value_constant_int(added, &n)) {
    if (n % step) return NULL;
    each = build_int(b, iv->type, n / step);
  } else {
    if (!value_op(added, OP_SPLAT) || step != 1) return NULL;
    each = op_operand(added->def, 0);
    if (!value_defined_outside(each, loop)) return NULL;
  }
  return build_binary(b, OP_MULI, build_binary(b, OP_SUBI, iv, for_lower(loop)), each);
}

// Computes a carried tensor of indices that always grows by the same number from the induction variable:
//   off = range; for i from first { …; off += 64 }   →   off = range + (i − first)·64
// The tensor is then cheap in any layout, and the part that all elements share can move to the address. What divides
// that part must still be seen: i − first is a multiple of the step, of which only 1 and the divisors of first are known.
static void derive_carried_index(Canon *c, Op *op) {
  Block *body = op->blocks[0];
  int64_t first, step;
  if (c->module->stage != STAGE_TILE || !value_constant_int(for_step(op), &step) || step <= 0) return;
  if (step != 1 && (!value_constant_int(for_lower(op), &first) || first % step)) return;
  for (uint32_t i = 0; i < op->num_results; i++) {
    Value *arg = for_carried(op, i), *init = for_init(op, i), *next = for_next(op, i);
    if (!type_is_tensor(arg->type) || op->results[i].uses || !value_op(next, OP_ADDI) || !is_index(init, 4) ||
        type_elem(arg->type) != for_iv(op)->type)
      continue;
    const uint32_t own = op_operand(next->def, 0) == arg ? 0 : 1;
    if (op_operand(next->def, own) != arg) continue;
    Builder b = builder_before(c->ctx, body->first);
    Value *shift = growth(&b, op, step, op_operand(next->def, 1 - own));
    if (!shift) continue;
    value_replace_all_uses(arg, build_binary(&b, OP_ADDI, init, build_splat(&b, shift, arg->type)));
    op_set_operand(body->last, i, arg);
    c->changed = true;
  }
}

// If nobody looks at what an atomic read, the atomic orders nothing that follows it. An exchange stays as it is: it
// gives locks back that relaxed atomics take. What keeps those programs from reading the L1 cache's old lines is the
// acquire here, which drops them.
static void weaken_unread_atomic(Canon *c, Op *op) {
  static const uint8_t unread[] = {[SEM_RELAXED] = SEM_RELAXED,
                                   [SEM_ACQUIRE] = SEM_RELAXED,
                                   [SEM_RELEASE] = SEM_RELEASE,
                                   [SEM_ACQ_REL] = SEM_RELEASE};
  int64_t sem = op_int(op, ATTR_SEM, SEM_ACQ_REL);
  if (op->results[0].uses || unread[sem] == sem || op_int(op, ATTR_ATOMIC, ATOMIC_ADD) == ATOMIC_XCHG) return;
  op_set_int(c->ctx, op, ATTR_SEM, unread[sem]);
  c->changed = true;
}

static bool known_effect(Op *op) {
  uint64_t bits;
  switch (op->opcode) {
    case OP_ASSUME: case OP_ASSERT:
      return value_constant_bits(op_operand(op, 0), &bits) && (bits & 1);
    case OP_STORE: case OP_ATOMIC_RMW: {
      const Value *mask = op_named(op, OPERAND_MASK);
      if (!mask || !value_constant_bits(mask, &bits)) return false;
      if (bits & 1) {
        op_set_named(op, OPERAND_MASK, NULL);
        return false;
      }
      return op->opcode == OP_STORE || !op->results[0].uses;
    }
    default: return false;
  }
}

static void canon_op(Canon *c, Op *op) {
  if (known_effect(op)) {
    op_erase(op);
    c->changed = true;
    return;
  }
  switch (op->opcode) {
    case OP_ATOMIC_RMW: weaken_unread_atomic(c, op); break;
    case OP_IF:
      if (!inline_branch(c, op)) forward_if_results(c, op);
      return;
    case OP_FOR:
      if (shorten_for(c, op)) return;
      derive_carried_index(c, op);
      forward_invariants(c, op);
      return;
    case OP_SPLIT: {
      Op *join = op_operand(op, 0)->def;
      if (!join || join->opcode != OP_JOIN || op_operand(join, 0)->type != op->results[0].type) return;
      op_replace(op, op_operand_values(c->ctx, join, 0));
      c->changed = true;
      return;
    }
    default: break;
  }
  if (op->num_results != 1 || !op->results[0].uses) return;
  Builder b = builder_before(c->ctx, op);
  Value *v = fold_op(&b, op);
  if (!v && c->by_opcode[op->opcode]) v = c->by_opcode[op->opcode](&b, op);
  if (!v && op_is(op, TRAIT_ELEMENTWISE)) v = rewrite_elementwise(&b, op);
  if (v) replace(c, op, v);
}

static void canon_block(Canon *c, Block *b) {
  for (Op *op = b->first, *next; op; op = next) {
    for (uint32_t i = 0; i < op->num_blocks; i++) canon_block(c, op->blocks[i]);
    next = op->next;
    canon_op(c, op);
  }
}

// Pure ops that the rules left without users would keep values alive that other rules ask "one use?" of.
static void drop_unused(Block *b) {
  for (Op *op = b->last, *prev; op; op = prev) {
    prev = op->prev;
    for (uint32_t i = 0; i < op->num_blocks; i++) drop_unused(op->blocks[i]);
    bool used = !op->num_results || !op_is(op, TRAIT_PURE);
    for (uint32_t i = 0; i < op->num_results; i++) used |= op->results[i].uses != NULL;
    if (!used) op_erase(op);
  }
}

void pass_canonicalize(PassCtx *p) {
  Canon c = {.ctx = p->ctx, .module = p->module};
  RewriteRules r = rewrite_rules();
  for (uint32_t i = 0; i < r.count; i++) c.by_opcode[r.rules[i].opcode] = r.rules[i].fn;
  do {
    c.changed = false;
    EACH_FUNC(f, p->module) {
      canon_block(&c, f->body);
      drop_unused(f->body);
    }
  } while (c.changed);
}
