// accelerate_dot: dots onto tensor cores.
//   in:  LAID_OUT, dots with whatever layouts coalesce gave them
//   out: each dot that the target's tensor cores can do has become
//          wgmma on a buffer (or register) A and a buffer B            sm_90a, M ≥ 64
//          mma on register operands loaded from buffers                sm_80 and up
//        with convert_layout to and from the accumulator layout around it. Of the rest, on multiply-adds, those whose
//        operands fit beside each other have become dot_shared on buffers, which copies can fill; others stay dots.
//
//   %d = dot %a, %b, %c          %A = alloc %a : buffer<…, swizzled>     (of the value before a transpose: a view)
//                         →      %B = alloc %b ; %Bt = buffer_trans %B
//                                %c' = convert_layout %c : accumulator
//                                %d' = wgmma %A, %Bt, %c'
//                                %d = convert_layout %d'
// pipeline_loops looks for exactly this shape: it makes the loads that feed the allocs asynchronous.
#include "ir/loop.h"
#include "ir/roles.h"
#include "ir/scratch.h"
#include "passes/dot_unit.h"
#include "passes/layout_rules.h"
#include "passes/pass.h"
#include "passes/pressure.h"

typedef struct {
  Context *ctx;
  Module *module;
  uint32_t search;           // number of the running one; Op.mark: the last that came by
  const Block *block;        // of the dot before
  bool fit;                  // whether its operands have room beside each other
} Accel;

static bool swaps_last_axes(const Op *trans) {
  const Attr *order = op_attr(trans, ATTR_ORDER);
  uint32_t rank = trans->results[0].type->rank;
  for (uint32_t i = 0; i < rank; i++)
    if (order->ints[i] != (i + 2 < rank ? i : 2 * rank - 3 - i)) return false;
  return rank >= 2;
}

// Returns the operand before conversions and those transposes that a view of its buffer can express.
static Value *operand_source(Value *v, bool *transposed) {
  *transposed = false;
  while (v->def) {
    bool is_swap = v->def->opcode == OP_TRANS && swaps_last_axes(v->def);
    if (!is_swap && v->def->opcode != OP_CONVERT_LAYOUT) break;
    *transposed ^= is_swap;
    v = op_operand(v->def, 0);
  }
  return v;
}

// The axis along which memory (or a thread's registers) is contiguous. It becomes the contiguous axis of the buffer.
static uint32_t fast_axis(const Value *v) {
  uint32_t last = v->type->rank - 1u;
  if (value_op(v, OP_DESC_LOAD)) return last;
  return layout_contiguity(v->type->layout, last - 1) > layout_contiguity(v->type->layout, last) ? last - 1 : last;
}

// What the previous iteration of a loop passes to v, an argument of its body. NULL if v is not such an argument, or is
// passed another one.
static const Value *carried_to(const Value *v) {
  uint32_t carried;
  const Op *loop = for_carrying(v, &carried);
  const Value *from = loop ? for_next(loop, carried) : NULL;
  return from && from->def ? from : NULL;
}

// Whether v is computed from another dot's accumulator. It then stays in registers: storing it would cost a round trip.
static bool search_back(const Accel *s, const Value *v) {
  Op *op = v->def;
  if (!op) return false;
  if (op_unit(op) == UNIT_DOT || op->opcode == OP_WGMMA_WAIT) return true;
  if (op->opcode == OP_IF)
    return search_back(s, op_operand(op->blocks[0]->last, v->index)) ||
           search_back(s, op_operand(op->blocks[1]->last, v->index));
  bool through = op->opcode == OP_CONVERT_LAYOUT || op_is(op, TRAIT_ELEMENTWISE);
  if (!through || op->mark == s->search) return false;
  op->mark = s->search;
  for (uint32_t i = 0; i < op->num_operands; i++) {
    const Value *x = op_operand(op, i);
    if (x && type_is_tensor(x->type) && search_back(s, x)) return true;
  }
  return false;
}

static bool comes_from_dot(Accel *s, const Value *v) {
  s->search++;
  return search_back(s, v);
}

