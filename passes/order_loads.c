// order_loads: issues a block's loads before the first op that waits for other threads (a reduction, a scan, a
// conversion): memory then works while the block computes. A load moves up, with the pure ops that its addresses need,
// until just after the last thing it must follow: what defines its operands, a write, a barrier, a loop. Loads keep
// their order. A moved load's value stays in registers longer; only as much moves as does not cost a resident block.
// In, out: LAID_OUT.
#include "passes/pass.h"
#include "passes/pressure.h"

enum { MAX_MOVED_WORDS = 32 };       // 32-bit registers per thread

typedef struct {
  Context *ctx;
  VEC(Op *) slice;           // what moves with the load, the load last
  int64_t spare;             // words per thread that may wait
} Order;

static bool is_plain_load(const Op *op) { return op->opcode == OP_LOAD && !op_int(op, ATTR_VOLATILE, 0); }

// The words that moving a load adds. In place a vector of it streams, which the estimate has counted.
static int64_t words(const Op *load) {
  const Type *t = load->results[0].type;
  const int64_t n = pressure_type_words(t);
  return type_is_tensor(t) ? n - min_i64(n, PRESSURE_VECTOR) : n;
}

// Adds the pure ops after position `at` that the value needs. False if it needs one that cannot move. Op.mark is the
// position in the block.
static bool add_slice(Order *o, const Block *b, Value *v, uint32_t at) {
  Op *op = v ? v->def : NULL;
  if (!op || op->parent != b || op->mark < at) return true;
  VEC_EACH(x, o->slice)
    if (*x == op) return true;
  if (!op_is(op, TRAIT_PURE) || op->num_blocks || op_unit(op) == UNIT_EXCH) return false;
  for (uint32_t i = 0; i < op->num_operands; i++)
    if (!add_slice(o, b, op_operand(op, i), at)) return false;
  vec_push(&o->ctx->arena, &o->slice, op);
  return true;
}

// The last position whose result a load needs and that cannot move with it; at least `least`. Value.aux is the last
// load that asked.
static uint32_t last_fixed(const Block *b, Value *v, uint32_t least, Op *load) {
  const Op *op = v ? v->def : NULL;
  if (!op || op->parent != b || op->mark <= least || v->aux == load) return least;
  if (!op_is(op, TRAIT_PURE) || op->num_blocks || op_unit(op) == UNIT_EXCH) return op->mark;
  v->aux = load;
  for (uint32_t i = 0; i < op->num_operands; i++) least = last_fixed(b, op_operand(op, i), least, load);
  return least;
}

// Returns whether the block has an op that no load passes.
static bool order_block(Order *o, Block *b) {
  uint32_t n = 1;            // 0: before the first op
  EACH_OP(op, b) n++;
  Op **at = arena_array(&o->ctx->arena, Op *, n);   // by position
  bool *stops = arena_array(&o->ctx->arena, bool, n), any_stops = false;
  n = 1;
  EACH_OP(op, b) {
    stops[n] = op_is(op, TRAIT_LOOP | TRAIT_WRITES | TRAIT_SYNC);
    for (uint32_t i = 0; i < op->num_blocks; i++) stops[n] |= order_block(o, op->blocks[i]);
    any_stops |= stops[n];
    op->mark = n;
    at[n++] = op;
  }
  uint32_t floor = 0, wait = 0;      // the last op that no load passes; the first wait after it
  for (uint32_t i = 1; i < n; i++) {
    Op *op = at[i];
    if (stops[i]) {
      floor = i;
      wait = 0;
    } else if (op_unit(op) == UNIT_EXCH && !wait) {
      wait = i;
    }
    if (!is_plain_load(op) || !wait || words(op) > o->spare) continue;
    uint32_t least = floor;
    for (uint32_t k = 0; k < op->num_operands; k++) least = last_fixed(b, op_operand(op, k), least, op);
    // To the first wait after everything that the load must follow.
    uint32_t to = wait;
    while (to < i && (to <= least || op_unit(at[to]) != UNIT_EXCH)) to++;
    if (to >= i) continue;
    o->slice.count = 0;
    bool can = true;
    for (uint32_t k = 0; k < op->num_operands && can; k++) can = add_slice(o, b, op_operand(op, k), to);
    if (!can) continue;
    VEC_EACH(x, o->slice) {
      op_move_before(*x, at[to]);
      (*x)->mark = to - 1;
    }
    op_move_before(op, at[to]);
    op->mark = to - 1;
    o->spare -= words(op);
  }
  return any_stops;
}

void pass_order_loads(PassCtx *p) {
  Order o = {.ctx = p->ctx};
  EACH_FUNC(f, p->module) {
    Pressure pressure = pressure_of(p->module, f);
    o.spare = pressure.words ? min_i64(pressure.spare, MAX_MOVED_WORDS) : MAX_MOVED_WORDS;
    order_block(&o, f->body);
  }
}
