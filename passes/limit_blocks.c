// Fewer blocks per SM than registers would hold, where more only crowd memory. A block brings a stream of reads and one of writes;
// beyond what keeps memory busy, each further stream costs locality. The assembler has no option for that: a thread is given more
// registers than it needs instead (Func.registers, exact), which costs nothing else.
//
// How many, as measured on Hopper for kernels that read, compute little and write:
//   - threads wait for no others: two blocks or 96 KB of reads on an SM;
//   - a block reduces what it read: three blocks or 48 KB of reads, or 32 KB and beside them one block at each of its reductions.
// One block too few costs ten times what one too many does. So numbers are rounded up, and whatever is not of that kind is left
// alone: loops, shared buffers, atomics, exchange other than reductions, loaded addresses, narrow loads, more operations an
// element, far fewer stores than loads (behind a reduction, fewer bytes: rows of fp16 made int8 lost 10 % by it), cooperative grids. The assembler must not spill: the guess of pressure.h leaves room.
// Nor is a block thinned out whose tiles may be mostly empty: where a mask is the same in every program, as a row's length is, a row of
// 3072 in a block of 4096 brings three quarters of the bytes, and lost 8 % by it. If such a mask compares the positions in the tile
// with an argument, the rule is for launches in which the argument is past them all. A bound that depends on the program cuts the
// last one's tile only. And a launch must be large: with six blocks a multiprocessor instead of ten, a grid of ten on each takes two
// waves instead of one, and the waves of a small grid come and go together. From about ten waves on the rule gained (before, up to 11 %
// were lost). A launch that is one wave either way gains too, up to 17 % where the assembler would keep loads back to save registers. So
// it is for the second entry (Func.full).
//
// Where the reductions ask for a block more than the bytes do, reads crowd memory a little: each warp pauses before it stores its row,
// which gave such kernels 0.1 to 1.2 %. `nanosleep` waits for a random time, and in steps: 150 to 250 ns are one step, 300 to 500 the next, twice
// as long; the block waits for the slowest of its warps, so that where there are many the shorter is enough. Such an entry is not for
// single waves, where a pause is time lost.
//
// Apart from that registers are fixed where the wanted number of blocks might just not fit: the assembler then makes do, with fewer loads at once.
// In, out: LAID_OUT; sets Func.registers or Func.full, adds a pause.
#include "passes/axis_info.h"
#include "passes/pass.h"
#include "passes/pressure.h"

enum { KB = 1024, STREAM_BYTES = 96 * KB, ROW_BYTES = 48 * KB, LOADING_BYTES = 32 * KB };
enum { MAX_EXACT = 248, VECTOR_BYTES = 16, STREAM_WORK = 2, ROW_WORK = 12, MIN_WAVES = 10 };
enum { PAUSE_NS = 300, SHORT_PAUSE_NS = 200, MANY_WARPS = 16 };
enum { MARK_OWN = 1, MARK_LOADED = 2 };      // Op.mark: depends on which program it is; depends on what was loaded

typedef VEC(const Value *) Masks;

typedef struct {
  bool other;                // something that the rule is not for
  Masks *masks;              // of the loads so read, that may cut tiles
  uint32_t waits;            // reductions
  int64_t read, written;     // bytes: that a block reads of its own before it waits; that it writes
  int64_t elements, work;    // so read; results of elementwise operations, those at a quarter of the rate as four
} Traffic;

static int64_t numel_of(const Type *t) { return t->kind == TYPE_TENSOR ? type_numel(t) : 0; }
static int64_t bytes_of(const Type *t) { return numel_of(t) * type_elem_bits(t) / 8; }

static uint32_t marks_of(const Op *op, uint32_t first, uint32_t end) {
  uint32_t marks = 0;
  for (uint32_t i = first; i < end && i < op->num_operands; i++) {
    const Value *v = op_operand(op, i);
    if (v && v->def) marks |= v->def->mark;
  }
  return marks;
}

static void add_load(Arena *a, Traffic *t, Op *op) {
  const Type *type = op->results[0].type;
  if (op->mark & MARK_LOADED || op_int(op, ATTR_VOLATILE, 0)) t->other = true;
  if (op->mark & MARK_OWN && numel_of(type) && !t->waits) {
    if (op_int(op, ATTR_VECTOR, 1) * type_elem_bits(type) < VECTOR_BYTES * 8) t->other = true;
    t->read += bytes_of(type);
    t->elements += type_numel(type);
    if (op_operand(op, 2)) vec_push(a, t->masks, op_operand(op, 2));
  }
  op->mark |= MARK_LOADED;
}

static void add_store(Traffic *t, const Op *op) {
  if (marks_of(op, 0, 2) & MARK_LOADED) t->other = true;
  if (marks_of(op, 0, 2) & MARK_OWN) t->written += bytes_of(op_operand(op, 2)->type);
}

