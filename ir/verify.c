// The verifier: structure (links, uses, visibility, terminators), the stage column of ops.def, layouts in the stages
// that have them, inferred result types, and for each op the rule of its row, verify_<rule>.
#include <string.h>

#include "ir/build.h"
#include "ir/buf.h"
#include "ir/roles.h"
#include "ir/verify_int.h"

typedef bool (*VerifyFn)(Verifier *v, const Op *op);
static const VerifyFn rules[NUM_OPS] = {
#define OP(id, name, operands, results, blocks, traits, stages, elems, unit, infer, verify, how)                       \
  [OP_##id] = verify_##verify,
#include "ir/ops.def"
};

// ---- what holds for every op ----

// Of a value that is defined in block `home`.
static bool check_type(Verifier *v, const Op *op, const Type *t, const Block *home) {
  const Layout *l = t->layout;
  if (t->kind == TYPE_TENSOR) {
    bool laid_out = v->m->stage != STAGE_TILE;
    RETURN_UNLESS(!l == !laid_out || (!l && v->m->as_written),
                  laid_out ? "tensor without a layout" : "layouts are not allowed in this stage");
  }
  if (!l) return true;
  const uint32_t warps = block_num_warps(home);
  RETURN_UNLESS(l->kind == (t->kind == TYPE_TENSOR ? LAYOUT_DISTRIBUTED : LAYOUT_SHARED), "layout of the wrong kind");
  RETURN_UNLESS(l->rank == t->rank, "layout of rank %u on a type of rank %u", l->rank, t->rank);
  for (uint32_t i = 0; i < t->rank; i++)
    RETURN_UNLESS((int64_t)1 << l->log2_size[i] >= t->shape[i], "axis %u of %lld does not fit its layout", i,
                  (long long)t->shape[i]);
  RETURN_UNLESS(layout_is_surjective(l), "layout does not hold every element");
  if (l->kind == LAYOUT_DISTRIBUTED)
    RETURN_UNLESS(1u << l->num_bits[LAYOUT_LANE] == WARP_SIZE && 1u << l->num_bits[LAYOUT_WARP] == warps,
                  "layout is for %u lanes and %u warps, the %s has 32 and %u", 1u << l->num_bits[LAYOUT_LANE],
                  1u << l->num_bits[LAYOUT_WARP], block_worker(home) ? "worker" : "module", warps);
  return true;
}

static bool check_use(Verifier *v, const Op *op, uint32_t i) {
  const Use *u = &op->operands[i];
  if (!u->value) {
    RETURN_UNLESS(i < op_num_fixed(op->opcode) && op_operand_is_optional(op->opcode, i), "operand %u is missing", i);
    return true;
  }
  RETURN_UNLESS(u->user == op && u->index == i && (u->prev ? u->prev->next == u : u->value->uses == u) &&
                    (!u->next || u->next->prev == u),
                "operand %u is not linked to its value", i);
  const Block *home = value_block(u->value);
  RETURN_UNLESS(home && block_encloses(home, op->parent), "operand %u is not visible here", i);
  const Block *worker = block_worker(op->parent);
  RETURN_UNLESS(!worker || block_encloses(worker, home) ||
                    (u->value->type->kind != TYPE_TENSOR && u->value->type->kind != TYPE_TOKEN),
                "operand %u is a %s from outside of this worker", i,
                u->value->type->kind == TYPE_TENSOR ? "tensor" : "token");
  if (u->value->def) {
    const Op *at = op;
    while (at->parent != home) at = at->parent->parent;
    RETURN_UNLESS(u->value->def->mark < at->mark, "operand %u is used before its definition", i);
  }
  return true;
}

static const char *text_of(const Verifier *v, const Type *t) {
  Buf b = buf_make(&v->ctx->arena);
  ir_print_type(&b, t);
  return buf_str(&b);
}

// An elementwise op has one shape and layout, except for a scalar condition, and element types that its row accepts.
static bool check_elements(Verifier *v, const Op *op) {
  const OpInfo *info = &op_info[op->opcode];
  const Type *r = out(op, 0), *x = in(op, op_subject(op->opcode));
  for (uint32_t i = 0; i < op->num_operands; i++)
    RETURN_UNLESS(like(in(op, i), r) || (i == 0 && op_is(op, TRAIT_CONDITION)),
                  "operands and result must have one shape and layout");
  RETURN_UNLESS(op_takes(op->opcode, x), "works on %s, not on %s", op_elems_text(v->ctx, info->takes, scalar_name),
                text_of(v, type_elem(x)));
  RETURN_UNLESS(op_gives(op->opcode, r), "gives %s, not %s", op_elems_text(v->ctx, info->gives, scalar_name),
                text_of(v, type_elem(r)));
  return true;
}

// Whether the op may have a result in a layout that is not the inferred one: a reduction in any, a join with its halves
// apart in a thread's registers.
static bool allows_layout(Verifier *v, const Op *op, const Type *t) {
  if (op->opcode == OP_JOIN) return layout_split(v->ctx, t->layout) == in(op, 0)->layout;
  return op->opcode == OP_REDUCE;
}

static bool check_op(Verifier *v, const Op *op) {
  const OpInfo *info = &op_info[op->opcode];
  uint32_t fixed = op_num_fixed(op->opcode);
  RETURN_UNLESS(op->num_operands == fixed || (op->num_operands > fixed && op_has_list(op->opcode)),
                "takes %u operands, has %u", fixed, op->num_operands);
  RETURN_UNLESS(info->num_results < 0 || op->num_results == (uint32_t)info->num_results, "has %u results, not %d",
                op->num_results, info->num_results);
  RETURN_UNLESS(info->num_blocks < 0 || op->num_blocks == (uint32_t)info->num_blocks, "has %u blocks, not %d",
                op->num_blocks, info->num_blocks);
  RETURN_UNLESS(info->stages & v->m->stage, "is not allowed in this stage");
  RETURN_UNLESS(!op_is(op, TRAIT_TERMINATOR) == (op->next != NULL),
                op->next ? "must be the last operation of its block" : "a block must end in a terminator");
  for (uint32_t i = 0; i < op->num_operands; i++)
    if (!check_use(v, op, i)) return false;
  for (uint32_t i = 0; i < op->num_results; i++)
    if (!check_type(v, op, out(op, i), op->parent)) return false;
  if (op_is(op, TRAIT_ELEMENTWISE) && !check_elements(v, op)) return false;
  if (!rules[op->opcode](v, op)) return false;

  const Type **types = arena_array(&v->ctx->arena, const Type *, op->num_operands + 2);
  Value **operands = arena_array(&v->ctx->arena, Value *, op->num_operands);
  for (uint32_t i = 0; i < op->num_operands; i++) operands[i] = op_operand(op, i);
  int n = infer_types(v->ctx, op->opcode, operands, op->num_operands, op, types);
  RETURN_UNLESS(n < 0 || (uint32_t)n == op->num_results, "has %u results, not %d", op->num_results, n);
  for (int i = 0; i < n; i++) {
    const Type *t = out(op, (uint32_t)i);
    if (types[i] == t) continue;
    if (types[i]->layout && t->layout && type_with_layout(v->ctx, types[i], t->layout) == t && allows_layout(v, op, t))
      continue;
    return verify_fail(v, op, "result %d must have type %s", i, text_of(v, types[i]));
  }
  return true;
}

static void number_ops(Verifier *v, const Block *b) {
  EACH_OP(op, b) {
    op->mark = v->order++;
    for (uint32_t i = 0; i < op->num_blocks; i++) number_ops(v, op->blocks[i]);
  }
}

// Stops at the first fault of a function: later checks rely on earlier ones.
static bool check_block(Verifier *v, const Block *b, const Op *op) {
  RETURN_UNLESS(b->last, "has an empty block");
  for (uint32_t i = 0; i < b->num_args; i++)
    if (!check_type(v, op, b->args[i]->type, b)) return false;
  for (op = b->first; op; op = op->next) {
    RETURN_UNLESS(op->parent == b && (!op->next || op->next->prev == op), "is not linked into its block");
    if (!check_op(v, op)) return false;
    for (uint32_t i = 0; i < op->num_blocks; i++)
      if (!check_block(v, op->blocks[i], op)) return false;
  }
  return true;
}

static bool check_params(Verifier *v, const Func *f) {
  v->ok = false;
  if (f->num_params != f->body->num_args)
    return diag_error(v->ctx, f->span, "@%s has %u parameters but %u arguments", f->name, f->num_params,
                      f->body->num_args);
  for (uint32_t i = 0; i < f->num_params; i++) {
    const Type *t = f->body->args[i]->type;
    if (t->kind != TYPE_SCALAR && t->kind != TYPE_PTR && t->kind != TYPE_DESC)
      return diag_error(v->ctx, f->span, "parameter %u of @%s must be a scalar, a pointer or a descriptor", i, f->name);
    if (t->layout && t->layout->rank != t->rank)
      return diag_error(v->ctx, f->span, "parameter %u of @%s has a layout of another rank", i, f->name);
  }
  if (!f->body->last) return diag_error(v->ctx, f->span, "@%s has no return", f->name);
  return v->ok = true;
}

static bool check_module(const Module *m) {
  Span none = {0, 0};
  if (!is_pow2_u64(m->num_warps) || m->num_warps > 32)
    return diag_error(m->ctx, none, "num_warps is %u; it must be a power of two, at most 32", m->num_warps);
  if (!is_pow2_u64(m->num_ctas) || m->num_ctas > 16)
    return diag_error(m->ctx, none, "num_ctas is %u; it must be a power of two, at most 16", m->num_ctas);
  if (m->num_stages > MAX_STAGES)
    return diag_error(m->ctx, none, "num_stages is %u; it must be at most %d", m->num_stages, MAX_STAGES);
  return true;
}

bool ir_verify(Module *m) {
  bool ok = check_module(m);
  if (!ok) return false;
  EACH_FUNC(f, m) {
    Verifier v = {.m = m, .ctx = m->ctx, .ok = true};
    number_ops(&v, f->body);
    if (check_params(&v, f) && check_block(&v, f->body, f->body->first) && f->body->last->opcode != OP_RETURN)
      verify_fail(&v, f->body->last, "a function must end in return");
    ok &= v.ok;
  }
  return ok;
}
