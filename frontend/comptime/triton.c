// Functions of triton and triton.language that compute on plain values, and the facts about the target.
#include <string.h>

#include "frontend/comptime/comptime_impl.h"

CT_FN(triton_cdiv) {
  CtValue *v[2];
  CtArgs renamed = *a;
  CtBinding kwargs[2];
  for (uint32_t i = 0; i < a->num_kwargs && i < 2; i++) {   // tl.cdiv calls its second parameter div
    kwargs[i] = a->kwargs[i];
    if (!strcmp(kwargs[i].name, "div")) kwargs[i].name = "y";
  }
  if (a->num_kwargs <= 2) renamed.kwargs = kwargs;
  if (!ct_take_args(ct, "cdiv x y", &renamed, v)) return NULL;
  CtValue *one = ct_int(ct->ctx, 1), *sum = ct_binary(ct, PYOP_ADD, v[0], v[1], a->span);
  if (sum) sum = ct_binary(ct, PYOP_SUB, sum, one, a->span);
  return sum ? ct_binary(ct, PYOP_FLOORDIV, sum, v[1], a->span) : NULL;
}

CT_FN(triton_next_power_of_2) {
  Int128 n, p = 1;
  if (a->args[0]->kind == CT_MISSING) return a->args[0];
  if (!ct_int_arg(ct, a, 0, &n)) return NULL;
  if (n <= 0) return ct_int(ct->ctx, 0);
  if (n > (Int128)1 << 126) return ct_fail(ct, a->span, "OverflowError", "integer result does not fit in 128 bits");
  while (p < n) p <<= 1;
  CtValue *v = ct_int(ct->ctx, p);
  return a->args[0]->kind == CT_CONSTEXPR ? ct_constexpr(ct->ctx, v) : v;
}

CT_FN(tl_constexpr) {
  return a->args[0]->kind == CT_MISSING ? a->args[0] : ct_constexpr(ct->ctx, a->args[0]);
}

CT_FN(tl_pointer_type) {
  CtValue *v[3];
  if (!ct_take_args(ct, "pointer_type element_ty ?address_space ?const", a, v)) return NULL;
  CtValue *elem = ct_unwrap(v[0]);
  if (elem->kind != CT_DTYPE) return elem->kind == CT_MISSING ? elem : ct_wrong_type(ct, a, elem);
  CtType *t = (CtType *)ct_type_pointer(ct->ctx, elem->type, v[2] && ct_is_true(v[2]));
  if (v[1] && ct_unwrap(v[1])->kind == CT_INT) t->address_space = (uint32_t)ct_unwrap(v[1])->i;
  return ct_dtype(ct->ctx, t);
}

CT_FN(tl_get_int_dtype) {
  CtValue *v[2];
  bool is_signed;
  DtypeKind dtype;
  if (!ct_take_args(ct, "get_int_dtype bitwidth signed", a, v) || !ct_truth(ct, ct_unwrap(v[1]), a->span, &is_signed))
    return NULL;
  const CtValue *bits = ct_unwrap(v[0]);
  if (bits->kind != CT_INT ||
      !dtype_find(arena_printf(ct->arena, "%s%d", is_signed ? "int" : "uint", (int)bits->i), &dtype))
    return ct_fail(ct, a->span, "ValueError", "no integer type has %s bits", ct_repr(ct->ctx, bits));
  return ct_dtype(ct->ctx, ct_type_scalar(ct->ctx, dtype));
}

CT_FN(tl_block_type) {
  CtValue *v[2];
  CtList dims;
  int64_t shape[CT_MAX_RANK];
  if (!ct_take_args(ct, "block_type element_ty shape", a, v) || !ct_iterate(ct, v[1], a->span, &dims)) return NULL;
  const CtValue *elem = ct_unwrap(v[0]);
  if (elem->kind != CT_DTYPE) return ct_wrong_type(ct, a, elem);
  if (dims.count > CT_MAX_RANK)
    return ct_fail(ct, a->span, "ValueError", "a block has at most %d dimensions, not %u", CT_MAX_RANK, dims.count);
  for (uint32_t i = 0; i < dims.count; i++) {
    CtValue *d = ct_unwrap(dims.data[i]);
    if (!is_int(d)) return ct_wrong_type(ct, a, d);
    shape[i] = (int64_t)int_of(d);
  }
  return ct_dtype(ct->ctx, ct_type_block(ct->ctx, elem->type, shape, dims.count));
}

CT_FN(tl_dtype) {
  const CtValue *name = ct_unwrap(a->args[0]);
  DtypeKind k;
  if (name->kind != CT_STR || !dtype_find(name->str.data, &k))
    return ct_fail(ct, a->span, "ValueError", "there is no dtype %s", ct_repr(ct->ctx, name));
  return ct_dtype(ct->ctx, ct_type_scalar(ct->ctx, k));
}

// The types of what is not a tensor are objects that compare by what they hold.
static CtValue *type_object(Comptime *ct, const char *class_name) {
  CtValue *v = ct_object_new(ct, class_name);
  v->instance->cls->form = CLASS_DATACLASS;
  return v;
}

CtValue *comptime_constexpr_type(Comptime *ct, CtValue *value) {
  CtValue *v = type_object(ct, "tl.constexpr_type");
  ct_attr_set(ct, v, "value", ct_unwrap(value));
  return v;
}