// Whether v is a cast or the like of a value that a loop carries and a dot computes. A wgmma takes it from registers.
static bool is_carried_from_dot(Accel *s, const Value *v) {
  while (v->def && op_is(v->def, TRAIT_ELEMENTWISE) && v->def->num_operands == 1) v = op_operand(v->def, 0);
  const Value *from = carried_to(v);
  return from && comes_from_dot(s, from);
}

static bool search_on(const Accel *s, const Value *v) {
  EACH_USE(u, v) {
    Op *op = u->user;
    if (op_unit(op) == UNIT_DOT) {
      if (u->index < 2) return true;
    } else if (op->opcode == OP_CONVERT_LAYOUT || op_is(op, TRAIT_ELEMENTWISE)) {
      if (op->mark == s->search) continue;
      op->mark = s->search;
      if (search_on(s, &op->results[0])) return true;
    } else if (op->opcode == OP_YIELD && op->parent->parent->opcode == OP_IF) {
      if (search_on(s, op_result(op->parent->parent, u->index))) return true;
    }
  }
  return false;
}

static bool feeds_dot(Accel *s, const Value *v) {
  s->search++;
  return search_on(s, v);
}

// The widest swizzle that the contiguous axis fills.
static uint32_t swizzle_for(int64_t inner, uint32_t bits) {
  int64_t bytes = inner * bits / 8;
  return bytes >= 128 ? 128 : bytes >= 64 ? 64 : bytes >= 32 ? 32 : 0;
}

// Operand buffers are only read; dots of one value share one. Dots are visited in program order, therefore an existing
// buffer comes before.
static Value *existing_buffer(const Value *src, const Type *type, const Block *block) {
  EACH_USE(u, src)
    if (u->user->opcode == OP_ALLOC && u->user->parent == block && u->user->results[0].type == type)
      return &u->user->results[0];
  return NULL;
}

// The bytes of the block's operand buffers so far and of one more, `buffer`.
static int64_t bytes_with(const Block *b, const Type *buffer) {
  int64_t bytes = scratch_tile_bytes(buffer);
  EACH_OP(op, b)
    if (op->opcode == OP_ALLOC) bytes += scratch_tile_bytes(op->results[0].type);
  return bytes;
}

// Whether the operand buffers of this block, and this one, leave room for as many blocks on an SM as registers do.
static bool has_room(const Accel *s, const Block *b, const Type *buffer) {
  const Module *m = s->module;
  const int64_t copies = b->parent && op_is(b->parent, TRAIT_LOOP) ? max_i64(1, m->num_stages) : 1;
  return bytes_with(b, buffer) * copies <= dot_room(m);
}

// Whether the tile takes half of a thread's registers. Held until its dot, or until another such tile is loaded, it
// would make the assembler spill, which costs more than a block for which shared memory has no room.
static bool must_leave(const Accel *s, const Block *b, const Value *tile, const Type *buffer) {
  return 2 * pressure_words(tile) > THREAD_REGISTERS && 2 * bytes_with(b, buffer) <= s->module->target->shared_bytes;
}

// Moves the cursor up to where the value is and buffers of earlier dots are not yet read: their block barrier serves
// this one, too, and the value leaves its registers.
static void before_reads(Builder *at, const Value *v) {
  Op *op = v->def && v->def->parent == at->block ? v->def->next : at->block->first;
  while (op && op != at->before && op->opcode != OP_LOCAL_LOAD) op = op->next;
  if (op && op != at->before) at->before = op;
}

