// Asynchronous copies (cp.async), mbarriers, TMA and proxy fences. Thread 0, or an elected lane of a warp, does what
// one thread does for the block, by predicated instructions; only initialisation has a branch.
#include "codegen/address.h"

static void set_token(Cg *c, Op *op) { cg_set(op_result(op, 0), cg_value_new(c, 0)); }

// i1: whether this thread issues TMA copies for the block, an elected lane of one of `warps` warps from the issuing one
// on, and pred holds (NULL: always). From an election, unlike a comparison of thread numbers, ptxas knows that it is
// one lane of a converged warp. It keeps the copy's address in uniform registers if the warp is chosen by the thread's
// number, and in others, which it moves twice, if by a warp's that a shuffle made uniform.
static LLVMValueRef issuer(Cg *c, const Op *op, uint32_t warps, LLVMValueRef pred) {
  LLVMBasicBlockRef here = LLVMGetInsertBlock(c->b);
  const uint32_t first = (uint32_t)op_int(op, ATTR_ISSUER, 0);
  if (c->elected.block != here) {
    c->elected.pred = cg_cmp(c, LLVMIntNE, cg_insn(c, INSN_ELECT, c->t_i32, NULL, 0), 0);
    c->elected.block = here;
  }
  if (!first && warps >= c->num_warps) return cg_and(c, c->elected.pred, pred);
  LLVMValueRef thread = cg_add(c, c->tid, cg_i32(c, -first * WARP_SIZE));
  return cg_and(c, cg_and(c, cg_cmp(c, LLVMIntULT, thread, warps * WARP_SIZE), c->elected.pred), pred);
}

static LLVMValueRef thread0(Cg *c, LLVMValueRef pred) {
  return cg_and(c, cg_owner_pred(c, UINT32_MAX), pred);
}

static LLVMValueRef optional(const Op *op, uint32_t i) {
  return op_operand(op, i) ? cg_scalar(op_operand(op, i)) : NULL;
}

// ---- cp.async ----

// How many elements are consecutive in the registers, in global memory (`vector`) and in the buffer.
static uint32_t copy_vector(const PlaceMap *m, uint32_t vector) {
  uint32_t bits[PLACEMAP_MAX_VECTOR], n = 0;
  for (uint32_t most = placemap_vector(m, vector, bits); n < most && bits[n] == n;) n++;
  return 1u << n;
}

static void copy_by_registers(Cg *c, LLVMValueRef to, LLVMValueRef from, LLVMValueRef mask, LLVMTypeRef type,
                              uint32_t align) {
  LLVMValueRef zero = LLVMConstNull(type), v;
  LLVMBasicBlockRef before = LLVMGetInsertBlock(c->b);
  CgIf g = cg_begin_if(c, mask);
  LLVMBasicBlockRef inside = LLVMGetInsertBlock(c->b);
  LLVMValueRef loaded = LLVMBuildLoad2(c->b, type, from, "");
  LLVMSetAlignment(loaded, align);
  cg_end_if(c, g);
  v = loaded;
  if (mask) {
    v = LLVMBuildPhi(c->b, type, "");
    LLVMAddIncoming(v, &loaded, &inside, 1);
    LLVMAddIncoming(v, &zero, &before, 1);
  }
  LLVMSetAlignment(LLVMBuildStore(c->b, v, to), align);
}

// ---- masks that end within a copy ----

enum { MAX_TERMS = 16 };
typedef struct { LLVMValueRef all[MAX_TERMS]; uint32_t count; } Terms;

// Adds the terms of a conjunction; what does not fit into the list stays whole.
static void add_terms(Terms *t, LLVMValueRef v) {
  if (t->count + 2 <= MAX_TERMS && LLVMIsAInstruction(v) && LLVMGetInstructionOpcode(v) == LLVMAnd) {
    add_terms(t, LLVMGetOperand(v, 0));
    add_terms(t, LLVMGetOperand(v, 1));
    return;
  }
  for (uint32_t i = 0; i < t->count; i++)
    if (t->all[i] == v) return;
  if (t->count < MAX_TERMS) t->all[t->count++] = v;
}

static bool has_term(const Terms *t, LLVMValueRef v) {
  for (uint32_t i = 0; i < t->count; i++)
    if (t->all[i] == v) return true;
  return false;
}

