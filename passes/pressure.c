// Register pressure at waits: see pressure.h.
#include "passes/pressure.h"

#include "ir/loop.h"
#include "ir/reduce_order.h"
#include "ir/roles.h"
#include "passes/access.h"
#include "passes/op_order.h"

enum { OVERHEAD = 12, MAX_STREAMS = 4, ADDRESSES = 8 };

typedef struct {
  OpOrder order;
  int64_t *held;             // words held after each position
  uint32_t last_wait;        // number of the last op that waits; 0: none
  uint32_t most;
  uint32_t streams;          // words of loads after the last wait, a vector each
  uint32_t stream;           // words of a loop's loads and of what it carries, the most of any loop
  uint32_t loaded, carried;  // of that loop: words of its loads of tensors, and of what it carries
  bool waits;                // in that loop something waits or writes
  bool complex;
} Estimate;

// Values must stay at waits and where branches that yield tensors meet.
static bool holds(const Op *op) {
  bool joins = false;
  for (uint32_t i = 0; i < op->num_results && op->opcode == OP_IF; i++)
    joins |= op->results[i].type->kind == TYPE_TENSOR;
  return joins || op_unit(op) == UNIT_EXCH;
}

// Offsets and masks are recomputed where they are needed.
static bool is_cheap(const Value *v, uint32_t depth) {
  if (type_elem_bits(v->type) == 1) return true;
  const Op *op = v->def;
  if (!op || depth == 0 || op->num_blocks) return false;
  if (op_is(op, TRAIT_FREE)) return true;
  if (!type_is_int(v->type) || !op_is(op, TRAIT_PURE)) return false;
  for (uint32_t i = 0; i < op->num_operands; i++)
    if (op_operand(op, i) && !is_cheap(op_operand(op, i), depth - 1)) return false;
  return true;
}

uint32_t pressure_type_words(const Type *t) {
  const uint32_t elements = type_is_tensor(t) ? layout_regs_per_thread(t->layout) : 1;
  return (elements * type_elem_bits(t) + 31) / 32;
}

uint32_t pressure_words(const Value *v) {
  const Op *op = v->def;
  if (op && (op->opcode == OP_BROADCAST || op->opcode == OP_EXPAND_DIMS)) return pressure_words(op_operand(op, 0));
  if (v->type->kind != TYPE_TENSOR || !v->type->layout || is_cheap(v, 8)) return 0;
  return pressure_type_words(v->type);
}

uint32_t pressure_carried(const Op *loop) {
  uint32_t words = 0;
  for (uint32_t i = 0; i < loop->num_results; i++) words += pressure_words(for_carried(loop, i));
  return words;
}

// Whether the op's result is its operand's registers under other numbers.
static bool is_view(const Op *op) {
  return op && op_is(op, TRAIT_MOVES) && !op_is(op, TRAIT_FREE) && op_unit(op) == UNIT_NONE && op->num_results == 1 &&
         op_operand(op, 0)->type->kind == TYPE_TENSOR;
}

// The position after which a value, and its views, are dead. What is defined outside a loop and used in it lives to the
// loop's end; what a loop only begins with is not needed in it.
static uint32_t last_use(const OpOrder *o, const Value *v, const Op *def) {
  uint32_t last = 0;
  EACH_USE(u, v) {
    uint32_t at = op_order_begin(o, u->user);
    if (is_view(u->user)) last = (uint32_t)max_i64(last, last_use(o, &u->user->results[0], u->user));
    for (const Op *p = u->user->parent->parent; p; p = p->parent->parent)
      if (p != def && op_is(p, TRAIT_LOOP) && value_defined_outside(v, p)) at = op_order_end(o, p);
    last = (uint32_t)max_i64(last, at);
  }
  return last;
}

static uint32_t held_of(const OpOrder *o, const Value *v, const Op *at) {
  uint32_t words = is_view(v->def) ? 0 : pressure_words(v);
  return words && last_use(o, v, v->def) > op_order_begin(o, at) ? words : 0;
}

// A sweep over a function: the words that live after each position.
typedef struct {
  const OpOrder *order;
  int64_t *live;                       // first as changes
  uint32_t (*words)(const Value *v);
  bool args_at_op;                     // whether block arguments live from the op on that has the block, or in it
} Sweep;

static void add_life(const Sweep *s, const Value *v, const Op *def, uint32_t from) {
  const uint32_t words = is_view(v->def) ? 0 : s->words(v), to = words ? last_use(s->order, v, def) : 0;
  if (to <= from) return;
  s->live[from] += words;
  s->live[to] -= words;
}

