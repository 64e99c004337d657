// Gluon's builtins on tensors in registers that tl does not have.
#include "frontend/lower/gluon.h"
#include "frontend/lower/term.h"

#include <string.h>

Term *gl_full_like(Lower *L, Call *c) {
  const uint32_t first = c->row->data == 1 ? 2 : 1;   // of shape, dtype, layout
  Term *x = arg_value(L, c, 0);
  if (!x) return NULL;
  const CtType *t = term_t(x), *elem = ct_scalar_of(t);
  int64_t shape[CT_MAX_RANK];
  uint32_t rank = ct_rank(t);
  memcpy(shape, t->shape, sizeof shape);
  if (!arg_is_none(c, first) && !arg_ints(L, c, first, shape, CT_MAX_RANK, &rank)) return NULL;
  if (!lower_check_shape(L, shape, rank, c->span)) return NULL;
  if (!arg_is_none(c, first + 1) && !arg_dtype(L, c, first + 1, &elem)) return NULL;
  const CtType *to = lower_shaped(L, elem, shape, rank);
  CtValue *layout = lower_layout_of(L, t);
  if (!arg_is_none(c, first + 2) && !(layout = arg_layout(L, c, first + 2, LAYOUT_DISTRIBUTED))) return NULL;
  if (layout && rank && !(to = lower_with_layout(L, to, layout, c->span))) return NULL;
  if (first == 1) return term_full(L, to, 0, 0);
  Term *v = arg_value(L, c, 1);
  if (!v) return NULL;
  if (ct_rank(term_t(v))) return arg_error(L, c, 1, "the value must be a scalar, not %s", term_describe(L, v));
  v = lower_cast(L, v, elem, c->span);
  return v && rank ? term_value(L, build_splat(&L->b, term_v(v), lower_ir_type(L, to)), to) : v;
}

const CtType *lower_type_of_tensor(Lower *L, const CtType *t) {
  return L->is_gluon && t->kind == CT_TYPE_BLOCK && !t->layout ? comptime_type_of_auto(L->ct, t) : t;
}

Term *gl_convert_layout(Lower *L, Call *c) {
  const bool is_set = c->row->data == 1;
  bool trivial = false;
  Term *x = arg_value(L, c, 0);
  CtValue *layout = arg_layout(L, c, 1, LAYOUT_DISTRIBUTED);
  if (!x || !layout || (!is_set && !arg_bool(L, c, 2, &trivial))) return NULL;
  if (!ct_rank(term_t(x)))
    return arg_error(L, c, 0, "`%s` needs a tensor, this is %s", c->row->name, term_describe(L, x));
  if (is_set && term_t(x)->layout) {
    arg_error(L, c, 0, "the tensor has a layout already: %s", lower_layout_text(L, term_t(x)));
    return lower_hint(L, "gl.convert_layout(x, L) gives it another");
  }
  const CtType *to = lower_with_layout(L, term_t(x), layout, c->spans[1]);
  if (!to || !(to->layout ? lower_check_same_blocks(L, c->span, "this conversion", term_t(x), to, -1)
                          : lower_check_keeps_layout(L, c->spans[1], term_t(x))))
    return NULL;
  if (!to->layout) {   // AutoLayout, CoalescedLayout
    if (!term_t(x)->layout) return x;
    Value *v = term_v(x);
    return term_value(L, build_value(&L->b, OP_CONVERT_LAYOUT, lower_ir_type(L, to), &v, 1), to);
  }
  if (trivial && term_t(x)->layout) {
    LayoutMap m;
    if (!layout_invert_and_compose(to->layout, term_t(x)->layout, &m) || layoutmap_move(&m) > MOVE_REGISTERS) {
      builtin_error(L, c, "this conversion is not trivial: elements move between threads");
      lower_hint(L, "from %s", lower_layout_text(L, term_t(x)));
      return lower_hint(L, "to %s", lower_layout_text(L, to));
    }
  }
  return lower_convert(L, x, to);
}