// Whether `first` is x < n and `later` y < n with the same n.
static bool is_bound(LLVMValueRef first, LLVMValueRef later) {
  LLVMValueRef x = LLVMIsAICmpInst(first), y = LLVMIsAICmpInst(later);
  return x && y && LLVMGetICmpPredicate(x) == LLVMIntSLT && LLVMGetICmpPredicate(y) == LLVMIntSLT
         && LLVMGetOperand(x, 1) == LLVMGetOperand(y, 1);
}

// How many of `count` elements from register r on the mask keeps; they are the first ones. If the mask is `index < n`
// and terms that all elements share, the number is n − index, clamped to 0 … count.
static LLVMValueRef kept_elements(Cg *c, const CgValue *mask, uint32_t r, uint32_t count) {
  Terms first = {.count = 0}, terms;
  add_terms(&first, cg_reg(mask, r));
  LLVMValueRef shared = NULL, bound = NULL, later = NULL;
  bool simple = true;
  for (uint32_t i = 1; i < count; i++) {
    terms.count = 0;
    add_terms(&terms, cg_reg(mask, r + i));
    uint32_t num_own = 0;
    for (uint32_t k = 0; k < terms.count; k++)
      if (!has_term(&first, terms.all[k])) later = terms.all[k], num_own++;
    LLVMValueRef changing = NULL;
    for (uint32_t k = 0; k < first.count; k++)
      if (!has_term(&terms, first.all[k])) simple &= !changing, changing = first.all[k];
    simple = simple && changing && num_own == 1 && (!bound || bound == changing) && is_bound(changing, later);
    bound = changing;
  }
  if (!simple) {
    LLVMValueRef sum = cg_i32(c, 0);
    for (uint32_t i = 0; i < count; i++) sum = cg_add(c, sum, LLVMBuildZExt(c->b, cg_reg(mask, r + i), c->t_i32, ""));
    return sum;
  }
  for (uint32_t k = 0; k < first.count; k++)
    if (first.all[k] != bound) shared = cg_and(c, first.all[k], shared);
  LLVMValueRef index = LLVMGetOperand(bound, 0), n = LLVMGetOperand(bound, 1);
  LLVMValueRef most = LLVMConstInt(LLVMTypeOf(n), count, false);
  LLVMValueRef left = LLVMBuildSub(c->b, n, index, "");   // unsigned: right for any index below n
  left = cg_select(c, LLVMBuildICmp(c->b, LLVMIntULT, left, most, ""), left, most);
  if (LLVMGetIntTypeWidth(LLVMTypeOf(left)) > 32) left = LLVMBuildTrunc(c->b, left, c->t_i32, "");
  left = cg_select(c, bound, left, cg_i32(c, 0));
  return shared ? cg_select(c, shared, left, cg_i32(c, 0)) : left;
}

