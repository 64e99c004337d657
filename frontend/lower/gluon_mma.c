// Gluon's tensor cores: wgmma with its accumulators and waits, mma.sync, and products by multiply-adds.
#include <string.h>

#include "frontend/lower/gluon.h"
#include "frontend/lower/term.h"
#include "ir/wgmma_tile.h"

static Term *new_acc(Lower *L, Value *v, const CtType *type) {
  Term *t = arena_new(L->arena, Term);
  t->kind = TERM_ACC;
  t->acc.v = v;
  t->acc.type = type;
  return t;
}

static const CtType *operand_type(const Term *t) {
  return t->kind == TERM_BUFFER ? t->buffer.type : t->kind == TERM_ACC ? t->acc.type : term_t(t);
}
static Value *operand_value(const Term *t) {
  return t->kind == TERM_BUFFER ? t->buffer.v : t->kind == TERM_ACC ? t->acc.v : term_v(t);
}

static void *product_error(Lower *L, Call *c, const Term *a, const Term *b, const Term *acc) {
  return builtin_error(L, c, "`%s` of %s and %s, added to %s: the shapes must be [M, K], [K, N] and [M, N]",
                       c->row->name, term_describe(L, a), term_describe(L, b), term_describe(L, acc));
}

static bool check_product(Lower *L, Call *c, const Term *a, const Term *b, const Term *acc) {
  const CtType *ta = operand_type(a), *tb = operand_type(b), *tc = operand_type(acc);
  const uint32_t r = ct_rank(tc);
  const bool ok = r >= 2 && ct_rank(ta) == r && ct_rank(tb) == r && ta->shape[r - 1] == tb->shape[r - 2] &&
                  ta->shape[r - 2] == tc->shape[r - 2] && tb->shape[r - 1] == tc->shape[r - 1] &&
                  !memcmp(ta->shape, tc->shape, (r - 2) * sizeof *tc->shape) &&
                  !memcmp(tb->shape, tc->shape, (r - 2) * sizeof *tc->shape);
  return ok ? lower_check_product_blocks(L, c->span, ta, tb, tc) : product_error(L, c, a, b, acc) != NULL;
}

static const CtType *acc_elem(const CtType *a, bool *ok, const CtType *acc) {
  const CtType *elem = ct_scalar_of(acc);
  *ok = ct_is_int(a) ? ct_is_kind(elem, DT_INT32)
                     : ct_is_kind(elem, DT_FP32) ||
                           (ct_is_kind(elem, DT_FP16) && (ct_is_kind(a, DT_FP16) || ct_is_fp8(a)));
  return elem;
}

// Whether the accumulator's type is one that the operands' products are added to. False after a diagnostic.
static bool check_types(Lower *L, Call *c, const Term *a, const Term *b, const Term *acc) {
  const CtType *ta = ct_scalar_of(operand_type(a)), *tb = ct_scalar_of(operand_type(b));
  bool ok;
  const CtType *elem = acc_elem(ta, &ok, operand_type(acc));
  const bool pair = ct_type_equal(ta, tb) || (ct_is_fp8(ta) && ct_is_fp8(tb));
  const bool kind = ct_is_fp8(ta) || ct_is_kind(ta, DT_FP16) || ct_is_kind(ta, DT_BF16) || ct_is_kind(ta, DT_FP32) ||
                    (ct_is_int(ta) && ct_bits(ta) == 8);
  if (ok && pair && kind) return true;
  builtin_error(L, c, "`%s` does not multiply %s and %s into %s", c->row->name, ct_type_text(L->ctx, ta),
                ct_type_text(L->ctx, tb), ct_type_text(L->ctx, elem));
  return lower_hint(L, "fp16, bf16, fp32 (as tf32) and fp8 are added in fp32 (fp16 and fp8 also in fp16), int8 in "
                       "int32") != NULL;
}