static void add_lives(Op *op, void *user) {
  const Sweep *s = user;
  const uint32_t begin = op_order_begin(s->order, op), end = op->num_blocks ? op_order_end(s->order, op) : begin;
  for (uint32_t i = 0; i < op->num_results; i++) add_life(s, &op->results[i], op, end);
  for (uint32_t b = 0; b < op->num_blocks; b++)
    for (uint32_t i = 0; i < op->blocks[b]->num_args; i++)
      add_life(s, op->blocks[b]->args[i], op, s->args_at_op ? begin : begin + 1);
}

static int64_t *sweep(Sweep s, const Func *f, OpVisitor also) {
  s.live = arena_array(&s.order->ctx->arena, int64_t, s.order->count + 2);
  block_walk(f->body, add_lives, &s);
  if (also) block_walk(f->body, also, &s);
  for (uint32_t i = 1; i <= s.order->count; i++) s.live[i] += s.live[i - 1];
  return s.live;
}

// Words held after `at`, of what is defined before it in its block and the blocks around it, and of its results.
static uint32_t held_after(const Estimate *g, const Op *at) {
  int64_t words = g->held[op_order_begin(&g->order, at)];
  for (uint32_t i = 0; i < at->num_results && at->num_blocks; i++) words += held_of(&g->order, &at->results[i], at);
  return (uint32_t)words;
}

static void find_waits(Op *op, void *user) {
  Estimate *g = user;
  if (holds(op)) g->last_wait = op_order_begin(&g->order, op);
  if (op_unit(op) == UNIT_DOT || op->opcode == OP_ALLOC || op->opcode == OP_WHILE) g->complex = true;
}

// Registers of a load in flight beyond the words that it brings. A narrow element that is loaded alone takes a register,
// and so does its address, for MAX_ADDRESSES of them: the assembler would pack two elements before it loads the next. So
// do the addresses of words that are not constants apart: the assembler would add up each for its load, and wait.
static uint32_t beside_words(const Op *load) {
  enum { MAX_ADDRESSES = 8 };
  const Type *t = load->results[0].type;
  const uint32_t words = pressure_words(&load->results[0]), vector = (uint32_t)op_int(load, ATTR_VECTOR, 1);
  if (!words || vector * type_elem_bits(t) > 32) return 0;
  const uint32_t loads = layout_regs_per_thread(t->layout) / vector;
  const uint32_t addresses = vector * type_elem_bits(t) < 32 ? loads : access_addresses(load, vector);
  return loads - words + (addresses > 1 ? (uint32_t)min_i64(addresses, MAX_ADDRESSES) : 0);
}

// The loads of a loop's body, beside what it carries, are a stream unless there is one machine load of a tensor at most.
// Scalars take registers, too.
static void measure_stream(Estimate *g, const Op *loop) {
  const Block *body = loop->blocks[0];
  uint32_t loaded = 0, loads = 0, beside = 0;
  bool waits = false;
  EACH_OP(op, body) {
    if (op->num_blocks && op_unit(op) != UNIT_EXCH) return;
    waits |= op_unit(op) == UNIT_EXCH || op_is(op, TRAIT_WRITES | TRAIT_SYNC);
    uint32_t words = op->opcode == OP_LOAD ? pressure_words(&op->results[0]) : 0;
    if (words) beside += beside_words(op);
    else if (op->opcode == OP_LOAD && op->results[0].type->kind == TYPE_SCALAR)
      beside += pressure_type_words(op->results[0].type);
    loaded += words;
    loads += (words + PRESSURE_VECTOR - 1) / PRESSURE_VECTOR;
  }
  const uint32_t carried = pressure_carried(loop);
  if (loads < 2 || loaded + beside + carried <= g->stream) return;
  g->stream = loaded + beside + carried;
  g->loaded = loaded;
  g->carried = carried;
  g->waits = waits;
}

// Whether operand i is an earlier one, too, as in a sum of squares.
static bool is_repeated(const Op *op, uint32_t i) {
  for (uint32_t k = 0; k < i; k++)
    if (op_operand(op, k) == op_operand(op, i)) return true;
  return false;
}

static void measure(Op *op, void *user) {
  Estimate *g = user;
  if (op->opcode == OP_LOAD && op_order_begin(&g->order, op) > g->last_wait)
    g->streams += (uint32_t)min_i64(pressure_words(&op->results[0]), PRESSURE_VECTOR);
  if (op->opcode == OP_FOR) measure_stream(g, op);
  if (!holds(op)) return;
  uint32_t held = held_after(g, op), taken = 0;
  for (uint32_t i = 0; i < op->num_operands; i++)
    if (op_operand(op, i) && !is_repeated(op, i)) taken += pressure_words(op_operand(op, i));
  // What only the wait takes may be loaded and combined in two halves. A scan keeps every element to its end, and
  // beside each the total before it.
  uint32_t given = 0;
  for (uint32_t i = 0; i < op->num_results; i++) given += held_of(&g->order, &op->results[i], op);
  if (op->opcode == OP_SCAN) held += 2 * taken - given;
  else if (taken > held) held += (taken - held) / 2;
  if (held > g->most) g->most = held;
}

