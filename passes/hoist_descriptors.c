// hoist_descriptors: descriptors that the kernel makes from its own parameters become tensor maps that the launcher
// makes: a hidden parameter takes the place of make_desc.
//
//   %d = make_desc %x, %m, %n, %s, 1        %x: param, %m, %n, %s: params or constants
//   %t = desc_load %d, i, j                 →  %t = desc_load %tensormap, i, j
//
// In, out: TILE. lower_descriptors and lower_tma serve descriptors that cannot be hoisted (a moved base, a computed
// extent).
#include "passes/tma.h"

// The parameter or the constant that v is, through extensions. False for anything else.
static bool known_to_launcher(const Func *f, const Value *v, int *param, int64_t *value) {
  *param = -1;
  *value = 0;
  if (value_constant_int(v, value)) return true;
  while (value_op(v, OP_EXTSI)) v = op_operand(v->def, 0);
  if (v->block != f->body || f->params[v->index].kind != PARAM_PLAIN) return false;
  *param = (int)v->index;
  return true;
}

static bool only_moves_tiles(const Value *d) {
  EACH_USE(u, d) {
    Opcode oc = u->user->opcode;
    if (oc != OP_DESC_LOAD && oc != OP_DESC_STORE && oc != OP_DESC_REDUCE) return false;
    if (oc == OP_DESC_REDUCE &&
        !tma_can_reduce((AtomicKind)op_int(u->user, ATTR_ATOMIC, ATOMIC_ADD), type_elem(d->type)))
      return false;
  }
  return true;
}

static void hoist(Op *op, void *user) {
  (void)user;
  if (op->opcode != OP_MAKE_DESC) return;
  Func *f = op->parent->func;
  const Type *t = op_result(op, 0)->type;
  const Value *base = op_operand(op, 0);
  uint32_t bytes = type_elem_bytes(t), last = t->rank - 1u;
  if (base->block != f->body || f->params[base->index].kind != PARAM_PLAIN || !only_moves_tiles(op_result(op, 0)))
    return;
  if (t->shape[last] * bytes < TMA_ALIGNMENT) return;
  FuncParam p = {.name = "tensormap",
                 .kind = PARAM_AUTO_TENSORMAP,
                 .spelling = "tensormap",
                 .divisible = 1,
                 .base_param = (int)base->index,
                 .made_at = op_user_span(f->module->ctx, op),
                 .padding = (Padding)op_int(op, ATTR_PADDING, PAD_ZERO)};
  if (!tma_can_pad(t, p.padding)) return;
  for (uint32_t i = 0; i < t->rank; i++) {
    if (!known_to_launcher(f, tma_extent(op, i), &p.extent_params[i], &p.extent_values[i])) return;
    if (!known_to_launcher(f, tma_stride(op, i), &p.stride_params[i], &p.stride_values[i])) return;
    bool is_constant = p.stride_params[i] < 0;
    if (i == last ? !is_constant || p.stride_values[i] != 1
                  : is_constant && p.stride_values[i] * bytes % TMA_ALIGNMENT != 0)
      return;
  }
  EACH_USE(u, op_result(op, 0)) tma_guard_empty(u->user, op);
  Value *map = func_add_param(f, t, p);
  value_replace_all_uses(op_result(op, 0), map);
  map->name = p.name;
  op_erase(op);
}

void pass_hoist_descriptors(PassCtx *p) {
  module_walk(p->module, hoist, NULL);
}