// k_axis: which axis of the operand is K.
static Value *operand_buffer(Accel *s, Builder *b, Value *operand, uint32_t bits, uint32_t k_axis, bool need_k_major,
                             bool early) {
  bool transposed;
  Value *src = operand_source(operand, &transposed);
  uint32_t rank = src->type->rank, fast = fast_axis(src);
  const int64_t *shape = src->type->shape;
  if (need_k_major) fast = transposed ? 2 * rank - 3 - k_axis : k_axis;
  uint32_t slow = 2 * rank - 3 - fast, order[MAX_RANK] = {fast, slow};
  for (uint32_t i = 2; i < rank; i++) order[i] = rank - 1 - i;
  // A tile with fewer rows than the swizzle pattern has a plain layout, as TMA writes it.
  bool plain = type_numel(src->type) / shape[fast] < 8;
  const Layout *shared =
      plain ? layout_make_shared_plain(s->ctx, rank, shape, order)
            : layout_make_shared_swizzled(s->ctx, rank, shape, bits, swizzle_for(shape[fast], bits), order);
  if (!shared) shared = layout_make_shared_plain(s->ctx, rank, shape, order);
  const Type *bt = type_buffer(s->ctx, type_elem(src->type), rank, shape, shared, 0);
  // A value from outside the loop is stored there, once.
  Builder at = *b;
  if (value_block(src) != b->block) {
    at.block = value_block(src);
    at.before = src->def ? src->def->next : at.block->first;
  }
  Value *buf = existing_buffer(src, bt, at.block);
  if (!buf) {
    if (early && src->def && must_leave(s, at.block, src, bt)) at.before = src->def->next;
    else if (early && has_room(s, at.block, bt)) before_reads(&at, src);
    buf = build_alloc(&at, bt, src);
  }
  if (!transposed) return buf;
  int64_t swap[MAX_RANK], view_shape[MAX_RANK];
  for (uint32_t i = 0; i < rank; i++) {
    swap[i] = i + 2 < rank ? i : 2 * rank - 3 - i;
    view_shape[i] = shape[swap[i]];
  }
  const Type *vt =
      type_buffer(s->ctx, type_elem(src->type), rank, view_shape, layout_transpose(s->ctx, shared, swap), 0);
  Op *view = build_op_typed(b, OP_BUFFER_TRANS, &vt, 1, &buf, 1);
  op_set_ints(s->ctx, view, ATTR_ORDER, swap, rank);
  return op_result(view, 0);
}

static void replace_dot(Op *dot, Builder *b, Opcode oc, Value *a, Value *bv, Value *c, Value *use_c, const Type *acc) {
  Value *args[4] = {a, bv, c, use_c};
  Op *mma = build_op_typed(b, oc, &acc, 1, args, oc == OP_WGMMA ? 4 : 3);
  op_copy_attrs(b->ctx, mma, dot);
  Value *back = build_convert_layout(b, op_result(mma, 0), op_result(dot, 0)->type->layout);
  op_replace(dot, &back);
}

static bool is_zero(const Value *v) {
  uint64_t bits;
  return value_constant_bits(v, &bits) && bits == 0;
}

// An accumulator that starts from zero needs no zeros in registers: wgmma has a predicate for it.
//   select(cond, 0, c) → c, used unless cond;   select(cond, c, 0) → c, used if cond;   0 → not used
static Value *split_accumulator(Builder *b, Value *c, Value **use_c) {
  Value *v = c;
  while (value_op(v, OP_CONVERT_LAYOUT)) v = op_operand(v->def, 0);
  *use_c = NULL;
  if (is_zero(v)) {
    *use_c = build_int(b, type_scalar(b->ctx, SC_I1), 0);
    return c;
  }
  if (!value_op(v, OP_SELECT) || type_is_tensor(op_operand(v->def, 0)->type)) return c;
  Value *cond = op_operand(v->def, 0), *yes = op_operand(v->def, 1), *no = op_operand(v->def, 2);
  if (is_zero(yes)) {
    *use_c = build_binary(b, OP_XORI, cond, build_int(b, cond->type, 1));
    return no;
  }
  if (is_zero(no)) {
    *use_c = cond;
    return yes;
  }
  return c;
}