// The only op that uses v; NULL if there are several, or none.
static const Op *only_user(const Value *v) {
  const Op *user = v->uses ? v->uses->user : NULL;
  EACH_USE(u, v)
    if (u->user != user) return NULL;
  return user;
}

// Whether each thread reduces nothing but what it holds itself.
static bool reduces_in_thread(const Op *op) {
  if (op->opcode != OP_REDUCE) return false;
  const uint32_t axis = (uint32_t)op_int(op, ATTR_AXIS, 0);
  const Layout *l = op_operand(op, 0)->type->layout;
  AxisPlace places[LAYOUT_MAX_BITS];
  if (!l || !reduce_axis_places(l, axis, places)) return false;
  for (uint32_t i = 0; i < l->log2_size[axis]; i++)
    if (places[i].dim != LAYOUT_REG) return false;
  return true;
}

// The only op that uses v, where a use by an op that only renames v's registers is a use of that op's result. NULL if
// there are several, or none.
static const Op *only_reader(const Value *v) {
  const Op *user = only_user(v);
  return is_view(user) ? only_reader(&user->results[0]) : user;
}

// Words of a value that only a wait takes, or a reduction within threads: it may be computed and combined in two
// halves.
static uint32_t words_at_once(const Value *v) {
  const uint32_t words = pressure_words(v);
  const Op *user = words ? only_user(v) : NULL, *reader = user ? only_reader(v) : NULL;
  const bool in_halves = user && ((holds(user) && user->opcode != OP_SCAN) || (reader && reduces_in_thread(reader)));
  return in_halves ? (words + 1) / 2 : words;
}

// A scan keeps beside each element its own and the total before it. Integers become addresses, of two words each.
static void add_scan(Op *op, void *user) {
  const Sweep *s = user;
  const uint32_t at = op_order_begin(s->order, op);
  for (uint32_t i = 0; i < op->num_results && op->opcode == OP_SCAN; i++) {
    const uint32_t words = pressure_words(&op->results[i]) * (type_is_int(op->results[i].type) ? 4 : 2);
    s->live[at] += words;
    s->live[at + 1] -= words;
  }
}

// The most words that are live after any op. An op's result may take the place of an operand that dies there.
static uint32_t most_live(const OpOrder *o, const Func *f) {
  const int64_t *live = sweep((Sweep){.order = o, .words = words_at_once, .args_at_op = true}, f, add_scan);
  int64_t most = 0;
  for (uint32_t i = 0; i <= o->count; i++) most = max_i64(most, live[i]);
  return (uint32_t)most;
}

// More held values also need more addresses, predicates and temporaries.
static uint32_t overhead(uint32_t held) { return OVERHEAD + (held > 32 ? (held - 32) / 2 : 0); }

uint32_t pressure_registers(uint32_t words) { return words + overhead(words); }

Pressure pressure_of(const Module *m, Func *f) {
  Estimate g = {.order = op_order_of(m->ctx, f)};
  block_walk(f->body, find_waits, &g);
  if (g.complex) return (Pressure){.most = most_live(&g.order, f) + ADDRESSES, .complex = true};
  if (g.last_wait) g.held = sweep((Sweep){.order = &g.order, .words = pressure_words}, f, NULL);
  block_walk(f->body, measure, &g);
  Pressure p = {.stream = g.stream ? pressure_registers(g.stream) : 0,
                .loaded = g.loaded, .carried = g.carried, .waits = g.waits,
                .most = most_live(&g.order, f) + ADDRESSES};
  if (!g.last_wait) return p;
  uint32_t threads = module_total_warps(m) * WARP_SIZE;
  p.words = g.most + (uint32_t)min_i64(g.streams, PRESSURE_VECTOR * MAX_STREAMS) + overhead(g.most);
  // An SM holds many small blocks: one fewer does not matter while half of its threads are there.
  const uint32_t most = m->target->sm_threads, enough = threads >= most / 4 ? UINT32_MAX : most / 2 / threads;
  uint32_t limit = 0;
  for (uint32_t k = 1; k <= target_blocks_by_threads(m->target, threads); k++) {
    uint32_t registers = target_registers_of(k, threads);
    if (registers < p.words) break;
    p.blocks = k;
    if (k <= enough) limit = registers;
  }
  p.spare = limit > p.words ? limit - p.words : 0;
  return p;
}