// ---- wgmma ----
static bool tensor_or_acc(Lower *L, Call *c, uint32_t i, Term **out) {
  Term *t = c->args[i];
  *out = t->kind == TERM_ACC ? t : arg_value(L, c, i);
  return *out && ((*out)->kind == TERM_ACC || ct_rank(term_t(*out)) ||
                  arg_error(L, c, i, "an accumulator is a tensor, not %s", term_describe(L, *out)) != NULL);
}

static bool check_shared_operand(Lower *L, Call *c, uint32_t i, const Term *t, uint32_t k_axis, const CtType *acc) {
  const CtType *part = lower_block_part(L, t->buffer.type);
  const uint32_t bytes = ct_bits(part) / 8, columns = wgmma_columns(acc->layout);
  WgmmaTile tile;
  if (32 > part->shape[k_axis] * bytes) {
    arg_error(L, c, i, "an instruction takes %u elements along K, this has %lld", 32 / bytes,
              (long long)part->shape[k_axis]);
    return lower_hint(L, "multiply longer slices, or load them and use mma_v2") != NULL;
  }
  if (!wgmma_tile_read(part->layout, part->shape, bytes, k_axis, i ? columns : 64, &tile)) {
    arg_error(L, c, i, "wgmma cannot read a buffer in this layout: %s", lower_layout_text(L, t->buffer.type));
    return lower_hint(L, "gl.NVMMASharedLayout.get_default_for(shape, dtype) makes one that it reads") != NULL;
  }
  if (tile.fast == k_axis || ct_bits(t->buffer.type) == 16) return true;
  arg_error(L, c, i, "operands of %s must be contiguous along K", ct_type_text(L->ctx, t->buffer.type->elem));
  return lower_hint(L, "store the tile transposed, and pass buffer.permute((1, 0))") != NULL;
}

static bool check_register_operand(Lower *L, Call *c, const Term *a, const CtType *acc) {
  const CtType *t = term_t(a);
  CtValue *want = comptime_layout_operand(L->ct, acc->spelled, 32 / ct_bits(t));
  const Layout *map = want ? lower_layout_map(L, want, t->shape, t->rank, c->spans[0]) : NULL;
  if (map && map == t->layout) return true;
  arg_error(L, c, 0, "the register operand has another layout than wgmma reads");
  lower_hint(L, "it has %s", lower_layout_text(L, t));
  if (!want) return false;
  return lower_hint(L, "convert it: gl.convert_layout(x, %s)", ct_repr(L->ctx, want)) != NULL;
}

static bool check_acc(Lower *L, Call *c, const CtType *acc) {
  const char *why = NULL;
  const CtType *part = lower_block_part(L, acc);
  if (acc->rank != 2) why = "its rank is not 2";
  else if (!acc->spelled || !comptime_is_wgmma_layout(L->ct, acc->spelled))
    why = "its layout is no NVMMADistributedLayout of version [3, 0] for a multiple of 4 warps along M";
  else if (part->shape[0] % 64) why = "M is not a multiple of 64";
  else if (part->shape[1] % 8) why = "N is not a multiple of 8";
  if (!why) return true;
  arg_error(L, c, 2, "wgmma cannot add to this accumulator: %s", why);
  return lower_hint(L, "it has %s", lower_layout_text(L, acc)) != NULL;
}

