// Accesses of global memory: see access.h.
#include "passes/access.h"

#include <string.h>

#include "passes/axis_lattice.h"
#include "passes/likely_step.h"

bool access_is_tensor(const Op *op) { return op_unit(op) == UNIT_GMEM && access_type(op)->kind == TYPE_TENSOR; }

int64_t access_width(const Op *op, uint32_t bytes) {
  if (op->opcode == OP_ATOMIC_CAS) return 1;
  if (op->opcode != OP_ATOMIC_RMW) return 16 / bytes;
  const int64_t sem = op_int(op, ATTR_SEM, SEM_ACQ_REL);
  if (op_int(op, ATTR_ATOMIC, 0) != ATOMIC_FADD || op->results[0].uses || bytes > 4 ||
      (sem != SEM_RELAXED && sem != SEM_RELEASE))
    return 1;
  if (op->parent->func->module->target->has_bf16_vector_red) return 16 / bytes;
  return type_is_scalar(type_elem(op_named(op, OPERAND_VALUE)->type), SC_F16) ? 2 : 1;
}

const Type *access_type(const Op *op) {
  const Value *ptr = op_named(op, OPERAND_PTR), *offset = op_named(op, OPERAND_OFFSET);
  return ptr->type->kind == TYPE_TENSOR || !offset ? ptr->type : offset->type;
}

uint32_t access_elem_bytes(const Op *op) { return type_elem_bytes(type_elem(op_named(op, OPERAND_PTR)->type)->elem); }

// Axes of which one is contiguous are told apart by that alone. Numbers from memory without a factor count along the
// innermost axis of an array, and that lies within the step of any other axis. Neighbours that are less than NEAR
// elements apart may share a sector.
static void guess_steps(AxisAnalysis *a, Value *where, AccessInfo *out) {
  enum { NEAR = 16 };
  const Type *t = where->type;
  bool contiguous = false;
  int64_t least = LIKELY_FAR;
  for (uint32_t i = 0; i < t->rank; i++) contiguous |= out->contiguity[i] > 1;
  for (uint32_t i = 0; i < t->rank; i++) {
    out->step[i] = contiguous || t->shape[i] == 1 ? LIKELY_FAR : likely_step(a, where, i);
    if (out->step[i] > 1 && out->step[i] != LIKELY_GATHER) least = min_i64(least, out->step[i]);
  }
  for (uint32_t i = 0; i < t->rank; i++)
    if (out->step[i] == LIKELY_GATHER) out->step[i] = max_i64(NEAR, least / 2);
}

bool access_is_faster(const AccessInfo *x, uint32_t i, uint32_t k) {
  if (x->contiguity[i] != x->contiguity[k]) return x->contiguity[i] > x->contiguity[k];
  return x->step[i] != x->step[k] ? x->step[i] < x->step[k] : i > k;
}

void access_mask_if(Op *load, Value *condition) {
  Builder b = builder_before(load->parent->func->module->ctx, load);
  Value *mask = build_mask_if(&b, op_named(load, OPERAND_MASK), condition, op_result(load, 0)->type);
  op_set_named(load, OPERAND_MASK, mask);
}

bool access_info(AxisAnalysis *a, const Op *op, AccessInfo *out) {
  Value *ptr = op_named(op, OPERAND_PTR), *offset = op_named(op, OPERAND_OFFSET), *mask = op_named(op, OPERAND_MASK);
  Value *where = ptr->type->kind == TYPE_TENSOR ? ptr : offset;
  if (!where || where->type->kind != TYPE_TENSOR) return false;
  const AxisInfo *p = axis_info(a, ptr), *w = axis_info(a, where), *mi = mask ? axis_info(a, mask) : NULL;
  int64_t bytes = access_elem_bytes(op);
  const Type *t = where->type;
  memset(out, 0, sizeof *out);
  for (uint32_t i = 0; i < t->rank; i++) {
    out->contiguity[i] = axis_gcd(w->contiguity[i], t->shape[i]);
    int64_t d = axis_divisor_at(w, i, out->contiguity[i]);
    out->alignment[i] = where == ptr ? d : axis_gcd(p->divisibility[0], axis_mul(d, bytes));
    bool uniform = !mi || mask->type->kind != TYPE_TENSOR;
    out->mask_constancy[i] = uniform ? AXIS_MAX_DIVISOR : mi->constancy[i];
    out->mask_prefix[i] = uniform ? AXIS_MAX_DIVISOR : mi->prefix[i];
  }
  guess_steps(a, where, out);
  for (uint32_t i = 1; i < t->rank; i++)
    if (!access_is_faster(out, out->fastest, i)) out->fastest = i;
  return true;
}

