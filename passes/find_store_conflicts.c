// find_store_conflicts: warns of stores by which programs overwrite each other's results (-Wstore-conflict), and of
// locks that plain stores give back (-Wplain-unlock). It changes nothing. It is the first pass, because it judges the
// code as the user wrote it.
//
// For every value it finds what the value may depend on: program_id of each axis, memory, or something else. Two
// conflicts are reported:
//   - The stored value depends on program_id(a); the address, the mask and the conditions around the store do not.
//     Programs that differ in program_id(a) alone then store different values to one place.
//   - Every program loads a place and stores there a value computed from what it loaded.
//
// It says nothing where programs may agree on who stores: in a kernel with atomics, with assembly, or with conditions
// that depend on memory.
// A lock is what a kernel waits for by an atomic_cas in a `while`; a plain store to the same address after it orders
// nothing, as the simulator reports.
// In, out: TILE or LAID_OUT.
#include "ir/loop.h"
#include "ir/outside.h"
#include "passes/pass.h"

enum { NUM_AXES = 3, ANY_AXIS = (1 << NUM_AXES) - 1, MEMORY = 1 << NUM_AXES, OTHER = MEMORY << 1 };

typedef struct {
  Context *ctx;
  uint8_t *deps;               // by Value.number: bits of axes, MEMORY, OTHER
  const Op **seen;             // by Value.number: the store for which comes_from looked at it last
  uint8_t axes;                // whose program_id the function asks for
  bool is_changed;
  bool is_coordinated;         // programs may agree on who stores
} Conflicts;

static uint8_t deps_of(const Conflicts *c, const Value *v) { return v ? c->deps[v->number] : 0; }

static void add(Conflicts *c, const Value *v, uint8_t deps) {
  uint8_t *at = &c->deps[v->number];
  c->is_changed |= (*at | deps) != *at;
  *at |= deps;
}

static uint8_t operand_deps(const Conflicts *c, const Op *op, uint32_t first) {
  uint8_t deps = 0;
  for (uint32_t i = first; i < op->num_operands; i++) deps |= deps_of(c, op_operand(op, i));
  return deps;
}

// ---- what values depend on ----
static void visit_block(Conflicts *c, const Block *b);

// The i-th value that a block's terminator hands on; `first` operands of the terminator are none.
static uint8_t yielded(const Conflicts *c, const Block *b, uint32_t first, uint32_t i) {
  const Op *end = block_terminator(b);
  return first + i < end->num_operands ? deps_of(c, op_operand(end, first + i)) : 0;
}

static void visit_for(Conflicts *c, Op *op) {
  const Block *body = op->blocks[0];
  const uint8_t bounds =
      deps_of(c, for_lower(op)) | deps_of(c, for_upper(op)) | deps_of(c, for_step(op));
  add(c, for_iv(op), bounds);
  for (uint32_t i = 0; i < op->num_results; i++)
    add(c, for_carried(op, i), bounds | deps_of(c, for_init(op, i)) | yielded(c, body, 0, i));
  visit_block(c, body);
  for (uint32_t i = 0; i < op->num_results; i++)
    add(c, op_result(op, i), bounds | deps_of(c, for_init(op, i)) | yielded(c, body, 0, i));
}

static void visit_while(Conflicts *c, Op *op) {
  const Block *test = op->blocks[0], *body = op->blocks[1];
  for (uint32_t i = 0; i < test->num_args; i++)
    add(c, test->args[i], deps_of(c, op_operand(op, i)) | yielded(c, body, 0, i));
  visit_block(c, test);
  const uint8_t goes_on = yielded(c, test, 0, 0);
  for (uint32_t i = 0; i < op->num_results; i++) {
    const uint8_t deps = goes_on | yielded(c, test, 1, i);
    add(c, body->args[i], deps);
    add(c, op_result(op, i), deps);
  }
  visit_block(c, body);
}

static void visit_if(Conflicts *c, Op *op) {
  visit_block(c, op->blocks[0]);
  visit_block(c, op->blocks[1]);
  for (uint32_t i = 0; i < op->num_results; i++)
    add(c, op_result(op, i),
        deps_of(c, op_operand(op, 0)) | yielded(c, op->blocks[0], 0, i) | yielded(c, op->blocks[1], 0, i));
}