void emit_async_copy(Cg *c, Op *op) {
  Value *buf = op_named(op, OPERAND_BUF), *offset = op_named(op, OPERAND_OFFSET),
        *mask_value = op_named(op, OPERAND_MASK);
  Address a = address_of(c, op);
  const Type *t = offset ? offset->type : op_named(op, OPERAND_PTR)->type;
  const CgValue *mask = mask_value ? cg_get(mask_value) : NULL;
  if (!type_is_tensor(t)) cg_unsupported(c, op, "the buffer does not hold the tensor");
  PlaceMap m = cg_tile_map(c, op, t, buf);
  // A copy of 4 bytes or more may end early; a smaller one goes through registers as a whole.
  uint32_t whole = (uint32_t)op_int(op, ATTR_VECTOR, 1), most = (uint32_t)op_int(op, ATTR_COPY, whole);
  AccessShape s = access_shape(copy_vector(&m, most), a.elem_bytes);
  bool by_copy = s.count * a.elem_bytes >= 4;
  if (!by_copy) s = access_shape(copy_vector(&m, whole), a.elem_bytes);
  uint32_t bytes = s.count * a.elem_bytes, free_reg = m.free_reg;
  LLVMValueRef owner = cg_owner_pred(c, m.free_thread), base = cg_scalar(buf);
  placemap_scale(&m, log2_u32(a.elem_bytes));
  LLVMValueRef thread = placemap_thread(c, &m), address = cg_smem_addr(c, base);
  CgIf only = cg_begin_if(c, owner);
  for (uint32_t r = 0; r < cg_num_regs(t); r += s.count) {
    if (r & free_reg) continue;
    LLVMValueRef at = placemap_join(c, &m, thread, placemap_reg(&m, r)), from = address_reg(c, &a, r);
    LLVMValueRef keep = mask ? cg_reg(mask, r) : NULL;
    if (!by_copy) {
      LLVMTypeRef type = LLVMIntTypeInContext(c->ll, bytes * 8);
      copy_by_registers(c, cg_smem_ptr(c, cg_add(c, base, at)), from, keep, type, bytes);
      continue;
    }
    CgAsm copy = cg_asm_new(c);
    cg_asm_arg(&copy, cg_add(c, address, at));
    const char *source = access_address(&copy, from);
    // Bypasses L1 if the machine can: the data goes to shared memory anyway. A source of 0 bytes fills with zeros.
    buf_printf(&copy.text, "cp.async.%s.shared.global [$0], %s, %u", bytes == 16 ? "cg" : "ca", source, bytes);
    if (keep) {
      LLVMValueRef kept = s.count <= whole ? cg_select(c, keep, cg_i32(c, bytes), cg_i32(c, 0))
                                           : cg_op(c, LLVMMul, kept_elements(c, mask, r, s.count), a.elem_bytes);
      buf_printf(&copy.text, ", $%u", cg_asm_arg(&copy, kept));
    }
    buf_puts(&copy.text, ";");
    cg_asm_call(&copy, INSN_CP_ASYNC);
  }
  cg_end_if(c, only);
  set_token(c, op);
}

void emit_async_commit(Cg *c, Op *op) {
  cg_insn(c, INSN_CP_ASYNC_COMMIT, c->t_void, NULL, 0);
  set_token(c, op);
}

void emit_async_wait(Cg *c, Op *op) {
  LLVMValueRef n = cg_i32(c, (uint32_t)op_int(op, ATTR_COUNT, 0));
  cg_insn(c, INSN_CP_ASYNC_WAIT, c->t_void, &n, 1);
  set_token(c, op);
}

// ---- mbarriers ----

static LLVMValueRef barrier_address(Cg *c, const Op *op, uint32_t i) {
  return cg_smem_addr(c, cg_scalar(op_operand(op, i)));
}

// The op of the same kind after it (or before it), if between them there are only ops without instructions.
static const Op *neighbour(const Op *op, bool after) {
  const Op *at = after ? op->next : op->prev;
  while (at && op_unit(at) == UNIT_NONE) at = after ? at->next : at->prev;
  return at && at->opcode == op->opcode ? at : NULL;
}

// Thread 0 executes `name` for each mbarrier of a row of ops, of which this is the last. One branch goes round them: of
// predicated instructions ptxas makes a branch and a fence each.
static void emit_row(Cg *c, const Op *last, InsnId id, const char *name) {
  const Op *op = last;
  for (const Op *before; (before = neighbour(op, false)); op = before) {}
  CgAsm a = cg_asm_new(c);
  buf_printf(&a.text, "@!$%u bra $$others${:uid};\n\t", cg_asm_arg(&a, thread0(c, NULL)));
  for (; op; op = neighbour(op, true)) {
    buf_printf(&a.text, "mbarrier.%s.shared::cta.b64 [$%u]", name, cg_asm_arg(&a, barrier_address(c, op, 0)));
    if (op->opcode == OP_MBAR_INIT) buf_printf(&a.text, ", %u", (uint32_t)op_int(op, ATTR_COUNT, 1));
    buf_puts(&a.text, ";\n\t");
  }
  buf_puts(&a.text, "$$others${:uid}:");
  cg_asm_call(&a, id);
}

void emit_mbar_init(Cg *c, Op *op) {
  if (neighbour(op, true)) return;
  emit_row(c, op, INSN_MBAR_INIT, "init");
  // The fences make them visible to the async proxy and the cluster; a barrier of insert_barriers, to the block.
  cg_insn(c, INSN_FENCE_MBAR_INIT, c->t_void, NULL, 0);
  cg_insn(c, INSN_FENCE_ASYNC, c->t_void, NULL, 0);
}