static int64_t max_access(const AccessInfo *x, uint32_t axis, uint32_t elem_bytes, int64_t mask_groups) {
  int64_t v = axis_gcd(x->contiguity[axis], mask_groups);
  v = axis_gcd(v, max_i64(1, x->alignment[axis] / elem_bytes));
  return axis_gcd(v, max_i64(1, 16 / (int64_t)elem_bytes));
}

int64_t access_max_vector(const AccessInfo *x, uint32_t axis, uint32_t elem_bytes) {
  return max_access(x, axis, elem_bytes, x->mask_constancy[axis]);
}
int64_t access_max_copy(const AccessInfo *x, uint32_t axis, uint32_t elem_bytes) {
  return max_access(x, axis, elem_bytes, x->mask_prefix[axis]);
}

// Does the op's first result hold every element of each operand? What goes through split or cat reaches a dot in parts:
// a copy of the whole tile in shared memory would not be the dot's operand.
static bool keeps_tile(const Op *op) {
  if (op_is(op, TRAIT_ELEMENTWISE)) return true;
  return op_is(op, TRAIT_MOVES) && !op_is(op, TRAIT_FREE) && op->num_results == 1 && op->opcode != OP_CAT;
}

// Looks at `left` uses at most.
static bool reaches_dot(const Value *v, const Block *block, uint32_t *left) {
  for (const Use *u = v->uses; u && *left; u = u->next) {
    Op *op = u->user;
    --*left;
    if (op->opcode == OP_ALLOC || (op_unit(op) == UNIT_DOT && u->index < 2)) return true;
    if (op->parent != block || !keeps_tile(op)) continue;
    if (reaches_dot(op_result(op, 0), block, left)) return true;
  }
  return false;
}

uint32_t access_addresses(const Op *load, uint32_t elements) {
  const Attr *deltas = op_attr(load, ATTR_DELTAS);
  uint32_t n = layout_regs_per_thread(load->results[0].type->layout) / elements;
  for (uint32_t b = log2_u32(elements); deltas && b < deltas->num_ints; b++)
    if (deltas->ints[b] && n > 1) n /= 2;
  return n;
}

bool access_feeds_dot(const Op *load) {
  uint32_t left = 64;
  return reaches_dot(&load->results[0], load->parent, &left);
}

uint32_t access_stages(const Op *loop) {
  const int64_t asked = op_int(loop, ATTR_NUM_STAGES, -1);
  return asked >= 0 ? (uint32_t)asked : loop->parent->func->module->num_stages;
}

bool access_is_copied(const Op *op) {
  const Op *loop = op->parent->parent;
  if (op->opcode != OP_LOAD || !loop || loop->opcode != OP_FOR || op_int(op, ATTR_VOLATILE, 0)) return false;
  const Module *m = op->parent->func->module;
  const Value *other = op_named(op, OPERAND_OTHER);
  uint64_t bits;
  if (!m->target->has_cp_async || (other && !(value_constant_bits(other, &bits) && bits == 0))) return false;
  return access_stages(loop) > 1 && (op_int(loop, ATTR_NUM_STAGES, -1) >= 0 || access_feeds_dot(op));
}