static void to_wgmma(Accel *s, Op *dot, uint32_t bits) {
  Builder b = builder_before(s->ctx, dot);
  const Type *ct = op_operand(dot, DOT_ACC)->type;
  uint32_t warps = op_num_warps(dot);
  uint32_t warps_m = (uint32_t)min_i64(warps, ct->shape[0] / 16), warps_n = warps / warps_m;
  uint32_t instr_n = (uint32_t)min_i64(256, ct->shape[1] / warps_n);
  const Layout *acc = layout_make_wgmma_acc(s->ctx, ct->shape, warps_m, warps_n, instr_n);
  // Only 16-bit operands may be MN-major; the other types' descriptors have no transpose bit.
  bool k_major = bits != 16;
  bool transposed;
  Value *a, *asrc = operand_source(op_operand(dot, 0), &transposed);
  if (!transposed && bits == 16 && warps_n == 1 && (comes_from_dot(s, asrc) || is_carried_from_dot(s, asrc))) {
    MmaShape shape = {.rank = 2, .warps = {warps_m, warps_n}, .warps_m_first = true, .instr_n = instr_n};
    a = build_convert_layout(&b, asrc,
                             layout_make_mma_operand(s->ctx, 0, asrc->type->shape, &shape, dot_k_width(bits)));
  } else {
    a = operand_buffer(s, &b, op_operand(dot, 0), bits, 1, k_major, false);
  }
  Value *bv = operand_buffer(s, &b, op_operand(dot, 1), bits, 0, k_major, false);
  Value *use_c;
  Value *c = build_convert_layout(&b, split_accumulator(&b, op_operand(dot, DOT_ACC), &use_c), acc);
  replace_dot(dot, &b, OP_WGMMA, a, bv, c, use_c, c->type);
}

// Warps cover the batch first. Then they cover the tile in a way that keeps each warp's part as square as fragments
// allow. In a dot whose result feeds another dot, a warp keeps whole rows.
static MmaShape mma_shape(Accel *s, const Op *dot, const Type *ct) {
  uint32_t m = ct->rank - 2u, n = ct->rank - 1u, used = 1;
  MmaShape shape = {.rank = ct->rank, .warps = {1, 1, 1}, .warps_m_first = false, .instr_n = 8};
  bool chained = comes_from_dot(s, op_operand(dot, 0)) || feeds_dot(s, &dot->results[0]);
  for (const uint32_t warps = op_num_warps(dot); used < warps; used *= 2) {
    int64_t rows = ct->shape[m] / shape.warps[m], cols = ct->shape[n] / shape.warps[n];
    bool along_m = chained ? rows > 16 : (rows > 16 && (rows >= cols || cols <= 8));
    uint32_t axis = along_m || cols <= 8 ? m : n;
    if (m > 0 && shape.warps[0] < ct->shape[0]) axis = 0;
    shape.warps[axis] *= 2;
  }
  return shape;
}

// An operand on its way: what is stored in a buffer and read in the operand's layout; what comes from a dot stays in
// registers.
// If it repeats a smaller tile, and operands would not have room beside each other, `repeated` is that tile: the buffer
// holds it once, and each thread reads what it repeats.
typedef struct { Value *source, *narrow, *repeated, *buffer; bool is_stored; } Fragments;

// f32 that was f16 or bf16, before it was widened.
static Value *before_widening(Value *v) {
  while (value_op(v, OP_CONVERT_LAYOUT)) v = op_operand(v->def, 0);
  if (!value_op(v, OP_FPEXT) || type_elem_bits(v->type) != 32) return NULL;
  Value *narrow = op_operand(v->def, 0);
  return type_elem_bits(narrow->type) == 16 ? narrow : NULL;
}

static Fragments fragments_of(Accel *s, Value *v) {
  bool transposed;
  const bool is_stored = !comes_from_dot(s, operand_source(v, &transposed));
  return (Fragments){.source = v, .narrow = is_stored ? before_widening(v) : NULL, .is_stored = is_stored};
}

// Narrow operands are widened after they are read: their buffers are half as large, copies can fill them, and a thread
// reads pairs of K at once. It then reads such pairs of f32, too, of which those of eight rows fall on the same banks:
// not if more of the operands is f32.
static bool widen_later(const Fragments f[2]) {
  int64_t narrow = 0, wide = 0;
  for (uint32_t i = 0; i < 2; i++)
    if (f[i].is_stored) *(f[i].narrow ? &narrow : &wide) += type_numel(f[i].source->type);
  return narrow && wide <= narrow;
}