void emit_mbar_inval(Cg *c, Op *op) {
  if (!neighbour(op, true)) emit_row(c, op, INSN_MBAR_INVAL, "inval");
}

void emit_mbar_expect(Cg *c, Op *op) {
  LLVMValueRef args[] = {barrier_address(c, op, 0), cg_i32(c, (uint32_t)op_int(op, ATTR_BYTES, 0)),
                         issuer(c, op, 1, optional(op, 1))};
  cg_insn(c, INSN_MBAR_EXPECT, c->t_void, args, 3);
}

void emit_mbar_arrive(Cg *c, Op *op) {
  LLVMValueRef args[] = {barrier_address(c, op, 0), cg_i32(c, (uint32_t)op_int(op, ATTR_COUNT, 1)),
                         thread0(c, optional(op, 1))};
  cg_insn(c, INSN_MBAR_ARRIVE, c->t_void, args, 3);
}

void emit_async_arrive(Cg *c, Op *op) {
  LLVMValueRef address = barrier_address(c, op, 0);
  cg_insn(c, op_int(op, ATTR_COUNT, 0) ? INSN_ASYNC_ARRIVE_NOINC : INSN_ASYNC_ARRIVE, c->t_void, &address, 1);
}

void emit_mbar_wait(Cg *c, Op *op) {
  CgIf g = cg_begin_if(c, optional(op, 2));
  cg_insn(c, INSN_MBAR_WAIT, c->t_void, (LLVMValueRef[]){barrier_address(c, op, 0), cg_scalar(op_operand(op, 1))}, 2);
  cg_end_if(c, g);
}

void emit_fence_async(Cg *c, Op *op) {
  cg_insn(c, op_int(op, ATTR_GLOBAL, 0) ? INSN_FENCE_ASYNC_ALL : INSN_FENCE_ASYNC, c->t_void, NULL, 0);
}

// ---- ping-pong scheduling ----
// Warpgroup g waits at a named barrier of its own, where the warpgroup before it arrives. A single warpgroup does not
// wait.

static void pingpong(Cg *c, const Op *op, InsnId id, uint32_t next, uint32_t edge_group) {
  uint32_t groups = c->num_warps / WARPGROUP_WARPS;
  const uint32_t first = c->roles.num_ops ? BARRIER_WORKERS + c->roles.num_barriers : 1;
  if (groups < 2) return;
  LLVMValueRef group = cg_op(c, LLVMLShr, cg_uniform_warp(c), 2), pred = cg_int(c->t_i1, 1);
  if (op_int(op, ATTR_EDGE, 0)) pred = cg_cmp(c, LLVMIntEQ, group, edge_group);
  LLVMValueRef to = cg_op(c, LLVMURem, cg_add(c, group, cg_i32(c, next)), groups);
  LLVMValueRef args[3] = {cg_add(c, to, cg_i32(c, first)), cg_i32(c, 2 * WARPGROUP_WARPS * WARP_SIZE), pred};
  cg_insn(c, id, c->t_void, args, 3);
}

void emit_pingpong_wait(Cg *c, Op *op) { pingpong(c, op, INSN_BARRIER_NAMED, 0, 0); }
void emit_pingpong_pass(Cg *c, Op *op) {
  pingpong(c, op, INSN_BARRIER_ARRIVE, 1, c->num_warps / WARPGROUP_WARPS - 1);
}

// ---- TMA ----
// A tile larger than a box moves as several boxes (type_desc_box). They are numbered; those side by side along the last
// axis come first.

// What a bit of a box's number adds to its place: elements along an axis, and bytes in the tile, by xor.
typedef struct { uint32_t axis, elements, bytes; } BoxBit;