static void scan_block(Arena *a, Traffic *t, const Block *b);

// Of an if one branch runs: it counts as the heavier.
static void add_if(Arena *a, Traffic *t, Op *op) {
  Traffic before = *t;
  for (uint32_t i = 0; i < op->num_blocks; i++) {
    Traffic way = before;
    scan_block(a, &way, op->blocks[i]);
    t->other = t->other || way.other;
    if (way.waits > t->waits) t->waits = way.waits;
    t->read = max_i64(t->read, way.read);
    t->written = max_i64(t->written, way.written);
    t->elements = max_i64(t->elements, way.elements);
    t->work = max_i64(t->work, way.work);
    op->mark |= marks_of(op->blocks[i]->last, 0, UINT32_MAX);
  }
}

static uint32_t issue_slots(const Op *op) {
  switch (op->opcode) {
    case OP_EXP2: case OP_LOG2: case OP_SIN: case OP_COS: case OP_TANH: case OP_SQRT: case OP_RSQRT: case OP_RCP: case OP_RINT: case OP_FLOOR: case OP_CEIL:
    case OP_TRUNC: case OP_SITOFP: case OP_UITOFP: case OP_FPTOSI: case OP_FPTOUI: return 4;
    default: return 1;
  }
}

static void scan_block(Arena *a, Traffic *t, const Block *b) {
  for (Op *op = b->first; op; op = op->next) {
    op->mark = op->opcode == OP_PROGRAM_ID ? MARK_OWN : marks_of(op, 0, UINT32_MAX);
    switch (op->opcode) {
      case OP_LOAD: add_load(a, t, op); break;
      case OP_STORE: add_store(t, op); break;
      case OP_IF: add_if(a, t, op); break;
      case OP_REDUCE: t->waits++; break;
      case OP_YIELD: case OP_RETURN: case OP_ASSUME: break;
      case OP_SCAN: case OP_HISTOGRAM: case OP_GATHER: case OP_DOT: case OP_MMA: case OP_CONVERT_LAYOUT: t->other = true; break;
      default:
        if (!(op_info[op->opcode].traits & TRAIT_PURE)) t->other = true;
        if (op_info[op->opcode].traits & TRAIT_ELEMENTWISE) t->work += issue_slots(op) * numel_of(op->results[0].type);
    }
  }
}

static uint32_t ceil_div(int64_t a, int64_t b) { return (uint32_t)((a + b - 1) / b); }

static uint32_t blocks_for_bytes(const Traffic *t) { return (uint32_t)max_i64(3, ceil_div(ROW_BYTES, t->read)); }
static uint32_t blocks_for_waits(const Traffic *t) { return t->waits + ceil_div(LOADING_BYTES, t->read); }

// 0: as many as will fit.
static uint32_t wanted_blocks(const Traffic *t) {
  if (t->other || !t->read || t->written * (t->waits ? 1 : 4) < t->read) return 0;
  if (t->work > t->elements * (t->waits ? ROW_WORK : STREAM_WORK)) return 0;
  if (!t->waits) return (uint32_t)max_i64(2, ceil_div(STREAM_BYTES, t->read));
  return (uint32_t)max_i64(blocks_for_bytes(t), blocks_for_waits(t));
}

static bool contains_wait(const Op *op) {
  if (op->opcode == OP_REDUCE) return true;
  for (uint32_t i = 0; i < op->num_blocks; i++)
    for (const Op *inner = op->blocks[i]->first; inner; inner = inner->next)
      if (contains_wait(inner)) return true;
  return false;
}

// The first store of the program's own tile behind the last wait, in the function's own block; NULL: none.
static Op *store_of_row(const Func *f) {
  Op *store = NULL;
  for (Op *op = f->body->last; op && !contains_wait(op); op = op->prev)
    if (op->opcode == OP_STORE && numel_of(op_operand(op, 2)->type) && marks_of(op, 0, 2) & MARK_OWN) store = op;
  return store;
}

// ---- launches whose tiles are full ----

typedef struct {
  PassCtx *ctx;
  AxisAnalysis *axes;
  Func *func;
  VEC(ArgBound) bounds;
} Fullness;

// The parameter that is compared with, or num_params.
static uint32_t compared_param(const Func *f, const Value *v) {
  while (v->def && (v->def->opcode == OP_SPLAT || v->def->opcode == OP_BROADCAST || v->def->opcode == OP_EXPAND_DIMS || v->def->opcode == OP_EXTSI)) v = op_operand(v->def, 0);
  uint32_t i = 0;
  while (i < f->num_params && f->body->args[i] != v) i++;
  return i;
}

