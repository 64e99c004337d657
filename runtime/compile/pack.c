#include "runtime/compile/pack.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/compile/compile.h"

// ---- what a variant is ----

static const CtFunction *source_kernel(const tile_program *p, const char *name) {
  for (uint32_t i = 0; p->frontend && i < frontend_num_kernels(p->frontend); i++)
    if (!strcmp(frontend_kernel(p->frontend, i)->name, name)) return frontend_kernel(p->frontend, i);
  return NULL;
}

static const KernelParam *find_param(const tile_kernel *k, const char *name) {
  for (uint32_t i = 0; i < k->num_args; i++)
    if (!strcmp(k->params[i].name, name)) return &k->params[i];
  return NULL;
}

typedef VEC(PackParam) PackParamVec;

// Appends the items of a tuple that are arguments, or compiled-in values that another variant may take as arguments.
static void add_items(Arena *a, const tile_kernel *k, const ParamSpec *s, const char *name, PackParamVec *out) {
  if (s->kind == SPEC_TUPLE) {
    for (uint32_t i = 0; i < s->num_items; i++) add_items(a, k, &s->items[i], frontend_item_name(a, name, i), out);
    return;
  }
  const KernelParam *param = find_param(k, name);
  const CtValue *v = s->kind == SPEC_CONSTEXPR && s->value ? ct_unwrap(s->value) : NULL;
  if (v && v->kind != CT_NONE && v->kind != CT_INT) return;
  const char *folded = s->type                  ? s->type
                       : v && v->kind == CT_INT ? v->i >= INT32_MIN && v->i <= INT32_MAX ? "i32" : "i64"
                                                : "";
  const PackParam item = {name, arena_printf(a, "%s", param ? param->spelling : folded), param ? param->divisible : 1};
  vec_push(a, out, item);
}

// The parameters that a caller passes: those of the source that are not constexprs; for a tuple, its items.
static uint32_t caller_params(Arena *a, const tile_program *p, const tile_kernel *k, PackParam **out) {
  const CtFunction *fn = source_kernel(p, k->name);
  bool has_specs = p->specs && fn && fn == p->kernel;
  // Without specs tuples are unknown: the caller then passes the compiled kernel's arguments.
  for (uint32_t i = 0; fn && !has_specs && i < fn->num_params; i++)
    if (!fn->params[i].is_constexpr && !find_param(k, fn->params[i].name) &&
        !tile_kernel_constexpr(k, fn->params[i].name))
      fn = NULL;
  PackParamVec params = {0};
  for (uint32_t i = 0, count = fn ? fn->num_params : k->num_args; i < count; i++) {
    if (fn && fn->params[i].is_constexpr) continue;
    const char *name = arena_printf(a, "%s", fn ? fn->params[i].name : k->params[i].name);
    if (has_specs && p->specs[i].kind == SPEC_TUPLE) {
      add_items(a, k, &p->specs[i], name, &params);
      continue;
    }
    const KernelParam *param = find_param(k, name);
    const char *folded = has_specs && p->specs[i].type ? p->specs[i].type : "";
    const PackParam plain = {name, arena_printf(a, "%s", param ? param->spelling : folded),
                             param ? param->divisible : 1};
    vec_push(a, &params, plain);
  }
  *out = params.data;
  return params.count;
}

static int64_t promise_of(const KernelParam *p) {
  int64_t score = p->divisible > 1 ? log2_u32((uint32_t)(p->divisible < UINT32_MAX ? p->divisible : UINT32_MAX)) : 0;
  return score * 4 + (!p->is_pointer && !p->is_float && p->kind == PARAM_PLAIN && p->bytes <= 4);
}