static void store_operand(Accel *s, Builder *b, uint32_t index, uint32_t bits, Fragments *f) {
  if (!f->is_stored) return;
  f->repeated = s->fit ? NULL : dot_repeated_tile(f->source);
  Value *stored = f->repeated ? f->repeated : f->source;
  f->buffer = operand_buffer(s, b, stored, bits, stored->type->rank - (index == 0 ? 1u : 2u), false, true);
}

// Fragments of so few registers are kept for so many mma after the one that they were read for. Those of 32 bits are
// read word by word; of narrower ones one instruction reads four registers.
enum { KEPT_WORDS = 16, KEPT_FOR = 2 };

// Whether both are one buffer, or the same view of one.
static bool same_buffer(const Value *a, const Value *b) {
  if (value_op(a, OP_BUFFER_TRANS) && value_op(b, OP_BUFFER_TRANS) && a->type == b->type)
    return op_operand(a->def, 0) == op_operand(b->def, 0);
  return a == b;
}

// The operand's fragments if one of the last KEPT_FOR mma ops of this block loaded them, or NULL. An operand's buffer
// does not change while a block's dots read it.
static Value *read_before(const Builder *b, uint32_t index, const Value *buffer, const Type *t) {
  uint32_t looked = 0;
  if (type_elem_bits(t) != 32 || layout_regs_per_thread(t->layout) > KEPT_WORDS) return NULL;
  for (const Op *op = b->before->prev; op && looked < KEPT_FOR; op = op->prev) {
    if (op->opcode != OP_MMA) continue;
    Value *v = op_operand(op, index);
    if (value_op(v, OP_LOCAL_LOAD) && v->type == t && same_buffer(op_operand(v->def, 0), buffer)) return v;
    looked++;
  }
  return NULL;
}

// Reads the tile that v repeats, and repeats it in registers.
static Value *read_repeated(Accel *s, Builder *b, Value *v, const Layout *l, const Fragments *f) {
  if (v == f->repeated) return build_local_load(b, f->buffer, type_with_layout(s->ctx, v->type, l));
  Value *from = op_operand(v->def, 0);
  if (v->def->opcode == OP_CONVERT_LAYOUT) return read_repeated(s, b, from, l, f);
  Value *x = read_repeated(s, b, from, layout_rule_operand(s->ctx, v->def, 0, l), f);
  Value *again = build_value(b, v->def->opcode, type_with_layout(s->ctx, v->type, l), &x, 1);
  op_copy_attrs(s->ctx, again->def, v->def);
  return again;
}

static Value *mma_operand(Accel *s, Builder *b, Op *dot, uint32_t index, const Fragments *f, uint32_t bits,
                          const MmaShape *shape) {
  const Layout *layout = layout_make_mma_operand(s->ctx, index, f->source->type->shape, shape, dot_k_width(bits));
  if (!f->buffer) return build_convert_layout(b, f->source, layout);
  const Type *t = type_with_layout(s->ctx, f->source->type, layout);
  Value *v = f->repeated ? read_repeated(s, b, f->source, layout, f) : read_before(b, index, f->buffer, t);
  if (!v) v = build_local_load(b, f->buffer, t);
  const Type *wanted = type_elem(op_operand(dot, index)->type);
  return type_elem(v->type) == wanted ? v : build_cast(b, OP_FPEXT, v, wanted);
}