Term *gl_fp4_to_fp(Lower *L, Call *c) {
  Term *x = arg_value(L, c, 0), *order[CT_MAX_RANK], *shape[CT_MAX_RANK];
  const CtType *elem;
  int64_t axis;
  if (!x || !arg_dtype(L, c, 1, &elem)) return NULL;
  const CtType *t = term_t(x);
  const uint32_t rank = ct_rank(t);
  if (!rank || !ct_is_int(t) || ct_bits(t) != 8)
    return arg_error(L, c, 0, "a tensor of bytes, int8 or uint8, is needed here, this is %s", term_describe(L, x));
  if (!ct_is_kind(elem, DT_FP16) && !ct_is_kind(elem, DT_BF16) && !ct_is_kind(elem, DT_FP32))
    return arg_error(L, c, 1, "fp4 becomes fp16, bf16 or fp32, not %s", ct_type_text(L->ctx, elem));
  if (!arg_axis(L, c, 2, rank, &axis)) return NULL;
  if (rank + 1 > CT_MAX_RANK) return builtin_error(L, c, "a tensor of rank %u has no room for the halves", rank);
  for (uint32_t i = 0; i <= rank; i++) order[i] = term_int(L, i <= axis ? i : i == axis + 1 ? rank : i - 1);
  for (uint32_t i = 0; i < rank; i++) shape[i] = term_int(L, t->shape[i] * (i == axis ? 2 : 1));
  Term *args[] = {x, term_const(L, ct_dtype(L->ctx, elem)), term_tuple(L, order, rank + 1, NULL),
                  term_tuple(L, shape, rank, NULL)};
  return lower_prelude_call(L, "_fp4_to_fp", args, countof(args), c->span);
}

// The layout and the element size of an argument that is a type.
static const CtType *type_arg(Lower *L, Call *c, uint32_t i) {
  CtValue *v = term_to_ct(L, c->args[i]);
  if (v && v->kind == CT_DTYPE && v->type->layout) return v->type;
  arg_error(L, c, i, "the type of a tensor or buffer is needed here, as x.type gives it, not %s",
            term_describe(L, c->args[i]));
  return NULL;
}

Term *gl_bank_conflicts(Lower *L, Call *c) {
  const CtType *tensor = type_arg(L, c, 0), *buffer = tensor ? type_arg(L, c, 1) : NULL;
  if (!buffer) return NULL;
  const uint32_t bits = ct_bits(tensor), most = 128 / bits;
  LayoutMap m;
  if (buffer->layout->kind != LAYOUT_SHARED || !layout_to_shared(tensor->layout, buffer->layout, &m))
    return builtin_error(L, c, "the buffer does not hold the tensor");
  uint32_t vec = 1;   // as many consecutive registers as lie at consecutive offsets
  const int64_t log2_most = min_i64(tensor->layout->num_bits[LAYOUT_REG], layout_whole_bits(buffer->layout));
  while (vec < most && log2_u32(vec) < log2_most && m.col[log2_u32(vec)] == vec) vec *= 2;
  const uint32_t least = vec * bits <= 32 ? 1 : vec * bits / 32;
  return term_int(L, layout_bank_conflicts(tensor->layout, buffer->layout, bits, vec) - least);
}

Term *gl_absent(Lower *L, Call *c) {
  builtin_error(L, c, "`%s` is not in Gluon, where a kernel says how it is done", c->row->name);
  return lower_hint(L, "instead: %s", strchr(c->row->doc, ':') + 2);
}

bool lower_is_blackwell(const char *name) {
  static const char *const names[] = {"TensorMemoryLayout", "TensorMemoryScalesLayout", "allocate_tensor_memory",
                                      "get_tmem_reg_layout", "tensor_memory_descriptor", "tma.async_gather",
                                      "tma.async_scatter"};
  const char *dot = strrchr(name, '.'), *last = dot ? dot + 1 : name;
  for (uint32_t i = 0; i < countof(names); i++) {
    const char *d = strrchr(names[i], '.');
    if (strcmp(d ? d + 1 : names[i], last) == 0) return true;
  }
  return strncmp(last, "tcgen05_", 8) == 0 || strstr(name, ".blackwell.");
}