static PackVariant describe_variant(Arena *a, const tile_kernel *k, const PackParam *params, uint32_t num_params) {
  enum { FIXED_PROMISE = 1000 };
  PackVariant v = {0};
  Buf condition = buf_make(a), all = buf_make(a), constexprs = buf_make(a);
  for (uint32_t i = 0; i < num_params; i++) {
    const KernelParam *p = find_param(k, params[i].name);
    if (i) buf_puts(&condition, ", ");
    if (p) {
      buf_puts(&condition, p->spelling);
      if (p->divisible > 1) buf_printf(&condition, ":%lld", (long long)p->divisible);
      v.score += promise_of(p);
    } else {
      const char *value = tile_kernel_constexpr(k, params[i].name);
      buf_printf(&condition, "%s=%s", params[i].name, value ? value : "?");
      v.score += FIXED_PROMISE;
    }
  }
  buf_puts(&all, buf_str(&condition));
  v.num_constexprs = k->num_constexprs;
  v.constexpr_names = arena_array(a, const char *, k->num_constexprs);
  v.constexpr_values = arena_array(a, const char *, k->num_constexprs);
  for (uint32_t i = 0; i < k->num_constexprs; i++) {
    v.constexpr_names[i] = arena_printf(a, "%s", k->constexpr_names[i]);
    v.constexpr_values[i] = arena_printf(a, "%s", k->constexpr_values[i]);
    bool is_param = false;
    for (uint32_t p = 0; p < num_params; p++) is_param = is_param || !strcmp(params[p].name, k->constexpr_names[i]);
    if (!is_param) buf_printf(&all, "%s%s=%s", all.size ? ", " : "", k->constexpr_names[i], k->constexpr_values[i]);
    buf_printf(&constexprs, "%s%s = %s", constexprs.size ? ", " : "", k->constexpr_names[i], k->constexpr_values[i]);
  }
  v.condition = buf_str(&condition);
  v.signature = buf_str(&all);
  v.constexprs = buf_str(&constexprs);
  return v;
}

static bool is_integer(const char *type) {
  return (type[0] == 'i' || type[0] == 'u') && type[1] >= '0' && type[1] <= '9';
}
static int integer_bits(const char *type) { return atoi(type + 1); }

// A parameter has one type in all variants, unless it is compiled in or a narrower integer in some of them.
static tile_status join_params(PackKernel *to, const PackParam *params, uint32_t n, tile_error **error) {
  for (uint32_t i = 0; i < (to->num_params > n ? to->num_params : n); i++) {
    PackParam *old = &to->params[i];
    const PackParam *new = &params[i];
    if (i >= n || i >= to->num_params || strcmp(old->name, new->name))
      return error_set(error, TILE_ERROR_USAGE, "there are two different kernels named %s", to->name);
    if (new->divisible < old->divisible) old->divisible = new->divisible;
    if (!*new->type || !strcmp(old->type, new->type)) continue;
    bool both = is_integer(old->type) && is_integer(new->type);
    if (!*old->type || (both && integer_bits(new->type) > integer_bits(old->type))) old->type = new->type;
    else if (!both)
      return error_set(
          error, TILE_ERROR_USAGE,
          "%s: parameter %s is %s in one signature and %s in another; "
          "one launch function cannot take both: put them in two packages",
          to->name, old->name, old->type, new->type);
  }
  return TILE_OK;
}

// ---- adding ----

static PackKernel *find_kernel(Pack *pack, const char *name) {
  for (uint32_t i = 0; i < pack->kernels.count; i++)
    if (!strcmp(pack->kernels.data[i].name, name)) return &pack->kernels.data[i];
  return NULL;
}

// Finds or inserts a variant, in the order in which a launch tries them.
static tile_status place_variant(Pack *pack, PackKernel *kernel, const PackVariant *v, PackVariant **out,
                                 tile_error **error) {
  for (uint32_t i = 0; i < kernel->variants.count; i++) {
    PackVariant *there = &kernel->variants.data[i];
    *out = there;
    if (!strcmp(there->signature, v->signature)) return TILE_OK;
    if (!strcmp(there->condition, v->condition))
      return error_set(error, TILE_ERROR_USAGE,
                       "%s: the signatures (%s) and (%s) take the same arguments, so a launch cannot tell them apart",
                       kernel->name, there->signature, v->signature);
  }
  vec_push(pack->arena, &kernel->variants, *v);
  uint32_t at = kernel->variants.count - 1;
  for (; at > 0 && kernel->variants.data[at - 1].score < v->score; at--)
    kernel->variants.data[at] = kernel->variants.data[at - 1];
  kernel->variants.data[at] = *v;
  *out = &kernel->variants.data[at];
  return TILE_OK;
}

