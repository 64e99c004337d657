// Concurrent blocks (ir/roles.h). The launch has warps for the kernel and for the workers, and the kernel branches by
// warp number at its entry:
//
//   kernel's warps                          workers' warps
//   …
//   hands over what workers need
//   all warps meet  ─────────────────────   all warps meet
//   registers change                        branch by warpgroup: its registers change,
//   block 0                                 branch by warp number: each worker's block, or nothing
//   all warps meet  ─────────────────────   all warps meet
//   registers change back                   registers change back
//   …                                       the next `roles`
//
// The workers go through all `roles` in their order. If one is inside a loop or an if, they loop instead: at each
// meeting they read the number of the op that runs, 0 for the kernel's end.
//
// After the kernel's last op nobody waits for the others: where its blocks end, their warps exit.
//
// A worker computes again what depends on parameters alone, and reads the rest from the op's scratch.
#include "codegen/cg.h"

static bool loops(const Cg *c) { return c->roles.branches; }

static void meet_all(Cg *c) {
  LLVMValueRef args[] = {cg_i32(c, BARRIER_LAUNCH), cg_i32(c, c->roles.total_warps * WARP_SIZE)};
  cg_insn(c, INSN_BARRIER_PART, c->t_void, args, 2);
}

// What threads wrote before may be memory that TMA or wgmma uses after: only the writing thread can order that.
static void publish_and_meet(Cg *c) {
  if (c->target->has_tma) cg_insn(c, INSN_FENCE_ASYNC, c->t_void, NULL, 0);
  meet_all(c);
}

// Whether the kernel's warps have written nothing since their last proxy fence before op.
static bool follows_fence(const Op *op) {
  const Op *at = op->prev;
  while (at && op_is(at, TRAIT_PURE)) at = at->prev;
  return at && (at->opcode == OP_MBAR_INIT || at->opcode == OP_FENCE_ASYNC);
}

// Whether the kernel ends with op.
static bool ends_kernel(const Cg *c, const Op *op) { return !loops(c) && op->next && op->next->opcode == OP_RETURN; }

// ---- registers ----

static RolesRegisters at_launch(const Cg *c) {
  RolesRegisters r = {.own = c->roles.registers};
  for (uint32_t g = 0; g < MAX_WARPGROUPS; g++) r.worker[g] = c->roles.registers;
  return r;
}

// While op runs, or (NULL) outside of all.
static RolesRegisters registers_of(Cg *c, const Op *op) {
  RolesRegisters r;
  if (!roles_registers(c->func, &c->roles, op, &r)) cg_unsupported(c, op, "too few registers are left for block 0");
  return r;
}

static void set_registers(Cg *c, uint32_t from, uint32_t to) {
  LLVMValueRef n = cg_i32(c, to);
  if (from != to) cg_insn(c, to > from ? INSN_SETMAXNREG_INC : INSN_SETMAXNREG_DEC, c->t_void, &n, 1);
}

// ---- what workers get ----

static uint32_t number_bytes(const Op *op) {
  return roles_that_says_which(op->parent->func) == op ? ROLES_NUMBER_BYTES : 0;
}

static LLVMValueRef handed_over(Cg *c, const Op *op, uint32_t word) {
  return cg_smem_ptr(c, cg_add(c, cg_scratch(c, op), cg_i32(c, number_bytes(op) + 8 * word)));
}

static LLVMValueRef number_place(Cg *c) { return cg_smem_ptr(c, cg_scratch(c, roles_that_says_which(c->func))); }

static void store(Cg *c, LLVMValueRef v, LLVMValueRef to, uint32_t align) {
  LLVMSetAlignment(LLVMBuildStore(c->b, v, to), align);
}

// Gives the workers what they need; returns whether that was anything.
static bool hand_over(Cg *c, const Op *op) {
  RolesCaptures captures = roles_captures(c->ctx, op);
  if (!captures.count && !loops(c)) return false;
  CgIf first = cg_begin_if(c, cg_cmp(c, LLVMIntEQ, c->tid, 0));
  if (loops(c)) store(c, cg_i32(c, c->roles_ops.count), number_place(c), 4);
  uint32_t word = 0;
  VEC_EACH(v, captures) {
    const CgValue *x = cg_get(*v);
    for (uint32_t i = 0; i < x->count; i++)
      if (x->v[i]) store(c, x->v[i], handed_over(c, op, word + i), 8);
    word += roles_capture_words((*v)->type);
  }
  cg_end_if(c, first);
  return true;
}

typedef struct {
  Cg *c;
  const Op *op;
  Map brought;
} Worker;