static void add_bound(Fullness *f, ArgBound bound) {
  for (uint32_t i = 0; i < f->bounds.count; i++) {
    ArgBound *b = &f->bounds.data[i];
    if (b->param != bound.param) continue;
    b->at_least = max_i64(b->at_least, bound.at_least);
    return;
  }
  vec_push(&f->ctx->ctx->arena, &f->bounds, bound);
}

// Adds what arguments must be for the mask to hold everywhere, or, where it depends on the program, in all but the last one's tile.
// False: the mask asks something else.
static bool add_bounds(Fullness *f, const Value *mask) {
  const Op *def = mask->def;
  if (!def) return false;
  if (def->opcode == OP_ANDI) return add_bounds(f, op_operand(def, 0)) && add_bounds(f, op_operand(def, 1));
  if (def->mark & MARK_OWN) return true;
  if (def->opcode != OP_CMPI) return false;
  int64_t pred = op_int(def, ATTR_PRED, CMP_EQ);
  bool flipped = pred == CMP_SGT || pred == CMP_SGE, strict = pred == CMP_SLT || pred == CMP_SGT;
  if (!flipped && !strict && pred != CMP_SLE) return false;
  Value *position = op_operand(def, flipped), *limit = op_operand(def, !flipped);
  if (!f->axes) f->axes = axis_analyse(f->ctx->ctx, f->ctx->module);
  const AxisInfo *x = axis_info(f->axes, position);
  ArgBound bound = {compared_param(f->func, limit), 0};
  if (bound.param == f->func->num_params || !x || x->hi >= INT32_MAX) return false;
  bound.at_least = x->hi + strict;
  add_bound(f, bound);
  return true;
}

// Whether the tiles are full, in launches that satisfy `bounds`.
static bool find_bounds(Fullness *f, const Masks *masks) {
  for (uint32_t i = 0; i < masks->count; i++)
    if (!add_bounds(f, masks->data[i])) return false;
  for (uint32_t i = 0; f->bounds.count && i < f->func->num_params; i++)
    if (f->func->params[i].kind != PARAM_PLAIN) return false;
  return true;
}

// The most that leave so many blocks on a multiprocessor, or the next larger number of blocks that steps of 8 registers give. 0: `all` blocks.
static uint32_t registers_for(uint32_t *blocks, uint32_t all, uint32_t threads) {
  for (; *blocks < all; ++*blocks) {
    uint32_t registers = (uint32_t)min_i64(registers_for_blocks(*blocks, threads), MAX_EXACT);
    if (SM_REGISTERS / (registers * threads) == *blocks) return registers;
  }
  return 0;
}

static void add_pause(PassCtx *p, Op *store) {
  Builder b = builder_before(p->ctx, store);
  Op *pause = build_op(&b, OP_PAUSE, NULL, 0);
  op_set_int(p->ctx, pause, ATTR_NS, p->module->num_warps < MANY_WARPS ? PAUSE_NS : SHORT_PAUSE_NS);
}

static bool limit(PassCtx *p, Func *f) {
  const Module *m = p->module;
  uint32_t threads = m->num_warps * WARP_SIZE, all = target_blocks_per_sm(m->target, threads);
  Masks masks = {0};
  Traffic t = {.masks = &masks};
  scan_block(&p->ctx->arena, &t, f->body);
  uint32_t blocks = wanted_blocks(&t);
  if (!blocks) return false;
  Fullness full = {.ctx = p, .func = f};
  // These read the marks, which pressure_of writes over.
  bool is_full = find_bounds(&full, &masks);
  Op *store = t.waits && blocks_for_waits(&t) > blocks_for_bytes(&t) ? store_of_row(f) : NULL;
  Pressure pressure = pressure_of(m, f);
  if (!pressure.most) return false;
  uint32_t registers = registers_for(&blocks, all, threads);
  if (registers < pressure.most) registers = 0;
  // As many as there can be, and they might just not fit: it takes what it must then.
  uint32_t least = registers_for_blocks(all, threads);
  if (blocks >= all && pressure.blocks < all && least >= pressure.least && pressure.least) f->registers = least;
  if (is_full && (registers || store)) {
    uint32_t wave = (uint32_t)min_i64(blocks, all);
    f->full = (FullEntry){MIN_WAVES * wave, store ? 0 : wave, registers, full.bounds.data, full.bounds.count};
    if (store) add_pause(p, store);
  }
  return f->registers || f->full.blocks;
}

bool pass_limit_blocks(PassCtx *p) {
  const Module *m = p->module;
  bool changed = false;
  // setmaxnreg exists where wgmma does, and all warps of a warpgroup execute it.
  if (!m->target->has_wgmma || m->num_warps % WARPGROUP_WARPS || m->num_ctas > 1 || m->maxnreg || m->cooperative || m->debug) return false;
  for (Func *f = p->module->funcs; f; f = f->next) {
    if (f->registers || f->full.blocks) continue;
    changed = limit(p, f) || changed;
  }
  return changed;
}