// Reductions and the like: each result may come of all operands, and of what the blocks use.
static void visit_other(Conflicts *c, Op *op) {
  uint8_t deps = operand_deps(c, op, 0);
  if (op->opcode == OP_PROGRAM_ID) deps |= (uint8_t)(1u << op_int(op, ATTR_AXIS, 0));
  const bool is_load = op_is(op, TRAIT_READS) && !op_is(op, TRAIT_WRITES) &&
                       (op_unit(op) == UNIT_GMEM || op_unit(op) == UNIT_DESC);
  if (is_load) deps |= MEMORY;
  else if (op_is(op, TRAIT_READS | TRAIT_WRITES)) deps |= OTHER;
  for (uint32_t k = 0; k < op->num_blocks; k++) {
    const Block *b = op->blocks[k];
    for (uint32_t i = 0; i < b->num_args; i++) add(c, b->args[i], deps);
    visit_block(c, b);
    deps |= operand_deps(c, block_terminator(b), 0);
  }
  for (uint32_t i = 0; i < op->num_results; i++) add(c, op_result(op, i), deps);
}

static void visit_block(Conflicts *c, const Block *b) {
  EACH_OP(op, b) {
    switch (op->opcode) {
    case OP_FOR: visit_for(c, op); break;
    case OP_WHILE: visit_while(c, op); break;
    case OP_IF: visit_if(c, op); break;
    default: visit_other(c, op);
    }
  }
}

// ---- stores ----
// What decides whether an op runs, and how often.
static uint8_t control_deps(const Conflicts *c, const Op *op) {
  uint8_t deps = 0;
  for (const Op *around = op->parent->parent; around; around = around->parent->parent) {
    if (around->opcode == OP_IF) deps |= deps_of(c, op_operand(around, 0));
    else if (around->opcode == OP_FOR)
      for (uint32_t i = 0; i < 3; i++) deps |= deps_of(c, op_operand(around, i));
    else if (around->opcode == OP_WHILE) deps |= yielded(c, around->blocks[0], 0, 0);
    else deps |= OTHER;
  }
  return deps;
}

// Whether v is computed, by ops without blocks, from a load of that very address. Each value is looked at once.
static bool comes_from(Conflicts *c, const Value *v, const Op *store, uint32_t depth) {
  enum { DEEPEST = 1000 };
  const Op *def = v ? v->def : NULL;
  if (!def || depth > DEEPEST || def->num_blocks || c->seen[v->number] == store) return false;
  c->seen[v->number] = store;
  if (def->opcode == OP_LOAD)
    return op_operand(def, 0) == op_operand(store, 0) && op_operand(def, 1) == op_operand(store, 1);
  if (!op_is(def, TRAIT_PURE)) return false;
  for (uint32_t i = 0; i < def->num_operands; i++)
    if (comes_from(c, op_operand(def, i), store, depth + 1)) return true;
  return false;
}

static void check_store(Conflicts *c, const Op *op) {
  const bool is_plain = op->opcode == OP_STORE;
  const Value *value = op_named(op, OPERAND_VALUE);
  uint8_t where = deps_of(c, op_operand(op, 0)) | control_deps(c, op);
  where |= is_plain ? deps_of(c, op_named(op, OPERAND_OFFSET)) | deps_of(c, op_named(op, OPERAND_MASK))
                    : operand_deps(c, op, 2);
  if (where & (MEMORY | OTHER)) return;
  const uint8_t axes = deps_of(c, value) & (uint8_t)~where & c->axes;
  const Span span = op_user_span(c->ctx, op);
  if (axes) {
    const int axis = __builtin_ctz(axes);
    if (diag_warning(c->ctx, WARN_STORE_CONFLICT, span,
                     "programs store different values to the same place: the value depends on program_id(%d), the "
                     "address does not",
                     axis))
      diag_note(c->ctx, (Span){0, 0},
                "let the address depend on it, combine by atomic_add(…), or store under `if program_id(%d) == "
                "0:`",
                axis);
  } else if (is_plain && c->axes && !(where & ANY_AXIS) && comes_from(c, value, op, 0)) {
    if (diag_warning(c->ctx, WARN_STORE_CONFLICT, span,
                     "every program loads this place and stores to it again, which loses the others' changes"))
      diag_note(c->ctx, (Span){0, 0}, "use atomic_add(…) or another atomic operation");
  }
}