// A value that was handed over, at `word`. What the kernel's warps have for it tells the types.
static void take_over(Worker *w, Value *v, uint32_t word) {
  Cg *c = w->c;
  const CgValue *theirs = cg_get(v);
  CgValue *mine = cg_value_new(c, theirs->count);
  for (uint32_t i = 0; i < theirs->count; i++) {
    if (!theirs->v[i]) continue;
    mine->v[i] = LLVMBuildLoad2(c->b, LLVMTypeOf(theirs->v[i]), handed_over(c, w->op, word + i), "");
    LLVMSetAlignment(mine->v[i], 8);
  }
  // A map that the kernel wrote: this warp may issue copies by it.
  if (v->type->kind == TYPE_DESC && mine->v[0])
    cg_insn(c, INSN_TENSORMAP_ACQUIRE, c->t_void, (LLVMValueRef[]){mine->v[0]}, 1);
  cg_set(v, mine);
}

// Computes v again, with all that it needs, where the builder is.
static void bring(Worker *w, Value *v) {
  MapSlot *slot = map_at(w->c->arena, &w->brought, v);
  if (slot->number || !v->def) return;
  slot->number = 1;
  if (v->def->opcode == OP_ALLOC) {
    cg_set_scalar(w->c, v, cg_scratch(w->c, v->def));   // what it was initialised with is there already
    return;
  }
  for (uint32_t i = 0; i < v->def->num_operands; i++)
    if (op_operand(v->def, i)) bring(w, op_operand(v->def, i));
  cg_lower_op(w->c, v->def);
}

static void bring_operands(Op *op, void *user) {
  Worker *w = user;
  for (uint32_t i = 0; i < op->num_operands; i++) {
    Value *v = op_operand(op, i);
    if (v && value_defined_outside(v, w->op) && roles_can_recompute(w->c->ctx, v)) bring(w, v);
  }
}

// ---- the kernel's own warps ----

void cg_begin_roles(Cg *c) {
  LLVMBasicBlockRef kernel = cg_block(c, "kernel"), workers = cg_block(c, "workers");
  LLVMBuildCondBr(c->b, cg_cmp(c, LLVMIntULT, cg_uniform_warp(c), c->module->num_warps), kernel, workers);
  LLVMPositionBuilderAtEnd(c->b, kernel);
  c->workers = workers;
  const RolesRegisters before = at_launch(c), outside = registers_of(c, NULL);
  set_registers(c, before.own, outside.own);
}

void emit_roles(Cg *c, Op *op) {
  const RolesRegisters outside = registers_of(c, NULL), inside = registers_of(c, op);
  vec_push(c->arena, &c->roles_ops, op);
  if (hand_over(c, op) || !follows_fence(op)) publish_and_meet(c);
  else meet_all(c);
  set_registers(c, outside.own, inside.own);
  cg_lower_block(c, op->blocks[0]);
  c->op = op;
  if (!ends_kernel(c, op)) {
    publish_and_meet(c);
    set_registers(c, inside.own, outside.own);
  }
  for (uint32_t i = 0; i < op->num_results; i++)
    cg_set(op_result(op, i), cg_get(op_operand(block_terminator(op->blocks[0]), i)));
}

// ---- the workers' warps ----

typedef struct { LLVMValueRef tid, warp, uniform_warp; uint32_t num_warps, barrier; } Warps;

static Warps warps_now(const Cg *c) { return (Warps){c->tid, c->warp, c->uniform_warp, c->num_warps, c->barrier}; }

static void set_warps(Cg *c, Warps w) {
  c->tid = w.tid, c->warp = w.warp, c->uniform_warp = w.uniform_warp;
  c->num_warps = w.num_warps, c->barrier = w.barrier;
  c->elected.block = NULL;
}

// Counts threads and warps from the block's first warp.
static Warps warps_from(Cg *c, RoleWarps r) {
  Warps w = {.num_warps = r.count, .barrier = r.barrier};
  const uint32_t threads = r.count * WARP_SIZE;
  if (r.first % r.count == 0) w.tid = cg_op(c, LLVMAnd, c->tid, threads - 1);
  else w.tid = cg_op(c, LLVMSub, c->tid, r.first * WARP_SIZE);
  w.warp = r.count == 1 ? cg_i32(c, 0) : cg_op(c, LLVMLShr, w.tid, log2_u32(WARP_SIZE));
  w.uniform_warp = r.count == 1 ? cg_i32(c, 0) : cg_op(c, LLVMSub, c->uniform_warp, r.first);
  return w;
}

static void lower_worker(Cg *c, Op *op, uint32_t block) {
  const Warps launch = warps_now(c);
  Worker w = {.c = c, .op = op};
  set_warps(c, warps_from(c, roles_warps(op, block)));
  RolesCaptures captures = roles_captures(c->ctx, op);
  uint32_t word = 0;
  VEC_EACH(v, captures) {
    take_over(&w, *v, word);
    word += roles_capture_words((*v)->type);
  }
  block_walk(op->blocks[block], bring_operands, &w);
  cg_lower_block(c, op->blocks[block]);
  set_warps(c, launch);
}

// The worker of op whose warps begin at `warp`; 0 if there is none.
static uint32_t worker_at(const Op *op, uint32_t warp) {
  for (uint32_t i = 1; i < op->num_blocks; i++)
    if (roles_warps(op, i).first == warp) return i;
  return 0;
}