static uint32_t box_bits(Cg *c, const Op *op, BoxBit bits[LAYOUT_MAX_BITS]) {
  const Type *desc = op_operand(op, 0)->type, *tile = op_named(op, OPERAND_BUF)->type;
  const Layout *l = tile->layout;
  const uint32_t left_out = desc->rank - l->rank;    // of leading axes of one element
  uint32_t places[LAYOUT_MAX_BITS], n = 0;
  if (!layout_right_inverse(l, places)) cg_unsupported(c, op, "the tile's layout has holes");
  for (uint32_t axis = desc->rank; axis-- > 0;) {
    for (uint32_t size = type_desc_box(desc, axis); size < desc->shape[axis]; size *= 2) {
      const uint32_t place = places[layout_axis_shift(l, axis - left_out) + log2_u32(size)];
      bits[n++] = (BoxBit){axis, size, place * type_elem_bytes(type_elem(tile))};
    }
  }
  return n;
}

// How many warps share out the boxes of a copy: those of a warpgroup, if there are as many boxes. One warp would issue
// its boxes one after the other, and ptxas keeps the operands of each in uniform registers. What the block has made
// itself is a tensor map for its first warp alone (lower_tensor_map.c).
static uint32_t sharing_warps(const Cg *c, const Op *op) {
  const Value *desc = op_operand(op, 0);
  if (!desc->block || desc->block->parent) return 1;
  int64_t boxes = 1;
  for (uint32_t i = 0; i < desc->type->rank; i++) boxes *= desc->type->shape[i] / type_desc_box(desc->type, i);
  return (uint32_t)min_i64(boxes, min_i64(c->num_warps, WARPGROUP_WARPS));
}

static LLVMValueRef tensor_map(Cg *c, const Op *op) {
  const CgValue *d = cg_get(op_operand(op, 0));
  if (!d->v[0]) cg_unsupported(c, op, "the descriptor has no tensor map");
  return d->v[0];
}

// The place of a box: where it begins along each axis of the descriptor, and its offset in the tile in bytes.
typedef struct { LLVMValueRef along[MAX_DESC_RANK], start; } BoxPlace;

static BoxPlace tile_start(Cg *c, const Op *op) {
  const uint32_t rank = op_operand(op, 0)->type->rank, first = op->num_operands - rank;
  BoxPlace p = {.start = cg_i32(c, 0)};
  for (uint32_t i = 0; i < rank; i++)
    p.along[i] = LLVMBuildIntCast2(c->b, cg_scalar(op_operand(op, first + i)), c->t_i32, true, "");
  return p;
}

// Where several warps share out a tile's boxes round robin, each moves the place to its first one.
static void add_share_of_warp(Cg *c, BoxPlace *p, const BoxBit *bits, uint32_t warps) {
  for (uint32_t i = 0; 1u << i < warps; i++) {
    LLVMValueRef mine = cg_op(c, LLVMAnd, cg_op(c, LLVMLShr, cg_uniform_warp(c), i), 1);
    p->along[bits[i].axis] = cg_add(c, p->along[bits[i].axis], cg_op(c, LLVMMul, mine, bits[i].elements));
    p->start = cg_xor(c, p->start, cg_op(c, LLVMMul, mine, bits[i].bytes));
  }
}

static void add_box(Cg *c, BoxPlace *p, const BoxBit *bits, uint32_t number) {
  for (uint32_t i = 0; number >> i; i++) {
    if (!(number >> i & 1)) continue;
    p->along[bits[i].axis] = cg_add(c, p->along[bits[i].axis], cg_i32(c, bits[i].elements));
    p->start = cg_xor(c, p->start, cg_i32(c, bits[i].bytes));
  }
}

// Moves each box between the descriptor's tensor and the buffer. bar: the mbarrier of a load; NULL: a store, or the
// reduction. Several warps issue every warps-th box each, if pred holds.
static void move_boxes(Cg *c, const Op *op, InsnId id, const char *reduction, LLVMValueRef shared, LLVMValueRef bar,
                       uint32_t warps, LLVMValueRef pred) {
  const uint32_t rank = op_operand(op, 0)->type->rank;
  BoxBit bits[LAYOUT_MAX_BITS];
  const uint32_t boxes = 1u << box_bits(c, op, bits);
  BoxPlace own = tile_start(c, op);
  add_share_of_warp(c, &own, bits, warps);
  for (uint32_t number = 0; number < boxes; number += warps) {
    BoxPlace box = own;
    add_box(c, &box, bits, number);
    CgAsm a = cg_asm_new(c);
    cg_asm_arg(&a, cg_add(c, shared, box.start));
    cg_asm_arg(&a, tensor_map(c, op));
    if (bar) cg_asm_arg(&a, bar);
    uint32_t guard = cg_asm_arg(&a, pred);
    for (uint32_t k = rank; k-- > 0;) cg_asm_arg(&a, box.along[k]);   // TMA counts axes from the fastest
    buf_printf(&a.text, "@$%u cp%s.async.bulk.tensor.%ud", guard, *reduction ? ".reduce" : "", rank);
    if (bar)
      cg_asm_list(&a, ".shared::cluster.global.tile.mbarrier::complete_tx::bytes [$0], [$1, {", guard + 1, rank,
                  "}], [$2];");
    else {
      buf_printf(&a.text, ".global.shared::cta%s", reduction);
      cg_asm_list(&a, ".tile.bulk_group [$1, {", guard + 1, rank, "}], [$0];");
    }
    cg_asm_call(&a, id);
  }
}