Term *gl_wgmma(Lower *L, Call *c) {
  Term *a = c->args[0], *b = lower_buffer_arg(L, c, 1), *acc;
  if (!b || !tensor_or_acc(L, c, 2, &acc)) return NULL;
  if (a->kind == TERM_BUFFER ? !lower_buffer_arg(L, c, 0) : !(a = arg_value(L, c, 0))) return NULL;
  const CtType *t = operand_type(acc);
  if (!check_product(L, c, a, b, acc) || !check_types(L, c, a, b, acc) || !check_acc(L, c, t) ||
      !check_shared_operand(L, c, 1, b, 0, t))
    return NULL;
  if (a->kind == TERM_BUFFER ? !check_shared_operand(L, c, 0, a, 1, t) : !check_register_operand(L, c, a, t))
    return NULL;
  Value *use_acc = NULL;
  int64_t known, imprecise = 0;
  bool is_async;
  if (!term_get_int(c->args[3], &known)) {
    Term *u = arg_value(L, c, 3);
    if (!u || !(u = lower_not_zero(L, u, c->spans[3]))) return NULL;
    use_acc = term_v(u);
  } else if (!known) {
    use_acc = build_int(&L->b, type_scalar(L->ctx, SC_I1), 0);
  }
  const CtType *ta = operand_type(a);
  if (!arg_bool(L, c, 6, &is_async) || (!arg_is_none(c, 5) && !arg_int(L, c, 5, &imprecise))) return NULL;
  if (imprecise < 0 || imprecise > ta->shape[1])
    return arg_error(L, c, 5, "`max_num_imprecise_acc` must be from 0 to K, which is %lld here, not %lld",
                     (long long)ta->shape[1], (long long)imprecise);
  Value *v[4] = {operand_value(a), operand_value(b), operand_value(acc), use_acc};
  Op *op = build_op(&L->b, OP_WGMMA, v, 4);
  if (ct_is_kind(ta, DT_UINT8)) op_set_int(L->ctx, op, ATTR_SIGNED, 0);
  if (ct_is_fp8(ta)) op_set_int(L->ctx, op, ATTR_IMPRECISE_ACC, arg_is_none(c, 5) ? 1 << 30 : imprecise);
  if (!is_async) return term_of_op(L, op, t);
  op_set_int(L->ctx, op, ATTR_ASYNC, 1);
  return new_acc(L, op_result(op, 0), t);
}

Term *gl_wgmma_init(Lower *L, Call *c) {
  Term *x = arg_value(L, c, 0);
  return x && check_acc(L, c, term_t(x)) ? new_acc(L, term_v(x), term_t(x)) : NULL;
}

Term *gl_wgmma_wait(Lower *L, Call *c) {
  Term *deps = c->args[1], *out[32];
  Value *v[32];
  int64_t n;
  if (!arg_int(L, c, 0, &n)) return NULL;
  if (n < 0) return arg_error(L, c, 0, "at most %lld groups in flight", (long long)n);
  Term **items = deps->kind == TERM_TUPLE ? deps->tuple.items : &deps;
  const uint32_t count = deps->kind == TERM_TUPLE ? deps->tuple.count : 1;
  if (!count || count > countof(out))
    return arg_error(L, c, 1, "warpgroup_mma_wait gives the accumulators that it waits for: deps=(acc,)");
  uint32_t num = 0;
  for (uint32_t i = 0; i < count; i++) {
    out[i] = items[i];
    if (items[i]->kind == TERM_BUFFER) continue;
    if (items[i]->kind != TERM_ACC && items[i]->kind != TERM_VALUE)
      return arg_error(L, c, 1, "deps holds accumulators and tensors, not %s", term_describe(L, items[i]));
    v[num++] = operand_value(items[i]);
  }
  Op *op = build_op(&L->b, OP_WGMMA_WAIT, v, num);
  op_set_int(L->ctx, op, ATTR_COUNT, n);
  for (uint32_t i = 0, k = 0; i < count; i++) {
    if (out[i]->kind == TERM_BUFFER) build_op(&L->b, OP_KEEP_ALIVE, &out[i]->buffer.v, 1);
    else out[i] = term_value(L, op_result(op, k++), operand_type(items[i]));
  }
  return count == 1 ? out[0] : term_tuple(L, out, count, NULL);
}

// A breakpoint's use does not count.
static bool is_used_as_accumulator(const Value *v) {
  EACH_USE(u, v)
    if (u->user->opcode != OP_WGMMA && u->user->opcode != OP_WGMMA_WAIT && u->user->opcode != OP_BREAKPOINT)
      return false;
  return true;
}

bool lower_may_be_accumulators(Value *const *args, Value *const *next, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    if (next[i] != args[i] && next[i]->type->kind == TYPE_TENSOR && !is_used_as_accumulator(args[i])) return false;
  return true;
}