static tile_status make_target(const Pack *pack, tile_program *p, const tile_kernel *k, const PackOptions *o,
                               PackTarget *t, tile_error **error) {
  Arena *a = pack->arena;
  const char *ptx = p->outputs[log2_u32(TILE_EMIT_PTX)].data;
  const size_t size = p->outputs[log2_u32(TILE_EMIT_PTX)].size;
  size_t skip = metadata_size_in_ptx(a, ptx, size);
  Buf json = buf_make(a);
  JsonWriter w = json_writer(&json);
  metadata_put_kernel(&w, p, k->func);
  *t = (PackTarget){.target = p->target, .metadata = buf_str(&json)};
  t->description = arena_printf(a, "%u threads, %u bytes of shared memory", k->num_threads, k->shared_bytes);
  if (o->assembler) {
    PackCode *c = &t->codes[t->num_codes++];
    *c = (PackCode){.kind = "cubin", .made_by = o->ptx_options ? ptxas_version(a) : assembler_version(o->assembler, a)};
    MachineCode code = {0};
    RETURN_IF_FAILED(o->ptx_options ? ptxas_assemble(a, ptx, p->target->name, o->ptx_options, &code, error)
                                    : assembler_run(o->assembler, a, ptx, p->target->name, &code, error));
    c->data = code.cubin;
    c->size = code.size;
    assembler_warn(p, &code);
  }
  t->codes[t->num_codes++] = (PackCode){.kind = "ptx",
                                        .made_by = arena_printf(a, "tilec %s", tile_version()),
                                        .data = arena_strndup(a, ptx + skip, size - skip),
                                        .size = size - skip};
  return TILE_OK;
}

static tile_status add_kernel(Pack *pack, tile_program *p, const tile_kernel *k, const PackOptions *o,
                              tile_error **error) {
  Arena *a = pack->arena;
  PackParam *params;
  uint32_t n = caller_params(a, p, k, &params);
  PackKernel *kernel = find_kernel(pack, k->name);
  if (!kernel) {
    const PackKernel fresh = {.name = arena_printf(a, "%s", k->name), .params = params, .num_params = n};
    vec_push(a, &pack->kernels, fresh);
    kernel = &pack->kernels.data[pack->kernels.count - 1];
  }
  RETURN_IF_FAILED(join_params(kernel, params, n, error));
  const PackVariant described = describe_variant(a, k, params, n);
  PackVariant *v = NULL;
  RETURN_IF_FAILED(place_variant(pack, kernel, &described, &v, error));
  for (uint32_t i = 0; i < v->targets.count; i++)
    if (v->targets.data[i].target == p->target)
      return error_set(error, TILE_ERROR_USAGE, "%s (%s) for %s is given twice", k->name, v->signature,
                       p->target->name);
  PackTarget target;
  RETURN_IF_FAILED(make_target(pack, p, k, o, &target, error));
  vec_push(a, &v->targets, target);
  return TILE_OK;
}

typedef struct { Pack *pack; tile_program *program; const tile_kernel *k; const PackOptions *options; } Adding;

static tile_status add_contained(void *user, Arena *a, tile_error **error) {
  (void)a;
  const Adding *x = user;
  return add_kernel(x->pack, x->program, x->k, x->options, error);
}