CtValue *comptime_tuple_type(Comptime *ct, CtValue *types, CtValue *fields) {
  CtValue *v = type_object(ct, "tl.tuple_type");
  ct_attr_set(ct, v, "types", types);
  ct_attr_set(ct, v, "fields", fields);
  return v;
}

CT_FN(tl_constexpr_type) {
  return a->args[0]->kind == CT_MISSING ? a->args[0] : comptime_constexpr_type(ct, a->args[0]);
}

CT_FN(tl_tuple_type) {
  CtValue *v[2];
  if (!ct_take_args(ct, "tuple_type types ?fields", a, v)) return NULL;
  CtList types;
  if (!ct_iterate(ct, v[0], a->span, &types)) return NULL;
  CtValue *fields = v[1] && ct_is_true(v[1]) ? v[1] : ct_list(ct->ctx, NULL, 0);
  for (uint32_t i = 0; fields != v[1] && i < types.count; i++) ct_append(ct, fields, ct_str(ct->ctx, ""));
  return comptime_tuple_type(ct, ct_list(ct->ctx, types.data, types.count), fields);
}

CT_FN(tl_tuple) { return ct_call_builtin(ct, NULL, "tuple", a); }

CT_FN(target_is_cuda) { return ct_bool(true); }
CT_FN(target_is_hip) { return ct_bool(false); }
CT_FN(target_capability_geq) {
  Int128 major, minor = 0;
  if (!ct_int_arg(ct, a, 0, &major) || (a->num_args > 1 && !ct_int_arg(ct, a, 1, &minor))) return NULL;
  return ct_bool(ct->options.cuda_capability >= major * 10 + minor);
}

// The compute capability of the target as the host would see it.
static CtValue *capability(Comptime *ct) {
  CtValue *parts[2] = {ct_int(ct->ctx, ct->options.cuda_capability / 10),
                       ct_int(ct->ctx, ct->options.cuda_capability % 10)};
  return ct_tuple(ct->ctx, parts, 2);
}

CT_FN(current_target) {
  CtValue *v = ct_object_new(ct, "GPUTarget");
  ct_attr_set(ct, v, "backend", ct_str(ct->ctx, "cuda"));
  ct_attr_set(ct, v, "arch", ct_int(ct->ctx, ct->options.cuda_capability));
  ct_attr_set(ct, v, "warp_size", ct_int(ct->ctx, 32));
  return v;
}

CtValue *ct_target_fact(Comptime *ct, const char *name) {
  if (!strcmp(name, "torch.version.hip")) return ct_none();
  if (!strcmp(name, "torch.cuda.is_available(...)")) return ct_bool(true);
  if (!strcmp(name, "torch.cuda.get_device_capability(...)")) return capability(ct);
  return NULL;
}

static bool ends_with(const char *s, const char *end) {
  size_t n = strlen(s), m = strlen(end);
  return n >= m && !strcmp(s + n - m, end);
}

bool ct_target_test(const char *name, bool *out) {
  static const char *const others[] = {"is_hip", "is_amd", "is_rocm", "is_xpu",  "is_npu", "is_musa", "is_intel",
                                       "is_cpu", "IS_HIP", "IS_AMD",  "IS_ROCM", "IS_XPU", "IS_NPU"};
  static const char *const ours[] = {"is_cuda", "is_nvidia", "IS_CUDA", "IS_NVIDIA"};
  size_t n = strlen(name);
  char bare[80];
  if (n >= sizeof bare) return false;
  memcpy(bare, name, n + 1);
  if (ends_with(bare, "(...)")) bare[n - 5] = 0;
  for (size_t i = 0; i < countof(others); i++)
    if (ends_with(bare, others[i])) return *out = false, true;
  for (size_t i = 0; i < countof(ours); i++)
    if (ends_with(bare, ours[i])) return *out = true, true;
  return false;
}

const CtFnRow ct_triton_functions[] = {
    {"triton.runtime.driver.active.get_current_target", current_target, 0, 0},
    {"triton.cdiv", triton_cdiv, 0, CT_ANY}, {"tl.cdiv", triton_cdiv, 0, CT_ANY}, {"gl.cdiv", triton_cdiv, 0, CT_ANY},
    {"triton.next_power_of_2", triton_next_power_of_2, 1, 1}, {"tl.constexpr", tl_constexpr, 1, 1},
    {"gl.constexpr", tl_constexpr, 1, 1}, {"tl.pointer_type", tl_pointer_type, 0, CT_ANY},
    {"gl.pointer_type", tl_pointer_type, 0, CT_ANY}, {"tl.block_type", tl_block_type, 0, CT_ANY},
    {"tl.dtype", tl_dtype, 1, 1}, {"tl.get_int_dtype", tl_get_int_dtype, 0, CT_ANY}, {"tl.tuple", tl_tuple, 0, 1},
    {"tl.constexpr_type", tl_constexpr_type, 1, 1}, {"tl.tuple_type", tl_tuple_type, 0, CT_ANY},
    {"gl.tuple", tl_tuple, 0, 1}, {"tl.target_info.is_cuda", target_is_cuda, 0, 0},
    {"tl.target_info.is_hip", target_is_hip, 0, 0}, {"tl.target_info.is_hip_cdna3", target_is_hip, 0, 0},
    {"tl.target_info.is_hip_cdna4", target_is_hip, 0, 0},
    {"tl.target_info.cuda_capability_geq", target_capability_geq, 1, 2}, {NULL, NULL, 0, 0}};