// ---- locks ----
typedef struct { Context *ctx; VEC(const Op *) waits; } Locks;

static bool is_in_while(const Op *op) {
  for (const Op *around = op->parent->parent; around; around = around->parent->parent)
    if (around->opcode == OP_WHILE) return true;
  return false;
}

// Whether the loop `while atomic_cas(p, a, b) == a: pass`, or with != b, goes on when it has taken the lock: with a and
// b two constants, an exchange that succeeded is tried again.
static bool is_inverted(const Op *cas) {
  const Op *loop = cas->parent->parent;
  if (!loop || loop->opcode != OP_WHILE || cas->parent != loop->blocks[0]) return false;
  if (loop->blocks[1]->first != block_terminator(loop->blocks[1])) return false;
  const Value *test = op_operand(block_terminator(loop->blocks[0]), 0);
  const Op *cmp = test->def;
  int64_t from, to, with;
  if (!cmp || cmp->opcode != OP_CMPI || op_operand(cmp, 0)->def != cas ||
      !value_constant_int(op_operand(cas, 2), &from) || !value_constant_int(op_named(cas, OPERAND_VALUE), &to) ||
      from == to || !value_constant_int(op_operand(cmp, 1), &with))
    return false;
  const int64_t predicate = op_int(cmp, ATTR_PRED, 0);
  return (predicate == CMP_EQ && with == from) || (predicate == CMP_NE && with == to);
}

static void check_lock(Op *op, void *user) {
  Locks *l = user;
  if (op->opcode == OP_ATOMIC_CAS && is_inverted(op) &&
      diag_warning(l->ctx, WARN_INVERTED_LOCK, op_user_span(l->ctx, op),
                   "this loop goes on while it takes the lock, and ends where another program holds it"))
    diag_note(l->ctx, (Span){0, 0},
              "atomic_cas returns what was there before: loop while that is not the free value, as in "
              "`while tl.atomic_cas(lock, 0, 1) != 0:`");
  if (op->opcode == OP_ATOMIC_CAS && is_in_while(op)) vec_push(&l->ctx->arena, &l->waits, op);
  if (op->opcode != OP_STORE || type_is_tensor(op_operand(op, 0)->type)) return;
  for (uint32_t i = 0; i < l->waits.count; i++) {
    if (!value_is_alike(op_operand(op, 0), op_operand(l->waits.data[i], 0))) continue;
    const LineCol at = source_locate(l->ctx, op_user_span(l->ctx, l->waits.data[i]).begin);
    const char *exchange = outside_exchange(l->ctx, op);
    if (diag_warning(l->ctx, WARN_PLAIN_UNLOCK, op_user_span(l->ctx, op),
                     "programs wait for this place by the atomic_cas of %s:%u, and a plain store releases no lock",
                     at.file ? at.file->path : "line", at.line))
      diag_note(l->ctx, (Span){0, 0}, "write %s", exchange ? exchange : "tl.atomic_xchg(pointer, value)");
    return;
  }
}

static void look(Op *op, void *user) {
  Conflicts *c = user;
  if (op->opcode == OP_PROGRAM_ID) c->axes |= (uint8_t)(1u << op_int(op, ATTR_AXIS, 0));
  if (op_is_atomic(op) || op->opcode == OP_DESC_REDUCE || op->opcode == OP_SPECIAL ||
      op->opcode == OP_GRID_DEPENDENCY || op->opcode == OP_INLINE_ASM)
    c->is_coordinated = true;
}

static void check(Op *op, void *user) {
  if (op->opcode == OP_STORE || op->opcode == OP_DESC_STORE) check_store(user, op);
}

void pass_find_store_conflicts(PassCtx *p) {
  ir_number_values(p->module);
  EACH_FUNC(f, p->module) {
    Locks locks = {.ctx = p->ctx};
    block_walk(f->body, check_lock, &locks);
    Conflicts c = {.ctx = p->ctx};
    block_walk(f->body, look, &c);
    if (c.is_coordinated || !c.axes) continue;
    c.deps = arena_array(&p->ctx->arena, uint8_t, ir_count_values(f) + 1);
    c.seen = arena_array(&p->ctx->arena, const Op *, ir_count_values(f) + 1);
    do {
      c.is_changed = false;
      visit_block(&c, f->body);
    } while (c.is_changed);
    block_walk(f->body, check, &c);
  }
}