// ---- operands in registers ----
static bool register_operands(Lower *L, Call *c, Term **x) {
  for (uint32_t i = 0; i < 3; i++)
    if (!(x[i] = arg_value(L, c, i))) return false;
  return check_product(L, c, x[0], x[1], x[2]);
}

// Whether operand i has the DotOperandLayout of the accumulator's; any k_width. False after a diagnostic.
static bool check_dot_operand(Lower *L, Call *c, Term *const *x, uint32_t i) {
  const CtType *t = term_t(x[i]), *acc = term_t(x[2]);
  if (t->spelled && acc->spelled && comptime_layout_is_operand(L->ct, t->spelled, acc->spelled, i)) return true;
  arg_error(L, c, i, "operand %u of `%s` needs a DotOperandLayout(%u, L, …), L the accumulator's layout", i,
            c->row->name, i);
  lower_hint(L, "it has %s", lower_layout_text(L, t));
  lower_hint(L, "the accumulator has %s", lower_layout_text(L, acc));
  return lower_hint(L, "write gl.convert_layout(x, gl.DotOperandLayout(%u, L, k_width=%u))", i,
                    ct_bits(t) < 32 ? 32 / ct_bits(t) : 1) != NULL;
}

static Term *dot(Lower *L, Term *const *x, Opcode oc, int precision) {
  Value *v[3] = {term_v(x[0]), term_v(x[1]), term_v(x[2])};
  Op *op = build_op(&L->b, oc, v, 3);
  op_set_int(L->ctx, op, ATTR_PRECISION, precision);
  if (ct_is_kind(term_t(x[0]), DT_UINT8)) op_set_int(L->ctx, op, ATTR_SIGNED, 0);
  return term_of_op(L, op, term_t(x[2]));
}

Term *gl_mma_v2(Lower *L, Call *c) {
  Term *x[3];
  static const char *const precisions[] = {[PREC_TF32] = "tf32", [PREC_IEEE] = "ieee"};
  int precision = PREC_TF32;
  if (!register_operands(L, c, x) || !check_types(L, c, x[0], x[1], x[2])) return NULL;
  if (!arg_is_none(c, 3) && !arg_choice(L, c, 3, precisions, countof(precisions), &precision)) return NULL;
  if (!check_dot_operand(L, c, x, 0) || !check_dot_operand(L, c, x, 1)) return NULL;
  const CtValue *w[2];
  for (uint32_t i = 0; i < 2; i++)
    w[i] = comptime_get_attr(L->ct, (CtValue *)term_t(x[i])->spelled, intern(L->ctx, "k_width"));
  const CtType *a = term_t(x[0]);
  if (w[0]->i != w[1]->i || w[0]->i * ct_bits(a) < 32)
    return builtin_error(L, c, "the operands' k_width must be the same, and at least %u of %s, not %d and %d",
                         32 / ct_bits(a), ct_type_text(L->ctx, a->elem), (int)w[0]->i, (int)w[1]->i);
  if (a->shape[a->rank - 1] < 4 * w[0]->i || a->shape[a->rank - 1] * ct_bits(a) < 256) {
    builtin_error(L, c, "K is %lld, less than one instruction's with a k_width of %d",
                  (long long)a->shape[a->rank - 1], (int)w[0]->i);
    return lower_hint(L, "K needs 256 bits of elements, and 4 times the k_width");
  }
  return dot(L, x, OP_MMA, precision);
}

Term *gl_dot_fma(Lower *L, Call *c) {
  Term *x[3];
  if (!register_operands(L, c, x) || !check_dot_operand(L, c, x, 0) || !check_dot_operand(L, c, x, 1)) return NULL;
  if (!comptime_get_attr(L->ct, (CtValue *)term_t(x[2])->spelled, intern(L->ctx, "size_per_thread")))
    return arg_error(L, c, 2, "`dot_fma` adds to a tensor in a BlockedLayout; for %s there is mma_v2",
                     ct_repr(L->ctx, term_t(x[2])->spelled));
  return dot(L, x, OP_DOT, PREC_IEEE);
}
