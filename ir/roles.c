// Warps, named barriers and registers of concurrent blocks: see roles.h.
#include "ir/roles.h"

const Block *block_role(const Block *b) {
  for (; b && b->parent; b = b->parent->parent)
    if (b->parent->opcode == OP_ROLES) return b;
  return NULL;
}

const Block *block_worker(const Block *b) {
  b = block_role(b);
  return b && b != b->parent->blocks[0] ? b : NULL;
}

static uint32_t index_of(const Op *op, const Block *b) {
  uint32_t i = 0;
  while (op->blocks[i] != b) i++;
  return i;
}

static uint32_t asked(const Op *op, AttrKey key, uint32_t worker) {
  const Attr *a = op_attr(op, key);
  return a && worker < a->num_ints ? (uint32_t)a->ints[worker] : 0;
}

static uint32_t num_workers(const Op *op) { return op->num_blocks - 1; }
static uint32_t worker_warps(const Op *op, uint32_t worker) { return asked(op, ATTR_WARPS, worker); }

uint32_t block_num_warps(const Block *b) {
  const Block *worker = block_worker(b);
  return worker ? worker_warps(worker->parent, index_of(worker->parent, worker) - 1) : b->func->module->num_warps;
}

static uint32_t round_down(uint32_t x, uint32_t step) { return x / step * step; }

uint32_t roles_worker_warps(const Op *op) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < num_workers(op); i++) n += worker_warps(op, i);
  return round_up_u32(n, WARPGROUP_WARPS);
}

RoleWarps roles_warps(const Op *op, uint32_t block) {
  const uint32_t own = op->parent->func->module->num_warps;
  if (block == 0) return (RoleWarps){0, own, BARRIER_KERNEL};
  const uint32_t me = block - 1, count = worker_warps(op, me);
  RoleWarps w = {own, count, BARRIER_WORKERS};
  for (uint32_t i = 0; i < num_workers(op); i++) {
    const uint32_t n = worker_warps(op, i);
    if (n > count || (n == count && i < me)) w.first += n;
    w.barrier += i < me && n > 1;
  }
  if (count == 1) w.barrier = BARRIER_KERNEL;
  return w;
}

typedef struct { RolesInfo info; bool asks; } Search;

static void find(Op *op, void *user) {
  Search *s = user;
  if (op->opcode != OP_ROLES) return;
  uint32_t barriers = 0, warps = op->parent->func->module->num_warps + roles_worker_warps(op);
  for (uint32_t i = 0; i < num_workers(op); i++) barriers += worker_warps(op, i) > 1;
  s->info.num_ops++;
  s->info.branches |= op->parent->parent != NULL;
  s->info.total_warps = (uint32_t)max_i64(s->info.total_warps, warps);
  s->info.num_barriers = (uint32_t)max_i64(s->info.num_barriers, barriers);
  s->asks |= op_attr(op, ATTR_REGISTERS) != NULL;
}

RolesInfo roles_info(const Func *f) {
  const Module *m = f->module;
  Search s = {.info.total_warps = m->num_warps};
  block_walk(f->body, find, &s);
  if (s.asks) {
    const uint32_t most = target_registers_of(1, s.info.total_warps * WARP_SIZE);
    s.info.registers = round_down(m->maxnreg && m->maxnreg < most ? m->maxnreg : most, 8);
  }
  return s.info;
}