tile_status pack_add(Pack *pack, tile_program *p, const PackOptions *o, tile_error **error) {
  tile_status status = TILE_OK;
  for (const Func *f = p->module ? p->module->funcs : NULL; status == TILE_OK && f; f = f->next) {
    tile_error *why = NULL;
    tile_kernel *k = kernel_describe(NULL, p, f->name, &why);
    if (!k) return error_pass_on(error, why);
    Adding x = {pack, p, k, o};
    status = scratch_contain(pack->arena, "packing a kernel", add_contained, &x, error);
    tile_kernel_free(k);
  }
  return status;
}

// ---- writing ----

static void put_code(Buf *out, size_t start, PackCode *c) {
  while ((out->size - start) % PACKAGE_ALIGN) buf_putc(out, 0);
  c->offset = out->size - start;
  buf_write(out, c->data, c->size);
  buf_putc(out, 0);
}

static void put_target(JsonWriter *w, const PackTarget *t) {
  json_begin_object(w, false);
  json_key(w, "metadata");
  json_raw(w, t->metadata);
  json_put_array(w, "code", false);
  for (uint32_t i = 0; i < t->num_codes; i++) {
    json_begin_object(w, true);
    json_put_string(w, "kind", t->codes[i].kind);
    json_put_int(w, "offset", (int64_t)t->codes[i].offset);
    json_put_int(w, "size", (int64_t)t->codes[i].size);
    json_put_string(w, "made_by", t->codes[i].made_by);
    json_end_object(w);
  }
  json_end_array(w);
  json_end_object(w);
}

static void put_kernel(JsonWriter *w, const PackKernel *k) {
  json_begin_object(w, false);
  json_put_string(w, "name", k->name);
  json_put_array(w, "params", false);
  for (uint32_t i = 0; i < k->num_params; i++) {
    json_begin_object(w, true);
    json_put_string(w, "name", k->params[i].name);
    json_put_string(w, "type", k->params[i].type);
    json_end_object(w);
  }
  json_end_array(w);
  json_put_array(w, "variants", false);
  for (uint32_t i = 0; i < k->variants.count; i++) {
    json_begin_object(w, false);
    json_put_string(w, "signature", k->variants.data[i].signature);
    json_put_array(w, "targets", false);
    for (uint32_t t = 0; t < k->variants.data[i].targets.count; t++)
      put_target(w, &k->variants.data[i].targets.data[t]);
    json_end_array(w);
    json_end_object(w);
  }
  json_end_array(w);
  json_end_object(w);
}

static void put_index(const Pack *pack, Buf *out) {
  JsonWriter w = json_writer(out);
  json_begin_object(&w, false);
  json_put_int(&w, "tile_package", PACKAGE_FORMAT);
  json_put_string(&w, "compiler", arena_printf(pack->arena, "tilec %s", tile_version()));
  json_put_array(&w, "kernels", false);
  for (uint32_t i = 0; i < pack->kernels.count; i++) put_kernel(&w, &pack->kernels.data[i]);
  json_end_array(&w);
  json_end_object(&w);
}

void pack_write(Pack *pack, Buf *out) {
  PackageHeader h = {.magic = PACKAGE_MAGIC, .format = PACKAGE_FORMAT, .header_size = sizeof h};
  size_t start = out->size;
  buf_write(out, (const char *)&h, sizeof h);
  for (uint32_t k = 0; k < pack->kernels.count; k++)
    for (uint32_t v = 0; v < pack->kernels.data[k].variants.count; v++) {
      PackVariant *variant = &pack->kernels.data[k].variants.data[v];
      for (uint32_t t = 0; t < variant->targets.count; t++)
        for (uint32_t c = 0; c < variant->targets.data[t].num_codes; c++)
          put_code(out, start, &variant->targets.data[t].codes[c]);
    }
  h.index_offset = out->size - start;
  put_index(pack, out);
  h.file_size = out->size - start;
  h.index_size = h.file_size - h.index_offset;
  h.checksum = package_checksum(out->data + start + sizeof h, h.file_size - sizeof h);
  memcpy(out->data + start, &h, sizeof h);
}