static void to_mma(Accel *s, Op *dot, uint32_t bits) {
  Builder b = builder_before(s->ctx, dot);
  const Type *ct = op_operand(dot, DOT_ACC)->type;
  MmaShape shape = mma_shape(s, dot, ct);
  // Both operands are stored before either is read: one block barrier serves both.
  Fragments from[2] = {fragments_of(s, op_operand(dot, 0)), fragments_of(s, op_operand(dot, 1))};
  shape.k_pairs = widen_later(from);
  for (uint32_t i = 0; i < 2; i++) {
    if (shape.k_pairs && from[i].narrow) from[i].source = from[i].narrow;
    store_operand(s, &b, i, shape.k_pairs && from[i].narrow ? 16 : bits, &from[i]);
  }
  Value *a = mma_operand(s, &b, dot, 0, &from[0], bits, &shape);
  Value *bv = mma_operand(s, &b, dot, 1, &from[1], bits, &shape);
  Value *c = build_convert_layout(&b, op_operand(dot, DOT_ACC), layout_make_mma_acc(s->ctx, ct->shape, &shape));
  replace_dot(dot, &b, OP_MMA, a, bv, c, NULL, c->type);
}

// Whether lanes read vectors of B from different banks: along N, or along K where lanes have neighbouring columns.
static bool is_read_fast(const Op *dot) {
  bool transposed;
  const Value *b = operand_source(op_operand(dot, 1), &transposed);
  const bool along_n = (fast_axis(b) == b->type->rank - 1u) != transposed;
  return along_n || layout_basis(op_result((Op *)dot, 0)->type->layout, LAYOUT_LANE, 0) == 1;
}

// A dot on multiply-adds reads its operands from their buffers. If these would take more than half of shared memory, the
// operands go through scratch in parts, and so do those that lanes would read from few banks.
static void to_dot_shared(Accel *s, Op *dot) {
  Builder b = builder_before(s->ctx, dot);
  Value *buffers[2];
  const Type *a = op_operand(dot, 0)->type, *bt = op_operand(dot, 1)->type;
  const int64_t bytes = type_bytes(a) + type_bytes(bt);
  if (2 * bytes > s->module->target->shared_bytes || !is_read_fast(dot)) return;
  for (uint32_t i = 0; i < 2; i++) {
    const uint32_t bits = type_elem_bits(op_operand(dot, i)->type);
    buffers[i] = operand_buffer(s, &b, op_operand(dot, i), bits, a->rank - (i ? 2u : 1u), false, true);
  }
  Value *args[3] = {buffers[0], buffers[1], op_operand(dot, DOT_ACC)};
  Op *shared = build_op_typed(&b, OP_DOT_SHARED, &op_result(dot, 0)->type, 1, args, 3);
  op_copy_attrs(s->ctx, shared, dot);
  Value *result = op_result(shared, 0);
  op_replace(dot, &result);
}

static void tell_unit(const Accel *s, const Op *dot, DotUnit unit) {
  if (!remarks_wanted(s->ctx)) return;
  const Type *a = op_operand(dot, 0)->type, *c = op_operand(dot, DOT_ACC)->type;
  const char *why = dot_unit_why(s->module, dot),
             *what = arena_printf(&s->ctx->arena, "the dot of %s with K = %lld", remark_type(s->ctx, c),
                                  (long long)a->shape[a->rank - 1u]);
  if (unit == DOT_FMA) remark_missed(dot, "%s uses multiply-adds, not tensor cores: %s", what, why);
  else if (why) remark_missed(dot, "%s uses mma.sync, not wgmma: %s", what, why);
  else remark_applied(dot, "%s uses %s", what, unit == DOT_WGMMA ? "wgmma" : "mma.sync");
}

static void visit(Op *op, void *user) {
  Accel *s = user;
  if (op->opcode != OP_DOT) return;
  uint32_t bits;
  const DotUnit unit = dot_unit(s->module, op, &bits);
  if (s->block != op->parent) s->fit = dot_operands_fit(s->module, op->parent);
  s->block = op->parent;
  tell_unit(s, op, unit);
  switch (unit) {
  case DOT_FMA: to_dot_shared(s, op); break;
  case DOT_MMA: to_mma(s, op, bits); break;
  case DOT_WGMMA: to_wgmma(s, op, bits); break;
  }
}

void pass_accelerate_dot(PassCtx *p) {
  Accel s = {.ctx = p->ctx, .module = p->module};
  module_clear_scratch(p->module);
  module_walk(p->module, visit, &s);
}