// One past the last warp that changes its registers together with warp `first`, which begins a warpgroup. Together are
// the warps of a worker of whole warpgroups, of a warpgroup that small workers share, or all idle warps.
static uint32_t unit_end(const Cg *c, const Op *op, uint32_t first) {
  const uint32_t worker = worker_at(op, first);
  if (!worker) return c->roles.total_warps;
  const uint32_t count = roles_warps(op, worker).count;
  return first + (count > WARPGROUP_WARPS ? count : WARPGROUP_WARPS);
}

// Branches to the workers whose warps are `first` to `end` − 1. Larger workers come first, so each branch compares with
// the end of a worker's warps.
static void lower_unit(Cg *c, Op *op, uint32_t first, uint32_t end) {
  LLVMBasicBlockRef join = cg_block(c, "unit.end");
  for (uint32_t worker; first < end && (worker = worker_at(op, first));) {
    first += roles_warps(op, worker).count;
    if (first == end) {
      lower_worker(c, op, worker);
      break;
    }
    LLVMBasicBlockRef mine = cg_block(c, "worker"), others = cg_block(c, "others");
    LLVMBuildCondBr(c->b, cg_cmp(c, LLVMIntULT, c->uniform_warp, first), mine, others);
    LLVMPositionBuilderAtEnd(c->b, mine);
    lower_worker(c, op, worker);
    LLVMBuildBr(c->b, join);
    LLVMPositionBuilderAtEnd(c->b, others);
  }
  LLVMBuildBr(c->b, join);
  LLVMPositionBuilderAtEnd(c->b, join);
}

// Emits the workers' branches, from the barrier that begins op to the barrier that ends it, or to the kernel's end.
// ptxas allocates the registers of a path by the setmaxnreg before it, so each warpgroup changes its registers in the
// branch of its own workers.
static void lower_workers(Cg *c, Op *op) {
  const RolesRegisters outside = registers_of(c, NULL), inside = registers_of(c, op);
  LLVMBasicBlockRef join = cg_block(c, "join");
  for (uint32_t end, first = c->module->num_warps; first < c->roles.total_warps; first = end) {
    const uint32_t group = (first - c->module->num_warps) / WARPGROUP_WARPS;
    LLVMBasicBlockRef others = NULL;
    end = unit_end(c, op, first);
    if (end < c->roles.total_warps) {
      LLVMBasicBlockRef mine = cg_block(c, "unit");
      others = cg_block(c, "others");
      LLVMBuildCondBr(c->b, cg_cmp(c, LLVMIntULT, c->uniform_warp, end), mine, others);
      LLVMPositionBuilderAtEnd(c->b, mine);
    }
    set_registers(c, outside.worker[group], inside.worker[group]);
    lower_unit(c, op, first, end);
    c->op = op;
    if (!ends_kernel(c, op)) {
      publish_and_meet(c);
      set_registers(c, inside.worker[group], outside.worker[group]);
    }
    LLVMBuildBr(c->b, join);
    if (others) LLVMPositionBuilderAtEnd(c->b, others);
  }
  LLVMPositionBuilderAtEnd(c->b, join);
}

static void loop_over_numbers(Cg *c) {
  LLVMBasicBlockRef next = cg_block(c, "next"), end = cg_block(c, "workers.end");
  c->has_loops = true;
  LLVMBuildBr(c->b, next);
  LLVMPositionBuilderAtEnd(c->b, next);
  meet_all(c);
  LLVMValueRef number = LLVMBuildLoad2(c->b, c->t_i32, number_place(c), "");
  LLVMSetAlignment(number, 4);
  LLVMValueRef choice = LLVMBuildSwitch(c->b, number, end, c->roles_ops.count);
  for (uint32_t i = 0; i < c->roles_ops.count; i++) {
    LLVMBasicBlockRef arm = cg_block(c, "roles");
    LLVMAddCase(choice, cg_i32(c, i + 1), arm);
    LLVMPositionBuilderAtEnd(c->b, arm);
    lower_workers(c, c->roles_ops.data[i]);
    LLVMBuildBr(c->b, next);
  }
  LLVMPositionBuilderAtEnd(c->b, end);
}

void cg_end_roles(Cg *c) {
  if (loops(c)) {
    CgIf first = cg_begin_if(c, cg_cmp(c, LLVMIntEQ, c->tid, 0));
    store(c, cg_i32(c, 0), number_place(c), 4);
    cg_end_if(c, first);
    meet_all(c);
  }
  LLVMBuildRetVoid(c->b);
  LLVMPositionBuilderAtEnd(c->b, c->workers);
  const RolesRegisters before = at_launch(c), outside = registers_of(c, NULL);
  set_registers(c, before.worker[0], outside.worker[0]);   // all warpgroups alike
  if (loops(c)) loop_over_numbers(c);
  else VEC_EACH(op, c->roles_ops) {
    meet_all(c);
    lower_workers(c, *op);
  }
  LLVMBuildRetVoid(c->b);
}