bool roles_registers(const Func *f, const RolesInfo *info, const Op *op, RolesRegisters *out) {
  // The verifier asks before it has seen every op: there may be more warps than a block can have.
  const uint32_t own = f->module->num_warps, all = info->registers,
                 groups = (uint32_t)min_i64((info->total_warps - own) / WARPGROUP_WARPS, MAX_WARPGROUPS),
                 pool = all * info->total_warps;      // registers of one lane of every warp
  const bool asks = op && op_attr(op, ATTR_REGISTERS);
  const bool as_launched = op ? !asks : !info->registers;
  for (uint32_t g = 0; g < MAX_WARPGROUPS; g++) out->worker[g] = as_launched ? all : MIN_SET_REGISTERS;
  out->own = all;
  if (as_launched) return true;
  for (uint32_t i = 0; asks && i < num_workers(op); i++) {
    const RoleWarps w = roles_warps(op, i + 1);
    for (uint32_t g = (w.first - own) / WARPGROUP_WARPS; g < MAX_WARPGROUPS; g++) {
      if (own + g * WARPGROUP_WARPS >= w.first + w.count) break;
      const uint32_t n = round_up_u32(asked(op, ATTR_REGISTERS, i), 8);
      if (n > out->worker[g]) out->worker[g] = n;
    }
  }
  uint32_t taken = 0;
  for (uint32_t g = 0; g < groups; g++) taken += out->worker[g] * WARPGROUP_WARPS;
  if (taken >= pool) return false;
  out->own = (uint32_t)min_i64(round_down((pool - taken) / own, 8), MAX_SET_REGISTERS);
  return out->own >= MIN_SET_REGISTERS;
}

// ---- what workers use from outside ----

typedef struct { Context *ctx; Map known; } Recompute;    // known: 1 can, 2 cannot

static bool can_recompute(Recompute *r, const Value *v) {
  const Op *op = v->def;
  if (!op) return !v->block->parent;
  if (type_is_tensor(v->type)) return false;
  if (op->opcode == OP_ALLOC) return true;   // its offset
  if (!op_is(op, TRAIT_PURE) || op->num_blocks) return false;
  MapSlot *slot = map_at(&r->ctx->arena, &r->known, v);
  if (slot->number) return slot->number == 1;
  bool can = true;
  for (uint32_t i = 0; i < op->num_operands && can; i++)
    can = !op_operand(op, i) || can_recompute(r, op_operand(op, i));
  map_get(&r->known, v)->number = can ? 1 : 2;
  return can;
}

bool roles_can_recompute(Context *ctx, const Value *v) {
  Recompute r = {.ctx = ctx};
  return can_recompute(&r, v);
}

typedef struct { Recompute recompute; const Op *op; RolesCaptures found; Map seen; } CaptureSearch;

static void find_captures(Op *op, void *user) {
  CaptureSearch *s = user;
  for (uint32_t i = 0; i < op->num_operands; i++) {
    Value *v = op_operand(op, i);
    if (!v || !value_defined_outside(v, s->op) || can_recompute(&s->recompute, v)) continue;
    MapSlot *slot = map_at(&s->recompute.ctx->arena, &s->seen, v);
    if (slot->number) continue;
    slot->number = 1;
    vec_push(&s->recompute.ctx->arena, &s->found, v);
  }
}

RolesCaptures roles_captures(Context *ctx, const Op *op) {
  CaptureSearch s = {.recompute.ctx = ctx, .op = op};
  for (uint32_t i = 1; i < op->num_blocks; i++) block_walk(op->blocks[i], find_captures, &s);
  return s.found;
}

uint32_t roles_capture_words(const Type *t) {
  return t->kind == TYPE_DESC ? 2 + 2 * t->rank : type_is_moved(t) ? 2 : 1;
}

static void find_first(Op *op, void *user) {
  const Op **first = user;
  if (op->opcode == OP_ROLES && !*first) *first = op;
}

const Op *roles_that_says_which(const Func *f) {
  const Op *first = NULL;
  if (roles_info(f).branches) block_walk(f->body, find_first, &first);
  return first;
}

uint32_t roles_scratch_bytes(Context *ctx, const Op *op) {
  uint32_t bytes = roles_that_says_which(op->parent->func) == op ? ROLES_NUMBER_BYTES : 0;
  RolesCaptures captures = roles_captures(ctx, op);
  VEC_EACH(v, captures) bytes += 8 * roles_capture_words((*v)->type);
  return bytes;
}

uint32_t module_total_warps(const Module *m) {
  uint32_t most = m->num_warps;
  EACH_FUNC(f, m) most = (uint32_t)max_i64(most, roles_info(f).total_warps);
  return most;
}