void emit_tma_load(Cg *c, Op *op) {
  LLVMValueRef to = cg_smem_addr(c, cg_scalar(op_named(op, OPERAND_BUF))), bar = barrier_address(c, op, 2);
  const uint32_t warps = sharing_warps(c, op);
  move_boxes(c, op, INSN_TMA_LOAD, "", to, bar, warps, issuer(c, op, warps, optional(op, 3)));
}

// Every thread commits a group, also one without copies: a wait counts the groups of its thread, and whichever warps
// issued a copy, all have seen as many.
static void tma_out(Cg *c, const Op *op, InsnId id, const char *reduction) {
  LLVMValueRef from = cg_smem_addr(c, cg_scalar(op_named(op, OPERAND_BUF)));
  const uint32_t warps = sharing_warps(c, op);
  move_boxes(c, op, id, reduction, from, NULL, warps, issuer(c, op, warps, NULL));
  cg_insn(c, INSN_BULK_COMMIT, c->t_void, NULL, 0);
}

void emit_tma_store(Cg *c, Op *op) { tma_out(c, op, INSN_TMA_STORE, ""); }

void emit_tma_reduce(Cg *c, Op *op) {
  static const char *const names[] = {
    [ATOMIC_ADD] = ".add", [ATOMIC_FADD] = ".add", [ATOMIC_MAX] = ".max", [ATOMIC_MIN] = ".min", [ATOMIC_UMAX] = ".max",
    [ATOMIC_UMIN] = ".min", [ATOMIC_AND] = ".and", [ATOMIC_OR] = ".or", [ATOMIC_XOR] = ".xor",
  };
  int64_t kind = op_int(op, ATTR_ATOMIC, ATOMIC_ADD);
  if (kind == ATOMIC_XCHG) cg_unsupported(c, op, "there is no such TMA reduction");
  tma_out(c, op, INSN_TMA_REDUCE, names[kind]);
}

void emit_tma_wait(Cg *c, Op *op) {
  LLVMValueRef n = cg_i32(c, (uint32_t)op_int(op, ATTR_COUNT, 0));
  cg_insn(c, op_int(op, ATTR_WRITTEN, 0) ? INSN_BULK_WAIT : INSN_BULK_WAIT_READ, c->t_void, &n, 1);
}

void emit_desc_fields(Cg *c, Op *op) {
  const CgValue *d = cg_get(op_operand(op, 0));
  for (uint32_t i = 0; i < op->num_results; i++) {
    LLVMTypeRef want = cg_elem_type(c, op_result(op, i)->type);
    if (i == 0 && !op_result(op, 0)->uses) continue;   // a tensor map does not say its base
    cg_set_scalar(c, op_result(op, i), cg_bitcast(c, d->v[i], want));
  }
}

// A descriptor made in the kernel: [no map, extents, strides, base].
void emit_make_desc(Cg *c, Op *op) {
  uint32_t rank = op_result(op, 0)->type->rank;
  CgValue *d = cg_value_new(c, 2 + 2 * rank);
  for (uint32_t i = 0; i < 2 * rank; i++) d->v[1 + i] = cg_scalar(op_operand(op, 1 + i));
  d->v[1 + 2 * rank] = cg_scalar(op_operand(op, 0));
  cg_set(op_result(op, 0), d);
}
